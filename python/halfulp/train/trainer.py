# SPDX-License-Identifier: MIT
"""Whole training runs: a configuration in, logs as arrays, tensors between steps (halfulp/train/trainer.h)."""
from __future__ import annotations

import ctypes
import os
import signal
import threading
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _abi as abi
from .. import _structs as s
from . import checkpoint
from ._held import Held
from .checkpoint import State
from .config import Config, Entry, entries, keys, no_such_key
from .view import Counts, NetView, counts_of


class Report(NamedTuple):
    """What a step was like. The names are those of the columns of log.csv (docs/training/command.md, section 4)."""

    step: int  # steps so far, this one counted
    epoch: int  # from 0
    loss: float  # of the batch, before the step, without the factor of loss.power
    rate: float  # of the optimizer
    scale: float  # of the loss
    largest_gradient: float  # the largest finite magnitude among the gradients of parameters, without the loss scale
    norm: float  # their global norm before clipping; 0 where [gradient] asks for nothing, or the step is not taken
    taken: bool  # False: an infinity or a NaN among the gradients; only the loss scale moved
    skipped: int  # steps not taken so far
    moved: int  # weights with an update that is not zero
    lost: int  # those of them that stayed as they were
    forward: Counts  # of roundings of values, parameters and products
    backward: Counts  # of roundings of gradients
    low: float  # share of elements in low precision (assignments), else 0
    promoted: int  # tensors promoted so far


class Seen(NamedTuple):
    """What an evaluation found."""

    loss: float  # mean over all examples, without the factor of loss.power
    accuracy: float  # share of right answers; NaN where there are no classes
    r2: float  # 1 - squared errors / squared deviations from the mean; NaN where there are classes
    perplexity: float = float('nan')  # e to the loss; NaN where the network is no language model
    auc: float = float('nan')  # labels 0 and 1: area under the ROC curve, equal scores count half; else NaN
    hit: float = float('nan')  # test set of movielens: HR@10; else NaN
    ndcg: float = float('nan')  # test set of movielens: NDCG@10; else NaN
    bleu: float = float('nan')  # test set of parallel: BLEU, 0 to 100; else NaN, as with data.translate = no
    error_rate: float = float('nan')  # utterances: labels put in, left out or replaced, over all labels; else NaN


class Memory(NamedTuple):
    """Bytes of the tensors of a step."""

    weights: float  # master weights, and the copy that operators see where it is narrower
    state: float  # of the optimizer
    values: float
    gradients: float  # of values and parameters


_TOTALS = ('step', 'epoch', 'taken', 'skipped', 'moved', 'lost', 'promoted')
_SEEN = ('step', 'epochs', 'training_loss', 'training_accuracy', 'training_r2', 'test_loss', 'test_accuracy', 'test_r2')

# What evaluations of some runs have besides: the column, the set (0: training, 1: test, 2: test again), the field of `Seen`.
_Besides = Tuple[Tuple[str, int, str], ...]
_LANGUAGE: _Besides = (('training_perplexity', 0, 'perplexity'), ('test_perplexity', 1, 'perplexity'))
_PARALLEL: _Besides = _LANGUAGE + (('test_bleu', 1, 'bleu'),)
_SPEECH: _Besides = (('training_error_rate', 0, 'error_rate'), ('test_error_rate', 1, 'error_rate'))
_PAIRS: _Besides = (('training_auc', 0, 'auc'), ('test_auc', 1, 'auc'))
_AGAIN: _Besides = tuple(('again_' + field, 2, field) for field in ('loss', 'accuracy', 'r2'))
_RANKED: _Besides = _PAIRS + (('test_hit_rate_10', 1, 'hit'), ('test_ndcg_10', 1, 'ndcg'))


def _besides(config: Mapping[str, str]) -> _Besides:
    return _of_set(config) + (_AGAIN if config['run.again'] != 'none' else ())


