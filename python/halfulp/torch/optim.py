# SPDX-License-Identifier: MIT
"""Optimizers whose weights and state are kept in narrow formats.

`SGD`, `AdamW`: every operator rounded (halfulp/train/optimizer.h; Zamirai et al.), moments stored in a scaled format
(Dettmers et al.; FP8-LM), float32 parameters on the CPU or on CUDA devices, where the bits are the same.
`Muon`: the momentum of a matrix made orthogonal, in any format and under any sums (Jordan et al.), on the CPU.
`Rounded`: any optimizer of torch, with roundings around its step.
"""
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.graph import increment_version

from .. import _abi as abi
from .. import _structs as structs
from . import _calls, _records, _rounding, _update, ops
from ._calls import STEP, Words
from ._records import text_of
from ._stateful import own_key
from ._streams import stream

UPDATES = ('round', 'kahan')
_ASPECTS = ('spectral', 'rms', 'one')
_ITERATIONS = 64
_TO_NEAREST = tuple(structs.ROUNDINGS.index(name) for name in ('rne', 'rna', 'rnz'))


def _loss_of(closure: Optional[Callable[[], Tensor]]) -> Optional[Tensor]:
    if closure is None:
        return None
    with torch.enable_grad():
        return closure()


def _number(argument: str, thing: Any) -> float:
    """A number of Python or NumPy, or a tensor of one."""
    if isinstance(thing, (int, float, np.number, Tensor)) and not isinstance(thing, (np.complexfloating,)):
        try:
            return float(thing)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            pass
    raise abi.HalfulpTypeError('{}: a number is required, not {!r}'.format(argument, thing))


def _with_own(optimizer: torch.optim.Optimizer, state: Dict[str, Any]) -> Dict[str, Any]:
    """What copies and pickles keep: torch's part and the class's own attributes."""
    return dict(state, **{name: getattr(optimizer, name) for name in optimizer._OWN})


def _nearest(text: str) -> _records.Rounding:
    """The rounding with its format and policies, but to nearest (even, where the mode says nothing of ties)."""
    record = structs.hu_rounding.from_buffer_copy(_records.rounding(text).record)
    if record.mode.round not in _TO_NEAREST:
        record.mode.round, record.mode.bits = _TO_NEAREST[0], 0
    return _records.Rounding(text, record)


def _dense(name: str, p: Tensor) -> None:
    """torch.nn.Embedding(sparse=True) makes others."""
    if p.grad.layout is not torch.strided:
        raise abi.HalfulpTypeError('{}: a gradient of a parameter of shape {} is {}; dense ones are required '
                                   '(sparse=False where it is made)'.format(name, tuple(p.shape), p.grad.layout))


def _saved_by(name: str, state: Dict[str, Any], *parts: str) -> None:
    """Whether a state has the parts that a class of this file saves."""
    if not isinstance(state, dict) or not all(part in state for part in parts):
        raise abi.HalfulpValueError('{0}: the state is one of another optimizer, halfulp.torch.{0} has not saved it; begin '
                                    'with moments of 0'.format(name))


class _State(NamedTuple):
    """The format of every operator, and the roundings in which moments are stored between steps."""
    operators: str
    m: str
    v: str

    @property
    def stochastic(self) -> bool:
        return any(_records.rounding(text).stochastic for text in (self.m, self.v))


def _is_format(text: str) -> bool:
    """Whether a text is a format alone, or nothing that is known, which is then refused as a format."""
    try:
        r = _records.rounding(text)
    except abi.HalfulpValueError:
        return True
    mode = r.mode
    return r.kind == _records.FORMAT and not (r.special or r.stochastic or mode.round or mode.saturate or r.preset)


def _state_of(state: Any, operators: Any) -> _State:
    """A format is that of operators and moments alike, as long as `operators` says nothing else."""
    if isinstance(state, (tuple, list)):
        m, v = (text_of(part) for part in abi.pair('state', state, '(first moment, second moment)'))
    else:
        m = v = text_of(state)
        if operators is None and _is_format(m):
            return _State(m, 'keep', 'keep')
    for text in (m, v):
        if _records.rounding(text).preset is not None and _records.rounding(text).kind == _records.FORMAT:
            raise abi.HalfulpValueError('state: {!r} is a conversion of another program, and no moment is stored by '
                                        'it'.format(text))
    return _State('binary32' if operators is None else text_of(operators), m, v)


