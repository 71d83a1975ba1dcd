# make demo   report on the demo collection, into reports/demo
# make test   the whole test suite
# make fuzz   new broken inputs for every reader, for FUZZ_SECONDS (default three hours)
# make check  lint, types and tests, as .ci/run does
# Each makes its own environment in .venv with the versions of constraints.txt; only Python 3.11+, pip and make are needed.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# also for the environment in which pip builds this package
INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test fuzz check lint lock clean

# one date, so that the committed report changes only when its contents do
demo: $(VENV)/core
	SOURCE_DATE_EPOCH=1795219200 $(BIN)/robustcs demo

test: $(VENV)/dev $(VENV)/optional
	$(BIN)/python -m pytest

# what it finds goes to tests/fuzz/corpus, where the suite tries it from then on
fuzz: $(VENV)/dev
	FUZZ_SECONDS=$${FUZZ_SECONDS:-10800} $(BIN)/python -m pytest -s tests/fuzz

check: lint test

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/core: $(VENV)/python setup.cfg constraints.txt
	$(INSTALL) --editable .
	touch $@

$(VENV)/dev: $(VENV)/python setup.cfg constraints.txt
	$(INSTALL) --editable '.[dev]'
	touch $(VENV)/core $@

# sentence encoders and retrieval; their tests skip, with the reason, where these packages cannot be had
$(VENV)/optional: $(VENV)/dev optional.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r optional.txt \
		|| echo 'optional packages not installed for this Python: the tests that need them skip'
	touch $@

# the newest versions that setup.cfg allows, for whoever maintains the lock
lock:
	rm -rf .venv-lock
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check '.[dev]' 'setuptools>=77'
	.venv-lock/bin/python -m pip freeze --all --exclude robustcs --exclude pip > constraints.txt
	rm -rf .venv-lock build robustcs.egg-info

clean:
	rm -rf .venv .venv-lock build dist robustcs.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
