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


def _of_product(a: Any, b: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    """Of matrices, batches of them, and vectors."""
    rows = 1
    for side in a[:-1]:
        rows *= side
    return 2 * rows * a[-1] * (b[-1] if len(b) > 1 else 1)


def _of_sum_and_product(c: Any, a: Any, b: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return _of_product(a, b)


def _of_outer(c: Any, a: Any, b: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return 2 * a[0] * b[0]


def _of_conv_tbc(x: Any, w: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return 2 * out_shape[0] * out_shape[1] * w[0] * w[1] * w[2]


def _of_convolution(x: Any, w: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    groups, windows, outputs = out_shape[0]
    return 2 * groups * windows * outputs * w[1]


def _of_rnn(x: Any, w0: Any, w1: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return 2 * x[0] * x[1] * (w0[0] * w0[1] + w1[0] * w1[1])


def _of_trilinear(x: Any, w: Any, y: Any, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return 2 * x[0] * w[1] * w[2] * w[3]


def _of_attention(q: Any, k: Any, v: Any, width: int, *rest: Any, out_shape: Any = None, **more: Any) -> int:
    return 2 * q[0] * (4 * q[1] * width * width + 2 * q[1] * k[1] * width)


def _countings() -> Dict[Any, Callable]:
    """The operators that multiply and add and that torch's own counter does not know."""
    ops, aten = torch.ops.halfulp, torch.ops.aten
    known = {ops.matmul: _of_product, ops.convolution: _of_convolution, aten.mkldnn_rnn_layer: _of_rnn,
             aten._trilinear: _of_trilinear, aten._native_multi_head_attention: _of_attention, aten.addr: _of_outer,
             aten.conv_tbc: _of_conv_tbc}
    known.update((one, _of_product) for one in (aten.mv, aten.dot, aten.vdot, aten.hspmm))
    known.update((one, _of_sum_and_product) for one in (aten.addmv, aten.addbmm, aten._addmm_activation,
                                                        aten._sparse_addmm))
    return known


class _Whole(nn.Module):
    """A model as the one module of another: torch's counter names places after the class of the outermost module, which
    may be the name of another place."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.model(*args, **kwargs)


class _Owners:
    """What multiplies during a pass: what torch's counter has added between two calls is of the innermost module of the
    model that has not returned. A module that the model calls and does not have as one of its own counts for the one
    that calls it."""

    def __init__(self, model: nn.Module, counts: Callable[[], Dict[Any, int]]) -> None:
        self._names = {id(module): name for name, module in model.named_modules()}
        self._counts, self._seen = counts, (0, 0)
        self._running: List[nn.Module] = []
        self.low = 0
        self.high: Dict[str, int] = {}
        self.strangers: Dict[str, List[str]] = {}  # types of such modules

    def settle(self) -> None:
        """Gives what has been counted since the last time to the module that runs now."""
        counts = self._counts()
        low = sum(n for operator, n in counts.items() if str(operator).startswith('halfulp'))
        now = low, sum(counts.values()) - low
        work, self._seen, self.low = now[1] - self._seen[1], now, low
        if work:
            owner = next((self._names[id(one)] for one in reversed(self._running) if id(one) in self._names), '')
            self.high[owner] = self.high.get(owner, 0) + work
            inner = self._running[-1] if self._running else None
            if inner is not None and not isinstance(inner, _Whole) and id(inner) not in self._names:
                types = self.strangers.setdefault(owner, [])
                types += [type(inner).__name__] if type(inner).__name__ not in types else []

    def before(self, module: nn.Module, args: Any) -> None:
        self.settle()
        self._running.append(module)

    def after(self, module: nn.Module, args: Any, result: Any) -> None:
        self.settle()
        if self._running and self._running[-1] is module:
            self._running.pop()


def of_a_pass(model: nn.Module, sample: Any, chosen: Callable[[str, nn.Module], bool]) -> Coverage:
    """What one pass multiplies, module by module."""
    from torch.utils.flop_counter import FlopCounterMode
    counter = FlopCounterMode(display=False, custom_mapping=_countings())
    owners = _Owners(model, lambda: counter.flop_counts[_Whole.__name__])
    hooks = [nn.modules.module.register_module_forward_pre_hook(owners.before),
             nn.modules.module.register_module_forward_hook(owners.after, always_call=True)]
    try:
        with counter:
            one_pass(_Whole(model), sample, gradients=True)  # without them torch takes shorter ways
    finally:
        for hook in hooks:
            hook.remove()
    modules, left = dict(model.named_modules()), []
    for place, work in owners.high.items():
        if not chosen(place, modules[place]):
            said = what(modules[place])
            if place in owners.strangers:
                said += ', which calls {} that {} no module of the model'.format(
                    ', '.join(owners.strangers[place]), 'is' if len(owners.strangers[place]) == 1 else 'are')
            left.append(Left(place, said, work // 2))
    return Coverage(owners.low // 2, left, True)
