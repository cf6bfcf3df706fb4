#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: python_env.sh BUILD [torch|models]
# Makes BUILD/venv, a Python environment with tests/python/requirements.txt and the package of the source; with torch
# PyTorch, too, with models packages of models for it as well. What is there already is kept. Ends with 77 and words
# where it cannot be made: no venv module, no way to the package index, or a Python that these versions are not made for.
set -eu
build=$1
extra=${2:-}
here=$(dirname "$0")
lists=$(cd "$here/../tests/python" && pwd)
venv=$build/venv
mkdir -p "$build"
log=$build/venv.log
exec 9> "$build/venv.lock"
flock 9 # tests run side by side

cannot() {
  echo "python: $1" >&2
  exit 77
}

# Installs a list once.
install() {
  list=$lists/$1
  cmp -s "$list" "$venv/$1" && return
  if ! "$here/pinned.sh" "$venv" "$list" > "$log" 2>&1; then
    if grep -q -E 'NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|Temporary failure|Connection refused|Network is unreachable' "$log"; then
      cannot "the package index (PyPI) cannot be reached, so tests/python/$1 was not installed"
    fi
    cannot "tests/python/$1 was not installed: $(grep -m 1 '^ERROR' "$log" || tail -1 "$log")"
  fi
  cp "$list" "$venv/$1"
}

if ! cmp -s "$lists/requirements.txt" "$venv/requirements.txt"; then
  rm -rf "$venv"
  python3 -m venv "$venv" > "$log" 2>&1 || cannot "python3 makes no environment here (Debian: python3-venv): $(tail -1 "$log")"
fi
install requirements.txt
install requirements-bare.txt
# The package as it stands in the source; an installed library is found by pkg-config or HALFULP_LIBRARY.
for packages in "$venv"/lib/python3*/site-packages; do
  (cd "$lists/../../python" && pwd) > "$packages/halfulp-source.pth"
done
[ "$extra" ] || exit 0
# Minutes, for which no one else waits: they go without PyTorch until it is there.
exec 8> "$build/venv-torch.lock"
flock 8
exec 9>&-
install requirements-torch.txt
[ "$extra" = models ] || exit 0
install requirements-models.txt
