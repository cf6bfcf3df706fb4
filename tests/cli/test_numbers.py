# SPDX-License-Identifier: MIT
"""encode, decode, explain, info, formats: numbers as text."""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

sys.dont_write_bytecode = True
import support  # noqa: E402


def table(name):
    out = support.run("info", name, "--table").stdout.decode().split("\n")[:-1]
    return [(line.split()[0], line.split()[1]) for line in out]


def exact(text):
    return Fraction(*float.fromhex(text).as_integer_ratio())


def nearest_even(values, x):
    """Ties to even by search in a table of (magnitude, code); x >= 0 exact."""
    best = min(abs(v - x) for v, _ in values)
    near = [(v, c) for v, c in values if abs(v - x) == best]
    return near[0][1] if len(near) == 1 else next(c for _, c in near if c % 2 == 0)


class Numbers(support.Case):
    def encode(self, text, *args, fmt="float8_e4m3fn", code=0):
        return self.ok("encode", "-f", fmt, *args, stdin=text, code=code)

    def test_table_and_round_trip(self):
        for fmt, count, digits in (
            ("float8_e4m3fn", 256, 2),
            ("float4_e2m1fn", 16, 1),
            ("binary16", 65536, 4),
            ("float6_e3m2fn", 64, 2),
            ("float8_e8m0fnu", 256, 2),
        ):
            rows = table(fmt)
            self.assertEqual(len(rows), count)
            codes = "".join(c + "\n" for c, _ in rows)
            self.assertTrue(all(len(c) == digits for c, _ in rows))
            values = self.ok("decode", "-f", fmt, stdin=codes)
            self.assertEqual(values, "".join(v + "\n" for _, v in rows))
            back = self.encode(values, fmt=fmt).split()
            for (c, v), b in zip(rows, back):
                if v != "nan" and not (fmt == "float8_e8m0fnu"):
                    self.assertEqual(c, b, (fmt, v))

    def test_decimals_as_people_write_them(self):
        # 1e-5 and 1e16 are the ends of what has no exponent.
        written = {
            "0x0p+0": "0", "-0x0p+0": "-0", "0x1.ep+7": "240", "0x1.f4p+9": "1000", "-0x1.ep+9": "-960",
            "0x1.9p+6": "100", "0x1p-9": "0.001953125", "0x1.333333333333p-5": None, "0x1p-16": "0.0000152587890625",
            "0x1.4f8b588e368f0p-17": "9.999999999999999e-06", "0x1.4f8b588e368f1p-17": "0.00001",
            "0x1p+53": "9007199254740992", "0x1.1c37937e08p+53": "1e+16", "0x1p+24": "16777216",
            "0x1.c6bf52634p+49": "1000000000000000", "0x1p+62": "4.611686018427388e+18",
            "0x1p-24": "5.9604644775390625e-08", "0x1.8p+1": "3", "0x1.921fb54442d18p+1": "3.141592653589793",
            "0x1p-1074": "5e-324", "-0x1.fffffffffffffp+1023": "-1.7976931348623157e+308", "0x1p-149": None,
            "0x1.e240cap+19": "987654.3125", "0x1.5af1d78b58c4p+66": "1e+20",
        }
        for hexadecimal, decimal in written.items():
            x = float.fromhex(hexadecimal)
            out = self.ok("explain", "-f", "binary32", "--", hexadecimal).split("\n")[1]
            shown = out.split(" = ")[1]
            self.assertEqual(float(shown), x, hexadecimal)
            if decimal:
                self.assertEqual(shown, decimal)
            self.assertEqual("e" in shown, x != 0 and not 1e-5 <= abs(x) < 1e16, shown)
            digits = [t.split("e")[0].lstrip("-").replace(".", "").strip("0") for t in (shown, repr(x))]
            if x != 2.0**-24:  # halfway between two texts of 16 digits: all 17 are shown
                self.assertEqual(*digits)

    def test_names_that_are_not_formats(self):
        """A name that means something else is not said to mean nothing."""
        several = "ambiguous; one of "
        for name, says in (
            ("nvfp4", "a scaled format of whole arrays, which quantize, encode and decode take; its elements are float4_e"),
            ("mxfp8_e4m3", "a scaled format"),
            ("s2fp8", "a scaled format"),
            ("hifloat4", "a scaled format"),
            ("rows(nvfp4_te)", "a scaled format of whole arrays"),
            ("NVFP4", "a scaled format"),
            ("nv.hopper.e4m3.f32.wgmma", "an accumulation model"),
            ("double", "binary64, which arrays,"), ("binary64", "binary64, which arrays,"), ("fp64", "binary64, which arrays,"),
            ("fp8", several), ("e4m3", several), ("fp4", several), ("E4M3", several), ("bf8", several), ("FP8", several),
            ("FLOAT8_E4M3FN", "names have small letters; 'float8_e4m3fn' is meant"),
            ("bfloat61", "no such name; perhaps bfloat16 is meant"),
            ("xyzzy", "no such name; `halfulp formats` lists them"),
        ):
            whole = ("info", name, "--table") if name in ("nvfp4", "mxfp8_e4m3", "s2fp8", "hifloat4") else ("info", name)  # which has their cards
            plot = ("plot", "-f", name, "-o", "x.svg")  # it draws scaled formats, and points to their names, too
            drawn = () if says.startswith("a scaled format") or name == "xyzzy" else (plot,)
            for args in drawn + (whole, ("explain", "-f", name, "1"), ("gemm", "a.npy", "b.npy", "--fa", name),
                                 ("verify", "--format", name)):
                self.bad(*args, says="format '%s': %s" % (name, says))
        self.bad("plot", "-f", "xyzzy", "-o", "x.svg", says="no such name; `halfulp formats`, `halfulp formats --scaled` and `halfulp presets` list")
        self.bad("gemm", "a.npy", "b.npy", "--fa", "posit8", says="a number system beside floating point")
        self.bad("gemm", "a.npy", "b.npy", "--fa", "torch.bfloat16", says="a preset of a conversion")
        for name, says in (("nvfp5", "nvfp4"), ("torch.bfloat61", "torch.bfloat16"), ("posit9", "posit8")):
            self.bad("quantize", "-f", name, "a.npy", "b.npy", says="no such name; perhaps %s is meant" % says)
        self.bad("qantize", says="unknown command 'qantize'; perhaps quantize is meant")
        self.bad("presets", "torch.bfloat61", says="no such name; perhaps torch.bfloat16 is meant")

    def test_one_name_in_headings(self):
        """Another name of a format is headed by its own."""
        self.assertTrue(self.ok("info", "fp16").startswith("binary16\n"))
        self.assertTrue(self.ok("explain", "-f", "fp16", "0.3").startswith("0.3 in binary16\n"))
        self.assertTrue(self.ok("explain", "-f", "bf16", "0.3").startswith("0.3 in bfloat16\n"))
        self.assertTrue(self.ok("explain", "-f", "hf8", "0.3").startswith("0.3 in float8_e4m3fn\n"))

    def test_candidates_exist(self):
        """Every candidate that an ambiguous name's message lists is a name."""
        for name in ("fp8", "fp4", "fp6", "bf8", "e4m3", "e3m4", "mxfp8", "mxfp6"):
            said = support.run("info", name).stderr.decode().split("one of ")[1]
            words = re.findall(r"\b(?:float[48]_\w+|float6_\w+|nvfp4|mxfp\w+|fp4_bnb)", said)
            self.assertGreater(len(words), 1)
            for word in words:
                self.assertNotIn("no such name", support.run("info", word).stderr.decode(), (name, word))

    def test_decimals_of_every_command(self):
        self.assertRegex(self.ok("info", "float8_e4m3"), r"max +0x77 +0x1\.ep\+7 +240\n")
        self.assertRegex(self.ok("info", "posit8"), r"max +0x7f +0x1p\+24 +16777216\n")
        out = self.ok("decode", "-v", "-f", "float8_e4m3", stdin="77\n01\n")
        self.assertEqual(out, "0x1.ep+7 240\n0x1p-9 0.001953125\n")
        self.assertIn("= 1000\n", self.ok("explain", "-f", "float8_e4m3", "-s", "none", "1000"))
        out = self.ok("formats")
        self.assertRegex(out, r"float8_e4m3fn .* 448 +0\.001953125\n")
        self.assertRegex(out, r"fp_6_9_0_finite .* 8581545984 ")
        self.assertRegex(out, r"q31 .* 0\.9999999995 ")
        self.assertRegex(self.ok("info", "q31"), r" 0\.9999999995343387\n")
        with tempfile.TemporaryDirectory() as folder:
            self.ok("plot", "-f", "float8_e4m3fn", "-o", folder + "/f.svg")
            with open(folder + "/f.svg", encoding="utf-8") as file:
                self.assertIn("min subnormal 0.001953125<", file.read())

    def test_decimal_is_rounded_once(self):
        # The binary64 nearest to these lies exactly on a midpoint of binary16; the text itself does not.
        above = "1.00048828125000000000000000000000000001"
        below = "1.00048828124999999999999999999999999999"
        tie = "1.00048828125"
        out = self.encode("\n".join((above, below, tie, "-" + above)) + "\n", fmt="binary16").split()
        self.assertEqual(out, ["3c01", "3c00", "3c00", "bc01"])
        out = self.encode(above + "\n" + below + "\n", "-r", "rtz", fmt="binary16").split()
        self.assertEqual(out, ["3c00", "3c00"])
        self.assertEqual(self.encode("0x1.00200000000000000001p0\n", fmt="binary16"), "3c01\n")

    def test_decimals_against_fractions(self):
        values = [
            (exact(v), int(c, 16))
            for c, v in table("float8_e5m2")
            if v not in ("nan", "inf", "-inf") and int(c, 16) < 128
        ]
        texts = ["%d.%04de%d" % (i % 10, (i * 7919) % 10000, (i * 31) % 9 - 5) for i in range(2000)]
        out = self.encode("\n".join(texts) + "\n", fmt="float8_e5m2").split()
        self.assertEqual(len(out), 2000)
        checked = 0
        for text, code in zip(texts, out):
            x = Fraction(text)
            if x < 57344:
                self.assertEqual(int(code, 16), nearest_even(values, x), text)
                checked += 1
        self.assertGreater(checked, 1900)

    def test_range_ends(self):
        text = "1e400\n-1e400\n1e-400\n-1e-400\n4.9e-324\ninf\n-Infinity\nNaN\n-nan\n0\n-0\n"
        self.assertEqual(self.encode(text).split(), ["7e", "fe", "00", "80", "00", "7e", "fe", "7f", "7f", "00", "80"])
        self.assertEqual(self.encode("1e-400\n-1e-400\n", "-r", "raz").split(), ["01", "81"])
        self.assertEqual(self.encode("1e400\n-1e400\n", "-s", "none").split(), ["7f", "ff"])

    def test_bits(self):
        x = [0.3, -1.5, 1e-3, 448.0, 465.0]
        want = self.encode("".join(repr(struct.unpack("<f", struct.pack("<f", v))[0]) + "\n" for v in x))
        bits = "".join("%08x\n" % struct.unpack("<I", struct.pack("<f", v))[0] for v in x)
        self.assertEqual(self.encode(bits, "--bits32"), want)
        want = self.encode("".join(v.hex() + "\n" for v in x))
        bits = "".join("%016X\n" % struct.unpack("<Q", struct.pack("<d", v))[0] for v in x)
        self.assertEqual(self.encode(bits, "--bits64"), want)

    def test_stochastic_random_field(self):
        # 2.75 in float4_e2m1fn lies 3/4 of the way from 2 to 3: with N = 4, twelve values of R go up.
        text = "".join("2.75 %x\n" % r for r in range(16))
        for mode in ("sra:4", "sr:4", "srb:4", "src:4"):
            out = self.encode(text, "-r", mode, "--words", fmt="float4_e2m1fn").split()
            self.assertEqual(out.count("5"), 12, mode)
            self.assertEqual(out.count("4"), 4, mode)
            self.assertEqual(out, sorted(out), mode)

    def test_stochastic_stream(self):
        text = "2.7\n" * 64
        a = self.encode(text, "-r", "sra:16", "--seed", "5", fmt="float4_e2m1fn").split()
        b = self.encode(text, "-r", "sra:16", "--seed", "5", "--counter", "10", fmt="float4_e2m1fn").split()
        self.assertEqual(a[10:], b[:54])
        self.assertEqual({"4", "5"}, set(a))
        self.assertNotEqual(a, self.encode(text, "-r", "sra:16", "--seed", "6", fmt="float4_e2m1fn").split())

    def test_verbose(self):
        self.assertEqual(
            self.encode("0.3\n0.25\n1e9\n", "-v"),
            "2a 0x1.4p-2 inexact\n28 0x1p-2 none\n7e 0x1.cp+8 overflow saturated inexact\n",
        )

    def test_files_and_line_ends(self):
        path = self.write("x.txt", b"1\r\n2  \n3")
        self.assertEqual(self.ok("encode", "-f", "float8_e4m3fn", path), "38\n40\n44\n")

    def test_wrong_lines(self):
        for text, line in (
            ("1\nx\n3\n", 2),
            ("1\n\n", 2),
            ("1 2\n", 1),
            ("0x\n", 1),
            (" 1\n", 1),
            ("1e\n", 1),
            ("infx\n", 1),
            ("nan(1)\n", 1),
            ("1\x002\n", 1),
            (".\n", 1),
            ("--1\n", 1),
        ):
            out = self.bad("encode", "-f", "float8_e4m3fn", stdin=text, says="standard input:%d: " % line)
            self.assertEqual(out.count("\n"), line - 1)
        path = self.write("bad.txt", b"38\nzz\n")
        self.bad("decode", "-f", "float8_e4m3fn", path, says="%s:2: 'zz': not a code" % path)
        self.bad("decode", "-f", "float8_e4m3fn", stdin="100\n", says="standard input:1: ")
        self.bad("encode", "-f", "float8_e4m3fn", "--bits32", stdin="3f80000\n", says="eight hex digits")
        self.bad("encode", "-f", "float8_e4m3fn", "--bits64", stdin="3f800000\n", says="sixteen hex digits")
        self.bad("encode", "-f", "float8_e4m3fn", "-r", "sra:4", "--words", stdin="1\n", says="two fields")
        self.bad("encode", "-f", "float8_e4m3fn", "-r", "sra:4", "--words", stdin="1 10\n", says="R is not")
        self.bad("encode", "-f", "float8_e4m3fn", "-r", "sra:4", "--words", stdin="1 123456789\n", says="R is not")
        for r in range(16):  # the low bits of a word are R
            short, word = (self.encode("0.3 " + text, "-r", "sra:4", "--words") for text in ("%x" % r, "ABCDEF0%x" % r))
            self.assertEqual(short, word)
        self.bad("encode", "-f", "float8_e4m3fn", "--words", stdin="1 1\n", says="--words requires a stochastic mode")
        self.bad("encode", "-f", "fp(6,24,0)", "-r", "sra:32", stdin="0.1\n", says="more digits")
        self.ok("encode", "-f", "fp(6,24,0)", "-r", "sra:32", stdin="0x1.999999999999ap-4\n")
        # 1 + m digits, 33 random ones and two that see a tie and what is below: 53 are there, 54 are not.
        self.ok("encode", "-f", "fp(6,17,0)", "-r", "sra:32", stdin="0.1\n")
        self.bad("encode", "-f", "fp(6,18,0)", "-r", "sra:32", stdin="0.1\n", says="more digits")

    def test_nobody_takes_the_output(self):
        """Endless input and an output that takes nothing: an end with an error, not a loop."""
        for command, text in (("encode", b"1\n"), ("decode", b"7e\n")):
            with open("/dev/full", "wb") as full:
                p = subprocess.Popen(
                    [support.HALFULP, command, "-f", "float8_e4m3fn"],
                    stdin=subprocess.PIPE,
                    stdout=full,
                    stderr=subprocess.PIPE,
                )
                written = 0
                try:
                    while written < 1 << 26:
                        written += p.stdin.write(text * 65536)
                    p.stdin.close()
                except BrokenPipeError:
                    pass
                error = p.stderr.read()
                self.assertEqual(p.wait(), 2, command)
                p.stderr.close()
                self.assertIn(b"standard output: cannot write", error)
                self.assertLess(written, 1 << 24, command)

    def test_beyond_binary64(self):
        for value, code in (("1e999", "7e"), ("-1e999", "fe")):
            out = self.ok("explain", "-f", "float8_e4m3fn", "--", value)
            self.assertIn("beyond the largest binary64 number", out)
            self.assertRegex(out, r"\n  rne +beyond max: overflow under policy ")
            self.assertNotIn("ulp", out)
            self.assertIn("0x" + code, out)
            out = json.loads(self.ok("explain", "-f", "float8_e4m3fn", "-r", "all", "--json", "--", value))
            self.assertNotIn("distance_ulps", out)
            self.assertEqual([r["code"] for r in out["results"]], ["0x" + code] * 8)
        self.assertEqual(self.ok("encode", "-f", "float8_e5m2", "-r", "rtz", stdin="1e999\n"), "7b\n")

    def test_usage_errors(self):
        self.bad("nonsense", says="unknown command 'nonsense'")
        self.bad("encode", says="no format given")
        self.bad("encode", "-f", "float9", says="'float9': no such name")
        self.bad("encode", "-f", "fp(4,3,0):fn,bogus", says=("bogus",))
        self.bad("encode", "-f", "fp(4,99,0)", says=("'fp(4,99,0)'", "m: more than 30"))
        self.bad("encode", "-f", "fp(0,7,0)", says="inf: ieee needs exponent bits")
        self.bad("encode", "-f", "fp(4,3,0):fn,ovf=inf", says="overflow: inf needs infinities")
        self.bad("encode", "-f", "binary16p1se", says="e: a P3109 format")
        self.bad("encode", "-f", "fp(4,3,0", says="something is missing at the end")
        self.bad("encode", "-f", "bfloat16", "-r", "up", says="'up' is not a rounding mode")
        self.bad("encode", "-f", "bfloat16", "-r", "floor", says="'floor' is not a rounding mode: toward negative is rtn")
        self.bad("encode", "-f", "bfloat16", "-r", "sr", says="stochastic rounding is sra:N, srb:N or src:N with N random")
        self.bad("encode", "-f", "bfloat16", "-r", "rnq", says="'rnq' is not a rounding mode (rne rna")
        self.bad("encode", "-f", "fp8_E4M3", says="ambiguous; one of float8_e4m3fn (OCP, NVIDIA)")
        self.bad("encode", "-f", "bfloat16", "-s", "up", says="'up' is no policy")
        self.bad("encode", "-f", "bfloat16", "--nan", "up", says="'up' is no policy")
        self.bad("encode", "-f", "bfloat16", "--tiny", "up", says="neither before nor after")
        self.bad("encode", "-f", "bfloat16", "--seed", "-1", says="--seed")
        self.bad("encode", "-f", "bfloat16", "--seed", "18446744073709551616", says="--seed")
        self.bad("encode", "--what", says="--what")
        self.bad("encode", "-f", says="requires an argument")
        self.bad("encode", "-f", "bfloat16", "a", "b", "c", says="one operand too many")
        self.bad("encode", "-f", "bfloat16", "/nonexistent", says="/nonexistent: ")
        self.bad("info", says="requires FORMAT")
        self.bad("info", "binary32", "--table", says="up to 16 bits")

    def test_version_and_help(self):
        self.assertRegex(self.ok("--version"), r"^halfulp \d+\.\d+\.\d+\n$")
        text = self.ok("--help")
        for name, described in support.commands().items():
            self.assertRegex(text, r"(?m)^  %s " % name)
            self.assertIn("Examples:\n", described)
            self.assertEqual(self.ok("help", name), described)
            self.assertEqual(self.ok("--help", name), described)
            for option in ("-V", "--version"):
                self.assertEqual(self.ok(name, option), self.ok("--version"))
        for args in ((), ("help",), ("-h",), ("-q",), ("help", "-q")):
            self.assertEqual(self.ok(*args), text)
        for word in ("version", "-V"):
            self.assertEqual(self.ok(word), self.ok("--version"))
        self.assertEqual(json.loads(self.ok("--json", "version")), {"version": self.ok("version").split()[1]})
        self.assertEqual(self.ok("--json"), self.ok("help", "--json"))
        self.assertEqual(self.ok("--json", "-q", "formats", "e4m3"), self.ok("formats", "e4m3", "--json"))
        self.bad("--jsn", "formats", says="--jsn does not stand before a command; only --json, --quiet, --help and --version do")
        for old, new in (("experiments", "experiment"), ("check-vectors", "vectors --check OP"), ("testfloat", "vectors --testfloat FUNCTION"),
                         ("distinguish", "identify --distinguish MODEL MODEL"), ("declare", "info --p3109"),
                         ("probe-hw", "verify --only instructions"), ("diff", "compare X.npy Y.npy")):
            self.assertEqual(support.run(old, "x").stderr.decode(), "halfulp: unknown command '%s'; use `halfulp %s`\n" % (old, new))
        self.bad("help", "inof", says="perhaps info")
        self.bad("help", "info", "encode", says="one operand too many")
        self.bad("version", "info", says="one operand too many")

    def test_formats(self):
        entries = json.loads(self.ok("formats", "--json"))
        names = [e["id"] for e in entries]
        self.assertEqual(len(names), len(set(names)))
        for name in ("float8_e4m3fn", "float8_e5m2", "hfp8_fwd_143", "bfloat16", "binary8p4se"):
            self.assertIn(name, names)
        self.assertEqual(len(self.ok("formats").splitlines()), len(names) + 1)

    def test_part_of_a_name(self):
        everything = self.ok("formats").splitlines()
        lines = self.ok("formats", "e4m3").splitlines()
        self.assertEqual(lines[0], everything[0])
        details = re.split(r"\n(?! )", self.ok("formats", "e4m3", "-v"))
        self.assertEqual([text.split("\n")[0].split()[0] for text in details if text], [line.split()[0] for line in lines])
        for name in ("float8_e4m3fn", "float8_e4m3", "ue4m3", "mxfp8_e4m3"):
            self.assertEqual(sum(line.split()[0] == name for line in lines), 1, name)
        for text in details[1:-1]:
            self.assertIn("e4m3", text)
        of_all = [e["id"] for e in json.loads(self.ok("formats", "--json")) if "posit" in e["id"]]
        self.assertEqual([line.split()[0] for line in self.ok("formats", "posit").splitlines()[1:]], of_all)
        self.assertEqual([e["id"] for e in json.loads(self.ok("formats", "--json", "posit"))], of_all)
        scaled = [e["id"] for e in json.loads(self.ok("formats", "--scaled", "--json")) if "nvfp" in e["id"]]
        self.assertGreater(len(scaled), 0)
        self.assertEqual([e["id"] for e in json.loads(self.ok("formats", "--scaled", "--json", "nvfp"))], scaled)
        self.assertEqual(self.ok("formats", "hf8").splitlines()[1].split()[0], "float8_e4m3fn")
        self.assertEqual(self.bad("formats", "fp9"), "")
        self.assertEqual(json.loads(self.ok("formats", "--json", "fp9")), [])

    def test_other_systems(self):
        """Cards, tables and explanations of posits, takums, HiFloat8, logarithmic and fixed-point numbers and tables."""
        entries = json.loads(self.ok("formats", "--json"))
        systems = [e for e in entries if "kind" in e]
        self.assertEqual({e["kind"] for e in systems}, {"posit", "lns", "fixed", "table", "takum", "takum_linear", "hifloat8"})
        for e in systems:
            card = json.loads(self.ok("info", e["id"], "--json"))
            self.assertEqual((card["kind"], card["width"], card["text"]), (e["kind"], e["width"], e["text"]))
            self.assertEqual(json.loads(self.ok("info", e["text"], "--json"))["max"], card["max"])
            self.assertIn("defined in", self.ok("info", e["id"]))
            if e["width"] <= 8:
                rows = json.loads(self.ok("info", e["id"], "--table", "--json"))
                self.assertEqual(len(rows), 1 << e["width"])
                values = [r["value"] for r in rows if not isinstance(r["value"], str)]
                self.assertEqual(max(values), card["max"]["value"])
                self.assertEqual(min(values), card["lowest"]["value"])
                # A value becomes itself: of systems of 8 bits every ninth, which meets each sign and each length of the regime or the
                # exponent, and the ends; all of them in the long run. explain takes one number.
                some = rows if e["width"] < 8 or os.environ["HALFULP_EXHAUSTIVE"] == "1" else rows[::9] + rows[1:128:126] + rows[129::126]
                for row in some:
                    if row["hex"] in ("nan", "-0x0p+0"):
                        continue
                    out = json.loads(self.ok("explain", "-f", e["id"], "--json", "--", row["hex"]))
                    self.assertEqual(out["results"][0]["value"], row["value"], (e["id"], row))
        self.assertRegex(self.ok("info", "posit8"), r"(?m)^  NaR +0x80 +nan")
        self.assertRegex(self.ok("info", "q(0.3):wrap"), r"(?m)^  values +.* wrapped$")
        self.bad("info", "posit16x", says="no such name")
        self.bad("info", "posit(40,2)", says="no such number system can be")
        self.bad("info", "table(1,x)", says="wrong from character 9 on")
        self.bad("info", "posit32", "--table", says="up to 16 bits")

    def test_explain_names_the_nan_policy(self):
        for f, more, says in (
            ("float4_e2m1fn", (), "NaN policy max, the default: +max\n"),
            ("float4_e2m1fn", ("--nan", "zero"), "NaN policy zero: the code 0\n"),
            ("float4_e2m1fn", ("--nan", "error"), "NaN policy error: +max, and the event invalid\n"),
            ("int8", (), "NaN policy max, the default: the largest value\n"),
            ("int8", ("--nan", "zero"), "NaN policy zero"),
            ("float8_e4m3fn", (), "NaN: the format's canonical NaN\n"),
            ("posit8", (), "NaN\n"),
        ):
            self.assertIn(says, self.ok("explain", "-f", f, *more, "nan"))

    def test_explain_other_systems(self):
        text = self.ok("explain", "-f", "posit16", "0.1", "-r", "all")
        self.assertRegex(text, r"toward zero +0x24cc +0x1.998p-4")
        self.assertRegex(text, r"distance +0\.8 of the bit string")
        self.assertIn("less than half the way", self.ok("explain", "-f", "lns8", "0.3"))
        self.assertRegex(self.ok("explain", "-f", "int8", "2.5"), r"rne +a tie\n +0x02 ")
        self.assertRegex(self.ok("explain", "-f", "int8", "-r", "rna", "2.5"), r"rna +a tie\n +0x03 ")
        self.assertIn("beyond the range: its end", self.ok("explain", "-f", "int8", "500"))
        self.assertRegex(self.ok("explain", "-f", "q(7.0):wrap", "130"), r"wrapped\n +0x82 = -0x1.f8p\+6")
        out = json.loads(self.ok("explain", "-f", "nf4", "0.3", "--json"))
        self.assertEqual((out["toward_zero"]["code"], out["results"][0]["code"]), ("0xa", "0xb"))
        self.assertEqual(json.loads(self.ok("explain", "-f", "posit8", "nan", "--json"))["results"][0]["code"], "0x80")
        self.bad("explain", "-f", "posit8", "abc", says="'abc' is not a number")
        # A third of a table's gap has digits without end: binary64 cannot tell an odd 1/3 from its neighbours there.
        self.assertIn("toward zero", self.ok("explain", "-f", "table(0,1)", "0." + "3" * 30))
        self.bad("explain", "-f", "table(0,1)", "0.5" + "0" * 30 + "1", says="requires more digits")

    def test_info_without_exponents(self):
        out = self.ok("info", "uint4")
        self.assertIn("none: whole multiples of 2^0\n", out)
        self.assertNotIn("precision", out)
        self.assertRegex(out, r"(?m)^  below the range +low ")
        self.assertRegex(self.ok("info", "fp(0,8,-7):finite,unsigned"), r"(?m)^  below the range +low ")
        self.assertRegex(self.ok("info", "ue4m3"), r"(?m)^  below the range +nan ")
        self.assertEqual(self.ok("encode", "-f", "uint4", stdin="-3\n2.5\n3.5\n99\n"), "0\n2\n4\nf\n")

    def test_info_json(self):
        card = json.loads(self.ok("info", "float8_e4m3fn", "--json"))
        self.assertEqual((card["width"], card["e"], card["m"], card["bias"]), (8, 4, 3, 7))
        self.assertEqual(card["max"], {"code": "0x7e", "value": 448, "hex": "0x1.cp+8"})
        self.assertEqual(card["infinity"], None)
        self.assertEqual(card["nan_code"], {"code": "0x7f", "value": "nan", "hex": "nan"})
        rows = json.loads(self.ok("info", "float4_e2m1fn", "--table", "--json"))
        self.assertEqual([r["value"] for r in rows[:4]], [0, 0.5, 1, 1.5])
        self.assertIn("0x7e   0x1.cp+8", self.ok("info", "e4m3fn"))

    def test_explain(self):
        text = self.ok("explain", "-f", "float8_e5m2", "1.125", "-r", "all")
        self.assertIn("1/2 ulp", text)
        self.assertIn("a tie: the neighbour toward zero is even", text)
        text = self.ok("explain", "-f", "float8_e5m2", "--", "-1.125")
        self.assertIn("0xbc", text)
        data = json.loads(self.ok("explain", "-f", "float8_e4m3fn", "0.3", "--json"))
        self.assertEqual(data["toward_zero"], {"code": "0x29", "value": 0.28125, "hex": "0x1.2p-2"})
        self.assertEqual(data["away_from_zero"], {"code": "0x2a", "value": 0.3125, "hex": "0x1.4p-2"})
        self.assertEqual(data["results"][0]["code"], "0x2a")
        self.assertEqual([k for k, v in data["results"][0]["events"].items() if v], ["inexact"])
        self.assertEqual(data["distance_ulps"], 0.6)
        self.assertFalse(data["distance_exact"])
        self.bad("explain", "-f", "float8_e4m3fn", "abc", says="'abc' is not a number")
        self.assertIn("overflow", self.ok("explain", "-f", "float8_e4m3fn", "500"))
        self.assertIn("canonical NaN", self.ok("explain", "-f", "float8_e4m3fn", "nan"))

    def test_explain_agrees_with_encode(self):
        """explain checks the library's result against the rule it names, and exits 1 where they differ."""
        checked = 0
        for fmt in (
            "float8_e4m3fn",
            "float8_e8m0fnu",
            "float4_e2m1fn",
            "dlfloat16",
            "fp(4,3,0):nosub",
            "fp(3,0,0)",
            "fp(0,5,0):finite",
            "ue4m3",
            "float8_e4m3fnuz",
            "binary8p1se",
        ):
            texts = ("0.3", "-0.3", "1.5", "3", "0.001", "-0.0009765625", "6", "0x1.8p-6", "0x1.6p-7", "1e-30", "447", "2.5",
                     "0x1.7fffffffffffp1", "inf", "0", "-0", "0.75")
            modes = ("-r", "all", "-r", "sra:5", "-r", "srb:3", "-r", "src:4", "--random", "5")
            explained = [json.loads(self.ok("explain", "-f", fmt, *modes, "--json", "--", x))["results"] for x in texts]
            for i in range(11):  # the numbers of all explanations are encoded by one call for each mode
                mode = explained[0][i]["mode"]
                words = ["--words"] if ":" in mode else []
                lines = "".join(x + (" 5" if words else "") + "\n" for x in texts)
                wants = self.encode(lines, "-r", mode, *words, fmt=fmt).split()
                self.assertEqual(len(wants), len(texts))
                for x, results, want in zip(texts, explained, wants):
                    self.assertEqual(len(results), 11)
                    self.assertEqual((results[i]["mode"], results[i]["code"]), (mode, "0x" + want), (fmt, x))
                    checked += 1
        print("explained and encoded: %d" % checked)


if __name__ == "__main__":
    support.main()
