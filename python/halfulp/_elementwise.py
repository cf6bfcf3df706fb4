# SPDX-License-Identifier: MIT
"""Calls element by element over arrays of any shape and strides, from calls that take one stride each.

Element i in C order has word i of the random stream, however arrays lie in memory.
"""
from __future__ import annotations

from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _abi as abi
from . import _structs as s
from ._pointer import How
from ._views import View, first_wide, fresh, wide_code
from .events import Events
from .mode import ModeLike, mode_of

# Rows shorter than this are copied together instead of called one by one.
_SHORT = 64

Place = Tuple[int, int]  # an address and a stride
OPTIONS = ('saturate', 'nan', 'tiny', 'stream', 'events', 'threads', 'cuda_stream')


_OF_WORDS = ('seed', 'rng', 'key', 'generator', 'random_state')


def unknown(name: str, option: str, options: Sequence[str]) -> abi.HalfulpTypeError:
    """The error of a keyword that a function does not have."""
    more = '; stream= takes random words, as Stream(key), a key or a Generator' if option in _OF_WORDS else ''
    return abi.HalfulpTypeError('{}: there is no argument {!r}; there are {}{}'.format(name, option, ', '.join(options),
                                                                                      more))


def how(mode: ModeLike, options: Mapping[str, Any], views: Sequence[View], name: str = '') -> How:
    """The way to run a call on these arrays; `options` are the keywords that a function was given."""
    for option in options:
        if option not in OPTIONS:
            raise unknown(name or 'call', option, OPTIONS)
    full = mode_of(mode, options.get('saturate'), options.get('nan'), options.get('tiny'))
    stream, events = options.get('stream'), options.get('events')
    if full.stochastic and stream is None:
        raise abi.HalfulpValueError(
            'stream: {} draws random words; give stream=Stream(key, counter)'.format(full.round))
    streams = {view.cuda for view in views}
    if len(streams) > 1:
        raise abi.HalfulpValueError(
            '{}: arrays on the host and on a device, or on several streams'.format(name or 'call'))
    cuda = streams.pop() if streams else None
    if cuda is None and events is not None and not isinstance(events, Events):
        raise abi.HalfulpTypeError('events: an Events is expected, not {}'.format(type(events).__name__))
    if cuda is not None and isinstance(events, Events):
        raise abi.HalfulpTypeError('events: counts of a device lie in its memory; give the address of a hu_events')
    return How(full, stream=stream, threads=options.get('threads', 1), events=events, cuda=cuda)


def shape_of(arguments: Sequence[str], views: Sequence[View]) -> Tuple[int, ...]:
    """The shape that operands have together, as NumPy broadcasts."""
    try:
        return np.broadcast_shapes(*(view.shape for view in views))
    except ValueError:
        raise abi.HalfulpValueError('{}: shapes {} do not go together'.format(
            ', '.join(arguments), ', '.join(str(view.shape) for view in views))) from None


def _merged(shape: Tuple[int, ...], strides: List[Tuple[int, ...]], reorder: bool) -> Tuple[List[int], List[List[int]]]:
    """Axes joined where all arrays continue with one stride: sides, and a row of strides for each array."""
    axes = [axis for axis, side in enumerate(shape) if side != 1]
    if reorder:
        axes.sort(key=lambda axis: (-abs(strides[0][axis]), axis))
    sides: List[int] = []
    rows: List[List[int]] = [[] for _ in strides]
    for axis in axes:
        if sides and all(row[-1] == own[axis] * shape[axis] for row, own in zip(rows, strides)):
            sides[-1] *= shape[axis]
            for row, own in zip(rows, strides):
                row[-1] = own[axis]
        else:
            sides.append(shape[axis])
            for row, own in zip(rows, strides):
                row.append(own[axis])
    return sides, rows


def run(call: Callable[..., None], out: View, operands: Sequence[View], way: How) -> None:
    """call(n, places, way) so that all of `out` is written; places: the result's, then the operands'.

    Operands of the host that overlap `out` otherwise than element by element are copied first."""
    try:
        _run(call, out, operands, way)
    except abi.HalfulpError as error:
        raise wide_code(error, [(view.array, view.kind) for view in operands]) from None


def _run(call: Callable[..., None], out: View, operands: Sequence[View], way: How) -> None:
    shape = out.shape
    inputs = [view.broadcast('operand', shape) for view in operands]
    inputs = [view.copied() if view.overlaps(out) else view for view in inputs]
    views = [out] + inputs
    if out.size == 0:
        call(0, [(view.address, 1) for view in views], way)
        return
    sides, rows = _merged(shape, [view.strides for view in views], not way.mode.stochastic)
    if len(sides) <= 1:
        n = sides[0] if sides else 1
        call(n, [(view.address, row[0] if row else 1) for view, row in zip(views, rows)], way)
    elif sides[-1] < _SHORT and out.array is not None:
        _by_copies(call, out, inputs, way)
    else:
        for view in inputs:  # before the first row is written
            if view.array is not None and view.kind is not None and first_wide(view.array, view.kind) is not None:
                raise abi.error(s.E_CODE)
        _by_rows(call, views, sides, rows, way)


def _by_copies(call: Callable[..., None], out: View, inputs: List[View], way: How) -> None:
    made = np.empty(out.shape, out.array.dtype)
    copies = [view.copied() for view in inputs]
    call(out.size, [(made.ctypes.data, 1)] + [(view.address, 1) for view in copies], way)
    out.array[...] = made


def _by_rows(call: Callable[..., None], views: List[View], sides: List[int], rows: List[List[int]], way: How) -> None:
    length, drawn = sides[-1], 0
    for place in np.ndindex(*sides[:-1]):
        starts = [view.address + view.itemsize * sum(i * step for i, step in zip(place, row)) for view,
                  row in zip(views, rows)]
        call(length, [(start, row[-1]) for start, row in zip(starts, rows)],
             way.after(drawn) if way.mode.stochastic else way)
        drawn += length


def finished(result: Optional[np.ndarray], out: Any, scalar: bool) -> Any:
    """What a function returns: `out` if it was given, else the new array, or its element if operands are scalars."""
    if out is not None:
        return out
    assert result is not None
    return result[()] if scalar and result.ndim == 0 else result


def made_or_given(argument: str, out: Any, view: Optional[View], name: str, shape: Tuple[int, ...],
                  like: Sequence[View]) -> Tuple[Optional[np.ndarray], View]:
    """A new array and its View, or None and that of `out`."""
    if view is not None:
        return None, view
    if any(one.cuda is not None for one in like):
        raise abi.HalfulpTypeError('{}: results on a device need an array there: give out='.format(argument))
    return fresh(argument, name, shape, like[0] if like else None)
