# SPDX-License-Identifier: MIT
"""halfulp train on words and on ratings: runs on small files in the form of the usual ones, their figures computed again,
and what is refused."""

import hashlib
import json
import math
import os
import random
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from train_case import TrainCase  # noqa: E402

WORDS = (
    "[data]\nset = words\npath = train.tokens\nvalid_file = valid.tokens\ntest_file = test.tokens\nwindow = 5\n"
    "[run]\nbatch = 4\nsteps = 12\n[optimizer]\nkind = adamw\nrate = 0.01\n[model]\nnet = "
)
MODELS = ["lstm(units=8)", "transformer(units=8,hidden=16)"]
KINDS = ["the", "a", "of", "<unk>", "na\u00efve", "@-@", "cat", "dog", "=", "\u00e9t\u00e9"]


def sentences(seed, count):
    """Lines as WikiText has them: blanks at both ends, some of them empty."""
    r = random.Random(seed)
    lines = [" ".join(r.choices(KINDS, k=r.randrange(1, 9))) for _ in range(count)]
    return "".join(" %s \n" % line if i % 4 else " \n" for i, line in enumerate(lines)).encode()


class Words(TrainCase):
    def setUp(self):
        super().setUp()
        self.write("train.tokens", sentences(1, 80))
        self.write("valid.tokens", sentences(2, 30))
        self.write("test.tokens", sentences(3, 40))

    def refused(self, says, *more, text=WORDS + MODELS[0]):
        before = self.left()
        self.bad("train", self.config(text), *more, says=says)
        self.assertEqual(self.left(), sorted({*before, "x.ini"}))

    def test_models(self):
        """Perplexity is e to the loss in every place; a longer run from a checkpoint and more threads change no bit."""
        for number, model in enumerate(MODELS):
            name = "m%d.ini" % number
            text = self.train(WORDS + model, name=name)
            got = json.loads(self.train(WORDS + model, "--json", "--overwrite", name=name))
            seen = self.rows("m%d.run/evaluations.csv" % number)
            self.assertEqual(list(seen[-1])[-2:], ["training_perplexity", "test_perplexity"])
            for row in seen:
                for part in ("training", "test"):
                    want = math.exp(row[part + "_loss"])
                    self.assertLess(abs(row[part + "_perplexity"] - want), 4e-16 * want)
            for part in ("training", "test"):
                self.assertEqual(got[part]["perplexity"], seen[-1][part + "_perplexity"])
                self.assertIn("perplexity %.4g" % seen[-1][part + "_perplexity"], self.cut(text, part))
            self.assertLess(seen[-1]["test_perplexity"], 12)  # uniform guesses have that of the 11 words
            self.assertIn("perplexity, test", self.read("m%d.run/report.html" % number).decode())
            self.check_same(WORDS + model, got["digest"], "s%d" % number)

    def cut(self, text, part):
        """The line of a part, its perplexity to four digits."""
        line = next(line for line in text.splitlines() if line.startswith(part + " "))
        head, number = line.split("perplexity ")
        return head + "perplexity %.4g" % float(number.split(",")[0])

    def check_same(self, text, digest, name):
        self.assertEqual(self.digest(text, "-j", "2", name="j.ini"), digest)
        self.train(text, "--set", "run.steps=5", name=name + ".ini")
        got = json.loads(self.train(text, "--json", "--resume", name=name + ".ini"))
        self.assertEqual(got["digest"], digest)
        whole, resumed = self.files("j.run"), self.files(name + ".run")
        self.assertEqual({n for n in whole if whole[n] != resumed[n]}, {"config.ini", "report.html"})

    def test_no_perplexity(self):
        """Of other runs there is none, and their files are as they were."""
        got = json.loads(self.train("[data]\nset = gratings\ncount = 64\ntest = 64\n[run]\nsteps = 1\n", "--json"))
        self.assertEqual(sorted(got["test"]), ["accuracy", "loss", "r2"])
        self.assertEqual(len(self.rows("x.run/evaluations.csv")[0]), 8)

    def test_parts(self):
        """Which file is seen changes no weight; without both the last tenth is; the vocabulary changes the weights."""
        text = WORDS + MODELS[0]
        both = [json.loads(self.train(text, "--json", "--set", "data.evaluate=" + part, name=part + ".ini"))
                for part in ("test", "valid")]
        self.assertEqual(both[0]["digest"], both[1]["digest"])
        self.assertEqual(both[0]["training"], both[1]["training"])
        self.assertNotEqual(both[0]["test"]["loss"], both[1]["test"]["loss"])
        alone = ["--set", "data.valid_file=", "--set", "data.test_file="]
        got = {self.digest(text), self.digest(text, *alone)}
        for more in ("data.vocabulary=5", "data.numbering=count"):
            got.add(self.digest(text, "--set", more))
        self.assertEqual(len(got), 4)

    def test_refused(self):
        self.refused(["data.path", "empty"], "--set", "data.path=")
        self.refused(["data.evaluate: test", "data.test_file"], "--set", "data.test_file=")
        self.refused(["data.evaluate: valid", "data.valid_file"], "--set", "data.valid_file=", "--set",
                     "data.evaluate=valid")
        for most in ("1", "2"):
            self.refused(["data.vocabulary: " + most], "--set", "data.vocabulary=" + most)
        self.refused(["data.set:", "words for testing", "batch of windows"], "--set", "run.batch=64")
        self.refused(["train.tokens: ", "words for training", "1001"], "--set", "data.window=1000")
        self.refused(["data.numbering", "first, count"], "--set", "data.numbering=size")
        self.refused(["nowhere/none", "No such file"], "--set", "data.test_file=nowhere/none")
        for data, says in (
            (b"", "size: the file is empty"),
            (b"a b\nc\0d\n", "word of line 2: has a NUL byte"),
            (b"a\n" + b"x" * 10**6, "word of line 2: 1000000 bytes, more than 1024"),
            (b"\x1f\x8b\x08\0\0", "content: compressed by gzip"),
        ):
            for part in ("train", "test"):
                before = self.read(part + ".tokens")
                self.write(part + ".tokens", data)
                self.refused(["/%s.tokens: %s" % (part, says)])
                self.write(part + ".tokens", before)

    def test_net(self):
        """A network that is none of texts is refused."""
        self.refused(["model.net"], text=WORDS + "mlp")

    def test_checkpoints_of_before(self):
        """A checkpoint without the keys that came later is one of a run with their defaults."""
        later = ["data.vocabulary", "data.numbering", "data.negatives", "data.candidates", "run.accumulate"]
        text = "[data]\nset = gratings\ncount = 64\ntest = 64\n[run]\nsteps = 2\n"
        self.train(text)
        path = "x.run/checkpoint.safetensors"
        tensors, metadata, order = support.parse_safetensors(self.read(path))
        listed, state = [(n, *tensors[n]) for n in order], json.loads(metadata["state"])
        self.assertLess(set(later), set(state))
        more = ["--resume", "--json", "--set", "run.steps=4"]
        for gone, says in (([*later, "optimizer.rate"], "optimizer.rate"), (later, None)):
            left = {key: value for key, value in state.items() if key not in gone}
            self.write(path, support.safetensors(listed, dict(metadata, state=json.dumps(left))))
            if says:
                self.bad("train", self.path("x.ini"), "--output", self.path("x.run"), *more, says=says)
        other = [*more, "--set", "data.negatives=3", "--output", self.path("x.run")]
        self.bad("train", self.path("x.ini"), *other, says=["data.negatives", "another configuration"])
        got = json.loads(self.train(text, *more))
        self.assertEqual(got["digest"], self.digest(text, "--set", "run.steps=4", name="y.ini"))


