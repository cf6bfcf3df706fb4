# SPDX-License-Identifier: MIT
"""Checkpoints that are broken, or whose config, names and shapes contradict each other: what is said, and in what time."""

import json
import os
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from layout_case import Layouts  # noqa: E402
from layout_files import columns, e2m1, e2m3, e3m2, e4m3, e8m0, product, rows, stream  # noqa: E402
from support import floats, safetensors  # noqa: E402


def quantization(method="compressed-tensors", **more):
    return {"quantization_config": {"quant_method": method, **more}}


class Configs(Layouts):
    def six(self):
        codes, scales = self.draw.codes(3 * 64, 6), self.draw.codes(6, 8)
        tensors = [("layer.weight", "U8", (3, 48), stream(codes, 6)), ("layer.weight_scale", "U8", (3, 2), bytes(scales))]
        return tensors, {value: [product(value(c), e8m0(scales[i // 32])) for i, c in enumerate(codes)] for value in (e2m3, e3m2)}

    def not_read(self, tensors, *words, **kwargs):
        self.bad("info", self.model(tensors, **kwargs), says=words)

    def test_config_without_scales(self):
        """A config that says that a module is quantized, and nothing that scales its codes; modules that it leaves alone are plain."""
        f8, u8 = [("l.weight", "F8_E4M3", (2, 8), bytes(16))], [("l.weight", "U8", (2, 8), bytes(16))]
        for method in ("fp8", "modelopt", "quark", "fbgemm_fp8"):
            for tensors in (f8, u8):
                self.not_read(tensors, "'l.weight'", "config.json says that it is quantized (%s)" % method, config=quantization(method))
        groups = {"g": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float"}}}
        self.not_read(f8, "says that it is quantized (compressed-tensors)", config=quantization(config_groups=groups))
        groups["g"]["targets"] = ["re:other"]
        for config in (quantization(config_groups=groups), quantization("modelopt", ignore=["l"]), quantization("quark", exclude=["l"]), None):
            self.ok("info", self.model(f8, config=config))
        self.ok("info", self.model([("l.codes", "U8", (2, 8), bytes(16))], config=quantization("fp8")))

    def test_first_mx_of_quark(self):
        """Scale and codes in one tensor: known by the config, and not read."""
        tensors = [("l.weight", "U8", (2, 34), bytes(68)), ("n.weight", "F32", (1, 1), bytes(4))]
        spec = {"weight": {"dtype": "mx", "mx_element_dtype": "fp4"}}
        self.not_read(tensors, "'l.weight'", "Quark's dtype 'mx'", config=quantization("quark", global_quant_config=spec))
        self.not_read(tensors, "'l.weight'", "Quark's dtype 'mx'", config=quantization("quark", layer_quant_config={"l": spec}))

    def test_names_of_hqq(self):
        """W_q is HQQ's with what HQQ has beside it: weights of floats may have a scale of their own."""
        for dtype, size in (("U8", 1), ("I32", 4)):
            self.not_read([("a.W_q", dtype, (2, 4), bytes(8 * size)), ("a.scale", "F32", (2, 4), bytes(32))], "'a.W_q': HQQ is not read")
        self.not_read([("a.W_q", "BF16", (2, 4), bytes(16)), ("a.zero", "F32", (2, 4), bytes(32))], "'a.W_q': HQQ is not read")
        for dtype, size in (("F32", 4), ("BF16", 2), ("I64", 8)):
            self.ok("info", self.model([("a.W_q", dtype, (2, 4), bytes(8 * size)), ("a.scale", "F32", (4,), bytes(16))]))

    def test_dtype_of_weights(self):
        """That of the activations says nothing of the weights; a layer's own stands before that of all."""
        tensors, want = self.six()
        spec = {"weight": {"dtype": "fp6_e3m2"}, "input_tensors": {"dtype": "fp6_e2m3"}}
        self.check(tensors, want[e3m2], (3, 64), config=quantization("quark", global_quant_config=spec))
        own = {"lay*": {"weight": [{"dtype": "fp6_e2m3"}]}}
        self.check(tensors, want[e2m3], (3, 64), config=quantization("quark", global_quant_config=spec, layer_quant_config=own))
        self.refused(tensors, "layer.weight_scale", config=quantization("quark", global_quant_config={"input_tensors": {"dtype": "fp6_e2m3"}}))

    def packed(self, name, bits, cols, size):
        """Symmetric integers of compressed-tensors, which fit several numbers of bits: 24 columns in 3 words are 4 bits, and 2 to
        4 bits in words of their own."""
        codes, scales = self.draw.codes(2 * cols, bits), self.draw.halves(2 * -(-cols // size))
        groups = len(scales) // 2
        words = rows(codes, cols, bits, 4)
        want = [product(c - (1 << bits - 1), scales[i // cols * groups + i % cols // size]) for i, c in enumerate(codes)]
        return [(name + ".weight_packed", "I32", (2, len(words) // 8), words),
                (name + ".weight_scale", "F16", (2, groups), floats(scales, "<e")),
                (name + ".weight_shape", "I64", (2,), struct.pack("<2q", 2, cols))], want

    def test_targets(self):
        """Groups of other bits for other modules: by name, by expression, by class; a module that is ignored has none."""
        groups = {"a": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 16}},
                  "b": {"targets": ["re:.*mlp\\.(up|down)_proj$"], "weights": {"num_bits": 8, "group_size": 20}},
                  "c": {"targets": ["model.head"], "weights": {"num_bits": 8, "group_size": 40}}}
        parts = {"model.q_proj": (4, 16), "model.mlp.up_proj": (8, 20), "model.head": (8, 40), "model.mlp.up_proj.x": (4, 16)}
        tensors, want = [], {}
        for name, (bits, size) in parts.items():
            found, want[name] = self.packed(name, bits, 40, size)
            tensors += found
        found = self.decoded(self.model(tensors, config=quantization(config_groups=groups, ignore=["re:.*gate"])))
        self.assertEqual(set(found), {name + ".weight" for name in parts})
        for name in parts:
            self.has(found, name + ".weight", want[name], (2, 40))
        groups["b"]["targets"] = ["re:.*mlp\\.(?=up)"]
        self.refused(tensors, "config.json", "expression '.*mlp\\.(?=up)'", config=quantization(config_groups=groups))
        groups["b"]["targets"], groups["c"]["weights"]["group_size"] = ["re:.*mlp\\.(?:up|down)_proj"], 10
        self.refused(tensors, "model.head", "1 groups for a row of 40, and the config says that a group has 10",
                     config=quantization(config_groups=groups))

    def test_exceptions(self):
        """GPTQ's dynamic, AutoRound's extra_config."""
        codes, scales, zeros = self.draw.codes(8 * 32, 8), self.draw.halves(16), self.draw.codes(16, 8)
        want = [product(c - zeros[i % 32 // 16 * 8 + i // 32] - 1, scales[i % 32 // 16 * 8 + i // 32]) for i, c in enumerate(codes)]
        tensors = [("layer.qweight", "I32", (8, 8), columns(codes, 32, 8)), ("layer.qzeros", "I32", (2, 2), rows(zeros, 8, 8, 4)),
                   ("layer.scales", "F16", (2, 8), floats(scales, "<e"))]
        own = {"bits": 8, "group_size": 16}
        for more in ({"dynamic": {"-:other": {}, "+:lay\\w*$": own}}, {"dynamic": {"layer": own}}):
            self.check(tensors, want, (8, 32), config=quantization("gptq", bits=4, group_size=128, **more))
        for name in ("layer", "l.*r"):
            self.check(tensors, want, (8, 32), config=quantization("auto-round", bits=4, group_size=128, extra_config={name: own}))
        self.refused(tensors, "2 groups for a row of 32, and the config says that a group has 8", config=quantization("gptq", bits=8, group_size=8))

    def test_types(self):
        data = [("layer.weight", "F8_E4M3", (3, 5), bytes(15))]
        for key, value, word in (("bits", "4", "bits is not a whole number"), ("group_size", 12.5, "group_size is not a whole number"),
                                 ("weight_block_size", [128], "weight_block_size is not two numbers"), ("quant_method", 7, "quant_method is not a text"),
                                 ("weight_block_size", 128, "weight_block_size is not two numbers")):
            self.refused(data, "config.json: quantization: " + word, config={"quantization_config": {key: value}})
        self.refused(data, "config.json: g: num_bits is not a whole number", config=quantization(config_groups={"g": {"weights": {"num_bits": "8"}}}))
        own = {"targets": ["Linear"], "weights": {"num_bits": 8}}
        for more, says in (({"format": 7}, "quantization: format is not a text"), ({"ignore": "lm_head"}, "ignore is not a list of texts"),
                           ({"ignore": [None]}, "ignore is not a list of texts"), ({"config_groups": 3}, "config_groups is not an object"),
                           ({"config_groups": [own]}, "config_groups is not an object"), ({"config_groups": {"g": 3}}, "g is not an object"),
                           ({"config_groups": {"g": {"weights": 3}}}, "g: weights is not an object"),
                           ({"config_groups": {"g": {"weights": {"type": 5}}}}, "g: type is not a text"),
                           ({"config_groups": {"g": {**own, "format": 7}}}, "g: format is not a text"),
                           ({"config_groups": {"g": {**own, "targets": 3}}}, "g: targets is not a list of texts"),
                           ({"config_groups": {"g": {**own, "targets": ["Linear", 3]}}}, "g: targets is not a list of texts")):
            self.refused(data, "config.json: ", says, config=quantization(**more))
        for key in ("quantization_config", "compression_config"):
            for value in (3, [], "fp8"):
                self.refused(data, "config.json: %s is not an object" % key, config={key: value})
                self.refused(data, "config.json: %s is not an object" % key, config={"text_config": {key: value}})

    def test_json(self):
        """Errors of JSON have a line and a reason."""
        path = self.model([("layer.weight", "F8_E4M3", (3, 5), bytes(15))])
        self.write("config.json", b'{\n  "a": 1,\n}')
        self.bad("info", path, says=("config.json: line 3, column 1: ", "expected"))
        os.remove(self.path("config.json"))
        self.write("model.safetensors.index.json", b'{"weight_map": {"a": }}')
        for name in (self.path("model.safetensors.index.json"), path):
            self.bad("info", name, says="model.safetensors.index.json: line 1, column 22: ")
        os.remove(self.path("model.safetensors.index.json"))
        self.refused([("layer.weight", "F8_E4M3", (3, 5), bytes(15))], "_quantization_metadata is no JSON", metadata={"_quantization_metadata": "{"})


class Parts(Layouts):
    def test_shapes_of_scales(self):
        """The rows of scales count, too, not only how many there are."""
        for shape in ((2, 6), (12,), (1, 12), (4, 3, 1)):
            self.refused([("layer.weight", "F8_E4M3", (4, 96), bytes(384)), ("layer.weight_scale", "U8", shape, bytes(12))],
                         "layer.weight_scale", "not one for 32 elements")

    def test_nested_offset(self):
        for more in ({}, {"nested_offset": "0.5"}, {"nested_offset": None}):
            state = json.dumps({"quant_type": "nf4", "blocksize": 64, "shape": [1, 2], "nested_blocksize": 256, **more}).encode()
            self.refused([("layer.weight", "U8", (1, 1), b"\x77"), ("layer.weight.absmax", "U8", (1,), b"\1"),
                          ("layer.weight.quant_map", "F32", (16,), bytes(64)), ("layer.weight.nested_absmax", "F32", (1,), bytes(4)),
                          ("layer.weight.nested_quant_map", "F32", (256,), bytes(1024)),
                          ("layer.weight.quant_state.bitsandbytes__nf4", "U8", (len(state),), state)], "nested_offset")

    def test_no_rows(self):
        """Without elements AWQ's shapes and GPTQ's are the same: the config says whose they are."""
        tensors = [("layer.qweight", "I32", (4, 0), b""), ("layer.qzeros", "I32", (2, 0), b""), ("layer.scales", "F16", (2, 0), b"")]
        self.check(tensors, [], (0, 32), config=quantization("gptq", bits=4))
        self.check(tensors, [], (0, 4), config=quantization("awq", bits=4))

    def test_gemv(self):
        """AWQ gemv: plain order along the row, space behind the groups of a row."""
        codes, scales, zeros = self.draw.codes(3 * 48, 4), self.draw.halves(3 * 8), self.draw.codes(3 * 8, 4)
        want = [product(c - zeros[i // 48 * 8 + i % 48 // 16], scales[i // 48 * 8 + i % 48 // 16]) for i, c in enumerate(codes)]
        tensors = [("layer.qweight", "I32", (3, 6), rows(codes, 48, 4, 4)), ("layer.qzeros", "I32", (3, 1), rows(zeros, 8, 4, 4)),
                   ("layer.scales", "F16", (3, 8), floats(scales, "<e"))]
        self.check(tensors, want, (3, 48), config=quantization("awq", version="gemv", w_bit=4, q_group_size=16))
        self.refused(tensors, "the size of its groups", config=quantization("awq", version="gemv", bits=4))
        self.refused(tensors, "AWQ has 4 bits", config=quantization("awq", version="GEMV", bits=3, group_size=16))
        self.refused(tensors, "AWQ of version gemv_fast is not read", config=quantization("awq", version="gemv_fast", bits=4))

    def test_transposed_experts(self):
        """ModelOpt's experts: two rows in a byte, blocks down the columns; a last block of 4 rows."""
        codes = self.draw.codes(2 * 20 * 3, 4)
        at = [codes[e * 60 + r * 3 + c] for e in range(2) for r in range(20) for c in range(3)]
        packed = bytes(at[e * 60 + 2 * r * 3 + c] | at[e * 60 + (2 * r + 1) * 3 + c] << 4 for e in range(2) for r in range(10) for c in range(3))
        scales, second = [s % 126 for s in self.draw.codes(2 * 2 * 3, 7)], [0.5, 3.0]
        want = [product(e2m1(c), product(e4m3(scales[i // 60 * 6 + i % 60 // 3 // 16 * 3 + i % 3]), second[i // 60])) for i, c in enumerate(at)]
        tensors = [("experts.down_proj", "U8", (2, 10, 3), packed), ("experts.down_proj_weight_scale", "F8_E4M3", (2, 2, 3), bytes(scales)),
                   ("experts.down_proj_weight_scale_2", "F32", (2,), floats(second))]
        self.check(tensors, want, (2, 20, 3), name="experts.down_proj")
        tensors[1] = ("experts.down_proj_weight_scale", "F8_E4M3", (2, 3, 2), bytes(scales))
        self.refused(tensors, "experts.down_proj_weight_scale", "16 elements of a column")

    def test_names_alone(self):
        """A name of another program's layout is one with its dtype and its companions alone."""
        path = self.model([("a.codebooks", "F32", (2,), floats([1, 2])), ("b.W_q", "F32", (1,), floats([3])), ("c.trellis", "F32", (1,), floats([4]))])
        self.assertIn("3 tensors, 0 of them", self.ok("info", path))
        for tensors, says in (([("a.codebooks", "F16", (2, 1, 1, 1), bytes(4)), ("a.codes", "I8", (2,), bytes(2))], "'a.codebooks': AQLM is not read"),
                              ([("a.W_q", "U8", (2,), bytes(2)), ("a.scale", "F16", (1,), bytes(2))], "'a.W_q': HQQ is not read")):
            self.bad("info", self.model(tensors), says=says)

    def test_alone(self):
        """Codes without what scales them are no ordinary tensors, in a file and in a folder."""
        for tensors, word in (([("l.weight_packed", "U8", (2, 8), bytes(16))], "l.weight_packed"),
                              ([("l.qweight", "I32", (2, 8), bytes(64)), ("l.scales", "F16", (1, 8), bytes(16))], "l.qweight"),
                              ([("l.up_blocks", "U8", (3, 2, 16), bytes(96))], "l.up_blocks"),
                              ([("l.weight", "U8", (2, 8), bytes(16)), ("l.weight.absmax", "F32", (1,), bytes(4))], "l.weight.absmax"),
                              ([("l.weight", "U32", (2, 8), bytes(64)), ("l.scales", "F16", (2, 1), bytes(4))], "l.scales")):
            os.makedirs(self.path("f"), exist_ok=True)
            path = self.model(tensors, name="f/m.safetensors")
            for one in (path, self.path("f")):
                self.bad("decode", one, self.path("no.safetensors"), says=word)
                self.bad("info", one, says=word)


class Folders(Layouts):
    data = ("w", "F8_E4M3", (1, 2), b"\x38\x40")

    def test_index_of_one(self):
        os.makedirs(self.path("f"))
        self.write("f/a.safetensors", safetensors([self.data]))
        for wrong, word in (({"w": "a.safetensors", "v": "a.safetensors"}, "'v' is not in a.safetensors"), ({}, "names no tensor")):
            self.write("f/model.safetensors.index.json", json.dumps({"weight_map": wrong}).encode())
            self.bad("info", self.path("f"), says=("model.safetensors.index.json", word))

    def test_index_says_which(self):
        """An index behind a byte order mark is read, and what is wrong in it is said of the index, in a folder, too."""
        os.mkdir(self.path("f"))
        self.write("f/a.safetensors", safetensors([("w", "F32", (1,), floats([1.0]))]))
        index = "f/model.safetensors.index.json"
        self.write(index, b"\xef\xbb\xbf" + json.dumps({"weight_map": {"w": "a.safetensors"}}).encode())
        self.assertIn(": 1 tensor, 0 of them", self.ok("info", self.path("f")))
        self.write(index, json.dumps({"weight_map": {"w": "a.safetensors", "v": "a.safetensors"}}).encode())
        for path in (self.path("f"), self.path(index)):
            self.bad("info", path, says=("f/model.safetensors.index.json: weight_map: tensor 'v'", "a.safetensors"))

    def test_no_model(self):
        """Names of files that are no model's, and folders that have none."""
        self.bad("info", self.path("none") + "/", says=("none/", "No such file"))
        self.bad("info", self.path("none/model"), says=("none/model", "No such file"))
        self.bad("info", self.write("x.txt", b"x"), says=("x.txt", "ending", ".safetensors"))
        os.mkdir(self.path("e"))
        for i in (1, 2):
            self.write("e/model-%05d-of-00002.safetensors" % i, safetensors([]))
        self.assertIn("e: 0 tensors", self.ok("info", self.path("e")))
        os.mkdir(self.path("f"))
        self.write("f/model.safetensors", safetensors([("w", "F32", (1,), floats([1.0]))]))
        for out in ("z.safetensors", "f/z.safetensors", "f", "f/new"):
            self.bad("decode", self.path("e"), self.path(out), says=("e: holds no tensor",))
        self.assertEqual(os.listdir(self.path("f")), ["model.safetensors"])
        self.assertFalse(os.path.exists(self.path("z.safetensors")))

    def test_no_ordinary_file(self):
        os.makedirs(self.path("f/b.safetensors"))
        self.write("f/a.safetensors", safetensors([self.data]))
        self.bad("info", self.path("f"), says=("b.safetensors", "is a folder and no file"))
        os.rmdir(self.path("f/b.safetensors"))
        os.mkfifo(self.path("f/b.safetensors"))
        self.bad("decode", self.path("f"), self.path("no.safetensors"), says=("b.safetensors", "not an ordinary file"))

    def test_out_in_the_folder(self):
        os.makedirs(self.path("f"))
        self.write("f/a.safetensors", safetensors([self.data]))
        for out in ("f/o.safetensors", "f/../f/o.safetensors"):
            self.bad("decode", self.path("f"), self.path(out), says=("o.safetensors", "lies in the folder of the model"))
        self.assertEqual(os.listdir(self.path("f")), ["a.safetensors"])
        self.ok("decode", self.path("f"), self.path("o.safetensors"))

    def test_plot(self):
        os.makedirs(self.path("f"))
        self.write("f/a.safetensors", safetensors([self.data]))
        self.write("f/model.safetensors.index.json", json.dumps({"weight_map": {"w": "a.safetensors"}}).encode())
        self.ok("plot", "-f", "bfloat16", "--array", self.path("f/a.safetensors"), "-o", self.path("a.svg"))
        for name in ("f", "f/model.safetensors.index.json"):
            self.ok("plot", "-f", "bfloat16", "--array", self.path(name), "-o", self.path("b.svg"))
            self.assertEqual(self.read("a.svg").count(b"<rect"), self.read("b.svg").count(b"<rect"))

    def test_many(self):
        """Time grows with the number of tensors, layers and groups, and not with its square."""
        n, part = 4000, ("F8_E4M3", (1, 2), b"\x38\x40")
        flat = safetensors([("m.w%05d" % i, *part) for i in range(n)])
        layers = ["l%05d" % i for i in range(n)]
        comfy = safetensors([(name + ".weight", *part) for name in layers] + [(name + ".weight_scale", "F32", (), bytes(4)) for name in layers],
                            {"_quantization_metadata": json.dumps({"layers": {name: {"format": "float8_e4m3fn"} for name in layers}})})
        groups = quantization(config_groups={"g%d" % i: {"targets": [layers[i]], "weights": {"num_bits": 8}} for i in range(n)})
        for data, config in ((flat, None), (comfy, None), (comfy, groups)):
            self.write("m.safetensors", data)
            if config:
                self.write("config.json", json.dumps(config).encode())
            before = os.times()
            self.assertIn(" %d of them" % n, self.ok("info", self.path("m.safetensors")))
            spent = os.times().children_user - before.children_user
            self.assertLess(spent, 60 if support.SANITIZED else 5)


if __name__ == "__main__":
    support.main()
