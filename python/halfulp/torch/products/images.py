# SPDX-License-Identifier: MIT
"""Convolutions of one to three axes, and transposed ones."""
from typing import Any, Callable, List, Optional, Sequence, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from .call import Low, Stays
from .table import of_aten, rule

Sides = Union[int, Sequence[int]]


def each(sides: Sides, axes: int) -> List[int]:
    """A number for each axis, from one for all of them."""
    many = [sides] if isinstance(sides, int) else list(sides)
    return many * axes if len(many) == 1 else many


def framed(x: Tensor, padding: Any, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Any:
    """The image and the padding in numbers, from padding in numbers or words. 'same' may need a column more behind than
    before; then the image is padded here."""
    if not isinstance(padding, str):
        return x, each(padding, len(kernel))
    if padding == 'valid':
        return x, [0] * len(kernel)
    if padding != 'same' or any(s != 1 for s in stride):
        raise Stays('padding={!r}'.format(padding))  # torch says what is wrong
    whole = [d * (k - 1) for k, d in zip(kernel, dilation)]
    if not any(n % 2 for n in whole):
        return x, [n // 2 for n in whole]
    return F.pad(x, [side for n in reversed(whole) for side in (n // 2, n - n // 2)]), [0] * len(kernel)


def _batched(low: Low, input: Tensor, axes: int, call: Callable[[Tensor], Tensor]) -> Tensor:
    """A call on samples; an image alone is one."""
    if input.dim() == axes + 1:
        return call(input.unsqueeze(0)).squeeze(0)
    if input.dim() != axes + 2:
        raise Stays('an image of shape {}'.format(tuple(input.shape)))
    return call(input)


def convolution(low: Low, input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Sides = 1,
                padding: Any = 0, dilation: Sides = 1, groups: int = 1) -> Tensor:
    axes = weight.dim() - 2
    stride, dilation = each(stride, axes), each(dilation, axes)

    def call(x: Tensor) -> Tensor:
        image, sides = framed(x, padding, list(weight.shape[2:]), stride, dilation)
        if image.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
            raise Stays('shapes {} and {} with {} groups do not go together'.format(tuple(x.shape), tuple(weight.shape),
                                                                                   groups))
        return low.convolution(image, weight, bias, stride, sides, dilation, groups)
    return _batched(low, input, axes, call)


def transposed(low: Low, input: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride: Sides = 1,
               padding: Sides = 0, output_padding: Sides = 0, groups: int = 1, dilation: Sides = 1) -> Tensor:
    axes = weight.dim() - 2
    stride, padding, dilation = each(stride, axes), each(padding, axes), each(dilation, axes)
    more = each(output_padding, axes)
    if any(n >= max(s, d) for n, s, d in zip(more, stride, dilation)):
        raise Stays('output_padding={}'.format(more))  # torch says what is wrong

    def call(x: Tensor) -> Tensor:
        if x.shape[1] != weight.shape[0]:
            raise Stays('shapes that do not go together')
        kernel = list(weight.shape[2:])
        sides = [(n - 1) * s - 2 * p + d * (k - 1) + m + 1
                 for n, s, p, d, k, m in zip(x.shape[2:], stride, padding, dilation, kernel, more)]
        return low.transposed(x, weight, bias, stride, padding, dilation, groups, sides)
    return _batched(low, input, axes, call)


rule(F.conv1d, F.conv2d, F.conv3d, *(of_aten('conv{}d'.format(n)) for n in (1, 2, 3)),
     *(getattr(getattr(torch.ops.aten, 'conv{}d'.format(n)), 'padding', None) for n in (1, 2, 3)))(convolution)
rule(F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d, torch.ops.aten.conv_transpose1d.default,
     torch.ops.aten.conv_transpose2d.input, torch.ops.aten.conv_transpose3d.input)(transposed)


@rule(torch.convolution, of_aten('convolution'))
def of_either(low: Low, input: Tensor, weight: Tensor, bias: Optional[Tensor], stride: Sides, padding: Sides,
              dilation: Sides, transposed_: bool, output_padding: Sides, groups: int) -> Tensor:
    """The one operator below all of them."""
    if transposed_:
        return transposed(low, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolution(low, input, weight, bias, stride, padding, dilation, groups)


@rule(torch.conv_tbc, of_aten('conv_tbc'))
def conv_tbc(low: Low, input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Time, batch, channels; weight: kernel, inputs, outputs."""
    z = convolution(low, input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return z.permute(2, 0, 1)
