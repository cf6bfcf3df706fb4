# SPDX-License-Identifier: MIT
"""halfulp train: configuration files, keys, and what is refused."""

import json
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from train_case import FILES, SMALL, TrainCase  # noqa: E402

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


class Begun(TrainCase):
    def test_without_steps(self):
        """A run of no steps leaves a checkpoint, and continued it is the run that was not stopped."""
        config, none = self.config(SMALL), ("--set", "run.steps=0", "--set", "run.epochs=0")
        self.ok("train", config, "--output", self.path("begun"), *none)
        self.assertIn("checkpoint.safetensors", os.listdir(self.path("begun")))
        self.ok("train", config, "--output", self.path("begun"), "--resume")
        self.ok("train", config, "--output", self.path("whole"))
        self.assertEqual(self.read("begun/log.csv"), self.read("whole/log.csv"))


class Networks(TrainCase):
    """Texts of layers: --model, --describe."""

    def test_described(self):
        text = self.ok("train", "--describe", "--set", "model.net=conv(channels=2)", "--sizes", "height=8,width=8,outputs=10")
        self.assertIn("v1 = conv(v0, 2, 3, pad=1, start=fan_in(2))  # 8 x 8 x 2; 18 parameters\n", text)
        self.assertTrue(text.endswith("output v5  # 1 x 1 x 10; 52 parameters in all\n"))
        path, small = self.config(text, "own.net"), self.config(SMALL)
        self.assertEqual(self.ok("train", small, "--model", path, "--describe"), text)
        self.ok("train", small, "--model", path, "--output", self.path("own"))
        self.ok("train", small, "--set", "model.net=conv(channels=2)", "--output", self.path("named"))
        self.assertEqual(self.read("own/log.csv"), self.read("named/log.csv"))
        self.ok("train", small, "--model", path, "--output", self.path("own"), "--set", "run.steps=9", "--resume")
        self.config(text.replace("relu", "tanh"), "own.net")
        self.bad("train", small, "--model", path, "--output", self.path("own"), "--set", "run.steps=10", "--resume",
                 says="not the text that the run began with")

    def test_refused(self):
        path = self.config("x = image(8, 8, 1)\ny = conv(x, 4, 3)\noutput add(x, y)\n", "bad.net")
        for more in ((self.config(SMALL),), ("--sizes", "height=8,outputs=10")):
            self.bad("train", "--model", path, "--describe", *more,
                     says=["model.file", "bad.net: line 3: add of 8 x 8 x 1 and 6 x 6 x 4: operands of different shapes"])
        tied = self.config("x = input(64, 1)\nh = embedding(x, 17, 4)\nh = as_rows(linear(h, 17, bias=0, share=h), 1)\noutput linear(h, 10)\n", "tied.net")
        self.bad("train", self.config(SMALL), "--model", tied, "--set", "data.raw=yes", "--set", "precision.system=quartet",
                 "--output", self.path("tied"), says="precision.quartet: a layer multiplies by embedding1.weight transposed")
        self.bad("train", "--describe", "--sizes", "high=3", says=["--sizes", "'high'", "height"])
        self.bad("train", "--describe", "--sizes", "height", says="name=number")
        self.bad("train", "--describe", "--sizes", "height=8,width=3,height=9", says="'height' is given twice")
        self.bad("train", "--describe", "--sizes", "height=x", says="--sizes")
        self.bad("train", self.config(SMALL), "--sizes", "height=3", says="--describe")
        self.bad("train", "--describe", "--json", says="--describe")
        self.bad("train", "--describe", "--model", self.path("none.net"), says=["none.net", "No such file"])


