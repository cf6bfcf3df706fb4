# SPDX-License-Identifier: MIT
"""docs/paths.md section 2 once more, on exact numbers: what an expression is under a rule, one element at a time."""

import ast
import decimal
import math
from fractions import Fraction

# Exponent and trailing bits; whether there are infinities.
FORMATS = {"binary32": (8, 23, 1), "bfloat16": (8, 7, 1), "binary16": (5, 10, 1), "float8_e5m2": (5, 2, 1), "float8_e4m3fn": (4, 3, 0)}
DIGITS = decimal.Context(prec=80, Emax=10**9, Emin=-(10**9))
FIRST = {
    "compute": "binary32", "round": "each", "fma": "off", "division": "rn", "by-constant": "division", "of-constant": "division",
    "constants": "compute", "functions": "correct", "relu": "comparison", "casts": "kept",
}


class Open(Exception):
    """The rule leaves it open."""


def rounded(x, name):
    """An exact number that is not 0, once, ties to even, into a format; beyond the range an infinity."""
    e, m, inf = FORMATS[name]
    emin, emax = 2 - 2 ** (e - 1), 2 ** (e - 1) - (inf != 0)
    size = abs(x)
    k = size.numerator.bit_length() - size.denominator.bit_length()
    k -= size < Fraction(2) ** k
    unit = Fraction(2) ** (max(k, emin) - m)
    steps = size / unit
    low = steps.numerator // steps.denominator
    rest = steps - low
    z = (low + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2))) * unit
    most = (2 - Fraction(2) ** -m) * Fraction(2) ** emax if inf else Fraction(448)
    if z > most:
        assert inf, "not tried here"
        return math.copysign(math.inf, x)
    return math.copysign(float(z), x)


def into(x, name):
    """A value into a format."""
    return x if x == 0 or not math.isfinite(x) else rounded(Fraction(x), name)


def special(op, a, b):
    """What binary64 makes of the operands: zeros with their signs, infinities and NaN are those of IEEE 754."""
    if op == "/":
        if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
            return math.nan
        if b == 0 or math.isinf(a):
            return math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))
        return math.copysign(0.0, math.copysign(1, a) * math.copysign(1, b)) if a == 0 or math.isinf(b) else 1.0
    return a * b if op == "*" else a + b if op == "+" else a - b


EXACT = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}


def operation(op, a, b, name):
    r = special(op, a, b)
    if not (math.isfinite(a) and math.isfinite(b)) or (op == "/" and b == 0):
        return r
    exact = EXACT[op](Fraction(a), Fraction(b))
    return r if exact == 0 else rounded(exact, name)


def fma(a, b, c, name):
    product = special("*", a, b)
    if not all(map(math.isfinite, (a, b, c))):
        return special("+", product, c)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return special("+", product, c) if exact == 0 else rounded(exact, name)


