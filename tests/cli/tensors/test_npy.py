# SPDX-License-Identifier: MIT
"""The .npy reader: every way a file can be wrong, every order and width that is right."""

import math
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, npy, parse_npy  # noqa: E402

GOOD = npy("<f4", (3,), floats([1, 2, 3]))


def header(text):
    return npy(None, None, floats([1, 2, 3]), header=text)


WRONG = [
    ("empty", b"", "wrong magic"),
    ("magic", b"\x93NUMPZ" + GOOD[6:], "wrong magic"),
    ("text", b"hello, this is no array\n", "wrong magic"),
    ("six bytes", GOOD[:6], "truncated in the header"),
    ("nine bytes", GOOD[:9], "truncated in the header"),
    ("in the header", GOOD[:40], "truncated in the header"),
    ("version 0", GOOD[:6] + b"\x00" + GOOD[7:], "version 0.0"),
    ("version 4", GOOD[:6] + b"\x04" + GOOD[7:], "version 4.0"),
    ("version 1.1", GOOD[:7] + b"\x01" + GOOD[8:], "version 1.1"),
    ("huge header", b"\x93NUMPY\x02\x00" + struct.pack("<I", 0xFFFFFFF0) + b"{}", "header of 4294967280 bytes"),
    ("version 2 cut", b"\x93NUMPY\x02\x00\x10\x00", "truncated in the header"),
    ("truncated", GOOD[:-1], "truncated: 11 bytes of data, the shape needs 12"),
    ("no data", GOOD[:-12], "truncated: 0 bytes"),
    ("trailing", GOOD + b"x", "1 trailing bytes"),
    ("object", npy("|O", (3,), b"\x00" * 24), "object arrays"),
    ("structured", header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }"), "structured"),
    ("complex", npy("<c8", (3,), b"\x00" * 24), "'<c8' is not supported"),
    ("int128", npy("<i16", (3,), b"\x00" * 48), "'<i16' is not supported"),
    ("no bool", npy("|b1", (3,), b"\x00\x01\x02"), "holds 0x02 at [2], which is neither false nor true"),
    ("float128", npy("<f16", (3,), b"\x00" * 48), "'<f16' is not supported"),
    ("no order", npy("|f4", (3,), b"\x00" * 12), "has no byte order"),
    ("unicode", npy("<U3", (1,), b"\x00" * 12), "'<U3' is not supported"),
    ("shape overflow", npy("<f4", (2**32, 2**32, 16), b""), "does not fit the address space"),
    (
        "size overflow",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
        "does not fit the address space",
    ),
    ("negative", header("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }"), "something else than sizes"),
    ("no tuple", header("{'descr': '<f4', 'fortran_order': False, 'shape': 3, }"), "not a tuple"),
    ("no comma", header("{'descr': '<f4', 'fortran_order': False, 'shape': (3), }"), "not a tuple"),
    ("open shape", header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1 }"), "not closed"),
    (
        "65 dimensions",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % ("1," * 65)),
        "more than 64",
    ),
    ("order", header("{'descr': '<f4', 'fortran_order': 0, 'shape': (3,), }"), "neither True nor False"),
    ("no descr", header("{'fortran_order': False, 'shape': (3,), }"), "'descr' is missing"),
    ("no fortran_order", header("{'descr': '<f4', 'shape': (3,), }"), "'fortran_order' is missing"),
    ("no shape", header("{'descr': '<f4', 'fortran_order': False, }"), "'shape' is missing"),
    ("twice", header("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"), "twice"),
    ("unknown key", header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1, }"), "unknown key 'x'"),
    ("no dictionary", header("('<f4', False, (3,))"), "not a dictionary"),
    ("no colon", header("{'descr' '<f4'}"), "no ':'"),
    ("open dictionary", header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)"), "not closed"),
    ("open string", b"\x93NUMPY\x01\x00\x06\x00{'desc", "does not end"),
    ("long string", header("{'%s': 1}" % ("d" * 50)), "too long"),
    ("escape", header("{'de\\x73cr': '<f4'}"), "unprintable"),
    ("after", header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } 1"), "follows the dictionary"),
    ("blank", header(""), "not a dictionary"),
]


