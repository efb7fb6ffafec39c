"""Which methods are to be compared, and under what names: settled, and refused, before any work."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from nearfield.algebra.catalogue import entries, method, methods
from nearfield.algebra.method import Method

# The plain ones first, then neighbours at one scale, then at all.
DEFAULT = ("pca", "mds", "sammon", "ssne", "tsne", "umap", "nerv", "jse", "mstsne", "msjse")
PCA = "pca"  # which has no cost, and so is no `Method`

Wanted = dict[str, Method | None]  # None stands for the principal components


def wanted(given: Any = None) -> Wanted:
    """The methods by name, in their order.

    Parameters
    ----------
    given : str, Method, sequence or mapping, optional
        Names, also with parameters such as "nerv(lam=0.3)"; methods; and pairs of a name of one's own with a
        method, or of a name of the catalogue with a dict of its parameters. By default ten that differ.

    Returns
    -------
    dict of str to Method
        With None for "pca".

    Examples
    --------
    >>> list(wanted(["pca", "tsne", "nerv(lam=0.3)"]))
    ['pca', 'tsne', 'nerv(lam=0.3)']
    >>> print(wanted({"nerv": {"lam": 0.3}})["nerv(lam=0.3)"])
    NeRV(lam=0.3) · Gaussian(beta=1.0) · point
    """
    given = DEFAULT if given is None else given
    if isinstance(given, str | Method):
        given = [given]
    elif isinstance(given, Mapping):
        given = list(given.items())
    elif not isinstance(given, Iterable):
        raise TypeError(f"methods must be a list of names or methods, got {given!r}")
    found: Wanted = {}
    for each in given:
        name, composed = _one(each)
        if name in found:
            raise ValueError(f"the method {name!r} is there twice: leave one out, or name it otherwise")
        found[name] = composed
    if not found:
        raise ValueError("there is no method to compare: name some, such as pca and tsne")
    return found


def split_names(text: str) -> list[str]:
    """Names with commas between them; commas within brackets belong to a method's parameters.

    >>> split_names("pca, absne(a=1.5, b=0.5),tsne")
    ['pca', 'absne(a=1.5, b=0.5)', 'tsne']
    """
    names, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names if name.strip()]


def _one(each: Any) -> tuple[str, Method | None]:
    if isinstance(each, Method):
        known = (entry.name for entry in entries() if entry.build() == each)
        return next(known, str(each)), each
    if isinstance(each, str):
        name, parameters = _read(each)
        return _named(name, parameters)
    if isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str):
        name, what = each
        if isinstance(what, Method):
            return name, what
        if isinstance(what, Mapping):
            return _named(name, dict(what))
        if isinstance(what, str):
            return name, _named(*_read(what))[1]
    raise TypeError(f"a method is a name, a nearfield.Method or a pair of both, and not {each!r}")


def _named(name: str, parameters: dict[str, Any]) -> tuple[str, Method | None]:
    if name == PCA:
        if parameters:
            raise ValueError(f"'pca' has no parameter {next(iter(parameters))!r}; it has none")
        return name, None
    if name not in methods():
        near = difflib.get_close_matches(name.lower(), [PCA, *methods()], n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"no method is called {name!r}; {hint}There are {PCA}, {', '.join(methods())}")
    title = f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})"
    try:
        return title if parameters else name, method(name, **parameters)
    except TypeError as error:
        raise ValueError(f"{title} has a parameter of the wrong kind: {error}") from error


def _read(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters in text such as "nerv(lam=0.3)"."""
    if "(" not in text:
        return text.strip(), {}
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            return call.func.id, {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError):
        pass
    raise ValueError(f"{text!r} is no method: parameters are written as nerv(lam=0.3)")
