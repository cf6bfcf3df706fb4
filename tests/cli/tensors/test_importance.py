# SPDX-License-Identifier: MIT
"""Scales that are searched for under the importance of columns: blocks of ggml, files of importance, and what is refused."""

import hashlib
import math
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, parse_safetensors  # noqa: E402
from test_gguf import F16, F32, gguf, operands_of_searches, parse, pattern  # noqa: E402

# The first half of the SHA-256 digest of what ggml's C makes of the operands under SUMS / 3 (tests/compat/test_ggml.py compares many more).
WEIGHED = {
    "q4_0": "496df5df8e1e8de6",
    "q4_1": "7e577f9c5a4ad331",
    "q5_0": "246c91353220d81e",
    "q5_1": "996cbad40c308ab7",
    "q2_k": "803f0207cadffd6c",
    "q3_k": "56e2918613bcea46",
    "q4_k": "368379eff415741c",
    "q5_k": "57337c94c4077cf5",
    "q6_k": "d9d7f9b09d05e9d0",
    "iq4_nl": "8be23c9b0310945c",
    "iq4_xs": "d04b3abc72f4fadd",
}
SUMS = [float((k * 37 % 64) ** 2) for k in range(512)]


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def earlier(entries, count=None, behind=b""):
    """The importance matrix of llama.cpp until 2025; entries: (name, calls, sums)."""
    data = struct.pack("<i", len(entries) if count is None else count)
    for name, calls, sums in entries:
        data += struct.pack("<i", len(name)) + name.encode() + struct.pack("<ii", calls, len(sums)) + floats(sums)
    return data + behind


