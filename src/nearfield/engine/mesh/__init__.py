"""The mesh engine: edges of the neighbour graph and the field of all points, near-linear in their number."""
