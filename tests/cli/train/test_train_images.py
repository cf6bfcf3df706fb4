# SPDX-License-Identifier: MIT
"""halfulp train on images of a folder: scripts/data/images.py against docs/training/data.md in fractions, and runs on its files.
Left out where NumPy is missing."""

import hashlib
import importlib.util
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import unittest
from fractions import Fraction

sys.dont_write_bytecode = True
import support  # noqa: E402
from train_case import TrainCase  # noqa: E402

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "data" / "images.py"
RUN = ("[data]\nset = images\npath = set\nsize = 8\nclasses = 3\naugment = yes\n[run]\nbatch = 4\nsteps = 5\n"
       "[model]\nnet = conv(channels=4)\n")


def ppm(image):
    return b"P6\n# rows\n%d %d\n255\n" % (len(image[0]), len(image)) + bytes(c for row in image for pixel in row for c in pixel)


def image_of(seed, height, width):
    r = random.Random(seed)
    return [[[r.randrange(256) for _ in range(3)] for _ in range(width)] for _ in range(height)]


def resized(image, side):
    """The page's definition, one pixel after another."""
    sizes = len(image), len(image[0])
    short = min(sizes)
    news = [(2 * n * side + short) // (2 * short) for n in sizes]

    def weights(new, axis):
        old, out = sizes[axis], news[axis]
        return [max(0, 2 * max(old, out) - abs((2 * j + 1) * out - (2 * new + 1) * old)) for j in range(old)]

    z = []
    for i in range((news[0] - side) // 2, (news[0] - side) // 2 + side):
        a = weights(i, 0)
        z.append([])
        for k in range((news[1] - side) // 2, (news[1] - side) // 2 + side):
            b = weights(k, 1)
            sums = [sum(p * q * image[j][m][c] for j, p in enumerate(a) if p for m, q in enumerate(b) if q) for c in range(3)]
            z[-1].append([int(Fraction(s, sum(a) * sum(b)) + Fraction(1, 2)) for s in sums])
    return z


def npy(data):
    """Shape and bytes of a file of version 1.0."""
    length = struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:10 + length], {"__builtins__": {}})  # noqa: S307
    return head["descr"], head["shape"], data[10 + length:]


@unittest.skipUnless(importlib.util.find_spec("numpy"), "requires NumPy")
class Images(TrainCase):
    def setUp(self):
        super().setUp()
        self.images = {}
        for part, counts in (("train", {"b": 3, "a": 4, "c\u00e9": 3, "d": 2}), ("val", {"a": 2, "b": 2, "c\u00e9": 1, "d": 1})):
            for label, (name, count) in enumerate(sorted(counts.items())):
                os.makedirs(self.path("in/%s/%s" % (part, name)))
                for i in range(count):
                    image = image_of("%s%s%d" % (part, name, i), 5 + 7 * i + label, 9 + 3 * label)
                    self.images.setdefault(part, []).append((image, label))
                    with open(self.path("in/%s/%s/%d.ppm" % (part, name, i)), "wb") as file:
                        file.write(ppm(image))

    def script(self, *args, says=None):
        r = subprocess.run([sys.executable, "-B", SCRIPT, self.path("in"), self.path("set"), *args], capture_output=True, text=True,
                           check=False)
        if says:
            self.assertEqual(r.returncode, 1)
            self.assertIn(says, r.stderr)
        else:
            self.assertEqual((r.returncode, r.stderr), (0, ""))
        return r.stdout

    def test_files(self):
        """Pixels, labels, names and digests; a part of the classes."""
        self.assertIn("train: 12 images of 4 classes\n", self.script("--side", "10"))
        for part, images in self.images.items():
            kind, shape, data = npy(self.read("set/%s-images.npy" % part))
            self.assertEqual((kind, shape), ("|u1", (len(images), 10, 10, 3)))
            self.assertEqual(data, bytes(c for image, _ in images for row in resized(image, 10) for pixel in row for c in pixel))
            kind, shape, data = npy(self.read("set/%s-labels.npy" % part))
            self.assertEqual((kind, shape, data), ("<u2", (len(images),), b"".join(struct.pack("<H", n) for _, n in images)))
        self.assertEqual(self.read("set/classes.txt").decode(), "a\nb\nc\u00e9\nd\n")
        for line in self.read("set/sha256.txt").decode().splitlines():
            digest, name = line.split("  ")
            self.assertEqual(hashlib.sha256(self.read("set/" + name)).hexdigest(), digest)
        self.write("names", "d\na\n".encode())
        self.script("--side", "10", "--classes", self.path("names"))
        self.assertEqual(npy(self.read("set/train-labels.npy"))[2], b"\0\0" * 2 + b"\1\0" * 4)
        self.script("--side", "10", "--classes", "1")
        self.assertEqual(npy(self.read("set/train-labels.npy"))[1], (4,))

    def test_runs(self):
        """The first classes of more; threads and a stop change no bit."""
        self.script("--side", "10")
        got = self.digest(RUN)
        self.assertEqual(self.digest(RUN, "-j", "2", name="j.ini"), got)
        self.train(RUN, "--set", "run.steps=2", "--overwrite")
        self.assertEqual(json.loads(self.train(RUN, "--resume", "--json"))["digest"], got)
        three = self.train(RUN, "--overwrite")
        self.script("--side", "10", "--classes", "3")
        self.assertEqual(self.digest(RUN), got)
        self.assertIn("set/train-labels.npy", three)
        self.assertNotIn("train-images.npy", three)

    def test_refused(self):
        for name, body, says in (("x.ppm", b"P6\n2 2\n255\n" + b"a" * 11, "11 bytes of pixels, and its sizes require 12"),
                                 ("x.ppm", b"P3\n1 1\n255\n0 0 0\n", "no P5 or P6"), ("x.npy", b"", ""), ("x.jpg", b"no image", "")):
            self.write("in/train/a/" + name, body)
            self.script(says="in/train/a/%s: %s" % (name, says) if says else "x")
            os.unlink(self.path("in/train/a/" + name))
        self.script("--classes", "x", says="x")
        self.write("names", b"a\nzz\n")
        self.script("--classes", self.path("names"), says="there is no class zz")


if __name__ == "__main__":
    support.main()