class _Narrow(torch.optim.Optimizer):
    """A step of hu_optimizer for every parameter. Parameter number j draws from child j of the key, at counter t
    2^36 in its step t (from 0)."""

    KIND = ''
    _OWN = ('stored', 'weight_rounding', 'update', 'key', '_counts', '_waiting')

    def __init__(self, params, options: Dict[str, Any], state: _State, weight, update: str, key: Optional[int]) -> None:
        self.stored = state
        self.weight_rounding = text_of(weight if weight is not None else state.operators)
        abi.word('update', update, UPDATES)
        self.update = update
        self._counts, self._waiting = [0, 0], {}  # moved and lost; those that are still on their devices
        self.key = own_key(key, _records.rounding(self.weight_rounding).stochastic or state.stochastic)
        super().__init__(params, options)  # which adds the groups

    def add_param_group(self, group: Dict[str, Any]) -> None:
        """Parameters more, checked and rounded into the weights' format."""
        super().add_param_group(group)
        added = self.param_groups[-1]
        try:
            self._record(added)  # wrong numbers are refused here
            for p in added['params']:
                self._fits(p)
        except Exception:
            self.param_groups.pop()
            raise
        nearest = _nearest(self.weight_rounding)
        for p in added['params']:
            _rounding.into(p.data, p.data, nearest, -1, Words(0, 0), None)
            increment_version(p)

    def __getstate__(self) -> Dict[str, Any]:
        self._settled()
        return _with_own(self, super().__getstate__())

    def _settled(self) -> List[int]:
        """All counts so far. Where some are on a device, the CPU waits for it."""
        for counts in self._waiting.values():
            self._counts = [sum(pair) for pair in zip(self._counts, counts.tolist())]
        self._waiting = {}
        return self._counts

    @property
    def state_bits(self) -> int:
        """Bits that weights, moments and Kahan terms take as codes and scales (hu_optimizer_bits). The tensors of
        `state` hold the decoded values in float32 and take more."""
        bits = 0
        for group in self.param_groups:
            o = self._record(group, 'hu_optimizer_check_step')
            bits += sum(abi.train().hu_optimizer_bits(p.numel(), _calls.ref(o)) for p in group['params'])
        return bits

    moved = property(lambda self: self._settled()[0], doc='Weights with an update so far.')
    lost = property(lambda self: self._settled()[1], doc='Those of them that stayed as they were.')

    def _fits(self, p: Tensor) -> None:
        if p.dtype != torch.float32 or p.device.type not in ('cpu', 'cuda') or not p.is_contiguous():
            raise abi.HalfulpTypeError('{}: contiguous float32 parameters on the CPU or a CUDA device are required, not '
                                       '{} on {}'.format(type(self).__name__, p.dtype, p.device))

    def _like(self, p: Tensor, name: str, x: Any) -> None:
        """State that was loaded may be another parameter's."""
        if not isinstance(x, Tensor) or x.shape != p.shape:
            raise abi.HalfulpValueError('{}: the state {!r} of a parameter of shape {} is {}'.format(
                type(self).__name__, name, tuple(p.shape),
                'of shape {}'.format(tuple(x.shape)) if isinstance(x, Tensor) else 'missing'))
        if x.dtype != p.dtype or x.device != p.device or not x.is_contiguous():
            raise abi.HalfulpTypeError('{}: the state {!r} is {} on {}, not contiguous float32 on {}'.format(
                type(self).__name__, name, x.dtype, x.device, p.device))

    def _record(self, group: Dict[str, Any], check: str = 'hu_optimizer_check') -> structs.hu_optimizer:
        weight = _records.rounding(self.weight_rounding)
        if weight.kind != _records.FORMAT or weight.special or weight.preset is not None:
            raise abi.HalfulpValueError('weight: {!r} is not a format'.format(self.weight_rounding))
        o = getattr(abi.train(), 'hu_optimizer_' + self.KIND)(_records.format_of(self.stored.operators))
        o.weight, o.update = weight.record.format, UPDATES.index(self.update)
        o.mode = weight.mode
        o.stored_m, o.stored_v = (_records.rounding(text).record for text in (self.stored.m, self.stored.v))
        o.rate, o.decay = _number('lr', group['lr']), _number('weight_decay', group['weight_decay'])
        self._numbers(o, group)
        why = structs.c.c_char_p()
        status = getattr(abi.train(), check)(_calls.ref(o), structs.c.byref(why))
        abi.check(status, type(self).__name__, why.value.decode() if status and why.value else '')
        return o

    def _numbers(self, o: structs.hu_optimizer, group: Dict[str, Any]) -> None:
        raise NotImplementedError

    def _arrays(self, o: structs.hu_optimizer) -> Dict[str, bool]:
        raise NotImplementedError

    @torch.no_grad()
    def step(self, closure: Optional[Callable[[], Tensor]] = None) -> Optional[Tensor]:
        """One step of every parameter that has a gradient."""
        loss = _loss_of(closure)
        number = 0
        for group in self.param_groups:
            o = self._record(group, 'hu_optimizer_check_step')  # a schedule may end at a rate of 0
            for p in group['params']:
                if p.grad is not None:
                    self._one(p, o, number)
                number += 1
        return loss

    def _one(self, p: Tensor, o: structs.hu_optimizer, number: int) -> None:
        self._fits(p)
        _dense(type(self).__name__, p)
        state, g = self.state[p], p.grad.to(torch.float32).contiguous()
        wanted = dict(self._arrays(o), c=self.update == 'kahan')
        if not state:
            state.update({name: torch.zeros_like(p) for name, there in wanted.items() if there})
            state.update(t=0, power1=1.0, power2=1.0)
        for name, there in wanted.items():
            if there:
                self._like(p, name, state.get(name))
        now = structs.hu_optimizer_time(state['t'], state['power1'], state['power2'])
        words = Words(_records.child(self.key, number), state['t'] * STEP % (1 << 64))
        abi.train().hu_optimizer_tick(_calls.ref(now), _calls.ref(o))
        arrays = {name: state[name] for name, there in wanted.items() if there}
        engine = _calls.engine(p.device)
        if engine.steps:
            self._counts = [sum(pair) for pair in zip(self._counts, self._on_cpu(p, g, arrays, o, now, words))]
        else:
            counts = _update.step(engine, o, now, p.data, g, arrays, self.stored._asdict(), words)
            self._waiting[p.device] = self._waiting[p.device] + counts if p.device in self._waiting else counts
        increment_version(p)  # a graph that was made with the old values is out of date
        state.update(t=now.t, power1=now.power1, power2=now.power2)

    def _on_cpu(self, p: Tensor, g: Tensor, arrays: Dict[str, Tensor], o: structs.hu_optimizer,
                now: structs.hu_optimizer_time, words: Words) -> Tuple[int, int]:
        """The step of libhalfulp-train; weights moved and lost. (A tensor without elements may have no address.)"""
        if p.numel() == 0:
            return 0, 0
        places = (arrays[name].data_ptr() if name in arrays else None for name in ('m', 'v', 'c'))
        record, counts = structs.hu_optimizer_arrays(p.data_ptr(), g.data_ptr(), *places), structs.hu_update_counts()
        stream = structs.hu_stream(words.key, words.counter)
        matrix = structs.hu_optimizer_matrix(p.shape[0] if p.dim() else 1, p[0].numel() if p.dim() else 1, 1)
        abi.check(abi.train().hu_optimizer_step_matrix(_calls.ref(matrix), _calls.ref(record), _calls.ref(o),
                                                       _calls.ref(now), stream, _calls.ref(counts), None),
                  type(self).__name__)
        return counts.moved, counts.lost

    def state_dict(self) -> Dict[str, Any]:
        return dict(super().state_dict(), halfulp={'key': self.key})

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        _saved_by(type(self).__name__, state, 'halfulp')
        state = dict(state)
        key = state.pop('halfulp')['key']
        super().load_state_dict(state)
        self.key = key

    def __repr__(self) -> str:
        operators, m, v = self.stored
        kept = repr(operators) if m == v == 'keep' else '{!r}, operators {!r}'.format((m, v), operators)
        return '{} of state {}, weight {!r}, update {!r}'.format(super().__repr__(), kept, self.weight_rounding,
                                                                 self.update)


