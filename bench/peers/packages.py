# SPDX-License-Identifier: MIT
"""Python packages beside halfulp on the same arrays, one thread: ml_dtypes, PyTorch, torchao, NumKong.

usage: packages.py LOG2 ROUNDS        prints rows of compare.py as CSV; of a package that is not there, why

Numbers are 2^LOG2 of a normal distribution, in rows of 4096. Each call has the other package's own defaults; outputs are made
by the call. Times are the best of all rounds."""
import csv
import importlib.metadata
import sys
import time

import numpy as np

import halfulp

COLUMNS = ['library', 'version', 'call', 'theirs ns', 'halfulp ns', 'compared', 'different', 'not measured']
RUNS = 3


def best(call, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def codes_of(x):
    """The bytes of a result, whatever holds them."""
    if hasattr(x, 'detach'):
        import torch
        x = x.detach().view(torch.uint8).numpy()
    return np.asarray(x).view(np.uint8).ravel()


def with_ml_dtypes(x):
    import ml_dtypes
    yield 'ml_dtypes', 'float32 to E4M3 codes', lambda: x.astype(ml_dtypes.float8_e4m3fn), lambda: halfulp.encode(x, 'float8_e4m3fn')
    yield 'ml_dtypes', 'float32 to bfloat16', lambda: x.astype(ml_dtypes.bfloat16), lambda: halfulp.encode(x, 'bfloat16')


def with_torch(x):
    import torch
    torch.set_num_threads(1)
    y = torch.from_numpy(x)
    yield 'torch', 'float32 to E4M3 codes', lambda: y.to(torch.float8_e4m3fn), lambda: halfulp.encode(x, 'float8_e4m3fn')


def with_torchao(x):
    import torch
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize
    torch.set_num_threads(1)
    y = torch.from_numpy(x)
    yield ('torchao', 'float32 to MXFP8 blocks', lambda: to_mx(y, torch.float8_e4m3fn, 32)[1],
           lambda: halfulp.scaled.encode(x, 'mxfp8_e4m3').codes)
    yield ('torchao', 'float32 to NVFP4 blocks, one level', lambda: nvfp4_quantize(y)[1],
           lambda: halfulp.scaled.encode(x, 'scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio;steps=multiply)').codes)


def with_numkong(x):
    import numkong
    yield 'numkong', 'float32 to E4M3 codes', lambda: numkong.astype(x, 'e4m3'), lambda: halfulp.encode(x, 'float8_e4m3fn')
    yield 'numkong', 'float32 to bfloat16', lambda: numkong.astype(x, 'bf16'), lambda: halfulp.encode(x, 'bfloat16')


def rows(x, rounds):
    for package in (with_ml_dtypes, with_torch, with_torchao, with_numkong):
        name = package.__name__[len('with_'):]
        try:
            for library, call, theirs, ours in package(x):
                theirs(), ours()
                times = [(best(theirs, rounds), best(ours, rounds)) for _ in range(RUNS)]
                them, us = (1e9 * min(pair[i] for pair in times) / x.size for i in (0, 1))
                a, b = codes_of(theirs()), codes_of(ours())
                b = b[::2] | b[1::2] << 4 if b.size == 2 * a.size else b  # theirs are packed
                same = a.size == b.size
                yield dict(zip(COLUMNS, [library, importlib.metadata.version(library.replace('_', '-')), call, '%.3g' % them, '%.3g' % us,
                                         a.size if same else 0, int((a != b).sum()) if same else 0, '']))
        except ImportError as error:
            yield {'library': name, 'not measured': str(error)}


def main():
    log2, rounds = map(int, sys.argv[1:])
    x = np.random.default_rng(7).standard_normal((max(1, 2**log2 // 4096), 4096), np.float32)
    out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator='\n')
    out.writeheader()
    out.writerows(rows(x, rounds))


if __name__ == '__main__':
    main()
