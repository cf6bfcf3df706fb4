# SPDX-License-Identifier: MIT
"""Section 11 of numerics.md: the orders of roundings that 11.3 prints, and rules that the section states in words."""
import unittest

import evaluate
from exact import ZERO
from models import formats_of, model_of
from runs import Run, element_of
from test_pages import F, NAMED, dot, mode, results
from words import high_bits, inner_word

evaluate.load()

TO, OUT = 'bfloat16,sra:8', 'out=bfloat16,round=sra:8'
CUT = 'l=2,f=20,emin=-126,acc=binary32'
ABC = ('2,4,5,6', '2,2,2,2')                            # 1, 2, 3, 4 and ones in E2M1
THREE, TWO = ('2,4,5', '2,2,2'), ('2,4', '2,2')
# model, operands, R of each rounding (- for one without R), as 11.3 prints them
ORDERS = (
    ('seq(%s)' % TO, ABC, '7 42 39 6d'),
    ('seq2(%s)' % TO, ABC, '7 42 39 6d e7 8c 3f a'),
    ('chunk(2,bfloat16,%s)' % TO, ABC, '7 42 39 6d e7 8c 3f a 89 dc'),
    ('pairwise(%s)' % TO, THREE, '7 42 39 6d e7 8c'),
    ('strided(%s)' % TO, THREE, '7 42 39 6d e7 8c 3f'),
    ('kahan(%s)' % TO, TWO, '7 42 39 6d e7 8c 3f a 89 dc'),
    ('neumaier(%s)' % TO, TWO, '7 42 39 6d e7 8c 3f a 89 dc ec'),
    ('block(align,%s,%s)' % (CUT, OUT), ABC, '7 42'),
    ('block(align,%s,order=mod4,%s)' % (CUT, OUT), TWO, '7 42'),
    ('block(align,%s,via=bfloat16,%s)' % (CUT, OUT), ABC, '7 42 39 6d'),
    ('block(groups,%s,g=1,every=2,scale=ue4m3,%s)' % (CUT, OUT), ABC, '7 42'),
    ('block(late,l=2,f=20,f2=22,acc=binary32,%s)' % OUT, ABC, '7 42'),
    ('block(exact,l=2,%s)' % OUT, ABC, '7 42'),
    ('block(tree,l=4,%s)' % OUT, THREE, '7 42 39 6d e7 8c 3f a'),
    ('block(tree,l=2,products=exact,%s)' % OUT, ABC, '7 42 39 6d'),
    ('block(chain,l=4,order=down,%s)' % OUT, ABC, '7 42 39 6d'),
    ('block(lanes,l=4,%s)' % OUT, ABC, '7 42 39 6d e7 8c'),
    ('block(exact,l=2,c=last,%s)' % OUT, ABC, '7 - 39 -'),
    ('block(exact,l=2,every=2,c=last,scaling=sum,scale=ue4m3,%s)' % OUT, ABC, '7 - - - e7 - - -'),
    ('promote(2,seq(%s),binary32)' % TO, ABC, '7 42 - 6d e7 -'),
    ('promote(2,seq(%s),binary32,scaled)' % TO, ABC, '7 42 - - e7 8c - -'),
    ('splitk(2,seq(%s))' % TO, ABC, '7 42 39 6d - -'),
)


class Recorded(Run):
    """Notes R of every rounding."""

    def next_random(self, rounding_mode):
        r = Run.next_random(self, rounding_mode)
        self.noted.append('%x' % r if rounding_mode.bits else '-')
        return r


class Orders(unittest.TestCase):
    def test_printed_orders(self):
        fmt = element_of(F['float4_e2m1fn'])
        scale = element_of(F['ue4m3'])
        for text, (a, b), expected in ORDERS:
            codes = [[int(code, 16) for code in operand.split(',')] for operand in (a, b)]
            ones = [scale.decode(0x38)] * 2
            run = Recorded(fmt, fmt, *codes, ZERO, lambda r: inner_word(1, 0, 0, r), scales=(scale, ones, ones))
            run.noted = []
            model_of(text, formats_of(NAMED)).sum(run, 0, run.n, run.c)
            self.assertEqual(' '.join(run.noted), expected, text)

    def test_words(self):
        self.assertEqual([high_bits(inner_word(1, 0, 0, r), 8) for r in range(3)], [0x7, 0x42, 0x39])


