#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: asks.sh FOLDER
# Whether each source of the library that rounds asks what the proofs suppose (tests/proof/callers/supposed.h) in the build
# that sanitized.sh has made in FOLDER: a source that calls hui_round has an object with the words that a call gives.
set -euo pipefail
folder=$1
cd "$(dirname "$0")/.."
asking=0 silent=""
while read -r source; do
  while read -r object; do
    if grep -q 'hui_round is called with' "$object"; then asking=$((asking + 1)); else silent="$silent $source"; fi
  done < <(find "$folder/emu" -name "*$(echo "${source#emu/}" | tr / _).o")
done < <(grep -rlE '\bhui_(round|pack32)\(' --include='*.c' emu)
[ "$asking" -ge 5 ] || { echo "asks.sh: only $asking objects in $folder ask what the proofs suppose" >&2; exit 1; }
[ -z "$silent" ] || { echo "asks.sh: these round without asking:$silent" >&2; exit 1; }
echo "halfulp: what the proofs suppose is asked in $asking objects of the library"
