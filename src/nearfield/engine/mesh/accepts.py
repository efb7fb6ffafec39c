"""What the mesh engine accepts, and the memory that it takes."""

from __future__ import annotations

from nearfield.algebra.method import Method
from nearfield.algebra.transforms import Square
from nearfield.engine.mesh.grids import MOST
from nearfield.engine.task import Task

# What was measured, on the generous side.
NEIGHBOUR = 36  # bytes: what a neighbour takes while the graph is made
EDGE = 12  # bytes: what is kept of it
MERGED = 1.6  # edges for each neighbour, at most, after symmetrising
DRAWN = 120  # bytes: what a pair that was drawn takes while the target is made
NODE = 50  # bytes of the grid
NODES = {1: 10, 2: 30, 3: 1000}  # for each point, while the map unfolds
SMALL = 2**23  # bytes: whatever has no term of its own


def obstacle(task: Task) -> str | None:
    """The fact that keeps a method from splitting into edges and field, or None."""
    method = task.method
    kernel, cost = method.kernel, method.cost
    if kernel is None:
        return "a cost of distances ties every pair"  # see the pairs engine
    terms = cost.facts.limit
    if terms is None:
        return f"{type(cost).__name__} does not declare its limit at p = 0"
    if any(term.grows for term in terms):
        return f"the repulsion of {cost!r} grows with the distance"
    if method.precisions != (1.0,) or method.climbs:
        found = _obstacle_of_scales(method)
        if found:
            return found
    if method.normalization == "joint" or not kernel.facts.symmetric:
        return "a kernel that is not symmetric makes no potential"
    if not kernel.facts.radial:
        return f"{kernel!r} depends on more than the distance"
    if task.weighted and method.precisions != (1.0,):
        return "several scales know of no weights"
    massive = kernel.profile is not kernel
    if massive and (method.normalization != "pair" or not all(term.constant for term in terms)):
        return "masses of points are for pair normalization and a constant limit only"
    if method.learned and method.normalization == "point":
        return "parameters are learned with pair normalization only"
    if method.learned and cost.facts.bound:
        return f"parameters are not learned with the charges of {cost!r}"
    if massive and cost.facts.bound:
        return "points have masses or charges, and not both"
    if method.transform != Square():
        return f"{method.transform!r} is not the squared distance"
    if task.n_components > 3:
        return f"a grid in {task.n_components} dimensions has too many nodes"
    return None


def _obstacle_of_scales(method: Method) -> str | None:
    """The fact that keeps several precisions of a kernel from having fields."""
    terms = method.cost.facts.limit or ()
    if not all(term.constant for term in terms):
        return f"the limit of {type(method.cost).__name__} at p = 0 does not separate into scales"
    if method.normalization == "none":
        return "bare weights of several scales do not separate"
    if method.kernel is None or method.kernel.facts.tail is None or method.learned:
        return f"{method.kernel!r} is not of the heavy-tailed family, with parameters that are known"
    return None


def memory(task: Task) -> int:
    """The most of what is there at once: the graph while it is made, or its edges and the grid.

    Several perplexities, and large ones, take neighbours that are drawn from all ranks in its place.
    """
    n, dimensions = task.n, task.n_components
    nodes = min(NODES.get(dimensions, 0) * n, MOST)
    if task.drawn:
        fields, of_points = nodes * (1 + task.scales // 2), 400 * n * dimensions * task.scales
        return int(DRAWN * n * task.drawn + 24 * n * task.columns + NODE * fields) + of_points + SMALL
    found = n * min(task.neighbours, n - 1)
    graph = NEIGHBOUR * found + 24 * n * task.columns
    edges = EDGE * MERGED * found * (1 if task.method.bounded_cross_entropy else 2)  # a guide has its own
    return int(max(graph, edges + NODE * nodes)) + 200 * n * dimensions + SMALL
