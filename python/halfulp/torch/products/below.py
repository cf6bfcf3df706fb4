# SPDX-License-Identifier: MIT
"""Kernels that see the operators that multiply, and no others, in threads that have entered.

torch's dispatcher has keys, which decide what kernel of an operator runs. One of them, below autograd, is of no use to this
version of torch (`FREE` in _watch.py). Operators that multiply get a kernel for it here; the others fall through it, which
costs nothing, where a mode of the dispatcher would be called for each. A thread that has entered includes the key, and so
does a backward pass that it starts.
"""
import functools
import threading
from typing import Any, Callable, Dict, List, Set

import torch
from torch.overrides import _get_current_function_mode_stack as modes_of_functions

from .. import _watch


class Kernels:
    """What enters. reader: is asked once about each operator, by its package and name; None says that it does not multiply,
    anything else goes to `around`."""

    def __init__(self, reader: Callable[[str, str], Any]) -> None:
        self.reader, self.keys = reader, []

    def around(self, read: Any, operator: Any, run: Any, keys: Any, *args: Any, **kwargs: Any) -> Any:
        """The result of an operator that multiplies, which run(keys, *args, **kwargs) computes."""
        raise NotImplementedError

    def __enter__(self) -> None:
        _KNOWN.learn(self.reader)
        self.keys.append(torch._C._IncludeDispatchKeyGuard(_KNOWN.key))
        self.keys[-1].__enter__()
        _HERE.entered.append(self)

    def __exit__(self, *error: Any) -> None:
        _HERE.entered.remove(self)
        self.keys.pop().__exit__(*error)

    def meet(self, function: Any) -> None:
        """A program calls this operator by itself; it may be a new one."""
        if isinstance(function, torch._ops.OpOverloadPacket):
            names = {function._qualified_op_name + ('' if one == 'default' else '.' + one) for one in function.overloads()}
        else:
            names = {function._name}
        if not names <= _KNOWN.names:
            _KNOWN.ask(self.reader)


class _Thread(threading.local):
    def __init__(self) -> None:
        self.entered: List[Kernels] = []
        self.busy = False  # an operator runs that was seen; what it calls is a part of it


class _Known:
    """Which operators were asked about, and the kernels."""

    def __init__(self) -> None:
        self.names: Set[str] = set()
        self.packages: Set[str] = set()
        self.libraries: List[Any] = []  # a kernel is there as long as its library
        self.lock = threading.Lock()
        self.key = self.below = None

    def learn(self, reader: Callable[[str, str], Any]) -> None:
        """Looks for new operators where there are new packages of them (a look takes milliseconds)."""
        if self.packages != set(torch.ops.__dict__):
            self.ask(reader)

    def ask(self, reader: Callable[[str, str], Any]) -> None:
        with self.lock:
            if self.key is None:
                self._begin()
            made: Dict[str, Any] = {}
            for full in torch._C._dispatch_get_all_op_names():
                if full not in self.names:
                    self._add(full, reader, made)
            self.libraries.extend(made.values())
            self.packages = set(torch.ops.__dict__)

    def _begin(self) -> None:
        library = torch.library.Library('_', 'IMPL')
        library.fallback(torch.library.fallthrough_kernel, _watch.FREE)
        self.libraries.append(library)
        self.key = torch._C._parse_dispatch_key(_watch.FREE)
        self.below = torch._C._dispatch_keyset_full_after(self.key)

    def _add(self, full: str, reader: Callable[[str, str], Any], made: Dict[str, Any]) -> None:
        package, _, rest = full.partition('::')
        name, _, overload = rest.partition('.')
        read = reader(package, name)
        if read is not None:
            operator = getattr(getattr(getattr(torch.ops, package), name, None), overload or 'default', None)
            if operator is None:  # it has kernels, and is not defined yet
                return
            if package not in made:
                made[package] = torch.library.Library(package, 'IMPL')
            made[package].impl(rest, _kernel(read, operator, self.below), _watch.FREE, with_keyset=True)
        self.names.add(full)


_HERE, _KNOWN = _Thread(), _Known()


def _entered() -> List[Kernels]:
    """The contexts that are entered, the innermost last; in another thread of the backward pass, those of its start."""
    if _HERE.entered or torch._C._current_graph_task_id() == -1:
        return _HERE.entered
    return [mode.guard for mode in modes_of_functions() if isinstance(getattr(mode, 'guard', None), Kernels)]


def _kernel(read: Any, operator: Any, below: Any) -> Callable[..., Any]:
    redispatch, unseen = operator.redispatch, torch._C.DisableTorchFunction
    of_shapes, compiles = torch._C._meta_in_tls_dispatch_include, torch._guards.CompileContext.try_get

    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        here, keys = _HERE, keys & below
        if here.busy or of_shapes() or compiles() is not None:  # (a compiler asks for shapes, and tries things out)
            return redispatch(keys, *args, **kwargs)
        here.busy = True
        try:
            with unseen():  # no mode of functions is called where a shape is looked at
                run = redispatch
                for one in _entered():
                    run = functools.partial(one.around, read, operator, run)
                return run(keys, *args, **kwargs)
        finally:
            here.busy = False
    return kernel


__all__ = ['Kernels']
