# SPDX-License-Identifier: MIT
"""quantize, gemm, diff: arrays in and out, and outputs that appear complete or not at all."""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, npy, parse_npy  # noqa: E402


class Quantize(support.Case):
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
                    x = self.put("x.npy", values, code=code)
                    report = json.loads(
                        self.ok("quantize", "-f", fmt, *args, "--codes", "--json", "-j", "2", x, self.path("z.npy"))
                    )
                    descr, _, _, payload = parse_npy(self.read("z.npy"))
                    self.assertEqual(list(struct.unpack("<504" + size, payload)), codes, (fmt, args))
                    self.assertEqual(report["events"]["nan_in"], 1)
                    self.assertEqual(report["events"]["inf_in"], 1)

    def test_float16_is_rounded_once(self):
        x = self.put("x.npy", [2050.0, 0.1, -3.3, 6e-8], code="<e")
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
            x = self.put("x.npy", [0.3, 1.0], code=code)
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
        x = self.put("x.npy", [1, 2], code="<B")
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
        y = self.put("y.npy", [1.0, float("nan"), -0.0], code=">f")
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
        x = self.put("x.npy", [1, 2, 300], code="<H")
        y = self.put("y.npy", [1, 5, 301], code="<H")
        data = json.loads(self.ok("compare", x, y, "--json", code=1))
        self.assertEqual(data["ulps"], [{"from": 1, "count": 1}, {"from": 2, "count": 1}])
        self.assertEqual(data["errors"]["max_abs"], 3)
        big = [2**32 - 1, 7]
        x = self.put("x.npy", big, code="<I")
        y = self.put("y.npy", [0, 7], code="<I")
        data = json.loads(self.ok("compare", x, y, "--json", code=1))
        self.assertEqual(data["ulps"], [{"from": 2**31, "count": 1}])

    def test_codes(self):
        x = self.put("x.npy", [0x38, 0x80, 0x01], code="<B")
        y = self.put("y.npy", [0x39, 0x00, 0x81], code="<B")
        data = json.loads(self.ok("compare", x, y, "-f", "float8_e4m3fn", "--json", code=1))
        self.assertEqual((data["zero_signs"], data["ulps"]), (1, [{"from": 1, "count": 1}, {"from": 2, "count": 1}]))
        self.bad("compare", x, y, "-f", "bfloat16", says="stored as uint16")

    def test_shapes(self):
        x = self.put("x.npy", [1, 2], shape=(2,))
        y = self.put("y.npy", [1, 2], shape=(1, 2))
        z = self.put("z.npy", [1, 2], code="<d")
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
        bt = self.put("bt.npy", [1, 2, 3, 4, 5, 6], code=">d", shape=(3, 2), fortran=True)
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
        a = self.put("a.npy", [0x38, 0x40], code="<B", shape=(1, 2))
        b = self.put("b.npy", [0x38, 0x40], code="<B", shape=(2, 1))
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


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite()
    for case in (Quantize, Diff, Gemm):
        for name in loader.getTestCaseNames(case):
            if name in vars(case):  # not the inherited ones again
                suite.addTest(case(name))
    return suite


if __name__ == "__main__":
    support.main()
