# SPDX-License-Identifier: MIT
"""Arrays that are not NumPy's: DLPack, and CUDA arrays as far as a machine without a device shows.

No device is needed or used: a stand-in for libhalfulp-cuda runs the CPU's call on memory of the host, so that what is
tested is which function is called with which arguments and stream, not a kernel.
"""
import gc

import ml_dtypes
import numpy as np
import pytest

import halfulp
from halfulp import _abi, _pointer
from halfulp import _structs as s


class Stand:
    """libhalfulp-cuda whose device is this CPU: the streams of places that were asked for, and the operations that were
    called there, (name, n, z, x, how)."""

    def __init__(self):
        self.calls, self.streams = [], []

    def hu_cuda(self, stream):
        self.streams.append(stream)
        return s.hu_where()


@pytest.fixture
def stand(monkeypatch):
    made, apply = Stand(), _pointer.How.apply

    def seen(how, name, n, z, x, argument=''):
        if how.cuda is not None:
            made.calls.append((name, n, z, x, how))
        apply(how, name, n, z, x, argument)
    monkeypatch.setattr(_abi, 'cuda', lambda: made)
    monkeypatch.setattr(_pointer.How, 'apply', seen)
    return made


class Cuda:
    """What CuPy's arrays look like from outside."""

    def __init__(self, array, stream=None, **more):
        self.array = array
        kind = array.dtype.str if array.dtype.isbuiltin else '|V{}'.format(array.itemsize)
        self.dtype = array.dtype
        self.__cuda_array_interface__ = dict({'shape': array.shape, 'typestr': kind, 'data': (array.ctypes.data, False),
                                              'strides': array.strides, 'version': 3, 'stream': stream}, **more)


class Dlpack:
    """What torch's tensors look like from outside."""

    def __init__(self, array, device=(1, 0), versioned=True):
        self.array, self.device, self.versioned, self.asked = array, device, versioned, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **more):
        if 'max_version' in more and not self.versioned:
            raise TypeError('max_version')
        self.asked.append(more)
        return self.array.__dlpack__(**({'max_version': more['max_version']} if 'max_version' in more else {}))


@pytest.fixture
def x(random):
    return random.normal(size=(4, 100)).astype(np.float32)


@pytest.mark.parametrize('versioned', [True, False])
def test_dlpack_on_the_host(x, versioned):
    for array in (x, x.T, x[:, ::3], x[:0], x.astype(np.float16), x.astype(np.float64)):
        z = halfulp.quantize(Dlpack(array, versioned=versioned), 'float8_e5m2')
        np.testing.assert_array_equal(z, halfulp.quantize(array, 'float8_e5m2'))
    out = np.zeros_like(x)
    holder = Dlpack(out, versioned=versioned)
    assert halfulp.quantize(Dlpack(x), 'float8_e5m2', out=holder) is holder
    np.testing.assert_array_equal(out, halfulp.quantize(x, 'float8_e5m2'))
    frozen = x.copy()
    frozen.flags.writeable = False
    if versioned and tuple(map(int, np.__version__.split('.')[:2])) >= (2, 1):  # whose capsules say it
        halfulp.quantize(Dlpack(frozen), 'float8_e5m2')
        with pytest.raises(ValueError, match='read-only'):
            halfulp.quantize(x, 'float8_e5m2', out=Dlpack(frozen))


class Exporting:
    """What exports a copy of itself, which the capsule alone holds."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **more):
        return self.array.copy().__dlpack__()


def churned(call):
    """What a call gives while memory that it let go of is used again."""
    gc.collect()
    made = call()
    gc.collect()
    return made


@pytest.fixture
def collects_its_own():
    """What was there before, which whole packages are, is not looked at by each collection."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize('side', [32, 1024])  # small arrays come from a cache, large ones are mapped
