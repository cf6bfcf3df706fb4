# SPDX-License-Identifier: MIT
"""`halfulp explain OPERATION`: exact results by fractions, places between neighbours, results of the library."""

import json
import os
import random
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
import support  # noqa: E402

SEED = int(os.environ.get("HU_TEST_SEED", "20"))
EXACT = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
}
FORMATS = ("float8_e5m2", "float8_e4m3fn", "bfloat16", "binary16", "fp(3,2,0)", "binary32")


class Explain(support.Case):
    def explain(self, *args):
        return json.loads(self.ok("explain", "--json", *args))

    def check_place(self, got, exact):
        """Neighbours and distance around the exact result, and what each mode takes of them."""
        low, high = (abs(Fraction(got[k]["value"])) for k in ("toward_zero", "away_from_zero"))
        ulp = Fraction(got["ulp"])
        self.assertEqual(high - low, ulp)
        self.assertTrue(low <= abs(exact) < high, (got, exact))
        distance = (abs(exact) - low) / ulp
        if got["distance_exact"]:
            self.assertEqual(Fraction(got["distance_ulps"]), distance)
        else:
            # Of binary64's 53 digits binary32 takes 24.
            self.assertAlmostEqual(got["distance_ulps"], float(distance), delta=2**-28)
        for result in got["results"]:
            if result["events"]["overflow"] or result["events"]["invalid"]:
                continue
            value, mode = Fraction(result["value"]), result["mode"]
            self.assertIn(abs(value), (low, high))
            self.assertEqual(result["events"]["inexact"], value != exact)
            if mode in ("rne", "rna", "rnz"):
                self.assertLessEqual(abs(value - exact), ulp / 2)
            self.assertTrue(mode != "rtp" or value >= exact)
            self.assertTrue(mode != "rtn" or value <= exact)
            self.assertTrue(mode != "rtz" or abs(value) == low)

    def test_exact_results(self):
        print("seed %d" % SEED)
        draw, placed = random.Random(SEED), 0
        for name, compute in EXACT.items():
            for _ in range(60):
                f, texts = draw.choice(FORMATS), []
                count = 3 if name == "fma" else 2
                sources = [draw.choice(FORMATS[:5]) for _ in range(count)]
                options = [w for letter, s in zip("abc", sources) for w in ("--f" + letter, s)]
                for _ in range(count):
                    texts.append(repr(draw.choice((-1, 1)) * draw.randrange(1, 4096) * 2.0 ** draw.randrange(-16, 1)))
                got = self.explain("-f", f, "-r", "all", *options, name, *texts)
                values = [o["value"] for o in got["operands"]]
                self.assertEqual([o["format"] for o in got["operands"]], sources)
                for text, o in zip(texts, got["operands"]):
                    self.assertEqual(o["rounded"], float(text) != o["value"])
                if not all(isinstance(v, (int, float)) for v in values) or (name == "div" and values[1] == 0):
                    continue
                exact = compute(*map(Fraction, values))
                if exact:
                    self.check_place(got, exact)
                    placed += 1
        print("placed: %d" % placed)
        self.assertGreater(placed, 150)

    def test_roots(self):
        for text in ("2", "3", "0.25", "57344", "0x1p-16", "1e-3"):
            got = self.explain("-f", "float8_e5m2", "--fa", "binary16", "sqrt", text)
            x = Fraction(got["operands"][0]["value"])
            low, high = Fraction(got["toward_zero"]["value"]), Fraction(got["away_from_zero"]["value"])
            self.assertTrue(low * low <= x < high * high, text)
            middle = (low + high) / 2
            self.assertEqual(got["results"][0]["value"] == float(low), x < middle * middle, text)

    def test_same_codes_as_testfloat(self):
        """Subnormals, infinities and NaNs among the operands: the results of `halfulp vectors --testfloat`, which reads codes."""
        draw = random.Random(SEED + 1)
        for name, function, count in (("mul", "mul", 2), ("add", "add", 2), ("div", "div", 2), ("fma", "mulAdd", 3)):
            rows = [[draw.choice((draw.randrange(65536), 0x7C00, 1, 0x8000, 0x7E00)) for _ in range(count)]
                    for _ in range(40)]
            rows = [[x if x & 0x7C00 != 0x7C00 or not x & 0x3FF else 0x7E00 for x in row] for row in rows]
            lines = "".join(" ".join("%04x" % x for x in row) + "\n" for row in rows)
            answers = [line.split() for line in self.ok("vectors", "--testfloat", "f16_" + function, stdin=lines).splitlines()]
            self.assertEqual(len(answers), len(rows))
            for row, answer in zip(rows, answers):
                codes = "".join("%x\n" % x for x in row)
                values = self.ok("decode", "-f", "binary16", stdin=codes).split()
                got = self.explain("-f", "binary16", name, *values)
                self.assertEqual([int(o["code"], 16) for o in got["operands"]], row)
                result = got["results"][0]
                self.assertEqual(int(result["code"], 16), int(answer[count], 16), (name, row))
                flags = int(answer[count + 1], 16)
                self.assertEqual(result["events"]["divide_by_zero"], bool(flags & 8), (name, row))
                self.assertEqual(result["events"]["invalid"], bool(flags & 16), (name, row))

    def test_cases_without_a_value(self):
        for words, rule, event in (
            (("add", "inf", "-inf"), "inf - inf has no value", "invalid"),
            (("mul", "0", "inf"), "0 * inf has no value", "invalid"),
            (("div", "0", "0"), "0 / 0", "invalid"),
            (("sqrt", "-1"), "a negative number has no root", "invalid"),
            (("div", "1", "0"), "a finite number over 0 is an infinity", "divide_by_zero"),
            (("fma", "nan", "1", "1"), "an operand is a NaN", "nan_in"),
        ):
            result = self.explain("-f", "float8_e5m2", *words)["results"][0]
            self.assertIn(rule, result["rule"], words)
            self.assertTrue(result["events"][event], words)
            self.assertIn(rule, self.ok("explain", "-f", "float8_e5m2", *words))
        zero = self.explain("-f", "float8_e5m2", "-r", "rtn", "-r", "rne", "sub", "1", "1")["results"]
        self.assertEqual([r["code"] for r in zero], ["0x80", "0x00"])

    def test_text(self):
        formats = ("-f", "bfloat16", "--fa", "float8_e4m3fn", "--fb", "float8_e4m3fn")
        text = self.ok("explain", *formats, "fma", "3.5", "-0.1", "1000")
        lines = text.splitlines()
        self.assertEqual(lines[0], "3.5 * -0.1015625 + 1000 in bfloat16")
        self.assertRegex(lines[1], r"^  exact value +0x1\.f3d28p\+9 = 999\.64453125$")
        self.assertRegex(lines[3], r"^  B +0x9d = -0\.1015625 in float8_e4m3fn, rounded into it first$")
        self.assertRegex(lines[4], r"^  C +0x447a = 1000 in bfloat16$")
        self.assertIn("933/1024 ulp", text)

    def test_wrong_use(self):
        f = ("explain", "-f", "bfloat16")
        self.bad(*f, "mul", "1", says=["mul takes 2 operands", "1 is given"])
        self.bad(*f, "sqrt", "1", "2", says=["sqrt takes 1 operand", "2 are given"])
        self.bad(*f, "mlu", "1", "2", says=["'mlu' is no operation", "add, sub, mul"])
        self.bad(*f, "mul", "1", "x", says="'x' is not a number")
        self.bad(*f, "--fc", "bfloat16", "mul", "1", "2", says=["--fc", "mul has no such operand"])
        self.bad(*f, "--fa", "bfloat16", "1", says="--fa is for operations")
        self.bad("explain", "-f", "posit8", "mul", "1", "2", says="floating-point formats")
        self.bad("explain", "-f", "torch.bfloat16", "mul", "1", "2", says="floating-point formats")
        self.bad("explain", "mul", "1", "2", says="no format given")


if __name__ == "__main__":
    support.main()
