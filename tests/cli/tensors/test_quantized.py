# SPDX-License-Identifier: MIT
"""A model that is quantized already is never destroyed: codes and scales stay, and without names nothing is rounded."""

import json
import os
import struct
import sys
import unittest

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, parse_safetensors, safetensors  # noqa: E402
from test_gguf import F32, MXFP4, gguf, parse as parse_gguf, pattern  # noqa: E402

# Layouts as other programs write them: tensors in codes, and what scales them, by dtype and shape.
PLAIN = ("lm_head.weight", "BF16", (2, 4))
LAYOUTS = {
    "fp8 blocks": [("l.weight", "F8_E4M3", (4, 4)), ("l.weight_scale_inv", "F32", (2, 2))],
    "fp8 channels": [("l.weight", "F8_E4M3", (4, 4)), ("l.weight_scale", "BF16", (4, 1)), ("l.input_scale", "F32", ())],
    "fp8 and E8M0": [("l.weight", "F8_E4M3", (4, 4)), ("l.scale", "F8_E8M0", (2, 2))],
    "packed in I8": [("l.w1.weight", "I8", (4, 4)), ("l.w1.scale", "F32", (4, 1))],
    "scaled_fp8": [("l.weight", "F8_E5M2", (4, 4)), ("l.scale_weight", "F32", (1, 1)), ("scaled_fp8", "F32", (2, 1))],
    "modelopt": [("l.weight", "U8", (4, 4)), ("l.weight_scale", "F8_E4M3", (4, 2)), ("l.weight_scale_2", "F32", (1, 1))],
    "compressed": [("l.weight_packed", "U8", (4, 4)), ("l.weight_scale", "F16", (4, 2)), ("l.weight_global_scale", "F32", (1, 1))],
    "experts": [("e.gate_up_proj_blocks", "U8", (2, 2, 2, 4)), ("e.gate_up_proj_scales", "U8", (2, 2, 2)), ("e.gate_up_proj_bias", "F32", (2, 2))],
    "awq": [("l.qweight", "I32", (4, 2)), ("l.qzeros", "I32", (1, 2)), ("l.scales", "F16", (1, 4))],
    "bitsandbytes": [("l.weight", "U8", (8, 1)), ("l.weight.absmax", "F32", (2, 1)), ("l.weight.quant_map", "F32", (4, 4)),
                     ("l.weight.quant_state.bitsandbytes__nf4", "U8", (4,))],
    "int8": [("l.weight", "I8", (4, 4)), ("l.SCB", "F32", (4, 1))],
    "mlx": [("l.weight", "U32", (4, 2)), ("l.scales", "BF16", (4, 2)), ("l.biases", "BF16", (4, 2))],
    "torchao": [("0._weight_qdata", "U8", (4, 2)), ("0._weight_scale", "F32", (4, 1)), ("0._weight_zero_point", "F32", (4, 1))],
    "quark": [("l.weight", "U8", (4, 2)), ("l.weight_zero_point", "F32", (4, 1)), ("l.weight_scale", "F32", (4, 1))],
    "hqq": [("l.W_q", "U8", (4, 4)), ("l.scale", "BF16", (4, 4)), ("l.zero", "BF16", (4, 4))],
    "bytes and a scale": [("l.weight", "U8", (4, 16)), ("l.scale", "BF16", (4, 4))],
    "a layer alone": [("weight", "U8", (4, 16)), ("scale", "BF16", (4, 4))],
    "words and a scale": [("l.weight", "I32", (4, 16)), ("l.weight.scale", "BF16", (4, 4))],
    "mistral": [("l.weight", "F8_E4M3", (4, 4)), ("l.qscale_weight", "F32", (1, 1)), ("l.qscale_act", "F32", (1, 1))],
    "plain F8": [("w", "F8_E4M3", (4, 4))],
    "plain F4": [("w", "F4", (4, 4)), ("s", "F8_E8M0", (4, 1))],
    "plain F6": [("w", "F6_E3M2", (4, 4))],
}  # fmt: skip
BITS = {"F4": 4, "F6_E3M2": 6, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "U8": 8, "I8": 8, "F16": 16, "BF16": 16, "F32": 32,
        "I32": 32, "U32": 32, "I64": 64}  # fmt: skip


