# SPDX-License-Identifier: MIT
"""halfulp path: every rule against docs/paths.md written down a second time (path_model.py), and what the command says."""

import json
import math
import random
import struct
import sys

sys.dont_write_bytecode = True
import path_model  # noqa: E402
import support  # noqa: E402

EXPRESSIONS = (
    "x * w + b", "x * w - b", "b - x * w", "-(x * w) + b", "x * w + b * x", "x * w - b * x", "x / w", "x / w + b * w", "x / 3 + b", "0.7 / x - w * b",
    "relu(x * w + b) * 0.1", "(x + 0.1) * w", "0.1 - x", "-x * -0.3 + abs(b)", "to(x * w, float8_e5m2) + b", "fma(x, w, b) - 2 * w", "relu(-x)",
    "sqrt(abs(x)) * w + 1", "silu(x) + b", "sigmoid(x) * w + tanh(b)", "exp(x) - w / 8", "1 / (w * x) * b",
    "b - to(-to(x * w, F16), F16)", "to(w / 3, F16) - fma(x, w, 0.1)",
)
RESULTS = {"bf16": ("", " : float8_e5m2", " : binary32"), "fp16": ("", " : float8_e5m2"), "binary32": ("", " : bfloat16", " : binary16")}
COUNT = 40


def drawn(rng, name):
    """Values of a format, zeros, infinities and a NaN among them."""
    x = [rng.choice((rng.gauss(0, 2), rng.uniform(-1, 1), rng.choice((1, 2, 3)) * 2.0 ** rng.randrange(-3, 3))) for _ in range(COUNT - 6)]
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0]
    rng.shuffle(special)
    return [path_model.into(v, name) for v in x] + special


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