def _of_set(config: Mapping[str, str]) -> _Besides:
    if config['data.set'] == 'ratings' and config['data.implicit'] == 'yes':
        return _PAIRS
    return {'text': _LANGUAGE, 'words': _LANGUAGE, 'parallel': _PARALLEL, 'movielens': _RANKED, 'criteo': _PAIRS,
            'clicks': _PAIRS, 'speech': _SPEECH, 'tones': _SPEECH}.get(config['data.set'], ())


class Log(Dict[str, np.ndarray]):
    """The steps of a run as arrays, one number a row: ``log['loss']`` is float64 (rows,).

    Columns are the fields of `Report`, with those of `Counts` behind "forward_" and "backward_" ("forward_overflow").
    Counts are int64, `taken` is bool, all others are float64. ``log.evaluations`` is a dict of the same kind, with the
    columns of evaluations.csv: step, epochs, training_loss, training_accuracy, training_r2, test_loss, test_accuracy,
    test_r2; those of language models, of pairs of users and items, and of `run.again` are behind them.
    """

    def __init__(self, reports: Sequence[Report] = (), seen: Sequence[Tuple[float, ...]] = (),
                 besides: _Besides = ()) -> None:
        super().__init__()
        for place, name in enumerate(Report._fields):
            column = [report[place] for report in reports]
            if name in ('forward', 'backward'):
                self.update(('{}_{}'.format(name, part), np.array([one[at] for one in column], np.int64))
                            for at, part in enumerate(Counts._fields))
            else:
                kind = np.bool_ if name == 'taken' else np.int64 if name in _TOTALS else np.float64
                self[name] = np.array(column, kind)
        self.evaluations: Dict[str, np.ndarray] = {
            name: np.array([row[at] for row in seen], np.int64 if name == 'step' else np.float64)
            for at, name in enumerate(_SEEN + tuple(column for column, _, _ in besides))}


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Ctrl-C waits for the step in hand: the function says whether it was pressed. A second one does not wait, and
    another handler than Python's own stays."""
    told: List[int] = []

    def hear(number: int, frame: Any) -> None:
        if told:
            raise KeyboardInterrupt
        told.append(number)

    if threading.current_thread() is not threading.main_thread() or (signal.getsignal(signal.SIGINT) is not
                                                                     signal.default_int_handler):
        yield lambda: False
        return
    signal.signal(signal.SIGINT, hear)
    try:
        yield lambda: bool(told)
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# Files that come with the library, by the data set that reads them where data.path is empty.
_SHIPPED = {'digits': 'digits_images.npy', 'text': 'xz_file_format.txt'}


class Trainer:
    """A training run that a configuration describes, as `halfulp train` makes it: the same keys, the same bits.

        with Trainer({'data.set': 'digits', 'precision.system': 's2fp8', 'run.epochs': 5}, folder='data') as trainer:
            log = trainer.run(evaluate_every=22)
            print(log['loss'][-1], log.evaluations['test_accuracy'][-1])

    Parameters
    ----------
    config : dict or path, optional
        {"section.key": value} or {"section": {"key": value}}, or the path of a configuration file
        (docs/training/command.md, section 2). Values are texts, numbers, bools (yes and no), objects with a `text` such as
        Format and Rounding, or lists of those, which are joined by commas. A key that is not set has its default; the
        function `keys` lists all. "precision.system" is set first, wherever it stands.
    changes : dict, optional
        Keys to be set after the configuration, as the option --set does: {"run.steps": 100}.
    folder : path, optional
        Where data files are looked for; default: the folder of the configuration file, or the current one. The digits
        and the text that come with halfulp are then looked for in ./data, too.

    A run is a function of its keys: the weights are the same, bit for bit, on every machine and for any number of
    threads. Data are loaded and weights drawn by the first call that needs them, or by `begin`. A trainer is one
    thread's at a time; a call from a second thread meanwhile raises HalfulpError. It is freed when nothing refers to
    it, or by `close`; ``run.device = cuda`` is not available from Python.

    HalfulpValueError: there is no such key (the error names a likely one), a value that a key does not take (the error
    says what it takes), a key twice, or a line of the file that is neither a section nor a key. Where a file is wrong,
    the error names its line. OSError: the file cannot be read.
    """

    def __init__(self, config: Config = None, changes: Optional[Mapping[str, Any]] = None, *,
                 folder: Union[str, 'os.PathLike[str]', None] = None) -> None:
        library = abi.train()
        listed = entries(config) + entries(changes)
        self._held = Held('trainer', library.hu_trainer_new(), library.hu_trainer_free)
        for entry in listed:
            self._set(entry)
        of_file = os.path.dirname(os.fspath(config)) if isinstance(config, (str, os.PathLike)) else ''
        self._folder = os.fspath(folder) if folder is not None else of_file or '.'
        self._net: Optional[NetView] = None
        self._rows: List[Report] = []
        self._seen: List[Tuple[float, ...]] = []
        self._besides = _besides(self.config)

    def _set(self, entry: Entry) -> None:
        where = entry.where or 'config'
        key, value = abi.raw_text(where, entry.key), abi.raw_text('{}: {}'.format(where, entry.key), entry.value)
        why = ctypes.create_string_buffer(s.DATA_WHY_MAX)
        with self._held as trainer:
            status = abi.train().hu_trainer_set(trainer, key, value, ctypes.addressof(why))
            known = abi.train().hu_trainer_get(trainer, key) is not None
        if not known:
            raise no_such_key(entry.where, entry.key)
        if status != s.OK:
            raise abi.told(status, where.encode() + b': ' + (why.value or key))

    # ---- the configuration ----

    @property
    def config(self) -> Dict[str, str]:
        """The values of all keys in force, in the order of `keys`; a configuration itself."""
        with self._held as trainer:
            return {key.name: abi.train().hu_trainer_get(trainer, key.name.encode()).decode() for key in keys()}

    def _where(self, config: Mapping[str, str]) -> str:
        """The folder of the data files."""
        file = _SHIPPED.get(config['data.set'])
        if not file or config['data.path'] or os.path.exists(os.path.join(self._folder, file)):
            return self._folder
        return 'data' if os.path.exists(os.path.join('data', file)) else self._folder

    # ---- the run ----

    def begin(self) -> 'Trainer':
        """Loads or makes the data, builds the network and draws its first weights; does nothing where the run has
        begun. Returns the trainer.

        HalfulpValueError: data that are missing or wrong, a network that does not fit them, keys that do not go
        together. The run has not begun then.
        """
        if self._net is None:
            folder = abi.raw_text('folder', self._where(self.config))
            why = ctypes.create_string_buffer(s.DATA_WHY_MAX)
            with self._held as trainer:
                if not abi.train().hu_trainer_net(trainer):
                    status = abi.train().hu_trainer_begin(trainer, folder, ctypes.addressof(why))
                    if status != s.OK:
                        raise abi.told(status, why.value, 'begin')
                self._net = NetView(self._held, abi.train().hu_trainer_net)
        return self

    def _number(self, name: str) -> int:
        self.begin()
        with self._held as trainer:
            return getattr(abi.train(), name)(trainer)

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return self._number('hu_trainer_steps')

    @property
    def steps_an_epoch(self) -> int:
        """Steps of an epoch."""
        return self._number('hu_trainer_steps_an_epoch')

    @property
    def at(self) -> int:
        """Steps done so far."""
        return self._number('hu_trainer_at')

    @property
    def done(self) -> bool:
        """Whether all steps are done."""
        return bool(self._number('hu_trainer_done'))

    @property
    def net(self) -> NetView:
        """The tensors of the network, by name, to be read between steps, and weights to be set.

        With parallel.shards above 1, values and their gradients are those of the last shard; gradients of parameters
        are those of the whole batch.
        """
        self.begin()
        assert self._net is not None
        return self._net

    def describe(self) -> str:
        """The layers of the network as a text, one per line, with shapes and numbers of parameters (`Net.describe`)."""
        self.begin()
        with self._held as trainer:
            call = abi.train().hu_trainer_describe
            buffer = ctypes.create_string_buffer(call(trainer, None, None, 0, None) + 1)
            call(trainer, None, buffer, len(buffer), None)
        return buffer.value.decode()

    def step(self) -> Report:
        """One step; the report stands in `log`, too.

        HalfulpValueError: all steps are done, or the step failed, or an earlier one did. After a step that failed only
        `load` and `load_state_dict` continue the run.
        """
        report = self._step()
        self._rows.append(report)
        return report

    def _step(self) -> Report:
        if self.done:
            raise abi.HalfulpValueError('step: all {} steps of the run are done; run.epochs and run.steps set '
                                        'their number'.format(self.steps))
        record = s.hu_trainer_report()
        with self._held as trainer:
            abi.check(abi.train().hu_trainer_step(trainer, abi.address(record)), 'step')
        return _report(record)

    def run(self, steps: Optional[int] = None, *, every: int = 1, evaluate_every: Optional[int] = None,
            callback: Optional[Callable[[Report], Any]] = None) -> Log:
        """Makes steps up to the end of the run, or so many of them.

        Parameters
        ----------
        steps : int, optional
            How many; fewer where the run ends before.
        every : int
            The log gets the steps whose number is a multiple of this, and the last one of this call.
        evaluate_every : int, optional
            An evaluation on both sets after each step whose number is a multiple of this, and after the last one of
            the run. Without it there is none. It changes no weights.
        callback : callable, optional
            Called with the report of each step; what it returns, if true, ends the call. It may look at the trainer,
            evaluate and save.

        Returns
        -------
        Log
            The rows of this call. `log` has those of all calls.

        Ctrl-C (SIGINT, in the main thread) raises KeyboardInterrupt after the step in hand. So does an exception of
        the callback end the call: rows are in `log`, and the next call of `run` continues with the next step.
        """
        for argument, number in (('every', every), ('evaluate_every', evaluate_every)):
            if number is not None and number < 1:
                raise abi.HalfulpValueError('{}: {} is not 1 or more'.format(argument, number))
        if steps is not None and steps < 0:
            raise abi.HalfulpValueError('steps: {} is below 0'.format(steps))
        last = self.steps if steps is None else min(self.steps, self.at + steps)
        rows, seen = len(self._rows), len(self._seen)
        with _interrupts() as is_told:
            ends = False
            while self.at < last and not ends:
                ends = self._one(last, every, evaluate_every, callback)
                if is_told():
                    raise KeyboardInterrupt
        return Log(self._rows[rows:], self._seen[seen:], self._besides)

    def _one(self, last: int, every: int, evaluate_every: Optional[int],
             callback: Optional[Callable[[Report], Any]]) -> bool:
        """A step of `run`; whether the callback ends it."""
        report = self._step()
        expected = report.step == last or report.step % every == 0
        if expected:
            self._rows.append(report)
        if evaluate_every and (report.step % evaluate_every == 0 or self.done):
            again = self.config['run.again']
            seen = [self.evaluate('train'), self.evaluate('test')]
            if again != 'none':
                seen.append(self.evaluate('test', averaged=again != 'weights', rounded=again != 'binary32'))
            besides = [getattr(seen[at], field) for _, at, field in self._besides]
            self._seen.append((report.step, report.step / self.steps_an_epoch, *seen[0][:3], *seen[1][:3], *besides))
        ends = bool(callback(report)) if callback else False
        if ends and not expected:
            self._rows.append(report)
        return ends

    @property
    def log(self) -> Log:
        """The rows of all steps and evaluations that `step` and `run` have recorded so far."""
        return Log(self._rows, self._seen, self._besides)

    def evaluate(self, on: str = 'test', *, averaged: bool = True, rounded: bool = True) -> Seen:
        """Loss and accuracy (or R^2) of the test set, or of the training set.

        Parameters
        ----------
        on : "test" or "train"
        averaged : bool
            with `optimizer.average`: of the averages of the weights. False: of the weights themselves.
        rounded : bool
            False: nothing is rounded, and products are sums of binary32, whatever the run's precision is.

        Dropout is off, norms have running statistics. No weights change; ``net.values()`` are then those of this pass.
        """
        if on not in ('train', 'test'):
            raise abi.HalfulpValueError('on: {!r} is neither train nor test'.format(on))
        self.begin()
        record = s.hu_trainer_seen()
        with self._held as trainer:
            place = s.ON_TEST if on == 'test' else s.ON_TRAINING
            how = (0 if averaged else s.SEE_WEIGHTS) | (0 if rounded else s.SEE_BINARY32)
            abi.check(abi.train().hu_trainer_evaluate_as(trainer, place, how, abi.address(record)), 'evaluate')
        return Seen(*(getattr(record, name) for name in Seen._fields))

    # ---- figures ----

    @property
    def digest(self) -> str:
        """16 hexadecimal digits: FNV-1a over the bits of all weights, as `halfulp train` prints it."""
        return '{:016x}'.format(self._number('hu_trainer_digest'))

    @property
    def data_digest(self) -> str:
        """16 hexadecimal digits: FNV-1a over the numbers, labels and tokens that the run reads."""
        return '{:016x}'.format(self._number('hu_trainer_data_digest'))

    def _memory(self, name: str) -> Memory:
        self.begin()
        with self._held as trainer:
            record = getattr(abi.train(), name)(trainer)
        return Memory(record.weights, record.state, record.values, record.gradients)

    @property
    def memory(self) -> Memory:
        """Bytes as a system stores them that keeps operands and results of products as codes (trainer.h)."""
        return self._memory('hu_trainer_memory_of')

    @property
    def stored(self) -> Memory:
        """Bytes by the roundings of the tensors alone, operands of products in binary32."""
        return self._memory('hu_trainer_stored_of')

    # ---- stopping and continuing ----

    def state_dict(self) -> Dict[str, Any]:
        """All that the next step depends on: {"state": texts by name, "tensors": float32 arrays (rows, cols) by name}.

        Tensors are weights ("conv1.weight"), and where the optimizer has them "conv1.weight.momentum", ".second" and
        ".kahan", averages of weights (".averaged"), residuals of error feedback, and running statistics of norms.
        """
        self.begin()
        library = abi.train()
        with self._held as trainer:
            size = library.hu_trainer_state(trainer, None, 0) + 1
            text = ctypes.create_string_buffer(size)
            library.hu_trainer_state(trainer, ctypes.addressof(text), size)
            slots = self._slots(trainer)
            tensors = {name: self._read(trainer, place, shape) for place, (name, shape) in enumerate(slots)}
        return State(checkpoint.of_lines(text.value.decode()), tensors)._asdict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a state of `state_dict`, of a run with the same keys; run.epochs and run.steps may differ.

        Later steps have the bits of a run that was never stopped; rows of `log` behind the state's step are dropped.
        HalfulpValueError: a state of other keys (the error names the first one), tensors that are missing or have
        another shape, a length that this run cannot have. Nothing is changed then.
        """
        self.begin()
        if not all(isinstance(state.get(name), Mapping) for name in State._fields):
            raise abi.HalfulpValueError('state: it has no dicts "state" and "tensors", as state_dict makes them')
        given = State(dict(state['state']), dict(state['tensors']))
        before = self.state_dict()
        with self._held as trainer:
            slots = self._slots(trainer)
            self._same_keys(given.state)
            arrays = [_of_shape(name, shape, given.tensors) for name, shape in slots]
            try:
                self._write(trainer, arrays)
                self._resume(trainer, given.state)
            except BaseException as error:  # Ctrl-C, too, leaves nothing half-done
                self._write(trainer, [before['tensors'][name] for name, _ in slots])
                if not isinstance(error, abi.HalfulpError):  # which comes before the state is changed
                    self._resume(trainer, before['state'])
                raise
        self._rows = [row for row in self._rows if row.step <= self.at]
        self._seen = [row for row in self._seen if row[0] <= self.at]

    def _slots(self, trainer: int) -> List[Tuple[str, Tuple[int, int]]]:
        library = abi.train()
        records = [library.hu_trainer_tensor_at(trainer, place)
                   for place in range(library.hu_trainer_tensor_count(trainer))]
        return [(record.name.decode(), (record.rows, record.cols)) for record in records]

    def _read(self, trainer: int, place: int, shape: Tuple[int, int]) -> np.ndarray:
        made = np.empty(shape, np.float32)
        abi.check(abi.train().hu_trainer_read(trainer, place, made.ctypes.data), 'state')
        return made

    def _write(self, trainer: int, arrays: Sequence[np.ndarray]) -> None:
        for place, array in enumerate(arrays):
            abi.check(abi.train().hu_trainer_write(trainer, place, array.ctypes.data), 'state')

    def _same_keys(self, state: Mapping[str, str]) -> None:
        """The error for another network names its key, not a missing tensor. Lengths are compared later."""
        here = self.config
        for key in keys():
            there = state.get(key.name)
            differs = there is not None and there != here[key.name] and key.name not in ('run.epochs', 'run.steps')
            if key.weights and differs:
                raise abi.HalfulpValueError('state: that of another configuration: {} is {!r} there, {!r} here'.format(
                    key.name, there, here[key.name]))

    def _resume(self, trainer: int, state: Mapping[str, str]) -> None:
        text = abi.raw_text('state', checkpoint.lines_of(state))
        why = ctypes.create_string_buffer(s.DATA_WHY_MAX)
        status = abi.train().hu_trainer_resume(trainer, text, ctypes.addressof(why))
        if status != s.OK:
            raise abi.told(status, b'state: ' + why.value if why.value else b'', 'state')

    def save(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """Writes the state as a safetensors file, which other programs can read the weights from. The file appears
        complete or not at all. OSError: it cannot be written."""
        checkpoint.write(os.fspath(path), State(**self.state_dict()))

    def load(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """`load_state_dict` from a file of `save`, or from the checkpoint.safetensors of `halfulp train`.

        OSError: it cannot be read. HalfulpValueError: it is no checkpoint, or it does not fit; nothing is changed then.
        """
        self.load_state_dict(checkpoint.read(os.fspath(path))._asdict())

    def close(self) -> None:
        """Frees the trainer and its data; read-only views of tensors keep their memory. Later calls raise
        HalfulpValueError, and `log` can still be read."""
        self._held.close()

    def __enter__(self) -> 'Trainer':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._held.closed:
            return 'Trainer(closed)'
        return 'Trainer(step {} of {})'.format(self.at, self.steps) if self._net else 'Trainer(not begun)'


def _report(record: s.hu_trainer_report) -> Report:
    return Report(record.step, record.epoch, record.loss, record.rate, record.scale, record.largest, record.norm,
                  bool(record.taken), record.skipped, record.updates.moved, record.updates.lost,
                  counts_of(record.forward), counts_of(record.backward), record.low, record.promoted)


def _of_shape(name: str, shape: Tuple[int, int], tensors: Mapping[str, Any]) -> np.ndarray:
    if name not in tensors:
        raise abi.HalfulpValueError('state: tensor {!r} is missing'.format(name))
    array = np.asarray(tensors[name])
    if array.dtype != np.float32 or array.shape != shape:
        raise abi.HalfulpValueError('state: tensor {!r} is {} of shape {} instead of float32 of {}'.format(name,
            array.dtype, array.shape, shape))
    return np.ascontiguousarray(array)
