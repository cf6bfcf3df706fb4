# SPDX-License-Identifier: MIT
"""A model of tensors of several kinds, and the command on it."""

import random
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, parse_safetensors, safetensors  # noqa: E402


def bfloats(values):
    """bfloat16 by cutting: the values need not be others'."""
    return b"".join(struct.pack("<f", v)[2:] for v in values)


def from_bfloats(data):
    return [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(0, len(data), 2)]


class Base(support.Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(5)

        def draw(n, s=1.0):
            return [struct.unpack("<f", struct.pack("<f", rng.gauss(0, s)))[0] for _ in range(n)]

        self.tensors = [
            ("model.0.weight", "F32", (6, 70), floats(draw(420))),
            ("model.0.bias", "F32", (6,), floats(draw(6))),
            ("model.1.weight", "BF16", (5, 3, 16), bfloats(draw(240, 0.02))),
            ("model.1.half", "F16", (33, 3), floats(draw(99), "<e")),
            ("model.1.double", "F64", (2, 9), floats(draw(18), "<d")),
            ("steps", "I64", (2, 2), struct.pack("<4q", 1, -2, 3, 4)),
            ("mask", "BOOL", (3, 1), b"\1\0\1"),
            ("scale", "F32", (), floats([0.7])),
            ("old", "U16", (2, 2), bytes(range(8))),
            ("empty", "F32", (0, 7), b""),
        ]
        self.metadata = {"format": "pt", "who": 'ä "quoted" <b>&amp;</b>'}
        self.write("m.safetensors", safetensors(self.tensors, self.metadata))
        self.rounded = ["model.0.weight", "model.1.weight", "model.1.half", "model.1.double", "empty"]

    def quantize(self, fmt, *args, code=0):
        return self.ok(
            "quantize", "-f", fmt, self.path("m.safetensors"), "-o", self.path("o.safetensors"), *args, code=code
        )

    def out(self, name="o.safetensors"):
        return parse_safetensors(self.read(name))
