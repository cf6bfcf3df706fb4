# SPDX-License-Identifier: MIT
"""Section 11.8 of numerics.md: the exceptions that a dot product raises as one instruction, with all its steps."""
from exact import is_infinite, is_nan


def raised(run, signalling, last):
    """The set of exceptions. `signalling`: an element of A or B, or C, is a signalling NaN; `last`: the events of the
    last rounding."""
    found = set()
    if signalling or any(step_is_invalid(*step) for step in run.steps):
        found.add('invalid')
    if run.overflowed or 'overflow' in last:
        found.add('overflow')
    return found


def step_is_invalid(products, c, new):
    """An infinity times a zero; infinite products of both signs; or a NaN though no operand, nor c, is one. A product
    is (its factors, whether they are an infinity and a zero, its value)."""
    if any(invalid for _, invalid, _ in products):
        return True
    if len({value.sign for _, _, value in products if is_infinite(value)}) == 2:
        return True
    return is_nan(new) and not is_nan(c) and not any(is_nan(x) for factors, _, _ in products for x in factors)
