#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: docs.sh BUILD JOBS [MESON-ARGUMENT...]
# The site, BUILD/docs/html, with the playground where Emscripten is. Pages of the command show its options, so a command is
# required: one that BUILD has, else the least that makes one, in a folder of its own.
set -eu
build=$1
jobs=$2
shift 2
here=$(dirname "$0")
root=$(dirname "$here")
mkdir -p "$build"

HALFULP=
for command in "$build/cli/halfulp" "$build/cli/halfulp-hostrun" "$build/docs/command/cli/halfulp"; do
  [ ! -x "$command" ] || { HALFULP=$command; break; }
done
if [ -z "$HALFULP" ]; then
  echo "halfulp: building the command, whose options the pages show (a minute on two cores)"
  folder=$build/docs/command
  mkdir -p "$folder"
  [ -f "$folder/build.ninja" ] || meson setup "$folder" "$root" -Dlevels=native -Dcuda=disabled -Dmpi=disabled -Dtests=disabled -Dbench=disabled \
    -Dplanted=false "$@" > "$folder/setup.log" 2>&1 || { cat "$folder/setup.log" >&2; exit 1; }
  ninja -C "$folder" -j "$jobs" cli/halfulp
  HALFULP=$folder/cli/halfulp
fi
HALFULP=$(realpath "$HALFULP")
export HALFULP

extra=
rm -rf "$build/docs/playground"
if python3 -B "$root/docs/playground/build.py" "$build/docs/playground"; then
  extra="--extra $build/docs/playground"
elif [ $? -ne 77 ]; then
  exit 1
fi
# shellcheck disable=SC2086 # two words, or none
exec python3 -B "$root/docs/site/build.py" "$build/docs" $extra
