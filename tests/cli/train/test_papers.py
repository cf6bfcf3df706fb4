# SPDX-License-Identifier: MIT
"""The tables of the papers: halfulp experiment --paper, and the configurations that it writes."""

import configparser
import csv
import hashlib
import json
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
import test_json  # noqa: E402

PAPERS = pathlib.Path(os.environ["HALFULP_EXAMPLES"]) / "papers"
# How many files a paper has, and the SHA-256 of the keys of all: a change of a table is seen here.
WRITTEN = {
    "fp16": (2, "1cc32be96a5de8efa7388a584bebebd28da66635f5a7d5ff818b232106c32990"),
    "openseq2seq": (8, "43eee300d17e626af36474bb6e8946703e6e2ca1e1539e09f3430b5f8108f1a0"),
    "s2fp8": (31, "33cb113f0a86c9761cdee2567d05258f70a76e02b8a7196eaa54ae0e8615c5f2"),
    "bfloat16": (22, "e719c66f421c313c46fbd91d68de05f0383ff172622e5d017d13ed179f0b52ee"),
    "assignments": (444, "c82992a096bed418aa8ded133086984ceac3cb8ea3a0f35f748416dec4bb6d4b"),
}
NAMES = tuple(WRITTEN)
EVERY = os.environ["HALFULP_EXHAUSTIVE"] == "1"
# A table made small: a linear layer, three short epochs.
SMALL = ["--set", "model.net=linear", "--set", "data.count=64", "--set", "data.test=32", "--set", "data.size=8", "--set", "run.batch=16"]