class SGD(_Narrow):
    """SGD with momentum in any format (halfulp/train/optimizer.h has the formulas).

    Parameters
    ----------
    params
        Parameters or groups of them; contiguous float32 on the CPU or on CUDA devices. They are rounded into `weight`,
        to nearest, at once.
    lr, momentum, weight_decay : float
    state : str
        A format: that of momenta and of every operator; "binary32": only the weights are rounded. Any other rounding
        ("mxfp8_e4m3", "bfloat16,sra:16"): operators are binary32, and the momentum is stored by it between steps: its
        n numbers as one row, decoded again when the next step reads them. The tensors of `optimizer.state` and what
        `state_dict` saves are the decoded values, in float32. Events of this storage are not counted.
    operators : str, optional
        Format of every operator; then `state` is a storage in any case.
    weight : str, optional
        Format and mode of the weights: "bfloat16,sra:16" is stochastic rounding of the update. Without it that of
        the operators.
    update : str
        "round", or "kahan": what a weight lost is added to its next update.
    key : int, optional
        Of random words; without it torch.manual_seed decides.

    Attributes
    ----------
    moved, lost : int
        Weights with an update so far, and those of them that stayed as they were. Reading them waits for a device.
    state_bits : int
        Bits that weights and state take as codes and scales.
    """

    KIND = 'sgd'

    def __init__(self, params, lr: float = 0.01, momentum: float = 0.9, weight_decay: float = 0.0, *, state: Any = 'binary32',
                 operators: Any = None, weight: Any = None, update: str = 'round', key: Optional[int] = None) -> None:
        if isinstance(state, (tuple, list)):
            raise abi.HalfulpTypeError('state: SGD has one moment, and {!r} are several'.format(state))
        stored = _state_of(state, operators)._replace(v='keep')
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay), stored, weight, update, key)

    def _numbers(self, o, group) -> None:
        o.momentum = _number('momentum', group['momentum'])

    def _arrays(self, o):
        return {'m': o.momentum != 0, 'v': False}


