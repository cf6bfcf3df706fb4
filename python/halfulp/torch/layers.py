# SPDX-License-Identifier: MIT
"""Layers whose products are computed under a recipe."""
from typing import Optional

import torch
from torch import Tensor, nn

from .. import _abi as abi
from . import _records, ops
from ._records import text_of
from ._stateful import Key, Stateful
from .functional import convolve
from .recipe import Recipe, RecipeLike


class Layer(Stateful):
    """A module with a recipe. Parts that are counted: roundings of x and w and of the result forward; backward those of
    dX = g w (x of a two-operand product) and of dW = x g."""

    PARTS = ('x', 'w', 'out')
    BACKWARD_PARTS = ('dx.g', 'dx.w', 'dx', 'dw.x', 'dw.g', 'dw')

    def _follow(self, recipe: Optional[RecipeLike], key: Key, count: bool) -> None:
        self.recipe = Recipe.of(recipe)
        self.products = self.recipe.texts()
        self._begin(key, count, self.recipe.stochastic)

    def product(self, a: Tensor, b: Tensor) -> Tensor:
        z, events = ops.matmul(a, b, self.take(), self.tapped(), *self.products, self.recipe.gradient, ops.FORWARD,
                               self.count)
        self.note(events)
        return z


class Linear(Layer, nn.Linear):
    """torch.nn.Linear under a recipe: Y = X W^T + b (halfulp.torch.linear).

    Parameters
    ----------
    in_features, out_features, bias, device, dtype
        As torch.nn.Linear; float32, float16 or bfloat16.
    recipe : Recipe, or a rounding of inputs and weights
        Plain float32 sums without it (fused multiply-adds in the order of the inputs).
    key : int or "torch", optional
        Of the layer's own stream of random words; without it torch.manual_seed decides. "torch": every forward call
        takes its words from torch's generator, which activation checkpointing requires.
    count : bool
        Count events: `events_of()`.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device=None, dtype=None, *,
                 recipe: Optional[RecipeLike] = None, key: Key = None, count: bool = False) -> None:
        nn.Linear.__init__(self, in_features, out_features, bias, device=device, dtype=dtype)
        self._follow(recipe, key, count)

    def forward(self, x: Tensor) -> Tensor:
        y = self.product(x.unsqueeze(0).flatten(0, -2), self.weight.t())
        y = y if self.bias is None else ops.add_row(y, self.bias)
        return y.reshape(x.shape[:-1] + (self.out_features,))

    def extra_repr(self) -> str:
        return '{}, recipe={}'.format(nn.Linear.extra_repr(self), self.recipe)


class Conv2d(Layer, nn.Conv2d):
    """torch.nn.Conv2d under a recipe (halfulp.torch.conv2d); zero padding, given in numbers.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, device, dtype
        As torch.nn.Conv2d.
    recipe, key, count
        As `Linear`.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size, stride=1, padding=0, dilation=1,
                 groups: int = 1, bias: bool = True, padding_mode: str = 'zeros', device=None, dtype=None, *,
                 recipe: Optional[RecipeLike] = None, key: Key = None, count: bool = False) -> None:
        if padding_mode != 'zeros' or isinstance(padding, str):
            raise abi.HalfulpValueError(
                'Conv2d: zeros are padded, by numbers; {!r}, {!r} are not taken'.format(padding_mode, padding))
        nn.Conv2d.__init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
                           device=device, dtype=dtype)
        self._follow(recipe, key, count)

    def forward(self, x: Tensor) -> Tensor:
        images = x if x.dim() == 4 else x.unsqueeze(0)
        z, events = convolve(images, self.weight, self.bias, list(self.stride), list(self.padding),
                             list(self.dilation), self.groups, self.recipe, self.take(), self.tapped(), self.count)
        self.note(events)
        return z if x.dim() == 4 else z.squeeze(0)

    def extra_repr(self) -> str:
        return '{}, recipe={}'.format(nn.Conv2d.extra_repr(self), self.recipe)


class Embedding(Stateful, nn.Embedding):
    """torch.nn.Embedding whose look-ups are rounded; the gradient of its table is not.

    Parameters
    ----------
    num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, device, dtype
        As torch.nn.Embedding.
    rounding : str, torch.dtype, halfulp.Format, ...
        Of the looked-up rows, as one tensor.
    key, count
        As `Linear`; the one part of events is "out".
    """

    PARTS = ('out',)

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: Optional[int] = None, max_norm=None,
                 norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, device=None,
                 dtype=None, *, rounding='keep', key: Key = None, count: bool = False) -> None:
        nn.Embedding.__init__(self, num_embeddings, embedding_dim, padding_idx, max_norm, norm_type,
                              scale_grad_by_freq, sparse, device=device, dtype=dtype)
        self.rounding = text_of(rounding)
        self._begin(key, count, _records.rounding(self.rounding).stochastic)

    def forward(self, tokens: Tensor) -> Tensor:
        z, events = ops.quantize(nn.Embedding.forward(self, tokens), self.take(), None, self.rounding, 'keep', -1,
                                 'straight_through', 0, -1, self.count)
        self.note(events)
        return z

    def extra_repr(self) -> str:
        return '{}, rounding={!r}'.format(nn.Embedding.extra_repr(self), self.rounding)


class MatMul(Layer):
    """A B of two tensors under a recipe (halfulp.torch.matmul): `x` and `dx` are of A, `w` and `dw` of B."""

    def __init__(self, recipe: Optional[RecipeLike] = None, *, key: Key = None, count: bool = False) -> None:
        super().__init__()
        self._follow(recipe, key, count)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        if b.dim() > 2:
            batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
            a, b = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
        return self.product(a, b)

    def extra_repr(self) -> str:
        return 'recipe={}'.format(self.recipe)