RATINGS = (
    "[data]\nset = movielens\npath = ratings.dat\ncandidates = 20\nnegatives = 2\n[run]\nbatch = 64\nepochs = 20\n"
    "[optimizer]\nkind = adamw\nrate = 0.02\n[model]\nnet = ncf(units=4,deviation=0.1)\n"
)


def ratings(seed):
    """24 users of two tastes among 60 movies, whose ids have gaps."""
    r = random.Random(seed)
    lines = []
    for user in range(1, 25):
        for movie in r.sample(range(1, 61), 22):
            if (user + movie) % 2 or r.random() < 0.1:
                lines.append("%d::%d::%d::%d\n" % (10 * user, 7 * movie, r.randrange(1, 6), r.randrange(10**9)))
    return "".join(lines).encode()


class Ratings(TrainCase):
    FIGURES = ["training_auc", "test_auc", "test_hit_rate_10", "test_ndcg_10"]

    def setUp(self):
        super().setUp()
        self.write("ratings.dat", ratings(1))

    def test_run(self):
        text = self.train(RATINGS, name="a.ini")
        got = json.loads(self.train(RATINGS, "--json", "--overwrite", name="a.ini"))
        seen = self.rows("a.run/evaluations.csv")
        self.assertEqual((len(seen), list(seen[0])[8:]), (20, self.FIGURES))
        last = seen[-1]
        self.assertEqual([got["training"]["auc"]] + [got["test"][n] for n in ("auc", "hit_rate_10", "ndcg_10")],
                         [last[name] for name in self.FIGURES])
        self.assertEqual(sorted(got["training"]), ["accuracy", "auc", "loss", "r2"])
        # Users of two tastes are told apart: guesses have an AUC of 1/2 and a hit rate of 10 / 21.
        self.assertGreater(min(last["training_auc"], last["test_auc"], last["test_hit_rate_10"]), 0.6)
        self.assertLess(last["test_ndcg_10"], last["test_hit_rate_10"])
        self.assertRegex(text, r"(?m)^test  .*, AUC 0\.\d+, HR@10 [\d.]+, NDCG@10 [\d.]+$")
        self.assertRegex(text, r"(?m)^training  .*, AUC 0\.\d+$")
        self.assertIn("HR@10, test", self.read("a.run/report.html").decode())
        self.assertEqual(self.digest(RATINGS, "-j", "2", name="j.ini"), got["digest"])
        self.train(RATINGS, "--set", "run.epochs=9", name="s.ini")
        self.assertEqual(json.loads(self.train(RATINGS, "--json", "--resume", name="s.ini"))["digest"], got["digest"])
        whole, resumed = self.files("j.run"), self.files("s.run")
        self.assertEqual({n for n in whole if whole[n] != resumed[n]}, {"config.ini", "report.html"})

    def test_seeds(self):
        """run.seed draws negatives, data.seed candidates: the latter change no weight."""
        runs = [json.loads(self.train(RATINGS, "--json", "--set", more, name="x%d.ini" % i))
                for i, more in enumerate(("data.seed=0", "data.seed=1", "run.seed=1", "data.negatives=3"))]
        self.assertEqual(runs[0]["digest"], runs[1]["digest"])
        self.assertEqual(runs[0]["training"], runs[1]["training"])
        self.assertNotEqual(runs[0]["test"]["auc"], runs[1]["test"]["auc"])
        self.assertEqual(len({run["digest"] for run in runs}), 3)

    def test_labels_of_made_ratings(self):
        text = "[data]\nset = ratings\n[run]\nsteps = 2\n[model]\nnet = ncf\n"
        got = json.loads(self.train(text, "--json", "--set", "data.implicit=yes"))
        self.assertEqual(list(self.rows("x.run/evaluations.csv")[0])[8:], self.FIGURES[:2])
        self.assertEqual(sorted(got["test"]), ["accuracy", "auc", "loss", "r2"])
        got = json.loads(self.train(text, "--json", name="y.ini"))
        self.assertEqual(sorted(got["test"]), ["accuracy", "loss", "r2"])

    def test_refused(self):
        good = b"1::1::5::0\n1::2::5::1\n"
        for data, says in (
            (b"", "size: the file is empty"),
            (good + b"1::3::5\n", "line 3: fields between '::': 3, not 4"),
            (good + b"1::x::5::2\n", "MovieID of line 3: not a whole number"),
            (good + b"1::3::6::2\n", "Rating of line 3: not a whole number from 1 to 5"),
            (good + b"0::3::5::2\n", "UserID of line 3: 0, and ids begin with 1"),
            (good + b"1::\0::5::2\n", "MovieID of line 3: not a whole number"),
            (good + b"1::" + b"9" * 10**6 + b"::5::2\n", "MovieID of line 3: not a whole number"),
            (good + b"1::1::4::9\n", "MovieID of line 3: user 1 has rated movie 1 in line 1 too"),
            (b"1::1::5::0\n", "UserID: no user has two ratings"),
            (good, "candidates: user 1 has not rated 0 movies, fewer than 20"),
        ):
            self.write("ratings.dat", data)
            before = self.left()
            self.bad("train", self.config(RATINGS), says=says)
            self.assertEqual(self.left(), sorted({*before, "x.ini"}))
        os.unlink(self.path("ratings.dat"))
        self.bad("train", self.config(RATINGS), says=["ratings.dat", "No such file"])


