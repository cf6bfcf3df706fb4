# SPDX-License-Identifier: MIT
"""Weights for the tests of folders that are written for other programs: of eight digits, or of binary32's 24, with rows of
different sizes, a block of zeros, zeros with a sign, and ties. No random numbers of a library, so that digests stay."""

import struct

SHAPES = {"ct-fp8-block": (200, 320), "hf-fp8": (256, 384)}
DTYPES = ("F32", "BF16", "F16")
TARGETS = (
    "ct-fp8-tensor", "ct-fp8-channel", "ct-fp8-block", "ct-nvfp4", "ct-mxfp4", "ct-mxfp8", "ct-int4", "ct-int4-32", "modelopt-fp8",
    "modelopt-nvfp4", "hf-fp8", "gpt-oss-mxfp4", "mlx-affine", "mlx-mxfp4", "mlx-mxfp8", "mlx-nvfp4")  # fmt: skip


def numbers(dtype, rows, cols):
    """The weights as Python's floats, row by row."""
    digits = 24 if dtype == "F32" else 8
    values = []
    for r in range(rows):
        for c in range(cols):
            h = (r * 7919 + c * 104729 + 1) * 2654435761 % 2**32
            h = (h ^ h >> 15) * 2246822519 % 2**32
            spread = (h >> 3) % 9 if r % 4 == 3 else 0
            values.append(((h >> 32 - digits) - 2 ** (digits - 1)) * 2.0 ** (r * 5 % 17 - spread - digits - 5))
    values[:128] = [0.0] * 128
    values[cols : cols + 3] = [-0.0, 0.0, -0.0]
    values[2 * cols : 3 * cols] = [(c % 65 - 32) / 8 for c in range(cols)]
    return values


def data(dtype, values):
    """The bytes of numbers that the dtype has."""
    if dtype == "BF16":
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return struct.pack("<%d%s" % (len(values), "f" if dtype == "F32" else "e"), *values)
