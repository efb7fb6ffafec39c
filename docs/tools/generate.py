"""Write the reference pages from the code: `python docs/tools/generate.py`.

What the code says is taken from it: docstrings, formulas, parameters, facts, the catalogue. What it does not
say, the derivative as a formula, stands in formulas.py and is evaluated against the code before anything is
written. What commands print is put into the pages that show it, see outputs.py. With `--check` nothing is
written, and the exit code is 1 if a page is not what the code gives. With `--pictures` the pictures are drawn
as well.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from derivations import derivation_pages
from formulas import (
    LETTERS,
    LIMIT_HOLDS,
    PARAMETERS,
    TRANSFORMS,
    all_transforms,
    letters_of,
    parameters,
    wrong_formulas,
)
from outputs import renewed, run_page, with_outputs
from public import api_pages
from writing import NOTE, display, link, math, page, table, yes

import nearfield as nf
from nearfield.algebra import transforms
from nearfield.algebra.catalogue import Entry, entries
from nearfield.algebra.costs import Cost, CostFacts, all_costs
from nearfield.algebra.kernels import Kernel, KernelFacts, all_kernels
from nearfield.engine.exact.chain import Exact, exact

DOCS = Path(__file__).parents[1]
OWN = "The tutorial shows [a {what} of one's own](../tutorial.md#a-composition-of-your-own)."

# ------------------------------------------------------------------------------------ docstrings


def sections(cls: type) -> dict[str, str]:
    """The sections of a numpydoc docstring by their headings; the opening has none."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(cls.__doc__ or ""), flags=re.MULTILINE)
    return {"": parts[0].strip(), **{parts[k]: parts[k + 1].strip() for k in range(1, len(parts), 2)}}


def described(text: str) -> dict[str, str]:
    """The entries `name : type` of a section, each with its description on one line."""
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", text):
        name, _, rest = block.partition("\n")
        found[name.partition(" : ")[0].strip()] = " ".join(rest.split())
    return found


def opening(cls: type) -> str:
    """What the docstring says before its sections, as Markdown, without its examples."""
    paragraphs = sections(cls)[""].replace("``", "`").split("\n\n")
    return "\n\n".join(p for p in paragraphs if not p.lstrip().startswith(">>>"))


def parameter_table(cls: type) -> str:
    """The parameters as a table; nothing where there are none."""
    own = described(sections(cls).get("Parameters", ""))
    rows = []
    for name, default in parameters(cls).items():
        letter, meaning = PARAMETERS.get(f"{cls.__name__}.{name}", PARAMETERS.get(name, ("", "")))
        text = own.get(name) or meaning
        if not text:
            raise ValueError(
                f"describe {cls.__name__}'s parameter {name!r}, in its docstring or in PARAMETERS"
            )
        rows.append([f"`{name}`", math(letter), f"`{default!r}`", text])
    return table(["parameter", "letter", "default", "meaning"], rows) if rows else ""


# ------------------------------------------------------------------------------------ who uses what


def page_of(cls: type) -> str:
    """The page on which a cost or kernel is described."""
    if issubclass(cls, Kernel):
        return "kernels"
    family = cls.__module__.rsplit(".", 1)[-1]
    if f"costs-{family}" not in PAGES:
        raise ValueError(
            f"{cls.__name__} is of the family {family!r}, which has no page in docs/tools/generate.py"
        )
    return f"costs-{family}"


def parts_of(entry: Entry) -> list[type]:
    """The classes that a method of the catalogue is composed of."""
    method = entry.build()
    parts: list[Any] = [method.cost, method.kernel, getattr(method.kernel, "base", None), method.transform]
    return [type(part) for part in parts if part is not None]


def used_by(cls: type) -> str:
    """The methods of the catalogue that a class is a part of."""
    names = [link(entry.name, "methods", entry.name) for entry in entries() if cls in parts_of(entry)]
    return "Used by " + ", ".join(names) + "." if names else "No method of the catalogue uses it."


# ------------------------------------------------------------------------------------ costs


def facts_of(kind: type) -> list[list[str]]:
    """What the facts mean, as their class says it."""
    return [[f"`{name}`", text] for name, text in described(sections(kind)["Attributes"]).items()]


