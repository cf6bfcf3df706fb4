# SPDX-License-Identifier: MIT
"""PyTorch's losses as those of a net: the arguments of `Net`."""
from __future__ import annotations

from typing import Any, Dict

from .. import _abi as abi


def _of_classes(loss: Any, _: int) -> Dict[str, Any]:
    return {'loss': 'cross_entropy', 'smoothing': loss.label_smoothing}


def _of_logits(loss: Any, columns: int) -> Dict[str, Any]:
    if loss.pos_weight is not None:
        raise abi.HalfulpValueError('loss: BCEWithLogitsLoss with pos_weight')
    return {'loss': 'logistic', 'loss_weight': 1 / columns}


def _of_sequences(loss: Any, _: int) -> Dict[str, Any]:
    return {'loss': 'ctc', 'blank': loss.blank, 'by_length': True, 'zero_infinite': loss.zero_infinity}


# In PyTorch a mean is over all numbers; here it is over rows, and half of a square is lost.
_RULES: Dict[str, Any] = {
    'CrossEntropyLoss': _of_classes, 'BCEWithLogitsLoss': _of_logits, 'CTCLoss': _of_sequences,
    'MSELoss': lambda loss, columns: {'loss': 'squared_error', 'loss_weight': 2 / columns},
    'L1Loss': lambda loss, columns: {'loss': 'absolute_error', 'loss_weight': 1 / columns},
    'SmoothL1Loss': lambda loss, columns: {'loss': 'smooth_l1', 'beta': loss.beta, 'loss_weight': 1 / columns},
    'HuberLoss': lambda loss, columns: {'loss': 'smooth_l1', 'beta': loss.delta, 'loss_weight': loss.delta / columns},
}


def arguments_of(loss: Any, columns: int) -> Dict[str, Any]:
    """The arguments of `Net` for a loss of torch.nn with the reduction "mean", of an output of so many columns."""
    name = type(loss).__name__
    if name not in _RULES:
        raise abi.HalfulpValueError('loss: {} is not one of {}'.format(name, ', '.join(_RULES)))
    if loss.reduction != 'mean' or getattr(loss, 'weight', None) is not None:
        raise abi.HalfulpValueError('loss: {} without the reduction mean, or with weights'.format(name))
    found: Dict[str, Any] = _RULES[name](loss, columns)
    return found
