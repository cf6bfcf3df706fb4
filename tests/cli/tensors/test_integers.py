# SPDX-License-Identifier: MIT
"""Arrays of integers and of bool are numbers, and each is rounded once."""

import json
import os
import random
import struct
import sys
import unittest
from fractions import Fraction

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, npy, parse_npy, parse_safetensors, safetensors  # noqa: E402

MODELS = os.environ["HALFULP_SAFETENSORS"] == "1"
KINDS = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?"}


def array(kind, values, shape=None, order="<"):
    data = struct.pack("%s%d%s" % (order, len(values), KINDS[kind]), *values)
    return npy(("|" if kind[1] == "1" else order) + kind, shape or (len(values),), data)


def drawn(kind, n, seed=1):
    """Numbers of every length, ties of bfloat16 and what lies one beside them, and the ends."""
    r = random.Random(seed)
    bits = 8 * struct.calcsize(KINDS[kind])
    if kind == "b1":
        return [r.random() < 0.5 for _ in range(n)]
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind[0] == "i" else (0, 2**bits - 1)
    values = [low, high, 0, 1, low + 1, high - 1]
    while len(values) < n:
        length = r.randint(1, bits)
        x = r.getrandbits(length)
        if length > 10 and r.random() < 0.6:
            x = (x >> (length - 9) | 1) << (length - 9)
            x += r.choice((-1, 0, 1))
        values.append(min(max(-x if kind[0] == "i" and r.random() < 0.5 else x, low), high))
    return values


def rounded(x, digits, mode="rne"):
    """The integer x to so many binary digits, in whole numbers; no overflow."""
    size, more = abs(x), max(abs(x).bit_length() - digits, 0)
    low, rest = size >> more, size & ((1 << more) - 1)
    half = (1 << more) >> 1
    up = {
        "rne": rest > half or (rest == half and more and low & 1),
        "rtz": False,
        "rtp": rest and x > 0,
        "rtn": rest and x < 0,
    }[mode]
    z = (low + bool(up)) << more
    return -z if x < 0 else z


