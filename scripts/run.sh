#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: run.sh BUILD JOBS [MESON-ARGUMENT...]
# The main job from nothing: sets BUILD up, builds what the job needs and no more (no tests, no benchmarks; of the levels of
# vector instructions this processor's best alone; CUDA's kernels only where there is a GPU, and for it alone), and runs
# it. What else there is `make` and `make check` build.
set -eu
build=$1
jobs=$2
shift 2
here=$(dirname "$0")

[ -f "$build/build.ninja" ] || echo "halfulp: looking at compilers and libraries (some ten seconds)"
mkdir -p "$build"
"$here/build_folder.sh" "$build" run "$@" > "$build/setup.log" 2>&1 || { cat "$build/setup.log" >&2; exit 1; }
if [ -n "$("$here/gpu_arch.sh")" ]; then
  echo "halfulp: building the command, its CUDA kernels for this GPU, and the same kernels for the CPU (some minutes on two cores)"
  targets='cli/halfulp cli/halfulp-hostrun'
else
  echo "halfulp: building the command, with its CUDA kernels compiled for the CPU (a minute and a half on two cores)"
  targets=cli/halfulp-hostrun
  HALFULP_RUN=halfulp-hostrun
  export HALFULP_RUN
fi
ninja -C "$build" -j "$jobs" $targets
# Under the name that the pages use, until `make` builds the one with CUDA's kernels in its place.
if [ ! -e "$build/cli/halfulp" ]; then
  mkdir -p "$build/cli"
  ln -sf halfulp-hostrun "$build/cli/halfulp"
fi
exec "$here/run-demo.sh" "$build"
