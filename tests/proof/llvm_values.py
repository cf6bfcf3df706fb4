# SPDX-License-Identifier: MIT
"""Values of LLVM IR: a term with the condition under which it is poison, a pointer, or a list of values for a struct."""
from collections import namedtuple

import terms as t
from llvm_text import NotRead

Value = namedtuple('Value', 'term poison')
# base: the object's name, None for no object, SEVERAL where paths with different ones met, which then only null is known of.
Pointer = namedtuple('Pointer', 'base offset null poison')  # offset: 64 bits
SEVERAL = 'several objects'
NULL = Pointer(None, t.constant(0, 64), t.TRUE, t.FALSE)


def pointer_to(name):
    return Pointer(name, t.constant(0, 64), t.FALSE, t.FALSE)


def as_bits(x):
    return t.float_bits(x) if isinstance(x.sort, tuple) else x


def any_poison(value):
    if isinstance(value, list):
        return t.disjunction(*map(any_poison, value))
    return value.poison


def merged(cases):
    """One value out of pairs of condition and value, the last of them without being asked."""
    first = cases[0][1]
    if all(v is first or v == first for _, v in cases):
        return first
    if isinstance(first, list):
        return [merged([(c, v[i]) for c, v in cases]) for i in range(len(first))]
    if isinstance(first, Pointer):
        bases = {v.base for _, v in cases}
        return Pointer(first.base if len(bases) == 1 else SEVERAL,
                       *(t.select([(c, v[i]) for c, v in cases[:-1]], cases[-1][1][i]) for i in (1, 2, 3)))
    return Value(*(t.select([(c, v[i]) for c, v in cases[:-1]], cases[-1][1][i]) for i in (0, 1)))