def imatrix(entries):
    """That of today; entries: (name, counts, sums), as many sums for each count."""
    tensors = []
    for name, counts, sums in entries:
        tensors += [(name + ".in_sum2", (len(counts), len(sums) // len(counts)), F32, floats(sums)),
                    (name + ".counts", (len(counts), 1), F32, floats(counts))]  # fmt: skip
    return gguf(tensors)


def nearest(y):
    """The number of E2M1 next to y, ties to even."""
    grid = (0, 0.5, 1, 1.5, 2, 3, 4, 6)
    at = min(range(8), key=lambda k: (abs(abs(y) - grid[k]), k % 2))
    return math.copysign(grid[at], y)


def searched(x, weights):
    """A block of mxfp4 as docs/scaled.md section 4.6 has it: its values."""
    counted = [abs(v) for v, w in zip(x, weights) if v and w]
    if not counted:
        e = math.frexp(max(map(abs, x)))[1] - 1 - 2 if any(x) else -127  # the rule: floor(log2 A) - 2
        return [nearest(v / 2.0**e) * 2.0**e for v in x]
    first, last = (next(e for e in range(-127, 128) if y <= 6 * 2.0**e) for y in (min(counted), max(counted)))
    tried = []
    for e in range(max(first - 1, -127), last + 1):
        values = [nearest(v / 2.0**e) * 2.0**e for v in x]
        error = 0.0
        for value, v, w in zip(values, x, weights):
            if w:
                error += w * ((value - v) * (value - v))
        tried.append((error, e, values))
    return min(tried, key=lambda one: one[:2])[2]


class Importance(support.Case):
    def model(self, name="x.gguf"):
        self.write(name, gguf([("w", (8, 512), F32, floats(operands_of_searches()))]))
        return self.path(name)

    def blocks(self, kind, *args):
        self.ok("quantize", "-f", kind, "--codes", *args, self.path("x.gguf"), self.path("o.gguf"))
        return {name: content for name, (_, _, content) in parse(self.read("o.gguf"))[0].items()}

    def test_blocks(self):
        """Bytes as ggml fills them; values are those of the blocks; without weights that differ, codes are others."""
        self.model()
        self.write("w.dat", earlier([("w", 3, SUMS)]))
        for name, digest in WEIGHED.items():
            got = self.blocks("ggml." + name, "--importance", self.path("w.dat"))["w"]
            self.assertEqual(hashlib.sha256(got).hexdigest()[:16], digest, name)
            self.assertNotEqual(got, self.blocks("ggml." + name)["w"], name)
            self.ok("quantize", "-f", "ggml." + name, "--codes", "--importance", self.path("w.dat"), self.path("x.gguf"), self.path("o.gguf"))
            self.ok("decode", self.path("o.gguf"), self.path("v.gguf"))
            self.ok("quantize", "-f", "ggml." + name, "--importance", self.path("w.dat"), self.path("x.gguf"), self.path("u.gguf"))
            self.assertEqual(parse(self.read("v.gguf"))[0], parse(self.read("u.gguf"))[0])

    def test_scales_of_two(self):
        """MX: the scale of the least weighted error of each block, of models and arrays, in codes and values; experts have weights of their own."""
        x = [single((i * 7919 % 1001 - 500) / 64 * 2.0 ** (i * 31 % 7)) for i in range(3 * 2 * 40)]
        parts = [[float((k * 29 + 7 * i) % 31 % (k % 5 + 1)) for k in range(40)] for i in range(3)]
        want = []
        for row in range(6):
            line, weights = x[40 * row : 40 * row + 40], parts[row // 2]
            want += searched(line[:32], weights[:32]) + searched(line[32:], weights[32:])
        self.write("m.safetensors", support.safetensors([("e", "F32", (3, 2, 40), floats(x))]))
        self.write("w.safetensors", support.safetensors([("e", "F32", (3, 40), floats(sum(parts, [])))]))
        options = ("-f", "mxfp4", "--importance", self.path("w.safetensors"))
        self.ok("quantize", *options, self.path("m.safetensors"), self.path("o.safetensors"))
        got = parse_safetensors(self.read("o.safetensors"))[0]["e"][2]
        self.assertEqual(got, floats(want))
        self.ok("quantize", *options, "--codes", self.path("m.safetensors"), self.path("c.safetensors"))
        self.ok("decode", self.path("c.safetensors"), self.path("d.safetensors"))
        self.assertEqual(parse_safetensors(self.read("d.safetensors"))[0]["e"][2], got)
        self.put("e.npy", x[:80], shape=(2, 40))
        self.put("w.npy", parts[0])
        self.ok("quantize", "-f", "mxfp4", "--importance", self.path("w.npy"), self.path("e.npy"), self.path("o.npy"))
        self.assertEqual(support.parse_npy(self.read("o.npy"))[-1], floats(want[:80]))
        self.ok("quantize", "-f", "mxfp4", self.path("e.npy"), self.path("p.npy"))
        self.assertNotEqual(self.read("o.npy"), self.read("p.npy"))
        self.write("g.gguf", gguf([("e", (2, 64), F32, floats(x[:128]))]))
        self.put("w.npy", [1.0] * 64)
        self.ok("quantize", "-f", "mxfp4", "--codes", "--importance", self.path("w.npy"), self.path("g.gguf"), self.path("o.gguf"))
        self.ok("decode", self.path("o.gguf"), self.path("v.gguf"))
        values = sum((searched(x[i : i + 32], [1.0] * 32) for i in range(0, 128, 32)), [])
        self.assertEqual([v + 0.0 for v in struct.unpack("<128f", parse(self.read("v.gguf"))[0]["e"][2])], [v + 0.0 for v in values])

    def test_files(self):
        """The same numbers from each kind of file; halves and counts are exact here."""
        self.model()
        means = [single(s / 3) for s in SUMS]
        self.write("w.dat", earlier([("other", 1, [1.0]), ("w", 3, SUMS)], behind=struct.pack("<ii", 9, 4) + b"text"))
        want = self.blocks("ggml.q4_k", "--importance", self.path("w.dat"))
        self.write("w.gguf", imatrix([("other", [1], [1.0]), ("w", [3.0], SUMS)]))
        self.write("w.safetensors", support.safetensors([("w", "F32", (512,), floats(means)), ("other", "BF16", (1,), b"\x80\x3f")]))
        self.put("w.npy", means)
        for name in ("w.gguf", "w.safetensors", "w.npy"):
            self.assertEqual(self.blocks("ggml.q4_k", "--importance", self.path(name)), want, name)
        halves = [k / 8 for k in range(512)]
        self.write("h.safetensors", support.safetensors([("w", "F16", (512,), struct.pack("<512e", *halves))]))
        self.write("i.dat", earlier([("w", 0, halves)]))  # no calls: the sums themselves
        self.put("h.npy", halves, code="<d")
        want = self.blocks("ggml.q2_k", "--importance", self.path("i.dat"))
        for name in ("h.safetensors", "h.npy"):
            self.assertEqual(self.blocks("ggml.q2_k", "--importance", self.path(name)), want, name)
        self.write("ones.gguf", imatrix([("w", [0.0], SUMS)]))  # nothing was seen: 1
        self.put("ones.npy", [1.0] * 512)
        self.assertEqual(self.blocks("ggml.q6_k", "--importance", self.path("ones.gguf")), self.blocks("ggml.q6_k", "--importance", self.path("ones.npy")))
        self.assertNotEqual(self.blocks("ggml.q6_k", "--importance", self.path("ones.npy")), self.blocks("ggml.q6_k"))

    def test_arrays(self):
        """An array is a tensor of the file's name; codes and values of .npy are those of a model."""
        x = operands_of_searches()
        self.put("w.npy", x, shape=(8, 512))
        self.write("m.safetensors", support.safetensors([("w", "F32", (8, 512), floats(x))]))
        self.write("w.dat", earlier([("w", 3, SUMS)]))
        self.write("other.dat", earlier([("v", 3, SUMS)]))
        options = ("-f", "ggml.q5_0", "--importance", self.path("w.dat"))
        self.ok("quantize", *options, self.path("w.npy"), self.path("o.npy"))
        self.ok("quantize", *options, self.path("m.safetensors"), self.path("o.safetensors"))
        self.assertEqual(support.parse_npy(self.read("o.npy"))[-1], parse_safetensors(self.read("o.safetensors"))[0]["w"][2])
        self.bad("quantize", "-f", "ggml.q5_0", "--importance", self.path("other.dat"), self.path("w.npy"), self.path("o.npy"),
                 says=("other.dat", "says nothing of a tensor 'w'"))  # fmt: skip

    def test_experts(self):
        """A tensor of three axes has numbers for each of its matrices, or the same for all; threads change nothing."""
        x = [math.sin(i * i) for i in range(3 * 4 * 64)]
        self.write("x.gguf", gguf([("e", (3, 4, 64), F32, floats(x))] + [("m%d" % k, (4, 64), F32, floats(x[256 * k : 256 * k + 256])) for k in range(3)]))
        parts = [[float((k * 29 + 7 * i) % 31) for k in range(64)] for i in range(3)]
        self.write("w.gguf", imatrix([("e", [2.0, 4.0, 8.0], sum(parts, []))] + [("m%d" % k, [2.0 ** (k + 1)], part) for k, part in enumerate(parts)]))
        self.write("same.gguf", imatrix([("e", [1.0], parts[0])] + [("m%d" % k, [1.0], parts[0]) for k in range(3)]))
        for name in ("w.gguf", "same.gguf"):
            got = self.blocks("ggml.q4_0", "--importance", self.path(name))
            self.assertEqual(got["e"], got["m0"] + got["m1"] + got["m2"])
            self.assertEqual(self.blocks("ggml.q4_0", "-j", "3", "--importance", self.path(name)), got)

    def test_tensors_without(self):
        """Tensors of which the file says nothing are quantized as without it, and a note says so."""
        content = operands_of_searches()[:2048]
        self.write("x.gguf", gguf([("w", (4, 512), F32, floats(content)), ("v", (4, 512), F32, floats(content)), ("h", (1, 32), F16, pattern(64))]))
        self.write("w.dat", earlier([("w", 3, SUMS)]))
        args = ("-f", "ggml.q4_1", "--codes", "--exclude", "h")
        done = support.run("quantize", *args, "--importance", self.path("w.dat"), self.path("x.gguf"), self.path("o.gguf"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"says nothing of 'v'; without it all columns count alike", done.stderr)
        with_it = parse(self.read("o.gguf"))[0]
        self.ok("quantize", *args, self.path("x.gguf"), self.path("o.gguf"))
        without = parse(self.read("o.gguf"))[0]
        self.assertEqual(with_it["v"], without["v"])
        self.assertNotEqual(with_it["w"], without["w"])
        self.put("one.npy", SUMS)
        self.bad("quantize", *args, "--importance", self.path("one.npy"), self.path("x.gguf"), self.path("n.gguf"), says="an array is for one tensor, and 2")
        self.ok("quantize", *args, "--include", "w", "--importance", self.path("one.npy"), self.path("x.gguf"), self.path("n.gguf"))

    def test_wrong(self):
        """Each error names the file and what is wrong in it; nothing is written."""
        x, o = self.model(), self.path("o.gguf")
        good = [1.0] * 512
        files = {
            "empty.dat": (b"", "no importance matrix"),
            "none.dat": (struct.pack("<i", 0), "no importance matrix"),
            "minus.dat": (struct.pack("<i", -1), "no importance matrix"),
            "text.dat": (b"hello, world", "entry 1: a name of"),
            "name.dat": (struct.pack("<ii", 1, 9) + b"w", "entry 1: a name of 9 bytes"),
            "length.dat": (struct.pack("<i", 1), "entry 1: truncated before the length of its name"),
            "sums.dat": (struct.pack("<ii", 1, 1) + b"w", "entry 1: truncated before its number of sums"),
            "short.dat": (earlier([("w", 1, good)])[:-4], "entry 1: 512 sums do not fit the file"),
            "no_sums.dat": (earlier([("w", 1, [])]), "entry 1: 0 sums do not fit"),
            "second.dat": (earlier([("w", 1, good)], count=2), "entry 2: truncated"),
            "twice.dat": (earlier([("w", 1, good), ("w", 1, good)]), "'w' is there twice"),
            "other.dat": (earlier([("v", 1, good)]), "says nothing of 'w' or of another tensor"),
            "columns.dat": (earlier([("w", 1, good[:256])]), ("256 numbers for", "tensor 'w'", "512 columns")),
            "negative.dat": (earlier([("w", 1, good[:7] + [-1.0] + good[8:])]), "'w': number 7 is -1"),
            "nan.dat": (earlier([("w", 1, good[:9] + [math.nan] + good[10:])]), "'w': number 9 is nan"),
            "infinite.dat": (earlier([("w", 1, [math.inf] + good[1:])]), "'w': number 0 is inf"),
            "overflow.npy": (support.npy("<f8", (512,), floats([1e39] * 512, "<d")), "number 0 is inf"),
            "model.gguf": (gguf([("w", (1, 512), F32, floats(good))]), "no tensor NAME.in_sum2"),
            "counts.gguf": (gguf([("w.in_sum2", (1, 512), F32, floats(good))]), "there is no w.counts"),
            "dtype.gguf": (gguf([("w.in_sum2", (1, 512), F16, bytes(1024)), ("w.counts", (1, 1), F32, floats([1]))]), "are F16 and F32, not F32"),
            "uneven.gguf": (gguf([("w.in_sum2", (2, 255), F32, floats(good[:510])), ("w.counts", (4, 1), F32, floats([1] * 4))]),
                            "510 sums do not go with 4 counts"),  # fmt: skip
            "cut.gguf": (imatrix([("w", [1.0], good)])[:-40], "not a GGUF file"),
            "dtype.safetensors": (support.safetensors([("w", "I32", (512,), bytes(2048))]), "tensor 'w' is I32"),
            "cut.safetensors": (support.safetensors([("w", "F32", (512,), floats(good))])[:-1], "not a .safetensors file"),
        }
        for name, (content, says) in files.items():
            with self.subTest(name=name):
                self.write(name, content)
                says = (name,) + ((says,) if isinstance(says, str) else says)
                before = self.left()
                self.bad("quantize", "-f", "ggml.q4_k", "--codes", "--importance", self.path(name), x, o, says=says)
                self.assertEqual(self.left(), before)
        self.write("w.dat", earlier([("w", 1, good)]))
        for kind in ("ggml.q8_0", "ggml.mxfp4", "ggml.nvfp4", "float8_e4m3fn", "nvfp4", "deepgemm_1x128", "posit8", "s2fp8", "hifloat4", "bfloat16"):
            self.bad("quantize", "-f", kind, "--importance", self.path("w.dat"), x, o, says=("--importance", kind, "no search for scales"))
        self.bad("quantize", "-f", "ggml.q4_k", "--importance", self.path("missing.dat"), x, o, says="missing.dat")
        self.bad("quantize", "-f", "mxfp4", "--importance", self.path("w.dat"), "--amax", "1", x, o, says="--amax gives them")
        self.bad("encode", "-f", "float8_e4m3fn", "--importance", self.path("w.dat"), "0.3", says=("--importance", "go with IN and OUT"))
        self.bad("quantize", "-f", "ggml.q4_k", "--importance", self.path("w.dat"), x, self.path("w.dat"), says="")
        self.bad("quantize", "--layout", "ct-nvfp4", "--importance", self.path("w.dat"), x, self.path("folder"), says="--importance goes with -f")


if __name__ == "__main__":
    support.main()
