# SPDX-License-Identifier: MIT
"""Which of torch's functions multiply, and the mode of torch that computes them under a recipe."""
import sys
import types
from typing import Any, Callable, Dict, Optional

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from .call import Low, Stays

Rule = Callable[..., Any]  # of a Low and the function's own arguments
TABLE: Dict[Any, Rule] = {}
BY_NAME: Dict[str, Rule] = {}  # operators that other packages register, by their full names


def rule(*functions: Any) -> Callable[[Rule], Rule]:
    """Decorates what computes these functions; None stands for one that this version of torch has not."""
    def register(made: Rule) -> Rule:
        for function in functions:
            if function is not None:
                TABLE[function] = made
        return made
    return register


def of_aten(name: str) -> Any:
    """An operator that programs call by its own name, torch.ops.aten.NAME.default; None where there is none."""
    return getattr(getattr(torch.ops.aten, name, None), 'default', None)


def found(function: Any) -> Optional[Rule]:
    """The rule of a function, if it has one."""
    made = TABLE.get(function)
    if made is None and BY_NAME and isinstance(function, torch._ops.OpOverload):
        made = BY_NAME.get(function._schema.name)
    return made


def body(function: types.FunctionType) -> types.FunctionType:
    """A function of torch that is written in Python and hands itself to a mode: the same without that, so that a mode sees
    the functions that it calls."""
    def nobody(*_: Any) -> bool:
        return False
    names = dict(function.__globals__, has_torch_function=nobody, has_torch_function_unary=nobody,
                 has_torch_function_variadic=nobody)
    made = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def delivered(z: Tensor, out: Optional[Tensor]) -> Tensor:
    """A result in the tensor that the caller gave for it."""
    if out is None:
        return z
    out.resize_(z.shape)
    return out.copy_(z)


def in_compiled_graph() -> bool:
    """Whether the function that calls a mode's method was called by a graph of torch.compile: its products under a recipe
    are operators of this package already, and others are there because the recipe leaves them to torch."""
    if '_dynamo' not in torch.__dict__ and 'torch._dynamo' not in sys.modules:
        return False
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename.endswith('torch/_ops.py'):
        frame = frame.f_back
    name = frame.f_code.co_filename
    if 'extern_kernels' in frame.f_globals or '/torch/_inductor/' in name:  # generated code, wherever its cache lies
        return True
    if not name.startswith('<eval_with_key>'):
        return False
    while frame is not None:  # graphs of torch.fx that a program calls itself have no such caller
        if frame.f_code.co_filename.endswith(('_dynamo/eval_frame.py', '_aot_autograd/runtime_wrappers.py')):
            return True
        frame = frame.f_back
    return False


class Lowering(TorchFunctionMode):
    """A mode under which functions of the table are computed by their rules. `low` says how a call is computed, None: by
    torch; `stays` is asked about one that no recipe says something about."""

    def low(self, function: Any) -> Optional[Low]:
        raise NotImplementedError

    def unseen(self) -> bool:
        """Whether what a call makes must be looked at by other means than in other calls: inside of `whole_view`."""
        return False

    def whole_view(self) -> Any:
        raise NotImplementedError

    def meet(self, operator: Any) -> None:
        """A program calls an operator, without a rule, by its name."""

    def run(self, function: Any, made: Rule, low: Low, args: Any, kwargs: Dict[str, Any]) -> Any:
        return made(low, *args, **kwargs)

    def stays(self, function: Any, reason: Optional[str], args: Any, kwargs: Dict[str, Any]) -> Any:
        """reason: None where the recipe leaves the call to torch."""
        return function(*args, **kwargs)

    def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = {} if kwargs is None else kwargs
        made = found(function)
        if made is None:
            if isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
                self.meet(function)
            return function(*args, **kwargs)
        if not torch.compiler.is_compiling():
            if in_compiled_graph():
                return self.stays(function, 'a compiled graph has it', args, kwargs)
            if self.unseen():
                with self.whole_view():
                    return self.computed(function, made, args, kwargs)
        return self.computed(function, made, args, kwargs)

    def computed(self, function: Any, made: Rule, args: Any, kwargs: Dict[str, Any]) -> Any:
        """A call of a function that has a rule."""
        if made is in_parts:
            with self:
                return BODIES[function](*args, **kwargs)
        low = self.low(function)
        if low is None:
            return self.stays(function, None, args, kwargs)
        try:
            return self.run(function, made, low, args, kwargs)
        except Stays as reason:
            why = str(reason)
        return self.stays(function, why, args, kwargs)


BODIES: Dict[Any, types.FunctionType] = {}


def in_parts(*_: Any) -> Any:
    """Stands for the rule of functions whose parts are looked up, one by one."""
    raise AssertionError


def by_parts(*functions: Optional[types.FunctionType]) -> None:
    """Functions of torch in Python that call others of the table."""
    for function in functions:
        if function is not None:
            TABLE[function], BODIES[function] = in_parts, body(function)


# A mode is off while torch runs a function that it was asked about. The backward pass calls functions, too: those of
# torch.autograd.Function, and what activation checkpointing computes again.
by_parts(torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad)

__all__ = ['BY_NAME', 'Lowering', 'body', 'by_parts', 'delivered', 'found', 'of_aten', 'rule']