PARALLEL = (
    "[data]\nset = parallel\npath = s.txt\ntarget = t.txt\nwindow = 6\n[run]\nbatch = 16\nsteps = 40\n"
    "[optimizer]\nkind = adamw\nrate = 0.01\n[model]\nnet = seq2seq(units=16,hidden=32)\n"
)


class Parallel(TrainCase):
    def setUp(self):
        super().setUp()
        r = random.Random(5)
        lines = [[r.choice("abcd") for _ in range(r.randrange(1, 6))] for _ in range(160)]
        self.write("s.txt", "".join(" ".join(line) + "\n" for line in lines).encode())
        self.write("t.txt", "".join(" ".join(line).upper() + "\n" for line in lines).encode())

    def test_run(self):
        """Perplexity and BLEU in every place; a longer run from a checkpoint and more threads change no bit."""
        text = self.train(PARALLEL, name="a.ini")
        got = json.loads(self.train(PARALLEL, "--json", "--overwrite", name="a.ini"))
        seen = self.rows("a.run/evaluations.csv")
        self.assertEqual(list(seen[0])[8:], ["training_perplexity", "test_perplexity", "test_bleu"])
        self.assertEqual(got["test"]["bleu"], seen[-1]["test_bleu"])
        self.assertEqual(sorted(got["training"]), ["accuracy", "loss", "perplexity", "r2"])
        self.assertGreater(got["test"]["bleu"], 5)  # single words are soon known
        self.assertRegex(text, r"(?m)^test  .*, perplexity [\d.]+, BLEU [\d.]+$")
        self.assertIn("BLEU, test", self.read("a.run/report.html").decode())
        self.assertEqual(self.digest(PARALLEL, "-j", "2", name="j.ini"), got["digest"])
        self.train(PARALLEL, "--set", "run.steps=17", name="r.ini")
        self.assertEqual(json.loads(self.train(PARALLEL, "--json", "--resume", name="r.ini"))["digest"], got["digest"])
        silent = json.loads(self.train(PARALLEL, "--json", "--set", "data.translate=no", name="n.ini"))
        self.assertEqual((silent["digest"], silent["test"]["bleu"]), (got["digest"], None))

    def test_left_out(self):
        text = PARALLEL.replace("window = 6", "window = 4\ntest_file = u\ntest_target = u")
        self.write("u", b"a b\n" * 20)
        long = sum(len(line.split()) > 3 for line in self.read("s.txt").split(b"\n"))
        self.assertGreater(long, 9)
        self.assertIn("left out     %d examples for training" % long, self.train(text))
        self.assertEqual(json.loads(self.train(text, "--json", "--overwrite"))["left_out"], long)

    def test_checksums(self):
        """Digests are those of hashlib; the wanted ones are accepted, others refused before anything is written."""
        files = {name: hashlib.sha256(self.read(name)).hexdigest() for name in ("s.txt", "t.txt")}
        got = json.loads(self.train(PARALLEL, "--json", "--set", "run.steps=1"))
        self.assertEqual([(os.path.basename(f["path"]), f["bytes"], f["sha256"]) for f in got["data"]],
                         [(name, len(self.read(name)), sum) for name, sum in files.items()])
        wanted = "[data]\nchecksum = sha256:%s,\n  sha256:%s\n" % tuple(files.values())
        text = self.train(PARALLEL.replace("[data]\n", wanted), "--set", "run.steps=1", name="y.ini")
        for name, sum in files.items():
            self.assertRegex(text, "(?m)^(data)?  +sha256:%s .*%s$" % (sum, name))
        before = self.left()
        for value, says in (
            ("-,sha256:" + files["s.txt"], ["t.txt: SHA-256 is " + files["t.txt"], "requires " + files["s.txt"]]),
            ("sha256:" + files["s.txt"], ["t.txt: data.checksum: 1 digests"]),
            ("-,-,-", ["data.checksum: 3 digests, and the run reads 2 files"]),
            ("sha256:12", ["data.checksum: 'sha256:12' is not sha256: and 64 hexadecimal digits"]),
        ):
            self.bad("train", self.config(PARALLEL, "z.ini"), "--set", "data.checksum=" + value, says=says)
            self.assertEqual(self.left(), sorted({*before, "z.ini"}))

    def test_refused(self):
        for data, says in (
            (b"A\n" * 159, "t.txt: lines: 159, and "),
            (b"", "t.txt: size: the file is empty"),
            (b"A\n" * 159 + b"x <eos>", "word of line 160: <eos>, which ends every line"),
            (b"A\n" * 150 + b"A B C D E F\n" * 10, "s.txt (from line 145 on): line 7: more than 5 words"),
            (b"A\0\n" * 160, "word of line 1: has a NUL byte"),
        ):
            self.write("t.txt", data)
            before = self.left()
            self.bad("train", self.config(PARALLEL), says=says)
            self.assertEqual(self.left(), sorted({*before, "x.ini"}))


