# SPDX-License-Identifier: MIT
"""Texts, names and limits of the number systems beside floating point (numbers.md, N.1 and N.7).

The named tables (nf4 and its like) stand for texts table(...) that N.7 prints; cases have those texts.
"""
import re
from fractions import Fraction
from functools import lru_cache

from exact import BINARY32, compare, finite, is_nan, to_interchange
from number_kinds import Fixed, HiFloat8, Lns, Posit, Table, Takum
from scaled_binary32 import quotient, rne

NAMES = {
    'posit8': 'posit(8,2)', 'posit16': 'posit(16,2)', 'posit32': 'posit(32,2)', 'posit8_es0': 'posit(8,0)',
    'posit16_es1': 'posit(16,1)', 'posit32_es2': 'posit(32,2)', 'takum8': 'takum(8)', 'takum16': 'takum(16)',
    'takum32': 'takum(32)', 'takum_linear8': 'takum_linear(8)', 'takum_linear16': 'takum_linear(16)',
    'takum_linear32': 'takum_linear(32)', 'lns8': 'lns(8,3)', 'lns8_madam': 'lns(8,3):unsigned', 'lns16': 'lns(16,8)',
    'logfixpoint16': 'lns(16,8):offset', 'lns32': 'lns(32,23)', 'int4': 'q(3.0)', 'int8': 'q(7.0)', 'int16': 'q(15.0)',
    'int32': 'q(31.0)', 'q7': 'q(0.7)', 'q15': 'q(0.15)', 'q31': 'q(0.31)', 's15_16': 'q(15.16)',
}


@lru_cache(maxsize=None)
def parse(text):
    """The number system of a text; ValueError if there is none."""
    text = NAMES.get(text, text)
    for pattern, make in FORMS:
        match = re.fullmatch(pattern, text)
        if match:
            return make(*match.groups())
    raise ValueError('no number system: ' + text)


def within(limits, what):
    if not limits:
        raise ValueError('beyond the limits of ' + what)


def posit(n, es):
    n, es = int(n), int(es)
    within(2 <= n <= 32 and es <= 5 and n - 2 << es <= 1022, 'posit')
    return Posit(n, es)


def takum(linear, n):
    within(8 <= int(n) <= 32, 'takum')
    return Takum(int(n), linear is not None)


def lns(w, f, coding):
    w, f = int(w), int(f)
    within(3 <= w <= 32 and f <= w - 2 and w - f <= (10 if coding == 'unsigned' else 11), 'lns')
    return Lns(w, f, coding or 'twos')


def fixed(unsigned, m, n, overflow):
    system = Fixed(int(m), int(n), not unsigned, overflow == 'wrap')
    within((1 if unsigned else 2) <= system.width <= 32, 'fixed')
    return system


def table(values, ties):
    system = Table([pattern_of(value) for value in values.split(',')], ties or 'even')
    finite_values = [value for value in system.values if not is_nan(value)]
    within(finite_values and len(system.values) <= (128 if ties == 'given' else 256), 'table')
    for (_, code), (_, above) in zip(system.places, system.places[1:]):
        if ties == 'given':
            limit = system.limits[code]
            within(compare(limit, system.values[code]) >= 0 and compare(limit, system.values[above]) < 0, 'table')
    return system


def pattern_of(value):
    """A binary32 pattern, or a decimal number rounded to binary32, ties to even."""
    if value.startswith('0x'):
        return int(value, 16)
    number = Fraction(value.lstrip('-'))
    x = quotient(finite(0, number.numerator, 0), finite(0, number.denominator, 0))
    return to_interchange(rne(x._replace(sign=int(value.startswith('-')))), BINARY32)


VALUE = r'(?:0x[0-9a-fA-F]{8}|-?\d+(?:\.\d*)?(?:e[-+]?\d+)?)'
FORMS = (
    (r'posit\((\d+),(\d+)\)', posit),
    (r'takum(_linear)?\((\d+)\)', takum),
    (r'hifloat8', HiFloat8),
    (r'lns\((\d+),(\d+)\)(?::(twos|offset|unsigned))?', lns),
    (r'(u?)q\((\d+)\.(\d+)\)(?::(saturate|wrap))?', fixed),
    (r'table\((' + VALUE + '(?:,' + VALUE + r')*)\)(?::ties=(even|low|low32|given))?', table),
)