PAPERS_COUNTS = {  # of each width: parameters for 10 and for 100 classes; those of the authors' code
    "lee_squeezenet": [(734986, 781156), (232202, 278372), (84778, 130948), (36482, 82652)],
    "lee_shufflenet2": [(1263854, 1356104), (433034, 525284), (180222, 272472), (74302, 166552)],
    "lee_mobilenet2": [(2296922, 2412212), (715834, 831124), (254050, 369340), (89226, 204516)],
    "lee_resnet18": [(11173962, 11220132), (2797610, 2820740), (701466, 713076), (112778, 117548)],
}
IMAGENET_COUNTS = [  # of texts beside the tables: parameters of torchvision, of Caffe's files, or of the sum of the paper's layers
    ("fp16-alexnet", 227, "", 1000, 60965224),
    ("fp16-vgg", 224, "", 1000, 138357544),
    ("fp16-googlenet", 224, "", 1000, 6998552),
    ("fp16-googlenet", 224, "heads", 1000, 13378280),
    ("fp16-inception2", 224, "", 1000, 11295240),
    ("fp16-inception3", 299, "", 1000, 23834568),
    ("fp16-inception3", 299, "heads", 1000, 27161264),
    ("fp16-ssd300", 300, "", 21, 26285486),
    ("fp16-dcgan-generator", 64, "", 1, 18885760),
    ("fp16-dcgan-discriminator", 64, "", 1, 17232768),
]
SPEECH = "height=41,width=161,channels=1,outputs=29"
SEQUENCE_COUNTS = [  # of texts beside the tables: parameters of the code, or of the sum of its layers
    ("bfloat16-deepspeech2", SPEECH, "", 41187968),
    ("bfloat16-deepspeech2", SPEECH, "cell=lstm,units=1024", 86618400),
    ("bfloat16-deepspeech2", SPEECH, "both=0,layers=3,units=2560", 115374368),
    *[("fp16-biglstm", "steps=2,vocabulary=1000", "samples=%d" % n, 1776880510 - (793470 - 1000) * 2049)  # the paper has 793470 words
      for n in (0, 900)],
    # Encoder and decoder, tables and projection of 100000 and 40000 words (here 1000), and what attention has.
    *[("fp16-seq2seq", "steps=2,vocabulary=1000,source_vocabulary=1000", "layers=%d" % n, 2 * cells + 143360000 + 41000000
       - 99000 * 1024 - 39000 * 2049 + 1024 * (1024 + 2 * 2048 + 2 * n * 1024 + 1 + 3)) for n, cells in ((3, 25178112), (5, 41963520))],
]
RESNET50_COUNTS = [  # of tf_imagenet: classes, with v1, without
    ("bottleneck", 1000, 25557032, 25549352), ("stages=2/2/2/2", 1001, 11694249, 11692329), ("stages=3/4/6/3", 1001, 21802409, 21800489),
    ("bottleneck", 1001, 25559081, 25551401)]
RESNET_COUNTS = {",v1": (272762, 467194, 661626, 758842, 856058), "": (272538, 466970, 661402, 758618, 855834)}


