# SPDX-License-Identifier: MIT
# Thin: each target sets up what it needs, then hands over to meson. Quick the second time.
BUILD ?= build
MESON_ARGS ?=
JOBS ?= $(shell nproc)

.PHONY: all run check check-all check-more check-setup packages setup-packages check-exhaustive check-mutants check-emulated bench bench-torch bench-torch-calls bench-peers gpu-check quantizer-probe docs wheel deb abi-check reproducible install setup bench-setup clean

all: setup
	ninja -C $(BUILD) -j $(JOBS)

# dpkg-dev: without it meson installs into lib64, where neither Debian's linker nor its pkg-config looks.
SETUP_PACKAGES = meson ninja-build gcc g++ dpkg-dev pkg-config libmpfr-dev libgmp-dev libcmocka-dev libjansson-dev libinih-dev \
  librandom123-dev
# What the folder is to hold (scripts/build_folder.sh): kernels for all architectures, but where tests and benchmarks ask.
FOR = all
setup:
	@scripts/setup.sh $(SETUP_PACKAGES)
	@scripts/build_folder.sh $(BUILD) $(FOR) $(MESON_ARGS)

# Builds what the main job needs and no more.
run:
	@scripts/setup.sh $(SETUP_PACKAGES)
	@scripts/run.sh $(BUILD) $(JOBS) $(MESON_ARGS)

# What tests use beyond the build. A test whose package cannot be had is left out, and the totals say so.
CHECK_PACKAGES ?= codespell valgrind verilator iverilog libsystemc-dev cmake doxygen groff man-db python3-venv mandoc python3-pygments \
  emscripten chromium chromium-driver python3-selenium libopenmpi-dev openmpi-bin libmpich-dev mpich slurmctld slurmd slurm-client gappa sollya clang

# All packages of `make run` and `make check`, for a user who may install them on behalf of one who may not.
packages: setup-packages
	@scripts/setup.sh $(CHECK_PACKAGES)

setup-packages:
	@scripts/setup.sh $(SETUP_PACKAGES)

check-setup:
	@scripts/check_setup.sh $(BUILD) $(CHECK_PACKAGES)

# After the packages, since meson looks for programs when it sets up.
check: check-setup
	@$(MAKE) --no-print-directory all FOR=check
	@scripts/check.sh $(BUILD)

# What `make check` leaves out (CONTRIBUTING.md says what that is), alone and with it.
check-more: check-setup
	@$(MAKE) --no-print-directory all FOR=more
	@scripts/check.sh $(BUILD) more

check-all: check
	@$(MAKE) --no-print-directory check-more

check-exhaustive: setup-packages
	@scripts/check_setup.sh $(BUILD)-exhaustive $(CHECK_PACKAGES)
	@test -f $(BUILD)-exhaustive/build.ninja || meson setup $(BUILD)-exhaustive -Dexhaustive=true -Dwerror=true $(MESON_ARGS)
	ninja -C $(BUILD)-exhaustive -j $(JOBS)
	@scripts/exhaustive.sh $(BUILD)-exhaustive

# Random wrong lines in a copy of the tree, and whether the nearest tests notice them: hours. SEED=, COUNT=, ONLY=emu/gemm,
# AT=file:line:operator (one of them), AGAIN=1 (the survivors), LEDGER=. A run that was stopped goes on where it was (CONTRIBUTING.md).
MUTANT_OPTIONS = $(if $(SEED),--seed '$(SEED)') $(if $(COUNT),--count '$(COUNT)') $(if $(ONLY),--only '$(ONLY)') \
  $(if $(AT),--at '$(AT)') $(if $(AGAIN),--again) $(if $(LEDGER),--ledger '$(LEDGER)')
check-mutants:
	@scripts/setup.sh $(SETUP_PACKAGES)
	@python3 -B tests/mutants/check_mutants.py . $(BUILD)-mutants --jobs $(JOBS) $(MUTANT_OPTIONS)

# The library's cmocka suites on another machine under QEMU: hours. MACHINE=aarch64 or riscv64; SUITES= some of them. A run that was
# stopped goes on.
MACHINE ?= aarch64
check-emulated:
	@scripts/setup.sh $(SETUP_PACKAGES)
	@JOBS=$(JOBS) scripts/emulated.sh $(MACHINE) $(BUILD)-$(MACHINE) $(SUITES)

bench-setup:
	@scripts/setup.sh libopenblas-dev

bench bench-torch bench-torch-calls bench-peers: FOR = check

