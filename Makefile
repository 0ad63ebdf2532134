# Each target sets up what it needs: `make demo`, `make test`, nothing else to install by hand.
PYTHON ?= python3
BIN = .venv/bin
ROOT = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: demo test fuzz mutants test-elsewhere test-browser test-torch test-wheel lint format docs wheel benchmark audit test-lowest clean

demo: .venv/core
	$(BIN)/geomm demo

# One process a core, one BLAS thread in each. PROCESSES=0 make test: all in this process.
PROCESSES ?= auto
PARALLEL = -n $(PROCESSES) --dist loadgroup
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
test: lint
	$(BIN)/python -m pytest -q $(PARALLEL)

# FUZZ=100000 make fuzz: more examples of each test. SEED=... repeats a run, which prints its own.
FUZZ ?= 5000
SEED := $(or $(SEED),$(shell date +%s))
fuzz: .venv/test              # hostile files, models and requests: over 100,000 new ones, in half an hour
	@echo "make fuzz FUZZ=$(FUZZ) SEED=$(SEED)"
	FUZZ=$(FUZZ) $(BIN)/python -m pytest -q --hypothesis-seed=$(SEED) tests/fuzz

mutants: .venv/test           # code broken on purpose: the tests must notice; lists those that survive
	$(BIN)/python tests/mutants/run.py

# Another user, an odd path, LANG=C, an empty environment, random order. CORE=SkylakeX or Sandybridge:
# OpenBLAS's kernels of another processor.
test-elsewhere:
	bash tests/elsewhere.sh

test-torch: .venv/test        # adv_refine; torch brings gigabytes, so it has an environment of its own
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip install --quiet --disable-pip-version-check -e ".[torch]" pytest hypothesis
	.venv-torch/bin/python -m pytest -q tests/mappers/test_adv_refine.py

test-browser: .venv/test      # the pages in a real Chromium, which is installed if it is not there
	@{ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null \
		&& command -v chromedriver >/dev/null \
		|| { $(ROOT) apt-get update -qq && $(ROOT) apt-get install -qq -y chromium chromium-driver; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "selenium>=4.20"
	GEOMM_NEED_BROWSER=1 $(BIN)/python -m pytest -q tests/browser

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy

format: .venv/test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# SMALL=1 make benchmark: minutes instead of three quarters of an hour.
benchmark: .venv/benchmark
	$(BIN)/python benchmarks/run.py

# Every package that is installed, of every extra, against the registry's list of known holes.
# --strict: a package that cannot be looked up is a failure, not a pass.
audit: .venv/test
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip-audit>=2.9" \
		|| { echo "No audit: pip-audit is not on this package index. Run it where it is." >&2; exit 1; }
	$(BIN)/python -m pip freeze --exclude-editable > .venv/installed.txt
	@$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement .venv/installed.txt \
		|| { echo "The audit found holes, named above, or no list of them was served." >&2; exit 1; }

# The suite with the lowest versions of what pyproject.toml asks for, in an environment of its own.
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --only-binary :all: \
		-e ".[test]"
	.venv-lowest/bin/python -m pytest -q $(PARALLEL) --ignore=tests/fuzz --ignore=tests/browser

wheel: .venv/test
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

# The packages as they are published; each must install into an empty environment, and work there.
test-wheel:
	rm -rf dist .venv-build .venv-wheel
	$(PYTHON) -m venv .venv-build
	.venv-build/bin/python -m pip install --quiet --disable-pip-version-check "hatchling>=1.26"
	.venv-build/bin/python -m hatchling build
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	.venv-wheel/bin/python -I -m pip check
	.venv-wheel/bin/geomm demo
	.venv-wheel/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.tar.gz
	.venv-wheel/bin/geomm mappers

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/core: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	@touch $@ .venv/core

.venv/docs: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@ .venv/core

.venv/benchmark: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[benchmark]"
	@touch $@ .venv/core

clean:
	rm -rf .venv .venv-build .venv-lowest .venv-torch .venv-wheel dist .pytest_cache .mypy_cache .ruff_cache
