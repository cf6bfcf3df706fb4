# SPDX-License-Identifier: MIT
"""The error of hui_polynomial_erfc, certified in integers, since Sollya's certified norm takes minutes for e^(t^2) erfc t.

With z = S - 1 - w and t = K S / z - K, y(w) = e^(t^2) erfc t solves z^3 y' = K S (2 (K S - K z) y - c z), c = 2 / sqrt pi. So the Taylor
coefficients of y at w0 follow from y(w0) by a recurrence, and those of z P - ((1 - 2 K) z + 2 K S) y, which is z (P - G), from
them. What is left out of y is below M (h / rho)^N / (1 - h / rho) for |w - w0| <= h, where |y| <= M for complex w within rho of w0 (Cauchy):
|y| <= 1 where Re t >= 0, by c times the integral of e^(-s^2 - 2 t s), and y(t) = 2 e^(t^2) - y(-t) elsewhere.
"""
from fractions import Fraction

import enclosures
import steps
from gappa import NotProved

PARTS, ORDER, RHO = 128, 24, Fraction(1, 5)


def scaled(t):
    """e^(t^2) erfc t, enclosed: from 9 on by the asymptotic series, whose error is below its next term."""
    if t < 9:
        e, c = enclosures.e_to(t * t), enclosures.erfc(t)
        return enclosures.cut(e[0] * c[0], e[1] * c[1])
    total, term, k = Fraction(0), Fraction(1), 0
    while k < 60:
        total += term
        k += 1
        term = enclosures.cut(-term * (2 * k - 1) / (2 * t * t), -term * (2 * k - 1) / (2 * t * t))[0]
    off = abs(term) + Fraction(100, 1 << enclosures.DIGITS)
    p = enclosures.pi()
    low, high = enclosures.root(p[0])[0], enclosures.root(p[1])[1]
    return enclosures.cut((total - off) / (t * high), (total + off) / (t * low))


def times(a, b):
    ends = [x * y for x in a for y in b]
    return enclosures.cut(min(ends), max(ends))


def plus(*terms):
    return sum(t[0] for t in terms), sum(t[1] for t in terms)


def shifted(coefficients, w0):
    """The polynomial in w as one in v = w - w0."""
    out = [Fraction(0)] * len(coefficients)
    for c in reversed(coefficients):
        out = [w0 * out[0] + c] + [w0 * out[i] + out[i - 1] for i in range(1, len(out))]
    return out


def part(coefficients, scale, k, w0, h):
    """sup |P / G - 1| for |w - w0| <= h."""
    d, ks, t0 = scale - 1 - w0, k * scale, k * (w0 + 1) / (scale - (w0 + 1))
    p = enclosures.pi()
    c = 2 / enclosures.root(p[1])[1], 2 / enclosures.root(p[0])[0]
    y = [scaled(t0)]
    for n in range(ORDER - 1):
        def at(i):
            return y[i] if i >= 0 else (Fraction(0), Fraction(0))
        terms = [times(at(n), (3 * d * d * n + 2 * ks * (ks - k * d),) * 2), times(at(n - 1), (-3 * d * (n - 1) + 2 * ks * k,) * 2),
                 times(at(n - 2), (Fraction(n - 2),) * 2), times(c, ({0: -ks * d, 1: ks}.get(n, Fraction(0)),) * 2)]
        y.append(times(plus(*terms), (1 / (d ** 3 * (n + 1)),) * 2))
    lowest = ks / (d + RHO) - k  # the smallest real part of t on the disc, and how far t reaches there
    reach = max(abs(lowest), abs(ks / (d - RHO) - k)) if lowest < 0 else Fraction(0)
    if lowest < 0 and reach > 3:
        raise NotProved('the disc reaches too far to the left')
    bound = 1 + (2 * enclosures.e_to(reach * reach)[1] if lowest < 0 else 0)
    rest = bound * (h / RHO) ** ORDER / (1 - h / RHO)
    own = shifted(coefficients, w0) + [Fraction(0)] * ORDER
    e0, e1 = (1 - 2 * k) * d + 2 * ks, -(1 - 2 * k)
    total = (abs(e0) + abs(e1) * h) * rest
    for n in range(max(ORDER, len(coefficients)) + 1):
        yn, before = (y[n] if n < ORDER else (0, 0)), (y[n - 1] if 0 < n <= ORDER else (0, 0))
        mine = own[n] * d - (own[n - 1] if n else 0)
        both = times((e0, e0), yn), times((e1, e1), before)
        ends = mine - both[0][1] - both[1][1], mine - both[0][0] - both[1][0]
        total += max(map(abs, ends)) * h ** n
    middle, slope = own[0], sum(abs(v) * h ** i for i, v in enumerate(own) if i)
    off = total / (d - h)
    return off / (abs(middle) - slope - off)


def error(texts, claim):
    """The largest over [-1, 1], upward; parts are halved to get below the claim."""
    run = steps.returned(texts, 'hui_polynomial_erfc', [steps.Input('v')])
    numbers = [Fraction(o.value) * (-1 if s.operator == '-' and o is s.right else 1) for s in run.steps for o in (s.left, s.right)
               if isinstance(o, steps.Constant)]
    value = steps.returned(texts, 'hui_quick_scaled_erfc', [steps.Input('t')]).steps
    k = [s.right for s in value if s.operator == '+' and isinstance(s.right, steps.Constant) and getattr(s.left, 'name', '') == 't']
    scale, k = Fraction(float.fromhex(steps.Run(texts).constants['HU_ERFC_SCALE'])), Fraction(k[0].value)
    worst = Fraction(0)
    for i in range(PARTS):
        worst = max(worst, halved(numbers[::-1], scale, k, Fraction(2 * i + 1, PARTS) - 1, Fraction(1, PARTS), claim))
        if worst > 4 * claim:  # the claim is wrong, and how far is not asked
            break
    return worst


def halved(coefficients, scale, k, w0, h, claim):
    """The part's error; in halves where the enclosure is somewhat wider than the claim, at most four times."""
    found = part(coefficients, scale, k, w0, h)
    if found <= claim or found > 4 * claim or h * 16 <= Fraction(1, PARTS):
        return found
    return max(halved(coefficients, scale, k, w0 + s * h / 2, h / 2, claim) for s in (-1, 1))
