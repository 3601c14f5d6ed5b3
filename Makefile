# Drivelab: build, check, demonstrate.  `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
UV := .tools/uv/bin/uv
UV_VERSION := 0.13.8
DEMO_RUN := runs/demo
FIRMWARE_PROGRAMS := python/drivelab/firmware/programs
WHAT_IF := python/drivelab/report/programs
PROCESSORS := x86_64 aarch64
THIS_PROCESSOR := $(shell uname -m)
MATURIN = $(UV) tool run --quiet --from 'maturin>=1.9,<2' maturin
SYSTEM_PACKAGES := fio chromium e2fsprogs poppler-utils util-linux libnbd-bin qemu-utils rocksdb-tools \
	qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross llvm openssh-client openssh-server

# rustup puts cargo where only the next login shell looks.
export PATH := $(HOME)/.cargo/bin:$(PATH)
export UV_PROJECT_ENVIRONMENT := .venv
export UV_PYTHON := $(PYTHON)
export UV_PYTHON_DOWNLOADS := never
# Else whoever runs first compiles numpy and the like, and where nothing may be kept everybody does.
export UV_COMPILE_BYTECODE := 1
CARGO := PYO3_PYTHON='$(CURDIR)/.venv/bin/python' cargo

define section
	@printf '\n=== %s\n' '$(1)'
endef

.PHONY: help prerequisites build demo firmware what-if firmware-model test check lint rust-check python-check rust-test \
	python-test test-faults \
	validate reference-results bench docs cross-compilers qemu-plugins wheel system-packages clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

