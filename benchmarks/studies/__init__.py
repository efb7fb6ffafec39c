"""Studies that stand alone, `python -m benchmarks.studies.NAME`; each says in its docstring what it asks."""
