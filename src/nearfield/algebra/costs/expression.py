"""Costs of one's own, as a line of text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

from nearfield.algebra.costs.analysis import Analysed, functions_analysed, text_analysed
from nearfield.algebra.costs.base import Cost
from nearfield.algebra.costs.divergences import positive
from nearfield.algebra.costs.facts import CostFacts, LimitTerm
from nearfield.algebra.expressions import Name, Tree
from nearfield.algebra.expressions.parsing import shortened
from nearfield.algebra.expressions.written import Written
from nearfield.typing import Array

# What the data and the map are called in each domain; p and q serve in all of them.
LETTERS = {"probabilities": ("p", "q"), "weights": ("v", "w"), "distances": ("r", "d")}
VARIABLES = tuple(letter for pair in LETTERS.values() for letter in pair)
FLOOR = 1e-16  # the least p that is reckoned with, where a formula is infinite at 0


class Expression(Written, Cost):
    """A cost written as text, such as ``"p*log(p/q)"``, or as a function with its derivative.

    The text is read into a tree, of which SymPy takes the derivative and the limit at p = 0; the text
    itself is never evaluated. What the cost turns out to be decides how it is computed, exactly as for a
    built-in one: ``Expression("p*log(p/q)")`` runs in the same loops as `KL`.

    Parameters
    ----------
    written : str or callable
        The term c of a pair: of p and q (probabilities), v and w (bare weights) or r and d (distances), the
        first of the data and the second of the map. Numbers, ``+ - * / **``, brackets, log, log1p, exp,
        expm1, sqrt, abs, max, min, pi, e, and the parameters. Or a function of two arrays, which must be at
        the top level of a module so that another process finds it.
    domain : {"probabilities", "weights", "distances"}, optional
        What the two are; by default what the letters say, and probabilities for p and q.
    derivative : callable, optional
        ∂c/∂q, if a function was given.
    floor : float
        The least p that is reckoned with in the terms that are infinite at p = 0, such as q log(q/p). A cost
        of distances that is infinite there gives duplicates the weight 0 instead.
    **parameters : float
        The values of all other names.

    Examples
    --------
    >>> import nearfield as nf
    >>> cost = nf.costs.Expression("lam*p*log(p/q) + (1 - lam)*q*log(q/p)", lam=0.3)
    >>> cost
    Expression('lam*p*log(p/q) + (1 - lam)*q*log(q/p)', lam=0.3)
    >>> cost.facts.infinite_at_zero, len(cost.facts.limit)
    (True, 3)
    >>> nf.costs.Expression("p*log(p/q)").facts.cross_entropy
    True
    >>> nf.costs.Expression("p.real")
    Traceback (most recent call last):
    ValueError: cannot read 'p.real': the attribute '.real' has no place in a formula
    """

    domain: str
    floor: float

    def __init__(
        self,
        written: str | Callable[..., Any],
        *,
        domain: str | None = None,
        derivative: Callable[..., Any] | None = None,
        floor: float = FLOOR,
        **parameters: float,
    ) -> None:
        positive("floor", floor, least=0.0)
        if domain is not None and domain not in LETTERS:
            raise ValueError(f"domain must be one of {', '.join(LETTERS)}, got {shortened(str(domain))}")
        self._write(written, derivative, VARIABLES, parameters)
        found = domain or "probabilities"
        if isinstance(written, str):
            found = _domain(self._parsed(VARIABLES), domain)
        vars(self).update(domain=found, floor=float(floor))
        try:
            analysed(self)  # what is wrong with it is told when it is written, not when it is used
        except ValueError as error:
            message = str(error)
            raise ValueError(
                message if message.startswith("cannot") else f"cannot use {self!r}: {message}"
            ) from None

    def expressed(self) -> Tree:
        """The term of a pair as a tree in p, q and the parameters."""
        if not isinstance(self.written, str):
            return super().expressed()
        data, map = LETTERS[self.domain]
        return self._parsed(VARIABLES).replaced({data: Name("p"), map: Name("q")})

    def _options(self) -> dict[str, str]:
        options = {}
        if not isinstance(self.written, str) or _domain(self._parsed(VARIABLES), None) != self.domain:
            options["domain"] = repr(self.domain)
        return options | ({"floor": repr(self.floor)} if self.floor != FLOOR else {})

    @cached_property
    def facts(self) -> CostFacts:
        """What it turns out to be."""
        return analysed(self).facts

    def value(self, p: Array, q: Array) -> Array:
        return analysed(self).value(p, q)

    def derivative(self, p: Array, q: Array) -> Array:
        return analysed(self).derivative(p, q)

    def limit(self) -> tuple[LimitTerm, ...] | None:
        return self.facts.limit


def _domain(tree: Tree, given: str | None) -> str:
    """What the letters of a formula say that it is about."""
    used = tree.names() & set(VARIABLES)
    own = [domain for domain, letters in LETTERS.items() if used <= set(letters)]
    if not own or (given and given not in own and own != ["probabilities"]):
        pairs = "; ".join(f"{domain}: {' and '.join(letters)}" for domain, letters in LETTERS.items())
        raise ValueError(f"cannot use the letters {', '.join(sorted(used))} together here ({pairs})")
    return given or own[0]


@lru_cache(maxsize=256)
def analysed(cost: Expression) -> Analysed:
    """What a cost turns out to be; found out once in each process."""
    try:
        if isinstance(cost.written, str):
            return text_analysed(cost._valued(cost.expressed()), cost.domain, cost.floor)
        given = (cost.written, cost.slope, cost.parameters)
        return functions_analysed(*given, cost.domain, cost.floor)
    except ValueError as error:
        raise ValueError(f"cannot use {cost!r}: {error}") from None
