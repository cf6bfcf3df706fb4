# SPDX-License-Identifier: MIT
"""GGUF files made by hand: what is wrong is refused, naming the file and the field; blocks are laid out as ggml has them."""

import hashlib
import json
import math
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from layout_files import f32  # noqa: E402
from support import floats, parse_safetensors  # noqa: E402

F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, I32, BF16, TQ2_0, MXFP4, NVFP4 = 0, 1, 2, 3, 6, 7, 8, 26, 30, 35, 39, 40
Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS = 10, 11, 12, 13, 14, 20, 23
SIZES = {F32: (1, 4), F16: (1, 2), Q4_0: (32, 18), Q8_0: (32, 34), I32: (1, 4), BF16: (1, 2), MXFP4: (32, 17),
         NVFP4: (64, 36), Q4_1: (32, 20), Q5_0: (32, 22), Q5_1: (32, 24), TQ2_0: (256, 66),
         9: (32, 40), 16: (256, 66), 24: (1, 1), 34: (256, 54), 41: (128, 18), 42: (64, 18)}  # fmt: skip
SIZES.update({Q2_K: (256, 84), Q3_K: (256, 110), Q4_K: (256, 144), Q5_K: (256, 176), Q6_K: (256, 210), IQ4_NL: (32, 18), IQ4_XS: (256, 136)})
# Type, bytes and numbers of a block, and the first half of the SHA-256 digest of what ggml makes of the operands of the test.
SEARCHED = {
    "q2_k": (Q2_K, 84, 256, "92f4ce4e7a5df508"),
    "q3_k": (Q3_K, 110, 256, "527340768c0f96ce"),
    "q4_k": (Q4_K, 144, 256, "78898c6aad60d033"),
    "q5_k": (Q5_K, 176, 256, "1acc54012ba05122"),
    "q6_k": (Q6_K, 210, 256, "a6d97002dc5a2f38"),
    "iq4_nl": (IQ4_NL, 18, 32, "ced699525f5dd146"),
    "iq4_xs": (IQ4_XS, 136, 256, "2e630dfcd5cd5f6d"),
}
E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6)