class Npy(support.Case):
    def test_wrong_files(self):
        for name, data, says in WRONG:
            path = self.write("wrong.npy", data)
            for args in (
                ("quantize", "-f", "bfloat16", path, self.path("out.npy")),
                ("compare", path, path),
                ("plot", "-f", "bfloat16", "--array", path, "-o", self.path("out.svg")),
                (
                    "gemm",
                    path,
                    path,
                    "--fa",
                    "bfloat16",
                    "--fb",
                    "bfloat16",
                    "--fd",
                    "bfloat16",
                    "--accum",
                    "exact",
                    "-o",
                    self.path("out.npy"),
                ),
            ):
                with self.subTest(name=name, command=args[0]):
                    self.bad(*args, says=(path + ": ", says))
                    self.assertEqual(self.left(), ["wrong.npy"])
        print("wrong files: %d, each through four commands" % len(WRONG))

    def test_wrong_from_standard_input(self):
        self.bad(
            "quantize", "-f", "bfloat16", "-", self.path("o.npy"), stdin=GOOD[:-1], says="standard input: truncated"
        )

    def test_random_words_of_either_order(self):
        """Element i in row-major order takes word i, whatever the order of the file: the same numbers for every kind of format."""
        shape = (2, 3, 5)
        values = [math.ldexp(1 + i / 64, -1 - i % 3) * (-1) ** i for i in range(30)]
        by_columns = [values[(i * 3 + j) * 5 + k] for k in range(5) for j in range(3) for i in range(2)]
        for descr, code in (("<f4", "<f"), ("<f8", "<d"), ("<f2", "<e")):
            self.write("c.npy", npy(descr, shape, floats(values, code)))
            self.write("f.npy", npy(descr, shape, floats(by_columns, code), True))
            for name in ("float8_e5m2", "posit8", "nf4", "lns8", "int8", "hifloat8", "table(-1,0,1.7)", "mxfp8_e4m3", "s2fp8"):
                for more in (), ("--codes",):
                    with self.subTest(format=name, descr=descr, more=more):
                        rows = self.in_rows(name, "c.npy", *more)
                        self.assertEqual(self.in_rows(name, "f.npy", *more), rows)
                        self.assertNotEqual(self.in_rows(name, "c.npy", *more, "--seed", "2"), rows)

    def in_rows(self, name, file, *more):
        self.ok("quantize", "-q", "-f", name, "-r", "sra:8", *more, self.path(file), self.path("z.npy"))
        descr, fortran, (a, b, c), payload = parse_npy(self.read("z.npy"))
        size = int(descr[2:])
        places = [(k * b + j) * a + i if fortran else (i * b + j) * c + k for i in range(a) for j in range(b) for k in range(c)]
        return [payload[p * size:(p + 1) * size] for p in places]

    def test_every_width_and_order(self):
        values = [0.0, -0.0, 1.0, 0.3, -2.7, 1e-3, 300.0, float("inf"), float("-inf"), 65504.0, 5e-8, -17.5]
        want = {}
        for code, size in (("e", 2), ("f", 4), ("d", 8)):
            for order in "<>":
                for fortran in (False, True):
                    for version in (1, 2, 3):
                        for shape in ((12,), (3, 4), (2, 3, 2), (1, 12, 1)):
                            data = npy("%sf%d" % (order, size), shape, floats(values, order + code), fortran, version)
                            self.write("x.npy", data)
                            self.ok("quantize", "-f", "float8_e4m3fn", self.path("x.npy"), self.path("z.npy"))
                            descr, order_out, shape_out, payload = parse_npy(self.read("z.npy"))
                            self.assertEqual((descr, order_out, shape_out), ("<f%d" % size, fortran, shape))
                            self.assertEqual(payload, want.setdefault(size, payload))
        back = struct.unpack("<12d", want[8])
        self.assertEqual(back, struct.unpack("<12f", want[4]))
        self.assertEqual(back, struct.unpack("<12e", want[2]))
        self.assertEqual(
            repr(back), repr((0.0, -0.0, 1.0, 0.3125, -2.75, 0.001953125, 288.0, 448.0, -448.0, 448.0, 0.0, -18.0))
        )

    def test_unaligned_data(self):
        text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n".encode()
        for pad in range(8):
            head = text[:-1] + b" " * pad + b"\n"
            data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + floats([0.3, 5], "<d")
            self.write("x.npy", data)
            self.ok("quantize", "-f", "float8_e4m3fn", self.path("x.npy"), self.path("z.npy"))
            self.assertEqual(struct.unpack("<2d", parse_npy(self.read("z.npy"))[3]), (0.3125, 5.0))

    def test_empty_and_scalar(self):
        for shape, values in (((0,), []), ((3, 0), []), ((), [0.3])):
            self.write("x.npy", npy("<f4", shape, floats(values)))
            self.ok("quantize", "-f", "bfloat16", self.path("x.npy"), self.path("z.npy"))
            self.assertEqual(parse_npy(self.read("z.npy"))[2], shape)
        self.assertEqual(parse_npy(self.read("z.npy"))[3], floats([0.30078125]))

    def test_other_spellings(self):
        for text in (
            '{"descr":"<f4","fortran_order":False,"shape":(3,)}',
            "{'shape': (3,), 'descr': '=f4', 'fortran_order': False}",
            "{ 'shape' : ( 3 , ) , 'fortran_order' : False , 'descr' : '<f4' , } ",
        ):
            self.write("x.npy", header(text))
            self.ok("quantize", "-f", "bfloat16", self.path("x.npy"), self.path("z.npy"))

    def test_pipes(self):
        r = support.run("quantize", "-f", "bfloat16", "-", "-", stdin=GOOD)
        self.assertEqual(r.returncode, 0)
        self.assertEqual(parse_npy(r.stdout)[3], floats([1, 2, 3]))
        self.assertIn(b"events", r.stderr)


