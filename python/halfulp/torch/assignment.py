# SPDX-License-Identifier: MIT
"""Which tensors of a model are kept in low precision, chosen by their sizes and corrected where they overflow.

Lee, Sharma and Aiken, Training with Mixed-Precision Floating-Point Assignments (TMLR 2023). The choice and the
promotion are those of halfulp/train/rounding.h and precision.h; what the paper leaves open is decided in
docs/training/decisions.md, section 5.
"""
from decimal import Decimal
from fractions import Fraction
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Type, Union

import numpy as np
import torch
from torch import Tensor, nn

from .. import _abi as abi
from ..mode import Stream
from ..train import Assignment, Layout
from . import _records, ops
from ._calls import STEP
from ._records import text_of
from ._stateful import own_key
from ._streams import stream
from ._tensors import PRODUCTS, Hooks, Operator, Visitor, one_pass
from .layers import MatMul

# hu_candidate_default: every code finite, ties to even; gradients that overflow become infinities.
LOW, LOW_GRADIENTS = 'fp(4,3,4):finite,nan=keep', 'fp(5,2,0):finite,over=inf,nan=keep'
HIGH, HIGH_GRADIENTS = 'fp(6,9,0):finite,nan=keep', 'fp(6,9,0):finite,over=inf,nan=keep'

RULES = {'high': 'high', 'uniform': 'uniform', 'op': 'operator', "op'": 'operator_prime', 'operator': 'operator',
         'operator_prime': 'operator_prime', 'demote': 'demote'}
_THETA = Fraction(1, 100)  # the paper's limit of the share of overflows
_PER_KIND = 1 << 32  # children of the stream of random words (docs/training/training.md section 4)
_VALUE, _PARAMETER = 0, 2  # and behind each of them its gradient
_PER_READER = 1 << 22  # tensors of one reader of values (halfulp/train/precision.h)
READINGS = 'operators', 'published'
_GROUPS = 7 * _PER_KIND  # the child that a random order draws from (docs/training/training.md section 5)

Ratio = Union[str, float, Fraction, Tuple[int, int]]


class Assigned(NamedTuple):
    """A tensor of a model and what the assignment says of it."""

    name: str
    kind: str  # "value", "value gradient", "parameters", "parameter gradients"
    elements: int  # in the sample's pass
    precision: str  # "low" or "high"
    overflow: Optional[float]  # of forward tensors: the share of elements above the largest number, since the last step


class Memory(NamedTuple):
    """Bits of the tensors of one iteration; master weights and the state of an optimizer are not among them."""

    values: int
    value_gradients: int
    weights: int
    weight_gradients: int
    aggregate: int  # their sum
    high: int  # the same with all tensors high: the largest aggregate


class _Row:
    """Value number i + 1 and the operator i that makes it; or value 0."""

    def __init__(self, name: str, shape: Sequence[int], reads: int = 0, product: bool = False,
                 owner: Optional[str] = None) -> None:
        self.name, self.shape, self.reads, self.product, self.owner = name, tuple(shape), reads, product, owner

    elements = property(lambda self: _elements(self.shape))


def _elements(shape: Sequence[int]) -> int:
    n = 1
    for side in shape:
        n *= side
    return n


