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

sys.path.insert(0, os.path.join(os.environ["HALFULP_DOCS"], "man"))
import command_pages  # noqa: E402

LONG = support.LONG


class Docs(support.Examples):
    def test_help_examples(self):
        done, long = 0, set()
        for text in support.commands().values():
            for line in self.examples(text.split("\nExamples:\n")[1]):
                if line.startswith(tuple(LONG)):
                    long.add(next(one for one in LONG if line.startswith(one)))
                    if os.environ["HALFULP_EXHAUSTIVE"] != "1":
                        continue
                self.needs(line)
                r = self.shell(line)
                self.assertEqual(r.returncode, 0, (line, r))
                notes = [note for note in r.stderr.decode().splitlines() if not note.endswith(" questions so far")]  # of a slow machine
                self.assertEqual(notes, [], line)
                if "-o " not in line and " > " not in line:
                    self.assertNotEqual(r.stdout, b"", line)
                done += 1
        self.assertGreaterEqual(done, 18)
        if os.environ["HALFULP_TRAIN"] != "0":
            self.assertEqual(long, set(LONG), "no such examples any more")
        print("examples of --help that work: %d" % done)

    def test_experiments_page(self):
        """Its drawings are there, and every experiment has a section of its name."""
        folder = os.path.join(os.environ["HALFULP_DOCS"], "training")
        with open(os.path.join(folder, "experiments.md"), encoding="utf-8") as f:
            page = f.read()
        drawings = re.findall(r"\((\.\./img/[^)\s]+)\)", page)
        self.assertGreater(len(drawings), 5)
        for name in drawings:
            self.assertTrue(os.path.isfile(os.path.join(folder, name)), name)
        titles = re.findall(r"(?m)^## (.+)$", page)
        for e in json.loads(self.ok("experiment", "--json")):
            self.assertTrue(any(e["id"] in re.findall(r"[\w-]+", t) for t in titles), e["id"])

    def test_rounding_is_explained_once(self):
        """By `halfulp help rounding`, with a word for every mode and policy; every --help that takes them refers to it."""
        page = self.ok("help", "rounding")
        self.assertEqual(self.ok("--help", "rounding"), page)
        for word in ("rne    to nearest, ties to even", "rto    to odd", "rtp    toward positive", "sra:N  stochastic", "none  ", "finite  ",
                     "propagate  ", "max  ", "zero  ", "error  ", "before or after"):
            self.assertIn(word, page)
        takers = 0
        for command, text in support.commands().items():
            options = {name for _, name, _, _ in support.options(text)}
            for name in options & {"round", "saturate", "nan", "tiny", "counter"}:
                self.assertIn("--" + name, page)
            self.assertEqual("`halfulp help rounding`" in text, "round" in options, command)
            self.assertNotIn("ties to even  ", text, command)
            takers += "round" in options
        self.assertGreaterEqual(takers, 8)

    def test_one_table(self):
        """Man pages, and the list that completion is made of, have the commands of the program's own table, in its order; no
        other source has a name of theirs in a list (test_completion.py and test_json.py hold the rest)."""
        listed = [(one["id"], one["summary"]) for one in json.loads(self.ok("help", "--json"))]
        self.assertEqual(listed, command_pages.commands())
        self.assertEqual(re.findall(r"(?m)^  (\w+) +(\S.*)$", self.ok("help").split("\nCommands:\n")[1].split("\n\n")[0]), listed)
        root = os.path.join(os.environ["HALFULP_DOCS"], "..")
        for path in ("cli/main.c", "docs/man/command_pages.py", "tests/docs/prose_pages.txt", "tests/docs/test_man.py",
                     "tests/cli/test_quiet.py", "tests/cli/test_vocabulary.py", "tests/cli/test_options.py", "tests/cli/test_completion.py"):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text = file.read()
            named = [name for name, _ in listed if re.search(r"[\"' ]%s[\"'\n]" % name, text)]
            self.assertLess(len(named), len(listed) * 3 // 4, (path, named))

    def test_man_page(self):
        plain = command_pages.overview().replace("\\-", "-")
        for one in json.loads(self.ok("help", "--json")):
            self.assertIn("\n.BR halfulp-%s (1)\n%s\n" % (one["id"], one["summary"]), plain)
        example = plain.split(".SH EXAMPLES\n.nf\n")[1].split("\n.fi")[0].replace("\\e\n", "")
        done = 0
        for line in self.examples(example):
            r = self.shell(line)
            self.assertEqual((r.returncode, r.stderr), (0, b""), line)
            done += 1
        self.assertGreaterEqual(done, 5)
        print("examples of the man page that work: %d" % done)

    def test_man_page_is_well_formed(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        r = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=command_pages.overview().encode(), stderr=subprocess.PIPE, check=False)
        self.assertEqual((r.returncode, r.stderr), (0, b""))


if __name__ == "__main__":
    support.main()
