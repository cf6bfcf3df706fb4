# SPDX-License-Identifier: MIT
"""A tensor rounded into another of its shape and type."""
from typing import Optional

import torch

from .. import _abi as abi
from .._integers import wide
from ..format import Format
from . import _calls, _memory, _records
from ._calls import Words

NARROW = {torch.float16: 'binary16', torch.bfloat16: 'bfloat16'}
_SATURATED, _INVALID = (_calls.EVENTS.index(name) for name in ('saturated', 'invalid'))
TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def known(x: torch.Tensor, what: str = 'tensor', types=TYPES) -> None:
    if x.dtype not in types:
        raise abi.HalfulpTypeError('{}: {} is not one of {}'.format(
            what, x.dtype, ', '.join(str(kind).replace('torch.', '') for kind in types)))


def fits(r: _records.Rounding, dtype: torch.dtype) -> bool:
    """Whether a tensor of the type can hold what elements are rounded to."""
    if dtype == torch.float64 or r.kind != _records.FORMAT:
        return True
    if not r.fits32:
        return False
    return dtype == torch.float32 or Format._from_c(r.record.format).fits(NARROW[dtype])


def decides(r: _records.Rounding) -> bool:
    """Whether a rounding takes integers as float64 numbers that are rounded to odd (`_integers`)."""
    bits = r.mode.bits if r.stochastic else 0
    if r.kind == _records.NUMBER:
        return wide.number_decides(r.record.number, bits)
    return r.kind == _records.FORMAT and wide.decides(r.record.format.m + 1, bits)


def check(r: _records.Rounding, x: torch.Tensor) -> None:
    """TypeError or ValueError where this rounding is not one of this tensor's elements."""
    known(x)
    if not fits(r, x.dtype):
        raise abi.HalfulpValueError(
            'rounding: {!r} has values that {} cannot hold; round a wider tensor (HU_E_CARRIER)'.format(
                r.text, x.dtype))
    if x.dtype == torch.float64 and (r.kind in (_records.SCALED, _records.S2FP8) or r.special):
        raise abi.HalfulpTypeError(
            'rounding: {!r} is defined for float32 (float16, bfloat16) tensors; float64 would be rounded twice: '
            'x.float() says so'.format(r.text))


def into(z: torch.Tensor, x: torch.Tensor, r: _records.Rounding, dim: int, words: Words,
         events: Optional[torch.Tensor]) -> None:
    """z = x rounded. z may be x itself; else they do not overlap. events: 10 counts on the same device, added to."""
    check(r, x)
    if x.numel() == 0:
        return
    if r.kind == _records.KEEP:
        if z is not x:
            z.copy_(x)
        return
    if x.is_neg() or x.is_conj():
        x = x.resolve_neg().resolve_conj()
    if x.dtype in NARROW:
        wide = x.to(torch.float32)
        into(wide, wide, r, dim, words, events)
        z.copy_(wide)
        return
    engine = _calls.engine(x.device)
    counts = None if events is None else events.data_ptr()
    if r.special and not engine.specials:
        _with_specials(engine, z, x, r, words, events)
    elif r.kind == _records.SCALED:
        _scaled(engine, z, x, r, dim, words, counts)
    elif r.kind == _records.S2FP8 or r.special:
        _whole(engine, z, x, r, words, counts)
    else:
        _elements(engine, z, x, r, words, counts)


def _elements(engine, z, x, r, words, counts) -> None:
    plan = _memory.runs(z, x, r.stochastic)
    if plan is None:
        source = x.contiguous()
        made = source if source is not x else torch.empty_like(x)  # x itself: it is z that is scattered
        _elements(engine, made, source, r, words, counts)
        z.copy_(made)
        return
    for run in plan:
        engine.quantize(run.n, _memory.at(z, run.z), run.incz, _memory.at(x, run.x), run.incx,
                        x.dtype == torch.float64, r, words.after(run.first), counts)


def _whole(engine, z, x, r, words, counts) -> None:
    """Kinds that look at the tensor before they round it: one run of memory."""
    plan = _memory.runs(z, x, r.stochastic)
    if plan is None or len(plan) != 1 or (r.special and (plan[0].incx, plan[0].incz) != (1, 1)):
        made = x.clone(memory_format=torch.contiguous_format)
        _whole(engine, made, made, r, words, counts)
        z.copy_(made)
        return
    run = plan[0]
    if r.special:
        engine.with_specials(1, run.n, _memory.at(z), _memory.at(x), r, words, counts)
    else:
        engine.s2fp8(run.n, _memory.at(z), run.incz, _memory.at(x), run.incx, r.record.s2fp8, r.mode, words, counts)


