# SPDX-License-Identifier: MIT
"""One vocabulary over all commands: a long name has one meaning, one kind of argument and one letter, and a meaning has
one name."""

import os
import re
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

# name: (letter, name of the argument, meaning, what the text of --help says in every command). A new option is a new
# line here: whoever adds one reads which word there is already.
WORDS = {
    "accum": ("", "MODEL", "accumulation model", r"accumulation model|how sums are formed"),
    "add": ("C", "C.npy", "the matrix C of A B + C", r"matrix to add"),
    "against": ("", "MODEL", "model to compare with", r"compare each"),
    "all": ("", "", "every experiment", r"run all"),
    "amax": ("", "A", "largest magnitude that scales are made from", r"amax of the tensor"),
    "any-rank": ("", "", "tensors of few axes, too", r"fewer than two axes"),
    "array": ("", "IN", "array that is drawn", r"float array"),
    "beside": ("", "FILE", "report of a box that is asked beside", r"reads standard output"),
    "bits32": ("", "", "operands as binary32 patterns", r"binary32 operand"),
    "bits64": ("", "", "operands as binary64 patterns", r"binary64 operand"),
    "budget": ("", "TIME", "time that a table may take", r"fits into this time"),
    "cases": ("", "N", "lines that there must be", r"must be N lines"),
    "check": ("", "", "judge instead of answering", r"judge lines"),
    "checkpoint": ("", "N", "steps between checkpoints", r"checkpoint every N steps"),
    "codes": ("", "", "codes in place of values", r"write (D as )?codes|operands are patterns in hex"),
    "complete": ("", "", "all generated lines must be there", r"all of them"),
    "configs": ("", "FOLDER", "configurations of a paper", r"a configuration for every cell"),
    "count": ("", "", "number of cases alone", r"how many cases"),
    "counter": ("", "C", "first word of the random stream", r"random word C \+ i"),
    "data": ("", "FOLDER", "folder of data files", r"where (its|data|the data) files are"),
    "device": ("", "DEVICE", "cpu or cuda", r"cuda.*default (cpu|cuda)"),
    "elements": ("", "N", "length of a row", r"elements of a row"),
    "evaluate": ("", "N", "epochs between evaluations", r"every N epochs"),
    "every": ("", "N", "steps between rows of the log", r"every N steps"),
    "exclude": ("", "GLOB", "tensors left out by name", r"not the tensors of these names"),
    "explain": ("", "", "explanation of what was found", r"what `halfulp explain` says|steps of the search"),
    "fa": ("", "FORMAT", "format of A", r"A\b"),
    "fb": ("", "FORMAT", "format of B", r"B\b"),
    "fc": ("", "FORMAT", "format of C", r"C\b"),
    "fd": ("", "FORMAT", "format of the result D", r"format of D|format of the result|elements of C and D|format of C and of the result"),
    "first": ("n", "N", "differences shown", r"differences to print|first N differing"),
    "follow": ("", "TENSOR", "tensor that is followed", r"in each row of the log"),
    "format": ("f", "FORMAT", "number format", r"format"),
    "function": ("", "NAME", "function of a library", r"its name"),
    "gemm": ("", "", "the box multiplies matrices", r"multiplies matrices"),
    "golden": ("", "FOLDER", "folder of golden files", r"golden files"),
    "grammar": ("", "", "grammar of models", r"texts of models"),
    "help": ("h", "", "help", r"this text"),
    "in-place": ("", "", "the input may be replaced", r"OUT may be IN"),
    "include": ("", "GLOB", "tensors chosen by name", r"those of these names"),
    "integer": ("", "RULE", "result of an invalid conversion to an integer", r"invalid conversion to an integer"),
    "jobs": ("", "N", "processes at once", r"at once, each a process"),
    "joined": ("", "", "lines without blanks", r"without blanks"),
    "json": ("", "", "JSON", r"machine-readable output"),
    "k": ("", "K", "products of a dot product", r"products"),
    "key": ("", "KEY", "key that a sweep varies", r"key that is varied"),
    "keys": ("", "", "list of keys", r"print all keys"),
    "ledger": ("", "LEDGER", "file of results", r"file of results"),
    "level": ("", "LEVEL", "how much is tried", r"default (1|quick)$"),
    "library": ("", "FILE", "shared library", r"shared library"),
    "list": ("", "", "work items alone", r"work items"),
    "log": ("", "FILE", "every question and answer", r"every question"),
    "loss": ("", "POINTS", "accuracy that may be lost", r"may be lost"),
    "merge": ("", "", "reports put together", r"reports of all shards|ledgers, which are put together"),
    "nan": ("", "POLICY", "NaN into a format without NaN", r"NaN into a format without NaN"),
    "nan-fma": ("", "RULE", "infinity times zero plus a NaN", r"infinity times zero plus a NaN"),
    "nan-result": ("", "RULE", "NaN results that are right", r"NaN results that are right"),
    "no-flags": ("", "", "flags are not judged", r"results only"),
    "notexact": ("", "", "roundToInt without inexact", r"without the flag inexact"),
    "numbers": ("", "", "list of number systems", r"number systems"),
    "packed": ("", "", "bytes hold several codes", r"files hold packed codes"),
    "only": ("", "KIND", "kinds of work items", r"items alone"),
    "open": ("", "", "link to the playground", r"link to the playground"),
    "output": ("o", "OUT", "where the result goes", r"the same as the second operand|the result D|write the sums|the drawing|folder where|report that --merge"),
    "p3109": ("", "", "the draft standard IEEE P3109", r"of IEEE P3109"),
    "paper": ("", "PAPER", "paper whose tables are run", r"tables of a paper"),
    "overwrite": ("", "", "an earlier run is lost", r"start again"),
    "quick": ("", "", "quick experiments alone", r"with --all"),
    "quiet": ("q", "", "errors alone on standard error", r"errors only"),
    "random": ("", "R", "the random digits R", r"the random digits"),
    "ranks-per-run": ("", "N", "ranks that share a training run", r"ranks of an MPI job that share a run"),
    "reduce": ("", "REDUCE", "model of an all-reduce", r"all-reduce model"),
    "report": ("", "FILE.html", "page of tables and drawings", r"stands alone"),
    "resume": ("", "", "continue a run", r"continue"),
    "round": ("r", "MODE", "rounding mode", r"rne|rounding mode"),
    "row": ("", "ROW", "row of a paper's table", r"one row of the table"),
    "rows": ("", "WHICH", "axis along which blocks lie", r"blocks lie along"),
    "run": ("", "RUN", "the run that keys are set in", r"in the run of this name"),
    "sa": ("", "SA.npy", "scales of A", r"scales of A"),
    "samples": ("", "N", "random dot products", r"random dot products"),
    "saturate": ("s", "POLICY", "values beyond the range", r"default none finite propagate"),
    "sb": ("", "SB.npy", "scales of B", r"scales of B"),
    "scale": ("", "FORMAT", "format of scales", r"takes scales"),
    "scaled": ("", "", "list of scaled formats", r"scaled formats"),
    "seconds": ("", "S", "how long is measured", r"how long to measure"),
    "seed": ("", "K", "key of the random numbers", r"key of the random"),
    "seeds": ("", "N", "seeds of the runs", r"so many seeds"),
    "set": ("", "KEY=VALUE", "key of the configuration", r"section\.key=value|in every run|key of the configuration"),
    "shard": ("", "I/N", "part of the work", r"part I of N"),
    "share": ("", "N", "products that share a scale", r"share a scale"),
    "sources": ("", "FILE", "digests of sources", r"digest of the sources"),
    "status": ("", "", "what is done and what is left", r"what is left"),
    "stand-in": ("", "", "generated data in place of a paper's", r"in place of the paper's"),
    "strict": ("", "", "operands off the grid are errors", r"is an error"),
    "sums": ("", "", "numbers are added, not products", r"adds the numbers"),
    "table": ("t", "", "every code", r"every code"),
    "tensor": ("", "NAME", "tensor of a file", r"the tensor to draw"),
    "threads": ("j", "N", "threads", r"the result is the same for any number"),
    "tile": ("", "N", "rows of a product", r"rows of A"),
    "timeout": ("", "N", "seconds of silence", r"may be silent"),
    "tiny": ("", "WHEN", "when tininess is detected", r"tininess"),
    "tensors": ("", "", "numbers of values and parameters", r"numbers of all values and parameters"),
    "theorems": ("", "", "what is proved, and for which sources", r"what is proved"),
    "tries": ("", "N", "questions that are drawn", r"drawn questions"),
    "values": ("", "LIST", "values of the key", r"its values"),
    "verbose": ("v", "", "more columns", r"also print|where each format"),
    "verify": ("", "N", "questions of a verification", r"stand in the end"),
    "watch": ("", "", "additions counted", r"count the additions"),
    "widen": ("", "", "dtypes become F32", r"become F32"),
    "without-c": ("", "", "C is left out", r"C is \+0|takes no C"),
    "words": ("", "", "a field of random digits", r"a field more .*(random words|a random word)"),
}
# A name that is the usual word for two things, which no command has both of.
HOMONYMS = {("experiment", "table"): ("", "TABLE", "table of a paper", r"one of them")}


