# SPDX-License-Identifier: MIT
"""Random words are an argument: every call that draws some refuses to do so without a stream, and one that draws none
takes none."""
import inspect
import zlib

import numpy as np
import pytest

import halfulp
from halfulp import codes, number, scaled
from halfulp.train import Assignment, Layout, Optimizer

X = np.random.default_rng(3).normal(size=(8, 64)).astype(np.float32)
HALVES = X.astype(np.float16)
BYTES = halfulp.encode(X, 'float8_e4m3fn')
SUM = scaled.Sum('parts', 'seq(bfloat16,sra:8)', 'fp32')
LAYOUT = Layout([10, 10, 10], [5, 5], [True, True])


def random_assignment(**more):
    made = Assignment(LAYOUT, 'demote', ratio='1/2', order='random', **more)
    return np.concatenate([made.v, made.dv, made.theta, made.dtheta])


def step(**more):
    w = [np.ones(1000, np.float32)]
    Optimizer('sgd', 'bfloat16', mode='sra:16', momentum=0.0, rate=1.0, **more).step(
        w, [np.full(1000, 2.0 ** -10, np.float32)])
    return w[0]


CALLS = {
    'quantize': lambda **more: halfulp.quantize(X, 'float8_e4m3fn', 'sra:8', **more),
    'quantize, a mode': lambda **more: halfulp.quantize(HALVES, 'float8_e4m3fn', halfulp.Mode('srb:8'), **more),
    'quantize, a scaled format': lambda **more: halfulp.quantize(X, 'nvfp4', 'sra:8', **more),
    'quantize, S2FP8': lambda **more: halfulp.quantize(X, 's2fp8', 'sra:8', **more),
    'quantize, another number system': lambda **more: halfulp.quantize(X, 'posit8', 'sra:8', **more),
    'plot': lambda **more: np.array([zlib.crc32(halfulp.plot(X, ['float8_e4m3fn', 'posit8'], 'sra:8', **more).svg.encode())]),
    'compare': lambda **more: np.array([row[2:] for row in halfulp.compare(X, ['nvfp4', 'posit8'], 'sra:8', **more)]),
    'gemm_errors, the sums': lambda **more: np.array([row[1:] for row in halfulp.gemm_errors(
        X, X.T, ['seq(bfloat16,sra:8)'], **more)]),
    'quantize, a preset': lambda **more: halfulp.quantize(X, 'intel.vcvtbiasph2bf8', **more),
    'quantize, random bits of PTX': lambda **more: halfulp.quantize(X, 'ptx.cvt.rs.bf16x2', **more),
    'encode': lambda **more: halfulp.encode(X, 'float8_e4m3fn', 'sra:8', **more),
    'encode, a preset': lambda **more: halfulp.encode(X, 'intel.vcvtbiasph2hf8s', **more),
    'convert': lambda **more: halfulp.convert(HALVES, 'float8_e4m3fn', 'src:8', **more),
    'codes.add': lambda **more: codes.add(BYTES, BYTES[::-1], of='float8_e4m3fn', mode='sra:8', **more),
    'codes.exp': lambda **more: codes.exp(BYTES, of='float8_e4m3fn', mode='sra:8', **more),
    'codes.fma': lambda **more: codes.fma(BYTES, BYTES, BYTES, of='float8_e4m3fn', mode='sra:8', **more),
    'codes.round_to_integral': lambda **more: codes.round_to_integral(BYTES, of='float8_e4m3fn', mode='sra:8', **more),
    'mul': lambda **more: halfulp.mul(X, X, 'float8_e4m3fn', 'sra:8', **more),
    'tanh': lambda **more: halfulp.tanh(X, 'float8_e4m3fn', 'sra:8', **more),
    'fma': lambda **more: halfulp.fma(X, X, X, 'float8_e4m3fn', 'sra:8', **more),
    'all_reduce, the sums': lambda **more: halfulp.all_reduce(X, 'ring(bfloat16,sra:8)', **more),
    'all_reduce, the result': lambda **more: halfulp.all_reduce(HALVES, 'ring(binary32)', mode='sra:8', **more),
    'gemm, the result': lambda **more: halfulp.gemm(X, X.T, to='bfloat16', mode='sra:8', **more),
    'gemm, the sums': lambda **more: halfulp.gemm(X, X.T, accum='seq(bfloat16,sra:8)', **more),
    'gemm, inside promote': lambda **more: halfulp.gemm(X, X.T, accum='promote(16,seq(bfloat16,sra:8),fp32)', **more),
    'dot, the result': lambda **more: halfulp.dot(HALVES, HALVES, to='float8_e5m2', mode='sra:8', **more),
    'dot, the sums': lambda **more: halfulp.dot(HALVES, HALVES, accum='seq(bfloat16,sra:8)', **more),
    'scaled.quantize': lambda **more: scaled.quantize(X, 'mxfp4', 'sra:8', **more),
    'scaled.encode': lambda **more: scaled.encode(X, 'nvfp4', 'sra:8', **more).codes,
    'scaled.gemm, the result': lambda **more: scaled.gemm(X, X.T, to='bfloat16', mode='sra:8', **more),
    'scaled.gemm, a scaled result': lambda **more: scaled.gemm(X, X.T, to=halfulp.Scaling('mxfp4'), mode='sra:8',
                                                               **more).codes,
    'scaled.gemm, the sums': lambda **more: scaled.gemm(scaled.encode(X, 'mxfp4'), scaled.encode(X, 'mxfp4').T, sum=SUM,
                                                        **more),
    'scaled.gemm, decoded': lambda **more: scaled.gemm(X, X.T, sum=scaled.Sum('decoded', 'seq(bfloat16,sra:8)'),
                                                       **more),
    'number.quantize': lambda **more: number.quantize(X, 'posit8', 'sra:8', **more),
    'number.encode': lambda **more: number.encode(X, 'lns8', 'sra:8', **more),
    'number.convert': lambda **more: number.convert(number.encode(X, 'posit16'), 'posit8', 'posit16', 'sra:8', **more),
    'hadamard': lambda **more: halfulp.hadamard(X, 16, signs='stream', **more),
    's2fp8_encode': lambda **more: halfulp.s2fp8_encode(X, mode='sra:8', **more).codes,
    'round_tensor': lambda **more: halfulp.round_tensor(X, 'float8_e4m3fn,sra:8', **more),
    'Optimizer': step,
    'Assignment': random_assignment,
}


