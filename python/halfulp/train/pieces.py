# SPDX-License-Identifier: MIT
"""Pieces of training in low precision: loss scalers, optimizers, assignments (libhalfulp-train; docs/training/training.md)."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _abi as abi
from .. import _structs as s
from .._views import target
from ..accum import Accumulator, AccumulatorLike
from ..format import Format, FormatLike
from ..mode import ModeLike, Stream, StreamLike, mode_of, stream_of
from ..scaling import Rounding


class Found(NamedTuple):
    """What a step's gradients were, divided by the scale."""

    amax: float  # the largest magnitude of the finite ones
    bad: bool  # an infinity or a NaN among them


class LossScaler:
    """The factor on the loss that keeps small gradients above the smallest number (halfulp/train/gradient.h).

    Parameters
    ----------
    rule : str
        "none"; "static(1024)"; "backoff(scale_max=2^24,step_window=1000)", "logmax(...)" (OpenSeq2Seq);
        "gradscaler(init_scale=65536)" (torch.amp.GradScaler); "exponential(factor=2,every=1000)".

    >>> scaler = LossScaler('gradscaler(init_scale=1024)')
    >>> found = scaler.unscale([np.float32([2048.0])])
    >>> found.amax, scaler.update(found)
    (2.0, True)
    """

    def __init__(self, rule: str = 'gradscaler') -> None:
        self._rule = s.hu_loss_rule()
        abi.parse('rule', rule, abi.train().hu_loss_rule_parse, self._rule)
        self._state = abi.train().hu_loss_scale_start(abi.address(self._rule))

    @property
    def rule(self) -> str:
        """The rule's text, with keys that are not at their defaults."""
        return abi.written(abi.train().hu_loss_rule_text, 256, abi.address(self._rule))

    scale = property(lambda self: self._state.scale, doc='To be used in the next step.')
    iteration = property(lambda self: self._state.iteration, doc='Steps so far, taken or not.')
    skipped = property(lambda self: self._state.skipped, doc='Steps not taken.')

    def unscale(self, gradients: Sequence[np.ndarray]) -> Found:
        """Divide float32 gradients, contiguous and in place, by the scale; what they contained."""
        arrays = [_contiguous('gradients[{}]'.format(i), array) for i, array in enumerate(gradients)]
        found = s.hu_gradient_found()
        for array in arrays:
            abi.train().hu_gradient_unscale_n(array.size, array.ctypes.data, self._state.scale, abi.address(found))
        return Found(found.amax, bool(found.bad))

    def update(self, found: Found) -> bool:
        """Move the scale; whether the step is to be taken."""
        record = s.hu_gradient_found(found.amax, bool(found.bad))
        return bool(abi.train().hu_loss_scale_update(abi.address(self._state), abi.address(self._rule), record))

    def state_dict(self) -> Dict[str, Any]:
        """The state as numbers; `load_state_dict` continues with it."""
        return {name: getattr(self._state, name) for name, _ in self._state._fields_}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        made = self._state.copy()
        for name, _ in made._fields_:
            setattr(made, name, state[name])
        self._state = made

    def __repr__(self) -> str:
        return 'LossScaler({!r}, scale={})'.format(self.rule, self.scale)


def scale_of_gmax(gmax: float, max: float = 65504.0, margin: int = 0) -> float:
    """The largest power of two for which gradients up to gmax do not overflow (Micikevicius et al., section 3.2)."""
    return abi.train().hu_loss_scale_of_gmax(gmax, max, margin)


def _contiguous(argument: str, array: Any) -> np.ndarray:
    if not isinstance(array, np.ndarray):
        raise abi.HalfulpTypeError('{}: a NumPy array is expected, not {}'.format(argument, type(array).__name__))
    made = target(argument, array, array.shape, ['float32']).array
    if not made.flags.c_contiguous:
        raise abi.HalfulpValueError('{}: the array is not contiguous'.format(argument))
    return made


_KINDS = ('sgd', 'adamw', 'adagrad', 'muon')
_ASPECTS = ('spectral', 'rms', 'one')
_CORRECTIONS = ('inside', 'outside', 'none')


