# SPDX-License-Identifier: MIT
"""Scales that are tried: Four Over Six, and the best of all scales (scaled.md, 4.1 and 4.2)."""
from exact import FINITE, Real, ZERO, finite, magnitude, multiply
from rounding import round_real
from scaled_binary32 import divided, ieee_divided, ieee_minus, ieee_plus, ieee_times, less, rne, times
from scaled_scales import Scale

SIX = finite(0, 6, 0)
SIDE = 16                                               # a block has at most 16 rows and 16 columns


def number_under(scale, x, mode, r):
    """The number P of the code that x gets under a scale."""
    layout = scale.layout
    operand = scale.operand(x) if scale.d.n else finite(x.sign, 0, 0)
    return layout.element.decode(round_real(operand, layout.element, mode, r)[0])


def summed(rows):
    """4.1, Sums: the error of a block from the errors of its rows."""
    errors = []
    for row in rows:
        total = ZERO
        for e in row:
            total = ieee_plus(total, e)
        errors.append(total)
    errors += [ZERO] * (SIDE - len(errors))
    half = SIDE // 2
    while half:
        errors = [ieee_plus(errors[i], errors[i + half]) for i in range(half)]
        half //= 2
    return errors[0]


def four_over_six_error(scale, rows, mode, words):
    """The error of a block under a scale, by the table of 4.1."""
    layout, second = scale.layout, scale.second
    divisor = multiply(SIX, layout.bound)               # 6 B
    fast, squared = layout.rule.endswith('_fast'), '_mse' in layout.rule

    def error(x, r):
        product = multiply(number_under(scale, x, mode, r), scale.s)            # P s is exact
        if fast:
            v, u = product, ieee_times(x, second.big_s)
        else:
            v, u = ieee_divided(ieee_times(product, second.a_t), divisor), x
        difference = ieee_minus(v, u)
        return ieee_times(difference, difference) if squared else magnitude(difference)
    return summed([error(x, r) for x, r in zip(row, word_row)] for row, word_row in zip(rows, words))


def four_over_six(layout, second, a, rows, mode, words):
    """s4 if its error is less than that of s6, else s6."""
    y = times(divided(a, SIX), second.big_s)
    candidates = []
    for target in (y, times(Real(FINITE, 0, 3, -1), y)):                        # y and rn(1.5 y)
        scale = Scale(layout, second, *layout.rounded_scale(target))
        candidates.append((four_over_six_error(scale, rows, mode, words), scale))
    (error6, six), (error4, four) = candidates
    return four if less(error4, error6) else six


def sweep(layout, second, rows, mode, words):
    """4.2: the positive finite code with the least error, of equal ones the smallest."""
    best = None
    for code in range(1, 1 << layout.scale.width - layout.scale.s):
        s = layout.scale.decode(code)
        if s.kind is not FINITE or not s.n:
            continue
        scale = Scale(layout, second, code, s)
        cache = {}

        def error(x, r):
            if (x, r) not in cache:
                v = rne(multiply(number_under(scale, x, mode, r), scale.d))
                difference = ieee_minus(v, x)
                cache[x, r] = ieee_times(difference, difference)
            return cache[x, r]
        total = summed([error(x, r) for x, r in zip(row, word_row)] for row, word_row in zip(rows, words))
        if best is None or less(total, best[0]):
            best = total, scale
    return best[1]


def tried_scale(layout, second, a, rows, mode, words):
    """The scale of a block of finite elements with A > 0, by any rule of sections 4.1 and 4.2."""
    if layout.rule == 'sweep_mse':
        return sweep(layout, second, rows, mode, words)
    return four_over_six(layout, second, a, rows, mode, words)