def tensor(name, dtype, shape):
    """Bytes that are numbers which every narrow format would change."""
    n = 1
    for side in shape:
        n *= side
    if dtype == "F32":
        return name, dtype, shape, floats([0.0007 + i / 1000 for i in range(n)])
    if dtype == "F16":
        return name, dtype, shape, floats([0.0007 + i / 1000 for i in range(n)], "<e")
    if dtype == "BF16":
        return name, dtype, shape, b"".join(struct.pack("<f", 0.3 + i)[2:] for i in range(n))
    return name, dtype, shape, bytes(i * 7 % 251 for i in range(n * BITS[dtype] // 8))


# Those that a row of the table of layouts has: they are read as values (test_layouts.py).
KNOWN = ["fp8 channels", "scaled_fp8", "mistral", "plain F8", "plain F4", "plain F6"]


class Quantized(support.Case):
    def make(self, layout, metadata=None, name="m.safetensors"):
        return self.write(name, safetensors([tensor(*t) for t in layout], metadata))

    def test_refused(self):
        """quantize, with and without --codes or a report, and compare: what was found, the tensor, and the way."""
        o = self.path("o.safetensors")
        for name, layout in LAYOUTS.items():
            if name in KNOWN:
                continue
            m = self.make(layout + [PLAIN])
            first = layout[0]
            for args in (("quantize", "-f", "nvfp4", m, o), ("quantize", "-f", "bfloat16", "--codes", "--any-rank", m, o),
                         ("quantize", "-f", "nvfp4", "--report", self.path("r.html"), m, o),
                         ("quantize", "-f", "nvfp4", "--exclude", "lm*", m, o), ("quantize", "-f", "nvfp4", "--in-place", m),
                         ("compare", "-f", "nvfp4", "-f", "mxfp4", m)):  # fmt: skip
                with self.subTest(name, args=args[:4]):
                    self.bad(*args, says=(m, "quantized already", "'%s'" % first[0], first[1], "--include"))
                    self.assertEqual(self.left(), ["m.safetensors"])

    def test_names_of_weights(self):
        """Floats under a name of codes are weights, but beside a `zero`, as HQQ has them."""
        o = self.path("o.safetensors")
        for name in ("W_q", "qweight", "weight_packed", "qdata"):
            for beside in ([], [("a.scale", "F32", (2, 4))]):
                for dtype in ("F32", "BF16"):
                    m = self.make([("a." + name, dtype, (2, 4)), ("a.W_k", dtype, (2, 4))] + beside)
                    r = json.loads(self.ok("quantize", "-f", "float4_e2m1fn", "--json", m, o))
                    rounded = {t["name"] for t in r["tensors"] if t["rounded"]}
                    self.assertEqual(rounded - {"a.scale"}, {"a." + name, "a.W_k"}, (name, dtype, beside))
            m = self.make([("a." + name, "BF16", (2, 4)), ("a.W_k", "BF16", (2, 4)), ("a.zero", "BF16", (2, 4))])
            r = json.loads(self.ok("quantize", "-f", "float4_e2m1fn", "--json", "--include", "*", m, o))
            self.assertEqual([t["name"] for t in r["tensors"] if t["rounded"] and t["name"] != "a.zero"], ["a.W_k"])

    def test_known(self):
        """Values of known layouts are rounded as those that decode writes; with --include as much as it names, by --layout."""
        m, o, v, w = (self.path(n + ".safetensors") for n in "movw")
        for name in KNOWN:
            self.make(LAYOUTS[name] + [PLAIN])
            self.ok("decode", m, v)
            for args in (("-f", "bfloat16", "--codes"), ("-f", "float4_e2m1fn")):
                self.ok("quantize", *args, m, o)
                self.ok("quantize", *args, v, w)
                self.assertEqual(self.read("o.safetensors"), self.read("w.safetensors"), (name, args))
            first = LAYOUTS[name][0][0]
            r = json.loads(self.ok("quantize", "-f", "nvfp4", "--json", "--include", first, "--layout", "auto", m, o))
            self.assertEqual([t["name"] for t in r["tensors"] if t["rounded"]], [first])

    def test_named(self):
        """Others are rounded where --include names them; codes and scales never are, by no pattern."""
        o = self.path("o.safetensors")
        for name, layout in LAYOUTS.items():
            m = self.make(layout + [PLAIN])
            before = parse_safetensors(self.read("m.safetensors"))[0]
            companions = [t[0] for t in layout if t[0] != "e.gate_up_proj_bias"]
            for args in (("--include", "lm_head.weight"), ("--include", "*", "--any-rank", "--exclude", "e.gate*bias")):
                if name != "experts" and "--exclude" in args:
                    args = args[:3]
                r = json.loads(self.ok("quantize", "-f", "float4_e2m1fn", "--json", m, o, *args))
                self.assertEqual([t["name"] for t in r["tensors"] if t["rounded"]], ["lm_head.weight"], (name, args))
                after = parse_safetensors(self.read("o.safetensors"))[0]
                changed = {n for n in before if before[n] != after[n]}
                self.assertEqual(changed, {"lm_head.weight"}, (name, args))
            for one in companions:
                self.bad("quantize", "-f", "float4_e2m1fn", "--any-rank", "--include", one, m, o, says=(one, "never rounded"))
            self.ok("compare", "-f", "nvfp4", "-f", "mxfp4", "--include", "lm_head.weight", m)

    def test_scales_in_another_file(self):
        """A shard may have scales without their weights, which names alone tell."""
        m, o = self.make([("l.weight_scale_inv", "F32", (2, 2)), ("a.gate_up_proj_scales", "F32", (2, 2)), PLAIN]), self.path("o.safetensors")
        before = parse_safetensors(self.read("m.safetensors"))[0]
        self.ok("quantize", "-f", "float4_e2m1fn", m, o)
        after = parse_safetensors(self.read("o.safetensors"))[0]
        self.assertEqual({n for n in before if before[n] != after[n]}, {"lm_head.weight"})

    def test_plain_names(self):
        """Of a model without codes: a name that ends as those of scales do is rounded by its whole name, and else told."""
        o, plain = self.path("o.safetensors"), [("a.logit_scale", "BF16", (4, 1, 1)), PLAIN]
        for reader in ("quantize", "compare"):
            m = self.make(plain)
            args = ("quantize", "-f", "float4_e2m1fn", m, o) if reader == "quantize" else ("compare", "-f", "nvfp4", "-f", "mxfp4", m)
            said = "note: a.logit_scale: not rounded"
            for more, told in (((), 1), (("--include", "*"), 1), (("--include", "lm*"), 0), (("--exclude", "a*"), 0),
                               (("--include", "a.logit_scale", "--include", "*"), 0)):  # fmt: skip
                self.assertEqual(self.ok(*args, *more).count(said), told, (args, more))
            self.bad(*args, "--include", "a.*", says=("no tensor to round", "'a.logit_scale'", "--include"))
            # What else says that the model is quantized.
            for layout, metadata in ((plain + LAYOUTS["fp8 blocks"], None), (plain, {"quantization_config": "{}"}),
                                     (plain + [("l.weight_scale_inv", "F32", (2, 2))], None)):  # fmt: skip
                self.make(layout, metadata)
                self.bad(*args, "--include", "a.logit_scale", says=("a.logit_scale", "never rounded"))
        m = self.make(plain)
        r = json.loads(self.ok("quantize", "-f", "float4_e2m1fn", "--json", m, o, "--include", "a.logit_scale"))
        self.assertEqual([t["name"] for t in r["tensors"] if t["rounded"]], ["a.logit_scale"])
        self.ok("quantize", "-f", "nvfp4", "--codes", m, o, "--include", "lm*")
        self.bad("quantize", "-f", "nvfp4", o, m, "--include", "a.logit_scale", says=("a.logit_scale", "never rounded"))

    def test_common_words(self):
        """`scale` and `k_bias` are weights where nothing is in codes, and integers are places."""
        layout = [("norm.scale", "F32", (2, 2)), ("attn.k_bias", "F32", (2, 2)), ("ids", "I64", (1, 4)), ("embed.ids", "I32", (1, 4)),
                  ("scale", "F32", (2, 2)), ("mask", "U8", (2, 2)), PLAIN]  # fmt: skip
        m, o = self.make(layout, {"format": "pt", "scale": "1"}), self.path("o.safetensors")
        r = json.loads(self.ok("quantize", "-f", "float4_e2m1fn", "--json", m, o))
        self.assertEqual(sum(t["rounded"] for t in r["tensors"]), 4)

    def test_metadata(self):
        """What the header says: a configuration, and names of tensors that no table has."""
        o = self.path("o.safetensors")
        for key in ("quantization_config", "_quantization_metadata", "tensor_names"):
            m = self.make([PLAIN], {key: "{}"})
            self.bad("quantize", "-f", "nvfp4", m, o, says=(m, "quantized already", "its metadata", key, "--include"))
            self.ok("quantize", "-f", "nvfp4", m, o, "--include", "lm*")
        names = {"0.weight": json.dumps({"_type": "T", "_tensor_data_names": ["left", "right"]})}
        m = self.make([("0._weight_left", "F32", (2, 2)), ("0.weight:right", "F32", (2, 2)), PLAIN], names)
        r = json.loads(self.ok("quantize", "-f", "float4_e2m1fn", "--json", "--include", "*", m, o))
        self.assertEqual([t["name"] for t in r["tensors"] if t["rounded"]], ["lm_head.weight"])

    def test_beside(self):
        """config.json and hf_quant_config.json in the model's folder."""
        m, o = self.make([PLAIN]), self.path("o.safetensors")
        for name, text in (
            ("config.json", {"quantization_config": {"quant_method": "fp8"}}),
            ("config.json", {"text_config": {"quantization_config": {"quant_method": "awq"}}}),
            ("hf_quant_config.json", {"quantization": {"quant_algo": "NVFP4"}}),
        ):
            self.write(name, json.dumps(text).encode())
            self.bad("quantize", "-f", "nvfp4", m, o, says=(m, "quantized already", name + " beside it", "--include"))
            self.bad("quantize", "-f", "nvfp4", "m.safetensors", o, cwd=self.folder.name, says=name + " beside it")
            self.ok("quantize", "-f", "nvfp4", m, o, "--include", "*")
            self.write(name, b"{}")
        config = json.dumps({"quantization_config": {"quant_method": "fp8"}}).encode()
        for name, text in (  # as Python and editors write them, which is no JSON
            ("config.json", b'{"time_step_limit": [0.0, Infinity], ' + config[1:]),
            ("config.json", b'{"x": NaN, "text_config": ' + config + b"}"),
            ("config.json", b"\xef\xbb\xbf" + config),
            ("config.json", b'{"""quantization_config": {}, }'),
            ("hf_quant_config.json", b'{"x": NaN, "quantization": {}}'),
        ):
            self.write(name, text)
            self.bad("quantize", "-f", "nvfp4", m, o, says=(m, "quantized already", name + " beside it", "--include"))
            self.write(name, b"{}")
        for text in (b'\xef\xbb\xbf{"quantization_config": null}', b'{"x": NaN, "quantization": {}}', b'{"x": NaN, "quantization_config'):
            self.write("config.json", text)
            self.ok("quantize", "-f", "nvfp4", m, o)
        os.unlink(self.path("config.json"))
        os.mkfifo(self.path("config.json"))
        self.ok("quantize", "-f", "nvfp4", m, o)
        os.unlink(self.path("config.json"))
        for text in (b'{"quantization_config": null}', b"{", b"", b'["quantization_config"]', b'{"model_type": "llama"}'):
            self.write("config.json", text)
            self.ok("quantize", "-f", "nvfp4", m, o)

    def test_own_codes(self):
        """A file of `quantize --codes`: refused without names; the rest follows by --exclude or --include."""
        m, o, z = self.make([PLAIN, ("l.weight", "F32", (2, 32))]), self.path("o.safetensors"), self.path("z.safetensors")
        for fmt in ("nvfp4", "float8_e4m3fn", "float4_e2m1fn"):
            self.ok("quantize", "-f", fmt, "--codes", m, o, "--include", "l.weight")
            self.bad("quantize", "-f", "bfloat16", o, z, says=(o, "quantized already", "'halfulp.l.weight'", "--exclude", "decode"))
            for args in (("--exclude", "l.*"), ("--include", "lm*"), ("--include", "*")):
                self.ok("quantize", "-f", "float4_e2m1fn", o, z, *args)
                before, after = (parse_safetensors(self.read(n))[0] for n in ("o.safetensors", "z.safetensors"))
                self.assertEqual({n for n in before if before[n] != after[n]}, {"lm_head.weight"}, (fmt, args))

    def test_plot(self):
        """What is drawn without --tensor is no scale."""
        plot = ("plot", "-f", "bfloat16", "-o", self.path("p.svg"), "--json", "--array")
        m = self.make(LAYOUTS["fp8 blocks"] + [PLAIN])
        self.assertEqual(json.loads(self.ok(*plot, m))["data"]["count"], 8)
        m = self.make(LAYOUTS["fp8 channels"])
        self.assertEqual(json.loads(self.ok(*plot, m))["data"]["count"], 16)
        self.assertEqual(json.loads(self.ok(*plot, m, "--tensor", "l.weight_scale"))["data"]["count"], 4)
        m = self.make(LAYOUTS["fp8 blocks"])
        self.bad(*plot, m, says=(m, "scales no other", "--tensor"))
        self.assertEqual(json.loads(self.ok(*plot, m, "--tensor", "l.weight_scale_inv"))["data"]["count"], 4)

    def test_gguf(self):
        o = self.path("o.gguf")
        self.write("m.gguf", gguf([("b.weight", (2, 32), MXFP4, pattern(34)), ("b.scale", (1, 1), F32, floats([0.0007])),
                                   ("b.input_scale", (1, 1), F32, floats([0.0007])), ("out.weight", (2, 32), F32, floats([0.3] * 64))]))  # fmt: skip
        m = self.path("m.gguf")
        before = parse_gguf(self.read("m.gguf"))[0]
        for args in ((), ("--any-rank",), ("--include", "out.weight"), ("--include", "*", "--any-rank")):
            self.ok("quantize", "-f", "float4_e2m1fn", m, o, *args)  # without --include, the values of blocks are rounded
            after = parse_gguf(self.read("o.gguf"))[0]
            self.assertEqual({n for n in before if before[n] != after[n]}, {"out.weight"} if "--include" in args else {"out.weight", "b.weight"})
        self.write("m.gguf", gguf([("w", (2, 32), F32, floats([0.3] * 64)), ("w.scale", (1, 1), F32, floats([0.0007]))]))
        self.ok("quantize", "-f", "float4_e2m1fn", m, o)  # scales beside no blocks stay, too
        self.assertEqual(parse_gguf(self.read("o.gguf"))[0]["w.scale"], parse_gguf(self.read("m.gguf"))[0]["w.scale"])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=sys.argv[:1])
