# SPDX-License-Identifier: MIT
"""Layers whose products are computed under a recipe."""
from typing import Any, Optional

import torch
from torch import Tensor, nn

from .. import _abi as abi
from . import _records, ops
from ._records import text_of
from ._stateful import Key, Stateful
from .products import Low, Stays, images
from .recipe import Recipe, RecipeLike


class Layer(Stateful):
    """A module with a recipe. Parts that are counted: roundings of x and w and of the result forward; backward those of
    dX = g w (x of a two-operand product) and of dW = x g."""

    PARTS = ('x', 'w', 'out')
    BACKWARD_PARTS = ('dx.g', 'dx.w', 'dx', 'dw.x', 'dw.g', 'dw')

    place = ''

    def _follow(self, recipe: Optional[RecipeLike], key: Key, count: bool, place: str = '') -> None:
        if place:
            self.place = place
        self.recipe = Recipe.of(recipe)
        self._begin(key, count, self.recipe.stochastic)

    def low(self) -> Low:
        """How this layer computes."""
        return Low(self.recipe, self.take, None, self.tapped(), self.count, self.note)

    def named(self, error: abi.HalfulpError) -> abi.HalfulpError:
        """The error of a product, with the layer's name in the model that `convert` has made."""
        made = type(error)('{}: {}'.format(repr(self.place) if self.place else type(self).__name__, error))
        made.status = error.status
        return made


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
        try:
            return self.low().linear(x, self.weight, self.bias)
        except abi.HalfulpError as error:
            raise self.named(error) from None

    def extra_repr(self) -> str:
        return '{}, recipe={}'.format(nn.Linear.extra_repr(self), self.recipe)


class Conv2d(Layer, nn.Conv2d):
    """torch.nn.Conv2d under a recipe (halfulp.torch.conv2d). An image is padded before it is rounded.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        As torch.nn.Conv2d.
    recipe, key, count
        As `Linear`.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size, stride=1, padding=0, dilation=1,
                 groups: int = 1, bias: bool = True, padding_mode: str = 'zeros', device=None, dtype=None, *,
                 recipe: Optional[RecipeLike] = None, key: Key = None, count: bool = False) -> None:
        nn.Conv2d.__init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
                           padding_mode, device=device, dtype=dtype)
        self._follow(recipe, key, count)

    def forward(self, x: Tensor) -> Tensor:
        try:
            return self._of(self.low(), x)
        except abi.HalfulpError as error:
            raise self.named(error) from None
        except Stays as reason:
            raise self.named(abi.HalfulpValueError('conv2d: {}'.format(reason))) from None

    def _of(self, low: Low, x: Tensor) -> Tensor:
        if self.padding_mode == 'zeros':
            return images.convolution(low, x, self.weight, self.bias, self.stride, self.padding, self.dilation,
                                      self.groups)
        framed = nn.functional.pad(x, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return images.convolution(low, framed, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)

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
        self._follow(rounding, key, count)

    def _follow(self, rounding: Any, key: Key, count: bool) -> None:
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
        try:
            return self.low().product(a, b)
        except abi.HalfulpError as error:
            raise self.named(error) from None

    def extra_repr(self) -> str:
        return 'recipe={}'.format(self.recipe)
