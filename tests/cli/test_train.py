# SPDX-License-Identifier: MIT
"""halfulp train: configuration files, what is refused, and what a run leaves."""

import html.parser
import json
import math
import os
import re
import shutil
import struct
import sys

sys.dont_write_bytecode = True
import key_table  # noqa: E402
import support  # noqa: E402

SMALL = "[data]\nset = gratings\ncount = 64\ntest = 32\nsize = 8\n[run]\nbatch = 16\nepochs = 2\n"
FILES = [
    "checkpoint.safetensors",
    "config.ini",
    "evaluations.csv",
    "exponents.csv",
    "log.csv",
    "log.jsonl",
    "overflows.csv",
    "report.html",
    "tensors.csv",
]
# Examples whose data do not come with halfulp, and what stands for these.
NOT_SHIPPED = {
    "lstm-wikitext2.ini": {
        "wikitext-2/wiki.%s.tokens" % part: b" the cat <unk> a dog \n \n" * 200 for part in ("train", "valid", "test")
    },
    "bert-wikitext2.ini": {
        "wikitext-2/wiki.%s.tokens" % part: b" the cat <unk> a dog \n \n" * 200 for part in ("train", "valid", "test")
    },
    "seq2seq-parallel.ini": {
        "iwslt15/%s.%s" % (part, language): b"a b c\nb b\n" * 10 for part in ("train", "tst2012") for language in ("en", "vi")
    },
    "ncf-movielens.ini": {
        "ratings.dat": b"".join(
            b"%d::%d::%d::%d\n" % (user, 1 + (9 * user + 17 * i) % 180, 1 + i % 5, i) for user in range(1, 21) for i in range(9)
        )
    },
}


