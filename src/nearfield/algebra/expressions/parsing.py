"""From text to tree. `ast` splits the text; what it finds is compared with a short list, and nothing runs."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence

from nearfield.algebra.expressions.limits import check_size
from nearfield.algebra.expressions.tree import CONSTANTS, FUNCTIONS, Apply, Name, Number, Tree

LENGTH = 1000  # characters
DEPTH = 60  # brackets, operators and calls within one another
STRANGE = re.compile(r"[^A-Za-z0-9_ .,+\-*/()]")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def parse(text: str, variables: Sequence[str], parameters: Sequence[str] = ()) -> Tree:
    """Read a formula.

    Parameters
    ----------
    text : str
        Numbers, names, ``+ - * / **``, brackets, and the functions log, log1p, exp, expm1, sqrt, abs, max and
        min; ``pi`` and ``e``, unless they are names of one's own.
    variables, parameters : sequence of str
        The names that there are.

    Raises
    ------
    ValueError
        With one line that says what is wrong.

    Examples
    --------
    >>> parse("-2*p**2/(1 + lam)", ("p", "q"), ("lam",))
    Apply(function='/', ...)
    >>> parse("p*logg(q)", ("p", "q"))
    Traceback (most recent call last):
    ValueError: cannot read 'p*logg(q)': there is no function 'logg'; there are log, log1p, exp, expm1, ...
    """
    if not isinstance(text, str):
        raise TypeError(f"an expression is a text, got {type(text).__name__}")
    known = (*variables, *parameters)
    for name in parameters:
        check_name(name, variables)
    try:
        tree = _Reader(known).read(text)
        check_size(tree)
    except ValueError as error:
        raise ValueError(f"cannot read {shortened(text)}: {error}") from None
    return tree


def check_name(name: str, variables: Sequence[str]) -> None:
    """Refuse a parameter whose name means something else already."""
    if not NAME.fullmatch(name):
        raise ValueError(f"a parameter needs a plain name of letters and digits, got {shortened(name)}")
    if name in FUNCTIONS or name in variables:
        what = "a function" if name in FUNCTIONS else "a variable"
        raise ValueError(f"{name!r} is {what}: give the parameter another name")


def shortened(text: str) -> str:
    """The text as an error message shows it: in quotes, in one line of ASCII, and not too long."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")


class _Reader:
    """Reads with some names known."""

    def __init__(self, known: Sequence[str]) -> None:
        self.known = known

    def read(self, text: str) -> Tree:
        if len(text) > LENGTH:
            raise ValueError(f"it has {len(text)} characters, and at most {LENGTH} are read")
        if not text.strip():
            raise ValueError("it is empty")
        strange = STRANGE.search(text)
        if strange:
            hint = "; powers are written **" if strange[0] == "^" else ""
            raise ValueError(f"the character {strange[0]!a} has no meaning here{hint}")
        try:
            body = ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            raise ValueError(f"it is no formula ({str(error.msg).splitlines()[0]})") from None
        except (RecursionError, MemoryError):
            raise ValueError("it is nested too deeply") from None
        return self.tree(body, 0)

    def tree(self, node: ast.AST, depth: int) -> Tree:
        if depth > DEPTH:
            raise ValueError("it is nested too deeply")
        if isinstance(node, ast.Constant):
            return self.number(node.value)
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            sides = (self.tree(node.left, depth + 1), self.tree(node.right, depth + 1))
            return Apply(OPERATORS[type(node.op)], sides)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
            inside = self.tree(node.operand, depth + 1)
            return Apply("neg", (inside,)) if isinstance(node.op, ast.USub) else inside
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self.call(node.func.id, [self.tree(each, depth + 1) for each in node.args])
        raise ValueError(f"{_described(node)} has no place in a formula")

    def number(self, value: object) -> Tree:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{value!r} is no real number")
        try:
            finite = math.isfinite(float(value))
        except OverflowError:
            finite = False
        if not finite:
            raise ValueError("it has a number that is too large")
        return Number(value)

    def name(self, name: str) -> Tree:
        if name in self.known:
            return Name(name)
        if name in CONSTANTS:
            return Number(CONSTANTS[name])
        if name in FUNCTIONS:
            raise ValueError(f"{name} is a function, and needs brackets after it")
        raise ValueError(f"there is no name {shortened(name)}; there are {', '.join(self.known)}")

    def call(self, name: str, arguments: list[Tree]) -> Tree:
        if name not in FUNCTIONS:
            raise ValueError(f"there is no function {shortened(name)}; there are {', '.join(FUNCTIONS)}")
        takes = FUNCTIONS[name]
        if len(arguments) != takes and not (takes is None and len(arguments) >= 2):
            wanted = "two arguments or more" if takes is None else "one argument"
            raise ValueError(f"{name} takes {wanted}, and got {len(arguments)}")
        return Apply(name, tuple(arguments))


def _described(node: ast.AST) -> str:
    """What a person calls a thing that is not admitted."""
    if isinstance(node, ast.Attribute):
        return f"the attribute {shortened('.' + node.attr)}"
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return f"the operator {type(node.op).__name__}"
    names = {
        ast.Call: "a call of something that is no function",
        ast.Tuple: "a list with commas",
        ast.Lambda: "a lambda",
        ast.IfExp: "if ... else",
        ast.BoolOp: "and/or",
        ast.Compare: "a comparison",
        ast.Starred: "a star before an argument",
    }
    return names.get(type(node), f"{type(node).__name__}")
