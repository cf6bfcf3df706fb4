# SPDX-License-Identifier: MIT
"""Recipes whose operands go through steps that no rounding's text has; of torch.nn.Linear and products of matrices alone."""
from dataclasses import fields
from typing import Any, Optional, Tuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ... import _abi as abi
from ... import _structs as structs
from .. import _calls, ops
from ..recipe import Recipe

_MODELS = ('accum', 'accum_dx', 'accum_dw')
PRODUCTS = (ops.FORWARD, ops.GRAD_A, ops.GRAD_B)  # of Y, dX and dW
SIGNS = 9  # the child of a product's stream that signs of transforms are taken from (docs/training/training.md section 4)


class _Steps(torch.autograd.Function):
    """The three products of one call. A: rows x inputs, B: inputs x outputs."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, stream: Optional[Tensor], recipe: 'Own') -> Tensor:
        ctx.recipe = recipe
        ctx.save_for_backward(a, b, stream)
        return recipe.forward(a.float(), b.float(), stream).to(a.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tuple[Optional[Tensor], ...]:
        a, b, stream = ctx.saved_tensors
        of_a, of_b = ctx.needs_input_grad[:2]
        da, db = ctx.recipe.backward(g.float(), a.float(), b.float(), stream, of_a, of_b)
        return da if da is None else da.to(a.dtype), db if db is None else db.to(b.dtype), None, None


class Own(Recipe):
    """What such recipes share. SHOWN: how x, w and g are rounded, in a few words."""

    SHOWN = ('', '', '')

    def _own(self, stochastic: bool) -> None:
        """Ends the making of a recipe: fields that its steps do not obey are refused."""
        object.__setattr__(self, '_stochastic', stochastic)
        for field in fields(Recipe):
            if field.name not in _MODELS and getattr(self, field.name) != field.default:
                raise abi.HalfulpValueError('{}: {}= is given, and the steps of this recipe decide it'.format(
                    type(self).__name__, field.name))

    @property
    def has_steps(self) -> bool:
        return True

    def texts(self) -> Tuple[str, str, str]:
        raise abi.HalfulpValueError('{}: its steps are defined for products of float32, float16 or bfloat16 matrices alone, '
                                    'not for convolutions'.format(type(self).__name__))

    def multiply(self, a: Tensor, b: Tensor, stream: Optional[Tensor], tap: Optional[Tensor],
                 count: bool) -> Tuple[Tensor, Tensor]:
        if torch.compiler.is_compiling():
            raise abi.HalfulpValueError('{}: torch.compile takes no recipe whose steps are its own'.format(type(self).__name__))
        if count or tap is not None:
            raise abi.HalfulpValueError('{}: count=True, and this recipe counts no events'.format(type(self).__name__))
        if b.dim() != 2 or a.dtype == torch.float64:
            self.texts()
        rows = a.reshape(-1, a.shape[-1])
        return _Steps.apply(rows, b, stream, self).reshape(*a.shape[:-1], b.shape[-1]), a.new_empty(0, dtype=torch.int64)

    def product(self, which: int, a: Tensor, b: Tensor, x: str = 'keep', w: str = 'keep') -> Tensor:
        """A B of float32 matrices under the model of Y (0), dX (1) or dW (2)."""
        model = (None, self.accum_dx, self.accum_dw)[which] or self.accum
        text = '|'.join((x, w, model, 'keep'))
        return ops.matmul(a, b, None, None, text, '', '', 'straight_through', PRODUCTS[which], False)[0]

    def forward(self, a: Tensor, b: Tensor, stream: Optional[Tensor]) -> Tensor:
        raise NotImplementedError

    def backward(self, g: Tensor, a: Tensor, b: Tensor, stream: Optional[Tensor], of_a: bool,
                 of_b: bool) -> Tuple[Optional[Tensor], Optional[Tensor]]:
        raise NotImplementedError


def signs_of(stream: Optional[Tensor], count: int) -> Tuple[int, ...]:
    """The first words of the child of a product's stream that signs are taken from."""
    words = ops.words(stream, SIGNS)
    return tuple(_calls.main.hu_stream_word(structs.hu_stream(words.key, words.counter), i) for i in range(count))


__all__ = ['Own', 'PRODUCTS', 'signs_of']
