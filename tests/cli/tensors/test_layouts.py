# SPDX-License-Identifier: MIT
"""Checkpoints in layouts of other programs, through decode: files are made here from the layouts' public descriptions, and
their values computed by layout_files.py."""

import json
import math
import os
import shutil
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from layout_case import Layouts  # noqa: E402
from layout_files import (  # noqa: E402
    awq, columns, e2m1, e2m3, e3m2, e4m3, e5m3, e8m0, f32, minifloat, nibbles, product, rows, stream, tiles, twos,
    words_apart)
from support import floats, parse_safetensors, safetensors  # noqa: E402


def bf16(values):
    return b"".join(struct.pack("<f", v)[2:] for v in values)


class Fp8(Layouts):
    def blocks(self, n, cols, sides, scales):
        codes = self.draw.codes(n * cols, 8)
        across = -(-cols // sides[1])
        want = [product(e4m3(c), scales[i // cols // sides[0] * across + i % cols // sides[1]])
                for i, c in enumerate(codes)]
        return bytes(codes), want

    def test_plain(self):
        e4 = bytes(range(256))
        self.check([("layer.weight", "F8_E4M3", (4, 64), e4)], [e4m3(c) for c in e4], (4, 64))
        fn = [minifloat(c, 5, 2, 15, [125, 126, 127]) for c in e4]
        fn[124], fn[252] = math.inf, -math.inf
        self.check([("layer.weight", "F8_E5M2", (256,), e4)], fn, (256,))
        self.check([("layer.weight", "F8_E8M0", (256,), e4)], [e8m0(c) for c in e4], (256,))
        fnuz = [math.nan if c == 128 else minifloat(c, 4, 3, 8, []) for c in e4]
        self.check([("layer.weight", "F8_E4M3FNUZ", (16, 16), e4)], fnuz, (16, 16))
        codes = self.draw.codes(30, 4)
        self.check([("layer.weight", "F4", (6, 5), nibbles(codes))], [e2m1(c) for c in codes], (6, 5))
        codes = self.draw.codes(28, 6)
        self.check([("layer.weight", "F6_E2M3", (4, 7), stream(codes, 6))], [e2m3(c) for c in codes], (4, 7))
        self.check([("layer.weight", "F6_E3M2", (4, 7), stream(codes, 6))], [e3m2(c) for c in codes], (4, 7))

    def test_blocks(self):
        """576 rows and 5 scales are blocks of 128, of which the last one is short: not 576 / 5."""
        scales = self.draw.numbers(10)
        data, want = self.blocks(576, 130, (128, 128), scales)
        self.check([("layer.weight", "F8_E4M3", (576, 130), data),
                    ("layer.weight_scale_inv", "F32", (5, 2), floats(scales))], want, (576, 130))
        halves = self.draw.halves(12)
        data, want = self.blocks(5, 11, (2, 3), halves)
        config = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [2, 3]}, "rope": float("nan")}
        self.check([("layer.weight", "F8_E4M3", (5, 11), data),
                    ("layer.weight_scale_inv", "BF16", (3, 4), bf16(halves)),
                    ("layer.activation_scale", "F32", (), floats([2]))], want, (5, 11), config=config)
        self.refused([("layer.weight", "F8_E4M3", (5, 11), data),
                      ("layer.weight_scale_inv", "BF16", (3, 3), bf16(halves[:9]))], "m.safetensors", "layer.weight_scale_inv",
                     "blocks of 2 x 3, which the config gives", "[3, 3]", config=config)
        self.refused([("layer.weight", "F8_E4M3", (5, 11), data),
                      ("layer.weight_scale_inv", "BF16", (3, 4), bf16(halves))], "config.json")

    def test_whole(self):
        """One scale for the tensor, for each row, for each expert."""
        data, want = self.blocks(3, 5, (99, 99), [0.375])
        config = {"quantization_config": {"quant_method": "fp8", "weight_block_size": None}}
        for shape in ((), (1,), (1, 1)):
            self.check([("layer.weight", "F8_E4M3", (3, 5), data),
                        ("layer.weight_scale_inv", "F32", shape, floats([0.375]))], want, (3, 5), config=config)
        scales = self.draw.numbers(3)
        data, want = self.blocks(3, 5, (1, 99), scales)
        for shape in ((3,), (3, 1)):
            self.check([("layer.weight", "F8_E4M3", (3, 5), data), ("layer.weight_scale", "F32", shape, floats(scales)),
                        ("layer.input_scale", "F32", (), floats([9]))], want, (3, 5))
        self.check([("layer.experts", "F8_E4M3", (3, 5, 1), data), ("layer.experts_scale", "F32", (3,), floats(scales))],
                   [product(e4m3(c), scales[i // 5]) for i, c in enumerate(data)], (3, 5, 1), name="layer.experts")

    def test_experts(self):
        """Blocks begin anew in each expert."""
        scales = self.draw.numbers(2 * 2 * 3)
        codes = self.draw.codes(2 * 3 * 7, 8)
        want = [product(e4m3(c), scales[i // 21 * 6 + i % 21 // 7 // 2 * 3 + i % 7 // 3]) for i, c in enumerate(codes)]
        config = {"quantization_config": {"quant_method": "fp8", "weight_block_size": [2, 3]}}
        self.check([("mlp.up", "F8_E4M3", (2, 3, 7), bytes(codes)), ("mlp.up_scales_inv", "F32", (2, 2, 3), floats(scales))],
                   want, (2, 3, 7), name="mlp.up", config=config)

    def test_fbgemm(self):
        """The scale of Llama 4's down_proj belongs to the last axis, whatever its shape says."""
        scales, codes = self.draw.numbers(6), self.draw.codes(18, 8)
        config = {"quantization_config": {"quant_method": "fbgemm_fp8"}}
        want = [product(e4m3(c), scales[i // 9 * 3 + i % 3]) for i, c in enumerate(codes)]
        self.check([("down", "F8_E4M3", (2, 3, 3), bytes(codes)), ("down_scale", "F32", (2, 3, 1), floats(scales))],
                   want, (2, 3, 3), name="down", config=config)

    def test_e8m0(self):
        """MXFP8 under three names; DeepSeek-V4's blocks of 128 and of 32."""
        codes, scales = self.draw.codes(3 * 70, 8), self.draw.codes(9, 8)
        want = [product(e4m3(c), e8m0(scales[i // 70 * 3 + i % 70 // 32])) for i, c in enumerate(codes)]
        for name in ("layer.weight_scale_inv", "layer.weight_scale"):
            self.check([("layer.weight", "F8_E4M3", (3, 70), bytes(codes)), (name, "U8", (3, 3), bytes(scales))], want, (3, 70))
        for side, across in ((128, 1), (32, 3)):
            scales = self.draw.codes(2 * across if side == 128 else 5 * across, 8)
            n = 130 if side == 128 else 150
            data = self.draw.codes(n * 70, 8)
            want = [product(e4m3(c), e8m0(scales[i // 70 // side * across + i % 70 // side])) for i, c in enumerate(data)]
            self.check([("layer.weight", "F8_E4M3", (n, 70), bytes(data)),
                        ("layer.scale", "F8_E8M0", (len(scales) // across, across), bytes(scales))], want, (n, 70))

    def test_comfy(self):
        data, want = self.blocks(3, 5, (99, 99), [0.375])
        self.check([("layer.weight", "F8_E4M3", (3, 5), data), ("layer.scale_weight", "F32", (), floats([0.375])),
                    ("layer.scale_input", "F32", (), floats([3])), ("scaled_fp8", "F8_E4M3", (0,), b"")], want, (3, 5))
        mark = json.dumps({"format": "float8_e4m3fn"}).encode()
        self.check([("layer.weight", "F8_E4M3", (3, 5), data), ("layer.weight_scale", "F32", (), floats([0.375])),
                    ("layer.comfy_quant", "U8", (len(mark),), mark)], want, (3, 5))
        mark = json.dumps({"format": "convrot_w4a4"}).encode()
        self.refused([("layer.weight", "F8_E4M3", (3, 5), data), ("layer.weight_scale", "F32", (), floats([0.375])),
                      ("layer.comfy_quant", "U8", (len(mark),), mark)], "layer.weight", "convrot_w4a4")

    def test_mistral_and_torchao(self):
        data, want = self.blocks(3, 5, (1, 99), [0.375, 3, 1.5])
        self.check([("layer.weight", "F8_E4M3", (3, 5), data), ("layer.qscale_weight", "F32", (3,), floats([0.375, 3, 1.5])),
                    ("layer.qscale_act", "F32", (), floats([3]))], want, (3, 5))
        said = {"_type": "Float8Tensor", "_data": {"block_size": [1, 5]}, "_tensor_data_names": ["qdata", "scale"]}
        metadata = {"tensor_names": '["layer.weight"]', "layer.weight": json.dumps(said), "format": "pt"}
        self.check([("layer._weight_qdata", "F8_E4M3", (3, 5), data),
                    ("layer._weight_scale", "F32", (3, 1), floats([0.375, 3, 1.5]))], want, (3, 5), metadata=metadata)
        self.assertEqual(parse_safetensors(self.read("o.safetensors"))[1], {"format": "pt"})

    def test_stray(self):
        """A scale in no known layout, and one in a shard that is not open, are not passed over."""
        data = bytes(15)
        self.refused([("layer.weight", "F8_E4M3", (3, 5), data), ("layer.weight_some_scale", "F32", (), floats([1]))],
                     "m.safetensors", "'layer.weight'", "'layer.weight_some_scale' seems to scale it")
        self.refused([("layer.weight", "F8_E4M3", (3, 5), data), ("layer.weight_scale", "I32", (), bytes(4))],
                     "'layer.weight_scale' seems to scale it")


class Fp4(Layouts):
    def nvfp4(self, n, cols, factor, high=False, scale=e4m3):
        codes, scales = self.draw.codes(n * cols, 4), self.draw.codes(n * (-(-cols // 16)), 7)
        scales = [s if s < 127 else 126 for s in scales]
        across = -(-cols // 16)
        want = [product(e2m1(c), factor(scale(scales[i // cols * across + i % cols // 16]))) for i, c in enumerate(codes)]
        return nibbles(codes, high), scales, want

    def test_modelopt(self):
        """Two levels that are multiplied; the half of a byte and the tiles are open unless a config says whose file it is."""
        second = f32(0.001)
        data, scales, want = self.nvfp4(3, 40, lambda s: product(s, second))
        tensors = [("layer.weight", "U8", (3, 20), data), ("layer.weight_scale", "F8_E4M3", (3, 3), bytes(scales)),
                   ("layer.weight_scale_2", "F32", (), floats([second])), ("layer.input_scale", "F32", (), floats([2]))]
        self.check(tensors, want, (3, 40), note="--layout decides")
        self.check(tensors, want, (3, 40), "--layout", "modelopt-nvfp4")
        self.check(tensors, want, (3, 40), config={"quantization_config": {"quant_method": "modelopt"}})
        os.remove(self.path("config.json"))
        self.write("hf_quant_config.json", b'{"quantization": {"quant_algo": "NVFP4"}}')
        self.check(tensors, want, (3, 40))
        os.remove(self.path("hf_quant_config.json"))
        self.refused(tensors, "tiles of 128 x 4", args=("--layout", "comfy-nvfp4"))
        self.refused(tensors, "'nvfp4' is not a layout", args=("--layout", "nvfp4"))
        self.refused(tensors, "no tensor can have the layout ct-nvfp4", args=("--layout", "ct-nvfp4"))

    def test_order_of_products(self):
        """0.8125 times 0.001, and 0.8125 divided by the reciprocal, differ in the last bit."""
        ones = bytes([0x22] * 8)
        a = [("layer.weight", "U8", (1, 8), ones), ("layer.weight_scale", "F8_E4M3", (1, 1), b"\x35"),
             ("layer.weight_scale_2", "F32", (), struct.pack("<I", 0x3A83126F))]
        b = [("layer.weight_packed", "U8", (1, 8), ones), ("layer.weight_scale", "F8_E4M3", (1, 1), b"\x35"),
             ("layer.weight_global_scale", "F32", (1,), struct.pack("<I", 0x4479FFFF))]
        for tensors, bits in ((a, 0x3A54FDF4), (b, 0x3A54FDF5)):
            want = [struct.unpack("<f", struct.pack("<I", bits))[0]] * 16
            self.check(tensors, want, (1, 16), note="--layout" if tensors is a else "")

    def test_compressed(self):
        divisor = f32(1234.5)
        data, scales, want = self.nvfp4(3, 40, lambda s: f32(s / divisor))
        self.check([("layer.weight_packed", "U8", (3, 20), data), ("layer.weight_scale", "F8_E4M3", (3, 3), bytes(scales)),
                    ("layer.weight_global_scale", "F32", (1,), floats([divisor])),
                    ("layer.input_global_scale", "F32", (1,), floats([7]))], want, (3, 40))
        data, scales, want = self.nvfp4(3, 48, lambda s: s, scale=e5m3)
        self.check([("layer.weight_packed", "U8", (3, 24), data), ("layer.weight_scale", "U8", (3, 3), bytes(scales))],
                   want, (3, 48))
        codes, scales = self.draw.codes(3 * 64, 4), self.draw.codes(6, 8)
        want = [product(e2m1(c), e8m0(scales[i // 32])) for i, c in enumerate(codes)]
        for name in ("layer.weight_packed", "layer.weight"):
            self.check([(name, "U8", (3, 32), nibbles(codes)), ("layer.weight_scale", "U8", (3, 2), bytes(scales))], want, (3, 64))

    def test_comfy(self):
        """The high half first, scales in tiles, of 130 rows filled up to 256."""
        second = f32(0.03)
        data, scales, want = self.nvfp4(144, 80, lambda s: product(s, second), high=True)
        mark = {"layers": {"layer": {"format": "nvfp4"}}}
        self.check([("layer.weight", "U8", (144, 40), data),
                    ("layer.weight_scale", "F8_E4M3", (256, 8), tiles(scales, 144, 5)),
                    ("layer.weight_scale_2", "F32", (), floats([second]))], want, (144, 80),
                   metadata={"_quantization_metadata": json.dumps(mark)})
        codes, scales = self.draw.codes(32 * 96, 8), self.draw.codes(96, 8)
        want = [product(e4m3(c), e8m0(scales[i // 32])) for i, c in enumerate(codes)]
        mark = json.dumps({"format": "mxfp8"}).encode()
        self.check([("layer.weight", "F8_E4M3", (32, 96), bytes(codes)),
                    ("layer.weight_scale", "F8_E8M0", (128, 4), tiles(scales, 32, 3)),
                    ("layer.comfy_quant", "U8", (len(mark),), mark)], want, (32, 96))

    def test_experts(self):
        """gpt-oss: the matrix has rows of G x 32, not of 16 or 32."""
        codes, scales = self.draw.codes(2 * 3 * 64, 4), self.draw.codes(12, 8)
        want = [product(e2m1(c), e8m0(scales[i // 32])) for i, c in enumerate(codes)]
        for a, b in (("_blocks", "_scales"), (".blocks", ".scales")):
            self.check([("mlp.up" + a, "U8", (2, 3, 2, 16), nibbles(codes)), ("mlp.up" + b, "U8", (2, 3, 2), bytes(scales))],
                       want, (2, 3, 64), name="mlp.up")
        self.check([("w1.weight", "I8", (6, 32), nibbles(codes)), ("w1.scale", "F8_E8M0", (6, 2), bytes(scales))],
                   want, (6, 64), name="w1.weight")
        self.refused([("up_blocks", "U8", (3, 2, 8), bytes(48)), ("up_scales", "U8", (3, 2), bytes(6))], "up_blocks", "16 bytes")

    def test_six(self):
        codes, scales = self.draw.codes(3 * 64, 6), self.draw.codes(6, 8)
        for word, value in (("fp6_e2m3", e2m3), ("fp6_e3m2", e3m2)):
            want = [product(value(c), e8m0(scales[i // 32])) for i, c in enumerate(codes)]
            config = {"quantization_config": {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": word}}}}
            tensors = [("layer.weight", "U8", (3, 48), stream(codes, 6)), ("layer.weight_scale", "U8", (3, 2), bytes(scales))]
            self.check(tensors, want, (3, 64), config=config)
            self.check(tensors, want, (3, 64), "--layout", "mxfp6-" + word[4:])
        self.refused(tensors, "layer.weight_scale")

    def test_torchao(self):
        second = f32(0.001)
        for swizzled in (False, True):
            data, scales, want = self.nvfp4(3, 48, lambda s: product(s, second))
            said = {"_type": "NVFP4Tensor", "_data": {"is_swizzled_scales": swizzled}}
            kept = tiles(scales, 3, 3) if swizzled else bytes(scales)
            self.check([("_weight_qdata", "U8", (3, 24), data),
                        ("_weight_scale", "F8_E4M3", (128, 4) if swizzled else (3, 3), kept),
                        ("_weight_per_tensor_scale", "F32", (), floats([second]))], want, (3, 48), name="weight",
                       metadata={"weight": json.dumps(said)})
        codes, scales = self.draw.codes(3 * 64, 4), self.draw.codes(6, 8)
        want = [product(e2m1(c), e8m0(scales[i // 32])) for i, c in enumerate(codes)]
        said = {"_type": "MXTensor", "_data": {"elem_dtype": "torch.float4_e2m1fn_x2"}}
        self.check([("a._w_qdata", "U8", (3, 32), nibbles(codes)), ("a._w_scale", "F8_E8M0", (3, 2), bytes(scales))],
                   want, (3, 64), name="a.w", metadata={"a.w": json.dumps(said)})


class Integers(Layouts):
    def test_compressed(self):
        """Stored as the number plus 2^(bits - 1); 3 bits before and after May 2026; zero points down the rows; an order."""
        for bits, cols, dense in ((4, 40, True), (8, 40, True), (3, 64, False), (3, 64, True), (2, 32, True), (3, 40, True), (3, 40, False)):
            codes, scales = self.draw.codes(5 * cols, bits), self.draw.halves(10)
            words = rows(codes, cols, bits, 4) if dense else words_apart(codes, cols, bits)
            want = [product(c - (1 << bits - 1), scales[i // (cols // 2)]) for i, c in enumerate(codes)]
            tensors = [("layer.weight_packed", "I32", (5, len(words) // 20), words),
                       ("layer.weight_scale", "BF16", (5, 2), bf16(scales)),
                       ("layer.weight_shape", "I64", (2,), struct.pack("<2q", 5, cols))]
            config = {"quantization_config": {"config_groups": {"group_0": {"weights": {"num_bits": bits}}}}}
            layout = () if dense or cols != 40 else ("--layout", "ct-int-apart")
            note = "ct-int-apart is the latter" if bits == 3 and cols == 40 and dense else ""
            self.check(tensors, want, (5, cols), *layout, config=config, note=note)
            if bits == 4:
                self.check(tensors, want, (5, cols))
        codes, scales, zeros = self.draw.codes(8 * 12, 4), self.draw.halves(24), self.draw.codes(24, 4)
        group = [0, 1, 2] * 4
        want = [product(c - zeros[i // 12 * 3 + group[i % 12]], scales[i // 12 * 3 + group[i % 12]])
                for i, c in enumerate(codes)]
        down = columns([zeros[r * 3 + g] for g in range(3) for r in range(8)], 8, 4)
        self.check([("layer.weight_packed", "I32", (8, 2), rows(codes, 12, 4, 4)),
                    ("layer.weight_scale", "F16", (8, 3), floats(scales, "<e")),
                    ("layer.weight_zero_point", "I32", (1, 3), down), ("layer.weight_g_idx", "I32", (12,), struct.pack("<12i", *group)),
                    ("layer.weight_shape", "I32", (2,), struct.pack("<2i", 8, 12))], want, (8, 12),
                   config={"quantization_config": {"config_groups": {"group_0": {"weights": {"num_bits": 4}}}}})

    def test_zeros_beside_words_apart(self):
        self.refused([("layer.weight_packed", "I32", (1, 4), bytes(16)), ("layer.weight_scale", "F16", (1, 1), bytes(2)),
                      ("layer.weight_zero_point", "I32", (1, 1), bytes(4)), ("layer.weight_shape", "I32", (2,), struct.pack("<2i", 1, 19))],
                     "layer.weight_zero_point", "which are not read",
                     config={"quantization_config": {"config_groups": {"group_0": {"weights": {"num_bits": 5}}}}})

    def test_partial_group(self):
        codes, scales = self.draw.codes(2 * 40, 4), self.draw.halves(6)
        config = {"quantization_config": {"config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 16}}}}}
        want = [product(c - 8, scales[i // 40 * 3 + i % 40 // 16]) for i, c in enumerate(codes)]
        tensors = [("layer.weight_packed", "I32", (2, 5), rows(codes, 40, 4, 4)), ("layer.weight_scale", "BF16", (2, 3), bf16(scales)),
                   ("layer.weight_shape", "I64", (2,), struct.pack("<2q", 2, 40))]
        self.check(tensors, want, (2, 40), config=config)
        self.refused(tensors, "layer.weight_scale", "groups do not divide a row")

    def test_int8_and_awq_of_modelopt(self):
        codes, scales = self.draw.codes(15, 8), self.draw.numbers(3)
        want = [product(twos(c, 8), scales[i // 5]) for i, c in enumerate(codes)]
        self.check([("layer.weight", "I8", (3, 5), bytes(codes)), ("layer.weight_scale", "F32", (3, 1), floats(scales))], want, (3, 5))
        self.refused([("layer.weight", "I8", (3, 5), bytes(codes)), ("layer.weight_scale", "F32", (3, 1), floats(scales)),
                      ("layer.weight_zero_point", "I8", (3, 1), b"\1\2\3")], "layer.weight_zero_point", "are not read in layout ct-int8")
        codes, scales = self.draw.codes(4 * 6, 4), self.draw.numbers(12)
        packed = bytes(codes[2 * i // 2 * 2 * 6 + c] | codes[(2 * i + 1) * 6 + c] << 4 for i in range(2) for c in range(6))
        want = [product(twos(c, 4), scales[i // 6 * 3 + i % 6 // 2]) for i, c in enumerate(codes)]
        self.check([("layer.weight", "U8", (2, 6), packed), ("layer.weight_scale", "F32", (4, 3), floats(scales)),
                    ("layer.pre_quant_scale", "BF16", (6,), bytes(12))], want, (4, 6))

    def test_awq(self):
        codes, scales, zeros = self.draw.codes(16 * 12, 4), self.draw.halves(48), self.draw.codes(48, 4)
        want = [product(c - zeros[i // 12 * 3 + i % 12 // 4], scales[i % 12 // 4 * 16 + i // 12]) for i, c in enumerate(codes)]
        self.check([("layer.qweight", "I32", (12, 2), awq(codes, 12)), ("layer.qzeros", "I32", (3, 2), awq(zeros, 3)),
                    ("layer.scales", "F16", (3, 16), floats(scales, "<e"))], want, (16, 12))
        # The columns of one word: 8 4 7 3 6 2 5 1, zero 7, scale 0.5.
        self.check([("layer.qweight", "I32", (1, 1), struct.pack("<I", 0x12345678)), ("layer.qzeros", "I32", (1, 1), b"\x77" * 4),
                    ("layer.scales", "F16", (1, 8), floats([0.5] * 8, "<e"))],
                   [0.5, -1.5, 0, -2, -0.5, -2.5, -1, -3], (8, 1))

    def gptq(self, bits, plus, order):
        codes, scales, zeros = self.draw.codes(8 * 32, bits), self.draw.halves(16), self.draw.codes(16, bits)
        group = [i * 7 % 2 if order else i // 16 for i in range(32)]
        want = [product(c - zeros[group[i % 32] * 8 + i // 32] - plus, scales[group[i % 32] * 8 + i // 32]) for i, c in enumerate(codes)]
        tensors = [("layer.qweight", "I32", (bits, 8), columns(codes, 32, bits)),
                   ("layer.qzeros", "I32", (2, -(-8 * bits // 32)), rows(zeros, 8, bits, 4)),
                   ("layer.scales", "F16", (2, 8), floats(scales, "<e"))]
        if order:
            tensors.append(("layer.g_idx", "I32", (32,), struct.pack("<32i", *group)))
        return tensors, want

    def test_gptq(self):
        """Zero points minus 1 in version 1, as they are in version 2; 3 bits across words; an order of columns."""
        for bits in (2, 3, 4, 8):
            for plus, checkpoint in ((1, "gptq"), (0, "gptq_v2")):
                tensors, want = self.gptq(bits, plus, bits != 8)
                config = {"quantization_config": {"quant_method": "gptq", "bits": bits, "group_size": 16, "checkpoint_format": checkpoint}}
                self.check(tensors, want, (8, 32), config=config)
        tensors, want = self.gptq(4, 0, False)
        self.check(tensors, want, (8, 32), "--layout", "gptq-v2", config={"quantization_config": {"bits": 4}})
        config = {"quantization_config": {"quant_method": "auto-round", "packing_format": "auto_round:gptqmodel", "bits": 4}}
        self.check(tensors, want, (8, 32), config=config)
        tensors, want = self.gptq(4, 1, True)
        self.check(tensors, want, (8, 32), note="stored minus 1")
        tensors[-1] = ("layer.g_idx", "I32", (32,), struct.pack("<32i", *[2] * 32))
        self.refused(tensors, "layer.g_idx", "a group beyond the scales")
        tensors[-1] = ("layer.g_idx", "I32", (32,), struct.pack("<32i", *[-1] * 32))
        for n in (0, 3):  # groups that divide no row are nothing without an order
            tensors[1:3] = [("layer.qzeros", "I32", (n, 1), bytes(4 * n)), ("layer.scales", "F16", (n, 8), bytes(16 * n))]
            self.refused(tensors, "layer.scales", "groups do not divide a row")

    def test_mlx(self):
        for bits, size in ((4, 32), (3, 64), (8, 64), (2, 32)):
            cols = 64
            groups = cols // size
            codes, scales, biases = self.draw.codes(3 * cols, bits), self.draw.halves(3 * groups), self.draw.halves(3 * groups)
            want = [f32(c * scales[i // size] - biases[i // size]) for i, c in enumerate(codes)]
            config = {"quantization": {"group_size": size, "bits": 9 - bits, "layer": {"group_size": size, "bits": bits}}}
            self.check([("layer.weight", "U32", (3, 2 * bits), rows(codes, cols, bits, 4)), ("layer.scales", "F16", (3, groups), floats(scales, "<e")),
                        ("layer.biases", "F16", (3, groups), floats([-b for b in biases], "<e"))], want, (3, cols), config=config)
        for scale, value, bits, size in ((e8m0, e2m1, 4, 32), (e8m0, e4m3, 8, 32), (e4m3, e2m1, 4, 16)):
            codes, scales = self.draw.codes(3 * 64, bits), self.draw.codes(3 * 64 // size, 7)
            want = [product(value(c), scale(scales[i // size])) for i, c in enumerate(codes)]
            self.check([("layer.weight", "U32", (3, 2 * bits), rows(codes, 64, bits, 4)),
                        ("layer.scales", "U8", (3, 64 // size), bytes(scales))], want, (3, 64))
        self.refused([("layer.weight", "U32", (3, 8), bytes(96)), ("layer.scales", "F16", (3, 1), bytes(6)),
                      ("layer.biases", "F16", (3, 1), bytes(6))], "config.json has no quantization")


class Bitsandbytes(Layouts):
    table = [f32(math.sinh(i - 7.5)) for i in range(16)]

    def state(self, **more):
        said = {"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [5, 27], **more}
        return json.dumps(said).encode()

    def test_flat(self):
        """Blocks run across rows, the even code is in the high half, and an odd one is left over."""
        codes, absmax = self.draw.codes(135, 4), self.draw.numbers(3)
        want = [product(self.table[c], absmax[i // 64]) for i, c in enumerate(codes)]
        packed = nibbles(codes + [5], high=True)
        state = self.state()
        tensors = [("layer.weight", "U8", (68, 1), packed), ("layer.weight.absmax", "F32", (3,), floats(absmax)),
                   ("layer.weight.quant_map", "F32", (16,), floats(self.table)),
                   ("layer.weight.quant_state.bitsandbytes__nf4", "U8", (len(state),), state)]
        self.check(tensors, want, (5, 27))
        tensors[0] = ("layer.weight", "BF16", (34, 1), packed)  # bnb_4bit_quant_storage
        self.check(tensors, want, (5, 27))
        tensors[0] = ("layer.weight", "U8", (67, 1), packed[:67])
        self.refused(tensors, "layer.weight", "not those of the shape in its state")

    def test_nested(self):
        codes, stats = self.draw.codes(135, 4), self.draw.codes(3, 8)
        table, nested, offset = self.draw.numbers(256), self.draw.numbers(2), 0.1
        state = self.state(nested_blocksize=2, nested_dtype="float32", nested_offset=offset)
        a = [f32(product(table[u], nested[i // 2]) + f32(offset)) for i, u in enumerate(stats)]
        want = [product(self.table[c], a[i // 64]) for i, c in enumerate(codes)]
        self.check([("layer.weight", "U8", (68, 1), nibbles(codes + [5], high=True)), ("layer.weight.absmax", "U8", (3,), bytes(stats)),
                    ("layer.weight.quant_map", "F32", (16,), floats(self.table)),
                    ("layer.weight.nested_absmax", "F32", (2,), floats(nested)),
                    ("layer.weight.nested_quant_map", "F32", (256,), floats(table)),
                    ("layer.weight.quant_state.bitsandbytes__fp4", "U8", (len(state),), state)], want, (5, 27))


class Folders(Layouts):
    def shards(self, where):
        """A weight in one shard, its scale in another."""
        data, scales = bytes(self.draw.codes(15, 8)), self.draw.numbers(3)
        os.makedirs(self.path(where), exist_ok=True)
        self.write(where + "/a.safetensors", safetensors([("layer.weight", "F8_E4M3", (3, 5), data), ("n", "F32", (1,), floats([2]))]))
        self.write(where + "/b.safetensors", safetensors([("layer.weight_scale", "F32", (3, 1), floats(scales))]))
        index = {"weight_map": {"layer.weight": "a.safetensors", "n": "a.safetensors", "layer.weight_scale": "b.safetensors"}}
        self.write(where + "/model.safetensors.index.json", json.dumps(index).encode())
        return index, [product(e4m3(c), scales[i // 5]) for i, c in enumerate(data)]

    def values(self, path):
        self.ok("decode", path, self.path("o.safetensors"))
        found = parse_safetensors(self.read("o.safetensors"))[0]
        self.assertEqual(set(found), {"layer.weight", "n"})
        return struct.unpack("<15f", found["layer.weight"][2])

    def test_shards(self):
        index, want = self.shards("model")
        for path in ("model", "model/", "model/model.safetensors.index.json"):
            self.same(self.values(self.path(path)), want)
        self.bad("decode", self.path("model/a.safetensors"), self.path("no.safetensors"),
                 says="'layer.weight_scale' of it is in b.safetensors; open the folder or its index")
        os.makedirs(self.path("model/d/model.safetensors.index.json"))  # an index that cannot be read
        shutil.copy(self.path("model/a.safetensors"), self.path("model/d/a.safetensors"))
        self.bad("decode", self.path("model/d/a.safetensors"), self.path("no.safetensors"), says="model.safetensors.index.json")
        self.assertFalse(os.path.exists(self.path("no.safetensors")))
        shutil.rmtree(self.path("model/d"))
        before = self.read("model/a.safetensors")
        self.bad("decode", self.path("model"), self.path("model/a.safetensors"), says="a.safetensors")
        self.assertEqual(self.read("model/a.safetensors"), before)
        os.remove(self.path("model/model.safetensors.index.json"))
        self.same(self.values(self.path("model")), want)
        for wrong, word in (({**index["weight_map"], "x": "b.safetensors"}, "tensor 'x' is not in b.safetensors"),
                            ({"x": "../a.safetensors"}, "lies in no .safetensors file of the folder"), ({"x": 3}, "'x' lies in no")):
            self.write("model/model.safetensors.index.json", json.dumps({"weight_map": wrong}).encode())
            self.bad("decode", self.path("model"), self.path("no.safetensors"), says=word)
        shutil.rmtree(self.path("model"))
        os.makedirs(self.path("model"))
        self.bad("decode", self.path("model"), self.path("no.safetensors"), says="holds no .safetensors file")

    def test_npy(self):
        data = bytes(self.draw.codes(15, 8))
        path = self.model([("layer.weight", "F8_E4M3", (3, 5), data), ("v", "F32", (2,), floats([1, 2]))])
        self.bad("decode", path, self.path("o.npy"), says="--include")
        self.ok("decode", path, self.path("o.npy"), "--include", "layer.*")
        descr, _, shape, found = support.parse_npy(self.read("o.npy"))
        self.assertEqual((descr, shape), ("<f4", (3, 5)))
        self.same(struct.unpack("<15f", found), [e4m3(c) for c in data])
        self.bad("decode", path, self.path("o.npy"), "--include", "w", says="no tensor has such a name")

    def test_refusals(self):
        data = ("layer.weight", "F8_E4M3", (3, 5), bytes(15))
        self.refused([data, ("layer.SCB", "F32", (3,), bytes(12))], "layer.SCB", "bitsandbytes int8 is not read")
        self.refused([data], "quant_method 'hqq': HQQ is not read", config={"quantization_config": {"quant_method": "hqq"}})
        self.refused([data], "config.json", config=[1])

    def test_info(self):
        """A line for each tensor: layout, parts, range and shares of codes."""
        data, scales = bytes([0x7E, 0xFE, 0x7F, 0x00, 0x80, 0x38, 0xB8, 0x01]), [0.5, 2.0]
        path = self.model([("layer.weight", "F8_E4M3", (2, 4), data), ("layer.weight_scale", "F32", (2, 1), floats(scales)),
                           ("v", "BF16", (2,), bf16([1.5, -3]))], {"format": "pt"})
        found = json.loads(self.ok("info", path, "--json"))
        want = {"name": "layer.weight", "file": path, "layout": "fp8-scale", "dtype": "F8_E4M3", "elements": "float8_e4m3fn",
                "scales": "binary32", "open": "", "shape": [2, 4], "block": [1, 4], "count": 8, "least": -224, "largest": 224,
                "zeros": 2, "nans": 1, "saturated": 2}
        self.assertEqual(found["tensors"][0], want)
        self.assertEqual([found["tensors"][1][key] for key in ("name", "layout", "dtype", "elements", "least", "largest", "saturated")],
                         ["v", "", "BF16", "", -3, 1.5, None])
        lines = self.ok("info", path).split("\n")
        self.assertIn("2 tensors, 1 of them in low precision", lines[0])
        self.assertEqual(lines[2].split(), ["layer.weight", "fp8-scale", "float8_e4m3fn", "binary32", "1x4", "[2,", "4]", "8", "-224", "224",
                                            "25%", "25%", "12.5%"])
        self.bad("info", path, "--table", says="--table goes with a format")
        self.bad("info", "bfloat16", "--layout", "awq", says="--layout goes with a model")

    def test_rounding(self):
        """quantize and compare see the values, whose codes stay untouched otherwise."""
        scales = self.draw.numbers(10)
        codes = self.draw.codes(576 * 130, 8)
        path = self.model([("layer.weight", "F8_E4M3", (576, 130), bytes(codes)), ("layer.weight_scale_inv", "F32", (5, 2), floats(scales))])
        self.ok("decode", path, self.path("v.safetensors"))
        for fmt in ("bfloat16", "mxfp8_e4m3"):
            self.ok("quantize", "-f", fmt, path, self.path("a.safetensors"))
            self.ok("quantize", "-f", fmt, self.path("v.safetensors"), self.path("b.safetensors"))
            self.assertEqual(self.read("a.safetensors"), self.read("b.safetensors"))
        a = self.ok("compare", "-f", "bfloat16", "-f", "nvfp4", path)
        b = self.ok("compare", "-f", "bfloat16", "-f", "nvfp4", self.path("v.safetensors"))
        self.assertEqual(a.split("\n")[1:], b.split("\n")[1:])


if __name__ == "__main__":
    support.main()
