"""Write the reference pages from the code: `python docs/generate.py`.

What the code says is taken from it: docstrings, formulas, parameters, facts, the catalogue. What it does not
say, the derivative as a formula, stands in the tables below and is evaluated against the code before
anything is written. With `--check` nothing is written, and the exit code is 1 if a page is not what the code
gives. With `--pictures` the pictures are drawn as well.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from latex import evaluate

import nearfield as nf
from nearfield.algebra import transforms
from nearfield.algebra.catalogue import Entry, entries
from nearfield.algebra.costs import Cost, all_costs
from nearfield.algebra.kernels import Kernel, all_kernels
from nearfield.engine.exact import Exact, exact

DOCS = Path(__file__).parent
NOTE = "<!-- Written by docs/generate.py from the code. Change the code, then run: make docs -->"

# ∂c/∂q of each cost, and its limit as p → 0 where the cost declares one; δ is the floor on p.
COST_DERIVATIVES: dict[str, tuple[str, str]] = {
    "KL": (r"-\frac{p}{q}", "0"),
    "ReverseKL": (r"\log\frac{q}{p} + 1", r"\log\frac{q}{\delta} + 1"),
    "NeRV": (
        r"-\lambda\frac{p}{q} + (1-\lambda)\left(\log\frac{q}{p} + 1\right)",
        r"(1-\lambda)\left(\log\frac{q}{\delta} + 1\right)",
    ),
    "JensenShannon": (r"\frac{1}{\kappa}\log\frac{q}{z}", r"\frac{1}{\kappa}\log\frac{1}{1-\kappa}"),
    "Square": ("q - p", "q"),
    "ChiSquare": (r"1 - \frac{p^2}{q^2}", "1"),
    "Hellinger": (r"1 - \sqrt{p/q}", "1"),
    "AlphaBeta": (r"-\frac{1}{a} q^{b-1} \left(p^a - q^a\right)", r"\frac{1}{a} q^{a+b-1}"),
    "GeneralizedKL": (r"1 - \frac{v}{w}", "1"),
    "GeneralizedReverseKL": (r"\log\frac{w}{v}", r"\log\frac{w}{\delta}"),
    "GeneralizedNeRV": (
        r"\lambda\left(1 - \frac{v}{w}\right) + (1-\lambda)\log\frac{w}{v}",
        r"\lambda + (1-\lambda)\log\frac{w}{\delta}",
    ),
    "ElasticEmbedding": (r"\lambda - \frac{v}{w}", r"\lambda"),
    "LargeVis": (
        r"-\frac{v}{w} + \frac{\gamma}{1 - (1-\epsilon) w}",
        r"\frac{\gamma}{1 - (1-\epsilon) w}",
    ),
    "CrossEntropy": (
        r"-\frac{v}{w} + \frac{1-v}{1 - (1-\epsilon) w}",
        r"\frac{1}{1 - (1-\epsilon) w}",
    ),
    "Stress": ("-2 (r - d)", ""),
    "SStress": ("-4 d (r^2 - d^2)", ""),
    "Sammon": (r"-2 \frac{r - d}{r}", ""),
}
KERNEL_DERIVATIVES = {
    "Gaussian": r"-\beta w",
    "HeavyTailed": r"-\beta w^{1+\alpha}",
    "Student": r"-\frac{\nu+1}{2(\nu+f)} w",
    "Inhomogeneous": r"-\frac{\nu_i+1}{2(\nu_i+f)} w",
    "ImportanceWeighted": r"m_i m_j w'(f)",
    "UMAP": r"-a b f^{b-1} w^2",
}
TRANSFORMS = {"Square": ("d^2", "2d"), "Identity": ("d", "1"), "Power": ("d^t", "t d^{t-1}")}

# Each parameter: its letter in the formulas, and what it does; "Class.name" goes before "name", and a
# docstring that describes it before both.
PARAMETERS = {
    "lam": (r"\lambda", "the share of missed neighbours in the cost; the rest is for false ones"),
    "ElasticEmbedding.lam": (r"\lambda", "the strength of the repulsion"),
    "kappa": (r"\kappa", "the share of P in the mixture, from 0 to 1"),
    "floor": (r"\delta", "the least p that is reckoned with where p = 0 would cost infinitely much"),
    "gamma": (r"\gamma", "the strength of the repulsion"),
    "epsilon": (r"\epsilon", "keeps the repulsion of coincident points finite"),
    "a": ("a", "the power of p"),
    "b": ("b", "the power of q"),
    "UMAP.a": ("a", "how soon the weight falls"),
    "UMAP.b": ("b", "the power with which it falls: the tail goes as the distance to the -2b"),
    "alpha": (r"\alpha", "the weight of the tail"),
    "beta": (r"\beta", "the precision: the kernel's width goes with its inverse root"),
    "dof": (r"\nu", "degrees of freedom; fewer make a heavier tail"),
    "nu": (r"\nu_i", "degrees of freedom of each point"),
    "learned": ("", "which of the parameters are learned along with the map"),
    "exponent": ("t", "the power"),
    "base": ("", "the kernel that is weighted"),
    "mass": ("", "the weights of the points"),
}
# Where the limit as p → 0 holds, if it is not everywhere.
LIMIT_HOLDS = {"AlphaBeta": "for a > 0 and a + b > 0", "JensenShannon": "for κ < 1"}
OWN = "The tutorial shows [a {what} of one's own](../tutorial.md#a-composition-of-your-own)."
LETTERS = {"probabilities": ("p", "q"), "weights": ("v", "w"), "distances": ("r", "d")}


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


def parameters(cls: type) -> dict[str, Any]:
    """The parameters of a part and their defaults."""
    return {f.name: f.default for f in dataclasses.fields(cls) if f.init}


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


# ------------------------------------------------------------------------------------ Markdown


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def math(formula: str) -> str:
    """A formula within a line."""
    return f"${formula}$" if formula else ""


def display(*formulas: str) -> str:
    """Formulas on a line of their own."""
    return "$$\n" + r" \qquad ".join(formulas) + "\n$$"


def link(text: str, page: str, anchor: str = "") -> str:
    """A link to a heading of a page of the reference."""
    return f"[{text}]({page}.md{'#' + anchor.lower() if anchor else ''})"


def yes(value: bool) -> str:
    """A truth value for people."""
    return "yes" if value else "no"


def page(title: str, *blocks: str) -> str:
    """A whole page."""
    return "\n\n".join([NOTE, f"# {title}", *(block for block in blocks if block)]) + "\n"


# ------------------------------------------------------------------------------------ who uses what


def page_of(cls: type) -> str:
    """The page on which a cost or kernel is described."""
    if issubclass(cls, Kernel):
        return "kernels"
    family = cls.__module__.rsplit(".", 1)[-1]
    if f"costs-{family}" not in PAGES:
        raise ValueError(f"{cls.__name__} is of the family {family!r}, which has no page in docs/generate.py")
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


def letters_of(cls: type[Cost]) -> tuple[str, str]:
    """The letters of data and map in a cost's formula: p and q, v and w, or r and d."""
    return next(pair for domain, pair in LETTERS.items() if domain in cls.domains)


