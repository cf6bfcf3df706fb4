# SPDX-License-Identifier: MIT
# Thin: each target sets up what it needs, then hands over to meson. Quick the second time.
BUILD ?= build
MESON_ARGS ?=
JOBS ?= $(shell nproc)

.PHONY: all run check check-exhaustive bench bench-torch gpu-check install setup bench-setup clean

all: setup
	ninja -C $(BUILD) -j $(JOBS)

setup:
	@scripts/setup.sh meson ninja-build gcc g++ pkg-config libmpfr-dev libgmp-dev libcmocka-dev libjansson-dev libinih-dev librandom123-dev
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) -Dwerror=true $(MESON_ARGS)

run: all
	@scripts/run-demo.sh $(BUILD)

check: all
	@scripts/check.sh $(BUILD)

check-exhaustive: setup
	@test -f $(BUILD)-exhaustive/build.ninja || meson setup $(BUILD)-exhaustive -Dexhaustive=true -Dwerror=true $(MESON_ARGS)
	ninja -C $(BUILD)-exhaustive -j $(JOBS)
	@scripts/check.sh $(BUILD)-exhaustive

bench-setup:
	@scripts/setup.sh libopenblas-dev

bench: bench-setup setup
	@meson setup --reconfigure $(BUILD) > $(BUILD)/reconfigure.log || { cat $(BUILD)/reconfigure.log >&2; exit 1; }
	@ninja -C $(BUILD) -j $(JOBS) --quiet
	@scripts/bench.sh $(BUILD)

# The training engine against PyTorch on the CPU.
THREADS ?= 1
bench-torch: setup
	@scripts/setup.sh python3-torch
	@ninja -C $(BUILD) -j $(JOBS) --quiet bench/bench_train
	@/usr/bin/python3 bench/compare_torch.py $(BUILD) --threads $(THREADS)

gpu-check:
	@scripts/gpu-check.sh

install: all
	meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-exhaustive
