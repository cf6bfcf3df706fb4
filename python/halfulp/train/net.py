# SPDX-License-Identifier: MIT
"""Networks of the papers on arrays of one's own (halfulp/train/net.h, model.h)."""
from __future__ import annotations

import ctypes
import fnmatch
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from .. import _abi as abi
from .. import _host as host
from .. import _structs as s
from ..accum import Accumulator, AccumulatorLike
from ..scaling import Rounding, RoundingLike
from ._held import Held
from .pieces import LossScaler, Optimizer
from .sequences import sequences_of
from .view import NetView


class Update(NamedTuple):
    """What a step of the optimizer did."""

    taken: bool  # False: an infinity or a NaN among the gradients; only the loss scale moved
    moved: int  # weights with an update that is not zero
    lost: int  # those of them that stayed as they were


_LOSSES = ('cross_entropy', 'squared_error', 'absolute_error', 'logistic', 'smooth_l1', 'ctc')
_SMOOTHING = ('all', 'others')
_OPERANDS = ('x', 'w', 'dz', 'w_back', 'x_back', 'dz_w', 'z_out', 'dx_out', 'dw_out')
_MODELS = ('z_accum', 'dx_accum', 'dw_accum')
_NUMBERS = {'hadamard': 128, 'signs': 2**32 - 1, 'by_window': 1, 'twice': 1, 'quartet': 2, 'w_average': 1}  # with the largest
Names = Union[str, Sequence[str], None]