def facts_of(base: type) -> list[list[str]]:
    """What the facts mean, as the base class says it."""
    meanings = described(sections(base)["Attributes"]).items()
    return [[f"`{name}`", text] for name, text in meanings if name not in ("name", "formula")]


def fact(cls: type, name: str) -> Any:
    """A fact as the class declares it or, where it follows from the parameters, with their defaults."""
    return getattr(cls(), name)


def cost_section(cls: type[Cost]) -> str:
    """The description of one cost."""
    p, q = letters_of(cls)
    derivative, limit = COST_DERIVATIVES[cls.__name__]
    depends = [name for name in ("degree", "infinite_at_zero") if isinstance(getattr(cls, name), property)]
    holds = " " + LIMIT_HOLDS[cls.__name__] if cls.__name__ in LIMIT_HOLDS else ""
    facts = [
        ["`domains`", ", ".join(domain for domain in LETTERS if domain in cls.domains)],
        [f"`limit`, the derivative as {p} → 0", f"{math(limit)}{holds}" if limit else "not declared"],
        ["`cross_entropy`", yes(fact(cls, "cross_entropy"))],
        ["`least_squares`", "no" if cls.least_squares is None else f"exponent {cls.least_squares:g}"],
        ["`degree`", f"{fact(cls, 'degree'):g}"],
        ["`within_one`", yes(cls.within_one)],
        ["`infinite_at_zero`", yes(fact(cls, "infinite_at_zero"))],
    ]
    for row in facts:
        if row[0].strip("`") in depends:
            row[1] += " (with the defaults; it follows from the parameters)"
    if cls().scale(4.0) == 0.25:
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
            math(COST_DERIVATIVES[cls.__name__][0]),
        ]
        for cls in classes
    ]
    guests = [
        cls
        for cls in all_costs()
        if family == "weights" and "weights" in cls.domains and page_of(cls) != f"costs-{family}"
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
        table(["fact", "meaning"], facts_of(Cost)),
        OWN.format(what="cost"),
        *map(cost_section, classes),
    )


# ------------------------------------------------------------------------------------ kernels, transforms


