# SPDX-License-Identifier: MIT
"""Tests of the evaluator of numbers.md, s2fp8.md and scaled.md, by what the pages say. Run: python3 -m unittest"""
import random
import struct
import unittest

import evaluate
from exact import BINARY32, INFINITIES, NAN, compare, from_interchange, is_finite, to_interchange
from formats import Format
from lines import mode_of
from number_kinds import HiFloat8, Posit, Takum
from number_reals import Irrational
from number_rounding import encode
from number_systems import to_binary64
from number_texts import parse
from rounding import DETERMINISTIC, Mode
from s2fp8_tensor import Kind, decode as s2fp8_decode, encode as s2fp8_encode, from_stored, statistics
from scaled_layout import Layout
from scaled_scales import power_of_two_exponent
from scaled_tensor import decode as scaled_decode, encode as scaled_encode

evaluate.load()

E4M3 = Format(1, 4, 3, 0, inf='none', nan='ones', over='nan')
E5M2 = Format(1, 5, 2, 0)
E2M1 = Format(1, 2, 1, 0, inf='none', nan='none', over='max')
E8M0 = Format(0, 8, 0, 0, zero='none', sub='none', inf='none', nan='top', nz=0, over='nan')
UE4M3 = Format(0, 4, 3, 0, inf='none', nan='top', nz=0, over='nan')
E5M2_AXES = 's=1 e=5 m=2 b=0 zero=field sub=gradual inf=ieee nan=ieee nz=1 over=inf neg=nan'
SYSTEMS = ('posit(2,0)', 'posit(3,1)', 'posit(6,1)', 'posit(8,0)', 'posit(8,2)', 'posit(9,5)', 'takum(8)', 'takum(12)',
           'takum_linear(8)', 'takum_linear(12)', 'hifloat8', 'lns(8,3)', 'lns(8,3):offset', 'lns(8,3):unsigned',
           'lns(6,0)', 'q(3.4)', 'uq(3.4)', 'q(0.7):wrap', 'uq(4.0):wrap')


def real(number):
    """A Real from a Python float, which is exact."""
    return from_interchange(int.from_bytes(struct.pack('>d', number), 'big'), (11, 52))


def binary32(number):
    return from_interchange(int.from_bytes(struct.pack('>f', number), 'big'), BINARY32)


def code_of(text, number, mode='rne', r=0):
    return encode(parse(text), real(number), mode_of(mode), r)


