# `make run` and `make test` set everything up; see README.md.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DVC := PATH="$(CURDIR)/$(BIN):$$PATH" dvc
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input

.PHONY: install run test lint audit bench paper ui down clean pins
.DEFAULT_GOAL := run

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "error: $(PYTHON) is not on the PATH; install CPython 3.11 or name it: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "error: $(PYTHON) is not CPython 3.11, which dgl 1.1.3 needs; name one: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

run: $(STAMP)
	@$(DVC) repro
	@cat data/results/demo/report/summary.txt

paper: $(STAMP)
	@$(DVC) repro paper/dvc.yaml
	@cat data/results/paper/report/summary.txt

test: lint
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

audit: $(STAMP)
	$(BIN)/python -m flows.audit

bench: $(STAMP)
	$(BIN)/python -m benchmarks.randomized_response

ui: $(STAMP)
	$(BIN)/python -m flows.ui up

down: $(STAMP)
	$(BIN)/python -m flows.ui down

clean:
	rm -rf $(VENV) .cache .prefect .mlflow .mypy_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info build
