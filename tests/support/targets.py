"""Targets of data as tests have them: arrays, and how they are to be taken."""

from functools import partial

from nearfield.affinity.rungs import Rungs
from nearfield.affinity.source import Source
from nearfield.affinity.targets import ALL_PAIRS, NEIGHBOURS
from nearfield.affinity.targets import target as target_of


def target(method, X, *, perplexity=None, on=ALL_PAIRS, **how):
    """The target of a method on some data; of several perplexities with all of them."""
    found = target_of(Source.of(X, **how), method, perplexity, on=on)
    return found.target() if isinstance(found, Rungs) else found


sparse_target = partial(target, on=NEIGHBOURS)
