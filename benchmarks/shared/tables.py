"""Figures as Markdown: tables, and figures beside the bounds that they are to keep."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def figure(value: float | None, form: str = "{:.2f}") -> str:
    """A number as the reader sees it, or a dash."""
    return "–" if value is None else form.format(value)


def bounded(
    value: float | None,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    form: str = "{:.2f}",
    bound_form: str = "{:g}",
) -> list[str]:
    """Three cells: the figure, the bound that it is to keep, and whether it does."""
    bound = at_least if at_least is not None else at_most
    if bound is None or value is None:
        return [figure(value, form), figure(bound, bound_form), "–"]
    met = value >= bound if at_least is not None else value <= bound
    return [figure(value, form), bound_form.format(bound), "met" if met else "missed"]


def count(n: int) -> str:
    """A whole number with thin groups, as in 70 000."""
    return f"{n:,}".replace(",", " ")


def failed(found: dict) -> str:
    """What went wrong, short enough for a cell."""
    return "failed: " + str(found["error"]).replace("|", "/")[:120]
