#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A step of training in binary32: this engine against PyTorch on the CPU, same networks, batches and optimizers.

  compare_torch.py BUILD [--threads 1] [--rounds 5] [--only NETWORK]

The two run in turn, the best of each counts. PyTorch's side is what a user of its modules writes (torch.nn,
torch.optim), in eager mode; its state lies in place as ours does: inputs and labels are there before the clock starts.
"""
import argparse
import csv
import os
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--only")
options = parser.parse_args()
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(options.threads)

import torch  # noqa: E402  (after the number of threads is settled)
from torch import nn  # noqa: E402

GOAL = 2.0


class Block(nn.Module):
    """One transformer block, before it the embedding, behind it the logits."""

    def __init__(self, tokens=76, width=32, heads=2, steps=32):
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(tokens, width)
        self.position = nn.Parameter(torch.zeros(steps, width))
        self.norm = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.wide = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, width))
        self.logits = nn.Linear(width, tokens)
        self.register_buffer("hidden", torch.ones(steps, steps).triu(1).bool())

    def attention(self, x):
        batch, steps, width = x.shape
        q, k, v = (t.view(batch, steps, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5
        p = scores.masked_fill(self.hidden, float("-inf")).softmax(-1)
        return self.out((p @ v).transpose(1, 2).reshape(batch, steps, width))

    def forward(self, x):
        h = self.embedding(x) + self.position
        h = h + self.attention(self.norm[0](h))
        h = h + self.wide(self.norm[1](h))
        return self.logits(self.norm[2](h)).flatten(0, 1)


class Rows(nn.Module):
    """A GRU over the rows of a digit; its last state decides."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(8, 32, batch_first=True)
        self.logits = nn.Linear(32, 10)

    def forward(self, x):
        return self.logits(self.gru(x)[1][0])


def perceptron(inputs, units):
    return nn.Sequential(nn.Linear(inputs, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU(), nn.Linear(units, 10))


def images():
    layers, channels = [], 1
    for outputs in (8, 16, 16):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
        channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


# name: network, inputs, labels, classes; as bench/train_nets.h has them
NETWORKS = {
    "digits": (lambda: perceptron(64, 64), (64, 64), 64, 10),
    "mlp": (lambda: perceptron(784, 512), (128, 784), 128, 10),
    "conv": (images, (128, 1, 16, 16), 128, 10),
    "transformer": (Block, (16, 32), 16 * 32, 76),
    "gru": (Rows, (64, 8, 8), 64, 10),
}


def torch_step(name):
    """A call that makes one step."""
    make, shape, labels, classes = NETWORKS[name]
    torch.manual_seed(1)
    net = make()
    tokens = name == "transformer"
    x = torch.randint(0, 76, shape) if tokens else torch.randn(shape)
    y = torch.randint(0, classes, (labels,))
    loss = nn.CrossEntropyLoss()
    if tokens:
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-6, weight_decay=0)
    else:
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-6, momentum=0.9)

    def step():
        optimizer.zero_grad()
        loss(net(x), y).backward()
        optimizer.step()

    return step


def seconds(step, least=0.1):
    """The best of five spells of steps, seconds a step."""
    for _ in range(3):
        step()
    t = time.perf_counter()
    step()
    repeat = max(1, int(least / 5 / (time.perf_counter() - t)))
    best = float("inf")
    for _ in range(5):
        t = time.perf_counter()
        for _ in range(repeat):
            step()
        best = min(best, (time.perf_counter() - t) / repeat)
    return best


def engine_seconds(name):
    command = [os.path.join(options.build, "bench", "bench_train"), "--only", name, "--binary32", "--csv"]
    command += ["--rounds", "5", "--threads", str(options.threads)]
    row = next(csv.reader(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()))
    return min(float(row[3]), float(row[4]))


def main():
    torch.set_num_threads(options.threads)
    names = [options.only] if options.only else list(NETWORKS)
    if names[0] not in NETWORKS:
        sys.exit("compare_torch.py: networks: " + ", ".join(NETWORKS))
    print(f"PyTorch {torch.__version__}, threads {options.threads}: seconds of a step in binary32, goal {GOAL:g}")
    for name in names:
        step, theirs, ours = torch_step(name), float("inf"), float("inf")
        for _ in range(options.rounds):
            theirs = min(theirs, seconds(step))
            ours = min(ours, engine_seconds(name))
        ratio = ours / theirs
        print(f"  {name:12s} engine {1e6 * ours:9.1f} us  PyTorch {1e6 * theirs:9.1f} us  {ratio:5.2f}"
              f"  ({'met' if ratio <= GOAL else 'missed'})", flush=True)


main()
