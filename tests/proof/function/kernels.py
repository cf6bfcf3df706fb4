# SPDX-License-Identifier: MIT
"""What emu/arith/function_quick.h is made of, each part with a proved error: the reduced exponential, e^x, e^x - 1, the logarithm,
erfc, and the remainder of pi/2.

`Errors` holds the errors of the polynomials themselves (sollya.py) and gives each part's error on demand, proved once. An error is
relative unless said otherwise: |computed - real| <= error |real|.
"""
from fractions import Fraction

import enclosures
import steps
from gappa import NotProved, Script, number, outward
from polynomials import COVERED

HALF, UNIT = Fraction(1, 2), Fraction(1, 1 << 53)
HEADERS = ('function_polynomials', 'function_quick')


def leaf(name):
    """A call that stays one step, for it is proved on its own."""
    def walk(run, values):
        return run.step(name, values[0], None, name.replace('hui_', '').replace('quick_', ''))
    return walk


def size(ends):
    return max(abs(ends[0]), abs(ends[1]))


def the(list_of_steps, operator, **about):
    """The one step with this operator and these operands."""
    found = [s for s in list_of_steps if s.operator == operator and all(getattr(s, k) is v for k, v in about.items())]
    if len(found) != 1:
        raise steps.Drift(f'{len(found)} steps {operator} where one was')
    return found[0]


def before(list_of_steps, step):
    """The steps that this one is made of, and it."""
    return steps.needed(list_of_steps, step)


def is_one(o):
    return isinstance(o, steps.Constant) and o.value == 1


def product_of(*errors):
    """The relative error of a rounded product (or quotient by an exact number) of factors with these errors."""
    out = 1 + UNIT
    for e in errors:
        out *= 1 + e
    return out - 1


def reduced(run, values):
    """hui_quick_reduced_exp as one step d, and its power."""
    return run.step('d', values[0], None, 'd'), [run.step('power', values[0], None, 'power')]


def nearest_whole(list_of_steps, shifted, k, most):
    """k = (x c + shifter) - shifter for |x| <= most is an integer: (its largest magnitude, |computed x c - x c|, c), the rounding to an
    integer being at most a half more."""
    product = shifted.left
    script = Script('the nearest integer')
    script.within('x', -most, most)
    if isinstance(product, steps.Step):
        script.define('x', 'rnd(xx)')
    script.machine(list_of_steps, {'x': 'x', 'a': 'x'})
    constant = Fraction(1)
    goals = [f'{shifted.name} - ({product.name} + {script.operand(shifted.right, {})})', shifted.name,
             f'{k.name} - ({shifted.name} - {script.operand(k.right, {})})', k.name]
    if isinstance(product, steps.Step):
        constant = Fraction(product.right.value)
        goals.append(f'{product.name} - x * {script.operand(product.right, {})}')
    for goal in goals:
        script.goal(goal)
    found = script.prove()
    if size(found[goals[0]]) > HALF or found[goals[2]] != (0, 0) or k.right is not shifted.right and k.right.value != shifted.right.value:
        raise NotProved('k is not the nearest integer')
    if not (2 ** 52 <= found[goals[1]][0] and found[goals[1]][1] <= 2 ** 53):
        raise NotProved('the shifter does not leave an integer')
    return int(size(found[goals[3]])), size(found[goals[4]]) if len(goals) > 4 else Fraction(0), constant


