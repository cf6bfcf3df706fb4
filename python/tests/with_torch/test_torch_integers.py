# SPDX-License-Identifier: MIT
"""Tensors of integers and booleans are numbers, each rounded once, as halfulp rounds NumPy's arrays of them."""
import numpy as np

import halfulp
from torch_support import ht, pytest, same, torch

KINDS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64)
BIG = torch.tensor([[2**60 + 2**52 + 1, -2**60 - 2**52 - 1, 3], [2**63 - 1, -2**63, 0]])


@pytest.mark.parametrize('kind', KINDS)
def test_every_type(kind):
    info = torch.iinfo(kind)
    x = torch.from_numpy(np.array([[0, 1, 77], [100, info.max, info.min]], str(kind).partition('.')[2]))
    assert x.dtype == kind
    for rounding in ('bfloat16', 'float8_e4m3fn', 'posit16', 'q(3.4)', 'bfloat16,rtz'):
        text, _, mode = rounding.partition(',')
        call = halfulp.number.quantize if text[0] in 'pq' else halfulp.quantize
        want = torch.from_numpy(call(x.numpy(), text, mode or 'rne'))
        got = ht.quantize(x, rounding)
        assert got.dtype == torch.float64
        same(got, want)
        same(ht.quantize(x.t(), rounding), want.t())
        same(ht.Quantizer(rounding)(x), want)
        same(ht.quantize_with_events(x, rounding)[0], want)


def test_one_rounding():
    assert ht.quantize(BIG, 'bfloat16')[0].tolist() == [2.0**60 + 2**53, -(2.0**60 + 2**53), 3.0]
    codes = ht.encode(BIG, 'bfloat16')
    same(codes, torch.from_numpy(halfulp.encode(BIG.numpy(), 'bfloat16')))
    same(ht.quantize(BIG, 'bfloat16,sra:8', stream=(1, 2)),
         torch.from_numpy(halfulp.quantize(BIG.numpy(), 'bfloat16', 'sra:8', stream=halfulp.Stream(1, 2))))
    for rounding in ('keep', 'binary32,sra:32', 'takum16', 'q(31.0):wrap'):
        remedy = r'x.double\(\) rounds it' if rounding == 'keep' else 'halfulp.quantize takes it'
        with pytest.raises(ValueError, match='float64 lacks an integer .*' + remedy):
            ht.quantize(BIG, rounding, stream=(1, 2))
        if rounding != 'keep':  # what the message says
            halfulp.quantize(BIG.numpy(), *rounding.split(',')[:2], stream=halfulp.Stream(1, 2))


def test_booleans_and_what_begins_in_float32():
    x = torch.tensor([[True, False, True, True]])
    assert ht.quantize(x, 'float8_e4m3fn').tolist() == [[1.0, 0.0, 1.0, 1.0]]
    for rounding in ('mxfp4', 'nvfp4', 's2fp8', 'float8_e5m2,over=inf,nan=keep'):
        got = ht.quantize(x, rounding)
        assert got.dtype == torch.float32
        same(got, ht.quantize(x.float(), rounding))
        with pytest.raises(TypeError, match='16777217 is no float32'):
            ht.quantize(torch.tensor([[1, 2**24 + 1]]), rounding)
    same(ht.scaled_encode(x, 'mxfp4').codes, ht.scaled_encode(x.float(), 'mxfp4').codes)
    assert ht.inside(torch.tensor([448, 449]), 'float8_e4m3fn').tolist() == [True, False]


def test_compiled():
    call = torch.compile(lambda x: ht.quantize(x, 'bfloat16') + 1, fullgraph=True, backend='aot_eager')
    same(call(BIG), ht.quantize(BIG, 'bfloat16') + 1)


def test_refused():
    with pytest.raises(TypeError, match='x: a tensor is required, not float'):
        ht.quantize(0.3, 'bfloat16')
    with pytest.raises(TypeError, match='torch.complex64 is not one of'):
        ht.quantize(torch.ones(2, dtype=torch.complex64), 'bfloat16')
    with pytest.raises(TypeError, match='torch.int64 is not one of'):
        ht.matmul(torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2, dtype=torch.int64))
