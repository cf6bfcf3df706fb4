# SPDX-License-Identifier: MIT
"""halfulp experiment --cell: the ledger of a run, what continues it, and what --verify finds in a changed one."""

import hashlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import support  # noqa: E402

SHORT = ("--set", "run.epochs=100", "--set", "precision.system=s2fp8")  # 2200 steps
PARAMETERS = ["linear%d.%s" % (i, part) for i in (1, 2, 3) for part in ("weight", "bias")]


class Cell(support.Case):
    def args(self, ledger, *more):
        return ("experiment", "--cell", "short", "--ledger", self.path(ledger), "--data", support.DATA, *more)

    def lines(self, ledger):
        """{step: (columns, result)} of a ledger."""
        rows = [line.split("\t") for line in self.read(ledger).decode().splitlines()[2:]]
        return {int(row[0].rpartition("@")[2]): (row, json.loads(row[-1])) for row in rows}

    def verify(self, ledger, steps, *more, **how):
        return self.ok(*self.args(ledger, "--verify", steps, *more), **how)

    def differs(self, ledger, steps, *more):
        """What is said of the first difference."""
        r = support.run(*self.args(ledger, "--verify", steps, *more))
        self.assertEqual((r.returncode, r.stdout), (1, b""))
        return r.stderr.decode()

    def checkpoint(self, name):
        """{tensor: numbers} of a checkpoint, and where each lies in the file."""
        data = self.read(name)
        size = struct.unpack("<Q", data[:8])[0]
        head = json.loads(data[8:8 + size])
        return {k: (8 + size + v["data_offsets"][0], data[8 + size + v["data_offsets"][0]:8 + size + v["data_offsets"][1]])
                for k, v in head.items() if k != "__metadata__"}

    def setUp(self):
        super().setUp()
        if not os.path.exists(support.DATA + "/digits_images.npy"):
            self.skipTest("no digits")

    def test_digests_are_those_of_the_weights(self):
        """By hashlib, from the checkpoints that are kept: the page's definition."""
        self.ok(*self.args("l", *SHORT, "--output", self.path("o"), "--keep", "--commit", "abc"))
        lines = self.lines("l")
        self.assertEqual(sorted(lines), [0, 1000, 2000, 2200])
        for step in (1000, 2000, 2200):
            tensors = self.checkpoint("o/step-%d/checkpoint.safetensors" % step)
            bits = [tensors[name][1] for name in PARAMETERS]
            sha256 = hashlib.sha256(b"".join(bits)).hexdigest()
            row, result = lines[step]
            self.assertEqual((row[1], row[4], result["sha256"]), ("done", sha256[:16], sha256))
            marks = result["marks"].split(" ")
            self.assertEqual(marks[-1], sha256[:16] + "".join(hashlib.sha256(x).hexdigest()[:4] for x in bits))
            self.assertEqual(len(marks), 10 if step < 2200 else 2)
        self.assertEqual(lines[0][1]["commit"], "abc")
        self.assertEqual(lines[0][1]["precision.x"], "s2fp8")
        self.assertEqual(lines[2200][1]["skipped"], 0)
        self.assertGreater(lines[2200][1]["accuracy"], 0.9)
        # Threads change nothing; nor does it matter where a replay begins.
        for threads in ("1", "3"):
            self.assertIn("23 digests are the same, 0 lines added", self.ok(*self.args("l", "-j", threads)))
        self.assertIn("from\": 1000, \"to\": 1250, \"same\": 3", self.verify("l", "1150..1250", "--output", self.path("o"), "--json"))
        self.assertIn("from\": 0, \"to\": 300, \"same\": 4", self.verify("l", "250..300", "--json"))
        self.assertIn(" 3 digests", self.verify("l", "2050..2200", "--output", self.path("o")))
        self.changed_weight()
        self.changed_ledger()

    def changed_weight(self):
        """A bit of a weight in a checkpoint; a checkpoint of another step."""
        name = "o/step-1000/checkpoint.safetensors"
        data = bytearray(self.read(name))
        data[self.checkpoint(name)["linear2.bias"][0] + 8] ^= 1
        os.unlink(self.path(name))
        self.write(name, bytes(data))
        said = self.differs("l", "1000..1100", "--output", self.path("o"))
        self.assertRegex(said, r"^halfulp: short: step 1000 is the first .* from step 1000; parameters with other bits: linear2\.bias\n$")
        shutil.copy(self.path("o/step-2000/checkpoint.safetensors"), self.path(name))
        self.bad(*self.args("l", "--verify", "1000..1100", "--output", self.path("o")), says="is of step 2000")

    def changed_ledger(self):
        text = self.read("l").decode()
        lines = self.lines("l")
        marks = lines[2000][1]["marks"].split(" ")
        flip = {"0": "1"}
        for place, tensors in ((3, "none"), (16 + 4 * 3, "linear2.bias")):
            wrong = marks[1][:place] + flip.get(marks[1][place], "0") + marks[1][place + 1:]
            self.write("w", text.replace(marks[1], wrong).encode())
            self.verify("w", "1000..1100")
            self.assertRegex(self.differs("w", "1000..1500"), "step 1200 is the first .* bits: %s\n" % re.escape(tensors))
        accuracy = json.dumps(lines[2200][1]["accuracy"])
        self.write("w", text.replace('"accuracy": ' + accuracy, '"accuracy": 0.99').encode())
        self.assertIn("accuracy of the test set is %s here, 0.99 in" % accuracy, self.differs("w", "2100..2200"))
        self.write("w", text.replace(" ".join(marks), marks[0]).encode())
        self.bad(*self.args("w", "--verify", "1900..2000"), says="short@2000: its result is not that of a cell")
        self.write("w", "\n".join(text.splitlines()[:3] + [""]).encode())
        self.verify("w", "0..100", code=0)
        self.bad(*self.args("w", "--verify", "100..200", "--set", "run.seed=1"), says="short@0: run.seed is '0' there, '1' here")

    def test_killed_runs_continue(self):
        """From the last checkpoint, whatever the ledger has of what follows."""
        long = ("--set", "run.steps=12000")
        p = subprocess.Popen([support.HALFULP, *self.args("l", *long, "--output", self.path("o"))], stderr=subprocess.PIPE)
        until = time.time() + 120
        while time.time() < until and not (os.path.exists(self.path("o/checkpoint.safetensors")) and len(self.lines("l")) > 2):
            time.sleep(0.01)
        p.send_signal(signal.SIGKILL)
        p.communicate()
        self.assertIn(2000, self.lines("l"))
        self.write("l", self.read("l") + b"short@30")  # a line that was cut
        self.assertGreater(json.loads(self.ok(*self.args("l", *long, "--output", self.path("o"), "--json")))["from"], 0)
        self.ok(*self.args("m", *long))
        self.assertEqual([(k, v[1]) for k, v in self.lines("l").items()], [(k, v[1]) for k, v in self.lines("m").items()])
        self.assertIn(" 0 lines added", self.ok(*self.args("l", "--output", self.path("o"))))

    def test_papers_cells(self):
        """The keys of a paper's cell, by the beginning of its name."""
        name = "s2fp8-table4-ncf-s2fp8-made"
        self.ok("experiment", "--cell", name, "--stand-in", "--set", "run.steps=2", "--ledger", self.path("l"))
        first = self.lines("l")[0][1]
        self.assertEqual((first["precision.x"], first["run.batch"], first["data.set"]), ("s2fp8", "1024", "ratings"))
        self.assertIn("auc", self.lines("l")[2][1])

    def test_refused(self):
        cell = ("experiment", "--cell", "x", "--ledger", self.path("l"))
        for more, says in (((), "begins with the name of no paper's cell"),
                           (("--verify", "1..2"), "has no line x@0"),
                           (("--verify", "2..1"), "'2..1' is not FROM..TO"),
                           (("--verify", "1..2x"), "'1..2x' is not FROM..TO"),
                           (("--keep",), "--keep requires --output"),
                           (("--verify", "1..2", "--commit", "a"), "--verify writes nothing"),
                           (("--seeds", "2"), "a cell has one seed"),
                           (("--paper", "s2fp8"), "--cell stands without NAME"),
                           (("--set", "run.epochs=x"), "run.epochs: 'x'")):
            self.bad(*cell, *more, says=says)
        self.bad("experiment", "--cell", "a b", "--ledger", self.path("l"), says="'a b' is not a name")
        self.bad("experiment", "--cell", "x", says="--cell requires --ledger")
        self.bad("experiment", "--ledger", "l", says="require --cell")
        self.assertFalse(os.path.exists(self.path("l")))
        self.ok(*self.args("s", "--set", "run.steps=150"))
        for steps, says in (("0..99", "no digest is between"), ("0..151", "short has 150 steps")):
            self.bad(*self.args("s", "--verify", steps), says=says)


if __name__ == "__main__":
    support.main()
