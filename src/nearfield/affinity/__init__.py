"""From the data to what the map is to match: distances, perplexity, and the targets made of them."""
