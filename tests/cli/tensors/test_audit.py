# SPDX-License-Identifier: MIT
"""`halfulp audit`: pairs that differ in one planted rule, and the rule that is found has to be the planted one."""

import json
import math
import random
import re
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
import writing_model  # noqa: E402
from support import floats, parse_safetensors, safetensors  # noqa: E402
from test_gguf import F32, gguf, parse  # noqa: E402
from test_report import Balanced  # noqa: E402

MX = "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=%s)"
NV = "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=%s)"
DS = "scaled(float8_e4m3fn;scale=binary32;block=1x128;rule=ratio;%s)"


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bf16(x):
    """The numbers of bfloat16, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16))[0]


def numbers(seed, count, digits=None):
    """Values of normal blocks: with few digits, so that ties occur, and where `digits` is None with all."""
    rng = random.Random(seed)
    values = []
    for i in range(count):
        x = rng.gauss(0, 1) * 2.0 ** (i // 256 % 5 - 4)
        values.append(f32(x) if digits is None else round(x * 2.0**digits) / 2.0**digits)
    return values


class Audit(support.Case):
    def model(self, name, values, shape=None, tensor="layer.weight", dtype="F32"):
        shape = shape or (len(values) // 128, 128)
        data = floats(values) if dtype == "F32" else b"".join(struct.pack("<f", v)[2:] for v in values)
        return self.write(name, safetensors([(tensor, dtype, shape, data)]))

    def codes(self, out, rule, source, *args):
        words = rule.split(" -r ")
        more = ["-r", words[1]] if len(words) > 1 else []
        self.ok("quantize", "-q", "--codes", "-f", words[0], *more, *args, source, self.path(out))
        return self.path(out)

    def audit(self, *args, code=1):
        text = self.ok("audit", "--json", *args, code=code)
        self.check_numbers(text)
        found = json.loads(text)
        self.assertEqual(found["holds"], code == 0)
        return found

    def pair(self, *args, code=1):
        pairs = self.audit(*args, code=code)["pairs"]
        self.assertEqual(len(pairs), 1)
        return pairs[0]

    def parted(self, a, b, values, part):
        """Quantizes by two rules; they part on `part`, and both are among the rules that each side follows."""
        source = self.model("s.safetensors", values)
        found = self.pair("--source", source, self.codes("a.safetensors", a, source), self.codes("b.safetensors", b, source))
        self.assertEqual(found["verdict"], "parted", (a, b, found["says"]))
        self.assertEqual(found["part"], part, (a, b))
        for side, rule in (("a", a), ("b", b)):
            names = [r[key] for r in found[side]["rules"] for key in ("rule", "text")]
            self.assertIn(rule, names)
        self.assertGreater(found["codes"]["differ"] + found["scales"]["differ"], 0)
        block = found["block"]
        self.assertTrue(block["values"])
        one, two = block["sides"]
        self.assertNotEqual((one["scale"], one["codes"], one["second"]), (two["scale"], two["codes"], two["second"]))
        return found

    # ---- one rule is another ----

    def test_formulas(self):
        what = "formula of the scale: %s, %s"
        values = numbers(1, 4096)
        for a, b in (("floor", "ceil"), ("floor", "even"), ("floor", "rceil"), ("ceil", "even"), ("rceil", "even")):
            found = self.parted(MX % a, MX % b, values, what % (a, b))
            self.assertEqual(len(found["block"]["values"]), 1)

    def test_rounding_of_elements(self):
        ties = numbers(2, 4096, digits=4)
        for mode in ("rna", "rnz", "rtz"):
            self.parted(MX % "floor", MX % "floor" + " -r " + mode, ties, "rounding of elements: rne, " + mode)

    def test_steps(self):
        for a, b in (("divide", "multiply"), ("multiply", "encode"), ("divide", "encode")):
            self.parted(DS % ("steps=%s;zero=one" % a), DS % ("steps=%s;zero=one" % b), numbers(3, 32768, digits=8),
                        "steps of binary32, by reciprocals or divisions: %s, %s" % (a, b))
        # Numbers that tell programs apart: an amax of the tensor, one of a block, an element.
        triples = {("multiply", "encode"): (1.53125, 1.3671875, 0.1640625), ("multiply", "divide"): (1.03125, 0.6640625, 0.38671875)}
        names = {"multiply": "nvfp4", "encode": "nvfp4_te", "divide": "nvfp4_torchao"}
        for (a, b), (most, amax, x) in triples.items():
            values = [v / 16 for v in numbers(5, 4096, digits=5)]
            values[0], values[16:18] = most, (amax, x)
            found = self.parted(names[a], names[b], values, "steps of binary32, by reciprocals or divisions: %s, %s" % (a, b))
            self.assertEqual(found["block"]["amax"], most)

    def test_rounding_of_scales(self):
        """Scales are positive: raz is rtp, and rtn is rtz."""
        for mode in ("raz", "rtn"):
            self.parted(NV % "ratio", NV % ("ratio;round=" + mode), numbers(4, 4096), "rounding of the scale: rne, " + mode)

    def test_rare_blocks(self):
        """Blocks of zeros, a bound of the amax, infinities: what decides about few blocks."""
        values = numbers(6, 4096)
        zeros = list(values)
        zeros[128:256] = [0.0] * 128
        for a, b in (("low", "one"), ("one", "zero")):
            text = [DS % "steps=divide" if word == "low" else DS % ("steps=divide;zero=" + word) for word in (a, b)]
            self.parted(*text, zeros, "scale of a block of zeros: %s, %s" % (a, b))
        small = list(values)
        small[256:384] = [x * 2.0**-40 for x in small[256:384]]
        self.parted(DS % "steps=divide;zero=one", DS % "steps=divide;zero=one;amin=0x2edbe6ff", small, "bound of the amax: none, 0x2edbe6ff")
        special = list(values)
        special[700] = float("inf")
        self.parted(MX % "floor", MX % "floor;special=element", special, "infinities and NaN: nan, element")

    def test_values_rounded_before(self):
        values = numbers(7, 4096)
        source = self.model("s.safetensors", values)
        rounded = self.model("r.safetensors", [bf16(x) for x in values])
        direct, late = self.codes("a.safetensors", "nvfp4", source), self.codes("b.safetensors", "nvfp4", rounded)
        found = self.pair("--source", source, direct, late)
        self.assertEqual((found["verdict"], found["part"]),
                         ("parted", "rounding of the values before: none, bfloat16"))
        self.assertIn("nvfp4 after bfloat16", [r["rule"] for r in found["b"]["rules"]])
        plain = self.model("p.safetensors", [bf16(x) for x in values], dtype="BF16")
        found = self.pair(source, plain, code=0)
        self.assertEqual((found["verdict"], found["part"], found["from"]), ("made", "rounded into BF16", "a"))

    def test_amax_of_others(self):
        source = self.model("s.safetensors", numbers(8, 4096))
        own = self.codes("a.safetensors", "nvfp4", source)
        found = self.pair(source, self.codes("b.safetensors", "nvfp4", source, "--amax", "7.25"), code=0)
        self.assertEqual(found["verdict"], "made")
        self.assertAlmostEqual(found["b"]["given_amax"], 7.25, places=5)
        found = self.pair("--source", source, own, self.path("b.safetensors"))
        self.assertEqual((found["verdict"], found["part"]),
                         ("parted", "amax of the second level: its own, another tensor's"))

    def test_quantized_again(self):
        """Values that were codes of another format before: the rule from the first codes to the second is found."""
        source = self.model("s.safetensors", numbers(9, 4096))
        first = self.codes("a.safetensors", MX % "floor", source)
        self.ok("decode", first, self.path("values.safetensors"))
        second = self.codes("b.safetensors", MX % "ceil", self.path("values.safetensors"))
        found = self.pair(first, second, code=0)
        self.assertEqual((found["verdict"], found["from"]), ("made", "a"))
        self.assertIn(MX % "ceil", [r["text"] for r in found["b"]["rules"]])

    def test_not_a_rule(self):
        """Codes that no rule makes: the nearest one, how far it is, and where it fails first."""
        source = self.model("s.safetensors", numbers(10, 4096))
        path = self.codes("a.safetensors", "nvfp4", source)
        tensors, metadata, order = parse_safetensors(self.read("a.safetensors"))
        kind, shape, data = tensors["layer.weight.codes"]
        wrong = bytearray(data)
        wrong[16 * 64 + 5] ^= 7
        tensors["layer.weight.codes"] = (kind, shape, bytes(wrong))
        self.write("b.safetensors", safetensors([(n, *tensors[n]) for n in order], metadata))
        found = self.pair(source, self.path("b.safetensors"))
        self.assertEqual((found["verdict"], found["b"]["rules"]), ("different", []))
        self.assertEqual((found["b"]["nearest"]["codes"], found["b"]["nearest"]["scales"]), (1, 0))
        self.assertEqual(found["block"]["block"], [16, 0])
        self.assertIn("nearest is nvfp4", self.ok("audit", source, self.path("b.safetensors"), code=1))
        found = self.pair(path, self.path("b.safetensors"))
        self.assertEqual((found["verdict"], found["codes"], found["block"]["block"]),
                         ("different", {"differ": 1, "of": 4096}, [16, 0]))

    # ---- which rules ----

    def test_every_named_rule(self):
        """Of every scaled format of the tables, and preset of one, the name is among the rules found."""
        source = self.model("s.safetensors", numbers(11, 8 * 128, digits=7))
        names = [line.split()[0] for line in self.ok("formats", "--scaled").splitlines() if line and line[0] != " "]
        names += ["te.nvfp4", "torchao.nvfp4", "ggml.mxfp4", "mx.mxfp8_e4m3", "te.mxfp8_e4m3", "ocp.mxfp6_e2m3"]
        tried = 0
        for name in names:
            r = support.run("quantize", "-q", "--codes", "-f", name, source, self.path("c.safetensors"))
            if r.returncode or name.startswith(("hbfp12", "hifloat4", "s2fp8")):
                continue
            if name == "ggml.mxfp4" and b"ggml" not in self.read("c.safetensors"):
                continue
            found = self.audit("--which", "--source", source, self.path("c.safetensors"), code=0)
            self.assertIn(name, found["rules"])
            tried += 1
        self.assertGreater(tried, 25)

    def test_which_of_several(self):
        """The rules of a model are those of all its tensors."""
        tensors = [("a.weight", "F32", (4, 32), floats([1.0] * 128)), ("b.weight", "F32", (4, 32), floats(numbers(12, 128)))]
        source = self.write("s.safetensors", safetensors(tensors))
        path = self.codes("c.safetensors", MX % "rceil", source)
        found = self.audit("--which", "--source", source, path, code=0)
        self.assertIn(MX % "rceil", found["rules"])
        self.assertNotIn("mxfp4", found["rules"])
        self.assertIn("mxfp4", [r["rule"] for r in found["pairs"][0]["b"]["rules"]])

    def test_rules_of_folders(self):
        """Of a folder of each target, from weights of each dtype, the rule is found by which it was written."""
        plain = {"f8-e4m3": "torch.float8_e4m3fn", "f8-e5m2": "torch.float8_e5m2"}
        for target in (*writing_model.TARGETS, *plain, "bf16", "f16"):
            rows, cols = (130, 140) if target in ("ct-fp8-block", "hf-fp8") else (8, 256)
            for i, dtype in enumerate(writing_model.DTYPES):
                weights = writing_model.data(dtype, writing_model.numbers(dtype, rows, cols))
                source = self.write("s.safetensors", safetensors([("layer.weight", dtype, (rows, cols), weights)]))
                out = self.path("%s-%s" % (target, dtype))
                self.ok("quantize", "-q", "--layout", target, "--include", "*", source, out)
                found = self.audit("--which", "--source", source, out, code=0)
                with self.subTest(target, dtype=dtype):
                    if target in ("bf16", "f16"):
                        self.assertEqual(found["pairs"][0]["part"], "rounded into " + target.upper() if dtype == "F32" else "")
                    else:
                        self.assertIn(plain.get(target) or writing_model.RULES[target][i], found["rules"])

    def test_wrong_integers(self):
        """A code, a scale or a bias of integers that the rule does not make."""
        source = self.model("s.safetensors", numbers(20, 2048), (8, 256))
        for target, name in (("ct-int4", "weight_packed"), ("ct-int4", "weight_scale"), ("mlx-affine", "weight"), ("mlx-affine", "scales"),
                             ("mlx-affine", "biases")):
            out = self.path("%s-%s" % (target, name))
            self.ok("quantize", "-q", "--layout", target, source, out)
            file = out + "/model.safetensors"
            tensors, metadata, order = parse_safetensors(self.read(file))
            kind, shape, data = tensors["layer." + name]
            tensors["layer." + name] = (kind, shape, data[:8] + bytes([data[8] ^ 1]) + data[9:])
            right = self.pair(source, out, code=0)
            self.write(file, safetensors([(n, *tensors[n]) for n in order], metadata))
            found = self.pair(source, out)
            self.assertEqual((right["verdict"], found["verdict"]), ("made", "different"), (target, name))

    def test_zero_points(self):
        """Equal codes under other zero points are not equal."""
        paths = []
        for i in (0, 1):
            paths.append(self.write("g%d.safetensors" % i, safetensors([
                ("l.qweight", "I32", (16, 8), bytes(i * 37 % 256 for i in range(512))), ("l.qzeros", "I32", (1, 1), bytes([0x77 - i] * 4)),
                ("l.scales", "F16", (1, 8), b"\x66\x2e" * 8), ("l.g_idx", "I32", (128,), bytes(512))])))
        self.assertEqual(self.pair(paths[0], paths[0], code=0)["verdict"], "equal")
        self.assertEqual(self.pair(*paths)["verdict"], "different")

    # ---- layouts ----

    def parts(self, rule, source):
        self.codes("parts.safetensors", rule, source)
        tensors = parse_safetensors(self.read("parts.safetensors"))[0]
        return {name.rsplit(".", 1)[1]: data for name, (_, _, data) in tensors.items()}

    def modelopt(self, name, codes, scales, second, rows=128, cols=128):
        self.write("hf_quant_config.json", b'{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}}')
        return self.write(name, safetensors([
            ("layer.weight", "U8", (rows, cols // 2), codes), ("layer.weight_scale", "F8_E4M3", (rows, cols // 16), scales),
            ("layer.weight_scale_2", "F32", (), second)]))

    def test_orders(self):
        """The halves of bytes exchanged, scales in tiles, scales by columns: with a source, and of two sides alone."""
        source = self.model("s.safetensors", numbers(13, 128 * 128), (128, 128))
        parts = self.parts("nvfp4", source)
        codes, scales, second = parts["codes"], parts["scales"], parts["tensor"]
        right = self.modelopt("right.safetensors", codes, scales, second)
        self.assertEqual(self.pair(source, right, code=0)["verdict"], "made")
        turned = bytes(c >> 4 | (c & 15) << 4 for c in codes)
        tiled = bytearray(1024)
        for r in range(128):
            for c in range(8):
                tiled[c // 4 * 512 + r % 32 * 16 + r // 32 * 4 + c % 4] = scales[r * 8 + c]
        columns = bytes(scales[r * 8 + c] for c in range(8) for r in range(128))
        for wrong, order in ((self.modelopt("n.safetensors", turned, scales, second), "the two codes of a byte exchanged"),
                             (self.modelopt("t.safetensors", codes, bytes(tiled), second),
                              "scales in tiles of 128 x 4, read as rows"),
                             (self.modelopt("c.safetensors", codes, columns, second), "scales stored column by column")):
            for args in ((source, wrong), (right, wrong)):
                found = self.pair(*args)
                self.assertEqual((found["verdict"], found["part"]), ("rearranged", order))

    def test_same_in_another_layout(self):
        """The numbers of a tensor under ModelOpt's names, ComfyUI's and compressed-tensors': equal."""
        source = self.model("s.safetensors", numbers(14, 128 * 128), (128, 128))
        parts = self.parts("nvfp4", source)
        one = self.modelopt("m.safetensors", parts["codes"], parts["scales"], parts["tensor"])
        divisor = struct.pack("<f", 1 / struct.unpack("<f", parts["tensor"])[0])
        two = self.write("c.safetensors", safetensors([
            ("layer.weight_packed", "U8", (128, 64), parts["codes"]),
            ("layer.weight_scale", "F8_E4M3", (128, 8), parts["scales"]),
            ("layer.weight_global_scale", "F32", (1,), divisor)]))
        found = self.pair(one, two, code=0)
        self.assertEqual(found["verdict"], "equal")
        self.assertEqual(self.pair(one, self.path("parts.safetensors"), code=0)["verdict"], "equal")
        self.assertEqual(self.pair(source, two, code=0)["verdict"], "made")

    def test_fp8_folder_to_nvfp4(self):
        """From FP8 with scales of blocks to NVFP4: B is made of A's values."""
        rng = random.Random(15)
        codes = bytes(rng.randrange(127) | rng.randrange(2) << 7 for _ in range(64 * 160))
        scales = floats([0.01, 0.03])
        path = self.write("a.safetensors", safetensors([
            ("layer.weight", "F8_E4M3", (64, 160), codes), ("layer.weight_scale_inv", "F32", (1, 2), scales),
            ("layer.bias", "F32", (3,), floats([1, 2, 3]))]))
        self.ok("quantize", "-q", "--codes", "-f", "nvfp4", path, self.path("b.safetensors"))
        found = self.audit(path, self.path("b.safetensors"), code=0)
        verdicts = {p["name"]: p["verdict"] for p in found["pairs"]}
        self.assertEqual(verdicts, {"layer.weight": "made", "layer.bias": "equal"})
        self.assertIn("nvfp4", [r["rule"] for r in found["pairs"][1]["b"]["rules"]])

    # ---- the error ----

    def test_causes(self):
        """The parts of the noise, from the page's definitions in exact arithmetic."""
        values = numbers(16, 256)
        values[5] = 2.0**-30
        values[40] = f32(7.9 * max(abs(x) for x in values[32:64]))
        source = self.model("s.safetensors", values, (2, 128))
        path = self.codes("b.safetensors", "mxfp4", source)
        self.ok("decode", path, self.path("v.safetensors"))
        after = struct.unpack("<256f", parse_safetensors(self.read("v.safetensors"))[0]["layer.weight"][2])
        noise = scale = dead = saturated = grid = 0.0
        for k in range(0, 256, 32):
            x, v = values[k : k + 32], after[k : k + 32]
            c = sum(a * b for a, b in zip(x, v)) / sum(b * b for b in v)
            most = 6 * 2.0 ** (math.frexp(max(map(abs, x)))[1] - 3)
            before = sum((b - a) ** 2 for a, b in zip(x, v))
            rest = [(c * b - a) ** 2 for a, b in zip(x, v)]
            noise += before
            scale += before - sum(rest)
            for a, b, e in zip(x, v, rest):
                if a and not b:
                    dead += e
                elif abs(a) > most:
                    saturated += e
                else:
                    grid += e
        found = self.pair(source, path, code=0)["b"]["causes"]
        for name, part in (("scale_share", scale), ("dead_share", dead), ("saturated_share", saturated), ("grid_share", grid)):
            self.assertAlmostEqual(found[name], part / noise, places=9)
            self.assertGreater(part, 0)
        self.assertAlmostEqual(found["bias"], sum(b - a for a, b in zip(values, after)) / 256, places=12)
        self.assertEqual(sum(found["blocks_by_sqnr"]), found["blocks"])
        self.assertEqual(found["blocks"], 8)

    # ---- what it prints, and what it refuses ----

    def test_page(self):
        source = self.model("s.safetensors", numbers(17, 4096), tensor='<b>"&')
        a, b = self.codes("a.safetensors", "mxfp4", source), self.codes("b.safetensors", MX % "rceil", source)
        text = self.ok("audit", "--source", source, "--report", self.path("r.html"), a, b, code=1)
        self.assertIn("parts on the formula of the scale: floor, rceil (A follows mxfp4, B " + MX % "rceil", text)
        page = self.read("r.html").decode()
        parser = Balanced()
        parser.feed(page)
        parser.close()
        self.assertEqual((parser.open, parser.fetches), ([], []))
        self.assertIn("parted", page)
        self.assertNotIn('<b>"&', page)
        self.assertTrue(text.endswith("1 tensor: 1 parted\n"))
        # Each side has a drawing of its own, with all of its blocks.
        found = json.loads(self.ok("audit", "--json", "--source", source, a, b, code=1))["pairs"][0]
        for side in "ab":
            drawing = page[page.index("Blocks of %s by their SQNR" % side.upper()):]
            counts = [int(n) for n in re.findall(r">(\d+)</text>", drawing[:drawing.index("</svg>")])]
            self.assertEqual(counts, found[side]["causes"]["blocks_by_sqnr"])
        self.ok("audit", "--report", self.path("r.html"), a, a)
        self.assertIn("<details><summary>1 equal</summary>", self.read("r.html").decode())

    def test_arrays(self):
        values = self.put("x.npy", numbers(18, 640), (10, 64))
        for name, rule in (("a.npy", "nvfp4"), ("b.npy", "mxfp4")):
            self.ok("quantize", "-q", "--codes", "-f", rule, values, self.path(name))
        self.assertEqual(self.pair("-f", "nvfp4", values, self.path("a.npy"), code=0)["verdict"], "made")
        found = self.pair("-f", "nvfp4", "-f", "mxfp4", self.path("a.npy"), self.path("b.npy"))
        self.assertEqual((found["verdict"], found["part"]), ("formats", "second level: blocks of 1 x 16, 1 x 32"))
        self.assertEqual(self.pair(values, values, code=0)["verdict"], "equal")

    def test_lone(self):
        a = self.write("a.safetensors", safetensors([("x", "F32", (2,), floats([1, 2])), ("y", "F32", (1,), floats([1]))]))
        b = self.write("b.safetensors", safetensors([("x", "F32", (2,), floats([1, 3])), ("z", "F32", (1,), floats([1]))]))
        found = self.audit(a, b)
        self.assertEqual([(p["name"], p["verdict"]) for p in found["pairs"]],
                         [("x", "different"), ("y", "alone"), ("z", "alone")])
        self.assertEqual([p["name"] for p in self.audit("--include", "[xy]", "--exclude", "x", a, a, code=0)["pairs"]], ["y"])

    def test_blocks_of_gguf(self):
        """MXFP4 and NVFP4 of GGUF are codes and scales that rules make, with NAME.scale too; other blocks are values."""
        values = numbers(24, 8192)
        x = self.write("x.gguf", gguf([("layer.weight", (64, 128), F32, floats(values))]))
        source = self.model("s.safetensors", values)
        for rule in ("ggml.mxfp4", "mxfp4", "ggml.nvfp4"):
            blocks = self.codes("b.gguf", rule, x)
            for args in ((blocks, source), (blocks, x), ("--which", "--source", source, blocks)):
                found = self.pair(*args, code=0)
                self.assertEqual(found["verdict"], "made")
                self.assertIn(rule, [r["rule"] for side in "ab" if side in found for r in found[side].get("rules", ())])
            self.assertEqual(self.pair(blocks, self.codes("c.safetensors", rule, source), code=0)["verdict"], "equal")
        shape, kind, content = parse(self.read("b.gguf"))[0]["layer.weight"]
        two = self.write("t.gguf", gguf([("layer.weight", shape, kind, content), ("layer.scale", (1,), F32, floats([0.5]))]))
        found = self.pair("--source", source, "--include", "layer.weight", self.path("b.gguf"), two)
        self.assertEqual(found["verdict"], "formats", found)
        self.assertEqual(self.pair(self.codes("q.gguf", "ggml.q8_0", x), source)["verdict"], "different")

    def test_no_tensors(self):
        """A model without tensors, on each side."""
        z, a = self.write("z.safetensors", safetensors([])), self.model("a.safetensors", numbers(23, 256))
        self.bad("audit", z, z, says=("z.safetensors", "no tensor"))
        for args in ((a, z), (z, a), ("--which", z, "--source", a)):
            self.assertEqual([p["verdict"] for p in self.audit(*args)["pairs"]], ["alone"])
        self.assertEqual(self.pair("--source", z, a, a, code=0)["verdict"], "equal")

    def test_wrong_use(self):
        a = self.write("a.safetensors", safetensors([("x", "F32", (2,), floats([1, 2]))]))
        x = self.put("x.npy", [1.0, 2.0], code="<d")
        y = self.put("y.npy", [0.1, 0.2], code="<d")
        for args, says in ((("audit", a), "requires A B"), (("audit", "--which", a), "--source"),
                           (("audit", a, self.path("none")), "none"), (("audit", a, self.write("b.safetensors", b"x")), "b.safetensors"),
                           (("audit", a, self.path("m.gguf")), "gguf"), (("audit", "--exclude", "*", a, a), "no tensor"),
                           (("audit", "--report", a, a, a), "--report"), (("audit", "-f", "nonsense", a, a), "nonsense"),
                           (("audit", x, y), "y.npy")):
            self.bad(*args, says=says)
        self.codes("c.safetensors", "nvfp4", self.model("s.safetensors", numbers(19, 4096)))
        tensors, metadata, order = parse_safetensors(self.read("c.safetensors"))
        cut = [(n, *tensors[n]) for n in order if not n.endswith(".scales")]
        self.bad("audit", a, self.write("d.safetensors", safetensors(cut, metadata)), says=("d.safetensors", "layer.weight.scales"))