@pytest.mark.usefixtures('collects_its_own')
def test_dlpack_memory_stays(random, side):
    x = random.normal(size=(side, side)).astype(np.float32)
    for call in (lambda y: halfulp.hadamard(y), lambda y: halfulp.scaled.encode(y, 'mxfp8_e4m3').codes,
                 lambda y: halfulp.scaled.quantize(y, 'mxfp4'), lambda y: halfulp.s2fp8_encode(y).codes,
                 lambda y: halfulp.round_tensor(y, 'bfloat16'), lambda y: halfulp.quantize(y, 'bfloat16'),
                 lambda y: halfulp.gemm(y, y, accum='fp32'), lambda y: halfulp.dot(y, y, accum='fp32')):
        expected = call(x)
        for _ in range(3):
            np.testing.assert_array_equal(churned(lambda: call(Exporting(x))), expected)
    from halfulp._host import float32
    kept = float32('x', Exporting(x))[1:, ::2]
    rest = [np.full_like(x, 7) for _ in range(8)]
    np.testing.assert_array_equal(kept, x[1:, ::2])
    del rest


def test_dlpack_refused(x):
    with pytest.raises(TypeError, match='type 8'):
        halfulp.quantize(Dlpack(x, device=(8, 0)), 'float8_e5m2')
    with pytest.raises(TypeError, match='type 5, 128 bits'):
        halfulp.quantize(Dlpack(np.ones(3, complex)), 'float8_e5m2')


def test_torch_on_the_host():
    torch = pytest.importorskip('torch')
    t = torch.randn(5, 70, dtype=torch.float64).to(torch.bfloat16)
    for tensor in (t, t.t(), t[:, ::2]):
        codes = halfulp.encode(tensor, 'float8_e5m2')
        expected = tensor.contiguous().to(torch.float8_e5m2).view(torch.uint8).numpy()
        np.testing.assert_array_equal(codes, expected)
        out = torch.empty(tensor.shape, dtype=torch.float8_e5m2)
        halfulp.encode(tensor, 'float8_e5m2', out=out)
        np.testing.assert_array_equal(out.view(torch.uint8).numpy(), expected)
        back = torch.empty(tensor.shape, dtype=torch.bfloat16)
        halfulp.decode(out, out=back)
        assert torch.equal(back, out.to(torch.bfloat16))


def test_cuda_array_interface(x, stand):
    z, counts = np.zeros_like(x), np.zeros(10, np.uint64)
    out = Cuda(z)
    got = halfulp.quantize(Cuda(x), 'float8_e4m3fn', 'sra:8', stream=(5, 6), out=out, cuda_stream=77,
                           events=counts.ctypes.data)
    assert got is out
    (name, n, (to, incz, kind), ((source, incx, plain),), way), = stand.calls
    assert (name, n, stand.streams[-1], way.counts) == ('convert', 400, 77, counts.ctypes.data)
    assert (to, incz, kind.kind) == (z.ctypes.data, 1, s.TYPE_VALUES32)
    assert (source, incx, plain.kind) == (x.ctypes.data, 1, s.TYPE_BINARY32)
    assert halfulp.Format._from_c(kind.format) == halfulp.Format('float8_e4m3fn') and way.mode == halfulp.Mode('sra:8')
    np.testing.assert_array_equal(z, halfulp.quantize(x, 'float8_e4m3fn', 'sra:8', stream=(5, 6)))
    assert counts[5] == 400  # inexact


def test_cuda_streams(x, stand):
    z = np.zeros_like(x)
    halfulp.quantize(Cuda(x, stream=9), 'bfloat16', out=Cuda(z, stream=9))  # the producer's
    assert stand.streams[-1] == 9
    halfulp.quantize(Cuda(x), 'bfloat16', out=Cuda(z))
    assert stand.streams[-1] == 0
    with pytest.raises(ValueError, match='stream 9, cuda_stream is 3'):
        halfulp.quantize(Cuda(x, stream=9), 'bfloat16', out=Cuda(z), cuda_stream=3)
    with pytest.raises(ValueError, match='several streams'):
        halfulp.quantize(Cuda(x, stream=9), 'bfloat16', out=Cuda(z, stream=8))
    made = Dlpack(x, device=(2, 0))
    halfulp.quantize(made, 'bfloat16', out=Dlpack(z, device=(2, 0)), cuda_stream=12)
    assert made.asked[-1]['stream'] == 12 and stand.streams[-1] == 12
    halfulp.quantize(made, 'bfloat16', out=Dlpack(z, device=(2, 0)))
    assert made.asked[-1]['stream'] == 1 and stand.streams[-1] == 0  # DLPack's number for the default stream


