# Two commands for a newcomer: `make demo` and `make test`. Both work in a fresh clone with only Python and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types format docs bench clean

demo: $(VENV)/installed
	$(BIN)/nearfield demo

test: $(VENV)/tested lint types
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/tested
	$(BIN)/mypy

format: $(VENV)/tested
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The pages under docs/reference, written from the code (a test holds them to it).
docs: $(VENV)/installed
	$(BIN)/python docs/generate.py

bench: $(VENV)/installed
	$(BIN)/python benchmarks/exact.py

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/installed: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/tested: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache
