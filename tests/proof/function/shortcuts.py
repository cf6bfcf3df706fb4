# SPDX-License-Identifier: MIT
"""The results of emu/arith/function_quick.h that need no rounding test: next to a number of at most 26 digits, on one side.

Each line of a function's `hui_quick_or` is known here by its text, with its threshold T exactly as it is in the header (the proofs of
functions.py begin where these end), and with the inequality that makes it right: the real result differs from the number by less than
the given part of it, on the given side. A number of 26 digits has its neighbours at 2^-26 of itself or farther.
"""
import re
from fractions import Fraction

import ctext
import enclosures
import steps

ONE = Fraction(1)


def p2(n):
    return Fraction(2) ** n


def grown(x):
    return enclosures.e_to(x)[1]


SMALL, BY_SIGN = r'a < (\S+)', '(x > 0) ? hui_quick_above({0}) : hui_quick_below({0})'
# condition, its T, the result, and for T: (a bound of the relative distance, what it must stay below)
ZERO = r'x == 0'
SHORTCUTS = {
    'exp': [(r'\(a < (\S+)\) & hui_quick_few\(1 \+ x\)', p2(-21), 'hui_quick_above(1 + x)', lambda t: (t * t / 2 * grown(t), p2(-41))),
            (SMALL, p2(-28), BY_SIGN.format(1), lambda t: (t * grown(t), p2(-26))), (ZERO, None, 'hui_pattern64(1)', None)],
    'exp2': [(SMALL, p2(-28), BY_SIGN.format(1), lambda t: (t * grown(t), p2(-26))), (ZERO, None, 'hui_pattern64(1)', None)],
    'expm1': [(r'x < (-\S+)', Fraction(-20), 'hui_quick_below(-1)', lambda t: (grown(t), p2(-26))),
              (SMALL, p2(-28), BY_SIGN.format('x'), lambda t: (t / 2 * grown(t), p2(-26))), (ZERO, None, 'hui_pattern64(x)', None)],
    'log': [],
    'log1p': [(r'hui_abs64\(x\) < (\S+)', p2(-27), '(x > 0) ? hui_quick_below(x) : hui_quick_above(x)', lambda t: (t / 2 / (1 - t), p2(-26))),
              (ZERO, None, 'hui_pattern64(x)', None)],
    'tanh': [(r'a > (\S+)', Fraction(12), 'hui_quick_below(hui_quick_signed(1, x))', lambda t: (2 * grown(-2 * t), p2(-26))),
             (SMALL, p2(-14), 'hui_quick_below(x)', lambda t: (t * t / 3, p2(-26))), (ZERO, None, 'hui_pattern64(x)', None)],
    'sigmoid': [(r'x > (\S+)', Fraction(20), 'hui_quick_below(1)', lambda t: (grown(-t), p2(-26))),
                (r'\(a < (\S+)\) & hui_quick_few\(near\)', p2(-13), '(x > 0) ? hui_quick_below(near) : hui_quick_above(near)',
                 lambda t: (t ** 3 / 48, p2(-42))),
                (SMALL, p2(-28), BY_SIGN.format('0.5'), lambda t: (t / 2, p2(-26))), (ZERO, None, 'hui_pattern64(0.5)', None)],
    'erf': [(r'a > (\S+)', Fraction(17, 4), 'hui_quick_below(hui_quick_signed(1, x))', lambda t: (enclosures.erfc(t)[1], p2(-26))),
            (ZERO, None, 'hui_pattern64(x)', None)],
    # erfc(6 / sqrt 2) / 2, and sqrt 2 is below 1.4143
    'gelu': [(r'x > (\S+)', Fraction(6), 'hui_quick_below(x)', lambda t: (enclosures.erfc(t / Fraction(14143, 10000))[1] / 2, p2(-26))),
             (SMALL, p2(-28), BY_SIGN.format('half'), lambda t: (t, p2(-26))), (ZERO, None, 'hui_pattern64(x)', None)],
    'reciprocal': [],
    'sin': [(SMALL, p2(-14), 'cosine ? hui_quick_below(1) : hui_quick_below(x)', lambda t: (t * t / 2, p2(-26))),
            (ZERO, None, 'cosine ? hui_pattern64(1) : hui_pattern64(x)', None)],
    'pow': [(r'size < (\S+)', p2(-28), '(eh > 0) ? hui_quick_above(1) : hui_quick_below(1)', lambda t: (t * grown(t), p2(-26)))],
}
# What `hui_quick_decided` is told: the operands for which the value is y.
FIT = {'exp': 'a < 700', 'exp2': 'a < 1000', 'expm1': 'a < 700', 'log': 'x > 0', 'log1p': 'x > -1', 'tanh': 'a < 300', 'sigmoid': 'a < 700',
       'erf': 'a < 20', 'gelu': 'a < 37', 'reciprocal': 'x != 0', 'sin': 'a < 0x1p20', 'pow': 'size < 700'}
NAMES = {'log2': 'log', 'cos': 'sin'}


def calls(tree, name):
    if isinstance(tree, tuple):
        if tree[:2] == ('call', name):
            yield tree
        for t in tree:
            yield from calls(t, name)
    elif isinstance(tree, list):
        for t in tree:
            yield from calls(t, name)


def value(text):
    negative, text = text.startswith('-'), text.lstrip('-')
    number = Fraction(float.fromhex(text) if 'x' in text else float(text))
    return -number if negative else number


def check(texts, function):
    """Raises Drift where the header's shortcuts are others, or one is wrong; returns how many there are."""
    function = NAMES.get(function, function)
    if function == 'rsqrt':
        return 0
    _, statements = ctext.functions(texts[1])['hui_quick_' + function]
    tests = list(calls(statements, 'hui_quick_decided'))
    if len(tests) != 1 or ctext.show(tests[0][2][1]) != FIT[function]:
        raise steps.Drift(f'{function}: the rounding test is for other operands: {[ctext.show(t[2][1]) for t in tests]}')
    found = list(calls(statements, 'hui_quick_or'))
    if len(found) != len(SHORTCUTS[function]):
        raise steps.Drift(f'{function}: {len(found)} shortcuts, not {len(SHORTCUTS[function])}')
    for tree, (condition, threshold, result, bound) in zip(found, SHORTCUTS[function]):
        said, gives = ctext.show(tree[2][1]), ctext.show(tree[2][2])
        m = re.fullmatch(condition, said)
        if not m or gives != result:
            raise steps.Drift(f'{function}: an unknown shortcut: {said}: {gives}')
        if bound is None:
            continue
        t = value(m[1])
        off, most = bound(t)
        if off >= most:
            raise steps.Drift(f'{function}: {said} is not beside that number')
        if t != threshold:
            raise steps.Drift(f'{function}: {said} is not where the proof begins')
    return len(found)
