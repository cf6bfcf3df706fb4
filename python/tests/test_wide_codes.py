# SPDX-License-Identifier: MIT
"""Codes with bits above their format's width: an error in every call, which says how to unpack; and packed codes."""
import ml_dtypes
import numpy as np
import pytest

import halfulp

F4, F6 = 'float4_e2m1fn', 'float6_e2m3fn'
WIDE = np.uint8([[1, 2, 0x21, 3], [4, 5, 6, 7]])
GOOD = np.uint8([[1, 2, 1, 3], [4, 5, 6, 7]])
T = halfulp.scaled.encode(np.ones((2, 32), np.float32), 'mxfp4')


def with_code(t, code, place=(1, 3)):
    codes = t.codes.copy()
    codes[place] = code
    return t._replace(codes=codes)


CALLS = {
    'decode': lambda x: halfulp.decode(x, F4), 'decode strided': lambda x: halfulp.decode(x[:, ::2], F4),
    'decode64': lambda x: halfulp.decode(x, F4, dtype='float64'),
    'decode16': lambda x: halfulp.decode(x, F4, dtype='float16'),
    'convert': lambda x: halfulp.convert(x, 'binary16', of=F4), 'as_ml_dtypes': lambda x: halfulp.as_ml_dtypes(x, F4),
    'codes.add': lambda x: halfulp.codes.add(x, GOOD, of=F4), 'second': lambda x: halfulp.codes.add(GOOD, x, of=F4),
    'codes.fma': lambda x: halfulp.codes.fma(GOOD, GOOD, x, of=F4),
    'codes.exp': lambda x: halfulp.codes.exp(x, of=F4),
    'codes.pow': lambda x: halfulp.codes.pow(GOOD, x, of=F4),
    'compare': lambda x: halfulp.codes.compare(x, GOOD, of=F4),
    'classify': lambda x: halfulp.codes.classify(x, F4), 'next_up': lambda x: halfulp.codes.next_up(x, of=F4),
    'round_to_integral': lambda x: halfulp.codes.round_to_integral(x, of=F4),
    'p3109': lambda x: halfulp.p3109.compute('Add', x, GOOD, of='binary4p2sf'),
    'number.decode': lambda x: halfulp.number.decode(x, 'uq(4.0)'),
    'number.convert': lambda x: halfulp.number.convert(x, 'posit8', 'uq(4.0)'),
    'gemm': lambda x: halfulp.gemm(x, GOOD.T, a_format=F4, b_format=F4),
    'gemm b': lambda x: halfulp.gemm(GOOD, x.T, a_format=F4, b_format=F4, accum='seq(binary16)'),
    'gemm c': lambda x: halfulp.gemm(GOOD, GOOD.T, x[:, :2] | x[:, 2:], a_format=F4, b_format=F4, c_format=F4),
    'dot': lambda x: halfulp.dot(x, GOOD, a_format=F4, b_format=F4),
    'dot u4': lambda x: halfulp.dot(x, GOOD, a_format='u4', b_format='u4', accum='int32', to='s32'),
    'all_reduce': lambda x: halfulp.all_reduce(x, format=F4), 'sum': lambda x: halfulp.ExactSum().add(x, F4),
    'products': lambda x: halfulp.ExactSum().add_products(GOOD, x, F4, F4),
    'scaled.decode': lambda x: with_code(T, x[0, 2]).decode(),
    'scaled.gemm': lambda x: halfulp.scaled.gemm(T, with_code(T, x[0, 2]).T),
    'typed': lambda x: halfulp.decode(x.view(ml_dtypes.float4_e2m1fn)),
    'hifloat4': lambda x: halfulp.HiFloat4Tensor(np.tile(x, (1, 16)), np.zeros((2, 1, 4), np.uint8),
        'hifloat4').decode(),
    'pack': lambda x: halfulp.pack(x, 4), 'scaled.packed': lambda x: with_code(T, x[0, 2]).packed(),
}


@pytest.mark.parametrize('name', CALLS)
def test_refused(name):
    CALLS[name](GOOD)
    with pytest.raises(ValueError, match='unpack') as caught:
        CALLS[name](WIDE)
    assert caught.value.status == 'HU_E_CODE'
    if 'pack' not in name:
        assert 'the code 0x21 at [' in str(caught.value)
        assert 'is wider than the 4 bits of' in str(caught.value) and 'halfulp.unpack(x, 4)' in str(caught.value)


TYPED = {
    'add': ('a', lambda x: halfulp.add(x, x, 'float32')), 'fma': ('c', lambda x: halfulp.fma(1, 2, x, 'float32')),
    'exp': ('x', lambda x: halfulp.exp(x, 'float32')), 'encode': ('x', lambda x: halfulp.encode(x, 'float8_e4m3fn')),
    'preset': ('x', lambda x: halfulp.encode(x, 'torch.float8_e4m3fn')),
    'number': ('x', lambda x: halfulp.number.encode(x, 'posit8')),
    'scaled.encode': ('x', lambda x: halfulp.scaled.encode(x, 'mxfp4')),
    'scaled.gemm': ('b', lambda x: halfulp.scaled.gemm(T.decode()[:, :2], x)),
    'hifloat4': ('x', halfulp.hifloat4_encode), 'compare': ('x', lambda x: halfulp.compare(x, ['bfloat16'])),
    'gemm': ('a', lambda x: halfulp.gemm(x, x.T)), 'dot': ('a', lambda x: halfulp.dot(x, x)),
}