class Vocabulary(support.Case):
    def tables(self):
        """{command: [(letter, long name, argument, text)]} of those that this build has."""
        out = {}
        for command in re.findall(r"(?m)^  ([a-z-]+) +\S", self.ok("--help").partition("\nCommands:\n")[2].partition("\n\n")[0]):
            r = support.run(command, "--help")
            if r.returncode == 0:
                text = r.stdout.decode().split("\nOptions:\n")[1].split("\nExamples:\n")[0]
                out[command] = re.findall(r"(?m)^  (?:-(\w), |    )--([\w-]+)(?: ([A-Z][\w./=]*))?(?:  +| )(.*)$", text)
        return out

    def test_one_meaning(self):
        meanings = [entry[2] for entry in WORDS.values()]
        self.assertEqual(len(set(meanings)), len(meanings), "two names of one meaning")
        seen = {}
        for command, options in self.tables().items():
            for letter, name, argument, text in options:
                self.assertIn(name, WORDS, "%s: a new word: %s" % (command, text))
                short, value, meaning, says = HOMONYMS.get((command, name), WORDS[name])
                self.assertEqual(argument, value, (command, name, meaning))
                self.assertRegex(text, says, (command, name, meaning))
                if letter:
                    self.assertEqual(letter, short, (command, name, meaning))
                    seen.setdefault(letter, set()).add(name)
        self.assertEqual({letter: names for letter, names in seen.items() if len(names) > 1}, {})
        print("options: %d names" % len(WORDS))

    def test_no_word_is_left_over(self):
        if os.environ["HALFULP_TRAIN"] == "1" and os.environ["HALFULP_SAFETENSORS"] == "1":
            used = {name for options in self.tables().values() for _, name, _, _ in options}
            self.assertEqual(set(WORDS) - used, set())

    def test_threads(self):
        """0 is one per processor wherever there are threads or jobs."""
        told = 0
        for command, options in self.tables().items():
            for _, name, _, text in options:
                if name in ("threads", "jobs") and command not in ("train", "experiment"):
                    self.assertRegex(text, r"\b0: one per processor", (command, name))
                    told += 1
        self.assertGreaterEqual(told, 6)
        x = os.path.join(support.DATA, "digits_weights.npy")
        one = self.ok("quantize", "-f", "bfloat16", "-j", "1", x, self.path("a.npy"))
        self.assertEqual(self.ok("quantize", "-f", "bfloat16", "-j", "0", x, self.path("b.npy")), one)
        self.assertEqual(self.read("a.npy"), self.read("b.npy"))
        if os.environ["HALFULP_TRAIN"] == "1":
            self.assertRegex(self.ok("train", "--keys"), r"(?m)^threads = 1\n +threads; 0: as many as there are processors")


if __name__ == "__main__":
    support.main()
