#!/bin/sh
# SPDX-License-Identifier: MIT
# All benchmarks of a build folder into bench/results, then the tables of bench/README.md. QUICK=1, RUNS=, ONLY= (Makefile);
# a run that was stopped goes on. A quiet machine, please.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$1
set -- ${QUICK:+--quick} ${RUNS:+--runs "$RUNS"}
for program in ${ONLY:-}; do
  set -- "$@" --only "$program"
done
python3 "$here/bench/measure.py" "$build" "$@"
python3 "$here/bench/tables.py"
