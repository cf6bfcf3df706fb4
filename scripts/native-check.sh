#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: native-check.sh BUILD [RECORD]
# Checks what halfulp has of this CPU's own units, in about ten minutes: its instructions against their models, 10^6
# results each (`halfulp verify --only instructions`), and the tests of kernels that run on such instructions at all levels.
# BUILD is a finished build folder. On a CPU whose units no record has yet (tests/golden/hw), set it up with
# -Dunconfirmed_units=true: without that option its kernels for them are off. With -Dbench=enabled, too, the script
# measures what runs on these units: products, and arithmetic over arrays of binary16; and arrays and tensors in both
# orders of addresses (HU_LEVEL_STREAMS).
# What came out is written to RECORD, by default tests/golden/hw/processor-FAMILY-MODEL-YYYY-MM-DD.txt, for a commit;
# times, which are no facts about numbers, into BUILD/native-check-times.csv. Only the two orders' times are in the
# record, too, since they alone decide which one a processor is given. HU_WHO says who runs it. Exit code 1: something
# differs or fails.
set -uo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
halfulp=$build/cli/halfulp
name=$("$halfulp" verify --only instructions --samples 1 | sed -n 's/^processor: //p')
kind=$(echo "$name" | sed -n 's/.*family \([0-9]*\), model \([0-9]*\).*/\1-\2/p')
record=${2:-$here/tests/golden/hw/processor-${kind:-$(uname -m)}-$(date +%F).txt}
features=$(grep -m 1 -E '^(flags|Features)' /proc/cpuinfo | tr ' ' '\n' |
  grep -E '^(avx|fma|f16c|amx|bf16|fphp|asimd|i8mm|sve|fp8|f8)' | sort -u | tr '\n' ' ')
option=$(meson introspect --buildoptions "$build" |
  python3 -c 'import json, sys; print(*[o["value"] for o in json.load(sys.stdin) if o["name"] == "unconfirmed_units"])')
log=$build/native-check.log
status=0
tests="gemm_pairs gemm_short gemm_parts gemm_half arith-half gemm_levels gemm_seq gemm_models walk streams cross-processor proof-hooks"
orders=$build/native-check-orders.csv
# Rows of large arrays at the levels that have both orders, each in a run of both.
order_rows() {
  : > "$orders.all"
  for level in avx512 avx2; do
    if [ $level = avx512 ] && ! grep -qw avx512f /proc/cpuinfo; then continue; fi
    for name in array scaled s2fp8; do
      "$build/bench/bench_$name" --csv --log2 24 --rounds 3 --level $level --order streams > "$orders.one" || return 1
      sed "s/^\"/\"$name: /" "$orders.one" >> "$orders.all"
    done
  done
  awk '!seen[$0]++' "$orders.all" > "$orders"
}
order_lines() {
  python3 - "$orders" << 'END'
import csv
import sys
figures = {(r['row'], r['level'], r['unit']): float(r['figure']) for r in csv.DictReader(open(sys.argv[1]))}
linear = ('scaled: decode', 's2fp8: sum', 's2fp8: decode') # no order changes them
for (row, level, unit), ratio in figures.items():
    if unit == 'streams / linear' and ' in L2' not in row and not row.startswith(linear):
        ns = [figures[row, level, 'ns ' + order] for order in ('linear', 'streams')]
        print('{}, {}: linear {:.3f} ns, streams {:.3f} ns, {:.2f}'.format(row, level, *ns, ratio))
sys.exit(not any(unit == 'streams / linear' for row, level, unit in figures))
END
}
{
  echo "# The units of a processor, by scripts/native-check.sh."
  echo "processor: $name"
  echo "features: $features"
  echo "version: $("$halfulp" --version | head -1)"
  echo "commit: $(git -C "$here" rev-parse --short HEAD 2> /dev/null || echo unknown)"
  echo "who: ${HU_WHO:-not said}"
  echo "date: $(date +%F)"
  echo "unconfirmed_units: $option"
  echo "## instructions against their models"
  "$halfulp" verify --only instructions --samples 1000000 --golden "$here/tests/golden" |
    sed "s|^golden vectors: $here/|golden vectors: |" || status=1
  echo "## tests"
  for test in $tests; do
    if meson test -C "$build" --no-rebuild -v "$test" > "$log" 2>&1; then
      echo "$test: $(grep -qE '^ *[0-9]+/[0-9]+ .* OK ' "$log" && echo passed || echo left out)"
    else
      echo "$test: failed"
      status=1
    fi
    # Which units the kernels of this build have here.
    grep -hoE '(gemm|arith) [a-z]+: .*(is|are|tiles) (there|not there|too|not).*' "$log" | sort -u | sed 's/^/  /'
  done
  if [ -x "$build/bench/bench_array" ]; then
    echo "## order of addresses"
    order_rows && order_lines || { echo "a benchmark failed"; status=1; }
  fi
  echo "result: $([ "$status" = 0 ] && echo passed || echo failed)"
} > "$record.part"
mv "$record.part" "$record"
cat "$record"
if [ -x "$build/bench/bench_gemm" ]; then
  for way in bytes halves intel. 'seq(binary16)' 'seq2(binary16)' 'kahan(binary16)' 'pairwise(binary16' 'chunk(64,binary16' \
    'splitk(4,seq(binary16)'; do
    OPENBLAS_NUM_THREADS=1 "$build/bench/bench_gemm" --csv --only "$way"
  done | awk '!seen[$0]++' > "$build/native-check-times.csv"
  "$build/bench/bench_arith" --csv | grep binary16 >> "$build/native-check-times.csv"
  cat "$build/native-check-times.csv"
fi
grep -q '^result: passed$' "$record"
