# SPDX-License-Identifier: MIT
"""How operators become torch.ops.halfulp.*: a schema, a kernel for all devices, a fake kernel, formulas for autograd.

Through torch.library.Library, on which torch.library.custom_op stands: the first call of a custom_op imports
torch._dynamo, which takes two seconds, for programs that compile nothing too.

Autograd has two directions. Backward, an operator has the formula that `formula` gives it, or raises when a gradient
reaches it. Forward (dual numbers: torch.func.jvp, jacfwd, torch.autograd.forward_ad), it has the rule that `tangents`
gives it, or raises as soon as an argument has a tangent: torch itself would drop the tangent.
"""
from typing import Any, Callable, Dict, Optional, Sequence

import torch
from torch import Tensor
from torch._library.autograd import Info, make_autograd_impl
from torch.autograd import forward_ad

Operator = torch._ops.OpOverload
# From the primal arguments, the tangent of each (None: it has none) and the results: the tangents of the results.
Rule = Callable[[Sequence[Any], Sequence[Optional[Tensor]], Any], Sequence[Optional[Tensor]]]
_library = torch.library.Library('halfulp', 'DEF')
_rules: Dict[str, Rule] = {}
# The strides of results follow those of the arguments, so a compiler must pass arguments with the strides it has seen.
_LAYOUT = getattr(torch.Tag, 'needs_exact_strides', torch.Tag.needs_fixed_stride_order)


def operator(schema: str, gradient: bool = False) -> Callable[[Callable], Operator]:
    """Decorates the kernel of an operator; with `gradient`, `formula` comes later, else there is none."""
    name = schema.partition('(')[0]

    def register(kernel: Callable) -> Operator:
        _library.define(schema, tags=(torch.Tag.pt2_compliant_tag, _LAYOUT))
        _library.impl(name, kernel, 'CompositeExplicitAutograd')
        made = getattr(torch.ops.halfulp, name).default
        if '!' in schema:  # it writes to an argument: autograd does not look at it, and a tangent of it stays
            _library.impl(name, torch.library.fallthrough_kernel, 'Autograd')
        elif not gradient:
            formula(made, _no_formula(name))
        return made
    return register


def fake(made: Operator) -> Callable[[Callable], None]:
    """Decorates the fake kernel of an operator: what its results are like, without computing them."""
    def register(kernel: Callable) -> None:
        torch.library.register_fake(made._name, kernel, lib=_library)
    return register


def formula(made: Operator, backward: Callable, setup: Optional[Callable] = None, of_operands: bool = False) -> None:
    """The gradient of an operator. of_operands: it depends on the operator's arguments, so that it has a tangent where
    they have some, which is a second derivative and an error; else it is a linear map of the result's gradient."""
    plain = make_autograd_impl(made, Info(_first_alone(made, backward) if of_operands else backward, setup))

    def kernel(keyset, *arguments, **named):
        if forward_ad._current_level >= 0 and not named and any(map(_has_tangent, arguments)):
            return _dual(made, arguments)
        if torch._C._are_functorch_transforms_active() and _wants_gradient(arguments):
            raise NotImplementedError('{}: torch.func differentiates it forward alone (jvp, jacfwd); backward '
                                      'torch.autograd.grad and jacobian do'.format(made._name))
        return plain(keyset, *arguments, **named)
    _library.impl(made._schema.name.partition('::')[2], kernel, 'Autograd', with_keyset=True)


def tangents(made: Operator) -> Callable[[Rule], Rule]:
    """Decorates the forward-mode rule of an operator."""
    def register(rule: Rule) -> Rule:
        _rules[made._name] = rule
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
