# SPDX-License-Identifier: MIT
"""The operands of vectors: every code, the border of tininess, several formats, integers; against faults that real
designs had, and Python's own numbers."""

import struct
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
import support  # noqa: E402

INEXACT, UNDERFLOW, INVALID = 1, 2, 16
SMALLEST = {"binary16": (0x0400, 0x7FFF), "bfloat16": (0x0080, 0x7FFF), "binary32": (0x00800000, 0x7FFFFFFF),
            "float8_e5m2": (0x04, 0x7F)}


class Cases(support.Case):
    def lines(self, *args):
        return [line.split() for line in self.ok("vectors", *args).splitlines()]

    def border(self, z, *args):
        """How many results are the smallest normal number though tiny, and on how many the flags turn with --tiny."""
        after, before = self.lines(*args), self.lines(*args, "--tiny", "before")
        smallest, mask = SMALLEST[z]
        self.assertEqual([x[:-1] for x in after], [x[:-1] for x in before])
        up = sum(int(x[-2], 16) & mask == smallest and int(x[-1], 16) & UNDERFLOW > 0 for x in after)
        return up, sum(x[-1] != y[-1] for x, y in zip(after, before)), len(after)

    def test_border_of_tininess(self):
        """A multiplier or an adder that gets UF wrong where a result rounds up to the smallest normal number (after and
        before), and a divider that forgets it there, are met on more than one line in a hundred."""
        for f in ("binary16", "bfloat16", "binary32"):
            for op in ("mul", "fma", "div"):
                up, turned, count = self.border(f, op, "-f", f)
                self.assertGreater(up, count / 100, (op, f))
                # A quotient of two numbers of one format is never that near below a power of two.
                self.assertTrue(turned == 0 if op == "div" else turned > count / 100, (op, f, turned))
        for args in (("convert", "-f", "binary32"), ("convert", "-f", "binary64"), ("add", "-f", "binary32"),
                     ("sub", "-f", "binary32"), ("sqrt", "-f", "binary32")):
            for z in ("binary16", "float8_e5m2"):
                up, turned, count = self.border(z, *args, "--fd", z)
                self.assertGreater(min(up, turned), count / 100, (args, z))

    def test_every_code(self):
        for f, digits in (("binary16", 4), ("float8_e4m3fn", 2), ("fp(6,9,0)", 4)):
            for level in ("1", "2"):
                codes = [int(x[0], 16) for x in self.lines("sqrt", "-f", f, "--level", level)]
                self.assertEqual(codes, list(range(16**digits)))
        self.assertEqual(self.ok("vectors", "exp", "-f", "bfloat16", "--count"), "65536\n")
        self.assertEqual(self.ok("vectors", "convert", "-f", "binary16", "--fd", "float8_e5m2", "--count"), "65536\n")

    def test_several_formats(self):
        """FP8 x FP8 + FP16: each field of its own width; sums by exact fractions where nothing is special."""
        e5m2 = [struct.unpack(">e", bytes([c, 0]))[0] for c in range(256)]
        args = ("--fa", "float8_e5m2", "--fb", "float8_e5m2", "--fc", "binary16", "--fd", "binary16")
        checked = 0
        for a, b, c, z, flags in self.lines("fma", *args):
            self.assertEqual((len(a), len(b), len(c), len(z)), (2, 2, 4, 4))
            x = [e5m2[int(a, 16)], e5m2[int(b, 16)], struct.unpack(">e", bytes.fromhex(c))[0]]
            if any(v - v != 0 for v in x):
                continue
            exact = Fraction(x[0]) * Fraction(x[1]) + Fraction(x[2])
            if exact == 0 or abs(exact) > 60000:
                continue
            got = struct.unpack(">e", bytes.fromhex(z))[0]
            self.assertEqual(bool(int(flags, 16) & INEXACT), Fraction(got) != exact, (a, b, c))
            if abs(exact) >= Fraction(1, 2**14):  # binary64 holds these sums: at most 40 digits
                self.assertEqual(float(exact), exact)
                self.assertEqual(struct.pack(">e", float(exact)).hex().upper(), z, (a, b, c))
            checked += 1
        self.assertGreater(checked, 10000)
        out = self.ok("vectors", "fma", *args)
        self.assertIn(", 0 differ\n", self.ok("vectors", "--check", "fma", *args, "--complete", stdin=out))
        self.bad("vectors", "add", "--fa", "binary16", "--fb", "bfloat16", says="give the result's by --fd")
        self.bad("vectors", "sqrt", "-f", "binary16", "--fb", "bfloat16", says="no operand B")
        self.bad("vectors", "add", "--fa", "binary16", says="no format given")
        self.bad("vectors", "add", "-f", "i32", says="belong to convert")
        self.bad("vectors", "convert", "-f", "i32", "--fd", "i64", says="a format of up to 32 bits")

    def test_integers(self):
        """To and from integers: IEEE 754's flags, what RISC-V, Arm and x86 put in the place of what does not fit."""
        special = {"riscv": (127, -128, 127), "arm": (0, -128, 127), "x86": (-128, -128, -128)}
        for rule, (nan, below, above) in special.items():
            for code, z, flags in self.lines("convert", "-f", "binary16", "--fd", "i8", "--integer", rule):
                x = struct.unpack(">e", bytes.fromhex(code))[0]
                value = int(z, 16) - 256 * (int(z, 16) > 127)
                if x != x:
                    want = nan, INVALID
                elif x in (float("inf"), float("-inf")) or not -128 <= round(Fraction(x)) <= 127:
                    want = (below if x < 0 else above), INVALID
                else:
                    want = round(Fraction(x)), INEXACT * (x != int(x))
                self.assertEqual((value, int(flags, 16)), want, (rule, code))
        for kind, low, high in (("i64", -(2**63), 2**63 - 1), ("ui32", 0, 2**32 - 1)):
            seen = set()
            for x, z, flags in self.lines("convert", "-f", kind, "--fd", "binary32"):
                value = int(x, 16)
                value -= 2 ** (4 * len(x)) * (low < 0 and value > high)
                seen.add(value)
                got = struct.unpack(">f", bytes.fromhex(z))[0]
                # Fraction rounds to binary64 first, which is exact up to 53 digits.
                if abs(value) < 2**53:
                    self.assertEqual(struct.pack(">f", value).hex().upper(), z)
                self.assertEqual(bool(int(flags, 16)), Fraction(got) != value)
            self.assertTrue({0, 1, low, high} <= seen)
            # Random ones have random digits in their upper half.
            self.assertGreater(len({abs(value) >> 32 for value in seen}), 1000 if kind == "i64" else 0)
        self.assertEqual(self.ok("vectors", "--testfloat", "f16_to_ui32", "--notexact", stdin="3E00\n"), "3E00 00000002 00\n")
        self.assertEqual(self.ok("vectors", "--testfloat", "f16_to_i32", stdin="BE00\n"), "BE00 FFFFFFFE 01\n")
        for function, x, z in (("f32_to_ui64", "BF800000", "0" * 16 + " 10"), ("i64_to_f16", "8" + "0" * 15, "FC00 05"),
                               ("ui64_to_f32", "F" * 16, "5F800000 01")):
            self.assertEqual(self.ok("vectors", "--testfloat", function, stdin=x + "\n"), x + " " + z + "\n")

    def test_binary64_and_remainder(self):
        self.assertEqual(self.ok("vectors", "--testfloat", "f64_to_f16", stdin="3FF0020000000000\n"), "3FF0020000000000 3C00 01\n")
        self.assertEqual(self.ok("vectors", "--testfloat", "f64_to_f16", stdin="7FF0000000000001\n"), "7FF0000000000001 7E00 10\n")
        self.assertEqual(self.ok("vectors", "--testfloat", "f16_to_f64", stdin="BC01\n7D00\n"),
                         "BC01 BFF0040000000000 00\n7D00 7FF8000000000000 10\n")
        self.assertEqual(self.ok("vectors", "--testfloat", "f16_rem", stdin="4500 4000\n4600 4000\n3C00 0000\n"),
                         "4500 4000 3C00 00\n4600 4000 0000 00\n3C00 0000 7E00 10\n")
        checked = 0
        for x, z, flags in self.lines("convert", "-f", "binary64", "--fd", "binary16"):
            value = struct.unpack(">d", bytes.fromhex(x))[0]
            try:
                want = struct.pack(">e", value)
            except OverflowError:
                continue
            if value == value:
                self.assertEqual(z, want.hex().upper(), x)
                self.assertEqual(bool(int(flags, 16) & INEXACT), struct.unpack(">e", want)[0] != value, x)
                checked += 1
        self.assertGreater(checked, 10000)
        checked = 0
        for x, y, z, flags in self.lines("remainder", "-f", "binary16"):
            a, b = (struct.unpack(">e", bytes.fromhex(t))[0] for t in (x, y))
            if a - a != 0 or b - b != 0 or b == 0:
                continue
            a, b = Fraction(a), Fraction(b)
            self.assertEqual(Fraction(struct.unpack(">e", bytes.fromhex(z))[0]), a - b * round(a / b), (x, y))
            checked += 1
        self.assertGreater(checked, 30000)


if __name__ == "__main__":
    support.main()
