#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One job in several packages: every product of a block of a transformer in MXFP8, forward and backward.

usage: job.py BUILD                measures what is there, and writes job.csv and the table of README.md
       job.py --tables [--check]   writes the table from job.csv alone; --check compares them

BUILD has halfulp's libraries, and in peers/packages what peers.py has installed there. Of a package that is not there the row
stays as it was. microxcaling has no package: MICROXCALING names a clone.

A multiply-add counts as low where no element of both operands has more than the four significant digits of E4M3, whatever
their scale: an operator of torch is looked at as it runs, below autograd. What halfulp's own operators multiply is counted by
the report of ht.precision, which a test of its own counts as well (python/tests/with_torch/test_torch_zoo.py)."""
import csv
import importlib.metadata
import inspect
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RESULT = HERE / 'job.csv'
COLUMNS = ['package', 'version', 'lines', 'forward', 'backward', 'left', 'how']
BEGIN, END = '<!-- job: written by make bench-peers -->\n', '<!-- end of job -->\n'
# What is not run here: of each package what its documentation says.
READ = [
    {'package': 'Transformer Engine', 'version': '2.20', 'how': 'from its documentation: it requires a GPU',
     'left': 'products of attention, unless its recipe says so; products of modules that are not its own'},
    {'package': 'MPTorch', 'version': '070c978', 'how': 'from its documentation: it is built from source',
     'left': 'products of modules and functions that are not its own'},
]


def model_and_sample():
    import torch
    from torch import nn

    class Block(nn.Module):
        """A block of a transformer, with a product of its own at the end."""
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(64, 192), nn.Linear(64, 64)
            self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)
            self.own = nn.Parameter(torch.randn(64, 64) / 8)

        def forward(self, x):
            heads = self.qkv(x).view(*x.shape[:2], 3, 2, 32).permute(2, 0, 3, 1, 4)
            a = nn.functional.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(x.shape)
            x = x + self.out(a)
            x = x + self.down(nn.functional.relu(self.up(x)))
            return torch.matmul(x, self.own)
    torch.manual_seed(0)
    return Block(), torch.randn(4, 32, 64)


# ---- the job in each package: what a user writes, which is what the lines are counted of ----

def with_halfulp(model, x):
    import halfulp.torch as ht
    with ht.precision('mxfp8_e4m3', strict=True) as p:
        model(x).square().mean().backward()
    return p


def with_torchao(model, x):
    import torch
    from torchao.prototype.mx_formats import MXDynamicActivationMXWeightConfig
    from torchao.quantization import quantize_
    from torchao.quantization.quantize_.common import KernelPreference
    config = MXDynamicActivationMXWeightConfig(activation_dtype=torch.float8_e4m3fn, weight_dtype=torch.float8_e4m3fn,
                                               kernel_preference=KernelPreference.EMULATED)
    quantize_(model.bfloat16(), config)
    model(x.bfloat16())


def with_qtorch(model, x):
    import torch
    from qtorch import FloatingPoint
    from qtorch.quant import Quantizer, quantizer

    class Rounded(torch.nn.Module):
        def forward(self, weight):
            return quantizer(FloatingPoint(4, 3))(weight)
    e4m3 = FloatingPoint(4, 3)
    around = Quantizer(e4m3, e4m3, 'nearest', 'nearest')
    for layer in [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)]:
        torch.nn.utils.parametrize.register_parametrization(layer, 'weight', Rounded())
        layer.register_forward_pre_hook(lambda layer, args: around(args[0]))
        layer.register_forward_hook(lambda layer, args, z: around(z))
    model(x).square().mean().backward()


def with_brevitas(model, x):
    import torch
    import brevitas.nn as qnn
    from brevitas.quant.mx_quant_ocp import MXFloat8e4m3Act, MXFloat8e4m3Weight
    for name, layer in list(model.named_children()):
        low = qnn.QuantLinear(layer.in_features, layer.out_features, weight_quant=MXFloat8e4m3Weight,
                              input_quant=MXFloat8e4m3Act)
        low.load_state_dict(layer.state_dict(), strict=False)
        setattr(model, name, low)
    model(x).square().mean().backward()


def with_microxcaling(model, x):
    from mx import finalize_mx_specs, mx_mapping
    specs = finalize_mx_specs({'w_elem_format': 'fp8_e4m3', 'a_elem_format': 'fp8_e4m3', 'block_size': 32,
                               'scale_bits': 8, 'custom_cuda': False, 'quantize_backprop': True})
    mx_mapping.inject_pyt_ops(specs)
    make = type(model)
    state, model = model.state_dict(), make()
    model.load_state_dict(state)
    model(x).square().mean().backward()


def counted(package):
    """Multiply-adds of a job: {(direction, low): count}, and what is not low."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry

    def low(x):
        digits = torch.frexp(x.detach().float().flatten())[0] * 16
        return bool((digits == digits.round()).all())

    class Seen(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.work, self.left = {}, {}

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if any(kind is not torch.Tensor and kind is not torch.nn.Parameter for kind in types):
                return NotImplemented  # a type of its own, which multiplies below
            z = func(*args, **(kwargs or {}))
            if func.overloadpacket in flop_registry:
                work = flop_registry[func.overloadpacket](*args, **(kwargs or {}), out_val=z) // 2
                operands = [x for x in args if isinstance(x, torch.Tensor) and x.ndim > 1][-2:]
                name, good = func.overloadpacket.__name__, all(map(low, operands))
                self.add('backward' if torch._C._current_graph_task_id() != -1 else 'forward', good, work, name)
            return z

        def add(self, direction, good, work, name):
            self.work[direction, good] = self.work.get((direction, good), 0) + work
            if not good:
                self.left[direction, name] = self.left.get((direction, name), 0) + work
    model, x = model_and_sample()
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH), Seen() as seen:
        made = package(model, x)
    for row in made.report().rows if made is not None else []:
        seen.add('forward' if row['part'] == 'forward' else 'backward', row['in'] == 'halfulp', row['multiply_adds'], row['operator'])
    return seen


