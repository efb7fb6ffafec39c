"""How large each part of the benchmark is: the report, the quick one, and one that only tries the code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """The sizes of one run.

    Attributes
    ----------
    digits, points : int
        Rows of the digits and of MNIST.
    curves : tuple
        How many points, and the libraries whose KL is followed over time.
    maps : tuple of int
        The numbers of points of which every method makes a map.
    others : int
        The same of other kinds of data.
    growth, shared : tuple of int
        The numbers of points for nearfield, and those for its peers as well.
    iterations : int
        Of each method's own run; the first 60 are exaggerated.
    sample : int
        Points at which forces and ranks are compared.
    repeat : int
        Times that a fresh process is started.
    left_out : tuple of str
        Parts that are run only when they are asked for.
    """

    name: str
    digits: int
    points: int
    curves: tuple[tuple[int, tuple[str, ...]], ...]
    maps: tuple[int, ...]
    others: int
    growth: tuple[int, ...]
    shared: tuple[int, ...]
    iterations: int = 150
    sample: int = 2000
    repeat: int = 3
    left_out: tuple[str, ...] = ()


BOTH = ("nearfield", "openTSNE")
SIZES = {
    "full": Sizes(
        "full",
        digits=1797,
        points=70_000,
        curves=((70_000, BOTH), (10_000, (*BOTH, "scikit-learn"))),
        maps=(10_000, 70_000),
        others=4_000,
        growth=(1_000, 3_000, 10_000, 30_000, 70_000, 300_000, 1_000_000),
        shared=(1_000, 3_000, 10_000, 30_000, 70_000),
    ),
    "quick": Sizes(
        "quick",
        digits=1797,
        points=5_000,
        curves=((5_000, BOTH),),
        maps=(),
        others=0,
        growth=(1_000, 3_000, 10_000, 30_000),
        shared=(),  # peers.py has them at one size; each would compile for many seconds at every other
        left_out=("scales", "methods"),  # minutes by themselves: ONLY=scales
    ),
    "tiny": Sizes(
        "tiny",
        digits=400,
        points=1_200,
        curves=((1_200, (*BOTH, "scikit-learn")),),
        maps=(1_200,),
        others=1_200,
        growth=(1_000, 1_500),
        shared=(1_000,),
        sample=100,
        repeat=1,
    ),
}