# QUICK=1: minutes. RUNS=3 of each; ONLY="bench_array bench_gemm". A run that was stopped goes on. Builds the benchmarks alone.
bench: bench-setup setup
	@meson setup --reconfigure $(BUILD) > $(BUILD)/reconfigure.log || { cat $(BUILD)/reconfigure.log >&2; exit 1; }
	@ninja -C $(BUILD) -j $(JOBS) --quiet $$(ninja -C $(BUILD) -t targets all | \
	  sed -n 's!^\(bench/bench_[a-z0-9_]*\): c_LINKER$$!\1!p' | grep -v two_files)
	@QUICK='$(QUICK)' RUNS='$(RUNS)' ONLY='$(ONLY)' scripts/bench.sh $(BUILD)

# The training engine against PyTorch on the CPU.
THREADS ?= 1
bench-torch: setup
	@scripts/python_env.sh $(BUILD) torch
	@ninja -C $(BUILD) -j $(JOBS) --quiet bench/bench_train
	@$(BUILD)/venv/bin/python bench/compare_torch.py $(BUILD) --threads $(THREADS)

# Calls of halfulp.torch beside those of PyTorch, torchao and QPyTorch.
bench-torch-calls: setup
	@scripts/python_env.sh $(BUILD) torch
	@ninja -C $(BUILD) -j $(JOBS) --quiet $$(ninja -C $(BUILD) -t targets all | \
	  sed -n 's!^\(\(emu\|train\)/libhalfulp[a-z-]*\.so[.0-9]*\): .*_LINKER.*$$!\1!p')
	@HALFULP_LIBRARY=$(BUILD) $(BUILD)/venv/bin/python -B bench/bench_torch_calls.py --threads $(THREADS)

# Other libraries on the same work (bench/peers/README.md). CPFLOAT=, SOFTFLOAT=, TESTFLOAT= folders of your own; else git fetches
# them. MICROXCALING= a clone, for the table of one job.
bench-peers: setup
	@scripts/python_env.sh $(BUILD) torch || echo "halfulp: without Python packages"
	@ninja -C $(BUILD) -j $(JOBS) --quiet $$(ninja -C $(BUILD) -t targets all | \
	  sed -n 's!^\(\(emu\|train\)/libhalfulp[a-z-]*\.so[.0-9]*\): .*_LINKER.*$$!\1!p') cli/halfulp
	@CPFLOAT='$(CPFLOAT)' SOFTFLOAT='$(SOFTFLOAT)' TESTFLOAT='$(TESTFLOAT)' python3 -B bench/peers/peers.py $(BUILD)
	@MICROXCALING='$(MICROXCALING)' $(BUILD)/venv/bin/python -B bench/peers/job.py $(BUILD)

gpu-check:
	@scripts/gpu-check.sh

# Blocks that tell the rules of quantizers apart, and what each makes of them: BUILD/quantizer-probe.npy and .csv.
quantizer-probe: setup
	@ninja -C $(BUILD) -j $(JOBS) --quiet tests/scaled/quantizer_probe
	@$(BUILD)/tests/scaled/quantizer_probe $(BUILD)

# The documentation as a site: BUILD/docs/html/index.html.
docs:
	@scripts/setup.sh $(SETUP_PACKAGES) doxygen mandoc python3-pygments python3
	@scripts/setup.sh emscripten || echo "halfulp: the site is made without the playground"
	@scripts/docs.sh $(BUILD) $(JOBS) $(MESON_ARGS)

install: all
	meson install -C $(BUILD)

# The Python package as wheels for every Linux with glibc 2.17 or newer: $(BUILD)/wheel/*.whl. MACHINES= one of them.
MACHINES ?= x86_64 aarch64
wheel:
	@scripts/setup.sh $(SETUP_PACKAGES) python3-venv
	@JOBS=$(JOBS) scripts/packages/wheels.sh $(BUILD) $(MACHINES)

# The Debian packages: $(BUILD)/deb/*.deb.
deb:
	@JOBS=$(JOBS) scripts/packages/deb.sh $(BUILD)/deb

# Whether programs that are linked with the last tag, or with the commit that AGAINST names, run with this version. UPDATE=1 writes
# the list of public symbols again (debian/libhalfulp0.symbols).
abi-check:
	@scripts/setup.sh abigail-tools gcc libgmp-dev libmpfr-dev
	@JOBS=$(JOBS) scripts/packages/abi.py $(BUILD) $(if $(UPDATE),--update) $(if $(AGAINST),--against $(AGAINST))

# Whether two builds, in other folders, give the same packages and wheels.
reproducible:
	@scripts/packages/check.sh $(BUILD) reproducible

clean:
	rm -rf $(BUILD) $(BUILD)-exhaustive $(BUILD)-exhaustive-sanitize $(BUILD)-exhaustive-clang $(BUILD)-mutants $(BUILD)-aarch64 $(BUILD)-riscv64
