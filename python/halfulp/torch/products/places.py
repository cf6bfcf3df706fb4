# SPDX-License-Identifier: MIT
"""Which module runs: its name in the model, by hooks on all modules that are there as long as somebody asks."""
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch import nn
from torch.nn.modules import module as hooks

def inside(model: nn.Module) -> nn.Module:
    """The model without what torch puts around it: torch.compile, torch.export, DistributedDataParallel and the like, whose
    classes do not come from torch.nn.modules or its parametrizations and have one module inside."""
    while True:
        home, inner = type(model).__module__, list(model.children())
        if len(inner) != 1 or not home.startswith('torch.') or home.startswith(('torch.nn.modules', 'torch.nn.utils')):
            return model
        model = inner[0]


class Names:
    """Of modules: those of `model`, or of the outermost module that is called; and what `choose` says of each. A module
    that the model calls and does not have as one of its own (one in a list of Python) has the name of the one that calls
    it, and its type."""

    def __init__(self, choose: Callable[[str, Optional[nn.Module]], Any], model: Optional[nn.Module] = None) -> None:
        self.choose = choose
        self.of: Dict[int, str] = {}  # by the module's id, for torch.compile follows no modules in a list
        self.kinds: Dict[int, str] = {}
        self.chosen: Dict[int, Any] = {}
        self.kept: List[nn.Module] = []  # so that no other module gets the id of one that has a name
        if model is not None:
            self.learn(model)

    def learn(self, model: nn.Module) -> None:
        self.kept.append(model)
        for name, module in [('', model), *inside(model).named_modules()]:
            if id(module) not in self.of:
                self._add(module, name)

    def _add(self, module: nn.Module, name: str) -> None:
        self.of[id(module)], self.kinds[id(module)] = name, type(module).__name__
        self.chosen[id(module)] = self.choose(name, module)

    def stranger(self, module: nn.Module, caller: int) -> None:
        self.kept.append(module)
        name, kind = self.of[caller], type(module).__name__
        self._add(module, name if kind == 'GraphModule' else '{}({})'.format(name, kind))


class Places:
    """The modules that run in the thread that enters, by their ids, the innermost last."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.running: List[int] = []
        self.handles: Tuple[Any, ...] = ()
        self.thread = 0
        self.without = names.choose('', None)  # where no module runs

    def enter(self) -> None:
        """The hooks get the numbers that they had the last time, which graphs of torch.compile ask for."""
        self.thread = threading.get_ident()
        if not self.handles:
            self.handles = (hooks.register_module_forward_pre_hook(self._before),
                            hooks.register_module_forward_hook(self._after))
        for handle, hook in zip(self.handles, (self._before, self._after)):
            handle.hooks_dict_ref()[handle.id] = hook

    def leave(self) -> None:
        for handle in self.handles:
            handle.remove()
        del self.running[:]

    def _before(self, module: nn.Module, args: Any) -> None:
        if not torch.compiler.is_compiling() and threading.get_ident() != self.thread:
            return
        me = id(module)
        if me not in self.names.of:
            if self.running:
                self.names.stranger(module, self.running[-1])
            else:
                self.names.learn(module)
        self.running.append(me)

    def _after(self, module: nn.Module, args: Any, result: Any) -> None:
        if not torch.compiler.is_compiling() and threading.get_ident() != self.thread:
            return
        me = id(module)
        while self.running and self.running.pop() != me:  # those that have failed
            pass

    @property
    def chosen(self) -> Any:
        """What `choose` says of the module that runs."""
        return self.names.chosen[self.running[-1]] if self.running else self.without

    @property
    def name(self) -> str:
        return self.names.of[self.running[-1]] if self.running else ''

    @property
    def kind(self) -> str:
        return self.names.kinds[self.running[-1]] if self.running else ''