def cost_section(cls: type[Cost]) -> str:
    """The description of one cost."""
    p, q = letters_of(cls)
    derivative, limit = cls.derivative_formula, cls.limit_formula
    known = cls().facts  # where they follow from the parameters, with the defaults
    depends = [name for name in ("degree", "infinite_at_zero") if isinstance(vars(cls).get(name), property)]
    holds = " " + LIMIT_HOLDS[cls.__name__] if cls.__name__ in LIMIT_HOLDS else ""
    facts = [
        ["`domains`", ", ".join(domain for domain in LETTERS if domain in known.domains)],
        [f"`limit`, the derivative as {p} → 0", f"{math(limit)}{holds}" if limit else "not declared"],
        ["`cross_entropy`", yes(known.cross_entropy)],
        ["`least_squares`", "no" if known.least_squares is None else f"exponent {known.least_squares:g}"],
        ["`degree`", f"{known.degree:g}"],
        ["`within_one`", yes(known.within_one)],
        ["`infinite_at_zero`", yes(known.infinite_at_zero)],
    ]
    for row in facts:
        if row[0].strip("`") in depends:
            row[1] += " (with the defaults; it follows from the parameters)"
    if cls().factor(4.0) == 0.25:
        facts.append(["`scale`, the constant before the sum", f"1 over the sum of all {p}"])
    where = r"z = \kappa p + (1-\kappa) q" if "z" in cls.formula else ""
    return "\n\n".join(
        [
            f"## {cls.__name__}",
            f'`nf.costs.{cls.__name__}`, or `nf.costs.named("{cls.name}")`. {used_by(cls)}',
            opening(cls),
            display(f"c({p}, {q}) = {cls.formula}", *([where] if where else [])),
            display(rf"\frac{{\partial c}}{{\partial {q}}} = {derivative}"),
            *filter(None, [parameter_table(cls)]),
            table(["fact", ""], facts),
        ]
    )


def costs_page(family: str, title: str, introduction: str) -> str:
    """The page of a family of costs."""
    classes = [cls for cls in all_costs() if page_of(cls) == f"costs-{family}"]
    overview = [
        [
            link(cls.__name__, f"costs-{family}", cls.__name__).replace(f"costs-{family}.md", ""),
            math(cls.formula),
            math(cls.derivative_formula),
        ]
        for cls in classes
    ]
    guests = [
        cls
        for cls in all_costs()
        if family == "weights" and "weights" in cls().facts.domains and page_of(cls) != f"costs-{family}"
    ]
    also = ", ".join(link(cls.__name__, page_of(cls), cls.__name__) for cls in guests)
    return page(
        title,
        introduction,
        f"Described elsewhere, and defined on bare weights as well: {also}." if guests else "",
        "![What a pair costs](../images/costs.png)",
        table(["cost", "a pair's term", "its derivative"], overview),
        "Every cost declares facts, and the engine, the optimizer and the schedule go by these alone, never"
        " by a name:",
        table(["fact", "meaning"], facts_of(CostFacts)),
        OWN.format(what="cost"),
        *map(cost_section, classes),
    )


# ------------------------------------------------------------------------------------ kernels, transforms


def kernel_section(cls: type[Kernel]) -> str:
    """The description of one kernel."""
    kernel = cls()
    known, tail = kernel.facts, kernel.facts.tail
    learnable = ", ".join(f"`{name}` within {low:g} … {high:g}" for name, (low, high) in cls.bounds.items())
    facts = [
        ["`symmetric`", yes(known.symmetric)],
        ["`within_one`", yes(known.within_one)],
        ["`underflows`", yes(known.underflows)],
        ["`width`, with the defaults", f"{kernel.width:.3f}"],
        ["`tail`, the (α, β) of a closed form", "none" if tail is None else f"({tail[0]:g}, {tail[1]:g})"],
        ["can be learned", learnable or "nothing"],
    ]
    w = ("w_{ij}", "w'_{ij}") if hasattr(kernel, "base") else ("w(f)", "w'(f)")  # of the base: w(f)
    return "\n\n".join(
        [
            f"## {cls.__name__}",
            f'`nf.kernels.{cls.__name__}`, or `nf.kernels.named("{cls.name}")`. {used_by(cls)}',
            opening(cls),
            display(f"{w[0]} = {cls.formula}", f"{w[1]} = {cls.derivative_formula}"),
            *filter(None, [parameter_table(cls)]),
            table(["fact", ""], facts),
        ]
    )


