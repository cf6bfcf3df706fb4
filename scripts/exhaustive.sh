#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the exhaustive campaign of a build folder (-Dexhaustive=true), then its other tests, other programs' conversions once
# more, then most tests under sanitizers, and the quick ones by clang. BUILD/campaign.txt keeps what is done: the same command
# continues after an interrupt.
set -u
build=$1
here=$(dirname "$0")
jobs=${JOBS:-$(nproc)}
python3 "$here/campaign.py" list "$build" > "$build/campaign.list" || exit 1
python3 "$here/campaign.py" sources > "$build/campaign.sources" || exit 1
"$build/cli/halfulp" campaign "$build/campaign.list" --ledger "$build/campaign.txt" --sources "$build/campaign.sources" --jobs "$jobs"
status=$?
[ $status -le 1 ] || exit $status
# The rest: tests that the campaign does not have.
rest=$(meson introspect --tests "$build" | python3 -c 'import json, sys
sys.path.insert(0, sys.argv[1])
import campaign
ran = {row[0] for row in campaign.programs()}
print("\n".join(test["name"] for test in json.load(sys.stdin) if test["name"] not in ran))' "$here")
# shellcheck disable=SC2086
"$here/check.sh" "$build" $rest || status=1
# Other programs' conversions again, on the plain instruction set of each.
NPY_DISABLE_CPU_FEATURES=X86_V3 ATEN_CPU_CAPABILITY=default XLA_FLAGS=--xla_cpu_max_isa=AVX OPENBLAS_CORETYPE=Prescott \
  meson test -C "$build" --no-rebuild --print-errorlogs --suite compat --num-processes "$jobs" -t 4 --logbase plain || status=1
"$here/sanitized.sh" "$build-sanitize" all || status=1
"$here/clang.sh" "$build-clang" all || status=1
exit $status
