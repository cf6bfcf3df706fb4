#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Matrix units of open designs as black boxes, in exact fractions: nothing of the library, nor of its pages.

usage: units.py NAME              answers lines "A B C" or "A B C SA SB" in hex, as `halfulp identify` asks them
       units.py --check HALFULP   rows of each unit, and what `halfulp mma` gives for the unit's text
       units.py --texts           name, text and formats of each unit

A and B are as many elements as there are instructions times products; C and the result are one element.
"""
import random
import subprocess
import sys
from fractions import Fraction

# name: exponent bits, fraction bits, and whether the top exponent has numbers (E4M3: all but one code) or none (IEEE)
FORMATS = {'binary16': (5, 10, 'ieee'), 'bfloat16': (8, 7, 'ieee'), 'binary32': (8, 23, 'ieee'),
           'float8_e5m2': (5, 2, 'ieee'), 'float8_e4m3fn': (4, 3, 'fn')}
NAN, PLUS, MINUS = 'nan', '+inf', '-inf'


class Number:
    """A decoded element: its value (a Fraction or a word above), sign, exponent field at least 1, whether it is zero."""

    def __init__(self, code, name):
        ebits, mbits, kind = FORMATS[name]
        field, fraction = code >> mbits & (1 << ebits) - 1, code & (1 << mbits) - 1
        self.sign, bias = code >> ebits + mbits, (1 << ebits - 1) - 1
        self.exponent = max(field, 1) - bias
        self.value = (-1) ** self.sign * Fraction(fraction + (1 << mbits if field else 0)) * Fraction(2) ** (self.exponent - mbits)
        self.zero = self.value == 0
        if field == (1 << ebits) - 1 and kind == 'ieee':
            self.value = NAN if fraction else MINUS if self.sign else PLUS
        elif kind == 'fn' and code & 0x7F == 0x7F:
            self.value = NAN


def floor_log2(x):
    x, e = abs(x), 0
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def encode(value, name, flush=False, negative=False):
    """Nearest even into an IEEE format; `flush`: a result below the least normal number is the zero of its sign."""
    ebits, mbits, _ = FORMATS[name]
    bias, top = (1 << ebits - 1) - 1, ((1 << ebits) - 1) << mbits
    if value == NAN:
        return top | 1 << mbits - 1
    if value in (PLUS, MINUS):
        return top | (value == MINUS) << ebits + mbits
    if value == 0:
        return negative << ebits + mbits
    sign, e = int(value < 0), floor_log2(value)
    digits = round(abs(value) / Fraction(2) ** (e - mbits))       # as if there were no least exponent
    if flush and Fraction(digits) * Fraction(2) ** (e - mbits) < Fraction(2) ** (1 - bias):
        return sign << ebits + mbits
    e = max(e, 1 - bias)
    digits = round(abs(value) / Fraction(2) ** (e - mbits))
    code = digits + (e + bias - 1 << mbits) if digits >> mbits else digits
    return min(code, top) | sign << ebits + mbits


def special(values):
    """NaN, an infinity or None."""
    if NAN in values or (PLUS in values and MINUS in values):
        return NAN
    return PLUS if PLUS in values else MINUS if MINUS in values else None


def product(a, b):
    """The product of two elements, or a word."""
    if NAN in (a.value, b.value):
        return NAN
    if isinstance(a.value, str) or isinstance(b.value, str):
        return NAN if a.zero or b.zero else MINUS if a.sign ^ b.sign else PLUS
    return a.value * b.value


def cut(x, unit):
    """x toward zero to multiples of `unit`, and whether that changed it."""
    n = abs(x) // unit * unit
    return (n if x >= 0 else -n), n != abs(x)


def aligned(terms, c, digits, zeros_stick):
    """Terms (value, exponent) and c: magnitudes cut `digits` below the largest exponent, one bit for all that is lost."""
    parts = terms + ([(c.value, c.exponent)] if not c.zero else [])
    parts = [(x, e) for x, e in parts if e is not None]
    if not parts:
        return Fraction(0)
    unit = Fraction(2) ** (max(e for _, e in parts) - digits)
    kept = [cut(x, unit) for x, _ in parts]
    total, lost = sum(x for x, _ in kept), any(more for _, more in kept)
    lost = lost or (zeros_stick and (c.zero or any(e is None for _, e in terms)))
    return total + (unit / 2 ** 80 if total > 0 else -unit / 2 ** 80 if lost and total else 0) if lost else total


def tfr(a, b, c, zeros_stick):
    """Products and C in one aligner with a sticky bit; subnormal results are flushed."""
    values = [product(x, y) for x, y in zip(a, b)]
    found = special(values + [c.value])
    if found:
        return encode(found, 'binary32')
    terms = [(v, x.exponent + y.exponent if v else None) for v, x, y in zip(values, a, b)]
    return encode(aligned(terms, c, 24, zeros_stick), 'binary32', flush=True)


def tfr_pairs(a, b, c):
    """Pairs of products, each pair cut 14 digits below its own larger exponent and added; then as above."""
    values = [product(x, y) for x, y in zip(a, b)]
    found = special(values + [c.value])
    if found:
        return encode(found, 'binary32')
    terms = []
    for i in range(0, len(values), 2):
        exponents = [a[j].exponent + b[j].exponent for j in (i, i + 1) if values[j]]
        if exponents:
            unit = Fraction(2) ** (max(exponents) - 14)
            terms.append((sum(cut(values[j], unit)[0] for j in (i, i + 1)), max(exponents)))
    return encode(aligned(terms, c, 24, False), 'binary32', flush=True)


def binary32_sum(x, y):
    """Two binary32 values, or words, added and rounded; zeros of one sign keep it."""
    found = special([x.value, y.value])
    negative = x.zero and y.zero and x.sign and y.sign
    return Number(encode(found or x.value + y.value, 'binary32', negative=bool(negative)), 'binary32')


def bhf(a, b, c):
    """Pairs of products added exactly and rounded to binary32, a tree of additions over them, then C."""
    level = []
    for i in range(0, len(a), 2):
        values = [product(a[j], b[j]) for j in (i, i + 1)]
        minus = all(v == 0 and a[j].sign ^ b[j].sign for j, v in zip((i, i + 1), values))
        level.append(Number(encode(special(values) or sum(values), 'binary32', negative=minus), 'binary32'))
    while len(level) > 1:
        level = [binary32_sum(*level[i:i + 2]) for i in range(0, len(level), 2)]
    return encode_number(binary32_sum(level[0], c))


def encode_number(x):
    return encode(x.value, 'binary32', negative=bool(x.sign))


def scaled(a, b, c, sa, sb):
    """Four products added exactly and scaled by 2^(SA + SB - 254), for all eight; the two sums and C aligned."""
    values = [product(x, y) for x, y in zip(a, b)]
    found = special(values + [c.value] + ([NAN] if 255 in sa + sb else []))
    if found:
        return encode(found, 'binary32')
    e, terms = sa[0] + sb[0] - 254, []
    for i in range(0, len(values), 4):
        if any(values[i:i + 4]):
            terms.append((sum(values[i:i + 4]) * Fraction(2) ** e, e))
    return encode(aligned(terms, c, 24, False), 'binary32')


def twice(a, b, c):
    """The exact sum of four products and C, rounded to binary32 and that to bfloat16."""
    values = [product(x, y) for x, y in zip(a, b)] + [c.value]
    once = Number(encode(special(values) or sum(values), 'binary32'), 'binary32')
    return encode(once.value, 'bfloat16', negative=bool(once.sign))


# name: formats of A and B, of C and D, products of an instruction, the unit, its text, digits of a scale
ALIGN = 'block(align,l=8,f=24,emin=-252,%s)'
UNITS = {
    'tfr-binary16': ('binary16', 'binary32', 8, lambda a, b, c: tfr(a, b, c, True), ALIGN % 'ftz=tiny,sticky=or,zeros=sticky'),
    'tfr-bfloat16': ('bfloat16', 'binary32', 8, lambda a, b, c: tfr(a, b, c, True), ALIGN % 'ftz=tiny,sticky=or,zeros=sticky'),
    'tfr-binary16-mended': ('binary16', 'binary32', 8, lambda a, b, c: tfr(a, b, c, False), ALIGN % 'ftz=tiny,sticky=or'),
    'tfr-bfloat16-mended': ('bfloat16', 'binary32', 8, lambda a, b, c: tfr(a, b, c, False), ALIGN % 'ftz=tiny,sticky=or'),
    'tfr-float8_e4m3fn': ('float8_e4m3fn', 'binary32', 16, tfr_pairs,
                          'block(groups,l=16,f=24,emin=-252,g=2,ftz=tiny,sticky=or,window=14)'),
    'tfr-float8_e5m2': ('float8_e5m2', 'binary32', 16, tfr_pairs,
                        'block(groups,l=16,f=24,emin=-252,g=2,ftz=tiny,sticky=or,window=14)'),
    'bhf-float8_e4m3fn': ('float8_e4m3fn', 'binary32', 16, bhf, 'block(tree,l=16,g=2,products=exact)'),
    'mx-float8_e4m3fn': ('float8_e4m3fn', 'binary32', 8, scaled,
                         'block(groups,l=8,f=24,emin=-600,g=4,every=8,scale=float8_e8m0fnu,sticky=or)'),
    'twice-bfloat16': ('bfloat16', 'bfloat16', 4, twice, 'block(exact,l=4,out=bfloat16,via=binary32)'),
}


def answer(unit, line):
    """The result of a line: instruction after instruction."""
    operands, result, length, function, _ = UNITS[unit]
    width, wide = (sum(FORMATS[name][:2]) + 4 >> 2 for name in (operands, result))
    fields = line.split()
    a, b = ([Number(int(text[i:i + width], 16), operands) for i in range(0, len(text), width)] for text in fields[:2])
    scales = [[int(text[i:i + 2], 16) for i in range(0, len(text), 2)] for text in fields[3:]]
    c = int(fields[2], 16)
    for i in range(0, len(a), length):
        more = [[s[i // 8]] for s in scales]
        c = function(a[i:i + length], b[i:i + length], Number(c, result), *more)
    return '%0*x' % (wide, c)


def rows(unit, count, seed):
    """Rows with ordinary and with near numbers, zeros, ties, the ends of the range and specials."""
    draw = random.Random(seed)
    operands, result, length, _, text = UNITS[unit]
    for _ in range(count):
        elements, line = length * draw.choice((1, 2)), []
        kind = draw.randrange(4)
        for name, n in ((operands, elements), (operands, elements), (result, 1)):
            ebits, mbits, _ = FORMATS[name]
            bias, width = (1 << ebits - 1) - 1, ebits + mbits + 1
            codes = []
            for _ in range(n):
                code = draw.getrandbits(width)
                if kind and draw.random() < 0.97:       # near 1, near each other, often with few digits
                    field = max(0, bias + draw.randint(*((-2, 2), (-12, 4), (-3, 3))[kind - 1])) & (1 << ebits) - 1
                    fraction = draw.getrandbits(mbits) if draw.random() < 0.6 else 0
                    code = draw.getrandbits(1) << width - 1 | min(field, (1 << ebits) - 2) << mbits | fraction
                codes.append(0 if draw.random() < (0.3 if kind == 3 else 0.04) else code)
            line.append(''.join('%0*x' % (width + 3 >> 2, code) for code in codes))
        if 'scale=' in text:
            line += [''.join('%02x' % draw.randint(120, 134) for _ in range(elements // 8)) for _ in range(2)]
        yield ' '.join(line)


def check(halfulp, count):
    for unit, (operands, result, _, _, text) in UNITS.items():
        asked = list(rows(unit, count, unit))
        command = [halfulp, 'mma', text, '--fa', operands, '--fb', operands, '--fd', result]
        said = subprocess.run(command, input='\n'.join(asked) + '\n', capture_output=True, text=True, check=True).stdout.split()
        wrong, nan = 0, FORMATS[result][1]
        for line, code in zip(asked, said):
            right = answer(unit, line)
            magnitude, infinity = int(code, 16) & ~(1 << sum(FORMATS[result][:2])), ((1 << FORMATS[result][0]) - 1) << nan
            both = magnitude > infinity and int(right, 16) & ~(1 << sum(FORMATS[result][:2])) > infinity
            if code != right and not both:
                wrong += 1
                if wrong < 4:
                    print('%s: %s: %s, the unit gives %s' % (unit, line, code, right))
        print('%s: %d rows, %d differ from %s' % (unit, len(asked), wrong, text))
        if wrong or len(said) != count:
            return 1
    return 0


def main(words):
    if words[:1] == ['--check']:
        sys.exit(check(words[1], int(words[2]) if words[2:] else 2000))
    if words == ['--texts']:
        for unit, (operands, result, length, _, text) in UNITS.items():
            print(unit, text, operands, result, length)
    else:
        for line in sys.stdin:
            print(answer(words[0], line), flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