def kernels_page() -> str:
    """The page of the kernels."""
    classes = all_kernels()
    overview = [
        [
            f"[{cls.__name__}](#{cls.__name__.lower()})",
            math(cls.formula),
            math(cls.derivative_formula),
        ]
        for cls in classes
    ]
    distances = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0])
    values = [
        [f"`{kernel!r}`", *(f"{w:.3g}" for w in kernel.value(distances**2))]
        for kernel in (cls() for cls in classes)
    ]
    return page(
        "Kernels",
        "A kernel turns the transformed distance f of a pair, by default the squared distance, into a weight"
        " w that falls as the pair moves apart. Its tail decides how much room the map has. At a distance of"
        f" 4 a pair has the weight {nf.kernels.Gaussian().value(16.0):.0e} under the Gaussian kernel and"
        f" {nf.kernels.Student().value(16.0):.2f} under Student's: with a heavy tail, moderate dissimilarity"
        " may be shown as a large distance, which is what sets clusters apart.",
        "![Profiles of the kernels](../images/kernels.png)",
        table(["kernel", "w(f)", "w'(f)"], overview),
        "The weight at a distance d, with the defaults:",
        table(["kernel", *(f"d = {d:g}" for d in distances)], values),
        "The facts that a kernel declares:",
        table(["fact", "meaning"], facts_of(KernelFacts)),
        OWN.format(what="kernel"),
        *map(kernel_section, classes),
    )


def transform_section(cls: type[transforms.Transform]) -> str:
    """The description of one transform."""
    value, derivative = TRANSFORMS[cls.__name__]
    return "\n\n".join(
        [
            f"## {cls.__name__}",
            f"`nf.transforms.{cls.__name__}`",
            opening(cls),
            display(f"f(d) = {value}", rf"\frac{{df}}{{dd}} = {derivative}"),
            *filter(None, [parameter_table(cls)]),
        ]
    )


def transforms_page() -> str:
    """The page of the transforms."""
    return page(
        "Transforms",
        "A transform f(d) stands between the distance of a pair in the map and the kernel, or the cost of"
        " distances, that sees it. It rises from f(0) = 0. By default it is the square with a kernel and the"
        " identity without.",
        "With a cost of distances the transform acts on the distances of the data and of the map alike:"
        " `Method(Stress(), transform=Square())` is the least squares of squared distances.",
        *map(transform_section, all_transforms()),
    )


# ------------------------------------------------------------------------------------ methods


TARGETS = {
    "joint": "joint P: one distribution over all pairs",
    "row": "row P: a distribution for every point",
    "weights": "weights: the nearest neighbour has 1",
    "distances": "distances",
}


def composition(entry: Entry) -> str:
    """Cost · kernel · normalization, each a link to where it is described."""
    method = entry.build()
    parts = [link(repr(method.cost), page_of(type(method.cost)), type(method.cost).__name__)]
    if method.kernel is not None:
        parts.append(link(repr(method.kernel), "kernels", type(method.kernel).__name__))
    return " · ".join([*parts, *([method.normalization] if method.normalization != "none" else [])])


def method_section(entry: Entry) -> str:
    """The description of one method."""
    method = entry.build()
    X = np.random.default_rng(0).normal(size=(12, 3))
    asked = nf.Run(X, method).map().parameters
    closed = type(exact(method, method.target(X))) is not Exact
    given = ", ".join(f"{name}={value!r}" for name, value in entry.parameters.items())
    strengthened = asked["exaggeration"] != 1
    facts = [
        ["composition", composition(entry)],
        ["target", TARGETS[method.target_kind]],
        ["learned", ", ".join(f"`{name}`" for name in method.learned) or "nothing but the map"],
        ["gradient", "in closed form" if closed else "by the chain"],
        ["derivation", f"[link by link](../derivations/{entry.name}.md)"],
        [
            "descent, by default",
            asked["optimizer"]
            + (f", attraction × {asked['exaggeration']:g} at first" if strengthened else ""),
        ],
    ]
    call = f'nf.method("{entry.name}"{", " + given if given else ""})'
    first = entry.summary[0] if entry.summary.startswith("t-") else entry.summary[0].upper()
    return "\n\n".join(
        [f"## {entry.name}", f"{first}{entry.summary[1:]}.", f"`{call}`", table(["", ""], facts)]
    )


