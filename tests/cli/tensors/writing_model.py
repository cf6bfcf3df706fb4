# SPDX-License-Identifier: MIT
"""Weights for the tests of folders that are written for other programs: of eight digits, or of binary32's 24, with rows of
different sizes, a block of zeros, zeros with a sign, and ties. No random numbers of a library, so that digests stay."""

import struct

SHAPES = {"ct-fp8-block": (200, 320), "hf-fp8": (256, 384)}
DTYPES = ("F32", "BF16", "F16")
# The rules by which folders are written, of binary32, bfloat16 and binary16 (docs/checkpoints.md section 5).
RULES = {
    "ct-fp8-tensor": ["compressed-tensors.fp8.tensor" + end for end in ("", ".bf16", ".f16")],
    "ct-fp8-channel": ["compressed-tensors.fp8.channel" + end for end in ("", ".bf16", ".f16")],
    "ct-fp8-block": ["compressed-tensors.fp8.block" + end for end in ("", ".bf16", ".f16")],
    "ct-nvfp4": ["compressed-tensors.nvfp4" + end for end in (".cpu", ".bf16.both", ".f16.both")],
    "ct-mxfp4": ["compressed-tensors.mxfp4" + end for end in ("", "", ".f16")],
    "ct-mxfp8": ["compressed-tensors.mxfp8" + end for end in ("", "", ".f16")],
    "ct-int4": ["ct-int4"] * 3,
    "ct-int4-32": ["ct-int4-32"] * 3,
    "modelopt-fp8": ["modelopt.fp8" + end for end in ("", ".bf16", ".f16")],
    "modelopt-nvfp4": ["modelopt.nvfp4.cpu"] * 3,
    "hf-fp8": ["transformers.fp8"] * 3,
    "gpt-oss-mxfp4": ["triton_kernels.mxfp4"] * 3,
    "mlx-affine": ["mlx-affine"] * 3,
    "mlx-mxfp4": ["mlx.mxfp4.032" + end for end in ("", ".bf16", ".f16")],
    "mlx-mxfp8": ["mlx.mxfp8.032" + end for end in ("", ".bf16", ".f16")],
    "mlx-nvfp4": ["mlx.nvfp4.one" + end for end in ("", ".bf16", ".f16")],
}
TARGETS = tuple(RULES)


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
