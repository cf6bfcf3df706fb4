# SPDX-License-Identifier: MIT
"""Type checkers: mypy --strict and basedpyright find nothing in a user's script, and what is wrong in it."""
import json
import os
import pathlib
import subprocess
import sys

import halfulp
from torch_support import pytest

SCRIPT = pathlib.Path(__file__).with_name('typed.py')
PACKAGE = str(pathlib.Path(halfulp.__file__).resolve().parents[1])
# Lines that a checker must refuse, so that it is seen to look.
WRONG = ["bad1: str = events.overflow", "halfulp.quantize(x, 'bfloat16', seed=1)", "ht.Recipe(w=1.5)", "bad2: int = f.max",
         "halfulp.quantize(x, 'bfloat16', axis='rows')"]


def said(command, folder, wrong):
    """What a checker says of the script, with more lines behind it; of the package itself nothing is asked."""
    script = folder / 'typed_script.py'
    script.write_text(SCRIPT.read_text(encoding='utf-8') + '\n'.join(wrong) + '\n', encoding='utf-8')
    done = subprocess.run([sys.executable, '-m', *command, str(script)], cwd=str(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, env=dict(os.environ, MYPYPATH=PACKAGE, PYTHONPATH=PACKAGE))
    lines = [line for line in done.stdout.splitlines() if 'typed_script.py:' in line and 'error' in line]
    assert lines or 'error:' not in done.stdout or PACKAGE in done.stdout, done.stdout
    return lines


def begins(wrong):
    return len(SCRIPT.read_text(encoding='utf-8').splitlines()) + 1, len(wrong)


def check(command, folder):
    assert said(command, folder, []) == []
    first, count = begins(WRONG)
    found = said(command, folder, WRONG)
    numbers = {int(line.split('typed_script.py:')[1].split(':')[0]) for line in found}
    assert numbers == set(range(first, first + count)), found


def test_script_runs(tmp_path):
    done = subprocess.run([sys.executable, '-B', str(SCRIPT)], cwd=str(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    assert done.returncode == 0, done.stdout


def test_mypy(tmp_path):
    pytest.importorskip('mypy', reason='mypy is not installed')
    check(['mypy', '--strict', '--follow-imports=silent', '--no-error-summary'], tmp_path)


def test_pyright(tmp_path):
    pytest.importorskip('basedpyright', reason='basedpyright is not installed')
    places = [PACKAGE] + [path for path in sys.path if path.endswith('site-packages')]
    (tmp_path / 'pyrightconfig.json').write_text(json.dumps({'typeCheckingMode': 'standard', 'extraPaths': places}))
    check(['basedpyright'], tmp_path)
