# SPDX-License-Identifier: MIT
"""Each function's y of the rounding test against the real f(x): one relative error, from the parts of kernels.py.

`PROOFS` names the functions; each returns the largest of the relative errors of its ways. The operands are what hui_quick_operand lets through
(at most 24 digits, 2^-1000 to 2^1000 in magnitude) less those whose result a shortcut gives (shortcuts.py).
"""
import re
from fractions import Fraction

import enclosures
import steps
from gappa import NotProved, Script, number, outward
from kernels import HALF, UNIT, before, leaf, nearest_whole, product_of, size, the

X = steps.Input('x')


def whole_exp(errors, script, name, low, high):
    """`name` is a computed e^x, `name`E the real one, between low and high."""
    error = errors.once('exp_value')
    script.within(name + 'E', low, high)
    script.within(f'{name} -/ {name}E', -error, error)
    script.hint(f'{name} ~ {name}E;')


def decided(errors, function, arguments, choices=None, leaves=None):
    return steps.decided(errors.texts, function, arguments, choices, {n: leaf(n) for n in leaves or ()})


def exp(errors):
    run = decided(errors, 'hui_quick_exp', [X], leaves=['hui_quick_exp_value'])
    same(run.y, 'hui_quick_exp_value')
    return errors.once('exp_value')


def same(y, function):
    if y.operator != function:
        raise steps.Drift(f'the value is no longer that of {function}')


def expm1(errors):
    run = decided(errors, 'hui_quick_expm1', [X], leaves=['hui_quick_expm1_value'])
    same(run.y, 'hui_quick_expm1_value')
    return errors.once('expm1_value')


def exp2(errors):
    """x = k + u; r = u ln 2 rounded."""
    run = decided(errors, 'hui_quick_exp2', [X], leaves=['hui_polynomial_expm1'])
    p, power = the(run.steps, 'hui_polynomial_expm1'), the(run.steps, 'power')
    r, shifted = p.left, power.left
    script = Script('r = (x - k) ln 2')
    script.define('x', 'float<24,-2000,ne>(xx)')
    script.within('|x|', Fraction(1, 1 << 28), 1000)
    script.fact('@FIX(x,-52)')
    list_of = before(run.steps, r)
    u = r.left
    script.machine(list_of)
    script.within('C', *errors.ln2)
    constant = Fraction(r.right.value)
    script.within(f'{number(constant)} - C', constant - errors.ln2[1], constant - errors.ln2[0])
    k = u.right
    script.define('R', f'(x - {k.name}) * C')
    script.hint(f'{r.name} ~ R;')
    shifter = number(Fraction(shifted.right.value))
    for goal in (f'{shifted.name} - (x + {shifter})', shifted.name, f'{k.name} - ({shifted.name} - {number(Fraction(k.right.value))})'):
        script.goal(goal)
    found = list(script.prove().values())
    if size(found[0]) > HALF or found[1][0] < 2 ** 52 or found[1][1] > 2 ** 53 or size(found[2]):
        raise NotProved('k is not the nearest integer')
    script.goals = []
    script.within(f'x - {k.name}', -HALF, HALF)
    script.goal(f'{r.name} - R')
    script.goal(f'{u.name} - (x - {k.name})')
    found = list(script.prove().values())
    if size(found[1]):
        raise NotProved('x - k is not exact')
    most = HALF * max(errors.ln2[1], constant) * (1 + UNIT)
    d_error, _ = errors.polynomial('expm1', 'r', -most, most)
    d_error = product_of(d_error)
    ends = enclosures.e_to(-most)[0] - 1, enclosures.e_to(most)[1] - 1
    off = d_error * size(ends) + size(found[0]) * (1 + ends[1])
    script = Script('2^x, in units of 2^k')
    script.within('D', *ends)
    script.within('d - D', -off, off)
    script.hint('d ~ D;')
    d = the(run.steps, '*', right=p)
    names = {s.name: s.name for s in before(run.steps, d)}
    names.update({d.name: 'd', power.name: '1', **{s.name: '0' for s in before(run.steps, power.left)}})
    script.machine(run.steps, names, few=[run.steps[-2].name])
    twin = script.exact(run.steps, {**names, d.name: 'D'})[run.y.name]
    return errors.relative(script, run.y.name, twin)


def log(errors, binary=0):
    run = decided(errors, 'hui_quick_log', [X, binary], leaves=['hui_quick_log_value'])
    same(run.y, 'hui_quick_log_value')
    return errors.once('log2' if binary else 'ln')


