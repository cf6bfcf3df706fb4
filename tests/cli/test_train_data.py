# SPDX-License-Identifier: MIT
"""halfulp train on words: runs on small files in the form of the usual ones, their figures computed again, and what is
refused."""

import json
import math
import os
import random
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from test_train import TrainCase  # noqa: E402

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


if __name__ == "__main__":
    support.main()