prerequisites:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "Drivelab needs Python 3.11 or later as $(PYTHON) (make PYTHON=python3.12 ... names another)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "$(PYTHON) lacks venv; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@command -v cargo >/dev/null \
		|| { echo "Drivelab needs Rust 1.88 or later; get it from https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null \
		|| { echo "Drivelab needs a C compiler; on Debian: apt-get install gcc" >&2; exit 1; }

$(UV): | prerequisites
	@echo "fetching uv $(UV_VERSION) into .tools/uv"
	@$(PYTHON) -m venv --clear .tools/uv
	@.tools/uv/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

# All that compiling needs of it.
.venv/bin/python: | $(UV)
	@$(UV) venv --quiet --allow-existing

build: $(UV) ## the command, at .venv/bin/drivelab
	@echo "building .venv (some minutes the first time)"
	@$(UV) sync --locked --quiet

demo: build ## the main job on sim:x25m: measure, model, report
	@rm -rf $(DEMO_RUN)
	.venv/bin/drivelab model sim:x25m --measurements 300 --out $(DEMO_RUN)

# Static and at fixed addresses: what an emulator counts depends on nothing but the program.
# What a firmware of one's own is linked with keeps no name but a program's and the marks'.
firmware: ## the firmware program for x86-64 and the target, aarch64, and qemu's plugin, into the package
	@for tool in x86_64-linux-gnu-objcopy aarch64-linux-gnu-gcc aarch64-linux-gnu-objcopy; do \
		command -v $$tool >/dev/null \
			|| { echo "make firmware needs $$tool: sudo make system-packages" >&2; exit 1; }; done
	@rustup target list --installed 2>/dev/null | grep -q aarch64-unknown-linux-gnu \
		|| rustup target add aarch64-unknown-linux-gnu
	@mkdir -p $(FIRMWARE_PROGRAMS)
	@for processor in x86_64 aarch64; do \
		target=$$processor-unknown-linux-gnu; \
		cpu=$$([ $$processor = x86_64 ] && echo x86-64 || echo cortex-a53); \
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
		RUSTFLAGS="-C target-cpu=$$cpu -C target-feature=+crt-static -C relocation-model=static" \
			cargo build --quiet --release --locked -p drivelab-firmware -p drivelab-own-firmware \
			--target $$target || exit 1; \
		built=$${CARGO_TARGET_DIR:-target}/$$target/release; \
		cp $$built/drivelab-firmware $(FIRMWARE_PROGRAMS)/drivelab-firmware-$$processor || exit 1; \
		own=$(FIRMWARE_PROGRAMS)/own-firmware-$$processor.o; \
		$$processor-linux-gnu-ld -r -u main -e main --gc-sections -o $$own \
			$$built/libdrivelab_own_firmware.a || exit 1; \
		$$processor-linux-gnu-objcopy --strip-debug --keep-global-symbol=main \
			--keep-global-symbol=drivelab_mark --keep-global-symbol=DRIVELAB_MARKS $$own || exit 1; \
	done
	@cp crates/own-firmware/link.c $(FIRMWARE_PROGRAMS)/own-firmware-link.c
	@cp crates/ftl/include/drivelab_firmware.h $(FIRMWARE_PROGRAMS)/
	@cargo build --quiet --release --locked -p drivelab-qemu
	@cp $${CARGO_TARGET_DIR:-target}/release/libdrivelab_qemu.so \
		$(FIRMWARE_PROGRAMS)/libdrivelab_qemu-$(THIS_PROCESSOR).so
	@ls $(FIRMWARE_PROGRAMS)/*drivelab* $(FIRMWARE_PROGRAMS)/own*.o

# Without names and times: the same sources give the same file.
what-if: prerequisites ## the simulator as WebAssembly, for the page of `drivelab whatif`, into the package
	@rustup target list --installed 2>/dev/null | grep -q wasm32-unknown-unknown \
		|| rustup target add wasm32-unknown-unknown
	@mkdir -p $(WHAT_IF)
	@cargo build --quiet --profile what-if --locked -p drivelab-what-if --target wasm32-unknown-unknown
	@gzip -9nc $${CARGO_TARGET_DIR:-target}/wasm32-unknown-unknown/what-if/drivelab_what_if.wasm \
		>$(WHAT_IF)/what-if.wasm.gz.part
	@mv $(WHAT_IF)/what-if.wasm.gz.part $(WHAT_IF)/what-if.wasm.gz
	@ls -l $(WHAT_IF)/what-if.wasm.gz

# Of the usual drive and target; `--force` because the file came with the checkout.
firmware-model: build firmware ## profile the fifteen workloads, and train the package's model of firmware
	.venv/bin/drivelab firmware profile lee2021 --out runs/firmware-model
	.venv/bin/drivelab firmware train runs/firmware-model --force \
		--out python/drivelab/firmware_model/shipped/page-map.json

cross-compilers: | $(UV)
	@for processor in $(PROCESSORS); do \
		target=$$processor-unknown-linux-gnu; \
		command -v $$processor-linux-gnu-gcc >/dev/null \
			|| { echo "make wheel needs $$processor-linux-gnu-gcc: sudo make system-packages" >&2; exit 1; }; \
		[ $$processor = $(THIS_PROCESSOR) ] \
			|| rustup target list --installed 2>/dev/null | grep $$target >/dev/null \
			|| rustup target add $$target >/dev/null 2>&1 \
			|| { echo "make wheel needs Rust's target $$target: rustup target add $$target" >&2; exit 1; }; \
	done

# The emulator of either machine loads its own, so a wheel for any of them has them all.
qemu-plugins: firmware
	@for processor in $(PROCESSORS); do \
		[ $$processor != $(THIS_PROCESSOR) ] || continue; \
		target=$$processor-unknown-linux-gnu; \
		env CARGO_TARGET_$$(echo $${target^^} | tr - _)_LINKER=$$processor-linux-gnu-gcc \
			cargo build --quiet --release --locked -p drivelab-qemu --target $$target || exit 1; \
		cp $${CARGO_TARGET_DIR:-target}/$$target/release/libdrivelab_qemu.so \
			$(FIRMWARE_PROGRAMS)/libdrivelab_qemu-$$processor.so || exit 1; \
	done

# This machine's is tried. Of the others it is checked that they hold the same, for their processor.
wheel: cross-compilers build qemu-plugins what-if ## wheels for x86-64 and aarch64 in dist/, checked; this machine's is also tried
	@rm -rf dist .tools/wheel
	.venv/bin/python -m manual.man_pages --commands
	.venv/bin/python -m manual.json_schemas wheel-data/data/share/drivelab/schemas
	@for processor in $(PROCESSORS); do \
		target=$$processor-unknown-linux-gnu; \
		echo "building the wheel for $$processor (some minutes the first time)"; \
		env CARGO_TARGET_$$(echo $${target^^} | tr - _)_LINKER=$$processor-linux-gnu-gcc \
			$(MATURIN) build --quiet --locked --interpreter .venv/bin/python --out dist \
			$$([ $$processor = $(THIS_PROCESSOR) ] || echo --target $$target) || exit 1; \
	done
	@.venv/bin/python -m manual.wheel_contents dist/*.whl
	@$(UV) venv --quiet .tools/wheel
	@$(UV) pip install --quiet --python .tools/wheel/bin/python dist/*_$(THIS_PROCESSOR).whl
	@ls .tools/wheel/share/man/man1/drivelab.1 .tools/wheel/share/drivelab/schemas/measure.schema.json
	@.tools/wheel/bin/drivelab whatif --out .tools/wheel/what-if.html
	@cd .tools/wheel && bin/drivelab --version && bin/drivelab measure sim:x25m --json >/dev/null \
		&& bin/drivelab model sim:x25m --design huang2011:30 --check 0 --no-sweeps --out run >/dev/null \
		&& bin/drivelab report run >/dev/null && bin/python -c 'import drivelab as dl; dl.fit(dl.Run("run"))'
	@ls -l dist/*.whl

test: check rust-test python-test ## set up everything and run every check

check: rust-check python-check ## formatters, linters and types; warnings are errors

lint: check

# Clippy in the tests' profile: what runs while others compile, C code too, is built once for both.
rust-check: | .venv/bin/python
	$(call section,Rust: format)
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
	cargo fmt --all --check
	$(call section,Rust: clippy)
	$(CARGO) clippy --quiet --locked --workspace --all-targets --profile test -- -D warnings

python-check: build
	$(call section,Python: lint and format)
	.venv/bin/ruff check --quiet
	.venv/bin/ruff format --quiet --check
	$(call section,Python: types)
	.venv/bin/mypy

rust-test: | .venv/bin/python ## the Rust tests
	@rustup target list --installed 2>/dev/null | grep -q aarch64-unknown-linux-gnu \
		|| rustup target add aarch64-unknown-linux-gnu || true
	$(call section,Rust: tests)
	$(CARGO) test --quiet --locked --workspace

python-test: build firmware what-if ## the Python tests
	$(call section,Python: tests)
	.venv/bin/pytest -q -n auto --dist worksteal

test-faults: build ## kills, full disks, five minutes of fuzzing and other long tests
	@$(UV) sync --locked --quiet --group fuzz --group cluster
	.venv/bin/pytest -q -m 'faults or long'

docs: build what-if ## the documentation as a site, to be opened at target/site/html/index.html
	.venv/bin/python -m manual.site

validate: build ## run what Drivelab claims and write VALIDATION.md
	@$(UV) sync --locked --quiet --group fuzz
	.venv/bin/python -m validation

reference-results: build ## the results that `pts compare` compares drives with: PRESETS="...", or all up to 128 GB
	.venv/bin/python -m validation.reference_results $(PRESETS)

bench: build ## the benchmarks
	$(CARGO) bench --locked --workspace
	.venv/bin/python benches/boosted_trees.py
	.venv/bin/python benches/linear_leaf_tree.py
	.venv/bin/python benches/kriging.py 300
	.venv/bin/python benches/predicted_file.py
	.venv/bin/python benches/simulate_command.py
	.venv/bin/python benches/fio_iolog.py
	.venv/bin/python benches/live_drive.py

system-packages: ## fio, a browser, qemu-user and the like, for the tests that need them (root)
	@missing=; for tool in fio chromium mkfs.ext4 losetup pdftotext nbdcopy qemu-io db_bench \
		qemu-x86_64 aarch64-linux-gnu-gcc llvm-mca ssh; do \
		command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	[ -x /usr/sbin/sshd ] || missing="$$missing sshd"; \
	[ -e /usr/aarch64-linux-gnu/lib/libc.a ] || missing="$$missing libc6-dev-arm64-cross"; \
	if [ -z "$$missing" ]; then echo "system packages: all here"; exit 0; fi; \
	if ! command -v apt-get >/dev/null; then \
		echo "no apt-get here: install$$missing with this system's package manager" >&2; exit 1; fi; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "installing$$missing needs root: sudo make system-packages" >&2; exit 1; fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get update -qq && apt-get install -y -qq --no-install-recommends $(SYSTEM_PACKAGES) >/dev/null

clean: ## remove what was built (runs/ stays)
	rm -rf target dist .venv .tools .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python tests -name __pycache__ -prune -exec rm -rf {} +
	find python -name '*.so' -delete
	rm -rf $(FIRMWARE_PROGRAMS) $(WHAT_IF)
