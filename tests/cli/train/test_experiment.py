# SPDX-License-Identifier: MIT
"""halfulp experiment: the list, what is refused, and the files that one leaves."""

import csv
import functools
import json
import math
import os
import statistics
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
import support  # noqa: E402
from page import Page  # noqa: E402

NUMBER, NONE = (int, float), type(None)
LISTED = dict(id=str, source=str, figure=str, shows=str, expected=str, seconds=int, runs=int, quick=bool, seeded=bool)
# Of the objects of `halfulp experiment --json`, as docs/training/experiments.md has them.
FIELDS = {
    "": dict(LISTED, took=NUMBER, rows=list, claims=list, tables=list, figures=list),
    "rows": dict(
        name=str,
        loss=(*NUMBER, NONE),
        test_loss=(*NUMBER, NONE),
        accuracy=(*NUMBER, NONE),
        r2=(*NUMBER, NONE),
        lost=(*NUMBER, NONE),
        scale=(*NUMBER, NONE),
        low=(*NUMBER, NONE),
        seeds=int,
        loss_deviation=(*NUMBER, NONE),
        test_loss_deviation=(*NUMBER, NONE),
        accuracy_deviation=(*NUMBER, NONE),
        r2_deviation=(*NUMBER, NONE),
        steps=int,
        skipped=int,
        promoted=int,
        digest=str,
        keys=str,
    ),
    "claims": dict(holds=bool, claim=str),
    "tables": dict(title=str, columns=list, rows=list),
    "figures": dict(name=str, title=str, x=str, y=str, series=list),
    "series": dict(name=str, zeros=NUMBER, x=list, y=list),
}
OPTIONAL = {"keys", "zeros"}
SVG = "{http://www.w3.org/2000/svg}"


@functools.lru_cache(maxsize=None)
def once(*args):
    """The exit status and the standard output of a command that several tests start."""
    r = support.run("experiment", *args)
    return r.returncode, r.stdout.decode()


REDUCTION = ("long-reduction", "--data", support.DATA, "--json")
SQUARES = ("least-squares", "--data", support.DATA, "--json", "--set", "run.steps=2500")


