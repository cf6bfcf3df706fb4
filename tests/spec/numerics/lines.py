# SPDX-License-Identifier: MIT
"""The lines that draw_cases prints, one case each: the table of operations, and the texts of fields."""
from functools import lru_cache

from formats import AXES, Format
from rounding import DETERMINISTIC, EVENTS, STOCHASTIC, Mode

# name: (function from a dict of operand fields to a dict of result fields, its fields, its optional fields)
OPERATIONS = {}

DETERMINISTIC_WORDS, SATURATION = ' '.join(DETERMINISTIC), 'default none finite propagate'


def operation(name, required, optional=''):
    """Enters a function into OPERATIONS. `required` and `optional` name its operand fields, with blanks between."""
    def enter(function):
        OPERATIONS[name] = (function, frozenset(required.split()), frozenset(optional.split()))
        return function
    return enter


def hexadecimal(text):
    return int(text, 16)


def hex_text(value):
    return '%x' % value


@lru_cache(maxsize=4096)
def format_of(text):
    """A format from `s=1 e=4 m=3 b=0 zero=field sub=gradual inf=none nan=ones nz=1 over=nan neg=nan`."""
    axes = dict(word.split('=') for word in text.split())
    numbers = {name: int(axes.pop(name)) for name in ('s', 'e', 'm', 'b')}
    for name, word in axes.items():
        if word not in AXES.get(name, ()):
            raise ValueError('no axis: %s=%s' % (name, word))
    if 'nz' in axes:
        axes['nz'] = int(axes['nz'])
    return Format(**numbers, **axes)


def rounding_word(word):
    """('sra', 8) of sra:8, ('rne', 0) of rne; None if the word is no rounding mode."""
    name, _, bits = word.partition(':')
    if name in DETERMINISTIC and not bits:
        return name, 0
    if name in STOCHASTIC and bits.isdigit() and 1 <= int(bits) <= 32:
        return name, int(bits)
    return None


@lru_cache(maxsize=4096)
def mode_of(text):
    """A mode from `rne sat=default tiny=after nan=max fma=quiet`."""
    words = text.split()
    name, bits = rounding_word(words[0])
    choices = dict(word.split('=') for word in words[1:])
    for key, allowed in (('sat', SATURATION), ('tiny', 'after before'), ('nan', 'max zero error'),
                         ('fma', 'quiet invalid')):
        if choices.get(key, allowed.split()[0]) not in allowed.split():
            raise ValueError('no %s: %s' % (key, choices[key]))
    return Mode(name, bits, **choices)


def events_text(events):
    """The names in the order of the table of section 5, or -."""
    return ','.join(name for name in EVENTS if name in events) or '-'


def list_of(text):
    """The codes of an element list; - is an empty list."""
    return [] if text == '-' else [int(code, 16) for code in text.split(',')]


def result(code, events):
    return {'code': hex_text(code), 'events': events_text(events)}