class Papers(support.Case):
    # ---- data of the papers' forms, as small as they can be ----

    def cifar(self):
        r = random.Random(1)
        for name, files, labels in (("cifar-10-batches-bin", ["data_batch_%d" % i for i in range(1, 6)] + ["test_batch"], 1),
                                    ("cifar-100-binary", ["train", "test"], 2)):
            os.makedirs(self.path(name), exist_ok=True)
            for one in files:
                records = b"".join(bytes(r.randrange(10) for _ in range(labels)) + r.randbytes(3072) for _ in range(4))
                self.write(os.path.join(name, one + ".bin"), records)

    def imagenet(self):
        r = random.Random(3)
        for part in ("train", "val"):
            for kind, dtype, shape, data in (("images", "|u1", "(6, 9, 9, 3)", r.randbytes(6 * 243)),
                                             ("labels", "<u2", "(6,)", b"".join(bytes([r.randrange(256), i % 3]) for i in range(6)))):
                head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (dtype, shape)
                head = head.ljust(117) + "\n"
                os.makedirs(self.path("imagenet"), exist_ok=True)
                self.write("imagenet/%s-%s.npy" % (part, kind), b"\x93NUMPY\x01\x00" + bytes([len(head), 0]) + head.encode() + data)

    def movielens(self):
        os.makedirs(self.path("ml-1m"), exist_ok=True)
        lines = ["%d::%d::5::%d" % (user, movie, movie) for user in range(1, 131) for movie in (user, user % 130 + 1)]
        self.write("ml-1m/ratings.dat", ("\n".join(lines) + "\n").encode())

    def others(self):
        """Text, parallel text and clicks; of one folder each, as their archives unpack."""
        r = random.Random(2)
        lines = ["".join("w%d " % r.randrange(20) for _ in range(4)) for _ in range(60)]
        clicks = ["\t".join([str(i % 2)] + [str(r.randrange(9)) for _ in range(13)] + ["%x" % r.randrange(99) for _ in range(26)])
                  for i in range(40)]
        for name in ("iwslt15/train.en", "iwslt15/train.vi", "iwslt15/tst2013.en", "iwslt15/tst2013.vi",
                     "wikitext-103/wiki.train.tokens", "wikitext-103/wiki.valid.tokens"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, ("\n".join(lines) + "\n").encode())
        for name in ("criteo-kaggle/train.txt", "criteo-terabyte/train.txt", "criteo-terabyte/test.txt"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, ("\n".join(clicks) + "\n").encode())

    # ---- the files ----

    def configs(self, paper):
        """{name: text} of the files that are written for a paper; FOLDER/made has them."""
        made = pathlib.Path(self.path("made"), paper)
        self.ok("experiment", "--paper", paper, "--configs", str(made.parent))
        return {path.stem: path.read_text() for path in sorted(made.rglob("*.ini"))}

    @staticmethod
    def keys(text):
        """{(section, key): value}; one that stands twice is an error."""
        parser = configparser.ConfigParser(interpolation=None, delimiters="=", comment_prefixes=";")
        parser.read_string(text)
        return {(section, key): value for section in parser.sections() for key, value in parser[section].items()}

    def test_files_are_those_of_the_tables(self):
        examples = {path.stem: path.read_text() for path in PAPERS.rglob("*.ini")}
        self.assertEqual(len(examples), len(NAMES))
        for paper, (count, digest) in WRITTEN.items():
            made = self.configs(paper)
            lines = "".join(name + "\n" + text[text.index("\n["):] for name, text in made.items())
            found = (len(made), hashlib.sha256(lines.encode()).hexdigest())
            self.assertEqual(found, (count, digest), "%s: the keys are others; if that is meant, write it into WRITTEN" % paper)
            self.assertEqual(len([name for name in made if made[name] == examples.get(name)]), 1,
                             "the example of %s; `halfulp experiment --paper %s --configs FOLDER` writes it" % (paper, paper))
            cells = {run["name"]: {**run, "table_differs": table["differs"]}
                     for table in json.loads(self.ok("experiment", "--paper", paper, "--json")) for run in table["runs"]}
            self.assertEqual(sorted(made), sorted(cells))
            for name, text in made.items():
                self.assertEqual(self.keys(text)["run", "name"], name)
                head = " ".join(line[2:] for line in text.split("\n") if line.startswith("; "))
                self.assertIn("Full size: %d steps of %s samples. " % (cells[name]["full_steps"], self.keys(text)["run", "batch"]), head)
                self.assertIn("column %s: the paper has %s" % (cells[name]["column"], cells[name]["paper_figure"])
                              if cells[name]["paper_figure"] else ": no figure of the paper", head)
                for differs in (cells[name]["row_differs"], cells[name]["table_differs"]):
                    if differs:
                        self.assertNotIn("the paper has", head)
                        self.assertIn(differs, head)
                        self.assertIn("Not the paper's run: ", head)
                self.assertRegex(head, "estimated from a (measured|counted, not measured,) step")
                self.assertLessEqual(max(map(len, text.split("\n"))), 120, name)

    def some_files(self):
        """Each network with each precision of its table would take long: each row, and each column, once, with a network
        whose steps are short if there is one; of these one of six."""
        large = ("resnet18", "resnet34", "resnet50", "mobilenet2", "bert")
        for paper in NAMES:
            self.configs(paper)
        made = pathlib.Path(self.path("made"))
        files = sorted(made.rglob("*.ini"), key=lambda path: (any(name in path.stem for name in large), path))
        if EVERY:
            return files
        seen, some = set(), []
        for path in files:
            text = path.read_text()
            keys = text[text.index("\n[run]"):]
            net = [line for line in keys.split("\n") if line.startswith("net = ")][0]
            for part in (net, keys.replace(net, "").replace(path.stem, "")):
                if part not in seen:
                    some.append(path)
                seen.add(part)
        return sorted(set(some))[::6]

    def test_files_run(self):
        self.cifar()
        self.movielens()
        self.others()
        files = self.some_files()
        for path in files:
            # Tables of 645277 rows a category have some 6 GiB, and BERT-Base 2 GiB, where all runs are made.
            small = ["data.vocabulary=50"] if "dlrm" in path.stem else []
            if path.stem.startswith("assignments"):
                small = ["assignment.ratio_max=1"]  # the shares are those of batches of 128
            if "transformer" in path.stem:
                small = ["data.translate=no"]
            if "bert" in path.stem and not EVERY:
                small = ["model.net=bert(layers=1,units=768,heads=12,hidden=3072,dropout=0.1)"]
            if "table2-resnet18" in path.stem and not EVERY:  # table 1 has the network as it is
                small = ["model.net=resnet4(stages=2/2/2/2,width=0.25)"]
            text = self.ok("train", str(path), "--data", self.folder.name, "--set", "run.steps=1", "--set", "run.batch=2", "-o",
                           self.path("run"), "--overwrite", "--evaluate", "0", "--json", *(x for one in small for x in ("--set", one)))
            self.assertEqual(json.loads(text)["steps"], 1, path)
            # What was run is what the file says, but for what was set.
            changed = {"run.steps", "run.batch", *(x.split("=")[0] for x in small)}
            wanted, run = self.keys(path.read_text()), self.keys(self.read("run/config.ini").decode())
            for (section, key), value in wanted.items():
                if section + "." + key not in changed:
                    self.assertEqual(run.get((section, key)), value, (path, section, key))
        self.assertGreater(len(files), 150 if EVERY else 7)

    # ---- lists ----

    def test_lists(self):
        cells = 0
        for paper in NAMES:
            tables = json.loads(self.ok("experiment", "--paper", paper, "--json"))
            self.assertIsNone(test_json.wrong(tables, test_json.SCHEMA["experiment --paper"]))
            text = self.ok("experiment", "--paper", paper)
            for table in tables:
                self.assertIn(table["title"], text)
                for out in table["left_out"]:
                    self.assertIn(out["why"], text)
                for run in table["runs"]:
                    if table["differs"] or run["row_differs"]:
                        self.assertIsNone(run["paper_figure"], run["name"])
                    for words in (run["paper_figure"], table["differs"], run["row_differs"]):
                        self.assertIn(words or "", text)
                    self.assertGreater(run["full_seconds"], 0, run["name"])
                    cells += 1
        self.assertEqual(cells, sum(count for count, _ in WRITTEN.values()))
        made = {path.stem for path in pathlib.Path(self.path("made/assignments")).rglob("*.ini")} if self.configs("assignments") else ()
        of = {"squeezenet": "0.1", "shufflenet2-0.1": "0.1", "resnet18-0.1": "0.5"}  # tests/train/precision/test_published.c
        for row in ("%s%s-cifar%d" % (net, width, classes) for net in ("squeezenet", "shufflenet2", "mobilenet2", "resnet18")
                    for width, classes in (("", 10), ("", 100), ("-0.5", 100), ("-0.25", 100), ("-0.1", 100))):
            missing = of.get(row.rpartition("-")[0], of.get(row.partition("-")[0]))
            for ratio in ("0", *("0.%d" % i for i in range(1, 10)), "1"):
                self.assertEqual("assignments-figure4-%s-ours-%s" % (row, ratio) in made, ratio != missing, row)
        one = json.loads(self.ok("experiment", "--paper", "s2fp8", "--table", "1", "--row", "resnet34", "--json"))
        self.assertEqual([r["paper_figure"] for r in one[0]["runs"]], ["92.5", "92.0", "13.5", "92.0"])
        self.assertEqual([r["full_steps"] for r in one[0]["runs"]], [97675] * 4)
        one = json.loads(self.ok("experiment", "--paper", "bfloat16", "--table", "1", "--row", "resnet18", "--json"))
        self.assertEqual([r["paper_figure"] for r in one[0]["runs"]], ["95.45 +- 0.07", "94.23 +- 0.12", "95.40 +- 0.05"])

    def test_changed_runs(self):
        """A run with other keys has no figure of the paper beside it, though its row has."""
        self.cifar()
        args = ["--row", "resnet18", "--budget", "5m", "--data", self.folder.name, "--set", "model.net=linear", "--set", "run.batch=4",
                "--set", "run.epochs=1"]
        made = json.loads(self.table(*args, "--json", paper="bfloat16"))
        self.assertEqual([(run["paper_figure"], run["row_differs"]) for run in made["runs"]], [(None, None)] * 3)
        self.assertNotIn("95.4", self.table(*args, paper="bfloat16") + self.read("t/table.csv").decode())

    def test_parameters(self):
        """Of the rows that bear a figure: the number that public code of the same network has."""
        self.configs("bfloat16")
        self.cifar()
        for table in json.loads(self.ok("experiment", "--paper", "bfloat16", "--json")):
            for run in table["runs"]:
                if run["paper_figure"]:
                    self.assertEqual(run["row"], "ResNet-18")
                    path = self.path("made/bfloat16/%s.ini" % run["name"])
                    rows = list(csv.DictReader(self.ok("train", path, "--tensors", "--data", self.folder.name, "--set",
                                                       "run.batch=2").splitlines()))
                    self.assertEqual(sum(int(r["rows"]) * int(r["cols"]) for r in rows if r["kind"] == "parameter"), 11173962)

    def test_refused(self):
        self.bad("experiment", "--paper", "s2fp", says="papers are fp16, openseq2seq, s2fp8, bfloat16, assignments")
        self.bad("experiment", "--paper", "s2fp8", "--table", "5", says="it has 1, 2, 3, 4, A2")
        self.bad("experiment", "--paper", "s2fp8", "--table", "1", "--row", "resnet", says="it has resnet20, resnet34, resnet50")
        self.bad("experiment", "--paper", "s2fp8", "--budget", "1m", says="--budget requires --table")
        self.bad("experiment", "--paper", "fp16", "--table", "2", "--budget", "1m", says="there are no losses of boxes")
        self.bad("experiment", "--table", "1", says="require --paper")
        for more in (["--set", "run.steps=2"], ["-j", "2"], ["--data", "."], ["-o", self.path("o")], ["--json"]):
            self.bad("experiment", "--paper", "s2fp8", "--configs", self.path("made"), *more, says="--configs writes the tables' own keys")
        self.assertEqual(self.left(), [])
        self.bad("experiment", "s2fp8", "--paper", "s2fp8", says="--paper stands without NAME")
        self.bad("experiment", "--paper", "s2fp8", "--seeds", "2", says="--seeds of a table requires --budget")
        self.bad("experiment", "--paper", "s2fp8", "--table", "1", "--budget", "9s", "--seeds", "2", "--set", "run.seed=1", "--stand-in",
                 says="--seeds sets run.seed")
        self.bad("experiment", "--paper", "s2fp8", "--table", "1", "--stand-in", says="require --budget")
        for time_text in ("", "5", "m", "-1m", "0s", "1y", "1mm", "nanm", "infd"):
            self.bad("experiment", "--paper", "s2fp8", "--table", "1", "--budget", time_text, says="--budget: '%s'" % time_text)
        self.assertEqual(self.left(), [])

    def test_missing_data(self):
        self.cifar()
        os.remove(self.path("cifar-10-batches-bin/data_batch_4.bin"))
        self.bad("experiment", "--paper", "s2fp8", "--table", "1", "--budget", "5s", "--data", self.folder.name, "-o", self.path("t"),
                 says=("cifar-10-batches-bin/data_batch_4.bin", "is missing", "https://www.cs.toronto.edu/~kriz/cifar.html",
                       "--data", "--stand-in"))
        self.bad("experiment", "--paper", "s2fp8", "--table", "4", "--budget", "5s", "--data", self.folder.name, "-o", self.path("t"),
                 says=("ml-1m/ratings.dat", "https://grouplens.org/"))
        self.assertFalse(os.path.exists(self.path("t")))

    # ---- budgets ----

    def table(self, *more, code=0, paper="s2fp8", table="1"):
        return self.ok("experiment", "--paper", paper, "--table", table, *more, "-o", self.path("t"), code=code)

    def test_whole(self):
        """What fits is run whole; each result is that of `halfulp train` with the file that stands beside it."""
        args = ["--row", "resnet20", "--budget", "5m", "--stand-in", *SMALL, "--set", "run.epochs=3"]
        made = json.loads(self.table(*args, "--json"))
        self.assertIsNone(test_json.wrong(made, test_json.SCHEMA["experiment --budget"]))
        self.assertEqual([r["paper_figure"] for r in made["runs"]], [None] * 4)
        self.assertTrue(made["stand_in"])
        for run in made["runs"]:
            self.assertEqual((run["steps"], run["full_steps"], run["width"], run["measure"]), (12, 12, 1, "accuracy, %"))
            again = json.loads(self.ok("train", self.path("t/%s.ini" % run["name"]), "--data", support.DATA, "-o", self.path("run"),
                                       "--overwrite", "--json"))
            self.assertEqual((again["digest"], again["steps"]), (run["digest"], 12))
            self.assertEqual(100 * again["test"]["accuracy"], run["figure"])
        with open(self.path("t/table.csv"), encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([r["digest"] for r in rows], [r["digest"] for r in made["runs"]])
        text = self.table(*args)
        self.assertIn("THE DATA ARE NOT THE PAPER'S: 2000 generated gratings", text)
        self.assertIn("all steps", text)
        self.assertNotIn("Cut to", text)

    def test_seeds_and_best_epochs(self):
        """Means and deviations of the runs of `halfulp train` with these seeds; the best epoch of each is among its evaluations."""
        args = ["--row", "squeezenet-cifar10", "--budget", "5m", "--stand-in", *SMALL, "--set", "run.epochs=3", "--seeds", "3"]
        made = json.loads(self.table(*args, "--json", paper="assignments", table="figure6"))
        self.assertIsNone(test_json.wrong(made, test_json.SCHEMA["experiment --budget"]))
        self.assertEqual(len(made["runs"]), 9)
        for run in made["runs"][:2]:
            last, best = [], []
            for seed in range(3):
                name = "%s-seed%d" % (run["name"], seed)
                again = json.loads(self.ok("train", self.path("t/%s.ini" % name), "--data", support.DATA, "-o", self.path("run"),
                                           "--overwrite", "--json"))
                one = json.loads(self.read("t/%s.json" % name))
                self.assertEqual((again["digest"], 100 * again["test"]["accuracy"]), (one["digest"], one["figure"]))
                seen = self.read("run/evaluations.csv").decode().splitlines()
                column = seen[0].split(",").index("test_accuracy")
                self.assertEqual(max(100 * float(line.split(",")[column]) for line in seen[1:]), one["best"])
                last.append(one["figure"])
                best.append(one["best"])
            self.assertEqual((run["seeds"], len(set(last)) > 1), (3, True))
            self.assertAlmostEqual(run["figure"], statistics.mean(last), 9)
            self.assertAlmostEqual(run["deviation"], statistics.stdev(last), 9)
            self.assertAlmostEqual(run["best"], statistics.mean(best), 9)
        text = self.table(*args, paper="assignments", table="figure6")
        self.assertRegex(text, r"[0-9.]+ \+- [0-9.]+, best [0-9.]+ \(accuracy, %\)")
        one = json.loads(self.ok("experiment", "--paper", "s2fp8", "--table", "1", "--row", "resnet20", "--budget", "5m", "--stand-in",
                                 *SMALL, "--set", "run.epochs=1", "-o", self.path("u"), "--json"))["runs"][0]
        self.assertEqual((one["seeds"], one["deviation"], one["best"]), (1, None, None))

    def test_pipes_for_files(self):
        """Which anyone who may write in the folder can put there: none is waited for."""
        args = ["--row", "resnet20", "--budget", "5m", "--stand-in", *SMALL, "--set", "run.epochs=1"]
        self.table(*args)
        for name in os.listdir(self.path("t")):
            whole = self.read("t/" + name)
            os.unlink(self.path("t/" + name))
            os.mkfifo(self.path("t/" + name))
            more = ["--overwrite"] if name.endswith(".ini") else []  # which is written with its result
            self.bad("experiment", "--paper", "s2fp8", "--table", "1", *args, *more, "-o", self.path("t"),
                     says=name + ": is no ordinary file")
            os.unlink(self.path("t/" + name))
            self.write("t/" + name, whole)
        self.table(*args)

    def test_cut(self):
        """Half of the time is spent, more or less, on fewer epochs, in all runs of a row alike; what is cut is said."""
        args = ["--row", "resnet20", "--budget", "4s", "--stand-in", *SMALL, "--set", "run.epochs=1000000"]
        made = json.loads(self.table(*args, "--json"))
        steps = {r["steps"] for r in made["runs"]}
        self.assertEqual(len(steps), 1)
        self.assertLess(0, min(steps))
        self.assertLess(max(steps), 4000000)
        for run in made["runs"]:
            self.assertEqual(run["full_steps"], 4000000)
            self.assertEqual(run["width"], 0.25)
            self.assertGreater(run["full_seconds"], 4)
            self.assertIsNotNone(run["figure"])
        text = self.table(*args)
        self.assertIn("Cut to 4 s, in this order: epochs to a tenth, width to a half and a quarter, epochs to one, steps, rows", text)
        self.assertRegex(text, r"width x 0.25,  \d+ of 1000000 epochs")
        self.assertIn(b"schedule = drop(0.4/0.6/0.8,0.1)", self.read("t/s2fp8-table1-resnet20-fp32.ini"))  # at the same shares

    def test_rows_are_left_out(self):
        """If nothing fits, the exit code is 1, and the budget that is named suffices, in the same folder."""
        args = ["--stand-in", "--row", "resnet50", "--set", "run.batch=64", "--set", "model.net=resnet(blocks=1,width=0.25)"]
        made = json.loads(self.table("--budget", "0.1s", *args, "--json", code=1))
        for run in made["runs"]:
            self.assertRegex(run["left_out"], r"^20 steps of each run take .*, and its share of the budget is ")
            self.assertIsNone(run["figure"])
            self.assertIsNone(run["steps"])
            self.assertGreater(run["full_seconds"], 1)
        text = self.table("--budget", "0.1s", *args, code=1)
        self.assertRegex(text, r"Nothing was run: with --budget \d+s something would be\.")
        enough = json.loads(self.table("--budget", "%ds" % made["smallest_budget"], *args, "--json"))
        self.assertIsNone(enough["smallest_budget"])
        self.assertTrue(all(run["steps"] >= 20 and run["figure"] is not None for run in enough["runs"]))

    def test_processor_time(self):
        """The plan is made of the processors' time and of counted steps, whatever else the machine does: each look at a clock
        that was planted finds 10 ms more."""
        args = ["experiment", "--paper", "s2fp8", "--table", "1", "--row", "resnet20", "--stand-in", *SMALL]
        for threads, budget, epochs in ("1", "12h", 10), ("2", "12h", 10), ("1", "20s", 10000):
            run = subprocess.run([support.HALFULP, *args, "--budget", budget, "-j", threads, "--set", "run.epochs=%d" % epochs, "--json",
                                  "-o", self.path(threads + budget)], capture_output=True, env=support.fault(FAULT_PROCESSOR="10"),
                                 check=True)
            made = json.loads(run.stdout)
            step = 0.010 * 8 / min(int(threads), os.cpu_count())  # of batches of 2 in place of 16
            seen = math.ceil(500 / 16) * 0.4
            for run in made["runs"]:
                self.assertAlmostEqual(run["full_seconds"], 0.010 + (run["full_steps"] + seen) * step, 9)
                if budget == "20s":
                    self.assertEqual(run["steps"] % 4, 0)
                    self.assertLess(run["steps"] * step, 20 / 4)

    def test_a_quarter_for_timing(self):
        """On a clock that is a thousand times as fast, the first timing takes more than a quarter of a second: no wider network
        is timed, and no other run; they take four times the time for each width, and what the first run takes."""
        args = ["experiment", "--paper", "s2fp8", "--table", "1", "--row", "resnet20", "--stand-in", *SMALL, "--set", "run.epochs=10"]
        run = subprocess.run([support.HALFULP, *args, "--budget", "1s", "--json", "-o", self.path("t")], capture_output=True,
                             env=support.fault(FAULT_PROCESSOR="10", FAULT_CLOCK="1000"), check=False)
        self.assertEqual(run.returncode, 1)
        for one in json.loads(run.stdout)["runs"]:
            self.assertAlmostEqual(one["full_seconds"], 0.010 + (one["full_steps"] + math.ceil(500 / 16) * 0.4) * 16 * 0.010 * 8, 8)

    def test_the_rest_of_a_budget(self):
        """All rows are alike here, so that each has the same share; a plan's times stay within the budget."""
        made = json.loads(self.table("--budget", "12s", "--stand-in", *SMALL, "--set", "run.epochs=1000000", "--json"))
        self.assertEqual(len({r["row"] for r in made["runs"] if r["figure"] is not None}), 3)
        plan = json.loads(self.read("t/plan.json"))
        planned = sum(plan[row + ".seconds"] for row in ("resnet20", "resnet34", "resnet50"))
        self.assertGreater(planned, 3)
        self.assertLess(planned, 12)

    def test_papers_data(self):
        """Data in the paper's form: no word of other data."""
        self.cifar()
        text = self.table("--row", "resnet20", "--budget", "5m", "--data", self.folder.name, "--set", "model.net=linear", "--set",
                          "run.batch=4", "--set", "run.epochs=2")
        self.assertNotIn("THE DATA ARE", text)
        self.assertEqual(text.count("all steps"), 4)
        self.imagenet()
        for paper, table in (("fp16", "1"), ("s2fp8", "2")):
            text = self.ok("experiment", "--paper", paper, "--table", table, "--budget", "5m", "--data", self.folder.name, "--set",
                           "model.net=tf_imagenet(stages=1)", "--set", "data.size=8", "--set", "run.batch=4", "--set", "run.epochs=1",
                           "-o", self.path("u" + paper))
            self.assertNotIn("THE DATA ARE", text)
            self.assertIn("NOT THE PAPER'S, which therefore has no figures here: ", text)
            self.assertIn("Boxes of images are cut out of the middle 256 x 256", " ".join(text.split()))

    def test_hit_rate(self):
        self.movielens()
        made = json.loads(self.table("--budget", "12h", "--data", self.folder.name, "--set", "run.epochs=2", "--set", "run.batch=64",
                                     "--json", table="4"))
        self.assertEqual({r["measure"] for r in made["runs"]}, {"HR@10"})
        for run in made["runs"]:
            self.assertLessEqual(0, run["figure"])
            self.assertLessEqual(run["figure"], 1)
        made = json.loads(self.ok("experiment", "--paper", "s2fp8", "--table", "4", "--budget", "12h", "--stand-in", "--set",
                                  "run.epochs=1", "--set", "data.count=2000", "--json", "-o", self.path("u")))
        self.assertEqual({r["measure"] for r in made["runs"]}, {"AUC"})  # the paper has no AUC, and the data no hit rate

    def test_other_figures(self):
        """BLEU, AUC in per cent and perplexity, of data in the papers' forms and of what stands in for them."""
        self.others()
        for paper, table, row, net, measure in (
                ("s2fp8", "3", "transformer", "seq2seq(layers=1,units=8,heads=2,hidden=8)", "BLEU"),
                ("bfloat16", "1", "dlrm-kaggle", "dlrm(units=2,bottom=4,top=4)", "AUC, %"),
                ("bfloat16", "2", "bert-wiki103", "bert(layers=1,units=8,heads=2,hidden=8)", "perplexity")):
            args = ["--row", row, "--budget", "12h", "--set", "model.net=" + net, "--set", "run.batch=16", "--set", "run.steps=1",
                    "--json", "--overwrite"]
            # With the words of the whole text, translations of the test lines would take nearly all of the time.
            for data in (["--data", self.folder.name, "--set", "data.window=8", "--set", "data.vocabulary=50"],
                         ["--stand-in", "--data", support.DATA, "--set", "data.count=200", "--set", "data.test=40", "--set",
                          "data.vocabulary=50"]):
                made = json.loads(self.table(*args, *data, paper=paper, table=table))
                self.assertIsNone(test_json.wrong(made, test_json.SCHEMA["experiment --budget"]))
                self.assertEqual({run["measure"] for run in made["runs"]}, {measure}, (row, data))
                run = made["runs"][0]
                again = json.loads(self.ok("train", self.path("t/%s.ini" % run["name"]), "--data",
                                           support.DATA if "--stand-in" in data else self.folder.name, "-o", self.path("run"),
                                           "--overwrite", "--json"))
                self.assertEqual(again["digest"], run["digest"])
                seen = again["test"]
                figure = {"BLEU": seen.get("bleu"), "AUC, %": 100 * (seen.get("auc") or 0),
                          "perplexity": seen.get("perplexity")}[measure]
                self.assertEqual(figure, run["figure"])
        text = self.ok("experiment", "--paper", "bfloat16", "--table", "2")
        for words in ("DLRM on Terabyte", "95.36 +- 0.07 %", "DLRM on Kaggle IS NOT THE PAPER'S: ", "The loader holds all lines in memory"):
            self.assertIn(words, text)
        self.assertNotIn("80.32", text)

    # ---- going on ----

    def wait_for(self, path, process):
        self.wait_until(lambda: os.path.exists(path), "it writes " + path, process)

    def test_interrupt(self):
        """A run that was finished is kept, and the plan: the same command ends with the table of one that was not stopped."""
        args = ["--row", "resnet20", "--budget", "1d", "--stand-in", *SMALL, "--set", "run.epochs=2000"]
        command = [support.HALFULP, "experiment", "--paper", "s2fp8", "--table", "1", *args, "-o", self.path("t")]
        first, last = (self.path("t/s2fp8-table1-resnet20-%s.json" % name) for name in ("fp32", "fp8-ls100"))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for(first, process)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate()
        self.assertEqual((process.returncode, out), (-signal.SIGINT, b""))
        self.assertRegex(error.decode(), r"stopped by Interrupt with [123] of 4 runs done; the same command continues")
        self.assertFalse(os.path.exists(last))
        self.assertFalse(os.path.exists(self.path("t/table.csv")))
        kept, plan = self.read(first), self.read("t/plan.json")
        self.assertNotIn(b"another", error)
        made = json.loads(self.table(*args, "--json"))
        self.assertEqual((self.read(first), self.read("t/plan.json")), (kept, plan))
        whole = json.loads(self.ok("experiment", "--paper", "s2fp8", "--table", "1", *args, "-o", self.path("u"), "--json"))
        self.assertEqual([r["digest"] for r in made["runs"]], [r["digest"] for r in whole["runs"]])
        self.assertEqual(json.loads(kept)["digest"], made["runs"][0]["digest"])

    def test_another_table_in_the_folder(self):
        args = ["--row", "resnet20", "--stand-in", *SMALL, "--set", "run.epochs=1"]
        self.table("--budget", "5m", *args)
        plan = self.read("t/plan.json")
        for other in (["--budget", "6m", *args], ["--budget", "5m", *args, "--set", "run.seed=1"]):
            self.bad("experiment", "--paper", "s2fp8", "--table", "1", *other, "-o", self.path("t"),
                     says=("plan.json", "is of another table or budget", "--overwrite"))
        self.assertEqual(self.read("t/plan.json"), plan)
        self.table("--budget", "6m", *args, "--overwrite")
        self.assertNotEqual(self.read("t/plan.json"), plan)
        # A plan that is damaged is none, and results that may be of another one are made again.
        first = "t/s2fp8-table1-resnet20-fp32.json"
        good = json.loads(self.read(first))
        self.write(first, json.dumps(dict(good, digest="1" * 16), indent=2).encode())
        self.write("t/plan.json", plan[:200])
        self.table("--budget", "6m", *args)
        self.assertEqual(json.loads(self.read(first))["digest"], good["digest"])

    def test_progress(self):
        for epochs in (2500, 10000, 40000, 160000):  # the bar is drawn after half a second
            shown, _ = support.on_terminal([support.HALFULP, "experiment", "--paper", "s2fp8", "--table", "1", "--row", "resnet20", "--budget",
                                            "1d", "--stand-in", *SMALL, "--set", "run.epochs=%d" % epochs, "-o", self.path("t%d" % epochs)])
            if shown:
                break
        self.assertIn(b"ResNet-20, ", shown)
        self.assertIn(b"step ", shown)


if __name__ == "__main__":
    support.main()
