# SPDX-License-Identifier: MIT
"""Scaled formats on .npy: files, shapes, blocks, refusals. What the codes mean is computed here anew."""

import json
import math
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, npy, parse_npy  # noqa: E402


def small_float(code, e, m, bias, nan=()):
    """The value of a code with a sign bit, e exponent and m trailing bits, without infinities."""
    if code & ((1 << (e + m)) - 1) in nan:
        return math.nan
    sign = -1.0 if code >> (e + m) & 1 else 1.0
    field, trailing = code >> m & ((1 << e) - 1), code & ((1 << m) - 1)
    if field == 0:
        return sign * math.ldexp(trailing, 1 - bias - m)
    return sign * math.ldexp((1 << m) + trailing, field - bias - m)


def e4m3(code):
    return small_float(code, 4, 3, 7, (0x7F,))


def e2m1(code):
    return small_float(code, 2, 1, 1)


def e8m0(code):
    return math.nan if code == 255 else math.ldexp(1.0, code - 127)


def binary32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


SIZES = {"|u1": "B", "<u2": "H", "<u4": "I", "<f2": "e", "<f4": "f", "<f8": "d"}


class Scaled(support.Case):
    def get(self, name):
        """(descr, shape, values) of a file."""
        descr, fortran, shape, payload = parse_npy(self.read(name))
        self.assertFalse(fortran)
        letter = SIZES[descr]
        return descr, shape, struct.unpack("<%d%s" % (len(payload) // struct.calcsize(letter), letter), payload)

    def numbers(self, n, seed=1):
        rng = random.Random(seed)
        return [binary32(rng.gauss(0, 1) * 2.0 ** rng.uniform(-6, 6)) for _ in range(n)]

    def test_values_are_codes_times_scales(self):
        """By what the formats say: P s t, blocks of 32 or 16 along the last axis, a part of one at the end."""
        shape, values = (3, 2, 45), self.numbers(270)
        x = self.put("x.npy", values, shape)
        for fmt, element, scale, block in (
            ("mxfp8_e4m3", e4m3, e8m0, 32),
            ("mxfp4", e2m1, e8m0, 32),
            ("nvfp4", e2m1, e4m3, 16),
        ):
            self.ok("quantize", "-f", fmt, x, self.path("z.npy"))
            self.ok("quantize", "-f", fmt, "--codes", x, self.path("c.npy"))
            descr, got_shape, codes = self.get("c.npy")
            self.assertEqual((descr, got_shape), ("|u1", shape))
            across = -(-45 // block)
            descr, got_shape, scales = self.get("c.scales.npy")
            self.assertEqual((descr, got_shape), ("|u1", (6, across)))
            t = 1.0
            if fmt == "nvfp4":
                descr, got_shape, (t,) = self.get("c.tensor.npy")
                self.assertEqual((descr, got_shape), ("<f4", ()))
            want = []
            for i, code in enumerate(codes):
                s = scale(scales[i // 45 * across + i % 45 // block])
                want.append(binary32(element(code) * binary32(s * t)))
            descr, got_shape, got = self.get("z.npy")
            self.assertEqual((descr, got_shape), ("<f4", shape))
            self.assertEqual(got, tuple(want), fmt)
            # Near what went in: half a step of the block's largest element.
            for i, v in enumerate(got):
                amax = max(
                    abs(values[j])
                    for j in range(
                        i // 45 * 45 + i % 45 // block * block,
                        min(i // 45 * 45 + (i % 45 // block + 1) * block, (i // 45 + 1) * 45),
                    )
                )
                self.assertLessEqual(abs(v - values[i]), amax / 4)
            self.ok("decode", "-f", fmt, self.path("c.npy"), self.path("d.npy"))
            self.assertEqual(self.read("d.npy"), self.read("z.npy"))
            for name in ("c.tensor.npy", "c.scales.npy"):
                if name in self.left():
                    os.unlink(self.path(name))

    def test_every_preset_and_text(self):
        """Codes and back are the values, whatever the widths of codes and scales."""
        x = self.put("x.npy", self.numbers(5 * 70), (5, 70))
        done = 0
        for fmt in (
            "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8",
            "nvfp4", "nvfp4_torchao", "nvfp4_te", "nvfp4_torchao18", "nvfp4_4over6", "nvfp4_te_4over6",
            "nvfp4_te_4over6_448", "nvfp4_modelopt_mse", "nvint4", "nvint6", "msfp11", "msfp12", "msfp13", "msfp14", "msfp15", "msfp16", "hbfp4",
            "hbfp6", "hbfp8", "hbfp12", "tt_bfp8", "tt_bfp4", "tt_bfp2", "fp8_tensor", "dsv3_1x128", "dsv3_128x128",
            "deepgemm_1x128", "deepgemm_128x128", "bfp(5,6,8)",
            "s2fp8", "s2fp8(float8_e4m3fn)", "hifloat4", "hifloat4_hifx", "hifloat4(low=least;high=nan)",
            "posit8", "posit16", "lns8", "lns16", "nf4", "fp4_bnb", "int4",
            "q(3.4)", "uq(2.5):wrap", "table(-1,0,0.5,2)",
            "scaled(float6_e2m3fn;scale=bfloat16;block=2x9;rule=ratio;round=raz;special=element;pad)",
            "scaled(bfloat16;scale=binary16;block=*x1;rule=ratio;zero=one)",
            "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=4x*;rule=rceil;amin=0x38d1b717)",
            "scaled(float4_e2m1fn;scale=float8_e4m3fn;block=16x16;rule=4over6_mse_fast;steps=multiply;tensor)",
            "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=sweep_mse;steps=multiply)",
            "rows(nvfp4_te)", "rows(nvfp4_4over6)",
        ):  # fmt: skip
            self.ok("quantize", "-f", fmt, x, self.path("z.npy"))
            self.ok("encode", "-f", fmt, x, self.path("c.npy"))
            self.ok("decode", "-f", fmt, self.path("c.npy"), self.path("d.npy"))
            self.assertEqual(self.read("d.npy"), self.read("z.npy"), fmt)
            done += 1
            if os.environ["HALFULP_SAFETENSORS"] != "1":
                self.bad("quantize", "-f", fmt, "--codes", x, self.path("c.safetensors"), says="reads no .safetensors")
                continue
            self.ok("quantize", "-f", fmt, "--codes", x, self.path("c.safetensors"))
            self.ok("decode", self.path("c.safetensors"), self.path("d.npy"))
            self.assertEqual(self.read("d.npy"), self.read("z.npy"), fmt)
        print("formats through files: %d" % done)

    def test_lists(self):
        """Every name that is listed is a format, and its text is the same one."""
        x = self.put("x.npy", self.numbers(99), (3, 33))
        done = 0
        for option in ("--scaled", "--rules", "--numbers"):
            entries = json.loads(self.ok("formats", option, "--json"))
            lines = self.ok("formats", option).splitlines()
            self.assertEqual([line.split()[0] for line in lines], [e["id"] for e in entries])
            verbose = self.ok("formats", option, "-v")
            for e in entries:
                self.assertIn("    defined: " + e["source"], verbose)
                if e["open"]:
                    self.assertIn(("    open:    " if e["text"] else "") + e["open"], verbose)
            for e in entries:
                if not e["text"]:
                    self.bad("quantize", "-f", e["id"], x, self.path("a.npy"), says="has no text: " + e["open"])
                    continue
                self.ok("quantize", "-f", e["id"], x, self.path("a.npy"))
                self.ok("quantize", "-f", e["text"], x, self.path("b.npy"))
                self.assertEqual(self.read("a.npy"), self.read("b.npy"), e["id"])
                done += 1
        self.assertGreater(done, 35)
        self.bad("formats", "--scaled", "--numbers", says="give one")

    def test_cards(self):
        """The card of every scaled format: its bits per element are those of a matrix of whole blocks."""
        side = 384
        x = self.put("x.npy", self.numbers(side * side), (side, side))
        for e in json.loads(self.ok("formats", "--scaled", "--json")):
            card = json.loads(self.ok("info", e["id"], "--json"))
            self.assertEqual((card["id"], card["text"]), (e["id"], e["text"]))
            self.assertEqual(json.loads(self.ok("info", e["text"], "--json"))["text"], e["text"])
            done = json.loads(self.ok("quantize", "--json", "-f", e["id"], x, self.path("z.npy")))
            if card["kind"] == "hifloat4":
                self.assertEqual(done["bits_per_element"], card["bits_per_element"])
                self.assertIn(e["source"], self.ok("info", e["id"]))
                continue
            whole = side % (card["rows"] or 1) == 0 and side % (card["cols"] or 1) == 0
            self.assertTrue(whole, e["id"])
            if card["bits_per_element"] is not None:
                want = card["bits_per_element"] + 32 * card["tensor"] / side**2
                self.assertAlmostEqual(done["bits_per_element"], want, places=9, msg=e["id"])
            element = json.loads(self.ok("info", card["element"], "--json"))
            scale = json.loads(self.ok("info", card["scale"], "--json"))
            self.assertEqual(card["max"], element["max"]["value"] * scale["max"]["value"])
            text = self.ok("info", e["id"])
            for word in (card["element"], card["rule"], card["special"], e["source"]):
                self.assertIn(word, text)
        self.bad("info", "nvfp4", "--table", says="scaled format")
        self.bad("info", "scaled(float4_e2m1fn)", says="scaled")

    def test_card_of_s2fp8(self):
        """Its bits are those that quantize says of a tensor; the largest magnitude gets the code of 2^T."""
        x = self.put("x.npy", self.numbers(240), (6, 40))
        for kind, target, special in (("s2fp8", 15, "nan"), ("s2fp8(float8_e4m3fn)", 8, "nan"), ("s2fp8(float6_e3m2fn;target=3)", 3, "nan"),
                                      ("s2fp8(binary16;special=element)", 15, "element")):
            card = json.loads(self.ok("info", kind, "--json"))
            self.assertEqual((card["id"], card["kind"], card["text"], card["target"], card["special"]), (kind, "s2fp8", kind, target, special))
            done = json.loads(self.ok("quantize", "--json", "-f", kind, x, self.path("z.npy")))
            self.assertAlmostEqual(done["bits_per_element"], card["bits_per_element"] + card["bits_per_tensor"] / 240, places=9)
            text = self.ok("info", kind)
            for word in (card["element"], "ICLR 2020", "T = %d:" % target, special + ":", "the largest L(x)", "the mean of these L(x)"):
                self.assertIn(word, text)
            for name in card["statistics"]:
                self.assertIn("tensor, %s " % name, text)
        self.bad("info", "s2fp8", "--table", says="scaled format")
        self.bad("info", "s2fp8(posit8)", says="format 's2fp8(posit8)'")

    def test_matrix_of_any_rank(self):
        """Only the last axis is a row."""
        values = self.numbers(240)
        self.put("m.npy", values, (6, 40))
        self.ok("quantize", "-f", "nvfp4", self.path("m.npy"), self.path("z.npy"))
        want = self.get("z.npy")[2]
        for shape in ((6, 40), (2, 3, 40), (1, 6, 1, 40), (6, 1, 40)):
            self.put("x.npy", values, shape)
            self.ok("quantize", "-f", "nvfp4", self.path("x.npy"), self.path("z.npy"))
            self.assertEqual(self.get("z.npy")[1:], (shape, want))
        self.put("x.npy", values, (240,))
        self.ok(
            "quantize",
            "-f",
            "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x*;rule=floor)",
            self.path("x.npy"),
            self.path("a.npy"),
        )
        self.ok(
            "quantize",
            "-f",
            "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=*x*;rule=floor)",
            self.path("m.npy"),
            self.path("b.npy"),
        )
        self.assertEqual(self.get("a.npy")[2], self.get("b.npy")[2])
        for shape, values in (((), [0.3]), ((0,), []), ((3, 0), []), ((0, 4), [])):
            self.put("x.npy", values, shape)
            self.ok("quantize", "-f", "nvfp4", self.path("x.npy"), self.path("z.npy"))
            self.assertEqual(self.get("z.npy")[1], shape)
            self.ok("quantize", "-f", "nvfp4", "--codes", self.path("x.npy"), self.path("c.npy"))
            self.ok("decode", "-f", "nvfp4", self.path("c.npy"), self.path("d.npy"))
            self.assertEqual(self.read("d.npy"), self.read("z.npy"))

    def test_columns_first(self):
        """A Fortran array has its rows along the last axis, too."""
        values = self.numbers(2 * 3 * 35)
        order = [values[(i * 3 + j) * 35 + k] for k in range(35) for j in range(3) for i in range(2)]
        for code in ("<f", ">f"):
            descr = code[0] + "f4"
            self.write("f.npy", npy(descr, (2, 3, 35), floats(order, code), fortran=True))
            self.put("c.npy", values, (2, 3, 35))
            for args in ((), ("--codes",)):
                self.ok("quantize", "-f", "mxfp6_e2m3", *args, self.path("f.npy"), self.path("zf.npy"))
                self.ok("quantize", "-f", "mxfp6_e2m3", *args, self.path("c.npy"), self.path("zc.npy"))
                self.assertEqual(self.read("zf.npy"), self.read("zc.npy"))

    def test_widths(self):
        """float16 becomes float32; float64 must hold binary32 numbers and stays."""
        values = [float(v) for v in struct.unpack("<40e", floats(self.numbers(40), "<e"))]
        got = {}
        for code, descr in (("<e", "<f4"), ("<f", "<f4"), ("<d", "<f8")):
            self.put("x.npy", values, (2, 20), code)
            self.ok("quantize", "-f", "nvfp4", self.path("x.npy"), self.path("z.npy"))
            found = self.get("z.npy")
            self.assertEqual(found[0], descr)
            got[code] = found[2]
        self.assertEqual(got["<e"], got["<f"])
        self.assertEqual(got["<d"], got["<f"])
        for wrong in (0.1, 1e300, -1e-300):
            x = self.put("x.npy", [1.0, 2.0, wrong], code="<d")
            self.bad("quantize", "-f", "mxfp4", x, self.path("no.npy"), says=(x, "element 2 is not a binary32 number"))
        self.put("x.npy", [math.inf, math.nan, -0.0], code="<d")
        self.ok("quantize", "-f", "msfp12", self.path("x.npy"), self.path("z.npy"))

    def test_report(self):
        values = [0.0] * 32 + [1.0] * 31 + [math.inf] + [448.0] * 31 + [1e-9] + [3.0] * 4
        x = self.put("x.npy", values, (1, 100))
        text = self.ok("quantize", "-f", "mxfp8_e4m3", "-s", "finite", x, self.path("z.npy"))
        for part in (
            "to mxfp8_e4m3, rne, saturate finite, on CPU; written as float32",
            "matrix of 1 rows of 100",
            "blocks         4",
            "all zero       1",
            "with Inf, NaN  1",
            "with to_zero   1",
            "amax           1 to 448",
            "bits per element 8.32",
        ):
            self.assertIn(part, text)
        r = json.loads(self.ok("quantize", "-f", "mxfp8_e4m3", "--json", x, self.path("z.npy")))
        self.assertEqual(r["format"], "mxfp8_e4m3")
        b = r["blocks"]
        self.assertEqual((b["count"], b["zero"], b["special"], b["saturated"], b["to_zero"]), (4, 1, 1, 0, 1))
        self.assertEqual((b["amax_low"], b["amax_high"], b["scale_low"], b["scale_high"]), (1.0, 448.0, 2.0**-127, 1.0))
        self.assertEqual(r["events"]["inf_in"], 1)
        self.assertEqual(r["events"]["to_zero"], 1)
        self.assertAlmostEqual(r["bits_per_element"], (800 + 32) / 100)
        self.assertEqual(r["errors"]["finite"], 68)
        # Elements that saturate: floor leaves 1.99 2^8 above the largest element 448.
        x = self.put("x.npy", [1.99] * 32)
        r = json.loads(self.ok("quantize", "-f", "mxfp8_e4m3", "--json", x, self.path("z.npy")))
        self.assertEqual((r["blocks"]["saturated"], r["events"]["saturated"]), (1, 32))
        self.assertEqual(self.get("z.npy")[2], (1.75,) * 32)

    def test_modes_seeds_threads(self):
        x = self.put("x.npy", self.numbers(64 * 300), (64, 300))
        seen = set()
        for args in (
            ("-r", "rne"),
            ("-r", "rtz"),
            ("-r", "raz"),
            ("-r", "sra:8"),
            ("-r", "sra:8", "--seed", "3"),
            ("-r", "sra:8", "--counter", "5"),
        ):
            self.ok("quantize", "-f", "mxfp6_e3m2", *args, x, self.path("a.npy"))
            self.ok("quantize", "-f", "mxfp6_e3m2", *args, "-j", "3", x, self.path("b.npy"))
            self.assertEqual(self.read("a.npy"), self.read("b.npy"))
            seen.add(self.read("a.npy"))
        self.assertEqual(len(seen), 6)

    def test_amax(self):
        x = self.put("x.npy", [1.0, -3.0, 0.5, 100.0])
        self.ok("quantize", "-f", "fp8_tensor", "--codes", "--amax", "0x1.c0p+2", x, self.path("c.npy"))
        self.assertEqual(self.get("c.scales.npy")[2], (7.0 / 448,))
        self.assertEqual([e4m3(c) for c in self.get("c.npy")[2]], [64.0, -192.0, 32.0, 448.0])
        self.ok("quantize", "-f", "nvfp4", "--amax", "2688", "--codes", x, self.path("c.npy"))
        self.assertEqual(self.get("c.tensor.npy")[2], (1.0,))
        self.bad("quantize", "-f", "mxfp4", "--amax", "1", x, self.path("z.npy"), says="--amax: mxfp4 has neither")
        self.bad("quantize", "-f", "bfloat16", "--amax", "1", x, self.path("z.npy"), says="without scales has no amax")
        for wrong in ("-1", "inf", "nan", "0.1", "x", "1e60"):
            self.bad(
                "quantize", "-f", "fp8_tensor", "--amax", wrong, x, self.path("z.npy"), says="--amax: '%s'" % wrong
            )

    def test_wrong_texts(self):
        x = self.put("x.npy", [1.0])
        for fmt, says in (
            ("scaled(", "something is missing at the end"),
            ("bfp(3,8", "something is missing at the end"),
            ("bfp(3,8,16)x", "wrong from character 12 on: 'x'"),
            ("scaled(nosuch;scale=float8_e8m0fnu;block=1x32;rule=floor)", "no format of that name from character 8 on"),
            ("scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=ratio;tensor)", None),
            ("scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=floor;tensor)", "do not go together"),
            ("mxfp5", "no such name"),
        ):
            if says:
                self.bad("quantize", "-f", fmt, x, self.path("z.npy"), says=("format '%s'" % fmt, says))
        self.assertEqual(self.left(), ["x.npy"])

    def test_s2fp8(self):
        """mu is the mean of the logarithms, the largest element is 2^15 and comes back exactly."""
        values = [v for v in self.numbers(300) if v] + [0.0, -0.0]
        x = self.put("x.npy", values, (1, len(values)))
        report = self.ok("quantize", "-f", "s2fp8", "--codes", x, self.path("c.npy"))
        self.assertIn("bits per element", report)
        mu, m = self.get("c.mu.npy")[2][0], self.get("c.m.npy")[2][0]
        alpha, beta = self.get("c.alpha.npy")[2][0], self.get("c.beta.npy")[2][0]
        logs = [math.log2(abs(v)) for v in values if v]
        self.assertAlmostEqual(mu, sum(logs) / len(logs), places=10)
        self.assertAlmostEqual(m, max(logs), places=10)
        self.assertAlmostEqual(alpha / (15 / (m - mu)), 1, places=6)
        self.assertAlmostEqual(beta / (-15 * mu / (m - mu)), 1, places=6)
        self.ok("quantize", "-f", "s2fp8", x, self.path("z.npy"))
        self.ok("decode", "-f", "s2fp8", self.path("c.npy"), self.path("d.npy"))
        self.assertEqual(self.read("d.npy"), self.read("z.npy"))
        z = self.get("z.npy")[2]
        top = max(range(len(values) - 2), key=lambda i: abs(values[i]))
        self.assertEqual(z[top], values[top])
        for code, back in zip(self.get("c.npy")[2], z):
            p = small_float(code, 5, 2, 15)
            want = math.copysign(2.0 ** (mu + math.log2(abs(p)) / alpha), p) if p else p
            self.assertAlmostEqual(back / want if p else back, 1 if p else 0, places=5)
        self.bad("quantize", "-f", "s2fp8", "--amax", "1", x, self.path("z.npy"), says="--amax: s2fp8")
        self.bad("quantize", "-f", "s2fp8(fp(5,2,0)", x, self.path("z.npy"), says="format 's2fp8(fp(5,2,0)'")
        os.unlink(self.path("c.check.npy"))  # changed on purpose
        for wrong in (math.nan, math.inf, -2000.0, 0.1):
            self.write("c.mu.npy", npy("<f8", (), floats([wrong], "<d")))
            self.bad("decode", "-f", "s2fp8", self.path("c.npy"), self.path("d.npy"), says="c.npy: mu and m are not")

    def test_other_numbers(self):
        """The nearest of the values that the codes stand for, which are made here."""
        values = self.numbers(200) + [0.0, -1.0, 1.0]
        x = self.put("x.npy", values)

        def posit(code, n, es):
            if code in (0, 1 << (n - 1)):
                return 0.0 if code == 0 else math.nan
            sign, rest = code >> (n - 1), code if code < 1 << (n - 1) else (1 << n) - code
            bits = format(rest, "0%db" % n)[1:]
            run = len(bits) - len(bits.lstrip(bits[0]))
            k = run - 1 if bits[0] == "1" else -run
            tail = bits[run + 1 :]
            e = int((tail[:es] + "0" * es)[:es] or "0", 2)
            fraction = tail[es:]
            size = 1 + (int(fraction, 2) / 2 ** len(fraction) if fraction else 0)
            return (-1) ** sign * size * 2.0 ** (k * 2**es + e)

        # The value of every code, and between which magnitudes the nearest is taken (posits: no regime is cut there).
        for fmt, codes, low, high in (
            ("q(3.4)", [((c + 128) % 256 - 128) / 16 for c in range(256)], 0, 1e9),
            ("int4", [(c + 8) % 16 - 8 for c in range(16)], 0, 1e9),
            ("table(-1,0,0.5,2)", [-1.0, 0.0, 0.5, 2.0], 0, 1e9),
            ("posit8_es0", [posit(c, 8, 0) for c in range(256)], 0.125, 2.0),
        ):
            self.ok("quantize", "-f", fmt, x, self.path("z.npy"))
            self.ok("quantize", "-f", fmt, "--codes", x, self.path("c.npy"))
            got, z = self.get("c.npy")[2], self.get("z.npy")[2]
            finite = [v for v in codes if v == v]
            for value, code, back in zip(values, got, z):
                self.assertEqual(back, codes[code], fmt)
                if low <= abs(value) <= high:
                    near = min(abs(value - v) for v in finite)
                    self.assertEqual(abs(value - back), near, (fmt, value))
            self.ok("decode", "-f", fmt, self.path("c.npy"), self.path("d.npy"))
            self.assertEqual(self.read("d.npy"), self.read("z.npy"))
        for fmt, code, descr in (
            ("q(3.4)", "<e", "<f2"),
            ("posit8", "<e", "<f4"),
            ("posit32", "<f", "<f8"),
            ("nf4", "<f", "<f4"),
            ("lns16", "<d", "<f8"),
        ):
            self.put("y.npy", [0.5, 1.0], code=code)
            self.ok("quantize", "-f", fmt, self.path("y.npy"), self.path("z.npy"))
            self.assertEqual(self.get("z.npy")[0], descr, fmt)
        self.bad("quantize", "-f", "nf4", "--amax", "1", x, self.path("z.npy"), says="--amax: a number system")
        self.bad("quantize", "-f", "posit(33,2)", x, self.path("z.npy"), says="format 'posit(33,2)'")
        self.bad("quantize", "-f", "table(1,", x, self.path("z.npy"), says="something is missing at the end")
        self.bad("encode", "-f", "nf4", stdin="1\n", says="'nf4' is for arrays")

    def test_rows(self):
        """Each row is what it is as a matrix of its own; t is a column."""
        values = self.numbers(3 * 40)
        x = self.put("x.npy", values, (3, 40))
        self.ok("quantize", "-f", "rows(nvfp4_te)", "--codes", x, self.path("c.npy"))
        codes, scales, tensor = self.get("c.npy"), self.get("c.scales.npy"), self.get("c.tensor.npy")
        self.assertEqual((tensor[0], tensor[1]), ("<f4", (3, 1)))
        for i in range(3):
            self.put("y.npy", values[40 * i : 40 * i + 40], (1, 40))
            self.ok("quantize", "-f", "nvfp4_te", "--codes", self.path("y.npy"), self.path("r.npy"))
            self.assertEqual(self.get("r.npy")[2], codes[2][40 * i : 40 * i + 40])
            self.assertEqual(self.get("r.scales.npy")[2], scales[2][3 * i : 3 * i + 3])
            self.assertEqual(self.get("r.tensor.npy")[2], tensor[2][i : i + 1])
        self.bad("quantize", "-f", "rows(mxfp4)", x, self.path("z.npy"), says="requires a scale of the tensor")
        self.bad("quantize", "-f", "rows(nvfp4_te)", "--amax", "1", x, self.path("z.npy"), says="--amax: rows(...)")

    def test_hifloat4(self):
        """Values by what docs/scaled.md says of the bytes; the codes are those of a block that is easy to tell."""
        values = [7.0, -3.5, 1.0, 0.5, 0.0, -0.125, 3.0, 2.0] + [0.25] * 62 + [-6.5] * 30
        x = self.put("x.npy", values, (1, 100))
        self.ok("quantize", "-f", "hifloat4", "--codes", x, self.path("c.npy"))
        self.ok("quantize", "-f", "hifloat4", x, self.path("z.npy"))
        descr, shape, codes = self.get("c.npy")
        self.assertEqual((descr, shape), ("|u1", (1, 100)))
        descr, shape, scales = self.get("c.scales.npy")
        self.assertEqual((descr, shape), ("<u4", (1, 2)))
        # 7 is 4 times 7/4: both bits of its groups are set, and s = 1; the second group of 4 has 3, which is 2 times 3/2.
        self.assertEqual(scales[0], 48 * 4 | 1 << 8 | 1 << 16)
        self.assertEqual(codes[:8], (7, 8 | 4, 1, 0, 0, 8, 6, 4))
        want = []
        for i, code in enumerate(codes):
            word = scales[i // 64]
            s = math.ldexp(1 + (word & 3) / 4, (word >> 2 & 63) - 48)
            twos = (word >> 8 + i % 64 // 8 & 1) + (word >> 16 + i % 64 // 4 & 1)
            want.append(math.copysign(s * 2**twos * (code & 7) / 4, -(code & 8) or 1))
        self.assertEqual(self.get("z.npy")[2], tuple(want))
        self.ok("decode", "-f", "hifloat4", self.path("c.npy"), self.path("d.npy"))
        self.assertEqual(self.read("d.npy"), self.read("z.npy"))
        self.bad("quantize", "-f", "hifloat4(ties=odd)", x, self.path("z.npy"), says="format 'hifloat4(ties=odd)'")
        self.bad("quantize", "-f", "hifloat4", "-r", "rtz", x, self.path("z.npy"), says="do not go with the preset")
        self.bad("quantize", "-f", "hifloat4", "--amax", "1", x, self.path("z.npy"), says="--amax: hifloat4")
        self.assertIn("float4_e1m2", self.ok("info", "hifloat4_cann"))
        self.assertIn("hifloat4_hifx", self.ok("formats", "--scaled"))

    def test_wrong_use(self):
        x = self.put("x.npy", [1.0] * 4)
        self.bad("encode", "-f", "mxfp4", stdin="1\n", says="'mxfp4' is for arrays")
        self.bad("decode", "-f", "mxfp4", stdin="1\n", says="'mxfp4' is for arrays")
        self.bad("encode", "-f", "bfloat16", "--bits32", x, self.path("z.npy"), says="go with numbers, one per line")
        self.bad("encode", "-f", "bfloat16", "--amax", "1", stdin="1\n", says="go with IN and OUT")
        self.bad("decode", "-f", "mxfp4", "-v", x, self.path("z.npy"), says="go with numbers, one per line")
        self.bad("decode", x, self.path("z.npy"), says="no format given")
        self.bad("quantize", "-f", "mxfp4", "--device", "cuda", x, self.path("z.npy"), says="--device cuda")
        self.bad("quantize", "-f", "mxfp4", "--codes", x, "-", says="several files")
        self.bad("quantize", "-f", "mxfp4", x, x, "-o", x, says="are two outputs; give one")
        self.bad("quantize", "-f", "mxfp4", x, says="requires IN.npy OUT.npy")
        self.bad("quantize", "-f", "mxfp4", "--any-rank", x, self.path("z.npy"), says="--any-rank goes with")
        self.bad("quantize", "-f", "mxfp4", "--rows", "all", x, self.path("z.npy"), says="'all' is neither last nor out")
        self.bad("encode", "-f", "bfloat16", "--rows", "out", stdin="1\n", says="go with IN and OUT")
        self.bad(
            "quantize", "-f", "mxfp4", "--report", self.path("r.html"), x, self.path("z.npy"), says="--report goes with"
        )
        self.bad("quantize", "-f", "mxfp4", "--include", "a", x, self.path("z.npy"), says="--include goes with")
        self.bad("quantize", "-f", "mxfp4", "--exclude", "a", x, self.path("z.npy"), says="--exclude goes with")
        self.bad("quantize", "-f", "mxfp4", "--widen", x, self.path("z.npy"), says="--widen goes with")
        self.assertEqual(self.left(), ["x.npy"])
        self.ok("quantize", "-f", "mxfp4", "--threads", "2", x, "-o", self.path("z.npy"))

    def test_decode_wants_its_companions(self):
        x = self.put("x.npy", [1.0] * 70, (2, 35))
        c, s, t = self.path("c.npy"), self.path("c.scales.npy"), self.path("c.tensor.npy")
        self.ok("quantize", "-f", "nvfp4", "--codes", x, c)
        good = {n: self.read(n) for n in ("c.npy", "c.scales.npy", "c.tensor.npy")}
        z = self.path("z.npy")
        for name, data, says in (
            ("c.scales.npy", npy("|u1", (2, 2), b"\0" * 4), (s, "2 x 2, the codes require 2 x 3")),
            ("c.scales.npy", npy("|u1", (3, 2), b"\0" * 6), (s, "3 x 2, the codes require 2 x 3")),
            ("c.scales.npy", npy("<u2", (2, 3), b"\0" * 12), (s, "dtype uint16")),
            ("c.tensor.npy", npy("|u1", (), b"\0"), (t, "dtype uint8")),
            ("c.tensor.npy", npy("<f4", (2,), b"\0" * 8), (t, "the codes require 1 x 1")),
            ("c.npy", npy("<f4", (2, 35), b"\0" * 280), (c, "codes of nvfp4 are uint8, this is float32")),
            ("c.npy", b"x", (c, "not an .npy file")),
        ):
            self.write(name, data)
            self.bad("decode", "-f", "nvfp4", c, z, says=says)
            self.write(name, good[name])
        self.ok("decode", "-f", "nvfp4", c, z)
        os.unlink(s)
        self.bad("decode", "-f", "nvfp4", c, z, says=(s, "No such file"))


if __name__ == "__main__":
    support.main()
