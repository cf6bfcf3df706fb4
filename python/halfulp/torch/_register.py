# SPDX-License-Identifier: MIT
"""How operators become torch.ops.halfulp.*: a schema, a kernel for all devices, a fake kernel, formulas for autograd.

Through torch.library.Library, on which torch.library.custom_op stands: the first call of a custom_op imports
torch._dynamo, which takes two seconds, for programs that compile nothing too.

Autograd has two directions. Backward, an operator has the formula that `formula` gives it, or raises when a gradient
reaches it. Forward (dual numbers: torch.func.jvp, jacfwd, torch.autograd.forward_ad), it has the rule that `tangents`
gives it, or raises as soon as an argument has a tangent: torch itself would drop the tangent.

What `operator` returns is a function that reaches one kernel, and one formula, by two paths. Where nothing of torch looks at
operators (_watch.py) and all tensors are ordinary ones of the CPU, it calls the kernel itself; torch's dispatcher, which
turns texts into its own objects and back on every call, would take several times as long as a small tensor does.
Everywhere else it calls torch.ops.halfulp.*.
"""
import functools
from typing import Any, Callable, Dict, Optional, Sequence

import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import _watch

Operator = torch._ops.OpOverload
Call = Callable[..., Any]  # what `operator` makes; its attribute `operator` is the one that torch has
# From the primal arguments, the tangent of each (None: it has none) and the results: the tangents of the results.
Rule = Callable[[Sequence[Any], Sequence[Optional[Tensor]], Any], Sequence[Optional[Tensor]]]
_library = torch.library.Library('halfulp', 'DEF')
_rules: Dict[str, Rule] = {}
_nodes: Dict[str, type] = {}
# The strides of results follow those of the arguments, so a compiler must pass arguments with the strides it has seen.
_LAYOUT = getattr(torch.Tag, 'needs_exact_strides', torch.Tag.needs_fixed_stride_order)


def operator(schema: str, gradient: bool = False) -> Callable[[Callable], Call]:
    """Decorates the kernel of an operator; with `gradient`, `formula` comes later, else there is none."""
    name = schema.partition('(')[0]

    def register(kernel: Callable) -> Call:
        _library.define(schema, tags=(torch.Tag.pt2_compliant_tag, _LAYOUT))
        _library.impl(name, kernel, 'CompositeExplicitAutograd')
        made = getattr(torch.ops.halfulp, name).default
        if '!' in schema:  # it writes to an argument: autograd does not look at it, and a tangent of it stays
            _library.impl(name, torch.library.fallthrough_kernel, 'Autograd')
            call = functools.wraps(kernel)(lambda *arguments: made(*arguments))
        else:
            call = functools.wraps(kernel)(_direct(made, kernel))
        call.operator = made
        if '!' not in schema and not gradient:
            formula(call, _no_formula(name))
        return call
    return register


def _direct(made: Operator, kernel: Callable) -> Call:
    """The call of an operator from Python. Its tensors are its first arguments."""
    name, count = made._name, _tensors(made)

    def call(*arguments: Any) -> Any:
        tensors = arguments[:count]
        if _watch.watched(tensors):
            return made(*arguments)
        if torch.is_grad_enabled():
            for x in tensors:
                if x is not None and x.requires_grad:
                    return _nodes[name].apply(*tensors, arguments[count:], kernel)
        return kernel(*arguments)
    return call


def _tensors(made: Operator) -> int:
    """How many of its first arguments are tensors."""
    return sum('Tensor' in str(argument.type) for argument in made._schema.arguments)


def fake(made: Call) -> Callable[[Callable], None]:
    """Decorates the fake kernel of an operator: what its results are like, without computing them."""
    def register(kernel: Callable) -> None:
        torch.library.register_fake(made.operator._name, kernel, lib=_library)
    return register


