# SPDX-License-Identifier: MIT
"""Folders for other programs, which `quantize --layout NAME MODEL OUT` and `decode MODEL OUT/` write: digests of what the programs
themselves made of the same weights (tests/compat/test_write.py compares them), numbers worked by hand, configs, files, moves of
codes, and what is refused."""

import hashlib
import json
import math
import os
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import support  # noqa: E402
import writing_model  # noqa: E402
from layout_files import e2m1, e4m3, e8m0, f32, nibbles  # noqa: E402
from support import floats, parse_safetensors, safetensors  # noqa: E402

NAME = "model.layers.0.mlp.up_proj"


def tensor(dtype, shape, values, name=NAME + ".weight"):
    return (name, dtype, shape, writing_model.data(dtype, values))


class Folders(support.Case):
    def model(self, tensors, config=None, name="in", **files):
        os.makedirs(self.path(name), exist_ok=True)
        self.write(name + "/model.safetensors", safetensors(tensors, {"format": "pt"}))
        self.write(name + "/config.json", json.dumps({"model_type": "llama", "rms_norm_eps": 1e-6} if config is None else config).encode())
        for file, text in files.items():
            self.write("%s/%s.json" % (name, file), text)
        return self.path(name)

    def written(self, target, tensors, *args, out="out", **kwargs):
        """The tensors and the config of the folder."""
        self.ok("quantize", "--layout", target, self.model(tensors, **kwargs), self.path(out), *args)
        return self.folder_of(out)

    def folder_of(self, out):
        config = json.loads(self.read(out + "/config.json"))
        return parse_safetensors(self.read(out + "/model.safetensors"))[0], config

    def refused(self, *args, says=()):
        """An error of one line, and nothing new in the folder."""
        before = sorted(os.listdir(self.folder.name))
        self.bad(*args, says=says)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)


DIGESTS = {
    "ct-fp8-tensor": "e2805cb06791baac",
    "ct-fp8-channel": "c82f3e1b5b712dd5",
    "ct-fp8-block": "0b23c22da81e00c1",
    "ct-nvfp4": "bbeb313aa3e3bb07",
    "ct-mxfp4": "7ae113e940147617",
    "ct-mxfp8": "b93adf6125eacc91",
    "ct-int4": "a92359fca9fd0975",
    "ct-int4-32": "8460978ca8770504",
    "modelopt-fp8": "0dcfa88ae0cdba04",
    "modelopt-nvfp4": "ab40be321ee37477",
    "hf-fp8": "09b20513e953b7ef",
    "gpt-oss-mxfp4": "eaca191595e3d416",
    "mlx-affine": "0ce2fa958d3c908a",
    "mlx-mxfp4": "a9c950d8700b01c0",
    "mlx-mxfp8": "726b2018bdd5731a",
    "mlx-nvfp4": "4326a5dc06df88e2",
}


