# make demo       write the report on the demo collection to reports/demo
# make test       run the test suite
# make test-long  run the tests that take minutes, which make test omits
# make lowest     run the demo, the published figures and all studies with the lowest versions that setup.cfg allows
# make docs       build the site of the docs in site, and check its links
# make fuzz       try new broken inputs on every reader for FUZZ_SECONDS (default: three hours)
# make check      run lint, type checks and tests, as .ci/run does
# make bench      compare the speed of robustcs with other tools; write bench/README.md (half an hour; see that page for parts)
# make audit      list known vulnerabilities of the locked versions, if the network is available
# make lock       update the lock files to the newest versions that setup.cfg and requirements/optional.in allow
# Each target creates the environment .venv (make lowest: .venv-lowest) with the versions of the lock files, whose hashes pip
# checks. It needs only Python 3.11+, pip and make. Once the environment exists, nothing is downloaded.

# bytecode is kept, because tests start the program hundreds of times
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# the lock file of the requirements of robustcs itself; make lowest uses the lock "lowest" in its place
CORE := constraints

# Each package is in one lock file of requirements/ only: build.txt (setuptools, which builds this package and source packages),
# constraints.txt (requirements of robustcs), dev.txt (additions for tests), optional.txt (additions for tests of optional parts),
# docs.txt (additions for the site of the docs), bench.txt (tools with which the benchmark compares robustcs). Only lowest.txt
# repeats packages: it has the lowest allowed versions of those of constraints.txt.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
INSTALL := $(PIP) --no-build-isolation
LOCKED := $(INSTALL) --require-hashes

.PHONY: demo test test-long lowest lowest-checks docs fuzz check lint bench audit lock clean

# a fixed date, so that the committed report changes only when its content changes
demo: $(VENV)/core
	SOURCE_DATE_EPOCH=1795219200 $(BIN)/robustcs demo

test: $(VENV)/dev $(VENV)/optional
	$(BIN)/python -m pytest -n auto --dist loadfile

test-long: $(VENV)/dev $(VENV)/optional
	$(BIN)/python -m pytest -n auto -m long

# What make lowest tests, in about three minutes on two cores: the rules of the house, the published figures (those of public data
# only where the data are), what holds for every study, documents in every format, and the libraries of texts and statistics.
LOWEST_TESTS := tests/test_house.py tests/test_locks.py tests/test_papers.py tests/cli/test_published.py \
	tests/studies/test_conformance.py tests/test_metamorphic.py tests/documents tests/similarity tests/statistics/test_effect.py

# The lowest versions have wheels for the oldest Python only; pip gives newer Pythons newer versions.
lowest:
	@if $(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; \
	then $(MAKE) VENV=$(VENV)-lowest CORE=lowest lowest-checks; \
	else echo 'make lowest: not done, the lowest versions are tested with Python 3.11: make lowest PYTHON=python3.11'; fi

lowest-checks: $(VENV)/dev
	$(BIN)/robustcs demo --output $(VENV)/demo
	$(BIN)/python -m pytest -n auto --dist loadfile $(LOWEST_TESTS)

docs: $(VENV)/docs
	$(BIN)/python docs/website.py

# inputs that fail are added to tests/fuzz/corpus, and the test suite tries them from then on
fuzz: $(VENV)/dev
	FUZZ_SECONDS=$${FUZZ_SECONDS:-10800} $(BIN)/python -m pytest -s tests/fuzz

check: lint test

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# uses trec_eval from the path, else builds it from the source in TREC_EVAL_SOURCE
bench: $(VENV)/bench
	$(BIN)/python bench/run.py --write
	$(BIN)/python bench/report.py

audit: $(VENV)/dev
	$(BIN)/python .ci/audit.py $(foreach lock,build constraints dev optional docs bench,requirements/$(lock).txt)

$(VENV)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/core: $(VENV)/python setup.cfg setup.py requirements/build.txt requirements/$(CORE).txt
	$(LOCKED) -r requirements/build.txt
	$(LOCKED) -r requirements/$(CORE).txt
	$(INSTALL) --editable .
	touch $@

$(VENV)/dev: $(VENV)/core requirements/dev.txt
	$(LOCKED) -r requirements/dev.txt
	touch $@

$(VENV)/docs: $(VENV)/dev requirements/docs.txt
	$(LOCKED) -r requirements/docs.txt
	touch $@

# these packages change no version of a requirement of robustcs itself
$(VENV)/bench: $(VENV)/docs requirements/bench.txt
	$(LOCKED) -r requirements/bench.txt
	touch $@

# sentence encoders and retrieval; their tests are skipped, with the reason, if these packages are not available
$(VENV)/optional: $(VENV)/dev requirements/optional.txt
	$(LOCKED) -r requirements/optional.txt \
		|| echo 'optional packages not installed for this Python; the tests that need them are skipped'
	touch $@

# Each lock file is valid for all platforms and all versions of Python from 3.11.
COMPILE = .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --upgrade --custom-compile-command 'make lock'
# constraints from the previous lock files, whose packages are not repeated
without = $(foreach lock,$(1),--constraint requirements/$(lock).txt \
	$$(sed -n 's/^\([^ ]*\)==.*/--no-emit-package \1/p' requirements/$(lock).txt))
# packages that optional.in requires but its tests do not need
LARGE := tensorflow libclang cython lightgbm nmslib onnxruntime pyyaml sentencepiece spacy transformers

lock:
	rm -rf .venv-lock
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	printf '%s\n' 'setuptools >=77,<82  # tensorflow-hub imports its pkg_resources' > .venv-lock/build.in
	printf '%s\n' pip > .venv-lock/venv
	printf '%s\n' $(LARGE) > .venv-lock/large
	$(COMPILE) --no-annotate --output-file requirements/build.txt .venv-lock/build.in
	$(COMPILE) $(call without,build) --output-file requirements/constraints.txt setup.cfg
	$(COMPILE) $(call without,build constraints) --excludes .venv-lock/venv --extra dev \
		--output-file requirements/dev.txt setup.cfg
	$(COMPILE) $(call without,build dev) --excludes .venv-lock/venv --extra dev --resolution lowest-direct \
		--output-file requirements/lowest.txt setup.cfg
	$(COMPILE) $(call without,build constraints dev) --excludes .venv-lock/large \
		--output-file requirements/optional.txt requirements/optional.in
	$(COMPILE) $(call without,build constraints dev optional) --extra docs --output-file requirements/docs.txt setup.cfg
	$(COMPILE) $(call without,build constraints dev docs) --extra bench --output-file requirements/bench.txt setup.cfg
	rm -rf .venv-lock build robustcs.egg-info

clean:
	rm -rf .venv .venv-lowest .venv-lock site build dist robustcs.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
