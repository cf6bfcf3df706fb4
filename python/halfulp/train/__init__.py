# SPDX-License-Identifier: MIT
"""Training in low precision (libhalfulp-train; docs/training/training.md).

    trainer = halfulp.train.Trainer({'data.set': 'digits', 'precision.system': 's2fp8'}, folder='data')
    log = trainer.run(100)
    trainer.net.gradients()['linear1.weight']

Whole runs       Trainer: a configuration in, logs as arrays; keys lists what can be set
Networks         Trainer.net: tensors by name; Net: a network on batches of your own; from_torch: a PyTorch module as one
Pieces           LossScaler, Optimizer, Layout, Assignment, for loops of your own
"""
from .checkpoint import read_weights, write_weights
from .config import Key, keys
from .from_torch import from_torch
from .net import Net, Update
from .pieces import Assignment, Found, Layout, LossScaler, Optimizer, scale_of_gmax
from .sequences import label_error_rate
from .traced import Traced, Weight, inputs
from .trainer import Log, Memory, Report, Seen, Trainer
from .view import Counts, NetView, Tensor

__all__ = [
    'Trainer', 'Report', 'Log', 'Seen', 'Memory', 'Key', 'keys', 'NetView', 'Net', 'Tensor', 'Counts', 'Update',
    'from_torch', 'Traced', 'Weight', 'inputs', 'read_weights', 'write_weights', 'label_error_rate',
    'LossScaler', 'Found', 'scale_of_gmax', 'Optimizer', 'Layout',
    'Assignment',
]