class Optimizer:
    """SGD, AdamW, Adagrad or Muon in any format, with three ways to end the weight update (halfulp/train/optimizer.h).

    Zamirai et al., Revisiting BFloat16 Training: every operator rounds its result into `format`; only the last rounding
    of the weight changes between the variants.

    Parameters
    ----------
    kind : "sgd", "adamw", "adagrad" or "muon"
        Muon steps on matrices; in `Net.update`, AdamW updates all that is not one of a product.
    format : Format or str
        Of momenta, second moments and every operator.
    weight : Format or str, optional
        Of the weights; `format` without it.
    update : "round" or "kahan"
        The last rounding by `mode`, or a compensated sum.
    mode : Mode or str
        "rne", or stochastic: "sra:16" with `stream`.
    stream : Stream or key, optional
        Step t and tensor number i draw from the key (stream.key + i), counter (stream.counter + t 2^32).
    rate, momentum, beta1, beta2, eps, decay : float
        Defaults: 0.01 (AdamW 0.001, Muon 0.02), 0.9 (Muon 0.95), 0.9, 0.999 (Muon 0.95), 1e-8 (Adagrad, Muon 1e-10), 0.
    accumulated : float
        Adagrad: what the sums of squares begin with (0), rounded into `format`.
    correction : "inside", "outside" or "none"
        AdamW: moments are divided; or the rate is multiplied, in TensorFlow's form; or neither.
    coupled, fused, nesterov : bool
        AdamW: decay goes into the gradient; SGD: the weight's last step has one rounding; SGD, Muon: the update is of
        g + momentum m; without it Muon does so, and SGD does not.
    iterations, product, accum, aspect, outputs_first, rate_adamw
        Of Muon: Newton-Schulz iterations (5), their format (`format`), the accumulation model of their products (fp32),
        the factor ("spectral": sqrt(max(1, outputs / inputs)), "rms": 0.2 sqrt(max(inputs, outputs)), "one"), whether
        the rows of the arrays of `step` are outputs, as in PyTorch (False: inputs x outputs, as in `Net`), and AdamW's
        rate in `Net.update` (3e-4).
    stored_m, stored_v : Rounding or str
        How the first moment or momentum, and the second one, are kept between steps: "mxfp8_e4m3", or any rounding.
        The n numbers of a tensor are one row, so that blocks lie along all of them. Updates see the moments before
        they are stored; `state_dict` has the decoded values. HalfulpValueError: the optimizer has no such moment,
        blocks of several rows, or "turned".
    """

    def __init__(self, kind: str = 'sgd', format: FormatLike = 'binary32', *, weight: Optional[FormatLike] = None,
                 update: str = 'round', mode: ModeLike = 'rne', stream: Optional[StreamLike] = None,
                 coupled: bool = False, fused: bool = False, nesterov: Optional[bool] = None,
                 iterations: Optional[int] = None, product: Optional[FormatLike] = None,
                 accum: Optional[AccumulatorLike] = None, aspect: Optional[str] = None,
                 outputs_first: Optional[bool] = None, stored_m: Union[Rounding, str] = 'keep', stored_v: Union[Rounding, str] = 'keep',
                 correction: str = 'inside', **numbers: float) -> None:
        if kind not in _KINDS or update not in ('round', 'kahan'):
            raise abi.HalfulpValueError('kind {!r}, update {!r}: there are {}; round, kahan'.format(
                kind, update, ', '.join(_KINDS)))
        library = abi.train()
        state = Format(format)
        self._c = getattr(library, 'hu_optimizer_' + kind)(state._c)
        self._c.weight = (state if weight is None else Format(weight))._c
        self._c.update, self._c.coupled, self._c.fused = ('round', 'kahan').index(update), coupled, fused
        abi.word('correction', correction, _CORRECTIONS)
        self._c.correction = _CORRECTIONS.index(correction)
        if nesterov is not None:
            self._c.nesterov = nesterov
        self._outputs_first = bool(outputs_first)
        self._set_muon(dict(iterations=iterations, product=product, accum=accum, aspect=aspect,
                            outputs_first=outputs_first, rate_adamw=numbers.get('rate_adamw')))
        self._c.stored_m, self._c.stored_v = Rounding(stored_m)._c, Rounding(stored_v)._c
        for name, value in numbers.items():
            if name not in ('rate', 'momentum', 'beta1', 'beta2', 'eps', 'decay', 'rate_adamw', 'accumulated'):
                raise abi.HalfulpTypeError('Optimizer: there is no argument {!r}'.format(name))
            setattr(self._c, name, value)
        self._c.mode = mode_of(mode)._c
        for drawing, text in ((self._c.mode, mode), (self._c.stored_m.mode, stored_m), (self._c.stored_v.mode, stored_v)):
            if drawing.bits and stream is None:
                raise abi.HalfulpValueError('stream: {} draws random words; give stream=Stream(key, counter)'.format(
                    text))
        self._stream = Stream(0, 0) if stream is None else stream_of(stream)
        why = ctypes.c_char_p()
        abi.check(library.hu_optimizer_check(abi.address(self._c), ctypes.addressof(why)), 'Optimizer',
                  (why.value or b'').decode())
        self._now = s.hu_optimizer_time(0, 1.0, 1.0)
        self._more: List[Dict[str, np.ndarray]] = []
        self.moved = self.lost = 0

    def _set_muon(self, given: Mapping[str, Any]) -> None:
        for name, value in given.items():
            if value is None:
                continue
            if self._c.kind != _KINDS.index('muon'):
                raise abi.HalfulpValueError('{}: of muon alone'.format(name))
            if name == 'product':
                self._c.product = Format(value)._c
            elif name == 'accum':
                self._c.accum = Accumulator(value)._c
            elif name == 'aspect':
                abi.word('aspect', value, _ASPECTS)
                self._c.aspect = _ASPECTS.index(value)
            elif name == 'iterations':
                if not 0 <= value <= 64:
                    raise abi.HalfulpValueError('iterations: {} is not 0 to 64'.format(value))
                self._c.iterations = value

    @property
    def rate(self) -> float:
        """The learning rate; it can be set between steps."""
        return self._c.rate

    @rate.setter
    def rate(self, rate: float) -> None:
        self._c.rate = rate

    steps = property(lambda self: self._now.t, doc='Steps so far.')

    @property
    def bytes_per_weight(self) -> int:
        """Bytes that a weight with its momenta and Kahan term takes as codes; 0 with stored_m or stored_v: `bits`."""
        return abi.train().hu_optimizer_bytes(abi.address(self._c))

    def bits(self, n: int) -> int:
        """Bits that a tensor of n weights with its moments and Kahan terms takes as codes and scales. The arrays of
        the state hold the decoded values in float32 and take more."""
        return abi.train().hu_optimizer_bits(n, abi.address(self._c))

    def _state_names(self) -> List[str]:
        momentum = ['m'] if self._c.momentum != 0 else []
        names = {'sgd': momentum, 'adamw': ['m', 'v'], 'adagrad': ['v'], 'muon': momentum}[_KINDS[self._c.kind]]
        return names + (['c'] if self._c.update == 1 else [])

    def _first_sum(self) -> float:
        """What sums of squares begin with, in the format of the state: the first sum of a step without a gradient."""
        w, g, v = (np.array([x], np.float32) for x in (0, 0, self._c.accumulated))
        arrays, matrix = s.hu_optimizer_arrays(w.ctypes.data, g.ctypes.data, None, v.ctypes.data, None), s.hu_optimizer_matrix(1, 1, 0)
        once = self._c.copy()
        once.update, once.decay = 0, 0.0
        abi.check(abi.train().hu_optimizer_step_matrix(abi.address(matrix), abi.address(arrays), abi.address(once),
                                                       abi.address(s.hu_optimizer_time(1, 1.0, 1.0)), Stream(0, 0)._record(), None, None), 'accumulated')
        return float(v[0])

    def step(self, weights: Sequence[np.ndarray], gradients: Sequence[np.ndarray]) -> None:
        """One step of all tensors: float32 arrays on the grid of their format, contiguous; weights change in place. Muon
        takes arrays of two dimensions.

        The arrays are the same ones, in the same order, at every step. `moved` and `lost` count weights with an update
        that is not zero, and those of them that stayed as they were.
        """
        if len(weights) != len(gradients) or (self._more and len(self._more) != len(weights)):
            raise abi.HalfulpValueError('weights, gradients: {} and {} arrays, {} at the first step'.format(
                len(weights), len(gradients), len(self._more) or len(weights)))
        pairs = []
        for number, (weight, gradient) in enumerate(zip(weights, gradients)):
            w = _contiguous('weights[{}]'.format(number), weight)
            if self._c.kind == _KINDS.index('muon') and w.ndim != 2:
                raise abi.HalfulpValueError('weights[{}]: muon steps on matrices, and its shape is {}'.format(number,
                    w.shape))
            g = np.ascontiguousarray(gradient)
            if g.dtype != np.float32 or g.shape != w.shape:
                raise abi.HalfulpValueError('gradients[{}]: {} of {} instead of float32 of {}'.format(number, g.dtype,
                    g.shape, w.shape))
            pairs.append((w, g.copy() if np.may_share_memory(w, g) else g))
        if not self._more:
            first = {'v': self._first_sum()} if self._c.kind == _KINDS.index('adagrad') else {}
            self._more = [{name: np.full(w.shape, first.get(name, 0), np.float32) for name in self._state_names()}
                          for w, _ in pairs]
        now, counts = self._now.copy(), s.hu_update_counts()
        abi.train().hu_optimizer_tick(abi.address(now), abi.address(self._c))
        for number, (w, g) in enumerate(pairs):
            self._one(number, w, g, now, counts)
        self._now = now
        self.moved, self.lost = self.moved + counts.moved, self.lost + counts.lost

    def _one(self, number: int, w: np.ndarray, g: np.ndarray, now: s.hu_optimizer_time,
             counts: s.hu_update_counts) -> None:
        more = self._more[number]
        if any(array.shape != w.shape for array in more.values()):
            raise abi.HalfulpValueError('weights[{}]: shape {} is another than at the first step'.format(number,
                w.shape))
        places = {name: array.ctypes.data for name, array in more.items()}
        arrays = s.hu_optimizer_arrays(w.ctypes.data, g.ctypes.data, places.get('m'), places.get('v'), places.get('c'))
        drawn = Stream((self._stream.key + number) % (1 << 64), self._stream.counter).after(now.t << 32)._record()
        rows, cols = w.shape if w.ndim == 2 else (1, w.size)
        matrix = s.hu_optimizer_matrix(rows, cols, self._outputs_first)
        abi.check(abi.train().hu_optimizer_step_matrix(abi.address(matrix), abi.address(arrays), abi.address(self._c),
                                                       abi.address(now), drawn, abi.address(counts), None),
                  'weights[{}]'.format(number))

    def state_dict(self) -> Dict[str, Any]:
        """Steps, powers of beta and the state's arrays; `load_state_dict` continues with them."""
        return {'t': self._now.t, 'power1': self._now.power1, 'power2': self._now.power2,
                'state': [{name: array.copy() for name, array in one.items()} for one in self._more]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        names = self._state_names()
        more = [{name: np.array(one[name], np.float32, order='C') for name in names} for one in state['state']]
        self._now, self._more = s.hu_optimizer_time(state['t'], state['power1'], state['power2']), more


_READINGS = ('operators', 'published')


class Layout:
    """The tensors of a network as a row of operators (halfulp/train/rounding.h; Lee et al., TMLR 2023).

    Parameters
    ----------
    values : sequence of int
        Elements of value 0 (the input) and of what each operator makes: one more than operators.
    parameters : sequence of int
        Elements of each operator's parameters, 0: none.
    products : sequence of bool
        Whether each is a matrix product or convolution.
    inputs : sequence of int, optional
        The value that each reads first; in a chain operator i reads value i.
    reading : "operators" or "published"
        Whether parameters are in the group of their operator, or of what it reads, as in the authors' code.
    """

    def __init__(self, values: Sequence[int], parameters: Sequence[int], products: Sequence[bool],
                 inputs: Optional[Sequence[int]] = None, *, reading: str = 'operators') -> None:
        if reading not in _READINGS:
            raise abi.HalfulpValueError('reading: {!r} is not one of {}'.format(reading, ', '.join(_READINGS)))
        m = len(parameters)
        reads = range(m) if inputs is None else inputs
        if len(values) != m + 1 or len(products) != m or len(reads) != m:
            raise abi.HalfulpValueError('Layout: {} values, {} parameters, {} products, {} inputs'.format(
                len(values), m, len(products), len(reads)))
        self._values = (ctypes.c_uint64 * (m + 1))(*values)
        self._row = (s.hu_layout_operator * m)(*(s.hu_layout_operator(n, i, bool(p)) for n, i,
                                                 p in zip(parameters, reads, products)))
        self._c = s.hu_layout(m, self._values, self._row, _READINGS.index(reading))
        abi.check(abi.train().hu_layout_check(abi.address(self._c)), 'Layout')

    def __reduce__(self):
        rows = self._row[:]
        arguments = (self._values[:], [row.parameters for row in rows], [bool(row.product) for row in rows],
                     [row.input for row in rows])
        return functools.partial(Layout, *arguments, reading=_READINGS[self._c.reading]), ()

    operators = property(lambda self: self._c.operators, doc='How many operators there are.')

    @property
    def elements(self) -> int:
        """Elements of all tensors and their gradients."""
        return abi.train().hu_layout_elements(abi.address(self._c))


class Assignment:
    """Which tensors are low (1) in precision: v and dv of every value, theta and dtheta of every operator's parameters.

    Parameters
    ----------
    layout : Layout
    rule : "high", "uniform", "operator", "operator_prime" or "demote"
    ratio : str or (int, int)
        demote: the share of elements to become low, "0.35" or "1/3".
    order : "largest", "smallest" or "random"
        demote: which group goes first; "random" draws from `stream`, which it requires.
    keep_parameter_gradients : bool
        dtheta stays high, as in the paper.

    Attributes
    ----------
    v, dv : uint8 arrays (operators + 1,)
    theta, dtheta : uint8 arrays (operators,)
    """

    def __init__(self, layout: Layout, rule: str = 'high', *, ratio: Union[str, Tuple[int, int]] = '1',
                 order: str = 'largest', stream: Optional[StreamLike] = None,
                 keep_parameter_gradients: bool = True) -> None:
        library, m = abi.train(), layout.operators
        self.layout = layout
        self.v, self.dv = np.zeros(m + 1, np.uint8), np.zeros(m + 1, np.uint8)
        self.theta, self.dtheta = np.zeros(m, np.uint8), np.zeros(m, np.uint8)
        record, here = self._record(), abi.address(layout._c)
        if rule == 'demote':
            orders = ('largest', 'smallest', 'random')
            if order not in orders:
                raise abi.HalfulpValueError('order: {!r} is not one of {}'.format(order, ', '.join(orders)))
            if order == 'random' and stream is None:
                raise abi.HalfulpValueError(
                    'stream: a random order draws random words; give stream=Stream(key, counter)')
            status = library.hu_assign_demote(here, abi.address(record), _ratio(ratio), orders.index(order),
                                              stream_of(0 if stream is None else stream)._record())
        elif rule in ('high', 'uniform', 'operator', 'operator_prime'):
            status = getattr(library, 'hu_assign_' + rule)(here, abi.address(record))
        else:
            raise abi.HalfulpValueError(
                'rule: {!r} is not one of high, uniform, operator, operator_prime, demote'.format(rule))
        abi.check(status, 'Assignment')
        if keep_parameter_gradients:
            library.hu_assign_keep_parameter_gradients(here, abi.address(record))

    def _record(self) -> s.hu_assignment:
        kind = ctypes.POINTER(ctypes.c_uint8)
        return s.hu_assignment(*(array.ctypes.data_as(kind) for array in (self.v, self.dv, self.theta, self.dtheta)))

    @property
    def ratio(self) -> Tuple[int, int]:
        """Low elements among all, an exact fraction in lowest terms."""
        found = abi.train().hu_assign_ratio(abi.address(self.layout._c), abi.address(self._record()))
        return found.num, found.den

    def promote(self, over_v: Sequence[int], over_theta: Sequence[int],
                limit: Union[str, Tuple[int, int]] = '0.01') -> int:
        """Algorithm 2: forward tensors with a larger share of overflows than the limit become high; how many did."""
        m = self.layout.operators
        v, theta = np.array(over_v, np.uint64), np.array(over_theta, np.uint64)
        if v.shape != (m + 1,) or theta.shape != (m,):
            raise abi.HalfulpValueError('over_v, over_theta: {} and {} numbers instead of {} and {}'.format(v.size,
                theta.size, m + 1, m))
        return abi.train().hu_assign_promote(abi.address(self.layout._c), abi.address(self._record()), v.ctypes.data,
                                             theta.ctypes.data, _ratio(limit))


def _ratio(ratio: Union[str, Tuple[int, int]]) -> s.hu_ratio:
    if isinstance(ratio, str):
        made = s.hu_ratio()
        abi.check(abi.train().hu_ratio_parse(abi.address(made), abi.raw_text('ratio', ratio)), 'ratio', repr(ratio))
    else:
        made = s.hu_ratio(*ratio)
    if not abi.train().hu_ratio_usable(made):
        raise abi.HalfulpValueError('ratio: {!r} is not between 0 and 1 with a denominator up to 10^6'.format(ratio))
    return made
