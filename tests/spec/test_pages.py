# SPDX-License-Identifier: MIT
"""The examples that the pages print, and corner cases that numerics.md states in words."""
import struct
import unittest

import evaluate
from lines import OPERATIONS
from texts import described
from words import inner_word, philox, stream_word

evaluate.load()

TEXTS = {
    'half': 'fp(5,10,0)', 'binary16': 'fp(5,10,0)', 'bfloat16': 'fp(8,7,0)', 'binary32': 'fp(8,23,0)',
    'float8_e4m3fn': 'fp(4,3,0):fn', 'float8_e5m2': 'fp(5,2,0):nan=ieee1', 'float4_e2m1fn': 'fp(2,1,0):finite',
    'float8_e8m0fnu': 'fp(8,0,0):fn,unsigned,zero=none,nosub', 'ue4m3': 'fp(4,3,0):fn,unsigned',
    'e5m2_ieee': 'fp(5,2,0)', 'e4m3_ieee': 'fp(4,3,0)', 'fp434': 'fp(4,3,4):finite',
    'fp520_finite': 'fp(5,2,0):finite', 'fnuz': 'fp(4,3,1):fnuz',
}


def axes_of(text):
    """The axes of a format, as lines have them."""
    return 's=%d e=%d m=%d b=%d zero=%s sub=%s inf=%s nan=%s nz=%d over=%s neg=%s' % described(text).key()


F = {name: axes_of(text) for name, text in TEXTS.items()}
NAMED = '|'.join('%s~%s' % pair for pair in F.items())
DEFAULT = 'rne sat=default tiny=after nan=max'


def bits(number):
    """The binary64 bits of a number, or of a hexadecimal text."""
    x = float.fromhex(number) if isinstance(number, str) else float(number)
    return struct.pack('>d', x).hex()


def mode(word='rne', sat='default', tiny='after', nan='max'):
    return '%s sat=%s tiny=%s nan=%s' % (word, sat, tiny, nan)


def results(name, **fields):
    return evaluate.evaluate(name, {key: str(value) for key, value in fields.items()})


def encode(fmt, x, m=DEFAULT, word='0'):
    r = results('round', format=F.get(fmt, fmt), mode=m, x=bits(x), word=word)
    return r['code'], r['events']


def operation(op, fz, *operands, m=DEFAULT, word='0'):
    """operands: pairs of a format and a code."""
    fields = {'op': op, 'fz': F[fz], 'mode': m, 'word': word}
    for letter, (fmt, code) in zip('xyw', operands):
        fields['f' + letter], fields[letter] = F[fmt], code
    r = results('arith' if op in ARITHMETIC else 'function', **fields)
    return r['code'], r['events']


ARITHMETIC = ('add', 'sub', 'mul', 'div', 'sqrt', 'fma', 'remainder', 'minimum', 'maximum', 'minimum_number',
              'maximum_number', 'convert', 'round_to_integral')


def codes(text, digits):
    """6c003c00 with 4 digits an element: 6c00,3c00."""
    return ','.join(text[i:i + digits] for i in range(0, len(text), digits))


def dot(model, fa, fb, fc, fd, a, b, c, m=DEFAULT, **more):
    fields = dict(model=model, fa=F[fa], fb=F[fb], fc=F[fc], fd=F[fd], mode=m, key='0', counter='0', element='0', a=a,
                  b=b, c=c, formats=NAMED, **more)
    return results('dot', **fields)


