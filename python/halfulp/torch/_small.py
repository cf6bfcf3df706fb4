# SPDX-License-Identifier: MIT
"""Shortcuts of the kernels for what most calls are: dense float32 tensors of the CPU, roundings and sums that draw no random
words, no counts. They make the library's calls that the general way (_rounding.py, _product.py) makes, so they write the
same bits; texts become the records of these calls once. Anything else, and every error, is left to the general way."""
import ctypes
import functools
import math
import struct
import threading
from typing import Any, Callable, NamedTuple, Optional, Tuple

import torch

from .. import _abi as abi
from .. import _structs as structs
from .._pointer import conversion, how_bytes, scaled_values
from . import _memory, _records, _watch
from ._calls import _ALONE, FLOAT32, Words, main, values_of
from ._calls import threads as threads_of

_EXEC = structs.hu_exec(1, 0, structs.hu_stream(0, 0))
_EXEC_REF = ctypes.byref(_EXEC)  # calls read it only
_MODE = structs.hu_mode()


def _exec(work: int, words: Words = Words(0, 0)) -> Any:
    if work < _ALONE and not (words.key or words.counter):
        return _EXEC_REF
    return ctypes.byref(structs.hu_exec(threads_of(work), 0, structs.hu_stream(words.key, words.counter)))


class _Rounding(NamedTuple):
    """call(rows, cols, z, x, exec): rounds the matrix at address x into z, both dense, and gives the library's status.
    by_rows: they must lie row by row. stochastic: it draws random words, row by row. grid: the format of the results,
    as an operand of a product."""
    call: Callable[[int, int, int, int, Any], int]
    by_rows: bool
    stochastic: bool
    grid: Any


@functools.lru_cache(maxsize=1024)
def _plan(text: str) -> Optional[_Rounding]:
    """The call for a rounding that these shortcuts know, else None."""
    try:
        r = _records.rounding(text)
    except abi.HalfulpError:
        return None
    if r.preset is not None or r.special or not r.fits32:
        return None
    if r.kind == _records.SCALED and not r.record.turned:
        call = _of_blocks(r.scaling(False), r.mode)
    elif r.kind == _records.FORMAT:
        call = _of_each(values_of(r.record.format), r.mode)
    elif r.kind == _records.NUMBER:
        call = _of_each(structs.hu_type(structs.TYPE_VALUES32, 0, number=ctypes.addressof(r.record.number)), r.mode, r)
    else:
        return None
    return _Rounding(call, r.kind == _records.SCALED, r.stochastic, r.grid())


def _of_each(values: structs.hu_type, mode: Any, keep: Any = None) -> Any:
    call, short = conversion(values, FLOAT32), how_bytes(mode, _EXEC, None)

    def rounding(rows: int, cols: int, z: int, x: int, run: Any, keep: Any = keep) -> int:
        return call(rows * cols, z, x, short if run is _EXEC_REF else how_bytes(mode, run._obj, None))
    return rounding


def _of_blocks(scaling: Any, mode: Any) -> Any:
    call, short = scaled_values(scaling), how_bytes(mode, _EXEC, None)

    def rounding(rows: int, cols: int, z: int, x: int, run: Any, keep: Any = scaling) -> int:
        return call(rows, cols, z, x, short if run is _EXEC_REF else how_bytes(mode, run._obj, None))
    return rounding


