#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A step of training: this engine in binary32 against PyTorch on the CPU, same networks, batches and optimizers; and
in low precision against its own binary32.

  compare_torch.py BUILD [--threads 1] [--rounds 5] [--only NETWORK] [--binary32]

The two run in turn, the best of each counts; with one thread times are the processor's, so that other programs take
nothing away. PyTorch's side is what a user of its modules writes (torch.nn, torch.optim), in eager mode; its state lies
in place as ours does: inputs and labels are there before the clock starts.
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
parser.add_argument("--binary32", action="store_true", help="no other precision")
options = parser.parse_args()
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(options.threads)

import torch  # noqa: E402  (after the number of threads is settled)
from torch import nn  # noqa: E402

GOAL = 1.2  # of PyTorch's time
LOW_GOAL = 1.6  # of the engine's own time in binary32
LOW = {"FP8": "float8_e5m2, products", "S2FP8": "S2FP8, products"}  # as bench/train_nets.h names them


class Block(nn.Module):
    """One transformer block, before it the embedding, behind it the logits."""

    def __init__(self, tokens=76, width=32, heads=2, steps=32, hidden=128):
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(tokens, width)
        self.position = nn.Parameter(torch.zeros(steps, width))
        self.norm = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.wide = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))
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


class Transformer(nn.Module):
    """Two blocks as above, whose layers have other sizes."""

    def __init__(self, tokens=8000, width=128, heads=4, hidden=512, steps=64):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.position = nn.Parameter(torch.zeros(steps, width))
        self.blocks = nn.ModuleList(Block(1, width, heads, steps, hidden) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.logits = nn.Linear(width, tokens)

    def forward(self, x):
        h = self.embedding(x) + self.position
        for block in self.blocks:
            h = h + block.attention(block.norm[0](h))
            h = h + block.wide(block.norm[1](h))
        return self.logits(self.norm(h)).flatten(0, 1)


class Words(nn.Module):
    """A language model of two layers of LSTM cells."""

    def __init__(self, tokens=10000, units=650):
        super().__init__()
        self.embedding = nn.Embedding(tokens, units)
        self.cells = nn.LSTM(units, units, 2, batch_first=True)
        self.logits = nn.Linear(units, tokens)

    def forward(self, x):
        return self.logits(self.cells(self.embedding(x))[0]).flatten(0, 1)


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


def layer(inputs, outputs, kernel, stride=1, groups=1):
    """A convolution and its batch norm."""
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(outputs)]