class AdamW(_Narrow):
    """AdamW in any format: as `SGD`. coupled: weight decay goes into the gradient (Adam with L2 regularisation).
    state: a pair, too: the storages of the first and of the second moment. "keep": binary32 or `operators`."""

    KIND = 'adamw'

    def __init__(self, params, lr: float = 1e-3, betas=(0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, *,
                 coupled: bool = False, state: Any = 'binary32', operators: Any = None, weight: Any = None,
                 update: str = 'round', key: Optional[int] = None) -> None:
        betas = abi.pair('betas', betas, '(beta1, beta2)')
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, coupled=coupled),
                         _state_of(state, operators), weight, update, key)

    def _numbers(self, o, group) -> None:
        o.beta1, o.beta2 = (_number('betas', beta) for beta in abi.pair('betas', group['betas'], '(beta1, beta2)'))
        o.eps, o.coupled = _number('eps', group['eps']), abi.flag('coupled', group['coupled'])

    def _arrays(self, o):
        return {'m': True, 'v': True}


class Muon(_Narrow):
    """Muon (Jordan et al.; halfulp/train/optimizer.h has the formulas): the momentum of a matrix, made orthogonal by
    Newton-Schulz iterations. For the matrices of hidden layers; embeddings, the last layer, gains and biases belong to
    `AdamW`.

    Parameters
    ----------
    params
        As of `SGD`, on the CPU and of two dimensions or more: outputs first, the others (inputs, a kernel) as one.
        Tensors on a CUDA device are refused: HalfulpTypeError. (`halfulp train` and `halfulp.train` step there.)
    lr, momentum, weight_decay : float
        The decay is decoupled: it is not in the momentum.
    nesterov : bool
    iterations : int
        0 to 64.
    product : str
        Format of the iterations: after each operator, and of the operands of their products.
    accum : str
        Accumulation model of these products: "fp32", a text of accum.h, or a matrix unit that takes `product`.
    aspect : str
        The factor of the update: "spectral" sqrt(max(1, outputs / inputs)), "rms" 0.2 sqrt(max(inputs, outputs)), or
        "one".
    state, operators, weight, update, key
        As of `SGD`.

    With product="bfloat16" and accum="fp32" an update is that of torch.optim.Muon, up to the order of sums, and the
    norm, which stays float32 here; the momentum is a sum, and not a mean.
    """

    KIND = 'muon'
    _OWN = _Narrow._OWN + ('iterations', 'product', 'accum', 'aspect')

    def __init__(self, params, lr: float = 0.02, momentum: float = 0.95, weight_decay: float = 0.0, *,
                 nesterov: bool = True, iterations: int = 5, product: Any = 'bfloat16', accum: Any = 'fp32',
                 aspect: str = 'spectral', state: Any = 'binary32', operators: Any = None, weight: Any = None,
                 update: str = 'round', key: Optional[int] = None) -> None:
        abi.word('aspect', aspect, _ASPECTS)
        if isinstance(state, (tuple, list)):
            raise abi.HalfulpTypeError('state: Muon has one moment, and {!r} are several'.format(state))
        self.iterations = abi.whole('iterations', iterations, 0, _ITERATIONS)
        self.product, self.accum, self.aspect = text_of(product), text_of(accum), aspect
        stored = _state_of(state, operators)._replace(v='keep')
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov), stored,
                         weight, update, key)

    def _fits(self, p: Tensor) -> None:
        super()._fits(p)
        if p.device.type != 'cpu':
            raise abi.HalfulpTypeError('Muon: parameters on the CPU are required, not on {}: there are no kernels of its step '
                                       'for devices'.format(p.device))
        if p.dim() < 2:
            raise abi.HalfulpValueError('Muon: a parameter of shape {} is not a matrix: give it to AdamW'.format(
                tuple(p.shape)))

    def _numbers(self, o, group) -> None:
        o.momentum, o.nesterov = _number('momentum', group['momentum']), abi.flag('nesterov', group['nesterov'])
        o.iterations, o.aspect = abi.whole('iterations', self.iterations, 0, _ITERATIONS), _ASPECTS.index(self.aspect)
        o.product, o.accum = _records.format_of(self.product), _records.accum_of(self.accum)
        o.beta1 = o.beta2 = o.eps = o.rate_adamw = 0.0  # AdamW's, of which nothing is used here

    def _arrays(self, o):
        return {'m': o.momentum != 0, 'v': False}


