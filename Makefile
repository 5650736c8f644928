# Everything starts here. Each target works from a bare clone on a machine with Python 3.11+ and git, and is quick
# when there is nothing to do. `make help` lists them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup servers run demo test test-all check format bench lock clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

setup: $(READY) ## Create the environment in .venv from hashed pins

$(READY): requirements/uv.txt requirements/dev.txt pyproject.toml dev/setup
	@PYTHON="$(PYTHON)" dev/setup $(VENV)
	@touch $@

servers: ## Install the real servers that the tests run against (idempotent, cached)
	@dev/install/all

run: setup ## Start the server on 127.0.0.1:8000, with embedded stores in ./headwater-data
	@exec $(BIN)/hw serve $(ARGS)

demo: setup ## Show the core at work, without a server
	@$(BIN)/python -m dev.demo

test: setup servers ## The tests, against real servers
	@$(BIN)/pytest $(PYTEST_ARGS)

test-all: setup ## The same, and those against the slow servers: Cassandra and HBase
	@dev/install/all slow
	@$(BIN)/pytest -m "" $(PYTEST_ARGS)

check: setup ## Format, lint and types, in seconds
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary

format: setup ## Rewrite the code in the one format
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix-only .

bench: setup servers ## Measure: all of bench/, or what BENCH names, as in BENCH="kv core"
	@$(BIN)/python -m bench $(BENCH)

lock: setup ## Compile requirements/*.txt anew from pyproject.toml
	@dev/lock $(BIN)

clean: ## Remove the environment and the caches of this checkout
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
