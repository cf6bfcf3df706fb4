# SPDX-License-Identifier: MIT
"""HiFloat4 (scaled.md, section 10), by hand and by its own consequences."""
import random
import struct
import unittest

import evaluate
from hif4 import LEAST, MOST, kind_of, scale_code, scale_value
from exact import compare

evaluate.load()


def run(kind, *numbers):
    x = ','.join(struct.pack('>f', number).hex() for number in numbers)
    return evaluate.evaluate('hif4', {'kind': kind, 'rows': '1', 'cols': str(len(numbers)), 'x': x})


def numbers_of(text):
    return [struct.unpack('>f', bytes.fromhex(bits))[0] for bits in text.split(',')]


class HiFloat4(unittest.TestCase):
    def test_by_hand(self):
        """A = 1: S = 1.140625 2^-3, s = 1.25 2^-3 (c = 181), r = 6.40625, both bits are set, P4 = 6/4 of 1.6015625."""
        got = run('hifloat4', 1.0, -0.0, -0.001)
        self.assertEqual(got, {'codes': '6,0,8', 'scales': '101b5', 'values': '3f700000,00000000,80000000',
                               'events': 'inexact:2,underflow:1,to_zero:1'})

    def test_codes_of_scales(self):
        for c in range(255):
            self.assertEqual(scale_code(scale_value(c)), c)
        self.assertEqual([compare(scale_value(c), s) for c, s in ((0, LEAST), (254, MOST))], [0, 0])

    def test_ends(self):
        kinds = (('hifloat4', '0', 'fe'), ('hifloat4_cann', 'ff', 'ff'), ('hifloat4_hifx', '0', 'fe'))
        for kind, zeros, large in kinds:
            self.assertEqual(run(kind, 0.0, 0.0)['scales'], zeros)
            self.assertEqual(run(kind, 3e38)['scales'][-2:], large)
            got = run(kind, float('inf'), 1.0, float('nan'))
            self.assertEqual(got['events'], 'nan_in:1,inf_in:1,invalid:1,inexact:1')
        self.assertEqual(run('hifloat4', 1e-15, 0.0)['events'], 'inexact:1,underflow:1,to_zero:1')
        # What decides is S, not the three digits that it is rounded to: 6.75 2^-48 / 7 becomes 2^-48, and 372736 / 7 is a tie.
        for number, below in ((6.75 * 2.0 ** -48, 0), (7 * 2.0 ** -48, 1), (372736.0, 0), (370688.0, 1)):
            self.assertEqual(run('hifloat4_cann', number)['scales'][-2:] != 'ff', bool(below))
        self.assertEqual(kind_of('hifloat4(ties=away;low=nan)'), ('away', 'nan', 'limit', 'bfloat16'))

    def test_values_are_near(self):
        rng = random.Random(1)
        for kind in ('hifloat4', 'hifloat4_cann', 'hifloat4_hifx'):
            x = [rng.gauss(0, 1) for _ in range(70)]
            values = numbers_of(run(kind, *x)['values'])
            self.assertEqual(len(values), 70)
            self.assertTrue(all(abs(v - y) < 0.3 for v, y in zip(values, x)))


if __name__ == '__main__':
    unittest.main()
