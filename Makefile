# For developers of Ember. Users install the package and run `ember`.
PYTHON := .venv/bin/python
# Tests of one file share what they compile, so a file stays in one process; the order
# is that of tests/conftest.py. One process more than processors: some wait.
PYTEST := $(PYTHON) -m pytest -n $(shell expr $$(nproc) + 1) --dist loadfile \
	--no-loadscope-reorder

# Tests start hundreds of Pythons: none shall compile our modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup hexagon setup-dev demo quick test check clean applications \
	applications-train

help:
	@echo "make setup   system packages (asks for sudo) and .venv; once, then fast"
	@echo "make hexagon what boards with a Hexagon need besides, 400 MB"
	@echo "make demo    build a digit classifier for two boards and run it in QEMU"
	@echo "make quick   before each commit: formatting, types, unit tests, conformance here"
	@echo "make test    tests that need no PyTorch, but those marked long and broad"
	@echo "make applications         those of examples/applications on emulated boards"
	@echo "make applications-train   data and weights for them, by PYTORCH=PYTHON"
	@echo "make check   formatting, types, all tests, fuzzing, sizes, the pages' commands"
	@echo "make clean   remove what builds and tests made"

setup:
	@bash tools/setup.sh

demo: setup
	@$(PYTHON) tools/demo.py

hexagon:
	@bash tools/setup.sh hexagon

# What tests need besides: formatters, types, pytest; the Hexagon library; Dask.
setup-dev:
	@bash tools/setup.sh dev hexagon sweep

test: setup-dev
	@$(PYTEST) -m "not export and not long and not broad" tests

quick: setup-dev
	@bash tools/check.sh format lint types quick

check: setup-dev
	@bash tools/check.sh

applications: setup
	@$(PYTHON) tools/applications.py

# A Python with PyTorch and ExecuTorch, as docs/export.md has it.
PYTORCH := python3
applications-train:
	@PYTHONPATH=sdk $(PYTORCH) tools/applications.py --train

clean:
	rm -rf build out dist .pytest_cache .mypy_cache .ruff_cache
	find sdk tests tools -name __pycache__ -prune -exec rm -rf {} +
