"""The indices that a quantity has: p_ij of a pair, S_i of a row, q_iju of a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from nearfield.derivation.layout import Row, Sigma, factor, of, row
from nearfield.derivation.links import SHARE, D, F, Links, P, Q, S, W, Z, is_total, letter


@dataclass(frozen=True)
class Indices:
    """How the symbols of a composition are indexed and called."""

    links: Links

    @property
    def by_row(self) -> bool:
        """Whether sums are taken over a row."""
        return self.links.method.normalization == "point"

    @property
    def summed(self) -> str:
        """The indices of a summed pair: k, l where i, j are taken."""
        return "ik" if self.by_row else "kl"

    @property
    def sigma(self) -> Sigma:
        """The sum that a weight is divided by."""
        return Sigma("k" if self.by_row else "kl")

    def of(self, expression: sp.Expr, pair: str = "ij") -> Any:
        """The expression with its indices, laid out."""
        return of(self.symbols(expression, pair))

    def symbols(self, expression: sp.Expr, pair: str = "ij") -> sp.Expr:
        """The expression with its indices."""
        return expression.xreplace({each: self.symbol(each, pair) for each in expression.free_symbols})

    def name(self, symbol: sp.Symbol, pair: str = "ij") -> str:
        """A symbol with its indices."""
        return str(self.symbol(symbol, pair).name)

    def symbol(self, symbol: sp.Symbol, pair: str = "ij") -> sp.Symbol:
        """The symbol with its indices."""
        links, scale = self.links, "u" if self.links.scales else ""
        mean = "\u0304" if links.scales else ""
        pairs = {
            P: f"{links.target_letter}_{pair}",
            Q: f"{links.map_letter}{mean}_{pair}",
            SHARE: f"{('q' if links.normalized else 'w') if scale else 's'}_{pair}{scale}",
            W: f"w_{pair}{scale}",
            F: f"f_{pair}",
            D: f"d_{pair}",
            Z: f"z_{pair}",
        }
        if symbol in pairs:
            return letter(pairs[symbol])
        base, _, index = symbol.name.partition("_")
        if index in ("i", "j"):  # of a point: a mass, degrees of freedom
            return sp.Symbol(f"{base}_{pair['ij'.index(index)]}", positive=True)
        if index == "ij":  # of a pair, from the target
            return letter(f"{base}_{pair}")
        if symbol == S or is_total(symbol):
            index = (pair[0] if self.by_row else "") + scale
            head, bracket, rest = base.partition("(")
            return sp.Symbol(f"{head}{'_' if index else ''}{index}{bracket}{rest}", **symbol.assumptions0)
        return symbol

    def sum_of(self, expression: sp.Expr) -> Row:
        """Σ of the expression over the pairs of a sum."""
        return row(self.sigma, factor(self.of(expression, self.summed)))
