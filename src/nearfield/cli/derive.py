"""`nearfield derive`: the gradient of a method, link by link."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfield.cli.options import Parameters
from nearfield.cli.terminal import Report, compose, settings

if TYPE_CHECKING:
    from nearfield.algebra.method import Method

FORMATS = {"text": ".txt", "latex": ".tex", "markdown": ".md", "html": ".html"}
WIDEST = 100  # columns, beyond which lines are hard to read


PLACE = 7  # among the commands


def derive(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="See: nearfield methods.")] = None,
    cost: Annotated[
        str | None, typer.Option(help="Without a name: a cost's, or a formula in p and q.")
    ] = None,
    kernel: Annotated[str | None, typer.Option(help="A kernel's name, or a formula in f.")] = None,
    normalization: Annotated[str | None, typer.Option(help="pair, point, joint or none.")] = None,
    parameters: Parameters = None,
    kind: Annotated[
        str | None, typer.Option("--format", help="text, latex (a document), markdown or html (a page).")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file; its ending is the format.")] = None,
) -> None:
    """Derive the gradient of a method link by link, state its limit at p = 0, and check it."""
    kind = _format(kind, out)
    given = settings(parameters or [])
    if name is not None:
        if cost or kernel or normalization:
            raise ValueError("give a name, or --cost, --kernel and --normalization, and not both")
        composed = compose(name, given)
        if isinstance(composed, str):
            raise ValueError(f"{name} minimises no cost, so there is nothing to derive")
    elif cost is not None:
        composed = _composition(cost, kernel, normalization, given)
    else:
        raise ValueError("name a method (nearfield methods lists them), or compose one: --cost, --kernel, …")

    import nearfield

    found = nearfield.derive(composed) if name is None else nearfield.derive(name, **given)
    width = min(WIDEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else 80
    written = found.text(width) if kind == "text" else getattr(found, kind)()
    if out is None:
        print(written, end="")
    else:
        from nearfield.io.files import replacing

        with replacing(out) as scratch:
            scratch.write_text(written, encoding="utf-8", newline="\n")
        Report()("wrote", f"{out}: {found.name}, {len(found.steps)} steps, error {found.error:.1e}")
    if not found.passed:
        raise typer.Exit(1)


def _format(kind: str | None, out: Path | None) -> str:
    """The format that was asked for, or the one that the file's ending says."""
    endings = {ending: each for each, ending in FORMATS.items()} | {".htm": "html", ".markdown": "markdown"}
    kind = kind or (endings.get(out.suffix.lower(), "") if out is not None else "text")
    if kind not in FORMATS:
        raise ValueError(
            f"--format is one of {', '.join(FORMATS)}"
            + ("" if out is None else f"; or end the name of the file in {', '.join(FORMATS.values())}")
        )
    return kind


def _composition(cost: str, kernel: str | None, normalization: str | None, given: dict[str, Any]) -> Method:
    """The method of these parts; each takes those of the parameters that it knows."""
    import nearfield
    from nearfield.algebra.costs import all_costs
    from nearfield.algebra.kernels import all_kernels

    taken: set[str] = set()

    def part(text: str, classes: list[Any], named: Any, written: Any) -> Any:
        known = {cls.name: cls for cls in classes}.get(text)
        if known is None and text.isidentifier() and text not in ("p", "q", "f"):
            return named(text)  # which says what names there are
        names = vars(known)["__dataclass_fields__"] if known else re.findall(r"[A-Za-z_]\w*", text)
        own = {key: value for key, value in given.items() if key in names}
        taken.update(own)
        return named(text, **own) if known else written(text, **own)

    first = part(cost, all_costs(), nearfield.costs.named, nearfield.costs.Expression)
    second = None
    if kernel is not None:
        second = part(kernel, all_kernels(), nearfield.kernels.named, nearfield.kernels.Expression)
    unknown = sorted(set(given) - taken)
    if unknown:
        raise ValueError(f"--set {unknown[0]}: neither the cost nor the kernel has a parameter of that name")
    return nearfield.Method(first, second, normalization or "")
