# SPDX-License-Identifier: MIT
"""halfulp train on parts of words: merges and parts computed again from docs/training/data.md, what is refused."""

import collections
import json
import random
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from train_case import TrainCase  # noqa: E402

END = b"</w>"


# ---- the page, by counting everything again for each merge ----

def spelled(word):
    """A word's characters; the last one with the mark."""
    letters = []
    for byte in word:
        if letters and 0x80 <= byte < 0xC0:
            letters[-1] += bytes([byte])
        else:
            letters.append(bytes([byte]))
    return (*letters[:-1], letters[-1] + END)


def merged(symbols, pair):
    z, i = [], 0
    while i < len(symbols):
        both = tuple(symbols[i:i + 2]) == pair
        z.append(pair[0] + pair[1] if both else symbols[i])
        i += 2 if both else 1
    return tuple(z)


def learnt(texts, most):
    words = collections.Counter(w for text in texts for w in text.split() if w not in (b"<eos>", b"<unk>"))
    lists, merges = {w: spelled(w) for w in words}, []
    while len(merges) < most:
        times = collections.Counter()
        for word, symbols in lists.items():
            for pair in zip(symbols, symbols[1:]):
                times[pair] += words[word]
        pairs = [(n, *p) for p, n in times.items() if n > 1 and p[0] + p[1] not in (b"<eos></w>", b"<unk></w>")]
        if not pairs:
            break
        pair = max(pairs)[1:]
        merges += [pair] if pair not in merges else []
        lists = {w: merged(s, pair) for w, s in lists.items()}
    return merges


def cut(text, merges):
    """The text with parts in place of words."""
    def parts(word):
        if word in (b"<eos>", b"<unk>"):
            return word
        symbols = spelled(word)
        while True:
            ranks = [merges.index(p) for p in zip(symbols, symbols[1:]) if p in merges]
            if not ranks:
                break
            symbols = merged(symbols, merges[min(ranks)])
        return b" ".join([s + b"@@" for s in symbols[:-1]] + [symbols[-1][:-len(END)]])

    return b"".join(b" ".join(map(parts, line.split())) + b"\n" for line in text.splitlines())


def written(merges):
    return b"#version: 0.2\n" + b"".join(b"%s %s\n" % pair for pair in merges)


def lines(seed, count, alphabet):
    """Sentences of few stems and endings, in which many parts come back, some of them with overlaps."""
    r = random.Random(seed)
    stems = ["".join(r.choices(alphabet, k=r.randrange(1, 6))) for _ in range(25)]
    ends = ["", "en", "er", "\u00e9e", "aaaa", "<unk>"]
    return "".join(" ".join(r.choice(stems) + r.choice(ends) for _ in range(r.randrange(7))) + "\n" for _ in range(count)).encode()


WORDS = ("[data]\nset = words\npath = train\ntest_file = test\nwindow = 6\n[run]\nbatch = 4\nsteps = 6\n[optimizer]\nkind = adamw\n"
         "rate = 0.01\n[model]\nnet = lstm(units=8)\n")
PAIRS = ("[data]\nset = parallel\npath = s\ntarget = t\ntest_file = s2\ntest_target = t2\nwindow = 40\n[run]\nbatch = 4\nsteps = 2\n"
         "[model]\nnet = seq2seq(units=8,hidden=8)\n")


