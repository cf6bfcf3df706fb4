# SPDX-License-Identifier: MIT
"""Texts of scaled tensors (scaled.md, section 1) and the properties of their formats that the sections use."""
import re

from exact import FINITE, Real, finite, floor_log2, from_interchange, BINARY32
from lines import rounding_word
from rounding import Mode, round_real
from scaled_formulas import KEYS, Formulas
from texts import agreed

RULES = ('floor', 'ceil', 'even', 'rceil', 'ratio', '4over6_mae', '4over6_mse', '4over6_mae_fast', '4over6_mse_fast',
         'sweep_mse', 'intfloat_mae', 'intfloat_mse', 'intfloat_max')
CHOICES = {
    'rule': RULES,
    'steps': ('exact', 'divide', 'multiply', 'encode', 'reciprocal'),
    'special': ('nan', 'element', 'saturate'),
    'zero': ('low', 'one', 'zero', 'formula'),
    'minus': ('kept', 'none', 'own', 'all'),
    'code': ('magnitude', 'twos'),
    'tensor': ('', '256'),
    'pad': ('',),
}


BFP = (r'scaled(fp(0,\1,0):finite;scale=fp(\2,0,0):finite,unsigned,zero=none,nosub;block=1x\3;rule=floor;'
       'special=element)')


class Layout:
    """scaled(ELEMENT;scale=SCALE;block=RxC;rule=...;...), the axes of whose two formats come with the line."""

    def __init__(self, text, element, scale):
        match = re.fullmatch(r'scaled\((.*)\)', re.sub(r'^bfp\((\d+),(\d+),(\d+)\)$', BFP, text))
        if not match:
            raise ValueError('no layout: ' + text)
        name, *parts = split_top(match.group(1))
        keys = dict(part.partition('=')[::2] for part in parts)
        for key, words in CHOICES.items():
            if keys.get(key, words[0]) not in words:
                raise ValueError('no %s: %s' % (key, keys[key]))
        if keys.keys() - CHOICES.keys() - {'scale', 'block', 'round', 'amin', *KEYS}:
            raise ValueError('unknown key in ' + text)
        self.element, self.scale = agreed(name, element), agreed(keys['scale'], scale)
        self.block_rows, self.block_cols = (None if side == '*' else int(side) for side in keys['block'].split('x'))
        self.formulas = Formulas(self, keys) if 's' in keys else None
        self.rule, self.steps = keys.get('rule'), keys.get('steps', 'exact')
        self.has_types = (self.rule or '').startswith('intfloat_')
        self.special, self.zero = keys.get('special', 'nan'), keys.get('zero', 'low')
        self.twos, self.pads, self.minus = keys.get('code') == 'twos', 'pad' in keys, keys.get('minus', 'kept')
        self.has_tensor = any(key in keys for key in ('tensor', 'S', 't'))
        word, bits = rounding_word(keys.get('round', 'rne'))
        self.scale_mode = Mode(word, bits, sat='finite')
        self.amin = from_interchange(int(keys['amin'], 16), BINARY32) if 'amin' in keys else finite(0, 0, 0)
        self.bound = finite(0, 256, 0) if keys.get('tensor') == '256' else scale.max        # B of section 4.1
        self.largest = element.max                                                          # M
        self.emax = floor_log2(element.max)
        self.powers = power_exponents(scale)

    def rounded_scale(self, y):
        """rnd_S(y): the code and its value."""
        code = round_real(y, self.scale, self.scale_mode)[0]
        return code, self.scale.decode(code)

    def power_scale(self, e):
        """The code and the value of the scale 2^e."""
        return self.rounded_scale(Real(FINITE, 0, 1, e))

    def block_sides(self, rows, cols):
        """R and C of a matrix; `*` is the whole side."""
        return self.block_rows or max(rows, 1), self.block_cols or max(cols, 1)

    def is_whole(self):
        """A block that is the whole tensor, *x*."""
        return self.block_rows is None and self.block_cols is None

    # Elements and their codes; with code=twos a negative number of magnitude code c has the code 2^K - c (section 5)

    def stored(self, code):
        if self.twos and self.element.sign_of(code):
            return -self.element.magnitude_of(code) & self.element.mask
        return code

    def number(self, code):
        """P of a stored code; the lowest code in two's complement is -2^m times the smallest step."""
        if self.twos and self.element.sign_of(code):
            size = -code & self.element.mask
            step = self.element.decode(1)
            return Real(FINITE, 1, size * step.n, step.q)
        return self.element.decode(code)


def split_top(text):
    """The parts between semicolons outside parentheses."""
    parts, depth = [''], 0
    for letter in text:
        depth += {'(': 1, ')': -1}.get(letter, 0)
        if letter == ';' and depth == 0:
            parts.append('')
        else:
            parts[-1] += letter
    return parts


def power_exponents(scale):
    """The exponents of the least and the largest power of two that the scale format has (section 3)."""
    most = floor_log2(scale.max)
    least = most
    while True:
        code, events = round_real(Real(FINITE, 0, 1, least - 1), scale, Mode('rtz', sat='finite'))
        if 'inexact' in events or not scale.decode(code).n:
            return least, most
        least -= 1
