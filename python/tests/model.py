# SPDX-License-Identifier: MIT
"""Rounding by exact fractions, written from docs/numerics.md sections 1 to 3 alone: formats with gradual subnormals."""
from fractions import Fraction

import numpy as np


class Grid:
    """fp(e, m, b): edges 'ieee' (infinities, NaN) or 'finite' (each code is a number)."""

    def __init__(self, e, m, b, finite):
        self.e, self.m, self.finite = e, m, finite
        bias = (1 << (e - 1)) - 1 + b
        self.emin = 1 - bias
        top = (1 << e) - 1 - (0 if finite else 1)
        self.max = (2 - Fraction(1, 1 << m)) * Fraction(2) ** (top - bias)

    def round(self, x, mode, saturate='none', bits=0, word=0):
        """The value that the float x rounds to; 'none': overflow is infinite, or max where all codes are finite."""
        if np.isnan(x):
            return float(self.max) if self.finite else np.nan
        sign = -1.0 if np.signbit(x) else 1.0
        if np.isinf(x):
            return sign * (float(self.max) if self.finite or saturate == 'finite' else np.inf)
        if x == 0:
            return sign * 0.0
        rounded = self._magnitude(abs(Fraction(float(x))), sign > 0, mode, bits, word)
        if rounded > self.max:
            return sign * self._beyond(mode, sign > 0, saturate, rounded, abs(Fraction(float(x))))
        return sign * float(rounded)

    def _magnitude(self, a, positive, mode, bits, word):
        k = 0
        while Fraction(2) ** (k + 1) <= a:
            k += 1
        while Fraction(2) ** k > a:
            k -= 1
        step = Fraction(2) ** (max(k, self.emin) - self.m)
        low = a // step
        nu = a / step - low
        # The parity is that of the code: with m = 0 that of the exponent's place, 0 even.
        odd = low % 2 == 1 if self.m > 0 or low == 0 else (max(k, self.emin) - self.emin + 1) % 2 == 1
        half = Fraction(1, 2)
        up = {
            'rne': nu > half or (nu == half and odd), 'rna': nu >= half, 'rnz': nu > half, 'rtz': False,
            'rtp': nu > 0 and positive, 'rtn': nu > 0 and not positive, 'raz': nu > 0, 'rto': nu > 0 and not odd,
            'sra': nu * (1 << bits) // 1 + word >= 1 << bits,
        }[mode]
        return (low + (1 if up else 0)) * step

    def _beyond(self, mode, positive, saturate, rounded, a):
        if self.finite or saturate == 'finite':
            return float(self.max)
        away = {'rtz': False, 'rto': False, 'rtp': positive, 'rtn': not positive}.get(mode, True)
        return np.inf if away else float(self.max)

    def exact(self, value):
        """A fraction rounded to nearest, ties to even, as a fraction; within the range."""
        if value == 0:
            return Fraction(0)
        rounded = self._magnitude(abs(value), value > 0, 'rne', 0, 0)
        assert rounded <= self.max
        return rounded if value > 0 else -rounded
