#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: run.sh BUILD ARGUMENT...
# Runs prove.py, or another script of this folder if ARGUMENT ends in .py, with the solvers of requirements.txt from
# BUILD/venv-proof, which it makes once. Ends with 77 and words where it cannot be made, as scripts/python_env.sh does.
set -eu
build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
venv=$build/venv-proof
log=$build/venv-proof.log
mkdir -p "$build"

cannot() {
  echo "left out: $1"
  exit 77
}

command -v clang > /dev/null || cannot "clang is not on the PATH (Debian: clang)"
exec 9> "$build/venv-proof.lock"
flock 9 # tests run side by side
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv" > "$log" 2>&1 || cannot "python3 makes no environment here (Debian: python3-venv): $(tail -1 "$log")"
  "$here/../../scripts/pinned.sh" "$venv" "$here/requirements.txt" > "$log" 2>&1 ||
    cannot "tests/proof/requirements.txt was not installed: $(grep -m 1 '^ERROR' "$log" || tail -1 "$log")"
  cp "$here/requirements.txt" "$venv/requirements.txt"
fi
exec 9>&-
script=prove.py
case $1 in
*.py)
  script=$1
  shift
  ;;
esac
exec "$venv/bin/python" -B "$here/$script" "$@"
