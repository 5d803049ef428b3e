# Two commands on a fresh machine: make demo, make test. Both set up all they need in .venv.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint bench clean

demo: .venv/core
	$(BIN)/hush demo --out demo

test: .venv/test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest

lint: .venv/test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/test
	$(BIN)/python -m pytest -m nightly
	$(BIN)/python benchmarks/run.py

.venv/core: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c constraints.txt -e .
	touch $@

.venv/test: .venv/core
	$(BIN)/pip install -q -c constraints.txt -e ".[test,lint]"
	touch $@

clean:
	rm -rf .venv demo demo.private