def log2(errors):
    return log(errors, 1)


def log1p(errors):
    """1 + x is exact up to 2^52, and beyond within 2^-53, which ln takes as a difference."""
    run = decided(errors, 'hui_quick_log1p', [X], leaves=['hui_quick_log_value'])
    same(run.y, 'hui_quick_log_value')
    if run.y.left.operator != '+' or not {getattr(run.y.left.left, 'value', 0), getattr(run.y.left.right, 'value', 0)} == {1.0, 0}:
        raise steps.Drift('log1p is no longer ln of 1 + x')
    for e in range(-27, 52):  # 2^e <= |x| < 2^(e+1), a multiple of 2^(e-23): 1 + x is a multiple of the smaller of that and 1
        if max(e + 1, 0) + 1 - min(e - 23, 0) > 53:
            raise NotProved(f'1 + x is not exact at 2^{e}')
    error = errors.once('ln')
    least = 52 * errors.ln2[0]
    return (1 + error) * (1 + 2 * UNIT / least) - 1 + 2 * UNIT / least


def tanh(errors):
    run = decided(errors, 'hui_quick_tanh', [X], leaves=['hui_quick_expm1_value'])
    d = the(run.steps, 'hui_quick_expm1_value')
    if d.left.operator != '+' or d.left.left is not d.left.right:
        raise steps.Drift('the operand is no longer a + a')
    error = errors.once('expm1_value')
    script = Script('d / (d + 2)')
    script.within('D', Fraction(1, 1 << 13), enclosures.e_to(24)[1])
    script.within('d -/ D', -error, error)
    script.hint('d ~ D;')
    names = {s.name: s.name for s in before(run.steps, d)}
    script.machine(run.steps, {**names, d.name: 'd'})
    twin = script.exact(run.steps, {**names, d.name: 'D'})[run.y.name]
    return errors.relative(script, run.y.name, twin)


def sigmoid(errors):
    run = decided(errors, 'hui_quick_sigmoid', [X], leaves=['hui_quick_exp_value'])
    e = the(run.steps, 'hui_quick_exp_value')
    if e.left.operator != 'negate':
        raise steps.Drift('the operand is no longer -x')
    script = Script('1 / (1 + e^-x)')
    whole_exp(errors, script, 'e', enclosures.e_to(-21)[0], enclosures.e_to(700)[1])
    script.machine(run.steps, {e.name: 'e', e.left.name: e.left.name})
    twin = script.exact(run.steps, {e.name: 'eE', e.left.name: e.left.name})[run.y.name]
    return errors.relative(script, run.y.name, twin)


def erf(errors):
    run = decided(errors, 'hui_quick_erf', [X], {'a < 0.5': True}, ['hui_polynomial_erf'])
    p, a = the(run.steps, 'hui_polynomial_erf'), the(run.steps, 'absolute')
    if p.left.operator != '*' or p.left.left is not a or p.left.right is not a or (run.y.operator, {run.y.left, run.y.right}) != ('*', {a, p}):
        raise steps.Drift('erf is no longer a p(a a) for small a')
    small = product_of(errors.polynomial('erf', 't', 0, HALF, True)[0])
    return max(small, complement(errors, 'hui_quick_erf', {'a < 0.5': False}, HALF, Fraction(17, 4)))


def complement(errors, function, choices, low, high):
    """1 - e^(-a^2) erfc's share, for low <= a <= high of 24 digits."""
    run = decided(errors, function, [X], choices, ['hui_quick_exp_value', 'hui_quick_scaled_erfc'])
    e, s, a = (the(run.steps, n) for n in ('hui_quick_exp_value', 'hui_quick_scaled_erfc', 'absolute'))
    square = e.left.left
    if e.left.operator != 'negate' or square.operator != '*' or square.left is not a or square.right is not a or s.left is not a:
        raise steps.Drift('erf is no longer 1 - e^-(a a) g(a)')
    exactly(errors, 'a a', before(run.steps, square), square, {a.name: 'a', 'x': 'x'}, 'a', low, high)
    script = Script('1 - e g')
    tail(errors, script, 0, enclosures.erfc(low)[1], -high * high, -low * low, 'eE * sE')
    names = {n.name: n.name for n in before(run.steps, square) + [e.left]}
    script.machine(run.steps, {**names, e.name: 'e', s.name: 's'})
    twin = script.exact(run.steps, {**names, e.name: 'eE', s.name: 'sE'})[run.y.name]
    return errors.relative(script, run.y.name, twin)