def _with_specials(engine, z, x, r, words, events) -> None:
    """over=inf and nan=keep (halfulp/train/rounding.h) where no call has them: the format's rounding, and another into
    the format with an exponent bit more, which shows what overflows: it has the same spacing there."""
    source = x.contiguous()
    made, size = torch.empty_like(source), source.numel()
    engine.quantize(size, made.data_ptr(), 1, source.data_ptr(), 1, False, r, words,
                    None if events is None else events.data_ptr())
    good = torch.where(source.isnan(), torch.full_like(source, float('nan')), made)
    if r.record.over_inf:
        grid = r.grid()
        if grid.e != r.record.format.e + 1:
            raise abi.error(-90, 'quantize', 'over=inf of {!r} works on tensors on the CPU'.format(r.text))
        free, e = torch.empty_like(source), engine.exec(words, size)
        engine.convert(size, (free.data_ptr(), 1, _calls.values_of(grid)), (source.data_ptr(), 1, _calls.FLOAT32), r.mode, e,
                       None)
        over = free.abs() > r.high  # an infinity is one there, or its largest number
        over = over if r.record.format.sign else over & (source > 0)
        good = torch.where(over, torch.copysign(torch.full_like(source, float('inf')), source), good)
        if events is not None:
            events[_SATURATED] -= (over & made.isfinite()).sum()
            events[_INVALID] -= (source.isinf() & over & made.isnan()).sum()
    z.copy_(good)


def blocks(x: torch.Tensor, r: _records.Rounding, dim: int):
    """x as a matrix that lies row by row, and the scaling whose blocks lie along `dim` in it."""
    m, turned = _memory.matrix(x, dim)
    if not _memory.rows_of(m) and not r.stochastic and _memory.rows_of(m.t()):
        m, turned = m.t(), not turned
    elif not _memory.rows_of(m):
        m = m.contiguous()
    return m, turned


def _scaled(engine, z, x, r, dim, words, counts) -> None:
    m, turned = blocks(x, r, dim)
    scaling = r.scaling(turned)
    target, target_turned = blocks(z, r, dim)
    straight = target.data_ptr() == z.data_ptr() and target.shape == m.shape and target_turned == turned
    out = target if straight else torch.empty(m.shape, dtype=m.dtype, device=m.device)
    rows, cols = m.shape
    engine.scaled_quantize(rows, cols, out.data_ptr(), _memory.ld_of(out), m.data_ptr(), _memory.ld_of(m), scaling,
                           r.mode, words, counts)
    if straight:
        return
    natural, natural_turned = _memory.matrix(x, dim)
    if turned != natural_turned:
        out = out.t()
    z.copy_(_memory.unmatrix(out, x.shape, dim))


def inside(x: torch.Tensor, r: _records.Rounding, dim: int) -> torch.Tensor:
    """Which elements lie within the range that they are rounded into: [low, max] of the format or number system; of
    a scaled tensor its largest element times the scales of the block; of a shifted and squeezed one all finite ones.
    NaN lies in no range. "keep" has no range, and everything is inside."""
    check(r, x)
    if r.kind == _records.KEEP:
        return torch.ones_like(x, dtype=torch.bool)
    if r.kind == _records.S2FP8:
        return torch.isfinite(x)
    if r.kind != _records.SCALED:
        return (x >= r.low) & (x <= r.high)
    if x.numel() == 0:
        return torch.ones(x.shape, dtype=torch.bool, device=x.device)
    m, turned = blocks(x.to(torch.float32), r, dim)
    bounds = largest(m, r, r.scaling(turned))
    good = m.abs() <= bounds
    _, natural_turned = _memory.matrix(x, dim)
    return _memory.unmatrix(good.t() if turned != natural_turned else good, x.shape, dim)


def largest(m: torch.Tensor, r: _records.Rounding, scaling) -> torch.Tensor:
    """The value that the largest element code would have at each place of a scaled matrix."""
    engine, made = _calls.engine(m.device), encoded(m, r, scaling, Words(0, 0), None)
    made.codes.fill_(_calls.main.hu_limits_of(scaling.element).max_code)
    bounds = torch.empty(m.shape, dtype=torch.float32, device=m.device)
    rows, cols = m.shape
    engine.scaled_decode(rows, cols, bounds.data_ptr(), max(cols, 1), made.record, scaling)
    return bounds


class Encoded:
    """A scaled matrix in codes; `record` is its hu_scaled, good as long as this lives."""

    def __init__(self, codes, scales, tensor) -> None:
        self.codes, self.scales, self.tensor = codes, scales, tensor
        self.record = _calls.structs.hu_scaled(codes.data_ptr(), max(codes.shape[1], 1), scales.data_ptr(),
                                               max(scales.shape[1], 1), None if tensor is None else tensor.data_ptr())


_CODES = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32}


def encoded(m: torch.Tensor, r: _records.Rounding, scaling, words: Words, events: Optional[torch.Tensor]) -> Encoded:
    """A float32 matrix that lies row by row, encoded."""
    rows, cols = m.shape
    sizes = _calls.main.hu_scaled_sizes_of(rows, cols, _calls.ref(scaling))
    codes = torch.empty((rows, cols), dtype=_CODES[sizes.code_bytes], device=m.device)
    scales = torch.empty((sizes.block_rows, sizes.block_cols), dtype=_CODES[sizes.scale_bytes], device=m.device)
    tensor = torch.ones((), dtype=torch.float32, device=m.device) if scaling.tensor else None
    made = Encoded(codes, scales, tensor)
    _calls.engine(m.device).scaled_encode(rows, cols, made.record, m.data_ptr(), _memory.ld_of(m), scaling, r.mode,
                                          words, None if events is None else events.data_ptr())
    return made