class Errors:
    def __init__(self, texts, polynomials):
        self.texts, self.polynomials, self.done = texts, polynomials, {}
        self.ln2 = enclosures.log(2)
        self.rounding = {}  # by part: the share of roundings alone, for the report

    def once(self, name):
        if name not in self.done:
            self.done[name] = getattr(self, 'prove_' + name)()
        return self.done[name]

    def walk(self, function, arguments, choices=None, leaves=None):
        return steps.returned(self.texts, function, arguments, choices, leaves)

    # ---- polynomials ----

    def polynomial(self, name, variable, low, high, squared=False, relative_argument=0, own=None):
        """(error of the polynomial's value against the function's, range of the function): the argument is a number of binary64 between
        low and high that is off by relative_argument; squared: it is the rounded square of such a one."""
        key = (name, low, high, squared, relative_argument)
        if key in self.done:
            return self.done[key]
        own = self.polynomials[name] if own is None else own
        if max(abs(low), abs(high)) > COVERED[name]:
            raise NotProved(f'hui_polynomial_{name} is used beyond where its error is known')
        run = self.walk('hui_polynomial_' + name, [steps.Input('v')])
        script = Script(f'hui_polynomial_{name}')
        script.define('a', 'rnd(aa)')
        if relative_argument:
            script.fact(f'a -/ X in [-{relative_argument},{relative_argument}]')
        script.within('X' if relative_argument else 'a', low, high)
        exact = 'X' if relative_argument else 'a'
        script.define('v', 'rnd(a * a)' if squared else 'a')
        script.define('V', f'{exact} * {exact}' if squared else exact)
        script.hint('v ~ V;')
        script.machine(run.steps)
        twin = script.exact(run.steps, {'v': 'V'})[run.y.name]
        script.hint(f'{run.y.name} ~ {twin};')
        script.within(f'{twin} -/ F', -own, own)
        for goal in (f'{run.y.name} -/ F', f'{run.y.name} -/ {twin}', 'F'):
            script.goal(goal)
        found = script.prove()
        self.rounding[name] = size(found[f'{run.y.name} -/ {twin}'])
        self.done[key] = size(found[f'{run.y.name} -/ F']), found['F']
        return self.done[key]

    # ---- x = k ln 2 + r ----

    def prove_reduction(self):
        """(largest |k|, largest |r|, absolute error of r), for |x| <= 700, a multiple of 2^-49 where k is not 0."""
        run = self.walk('hui_quick_reduced_exp', [steps.Input('x'), steps.Opaque()], leaves={'hui_polynomial_expm1': leaf('p')})
        r = the(run.steps, 'p').left
        shifted = run.pointed['power'].left
        k = the(run.steps, '-', left=shifted)
        whole, product, log2e = nearest_whole(before(run.steps, k), shifted, k, Fraction(700))
        two = self.ln2
        # |x - k ln 2| = ln 2 |x / ln 2 - k|
        off = product + 700 * max(abs(log2e - 1 / two[0]), abs(log2e - 1 / two[1]))
        most = (HALF + off) * two[1]
        script = Script('the remainder r = x - k ln 2')
        script.define('k', 'int<ne>(kk)')
        script.machine(before(run.steps, r), {k.name: 'k'})
        low = [s.right for s in run.steps if s.operator == '*' and s.left is k]
        if len(low) != 2:
            raise steps.Drift('ln 2 is no longer in two parts')
        high, low = (Fraction(c.value) for c in low)
        twin = script.exact(before(run.steps, r), {k.name: 'k', 'x': 'x', float(low): 'Low'})[r.name]  # Low = ln 2 - high
        script.within('Low', two[0] - high, two[1] - high)
        script.within('Low - ' + number(low), two[0] - high - low, two[1] - high - low)
        script.within(twin, -most, most)
        script.within('|k|', 1, whole)
        script.fact('@FIX(x,-49)')
        script.goal(f'{r.name} - {twin}')
        script.goal(r.name)
        found = script.prove()
        return whole, max(size(found[r.name]), most), size(found[f'{r.name} - {twin}'])

    def prove_reduced_exp(self):
        """(relative error of r p against e^r - 1, most |r|, the absolute error e^r - e^R that comes from r's)."""
        _, most, off = self.once('reduction')
        run = self.walk('hui_quick_reduced_exp', [steps.Input('x'), steps.Opaque()], leaves={'hui_polynomial_expm1': leaf('p')})
        if not (run.y.operator == '*' and {run.y.left, run.y.right} == {the(run.steps, 'p'), the(run.steps, 'p').left}):
            raise steps.Drift('hui_quick_reduced_exp is no longer r p(r)')
        error, _ = self.polynomial('expm1', 'r', -most, most)
        return product_of(error, 0), most, off * enclosures.e_to(most)[1]

    def exponential(self, title):
        """A script that has d = r p as `d`, and e^R - 1 as `D`."""
        error, most, slope = self.once('reduced_exp')
        ends = enclosures.e_to(-most)[0] - 1, enclosures.e_to(most)[1] - 1
        off = error * size(ends) + slope
        script = Script(title)
        script.within('D', *ends)
        script.within('d - D', -off, off)
        script.hint('d ~ D;')
        return script

    @staticmethod
    def relative(script, y, twin):
        script.goal(f'{y} -/ {twin}')
        return size(script.prove()[f'{y} -/ {twin}'])

    def prove_exp_value(self):
        """|x| < 700: 2^k (1 + r p), in units of 2^k."""
        run = self.walk('hui_quick_exp_value', [steps.Input('x')], leaves={'hui_quick_reduced_exp': reduced})
        script = self.exponential('e^x')
        script.machine(run.steps, {'d': 'd', 'power': '1', 'x': 'x'}, few=[run.steps[-2].name])
        names = script.exact(run.steps, {'d': 'D', 'power': '1', 'x': 'x'})
        return self.relative(script, run.y.name, names[run.y.name])

    def prove_expm1_value(self):
        """-20 <= x < 700. k = 0: the value is r p. k < 0: as it stands. k > 0: in units of 2^k."""
        run = self.walk('hui_quick_expm1_value', [steps.Input('x')], leaves={'hui_quick_reduced_exp': reduced})
        power, d = the(run.steps, 'power'), the(run.steps, 'd')
        scaled, less = the(run.steps, '*', left=power, right=d), the(run.steps, '-', left=power)
        if not is_one(less.right) or (run.y.operator, run.y.left, run.y.right) != ('+', scaled, less):
            raise steps.Drift('hui_quick_expm1_value is no longer power d + (power - 1)')
        errors = [self.once('reduced_exp')[0]]
        script = self.exponential('e^x - 1, k < 0')
        script.within('P', Fraction(1, 1 << 30), HALF)
        script.machine(run.steps, {'d': 'd', 'power': 'P', 'x': 'x'})
        names = script.exact(run.steps, {'d': 'D', 'power': 'P', 'x': 'x'})
        errors.append(self.relative(script, run.y.name, names[run.y.name]))
        script = self.exponential('e^x - 1, k > 0')
        script.within('I', 0, HALF)
        script.define(scaled.name, 'few(d)')
        script.define(less.name, 'rnd(1 - I)')
        script.machine(run.steps, {'d': 'd', 'power': '1', 'x': 'x', scaled.name: scaled.name, less.name: less.name})
        script.define('L', '1 - I')
        names = script.exact(run.steps, {'d': 'D', 'power': '1', 'x': 'x', scaled.name: 'D', less.name: 'L'})
        errors.append(self.relative(script, run.y.name, names[run.y.name]))
        return max(errors)

    # ---- ln m ----

    def logarithm(self, binary):
        return self.walk('hui_quick_log_value', [steps.Input('x'), int(binary)], leaves={'hui_polynomial_log': leaf('p')})

    def prove_log_of_m(self):
        """(relative error of q p(q^2) against ln m, largest |ln m|), for a double m from hui_quick_split."""
        run = self.logarithm(False)
        p, m = the(run.steps, 'p'), the(run.steps, 'significand')
        value = the(run.steps, '*', right=p)
        q = value.left
        low = Fraction(steps.LOWEST)
        script = Script('q = (m - 1) / (m + 1)')
        script.within('m', low, 2 * low)
        script.fact('@FLT(m,53) /\\ @FIX(m,-53)')
        script.within('|m - 1|', UNIT, HALF)  # m is not 1
        script.machine(before(run.steps, q), {m.name: 'm', 'x': 'x'})
        twin = script.exact(before(run.steps, q), {m.name: 'm', 'x': 'x'})[q.name]
        script.goal(f'{q.name} -/ {twin}')
        found = script.prove()
        off = size(found[f'{q.name} -/ {twin}'])
        largest = (2 * low - 1) / (2 * low + 1), (1 - low) / (1 + low)
        most = max(largest)
        if p.left.operator != '*' or p.left.left is not q or p.left.right is not q or value.left is not q:
            raise steps.Drift('hui_quick_log_value is no longer q p(q q)')
        error, _ = self.polynomial('log', 's', -most, most, True, number(outward(off, off)[1]))
        return product_of(error, off), max(size(enclosures.log(2 * low)), size(enclosures.log(low)))

    def log_value(self, binary):
        """ln x or log2 x of a normal x, |k| <= 1001."""
        run = self.logarithm(binary)
        error, most = self.once('log_of_m')
        k, p = the(run.steps, 'exponent'), the(run.steps, 'p')
        part = the(run.steps, '*', right=p)
        inverse = 1 / self.ln2[1], 1 / self.ln2[0]
        errors = []
        for low, high in ((1, 1001), (-1001, -1), (0, 0)):
            script = Script(f'k and ln m, k from {low} to {high}')
            script.define('k', 'int<ne>(kk)')
            script.within('k', low, high)
            script.within('L', -most, most)
            script.within(f'{part.name} -/ L', -error, error)
            script.hint(f'{part.name} ~ L;')
            rest = [s for s in run.steps if s not in before(run.steps, part)]
            names = {k.name: 'k', part.name: part.name}
            twins = {k.name: 'k', part.name: 'L'}
            constants = [s for s in rest if isinstance(s.right, steps.Constant)]
            if len(constants) != (1 if binary else 2):
                raise steps.Drift('hui_quick_log_value has other constants')
            value = Fraction(constants[-1].right.value)
            ends = inverse if binary else tuple(e - Fraction(constants[0].right.value) for e in self.ln2)
            twins[float(value)] = 'C'
            script.within('C', *ends)
            script.within(f'{number(value)} - C', value - ends[1], value - ends[0])
            if low == high:  # k = 0: products with 0, sums with it
                rest = [s for s in rest if binary and s is constants[0]]
                y = rest[-1] if binary else part
                script.within('L', Fraction(1, 1 << 1000), most)
            else:
                y = run.y
            script.machine(rest, names)
            twin = script.exact(rest, twins)[y.name] if rest else 'L'
            if high:
                script.hint('$ k in (' + ','.join(str(v if low > 0 else -v) for v in (2, 4, 8, 16, 32, 64, 128, 256, 512)[::1 if low > 0 else -1]) + ');')
            script.hint(f'{y.name} ~ {twin};')
            errors.append(self.relative(script, y.name, twin))
        return max(errors)

    def prove_ln(self):
        return self.log_value(False)

    def prove_log2(self):
        return self.log_value(True)

    # ---- erfc ----

    def prove_scaled_erfc(self):
        """e^(t^2) erfc t for 2^-29 <= t <= 26.5 where t itself is off by 2^-52."""
        run = self.walk('hui_quick_scaled_erfc', [steps.Input('t')], leaves={'hui_polynomial_erfc': leaf('p')})
        p, own = the(run.steps, 'p'), self.polynomials['erfc']
        polynomial = self.walk('hui_polynomial_erfc', [steps.Input('v')])
        script = Script('the scaled erfc')
        script.define('t', 'rnd(tt)')
        script.within('T', Fraction(1, 1 << 29), Fraction(265, 10))
        script.fact('t -/ T in [-1b-52,1b-52]')
        script.hint('t ~ T;')
        w = p.left
        script.machine(before(run.steps, w), {})
        twins = script.exact(before(run.steps, w), {'t': 'T'})
        # S t / (t + K) - 1 with t once only, so that its range is seen.
        quotient = w.left
        product, total = quotient.left, quotient.right
        if (w.operator, quotient.operator, product.operator, total.operator) != ('-', '/', '*', '+') or {product.right.name, total.left.name} != {'t'}:
            raise steps.Drift('w is no longer S t / (t + K) - 1')
        s, k = number(Fraction(product.left.value)), number(Fraction(total.right.value))
        script.hint(f'{twins[quotient.name]} -> {s} - {s} * {k} / {twins[total.name]} {{ {twins[total.name]} <> 0 }};')
        script.machine(polynomial.steps, {'v': w.name})
        value = script.exact(polynomial.steps, {'v': twins[w.name]})[polynomial.y.name]
        script.within(f'{value} -/ G', -own, own)
        rest = [x for x in run.steps if x not in before(run.steps, p)]
        script.machine(rest, {p.name: polynomial.y.name})
        twin = script.exact(rest, {p.name: 'G', 't': 'T'})[run.y.name]
        script.hint(f'{polynomial.y.name} ~ G;')
        script.goal(f'{run.y.name} -/ {twin}')
        script.goal(f'{polynomial.y.name} -/ {value}')
        script.goal(f'{w.name} - {twins[w.name]}')
        script.goal(twins[w.name])
        found = script.prove()
        self.rounding['erfc'] = size(found[f'{polynomial.y.name} -/ {value}'])
        return size(found[f'{run.y.name} -/ {twin}']), found[twins[w.name]], size(found[f'{w.name} - {twins[w.name]}'])
