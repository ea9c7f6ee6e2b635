# Two commands matter: `make dashboard` and `make test`. Each does all of its own set-up.
PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python || echo python3)
VENV := .venv
# Another Python than that of .venv, named on the command line, has an environment of its own.
version_of = $(shell $(1) -c "import sys; print('%d.%d' % sys.version_info[:2])" 2>/dev/null)
ifeq ($(origin PYTHON),command line)
ifneq ($(wildcard .venv/bin/python),)
ifneq ($(call version_of,$(PYTHON)),$(call version_of,.venv/bin/python))
VENV := .venv-$(call version_of,$(PYTHON))
endif
endif
endif
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
FRAMEWORKS := $(VENV)/.frameworks
MODELS := $(VENV)/.models
BIOME := @biomejs/biome@2.6.8
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# A test that ends its own process is tried again with the rest of its file: not without end.
PYTEST := $(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder --max-worker-restart 3
# Collecting the other files would take a minute in each process.
SLOW_FILES = $(shell grep -rl --include='test_*.py' 'mark\.slow' tests)
SELECTION ?= headline
FAMILY ?= gemm
PRECISION ?= float32

# The tests start hundreds of processes, which should not each compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: dashboard models test test-slow list-slow-tests lint docs format noise-comparison clean help

help:
	@echo "make dashboard   measure the headline kernels here, publish, and print the page to open"
	@echo "make models      install the packages for whole models: torch, ONNX Runtime"
	@echo "make test        run the tests"
	@echo "make test-slow   run those that take longest, and name each as it ends"
	@echo "make lint        ruff and mypy, and biome where npx is installed, as CI runs them"
	@echo "make docs        build the documentation in artifacts/docs, and check its links"
	@echo "make noise-comparison   noise of plain, calibrated and paired times here, side by side"
	@echo "PYTHON=python3.12 after any of them takes that Python"
	@echo "make clean       remove the files of the other targets, except results/"

dashboard: $(READY)
	@$(BIN)/deepbench config
	@$(BIN)/deepbench machine --yes
	@$(BIN)/asv run --show-stderr --bench "$$($(BIN)/deepbench select $(SELECTION) --family $(FAMILY) --precision $(PRECISION))"
	@$(BIN)/asv publish
	@echo
	@echo "open file://$(CURDIR)/html/index.html"
	@echo
	@echo "then, for example:"
	@echo "  . $(BIN)/activate                  # once in each shell: finds deepbench and asv"
	@echo "  deepbench problems --family gemm      # the matrix products that can be measured"
	@echo "  deepbench frameworks                  # this machine's frameworks, kernel by kernel"
	@echo "  deepbench compare @torch nvidia-v100  # this machine against a published one"
	@echo "the commands on whole models need torch, which make models installs"

models: $(MODELS)

test: $(TOOLS) $(FRAMEWORKS)
	@$(PYTEST) -m "not slow"

test-slow: $(TOOLS) $(FRAMEWORKS)
	@$(PYTEST) -m slow --verbose $(SLOW_FILES)

list-slow-tests: $(TOOLS) $(FRAMEWORKS)
	@$(BIN)/python -m pytest -m slow --collect-only --quiet $(SLOW_FILES)

lint: $(TOOLS)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@if command -v npx >/dev/null; then npx --yes $(BIOME) lint --error-on-warnings; \
		else echo "no npx here (Debian: npm): the scripts of the pages were not linted"; fi

docs: $(TOOLS)
	@$(BIN)/mkdocs build --strict

format: $(TOOLS)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

noise-comparison: $(READY) $(FRAMEWORKS)
	@$(BIN)/python bench/round_spread.py

$(READY): pyproject.toml scripts/check_prerequisites.sh
	@sh scripts/check_prerequisites.sh "$(PYTHON)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --editable ".[track,tables,store,fleet]"
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
	@touch $@

# Tools of the tests, the linters and the documentation, which measuring does not need.
$(TOOLS): $(READY)
	@$(PIP) --editable ".[all]"
	@touch $@

# Packages for whole models: torch, their quantisation, and the runtime of their ONNX form.
$(MODELS): $(READY)
	@$(BIN)/python -m pip install --disable-pip-version-check \
		torch==2.13.0 onnxruntime onnx onnxscript torchao
	@touch $@

# Frameworks that the tests compare with each other; tests of one that is not here are skipped, so a new
# framework needs no entry. Measured releases get environments of their own. Most
# modules of the large ones are never imported, and those that are keep their bytecode then.
$(FRAMEWORKS): $(READY)
	@$(PIP) \
		numpy scipy torch==2.13.0 jax onnxruntime onnx openvino \
		transformers monai onnxscript torchao
	@touch $@

clean:
	rm -rf $(VENV) .venv-* .asv html artifacts .pytest_cache .ruff_cache .mypy_cache .hypothesis