class Numbers(unittest.TestCase):
    def test_values_have_their_codes(self):
        """N.2: a value of the system is its own rounding, in every mode and without events."""
        for text in SYSTEMS:
            system = parse(text)
            for code in range(1 << system.width):
                x = system.decode(code)
                if is_finite(x):
                    for word in DETERMINISTIC + ('sra',):
                        got = encode(system, x, Mode(word, 4 if word == 'sra' else 0), 15)
                        if x.n == 0:
                            self.assertTrue(system.decode(got[0]).n == 0 or 'inexact' in got[1])
                        else:
                            self.assertEqual(got, (code, set()), (text, code, word))

    def test_tapered_boundaries(self):
        """N.2 posit: the boundary between two codes is the value of the code of n + 1 bits with a 1 appended."""
        systems = [(Posit(n, es), Posit(n + 1, es)) for n in (4, 7) for es in (0, 1, 2)]
        systems += [(Takum(n, linear), Takum(n + 1, linear)) for n in (8, 10, 14) for linear in (False, True)]
        for system, longer in systems:
            for code in range(1, system.largest_code):
                x = longer.positive(2 * code + 1)
                self.assertEqual(encode(system, x, Mode('rne'))[0], code + (code & 1))
                self.assertEqual(encode(system, x, Mode('rna'))[0], code + 1)
                self.assertEqual(encode(system, x, Mode('rnz'))[0], code)
                negative = longer.positive(2 * code + 1, 1)
                self.assertEqual(encode(system, negative, Mode('rtn'))[0], system.complement(code + 1))
                self.assertEqual(encode(system, negative, Mode('rtp'))[0], system.complement(code))

    def test_values_rise(self):
        for system in (Posit(9, 1), Takum(11, True), Takum(11, False)):
            values = [real_of(system.positive(code)) for code in range(1, system.largest_code + 1)]
            self.assertEqual(values, sorted(set(values)))
        self.assertEqual(real_of(Takum(12, True).positive(0x7FF)), 2.0 ** 254)
        self.assertEqual(real_of(Takum(12, True).positive(1)), 2.0 ** -254)

    def test_ends(self):
        """N.2: |x| >= maxPos gives maxPos, and 0 < |x| <= minPos gives minPos, in every mode."""
        for word in DETERMINISTIC:
            self.assertEqual(code_of('posit(8,2)', 1e300, word), (0x7F, {'overflow', 'saturated', 'inexact'}))
            self.assertEqual(code_of('posit(8,2)', -1e-300, word), (0xFF, {'underflow', 'inexact'}))
        self.assertEqual(code_of('posit(8,2)', 2.0 ** 24), (0x7F, set()))

    def test_hifloat8(self):
        values = {0x00: 0, 0x01: 2.0 ** -22, 0x07: 2.0 ** -16, 0x08: 1, 0x6E: 2.0 ** 15, 0xEE: -2.0 ** 15}
        for code, value in values.items():
            self.assertEqual(real_of(HiFloat8().decode(code)), value)
        self.assertEqual(HiFloat8().decode(0x6F), INFINITIES[0])
        self.assertEqual(HiFloat8().decode(0x80), NAN)
        self.assertEqual(code_of('hifloat8', 40960, 'rna'), (0x6F, {'overflow', 'inexact'}))
        self.assertEqual(code_of('hifloat8', 40959, 'rna'), (0x6E, {'inexact'}))
        self.assertEqual(code_of('hifloat8', 50000, 'rtz'), (0x6E, {'overflow', 'saturated', 'inexact'}))

    def test_lns(self):
        self.assertEqual(code_of('lns(8,3)', 0.0), (0x40, set()))
        self.assertEqual(encode(parse('lns(8,3)'), NAN, Mode())[0], 0xC0)
        self.assertEqual(code_of('lns(8,3)', 2.0), (8, set()))
        self.assertEqual(code_of('lns(8,3)', 2.0 ** -9), (0x40, {'underflow', 'inexact', 'to_zero'}))
        self.assertEqual(code_of('lns(8,3)', -2.0 ** -9, 'rtn')[0], 0xC1)
        self.assertEqual(code_of('lns(8,3):unsigned', 0.0), (0, {'inexact'}))

    def test_fixed(self):
        self.assertEqual(code_of('q(0.7)', 1.0), (0x7F, {'overflow', 'saturated', 'inexact'}))
        self.assertEqual(code_of('q(0.7):wrap', 1.0), (0x80, {'overflow', 'inexact'}))
        self.assertEqual(code_of('uq(4.4)', -1.0), (0, {'invalid', 'saturated', 'inexact'}))
        self.assertEqual(code_of('uq(4.4)', -0.01), (0, {'inexact', 'to_zero'}))

    def test_table(self):
        """N.2: ties, limits, the lowest of equal codes, and zeros of both signs."""
        text = 'table(0x40000000,0x3f800000,0x80000000,0x00000000,0x3f800000)'
        self.assertEqual(code_of(text, 1.5)[0], 0)              # places 1 and 2: the even one
        self.assertEqual(code_of(text + ':ties=low', 1.5)[0], 1)
        self.assertEqual(code_of(text, -0.0)[0], 2)
        self.assertEqual(code_of(text, 0.0)[0], 3)
        self.assertEqual(code_of(text, 9.0)[0], 0)
        given = 'table(0x3f800000,0x40000000,0x3f8ccccd,0x40000000):ties=given'
        self.assertEqual(code_of(given, 1.2)[0], 1)
        self.assertEqual(code_of(given, 1.2, 'rnz')[0], 0)

    def test_texts(self):
        """N.1: decimal values, first words and limits; N.7: names."""
        values = parse('table(-0.5250730514526367,1e-3,0x3f800000)').values
        self.assertEqual([to_interchange(x, BINARY32) for x in values], [0xbf066b30, 0x3a83126f, 0x3f800000])
        self.assertEqual(parse('int8').decode(0x80), parse('q(7.0):saturate').decode(0x80))
        for text in ('posit(33,2)', 'posit(32,6)', 'lns(16,3)', 'takum(7)', 'q(16.16)', 'table(0x7fc00000)', 'posit9',
                     'table(1,2,0.5,2):ties=given'):
            self.assertRaises(ValueError, parse, text)

    def test_takum_into_a_table(self):
        """N.6: the operand is 64 leading ones, the last of which is made odd."""
        takum = parse('takum(16)')
        for code in (0x4001, 0x3FFF, 0x7000):
            x = takum.decode(code)
            operand = x.odd_digits(64)
            self.assertEqual((operand.n.bit_length(), operand.n & 1), (64, 1))
            self.assertEqual(operand.n - 1 >> 1 << 1, x.stand_in(200).n >> x.stand_in(200).n.bit_length() - 64 & ~1)

    def test_decoded_irrational_values(self):
        """N.5: sqrt 2 and e^(1/2) in binary64."""
        self.assertEqual(to_binary64(parse('lns(8,3)').decode(4)), 0x3FF6A09E667F3BCD)
        code = encode(parse('takum(32)'), real(1.6487212707001282), Mode())[0]
        self.assertIsInstance(parse('takum(32)').decode(code), Irrational)
        self.assertEqual(to_binary64(parse('takum(32)').decode(code)), 0x3FFA61298E1E069C)


