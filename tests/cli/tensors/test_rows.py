# SPDX-License-Identifier: MIT
"""Rows of arrays with many axes: those that are shorter than a block are told, and --rows out makes longer ones."""

import json
import os
import random
import struct
import sys
import unittest

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, npy, parse_npy, parse_safetensors, safetensors  # noqa: E402

MODELS = os.environ["HALFULP_SAFETENSORS"] == "1"
SHAPES = [(6, 5, 3), (4, 7, 3, 3), (3, 40, 1), (5, 1, 9), (2, 3, 4, 2, 2), (1, 128, 1), (9, 33, 5, 1)]


def count(shape):
    n = 1
    for side in shape:
        n *= side
    return n


def places(shape):
    """Where each element of the matrix lies in the array: rows by the first axis; in a row the axes from the third on,
    and the second, the channels, fastest."""
    out, channels, inner = shape[0], shape[1], count(shape[2:])
    return [(r * channels + c) * inner + k for r in range(out) for k in range(inner) for c in range(channels)]


class Rows(support.Case):
    def draw(self, n, seed=1):
        rng = random.Random(seed)
        return [struct.unpack("<f", struct.pack("<f", rng.gauss(0, 1) * 2 ** rng.uniform(-6, 6)))[0] for _ in range(n)]

    def get(self, name):
        descr, fortran, shape, data = parse_npy(self.read(name))
        self.assertFalse(fortran)
        letter = {"|u1": "B", "<u2": "H", "<f4": "f", "<f8": "d", "<f2": "e"}[descr]
        return shape, list(struct.unpack("<%d%s" % (count(shape), letter), data)), data

    def matrix(self, values, shape):
        """The same by hand: the array's elements, permuted, as a matrix."""
        at = places(shape)
        return npy("<f4", (shape[0], count(shape[1:])), floats([values[i] for i in at])), at

    def test_arrays(self):
        """Values, codes and scales are those of the permuted matrix; each element is where it was."""
        for fmt in ("nvfp4", "mxfp8_e4m3", "mxfp6_e2m3", "dsv3_128x128", "hbfp12", "bfp(3,8,16)"):
            for shape in SHAPES:
                values = self.draw(count(shape))
                self.write("x.npy", npy("<f4", shape, floats(values)))
                data, at = self.matrix(values, shape)
                self.write("m.npy", data)
                for args in ((), ("--codes",), ("-r", "sra:7", "--seed", "3"), ("-r", "sra:7", "--codes", "-j", "3")):
                    self.ok("quantize", "-f", fmt, *args, "--rows", "out", self.path("x.npy"), self.path("z.npy"))
                    self.ok("quantize", "-f", fmt, *args, self.path("m.npy"), self.path("w.npy"))
                    (got_shape, got, _), (_, want, _) = self.get("z.npy"), self.get("w.npy")
                    self.assertEqual(got_shape, shape)
                    self.assertEqual([got[i] for i in at], want, (fmt, shape, args))
                    if "--codes" in args:
                        self.assertEqual(self.get("z.scales.npy"), self.get("w.scales.npy"))
                        self.ok("decode", "-f", fmt, "--rows", "out", self.path("z.npy"), self.path("d.npy"))
                        self.ok(
                            "quantize",
                            "-f",
                            fmt,
                            *[a for a in args if a != "--codes"],
                            "--rows",
                            "out",
                            self.path("x.npy"),
                            self.path("v.npy"),
                        )
                        self.assertEqual(self.read("d.npy"), self.read("v.npy"))

    def test_fortran_and_widths(self):
        shape = (3, 4, 5)
        values = [struct.unpack("<e", struct.pack("<e", v))[0] for v in self.draw(60)]
        self.write("c.npy", npy("<f4", shape, floats(values)))
        self.ok("quantize", "-f", "nvfp4", "--rows", "out", self.path("c.npy"), self.path("want.npy"))
        want = self.get("want.npy")[1]
        order = [values[(i * 4 + j) * 5 + k] for k in range(5) for j in range(4) for i in range(3)]
        for descr, code, fortran, data in (
            ("<f8", "<d", False, values),
            ("<f2", "<e", False, values),
            (">f4", ">f", True, order),
        ):
            self.write("x.npy", npy(descr, shape, floats(data, code), fortran=fortran))
            self.ok("quantize", "-f", "nvfp4", "--rows", "out", self.path("x.npy"), self.path("z.npy"))
            self.assertEqual(self.get("z.npy")[1], want, descr)
        # An element that is not a binary32 number has its place in the array, not in the matrix.
        values[17] = 0.1
        self.write("x.npy", npy("<f8", shape, floats(values, "<d")))
        self.bad(
            "quantize",
            "-f",
            "nvfp4",
            "--rows",
            "out",
            self.path("x.npy"),
            self.path("no.npy"),
            says="element 17 is not a binary32",
        )

    def test_where_it_changes_nothing(self):
        """Two axes or fewer, and formats without blocks."""
        for shape in ((6, 40), (240,), (), (0, 3, 3), (3, 0, 3)):
            self.write("x.npy", npy("<f4", shape, floats(self.draw(count(shape)))))
            for fmt in ("nvfp4", "float8_e4m3fn", "s2fp8", "posit8"):
                for args in ((), ("--codes",)):
                    self.ok("quantize", "-f", fmt, *args, self.path("x.npy"), self.path("a.npy"))
                    self.ok("quantize", "-f", fmt, *args, "--rows", "out", self.path("x.npy"), self.path("b.npy"))
                    self.assertEqual(self.read("a.npy"), self.read("b.npy"))
        self.write("x.npy", npy("<f4", (4, 3, 3), floats(self.draw(36))))
        for fmt in ("float8_e4m3fn", "s2fp8", "posit8"):
            self.ok("quantize", "-f", fmt, "--codes", self.path("x.npy"), self.path("a.npy"))
            self.ok("quantize", "-f", fmt, "--codes", "--rows", "out", self.path("x.npy"), self.path("b.npy"))
            self.assertEqual(self.read("a.npy"), self.read("b.npy"))

    def test_errors_are_where_they_are(self):
        """The largest error is named by its element in the array."""
        values = [1.0] * 4 * 6 * 9
        values[(2 * 6 + 4) * 9 + 7] = 1.2
        self.write("x.npy", npy("<f4", (4, 6, 9), floats(values)))
        r = json.loads(
            self.ok("quantize", "-f", "mxfp8_e4m3", "--rows", "out", "--json", self.path("x.npy"), self.path("z.npy"))
        )
        self.assertEqual(r["errors"]["worst"], (2 * 6 + 4) * 9 + 7)

    def test_decode_is_told(self):
        """Without --rows out the scales do not fit the codes."""
        self.write("x.npy", npy("<f4", (4, 6, 9), floats(self.draw(216))))
        self.ok("quantize", "-f", "nvfp4", "--codes", "--rows", "out", self.path("x.npy"), self.path("c.npy"))
        self.bad(
            "decode",
            "-f",
            "nvfp4",
            self.path("c.npy"),
            self.path("d.npy"),
            says=("c.scales.npy", "4 x 4, the codes require 24 x 1 by -f and --rows"),
        )

    # ---- what is said of short rows ----

    def test_report_on_arrays(self):
        self.write("x.npy", npy("<f4", (128, 129, 3), floats([1.0] * 128 * 129 * 3)))
        x, z = self.path("x.npy"), self.path("z.npy")
        for args in ((), ("--codes",)):
            text = self.ok("quantize", "-f", "nvfp4", *args, x, z)
            self.assertIn(
                "\n  note: rows of 3 are shorter than a block of 16: 8.001 bits per element, scales included; "
                "--rows out makes rows of 387: 4.528\n",
                text,
            )
        r = json.loads(self.ok("quantize", "-f", "nvfp4", "--json", x, z))
        self.assertEqual((r["matrix"], r["short_rows"], r["rows_out"]["matrix"]), ([128 * 129, 3], True, [128, 387]))
        # Two codes a byte: rows of 3 take 2 bytes, rows of 387 take 194; a scale for each block; t.
        self.assertAlmostEqual(r["bits_per_element"], (128 * 129 * (2 + 1) * 8 + 32) / (128 * 129 * 3))
        self.assertAlmostEqual(r["rows_out"]["bits_per_element"], (128 * (194 + 25) * 8 + 32) / (128 * 387))
        r = json.loads(self.ok("quantize", "-f", "nvfp4", "--rows", "out", "--json", x, z))
        self.assertEqual((r["matrix"], r["short_rows"], r["rows_out"]), ([128, 387], False, None))
        self.assertNotIn("note:", self.ok("quantize", "-f", "nvfp4", "--rows", "out", x, z))
        self.write("y.npy", npy("<f4", (3, 5), floats([1.0] * 15)))
        text = self.ok("quantize", "-f", "nvfp4", self.path("y.npy"), z)
        self.assertRegex(
            text, r"\n  note: rows of 5 are shorter than a block of 16: \S+ bits per element, scales included\n$"
        )
        self.write("y.npy", npy("<f4", (3, 16), floats([1.0] * 48)))
        for fmt in ("nvfp4", "float8_e4m3fn", "s2fp8", "fp8_tensor"):
            self.assertNotIn("note:", self.ok("quantize", "-f", fmt, self.path("y.npy"), z))

    @unittest.skipUnless(MODELS, "built without jansson")
    def test_models(self):
        """Every tensor as the .npy way has it, packed codes in the order of the matrix; the note says rows=out."""
        tensors = [
            ("conv%d.weight" % i, "F32", shape, floats(self.draw(count(shape), i))) for i, shape in enumerate(SHAPES)
        ]
        tensors += [
            ("linear.weight", "F32", (4, 40), floats(self.draw(160, 77))),
            ("bias", "F32", (7,), floats(self.draw(7))),
        ]
        m, o = self.write("m.safetensors", safetensors(tensors)), self.path("o.safetensors")
        for fmt, width in (("nvfp4", 4), ("mxfp8_e4m3", 8), ("hbfp12", 12), ("mxfp6_e3m2", 6)):
            self.ok("quantize", "-f", fmt, "--rows", "out", m, o)
            values = self.read("o.safetensors")
            got = parse_safetensors(values)[0]
            for name, _, shape, data in tensors[:-1]:
                self.write("x.npy", npy("<f4", shape, data))
                self.ok("quantize", "-f", fmt, "--rows", "out", self.path("x.npy"), self.path("z.npy"))
                self.assertEqual(got[name][2], self.get("z.npy")[2], name)
            self.ok("quantize", "-f", fmt, "--rows", "out", "--codes", m, o)
            coded, notes, _ = parse_safetensors(self.read("o.safetensors"))
            for name, _, shape, data in tensors[:-1]:
                out = len(shape) > 2
                self.assertEqual(" rows=out " in notes["halfulp." + name], out, name)
                self.write("x.npy", npy("<f4", shape, data))
                self.ok("quantize", "-f", fmt, "--codes", "--rows", "out", self.path("x.npy"), self.path("c.npy"))
                codes = self.get("c.npy")[1]
                self.assertEqual(coded[name + ".scales"][2], self.get("c.scales.npy")[2])
                if width > 8:
                    self.assertEqual(
                        (coded[name + ".codes"][1], coded[name + ".codes"][2]), (shape, self.get("c.npy")[2])
                    )
                    continue
                rows, at = shape[0], places(shape) if out else range(count(shape))
                cols = count(shape) // rows
                want = b"".join(
                    sum(codes[at[i * cols + j]] << j * width for j in range(cols)).to_bytes(
                        -(-cols * width // 8), "little"
                    )
                    for i in range(rows)
                )
                self.assertEqual(coded[name + ".codes"][2], want, (fmt, name))
            self.ok("decode", o, self.path("d.safetensors"))
            self.assertEqual(self.read("d.safetensors"), values, fmt)
            self.bad("decode", "--rows", "out", o, self.path("d.safetensors"), says="says itself how its rows lie")
            # A second time: what has a note stays.
            self.ok("quantize", "-f", fmt, "--rows", "out", "--codes", "--any-rank", "--include", "*", o, self.path("p.safetensors"))
            again = parse_safetensors(self.read("p.safetensors"))[0]
            self.assertEqual(
                {n: again[n] for n in coded if n != "bias"}, {n: t for n, t in coded.items() if n != "bias"}
            )

    @unittest.skipUnless(MODELS, "built without jansson")
    def test_report_on_models(self):
        tensors = [
            ("conv.weight", "F32", (8, 9, 3), floats(self.draw(216))),
            ("fc.weight", "F32", (4, 40), floats(self.draw(160))),
            ("gate", "F32", (4, 5), floats(self.draw(20))),
        ]
        tensors += [("c%02d" % i, "F32", (2, 8, 3), floats(self.draw(48, i))) for i in range(25)]
        m, o = self.write("m.safetensors", safetensors(tensors)), self.path("o.safetensors")
        text = self.ok("quantize", "-f", "mxfp4", m, o, "--report", self.path("r.html"))
        self.assertIn(
            "  note: conv.weight: rows of 3 are shorter than a block of 32: 8 bits per element, scales included; "
            "--rows out makes rows of 27: 4.444\n",
            text,
        )
        self.assertRegex(
            text, r"  note: gate: rows of 5 are shorter than a block of 32: \S+ bits per element, scales included\n"
        )
        self.assertNotIn("note: fc.weight", text)
        self.assertEqual(text.count("  note: "), 21)
        self.assertIn("  note: the same of 7 more tensors (--json has them all)\n", text)
        r = {t["name"]: t for t in json.loads(self.ok("quantize", "-f", "mxfp4", m, o, "--json"))["tensors"]}
        self.assertEqual({n for n, t in r.items() if t["short_rows"]}, set(r) - {"fc.weight"})
        self.assertEqual((r["conv.weight"]["matrix"], r["conv.weight"]["rows_out"]["matrix"]), ([72, 3], [8, 27]))
        self.assertIsNone(r["gate"]["rows_out"])
        page = self.read("r.html").decode()
        part = page[page.index("Rows shorter than a block") : page.index("Events of the")]
        self.assertEqual(part.count("<tr>"), 28)
        self.assertIn("--rows out", part)
        self.ok("quantize", "-f", "mxfp4", "--include", "fc*", m, o, "--report", self.path("r.html"))
        self.assertNotIn("Rows shorter than a block", self.read("r.html").decode())
        text = self.ok("quantize", "-f", "mxfp4", "--rows", "out", m, o)
        self.assertNotIn("--rows out makes", text)

    @unittest.skipUnless(MODELS, "built without jansson")
    def test_wrong_notes(self):
        for value in (
            "F32 [2, 3, 3] rows=out",
            "F32 [2, 3, 3] rows=in mxfp4",
            "F32 [2, 3, 3]rows=out mxfp4",
            "F32 [2, 3, 3] rows=out rows=out mxfp4",
        ):
            self.write("w.safetensors", safetensors([("x", "U8", (1,), b"x")], {"halfulp.a": value}))
            self.bad("decode", self.path("w.safetensors"), self.path("d.safetensors"))
        self.assertNotIn("d.safetensors", self.left())


if __name__ == "__main__":
    support.main()