NAMES = {'halfulp': with_halfulp, 'torchao': with_torchao, 'qtorch': with_qtorch, 'brevitas': with_brevitas,
         'microxcaling': with_microxcaling}


def version_of(name):
    if name != 'microxcaling':
        return importlib.metadata.version(name) if name != 'halfulp' else 'this tree'
    import peers
    return peers.version_of(pathlib.Path(os.environ['MICROXCALING']))


def row_of(name):
    """What one package does, measured."""
    seen = counted(NAMES[name])

    def share(direction):
        yes, no = (seen.work.get((direction, good), 0) for good in (True, False))
        return '%.0f %%' % (100 * yes / (yes + no)) if yes + no else 'not there'
    total = {direction: sum(n for (way, _), n in seen.work.items() if way == direction) for direction in ('forward', 'backward')}
    left = ['%s: %s %.0f %%' % (way, operator, 100 * n / total[way]) for (way, operator), n in seen.left.items()]
    lines = [line for line in inspect.getsource(NAMES[name]).split('\n')[1:] if line.strip() and 'return p' not in line]
    return {'package': name, 'version': version_of(name), 'lines': len(lines), 'forward': share('forward'),
            'backward': share('backward'), 'left': '; '.join(left) or 'nothing', 'how': 'run'}


# ---- the table ----

def stored():
    with open(RESULT, newline='', encoding='utf-8') as file:
        return list(csv.DictReader(file))


def table(rows):
    lines = ['| package | lines | low, forward | low, backward | what stays in float32, of the multiply-adds | |', '|---|---|---|---|---|---|']
    for row in rows:
        cells = [row[key] or '-' for key in ('lines', 'forward', 'backward', 'left', 'how')]
        lines.append('| %s |' % ' | '.join(['%s %s' % (row['package'], row['version'])] + cells))
    return '\n'.join(lines) + '\n'


def write_table(check):
    path = HERE / 'README.md'
    text = path.read_text(encoding='utf-8')
    before, rest = text.split(BEGIN)
    made = before + BEGIN + '\n' + table(stored()) + '\n' + END + rest.split(END)[1]
    if not check:
        path.write_text(made, encoding='utf-8')
    elif made != text:
        sys.exit('bench/peers/README.md: the table of one job is not that of job.csv: bench/peers/job.py --tables')


def measure():
    """A process for each package: microxcaling replaces functions of torch."""
    rows = {row['package']: row for row in (stored() if RESULT.exists() else [])}
    for name in NAMES:
        done = subprocess.run([sys.executable, '-B', __file__, '--one', name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            print('%s: not measured: %s' % (name, (done.stderr.strip().split('\n') or [''])[-1]))
        else:
            rows.update({row['package']: row for row in csv.DictReader(done.stdout.split('\n')[-3:], COLUMNS) if row['package'] in NAMES})
    rows.update({row['package']: row for row in READ})
    with open(RESULT, 'w', newline='', encoding='utf-8') as file:
        writer = csv.DictWriter(file, COLUMNS, restval='', lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows.values())


def main():
    if sys.argv[1] == '--one':
        if sys.argv[2] == 'microxcaling':
            sys.path.insert(0, os.environ['MICROXCALING'])
        csv.DictWriter(sys.stdout, COLUMNS).writerow(row_of(sys.argv[2]))
        return
    if sys.argv[1] != '--tables':
        build = pathlib.Path(sys.argv[1]).resolve()
        os.environ.update(PYTHONPATH='%s:%s' % (HERE.parent.parent / 'python', build / 'peers' / 'packages'), HALFULP_LIBRARY=str(build))
        measure()
    write_table('--check' in sys.argv)


if __name__ == '__main__':
    main()
