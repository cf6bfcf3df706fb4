#!/bin/sh
# SPDX-License-Identifier: MIT
# wheel.sh BUILD [FOLDER]: makes the wheel of the Python package in FOLDER (BUILD/wheel) from the libraries that BUILD has, with
# the tools of BUILD/venv (python_env.sh).
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=${2:-$build/wheel}
mkdir -p "$folder"
rm -f "$folder"/*.whl
if ! PATH="$build/venv/bin:$PATH" "$build/venv/bin/pip" --disable-pip-version-check wheel --no-build-isolation --no-deps -w "$folder" \
  --config-settings "build-dir=$folder/build" --config-settings "setup-args=-Dpython_libraries=$build" "$source" > "$folder/log" 2>&1; then
  tail -20 "$folder/log" >&2
  exit 1
fi
ls "$folder"/*.whl
