# SPDX-License-Identifier: MIT
"""The .safetensors reader: what is wrong is refused, naming the file and the field; odd ways to be right are read."""

import json
import os
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, parse_safetensors, safetensors  # noqa: E402

DATA = floats([1, 2, 3, 4])
A = '"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}'


def raw(header, data=DATA, length=None):
    text = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def one(dtype='"F32"', shape="[2,2]", offsets="[0,16]", more="", data=DATA):
    return raw('{"a":{"dtype":%s,"shape":%s,"data_offsets":%s%s}}' % (dtype, shape, offsets, more), data)


def two(first, second, data):
    entry = '"%s":{"dtype":"U8","shape":[%d],"data_offsets":[%d,%d]}'
    return raw(
        "{%s,%s}" % (entry % ("a", first[1] - first[0], *first), entry % ("b", second[1] - second[0], *second)), data
    )


WRONG = [
    ("empty", b"", "truncated in the header length"),
    ("seven bytes", b"\1" * 7, "truncated in the header length"),
    ("no header", struct.pack("<Q", 0), "header: does not begin with {"),
    ("zero length", raw("", DATA), "header: does not begin with {"),
    ("length beyond", raw("{}", b"", 3), "header length: 3 bytes, the file has 2 after it"),
    ("length huge", raw("{}", b"", 2**64 - 1), "header length: 18446744073709551615 bytes, more than 100000000"),
    ("length 100 MB", raw("{}", b"", 100000001), "more than 100000000 are not read"),
    ("length beyond by far", raw("{}", b"", 99999999), "header length: 99999999 bytes, the file has 2"),
    ("blank first", raw(" {%s}" % A), "header: does not begin with {"),
    ("a list", raw("[]"), "header: does not begin with {"),
    ("npy", b"\x93NUMPY\x01\x00v\x00{'descr'", "header length"),
    ("cut header", raw("{%s" % A), "header: "),
    ("two values", raw("{%s} {}" % A), "header: end of file expected"),
    ("comma", raw("{%s,}" % A), "header: "),
    ("single quotes", raw("{'a':1}"), "header: "),
    ("comment", raw("{%s}//x" % A), "header: "),
    ("NaN", one(shape="[NaN,2]"), "header: "),
    ("UTF-8", raw(b'{"\xff\xfe":1}'), "header: unable to decode byte 0xff"),
    ("UTF-8 cut", raw(b'{"\xe2\x82":1}'), "header: "),
    ("UTF-8 overlong", raw(b'{"\xc0\x80":1}'), "header: "),
    ("surrogate", raw(b'{"\\ud800":1}'), "header: "),
    ("NUL", raw(b'{"a\0":1}'), "header: "),
    ("NUL after", raw("{%s}\0" % A), "header: "),
    ("escaped NUL", raw('{"a\\u0000":1}'), "header: NUL byte in object key not supported"),
    ("NUL in metadata", raw('{"__metadata__":{"k":"\\u0000"}}', b""), "header: \\u0000"),
    ("line in a string", raw(b'{"a\n":1}'), "header: "),
    ("deep", raw('{"a":' + "[" * 5000 + "]" * 5000 + "}"), "header: maximum parsing depth"),
    ("name twice", raw("{%s,%s}" % (A, A)), "header: duplicate object key"),
    ("field twice", one(more=',"dtype":"F32"'), "header: duplicate object key"),
    ("metadata twice", raw('{"__metadata__":{},"__metadata__":{}}', b""), "header: duplicate object key"),
    ("metadata key twice", raw('{"__metadata__":{"k":"1","k":"2"}}', b""), "header: duplicate object key"),
    ("metadata list", raw('{"__metadata__":[]}', b""), "__metadata__: not an object"),
    ("metadata null", raw('{"__metadata__":null}', b""), "__metadata__: not an object"),
    ("metadata number", raw('{"__metadata__":{"k":1}}', b""), "__metadata__: 'k' is not a string"),
    ("metadata object", raw('{"__metadata__":{"k":{}}}', b""), "__metadata__: 'k' is not a string"),
    ("not an object", raw('{"a":3}', b""), "tensor 'a': not an object"),
    ("no dtype", raw('{"a":{"shape":[],"data_offsets":[0,0]}}', b""), "tensor 'a': no dtype"),
    ("no shape", raw('{"a":{"dtype":"F32","data_offsets":[0,0]}}', b""), "tensor 'a': no shape"),
    ("no offsets", raw('{"a":{"dtype":"F32","shape":[]}}', b""), "tensor 'a': no data_offsets"),
    ("more fields", one(more=',"stride":[1]'), "tensor 'a': unknown field 'stride'"),
    ("dtype number", one(dtype="32"), "tensor 'a': dtype is not a string"),
    ("dtype unknown", one(dtype='"F33"'), "tensor 'a': dtype 'F33' is not known"),
    ("dtype small", one(dtype='"f32"'), "tensor 'a': dtype 'f32' is not known"),
    ("dtype odd", one(dtype='"F\\u000132\\n"'), "tensor 'a': dtype 'F?32?' is not known"),
    ("shape object", one(shape="{}"), "tensor 'a': shape is not a list"),
    ("shape number", one(shape="4"), "tensor 'a': shape is not a list"),
    ("shape string", one(shape='["2",2]'), "tensor 'a': shape: entry 1 is not a whole number"),
    ("shape real", one(shape="[2,2.0]"), "tensor 'a': shape: entry 2 is not a whole number"),
    ("shape exponent", one(shape="[2,2e0]"), "tensor 'a': shape: entry 2 is not a whole number"),
    ("shape negative", one(shape="[-2,-2]"), "tensor 'a': shape: entry 1 is not a whole number"),
    ("shape true", one(shape="[true,4]"), "tensor 'a': shape: entry 1 is not a whole number"),
    ("shape too large", one(shape="[9223372036854775808]"), "header: too big integer"),
    ("shape product", one(shape="[4294967296,4294967296]"), "tensor 'a': shape: the tensor does not fit"),
    ("shape product in bits", one(shape="[4611686018427387904]"), "tensor 'a': shape: the tensor does not fit"),
    ("65 dimensions", one(shape="[" + ",".join(["1"] * 65) + "]"), "tensor 'a': shape: more than 64 dimensions"),
    ("offsets object", one(offsets="{}"), "tensor 'a': data_offsets is not a list of two"),
    ("one offset", one(offsets="[16]"), "tensor 'a': data_offsets is not a list of two"),
    ("three offsets", one(offsets="[0,16,16]"), "tensor 'a': data_offsets is not a list of two"),
    ("offset real", one(offsets="[0.0,16]"), "tensor 'a': data_offsets: not whole numbers"),
    ("offset negative", one(offsets="[-16,0]"), "tensor 'a': data_offsets: not whole numbers"),
    ("offset too large", one(offsets="[0,18446744073709551616]"), "header: too big integer"),
    ("offsets turned", one(offsets="[16,0]"), "tensor 'a': data_offsets: the end lies before the begin"),
    ("too few bytes", one(shape="[2,3]"), "tensor 'a': data_offsets: 16 bytes, F32 [2, 3] has 24"),
    ("too many bytes", one(shape="[3]"), "tensor 'a': data_offsets: 16 bytes, F32 [3] has 12"),
    ("wrong width", one(dtype='"F64"'), "tensor 'a': data_offsets: 16 bytes, F64 [2, 2] has 32"),
    (
        "half a byte",
        one(dtype='"F4"', shape="[33]", offsets="[0,16]"),
        "tensor 'a': shape: its F4 do not fill whole bytes",
    ),
    ("six bits", one(dtype='"F6_E2M3"', shape="[21]", offsets="[0,16]"), "its F6_E2M3 do not fill whole bytes"),
    (
        "hole before",
        one(offsets="[4,20]", data=DATA + b"1234"),
        "tensor 'a': data_offsets: a hole of 4 bytes before it",
    ),
    ("hole between", two((0, 4), (8, 16), DATA), "tensor 'b': data_offsets: a hole of 4 bytes before it"),
    ("overlap", two((0, 9), (8, 16), DATA), "tensor 'b': data_offsets: overlaps tensor 'a'"),
    ("overlap turned", two((8, 16), (0, 9), DATA), "tensor 'a': data_offsets: overlaps tensor 'b'"),
    ("same bytes", two((0, 16), (0, 16), DATA), "overlaps tensor"),
    ("inside", two((0, 16), (4, 8), DATA), "tensor 'b': data_offsets: overlaps tensor 'a'"),
    ("empty inside", two((0, 16), (4, 4), DATA), "tensor 'b': data_offsets: overlaps tensor 'a'"),
    ("ends behind", one(data=DATA[:-1]), "tensor 'a': data_offsets: ends at byte 16 of the data, the file has 15"),
    ("no data", one(data=b""), "tensor 'a': data_offsets: ends at byte 16 of the data, the file has 0"),
    ("trailing", one(data=DATA + b"x"), "1 trailing bytes after the data"),
    ("no tensors, data", raw("{}", b"x"), "1 trailing bytes after the data"),
    ("long name", raw('{"%s":3}' % ("n\\n" * 500), b""), "not an object"),
]


