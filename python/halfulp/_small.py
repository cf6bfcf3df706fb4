# SPDX-License-Identifier: MIT
"""A shortcut through quantize, encode, decode and convert for what most calls are: a float or a contiguous array of
NumPy's own type on the host, and options that need no more than a look. Texts are parsed once. Anything else, and every
error, is left to the general way, with which this one's tests compare it."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, Mapping, NamedTuple, Optional

import numpy as np

from . import _abi as abi
from . import _structs as s
from ._pointer import codes_type, conversion, how_bytes, number_type, plain_type, scaled_values, values_type
from ._targets import target_of
from .conversion import names_preset
from .events import Events
from .format import Format
from .mode import Mode, Stream, mode_of, stream_of
from .number import Number
from .scaling import Scaling

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_WIDE = ('float32', 'float64')
_EXEC = s.hu_exec(1, 0, s.hu_stream(0, 0))  # calls read it only
_OPTIONS = frozenset(('saturate', 'nan', 'tiny', 'stream', 'events', 'threads'))


class _Target(NamedTuple):
    """A format, a number system or a scaled format: its codes' type, and the library's calls for float32 and float64."""

    codes: np.dtype
    quantize: Mapping[np.dtype, Any]
    encode: Mapping[np.dtype, Any]
    decode: Mapping[np.dtype, Any]
    keep: Any  # what the record points to
    scaled: bool = False  # a scaled format: then only float32 is quantized, row by row


@functools.lru_cache(maxsize=4096)
def _target(format: Any) -> Optional[_Target]:
    """What calls with this format need, or None where the general way must look at it."""
    if isinstance(format, str) and names_preset(format):
        return None
    try:
        goal = target_of(format)
    except abi.HalfulpError:
        return None
    if isinstance(goal, Format):
        codes = codes_type(goal)
        return _Target(goal.dtype, {np.dtype(n): conversion(values_type(n, goal), plain_type(n)) for n in _WIDE},
                       {np.dtype(n): conversion(codes, plain_type(n)) for n in _WIDE},
                       {np.dtype(n): conversion(plain_type(n), codes) for n in _WIDE}, goal)
    if isinstance(goal, Number):
        return _Target(goal.dtype, {np.dtype(n): conversion(number_type(goal._c, n), plain_type(n)) for n in _WIDE}, {}, {},
                       goal)
    if isinstance(goal, Scaling):
        return _Target(_F32, {_F32: scaled_values(goal._c)}, {}, {}, goal, True)
    return None


@functools.lru_cache(maxsize=4096)
def _between(to: Format, of: Format) -> Any:
    """The library's call for codes of one format to codes of another."""
    return conversion(codes_type(to), codes_type(of))


def _planned(format: Any) -> Optional[_Target]:
    kind = type(format)
    return _target(format) if kind is str or kind is Format or kind is Number or kind is Scaling else None


@functools.lru_cache(maxsize=4096)
def _mode(mode: Any, saturate: Any, nan: Any, tiny: Any) -> Optional[Mode]:
    try:
        return mode_of('rne' if mode is None else mode, saturate, nan, tiny)
    except abi.HalfulpError:
        return None


class _Way(NamedTuple):
    """The mode, the exec and the counts of a call, as the library takes them, and together."""

    mode: Any
    run: s.hu_exec
    counts: Optional[int]
    how: bytes


@functools.lru_cache(maxsize=1024)
def _plain_way(mode: Mode) -> _Way:
    return _Way(mode._c, _EXEC, None, how_bytes(mode._c, _EXEC, None))


def _way(mode: Any, options: Mapping[str, Any]) -> Optional[_Way]:
    """How a call is done; None for the general way."""
    if mode is not None and type(mode) is not str and type(mode) is not Mode:
        return None
    if not options:
        full = _mode(mode, None, None, None)
        return None if full is None or full.stochastic else _plain_way(full)
    if not _OPTIONS.issuperset(options):
        return None
    words = options.get('saturate'), options.get('nan'), options.get('tiny')
    if any(word is not None and type(word) is not str for word in words):
        return None
    full = _mode(mode, *words)
    stream, events, threads = options.get('stream'), options.get('events'), options.get('threads', 1)
    if full is None or (full.stochastic and stream is None) or (events is not None and type(events) is not Events):
        return None
    if type(threads) is not int or not 0 <= threads <= s.THREADS_MAX:
        return None
    counts = None if events is None else ctypes.addressof(events._c)
    if stream is None:
        run = _EXEC if threads == 1 else s.hu_exec(threads, 0, s.hu_stream(0, 0))
    elif type(stream) is not Stream and type(stream) is not int:
        return None
    else:
        try:
            run = s.hu_exec(threads, 0, stream_of(stream)._record())
        except abi.HalfulpError:
            return None
    return _Way(full._c, run, counts, how_bytes(full._c, run, counts))


