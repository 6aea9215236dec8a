# Everything sets itself up: a bare machine with python3 (3.11 or newer) and make is enough.
PYTHON ?= python3
VENV ?= .venv
VENV_SK ?= .venv-sk
VENV_FUZZ ?= .venv-fuzz
TIME ?= 60
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo demo-python test lint fuzz soak git-sequences test-semantic-kernel specs docs bench strace build release-check clean

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "agentsandbox needs Python 3.11 or newer: make PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "This Python has no venv: install it first (Debian, Ubuntu: apt-get install python3-venv)."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet -e '.[cli]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet -e '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV_SK)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV_SK)
	$(VENV_SK)/bin/pip install --quiet -e '.[semantic-kernel]' pytest
	@touch $@

$(VENV_FUZZ)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV_FUZZ)
	$(VENV_FUZZ)/bin/pip install --quiet -e '.[dev]'
	-$(VENV_FUZZ)/bin/pip install --quiet --only-binary :all: atheris
	@touch $@

demo: $(VENV)/.demo  ## The main job on a real skill: what an agent sees and does
	@$(BIN)/python examples/demo.py

demo-python: $(VENV)/.python  ## A data analyst's turn: CSV, pandas, a plot, a report
	@$(BIN)/python examples/data_analysis.py

$(VENV)/.python: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet -e '.[cli,python]'
	$(BIN)/agentsandbox python prepare
	@touch $@

test: $(VENV)/.dev  ## All tests; without a prepared python3 its tests are skipped
	-@$(BIN)/agentsandbox python prepare
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.dev  ## Style and types
	$(BIN)/ruff check .
	$(BIN)/mypy

fuzz: $(VENV_FUZZ)/.ready  ## Fuzz every target for TIME seconds; with atheris where it has a wheel
	$(VENV_FUZZ)/bin/python -m tests.fuzz run --seconds $(TIME) $(TARGETS)

soak: $(VENV)/.dev  ## Load: 10,000 sandboxes, 64 tasks, 16 threads, killed workers, faulty disks
	$(BIN)/python -m tests.security.soak
	FAULTS_EVERY=4 $(BIN)/python -m pytest -n auto tests/security/test_faults.py
	CANCEL_COUNT=600 $(BIN)/python -m pytest -n auto tests/security/test_cancelling_anywhere.py

test-semantic-kernel: $(VENV_SK)/.ready  ## The real Semantic Kernel: large, so in an environment of its own
	$(VENV_SK)/bin/python -m pytest tests/test_semantic_kernel.py

git-sequences: $(VENV)/.dev  ## Random sequences of git commands, judged by real git: COUNT=10000
	$(BIN)/python -m tests.differential.git_sequences $(or $(COUNT),100)

specs: $(VENV)/.dev  ## Record the expectations of tests/specs again, from real bash and GNU tools
	$(BIN)/python tests/record/record.py tests/specs

docs: $(VENV)/.dev  ## Write docs/commands.md from usage texts, docs/api.md from docstrings
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/generate_api.py

bench: $(VENV)/.dev  ## Figures beside real bash
	$(BIN)/python benchmarks/shell.py

strace: $(VENV)/.dev  ## What the kernel sees while attacks run, in both kinds of isolation
	$(BIN)/python -m tests.security.strace --every $(or $(EVERY),20)
	$(BIN)/python -m tests.security.strace --every $(or $(EVERY),20) --isolation process

build: $(VENV)/.dev  ## Source distribution and wheel, in dist/
	$(BIN)/python -m build --no-isolation

release-check:  ## What only the owner can fill in before a release: addresses, contacts
	@$(PYTHON) .ci/release-check

clean:
	rm -rf $(VENV) $(VENV_SK) $(VENV_FUZZ) .fuzz dist build .mypy_cache .ruff_cache