@pytest.mark.parametrize('name', TYPED)
@pytest.mark.parametrize('kind, bits', [(ml_dtypes.float4_e2m1fn, 4), (ml_dtypes.float6_e2m3fn, 6)])
def test_arrays_of_narrow_types(name, kind, bits):
    """Types of ml_dtypes store a code to a byte, too; calls on numbers read them."""
    argument, call = TYPED[name]
    wide = GOOD.copy()
    wide[0, 2] = 0xC1
    call(GOOD.view(kind))
    for x in (wide, np.repeat(wide, 2, axis=1)[:, ::2]):
        with pytest.raises(ValueError, match=r'^{}: the code 0xC1 at \[0, 2\] is wider than the {} bits of float{}.*'
                           r'halfulp.unpack\(x, {}\)'.format(argument, bits, bits, bits)):
            call(x.view(kind) if x is wide else np.repeat(wide.view(kind), 2, axis=1)[:, ::2])


@pytest.mark.parametrize('call', [
    lambda x: halfulp.decode(x, F4), lambda x: halfulp.decode(x, F4, packed=True),
    lambda x: halfulp.convert(x, 'bfloat16', of=F4), lambda x: halfulp.codes.add(x, x, of=F4),
    lambda x: halfulp.codes.classify(x, F4), lambda x: halfulp.number.decode(x, 'posit8'),
    lambda x: halfulp.p3109.compute('Negate', x, of='binary4p2sf'), lambda x: halfulp.dot(x, x, a_format=F4),
    lambda x: halfulp.all_reduce([x, x], format=F4), lambda x: halfulp.ExactSum().add(x, F4)])
def test_numbers_of_python_are_no_codes(call):
    with pytest.raises(TypeError, match=r'codes of \w+ are an array of uint8, not numbers of Python; numpy.uint8\(x\)'):
        call([1, 2])


def test_nothing_is_written():
    wide = np.tile(np.uint8([1, 2]), (70, 100))
    wide[60, 120] = 0x13
    out, events = np.full((70, 100), 7, np.float32), halfulp.Events()
    with pytest.raises(ValueError, match=r'codes: the code 0x13 at \[60, 60\]'):
        halfulp.decode(wide[:, ::2], F4, out=out)
    assert (out == 7).all()
    stack, made = np.stack([GOOD, WIDE]), np.full((2, 2, 2), 9, np.float32)
    with pytest.raises(ValueError, match=r'a: the code 0x21 at \[1, 0, 2\]'):
        halfulp.gemm(stack, GOOD.T, a_format=F4, b_format=F4, out=made, events=events)
    assert (made == 9).all()
    result = np.full((70, 200), 9, np.uint8)
    with pytest.raises(ValueError, match=r'0x13 at \[60, 20\]'):
        halfulp.codes.mul(wide[:, 100:], wide[:, 100:], of=F4, out=result[:, 100:], events=events)
    assert (result == 9).all() and not events.any()


@pytest.mark.parametrize('kind, codes, values', [
    ('int4', np.int8([-1, 7, -8, 3]), [-1, 7, -8, 3]), ('int4', np.uint8([0xFF, 7, 0x08, 3]), [-1, 7, -8, 3]),
    ('q(0.7)', np.int8([-128, 64]), [-1, 0.5]), ('q(2.3)', np.int8([-1, 5]), [-0.125, 0.625])])
def test_signs_are_repeated(kind, codes, values):
    assert halfulp.number.decode(codes, kind).tolist() == values
    for wrong in (0x1F, 0x70, 0xF7):
        if kind == 'int4':
            with pytest.raises(ValueError, match='codes: the code 0x{:X} at'.format(wrong)):
                halfulp.number.decode(np.uint8([1, wrong]), kind)


def test_signed_arrays():
    """int8, int16, int32 arrays are codes of the same bits."""
    for text, kind in (('float8_e4m3fn', np.int8), ('bfloat16', np.int16), ('binary32', np.int32)):
        x = np.float32([1.5, -2.0, 448.0, -0.0])
        codes = halfulp.encode(x, text)
        np.testing.assert_array_equal(halfulp.decode(codes.view(kind), text), halfulp.decode(codes, text))
        assert halfulp.codes.add(codes.view(kind), codes, of=text).dtype == codes.dtype
    with pytest.raises(TypeError, match='codes of bfloat16 are uint16, not int8'):
        halfulp.decode(np.zeros(2, np.int8), 'bfloat16')


