# SPDX-License-Identifier: MIT
"""What a text names that an array can be rounded into: a format, a scaled one, S2FP8, HiFloat4, a number."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, Optional, Tuple, Union

import numpy as np

from . import _abi as abi
from . import _structs as s
from . import number, scaled, transform
from ._host import float32, float32_result
from .conversion import Preset, names_preset, preset
from .format import Format
from .number import Number
from .scaling import Rounding, Scaling

Target = Union[Format, Scaling, Number, str]  # a text: S2FP8, HiFloat4


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
    return Format(text)  # which raises the error, with names that are like it


def target_of(thing: Any) -> Target:
    """The target that a `format` argument is or names."""
    if isinstance(thing, str):
        return _of_text(thing)
    if isinstance(thing, (Format, Scaling, Number)):
        return thing
    if isinstance(thing, Rounding):
        raise abi.HalfulpTypeError('format: a Rounding holds a mode, too; halfulp.round_tensor takes it')
    return Format(thing)


def whole(thing: Any) -> Optional[Tuple[Target, Optional[Preset]]]:
    """The target and its preset where a `format` argument is no floating-point format or preset of one; else None."""
    given = preset(thing) if isinstance(thing, str) and names_preset(thing) else thing
    if isinstance(given, Preset):
        return (Scaling(given.scaling), given) if given.scaling else None
    made = target_of(given)
    return None if isinstance(made, Format) else (made, None)


def _rows(x: Any) -> Tuple[np.ndarray, Tuple[int, ...]]:
    """An array of any number of axes as a matrix whose rows are its last axis."""
    full = float32('x', x)
    cols = full.shape[-1] if full.ndim else 1
    rows = full.size // cols if cols else 0
    return np.ascontiguousarray(full).reshape(rows, cols), full.shape


def _hifloat4(x: np.ndarray, kind: str, mode: Any, options: Any) -> np.ndarray:
    if mode != 'rne':
        raise abi.HalfulpValueError('mode: {} says itself how it rounds'.format(kind))
    return transform.hifloat4_encode(x, kind, events=options.get('events')).decode()


def quantize_whole(x: Any, kind: Union[Target, Preset], mode: Any, out: Any, options: Any) -> Any:
    """x rounded into a target that is no floating-point format; scales are those of its last axis."""
    if isinstance(kind, Number):
        return number.quantize(x, kind, mode, out=out, **options)
    full, shape = _rows(x)
    if isinstance(kind, (Scaling, Preset)):
        made = scaled.quantize(full, kind, mode, **options).reshape(shape)
    elif kind.startswith('hifloat4'):
        made = _hifloat4(full, kind, mode, options).reshape(shape)
    else:
        made = transform.s2fp8_encode(full, kind, mode, **options).decode(options.get('threads', 1)).reshape(shape)
    if out is None:
        return made
    float32_result(out, shape)[...] = made
    return out
