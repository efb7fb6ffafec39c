"""The exact engine: value and gradient over all pairs in float64, by the chain or in closed form."""
