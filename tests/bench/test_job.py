# SPDX-License-Identifier: MIT
"""bench/peers/job.py: what counts as low, on products that are made low by hand; and the stored row of halfulp.

usage: test_job.py SOURCE_ROOT BUILD_ROOT; ends with 77 where no Python has torch"""
import os
import pathlib
import subprocess
import sys

# Multiply-adds of the forward pass for each token: linear layers, the block's own product, attention.
LINEAR, OWN, ATTENTION = 64 * (192 + 64 + 2 * 256), 64 * 64, 2 * 32 * 64


def plainly(model, x):
    model(x).square().mean().backward()


def by_hand(model, x, steps=16):
    """Linear layers alone, of operands with four digits."""
    import torch

    def digits(z):
        return torch.ldexp((torch.frexp(z)[0] * steps).round() / steps, torch.frexp(z)[1])
    with torch.no_grad():
        for layer in (layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)):
            layer.weight.copy_(digits(layer.weight))
            layer.register_forward_pre_hook(lambda layer, args: digits(args[0]))
        model(x)


def one_digit_more(model, x):
    by_hand(model, x, 32)


def checks(peers):
    sys.path.insert(0, peers)
    import job

    def row(package):
        job.NAMES['one'] = package
        return job.row_of('one')
    job.version_of = str
    made = row(plainly)
    assert (made['forward'], made['backward'], made['lines']) == ('0 %', '0 %', 1), made
    made = row(by_hand)
    assert made['forward'] == '%.0f %%' % (100 * LINEAR / (LINEAR + OWN + ATTENTION)) and made['backward'] == 'not there', made
    assert made['left'] == 'forward: bmm 7 %; forward: mm 7 %', made
    made = row(one_digit_more)
    assert made['forward'] == '0 %', made
    made, kept = row(job.with_halfulp), next(one for one in job.stored() if one['package'] == 'halfulp')
    assert (made['forward'], made['backward'], made['left']) == ('100 %', '100 %', 'nothing'), made
    assert all(str(made[key]) == kept[key] for key in ('lines', 'forward', 'backward', 'left')), kept
    print('what is low is counted')


def main():
    if sys.argv[1] == '--checks':
        return checks(sys.argv[2])
    source, build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    sys.path.insert(0, str(source / 'tests' / 'examples'))
    import staged
    python = staged.python_with_torch(build)
    env = dict(os.environ, PYTHONPATH=str(source / 'python'), HALFULP_LIBRARY=str(build), PYTHONDONTWRITEBYTECODE='1')
    return subprocess.run([python, __file__, '--checks', str(source / 'bench' / 'peers')], env=env).returncode


if __name__ == '__main__':
    sys.exit(main())
