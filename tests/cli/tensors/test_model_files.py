# SPDX-License-Identifier: MIT
"""Models in files of PyTorch and ONNX, made here from their descriptions."""

import json
import os
import struct
import sys
import zipfile

sys.dont_write_bytecode = True
import support  # noqa: E402
from layout_case import Layouts  # noqa: E402
from layout_files import e2m1, e4m3, nibbles, product, twos  # noqa: E402
from model_files import archive, external, field, name, node, number, numbers, onnx, state, tensor, text, view, ORDERED  # noqa: E402
from support import floats  # noqa: E402


class Torch(Layouts):
    def found(self, entries, storages, path="m.pt", **kwargs):
        self.write(path, archive(state(entries), storages, **kwargs))
        return self.decoded(self.path(path))

    def wrong(self, data, *says, path="m.pt"):
        self.write(path, data)
        self.bad("info", self.path(path), says=says)

    def test_views(self):
        """Views of one storage: from its middle, transposed, with gaps, repeated; nested dicts and lists are names with dots."""
        data = {"0": floats(range(12)), "1": bytes.fromhex("0000803f00404040"), "2": b"\x38\xB8\x7E\x21", "3": b"\x21\x43"}
        entries = [("a", view("FloatStorage", "0", 12, 0, (3, 4), (4, 1))), ("t", view("FloatStorage", "0", 12, 0, (4, 3), (1, 4))),
                   ("gap", view("FloatStorage", "0", 12, 1, (2, 2), (8, 2))), ("same", view("FloatStorage", "0", 12, 5, (3,), (0,))),
                   ("one", view("FloatStorage", "0", 12, 7, (), ())), ("none", view("FloatStorage", "0", 12, 0, (0, 3), (3, 1))),
                   ("half", view("BFloat16Storage", "1", 4, 1, (3,), (1,))),
                   ("f8", view("UntypedStorage", "2", 4, 1, (3,), (1,), "float8_e4m3fn")),
                   ("f4", view("UntypedStorage", "3", 2, 0, (1, 2), (2, 1), "float4_e2m1fn_x2")),
                   ("p", name("torch._utils", "_rebuild_parameter") + b"(" + view("FloatStorage", "0", 12, 3, (1,), (1,)) + b"\x88" + ORDERED + b"tR"),
                   ("in", state([("x", b"](" + view("FloatStorage", "0", 12, 2, (1,), (1,)) + number(3) + b"G" + bytes(8) + b"Ne")])),
                   ("step", number(7)), ("device", name("torch", "device") + b"(" + text("cpu") + b"tR")]
        found = self.found(entries, data)
        self.assertEqual(set(found), {"a", "t", "gap", "same", "one", "none", "half", "f8", "f4", "p", "in.x.0"})
        for key, shape, want in (("a", (3, 4), range(12)), ("t", (4, 3), [i % 3 * 4 + i // 3 for i in range(12)]), ("gap", (2, 2), [1, 3, 9, 11]),
                                 ("same", (3,), [5] * 3), ("one", (), [7]), ("none", (0, 3), []), ("p", (1,), [3]), ("in.x.0", (1,), [2]),
                                 ("f8", (3,), [-1, 448, e4m3(0x21)]), ("f4", (1, 4), [.5, 1, 1.5, 2])):
            self.has(found, key, list(want), shape)
        self.assertEqual(found["half"], ("BF16", (3,), bytes.fromhex("803f00404040")))

    def test_layout(self):
        """What scales codes is found by names, as in other files; and an index of files."""
        codes, scales = bytes(range(8)), floats([.5, 3])
        entries = [("l.weight", view("UntypedStorage", "0", 8, 0, (2, 4), (4, 1), "float8_e4m3fn")), ("l.weight_scale", view("FloatStorage", "1", 2,
                0, (2, 1), (1, 1)))]
        want = [product(e4m3(c), (.5, 3)[c // 4]) for c in codes]
        self.has(self.found(entries, {"0": codes, "1": scales}), "l.weight", want, (2, 4))
        os.makedirs(self.path("f"))
        for i, entry in enumerate(entries):
            self.write("f/pytorch_model-%d.bin" % i, archive(state([entry]), {"0": codes, "1": scales}))
        self.write("f/training_args.bin", archive(name("x", "Arguments") + b")R", {}))
        self.has(self.decoded(self.path("f")), "l.weight", want, (2, 4))
        self.write("f/pytorch_model.bin.index.json", json.dumps({"weight_map": {entry[0]: "pytorch_model-%d.bin" % i for i,
                entry in enumerate(entries)}}).encode())
        self.has(self.decoded(self.path("f/pytorch_model.bin.index.json")), "l.weight", want, (2, 4))

    def test_transformer_engine(self):
        """Float8Tensor: a function, or a class method, with data, DType(7 or 8), scale_inv."""
        parts = view("ByteStorage", "0", 4, 0, (2, 2), (2, 1)) + name("transformer_engine_torch", "DType") + b"(" + number(7) + b"tR"
        parts += view("FloatStorage", "1", 1, 0, (1,), (1,)) + name("torch", "bfloat16") + numbers((2, 2))
        module = "transformer_engine.pytorch.tensor.float8_tensor"
        method = name("__builtin__", "getattr") + b"(" + name(module, "Float8Tensor") + text("_make_in_reduce_ex") + b"tR"
        for callee in (name(module, "_make_float8_tensor_in_reduce_ex"), method):
            found = self.found([("w", callee + b"(" + parts + b"tR")], {"0": b"\x38\xB8\x7E\x40", "1": floats([.5])})
            self.has(found, "w", [.5, -.5, 224, 1], (2, 2))
        for word, says in (("_make_nvfp4_tensor_in_reduce_ex", "NVFP4Tensor of TransformerEngine is not read"),
                           ("_make_hybrid_quantized_tensor_in_reduce_ex", "two formats"), ("_make_identity_tensor_in_reduce_ex", "is no tensor that is read")):
            self.wrong(archive(state([("w", name(module, word) + b"(" + parts + b"tR")]), {}), "'w'", says)

    def engine(self, word, parts, storages):
        module = "transformer_engine.pytorch.tensor.x"
        return archive(state([("w", name(module, word) + b"(" + b"".join(parts) + b"tR")]), storages)

    def test_transformer_engine_blocks(self):
        """MXFP8Tensor and Float8BlockwiseQTensor: rowwise codes under scales that are filled up, in rows or in tiles."""
        rows, cols, none, yes = 130, 70, b"N", b"\x88"
        codes, scales = bytes(i * 37 % 127 for i in range(rows * cols)), {(r, k): 120 + (r + 3 * k) % 11 for r in range(rows) for k in range(3)}
        plain, tiles = bytearray(b"\xEE" * 256 * 4), bytearray(256 * 4)
        for (r, k), code in scales.items():
            plain[4 * r + k] = code
            tiles[r // 128 * 512 + r % 32 * 16 + r % 128 // 32 * 4 + k] = code
        want = [product(e4m3(c), 2.0 ** (scales[i // cols, i % cols // 32] - 127)) for i, c in enumerate(codes)]
        data, dtype = view("ByteStorage", "0", rows * cols, 0, (rows, cols), (cols, 1)), name("transformer_engine_torch", "DType") + b"(" + number(7) + b"tR"
        scale = view("ByteStorage", "1", 1024, 0, (256, 4), (4, 1))
        rest = [dtype, name("torch", "bfloat16"), numbers((rows, cols)), none]
        for more, stored in (([], plain), ([b"\x89"], plain), ([yes], tiles)):
            self.write("m.pt", self.engine("_make_mxfp8_tensor_in_reduce_ex", [data, scale, none, none] + rest + more, {"0": codes, "1": bytes(stored)}))
            self.has(self.decoded(self.path("m.pt")), "w", want, (rows, cols))
        factors = [0.5 + i for i in range(8)]
        blocks = [numbers((rows, cols)), data, view("FloatStorage", "1", 8, 0, (2, 4), (4, 1)), none, none, dtype, name("torch", "bfloat16"), none]
        want = [product(e4m3(c), factors[i // cols // 128 * 4]) for i, c in enumerate(codes)]
        storages = {"0": codes, "1": floats(factors)}
        self.write("m.pt", self.engine("_make_float8_blockwise_tensor_in_reduce_ex", blocks + [yes, none], storages))
        self.has(self.decoded(self.path("m.pt")), "w", want, (rows, cols))
        small = view("ByteStorage", "1", 1024, 0, (128, 4), (4, 1))
        for word, parts, says in (("mxfp8", [data, small, none, none] + rest, "another shape"),
                                  ("mxfp8", [none, scale, data, scale] + rest, "no codes along rows"),
                                  ("mxfp8", [data, none, none, none] + rest, "without its tensors"),
                                  ("mxfp8", [data, scale, none, none, none], "neither E4M3 nor E5M2"),
                                  ("mxfp8", [data, view("ByteStorage", "1", 1024, 0, (256, 2, 2), (4, 2, 1)), none, none] + rest, "another shape"),
                                  ("mxfp8", [data, view("ByteStorage", "1", 520, 0, (130, 4), (4, 1)), none, none] + rest + [yes], "another shape"),
                                  ("float8_blockwise", blocks + [b"\x89", none], "blocks of 1 x 128"), ("float8_blockwise", blocks, "blocks of 1 x 128"),
                                  ("mxfp8", [view("ByteStorage", "0", 70, 0, (70,), (1,)), scale, none, none] + rest, "no matrix")):
            storage = {"0": codes, "1": bytes(plain) if word == "mxfp8" else floats(factors)}
            self.wrong(self.engine("_make_%s_tensor_in_reduce_ex" % word, parts, storage), "'w'", says)

    def test_distributed(self):
        """A part of a distributed checkpoint is refused by its name, in a folder, too."""
        os.makedirs(self.path("d"))
        self.write("d/__0_0.distcp", bytes(100))
        self.write("d/.metadata", b"\x80\x04}.")
        for path in ("d", "d/__0_0.distcp"):
            self.bad("info", self.path(path), says=("__0_0.distcp", "distributed checkpoint", "dcp_to_torch_save"))
            self.bad("quantize", "-f", "mxfp4", self.path(path), self.path("o.safetensors"), says="distributed checkpoint")

    def test_refused(self):
        """Nothing is executed: what is no tensor that is read is refused by its name."""
        f = view("FloatStorage", "0", 2, 0, (2,), (1,))
        data = {"0": floats([1, 2])}
        self.wrong(archive(state([("a", name("os", "system") + b"(" + text("touch " + self.path("x")) + b"tR")]), data), "m.pt", "'a'", "os.system")
        self.assertFalse(os.path.exists(self.path("x")))
        for entry, says in ((view("QInt8Storage", "0", 2, 0, (2,), (1,)), "class torch.QInt8Storage"),
                            (view("UntypedStorage", "0", 2, 0, (2,), (1,), "complex128"), "dtype torch.complex128"),
                            (view("FloatStorage", "1", 2, 0, (2,), (1,)), "does not have its storage"),
                            (view("FloatStorage", "0", 2, 1, (2,), (1,)), "beyond its storage"),
                            (view("FloatStorage", "0", 2, 0, (2,), (2,)), "beyond its storage"),
                            (view("FloatStorage", "0", 2, 0, (2,), (1, 1)), "number of strides"),
                            (view("FloatStorage", "0", 2, 0, (1 << 30,) * 3, (0,) * 3), "too large"),
                            (view("FloatStorage", "0", 2, 0, (1 << 20,), (0,)), "larger than the file"),
                            (view("FloatStorage", "0", 2, -1, (2,), (1,)), "without an offset")):
            self.wrong(archive(state([("w", entry)]), data), "'w'", says)
        self.wrong(archive(state([("w", f)]), data, order=b"big"), "big-endian")
        self.wrong(archive(state([("w", f)]), data, compression=zipfile.ZIP_DEFLATED), "is compressed")
        self.wrong(archive(state([("w", f)]), data, more=[("m/constants.pkl", b"")]), "TorchScript")
        self.wrong(archive(b"\x80\x02i", data), "opcode 0x69")
        self.wrong(archive(b"}q\0h\0" + b"h\0" * 3 + b"t", data), "no mark")
        self.wrong(archive(b"}q\0(" + text("x") + b"h\0u", data), "dicts in dicts")
        whole = archive(state([("w", f)]), data)
        for cut in range(0, len(whole), 7):
            self.wrong(whole[:cut], "m.pt: ")
        self.wrong(bytes.fromhex("80028a0a6cfc9c46f9206aa850192e"), "before 1.6")
        self.wrong(b"1 2 3\n", "not a PyTorch file", path="m.bin")


class Onnx(Layouts):
    def values(self, *args, note=""):
        self.write("m.onnx", onnx(*args))
        return self.decoded(self.path("m.onnx"), note=note)

    def wrong(self, says, *args, file="m.onnx: "):
        self.write("m.onnx", onnx(*args))
        self.bad("info", self.path("m.onnx"), says=(file, says))

    def test_tensors(self):
        """Numbers as bytes, as lists, in another file; odd counts of short codes."""
        self.write("w.data", bytes(8) + floats([7, 8, 9]))
        short = field(5, b"\xA2\x01" + b"\x05")  # two varints: bytes A2 and 05
        found = self.values([tensor("a", 1, (2,), floats([1, 2])), tensor("f4", 23, (3,), b"\xA2\x05"), tensor("i4", 22, (3,), b"\xF7\x08"),
                             tensor("u2", 25, (5,), b"\xE4\x03"), tensor("list", 23, (3,), None, short), tensor("b", 16, (2,), None, field(5,
                                     0x3F80), field(5, 0xC000)),
                             tensor("x", 1, (2,), None, external("w.data", 12, 8)), tensor("s", 8, (1,), None, field(6, b"text")), tensor("i", 7,
                                     (1,), None, field(7, -5))])
        self.assertEqual(set(found), {"a", "f4", "i4", "u2", "list", "b", "x", "i"})
        for key, want in (("f4", [1, -1, 3]), ("i4", [7, -1, -8]), ("u2", [0, 1, 2, 3, 3]), ("list", [1, -1, 3])):
            self.has(found, key, want, (len(want),))
        self.assertEqual([found[key][2] for key in ("a", "x", "i")], [floats([1, 2]), floats([8, 9]), struct.pack("<q", -5)])
        self.assertEqual(found["b"], ("BF16", (2,), bytes.fromhex("803f00c0")))

    def test_dequantize(self):
        """One scale, one for each place of an axis, blocks with a short one at the end, zero points, scales of scales."""
        codes, four = self.draw.codes(5 * 7, 8), self.draw.codes(5 * 7, 4)
        scales, zeros = self.draw.numbers(15), self.draw.codes(15, 4)
        tensors = [tensor("a", 3, (5, 7), bytes(codes)), tensor("a_s", 1, (), floats(scales[:1])),
                   tensor("b", 2, (5, 7), bytes(codes)), tensor("b_s", 1, (5,), floats(scales[:5])), tensor("b_z", 2, (5,), bytes(zeros[:5])),
                   tensor("c", 21, (5, 7), nibbles(four + [0])), tensor("c_s", 1, (5, 3), floats(scales)), tensor("c_z", 21, (5, 3), nibbles(zeros + [0])),
                   tensor("d", 23, (3,), b"\xA2\x05"), tensor("d_s", 24, (1,), b"\x7E")]
        nodes = [node("DequantizeLinear", ["a", "a_s"], "ay"), node("DequantizeLinear", ["b", "b_s", "b_z"], "by", axis=-2),
                 node("DequantizeLinear", ["c", "c_s", "c_z"], "cy", axis=1, block_size=3), node("DequantizeLinear", ["d", "d_s"], "dy", axis=0, block_size=4)]
        found = self.values(tensors, nodes)
        self.assertEqual(set(found), {"a", "b", "c", "d"})
        self.has(found, "a", [product(twos(c, 8), scales[0]) for c in codes], (5, 7))
        self.has(found, "b", [product(c - zeros[i // 7], scales[i // 7]) for i, c in enumerate(codes)], (5, 7))
        self.has(found, "c", [product(c - zeros[i // 7 * 3 + i % 7 // 3], scales[i // 7 * 3 + i % 7 // 3]) for i, c in enumerate(four)], (5, 7))
        self.has(found, "d", [.5, -.5, 1.5], (3,))
        second, fours = self.draw.numbers(1), self.draw.codes(2 * 20, 4)
        tensors = [tensor("w", 23, (2, 20), nibbles(fours)), tensor("s", 17, (2, 2), b"\x38\x35\x41\x22"), tensor("g", 1, (), floats(second))]
        nodes = [node("DequantizeLinear", ["s", "g"], "sy"), node("DequantizeLinear", ["w", "sy"], "wy", axis=-1, block_size=16)]
        found = self.values(tensors, nodes)
        self.has(found, "w", [product(e2m1(c), product(e4m3(b"\x38\x35\x41\x22"[i // 20 * 2 + i % 20 // 16]), second[0])) for i,
                c in enumerate(fours)], (2, 20))
        self.assertEqual(set(found), {"w"})
        lines = json.loads(self.ok("info", self.path("m.onnx"), "--json"))["tensors"]
        self.assertEqual([(one["name"], one["layout"], one["elements"], one["scales"], one["block"]) for one in lines],
                         [("w", "onnx", "float4_e2m1fn", "float8_e4m3fn x binary32", [1, 16])])
        tensors[1] = tensor("s", 17, (2, 1), b"\x38\x35")
        self.wrong("a scale for each block", tensors, nodes)
        self.wrong("an axis that it does not have", tensors[:1] + [tensor("s", 1, (2,), floats([1, 2]))], [node("DequantizeLinear", ["w", "s"], "y", axis=2)])
        self.wrong("two nodes read it", [*tensors, tensor("o", 1, (), floats([1]))], [*nodes, node("DequantizeLinear", ["w", "o"], "z")])

    def test_matmul(self):
        """MatMulNBits: codes [N, blocks, bytes], the last block filled up; zero points of whole bytes a row, else 8."""
        n, k, block, blocks = 3, 40, 16, 3
        codes, scales, zeros = self.draw.codes(n * blocks * block, 4), self.draw.numbers(n * blocks), self.draw.codes(n * 4, 4)
        for zero in (False, True):
            inputs, tensors = ["x", "b", "s"], [tensor("b", 2, (n, blocks, block // 2), nibbles(codes)), tensor("s", 1, (n * blocks,), floats(scales))]
            if zero:
                inputs.append("z")
                tensors.append(tensor("z", 2, (n * 2,), nibbles(zeros)))
            want = [product(codes[r * blocks * block + c] - (zeros[r * 4 + c // block] if zero else 8), scales[r * blocks + c // block])
                    for r in range(n) for c in range(k)]
            found = self.values(tensors, [node("MatMulNBits", inputs, "y", K=k, N=n, bits=4, block_size=block)])
            self.assertEqual(set(found), {"b"})
            self.has(found, "b", want, (n, k))
        self.wrong("its bytes or scales are not those", tensors, [node("MatMulNBits", inputs, "y", K=k, N=n + 1, bits=4, block_size=block)])
        self.wrong("other attributes", tensors, [node("MatMulNBits", inputs, "y", K=k, N=n, bits=3, block_size=block)])

    def test_refused(self):
        good = [tensor("a", 1, (2,), floats([1, 2]))]
        for one, says in ((tensor("t", 15, (1,), bytes(16)), "data_type 15"), (tensor("t", 1, (3,), bytes(8)), "raw_data"), (tensor("t", 1, (1 << 62,
                8), b""), "too large"),
                          (tensor("t", 1, (2,), None, field(4, bytes(4))), "another number of numbers"), (tensor("t", 1, (1 << 40,), None), "fewer numbers"),
                          (tensor("t", 1, (2,), None, external("../w.data")), "leave the folder"), (tensor("t", 1, (2,), None,
                                  external("/etc/passwd")), "leave the folder"),
                          (tensor("t", 1, (2,), None, external("w.data", 8)), "ends behind the end"), (tensor("t", 1, (2,), None, external("w.data",
                                  9999)), "begins behind")):
            self.write("w.data", bytes(12))
            self.wrong(says, [one], file="w.data: " if "behind" in says else "m.onnx: ")
        self.wrong("is in", [*good, *good])
        whole = onnx(good)
        for cut in range(len(whole)):
            self.write("m.onnx", whole[:cut])
            self.bad("info", self.path("m.onnx"), says="m.onnx: ")
        self.write("m.onnx", field(1, 10) + field(7, field(15, b"")))
        self.bad("info", self.path("m.onnx"), says="sparse_initializer")


if __name__ == "__main__":
    support.main()