def formula(call: Call, backward: Callable, setup: Optional[Callable] = None, of_operands: bool = False) -> None:
    """The gradient of an operator. of_operands: it depends on the operator's arguments, so that it has a tangent where
    they have some, which is a second derivative and an error; else it is a linear map of the result's gradient."""
    made, count = call.operator, _tensors(call.operator)
    node = _node(made, _first_alone(made, backward) if of_operands else backward, setup)
    _nodes[made._name] = node

    def kernel(keyset, *arguments, **named):
        if forward_ad._current_level >= 0 and not named and any(map(_has_tangent, arguments)):
            return _dual(made, arguments)
        wanted = _wants_gradient(arguments)
        if wanted and torch._C._are_functorch_transforms_active():
            raise NotImplementedError('{}: torch.func differentiates it forward alone (jvp, jacfwd); backward '
                                      'torch.autograd.grad and jacobian do'.format(made._name))
        below = keyset & torch._C._after_autograd_keyset

        def redispatched(*inputs):
            with torch._C._AutoDispatchBelowAutograd():
                return made.redispatch(below, *inputs, **named)
        return node.apply(*arguments[:count], arguments[count:], redispatched) if wanted else redispatched(*arguments)
    _library.impl(made._schema.name.partition('::')[2], kernel, 'Autograd', with_keyset=True)


def _node(made: Operator, backward: Callable, setup: Optional[Callable]) -> type:
    """The operator as autograd knows it: of its tensors, the rest of its arguments, and what computes it."""
    count = _tensors(made)

    def forward(ctx, *arguments):
        inputs = (*arguments[:-2], *arguments[-2])
        results = arguments[-1](*inputs)
        if setup is not None:
            setup(ctx, inputs, results)
        return results

    def back(ctx, *gradients):
        of_inputs = backward(ctx, *gradients)
        return (*of_inputs[:count], None, None) if isinstance(of_inputs, tuple) else (of_inputs, None, None)
    return type('halfulp_' + made._schema.name.partition('::')[2], (torch.autograd.Function,),
                {'forward': staticmethod(forward), 'backward': staticmethod(back)})


def tangents(made: Call) -> Callable[[Rule], Rule]:
    """Decorates the forward-mode rule of an operator."""
    def register(rule: Rule) -> Rule:
        _rules[made.operator._name] = rule
        return rule
    return register


def _wants_gradient(arguments: Sequence[Any]) -> bool:
    return torch.is_grad_enabled() and torch._C._any_requires_grad(*arguments)


def _has_tangent(thing: Any) -> bool:
    return (isinstance(thing, Tensor) and thing.is_floating_point()
            and forward_ad.unpack_dual(thing).tangent is not None)


def _dual(made: Operator, arguments: Sequence[Any]) -> Any:
    """The results of an operator with their tangents."""
    rule = _rules.get(made._name)
    if rule is None:
        raise NotImplementedError('{} has no derivative in forward mode'.format(made._name))
    pairs = [forward_ad.unpack_dual(x) if _has_tangent(x) else (x, None) for x in arguments]
    primals = [pair[0] for pair in pairs]
    results = made(*primals)
    several = isinstance(results, (tuple, list))
    node = (results[0] if several else results).grad_fn
    if node is not None:  # the context of the backward pass, which has the primals
        node.moved = True
    moved = rule(primals, [pair[1] for pair in pairs], results)
    duals = tuple(z if t is None else forward_ad.make_dual(z, t)
                  for z, t in zip(results if several else (results,), moved))
    return duals if several else duals[0]


def _first_alone(made: Operator, backward: Callable) -> Callable:
    def checked(ctx, *gradients):
        if getattr(ctx, 'moved', False) and forward_ad._current_level >= 0:
            raise NotImplementedError('{}: an operand has a tangent, and the tangent of a gradient of this product, a '
                                      'second derivative, has no formula; take the gradient without '
                                      'forward mode'.format(made._name))
        return backward(ctx, *gradients)
    return checked


def _no_formula(name: str) -> Callable:
    def backward(*_):
        raise NotImplementedError('halfulp::{} has no gradient'.format(name))
    return backward
