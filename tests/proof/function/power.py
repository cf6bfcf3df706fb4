# SPDX-License-Identifier: MIT
"""x^y = 2^(y log2 x) of emu/arith/function_quick.h: the logarithm is a sum of two doubles, so the bound is joined here step by step.

Three theorems are used and not proved again: what `hui_product64` returns is the product exactly (Veltkamp, Dekker 1971; the tests compare it in
rational arithmetic), a difference of two doubles within a factor 2 of each other is exact (Sterbenz), and in s = a + b with |a| >= |b| both
a - s and (a - s) + b are exact (Dekker). Their conditions are checked. Errors are absolute in units of |Q| = |(m - 1) / (m + 1)|
up to log2 m, with ln m = 2 Q + Q^3 p(Q^2).
"""
from fractions import Fraction

import enclosures
import steps
from gappa import NotProved, Script, number, outward
from kernels import HALF, UNIT, before, leaf, product_of, size, the

ORDER = {True: '''m = x significand
k = x exponent
above = m - 1
below = m + 1
q = above / below
high = q * below
low = q low below
rest = above - high
rest_2 = rest - low
rest_3 = rest_2 / below
s = q * q
rest_4 = 2 * rest_3
rest_5 = q * s
polynomial_log_rest = s hui_polynomial_log_rest
rest_6 = rest_5 * polynomial_log_rest
rest_7 = rest_4 + rest_6
t = 2 * q
high_2 = t * C1
low_2 = t low C1
ll = 2 * q
ll_2 = ll * C2
ll_3 = rest_7 * C1
ll_4 = ll_2 + ll_3
ll_5 = low_2 + ll_4
sum = k + high_2
low_3 = 0 + ll_5
high_3 = sum + low_3
low_4 = sum - high_3
low_5 = low_4 + low_3
''', False: '''sum = k + high_2
low_3 = k - sum
low_4 = low_3 + high_2
low_5 = low_4 + ll_5
high_3 = sum + low_5
low_6 = sum - high_3
low_7 = low_6 + low_5
'''}
LAST = '''high_4 = high_3 * y
{0} = high_3 low y
el = {1} * y
el_2 = {0} + el
shifted = high_4 + C3
r = shifted - C3
r_2 = high_4 - r
r_3 = r_2 + el_2
r_4 = r_3 * C4
power = shifted power
polynomial_expm1 = r_4 hui_polynomial_expm1
y_2 = r_4 * polynomial_expm1
y_3 = power * y_2
y_4 = power + y_3
'''


def listing(run):
    """The steps as text, and the constants, numbered in their order."""
    constants = []

    def text(o):
        if o is None:
            return ''
        if not isinstance(o, steps.Constant):
            return o.name
        if o.value == int(o.value) and abs(o.value) < 3:
            return o.text
        if o.value not in constants:
            constants.append(o.value)
        return f'C{constants.index(o.value) + 1}'
    lines = [f'{s.name} = {text(s.left)} {s.operator} {text(s.right)}'.rstrip() for s in run.steps]
    return '\n'.join(lines) + '\n', [Fraction(c) for c in constants]


def walk(errors, zero):
    run = steps.decided(errors.texts, 'hui_quick_pow', [steps.Input('x'), steps.Input('y')], {'k == 0': zero},
                        {n: leaf(n) for n in ('hui_polynomial_log_rest', 'hui_polynomial_expm1')})
    text, constants = listing(run)
    first = ORDER[True] if zero else ORDER[True][:ORDER[True].index('sum =')] + ORDER[False]
    if text != first + LAST.format(*(('low_6', 'low_5') if zero else ('low_8', 'low_7'))):
        raise steps.Drift('pow has another order of operations:\n' + text)
    return run, constants


def quotient(errors, run, low):
    """|q - Q| and |rest_3 - (Q - q)|, in units of |Q|."""
    script = Script('the quotient and what it leaves')
    script.define('m', 'float<24,-2000,ne>(mm)')
    script.within('m', low, 2 * low)
    script.within('|m - 1|', Fraction(1, 1 << 24), HALF)
    part = [s for s in run.steps if s.name in ('above', 'below', 'q')]
    script.machine(part, {'m': 'm'})
    twins = script.exact(part, {'m': 'm'})
    for goal in ('above - Eabove', 'below - Ebelow', 'q -/ Eq'):
        script.goal(goal)
    found = script.prove()
    if size(found['above - Eabove']) or size(found['below - Ebelow']) or len(twins) < 3:
        raise NotProved('m - 1 or m + 1 is not exact')
    off = size(found['q -/ Eq'])
    # high = q below (1 + u) and above = Q below: within a factor 2, so above - high is exact, and less `low` it is above - q below =
    # below (Q - q), which two roundings make rest_3.
    return off, off * (product_of(UNIT))


