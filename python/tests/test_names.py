# SPDX-License-Identifier: MIT
"""A text that a function does not take: the error says what the text is, who takes it, or which names are like it. What
help() shows."""
import inspect
import pathlib
import re

import numpy as np
import pytest

import halfulp
from halfulp import codes, number, scaled
from halfulp._names import AMBIGUOUS
from halfulp.train import Assignment

X = np.float32([[1.0, 2.0]])


def formats(text):
    return halfulp.encode(X, text)


@pytest.mark.parametrize('call, text, words', [
    (formats, 'nvfp4', "format: 'nvfp4' is a scaled format: halfulp.quantize, .* and halfulp.round_tensor take"),
    (formats, 'scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule=floor)', 'is a scaled format'),
    (formats, 'posit8', 'is a number system: halfulp.quantize, halfulp.number.encode'),
    (formats, 'q(3.4)', 'is a number system: halfulp.quantize, halfulp.number.encode'),
    (formats, 's2fp8', 'halfulp.quantize, halfulp.s2fp8_encode and halfulp.round_tensor take it'),
    (formats, 'float8_e4m3fn,over=inf', 'is a rounding of tensors: halfulp.quantize and halfulp.round_tensor take it'),
    (formats, 'fp8_e4m3', "'fp8_e4m3' is ambiguous; one of float8_e4m3fn .*, float8_e4m3 "),
    (formats, 'FP8-E4M3', "is ambiguous; one of float8_e4m3fn "),
    (formats, 'f8_e4m3', "is ambiguous; one of float8_e4m3fn "),
    (formats, 'fp8_e5m2', "did you mean 'float8_e5m2'"),
    (formats, 'fp4_e2m1', "did you mean 'float4_e2m1fn'"),
    (formats, 'bfloat16,stochastic', 'stochastic rounding is sra:N, srb:N or src:N'),
    (lambda text: halfulp.round_tensor(X, text), 'float8_e4m3fn,sr', "from 'sr' on .*; stochastic rounding is sra:N"),
    (lambda text: halfulp.gemm(X, X.T, accum=text), 'seq(bfloat16,nearest)', 'to nearest is rne with ties to even'),
    (formats, 'rtz', "'rtz' is a rounding mode: mode= takes it"),
    (formats, 'nv.hopper.e4m3.f32.wgmma', 'is an accumulation model: accum= takes it'),
    (formats, 'mx.mxfp4', r"halfulp.scaled.encode\(x, p\) with p = halfulp.preset\('mx.mxfp4'\)"),
    (formats, 'E4M3', "format: 'E4M3' is ambiguous; one of float8_e4m3fn .*, float8_e4m3 "),
    (lambda text: halfulp.quantize(X, text), 'fp8', "format: 'fp8' is ambiguous; one of float8_e4m3fn, float8_e5m2 "),
    (lambda text: halfulp.round_tensor(X, text), 'fp8,rtz', "rounding: 'fp8' is ambiguous; one of float8_e4m3fn, "),
    (formats, 'float8', "did you mean 'float8_e4m3fn', 'float8_e5m2'"),
    (formats, 'FLOAT8_E4M3FN', "did you mean 'float8_e4m3fn'?"),
    (formats, 'float8-e5m2', "did you mean 'float8_e5m2'?"),
    (formats, 'floot8_e4m3fn', "did you mean 'float8_e4m3fn'"),
    (formats, 'torch.float8_e4m3', "did you mean 'torch.float8_e4m3fn'"),
    (lambda text: scaled.quantize(X, text), 'float8_e4m3fn', "scaling: 'float8_e4m3fn' is a format: halfulp.quantize"),
    (lambda text: scaled.quantize(X, text), 'te.nvfp4', r"p = halfulp.preset\('te.nvfp4'\)"),
    (lambda text: scaled.quantize(X, text), 'nvfp4x', "did you mean 'nvfp4'?"),
    (lambda text: number.quantize(X, text), 'mxfp4', "number: 'mxfp4' is a scaled format"),
    (lambda text: number.quantize(X, text), 'posit_8', "did you mean 'posit8'?"),
    (lambda text: halfulp.round_tensor(X, text), 'torch.float8_e4m3fn', 'rounding: .* is a preset .*halfulp.quantize'),
    (lambda text: halfulp.round_tensor(X, text), 'float8_e4m3f,rtz', "did you mean 'float8_e4m3fn'"),
    (lambda text: halfulp.gemm(X, X.T, accum=text), 'fp16', r'accum: .* is a format.*; seq\(fp16\) adds in it'),
    (lambda text: halfulp.gemm(X, X.T, accum=text), 'nv.hopper.e4m3', "did you mean 'nv.hopper.e4m3.f32.wgmma'"),
    (halfulp.model, 'nv.hopper.e4m3', "did you mean 'nv.hopper.e4m3.f32.wgmma'"),
    (halfulp.preset, 'torch.float8', "did you mean 'torch.float8_e4m3fn'.*presets\\(\\) lists them"),
    (lambda text: halfulp.quantize(X, 'bfloat16', text), 'sr', 'stochastic rounding is sra:N, .* N random bits, 1 to 32'),
    (lambda text: halfulp.quantize(X, 'bfloat16', text), 'even', 'to nearest is rne with ties to even'),
    (lambda text: halfulp.quantize(X, 'bfloat16', text), 'xyz', 'there are rne, .*, sra:N, srb:N, src:N'),
    (lambda text: halfulp.quantize(X, 'bfloat16', saturate=text), 'yes', 'there are default, none, finite, propagate'),
])
def test_what_a_text_is(call, text, words):
    with pytest.raises(halfulp.HalfulpValueError, match=words) as caught:
        call(text)
    assert caught.value.status.startswith('HU_E_') or 'preset' in words or 'mx.' in text


