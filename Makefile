# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# also run without compiling: a kernel is Python first
INTERPRETED := $(foreach n,alarm health integrated_procedure refit refit_nnls resample rigid rls signals spikes,tests/estimators/test_$n.py) \
	$(foreach n,forgetting friction_laws joint_models,tests/contracts/test_$n.py)

.PHONY: demo test test-slow check bench chaos fuzz soak clean help

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/live.stamp  ## watch a simulated joint being identified, live, in a browser
	$(BIN)/jointwatch demo $(DEMO)

test: check  ## lint, types, import rules, then every test (slow ones excepted)
	$(BIN)/jointwatch compile
	$(BIN)/python -m pytest -m "not slow" $(TEST)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m "not slow and not compiled" $(INTERPRETED)

test-slow: $(VENV)/test.stamp  ## the endurance runs
	$(BIN)/python -m pytest -m slow $(TEST)

check: $(VENV)/test.stamp  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/bench.stamp  ## every figure of the README, measured here (needs gcc for the C reference)
	$(BIN)/jointwatch bench $(BENCH)

chaos: $(VENV)/test.stamp  ## break the running service in every known way; writes docs/faults.md
	$(BIN)/python -m hil_rig.commands.chaos --write

fuzz: $(VENV)/test.stamp  ## 500 configurations and 20,000 files that nobody would write
	$(BIN)/python -m hil_rig.commands.fuzz

soak: $(VENV)/test.stamp  ## seven joints for HOURS (1), and what is left then
	$(BIN)/python -m hil_rig.commands.soak --hours $(or $(HOURS),1)

clean:  ## remove the environment and everything generated
	rm -rf $(VENV) *.egg-info build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find daq drivers estimators hil_rig tests -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing into $(VENV) (once)" >&2
	$(PIP) --editable .
	@touch $@

$(VENV)/live.stamp: $(VENV)/run.stamp
	$(BIN)/jointwatch compile --live
	@touch $@

$(VENV)/test.stamp: $(VENV)/run.stamp
	$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/bench.stamp: $(VENV)/test.stamp
	$(PIP) --editable '.[test,bench]'
	@touch $@
