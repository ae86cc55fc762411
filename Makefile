# Every target is thin: `pulumi` and `pytest` commands that a person can type (see the README).

# An exported STACK=prod must not turn a plain `make destroy` on prod: these count only when typed.
TYPED_ONLY := STACK ARGS YES FILE LEVELS
FOUND_ELSEWHERE := $(strip $(foreach name,$(TYPED_ONLY),$(if $(findstring environment,$(origin $(name))),$(name))))
ifneq ($(FOUND_ELSEWHERE),)
$(warning $(FOUND_ELSEWHERE): ignored in the environment; give it after make, as in `make up STACK=dev`)
$(foreach name,$(FOUND_ELSEWHERE),$(eval override $(name) := $(if $(filter STACK,$(name)),sandbox))$(eval unexport $(name)))
endif

STACK ?= sandbox
PYTHON ?= python3
VENV_PYTHON := .venv/bin/python
RUNTIME_PYTHON := runtime/.venv/bin/python
TORCH_PYTHON := runtime/.venv-torch/bin/python
SANDBOX := $(VENV_PYTHON) -m sandbox
RUNTIME_TESTS := $(RUNTIME_PYTHON) -m pytest -c runtime/pyproject.toml --rootdir . -n 4 --dist worksteal tests/runtime
ARGS ?=
FILE ?=
LEVELS ?=
LEVELS_FLAG := $(if $(LEVELS),--levels '$(LEVELS)')

.DEFAULT_GOAL := help
.PHONY: help setup setup-runtime setup-torch engine control-plane cost drill up preview refresh destroy policy policy-state packs recover rehearse \
  check env lint test test-cluster test-runtime test-torch chaos test-fast mutate bench docs schema sdk version clean distclean

help: ## Show the targets
	@echo "usage: make TARGET [STACK=$(STACK)] [PYTHON=$(PYTHON)] [ARGS='further pulumi or pytest arguments']"
	@sed -n 's/^\([a-z -]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 34

setup: ## Make .venv agree with the requirements
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
	  echo "error: PYTHON=$(PYTHON) ($$($(PYTHON) --version 2>/dev/null || echo cannot be run)): Python 3.10 or newer is needed." >&2; \
	  echo "Choose one with: make $(or $(MAKECMDGOALS),setup) PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m sandbox.setup_venv

setup-runtime: ## Make runtime/.venv agree with the runtime's requirements
	@$(PYTHON) -m sandbox.setup_venv runtime

setup-torch: ## Make runtime/.venv-torch agree with its requirements, over a Python that has PyTorch
	@$(PYTHON) -m sandbox.setup_venv torch

engine: setup ## Find, install or build the Pulumi engine
	@$(VENV_PYTHON) -m sandbox.engine >/dev/null

control-plane: setup ## Find or build a Kubernetes control plane and the JobSet manager
	@$(VENV_PYTHON) -m sandbox.cluster build

up preview refresh destroy: setup ## STACK=sandbox: emulated cloud; others: the real one
	@$(SANDBOX) $@ --stack '$(STACK)' $(ARGS)

policy: setup ## Preview a stack with every policy pack; LEVELS=dev, prod or a file
	@$(SANDBOX) policy --stack '$(STACK)' $(LEVELS_FLAG) $(ARGS)

policy-state: setup ## Judge FILE=state.json with every policy pack, without a login
	@$(SANDBOX) policy-state --file '$(FILE)' $(LEVELS_FLAG) $(ARGS)

packs: setup ## Write each policy pack as a folder of its own, into dist/policies
	@$(VENV_PYTHON) -m tools.publish_policies $(ARGS)

recover: setup ## Put a stack in order whose update was killed
	@$(SANDBOX) recover --stack '$(STACK)' $(ARGS)

rehearse: setup ## A stack's whole life on the emulated cloud, with a report
	@$(SANDBOX) rehearse --stack '$(STACK)'

cost: engine ## Estimate what a stack file costs, on the emulated cloud
	@$(VENV_PYTHON) -m sandbox.cost --stack '$(STACK)' $(ARGS)

drill: engine control-plane ## Evict a Spot node and end a flex-start node, and see the work come back
	@$(VENV_PYTHON) -m sandbox.drill $(ARGS)

check: setup ## Judge a stack's settings alone, without an engine
	@$(SANDBOX) check --stack '$(STACK)'

env: setup ## Shell lines for plain pulumi commands in the sandbox: eval "$(make -s env)"
	@$(SANDBOX) env --stack '$(STACK)'

lint: setup setup-runtime ## ruff and pyright
	@$(VENV_PYTHON) -m ruff check .
	@$(VENV_PYTHON) -m ruff format --check .
	@$(VENV_PYTHON) -m pyright
	@$(VENV_PYTHON) -m pyright -p runtime

# The large suite comes last, so that its closing lines end the output; both run in any case.
# Tests on a control plane and of the runtime mostly wait: four workers keep two cores busy.
test: engine control-plane setup-runtime ## All tests
	@code=0; $(RUNTIME_TESTS) || code=$$?; $(VENV_PYTHON) -m pytest -n 4 --dist worksteal $(ARGS) || code=$$?; exit $$code

test-cluster: engine control-plane ## The tests on a real Kubernetes control plane
	@$(VENV_PYTHON) -m pytest -n 4 --dist worksteal -m cluster $(ARGS)

test-runtime: setup-runtime ## The tests of the runtime library: real processes, signals and services
	@$(RUNTIME_TESTS) $(ARGS)

test-torch: setup-torch ## The runtime's tests that need PyTorch
	@$(TORCH_PYTHON) -m pytest -c runtime/pyproject.toml --rootdir . -n 2 --dist worksteal -m torch tests/runtime/torch_tier $(ARGS)

chaos: setup-runtime ## The runtime's tests in their long form: more kills, 2,000 messages
	@SPOTPROOF_CHAOS=full $(RUNTIME_TESTS) $(ARGS)

test-fast: setup ## The tests that need no engine and no control plane
	@$(VENV_PYTHON) -m pytest -n 2 --dist worksteal -m 'not engine and not cluster' $(ARGS)

mutate: setup ## Break each rule in turn and see whether a test fails
	@$(VENV_PYTHON) -m tools.mutate $(ARGS)

bench: engine setup-runtime ## Ratios measured side by side, with their goals; about 20 minutes
	@$(VENV_PYTHON) -m bench $(ARGS)

docs: setup ## Write what is generated in README.md and docs/
	@PYTHONPATH=infra $(VENV_PYTHON) -m tools.write_docs

schema: setup ## Write components/schema.json, the package as other languages see it
	@$(VENV_PYTHON) tools/write_schema.py

sdk: setup ## Write the SDK for TypeScript into dist/sdk
	@$(VENV_PYTHON) -m sandbox.sdks nodejs dist/sdk

version: setup ## Show the version of all packages; ARGS=0.2.0 sets it
	@$(VENV_PYTHON) -m tools.set_version $(ARGS)

clean: ## Remove sandboxes and the caches of tools; keep .venv and the engine
	@rm -rf .spotproof/sandbox .spotproof/rehearsal .spotproof/drill .spotproof/cluster .pytest_cache .ruff_cache .hypothesis

distclean: clean ## Remove everything generated, the engine too
	@rm -rf .spotproof .venv runtime/.venv runtime/.venv-torch
