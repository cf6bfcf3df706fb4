# SPDX-License-Identifier: MIT
"""`halfulp info --p3109` against the draft's lists, against what the command computes, and against docs/p3109.md.

That every operation is exact, and so has no kappa, is what the test `p3109` shows of all operations of the same list."""
import json
import pathlib
import re
import sys
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.append(str(ROOT / "tests" / "p3109"))
import specification as draft  # noqa: E402
import support  # noqa: E402

PAGE = ROOT / "docs" / "p3109.md"
# The command's words of the draft's names.
ROUNDING = {"NearestTiesToEven": "rne", "NearestTiesToAway": "rna", "TowardZero": "rtz", "TowardPositive": "rtp", "TowardNegative": "rtn",
            "ToOdd": "rto", "StochasticA": "sra", "StochasticB": "srb", "StochasticC": "src"}
SATURATION = {"SatNone": "none", "SatFinite": "finite", "SatPropagate": "propagate"}
FORMATS = [draft.Format(*f) for f in ((4, 2, True, True), (4, 2, True, False), (5, 3, False, True), (4, 1, False, False), (4, 1, True, True))]


def operands(f):
    """The values, places between them, on past the largest one, and infinities."""
    found = [float("inf")]
    for code in range(f.largest + 2):
        low, high = draft.magnitude(f, code), draft.magnitude(f, code + 1)
        found += [float(low + (high - low) * Fraction(part, 8)) for part in range(8)]
    return found + [-x for x in found]


def exact(x):
    return x if abs(x) == draft.INFINITY else Fraction(x)


class Declare(support.Case):
    def setUp(self):
        super().setUp()
        self.text = self.ok("info", "--p3109")

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

    def test_projections_are_those_of_the_draft(self):
        """Each of the draft's roundings and saturations is declared, and no other."""
        declared = json.loads(self.ok("info", "--p3109", "--json"))
        rounding = re.search(r"(?m)^      - Rounding:\n((?: {10,}.*\n)+)", self.text)[1]
        self.assertEqual(re.findall(r"(?m)^ {10}- (\w+):?$", rounding), list(draft.ROUNDING))
        self.assertEqual(declared["rounding"], list(draft.ROUNDING))
        saturation = re.search(r"(?m)^      - Saturation: \[ (.*) \]$", self.text)[1]
        self.assertEqual(saturation.split(", "), list(draft.SATURATION))
        self.assertEqual(declared["saturation"], list(draft.SATURATION))
        # The stochastic ones alone have random bits, and as many as the command takes.
        bits = re.findall(r"- (\w+):\n +- bits: \( \[(\d+)\.\.(\d+)\] \)\n", rounding)
        self.assertEqual([name for name, least, most in bits], [name for name in draft.ROUNDING if name.startswith("Stochastic")])
        self.assertEqual(rounding.count("bits"), len(bits))
        for name, least, most in bits:
            self.assertEqual([int(least), int(most)], declared["random_bits"])
            for n in (int(least), int(most)):
                self.ok("explain", "-f", "binary8p4se", "-r", "%s:%d" % (ROUNDING[name], n), "1.1")
            for n in (int(least) - 1, int(most) + 1):
                self.bad("explain", "-f", "binary8p4se", "-r", "%s:%d" % (ROUNDING[name], n), "1.1", says="%d" % n)

    def test_declared_projections_are_computed(self):
        for f in FORMATS:
            of = operands(f)
            lines = "".join(x.hex() + "\n" for x in of)
            for name in draft.ROUNDING[:6]:
                for saturation, word in SATURATION.items():
                    codes = self.ok("encode", "-f", f.name, "-r", ROUNDING[name], "-s", word, stdin=lines).split()
                    for x, code in zip(of, codes, strict=True):
                        self.assertEqual(int(code, 16), draft.project(f, name, saturation, exact(x)), (f.name, name, saturation, x))

    def test_declared_stochastic_projections_are_computed(self):
        """2 random bits, a step beyond the largest number of a format among the operands."""
        f = FORMATS[0]
        top, past = draft.magnitude(f, f.largest), draft.magnitude(f, f.largest + 1)
        for x in (Fraction(21, 16), Fraction(-11, 8), top + (past - top) * Fraction(5, 8)):
            for name in draft.ROUNDING[6:]:
                for random in range(4):
                    for saturation, word in SATURATION.items():
                        found = json.loads(self.ok("explain", "-f", f.name, "-r", ROUNDING[name] + ":2", "-s", word, "--random", str(random),
                                                   "--json", float(x).hex()))["results"]
                        want = draft.project(f, name, saturation, x, 2, random)
                        self.assertEqual([int(one["code"], 16) for one in found], [want], (name, saturation, random, x))

    def test_nothing_is_approximated(self):
        self.assertIn("\n  - KappaApproximate: []\n", self.text)
        self.assertEqual(json.loads(self.ok("info", "--p3109", "--json"))["kappa_approximate"], [])
        self.assertIn("so it has no kappa", " ".join(PAGE.read_text(encoding="utf-8").split()))

    def test_formats_are_known(self):
        names = re.findall(r"Binary(\d+p\d+[su][ef])", self.text)
        self.assertEqual((len(names), len(set(names))), (454, 454))
        for name in names[::40]:
            self.ok("info", "binary" + name)

    def test_which_draft(self):
        self.assertEqual(self.bad("info", says="requires FORMAT, MODEL or --p3109"), "")
        self.assertEqual(self.bad("info", "--p3109", "bfloat16", says="without FORMAT"), "")


if __name__ == "__main__":
    support.main()
