# SPDX-License-Identifier: MIT
"""What a text names that an array can be rounded into: a format, a scaled one, S2FP8, HiFloat4, a number."""
from __future__ import annotations

import ctypes
import functools
import math
import warnings
from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi as abi
from . import _structs as s
from . import number, scaled, transform
from ._host import float32, float32_result
from .conversion import Preset, names_preset, preset
from .format import Format, FormatLike
from .number import Number
from .scaling import Rounding, Scaling

Target = Union[Format, Scaling, Number, Rounding, str]  # a text: S2FP8, HiFloat4


@functools.lru_cache(maxsize=1024)
def _of_text(text: str) -> Target:
    library, raw = abi.main(), abi.raw_text('format', text)
    if library.hu_format_parse(ctypes.byref(s.hu_format()), raw, None) == s.OK:
        return Format(text)
    if library.hu_scaling_parse(ctypes.byref(s.hu_scaling()), raw, None) == s.OK:
        return Scaling(text)
    if library.hu_s2fp8_parse(ctypes.byref(s.hu_s2fp8()), raw, None) == s.OK:
        return text
    if library.hu_hif4_parse(ctypes.byref(s.hu_hif4()), raw, None) == s.OK:
        return text
    buffer = (ctypes.c_float * 256)()
    if library.hu_number_parse(ctypes.byref(s.hu_number()), raw, ctypes.addressof(buffer), None) == s.OK:
        return Number(text)
    made = _rounding(text)
    return made if made is not None else Format(text)  # which raises the error, with names that are like it


def _rounding(text: str) -> Optional[Rounding]:
    try:
        return Rounding(text)
    except (abi.HalfulpError, ImportError):  # the package works without libhalfulp-train
        return None


def target_of(thing: Any) -> Target:
    """The target that a `format` argument is or names."""
    if isinstance(thing, str):
        return _of_text(thing)
    if isinstance(thing, (Format, Scaling, Number, Rounding)):
        return thing
    return Format(thing)


def whole(thing: Any) -> Optional[Tuple[Target, Optional[Preset]]]:
    """The target and its preset where a `format` argument is no floating-point format or preset of one; else None."""
    given = preset(thing) if isinstance(thing, str) and names_preset(thing) else thing
    if isinstance(given, Preset):
        return (Scaling(given.scaling), given) if given.scaling else None
    made = target_of(given)
    return None if isinstance(made, Format) else (made, None)


TargetLike = Union[FormatLike, Scaling, Number, Rounding, Preset]
Axis = Union[None, int, Sequence[int]]


def axes_of(argument: str, axis: Axis, ndim: int) -> Tuple[int, ...]:
    """The axes that `axis` names of an array of ndim axes, counted from 0; None: the last one."""
    given = (-1,) if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if ndim == 0 and axis in (None, -1):
        return ()
    if ndim == 0:
        raise abi.HalfulpValueError('{}: {} names an axis, and a single number has none'.format(argument, abi.shown(axis)))
    made = tuple(abi.whole(argument, one, -ndim, ndim - 1) % ndim for one in given)
    if not made or len(set(made)) != len(made):
        raise abi.HalfulpValueError('{}: {!r} are not different axes'.format(argument, axis))
    return made


def warned(tensor: str, kind: Target, axis: Axis, shape: Tuple[int, ...], level: int) -> None:
    """Warns of blocks along the last axis of an array of four axes or more where no axis was named: of weights of a
    convolution that is the kernel's width, and a scale for so few elements flatters the format."""
    scaled_in_blocks = isinstance(kind, Scaling) and kind.block != (None, None)
    if axis is None and len(shape) > 3 and (scaled_in_blocks or isinstance(kind, str) and kind.startswith('hif')):
        warnings.warn('{}: blocks lie along the last of {} axes, of {} elements, which in weights of a convolution is the '
                      'kernel\'s width; axis=1 is the channels, axis=(1, 2, 3) all that one output sums, axis=-1 the last '
                      'one without this warning'.format(tensor, len(shape), shape[-1]), stacklevel=level)


def sides(shape: Tuple[int, ...], axes: Tuple[int, ...]) -> Tuple[int, int]:
    """Rows and columns of the matrix whose rows lie along these axes."""
    cols = math.prod(shape[axis] for axis in axes)
    return (math.prod(shape) // cols if cols else 0), cols


class _Rows:
    """An array of any number of axes as a matrix whose rows lie along `axes`, in the order that these are named."""

    def __init__(self, x: np.ndarray, axes: Tuple[int, ...]) -> None:
        order = [axis for axis in range(x.ndim) if axis not in axes] + list(axes)
        moved = x.transpose(order)
        self._shape, self._back = moved.shape, np.argsort(order)
        self.matrix = np.ascontiguousarray(moved).reshape(sides(x.shape, axes))

    def back(self, made: np.ndarray) -> np.ndarray:
        """A matrix like this one with the array's axes."""
        return made.reshape(self._shape).transpose(self._back)


def _hifloat4(x: np.ndarray, kind: str, mode: Any, options: Any) -> np.ndarray:
    if mode != 'rne':
        raise abi.HalfulpValueError('mode: {} says itself how it rounds'.format(kind))
    return transform.hifloat4_encode(x, kind, events=options.get('events')).decode()


def _scaled(full: np.ndarray, kind: Union[Scaling, Preset], mode: Any, axes: Tuple[int, ...],
            options: Any) -> np.ndarray:
    """Blocks along the first axis alone are those of columns: random words keep the order of the array."""
    if axes == (0,) and full.ndim > 1 and isinstance(kind, Scaling):
        columns = np.ascontiguousarray(full).reshape(full.shape[0], math.prod(full.shape[1:]))
        return scaled.quantize(columns, kind.turned(), mode, **options).reshape(full.shape)
    rows = _Rows(full, axes)
    return rows.back(scaled.quantize(rows.matrix, kind, mode, **options))


def quantize_whole(x: Any, kind: Union[Target, Preset], mode: Any, out: Any, axis: Axis, options: Any) -> Any:
    """x rounded into a target that is no floating-point format; blocks lie along `axis`."""
    if isinstance(kind, Number):
        axes_of('axis', axis, np.ndim(x))
        return number.quantize(x, kind, mode, out=out, **options)
    full = float32('x', x)
    axes = axes_of('axis', axis, full.ndim)
    if isinstance(kind, (Scaling, Preset)):
        made = _scaled(full, kind, mode, axes, options)
    else:
        blocks = kind._c.kind == s.ROUND_SCALED if isinstance(kind, Rounding) else kind.startswith('hifloat4')
        rows = _Rows(full, axes if blocks else axes_of('axis', None, full.ndim))
        if isinstance(kind, Rounding):
            made = transform.round_tensor(rows.matrix, kind, **options)
        elif kind.startswith('hifloat4'):
            made = _hifloat4(rows.matrix, kind, mode, options)
        else:
            made = transform.s2fp8_encode(rows.matrix, kind, mode, **options).decode(options.get('threads', 1))
        made = rows.back(made)
    if out is None:
        return np.asarray(made, order='C')
    float32_result(out, full.shape)[...] = made
    return out
