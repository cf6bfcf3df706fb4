# SPDX-License-Identifier: MIT
"""Operators on codes: encode, decode, unpack, scaled_encode, scaled_decode."""
from typing import Optional, Tuple

import numpy as np
import torch
from torch import Tensor

from ... import _abi as abi
from ..._views import CodesOf, spare_bits, wide_code
from .. import _calls, _memory, _records, _rounding
from .._register import fake, operator
from ._shared import counts, drawn, some, words


def _element(text: str):
    r = _records.rounding(text)
    if r.kind != _records.FORMAT or r.special:
        more = '; scaled_encode takes scaled formats' if r.kind == _records.SCALED else ''
        raise abi.HalfulpValueError('encode: {!r} is not a format{}'.format(text, more))
    return r


def same_format(one: str, other: str) -> bool:
    """Whether the codes of two formats mean the same numbers."""
    return _element(one).record.format == _element(other).record.format


def _kind(dtype: torch.dtype):
    """What the array calls have for a type: "32", "64", or the format whose codes it holds."""
    return {torch.float32: '32', torch.float64: '64'}.get(dtype) or _records.format_of(_rounding.NARROW[dtype])


def _code_type(f) -> torch.dtype:
    return _rounding._CODES[_calls.main.hu_limits_of(f).storage // 8]


@operator('encode(Tensor x, Tensor? stream, str rounding, SymInt use, bool count) -> (Tensor, Tensor)')
def encode(x: Tensor, stream: Optional[Tensor], rounding: str, use: int, count: bool) -> Tuple[Tensor, Tensor]:
    _rounding.known(x)
    r, source, events = _element(rounding), x.contiguous(), counts(x, count)
    drawn(stream, rounding)
    z = torch.empty(x.shape, dtype=_code_type(r.record.format), device=x.device)
    if r.preset is not None and x.dtype in _rounding.NARROW:
        source = source.to(torch.float32)
    _calls.engine(x.device).encode(x.numel(), z.data_ptr(), 1, source.data_ptr(), 1, _kind(source.dtype), r,
                                   words(stream, use), events.data_ptr() if count else None)
    return z, events


@fake(encode)
def _(x, stream, rounding, use, count):
    drawn(stream, rounding)
    return torch.empty(x.shape, dtype=_code_type(_element(rounding).record.format), device=x.device), counts(x, count)


@operator('decode(Tensor codes, str rounding, ScalarType dtype) -> Tensor')
def decode(codes: Tensor, rounding: str, dtype: torch.dtype) -> Tensor:
    f = _element(rounding).record.format
    if codes.dtype not in (_code_type(f), _SIGNED[_code_type(f)]):
        raise abi.HalfulpTypeError('codes: {} are {}, not {}'.format(rounding, _code_type(f), codes.dtype))
    z = torch.empty(codes.shape, dtype=dtype, device=codes.device)
    _rounding.check(_records.rounding(rounding), z)
    source = codes.contiguous()  # named, so that it lives until the call is done
    try:
        _calls.engine(codes.device).decode(codes.numel(), z.data_ptr(), 1, source.data_ptr(), 1, _kind(dtype), f)
    except abi.HalfulpError as error:
        raise _wide_code(error, ('codes', source, f)) from None
    return z


_BYTES = (torch.uint8, torch.int8, getattr(torch, 'float4_e2m1fn_x2', torch.uint8))


def _packed(packed: Tensor, rounding: str) -> Tuple[int, int]:
    """Bits of a code of a format or of an element of a scaled one, and how many a row has."""
    r = _records.rounding(rounding)
    f = r.scaling(False).element if r.kind == _records.SCALED else _element(rounding).record.format
    width = _calls.main.hu_limits_of(f).width
    if width > 7:
        raise abi.HalfulpValueError('packed: codes of {} bits are not packed, those of 1 to 7 are'.format(width))
    if packed.dtype not in _BYTES or packed.dim() == 0:
        raise abi.HalfulpTypeError('codes: packed codes are uint8, not {}'.format(packed.dtype))
    return width, packed.shape[-1] * 8 // width


@operator('unpack(Tensor packed, str rounding) -> Tensor')
def unpack(packed: Tensor, rounding: str) -> Tensor:
    """A byte for each of the codes that halfulp.pack packs, row by row of the last dimension."""
    width, count = _packed(packed, rounding)
    first = torch.arange(count, device=packed.device) * width
    spare, size = packed.shape[-1] * 8 % width, packed.shape[-1]
    if spare:
        left = (packed.view(torch.uint8)[..., -1] >> (8 - spare)).reshape(-1).cpu().numpy()
        if left.any():
            place = np.unravel_index(int(np.argmax(left != 0)), tuple(packed.shape[:-1]))
            raise abi.HalfulpValueError(spare_bits('codes', width, size, [int(i) for i in place]))
    whole = torch.nn.functional.pad(packed.view(torch.uint8).to(torch.int32), (0, 1))
    two = whole[..., first // 8] | whole[..., first // 8 + 1] << 8
    return (two >> (first % 8) & ((1 << width) - 1)).to(torch.uint8).contiguous()


@fake(unpack)
def _(packed, rounding):
    shape = tuple(packed.shape[:-1]) + (_packed(packed, rounding)[1],)
    return torch.empty(shape, dtype=torch.uint8, device=packed.device)


_SIGNED = {torch.uint8: torch.int8, torch.uint16: torch.int16, torch.uint32: torch.int32}


def _wide_code(error: abi.HalfulpError, *held: Tuple[str, Tensor, _calls.structs.hu_format],
               signed: bool = False) -> abi.HalfulpError:
    """The error of a code wider than its format, with the code; of tensors on a device without it, which they keep."""
    pairs = []
    for argument, x, f in held:
        width, name = _calls.main.hu_limits_of(f).width, abi.written(_calls.main.hu_format_text, 128, f)
        pairs.append((x.detach().numpy() if x.device.type == 'cpu' else None, CodesOf(argument, name, width, signed)))
    return wide_code(error, pairs)


@fake(decode)
def _(codes, rounding, dtype):
    return torch.empty(codes.shape, dtype=dtype, device=codes.device)


def _scaled(text: str):
    r = _records.rounding(text)
    if r.kind != _records.SCALED:
        more = '; encode takes formats' if r.kind == _records.FORMAT else ''
        raise abi.HalfulpValueError('scaled: {!r} is no scaled tensor{}'.format(text, more))
    return r


def _matrix_shape(x: Tensor, dim: int) -> Tuple[int, int]:
    m, turned = _memory.matrix(x, dim)
    return (m.shape[1], m.shape[0]) if turned else (m.shape[0], m.shape[1])


@operator('scaled_encode(Tensor x, Tensor? stream, str rounding, SymInt dim, SymInt use, bool count) '
          '-> (Tensor, Tensor, Tensor, Tensor)')
def scaled_encode(x: Tensor, stream: Optional[Tensor], rounding: str, dim: int, use: int,
                  count: bool) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    r, events = _scaled(rounding), counts(x, count)
    drawn(stream, rounding)
    _rounding.check(r, x)
    m, turned = _rounding.blocks(x.to(torch.float32), r, dim)  # as `quantize` sees it, so that words are the same
    made = _rounding.encoded(m, r, r.scaling(turned), words(stream, use), some(events))
    codes, scales = (y.t().contiguous() if turned else y for y in (made.codes, made.scales))
    t = made.tensor if made.tensor is not None else torch.ones((), dtype=torch.float32, device=x.device)
    return codes, scales, t, events


@fake(scaled_encode)
def _(x, stream, rounding, dim, use, count):
    r = _scaled(rounding)
    drawn(stream, rounding)
    rows, cols = _matrix_shape(x, dim)
    scaling = r.scaling(False)
    sizes = _calls.main.hu_scaled_sizes_of(1, 1, _calls.ref(scaling))
    down = (rows + scaling.rows - 1) // scaling.rows if scaling.rows else 1
    across = (cols + scaling.cols - 1) // scaling.cols if scaling.cols else 1
    return (torch.empty((rows, cols), dtype=_rounding._CODES[sizes.code_bytes], device=x.device),
            torch.empty((down, across), dtype=_rounding._CODES[sizes.scale_bytes], device=x.device),
            torch.empty((), dtype=torch.float32, device=x.device), counts(x, count))


def _whole(codes: Tensor, scales: Tensor, tensor: Tensor, scaling) -> None:
    """What a scaled tensor made by hand may get wrong."""
    if codes.dim() != 2:
        raise abi.HalfulpValueError('codes: a matrix is required, not {} dimensions'.format(codes.dim()))
    sizes = _calls.main.hu_scaled_sizes_of(*codes.shape, _calls.ref(scaling))
    wanted = [('codes', codes, tuple(codes.shape), _rounding._CODES[sizes.code_bytes]),
              ('scales', scales, (sizes.block_rows, sizes.block_cols), _rounding._CODES[sizes.scale_bytes])]
    if scaling.tensor:
        wanted.append(('tensor', tensor, tuple(tensor.shape) if tensor.numel() == 1 else (), torch.float32))
    for name, x, shape, dtype in wanted:
        if x.dtype != dtype or x.device != codes.device:
            raise abi.HalfulpTypeError('{}: {} on {} instead of {} on {}'.format(name, x.dtype, x.device, dtype,
                                                                                 codes.device))
        if tuple(x.shape) != shape:
            raise abi.HalfulpValueError('{}: shape {} instead of {}'.format(name, tuple(x.shape), shape))


@operator('scaled_decode(Tensor codes, Tensor scales, Tensor tensor, str rounding) -> Tensor')
def scaled_decode(codes: Tensor, scales: Tensor, tensor: Tensor, rounding: str) -> Tensor:
    scaling = _scaled(rounding).scaling(False)
    _whole(codes, scales, tensor, scaling)
    rows, cols = codes.shape
    made = _rounding.Encoded(codes.contiguous(), scales.contiguous(), tensor.contiguous() if scaling.tensor else None)
    z = torch.empty((rows, cols), dtype=torch.float32, device=codes.device)
    try:
        _calls.engine(codes.device).scaled_decode(rows, cols, z.data_ptr(), max(cols, 1), made.record, scaling)
    except abi.HalfulpError as error:
        raise _wide_code(error, ('codes', made.codes, scaling.element), signed=bool(scaling.coding)) from None
    return z


@fake(scaled_decode)
def _(codes, scales, tensor, rounding):
    return torch.empty(codes.shape, dtype=torch.float32, device=codes.device)
