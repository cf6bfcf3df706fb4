#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: native-check.sh BUILD [RECORD]
# Checks what halfulp has of this CPU's own units, in about ten minutes: its instructions against their models, 10^6
# results each (`halfulp probe-hw --device cpu`), and the tests of kernels that run on such instructions at all levels.
# BUILD is a finished build folder. What came out is written to RECORD, by default
# tests/golden/hw/processor-FAMILY-MODEL-YYYY-MM-DD.txt, for a commit. HU_WHO says who runs it. Exit code 1: something
# differs or fails.
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
halfulp=$build/cli/halfulp
name=$("$halfulp" probe-hw --device cpu --samples 1 | sed -n 's/^processor: //p')
kind=$(echo "$name" | sed -n 's/.*family \([0-9]*\), model \([0-9]*\).*/\1-\2/p')
record=${2:-$here/tests/golden/hw/processor-${kind:-$(uname -m)}-$(date +%F).txt}
features=$(grep -m 1 -E '^(flags|Features)' /proc/cpuinfo | tr ' ' '\n' |
  grep -E '^(avx|fma|f16c|amx|bf16|fphp|asimd|i8mm|sve|fp8|f8)' | sort -u | tr '\n' ' ')
status=0
tests="gemm_pairs gemm_short gemm_parts gemm_levels kernels cross-processor proof-hooks"
{
  echo "# The units of a processor, by scripts/native-check.sh."
  echo "processor: $name"
  echo "features: $features"
  echo "version: $("$halfulp" --version | head -1)"
  echo "commit: $(git -C "$here" rev-parse --short HEAD 2> /dev/null || echo unknown)"
  echo "who: ${HU_WHO:-not said}"
  echo "date: $(date +%F)"
  echo "## instructions against their models"
  "$halfulp" probe-hw --device cpu --samples 1000000 || status=1
  echo "## tests"
  for test in $tests; do
    if meson test -C "$build" --no-rebuild "$test" > "$build/native-check.log" 2>&1; then
      echo "$test: $(grep -q ' OK ' "$build/native-check.log" && echo passed || echo left out)"
    else
      echo "$test: failed"
      status=1
    fi
  done
  echo "result: $([ "$status" = 0 ] && echo passed || echo failed)"
} > "$record.part"
mv "$record.part" "$record"
cat "$record"
grep -q '^result: passed$' "$record"