class Net(NetView):
    """A network of the papers on batches of one's own, step by step, each tensor with a precision of its own.

        net = Net('mlp(layers=1,units=32)', batch=64, width=64, outputs=10, seed=1)
        net.round_values('float8_e4m3fn', 'float8_e5m2')
        optimizer, scaler = Optimizer('sgd', rate=0.1), LossScaler('static(1024)')
        for x, labels in batches:
            loss = net.forward(x, labels)
            net.backward(scaler.scale)
            net.update(optimizer, scaler)

    Parameters
    ----------
    model : str
        A text of halfulp/train/model.h: "mlp(layers=2,units=64)", "conv(channels=8/16)", "resnet20", "gru", "lstm",
        "transformer", "ncf", ...; or a text of layers, of several lines (docs/training/networks.md)
    batch : int
        Samples of a batch.
    loss : "cross_entropy", "squared_error", "absolute_error", "logistic", "smooth_l1" or "ctc"
        The last operator, of weight `loss_weight` (net.h): a mean over the rows of the batch. An output of the text that has a
        weight gets a loss of the same kind, and the loss is their sum.
    smoothing, smoothing_over, less_minimum : float, "all" or "others", bool
        Of cross entropy: the share of a label that is spread (hu_net_cross_entropy_smoothed).
    beta : float
        Of smooth_l1: from this distance on it is linear.
    blank, by_length, zero_infinite : int, bool, bool
        Of ctc: the column that is no label; each sample's loss over its number of labels; a loss of 0 where no steps
        hold them (hu_net_ctc). The steps of samples are those of the text's `output x within n`.
    seed : int
        Of first weights, and of random words of stochastic roundings, which depend on tensor and step.
    threads : int
        No bits depend on them.
    keys : str
        Values of the keys of a text of layers: "width=0.25,stages=2/2".
    **sizes : int
        What the data are, as the model requires it: height, width, channels (1 each where only some are given); steps,
        vocabulary; users, items; and outputs.

    Every rounding is `keep` and every accumulation model `fp32` at first. A net is one thread's at a time.
    HalfulpValueError: a model that does not exist or does not fit its sizes.
    """

    def __init__(self, model: str, *, batch: int, loss: str = 'cross_entropy', seed: int = 0, threads: int = 1,
                 keys: str = '', smoothing: float = 0.0, smoothing_over: str = 'all', less_minimum: bool = False,
                 beta: float = 1.0, blank: int = 0, by_length: bool = False, zero_infinite: bool = False,
                 loss_weight: float = 1.0, **sizes: int) -> None:
        library, record = abi.train(), s.hu_model()
        for argument, word, words in (('loss', loss, _LOSSES), ('smoothing_over', smoothing_over, _SMOOTHING)):
            if word not in words:
                raise abi.HalfulpValueError('{}: {!r} is not one of {}'.format(argument, word, ', '.join(words)))
        if smoothing and loss != 'cross_entropy':
            raise abi.HalfulpValueError('smoothing: {} has none'.format(loss))
        self._how = [smoothing, _SMOOTHING.index(smoothing_over) | 2 * bool(less_minimum)] if smoothing else [
            beta] if loss == 'smooth_l1' else []
        self._weight, self._blank, self._switches = loss_weight, blank, bool(by_length) | 2 * bool(zero_infinite)
        for argument, number, most in (('batch', batch, 2**32), ('threads', threads, s.THREADS_MAX)):
            if not 1 <= number <= most:
                raise abi.HalfulpValueError('{}: {} is not 1 to {}'.format(argument, number, most))
        if not 0 <= seed < 2**64:
            raise abi.HalfulpValueError('seed: {} is not 0 to 2^64 - 1'.format(seed))
        _read_model(record, model, keys)
        self._record, self._sizes = record, _sizes_of(sizes)
        self._ends, self._batch, self._loss = s.hu_model_ends(), batch, loss
        held = Held('net', library.hu_net_new(batch, threads), library.hu_net_free)
        with held as net:
            self._build(net, record, self._sizes)
            abi.check(library.hu_net_initialize(net, seed), 'Net')
        super().__init__(held, lambda net: net)

    def _build(self, net: int, record: s.hu_model, sizes: s.hu_model_sizes) -> None:
        library, why = abi.train(), ctypes.c_char_p()
        status = library.hu_model_build(net, abi.address(record), abi.address(sizes), abi.address(self._ends),
                                        ctypes.addressof(why))
        if status == s.OK:
            call = getattr(library, 'hu_net_' + self._loss + '_smoothed' * (len(self._how) == 2))
            how = [self._blank, self._ends.lengths, self._switches] if self._loss == 'ctc' else self._how
            call(net, self._ends.output, self._weight, *how)
            for place in range(self._ends.head_count):
                call(net, self._ends.heads[place], self._weight * self._ends.head_weights[place], *how)
            status = library.hu_net_status(net, ctypes.addressof(why))
        if status != s.OK:
            raise abi.told(status, b'model: ' + (why.value or b'it cannot be built'))
        inputs = [library.hu_net_value(net, number) for number in self._ends.inputs[:self._ends.count]]
        self._tokens = [number for place, number in enumerate(self._ends.inputs[:self._ends.count])
                        if self._ends.tokens >> place & 1]  # values
        self._each = sum(x.rows * x.cols for x in inputs) // self._batch  # numbers that a sample has

    def describe(self) -> str:
        """The layers as a text, one per line, with shapes and numbers of parameters; Net(text, ...) has the same bits."""
        call, record, sizes = abi.train().hu_model_describe, abi.address(self._record), abi.address(self._sizes)
        buffer = ctypes.create_string_buffer(call(None, 0, record, sizes) + 1)
        call(buffer, len(buffer), record, sizes)
        return buffer.value.decode()

    # ---- precision ----

    def _chosen(self, names: Names, among: Sequence[str], what: str) -> List[int]:
        """Numbers of the tensors that patterns name; None: all of them."""
        found: List[int] = []
        for pattern in ['*'] if names is None else [names] if isinstance(names, str) else names:
            some = [place for place, name in enumerate(among) if fnmatch.fnmatchcase(name, pattern)]
            if not some:
                raise abi.HalfulpValueError('names: {!r} is not a {}; there are {}'.format(pattern, what,
                    ', '.join(among)))
            found += some
        return sorted(set(found))

    def round_values(self, v: RoundingLike = 'keep', dv: RoundingLike = 'keep', names: Names = None) -> None:
        """How values and their gradients are rounded from now on: a value after its operator, a gradient after its sum.

        Parameters
        ----------
        v, dv : Rounding or str
            "keep", "float8_e5m2,sra:16", "mxfp8_e4m3", ...
        names : str or list of str, optional
            Values, or patterns: "*.relu". Without it: all of them but tokens and the loss.
        """
        numbers = self._chosen(names, self.value_names, 'value')
        if names is None:
            numbers = [number for number in numbers[:-1] if number not in self._tokens]
        self._round('hu_net_round_value', numbers, v, dv)

    def round_parameters(self, theta: RoundingLike = 'keep', dtheta: RoundingLike = 'keep',
                         names: Names = None) -> None:
        """How the parameters that operators see, and their gradients, are rounded from now on.

        Parameters
        ----------
        theta, dtheta : Rounding or str
        names : str or list of str, optional
            Parameters, or patterns: "*.weight". Without it: all of them.
        """
        self._round('hu_net_round_parameter', self._chosen(names, self.parameter_names, 'parameter'), theta, dtheta)

    def _round(self, call: str, numbers: List[int], there: RoundingLike, back: RoundingLike) -> None:
        two = [Rounding(there)._c, Rounding(back)._c]
        with self._held as net:
            for number in numbers:
                abi.check(getattr(abi.train(), call)(net, number, abi.address(two[0]), abi.address(two[1])), call[3:])

    def round_products(self, names: Names = None, *, accum: AccumulatorLike = 'fp32', **how: Any) -> None:
        """How the three products of linear layers, convolutions and attention are computed from now on: Z = X W,
        dX = dZ W^T and dW = X^T dZ. What is not given is `keep`, 0, or for the models `accum`.

        Parameters
        ----------
        names : str or list of str, optional
            Values that products make, or patterns: "*.conv". Without it: all of them.
        x, w, dz, w_back, x_back, dz_w : Rounding or str
            Of the operands of Z, of dX (dz, w_back) and of dW (x_back, dz_w).
        z_out, dx_out, dw_out : Rounding or str
            Of the results.
        accum, z_accum, dx_accum, dw_accum : Accumulator or str
            How sums are made; z_accum, dx_accum, dw_accum for one product each.
        hadamard, signs, by_window, twice, quartet, w_average : number
            As in hu_product_rounding (net.h).
        """
        record = _products_of(accum, how)
        with self._held as net:
            counts = (s.hu_rounding_counts * 2)()
            made = [name for number, name in enumerate(self.value_names)
                    if abi.train().hu_net_product_counts(net, number, ctypes.addressof(counts))]
            for place in self._chosen(names, made, 'value of a product'):
                number = self.value_names.index(made[place])
                abi.check(abi.train().hu_net_round_product(net, number, abi.address(record)), made[place])

    def leave_to_adamw(self, names: Names) -> None:
        """Parameters, or patterns of them ("*.weight"), that AdamW updates where the optimizer is Muon, though products
        multiply by them; the last layer of a classifier, say. Those without a product are AdamW's in any case."""
        with self._held as net:
            for number in self._chosen(names, self.parameter_names, 'parameter'):
                abi.check(abi.train().hu_net_muon_parameter(net, number, 0), self.parameter_names[number])

    def set_rules(self, names: Names, rate: float = 1, decay: float = 1, unclipped: bool = False,
                  lazy: bool = False) -> None:
        """How parameters, or patterns of them ("*.bias"), are updated otherwise than others.

        Parameters
        ----------
        names : str or list of str
            Parameters, or patterns.
        rate, decay : float
            Factors of the optimizer's rate and decay: ``set_rules('*.bias', rate=2, decay=0)``.
        unclipped : bool
            The norm that clips does not count their gradients, and does not change them.
        lazy : bool
            Rows whose gradients are all 0 stay as they are: rows of embeddings that a batch does not have.
        """
        rule = s.hu_parameter_rule(rate, decay, unclipped, lazy)
        with self._held as net:
            for number in self._chosen(names, self.parameter_names, 'parameter'):
                abi.check(abi.train().hu_net_rule_parameter(net, number, abi.address(rule)), self.parameter_names[number])

    # ---- steps ----

    def _numbers(self, x: Any) -> np.ndarray:
        """A batch of inputs as float32; numbers of tokens are exact there."""
        whole = self._tokens and np.asarray(x).dtype.kind in 'iu'
        numbers = np.ascontiguousarray(np.asarray(x, np.float32) if whole else host.float32('x', x))
        if numbers.shape[:1] != (self._batch,) or numbers.size != self._batch * self._each:
            raise abi.HalfulpValueError('x: shape {} instead of {} samples of {} numbers'.format(numbers.shape,
                self._batch, self._each))
        return numbers

    def _compare(self, net: int, y: Any) -> None:
        """Gives the loss its labels or targets."""
        out = abi.train().hu_net_value(net, self._ends.output)
        if self._loss == 'ctc':
            abi.check(abi.train().hu_net_labels(net, sequences_of(y, self._batch, out.rows // self._batch).ctypes.data), 'y')
            return
        columns, labels = out.cols, np.asarray(y)
        if self._loss == 'logistic' and columns == 1 and labels.dtype.kind in 'iu':
            columns = 2
        if self._loss == 'cross_entropy' or columns != out.cols:
            if labels.dtype.kind not in 'iu' or labels.size != out.rows or labels.shape[:1] != (self._batch,):
                raise abi.HalfulpValueError('y: {} of shape {} instead of {} whole numbers, labels'.format(labels.dtype,
                    labels.shape, out.rows))
            if labels.min() < -1 or labels.max() >= columns:
                raise abi.HalfulpValueError('y: a label that is not 0 to {}, nor -1 for none'.format(columns - 1))
            if labels.max() < 0:
                raise abi.HalfulpValueError('y: no row has a label')
            words = np.where(labels < 0, s.LABEL_NONE, labels).astype(np.uint32)
            abi.check(abi.train().hu_net_labels(net, words.ctypes.data), 'y')
            return
        targets = np.ascontiguousarray(host.float32('y', y))
        if targets.size != out.rows * out.cols or targets.shape[:1] != (self._batch,):
            raise abi.HalfulpValueError('y: shape {} instead of {} rows of {} targets'.format(targets.shape, out.rows,
                out.cols))
        abi.check(abi.train().hu_net_targets(net, targets.ctypes.data), 'y')

    def _weigh(self, net: int, weights: Any) -> None:
        """Gives each row of the output its weight; None: 1."""
        rows = abi.train().hu_net_value(net, self._ends.output).rows
        numbers = None if weights is None else np.ascontiguousarray(host.float32('weights', weights))
        if numbers is not None and numbers.size != rows:
            raise abi.HalfulpValueError('weights: {} numbers instead of {}, one per row'.format(numbers.size, rows))
        abi.check(abi.train().hu_net_row_weights(net, None if numbers is None else numbers.ctypes.data), 'weights')

    def _pass(self, net: int, x: np.ndarray, training: bool) -> float:
        """A pass over a batch; the loss."""
        loss, library = ctypes.c_float(), abi.train()
        abi.check(library.hu_model_feed(net, abi.address(self._ends), x.ctypes.data), 'x')
        what = 'tokens are whole numbers below the size of their table' if self._tokens else ''
        abi.check(library.hu_net_forward(net, int(training), ctypes.addressof(loss)), 'x', what)
        return loss.value

    def forward(self, x: Any, y: Any, training: bool = True, weights: Any = None) -> float:
        """A pass over a batch; the loss, before its rounding.

        Parameters
        ----------
        x : array (batch, ...)
            float32 numbers of each sample in the order of the model's sizes (height, width, channels), or tokens
            (batch, steps), or pairs of user and item (batch, 2). seq2seq: the source's tokens, how many of them are no
            padding, and the target's tokens, side by side (batch, 2 steps + 1). dlrm: dense numbers, then categories.
        y : array (batch, ...)
            Labels, whole numbers below `outputs`, one per row of the output, and -1 for a row that the loss leaves out
            (padding, words that are not asked for); or targets, as large as the output. logistic takes either: labels 0
            and 1 of one column, or targets from 0 to 1. ctc takes a sequence of labels for each sample; -1 may follow.
        training : bool
            False: as in evaluation: running statistics, no dropout; a backward pass is not possible then.
        weights : array, optional
            A weight from 0 on for each row of the output, of its loss and gradients; the mean divides by their sum.

        HalfulpValueError: a shape, a label or a token that does not fit; then no pass was made.
        """
        numbers = self._numbers(x)
        with self._held as net:
            self._compare(net, y)
            self._weigh(net, weights)
            return self._pass(net, numbers, training)

    def predict(self, x: Any) -> np.ndarray:
        """The output for a batch, in evaluation: float32 (rows, outputs), a copy."""
        numbers = self._numbers(x)
        with self._held as net:
            self._pass(net, numbers, False)
            return self.output

    @property
    def output(self) -> np.ndarray:
        """What the last pass put out, without a softmax: float32 (rows, outputs), a copy."""
        return self._look(self.value_names[self._ends.output], True)[0]

    def greedy(self) -> List[List[int]]:
        """Of each sample the labels that the largest numbers of the last pass read, by the rules of ctc; no steps behind
        its end."""
        out, found = self.output, []
        steps = len(out) // self._batch
        lengths = self._look(self.value_names[self._ends.lengths], True)[0][:, 0] if self._ends.lengths >= 0 else np.full(self._batch, steps)
        for sample, length in enumerate(lengths):
            n = steps if not length < steps else max(int(length), 0)
            x, labels = np.ascontiguousarray(out[sample * steps:sample * steps + n]), np.zeros(n + 1, np.uint32)
            count = abi.train().hu_ctc_greedy(n, out.shape[1], x.ctypes.data, self._blank, labels.ctypes.data)
            found.append([int(label) for label in labels[:count]])
        return found

    def backward(self, scale: float = 1.0) -> None:
        """Gradients of `scale` times the loss of the pass before. HalfulpValueError: that was none of training."""
        with self._held as net:
            abi.check(abi.train().hu_net_backward(net, scale), 'backward')

    def update(self, optimizer: Optimizer, scaler: Optional[LossScaler] = None) -> Update:
        """A step of all parameters with the gradients of the last backward pass, times 1 / scale.

        Parameters
        ----------
        optimizer : Optimizer
            Its kind, formats, rounding and numbers. The net keeps momenta itself, and draws random words of its own
            seed: the optimizer's arrays and stream are not used.
        scaler : LossScaler, optional
            It has the scale of the backward pass, says whether the step is taken, and moves. Without it: scale 1, and
            every step is taken.

        HalfulpValueError: there was no backward pass since the last update; nothing is changed then.
        """
        if not isinstance(optimizer, Optimizer):
            raise abi.HalfulpTypeError('optimizer: give an Optimizer, not {}'.format(type(optimizer).__name__))
        scaler = LossScaler('none') if scaler is None else scaler
        counts, taken = s.hu_update_counts(), ctypes.c_int()
        with self._held as net:
            status = abi.train().hu_net_update(net, abi.address(optimizer._c), abi.address(scaler._rule),
                                               abi.address(scaler._state), abi.address(counts),
                                               ctypes.addressof(taken))
        abi.check(status, 'update')
        return Update(bool(taken.value), counts.moved, counts.lost)

    def forget_states(self) -> None:
        """Lets the next pass begin with zeros in the recurrent layers whose states are carried from pass to pass."""
        with self._held as net:
            abi.check(abi.train().hu_net_forget_states(net), 'forget_states')

    def forget_counts(self) -> None:
        """Sets the counts of all roundings to zero."""
        with self._held as net:
            abi.train().hu_net_forget_counts(net)

    def close(self) -> None:
        """Frees the net; read-only views keep its memory. Later calls raise HalfulpValueError. Without it the net is
        freed when nothing refers to it."""
        self._held.close()

    def __enter__(self) -> 'Net':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _read_model(record: s.hu_model, model: str, keys: str) -> None:
    """Reads a name, or a text of layers, whose bytes stay with the record."""
    where, raw = ctypes.c_size_t(0), abi.raw_text('model', model)
    if b'\n' not in raw:
        if keys:
            raise abi.HalfulpValueError('keys: they are those of a text of layers, and model is a name')
        abi.parse('model', model, abi.train().hu_model_parse, record)
        return
    status = abi.train().hu_model_parse(abi.address(record), raw, ctypes.addressof(where))
    if status != s.OK:
        line, rest = raw[:where.value].count(b'\n') + 1, raw[where.value:].decode(errors='replace').partition('\n')[0]
        raise abi.error(status, 'model', 'line {}, from {!r} on'.format(line, rest[:60]))
    record.text, record.settings = raw, abi.raw_text('keys', keys) or None


def _sizes_of(sizes: Dict[str, int]) -> s.hu_model_sizes:
    names = [name for name, _ in s.hu_model_sizes._fields_]
    made = s.hu_model_sizes()
    for name, size in sizes.items():
        if name not in names:
            raise abi.HalfulpTypeError('Net: there is no argument {!r}; sizes are {}'.format(name, ', '.join(names)))
        if not 0 <= size <= 2**32:
            raise abi.HalfulpValueError('{}: {} is not 0 to 2^32'.format(name, size))
        setattr(made, name, size)
    if any(name in sizes for name in names[:3]):
        for name in names[:3]:
            setattr(made, name, getattr(made, name) or 1)
    return made


def _products_of(accum: AccumulatorLike, how: Dict[str, Any]) -> s.hu_product_rounding:
    record = abi.train().hu_product_rounding_plain()
    for name in _MODELS:
        setattr(record, name, Accumulator(how.get(name, accum))._c)
    for name, value in how.items():
        if name in _OPERANDS:
            setattr(record, name, Rounding(value)._c)
        elif name in _NUMBERS:
            if not 0 <= value <= _NUMBERS[name]:
                raise abi.HalfulpValueError('{}: {} is not 0 to {}'.format(name, value, _NUMBERS[name]))
            setattr(record, name, value)
        elif name not in _MODELS:
            raise abi.HalfulpTypeError('round_products: there is no argument {!r}; there are {}'.format(name,
                ', '.join(_OPERANDS + ('accum',) + _MODELS + tuple(_NUMBERS))))
    return record