class Conversions(unittest.TestCase):
    def test_encode(self):
        self.assertEqual(encode('float8_e4m3fn', 0.3)[0], '2a')                                     # glossary, Code
        self.assertEqual(results('decode', format=F['float8_e4m3fn'], code='2a')['bits'], bits('0x1.4p-2'))
        self.assertEqual(encode('float8_e4m3fn', 500), ('7e', 'overflow,saturated,inexact'))        # glossary, Event
        self.assertEqual(encode('half', '-0x1p-30', mode('rtp'))[0], '8000')                        # found.md, 10
        self.assertEqual(encode('half', '0x1.003000p-6')[0], '2401')                                # rtl.md
        self.assertEqual(encode('float8_e4m3fn', 248)[0], '78')                                     # found.md, 8

    def test_random(self):
        takes = [r for r in range(256) if encode('float8_e4m3fn', 0.3, mode('sra:8'), '%x' % r)[0] == '2a']
        self.assertEqual((len(takes), takes[0]), (153, 0x67))                                       # glossary
        self.assertEqual(encode('float8_e4m3fn', 0.1, mode('sra:4'), '3'), ('1c', 'inexact'))       # rtl.md
        self.assertEqual(encode('float8_e4m3fn', 0.1, mode('sra:4'), '7'), ('1d', 'inexact'))
        for word, code in (('7f', '3c'), ('80', '3d')):                                             # numerics.md, 2
            self.assertEqual(encode('float8_e5m2', 1.125, mode('sra:8', 'none'), word)[0], code)
        takes = [r for r in range(256) if encode('float8_e5m2', 1.125, mode('sra:8'), '%x' % r)[0] == '3d']
        self.assertEqual((len(takes), takes[0]), (128, 0x80))                                       # guide-hardware.md

    def test_corner_cases(self):
        """Section 9."""
        for sat, code in (('default', '7e'), ('none', '7f')):                                       # C1
            self.assertEqual(encode('float8_e4m3fn', 1000, mode(sat=sat))[0], code)
        self.assertEqual(encode('float8_e4m3fn', -1000, mode(sat='none'))[0], 'ff')
        self.assertEqual(encode('float8_e5m2', 'inf', mode(sat='finite'))[0], '7b')                 # C2
        self.assertEqual(encode('float8_e5m2', 'inf', mode(sat='propagate'))[0], '7c')
        self.assertEqual(encode('float4_e2m1fn', 'nan'), ('7', 'nan_in'))                           # C3
        self.assertEqual(encode('float4_e2m1fn', 'nan', mode(nan='zero')), ('0', 'nan_in'))
        self.assertEqual(encode('float4_e2m1fn', 'nan', mode(nan='error')), ('7', 'nan_in,invalid'))
        self.assertEqual(encode('fnuz', '-0x0p0')[0], '0')                                          # C5
        self.assertEqual(encode('float8_e4m3fn', 464, mode(sat='none'))[0], '7e')                   # C7
        self.assertEqual(encode('float8_e5m2', 61440)[0], '7c')
        self.assertEqual(encode('float8_e4m3fn', '-0x1p-10'), ('80', 'inexact,underflow,to_zero'))  # C8
        self.assertEqual(encode('float8_e4m3fn', 450, mode(sat='none')), ('7e', 'inexact'))         # C9
        self.assertEqual(encode('float8_e8m0fnu', 0)[0:2], ('0', 'inexact'))                        # C16
        self.assertEqual(encode('float8_e8m0fnu', -1, mode(sat='none'))[0], 'ff')
        self.assertEqual(encode('float8_e8m0fnu', -1), ('0', 'invalid,saturated,inexact'))
        self.assertEqual(encode('float8_e8m0fnu', 1.5)[0], '80')
        self.assertEqual(encode('float8_e8m0fnu', 3)[0], '80')
        self.assertEqual(encode('float8_e8m0fnu', 3, mode('rna'))[0], '81')
        self.assertEqual(encode('float8_e4m3fn', 1000, mode('rto', 'none'))[0], '7f')               # C19: max is even
        self.assertEqual(encode('e5m2_ieee', 1e9, mode('rto', 'none'))[0], '7b')                    # max is odd

    def test_limits(self):
        for fmt, code, value in (('e5m2_ieee', '7b', 57344), ('fp520_finite', '7f', 114688), ('fp434', '7f', 30),
                                 ('fp434', '1', 0.0001220703125)):                                  # C26, python.md
            self.assertEqual(results('decode', format=F[fmt], code=code)['bits'], bits(value))

    def test_words(self):
        """Known answers of Philox4x32-10 (Random123)."""
        self.assertEqual(philox((0, 0, 0, 0), (0, 0)), (0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8))
        ones = 0xffffffff
        self.assertEqual(philox((ones,) * 4, (ones, ones)), (0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd))
        self.assertEqual(philox((0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344), (0xa4093822, 0x299f31d0)),
                         (0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1))
        self.assertEqual([stream_word(0, 0, i) for i in (0, 3)], [0x6627e8d5, 0x9b00dbd8])
        self.assertEqual(inner_word(5, 7, 9, 6), philox((16, 0, 2, 0), (5, 0))[2])


