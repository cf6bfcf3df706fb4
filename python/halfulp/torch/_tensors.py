# SPDX-License-Identifier: MIT
"""The tensors of a module as it runs: what goes into and comes out of the modules inside, and their parameters.

Hooks on all modules show each of these tensors to a visitor, once per pass, and put in its place what the visitor
returns. A pass is one call of the whole model.

    value       a floating-point tensor that enters or leaves a module. A tensor that has the numbers of an earlier
                value (the same tensor, or a view of all of its elements) is that value. What functions compute between
                two modules is seen where a module reads it, and only modules read what the visitor makes of it.
    operator    what makes a value: a call of a module, or the functions in front of one. The model's first input is
                value 0, which no operator makes.
    parameters  of an operator are those that its module owns itself, of torch.nn.MultiheadAttention those of its
                projection as well. A module that is called twice has its parameters in its first operator. They are
                rounded where their module is called, once per pass.
"""
import functools
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_map

# Modules that use the parameters of modules inside without calling these.
WHOLE = (nn.MultiheadAttention,)
# Modules whose results are their inputs in another order.
SHUFFLES = (nn.ChannelShuffle,)
# Modules that compute matrix products or convolutions.
PRODUCTS = (nn.Linear, nn.Bilinear, nn.modules.conv._ConvNd, nn.MultiheadAttention, nn.RNNBase, nn.RNNCellBase)


def one_pass(model: nn.Module, sample: Any, gradients: bool = False) -> Any:
    """What a call of the model gives, which leaves buffers and torch's generators as they were. sample: its argument, a tuple of
    them, or a dict of those that have names."""
    buffers = [(b, b.detach().clone()) for b in model.buffers()]
    devices = sorted({p.device.index for p in model.parameters() if p.device.type == 'cuda'})
    try:
        with torch.set_grad_enabled(gradients), torch.random.fork_rng(devices):
            if isinstance(sample, Mapping):
                return model(**sample)
            return model(*sample) if isinstance(sample, (tuple, list)) else model(sample)
    finally:
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)


class Operator(NamedTuple):
    """What makes a value."""

    reads: Optional[str]  # the name of the value that it reads first, None: it reads none
    owner: Optional[str]  # the name of its module, where it is this module's first call
    module: Optional[nn.Module]  # None: functions


class Visitor:
    """What is done with each tensor of a pass."""

    by_reader = False  # True: `read` is called, and shuffles of channels make no value

    def begin(self) -> None:
        """A pass begins."""

    def value(self, name: str, x: Tensor, made_by: Optional[Operator]) -> Tensor:
        """What takes the place of a value; made_by is None for value 0."""
        raise NotImplementedError

    def read(self, name: str, x: Tensor) -> Tensor:
        """What one reader gets of a value: a module without modules inside, or the caller of the model."""
        return x

    def parameter(self, owner: str, name: str, p: Tensor) -> Tensor:
        """What takes the place of a parameter of the module named `owner`."""
        raise NotImplementedError

    def without_value(self, name: str, made_by: Operator) -> None:
        """A module that has parameters has returned, for the first time, without making a value."""

    def end(self) -> None:
        """The pass has ended, or failed."""


class _Known(NamedTuple):
    """A value that a pass has seen. The weak reference keeps its storage's number from being used again."""

    storage: StorageWeakRef
    version: int
    elements: int
    name: Optional[str]  # None: a parameter


class _Frame:
    """A call of a module that has not returned."""

    def __init__(self, owner: str, name: str, module: nn.Module) -> None:
        self.owner, self.name, self.module = owner, name, module
        self.reads: Optional[str] = None
        self.owns = False  # whether parameters were seen here for the first time
        self.changed = False  # whether the result has another tensor in a tensor's place
        self.replaced: List[Tuple[nn.Module, str]] = []


