# make install   .venv/bin/pagemason, from this checkout, with the versions in constraints.txt
# make run       the proxy and its dashboard; ARGS="--mode offline" are passed on
# make test      all tests, on SQLite and a real PostgreSQL; on up to 4 cores; ARGS="-k warc" are passed on to pytest
# make check     ruff, ruff format, mypy --strict
# make bench     our speed and size beside the peers'; CORPORA=folder of WARC files, ARGS=--quick for fewer baselines
# make conformance   the public HTTP cache tests against our proxy; ARGS="--peers" runs squid, Varnish and nginx too
# make fuzz      the property tests alone, with new random examples; ROUNDS=10 repeats them
# make soak      15 minutes of traffic that is larger than the store may become; ARGS="--minutes 3"
# make clean     removes .venv

# The first Python that is new enough. pyenv leaves commands in the path that do not run, so each is tried.
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(p) -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null && echo $(p))))
VENV := .venv
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Once: where PYTHONDONTWRITEBYTECODE is set, as in many images, each start would compile what it loads.
COMPILE := $(VENV)/bin/python -m compileall -qq apps blocks experiments extract migrations proxy settings store
LOCKED := pyproject.toml constraints.txt
ROUNDS ?= 3
CORPORA ?= $(wildcard ../shared/corpora)

.PHONY: install run test fuzz check bench conformance soak clean
.DEFAULT_GOAL := install

install: $(VENV)/.installed

run: $(VENV)/.installed
	@exec $(VENV)/bin/pagemason run $(ARGS)

test: $(VENV)/.installed-for-tests
	$(VENV)/bin/python -m pytest -rs --numprocesses auto --maxprocesses 4 $(ARGS)

fuzz: $(VENV)/.installed-for-tests
	@for round in $$(seq $(ROUNDS)); do echo "Round $$round of $(ROUNDS)"; \
		$(VENV)/bin/python -m pytest -q -m hypothesis --hypothesis-profile=fuzz --numprocesses auto --maxprocesses 4 $(ARGS) || exit; done

check: $(VENV)/.installed-for-tests
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

bench: $(VENV)/.installed-for-tests
	$(VENV)/bin/python -m bench.importing $(wildcard $(CORPORA)/*.warc.gz)
	$(if $(CORPORA),PAGEMASON_CORPORA=$(CORPORA) $(VENV)/bin/python -m bench.storage $(ARGS))
	$(if $(CORPORA),$(VENV)/bin/python -m bench.extraction $(CORPORA)/news.warc.gz $(CORPORA)/news.truth.jsonl --by source)
	$(if $(CORPORA),$(VENV)/bin/python -m bench.extraction $(CORPORA)/wcxb-dev.warc.gz $(CORPORA)/wcxb-dev.truth.jsonl \
		--by page_type --folds 5)
	$(if $(CORPORA),$(VENV)/bin/python -m bench.fields $(CORPORA)/books.warc.gz $(CORPORA)/books.truth.jsonl)
	$(VENV)/bin/python -m bench.proxy

conformance: $(VENV)/.installed-for-tests
	$(VENV)/bin/python -m bench.conformance $(ARGS)
	$(VENV)/bin/python -m bench.conformance --forward $(ARGS)

soak: $(VENV)/.installed-for-tests
	$(VENV)/bin/python -m bench.soak $(ARGS)

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Pagemason needs Python 3.11 or newer: none found. PYTHON=/path/to/python3 names one."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(LOCKED) | $(VENV)/bin/python
	@echo "Installing Pagemason into $(VENV) ..."
	@$(PIP) --editable .
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-for-tests: $(LOCKED) | $(VENV)/bin/python
	@echo "Installing Pagemason and what its tests need into $(VENV) ..."
	@$(PIP) --editable '.[dev,experiments,ray]'
	@$(COMPILE)
	@touch $(VENV)/.installed $@
