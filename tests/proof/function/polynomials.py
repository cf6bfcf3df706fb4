# SPDX-License-Identifier: MIT
"""The polynomials' own errors, by Sollya: sup |p / f - 1| on an interval, of the polynomial with the header's coefficients in exact
arithmetic.

`supnorm` is certified: the true value lies in the interval that it returns. For e^(t^2) erfc t, which takes it minutes, scaled_erfc.py
certifies the same in integers.
"""
import re
import subprocess
from fractions import Fraction

import scaled_erfc
import steps
from gappa import NotProved, dyadic

# name: (the sum whose relative error counts, p standing for the polynomial; what of x is p's variable; the function; |x| <= this)
WHOLE = {
    'expm1': ('x * p', 'x', 'expm1(x)', '0.3467'),
    'log': ('x * p', 'x^2', 'log1p(x) - log1p(-x)', '0.1716'),
    'log_rest': ('2 * x + x^3 * p', 'x^2', 'log1p(x) - log1p(-x)', '0.1716'),
    'sin': ('x * p', 'x^2', 'sin(x)', '0.7854'),
    'cos': ('p', 'x^2', 'cos(x)', '0.7854'),
    'erf': ('x * p', 'x^2', 'erf(x)', '0.5'),
}
COVERED = {name: Fraction(row[3]) for name, row in WHOLE.items()}
COVERED['erfc'] = Fraction(1)


def text_of(texts, name, variable):
    """The polynomial as Sollya reads it, with the C text's own digits."""
    run = steps.returned(texts, 'hui_polynomial_' + name, [steps.Input('v')])
    values = {'v': f'({variable})'}
    for s in run.steps:
        left, right = (f'({o.text})' if isinstance(o, steps.Constant) else values[o.name] for o in (s.left, s.right))
        values[s.name] = f'({left} {s.operator} {right})'
    return values[run.y.name]


def sollya(script):
    run = subprocess.run(['sollya', '--warnonstderr'], input='display = dyadic!; ' + script + '\nquit;\n', capture_output=True, text=True)
    said = [line.strip() for line in run.stdout.split('\n') if line.strip()]
    numbers = [line for line in said if re.fullmatch(r'-?\d+(b-?\d+)?', line)]
    if not numbers or 'error' in run.stdout.lower():
        raise NotProved(f'Sollya says\n{run.stdout}{run.stderr}\nof\n{script}')
    return [dyadic(line) for line in numbers]


def one(texts, name):
    form, variable, function, most = WHOLE[name]
    p = form.replace('p', text_of(texts, name, variable))
    return sollya(f'prec = 200!; p = horner({p}); r = supnorm(p, {function}, [-{most};{most}], relative, 2^(-16)); sup(r);')[0]


def measured(texts, names):
    """{name: error}."""
    return {name: scaled_erfc.error(texts, claims(texts[0])[name]) if name == 'erfc' else one(texts, name) for name in names}


def claims(text):
    """{name: 2^-n} of the header's comments."""
    found = re.findall(r'relative error below 2\^-(\d+)\. \*/\s*HU_FN double hui_polynomial_(\w+)\(', text)
    return {name: Fraction(1, 1 << int(n)) for n, name in found}
