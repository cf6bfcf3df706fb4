# SPDX-License-Identifier: MIT
"""Which multiply-adds of a converted model torch computes, in float32.

Without an input the weights decide: a matrix of a module makes as many multiply-adds as it has elements for one row (a
linear layer), one window (a convolution), one step (a recurrent layer). Which of its own parameters a module of an
unknown type multiplies by, and how often, only a pass shows: `of_a_pass` counts all products of one.
"""
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Set

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList

from ._tensors import one_pass
from .layers import Layer
from .precision import precision

# They look up, or scale by numbers of their own; none is a factor of a product.
WITHOUT = (nn.Embedding, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.PReLU, nn.modules.batchnorm._NormBase, Layer,
            ParametrizationList)


_PRODUCTS = (nn.Linear, nn.modules.conv._ConvNd, nn.Bilinear)


def multiplies(module: nn.Module) -> bool:
    """Whether a module is of a type that multiplies, wherever its factors are: of pruned ones they are no parameters."""
    return isinstance(module, _PRODUCTS + (nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention))


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
    """A module's type."""
    return type(module).__name__


def matrices(module: nn.Module) -> Iterator[Tensor]:
    """The parameters of a module itself that can be a factor of a product: a matrix, or one of several axes. (In a
    module of an unknown type two of them must be longer than 1: others scale channels.)"""
    owned = [p for p in module._parameters.values() if p is not None]
    for parametrized in getattr(module, 'parametrizations', {}).values():
        owned.append(max(parametrized._parameters.values(), key=torch.numel))  # norms beside it are smaller
    for p in owned:
        axes = p.dim() if not nn.parameter.is_lazy(p) else 2
        if axes == 2 or axes > 2 and (isinstance(module, _PRODUCTS) or sum(side > 1 for side in p.shape) > 1):
            yield p


def read_alone(model: nn.Module) -> Set[int]:
    """Modules that their owner reads and that are never called: the projections of torch.nn.MultiheadAttention."""
    return {id(module.out_proj) for module in model.modules() if isinstance(module, nn.MultiheadAttention)}


def of_weights(model: nn.Module, chosen: Callable[[str, nn.Module], bool]) -> Coverage:
    """What follows from the weights; `chosen`: the modules that stay as they are because somebody says so."""
    low, left = 0, []
    inner = read_alone(model)
    for name, module in model.named_modules():
        if id(module) in inner and isinstance(model.get_submodule(name.rpartition('.')[0]), Layer):
            low += module.weight.numel()
            continue
        if isinstance(module, Layer):
            low += sum(p.numel() for p in matrices(module)) or getattr(getattr(module, 'weight', None), 'numel', int)()
        if isinstance(module, WITHOUT):
            continue
        owned = list(matrices(module))
        if owned and not chosen(name, module):
            work = sum(0 if nn.parameter.is_lazy(p) else p.numel() for p in owned)
            left.append(Left(name, what(module), work))
    return Coverage(low, left, False)


def of_a_pass(model: nn.Module, sample: Any, chosen: Callable[[str, nn.Module], bool]) -> Coverage:
    """What one pass multiplies, module by module. A module that the model calls and does not have as one of its own counts
    for the one that calls it."""
    with precision(None, model=model) as seen:
        one_pass(model, sample, gradients=True)  # without them torch takes shorter ways
    report = seen.report()
    work: Dict[str, int] = {}
    strangers: Dict[str, List[str]] = {}
    for row in report.left:
        if row['why'] != 'integers':
            owner, inner, kind = row['module'].partition('(')
            work[owner] = work.get(owner, 0) + row['multiply_adds']
            if inner and row['type'] not in strangers.setdefault(owner, []):
                strangers[owner].append(row['type'])
    modules, left = dict(model.named_modules()), []
    for place, n in work.items():
        if not chosen(place, modules[place]):
            said = what(modules[place])
            if place in strangers:
                said += ', which calls {} that {} no module of the model'.format(
                    ', '.join(strangers[place]), 'is' if len(strangers[place]) == 1 else 'are')
            left.append(Left(place, said, n))
    return Coverage(report.work('halfulp'), left, True)
