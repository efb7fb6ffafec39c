"""Value and gradient of a method at a map: the exact engine is the oracle, the plan picks among engines."""