class Page(html.parser.HTMLParser):
    """Elements must close in order, ids be unique; nothing from outside is asked for."""

    VOID = {"meta", "wbr", "br", "rect", "line", "circle", "polyline"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.titles = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [v for k, v in attrs.items() if k in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.titles.append(data)


class TrainCase(support.Case):
    def config(self, text, name="x.ini"):
        return self.write(name, text.encode() if isinstance(text, str) else text)

    def train(self, text, *more, name="x.ini", code=0):
        out = self.path(name.rsplit(".", 1)[0] + ".run")
        return self.ok("train", self.config(text, name), "--output", out, *more, code=code)

    def digest(self, text, *more, name="x.ini"):
        shutil.rmtree(self.path(name.rsplit(".", 1)[0] + ".run"), ignore_errors=True)
        return json.loads(self.train(text, "--json", *more, name=name))["digest"]

    def files(self, out="x.run"):
        """All of a folder, but for what a killed run has begun to write."""
        names = [n for n in sorted(os.listdir(self.path(out))) if not n.startswith(".halfulp-")]
        return {n: self.read(os.path.join(out, n)) for n in names}

    def rows(self, name):
        lines = self.read(name).decode().splitlines()
        head = lines[0].split(",")
        return [dict(zip(head, [float(c) if c else math.nan for c in line.split(",")])) for line in lines[1:]]


class Refused(TrainCase):
    def refused(self, text, *more, says=()):
        self.bad("train", self.config(text), *more, says=says)
        self.assertEqual(self.left(), ["x.ini"])

    def test_files(self):
        self.bad("train", says="CONFIG")
        self.bad("train", self.path("none.ini"), says=["none.ini", "No such file"])
        self.bad("train", self.folder.name, says=[self.folder.name])
        self.bad("train", self.config(SMALL), "--output", self.path("x.ini/y"), says=["x.ini/y", "cannot make"])
        self.config("", "taken")
        self.bad("train", self.config(SMALL), "--output", self.path("taken"), says=["taken"])
        self.assertEqual(self.left(), ["taken", "x.ini"])

    def test_own_files_are_left_alone(self):
        self.config(SMALL, "config.ini")
        for name in ("report.html", "checkpoint.safetensors"):
            self.write(name, b"mine")
        self.bad("train", self.path("config.ini"), "--output", self.folder.name, says=["no folder of a run"])
        self.bad("train", self.path("config.ini"), "--output", ".", cwd=self.folder.name, says=["no folder of a run"])
        self.assertEqual((self.read("config.ini"), self.read("report.html")), (SMALL.encode(), b"mine"))
        os.mkdir(self.path("empty"))
        self.ok("train", self.path("config.ini"), "--output", self.path("empty"))

    def test_keys(self):
        self.refused("[run]\nsteps = 3\nsede = 1\n", says=["x.ini:3", "run.sede", "no such key", "run.seed"])
        self.refused("[optimiser]\nrate = 1\n", says=["x.ini:2", "optimiser.rate", "optimizer.rate"])
        self.refused("[train]\nmomentum = 0.9\n", says=["train.momentum", "optimizer.momentum"])
        self.refused("[zzz]\nqqq = 1\n", says=["zzz.qqq", "--keys"])
        self.refused("seed = 1\n", says=["x.ini:1", "seed", "[section]"])
        self.refused("[run]\nseed = 1\nbatch = 4\n\nseed = 2\n", says=["x.ini:5", "run.seed", "twice", "line 2"])
        self.refused("[run]\nseed = 1\n[data]\nset = digits\n[run]\nseed = 1\n", says=["x.ini:6", "twice"])
        self.refused("[run]\nbanana\n", says=["x.ini:2", "key = value"])
        self.refused("[run\nseed = 1\n", says=["x.ini:1"])
        self.refused("[run]\n = 1\n", says=["x.ini:2", "no key"])

    def test_bytes(self):
        self.refused(b"[run]\nname = \xff\n", says=["x.ini:2", "UTF-8"])
        self.refused(b"[run]\nname = a\x00b\n", says=["x.ini:2"])
        self.refused("[run]\nname = %s\n" % ("x" * 300), says=["x.ini:2", "307", "196"])
        self.refused("[run]\n" + "".join("k%d = 1\n" % i for i in range(1500)), says=["more than 1000"])
        self.refused("; \n" * 400000, says=["1200000 bytes"])

    def test_values(self):
        for key, value in [
            ("run.seed", "-1"),
            ("run.batch", "0"),
            ("run.batch", "two"),
            ("run.steps", "1.5"),
            ("data.set", "imagenet"),
            ("model.net", "mlp(layers=)"),
            ("loss.scale", "backoff(start=)"),
            ("optimizer.kind", "adam"),
            ("optimizer.rate", "-1"),
            ("optimizer.rate", "nan"),
            ("optimizer.state", "binary65"),
            ("optimizer.update", "rnq"),
            ("optimizer.schedule", "drop(2,1)"),
            ("precision.system", "fp15"),
            ("precision.x", "scaled("),
            ("precision.accum", "fp33"),
            ("assignment.ratio", "3/2"),
        ]:
            section, name = key.split(".")
            self.refused("\n[%s]\n\n%s = %s\n" % (section, name, value), says=["x.ini:4", key, "'%s'" % value])
            self.refused(SMALL, "--set", "%s=%s" % (key, value), says=["--set", key])
        self.refused(SMALL, "--set", "run.seed", says=["--set", "section.key=value"])
        self.refused(SMALL, "--set", "run.sede=1", says=["--set", "run.seed"])
        self.refused(SMALL, "--set", "run.name=a ;b", says=["--set", "semicolon"])
        self.refused(SMALL, "--set", "run.name=a\nb", says=["--set", "control"])
        self.refused(SMALL, "--set", b"run.name=\xff", says=["--set", "UTF-8"])
        self.refused(SMALL, "-j", "many", says=["run.threads"])
        self.refused(SMALL, "--every", "0", says=["--every"])

    def test_errors_say_what_is_taken(self):
        for key, value, says in [
            ("precision.x", "qwertyuiop", "it takes keep, a format, a scaled format, s2fp8 or a number system"),
            ("precision.x", "fp8", "is ambiguous; one of float8_e4m3fn, float8_e5m2"),
            ("precision.x", "nv.hopper.f16.f32", "is an accumulation model"),
            ("optimizer.state", "e4m3", "the name 'e4m3' is unknown; `halfulp formats` lists the names"),
            ("optimizer.state", "mxfp8", "the name 'mxfp8' is unknown; `halfulp formats` lists the names"),
            ("precision.x", "nvfp,sra:8", "the name 'nvfp' is unknown; perhaps nvfp4"),
            ("precision.w", "BFLOAT16", "the name 'BFLOAT16' is unknown; perhaps bfloat16 is meant"),
            ("precision.accum", "nv.hopper.e4m3.f32.wgma", "perhaps nv.hopper.e4m3.f32.wgmma is meant"),
            ("precision.z_accum", "block(align,l=16)", "block(align,...) lacks f= emin="),
            ("precision.x", "bfloat16,rnq", "'rnq' is wrong, from character 10 on"),
            ("optimizer.rate", "abc", "not a number from 0 to 1000000"),
            ("run.batch", "0", "not a whole number from 1 to 16777216"),
            (
                "model.net",
                "mlp(layer=2)",
                "mlp has no 'layer'; it takes layers, units, activation, dropout; perhaps layers is meant",
            ),
            ("precision.system", "fp7", "not one of binary32, fp16, bfloat16, fp8, fp8_e5m2, s2fp8"),
            ("precision.exempt", "all", "not one of none, first, last, both"),
            ("optimizer.state", "fp(5,2,x)", "'x)' is wrong, from character 8 on"),
            ("loss.scale", "bakoff", "perhaps backoff is meant"),
        ]:
            self.refused(SMALL, "--set", "%s=%s" % (key, value), says=["--set: %s: '%s'" % (key, value), says])

    def test_units_take_their_own_formats(self):
        unit = "nv.hopper.e4m3.f32.wgmma"
        text = SMALL + "[precision]\nsystem = fp8\n"
        self.refused(text, "--set", "precision.accum=" + unit, says=["precision.accum: the model takes A float8_e4m3fn"])

    def test_data_that_is_elsewhere(self):
        """Beside the configuration first, then in ./data."""
        config = self.config("[data]\nset = digits\n[model]\nnet = mlp(layers=2,units=8)\n[run]\nsteps = 2\n")
        os.symlink(support.DATA, self.path("data"))
        self.assertIn("digest", self.ok("train", config, "--output", self.path("a.run"), cwd=self.folder.name))
        os.unlink(self.path("data"))
        for name in ("digits_images.npy", "digits_labels.npy"):
            os.symlink(os.path.join(support.DATA, name), self.path(name))
        self.assertIn("digest", self.ok("train", config, "--output", self.path("b.run"), cwd="/"))

    def test_data(self):
        digits = "[data]\nset = digits\n"
        if not os.path.exists(os.path.join(os.environ["HALFULP_INSTALLED_DATA"], "digits_images.npy")):
            self.refused(digits, says=["x.ini", "digits_images.npy", "No such file"])
        self.refused(digits, "--data", "/nowhere", says=["/nowhere/digits_images.npy"])
        self.refused(digits + "path = sub\n", says=["sub/digits_images.npy"])
        self.refused(SMALL + "[loss]\nkind = squared_error\n", says=["loss.kind"])
        self.refused(SMALL.replace("batch = 16", "batch = 100"), says=["run.batch"])
        if support.run("verify", "--only", "device", "--device", "cuda").returncode == 2:
            self.refused(SMALL, "--set", "run.device=cuda", says=["run.device", "cuda"])


class Units(TrainCase):
    def test_attention(self):
        """Units on operands of their own formats, or on any: the same sums. dK is a product of dS and Q in the other
        order than dW is one of X and dZ."""
        data = os.path.join(support.DATA, "xz_file_format.txt")
        text = (
            "[run]\nbatch = 4\nsteps = 2\n[data]\nset = text\npath = %s\nwindow = 16\n" % data
            + "[model]\nnet = transformer(layers=1,units=32,heads=2,hidden=32)\n[precision]\nsystem = fp8\n"
        )
        pairs = {"z": "e4m3", "dx": "e5m2xe4m3", "dw": "e4m3xe5m2"}
        units = ["precision.%s_accum=nv.hopper.%s.f32.wgmma" % pair for pair in pairs.items()]
        plain = ["precision.%s_accum=any(nv.hopper.%s.f32.wgmma)" % pair for pair in pairs.items()]
        sets = [[word for key in keys for word in ("--set", key)] for keys in (units, plain)]
        self.assertEqual(self.digest(text, *sets[0]), self.digest(text, *sets[1]))


class Read(TrainCase):
    """What a file may look like; that it means what it should is seen by the digest of the weights."""

    def test_forms_mean_the_same(self):
        plain = self.digest(SMALL + "[precision]\nsystem = fp16\nvalues = bfloat16,rtz\n")
        odd = (
            "\ufeff; a comment\r\n# another\n[precision]\n values: bfloat16,\r\n   rtz ; goes on\n"
            "system = fp16   ; behind a value\n[run]\nbatch=16\nepochs =\t2\n\n[data]\ntest = 32\nset = gratings\n"
            "[data] ; once more\nsize=8\ncount = 64"
        )
        self.assertEqual(self.digest(odd), plain)
        sets = ["--set", "precision.system=fp16", "--set", "precision.values=bfloat16,rtz"]
        self.assertEqual(self.digest(SMALL, *sets), plain)
        self.assertNotEqual(self.digest(SMALL + "[precision]\nsystem = fp16\n"), plain)
        self.assertNotEqual(self.digest(SMALL), plain)

    def test_set_is_one_after_the_other(self):
        text = SMALL + "[precision]\nsystem = s2fp8\nvalues = bfloat16\n"
        fp16 = self.digest(SMALL + "[precision]\nsystem = fp16\n")
        self.assertEqual(self.digest(text, "--set", "precision.system=fp16"), fp16)
        both = ["--set", "precision.values=bfloat16", "--set", "precision.system=fp16"]
        self.assertEqual(self.digest(text, *both), fp16)
        self.assertNotEqual(self.digest(text, *both[2:], *both[:2]), fp16)

    def test_config_as_run_is_a_configuration(self):
        want = self.digest(SMALL, "--set", "optimizer.kahan=linear1.weight", "--set", "precision.system=mxfp4")
        first = self.read("x.run/config.ini").decode()
        self.assertEqual(self.digest(first, name="y.ini"), want)
        self.assertEqual(self.read("y.run/config.ini").decode(), first)
        keys = json.loads(self.ok("train", "--keys", "--json"))
        self.assertEqual(len(re.findall(r"(?m)^\w+ =", first)), len(keys))
        # A value of any length, in lines that fit.
        deep = SMALL + "[model]\nnet = mlp(layers=30,units=2)\n"
        long = "optimizer.kahan=" + ",".join("linear%d.weight" % i for i in range(1, 31))
        want = self.digest(deep, "--set", long, "--set", "optimizer.weights=bfloat16")
        first = self.read("x.run/config.ini").decode()
        self.assertLess(max(map(len, first.splitlines())), 197)
        self.assertIn("\n  ", first)
        self.assertEqual(self.digest(first, name="y.ini"), want)
        self.assertEqual(self.read("y.run/config.ini").decode(), first)
        # Blanks where lines are broken stay; one that has them wherever it could be broken is refused.
        name = "run.name=" + "word and wort " * 20 + "end"
        want = self.digest(SMALL, "--set", name)
        first = self.read("x.run/config.ini").decode()
        self.assertEqual(self.digest(first, name="y.ini"), want)
        self.assertEqual(self.read("y.run/config.ini").decode(), first)
        for n in (137, 400):
            self.bad("train", self.path("x.ini"), "--set", "run.name=" + ("a " * n)[:n] + "b", says=["run.name", "broken"])

    def test_standard_input_and_usual_names(self):
        self.assertIn("digest", self.ok("train", "-", stdin=SMALL, cwd=self.folder.name))
        self.assertEqual(self.left(), ["halfulp.run"])
        for name, folder in (("a.ini", "a.run"), ("b", "b.run"), ("c.d.ini", "c.d.run"), (".e", ".e.run")):
            self.ok("train", self.config(SMALL, name), "--set", "run.steps=1")
            self.assertIn(folder, self.left())

    def test_data_folder(self):
        os.mkdir(self.path("sub"))
        for name in ("digits_images.npy", "digits_labels.npy"):
            shutil.copy(os.path.join(support.DATA, name), self.path("sub"))
        text = "[data]\nset = digits\n[run]\nsteps = 3\n"
        want = self.digest(text, "--data", support.DATA)
        self.assertEqual(self.digest(text + "[data]\npath = sub\n"), want)
        self.assertEqual(self.digest(text + "[data]\npath = %s\n" % support.DATA), want)
        os.rename(self.config(text), self.path("sub/x.ini"))
        self.assertEqual(json.loads(self.ok("train", self.path("sub/x.ini"), "--json"))["digest"], want)


class Left(TrainCase):
    """The files of a run, and what it prints."""

    def test_files(self):
        text = self.train(SMALL + "[precision]\nsystem = fp16\n[loss]\nscale = static(2^40)\n", "--every", "3")
        self.assertEqual(sorted(os.listdir(self.path("x.run"))), FILES)
        for word in ("steps        8, 8 skipped", "training ", "test ", "accuracy", "digest ", "overflows"):
            self.assertIn(word, text)
        log = self.rows("x.run/log.csv")
        self.assertEqual([row["step"] for row in log], [3, 6, 8])
        self.assertEqual([row["skipped"] for row in log], [3, 6, 8])
        self.assertEqual([row["epoch"] for row in log], [0, 1, 1])
        for row in log:
            self.assertEqual((row["scale"], row["taken"], row["moved"]), (2.0**40, 0, 0))
            self.assertGreater(row["backward_overflow"], 0)
            self.assertLessEqual(row["backward_overflow"], row["backward_elements"])
            self.assertEqual(row["backward_over"], row["backward_overflow"])
        lines = [json.loads(line) for line in self.read("x.run/log.jsonl").splitlines()]
        self.assertEqual(lines, log)
        seen = self.rows("x.run/evaluations.csv")
        self.assertEqual([(row["step"], row["epochs"]) for row in seen], [(4, 1), (8, 2)])
        for row in seen:
            self.assertTrue(math.isnan(row["test_r2"]) and row["training_loss"] > 0)
            self.assertTrue(0 <= row["test_accuracy"] <= 1)

    def test_json(self):
        text = SMALL + "[optimizer]\nupdate = rtz\nweights = bfloat16\n"
        got = json.loads(self.train(text, "--json", "--every", "1"))
        log, seen = self.rows("x.run/log.csv"), self.rows("x.run/evaluations.csv")
        self.assertEqual(got["steps"], 8)
        for name in ("moved", "lost"):
            self.assertEqual(got["updates"][name], sum(row[name] for row in log))
        self.assertGreater(got["updates"]["lost"], 0)
        for name in ("forward", "backward"):
            self.assertEqual({row[name + "_overflow"] for row in log}, {0})
        for on in ("training", "test"):
            self.assertEqual(got[on]["loss"], seen[-1][on + "_loss"])
            self.assertEqual(got[on]["accuracy"], seen[-1][on + "_accuracy"])
            self.assertIsNone(got[on]["r2"])
        self.assertEqual(got["folder"], self.path("x.run"))
        self.assertRegex(got["digest"], "^[0-9a-f]{16}$")

    def test_json_fields(self):
        """Names and types as docs/train-command.md section 7 has them; integers as integers, the fewest digits."""
        text = self.train(SMALL + "[precision]\nsystem = fp16\n", "--json")
        got = json.loads(text)
        seen = {"loss": float, "accuracy": float, "r2": type(None)}
        fields = {
            "name": str,
            "folder": str,
            "steps": int,
            "skipped": int,
            "training": seen,
            "test": seen,
            "updates": {"moved": int, "lost": int},
            "events": {"overflow": int, "underflow": int},
            "low": int,
            "memory": {"weights": int, "state": int, "values": int, "gradients": int},
            "stored": {"weights": int, "state": int, "values": int, "gradients": int},
            "data": list,
            "left_out": int,
            "seconds": float,
            "digest": str,
        }
        self.assertEqual(got["data"], [])
        self.check_types(got, fields)
        numbers = 64 * 64 + 64 + 64 * 64 + 64 + 64 * 10 + 10
        self.assertEqual(got["memory"]["weights"], numbers * 6)  # 4 bytes, and 2 for the copy
        self.check_numbers(text)
        regression = "[data]\nset = teacher\n[model]\nnet = linear\n[run]\nsteps = 2\n"
        self.assertIs(type(json.loads(self.train(regression, "--json", name="y.ini"))["test"]["r2"]), float)
        self.check_page("## 7. JSON", set(fields))

    def check_types(self, got, fields):
        self.assertEqual(set(got), set(fields))
        for name, kind in fields.items():
            if isinstance(kind, dict):
                self.check_types(got[name], kind)
            else:
                self.assertIs(type(got[name]), kind, (name, got[name]))

    def check_page(self, head, fields):
        """The section names every field, and no other."""
        with open(os.path.join(os.environ["HALFULP_DOCS"], "train-command.md"), encoding="utf-8") as f:
            table = f.read().split(head)[1].split("\n\n")[2]
        names = {n for line in table.splitlines()[2:] for n in re.findall(r"`(\w+)`", line.split("|")[1])}
        self.assertEqual(names, fields)

    def test_short_options(self):
        """-o and --output are the same."""
        self.ok("train", self.config(SMALL), "-o", self.path("short"), "-j", "2")
        self.ok("train", self.config(SMALL), "--output", self.path("long"), "--threads", "2")
        self.assertEqual(self.files("short"), self.files("long"))

    def test_regression_has_r2(self):
        got = json.loads(self.train("[data]\nset = teacher\n[model]\nnet = linear\n[run]\nepochs = 2\n", "--json"))
        self.assertIsNone(got["test"]["accuracy"])
        self.assertLess(got["test"]["r2"], 1)
        self.assertIn("R\u00b2", self.read("x.run/report.html").decode())

    def test_checkpoint(self):
        got = json.loads(self.train(SMALL + "[optimizer]\nmomentum = 0.9\n", "--json"))
        tensors, metadata, _ = support.parse_safetensors(self.read("x.run/checkpoint.safetensors"))
        state = json.loads(metadata["state"])
        self.assertEqual((state["step"], state["optimizer.momentum"]), ("8", "0.9"))
        self.assertEqual(json.loads(metadata["totals"])["moved"], got["updates"]["moved"])
        self.assertIn("linear1.weight", tensors)
        self.assertIn("linear1.weight.momentum", tensors)
        for dtype, shape, data in tensors.values():
            self.assertEqual((dtype, len(data)), ("F32", 4 * shape[0] * shape[1]))
        # The digest is FNV-1a over the weights, parameter by parameter.
        h = 0xCBF29CE484222325
        names = [n for n in tensors if n.endswith((".weight", ".bias"))]
        for name in sorted(names, key=lambda n: (int(n.split(".")[0][6:]), n.endswith(".bias"))):
            for byte in tensors[name][2]:
                h = (h ^ byte) * 0x100000001B3 & (1 << 64) - 1
        self.assertEqual("%016x" % h, got["digest"])

    def test_exponents(self):
        self.train(SMALL, "--every", "4")
        lines = [line.split(",") for line in self.read("x.run/exponents.csv").decode().splitlines()]
        self.assertEqual([x[0] for x in lines], ["exponent", "zero", *map(str, range(-149, 128)), "not_finite"])
        tensors, _, _ = support.parse_safetensors(self.read("x.run/checkpoint.safetensors"))
        want = dict.fromkeys([x[0] for x in lines[1:]], 0)
        for name, (_, _, data) in tensors.items():
            if name.endswith((".weight", ".bias")):
                for (x,) in struct.iter_unpack("<f", data):
                    want["zero" if x == 0 else str(math.frexp(x)[1] - 1)] += 1
        self.assertEqual({x[0]: int(x[2]) for x in lines[1:]}, want)
        # Gradients of two steps, of neither the inputs nor the loss: for a batch of 16 the one product of `linear` has
        # 16 x 10, and a perceptron's layers of 7 and 10 units, with what lies between them, 16 x (7 + 7 + 10).
        self.assertEqual(sum(int(x[1]) for x in lines[1:]), self.sampled(SMALL) * 2)
        self.assertEqual(self.sampled(SMALL + "[model]\nnet = linear\n"), 16 * 10)
        self.assertEqual(self.sampled(SMALL + "[model]\nnet = mlp(layers=1,units=7)\n"), 16 * (7 + 7 + 10))

        # Gradients of weights: each weight in two steps. They are without the loss scale, those of values with it.
        self.assertEqual(sum(int(x[3]) for x in lines[1:]), 2 * sum(want.values()))
        self.train(SMALL, "--every", "4", "--set", "loss.scale=static(256)", name="scaled.ini")
        scaled = [line.split(",") for line in self.read("scaled.run/exponents.csv").decode().splitlines()]
        self.assertEqual([x[2:] for x in scaled], [x[2:] for x in lines])
        self.assertEqual([x[1] for x in scaled[10:-9]], [x[1] for x in lines[2:-17]])

    # A task whose output and loss lie beyond the low format.
    WIDE = ("[data]\nset = teacher\nfeatures = 8\n[model]\nnet = mlp(layers=2,units=8)\n[run]\nbatch = 50\nsteps = 12\n"
            "[optimizer]\nrate = 3e-4\n[assignment]\nkind = demote\nratio = 1\npromote = 1\n")

    def table(self, path):
        head, *rows = [line.split(",") for line in self.read(path).decode().splitlines()]
        return [dict(zip(head, row)) for row in rows]

    def test_overflows(self):
        """The five largest shares, with the numbers of their tensors; a tensor that is followed has the same share."""
        self.train(self.WIDE, "--every", "3", "--follow", "6", "--follow", "1", "--follow", "0.gradient")
        tensors = self.table("x.run/tensors.csv")
        self.assertEqual([t["number"] for t in tensors], [str(i) for i in range(len(tensors))])
        self.assertEqual([t["kind"] for t in tensors][:3] + [tensors[-1]["name"]], ["input", "linear", "relu", "linear3.bias"])
        rows, followed = self.table("x.run/overflows.csv"), self.table("x.run/followed.csv")
        self.assertEqual([r["step"] for r in rows], ["3", "6", "9", "12"])
        seen = 0
        for row, one in zip(rows, followed):
            shares = [float(row["share_%d" % k]) for k in range(1, 6)]
            self.assertEqual(shares, sorted(shares, reverse=True))
            for k, share in enumerate(shares, 1):
                self.assertEqual(row["tensor_%d" % k] == "", share == 0)
            self.assertEqual(row["tensor_1"], "6")  # the loss
            by_tensor = {row["tensor_%d" % k]: row["share_%d" % k] for k in range(1, 6)}
            self.assertEqual(by_tensor.get("6", "0"), one["6 over"])
            seen += float(one["6 over"]) > 0
            self.assertEqual(one["0.gradient over"], "")  # of an input, which is not rounded
        self.assertGreater(seen, 0)
        page = Page(self.read("x.run/report.html").decode())
        for title in ("Overflows of single tensors", "6: mean and largest logarithm", "6: alpha and beta", "6: zeros and overflows",
                      "1: exponents before and after the squeeze"):
            self.assertIn(title, page.titles)

    def test_followed(self):
        """Of the weights at the end, from those of the checkpoint: eqs. 1 to 4 of Cambier et al."""
        self.train(SMALL, "--every", "5", "--follow", "linear1.weight", "--follow", "linear1.weight.gradient")
        tensors, _, _ = support.parse_safetensors(self.read("x.run/checkpoint.safetensors"))
        x = [v for (v,) in struct.iter_unpack("<f", tensors["linear1.weight"][2])]
        logs = [math.log2(abs(v)) for v in x if v]
        mu, m = math.fsum(logs) / len(logs), max(logs)
        alpha, beta = 15 / (m - mu), -15 * mu / (m - mu)
        rows = self.table("x.run/followed.csv")
        self.assertEqual([r["step"] for r in rows], ["5", "8"])
        for name, want in (("mu", mu), ("m", m), ("alpha", alpha), ("beta", beta)):
            self.assertAlmostEqual(float(rows[-1]["linear1.weight " + name]), want, 5)
        self.assertEqual(float(rows[-1]["linear1.weight zeros"]), 1 - len(logs) / len(x))
        counts = self.table("x.run/followed-exponents.csv")
        for column, e in (("linear1.weight", [math.floor(v) for v in logs]),
                          ("linear1.weight shifted", [math.floor(alpha * v + beta) for v in logs])):
            got = {c["exponent"]: int(c[column]) for c in counts if c[column] != "0"}
            self.assertLessEqual(sum(abs(got.get(str(k), 0) - e.count(k)) for k in range(-149, 128)), 4)  # at powers of two
            self.assertEqual(sum(got.values()), len(x))
        self.assertGreater(float(rows[0]["linear1.weight.gradient alpha"]), 0)

    def test_followed_and_resumed(self):
        names = ("overflows.csv", "followed.csv", "exponents.csv", "followed-exponents.csv", "tensors.csv")
        follow = ["--every", "2", "--follow", "5", "--follow", "linear1.weight.gradient"]
        self.train(self.WIDE, *follow)
        whole = [self.read("x.run/" + name) for name in names]
        shutil.rmtree(self.path("x.run"))
        self.train(self.WIDE, *follow, "--set", "run.steps=7")
        self.ok("train", self.path("x.ini"), "--data", support.DATA, *follow, "--resume")
        self.assertEqual([self.read("x.run/" + name) for name in names], whole)
        self.bad("train", self.path("x.ini"), "--data", support.DATA, "--every", "2", "--follow", "4", "--resume", "--set", "run.steps=20",
                 says="followed.csv")

    def test_follow_is_refused(self):
        config = self.write("y.ini", SMALL.encode())
        for name in ("linear9.weight", "99", "-1", "", "x.gradient", "1x", "3.gradients"):
            self.bad("train", config, "--data", support.DATA, "--follow", name, says=("--follow", "no tensor '%s'" % name, "linear1.weight"))
        self.bad("train", config, "--follow", "1", "--follow", "1", says="--follow: 1 is given twice")
        self.assertFalse(os.path.exists(self.path("y.run")))

    def sampled(self, text):
        """Gradients counted in one step."""
        self.train(text, "--set", "run.steps=1", name="one.ini")
        lines = self.read("one.run/exponents.csv").decode().splitlines()[1:]
        shutil.rmtree(self.path("one.run"))
        return sum(int(line.split(",")[1]) for line in lines)

    def test_report(self):
        name = 'a <b> "c" & d'
        text = SMALL + "[precision]\nsystem = fp16\n[loss]\nscale = backoff\n"
        self.train(text, "--set", "run.name=" + name, "--every", "1")
        page = self.read("x.run/report.html").decode()
        seen = Page(page)
        self.assertEqual(seen.links, [])
        self.assertEqual(len(seen.ids), len(set(seen.ids)))
        for title in (
            "Loss",
            "Accuracy",
            "Loss scale",
            "Gradient magnitude",
            "Events forward",
            "Events backward",
            "Updates lost",
            "Exponents of gradients and weights",
            "Keys that differ from their defaults",
        ):
            self.assertIn(title, seen.titles)
        self.assertIn("a &lt;b&gt; &quot;c&quot; &amp; d", page)
        self.assertNotIn("<b>", page)
        self.assertNotIn("http", page)
        self.assertNotIn("nan", re.sub(r"<style>.*?</style>|events? <code>|nan_in", "", page, flags=re.S).lower())
        table = page.split('id="keys"')[1]
        for key in ("data.set", "precision.system", "loss.scale", "run.name"):
            self.assertIn("<td>%s</td>" % key, table)
        for key in ("run.seed", "optimizer.rate"):
            self.assertNotIn("<td>%s</td>" % key, table)

    def test_threads_change_nothing(self):
        text = SMALL + "[precision]\nsystem = bfloat16\n[optimizer]\nupdate = sra:8\nweights = bfloat16\n"
        self.train(text, name="a.ini")
        self.train(text, "-j", "3", name="b.ini")
        a, b = self.files("a.run"), self.files("b.run")
        differ = {n for n in a if a[n] != b[n]}
        self.assertEqual(differ, {"config.ini", "report.html"})  # the key itself
        self.assertEqual(a["config.ini"].replace(b"threads = 1", b"threads = 3"), b["config.ini"])

    def test_intervals(self):
        text = SMALL.replace("epochs = 2", "epochs = 4")
        self.train(text, "--every", "100", "--evaluate", "3", "--checkpoint", "0")
        self.assertEqual([row["step"] for row in self.rows("x.run/log.csv")], [16])
        self.assertEqual([row["step"] for row in self.rows("x.run/evaluations.csv")], [12, 16])
        self.train(text, "--evaluate", "0", "--overwrite")
        self.assertEqual([row["step"] for row in self.rows("x.run/evaluations.csv")], [16])
        self.train(text, "--set", "run.epochs=0", "--overwrite")
        self.assertEqual([row["step"] for row in self.rows("x.run/evaluations.csv")], [0])
        self.assertEqual(self.rows("x.run/log.csv"), [])

    def test_disk_full(self):
        """What cannot be written is said, and no file is left half."""
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        self.train(SMALL)
        os.unlink(self.path("x.run/checkpoint.safetensors"))
        os.mkdir(self.path("x.run/checkpoint.safetensors"))
        out = ["--overwrite", "--output", self.path("x.run")]
        self.bad("train", self.path("x.ini"), *out, says=["checkpoint.safetensors"])


class Keys(TrainCase):
    def test_keys(self):
        keys = json.loads(self.ok("train", "--keys", "--json"))
        text = self.ok("train", "--keys")
        self.assertGreater(len(keys), 50)
        for k in keys:
            section, name = k["id"].split(".")
            self.assertIn("[%s]\n" % section, text)
            self.assertIn(
                "%s = %s\n    %s\n" % (name, k["default"], k["what"]) if k["default"] else "%s =\n" % name, text
            )

    def test_json_fields(self):
        keys = {k["id"]: k for k in json.loads(self.ok("train", "--keys", "--json"))}
        for k in keys.values():
            self.assertLessEqual({"id", "default", "what", "weights"}, set(k))
            self.assertLessEqual(set(k), {"id", "default", "what", "weights", "values", "range"})
            self.assertIs(type(k["weights"]), bool)
            self.assertNotIn("usual", json.dumps(k))
            if "values" in k:
                self.assertIn(k["default"], k["values"])
            if "range" in k:
                low, high = k["range"]
                self.assertTrue(low <= float(k["default"]) <= high, k)
        self.assertEqual(keys["run.batch"]["range"], [1, 16777216])
        self.assertIs(type(keys["run.batch"]["range"][1]), int)
        self.assertEqual(keys["optimizer.kind"]["values"], ["sgd", "adamw", "adagrad"])
        self.assertEqual(keys["precision.system"]["values"][3:5], ["fp8", "fp8_e5m2"])
        self.assertNotIn("usual", self.ok("train", "--keys"))

    def test_defaults_are_values(self):
        keys = json.loads(self.ok("train", "--keys", "--json"))
        want = self.digest(SMALL)
        sections = {}
        for k in keys:
            sections.setdefault(k["id"].split(".")[0], []).append("%s = %s" % (k["id"].split(".")[1], k["default"]))
        text = "".join("[%s]\n%s\n" % (s, "\n".join(lines)) for s, lines in sections.items())
        sets = []
        for line in SMALL.splitlines():
            if line.startswith("["):
                section = line[1:-1]
            else:
                sets += ["--set", section + "." + line.replace(" ", "")]
        self.assertEqual(self.digest(text, *sets), want)

    def test_page_has_them(self):
        keys = json.loads(self.ok("train", "--keys", "--json"))
        with open(os.path.join(os.environ["HALFULP_DOCS"], "train-command.md"), encoding="utf-8") as f:
            page = f.read()
        self.assertEqual(key_table.split(page)[1].strip() + "\n", key_table.table(keys), "run tests/cli/key_table.py")
        help_text = self.ok("train", "--help")
        for option in re.findall(r"--[a-z]+", help_text.split("\nOptions:\n")[1].split("\nExamples")[0]):
            if option != "--help":
                self.assertIn("`" + option if "`" + option in page else option, page)

    def test_examples(self):
        folder = os.environ["HALFULP_EXAMPLES"]
        names = sorted(n for n in os.listdir(folder) if n.endswith(".ini"))
        self.assertGreaterEqual(len(names), 6)
        for name in names:
            out = self.path(name + ".run")
            more = ["--data", self.data_of(name)] if name in NOT_SHIPPED else []
            r = self.ok("train", os.path.join(folder, name), "--set", "run.steps=3", "--output", out, "--json", *more)
            self.assertEqual(json.loads(r)["steps"], 3, name)
            self.assertEqual(sorted(os.listdir(out)), FILES)

    def data_of(self, name):
        """A folder with files like those of a data set that does not come with halfulp, but small."""
        for path, data in NOT_SHIPPED[name].items():
            os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
            self.write(path, data)
        return self.folder.name


if __name__ == "__main__":
    support.main()
