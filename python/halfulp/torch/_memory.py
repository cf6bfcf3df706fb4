# SPDX-License-Identifier: MIT
"""Tensors as runs of equally strided numbers, and as matrices of rows: what goes to the C calls without a copy."""
import ctypes
import mmap
from typing import Any, List, NamedTuple, Optional, Tuple

import torch

_LARGE = 1 << 20  # numbers; a huge page has 2^21 bytes on x86-64 and on most of Arm
_RUNS = 64  # more calls than this cost more than a copy


def _adviser() -> Any:
    """The C library's madvise where there are huge pages to ask for, else None."""
    if not hasattr(mmap, 'MADV_HUGEPAGE'):
        return None
    try:
        call = ctypes.CDLL(None).madvise
    except (AttributeError, OSError):
        return None
    call.argtypes, call.restype = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int], ctypes.c_int
    return call


_ADVISER = _adviser()


def fresh(z: torch.Tensor, numbers: int) -> torch.Tensor:
    """z itself, a new dense tensor of so many numbers that will be written as a whole. The system is asked for huge pages of
    a large one: most of the time of a large rounding into a new tensor is that of making its small pages one by one.
    It is an advice, whose failure changes nothing."""
    if numbers >= _LARGE and _ADVISER is not None and z.is_cpu:
        first, size = -(-z.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE, numbers * z.element_size()
        _ADVISER(first, (z.data_ptr() + size - first) // mmap.PAGESIZE * mmap.PAGESIZE, mmap.MADV_HUGEPAGE)
    return z


class Run(NamedTuple):
    """n numbers: of z at offset z with stride incz, of x likewise (in elements); `first` is the row-major index of
    the first."""
    n: int
    z: int
    incz: int
    x: int
    incx: int
    first: int


def runs(z: torch.Tensor, x: torch.Tensor, ordered: bool) -> Optional[List[Run]]:
    """z and x, of one shape, as pairs of runs. `ordered`: runs follow the row-major order (random words count by
    it); else the order of memory, in which every dense tensor is one run. None: so many runs that a copy is cheaper."""
    dims = [(n, a, b) for n, a, b in zip(x.shape, z.stride(), x.stride()) if n != 1]
    if not ordered:
        dims.sort(key=lambda d: (-d[1], -d[2]))
    merged: List[Tuple[int, int, int]] = []
    for n, a, b in dims:
        if merged and merged[-1][1] == n * a and merged[-1][2] == n * b:
            merged[-1] = (merged[-1][0] * n, a, b)
        else:
            merged.append((n, a, b))
    n, a, b = merged.pop() if merged else (1, 1, 1)
    made = [(0, 0, 0)]
    for outer, outer_a, outer_b in merged:
        if len(made) * outer > _RUNS:
            return None
        made = [(first * outer + i, at_z + i * outer_a, at_x + i * outer_b) for first, at_z, at_x in made
                for i in range(outer)]
    return [Run(n, at_z, a, at_x, b, first * n) for first, at_z, at_x in made]


def at(x: torch.Tensor, offset: int = 0) -> int:
    """The address of an element."""
    return x.data_ptr() + offset * x.element_size()


def rows_of(x: torch.Tensor) -> bool:
    """Whether a matrix lies row by row: leading dimension x.stride(0), elements of a row side by side."""
    rows, cols = x.shape
    return (cols == 1 or x.stride(1) == 1) and (rows == 1 or x.stride(0) >= max(cols, 1))


def ld_of(x: torch.Tensor) -> int:
    rows, cols = x.shape
    return x.stride(0) if rows > 1 else max(cols, 1)


def matrix(x: torch.Tensor, dim: int) -> Tuple[torch.Tensor, bool]:
    """x as a matrix in which blocks along `dim` lie along the rows, or, turned (True), along the columns. dim first:
    the transpose as it is stored, turned; dim last: as it is; else moved to the end. A view where one is possible."""
    if x.dim() == 0:
        return x.reshape(1, 1), False
    if not -x.dim() <= dim < x.dim():
        raise IndexError('dim: {} is not a dimension of a tensor of shape {}'.format(dim, tuple(x.shape)))
    dim %= x.dim()
    if dim == x.dim() - 1:
        return x.unsqueeze(0).flatten(0, -2) if x.dim() != 2 else x, False
    if dim == 0:
        return x.flatten(1), True
    moved = x.movedim(dim, -1)
    return moved.flatten(0, -2), False


def unmatrix(m: torch.Tensor, shape: torch.Size, dim: int) -> torch.Tensor:
    """What `matrix` made a matrix of, in its own shape again."""
    if not shape:
        return m.reshape(shape)
    dim %= len(shape)
    if dim in (0, len(shape) - 1):
        return m.reshape(shape)
    moved = list(shape[:dim]) + list(shape[dim + 1:]) + [shape[dim]]
    return m.reshape(moved).movedim(-1, dim)
