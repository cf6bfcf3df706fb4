#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: clang.sh FOLDER [all|SANITIZED]
# clang reads every source without a warning, in FOLDER; SANITIZED is a folder of sanitized.sh, and what clang has compiled there is
# not read again. With `all`, which `make check-exhaustive` has, it reads everything and compiles the library with
# -O2, every automatic variable filled with NaN, so that a value which nothing has written shows, and the quick tests pass under a
# German locale. (The sanitizers' build is clang's, too.)
set -euo pipefail
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
"$here/setup.sh" clang || command -v clang > /dev/null
mkdir -p "$folder"
test -f "$folder/build.ninja" || CC=clang CXX=clang++ meson setup "$folder" -Dwerror=true -Dcuda=disabled -Dbench=enabled -Dplanted=false \
  -Doptimization=2 -Dc_args=-ftrivial-auto-var-init=pattern -Dcpp_args=-ftrivial-auto-var-init=pattern > "$folder/setup.log" ||
  { cat "$folder/setup.log"; exit 1; }
compiled=${2:-all}
[ "$compiled" != all ] || compiled=
python3 -B "$here/compiler_reads.py" "$folder" ${compiled:+"$compiled"}
if [ "${2:-}" = all ]; then
  mkdir -p "$folder/locale"
  localedef -i de_DE -f UTF-8 "$folder/locale/de_DE.UTF-8"
  LOCPATH="$(cd "$folder" && pwd)/locale" LC_ALL=de_DE.UTF-8 \
    meson test -C "$folder" --print-errorlogs --suite unit --no-suite cuda --num-processes "$(nproc)" -t 4
fi
