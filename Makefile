# Each target sets up what it needs: `make demo`, `make test`, nothing else to install by hand.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: demo test lint format wheel benchmark clean

demo: .venv/core
	$(BIN)/geomm demo

test: lint
	$(BIN)/python -m pytest -q

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy

format: .venv/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# SMALL=1 make benchmark: minutes instead of half an hour.
benchmark: .venv/benchmark
	$(BIN)/python benchmarks/run.py

wheel: .venv/test
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/core: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	@touch $@ .venv/core

.venv/benchmark: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[benchmark]"
	@touch $@ .venv/core

clean:
	rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache
