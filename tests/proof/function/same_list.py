# SPDX-License-Identifier: MIT
"""The hardest cases of one function, found again, against the committed list.

usage: same_list.py HARDEST LIST FUNCTION      compares; HARDEST is the program made of hardest.c
       same_list.py HARDEST LIST --write       writes the list anew (minutes, for pow)
"""
import pathlib
import subprocess
import sys

FUNCTIONS = ('exp', 'exp2', 'expm1', 'log', 'log2', 'log1p', 'tanh', 'sigmoid', 'erf', 'gelu', 'rsqrt', 'reciprocal', 'sin', 'cos', 'pow')
HEAD = '''# The hardest cases of the elementary functions in binary16 and bfloat16; tests/golden/README.md has the fields.
# Written by tests/proof/function/same_list.py --write (ninja regenerate-hardest); not to be edited.
# count: {0}
'''
program, path, which = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]


def found(name):
    return subprocess.run([program, name], capture_output=True, text=True, check=True).stdout.splitlines()


if which == '--write':
    lines = [line for name in FUNCTIONS for line in found(name)]
    path.write_text(HEAD.format(len(lines)) + '\n'.join(lines) + '\n')
    raise SystemExit(0)
want = [line for line in path.read_text().splitlines() if line.split()[0] == which]
got = found(which)
if got != want or len(got) < 16:
    for a, b in zip(want + [''] * len(got), got + [''] * (len(want) - len(got))):
        if a != b:
            print(f'listed: {a}\nfound:  {b}')
    raise SystemExit(f'{which}: {len(want)} cases are listed, {len(got)} were found, and they differ')
print(f'{which}: {len(got)} cases')