class PapersNetworks(TrainCase):
    """The networks of the papers' own code: their numbers of parameters."""

    def count(self, net, sizes, *more):
        network = ["--model", os.path.join(os.environ["HALFULP_EXAMPLES"], "papers", "networks", net)] if net.endswith(".net") else []
        text = self.ok("train", "--describe", *(network or ["--set", "model.net=" + net]), *more, "--sizes", sizes)
        return int(re.search(r"(\d+) parameters in all\n", text)[1])

    def test_counts(self):
        image = "height=32,width=32,channels=3,outputs=%d"
        for name, counts in PAPERS_COUNTS.items():
            for width, both in zip(("1", "0.5", "0.25", "0.1"), counts):
                self.assertEqual(tuple(self.count("%s(width=%s)" % (name, width), image % n) for n in (10, 100)), both, (name, width))
        for version, counts in RESNET_COUNTS.items():
            got = [self.count("tf_resnet(blocks=%d%s)" % (n, version), image % 10) for n in (3, 5, 7, 8, 9)]
            self.assertEqual(tuple(got), counts)
        for name, side, keys, outputs, count in IMAGENET_COUNTS:
            sizes = "height=%d,width=%d,channels=3,outputs=%d" % (side, side, outputs)
            self.assertEqual(self.count(name + ".net", sizes, "--set", "model.keys=" + keys), count, (name, keys))
        for keys, outputs, first, second in RESNET50_COUNTS:
            sizes = "height=224,width=224,channels=3,outputs=%d" % outputs
            self.assertEqual(self.count("tf_imagenet(%s,v1)" % keys, sizes), first)
            self.assertEqual(self.count("tf_imagenet(%s)" % keys, sizes), second)
        for name, sizes, keys, count in SEQUENCE_COUNTS:
            self.assertEqual(self.count(name + ".net", sizes, "--set", "model.keys=" + keys), count, (name, keys))
        tokens = "steps=8,source_vocabulary=32768,vocabulary=32768"
        self.assertEqual(self.count("t2t_transformer", tokens), 923136 + 128 * 32768)
        self.assertEqual(self.count("tf_ncf", "users=6040,items=3706,outputs=1"), 392601)
        self.assertEqual(self.count("tf_ncf(units=64,top=256/256/128/64)", "users=138493,items=26744,outputs=1"), 31832577)


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

    def test_constants_that_vanish(self):
        """What the format of the state makes 0, or 1: the error names what works, and that does."""
        adamw = SMALL + "[optimizer]\nkind = adamw\nstate = binary16\n"
        self.refused(adamw, says=["x.ini", "optimizer: eps", "1e-08 is 0 there", "above 0 is 2^-24"])
        for key, value, other, says, works in [
            ("rate", "1e-9", "", "above 0 is 2^-24", "2e-7"),
            ("decay", "1e-9", "", "above 0 is 2^-24", "2e-7"),
            ("beta1", "1e-9", "", "above 0 is 2^-24", "0"),
            ("beta2", "0.9999", "", "below 1 is 0.99951171875", "0.9995"),
            ("momentum", "0.9999", "optimizer.kind=sgd", "below 1 is 0.99951171875", "0.9995"),
            ("eps", "1e-8", "optimizer.kind=adagrad", "above 0 is 2^-24", "0.00000006"),
        ]:
            more = ["--set", other] if other else []
            one = ["--set", "optimizer.%s=%s" % (key, value)]
            self.refused(adamw + "eps = 1e-7\n", *more, *one, says=["optimizer: %s: " % key, says])
            self.digest(adamw + "eps = 1e-7\n", *more, "--set", "optimizer.%s=%s" % (key, works), "--set", "run.steps=1")
            shutil.rmtree(self.path("x.run"))
        for rule in ("static(1e-50)", "gradscaler(backoff_factor=0.999999999)"):
            self.refused(SMALL, "--set", "loss.scale=" + rule, says=["loss.scale", "what binary32 keeps", "there; the "])
        # A schedule may end at a rate that is 0 in the format.
        self.digest(adamw + "eps = 1e-7\nrate = 1e-7\nschedule = cosine\n", "--set", "run.epochs=3")

    def test_small_test_sets(self):
        """A test set that is less than a batch has a loss, of its examples."""
        zero = ("--set", "optimizer.rate=0", "--set", "run.steps=1", "--json")
        part = json.loads(self.train(SMALL, "--set", "data.test=5", *zero))["test"]
        self.assertNotIn("nan", self.read("x.run/evaluations.csv").decode())
        whole = json.loads(self.train(SMALL, "--set", "data.test=5", "--set", "run.batch=5", *zero, name="y.ini"))["test"]
        self.assertAlmostEqual(part["loss"], whole["loss"], places=5)
        self.assertEqual(part["accuracy"], whole["accuracy"])

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
        self.assertEqual(keys["optimizer.kind"]["values"], ["sgd", "adamw", "adagrad", "muon"])
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

    def test_page_has_the_options(self):
        with open(os.path.join(os.environ["HALFULP_DOCS"], "training", "command.md"), encoding="utf-8") as f:
            page = f.read()
        help_text = self.ok("train", "--help")
        for option in re.findall(r"--[a-z]+", help_text.split("\nOptions:\n")[1].split("\nExamples")[0]):
            if option not in ("--help", "--version"):
                self.assertIn("`" + option if "`" + option in page else option, page)

    def test_examples(self):
        folder = os.environ["HALFULP_EXAMPLES"]
        names = sorted(n for n in os.listdir(folder) if n.endswith(".ini"))
        self.assertGreaterEqual(len(names), 6)
        for name in names:
            out = self.path(name + ".run")
            more = ["--data", self.data_of(name)] if name in NOT_SHIPPED else []
            if name.startswith("seq2seq"):  # an evaluation translates word by word, and each word is a pass of the net
                more += ["--set", "data.window=10"]
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