def _is_plain(x: Any) -> bool:
    """A contiguous array of NumPy itself that has axes and holds something."""
    if type(x) is not np.ndarray or not x.size or not x.ndim:
        return False
    flags = x.flags
    return flags.c_contiguous and flags.aligned


def _buffer(out: Any, x: np.ndarray, kind: np.dtype) -> Optional[np.ndarray]:
    """A new array like x, or `out` where it is x itself or lies apart from it; None for the general way."""
    if out is None:
        return np.empty_like(x) if kind is x.dtype else np.empty(x.shape, kind)
    if out is x and x.flags.writeable and kind is x.dtype:
        return out
    if not _is_plain(out) or out.dtype is not kind or out.shape != x.shape or not out.flags.writeable:
        return None
    z, a = out.ctypes.data, x.ctypes.data
    return out if z + out.nbytes <= a or a + x.nbytes <= z else None


def quantize(x: Any, format: Any, mode: Any, out: Any, options: Mapping[str, Any]) -> Any:
    """What halfulp.quantize returns, or None where the general way must be gone."""
    target = _planned(format)
    way = None if target is None else _way(mode, options)
    if way is None:
        return None
    if type(x) is float:
        return _number(x, target, way) if x == x and out is None and not target.scaled else None
    call = target.quantize.get(x.dtype) if _is_plain(x) else None
    if target.scaled and call is not None and x.ndim > 3:  # the general way warns
        return None
    z = None if call is None else _buffer(out, x, x.dtype)
    if z is None:
        return None
    if target.scaled:
        cols = x.shape[-1]
        done = call(x.size // cols, cols, z.ctypes.data, x.ctypes.data, way.how)
    else:
        done = call(x.size, z.ctypes.data, x.ctypes.data, way.how)
    return z if done == s.OK else None


def _number(x: float, target: _Target, way: _Way) -> Any:
    z, source = ctypes.c_double(), ctypes.c_double(x)
    status = target.quantize[_F64](1, ctypes.addressof(z), ctypes.addressof(source), way.how)
    return np.float64(z.value) if status == s.OK else None


def encode(x: Any, format: Any, mode: Any, out: Any, options: Mapping[str, Any]) -> Optional[np.ndarray]:
    """What halfulp.encode returns, or None where the general way must be gone."""
    target = _planned(format)
    call = target.encode.get(x.dtype) if target is not None and _is_plain(x) else None
    way = None if call is None else _way(mode, options)
    z = None if way is None else _buffer(out, x, target.codes)
    if z is None:
        return None
    return z if call(x.size, z.ctypes.data, x.ctypes.data, way.how) == s.OK else None


_VALUES = {'float32': _F32, 'float64': _F64}


def decode(codes: Any, format: Any, dtype: Any, out: Any, options: Mapping[str, Any]) -> Optional[np.ndarray]:
    """What halfulp.decode returns, or None where the general way must be gone."""
    target = _planned(format)
    if target is None or not _is_plain(codes) or codes.dtype is not target.codes:
        return None
    kind = _VALUES.get(dtype) if type(dtype) is str and out is None else None
    call = target.decode.get(kind)
    way = None if call is None or not {'threads'}.issuperset(options) else _way(None, options)
    if way is None:
        return None
    z = np.empty(codes.shape, kind)
    return z if call(codes.size, z.ctypes.data, codes.ctypes.data, way.how) == s.OK else None


def convert(codes: Any, to: Any, mode: Any, of: Any, out: Any, options: Mapping[str, Any]) -> Optional[np.ndarray]:
    """What halfulp.convert returns, or None where the general way must be gone."""
    goal, source = _planned(to), _planned(of)
    if goal is None or source is None or not goal.encode or not source.encode:  # formats alone
        return None
    if not _is_plain(codes) or codes.dtype is not source.codes:
        return None
    way = _way(mode, options)
    z = None if way is None else _buffer(out, codes, goal.codes)
    if z is None:
        return None
    call = _between(goal.keep, source.keep)
    return z if call(codes.size, z.ctypes.data, codes.ctypes.data, way.how) == s.OK else None
