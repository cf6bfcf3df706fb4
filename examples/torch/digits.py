# SPDX-License-Identifier: MIT
"""The same small network trained in four precisions:

    python digits.py FOLDER [--epochs N] [--threads N]     FOLDER has digits_images.npy and digits_labels.npy

Products, their sums, gradients of biases and every rounding are halfulp's, and have the same bits for any number of
threads. What is torch's: one operation a number (relu, +), the loss, SGD in float32, first weights and the order of
the batches.
"""
import argparse
import hashlib
import pathlib

import numpy as np
import torch

import halfulp.torch as ht

# Where numbers are rounded: x the layers' inputs, w their weights, g the gradients of their results; and how products
# are added.
FP8 = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e5m2', accum='seq(binary16)')
MX = ht.Recipe(x='mxfp8_e4m3', w='mxfp4', g='mxfp8_e5m2,sra:8', accum='parts(exact;fp32;exact)')
NARROW = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e5m2', accum='nv.hopper.e4m3.f32.wgmma',
                   accum_dx='nv.hopper.e5m2xe4m3.f32.wgmma', accum_dw='nv.hopper.e4m3xe5m2.f32.wgmma')


def network(recipe):
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, stride=2, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(128, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    return ht.convert(net, recipe, key=2026, count=True)


def digits(folder):
    """Every fifth for testing; pixels 0 ... 16 become 0 ... 1."""
    images = torch.from_numpy(np.load(folder / 'digits_images.npy').astype(np.float32)).reshape(-1, 1, 8, 8) / 16
    labels = torch.from_numpy(np.load(folder / 'digits_labels.npy').astype(np.int64))
    test = torch.arange(len(images)) % 5 == 4
    return images[~test], labels[~test], images[test], labels[test]


def train(net, optimizer, data, epochs):
    x, y, test_x, test_y = data
    scaler = ht.LossScaler('backoff(scale_max=1024,step_window=200)')
    order = torch.Generator().manual_seed(7)
    for _ in range(epochs):
        for batch in torch.randperm(len(x), generator=order).split(64):
            optimizer.zero_grad()
            scaler.scale(torch.nn.functional.cross_entropy(net(x[batch]), y[batch])).backward()
            scaler.step(optimizer)
    with torch.no_grad():
        return float((net(test_x).argmax(1) == test_y).float().mean())


def main():
    options = argparse.ArgumentParser()
    options.add_argument('folder', type=pathlib.Path)
    options.add_argument('--epochs', type=int, default=4)
    options.add_argument('--threads', type=int, default=torch.get_num_threads())
    options.add_argument('--only', default='', help='systems whose name begins so')
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    data = digits(chosen.folder)
    systems = [
        ('float32', ht.Recipe(), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
        ('FP8, sums in binary16', FP8, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
        ('MX, 4-bit weights', MX, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
        ('Hopper FP8, bfloat16 masters', NARROW,
         lambda p: ht.SGD(p, lr=0.1, state='bfloat16', weight='bfloat16,sra:16', key=3)),
    ]
    for name, recipe, optimizer in systems:
        if not name.startswith(chosen.only):
            continue
        net = network(recipe)
        right = train(net, optimizer(net.parameters()), data, chosen.epochs)
        counts = ht.events(net)['5']
        digest = hashlib.sha256(b''.join(p.detach().numpy().tobytes() for p in net.parameters())).hexdigest()[:12]
        print('{:<29} right {:.3f}  weights {}  last layer: {} inexact x, {} underflows of gradients'.format(
            name, right, digest, counts['x'].get('inexact', 0), counts['dx.g'].get('underflow', 0)))


if __name__ == '__main__':
    main()
