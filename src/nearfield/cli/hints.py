"""What to say to those who know other programs: their options, and what does the same here."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

# By the words of scikit-learn, UMAP and others; the first that a command has is the one.
_HERE = {
    "--perplexity": ("n-neighbors", "neighbors", "n-neighbours", "neighbours", "k"),
    "--neighbours": ("n-neighbors", "neighbors", "n-neighbours", "k"),
    "--dimensions": ("n-components", "components", "dims", "dim", "n-dims"),
    "--max-iter": ("n-iter", "iterations", "n-epochs", "epochs", "steps"),
    "--seed": ("random-state", "random-seed"),
    "--start": ("init",),
    "--jobs": ("n-jobs", "threads", "workers"),
    "--out": ("output", "outfile"),
    "--label": ("labels", "target", "color", "colour", "hue", "class"),
    "--id": ("index", "index-col", "ids"),
    "--standardize": ("scale", "normalize", "standardise"),
    "--metric": ("distance",),
    "--missing": ("na", "nan", "na-values", "dropna", "impute"),
    "--method": ("algorithm", "methods"),
    "--methods": ("method", "algorithms"),
}
_KERNEL = (
    "how close points may come is the kernel's matter here: --method umap_sampled --set a=1.58 --set b=0.9"
    " has UMAP's of a min_dist of 0.1; the whole of UMAP is nearfield.UMAP, in Python"
)
_NOT_HERE = {
    "min-dist": _KERNEL,
    "spread": _KERNEL,
    "early-exaggeration": "use --exaggeration",
    "angle": "the mesh engine needs none",
    "theta": "the mesh engine needs none",
}


def option_hint(wanted: str, options: Mapping[str, str]) -> str | None:
    """What to use in place of an option that there is not, if that is known.

    Parameters
    ----------
    wanted : str
        Such as "--n-neighbors".
    options : mapping of str to str
        The options that there are, and what they are.

    Examples
    --------
    >>> option_hint("--n_neighbors", {"--perplexity": "The effective number of neighbours."})
    'no option --n_neighbors: use --perplexity, the effective number of neighbours'
    """
    word = wanted.lstrip("-").replace("_", "-").lower()
    if word in _NOT_HERE:
        return f"no option {wanted}: {_NOT_HERE[word]}"
    for option, words in _HERE.items():
        if option in options and word in words:
            about = options[option].rstrip(".").partition(";")[0]
            return f"no option {wanted}: use {option}, {about[:1].lower()}{about[1:]}"
    return None


def usage_error(error: Any) -> str:
    """The message of an error of usage, with a better hint where there is one."""
    context, wanted = getattr(error, "ctx", None), getattr(error, "option_name", None)
    if context is not None and wanted is not None and "No such option" in error.format_message():
        options = {
            name: each.help or ""
            for each in context.command.params
            for name in each.opts
            if hasattr(each, "help")
        }
        hint = option_hint(wanted, options)
        if hint is not None:
            return hint
    return str(error.format_message())


def parameter_hint(method: str, wanted: str, parameters: Mapping[str, Any]) -> str | None:
    """What to write in place of a parameter that a method has not, if that is known.

    >>> parameter_hint("jse", "kapa", {"kappa": 0.5, "beta": 1.0})
    "--set kapa: 'jse' has no such parameter, did you mean kappa?"
    """
    near = get_close_matches(wanted.lower(), parameters, n=1)
    if near:
        return f"--set {wanted}: {method!r} has no such parameter, did you mean {near[0]}?"
    word = wanted.replace("_", "-").lower()
    option = next((option for option, words in _HERE.items() if word == option[2:] or word in words), None)
    if option is not None:
        return f"--set {wanted}: it is no parameter of a method but an option, {option}"
    return None
