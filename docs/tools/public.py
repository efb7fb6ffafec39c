"""The pages of the API: every public name in a line, with its docstring, which the site fills in."""

from __future__ import annotations

import inspect
from typing import Any

from writing import page, table

import nearfield as nf
from nearfield.algebra import transforms
from nearfield.algebra.costs import Cost
from nearfield.algebra.kernels import Kernel
from nearfield.algebra.parts import Part

# The public names on their pages; a module has one to itself, and whatever is not named here is on the last.
API = {
    "estimators": ("Estimators", ["Embedder", "TSNE", "UMAP", "FuzzyNeighbours"]),
    "methods": ("Methods", ["Method", "method", "methods", "derive", "register", "unregister"]),
    "runs": ("Runs, maps and files", ["Run", "Map", "load", "rows", "align", "mix", "spectrum"]),
    "browser": ("In a browser and in a notebook", ["open_studio", "widget"]),
    "judging": ("Quality and checks", ["quality", "diagnose", "compare", "check", "intrinsic_dimension"]),
}


def public() -> dict[str, tuple[str, list[str]]]:
    """The pages of the API: each with its title and the names on it, such as `costs.KL`."""
    named = {name for _, names in API.values() for name in names}
    rest = [name for name in nf.__all__ if not name.startswith("_") and name not in named]
    modules = [name for name in rest if inspect.ismodule(getattr(nf, name))]
    more = [name for name in rest if name not in modules]
    found = dict(API)
    if more:
        found["more"] = ("More", more)
    for name in modules:
        members = [f"{name}.{member}" for member in getattr(nf, name).__all__]
        found[name] = (f"nf.{name}", members)
    return found


# Their classes are dataclasses without saying so, and are described in the reference.
PARTS = {
    "costs": "What each computes is in the reference: costs of"
    " [probabilities](../reference/costs-divergences.md), of"
    " [bare weights](../reference/costs-weights.md) and of"
    " [distances](../reference/costs-distances.md).",
    "kernels": "What each computes is in the reference: [kernels](../reference/kernels.md).",
    "transforms": "What each computes is in the reference: [transforms](../reference/transforms.md).",
}


def named_by(name: str) -> Any:
    """What a public name such as `costs.KL` stands for."""
    owner, _, member = name.rpartition(".")
    return getattr(getattr(nf, owner) if owner else nf, member)


def in_a_line(name: str) -> str:
    """The first sentence of a public name's docstring."""
    return (inspect.getdoc(named_by(name)) or "").partition("\n")[0]


def call(name: str) -> str:
    """How a part is made, with its defaults; of anything else the name alone."""
    value = named_by(name)
    if not (inspect.isclass(value) and issubclass(value, Part) and name.partition(".")[0] in PARTS):
        return f"nf.{name}"
    signature = inspect.signature(value)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return f"nf.{name}{signature.replace(parameters=plain, return_annotation=signature.empty)}"


def directive(name: str) -> str:
    """What the site replaces by the docstring; parts have all their methods from their base."""
    value, bases = named_by(name), (Cost, Kernel, transforms.Transform)
    inherits = inspect.isclass(value) and issubclass(value, bases) and value not in bases
    return f"::: nearfield.{name}" + ("\n    options:\n      members: false" if inherits else "")


def api_page(title: str, names: list[str]) -> str:
    """A page of the API: a list, and the docstrings, which the site fills in."""
    rows = [[f"`{call(name)}`", in_a_line(name)] for name in names]
    lead = PARTS.get(title.removeprefix("nf."), "")
    return page(title, lead, table(["name", "in a line"], rows), *map(directive, names))


def api_pages() -> dict[str, str]:
    """Every page of the API by its name, and their index."""
    made = {name: api_page(*entry) for name, entry in public().items()}
    rows = [
        [f"[{title}]({name}.md)", ", ".join(f"`{each.rpartition('.')[2]}`" for each in names)]
        for name, (title, names) in public().items()
    ]
    made["index"] = page(
        "API",
        "All public names; `import nearfield as nf` has them. What is not here may change without notice.",
        table(["page", "names"], rows),
    )
    return made