class S2fp8(unittest.TestCase):
    def truncate(self, elements, kind=Kind(E5M2), mode=Mode()):
        mu, most = statistics(elements, kind.target)
        codes = [s2fp8_encode(x, kind, mu, most, mode, 0)[0] for x in elements]
        return [s2fp8_decode(code, kind, mu, most) for code in codes]

    def test_consequences(self):
        """Section 6, items 1 to 3."""
        rng = random.Random(1)
        for _ in range(20):
            elements = [binary32(rng.gauss(0, 1) * 10 ** rng.uniform(-3, 3)) for _ in range(9)]
            values = self.truncate(elements)
            self.assertEqual(largest(values), largest(elements))
            scaled = self.truncate([x._replace(q=x.q + 5) for x in elements])
            self.assertTrue(all(compare(v._replace(q=v.q + 5), w) == 0 for v, w in zip(values, scaled)))
            negative = self.truncate([x._replace(sign=1 - x.sign) for x in elements])
            self.assertTrue(all(compare(v, w._replace(sign=1 - w.sign)) == 0 for v, w in zip(values, negative)))

    def test_one_magnitude(self):
        """Section 3: a tensor of zeros and one magnitude comes back unchanged."""
        elements = [binary32(number) for number in (0.3, -0.3, 0.0, -0.0, 0.3)]
        self.assertTrue(all(to_interchange(x, BINARY32) == to_interchange(y, BINARY32)
                            for x, y in zip(elements, self.truncate(elements))))

    def test_infinities(self):
        """Section 4: the canonical NaN with the sign of x, or in a format without NaN what `finite` gives."""
        for mode in (Mode(), Mode(sat='propagate', nan='error')):
            for element, sign, code, events in ((E4M3, 1, 0xFF, {'inf_in', 'invalid'}),
                                                (E2M1, 1, 0xF, {'inf_in', 'saturated'})):
                self.assertEqual(s2fp8_encode(INFINITIES[sign], Kind(element), 0, 8 << 40, mode, 0), (code, events))

    def test_stored_form(self):
        """Section 3: what is refused."""
        self.assertEqual(from_stored(real(1.0), real(5.0), 15), (-5 << 40, 10 << 40))
        for alpha, beta in ((0.0, 0.0), (-1.0, 0.0), (float('inf'), 0.0), (1.0, float('nan')), (1e-9, 0.0)):
            self.assertIsNone(from_stored(real(alpha), real(beta), 15))

    def test_products(self):
        """Section 8, with mu = 0 and m = T, so that values are the numbers of the codes: 2 + 3 4 + 1 = 15."""
        operands = {'m': '1', 'k': '2', 'n': '1', 'a': '40,42', 'b': '3c,44', 'c': '3f800000'}
        for x in 'ab':
            operands.update({'kind_' + x: 's2fp8', 'format_' + x: E5M2_AXES, 'mu_' + x: '0', 'm_' + x: str(15 << 40)})
        self.assertEqual(evaluate.evaluate('s2fp8_gemm', operands)['z'], '41700000')

    def test_dyadic_values(self):
        """Section 5: with mu = 0 and m = 2 T the values are squares, and so exact."""
        kind = Kind(E5M2)
        value = s2fp8_decode(E5M2.max_code(), kind, 0, 30 << 40)
        self.assertEqual(real_of(value), (1.75 * 2.0 ** 15) ** 2)