class Arithmetic(unittest.TestCase):
    def test_found(self):
        """found.md: operands, result and flags."""
        tiny = 'inexact,underflow'
        self.assertEqual(operation('convert', 'float8_e5m2', ('half', '0380')), ('4', tiny))
        self.assertEqual(operation('mul', 'half', ('half', '01ff'), ('half', '4002')), ('400', 'inexact'))
        bf = 'bfloat16'
        self.assertEqual(operation('div', bf, (bf, '0001'), (bf, '7e80')), ('0', tiny + ',to_zero'))
        self.assertEqual(operation('div', bf, (bf, '2d6a'), (bf, 'f280'), m=mode('rtn')), ('8001', tiny + ',subnormal'))
        single = 'binary32'
        self.assertEqual(operation('div', single, (single, '00ffffff'), (single, '40000000')), ('800000', tiny))
        self.assertEqual(operation('convert', 'half', ('float8_e5m2', '3c')), ('3c00', '-'))
        self.assertEqual(operation('pow', 'half', ('half', 'c348'), ('half', '7c00')), ('7c00', 'inf_in'))

    def test_others(self):
        e = 'float8_e4m3fn'
        self.assertEqual(operation('mul', e, (e, '57'), (e, '39')), ('58', 'inexact'))              # vectors.md
        self.assertEqual(operation('mul', e, (e, '00'), (e, 'b2')), ('80', '-'))                    # guide-hardware.md
        self.assertEqual(operation('add', 'half', ('half', '7bff'), ('half', '7bff')), ('7c00', 'overflow,inexact'))
        self.assertEqual(operation('add', 'half', ('half', '7bff'), ('half', '7c00')), ('7c00', 'inf_in'))
        self.assertEqual(operation('fma', 'half', ('half', '3c00'), ('half', '4000'), ('half', '3800')), ('4100', '-'))
        self.assertEqual(operation('mul', 'half', (e, '3e'), ('float8_e5m2', 'b5')), ('b860', '-'))
        self.assertEqual(operation('reciprocal', 'half', ('half', '8000')), ('fc00', 'divide_by_zero'))

    def test_array_of_guide(self):
        """guide-simulator.md: values, and 4 inexact, 1 saturated, 1 to zero (as binary32 numbers)."""
        found = [results('array', format=F['float8_e4m3fn'], mode=DEFAULT, key='0', counter='0', index='0', x=x)
                 for x in ('3dcccccd', '3f800000', '43e60000', 'b089705f', '7f61b1e6')]
        values = [results('decode', format=F['float8_e4m3fn'], code=r['code'])['bits'] for r in found]
        self.assertEqual(values, [bits(v) for v in (0.1015625, 1, 448, '-0x0p0', 448)])
        for event, count in (('inexact', 4), ('saturated', 1), ('to_zero', 1)):
            self.assertEqual(sum(event in r['events'] for r in found), count)


