# SPDX-License-Identifier: MIT
"""DLPack 1.1 by ctypes: NumPy reads no bfloat16 and no 8-bit floats from it, and no device's memory."""
from __future__ import annotations

import ctypes as c
from typing import Any, NamedTuple, Optional, Tuple

from . import _abi as abi

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_READ_ONLY = 1
_NAMES = {(0, 8): 'int8', (0, 16): 'int16', (0, 32): 'int32', (0, 64): 'int64', (1, 8): 'uint8', (1, 16): 'uint16',
          (1, 32): 'uint32', (1, 64): 'uint64', (2, 16): 'float16', (2, 32): 'float32', (2, 64): 'float64',
          (4, 16): 'bfloat16', (6, 8): 'bool', (7, 8): 'float8_e3m4', (8, 8): 'float8_e4m3',
          (9, 8): 'float8_e4m3b11fnuz', (10, 8): 'float8_e4m3fn', (11, 8): 'float8_e4m3fnuz', (12, 8): 'float8_e5m2',
          (13, 8): 'float8_e5m2fnuz', (14, 8): 'float8_e8m0fnu'}


class _Device(c.Structure):
    _fields_ = [('type', c.c_int32), ('id', c.c_int32)]


class _Type(c.Structure):
    _fields_ = [('code', c.c_uint8), ('bits', c.c_uint8), ('lanes', c.c_uint16)]


class _Tensor(c.Structure):
    _fields_ = [('data', c.c_void_p), ('device', _Device), ('ndim', c.c_int32), ('dtype', _Type),
                ('shape', c.POINTER(c.c_int64)), ('strides', c.POINTER(c.c_int64)), ('byte_offset', c.c_uint64)]


class _Versioned(c.Structure):
    _fields_ = [('major', c.c_uint32), ('minor', c.c_uint32), ('manager', c.c_void_p), ('deleter', c.c_void_p),
                ('flags', c.c_uint64), ('tensor', _Tensor)]


class Taken(NamedTuple):
    """What a capsule says; memory lives as long as `keep`."""

    address: int
    name: str
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # in elements
    cuda: bool
    read_only: bool
    keep: Any


def take(argument: str, thing: Any, cuda_stream: Optional[int]) -> Taken:
    """The tensor of an object with __dlpack__. A CUDA producer gets the stream on which its data will be used."""
    kind = int(thing.__dlpack_device__()[0])
    if kind not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise abi.HalfulpTypeError(
            '{}: its memory is on a device of type {}, neither CPU nor CUDA'.format(argument, kind))
    cuda = kind in (CUDA, CUDA_MANAGED)
    # Numbers of streams: DLPack calls the default stream 1, and 0 means nothing there.
    more = {'stream': cuda_stream or 1} if cuda else {}
    if getattr(thing, 'requires_grad', False):  # torch exports none of these
        raise abi.HalfulpTypeError('{}: the tensor requires a gradient, which would be lost here; x.detach() says so, '
                                   'halfulp.torch.quantize keeps it'.format(argument))
    try:
        capsule = thing.__dlpack__(max_version=(1, 1), **more)
    except TypeError:  # before DLPack 1.0
        capsule = thing.__dlpack__(**more)
    tensor, read_only = _open(argument, capsule)
    name = _NAMES.get((tensor.dtype.code, tensor.dtype.bits)) if tensor.dtype.lanes == 1 else None
    if name is None:
        raise abi.HalfulpTypeError('{}: elements of DLPack type {}, {} bits, {} lanes'.format(
            argument, tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes))
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
    else:
        strides = dense(shape)
    return Taken((tensor.data or 0) + tensor.byte_offset, name, shape, strides, cuda, read_only, (capsule, thing))


def dense(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    """Strides of an array in C order, in elements."""
    strides, step = [], 1
    for side in reversed(shape):
        strides.append(step)
        step *= side
    return tuple(reversed(strides))


def _open(argument: str, capsule: Any) -> Tuple[_Tensor, bool]:
    api = c.pythonapi
    api.PyCapsule_IsValid.argtypes, api.PyCapsule_IsValid.restype = [c.py_object, c.c_char_p], c.c_int
    api.PyCapsule_GetPointer.argtypes, api.PyCapsule_GetPointer.restype = [c.py_object, c.c_char_p], c.c_void_p
    if api.PyCapsule_IsValid(capsule, b'dltensor_versioned'):
        record = _Versioned.from_address(api.PyCapsule_GetPointer(capsule, b'dltensor_versioned'))
        if record.major != 1:
            raise abi.HalfulpTypeError('{}: DLPack version {}.{}'.format(argument, record.major, record.minor))
        return record.tensor, bool(record.flags & _READ_ONLY)
    if api.PyCapsule_IsValid(capsule, b'dltensor'):
        return _Tensor.from_address(api.PyCapsule_GetPointer(capsule, b'dltensor')), False
    raise abi.HalfulpTypeError('{}: __dlpack__ gave no DLPack capsule'.format(argument))
