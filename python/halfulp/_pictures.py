# SPDX-License-Identifier: MIT
"""Drawings, as the command makes them: calls of libhalfulp-pictures (cli/pictures/pictures.h).

This module takes what is checked already; halfulp.plot, the plot methods and the report of halfulp.torch call it.
"""
from __future__ import annotations

import ctypes as c
import re
from typing import Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _abi as abi
from . import _structs as s

MODE, STREAM = s.hu_mode(), s.hu_stream(0, 0)  # to nearest even


class _Data(c.Structure):
    _fields_ = [('values', c.c_void_p), ('size', c.c_uint32), ('rows', c.c_size_t), ('cols', c.c_size_t),
                ('name', c.c_char_p)]


def _drawn(call: str, *arguments: Any) -> str:
    """What a call gives; HalfulpValueError with the line that it gives instead."""
    library, text = abi.pictures(), c.c_void_p()
    status = getattr(library, 'hui_picture_' + call)(c.byref(text), *arguments)
    if not text.value:
        raise abi.HalfulpMemoryError('out of memory')
    made = c.string_at(text.value).decode()
    library.hui_picture_free(text)
    if status:
        raise abi.HalfulpValueError(made)
    return made


def _texts(texts: Sequence[str]) -> Any:
    return (c.c_char_p * max(len(texts), 1))(*(text.encode() for text in texts))


class Data(NamedTuple):
    """A matrix of float32 or float64 whose rows are contiguous, and what the drawing calls it."""
    values: np.ndarray
    name: str


class Picture:
    """A drawing. A notebook shows it; `svg` is its text, `save('x.svg')` writes the file."""

    __slots__ = ('svg',)

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        sides = re.search(r'width="(\d+)" height="(\d+)"', self.svg)
        return 'Picture({} x {})'.format(*sides.groups()) if sides else 'Picture()'

    def save(self, path: Any) -> None:
        """Write it to a file with the ending .svg, which is UTF-8. HalfulpValueError: another ending; nothing is written."""
        if not str(path).lower().endswith('.svg'):
            raise abi.HalfulpValueError('path: {!r}: a drawing is an SVG; name a file that ends in .svg'.format(str(path)))
        with open(path, 'w', encoding='utf-8') as file:
            file.write(self.svg)


def plot(texts: Sequence[str], mode: s.hu_mode = MODE, stream: s.hu_stream = STREAM,
         data: Optional[Data] = None) -> Picture:
    """What `halfulp plot` draws of formats, under a mode, and of a matrix that is rounded into each of them."""
    record = None
    if data is not None:
        x = np.ascontiguousarray(data.values)
        record = c.byref(_Data(x.ctypes.data, x.itemsize, *x.shape, data.name.encode()))
    return Picture(_drawn('plot', _texts(texts), len(texts), mode, stream, record))


def exponents(name: str, before: Tuple[Sequence[int], int], after: Tuple[Sequence[int], int], low: int) -> str:
    """A drawing for a page: how many numbers have exponent low, low + 1, ... and, the second of each pair, are zero."""
    first, second = (np.array(counts, np.uint64) for counts, _ in (before, after))
    zeros = np.array([before[1], after[1]], np.uint64)
    return _drawn('exponents', name.encode(), first.ctypes.data, second.ctypes.data, low, first.size, zeros.ctypes.data)


def ratios(name: str, what: str, rows: Sequence[Tuple[str, float]], why: str) -> str:
    """A drawing for a page: a bar for each ratio in dB, the lowest first; `why` stands beside those without an error."""
    ordered = sorted(rows, key=lambda row: row[1])
    numbers = np.array([number for _, number in ordered], np.float64)
    return _drawn('ratios', name.encode(), what.encode(), _texts([text for text, _ in ordered]), numbers.ctypes.data,
                  why.encode(), len(ordered))


def page(title: str, body: str) -> str:
    """A page of HTML around its body, which is trusted."""
    return _drawn('page', title.encode(), body.encode())