class ScaledTensors(unittest.TestCase):
    def test_page_of_torch(self):
        """ht.quantize(x, 'mxfp4', dim=-1) of docs/torch/torch.md."""
        layout = Layout('scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=floor)', E2M1, E8M0)
        elements = [binary32(number) for number in (0.3, -1.7, 500.0, 1e-9)]
        made = scaled_encode(layout, elements, 1, 4, mode_of('rne'), 0, 0)
        values = scaled_decode(layout, made.codes, made.scales, made.t, 1, 4)
        self.assertEqual([real_of(value) for value in values], [0, 0, 384, 0])
        self.assertEqual([value.sign for value in values], [0, 1, 0, 0])

    def test_rules(self):
        """Section 3: where the rules differ, for E4M3 (emax 8)."""
        def exponent(rule, number):
            layout = Layout('scaled(x;scale=y;block=1x32;rule=%s)' % rule, E4M3, E8M0)
            return power_of_two_exponent(binary32(number), layout)
        step = 2.0 ** -22
        self.assertEqual([exponent(rule, 1.0) for rule in ('floor', 'ceil', 'even', 'rceil')], [-8] * 4)
        self.assertEqual([exponent('ceil', 1 + step), exponent('floor', 2 - step)], [-7, -8])
        self.assertEqual([exponent('even', 1.9375), exponent('even', 1.9375 - step)], [-7, -8])
        self.assertEqual([exponent('rceil', 1.75), exponent('rceil', 1.75 + step)], [-8, -7])

    def test_four_over_six(self):
        """Section 4.1: 4, 3 and 1 have no error under s4, and 6, 4 and 3 none under s6."""
        layout = Layout('scaled(x;scale=ue4m3;block=1x16;rule=4over6_mse;steps=multiply;tensor=256)', E2M1, UE4M3)
        elements = [binary32(number) for number in (4.0, 3.0, 1.0)]
        made = scaled_encode(layout, elements, 1, 3, mode_of('rne'), 0, 0)
        self.assertEqual(made.codes, [6, 5, 2])
        elements = [binary32(number) for number in (6.0, 4.0, 3.0)]
        made = scaled_encode(layout, elements, 1, 3, mode_of('rne'), 0, 0)
        self.assertEqual(made.codes, [7, 6, 5])

    def test_lower_bound_of_amax(self):
        """Section 2: with amin, A is at least that number, also in a block of zeros; A_T is not limited."""
        text = 'scaled(x;scale=y;block=1x2;rule=ratio;steps=divide%s;amin=0x40c00000)'
        layout = Layout(text % '', E2M1, UE4M3)
        self.assertEqual(scaled_encode(layout, [real(0.0)] * 2, 1, 2, mode_of('rne'), 0, 0).scales, [0x38])
        layout = Layout(text % ';tensor', E2M1, UE4M3)
        self.assertEqual(scaled_encode(layout, [real(0.0)] * 2, 1, 2, mode_of('rne'), 0, 0).t.q, 0)

    def test_complement_codes(self):
        """Section 5: the lowest code of MXINT8 is -2."""
        int8 = Format(1, 0, 7, 0, inf='none', nan='none', nz=0, over='max')
        layout = Layout('scaled(x;scale=float8_e8m0fnu;block=1x32;rule=floor;code=twos)', int8, E8M0)
        self.assertEqual(real_of(layout.number(0x80)), -2)
        self.assertEqual(real_of(layout.number(0xFF)), -1 / 64)
        self.assertEqual(layout.stored(int8.join(1, 1)), 0xFF)


def real_of(x):
    """The Python float of a binary64 number; the nearest one of an irrational number."""
    return struct.unpack('>d', to_binary64(x).to_bytes(8, 'big'))[0]


def largest(elements):
    return max(abs(real_of(x)) for x in elements)


if __name__ == '__main__':
    unittest.main()
