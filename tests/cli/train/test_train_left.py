# SPDX-License-Identifier: MIT
"""halfulp train: what a run leaves in its folder, and prints."""

import json
import math
import os
import re
import shutil
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from page import Page  # noqa: E402
from train_case import FILES, SMALL, TrainCase  # noqa: E402


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
        """Names and types as docs/training/command.md section 7 has them; integers as integers, the fewest digits."""
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
        fields["again"] = seen
        twice = self.train(SMALL + "[precision]\nsystem = fp16\n", "--json", "--set", "run.again=binary32", name="z.ini")
        self.check_types(dict(json.loads(twice), data=[]), fields)
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
        with open(os.path.join(os.environ["HALFULP_DOCS"], "training", "command.md"), encoding="utf-8") as f:
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

    def test_numbers(self):
        """tensors.csv, also without a run: what has which random words. Two inputs, so that operator 0 makes value 2."""
        text = "[data]\nset = ratings\nusers = 3\nitems = 3\n[model]\nnet = ncf(layers=2,units=4)\n[run]\nsteps = 2\n"
        self.train(text)
        rows = self.table("x.run/tensors.csv")
        self.assertEqual(self.ok("train", "--tensors", self.path("x.ini")).encode(), self.read("x.run/tensors.csv"))
        values = [r for r in rows if r["kind"] != "parameter"]
        weights = rows[len(values):]
        self.assertEqual([r["words"] for r in values], [r["number"] for r in values])
        self.assertEqual([r["words"] for r in weights], [str(i) for i in range(len(weights))])
        self.assertEqual([r["operator"] for r in values], ["", ""] + [str(i) for i in range(len(values) - 2)])
        self.assertEqual({r["operator"] for r in weights}, {""})
        products = {r["number"]: r["products"] for r in rows if r["products"]}
        self.assertEqual(products, {r["number"]: str(16 * int(r["operator"])) for r in values if r["kind"] == "linear"})
        for option in "--resume", "--overwrite", "--json", "--output=o":
            self.bad("train", "--tensors", option, self.path("x.ini"), says="--tensors prints a table")

    def test_followed(self):
        """Of the weights at the end, from those of the checkpoint: eqs. 1 to 4 of Cambier et al."""
        self.train(SMALL, "--every", "4", "--follow", "linear1.weight", "--follow", "linear1.weight.gradient", "--follow-every", "4")
        tensors, _, _ = support.parse_safetensors(self.read("x.run/checkpoint.safetensors"))
        x = [v for (v,) in struct.iter_unpack("<f", tensors["linear1.weight"][2])]
        logs = [math.log2(abs(v)) for v in x if v]
        mu, m = math.fsum(logs) / len(logs), max(logs)
        alpha, beta = 15 / (m - mu), -15 * mu / (m - mu)
        rows = self.table("x.run/followed.csv")
        self.assertEqual([r["step"] for r in rows], ["4", "8"])
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
        history = self.table("x.run/followed-history.csv")
        self.assertEqual([(r["step"], r["tensor"]) for r in history], [("4", "1"), ("4", "2"), ("8", "1"), ("8", "2")])
        for i, column in enumerate(("linear1.weight", "linear1.weight.gradient")):
            self.assertEqual([c[column] for c in counts], [history[2 + i][c["exponent"]] for c in counts])
            self.assertNotEqual(*(list(history[at + i].values())[2:] for at in (0, 2)))
        self.assertIn(b"linear1.weight: exponents over the run", self.read("x.run/report.html"))

    def test_followed_and_resumed(self):
        names = ("overflows.csv", "followed.csv", "exponents.csv", "followed-exponents.csv", "followed-history.csv", "tensors.csv")
        follow = ["--every", "2", "--follow-every", "4", "--follow", "5", "--follow", "linear1.weight.gradient"]
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
        self.bad("train", config, "--data", support.DATA, "--follow-every", "10", says="--follow-every requires --follow")
        self.bad("train", config, "--data", support.DATA, "--follow", "1", "--follow-every", "10", "--every", "4",
                 says="--follow-every: 10 is no multiple of --every, which is 4")
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


if __name__ == "__main__":
    support.main()