def exactly(errors, title, list_of, last, names, operand, low, high):
    """The last of the steps is exact for an operand of 24 digits, a multiple of 2^-49 at most, at `low` or above in magnitude."""
    script = Script(title + ' is exact')
    script.define(operand, 'float<24,-2000,ne>(xx)')
    script.within(f'|{operand}|', low, high)
    script.machine(list_of, names)
    twin = script.exact(list_of, names)[last.name]
    script.goal(f'{last.name} - {twin}')
    if size(script.prove()[f'{last.name} - {twin}']):
        raise NotProved(title + ' is not exact')


def tail(errors, script, low, high, lowest_exponent, highest_exponent, product):
    """e and s for the computed exponential and scaled erfc, eE and sE for the real ones; their product between low and high."""
    whole_exp(errors, script, 'e', enclosures.e_to(lowest_exponent)[0], enclosures.e_to(highest_exponent)[1])
    error, w, _ = errors.once('scaled_erfc')
    if not -1 <= w[0] <= w[1] <= 1:
        raise NotProved('w leaves [-1, 1]')
    script.within('sE', Fraction(1, 64), 1)
    script.within('s -/ sE', -error, error)
    script.hint('s ~ sE;')
    script.within(product, low, high)


def gelu(errors):
    found = []
    for negative in (True, False):
        run = decided(errors, 'hui_quick_gelu', [X], {'x < 0': negative}, ['hui_quick_exp_value', 'hui_quick_scaled_erfc'])
        e, s, a = (the(run.steps, n) for n in ('hui_quick_exp_value', 'hui_quick_scaled_erfc', 'absolute'))
        high = Fraction(37 if negative else 6)
        exactly(errors, '-x^2 / 2', before(run.steps, e.left), e.left, {'x': 'x'}, 'x', Fraction(1, 1 << 28), high)
        if s.left.operator != '*' or s.left.left is not a:
            raise steps.Drift('the operand of erfc is no longer a / sqrt 2')
        constant, root = Fraction(s.left.right.value), enclosures.root(HALF)
        off = product_of(max(abs(constant / root[0] - 1), abs(constant / root[1] - 1)))
        if off > 2 * UNIT:
            raise NotProved('1 / sqrt 2 is off')
        for low, high in ((Fraction(1, 1 << 28), Fraction(1)), (Fraction(1), high)):
            script = Script(f'gelu, {"below" if negative else "above"} 0')
            tail(errors, script, 0, 1, -high * high / 2, -low * low / 2, 'eE * sE')
            script.within('|x|', low, high)
            names = {n.name: n.name for n in before(run.steps, e.left) + before(run.steps, s.left)}
            script.machine(run.steps, {**names, e.name: 'e', s.name: 's'})
            twin = script.exact(run.steps, {**names, e.name: 'eE', s.name: 'sE'})[run.y.name]
            found.append(errors.relative(script, run.y.name, twin))
    return max(found)


def least_remainder():
    """The smallest |a - k pi/2| for k from 1 to 2^20 and a of 24 digits: for each exponent of a, a multiple of 2^e, the best fractions
    p/q of w = pi/2 / 2^e have |q w - p| smaller than all fractions of smaller denominators have (Lagrange)."""
    half_pi = tuple(v / 2 for v in enclosures.pi())
    least = None
    for e in range(-24, -3):  # a from 2^(e+23) to 2^(e+24): from 1/2 to 2^20
        w = tuple(v / Fraction(2) ** e for v in half_pi)
        # The steps of the continued fraction of both ends must agree; p/q alternate about w.
        (p0, q0), (p1, q1), rest = (1, 0), (int(w[0]), 1), w
        best = None
        while q1 <= 1 << 20:
            best = (q1, p1)
            if int(rest[0]) != int(rest[1]):
                raise NotProved('pi is not known well enough')
            whole = int(rest[0])
            rest = 1 / (rest[1] - whole), 1 / (rest[0] - whole)
            if int(rest[0]) != int(rest[1]):
                raise NotProved('pi is not known well enough')
            (p0, q0), (p1, q1) = (p1, q1), (int(rest[0]) * p1 + p0, int(rest[0]) * q1 + q0)
        q, p = best
        distance = min(abs(q * w[0] - p), abs(q * w[1] - p)) * Fraction(2) ** e
        least = distance if least is None else min(least, distance)
    return least


