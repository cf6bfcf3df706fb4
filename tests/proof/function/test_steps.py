# SPDX-License-Identifier: MIT
"""The steps that the proofs are about, evaluated in binary64, against the compiled functions, bit for bit.

usage: test_steps.py SOURCE_ROOT VALUES      VALUES: the program made of values.c

Besides, what the proofs suppose of the functions that look into patterns: powers of two, the split of x into m 2^k, and the exact product.
"""
import math
import pathlib
import random
import subprocess
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
import steps  # noqa: E402
from kernels import HEADERS  # noqa: E402

root, program = pathlib.Path(sys.argv[1]), sys.argv[2]
texts = [(root / f'emu/arith/{name}.h').read_text() for name in HEADERS]
draw = random.Random(20261124)
POINTS = 3000
X, Y = steps.Input('x'), steps.Input('y')
# name: (arguments, the smallest and largest exponent of |x|, whether x may be negative, {condition: what it is for (x, steps' values)})
WAYS = {
    'exp': ([X], -30, 8, True, {}), 'exp2': ([X], -30, 8, True, {}), 'expm1': ([X], -30, 8, True, {}),
    'log': ([X, 0], -900, 900, False, {}), 'log2': ([X, 1], -900, 900, False, {}), 'log1p': ([X], -30, 100, False, {}),
    'tanh': ([X], -15, 3, True, {}), 'sigmoid': ([X], -30, 8, True, {}), 'erf': ([X], -30, 1, True, {'a < 0.5': lambda x, v: abs(x) < 0.5}),
    'gelu': ([X], -30, 4, True, {'x < 0': lambda x, v: x < 0}), 'reciprocal': ([X], -140, 120, True, {}),
    'sin': ([X, 0], -20, 19, True, {'quarter & 1': lambda x, v: int(abs(x) * 0.6366197723675814 + 0.5) & 1}),
    'cos': ([X, 1], -20, 19, True, {'quarter & 1': lambda x, v: (int(abs(x) * 0.6366197723675814 + 0.5) + 1) & 1}),
    'pow': ([X, Y], -30, 30, False, {'k == 0': lambda x, v: steps.split(x)[1] == 0}),
}


def compiled(lines):
    out = subprocess.run([program], input='\n'.join(lines) + '\n', capture_output=True, text=True, check=True).stdout.split()
    if len(out) != len(lines):
        raise SystemExit(f'{program} answered {len(out)} of {len(lines)} lines')
    return out


def line(name, x, y=0.0):
    return f'{name} {steps.pattern(x):x} {steps.pattern(y):x}'


def few_digits(low, high, negative):
    x = math.ldexp(draw.getrandbits(23) | 1 << 23, draw.randint(low, high) - 23)
    return -x if negative and draw.random() < 0.5 else x


def operands(name):
    _, low, high, negative, _ = WAYS[name]
    while True:
        x, y = few_digits(low, high, negative), few_digits(-8, 4, True)
        if name == 'pow' and (x == 1 or abs(y * math.log2(x)) > 690):
            continue
        return x, y


def compare(name):
    arguments, _, _, _, conditions = WAYS[name]
    points = [operands(name) for _ in range(POINTS)]
    wanted = compiled([line(name, x, y) for x, y in points])
    runs, different = {}, 0
    for (x, y), want in zip(points, wanted):
        choices = {c: bool(f(x, None)) for c, f in conditions.items()}
        key = tuple(choices.values())
        if key not in runs:
            runs[key] = steps.decided(texts, 'hui_quick_' + {'log2': 'log', 'cos': 'sin'}.get(name, name), arguments, choices)
        run = runs[key]
        got = steps.evaluate(run.steps, {'x': x, 'y': y})[run.y.name]
        different += steps.pattern(abs(got)) != int(want, 16) & 0x7FFFFFFFFFFFFFFF
    if different or len(runs) != (2 if conditions else 1):
        raise SystemExit(f'{name}: {different} of {POINTS} values differ; {len(runs)} ways were seen')
    return POINTS


def leaves():
    powers = list(range(-1022, 1023))
    got = compiled([line('power', 1.5 * 2.0 ** 52 + k) for k in powers])
    if [int(v, 16) for v in got] != [steps.pattern(2.0 ** k) for k in powers]:
        raise SystemExit('hui_power_of_two64 is not 2^k')
    xs = [few_digits(-1000, 1000, False) for _ in range(POINTS)]
    for k in range(-1000, 1001, 7):  # and both sides of the place where the exponent changes
        xs += [math.ldexp(steps.LOWEST, k), math.nextafter(math.ldexp(steps.LOWEST, k), 0), math.ldexp(1, k)]
    for x, got in zip(xs, compiled([line('split', x) for x in xs])):
        m, k = (steps.double(int(got[i:i + 16], 16)) for i in (0, 16))
        if (m, k) != steps.split(x) or Fraction(m) * Fraction(2) ** int(k) != Fraction(x) or not steps.LOWEST <= m < 2 * steps.LOWEST:
            raise SystemExit(f'hui_quick_split of {x.hex()}: {m.hex()}, {k}')
    pairs = [(math.ldexp(draw.getrandbits(53) | 1 << 52, draw.randint(-300, 200) - 52), math.ldexp(draw.getrandbits(53) | 1 << 52, draw.randint(-80, 80) - 52))
             for _ in range(POINTS)]
    pairs += [(a, 1 - 2.0 ** -53) for a, _ in pairs[:100]] + [(1 + 2.0 ** -n, 1 + 2.0 ** -k) for n in range(1, 53) for k in range(1, 53)]
    for (a, b), got in zip(pairs, compiled([line('product', a, b) for a, b in pairs])):
        high, low = (Fraction(steps.double(int(got[i:i + 16], 16))) for i in (0, 16))
        if high + low != Fraction(a) * Fraction(b) or high != Fraction(a * b):
            raise SystemExit(f'hui_product64 of {a.hex()} and {b.hex()} is not exact')
    return len(powers) + len(xs) + len(pairs)


def integers():
    """1 / sqrt x and 1 / x of the integer core: z^n x <= 1 < (z + a unit)^n x, and equal exactly where sticky says so."""
    for name, power in (('root', 2), ('quotient', 1)):
        xs = [few_digits(-900, 900, False) for _ in range(POINTS)] + [math.ldexp(s, k) for s in range(1, 2048) for k in (-3, 0, 1, 40)]
        for x, got in zip(xs, compiled([line(name, x) for x in xs])):
            digits, exponent, sticky = got.split(',')
            sig, scale = int(digits, 16), Fraction(2) ** int(exponent)
            low, high = ((sig + k) * scale for k in (0, 1))
            if not low ** power * Fraction(x) <= 1 < high ** power * Fraction(x) or (low ** power * Fraction(x) == 1) == bool(int(sticky)):
                raise SystemExit(f'{name} of {x.hex()}: {got} is not its leading digits')
            if int(sticky) and sig < 1 << 63:
                raise SystemExit(f'{name} of {x.hex()}: {got} has fewer than 64 digits')
    return 2 * len(xs)


print('1 / sqrt x and 1 / x in integers:', integers(), 'values')
print('functions that look into patterns:', leaves(), 'values')
for each in WAYS:
    print(each, compare(each), 'values')
