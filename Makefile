# `make run` and `make test` set everything up; see README.md.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DVC := PATH="$(CURDIR)/$(BIN):$$PATH" dvc

.PHONY: install run verify test lint docs-test audit audit-deps bench paper ui down clean pins
# DVC looks for git unless it is told that there is none, as in a folder from a zip download.
define SCM
@if git rev-parse --git-dir >/dev/null 2>&1; then ! grep -qs '^ *no_scm' .dvc/config.local || $(DVC) config --local --unset core.no_scm; \
  else grep -qs '^ *no_scm' .dvc/config.local || $(DVC) config --local core.no_scm true; fi
endef

.DEFAULT_GOAL := run

install: $(STAMP)

$(STAMP): .ci/install pyproject.toml constraints.txt requirements.lock
	@sh .ci/install
	@touch $@

run: $(STAMP)
	$(SCM)
	@$(DVC) repro
	@cat data/results/demo/report/summary.txt
	@$(BIN)/python -m flows.verify || :

verify: $(STAMP)
	$(SCM)
	@$(DVC) repro
	@$(BIN)/python -m flows.verify

paper: $(STAMP)
	$(SCM)
	@$(DVC) repro paper/dvc.yaml
	@cat data/results/paper/report/summary.txt

test: lint
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m benchmarks.structure
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml

docs-test: $(STAMP)  # the documents' commands that the tests do not run; six minutes
	$(BIN)/python -m benchmarks.documented_commands

audit: $(STAMP)
	$(BIN)/python -m flows.audit

audit-deps: $(STAMP)
	@test -x .audit/bin/pip-audit || { $(BIN)/python -m venv .audit && .audit/bin/python -m pip install --quiet 'pip-audit>=2.9,<3'; } || \
	  { rm -rf .audit; echo "error: pip-audit cannot be installed; run make audit-deps again with a network" >&2; exit 2; }
	@.audit/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict --progress-spinner off 2>.audit/log; \
	  status=$$?; tail -n 1 .audit/log >&2; test $$status = 0 || \
	  { echo "error: no all-clear; where the database was not reached, run make audit-deps again with a network" >&2; exit 2; }

bench: $(STAMP)
	$(BIN)/python -m benchmarks.randomized_response

ui: $(STAMP)
	$(BIN)/python -m flows.ui up

down: $(STAMP)
	$(BIN)/python -m flows.ui down

clean:
	rm -rf $(VENV) .audit .cache .prefect .mlflow .mypy_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info build

pins: export PATH := $(PATH):$(CURDIR)/$(BIN)
pins:  # after a change of constraints.txt
	@command -v uv >/dev/null 2>&1 || { echo "error: uv is not on the PATH; make install brings it" >&2; exit 2; }
	grep -v '^torch==' constraints.txt | uv pip compile - --no-deps --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet --output-file requirements.lock
