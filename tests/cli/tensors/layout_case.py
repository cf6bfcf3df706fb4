# SPDX-License-Identifier: MIT
"""What the tests of layouts share: files of tensors, and their values through decode."""

import json
import math
import os
import struct

import support
from layout_files import Draw
from support import parse_safetensors, safetensors


class Layouts(support.Case):
    def setUp(self):
        super().setUp()
        self.draw = Draw(46)

    def model(self, tensors, metadata=None, config=None, name="m.safetensors"):
        self.write(name, safetensors(tensors, metadata))
        if config is not None:
            self.write("config.json", json.dumps(config).encode())
        elif os.path.exists(self.path("config.json")):
            os.remove(self.path("config.json"))
        return self.path(name)

    def same(self, got, want):
        self.assertEqual(len(got), len(want))
        for i, (x, y) in enumerate(zip(got, want)):
            if not (math.isnan(x) and math.isnan(y)):
                self.assertEqual((i, x, math.copysign(1, x)), (i, y, math.copysign(1, y)))

    def decoded(self, path, *args, note=""):
        """The tensors of what decode makes of a model: names, each with dtype, shape and bytes."""
        result = support.run("decode", path, self.path("o.safetensors"), *args)
        self.assertEqual((result.returncode, note in result.stderr.decode()), (0, True), result.stderr)
        if not note:
            self.assertEqual(result.stderr, b"")
        return parse_safetensors(self.read("o.safetensors"))[0]

    def has(self, found, name, want, shape):
        self.assertEqual(found[name][:2], ("F32", tuple(shape)))
        data = found[name][2]
        self.same(struct.unpack("<%df" % (len(data) // 4), data), want)

    def check(self, tensors, want, shape, *args, name="layer.weight", note="", **kwargs):
        """The values of the one tensor of a layout; nothing but it and an ordinary tensor is in the result."""
        norm = ("norm.weight", "BF16", (2,), bytes(range(4)))
        found = self.decoded(self.model([*tensors, norm], **kwargs), *args, note=note)
        self.assertEqual(set(found), {name, "norm.weight"})
        self.assertEqual(found["norm.weight"], ("BF16", (2,), bytes(range(4))))
        self.has(found, name, want, shape)

    def refused(self, tensors, *words, args=(), **kwargs):
        path = self.model(tensors, **kwargs)
        self.bad("decode", path, self.path("no.safetensors"), *args, says=words)
        self.assertFalse(os.path.exists(self.path("no.safetensors")))
