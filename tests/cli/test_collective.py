# SPDX-License-Identifier: MIT
"""`halfulp collective`: all-reduces on .npy files, against sums made here in fractions and in binary32 steps."""

import fractions
import json
import math
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

IMAGES = os.path.join(support.DATA, "digits_images.npy")


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def nearest(x):
    """The binary32 number next to a fraction, ties to even: binary64 to odd would be one rounding; here all sums are short."""
    z = float(x)
    assert fractions.Fraction(z) == x, "the test's numbers must be exact in binary64"
    return single(z)


def bfloat16(x):
    """A binary64 number rounded to 8 digits, ties to even, in the normal range."""
    if x == 0:
        return x
    m, e = math.frexp(x)
    return math.ldexp(round(math.ldexp(m, 8)), e - 8)


class Collective(support.Case):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        self.rows = [[draw.randrange(-4000, 4000) / 64 for _ in range(23)] for _ in range(5)]
        self.files = [self.write("x%d.npy" % i, support.npy("<f4", (23,), support.floats(r))) for i, r in enumerate(self.rows)]

    def sums(self, *words):
        report = json.loads(self.ok("collective", *words, "--json", "-o", self.path("z.npy")))
        descr, _, shape, data = support.parse_npy(self.read("z.npy"))
        self.assertEqual(descr, "<f4")
        return report, shape, struct.unpack("<%df" % (len(data) // 4), data)

    def test_exact(self):
        _, shape, z = self.sums(*self.files)
        self.assertEqual(shape, (23,))
        self.assertEqual(list(z), [nearest(sum(map(fractions.Fraction, column))) for column in zip(*self.rows)])

    def test_order_of_files_does_not_matter(self):
        _, _, z = self.sums(*self.files)
        _, _, other = self.sums(*reversed(self.files))
        self.assertEqual(z, other)

    def test_ring(self):
        """Chunk c begins with participant c; every sum is rounded to bfloat16."""
        report, _, z = self.sums(*self.files, "--reduce", "ring(bfloat16)")
        lengths, want = [5, 5, 5, 4, 4], []
        for c, n in enumerate(lengths):
            for i in range(len(want), len(want) + n):
                held = self.rows[c][i]
                for t in range(1, 5):
                    held = bfloat16(self.rows[(c + t) % 5][i] + held)
                want.append(held)
        self.assertEqual(list(z), want)
        (m,) = report["models"]
        self.assertEqual((report["participants"], report["elements"], m["model"]), (5, 23, "ring(bfloat16)"))
        exact = [nearest(sum(map(fractions.Fraction, column))) for column in zip(*self.rows)]
        self.assertEqual(m["max_abs"], max(abs(a - b) for a, b in zip(z, exact)))
        self.assertEqual(m["different"], sum(a != b for a, b in zip(z, exact)))

    def test_direct(self):
        """Participants in order, whoever owns the chunk; each number and each sum travels as a bfloat16 number."""
        _, _, z = self.sums(*self.files, "--reduce", "direct(bfloat16,wire=bfloat16)")
        want = []
        for column in zip(*self.rows):
            held = bfloat16(column[0])
            for x in column[1:]:
                held = bfloat16(held + bfloat16(x))
            want.append(held)
        self.assertEqual(list(z), want)

    def test_switch(self):
        """Exact sums, rounded once."""
        _, _, z = self.sums(*self.files, "--reduce", "switch(bfloat16)")
        self.assertEqual(list(z), [bfloat16(sum(column)) for column in zip(*self.rows)])

    def test_one_file_is_its_rows(self):
        whole = self.write("all.npy", support.npy("<f4", (5, 23), support.floats([x for row in self.rows for x in row])))
        for model in ("exact", "tree(bfloat16,wire=float8_e5m2)", "hierarchical(2,exact,ring(binary16,sra:8))"):
            self.assertEqual(self.sums(whole, "--reduce", model)[1:], self.sums(*self.files, "--reduce", model)[1:])

    def test_threads_do_not_matter(self):
        for model in ("ring(bfloat16,sra:16,wire=mxfp8_e4m3)", "doubling(binary32,wire=float8_e4m3fn)"):
            self.assertEqual(self.sums(IMAGES, "--reduce", model, "-j", "1"), self.sums(IMAGES, "--reduce", model, "-j", "3"))

    def test_table(self):
        text = self.ok("collective", IMAGES, "--reduce", "ring(bfloat16)", "--reduce", "exact")
        self.assertIn("participants", text)
        exact = [line for line in text.splitlines() if line.startswith("exact")]
        self.assertEqual(exact[0].split()[1:], ["0", "0", "0", "0"])

    def test_wrong(self):
        x = self.files[0]
        other = self.write("other.npy", support.npy("<f4", (22,), support.floats(self.rows[0][:22])))
        self.bad("collective", x, other, says="other.npy: shape (22,)")
        self.bad("collective", x, "--reduce", "rung(bfloat16)", says="rung(bfloat16)")
        self.bad("collective", x, "--reduce", "ring(bfloat17)", says="'bfloat17)'")
        self.bad("collective", x, "--reduce", "ring(bfloat16", says="ends too early")
        self.bad("collective", x, "--reduce", "ring(bfloat16,wire=mxfp8_e4m4)", says="mxfp8_e4m4")
        self.bad("collective", x, "--reduce", "ring(fp(11,20,0),wire=mxfp8_e4m3)", says="binary32")
        self.bad("collective", x, "-f", "fp(11,20,0)", "--reduce", "ring(binary32,wire=mxfp8_e4m3)", says="binary32")
        self.bad("collective", *self.files, "--reduce", "exact", "--reduce", "exact", "-o", self.path("z.npy"), says="one --reduce")
        self.bad("collective", x, "-o", x, says="another name")
        self.bad("collective", self.path("absent.npy"), says="absent.npy")
        self.bad("collective", self.write("s.npy", support.npy("<f4", (), b"\0" * 4)), says="no participants")
        self.bad("collective", self.write("e.npy", support.npy("<f4", (0, 3), b"")), says="no participants")
        self.bad("collective", self.write("c.npy", support.npy("<u2", (2, 2), b"\0" * 8)), says="uint32")
        self.bad("collective", self.write("i.npy", support.npy("<c8", (1,), b"\0" * 8)), says="<c8")


if __name__ == "__main__":
    support.main()
