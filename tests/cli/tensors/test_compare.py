# SPDX-License-Identifier: MIT
"""`halfulp compare` says of each format what `halfulp quantize` says of it alone."""

import json
import math
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from model_case import Base  # noqa: E402
from support import floats, safetensors  # noqa: E402
from test_report import Balanced  # noqa: E402

FORMATS = ("float8_e4m3fn", "mxfp8_e4m3", "nvfp4", "posit8", "s2fp8", "fp(4,3,4):finite", "torch.float8_e5m2")


def asked(formats):
    return [word for f in formats for word in ("-f", f)]


class Compare(Base):
    def columns(self, *args):
        return json.loads(self.ok("compare", "--json", *args))["formats"]

    def test_same_as_quantize(self):
        path = self.write("m.safetensors", safetensors(self.tensors))
        for more in ((), ("--any-rank",), ("--include", "*weight", "--exclude", "*0*"), ("--rows", "out")):
            columns = self.columns(*asked(FORMATS), *more, path)
            self.assertEqual(len(columns), len(FORMATS))
            for f, column in zip(FORMATS, columns):
                alone = json.loads(self.ok("quantize", "--json", "-f", f, *more, path, "-o", self.path("z.safetensors")))
                self.assertEqual((column["format"], column["mode"]), (alone["format"], alone["mode"]))
                rounded = [t for t in alone["tensors"] if t["rounded"]]
                self.assertGreater(len(rounded), 0)
                for was, t in zip(rounded, column["tensors"]):
                    for field in ("name", "bits_per_element", "events", "errors"):
                        self.assertEqual(t[field], was[field], (f, was["name"], field))
                self.assertEqual(len(rounded), len(column["tensors"]))
                self.assertEqual(column["errors"]["count"], sum(t["errors"]["count"] for t in rounded))
                self.assertEqual(column["events"]["inexact"], sum(t["events"]["inexact"] for t in rounded))

    def test_stochastic_threads(self):
        path = self.write("m.safetensors", safetensors(self.tensors))
        args = asked(FORMATS[:4]) + ["-r", "sra:7", "--seed", "9", "--counter", "3", path]
        one = self.columns(*args)
        self.assertEqual(one, self.columns("-j", "5", *args))
        self.assertNotEqual(one, self.columns("--seed", "10", *[a for a in args if a not in ("--seed", "9")]))

    def test_array_and_text(self):
        x = [math.sin(i) * 2.0 ** (i % 9 - 4) for i in range(96)]
        path = self.write("x.npy", support.npy("<f4", (3, 32), floats(x)))
        text = self.ok("compare", *asked(("binary32", "float8_e4m3fn", "float4_e2m1fn")), path)
        lines = text.splitlines()
        self.assertIn("x.npy: 1 of 1 tensors, 96 elements", lines[0])
        self.assertEqual(lines[1].split()[2:], ["binary32", "float8_e4m3fn", "float4_e2m1fn"])
        row = lines[2].split()
        self.assertEqual(row[:2], ["x", "exact"])
        got = self.columns(*asked(("binary32", "float8_e4m3fn", "float4_e2m1fn")), path)
        self.assertEqual(row[2:], ["%.2f" % c["errors"]["sqnr_db"] for c in got[1:]])
        for name, field in (("zeros", "zeros"), ("largest error", "max_abs")):
            line = next(line for line in lines if line.strip().startswith(name))
            for shown, c in zip(line.split()[-3:], got):
                self.assertAlmostEqual(float(shown), c["errors"][field], delta=1e-3 * abs(c["errors"][field]))
        self.assertEqual(support.run("compare", *asked(FORMATS[:2]), "-", stdin=open(path, "rb").read()).returncode, 0)

    def test_report(self):
        tensors = self.tensors + [('<script>"&x', "F32", (2, 3), floats([1, 2, 3, 4, 5, 1000]))]
        path = self.write("m.safetensors", safetensors(tensors))
        got = self.columns(*asked(FORMATS), "--report", self.path("r.html"), path)
        page = self.read("r.html").decode("utf-8")
        parser = Balanced()
        parser.feed(page)
        parser.close()
        self.assertEqual((parser.open, parser.fetches), ([], []))
        self.assertNotRegex(page, r"https?:|url\(|@import|<script>\"")
        for c in got:
            self.assertIn(c["format"], parser.cells)
            for t in c["tensors"]:
                self.assertIn(t["name"], parser.cells)
            self.assertIn("%.2f" % c["errors"]["sqnr_db"], parser.cells)
            for part in ("scale", "dead", "saturated", "grid"):
                if c["causes"]:
                    self.assertIn("%.2f %%" % (100 * c["causes"][part + "_share"]), parser.cells)
        # The drawing has the best format first.
        order = sorted(got, key=lambda c: -c["errors"]["sqnr_db"])
        drawing = page[page.index("One bar per format"):]
        places = [drawing.index(">" + c["format"] + "<") for c in order]
        self.assertEqual(places, sorted(places))

    def test_wrong_use(self):
        path = self.write("m.safetensors", safetensors(self.tensors))
        before = self.read("m.safetensors")
        self.bad("compare", path, says="two formats or more")
        self.bad("compare", "-f", "nvfp4", path, says="two formats or more")
        self.bad("compare", *asked(("nvfp4", "nvfp5")), path, says="nvfp5")
        self.bad("compare", *asked(["nvfp4"] * 33), path, says="more than 32")
        self.bad("compare", *asked(("nvfp4", "torch.float8_e4m3fn")), "-r", "rtz", path, says="torch.float8_e4m3fn")
        self.bad("compare", *asked(FORMATS[:2]), "--include", "nothing*", path, says="no tensor has such a name")
        self.bad("compare", *asked(FORMATS[:2]), "--report", path, path, says="--report")
        self.bad("compare", *asked(FORMATS[:2]), "--report", "-", "--json", path, says="standard output")
        self.bad("compare", *asked(FORMATS[:2]), self.path("absent.npy"), says="absent.npy")
        self.bad("compare", *asked(FORMATS[:2]), self.write("x.npy", support.npy("<c8", (1,), b"\0" * 8)), says="<c8")
        self.assertEqual(self.read("m.safetensors"), before)


if __name__ == "__main__":
    support.main()
