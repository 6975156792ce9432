# Every target sets up what it needs in .venv. Outside this folder are only caches: pip's, cargo's, and the content store
# of campaigns (wheels, traces, built artifacts) in the user's cache folder, or where AISIMC_STORE says.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CARGO ?= cargo
RUST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' runner-rust/runner/Cargo.toml)

.PHONY: run test lint format bench clean setup rust
.NOTPARALLEL:

## run: set everything up and run the quickstart campaign on the engine that ships with the project
run: rust $(STAMP)
	$(BIN)/aisimc check specs/quickstart.campaign
	$(BIN)/aisimc run specs/quickstart.campaign

## test: set everything up and pass the tests (Rust, then Python; whole campaigns are among them, so allow some time)
# Campaigns run one after the other: they pin CPUs, measure times, kill what they started and bring up clusters.
test: rust $(STAMP)
	$(CARGO) test --locked --manifest-path runner-rust/Cargo.toml
	$(BIN)/python -m pytest --ignore tests/campaigns -n logical --maxprocesses 4 --dist loadfile
	$(BIN)/python -m pytest tests/campaigns

## lint: formatting, lint and types of both languages
lint: $(STAMP)
	$(BIN)/ruff format --check compiler runtime tests
	$(BIN)/ruff check compiler runtime tests
	$(BIN)/mypy
	$(CARGO) fmt --all --check --manifest-path runner-rust/Cargo.toml
	$(CARGO) clippy --locked --all-targets --manifest-path runner-rust/Cargo.toml -- -D warnings

## format: put both languages in their standard form
format: $(STAMP)
	$(BIN)/ruff check --fix compiler runtime tests
	$(BIN)/ruff format compiler runtime tests
	$(CARGO) fmt --all --manifest-path runner-rust/Cargo.toml

## bench: the measurements kept in tests/benchmarks (slow; nothing is asserted about time)
bench: rust $(STAMP)
	$(BIN)/python -m tests.benchmarks

setup: $(STAMP)

# Asked before anything is installed: that takes a while, and is in vain without a Rust that builds the engine.
rust:
	@lacks=; found=$$($(CARGO) --version 2>/dev/null | cut -d' ' -f2); \
	if [ -z "$$found" ]; then lacks="\`$(CARGO)\` does not run"; \
	elif [ "$$(printf '%s\n' $(RUST) $$found | sort -V | head -n 1)" != "$(RUST)" ]; then lacks="this is $$found"; fi; \
	if [ -n "$$lacks" ]; then \
	  echo "Rust $(RUST) or newer is needed, and $$lacks: get it from https://rustup.rs, then run this again" >&2; exit 1; fi

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) runner-rust/target
