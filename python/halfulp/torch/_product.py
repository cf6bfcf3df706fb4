# SPDX-License-Identifier: MIT
"""D = A B of tensors: operands rounded, the sums of an accumulation model, D rounded.

Both operands are seen as rows along the axis that is summed over: A as m x k, B as the n x k rows of its transpose.
Blocks of scaled tensors lie along these rows, and random words count along them.
"""
import ctypes
from typing import List, NamedTuple, Optional, Tuple

import torch

from .. import _abi as abi
from .. import _structs as structs
from .._pointer import matrix_view
from . import _calls, _memory, _records, _rounding
from ._calls import Words
from ._rounding import NARROW

_TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


class Operand(NamedTuple):
    """Rows of an operand: what the views of them have, and what keeps the memory."""
    rows: torch.Tensor
    format: structs.hu_format
    codes: bool

    def record(self, first: int, transposed: bool) -> structs.hu_view:
        """From row `first` on. transposed: of the operand that is summed down its columns (B)."""
        straight = _memory.rows_of(self.rows)
        ld = _memory.ld_of(self.rows if straight else self.rows.t())
        step = first * self.rows.stride(0)
        kind = structs.TYPE_CODES if self.codes else structs.TYPE_VALUES32
        return matrix_view(_memory.at(self.rows, step), ld, structs.hu_type(kind, 0, self.format), straight == transposed)


def check(a: torch.Tensor, b: torch.Tensor) -> Tuple[List[int], int, int, int]:
    """The batch's shape, m, n, k. b is a matrix, or has a's batch."""
    _rounding.known(a, 'a', _TYPES)
    _rounding.known(b, 'b', _TYPES)
    if a.dtype != b.dtype or a.device != b.device:
        raise abi.HalfulpTypeError('matmul: a is {} on {}, b is {} on {}'.format(a.dtype, a.device, b.dtype, b.device))
    if a.dim() < 2 or b.dim() < 2 or a.shape[-1] != b.shape[-2] or (b.dim() > 2 and a.shape[:-2] != b.shape[:-2]):
        raise abi.HalfulpValueError(
            'matmul: shapes {} and {} do not go together'.format(tuple(a.shape), tuple(b.shape)))
    return list(a.shape[:-2]), a.shape[-2], b.shape[-1], a.shape[-1]


def _rows(x: torch.Tensor) -> torch.Tensor:
    return x.flatten(0, -2)


def _simple(x: torch.Tensor) -> torch.Tensor:
    """A matrix that lies row by row or column by column."""
    return x if _memory.rows_of(x) or _memory.rows_of(x.t()) else x.contiguous()


def operand(x: torch.Tensor, r: _records.Rounding, words: Words, events: Optional[torch.Tensor]) -> Operand:
    """Rows rounded. As they are, float16 and bfloat16 are codes of their own formats."""
    if r.kind == _records.KEEP:
        narrow = NARROW.get(x.dtype)
        return Operand(_simple(x), _records.format_of(narrow or 'binary32'), narrow is not None)
    _rounding.check(r, x)
    if r.stochastic:
        x = x.contiguous()
    wide = x if x.dtype == torch.float32 else x.to(torch.float32)
    z = torch.empty_like(wide) if wide is x else wide
    if not (_memory.rows_of(z) or _memory.rows_of(z.t())):
        z = torch.empty(z.shape, dtype=z.dtype, device=z.device)
    _rounding.into(z, wide, r, -1, words, events)
    return Operand(z, r.grid(), False)


