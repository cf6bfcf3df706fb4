# SPDX-License-Identifier: MIT
"""`halfulp gemm --against`: accumulation models compared on one product."""

import json
import math
import os
import struct
import subprocess
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
import support  # noqa: E402

A, B = (os.path.join(support.DATA, name) for name in ("sums_a.npy", "sums_b.npy"))
MODELS = ("exact", "fp32", "nv.volta.f16.f32", "nv.hopper.f16.f32", "seq(binary16)", "seq(bfloat16)")
HALF = ("--fa", "binary16", "--fb", "binary16")


def place(x):
    """Neighbouring binary32 numbers have neighbouring places."""
    code = struct.unpack("<I", struct.pack("<f", x))[0]
    return -(code & 0x7FFFFFFF) if code >> 31 else code


class Accumulators(support.Case):
    def product(self, model, *more, a=A, b=B):
        options = ("-o", self.path("d.npy"), "--json", "--watch", "--accum", model, *more)
        report = json.loads(self.ok("gemm", a, b, *options))
        descr, _, shape, data = support.parse_npy(self.read("d.npy"))
        self.assertEqual(descr, "<f4")
        return report, struct.unpack("<%df" % math.prod(shape), data)

    def compare(self, models, *more, a=A, b=B):
        words = [w for m in models for w in ("--accum", m)]
        return json.loads(self.ok("gemm", a, b, "--json", "--against", "exact", *words, *more))

    def test_figures_are_those_of_the_products(self):
        got = self.compare(MODELS, *HALF)
        self.assertEqual((got["against"], [m["accum"] for m in got["models"]]), ("exact", list(MODELS)))
        _, exact = self.product("exact", *HALF)
        for m in got["models"]:
            report, result = self.product(m["accum"], *HALF)
            errors = [abs(x - y) for x, y in zip(result, exact)]
            self.assertEqual(m["max_abs"], max(errors))
            self.assertTrue(math.isclose(m["rms"], math.sqrt(math.fsum(e * e for e in errors) / 256), rel_tol=1e-12))
            self.assertEqual(m["ulps"], max(abs(place(x) - place(y)) for x, y in zip(result, exact)))
            self.assertEqual(m["different"], sum(e != 0 for e in errors))
            self.assertEqual((m["count"], m["not_finite"], m["watch"]), (256, 0, report["watch"]))

    def test_the_data_tell_models_apart(self):
        exact, fp32, volta, hopper, half, brain = self.compare(MODELS, *HALF)["models"]
        self.assertEqual((exact["rms"], exact["different"]), (0, 0))
        rms = [m["rms"] for m in (fp32, hopper, volta, half, brain)]
        self.assertEqual(sorted(set(rms)), rms)
        self.assertGreater(half["watch"]["swamped"], 0)

    def test_operands_of_the_unit(self):
        """Each model gets operands of its own formats, and so does the model that it is compared with."""
        unit = "nv.hopper.e4m3.f32.wgmma"
        (m,) = self.compare([unit])["models"]
        _, result = self.product(unit)
        _, exact = self.product("exact", "--fa", "float8_e4m3fn", "--fb", "float8_e4m3fn")
        self.assertEqual(m["max_abs"], max(abs(x - y) for x, y in zip(result, exact)))

    def test_overflow(self):
        a = self.write("a.npy", support.npy("<f4", (1, 2), support.floats([60000, 60000])))
        b = self.write("b.npy", support.npy("<f4", (2, 2), support.floats([1, 1, 1, -1])))
        (m,) = self.compare(["seq(binary16)"], a=a, b=b)["models"]
        self.assertEqual((m["count"], m["not_finite"], m["watch"]["overflows"]), (2, 1, 1))
        text = self.ok("gemm", a, b, "--against", "exact", "--accum", "seq(binary16)")
        self.assertIn("1 not finite", text)

    def test_text(self):
        lines = self.ok("gemm", A, B, "--against", "exact", "--accum", "fp32", "--accum", "exact", *HALF).splitlines()
        self.assertEqual(lines[0], "256 elements against exact")
        self.assertEqual(lines[1].split()[:5], ["model", "max", "rms", "ulps", "different"])
        self.assertEqual([line.split()[0] for line in lines[2:]], ["fp32", "exact"])
        self.assertEqual(lines[3].split()[1:], ["0", "0", "0", "0", "-"])

    def test_steps_past_zero(self):
        """Their number says nothing, so that the table has a word; JSON has the number."""
        a = self.write("a.npy", support.npy("<f4", (1, 3), support.floats([256, 1, -256.5])))
        b = self.write("b.npy", support.npy("<f4", (3, 1), support.floats([1, 1, 1])))
        (m,) = self.compare(["seq(bfloat16)"], a=a, b=b)["models"]
        self.assertEqual((m["max_abs"], m["ulps"]), (1, place(0.5) - place(-0.5)))
        text = self.ok("gemm", a, b, "--against", "exact", "--accum", "seq(bfloat16)")
        self.assertEqual(text.splitlines()[2].split()[1:4], ["1", "1", "sign"])

    def test_drawing(self):
        """A row for each model: its rms and its largest difference at their places on an axis of powers of ten."""
        models = self.compare(MODELS, *HALF, "-o", self.path("d.svg"))["models"]
        space = "{http://www.w3.org/2000/svg}"
        drawing = tree.fromstring(self.read("d.svg"))
        words = [e.text for e in drawing.iter(space + "text")]
        for m in models:
            self.assertIn(m["accum"], words)
            self.assertIn("%.1f %%" % (100 * m["different"] / m["count"]), words)
        self.assertEqual(words.count("equal"), 1)  # exact itself
        ticks = {e.text: float(e.get("x")) for e in drawing.iter(space + "text") if e.text and e.text.startswith("1e")}
        (low, left), (high, right) = min(ticks.items(), key=lambda t: t[1]), max(ticks.items(), key=lambda t: t[1])
        low, high = int(low[2:]), int(high[2:])
        dots = [x for x, y, radius, _ in support.dots(drawing) if radius == 6 and y > 16]  # below the legend's
        wanted = [left + (right - left) * (math.log10(x) - low) / (high - low) for m in models if m["max_abs"] for x in (m["rms"], m["max_abs"])]
        self.assertEqual(len(dots), len(wanted))
        self.assertLess(max(abs(x - y) for x, y in zip(dots, wanted)), 0.2)
        a = self.write("a.svg", support.npy("<f4", (1, 1), support.floats([1])))
        self.bad("gemm", a, a, "--against", "exact", "--accum", "fp32", "-o", a, says="give -o another name")

    def test_wrong_use(self):
        against = ("gemm", A, B, "--against", "exact")
        self.bad(*against, says="requires a model")
        self.bad(*against, "--accum", "fp32", "-o", self.path("d.npy"), says="leave -o out")
        self.bad(*against, "--accum", "fp32", "-o", "-", says="give -o FILE.svg")
        self.bad(*against, "--accum", "fp32", "--codes", says="--codes")
        self.bad("gemm", A, "-", "--against", "exact", "--accum", "fp32", says="give files")
        self.bad("gemm", A, B, "-o", self.path("d.npy"), "--accum", "fp32", "--accum", "exact", says="--against")
        # The second model refuses the operands: nothing of the first one is printed.
        unit = "nv.hopper.e4m3.f32.wgmma"
        said = self.bad(*against, "--accum", "fp32", "--accum", unit, *HALF, says=unit + " takes A float8_e4m3fn")
        self.assertEqual(said, "")
        self.assertEqual(self.left(), [])

    def test_data_are_what_their_script_makes(self):
        script = os.path.join(support.DATA, "make_sums.py")
        subprocess.run([sys.executable, "-B", script, self.folder.name], check=True)
        for path in (A, B):
            with open(path, "rb") as f:
                self.assertEqual(f.read(), self.read(os.path.basename(path)))


if __name__ == "__main__":
    support.main()