class Programs(Folders):
    def test_digests(self):
        for target in writing_model.TARGETS:
            found = hashlib.sha256()
            for dtype in writing_model.DTYPES:
                rows, cols = writing_model.SHAPES.get(target, (40, 256))
                x = tensor(dtype, (rows, cols), writing_model.numbers(dtype, rows, cols))
                out = "%s-%s" % (target, dtype)
                parts = self.written(target, [x], "--include", "*.weight", out=out)[0]
                for name in sorted(parts):
                    found.update(("%s %s %s" % (name, parts[name][0], parts[name][1])).encode() + parts[name][2])
            with self.subTest(target):
                self.assertEqual(found.hexdigest()[:16], DIGESTS[target])

    def test_by_hand(self):
        """A block of 6 and its ties: scale 1, or NVFP4's 448 / 448; ties to even, or toward zero as MLX takes them."""
        block = [6, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, -0.25, -0.75, -1.25, -1.75, -2.5, -3.5, -5, -0.0]
        even = [7, 0, 2, 2, 4, 4, 6, 6, 8, 10, 10, 12, 12, 14, 14, 0]
        down = [7, 0, 1, 2, 3, 4, 5, 6, 0, 9, 10, 11, 12, 13, 14, 0]
        x = tensor("F32", (1, 32), block * 2)
        parts = self.written("ct-mxfp4", [x], out="mx")[0]
        self.assertEqual(parts[NAME + ".weight_packed"], ("U8", (1, 16), nibbles(even * 2)))
        self.assertEqual(parts[NAME + ".weight_scale"], ("U8", (1, 1), bytes([127])))
        parts = self.written("mlx-mxfp4", [x], out="mlx")[0]
        self.assertEqual(parts[NAME + ".weight"], ("U32", (1, 4), nibbles(down * 2)))
        self.assertEqual(parts[NAME + ".scales"], ("U8", (1, 1), bytes([127])))
        # (6144 + 2^-11) / 6 is one unit above 1024; the logarithm is 10 in binary32, and the scale that of 1024.
        y = tensor("F32", (1, 32), [6144 + 2.0**-11] + [1024.0] * 31)
        parts = self.written("mlx-mxfp4", [y], out="log")[0]
        self.assertEqual((parts[NAME + ".weight"][2], parts[NAME + ".scales"][2]), (nibbles([7] + [2] * 31), bytes([137])))
        # No scale of gpt-oss is below 2^-126, except that of zeros.
        y = tensor("F32", (1, 64), [6 * 2.0**-130] * 32 + [0.0] * 32)
        parts = self.written("gpt-oss-mxfp4", [y], "--include", "*", out="oss")[0]
        self.assertEqual(parts[NAME + ".weight_blocks"][2], b"\x11" * 16 + bytes(16))
        self.assertEqual(parts[NAME + ".weight_scales"], ("U8", (1, 2), bytes([1, 0])))
        parts = self.written("ct-nvfp4", [x], out="nv")[0]
        self.assertEqual(parts[NAME + ".weight_packed"], ("U8", (1, 16), nibbles(even * 2)))
        self.assertEqual(parts[NAME + ".weight_scale"], ("F8_E4M3", (1, 2), bytes([0x7E] * 2)))
        self.assertEqual(parts[NAME + ".weight_global_scale"], ("F32", (1,), floats([f32(f32(1 / 6) * 2688)])))
        x = tensor("F32", (2, 3), [448, 1, -0.5, 0, 0, 0])
        parts = self.written("hf-fp8", [x], out="hf")[0]
        self.assertEqual(parts[NAME + ".weight"], ("F8_E4M3", (2, 3), bytes([0x7E, 0x38, 0xB0, 0, 0, 0])))
        self.assertEqual(parts[NAME + ".weight_scale_inv"], ("F32", (1, 1), floats([1])))
        x = tensor("F32", (1, 64), [15 - i % 16 for i in range(64)])
        parts = self.written("mlx-affine", [x], out="affine")[0]
        self.assertEqual(parts[NAME + ".scales"], ("F32", (1, 1), floats([-1])))
        self.assertEqual(parts[NAME + ".biases"], ("F32", (1, 1), floats([15])))
        self.assertEqual(parts[NAME + ".weight"][2], nibbles([i % 16 for i in range(64)]))

    def test_scales_that_are_0(self):
        """Numbers so small that their scale underflows, and zeros of both signs: the scale, the codes of four."""
        least, half = [2.0**-149, -(2.0**-149), 0, -0.0] * 32, [2.0**-24, -(2.0**-24), 0, -0.0] * 32
        for target, dtype, values, scale, codes in (
            ("ct-fp8-tensor", "F32", least, floats([2.0**-23]), "00800000"), ("ct-fp8-block", "F16", half, b"\0\x14", "00800000"),
            ("ct-int4", "F32", least, floats([2.0**-23]), "88888888"), ("modelopt-fp8", "F32", least, floats([0]), "00800080"),
            ("modelopt-nvfp4", "F32", least, b"\x38" * 8, "80008000"), ("hf-fp8", "F32", least, floats([0]), "7efe7f7f"),
            ("mlx-nvfp4", "F32", least, bytes(8), "00000000"), ("mlx-mxfp4", "F32", least, b"\x7f" * 4, "00000000"),
            ("ct-mxfp4", "F32", [0.0] * 128, bytes(4), "00000000"), ("ct-mxfp8", "BF16", [0.0] * 128, bytes(4), "00000000"),
            ("ct-mxfp8", "F16", [0.0] * 128, b"\x7f" * 4, "00000000"),
        ):
            with self.subTest(target, dtype=dtype):
                out = target + dtype
                parts = self.written(target, [tensor(dtype, (1, 128), values)], out=out)[0]
                both = {name.rsplit(".", 1)[1]: entry[2] for name, entry in parts.items()}
                self.assertEqual(both.get("weight_packed", both.get("weight"))[:4].hex(), codes)
                self.assertEqual(next(both[k] for k in ("weight_scale", "weight_scale_inv", "scales") if k in both), scale)
        for values, says in (([3.4e38] * 32, "no finite scale"), ([], "no elements")):
            path = self.model([tensor("F32", (1, len(values)), values)])
            self.refused("quantize", "--layout", "ct-mxfp4", path, self.path("no"), says=[NAME, says])

    def test_a_rule_that_is_given(self):
        """By 'mxfp4' the scale of 7 is 1, by 'rceil' 2."""
        x = tensor("F32", (1, 32), [7.0] + [1.0] * 31)
        for rule, scale in (("mxfp4", 127), ("scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)", 128)):
            parts = self.written("gpt-oss-mxfp4", [x], "-f", rule, "--include", "*.weight", out="r%d" % scale)[0]
            self.assertEqual(parts[NAME + ".weight_scales"], ("U8", (1, 1), bytes([scale])))
            self.assertEqual(parts[NAME + ".weight_blocks"][:2], ("U8", (1, 1, 16)))
        y = tensor("F32", (1, 16), [6.0] + [1.0] * 15)
        parts = self.written("ct-nvfp4", [y], "-f", "nvfp4_te", out="te")[0]
        self.assertEqual(parts[NAME + ".weight_scale"][2], bytes([0x7E]))
        self.assertEqual(parts[NAME + ".weight_global_scale"][2], floats([f32(1 / f32(1 / 448))]))
        # The program's own rule, given by its name, gives the same folder.
        w = tensor("F32", (40, 256), writing_model.numbers("F32", 40, 256))
        for target, (rule, _, _) in writing_model.RULES.items():
            if "." in rule:
                own = self.written(target, [w], "--include", "*", out="own-" + target)[0]
                self.assertEqual(self.written(target, [w], "--include", "*", "-f", rule, out="by-" + target)[0], own, target)
        z = tensor("F32", (2, 4), [1.0, 2, 3, 448, 0.5, 0.25, 1, 2])
        parts = self.written("ct-fp8-tensor", [z], "-f", "fp8_tensor", out="t")[0]
        self.assertEqual(parts[NAME + ".weight_scale"], ("F32", (1,), floats([1])))
        self.refused("quantize", "--layout", "ct-nvfp4", "-f", "mxfp4", self.path("in"), self.path("no"),
                     says=["other elements, blocks or scales", "ct-nvfp4"])
        self.refused("quantize", "--layout", "ct-int4", "-f", "mxint8", self.path("in"), self.path("no"), says="its program's rule")
        self.refused("quantize", "--layout", "ct-nvfp4", "-f", "float8_e5m2", self.path("in"), self.path("no"), says="scaled format")


