# SPDX-License-Identifier: MIT
"""Which multiply-adds of a converted model torch computes, in float32.

Without an input the weights tell: a matrix of a module makes as many multiply-adds as it has elements for one row (a
linear layer), one window (a convolution), one step (a recurrent layer). Which of its own parameters a module of an
unknown type multiplies by, and how often, only a pass tells: `of_a_pass` counts all products of one.
"""
from typing import Any, Callable, Dict, Iterator, List, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList

from ._tensors import one_pass
from .layers import Layer

# They look up, or scale by numbers of their own; none is a factor of a product.
_WITHOUT = (nn.Embedding, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.PReLU, nn.modules.batchnorm._NormBase, Layer,
            ParametrizationList)


_PRODUCTS = (nn.Linear, nn.modules.conv._ConvNd, nn.Bilinear)


class Left(NamedTuple):
    """A module whose products stay in float32: its name and type, and their multiply-adds."""

    name: str
    what: str
    work: int


class Coverage(NamedTuple):
    """What a model computes under recipes, and what not."""

    low: int
    left: List[Left]
    measured: bool

    @property
    def share(self) -> float:
        """Of the multiply-adds that stay in float32."""
        work = sum(one.work for one in self.left)
        return work / (work + self.low) if work else 0.0

    def told(self) -> str:
        """The modules and their share."""
        names = ['{!r} ({})'.format(one.name, one.what) for one in sorted(self.left, key=lambda one: -one.work)]
        more = ' and {} more'.format(len(names) - _SHOWN) if len(names) > _SHOWN else ''
        counted = 'of the pass' if self.measured else 'of a row, a window or a step'
        least = 'at least ' if any(one.work == 0 for one in self.left) else ''  # weights whose size is still open
        return '{}{} of the multiply-adds {} stay in float32: {}{}'.format(least, _percent(self.share), counted,
            ', '.join(names[:_SHOWN]), more)


_SHOWN = 12


def _percent(share: float) -> str:
    return '{:.1f} %'.format(100 * share) if not 0 < share < 0.001 else 'under 0.1 %'


def what(module: nn.Module) -> str:
    """A module's type, and what keeps one of a type that is converted from being so."""
    name = type(module).__name__
    padding, mode = getattr(module, 'padding', None), getattr(module, 'padding_mode', 'zeros')
    if type(module) is nn.Conv2d and (isinstance(padding, str) or mode != 'zeros'):
        return '{}, padding {!r}'.format(name, padding if mode == 'zeros' else mode)
    if type(module) in (nn.Linear, nn.Conv2d) and 'weight' not in module._parameters:
        return name + ', weight computed'  # by pruning, or by the older weight_norm
    return name


def _matrices(module: nn.Module) -> Iterator[Tensor]:
    """The parameters of a module itself that can be a factor of a product: a matrix, or one of several axes. (In a
    module of an unknown type two of them must be longer than 1: others scale channels.)"""
    owned = [p for p in module._parameters.values() if p is not None]
    for parametrized in getattr(module, 'parametrizations', {}).values():
        owned.append(max(parametrized._parameters.values(), key=torch.numel))  # norms beside it are smaller
    for p in owned:
        axes = p.dim() if not nn.parameter.is_lazy(p) else 2
        if axes == 2 or axes > 2 and (isinstance(module, _PRODUCTS) or sum(side > 1 for side in p.shape) > 1):
            yield p


def of_weights(model: nn.Module, chosen: Callable[[str, nn.Module], bool]) -> Coverage:
    """What the weights tell; `chosen`: the modules that stay as they are because somebody says so."""
    low, left = 0, []
    for name, module in model.named_modules():
        if isinstance(module, Layer) and isinstance(getattr(module, 'weight', None), Tensor):
            low += module.weight.numel()
        if isinstance(module, _WITHOUT):
            continue
        owned = list(_matrices(module))
        if owned and not chosen(name, module):
            work = sum(0 if nn.parameter.is_lazy(p) else p.numel() for p in owned)
            left.append(Left(name, what(module), work))
    return Coverage(low, left, False)


def _of_matmul(a: Any, b: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    rows = 1
    for side in a[:-1]:
        rows *= side
    return 2 * rows * a[-1] * b[-1]


def _of_convolution(x: Any, w: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    groups, windows, outputs = out_shape[0]
    return 2 * groups * windows * outputs * w[1]


def _of_rnn(x: Any, w0: Any, w1: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return 2 * x[0] * x[1] * (w0[0] * w0[1] + w1[0] * w1[1])


def _of_trilinear(x: Any, w: Any, y: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return 2 * x[0] * w[1] * w[2] * w[3]


def _of_attention(q: Any, k: Any, v: Any, width: int, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return 2 * q[0] * (4 * q[1] * width * width + 2 * q[1] * k[1] * width)


def of_a_pass(model: nn.Module, sample: Any, chosen: Callable[[str, nn.Module], bool]) -> Coverage:
    """What one pass multiplies, module by module."""
    from torch.utils.flop_counter import FlopCounterMode
    ops, aten = torch.ops.halfulp, torch.ops.aten
    counter = FlopCounterMode(display=False, custom_mapping={
        ops.matmul: _of_matmul, ops.convolution: _of_convolution, aten.mkldnn_rnn_layer: _of_rnn,
        aten._trilinear: _of_trilinear, aten._native_multi_head_attention: _of_attention})
    with counter:
        one_pass(model, sample, gradients=True)  # without them torch takes shorter ways
    counts = counter.get_flop_counts()
    counts.pop('Global', None)
    root = type(model).__name__
    low: Dict[str, int] = {}
    high: Dict[str, int] = {}
    for name, by_operator in counts.items():
        place = name[len(root) + 1:] if name == root or name.startswith(root + '.') else name
        low[place] = sum(n for f, n in by_operator.items() if str(f).startswith('halfulp'))
        high[place] = sum(by_operator.values()) - low[place]
    modules, left = dict(model.named_modules(remove_duplicate=False)), []
    for place, work in _own(high).items():
        if work and not chosen(place, modules[place]):
            left.append(Left(place, what(modules[place]), work // 2))
    return Coverage(low.get('', 0) // 2, left, True)


def _own(totals: Dict[str, int]) -> Dict[str, int]:
    """The products that each module makes itself, from those that it and the modules inside it make."""
    made = {}
    for place, total in totals.items():
        inside = [one for one in totals if one != place and (place == '' or one.startswith(place + '.'))]
        nearest = [one for one in inside if not any(one.startswith(other + '.') for other in inside)]
        made[place] = total - sum(totals[one] for one in nearest)
    return made