class Experiments(support.Case):
    def rows(self, folder, name):
        with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    def brief(self, name, *more, code=0):
        return self.ok("experiment", name, "--data", support.DATA, "--set", "run.steps=3", *more, code=code)

    def test_list(self):
        entries = json.loads(self.ok("experiment", "--json"))
        names = [e["id"] for e in entries]
        self.assertEqual(len(names), len(set(names)))
        text = self.ok("experiment")
        for e in entries:
            self.check_fields(e, LISTED)
            for word in ("source", "figure", "shows", "expected"):
                self.assertIn(e[word], text)
            self.assertGreater(e["seconds"], 0)
        self.assertLess(sum(e["seconds"] for e in entries), 15 * 60 * 2)
        self.assertTrue({e["quick"] for e in entries} == {True, False})

    def check_fields(self, got, fields):
        self.assertEqual(set(got) | OPTIONAL & set(fields), set(fields))
        for name, value in got.items():
            self.assertIsInstance(value, fields[name], name)
            if fields[name] is int:
                self.assertNotIsInstance(value, bool, name)

    def test_json_fields(self):
        for args in (("fp16-loss-scale", "--data", support.DATA, "--json", "--set", "run.steps=2"), SQUARES, REDUCTION):
            code, text = once(*args)
            self.assertIn(code, (0, 1))
            self.check_numbers(text)
            made = json.loads(text)
            self.check_fields(made, FIELDS[""])
            for part in ("rows", "claims", "tables", "figures"):
                for x in made[part]:
                    self.check_fields(x, FIELDS[part])
            for x in [s for f in made["figures"] for s in f["series"]]:
                self.check_fields(x, FIELDS["series"])
        with open(os.path.join(os.environ["HALFULP_DOCS"], "training", "experiments.md"), encoding="utf-8") as f:
            page = f.read().split("## JSON")[1]
        for fields in FIELDS.values():
            for name in fields:
                self.assertIn("`%s`" % name, page)

    def test_seeds(self):
        """Means and deviations of three runs that each seed alone gives; digests are the first seed's."""
        args = ["fp16-master-weights", "--data", support.DATA, "--set", "run.steps=20", "--json"]
        alone = [
            json.loads(self.ok("experiment", *args, "--seeds", "1", "--set", "run.seed=%d" % k, "--set", "data.seed=%d" % k, code=1))
            for k in range(3)
        ]
        z = json.loads(self.ok("experiment", *args, code=1))
        self.assertEqual([r["seeds"] for r in z["rows"]], [3] * 3)
        for i, row in enumerate(z["rows"]):
            for name in ("loss", "test_loss", "accuracy"):
                x = [a["rows"][i][name] for a in alone]
                self.assertAlmostEqual(row[name], statistics.mean(x), 12)
                self.assertAlmostEqual(row[name + "_deviation"], statistics.stdev(x), 12)
            self.assertIsNone(row["r2_deviation"])
            self.assertEqual(row["digest"], alone[0]["rows"][i]["digest"])
            self.assertIsNone(alone[0]["rows"][i]["loss_deviation"])
        text = self.ok("experiment", *args[:-1], "--seeds", "2", code=1)
        self.assertIn("means and standard deviations of 2 seeds", text)
        self.assertIn(" +- ", text)
        one = json.loads(self.ok("experiment", *args, "--set", "run.seed=1", "--set", "data.seed=1", code=1))
        self.assertEqual(one["rows"], alone[1]["rows"])  # a seed that is set is the only one
        for wrong in ("0", "x", "-1", "1001", "2.5"):
            self.bad("experiment", "s2fp8", "--seeds", wrong, says="--seeds: '%s'" % wrong)

    def test_one_run_is_changed(self):
        name = "binary16, no master weights"
        args = ["fp16-master-weights", "--data", support.DATA, "--seeds", "1", "--json", "--set", "run.steps=20"]
        plain = json.loads(self.ok("experiment", *args, code=1))["rows"]
        one = json.loads(self.ok("experiment", *args, "--run", name))["rows"]  # the loss of a short run is high
        self.assertEqual([r["steps"] for r in plain], [20] * 3)
        self.assertEqual(one[2]["digest"], plain[2]["digest"])
        self.assertGreater(one[0]["steps"], 20)
        self.bad("experiment", "s2fp8", "--data", support.DATA, "--run", "nothing", says="no run is called 'nothing'")

    def test_short_options(self):
        for option in ("-o", "--output"):
            self.brief("fp16-master-weights", option, self.path(option), code=1)
        for name in ("rows.csv", "series.csv"):
            self.assertEqual(*(self.read(os.path.join(option, name)) for option in ("-o", "--output")))
        # The same letter in all three commands.
        for command in ("train", "sweep", "experiment"):
            self.assertRegex(self.ok(command, "--help"), r"(?m)^  -o, --output OUT  ", command)

    def test_a_watched_tensor_follows_the_net(self):
        """A net without the plan's tensor: the last of its kind; none of its kind: refused before the first run."""
        args = ["experiment", "s2fp8-conv", "--data", support.DATA, "--seeds", "1", "--set", "run.steps=2",
                "--set", "data.count=128", "--set", "data.test=50"]
        made = json.loads(self.ok(*args, "--json", "--set", "model.net=resnet(blocks=1,width=0.25)", code=1))
        self.assertEqual(
            [f["name"] for f in made["figures"]][1:],
            [
                "%s-stage3-block1-conv2-weight%s" % (words, end)
                for end in ("", "-gradient")
                for words in ("logarithms", "shift-squeeze")
            ],
        )
        self.assertIn("S2FP8: stage3.block1.conv2.weight.gradient", [f["title"] for f in made["figures"]])
        r = support.run(*args, "--set", "model.net=mlp", "-o", self.path("none"))
        self.assertEqual((r.returncode, r.stdout), (2, b""))
        for word in (b"model.net = mlp ", b"'conv2.weight'", b"linear1.weight, linear1.bias, linear2.weight"):
            self.assertIn(word, r.stderr)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_runs_without_a_trainer(self):
        """A key changes one run of them, and no other; what no trainer takes is refused."""
        plain = json.loads(once(*REDUCTION)[1])["tables"]
        made = json.loads(self.ok("experiment", *REDUCTION, "--run", "binary32", "--set", "precision.accum=seq2(fp(6,9,0))", code=1))
        for a, b in zip(plain, made["tables"]):
            for old, row in zip(a["rows"], b["rows"]):
                wanted = a["rows"][0]["cells"] if row["name"] == "binary32" else old["cells"]
                self.assertEqual(row["cells"], wanted, row["name"])
        self.assertEqual([c["holds"] for c in made["claims"]], [True, True, False, True, True])
        self.bad("experiment", "update-memory", "--run", "nothing", says="no run is called 'nothing'")
        self.bad("experiment", "update-memory", "--set", "optimizer.update=up", says="optimizer.update: 'up' is neither")
        self.bad("experiment", "long-reduction", "--set", "run.sed=1", says="run.sed: no such key")

    def test_means_of_own_seeds(self):
        """Experiments with seeds of their own print mean and deviation in their tables."""
        for args in (SQUARES, ("update-memory", "--data", support.DATA, "--json", "--set", "run.steps=0"),
                     ("error-feedback", "--data", support.DATA, "--json", "--set", "run.steps=5")):
            name, tables = args[0], json.loads(once(*args)[1])["tables"]
            self.assertEqual(tables[0]["columns"], ["seed 0", "seed 1", "seed 2", "mean", "deviation"], name)
            for row in tables[0]["rows"]:
                seeds, mean, deviation = row["cells"][:3], row["cells"][3], row["cells"][4]
                self.assertAlmostEqual(statistics.mean(seeds) / mean, 1, 12, name)
                self.assertAlmostEqual(statistics.stdev(seeds) / deviation, 1, 9, name)

    def test_refused(self):
        self.bad("experiment", "nothing", says="no experiment 'nothing'; `halfulp experiment` lists them")
        self.bad("experiment", "long-reductoin", says="no experiment 'long-reductoin'; perhaps long-reduction is meant")
        self.bad("experiment", "--seeds", "2", says="NAME or --all is missing")
        self.bad("experiment", "s2fp8", "--all")
        self.bad("experiment", "s2fp8", "--quick", says="--quick")
        for key in ("run.sed=1", "run.seed", "=1"):
            r = support.run("experiment", "s2fp8", "--data", support.DATA, "--set", key)
            self.assertEqual((r.returncode, r.stdout), (2, b""), key)
            self.assertIn(key.split("=")[0].encode(), r.stderr)
        r = support.run("experiment", "s2fp8", "--data", self.path("none"))
        self.assertEqual(r.returncode, 2)
        self.assertIn(b"digits_images.npy", r.stderr)

    def test_steps_of_readings(self):
        """Those of the page: the first, every fifth, the last."""
        self.ok("experiment", "s2fp8-transformer", "--data", support.DATA, "--set", "run.steps=6", "--seeds", "1", "-o", self.path("out"), code=1)
        with open(os.path.join(self.path("out"), "series.csv"), encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        self.assertGreater(len(rows), 20)
        for name in {row["series"] for row in rows}:
            self.assertEqual(sorted({int(row["x"]) for row in rows if row["series"] == name}), [1, 5, 6], name)

    def test_a_claim_that_fails(self):
        text = self.brief("fp16-master-weights", code=1)
        self.assertIn("FAILS: without, it is at least 1.3 times binary32's", text)
        self.assertIn("holds: with master weights", text)

    def test_no_claim_holds_on_nan(self):
        """A rate at which losses are NaN after a few steps, and targets for which there is no accuracy."""
        wrong = {
            "block-formats": ("8 bits with scales", "4 bits", "all formats"),
            "automatic-loss-scale": ("all automatic scales", "from 2^40, after", "logmax"),
            "assignment-ratio": ("all assignments",),
            "least-squares": ("only the weight update", "only forward", "all with Kahan", "for each seed"),
        }
        more = ["--set", "optimizer.rate=1e6", "--set", "run.steps=130", "--json"]
        for name, claims in wrong.items():
            data = [] if name == "least-squares" else ["--set", "data.set=teacher", "--seeds", "1"]
            made = json.loads(self.ok("experiment", name, "--data", support.DATA, *more, *data, code=1))
            for claim in claims:
                seen = [c["holds"] for c in made["claims"] if c["claim"].startswith(claim)]
                self.assertEqual(seen, [False], (name, claim, made["claims"]))

    def test_files(self):
        folder = self.path("out")
        made = json.loads(self.brief("fp16-loss-scale", "--json", "--output", folder, "-j", "2"))
        self.assertEqual(
            sorted(os.listdir(folder)),
            ["exponents.svg", "loss.svg", "report.html", "rows.csv", "series.csv", "zero-gradients.svg"],
        )
        rows = self.rows(folder, "rows.csv")
        self.assertEqual([r["run"] for r in rows], [r["name"] for r in made["rows"]])
        for csv_row, json_row in zip(rows, made["rows"]):
            self.assertEqual(float(csv_row["loss"]), json_row["loss"])
            self.assertEqual((csv_row["digest"], csv_row["steps"], csv_row["r2"]), (json_row["digest"], "3", ""))
            self.assertIn("run.steps = 3\n", json_row["keys"])
        self.check_series(self.rows(folder, "series.csv"), made["figures"])
        self.check_drawings(folder, made["figures"])
        with open(os.path.join(folder, "report.html"), encoding="utf-8") as f:
            text = f.read()
        page = Page(text)
        self.assertEqual((len(page.ids), page.links), (len(set(page.ids)), []))
        for figure in made["figures"]:
            self.assertIn(figure["title"], page.titles)
        for claim in made["claims"]:
            self.assertIn(claim["claim"].split("(")[0], text)

    def check_series(self, points, figures):
        wanted = {(f["name"], s["name"]): len(s["x"]) for f in figures for s in f["series"]}
        found = {}
        for p in points:
            if p["x"] == "-inf":  # zeros of a histogram
                self.assertEqual(p["figure"], "exponents")
                continue
            found[p["figure"], p["series"]] = found.get((p["figure"], p["series"]), 0) + 1
        self.assertEqual(found, wanted)
        for f in figures:
            if f["name"] != "exponents":
                continue
            for s in f["series"]:
                self.assertTrue(math.isclose(sum(s["y"]) + s["zeros"], 1), s["name"])

    def check_drawings(self, folder, figures):
        for f in figures:
            root = tree.parse(os.path.join(folder, f["name"] + ".svg")).getroot()
            text = "".join(root.itertext())
            for s in f["series"]:
                self.assertIn(s["name"], text)
            if f["name"] == "exponents":
                self.assertRegex(text, "2\u2212[0-9]+")  # powers of two at the axis
                self.assertEqual(len({bar[4] for bar in support.bars(root)}), len(f["series"]))
            else:
                self.assertGreaterEqual(len(list(root.iter(SVG + "polyline"))), len(f["series"]), f["name"])

    def test_tables(self):
        made = json.loads(once(*REDUCTION)[1])
        self.assertEqual(made["rows"], [])
        means, grown, level, ones = made["tables"]
        for row in grown["rows"] + level["rows"]:
            seeds, mean, deviation = row["cells"][:3], row["cells"][3], row["cells"][4]
            self.assertAlmostEqual(statistics.mean(seeds), mean, 12, row["name"])
            self.assertAlmostEqual(statistics.stdev(seeds), deviation, 12, row["name"])
            self.assertEqual(len(set(seeds)), 3 if any(seeds) else 1, row["name"])
        self.assertEqual([r["cells"][3] for r in grown["rows"]], [r["cells"][3] for r in means["rows"]])
        for table, claim in ((grown, 0), (level, 1)):
            for row in table["rows"][:2]:  # one by one, chunks of 64
                self.assertIn("%.2e" % row["cells"][3], made["claims"][claim]["claim"])
        self.assertEqual(ones["columns"], ["4096", "8192", "16384"])
        self.assertEqual(ones["rows"][0]["cells"], [1024, 1024, 1024])
        text = self.ok("experiment", "long-reduction", "--output", self.path("r"))
        self.assertIn("one by one stops at 1024", text)
        for name in ("reduction.svg", "chunks.svg"):
            tree.parse(self.path(os.path.join("r", name)))

    def test_all(self):
        """Quick ones, cut short: a line and a folder each, the exit status of the worst."""
        quick = [e["id"] for e in json.loads(self.ok("experiment", "--json")) if e["quick"]]
        text = self.ok("experiment", "--all", "--quick", "--data", support.DATA, "--set", "run.steps=2", "--seeds", "1", "--output",
                       self.path("all"), code=1)
        self.assertEqual([line.split()[0] for line in text.split("\n") if "claims hold" in line], quick)
        self.assertEqual(sorted(os.listdir(self.path("all"))), sorted(quick))
        self.assertIn("  FAILS: ", text)


if __name__ == "__main__":
    support.main()
