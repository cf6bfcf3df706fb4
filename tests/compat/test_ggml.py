# SPDX-License-Identifier: MIT
"""The blocks whose scales ggml searches for, byte for byte: its ggml-quants.c as the source package ggml-py has it, compiled alone, as
ISO C says (no fused products and sums, no vectors). pip downloads the package; it is not installed."""
import ctypes
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
import common  # noqa: E402

NAME, VERSION = 'ggml-py', '0.10.1'
HASH = 'sha256:77e840e8b87c319456331296333c641bc96232076dac00bb6b4563ab9422c71a'  # of the source package
PACKAGE = 'ggml_py-' + VERSION
KINDS = {'q2_k': ('q2_K', 84, 256), 'q3_k': ('q3_K', 110, 256), 'q4_k': ('q4_K', 144, 256), 'q5_k': ('q5_K', 176, 256),
         'q6_k': ('q6_K', 210, 256), 'iq4_nl': ('iq4_nl', 18, 32), 'iq4_xs': ('iq4_xs', 136, 256)}
WEIGHED = {'q4_0': ('q4_0', 18, 32), 'q4_1': ('q4_1', 20, 32), 'q5_0': ('q5_0', 22, 32), 'q5_1': ('q5_1', 24, 32), **KINDS}
np, = common.need('numpy')
run = common.Run(sys.argv)


def skip(why):
    print('skipped: ' + why)
    sys.exit(common.SKIP)


def archive():
    """The source package, downloaded once for an environment; pip asks its builder, scikit-build-core, for its name."""
    kept = pathlib.Path(sys.prefix) / (PACKAGE + '.tar.gz')
    if kept.exists():
        return kept
    pathlib.Path(run.path('ggml.txt')).write_text('%s==%s --hash=%s\n' % (NAME, VERSION, HASH))
    command = [sys.executable, '-m', 'pip', '--disable-pip-version-check', 'download', '--quiet', '--no-deps', '--no-binary', NAME, '--retries', '2',
               '--timeout', '20', '--no-build-isolation', '--require-hashes', '-d', run.path(''), '-r', run.path('ggml.txt')]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200, check=False)
    except subprocess.TimeoutExpired:
        skip('pip does not download %s in 200 seconds' % NAME)
    got = pathlib.Path(run.path(kept.name))
    if done.returncode or not got.exists():
        skip('pip does not download %s: %s' % (NAME, done.stdout.strip().split('\n')[-1]))
    if os.access(sys.prefix, os.W_OK) and sys.prefix != sys.base_prefix:
        shutil.copy(got, kept)
    return got


compiler = os.environ.get('CC') or shutil.which('gcc') or shutil.which('clang') or shutil.which('cc')
if not compiler:
    skip('no C compiler')
with tarfile.open(archive()) as tar:
    tar.extractall(run.path(''), [m for m in tar if '/vendor/ggml/include/' in m.name or '/vendor/ggml/src/ggml' in m.name])
ggml = pathlib.Path(run.path(PACKAGE)) / 'vendor/ggml'
calls_c = pathlib.Path(__file__).resolve().parent / 'ggml/calls.c'
subprocess.run(compiler.split() + ['-std=gnu11', '-O1', '-ffp-contract=off', '-DNDEBUG', '-D_GNU_SOURCE', '-w', '-shared', '-fPIC', '-I', str(ggml / 'include'),
                                   '-I', str(ggml / 'src'), '-I', str(ggml / 'src/ggml-cpu'), str(ggml / 'src/ggml-quants.c'), str(calls_c), '-lm',
                                   '-o', run.path('ggml.so')], check=True)
calls = ctypes.CDLL(run.path('ggml.so'))


def quantized(kind, x, importance=None):
    name, size, block = WEIGHED[kind]
    z = np.zeros((x.size // block, size), np.uint8)
    call = getattr(calls, 'quantize_' + name)
    call.restype = ctypes.c_size_t
    assert call(x.ctypes.data_as(ctypes.c_void_p), z.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(len(x)), ctypes.c_int64(x.shape[1]),
                None if importance is None else importance.ctypes.data_as(ctypes.c_void_p)) == z.size
    return z


def text(s):
    return struct.pack('<Q', len(s)) + s.encode()


def write(path, x):
    head = b'GGUF' + struct.pack('<IQQ', 3, 1, 0) + text('w') + struct.pack('<IQQIQ', 2, x.shape[1], x.shape[0], 0, 0)
    pathlib.Path(path).write_bytes(head + bytes(-len(head) % 32) + x.tobytes())


def blocks_of(path, size, count):
    data = pathlib.Path(path).read_bytes()
    return np.frombuffer(data[len(data) - (size * count + -(size * count) % 32):][:size * count], np.uint8).reshape(count, size)


# Rows of a normal distribution at many magnitudes; some with zeros, one number, whole numbers (ties), outliers, one sign, tiny ones. A
# quarter of the rows in every run, which has each of these some thirty times; all of them in the long run.
ROWS = 4000 if 'all' in sys.argv[2:] else 1000
rng = np.random.default_rng(22)
x = (rng.normal(size=(ROWS, 512)) * np.exp2(rng.integers(-30, 16, (ROWS, 1)))).astype(np.float32)
x[::7, :64] = 0
x[1::7, 32:96] = np.float32(0.3)
x[2::7] = np.abs(x[2::7])
x[3::7] = rng.integers(-8, 9, x[3::7].shape)
x[4::7, ::3] *= 30
x[5::7] = rng.uniform(-1, 1, x[5::7].shape)
x[6::14] = 0
x[13::21, 200] = 1e6
x[11::23] = -np.abs(x[11::23])
x[12::29] *= np.float32(2.0**-45)
x[17::31] *= np.float32(2.0**-90)
write(run.path('x.gguf'), x)
for kind, (_, size, block) in KINDS.items():
    run.halfulp('quantize', '-f', 'ggml.' + kind, '--codes', run.path('x.gguf'), run.path('o.gguf'))
    here, there = blocks_of(run.path('o.gguf'), size, x.size // block), quantized(kind, x)
    if run.say('blocks of ' + kind, here.ravel(), there.ravel(), there.ravel(), (here == there).ravel()):
        print('ggml.%s: %d blocks, every byte' % (kind, len(here)))
    run.presets += 1
# The same with importance matrices: as large as activations are, equal, with columns that count for nothing, and with one alone.
columns = [np.square(rng.normal(size=512)) * np.exp2(rng.integers(-8, 8, 512)), np.ones(512), np.where(np.arange(512) % 5 < 2, 0, rng.uniform(0, 1, 512)),
           np.where(np.arange(512) < 256, 0, 1e-3), np.eye(1, 512, 300)[0]]
for number, weights in enumerate(columns):
    weights = weights.astype(np.float32)
    head = struct.pack('<ii', 1, 1) + b'w' + struct.pack('<ii', 0, 512)
    pathlib.Path(run.path('imatrix.dat')).write_bytes(head + weights.tobytes())
    for kind, (_, size, block) in WEIGHED.items():
        run.halfulp('quantize', '-f', 'ggml.' + kind, '--codes', '--importance', run.path('imatrix.dat'), run.path('x.gguf'), run.path('o.gguf'))
        here, there = blocks_of(run.path('o.gguf'), size, x.size // block), quantized(kind, x, weights)
        if run.say('blocks of %s, importance %d' % (kind, number), here.ravel(), there.ravel(), there.ravel(), (here == there).ravel()):
            print('ggml.%s, importance %d: %d blocks, every byte' % (kind, number, len(here)))
        run.presets += 1
run.done('ggml of %s %s' % (NAME, VERSION))
