# SPDX-License-Identifier: MIT
"""Options of every command: repeated ones, unknown ones, and numbers with a minus."""

import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

# An argument that each option takes the first time.
ARGUMENTS = {
    "TIME": "30m",
    "FORMAT": "bfloat16",
    "MODE": "rne",
    "POLICY": "none",
    "WHEN": "before",
    "K": "1",
    "C": "1",
    "N": "1",
    "S": "1",
    "A": "1",
    "R": "1",
    "GLOB": "*",
    "WHICH": "out",
    "DEVICE": "cpu",
    "MODEL": "exact",
    "REDUCE": "exact",
    "LEDGER": "some.ledger",
    "FILE": "some.txt",
    "KEY": "run.seed",
    "LIST": "1",
    "POINTS": "1",
    "I/N": "1/2",
    "LEVEL": "quick",
    "KIND": "golden",
    "KEY=VALUE": "run.seed=1",
}
OF_OPTION = {"--measure": "auc", "--nan": "max", "--level": None, "--seeds": "1", "--rounds": "1",
             "--nan-fma": "quiet", "--nan-result": "any", "--integer": "arm"}


class Options(support.Case):
    def commands(self):
        return support.commands()

    def options(self, command):
        """[(letter or "", long name, name of the argument or "", help)] from --help."""
        return [(letter and "-" + letter, "--" + name, kind, text) for letter, name, kind, text in support.options(support.commands()[command])]

    def argument(self, name, kind, command):
        if name == "--level" and command != "verify":
            return "1"
        return OF_OPTION.get(name) or ARGUMENTS.get(kind, "x")

    def test_long_words(self):
        """An operand or an argument of any length is repeated by its begin and end: an error line stays a line."""
        for word in ("q" * 100000, "fp(" + "1" * 100000, "\u00e9" * 30000 + "z"):
            calls = [(word,), ("help", word), ("--" + word,)]
            for command in self.commands():
                calls += [(command, word), (command, word, word), (command, "--" + word), (command, word, "-o", word)]
                calls += [(command, name, word) for _, name, kind, _ in self.options(command) if kind]
                calls += [(command, "x", name, word) for _, name, kind, _ in self.options(command) if kind]
            for call in calls:
                r = support.run(*call, cwd=self.folder.name)
                lines = r.stderr.decode().splitlines()  # a note may come first
                self.assertLess(max(map(len, lines), default=0), 2000, call[0])
                self.assertTrue(r.returncode in (0, 2), (call[0], r.stderr[:400]))
        begin = "halfulp: unknown command '" + "q" * 200 + "..." + "q" * 200 + "'; "
        self.assertTrue(support.run("q" * 100000).stderr.decode().startswith(begin))
        self.assertIn(" '" + "q" * 400 + "'", support.run("q" * 400).stderr.decode())
        self.assertIn("\u00e9...\u00e9", support.run("\u00e9" * 30000 + "z").stderr.decode())
        deep = "/".join(["d" * 200] * 4) + "/x.npy"  # a path is whole where it is the line's file
        self.bad("quantize", "-f", "bfloat16", deep, "o.npy", says="halfulp: " + deep + ": ", cwd=self.folder.name)

    def test_lines_of_help(self):
        """Lines that a terminal shows whole."""
        for command, text in self.commands().items():
            self.assertEqual([line for line in text.split("\nExamples:\n")[0].splitlines() if len(line) > 100], [], command)

    def test_lines_of_lists(self):
        """One for each name, and every one fits."""
        for args in (("models",), ("formats",), ("formats", "--scaled"), ("formats", "--numbers"), ("presets",), ("help",), ("help", "rounding")):
            lines = self.ok(*args).splitlines()
            self.assertEqual([line for line in lines if len(line) > 100], [], args)
            if args[0] in ("models", "formats", "presets"):
                names = [one["id"] for one in json.loads(self.ok(*args, "--json"))]
                self.assertEqual([line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in set(names)][-len(names):], names, args)

    def test_every_command_has_its_options_read(self):
        seen = 0
        for command in self.commands():
            options = self.options(command)
            names = [o[1] for o in options]
            self.assertIn("--help", names, command)
            text = self.ok(command, "--help").split("\nOptions:\n")[1].split("\nExamples:\n")[0]
            self.assertEqual(len(options), len(re.findall(r"(?m)^  (    --|-)", text)), (command, names))
            seen += len(options)
        print("options: %d" % seen)
        self.assertGreater(seen, 100)

    def test_repeated(self):
        """Once more in the same or the other spelling is an error; what may be repeated says so in --help."""
        refused, repeated = 0, 0
        for command in self.commands():
            for letter, name, kind, text in self.options(command):
                x = self.argument(name, kind, command)
                if kind and "may be repeated" in text:
                    repeated += 1
                    self.assertNotIn(b"and takes one value", support.run(command, name, x, name, x, "--help").stderr, (command, name))
                if not kind or "may be repeated" in text:
                    continue
                pairs = [[name, x, name, x], [name + "=" + x, name, x]]
                if letter:
                    pairs += [[letter, x, letter + x], [letter, x, name, x], [name, x, letter, x]]
                for pair in pairs:
                    self.bad(command, *pair, says=(command, name, "is given twice, '%s' and '%s'" % (x, x)))
                    refused += 1
        print("refused: %d, repeated: %d" % (refused, repeated))
        self.assertGreater(refused, 200)
        self.assertGreater(repeated, 10)

    def test_repeated_shown(self):
        x = os.path.join(support.DATA, "digits_weights.npy")
        self.bad(
            "quantize",
            "-f",
            "nvfp4",
            x,
            "-fmxfp8_e4m3",
            self.path("z.npy"),
            says=("quantize: -f, --format is given twice, 'nvfp4' and 'mxfp8_e4m3', and takes one value",),
        )
        self.bad(
            "quantize",
            "-f",
            "nvfp4",
            "-j",
            "2",
            "--threads",
            "3",
            x,
            self.path("z.npy"),
            says="-j, --threads is given twice, '2' and '3'",
        )
        self.assertEqual(self.left(), [])

    def test_may_be_repeated(self):
        out = self.ok("explain", "-f", "bfloat16", "-r", "rtz", "--round", "rtp", "0.3")
        self.assertRegex(out, r"(?s)\n  rtz .*\n  rtp ")
        self.assertIn(
            "float8_e5m2",
            self.ok(
                "verify", "--list", "-f", "float8_e4m3fn", "-f", "float8_e5m2", "--only", "world", "--only", "steps"
            ),
        )

    def test_modes(self):
        """An option of another mode of the command is refused, with the modes that it is for."""
        for args, says in ((("vectors", "add", "-f", "bfloat16", "--complete"), "vectors: --complete is for --check; see"),
                           (("vectors", "--testfloat", "f16_add", "--fa", "bfloat16"), "vectors: --fa is for vectors OP or --check; see"),
                           (("vectors", "--check", "add", "-f", "bfloat16", "--notexact"), "--notexact is for --testfloat or --testfloat --check"),
                           (("vectors", "add", "x.txt", "-f", "bfloat16"), "a file is read by --check or --testfloat only"),
                           (("compare", "--report", "x.html", "a.npy", "b.npy"), "compare: --report is for one file and several formats"),
                           (("compare", "-f", "bfloat16", "-f", "binary16", "-n", "3", "a.npy"), "--first is for two arrays"),
                           (("compare", "a.npy", "b.npy", "-f", "bfloat16", "-f", "binary16"), "at most one -f"),
                           (("compare", "a.npy"), "requires two formats or more, or a second array"),
                           (("identify", "--distinguish", "--log", "x", "fp32", "exact"), "--log is for a box of dot products; see"),
                           (("identify", "--fa", "bfloat16", "--tries", "9", "--", "x"), "--tries is for --distinguish"),
                           (("identify", "--distinguish", "fp32"), "--distinguish requires MODEL MODEL"),
                           (("verify", "--only", "instructions", "--level", "full"), "--level is for this build, not --only instructions"),
                           (("verify", "--samples", "9"), "--samples is for --only instructions"),
                           (("verify", "--only", "instructions", "--only", "world"), "goes with no other --only"),
                           (("info", "--p3109", "bfloat16"), "stands without FORMAT"),
                           (("experiment", "--seeds", "2"), "NAME or --all is missing")):
            self.bad(*args, says=says)

    def test_flags_twice(self):
        """An option without an argument says the same the second time."""
        self.assertEqual(self.ok("info", "bfloat16", "--json", "--json"), self.ok("info", "bfloat16", "--json"))

    def test_negative_numbers(self):
        for value in ("-0.1", "-1", "-.5", "-0", "-0x1p-3", "-1e-3", "-inf", "-Infinity", "-nan", "-NaN"):
            want = self.ok("explain", "-f", "bfloat16", "--", value)
            for args in (("-f", "bfloat16", value), (value, "-f", "bfloat16"), ("-f", "bfloat16", value, "-r", "rne")):
                self.assertEqual(self.ok("explain", *args), want, args)
            self.assertTrue(want.startswith(value + " in bfloat16"), want)
        self.assertIn("0xbdcd", self.ok("explain", "-f", "bfloat16", "-0.1"))
        self.bad("explain", "-f", "bfloat16", "-1x", says="'-1x' is not a number")
        self.bad("explain", "-f", "bfloat16", "-1", "-2", says="'-2' is one operand too many")
        # After --, and with options that have such letters, all is as it was.
        self.bad("explain", "-f", "bfloat16", "--", "-r", says="'-r' is not a number")
        self.bad("compare", "x.npy", "y.npy", "-nan", says="--first: 'an'")
        self.bad("quantize", "-f", "fp8_tensor", "--amax", "-1", "x.npy", "y.npy", says="--amax: '-1' is not")

    def test_options_anywhere(self):
        for env in ({}, {"POSIXLY_CORRECT": "1"}):
            r = subprocess.run(
                [support.HALFULP, "explain", "0.3", "--format", "bfloat16", "--json"],
                stdout=subprocess.PIPE,
                env=dict(os.environ, **env),
                check=False,
            )
            self.assertEqual(r.returncode, 0, env)
            self.assertIn(b'"format": "bfloat16"', r.stdout)

    def test_unknown(self):
        for args, says in (
            (
                ("quantize", "--fromat", "nvfp4"),
                "quantize: --fromat is not an option of this command; perhaps --format is meant",
            ),
            (("quantize", "--includ=x"), "no format given"),  # a beginning is enough where there is one such option
            (
                ("quantize", "--in", "x"),
                "--in is not an option of this command; perhaps --include or --in-place is meant",
            ),
            (
                ("quantize", "--wholly-else"),
                "--wholly-else is not an option of this command; see `halfulp quantize --help`",
            ),
            (("explain", "--json=3", "1"), "explain: --json takes no argument"),
            (("quantize", "--help=3"), "quantize: --help takes no argument"),
            (("quantize", "--quiet=3"), "quantize: --quiet takes no argument"),
            (("formats", "x", "y", "z"), "operand too many; it takes"),
            (("explain", "-Q", "1"), "explain: -Q is not an option of this command; see `halfulp explain --help`"),
            (("encode", "-vQ"), "encode: -Q is not an option of this command"),
            (("info", "--json", "-tQ"), "info: -Q is not an option of this command"),
            (("explain", "1", "-f"), "explain: -f requires an argument"),
            (("explain", "1", "--format"), "explain: --format requires an argument"),
            (("explain",), "explain: requires VALUE | OPERATION A [B [C]] | dot A B [C [SCALES_A SCALES_B]]; see `halfulp explain --help`"),
        ):
            if args == ("quantize", "--includ=x"):
                self.bad(*args, "a.safetensors", "b.safetensors", says=says)
            else:
                self.bad(*args, says=says)


if __name__ == "__main__":
    support.main()
