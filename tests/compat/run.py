# SPDX-License-Identifier: MIT
"""Runs a script by the Python that has the packages: $HALFULP_PYTHON, else BUILD/venv, else this one.

    python3 run.py BUILD SCRIPT [ARGUMENT...]"""
import os
import pathlib
import sys

own = pathlib.Path(sys.argv[1]) / 'venv' / 'bin' / 'python'
python = os.environ.get('HALFULP_PYTHON') or (str(own) if own.exists() else sys.executable)
print('by', python, flush=True)
os.execv(python, [python, '-B'] + sys.argv[2:])
