# Each target sets up what it needs: a virtual environment in .venv, made by uv where it is on PATH, else by
# `python3 -m venv` and pip. It is renewed when pyproject.toml or constraints.txt changes.
#
#   make train PYTHON=python3.13                  another Python for a new .venv
#   make train INSTALL_FLAGS="--find-links DIR"   more options for the installer: where another build of torch lies
#   make test PYTEST_ARGS="-k rive -x"            more options for pytest
#   make train ARGS="--set.seed 2"                more options for the command

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?=
INSTALL_FLAGS ?=
PYTEST_ARGS ?=
ARGS ?=

extras := train,sb3,render,openvino,dev
bin := .venv/bin
# One thread a worker: the workers share the cores already.
pytest_flags := -n auto --maxprocesses 8 --dist worksteal
adapter_tests := -m 'not strength and not speed' tests/adapters
pytest = OMP_NUM_THREADS=1 $(1)/bin/python -m pytest $(pytest_flags) $(2) $(PYTEST_ARGS)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: train
train: install ## learn Rive on a small board from self-play, then measure what was learnt
	$(bin)/python -m stonezero quickstart $(ARGS)

.PHONY: test
test: install ## the tests that a change must pass
	STONEZOO_TEST_LIBRARIES=openvino $(call pytest,.venv,)

.PHONY: test-slow
test-slow: install ## the tests that take long
	STONEZOO_TEST_LIBRARIES=openvino $(call pytest,.venv,-m slow)

.PHONY: test-latest
test-latest: export PIP_UPGRADE_STRATEGY = eager
test-latest: ## the tests with the newest releases of all libraries, in .venv-latest
	$(call set-up,.venv-latest,--upgrade)
	$(call pytest,.venv-latest,)

# Other RL libraries do not resolve with all that .venv has, or not with one another. What each environment must hold is
# said to the tests, which fail where it is missing: elsewhere they are left out.
.PHONY: test-adapters
test-adapters: .venv-adapters/.installed .venv-rllib/.installed ## the tests with other RL libraries, in .venv-adapters and .venv-rllib
	STONEZOO_TEST_LIBRARIES=torch,torchrl,pyspiel,supersuit $(call pytest,.venv-adapters,$(adapter_tests))
	STONEZOO_TEST_LIBRARIES=torch,ray $(call pytest,.venv-rllib,$(adapter_tests))

.PHONY: bench
bench: install ## how fast this machine plays, searches and steps
	$(bin)/python -m stonezoo bench $(ARGS)
	@set -e; for script in $(wildcard benchmarks/bench_*.py); do \
	    echo "$(bin)/python $$script"; $(bin)/python $$script; \
	done

.PHONY: bench-gpu
bench-gpu: install ## where a training run's time goes on a GPU (under 8 minutes)
	@set -e; for config in rive/quickstart resolve/5 dara/base; do \
	    command="stonezero bench $$config --seconds 45 --set.device.kind cuda $(ARGS)"; \
	    echo "$$command"; $(bin)/python -m $$command; \
	done

.PHONY: solutions
solutions: install ## solve the small boards anew and write docs/solutions.md (an hour)
	$(bin)/python benchmarks/solutions.py $(ARGS)

.PHONY: lint
lint: ruff types layers ## style, types and import layers

.PHONY: ruff
ruff: install
	$(bin)/ruff check .
	$(bin)/ruff format --check .

.PHONY: types
types: install
	$(bin)/mypy

.PHONY: layers
layers: install
	$(bin)/lint-imports --no-logo

.PHONY: format
format: install ## let ruff repair what it can
	$(bin)/ruff check --fix .
	$(bin)/ruff format .

.PHONY: warmup
warmup: install ## compile all games now rather than at their first use
	$(bin)/python -m stonezoo warmup $(ARGS)

.PHONY: clean
clean: ## remove builds and caches
	rm -rf build dist .cache .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -not -path './.venv*' -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## remove the virtual environments too
	rm -rf .venv .venv-latest .venv-adapters .venv-rllib

.PHONY: install
install: .venv/.installed ## set up .venv

.venv/.installed: pyproject.toml constraints.txt
	$(call set-up,.venv,--constraint constraints.txt)
	@touch $@

.venv-adapters/.installed: extras := train,adapters,render,dev
.venv-adapters/.installed: pyproject.toml constraints.txt
	$(call set-up,.venv-adapters,--constraint constraints.txt)
	@touch $@

.venv-rllib/.installed: extras := render,dev
.venv-rllib/.installed: pyproject.toml constraints-rllib.txt
	$(call set-up,.venv-rllib,--constraint constraints-rllib.txt 'ray[rllib]>=2.50' 'torch>=2.8')
	@touch $@

# $(1) the environment's folder, $(2) options of the installer
define set-up
	@set -e; \
	python=''; \
	for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
	    if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        python=$$candidate; break; \
	    fi; \
	done; \
	if command -v uv >/dev/null 2>&1; then \
	    if [ ! -x $(1)/bin/python ]; then uv venv --allow-existing --python "$${python:->=3.11}" $(1); fi; \
	    uv pip install --python $(1)/bin/python $(2) $(INSTALL_FLAGS) --editable '.[$(extras)]'; \
	else \
	    if ! $(1)/bin/python -m pip --version >/dev/null 2>&1; then \
	        if [ -z "$$python" ]; then \
	            echo 'StoneZoo needs Python 3.11 or later; found: '"$$($(or $(PYTHON),python3) --version 2>&1)" >&2; \
	            echo 'Where a newer one has another name: make PYTHON=/path/to/python3.12 ...' >&2; \
	            exit 1; \
	        fi; \
	        $$python -m venv $(1); \
	    fi; \
	    $(1)/bin/python -m pip install --disable-pip-version-check $(2) $(INSTALL_FLAGS) --editable '.[$(extras)]'; \
	fi
endef
