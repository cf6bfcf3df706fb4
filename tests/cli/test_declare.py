# SPDX-License-Identifier: MIT
"""`halfulp declare --p3109`, and the table of docs/p3109.md that has the same operations."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "p3109.md"


class Declare(support.Case):
    def setUp(self):
        super().setUp()
        self.text = self.ok("declare", "--p3109")

    def list_below(self, title, indent):
        """The items of a YAML list below `- title:`."""
        found = re.search(r"(?m)^ *- %s:\n((?: {%d}- \S+\n)+)" % (re.escape(title), indent), self.text)
        self.assertTrue(found, title)
        return re.findall(r"- (\S+)", found[1])

    def test_two_documents(self):
        self.assertEqual(len(re.findall(r"(?m)^---$", self.text)), 2)
        self.assertEqual(self.text.count("no claim of compliance"), 2)
        self.assertNotIn("\t", self.text)

    def test_yaml_can_be_read(self):
        try:
            import yaml
        except ImportError:
            print("no PyYAML: the documents were not parsed")
            return
        configurations, profiles = yaml.safe_load_all(self.text)
        self.assertIn("Exact", configurations)
        self.assertEqual({row["configuration"] for row in profiles["Profiles"]}, {"Exact"})

    def test_operations_are_those_of_the_page(self):
        groups = ("conversion", "arithmetic", "transcendental", "extrema", "neighbours", "comparison", "classification")
        declared = [name for group in groups for name in self.list_below(group, 10)]
        page = PAGE.read_text(encoding="utf-8")
        table = page[page.index("| operation | result |"):]
        listed = re.findall(r"(?m)^\| (\w+) \|", table[:table.index("\n\n")])[1:]
        self.assertEqual(declared, listed)
        self.assertEqual(len(declared), 72)
        for group in ("conversion", "arithmetic", "transcendental", "extrema"):
            blocks = self.list_below("block " + group, 10)
            self.assertEqual([b[5:] for b in blocks], [x for x in self.list_below(group, 10) if not x.startswith("Scaled")])

    def test_formats_are_known(self):
        names = re.findall(r"Binary(\d+p\d+[su][ef])", self.text)
        self.assertEqual((len(names), len(set(names))), (454, 454))
        for name in names[::40]:
            self.ok("info", "binary" + name)

    def test_which_draft(self):
        self.assertEqual(self.bad("declare", says="--p3109"), "")


if __name__ == "__main__":
    support.main()
