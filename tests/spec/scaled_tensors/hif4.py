# SPDX-License-Identifier: MIT
"""HiFloat4 (scaled.md, section 10), and lines for it: hif4."""
from collections import namedtuple

from exact import NAN, ONE, ZERO, compare, finite, floor_log2, integer, is_finite, is_nan, is_zero, magnitude, multiply
from exact import scaled as shifted
from formats import BFLOAT16_FORMAT, Format
from lines import operation
from rounding import Mode, TIES_TO_EVEN, nearest_even, round_real
from s2fp8 import count, count_text, hex_list
from scaled import binary32_list, binary32_numbers
from scaled_binary32 import quotient

ELEMENT = Format(1, 1, 2, 1, inf='none', nan='none', over='max')        # float4_e1m2: quarters from 0 to 7/4
SEVENTH = finite(0, 73, -9)                                             # 0.142578125
LEAST, MOST = finite(0, 1, -48), finite(0, 3, 14)                       # the ends of s: 2^-48 and 1.5 2^15
BEYOND = finite(0, 13, 12)                                              # the first S under `high`: 1.625 2^15
BLOCK, WIDE, NARROW = 64, 8, 4
NAN_CODE = 255

CHOICES = {'ties': ('even', 'away'), 'low': ('zero', 'nan', 'least'), 'high': ('limit', 'nan'),
           'products': ('bfloat16', 'mixed', 'exact')}
NAMES = {'hifloat4': 'even zero limit bfloat16', 'hifloat4_cann': 'even nan nan mixed',
         'hifloat4_hifx': 'away least limit exact'}
Kind = namedtuple('Kind', 'ties low high products')
Block = namedtuple('Block', 'c bits8 bits4 codes events')


def kind_of(text):
    """A name, or hifloat4(KEY=VALUE;...), which is hifloat4 except for the keys that are there."""
    if text in NAMES:
        return Kind(*NAMES[text].split())
    if not (text.startswith('hifloat4(') and text.endswith(')')):
        raise ValueError('no kind: ' + text)
    keys = dict(part.split('=') for part in text[len('hifloat4('):-1].split(';'))
    if any(value not in CHOICES.get(key, ()) for key, value in keys.items()):
        raise ValueError('no kind: ' + text)
    return kind_of('hifloat4')._replace(**keys)


def bfloat16(x):
    return BFLOAT16_FORMAT.decode(round_real(x, BFLOAT16_FORMAT, TIES_TO_EVEN)[0])


def largest(numbers):
    """A, A8, A4: the largest magnitude; 0 if there are no numbers."""
    found = ZERO
    for x in numbers:
        if compare(magnitude(x), found) > 0:
            found = magnitude(x)
    return found


def three_digits(x):
    """x > 0 rounded to three digits, ties to even."""
    shift = x.n.bit_length() - 3
    return finite(0, nearest_even(x.n, shift), x.q + shift)


def scale_of(a, kind):
    """s, None where it is NaN, and 0 where the block is one of zeros under low=zero."""
    big_s = bfloat16(multiply(a, SEVENTH))
    s = ZERO if is_zero(big_s) else three_digits(big_s)
    if kind.low == 'zero' and compare(s, LEAST) <= 0:
        return ZERO
    if compare(big_s, LEAST) < 0:
        return LEAST if kind.low == 'least' else None
    if compare(big_s, BEYOND) >= 0:
        return MOST if kind.high == 'limit' else None
    return s


def scale_code(s):
    """c, with s = 2^(c div 4 - 48) (1 + (c mod 4) / 4)."""
    k = floor_log2(s)
    return 4 * (k + 48) + (s.n << 2 >> k - s.q) - 4


def scale_value(c):
    return NAN if c == NAN_CODE else finite(0, 4 + c % 4, c // 4 - 50)


def block_of(ys, kind):
    """The codes of a block, its scale and bits, and the events of its elements."""
    s = scale_of(largest(ys), kind) if all(is_finite(y) for y in ys) else None
    if s is None:
        return Block(NAN_CODE, 0, 0, [0] * len(ys), [nan_events(y) for y in ys])
    if is_zero(s):
        lost = {'inexact', 'underflow', 'to_zero'}
        return Block(0, 0, 0, [0] * len(ys), [set() if is_zero(y) else lost for y in ys])
    r = bfloat16(quotient(ONE, s))
    bits8 = group_bits(group_products(ys, WIDE, r, kind), 4)
    narrow = enumerate(group_products(ys, NARROW, r, kind))
    bits4 = group_bits([shifted(p, -(bits8 >> g // 2 & 1)) for g, p in narrow], 2)
    rounded = [element_of(y, r, exponent(i, bits8, bits4), kind) for i, y in enumerate(ys)]
    return Block(scale_code(s), bits8, bits4, [code for code, _ in rounded], [events for _, events in rounded])


def nan_events(y):
    """The events in a block whose scale is NaN."""
    return {'nan_in'} if is_nan(y) else {'inexact'} if is_finite(y) else {'inf_in', 'invalid'}


def group_products(ys, size, r, kind):
    """P(A8 r) or P(A4 r) of each group"""
    products = [multiply(largest(ys[start:start + size]), r) for start in range(0, len(ys), size)]
    return [bfloat16(p) for p in products] if kind.products == 'bfloat16' else products


def group_bits(numbers, bound):
    """A bit for each group, the first one lowest: whether its number is the bound or more."""
    return sum(1 << g for g, x in enumerate(numbers) if compare(x, integer(bound)) >= 0)


def exponent(i, bits8, bits4):
    """b8 + b4 of element i."""
    return (bits8 >> i // WIDE & 1) + (bits4 >> i // NARROW & 1)


def element_of(y, r, e, kind):
    """P4 and its events: P(y r) 2^-(b8 + b4) rounded into float4_e1m2; +0 where y is -0."""
    if is_zero(y):
        return 0, set()
    product = multiply(y, r)
    product = product if kind.products == 'exact' else bfloat16(product)
    return round_real(shifted(product, -e), ELEMENT, Mode('rna' if kind.ties == 'away' else 'rne', sat='finite'))


def values_of(block):
    """s 2^(b8 + b4) P4"""
    s = scale_value(block.c)
    return [NAN if is_nan(s) else shifted(multiply(s, ELEMENT.decode(code)), exponent(i, block.bits8, block.bits4))
            for i, code in enumerate(block.codes)]


@operation('hif4', 'kind rows cols x')
def hif4(fields):
    """Codes row-major, and for each block its four bytes as one number, the first byte lowest."""
    kind, rows, cols = kind_of(fields['kind']), int(fields['rows']), int(fields['cols'])
    ys = [bfloat16(x) for x in binary32_numbers(fields['x'])]
    if len(ys) != rows * cols:
        raise ValueError('x has not rows * cols elements')
    blocks = [block_of(ys[i * cols:(i + 1) * cols][start:start + BLOCK], kind)
              for i in range(rows) for start in range(0, cols, BLOCK)]
    return {'codes': hex_list([code for block in blocks for code in block.codes]),
            'scales': hex_list([block.c | block.bits8 << 8 | block.bits4 << 16 for block in blocks]),
            'values': binary32_list([x for block in blocks for x in values_of(block)]),
            'events': count_text(count(events for block in blocks for events in block.events))}
