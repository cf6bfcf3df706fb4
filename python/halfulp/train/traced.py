# SPDX-License-Identifier: MIT
"""Modules of PyTorch as texts of layers: the text, and the names and shapes of weights there and here."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

import numpy as np

from .. import _abi as abi
from .criterion import arguments_of
from .net import Net
from .view import NetView


class Weight(NamedTuple):
    """A parameter of a module: its name there, its shape there, and how its numbers lie there."""

    name: str
    shape: Tuple[int, ...]
    kind: str  # linear (outputs, inputs); conv (outputs, channels, height, width), or transposed; rows: as here
    image: Tuple[int, ...] = ()  # channels, height, width, where a linear layer of a flattened image is a conv here
    gates: Tuple[int, ...] = ()  # of cells: the parts of the rows there, in the order that they have here

    def here(self, x: Any) -> np.ndarray:
        """A PyTorch array as the matrix of a net."""
        array = np.asarray(x, np.float32)
        if array.shape != self.shape:
            raise abi.HalfulpValueError('{}: shape {} instead of {}'.format(self.name, array.shape, self.shape))
        array = array.reshape(self.shape[0], *self.image) if self.image else self._ordered(array)
        if self.kind == 'rows':
            return np.ascontiguousarray(array.reshape(1, -1) if array.ndim == 1 else array)
        return np.ascontiguousarray(array.T if self.kind == 'linear'
                                    else array.transpose(2, 3, 1, 0).reshape(-1, self.shape[0]))

    def _ordered(self, array: np.ndarray) -> np.ndarray:
        """Gates in the other order: each of the two orders is made of the other in the same way."""
        parts = np.split(array, len(self.gates)) if self.gates else []
        return np.concatenate([parts[gate] for gate in self.gates]) if parts else array

    def there(self, matrix: np.ndarray) -> np.ndarray:
        """A net's matrix as the PyTorch array."""
        if self.kind == 'rows':
            return np.ascontiguousarray(self._ordered(matrix.reshape(self.shape)))
        if self.kind == 'linear':
            return np.ascontiguousarray(self._ordered(matrix.T))
        outputs, channels, height, width = (self.shape[0], *self.image) if self.image else self.shape
        array = matrix.reshape(height, width, channels, outputs).transpose(3, 2, 0, 1)
        return np.ascontiguousarray(array).reshape(self.shape)


class Traced(NamedTuple):
    """A module as a text of layers. Its parameters are those of `Net(text, ...)`, in order.

    text      the layers; Net(text, batch=...) builds them
    weights   names and shapes of the module's parameters
    first     the parameters themselves, float32, by these names
    outputs   columns of what it returns
    """

    text: str
    weights: List[Weight]
    first: Dict[str, np.ndarray]
    outputs: int = 1

    def net(self, *, batch: int, loss: Any = 'cross_entropy', **more: Any) -> Net:
        """The net with the module's parameters. The other arguments are those of `Net`; `loss` may be a module of
        torch.nn with the reduction "mean", `CrossEntropyLoss(label_smoothing=0.1)`, say."""
        how = {'loss': loss} if isinstance(loss, str) else arguments_of(loss, self.outputs)
        net = Net(self.text, batch=batch, **how, **more)
        self.load(net, self.first)
        return net

    def load(self, net: NetView, state: Mapping[str, Any]) -> None:
        """Sets a net's parameters from arrays by the module's names, `module.state_dict()` or a file's, say.
        Errors are those of `NetView.load_weights`; nothing is set then."""
        missing = [weight.name for weight in self.weights if weight.name not in state]
        if missing:
            raise abi.HalfulpValueError('weights: there is no {!r}'.format(missing[0]))
        arrays = [weight.here(array_of(state[weight.name])) for weight in self.weights]
        net.load_weights(dict(zip(net.parameter_names, arrays)))

    def state_dict(self, net: NetView, gradients: bool = False) -> Dict[str, np.ndarray]:
        """A net's parameters, or their gradients, by the module's names and in its shapes."""
        made = net.gradients() if gradients else net.parameters()
        return {weight.name: weight.there(made[name]) for name, weight in zip(net.parameter_names, self.weights)}


def array_of(x: Any) -> np.ndarray:
    return x.detach().cpu().float().numpy() if hasattr(x, 'detach') else np.asarray(x)


def inputs(*arrays: Any) -> np.ndarray:
    """A batch of a module's inputs as `Net.forward` takes it: images (samples, channels, height, width) with their
    channels last; several inputs side by side."""
    found = [array_of(x).astype(np.float32) for x in arrays]
    rows = [x.transpose(0, 2, 3, 1) if x.ndim == 4 else x for x in found]
    return np.concatenate([np.ascontiguousarray(x).reshape(len(x), -1) for x in rows], axis=1)
