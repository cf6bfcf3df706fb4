# SPDX-License-Identifier: MIT
"""The elements of a block, and back; events (scaled.md, sections 5 and 6)."""
from collections import namedtuple

from exact import FINITE, INFINITE, NAN, NOT_A_NUMBER, finite, magnitude, multiply
from rounding import Mode, round_real
from scaled_binary32 import LARGEST, less, rn, rne
from scaled_formulas import FormulaLevel, by_formulas, formula_value
from scaled_scales import (Scale, SecondLevel, amax, has_special, largest_of, limited, nan_scale, power_of_two_exponent,
                           ratio, zero_scale)
from scaled_search import tried_scale
from scaled_types import Integers, IntegerScale, typed_scale
from words import high_bits, stream_word

Encoded = namedtuple('Encoded', 'codes scales t events')     # codes row-major, scales in the order of section 7


def blocks_of(layout, rows, cols):
    """The blocks in row-major order, each as a list of its rows, which are lists of positions in the matrix."""
    height, width = layout.block_sides(rows, cols)
    return [[[i * cols + j for j in range(q, min(q + width, cols))] for i in range(p, min(p + height, rows))]
            for p in range(0, rows, height) for q in range(0, cols, width)]


def element_mode(mode):
    """rnd_F: the mode of the call, but its policy `default` means `finite`."""
    sat = 'finite' if mode.sat == 'default' else mode.sat
    return Mode(mode.word, mode.bits, sat, mode.tiny, mode.nan, mode.fma)


def encode(layout, elements, rows, cols, mode, key, counter, given=None):
    """Codes, scales, t and the sets of events of a matrix; `given` is a given amax."""
    mode = element_mode(mode)
    words = [high_bits(stream_word(key, counter, i), mode.bits) if mode.bits else 0 for i in range(rows * cols)]
    blocks = blocks_of(layout, rows, cols)
    largest = [amax([elements[i] for row in block for i in row], layout) for block in blocks]
    a_t = largest_of(largest) if given is None else given
    if given is not None and layout.is_whole() and not layout.has_tensor:
        largest = [given for _ in largest]
    largest = [a if less(layout.amin, a) else layout.amin for a in largest]
    layout.integers = Integers(layout.element) if layout.has_types else None
    second = FormulaLevel(layout, a_t) if layout.formulas else SecondLevel(layout, a_t)
    codes, events, scales = [0] * len(elements), [set()] * len(elements), []
    for block, a in zip(blocks, largest):
        scale = block_scale(layout, second, a, [[elements[i] for i in row] for row in block], mode,
                            [[words[i] for i in row] for row in block])
        scales.append(scale.code)
        for row in block:
            for i in row:
                code, events[i] = element_code(layout, scale, elements[i], mode, words[i])
                codes[i] = layout.stored(code)
    return Encoded(codes, scales, second.t, events)


def block_scale(layout, second, a, rows, mode, words):
    """The scale of a block by sections 2 to 4."""
    special = has_special(x for row in rows for x in row)
    if special and layout.special == 'nan':
        return nan_scale(layout, second)
    if not a.n and layout.zero != 'formula':
        return zero_scale(layout, second, a)
    if layout.formulas:
        return by_formulas(layout, second, a)
    if layout.rule in ('floor', 'ceil', 'even', 'rceil'):
        return Scale(layout, second, *layout.power_scale(limited(power_of_two_exponent(a, layout), layout)))
    if layout.rule == 'ratio' or special:
        return ratio(layout, second, a)                     # 4.1, 4.2: with an infinity or a NaN what `ratio` gives
    return (typed_scale if layout.has_types else tried_scale)(layout, second, a, rows, mode, words)


def element_code(layout, scale, x, mode, r):
    """The code of an element in sign and magnitude, and its events."""
    code, events = rounded_element(layout, scale, x, mode, r)
    element = layout.element
    if layout.minus != 'kept' and not scale.is_nan and not isinstance(scale, IntegerScale) and not element.magnitude_of(code):
        signed = layout.minus == 'all' or (layout.minus == 'own' and element.sign_of(code) and not is_minus_zero(x))
        code = element.magnitude_of(code) | (element.mask + 1 >> 1 if signed else 0)
    return code, events


def is_minus_zero(x):
    return x.kind is FINITE and not x.n and x.sign == 1


def rounded_element(layout, scale, x, mode, r):
    """The same before `minus`."""
    element = layout.element
    if scale.is_nan:                                                        # case 1
        if x.kind is NOT_A_NUMBER:
            return element.nan_code() if element.has_nan else 0, {'nan_in'}
        return 0, {'inf_in', 'invalid'} if x.kind is INFINITE else {'inexact'}
    added = set()
    if x.kind is INFINITE and layout.special == 'saturate':
        x, added = LARGEST[x.sign], {'inf_in'}
    if x.kind is not FINITE:
        return round_real(x, element, mode, r)
    if not scale.d.n:                                                       # case 2
        code, events = round_real(finite(x.sign, 0, 0), element, mode, r)
        if x.n:
            added |= {'inexact', 'underflow', 'to_zero'}
        return code, events | added
    if isinstance(scale, IntegerScale):                                     # 4.5
        code, events = layout.integers.rounded(scale.operand(x), mode, r)
        return code, events | added
    code, events = round_real(scale.operand(x), element, mode, r)           # case 3
    return code, events | added


def decode(layout, codes, scales, t, rows, cols):
    """The values of a tensor: binary32 numbers."""
    values = [NAN] * len(codes)
    for block, code in zip(blocks_of(layout, rows, cols), scales):
        s = layout.scale.decode(code)
        if s.kind is NOT_A_NUMBER:
            continue
        if layout.formulas and 'v' in layout.formulas.trees:
            for row in block:
                for i in row:
                    values[i] = rne(formula_value(layout, layout.number(codes[i]), s, t))
            continue
        integers = layout.has_types and s.sign
        if layout.has_types:
            s = magnitude(s)
        d = multiply(s, t)
        if layout.steps != 'exact' or layout.formulas:
            d = rn(d)
        for row in block:
            for i in row:
                values[i] = (Integers(layout.element).value(codes[i], d) if integers else
                             rne(multiply(layout.number(codes[i]), d)))
    return values
