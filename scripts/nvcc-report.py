#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs nvcc and keeps ptxas's report (it goes to stderr, object or not) in a file beside the object.

usage: nvcc-report.py REPORT COMMAND..."""
import subprocess
import sys

run = subprocess.run(sys.argv[2:], stderr=subprocess.PIPE, text=True)
with open(sys.argv[1], "w") as report:
    report.write(run.stderr)
if run.returncode != 0:
    sys.stderr.write(run.stderr)
sys.exit(run.returncode)
