#!/bin/sh
# SPDX-License-Identifier: MIT
# The main job on the shipped data: run-demo.sh BUILD-DIRECTORY [RESULTS-DIRECTORY]
exec python3 -B "$(dirname "$0")/run_demo.py" "$@"
