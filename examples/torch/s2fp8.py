# SPDX-License-Identifier: MIT
"""FP8 with a shift and a squeeze for each tensor beside FP8 without a scale:

    python s2fp8.py FOLDER [--epochs N]     FOLDER has digits_images.npy and digits_labels.npy

Cambier et al., Shifted and Squeezed 8-bit Floating Point Format for Low-Precision Training of Deep Neural Networks
(ICLR 2020): one call places the truncations of its figure 4 around every layer. No loss scale is used.
"""
import argparse
import pathlib

import torch
from digits import digits

import halfulp.torch as ht

CLAIM = ('The paper: S2FP8 trains as float32 does without a loss scale and without exempt layers; FP8 does not.')
# The row that this is the small form of: convolutions trained from scratch, no loss scale, no layer left out.
ROW = ('Its table 1, ResNet-20 on CIFAR-10, accuracy in %: float32 91.5, FP8 17.9, S2FP8 91.1. At that size, the row is\n'
       '    halfulp experiment --paper s2fp8 --table 1 --row resnet20 --budget 4d')
SYSTEMS = [('float32', ht.Recipe()), ('FP8 (E5M2), no scale', ht.recipes.fp8_e5m2()), ('S2FP8', ht.recipes.s2fp8())]


def train(recipe, data, epochs, shrink):
    """The share of test images that are right, and of gradients that became zero in the last layer. The loss is
    multiplied by `shrink`, and the rate divided by it: in exact arithmetic that changes nothing."""
    x, y, test_x, test_y = data
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, stride=2, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(128, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    net = ht.convert(net, recipe, count=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1 / shrink, momentum=0.9)
    order = torch.Generator().manual_seed(7)
    for _ in range(epochs):
        for batch in torch.randperm(len(x), generator=order).split(64):
            optimizer.zero_grad()
            (shrink * torch.nn.functional.cross_entropy(net(x[batch]), y[batch])).backward()
            optimizer.step()
    with torch.no_grad():
        right = float((net(test_x).argmax(1) == test_y).float().mean())
    gradients = epochs * len(x) * 10
    return right, net[5].events_of()['dx.g']['to_zero'] / gradients


def main():
    options = argparse.ArgumentParser()
    options.add_argument('folder', type=pathlib.Path)
    options.add_argument('--epochs', type=int, default=4)
    options.add_argument('--shrink', type=float, default=2.0 ** -10)
    chosen = options.parse_args()
    torch.set_num_threads(1)  # torch's own sums have the same order everywhere then, and small ones are faster
    data = digits(chosen.folder)
    print(CLAIM)
    print(ROW)
    print('Here the loss is divided by {:g}. With --shrink 1, FP8 trains this small network as well.'.format(
        1 / chosen.shrink))
    for name, recipe in SYSTEMS:
        right, zero = train(recipe, data, chosen.epochs, chosen.shrink)
        print('{:<29} right {:.3f}  gradients of the last layer that became zero {:.3f}'.format(name, right, zero))


if __name__ == '__main__':
    main()
