"""Methods beside each other: they run one after the other, are judged alike, and told of in one page."""
