# SPDX-License-Identifier: MIT
"""A user's script, for type checkers: test_torch_types.py asks them, and runs it."""
from typing import Dict, List

import numpy as np
import torch

import halfulp
import halfulp.torch as ht
from halfulp.train import LossScaler, Optimizer

x = np.linspace(-3, 3, 64, dtype=np.float32).reshape(4, 16)
events = halfulp.Events()
y: np.ndarray = halfulp.quantize(x, 'float8_e4m3fn', events=events)
lost: int = events.overflow + events.to_zero
counts: Dict[str, int] = events.as_dict()
codes: np.ndarray = halfulp.encode(x, 'nvfp4' if lost else 'float8_e5m2', 'sra:8', stream=np.random.default_rng(1))
halfulp.quantize(x, 'mxfp4', axis=(0, 1), saturate='finite', stream=halfulp.Stream(1), threads=2)

f = halfulp.Format(torch.float8_e4m3fn)
figures: List[float] = [f.max, f.min, f.low, f.min_normal, f.eps or 0.0]
rows = [row.sqnr_db for row in halfulp.compare({'x': x}, ['nvfp4', f], axis=-1)]
watch = halfulp.Watch()
d = halfulp.gemm(x, x.T, accum='seq(binary16)', a_format='binary32', b_format='binary32', watch=watch)
swamped: int = watch.swamped
names: List[str] = [row.name for row in halfulp.formats()]

weights = [np.ones(8, np.float32)]
optimizer, scaler = Optimizer('sgd', 'bfloat16', rate=0.5), LossScaler('static(8)')
optimizer.step(weights, [np.ones(8, np.float32)])

recipe = ht.Recipe(x=torch.float8_e4m3fn, w=f, g='float8_e5m2', accum=halfulp.Accumulator('seq(bfloat16)'))
text: str = recipe.but(out='bfloat16').x
model = ht.convert(torch.nn.Sequential(torch.nn.Linear(16, 4)), recipe)
z: torch.Tensor = ht.quantize(model(torch.from_numpy(x)), torch.float8_e4m3fn, stream='torch')
z = ht.linear(z, torch.ones(2, 4), None, 'bfloat16')
with ht.precision('float8_e4m3fn') as p:
    share = p.report().headline()
