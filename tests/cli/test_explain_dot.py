# SPDX-License-Identifier: MIT
"""`halfulp explain dot`: the result and the steps against `halfulp mma` and exact fractions; links to the playground."""

import json
import os
import random
import re
import sys
import urllib.parse
from fractions import Fraction

sys.dont_write_bytecode = True
import support  # noqa: E402

SEED = int(os.environ.get("HU_TEST_SEED", "21"))
UNITS = ("nv.volta.f16.f32", "nv.hopper.e4m3.f32.wgmma", "amd.cdna3.f16.k4", "nv.ampere.tf32.f32", "intel.vdpbf16ps")
MODELS = ("exact", "fp32", "seq(bfloat16)", "seq2(binary16)", "chunk(4,binary16,binary32)", "pairwise(bfloat16)", "strided(binary16)",
          "kahan(bfloat16)", "neumaier(bfloat16)", "promote(4,seq(binary16),binary32)", "splitk(3,seq(bfloat16))", "seq(bfloat16,sra:8)")


def number(x):
    """A number of the JSON, exact; None where it is none."""
    if isinstance(x, (int, float)):
        return Fraction(x)
    if x in (None, "nan", "inf", "-inf", "NaN"):
        return None
    sign, whole, behind, exponent = re.fullmatch(r"(-?)0x1(?:\.)?()([0-9a-f]*)p([+-]\d+)", x).groups()
    value = (1 + Fraction(int(behind or "0", 16), 16 ** len(behind))) * Fraction(2) ** int(exponent)
    return -value if sign else value