def test_ambiguous_names_are_those_of_the_command():
    source = pathlib.Path(__file__).resolve().parents[2] / 'cli' / 'base' / 'names.c'
    table = re.search(r'ambiguous\[\]\[2\] = \{(.*?)\};', source.read_text(encoding='utf-8'), re.S)[1]
    rows = [re.findall(r'"([^"]*)"', row) for row in re.findall(r'\{(.*?)\}', table, re.S)]
    assert {row[0]: ''.join(row[1:]) for row in rows} == AMBIGUOUS


def test_no_guess_where_nothing_is_near():
    for text in ('', 'xyzzy', 'fp(4,3,0):fnord'):
        with pytest.raises(ValueError) as caught:
            formats(text)
        assert 'did you mean' not in str(caught.value) and ' is a ' not in str(caught.value)


@pytest.mark.parametrize('text', ['bfloat16\ud800', '\udfff', 'bfloat16\0'])
def test_texts_that_are_none(text):
    """Half a pair of surrogates has no bytes in UTF-8; a zero would end the text for the C library."""
    for call in (formats, halfulp.Format, halfulp.Scaling, halfulp.Number, halfulp.Rounding, halfulp.Accumulator,
                 halfulp.Mode, halfulp.model, halfulp.preset, lambda text: halfulp.quantize(X, 'torch.' + text),
                 lambda text: halfulp.s2fp8_encode(X, text), halfulp.train.LossScaler,
                 lambda text: Assignment(halfulp.train.Layout([1, 1], [1], [True]), 'demote', ratio=text)):
        with pytest.raises(halfulp.HalfulpValueError) as caught:
            call(text)
        assert str(caught.value).encode()  # it can be printed


def test_names_as_functions():
    assert halfulp.format('bfloat16') == halfulp.Format('bfloat16')
    assert halfulp.mode('rtz') == halfulp.Mode('rtz') and halfulp.scaling('mxfp4') == halfulp.Scaling('mxfp4')
    from halfulp.format import Format
    assert Format is halfulp.Format
    import pickle
    assert pickle.loads(pickle.dumps(halfulp.format('bfloat16'))) == Format('bfloat16')


def test_made_functions_have_their_names():
    """Those of halfulp and halfulp.codes that are made from a table."""
    for module in (halfulp, codes):
        for name in codes.WHAT:
            function = getattr(module, name)
            assert function.__name__ == function.__qualname__ == name
            assert function.__doc__.startswith(codes.WHAT[name]), function.__doc__


def test_options_are_spelt_out():
    """help() names every option that a function takes, with what it means."""
    for module in (halfulp, codes, number, scaled):
        for name, thing in vars(module).items():
            if inspect.isfunction(thing) and not name.startswith('_') and thing.__module__.startswith('halfulp'):
                parameters = inspect.signature(thing).parameters
                assert 'options' not in parameters or name in ('alone', 'apply', 'operands_of', 'host_how', 'how', 'with_words')
                if 'threads' in parameters and 'stream' in parameters:
                    assert '\nthreads : int' in thing.__doc__ and '\nstream : Stream' in thing.__doc__
    assert str(inspect.signature(halfulp.quantize)) == (
        '(x, format, mode=None, *, axis=None, out=None, saturate=None, nan=None, tiny=None, stream=None, events=None, threads=1, '
        'cuda_stream=None)')
    said = inspect.getdoc(halfulp.quantize)
    assert said.index('\nOptions\n') < said.index('\nReturns\n') and 'which stochastic roundings require' in said
    assert 'cuda_stream' not in inspect.signature(halfulp.dot).parameters
    assert list(inspect.signature(codes.next_up).parameters) == ['x', 'of', 'packed', 'out', 'threads', 'cuda_stream']


@pytest.mark.parametrize('name', ['seed', 'rng', 'generator'])
def test_a_keyword_for_random_words_leads_to_stream(name):
    for call in (halfulp.quantize, halfulp.encode):
        with pytest.raises(TypeError, match="no argument '{}'; .*stream= takes random words, as Stream".format(name)):
            call(X, 'bfloat16', 'sra:8', **{name: 1})
    with pytest.raises(TypeError, match='stream= takes random words'):
        halfulp.compare(X, ['bfloat16'], 'sra:8', **{name: 1})
    with pytest.raises(TypeError) as caught:
        halfulp.quantize(X, 'bfloat16', colour=1)
    assert 'random words' not in str(caught.value)
