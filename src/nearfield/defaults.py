"""Numbers that more than one room goes by."""

ACCURACY = 1e-2  # of the repulsive force, relative to it
PERPLEXITY = 30.0  # or a third of few neighbours
MAX_ITER = 1000  # a ceiling, not a target
