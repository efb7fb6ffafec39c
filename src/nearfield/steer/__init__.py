"""What a person adds to a cost: pins that old neighbours follow, links, bounds, and the log of it all."""