class Paths(support.Case):
    def rules(self):
        return json.loads(self.ok("path", "--rules", "--json"))["rules"]

    def array(self, name, values):
        return self.write(name, support.npy("<f4", (len(values),), support.floats(values, "<f")))

    def values(self, name):
        return struct.unpack("<%df" % COUNT, support.parse_npy(self.read(name))[3])

    def test_every_rule_by_the_page(self):
        rng = random.Random(int(support.os.environ.get("HU_TEST_SEED", "1")))
        rules = [(r["id"], r["text"]) for r in self.rules()]
        rules += [(text, text) for text in ("fma=right;round=end", "round=end;casts=elided", "round=end;fma=on;casts=elided")]
        done = left_open = 0
        for head, results in RESULTS.items():
            for body in EXPRESSIONS:
                text = "%s: %s%s" % (head, body.replace("F16", "binary16" if head == "fp16" else "bfloat16"), rng.choice(results))
                names = [k for k in "xwb" if k in body.replace("exp", "").replace("abs", "")]
                draws = {k: drawn(rng, path_model.Path(text, "round=each").format) for k in names}
                files = ["%s=%s" % (k, self.array(k + ".npy", v)) for k, v in draws.items()]
                for name, items in rules if support.os.environ["HALFULP_EXHAUSTIVE"] == "1" else rng.sample(rules, 5):
                    model = path_model.Path(text, items)
                    try:
                        wanted = [model(**{k: v[i] for k, v in draws.items()}) for i in range(COUNT)]
                    except path_model.Open:
                        self.bad("path", text, "--rule", name, *files, says="leaves the bits of")
                        left_open += 1
                        continue
                    self.ok("path", text, "--rule", name, *files, "-o", self.path("z.npy"))
                    got = self.values("z.npy")
                    for i in range(COUNT):
                        self.assertTrue(same(got[i], wanted[i]), (text, name, {k: v[i] for k, v in draws.items()}, got[i], wanted[i]))
                    done += 1
        self.assertGreater(done, 150)
        self.assertGreater(left_open, 20)

    def test_where_rules_part(self):
        """The numbers that the page shows, each of which tells rules apart."""
        rows = (
            ("bf16: x * w + b", 1 + 2.0**-7, -(1 + 2.0**-6), (0, 2.0**-14, 2.0**-14)),
            ("fp16: x * w + b", 1 + 2.0**-10, -(1 + 2.0**-9), (0, 2.0**-20, 2.0**-20)),
            ("binary32: x * w + b", 1 + 2.0**-12, -(1 + 2.0**-11), (0, 0, 2.0**-24)),
        )
        for text, x, b, wanted in rows:
            said = json.loads(self.ok("path", "--json", text, "--rule", "each", "--rule", "end", "--rule", "fma", repr(x), repr(x), "b=" + repr(b)))
            self.assertEqual(tuple(r["value"]["value"] for r in said["rules"]), wanted)
            self.assertEqual([r["different"] for r in said["rules"]], [0, int(wanted[1] != 0), 1])
            self.assertEqual(said["rules"][2]["first"]["reference"]["value"], 0)
        said = self.ok("path", "bf16: x * w : float8_e4m3fn", "--rule", "eager", "--rule", "inductor", "1.0234375", "1.0390625")
        self.assertEqual([line.split()[-1] for line in said.splitlines()], ["1", "1.125"])
        double = self.ok("path", "binary32: x : path(binary16:rtz,float8_e4m3fn)", "--rule", "each", (1.1875 - 2.0**-12).hex())
        self.assertIn("= 1.125", double)
        self.assertIn("0x3a = 0x1.4p+0", self.ok("path", "binary32: x : path(bfloat16,float8_e4m3fn)", (1.1875 - 2.0**-12).hex()))

    def test_two_products(self):
        """Of two products a rule joins one, and the command says how many elements depend on the choice."""
        rng = random.Random(3)
        files = [self.array(k + ".npy", drawn(rng, "binary32")) for k in "xwb"]
        text = "binary32: x * w + b * x"
        said = json.loads(self.ok("path", "--json", text, "--rule", "fma", "--rule", "fma;fma=right", "--rule", "each", *files))["rules"]
        self.assertEqual([r["right"] for r in said], [said[1]["different"], 0, 0])
        self.assertGreater(said[0]["right"], 0)
        self.assertIn("note: %d depend on which" % said[0]["right"], self.ok("path", text, "--rule", "fma", *files))
        self.assertNotIn("note:", self.ok("path", "binary32: x * w + b", "--rule", "fma", *files))

    def test_recorded(self):
        rng = random.Random(2)
        files = [self.array(k + ".npy", drawn(rng, "bfloat16")) for k in "xwb"]
        for name in ("eager", "inductor.cpu"):
            self.ok("path", "bf16: x * w + b", "--rule", name, *files, "-o", self.path("z.npy"))
            said = json.loads(self.ok("path", "--json", "bf16: x * w + b", *files, "--data", self.path("z.npy")))
            given = {r["rule"] for r in said["rules"] if r["different"] == 0}
            self.assertEqual({"each", "torch.cpu"} <= given, name == "eager")
            self.assertEqual({"end", "inductor.cpu"} <= given, name != "eager")
        wrong = self.array("wrong.npy", [1.0] * COUNT)
        r = support.run("path", "bf16: x * w + b", *files, "--data", wrong)
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn(b"no rule gives", r.stdout)
        self.bad("path", "bf16: x * w + b", *files, "--data", self.array("off.npy", [1.001] * COUNT), says="are no values of bfloat16")
        said = json.loads(support.run("path", "--json", "bf16: x / w", *files[:2], "--data", wrong, "--rule", "end", "--rule", "triton.sm90").stdout)
        self.assertEqual([r["open"] is None for r in said["rules"]], [True, False])

    def test_operands(self):
        x = self.array("x.npy", [1.0, 2.0])
        codes = self.write("c.npy", support.npy("<u2", (2,), struct.pack("<2H", 0x3F80, 0x4000)))
        for one in (x, codes):
            self.ok("path", "bf16: x * w", "w=0.5", one, "-o", self.path("z.npy"))
            self.assertEqual(struct.unpack("<2f", support.parse_npy(self.read("z.npy"))[3]), (0.5, 1.0))
        for descr, code in (("|i1", "b"), ("<i2", "h"), ("<i4", "i"), ("<i8", "q")):
            whole = self.write("i.npy", support.npy(descr, (2,), struct.pack("<2" + code, 1, -2)))
            self.ok("path", "bf16: x * w", "w=0.5", whole, "-o", self.path("z.npy"))
            self.assertEqual(struct.unpack("<2f", support.parse_npy(self.read("z.npy"))[3]), (0.5, -1.0))
        self.assertIn("1 elements were no values", self.ok("path", "bf16: x * w", "1", "0.3"))
        self.bad("path", "bf16: x * w", "1", says="1 operands for the 2")
        self.bad("path", "bf16: x * w", "x=1", "x=2", says="operand 'x' is given twice")
        self.bad("path", "bf16: x * w", x, self.array("y.npy", [1.0]), says="shape (1,), but")
        self.bad("path", "bf16: x * w", x, self.path("none.npy"), says="none.npy")
        self.bad("path", "bf16: x * w", x, "1", "-o", x, says="give -o another name")

    def test_wrong_texts(self):
        for text, says in (
            ("x + y", "a format and a colon begin a path"), ("bf17: x", "format 'bf17': no such name"), ("bf16: x +", "something is missing at the end"),
            ("bf16: foo(x)", "no function or format of that name: 'foo(x)'"), ("bf16: 1 + 2", "an operation on constants alone"),
            ("bf16: to(x, binary16)", "values that the operands' format lacks"), ("bf16: (x", "something is missing"), ("bf16: x : fp9", "no format, no path"),
            ("bf16: fma(x, y)", "too few operands"), ("bf16: exp(x, y)", "too many operands"), ("bf16: x )", "cannot stand there"),
            ("bf16: 0.1", "a constant alone"), ("bf16: 1e99 * x", "no number that can be read"), ("bf16: x : mxfp4", "no format, no path"),
            ("bf16: " + "(" * 70 + "x" + ")" * 70, "too deep"), ("bf16: " + "-" * 5000 + "x", "too deep"), ("bf16: " + " + ".join(["x"] * 40), "more than 32"),
            ("bf16: " + " + ".join("abcdefghi"), "more than 8 operands"), ("bf16: " + "x" * 16, "a name of more than 15 letters"), ("binary64: x", "binary64"),
            ("bf16: x : path(binary16,bf17)", "from character 25 on"), ("bf16:", "something is missing"), ("bf16: relu(1)", "constants alone"),
        ):
            self.bad("path", text, "1", says=says)
        for rule, says in (
            ("nobody", "no rule of that name"), ("each;fma=no", "from character 10 on"), ("each;", "from character 6 on"),
            ("round=end;x=1", "from character 11 on"),
        ):
            self.bad("path", "bf16: x", "1", "--rule", rule, says=says)

    def test_rules(self):
        listed = self.ok("path", "--rules")
        for r in self.rules():
            self.assertIn(r["id"], listed)
            said = json.loads(self.ok("path", "--json", "bf16: x", "1", "--rule", r["id"], "--rule", r["text"]))["rules"]
            self.assertEqual(said[0]["text"], said[1]["text"])
            again = json.loads(self.ok("path", "--json", "bf16: x", "1", "--rule", said[0]["text"]))["rules"]
            self.assertEqual(again[0]["text"], said[0]["text"])


if __name__ == "__main__":
    support.main()
