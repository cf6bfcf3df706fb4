# SPDX-License-Identifier: MIT
"""One vocabulary over all commands: a long name has one meaning, one kind of argument and one letter, and a meaning has
one name."""

import os
import re
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

# A name that is the usual word for two things, which no command has both of; one whose texts say what the result is.
HOMONYMS = {("experiment", "table"), ("experiment", "verify"), ("path", "data"), ("identify", "data")}
ANY_TEXT = {"output"}
EMPTY = {"the", "and", "with", "for", "default", "that", "not", "are", "this", "one", "its", "than"}


def words(text):
    """Those that carry a meaning: without their plural, and capitals that name an operand."""
    long = {word[:-1] if word.endswith("s") else word for word in re.findall(r"[a-z0-9]{3,}", text.lower())}
    return long - EMPTY | set(re.findall(r"\b[A-D]\b", text))


class Vocabulary(support.Case):
    def tables(self):
        """{command: [(letter, long name, argument, text)]} of those that this build has."""
        return {command: support.options(text) for command, text in support.commands().items()}

    def uses(self):
        """{long name: [(command, letter, argument, text)]}"""
        out = {}
        for command, options in self.tables().items():
            for letter, name, argument, text in options:
                if (command, name) not in HOMONYMS:
                    out.setdefault(name, []).append((command, letter, argument, text))
        return out

    def test_one_meaning(self):
        """Texts of one name have a word in common, and no two names have the same text."""
        texts, letters = {}, {}
        for name, uses in self.uses().items():
            self.assertEqual(len({argument for _, _, argument, _ in uses}), 1, (name, uses))
            if name not in ANY_TEXT:
                self.assertTrue(set.intersection(*[words(text) for _, _, _, text in uses]), (name, uses))
            for command, letter, _, text in uses:
                self.assertEqual(texts.setdefault(text, name), name, (command, text))
                if letter:
                    letters.setdefault(letter, set()).add(name)
        self.assertEqual({letter: names for letter, names in letters.items() if len(names) > 1}, {})
        print("options: %d names" % len(self.uses()))

    def test_the_rules_can_fail(self):
        self.assertFalse(words("format of B; default likewise") & words("threads, 1 to 256"))
        self.assertTrue(words("format of B") & words("elements of B; default: those of A"))
        self.assertTrue(HOMONYMS <= {(c, name) for c, options in self.tables().items() for _, name, _, _ in options})

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
