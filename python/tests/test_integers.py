# SPDX-License-Identifier: MIT
"""Integers are rounded once, whatever holds them: Python's of any size, lists, NumPy's scalars and arrays."""
import ctypes
from fractions import Fraction

import numpy as np
import pytest

import halfulp
from halfulp import _abi as abi
from halfulp._integers.odd import of_integers, to_odd
from model import Grid

KINDS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
GRIDS = {'bfloat16': Grid(8, 7, 0, False), 'binary32': Grid(8, 23, 0, False), 'binary16': Grid(5, 10, 0, False),
         'fp(8,2,0)': Grid(8, 2, 0, False), 'fp(6,12,3):finite': Grid(6, 12, 3, True)}
MODES = ('rne', 'rna', 'rnz', 'rtz', 'rtp', 'rtn', 'raz', 'rto')


def rounded(grid, x, mode, bits=0, word=0):
    """An integer of any size, by fractions."""
    if x == 0:
        return 0.0
    size = grid._magnitude(abs(Fraction(x)), x > 0, mode, bits, word)
    value = float(size) if size <= grid.max else grid._beyond(mode, x > 0, 'none', size, abs(Fraction(x)))
    return value if x > 0 else -value


def integers(random, most, count=60):
    """Integers of up to so many digits, near ties of narrow formats as often as not."""
    made = [0, 1, -1]
    for _ in range(count):
        digits = int(random.integers(1, most + 1))
        x = int.from_bytes(random.bytes(most // 8 + 1), 'little') >> (most // 8 * 8 + 8 - digits) | 1 << (digits - 1)
        cut = max(digits - int(random.integers(2, 12)), 1)
        near = (x >> cut << cut) + (1 << (cut - 1)) + int(random.integers(-1, 2))
        made += [x, -x, near, -near]
    return made


@pytest.mark.parametrize('text', GRIDS)
@pytest.mark.parametrize('mode', MODES)
def test_python_integers(text, mode, random):
    xs = integers(random, 140)
    expected = [rounded(GRIDS[text], x, mode) for x in xs]
    np.testing.assert_array_equal(halfulp.quantize(xs, text, mode), expected)
    np.testing.assert_array_equal(halfulp.quantize([[x, 0.5] for x in xs], text, mode)[:, 0], expected)
    assert [halfulp.quantize(x, text, mode) for x in xs] == expected
    np.testing.assert_array_equal(halfulp.decode(halfulp.encode(xs, text, mode), text, dtype='float64'), expected)
    np.testing.assert_array_equal(halfulp.number.quantize(xs, text, mode), expected)
    np.testing.assert_array_equal(halfulp.number.decode(halfulp.number.encode(xs, text, mode), text, dtype='float64'),
                                  expected)


@pytest.mark.parametrize('kind', KINDS)
def test_arrays_of_integers(kind, random):
    info = np.iinfo(kind)
    xs = np.array([x for x in integers(random, 64) if info.min <= x <= info.max] + [info.min, info.max], kind)
    for text, grid in GRIDS.items():
        expected = [rounded(grid, int(x), 'rne') for x in xs]
        got = halfulp.quantize(xs, text)
        assert got.dtype == np.float64
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(halfulp.quantize(xs.reshape(1, -1)[:, ::-1], text)[0, ::-1], expected)
        scalar = halfulp.quantize(xs[-1], text)
        assert type(scalar) is np.float64 and scalar == expected[-1]
        np.testing.assert_array_equal(halfulp.quantize(list(xs), text), expected)


@pytest.mark.parametrize('text, x, expected', [
    ('bfloat16', 2**60 + 2**52 + 1, 2**60 + 2**53), ('binary32', 2**60 + 2**36 + 1, 2**60 + 2**37),
    ('binary16', 2**15 + 16 + 1, 2**15 + 32), ('bfloat16', 10**400, np.inf), ('float8_e4m3fn', -10**400, -448.0),
    ('bfloat16', 2**200, np.inf), ('bfloat16', 2**127 + 2**119 + 1, 2**127 + 2**120)])
def test_ties_that_are_none(text, x, expected):
    """What is a tie, or an infinity, in binary64 is not one of the integer."""
    assert halfulp.quantize(x, text) == expected
    assert halfulp.quantize([x, 1], text).tolist() == [expected, 1.0]
    assert halfulp.decode(halfulp.encode(x, text), text, dtype='float64') == expected


def test_booleans():
    x = np.array([[True, False], [False, True]])
    np.testing.assert_array_equal(halfulp.quantize(x, 'float8_e4m3fn'), x.astype(float))
    assert halfulp.encode(True, 'float8_e4m3fn') == halfulp.encode(np.bool_(True), 'float8_e4m3fn') == 0x38
    np.testing.assert_array_equal(halfulp.scaled.quantize(x, 'mxfp4'), x.astype(np.float32))


def test_odd(random):
    """A binary64 number on the same side of every shorter number, by another way than the code's."""
    for x in integers(random, 64, 300) + [2**64 - 1, 2**63, -2**63, 2**53 + 1]:
        y = to_odd(x)
        held = Fraction(y) == x
        odd = int(np.float64(y).view(np.uint64)) & 1 and abs(Fraction(y) - x) < np.spacing(abs(y))
        assert held or odd
        if -2**63 <= x < 2**64:
            made, exact = of_integers(np.array([x], np.int64 if x < 2**63 else np.uint64))
            assert made[0] == y and (exact is None) == held


def test_events_and_the_c_library(random):
    """hu_from_signed and hu_from_unsigned, another way through the library, give the same codes and events."""
    library = abi.main()
    library.hu_from_signed.restype = library.hu_from_unsigned.restype = ctypes.c_uint32
    for text in ('bfloat16', 'float8_e4m3fn', 'binary32'):
        f = halfulp.Format(text)
        for mode in ('rne', 'rtz', 'sra:8', 'srb:32', 'src:30'):
            full, stream, counted, expected = halfulp.Mode(mode), halfulp.Stream(5, 9), halfulp.Events(), halfulp.Events()
            xs = [x for x in integers(random, 64, 40) if -2**63 <= x < 2**64]
            got = halfulp.encode(xs, text, mode, stream=stream, events=counted)
            for i, (x, code) in enumerate(zip(xs, got)):
                word = int(stream.after(i).words(1)[0]) >> (32 - full.bits) if full.bits else 0
                call, kind = (library.hu_from_signed, ctypes.c_int64) if x < 0 else (library.hu_from_unsigned,
                                                                                     ctypes.c_uint64)
                bits = ctypes.c_uint32()
                assert call(f._c, full._c, kind(x), ctypes.c_uint32(word), ctypes.byref(bits)) == code, (text, mode, x)
                expected += halfulp.Events(**{name: bits.value >> n & 1 for n, (name, _) in enumerate(expected)})
            assert counted == expected, (text, mode)


def test_many_random_bits(random):
    """Roundings that see more digits than binary64 has."""
    xs, stream = integers(random, 120), halfulp.Stream(3, 4)
    got = halfulp.quantize(xs, 'binary32', 'sra:32', stream=stream)
    for i, x in enumerate(xs):
        assert got[i] == rounded(GRIDS['binary32'], x, 'sra', 32, int(stream.after(i).words(1)[0])), x
    np.testing.assert_array_equal(halfulp.number.quantize(xs, 'binary32', 'sra:32', stream=stream), got)
    mixed = halfulp.quantize([2**60 + 1, 0.1, float('nan')], 'binary32', 'sra:32', stream=stream)
    plain = halfulp.quantize([1.0, 0.1, float('nan')], 'binary32', 'sra:32', stream=stream)
    np.testing.assert_array_equal(mixed[1:], plain[1:])
    out = np.zeros(3)
    assert halfulp.quantize([2**60 + 1, 0.1, 3], 'binary32', 'sra:32', stream=stream, out=out) is out
    np.testing.assert_array_equal(out[:2], mixed[:2])
    assert halfulp.quantize(1 << 1024, 'fp(11,4,0)', 'sra:4', stream=stream) == np.inf


def test_the_last_random_bit():
    """An integer whose digits just reach the word, those among them that binary64 lacks: one step less does not."""
    seen = 0
    for key in range(200):
        word = int(halfulp.Stream(key).words(1)[0])
        reach = (1 << 32) - word
        if word == 0 or reach & 7 == 0 or not reach & 8:
            continue
        x, step = (1 << 23 << 32 | reach) << 4, 1 << 36  # 24 digits, then 32 that the word is added to, then four more
        for number, expected in ((x, x - (reach << 4) + step), (x - 1, x - (reach << 4)), (-x, -(x - (reach << 4) + step))):
            assert halfulp.quantize(number, 'binary32', 'sra:32', stream=key) == expected
            assert halfulp.number.quantize([number], 'binary32', 'sra:32', stream=key)[0] == expected
        seen += 1
    assert seen > 50


def test_other_systems():
    for text in ('posit16', 'posit32', 'takum16', 'takum_linear16', 'lns8', 'hifloat8', 'q(31.0)', 'nf4'):
        for x in (3, 2**53 + 1, 2**60 + 2**52 + 1, -10**30):
            around = [np.nextafter(float(x), end) for end in (-np.inf, np.inf)]
            got, low, high = halfulp.number.quantize([x, *around], text)
            assert low <= got <= high, (text, x)
    assert halfulp.number.quantize(2**60 + 2**47 + 1, 'posit32') > halfulp.number.quantize(2.0**60 + 2**47, 'posit32')
    wrapped = halfulp.number.encode([2**60 + 5, -2**60 - 3, 2**40, 7], 'q(31.0):wrap')
    assert wrapped.tolist() == [5, 2**32 - 3, 0, 7]
    assert halfulp.number.encode([2**60 + 5, 9], 'uq(8.0):wrap').tolist() == [5, 9]
    events = halfulp.Events()
    halfulp.number.encode([2**60 + 5], 'q(31.0):wrap', events=events)
    assert events.overflow == 1


def test_decisions_at_irrational_numbers():
    """Where the grid decides between two binary64 numbers, integers between them are refused, and no others."""
    odd, refused = halfulp.Number('lns(9,1)'), []
    bound = int(2.0 ** 60.25)  # values are powers of the root of 2, and the logarithm of this lies midway
    for x in range(bound - 400, bound + 400, 25):
        try:
            halfulp.number.quantize(x, odd)
        except ValueError as error:
            assert 'on both sides of {}'.format(x) in str(error)
            refused.append(x)
    assert 0 < len(refused) < 32


def test_what_begins_in_binary32():
    """Definitions over float32 take every container of a number that float32 has, and no other number."""
    x = [[1, 2, -3, True]]
    for call in (lambda x: halfulp.scaled.quantize(x, 'mxfp4'), lambda x: halfulp.quantize(x, 'nvfp4'),
                 lambda x: halfulp.round_tensor(x, 's2fp8'), lambda x: halfulp.add(x, x, 'bfloat16'),
                 lambda x: halfulp.hifloat4_encode(x).decode(), lambda x: halfulp.gemm(x, np.ones((4, 1), np.float32)),
                 lambda x: halfulp.compare(x, ['mxfp4']).rows[0].max_error):
        expected = call(np.float32(x))
        for same in (x, np.float64(x)):
            np.testing.assert_array_equal(call(same), expected)
        for wrong in ([[1, 2**53 + 1, 2, 3]], [[1, 0.1, 2, 3]], np.float64([[1, 0.1, 2, 3]]), [[1, 2**200, 2, 3]]):
            with pytest.raises(TypeError, match='is no float32|binary64 lacks'):
                call(wrong)
    for kind in KINDS + (np.bool_,):
        np.testing.assert_array_equal(halfulp.scaled.quantize(np.array([[1, 0, 1, 1]], kind), 'mxfp4'), [[1, 0, 1, 1]])
        np.testing.assert_array_equal(halfulp.mul(np.array([1, 0, 1], kind), 3, 'bfloat16'), [3, 0, 3])
    with pytest.raises(TypeError, match='16777217 is no float32'):
        halfulp.scaled.encode(np.array([[1, 2**24 + 1]]), 'mxfp8_e4m3')


NUMBERS = tuple(kind for kind in KINDS if kind not in (np.uint8, np.uint16, np.uint32)) + (np.bool_, np.float64)
SUMS = {
    'gemm': lambda x: halfulp.gemm(x, x.T if hasattr(x, 'T') else np.float32(x).T),
    'gemm c': lambda x: halfulp.gemm(np.zeros((2, 3), np.float32), np.zeros((3, 4), np.float32), x),
    'gemm binary32': lambda x: halfulp.gemm(x, np.ones((4, 1), np.float16), a_format='binary32', accum='fp32'),
    'unit': lambda x: halfulp.gemm(x, np.ones((4, 2), np.float32), accum='nv.hopper.e4m3.f32.wgmma'),
    'gemm_errors': lambda x: halfulp.gemm_errors(x, np.ones((4, 2), np.float32), ['fp32']).rows[0].max,
    'dot': lambda x: halfulp.dot(x, x), 'dot mixed': lambda x: halfulp.dot(x, np.float16([1, 2, 3, 4]), accum='fp64'),
    'dot c': lambda x: halfulp.dot(np.zeros((2, 4, 1), np.float32), np.zeros(1, np.float32), x, accum='seq(binary16)'),
    'all_reduce': lambda x: halfulp.all_reduce(x), 'buffers': lambda x: halfulp.all_reduce(list(x), 'ring(bfloat16)'),
    'all_reduce binary32': lambda x: halfulp.all_reduce(x, format='binary32'),
    'sum': lambda x: float(halfulp.ExactSum().add(x)),
    'products': lambda x: float(halfulp.ExactSum().add_products(x, np.float32(x))),
}


@pytest.mark.parametrize('name', SUMS)
def test_sums_take_numbers(name):
    """Products and sums take a number from whatever holds it, as roundings do."""
    x = np.float32([[1, 0, 1, 1], [0, 1, 1, 0]])
    expected = SUMS[name](x)
    for kind in NUMBERS:
        if not ('binary32' in name and kind == np.int32):  # these are codes
            np.testing.assert_array_equal(SUMS[name](x.astype(kind)), expected)
            assert np.asarray(SUMS[name](x.astype(kind))).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(SUMS[name](x.astype(int).tolist()), expected)
    for kind in (np.uint8, np.uint16, np.uint32):
        if 'binary32' not in name:
            with pytest.raises(TypeError, match='may hold codes or numbers; [a-z_]*format= says'):
                SUMS[name](x.astype(kind))
    if name not in ('sum', 'dot', 'dot mixed'):
        for wrong in (np.int64([[2**24 + 1, 1, 0, 0]]), [[2**60 + 1, 1, 0, 0]], np.float64([[0.1, 0, 0, 0]])):
            with pytest.raises(TypeError, match='is no float32|binary64 lacks'):
                SUMS[name](wrong)


def test_integers_and_codes():
    """With a format integers are codes, and no other type than its own is taken for them."""
    ones = np.full((1, 4), 0x38, np.uint8)
    assert halfulp.gemm(ones, ones.T, a_format='float8_e4m3fn', b_format='float8_e4m3fn') == 4
    assert halfulp.dot(ones.view(np.int8), ones, a_format='float8_e4m3fn', b_format='float8_e4m3fn') == 4
    for kind in (np.int64, np.int16, np.bool_):
        for call in (lambda x: halfulp.gemm(x, x.T, a_format='float8_e4m3fn'),
                     lambda x: halfulp.dot(x, x, a_format='float8_e4m3fn'),
                     lambda x: halfulp.all_reduce(x, format='float8_e4m3fn'),
                     lambda x: halfulp.ExactSum().add(x, 'float8_e4m3fn'),
                     lambda x: halfulp.ExactSum().add_products(x, x, 'float8_e4m3fn', 'float8_e4m3fn')):
            with pytest.raises(TypeError, match='codes|elements of'):
                call(ones.astype(kind))
    with pytest.raises(TypeError, match='a: elements of s32 are uint32 or int32, not float32'):
        halfulp.dot(np.float32([1]), np.float32([1]), a_format='s32', b_format='s32', accum='int32', to='s32')
    assert halfulp.dot(np.int8([[1, 2]]), np.uint8([3, 4]), accum='int32', to='s32')[0] == 11
    with pytest.raises(TypeError, match='scale_a: an array of uint8 .* scale_format='):
        halfulp.gemm(np.float32([[1, 2]]), np.float32([[1], [2]]), accum='any(nv.blackwell.mxfp8.e4m3)',
                     scale_a=np.uint8([[127]]), scale_b=np.uint8([[127]]))


def test_large_integers_in_sums():
    n = 2**60 + 2**52 + 1
    for held in ([n], np.int64([n]), np.uint64([n])):
        total = halfulp.ExactSum().add(held)
        assert total == halfulp.ExactSum().add([2.0**60, 2.0**52, 1]) and total.round('bfloat16') == 2**60 + 2**53
        assert float(total.add([-2**60 - 2**52])) == 1
    huge = halfulp.ExactSum().add([3 << 1022, 1, 0.5])
    assert float(huge.add([-(3 << 1022)])) == 1.5
    with pytest.raises(ValueError, match='x: an integer of 1025 bits'):
        halfulp.ExactSum().add([1, 1 << 1024])
    values = np.array([0.1, -1e300, 5e-324, -0.0])
    assert float(halfulp.ExactSum().add(values).add(-values[1:])) == 0.1
    assert np.isnan(float(halfulp.ExactSum().add([np.nan, 1.0])))
    assert halfulp.dot([2**30 + 1], [1], accum='fp64', to='binary64') == 2**30 + 1
    with pytest.raises(TypeError, match='a: 1073741825 is no float32'):
        halfulp.dot([2**30 + 1], [1], accum='fp32')
    with pytest.raises(TypeError, match='binary64 lacks'):
        halfulp.dot(np.int64([n]), [1])


def test_nothing_else_loses_digits():
    """Calls that take numbers of Python as binary64 say where it lacks one."""
    with pytest.raises(TypeError, match='binary64 lacks'):
        halfulp.dot([2**60 + 1], [1.0], to='binary64')