def kernel_section(cls: type[Kernel]) -> str:
    """The description of one kernel."""
    kernel = cls()
    tail = kernel.tail
    learnable = ", ".join(f"`{name}` within {low:g} … {high:g}" for name, (low, high) in cls.bounds.items())
    facts = [
        ["`symmetric`", yes(kernel.symmetric)],
        ["`within_one`", yes(kernel.within_one)],
        ["`underflows`", yes(kernel.underflows)],
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
            display(f"{w[0]} = {cls.formula}", f"{w[1]} = {KERNEL_DERIVATIVES[cls.__name__]}"),
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
            math(KERNEL_DERIVATIVES[cls.__name__]),
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
        table(["fact", "meaning"], facts_of(Kernel)),
        OWN.format(what="kernel"),
        *map(kernel_section, classes),
    )


def all_transforms() -> list[type[transforms.Transform]]:
    """Every transform class of the library."""
    classes = [getattr(transforms, name) for name in transforms.__all__ if name != "Transform"]
    return sorted(classes, key=lambda cls: inspect.getsourcelines(cls)[1])


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


# ------------------------------------------------------------------------------------ formulas against code


def wrong_formulas() -> list[str]:
    """The formulas that do not compute to what the code computes, each with what is wrong."""
    random = np.random.default_rng(0)
    found = []

    def compare(what: str, formula: str, letters: dict[str, Any], expected: Any) -> None:
        got = evaluate(formula, letters)
        if not np.allclose(got, expected, rtol=1e-4, atol=1e-6):
            found.append(f"{what}: {formula} is not what the code computes")

    # The printed repulsion of LargeVis and UMAP is that of ε → 0, and δ must not be lost beside p.
    special = {"epsilon": 1e-6, "kappa": 0.3, "lam": 0.3, "a": 0.7, "b": 0.4, "floor": 1e-9}
    for cls in all_costs():
        chosen = {name: special[name] for name in parameters(cls) if name in special}
        cost = cls(**chosen)
        p, q = random.uniform(0.1, 0.9, size=(2, 20))
        values = {name: getattr(cost, name) for name in parameters(cls)}
        letters = {PARAMETERS[name][0]: value for name, value in values.items()}  # the same with a class
        letters |= dict(zip(letters_of(cls), (p, q), strict=True))
        letters["z"] = cost.kappa * p + (1 - cost.kappa) * q if hasattr(cost, "kappa") else None
        derivative, limit = COST_DERIVATIVES[cls.__name__]
        compare(cls.__name__, cls.formula, letters, cost.value(p, q))
        compare(f"{cls.__name__}, derivative", derivative, letters, cost.derivative(p, q))
        terms = cost.limit()
        if (terms is None) != (limit == ""):
            found.append(f"{cls.__name__}: the limit is declared in one of code and documentation only")
        elif terms is not None:
            S = 3.0 if "probabilities" in cls.domains else 1.0
            declared = sum((t.coefficient(S) * t.slope(S * q) for t in terms), np.zeros_like(q))
            compare(f"{cls.__name__}, limit declared", limit, letters, declared)
            compare(f"{cls.__name__}, limit", limit, letters, cost.derivative(np.zeros_like(p), q))
    f = random.uniform(0.1, 9, size=20)
    for kernel_class in all_kernels():
        if kernel_class is nf.kernels.ImportanceWeighted:
            continue  # its formula is in terms of another kernel's
        kernel = kernel_class()
        values = {name: getattr(kernel, name) for name in parameters(kernel_class)}
        letters = {PARAMETERS[name][0]: value for name, value in values.items()}
        letters |= {"f": f, "w": kernel.value(f), "e": np.e}
        compare(kernel_class.__name__, kernel_class.formula, letters, kernel.value(f))
        derivative = KERNEL_DERIVATIVES[kernel_class.__name__]
        compare(f"{kernel_class.__name__}, derivative", derivative, letters, kernel.derivative(f))
    for transform_class in all_transforms():
        transform = transform_class()
        value, derivative = TRANSFORMS[transform_class.__name__]
        letters = {"d": f, "t": getattr(transform, "exponent", None)}
        compare(transform_class.__name__, value, letters, transform.value(f))
        compare(f"{transform_class.__name__}, derivative", derivative, letters, transform.derivative(f))
    return found


# ------------------------------------------------------------------------------------ to and from files


def pages() -> dict[Path, str]:
    """Every page as the code gives it."""
    return {DOCS / "reference" / f"{name}.md": make() for name, make in PAGES.items()}


def stale() -> list[str]:
    """The pages that are not what the code gives."""
    return [
        path.relative_to(DOCS).as_posix()
        for path, text in pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


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
        old = stale()
        for name in old:
            print(f"docs/{name} is not what the code gives: run make docs", file=sys.stderr)
        return 1 if old or wrong else 0
    if wrong:
        return 1
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {path.relative_to(DOCS)}")
    if "--pictures" in arguments or not (DOCS / "images" / "digits.png").exists():
        from pictures import draw_all

        (DOCS / "images").mkdir(exist_ok=True)
        draw_all(DOCS / "images")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
