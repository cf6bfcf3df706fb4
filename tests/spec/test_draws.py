# SPDX-License-Identifier: MIT
"""Draws of two numbers are different cases: check-exhaustive counts those of ten.

usage: test_draws.py DRAW_CASES
"""
import subprocess
import sys

COUNT = 2000


def drawn(part, number):
    """The cases of a draw, without what the library makes of them."""
    said = subprocess.run([sys.argv[1], part, str(COUNT), str(number)], stdout=subprocess.PIPE, check=True).stdout.decode()
    return {line.partition('\t>')[0] for line in said.splitlines()}


for part in ('numbers', 'sums', 'systems'):
    both = drawn(part, 0) & drawn(part, 1)
    if len(both) > COUNT // 20:
        sys.exit('{}: the draws 0 and 1 have {} of {} cases in common'.format(part, len(both), COUNT))
    print('{}: {} of {} cases are in both draws'.format(part, len(both), COUNT))
