# SPDX-License-Identifier: MIT
"""quantize, gemm, diff, plot: arrays in and out, and outputs that appear complete or not at all."""

import json
import math
import os
import random
import signal
import struct
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
import support  # noqa: E402
from model_case import bfloats  # noqa: E402
from support import floats, npy, parse_npy  # noqa: E402


class Quantize(support.Case):
    def put(self, name, values, code="<f", shape=None, **kw):
        descr = code[0] + {"e": "f2", "f": "f4", "d": "f8", "B": "u1", "H": "u2", "I": "u4"}[code[1]]
        if code[1] == "B":
            descr = "|u1"
        return self.write(
            name,
            npy(descr, shape or (len(values),), struct.pack(code[0] + "%d%s" % (len(values), code[1]), *values), **kw),
        )

    def test_same_as_encode(self):
        rng = random.Random(1)
        values = [rng.choice((-1, 1)) * 2.0 ** rng.uniform(-20, 12) for _ in range(500)] + [
            0.0,
            -0.0,
            float("inf"),
            float("nan"),
        ]
        values = list(struct.unpack("<504f", floats(values)))
        lines = "".join(v.hex() + "\n" if v == v else "nan\n" for v in values)
        for fmt, size in (("float8_e4m3fn", "B"), ("bfloat16", "H"), ("fp(8,20,0)", "I")):
            for args in (
                ("-r", "rne"),
                ("-r", "rtp", "-s", "finite"),
                ("-r", "sra:12", "--seed", "3", "--counter", "9"),
            ):
                codes = [int(c, 16) for c in self.ok("encode", "-f", fmt, *args, stdin=lines).split()]
                for code in "<f", ">d":
                    x = self.put("x.npy", values, code)
                    report = json.loads(
                        self.ok("quantize", "-f", fmt, *args, "--codes", "--json", "-j", "2", x, self.path("z.npy"))
                    )
                    descr, _, _, payload = parse_npy(self.read("z.npy"))
                    self.assertEqual(list(struct.unpack("<504" + size, payload)), codes, (fmt, args))
                    self.assertEqual(report["events"]["nan_in"], 1)
                    self.assertEqual(report["events"]["inf_in"], 1)

    def test_float16_is_rounded_once(self):
        x = self.put("x.npy", [2050.0, 0.1, -3.3, 6e-8], "<e")
        self.ok("quantize", "-f", "fp(5,4,0)", "-r", "raz", x, self.path("z.npy"))
        self.assertEqual(parse_npy(self.read("z.npy"))[3], floats([2176.0, 0.1015625, -3.375, 2.0**-18], "<e"))

    def test_output_dtype(self):
        for fmt, code, descr in (
            ("float8_e5m2", "<e", "<f2"),
            ("bfloat16", "<e", "<f4"),
            ("binary32", "<e", "<f4"),
            ("fp(11,20,0)", "<e", "<f8"),
            ("bfloat16", "<f", "<f4"),
            ("fp(11,20,0)", "<f", "<f8"),
            ("bfloat16", "<d", "<f8"),
        ):
            x = self.put("x.npy", [0.3, 1.0], code)
            self.ok("quantize", "-f", fmt, x, self.path("z.npy"))
            self.assertEqual(parse_npy(self.read("z.npy"))[0], descr, (fmt, code))

    def test_report(self):
        x = self.put("x.npy", [1.0, 1.0625, 1000.0, 1e-9, float("nan"), 0.0], shape=(2, 3))
        text = self.ok("quantize", "-f", "float8_e4m3fn", x, self.path("z.npy"))
        for part in (
            "float32 (2, 3) to float8_e4m3fn, rne, on CPU",
            "overflow   1",
            "saturated  1",
            "to_zero    1",
            "nan_in     1",
            "max abs error  552 (element 2)",
            "zeros          2 of 6 (33.33 %)",
            "left out       1 elements",
        ):
            self.assertIn(part, text)
        report = json.loads(self.ok("quantize", "-f", "float8_e4m3fn", "--json", x, self.path("z.npy")))
        self.assertEqual(report["errors"]["max_abs"], 552.0)
        self.assertEqual(report["events"]["overflow"], 1)
        self.assertAlmostEqual(report["errors"]["rms"], ((552.0**2 + 0.0625**2 + 1e-18) / 5) ** 0.5, places=5)

    def test_wrong_use(self):
        x = self.put("x.npy", [1, 2], "<B")
        self.bad("quantize", x, self.path("z.npy"), says="no format given")
        self.bad("quantize", "-f", "bfloat16", x, says="requires IN.npy OUT.npy")
        self.bad("quantize", "-f", "bfloat16", "-j", "257", x, x, says="--threads")
        self.bad("quantize", "-f", "bfloat16", "--device", "tpu", x, x, says="neither cpu nor cuda")
        self.bad("quantize", "-f", "bfloat16", self.path("none.npy"), self.path("z.npy"), says="none.npy: No such file")
        f = self.put("f.npy", [1.0])
        self.bad("quantize", "-f", "bfloat16", f, self.path("no/z.npy"), says="no/z.npy: cannot write")
        self.assertEqual(self.left(), ["f.npy", "x.npy"])

    def test_in_place(self):
        x = self.put("x.npy", [0.3, 5.0])
        os.chmod(x, 0o640)
        self.bad("quantize", "-f", "float8_e4m3fn", x, x, says=(x, "the input", "--in-place"))
        self.ok("quantize", "-f", "float8_e4m3fn", "--in-place", x, x)
        self.assertEqual(parse_npy(self.read("x.npy"))[3], floats([0.3125, 5.0]))
        self.assertEqual(os.stat(x).st_mode & 0o777, 0o640)
        self.assertEqual(self.left(), ["x.npy"])

    def test_links_and_long_names(self):
        """A link stays one, what it leads to is replaced; a name may be as long as names can be."""
        x = self.put("x.npy", [0.3, 5.0])
        want = None
        os.symlink("real.npy", self.path("link.npy"))
        os.mkdir(self.path("d"))
        os.symlink(os.path.join("d", "far.npy"), self.path("far.npy"))
        for name in ("link.npy", "link.npy", "far.npy", "far.npy", "n" * 251 + ".npy"):
            self.ok("quantize", "-f", "float8_e4m3fn", x, self.path(name))
            want = want or self.read(name)
            self.assertEqual(self.read(name), want)
        self.assertTrue(os.path.islink(self.path("link.npy")) and os.path.islink(self.path("far.npy")))
        self.assertEqual(os.listdir(self.path("d")), ["far.npy"])
        self.assertEqual(self.left(), sorted(["d", "far.npy", "link.npy", "n" * 251 + ".npy", "real.npy", "x.npy"]))

    def test_errors_beyond_squares(self):
        """Errors whose squares are no binary64 numbers are still told."""
        for scale in (1e200, 1e-200):
            x = self.write("x.npy", npy("<f8", (2,), floats([1.1 * scale, 3.3 * scale], "<d")))
            e = json.loads(self.ok("quantize", "-f", "fp(11,20,0)", "--json", x, self.path("z.npy")))["errors"]
            z = struct.unpack("<2d", parse_npy(self.read("z.npy"))[3])
            errors = [abs(z[0] / scale - 1.1), abs(z[1] / scale - 3.3)]
            self.assertAlmostEqual(e["max_abs"] / scale / max(errors), 1, places=6)
            self.assertAlmostEqual(e["rms"] / scale / ((errors[0] ** 2 + errors[1] ** 2) / 2) ** 0.5, 1, places=6)
            self.assertTrue(100 < e["sqnr_db"] < 160)

    def test_full_device(self):
        x = self.put("x.npy", [0.3] * 4000)
        self.bad("quantize", "-f", "bfloat16", x, "/dev/full", says="/dev/full: cannot write")
        with open("/dev/full", "wb") as full:
            r = subprocess.run([support.HALFULP, "formats"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(r.returncode, 2)
        self.assertIn(b"standard output: cannot write", r.stderr)

    def test_interrupt_leaves_nothing(self):
        """SIGINT at many moments of a run: either no output and no temporary file, or the complete output."""
        n = 1 << 22
        x = self.write("x.npy", npy("<f4", (n,), floats([0.3] * 1024) * (n // 1024)))
        seen = {"stopped": 0, "complete": 0}
        args = [support.HALFULP, "quantize", "-f", "bfloat16", x, self.path("z.npy")]
        started = time.time()
        subprocess.run(args, stdout=subprocess.DEVNULL, check=True)
        took = time.time() - started
        os.unlink(self.path("z.npy"))
        for i in range(24):
            p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(took * i / 18)
            p.send_signal(signal.SIGINT)
            code = p.wait()
            left = self.left()
            if "z.npy" in left:
                self.assertEqual(len(self.read("z.npy")), 128 + 4 * n)
                os.unlink(self.path("z.npy"))
                seen["complete"] += 1
            else:
                self.assertNotEqual(code, 0)
                seen["stopped"] += 1
            self.assertEqual(self.left(), ["x.npy"])
        print("interrupted: %(stopped)d stopped, %(complete)d complete" % seen)
        self.assertGreater(seen["stopped"], 0)

    def test_progress_bar_only_on_a_terminal(self):
        x = self.write("x.npy", npy("<f8", (1 << 22,), floats([0.3] * 1024, "<d") * (1 << 12)))
        args = [support.HALFULP, "plot", "-f", "bfloat16", "--array", x, "-o", self.path("o.svg")]
        r = subprocess.run(args, stderr=subprocess.PIPE, check=True)
        self.assertEqual(r.stderr, b"")
        shown, took = support.on_terminal(args)
        if took > 2:  # drawn after half a second
            self.assertIn(b"plot [", shown)


class Diff(Quantize):
    def test_equal(self):
        x = self.put("x.npy", [1.0, float("nan"), -0.0])
        y = self.put("y.npy", [1.0, float("nan"), -0.0], ">f")
        self.assertEqual(self.ok("compare", x, y), "0 of 3 elements differ\n")

    def test_orders(self):
        x = self.put("x.npy", [1, 2, 3, 4, 5, 6], shape=(2, 3))
        y = self.put("y.npy", [1, 4, 2, 5, 3, 6], shape=(2, 3), fortran=True)
        self.ok("compare", x, y)
        z = self.put("z.npy", [1, 4, 2, 5, 3, 7], shape=(2, 3), fortran=True)
        self.assertIn("[1, 2]", self.ok("compare", x, z, code=1))
        self.assertIn("[1, 2]", self.ok("compare", z, x, code=1))

    def test_histogram(self):
        inf, nan = float("inf"), float("nan")
        x = self.put("x.npy", [0.0, 1.0, 1.0, 1.0, inf, nan, 0.3, 2.0**-9])
        y = self.put("y.npy", [-0.0, 1.125, 1.5, -1.0, 1.0, 1.0, 1.0, -(2.0**-9)])
        data = json.loads(self.ok("compare", x, y, "-f", "float8_e4m3fn", "--json", code=1))
        self.assertEqual(
            (data["differing"], data["zero_signs"], data["infinities"], data["nans"], data["off_grid"]), (8, 1, 1, 1, 1)
        )
        self.assertEqual(
            data["ulps"],
            [{"from": 1, "count": 1}, {"from": 2, "count": 1}, {"from": 4, "count": 1}, {"from": 64, "count": 1}],
        )
        self.assertEqual(
            data["first"][0], {
                "index": [0],
                "x": {"code": "0x00000000", "value": 0, "hex": "0x0p+0"},
                "y": {"code": "0x80000000", "value": -0.0, "hex": "-0x0p+0"},
            }
        )
        text = self.ok("compare", x, y, "-f", "float8_e4m3fn", "-n", "2", code=1)
        self.assertEqual(text.count("  ["), 2)
        self.assertIn("8 of 8 elements differ", text)
        self.assertIn("0 (signs of zero)", text)

    def test_dtype_ulps(self):
        x = self.put("x.npy", [1.0, -(2.0**-149)])
        y = self.put("y.npy", [1.0 + 2.0**-23, 2.0**-149])
        data = json.loads(self.ok("compare", x, y, "--json", code=1))
        self.assertEqual(data["ulps"], [{"from": 1, "count": 1}, {"from": 2, "count": 1}])
        x = self.put("x.npy", [1, 2, 300], "<H")
        y = self.put("y.npy", [1, 5, 301], "<H")
        data = json.loads(self.ok("compare", x, y, "--json", code=1))
        self.assertEqual(data["ulps"], [{"from": 1, "count": 1}, {"from": 2, "count": 1}])
        self.assertEqual(data["errors"]["max_abs"], 3)
        big = [2**32 - 1, 7]
        x = self.put("x.npy", big, "<I")
        y = self.put("y.npy", [0, 7], "<I")
        data = json.loads(self.ok("compare", x, y, "--json", code=1))
        self.assertEqual(data["ulps"], [{"from": 2**31, "count": 1}])

    def test_codes(self):
        x = self.put("x.npy", [0x38, 0x80, 0x01], "<B")
        y = self.put("y.npy", [0x39, 0x00, 0x81], "<B")
        data = json.loads(self.ok("compare", x, y, "-f", "float8_e4m3fn", "--json", code=1))
        self.assertEqual((data["zero_signs"], data["ulps"]), (1, [{"from": 1, "count": 1}, {"from": 2, "count": 1}]))
        self.bad("compare", x, y, "-f", "bfloat16", says="stored as uint16")

    def test_shapes(self):
        x = self.put("x.npy", [1, 2], shape=(2,))
        y = self.put("y.npy", [1, 2], shape=(1, 2))
        z = self.put("z.npy", [1, 2], "<d")
        self.assertIn("(2,) and float32 (1, 2)", self.ok("compare", x, y, code=1))
        self.assertIn("float64", self.ok("compare", x, z, code=1))
        self.assertEqual(json.loads(self.ok("compare", x, z, "--json", code=1))["comparable"], False)
        self.bad("compare", x, self.path("none"), says="none: ")


class Gemm(Quantize):
    def gemm(self, a, b, *args, fa="float8_e4m3fn", fb="float8_e4m3fn", fd="binary32", accum="exact", **kw):
        return self.ok(
            "gemm", a, b, "--fa", fa, "--fb", fb, "--fd", fd, "--accum", accum, "-o", self.path("d.npy"), *args, **kw
        )

    def result(self):
        descr, fortran, shape, payload = parse_npy(self.read("d.npy"))
        self.assertFalse(fortran)
        code = {"<f4": "f", "<f8": "d", "|u1": "B", "<u2": "H"}[descr]
        return shape, list(struct.unpack("<%d%s" % (len(payload) // struct.calcsize(code), code), payload))

    def test_small(self):
        a = self.put("a.npy", [1, 2, 3, 4, 5, 6], shape=(2, 3))
        b = self.put("b.npy", [1, 4, 2, 5, 3, 6], shape=(3, 2), fortran=False)
        self.gemm(a, b)
        self.assertEqual(self.result(), ((2, 2), [14.0, 32.0, 32.0, 77.0]))
        bt = self.put("bt.npy", [1, 2, 3, 4, 5, 6], ">d", shape=(3, 2), fortran=True)
        for accum in ("exact", "fp32"):
            self.gemm(a, bt, accum=accum)
            self.assertEqual(self.result(), ((2, 2), [14.0, 32.0, 32.0, 77.0]))
        c = self.put("c.npy", [1, 10, 100, 1000], shape=(2, 2))
        self.gemm(a, b, "-C", c)
        self.assertEqual(self.result()[1], [15.0, 42.0, 132.0, 1077.0])
        self.gemm(a, b, "--codes", fd="bfloat16")
        self.assertEqual(self.result()[1], [0x4160, 0x4200, 0x4200, 0x429A])
        self.gemm(a, b, fd="fp(11,20,0)")
        self.assertEqual(self.result()[1], [14.0, 32.0, 32.0, 77.0])

    def test_rows_in_parts(self):
        """Long work is done some rows at a time: the same bits, random words and events as rows given apart, whatever the
        order of A and C, and a progress bar on a terminal alone."""
        m, n, k, first = 600, 1024, 2048, 130
        r = random.Random(8)
        a, b = (bytes(x & 15 for x in r.randbytes(size)) for size in (m * k, k * n))
        c = floats([r.randrange(-64, 64) for _ in range(m * n)])
        columns = b"".join(a[j::k] for j in range(k))
        self.write("b.npy", npy("|u1", (k, n), b))
        self.write("whole.npy", npy("|u1", (m, k), a))
        self.write("whole_f.npy", npy("|u1", (m, k), columns, fortran=True))
        self.write("c.npy", npy("<f4", (m, n), c))
        rows = [c[4 * n * i : 4 * n * (i + 1)] for i in range(m)]
        cf = b"".join(row[4 * j : 4 * j + 4] for j in range(n) for row in rows)
        self.write("c_f.npy", npy("<f4", (m, n), cf, fortran=True))
        args = dict(fa="float4_e2m1fn", fb="float4_e2m1fn", fd="float8_e5m2", accum="fp32")
        options = ["-r", "sra:8", "--seed", "7", "--fc", "binary32", "--json"]
        want, events = b"", {}
        for low, high in ((0, first), (first, m)):
            self.write("part.npy", npy("|u1", (high - low, k), a[low * k : high * k]))
            self.write("cp.npy", npy("<f4", (high - low, n), c[4 * n * low : 4 * n * high]))
            out = self.gemm(
                self.path("part.npy"), self.path("b.npy"), "-C", self.path("cp.npy"), "--counter", str(low * n), *options, **args
            )
            want += parse_npy(self.read("d.npy"))[3]
            for name, count in json.loads(out)["events"].items():
                events[name] = events.get(name, 0) + count
        self.assertGreater(events["inexact"], m * n // 2)
        for x, z in (("whole.npy", "c.npy"), ("whole_f.npy", "c_f.npy")):
            out = self.gemm(self.path(x), self.path("b.npy"), "-C", self.path(z), *options, **args)
            self.assertEqual(json.loads(out)["events"], events)
            self.assertEqual(parse_npy(self.read("d.npy"))[3], want)

    def test_models_differ(self):
        a = self.put("a.npy", [2.0**24, 1.0, -(2.0**24)], shape=(1, 3))
        b = self.put("b.npy", [1.0, 1.0, 1.0], shape=(3, 1))
        self.gemm(a, b, fa="binary32", fb="binary32")
        self.assertEqual(self.result()[1], [1.0])
        self.gemm(a, b, fa="binary32", fb="binary32", accum="fp32")
        self.assertEqual(self.result()[1], [0.0])

    def test_off_grid(self):
        a = self.put("a.npy", [0.3, 1.0], shape=(1, 2))
        b = self.put("b.npy", [1.0, 1.0], shape=(2, 1))
        text = self.gemm(a, b)
        self.assertIn("a.npy: 1 of 2 elements were not values of the format", text)
        self.assertEqual(self.result()[1], [1.3125])
        os.unlink(self.path("d.npy"))
        self.bad(
            "gemm",
            a,
            b,
            "--fa",
            "float8_e4m3fn",
            "--fb",
            "float8_e4m3fn",
            "--fd",
            "binary32",
            "--accum",
            "exact",
            "--strict",
            "-o",
            self.path("d.npy"),
            says="1 of 2 elements are not values of float8_e4m3fn",
        )
        self.assertNotIn("d.npy", self.left())

    def test_codes_in(self):
        a = self.put("a.npy", [0x38, 0x40], "<B", shape=(1, 2))
        b = self.put("b.npy", [0x38, 0x40], "<B", shape=(2, 1))
        self.gemm(a, b)
        self.assertEqual(self.result()[1], [5.0])
        self.bad(
            "gemm",
            a,
            b,
            "--fa",
            "bfloat16",
            "--fb",
            "bfloat16",
            "--fd",
            "bfloat16",
            "--accum",
            "exact",
            "-o",
            self.path("d"),
            says="codes of bfloat16 are stored as uint16",
        )

    def test_empty(self):
        a = self.put("a.npy", [], shape=(2, 0))
        b = self.put("b.npy", [], shape=(0, 3))
        self.gemm(a, b)
        self.assertEqual(self.result(), ((2, 3), [0.0] * 6))
        self.gemm(self.put("a.npy", [], shape=(0, 3)), self.put("b.npy", [1] * 6, shape=(3, 2)))
        self.assertEqual(self.result(), ((0, 2), []))

    def test_threads_and_json(self):
        images, weights = (os.path.join(support.DATA, "digits_%s.npy" % n) for n in ("images", "weights"))
        self.gemm(images, weights, fd="bfloat16", accum="fp32")
        one = self.read("d.npy")
        report = json.loads(self.gemm(images, weights, "-j", "3", "--json", fd="bfloat16", accum="fp32"))
        self.assertEqual(self.read("d.npy"), one)
        self.assertEqual((report["m"], report["n"], report["k"]), (1797, 10, 64))
        self.assertEqual(report["off_grid"][0], 0)
        self.assertGreater(report["off_grid"][1], 0)

    def test_wrong_use(self):
        a = self.put("a.npy", [1, 2], shape=(1, 2))
        b = self.put("b.npy", [1, 2, 3], shape=(3, 1))
        v = self.put("v.npy", [1, 2])
        base = [
            "--fa",
            "bfloat16",
            "--fb",
            "bfloat16",
            "--fd",
            "bfloat16",
            "--accum",
            "exact",
            "-o",
            self.path("d.npy"),
        ]
        self.bad("gemm", a, b, *base, says=("b.npy: 3 rows", "2 columns"))
        self.bad("gemm", a, v, *base, says="v.npy: a matrix is required, this has shape (2,)")
        self.bad("gemm", a, a, *base, says="a.npy: 1 rows")
        self.bad("gemm", b, a, "-C", a, *base, says="a.npy: shape (1, 2), but the product has (3, 2)")
        self.bad("gemm", b, a, *base[:8], says="-o D.npy")
        self.bad("gemm", b, a, *base[:7], "sideways", *base[8:], says="--accum 'sideways': no such name;")
        self.assertNotIn("d.npy", self.left())


class Plot(Quantize):
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
            shares = ["%.2f %%" % (100 * one["data"][k] / 8) for k in ("to_zero", "subnormal", "overflow")]
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
        want = {"count": 64, "zeros": 55, "overflow": 1, "normal": 4, "subnormal": 2, "to_zero": 2, "lost": 0, "magnitudes_used": 6, "magnitudes": 8}
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


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite()
    for case in (Quantize, Diff, Gemm, Plot):
        for name in loader.getTestCaseNames(case):
            if name in vars(case):  # not the inherited ones again
                suite.addTest(case(name))
    return suite


if __name__ == "__main__":
    support.main()
