# SPDX-License-Identifier: MIT
"""Models through quantize, encode and decode: which tensors, which bytes, what is refused."""

import json
import math
import os
import resource
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import support  # noqa: E402
from model_case import Base, from_bfloats  # noqa: E402
from support import floats, npy, parse_npy, safetensors  # noqa: E402


class Model(Base):
    def test_values(self):
        """Every tensor as the .npy way has it; the others untouched; metadata kept."""
        for fmt in ("mxfp8_e4m3", "nvfp4", "dsv3_128x128", "float8_e4m3fn", "fp(5,7,0)"):
            self.quantize(fmt)
            got, metadata, order = self.out()
            self.assertEqual(metadata, self.metadata)
            self.assertEqual(set(got), {t[0] for t in self.tensors})
            for name, dtype, shape, data in self.tensors:
                self.assertEqual(got[name][:2], (dtype, shape))
                if name not in self.rounded:
                    self.assertEqual(got[name][2], data, name)
                    continue
                values = from_bfloats(data) if dtype == "BF16" else None
                descr = {"F32": "<f4", "BF16": "<f4", "F16": "<f2", "F64": "<f8"}[dtype]
                self.write("x.npy", npy(descr, shape, floats(values) if values is not None else data))
                self.ok("quantize", "-f", fmt, self.path("x.npy"), self.path("z.npy"))
                descr, _, _, want = parse_npy(self.read("z.npy"))
                if dtype == "F16" and descr == "<f4":  # rounded once more, ties to even, as Python's struct does
                    want = floats(struct.unpack("<99f", want), "<e")
                if dtype == "BF16":
                    self.write("y.npy", npy("<f4", shape, want))
                    self.ok("quantize", "-f", "bfloat16", "--codes", self.path("y.npy"), self.path("w.npy"))
                    want = parse_npy(self.read("w.npy"))[3]
                self.assertEqual(got[name][2], want, (fmt, name))
            widths = [{"F64": 8, "I64": 8, "F32": 4, "F16": 2, "BF16": 2, "U16": 2}.get(got[n][0], 1) for n in order]
            self.assertEqual(list(zip([-w for w in widths], order)), sorted(zip([-w for w in widths], order)))

    def test_choice(self):
        def rounded(*args):
            r = json.loads(self.quantize("float4_e2m1fn", "--json", *args))
            got, before = self.out()[0], {t[0]: t[3] for t in self.tensors}
            done = {t["name"] for t in r["tensors"] if t["rounded"]}
            self.assertEqual({n for n in got if got[n][2] != before[n]}, done - {"empty"})
            return done

        self.assertEqual(rounded(), set(self.rounded))
        self.assertEqual(rounded("--include", "*.weight"), {"model.0.weight", "model.1.weight"})
        self.assertEqual(rounded("--include", "model.0*"), {"model.0.weight"})  # no bias: it has one axis
        self.assertEqual(rounded("--include", "model.0*", "--any-rank"), {"model.0.weight", "model.0.bias"})
        self.assertEqual(rounded("--include", "scale", "--any-rank"), {"scale"})
        self.assertEqual(rounded("--include", "s*", "--any-rank"), {"scale"})
        self.assertEqual(rounded("--any-rank"), set(self.rounded) | {"scale", "model.0.bias"})
        self.assertEqual(
            rounded("--include", "model.0.bias", "--include", "model.[1-9].half", "--any-rank"),
            {"model.0.bias", "model.1.half"},
        )
        self.assertEqual(rounded("--exclude", "model.1.*"), {"model.0.weight", "empty"})
        self.assertEqual(
            rounded("--include", "model*", "--exclude", "*.bias", "--exclude", "*double"),
            {"model.0.weight", "model.1.weight", "model.1.half"},
        )
        m, o = self.path("m.safetensors"), self.path("no.safetensors")
        self.bad(
            "quantize",
            "-f",
            "mxfp4",
            m,
            o,
            "--include",
            "Model*",
            says=(m, "--include 'Model*': no tensor has such a name"),
        )
        self.bad(
            "quantize", "-f", "mxfp4", m, o, "--exclude", "x", says=(m, "--exclude 'x': no tensor has such a name")
        )
        self.bad("quantize", "-f", "mxfp4", m, o, "--exclude", "*", says=(m, "no tensor to round"))
        self.bad("quantize", "-f", "mxfp4", m, o, "--include", "step[s]", says=(m, "no tensor to round", "whole names"))
        for glob in ("scale", "*.bias"):  # with others beside it, too: a pattern that chooses nothing is a slip
            for more in ((), ("--include", "*.weight")):
                args = ("--include", glob) + more
                self.bad("quantize", "-f", "mxfp4", m, o, *args, says=(m, "--include '%s'" % glob, "--any-rank"))
        self.bad("quantize", "-f", "mxfp4", m, o, *["--include=s*"] * 65, says="--include: more than 64")

    def test_codes(self):
        """Packed codes, scales and notes as docs/files.md has them; decode gives the bytes of the values."""
        for fmt, width in (
            ("nvfp4", 4),
            ("mxfp6_e3m2", 6),
            ("mxfp8_e5m2", 8),
            ("float6_e2m3fn", 6),
            ("fp(3,8,0)", 12),
            ("hbfp12", 12),
            ("dsv3_1x128", 8),
            ("s2fp8", 8),
            ("nf4", 4),
            ("posit(6,1)", 6),
            ("lns16", 16),
        ):
            self.quantize(fmt)
            values = self.read("o.safetensors")
            self.quantize(fmt, "--codes")
            got, metadata, _ = self.out()
            for name, dtype, shape, data in self.tensors:
                if name not in self.rounded:
                    self.assertEqual(got[name], (dtype, shape, data))
                    self.assertNotIn("halfulp." + name, metadata)
                    continue
                self.assertNotIn(name, got)
                self.assertTrue(metadata["halfulp." + name].startswith("%s %s " % (dtype, list(shape))))
                self.assertEqual(got[name + ".codes"][0], "U8" if width <= 8 else "U16")
            # One tensor by the .npy way: the same codes, packed here; the same scales.
            self.write("x.npy", npy("<f4", (6, 70), self.tensors[0][3]))
            self.ok("quantize", "-f", fmt, "--codes", self.path("x.npy"), self.path("c.npy"))
            codes = parse_npy(self.read("c.npy"))[3]
            dtype, shape, data = got["model.0.weight.codes"]
            if width > 8:
                self.assertEqual((shape, data), ((6, 70), codes))
            else:
                row = -(-70 * width // 8)
                want = b"".join(
                    sum(codes[i * 70 + j] << j * width for j in range(70)).to_bytes(row, "little") for i in range(6)
                )
                self.assertEqual((shape, data), ((6, row), want))
            if os.path.exists(self.path("c.scales.npy")):
                descr, _, shape, want = parse_npy(self.read("c.scales.npy"))
                self.assertEqual(
                    got["model.0.weight.scales"], ({"|u1": "U8", "<u2": "U16", "<f4": "F32"}[descr], shape, want)
                )
                os.unlink(self.path("c.scales.npy"))
            if fmt == "nvfp4":
                self.assertEqual(got["model.0.weight.tensor"], ("F32", (), parse_npy(self.read("c.tensor.npy"))[3]))
            self.ok("decode", self.path("o.safetensors"), self.path("d.safetensors"))
            self.assertEqual(self.read("d.safetensors"), values, fmt)
            self.ok("encode", "-f", fmt, self.path("m.safetensors"), self.path("e.safetensors"))
            self.assertEqual(self.read("e.safetensors"), self.read("o.safetensors"))

    def test_native_dtypes(self):
        for fmt, dtype in (
            ("float8_e4m3fn", "F8_E4M3"),
            ("float8_e5m2", "F8_E5M2"),
            ("float8_e4m3fnuz", "F8_E4M3FNUZ"),
            ("float8_e5m2fnuz", "F8_E5M2FNUZ"),
            ("binary16", "F16"),
            ("bfloat16", "BF16"),
            ("binary32", "F32"),
        ):
            self.quantize(fmt)
            values = self.read("o.safetensors")
            self.quantize(fmt, "--codes")
            got, metadata, _ = self.out()
            self.assertEqual(set(got), {t[0] for t in self.tensors})
            self.assertEqual(got["model.0.weight"][:2], (dtype, (6, 70)))
            self.assertIn("halfulp.model.0.weight", metadata)
            self.write("x.npy", npy("<f4", (6, 70), self.tensors[0][3]))
            self.ok("quantize", "-f", fmt, "--codes", self.path("x.npy"), self.path("c.npy"))
            self.assertEqual(got["model.0.weight"][2], parse_npy(self.read("c.npy"))[3])
            self.ok("decode", self.path("o.safetensors"), self.path("d.safetensors"))
            self.assertEqual(self.read("d.safetensors"), values, fmt)

    def test_rounded_again(self):
        """nvfp4's values are not all bfloat16; with --widen they stay."""
        r = json.loads(self.quantize("nvfp4", "--json"))
        again = {t["name"]: t["rounded_again"] for t in r["tensors"] if t["rounded"]}
        self.assertEqual(again["model.0.weight"], 0)
        self.assertGreater(again["model.1.weight"], 0)
        plain = from_bfloats(self.out()[0]["model.1.weight"][2])
        r = json.loads(self.quantize("nvfp4", "--json", "--widen"))
        self.assertEqual({t["rounded_again"] for t in r["tensors"] if t["rounded"]}, {0})
        got = self.out()[0]
        self.assertEqual(
            [got["model.1.weight"][0], got["model.1.half"][0], got["model.1.double"][0]], ["F32", "F32", "F64"]
        )
        wide = struct.unpack("<240f", got["model.1.weight"][2])
        self.assertEqual(sum(a != b for a, b in zip(plain, wide)), again["model.1.weight"])
        for a, b in zip(plain, wide):
            self.assertLessEqual(abs(a - b), abs(b) * 2.0**-8)
        self.bad(
            "quantize",
            "-f",
            "nvfp4",
            "--widen",
            "--codes",
            self.path("m.safetensors"),
            self.path("x.safetensors"),
            says="--widen",
        )

    def test_figures(self):
        """Errors, amax and bits against Python's own."""
        r = json.loads(self.quantize("mxfp4", "--json"))
        got = self.out()[0]
        self.assertEqual((r["format"], r["mode"], r["codes"]), ("mxfp4", "rne", False))
        t = r["tensors"][0]
        self.assertEqual((t["name"], t["dtype"], t["shape"]), ("model.0.weight", "F32", [6, 70]))
        x = struct.unpack("<420f", self.tensors[0][3])
        z = struct.unpack("<420f", got["model.0.weight"][2])
        noise, signal_ = sum((a - b) ** 2 for a, b in zip(x, z)), sum(a * a for a in x)
        self.assertEqual(t["amax"], max(map(abs, x)))
        self.assertEqual(t["errors"]["max_abs"], max(abs(a - b) for a, b in zip(x, z)))
        self.assertAlmostEqual(t["errors"]["rms"], math.sqrt(noise / 420))
        self.assertAlmostEqual(t["errors"]["sqnr_db"], 10 * math.log10(signal_ / noise))
        self.assertEqual(t["errors"]["zeros"], sum(a == 0 for a in z))
        self.assertEqual(t["blocks"]["count"], 18)
        self.assertAlmostEqual(t["bits_per_element"], (420 * 4 + 18 * 8) / 420)
        text = self.quantize("mxfp4")
        self.assertIn("5 of 10 tensors, 777 elements", text)
        self.assertRegex(text, r"(?m)^  model\.0\.weight +420 ")
        self.assertRegex(text, r"(?m)^  all +777 ")

    def test_modes_and_amax(self):
        seen = set()
        for args in (
            (),
            ("-r", "rtz"),
            ("-r", "sra:4"),
            ("-r", "sra:4", "--seed", "9"),
            ("-r", "sra:4", "--counter", "1"),
            ("--amax", "64"),
        ):
            self.quantize("nvfp4", *args)
            first = self.read("o.safetensors")
            self.quantize("nvfp4", *args, "--threads", "3")
            self.assertEqual(self.read("o.safetensors"), first)
            seen.add(first)
        self.assertEqual(len(seen), 6)
        # Tensors draw one after the other: the second begins where the first ends.
        self.quantize("bfloat16", "-r", "sra:9")
        self.quantize("float8_e5m2", "-r", "sra:9", "--codes")
        self.write("x.npy", npy("<f2", (33, 3), self.tensors[3][3]))
        self.ok(
            "quantize",
            "-f",
            "float8_e5m2",
            "-r",
            "sra:9",
            "--counter",
            str(420 + 240),
            "--codes",
            self.path("x.npy"),
            self.path("c.npy"),
        )
        self.assertEqual(self.out()[0]["model.1.half"][2], parse_npy(self.read("c.npy"))[3])
        self.bad(
            "quantize",
            "-f",
            "mxfp4",
            "--amax",
            "2",
            self.path("m.safetensors"),
            self.path("x.safetensors"),
            says="--amax: mxfp4",
        )

    def test_refusals(self):
        m, o = self.path("m.safetensors"), self.path("x.safetensors")
        self.bad("quantize", "-f", "mxfp4", m, self.path("x.npy"), says="becomes a .safetensors file")
        self.bad("quantize", "-f", "mxfp4", m, says="requires IN.npy OUT.npy, or IN.safetensors")
        self.bad("quantize", "-f", "mxfp4", "--device", "cuda", m, o, says="--device: models run on the CPU")
        self.bad("quantize", "-f", "mxfp4", m, self.path("no/x.safetensors"), says="no/x.safetensors: cannot write")
        self.bad("quantize", "-f", "mxfp4", m, o, "--report", self.path("no/r.html"), says="no/r.html: cannot write")
        self.bad("quantize", "-f", "mxfp4", self.path("none.safetensors"), o, says="none.safetensors: No such file")
        self.bad("decode", m, self.path("y.safetensors"), says="holds no codes")
        tensors = [("a", "F32", (1, 2), floats([1, 2])), ("a.codes", "U8", (1,), b"x")]
        self.write("c.safetensors", safetensors(tensors))
        self.bad(
            "quantize",
            "-f",
            "mxfp4",
            "--codes",
            self.path("c.safetensors"),
            o,
            says="two tensors would be named 'a.codes'",
        )
        self.write("d.safetensors", safetensors([("a", "F64", (1, 2), floats([1, 0.1], "<d"))]))
        self.bad(
            "quantize",
            "-f",
            "mxfp4",
            self.path("d.safetensors"),
            o,
            says=("d.safetensors: tensor 'a': element 1 is not a binary32",),
        )
        self.assertEqual(self.left(), ["c.safetensors", "d.safetensors", "m.safetensors"])
        os.symlink("/dev/full", self.path("full.safetensors"))
        self.bad("quantize", "-f", "mxfp4", m, self.path("full.safetensors"), says="full.safetensors: cannot write")

    def test_report_beside_models(self):
        """The report takes the place of no model; standard output is one thing at a time."""
        m, o, before = self.path("m.safetensors"), self.path("o.safetensors"), self.read("m.safetensors")
        os.symlink("m.safetensors", self.path("link"))
        there = os.path.join(self.folder.name, ".", "o.safetensors")
        for report, says in ((m, "the same file"), (self.path("link"), "the same file"), (o, "the output"), (there, "output")):
            self.bad("quantize", "-f", "mxfp4", m, o, "--report", report, says=(report, "would replace", says))
        self.bad("quantize", "-f", "mxfp4", m, o, "--report", "-", "--json", says="both require standard output")
        self.assertEqual((self.left(), self.read("m.safetensors")), (["link", "m.safetensors"], before))
        self.quantize("mxfp4")
        self.bad("quantize", "-f", "mxfp4", m, o, "--report", there, says=(there, "would replace the output"))
        self.assertIn("<!DOCTYPE html>", self.quantize("mxfp4", "--report", "-"))

    def test_codes_stay(self):
        """A second quantize leaves codes and binary32 scales of the first alone: decode gives the first's values."""
        for fmt in ("dsv3_1x128", "float8_e4m3fn"):
            self.quantize(fmt, "--include", "model.0.weight")
            want = self.out()[0]["model.0.weight"]
            self.quantize(fmt, "--codes", "--include", "model.0.weight")
            first, o, z = self.out()[0], self.path("o.safetensors"), self.path("z.safetensors")
            self.bad("quantize", "-f", "mxfp4", "--codes", o, z, says=(o, "quantized already", "halfulp.model.0.weight"))
            self.ok("quantize", "-f", "mxfp4", "--codes", "--exclude", "model.0.*", o, z)
            second = self.out("z.safetensors")[0]
            for name in first:
                if name.startswith("model.0."):
                    self.assertEqual(second[name], first[name])
            self.assertIn("model.1.weight.codes", second)
            self.ok("decode", z, self.path("d.safetensors"))
            self.assertEqual(self.out("d.safetensors")[0]["model.0.weight"], want)
        self.bad("quantize", "-f", "mxfp4", z, self.path("y.safetensors"), says="quantized already")
        self.bad("quantize", "-f", "mxfp4", "--include", "*", z, self.path("y.safetensors"), says="no tensor to round")

    def test_name_of_metadata(self):
        x = self.write("__metadata__.npy", npy("<f4", (2, 4), floats(range(8))))
        z = self.path("z.safetensors")
        for args in ((), ("--codes",)):
            self.bad("quantize", "-f", "mxfp4", x, z, *args, says=(x, "no tensor can be named"))
        self.quantize("mxfp4", "--codes", "--include", "model.0.weight")
        got, metadata, order = self.out()
        tensors = [(n.replace("model.0.weight", "__metadata__"), *got[n]) for n in order]
        metadata = {k.replace("model.0.weight", "__metadata__"): v for k, v in metadata.items()}
        self.write("o.safetensors", safetensors(tensors, metadata))
        self.bad("decode", self.path("o.safetensors"), z, says=(z, "no tensor can be named '__metadata__'"))
        self.assertNotIn("z.safetensors", self.left())

    def test_in_place(self):
        before = self.read("m.safetensors")
        self.quantize("mxfp8_e4m3")
        want = self.read("o.safetensors")
        m = self.path("m.safetensors")
        self.bad("quantize", "-f", "mxfp8_e4m3", m, "-o", m, says=(m, "the input", "--in-place"))
        self.assertEqual(self.read("m.safetensors"), before)
        for args in ((m, "-o", m), (m,)):
            self.write("m.safetensors", before)
            self.ok("quantize", "-f", "mxfp8_e4m3", "--in-place", *args)
            self.assertEqual(self.read("m.safetensors"), want)
        self.assertNotEqual(before, want)
        self.write("m.safetensors", before)
        self.ok("encode", "-f", "mxfp8_e4m3", "--in-place", m)
        self.bad("decode", m, m, says=(m, "the input", "--in-place"))
        self.ok("decode", m, "--in-place")
        self.assertEqual(self.read("m.safetensors"), want)
        self.assertEqual(self.left(), ["m.safetensors", "o.safetensors"])

    def test_empty_tensors_of_any_sides(self):
        """Nothing to round, however long the sides: no loops over rows that hold nothing."""
        far = 2**63 - 1
        tensors = [
            ("e%d" % i, "F32", shape, b"") for i, shape in enumerate([(far, 0), (0, far), (far, far, 0), (3, 0)])
        ]
        self.write("m.safetensors", safetensors(tensors))
        for fmt in ("float6_e2m3fn", "nvfp4", "dsv3_128x128", "s2fp8", "int4"):
            self.quantize(fmt)
            self.assertEqual({n: t[:2] for n, t in self.out()[0].items()}, {n: (d, s) for n, d, s, _ in tensors})
            values = self.read("o.safetensors")
            self.quantize(fmt, "--codes", "--report", self.path("r.html"))
            self.ok("decode", self.path("o.safetensors"), self.path("d.safetensors"))
            self.assertEqual(self.read("d.safetensors"), values)
        x = self.write("x.npy", npy("<f4", (0, 2**63), b""))
        self.bad("quantize", "-f", "nvfp4", x, self.path("z.safetensors"), says=(x, "a side beyond"))

    def test_disk_full(self):
        """A file that may not grow: one line, nothing left."""

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        for args in (("-o", self.path("z.safetensors")), ("-o", self.path("z.safetensors"), "--codes", "-j", "2")):
            r = subprocess.run(
                [support.HALFULP, "quantize", "-f", "mxfp8_e4m3", self.path("m.safetensors"), *args],
                stderr=subprocess.PIPE,
                stdout=subprocess.PIPE,
                preexec_fn=limit,
                check=False,
            )
            self.assertEqual((r.returncode, r.stdout), (2, b""))
            self.assertIn(b"z.safetensors: cannot write: File too large (", r.stderr)
            self.assertEqual(self.left(), ["m.safetensors"])

    def test_standard_input(self):
        data = npy("<f4", (2, 40), floats([1.5] * 80))
        self.ok("quantize", "-f", "mxfp4", "-", self.path("z.safetensors"), stdin=data)
        self.assertEqual(set(self.out("z.safetensors")[0]), {"array"})
        self.bad("quantize", "-f", "mxfp4", "-", self.path("z.safetensors"), stdin=b"x", says="standard input: not an")
        name = os.fsencode(self.folder.name) + b"/\xff.npy"
        with open(name, "wb") as f:
            f.write(data)
        r = subprocess.run(
            [support.HALFULP, "quantize", "-f", "mxfp4", name, self.path("y.safetensors")],
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(r.returncode, 2)
        self.assertIn(b"not UTF-8", r.stderr)

    def test_unaligned_header(self):
        """A header that is not padded: tensors at any address."""
        for name in ("a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh"):
            tensors = [(name, "F64", (1, 2), floats([1.5, 0.25], "<d")), ("c", "F32", (1, 3), floats([1, 2, 3]))]
            self.write("m.safetensors", safetensors(tensors, pad=False))
            self.quantize("mxfp8_e4m3")
            got = self.out()[0]
            self.assertEqual((got[name][2], got["c"][2]), (tensors[0][3], tensors[1][3]))

    def test_array_as_model(self):
        x = self.write("w0.npy", npy("<f2", (2, 40), floats([0.5 * i for i in range(80)], "<e")))
        self.ok("quantize", "-f", "mxfp8_e4m3", "--codes", x, self.path("c.safetensors"))
        got, metadata, _ = self.out("c.safetensors")
        self.assertEqual(set(got), {"w0.codes", "w0.scales"})
        self.assertTrue(metadata["halfulp.w0"].startswith("F16 [2, 40] scaled(float8_e4m3fn;"))
        self.ok("decode", self.path("c.safetensors"), self.path("d.npy"))
        self.assertEqual(parse_npy(self.read("d.npy"))[:3], ("<f2", False, (2, 40)))
        self.ok("quantize", "-f", "mxfp8_e4m3", x, self.path("v.safetensors"))
        self.assertEqual(parse_npy(self.read("d.npy"))[3], self.out("v.safetensors")[0]["w0"][2])
        x = self.write("u.npy", npy("|u1", (2,), b"ab"))
        self.ok("quantize", "-f", "mxfp8_e4m3", x, self.path("c.safetensors"))
        self.assertEqual(self.out("c.safetensors")[0], {"u": ("F32", (2,), floats([96, 96]))})

    def test_digits(self):
        """The classifier of data/, quantized: it still reads nearly all digits."""
        parts = {}
        for name in ("images", "labels", "weights"):
            with open(os.path.join(support.DATA, "digits_%s.npy" % name), "rb") as f:
                parts[name] = parse_npy(f.read())
        weights = struct.unpack("<640f", parts["weights"][3])
        # As a model would have it: one row of 64 weights a digit.
        rows = [weights[i * 10 + d] for d in range(10) for i in range(64)]
        self.write(
            "m.safetensors",
            safetensors(
                [("classifier.weight", "F32", (10, 64), floats(rows)), ("labels", "U8", (1797,), parts["labels"][3])],
                {"format": "pt"},
            ),
        )
        images, labels = struct.unpack("<%df" % (1797 * 64), parts["images"][3]), parts["labels"][3]

        def recognised(w):
            good = 0
            for i in range(0, 1797, 3):
                image = images[i * 64 : i * 64 + 64]
                scores = [sum(a * b for a, b in zip(image, w[d * 64 : d * 64 + 64]) if a) for d in range(10)]
                good += scores.index(max(scores)) == labels[i]
            return good / len(range(0, 1797, 3))

        before, shown = recognised(rows), []
        for fmt, least, loss in (("mxfp8_e4m3", 24, 0.01), ("nvfp4", 15, 0.06), ("mxfp4", 12, 0.08)):
            r = json.loads(self.quantize(fmt, "--json"))
            after = recognised(struct.unpack("<640f", self.out()[0]["classifier.weight"][2]))
            sqnr = r["tensors"][0]["errors"]["sqnr_db"]
            self.assertGreater(sqnr, least)
            self.assertGreater(after, before - loss, fmt)
            shown.append("%s %.1f dB %.1f %%" % (fmt, sqnr, 100 * after))
        print("digits: before %.1f %%; %s" % (100 * before, ", ".join(shown)))


if __name__ == "__main__":
    support.main()
