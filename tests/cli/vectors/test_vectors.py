# SPDX-License-Identifier: MIT
"""vectors, with --check and --testfloat, too: test vectors as text, against Python's exact fractions and its own binary16."""

import bisect
import functools
import itertools
import math
import os
import struct
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
import support  # noqa: E402

INEXACT, UNDERFLOW, OVERFLOW, INFINITE, INVALID = 1, 2, 4, 8, 16
OPERATIONS = (
    "add sub mul div sqrt fma minimum maximum minimum_number maximum_number round_to_integral convert "
    "eq le lt eq_signaling le_quiet lt_quiet "
    "exp exp2 expm1 log log2 log1p tanh sigmoid erf gelu rsqrt reciprocal sin cos pow"
).split()


def half(code):
    return struct.unpack("<e", struct.pack("<H", code))[0]


def is_nan(code):
    return code & 0x7FFF > 0x7C00


def odd_double(x):
    """A fraction as a double that rounds to binary16 as the fraction does: cut, then the last digit set."""
    y = float(x)
    if Fraction(y) == x:
        return y
    if abs(Fraction(y)) > abs(x):
        y = math.nextafter(y, 0.0)
    bits = struct.unpack("<Q", struct.pack("<d", y))[0] | 1
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


class Vectors(support.Case):
    def cases(self, *args):
        for line in self.ok("vectors", *args).split("\n")[:-1]:
            yield [int(field, 16) for field in line.split(" ")]

    def values(self, fmt):
        out = self.ok("info", fmt, "--table").split("\n")[:-1]
        return [float.fromhex(line.split()[1]) for line in out]

    def test_all_pairs_of_e4m3_by_fractions(self):
        """Every pair of codes: nearest, ties to even code, saturating at 448, the five flags."""
        values = self.values("float8_e4m3fn")
        grid = sorted((v, c) for c, v in enumerate(values[:0x7F]))
        numbers = [v for v, _ in grid]
        # Magnitude -> (code, inexact, underflow, overflow). binary64 holds every sum and product here, and all values, and Python
        # compares it with fractions exactly; only quotients are fractions.
        place = {}

        def rounded(x):
            if x not in place:
                at = bisect.bisect_left(numbers, x)
                above = grid[at : at + 1]
                below = grid[bisect.bisect_right(numbers, x) - 1]
                if above:
                    up = above[0]
                    code = below[1]
                    middle = (below[0] + up[0]) / 2
                    if x > middle or (x == middle and code % 2):
                        code = up[1]
                    inexact = x != values[code]
                    # Tininess after rounding to 4 digits: below 2^-6 by half a unit of 2^-10 or more.
                    tiny = x < 1 / 64 - 1 / 2048
                    flags = INEXACT * inexact + UNDERFLOW * (inexact and tiny)
                elif x <= 464:
                    code, flags = 0x7E, INEXACT
                else:
                    code, flags = 0x7E, INEXACT + OVERFLOW
                place[x] = code, flags
            return place[x]

        quotient = functools.lru_cache(None)(lambda x, y: Fraction(x) / Fraction(y))

        def expected(op, a, b):
            x, y = values[a], values[b]
            negative = (a ^ b) >> 7
            if x != x or y != y:
                return 0x7F, 0
            if op == "div" and y == 0:
                return (0x7F, INVALID) if x == 0 else (negative << 7 | 0x7E, INFINITE)
            if op in ("add", "sub"):
                exact = x + y if op == "add" else x - y
                flipped = b if op == "add" else b ^ 0x80
                zero = 0x80 if (a & flipped) == 0x80 and exact == 0 and x == 0 else 0
                if exact == 0:
                    return zero, 0
                negative = exact < 0
            else:
                exact = x * y if op == "mul" else quotient(abs(x), abs(y))
            code, flags = rounded(abs(exact)) if exact else (0, 0)
            return negative << 7 | code, flags

        for op in ("add", "sub", "mul", "div"):
            seen = set()
            for a, b, z, flags in self.cases(op, "-f", "float8_e4m3fn", "--level", "2"):
                seen.add((a, b))
                self.assertEqual((z, flags), expected(op, a, b), (op, hex(a), hex(b)))
            self.assertEqual(len(seen), 65536)

    def test_binary16_by_python(self):
        checked = 0
        for op in ("add", "sub", "mul"):
            for a, b, z, flags in self.cases(op, "-f", "binary16"):
                x, y = half(a), half(b)
                exact = x + y if op == "add" else x - y if op == "sub" else x * y
                if exact != exact:
                    self.assertTrue(is_nan(z))
                    continue
                try:
                    want = struct.unpack("<H", struct.pack("<e", exact))[0]
                except OverflowError:
                    want = 0x7C00 if exact > 0 else 0xFC00
                self.assertEqual(z, want, (op, hex(a), hex(b)))
                if not flags & OVERFLOW:
                    self.assertEqual(flags & INEXACT, half(z) != exact, (op, hex(a), hex(b)))
                checked += 1
        self.assertGreater(checked, 100000)

    def test_functions_by_python(self):
        """Python's binary64 functions are within an ulp or two: where binary16 has no doubt, the codes agree. Every third operand, and
        all in the long run."""
        step = 1 if os.environ["HALFULP_EXHAUSTIVE"] == "1" else 3
        functions = {
            "exp": math.exp, "exp2": lambda x: 2.0**x, "expm1": math.expm1, "log": math.log, "log2": math.log2,
            "log1p": math.log1p, "tanh": math.tanh, "erf": math.erf, "sin": math.sin, "cos": math.cos,
            "sigmoid": lambda x: 1 / (1 + math.exp(-x)), "gelu": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
            "rsqrt": lambda x: 1 / math.sqrt(x), "reciprocal": lambda x: 1 / x,
        }
        for i, (op, function) in enumerate(functions.items()):
            checked = 0
            for x, z, flags in itertools.islice(self.cases(op, "-f", "binary16"), i % step, None, step):
                try:
                    y = function(half(x))
                    ends = {struct.pack("<e", y * (1 + d)) for d in (-1e-13, 1e-13)}
                except (ValueError, OverflowError, ZeroDivisionError):
                    continue  # special operands, poles and results beyond binary16
                if y != y or len(ends) != 1 or half(x) == -math.inf:
                    continue
                self.assertEqual(z, struct.unpack("<H", ends.pop())[0], (op, hex(x)))
                checked += 1
            self.assertGreater(checked, 300, op)
        powers = {(a, b): (z, flags) for a, b, z, flags in self.cases("pow", "-f", "float8_e5m2", "--level", "2")}
        self.assertEqual(len(powers), 65536)
        self.assertEqual(powers[0xC0, 0x42], (0xC8, 0))  # (-2)^3
        self.assertEqual(powers[0x80, 0xBC], (0xFC, INFINITE))  # (-0)^-1
        self.assertEqual(powers[0xC0, 0x38], (0x7F, INVALID))  # (-2)^0.5

    def test_levels(self):
        few = self.ok("vectors", "mul", "-f", "bfloat16").count("\n")
        many = self.ok("vectors", "sqrt", "-f", "binary32", "--level", "2").count("\n")
        self.assertGreater(few, 20000)
        self.assertGreater(many, 300000)
        self.assertEqual(self.ok("vectors", "mul", "-f", "bfloat16", "--count"), "%d\n" % few)
        self.assertEqual(self.ok("vectors", "mul", "-f", "bfloat16"), self.ok("vectors", "mul", "-f", "bfloat16", "--level", "1"))
        self.assertEqual(self.ok("vectors", "fma", "-f", "float4_e2m1fn").count("\n"), 4096)

    def test_round_trips(self):
        """Two formats by turns for each operation, and all in the long run: its small one, where there are all pairs, and another."""
        formats = ("float6_e3m2fn", "float8_e8m0fnu", "dlfloat16", "fp(6,9,0):finite")
        for i, op in enumerate(OPERATIONS):
            for fmt in formats if os.environ["HALFULP_EXHAUSTIVE"] == "1" else (formats[0], formats[1 + i % 3]):
                out = self.ok("vectors", op, "-f", fmt, "-r", "srb:5", "--seed", "9")
                judged = self.ok("vectors", "--check", op, "-f", fmt, "-r", "srb:5", "--seed", "9", stdin=out)
                self.assertEqual(judged, "%d cases, 0 differ\n" % out.count("\n"))

    def test_differences_are_found(self):
        lines = self.ok("vectors", "add", "-f", "float8_e5m2").split("\n")[:-1]
        for at, wrong in ((17, "3C"), (400, "7F"), (401, "FD")):
            fields = lines[at].split(" ")
            fields[2] = wrong if fields[2] != wrong else "00"
            lines[at] = " ".join(fields)
        lines[800] = lines[800][:-2] + "%02X" % (int(lines[800][-2:], 16) ^ 8)
        text = "\n".join(lines) + "\n"
        out = self.ok("vectors", "--check", "add", "-f", "float8_e5m2", stdin=text, code=1)
        want = {18, 401, 402, 801}
        self.assertEqual({int(line.split()[1][:-1]) for line in out.split("\n")[:-2]}, want)
        self.assertTrue(out.endswith("%d cases, 4 differ (3 in the result, 1 in the flags alone)\n" % len(lines)))
        out = self.ok("vectors", "--check", "add", "-f", "float8_e5m2", "--first", "1", "--no-flags", stdin=text, code=1)
        self.assertEqual(out.count("\n"), 2)
        self.assertTrue(out.endswith(" 3 differ (3 in the result)\n"))
        out = self.ok("vectors", "--check", "add", "-f", "float8_e5m2", stdin="3c 3C 40 00\n3C 40 42 01\n", code=1)
        self.assertEqual(
            out,
            "line 2: 3C 40 is 42 01 (3; inexact), should be 42 00 (3; no flags)\n"
            "2 cases, 1 differ (1 in the flags alone)\n",
        )

    def test_a_unit_that_was_evaluated_once(self):
        """All results are that of line 1, as a bench gives them that does not wake the logic: said, unless these are right."""
        for operands, says in ((['3C00 %04X' % (0x3C00 + i) for i in range(8)], True), (['3C00 3C00'] * 8, False),
                               (['3C00 %04X' % (0x3C00 + i) for i in range(7)], False)):
            done = support.run('vectors', '--check', 'add', '-f', 'binary16', stdin=''.join(line + ' 4000 00\n' for line in operands))
            self.assertEqual(b'all results are that of line 1' in done.stderr, says, operands)

    def test_file_and_nan(self):
        path = self.write("v.txt", b"7D00 3C00 7E01 10\n7E00 3C00 7FFF 00\n")
        self.assertEqual(self.ok("vectors", "--check", "add", "-f", "binary16", path), "2 cases, 0 differ\n")

    def test_testfloat_functions(self):
        def one(function, line, *args):
            return self.ok("vectors", "--testfloat", function, *args, stdin=line + "\n")

        self.assertEqual(one("f16_add", "3C00 3C01"), "3C00 3C01 4000 01\n")
        self.assertEqual(one("f32_mulAdd", "3F800001 3F800001 BF800002"), "3F800001 3F800001 BF800002 28800000 00\n")
        self.assertEqual(one("f32_div", "3F800000 80000000"), "3F800000 80000000 FF800000 08\n")
        self.assertEqual(one("f32_sqrt", "BF800000"), "BF800000 7FC00000 10\n")
        self.assertEqual(one("f16_roundToInt", "4100"), "4100 4000 01\n")
        self.assertEqual(one("f16_roundToInt", "4100", "--notexact", "-r", "rna"), "4100 4200 00\n")
        self.assertEqual(one("f32_to_f16", "477FF000"), "477FF000 7C00 05\n")
        self.assertEqual(one("bf16_to_f32", "7F81"), "7F81 7FC00000 10\n")
        self.assertEqual(one("f16_le", "7E00 0000"), "7E00 0000 0 10\n")
        self.assertEqual(one("f16_le_quiet", "7E00 0000"), "7E00 0000 0 00\n")
        self.assertEqual(one("f16_eq", "7D00 0000"), "7D00 0000 0 10\n")
        self.assertEqual(one("f16_eq", "8000 0000"), "8000 0000 1 00\n")
        # A field more, as testfloat_gen has with a function, is read past.
        self.assertEqual(one("f16_lt", "3C00 4000 0 00"), "3C00 4000 1 00\n")
        out = self.ok("vectors", "--testfloat", "f16_mul", "--level", "1")
        self.assertEqual(self.ok("vectors", "--testfloat", "f16_mul", stdin=out), out)
        self.assertTrue(self.ok("vectors", "--testfloat", "f16_mul", "--check", stdin=out).endswith(", 0 differ\n"))
        # 0 x inf + NaN may be invalid or not.
        for flags in ("00", "10"):
            self.ok("vectors", "--testfloat", "f16_mulAdd", "--check", stdin="0000 7C00 7E00 7E00 %s\n" % flags)

    # ---- dot products, random words, lines for $readmemh ----

    EXACT = ("dot", "--accum", "exact", "--fa", "float8_e4m3fn", "--fb", "float8_e5m2", "--fd", "binary16")

    def test_rows_by_python(self):
        """Sums without rounding are exact in Python's fractions, and its binary16 rounds them once."""
        left, right = self.values("float8_e4m3fn"), self.values("float8_e5m2")
        checked = inexact = 0
        for line in self.ok("vectors", *self.EXACT, "--elements", "5").splitlines():
            a, b, c, d, flags = line.split()
            x = [left[i] for i in bytes.fromhex(a)]
            y = [right[i] for i in bytes.fromhex(b)]
            terms = [p * q for p, q in zip(x, y)] + [half(int(c, 16))]
            self.assertEqual((len(a), len(b), len(c), len(d), len(flags)), (10, 10, 4, 4, 2))
            if any(t != t or math.isinf(t) for t in terms):
                continue
            exact = sum(Fraction(t) for t in terms)
            if exact == 0:
                self.assertEqual(int(d, 16) & 0x7FFF, 0)
                continue
            try:
                want = struct.unpack("<H", struct.pack("<e", odd_double(exact)))[0]
            except OverflowError:
                want = 0x7C00 if exact > 0 else 0xFC00
            self.assertEqual(int(d, 16), want, line)
            rounded = half(want)
            if math.isinf(rounded):
                self.assertEqual(int(flags, 16), OVERFLOW + INEXACT)
            else:
                self.assertEqual(bool(int(flags, 16) & INEXACT), Fraction(rounded) != exact, line)
                inexact += Fraction(rounded) != exact
            checked += 1
        self.assertGreater(checked, 8000)
        self.assertGreater(inexact, 2000)

    def test_rows_round_trip(self):
        seq = ("--fa", "bfloat16", "--fb", "bfloat16", "--fd", "float8_e5m2", "--elements", "3")
        for args in (
            ("--accum", "nv.volta.f16.f32"),
            ("--accum", "nv.ampere.f16.f16", "--elements", "16", "--joined"),
            ("--accum", "seq(binary16,sra:8)", "--words", *seq),
            ("--accum", "seq2(binary16,src:5)", "--words", "--joined", "-r", "srb:3", *seq),
            ("--accum", "fp64", "--fa", "binary64", "--fb", "binary64", "--fd", "binary64"),
            ("--accum", "int32(sat,2)", "--fa", "s8", "--fb", "u8", "--fd", "s32"),
            ("--accum", "promote(2,seq(binary16),binary32,scaled)", "--joined", *seq),
        ):
            out = self.ok("vectors", "dot", *args)
            self.assertEqual(out.count("\n"), 15000)
            self.assertEqual(" " in out, "--joined" not in args)
            self.assertEqual(self.ok("vectors", "--check", "dot", *args, stdin=out), "15000 cases, 0 differ\n")
            # The last digit before the flags is the result's: wrong ones are found, unless a NaN became another.
            lines = out.splitlines()[5000:5400]
            cut = -3 if "--joined" in args else -4
            spoilt = [s[:cut] + "%X" % (int(s[cut], 16) ^ 1) + s[cut + 1 :] for s in lines]
            judged = self.ok("vectors", "--check", "dot", *args, "--first", "0", stdin="\n".join(spoilt) + "\n", code=1)
            self.assertGreater(int(judged.split()[2]), 50)

    def test_rows_at_level_2(self):
        self.assertEqual(self.ok("vectors", *self.EXACT, "--elements", "2", "--level", "2").count("\n"), 300000)

    def test_random_words(self):
        """1 + 2^-12 in binary16, a quarter of a step past 1: up for the largest quarter of R alone."""
        args = ("add", "-f", "binary16", "-r", "sra:2", "--words")
        for word, code in ((0, "3C00"), (2, "3C00"), (3, "3C01"), (0xFFFFFFF3, "3C01"), (0xFFFFFFF0, "3C00")):
            line = "3C00 0C00 %08X %s 01\n" % (word, code)
            self.assertEqual(self.ok("vectors", "--check", *args, stdin=line), "1 cases, 0 differ\n")
            joined = line.replace(" ", "")
            self.assertEqual(self.ok("vectors", "--check", *args, "--joined", stdin=joined), "1 cases, 0 differ\n")
            dot = ("dot", "--accum", "seq(binary16,sra:2)", "--elements", "1", *"--fa binary16 --fb binary16 --fd binary16".split(), "--words")
            self.ok("vectors", "--check", *dot, "--no-flags", stdin="0C00 3C00 3C00 %08X %s\n" % (word, code))
        # The words are those that the stream has, so that results are the same without them.
        with_words = [s.split() for s in self.ok("vectors", *args).splitlines()]
        without = [s.split() for s in self.ok("vectors", *args[:-1]).splitlines()]
        self.assertEqual([s[:2] + s[3:] for s in with_words], without)
        self.assertGreater(len({s[2] for s in with_words}), 3)

    def test_misuse_of_rows(self):
        exact = self.EXACT[1:]
        self.bad("vectors", "dot", says="no model given")
        self.bad("vectors", "dot", "--accum", "exact", says="leaves the elements open")
        self.bad("vectors", "dot", *exact, "-f", "binary16", says="--fa, --fb and --fd")
        self.bad("vectors", "dot", "--accum", "nv.volta.f16.f32", "--elements", "3", says="multiple")
        self.bad("vectors", "dot", *exact, "--words", says="no rounding is stochastic")
        self.bad("vectors", "add", "-f", "binary16", "--words", says="not stochastic")
        self.bad("vectors", "add", "-f", "binary16", "--elements", "4", says="belong to dot")
        self.bad("vectors", "--check", "dot", *exact, stdin="00 00 0000 0000\n", says=":1: ")
        self.bad("vectors", "--check", "dot", *exact, stdin="0000 00 0000 0000 00\n", says=":1: ")
        self.bad("vectors", "--check", "dot", *exact, "--joined", stdin="0\n", says=":1: ")
        self.bad("vectors", "--check", "dot", *exact, stdin="", says="no cases")
        seq = ("--accum", "seq(binary16,sra:2)", *self.EXACT[3:], "--words")
        self.bad("vectors", "--check", "dot", *seq, stdin="0000 0000 0000 00000000 0000 00\n", says="random words")

    def test_misuse(self):
        self.bad("vectors", says="requires OP")
        self.bad("vectors", "foo", "-f", "binary16", says="no operation")
        self.bad("vectors", "add", says="no format given")
        self.bad("vectors", "add", "-f", "binary16", "--level", "3", says="--level")
        self.bad("vectors", "round_to_integral", "-f", "binary16", "--fd", "bfloat16", says="one format")
        self.bad("vectors", "--check", "add", "-f", "binary16", stdin="", says="no cases")
        self.bad("vectors", "--check", "add", "-f", "binary16", stdin="3C00 3C00 4000\n", says=":1: not as many fields")
        self.bad("vectors", "--check", "add", "-f", "binary16", stdin="3C00 3C00 14000 00\n", says=":1: ")
        self.bad("vectors", "--check", "add", "-f", "binary16", stdin="3C00 3C00 4000 00 00\n", says=":1: ")
        self.bad("vectors", "--check", "lt", "-f", "binary16", stdin="3C00 3C00 2 00\n", says=":1: ")
        self.bad("vectors", "--testfloat", "f64_add", says="no function")
        self.bad("vectors", "--testfloat", "i32_to_f64", says="no function")
        self.bad("vectors", "--testfloat", "f16_to_f16", says="no function")
        self.bad("vectors", "--testfloat", "f16_add", "--level", "1", "--check", says="--level")
        self.bad("vectors", "--testfloat", "f16_add", stdin="3C00\n", says=":1: ")


if __name__ == "__main__":
    support.main()
