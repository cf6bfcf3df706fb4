#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls of halfulp.torch beside those of PyTorch, torchao and QPyTorch on the same tensors: medians of processor time.

  bench_torch_calls.py [--threads 1] [--rounds 11] [--only TEXT]

HALFULP_LIBRARY and PYTHONPATH name a build and the source of the package where it is not installed (`make
bench-torch-calls` does all of it). The calls of a group run in turn, so that a busy machine slows all of them; each row
has the ratio to the first of its group. A peer that is not installed is left out, and said so.
"""
import argparse
import importlib
import statistics
import sys
import time
import timeit

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import halfulp.torch as ht

FP8 = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e5m2')


def peer(name):
    """A package to compare with, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print('bench_torch_calls: {} is not installed, its rows are left out'.format(name), file=sys.stderr)
        return None


def through_torch(x):
    return x.to(torch.float8_e4m3fn).to(torch.float32)


def small():
    """16 elements."""
    x, row = torch.linspace(-3, 3, 16), torch.linspace(-3, 3, 16).reshape(1, 16)
    grown = x.clone().requires_grad_()
    quantizer, blocks = ht.Quantizer('float8_e4m3fn'), ht.Quantizer('nvfp4')
    calls = {'torch: .to(float8_e4m3fn).to(float32), with a gradient': lambda: through_torch(grown),
             'ht.quantize, without a gradient': lambda: ht.quantize(x, 'float8_e4m3fn'),
             'ht.quantize, with a gradient': lambda: ht.quantize(grown, 'float8_e4m3fn'),
             'ht.quantize, its gradient rounded': lambda: ht.quantize(grown, 'float8_e4m3fn', backward='float8_e5m2'),
             'ht.quantize, stochastic': lambda: ht.quantize(grown, 'float8_e4m3fn,sra:8', stream=(7, 0)),
             'ht.Quantizer': lambda: quantizer(grown), 'ht.Quantizer of NVFP4': lambda: blocks(grown)}
    qtorch = peer('qtorch.quant')
    if qtorch is not None:
        calls['qtorch.float_quantize, without a gradient'] = lambda: qtorch.float_quantize(x, 4, 3, 'nearest')
    yield 'small calls, 16 elements', 'us', calls
    plain, low = nn.Linear(16, 16), ht.Linear(16, 16, recipe=FP8)
    yield 'a layer of 16 x 16, one row, forward', 'us', {
        'torch.nn.Linear': lambda: plain(row), 'ht.Linear': lambda: low(row)}
    yield 'the same, forward and backward', 'us', {
        'torch.nn.Linear': lambda: plain(row).backward(row), 'ht.Linear': lambda: low(row).backward(row)}


def large():
    """2^24 elements."""
    x, given = torch.randn(1 << 24), torch.zeros(1 << 24)
    calls = {'torch: clone()': x.clone, 'torch: copy_ into a given tensor': lambda: given.copy_(x),
             'torch: .to(float8_e4m3fn).to(float32)': lambda: through_torch(x),
             'ht.quantize': lambda: ht.quantize(x, 'float8_e4m3fn'),
             'ht.quantize, out=': lambda: ht.quantize(x, 'float8_e4m3fn', out=given),
             'ht.quantize into MXFP8': lambda: ht.quantize(x, 'mxfp8_e4m3')}
    torchao = peer('torchao.prototype.mx_formats.mx_tensor')
    if torchao is not None:
        kind, matrix = torch.float8_e4m3fn, x.reshape(4096, 4096)
        calls['torchao: MXTensor and back'] = lambda: torchao.MXTensor.to_mx(matrix, kind, 32).dequantize(torch.float32)
    yield '2^24 elements', 'ms', calls


def layer():
    """Products of 1024 x 1024 x 1024."""
    x, g = torch.randn(1024, 1024, requires_grad=True), torch.randn(1024, 1024)
    nets = {'torch.nn.Linear': nn.Linear(1024, 1024), 'ht.Linear, nothing rounded': ht.Linear(1024, 1024),
            'ht.Linear, FP8 operands': ht.Linear(1024, 1024, recipe=FP8),
            'ht.Linear, MXFP8 operands': ht.Linear(1024, 1024, recipe='mxfp8_e4m3')}

    def both(net):
        return lambda: torch.autograd.grad(net(x), [x, *net.parameters()], g)
    yield 'a layer of 1024 x 1024, 1024 rows, forward and backward, sums fp32', 'ms', {
        name: both(net) for name, net in nets.items()}


class Block(nn.Module):
    """A block of GPT-2."""

    def __init__(self, width):
        super().__init__()
        self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.one(x)).unflatten(-1, (3, 4, -1)).movedim(-3, 0).transpose(-2, -3)
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(-2, -3).flatten(-2))
        return x + self.down(nn.functional.gelu(self.up(self.two(x))))


class Nothing(TorchDispatchMode):
    """The least that something below autograd costs that sees all operators."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def context():
    """What ht.precision adds to a step in which it computes nothing itself, and the step under FP8."""
    net = nn.Sequential(nn.Embedding(2000, 256), *(Block(256) for _ in range(4)), nn.Linear(256, 2000))
    tokens = torch.randint(0, 2000, (4, 64))

    def step():
        nn.functional.cross_entropy(net(tokens).flatten(0, 1), tokens.flatten()).backward()
        net.zero_grad()

    def inside(recipe):
        entered = ht.precision(recipe, model=net)

        def go():
            with entered:
                step()
            entered.reset()
        return go
    def below(mode):
        def go():
            with mode():
                step()
        return go
    yield 'a step of a GPT, 4 blocks of 256, 4 x 64 tokens', 'ms', {
        'torch': step, "inside of an empty mode of torch's dispatcher": below(Nothing),
        'inside of ht.precision(None)': inside(None), 'inside of ht.precision, FP8': inside(FP8)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=11)
    parser.add_argument('--only', default='', help='groups whose titles have this text')
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    print('PyTorch {}, {} threads: median and smallest of {} rounds, processor time of a call, median over the first row\'s'
          .format(torch.__version__, options.threads, options.rounds))
    for make in (small, large, layer, context):
        for title, unit, calls in make():
            if options.only not in title:
                continue
            often, scale = (200, 1e6) if unit == 'us' else (1, 1e3)
            times = {name: [] for name in calls}
            for i in range(options.rounds + 1):
                for name, call in calls.items():
                    spent = timeit.timeit(call, timer=time.process_time, number=often) / often * scale
                    if i:  # the first call makes what later ones find
                        times[name].append(spent)
            print('{}, {}:'.format(title, unit))
            first = statistics.median(next(iter(times.values())))
            for name, spent in times.items():
                middle = statistics.median(spent)
                print('  {:<52}{:9.1f}{:9.1f}{:8.2f}'.format(name, middle, min(spent), middle / first), flush=True)


if __name__ == '__main__':
    main()
