"""Is a map any good? Ranks, distances and labels in the data, compared with those in the map."""