class Models(Folders):
    def setUp(self):
        super().setUp()
        numbers = writing_model.numbers("BF16", 40, 256)
        self.tensors = [
            tensor("BF16", (40, 256), numbers),
            tensor("BF16", (64, 160), numbers, "model.layers.0.self_attn.q_proj.weight"),
            tensor("BF16", (40, 256), numbers, "lm_head.weight"),
            tensor("BF16", (40, 256), numbers, "model.embed_tokens.weight"),
            tensor("BF16", (5, 2048), numbers, "model.layers.0.mlp.gate.weight"),
            tensor("BF16", (10240,), numbers, "model.norm.weight"),
            ("steps", "I64", (2,), struct.pack("<2q", 3, -4)),
        ]

    def test_which_tensors(self):
        parts, config = self.written("ct-nvfp4", self.tensors, tokenizer=b"{ }")
        low = {NAME + end for end in (".weight_packed", ".weight_scale", ".weight_global_scale")}
        self.assertTrue(low < set(parts))
        for name, *rest in self.tensors[2:]:
            self.assertEqual(parts[name], tuple(rest))
        self.assertEqual(self.read("out/tokenizer.json"), b"{ }")
        self.assertEqual((config["model_type"], config["rms_norm_eps"]), ("llama", 1e-6))
        said = config["quantization_config"]
        self.assertEqual((said["quant_method"], said["format"]), ("compressed-tensors", "nvfp4-pack-quantized"))
        self.assertEqual(set(said["ignore"]), {"lm_head", "model.embed_tokens", "model.layers.0.mlp.gate"})
        weights = said["config_groups"]["group_0"]["weights"]
        self.assertEqual((weights["num_bits"], weights["group_size"], weights["strategy"]), (4, 16, "tensor_group"))
        parts = self.written("ct-nvfp4", self.tensors, "--include", "lm*", "--exclude", "*q_proj*", out="two")[0]
        self.assertIn("lm_head.weight_packed", parts)
        self.assertNotIn(NAME + ".weight_packed", parts)
        parts, config = self.written("mlx-affine", self.tensors, out="mlx")
        self.assertEqual(parts["lm_head.weight"][0], "U32")
        self.assertEqual(parts["model.layers.0.self_attn.q_proj.weight"][:2], ("BF16", (64, 160)))  # 160 is not 64 n
        self.assertEqual(config["quantization"], {"group_size": 64, "bits": 4, "mode": "affine", "model.layers.0.mlp.gate": False,
                                                  "model.layers.0.self_attn.q_proj": False})
        self.assertEqual(config["quantization"], config["quantization_config"])

    def test_configs(self):
        config = self.written("hf-fp8", self.tensors, config={"quantization_config": {"old": 1}}, out="hf")[1]
        self.assertEqual(config["quantization_config"]["weight_block_size"], [128, 128])
        self.assertNotIn("old", config["quantization_config"])
        self.assertIn("lm_head", config["quantization_config"]["modules_to_not_convert"])
        self.assertEqual(self.written("modelopt-nvfp4", self.tensors, out="mo")[1]["quantization_config"]["quant_algo"], "W4A16_NVFP4")
        own = json.loads(self.read("mo/hf_quant_config.json"))["quantization"]
        self.assertEqual((own["quant_algo"], own["group_size"]), ("W4A16_NVFP4", 16))
        config = self.written("gpt-oss-mxfp4", self.tensors, "--include", "*up_proj*", out="oss")[1]
        self.assertEqual(config["quantization_config"]["quant_method"], "mxfp4")
        inputs = self.written("ct-fp8-channel", self.tensors, out="ch")[1]["quantization_config"]["config_groups"]["group_0"]
        self.assertEqual((inputs["weights"]["strategy"], inputs["input_activations"]["dynamic"]), ("channel", True))

    def test_activation_scales(self):
        """Scales of activations are written bit for bit, and the config says that inputs are rounded by them."""
        names = [NAME, "model.layers.0.self_attn.q_proj"]
        for target, end, shape, has in (
            ("modelopt-fp8", ".input_scale", (), ["FP8"]), ("modelopt-nvfp4", ".input_scale", (), ["NVFP4"]),
            ("ct-fp8-tensor", ".input_scale", (1,), [8, "tensor", False]), ("ct-nvfp4", ".input_global_scale", (1,), [4, "tensor_group", "local"]),
        ):
            scales = [(name + end, "F32", ((), (1,))[i], floats([0.3 + i])) for i, name in enumerate(names)]
            given = self.write("scales-%s.safetensors" % target, safetensors(scales))
            parts, config = self.written(target, self.tensors, "--activation-scales", given, out=target)
            for name, _, _, data in scales:
                self.assertEqual(parts[name], ("F32", shape, data))
            config = config["quantization_config"]
            if target.startswith("ct-"):
                inputs = config["config_groups"]["group_0"]["input_activations"]
                self.assertEqual([inputs["num_bits"], inputs["strategy"], inputs["dynamic"]], has)
            else:
                own = json.loads(self.read(target + "/hf_quant_config.json"))["quantization"]
                self.assertEqual([own["quant_algo"]], has)
                self.assertEqual([config["quant_algo"]], has)
            # A folder that has them gives them, too, beside the codes that they belong to.
            again = self.written(target, self.tensors, "--activation-scales", self.path(target), out=target + "-again")[0]
            self.assertEqual(again, parts)
        path, args = self.path("in"), ("quantize", "--layout", "modelopt-fp8", "--activation-scales")
        for tensors, says in (
            (scales[:1], [names[1], ".input_scale", "is not there"]), ([(names[0] + ".input_scale", "F32", (2,), floats([1, 1]))], "one number"),
            ([(names[0] + ".input_scale", "F16", (), b"\0\x3c")], "one number"),
            ([(names[0] + ".input_scale", "F32", (), floats([-1.0]))], "positive"),
            ([(names[0] + ".input_scale", "F32", (), floats([math.inf]))], "positive"),
        ):
            tensors = [(name.replace("input_global", "input"), *rest) for name, *rest in tensors]
            self.refused(*args, self.write("wrong.safetensors", safetensors(tensors)), path, self.path("no"), says=says)
        self.refused(*args, self.path("missing.safetensors"), path, self.path("no"), says="missing.safetensors")
        self.refused("quantize", "--layout", "hf-fp8", "--activation-scales", given, path, self.path("no"), says="hf-fp8 has no scales of activations")
        self.refused("quantize", "-f", "mxfp4", "--activation-scales", given, path, self.path("o.safetensors"), says="--activation-scales")
        said = support.run("quantize", "--layout", "modelopt-fp8", path, self.path("bare")).stderr
        self.assertIn(b"without --activation-scales", said)

    def test_files(self):
        """Files of at most so many bytes, with an index; together they are the one file."""
        one = self.written("ct-mxfp8", self.tensors)[0]
        self.ok("quantize", "--layout", "ct-mxfp8", "--file-bytes", "30000", self.path("in"), self.path("many"))
        files = sorted(name for name in os.listdir(self.path("many")) if name.endswith(".safetensors"))
        index = json.loads(self.read("many/model.safetensors.index.json"))
        self.assertGreater(len(files), 3)
        self.assertEqual(files[0], "model-00001-of-%05d.safetensors" % len(files))
        together = {}
        for file in files:
            for name, entry in parse_safetensors(self.read("many/" + file))[0].items():
                together[name] = entry
                self.assertEqual(index["weight_map"][name], file)
        self.assertEqual(together, one)
        self.assertEqual(index["metadata"]["total_size"], sum(len(entry[2]) for entry in one.values()))

    def test_counts(self):
        """What the report says is what the values are."""
        for target in ("ct-nvfp4", "hf-fp8", "mlx-affine", "ct-fp8-tensor"):
            said = json.loads(self.ok("quantize", "--layout", target, "--json", self.model(self.tensors), self.path(target)))
            self.ok("decode", self.path(target), self.path("v.safetensors"))
            after = parse_safetensors(self.read("v.safetensors"))[0]
            for entry in said["tensors"]:
                if entry["what"] != "rounded":
                    continue
                before = next(t for t in self.tensors if t[0] == entry["name"])[3]
                old = struct.unpack("<%df" % (len(before) // 2), b"".join(b"\0\0" + before[i : i + 2] for i in range(0, len(before), 2)))
                new = struct.unpack("<%df" % len(old), after[entry["name"]][2])
                changed = sum(a != b for a, b in zip(old, new))
                self.assertLessEqual(abs(changed - entry["changed"]), len(old) // 50)  # counted before binary32
                self.assertEqual(sum(a != 0 and b == 0 for a, b in zip(old, new)), entry["zeroed"])
                self.assertAlmostEqual(max(abs(a - b) for a, b in zip(old, new)), entry["max_change"], delta=1e-6 * entry["max_change"])

    def test_not_finite(self):
        """What becomes an infinity or a NaN is said, and neither signal nor noise has it."""
        scaled = [("m.weight", "F8_E4M3", (1, 4), b"\x78\xf8\x3c\x00"), ("m.weight_scale_inv", "F32", (1, 1), floats([1000.0]))]
        quantize = ("quantize", "--include", "*.weight", "--layout")
        e5m2 = 20 * math.log10(f32(1.1) / (f32(1.1) - 1))
        for command, tensors, counts, sqnr, note in (
            ((*quantize, "f8-e5m2"), [tensor("F32", (1, 4), [1e6, 1.1, 1.1, 1.1])], [4, 0, 1, 0], e5m2, "1 to infinity"),
            ((*quantize, "f16"), scaled, [2, 0, 2, 0], math.inf, "2 to infinity"),
            ((*quantize, "hf-fp8"), [tensor("F32", (1, 4), [0, 1e-37, -2e-37, 0])], [4, 2, 0, 2], 0, "2 to NaN"),
        ):
            path, out = self.model(tensors, name="in-" + command[-1]), self.path(command[-1])
            with self.subTest(command):
                said = json.loads(self.ok(*command, "--json", path, out))["tensors"][0]
                self.assertEqual([said[key] for key in ("changed", "zeroed", "to_infinity", "to_nan")], counts)
                self.assertAlmostEqual(float(said["sqnr_db"]), sqnr, places=9)
                self.assertIn("  %s\n" % note, self.ok(*command, path, out + "-text"))
        self.assertIn("  2 to infinity\n", self.ok("decode", "--dtype", "F16", self.path("in-f16"), self.path("half")))


class Moves(Folders):
    def fp4(self):
        draw = [(i * 37 + i // 7) % 16 for i in range(4 * 64)]
        scales = bytes(120 + i for i in range(8))
        codes = nibbles(draw)
        want = [e2m1(c) * e8m0(scales[i // 32]) for i, c in enumerate(draw)]
        return codes, scales, want

    def values(self, folder, name):
        self.ok("decode", folder, self.path("v.safetensors"))
        raw = parse_safetensors(self.read("v.safetensors"))[0][name][2]
        return list(struct.unpack("<%df" % (len(raw) // 4), raw))

    def test_mxfp4(self):
        """gpt-oss to compressed-tensors, to MLX and back: the same codes and scales, and no value changes."""
        codes, scales, want = self.fp4()
        path = self.model([("model.layers.0.mlp.experts.down_proj_blocks", "U8", (1, 4, 2, 16), codes),
                           ("model.layers.0.mlp.experts.down_proj_scales", "U8", (1, 4, 2), scales)])
        said = json.loads(self.ok("quantize", "--layout", "gpt-oss-mxfp4", "--json", path, self.path("again")))
        self.assertEqual((said["tensors"][0]["what"], said["tensors"][0]["changed"]), ("moved", 0))
        self.assertEqual(self.folder_of("again")[0], parse_safetensors(self.read("in/model.safetensors"))[0])
        path = self.model([(NAME + ".weight_packed", "U8", (4, 32), codes), (NAME + ".weight_scale", "U8", (4, 2), scales)], name="ct")
        for target in ("mlx-mxfp4", "ct-mxfp4"):
            said = json.loads(self.ok("quantize", "--layout", target, "--json", path, self.path(target)))
            self.assertEqual((said["tensors"][0]["what"], said["tensors"][0]["changed"]), ("moved", 0))
            self.assertEqual(self.values(self.path(target), NAME + ".weight"), want)

    def test_nvfp4(self):
        """The scale of compressed-tensors divides, ModelOpt's multiplies: 1 / 3 is rounded, and every value may change."""
        draw = [(i * 5 + 1) % 16 for i in range(32)]
        for second, changed in ((64.0, 0), (3.0, 28)):
            path = self.model([(NAME + ".weight_packed", "U8", (1, 16), nibbles(draw)), (NAME + ".weight_scale", "F8_E4M3", (1, 2), b"\x3c\x25"),
                               (NAME + ".weight_global_scale", "F32", (1,), floats([second]))])
            out = "mo%d" % second
            said = json.loads(self.ok("quantize", "--layout", "modelopt-nvfp4", "--json", path, self.path(out)))["tensors"][0]
            self.assertEqual(said["what"], "moved")
            parts = self.folder_of(out)[0]
            self.assertEqual(parts[NAME + ".weight_scale_2"], ("F32", (), floats([1 / second])))
            self.assertEqual(parts[NAME + ".weight"], ("U8", (1, 16), nibbles(draw)))
            want = [e2m1(c) * f32(e4m3((0x3C, 0x25)[i // 16]) * f32(1 / second)) for i, c in enumerate(draw)]
            old = [e2m1(c) * f32(e4m3((0x3C, 0x25)[i // 16]) / second) for i, c in enumerate(draw)]
            self.assertEqual(said["changed"], sum(a != b for a, b in zip(want, old)))
            self.assertEqual(self.values(self.path(out), NAME + ".weight"), [f32(v) for v in want])

    def test_fp8(self):
        """The scales of hf-fp8 under other names; to NVFP4 by its rule, of the values in binary32."""
        codes = bytes(i * 37 % 127 for i in range(3 * 144))
        old = [("m.weight", "F8_E4M3", (3, 144), codes), ("m.weight_scale_inv", "F32", (1, 2), floats([0.3, 0.0007]))]
        parts = self.written("ct-fp8-block", old)[0]
        self.assertEqual(parts["m.weight"], old[0][1:])
        self.assertEqual(parts["m.weight_scale"], old[1][1:])
        said = json.loads(self.ok("quantize", "--layout", "ct-nvfp4", "--json", self.path("in"), self.path("nv")))["tensors"][0]
        values = [f32(e4m3(c) * f32((0.3, 0.0007)[i % 144 // 128])) for i, c in enumerate(codes)]
        plain = self.written("ct-nvfp4", [("m.weight", "F32", (3, 144), floats(values))], out="plain", name="in2")[0]
        self.assertEqual(self.folder_of("nv")[0], plain)
        exact = [e4m3(c) * f32((0.3, 0.0007)[i % 144 // 128]) for i, c in enumerate(codes)]
        self.assertEqual((said["what"], said["narrowed"]), ("rounded", sum(a != b for a, b in zip(values, exact))))

    def test_values(self):
        """Into BF16 with one rounding of the exact product; what is not chosen leaves its layout, too."""
        codes = bytes([0x3B, 0xBB, 0x7E])
        old = [("m.weight", "F8_E4M3", (1, 3), codes), ("m.weight_scale_inv", "F32", (1, 1), floats([0.1])),
               ("norm", "F32", (1,), floats([2]))]
        path = self.model(old, config={"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})
        self.ok("decode", "--dtype", "BF16", path, self.path("bf"))
        parts, config = self.folder_of("bf")
        self.assertEqual(parts["m.weight"], ("BF16", (1, 3), b"\x0d\x3e\x0d\xbe\x33\x42"))
        self.assertEqual(parts["norm"], old[2][1:])
        self.assertNotIn("quantization_config", config)
        self.ok("decode", path, self.path("f32") + "/")
        self.assertEqual(self.folder_of("f32")[0]["m.weight"][2], floats([f32(e4m3(c) * f32(0.1)) for c in codes]))
        more = [tensor("F32", (1, 16), [1.0] * 16, "b.weight")]
        parts = self.written("ct-nvfp4", old + more, "--include", "b.weight", "--dtype", "F32", out="part")[0]
        self.assertEqual(parts["m.weight"][0], "F32")
        self.assertIn("b.weight_packed", parts)

    def test_plain(self):
        x = tensor("F32", (1, 4), [1, 448, 470, -1e9])
        self.assertEqual(self.written("f8-e4m3", [x], out="a")[0][NAME + ".weight"], ("F8_E4M3", (1, 4), b"\x38\x7e\x7e\xfe"))
        self.assertEqual(self.written("f8-e5m2", [x], out="b")[0][NAME + ".weight"], ("F8_E5M2", (1, 4), b"\x3c\x5f\x5f\xfc"))


class Errors(Folders):
    def test_refused(self):
        x = tensor("F32", (2, 24), [1.0] * 48)
        path = self.model([x, tensor("F32", (4,), [1.0] * 4, "b.weight"), tensor("F32", (2, 16), [1.0] * 15 + [float("inf")] + [1.0] * 16, "i.weight"),
                           ("n.weight", "I32", (1, 1), b"1234")])
        q = ("quantize", "--layout")
        self.refused(*q, "ct-nvfp4", path, self.path("o"), says=[NAME, "[2, 24]", "whole blocks", "model.safetensors"])
        self.refused(*q, "ct-nvfp4", "--include", "b.*", path, self.path("o"), says=["b.weight", "no matrix"])
        self.refused(*q, "ct-nvfp4", "--include", "i.*", path, self.path("o"), says=["i.weight", "[0, 15]", "infinity"])
        self.refused(*q, "ct-nvfp4", "--include", "zz*", path, self.path("o"), says=["zz*", "no tensor"])
        self.refused(*q, "ct-nvfp4", "--include", "n.*", path, self.path("o"), says="no tensor is one that ct-nvfp4 takes")
        self.refused(*q, "ct-nvfp5", path, self.path("o"), says=["ct-nvfp5", "mlx-affine"])
        self.refused(*q, "ct-nvfp4", self.path("none") + "/", self.path("o"), says=["none/", "No such file"])
        self.refused(*q, "ct-nvfp4", self.write("x.npy", b""), self.path("o"), says=["x.npy", "written as a folder"])
        self.refused(*q, "ct-nvfp4", "-f", "fouroversix.if4", "--exclude", "[bi].*", path, self.path("o"), says=["fouroversix.if4", "ct-nvfp4"])
        self.refused(*q, "f16", "--dtype", "F64", path, self.path("o"), says="F64")
        self.refused(*q, "f16", "--codes", path, self.path("o"), says="--codes")
        self.refused(*q, "f16", "-r", "rtz", path, self.path("o"), says="-r")
        some = ("ct-fp8-block", "--exclude", "i.*", path)
        self.refused(*q, *some, path, says="no empty folder")
        self.refused(*q, *some, self.path("no/such/o"), says="cannot write")
        self.refused(*q, *some, self.write("file", b"") + "/o", says=["file/o", "cannot write", "Not a directory"])
        os.symlink("nowhere", self.path("lost"))
        self.refused(*q, *some, self.path("lost"), says=["lost", "leads nowhere"])
        self.refused("quantize", "--dtype", "F32", "-f", "mxfp4", path, self.path("o.safetensors"), says="--dtype")
        self.refused("decode", "--dtype", "F64", path, self.path("o"), says="F64")
        self.write("in/config.json", b'{"a": NaN}')
        self.refused(*q, "ct-fp8-block", "--exclude", "i.*", path, self.path("o"), says="config.json")

    def test_byte_order_mark(self):
        """A config that the reader takes is one that is written."""
        path = self.model([tensor("F32", (1, 2), [1.0, 2.0])])
        self.write("in/config.json", b'\xef\xbb\xbf{"model_type": "llama"}')
        self.ok("quantize", "-q", "--layout", "f8-e5m2", path, self.path("o"))
        self.assertEqual(self.folder_of("o")[1]["model_type"], "llama")

    def test_full_standard_output(self):
        """The folder is whole, and the error says so."""
        path = self.model([tensor("F32", (1, 2), [1.0, 2.0])])
        with open("/dev/full", "wb") as full:
            r = subprocess.run([support.HALFULP, "quantize", "--layout", "f8-e5m2", path, self.path("o")], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(r.returncode, 2)
        self.assertIn(self.path("o") + ": was written whole", r.stderr.decode())
        self.assertIn("standard output: cannot write", r.stderr.decode())
        self.folder_of("o")

    def test_transposed_experts(self):
        """Experts as transformers keeps them would be quantized along the wrong axis."""
        name = "model.layers.0.mlp.experts."
        bias = [tensor("BF16", (1, 64), [1.0] * 64, name + "gate_up_proj_bias"), tensor("BF16", (1, 32), [1.0] * 32, name + "down_proj_bias")]
        down = tensor("BF16", (1, 32, 32), [1.0] * 1024, name + "down_proj")
        for rows, cols in ((64, 32), (32, 64)):
            path = self.model([*bias, down, tensor("BF16", (1, rows, cols), [1.0] * 2048, name + "gate_up_proj")], name="e%d" % rows)
            if rows == 64:
                self.ok("quantize", "-q", "--layout", "gpt-oss-mxfp4", path, self.path("good"))
                self.assertEqual(self.folder_of("good")[0][name + "gate_up_proj_blocks"][1], (1, 64, 1, 16))
            else:
                self.refused("quantize", "--layout", "gpt-oss-mxfp4", path, self.path("no"), says=["gate_up_proj", "[1, 32, 64]", "transposed"])

    def test_link_to_a_folder(self):
        """An empty folder that a link leads to is filled, and the link stays."""
        path = self.model([tensor("F32", (1, 2), [1.0, 2.0])])
        os.makedirs(self.path("elsewhere/there"))
        os.symlink("elsewhere/there", self.path("link"))
        for out in ("link", "link/"):
            self.ok("quantize", "-q", "--layout", "f8-e5m2", path, os.path.join(self.folder.name, out))
            self.assertEqual((os.path.islink(self.path("link")), os.listdir(self.path("elsewhere"))), (True, ["there"]))
            self.assertIn("model.safetensors", os.listdir(self.path("link")))
            for name in os.listdir(self.path("link")):
                os.remove(self.path("link/" + name))

    def test_interrupt(self):
        """A signal leaves no folder; an empty folder can be the output."""
        x = tensor("F32", (1024, 2048), [1.0] * 8)[:3] + (floats([0.5]) * (1024 * 2048),)
        path = self.model([x])
        args = [support.HALFULP, "quantize", "--layout", "mlx-mxfp8", path, self.path("o")]
        p = subprocess.Popen(args, stdout=subprocess.DEVNULL)
        while p.poll() is None and not any(name.startswith(".halfulp-") for name in os.listdir(self.folder.name)):
            time.sleep(0.001)
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(), -signal.SIGINT)
        self.assertEqual(os.listdir(self.folder.name), ["in"])
        os.mkdir(self.path("o"))
        self.ok(*args[1:])
        self.assertEqual(sorted(os.listdir(self.path("o"))), ["config.json", "model.safetensors"])


if __name__ == "__main__":
    support.main()