def test_cuda_strides_and_types(x, stand):
    z = np.zeros((100, 4), np.float32).T
    halfulp.quantize(Cuda(x), 'bfloat16', 'sra:4', stream=1, out=Cuda(z))  # row by row: no copies on a device
    assert len(stand.calls) == 4 and [(call[3][0][1], call[2][1]) for call in stand.calls] == [(1, 4)] * 4
    np.testing.assert_array_equal(z, halfulp.quantize(x, 'bfloat16', 'sra:4', stream=1))
    del stand.calls[:]
    codes = np.zeros(400, np.uint8)
    halfulp.encode(Cuda(x.reshape(-1)[::-1]), 'float8_e5m2', out=Cuda(codes))
    (_, incx, kind), = stand.calls[0][3]
    assert kind.kind == s.TYPE_BINARY32 and incx == -1
    np.testing.assert_array_equal(codes, halfulp.encode(x.reshape(-1)[::-1], 'float8_e5m2'))
    brain = x.astype(ml_dtypes.bfloat16).reshape(-1)
    halfulp.encode(Cuda(brain), 'float8_e5m2', out=Cuda(codes))
    assert stand.calls[1][2][2].kind == stand.calls[1][3][0][2].kind == s.TYPE_CODES
    np.testing.assert_array_equal(codes, halfulp.encode(brain, 'float8_e5m2'))
    d = np.zeros((4, 4), np.float32)
    halfulp.gemm(Cuda(x), Cuda(x.T), accum='fp32', out=Cuda(d), cuda_stream=7)
    assert len(stand.calls) == 2 and stand.streams[-1] == 7
    np.testing.assert_array_equal(d, halfulp.gemm(x, x.T, accum='fp32'))


def test_cuda_misuse(x, stand):
    z = np.zeros_like(x)
    wide = np.zeros((8, 8), np.float32)
    with pytest.raises(ValueError, match='^b: .*requires contiguous rows or columns'):
        halfulp.gemm(Cuda(wide[:4, :4].copy()), Cuda(wide[::2, ::2]), accum='fp32', out=Cuda(wide[:4, :4].copy()))
    for call, kind, words in [
            (lambda: halfulp.quantize(Cuda(x), 'bfloat16'), TypeError, 'give out='),
            (lambda: halfulp.quantize(Cuda(x), 'bfloat16', out=z), ValueError, 'on the host and on a device'),
            (lambda: halfulp.quantize(Cuda(x), 'bfloat16', out=Cuda(z), events=halfulp.Events()), TypeError,
             'events: counts of a device'),
            (lambda: halfulp.quantize(Cuda(x), 'bfloat16', out=Cuda(z, data=(z.ctypes.data, True))), ValueError,
             'read-only'),
            (lambda: halfulp.quantize(Cuda(x, mask=1), 'bfloat16', out=Cuda(z)), TypeError, 'masked'),
            (lambda: halfulp.quantize(Cuda(x.astype(np.float16)), 'float8_e5m2', out=Cuda(z.astype(np.float16))),
             ValueError, 'work: '),
            (lambda: halfulp.scaled.quantize(Cuda(x), 'mxfp4'), TypeError, 'of the host')]:
        with pytest.raises(kind, match=words):
            call()
    assert stand.calls == []


def test_cuda_by_address(x, stand):
    how = _pointer.How('rne', cuda=5)
    half, work = x.astype(np.float16), np.zeros(400, np.uint8)
    _pointer.quantize(400, half.ctypes.data, 1, half.ctypes.data, 1, 'float16', 'float8_e5m2', how,
                      work=work.ctypes.data)
    np.testing.assert_array_equal(half, halfulp.quantize(x.astype(np.float16), 'float8_e5m2'))
    assert [call[0] for call in stand.calls] == ['convert'] * 2 and set(stand.streams) == {5}


def test_without_a_device(x):
    there, what = halfulp.device_available()
    if not there:
        with pytest.raises(halfulp.HalfulpDeviceError, match='HU_E_DEVICE|without CUDA'):
            halfulp.synchronize()
        with pytest.raises(halfulp.HalfulpDeviceError, match='HU_E_DEVICE|without CUDA'):
            halfulp.quantize(Cuda(x), 'bfloat16', out=Cuda(x.copy()))
    assert isinstance(what, str)


def test_levels():
    names = halfulp.levels()
    assert 'vector' in names
    assert len(names) == bin(_abi.main().hu_levels()).count('1')