class _Recorder(Visitor):
    """What a pass of the sample consists of."""

    def __init__(self, products: Tuple[Type[nn.Module], ...], reading: str) -> None:
        self.reading, self.by_reader = reading, reading == 'published'
        self.products, self.outside, self.with_loss = products, (), False
        self._used: Set[int] = set()
        self.rows: List[_Row] = []
        self.places: Dict[str, int] = {}
        self.parameters: Dict[str, List[Tuple[str, Tuple[int, ...]]]] = {}  # of an owner: names and shapes

    def value(self, name: str, x: Tensor, made_by: Optional[Operator]) -> Tensor:
        self._row(name, x.shape, made_by)
        return x.clone()  # as a rounded value it is another tensor

    def without_value(self, name: str, made_by: Operator) -> None:
        self._row(name, (0,), made_by)

    def parameter(self, owner: str, name: str, p: Tensor) -> Tensor:
        self.parameters.setdefault(owner, []).append((name, tuple(p.shape)))
        self._used.add(id(p))
        return p.detach().clone()

    def _row(self, name: str, shape: Sequence[int], made_by: Optional[Operator]) -> None:
        self.places[name] = len(self.rows)
        if made_by is None:
            self.rows.append(_Row(name, shape))
            return
        reads = len(self.rows) - 1 if made_by.reads is None else self.places[made_by.reads]
        self.rows.append(_Row(name, shape, reads, isinstance(made_by.module, self.products), made_by.owner))

    def finish(self, model: nn.Module, loss: bool) -> None:
        """The pass is over; a loss of one number may follow."""
        if len(self.rows) < 2:
            raise abi.HalfulpValueError('assign: the sample went through no module that makes a floating-point tensor')
        if loss and 'loss' in self.places:
            raise abi.HalfulpValueError('loss: a module of the model has this name and makes a value')
        if loss:
            last = self.rows[-1].shape or (1,)  # log of the softmax, and a number of each row: two operators
            self._row('loss', (*last[:-1], last[-1] + 1) if self.by_reader else (), Operator(None, None, None))
        self.with_loss = loss
        self.outside = tuple(name for name, p in model.named_parameters() if id(p) not in self._used)

    def layout(self) -> Layout:
        """The values, parameters and products in the order of the pass."""
        made = self.rows[1:]
        sizes = [sum(_elements(shape) for _, shape in self.parameters.get(row.owner, ())) for row in made]
        return Layout([row.elements for row in self.rows], sizes, [row.product for row in made],
                      [row.reads for row in made], reading=self.reading)


def _recorded(model: nn.Module, sample: Any, products: Tuple[Type[nn.Module], ...], loss: bool,
              reading: str) -> _Recorder:
    """One pass of the sample, which leaves buffers and torch's generators as they were."""
    made = _Recorder(products, reading)
    hooks = Hooks(model, made)
    try:
        one_pass(model, sample)
    finally:
        hooks.remove()
    made.finish(model, loss)
    return made


def _share(name: str, ratio: Ratio) -> Tuple[int, int]:
    """An exact fraction; a float is the decimal number that it prints as."""
    try:
        if isinstance(ratio, tuple):
            made = Fraction(*ratio)
        else:
            made = Fraction(Decimal(repr(ratio)) if isinstance(ratio, float) else ratio)
    except (TypeError, ValueError, ArithmeticError):
        raise abi.HalfulpValueError('{}: {!r} is no ratio'.format(name, ratio)) from None
    if not 0 <= made <= 1 or made.denominator > 10 ** 6:
        raise abi.HalfulpValueError('{}: {!r} is not between 0 and 1 with a denominator up to 10^6'.format(name, ratio))
    return made.numerator, made.denominator


def _limit(promote: Union[None, str, Ratio], rule: str) -> Optional[Tuple[int, int]]:
    """The share of overflows above which a tensor is promoted; None: none is."""
    if promote is None or promote == 'none':
        return None
    if promote == 'paper':
        return _share('promote', _THETA) if rule == 'demote' else None
    return _share('promote', promote)


class _Candidate:
    """A low and a high rounding of one kind of tensor."""

    def __init__(self, low: Any, high: Any) -> None:
        self.texts = (text_of(high), text_of(low))
        self.roundings = [_records.rounding(text) for text in self.texts]
        self.stochastic = any(r.stochastic for r in self.roundings)

    def __reduce__(self):
        return _Candidate, (self.texts[1], self.texts[0])

    def bits(self, shape: Sequence[int], low: int) -> int:
        """hu_rounding_bits of a tensor, whose last dimension is a row."""
        cols = shape[-1] if len(shape) else 1
        rows = _elements(shape) // cols if cols else 0
        return abi.train().hu_rounding_bits(rows, cols, abi.address(self.roundings[low].record))

    def over(self, x: Tensor, low: int) -> Optional[Tensor]:
        """How many finite elements have a larger magnitude than the largest number: only formats have one."""
        r = self.roundings[low]
        if r.kind != _records.FORMAT:
            return None
        x = x.detach()
        return ((x.abs() > r.high) & x.isfinite()).sum()