def rounded(x: torch.Tensor, text: str, dim: int, words: Words) -> Optional[torch.Tensor]:
    """x rounded with these random words, or None where the general way must do it."""
    plan = _plan(text)
    if plan is None or dim != -1 or x.dtype is not torch.float32 or not x.is_cpu or not x.is_contiguous():
        return None
    size = x.numel()
    if not size:
        return None
    z, cols = _memory.fresh(torch.empty_like(x), size), x.shape[-1] if x.ndim else 1
    return z if plan.call(size // cols, cols, z.data_ptr(), x.data_ptr(), _exec(size, words)) == structs.OK else None


def quantize(x: Any, text: str, dim: int, stream: Optional[Tuple[int, int]] = None) -> Optional[torch.Tensor]:
    """A small x rounded with the words of a stream, where nothing watches (_watch.py) and the gradient of the result is that
    of x as it is; None where the operator must do it. Where x has a gradient, the result is a clone for autograd, whose gradient goes through
    unchanged, and whose numbers are then rounded in their place."""
    if x is None or _watch.watched((x,)):
        return None
    size = x.numel()
    if x.dtype is not torch.float32 or not 0 < size < _ALONE or not x.is_contiguous():
        return None
    plan = _plan(text)
    if plan is None or dim != -1 or plan.stochastic and stream is None:
        return None
    run = _exec(size, Words(*stream)) if plan.stochastic else _EXEC_REF
    z = x.clone() if x.requires_grad and torch.is_grad_enabled() else torch.empty_like(x)
    cols = x.shape[-1] if x.ndim else 1
    return z if plan.call(size // cols, cols, z.data_ptr(), x.data_ptr(), run) == structs.OK else None


# ---- products ----

class _Sides(NamedTuple):
    """Roundings of A and of B (None: kept); the types of both, as bytes; what stands in the product behind them, and what
    keeps the sum."""
    a: Optional[_Rounding]
    b: Optional[_Rounding]
    type_a: bytes
    type_b: bytes
    rest: bytes
    accum: Any


_BINARY32 = _records.format_of('binary32')
_FLOATS = bytes(values_of(_BINARY32))
_SIZES, _VIEW = struct.Struct('NNN'), struct.Struct('Pn{}sn'.format(len(_FLOATS)))  # how a product begins; a matrix of it
_HEAD = structs.hu_product.c.offset  # bytes in front of C, which is not there


def _view(address: int, ld: int, kind: bytes, order: int) -> bytes:
    """A matrix as `_order` says that it lies."""
    return _VIEW.pack(address, 1, kind, ld) if order == 1 else _VIEW.pack(address, ld, kind, 1)


@functools.lru_cache(maxsize=1024)
def _sides(text: str) -> Optional[_Sides]:
    """What a product of this text requires, or None where these shortcuts do not know it."""
    p = _records.product(text)
    if p.sum.scaled is not None or p.before is not None or p.stochastic or p.out.kind != _records.KEEP:
        return None
    kept = [r.kind == _records.KEEP for r in (p.a, p.b)]
    plans = [None if keep else _plan(r.text) for keep, r in zip(kept, (p.a, p.b))]
    if any(plan is None and not keep for plan, keep in zip(plans, kept)):
        return None
    types = [bytes(values_of(_BINARY32 if plan is None else plan.grid)) for plan in plans]
    rest = bytes(structs.hu_product(accum=ctypes.addressof(p.sum.accum)))[_HEAD:]
    return _Sides(plans[0], plans[1], types[0], types[1], rest, p.sum.accum)


def known(text: str) -> bool:
    """Whether these shortcuts know a product."""
    return _sides(text) is not None


def _order(x: torch.Tensor) -> int:
    """1: a dense matrix that lies row by row, 2: column by column, 0: another."""
    rows, cols = x.shape
    down, along = x.stride()
    if along == 1 and down == cols:
        return 1
    return 2 if down == 1 and along == rows else 0


class _Own(threading.local):
    """A thread's memory for small operands."""

    def __init__(self) -> None:
        self.floats = (ctypes.c_float * _FEW)()
        self.place = ctypes.addressof(self.floats)


_FEW = 1 << 14
_OWN = _Own()


def _space(floats: int) -> Tuple[int, Any]:
    """The address of memory for so many numbers, and what keeps it."""
    if floats <= _FEW:
        return _OWN.place, None
    space = _memory.fresh(torch.empty(floats, dtype=torch.float32, device='cpu'), floats)
    return space.data_ptr(), space


def _made(sides: _Sides, d: torch.Tensor, a: torch.Tensor, b: torch.Tensor, shape: Tuple[int, int, int], left: int,
          right: int) -> bool:
    """Whether the library has written D: m x k by k x n numbers, which lie as `_order` says. Rows that are rounded, of A and
    of the transpose of B, lie in memory of this call while it does."""
    m, n, k = shape
    at_a, at_b, of_a, of_b = a.data_ptr(), b.data_ptr(), sides.a, sides.b
    z, keep = _space((m * k if of_a else 0) + (n * k if of_b else 0))
    if of_a:
        if of_a.by_rows and left == 2 or of_a.call(m, k, z, at_a, _exec(m * k)) != structs.OK:
            return False
        at_a, z = z, z + 4 * m * k
    if of_b:
        if of_b.by_rows and right == 1 or of_b.call(n, k, z, at_b, _exec(n * k)) != structs.OK:
            return False
        at_b = z
    product = (_SIZES.pack(m, n, k) + _VIEW.pack(d.data_ptr(), 1, _FLOATS, n)
               + _view(at_a, k if left == 1 else m, sides.type_a, left)
               + _view(at_b, n if right == 1 else k, sides.type_b, right) + sides.rest)
    run = _exec(m * n * k)
    return main.hu_multiply(product, how_bytes(_MODE, run._obj, None)) == structs.OK


def multiply(a: torch.Tensor, b: torch.Tensor, text: str) -> Optional[torch.Tensor]:
    """A B of two matrices under a product's text, or None where the general way must make it."""
    if (a.dim() != 2 or b.dim() != 2 or a.dtype is not torch.float32 or b.dtype is not torch.float32 or not a.is_cpu
            or not b.is_cpu):
        return None
    sides, (m, k), (inner, n) = _sides(text), a.shape, b.shape
    left, right = _order(a), _order(b)
    if sides is None or k != inner or not (left and right and m and n and k):
        return None
    d = _memory.fresh(a.new_empty((m, n)), m * n)
    return d if _made(sides, d, a, b, (m, n, k), left, right) else None


def linear(x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], text: str) -> Optional[torch.Tensor]:
    """X W^T + b of contiguous tensors of at least two axes and nothing empty, or None."""
    sides, shape = _sides(text), x.shape
    if (sides is None or x.dtype is not torch.float32 or weight.dtype is not torch.float32 or len(shape) < 2
            or weight.dim() != 2 or not x.is_contiguous() or not weight.is_contiguous()):
        return None
    (n, inner), (*rows, k) = weight.shape, shape
    m = math.prod(rows)
    if k != inner or not (m and n and k) or bias is not None and (bias.dtype is not torch.float32 or bias.shape != (n,)):
        return None
    d = _memory.fresh(x.new_empty((*rows, n)), m * n)
    if not _made(sides, d, x, weight, (m, n, k), 1, 2):
        return None
    return d if bias is None else d.add_(bias)
