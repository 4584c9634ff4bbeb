# Everything a contributor runs, one command each. `make` alone lists them.
#
# Commands run in the virtual environment `.venv`, which `make install` makes. To use another environment, name the
# folder of its programs: `make test BIN=/path/to/bin`, or `make test BIN=` for what is on the PATH.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
BIN ?= .venv/Scripts
else
BIN ?= .venv/bin
endif
RUN := $(if $(BIN),$(BIN)/)
PYTEST := $(RUN)python -m pytest

# What `make bench` works on: see bench/README.md.
TREE ?=
SITES ?=
CHECKOUTS ?=
# How long `make fuzz` runs, and which inputs it tries.
SECONDS ?= 90
SEED ?= 0

.DEFAULT_GOAL := help
.PHONY: help install hooks test smoke fuzz lint format types layers docs links site editor dogfood generate thorough oracle coverage bench all clean

help: ## list these commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{ printf "%-16s %s\n", $$1, $$2 }'

install: ## make .venv, with guardfix editable and everything the tests need
	$(PYTHON) -m venv .venv
	$(RUN)python -m pip install --quiet --editable '.[dev]'

hooks: ## run the fast checks before every commit (.pre-commit-config.yaml)
	$(RUN)pre-commit install

test: ## the everyday tests: a few minutes
	$(PYTEST)

smoke: ## a little of everything, in ten seconds
	$(PYTEST) -q -n0 -m smoke

lint: ## style, and formatting
	$(RUN)ruff check .
	$(RUN)ruff format --check .

format: ## format the code and apply ruff's safe fixes
	$(RUN)ruff check --fix .
	$(RUN)ruff format .

types: ## mypy, strict
	$(RUN)python -m mypy
	$(RUN)python -m mypy bench

# The graph is built from the linked tree, guardfix/linter and so on: an editable install has one package only.
layers: ## which package may import which (import-linter)
	$(RUN)lint-imports

docs: ## the documentation against the code: generated pages, examples, links
	$(PYTEST) -q -n0 tests/test_docs.py tests/guardfix/verify/test_docs.py \
	  tests/runtime_shim/test_documentation.py

links: ## the documentation's links to other sites; needs the network
	$(RUN)python bench/links.py

dogfood: ## guardfix on its own code
	$(RUN)guardfix check --isolated --select ALL linter codemods guardfix runtime_shim

site: ## the documentation site, in site/ (needs the extra `site`)
	$(RUN)python -m mkdocs build --strict --quiet

# One line for each file that is generated and checked in. tests/test_docs.py fails when one is out of date.
editor: ## bundle the playground's editor (needs npm); without it, the playground has a text area
	cd editors/playground && npm ci --no-audit --no-fund --silent && npm run --silent build

generate: ## rewrite every generated file
	$(RUN)python -m guardfix.linter.record_prefilter
	$(RUN)python -m guardfix.cli.record_arguments
	$(RUN)python -m guardfix explain ALL > docs/rules.md.new && mv docs/rules.md.new docs/rules.md
	$(RUN)python -m guardfix explain ERRORS > docs/errors.md.new && mv docs/errors.md.new docs/errors.md
	$(RUN)python -m guardfix.linter.decision.decision_tables docs/decisions.md
	$(RUN)python -m guardfix.settings_schema guardfix/schemas/settings.schema.json
	$(RUN)python bench/attacks.py --table docs/trust.md
	$(RUN)python docsite/terminal_picture.py

thorough: ## what takes too long for every change: each header by itself, other compilers, sanitizers, many runs
	$(PYTEST) -m 'thorough and not oracle'

# Programs compiled against libtorch take half a minute each, and 1.5 GB for the precompiled headers: a quarter of them
# are compiled here, and all with `make oracle ORACLE=oracle`.
ORACLE ?= oracle and not thorough
oracle: ## the shim and the table of ops against PyTorch itself, which is installed for it
	$(RUN)python -m pip install --quiet --editable '.[oracle]'
	$(PYTEST) -m oracle --ignore=tests/guardfix/verify --ignore=tests/runtime_shim/cpp
	$(PYTEST) -n2 -m '$(ORACLE)' tests/guardfix/verify tests/runtime_shim/cpp

fuzz: ## 90 seconds of fuzzing, guided by coverage with the extra `fuzz`; SEED=7 tries other inputs, SECONDS=600 more
	$(RUN)python bench/fuzz.py --seconds $(SECONDS) --seed $(SEED)

coverage: ## the everyday tests, with line and branch coverage of all their processes
	$(RUN)coverage erase
	$(PYTEST) --cov --cov-report=
	$(RUN)coverage report --sort=cover
	@$(RUN)coverage report --format=total | sed 's/.*/covered: &%/'

bench: ## measurements; TREE, SITES and CHECKOUTS as bench/README.md says
	$(RUN)python bench/shim.py
	$(RUN)python bench/small_programs.py
	$(RUN)python bench/verify.py
	$(RUN)python bench/growth.py
ifneq ($(TREE),)
	$(RUN)python -m pip install --quiet --editable '.[bench]'
	$(RUN)python bench/scan.py $(TREE)
	$(RUN)python bench/rules.py $(TREE)
	$(RUN)python bench/python_rules.py $(TREE)
endif
ifneq ($(SITES),)
	$(RUN)python bench/corpus.py $(SITES) $(CHECKOUTS)
	$(RUN)python bench/signals.py $(SITES) $(CHECKOUTS)
endif

all: lint types layers test thorough oracle ## everything that must pass before a change lands

clean: ## remove what builds, tests and checkers leave behind
	rm -rf build dist site *.egg-info .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
