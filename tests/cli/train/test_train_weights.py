# SPDX-License-Identifier: MIT
"""halfulp train: weights of other files by name, weights that are written, answers to the test set."""

import json
import math
import struct
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from train_case import TrainCase  # noqa: E402

RUN = ("[data]\nset = gratings\ncount = 64\ntest = 40\nsize = 6\nclasses = 3\n[run]\nbatch = 16\nsteps = 4\n"
       "[model]\nnet = conv(channels=4)\n")


def safetensors(tensors):
    """{name: (shape, numbers)} as a file of F32."""
    head, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        more = struct.pack("<%df" % len(numbers), *numbers)
        head[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + len(more)]}
        data += more
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensors_of(data):
    length = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + length])
    body = data[8 + length:]
    return {name: (tuple(t["shape"]), list(struct.unpack("<%df" % math.prod(t["shape"]), body[slice(*t["data_offsets"])])))
            for name, t in head.items() if name != "__metadata__"}


class Weights(TrainCase):
    def setUp(self):
        super().setUp()
        self.w = self.path("w.safetensors")
        self.first = self.digest(RUN, "--write-weights", self.w)
        self.tensors = tensors_of(self.read("w.safetensors"))

    def start(self, *sets, weights=None, text=RUN, steps="0"):
        """The weights that a run begins with."""
        self.train(text, "--set", "model.weights=" + (weights or self.w), "--set", "run.steps=" + steps, "--set", "run.epochs=0",
                   "--overwrite", "--write-weights", self.path("o"), *(w for s in sets for w in ("--set", s)), name="s.ini")
        return tensors_of(self.read("o"))

    def test_written(self):
        """Parameters and running statistics, those of the checkpoint; a run begins with them, and with a checkpoint."""
        self.assertEqual(sorted(self.tensors), ["batch_norm1.gain", "batch_norm1.offset", "batch_norm1.running", "conv1.weight",
                                                "linear1.bias", "linear1.weight"])
        there = tensors_of(self.read("x.run/checkpoint.safetensors"))
        for name, tensor in self.tensors.items():
            self.assertEqual(tensor, there[name])
        self.assertEqual(self.start(), self.tensors)
        self.assertEqual(self.start(weights=self.path("x.run/checkpoint.safetensors")), self.tensors)
        self.assertNotEqual(tensors_of(self.read("x.run/checkpoint.safetensors"))["batch_norm1.running"][1][:4], [0.0] * 4)
        got = self.start("optimizer.weights=bfloat16")
        for name, (shape, numbers) in self.tensors.items():
            cut = numbers if name.endswith(".running") else [support_bfloat16(x) for x in numbers]
            self.assertEqual(got[name], (shape, cut), name)

    def test_continued(self):
        """A run from weights that is stopped ends as one that is not; other weights end elsewhere."""
        sets = ["--set", "model.weights=" + self.w]
        whole = self.digest(RUN, *sets, "-j", "2", name="a.ini")
        self.assertNotEqual(whole, self.first)
        self.train(RUN, *sets, "--set", "run.steps=2", name="b.ini")
        self.assertEqual(json.loads(self.train(RUN, *sets, "--resume", "--json", name="b.ini"))["digest"], whole)
        self.assertEqual(self.digest(RUN, *sets, "--set", "loss.scale=largest", "--set", "run.steps=0", "--set", "run.epochs=0"),
                         self.digest(RUN, *sets, "--set", "run.steps=0", "--set", "run.epochs=0"))

    def test_names(self):
        """Other names, a prefix, what is left out; the first entry that fits counts."""
        names = {"model." + n: t for n, t in self.tensors.items() if n != "linear1.bias"}
        names["head.bias"] = ((3,), [1.5, -2.0, 0.25])
        names["model.batch_norm1.gain"] = ((4,), self.tensors["batch_norm1.gain"][1])
        self.write("n", safetensors(names))
        got = self.start("model.names=linear1.bias:head.bias,*:model.*", weights=self.path("n"))
        self.assertEqual(got, {**self.tensors, "linear1.bias": ((1, 3), [1.5, -2.0, 0.25])})
        drawn = self.start("model.names=*:-")
        self.train(RUN, "--set", "run.steps=0", "--set", "run.epochs=0", "--overwrite", "--write-weights", self.path("d"), name="d.ini")
        self.assertEqual(drawn, tensors_of(self.read("d")))
        got = self.start("model.names=linear1.*:-")
        for name in self.tensors:
            self.assertEqual(got[name], (drawn if name.startswith("linear1.") else self.tensors)[name])

    def test_pytorch(self):
        """Shapes of its layers: (outputs, inputs), and (outputs, inputs, rows, columns) of a kernel."""
        shape, ours = self.tensors["conv1.weight"]
        self.assertEqual(shape, (9, 4))
        theirs = {n: t for n, t in self.tensors.items() if not n.endswith("weight")}
        theirs["features.weight"] = ((4, 1, 3, 3), [ours[k * 4 + o] for o in range(4) for k in range(9)])
        shape, ours = self.tensors["linear1.weight"]
        self.assertEqual(shape, (4, 3))
        theirs["linear1.weight"] = ((3, 4), [ours[i * 3 + o] for o in range(3) for i in range(4)])
        self.write("p", safetensors(theirs))
        self.assertEqual(self.start("model.names=conv1.weight:features.weight:pytorch,*.weight:*.weight:pytorch",
                                    weights=self.path("p")), self.tensors)
        text = RUN.replace("[model]\nnet = conv(channels=4)", "[model]\nfile = " + self.write("two.net", (
            b"x = conv(image(6, 6, 1), 2, 1)\noutput linear(global_average(conv(x, 2, [2, 3])), 3)\n")))
        kernel = [float(i) for i in range(24)]  # output, input, row, column
        self.write("q", safetensors({"conv2.weight": ((2, 2, 2, 3), kernel)}))
        got = self.start("model.names=conv2.weight:conv2.weight:pytorch,*:-", weights=self.path("q"), text=text)["conv2.weight"]
        self.assertEqual(got, ((12, 2), [kernel[((o * 2 + i) * 2 + r) * 3 + c] for r in range(2) for c in range(3) for i in range(2)
                                         for o in range(2)]))

    def refused(self, says, *sets, weights=None):
        self.bad("train", self.config(RUN), "-o", self.path("r"), "--set", "model.weights=" + (weights or self.w),
                 *(w for s in sets for w in ("--set", s)), says=says)
        self.assertNotIn("r", self.left())

    def test_refused(self):
        self.refused("model.weights: %s: No such file" % self.path("none"), weights=self.path("none"))
        self.refused("tensor 'x.conv1.weight' is missing", "model.names=*:x.*")
        self.refused("model.weights: %s: tensor 'linear1.weight' is [4, 3], and [9, 4] is required" % self.w,
                     "model.names=conv1.weight:linear1.weight")
        self.refused("[4, 3], in PyTorch's order is required", "model.names=linear1.weight:conv1.weight:pytorch")
        for names in ("a", ":a", "a:", "a:b:c", "a*b*:c", "a:*", "*:a*b*", "linear1.bias:-,"):
            self.refused("is not OURS:THEIRS", "model.names=" + names)
        self.refused("model.names: 'linear2.*' names no tensor of the network", "model.names=linear2.*:-,*:*")
        self.write("i", safetensors({**self.tensors, "linear1.bias": ((1, 3), [0.0, math.inf, 0.0])}))
        self.refused("%s: tensor 'linear1.bias': number 1 is not finite" % self.path("i"), weights=self.path("i"))
        self.write("c", b"no file")
        self.refused("model.weights: %s: " % self.path("c"), weights=self.path("c"))
        for option in ("--write-weights", "--predictions"):
            self.bad("train", self.config(RUN), "--tensors", option, self.path("z"), says="leave out")
            self.bad("train", self.config(RUN), "-o", self.path("y"), "--overwrite", option, self.path("none/z"), says="none/z")


