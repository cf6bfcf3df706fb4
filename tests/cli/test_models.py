# SPDX-License-Identifier: MIT
"""models, mma, and gemm under accumulation models."""

import json
import math
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

GOLDEN = os.environ["HALFULP_GOLDEN"]


def probes():
    with open(os.path.join(GOLDEN, "mma", "probes.txt"), encoding="ascii") as f:
        return [line.split() for line in f if not line.startswith("#")]


class Models(support.Case):
    def mma(self, model, lines, *args, code=0):
        return self.ok("mma", model, *args, stdin="".join(line + "\n" for line in lines), code=code).split()

    def test_list(self):
        rows = json.loads(self.ok("models", "--json"))
        names = [r["id"] for r in rows]
        self.assertEqual(len(set(names)), len(names))
        self.assertGreater(len(names), 290)
        text = self.ok("models")
        for row in rows:
            self.assertEqual(
                set(row), {"id", "accum", "k", "a", "b", "c", "unit", "confidence", "source"}, row["id"]
            )
            self.assertIn(row["confidence"], ("HW", "SIM", "DOC", "TABLE", "OPEN"))
            self.assertIn("\n%s " % row["id"], text)
        by_name = {r["id"]: r for r in rows}
        self.assertEqual(
            by_name["nv.hopper.e4m3.f32.wgmma"]["accum"],
            "takes(float8_e4m3fn,float8_e4m3fn,binary32,"
            "block(align,l=32,f=13,emin=-133,acc=binary32,out=fp(8,13,0),round=rtz,over=inf,zero=plus))",
        )
        self.assertEqual(by_name["nv.volta.f16.f32"]["k"], 4)
        for form in ("seq2(P,F,MODE)", "promote(N,MODEL,F)", "block(late,"):
            self.assertIn(form, text)
        part = self.ok("models", "amd.cdna2").splitlines()
        self.assertEqual([line.split()[0] for line in part], [name for name in names if "amd.cdna2" in name])
        details = self.ok("models", "amd.cdna2", "-v").splitlines()
        self.assertEqual(details[::3], part)
        for line, name in zip(details[1::3], (name for name in names if "amd.cdna2" in name)):
            self.assertEqual(line.strip(), by_name[name]["accum"])
        self.assertIn(by_name["nv.volta.f16.f16"]["source"], self.ok("models", "nv.volta.f16.f16"))
        self.assertIn(" binary16 x binary16 + binary32\n", self.ok("models", "nv.volta.f16.f32"))
        self.bad("models", "nothing.here", says="nothing.here")

    def test_counts(self):
        """The last line of the list; scripts/made/counts.py holds the pages to the same numbers."""
        rows = [row["confidence"] for row in json.loads(self.ok("models", "--json"))]
        hw, sim, doc, table, guessed = (rows.count(word) for word in ("HW", "SIM", "DOC", "TABLE", "OPEN"))
        self.assertEqual(hw + sim + doc + table + guessed, len(rows))
        self.assertEqual(
            "\n".join(self.ok("models").splitlines()[-2:]),
            "%d models with evidence: %d HW, %d SIM, %d DOC\n"
            "%d more follow a published table alone (TABLE), %d are assumed in part (OPEN)"
            % (hw + sim + doc, hw, sim, doc, table, guessed),
        )

    def test_probes(self):
        """Every golden probe, by preset where the model is one, else with its formats."""
        presets = {r["id"] for r in json.loads(self.ok("models", "--json"))}
        groups = {}
        for _, model, fa, fb, fd, a, b, c, sa, sb, d in probes():
            if "ue4m3" in model:  # a record may have set the bit above the seven of a scale, which the unit does not read
                sa, sb = ("".join("%02x" % (byte & 0x7F) for byte in bytes.fromhex(scales)) for scales in (sa, sb))
            key = (model,) if model in presets else (model, "--fa", fa, "--fb", fb, "--fd", fd)
            groups.setdefault(key, []).append((" ".join([a, b, c] + ([sa, sb] if sa != "-" else [])), d))
        done = 0
        for (model, *args), rows in groups.items():
            got = self.mma(model, [line for line, _ in rows], *args)
            self.assertEqual(len(got), len(rows))
            for (line, want), have in zip(rows, got):
                if want == "nan":
                    self.assertIn(have.lstrip("0"), ("7fc00000", "7e00", "7fffffff", "7fff"), (model, line))
                else:
                    self.assertEqual(have, want, (model, line))
                done += 1
        self.assertGreater(done, 800)
        print("probes by the command: %d of %d models" % (done, len(groups)))

    def test_lines(self):
        one = "3c003c003c003c00"
        self.assertEqual(self.mma("nv.volta.f16.f32", [one + " " + one + " -"]), ["40800000"])
        self.assertEqual(self.mma("nv.volta.f16.f32", [one * 3 + "  " + one * 3 + "\t3f800000"]), ["41500000"])
        for lines, says in (
            ([one], "three fields"),
            ([one + " " + one], "three fields"),
            ([one + " " + one + " 3f800000 00"], "three fields"),
            ([one + " " + one[4:] + " -"], "A has 4 elements, B has 3"),
            ([one[4:] + " " + one[4:] + " -"], "multiple of the instruction's K, 4"),
            ([one + " " + one + " 3f80"], "C: 4 hex digits, not a multiple of 8"),
            ([one + " " + one + " 3f8000003f800000"], "C has 2 elements"),
            (["3c003c003c003c0x " + one + " -"], "A: '3c0x' is not hex"),
            ([one + " " + one + " -", ""], "standard input:2:"),
        ):
            self.bad("mma", "nv.volta.f16.f32", stdin="\n".join(lines) + "\n", says=says)
        self.bad("mma", "nv.blackwell.mxfp8.e4m3", stdin="38" * 32 + " " + "38" * 32 + " - 7f\n", says="five fields")
        self.bad("mma", "nv.blackwell.mxfp8.e4m3", stdin="38" * 32 + " " + "38" * 32 + " - 7f7f 7f\n", says="2 and 1 scales")
        self.bad("mma", "seq(binary32)", stdin="", says="--fa")
        words = ("--fa", "tf32", "--fb", "tf32", "--fd", "binary32")
        self.assertEqual(self.ok("mma", "exact", *words, stdin="3f802000 40000000 3f800000\n"), "40402000\n")
        self.bad("mma", "exact", *words, stdin="3f800001 40000000 -\n", says="is not a number of TF32")
        self.bad("mma", "seq(binary3)", stdin="", says="'binary3'")
        self.bad("mma", "block(align,l=4,f=23)", stdin="", says="lacks emin=")
        path = self.write("in.txt", (one + " " + one + " -\n").encode())
        self.assertEqual(self.ok("mma", "nv.volta.f16.f32", path), "40800000\n")

    def test_wrong_models(self):
        """The reason, and what may stand there."""
        for model, says in (
            ("block(align,l=16)", "block(align,...) lacks f= emin=; it must have l= f= emin= and may have in= every="),
            ("promote(12,block(tree),binary32)", "block(tree,...) lacks l=;"),
            ("block(foo", "'foo' is no rule of block(...): align, groups, late, exact, tree, chain, lanes;"),
            ("block(align,l=16,q=3)", "block(align,...) has no key 'q'; it must have"),
            ("block(tree,l=4,f=3)", "block(tree,...) has no key 'f'; it must have l= and may have"),
            ("block(align,l=16,f=3,emin=0,cut=up)", "cut= takes trunc, floor, rne, odd, and not 'up' here"),
            ("block(align,l=16,f=41,emin=0)", "f= takes 0 to 40, and not '41' here"),
            ("block(align,l=16,f=3,f=4,emin=0)", "f= is given twice"),
            ("block(align,l=16,f=3,emin=0", "the closing parenthesis is missing"),
            ("chunk(3)", "the form is chunk(L,P,F,MODE)"),
            ("seq", "the form is seq(F,MODE)"),
            ("takes(binary16", "the form is takes(A,B,C,MODEL)"),
            ("seq(bfloat61)", "'bfloat61': no such name; perhaps bfloat16 is meant"),
            ("seq(E4M3)", "'E4M3': ambiguous; one of float8_e4m3fn"),
            ("seq(nvfp4)", "'nvfp4': a scaled format"),
            ("FP32", "names have small letters; 'fp32' is meant"),
            ("nv.hopper.e4m3.f32", "perhaps nv.hopper.e4m3.f32.wgmma or nv.hopper.e4m3.f32.mma is meant"),
        ):
            self.bad("mma", model, stdin="", says=says)
        for part in ("seq", "block", "exact", "any"):
            self.assertRegex(self.ok("models", part), r"\n  [a-z0-9, (]*%s" % part)
        self.bad("models", "volla", says="no name contains 'volla'")

    def test_keys_of_rules(self):
        """What the command says of a rule's keys is what the library takes."""
        values = {"as": "binary32", "scale": "ue4m3", "acc": "binary32", "out": "binary32", "round": "rtz",
                  "sat": "none", "over": "inf", "cut": "floor", "order": "up", "c": "last", "daz": "sign",
                  "ftz": "after", "products": "exact", "l": "4", "f": "3", "f2": "5", "emin": "-3", "lanes": "2",
                  "far": "3", "big": "3", "in": "2", "g": "2", "every": "4"}
        formats = ("--fa", "binary16", "--fb", "binary16", "--fd", "binary16")
        seen = 0
        for rule in ("align", "groups", "late", "exact", "tree", "chain", "lanes"):
            told = support.run("mma", "block(%s)" % rule, *formats).stderr.decode()
            must, may = told.split("must have ")[1].split(" and may have ")
            must, may = re.findall(r"(\w+)=", must), re.findall(r"(\w+)=", may)
            base = ",".join("%s=%s" % (k, values[k]) for k in must)
            self.ok("mma", "block(%s,%s)" % (rule, base), *formats)
            for left_out in must:
                rest = ",".join("%s=%s" % (k, values[k]) for k in must if k != left_out)
                text = "block(%s%s)" % (rule, "," * bool(rest) + rest)
                self.bad("mma", text, *formats, stdin="", says="lacks %s=;" % left_out)
            for key in values:
                if key in must:
                    continue
                wrong = "block(%s,%s,%s=?)" % (rule, base, key)
                said = support.run("mma", wrong, *formats).stderr.decode()
                # The library's own reader has passed the key where the value is what it does not take.
                self.assertIn("%s= takes" % key if key in may else "has no key '%s'" % key, said, wrong)
                seen += 1
        self.assertGreater(seen, 100)

    def test_stochastic_lines(self):
        """Line i is element i: its words do not depend on the other lines."""
        args = ("--fa", "binary16", "--fb", "binary16", "--fd", "binary16", "--seed", "9")
        line = "3c002c012c033405 3c003c003c013c00 -"
        whole = self.mma("seq(float8_e4m3fn,sra:16)", [line] * 40, *args)
        self.assertGreater(len(set(whole)), 1)
        later = self.mma("seq(float8_e4m3fn,sra:16)", [line] * 20, *args, "--counter", "20")
        self.assertEqual(whole[20:], later)

    def gemm(self, model, *args):
        a, b, d = self.path("a.npy"), self.path("b.npy"), self.path("d.npy")
        report = json.loads(self.ok("gemm", a, b, "-o", d, "--accum", model, "--json", *args))
        self.assertEqual(report["accum"], model)
        if model in ("exact", "fp32", "seq(bfloat16)"):
            self.assertEqual(report["model"], model)  # its own canonical text
        return report, support.parse_npy(self.read("d.npy"))

    def test_defaults(self):
        """Formats that were not given are those that the model takes, also within promote and splitk; else binary32."""
        self.write("a.npy", support.npy("<f4", (2, 3), support.floats([0.1, 2, 3, 4, 5, 6])))
        self.write("b.npy", support.npy("<f4", (3, 1), support.floats([1, 2, 3])))
        unit = "nv.hopper.e4m3.f32.wgmma"
        e4m3, single = "float8_e4m3fn", "binary32"
        for more, formats in (
            ((), (single, single, single, "exact")),
            (("--accum", "fp32"), (single, single, single, "fp32")),
            (("--accum", unit), (e4m3, e4m3, single, unit)),
            (("--accum", "any(%s)" % unit), (single, single, single, "any(%s)" % unit)),
            (("--accum", "promote(2,%s,binary16)" % unit), (e4m3, e4m3, "binary16", "promote(2,%s,binary16)" % unit)),
            (("--accum", "splitk(2,%s)" % unit), (e4m3, e4m3, single, "splitk(2,%s)" % unit)),
            (("--accum", "takes(bfloat16,any,binary16,fp32)"), ("bfloat16", single, "binary16", None)),
            (("--accum", unit, "--fd", "bfloat16"), (e4m3, e4m3, "bfloat16", unit)),
            (("--fa", "bfloat16"), ("bfloat16", single, single, "exact")),
        ):
            report = json.loads(self.ok("gemm", self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"),
                                        "--json", *more))
            self.assertEqual(tuple(report[k] for k in ("fa", "fb", "fd")), formats[:3], more)
            if formats[3]:
                self.assertEqual(report["accum"], formats[3])
        self.ok("gemm", self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"))
        data = struct.unpack("<2f", support.parse_npy(self.read("d.npy"))[3])
        self.assertEqual(data, struct.unpack("<2f", struct.pack("<2f", struct.unpack("<f", struct.pack("<f", 0.1))[0] + 13, 32)))
        both = (self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"))
        takes = "takes A float8_e4m3fn, B float8_e4m3fn, C binary32, and not bfloat16 as %s; leave %s out, or ask for any("
        self.bad("gemm", *both, "--accum", unit, "--fa", "bfloat16", says=takes % ("A", "--fa"))
        self.bad("gemm", *both, "--accum", unit, "--fb", "bfloat16", says=takes % ("B", "--fb"))
        self.write("c.npy", support.npy("<f4", (2, 1), support.floats([1, 2])))
        self.bad("gemm", *both, "-C", self.path("c.npy"), "--accum", unit, "--fc", "bfloat16", says=takes % ("C", "--fc"))
        self.ok("gemm", *both, "-C", self.path("c.npy"), "--accum", unit, "--fd", "bfloat16")
        self.bad("gemm", *both, "--accum", "int32", says="multiplies integers or binary64, which `halfulp mma` takes")
        self.bad("mma", unit, "--fa", "bfloat16", stdin="\n", says=takes % ("A", "--fa"))
        self.assertEqual(self.ok("mma", "takes(float8_e4m3fn,float8_e4m3fn,binary32,fp32)", stdin="38 38 -\n"), "3f800000\n")
        self.assertEqual(self.ok("mma", "promote(2,%s,binary16)" % unit, stdin="38 38 -\n"), "3c00\n")

    def test_gemm(self):
        """Element (i, j) of a product is line i n + j of mma."""
        m, n, k = 3, 4, 64
        a = bytes((37 * i + 11) % 0x7E | (i % 3 == 0) << 7 for i in range(m * k))
        b = bytes((29 * i + 5) % 0x7E | (i % 5 == 0) << 7 for i in range(k * n))
        self.write("a.npy", support.npy("|u1", (m, k), a))
        self.write("b.npy", support.npy("|u1", (k, n), b))
        lines = [
            a[i * k : i * k + k].hex() + " " + bytes(b[q * n + j] for q in range(k)).hex() + " -"
            for i in range(m)
            for j in range(n)
        ]
        fa = ("--fa", "float8_e4m3fn", "--fb", "float8_e4m3fn", "--fd", "binary32")
        different = set()
        for model in (
            "exact",
            "fp32",
            "seq(bfloat16)",
            "seq2(binary16)",
            "seq(binary16,sra:12)",
            "chunk(16,fp(6,9,0),fp(6,9,0))",
            "pairwise(binary16)",
            "kahan(bfloat16)",
            "splitk(3,neumaier(bfloat16))",
            "promote(32,nv.hopper.e4m3.f32.wgmma,binary32)",
            "nv.ada.e4m3.f32",
            "nv.hopper.e4m3.f32.wgmma",
            "nv.hopper.e4m3.f32.mma",
            "block(late,l=8,f=12,f2=14)",
        ):
            args = () if model.startswith("nv.") else fa
            _, (descr, _, shape, data) = self.gemm(model, "--codes", "--seed", "3", *args)
            self.assertEqual((descr, shape), ("<u4", (m, n)))
            got = ["%08x" % x for x in struct.unpack("<%dI" % (m * n), data)]
            self.assertEqual(got, self.mma(model, lines, "--seed", "3", *args), model)
            different.add(tuple(got))
        self.assertGreater(len(different), 9)
        self.bad("gemm", self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"), *fa, "--accum", "seq(fp33)", says="fp33")
        files = ("gemm", self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"))
        self.bad(*files, *fa, "--accum", "nv.blackwell.mxfp8.e4m3", says="--sa SA.npy")
        self.bad(*files, *fa, "--accum", "fp32", "--sa", "x", "--sb", "y", says="no scales")

    def test_gemm_scales(self):
        """With scales, too, element (i, j) is line i n + j of mma; scales as codes or as values."""
        m, n, k = 3, 4, 64
        a = bytes((37 * i + 11) % 0x7E | (i % 3 == 0) << 7 for i in range(m * k))
        b = bytes((29 * i + 5) % 0x7E | (i % 5 == 0) << 7 for i in range(k * n))
        sa = bytes(120 + 3 * i % 13 for i in range(m * 2))
        sb = bytes(123 + 5 * i % 9 for i in range(2 * n))
        self.write("a.npy", support.npy("|u1", (m, k), a))
        self.write("b.npy", support.npy("|u1", (k, n), b))
        self.write("sa.npy", support.npy("|u1", (m, 2), sa))
        self.write("sb.npy", support.npy("|u1", (2, n), sb))
        self.write("fa.npy", support.npy("<f4", (m, 2), struct.pack("<%df" % (2 * m), *(2.0 ** (s - 127) for s in sa))))
        column = lambda x, j: bytes(x[q * n + j] for q in range(len(x) // n)).hex()
        lines = [
            " ".join((a[i * k : i * k + k].hex(), column(b, j), "-", sa[2 * i : 2 * i + 2].hex(), column(sb, j)))
            for i in range(m)
            for j in range(n)
        ]
        model = "nv.blackwell.mxfp8.e4m3"
        want = self.mma(model, lines)
        for scales in ("sa.npy", "fa.npy"):
            _, (descr, _, shape, data) = self.gemm(model, "--codes", "--sa", self.path(scales), "--sb", self.path("sb.npy"))
            self.assertEqual((descr, shape), ("<u4", (m, n)))
            self.assertEqual(["%08x" % x for x in struct.unpack("<%dI" % (m * n), data)], want, scales)
        self.assertGreater(len(set(want)), 9)
        files = ("gemm", self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"), "--accum", model)
        self.bad(*files, "--sa", self.path("sb.npy"), "--sb", self.path("sb.npy"), says="the scales of A are (3, 2)")
        self.bad(*files, "--sa", self.path("sa.npy"), "--sb", self.path("sa.npy"), says="the scales of B are (2, 4)")
        self.write("fa.npy", support.npy("<f4", (m, 2), struct.pack("<%df" % (2 * m), *([3.0] * 2 * m))))
        self.bad(*files, "--sa", self.path("fa.npy"), "--sb", self.path("sb.npy"), says="not values of float8_e8m0fnu")

    def test_watch(self):
        """Sums whose additions can be counted by hand: float8_e4m3fn has a step of 32 at 256 and ends at 448."""
        formats = ("--fa", "float8_e4m3fn", "--fb", "float8_e4m3fn", "--fd", "binary32")
        code = {256: 0x78, 4: 0x48, 448: 0x7E, 1: 0x38, 0: 0x00, 2: 0x40}
        for terms, model, counts in (
            ((256, 4, 4), "seq(float8_e4m3fn)", (3, 2, 0, 6)),
            ((4, 4, 256), "seq(float8_e4m3fn)", (3, 0, 0, 5)),
            ((448, 0, 448), "seq(float8_e4m3fn)", (2, 0, 1, 0)),
            ((256, 4, 4), "seq(binary16)", (3, 0, 0, 6)),
            ((256, 4, 4), "pairwise(float8_e4m3fn)", (2, 1, 0, 5)),
            ((256, 4, 4), "block(align,l=4,f=7,emin=-20)", (3, 0, 0, 6)),
            ((256, 4, 1), "block(align,l=4,f=6,emin=-20)", (3, 1, 0, 8)),
            ((256, 4, 4), "exact", (0, 0, 0, 0)),
        ):
            self.write("a.npy", support.npy("|u1", (1, 3), bytes(code[t] for t in terms)))
            self.write("b.npy", support.npy("|u1", (3, 1), b"\x38\x38\x38"))
            report, _ = self.gemm(model, *formats, "--watch")
            want = dict(zip(("additions", "swamped", "overflows", "gap"), counts))
            self.assertEqual(report["watch"], want, (model, terms))
        report, _ = self.gemm("fp32", *formats)
        self.assertNotIn("watch", report)
        files = (self.path("a.npy"), self.path("b.npy"), "-o", self.path("d.npy"))
        self.assertIn("swamped", self.ok("gemm", *files, *formats, "--accum", "fp32", "--watch"))

    def test_grammar(self):
        """Keys of all named models are in the table, with their rules; a rule's required keys make a model, and each of
        them is missed."""
        text = self.ok("models", "--grammar")
        table = text.split("rules (*: required)\n")[1]
        keys = {}
        for line in table.splitlines():
            words = re.split(r"  +", line)
            if line.startswith(" "):  # what the key above is
                self.assertGreater(len(line.strip()), 10)
                continue
            keys[words[0]] = re.findall(r"(align|groups|late|exact|tree|chain|lanes)(\*?)(?= |$)", line[86:])
        seen = 0
        for model in json.loads(self.ok("models", "--json")):
            for rule, rest in re.findall(r"block\((\w+)((?:[^()]|\([^()]*\))*)\)", model["accum"]):
                for key in re.findall(r",(\w+)=", re.sub(r"\([^()]*\)", "", rest)):
                    self.assertIn(rule, [r for r, _ in keys[key]], model["accum"])
                    seen += 1
        self.assertGreater(seen, 1000)
        values = {"l": "4", "f": "24", "f2": "26", "emin": "-126", "g": "4", "every": "4", "scale": "ue4m3"}
        half = [w for name in ("--fa", "--fb", "--fd") for w in (name, "float4_e2m1fn")]
        for rule in ("align", "groups", "late", "exact", "tree", "chain", "lanes"):
            needed = [k for k in keys if (rule, "*") in keys[k]]
            self.assertIn("l", needed)
            for left_out in needed:
                others = ["%s=%s" % (k, values[k]) for k in needed if k != left_out]
                model = "block(%s)" % ",".join([rule] + others)
                self.bad("mma", model, *half, says=left_out + "=")
            model = "block(%s)" % ",".join([rule] + ["%s=%s" % (k, values[k]) for k in needed])
            self.ok("mma", model, *half)
        self.bad("models", "--grammar", "nv", says="--grammar")
        with open(os.path.join(os.environ["HALFULP_DOCS"], "accumulators.md"), encoding="utf-8") as file:
            page = file.read().split("\n## Describe a unit of your own\n")[1].split("\n## ")[0]
        with open(os.path.join(os.environ["HALFULP_DOCS"], "guide-hardware.md"), encoding="utf-8") as file:
            guide = file.read()
        told = re.findall(r"`(\w+)`", "".join(re.findall(r"(?m)^\| (`\w+`(?:, `\w+`)*) \|", page)))
        self.assertEqual(sorted(told), sorted(keys))
        for place in (page, guide):
            self.assertIn(text.split("\n\n")[1].split("`-- the terms")[0], place)
        made = json.loads(self.ok("models", "--grammar", "--json"))
        self.assertEqual({k["key"]: [(r, "*" if r in k["required"] else "") for r in k["rules"]] for k in made["keys"]}, keys)
        for k in made["keys"]:
            self.assertIn(" " * 11 + k["meaning"] + "\n", table)
            self.assertEqual(re.search(r"(?m)^%s {2,}(.*?)  " % k["key"], table)[1], k["values"])
        self.assertEqual(len(made["forms"]), len(re.findall(r"(?m)^  \S", text.split("\n\n")[0])))

    def test_grammar_example(self):
        """The sum that --grammar computes: its command gives the code that it names, and its lines are right."""
        text = self.ok("models", "--grammar")
        command = re.search(r"  echo (\S+ \S+ \S+) \| halfulp mma '([^']+)' \\\n +(.*)\n", text)
        self.assertEqual("0x" + self.ok("mma", command[2], *command[3].split(), stdin=command[1] + "\n").strip(),
                         re.search(r"which binary16 holds: (0x\w+)", text)[1])
        a, b, c = (re.findall("....", word) for word in command[1].split())

        def values(codes):
            return [struct.unpack(">e", bytes.fromhex(code))[0] for code in codes]

        terms = values(c) + [x * y for x, y in zip(values(a), values(b))]
        lines = re.findall(r"(?m)^  (?:C|a\d b\d) +(\S+) +(\S+) +(-?)([01]+)\.([01]+) +\d+ = +(\d+)$", text)
        self.assertEqual([float(line[0]) for line in lines], terms)
        for value, exponent, sign, whole, part, cut in lines:
            self.assertEqual(float(value), (-1 if sign else 1) * int(whole + part, 2) / 2 ** len(part))
            self.assertEqual(math.floor(math.log2(abs(float(value)))), int(exponent))
            self.assertEqual(math.trunc(float(value)), int(cut))
        self.assertEqual(float(re.search(r"(?m)^  sum +(\S+)", text)[1]), sum(terms))
        self.assertEqual(int(re.search(r"(\d+), which binary16", text)[1]), sum(int(line[5]) for line in lines))


if __name__ == "__main__":
    support.main()