class ExplainDot(support.Case):
    def explain(self, *args):
        return json.loads(self.ok("explain", "dot", "--json", *args))

    def check_steps(self, steps):
        """Each operation is what its operands give, and terms add up to what is rounded."""
        total, terms = Fraction(0), 0
        for s in steps:
            if s["step"] not in ("term", "cut", "round", "mul", "add", "fma", "last"):
                continue
            exact, z = number(s["exact"]), number(s["result"])
            if exact is None or z is None:
                continue
            if "x" in s and s["step"] != "term":
                x, y = number(s["x"]), number(s["y"])
                want = {"mul": x * y, "add": x + y, "fma": x * y + number(s.get("c", 0))}[s["step"]]
                if not s.get("exact_is_cut"):
                    self.assertEqual(exact, want, s)
            if s["step"] == "term":
                total, terms = total + z, terms + 1
            elif s["step"] == "cut":
                total += z - exact
            elif s["step"] == "round":
                if terms and not s.get("exact_is_cut"):
                    self.assertEqual(total, exact, s)
                total, terms = Fraction(0), 0
        self.assertEqual(steps[-1]["step"], "last")

    def test_units(self):
        draw = random.Random(SEED)
        for unit in UNITS:
            for _ in range(4):
                words = [draw.choice(("1", "-2", "0.5", "3", "0.001953125", "-0.25", "96")) for _ in range(8)]
                got = self.explain("--accum", unit, ",".join(words), ",".join(reversed(words)), draw.choice(("1", "-", "0.25")))
                self.check_steps(got["steps"])

    def test_codes(self):
        """The patterns of `halfulp mma`, the same D."""
        draw = random.Random(SEED + 1)
        for unit, digits, n in (("nv.volta.f16.f32", 4, 4), ("nv.hopper.e4m3.f32.wgmma", 2, 32), ("intel.vdpbf16ps", 4, 2)):
            for _ in range(8):
                a, b = ("".join("%0*x" % (digits, draw.randrange(16**digits)) for _ in range(n)) for _ in range(2))
                c = "%08x" % draw.randrange(2**32)
                want = self.ok("mma", unit, stdin=f"{a} {b} {c}\n").strip()
                self.assertEqual(self.explain("--accum", unit, "--codes", a, b, c)["code"], "0x" + want, (unit, a, b, c))

    def test_models(self):
        draw = random.Random(SEED + 2)
        for model in MODELS:
            for n in (1, 5, 11):
                a, b = (",".join(str(draw.randrange(-64, 65) / 8) for _ in range(n)) for _ in range(2))
                got = self.explain("--accum", model, "-f", "float8_e4m3fn", "--fd", "binary32", "--seed", "7", a, b, "0.5")
                self.check_steps(got["steps"])
                self.assertEqual(got["products"], n)

    def test_scales(self):
        got = self.explain("--accum", "promote(4,fp32,binary32,scaled)", "-f", "float8_e4m3fn", "--fd", "binary32",
                           "1,2,3,4,5", "1,1,1,1,1", "0", "2,0.5", "1,4")
        self.check_steps(got["steps"])
        self.assertEqual(number(got["steps"][-1]["result"]), 30)

    def test_text(self):
        text = self.ok("explain", "dot", "--accum", "nv.hopper.e4m3.f32.wgmma", "448,0.125,1", "448,0.25,1", "1")
        self.assertIn("filled up with 29 zeros to the 32 products", text)
        self.assertRegex(text, r"align +to 2\^16; the last digit kept is 2\^3")
        self.assertRegex(text, r"term +C +1, cut to 0")
        self.assertRegex(text, r"term +product 1 +0\.125 \* 0\.25 = 0\.03125, cut to 0")
        self.assertNotIn("product 3 ", text)
        self.assertRegex(text, r"code +0x48440000; 3 of 37 steps lose digits")
        text = self.ok("explain", "dot", "--accum", "int32", "--fa", "s8", "--fb", "s8", "1,2,300", "3,4,5")
        self.assertIn("1 of the numbers were rounded", text)
        self.assertRegex(text, r"add +product 2 +11 \+ 635 = 646 in s32")

    def test_wrong_use(self):
        self.bad("explain", "dot", "1", "2", says="--accum is missing")
        self.bad("explain", "dot", "--accum", "seq(binary17)", "1", "2", says="binary17")
        self.bad("explain", "dot", "--accum", "exact", "1", "2", says="leaves the elements of A open")
        f = ("explain", "dot", "--accum", "exact", "-f", "bfloat16")
        self.bad(*f, "1,x", "2,3", says="'x' is not a number")
        self.bad(*f, "1,2,3", "2,3", says="A has 3 elements, B has 2")
        self.bad(*f, "1", says="the model takes A B [C]")
        self.bad(*f, "1", "2", "3", "4", "5", says="the model takes A B [C]")
        self.bad(*f, "--codes", "3f8", "3f80", says="not a multiple of 4")
        self.bad(*f, "--fc", "bfloat16", "1", "2", says="--fd is the format")
        self.bad("explain", "-f", "bfloat16", "--accum", "exact", "1", says="are for dot")

    def test_links(self):
        def parts(*args):
            os.environ["HALFULP_PLAYGROUND"] = "https://example.org/p.html"
            link = self.ok("explain", "--open", *args).strip()
            self.assertTrue(link.startswith("https://example.org/p.html#"), link)
            return dict(urllib.parse.parse_qsl(link.partition("#")[2], keep_blank_values=True))

        self.assertEqual(parts("-f", "fp(4,3,0):fn", "-r", "sra:8", "--random", "9a", "--", "-0.3"),
                         {"tab": "number", "f": "fp(4,3,0):fn", "r": "sra:8", "x": "9a", "v": "-0.3"})
        self.assertEqual(parts("-f", "bfloat16", "--fa", "binary16", "mul", "3", "0.1"),
                         {"tab": "operation", "f": "bfloat16", "op": "mul", "fz": "bfloat16", "a": "3", "fa": "binary16", "b": "0.1"})
        self.assertEqual(parts("dot", "--accum", "seq(bfloat16)", "-f", "float8_e4m3fn", "1,2", "3,4"),
                         {"tab": "sum", "ma": "1 2", "mb": "3 4", "mc": "", "m": "seq(bfloat16)", "shown": "0", "fe": "float8_e4m3fn", "fd": "float8_e4m3fn"})
        self.bad("explain", "--open", "-f", "torch.bfloat16", "1", says="takes no presets")


if __name__ == "__main__":
    support.main()
