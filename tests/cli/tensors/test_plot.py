# SPDX-License-Identifier: MIT
"""plot: drawings of formats alone, of arrays, of models and of scaled formats."""

import json
import math
import os
import struct
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
import support  # noqa: E402
from model_case import bfloats  # noqa: E402
from support import floats, npy  # noqa: E402


class Plot(support.Case):
    def test_labels_are_not_crossed(self):
        """No line goes through a label of the axis: those of the marks leave it out."""
        space, checked = "{http://www.w3.org/2000/svg}", 0
        for name in ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "binary16", "ue4m3", "posit8", "dlfloat16", "bfloat16"):
            self.ok("plot", "-f", name, "-o", self.path("p.svg"))
            root = tree.fromstring(self.read("p.svg"))
            labels = [t for t in root.iter(space + "text") if t.find(space + "tspan") is not None]
            self.assertGreater(len(labels), 2)
            for label in labels:
                x, y = float(label.get("x")), float(label.get("y"))
                for x1, y1, x2, y2 in support.lines(root):
                    if abs(x1 - x) < 14 and abs(x2 - x) < 14:
                        self.assertFalse(min(y1, y2) < y - 12 and max(y1, y2) > y - 11, (name, x, y, y1, y2))
                        checked += 1
        self.assertGreater(checked, 100)

    def test_picture_of_the_guide(self):
        """The picture that docs/guide-hardware.md shows, byte for byte."""
        self.ok("plot", "-f", "float8_e5m2", "-o", self.path("p.svg"))
        with open(os.path.join(os.environ["HALFULP_DOCS"], "img", "plot-e5m2.svg"), "rb") as f:
            self.assertEqual(self.read("p.svg"), f.read())

    def test_every_format_draws(self):
        names = [e["id"] for e in json.loads(self.ok("formats", "--json"))]
        picks = names[:24] + names[-23:] + ["posit(6,1)", "uq(3.5)", "fp(0,5,0):finite", "fp(3,0,0)", "fp(11,20,0)", "fp(1,2,0):finite"]
        for name in picks:
            self.ok("plot", "-f", name, "-o", self.path("p.svg"))
            root = tree.fromstring(self.read("p.svg"))
            texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
            self.assertIn(name, texts)
            self.assertFalse(any("nan" in t or "inf " in t for t in texts[3:]), texts)
            width, height = int(root.get("width")), int(root.get("height"))
            for node in root.iter():
                for key, top in (
                    ("x", width),
                    ("x1", width),
                    ("x2", width),
                    ("y", height),
                    ("y1", height),
                    ("y2", height),
                ):
                    if node.get(key) is not None:
                        self.assertTrue(0 <= float(node.get(key)) <= top, (name, key, node.get(key)))
            looks = [(e.get("stroke"), e.get("stroke-width")) for e in root.iter("{http://www.w3.org/2000/svg}path")]
            self.assertEqual(len(looks), len(set(looks)), name)  # ticks of one look are one element
            for x1, y1, x2, y2 in support.lines(root):
                self.assertTrue(0 <= min(x1, x2) and max(x1, x2) <= width and 0 <= min(y1, y2) and max(y1, y2) <= height, name)
        print("drawn: %d formats" % len(picks))

    def test_data_in_other_systems(self):
        x = self.write("x.npy", npy("<f4", (6,), floats([0, 1e-30, 0.3, -0.75, 2, 1e30])))
        self.ok("plot", "-f", "posit8", "--array", x, "-o", self.path("p.svg"))
        root = tree.fromstring(self.read("p.svg"))
        texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
        for name, count in (("numbers", "3"), ("too small", "1"), ("beyond max: becomes max", "1")):
            i = texts.index(name)
            self.assertIn(count, texts[i + 1 : i + 3], texts)
        self.bad("plot", "-f", "table(-1,0)", "-o", self.path("q.svg"), says="there is no positive value")

    def test_data_counts(self):
        x = self.put("x.npy", [1.0, 1e6, 1e-6, 0.002, 0.0, float("inf"), float("nan"), -3.0])
        self.ok("plot", "-f", "float8_e4m3fn", "--array", x, "-o", self.path("p.svg"))
        root = tree.fromstring(self.read("p.svg"))
        texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
        for name, count in (
            ("normal numbers", "2"),
            ("subnormal numbers", "1"),
            ("too small: becomes zero", "1"),
            ("beyond max: becomes max", "1"),
        ):
            i = texts.index(name)
            self.assertIn(count, texts[i + 1 : i + 4], name)
        self.assertIn("8 elements; besides: 1 zeros, 1 infinities, 1 NaN", texts)

    def texts(self, name):
        root = tree.fromstring(self.read(name))
        return ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")], root

    def test_several_formats(self):
        """Each has a band with the ticks that its own drawing has, on one axis, and a row with what becomes of the data."""
        x = self.put("x.npy", [1.0, 1e6, 1e-6, 0.002, 0.0, -3.0, 0.3, 7.0])
        names = ["float8_e4m3fn", "float4_e2m1fn", "posit8"]
        words = [w for name in names for w in ("-f", name)]
        got = json.loads(self.ok("plot", *words, "--array", x, "-o", self.path("p.svg"), "--json"))["formats"]
        texts, root = self.texts("p.svg")
        rows = texts[texts.index("share of the data") :]
        for name, one in zip(names, got):
            alone = json.loads(self.ok("plot", "-f", name, "--array", x, "-o", self.path("q.svg"), "--json"))
            self.assertEqual(one, {k: alone[k] for k in alone if k != "out"})
            shares = ["%.2f %%" % (100 * one["data"][k] / 8) for k in ("to_zero", "subnormal", "beyond_max")]
            i = rows.index(name)
            self.assertEqual(rows[i + 3 : i + 8], [str(one["normal"]), str(one["subnormal"]), *shares])
        self.assertEqual([one["data"]["to_zero"] for one in got], [1, 2, 0])
        self.assertEqual(rows[rows.index("float8_e4m3fn") + 1 :][:2], ["0.001953125", "448"])
        powers = {}  # of each band: values that are powers of two
        for x1, y1, x2, y2 in support.lines(root):
            if x1 == x2 and abs(y2 - y1 - 42) < 0.1:
                powers.setdefault(y1, []).append(x1)
        e4m3, e2m1, _ = (sorted(powers[y]) for y in sorted(powers))
        self.assertEqual((len(e4m3), len(e2m1)), (18, 4))  # 2^-9 to 2^8, 2^-1 to 2^2
        self.assertEqual(e2m1, e4m3[8:12])  # on one axis

    def test_tensor(self):
        """A tensor of a .safetensors file counts as the same numbers in an .npy file."""
        values, others = [1.0, 1e6, 1e-6, 0.002, -3.0], [2.0, 4.0]
        tensors = [("a.w", "F32", (5,), floats(values)), ("b", "BF16", (2,), bfloats(others)), ("n", "C64", (1,), bytes(8))]
        self.write("m.safetensors", support.safetensors(tensors))
        self.write("one.safetensors", support.safetensors(tensors[:1] + tensors[2:]))
        want = json.loads(self.ok("plot", "-f", "float8_e4m3fn", "--array", self.put("x.npy", values), "-o", self.path("p.svg"), "--json"))["data"]
        base = ["plot", "-f", "float8_e4m3fn", "-o", self.path("q.svg"), "--json", "--array"]
        for name, more in (("m.safetensors", ["--tensor", "a.w"]), ("one.safetensors", [])):
            got = json.loads(self.ok(*base, self.path(name), *more))["data"]
            self.assertEqual(got.pop("tensor", None), more[1] if more else None)
            self.assertEqual(dict(got, file=""), dict(want, file=""))
        got = json.loads(self.ok(*base, self.path("m.safetensors"), "--tensor", "b"))["data"]
        self.assertEqual((got["count"], got["normal"]), (2, 2))
        self.bad(*base, self.path("m.safetensors"), says=("'a.w' and 'b'", "--tensor NAME"))
        self.bad(*base, self.path("m.safetensors"), "--tensor", "c", says="no tensor is named 'c'")
        self.bad(*base, self.path("m.safetensors"), "--tensor", "n", says="'n' is C64")
        self.bad(*base, self.path("x.npy"), "--tensor", "b", says="--tensor goes with a .safetensors or a .gguf file")
        self.bad(*base[:-1], "--tensor", "b", says="--tensor goes with --array")

    # Two blocks of mxfp4: the first has amax 7 and so the scale 1, the second amax 80 and so 16.
    BLOCKS = [7, 6, 0.2, 0.3, 1.6, -3, *[0] * 26, 80, 8, 1, *[0] * 29]
    MADE = [6, 6, 0, 0.5, 1.5, -3, *[0] * 26, 64, 8, 0, *[0] * 29]

    def test_scaled(self):
        """What becomes of two blocks, worked by hand; the line of the block that has the largest magnitude."""
        x = self.put("x.npy", self.BLOCKS)
        got = json.loads(self.ok("plot", "-f", "mxfp4", "--array", x, "-o", self.path("p.svg"), "--json"))
        self.assertEqual([got[k] for k in ("format", "normal", "subnormal", "scale", "tensor_scale")], ["mxfp4", 6, 1, 16, 1])
        data = got["data"]
        want = {"count": 64, "zeros": 55, "beyond_max": 1, "normal": 4, "subnormal": 2, "to_zero": 2, "lost": 0, "magnitudes_used": 6, "magnitudes": 8}
        self.assertEqual({k: data[k] for k in want}, want)
        signal, noise = sum(a * a for a in self.BLOCKS), sum((a - b) ** 2 for a, b in zip(self.BLOCKS, self.MADE))
        self.assertAlmostEqual(data["errors"]["sqnr_db"], 10 * math.log10(signal / noise), 5)
        self.assertEqual((data["blocks"]["count"], data["blocks"]["scale_low"], data["blocks"]["scale_high"]), (2, 1, 16))
        texts, root = self.texts("p.svg")
        self.assertTrue({"min subnormal 8", "min normal 16", "max 96", "beyond the largest number of its block"} <= set(texts), texts)
        self.assertIn("elements by magnitude, as multiples of the scale: 6 of 8 are used", texts)
        at = texts.index("elements by magnitude, as multiples of the scale: 6 of 8 are used") + 1
        self.assertEqual(texts[at : at + 8], ["0", "0.5", "1", "1.5", "2", "3", "4", "6"])
        tensors = support.safetensors([("w", "F32", (2, 32), floats(self.BLOCKS))])
        for file in (self.put("f.npy", self.BLOCKS, shape=(2, 32)), self.write("m.safetensors", tensors)):
            again = json.loads(self.ok("plot", "-f", "mxfp4", "--array", file, "-o", self.path("q.svg"), "--json"))
            self.assertEqual(dict(again["data"], file=x), data)
            self.assertEqual(self.read("q.svg"), self.read("p.svg").replace(x.encode(), file.encode()))

    def test_scaled_without_data(self):
        """The block's largest magnitude is 1: mxfp4 then has the scale 1/4; and without a whole number of elements in a row."""
        for name, scale, top in (
            ("mxfp4", 0.25, "max 1.5"),
            ("mxint8", 1, "max 1.984375"),
            ("dsv3_128x128", 1 / 448, "max 1"),
            ("fp8_tensor", 1 / 448, "max 1"),
        ):
            got = json.loads(self.ok("plot", "-f", name, "-o", self.path("p.svg"), "--json"))
            self.assertAlmostEqual(got["scale"], scale, 8, name)
            self.assertIn(top, self.texts("p.svg")[0])
            self.assertEqual(got["data"], None)

    def test_scaled_beside_others(self):
        """Each format has in a drawing of several what its own drawing has; blocks of files in Fortran's order lie along rows, too."""
        x = self.put("x.npy", self.BLOCKS, shape=(2, 32))
        names = ["float8_e4m3fn", "nvfp4", "mxfp4"]
        words = [w for name in names for w in ("-f", name)]
        several = json.loads(self.ok("plot", *words, "--array", x, "-o", self.path("p.svg"), "--json"))["formats"]
        for name, one in zip(names, several):
            alone = json.loads(self.ok("plot", "-f", name, "--array", x, "-o", self.path("q.svg"), "--json"))
            self.assertEqual(one, {k: alone[k] for k in alone if k != "out"})
        texts, _ = self.texts("p.svg")
        rows = texts[texts.index("share of the data") :]
        ratios = ["%.2f dB" % one["data"]["errors"]["sqnr_db"] for one in several]
        self.assertEqual([rows[rows.index(name) + 8] for name in names], ratios)
        turned = [self.BLOCKS[i * 32 + j] for j in range(32) for i in range(2)]
        other = self.write("t.npy", npy("<f4", (2, 32), floats(turned), fortran=True))
        again = json.loads(self.ok("plot", "-f", "mxfp4", "--array", other, "-o", self.path("q.svg"), "--json"))["data"]
        self.assertEqual(dict(again, file="", errors=0), dict(several[2]["data"], file="", errors=0))

    def test_scaled_special(self):
        """A block with an infinity is NaN under mxfp4: its finite numbers are lost, and another block is drawn; where there is none,
        one whose largest magnitude is 1."""
        x = self.put("x.npy", [5.0, float("inf"), *[0.0] * 30, 0.75, *[0.0] * 31])
        got = json.loads(self.ok("plot", "-f", "mxfp4", "--array", x, "-o", self.path("p.svg"), "--json"))
        self.assertEqual((got["scale"], got["data"]["lost"], got["data"]["infinities"], got["data"]["normal"]), (0.125, 1, 1, 1))
        self.assertIn("in a block with an infinity or a NaN", self.texts("p.svg")[0])
        for values in ([0.0, 0.0], [float("nan"), 3.0], []):
            x = self.put("x.npy", values)
            self.assertEqual(json.loads(self.ok("plot", "-f", "mxfp4", "--array", x, "-o", self.path("p.svg"), "--json"))["scale"], 0.25)

    def test_no_picture(self):
        """What one line of values cannot show is refused with the reason."""
        wide = "scaled(fp(8,12,0);scale=float8_e8m0fnu;block=1x32;rule=floor)"
        for name, why in (
            ("s2fp8", "shift and squeeze"),
            ("hifloat4", "three levels"),
            ("ggml.q4_0", "block of ggml"),
            ("cuda.half.rz", "another program's rounding"),
            (wide, "more than 16 bits"),
            ("fouroversix.if4", "a type for each block"),
            ("scaled(nosuch)", "no format of that name"),
        ):
            self.bad("plot", "-f", name, "-o", self.path("p.svg"), says=(name, why))
        x = self.write("d.npy", npy("<f8", (1,), struct.pack("<d", 0.1)))
        self.bad("plot", "-f", "mxfp4", "--array", x, "-o", self.path("p.svg"), says="not a binary32 number")

    def test_wrong_use(self):
        self.bad("plot", *["-f", "bfloat16"] * 7, "-o", self.path("p.svg"), says="more than 6")
        self.bad("plot", "-f", "bfloat16", says="no output given")
        self.bad("plot", "-o", self.path("p.svg"), says="no format given")
        self.bad("plot", "-f", "bfloat16", "-o", self.path("none/p.svg"), says="none/p.svg: cannot write")
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    support.main()