class Codes(support.Case):
    """Codes under the dtypes that NumPy writes for types of ml_dtypes, and as bits in signed integers."""

    def test_decode(self):
        e4 = bytes([0x38, 0x39, 0xB8, 0x7E, 0x7F, 0x00, 0x80, 0x01])
        e5 = bytes([0x3C, 0x3D, 0xBC, 0x7B, 0x7C, 0x7E, 0x80, 0x01])
        b16 = struct.pack("<6H", 0x3F80, 0x3FC0, 0x7F80, 0x8000, 0x0001, 0xC2F7)
        e4_values = [1, 1.125, -1, 448, math.nan, 0, -0.0, 2.0**-9]
        e5_values = [1, 1.25, -1, 57344, math.inf, math.nan, -0.0, 2.0**-16]
        b16_values = [1, 1.5, math.inf, -0.0, 2.0**-133, -123.5]
        for fmt, data, values, descrs in (
            ("float8_e4m3fn", e4, e4_values, ("|u1", "<V1", "|V1", "|i1", "float8_e4m3fn")),
            ("float8_e5m2", e5, e5_values, ("<f1", "<V1", "float8_e5m2")),
            ("bfloat16", b16, b16_values, ("<u2", "<V2", "<i2", "bfloat16")),
        ):  # fmt: skip
            for descr in descrs:
                self.write("c.npy", npy(descr, (2, len(values) // 2), data))
                self.ok("decode", "-f", fmt, self.path("c.npy"), self.path("v.npy"))
                found, _, shape, got = parse_npy(self.read("v.npy"))
                self.assertEqual((found, shape), ("<f4", (2, len(values) // 2)))
                for x, y in zip(struct.unpack("<%df" % len(values), got), values):
                    self.assertEqual((str(x), fmt, descr), (str(float(y)), fmt, descr))
        self.write("c.npy", npy("<V1", (2,), b"\x01\xff"))  # int4 by two's complement, as numpy writes it
        self.ok("decode", "-f", "int4", self.path("c.npy"), self.path("v.npy"))
        self.assertEqual(parse_npy(self.read("v.npy"))[3], floats([1, -1]))

    def test_wrong(self):
        c, v = self.path("c.npy"), self.path("v.npy")
        for descr, data, fmt, says in (
            ("float8_e5m2", b"\0", "float8_e4m3fn", "its dtype is float8_e5m2, and -f is float8_e4m3fn"),
            ("<V1", b"\0", "bfloat16", "codes of bfloat16 are uint16, this is uint8"),
            ("<V2", b"\0\0", "float8_e5m2", "codes of float8_e5m2 are uint8, this is uint16"),
            ("<V3", b"\0\0\0", "float8_e5m2", "'<V3' is not supported"),
            ("float9", b"\0", "float8_e5m2", "'float9' is not supported"),
            ("<V1", b"\x21", "float4_e2m1fn", "wider than the 4 bits"),
        ):  # fmt: skip
            self.write("c.npy", npy(descr, (1,), data))
            self.bad("decode", "-f", fmt, c, v, says=(c, says))
        self.write("c.npy", npy("<V1", (1,), b"\0"))
        self.bad("quantize", "-f", "float8_e5m2", c, v, says="'<V1' is not supported")
        self.bad("decode", "-f", "float8_e5m2", "--include", "x", c, v, says="--include goes with .safetensors files")


if __name__ == "__main__":
    support.main()
