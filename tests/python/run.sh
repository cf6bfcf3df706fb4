#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: run.sh SOURCE BUILD
# python/tests, but for those with PyTorch, by the package as it stands in the source and the libraries of a build. example-python runs
# all of them against the wheel. Ends with 77 and words where Python's packages cannot be had.
set -eu
source=$1
build=$2
"$source/scripts/python_env.sh" "$build"
export HALFULP_LIBRARY="$build" HALFULP_COMMAND="$build/cli/halfulp" HALFULP_SOURCE="$source" HALFULP_QUICK=1 PYTHONPATH="$source/python"
exec "$build/venv/bin/python" -B -m pytest -q -p no:cacheprovider --ignore "$source/python/tests/with_torch" "$source/python/tests"