def transformed(x: torch.Tensor, n: int, *signs: int) -> torch.Tensor:
    """The whole blocks of n numbers of each row behind a Hadamard transform, what is left of a row as it is. signs: words,
    which are repeated where a block has more numbers."""
    wide = x.to(torch.float32)
    whole = wide.shape[-1] // n * n
    if not whole or not wide.numel():
        return wide
    blocks = wide[..., :whole].contiguous().view(-1, whole)
    mask = torch.tensor([word - (word >> 31 << 32) for word in signs * (4 // len(signs))], dtype=torch.int32, device=x.device)
    record = structs.hu_hadamard(n, 0, 0, 1, 0, mask.data_ptr())
    z = torch.empty_like(blocks)
    _calls.engine(x.device).hadamard(*blocks.shape, z.data_ptr(), blocks.data_ptr(), record)
    z = z.view(wide.shape[:-1] + (whole,))
    return z if whole == wide.shape[-1] else torch.cat([z, wide[..., whole:]], -1)


def prepared(a: torch.Tensor, b: torch.Tensor, p: _records.Product) -> Tuple[torch.Tensor, torch.Tensor]:
    """Rows of both operands, those of a batch behind each other, as `p.before` leaves them: float32 where it does
    anything."""
    before, both = p.before, [a, b]
    if before is None:
        return a, b
    if before.n:
        return transformed(a, before.n, before.signs), transformed(b, before.n, before.signs)
    wide = both[before.operand].to(torch.float32).contiguous()
    z = torch.empty_like(wide)
    _rounding.into(z, wide, before.rounding, -2, Words(0, 0), None)
    both[before.operand] = z
    return both[0], both[1]


def result(d: torch.Tensor, f, codes: bool) -> structs.hu_output:
    kind = structs.TYPE_CODES if codes else structs.TYPE_VALUES32
    return structs.hu_output(d.data_ptr(), 1, structs.hu_type(kind, 0, f), max(d.shape[-1], 1))


def multiply(a: torch.Tensor, b: torch.Tensor, p: _records.Product, words: Tuple[Words, Words, Words],
             events: Optional[torch.Tensor], rounded: Tuple[bool, bool] = (False, False),
             dtype: Optional[torch.dtype] = None) -> torch.Tensor:
    """D, of b's type or of `dtype`. words: of the roundings of A, of B, of the sums and D. events: 3 x 10 counts, of A,
    B, D. rounded: which of A and B have been rounded by p.a or p.b already, and are float32."""
    batch, m, n, k = check(a.to(b.dtype) if rounded[1] else a, b.to(a.dtype) if rounded[0] else b)
    dtype = dtype or b.dtype
    counts = [None, None, None] if events is None else list(events.unbind())
    rows = _rows(a), _rows(b.transpose(-1, -2))
    if b.dim() == 2:  # one product of all rows
        batch_size, m = 1, rows[0].shape[0]
    else:
        batch_size = rows[0].shape[0] // m if m else 0
    if a.dtype == torch.float64:
        return _double(rows, (batch_size, m, n, k), p).view(*a.shape[:-1], n)
    if p.before is not None and rows[0].numel() and rows[1].numel():
        both = prepared(rows[0].view(batch_size, m, k), rows[1].view(-1, n, k), p)
        rows = _rows(both[0]), _rows(both[1])
    direct = p.out.kind == _records.KEEP and dtype in NARROW
    plain = p.out.kind == _records.FORMAT and not p.out.special and p.out.preset is None
    d = torch.empty((batch_size, m, n), dtype=dtype if direct else torch.float32, device=a.device)
    if d.numel():
        f = p.out.record.format if plain else _records.format_of(NARROW[dtype] if direct else 'binary32')
        mode = p.out.mode if plain else structs.hu_mode()
        if plain:
            _rounding.check(p.out, a)
        z = result(d, f, direct)
        if p.sum.scaled is None:
            both = [Operand(_simple(x), r.grid(), False) if ready else operand(x, r, where, count)
                    for x, r, ready, where, count in zip(rows, (p.a, p.b), rounded, words, counts)]
            _plain(d, z, both, (m, n, k), p, mode, words, counts)
        else:
            _scaled(d, z, rows, (m, n, k), p, mode, words, counts)
        if not (direct or plain) and p.out.kind != _records.KEEP:
            whole = d.view(-1, n)
            _rounding.into(whole, whole, p.out, -1, words[2], counts[2])
    d = d.view(*a.shape[:-1], n)
    return d if d.dtype == dtype else d.to(dtype)


def _address(x: Optional[torch.Tensor]) -> Optional[int]:
    return None if x is None else x.data_ptr()


def _plain(d, z, both, shape, p, mode, words, counts) -> None:
    m, n, k = shape
    engine, (a, b) = _calls.engine(d.device), both
    try:
        for i in range(d.shape[0]):
            z.data = _memory.at(d, i * m * n)
            engine.gemm(m, n, k, z, a.record(i * m, False), b.record(i * n, True), p.sum.accum, mode,
                        words[2].after(i * m * n), _address(counts[2]))
    except abi.HalfulpError as error:
        raise _explained(error, a, b, p) from None


def _double(rows, shape, p) -> torch.Tensor:
    """float64: numbers as they are, under `exact` and `fp64`, a row of D a call."""
    batch, m, n, k = shape
    if any(r.kind != _records.KEEP for r in (p.a, p.b, p.out)) or p.sum.scaled is not None or p.before is not None:
        raise abi.HalfulpTypeError(
            'matmul: float64 tensors are multiplied as they are ("keep"); x.float() for the roundings of '
            '{!r}'.format('|'.join((p.a.text, p.b.text, p.out.text))))
    d = torch.empty((batch, m, n), dtype=torch.float64, device=rows[0].device)
    a, b = (_simple(x) for x in rows)
    engine = _calls.engine(d.device)
    try:
        for i in range(batch * m if n else 0):
            first = i // m * n * b.stride(0)
            engine.dots64(n, k, _memory.at(d, i * n), (_memory.at(a, i * a.stride(0)), a.stride(1), 0),
                          (_memory.at(b, first), b.stride(1), b.stride(0)), p.sum.accum)
    except abi.HalfulpError as error:
        raise _records.unit_error(error, p.sum, float64=True) from None
    return d


def _explained(error: abi.HalfulpError, a: Operand, b: Operand, p: _records.Product) -> abi.HalfulpError:
    if error.status.startswith('HU_E_OPERAND_'):
        return _records.unit_error(error, p.sum)
    if error.status != 'HU_E_ACCUM':
        return error
    text = [abi.written(_calls.main.hu_format_text, 128, x.format) for x in (a, b)]
    made = type(error)('matmul: the model {!r} does not take operands of {} and {}; {}'.format(
        p.sum.text, text[0], text[1], error))
    made.status = error.status
    return made


def _tensor(x: torch.Tensor, r: _records.Rounding, words: Words, events, transposed: bool):
    """A view of the rows of an operand, scaled or not, and what keeps its memory."""
    if r.kind != _records.SCALED:
        plain = operand(x, r, words, events)
        return plain.record(0, transposed), plain
    wide = x.to(torch.float32)
    m = wide if _memory.rows_of(wide) else wide.contiguous()
    scaling = r.scaling(False)
    made = _rounding.encoded(m, r, scaling, words, events)
    kind = structs.hu_type(structs.TYPE_SCALED, scaling=ctypes.addressof(scaling))
    return matrix_view(ctypes.addressof(made.record), 0, kind, transposed), (made, scaling)


def _scaled(d, z, rows, shape, p, mode, words, counts) -> None:
    m, n, k = shape
    engine = _calls.engine(d.device)
    for i in range(d.shape[0]):
        a, keep_a = _tensor(rows[0][i * m:(i + 1) * m], p.a, words[0].after(i * m * k), counts[0], False)
        b, keep_b = _tensor(rows[1][i * n:(i + 1) * n], p.b, words[1].after(i * n * k), counts[1], True)
        z.data = _memory.at(d, i * m * n)
        try:
            engine.scaled_gemm(m, n, k, z, a, b, p.sum.scaled, mode, words[2].after(i * m * n), _address(counts[2]))
        except abi.HalfulpError as error:
            raise _records.unit_error(error, p.sum) from None
        del keep_a, keep_b
