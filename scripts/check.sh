#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: check.sh BUILD [more | TEST...]
# Runs tests of a build folder and prints the totals: tests, cmocka cases, and what was left out and why. The tests are those of
# `make check`; with `more` those that `make check-all` adds, whose programs are built first; or those that are named.
set -u
build=$1
shift
log=testlog
case ${1:-} in
  '') set -- --no-rebuild --no-suite more ;;
  more)
    log=more
    set -- --suite more --logbase more
    ;;
  *) set -- --no-rebuild "$@" ;;
esac
# The limits are those of an idle machine; a busy one takes longer. One more than there are CPUs: some tests wait for daemons,
# ranks or a browser.
meson test -C "$build" --print-errorlogs --num-processes $(($(nproc) + 1)) -t 4 "$@"
status=$?
python3 "$(dirname "$0")/totals.py" "$build/meson-logs/$log.json" || status=1
# What the folder has, whatever is on the PATH by now.
if grep -q '"name": "cuda_train"' "$build/meson-info/intro-targets.json" 2> /dev/null; then
  command -v nvidia-smi > /dev/null 2>&1 || echo "GPU: none here; the CUDA kernels were compiled by nvcc and run on the CPU"
elif grep -q '^cuda=disabled' "$build/set-up-for" 2> /dev/null; then
  echo "GPU: none here; the CUDA kernels' text was run on the CPU. \`make check-all\` compiles them by nvcc, where there is one"
elif grep -q '"name": "cuda", "value": "disabled"' "$build/meson-info/intro-buildoptions.json" 2> /dev/null; then
  echo "CUDA: left out (disabled)"
else
  echo "CUDA: no CUDA toolkit that can be used; libhalfulp-cuda was built without kernels, their text was run on the CPU"
fi
exit $status
