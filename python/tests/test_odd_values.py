# SPDX-License-Identifier: MIT
"""Whatever an argument is given, a call takes it or raises an error of halfulp's, without a warning."""
import inspect
import pathlib
import struct
import tempfile
import warnings

import numpy as np
import pytest

import halfulp
from halfulp import codes, number, p3109, scaled


class Odd:
    def __repr__(self):
        return 'Odd()'


ODD = {
    'array': np.arange(3), 'number in an array': np.array(1.5), 'empty array': np.array([]),
    'texts': np.array(['rne', 'rtz']),
    'complex': 1 + 2j, 'complex64': np.complex64(1j), 'list': [1, 2], 'nested': [[1], [2, 3]], 'tuple': (1, 2, 3),
    'pair': (1.5, 'a'), 'dict': {}, 'set': set(), 'nan': float('nan'), 'inf': float('inf'), 'float': 1.5,
    'negative': -1,
    'large': 2**70, 'bytes': b'rne', 'object': Odd(), 'None': None, 'True': True, 'np.True_': np.True_, 'text': 'xx',
    'zero in a text': 'r\0', 'surrogate': '\ud800', 'empty text': '', 'np.str_': np.str_('rne'),
    'generator': np.random.default_rng(0), 'type': int, 'function': abs,
}
X, CODES = np.ones((2, 32), np.float32), np.zeros((2, 32), np.uint8)
T, F8 = scaled.encode(X, 'mxfp4'), 'float8_e4m3fn'

HEADER = b'{"w":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}      '
FOLDER = tempfile.TemporaryDirectory(prefix='halfulp-test-')
MODEL = str(pathlib.Path(FOLDER.name) / 'm.safetensors')
pathlib.Path(MODEL).write_bytes(struct.pack('<Q', len(HEADER)) + HEADER + bytes(4))

# Every function of the package with arguments that it takes; each of them is then replaced by something odd.
CALLS = {
    'quantize': (halfulp.quantize, dict(x=X, format=F8)),
    'quantize scaled': (halfulp.quantize, dict(x=X, format='nvfp4')),
    'encode': (halfulp.encode, dict(x=X, format=F8)), 'decode': (halfulp.decode, dict(codes=CODES, format=F8)),
    'convert': (halfulp.convert, dict(codes=CODES, to='bfloat16', of=F8)),
    'add': (halfulp.add, dict(a=X, b=X, to='bfloat16')), 'exp': (halfulp.exp, dict(x=X, to='bfloat16')),
    'fma': (halfulp.fma, dict(a=X, b=X, c=X, to='bfloat16')), 'codes.add': (codes.add, dict(a=CODES, b=CODES, of=F8)),
    'codes.exp': (codes.exp, dict(x=CODES, of=F8)), 'codes.classify': (codes.classify, dict(x=CODES, of=F8)),
    'codes.compare': (codes.compare, dict(a=CODES, b=CODES, of=F8)),
    'codes.round_to_integral': (codes.round_to_integral, dict(x=CODES, of=F8)),
    'codes.next_up': (codes.next_up, dict(x=CODES, of=F8)),
    'number.quantize': (number.quantize, dict(x=X, number='posit8')),
    'number.encode': (number.encode, dict(x=X, number='posit8')),
    'number.decode': (number.decode, dict(codes=CODES, number='posit8')),
    'number.convert': (number.convert, dict(codes=CODES, to='posit16', of='posit8')),
    'scaled.encode': (scaled.encode, dict(x=X, scaling='mxfp4')),
    'scaled.quantize': (scaled.quantize, dict(x=X, scaling='mxfp4')), 'scaled.decode': (scaled.decode, dict(x=T)),
    'scaled.tile': (scaled.tile, dict(scales=CODES)),
    'scaled.untile': (scaled.untile, dict(tiles=np.zeros(512, np.uint8), rows=3, cols=4)),
    'scaled.gemm': (scaled.gemm, dict(a=T, b=T.T)), 'gemm': (halfulp.gemm, dict(a=X, b=X.T)),
    'path': (halfulp.path, dict(text='bf16: x * w', x=X, w=X)),
    'path operand': (lambda x: halfulp.path('bf16: -x', x=x), dict(x=X)),
    'dot': (halfulp.dot, dict(a=X, b=X)), 'hadamard': (halfulp.hadamard, dict(x=X)),
    's2fp8_encode': (halfulp.s2fp8_encode, dict(x=X)), 'hifloat4_encode': (halfulp.hifloat4_encode, dict(x=X)),
    'round_tensor': (halfulp.round_tensor, dict(x=X, rounding='s2fp8')),
    'all_reduce': (halfulp.all_reduce, dict(buffers=X)),
    'compare': (halfulp.compare, dict(x=X, formats=['bfloat16'])),
    'plot': (halfulp.plot, dict(x=X, formats=['bfloat16'], name='x')),
    'gemm_errors': (halfulp.gemm_errors, dict(a=X, b=X.T, accums=['fp32'])),
    'load': (halfulp.load, dict(path=MODEL, layout=None)),
    'pack': (halfulp.pack, dict(codes=CODES, width=4)),
    'unpack': (halfulp.unpack, dict(packed=CODES, width=4)), 'as_codes': (halfulp.as_codes, dict(x=CODES)),
    'as_ml_dtypes': (halfulp.as_ml_dtypes, dict(codes=CODES, format=F8)), 'Format': (halfulp.Format, dict(e=4, m=3)),
    'Format by name': (halfulp.Format, dict(name='bfloat16')), 'Mode': (halfulp.Mode, {}),
    'Scaling': (halfulp.Scaling, dict(text='mxfp4')), 'Number': (halfulp.Number, dict(text='posit8')),
    'Accumulator': (halfulp.Accumulator, dict(text='fp32')), 'Rounding': (halfulp.Rounding, dict(text='s2fp8')),
    'Collective': (halfulp.Collective, dict(text='exact')),
    'model': (halfulp.model, dict(name='nv.hopper.e4m3.f32.wgmma')),
    'preset': (halfulp.preset, dict(name='torch.float8_e4m3fn')),
    'Events': (lambda overflow: halfulp.Events(overflow=overflow),
                                                                             dict(overflow=1)),
    'ExactSum.add': (halfulp.ExactSum().add, dict(x=X)), 'ExactSum.add_products': (halfulp.ExactSum().add_products,
                                                                                   dict(a=X, b=X)),
    'ExactSum.round': (halfulp.ExactSum().round, dict(format='bfloat16')),
    'ExactSum.from_bytes': (halfulp.ExactSum.from_bytes, dict(data=b'')), 'ScaledTensor.decode': (T.decode, {}),
    'Scaling.sizes': (halfulp.Scaling('mxfp4').sizes, dict(rows=1, cols=1)),
    'p3109.compute': (lambda operation, x, of, to, mode, rules, packed, stream, threads: p3109.compute(
        operation, x, of=of, to=to, mode=mode, rules=rules, packed=packed, stream=stream, threads=threads),
        dict(operation='Negate', x=CODES, of=F8, to=None, mode='rne', rules='d1', packed=False, stream=None,
            threads=1)),
    'Sum': (lambda way, inside, across, factor, decoded_as: scaled.gemm(T, T.T, sum=scaled.Sum(
        way, inside, across, factor, decoded_as)),
        dict(way='parts', inside='fp32', across='fp32', factor='exact', decoded_as=None)),
    'ScaledTensor': (lambda codes, scales, tensor,
        scaling: scaled.ScaledTensor(codes, scales, tensor, scaling).decode(),
                     dict(codes=T.codes, scales=T.scales, tensor=T.tensor, scaling=T.scaling)),
    'Stream': (lambda key, counter: halfulp.quantize(X, F8, 'sra:3', stream=halfulp.Stream(key, counter)),
        dict(key=1, counter=2)),
    'stream': (lambda key, counter: halfulp.quantize(X, F8, 'sra:3', stream=(key, counter)), dict(key=1, counter=2)),
    'synchronize': (halfulp.synchronize, {}), 'Stream.after': (lambda n: halfulp.Stream(1).after(n).words(2), dict(n=3)),
    'Stream.words': (lambda n: halfulp.Stream(1).words(n), dict(n=3)),
}
# As many as there are; those of a family stand for all of it.
FAMILIES = {'add': ['sub', 'mul', 'div', 'minimum', 'maximum', 'minimum_number', 'maximum_number', 'pow',
                    'remainder'],
            'exp': ['exp2', 'expm1', 'log', 'log2', 'log1p', 'tanh', 'sigmoid', 'erf', 'gelu', 'rsqrt', 'reciprocal',
                'sin',
                    'cos', 'sqrt']}
