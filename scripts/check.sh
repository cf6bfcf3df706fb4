#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests of a build folder, all or those named behind it, and prints the totals: tests, cmocka cases, and what was left
# out and why.
set -u
build=$1
shift
# The limits are those of an idle machine; a busy one takes longer. One more than there are CPUs: some tests wait for daemons,
# ranks or a browser.
meson test -C "$build" --print-errorlogs --no-rebuild --num-processes $(($(nproc) + 1)) -t 4 "$@"
status=$?
python3 "$(dirname "$0")/totals.py" "$build/meson-logs/testlog.json" || status=1
# What the folder has, whatever is on the PATH by now.
if grep -q '"name": "cuda_train"' "$build/meson-info/intro-targets.json" 2> /dev/null; then
  command -v nvidia-smi > /dev/null 2>&1 || echo "GPU: none here; the CUDA kernels were compiled by nvcc and run on the CPU"
elif grep -q '"name": "cuda", "value": "disabled"' "$build/meson-info/intro-buildoptions.json" 2> /dev/null; then
  echo "CUDA: left out (disabled)"
else
  echo "CUDA: no CUDA toolkit that can be used; libhalfulp-cuda was built without kernels, their text was run on the CPU"
fi
exit $status