class Wrong(support.Case):
    def test_wrong_files(self):
        path = self.path("wrong.safetensors")
        for name, data, says in WRONG:
            self.write("wrong.safetensors", data)
            for args in (
                ("quantize", "-f", "mxfp4", path, "-o", self.path("out.safetensors"), "--report", self.path("r.html")),
                ("quantize", "-f", "bfloat16", "--codes", path, self.path("out.safetensors")),
                ("decode", path, self.path("out.npy")),
            ):
                with self.subTest(name=name, command=args[0]):
                    self.bad(*args, says=(path + ": ", says))
                    self.assertEqual(self.left(), ["wrong.safetensors"])
        print("wrong files: %d, each through three commands" % len(WRONG))

    def test_every_cut(self):
        """A good file cut anywhere is refused."""
        good = safetensors([("a", "F32", (2, 2), DATA), ("b", "U8", (3,), b"xyz")], {"k": "v"})
        for n in range(len(good)):
            self.write("cut.safetensors", good[:n])
            self.bad(
                "quantize",
                "-f",
                "mxfp4",
                self.path("cut.safetensors"),
                self.path("o.safetensors"),
                says="cut.safetensors: ",
            )
        self.write("cut.safetensors", good)
        self.ok("quantize", "-f", "mxfp4", self.path("cut.safetensors"), self.path("o.safetensors"))

    def test_odd_but_right(self):
        zeros = ",".join(["1"] * 62)
        for data in (
            raw("{%s}   " % A),
            raw("{\n\t%s\r\n}\n" % A.replace(",", " ,\n")),
            raw("{%s}" % A.replace('"a"', '"\\u0061"')),
            raw('{%s,"__metadata__":{}}' % A),
            raw('{%s,"e":{"data_offsets":[16,16],"shape":[0,9223372036854775807],"dtype":"F4"}}' % A),
            raw('{%s,"e":{"data_offsets":[0,0],"shape":[9223372036854775807,9,0],"dtype":"F32"}}' % A),
            raw('{%s,"e":{"data_offsets":[0,0],"shape":[3,0],"dtype":"C64"}}' % A),
            raw('{"":{"dtype":"F32","shape":[2,2,%s],"data_offsets":[0,16]}}' % zeros),
            raw('{"a/b.c":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'),
        ):
            self.write("x.safetensors", data)
            self.ok("quantize", "-f", "mxfp8_e4m3", "--include", "*", self.path("x.safetensors"), self.path("o.safetensors"))
            tensors, _, _ = parse_safetensors(self.read("o.safetensors"))
            self.assertIn(DATA, [t[2] for t in tensors.values()])

    def test_every_dtype_is_carried(self):
        sizes = dict(BOOL=8, F4=4, F6_E2M3=6, F6_E3M2=6, U8=8, I8=8, F8_E5M2=8, F8_E4M3=8, F8_E8M0=8, F8_E4M3FNUZ=8,
                     F8_E5M2FNUZ=8, I16=16, U16=16, F16=16, BF16=16, I32=32, U32=32, F32=32, C64=64, F64=64,
                     I64=64, U64=64)  # fmt: skip
        tensors = [("t." + d, d, (8,), bytes(range(n))) for d, n in sizes.items()] + [("m", "F32", (2, 2), DATA)]
        self.write("x.safetensors", safetensors(tensors))
        self.ok("quantize", "-f", "mxfp8_e4m3", "--include", "m", self.path("x.safetensors"), self.path("o.safetensors"))
        got, _, order = parse_safetensors(self.read("o.safetensors"))
        self.assertEqual(got, {n: (d, s, b) for n, d, s, b in tensors})
        widths = [sizes[got[n][0]] for n in order]
        self.assertEqual(widths, sorted(widths, reverse=True))
        self.assertEqual(len(sizes), 22)

    def test_wrong_notes(self):
        """What --codes wrote, with something changed: decode refuses, naming what is wrong."""
        x = self.write("x.npy", support.npy("<f4", (2, 20), floats([0.5] * 40)))
        self.ok("quantize", "-f", "nvfp4", "--codes", x, self.path("c.safetensors"))
        tensors, metadata, _ = parse_safetensors(self.read("c.safetensors"))
        note = metadata["halfulp.x"]
        self.assertEqual(note.split(" scaled(")[0], "F32 [2, 20]")

        def attempt(says, note=note, drop=None, **change):
            parts = {n: change.get(n[2:], t) for n, t in tensors.items() if n != drop}
            self.write("w.safetensors", safetensors([(n, *t) for n, t in parts.items()], {"halfulp.x": note}))
            self.bad("decode", self.path("w.safetensors"), self.path("z.npy"), says=says)

        here = self.path("w.safetensors")
        format_text = note[note.index("scaled(") :]
        for text, says in (
            ("", (here, "'halfulp.x': no dtype")),
            ("F32", (here, "'halfulp.x': no dtype")),
            ("U8 [2, 20] " + format_text, (here, "not one of F64, F32, F16, BF16")),
            ("F32 2x20 " + format_text, (here, "'halfulp.x': no shape")),
            ("F32 [2, 20 " + format_text, (here, "'halfulp.x': no shape")),
            ("F32 [2, ] " + format_text, (here, "'halfulp.x': no shape")),
            ("F32 [-2, 20] " + format_text, (here, "'halfulp.x': no shape")),
            ("F32 [99999999999999999999] " + format_text, (here, "'halfulp.x': no shape")),
            ("F32 [2, 20]" + format_text, (here, "'halfulp.x': no shape")),
            ("F32 [2, 20] nosuch", "format 'nosuch': no such name"),
            ("F32 [2, 20] scaled(\n", (here, "unprintable")),
            ("F32 [2, 22] " + format_text, (here, "tensor 'x.codes': U8 [2, 10], its codes require U8 [2, 11]")),
            ("F32 [3, 20] " + format_text, (here, "tensor 'x.codes'")),
            ("F32 [9000000000, 9000000000] " + format_text, ""),
            ("F32 [9000000000000000000, 2] " + format_text, ""),
        ):
            attempt(says, text)
        attempt((here, "tensor 'x.scales' is missing"), drop="x.scales")
        attempt((here, "tensor 'x.tensor' is missing"), drop="x.tensor")
        attempt((here, "tensor 'x.scales': U8 [4], its codes require U8 [2, 2]"), scales=("U8", (4,), b"1234"))
        attempt((here, "tensor 'x.scales': I8"), scales=("I8", (2, 2), b"1234"))
        attempt((here, "tensor 'x.tensor': F32 [1], its codes require F32 []"), tensor=("F32", (1,), b"1234"))
        self.write("w.safetensors", safetensors([("x", "F32", (2, 2), DATA)], {"k": "v"}))
        self.bad("decode", here, self.path("z.npy"), says=(here, "holds no codes of"))
        self.bad("decode", "-f", "nvfp4", here, self.path("z.npy"), says="leave -f out")
        self.assertNotIn("z.npy", self.left())

    def test_big_file_is_mapped(self):
        """5 GB of zeros on paper: the header is judged without reading them."""
        size = 5 << 30
        header = json.dumps({"a": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
        path = self.write("big.safetensors", struct.pack("<Q", len(header)) + header)
        os.truncate(path, 8 + len(header) + size)
        self.bad("quantize", "-f", "mxfp4", path, self.path("o.safetensors"), says=(path, "no tensor to round"))
        os.truncate(path, 7 + len(header) + size)
        self.bad("quantize", "-f", "mxfp4", path, self.path("o.safetensors"), says=(path, "ends at byte 5368709120"))


if __name__ == "__main__":
    support.main()
