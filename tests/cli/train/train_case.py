# SPDX-License-Identifier: MIT
"""What the tests of halfulp train share: a small run, its files, the calls."""

import json
import math
import os
import shutil
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

SMALL = "[data]\nset = gratings\ncount = 64\ntest = 32\nsize = 8\n[run]\nbatch = 16\nepochs = 2\n"
FILES = [
    "checkpoint.safetensors",
    "config.ini",
    "evaluations.csv",
    "exponents.csv",
    "log.csv",
    "log.jsonl",
    "overflows.csv",
    "report.html",
    "tensors.csv",
]

class TrainCase(support.Case):
    def config(self, text, name="x.ini"):
        return self.write(name, text.encode() if isinstance(text, str) else text)

    def train(self, text, *more, name="x.ini", code=0):
        out = self.path(name.rsplit(".", 1)[0] + ".run")
        return self.ok("train", self.config(text, name), "--output", out, *more, code=code)

    def digest(self, text, *more, name="x.ini"):
        shutil.rmtree(self.path(name.rsplit(".", 1)[0] + ".run"), ignore_errors=True)
        return json.loads(self.train(text, "--json", *more, name=name))["digest"]

    def files(self, out="x.run"):
        """All of a folder, but for what a killed run has begun to write."""
        names = [n for n in sorted(os.listdir(self.path(out))) if not n.startswith(".halfulp-")]
        return {n: self.read(os.path.join(out, n)) for n in names}

    def rows(self, name):
        lines = self.read(name).decode().splitlines()
        head = lines[0].split(",")
        return [dict(zip(head, [float(c) if c else math.nan for c in line.split(",")])) for line in lines[1:]]
