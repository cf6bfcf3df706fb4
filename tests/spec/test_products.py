# SPDX-License-Identifier: MIT
"""Tests of products of scaled tensors, by what section 9 of scaled.md says. Run: python3 -m unittest"""
import random
import unittest

import evaluate
from lines import OPERATIONS

evaluate.load()
MODE = 'rne sat=default tiny=after nan=max fma=quiet'
E4M3 = 's=1 e=4 m=3 b=0 zero=field sub=gradual inf=none nan=ones nz=1 over=nan neg=nan'
E2M1 = 's=1 e=2 m=1 b=0 zero=field sub=gradual inf=none nan=none nz=1 over=max neg=nan'
E8M0 = 's=0 e=8 m=0 b=0 zero=none sub=none inf=none nan=top nz=0 over=nan neg=nan'
UE4M3 = 's=0 e=4 m=3 b=0 zero=field sub=gradual inf=none nan=top nz=0 over=nan neg=nan'
INT8 = 's=1 e=0 m=7 b=0 zero=field sub=gradual inf=none nan=none nz=0 over=max neg=nan'
BINARY32 = 's=1 e=8 m=23 b=0 zero=field sub=gradual inf=ieee nan=ieee nz=1 over=inf neg=nan'

NAMED = 'binary32~%s|bfloat16~%s' % (BINARY32, BINARY32.replace('m=23', 'm=7'))


def codes(rng, count, bits):
    return ','.join('%x' % rng.getrandbits(bits) for _ in range(count))


def product(rng, text, steps, element=E4M3, scale=BINARY32, tensor=False, m=2, k=10, n=2, fields=None):
    """The result of a product of random tensors in blocks of 4 along k."""
    width = 8 if element != E2M1 else 4
    options = steps + (';tensor' if tensor else '') + (';code=twos' if element == INT8 else '')
    operands = {'sum': text, 'formats': NAMED, 'm': str(m), 'k': str(k), 'n': str(n), 'mode': MODE, 'key': '1',
                'counter': '2', 'ld': 'plain', 'ed': BINARY32}
    for x, block, rows, cols, count in (('a', '1x4', m, k, m * -(-k // 4)), ('b', '4x1', k, n, n * -(-k // 4))):
        operands['l' + x] = 'scaled(e;scale=s;block=%s;rule=ratio%s)' % (block, options)
        operands['e' + x], operands['s' + x] = element, scale
        operands[x] = codes(rng, rows * cols, width)
        if scale == BINARY32:
            operands['scales_' + x] = ','.join('%x' % (0x3F000000 + rng.getrandbits(24)) for _ in range(count))
        else:
            operands['scales_' + x] = ','.join('%x' % rng.randrange(0x30, 0x60) for _ in range(count))
        t = '%x' % (0x3F000000 + rng.getrandbits(23))
        if tensor:
            operands['tensor_' + x] = t
    operands.update(fields or {})
    return OPERATIONS['scaled_gemm'][0](operands)


class Products(unittest.TestCase):
    def same(self, *texts, **choices):
        for seed in range(30):
            results = [product(random.Random(seed), text, ';steps=divide', **choices) for text in texts]
            self.assertTrue(all(result == results[0] for result in results), (seed, results))

    def test_promote(self):
        """9.1: factor rounded, no t, binary32 scales and runs of N give promote(N,inside,binary32,scaled)."""
        for inside in ('fp32', 'seq(bfloat16)', 'pairwise(binary32)'):
            self.same('parts(%s;fp32;rounded)' % inside, 'unit(promote(4,%s,binary32,scaled))' % inside)

    def test_exact(self):
        """Codes and scales without any rounding are the exact sum of decoded values, where those are exact."""
        self.same('parts(exact;exact;exact)', 'decoded(binary32;exact)', 'exact', element=E2M1, scale=UE4M3)
        self.same('parts(exact;exact;exact)', 'exact', element=INT8, scale=E8M0)

    def test_alpha(self):
        """alpha with a t: where all scales but t are applied exactly, one rounding at the end and one of tA tB."""
        for seed in range(10):
            with_t = product(random.Random(seed), 'parts(exact;exact;alpha)', ';steps=multiply', E2M1, UE4M3, True, k=4,
                             fields={'tensor_a': '3f800000', 'tensor_b': '3f000000'})
            without = product(random.Random(seed), 'parts(exact;exact;alpha)', ';steps=multiply', E2M1, UE4M3, k=4)
            for x, y in zip(with_t['codes'].split(','), without['codes'].split(',')):
                x, y = int(x, 16), int(y, 16)
                self.assertTrue(x == y == 0 or y - x == 1 << 23)

    def test_nothing_to_add(self):
        """k = 0: the sum is C, but rnd(+0 + C) for a tree."""
        fields = {'a': '-', 'b': '-', 'scales_a': '-', 'scales_b': '-', 'lc': 'plain', 'ec': E4M3, 'c': '38,80,1,7f'}
        for text, zero in (('parts(pairwise(binary32);seq(bfloat16);rounded)', '80000000'), ('exact', '80000000'),
                           ('parts(exact;pairwise(binary32);exact)', '0')):
            got = product(random.Random(1), text, '', k=0, fields=fields)
            self.assertEqual(got['codes'], '3f800000,%s,3b000000,7fc00000' % zero)
            self.assertEqual(got['events'], 'nan_in:1')

    def test_signs_of_zeros(self):
        """9.1: zeros of an exact inside are those of a rounding to nearest, those of across follow the call."""
        fields = {'mode': 'rtn' + MODE[3:], 'a': '38,b8', 'b': '38,38', 'scales_a': '3f800000', 'scales_b': '3f800000'}
        for text, zero in (('parts(exact;fp32;rounded)', '0'), ('parts(fp32;exact;rounded)', '0'),
                           ('exact', '80000000')):
            got = product(random.Random(1), text, '', m=1, k=2, n=1, fields=fields)
            self.assertEqual(got['codes'], zero, text)

    def test_scaled_result(self):
        layout = 'scaled(e;scale=s;block=1x32;rule=floor)'
        got = product(random.Random(1), 'exact', '', fields={'ld': layout, 'ed': E4M3, 'sd': E8M0})
        self.assertEqual(len(got['scales'].split(',')), 2)


if __name__ == '__main__':
    unittest.main()
