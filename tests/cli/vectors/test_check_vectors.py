# SPDX-License-Identifier: MIT
"""vectors --check: files that end too early, which NaN is right, infinity times zero plus a NaN, digits of four-state
simulators, signalling NaNs in rows, what is said about a line, and the explanation of the first difference."""

import json
import os
import random
import re
import shlex
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

EXACT = ("dot", "--accum", "exact", "--elements", "2", "--fa", "fp(5,2,0)", "--fb", "fp(5,2,0)", "--fd", "binary16")


class Judge(support.Case):
    def judge(self, lines, *args, code=0):
        return self.ok("vectors", "--check", *args, stdin=lines, code=code)

    def test_complete(self):
        for args in (("add", "-f", "float8_e5m2"), EXACT, (*EXACT, "--joined"), ("sqrt", "-f", "binary16")):
            out = self.ok("vectors", *args)
            self.assertIn(", 0 differ\n", self.judge(out, *args, "--complete"))
            lines = out.splitlines(True)
            for part in ("".join(lines[:100]), "".join(lines[:-1])):
                r = support.run("vectors", "--check", *args, "--complete", stdin=part)
                self.assertEqual(r.returncode, 1)
                gone = len(lines) - part.count("\n")
                self.assertIn(b"ends too early: %d of %d cases are missing" % (gone, len(lines)), r.stderr)
                self.assertIn(", 0 differ\n", self.judge(part, *args))
            swapped = "".join([lines[1], lines[0], *lines[2:]])
            says = ":1: --complete: these are not the operands"
            self.bad("vectors", "--check", *args, "--complete", stdin=swapped, says=says)
            self.bad("vectors", "--check", *args, "--complete", stdin=out + lines[0], says="--complete: more lines")
        out = self.ok("vectors", "mul", "-f", "float6_e3m2fn", "--seed", "5", "--level", "2")
        self.judge(out, "mul", "-f", "float6_e3m2fn", "--seed", "5", "--level", "2", "--complete")

    def test_cases(self):
        add = ("add", "-f", "float8_e5m2", "--cases", "2")
        self.judge("3C 3C 40 00\n" * 2, *add)
        self.judge("3C 3C 40 00\n", *add, code=1)
        self.bad("vectors", "--check", *add, stdin="3C 3C 40 00\n" * 3, says="3 cases; --cases asks for 2")

    def test_which_nan(self):
        add = ("add", "-f", "binary16")
        quiet = ("any", "quiet")
        rights = {"7E00": (*quiet, "canonical"), "FE00": quiet, "7E01": quiet, "7C01": ("any",)}
        for nan, right in rights.items():
            for rule in ("any", "quiet", "canonical"):
                out = self.judge("7E00 3C00 %s 00\n" % nan, *add, "--nan-result", rule, code=rule not in right)
                self.assertEqual(" 1 in the kind of NaN" in out.replace("(", " "), rule not in right, (nan, rule))
        self.judge("7E00 3C00 3C00 00\n", *add, "--nan-result", "any", code=1)
        self.judge("7C7C 7C7C FC00 7E00 10\n", *EXACT, "--nan-result", "canonical")
        self.judge("7C7C 7C7C FC00 7E01 10\n", *EXACT, "--nan-result", "canonical", code=1)

    def test_infinity_times_zero_plus_nan(self):
        """A RISC-V unit that forgets NV, an x86 unit that raises it."""
        fma = ("fma", "-f", "binary16")
        for args, line in ((fma, "7C00 0000 7E00 7E00 %s\n"), (EXACT, "7C3C 003C 7E00 7E00 %s\n")):
            for rule, right in (("any", ("00", "10")), ("quiet", ("00",)), ("invalid", ("10",))):
                for flags in ("00", "10"):
                    self.judge(line % flags, *args, "--nan-fma", rule, code=flags not in right)
                self.judge("7C00 0000 3C00 7E00 00\n", "fma", "-f", "binary16", "--nan-fma", rule, code=1)
        for rule in ("quiet", "invalid"):
            out = self.ok("vectors", "fma", "-f", "float8_e5m2", "--nan-fma", rule)
            self.judge(out, "fma", "-f", "float8_e5m2", "--nan-fma", rule)
            self.judge(out, "fma", "-f", "float8_e5m2")
        self.judge(out, "fma", "-f", "float8_e5m2", "--nan-fma", "quiet", code=1)
        out = self.ok("vectors", *EXACT, "--nan-fma", "invalid")
        self.judge(out, *EXACT, "--nan-fma", "invalid")
        self.judge(out, *EXACT, "--nan-fma", "quiet", code=1)
        self.bad("vectors", "fma", "-f", "binary16", "--nan-fma", "loud", says="--nan-fma")

    def test_signalling_rows(self):
        self.judge("7D3C 3C3C 0000 7E00 10\n", *EXACT)
        self.judge("7D3C 3C3C 0000 7E00 00\n", *EXACT, code=1)
        self.judge("7E3C 3C3C 0000 7E00 00\n", *EXACT)
        self.judge("3C3C 3C3C 7D00 7E00 10\n", *EXACT)
        seen = 0
        for line in self.ok("vectors", *EXACT).splitlines():
            a, b, c, _, flags = line.split()
            rows = [int(x[i : i + 2], 16) & 0x7F for x in (a, b) for i in (0, 2)]
            if 0x7D in rows or 0x7C00 < int(c, 16) & 0x7FFF < 0x7E00:
                self.assertEqual(int(flags, 16) & 16, 16, line)
                seen += 1
        self.assertGreater(seen, 500)

    def test_unknown_digits(self):
        add = ("add", "-f", "float8_e4m3fn")
        out = self.judge("57 38 58 00\n57 38 XX 00\n57 38 5z 0X\n57 38 58 00\n", *add, code=1)
        self.assertIn("line 2: 57 38 is XX 00 (digits X or Z), should be 58 00 (16; no flags)", out)
        self.assertTrue(out.endswith("4 cases, 2 differ (2 with digits X or Z)\n"), out)
        joined = "57385800\n5738xx00\n57385800\n5738580Z\n"
        self.assertIn("2 with digits", self.judge(joined, *add, "--joined", code=1))
        self.judge("3C3C 3C3C 0000 xxxx xx\n", *EXACT, code=1)
        self.bad("vectors", "--check", "add", "-f", "float8_e4m3fn", stdin="5X 38 58 00\n", says=":1: operand A: '5X'")

    def test_lines_that_cannot_be_read(self):
        add = ("vectors", "--check", "add", "-f", "float8_e4m3fn")
        for line, says in (("57 381 58 00", "operand B: '381' is above FF, the largest there"),
                           ("57 38 g8 00", "the result: 'g8' is not a hexadecimal number of 2 digits"),
                           ("57 38 58 20", "the flags: '20' is above 1F, the largest there"),
                           ("57 38 58", "not as many fields as operands, a result and flags are"),
                           ("57 38 58 00 00", "more than 4 fields")):
            self.bad(*add, stdin="57 38 58 00\n" + line + "\n", says="standard input:2: " + says)
        self.bad(*add, "--joined", stdin="573858\n", says="6 digits; operands, result and flags have 8")
        self.bad("vectors", "--check", *EXACT, stdin="7D3C 3C3C 0000 g 10\n", says=":1: the result: 'g'")
        self.assertEqual(self.ok(*add, stdin="  57 38  58 00\n"), "1 cases, 0 differ\n")

    def test_units_take_their_own_formats(self):
        dot = ("dot", "--accum", "nv.hopper.e4m3.f32.wgmma", "--elements", "32")
        dot += ("--fa", "binary32", "--fb", "binary32", "--fd", "binary32")
        for check in ((), ("--check",)):
            self.bad("vectors", *check, *dot, says=("--fa", "float8_e4m3fn", "binary32"))

    # ---- --explain ----

    def test_explain(self):
        """Below the first difference that is printed stands a command line, and what it prints."""
        lines = "57 38 58 00\n57 38 A1 01\n57 38 A2 01\n"
        add = ("add", "-f", "float8_e4m3fn")
        plain = self.judge(lines, *add, code=1).splitlines(True)
        said = self.judge(lines, *add, "--explain", code=1)
        self.assertTrue(said.startswith(plain[0] + "  halfulp explain -f float8_e4m3fn add 0x1.ep+3 0x1p+0\n15 + 1 in float8_e4m3fn\n"), said)
        command = said.splitlines()[1].split()
        self.assertEqual(said, plain[0] + said.splitlines(True)[1] + self.ok(*command[1:]) + "".join(plain[1:]))
        # None is printed, or none is wrong: nothing to explain.
        self.assertEqual(self.judge(lines, *add, "--explain", "--first", "0", code=1), plain[2])
        self.assertEqual(self.judge("57 38 58 00\n", *add, "--explain"), "1 cases, 0 differ\n")
        self.assertIn("  A is a signalling NaN, which is invalid as an operand\nnan * 1 in binary16\n",
                      self.judge("7D00 3C00 7E00 00\n", "mul", "-f", "binary16", "--explain", code=1))
        said = self.judge("3C00 4500 000000FF 3D 00\n", "div", "-f", "fp(5,10,0)", "--fd", "fp(3,5,-1)", "-r", "sra:4", "--words",
                          "--explain", code=1)
        self.assertIn(" -f 'fp(3,5,-1)' --fa binary16 --fb binary16 -r sra:4 --random f div ", said)
        self.assertIn("1 / 5 in fp(3,5,-1)\n", said)
        for args, line, what in ((("lt", "-f", "binary16"), "3C00 4000 0 00\n", "lt"), (("exp", "-f", "binary16"), "3C00 4000 00\n", "exp"),
                                 (("convert", "-f", "binary16", "--fd", "i8"), "3C00 02 00\n", "conversions to integers and to binary64")):
            self.assertIn("\n  `halfulp explain` does not explain %s\n" % what, self.judge(line, *args, "--explain", code=1))
            self.assertIsNone(json.loads(self.judge(line, *args, "--explain", "--json", code=1))["explanation"])
        self.assertIn("\n15 + 1 in", self.ok("vectors", "--testfloat", "f16_add", "--check", "--explain", stdin="4B80 3C00 0000 00\n", code=1))

    def test_explanations_are_right(self):
        """The result explained is the right one, with its flags, whatever the operation, the formats and the mode; the object of JSON is
        what the command line of the text prints. Two modes by turns for each operation and its formats, so that each operation and each
        format meets nearly all modes; every pair of them in the long run."""
        draw, checked = random.Random(17), 0
        ops = [(op, "-f", f) for op in ("add", "sub", "mul", "div", "fma", "sqrt") for f in ("float8_e4m3fn", "bfloat16", "float8_e5m2fnuz")]
        ops += [("fma", "--fa", "float8_e5m2", "--fb", "float8_e4m3fn", "--fc", "binary16", "--fd", "bfloat16"),
                ("sqrt", "-f", "binary16", "--fd", "float8_e5m2")]
        ops += [("convert", "-f", f, "--fd", z) for f, z in (("binary16", "float8_e4m3fn"), ("binary32", "bfloat16"), ("binary64", "binary16"),
                                                               ("i64", "binary32"), ("ui8", "float8_e5m2"), ("float8_e5m2", "binary16"))]
        modes = ((), ("-r", "rtp", "-s", "finite"), ("-r", "sra:8", "--seed", "5", "--counter", "9"), ("-r", "srb:3", "--words"),
                 ("--tiny", "before", "-s", "propagate", "--nan", "zero"))
        flags = (("inexact", 1), ("underflow", 2), ("overflow", 4), ("divide_by_zero", 8), ("invalid", 16))
        every = os.environ["HALFULP_EXHAUSTIVE"] == "1"
        for i, op in enumerate(ops):
            for mode in modes if every else [modes[i % 5], modes[(i + 2) % 5]]:
                args = (*op, *mode)
                lines = self.ok("vectors", *args).splitlines()
                for at in draw.sample(range(len(lines)), 3):
                    *fields, code, flag = lines[at].split()
                    wrong = "%0*X" % (len(code), int(code, 16) ^ 1)
                    moved = list(args)  # line `at` becomes the first one
                    if "--counter" in args:
                        moved[args.index("--counter") + 1] = str(9 + at)
                    text = " ".join([*fields, wrong, flag]) + "\n"
                    r = support.run("vectors", "--check", *moved, "--explain", "--json", stdin=text)
                    if r.returncode == 0:  # any NaN is as good as another
                        continue
                    judged, said = json.loads(r.stdout), self.judge(text, *moved, "--explain", code=1)
                    made, right = judged["explanation"], judged["first"][0]["should_be"]
                    command = shlex.split(said.splitlines()[1])
                    self.assertEqual((r.returncode, made), (1, json.loads(self.ok(*command[1:], "--json"))), (args, said))
                    got = made["results"][0]
                    self.assertEqual((got["code"], len(made["results"])), (right["code"], 1), (args, text))
                    events = sum(bit for name, bit in flags if got["events"][name])
                    signals = "is a signalling NaN" in said
                    self.assertEqual(events | (16 if signals else 0), int(right["flags"], 16), (args, text))
                    checked += 1
        print("explained: %d" % checked)
        self.assertGreater(checked, 250 if every else 100)

    def test_explained_rows(self):
        """Rows of dot products: the command line that is printed prints the same steps, which end with the right code."""
        for args in (("--accum", "nv.volta.f16.f32"), ("--accum", "nv.hopper.e4m3.f32.wgmma", "-r", "rtz"), ("--accum", "nv.turing.s8.s32"),
                     ("--accum", "nv.blackwell.mxfp8.e4m3"), ("--accum", "nv.blackwell.f16.f16.mma", "-s", "finite", "--joined"),
                     ("--accum", "seq(binary16,sra:5)", *"--fa binary16 --fb bfloat16 --fd binary16 -r sra:3 --seed 4 --counter 9".split()),
                     ("--accum", "exact", *"--fa binary64 --fb binary64 --fd binary32 --tiny before".split())):
            lines = self.ok("vectors", "dot", *args).splitlines()
            for at in (0, 7000, 14999):
                moved = [str(9 + at) if word == "9" else word for word in args]
                line = lines[at][:-2] + ("02" if lines[at].endswith("00") else "00") + "\n"
                said = self.judge(line, "dot", *moved, "--explain", code=1).splitlines()
                steps = said[2:-1]
                self.assertEqual(self.ok(*shlex.split(said[1])[1:]).splitlines()[-len(steps) :], steps, said)
                made = json.loads(self.judge(line, "dot", *moved, "--explain", "--json", code=1))
                self.assertEqual(made["explanation"]["code"], made["first"][0]["should_be"]["code"])
                self.assertEqual(made["explanation"], json.loads(self.ok(*shlex.split(said[1])[1:], "--json")))
        words = ("dot", "--accum", "seq(binary16,sra:5)", *"--fa binary16 --fb binary16 --fd binary16 --words".split())
        line = self.ok("vectors", *words).splitlines()[0][:-2] + "1E\n"
        self.assertIn("\n  `halfulp explain` does not explain rows with --words\n", self.judge(line, *words, "--explain", code=1))
        self.assertIsNone(json.loads(self.judge(line, *words, "--explain", "--json", code=1))["explanation"])


if __name__ == "__main__":
    support.main()