def function(what, x, name):
    if math.isnan(x):
        return x
    if what == "sqrt":
        if x < 0:
            return math.nan
        if x == 0 or math.isinf(x):
            return x
        q, shift = Fraction(x), 200
        scaled = q * 4**shift
        root = math.isqrt(scaled.numerator // scaled.denominator)
        exact = root * root == scaled
        return rounded(Fraction(2 * root + (not exact), 2 * 2**shift), name)
    if x == 0:
        return {"exp": 1.0, "sigmoid": 0.5, "tanh": x}[what]
    if math.isinf(x):
        return {"exp": math.inf if x > 0 else 0.0, "sigmoid": float(x > 0), "tanh": math.copysign(1.0, x)}[what]
    with decimal.localcontext(DIGITS):
        e = decimal.Decimal(x).exp()
        if what == "tanh":
            e = (2 * decimal.Decimal(abs(x))).exp()
        z = e if what == "exp" else e / (1 + e) if what == "sigmoid" else (e - 1) / (e + 1)
        # Irrational, and so never a tie: enough digits decide.
        return math.copysign(rounded(Fraction(z), name), x if what == "tanh" else 1)


class Path:
    def __init__(self, text, rule):
        head, rest = text.split(":", 1)
        body, _, result = rest.partition(":")
        self.format = {"bf16": "bfloat16", "fp16": "binary16"}.get(head.strip(), head.strip())
        self.result = result.strip() or self.format
        self.tree = ast.parse(body.strip(), mode="eval").body
        self.rule = {**FIRST, **dict(item.split("=") for item in rule.split(";"))}
        self.compute = self.format if self.rule["compute"] == "operand" else "binary32"

    def __call__(self, **operands):
        self.operands = operands
        return into(self.value(self.tree), self.result)

    # ---- constants ----
    @staticmethod
    def constant(node):
        if isinstance(node, ast.UnaryOp):
            inner = Path.constant(node.operand)
            return None if inner is None else -inner
        return rounded(Fraction(str(node.value)), "binary32") if isinstance(node, ast.Constant) else None

    def rounded_constant(self, c, in_sum):
        word = self.rule["constants"]
        if word == "exact" and into(c, self.format) != c:
            raise Open("constant")
        return into(c, self.format if word in ("operand", "exact") or (word == "sums" and in_sum) else self.compute)

    # ---- values ----
    def settled(self, x):
        return into(x, self.format) if self.rule["round"] == "each" else x

    def value(self, node, in_sum=False):
        c = self.constant(node)
        if c is not None:
            return self.rounded_constant(c, in_sum)
        if isinstance(node, ast.Name):
            return self.operands[node.id]
        if isinstance(node, ast.UnaryOp):
            return self.settled(-self.value(node.operand))
        if isinstance(node, ast.Call):
            return self.call(node.func.id, node.args)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return self.settled(self.sum(node))
        a, b = self.factors(node)
        op = "*" if isinstance(node.op, ast.Mult) or self.is_product(node) else "/"
        return self.settled(operation(op, a, b, self.compute))

    def is_product(self, node):
        if not isinstance(node, ast.BinOp):
            return False
        if isinstance(node.op, ast.Mult):
            return True
        if not isinstance(node.op, ast.Div):
            return False
        if self.constant(node.right) is not None:
            return self.rule["by-constant"] == "reciprocal"
        return self.constant(node.left) is not None and self.rule["of-constant"] != "division"

    def factors(self, node):
        a, b = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Mult):
            return a, b
        by, of = self.constant(node.right) is not None, self.constant(node.left) is not None
        if self.rule["by-constant" if by else "of-constant" if of else "division"] == "none":
            raise Open("quotient")
        if self.is_product(node):
            b = operation("/", 1.0, b, self.compute)
            if of and self.rule["of-constant"] == "products":
                b = self.settled(b)
        return a, b

    def is_elided(self, form):
        return self.rule["casts"] == "elided" and form in ("bfloat16", "binary16")

    def without_casts(self, node):
        while isinstance(node, ast.Call) and node.func.id == "to" and self.is_elided(node.args[1].id):
            node = node.args[0]
        return node

    def sum(self, node):
        minus = isinstance(node.op, ast.Sub)
        sides = [node.left, node.right]
        joins = self.rule["round"] == "end" or self.compute == self.format
        for k in {"off": (), "on": (0, 1), "right": (1, 0)}[self.rule["fma"]] if joins else ():
            product = self.without_casts(sides[k])
            negative = isinstance(product, ast.UnaryOp) and self.constant(product) is None
            product = self.without_casts(product.operand) if negative else product
            if not self.is_product(product):
                continue
            a, b = self.factors(product)
            c = self.value(sides[1 - k], True)
            a = -a if negative != (minus and k == 1) else a
            return fma(a, b, -c if minus and k == 0 else c, self.compute)
        return operation("-" if minus else "+", self.value(node.left, True), self.value(node.right, True), self.compute)

    def call(self, name, args):
        x = self.value(args[0])
        if name == "to":
            form = args[1].id
            return x if self.is_elided(form) else into(x, form)
        if name == "fma":
            return self.settled(fma(x, *map(self.value, args[1:]), self.compute))
        if name == "abs":
            return self.settled(abs(x))
        if name == "relu":
            word = self.rule["relu"]
            if math.isnan(x):
                return x if word != "number" else 0.0
            return self.settled(into(x, self.compute) if x > 0 or (x == 0 and word == "comparison") else 0.0)
        self.defined(name)
        if name == "silu":
            return self.settled(operation("*", x, function("sigmoid", x, self.compute), self.compute))
        return self.settled(function(name, x, self.compute))

    def defined(self, name):
        word = self.rule["functions"]
        if word == "none" or (word != "correct" and name != "sqrt") or (word == "sqrt16" and self.format == "binary32"):
            raise Open(name)
