"""The result: the steps, the formulas they end in, and what these are as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from nearfield.algebra.method import Method
from nearfield.derivation import documents, numbers
from nearfield.derivation.closed import Closed
from nearfield.derivation.limits import Limit
from nearfield.derivation.steps import Step
from nearfield.derivation.text import text
from nearfield.typing import Array

TOLERANCE = 1e-6  # of the largest gradient, by which a derived one may miss


@dataclass(frozen=True, repr=False)
class Derivation:
    """The gradient of a method, derived link by link; `print` it, or let a notebook render it.

    Attributes
    ----------
    method : Method
        Whose gradient it is.
    name : str
        What it is called.
    steps : tuple of Step
        The derivation: titles, sentences, equations.
    closed : Closed
        Its formulas in SymPy, link by link.
    limits : Limit or None
        What becomes of ∂c/∂q as p → 0; None for costs of distances, and where algebra does not tell.
    fast : bool
        Whether the fast engine applies: edges and fields, in near-linear time.
    reason : str
        Why, or why not.
    error : float
        The largest difference of the derived gradient from central differences, relative to its norm (unless
        that is zero); not finite where the check left the range of numbers.
    """

    method: Method
    name: str
    steps: tuple[Step, ...]
    closed: Closed
    limits: Limit | None
    fast: bool
    reason: str
    error: float

    @property
    def passed(self) -> bool:
        """Whether the error is below 1e-6."""
        return self.error < TOLERANCE

    @property
    def stiffness(self) -> sp.Expr:
        """K in closed form; of one scale, where there are several."""
        return self.closed.stiffness

    @property
    def limit(self) -> sp.Expr | None:
        """The limit of ∂c/∂q as p → 0; None where there is none that is finite."""
        return self.limits.value if self.limits is not None else None

    @property
    def gradient(self) -> str:
        """The gradient as one line of text."""
        return text(next(step for step in self.steps if step.title == "The gradient").equations[0])

    def evaluate(self, Y: Any, target: Any) -> Array:
        """The gradient at the map Y, computed from the derived formulas and nothing else.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> rng = np.random.default_rng(0)
        >>> tsne, Y = nf.method("tsne"), rng.normal(size=(20, 2))
        >>> P = tsne.target(rng.normal(size=(20, 5)), perplexity=5)
        >>> np.allclose(nf.derive(tsne).evaluate(Y, P), tsne.value_and_gradient(Y, P)[1], rtol=1e-10)
        True
        """
        return numbers.evaluate(self.closed, Y, target)[0]

    def evaluate_parameters(self, Y: Any, target: Any) -> dict[str, Any]:
        """The derivatives in the learned parameters at the map Y, likewise."""
        return numbers.evaluate(self.closed, Y, target)[1]

    @property
    def document(self) -> documents.Document:
        """What is written: the result, and the steps that lead to it."""
        last = {step.title: step.equations for step in self.steps}
        # The springs say little where their stiffness is not put in.
        named = not self.gradient.count("k_ij")
        result = last["The gradient"] if named else last["The gradient"] + last["The closed form"]
        whose = "a composition" if self.name == str(self.method) else self.name
        return documents.Document(f"The gradient of {whose}", str(self.method), result, self.steps)

    def text(self, width: int = documents.WIDTH) -> str:
        """Plain text with Unicode letters, for a terminal of this width."""
        return documents.as_text(self.document, width=width)

    def latex(self) -> str:
        """A LaTeX document that compiles as it is."""
        return documents.as_latex(self.document)

    def markdown(self) -> str:
        """Markdown with formulas between dollars."""
        return documents.as_markdown(self.document)

    def html(self) -> str:
        """A page that needs no network and no script; the formulas are MathML."""
        return documents.as_html(self.document)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<derivation of {self.name}: {self.gradient}>"

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def _repr_html_(self) -> str:
        return documents.html_body(self.document)
