# Three commands for a newcomer: `make demo`, `make test` and `make studio`. All work in a fresh clone with only Python and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo studio test quick lint types chromium format docs docs-serve fuzz bounds bench bench-exact bench-quick clean

demo: $(VENV)/installed
	$(BIN)/nearfield demo

# A page in the browser; DATA=data.csv for a table of your own.
studio: $(VENV)/studio
	$(BIN)/nearfield studio $(DATA)

test: $(VENV)/tested lint types chromium
	$(BIN)/python -m pytest -n 2

# For the loop of work: below a minute. What is left out are files marked as slow.
quick: $(VENV)/tested lint
	$(BIN)/python -m pytest -n 2 -m "not slow" tests

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/tested
	$(BIN)/mypy

# The browser that pages are tested in: Debian's, where it is missing and may be installed. Playwright's own would do
# as well, but comes from elsewhere. Without one those tests are reported as skipped.
chromium:
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		(apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) >/dev/null \
		|| echo "Chromium could not be installed: the tests of pages will be skipped"; \
	else \
		echo "There is no Chromium, and only root may install it (apt-get install chromium):" \
			"the tests of pages will be skipped"; \
	fi

format: $(VENV)/tested
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The pages under docs/reference, docs/derivations and docs/api, written from the code (a test holds them to it), and
# the site: open site/index.html. Material advertises its successor on every build unless it is told not to.
docs docs-serve: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/documented
	$(BIN)/python docs/tools/generate.py
	$(BIN)/python -m mkdocs build --strict --quiet

docs-serve: $(VENV)/documented
	$(BIN)/python -m mkdocs serve

# Cases that nobody thought of, for so many seconds; the seed is told, and can be given to see the same cases again.
SECONDS ?= 600
SEED ?=
fuzz: $(VENV)/tested
	$(BIN)/python -m fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# The quicker tests with loops that look where they write, in a cache of their own: the usual one ignores the flag.
bounds: export NUMBA_BOUNDSCHECK = 1
bounds: export NUMBA_CACHE_DIR = $(VENV)/bounds
bounds: $(VENV)/tested
	$(BIN)/python -m pytest -n 2 -m "not slow" tests

# The exact engine against scikit-learn's; then everything against its peers, in an environment of its own.
# DATA is MNIST as an npz with X (70000, 784) and y, such as OpenML's mnist_784; ONLY=growth runs one part.
DATA ?=
ONLY ?=
BENCH := .venv-bench

bench-exact: $(VENV)/installed
	$(BIN)/python -m benchmarks.studies.exact

bench: $(BENCH)/installed
	$(BENCH)/bin/python -m benchmarks $(if $(DATA),--data $(DATA)) $(if $(ONLY),--only $(ONLY))

bench-quick: $(BENCH)/installed
	$(BENCH)/bin/python -m benchmarks --quick $(if $(DATA),--data $(DATA)) $(if $(ONLY),--only $(ONLY))

$(BENCH)/installed: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --upgrade pip
	$(BENCH)/bin/python -m pip install --quiet --editable ".[bench]"
	touch $@

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/installed: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/studio: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[studio]"
	touch $@

$(VENV)/tested: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

$(VENV)/documented: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) demo site .pytest_cache .mypy_cache .ruff_cache
