# Everything sets itself up: a bare machine with python3 (3.11 or newer) and make is enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint specs docs bench clean

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e '.[cli]'
	touch $@

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e '.[dev]'
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## The main job on a real skill: what an agent sees and does
	@$(BIN)/python examples/demo.py

test: $(VENV)/.dev  ## All tests
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.dev  ## Style and types
	$(BIN)/ruff check .
	$(BIN)/mypy

specs: $(VENV)/.dev  ## Record the expectations of tests/specs again, from real bash and GNU tools
	$(BIN)/python tests/record/record.py tests/specs

bench: $(VENV)/.dev  ## Figures beside real bash
	$(BIN)/python benchmarks/shell.py

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache
