# SPDX-License-Identifier: MIT
"""The tensors of a network by name (halfulp/train/net.h)."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _abi as abi
from .. import _host as host
from .. import _structs as s
from ._held import Held
from .checkpoint import read_weights, write_weights


class Counts(NamedTuple):
    """What roundings of tensors met: elements rounded, those above the largest number of their format, and events."""

    elements: int
    over: int
    overflow: int
    saturated: int
    underflow: int
    to_zero: int
    subnormal: int
    inexact: int
    invalid: int
    nan_in: int
    inf_in: int
    divide_by_zero: int


def counts_of(record: s.hu_rounding_counts) -> Counts:
    """The counts of a C record."""
    events = [getattr(record.events, name) for name in Counts._fields[2:]]
    return Counts(record.elements, record.over, *events)


class Tensor(NamedTuple):
    """A value or a parameter: matrices of one shape, and the counts of their roundings."""

    numbers: np.ndarray  # float32 (rows, cols); of a parameter the master weights
    gradient: np.ndarray  # float32 (rows, cols), rounded
    forward: Counts  # of roundings of numbers
    backward: Counts  # of roundings of gradients


class NetView:
    """The tensors of a network, by name: `Trainer.net`, and the base of `Net`.

    A parameter has its name in checkpoints and configurations: "conv1.weight"; "conv1" is its layer. A value is what an
    operator made: "3.relu" is value 3, made by an operator of the kind `relu`. Inputs, and zeros that a network begins
    with, are "0.input". docs/training/training.md, section 3, has the kinds; attention is "scores", "softmax" and "mix".

    All tensors are float32 matrices (rows, cols). A value has the rows of the samples of a batch, one sample after
    another; images have one row per pixel.

    Arrays are copies unless ``copy=False``. Those are read-only views of the network's own memory: they change with it,
    and they keep that memory, also after `close`. HalfulpValueError: no tensor of that name; or the network is closed.
    HalfulpError: another thread is using the network.
    """

    def __init__(self, held: Held, address: Callable[[int], int]) -> None:
        self._held, self._address = held, address
        with held as owner:
            net, library = address(owner), abi.train()
            kinds = [library.hu_net_value_kind(net, number).decode() for number in range(library.hu_net_values(net))]
            self.value_names: List[str] = ['{}.{}'.format(number, kind or 'input') for number, kind in enumerate(kinds)]
            self.parameter_names: List[str] = [library.hu_net_parameter_name(net, number).decode()
                                               for number in range(library.hu_net_parameters(net))]

    @property
    def layers(self) -> List[str]:
        """Names of the layers that have parameters, in order: "conv1" of "conv1.weight"."""
        return list(dict.fromkeys(name.rpartition('.')[0] for name in self.parameter_names))

    @property
    def shapes(self) -> Dict[str, Tuple[int, int]]:
        """Rows and columns of all values, then of all parameters."""
        return {name: self._look(name)[:2] for name in self.value_names + self.parameter_names}

    @property
    def digest(self) -> str:
        """16 hexadecimal digits: FNV-1a over the bits of all weights, as `halfulp train` prints it."""
        with self._held as owner:
            return '{:016x}'.format(abi.train().hu_net_digest(self._address(owner)))

    def _number(self, name: str, names: Sequence[str], what: str) -> int:
        if name not in names:
            raise abi.HalfulpValueError('name: there is no {} {!r}; there are {}'.format(what, name, ', '.join(names)))
        return names.index(name)

    def _look(self, name: str, copy: Optional[bool] = None) -> Tuple[Any, ...]:
        """(rows, cols), or with `copy` given (numbers, gradient, forward, backward)."""
        of_value = name in self.value_names
        number = self._number(name, self.value_names if of_value else self.parameter_names, 'value or parameter')
        library = abi.train()
        with self._held as owner:
            x = (library.hu_net_value if of_value else library.hu_net_parameter)(self._address(owner), number)
            if copy is None:
                return x.rows, x.cols
            both = [self._held.matrix(place, x.rows, x.cols, copy) for place in (x.numbers, x.gradients)]
        return both[0], both[1], counts_of(x.forward), counts_of(x.backward)

    def tensor(self, name: str, copy: bool = True) -> Tensor:
        """One value or parameter, with its gradient. Counts are those since the step began; of a `Net` since it was
        made, or since `forget_counts`."""
        return Tensor(*self._look(name, copy))

    def moment_counts(self, name: str) -> Tuple[Counts, Counts]:
        """What the optimizer's stored_m and stored_v rounded of a parameter's moments, counted as those of `tensor`;
        zeros where a moment is kept as it is."""
        number = self._number(name, self.parameter_names, 'parameter')
        counts = (s.hu_rounding_counts * 2)()
        with self._held as owner:
            if not abi.train().hu_net_moment_counts(self._address(owner), number, ctypes.addressof(counts)):
                raise abi.HalfulpError('{}: the device failed'.format(name))
        return counts_of(counts[0]), counts_of(counts[1])

    def _all(self, names: Sequence[str], place: int, copy: bool) -> Dict[str, np.ndarray]:
        return {name: self._look(name, copy)[place] for name in names}

    def parameters(self, copy: bool = True) -> Dict[str, np.ndarray]:
        """The master weights, as the optimizer keeps them, in binary32 or on the grid of a narrower format."""
        return self._all(self.parameter_names, 0, copy)

    def gradients(self, copy: bool = True) -> Dict[str, np.ndarray]:
        """The gradients of the parameters. After a backward pass they have the factor of the loss scale; after a step
        they are what the optimizer saw: without the factor, penalties added, clipped."""
        return self._all(self.parameter_names, 1, copy)

    def values(self, copy: bool = True) -> Dict[str, np.ndarray]:
        """Inputs, results of operators and the loss, rounded, as the last pass left them; before it they mean nothing.
        An evaluation is a pass, too."""
        return self._all(self.value_names, 0, copy)

    def value_gradients(self, copy: bool = True) -> Dict[str, np.ndarray]:
        """Gradients of all values but inputs, rounded, with the factor of the loss scale."""
        return self._all([name for name in self.value_names if not name.endswith('.input')], 1, copy)

    def set_parameter(self, name: str, x: Any) -> None:
        """Sets the master weights of a parameter; the optimizer's momenta stay.

        Parameters
        ----------
        name : str
            "conv1.weight".
        x : array (rows, cols)
            float32, or a type that float32 holds. Infinities and NaNs are taken; a NaN becomes 0x7FC00000. Numbers that
            are not on the grid of the weights' format are rounded by the next step.
        """
        number = self._number(name, self.parameter_names, 'parameter')
        numbers = np.array(host.float32('x', x), np.float32, order='C')
        shape = self._look(name)
        if numbers.shape != shape:
            raise abi.HalfulpValueError('x: shape {} instead of {}, that of {}'.format(numbers.shape, shape, name))
        numbers[np.isnan(numbers)] = np.nan
        with self._held as owner:
            abi.check(abi.train().hu_net_set_parameter(self._address(owner), number, numbers.ctypes.data), name)

    def save_weights(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """Writes the parameters by name as a safetensors file. OSError: it cannot be written."""
        write_weights(path, self.parameters())

    def load_weights(self, weights: Union[str, 'os.PathLike[str]', Mapping[str, Any]]) -> None:
        """Sets all parameters, by name, from arrays or from a safetensors file, which may have others, too.

        OSError: it cannot be read. HalfulpValueError: a parameter is not there, or has another shape. HalfulpTypeError:
        float32 does not hold its numbers. Nothing is set then.
        """
        given = weights if isinstance(weights, Mapping) else read_weights(weights)
        for name, own in self.parameters(copy=False).items():
            if name not in given:
                raise abi.HalfulpValueError('weights: there is no {!r}'.format(name))
            if np.shape(given[name]) != own.shape:
                raise abi.HalfulpValueError('{}: shape {} instead of {}'.format(name, np.shape(given[name]), own.shape))
        numbers = {name: host.float32(name, given[name]) for name in self.parameter_names}
        for name, one in numbers.items():
            self.set_parameter(name, one)

    def __repr__(self) -> str:
        return '{}({} values, {} parameters)'.format(type(self).__name__, len(self.value_names),
                                                     len(self.parameter_names))