class Clicks(TrainCase):
    MADE = "[data]\nset = clicks\ncount = 300\n[run]\nsteps = 8\n[model]\nnet = dlrm(units=4,bottom=8,top=8)\n"

    def test_made(self):
        got = json.loads(self.train(self.MADE, "--json", "--set", "precision.system=s2fp8"))
        self.assertEqual(list(self.rows("x.run/evaluations.csv")[0])[8:], ["training_auc", "test_auc"])
        self.assertEqual(sorted(got["test"]), ["accuracy", "auc", "loss", "r2"])

    def test_criteo(self):
        line = "\t".join(["%d"] + ["3"] * 13 + ["68fd1e64"] * 26) + "\n"
        text = self.MADE.replace("clicks", "criteo\npath = day\nvocabulary = 50")
        self.write("day", "".join(line % (i % 2) for i in range(200)).encode())
        got = json.loads(self.train(text, "--json"))
        self.assertEqual(got["test"]["auc"], 0.5)  # all lines are alike
        self.bad("train", self.config(text, "v.ini"), "--set", "data.vocabulary=1", says="data.vocabulary: 1, and criteo")
        self.write("day", (line % 1 + line % 2).encode())
        self.bad("train", self.config(text, "w.ini"), says="day: label of line 2: neither 0 nor 1")


class Masked(TrainCase):
    def test_run(self):
        self.write("train.tokens", sentences(1, 80))
        text = "[data]\nset = words\npath = train.tokens\nwindow = 7\n[run]\nbatch = 3\nsteps = 20\n[model]\nnet = bert(units=8)\n"
        got = json.loads(self.train(text, "--json"))
        self.assertEqual(sorted(got["test"]), ["accuracy", "loss", "perplexity", "r2"])
        self.assertEqual(self.digest(text, "-j", "2", name="j.ini"), got["digest"])
        self.bad("train", self.config(text, "d.ini"), "--set", "data.set=teacher", says="model.net: steps: not from 1")


if __name__ == "__main__":
    support.main()