class Subwords(TrainCase):
    def setUp(self):
        super().setUp()
        for name, seed, count, alphabet in (("train", 1, 120, "abcde"), ("test", 2, 60, "abcdx"), ("s", 3, 40, "abc\u00e9"),
                                            ("t", 4, 40, "bcdz"), ("s2", 5, 9, "abc"), ("t2", 6, 9, "bcz")):
            self.write(name, lines(seed, count, alphabet))

    def texts(self, *names):
        return [self.read(name) for name in names]

    def test_words(self):
        """A run with parts has the merges of the page, and the bits of a run on a text with these parts as words."""
        self.write("train", self.read("train") + b"<unk> x<unk> \xff\xbf\x80q <eos> x<eos>\tx<eos>")
        for most, more in ((1, []), (40, ["--set", "data.vocabulary=30"]), (5000, ["--set", "data.numbering=count"])):
            merges = learnt(self.texts("train"), most)
            self.assertTrue(len(merges) == most or most == 5000 and len(merges) > 60)
            got = json.loads(self.train(WORDS, "--json", "--overwrite", "--set", "data.subwords=%d" % most, *more))
            self.assertEqual(self.read("x.run/merges.txt"), written(merges))
            for name in ("train", "test"):
                self.write("cut." + name, cut(self.read(name), merges))
            want = json.loads(self.train(WORDS, "--json", "--overwrite", "--set", "data.path=cut.train", "--set",
                                         "data.test_file=cut.test", *more, name="y.ini"))
            self.assertEqual((got["digest"], got["test"]), (want["digest"], want["test"]))
        self.assertNotIn("merges.txt", self.files("y.run"))

    def test_merges_of_a_file(self):
        """merges.txt in place of learning, whole or in part; a run that is continued; one without has no such file."""
        learn = self.digest(WORDS + "[data]\nsubwords = 30\n")
        self.write("m", self.read("x.run/merges.txt"))
        self.assertEqual(self.digest(WORDS + "[data]\nmerges = m\n"), learn)
        self.assertEqual(self.read("x.run/merges.txt"), self.read("m"))
        some = self.digest(WORDS + "[data]\nsubwords = 12\n")
        self.assertNotEqual(some, learn)
        self.assertEqual(self.digest(WORDS + "[data]\nmerges = m\nsubwords = 12\n"), some)
        self.write("m2", self.read("m").replace(b"\n", b"\r\n") + b"q q\n" + self.read("m").split(b"\n")[1] + b"\n")
        self.assertEqual(self.digest(WORDS + "[data]\nmerges = m2\n"), learn)  # what no word has, and what is there twice
        self.train(WORDS + "[data]\nsubwords = 30\n", "--set", "run.steps=2", "--overwrite")
        self.assertEqual(json.loads(self.train(WORDS + "[data]\nsubwords = 30\n", "--resume", "--json"))["digest"], learn)
        self.train(WORDS, "--overwrite")
        self.assertNotIn("merges.txt", self.files("x.run"))

    def test_both_languages(self):
        """Merges are learnt from both, and there is one vocabulary, of both training parts."""
        merges = learnt(self.texts("s", "t"), 25)
        self.train(PAIRS, "--set", "data.subwords=25")
        self.assertEqual(self.read("x.run/merges.txt"), written(merges))
        kinds = {w for name in ("s", "t") for w in cut(self.read(name), merges).split()} | {b"<eos>", b"<unk>"}
        text = self.ok("train", self.config(PAIRS), "--describe", "--set", "data.subwords=25")
        tables = [line for line in text.splitlines() if "embedding(" in line]
        self.assertEqual(len(tables), 2)
        for line in tables:
            self.assertIn("embedding(v%s, %d, 8" % (line.split("(v")[1].split(",")[0], len(kinds)), line)
        one = "[data]\nset = parallel\npath = s\ntarget = t\nwindow = 40\n[run]\nbatch = 2\nsteps = 1\n[model]\nnet = seq2seq(units=8,hidden=8)\n"
        self.train(one, "--set", "data.subwords=25", name="one.ini")  # a file alone: the first nine tenths of the lines
        head = [b"".join(self.read(name).splitlines(True)[:36]) for name in ("s", "t")]
        self.assertEqual(self.read("one.run/merges.txt"), written(learnt(head, 25)))

    def refused(self, says, *sets, text=WORDS):
        self.bad("train", self.config(text), *(w for s in sets for w in ("--set", s)), says=says)

    def test_refused(self):
        on = "data.subwords=9"
        self.refused("data.subwords: words of one file, and parts of words require data.test_file", on, "data.test_file=")
        self.refused("is not a whole number from 0", "data.subwords=-1")
        self.refused("none: No such file", "data.merges=none")
        for name, text in (("train", WORDS), ("s", PAIRS), ("t", PAIRS)):
            good = self.read(name)
            for word, says in ((b"a" * 1001, "1001 bytes, more than the 1000 of data.subwords"), (b"x</w>", "has </w>"),
                               (b"lo@@", "ends with @@"), (b"a\0b", "has a NUL byte")):
                changed = good.splitlines()
                changed[2] = b"b " + word
                self.write(name, b"\n".join(changed) + b"\n")
                self.refused("%s: word of line 3: %s" % (self.path(name), says), on, text=text)
            self.write(name, good)
        for body, says in ((b"", "size: the file is empty"), (b"a b\n", "line 1: not '#version: 0.2'"), (b"#version: 0.25\n", "line 1: not"),
                           (b"#version: 0.2\na b\nab\n", "line 3: no merge"), (b"#version: 0.2\n\n", "line 2: no merge"),
                           (b"#version: 0.2\na b c\n", "line 2: no merge"), (b"#version: 0.2\na</w> b\n", "line 2: no merge"),
                           (b"#version: 0.2\na \n", "line 2: no merge"), (b"\x1f\x8b\x08", "content: compressed by gzip")):
            self.write("m", body)
            self.refused("%s: %s" % (self.path("m"), says), "data.merges=m")
        self.write("m", b"#version: 0.2\n")
        self.train(WORDS, "--set", "data.merges=m")  # no merge: characters


if __name__ == "__main__":
    support.main()
