# SPDX-License-Identifier: MIT
"""QPyTorch's quantizers for the CPU. Its Python module compiles its extension when it is imported, which takes PyTorch's headers and a
minute; here the same source file of the installed package is compiled alone, against the few names of PyTorch that it uses."""
import ctypes
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, = common.need('numpy')
run = common.Run(sys.argv)
try:
    package = importlib.metadata.distribution('qtorch')
except importlib.metadata.PackageNotFoundError:
    print('skipped: the Python package qtorch is not there')
    sys.exit(common.SKIP)
compiler = os.environ.get('CXX') or shutil.which('g++') or shutil.which('clang++') or shutil.which('c++')
if not compiler:
    print('skipped: no C++ compiler')
    sys.exit(common.SKIP)
source = pathlib.Path(package.locate_file('qtorch/quant/quant_cpu'))
here = pathlib.Path(__file__).resolve().parent / 'qtorch'
subprocess.run(compiler.split() + ['-std=c++17', '-O1', '-w', '-shared', '-fPIC', '-fno-fast-math', '-I', str(here), '-I', str(source),
                                   '-DQTORCH_SOURCE="%s"' % (source / 'quant_cpu.cpp'), str(here / 'calls.cpp'),
                                   str(source / 'bit_helper.cpp'), str(source / 'sim_helper.cpp'), '-o', run.path('qtorch.so')], check=True)
calls = ctypes.CDLL(run.path('qtorch.so'))


def call(name, x, *numbers):
    x = np.ascontiguousarray(x, np.float32)
    z = np.empty_like(x)
    as_floats = ctypes.POINTER(ctypes.c_float)
    getattr(calls, name)(z.ctypes.data_as(as_floats), x.ctypes.data_as(as_floats), ctypes.c_size_t(len(x)), *numbers)
    return z


for e, m in ((4, 3), (5, 2), (2, 1), (3, 2), (2, 3), (5, 10), (6, 9), (7, 8), (3, 12), (7, 22)):
    preset = 'qtorch.float(%d,%d)' % (e, m)
    grid = run.values(preset, 1 + e + m)[1] if e + m < 16 else np.array([0, 2.0**-62, 1, 1 + 2.0**-22, 2.0**64])
    x = run.operands(grid, np.float32)
    ours, there = run.quantize(preset, x), call('qtorch_float', x, m, e)
    run.presets += 1
    # The carry of a NaN with many digits goes out at the top: a zero of the other sign. All other NaNs end as max.
    wraps = (x.view(np.uint32) & 0x7fffffff).astype(np.uint64) + (1 << (22 - m)) >= 1 << 31
    run.differ('%s: %d NaNs become 0' % (preset, wraps.sum()), wraps.any() and np.isnan(x[wraps]).all() and (there[wraps] == 0).all(),
               int(wraps.sum()))
    good = (ours.view(np.uint32) == there.view(np.uint32)) | wraps
    if run.say(preset, ours, there, x, good):
        print('%s: %d operands, equal values and signs' % (preset, len(x)))

# Stochastic rounding draws from its own generator: the two candidates can be compared, and how often each is taken.
x = np.full(100000, 1 + 0.3 / 8, np.float32)
z = call('qtorch_float_stochastic', x, 3, 4)
share = float((z == 1.125).mean())
np.save(run.path('x.npy'), x)
run.halfulp('quantize', '-f', 'fp(4,3,0):finite', '-r', 'sra:20', run.path('x.npy'), run.path('z.npy'))
ours = float((np.load(run.path('z.npy')) == 1.125).mean())
run.differ('stochastic: the same candidates, shares %.3f there and %.3f here' % (share, ours),
           set(np.unique(z)) == {1, 1.125} and abs(share - 0.3) < 0.01 and abs(ours - 0.3) < 0.01, len(x))

# Fixed point: x + 1/2 is rounded in binary32 before it is cut, so that 1/2 + 2^-24 units become 0; else q(m.n), ties to even.
rng = np.random.default_rng(3)
x = np.concatenate([rng.normal(size=100000) * 4, np.arange(-200, 200) / 32]).astype(np.float32)
steps = np.abs(x * 16)
plain = (steps >= 1) | (steps <= 0.5)
np.save(run.path('x.npy'), x)
run.halfulp('quantize', '-f', 'q(3.4)', run.path('x.npy'), run.path('z.npy'))
ours, there = np.load(run.path('z.npy')), call('qtorch_fixed', x, 8, 4)
if run.say('fixed_point_quantize(8, 4) and q(3.4)', ours, there, x, (ours == there) | ~plain):
    print('fixed_point_quantize(8, 4) and q(3.4): %d operands, equal values' % plain.sum())
edge = np.array([(0.5 + 2.0**-24) / 16], np.float32)
run.differ('fixed: half a unit and a little becomes 0 there', call('qtorch_fixed', edge, 8, 4)[0] == 0 and
           run.quantize('q(3.4)', edge)[0] == 1 / 16, 1)

# Block floating point, the tensor a block: bfp(wl - 1, 8, N), but for ties, which go toward positive there (after an addition in
# binary32, so that what is nearly a tie may be taken for one).
for wl in (4, 8, 12):
    x = rng.normal(size=(200, 512)).astype(np.float32) * np.exp2(rng.integers(-9, 9, (200, 1))).astype(np.float32)
    x[:, :40] = np.round(x[:, :40] * 64) / 64
    steps = np.abs(x) / np.exp2(np.frexp(np.abs(x).max(1, keepdims=True))[1] - wl + 1.0)
    tie = np.abs(steps % 1 - 0.5) < 2.0**-9
    ours = run.quantize('bfp(%d,8,512)' % (wl - 1), x)
    there = np.stack([call('qtorch_block', row, wl) for row in x])
    if run.say('block_quantize(%d)' % wl, ours.ravel(), there.ravel(), x.ravel(), ((ours == there) | tie).ravel()):
        print('block_quantize(%d) and bfp(%d,8,512): %d operands, equal values' % (wl, wl - 1, (~tie).sum()))
row = np.array([1, 1.5 / 64, -1.5 / 64], np.float32)
run.differ('block: ties go toward positive there', (call('qtorch_block', row, 8)[1:] == [2 / 64, -1 / 64]).all(), 2)
run.done('qtorch ' + package.version)
