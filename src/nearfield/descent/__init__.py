"""From a start to a map: start positions, optimizers, schedules, and the live run that drives them."""
