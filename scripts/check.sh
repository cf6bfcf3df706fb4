#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: check.sh BUILD [more | TEST...]
# Runs tests of a build folder and prints the totals: tests, cmocka cases, and what was left out and why. The tests are those of
# `make check`; with `more` those that `make check-all` adds, whose programs are built first; or those that are named.
# HALFULP_CHECK_UNTIL: a time in seconds since 1970. Tests that have not ended by then are left out, which the totals say.
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
limit=
[ -z "${HALFULP_CHECK_UNTIL:-}" ] || limit=$((HALFULP_CHECK_UNTIL - $(date +%s)))
[ "${limit:-1}" -gt 0 ] || limit=1
[ -z "$limit" ] || rm -f "$build/meson-logs/$log.json"
# The limits are those of an idle machine; a busy one takes longer. One more than there are CPUs: some tests wait for daemons,
# ranks or a browser.
${limit:+timeout $limit} meson test -C "$build" --print-errorlogs --num-processes $(($(nproc) + 1)) -t 4 "$@"
status=$?
results=$build/meson-logs/$log.json
if [ "$limit" ] && [ $status -eq 124 ]; then
  # Out of time is no failure: whether a test failed before is what the totals say. There are no results if it was building.
  status=0
  [ -e "$results" ] || : > "$results"
fi
ended=$(grep -vc '"result": "INTERRUPT"' "$results")
if [ -z "$limit" ] || [ "$ended" -gt 0 ]; then
  python3 "$(dirname "$0")/totals.py" "$results" || status=1
fi
if [ "$limit" ]; then
  all=$(meson test -C "$build" --no-rebuild --list "$@" 2> /dev/null | wc -l)
  [ "$all" -le "$ended" ] || echo "left out for want of time: $((all - ended)) of $all tests"
fi
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