class Rules(unittest.TestCase):
    HALF = ('half', 'half', 'half', 'half')

    def test_addition_of_c(self):
        """11.5: with a policy the addition of C saturates as the sums before it do."""
        for model, code in (('chain,l=1,c=last,sat=finite,out=binary16', '7bff'),
                            ('chain,l=1,sat=finite,out=binary16', '7bff'), ('chain,l=1,c=last,out=binary16', '7c00'),
                            ('align,l=1,f=20,emin=-30,c=last,out=fp(5,10,0):ovf=max,acc=binary16', '7c00')):
            formats = NAMED + '|fp(5,10,0):ovf=max~' + F['half'].replace('over=inf', 'over=max')
            fields = dict(model='block(%s)' % model, fa=F['half'], fb=F['half'], fc=F['half'], fd=F['half'],
                          mode=mode(), key='0', counter='0', element='0', a='7bff', b='3c00', c='7bff', formats=formats)
            self.assertEqual(results('dot', **fields)['code'], code)

    def test_nothing_to_add(self):
        """11.2, n = 0: C itself, flushed by a block with daz; a tree rounds +0 + C."""
        for model, code in (('seq(bfloat16)', '8001'), ('block(tree,l=2,out=binary16)', '8001'), ('exact', '8001'),
                            ('block(tree,l=2,daz=sign,out=binary16)', '8000'),
                            ('block(tree,l=2,daz=plus,out=binary16)', '0'), ('pairwise(float8_e4m3fn)', '8000')):
            self.assertEqual(dot(model, *self.HALF, '-', '-', '8001')['code'], code, model)

    def test_events(self):
        """The table of section 11: NaN read, infinity times zero with and without a NaN, infinities of both signs."""
        for a, b, c, fma, events in (('7e00', '3c00', '0', 'quiet', 'nan_in'), ('7c00', '0', '0', 'quiet', 'invalid'),
                                     ('7c00', '0', '7e00', 'quiet', 'nan_in'),
                                     ('7c00', '0', '7e00', 'invalid', 'nan_in,invalid'),
                                     ('7c00', '3c00', 'fc00', 'quiet', 'invalid')):
            r = dot('seq(binary32)', *self.HALF, a, b, c, m=mode() + ' fma=' + fma)
            self.assertEqual((r['code'], r['events']), ('7e00', events))
        r = dot('block(exact,l=1,in=4)', *self.HALF, '7c01', '0', '0')          # read as an infinity
        self.assertEqual(r['events'], 'invalid')

    def test_special_scales(self):
        """11.5: a NaN scale of any product of a block counts, and a scale of 0 leaves an infinite product as it is."""
        model = 'block(groups,l=4,f=20,emin=-126,g=2,every=2,scale=ue4m3,acc=binary32)'
        e, s = 'float4_e2m1fn', dict(fs=F['ue4m3'], sb='38,38')
        self.assertEqual(dot(model, e, e, 'half', 'half', '2,2,2,2', '2,2,2,2', '0', sa='38,7f', **s)['code'], '7e00')
        r = dot(model, 'half', e, 'half', 'half', '7c00,0,3c00,3c00', '2,2,2,2', '0', sa='0,38', **s)
        self.assertEqual(r['code'], '7c00')

    def test_integers(self):
        """int32(sat,N): overflow and saturated if a limit changes a sum; no addition is swamped or has a gap."""
        fields = dict(fa='s8', fb='s8', fc='s32', fd='s32', mode=mode(), key='0', counter='0', element='0', a='7f,1',
                      b='7f,ff')
        for model, code, events in (('int32', '80003eff', '-'), ('int32(sat,2)', '7fffffff', 'overflow,saturated'),
                                    ('int32(sat,1)', '7ffffffe', 'overflow,saturated')):
            r = results('watch', model=model, c='7fffffff', **fields)
            self.assertEqual((r['code'], r['events']), (code, events))
            self.assertEqual((r['swamped'], r['overflows'], r['gap']), ('0', '1', '0'))

    def test_exceptions(self):
        """11.8: the addition of C belongs to the step."""
        fields = dict(fa=F['half'], fb=F['half'], fc=F['half'], fd=F['half'], mode=mode(), key='0', counter='0',
                      element='0', formats=NAMED)
        for a, b, c, found in (('7c00', '3c00', 'fc00', 'invalid'), ('7c00', '3c00', '7e00', '-'),
                               ('7d00', '3c00', '0', 'invalid'), ('7bff', '7bff', '0', 'overflow'),
                               ('7c00,fc00', '3c00,3c00', '7e00', 'invalid')):
            r = results('exceptions', model='block(exact,l=2,c=last,out=binary16)', a=a, b=b, c=c, **fields)
            self.assertEqual(r['exceptions'], found, (a, b, c))


if __name__ == '__main__':
    unittest.main()
