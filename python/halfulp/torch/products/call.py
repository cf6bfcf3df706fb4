# SPDX-License-Identifier: MIT
"""A call of one of torch's functions under a recipe: what its products are made by."""
from typing import Any, Callable, List, Optional, Tuple

import torch
from torch import Tensor

from ... import _abi as abi
from .. import _convolution, _records, ops
from ..recipe import Attention, Recipe

_TYPES = (torch.float32, torch.float16, torch.bfloat16)


class Stays(Exception):
    """A call about which no recipe says anything; the reason."""


def autocast(*tensors: Optional[Tensor]) -> List[Optional[Tensor]]:
    """Tensors as torch's own products take them under torch.autocast: in its type, except for float64."""
    first = next(x for x in tensors if x is not None)
    kind = first.device.type
    if not torch.is_autocast_enabled(kind):
        return list(tensors)
    dtype = torch.get_autocast_dtype(kind)
    return [x if x is None or not x.is_floating_point() or x.dtype == torch.float64 else x.to(dtype) for x in tensors]


def expanded(a: Tensor, b: Tensor) -> Tuple[Tensor, Tensor]:
    """Operands of at least two axes, batches of one shape: as the operator of products takes them."""
    if b.dim() > 2:
        batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
    return a, b


class Low:
    """One call. take: gives the stream of one of its products. note: is given the events of each."""

    def __init__(self, recipe: Recipe, take: Callable[[], Optional[Tensor]], attention: Optional[Attention] = None,
                 tap: Optional[Tensor] = None, count: bool = False,
                 note: Optional[Callable[[Tensor], None]] = None) -> None:
        self.recipe, self.take, self.attention = recipe, take, attention
        self.tap, self.count, self.note = tap, count, note

    def under(self, recipe: Any) -> 'Low':
        """The same call under another recipe."""
        return type(self)(Recipe.of(recipe), self.take, self.attention, self.tap, self.count, self.note)

    def _operands(self, *tensors: Tensor) -> List[Tensor]:
        """Factors as they go into a product."""
        return autocast(*tensors)

    def _words(self) -> Optional[Tensor]:
        return self.take() if self.recipe.stochastic else None

    def _made(self, z: Tensor, events: Tensor) -> Tensor:
        if self.note is not None:
            self.note(events)
        return z

    def product(self, a: Tensor, b: Tensor) -> Tensor:
        """A B: matrices, or batches of them that broadcast."""
        a, b = self._operands(*expanded(a, b))
        return self._made(*self.recipe.multiply(a, b, self._words(), self.tap, self.count))

    def linear(self, x: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
        """X W^T + b, as halfulp.torch.Linear computes it."""
        if not isinstance(x, Tensor):
            raise abi.HalfulpTypeError('linear: a tensor is required, not {}'.format(type(x).__name__))
        if not (self.count or self.recipe.stochastic or self.recipe.has_steps):
            y = ops.linear(x, weight, bias, self.recipe.texts(), self.recipe.gradient)
            if y is not None:
                return y
        y = self.product(x if x.dim() == 2 else x.unsqueeze(0).flatten(0, -2), weight.t())
        y = y if bias is None else ops.add_row(y, autocast(bias)[0])
        return y if x.dim() == 2 else y.reshape(x.shape[:-1] + (weight.shape[0],))

    def convolution(self, x: Tensor, weight: Tensor, bias: Optional[Tensor], stride: List[int], padding: List[int],
                    dilation: List[int], groups: int) -> Tensor:
        """As halfulp.torch.Conv2d computes it, of one to three axes. x: samples, channels, axes."""
        x, weight = self._operands(x, weight)
        out, channels, *kernel = weight.shape
        windows = _convolution.sizes(x.shape, kernel, stride, padding, dilation)
        w = weight.movedim(1, -1).reshape(groups, out // groups, -1).transpose(1, 2)
        geometry = (list(kernel), stride, padding, dilation, groups)
        common = (self._words(), self.tap, *self.recipe.texts(), self.recipe.gradient)
        if self.recipe.convolution == 'tensors':
            z, events = ops.convolution(x, w, *common, *geometry, self.count)
        else:
            z, events = ops.matmul(ops.patches(x, *geometry), w, *common, ops.FORWARD, self.count)
        z = self._made(z, events).permute(1, 0, 2).flatten(1)
        z = z if bias is None else ops.add_row(z, autocast(bias)[0])
        return z.reshape(x.shape[0], *windows, out).movedim(-1, 1).contiguous()

    def transposed(self, x: Tensor, weight: Tensor, bias: Optional[Tensor], stride: List[int], padding: List[int],
                   dilation: List[int], groups: int, sides: List[int]) -> Tensor:
        """A transposed convolution with an image of these sides. weight: inputs, outputs of a group, kernel."""
        x, weight = self._operands(x, weight)
        inputs, outputs, *kernel = weight.shape
        rows = x.movedim(1, -1).reshape(-1, groups, inputs // groups).transpose(0, 1).contiguous()
        w = weight.reshape(groups, inputs // groups, outputs, -1).permute(0, 3, 2, 1).flatten(1, 2)
        shape = [x.shape[0], outputs * groups, *sides]
        geometry = (list(kernel), stride, padding, dilation, groups)
        common = (self._words(), self.tap, *self.recipe.texts(), self.recipe.gradient)
        if self.recipe.convolution == 'tensors':
            z, events = ops.transposed(rows, w, *common, shape, *geometry, self.count)
        else:
            gifts, events = ops.matmul(rows, w.transpose(1, 2), *common, ops.FORWARD, self.count)
            z = ops.unpatch(gifts, shape, *geometry)
        z = self._made(z, events)
        if bias is None:
            return z
        rows = ops.add_row(z.movedim(1, -1).reshape(-1, shape[1]), autocast(bias)[0])
        return rows.reshape(shape[0], *sides, shape[1]).movedim(-1, 1).contiguous()

    def rounded(self, x: Tensor, text: str) -> Tensor:
        """A tensor of no product, rounded."""
        if text == 'keep':
            return x
        words = self.take() if _records.rounding(text).stochastic else None
        z, events = ops.quantize(x, words, None, text, 'keep', -1, 'straight_through', 0, -1, self.count)
        if self.count:
            no = torch.zeros_like(events)
            self._made(z, torch.stack([no, no, events]))
        return z


class Asked(Low):
    """A call of a program that knows nothing of recipes: what no recipe says anything about stays torch's."""

    def _operands(self, *tensors: Tensor) -> List[Tensor]:
        """Factors as they go into a product, or the reason why this one is torch's."""
        for x in tensors:
            if x.layout is not torch.strided or x.is_nested:
                raise Stays('{} tensors'.format('nested' if x.is_nested else str(x.layout).rpartition('.')[2]))
        made = super()._operands(*tensors)
        kinds = {x.dtype for x in made}
        if len(kinds) > 1:
            raise Stays('operands of several types')
        kind, = kinds
        if not (kind.is_floating_point or kind.is_complex):
            raise Stays('integers')
        if kind not in _TYPES and not (kind == torch.float64 and self._takes_doubles()):
            raise Stays('{} tensors'.format(str(kind).rpartition('.')[2]))
        return made

    def _takes_doubles(self) -> bool:
        """Whether the recipe is one of float64 tensors, which are multiplied as they are."""
        parts = [text.split('|') for text in self.recipe.texts()]
        return all(part[0] == part[1] == part[3] == 'keep' and part[2] in ('exact', 'fp64') for part in parts)


__all__ = ['Asked', 'Low', 'Stays', 'autocast', 'expanded']