class Sums(unittest.TestCase):
    A, B = codes('6c003c00ec003c00', 4), codes('6c003c006c003c00', 4)

    def test_one_row(self):
        """accumulators.md: one row, one column, five results."""
        volta = 'block(align,l=4,f=23,emin=-131,acc=binary32,out=binary32,round=rtz,over=inf,zero=plus)'
        for model, code in (('exact', '40200000'), ('fp32', '3f800000'), ('block(tree,l=4)', '3fc00000'), (volta, '0'),
                            ('seq(binary32)', '3f800000'), ('takes(binary16,binary16,binary32,fp32)', '3f800000'),
                            ('block(align,l=4,f=24,emin=-126,acc=binary32,out=binary32)', '40000000')):
            r = dot(model, 'half', 'half', 'binary32', 'binary32', self.A, self.B, '3f000000')
            self.assertEqual(r['code'], code)

    def test_own_unit(self):
        for model, code in (('exact', '48d0'), ('block(align,l=4,f=3,emin=-28,out=binary16)', '4900')):
            a, b = codes('48003d003a003000', 4), codes('3c003c00bc003c00', 4)
            r = dot(model, 'half', 'half', 'half', 'half', a, b, '3c00')
            self.assertEqual(r['code'], code)

    def test_volta_with_c_in_binary16(self):
        unit = 'block(align,l=4,f=23,emin=-131,acc=%s,out=binary32,round=rtz,over=inf,zero=plus)'
        for acc, code in (('binary32', '33800200'), ('binary16', '33800000')):
            r = dot(unit % acc, 'half', 'half', 'half', 'binary32', '400,0,0,0', '1,0,0,0', '1')
            self.assertEqual(r['code'], code)

    def test_explain_dot(self):
        unit = 'block(align,l=32,f=13,emin=-132,acc=binary32,out=fp(8,13,0),round=rtz,over=inf,zero=plus)'
        e, z = 'float8_e4m3fn', ',0' * 29
        r = dot(unit, e, e, 'binary32', 'binary32', '7e,20,38' + z, '7e,28,38' + z, '3f800000')
        self.assertEqual(r['code'], '48440000')

    def test_ones(self):
        """experiments.md, glossary.md: ones added up."""
        e, ones = 'float8_e4m3fn', ','.join(['38'] * 20)
        self.assertEqual(dot('seq(float8_e4m3fn)', e, e, e, e, ones, ones, '0')['code'], '58')      # 16
        ones = ','.join(['3c00'] * 16384)
        for model, code in (('seq(fp(6,9,0))', '44800000'), ('chunk(8,fp(6,9,0),fp(6,9,0))', '46000000'),
                            ('chunk(64,fp(6,9,0),fp(6,9,0))', '46800000')):
            self.assertEqual(dot(model, 'half', 'half', 'half', 'binary32', ones, ones, '-')['code'], code)

    def test_rows(self):
        """rtl.md: rows of vectors dot, with and without random words."""
        unit = 'block(align,l=4,f=13,emin=-28,acc=binary16,out=fp(8,23,0))'
        for a, b, c, d in (('d8', '3c', '8200', 'cc00'), ('1d', 'b7', 'fa01', 'fa01')):
            r = dot(unit, 'float8_e4m3fn', 'float8_e5m2', 'half', 'half', a + ',0,0,0', b + ',0,0,0', c)
            self.assertEqual((r['code'], r['events']), (d, '-'))

    def test_found(self):
        """found.md, 6: an exact dot product toward zero."""
        r = dot('exact', 'e4m3_ieee', 'e4m3_ieee', 'bfloat16', 'bfloat16', '9c,12', '5b,0d', 'e02c', m=mode('rtz'))
        self.assertEqual((r['code'], r['events']), ('e02c', 'inexact'))


class Program(unittest.TestCase):
    def test_unknown(self):
        for line in ('nothing\tx=1\t>code=1', 'decode\tformat=%s\tcode=1\tmore=1\t>bits=0' % F['half'],
                     'decode\tformat=%s\tcode=1\t>value=0' % F['half'], 'decode\tcode=1\t>bits=0'):
            self.assertTrue(evaluate.check(line)[1])
        self.assertIn('dot', OPERATIONS)


if __name__ == '__main__':
    unittest.main()
