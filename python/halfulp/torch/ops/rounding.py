# SPDX-License-Identifier: MIT
"""Operators that round: quantize, quantize_, inside, of_integers."""
from typing import Optional, Tuple

import torch
from torch import Tensor
from torch.autograd.graph import increment_version

from ... import _abi as abi
from ..._views import float32_of, numbers, overlaps_itself
from .. import _memory, _records, _rounding, _small, _watch
from .._register import fake, formula, operator
from ._shared import counts, drawn, gradient_rule, some, words


@operator('quantize(Tensor x, Tensor? stream, Tensor? tap, str forward, str backward, SymInt dim, str gradient, '
          'SymInt use, SymInt back_use, bool count) -> (Tensor, Tensor)', gradient=True)
def quantize(x: Tensor, stream: Optional[Tensor], tap: Optional[Tensor], forward: str, backward: str, dim: int,
             gradient: str, use: int, back_use: int, count: bool) -> Tuple[Tensor, Tensor]:
    gradient_rule(gradient)
    drawn(stream, forward, backward)
    _rounding.check(_records.rounding(backward), x)
    drawn_from, events = words(stream, use), counts(x, count)
    z = None if count else _small.rounded(x, forward, dim, drawn_from)
    if z is None:
        z = _memory.fresh(torch.empty_like(x), x.numel())
        _rounding.into(z, x, _records.rounding(forward), dim, drawn_from, some(events))
    return z, events


@fake(quantize)
def _(x, stream, tap, forward, backward, dim, gradient, use, back_use, count):
    gradient_rule(gradient)
    drawn(stream, forward, backward)
    _rounding.check(_records.rounding(forward), x)
    _rounding.check(_records.rounding(backward), x)
    return torch.empty_like(x), counts(x, count)


def _quantize_setup(ctx, inputs, output):
    x, stream, tap, forward, backward, dim, gradient, use, back_use, count = inputs
    ctx.texts = (forward, backward, gradient)
    ctx.numbers = (dim, back_use, tap is not None)
    ctx.save_for_backward(x if gradient == 'zero_outside' else None,
                          stream if _records.rounding(backward).stochastic else None)


def _quantize_backward(ctx, g, _):
    forward, backward, gradient = ctx.texts
    dim, back_use, tapped = ctx.numbers
    x, stream = ctx.saved_tensors
    z, events = quantize(g, stream, None, backward, 'keep', dim, 'straight_through', back_use, -1, tapped)
    if x is not None:
        z = torch.where(inside(x, forward, dim), z, torch.zeros((), dtype=z.dtype, device=z.device))
    tap = events.to('cpu', torch.float64).reshape(1, -1) if tapped else None
    return z, None, tap, None, None, None, None, None, None, None


formula(quantize, _quantize_backward, _quantize_setup)


@operator('quantize_(Tensor(a!) x, Tensor? stream, str rounding, SymInt dim, SymInt use, bool count) -> Tensor')
def quantize_(x: Tensor, stream: Optional[Tensor], rounding: str, dim: int, use: int, count: bool) -> Tensor:
    drawn(stream, rounding)
    if overlaps_itself(tuple(x.shape), x.stride()):
        raise abi.HalfulpValueError('x: several of its elements lie at one place of memory; clone it first')
    events = counts(x, count)
    _rounding.into(x, x, _records.rounding(rounding), dim, words(stream, use), some(events))
    if not x.is_inference():
        increment_version(x)
    return events


@fake(quantize_)
def _(x, stream, rounding, dim, use, count):
    drawn(stream, rounding)
    _rounding.check(_records.rounding(rounding), x)
    return counts(x, count)


def quantize_into(out: Tensor, x: Tensor, stream: Optional[Tensor], rounding: str, dim: int) -> None:
    """out = x rounded, without a copy where nothing watches (_watch.py): a copy that is then rounded in its place has the
    same bits."""
    if _watch.watched((out, x, stream)) or out.is_inference():
        out.copy_(x)
        quantize_(out, stream, rounding, dim, -1, False)
        return
    drawn(stream, rounding)
    _apart(out, x)
    _rounding.into(out, x, _records.rounding(rounding), dim, words(stream, -1), None)
    increment_version(out)


def _apart(out: Tensor, x: Tensor) -> None:
    """An error where the result would be written over numbers that are still to be read."""
    if overlaps_itself(tuple(out.shape), out.stride()):
        raise abi.HalfulpValueError('out: several of its elements lie at one place of memory')
    same = out.data_ptr() == x.data_ptr() and out.stride() == x.stride()
    if not same and out.data_ptr() < _end(x) and x.data_ptr() < _end(out):
        raise abi.HalfulpValueError('out: it lies in the memory of x, at another place or in another order')


def _end(x: Tensor) -> int:
    """Behind the last number of a tensor; strides are not negative."""
    return x.data_ptr() + (x.element_size() * (1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride()))) if x.numel() else 0)


@operator('inside(Tensor x, str rounding, SymInt dim) -> Tensor')
def inside(x: Tensor, rounding: str, dim: int) -> Tensor:
    return _rounding.inside(x, _records.rounding(rounding), dim).contiguous()


@fake(inside)
def _(x, rounding, dim):
    return torch.empty(x.shape, dtype=torch.bool, device=x.device)


def _narrow(r: _records.Rounding) -> bool:
    """Whether a rounding is defined on float32 numbers alone."""
    return r.kind in (_records.SCALED, _records.S2FP8) or r.special


@operator('of_integers(Tensor x, str rounding) -> Tensor')
def of_integers(x: Tensor, rounding: str) -> Tensor:
    """float64, which the rounding rounds as it rounds the integers; float32 for roundings that begin there."""
    r = _records.rounding(rounding)
    made = numbers('x', x.detach().cpu().numpy())
    if _narrow(r):
        made = float32_of('x', made)
    elif made.exact is not None and r.kind == _records.KEEP:
        raise abi.HalfulpValueError("x: float64 lacks an integer in it, and 'keep' rounds nothing; x.double() rounds "
                                    'it')
    elif made.exact is not None and not _rounding.decides(r):
        raise abi.HalfulpValueError('x: float64 lacks an integer in it, and {!r} does not round what is near instead; '
                                    'halfulp.quantize takes it'.format(rounding))
    return torch.from_numpy(made.array).to(x.device)


@fake(of_integers)
def _(x, rounding):
    return torch.empty_like(x, dtype=torch.float32 if _narrow(_records.rounding(rounding)) else torch.float64)
