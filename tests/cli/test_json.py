# SPDX-License-Identifier: MIT
"""What every command prints with --json has the shape that docs/json.md gives it, and the page names every field."""

import json
import math
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["HALFULP_DOCS"], "site"))
import shapes  # noqa: E402
import support  # noqa: E402

DOCS = os.environ["HALFULP_DOCS"]
PAGES = ("json.md", "training/command.md", "training/sweep.md", "training/experiments.md", "training/ledger.md",
         "training/attribute.md")
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list,
         "null": type(None)}


def read(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


SCHEMA = shapes.schema()["$defs"]


def wrong(x, schema, at="$"):
    """The first thing that is wrong with x, or None: the keywords that shapes.py writes."""
    if "$ref" in schema:
        return wrong(x, SCHEMA[schema["$ref"].rpartition("/")[2]], at)
    if "anyOf" in schema:
        said = [wrong(x, s, at) for s in schema["anyOf"]]
        return None if None in said else "; or ".join(said)
    if "enum" in schema:
        return None if x in schema["enum"] else "%s: %r is none of %s" % (at, x, schema["enum"])
    kind = schema["type"]
    if not isinstance(x, TYPES[kind]) or (isinstance(x, bool) and kind != "boolean"):
        return "%s: %r is no %s" % (at, x, kind)
    if "pattern" in schema and not re.search(schema["pattern"], x):
        return "%s: %r does not match %s" % (at, x, schema["pattern"])
    if kind == "array":
        return next((w for i, v in enumerate(x) for w in [wrong(v, schema["items"], "%s[%d]" % (at, i))] if w), None)
    if kind == "object":
        for name in schema["required"]:
            if name not in x:
                return "%s: lacks %s" % (at, name)
        for name, v in x.items():
            if name not in schema["properties"]:
                return "%s: has %s" % (at, name)
            said = wrong(v, schema["properties"][name], at + "." + name)
            if said:
                return said
    return None


def fields(schema):
    """The names of all fields of a schema, without those of what it refers to."""
    if isinstance(schema, list):
        return set().union(*map(fields, schema))
    own = set(schema.get("properties", ()))
    parts = list(schema.get("properties", {}).values()) + schema.get("anyOf", [])
    return own | fields(parts + [schema[k] for k in ("items",) if k in schema])


class Json(support.Examples):
    def holds(self, name, *args, stdin=b"", code=0):
        text = self.ok(args[0], "--json", *args[1:], stdin=stdin, code=code)
        value = json.loads(text, parse_constant=lambda word: self.fail("%s: %s" % (args, word)))
        self.assertIsNone(wrong(value, SCHEMA[name]), (args, text[:400]))
        for number in re.findall(r"(?<![\w\".])-?\d+\.\d+(?:e[-+]\d+)?(?![\w\"])", re.sub(r'"(?:[^"\\\\]|\\\\.)*"', '""', text)):
            digits = number.split("e")[0].lstrip("-").replace(".", "").strip("0")
            if math.frexp(float(number))[0] != math.copysign(0.5, float(number)):  # see cli/base/numbers.h
                self.assertLessEqual(len(digits), len(re.sub(r"e.*|[-.]", "", repr(float(number))).strip("0")), number)
        return value

    def test_lists(self):
        self.holds("help", "help")
        self.holds("version", "version")
        self.holds("formats", "formats")
        self.holds("formats", "formats", "--scaled")
        self.holds("formats", "formats", "--rules")
        self.holds("formats", "formats", "--numbers")
        self.holds("presets", "presets")
        self.holds("models", "models")
        self.holds("info --p3109", "info", "--p3109")
        if os.environ["HALFULP_SAFETENSORS"] == "1":
            header = b'{"w":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]},"v":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}}'
            model = self.write("m.safetensors", len(header).to_bytes(8, "little") + header + bytes(4))
            self.holds("info MODEL", "info", model)
        self.holds("models --grammar", "models", "--grammar")
        self.holds("verify --list", "verify", "--list")
        self.holds("verify --theorems", "verify", "--theorems")

    def test_a_name_that_is_not_utf8(self):
        name = os.fsencode(self.path("bad")) + b"\xff.npy"
        with open(name, "wb") as file:
            file.write(support.npy("<f4", (4,), support.floats([1, 2, 3, 4])))
        r = support.run("quantize", "--json", "-f", "bfloat16", os.fsdecode(name), self.path("z.npy"))
        self.assertTrue(json.loads(r.stdout.decode())["file"].endswith("bad\ufffd.npy"))

    def test_vectors(self):
        lines = "57 38 58 00\n57 38 A1 01\n57 38 x0 00\n7F 38 00 00\n"
        got = self.holds("vectors --check", "vectors", "--check", "add", "-f", "float8_e4m3fn", stdin=lines, code=1)
        self.assertEqual(got["kinds"], {"result": 2, "nan": 0, "flags": 0, "unknown": 1})
        self.assertEqual([d["line"] for d in got["first"]], [2, 3, 4])
        self.assertEqual(got["first"][0]["is"], {"code": "0xa1", "value": -0.140625, "flags": "0x01"})
        self.assertEqual(got["first"][2]["should_be"]["value"], "nan")
        lines = "3C00 00000002 00\n"
        got = self.holds("vectors --check", "vectors", "--testfloat", "f16_to_i32", "--check", stdin=lines, code=1)
        self.assertEqual(got["first"][0]["should_be"], {"code": "0x00000001", "value": 1, "flags": "0x00"})
        for args, line in ((("add", "-f", "float8_e4m3fn"), "57 38 A1 01\n"), (("lt", "-f", "binary16"), "3C00 4000 0 00\n"),
                           (("dot", "--accum", "nv.turing.s8.s32"), "01" * 16 + " " + "02" * 16 + " 00000000 00000000 00\n")):
            got = self.holds("vectors --check", "vectors", "--check", *args, "--explain", stdin=line, code=1)
            self.assertEqual(got["explanation"] is None, args[0] == "lt")
        got = self.holds("vectors --check", "vectors", "--check", "lt", "-f", "binary16", stdin="3C00 4000 0 00\n", code=1)
        self.assertEqual(got["first"][0]["should_be"]["value"], True)

    def test_generated_vectors(self):
        """The same cases as the lines, in every form that lines have."""
        dot = ("dot", "--accum", "nv.volta.f16.f32")
        own = ("dot", "--accum", "seq(binary16,sra:5)", "--fa", "binary16", "--fb", "binary16", "--fd", "binary16")
        for args, value in ((("add", "-f", "float4_e2m1fn"), -6), (("lt", "-f", "float4_e2m1fn"), False),
                            (("sqrt", "-f", "float8_e4m3fn", "-r", "sra:5", "--words"), "nan"), (dot, None), ((*own, "--words"), None),
                            (("convert", "-f", "float8_e4m3fn", "--fd", "i8"), 127), (("convert", "-f", "float8_e4m3fn", "--fd", "binary64"), "nan")):
            lines = [line.rsplit(" ", 2) for line in self.ok("vectors", *args).splitlines()]
            made = self.holds("vectors", "vectors", *args)
            self.assertEqual([(x["operands"], x["code"][2:].upper(), x["flags"][2:].upper()) for x in made], [tuple(x) for x in lines])
            if value is not None:
                self.assertEqual(made[-1]["value"], value, args)
            self.assertEqual(self.holds("vectors --count", "vectors", "--count", *args), {"id": args[0], "cases": len(made)})
        self.bad("vectors", "add", "-f", "float4_e2m1fn", "--json", "--joined", says="--joined")
        made = self.holds("vectors", "vectors", "--testfloat", "f16_add", stdin="3C00 3C01\n7E00 3C00\n")
        self.assertEqual([x["value"] for x in made], [2, "nan"])
        self.assertEqual(self.holds("vectors", "vectors", "--testfloat", "f16_add", stdin=""), [])
        self.assertEqual(len(self.holds("vectors", "vectors", "--testfloat", "bf16_sqrt", "--level", "1")), 65536)
        # A list that an error ends is still one.
        for stdin, count in ((b"3C00 3C01\nx\n", 1), (b"x\n", 0)):
            r = support.run("vectors", "--testfloat", "f16_add", "--json", stdin=stdin)
            self.assertEqual((r.returncode, len(json.loads(r.stdout))), (2, count))

    def test_numbers(self):
        for f in ("float8_e4m3fn", "binary32", "float8_e8m0fnu", "uint4", "fp(3,4,0)", "posit8", "lns16", "nf4", "int8"):
            self.holds("info", "info", f)
        for f in ("nvfp4", "mxint8", "fp8_tensor", "bfp(3,8,16)"):
            self.assertEqual(self.holds("info", "info", f)["kind"], "scaled")
        for f in ("s2fp8", "s2fp8(binary16;target=3;special=element)"):
            self.assertEqual(self.holds("info", "info", f)["kind"], "s2fp8")
        for f in ("hifloat4", "hifloat4_cann", "hifloat4(ties=away;low=nan)"):
            self.assertEqual(self.holds("info", "info", f)["kind"], "hifloat4")
        for f in ("float4_e2m1fn", "float8_e5m2", "posit8", "nf4"):
            self.holds("info --table", "info", f, "--table")
        for f in ("float8_e4m3fn", "float8_e4m3", "ue4m3", "dlfloat16", "posit8", "nf4", "int8", "binary32"):
            for x in ("0.3", "1e9", "-0.001", "inf", "nan", "0", "-0", "1e-50"):
                self.holds("explain", "explain", "-f", f, "-r", "all", "--", x)
        self.holds("explain", "explain", "-f", "torch.bfloat16", "0.3")
        self.holds("explain", "explain", "-f", "bfloat16", "--fa", "float8_e5m2", "fma", "0.3", "inf", "-2")
        self.holds("explain", "explain", "-f", "float8_e4m3fn", "1e999")
        for args in (("nv.hopper.e4m3.f32.wgmma",), ("seq(bfloat16,sra:5)", "-f", "float8_e4m3fn"), ("pairwise(binary16)", "-f", "binary16"),
                     ("exact", "-f", "binary32"), ("nv.turing.s8.s32",), ("promote(2,seq(binary16),binary32)", "-f", "binary16"),
                     ("splitk(2,chunk(2,binary16,binary16))", "-f", "binary16"), ("block(late,l=4,f=8,f2=10)", "-f", "bfloat16")):
            for a in ("448,0.125,1,-7", "inf,1,0,0", "nan,1,0,0", "0,0,-0,0"):
                self.holds("explain dot", "explain", "dot", "--accum", *args, a, "100,0.25,1,1")
        got = self.holds("encode", "encode", "-f", "float8_e4m3", "1000", "-0.1", "nan")
        self.assertEqual([x["code"] for x in got], ["0x78", "0x9d", "0x7c"])
        self.assertEqual([x["value"] for x in got], ["inf", -0.1015625, "nan"])
        self.assertEqual([x["events"]["overflow"] for x in got], [True, False, False])
        self.assertEqual(self.holds("decode", "decode", "-f", "float8_e4m3", stdin="80\n")[0]["value"], 0)
        self.assertIn("-0.0", self.ok("decode", "-f", "float8_e4m3", "--json", "80"))
        self.assertEqual(self.holds("decode", "decode", "-f", "float8_e4m3", stdin=""), [])
        self.holds("mma", "mma", "nv.volta.f16.f32", stdin="3c003c003c003c00 3c003c003c003c00 3f800000\n" * 2)
        self.assertEqual(self.holds("mma", "mma", "nv.turing.s8.s32", stdin="ff" * 16 + " " + "01" * 16 + " -\n")[0]["value"], -16)
        # A list that an error ends is still one.
        r = support.run("encode", "-f", "float8_e4m3", "--json", stdin=b"1\nx\n")
        self.assertEqual((r.returncode, len(json.loads(r.stdout))), (2, 1))
        r = support.run("encode", "-f", "float8_e4m3", "--json", stdin=b"x\n")
        self.assertEqual((r.returncode, json.loads(r.stdout)), (2, []))

    def test_arrays(self):
        x = self.write("x.npy", support.npy("<f4", (4, 3), support.floats([0.1 * i for i in range(12)])))
        y = self.write("y.npy", support.npy("<f4", (4, 3), support.floats([0.1 * i for i in range(11)] + [float("inf")])))
        w = self.write("w.npy", support.npy("<f4", (3, 2), support.floats(range(6))))
        z = self.path("z.npy")
        for f in ("float8_e4m3fn", "nvfp4", "s2fp8", "posit8", "torch.float8_e4m3fn"):
            self.holds("quantize", "quantize", "-f", f, x, z)
        self.holds("quantize", "encode", "-f", "mxfp4", x, z)
        if os.environ["HALFULP_SAFETENSORS"] == "1":
            self.holds("quantize", "quantize", "-f", "mxfp4", x, self.path("z.safetensors"))
            self.holds("compare", "compare", "-f", "mxfp4", "-f", "binary32", "-f", "torch.float8_e4m3fn", x)
            self.ok("quantize", "-q", "--codes", "-f", "mxfp4", x, self.path("a.npy"))
            self.ok("quantize", "-q", "--codes", "-f", "mxfp4", "-r", "rtz", x, self.path("b.npy"))
            f = ("-f", "mxfp4")
            self.holds("audit", "audit", *f, "--source", x, self.path("a.npy"), self.path("b.npy"), code=1)
            self.holds("audit", "audit", *f, self.path("a.npy"), self.path("b.npy"), code=1)
            self.assertIn("mxfp4", self.holds("audit", "audit", *f, "--which", "--source", x, self.path("a.npy"))["rules"])
            self.holds("audit", "audit", x, y, code=1)
        report = self.holds("gemm", "gemm", x, w, "-o", z, "--watch")
        self.assertIn("watch", report)
        self.holds("gemm", "gemm", x, w, "-o", z)
        self.holds("gemm", "gemm", x, w, "--against", "exact", "--accum", "fp32", "--accum", "seq(bfloat16)")
        self.holds("identify --distinguish", "identify", "--distinguish", "nv.ampere.f16.f32", "nv.hopper.f16.f32", code=1)
        self.holds("identify --distinguish", "identify", "--distinguish", "nvfp4", "nvfp4_te", code=1)
        self.holds("identify --distinguish", "identify", "--distinguish", "mxfp4", "ocp.mxfp4")
        box = (support.HALFULP, "identify", "--quantizer", "mxfp4", "--answer")
        self.holds("identify --quantizer", "identify", "--quantizer", "mxfp4", "--verify", "100", "--", *box)
        self.holds("campaign", "campaign", self.write("some.list", b"a triples arith float4_e2m1fn rne 1/1\nb program - false\n"), code=1)
        self.holds("collective", "collective", x, "--reduce", "exact", "--reduce", "ring(bfloat16,wire=mxfp8_e4m3)")
        self.assertNotIn("errors", self.holds("compare X Y", "compare", x, x))
        self.assertIn("errors", self.holds("compare X Y", "compare", x, y, code=1))
        self.assertIn("why", self.holds("compare X Y", "compare", x, w, code=1))
        self.assertEqual(self.holds("quantize", "quantize", "-f", "binary32", x, z)["errors"]["sqnr_db"], "inf")

    def test_drawings(self):
        """The numbers of the drawing's table, which test_arrays reads there; every element is counted once."""
        counts = ("zeros", "infinities", "nans", "to_zero", "subnormal", "normal", "beyond_max", "below", "lost")
        x = self.write("x.npy", support.npy("<f4", (8,), support.floats([1, 1e6, 1e-6, 0.002, 0, float("inf"), float("nan"), -3])))
        for f in ("float8_e4m3fn", "binary32", "float8_e8m0fnu", "fp(0,5,0):finite", "posit8", "nf4", "lns8", "mxfp4", "nvfp4"):
            alone = self.holds("plot", "plot", "-f", f, "-o", self.path("p.svg"))
            self.assertEqual((alone["format"], alone["data"]), (f, None))
            data = self.holds("plot", "plot", "-f", f, "-o", self.path("q.svg"), "--array", x)["data"]
            self.assertEqual(sum(data[k] for k in counts), data["count"], f)
        got = self.holds("plot", "plot", "-f", "float8_e4m3fn", "-o", self.path("q.svg"), "--array", x, "-r", "rtz")
        self.assertEqual((got["out"], got["normal"], got["subnormal"]), (self.path("q.svg"), 119, 7))
        want = {"count": 8, "zeros": 1, "infinities": 1, "nans": 1, "to_zero": 1, "subnormal": 1, "normal": 2, "beyond_max": 1, "below": 0, "lost": 0}
        self.assertEqual({k: v for k, v in got["data"].items() if k != "errors"}, dict(want, file=x, mode="rtz"))
        self.assertEqual((got["data"]["errors"]["finite"], got["data"]["errors"]["changed"]), (6, 4))
        self.assertEqual(self.holds("plot", "plot", "-f", "float8_e8m0fnu", "-o", self.path("q.svg"), "--array", x)["data"]["below"], 1)
        several = self.holds("plot", "plot", "-f", "posit8", "-f", "nf4", "-o", self.path("q.svg"), "--array", x)["formats"]
        self.assertEqual([one["format"] for one in several], ["posit8", "nf4"])
        self.bad("plot", "-f", "bfloat16", "-o", "-", "--json", says="both write to standard output")

    def test_runs(self):
        self.holds("verify", "verify", "--only", "world", "-f", "float4_e2m1fn")
        self.holds("bench", "bench", "--seconds", "1")
        if os.environ["HALFULP_TRAIN"] != "1":
            return
        self.holds("train --keys", "train", "--keys")
        self.holds("experiment", "experiment")
        self.holds("experiment NAME", "experiment", "long-reduction")
        self.holds("experiment --paper", "experiment", "--paper", "s2fp8")
        self.holds("experiment --budget", "experiment", "--paper", "s2fp8", "--table", "4", "--budget", "5m", "--stand-in", "--set",
                   "run.steps=2", "--output", self.path("b"))
        self.holds("experiment --cell", "experiment", "--cell", "x", "--ledger", self.path("l"), "--set", "data.set=teacher", "--set", "run.steps=2")
        self.holds("experiment --attribute", "experiment", "--cell", "x", "--attribute", "--output", self.path("a"), "--seeds", "1",
                   "--set", "data.set=teacher", "--set", "run.steps=2", "--set", "precision.system=bfloat16")
        config = self.write("x.ini", b"[data]\nset = teacher\n[model]\nnet = linear\n[run]\nsteps = 2\n")
        self.holds("train", "train", config)
        # A run that comes to nothing has a loss that is no number, and says so.
        wild = self.write("w.ini", b"[data]\nset = teacher\n[model]\nnet = linear\n[run]\nsteps = 400\n[optimizer]\nrate = 1e6\n")
        self.assertIn(self.holds("train", "train", wild)["training"]["loss"], ("inf", "nan"))
        self.holds("sweep", "sweep", config, "--key", "precision.system", "--values", "fp16", "--output", self.path("s"))

    def test_the_reader(self):
        """Each form of a shape, and shapes that are none."""
        def page(text):
            return shapes.schema("\n## Every shape\n\n```text\n" + text + "\n```\n")["$defs"]

        made = page('a b = {x: [c], y?: "u" "v w" 1 | null,\n  z: finite}\nc = /^[0-9]+$/ | a b | integer')
        self.assertEqual(made["c"], {"anyOf": [{"type": "string", "pattern": "^[0-9]+$"}, {"$ref": "#/$defs/a b"}, {"type": "integer"}]})
        self.assertEqual(made["a b"], {"type": "object", "required": ["x", "z"], "additionalProperties": False, "properties": {
            "x": {"type": "array", "items": {"$ref": "#/$defs/c"}}, "y": {"anyOf": [{"enum": ["u", "v w", 1]}, {"type": "null"}]},
            "z": {"type": "number"}}})
        for text in ("a", "a = {x: string", "a = {x string}", "a = nothing", "a = [string", "a = string]", "a = string\na = string"):
            with self.assertRaises((AssertionError, IndexError), msg=text):
                page(text)

    def test_the_checker(self):
        good = {"code": "0x7e", "value": 448, "hex": "0x1.cp+8"}
        self.assertIsNone(wrong(good, SCHEMA["coded"]))
        for bad in (dict(good, code="7e"), dict(good, value="448"), dict(good, value=None), dict(good, more=1),
                    {"code": "0x7e", "value": 1}, [good], dict(good, value=True)):
            self.assertIsNotNone(wrong(bad, SCHEMA["coded"]), bad)
        self.assertIsNone(wrong(dict(good, value="inf"), SCHEMA["coded"]))

    def test_the_page_names_every_field(self):
        text = "".join(map(read, PAGES))
        words = set(re.findall(r"`([A-Za-z0-9_]+)`", text))
        self.assertGreater(len(words), 100)
        for name, schema in SCHEMA.items():
            self.assertLessEqual(fields(schema), words, name)

    def test_an_example_of_every_command(self):
        """Its first, with --json in front: the shape is one of those that the page has under the command's name."""
        done = 0
        for command, text in support.commands().items():
            lines = [line for line in self.examples(text.split("\nExamples:\n")[1]) if not line.startswith(tuple(support.LONG))]
            first = next((line for line in lines if "halfulp %s" % command in line), None)
            if first is None:
                continue
            before = "".join(line + "\n" for line in lines if "halfulp " not in line)
            r = self.shell(before + first.replace("halfulp %s" % command, "halfulp --json %s" % command))
            self.assertEqual(r.returncode, 0, (first, r.stderr))
            said = [wrong(json.loads(r.stdout), shape) for name, shape in SCHEMA.items() if name.split()[0] == command]
            self.assertIn(None, said, first)
            done += 1
        self.assertGreater(done, 15)

    def test_every_command_is_there(self):
        page = read("json.md")
        for command, text in support.commands().items():
            self.assertTrue("--json" in text and command in SCHEMA, command)
            self.assertIn("`%s`" % command, page)


if __name__ == "__main__":
    support.main()
