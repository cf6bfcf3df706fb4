#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/packages/abi.py goes red for what breaks programs, and only for that: on copies of the oracle's library with a
function renamed, with one argument more, and as it stands.

usage: test_abi_changes.py ROOT FOLDER        77 where abidiff is missing"""
import pathlib
import re
import shutil
import subprocess
import sys


def judged(root, copy, folder):
    done = subprocess.run([sys.executable, '-B', str(root / 'scripts/packages/abi.py'), str(folder), '--source', str(copy), '--library', 'libhalfulp-oracle'],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def main(root, folder):
    root, folder = pathlib.Path(root).resolve(), pathlib.Path(folder).resolve()
    if not shutil.which('abidiff'):
        print('skipped: no abidiff here (Debian: abigail-tools)')
        return 77
    header = (root / 'include/halfulp/oracle.h').read_text()
    name = re.search(r'HU_API[^;(]*?\b(hu_oracle_\w+)\(', header)[1]
    cases = {
        'as it stands': (0, lambda text: text),
        'a function renamed': (1, lambda text: re.sub(r'\b%s\b' % name, name + '_gone', text)),
        'one argument more': (1, lambda text: re.sub(r'(HU_API[^;({}]*\b%s\(|^[\w *]*\b%s\((?=\w+ \w))' % (name, name), r'\1int more, ', text, flags=re.M)),
    }
    for what, (wanted, change) in cases.items():
        copy = folder / 'source'
        shutil.rmtree(copy, ignore_errors=True)
        for part in ('include', 'emu/core', 'emu/oracle', 'emu/base', 'formats'):
            shutil.copytree(root / part, copy / part)
        for path in [*copy.glob('include/halfulp/oracle.h'), *copy.glob('emu/oracle/*.[ch]')]:
            path.write_text(change(path.read_text()))
        code, said = judged(root, copy, folder)
        assert code == wanted, '%s: exit code %d\n%s' % (what, code, said)
        print('%s: exit code %d' % (what, code))
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
