# SPDX-License-Identifier: MIT
"""What docs/vectors.md states of the cases: edges, border, random operands, seeds, dot products; made again here from the
words of the page."""

import math
import os
import re
import struct
import sys
from collections import Counter

sys.dont_write_bytecode = True
import support  # noqa: E402

OPERANDS_KEY, ROWS_KEY = 0x5EC70C5, 0xD07D07
# name: (e, m, exponent field of 1, largest finite, infinity or None, canonical NaN)
FORMATS = {
    "binary16": (5, 10, 15, 0x7BFF, 0x7C00, 0x7E00),
    "bfloat16": (8, 7, 127, 0x7F7F, 0x7F80, 0x7FC0),
    "binary32": (8, 23, 127, 0x7F7FFFFF, 0x7F800000, 0x7FC00000),
    "float8_e5m2": (5, 2, 15, 0x7B, 0x7C, 0x7E),
    "float8_e4m3fn": (4, 3, 7, 0x7E, None, 0x7F),
}


def philox(key, at):
    """Word number `at` of the stream (docs/numerics.md, section 6)."""
    k0, k1 = key & 0xFFFFFFFF, key >> 32 & 0xFFFFFFFF
    block = at >> 2
    c = [block & 0xFFFFFFFF, block >> 32 & 0xFFFFFFFF, 0, 0]
    for _ in range(10):
        x, y = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [y >> 32 ^ c[1] ^ k0, y & 0xFFFFFFFF, x >> 32 ^ c[3] ^ k1, x & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c[at & 3]


def edges(f, level):
    e, m, one, largest, infinity, nan = FORMATS[f]
    if e + m + 1 <= (8 if level > 1 else 6):
        return set(range(1 << (e + m + 1)))
    ones, half, top = (1 << m) - 1, 1 << (m - 1), (1 << e) - 1
    trailing = {0, 1, 2, half, half + 1, half - 1, ones, ones - 1}
    fields = {0, 1, 2, top, top - 1, top - 2}
    fields |= {one + d for n in (0, 1, m, m + 1) for d in (n, -n)}
    if level > 1:
        trailing |= {1 << i for i in range(m)} | {ones & ~(ones >> i) for i in range(1, m + 1)}
        fields |= {one + d for n in range(min(15, 2 * m + 3) + 1) for d in (n, -n)}
    codes = {largest, largest - 1, nan, 1, 1 << m} | ({infinity} if infinity else set())
    codes |= {field << m | t & ones for field in fields if 0 <= field <= top for t in trailing}
    return codes | {code | 1 << (e + m) for code in codes}


def number(code):
    return struct.unpack(">e", struct.pack(">H", code))[0]


class Page(support.Case):
    def lines(self, *args):
        return [[int(x, 16) for x in line.split()] for line in self.ok("vectors", *args).splitlines()]

    def near(self, count, of, share, what):
        """Within four standard deviations."""
        self.assertLess(abs(count - share * of), 4 * math.sqrt(of * share * (1 - share)) + 1, (what, count, of, share))

    def test_edges(self):
        for f in FORMATS:
            for level in (1, 2):
                if (f, level) == ("binary32", 2):
                    continue  # more pairs than the limit; below
                want = edges(f, level)
                made = self.ok("vectors", "maximum", "-f", f, "--level", str(level))
                digits, line = made.index(" "), made.index("\n") + 1
                pairs = made[: len(want) ** 2 * line]
                # Every edge as A in one run of lines, and in each run every edge as B in the same order: compared by columns of
                # characters, for there are millions of lines.
                first, second = ([pairs[i : i + digits] for i in range(at, at + step * len(want), step)]
                                 for at, step in ((0, line * len(want)), (digits + 1, line)))
                for order in (first, second):
                    self.assertEqual(sorted(int(x, 16) for x in order), sorted(want), (f, level))
                for i in range(digits):
                    self.assertEqual(pairs[i::line], "".join(x[i] * len(want) for x in first), (f, level))
                    self.assertEqual(pairs[digits + 1 + i :: line], "".join(x[i] for x in second) * len(want), (f, level))
                self.assertEqual(pairs[line - 1 :: line], "\n" * len(want) ** 2)
                random = 0 if len(want) == 1 << (4 * digits) else 10000 if level == 1 else 400000
                self.assertEqual(self.ok("vectors", "maximum", "-f", f, "--level", str(level), "--count"), "%d\n" % (len(want) ** 2 + random))
        for f in ("binary16", "bfloat16", "binary32"):
            self.assertEqual(len(edges(f, 1)), 208)
        want = edges("binary32", 2)
        self.assertGreater(len(want) ** 2, 4000000)
        self.assertEqual(self.ok("vectors", "add", "-f", "binary32", "--level", "2", "--count"), "4600000\n")
        self.assertEqual(self.ok("vectors", "exp", "-f", "binary32", "--level", "2", "--count"), "%d\n" % (len(want) + 400000))

    def test_edges_of_other_types(self):
        for name, width in (("i32", 32), ("ui64", 64)):
            want = {1 << i for i in range(width)} | {(1 << i) + d for i in range(width) for d in (-2, -1, 1, 2)}
            want |= {(1 << i) + (1 << j) for i in range(width) for j in range(i)}
            want = {x % 2**width for x in want} | {-x % 2**width for x in want}
            made = self.lines("convert", "-f", name, "--fd", "binary16")
            self.assertEqual({x[0] for x in made[: len(want)]}, want)
            self.assertEqual(len(made), len(want) + 10000)
            lengths = Counter(x[0].bit_length() for x in made[len(want) :])
            self.assertEqual(set(range(1, width + 1)) - set(lengths), set())
        half = 1 << 51
        want = {s << 63 | e << 52 | t for s in (0, 1) for e in (0, 1, 2046, 2047, *range(864, 1163)) for t in (0, 1, half, half - 1, 2**52 - 1)}
        made = self.lines("convert", "-f", "binary64", "--fd", "binary16")
        self.assertEqual({x[0] for x in made[: len(want)]}, want)
        self.assertEqual(len(made), len(want) + 30000)

    def test_border(self):
        """Of conversions the operand is the exact result: codes and parts have the shares of the page."""
        made = self.lines("convert", "-f", "binary64", "--fd", "binary16")[-30000:-10000]
        codes, fixed, negative = Counter(), 0, 0
        parts = {0, 0.5, 0.25, 0.75, 0.5 + 2**-12, 0.5 - 2**-12, 2**-12, 1 - 2**-12}
        for x, _, _ in made:
            units = struct.unpack(">d", struct.pack(">Q", x))[0] * 2**24
            codes[math.floor(abs(units))] += 1
            fixed += abs(units) % 1 in parts
            negative += math.copysign(1, units) < 0
        n, smallest = len(made), 1024
        any_code = 1 / 8 / 1025
        self.near(codes[smallest - 1], n, 4 / 8 + 1 / 8 / 16 + any_code, "largest subnormal")
        for code in (smallest, smallest + 1):
            self.near(codes[code], n, 1 / 8 + 1 / 8 / 16 + (any_code if code == smallest else 0), code)
        self.near(sum(codes[c] for c in range(smallest - 8, smallest + 8)), n, 7 / 8 + 1 / 8 * 9 / 1025, "about the smallest normal")
        self.assertGreater(len(codes), 700)
        self.assertLess(max(codes), smallest + 8)
        self.near(fixed, n, 1 / 2, "fixed parts")
        self.near(negative, n, 1 / 2, "negative")
        # None for the other operations, or where the operand is an integer.
        self.assertEqual(self.ok("vectors", "remainder", "-f", "bfloat16", "--count"), "53264\n")

    def test_random(self):
        """Operands are the words that the page says; the last operand cancels in one line of eight, half of these a step aside."""
        want, f = sorted(edges("binary16", 1)), "binary16"
        for seed in (0, 7):
            start, made = 63264, self.lines("add", "-f", f, "--seed", str(seed))
            self.assertEqual(len(made), start + 10000)
            from_edges, cancelled, aside = [0, 0], 0, 0
            for i in range(start, len(made)):
                a, b = made[i][:2]
                word, which = philox(seed ^ OPERANDS_KEY, 16 * i), philox(seed ^ OPERANDS_KEY, 16 * i + 1)
                if which % 8 < 3:
                    from_edges[0] += 1
                    self.assertIn(a, want)
                else:
                    self.assertEqual(a, word & 0xFFFF, i)
                word, which = philox(seed ^ OPERANDS_KEY, 16 * i + 4), philox(seed ^ OPERANDS_KEY, 16 * i + 5)
                if which % 8 == 7:
                    cancelled += 1
                    finite = a & 0x7FFF < 0x7BFF and a & 0x7FFF > 1
                    if finite:
                        self.assertLessEqual(abs((a ^ 0x8000) - b), 1)
                        aside += (a ^ 0x8000) != b
                elif which % 8 < 3:
                    from_edges[1] += 1
                    self.assertIn(b, want)
                else:
                    self.assertEqual(b, word & 0xFFFF, i)
            for count, share in ((from_edges[0], 3 / 8), (from_edges[1], 3 / 8), (cancelled, 1 / 8)):
                self.near(count, 10000, share, "random")
            self.near(aside, cancelled, 1 / 2 * 0.97, "aside")
            self.assertEqual([x[:2] for x in made], [x[:2] for x in self.lines("add", "-f", f, "--seed", str(seed), "--counter", "3", "-r", "rtz")])
        self.assertEqual(self.lines("add", "-f", f)[:43264], self.lines("add", "-f", f, "--seed", "7")[:43264])

    def test_random_digits(self):
        for i, x in enumerate(self.lines("add", "-f", "float6_e3m2fn", "-r", "sra:5", "--seed", "3", "--counter", "11", "--words")):
            self.assertEqual(x[2], philox(3, 11 + i) >> 27, i)

    def test_rows(self):
        n, dot = 8, ("dot", "--accum", "exact", "--elements", "8", "--fa", "float8_e5m2", "--fb", "float8_e5m2", "--fd", "binary16")
        want = edges("float8_e5m2", 1)
        lines = self.ok("vectors", *dot).splitlines()
        self.assertEqual((len(lines), self.ok("vectors", *dot, "--level", "2", "--count")), (15000, "300000\n"))
        rows = []
        for line in lines:
            a, b, c, _, _ = line.split()
            rows.append(([int(a[i : i + 2], 16) for i in range(0, 2 * n, 2)], [int(b[i : i + 2], 16) for i in range(0, 2 * n, 2)], int(c, 16)))
        for a, b, c in rows[:5000]:
            self.assertEqual(set(a[1:] + b[1:]), {0})
            self.assertTrue(a[0] in want and b[0] in want and c in edges("binary16", 1))
        self.assertEqual({c for _, _, c in rows[:5000]}, edges("binary16", 1))
        sparse = cancelled = finite = 0
        for i, (a, b, c) in enumerate(rows[5000:], 5000):
            is_sparse = philox(ROWS_KEY, i << 16) % 4 == 0
            sparse += is_sparse
            zeros = (a + b).count(0)
            self.assertTrue(is_sparse or zeros < 12, (i, zeros))
            sums = sum(number(x << 8) * number(y << 8) for x, y in zip(a, b))
            if abs(sums) < 60000 and c & 0x7C00 < 0x7C00:
                finite += 1
                ulp = math.ldexp(1, max(math.frexp(number(c))[1] - 11, -24))
                cancelled += abs(number(c) + sums) <= 2 * ulp
        self.near(sparse, 10000, 1 / 4, "sparse")
        self.assertGreater(finite, 500)
        self.assertGreater(cancelled, finite / 6 * 0.8)
        self.assertEqual(Counter(philox(ROWS_KEY, (i << 16) + 4) % 6 == 0 for i in range(5000, 15000))[True] // 100, 16)

    def test_the_page(self):
        """The seeds' keys and the numbers of the tables are those of this test."""
        with open(os.path.join(os.environ["HALFULP_DOCS"], "vectors.md"), encoding="utf-8") as file:
            page = file.read()
        for text in ("K xor 0x%X" % OPERANDS_KEY, "K xor 0x%X" % ROWS_KEY, "have 208 edges", "43,264 pairs", "864 to 1162",
                     "15,000 rows, at level 2 300,000"):
            self.assertIn(text, " ".join(page.split()))
        table = re.findall(r"(?m)^\| (border|random).* \| ([\d,]+)(?:, fma ([\d,]+))? \| ([\d,]+)(?:, fma ([\d,]+))? \|$", page)
        want = [("border", "20,000", "", "200,000", ""), ("random", "10,000", "50,000", "400,000", "2,000,000")]
        self.assertEqual(table, want)
        self.assertIn("docs/vectors.md", self.ok("vectors", "--help"))


if __name__ == "__main__":
    support.main()
