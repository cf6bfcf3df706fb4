# SPDX-License-Identifier: MIT
"""How operators become torch.ops.halfulp.*: a schema, a kernel for all devices, a fake kernel, a formula for autograd.

Through torch.library.Library, on which torch.library.custom_op stands: the first call of a custom_op imports
torch._dynamo, which takes two seconds, for programs that compile nothing too.
"""
from typing import Callable, Optional

import torch

Operator = torch._ops.OpOverload
_library = torch.library.Library('halfulp', 'DEF')
# The strides of results follow those of the arguments, so a compiler must pass arguments with the strides it has seen.
_LAYOUT = getattr(torch.Tag, 'needs_exact_strides', torch.Tag.needs_fixed_stride_order)


def operator(schema: str, gradient: bool = False) -> Callable[[Callable], Operator]:
    """Decorates the kernel of an operator; with `gradient`, `formula` comes later, else there is none."""
    name = schema.partition('(')[0]

    def register(kernel: Callable) -> Operator:
        _library.define(schema, tags=(torch.Tag.pt2_compliant_tag, _LAYOUT))
        _library.impl(name, kernel, 'CompositeExplicitAutograd')
        made = getattr(torch.ops.halfulp, name).default
        if '!' in schema:  # it writes to an argument: autograd does not look at it
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


def formula(made: Operator, backward: Callable, setup: Optional[Callable] = None) -> None:
    """The gradient of an operator."""
    torch.library.register_autograd(made._name, backward, setup_context=setup, lib=_library)


def _no_formula(name: str) -> Callable:
    def backward(*_):
        raise NotImplementedError('halfulp::{} has no gradient'.format(name))
    return backward
