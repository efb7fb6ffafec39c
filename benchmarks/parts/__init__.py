"""The parts of the report: each has a `TITLE`, `run(sizes, path)`, and `report(found, pictures)`."""
