# SPDX-License-Identifier: MIT
"""A shortcut of `quantize` for a small float32 tensor on the CPU that nothing watches: no autograd, no compiler,
no tracing, no mode of torch. It writes the bits that the operator writes, without torch's dispatcher, whose road through
autograd takes most of a small call's time."""
import ctypes
import functools
from typing import Any, Optional

import torch

from .. import _abi as abi
from .. import _structs as structs
from . import _records
from ._calls import _ALONE, main

_EXEC = structs.hu_exec(1, 0, structs.hu_stream(0, 0))
_EXEC_REF = ctypes.byref(_EXEC)  # calls read it only


def _watchers() -> Optional[tuple]:
    """What shows that somebody watches; None where this version of torch lacks one of them."""
    c = torch._C
    try:
        return (c._len_torch_dispatch_stack, c._len_torch_function_stack, c._functorch.peek_interpreter_stack,
                c._get_tracing_state, c._autograd._profiler_enabled, torch._is_functional_tensor)
    except AttributeError:
        return None


_WATCHERS = _watchers()


def _watched(x: torch.Tensor) -> bool:
    if _WATCHERS is None:
        return True
    dispatch, function, functorch, tracing, profiler, functional = _WATCHERS
    return bool(dispatch() or function() or functorch() is not None or tracing() is not None or profiler()
                or functional(x) or torch.autograd.forward_ad._current_level >= 0)


@functools.lru_cache(maxsize=1024)
def _plan(text: str) -> Any:
    """The call for a rounding that this shortcut knows, else None."""
    try:
        r = _records.rounding(text)
    except abi.HalfulpError:
        return None
    if r.preset is not None or r.special or r.stochastic or not r.fits32:
        return None
    if r.kind == _records.SCALED and not r.record.turned:
        return _of_blocks(r.scaling(False), r.mode)
    if r.kind == _records.FORMAT:
        return _of_each(main.hu_quantize_n, r.record.format, r.mode)
    return _of_each(main.hu_number_quantize_n, r.record.number, r.mode) if r.kind == _records.NUMBER else None


def _of_each(call: Any, record: Any, mode: Any) -> Any:
    return lambda x, z: call(x.numel(), z.data_ptr(), 1, x.data_ptr(), 1, record, mode, _EXEC_REF, None)


def _of_blocks(scaling: Any, mode: Any) -> Any:
    place = ctypes.addressof(scaling)

    def call(x: torch.Tensor, z: torch.Tensor, keep: Any = scaling) -> int:
        cols = x.shape[-1] if x.ndim else 1
        return main.hu_scaled_quantize(x.numel() // cols, cols, z.data_ptr(), cols, x.data_ptr(), cols, place, mode, None,
                                       None, _EXEC_REF, None)
    return call


def quantize(x: Any, text: str, dim: int) -> Optional[torch.Tensor]:
    """x rounded, or None where the operator must do it."""
    if torch.compiler.is_compiling() or type(x) is not torch.Tensor or _watched(x):
        return None
    if (x.dtype is not torch.float32 or x.layout is not torch.strided or not x.is_cpu or not 0 < x.numel() < _ALONE
            or (x.requires_grad and torch.is_grad_enabled()) or x.is_neg() or not x.is_contiguous()):
        return None
    plan = _plan(text)
    if plan is None or dim != -1:
        return None
    z = torch.empty_like(x)
    return z if plan(x, z) == structs.OK else None