class _Counts:
    """Elements of a tensor that were rounded forward, and those of them that overflowed, the latter on its device."""

    def __init__(self) -> None:
        self.elements, self._over = 0, None

    def add(self, elements: int, over: Optional[Tensor]) -> None:
        self.elements += elements
        if over is not None:
            self._over = over if self._over is None else self._over + over

    over = property(lambda self: 0 if self._over is None else int(self._over))
    share = property(lambda self: self.over / self.elements if self.elements else 0.0)


class PrecisionAssignment(Visitor):
    """A model's assignment of precision at work; `assign` makes it.

    Attributes
    ----------
    layout : halfulp.train.Layout
        The tensors as a row of operators, with the sizes that they have in the sample's pass.
    assignment : halfulp.train.Assignment
        Which of them are low now; its `ratio` is an exact fraction.
    steps, promoted : int
        Steps so far, and tensors that were promoted in them.
    outside : tuple of str
        Parameters that no call of a module used in the sample's pass. They are never rounded.
    """

    def __init__(self, model: nn.Module, record: _Recorder, assignment: Assignment, forward: _Candidate,
                 backward: _Candidate, limit: Optional[Tuple[int, int]], key: int) -> None:
        self.layout, self.assignment, self.limit, self.key = assignment.layout, assignment, limit, key
        self.forward, self.backward = forward, backward
        self.reading, self.by_reader = record.reading, record.by_reader
        self.rows, self.places, self.shapes = record.rows, record.places, record.parameters
        self.operators = {row.owner: i for i, row in enumerate(record.rows[1:]) if row.owner is not None}
        used = [(owner, name) for owner, some in record.parameters.items() for name, _ in some]
        self.numbers = {parameter: n for n, parameter in enumerate(used)}
        self.outside, self.with_loss = record.outside, record.with_loss
        self.time = self.steps = self.promoted = self._low = 0
        self._forget()
        self.hooks = Hooks(model, self)

    # ---- a pass ----

    def begin(self) -> None:
        self.counting = torch.is_grad_enabled()
        stochastic = self.forward.stochastic or self.backward.stochastic
        self.words = stream(self.key, self.time * STEP % (1 << 64)) if stochastic else None
        self.time += 1
        self.readers = [0] * len(self.rows)

    def read(self, name: str, x: Tensor) -> Tensor:
        """The published reading: a reader's own gradient is rounded, not the sum of all."""
        k = self.places[name]
        reader, self.readers[k] = self.readers[k], self.readers[k] + 1
        number = (_VALUE + 1) * _PER_KIND + reader * _PER_READER + k
        return ops.quantize(x, self.words, None, 'keep', self.backward.texts[int(self.assignment.dv[k])], -1,
                            'straight_through', 0, number, False)[0]

    def value(self, name: str, x: Tensor, made_by: Optional[Operator]) -> Tensor:
        k = self.places.get(name)
        if k is None or (x.numel() and self.rows[k].elements == 0):
            raise abi.HalfulpValueError('assign: this call of the model has a tensor {!r}, which the call with the '
                                        'sample had not'.format(name))
        low = int(self.assignment.v[k])
        if self.counting and x.numel():
            self.over_v[k].add(x.numel(), self.forward.over(x, low))
        return self._round(x, low, int(self.assignment.dv[k]), k, _VALUE)

    def parameter(self, owner: str, name: str, p: Tensor) -> Tensor:
        number = self.numbers.get((owner, name))
        if number is None:
            raise abi.HalfulpValueError('assign: this call of the model uses the parameter {!r} of module {!r}, which '
                                        'the call with the sample did not'.format(name, owner))
        i = self.operators[owner]
        low = int(self.assignment.theta[i])
        if self.counting:
            self.over_theta[i].add(p.numel(), self.forward.over(p, low))
        return self._round(p, low, int(self.assignment.dtheta[i]), number, _PARAMETER)

    def loss(self, x: Tensor) -> Tensor:
        """A loss, of one number, as the last value of the pass that it was computed from."""
        if not self.with_loss:
            raise abi.HalfulpValueError('loss: it is not a value of this assignment; assign(..., loss=True)')
        if x.numel() != 1:
            raise abi.HalfulpValueError('loss: one number is required, not {}'.format(x.numel()))
        return self.value('loss', x, None)

    def _round(self, x: Tensor, low: int, low_back: int, number: int, kind: int) -> Tensor:
        uses = (kind * _PER_KIND + number, (kind + 1) * _PER_KIND + number)
        back = 'keep' if self.by_reader and kind == _VALUE else self.backward.texts[low_back]
        return ops.quantize(x, self.words, None, self.forward.texts[low], back, -1, 'straight_through', *uses, False)[0]

    # ---- steps ----

    def step(self) -> List[str]:
        """The end of an iteration, before or after the optimizer's step.

        Forward tensors whose share of overflows in the passes since the last step is above the limit become high
        permanently, from the next pass on (Algorithm 2). Passes without gradients do not count.

        Returns the names of the tensors that were promoted. RuntimeError: there was no pass that counts.
        """
        if not any(counts.elements for counts in self.over_v):
            raise RuntimeError('assign: step() without a pass for training since the last one')
        self._low += self._low_now()
        names = [] if self.limit is None else self._promoted()
        self.steps, self.promoted = self.steps + 1, self.promoted + len(names)
        self._forget()
        return names

    def _promoted(self) -> List[str]:
        """hu_assign_promote with the numbers of elements of these passes; names of what it promoted."""
        sizes = [counts.elements for counts in self.over_v], [counts.elements for counts in self.over_theta]
        now = Assignment(Layout(*sizes, [row.product for row in self.rows[1:]], [row.reads for row in self.rows[1:]],
                                reading=self.reading))
        before = self.assignment.v.copy(), self.assignment.theta.copy()
        for name in ('v', 'dv', 'theta', 'dtheta'):
            setattr(now, name, getattr(self.assignment, name))  # the same arrays
        now.promote([counts.over for counts in self.over_v], [counts.over for counts in self.over_theta], self.limit)
        return ([row.name for row, a, b in zip(self.rows, before[0], now.v) if a != b]
                + [row.owner + ':parameters' for row, a, b in zip(self.rows[1:], before[1], now.theta) if a != b])

    def _forget(self) -> None:
        self.over_v = [_Counts() for _ in self.rows]
        self.over_theta = [_Counts() for _ in self.rows[1:]]

    def remove(self) -> None:
        """The model computes as before `assign`. What the assignment was can still be looked at."""
        self.hooks.remove()

    # ---- looking ----

    def _low_now(self) -> int:
        return int(Fraction(*self.assignment.ratio) * self.layout.elements)

    @property
    def ratio(self) -> float:
        """Low elements among all, now."""
        return float(Fraction(*self.assignment.ratio))

    @property
    def mean_ratio(self) -> float:
        """The mean of `ratio` over the steps so far, each with the assignment that it ran with."""
        return self._low / (self.steps * self.layout.elements) if self.steps else self.ratio

    @property
    def tensors(self) -> List[Assigned]:
        """All tensors, in the order in which the model makes them."""
        a, made = self.assignment, []
        for k, row in enumerate(self.rows):
            owner = row.owner
            if owner is not None:
                n = sum(_elements(shape) for _, shape in self.shapes[owner])
                share = self.over_theta[k - 1].share
                made += [_assigned(owner, 'parameters', n, a.theta[k - 1], share),
                         _assigned(owner, 'parameter gradients', n, a.dtheta[k - 1], None)]
            if row.elements:
                made += [_assigned(row.name, 'value', row.elements, a.v[k], self.over_v[k].share),
                         _assigned(row.name, 'value gradient', row.elements, a.dv[k], None)]
        return made

    def memory(self) -> Memory:
        """Bits of all tensors of an iteration with the sample's sizes (hu_rounding_bits), as in hu_precision_memory:
        the paper's model aggregate."""
        a, sums = self.assignment, [0, 0, 0, 0, 0]

        def add(at: int, candidate: _Candidate, shape: Sequence[int], low: int) -> None:
            sums[at] += candidate.bits(shape, int(low))
            sums[4] += candidate.bits(shape, 0)
        for k, row in enumerate(self.rows):
            add(0, self.forward, row.shape, a.v[k])
            add(1, self.backward, row.shape, a.dv[k])
            for _, shape in self.shapes.get(row.owner, ()):
                add(2, self.forward, shape, a.theta[k - 1])
                add(3, self.backward, shape, a.dtheta[k - 1])
        return Memory(*sums[:4], sum(sums[:4]), sums[4])

    def __repr__(self) -> str:
        return 'PrecisionAssignment({} tensors, {:.3f} of {} elements low, {} promoted in {} steps)'.format(
            len(self.tensors), self.ratio, self.layout.elements, self.promoted, self.steps)

    # ---- state ----

    def _names(self) -> List[str]:
        return [row.name for row in self.rows]

    def state_dict(self) -> Dict[str, Any]:
        """What a run that is resumed needs: the assignment, and what was counted over the steps so far."""
        state = {name: getattr(self.assignment, name).tolist() for name in ('v', 'dv', 'theta', 'dtheta')}
        return dict(state, names=self._names(), steps=self.steps, promoted=self.promoted, low=self._low, time=self.time,
                    key=self.key)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The assignment of another run of the same model. HalfulpValueError, and nothing changed: it has other
        tensors."""
        arrays = {name: np.array(state[name], np.uint8) for name in ('v', 'dv', 'theta', 'dtheta')}
        whole = all(array.shape == getattr(self.assignment, name).shape and (array <= 1).all()
                    for name, array in arrays.items())
        if list(state['names']) != self._names() or not whole:
            raise abi.HalfulpValueError('load_state_dict: the state is of a model with other tensors')
        past = tuple(int(state[name]) for name in ('steps', 'promoted', 'low', 'time', 'key'))
        for name, array in arrays.items():
            getattr(self.assignment, name)[:] = array
        self.steps, self.promoted, self._low, self.time, self.key = past
        self._forget()


def _assigned(name: str, kind: str, elements: int, low: int, overflow: Optional[float]) -> Assigned:
    return Assigned(name, kind, elements, 'low' if low else 'high', overflow)


def assign(model: nn.Module, rule: str = 'demote', *, sample: Any, ratio: Optional[Ratio] = None,
           order: Optional[str] = None, promote: Union[None, Ratio] = 'paper', low: Any = LOW,
           low_gradients: Any = LOW_GRADIENTS, high: Any = HIGH, high_gradients: Any = HIGH_GRADIENTS,
           parameter_gradients: str = 'high', loss: bool = False, key: Optional[int] = None,
           products: Sequence[Type[nn.Module]] = (), reading: str = 'operators') -> PrecisionAssignment:
    """Keep some tensors of a model in low precision and the others in high, until `remove()` of what is returned.

    Tensors are the values that modules read and return, their gradients, the parameters and their gradients. Those of
    one module count together. Call `step()` after each iteration.

    Parameters
    ----------
    model : torch.nn.Module
        It keeps its parameters, which are the master weights; they are rounded as they are used. Its parts are not
        called alone.
    rule : str
        "uniform": all tensors are low. "op", "op'" (or "operator", "operator_prime"): those of matrix products and
        convolutions, except for the first and the last. "demote": the paper's Algorithm 1, groups of tensors between
        such products until `ratio` of all elements are low. "high": none is low.
    sample : Tensor, tuple or dict
        Arguments of one call of the model, of the sizes that it will have. The model is called with them once, without
        gradients; buffers and generators are as before then.
    ratio : str, float, Fraction or (int, int)
        demote: the share of elements to reach, between 0 and 1. Without it 1.
    order : "largest", "smallest" or "random"
        demote: which groups become low first. Without it "largest".
    promote : str, float, Fraction, (int, int) or None
        Forward tensors become high when their share of elements above the largest number of their format is above
        this. "paper": 0.01 with "demote", none with other rules. None: no tensor is promoted.
    low, low_gradients, high, high_gradients : str, halfulp.Format, ...
        Roundings, as `quantize` takes them. Without them the paper's formats: fp(4,3,4) and fp(5,2,0), fp(6,9,0) for
        both, all of whose codes are finite; gradients that overflow become infinities, which a loss scale sees.
    parameter_gradients : "high" or "rule"
        "high": gradients of parameters are high, as in the paper. "rule": as the rule says.
    loss : bool
        The loss, which is computed behind the model, is a value as well, as in the paper: pass it to `loss()` of what
        is returned.
    key : int, optional
        Of random words, for stochastic roundings and order="random"; without it torch.manual_seed decides.
    products : types of modules
        More modules that are matrix products, beside those of torch and of this package.
    reading : "operators" or "published"
        "published": what the authors' code does where it and the paper's text differ (halfulp/train/precision.h).
        Parameters are in the group of what their module reads; each reader's gradient of a value is rounded by itself,
        and their sum is not; `torch.nn.ChannelShuffle` makes no value; a loss counts as two operators, and its own
        gradient is not rounded; promotion begins at the limit. Readers are modules without modules inside, and the
        caller of the model. Reader i of a value, in the order of the forward pass, has the words of tensor i 2^22 + the
        value's number, for stochastic roundings.

    HalfulpValueError: a rule, a ratio or a rounding is invalid, or the sample went through no module. RuntimeError: the
    model has an assignment already.
    """
    kind, share = _rule(rule, ratio, order, parameter_gradients)
    limit, forward, backward = _limit(promote, kind), _Candidate(low, high), _Candidate(low_gradients, high_gradients)
    if reading not in READINGS:
        raise abi.HalfulpValueError('reading: {!r} is not one of {}'.format(reading, ', '.join(READINGS)))
    key = own_key(key, forward.stochastic or backward.stochastic or order == 'random')
    record = _recorded(model, sample, PRODUCTS + (MatMul,) + tuple(products), loss, reading)
    words = Stream(_records.child(key, _GROUPS)) if order == 'random' else None
    assignment = Assignment(record.layout(), kind, ratio=share, order=order or 'largest', stream=words,
                            keep_parameter_gradients=parameter_gradients == 'high')
    return PrecisionAssignment(model, record, assignment, forward, backward, limit, key)


def _rule(rule: str, ratio: Optional[Ratio], order: Optional[str],
          parameter_gradients: str) -> Tuple[str, Tuple[int, int]]:
    """The rule's name in halfulp.train, and the ratio, of arguments that go together."""
    if rule not in RULES:
        raise abi.HalfulpValueError('rule: {!r} is not one of {}'.format(rule, ', '.join(RULES)))
    if RULES[rule] != 'demote' and (ratio is not None or order is not None):
        raise abi.HalfulpValueError('ratio, order: they belong to the rule demote, not to {!r}'.format(rule))
    if order not in (None, 'largest', 'smallest', 'random'):
        raise abi.HalfulpValueError('order: {!r} is not one of largest, smallest, random'.format(order))
    if parameter_gradients not in ('high', 'rule'):
        raise abi.HalfulpValueError('parameter_gradients: {!r} is neither high nor rule'.format(parameter_gradients))
    return RULES[rule], _share('ratio', 1 if ratio is None else ratio)
