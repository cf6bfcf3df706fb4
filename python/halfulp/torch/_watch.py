# SPDX-License-Identifier: MIT
"""Whether something of torch looks at the operators that run: then a call must be one of torch's operators. Otherwise it
may go straight to its kernel, without torch's dispatcher, which takes most of a small call's time."""
import functools
from typing import Any, Optional, Sequence

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import Parameter


def _free() -> Optional[str]:
    """The key of torch's dispatcher that products/below.py takes: below autograd, for a C++ kind of fake tensors that no
    version of torch up to 2.15 has. None: it is taken, or this version cannot say."""
    c = torch._C
    needed = ('_parse_dispatch_key', '_dispatch_has_backend_fallback', '_IncludeDispatchKeyGuard',
              '_dispatch_keyset_full_after', '_meta_in_tls_dispatch_include', '_dispatch_tls_is_dispatch_key_included')
    if not all(hasattr(c, name) for name in needed) or not hasattr(torch.library.Library, 'fallback'):
        return None
    key = c._parse_dispatch_key('Fake')
    return None if key is None or c._dispatch_has_backend_fallback(key) else 'Fake'


FREE = _free()


def _included() -> Any:
    """Whether this thread is inside of what products/below.py enters."""
    if FREE is None:
        return lambda: False
    return functools.partial(torch._C._dispatch_tls_is_dispatch_key_included, torch._C._parse_dispatch_key(FREE))


def _watchers() -> Optional[tuple]:
    """What shows that somebody watches; None where this version of torch lacks one of them."""
    c = torch._C
    try:
        return (c._len_torch_dispatch_stack, _included(), c._len_torch_function_stack, c._are_functorch_transforms_active,
                c._get_tracing_state, c._autograd._profiler_enabled, c._dispatch_keys,
                c._dispatch_keys(torch.empty(0, device='cpu')))
    except AttributeError:
        return None


_WATCHERS = _watchers()


def watched(tensors: Sequence[Any]) -> bool:
    """Whether a call with these tensors (or None in their places) is for torch to make: a mode, a compiler, a transform,
    forward mode, a tracer or a profiler is there, or a tensor is another than an ordinary one of the CPU (a subclass, a
    sparse one, one of inference mode, a view that negates)."""
    if _WATCHERS is None or torch.compiler.is_compiling():
        return True
    dispatch, inside, function, functorch, tracing, profiler, keys, ordinary = _WATCHERS
    if (dispatch() or inside() or function() or functorch() or tracing() is not None or profiler()
            or forward_ad._current_level >= 0):
        return True
    for x in tensors:
        if x is None:
            continue
        if type(x) is Parameter:  # three attributes take a third of the time of the keys, which say more
            if not x.is_cpu or x.layout is not torch.strided or x.is_neg():
                return True
        elif type(x) is not Tensor or keys(x) != ordinary:
            return True
    return False


_some_autocast = getattr(torch._C, '_is_any_autocast_enabled', lambda: torch.is_autocast_enabled('cpu'))


def autocast() -> bool:
    """Whether torch.autocast may be on for the CPU."""
    return _some_autocast()
