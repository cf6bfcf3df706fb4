# SPDX-License-Identifier: MIT
"""A short way through quantize and encode for what most calls are: a float or a contiguous float32 or float64 array of
the host, a floating-point format, no options. Texts are parsed once. Anything else, and every error, is left to the
general way, which this one's tests compare it with."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _abi as abi
from . import _structs as s
from ._targets import target_of
from .conversion import names_preset
from .format import Format
from .mode import Mode, mode_of

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_EXEC = s.hu_exec(1, 0, s.hu_stream(0, 0))
_EXEC_REF = ctypes.byref(_EXEC)  # calls read it only


class _Plan(NamedTuple):
    format: s.hu_format
    mode: s.hu_mode
    codes: np.dtype
    quantize32: Any
    quantize64: Any
    encode32: Any
    encode64: Any


@functools.lru_cache(maxsize=4096)
def _plan(format: Any, mode: Any) -> Optional[_Plan]:
    """What a call with these arguments needs, or None where the general way must look at them."""
    if isinstance(format, str) and names_preset(format):
        return None
    try:
        goal, way = target_of(format), mode_of('rne' if mode is None else mode)
    except abi.HalfulpError:
        return None
    if not isinstance(goal, Format) or way.stochastic:
        return None
    library = abi.main()
    return _Plan(goal._c, way._c, goal.dtype, library.hu_quantize_n, library.hu_quantize64_n, library.hu_encode_n,
                 library.hu_encode64_n)


def _planned(format: Any, mode: Any) -> Optional[_Plan]:
    if (type(format) is str or type(format) is Format) and (mode is None or type(mode) is str or type(mode) is Mode):
        return _plan(format, mode)
    return None


def quantize(x: Any, format: Any, mode: Any) -> Any:
    """What halfulp.quantize returns, or None where the general way must be gone."""
    plan = _planned(format, mode)
    if plan is None:
        return None
    if type(x) is float:
        return _number(x, plan) if x == x else None
    if type(x) is not np.ndarray or not x.size:
        return None
    kind, flags = x.dtype, x.flags
    call = plan.quantize32 if kind is _F32 else plan.quantize64 if kind is _F64 else None
    if call is None or not (flags.c_contiguous and flags.aligned):
        return None
    z = np.empty_like(x)
    return z if call(x.size, z.ctypes.data, 1, x.ctypes.data, 1, plan.format, plan.mode, _EXEC_REF, None) == 0 else None


def _number(x: float, plan: _Plan) -> Any:
    z = ctypes.c_double()
    status = plan.quantize64(1, ctypes.byref(z), 1, ctypes.byref(ctypes.c_double(x)), 1, plan.format, plan.mode,
                             _EXEC_REF, None)
    return np.float64(z.value) if status == 0 else None


def encode(x: Any, format: Any, mode: Any) -> Optional[np.ndarray]:
    """What halfulp.encode returns, or None where the general way must be gone."""
    plan = _planned(format, mode)
    if plan is None or type(x) is not np.ndarray or not x.size:
        return None
    kind, flags = x.dtype, x.flags
    call = plan.encode32 if kind is _F32 else plan.encode64 if kind is _F64 else None
    if call is None or not (flags.c_contiguous and flags.aligned):
        return None
    z = np.empty(x.shape, plan.codes)
    return z if call(x.size, z.ctypes.data, 1, x.ctypes.data, 1, plan.format, plan.mode, _EXEC_REF, None) == 0 else None