class Rounded(torch.optim.Optimizer):
    """An optimizer of torch with roundings around its step.

    In this order: gradients are rounded by `gradient`; the optimizer steps on the master weights; these are rounded
    by `master` (update "round"), or by Kahan's sum in its format (update "kahan"); floating-point state of a
    weight's shape is rounded by `state`; the parameters become the masters rounded by `weight`. Without `master` the
    parameters are their own masters.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
    weight, gradient, state : str
        Roundings.
    master : str, optional
        Rounding of separate master weights; "keep": the parameters' own type (float32).
    update : str
        "round" or "kahan": with d what the optimizer added to the master w (as a difference in the parameters' type)
        and Q the rounding of the masters: y = Q(d - c), s = Q(w + y), c = Q(Q(s - w) - y), w = s.
    key : int, optional
        Of random words; without it torch.manual_seed decides.
    """

    _PARTS = ('gradient', 'master', 'weight', 'state')
    _OWN = ('inner', 'roundings', 'separate', 'update', 'key', 'time', 'masters', 'kept')

    def __init__(self, optimizer: torch.optim.Optimizer, *, weight: Any = 'keep', gradient: Any = 'keep', state: Any = 'keep',
                 master: Any = None, update: str = 'round', key: Optional[int] = None) -> None:
        abi.word('update', update, UPDATES)
        self.inner = optimizer
        self.roundings = {'weight': text_of(weight), 'gradient': text_of(gradient), 'state': text_of(state),
                          'master': text_of(weight if master is None else master)}
        self.separate, self.update, self.time = master is not None, update, 0
        self.key = own_key(key, any(_records.rounding(text).stochastic for text in self.roundings.values()))
        super().__init__(optimizer.param_groups, optimizer.defaults)
        self.param_groups, self.state = optimizer.param_groups, optimizer.state
        self.masters: Dict[Tensor, Tensor] = {}
        self.kept: Dict[Tensor, Tensor] = {}  # Kahan's c
        with torch.no_grad():
            for number, p in self._parameters():
                if self.separate:
                    self.masters[p] = p.detach().clone()
                    self._round(self.masters[p], 'master', number)
                self._round(p.data, 'weight', number)
                increment_version(p)
                if update == 'kahan':
                    self.kept[p] = torch.zeros_like(p)

    def _parameters(self):
        return enumerate(p for group in self.param_groups for p in group['params'])

    def _round(self, x: Tensor, part: str, number: int, more: int = 0) -> Tensor:
        """In place, by child 16 number + part (+ more) of the key, at counter time 2^36."""
        text = self.roundings[part]
        if text != 'keep':
            words = stream(self.key, self.time * STEP % (1 << 64))
            ops.quantize_(x, words, text, -1, 16 * number + self._PARTS.index(part) + more, False)
        return x

    @torch.no_grad()
    def step(self, closure: Optional[Callable[[], Tensor]] = None) -> Optional[Tensor]:
        loss = _loss_of(closure)
        self.time += 1
        moving = [(number, p) for number, p in self._parameters() if p.grad is not None]
        before = {}
        for _, p in moving:
            if any(text != 'keep' for text in self.roundings.values()):
                _dense('Rounded', p)
        for number, p in moving:
            self._round(p.grad, 'gradient', number)
            if self.separate:
                p.data.copy_(self.masters[p])
            if self.update == 'kahan':
                before[p] = p.detach().clone()
        self.inner.step()
        for number, p in moving:
            self._finish(number, p, before.get(p))
        return loss

    def _finish(self, number: int, p: Tensor, before: Optional[Tensor]) -> None:
        def nearest(x: Tensor) -> Tensor:
            return self._round(x, 'master', number)
        if before is None:
            nearest(p.data)
        else:
            y = nearest((p.data - before) - self.kept[p])
            s = nearest(before + y)
            self.kept[p] = nearest(nearest(s - before) - y)
            p.data.copy_(s)
        tensors = [x for name, x in sorted(self.inner.state[p].items()) if name != 'step' and isinstance(x, Tensor)
                   and x.is_floating_point() and x.shape == p.shape]
        for more, x in enumerate(tensors):
            self._round(x, 'state', number, more)
        if self.separate:
            self.masters[p].copy_(p.data)
            self._round(p.data, 'weight', number)

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.inner.zero_grad(set_to_none)

    def add_param_group(self, group: Dict[str, Any]) -> None:
        if hasattr(self, 'masters'):
            raise NotImplementedError('Rounded: parameters are given to the optimizer before it is wrapped')
        super().add_param_group(group)

    def __getstate__(self) -> Dict[str, Any]:
        return _with_own(self, super().__getstate__())

    def state_dict(self) -> Dict[str, Any]:
        order = [p for _, p in self._parameters()]
        return {'inner': self.inner.state_dict(), 'key': self.key, 'time': self.time,
                'masters': [self.masters[p].clone() for p in order] if self.separate else [],
                'kept': [self.kept[p].clone() for p in order] if self.kept else []}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        _saved_by('Rounded', state, 'inner', 'key', 'time', 'masters', 'kept')
        self.inner.load_state_dict(state['inner'])
        self.param_groups, self.state = self.inner.param_groups, self.inner.state
        self.key, self.time = state['key'], state['time']
        for (_, p), x in zip(self._parameters(), state['masters']):
            self.masters[p].copy_(x)
        for (_, p), x in zip(self._parameters(), state['kept']):
            self.kept[p].copy_(x)

    def __repr__(self) -> str:
        said = ', '.join('{}={!r}'.format(name, text) for name, text in sorted(self.roundings.items())
                         if text != 'keep')
        return 'Rounded({}; {}, update={!r})'.format(self.inner, said, self.update)


__all__ = ['SGD', 'AdamW', 'Muon', 'Rounded', 'stream']
