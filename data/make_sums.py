#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes sums_a.npy and sums_b.npy, two float32 matrices on whose product accumulation models differ.

    python3 data/make_sums.py data

The values are integers times powers of two from Python's generator with seed 17, exact in binary16, so the files are
the same on every machine. Magnitudes spread over twelve binades and three of four values are positive: sums grow, and
small terms meet large sums.
"""

import pathlib
import random
import struct
import sys

SEED = 17
ROWS, TERMS, COLUMNS = 16, 1024, 16


def draw(source):
    magnitude = source.randrange(1024, 2048) * 2.0 ** -source.randrange(8, 20)
    return magnitude if source.randrange(4) else -magnitude


def npy(shape, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % shape
    header += " " * (-(11 + len(header)) % 64) + "\n"
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    return head + struct.pack("<%df" % len(values), *values)


def main(folder):
    source = random.Random(SEED)
    for name, shape in (("sums_a.npy", (ROWS, TERMS)), ("sums_b.npy", (TERMS, COLUMNS))):
        values = [draw(source) for _ in range(shape[0] * shape[1])]
        (folder / name).write_bytes(npy(shape, values))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
