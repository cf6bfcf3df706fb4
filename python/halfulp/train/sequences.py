# SPDX-License-Identifier: MIT
"""Sequences of labels, as the loss ctc compares with them (docs/training/losses.md)."""
from __future__ import annotations

from typing import Sequence

import numpy as np

from .. import _abi as abi
from .. import _structs as s


def sequences_of(y: Sequence[Sequence[int]], batch: int, steps: int) -> np.ndarray:
    """The labels of each sample, and that there is none in the steps behind them."""
    words = np.full((batch, steps), s.LABEL_NONE, np.uint32)
    if len(y) != batch:
        raise abi.HalfulpValueError('y: {} sequences instead of {}'.format(len(y), batch))
    for row, labels in zip(words, y):
        found = np.asarray(labels, np.int64)
        found = found[:len(found) - int(np.argmax(found[::-1] >= 0))] if (found >= 0).any() else found[:0]
        if len(found) > steps or (found < 0).any():
            raise abi.HalfulpValueError('y: {} is not up to {} labels, and -1 behind them'.format(labels, steps))
        row[:len(found)] = found
    return words


def label_error_rate(found: Sequence[Sequence[int]], labels: Sequence[Sequence[int]]) -> float:
    """The labels that have to be put in, left out or replaced in what was found, over all labels. What follows a
    negative label counts as none."""
    if len(found) != len(labels):
        raise abi.HalfulpValueError('labels: {} sequences instead of {}'.format(len(labels), len(found)))
    wrong = total = 0
    for one in zip(found, labels):
        x, y = (np.array([label for label in side if label >= 0], np.uint32) for side in one)
        wrong += abi.train().hu_edit_distance(len(x), x.ctypes.data, len(y), y.ctypes.data)
        total += len(y)
    return wrong / total if total else float('nan')