WITHOUT_ARGUMENTS = ['formats', 'levels', 'models', 'numbers', 'path_rules', 'presets', 'rules', 'scalings',
                     'device_available']
OTHERS = ['identify']  # runs the command


def test_every_function_is_here():
    there = {name for name in halfulp.__all__ if inspect.isfunction(getattr(halfulp, name))}
    assert there == {name for name in CALLS if name in there} | set(sum(FAMILIES.values(),
            [])) | set(WITHOUT_ARGUMENTS + OTHERS)


def check_odd_values(name, call, good, odd_values, left_out=()):
    """Each argument of a call replaced by each odd value but (argument, name of the value) in left_out."""
    for one in inspect.signature(call).parameters.values():
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            continue
        for what, odd in odd_values.items():
            if (one.name, what) in left_out:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter('error')
                    call(**dict(good, **{one.name: odd}))
            except halfulp.HalfulpError as error:
                assert str(error), (name, one.name, what)
            except Exception as error:
                raise AssertionError('{}({}={})'.format(name, one.name, what)) from error


@pytest.mark.parametrize('name', CALLS)
def test_odd_values(name):
    check_odd_values(name, *CALLS[name], ODD)


@pytest.mark.parametrize('argument', ['mode', 'saturate', 'nan', 'tiny', 'stream', 'threads', 'events'])
def test_arrays_as_options(argument):
    for call in (halfulp.quantize, halfulp.encode):
        with pytest.raises(TypeError, match='^(round|{}): '.format(argument)) as error:
            call(X, F8, **{argument: np.arange(3)})
        assert isinstance(error.value, halfulp.HalfulpTypeError)


def test_streams():
    for wrong in (1 + 2j, np.complex64(1), 1.0, '1', (1, 2, 3), (1.0, 2), (1 + 2j, 2), True,
        np.random.RandomState(0)):
        with warnings.catch_warnings(), pytest.raises(TypeError, match='^stream: '):
            warnings.simplefilter('error')
            halfulp.quantize(X, F8, 'sra:3', stream=wrong)
    for wrong in (-1, 1 << 64, (1, -1)):
        with pytest.raises(ValueError, match='^stream: '):
            halfulp.quantize(X, F8, 'sra:3', stream=wrong)
    expected = halfulp.quantize(X * 1.03, F8, 'sra:3', stream=halfulp.Stream(5, 6))
    for same in ((5, 6), [5, 6], (np.int64(5), np.uint8(6))):
        np.testing.assert_array_equal(halfulp.quantize(X * 1.03, F8, 'sra:3', stream=same), expected)
