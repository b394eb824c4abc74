# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# uv takes a sixth of pip's time; where it cannot be had, or does not find what pip was told to find, pip does the work
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INSTALL = { $(PIP) uv && $(BIN)/uv pip install --quiet --native-tls --python $(BIN)/python --constraint constraints.txt $(1); } \
	|| { echo "uv could not: pip installs, which takes longer" >&2; $(PIP) --no-compile $(1); }
# a comma in the words of a call would begin its second argument
COMMA := ,
# neither writes bytecode, which pip would write one file after the other: all cores write it afterwards. More than half
# of the files are hardly ever imported, or are there as machine code, too: who does import one of them writes it then
SELDOM := tests|moto|botocore|pip|setuptools|OpenGL|mypy|mypyc|fontTools|mpl_toolkits|lexers|narwhals
WRITE  := $(BIN)/python -W ignore -m compileall -qq -j 0 -x '/($(SELDOM))/' $(VENV)/lib || true
# the tests come first: these take what is left of the processors, of which waiting tests leave enough
LATER  := nice -n 19
# bytecode is kept: where it is not, three workers rewrite every test and each program that they start compiles itself
export PYTHONDONTWRITEBYTECODE :=

# a file stays with one worker, since its tests share services and kernels; what takes longest begins (tests/conftest.py);
# four workers on two cores, since half of the tests' time is waiting
WORKERS := --numprocesses=4 --dist=loadfile --no-loadscope-reorder
# one on each core: these compute, or measure what they watch
SLOW_WORKERS := --numprocesses=2 --dist=loadgroup

.PHONY: demo test tests test-slow check compiled collected interpreted bench mutants chaos fuzz soak systemd docs dist clean help

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/run.stamp  ## watch a simulated joint being identified, live, in a browser
	$(BIN)/jointwatch demo $(DEMO)

test: $(VENV)/test.stamp  ## every test (slow ones excepted), and beside them lint, types, import rules
	+$(MAKE) --no-print-directory --jobs=4 --output-sync=target FIRST="compiled collected" tests check interpreted

tests: $(VENV)/test.stamp $(FIRST)  # many wait for what they watch; `+` lets the others' words wait, and these be seen at once
	+@$(BIN)/python tests/support/second_look.py -m "not slow" $(WORKERS) $(TEST)

compiled: $(VENV)/test.stamp  # those of the tests, too: each worker would compile all of them
	$(BIN)/jointwatch compile
	@$(BIN)/python -m pytest -qq --collect-only $$(grep -rlE '^@(kernel|inline)|signals.histories' --include='test_*.py' tests) >$(VENV)/compiled.log || { tail -n 50 $(VENV)/compiled.log; false; }

collected: $(VENV)/test.stamp  # rewrites the asserts of all tests once, where each worker would for itself
	@NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -qq --collect-only >$(VENV)/collected.log || { tail -n 50 $(VENV)/collected.log; false; }

interpreted: $(VENV)/test.stamp $(filter collected,$(FIRST))  # a kernel is Python first: once more without compiling, which needs no kernel on disk; not each combination of values
	NUMBA_DISABLE_JIT=1 $(LATER) $(BIN)/python -m pytest -q --each-value -m "interpreted and not slow and not compiled" $$(grep -rl --include='test_*.py' mark.interpreted tests/estimators tests/contracts)

test-slow: compiled  ## the endurance runs (under an hour), but for the unit under systemd: see systemd
	$(BIN)/python -m pytest -m slow $(SLOW_WORKERS) --ignore=tests/end_to_end/guests/test_systemd_uml.py --durations=0 $(TEST)

check: $(VENV)/test.stamp  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(LATER) $(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/bench.stamp  ## every figure of the README, measured here (needs gcc for the C reference)
	$(BIN)/jointwatch bench $(BENCH)

mutants: compiled  ## small errors put into the code one at a time: which of them no test notices
	$(BIN)/python tests/support/mutants $(MUTANTS)
	$(BIN)/python tests/support/named_mutants.py

chaos: $(VENV)/test.stamp  ## break the running service in every known way; writes docs/faults.md
	$(BIN)/python tests/endurance/signals.py
	$(BIN)/python tests/endurance/chaos.py --write

fuzz: $(VENV)/test.stamp  ## 500 configurations and 20,000 files that nobody would write
	$(BIN)/python tests/endurance/fuzz.py

soak: $(VENV)/test.stamp  ## seven joints for HOURS (1), and what is left then; writes docs/soak.md
	$(BIN)/python tests/endurance/soak.py --hours $(or $(HOURS),1) --write

systemd: $(VENV)/test.stamp  ## the unit under a real systemd, in a guest with a root of its own (as root; 15 min)
	$(BIN)/python -m pytest -m slow -s tests/end_to_end/guests/test_systemd_uml.py

docs: $(VENV)/docs.stamp  ## the documentation as a site, with the API, in build/site
	$(BIN)/mkdocs build --strict --config-file docs/site.yml --site-dir $(CURDIR)/build/site

dist: $(VENV)/dist.stamp  ## wheel and sdist in build/dist, checked and tried as a stranger would get them (20 min)
	rm -rf build/dist
	$(BIN)/python -m build --no-isolation --outdir build/dist .
	$(BIN)/python -m twine check --strict build/dist/*
	JOINTWATCH_DIST=build/dist $(BIN)/python -m pytest -m slow --durations=0 tests/deploy/test_installed.py

clean:  ## remove the environment and everything generated
	rm -rf $(VENV) *.egg-info build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find daq drivers estimators hil_rig jointwatch_client jointwatch_numba tests -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing into $(VENV) (once)" >&2
	@$(call INSTALL,--editable .)
	@$(WRITE)
	@touch $@

$(VENV)/test.stamp: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing into $(VENV), with what the tests need (once)" >&2
	@$(call INSTALL,--editable '.[test]')
	@$(WRITE)
	@touch $(VENV)/run.stamp $@

$(VENV)/docs.stamp: $(VENV)/run.stamp
	@$(call INSTALL,--editable '.[docs]')
	@touch $@

$(VENV)/dist.stamp: $(VENV)/test.stamp
	@$(call INSTALL,--editable '.[test$(COMMA)dist]')
	@touch $@

$(VENV)/bench.stamp: $(VENV)/test.stamp
	@$(call INSTALL,--editable '.[test$(COMMA)bench]')
	@touch $@