class Residual(nn.Module):
    """ResNet-20's block; its shortcut has every second pixel and channels of zeros."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.zeros, self.stride = outputs - inputs, stride
        self.way = nn.Sequential(*layer(inputs, outputs, 3, stride), nn.ReLU(), *layer(outputs, outputs, 3))

    def forward(self, x):
        short = nn.functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.zeros))
        return torch.relu(self.way(x) + short)


def resnet20():
    layers, channels = [*layer(3, 16, 3), nn.ReLU()], 16
    for stage in range(3):
        for block in range(3):
            outputs = 16 << stage
            layers.append(Residual(channels, outputs, 2 if stage and not block else 1))
            channels = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Fire(nn.Module):
    """SqueezeNet's module."""

    def __init__(self, inputs, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Sequential(*layer(inputs, squeeze, 1), nn.ReLU())
        self.pixels = nn.Sequential(*layer(squeeze, expand, 1), nn.ReLU())
        self.windows = nn.Sequential(*layer(squeeze, expand, 3), nn.ReLU())

    def forward(self, x):
        x = self.squeeze(x)
        return torch.cat([self.pixels(x), self.windows(x)], 1)


def squeezenet():
    layers, channels = [*layer(3, 96, 3), nn.ReLU(), nn.MaxPool2d(2)], 96
    for squeeze, expand, pool in ((16, 64, 0), (16, 64, 0), (32, 128, 1), (32, 128, 0),
                                  (48, 192, 0), (48, 192, 0), (64, 256, 1), (64, 256, 0)):
        layers += [Fire(channels, squeeze, expand)] + [nn.MaxPool2d(2)] * pool
        channels = 2 * expand
    return nn.Sequential(*layers, nn.Conv2d(channels, 10, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())


class Inverted(nn.Module):
    """MobileNet v2's block."""

    def __init__(self, inputs, expand, outputs, stride):
        super().__init__()
        wide = expand * inputs
        layers = [*layer(inputs, wide, 1), nn.ReLU6()] if expand > 1 else []
        self.way = nn.Sequential(*layers, *layer(wide, wide, 3, stride, wide), nn.ReLU6(), *layer(wide, outputs, 1))
        self.short = stride == 1 and inputs == outputs

    def forward(self, x):
        return self.way(x) + x if self.short else self.way(x)


def mobilenet2():
    layers, channels = [*layer(3, 32, 3), nn.ReLU6()], 32
    for expand, outputs, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                            (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            layers.append(Inverted(channels, expand, outputs, 1 if block else stride))
            channels = outputs
    layers += [*layer(channels, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 10)]
    return nn.Sequential(*layers)


# name: network, inputs, labels, classes, tokens (0: inputs are numbers); as bench/train_nets.h has them
NETWORKS = {
    "digits": (lambda: perceptron(64, 64), (64, 64), 64, 10, 0),
    "mlp": (lambda: perceptron(784, 512), (128, 784), 128, 10, 0),
    "conv": (images, (128, 1, 16, 16), 128, 10, 0),
    "transformer": (Block, (16, 32), 16 * 32, 76, 76),
    "gru": (Rows, (64, 8, 8), 64, 10, 0),
    "resnet20": (resnet20, (128, 3, 32, 32), 128, 10, 0),
    "squeezenet": (squeezenet, (128, 3, 32, 32), 128, 10, 0),
    "mobilenet2": (mobilenet2, (16, 3, 32, 32), 16, 10, 0),
    "lstm650": (Words, (20, 35), 20 * 35, 10000, 10000),
    "transformer128": (Transformer, (64, 64), 64 * 64, 8000, 8000),
}
ADAM = ("transformer", "transformer128")


def torch_step(name):
    """A call that makes one step."""
    make, shape, labels, classes, tokens = NETWORKS[name]
    torch.manual_seed(1)
    net = make()
    x = torch.randint(0, tokens, shape) if tokens else torch.randn(shape)
    y = torch.randint(0, classes, (labels,))
    loss = nn.CrossEntropyLoss()
    if name in ADAM:
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-6, weight_decay=0)
    else:
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-6, momentum=0.9)

    def step():
        optimizer.zero_grad()
        loss(net(x), y).backward()
        optimizer.step()

    for _ in range(2):
        step()
    return step


def seconds(step, clock):
    """The best of some spells of steps, seconds a step. With several threads spells are short and many: other programs
    leave them alone for a moment now and then."""
    spells, least = (3, 0.1) if options.threads == 1 else (12, 0.06)
    t = clock()
    step()
    repeat = max(1, int(least / spells / (clock() - t)))
    best = float("inf")
    for _ in range(spells):
        t = clock()
        for _ in range(repeat):
            step()
        best = min(best, (clock() - t) / repeat)
    return best


def engine_seconds(name, precision):
    """Seconds of a step in a precision, in binary32."""
    command = [os.path.join(options.build, "bench", "bench_train"), "--only", name, "--csv"]
    command += ["--rounds", "3" if options.threads == 1 else "12", "--threads", str(options.threads)]
    command += (["--precision", LOW[precision]] if precision else ["--binary32"])
    row = next(csv.reader(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()))
    return float(row[3]), float(row[4])


def row_of(name, clock):
    """The best time of a step: PyTorch's, the engine's in binary32, the engine's in each low precision."""
    step, theirs, ours = torch_step(name), float("inf"), float("inf")
    low = {} if options.binary32 else {precision: float("inf") for precision in LOW}
    for _ in range(options.rounds):
        theirs = min(theirs, seconds(step, clock))
        if not low:
            ours = min(ours, *engine_seconds(name, None))
        for precision in low:
            subject, reference = engine_seconds(name, precision)
            low[precision], ours = min(low[precision], subject), min(ours, reference)
    return theirs, ours, low


def verdict(ratio, goal):
    return f"{ratio:5.2f} ({'met' if ratio <= goal else 'missed'})"


def main():
    torch.set_num_threads(options.threads)
    names = [options.only] if options.only else list(NETWORKS)
    if names[0] not in NETWORKS:
        sys.exit("compare_torch.py: networks: " + ", ".join(NETWORKS))
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"PyTorch {torch.__version__}, threads {options.threads}: a step; goals: {GOAL:g} of PyTorch's time in binary32,"
          f" {LOW_GOAL:g} of binary32's in low precision")
    for name in names:
        theirs, ours, low = row_of(name, clock)
        rest = "".join(f"  {k} {verdict(t / ours, LOW_GOAL)}" for k, t in low.items())
        print(f"  {name:14s} engine {1e3 * ours:8.3f} ms  PyTorch {1e3 * theirs:8.3f} ms  "
              f"{verdict(ours / theirs, GOAL)}{rest}", flush=True)


main()
