"""Numbers that more than one room goes by."""

ACCURACY = 1e-2  # of the repulsive force, relative to it
PERPLEXITY = 30.0  # or a third of few neighbours
MAX_ITER = 1000  # a ceiling, not a target


def epochs(n: int | float) -> int:
    """How many steps of a rate that falls to nothing UMAP's program makes for so many points."""
    return 500 if n <= 10_000 else 200
