# SPDX-License-Identifier: MIT
"""A code with bits above its format's width is an error in every command that reads codes; --packed unpacks them."""

import os
import random
import struct
import sys
import unittest

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, npy, parse_npy, parse_safetensors, safetensors  # noqa: E402

MODELS = os.environ["HALFULP_SAFETENSORS"] == "1"
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
E2M1 += [-v for v in E2M1]


def packed(codes, width):
    """The first code in the low bits, as bytes."""
    number = sum(c << i * width for i, c in enumerate(codes))
    return number.to_bytes(len(codes) * width // 8, "little")


class WideCodes(support.Case):
    def codes(self, name, values, shape, kind="|u1", fortran=False):
        code = {"|u1": "B", "<u2": "H", "<u4": "I"}[kind]
        return self.write(name, npy(kind, shape, struct.pack("<%d%s" % (len(values), code), *values), fortran))

    def out(self, name="o.npy"):
        _, _, shape, data = parse_npy(self.read(name))
        return shape, list(struct.unpack("<%df" % (len(data) // 4), data))

    def test_decode(self):
        o = self.path("o.npy")
        for fmt, kind, good, wrong, says, way in (
            ("float4_e2m1fn", "|u1", 0xF, 0x21, ("0x21 at [1, 2]", "4 bits of float4_e2m1fn"), "two codes of a byte"),
            ("float6_e2m3fn", "|u1", 0x3F, 0xF2, ("0xF2 at [1, 2]", "6 bits of float6_e2m3fn"), "four codes of three"),
            ("fp(5,6,0)", "<u2", 0xFFF, 0xF123, ("0xF123 at [1, 2]", "12 bits of fp(5,6,0)"), None),
            ("fp(8,10,0)", "<u4", 0x7FFFF, 0x80000, ("0x00080000 at [1, 2]", "19 bits"), None),
            ("posit(6,1)", "|u1", 0x3F, 0x40, ("0x40 at [1, 2]", "6 bits of posit(6,1)"), "four codes of three"),
            ("nf4", "|u1", 0xF, 0x10, ("0x10 at [1, 2]", "4 bits of nf4"), "two codes of a byte"),
            ("ggml.q4_0", "|u1", 0xF, 0x10, ("0x10 at [1, 2]", "4 bits"), "two codes of a byte"),
        ):
            cols = 32 if fmt.startswith("ggml") else 3
            for fortran in (False, True):
                values = [good] * (2 * cols)
                values[2 * 2 + 1 if fortran else cols + 2] = wrong
                x = self.codes("x.npy", values, (2, cols), kind, fortran)
                before = self.left()
                error = support.run("decode", "-f", fmt, x, o).stderr.decode()
                self.bad("decode", "-f", fmt, x, o, says=("x.npy: holds", *says))
                self.assertEqual("--packed unpacks" in error, way is not None, error)
                self.assertIn(way or "", error)
                self.assertEqual(self.left(), before)

    def test_signs(self):
        """Codes in two's complement may repeat their sign above."""
        self.ok("decode", "-f", "int4", self.codes("x.npy", [0xFF, 0xF, 0xF8, 7], (4,)), self.path("o.npy"))
        self.assertEqual(self.out()[1], [-1, -1, -8, 7])
        for wrong in (0xF7, 0x1F, 0x78):
            x = self.codes("x.npy", [1, wrong], (2,))
            self.bad("decode", "-f", "int4", x, self.path("o.npy"), says="0x%02X at [1]" % wrong)
        self.bad("decode", "-f", "float4_e2m1fn", self.codes("x.npy", [0xFF], (1,)), self.path("o.npy"), says="0xFF at [0]")

    def test_sets(self):
        """Scaled codes, their scales, and scales of groups."""
        for fmt, cols in (("mxfp4", 64), ("nvfp4", 64), ("mxfp6_e2m3", 64), ("hifloat4", 64), ("ggml.q2_k", 256), ("ggml.q4_0", 64)):
            r = random.Random(2)
            self.write("x.npy", npy("<f4", (2, cols), floats([r.gauss(0, 1) for _ in range(2 * cols)])))
            self.ok("encode", "-f", fmt, self.path("x.npy"), self.path("c.npy"))
            os.remove(self.path("c.check.npy"))
            self.ok("decode", "-f", fmt, self.path("c.npy"), self.path("o.npy"))
            parts = ["c.npy"]
            if fmt in ("nvfp4", "ggml.q2_k"):
                parts += ["c.scales.npy"] if fmt == "nvfp4" else ["c.group_scales.npy", "c.group_mins.npy"]
            for part in parts:
                good = self.read(part)
                for code in (0x80, 0x41 if fmt == "mxfp6_e2m3" else 0x90):
                    self.write(part, good[:-2] + bytes([code]) + good[-1:])
                    place = len(parse_npy(good)[3]) // 2 - 2
                    self.bad("decode", "-f", fmt, self.path("c.npy"), self.path("o2.npy"),
                             says=(part + ": holds 0x%02X at [1, %d]" % (code, place)))  # fmt: skip
                    self.assertNotIn("o2.npy", self.left())
                self.write(part, good)

    @unittest.skipUnless(MODELS, "built without jansson")
    def test_tensors(self):
        self.write("x.safetensors", safetensors([("w", "F32", (2, 32), floats(range(64)))]))
        for fmt, suffix, code in (("nvfp4", ".scales", b"\x80"), ("fp(5,6,0)", ".codes", b"\0\x10")):
            o = self.path("o.safetensors")
            self.ok("quantize", "-f", fmt, "--codes", self.path("x.safetensors"), o)
            tensors, notes, order = parse_safetensors(self.read("o.safetensors"))
            dtype, shape, data = tensors["w" + suffix]
            tensors["w" + suffix] = (dtype, shape, code + data[len(code) :])
            self.write("o.safetensors", safetensors([(n, *tensors[n]) for n in order], notes))
            self.bad("decode", o, self.path("d.safetensors"), says=("tensor 'w%s'" % suffix, "at [0, 0]"))

    def test_gemm_diff_collective(self):
        good = self.codes("g.npy", [1, 2, 3, 4], (2, 2))
        wrong = self.codes("w.npy", [1, 2, 0x21, 4], (2, 2))
        says = ("w.npy", "0x21 at [1, 0]", "--packed unpacks two codes of a byte")
        fa, fb = ("--fa", "float4_e2m1fn"), ("--fb", "float4_e2m1fn")
        for a, b in ((wrong, good), (good, wrong)):
            self.bad("gemm", *fa, *fb, a, b, "-o", self.path("d.npy"), says=says)
        self.bad("gemm", *fa, *fb, good, good, "-C", wrong, "--fc", "float4_e2m1fn", "-o", self.path("d.npy"), says=says)
        for x, y in ((wrong, good), (good, wrong), (wrong, wrong)):
            self.bad("compare", "-f", "float4_e2m1fn", x, y, says=says)
            self.bad("collective", "-f", "float4_e2m1fn", x, y, says=says)
        self.ok("compare", wrong, good, code=1)  # without a format they are numbers

    def test_packed(self):
        r = random.Random(4)
        for fmt, width, shape in (("float4_e2m1fn", 4, (3, 8)), ("float6_e2m3fn", 6, (3, 8)), ("int4", 4, (16,)), ("posit(6,1)", 6, (2, 3, 4))):
            n = 1
            for side in shape:
                n *= side
            codes = [r.getrandbits(width) for _ in range(n)]
            data = packed(codes, width)
            fewer = shape[:-1] + (shape[-1] * width // 8,)
            self.codes("plain.npy", codes, shape)
            self.write("x.npy", npy("|u1", fewer, data))
            self.ok("decode", "-f", fmt, self.path("plain.npy"), self.path("want.npy"))
            self.ok("decode", "-f", fmt, "--packed", self.path("x.npy"), self.path("o.npy"))
            self.assertEqual(self.read("o.npy"), self.read("want.npy"), fmt)
            if len(fewer) == 2:
                rows, cols = fewer
                self.write("f.npy", npy("|u1", fewer, bytes(data[i * cols + j] for j in range(cols) for i in range(rows)), True))
                self.ok("decode", "-f", fmt, "--packed", self.path("f.npy"), self.path("o.npy"))
                self.assertEqual(self.out(), self.out("want.npy"))
        self.write("x.npy", npy("|u1", (1, 2), b"\x21\xf8"))
        self.ok("decode", "-f", "float4_e2m1fn", "--packed", self.path("x.npy"), self.path("o.npy"))
        self.assertEqual(self.out(), ((1, 4), [E2M1[c] for c in (1, 2, 8, 15)]))

    def test_packed_sets(self):
        codes = [r % 16 for r in range(64)]
        self.codes("c.npy", codes, (2, 32))
        self.codes("p.npy", list(packed(codes, 4)), (2, 16))
        for stem in "cp":
            self.codes(stem + ".scales.npy", [128, 126], (2, 1))
        self.ok("decode", "-f", "mxfp4", self.path("c.npy"), self.path("want.npy"))
        self.ok("decode", "-f", "mxfp4", "--packed", self.path("p.npy"), self.path("o.npy"))
        self.assertEqual(self.read("o.npy"), self.read("want.npy"))
        self.assertEqual(self.out()[1][:16], [2 * v for v in E2M1])

    def test_packed_commands(self):
        a, b = [1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 13, 14, 15, 0]
        self.codes("a.npy", a, (2, 4))
        self.codes("b.npy", b, (4, 2))
        self.codes("ap.npy", list(packed(a, 4)), (2, 2))
        self.codes("bp.npy", list(packed(b, 4)), (4, 1))
        fa, fb = ("--fa", "float4_e2m1fn"), ("--fb", "float4_e2m1fn")
        self.ok("gemm", *fa, *fb, self.path("a.npy"), self.path("b.npy"), "-o", self.path("want.npy"))
        self.ok("gemm", *fa, *fb, "--packed", self.path("ap.npy"), self.path("bp.npy"), "-o", self.path("d.npy"))
        self.assertEqual(self.read("d.npy"), self.read("want.npy"))
        f = ("-f", "float4_e2m1fn")
        self.ok("collective", *f, self.path("a.npy"), self.path("a.npy"), "-o", self.path("want.npy"))
        self.ok("collective", *f, "--packed", self.path("ap.npy"), self.path("ap.npy"), "-o", self.path("d.npy"))
        self.assertEqual(self.read("d.npy"), self.read("want.npy"))
        self.codes("cp.npy", list(packed([1, 2, 3, 4, 5, 6, 7, 9], 4)), (2, 2))
        text = self.ok("compare", *f, "--packed", self.path("ap.npy"), self.path("cp.npy"), code=1)
        self.assertIn("1 of 8 elements differ", text)

    def test_packed_wrong_use(self):
        o = self.path("o.npy")
        x = self.codes("x.npy", [1, 2], (1, 2))
        wide = self.codes("w.npy", [1, 2], (1, 2), "<u2")
        for args, says in (
            (("decode", "-f", "float8_e4m3fn", "--packed", x, o), ("codes of 4 and 6 bits", "float8_e4m3fn has 8")),
            (("decode", "-f", "float6_e2m3fn", "--packed", x, o), ("x.npy", "2 bytes along the last axis", "three")),
            (("decode", "-f", "float4_e2m1fn", "--packed", wide, o), ("w.npy", "uint8", "uint16")),
            (("decode", "-f", "float4_e2m1fn", "--packed", self.codes("s.npy", [1], ()), o), ("a single number",)),
            (("decode", "-f", "float4_e2m1fn", "--packed", "3"), ("--packed goes with IN.npy",)),
            (("compare", "--packed", x, x), ("requires -f",)),
            (("gemm", "--packed", "--fa", "float8_e4m3fn", "--fb", "float8_e4m3fn", x, self.codes("y.npy", [1, 2], (2, 1)), "-o", o),
             ("no matrix",)),
        ):  # fmt: skip
            self.bad(*args, says=says)
        self.assertNotIn("o.npy", self.left())

    def test_text(self):
        """Lines of codes in hex: mma, its scales, dot of vectors --check, explain dot."""
        model, f6 = "seq(binary32)", ("--fa", "float6_e2m3fn", "--fb", "float6_e2m3fn", "--fd", "binary32")
        self.ok("mma", model, *f6, stdin="3f 1f 00000000\n")
        for line, name in (("F2 1f 00000000", "A: 'F2'"), ("1f F2 00000000", "B: 'F2'"), ("1f1fF2 1f1f1f 00000000", "A: 'F2'")):
            self.bad("mma", model, *f6, stdin=line + "\n", says=(name, "above 3F"))
            self.bad("vectors", "--check", "dot", "--accum", model, *f6, stdin=line + " 00000000 00\n", says=(name, "above 3F"))
        self.bad("decode", "-f", "float6_e2m3fn", "F2", says="wider than the format")
        self.bad("vectors", "--check", "add", "-f", "float6_e2m3fn", stdin="F2 00 00 00\n", says="above 3F")
        self.bad("vectors", "--testfloat", "--check", "f16_add", stdin="13C00 0000 0000 00\n", says="above FFFF")


if __name__ == "__main__":
    support.main()