@pytest.mark.parametrize('name', CALLS)
def test_no_stream_is_an_error(name):
    with pytest.raises(halfulp.HalfulpValueError, match=r'stream: .*give stream=Stream\(key, counter\)'):
        CALLS[name]()


@pytest.mark.parametrize('name', [name for name in CALLS if name != 'Assignment'])  # two orders may be one
def test_the_stream_decides(name):
    call = CALLS[name]
    one = call(stream=halfulp.Stream(5, 6))
    np.testing.assert_array_equal(one, call(stream=(5, 6)))
    assert any((one != call(stream=(5, 6 + (i << 33)))).any() for i in (1, 2, 3))


def test_every_function_with_a_stream_is_here():
    """Functions of the package that take a stream, by their signatures."""
    modules = [('', halfulp), ('codes.', codes), ('number.', number), ('scaled.', scaled)]
    for prefix, module in modules:
        for name, thing in vars(module).items():
            if name.startswith('_') or not callable(thing) or not getattr(thing, '__module__', '').startswith('halfulp'):
                continue
            if isinstance(thing, type) or 'stream' not in inspect.signature(thing).parameters:
                continue
            alike = name in codes.WHAT or (prefix == 'codes.' and name in ('apply',))
            assert alike or any(key.split(',')[0] == prefix + name or key.split(',')[0] == name
                                for key in CALLS), prefix + name
    drawing = {p.name.partition('.')[0] for p in halfulp.presets() if p.mode.stochastic}
    assert drawing == {'intel', 'ptx'}  # others belong here, too


def test_nothing_stochastic_needs_no_stream():
    halfulp.gemm(X, X.T, accum='seq(bfloat16)')
    halfulp.hadamard(X, 16, signs=3)
    Assignment(LAYOUT, 'demote', ratio='1/2')


def test_a_generator_gives_the_next_stream():
    generator, twin = np.random.default_rng(7), np.random.default_rng(7)
    for _ in range(2):
        key, counter = (int(n) for n in twin.integers(0, 1 << 63, 2))
        got = halfulp.quantize(X, 'float8_e4m3fn', 'sra:8', stream=generator)
        np.testing.assert_array_equal(got, halfulp.quantize(X, 'float8_e4m3fn', 'sra:8', stream=(key, counter)))
    assert generator.integers(1 << 40) == twin.integers(1 << 40)
    assert not np.array_equal(got, halfulp.quantize(X, 'float8_e4m3fn', 'sra:8', stream=generator))
    twin.integers(0, 1 << 63, 2)
    assert generator.integers(1 << 40) == twin.integers(1 << 40)
    with pytest.raises(TypeError, match='stream: a whole number is expected, not RandomState'):
        halfulp.quantize(X, 'float8_e4m3fn', 'sra:8', stream=np.random.RandomState(1))


@pytest.mark.parametrize('name', CALLS)
def test_a_generator_moves_once_a_call(name):
    """Also where the call makes several; and draws what the stream of its two integers draws."""
    generator, twin = np.random.default_rng(7), np.random.default_rng(7)
    got, stream = CALLS[name](stream=generator), tuple(int(n) for n in twin.integers(0, 1 << 63, 2))
    np.testing.assert_array_equal(got, CALLS[name](stream=stream))
    assert generator.bit_generator.state == twin.bit_generator.state


@pytest.mark.parametrize('call', [
    lambda g: halfulp.quantize(X, 'float8_e4m3fn', stream=g), lambda g: halfulp.quantize(1.5, 'float8_e4m3fn', stream=g),
    lambda g: halfulp.quantize(X, 'mxfp4,rtz', stream=g), lambda g: halfulp.encode(X, 'cuda.half.rz', stream=g),
    lambda g: halfulp.gemm(X, X.T, accum='seq(bfloat16)', stream=g), lambda g: halfulp.round_tensor(X, 'nvfp4', stream=g),
    lambda g: halfulp.compare(X, ['nvfp4', 'posit8'], stream=g), lambda g: halfulp.gemm_errors(X, X.T, ['exact'], stream=g),
    lambda g: halfulp.plot(X, 'bfloat16', stream=g), lambda g: halfulp.hadamard(X, 16, stream=g),
    lambda g: scaled.gemm(X, X.T, stream=g), lambda g: number.encode(X, 'posit8', stream=g)])
def test_a_generator_stays_where_nothing_is_drawn(call):
    for generator, state in ((np.random.default_rng(7), lambda g: g.bit_generator.state),) + _of_torch():
        before = state(generator)
        call(generator)
        assert np.all(state(generator) == before)


def _of_torch():
    try:
        import torch
    except ImportError:
        return ()
    return ((torch.Generator().manual_seed(1), lambda g: g.get_state().numpy()),)
