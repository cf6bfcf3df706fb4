# SPDX-License-Identifier: MIT
"""Least squares with weights in bfloat16: rounding to nearest stalls, stochastic rounding and Kahan's sum do not."""
import numpy as np

import halfulp
from halfulp.train import LossScaler, Optimizer

random = np.random.default_rng(3)
x = random.normal(size=(256, 16)).astype(np.float32)
wanted = random.uniform(1, 2, 16).astype(np.float32)
y = x @ wanted

losses = {}
for name, more in [('float32', {'format': 'binary32'}), ('bfloat16, to nearest', {}),
                   ('bfloat16, stochastic', {'mode': 'sra:16', 'stream': 1}), ('bfloat16, Kahan', {'update': 'kahan'})]:
    optimizer = Optimizer('sgd', **dict({'format': 'bfloat16', 'rate': 0.003, 'momentum': 0.0}, **more))
    scaler = LossScaler('gradscaler(init_scale=1024)')
    w = np.zeros(16, np.float32)
    for _ in range(1500):
        residual = x @ w - y
        gradient = (x.T @ residual / len(x) * np.float32(scaler.scale)).astype(np.float32)
        if scaler.update(scaler.unscale([gradient])):
            optimizer.step([w], [halfulp.quantize(gradient, 'bfloat16')])
    losses[name] = float(np.mean((x @ w - y) ** 2) / 2)
    print('{:22} loss {:.2e}, {:4.1f} % of the updates left a weight as it was'.format(name, losses[name],
        100 * optimizer.lost / optimizer.moved))

assert losses['bfloat16, to nearest'] > 10 * losses['bfloat16, Kahan'] > 0
