# Drivelab: build, check, demonstrate.  `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
UV := .tools/uv/bin/uv
UV_VERSION := 0.13.8
export UV_PROJECT_ENVIRONMENT := .venv

.PHONY: help build
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

$(UV):
	$(PYTHON) -m venv .tools/uv
	.tools/uv/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

build: $(UV) ## the command, at .venv/bin/drivelab
	$(UV) sync --locked --quiet
