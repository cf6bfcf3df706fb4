# SPDX-License-Identifier: MIT
"""Type checkers on the examples of the pages: mypy --strict and basedpyright find nothing in them that is ours."""
import json
import os
import pathlib
import re
import subprocess
import sys

import halfulp
from torch_support import pytest

PACKAGE = str(pathlib.Path(halfulp.__file__).resolve().parents[1])
SOURCE = os.environ.get('HALFULP_SOURCE', '')
BLOCK = re.compile(r'(?:<!-- file: (\S+) -->\n)?```python\n(.*?)^```', re.S | re.M)
# What the stubs of torch and transformers lack, and packages that are not installed here.
THEIRS = re.compile(r'Module "torch\.distributed" does not explicitly export|(transformers|peft)"|"generate" for class "GPT2LMHeadModel"')
# What a checker must refuse behind the examples, so that it is seen to look.
WRONG = {'python': "halfulp.quantize(x, 'bfloat16', seed=1)", 'torch': "ht.Recipe(w=1.5)"}

pytestmark = [pytest.mark.long, pytest.mark.skipif(not SOURCE, reason='HALFULP_SOURCE does not say where the pages are')]


def scripts(folder, wrong):
    """The Python blocks of each page as one script; a block that is a file is one of its own."""
    for page in sorted(pathlib.Path(SOURCE, 'docs').rglob('*.md')):
        place = page.relative_to(SOURCE).with_suffix('').as_posix()
        found = BLOCK.findall(page.read_text(encoding='utf-8'))
        whole = [text for name, text in found if not name] + ([wrong[page.stem]] if page.stem in wrong else [])
        named = [(name, text) for name, text in found if name.endswith('.py')]
        for name, text in [(place, '\n'.join(whole))] * bool(whole) + named:
            (folder / (re.sub(r'\W', '_', name.replace('.py', '')) + '_.py')).write_text(text, encoding='utf-8')


def said(command, folder):
    made = sorted(path.name for path in folder.glob('*.py'))
    assert len(made) > 8
    done = subprocess.run([sys.executable, '-m', *command, *made], cwd=str(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, env=dict(os.environ, MYPYPATH=PACKAGE, PYTHONPATH=os.pathsep.join(
                              [PACKAGE] + [path for path in os.environ.get('PYTHONPATH', '').split(os.pathsep) if path])))
    lines = [line for line in done.stdout.splitlines() if re.search(r'error:| - error', line)]
    assert lines or done.returncode == 0, done.stdout
    return [line for line in lines if not THEIRS.search(line)]


def check(command, folder):
    scripts(folder, {})
    assert said(command, folder) == []
    scripts(folder, WRONG)
    assert len({line.split(':')[0] for line in said(command, folder)}) == len(WRONG)


def test_mypy(tmp_path):
    pytest.importorskip('mypy', reason='mypy is not installed')
    check(['mypy', '--strict', '--follow-imports=silent', '--no-error-summary', '--untyped-calls-exclude=torch'], tmp_path)


def test_pyright(tmp_path):
    pytest.importorskip('basedpyright', reason='basedpyright is not installed')
    places = [PACKAGE] + [path for path in sys.path if path.endswith('site-packages')]
    (tmp_path / 'pyrightconfig.json').write_text(json.dumps({'typeCheckingMode': 'standard', 'extraPaths': places,
                                                             'reportPossiblyUnboundVariable': False}))
    check(['basedpyright'], tmp_path)