def remainder(errors):
    """(relative error of r, largest |r|) for the sine and the cosine."""
    run = decided(errors, 'hui_quick_sin', [X, 0], {'quarter & 1': False}, ['hui_polynomial_sin'])
    p, a = the(run.steps, 'hui_polynomial_sin'), the(run.steps, 'absolute')
    r = p.left.left
    k = [s for s in run.steps if s.operator == '-' and isinstance(s.right, steps.Constant)][0]
    shifted = k.left
    half_pi = tuple(v / 2 for v in enclosures.pi())
    most_k, product, inverse = nearest_whole(before(run.steps, k), shifted, k, Fraction(1 << 20))
    off = product + (1 << 20) * max(abs(inverse - 1 / half_pi[0]), abs(inverse - 1 / half_pi[1]))
    most = (HALF + off) * half_pi[1]
    if most_k > 1 << 20:
        raise NotProved('k is larger than was thought')
    parts = [Fraction(s.right.value) for s in run.steps if s.operator == '*' and s.left is k]
    if len(parts) != 3:
        raise steps.Drift('pi/2 is no longer in three parts')
    last = tuple(v - parts[0] - parts[1] for v in half_pi)
    least, split, errors_found = least_remainder(), Fraction(1, 1 << 13), []
    ends = [least, split]
    while ends[-1] < most:
        ends.append(min(2 * ends[-1], most))
    for low, high in zip(ends, ends[1:]):
        script = Script(f'the remainder of pi/2 from {float(low):.3g} to {float(high):.3g}')
        script.define('k', 'int<ne>(kk)')
        script.define('a', 'float<24,-2000,ne>(aa)')
        script.fact('@FIX(a,-24)')
        script.within('a', HALF, 1 << 20)
        script.within('k', 1, most_k)
        script.machine(before(run.steps, r), {k.name: 'k', a.name: 'a'})
        twin = script.exact(before(run.steps, r), {k.name: 'k', a.name: 'a', float(parts[2]): 'Last'})[r.name]
        script.within('Last', *last)
        script.within('Last - ' + number(parts[2]), last[0] - parts[2], last[1] - parts[2])
        script.within(f'|{twin}|', low, high)
        errors_found.append(errors.relative(script, r.name, twin))
    return max(errors_found), most


def circular(errors, cosine):
    error, most = errors.done.setdefault('remainder', None) or remainder(errors)
    errors.done['remainder'] = error, most
    run = decided(errors, 'hui_quick_sin', [X, cosine], {'quarter & 1': True}, ['hui_polynomial_cos'])
    if run.y.operator != 'hui_polynomial_cos':
        raise steps.Drift('the cosine is no longer the polynomial alone')
    other = decided(errors, 'hui_quick_sin', [X, cosine], {'quarter & 1': False}, ['hui_polynomial_sin'])
    p = the(other.steps, 'hui_polynomial_sin')
    if (other.y.operator, other.y.left, other.y.right) != ('*', p.left.left, p) or p.left.operator != '*' or p.left.left is not p.left.right:
        raise steps.Drift('the sine is no longer r p(r r)')
    bound = number(outward(error, error)[1])
    sine = product_of(errors.polynomial('sin', 't', -most, most, True, bound)[0], error)
    return max(sine, errors.polynomial('cos', 't', -most, most, True, bound)[0])


def sin(errors):
    return circular(errors, 0)


def cos(errors):
    return circular(errors, 1)


def reciprocal(errors):
    run = decided(errors, 'hui_quick_reciprocal', [X])
    return one_division(errors, run)


def one_division(errors, run):
    script = Script('a quotient of 1')
    script.define('x', 'float<24,-149,ne>(xx)')
    script.within('x', Fraction(1, 1 << 149), 1 << 128)
    script.machine(run.steps)
    twin = script.exact(run.steps, {})[run.y.name]
    return errors.relative(script, run.y.name, twin)


def rsqrt(errors):
    """emu/arith/function_loops.c: 1 over the processor's root."""
    m = re.search(r'LANES\(rsqrt, hui_quick_decided\(1 / __builtin_sqrt\(x\), x > 0\)', errors.loops)
    if not m:
        raise steps.Drift('rsqrt is no longer 1 / sqrt x')
    root = steps.Step('root_x', 'root', X, None)
    y = steps.Step('y', '/', steps.Constant('1'), root)
    run = steps.Run([])
    run.steps, run.y = [root, y], y
    return one_division(errors, run)
