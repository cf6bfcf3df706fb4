# SPDX-License-Identifier: MIT
"""halfulp presets, and presets where formats are named."""

import json
import os
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402


class Presets(support.Case):
    def test_list(self):
        listed = self.ok("presets").split("\n")[1:-1]
        entries = json.loads(self.ok("presets", "--json"))
        self.assertGreater(len(entries), 90)
        self.assertEqual([line.split(" ")[0] for line in listed], [e["id"] for e in entries])
        families = {e["id"].split(".")[0] for e in entries}
        wanted = "cuda torch ml_dtypes numpy jax ocp onnx gfloat chop qtorch mx te torchao ggml riscv intel ptx tt"
        self.assertEqual(families, set(wanted.split()))
        details = self.ok("presets", "-v").split("\n")[1:-1]
        self.assertEqual((details[::2], [line.strip() for line in details[1::2]]), (listed, [e["stands"] for e in entries]))
        for e in entries:
            self.assertTrue(e["format"] and e["mode"] and e["stands"] and e["tested"], e)

    def test_part(self):
        names = [e["id"] for e in json.loads(self.ok("presets", "onnx.", "--json"))]
        self.assertTrue(names and all("onnx." in n for n in names), names)
        self.assertEqual(len(self.ok("presets", "onnx.").split("\n")) - 2, len(names))
        self.bad("presets", "nobody.", says="preset 'nobody.': no such name;")

    def test_card(self):
        card = self.ok("presets", "ml_dtypes.float4_e2m1fn")
        for text in ("astype(ml_dtypes.float4_e2m1fn)", "rne, saturate finite", "binary64 to binary32", "0x8, the sign bit changed"):
            self.assertIn(text, card)
        self.assertIn("scaled(float8_e4m3fn", self.ok("presets", "te.mxfp8_e4m3"))
        self.assertIn("fp(6,9,0)", self.ok("presets", "qtorch.float(6,9)"))

    def test_lines(self):
        for preset, given, code in (
            ("cuda.fp8_e4m3.satfinite", "1000", "7e"),
            ("cuda.fp8_e4m3.nosat", "-1000", "ff"),
            ("riscv.e4m3", "-1000", "7f"),
            ("torch.float8_e4m3fn", "inf", "7e"),
            ("ml_dtypes.float8_e8m0fnu", "0", "ff"),
            ("jax.float8_e4m3fn", "0x1.d000000001p+2", "4f"),
            ("ml_dtypes.float8_e4m3fn", "0x1.d000000001p+2", "4e"),
        ):
            self.assertEqual(self.ok("encode", "-f", preset, stdin=given + "\n"), code + "\n", preset)
        for bits, code in (("ff812345", "fc09"), ("7f800001", "7c01")):
            self.assertEqual(self.ok("encode", "-f", "numpy.float16", "--bits32", stdin=bits + "\n"), code + "\n")
        self.assertEqual(self.ok("decode", "-f", "torch.float8_e4m3fnuz", stdin="80\n"), "nan\n")

    def test_arrays(self):
        x = [448.0, 1e9, -1e9, 0.3, float("nan")]
        for name, code in (("x4.npy", "<f4"), ("x8.npy", "<f8")):
            self.write(name, support.npy(code, (5,), support.floats(x, "<f" if code == "<f4" else "<d")))
        for preset, codes in (("torch.float8_e4m3fn", "7e7efe2a7f"), ("ocp.fp8_e4m3.nonsaturating", "7e7fff2a7f")):
            for name in ("x4.npy", "x8.npy"):
                self.ok("encode", "-f", preset, self.path(name), self.path("z.npy"))
                self.assertEqual(support.parse_npy(self.read("z.npy"))[3].hex(), codes, (preset, name))
                self.ok("decode", "-f", preset, self.path("z.npy"), self.path("v.npy"))
                values = struct.unpack("<5f", support.parse_npy(self.read("v.npy"))[3])
                self.assertEqual((values[0], values[3]), (448.0, 0.3125))
        said = self.ok("quantize", "-f", "torch.float8_e4m3fn", self.path("x4.npy"), self.path("q.npy"))
        self.assertIn("torch.float8_e4m3fn, rne, saturate finite", said)
        self.assertEqual(struct.unpack("<5f", support.parse_npy(self.read("q.npy"))[3])[:4], (448.0, 448.0, -448.0, 0.3125))

    def test_scaled(self):
        """A preset of a scaled tensor is that tensor with its mode."""
        data = os.path.join(support.DATA, "digits_weights.npy")
        self.ok("quantize", "-f", "mx.mxfp4", "--codes", data, self.path("a.npy"))
        self.ok("quantize", "-f", "mxfp4", "-r", "rna", "--codes", data, self.path("b.npy"))
        for name in ("%s.npy", "%s.scales.npy"):
            self.assertEqual(self.read(name % "a"), self.read(name % "b"))
        self.bad("encode", "-f", "mx.mxfp4", stdin="1\n", says="is for arrays")

    def test_steps(self):
        """Presets with steps before their scaled tensor, or with codes of their own."""
        self.write("x.npy", support.npy("<f4", (1, 4), support.floats([1.9921875, 1.2421875, 0.0390625, -0.001953125], "<f")))
        for preset, codes, scale in (("tt.bfp8.packer", "40280100", "80"), ("tt.bfp4.packer", "04020000", "80"), ("tt.bfp8.host", "7f500200", "7f")):
            self.ok("encode", "-f", preset, self.path("x.npy"), self.path("z.npy"))
            self.assertEqual(support.parse_npy(self.read("z.npy"))[3].hex(), codes, preset)
            self.assertEqual(support.parse_npy(self.read("z.scales.npy"))[3].hex(), scale, preset)
            self.ok("quantize", "-f", preset, self.path("x.npy"), self.path("v.npy"))
            self.ok("decode", "-f", preset, self.path("z.npy"), self.path("w.npy"))
            self.assertEqual(self.read("v.npy"), self.read("w.npy"))
        card = self.ok("presets", "tt.bfp4.packer")
        for text in ("rounded into fp(8,6,0)", "through", "scaled tensor"):
            self.assertIn(text, card)
        self.assertIn("the largest binary32 number", self.ok("presets", "te.nvfp4.reference"))

    def test_paths(self):
        """A chain of roundings (docs/paths.md), and how many numbers it brings to another code than one rounding."""
        x = [1.0625 + 2.0**-23, 1.0625 + 2.0**-9, 1.1875 - 2.0**-12, 1.0, float("nan")]
        self.write("x.npy", support.npy("<f4", (5,), support.floats(x, "<f")))
        rows = (("path(binary32,float8_e4m3fn)", "393939387f", 0), ("path(bfloat16,float8_e4m3fn)", "38383a387f", 3),
                ("path(binary16,float8_e4m3fn)", "38393a387f", 2), ("path(binary16:rtz,float8_e4m3fn)", "383939387f", 1),
                ("path(binary16:rtz,bfloat16:rto,float8_e4m3fn)", "383939387f", 1))
        for path, codes, twice in rows:
            self.ok("encode", "-f", path, self.path("x.npy"), self.path("z.npy"))
            self.assertEqual(support.parse_npy(self.read("z.npy"))[3].hex(), codes, path)
            lines = self.ok("encode", "-f", path, stdin="\n".join(v.hex() if v == v else "nan" for v in x) + "\n")
            self.assertEqual(lines.replace("\n", ""), codes, path)
            said = json.loads(self.ok("quantize", "--json", "-f", path, self.path("x.npy"), self.path("v.npy")))
            self.assertEqual(said["rounded_twice"], twice, path)
            self.ok("decode", "-f", path, self.path("z.npy"), self.path("w.npy"))
            self.assertEqual(self.read("v.npy"), self.read("w.npy"))
        asked = [word for row in rows for word in ("-f", row[0])] + ["-f", "float8_e4m3fn", self.path("x.npy")]
        columns = json.loads(self.ok("compare", "--json", *asked))["formats"]
        self.assertEqual([c.get("rounded_twice") for c in columns], [row[2] for row in rows] + [None])
        self.assertEqual([c["tensors"][0].get("rounded_twice") for c in columns], [row[2] for row in rows] + [None])
        text = self.ok("compare", *asked)
        (line,) = [line for line in text.split("\n") if "not as rounded once" in line]
        self.assertEqual(line.split()[4:], [str(row[2]) for row in rows] + ["0"])
        self.assertNotIn("rounded once", self.ok("compare", "-f", "binary16", *asked[-3:]))
        said = self.ok("explain", "-f", rows[4][0], x[0].hex())
        for text in ("becomes first      0x1.1p+0", "0x38 = 0x1p+0", "rounded once       0x39 = 0x1.2p+0 = 1.125: the roundings"):
            self.assertIn(text, said)
        self.assertIn("and then           0x1.12p+0", self.ok("explain", "-f", "path(binary16,bfloat16:rto,float8_e4m3fn)", "0x1.11p0"))
        shown = json.loads(self.ok("explain", "--json", "-f", rows[1][0], x[2].hex()))
        self.assertEqual((shown["operand"], shown["results"][0]["code"]), (1.1875, "0x3a"))
        self.assertEqual((shown["once"]["code"], shown["once"]["differs"]), ("0x39", True))
        self.assertFalse(json.loads(self.ok("explain", "--json", "-f", rows[1][0], "1"))["once"]["differs"])
        self.assertIn("into binary16, rtz; into bfloat16, rto", self.ok("presets", rows[4][0]))
        for text, says in (("path(binary16", "something is missing at the end"), ("path(bfloat17,binary16)", "format 'bfloat17': no such name"),
                           ("path(binary16:sra:8,bfloat16)", "'binary16:sra:8' is stochastic"), ("path(binary16:rt,bfloat16)", "from character 15 on"),
                           ("path(binary16,mxfp4)", "format 'mxfp4': a scaled format")):
            self.bad("encode", "-f", text, "1", says=says)
        self.bad("encode", "-f", rows[0][0], "-r", "rtz", "1", says="do not go with the preset")

    def test_bias(self):
        lines = "1.125 7f\n1.125 80\n-1e5 0\n"
        for preset, codes in (("intel.vcvtbiasph2bf8", "3c 3d fc"), ("intel.vcvtbiasph2bf8s", "3c 3d fb"), ("intel.vcvtbiasph2hf8", "39 39 ff")):
            self.assertEqual(self.ok("encode", "-f", preset, "--words", stdin=lines).split(), codes.split(), preset)
        self.assertEqual(self.ok("encode", "-f", "intel.vcvtph2hf8", stdin="1000\n"), "7f\n")

    def test_model(self):
        if os.environ["HALFULP_SAFETENSORS"] != "1":
            self.skipTest("built without jansson")
        data = os.path.join(support.DATA, "digits_weights.npy")
        self.ok("quantize", "-f", "chop.b", "--codes", data, self.path("w.safetensors"))
        self.ok("decode", self.path("w.safetensors"), self.path("w.npy"))
        self.ok("quantize", "-f", "chop.b", data, self.path("v.npy"))
        self.assertEqual(self.read("w.npy"), self.read("v.npy"))

    def test_explain(self):
        said = self.ok("explain", "-f", "torch.bfloat16", "0x1.0100000001p+0")
        self.assertIn("becomes first      0x1.01p+0", said)
        self.assertIn("0x3f80 = 0x1p+0", said)
        shown = json.loads(self.ok("explain", "-f", "cuda.fp8_e8m0.rp.nosat", "--json", "--", "-3"))
        self.assertEqual((shown["operand"], shown["results"][0]["code"]), (3, "0x81"))
        self.assertIn("0x8 = -0x0p+0", self.ok("explain", "-f", "ml_dtypes.float4_e2m1fn", "nan"))
        self.assertIn("NaN: as the preset says", self.ok("explain", "-f", "ml_dtypes.float8_e8m0fnu", "0"))

    def test_wrong(self):
        data = os.path.join(support.DATA, "digits_weights.npy")
        out = self.path("z.npy")
        for command in ("encode", "quantize"):
            self.bad(command, "-f", "cuda.nothing", data, out, says="preset 'cuda.nothing': no such name")
            self.bad(command, "-f", "cuda.half.rn", "-r", "rtz", data, out, says="do not go with the preset 'cuda.half.rn'")
            self.bad(command, "-f", "cuda.half.rn", "-s", "none", data, out, says="do not go with the preset")
            self.bad(command, "-f", "torch.bfloat16", "--amax", "1", data, out, says="--amax")
        self.bad("encode", "-f", "cuda.half.rn", "-r", "rtz", stdin="1\n", says="do not go with the preset")
        self.bad("explain", "-f", "cuda.half.rn", "-r", "rtz", "1", says="do not go with the preset")
        self.bad("explain", "-f", "cuda.half.rn", "-r", "rne", "-r", "rtz", "1", says="do not go with the preset")
        self.bad("explain", "-f", "cuda.half.rn", "-r", "all", "1", says="do not go with the preset")
        self.bad("explain", "-f", "torch.bfloat16", "-f", "binary16", "1", says="given twice, 'torch.bfloat16' and 'binary16'")
        self.bad("explain", "-f", "cuda.half", "1", says="no such name")
        self.bad("explain", "-f", "te.nvfp4", "1", says="is for arrays")
        self.bad("encode", "-f", "nobody.half", stdin="1\n", says="format 'nobody.half'")
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    support.main()