def logarithm(errors):
    """Relative errors of high_3 + its low part against log2 x: (k = 0, k other than 0)."""
    run, constants = walk(errors, False)
    low = Fraction(steps.LOWEST)
    q_off, rest_off = quotient(errors, run, low)
    most = max((2 * low - 1) / (2 * low + 1), (1 - low) / (1 + low))
    eta = errors.polynomials['log_rest']  # of 2 q + q^3 p(q^2), relative to ln m
    p_off, p_range = errors.polynomial('log_rest', 's', -most, most, True, number(outward(q_off, q_off)[1]), own=Fraction(0))
    # rest_5 = q s, s = q q: Q^3 within three errors of q and two roundings; times p.
    cube = product_of(q_off, q_off, q_off, UNIT)
    term = (1 + cube) * (1 + p_off) * (1 + UNIT) - 1
    share = most * most * p_range[1]  # Q^3 p(Q^2) in units of |Q|
    rest = 2 * (q_off + rest_off) + share * (1 + term)
    rest_error = 2 * rest_off + share * term + UNIT * rest
    inverse = 1 / errors.ln2[1], 1 / errors.ln2[0]
    high, tail = constants[0], constants[1]
    q = 1 + q_off
    # high_2 + low_2 = 2 q C1 exactly; log2 m = (2 q + rest + ...) / ln 2.
    error = 2 * q * max(abs(high + tail - v) for v in inverse)          # the constant in two parts
    error += UNIT * 2 * q * abs(tail)                                   # ll_2
    error += inverse[1] * rest_error + rest * (1 + UNIT) * max(abs(high - v) for v in inverse)
    ll_3 = rest * (1 + UNIT) * high
    error += UNIT * ll_3                                                # ll_3
    ll_4 = 2 * q * abs(tail) * (1 + UNIT) + ll_3 * (1 + UNIT)
    error += UNIT * ll_4
    low_2 = UNIT * 2 * q * high
    ll_5 = (low_2 + ll_4 * (1 + UNIT)) * (1 + UNIT)
    error += UNIT * (low_2 + ll_4 * (1 + UNIT))
    least = 2 / errors.ln2[1]                                           # |log2 m| is at least 2 |Q| / ln 2
    error = error / least + eta                                         # relative to log2 m
    high_2 = 2 * q * high * (1 + UNIT)
    ratio = ll_5 / (2 * (1 - q_off) * high * (1 - UNIT))                # |ll_5 / high_2|
    if ratio > Fraction(1, 4):
        raise NotProved('the second part of log2 m is not small')
    zero = error + (UNIT * UNIT * 2) * (1 + ratio)
    # k: |k| >= 1 > |high_2| makes low_4 exact, at most u |sum|; then low_5 and low_7 are rounded.
    largest = max(size(enclosures.log(2 * low)), size(enclosures.log(low))) / errors.ln2[0]
    if most * high_2 >= 1:
        raise NotProved('the logarithm of m is not below 1')
    fraction = largest / (1 - largest)                                  # of |log2 m| to |log2 x|
    small = UNIT * (1 + fraction * 2) + fraction * ratio * 2            # |low_4| + |ll_5| to |log2 x|
    other = error * fraction + UNIT * small + UNIT * UNIT * 4
    return zero, other


def power(errors):
    run, constants = walk(errors, True)
    walk(errors, False)
    log = max(logarithm(errors))
    # high_4 + low = high y exactly; el and el_2 are rounded: their terms are below 2 u |high y|.
    exponent = log + 4 * UNIT * UNIT * (1 + log)
    most = Fraction(700)
    exponent_off = exponent * most * (1 + 2 * UNIT)
    script = Script('the exponent and what is left of it')
    script.define('high', 'rnd(hh)')
    script.define('el', 'rnd(ll)')
    script.within('high', -most, most)
    script.within('|el|', 0, 4 * UNIT * most)
    part = [s for s in run.steps if s.name in ('shifted', 'r', 'r_2', 'r_3', 'r_4')]
    names = {'high_4': 'high', 'el_2': 'el'}
    script.machine(part, names)
    shifter = number(constants[2])
    for goal in (f'shifted - (high + {shifter})', 'shifted', f'r - (shifted - {shifter})', 'r_2 - (high - r)'):
        script.goal(goal)
    found = list(script.prove().values())
    if size(found[0]) > HALF or found[1][0] < 2 ** 52 or found[1][1] > 2 ** 53 or size(found[2]):
        raise NotProved('k is not the nearest integer')
    script.goals = ['r_2 - (high - r)']  # below 1/4 k is 0; from there on high is a multiple of 2^-54
    script.fact('@FIX(high,-54)')
    script.within('|high - r|', 0, HALF)
    if size(script.prove()['r_2 - (high - r)']):
        raise NotProved('high - k is not exact')
    script = Script('r from the exponent')
    script.define('u', 'rnd(uu)')
    script.define('el', 'rnd(ll)')
    script.within('u', -HALF, HALF)
    script.within('|el|', 0, 4 * UNIT * most)
    last = [s for s in run.steps if s.name in ('r_3', 'r_4')]
    script.machine(last, {'r_2': 'u', 'el_2': 'el'})
    script.within('Ln2', *errors.ln2)
    script.within(f'{number(constants[3])} - Ln2', constants[3] - errors.ln2[1], constants[3] - errors.ln2[0])
    twin = script.exact(last, {'r_2': 'u', 'el_2': 'el', float(constants[3]): 'Ln2'})['r_4']
    script.goal('r_4')
    script.goal(f'r_4 - {twin}')
    found = script.prove()
    largest = size(found['r_4'])
    off = size(found[f'r_4 - {twin}']) + exponent_off * errors.ln2[1]
    d_error = product_of(errors.polynomial('expm1', 'r', -largest, largest)[0])
    ends = enclosures.e_to(-largest)[0] - 1, enclosures.e_to(largest)[1] - 1
    script = Script('2^r, in units of 2^k')
    most_off = d_error * size(ends) + off * (1 + ends[1]) * (1 + off)
    script.within('D', *ends)
    script.within('d - D', -most_off, most_off)
    script.hint('d ~ D;')
    d = [s for s in run.steps if s.name == 'y_2'][0]
    names = {s.name: s.name for s in before(run.steps, d)}
    names.update({s.name: '1' for s in run.steps if s.operator == 'power'})
    script.machine(run.steps, {**names, d.name: 'd'}, few=[run.steps[-2].name])
    twin = script.exact(run.steps, {**names, d.name: 'D'})[run.y.name]
    return errors.relative(script, run.y.name, twin)