class Integers(support.Case):
    def values(self, name):
        descr, _, _, data = parse_npy(self.read(name))
        code = {"<f4": "f", "<f8": "d"}[descr]
        return descr, list(struct.unpack("<%d%s" % (len(data) // int(descr[2]), code), data))

    def test_one_rounding(self):
        """2^60 + 2^52 + 1 in binary64 is a tie of bfloat16, which the integer is not."""
        cases = 0
        for kind in KINDS:
            x = drawn(kind, 400)
            for order in "<>":
                self.write("x.npy", array(kind, x, order=order))
                for mode in ("rne", "rtz", "rtp", "rtn") if order == "<" else ("rne",):
                    self.ok("quantize", "-f", "bfloat16", "-r", mode, self.path("x.npy"), self.path("z.npy"))
                    descr, z = self.values("z.npy")
                    self.assertEqual(descr, "<f4")
                    self.assertEqual(z, [rounded(int(v), 8, mode) for v in x], (kind, mode))
                    cases += len(x)
        self.write("x.npy", array("i8", [2**60 + 2**52 + 1, -(2**60) - 2**52 - 1, 2**60 + 2**52]))
        self.ok("encode", "-f", "bfloat16", self.path("x.npy"), self.path("z.npy"))
        self.assertEqual(parse_npy(self.read("z.npy"))[3], struct.pack("<3H", 0x5D81, 0xDD81, 0x5D80))
        print("integers rounded: %d" % cases)

    def test_as_text(self):
        """The codes and events of `encode` by text, random words too."""
        x = drawn("i8", 200, 3) + [2**60 + 2**52 + 1]
        self.write("x.npy", array("i8", x))
        for fmt in ("float8_e4m3fn", "float8_e5m2", "binary16", "fp(8,23,0)", "int8", "posit16", "takum_linear(16)"):
            plain = fmt not in ("int8", "posit16", "takum_linear(16)")
            for mode in ("rne", "rto", "sra:8") if plain else ("rne", "rtz"):
                args = ("-f", fmt, "-r", mode, "--seed", "5", "--counter", "7")
                self.ok("encode", *args, self.path("x.npy"), self.path("z.npy"))
                _, _, _, z = parse_npy(self.read("z.npy"))
                width = len(z) // len(x)
                got = [int.from_bytes(z[i : i + width], "little") for i in range(0, len(z), width)]
                if plain:
                    text = self.ok("encode", *args, "-", stdin="".join("%d\n" % v for v in x))
                    self.assertEqual(got, [int(line, 16) for line in text.split()], (fmt, mode))
                    continue
                # Other systems have no text: between the integers one beside another the codes do not fall.
                order = sorted(range(len(x)), key=lambda i: x[i])
                signed = [g - (1 << 8 * width) if g >> (8 * width - 1) else g for g in got]
                self.assertEqual([signed[i] for i in order], sorted(signed), fmt)

    def test_no_digits_are_lost(self):
        """Stochastic roundings that ask for more digits than binary64 has see those of the integer."""
        base, n = 2**62 + 1, 4000
        self.write("x.npy", array("i8", [base] * n))
        r = json.loads(
            self.ok("encode", "-f", "binary32", "-r", "sra:32", "--json", self.path("x.npy"), self.path("z.npy"))
        )
        self.assertEqual(r["events"]["inexact"], n)
        self.write("y.npy", array("i8", [2**62] * n))
        r = json.loads(
            self.ok("encode", "-f", "binary32", "-r", "sra:32", "--json", self.path("y.npy"), self.path("z.npy"))
        )
        self.assertEqual(r["events"]["inexact"], 0)

    def test_beside_ties(self):
        """One beside a tie of a posit, 60 digits up, is none."""
        base = 2**60 + 2**47
        self.write("x.npy", array("i8", [base - 1, base, base + 1, base + 2**20]))
        self.ok("encode", "-f", "posit(32,2)", self.path("x.npy"), self.path("z.npy"))
        below, tie, above, beyond = struct.unpack("<4I", parse_npy(self.read("z.npy"))[3])
        self.assertEqual((below, above, above % 2), (tie, tie + 1, 1))
        self.assertEqual(above, beyond)

    def test_computed_from_floats(self):
        """Scaled formats and presets take what binary32 and binary64 hold, and name the element that they do not."""
        x = [1, -2, 448, 2**24, 3 << 30, 0, 7, -100]
        self.write("x.npy", array("i8", x))
        self.write("f.npy", npy("<f4", (8,), floats([float(v) for v in x])))
        for fmt in ("mxfp8_e4m3", "nvfp4", "s2fp8", "torch.float8_e4m3fn", "hifloat4", "lns(16,8)"):
            for name in "xf":
                self.ok("encode", "-f", fmt, self.path(name + ".npy"), self.path(name + "z.npy"))
            self.assertEqual(self.read("xz.npy"), self.read("fz.npy"), fmt)
        self.write("y.npy", array("u4", [1, 2**24 + 1]))
        self.bad("quantize", "-f", "mxfp4", self.path("y.npy"), self.path("z.npy"), says=("y.npy", "element 1", "binary32"))
        self.write("y.npy", array("u8", [1, 2**63 + 1]))
        for fmt in ("torch.bfloat16", "lns(16,8)"):
            self.bad("quantize", "-f", fmt, self.path("y.npy"), self.path("z.npy"), says=("element 1", "binary64"))
        self.assertNotIn("z.npy", self.left())

    def test_commands(self):
        """gemm, plot, compare, diff, collective and decode."""
        a, b = drawn("i2", 12, 2), drawn("i1", 20, 2)
        self.write("a.npy", array("i2", a, (3, 4)))
        self.write("b.npy", array("i1", b, (4, 5)))
        self.ok("gemm", self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"))
        want = [Fraction(sum(a[4 * i + k] * b[5 * k + j] for k in range(4))) for i in range(3) for j in range(5)]
        self.assertEqual(self.values("d.npy")[1], [float(v) for v in want])
        self.bad("gemm", self.path("a.npy"), self.path("b.npy"), "--strict", "--fb", "float4_e2m1fn", "-o", self.path("e.npy"),
                 says=("b.npy", "not values of float4_e2m1fn"))  # fmt: skip
        x = [1, -3, 40, 0, 2**40 + 1]
        self.write("x.npy", array("i8", x))
        data = json.loads(
            self.ok("plot", "-f", "float8_e4m3fn", "--array", self.path("x.npy"), "-o", self.path("p.svg"), "--json")
        )["data"]
        self.assertEqual([data[k] for k in ("count", "zeros", "normal", "beyond_max")], [5, 1, 3, 1])
        self.write("y.npy", array("i8", x[:4] + [2**40 - 1]))
        r = json.loads(self.ok("compare", "--json", self.path("x.npy"), self.path("y.npy"), code=1))
        self.assertEqual((r["differing"], r["ulps"]), (1, [{"from": 2, "count": 1}]))
        self.write("u.npy", array("u8", [0, 2**64 - 1]))
        self.write("v.npy", array("u8", [2**63, 2**64 - 2]))
        r = json.loads(self.ok("compare", "--json", self.path("u.npy"), self.path("v.npy"), code=1))
        self.assertEqual(r["ulps"], [{"from": 1, "count": 1}, {"from": 2**63, "count": 1}])
        self.ok("compare", "-f", "float8_e5m2", self.path("x.npy"), self.path("y.npy"), code=1)
        self.ok("collective", self.path("x.npy"), self.path("x.npy"), "-o", self.path("s.npy"))
        self.assertEqual(self.values("s.npy")[1], [float(2 * v) for v in x[:4]] + [2.0**41])
        self.bad("decode", "-f", "float8_e4m3fn", self.path("x.npy"), self.path("z.npy"), says="this is int64")
        if MODELS:
            args = ("compare", "--json", "-f", "float8_e4m3fn", "-f", "binary16", self.path("x.npy"))
            column = json.loads(self.ok(*args))["formats"][0]
            self.assertEqual([column[k]["count"] for k in ("errors", "causes")], [5, 5])
            self.assertEqual(column["causes"]["saturated"], 1)

    def test_bool(self):
        self.write("x.npy", npy("|b1", (3,), b"\1\0\1"))
        self.ok("quantize", "-f", "float4_e2m1fn", self.path("x.npy"), self.path("z.npy"))
        self.assertEqual(self.values("z.npy"), ("<f4", [1.0, 0.0, 1.0]))
        self.write("x.npy", npy("|b1", (2, 2), b"\1\0\1\2"))
        self.bad("quantize", "-f", "float4_e2m1fn", self.path("x.npy"), self.path("z.npy"), says=("x.npy", "0x02 at [1, 1]"))

    @unittest.skipUnless(MODELS, "built without jansson")
    def test_tensors(self):
        """In a model integers are rounded where --include has the whole name, and become F32."""
        ids = struct.pack("<4q", 2**60 + 2**52 + 1, -3, 0, 5)
        tensors = [("w", "F32", (2, 2), floats([1, 2, 3, 4])), ("ids", "I64", (2, 2), ids), ("m", "BOOL", (1, 4), b"\1\0\0\1")]
        m, o = self.write("m.safetensors", safetensors(tensors)), self.path("o.safetensors")
        for args in ((), ("--include", "*"), ("--include", "w", "--include", "id*")):
            self.ok("quantize", "-f", "bfloat16", m, o, *args)
            got, _, _ = parse_safetensors(self.read("o.safetensors"))
            self.assertEqual((got["ids"], got["m"]), (("I64", (2, 2), ids), tensors[2][1:]))
        self.ok("quantize", "-f", "bfloat16", m, o, "--include", "ids", "--include", "m")
        got, _, _ = parse_safetensors(self.read("o.safetensors"))
        self.assertEqual(got["ids"], ("F32", (2, 2), floats([float(2**60 + 2**53), -3, 0, 5])))
        self.assertEqual((got["m"], got["w"]), (("F32", (1, 4), floats([1, 0, 0, 1])), tensors[0][1:]))
        self.ok("quantize", "-f", "mxfp8_e4m3", "--codes", m, o, "--include", "m")
        self.ok("decode", o, self.path("d.safetensors"))
        got, _, _ = parse_safetensors(self.read("d.safetensors"))
        self.assertEqual(got["m"], ("F32", (1, 4), floats([1, 0, 0, 1])))
        # An array into a model, and a byte of BOOL that is neither.
        self.write("x.npy", array("u2", [1, 65535, 3, 4], (2, 2)))
        self.ok("quantize", "-f", "bfloat16", self.path("x.npy"), o)
        self.assertEqual(parse_safetensors(self.read("o.safetensors"))[0], {"x": ("F32", (2, 2), floats([1, 65536, 3, 4]))})
        m = self.write("m.safetensors", safetensors([("m", "BOOL", (1, 2), b"\1\3")]))
        self.bad("quantize", "-f", "bfloat16", m, o, "--include", "m", says=("tensor 'm'", "element 1 is 0x03"))


if __name__ == "__main__":
    support.main()
