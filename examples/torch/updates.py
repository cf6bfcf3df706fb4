# SPDX-License-Identifier: MIT
"""How the last rounding of a weight update decides whether training in bfloat16 alone works:

    python updates.py FOLDER [--epochs N] [--device cuda]     FOLDER has digits_images.npy and digits_labels.npy

Zamirai et al., Revisiting BFloat16 Training (2021), tables 1 and 2. Values, gradients, weights and momenta are
bfloat16; only the way in which the update ends differs. docs/training/experiments.md has the same comparison of `halfulp
experiment bfloat16-updates`.
"""
import argparse
import pathlib

import torch
from digits import digits

import halfulp.torch as ht

CLAIM = ('The paper: with updates to nearest, bfloat16 training stalls; stochastic rounding or Kahan summation of the\n'
         'updates closes the gap to float32.')
# The row that this is the small form of. Tables 1 and 2 have the same runs in float32 and to nearest.
ROW = ('Its tables 1 and 2, ResNet-18 on CIFAR-10, accuracy in %: float32 95.45, bfloat16 with float32 weights 95.40, to\n'
       'nearest 94.23, stochastic 95.33, Kahan 95.36. At that size, the row is\n'
       '    halfulp experiment --paper bfloat16 --table 2 --row resnet18 --budget 40d')
UPDATES = [
    ('float32', None, dict()),
    ('bfloat16, float32 weights', 'bfloat16', dict(state='bfloat16', weight='binary32')),
    ('bfloat16, to nearest', 'bfloat16', dict(state='bfloat16')),
    ('bfloat16, stochastic', 'bfloat16', dict(state='bfloat16', weight='bfloat16,sra:16', key=3)),
    ('bfloat16, Kahan', 'bfloat16', dict(state='bfloat16', update='kahan')),
]


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64),
                               torch.nn.ReLU(), torch.nn.Linear(64, 10))


def train(text, update, data, epochs):
    """The mean loss of the last epoch, the share of test images that are right, and that of updates that were lost."""
    x, y, test_x, test_y = data
    net = network().to(x.device)
    if text:
        ht.assign(net, 'uniform', sample=x[:64], low=text, low_gradients=text, parameter_gradients='rule')
    optimizer = ht.SGD(net.parameters(), lr=0.005, momentum=0.9, **update)
    order, losses = torch.Generator().manual_seed(7), []
    for _ in range(epochs):
        losses = []
        for batch in torch.randperm(len(x), generator=order).to(x.device).split(64):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x[batch]), y[batch])
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    with torch.no_grad():
        right = float((net(test_x).argmax(1) == test_y).float().mean())
    return float(sum(losses)) / len(losses), right, optimizer.lost / optimizer.moved


def main():
    options = argparse.ArgumentParser()
    options.add_argument('folder', type=pathlib.Path)
    options.add_argument('--epochs', type=int, default=15)
    options.add_argument('--device', default='cpu')
    chosen = options.parse_args()
    torch.set_num_threads(1)  # torch's own sums have the same order everywhere then, and small ones are faster
    data = [x.to(chosen.device) for x in digits(chosen.folder)]
    print(CLAIM)
    print(ROW)
    for name, text, update in UPDATES:
        loss, right, lost = train(text, update, data, chosen.epochs)
        print('{:<29} loss {:.4f}  right {:.3f}  updates lost {:.3f}'.format(name, loss, right, lost))


if __name__ == '__main__':
    main()
