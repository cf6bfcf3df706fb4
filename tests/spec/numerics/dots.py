# SPDX-License-Identifier: MIT
"""Lines for sections 8 and 11 of numerics.md: dot, watch, exceptions."""
from exact import ZERO, is_nan
from instruction import raised
from lines import events_text, hex_text, hexadecimal, list_of, mode_of, operation
from models import formats_of, model_of
from rounding import round_real
from runs import IntegerElement, Run, element_of
from watched import Watch
from words import high_bits, inner_word, stream_word

FIELDS = 'model fa fb fc fd mode key counter element a b c'
OPTIONAL = 'formats fs sa sb'


def run_of(fields, watch=None):
    c = ZERO if fields['c'] == '-' else element_of(fields['fc']).decode(hexadecimal(fields['c']))
    scales = None
    if 'fs' in fields:
        fs = element_of(fields['fs'])
        scales = fs, [fs.decode(s) for s in list_of(fields['sa'])], [fs.decode(s) for s in list_of(fields['sb'])]
    key, counter, element = (hexadecimal(fields[name]) for name in ('key', 'counter', 'element'))
    return Run(element_of(fields['fa']), element_of(fields['fb']), list_of(fields['a']), list_of(fields['b']), c,
               lambda r: inner_word(key, counter, element, r), mode_of(fields['mode']), scales, watch)


def last_word(fields):
    """The last rounding of element number i draws word i of the stream."""
    return stream_word(hexadecimal(fields['key']), hexadecimal(fields['counter']), hexadecimal(fields['element']))


def last_rounding(run, s, fd, word):
    """One rounding takes the number into the result's format; the events are those of the table of section 11."""
    if isinstance(fd, IntegerElement):
        return fd.encode(s), {'overflow', 'saturated'} if run.limited else set()
    code, events = round_real(s, fd, run.mode, high_bits(word, run.mode.bits))
    if is_nan(s) and not run.nan_read:
        events = events - {'nan_in'} | {'invalid'}
    elif is_nan(s) and run.mode.fma == 'invalid' and run.invalid_product:
        events = events | {'invalid'}
    return code, events


def compute(fields, run):
    model = model_of(fields['model'], formats_of(fields.get('formats', '')))
    s = model.sum(run, 0, run.n, run.c)
    code, events = last_rounding(run, s, element_of(fields['fd']), last_word(fields))
    return {'code': hex_text(code), 'events': events_text(events)}


@operation('dot', FIELDS, OPTIONAL)
def dot(fields):
    return compute(fields, run_of(fields))


@operation('watch', FIELDS, OPTIONAL)
def watch(fields):
    counts = Watch()
    results = compute(fields, run_of(fields, counts))
    for name in ('additions', 'swamped', 'overflows', 'gap'):
        results[name] = str(getattr(counts, name))
    return results


@operation('exceptions', FIELDS, OPTIONAL)
def exceptions(fields):
    run = run_of(fields)
    run.steps = []
    model = model_of(fields['model'], formats_of(fields.get('formats', '')))
    s = model.sum(run, 0, run.n, run.c)
    last = last_rounding(run, s, element_of(fields['fd']), last_word(fields))[1]
    signalling = any(map(run.fa.is_signalling, run.a_codes)) or any(map(run.fb.is_signalling, run.b_codes))
    if fields['c'] != '-':
        signalling |= element_of(fields['fc']).is_signalling(hexadecimal(fields['c']))
    return {'exceptions': events_text(raised(run, signalling, last))}
