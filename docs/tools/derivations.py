"""The pages of the derivations: one for every method of the catalogue, and their index."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from writing import math, table, yes

import nearfield as nf
from nearfield.algebra.catalogue import entries
from nearfield.derivation.derive import check_step
from nearfield.derivation.latex import latex

BOUND = 1e-8  # the error itself differs in its last digits from machine to machine

INTRODUCTION = (
    "Every method of the [catalogue](../reference/methods.md) has its gradient derived here, link by link, by"
    " `nf.derive(name)`, which does the same for any composition: the derivative of the cost, the bracket of"
    " the normalization, the slope of the kernel, the closed form, and what becomes of it where p = 0."
    " Nothing is looked up. [The mathematics](../mathematics.md) says what the letters mean. Each result was"
    " computed for a random map and compared with central differences of the cost."
)


def derivation_pages(note: str) -> dict[str, str]:
    """The pages by their names."""
    pages, rows = {}, []
    for entry in entries():
        found = nf.derive(entry.name)
        if not found.error < BOUND:
            raise ValueError(f"the derivation of {entry.name} is off by {found.error:.1e}")
        found = replace(found, steps=(*found.steps[:-1], check_step(found.closed, "below 1e-8")))
        pages[entry.name] = f"{note}\n\n{_page(entry.name, found)}"
        rows.append(
            [f"[{entry.name}]({entry.name}.md)", math(latex(found.document.result[-1])), yes(found.fast)]
        )
    body = table(["method", "gradient, or stiffness where the two springs differ", "near-linear"], rows)
    pages["index"] = f"{note}\n\n# Derivations\n\n{INTRODUCTION}\n\n{body}\n"
    return pages


def _page(name: str, found: Any) -> str:
    """The page of one method, with the way back."""
    back = f"[{name}](../reference/methods.md#{name}) in the catalogue · [all derivations](index.md)"
    return f"{found.markdown()}\n{back}\n"
