"""The walk along the chain: each step a title, a sentence and its equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from nearfield.derivation.brackets import is_multiple, is_tidied
from nearfield.derivation.closed import TOTAL, Closed, constant
from nearfield.derivation.gradients import gradient
from nearfield.derivation.indices import Indices
from nearfield.derivation.layout import (
    Group,
    Name,
    Power,
    Row,
    Sigma,
    Sign,
    chained,
    difference,
    equation,
    factor,
    laid,
    over,
    partial,
    row,
)
from nearfield.derivation.links import PRECISION, SHARE, D, F, Links, P, Q, S, W, Z, is_simplified, number

LEFT = " It is beyond what is simplified here, and is left as it is differentiated."
SQUARED = Group(Power(Name("d", "ij"), laid(2)))  # d²


@dataclass(frozen=True)
class Step:
    """A step of the derivation.

    Attributes
    ----------
    title : str
        What it is about.
    sentence : tuple
        What is done and why: text, and equations within it.
    equations : tuple
        What comes out.
    """

    title: str
    sentence: tuple[Any, ...]
    equations: tuple[Any, ...] = ()


def steps(closed: Closed) -> list[Step]:
    """The derivation of the gradient, from the cost to the coordinates."""
    walk = Walk(closed)
    found = [walk.chain(), walk.cost()]
    if closed.links.normalized:
        found.append(walk.normalization())
    if closed.links.kernel is not None:
        found.append(walk.kernel())
    found += [walk.transform(), walk.distance(), walk.general()]
    if closed.bracket is not None:
        found.append(walk.sum())
    found.append(walk.stiffness())
    found.append(Step("The gradient", *gradient(closed)))
    return [*found, *map(walk.learned, closed.learned)]


class Walk:
    """The steps of one composition."""

    def __init__(self, closed: Closed) -> None:
        self.closed, self.links, self.method = closed, closed.links, closed.links.method
        self.index = Indices(closed.links)
        self.joint = self.method.normalization == "joint" and not self.links.scales
        # What is divided by a sum: the weights; of distances, these. And what comes of it.
        self.weight = W if self.links.kernel is not None else D if self.links.transform == D else F
        self.share = SHARE if self.links.scales or self.joint else Q
        self.mean_share = SHARE if self.links.scales else Q  # what G is averaged with
        self.p, self.q, self.w, self.s, self.S = map(self.name, (P, Q, self.weight, self.share, S))
        self.G = self.derivative("ij")
        self.factor = [] if constant(self.links) == 1 else [self.index.of(constant(self.links))]

    def name(self, symbol: sp.Symbol, pair: str = "ij") -> Any:
        """A symbol with its indices, laid out."""
        return laid(self.index.name(symbol, pair))

    def derivative(self, pair: str) -> Name:
        """G, with a bar where it is taken at a mean."""
        return Name("G\u0304" if self.links.scales else "G", pair)

    def scaled(self, expression: sp.Expr) -> sp.Expr:
        """A function of f at the precision of a scale."""
        return expression.xreplace({F: PRECISION * F}) if self.links.scales else expression

    # ---------------------------------------------------------------- the links

    def chain(self) -> Step:
        """What depends on what."""
        links, index = self.links, self.index
        transformed = links.kernel is not None or links.transform != D
        letters = ["C", *("q" * links.normalized), *("w" * (links.kernel is not None)), *("f" * transformed)]
        said: list[Any] = ["The cost depends on the coordinates by way of ", chained(*letters, "d", "y")]
        said += [", and its gradient is the product of the derivatives of these links. Every sum leaves out "]
        said += [equation("i", "j"), "."]
        cost = links.cost if self.closed.mixture is None else links.cost.subs(self.closed.mixture, Z)
        found = [equation("C", row(*self.factor, Sigma("ij"), factor(index.of(cost))))]
        if self.closed.mixture is not None:
            found.append(equation(self.name(Z), index.of(self.closed.mixture)))
        if constant(links) == 1 / TOTAL:
            found.append(equation("T", row(Sigma("kl"), self.name(P, "kl"))))
        found += self._shares()
        if links.kernel is not None:
            found.append(equation(self.w, index.of(self.scaled(links.kernel))))
        if transformed:
            found.append(equation("f_ij", index.of(links.transform)))
        bar = Sign("‖", unary=True)
        found.append(equation("d_ij", Row((bar, *difference("y_i", "y_j").body.parts, bar))))
        return Step("The chain", (*said, *self._remarks()), tuple(found))

    def _shares(self) -> list[Any]:
        """How q is made of the weights."""
        links, index = self.links, self.index
        found: list[Any] = []
        if links.scales:
            found.append(equation(self.q, row(over(1, "U"), Sigma("u"), self.s)))
        if not links.normalized:
            return found
        if self.joint:
            found.append(equation(self.q, over(row(self.s, Sign("+"), self.name(SHARE, "ji")), 2)))
        found.append(equation(self.s, over(self.w, self.S)))
        found.append(equation(self.S, row(index.sigma, self.name(self.weight, index.summed))))
        if links.kernel is None:
            r = "r" if links.transform == D else "g"
            found.append(equation(self.p, over(f"{r}_ij", row(index.sigma, f"{r}_{index.summed}"))))
        return found

    def _remarks(self) -> list[Any]:
        """What else there is to know about the letters."""
        links, kernel = self.links, self.method.kernel
        said: list[Any] = []
        if links.floored:
            said += [" Where p is 0 the cost would be infinite, so p is taken to be at least a floor "]
            said += [laid("δ"), "."]
        if kernel is None and _is_infinite_of_duplicates(links):
            said += [" Duplicates, with ", equation(f"{'r' if links.transform == D else 'g'}_ij", 0)]
            said.append(", count for nothing.")
        if kernel is not None and kernel.profile is not kernel:
            degrees = equation("m_i", row(Sigma("j"), "p_ij"))
            said += [" The masses are the sums of the rows of P, ", degrees] if kernel.mass is None else []
            said.append("." if kernel.mass is None else " The masses of the points are given.")
        for name in self.method.cost.facts.bound:
            share = next(self.name(symbol) for symbol, known in links.names.items() if known == name)
            v = links.target_letter
            sums = Row((Sigma("k"), laid(f"{v}_ik"), Sign("+"), Sigma("k"), laid(f"{v}_jk")))
            said += [" The share of a pair in what repels goes with the sums of its points, "]
            said += [equation(share, over(sums, Row((laid(4), laid("N"))))), "."]
        if links.scales:
            said += [" Q is the mean over U scales, each with a precision ", laid("β_u"), " of its own."]
        if self.method.scales == "data":
            said += [" P is the mean over all perplexities of the data, and the kernel is one."]
        for symbol, value in links.put_in.items():
            said += [" Here ", equation(symbol, value), "."]
        return said

    def cost(self) -> Step:
        """The link C → q."""
        what = {"q": "a share", "w": "a weight", "d": "a distance", "f": "a transformed distance"}
        letter = self.links.map_letter
        said = [f"Each pair has a term of its own, so the derivative in {what[letter]} is that of one term."]
        if self.closed.mixture is not None:
            said += [" But for the logarithm all cancels, because ", laid("z"), " is the mixture."]
        if not is_tidied(self.links.cost):
            said.append(LEFT)
        left, value = partial("C", self.q), self.index.of(self.closed.G)
        found: tuple[Any, ...]
        if self.factor:
            found = (equation(left, row(*self.factor, self.G)), equation(self.G, value))
        else:
            found = (equation(self.G, left, value),)
        return Step(f"C → {letter}", tuple(said), found)

    def normalization(self) -> Step:
        """The link q → w, where the bracket comes from."""
        index, links = self.index, self.links
        others = "those of its row" if index.by_row else "all others"
        said: list[Any] = [
            f"Raising one weight raises its own share and lowers {others}, because it is in their sum too."
            " What arrives at the weight is therefore the derivative less its mean under the shares."
        ]
        if self.joint:
            said.append(" P and Q are symmetric and so is G, which is why the mean may be taken under Q.")
        if links.scales:
            said += [" Each scale has sums of its own: ", self.G, " is taken at the mean ", self.q]
            said.append(", but averaged under the shares of its scale.")
        other = self.name(self.share, index.summed)
        U = ["U"] if links.scales else []
        found = (
            equation(partial(self.s, self.w), over(row(1, Sign("−"), self.s), self.S)),
            equation(partial(other, self.w), row(Sign("−", unary=True), over(other, self.S))),
            equation(
                partial("C", self.w), row(*self.factor, over(1, row(*U, self.S)), Group(self._bracket()))
            ),
        )
        return Step(f"q → {self.weight.name}", tuple(said), found)

    def _bracket(self) -> Row:
        """G - Σ G q."""
        pair = self.index.summed
        return row(
            self.G, Sign("−"), self.index.sigma, self.derivative(pair), self.name(self.mean_share, pair)
        )

    def kernel(self) -> Step:
        """The link w → f."""
        assert self.closed.rate is not None
        assert self.links.kernel is not None
        rate = self.scaled(self.closed.rate) * (PRECISION if self.links.scales else 1)
        said = "A weight depends on its own pair only, and what is needed is its slope relative to itself"
        said += ", which is shorter with the weight in it." if rate.has(W) else "."
        said += "" if is_simplified(self.links.kernel) else LEFT
        slope = row(over(1, self.w), partial(self.w, "f_ij"))
        return Step("w → f", (said,), (equation(slope, self.index.of(rate)),))

    def transform(self) -> Step:
        """The link f → d."""
        said = "The square of the distance is what has a simple derivative in the coordinates"
        said += ", and here it is f itself." if self.closed.slope == 1 else ", so the slope is taken in that."
        if self.links.transform == D:
            return Step(
                "d → d²", (said,), (equation(partial("d_ij", SQUARED), self.index.of(self.closed.slope)),)
            )
        slope = sp.powsimp(sp.diff(self.links.transform, D))
        along = row(over(1, row(2, "d_ij")), partial("f_ij", "d_ij"))
        found = (
            equation(partial("f_ij", "d_ij"), self.index.of(slope)),
            equation(partial("f_ij", SQUARED), along, self.index.of(self.closed.slope)),
        )
        return Step("f → d", (said,), found)

    def distance(self) -> Step:
        """The link d → y, where the springs come from."""
        apart = difference("y_i", "y_j")
        said = (
            "Moving a point changes its distances along the lines to the others. It is in the pairs (i, j)"
            " and (j, i) alike, so the gradient is that of springs with the stiffness ",
            laid("k_ij"),
            ": the derivative of the cost in the squared distance as row i sees it.",
        )
        found = (
            equation(partial(SQUARED, "y_i"), row(2, apart)),
            equation(partial("C", "y_i"), row(2, Sigma("j"), Group(row("k_ij", Sign("+"), "k_ji")), apart)),
        )
        return Step("d → y", said, found)

    # ---------------------------------------------------------------- put together

    def general(self) -> Step:
        """The stiffness before anything is put in."""
        links = self.links
        parts: list[Any] = list(self.factor)
        if links.scales:
            parts += [over(1, "U"), Sigma("u")]
        parts += [over(1, self.S), Group(self._bracket())] if links.normalized else [self.G]
        if links.kernel is not None:
            parts.append(partial(self.w, "f_ij"))
        if self.closed.slope != 1:
            parts.append(partial("d_ij" if links.transform == D else "f_ij", SQUARED))
        said = "Along the chain the derivatives multiply."
        return Step("The general stiffness", (said,), (equation("k_ij", row(*parts)),))

    def sum(self) -> Step:
        """The mean of G, sorted."""
        bracket, index, share = self.closed.bracket, self.index, self.mean_share
        assert bracket is not None
        terms = sp.Add.make_args(bracket.product)
        known = [self.name(each) for each in (P, share) if any(is_multiple(term, each) for term in terms)]
        where = "in every row" if index.by_row else "over all pairs"
        said: list[Any] = []
        if known:
            said += ["Multiples of ", known[0], *([" and of ", known[1]] if known[1:] else [])]
            said += [
                f" sum to their factors, because {'both sum' if known[1:] else 'it sums'} to one {where}."
            ]
        if not bracket.sums:
            said.append(" Nothing else is left.")
        elif all(symbol.name.startswith("KL") for symbol in bracket.sums):
            of = " of the row." if index.by_row else "."
            said.append(f"{' What is left' if known else 'The whole'} is a Kullback-Leibler divergence{of}")
        else:
            said.append(
                f"{' What is left' if known else 'The whole'} depends on the map, and its sum gets a name."
            )
        pair = index.summed
        total = row(index.sigma, self.derivative(pair), self.name(share, pair))
        found = [equation(row(self.G, self.name(share)), index.of(bracket.product))]
        found += [equation(self.name(symbol), index.sum_of(term)) for symbol, term in bracket.sums.items()]
        found.append(equation(total, index.of(bracket.mean)))
        return Step("The sum in the bracket", tuple(said), tuple(found))

    def stiffness(self) -> Step:
        """The closed form."""
        k = self.index.of(self.closed.stiffness)
        said: list[Any] = ["All of it is put in"]
        if self.links.normalized:
            said += [", with ", equation(over(self.w, self.S), self.s)]
        if self.links.scales:
            k = row(over(1, "U"), Sigma("u"), factor(k))
        return Step("The closed form", (*said, "."), (equation("k_ij", k),))

    def learned(self, theta: sp.Symbol) -> Step:
        """∂C/∂θ of a learned parameter."""
        rows = theta.name.endswith("_i")
        said = (
            "It is learned along with the map. The chain is the same up to the"
            f" weights, which depend on it as they do on f{', those of row i only' if rows else ''}.",
        )
        log = partial(row(Name("log ", upright=True), self.w), theta)
        parts: list[Any] = [over(1, "U")] if self.links.scales else []
        parts += [Sigma("j" if rows else "ij"), *([Sigma("u")] if self.links.scales else [])]
        found = (
            equation(log, self.index.of(self.scaled(self.closed.learned[theta]))),
            equation(partial("C", theta), row(*parts, factor(self.index.of(self.closed.spring)), log)),
        )
        return Step(f"The parameter {self.links.names[theta]}", said, found)


def _is_infinite_of_duplicates(links: Links) -> bool:
    """Whether a cost of distances is infinite where the data are no distance apart."""
    with np.errstate(all="ignore"):
        return bool(np.isinf(number(links.cost, {**links.values, P: np.zeros(1), Q: np.ones(1)})).any())