def methods_page() -> str:
    """The page of the catalogue."""
    groups: dict[str, list[list[str]]] = {"probabilities": [], "bare weights": [], "distances": []}
    for entry in entries():
        kind = entry.build().target_kind
        group = {"weights": "bare weights", "distances": "distances"}.get(kind, "probabilities")
        groups[group].append([f"[{entry.name}](#{entry.name})", composition(entry), entry.summary])
    blocks = []
    for group, rows in groups.items():
        blocks += [f"Methods that compare **{group}**:", table(["name", "composition", "in a line"], rows)]
    return page(
        "The catalogue",
        f"{len(nf.methods())} methods have a name. Each is one line of composition, so that a method without"
        " a name is worth as much: `nf.method(name, **parameters)` gives a `Method`, and everything that"
        " takes a name takes a `Method` too. `nearfield methods` prints this list, and `nearfield check NAME`"
        " compares a method's gradient with finite differences.",
        *blocks,
        "`Embedder` also accepts `pca`, which is not in the catalogue because nothing is minimised: it is"
        " there for comparison.",
        *map(method_section, entries()),
    )


PAGES = {
    "costs-divergences": lambda: costs_page(
        "divergences",
        "Costs of probabilities",
        "These costs compare the neighbour probabilities p of the data with those of the map, q. They differ"
        " in which mistake is dear: a neighbour that the map tears away (q far below p), or a stranger that"
        " it lets in (q far above p). The plot shows each less its tangent at q = p, because a term that is"
        " linear in q cancels in the normalization.",
    ),
    "costs-weights": lambda: costs_page(
        "weights",
        "Costs of bare weights",
        "Without normalization the weights w of the map are compared with weights v of the data as they are."
        " There is no sum over all pairs to divide by, so that each pair's force depends on that pair alone;"
        " in exchange the cost has to balance attraction and repulsion itself.",
    ),
    "costs-distances": lambda: costs_page(
        "distances",
        "Costs of distances",
        "Without a kernel the distances r of the data are compared with the distances d of the map. Every"
        " pair pulls or pushes, the far ones too: such maps keep the large arrangement and crowd the small"
        " one. With `normalization` both sides are first divided by their sum, over all pairs or point by"
        " point, which makes the comparison blind to scale; with `transform` both are transformed first.",
    ),
    "kernels": kernels_page,
    "transforms": transforms_page,
    "methods": methods_page,
}


# ------------------------------------------------------------------------------------ to and from files


def pages() -> dict[Path, str]:
    """Every page as the code gives it."""
    reference = {DOCS / "reference" / f"{name}.md": make() for name, make in PAGES.items()}
    derived = {DOCS / "derivations" / f"{name}.md": text for name, text in derivation_pages(NOTE).items()}
    api = {DOCS / "api" / f"{name}.md": text for name, text in api_pages().items()}
    return reference | derived | api


def stale() -> list[str]:
    """The pages that are not what the code gives."""
    return [
        path.relative_to(DOCS.parent).as_posix()
        for path, text in pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def drifted() -> dict[Path, str]:
    """The pages that show other outputs than their commands print, as they should be."""
    found = {}
    for path in with_outputs():
        with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
            old = path.read_text(encoding="utf-8")
            new = renewed(run_page(path), old)
        if new != old:
            found[path] = new
    return found


def main(arguments: list[str]) -> int:
    """Write, or check; return the exit code."""
    unknown = set(arguments) - {"--check", "--pictures"}
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; there are --check and --pictures", file=sys.stderr)
        return 2
    wrong = wrong_formulas()
    for each in wrong:
        print(each, file=sys.stderr)
    if "--check" in arguments:
        old = [*stale(), *(path.relative_to(DOCS.parent).as_posix() for path in drifted())]
        for name in old:
            print(f"{name} is not what the code gives: run make docs", file=sys.stderr)
        return 1 if old or wrong else 0
    if wrong:
        return 1
    for path, text in (pages() | drifted()).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {path.relative_to(DOCS.parent)}")
    if "--pictures" in arguments or not (DOCS / "images" / "digits.png").exists():
        from pictures import draw_all

        (DOCS / "images").mkdir(exist_ok=True)
        draw_all(DOCS / "images")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