@pytest.mark.parametrize('text', [F4, F6, 'fp(2,2,0)', 'fp(1,1,0):finite'])
def test_packed(text, random):
    width = halfulp.Format(text).width
    for shape in ((24,), (3, 24), (2, 3, 8), (1, 5), (0, 8), (3, 0)):
        codes = random.integers(0, 1 << width, shape).astype(np.uint8)
        rows = [halfulp.pack(row, width) for row in codes.reshape(-1, shape[-1])] if codes.size else []
        bytes_ = -(-shape[-1] * width // 8)
        packed = np.array(rows, np.uint8).reshape(shape[:-1] + (bytes_,))
        buffer = bytes_ * 8 // width
        assert halfulp.unpack(packed, width).shape == shape[:-1] + (buffer,)
        np.testing.assert_array_equal(halfulp.unpack(packed, width)[..., :shape[-1]], codes)
        expected = halfulp.decode(codes, text)
        for same in (packed, packed.view(np.int8)):
            np.testing.assert_array_equal(halfulp.decode(same, text, packed=True)[..., :shape[-1]], expected)
        np.testing.assert_array_equal(halfulp.convert(packed, 'binary16', of=text, packed=True)[..., :shape[-1]],
                                      halfulp.convert(codes, 'binary16', of=text))
        np.testing.assert_array_equal(halfulp.codes.next_up(packed, of=text, packed=True)[..., :shape[-1]],
                                      halfulp.codes.next_up(codes, of=text))
        np.testing.assert_array_equal(halfulp.codes.mul(packed, packed, of=text, packed=True)[..., :shape[-1]],
                                      halfulp.codes.mul(codes, codes, of=text))


def test_codes_of_two_bytes():
    with pytest.raises(ValueError, match=r'the code 0xF123 at \[0\] is wider than the 12 bits of .* \(HU_E_CODE\)$'):
        halfulp.decode(np.uint16([0xF123]), 'fp(5,6,0)')


def test_order_of_packed_codes():
    """Two 4-bit codes a byte, the first one low; four 6-bit codes in three bytes, a little-endian string of bits."""
    assert halfulp.unpack(np.uint8([0x21, 0x43]), 4).tolist() == [1, 2, 3, 4]
    bits = 1 | 2 << 6 | 3 << 12 | 0x3F << 18
    assert halfulp.unpack(np.frombuffer(bits.to_bytes(3, 'little'), np.uint8), 6).tolist() == [1, 2, 3, 0x3F]
    assert halfulp.number.decode(np.uint8([0xF1]), 'int4', packed=True).tolist() == [1, -1]
    assert halfulp.p3109.compute('Negate', np.uint8([0x21]), of='binary4p2sf', packed=True).tolist() == [9, 10]


@pytest.mark.parametrize('scaling', ['mxfp4', 'nvfp4', 'mxfp6_e2m3'])
def test_packed_tensors(scaling, random):
    t = halfulp.scaled.encode(random.normal(size=(5, 64)).astype(np.float32), scaling)
    packed = t._replace(codes=t.packed())
    np.testing.assert_array_equal(packed.decode(packed=True), t.decode())
    np.testing.assert_array_equal(packed.unpacked().codes, t.codes)
    np.testing.assert_array_equal(packed.unpacked().T.decode(), t.decode().T)
    with pytest.raises(ValueError):
        packed.decode()


@pytest.mark.parametrize('width, text', [(3, 'fp(1,1,0):finite'), (5, 'fp(2,2,0)'), (6, F6), (7, 'fp(3,3,0)')])
def test_bits_behind_the_last_code(width, text):
    """Bits that no code has must be 0 in each row: else they are codes of another width, or codes are missing."""
    size = next(n for n in range(1, 8) if n * 8 % width)
    spare = size * 8 % width
    good = np.zeros((2, 3, size), np.uint8)
    good[..., -1] = (1 << (8 - spare)) - 1
    calls = [lambda x: halfulp.unpack(x, width), lambda x: halfulp.decode(x, text, packed=True),
             lambda x: halfulp.decode(x.view(np.int8), text, packed=True),
             lambda x: halfulp.convert(x, 'binary16', of=text, packed=True),
             lambda x: halfulp.codes.next_up(x, of=text, packed=True)]
    for call in calls:
        call(good)
        for bit in range(8 - spare, 8):
            wrong = good.copy()
            wrong[1, 2, -1] |= 1 << bit
            with pytest.raises(ValueError, match=r'the {} bytes of row \[1, 2\] hold {} codes of {} bits, and the {} '
                               'bits behind'.format(size, size * 8 // width, width, spare)):
                call(wrong)
    with pytest.raises(ValueError, match='codes: the 4 bytes there are hold 5 codes of 6 bits, and the 2 bits'):
        halfulp.decode(np.uint8([1, 2, 3, 0xFF]), F6, packed=True)


def test_wrong_packed():
    with pytest.raises(ValueError, match='packed: codes of 8 bits are not packed'):
        halfulp.decode(np.zeros(4, np.uint8), 'float8_e4m3fn', packed=True)
    with pytest.raises(TypeError, match='codes: packed codes are an array of uint8'):
        halfulp.decode(np.zeros(4, np.uint16), F4, packed=True)
    with pytest.raises(TypeError, match='codes: packed codes are an array of uint8'):
        halfulp.decode(np.zeros(4, ml_dtypes.float4_e2m1fn), packed=True)
