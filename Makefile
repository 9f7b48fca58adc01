# Every command that a developer needs. `make` alone lists them.
# Needs Python 3.11 or newer with venv, and a package index; nothing else.

PY ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CODE := $(wildcard src tests docs scripts benchmarks examples demo)
FAST := not slow and not spark and not journey and not browser and not speed
REST := (slow or spark or journey or browser) and not speed

.DEFAULT_GOAL := help
.PHONY: help venv spark servers fmt lint types floors test test-all docs wheel demo bench pins all

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

venv: $(VENV)/.ready ## Set up .venv: pinned dependencies, tools, filbert itself

$(VENV)/.ready: requirements/dev.txt pyproject.toml
	$(PY) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

spark: venv ## Add what the Spark tests need: pyspark, and Java where it may be installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/spark.txt
	.ci/java

servers: ## Add the real servers and the browser that tests start, where they may be installed
	.ci/servers
	.ci/browser

fmt: venv ## Format the code
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

lint: venv ## Check format and lint
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)

types: venv ## Check types
	$(BIN)/mypy src tests

floors: venv ## Check that imports go down only
	$(BIN)/lint-imports

test: venv ## Run the fast tests
	$(BIN)/pytest -n 2 -m "$(FAST)"

test-all: spark servers test ## Run all tests: slow ones, Spark, browsers, whole journeys
	$(BIN)/pytest -m "$(REST)"

docs: venv ## Write the reference pages anew, from the code
	$(BIN)/python docs/make_reference.py

wheel: venv ## Build the wheel into dist/
	$(BIN)/python -m build --wheel --no-isolation

demo: venv ## Crawl a real site on this machine, index it, search it
	$(BIN)/python demo/run.py

bench: venv ## Measure, beside peers; BENCH="--scale 0.01" for a small run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/bench.txt
	$(BIN)/python -m benchmarks $(BENCH)

pins: ## Write requirements/dev.txt anew from what is current
	$(PY) -m venv --clear .venv-pins
	.venv-pins/bin/python -m pip install --quiet . -r requirements/dev.in
	(sed -n 1p requirements/dev.txt; .venv-pins/bin/python -m pip freeze --exclude filbert) > .venv-pins/dev.txt
	mv .venv-pins/dev.txt requirements/dev.txt

all: lint types floors test ## What must be green before a commit
