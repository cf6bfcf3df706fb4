# SPDX-License-Identifier: MIT
"""halfulp bench: its table and its JSON have a row for each case and number of threads, with figures that can be, in about
the time that was asked for."""

import json
import os
import re
import sys
import time

sys.dont_write_bytecode = True
import support  # noqa: E402

ARRAYS = ["values of float8_e4m3fn", "values of bfloat16", "values of fp(6,9,0)", "values of float8_e4m3fn, sra:32",
          "codes of float8_e4m3fn", "float8_e4m3fn codes to values", "codes of mxfp8_e4m3", "codes of nvfp4", "values of s2fp8"]
CODES = [name + " of float8_e4m3fn" for name in
         ("add sub mul div minimum maximum minimum_number maximum_number sqrt fma round_to_integral next_up next_down class compare exp "
          "exp2 expm1 log log2 log1p tanh sigmoid erf gelu rsqrt reciprocal sin cos pow remainder").split()]
PRODUCTS = ["seq(bfloat16)", "kahan(bfloat16)", "nv.hopper.e4m3.f32.wgmma"]
STEPS = ["training step, products in s2fp8", "training step, products in float8_e5m2"]
THREADS = [1] + [min(os.cpu_count(), 256)] * (os.cpu_count() > 1)


class Bench(support.Case):
    def test_json(self):
        start = time.monotonic()
        z = json.loads(self.ok("bench", "--json", "--seconds", "1"))
        took = time.monotonic() - start
        self.assertEqual([(r["name"], r["threads"]) for r in z["rows"]], [(n, t) for n in ARRAYS + CODES + PRODUCTS + STEPS for t in THREADS])
        self.assertEqual((z["seconds"], z["elements"], z["codes"], z["side"]), (1, 2**24, 2**18, 512))
        self.assertIn("vector", z["levels"].split())
        for r in z["rows"]:
            kind = ("memcpy", "ns") if r["name"] in ARRAYS + CODES else ("binary32", "GFlop/s") if r["name"] in PRODUCTS else ("binary32", "us")
            self.assertEqual((r["reference"], r["unit"]), kind, r)
            self.assertGreater(r["best"], 0.01, r)
            self.assertEqual((len(r["ratios"]), min(r["ratios"]), max(r["ratios"])), (3, r["best"], r["worst"]), r)
            # An element takes longer than 2 ps; every call was made at least 3 times within the time.
            least, calls = {"ns": (0.002, (2**18 if r["name"] in CODES else 2**24) * 1e-9), "us": (10, 1e-6), "GFlop/s": (1e-3, None)}[r["unit"]]
            self.assertGreater(r["figure"], least, r)
            if calls:
                self.assertLess(3 * r["figure"] * calls, took, r)
            else:
                self.assertLess(3 * 2e-9 * 512**3 / r["figure"], took, r)
            if r["name"] == "kahan(bfloat16)":  # four roundings for each of binary32's
                self.assertGreater(r["best"], 1, r)

    def test_table(self):
        lines = self.ok("bench", "--seconds", "1").splitlines()
        self.assertTrue(lines[0].startswith("processor: "))
        self.assertTrue(lines[1].startswith("levels: "))
        self.assertEqual(re.findall(r"one thread|\d+ threads", lines[3]), ["one thread"] + ["%d threads" % t for t in THREADS[1:]])
        figure = r" +[\d.]+ (ns|us|GFlop/s) +[\d.]+ to +[\d.]+"
        at = iter(lines[4:])
        for title, names in (("time over memcpy's:", ARRAYS + CODES), ("time over binary32's:", PRODUCTS + STEPS)):
            self.assertEqual(next(at), title)
            for name in names:
                self.assertRegex(next(at), "^  " + re.escape(name) + figure * len(THREADS) + "$")
        self.assertEqual(list(at), [])

    def test_wrong_options(self):
        for args, said in ((["--seconds", "0"], "--seconds"), (["--seconds", "3601"], "--seconds"), (["--seconds", "soon"], "soon"),
                           (["x.npy"], "x.npy")):
            r = support.run("bench", *args)
            self.assertEqual((r.returncode, r.stdout), (2, b""), args)
            self.assertRegex(r.stderr.decode(), r"\Ahalfulp: [^\n]*%s[^\n]*\n\Z" % re.escape(said))


if __name__ == "__main__":
    support.main()
