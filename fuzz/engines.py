"""Two ways to the same gradient: over all pairs, and by edges and field on the mesh."""

from __future__ import annotations

from random import Random

from fuzz.compositions import method

MAPS = (  # what the map may look like beside
    "Y[3] = Y[2]",
    "Y[:5] = Y[0]",
    "Y[:, 0] *= 1e-3",
    "Y = np.round(Y)",
    "Y += 100.0",
    "X[5:9] = X[5]",
)


def case(dice: Random) -> list[str]:
    """Forces and costs that differ by no more than some times the accuracy that was asked for.

    The map is one such as a descent has on its way: neighbours are near, and it is up to some twenty times as
    wide as the kernel. No point is torn from all of its neighbours, for there the mesh goes on along a
    tangent on purpose. Errors are seen beside the sizes of attraction and repulsion.
    """
    n, d = dice.choice((60, 100, 200)), dice.choice((1, 2, 2, 2, 3))
    lines = [f"random = np.random.default_rng({dice.randrange(1000)})"]
    lines += [f"X = random.normal(size=({n}, 6)) + 4.0 * (np.arange({n}) % {dice.randint(1, 5)})[:, None]"]
    lines += [f"Y = X[:, :{d}] - X[:, :{d}].mean(axis=0) + 0.2 * random.normal(size=({n}, {d}))"]
    lines += dice.sample(MAPS, dice.choice((0, 0, 1, 2)))
    lines += method(dice)
    scale = dice.choice((0.01, 0.1, 0.3, 0.5, 1.0))
    return [
        *lines,
        'if told := Mesh.obstacle(Task(method)): raise ValueError(f"not for the mesh: {told}")',
        f"Y *= {scale} * method.kernel.width",
        f"target = sparse_target(method, X, perplexity={dice.choice((4, 8, 12))})",
        "every = exact(method, target.astype(np.float64))",
        "edges = mesh(method, target, accuracy=1e-3)",
        "a, b, c = every.evaluate(Y), edges.evaluate(Y), every.evaluate(Y, exaggeration=2.0)",
        "pull, push = c.gradient - a.gradient, 2 * a.gradient - c.gradient",
        "size = np.linalg.norm(pull) + np.linalg.norm(push)",
        "assert np.isfinite(b.gradient).all()",
        "assert np.linalg.norm(b.gradient - a.gradient) <= 0.03 * size + 1e-6 * abs(a.cost)",
        "assert abs(b.cost - a.cost) <= 0.03 * abs(a.cost) + 1e-3 * abs(c.value - a.value) + 1e-9",
    ]
