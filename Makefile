# `make build` and `make test` work in a fresh clone: they set everything up in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
OUT ?= out/kernelbook
ARGS ?=
# Without an NVIDIA GPU the CPU build of torch will do, and it is a tenth of the size. Its version sorts above the
# plain one, so pip takes it wherever this index answers, and whatever else it knows where it does not. What torch
# needs comes with the rest, from the usual index.
CPU_INDEX := https://download.pytorch.org/whl/cpu
WHEELS := $(shell nvidia-smi -L >/dev/null 2>&1 || echo --extra-index-url $(CPU_INDEX) --retries 1 --timeout 30)
export OMP_NUM_THREADS ?= 1

.PHONY: build test redteam bench check serve setup clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kdata needs Python 3.11 or newer; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing torch and what else kdata needs into $(VENV): minutes, and pip is silent meanwhile."
	$(BIN)/python -m pip install --quiet --no-deps $(WHEELS) -c constraints.txt torch
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@

build: $(READY) ## mine, align, verify, filter, deduplicate and write a dataset: OUT=folder ARGS="--limit 20 ..."
	$(BIN)/kdata build --out $(OUT) $(ARGS)

test: $(READY)
	$(BIN)/python -m pytest -n logical --maxprocesses 8 --dist loadfile $(ARGS)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_imports.py

redteam: $(READY) ## cheats and their clean twins before the judge: the confusion matrix
	$(BIN)/python tests/redteam.py $(ARGS)

bench: $(READY)
	$(BIN)/python tests/bench/run.py $(ARGS)

serve: $(READY)
	$(BIN)/kdata serve

clean: ## the environment; data in out/ stays
	rm -rf $(VENV) *.egg-info .mypy_cache .ruff_cache .pytest_cache