class _Pass:
    """One call of the model."""

    def __init__(self) -> None:
        self.frames: List[_Frame] = []
        self.calls: Dict[str, int] = {}
        self.known: Dict[int, _Known] = {}
        self.rounded: Dict[Any, Tuple[Tensor, str, Tensor]] = {}  # what a module has read and was no value: its value
        self.parameters: Dict[int, Tensor] = {}
        self.some = False  # a value has been seen


def _version(x: Tensor) -> int:
    return 0 if x.is_inference() else x._version


def _place(x: Tensor) -> Tuple:
    """What distinguishes one tensor from another as long as both live."""
    return (x.untyped_storage()._cdata, x.storage_offset(), tuple(x.shape), x.stride(), _version(x))


class Hooks:
    """The hooks on a model, as long as `remove` has not been called.

    One model has at most one of these. It sees calls of the whole model; calling a part alone is an error.
    """

    # What torch.compile calls instead of looking inside; made when first needed, for it imports torch._dynamo.
    eager: Tuple = ()

    def __init__(self, model: nn.Module, visitor: Visitor) -> None:
        if any(isinstance(getattr(getattr(hook, 'func', None), '__self__', None), Hooks)
               for hook in model._forward_pre_hooks.values()):
            raise RuntimeError('assign: the model has an assignment already; remove() ends it')
        self.model, self.visitor = model, visitor
        if not Hooks.eager:
            Hooks.eager = (torch.compiler.disable(Hooks._enter), torch.compiler.disable(Hooks._leave))
        self.now: Optional[_Pass] = None
        self.handles: List[Any] = []
        for name, module in model.named_modules():
            before = functools.partial(self._before, name or type(model).__name__)
            self.handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
            self.handles.append(module.register_forward_hook(self._after, always_call=True))

    def remove(self) -> None:
        """The model is as it was before."""
        for handle in self.handles:
            handle.remove()
        self.handles = []

    # ---- calls of modules ----

    def _before(self, name: str, module: nn.Module, args: Tuple, kwargs: Dict[str, Any]) -> Tuple[Tuple, Dict]:
        return Hooks.eager[0](self, name, module, args, kwargs)

    def _after(self, module: nn.Module, args: Tuple, result: Any) -> Any:
        return Hooks.eager[1](self, module, result)

    def _enter(self, name: str, module: nn.Module, args: Tuple, kwargs: Dict[str, Any]) -> Tuple[Tuple, Dict]:
        if self.now is None:
            if module is not self.model:
                raise RuntimeError('assign: module {!r} was called outside of a call of the model that has the '
                                   'assignment (torch.utils.checkpoint does that, too)'.format(name))
            self.now = _Pass()
            self.visitor.begin()
        frame = _Frame(name, self._numbered(name), module)
        self.now.frames.append(frame)
        args, kwargs = tree_map(lambda x: self._entering(x, frame), (args, kwargs))
        if not self.now.some:  # it reads names: they take the place of value 0
            self.visitor.value(self._numbered('input'), torch.empty(0), None)
            self.now.some = True
        self._replace(frame)
        return args, kwargs

    def _leave(self, module: nn.Module, result: Any) -> Any:
        """Is called after failures as well, with the result None."""
        if self.now is None or not self.now.frames or self.now.frames[-1].module is not module:
            return None
        frame = self.now.frames.pop()
        self._put_back(frame)
        try:
            made: List[Tensor] = []
            changed = tree_map(lambda x: self._leaving(x, frame, made), result)
            if self.visitor.by_reader and not self.now.frames:
                changed, frame.changed = tree_map(self._given, changed), True
            if frame.owns and not made:
                self.visitor.without_value(frame.name, self._operator(frame, True))
            return changed if frame.changed else None
        finally:
            if module is self.model and not self.now.frames:
                self.now = None
                self.visitor.end()

    def _operator(self, frame: _Frame, first: bool) -> Operator:
        return Operator(frame.reads, frame.owner if frame.owns and first else None, frame.module if first else None)

    # ---- values ----

    def _entering(self, x: Any, frame: _Frame) -> Any:
        """A tensor that a module reads."""
        if not _is_value(x):
            return x
        z, name = self._seen(x)
        if z is None:
            first = not self.now.some
            name = self._numbered('input' if first else frame.name + ':input')
            z = self.visitor.value(name, x, None if first else Operator(None, None, None))
            self._know(z, name)
            self.now.rounded[_place(x)] = (x, name, z)
        frame.reads = frame.reads or name
        return self._read(z, name) if self.visitor.by_reader and _is_reader(frame.module) else z

    def _given(self, x: Any) -> Any:
        """A tensor that the caller of the model gets."""
        return self._read(x, self._seen(x)[1]) if _is_value(x) else x

    def _read(self, z: Tensor, name: Optional[str]) -> Tensor:
        if name is None:  # a parameter
            return z
        made = self.visitor.read(name, z)
        self._know(made, name)
        return made

    def _leaving(self, x: Any, frame: _Frame, made: List[Tensor]) -> Any:
        """A tensor that a module returns."""
        if not _is_value(x):
            return x
        z, _ = self._seen(x)
        if z is None and self.visitor.by_reader and isinstance(frame.module, SHUFFLES) and frame.reads:
            self._know(x, frame.reads)  # what it shuffled
            return x
        if z is None:
            name = frame.name if not made else '{}[{}]'.format(frame.name, len(made))
            z = self.visitor.value(name, x, self._operator(frame, not made))
            self._know(z, name)
            made.append(z)
        frame.changed = frame.changed or z is not x
        return z

    def _seen(self, x: Tensor) -> Tuple[Optional[Tensor], Optional[str]]:
        """A value of this pass that x is, and its name; None where it is new."""
        known = self.now.known.get(x.untyped_storage()._cdata)
        if known is not None and known.version == _version(x) and known.elements == x.numel():
            return x, known.name
        if _place(x) in self.now.rounded:
            _, name, z = self.now.rounded[_place(x)]
            return z, name
        return None, None

    def _know(self, z: Tensor, name: Optional[str]) -> None:
        storage = z.untyped_storage()
        self.now.known[storage._cdata] = _Known(StorageWeakRef(storage), _version(z), z.numel(), name)
        self.now.some = True

    def _numbered(self, name: str) -> str:
        """The name, with a number behind it from the second time on."""
        count = self.now.calls.get(name, 0) + 1
        self.now.calls[name] = count
        return name if count == 1 else '{}#{}'.format(name, count)

    # ---- parameters ----

    def _replace(self, frame: _Frame) -> None:
        """Rounded parameters take the places of parameters as long as the module runs. An attribute of an object comes
        before what torch.nn.Module finds, and is no parameter; torch's cells look for it themselves."""
        parts = frame.module.modules() if isinstance(frame.module, WHOLE) else [frame.module]
        for part in parts:
            for name, p in part._parameters.items():
                if p is not None and p.is_floating_point():
                    part.__dict__[name] = self._rounded(name, p, frame)
                    frame.replaced.append((part, name))

    def _rounded(self, name: str, p: Tensor, frame: _Frame) -> Tensor:
        if id(p) not in self.now.parameters:
            z = self.visitor.parameter(frame.owner, name, p)
            self.now.parameters[id(p)] = z
            self._know(z, None)
            frame.owns = True
        return self.now.parameters[id(p)]

    def _put_back(self, frame: _Frame) -> None:
        for part, name in frame.replaced:
            part.__dict__.pop(name, None)


def _is_reader(module: nn.Module) -> bool:
    """Whether its gradients are its own, not those of modules inside, and are no tensor in another order."""
    return (isinstance(module, WHOLE) or next(module.children(), None) is None) and not isinstance(module, SHUFFLES)


def _is_value(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point() and x.numel() > 0


__all__ = ['PRODUCTS', 'WHOLE', 'Hooks', 'Operator', 'Visitor']
