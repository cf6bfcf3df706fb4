# SPDX-License-Identifier: MIT
"""Which tensors of a network can be in 8 bits, and what the promotion of overflowing ones repairs:

    python assignment.py FOLDER [--epochs N]     FOLDER has digits_images.npy and digits_labels.npy

Lee et al., Training with Mixed-Precision Floating-Point Assignments (TMLR 2023), section 3.2 and figure 6. A perceptron
learns ten times the digit that an image shows, so most of what it must say is above 30, the largest number of
fp(4,3,4). docs/training/experiments.md has the same comparison of `halfulp experiment assignment-promotion`.
"""
import argparse
import pathlib

import torch
from digits import digits

import halfulp.torch as ht

CLAIM = ('The paper: tensors that overflow ruin training with all tensors low; promoting them to fp(6,9,0) repairs\n'
         'it, and nearly all tensors stay low.')
# The row that this is the small form of. The paper draws its runs and gives no numbers.
ROW = ('Its figures 6 and 17, SqueezeNet on CIFAR-10, with and without promotion. At that size, the row is\n'
       '    halfulp experiment --paper assignments --table figure6 --row squeezenet-cifar10 --budget 7d')
ASSIGNMENTS = [
    ('all high', dict(rule='high')),
    ('uniform', dict(rule='uniform')),
    ('theirs, r = 1, no promotion', dict(rule='demote', ratio=1, promote=None)),
    ('theirs, r = 1', dict(rule='demote', ratio=1)),
    ('theirs, r = 0.5', dict(rule='demote', ratio=0.5)),
    ('operator', dict(rule='op')),
    ("operator'", dict(rule="op'")),
]


def train(assignment, data, epochs):
    """The coefficient of determination on the test images, and the assignment at the end."""
    x, y, test_x, test_y = data
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32), torch.nn.ReLU(),
                              torch.nn.Linear(32, 1))
    plan = ht.assign(net, sample=x[:32], loss=True, **assignment)
    optimizer = torch.optim.SGD(net.parameters(), lr=3e-4, momentum=0.9)
    scaler = ht.LossScaler('gradscaler(init_scale=1024,growth_interval=45)')
    order = torch.Generator().manual_seed(7)
    for _ in range(epochs):
        for batch in torch.randperm(len(x), generator=order).split(32):
            optimizer.zero_grad()
            scaler.scale(plan.loss((net(x[batch]) - y[batch]).square().mean())).backward()
            scaler.step(optimizer)
            plan.step()
    with torch.no_grad():
        unexplained = (net(test_x) - test_y).square().mean() / test_y.var(unbiased=False)
    return 1 - float(unexplained), plan


def main():
    options = argparse.ArgumentParser()
    options.add_argument('folder', type=pathlib.Path)
    options.add_argument('--epochs', type=int, default=10)
    chosen = options.parse_args()
    torch.set_num_threads(1)  # torch's own sums have the same order everywhere then, and small ones are faster
    x, labels, test_x, test_labels = digits(chosen.folder)
    data = (x.flatten(1), 10.0 * labels[:, None], test_x.flatten(1), 10.0 * test_labels[:, None])
    print(CLAIM)
    print(ROW)
    for name, assignment in ASSIGNMENTS:
        right, plan = train(assignment, data, chosen.epochs)
        print('{:<29} R2 {:.3f}  low elements {:.3f}  promoted {}  aggregate {:.0f} kbit of {:.0f}'.format(
            name, right, plan.mean_ratio, plan.promoted, plan.memory().aggregate / 1000, plan.memory().high / 1000))


if __name__ == '__main__':
    main()
