# SPDX-License-Identifier: MIT
"""Arrays of every shape, stride and type; in place, out=, overlap, errors."""
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halfulp

TYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]


def flat(x, format, mode, **more):
    """The same by one call on a contiguous copy."""
    return halfulp.quantize(np.array(x, order='C').reshape(-1), format, mode, **more).reshape(x.shape)


@st.composite
def strided(draw):
    shape = tuple(draw(st.lists(st.integers(0, 9), min_size=0, max_size=3)))
    steps = tuple(draw(st.sampled_from([1, 2, -1, -3])) for _ in shape)
    kind = draw(st.sampled_from(TYPES))
    base = np.random.default_rng(draw(st.integers(0,
                                                  99))).normal(size=tuple(3 * side + 1 for side in shape)).astype(kind)
    view = base[tuple(slice(None, None, step) for step in steps)][tuple(slice(0, side) for side in shape)]
    order = draw(st.permutations(range(view.ndim)))
    view = view.transpose(order)
    if view.ndim and draw(st.booleans()):
        view = np.broadcast_to(view, (2,) + view.shape)
    return view


@given(strided(), st.sampled_from(['rne', 'rtz', 'sra:7']))
def test_strides(x, mode):
    more = {'stream': halfulp.Stream(3, 9)} if mode == 'sra:7' else {}
    expected = flat(x, 'float8_e5m2', mode, **more)
    events, counted = halfulp.Events(), halfulp.Events()
    got = halfulp.quantize(x, 'float8_e5m2', mode, events=events, **more)
    flat(x, 'float8_e5m2', mode, events=counted, **more)
    assert got.dtype == x.dtype and got.shape == x.shape and events == counted
    np.testing.assert_array_equal(got, expected)
    codes = halfulp.encode(x, 'float8_e5m2', mode, **more)
    np.testing.assert_array_equal(halfulp.decode(codes, 'float8_e5m2', dtype=x.dtype), expected)
    out = np.zeros(x.shape[::-1], x.dtype).T
    assert halfulp.quantize(x, 'float8_e5m2', mode, out=out, **more) is out
    np.testing.assert_array_equal(out, expected)


@given(strided())
def test_in_place(x):
    x = np.array(x)[..., ::-1] if x.ndim else np.array(x)
    expected = flat(x, 'float8_e4m3fn', 'rne')
    halfulp.quantize(x, 'float8_e4m3fn', out=x)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize('a, b', [(slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None)),
                                  (slice(None, None, 2), slice(1, None, 2)), (slice(None), slice(None, None, -1))])
def test_overlap(random, a, b):
    base = random.normal(size=100).astype(np.float32)
    expected = halfulp.quantize(base[a].copy(), 'float8_e4m3fn')
    halfulp.quantize(base[a], 'float8_e4m3fn', out=base[b])
    np.testing.assert_array_equal(base[b], expected)


def test_overlap_of_codes_and_values(random):
    base = random.normal(size=64).astype(np.float32)
    expected = halfulp.encode(base.copy(), 'float8_e5m2')
    halfulp.encode(base, 'float8_e5m2', out=base.view(np.uint8)[100:164])
    np.testing.assert_array_equal(base.view(np.uint8)[100:164], expected)


def test_layouts(random):
    x = random.normal(size=(7, 5)).astype(np.float32)
    record = np.zeros(7, [('pad', 'u1'), ('x', 'f4')])
    record['x'] = x[:, 0]
    np.testing.assert_array_equal(halfulp.quantize(record['x'], 'bfloat16'), halfulp.quantize(x[:, 0], 'bfloat16'))
    np.testing.assert_array_equal(halfulp.quantize(x.astype('>f4'), 'bfloat16'), halfulp.quantize(x, 'bfloat16'))
    with pytest.raises(ValueError, match='out: its elements are not aligned'):
        halfulp.quantize(x[:, 0], 'bfloat16', out=record['x'])
    assert halfulp.quantize(x[:0], 'bfloat16').shape == (0, 5)
    assert halfulp.quantize([], 'bfloat16').shape == (0,)
    assert halfulp.quantize(np.float32(0.1), 'bfloat16') == np.float32(0.10009765625)
    assert isinstance(halfulp.quantize(0.1, 'bfloat16'), np.float64)
    assert halfulp.encode(np.array(0.1), 'bfloat16').shape == ()


def test_matrix_subclass_and_masked(random):
    x = random.normal(size=(3, 4)).astype(np.float32)
    assert type(halfulp.quantize(x.view(np.matrix), 'bfloat16')) is np.ndarray


@pytest.mark.parametrize('threads', [2, 5, 256])
def test_threads_and_levels(random, threads):
    x = random.normal(size=100003).astype(np.float32)
    events, more = halfulp.Events(), halfulp.Events()
    one = halfulp.quantize(x, 'float8_e4m3fn', 'sra:9', stream=4, events=events)
    np.testing.assert_array_equal(one, halfulp.quantize(x, 'float8_e4m3fn', 'sra:9', stream=4, threads=threads,
                                                        events=more))
    assert events == more


