#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: pinned.sh VENV LIST
# Installs a list that scripts/pin.py wrote into a Python environment: pip takes no file whose hash the list does not have. What the
# list has no wheel of for this machine is built by what is installed by then; pip fetches nothing to build with.
set -eu
pip() { "$venv/bin/pip" --disable-pip-version-check install --retries 2 --timeout 20 --require-hashes --no-deps "$@"; }
venv=$1
wheels=$(mktemp)
trap 'rm -f "$wheels"' EXIT
sed '/^# Built from source/,$d' "$2" > "$wheels"
grep -q '^ *--hash' "$wheels" && pip --only-binary :all: -r "$wheels"
cmp -s "$wheels" "$2" || pip --no-build-isolation -r "$2"