class Quantizers(support.Case):
    """`identify` for quantizers."""

    def differ(self, a, b, code=1):
        text = self.ok("identify", "--json", "--distinguish", a, b, code=code)
        return json.loads(text)

    def test_shortest(self):
        for a, b, n in (("nvfp4", "nvfp4_te", 1), (MX % "floor", MX % "rceil", 1), (MX % "floor", MX % "ceil", 1),
                        (DS % "steps=divide", DS % "steps=multiply", 1), ("mxfp4", "mxfp4 -r rnz", 1)):
            found = self.differ(a, b)
            self.assertTrue(found["differ"])
            self.assertEqual(len(found["block"]["values"]), n, (a, b))

    def test_shown_block_is_true(self):
        """What is said of the block is what `quantize` makes of it."""
        for a, b in ((MX % "even", MX % "rceil"), ("mxfp8_e4m3", "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule=ceil)")):
            block = self.differ(a, b)["block"]
            x = self.put("x.npy", block["values"], (1, len(block["values"])))
            for rule, side in zip((a, b), block["sides"]):
                self.ok("quantize", "-q", "--codes", "-f", rule, x, self.path("c.npy"))
                self.assertEqual(list(support.parse_npy(self.read("c.npy"))[3]), side["codes"])
                self.assertEqual(list(support.parse_npy(self.read("c.scales.npy"))[3]), [side["scale_code"]])

    def test_proved_equal(self):
        for a, b in ((MX % "rceil", MX % "ratio;round=rtp"), (MX % "rceil", MX % "ratio;round=raz"),
                     ("mxfp4", "ocp.mxfp4")):
            found = self.differ(a, b, code=0)
            self.assertEqual((found["differ"], found["proof"]), (False, True))
        self.assertIn("equal", self.ok("identify", "--distinguish", "mxfp4", "ocp.mxfp4"))

    def test_proved_formulas(self):
        """Rules of programs by one level, whose scales and elements keep the order: proved; those that do not: drawn."""
        up, down = MX % "%s", "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;%s)"
        for a, b in (("te.mxfp8", "torchao.mxfp8.rceil"), (up % "floor", down % "s=down(A)/4;x=x/s"),
                     ("aiter.mxfp4", down % "amin=0x2edbe6ff;s=up(A/6);x=x*(1/s)"), (down % "s=up(A/6);x=1/(1/x)/s", down % "s=up(A/6);x=1/(1/x)/s*1")):
            found = self.differ(a, b, code=0)
            self.assertEqual((found["differ"], found["proof"]), (False, True), (a, b))
        self.assertTrue(self.differ("mlx.mxfp4.gpu", "triton_kernels.mxfp4.down")["differ"])
        self.assertTrue(self.differ("quark.mxfp4.even", up % "even")["differ"])  # from 1.75 2^127 on
        for a, b in (("x*(1*6/A)", "x*(6/A)"), ("x*or(x,1)", "x*or(x,1)*1")):
            rules = [down % ("s=up(A/6);x=" + x) for x in (a, b)]
            self.assertIn("no proof", self.ok("identify", "--tries", "1000", "--distinguish", *rules))

    def test_drawn(self):
        text = self.ok("identify", "--tries", "1000", "--distinguish", "nvfp4_te",
                       "scaled(float4_e2m1fn;scale=float8_e4m3fn;block=1x16;rule=ratio;steps=encode;tensor;zero=zero)", code=1)
        self.assertIn("format of the scales", text)
        one = "scaled(float4_e2m1fn;scale=binary32;block=1x16;rule=ratio;steps=%s;zero=zero)"
        text = self.ok("identify", "--tries", "1000", "--distinguish", one % "divide;amin=0x00000001", one % "divide")
        self.assertIn("no difference found", text)
        self.assertIn("no proof", text)

    def test_box(self):
        """A program is found as the rule that it follows."""
        for rule, like in ((MX % "even" + " -r rnz", "mxfp4"), ("nvfp4_te", "nvfp4"), ("nvfp4_torchao18", "nvfp4"),
                           (DS % "steps=encode;zero=one", "dsv3_1x128")):
            box = [support.HALFULP, "identify", "--quantizer", rule, "--answer"]
            found = json.loads(self.ok("identify", "--json", "--quantizer", like, "--verify", "4000", "--", *box))
            self.assertIn(rule, [r[key] for r in found["rules"] for key in ("rule", "text")])
            self.assertEqual(found["failed"], 0)
            first = found["rules"][0]["text"]
            if not first.endswith("rnz"):
                self.assertFalse(self.differ(first, rule, code=0)["differ"])

    def test_wrong_boxes(self):
        for box, says in ((["cat"], "the box answers"), (["false"], "exit status 1"), (["true"], "answered 0 of"),
                          (["/none"], "exit status 127")):
            r = support.run("identify", "--quantizer", "nvfp4", "--verify", "10", "--", *box)
            self.assertEqual(r.returncode, 2)
            self.assertIn(says, r.stderr.decode())
        self.bad("identify", "--quantizer", "nvfp4", "--timeout", "1", "--", "sleep", "9", says="within 1 seconds")
        self.bad("identify", "--quantizer", "bfloat16", "--answer", says="bfloat16")
        self.bad("identify", "--quantizer", "nvfp4", "--answer", stdin="zz\n", says="standard input:1")
        self.bad("identify", "--quantizer", "nvfp4", says="name the box")

    def test_none(self):
        """A box that follows no rule: the nearest."""
        script = self.write("box.py", b"import sys\nfor line in sys.stdin: print('7f', '0' * (len(line.split()[0]) // 8))\n")
        found = self.ok("identify", "--quantizer", "mxfp4", "--verify", "100", "--", sys.executable, script, code=1)
        self.assertIn("no known rule", found)


if __name__ == "__main__":
    support.main()
