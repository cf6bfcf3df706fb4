# SPDX-License-Identifier: MIT
"""halfulp experiment --attribute: a rounding that is made absurdly coarse is found, in its layer, its tensor and its steps."""

import csv
import json
import os
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
import support  # noqa: E402

# Gradients of the weights of the third of five layers are rounded up to 1/2, 1, 1.5, ... from step 165 of 220 on. All
# other tensors are in bfloat16.
PLANTED = ("--set", "run.epochs=10", "--set", "model.net=mlp(layers=4,units=32)", "--set", "precision.values=bfloat16",
           "--set", "precision.gradients=bfloat16", "--set", "precision.parameters=bfloat16", "--set", "precision.layers=linear3",
           "--set", "precision.dw_out=fp(2,1,0):finite,sat=finite,rtp", "--set", "precision.off=linear3:dw_out@0..165")


class Attribute(support.Case):
    def args(self, out, *more):
        return ("experiment", "--cell", "planted", "--attribute", "--output", self.path(out), "--data", support.DATA, *more)

    def table(self, out):
        with open(self.path(out, "attribute.csv"), encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    def path(self, *names):
        return super().path(os.path.join(*names))

    def setUp(self):
        super().setUp()
        if not os.path.exists(support.DATA + "/digits_images.npy"):
            self.skipTest("no digits")

    def test_planted_layer_is_found(self):
        z = json.loads(self.ok(*self.args("o", *PLANTED, "--json")))
        self.assertEqual((z["layers"], z["parts"], z["measure"], z["seeds"]), ("linear3:all", "linear3:dw_out", "accuracy", 3))
        layer, _, steps = z["steps"].partition("@")
        self.assertEqual(layer, "linear3:dw_out")
        self.assertGreaterEqual(int(steps.split("..")[0]), 165)
        self.assertEqual(z["runs"], 3 * len(z["tried"]))
        self.assertLess(len(z["tried"]), 24)
        tried = {one["off"]: one for one in z["tried"]}
        self.assertGreater(tried["linear3:dw_out"]["loss"], 0.9 * tried["*:all"]["loss"])
        self.assertGreaterEqual(tried[z["steps"]]["loss"], tried["linear3:dw_out"]["loss"] / 2)
        self.assertEqual((tried["linear3:dw_out@110..165"]["loss"], tried["linear3:dw_out@110..165"]["noise"]), (0, True))
        self.assertFalse(tried["linear3:all"]["noise"])
        rows = self.table("o")
        self.assertEqual([row["off"] for row in rows], list(tried))
        self.assertEqual([float(row["loss"]) for row in rows], [one["loss"] for one in z["tried"]])
        names = [e.text for e in xml.etree.ElementTree.parse(self.path("o", "attribute.svg")).iter() if e.tag.endswith("text")]
        self.assertIn("linear3:dw_out", names)
        # A row is what the trainer makes of its keys.
        config = self.write("x.ini", "[run]\nseed = 1\n".encode())
        keys = [x if not x.startswith("precision.off=") else x + ",linear3:all" for x in PLANTED]
        own = json.loads(self.ok("train", config, *keys, "--data", support.DATA, "--evaluate", "0", "--json", "-o", self.path("r")))
        with open(self.path("o", "runs.ledger"), encoding="utf-8") as f:
            found = {line.split("\t")[0]: line.rstrip("\n").split("\t")[-1] for line in f.readlines()[2:]}
        self.assertEqual(json.loads(found["linear3:all/seed1"]), {"loss": own["test"]["loss"], "accuracy": own["test"]["accuracy"]})
        self.continued()

    def continued(self):
        """What a stopped command has left is not made again, and threads change nothing."""
        whole = self.read(self.path("o", "attribute.csv"))
        lines = self.read(self.path("o", "runs.ledger")).splitlines(keepends=True)
        os.makedirs(self.path("p"))
        self.write("p/runs.ledger", b"".join(lines[:-20]) + lines[-20][:9])
        z = json.loads(self.ok(*self.args("p", *PLANTED, "--json", "-j", "3")))
        self.assertEqual((z["runs"], self.read(self.path("p", "attribute.csv"))), (20, whole))
        self.assertEqual(json.loads(self.ok(*self.args("p", *PLANTED, "--json")))["runs"], 0)
        self.bad(*self.args("p", *PLANTED, "--set", "optimizer.rate=0.2"), says="is of other keys or data")

    def test_nothing_to_find(self):
        """Roundings that change nothing are noise, and nothing is searched."""
        text = self.ok(*self.args("o", "--set", "run.epochs=2", "--set", "precision.values=fp(8,23,0)", "--seeds", "2"))
        self.assertIn("All roundings together cost no more than noise.", text)
        self.assertEqual([row["search"] for row in self.table("o")], ["all"] * 3)

    def test_updates(self):
        """Roundings of updates are left out as a whole."""
        self.ok(*self.args("o", "--set", "run.epochs=2", "--set", "optimizer.weights=fp(5,1,0)", "--seeds", "2"))
        rows = {row["off"]: row for row in self.table("o")}
        self.assertGreater(float(rows["updates"]["loss"]), 0.1)
        self.assertEqual(float(rows["*:all"]["loss"]), 0)

    def test_budget(self):
        r = support.run(*self.args("o", "--set", "run.epochs=400", "--set", "precision.system=bfloat16", "--budget", "1s"))
        self.assertEqual(r.returncode, 1)
        self.assertIn("The budget ended before the search: the next runs take about ", r.stdout.decode())
        self.assertFalse(os.path.exists(self.path("o", "attribute.csv")))

    def test_refused(self):
        self.bad(*self.args("o", *PLANTED, "--ledger", "l"), says="--attribute has a ledger of its own")
        self.bad("experiment", "--cell", "x", "--attribute", says="--attribute requires --output")
        self.bad("experiment", "--attribute", says="require --cell")
        self.bad("experiment", "--cell", "x", "--ledger", "l", "--budget", "9s", says="--budget of a cell requires --attribute")
        self.bad(*self.args("o", *PLANTED, "--seeds", "65"), says="with --attribute from 1 to 64")
        self.bad(*self.args("o", *PLANTED, "--set", "assignment.kind=uniform"), says="precision.off: does not go with assignment.kind")


if __name__ == "__main__":
    support.main()
