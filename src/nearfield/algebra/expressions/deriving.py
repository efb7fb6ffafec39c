"""What SymPy finds out about a formula: leaner forms, limits, and sums of powers."""

from __future__ import annotations

from typing import Any

from nearfield.algebra.expressions.budget import has_quick_limit, is_small
from nearfield.algebra.expressions.limits import NODES


def lean(expression: Any) -> Any:
    """The expression, or the same with common factors cancelled if that takes fewer operations."""
    import sympy

    if not is_small(expression):
        return expression
    return min(expression, sympy.cancel(expression), key=lambda each: each.count_ops())


def factored(expression: Any) -> Any:
    """The expression as a product, where that is found in a moment and no larger than formulas may be."""
    import sympy

    if not is_small(expression):
        return expression
    product = sympy.factor(expression)
    return product if product.count_ops() <= NODES else expression


def bells_first(expression: Any) -> Any:
    """A sum of exp(-f), exp(-2f) and the like as a product of the widest of them and a bounded rest.

    Examples
    --------
    >>> import sympy
    >>> f = sympy.Symbol("f", positive=True)
    >>> bells_first(sympy.exp(-f) + sympy.exp(-3 * f))
    (1 + exp(-2*f))*exp(-f)
    """
    import sympy

    exponents = sorted({each.args[0] for each in expression.atoms(sympy.exp)}, key=lambda a: a.count_ops())
    ratios = [lean(each / exponents[0]) for each in exponents]
    if not exponents or not all(each.is_Rational and each for each in ratios):
        return expression
    widest = min(map(abs, ratios)) * exponents[0]
    widest = -widest if widest.is_positive else widest
    bell = sympy.Symbol("bell", positive=True)
    powers = {sympy.exp(each): bell ** lean(each / widest) for each in exponents}
    return factored(expression.subs(powers, simultaneous=True)).subs(bell, sympy.exp(widest))


def limit_at_zero(expression: Any, variable: Any) -> Any | None:
    """The limit as a variable goes to zero from above; None where there is none, or none is found."""
    import sympy

    total = sympy.S.Zero
    for term in sympy.Add.make_args(sympy.expand_log(expression, force=True)):
        at = term.subs(variable, 0)
        if _undefined(at):
            at = _found_limit(term, variable)
        if at is None:  # several terms may cancel
            return _found_limit(expression, variable)
        total += at
    return total


def _found_limit(expression: Any, variable: Any) -> Any | None:
    import sympy

    if not has_quick_limit(expression, variable):
        return None
    try:
        at = sympy.limit(expression, variable, 0, "+")
    except (NotImplementedError, ValueError, TypeError, sympy.PoleError):
        return None  # SymPy knows no answer
    return None if _undefined(at) or at.has(sympy.Limit, sympy.AccumBounds) else at


def _undefined(expression: Any) -> bool:
    import sympy

    return bool(expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo))


def powers_and_logs(expression: Any, variable: Any) -> dict[tuple[float, int], float] | None:
    """The coefficients of x^m log(x)^k, by (m, k), if the expression is a sum of such terms; else None.

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x", positive=True)
    >>> powers_and_logs(2 * x * (1 + sympy.log(3 * x)) - 2 * x * sympy.log(3), x)
    {(1.0, 0): 2.0, (1.0, 1): 2.0}
    """
    import sympy

    if expression.is_zero:
        return {}
    if not is_small(expression):
        return None
    for form in (expression, lean(expression)):
        found: dict[tuple[float, int], Any] = {}
        for term in sympy.Add.make_args(sympy.expand(sympy.expand_log(form, force=True))):
            factor, rest = term.as_independent(variable, as_Add=False)
            powers = rest.as_powers_dict()
            m, k = powers.pop(variable, sympy.S.Zero), powers.pop(sympy.log(variable), sympy.S.Zero)
            powers.pop(sympy.S.One, None)
            if powers or not (m.is_number and k.is_Integer and k >= 0):
                break
            key = (float(m), int(k))
            found[key] = found.get(key, sympy.S.Zero) + factor
        else:
            values = {key: float(value) for key, value in sorted(found.items())}
            return {key: value for key, value in values.items() if value}
    return None
