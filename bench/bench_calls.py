#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What one small call costs from Python, beside NumPy's and PyTorch's: medians in microseconds of processor time.

  bench_calls.py [--elements 16] [--rounds 21]

HALFULP_LIBRARY and PYTHONPATH name a build and the source of the package where it is not installed. The calls run in
turn, so that a busy machine slows all of them; PyTorch's rows are left out where it is not installed.
"""
import argparse
import statistics
import time
import timeit

import numpy as np

import halfulp

CALLS = 200


def numpy_calls(n):
    x = np.linspace(-3, 3, n, dtype=np.float32)
    strided, out, events = np.repeat(x, 2)[::2], np.empty_like(x), halfulp.Events()
    format = halfulp.Format("float8_e4m3fn")
    codes = halfulp.encode(x, format)
    return {
        "numpy.add(x, x)": lambda: np.add(x, x),
        "x.astype(numpy.float16)": lambda: x.astype(np.float16),
        "halfulp.quantize(x, 'float8_e4m3fn')": lambda: halfulp.quantize(x, "float8_e4m3fn"),
        "halfulp.quantize(x, Format(...))": lambda: halfulp.quantize(x, format),
        "halfulp.encode(x, 'float8_e4m3fn')": lambda: halfulp.encode(x, "float8_e4m3fn"),
        "halfulp.quantize(0.3, 'float8_e4m3fn')": lambda: halfulp.quantize(0.3, "float8_e4m3fn"),
        "halfulp.quantize(..., saturate='finite', threads=1)":
            lambda: halfulp.quantize(x, "float8_e4m3fn", saturate="finite", threads=1),
        "halfulp.quantize(..., 'sra:8', stream=7)": lambda: halfulp.quantize(x, "float8_e4m3fn", "sra:8", stream=7),
        "halfulp.quantize(..., events=...)": lambda: halfulp.quantize(x, "float8_e4m3fn", events=events),
        "halfulp.quantize(..., out=...)": lambda: halfulp.quantize(x, "float8_e4m3fn", out=out),
        "halfulp.decode(codes, 'float8_e4m3fn')": lambda: halfulp.decode(codes, "float8_e4m3fn"),
        "halfulp.convert(codes, 'float8_e5m2', of=...)":
            lambda: halfulp.convert(codes, "float8_e5m2", of="float8_e4m3fn"),
        "halfulp.quantize(x[::2], ...), the general way": lambda: halfulp.quantize(strided, "float8_e4m3fn"),
        "halfulp.quantize(x, 'posit8')": lambda: halfulp.quantize(x, "posit8"),
        "halfulp.quantize(x, 'nvfp4')": lambda: halfulp.quantize(x, "nvfp4"),
    }


def torch_calls(n):
    try:
        import torch
    except ImportError:
        return {}
    import halfulp.torch as ht
    x = torch.linspace(-3, 3, n)
    return {
        "torch.add(x, x)": lambda: torch.add(x, x),
        "x.to(torch.float8_e4m3fn).to(torch.float32)": lambda: x.to(torch.float8_e4m3fn).to(torch.float32),
        "ht.quantize(x, 'float8_e4m3fn')": lambda: ht.quantize(x, "float8_e4m3fn"),
        "ht.quantize(x, 'nvfp4')": lambda: ht.quantize(x, "nvfp4"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    calls = {**numpy_calls(options.elements), **torch_calls(options.elements)}
    times = {name: [] for name in calls}
    for _ in range(options.rounds):
        for name, call in calls.items():
            times[name].append(timeit.timeit(call, timer=time.thread_time, number=CALLS) / CALLS * 1e6)
    print("median and smallest of {} rounds, microseconds of processor time per call, {} elements".format(options.rounds,
                                                                                       options.elements))
    for name, list_of in times.items():
        print("  {:<52}{:8.1f}{:8.1f}".format(name, statistics.median(list_of), min(list_of)))


if __name__ == "__main__":
    main()