def operands_of_searches():
    """8 rows of 512: magnitudes that differ, a block of zeros, one of equal numbers, ties of IQ4."""
    x, state = [], 1
    for i in range(8 * 512):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        a, b = state >> 8 & 0xFFFF, state >> 24 & 7 if i < 2048 else 3
        x.append((a - 32768) * 2.0 ** (b - 20 - i // 512) if i % 97 else 0.0)
    x[256:512] = [0.0] * 256
    x[600:640] = [0.25] * 40
    numbers = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
    x[3840:3872] = [v / 2 for pair in zip(numbers, numbers[1:]) for v in (2 * pair[0], sum(pair))] + [113, 0]
    return x


def u32(x):
    return struct.pack("<I", x)


def u64(x):
    return struct.pack("<Q", x)


def string(text):
    text = text if isinstance(text, bytes) else text.encode()
    return u64(len(text)) + text


def entry(key, kind, value):
    return string(key) + u32(kind) + value


def info(name, shape, kind, offset, dims=None):
    return string(name) + u32(len(shape) if dims is None else dims) + b"".join(map(u64, reversed(shape))) + u32(kind) + u64(offset)


def raw(infos, data=b"", metadata=(), tensors=None, entries=None, version=3, magic=b"GGUF", alignment=32):
    head = magic + u32(version) + u64(len(infos) if tensors is None else tensors) + u64(len(metadata) if entries is None else entries)
    head += b"".join(metadata) + b"".join(infos)
    return head + bytes(-len(head) % alignment) + data


def padded(data, alignment=32):
    return data + bytes(-len(data) % alignment)


def gguf(tensors, metadata=(), alignment=32):
    """tensors: (name, shape, kind, bytes)."""
    infos, data = [], b""
    for name, shape, kind, content in tensors:
        infos.append(info(name, shape, kind, len(data)))
        data += padded(content, alignment)
    return raw(infos, data, metadata, alignment=alignment)


def parse(data):
    """{name: (shape, kind, bytes)}, the bytes of metadata, and their number."""
    assert data[:8] == b"GGUF" + u32(3)
    count, entries = struct.unpack_from("<QQ", data, 8)
    at = 24

    def number(code):
        nonlocal at
        (z,) = struct.unpack_from("<" + code, data, at)
        at += struct.calcsize(code)
        return z

    def text():
        nonlocal at
        n = number("Q")
        at += n
        return data[at - n : at]

    def skip(kind):
        nonlocal at
        if kind == 8:
            text()
        elif kind == 9:
            inner, n = number("I"), number("Q")
            for _ in range(n):
                skip(inner)
        else:
            at += (1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8)[kind]

    alignment = 32
    for _ in range(entries):
        key, kind = text(), number("I")
        if key == b"general.alignment":
            alignment = struct.unpack_from("<I", data, at)[0]
        skip(kind)
    metadata = data[24:at]
    infos = []
    for _ in range(count):
        name, dims = text().decode(), number("I")
        shape = tuple(reversed([number("Q") for _ in range(dims)]))
        infos.append((name, shape, number("I"), number("Q")))
    begin = at + -at % alignment
    z, end = {}, 0
    for name, shape, kind, offset in infos:
        assert offset == end + -end % alignment
        block, size = SIZES[kind]
        end = offset + math.prod(shape) // block * size
        z[name] = (shape, kind, data[begin + offset : begin + end])
    assert len(data) == begin + (end + -end % alignment if infos else 0)
    return z, metadata, entries


DATA = floats([1, 2, 3, 4])
GOOD = info("a", (2, 2), F32, 0)
KV = entry("k", 4, u32(7))
LONG = "n" * 65
WRONG = [
    ("empty", b"", "magic: does not begin with GGUF"),
    ("three bytes", b"GGU", "magic: "),
    ("magic", raw([GOOD], DATA, magic=b"GGML"), "magic: does not begin with GGUF"),
    ("no version", b"GGUF\3\0", "version: truncated"),
    ("version 0", raw([GOOD], DATA, version=0), "version: 0, not 2 or 3"),
    ("version 1", raw([GOOD], DATA, version=1), "version: 1, not 2 or 3"),
    ("version 4", raw([GOOD], DATA, version=4), "version: 4, not 2 or 3"),
    ("big-endian", raw([GOOD], DATA, version=3 << 24), "version: the file is big-endian"),
    ("no counts", b"GGUF" + u32(3) + bytes(7), "tensor_count: truncated"),
    ("no second count", b"GGUF" + u32(3) + bytes(15), "metadata_kv_count: truncated"),
    ("many tensors", raw([GOOD], DATA, tensors=2**64 - 1), "tensor_count: 18446744073709551615 do not fit the file"),
    ("many more tensors", raw([GOOD], DATA, tensors=1000), "tensor_count: 1000 do not fit the file"),
    ("many entries", raw([GOOD], DATA, entries=2**63), "metadata_kv_count: 9223372036854775808 do not fit the file"),
    ("a tensor too many", raw([GOOD], bytes(96), tensors=2), "tensor 2: name: empty"),
    ("key beyond", raw([], metadata=[u64(2**40) + bytes(40)], entries=1), "metadata: a key: 1099511627776 bytes long, at most 65535"),
    ("key behind the end", raw([], metadata=[u64(60000) + bytes(40)], entries=1), "metadata: a key: 60000 bytes long, the file ends"),
    ("empty key", raw([], metadata=[entry("", 4, u32(1))]), "metadata: an empty key"),
    ("key", raw([], metadata=[entry("a\n", 4, u32(1))]), "metadata: a key that is not printable ASCII"),
    ("key twice", raw([GOOD], DATA, [KV, KV]), "metadata: 'k': the key is there twice"),
    ("kind", raw([], metadata=[entry("k", 13, u32(1))]), "metadata: 'k': a value of the unknown type 13"),
    ("boolean", raw([], metadata=[entry("k", 7, b"\2")]), "metadata: 'k': a boolean that is 2"),
    ("string", raw([], metadata=[entry("k", 8, u64(2**64 - 1))]), "metadata: 'k': 18446744073709551615 bytes long, the file ends"),
    ("list", raw([], metadata=[entry("k", 9, u32(4) + u64(2**62))]), "metadata: 'k': a list of 4611686018427387904 values"),
    ("list of strings", raw([], metadata=[entry("k", 9, u32(8) + u64(9))]), "metadata: 'k': a list of 9 values"),
    ("list of what", raw([], metadata=[entry("k", 9, u32(99) + u64(0))]), "metadata: 'k': a list of values of the unknown type 99"),
    ("list of booleans", raw([], metadata=[entry("k", 9, u32(7) + u64(2) + b"\1\3")]), "metadata: 'k': a boolean that is 3"),
    ("lists", raw([], metadata=[entry("k", 9, (u32(9) + u64(1)) * 20)]), "metadata: 'k': lists in lists, more than 4 deep"),
    ("five lists", raw([GOOD], DATA, [entry("k", 9, (u32(9) + u64(1)) * 4 + u32(0) + u64(1) + b"x")]), "lists in lists, more than 4 deep"),
    ("alignment 0", raw([GOOD], DATA, [entry("general.alignment", 4, u32(0))]), "'general.alignment': 0 is not a power of two"),
    ("alignment 24", raw([GOOD], DATA, [entry("general.alignment", 4, u32(24))]), "'general.alignment': 24 is not a power"),
    ("alignment kind", raw([GOOD], DATA, [entry("general.alignment", 10, u64(32))]), "'general.alignment': not a uint32"),
    ("no name", raw([info("", (2, 2), F32, 0)], DATA), "tensor 1: name: empty"),
    ("long name", raw([info(LONG, (2, 2), F32, 0)], DATA), "tensor 1: name: 65 bytes long, at most 64"),
    ("name cut", raw([u64(60) + b"abc" + bytes(25)], tensors=1), "tensor 1: name: 60 bytes long, the file ends before"),
    ("NUL", raw([info("a\0", (2, 2), F32, 0)], DATA), "tensor 1: name: not UTF-8"),
    ("UTF-8", raw([info(b"\xff", (2, 2), F32, 0)], DATA), "tensor 1: name: not UTF-8"),
    ("UTF-8 cut", raw([info(b"a\xe2\x82", (2, 2), F32, 0)], DATA), "tensor 1: name: not UTF-8"),
    ("UTF-8 overlong", raw([info(b"\xc0\x80", (2, 2), F32, 0)], DATA), "tensor 1: name: not UTF-8"),
    ("UTF-8 overlong, three", raw([info(b"\xe0\x80\x80", (2, 2), F32, 0)], DATA), "tensor 1: name: not UTF-8"),
    ("surrogate", raw([info(b"\xed\xa0\x80", (2, 2), F32, 0)], DATA), "tensor 1: name: not UTF-8"),
    ("name twice", raw([GOOD, info("a", (2, 2), F32, 32)], padded(DATA) * 2), "tensor 'a': name: there twice"),
    ("no dimensions", raw([info("a", (), F32, 0)], padded(DATA)), "tensor 'a': n_dimensions: 0, not 1 to 4"),
    ("five dimensions", raw([info("a", (1,) * 5, F32, 0)], DATA), "tensor 'a': n_dimensions: 5, not 1 to 4"),
    ("many dimensions", raw([info("a", (1,), F32, 0, 2**32 - 1)], DATA), "tensor 'a': n_dimensions: 4294967295, not 1 to 4"),
    ("a side of 0", raw([info("a", (2, 0), F32, 0)], DATA), "tensor 'a': dimensions: a side of 0"),
    ("a side", raw([info("a", (2**63,), F32, 0)], DATA), "tensor 'a': dimensions: a side of 9223372036854775808"),
    ("product", raw([info("a", (2**32, 2**32), F32, 0)], DATA), "does not fit the address space"),
    ("product of four", raw([info("a", (2**20, 2**20, 2**20, 2**20), F32, 0)], DATA), "does not fit the address space"),
    ("type", raw([info("a", (2, 2), 99, 0)], DATA), "tensor 'a': type: 99 is not known"),
    ("type that was removed", raw([info("a", (2, 2), 4, 0)], DATA), "tensor 'a': type: 4 is not known"),
    ("half a block", raw([info("a", (2, 16), MXFP4, 0)], DATA), "tensor 'a': dimensions: rows of 16 are not whole blocks of 32"),
    ("offset", raw([info("a", (2, 2), F32, 4)], DATA + DATA), "tensor 'a': offset: 4 is not a multiple of the alignment, 32"),
    ("hole", raw([info("a", (2, 2), F32, 32)], padded(DATA) * 2), "tensor 'a': offset: 32, the tensors before it end at 0"),
    ("overlap", raw([GOOD, info("b", (2, 2), F32, 0)], padded(DATA) * 2), "tensor 'b': offset: 0, the tensors before it end at 16"),
    ("hole between", raw([GOOD, info("b", (2, 2), F32, 64)], padded(DATA) * 3), "tensor 'b': offset: 64, the tensors before it end"),
    ("offset past the end", raw([info("a", (2, 2), F32, 2**63)], DATA), "tensor 'a': offset: 9223372036854775808, the tensors"),
    ("large", raw([info("a", (1 << 40,), F32, 0)], DATA), "tensor 'a': offset: 0, its 4398046511104 bytes end behind the file"),
    ("ends behind", raw([GOOD], DATA[:-1]), "tensor 'a': offset: ends at byte 16 of the data, the file has 15"),
    ("no data", raw([GOOD]), "tensor 'a': offset: ends at byte 16 of the data, the file has 0"),
    ("nothing but trailing", raw([], b"x", [KV]), "1 trailing bytes after the data"),
    ("trailing", raw([GOOD], padded(DATA) + b"x"), "17 trailing bytes after the data"),
]  # fmt: skip


def pattern(n):
    return bytes((i * 37 + 11) % 256 for i in range(n))


class Gguf(support.Case):
    def test_wrong_files(self):
        path = self.path("wrong.gguf")
        for name, data, says in WRONG:
            self.write("wrong.gguf", data)
            for args in (
                ("quantize", "-f", "ggml.mxfp4", "--codes", path, self.path("out.gguf")),
                ("quantize", "-f", "bfloat16", path, "-o", self.path("out.safetensors")),
                ("decode", path, self.path("out.gguf")),
                ("decode", path, self.path("out.safetensors")),
            ):
                with self.subTest(name=name, command=args[0]):
                    self.bad(*args, says=(path + ": not a GGUF file: ", says))
                    self.assertEqual(self.left(), ["wrong.gguf"])
        print("wrong files: %d, each through four commands" % len(WRONG))

    def test_every_cut(self):
        """A good file cut anywhere before the space behind its last tensor is refused."""
        good = gguf([("a", (2, 32), F32, pattern(256)), ("b", (3,), I32, b"x" * 12)], [KV, entry("s", 8, string("text"))])
        for n in range(len(good) - 20):
            self.write("cut.gguf", good[:n])
            self.bad("decode", self.path("cut.gguf"), self.path("o.gguf"), says="cut.gguf: ")
            self.assertEqual(self.left(), ["cut.gguf"])
        for n in (20, 19, 1, 0):
            self.write("cut.gguf", good[: len(good) - n])
            self.ok("decode", self.path("cut.gguf"), self.path("o.gguf"))
            self.assertEqual(self.read("o.gguf"), good)

    def test_what_is_kept(self):
        """Metadata of every type, lists in lists, odd names and an alignment of its own go through; versions become 3."""
        values = [entry("k%d" % kind, kind, bytes(range(1, n + 1))) for kind, n in ((0, 1), (1, 1), (2, 2), (3, 2), (4, 4), (5, 4), (6, 4),
                                                                                    (10, 8), (11, 8), (12, 8))]  # fmt: skip
        values += [entry("b", 7, b"\1"), entry("s", 8, string("\u00e4\n")), entry("empty", 8, string(""))]
        values.append(entry("four", 9, (u32(9) + u64(1)) * 3 + u32(0) + u64(1) + b"x"))
        values.append(entry("lists", 9, u32(9) + u64(2) + u32(8) + u64(2) + string("x") + string("yz") + u32(7) + u64(1) + b"\0"))
        for alignment in (1, 8, 32, 256):
            metadata = values + [entry("general.alignment", 4, u32(alignment))]
            tensors = [("\u00fc.w", (2, 1, 3, 2), F32, floats(range(12))), ("i", (5,), I32, pattern(20)), ("k", (1, 256), 24, pattern(256))]
            data = gguf(tensors, metadata, alignment)
            self.write("x.gguf", data)
            self.ok("decode", self.path("x.gguf"), self.path("o.gguf"))
            self.assertEqual(self.read("o.gguf"), data)
            self.write("x.gguf", data[:4] + u32(2) + data[8:])
            self.ok("quantize", "-f", "float32", "--include", "\u00fc.w", self.path("x.gguf"), self.path("o.gguf"))
            self.assertEqual(self.read("o.gguf"), data)

    def test_blocks_that_are_written(self):
        """Two E2M1 codes a byte, the low half from the first half of the block; scales before them."""
        codes = [[(7 * i + 5 * j + i * j) % 8 + 8 * ((i + j) % 2) for j in range(64)] for i in range(3)]
        codes = [[c if c != 8 else 1 for c in row] for row in codes]
        for row in codes:
            row[::16] = [7, 15, 7, 15]
        scales = [2.0**-3, 2.0, 2.0**5]
        x = [scale * E2M1[c % 8] * (1 - c // 8 * 2) for scale, row in zip(scales, codes) for c in row]
        self.write("x.gguf", gguf([("w", (3, 64), F32, floats(x)), ("norm", (64,), F32, floats(x[:64]))], [KV]))
        self.ok("quantize", "-f", "ggml.mxfp4", "--codes", self.path("x.gguf"), self.path("o.gguf"))
        got, metadata, entries = parse(self.read("o.gguf"))
        want = b""
        for scale, row in zip(scales, codes):
            for half in (row[:32], row[32:]):
                want += bytes([int(math.log2(scale)) + 127]) + bytes(half[j] | half[j + 16] << 4 for j in range(16))
        self.assertEqual(got, {"w": ((3, 64), MXFP4, want), "norm": ((64,), F32, floats(x[:64]))})
        self.assertEqual((metadata, entries), (KV + entry("general.quantization_version", 4, u32(2)), 2))
        self.ok("quantize", "-f", "ggml.nvfp4", "--codes", self.path("x.gguf"), self.path("o.gguf"))
        want = b""
        for scale, row in zip(scales, codes):
            want += bytes([(int(math.log2(scale)) + 7) << 3] * 4)
            want += bytes(row[16 * k + j] | row[16 * k + j + 8] << 4 for k in range(4) for j in range(8))
        self.assertEqual(parse(self.read("o.gguf"))[0]["w"], ((3, 64), NVFP4, want))

    def test_blocks_that_are_read(self):
        """Values by what ggml says of its blocks."""
        scale = struct.pack("<e", 0.375)
        mx = bytes([130]) + pattern(16)
        nv = bytes([0, 0x38, 0x7F, 0x41]) + pattern(32)
        q8, q4 = scale + pattern(32), struct.pack("<e", -2.5) + pattern(16)
        self.write("x.gguf", gguf([("m", (1, 32), MXFP4, mx), ("n", (64,), NVFP4, nv), ("e", (1, 1, 32), Q8_0, q8), ("f", (32,), Q4_0, q4)]))
        number = [(1 - c // 8 * 2) * E2M1[c % 8] for c in range(16)]
        m = [8 * number[b & 15] for b in mx[1:]] + [8 * number[b >> 4] for b in mx[1:]]
        n = []
        for k, d in enumerate((0, 1, 0, 2.25)):
            part = nv[4 + 8 * k : 12 + 8 * k]
            n += [d * number[b & 15] for b in part] + [d * number[b >> 4] for b in part]
        e = [0.375 * (b - 256 * (b > 127)) for b in q8[2:]]
        f = [-2.5 * ((b & 15) - 8) for b in q4[2:]] + [-2.5 * ((b >> 4) - 8) for b in q4[2:]]
        self.ok("decode", self.path("x.gguf"), self.path("o.gguf"))
        self.ok("decode", self.path("x.gguf"), self.path("o.safetensors"))
        got, _, _ = parse(self.read("o.gguf"))
        tensors, _, _ = parse_safetensors(self.read("o.safetensors"))
        for name, shape, want in (("m", (1, 32), m), ("n", (64,), n), ("e", (1, 1, 32), e), ("f", (32,), f)):
            self.assertEqual((got[name][:2], tensors[name][:2]), ((shape, F32), ("F32", shape)))
            self.assertEqual(got[name][2], tensors[name][2])
            self.assertEqual(list(struct.unpack("<%df" % len(want), got[name][2])), want)

    def test_second_scale(self):
        """NVFP4: NAME.scale is a factor of the values, of a tensor or of each expert, and no tensor of its own in them."""
        nv = bytes([0x30, 0x38, 0x41, 0x41]) + pattern(32)
        plain = self.decoded(NVFP4, nv, 64)
        for name, second in (("b.scale", "b.weight.scale"), ("b.weight.scale", "b.scale")):
            self.write("x.gguf", gguf([("b.weight", (2, 1, 64), NVFP4, nv + nv), (name, (2,), F32, floats([0.7, 3.5])), ("n", (1,), F32, floats([9]))]))
            for out, read in (("o.gguf", parse), ("o.safetensors", parse_safetensors)):
                self.ok("decode", self.path("x.gguf"), self.path(out))
                found = read(self.read(out))[0]
                self.assertEqual(set(found), {"b.weight", "n"})
                self.assertEqual(found["b.weight"][2], floats([x * f32(s) for s in (0.7, 3.5) for x in plain]))
        lines = json.loads(self.ok("info", self.path("x.gguf"), "--json"))["tensors"]
        self.assertEqual([(one["name"], one["layout"], one["elements"], one["scales"], one["block"], one["shape"]) for one in lines],
                         [("b.weight", "gguf-nvfp4", "NVFP4", "ue4m3 x binary32", [1, 16], [2, 1, 64]), ("n", "", "", "", [0, 0], [1])])
        self.write("x.gguf", gguf([("b.weight", (2, 1, 64), NVFP4, nv + nv), ("b.scale", (3,), F32, floats([1, 2, 3]))]))
        self.bad("info", self.path("x.gguf"), says="'b.scale' is not one F32 for the tensor or each matrix")

    def test_few_bits(self):
        """Codes of 1 and 2 bits, and three-valued ones, as the examples of their descriptions have them."""
        d = struct.pack("<e", 0.5)
        self.assertEqual(self.decoded(41, d + bytes([0b10110]) + bytes(15), 128), [-.5, .5, .5, -.5, .5] + [-.5] * 123)
        self.assertEqual(self.decoded(42, d + bytes([0x92]) + bytes(15), 64), [.5, -.5, 0, .5] + [-.5] * 60)
        y = self.decoded(TQ2_0, bytes([0x92]) + bytes([0x55] * 63) + d)
        self.assertEqual([y[0], y[32], y[64], y[96], y[1], y[255]], [.5, -.5, 0, .5, 0, 0])
        y = self.decoded(34, bytes([0xBC]) + bytes([0x80] * 51) + d)
        self.assertEqual([y[0], y[32], y[64], y[96], y[128], y[1], y[160]], [.5, -.5, 0, .5, 0, 0, 0])
        y = self.decoded(16, struct.pack("<e", 1) + bytes([0, 1, 0, 0]) + struct.pack("<I", 9 << 28 | 3) + bytes(56))
        self.assertEqual(y[:8], [-2.375 * 8] * 2 + [2.375 * 8] * 6)

    def decoded(self, kind, block, count=0):
        """The values of one block."""
        count = count or (32 if kind in (Q4_1, Q5_0, Q5_1, IQ4_NL) else 256)
        self.write("x.gguf", gguf([("w", (count,), kind, block)]))
        self.ok("decode", self.path("x.gguf"), self.path("o.gguf"))
        content = parse(self.read("o.gguf"))[0]["w"][2]
        return list(struct.unpack("<%df" % count, content))

    def test_blocks_of_256(self):
        """In ggml's own order of loops; the scales are powers of two times small numbers, so that all is exact."""
        half, x = struct.pack("<e", 0.25), pattern(300)
        two = half + struct.pack("<e", -0.5)
        scales, qs, y, step = x[:16], x[16:80], [], 0
        for n in range(0, 64, 32):
            for shift in (0, 2, 4, 6):
                for begin in (n, n + 16):
                    d, m = 0.25 * (scales[step] & 15), -0.5 * (scales[step] >> 4)
                    y += [d * (q >> shift & 3) - m for q in qs[begin : begin + 16]]
                    step += 1
        self.assertEqual(self.decoded(Q2_K, scales + qs + two), y)

        mask, qs, packed, y, step, bit = x[:32], x[32:96], x[96:108], [], 0, 1
        whole = [packed[i] & 15 | (packed[8 + i % 4] >> i // 4 * 2 & 3) << 4 for i in range(8)]
        whole += [packed[i] >> 4 | (packed[8 + i % 4] >> (i // 4 + 2) * 2 & 3) << 4 for i in range(8)]
        for n in range(0, 64, 32):
            for shift in (0, 2, 4, 6):
                for begin in (0, 16):
                    d = 0.25 * (whole[step] - 32)
                    y += [d * ((qs[n + k] >> shift & 3) - (0 if mask[k] & bit else 4)) for k in range(begin, begin + 16)]
                    step += 1
                bit <<= 1
        self.assertEqual(self.decoded(Q3_K, mask + qs + packed + half), y)

        packed, fifth = x[:12], x[12:44]
        pairs = [(packed[j] & 63, packed[j + 4] & 63) for j in range(4)]
        pairs += [(packed[j + 4] & 15 | packed[j - 4] >> 6 << 4, packed[j + 4] >> 4 | packed[j] >> 6 << 4) for j in range(4, 8)]
        for kind in (Q4_K, Q5_K):
            qs, y, bit = x[44:172], [], 1
            for j in range(8):
                part = [q >> j % 2 * 4 & 15 for q in qs[j // 2 * 32 : j // 2 * 32 + 32]]
                if kind == Q5_K:
                    part = [p + (16 if fifth[k] & bit else 0) for k, p in enumerate(part)]
                y += [0.25 * pairs[j][0] * p + 0.5 * pairs[j][1] for p in part]
                bit <<= 1
            self.assertEqual(self.decoded(kind, two + packed + (fifth if kind == Q5_K else b"") + qs), y)

        low, high, scales, y = x[:128], x[128:192], [b - 256 * (b > 127) for b in x[192:208]], [0] * 256
        for n in (0, 1):
            for k in range(32):
                a, b, h = low[64 * n + k], low[64 * n + k + 32], high[32 * n + k]
                for i, q in enumerate((a & 15 | (h & 3) << 4, b & 15 | (h >> 2 & 3) << 4, a >> 4 | (h >> 4 & 3) << 4, b >> 4 | h >> 6 << 4)):
                    y[128 * n + 32 * i + k] = 0.25 * scales[8 * n + 2 * i + k // 16] * (q - 32)
        self.assertEqual(self.decoded(Q6_K, x[:208] + half), y)

    def test_short_blocks(self):
        half, x = struct.pack("<e", 0.25), pattern(40)
        least = struct.pack("<e", -3.5)
        four = [b & 15 for b in x[:16]] + [b >> 4 for b in x[:16]]
        fifth = int.from_bytes(x[16:20], "little")
        five = [c | (fifth >> i & 1) << 4 for i, c in enumerate(four)]
        self.assertEqual(self.decoded(Q4_1, half + least + x[:16]), [0.25 * c - 3.5 for c in four])
        self.assertEqual(self.decoded(Q5_0, half + x[16:20] + x[:16]), [0.25 * (c - 16) for c in five])
        self.assertEqual(self.decoded(Q5_1, half + least + x[16:20] + x[:16]), [0.25 * c - 3.5 for c in five])
        table = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
        self.assertEqual(self.decoded(IQ4_NL, half + x[:16]), [0.25 * table[c] for c in four])
        high, low, y = int.from_bytes(x[:2], "little"), x[2:6], []
        qs = pattern(128)[::-1]
        for i in range(8):
            scale = 0.25 * ((low[i // 2] >> i % 2 * 4 & 15 | (high >> 2 * i & 3) << 4) - 32)
            part = qs[16 * i : 16 * i + 16]
            y += [scale * table[b & 15] for b in part] + [scale * table[b >> 4] for b in part]
        self.assertEqual(self.decoded(IQ4_XS, half + x[:2] + low + qs), y)

    def test_blocks_of_ggml(self):
        """By its reference: what is exact here can be written down."""
        x = [(i % 16 - 8) * 0.5 for i in range(32)]  # -4 comes first: d = 0.5
        self.write("x.gguf", gguf([("w", (1, 32), F32, floats(x))]))
        half = struct.pack("<e", 0.5)
        packed = bytes(j | j << 4 for j in range(16))
        for name, kind, want in (("q4_0", Q4_0, half + packed), ("q5_0", Q5_0, None), ("q8_0", Q8_0, None),
                                 ("q4_1", Q4_1, half + struct.pack("<e", -4) + packed)):  # fmt: skip
            self.ok("quantize", "-f", "ggml." + name, "--codes", self.path("x.gguf"), self.path("o.gguf"))
            got = parse(self.read("o.gguf"))[0]["w"]
            self.assertEqual(got[1], kind)
            if want:
                self.assertEqual(got[2], want)
            self.ok("decode", self.path("o.gguf"), self.path("v.gguf"))
            self.ok("quantize", "-f", "ggml." + name, self.path("x.gguf"), self.path("u.gguf"))
            self.assertEqual(parse(self.read("v.gguf"))[0], parse(self.read("u.gguf"))[0])
        self.ok("quantize", "-f", "ggml.q5_1", "--codes", self.path("x.gguf"), self.path("o.gguf"))
        d = 7.5 / 31
        codes = [int((v + 4) * (1 / d) + 0.5) for v in x]
        block = parse(self.read("o.gguf"))[0]["w"][2]
        self.assertEqual(block[:4], struct.pack("<ee", d, -4))
        self.assertEqual(block[4:8], sum((c >> 4) << i for i, c in enumerate(codes)).to_bytes(4, "little"))
        self.assertEqual(block[8:], bytes(codes[j] & 15 | (codes[j + 16] & 15) << 4 for j in range(16)))
        for content, says in ((floats([math.inf] + [1] * 31), "element 0 is not finite"),
                              (floats([1] * 31 + [math.nan]), "element 31 is not finite")):  # fmt: skip
            self.write("y.gguf", gguf([("w", (1, 32), F32, content)]))
            self.bad("quantize", "-f", "ggml.q4_0", "--codes", self.path("y.gguf"), self.path("n.gguf"), says=says)
        self.write("y.gguf", gguf([("w", (2, 16), F32, floats(range(32)))]))
        self.bad("quantize", "-f", "ggml.q8_0", self.path("y.gguf"), self.path("n.gguf"), says="rows of 16 are not whole blocks of 32")
        self.bad("quantize", "-f", "ggml.q8_0", "-r", "rtz", self.path("x.gguf"), self.path("n.gguf"), says="do not go with the preset")
        self.bad("info", "ggml.q8_0", says="blocks of ggml")
        self.bad("presets", "ggml.q8_0", says="blocks of ggml")
        self.bad("quantize", "-f", "ggml.q8_1", self.path("x.gguf"), self.path("n.gguf"), says="is meant")

    def test_searched_blocks_of_ggml(self):
        """Bytes as ggml 0.10.1 fills them, compiled as ISO C says (tests/compat/test_ggml.py compares many more): digests, and both ways."""
        x = operands_of_searches()
        self.write("x.gguf", gguf([("w", (8, 512), F32, floats(x))]))
        for name, (kind, size, block, digest) in SEARCHED.items():
            self.ok("quantize", "-f", "ggml." + name, "--codes", self.path("x.gguf"), self.path("o.gguf"))
            _, got, content = parse(self.read("o.gguf"))[0]["w"]
            self.assertEqual((got, len(content)), (kind, len(x) // block * size))
            self.assertEqual(hashlib.sha256(content).hexdigest()[:16], digest, name)
            self.ok("decode", self.path("o.gguf"), self.path("v.gguf"))
            self.ok("quantize", "-f", "ggml." + name, self.path("x.gguf"), self.path("u.gguf"))
            self.assertEqual(parse(self.read("v.gguf"))[0], parse(self.read("u.gguf"))[0])
            self.ok("quantize", "-f", "ggml." + name, "--codes", self.path("x.gguf"), self.path("o.safetensors"))
            self.ok("decode", self.path("o.safetensors"), self.path("v.safetensors"))
            self.assertEqual(parse_safetensors(self.read("v.safetensors"))[0]["w"][2], parse(self.read("u.gguf"))[0]["w"][2])
        self.write("y.gguf", gguf([("w", (1, 128), F32, floats([1] * 128))]))
        self.bad("quantize", "-f", "ggml.q4_k", self.path("y.gguf"), self.path("n.gguf"), says="rows of 128 are not whole blocks of 256, those of ggml.q4_k")
        self.write("y.gguf", gguf([("w", (1, 64), F32, floats([1] * 32 + [1e30] * 32))]))
        self.bad("quantize", "-f", "ggml.iq4_nl", self.path("y.gguf"), self.path("n.gguf"), says="from element 32 on: ggml.iq4_nl has no scale")
        self.bad("info", "ggml.q6_k", says="blocks of ggml")

    def test_values_keep_types(self):
        """Without --codes, the types stay; --widen makes F32; bytes are those of the same tensors in .safetensors."""
        content = [("a", (4, 32), F32, floats([i / 7 - 9 for i in range(128)])), ("h", (2, 64), F16, struct.pack("<128e", *[i / 8 for i in range(128)])),
                   ("b", (2, 64), BF16, pattern(256)), ("v", (32,), F32, floats([0.3] * 32))]  # fmt: skip
        self.write("x.gguf", gguf(content))
        names = {F32: "F32", F16: "F16", BF16: "BF16"}
        self.write("x.safetensors", support.safetensors([(n, names[k], s, b) for n, s, k, b in content]))
        for options in ((), ("--widen",), ("--any-rank",), ("--exclude", "a"), ("--include", "h*")):
            self.ok("quantize", "-f", "mxfp8_e5m2", *options, self.path("x.gguf"), self.path("o.gguf"))
            self.ok("quantize", "-f", "mxfp8_e5m2", *options, self.path("x.gguf"), self.path("p.safetensors"))
            self.ok("quantize", "-f", "mxfp8_e5m2", *options, self.path("x.safetensors"), self.path("o.safetensors"))
            self.assertEqual(self.read("p.safetensors"), self.read("o.safetensors"))
            tensors, _, _ = parse_safetensors(self.read("o.safetensors"))
            got, _, _ = parse(self.read("o.gguf"))
            self.assertEqual({n: (names[k], s, b) for n, (s, k, b) in got.items()}, tensors)

    def test_in_place_threads_and_columns(self):
        content = [("t%d" % i, (8, 96), F32, floats([math.sin(i + j) for j in range(768)])) for i in range(9)]
        self.write("x.gguf", gguf(content))
        self.ok("quantize", "-f", "ggml.mxfp4", "--codes", self.path("x.gguf"), self.path("o.gguf"))
        self.ok("quantize", "-f", "ggml.mxfp4", "--codes", "-j", "4", self.path("x.gguf"), self.path("p.gguf"))
        self.assertEqual(self.read("o.gguf"), self.read("p.gguf"))
        self.bad("quantize", "-f", "ggml.mxfp4", "--codes", self.path("x.gguf"), self.path("x.gguf"), says="--in-place")
        self.ok("quantize", "-f", "ggml.mxfp4", "--codes", "--in-place", self.path("x.gguf"))
        self.assertEqual(self.read("x.gguf"), self.read("o.gguf"))
        self.ok("compare", "-f", "mxfp4", "-f", "nvfp4", self.path("d.gguf"), code=2)
        self.ok("decode", self.path("o.gguf"), self.path("d.gguf"))
        self.ok("compare", "-f", "mxfp4", "-f", "nvfp4", self.path("d.gguf"))

    def test_blocks_as_input(self):
        """Blocks are values that are rounded: what `decode` makes of them first. Those that are not chosen stay in .gguf, and are F32 elsewhere."""
        content = [("a.weight", (2, 256), Q4_K, pattern(288)), ("b.weight", (4, 64), Q8_0, pattern(272)), ("c.weight", (2, 128), NVFP4, pattern(144)),
                   ("c.scale", (1,), F32, floats([0.25])), ("d.weight", (2, 64), F16, struct.pack("<128e", *[i / 8 for i in range(128)])),
                   ("e.weight", (2, 64), NVFP4, pattern(72)), ("e.scale", (1,), F32, floats([3])), ("n.weight", (32,), F32, floats([0.3] * 32))]  # fmt: skip
        x, o, v, p = self.path("x.gguf"), self.path("o.gguf"), self.path("v.gguf"), self.path("p.gguf")
        self.write("x.gguf", gguf(content))
        stored = {name: (shape, kind, data) for name, shape, kind, data in content}
        self.ok("decode", x, v)
        choice = ("--exclude", "b*", "--exclude", "e*")
        for args in (("-f", "mxfp4"), ("-f", "ggml.q4_0", "--codes"), ("-f", "bfloat16", "-r", "sra:8", "--seed", "3"), ("-f", "nvfp4", "--widen")):
            with self.subTest(args=args):
                self.ok("quantize", *args, *choice, x, o)
                self.ok("quantize", *args, *choice, v, p)
                got, want = parse(self.read("o.gguf"))[0], parse(self.read("p.gguf"))[0]
                self.assertEqual(list(got), [n for n in stored if n != "c.scale"])
                for name in got:
                    kept = name[0] in "be"
                    self.assertEqual(got[name], stored[name] if kept else want[name], name)
        for args in (("-f", "mxfp4"), ("-f", "mxfp4", "--codes"), ("-f", "float8_e5m2", "--codes")):
            self.ok("quantize", *args, *choice, x, self.path("o.safetensors"))
            self.ok("quantize", *args, *choice, v, self.path("p.safetensors"))
            self.assertEqual(self.read("o.safetensors"), self.read("p.safetensors"))
        self.ok("decode", o, v)  # second scales that stay are still of their blocks
        self.ok("decode", x, p)
        self.assertEqual(parse(self.read("v.gguf"))[0]["e.weight"], parse(self.read("p.gguf"))[0]["e.weight"])

    def test_blocks_compared_and_drawn(self):
        """The figures of the values; with --include codes stay, and --layout auto reads them."""
        self.write("x.gguf", gguf([("a", (2, 256), Q4_K, pattern(288)), ("b", (4, 64), Q8_0, pattern(272))]))
        x, v, o = self.path("x.gguf"), self.path("v.gguf"), self.path("o.gguf")
        self.ok("decode", x, v)
        both = [json.loads(self.ok("compare", "-f", "mxfp4", "-f", "nvfp4", "--json", path)) for path in (x, v)]
        self.assertEqual(both[0]["formats"], both[1]["formats"])
        for path, name in ((x, "x.svg"), (v, "v.svg")):
            self.ok("plot", "-f", "float8_e4m3fn", "--array", path, "--tensor", "b", "-o", self.path(name))
        strip = [self.read(name).replace(b"x.gguf", b"").replace(b"v.gguf", b"") for name in ("x.svg", "v.svg")]
        self.assertEqual(*strip)
        self.bad("quantize", "-f", "mxfp4", "--include", "a", x, o, says="--include 'a': holds codes or scales others")
        self.ok("quantize", "-f", "ggml.q6_k", "--codes", "--include", "a", "--layout", "auto", x, o)
        self.ok("quantize", "-f", "ggml.q6_k", "--codes", "--include", "a", v, self.path("p.gguf"))
        got = parse(self.read("o.gguf"))[0]
        self.assertEqual(got["a"], parse(self.read("p.gguf"))[0]["a"])
        self.assertEqual(got["b"], ((4, 64), Q8_0, pattern(272)))
        self.ok("quantize", "-f", "ggml.q6_k", "--codes", "--exclude", "b", "--in-place", x)
        self.assertEqual(self.read("x.gguf"), self.read("o.gguf"))

    def test_refusals(self):
        infinite = floats([float("inf")] + [1] * 63)
        self.write("x.gguf", gguf([("w", (2, 64), F32, infinite * 2), ("m", (2, 32), MXFP4, pattern(34))]))
        self.write("short.gguf", gguf([("w", (2, 48), F32, floats([1] * 96))]))
        self.write("q.gguf", gguf([("q", (32,), 9, pattern(40))]))
        self.write("k.gguf", gguf([("k", (1, 256), TQ2_0, pattern(66))]))
        self.write("x.safetensors", support.safetensors([("w", "F32", (2, 64), floats([1] * 128))]))
        x, o = self.path("x.gguf"), self.path("o.gguf")
        before = self.left()
        for args, says in (
            (("quantize", "-f", "ggml.mxfp4", "--codes", "--include", "w", x, o), ("tensor 'w'", "MXFP4 of GGUF has no scale for it")),
            (("quantize", "-f", "ggml.nvfp4", "--codes", "--include", "w", x, o), ("tensor 'w'", "NVFP4 of GGUF has no scale for it")),
            (("quantize", "-f", "nvfp4", "--codes", "--include", "w", x, o), ("no type for codes of nvfp4", "MXFP4")),
            (("quantize", "-f", "float8_e4m3fn", "--codes", "--include", "w", x, o), ("no type for codes of float8_e4m3fn",)),
            (("quantize", "-f", "ggml.nvfp4", "--codes", self.path("short.gguf"), o), ("tensor 'w'", "rows of 48", "blocks of 64")),
            (("quantize", "-f", "mxfp4", "--rows", "out", "--include", "w", x, o), ("--rows out",)),
            (("quantize", "-f", "mxfp4", x, self.path("o.npy")), ("a .gguf file becomes",)),
            (("quantize", "-f", "mxfp4", "--include", "w", x, self.path("o.safetensors")), ("tensor 'm' is MXFP4", "decode")),
            (("quantize", "-f", "mxfp4", self.path("x.safetensors"), o), ("a .gguf file is made from a .gguf file",)),
            (("quantize", "-f", "mxfp4", self.path("q.gguf"), o), ("tensor 'q': blocks of Q8_1 are not read",)),
            (("compare", "-f", "mxfp4", "-f", "nvfp4", self.path("q.gguf")), ("tensor 'q': blocks of Q8_1 are not read",)),
            (("quantize", "-f", "mxfp4", "--layout", "mxfp4", self.path("k.gguf"), o), ("k.gguf",)),
            (("quantize", "-f", "mxfp4", "--include", "*", self.path("k.gguf"), o), ("no tensor to round",)),
            (("decode", "-f", "mxfp4", x, o), ("leave -f out",)),
            (("decode", x, self.path("o.npy")), ("a .gguf or a .safetensors file",)),
            (("decode", self.path("q.gguf"), self.path("o.safetensors")), ("tensor 'q': blocks of Q8_1 are not read",)),
            (("decode", x, x), ("is the same file as the input",)),
            (("decode", self.path("none.gguf"), o), ("none.gguf",)),
        ):
            with self.subTest(args=args):
                self.bad(*args, says=says)
                self.assertEqual(self.left(), before)


if __name__ == "__main__":
    support.main()