def test_ml_dtypes_without_copying(random):
    x = random.normal(size=50).astype(np.float32)
    codes = halfulp.encode(x, 'float8_e4m3fn')
    seen = halfulp.as_ml_dtypes(codes, 'float8_e4m3fn')
    assert seen.dtype == ml_dtypes.float8_e4m3fn
    assert np.shares_memory(seen, codes) and np.shares_memory(halfulp.as_codes(seen), codes)
    out = np.zeros(50, ml_dtypes.float8_e4m3fn)
    assert halfulp.encode(x, 'float8_e4m3fn', out=out) is out
    np.testing.assert_array_equal(halfulp.as_codes(out), codes)
    np.testing.assert_array_equal(halfulp.decode(seen), seen.astype(np.float32))
    to = halfulp.convert(seen, ml_dtypes.float8_e5m2)
    assert to.dtype == ml_dtypes.float8_e5m2
    np.testing.assert_array_equal(to, halfulp.as_ml_dtypes(halfulp.encode(seen, 'float8_e5m2'), 'float8_e5m2'))
    with pytest.raises(TypeError, match='no type'):
        halfulp.as_ml_dtypes(np.zeros(3, np.uint8), 'fp(4,3,4):finite')
    with pytest.raises(TypeError, match='holds no codes of'):
        halfulp.decode(seen, 'float8_e5m2')


def test_errors_touch_nothing():
    x, events = np.float16([1.1, 3.3]), halfulp.Events()
    for call in (lambda: halfulp.quantize(x, 'bfloat16', out=x, events=events),
                 lambda: halfulp.quantize(x, 'float8_e5m2', 'x', out=x)):
        with pytest.raises(ValueError):
            call()
    assert not events.any() and list(x) == list(np.float16([1.1, 3.3]))


def test_pack(random):
    for width in range(1, 9):
        codes = random.integers(0, 1 << width, 77).astype(np.uint8)
        packed = halfulp.pack(codes, width)
        bits = sum(int(code) << (width * i) for i, code in enumerate(codes))
        assert packed.tobytes() == bits.to_bytes(-(-77 * width // 8), 'little')
        np.testing.assert_array_equal(halfulp.unpack(packed, width, 77), codes)
    for wrong in (lambda: halfulp.pack(codes, 0), lambda: halfulp.pack(codes, 9),
                  lambda: halfulp.unpack(packed, 8, 78)):
        with pytest.raises(ValueError):
            wrong()


X = np.ones(3, np.float32)
FROZEN = np.ones(3, np.float32)
FROZEN.flags.writeable = False


@pytest.mark.parametrize('call, kind, words', [
    (lambda: halfulp.quantize(X, 'float8_e5m2', 'sra:3'), ValueError, 'stream: sra:3 draws'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', 'up'), ValueError, 'round: .*HU_E_TEXT'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', out=FROZEN), ValueError, 'out: the array is read-only'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', out=np.ones(4, np.float32)), ValueError, 'out: shape'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', out=np.ones(3)), TypeError,
     'out: an array of float64 instead of float32'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', out=[1, 2, 3]), TypeError, 'out: an array to write to'),
    (lambda: halfulp.quantize(np.ones(3, complex), 'float8_e5m2'), TypeError, 'x: an array of complex128.*x.real'),
    (lambda: halfulp.quantize(np.ones(3, np.longdouble), 'float8_e5m2'), TypeError, 'rounded twice'),
    (lambda: halfulp.quantize([np.longdouble(1)], 'float8_e5m2'), TypeError, 'rounded twice'),
    (lambda: halfulp.quantize(np.array([2**70]), 'float8_e5m2'), TypeError, r'x.tolist\(\) is taken'),
    (lambda: halfulp.quantize([1, Fraction(1, 3)], 'float8_e5m2'), TypeError, 'of type Fraction'),
    (lambda: halfulp.quantize([1, None], 'float8_e5m2'), TypeError, 'of type NoneType'),
    (lambda: halfulp.quantize('text', 'float8_e5m2'), TypeError, 'x: '),
    (lambda: halfulp.quantize(object(), 'float8_e5m2'), TypeError, 'x: '),
    (lambda: halfulp.quantize([[1], [1, 2]], 'float8_e5m2'), TypeError, 'x: '),
    (lambda: halfulp.quantize(np.ones(3, np.float16), 'bfloat16'), ValueError, 'HU_E_CARRIER'),
    (lambda: halfulp.quantize(X, 'fp(11,4,0)'), ValueError, 'HU_E_CARRIER'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', threads=257), ValueError, '^threads: 257 is not 0 to 256$'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', threads=-1), ValueError, '^threads: -1 is not 0 to 256$'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', threads='2'), TypeError, 'threads'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', events=3), TypeError, 'events: an Events'),
    (lambda: halfulp.quantize(X, 'float8_e5m2', even=3), TypeError, "no argument 'even'"),
    (lambda: halfulp.encode(np.arange(3, dtype=complex), 'float8_e5m2'), TypeError, '^x: an array of complex128'),
    (lambda: halfulp.encode(X, 'float8_e5m2', out=np.zeros(3, np.uint16)), TypeError, 'out: an array of uint16'),
    (lambda: halfulp.encode(X, 'float8_e5m2', out=np.zeros(3, ml_dtypes.float8_e4m3fn)), TypeError, 'out: '),
    (lambda: halfulp.decode(np.zeros(3, np.int16), 'float8_e5m2'), TypeError, 'codes: codes of float8_e5m2 are uint8'),
    (lambda: halfulp.decode(np.zeros(3, np.uint8)), TypeError, 'codes: an array of uint8 says no format'),
    (lambda: halfulp.decode(np.zeros(3, np.uint8), 'float8_e5m2', dtype='int32'), TypeError, 'dtype: int32'),
    (lambda: halfulp.decode(np.zeros(3, np.uint8), 'float8_e8m0fnu', dtype='float16'), ValueError, 'HU_E_CARRIER'),
])
def test_errors(call, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call()
    assert isinstance(caught.value, halfulp.HalfulpError)
