# Two commands matter: `make dashboard` and `make test`. Each sets everything up first; later calls start at once.
PYTHON ?= $(shell command -v python3 || command -v python)
ifeq ($(OS),Windows_NT)
VENV_PYTHON := .venv/Scripts/python.exe
else
VENV_PYTHON := .venv/bin/python
endif

.PHONY: help setup dashboard lab test quick drills bench imports notebooks book course runs lock audit clean
.DEFAULT_GOAL := help

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do printf '  make %-10s  %s\n' "$$name" "$$text"; done

setup:  ## create .venv and install the lock
	@$(PYTHON) -m labkit setup

dashboard: setup  ## open the dashboard in a browser
	@$(VENV_PYTHON) -m labkit dashboard

lab: setup  ## open JupyterLab on the notebooks
	@$(VENV_PYTHON) -m labkit lab

test: setup  ## format, lint, type and test everything
	@$(VENV_PYTHON) -m labkit test

quick: setup  ## format, lint, type and the tests that take a minute
	@$(VENV_PYTHON) -m labkit test --quick

drills: setup  ## break files, disks and processes on purpose, in full, and count what is lost
	@$(VENV_PYTHON) -m tests.reliability --full

bench: setup  ## measure speed and memory side by side with peers
	@$(VENV_PYTHON) -m labkit bench

imports: setup  ## draw which room imports which, for CONTRIBUTING
	@$(VENV_PYTHON) -m benchmarks.imports

notebooks: setup  ## execute the lessons and write them with their outputs
	@$(VENV_PYTHON) -m labkit notebooks

book: setup  ## write the lessons as HTML pages that work from a file
	@$(VENV_PYTHON) -m labkit book

course: setup  ## set up an nbgrader course with the assignments in course/
	@$(VENV_PYTHON) -m labkit course init course

runs: setup  ## train the recorded runs that are missing (hours)
	@$(VENV_PYTHON) data/runs/record.py

lock: setup  ## resolve pyproject.toml anew into requirements.txt
	@$(VENV_PYTHON) -m piptools compile --quiet --upgrade --strip-extras --extra dev --all-build-deps --allow-unsafe \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options --resolver=backtracking \
	  --output-file requirements.txt pyproject.toml
	@sed -i.old 's/^torch==\([0-9.]*\)+.*/torch==\1/' requirements.txt && rm requirements.txt.old  # one pin for CPU and CUDA builds

audit: setup  ## compare the lock with saved advisories: make audit FILE=all.zip
	@$(VENV_PYTHON) -m labkit audit "$(FILE)"

clean:  ## remove .venv and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
