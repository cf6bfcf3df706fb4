# SPDX-License-Identifier: MIT
"""Arithmetic and functions on values and codes against NumPy and ml_dtypes, and float64 where these double-round."""
import inspect
import itertools
import math

import ml_dtypes
import numpy as np
import pytest

import halfulp
from halfulp import _abi, codes

HALF = np.arange(65536, dtype=np.uint16).view(np.float16)
BINARY = {'add': np.add, 'sub': np.subtract, 'mul': np.multiply, 'div': np.divide}


def same(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(np.signbit(a)[~np.isnan(a)], np.signbit(b)[~np.isnan(b)])


def test_operations_are_those_of_the_library():
    """Each operation of halfulp/operation.h has its function here, which says that it computes the same."""
    main, functions = _abi.main(), {'class': 'classify'}
    listed = list(itertools.takewhile(lambda record: record.name, map(main.hu_operation_at, itertools.count())))
    assert listed.pop().name == b'convert'  # halfulp.convert, encode, decode and quantize (test_arrays.py)
    names = [record.name.decode() for record in listed]
    within = ['round_to_integral', 'next_up', 'next_down', 'class', 'compare']
    assert sorted(names) == sorted(codes.UNARY + codes.BINARY + ('fma', *within))
    assert {name: record.what.decode() for name, record in zip(names, listed) if name not in within} == codes.WHAT
    for name, record in zip(names, listed):
        function = getattr(codes, functions.get(name, name))
        operands = [p for p in inspect.signature(function).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
        assert len([p for p in operands if p.name != 'of']) == record.operands, name
        assert hasattr(halfulp, name) == (name not in within or name == 'compare'), name


def test_remainder():
    """All pairs of float8_e4m3fn against Python's exact remainder; a remainder by zero and of an infinity is NaN."""
    x = halfulp.decode(np.arange(256, dtype=np.uint8), 'float8_e4m3fn')
    x = x[np.isfinite(x)]
    ours = halfulp.remainder(x[:, None], x[None], 'binary32')
    expected = [[math.remainder(a, b) if b else math.nan for b in x.tolist()] for a in x.tolist()]
    same(ours, expected)
    assert np.isnan(halfulp.remainder(np.float32(np.inf), np.float32(2), 'binary32'))


@pytest.mark.parametrize('kind', [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize('name', sorted(BINARY))
def test_binary(name, kind, random):
    a = HALF.view(kind)
    b = a[random.permutation(65536)]
    with np.errstate(all='ignore'):
        theirs = BINARY[name](a, b)
    ours = getattr(codes, name)(a, b)
    assert ours.dtype == a.dtype
    same(ours, theirs)
    same(getattr(halfulp, name)(a, b, kind), theirs)
    x, y = a.astype(np.float32), b.astype(np.float32)
    with np.errstate(all='ignore'):
        single = BINARY[name](x, y)
    same(getattr(halfulp, name)(x, y, 'binary32'), single)


@pytest.mark.parametrize('name, function', [('sqrt', np.sqrt), ('exp', np.exp), ('exp2', np.exp2), ('expm1', np.expm1),
                                            ('log', np.log), ('log2', np.log2), ('log1p', np.log1p), ('tanh', np.tanh),
                                            ('sin', np.sin), ('cos', np.cos)])
def test_functions(name, function):
    """All binary16 operands, rounded once from NumPy's float64; its float16 goes through float32 and misses a few."""
    with np.errstate(all='ignore'):
        expected = function(HALF.astype(np.float64)).astype(np.float16)
        theirs = function(HALF)
    ours = codes.__dict__[name](HALF)
    same(ours, expected)
    missed = ~((theirs == ours) | (np.isnan(theirs) & np.isnan(ours)))
    assert missed.sum() < 200 and (name != 'sqrt' or not missed.any())
    same(getattr(halfulp, name)(HALF, 'binary16', dtype='float64'), expected)


def test_other_functions():
    x = np.linspace(-4, 4, 33, dtype=np.float32)
    with np.errstate(all='ignore'):
        same(halfulp.sigmoid(x, 'bfloat16'), halfulp.quantize(1 / (1 + np.exp(-x.astype(np.float64))), 'bfloat16'))
        same(halfulp.reciprocal(x, 'binary16'), (1 / x.astype(np.float64)).astype(np.float16))
        same(halfulp.rsqrt(x[17:], 'binary16'), (1 / np.sqrt(x[17:].astype(np.float64))).astype(np.float16))
    from math import erf
    same(halfulp.erf(x, 'bfloat16'), halfulp.quantize([erf(v) for v in x.tolist()], 'bfloat16'))
    same(halfulp.gelu(x[1:], 'bfloat16'), halfulp.quantize([v * (1 + erf(v / 2 ** 0.5)) / 2 for v in x[1:].tolist()],
                                                           'bfloat16'))
    same(halfulp.pow(np.float32(2), x, 'float8_e5m2'), halfulp.quantize(2.0 ** x.astype(np.float64), 'float8_e5m2'))


def test_fma_rounds_once():
    a = np.float16(1 + 2.0 ** -10)
    c = np.float16(-1 - 2.0 ** -9)
    assert float(codes.fma(a, a, c)) == 2.0 ** -20 and float(a * a + c) == 0
    assert halfulp.fma(np.float32(3), 5.0, 0.5, 'float8_e4m3fn') == 16.0  # 15.5 is a tie of 15 and 16
    assert halfulp.fma(np.float32(3), 5.0, 0.5, 'float8_e4m3fn', 'rtz') == 15.0


def test_mixed_formats_and_shapes(random):
    a = halfulp.encode(random.normal(size=(4, 1)), 'float8_e4m3fn')
    b = halfulp.encode(random.normal(size=(1, 70)), 'float4_e2m1fn')
    counts = halfulp.Events()
    z = codes.mul(a, b, of=('float8_e4m3fn', 'float4_e2m1fn'), to='binary16', events=counts)
    assert z.shape == (4, 70) and z.dtype == np.uint16 and counts.inexact == 0
    expected = halfulp.decode(a, 'float8_e4m3fn') * halfulp.decode(b, 'float4_e2m1fn')
    same(z.view(np.float16), expected)
    out = np.zeros((4, 70), np.float32)
    assert halfulp.mul(halfulp.decode(a, 'float8_e4m3fn'), halfulp.decode(b, 'float4_e2m1fn'), 'binary16',
                       out=out) is out
    same(out, expected)
    words = halfulp.add(out, np.float32(1), 'float8_e5m2', 'sra:5', stream=1)
    same(words,
         halfulp.add(out.T, np.float32(1), 'float8_e5m2', 'sra:5', stream=1).T) if out.shape == out.T.shape else None
    same(words[1], halfulp.add(out[1], np.float32(1), 'float8_e5m2', 'sra:5', stream=halfulp.Stream(1, 70)))


def test_looking_at_codes():
    x = np.float16([np.nan, -np.inf, -1, -1e-7, -0.0, 0.0, 1e-7, 1, np.inf])
    assert [codes.CLASSES[i] for i in codes.classify(x)] == list(codes.CLASSES)
    assert list(codes.compare(x, np.float16(0))) == [2, -1, -1, -1, 0, 0, 1, 1, 1]
    finite = HALF[np.isfinite(HALF)]
    with np.errstate(over='ignore'):
        same(codes.next_up(finite), np.nextafter(finite, np.float16(np.inf)))
        same(codes.next_down(finite), np.nextafter(finite, np.float16(-np.inf)))
    same(codes.round_to_integral(finite), np.rint(finite))
    same(codes.round_to_integral(finite, mode='rtz'), np.trunc(finite))
    same(codes.minimum(np.float16([1, np.nan]), np.float16([2, 2])), [1, np.nan])
    same(codes.minimum_number(np.float16([1, np.nan]), np.float16([2, 2])), [1, 2])
    same(halfulp.maximum(np.float32([-0.0]), np.float32([0.0]), 'binary16'), [0.0])


def test_errors():
    x = np.ones(3, np.float32)
    for call, kind, words in [
            (lambda: halfulp.add(x, 0.1, 'binary16'), TypeError, 'b: 0.1 is no float32'),
            (lambda: halfulp.add(x, np.ones(4, np.float32), 'binary16'), ValueError, 'a, b: shapes'),
            (lambda: halfulp.add(x, np.array([0, 1, 2**24 + 1]), 'binary16'), TypeError, 'b: 16777217 is no float32'),
            (lambda: halfulp.add(x, x, 'binary16', dtype='uint8'), TypeError, 'dtype: uint8'),
            (lambda: codes.add(np.zeros(3, np.uint8), np.zeros(3, np.uint8)), TypeError,
             'a: an array of uint8 says no format'),
            (lambda: codes.add(np.zeros(3, np.uint8), x, of=('float8_e5m2',)), TypeError, 'of: 1 formats for 2'),
            (lambda: codes.exp(x, of='binary16'), TypeError, 'x: an array of float32 holds no codes of binary16')]:
        with pytest.raises(kind, match=words):
            call()
    assert halfulp.exp(np.zeros((0, 3), np.float32), 'binary16').shape == (0, 3)
