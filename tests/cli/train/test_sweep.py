# SPDX-License-Identifier: MIT
"""Sweeps: results, recommendations, reports, keys and values; what is refused."""

import csv
import html
import html.parser
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
import support  # noqa: E402
from sweeps import RESULTS, SEEDS, SweepCase, VALUES  # noqa: E402


class Sweep(SweepCase):
    def test_files_of_somebody_else(self):
        """A folder that has a summary.csv and no runs is no sweep's: nothing in it is replaced."""
        os.mkdir(self.path("mine"))
        for name in ("summary.csv", "report.html"):
            self.write(os.path.join("mine", name), b"my own")
            self.bad(*self.args("mine"), says=["mine: has a %s, but nothing of a sweep" % name, "-o"])
            self.assertEqual(os.listdir(self.path("mine")), [name])
            self.assertEqual(self.read(os.path.join("mine", name)), b"my own")
            os.unlink(self.path(os.path.join("mine", name)))
        self.write(os.path.join("mine", "notes.txt"), b"my own")
        self.ok(*self.args("mine", values="0", seeds="1"))
        self.ok(*self.args("mine", values="0", seeds="1"))
        os.unlink(self.path("mine/runs.ledger"))  # put away: the summary is that of a sweep all the same
        self.ok(*self.args("mine", values="0", seeds="1"))
        os.makedirs(self.path("others/runs/of-something-else"))
        self.write(os.path.join("others", "summary.csv"), b"my own")
        self.bad(*self.args("others"), says=["others: has a summary.csv, but nothing of a sweep"])
        os.makedirs(self.path("older/runs"))
        self.write(os.path.join("older", "runs", "ratio-1-seed0.json"), b"{}\n")
        self.bad(*self.args("older"), says=["older: has a file for each run, as an older halfulp wrote them", "-o"])

    def test_values_that_a_key_does_not_take(self):
        for key, value, says in (
            ("precision.x", "bf8", "'bf8' is ambiguous; one of float8_e5m2"),
            ("precision.accum", "nv.hoper.f16.f32", "perhaps nv.hopper.f16.f32"),
        ):
            self.bad(*self.args("o", "--key", key, "--values", value), says=says)

    def test_results(self):
        text = self.ok(*self.args("o", "--jobs", "2"))
        self.assertEqual(
            self.run_names("o"),
            sorted(["baseline-seed%d" % s for s in SEEDS] + ["ratio-%s-seed%d" % (v, s) for v in VALUES for s in SEEDS]),
        )
        self.assertEqual(sorted(os.listdir(self.path("o"))), ["plot.svg", "report.html", "runs.ledger", *RESULTS[:2]])
        files = self.runs("o")
        z = json.loads(self.read("o/summary.json"))
        self.assertEqual([r["value"] for r in z["rows"]], [None] + VALUES)
        base = z["rows"][0]
        for row in z["rows"]:
            name = "baseline" if row["value"] is None else "ratio-" + row["value"]
            runs = [files["%s-seed%d" % (name, s)] for s in SEEDS]
            seen = [r["accuracy_test"] for r in runs]
            self.assertAlmostEqual(row["mean"], statistics.mean(seen), 12)
            self.assertEqual((row["lowest"], row["highest"], row["seeds"]), (min(seen), max(seen), 2))
            self.assertAlmostEqual(row["low_mean"], statistics.mean(r["low_mean"] for r in runs), 12)
            bytes_ = [sum(v for k, v in r.items() if k.startswith("bytes_")) for r in runs]
            whole = [
                sum(v for k, v in files["baseline-seed%d" % s].items() if k.startswith("bytes_")) for s in SEEDS
            ]
            self.assertAlmostEqual(row["stored"], sum(bytes_) / sum(whole), 12)
            self.assertEqual([r["digest"] for r in row["runs"]], [r["digest"] for r in runs])
            for r, s in zip(runs, SEEDS):
                self.assertEqual((r["seed"], r["steps"], r["keys"]["run.seed"]), (s, 12, str(s)))
                self.assertTrue(0 <= r["accuracy_test"] <= 1 and r["bytes_weights"] > 0 and r["state"] == "done")
                if row["value"] is not None:
                    self.assertEqual((r["value"], r["keys"]["assignment.ratio"]), (row["value"],) * 2)
        # The baseline is in binary32; the assignments are not, and the more the ratio, the fewer the stored bytes.
        for s in SEEDS:
            keys = files["baseline-seed%d" % s]["keys"]
            self.assertEqual((keys["assignment.kind"], keys["loss.scale"]), ("none", "none"))
        low, stored = [r["low_mean"] for r in z["rows"]], [r["stored"] for r in z["rows"]]
        self.assertEqual((low[0], low[1], stored[0]), (0, 0, 1))
        self.assertTrue(0 < low[2] < low[3] < 1 and 1 > stored[1] > stored[2] > stored[3] > 0, (low, stored))
        self.assertEqual(len({r["digest"] for row in z["rows"] for r in row["runs"]}), 8)
        # The recommendation: fewest bytes within a point.
        good = [r for r in z["rows"][1:] if 100 * (base["mean"] - r["mean"]) <= 1 + 1e-9]
        want = min(good, key=lambda r: r["stored"])["value"] if good else None
        self.assertEqual(z["recommended"], want)
        self.assertIn(z["text"], text)
        self.assertEqual(text.count("*\n"), len(good) > 0)
        # CSV is the same.
        table = list(csv.DictReader(io.StringIO(self.read("o/summary.csv").decode())))
        self.assertEqual([r["value"] for r in table], ["baseline"] + VALUES)
        for r, row in zip(table, z["rows"]):
            self.assertAlmostEqual(float(r["mean"]), row["mean"], 8)
            self.assertEqual(r["recommended"] == "yes", row["value"] == want and want is not None)

    def test_recommendation(self):
        """Whatever may be lost: the one that stores the fewest bytes. And none may be good enough."""
        z = json.loads(self.ok(*self.args("o", "--json", "--loss", "100")))
        self.assertEqual(z["recommended"], "1")
        self.assertRegex(
            z["text"], r"^Recommended: assignment.ratio = 1, which stores \d+\.\d % of binary32's bytes, with "
        )
        self.assertNotIn("operands", z["text"])
        # A rate at which nothing is learnt.
        more = ["--key", "optimizer.rate", "--loss", "0.5"]
        z = json.loads(self.ok(*self.args("p", *more, "--json", values="1000")))
        self.assertEqual((z["recommended"], z["text"][:18]), (None, "None recommended: "))
        self.assertIn("The nearest, optimizer.rate = 1000, is ", z["text"])

    def test_assignments(self):
        """Kinds and ratios in one sweep: each value is the run that its keys say, and a line joins the ratios alone."""
        values = "uniform,operator',0.5,smallest:0.5,1"
        z = json.loads(self.ok(*self.args("o", "--key", "assignment", "--json", values=values)))
        self.assertEqual([r["value"] for r in z["rows"]], [None, *values.split(",")])
        keys = {r["value"]: r["keys"] for r in self.runs("o").values()}
        for value, kind, ratio, order, promote in (("uniform", "uniform", "1", "largest", "1"), ("operator'", "operator'", "1", "largest", "1"),
                                                   ("0.5", "demote", "0.5", "largest", "0.01"), ("smallest:0.5", "demote", "0.5", "smallest", "0.01")):
            got = tuple(keys[value]["assignment." + name] for name in ("kind", "ratio", "order", "promote"))
            self.assertEqual(got, (kind, ratio, order, promote))
        by_ratio = json.loads(self.ok(*self.args("p", "--json", values="0.5,1")))
        digests = {r["value"]: [x["digest"] for x in r["runs"]] for r in z["rows"]}
        for row in by_ratio["rows"]:
            self.assertEqual([x["digest"] for x in row["runs"]], digests[row["value"]])
        self.assertGreaterEqual(len({tuple(d) for d in digests.values()}), 5)  # uniform is 1 where nothing overflows
        plot = self.read("o/plot.svg").decode()
        self.assertEqual(plot.count("l6.5 6.5"), 3)  # uniform, operator', and the other order
        path = [line for line in plot.split("\n") if "stroke-linejoin" in line and line.startswith("<path")][0]
        self.assertEqual(path.count(" L"), 1)
        self.assertIn("(varied)", self.read("o/report.html").decode())
        self.bad(*self.args("q", "--key", "assignment", values="uniform,operatr"), says=["assignment.kind", "operatr", "operator"])
        self.bad(*self.args("q", "--key", "assignment", values="1.5"), says=["assignment.ratio", "1.5"])
        self.bad(*self.args("q", "--key", "assignment", values="first:0.5"), says=["assignment.order", "'first'"])

    def swept(self, key, values, *more):
        """A sweep without an assignment: its summary, and what it prints."""
        plain = ["--set", "assignment.kind=none", "--set", "loss.scale=none", "--loss", "100"]
        args = self.args("k", "--key", key, "--overwrite", *plain, *more, values=values)
        text = self.ok(*args)
        return json.loads(self.read("k/summary.json")), text

    def clicks(self, *more):
        """A sweep on labels of two classes, with narrow weights; its summary, and whether anything was trained for it."""
        config = self.write("clicks.ini", b"[data]\nset = ratings\nimplicit = yes\ncount = 320\ntest = 100\n[model]\nnet = ncf(layers=1,units=4)\n"
                                          b"[run]\nsteps = 20\n[optimizer]\nrate = 0.2\nstate = bfloat16\nweights = bfloat16\n")
        self.ok("sweep", config, "--seeds", "2", "-o", self.path("m"), *more)
        return json.loads(self.read("m/summary.json"))

    def test_measures(self):
        """Each figure of an evaluation, without another run; the better one is the lower one of losses."""
        key = ["--key", "optimizer.rate", "--values", "0.1,0.5,2"]
        self.clicks(*key)
        ledger = self.read("m/runs.ledger")
        for measure, best in ("auc", max), ("loss", min), ("accuracy", max):
            z = self.clicks(*key, "--measure", measure, "--loss", "1000")
            self.assertEqual((z["measure"], self.read("m/runs.ledger")), (measure, ledger))
            for row in z["rows"]:
                for run in row["runs"]:
                    name = "baseline" if row["value"] is None else "rate-" + row["value"]
                    wanted = self.runs("m")["%s-seed%d" % (name, run["seed"])]
                    self.assertEqual((run["test"], run["training"]), (wanted[measure + "_test"], wanted[measure + "_training"]))
            means = {r["value"]: r["mean"] for r in z["rows"][1:]}
            self.assertEqual(means[z["recommended"]], best(means.values()))
            self.assertIn(">%s, test set<" % measure, self.read("m/plot.svg").decode())
        train = json.loads(self.ok("train", self.path("clicks.ini"), "--set", "optimizer.rate=0.5", "--json", "-o", self.path("t")))
        self.assertEqual(self.runs("m")["rate-0.5-seed0"]["auc_test"], train["test"]["auc"])
        # A loss that is a point above binary32's is accepted, and no more.
        z = self.clicks(*key, "--measure", "loss", "--loss", "1")
        means = [r["mean"] for r in z["rows"]]
        self.assertEqual(z["recommended"] is None, min(means[1:]) > means[0] + 0.01)
        self.assertIn("no such figure", self.clicks(*key, "--measure", "bleu")["text"])
        self.bad(*self.args("o", "--measure", "f1"), says="--measure: 'f1' is not accuracy, loss, ")

    def test_lists_of_names(self):
        """None of the parameters, one, all: both ends of a figure of memory against AUC."""
        z = self.clicks("--key", "optimizer.kahan", "--values", ";dense.linear1.weight;*", "--measure", "auc")
        self.assertEqual([r["value"] for r in z["rows"]], [None, "", "dense.linear1.weight", "*"])
        digests = [[run["digest"] for run in r["runs"]] for r in z["rows"]]
        self.assertEqual(len({d[0] for d in digests}), 4)
        for update, got in ("rne", digests[1]), ("kahan", digests[3]):
            for seed in 0, 1:
                train = json.loads(self.ok("train", self.path("clicks.ini"), "--set", "optimizer.update=" + update, "--set",
                                           "run.seed=%d" % seed, "--json", "--overwrite", "-o", self.path("t")))
                self.assertEqual(train["digest"], got[seed])
        stored = [r["stored"] for r in z["rows"]]
        self.assertTrue(stored[1] < stored[2] < stored[3], stored)
        self.assertIn("(empty)", self.read("m/report.html").decode())
        self.bad(*self.args("o", values="0,,1"), says="value 2 is empty")

    def test_several_keys(self):
        """Values of two keys together: the runs that each pair says."""
        z = self.clicks("--key", "optimizer.rate,precision.x", "--values", "0.5,fp(4,3,0);0.1,keep;0.1,fp(4,3,0)")
        self.assertEqual([r["value"] for r in z["rows"]][1:], ["0.5,fp(4,3,0)", "0.1,keep", "0.1,fp(4,3,0)"])
        for row, (rate, x) in zip(z["rows"][1:], (("0.5", "fp(4,3,0)"), ("0.1", "keep"), ("0.1", "fp(4,3,0)"))):
            train = json.loads(self.ok("train", self.path("clicks.ini"), "--set", "optimizer.rate=" + rate, "--set", "precision.x=" + x,
                                       "--json", "--overwrite", "-o", self.path("t")))
            self.assertEqual(row["runs"][0]["digest"], train["digest"])
        self.assertEqual(self.read("m/report.html").decode().count(">(varied)<"), 2)
        keys = ["--key", "optimizer.rate,run.batch"]
        for values, says in (("1;2,3", "'1' has fewer parts than there are keys"), ("1,2,3;1,2", "has more parts"),
                             ("1,2;1,x", "run.batch: 'x'")):
            self.bad(*self.args("o", *keys, values=values), says=says)
        self.bad(*self.args("o", "--key", "optimizer.rate,run.bath", values="1,2;3,4"), says="run.bath: there is no such key")
        self.bad(*self.args("o", "--key", "run.batch,run.batch", values="1,2;3,4"), says="run.batch is there twice")

    def most_accurate(self, z):
        best = max(r["mean"] for r in z["rows"][1:])
        return [r["value"] for r in z["rows"][1:] if r["mean"] == best][-1]

    def test_bytes_that_the_key_does_not_change(self):
        """The most accurate value is recommended then, and the sentence names no bytes."""
        for key, values, more in (
            ("optimizer.rate", "0.001,0.01", []),
            # Promotions make bytes differ a little: not because of the rate.
            ("optimizer.rate", "0.3,0.01", ["--set", "assignment.kind=demote", "--set", "assignment.promote=0.000001"]),
        ):
            z, text = self.swept(key, values, *more)
            self.assertEqual(z["recommended"], self.most_accurate(z), z)
            self.assertTrue(
                z["text"].startswith("Recommended: %s = %s, the most accurate of the values" % (key, z["recommended"]))
            )
            self.assertNotIn("binary32's bytes", z["text"])
        self.assertGreater(len({r["stored"] for r in z["rows"][1:]}), 1, "promotions were to make a difference here")

    def test_stored_counts_what_systems_store(self):
        """Codes of operands and results count: narrower elements store less, and the fewest bytes are recommended."""
        z, text = self.swept("precision.system", "fp16,fp8,mxfp8,nvfp4,s2fp8")
        stored = {r["value"]: r["stored"] for r in z["rows"][1:]}
        self.assertTrue(all(0.2 < x < 0.9 for x in stored.values()), stored)
        self.assertLess(stored["s2fp8"], stored["fp8"])  # results of products as well
        self.assertLess(stored["nvfp4"], stored["mxfp8"])
        self.assertEqual(z["recommended"], min(stored, key=stored.get))
        self.assertRegex(z["text"], r"^Recommended: precision.system = \w+, which stores \d+\.\d % of binary32's bytes\.")
        head = text.splitlines()[0].split()
        self.assertIn("stored", head)
        self.assertNotIn("memory", text + self.read("k/report.html").decode() + self.read("k/summary.csv").decode())
        self.assertIn("stored bytes, of binary32's", self.read("k/plot.svg").decode())
        z, text = self.swept("precision.x_back", "keep,float8_e4m3fn", "--set", "run.steps=2")
        self.assertLess(z["rows"][2]["stored"], z["rows"][1]["stored"])

    def names_in(self, drawing, values):
        """Boxes of the names in a drawing, about as wide as letters of 12 are."""
        space = "{http://www.w3.org/2000/svg}"
        found = {}
        for e in tree.fromstring(drawing).iter(space + "text"):
            if e.get("stroke-width") != "4":
                continue
            for value in e.text.split(", "):
                self.assertIn(value, values)
                self.assertNotIn(value, found)
                half = 3.5 * len(e.text)
                found[value] = (e.text, float(e.get("x")) - half, float(e.get("x")) + half, float(e.get("y")))
        return found

    def test_names_on_one_line(self):
        """Values that store the same stand on one vertical line: all have their names, and none over another one."""
        values = "fp16,bfloat16,fp8,fp8_e5m2,mxfp8,mxfp6,mxfp4,nvfp4,s2fp8,fp8_tensor,hfp8,dsv3,wang2018".split(",")
        for more in (["--set", "run.steps=60"], ["--set", "run.steps=0", "--set", "run.epochs=0"]):
            self.swept("precision.system", ",".join(values), *more)
            found = self.names_in(self.read("k/plot.svg"), values)
            self.assertEqual(sorted(found), sorted(values))
            boxes = sorted(set(found.values()))
            for i, a in enumerate(boxes):
                for b in boxes[:i]:
                    self.assertTrue(abs(a[3] - b[3]) >= 12 or a[1] >= b[2] or b[1] >= a[2], (a, b))

    def test_json_fields(self):
        """Names and types as docs/training/sweep.md section 6 has them."""
        text = self.ok(*self.args("o", "--json"))
        self.assertEqual(text, self.read("o/summary.json").decode())
        z = json.loads(text)
        number = (int, float)
        measured = "loss_training loss_test low_mean low_end "
        rows = dict.fromkeys((measured + "mean lowest highest training_mean stored skipped promoted").split(), number)
        stored = "bytes_weights bytes_state bytes_values bytes_gradients"
        runs = dict.fromkeys((measured + "training test " + stored).split(), number)
        fields = {
            "": (
                {
                    "key": str,
                    "measure": str,
                    "accepted_points": number,
                    "recommended": (str, type(None)),
                    "text": str,
                    "rows": list,
                },
                [z],
            ),
            "rows": ({"value": (str, type(None)), "seeds": int, "runs": list, **rows}, z["rows"]),
            "runs": (
                {"seed": int, "digest": str, "steps": int, "skipped": int, "promoted": int, **runs},
                [r for row in z["rows"] for r in row["runs"]],
            ),
        }
        with open(os.path.join(os.environ["HALFULP_DOCS"], "training", "sweep.md"), encoding="utf-8") as f:
            page = f.read().split("## 7. JSON")[1]
        for part, (types, objects) in fields.items():
            for x in objects:
                self.assertEqual(set(x), set(types), part)
                for name, kind in types.items():
                    self.assertIsInstance(x[name], kind, (part, name))
            for name in types:
                self.assertIn("`%s`" % name, page)
        self.check_numbers(text)

    def test_long_and_short_options(self):
        args = ["sweep", self.config, "--data", support.DATA, "--values", "1", "--seeds", "1"]
        self.ok(*args, "-o", self.path("short"), "--jobs", "2")
        self.ok(*args, "--output", self.path("long"), "--jobs", "2")
        self.assertEqual(self.results("short"), self.results("long"))

    def test_report(self):
        self.ok(*self.args("o"))
        page = self.read("o/report.html").decode()

        class Parser(html.parser.HTMLParser):
            open, fetched = [], []

            def handle_starttag(self, tag, attrs):
                self.fetched += [v for k, v in attrs if k in ("src", "href", "srcset", "data", "action")]
                if tag not in ("meta", "br", "wbr"):
                    self.open.append(tag)

            def handle_endtag(self, tag):
                assert self.open.pop() == tag, tag

        parser = Parser()
        parser.feed(page)
        parser.close()
        self.assertEqual((parser.open, parser.fetched), ([], []))
        for r in [r for row in json.loads(self.read("o/summary.json"))["rows"] for r in row["runs"]]:
            self.assertIn(r["digest"], page)
        ids = [p.split('"')[0] for p in page.split(' id="')[1:]]
        self.assertEqual(len(ids), len(set(ids)))
        plot = tree.fromstring(self.read("o/plot.svg"))
        space = "{http://www.w3.org/2000/svg}"
        points = [c for c in plot.iter(space + "circle") if c.get("fill-opacity")]
        self.assertEqual(len(points), 1 + len(VALUES) * len(SEEDS))  # and the legend's
        for e in plot.iter():
            for k in ("cx", "cy", "x", "y", "x1", "y1", "x2", "y2"):
                self.assertTrue(e.get(k) is None or 0 <= float(e.get(k)) <= 960, (e.tag, e.attrib))

    def test_words_of_the_drawing(self):
        """A mean, a range and points of seeds are there only where there are several."""
        for name, seeds, there, absent in (
            ("two", "0,1", ["mean of 2 seeds", "one seed", "binary32: mean, range of seeds"], ["result of the one seed"]),
            ("one", "0,", ["result of the one seed", "binary32"], ["mean of 1 seeds", "one seed", "binary32: mean, range of seeds"]),
        ):
            self.ok(*self.args(name, values="1", seeds=seeds))
            plot = tree.fromstring(self.read(name + "/plot.svg"))
            words = [e.text for e in plot.iter("{http://www.w3.org/2000/svg}text")]
            self.assertEqual([w for w in there if w not in words] + [w for w in absent if w in words], [])

    def test_any_key(self):
        """Words as values, with commas in them; no low elements."""
        values = "none;static(4); backoff(step_window=3,start=2^10)"
        args = self.args("o", "--key", "loss.scale", "--json", values=values, seeds="5,")
        z = json.loads(self.ok(*args, "--set", "assignment.kind=none"))
        self.assertEqual((z["key"], z["rows"][3]["value"]), ("loss.scale", "backoff(step_window=3,start=2^10)"))
        self.assertEqual([r["runs"][0]["seed"] for r in z["rows"]], [5] * len(z["rows"]))
        self.assertTrue(all(r["low_mean"] == 0 and r["stored"] == 1 for r in z["rows"]))
        self.assertEqual(z["rows"][0]["runs"][0]["digest"], z["rows"][1]["runs"][0]["digest"])
        args = self.args("o", "--key", "loss.scale", "--json", values="backoff(step_window=3,start=2^10),none", seeds="5,")
        z = json.loads(self.ok(*args, "--set", "assignment.kind=none"))
        self.assertEqual([r["value"] for r in z["rows"]], [None, "backoff(step_window=3,start=2^10)", "none"])
        names = [f for f in self.run_names("o") if f.startswith("scale-backoff_step_window_3_start_2_10_-")]
        self.assertEqual((len(names), len(self.run_names("o"))), (1, 4))

    def test_values(self):
        def values(text, *more):
            z = self.ok("sweep", self.config, "--data", support.DATA, "--key", "optimizer.rate", "--seeds", "1", "--set",
                        "run.steps=0", "--set", "run.epochs=0", "--json", "--overwrite", "-o", self.path("v"), "--values", text)
            return [r["value"] for r in json.loads(z)["rows"][1:]]

        self.assertEqual(values("0,0.1,...,1"), ["0"] + ["0.%d" % i for i in range(1, 10)] + ["1"])
        self.assertEqual(values("1,0.75,...,0"), ["1", "0.75", "0.5", "0.25", "0"])
        self.assertEqual(values("0.001, 0.002,...,0.004,0.1,0.2,...,0.3"), "0.001 0.002 0.003 0.004 0.1 0.2 0.3".split())
        self.assertEqual(values("1e-3,2"), ["1e-3", "2"])
        self.assertEqual(values("0,1,...,1"), ["0", "1"])

    def test_wide_text(self):
        """Names of more than one byte a character are cut between characters."""
        more = ["--set", "assignment.kind=none", "--set", "run.steps=0", "--set", "run.epochs=0", "--json"]
        for shift in range(4):
            folder = self.path("x" * shift + "\u20ac" * 60)
            links = [folder + c for c in "abcdef"]
            for link in links:
                os.symlink(support.DATA, link)
            for count in (1, 6):
                args = self.args("o%d%d" % (shift, count), "--key", "data.path", *more, values=",".join(links[:count]), seeds="1")
                json.loads(self.ok(*args))
                for name in (*RESULTS, "report.html"):
                    self.read("o%d%d/%s" % (shift, count, name)).decode()  # is UTF-8
        self.bad(*self.args("w", "--key", "data.path", *more[:-1], values=b"\xff"), says=["--values", "UTF-8"])

    def test_numbers_that_are_none(self):
        text = "[data]\nset = teacher\n[model]\nnet = linear\n[run]\nbatch = 50\nsteps = 40\n"
        config = self.write("r.ini", text.encode())

        def swept(out, rate):
            args = ["--key", "optimizer.rate", "--values", rate, "--seeds", "1", "-o", self.path(out)]
            shown = self.ok("sweep", config, *args)
            return shown, json.loads(self.read(out + "/summary.json"))

        shown, z = swept("nan", "1000")
        self.assertIsNone(z["rows"][1]["mean"])
        self.assertEqual(z["text"], "No recommendation: every value's mean is not a number.")
        shown, z = swept("far", "3")
        self.assertLess(z["rows"][1]["mean"], -1e9)
        for part in (shown, self.read("far/plot.svg").decode(), self.read("far/report.html").decode()):
            part = re.sub(r'data-v="[^"]*"', "", part)
            self.assertNotRegex(part, r"\d{9}\.")

    def test_device(self):
        """The kernels of the device, here run by the processor: the same results; their files are those of the others."""
        self.ok(*self.args("a", values="1", seeds="1"))
        args = self.args("b", "--set", "run.device=cuda", values="1", seeds="1")
        r = subprocess.run(
            [os.environ["HALFULP_HOSTRUN"], *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
        self.assertEqual((r.returncode, r.stderr), (0, b""))
        self.assertEqual(self.results("a"), self.results("b"))

    def test_example(self):
        example = os.path.join(support.DATA, "..", "examples", "train", "sweep-digits.ini")
        more = ["--values", "0,1", "--seeds", "1", "--set", "run.epochs=2", "-o", self.path("o"), "--json"]
        z = json.loads(self.ok("sweep", example, *more))
        self.assertTrue(all(row["mean"] > 0.7 for row in z["rows"]), z)
        self.assertEqual(self.left(), ["c.ini", "o"])

    def test_other_keys_are_refused(self):
        self.ok(*self.args("o"))
        before = self.lines("o")
        self.bad(*self.args("o", "--set", "optimizer.rate=0.02"),
                 says=["runs.ledger: baseline-seed0 was made with optimizer.rate = 0.01, not 0.02", "--overwrite"])
        self.bad(*self.args("o", "--set", "assignment.order=random"), says=["assignment.order = largest, not random"])
        self.assertEqual(self.lines("o"), before)
        # Keys that weights do not depend on are not looked at.
        self.ok(*self.args("o", "--set", "run.threads=2", "--set", "run.name=x"))
        self.assertEqual(self.lines("o"), before)
        self.ok(*self.args("o", "--set", "optimizer.rate=0.02", "--overwrite"))
        self.assertNotEqual(self.runs("o")["ratio-1-seed1"]["digest"], before["ratio-1-seed1"].split("\t")[4])
        self.parts_begin_again()
        # And so is another version.
        self.write("o/runs.ledger", self.read("o/runs.ledger").replace(b"\t0.1.0\t", b"\t0.0.9\t").replace(b"\tdone\t", b"\tstale\t"))
        self.bad(*self.args("o", "--set", "optimizer.rate=0.02"), says="was made with halfulp 0.0.9, not ")

    def parts_begin_again(self):
        """Parts of a sweep whose keys have changed: each replaces its own results and says which, the others stay till then."""
        more, old = ["--set", "optimizer.rate=0.03"], self.lines("o")
        self.bad(*self.args("o", *more, "--shard", "1/2"), says="was made with optimizer.rate = 0.02, not 0.03; --overwrite begins again")
        r = support.run(*self.args("o", *more, "--shard", "1/2", "--overwrite"))
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stderr.decode(), r"^halfulp: \S+runs.ledger: 4 results are dropped for --overwrite: baseline-seed0, ratio-0-seed0, .*\n$")
        self.assertEqual({name for name in old if old[name] == self.lines("o")[name]}, {name for name in old if name.endswith("seed1")})
        self.bad(*self.args("o", *more), says="baseline-seed1 was made with optimizer.rate = 0.02, not 0.03")
        self.ok(*self.args("o", *more, "--shard", "2/2", "--overwrite"))
        self.ok(*self.args("o", *more))
        self.ok(*self.args("fresh", *more))
        self.assertEqual(self.results("o"), self.results("fresh"))
        self.ok(*self.args("o", "--set", "optimizer.rate=0.02", "--overwrite"))

    def test_merge_of_other_keys(self):
        """Which the sweep would refuse afterwards: what is there stays, whichever is the newer."""
        for out, rate in (("o", "0.01"), ("p", "0.02")):
            self.ok(*self.args(out, "--set", "optimizer.rate=" + rate))
        o, p = self.path("o/runs.ledger"), self.path("p/runs.ledger")
        before = self.read(o)
        self.bad(*self.args("o", "--merge", p), says=[p + ": ", " was made with optimizer.rate = 0.02, not 0.01; nothing was merged"])
        self.bad(*self.args("o", "--set", "optimizer.rate=0.02", "--merge", p), says=[o + ": ", " was made with optimizer.rate = 0.01, not 0.02"])
        # Of runs that this command does not list the keys are compared with each other.
        self.bad(*self.args("o", "--merge", p, values="0.25", seeds="9,"), says=[p + ": ", " was made with other keys than the one in " + o])
        self.bad(*self.args("q", "--merge", p), says=[p + ": ", " was made with optimizer.rate = 0.02"])
        self.bad(*self.args("q", "--merge", o, "--json"), says="--json prints the report, which --shard, --include, --status and --merge do not make")
        self.assertEqual((self.read(o), os.listdir(self.path("q"))), (before, []))
        self.ok(*self.args("q", "--merge", o))
        self.assertEqual(sorted(self.lines("q")), sorted(self.lines("o")))

    def test_wrong_words(self):
        for more, says in (
            (["--values", "0,0.5,2"], "2"),
            (["--values", "0,x"], "assignment.ratio"),
            (["--values", "0,,1"], "--values: value 2 is empty"),
            (["--values", ""], "--values: value 1 is empty"),
            (["--values", "0,0.5,0"], "--values: '0' is there twice"),
            (["--values", "0,...,1"], "'...' requires two decimal numbers before it"),
            (["--values", "0,0.3,...,1"], "'1' is not reached from '0' in steps"),
            (["--values", "0,0.1,...,-1"], "is not reached"),
            (["--values", "0,0,...,1"], "is there twice"),
            (["--values", "0,0.1,...,1,..."], "..."),
            (["--values", "0,0.000001,...,1"], "more than 1000"),
            (["--seeds", "0"], "--seeds"),
            (["--seeds", "1,1"], "--seeds: 1 is there twice"),
            (["--seeds", "1,x"], "--seeds: 'x'"),
            (["--seeds", "0" * 30 + "12,3"], "--seeds: '000"),
            (["--key", "run.name"], "run.name changes nothing"),
            (["--key", "run.threads"], "run.threads changes nothing"),
            (["--jobs", "257"], "--jobs"),
            (["--loss", "-1"], "--loss: '-1'"),
            (["--key", "optimizer.rat"], "perhaps optimizer.rate is meant"),
            (["--key", "run.seed"], "--seeds"),
            (["--set", "assignment.kind=uniform"], "assignment.kind is uniform, not demote"),
            (["--set", "no.such=1"], "no.such"),
            (["--set", "optimizer.rate=x"], "optimizer.rate"),
        ):
            self.bad(*self.args("o", *more), says=says)
        self.bad("sweep", self.path("none.ini"), says="none.ini")
        self.write("d.ini", b"[run]\nbatches = 3\n")
        self.bad("sweep", self.path("d.ini"), says=["d.ini:2", "run.batches"])
        self.assertEqual(self.left(), ["c.ini", "d.ini"])
        self.write("o", b"")
        self.bad(*self.args("o"), says="o")


if __name__ == "__main__":
    support.main()
