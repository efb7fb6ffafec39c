"""Every built-in cost and kernel is what its expression says, and so is its derivative."""

import numpy as np
import pytest

from nearfield import kernels
from nearfield.algebra.expressions import Number, from_symbolic, numeric, symbolic
from nearfield.algebra.expressions.symbolic import symbol
from support.compositions import COSTS, KERNELS

WITH_TEXT = [
    *(kernel for kernel in KERNELS if kernel is not None),
    kernels.HeavyTailed(0.0),
    kernels.Student(np.inf),
]


def valued(part):
    """The tree of a part, with its parameters as numbers."""
    tree = part.expressed()
    return tree.replaced(
        {name: Number(float(getattr(part, name))) for name in tree.names() - {"p", "q", "f"}}
    )


@pytest.mark.parametrize("cost", COSTS, ids=repr)
def test_a_cost_is_what_its_expression_says(cost, random):
    p, q = random.uniform(0.01, 0.99, size=(2, 200))
    tree = valued(cost)
    slope = from_symbolic(symbolic(tree).diff(symbol("q")))
    np.testing.assert_allclose(numeric(tree, "pq")(p, q), cost.value(p, q), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(numeric(slope, "pq")(p, q), cost.derivative(p, q), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", WITH_TEXT, ids=repr)
def test_a_kernel_is_what_its_expression_says(kernel, random):
    f = random.exponential(size=200)
    tree = valued(kernel if not isinstance(kernel, kernels.ImportanceWeighted) else kernel.base)
    slope = from_symbolic(symbolic(tree).diff(symbol("f")))
    np.testing.assert_allclose(numeric(tree, "f")(f), kernel.value(f), rtol=1e-10)
    np.testing.assert_allclose(numeric(slope, "f")(f), kernel.derivative(f), rtol=1e-10)