def support_bfloat16(x):
    """To nearest, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


class Predictions(TrainCase):
    def table(self, text, *more):
        got = json.loads(self.train(text, "--json", "--overwrite", "--predictions", self.path("p"), *more))
        return got, self.rows("p")

    def test_classes(self):
        """The accuracy is that of the answers, and an answer is the first largest output; all examples in order."""
        got, rows = self.table(RUN, "--set", "run.batch=24")
        self.assertEqual([row["example"] for row in rows], list(range(40)))
        self.assertEqual(list(rows[0]), ["example", "label", "answer", "output_0", "output_1", "output_2"])
        self.assertEqual([row["label"] for row in rows], [i % 3 for i in range(64, 104)])
        for row in rows:
            outputs = [row["output_%d" % k] for k in range(3)]
            self.assertEqual(row["answer"], outputs.index(max(outputs)))
        self.assertEqual(sum(row["answer"] == row["label"] for row in rows) / 40, got["test"]["accuracy"])
        loss = sum(math.log(sum(math.exp(row["output_%d" % k]) for k in range(3))) - row["output_%d" % row["label"]] for row in rows)
        self.assertAlmostEqual(loss / 40, got["test"]["loss"], 5)

    def test_others(self):
        """One logit of two classes; targets."""
        got, rows = self.table("[data]\nset = ratings\nimplicit = yes\ncount = 400\ntest = 50\nusers = 9\nitems = 8\n[run]\nsteps = 200\nbatch = 32\n"
                               "[loss]\nkind = logistic\n[optimizer]\nkind = adamw\nrate = 0.01\n[model]\nnet = ncf\n")
        self.assertEqual(list(rows[0]), ["example", "label", "answer", "output_0"])
        self.assertTrue({row["answer"] for row in rows} == {0, 1})
        for row in rows:
            self.assertEqual(row["answer"], row["output_0"] > 0)
        self.assertEqual(sum(row["answer"] == row["label"] for row in rows) / 50, got["test"]["accuracy"])
        got, rows = self.table("[data]\nset = least_squares\ncount = 64\ntest = 21\n[run]\nsteps = 5\nbatch = 16\n[optimizer]\n"
                               "rate = 0.01\n[model]\nnet = linear(nobias)\n")
        self.assertEqual(list(rows[0]), ["example", "target_0", "output_0"])
        mean = sum(row["target_0"] for row in rows) / 21
        r2 = 1 - (sum((row["output_0"] - row["target_0"]) ** 2 for row in rows)
                  / sum((row["target_0"] - mean) ** 2 for row in rows))
        self.assertEqual(len(rows), 21)
        self.assertAlmostEqual(r2, got["test"]["r2"], 5)

    def test_translations(self):
        """A line for each sentence, of whole words with parts of words, too: the BLEU is that of the lines."""
        lines = [" ".join("abcd"[(i + k) % 4] + "abcd"[i * k % 4] for k in range(4 + i % 2)) for i in range(60)]
        self.write("s", "\n".join(lines).encode())
        self.write("t", "\n".join(line.upper() for line in lines).encode())
        run = ("[data]\nset = parallel\npath = s\ntarget = t\nwindow = 13\n[run]\nbatch = 9\nepochs = 60\n[optimizer]\nkind = adamw\n"
               "rate = 0.01\n[model]\nnet = seq2seq(units=16,hidden=32)\n")
        for more in ([], ["--set", "data.subwords=4"]):
            got = json.loads(self.train(run, "--json", "--overwrite", "--evaluate", "0", "--predictions", self.path("p"), *more))
            made = self.read("p").decode().split("\n")
            self.assertEqual((len(made), made.pop()), (7, ""))
            self.assertNotIn("@@", " ".join(made))
            want = bleu(made, [line.upper() for line in lines[54:]], set(" ".join(lines[:54]).upper().split()) if not more else None)
            self.assertTrue(want > 1)
            self.assertAlmostEqual(got["test"]["bleu"], want, 9)

    def test_refused(self):
        self.write("w", b"a b c d e\n" * 40)
        self.bad("train", self.config("[data]\nset = words\npath = w\nwindow = 2\n[run]\nbatch = 2\n[model]\nnet = lstm(units=2)\n"),
                 "--predictions", self.path("p"), says="--predictions: data.set = words has windows of text, and no examples")


def bleu(texts, references, known):
    """Papineni et al.; words that are not known have no partner."""
    product, count, there = 1.0, 0, 0
    for n in range(1, 5):
        found = all_ = 0
        for text, reference in zip(texts, references):
            a = text.split()
            b = [w if known is None or w in known else None for w in reference.split()]
            parts = [tuple(a[i:i + n]) for i in range(len(a) - n + 1)]
            partners = [tuple(b[i:i + n]) for i in range(len(b) - n + 1)]
            found += sum(min(parts.count(p), partners.count(p)) for p in set(parts))
            all_ += len(parts)
            count, there = count + (n == 1) * len(a), there + (n == 1) * len(b)
        product *= found / all_ if all_ else 0
    return 100 * product ** 0.25 * (1 if count > there else math.exp(1 - there / count))


if __name__ == "__main__":
    support.main()
