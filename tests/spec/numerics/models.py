# SPDX-License-Identifier: MIT
"""From the text of a model to the model (numerics.md, section 11.1, and the table of keys of 11.5)."""
from functools import lru_cache

import blocks
import sums
from formats import BINARY32_FORMAT, BINARY64_FORMAT
from lines import DETERMINISTIC_WORDS, SATURATION, rounding_word
from operands import Operands
from rounding import Mode
from texts import Formats, call, model_mode

ALL = 'align groups late exact tree chain lanes'
READING, LAST = 'align late exact tree chain lanes', 'align exact chain'
INTEGER, FORMAT = 'an integer', 'a format'

# Section 11.5, the keys: (values, rules that have it, rules that require it); the first word is what holds without it
KEYS = {
    'l': (INTEGER, ALL, ALL), 'f': (INTEGER, 'align groups late', 'align groups late'),
    'f2': (INTEGER, 'late', 'late'), 'emin': (INTEGER, 'align groups', 'align groups'),
    'lanes': (INTEGER, 'late', ''), 'far': (INTEGER, 'late', ''), 'big': (INTEGER, 'late', ''),
    'in': (INTEGER, READING, ''), 'g': (INTEGER, 'groups tree', 'groups'),
    'every': (INTEGER, 'align groups exact', ''), 'cut': ('trunc floor rne odd', 'align groups', ''),
    'order': ('up down mod4', 'align chain', ''), 'c': ('first last', LAST, ''),
    'last': (DETERMINISTIC_WORDS, LAST, ''), 'daz': ('none sign plus', ALL, ''),
    'ftz': ('none after tiny before', ALL, ''), 'products': ('rounded exact', 'tree', ''),
    'nan': ('cut kept', READING, ''), 'scaling': ('terms sum', 'align exact', ''), 'as': (FORMAT, READING, ''),
    'scale': (FORMAT, 'align groups exact', ''), 'acc': (FORMAT, 'align groups late', ''),
    'out': (FORMAT, ALL, ''), 'round': (None, ALL, ''), 'sat': (SATURATION, ALL, ''),
    'over': ('mode inf', ALL, ''), 'zero': ('sign plus ieee', 'align groups exact', ''),
    'sticky': ('none or', 'align groups', ''), 'zeros': ('none sticky exponent both', 'align groups', ''),
    'window': (INTEGER, 'groups', ''), 'to': ('largest fixed', 'align groups', ''),
    'wide': (INTEGER, 'align groups', ''), 'past': ('wrap limit', 'align groups', ''),
    'via': (FORMAT, 'align groups late exact', ''),
}


@lru_cache(maxsize=4096)
def formats_of(text):
    return Formats(text)


@lru_cache(maxsize=4096)
def model_of(text, formats):
    """The model of a text. `formats` is an object Formats."""
    name, inner = call(text)
    arguments = formats.arguments(inner)
    if name == 'exact':
        return sums.Exact()
    if name in ('fp32', 'fp64'):
        return sums.Sequence(BINARY32_FORMAT if name == 'fp32' else BINARY64_FORMAT, Mode(), name == 'fp32')
    if name in ('takes', 'any'):
        return model_of(arguments[-1], formats)
    if name == 'int32':
        return sums.Int32(int(arguments[1]) if arguments else None)
    if name == 'promote':
        scaled = arguments[3:] == ['scaled']
        return sums.Promote(int(arguments[0]), inside(arguments[1], formats), formats.get(arguments[2]), scaled)
    if name == 'splitk':
        return sums.SplitK(int(arguments[0]), inside(arguments[1], formats))
    if name == 'block':
        return block_of(arguments, formats)
    return software_of(name, arguments, formats)


def inside(text, formats):
    """The model inside a promote or a splitk; exact, fp64 and int32 have no format of the sums and are never there."""
    model = model_of(text, formats)
    if model.sums is None:
        raise ValueError('never inside: ' + text)
    return model


SOFTWARE = {'seq': sums.Sequence, 'pairwise': sums.Pairwise, 'strided': sums.Strided, 'kahan': sums.Kahan,
            'neumaier': sums.Neumaier}


def software_of(name, arguments, formats):
    """seq(F,MODE,sat=POLICY) and its like; seq2 and chunk have two formats, and seq2(F) is seq2(F,F)."""
    length = int(arguments.pop(0)) if name == 'chunk' else None
    named = []
    while arguments and rounding_word(arguments[0]) is None and not arguments[0].startswith('sat='):
        named.append(formats.get(arguments.pop(0)))
    word = arguments.pop(0) if arguments and not arguments[0].startswith('sat=') else 'rne'
    sat = arguments.pop(0)[4:] if arguments else 'default'
    if arguments or len(named) not in {'seq2': (1, 2), 'chunk': (2,)}.get(name, (1,)):
        raise ValueError('no arguments of %s' % name)
    mode = model_mode(word, sat)
    if name == 'seq2':
        return sums.Sequence2(named[0], named[-1], mode)
    if name == 'chunk':
        return sums.Chunk(length, named[0], named[1], mode)
    if name not in SOFTWARE:
        raise ValueError('no model: ' + name)
    return SOFTWARE[name](named[0], mode)


def block_of(arguments, formats):
    """block(rule,l=L,...)"""
    rule, given = arguments[0], dict(argument.split('=', 1) for argument in arguments[1:])
    for key, (_, _, required) in KEYS.items():
        if rule in required.split() and key not in given:
            raise ValueError('%s requires %s' % (rule, key))
    if given.keys() - KEYS.keys():
        raise ValueError('no key of block: ' + ' '.join(sorted(given.keys() - KEYS.keys())))
    keys = {key: value_of(rule, key, given.get(key), formats) for key in KEYS}
    keys['out'] = keys['out'] or BINARY32_FORMAT
    keys['acc'] = keys['acc'] or keys['out']
    sat = keys.pop('sat')
    keys['round'], keys['last'] = model_mode(given.get('round', 'rne'), sat), model_mode(keys['last'], sat)
    keys['operands'] = Operands(keys.pop('in'), keys.pop('nan') == 'kept', keys.pop('as'), keys['daz'])
    return blocks.RULES[rule](keys)


def value_of(rule, key, text, formats):
    """The value of a key, or what holds where the text does not give it (None where the table has no default)."""
    values, rules, _ = KEYS[key]
    if text is not None and rule not in rules.split():
        raise ValueError('%s has no %s' % (rule, key))
    if values is FORMAT or values is INTEGER:
        return None if text is None else formats.get(text) if values is FORMAT else int(text)
    if values is None:
        return text
    if text is not None and text not in values.split():
        raise ValueError('no %s: %s' % (key, text))
    return text or values.split()[0]
