# SPDX-License-Identifier: MIT
"""The examples that --help and the man page show do what they say; the man page knows every command and option.
(Commands on the pages of docs/ and in README.md: tests/docs.)"""

import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

COMMANDS = ("formats", "presets", "info", "encode", "decode", "explain", "quantize", "gemm", "train", "experiments", "experiment", "models", "mma",
            "identify", "identify", "--distinguish", "compare", "plot", "sweep", "vectors", "vectors", "--check", "vectors", "--testfloat", "verify", "verify", "--only", "instructions", "bench")
MAN = os.environ["HALFULP_MAN"]
# Examples that take more time than all others together, which only the long run has, and the test that runs the same command for a
# shorter time.
LONG = {
    "halfulp bench --seconds 5": "test_bench.py",
    "halfulp experiment bfloat16-updates": "test_experiment.py",
    "halfulp experiment --paper s2fp8 --table 4 --budget 20s": "test_papers.py",
}


def built(command):
    return os.environ[{"train": "HALFULP_TRAIN", "sweep": "HALFULP_CONFIG"}.get(command, "HALFULP_MAN")] != "0"


class Docs(support.Case):
    def setUp(self):
        super().setUp()
        for name in os.listdir(support.DATA):
            if name.endswith(".npy"):
                shutil.copy(os.path.join(support.DATA, name), self.folder.name)
        os.mkdir(self.path("bin"))
        os.symlink(support.HALFULP, self.path("bin/halfulp"))

    def shell(self, text):
        env = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"])
        text = text.replace("/tmp/", self.folder.name + "/")
        return subprocess.run(
            ["sh", "-e"],
            input=text.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder.name,
            env=env,
            check=False,
        )

    def needs(self, line):
        """Files that an example takes for granted."""
        if line.startswith("halfulp compare"):
            for name in ("cpu.npy", "gpu.npy", "x.npy", "y.npy"):
                shutil.copy(self.path("digits_weights.npy"), self.path(name))
        if "--merge" in line:
            # Two shards of something small, under the names that the example merges.
            for i in (1, 2):
                self.ok(
                    "verify",
                    "--only",
                    "golden",
                    "--golden",
                    os.environ["HALFULP_GOLDEN"],
                    "--shard",
                    "%d/2" % i,
                    "-o",
                    self.path("shard%d.txt" % i),
                )

    def examples(self, text):
        for line in text.replace("\\\n", " ").split("\n"):
            line = " ".join(line.split())
            if line:
                yield line

    def test_help_examples(self):
        done, long = 0, set()
        for command in COMMANDS:
            if not built(command):
                continue  # built without
            text = self.ok(command, "--help").split("\nExamples:\n")[1]
            for line in self.examples(text):
                if "--level full" in line or (
                    line.startswith("halfulp verify -f") and os.environ["HALFULP_ORACLE"] != "1"
                ):
                    continue  # too long; or nothing to ask
                if ".safetensors" in line and os.environ["HALFULP_SAFETENSORS"] != "1":
                    continue  # built without
                if line.startswith("halfulp probe-hw"):
                    continue  # wants a device; test_verify.py
                if line.startswith(tuple(LONG)):
                    long.add(next(one for one in LONG if line.startswith(one)))
                    if os.environ["HALFULP_EXHAUSTIVE"] != "1":
                        continue
                self.needs(line)
                r = self.shell(line)
                self.assertEqual(r.returncode, 0, (line, r))
                self.assertEqual(r.stderr, b"", line)
                if "-o " not in line:
                    self.assertNotEqual(r.stdout, b"", line)
                done += 1
        self.assertGreaterEqual(done, 18)
        if os.environ["HALFULP_TRAIN"] != "0":
            self.assertEqual(long, set(LONG), "no such examples any more")
        print("examples of --help that work: %d" % done)

    def test_experiments_page(self):
        """Its drawings are there, and every experiment has a section of its name."""
        folder = os.path.join(support.DATA, "..", "docs")
        with open(os.path.join(folder, "experiments.md"), encoding="utf-8") as f:
            page = f.read()
        drawings = re.findall(r"\((img/[^)\s]+)\)", page)
        self.assertGreater(len(drawings), 5)
        for name in drawings:
            self.assertTrue(os.path.isfile(os.path.join(folder, name)), name)
        titles = re.findall(r"(?m)^## (.+)$", page)
        for e in json.loads(self.ok("experiment", "--json")):
            self.assertTrue(any(e["id"] in re.findall(r"[\w-]+", t) for t in titles), e["id"])

    def test_modes_in_words(self):
        """Every --help that takes a rounding says what the abbreviations are."""
        told = 0
        for command in COMMANDS:
            if not built(command):
                continue
            text = self.ok(command, "--help")
            takes = re.search(r"(?m)^  -r, --round ", text) is not None
            for words in ("rne  to nearest, ties to even", "rto  to odd", "rtp  toward positive", "stochastic, with N"):
                self.assertEqual(words in text, takes, command)
            told += takes
        self.assertGreaterEqual(told, 8)

    def test_man_page(self):
        with open(MAN, encoding="ascii") as f:
            man = f.read()
        plain = man.replace("\\-", "-")
        for command in COMMANDS:
            self.assertRegex(plain, r'(?m)^\.B[IR] "?%s\b' % command)
            if not built(command):
                continue  # built without
            options = set(re.findall(r"(?m)^  (?:-\w, |    )--([a-z0-9-]+)", self.ok(command, "--help"))) - {"help"}
            for option in options - {"output", "add", "first", "verbose"}:  # shown by their letters there
                self.assertIn("--" + option, plain, (command, option))
        example = plain.split(".SH EXAMPLES\n.nf\n")[1].split("\n.fi")[0].replace("\\e\n", "")
        done = 0
        for line in self.examples(example):
            if line.startswith("halfulp verify") and os.environ["HALFULP_ORACLE"] != "1":
                continue
            if ".safetensors" in line and os.environ["HALFULP_SAFETENSORS"] != "1":
                continue
            r = self.shell(line)
            self.assertEqual((r.returncode, r.stderr), (0, b""), line)
            done += 1
        self.assertGreaterEqual(done, 5)
        print("examples of the man page that work: %d" % done)

    def test_man_page_is_well_formed(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        r = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z", MAN], stderr=subprocess.PIPE, check=False)
        self.assertEqual((r.returncode, r.stderr), (0, b""))


if __name__ == "__main__":
    support.main()
