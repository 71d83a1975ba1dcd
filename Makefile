# make demo   report on the demo collection, into reports/demo
# make test   the whole test suite
# make test-long  the tests that take minutes, which make test leaves out
# make docs   the docs as a site, into site, its links followed
# make fuzz   new broken inputs for every reader, for FUZZ_SECONDS (default three hours)
# make check  lint, types and tests, as .ci/run does
# make bench  what robustcs takes beside other tools, into bench/README.md (half an hour; that page tells of parts)
# make audit  known vulnerabilities of the locked versions, where the network can be reached
# make lock   the lock files anew, with the newest versions that setup.cfg and requirements/optional.in allow
# Each makes its own environment in .venv with the versions of the lock files, which pip checks by their hashes; only
# Python 3.11+, pip and make are needed. Nothing is fetched once the environment stands.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# Each package stands in one lock file of requirements/ only: build.txt (setuptools, which builds this package and what comes
# as source), constraints.txt (what robustcs needs), dev.txt (what its tests add), optional.txt (what the tests of optional parts add),
# docs.txt (what the site of the docs adds), bench.txt (the tools that the benchmark measures beside robustcs).
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
INSTALL := $(PIP) --no-build-isolation
LOCKED := $(INSTALL) --require-hashes

.PHONY: demo test test-long docs fuzz check lint bench audit lock clean

# one date, so that the committed report changes only when its contents do
demo: $(VENV)/core
	SOURCE_DATE_EPOCH=1795219200 $(BIN)/robustcs demo

test: $(VENV)/dev $(VENV)/optional
	$(BIN)/python -m pytest -n auto --dist loadfile

test-long: $(VENV)/dev $(VENV)/optional
	$(BIN)/python -m pytest -n auto -m long

docs: $(VENV)/docs
	$(BIN)/python docs/website.py

# what it finds goes to tests/fuzz/corpus, where the suite tries it from then on
fuzz: $(VENV)/dev
	FUZZ_SECONDS=$${FUZZ_SECONDS:-10800} $(BIN)/python -m pytest -s tests/fuzz

check: lint test

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# trec_eval is taken from the path, else built from the source in TREC_EVAL_SOURCE
bench: $(VENV)/bench
	$(BIN)/python bench/run.py --write
	$(BIN)/python bench/report.py

audit: $(VENV)/dev
	$(BIN)/python .ci/audit.py $(foreach lock,build constraints dev optional docs bench,requirements/$(lock).txt)

$(VENV)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/core: $(VENV)/python setup.cfg setup.py requirements/build.txt requirements/constraints.txt
	$(LOCKED) -r requirements/build.txt
	$(LOCKED) -r requirements/constraints.txt
	$(INSTALL) --editable .
	touch $@

$(VENV)/dev: $(VENV)/core requirements/dev.txt
	$(LOCKED) -r requirements/dev.txt
	touch $@

$(VENV)/docs: $(VENV)/dev requirements/docs.txt
	$(LOCKED) -r requirements/docs.txt
	touch $@

# none of them changes a version that robustcs itself runs with
$(VENV)/bench: $(VENV)/docs requirements/bench.txt
	$(LOCKED) -r requirements/bench.txt
	touch $@

# sentence encoders and retrieval; their tests skip, with the reason, where these packages cannot be had
$(VENV)/optional: $(VENV)/dev requirements/optional.txt
	$(LOCKED) -r requirements/optional.txt \
		|| echo 'optional packages not installed for this Python: the tests that need them skip'
	touch $@

# One lock serves every Python from 3.11 on, and every platform.
COMPILE = .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --upgrade --custom-compile-command 'make lock'
# what the files before already hold, so that no package stands twice
beside = $(foreach lock,$(1),--constraint requirements/$(lock).txt \
	$$(sed -n 's/^\([^ ]*\)==.*/--no-emit-package \1/p' requirements/$(lock).txt))
# what optional.in pulls in and its tests do without
LARGE := tensorflow libclang cython lightgbm nmslib onnxruntime pyyaml sentencepiece spacy transformers

lock:
	rm -rf .venv-lock
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	printf '%s\n' 'setuptools >=77,<82  # tensorflow-hub imports its pkg_resources' > .venv-lock/build.in
	printf '%s\n' pip > .venv-lock/venv
	printf '%s\n' $(LARGE) > .venv-lock/large
	$(COMPILE) --no-annotate --output-file requirements/build.txt .venv-lock/build.in
	$(COMPILE) $(call beside,build) --output-file requirements/constraints.txt setup.cfg
	$(COMPILE) $(call beside,build constraints) --excludes .venv-lock/venv --extra dev \
		--output-file requirements/dev.txt setup.cfg
	$(COMPILE) $(call beside,build constraints dev) --excludes .venv-lock/large \
		--output-file requirements/optional.txt requirements/optional.in
	$(COMPILE) $(call beside,build constraints dev optional) --extra docs --output-file requirements/docs.txt setup.cfg
	$(COMPILE) $(call beside,build constraints dev docs) --extra bench --output-file requirements/bench.txt setup.cfg
	rm -rf .venv-lock build robustcs.egg-info

clean:
	rm -rf .venv .venv-lock site build dist robustcs.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
