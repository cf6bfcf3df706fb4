#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the queries about shifted and squeezed tensors: functions of element.c, which are given any memory for a search."""
import pathlib
import sys

sys.dont_write_bytecode = True
PROOF = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PROOF), str(PROOF / 'lanes')]
import llvm  # noqa: E402
import prove  # noqa: E402
import queries  # noqa: E402
import terms as t  # noqa: E402
from query import Query  # noqa: E402
from llvm_values import Value, pointer_to  # noqa: E402
from zero import TREE, chosen, module  # noqa: E402

SOURCE, FLAGS = 's2fp8/element.c', ('-O1', '-DPROOF_DEVICE=0', f'-I{PROOF / "lanes"}')
# Planted faults of tests/fault, and the query that each makes satisfiable.
FAULTS = {524: 'L11/codes', 525: 'L11/values', 526: 'L11/codes'}


class Walk(llvm.Walk):
    """A walk that knows one object, `search`, of which no byte is known: the byte at an offset is a function of it."""

    room = 0

    def load(self, pointer, kind, state):
        if pointer.base != 'search':
            return super().load(pointer, kind, state)
        size, offset = llvm.text.size_of(kind)[0], pointer.offset
        self.wrong(state, t.disjunction(pointer.poison, t.negation(t.at_most(offset, self.room - size))))
        return self.of_bytes([Value(t.applied('search', (offset + i,), 8), t.FALSE) for i in range(size)], kind)


def called(code, function, values):
    """What the function gives, and when it does something undefined."""
    walk = Walk(code)
    walk.room = t.value_of(code.run('s2fp8_room', []).value)
    value, _ = walk.call(function, values, llvm.State(t.TRUE, {}, {}))
    return value.term, t.disjunction(value.poison, *walk.undefined)


def outcome(sources, function):
    return called(module(sources, SOURCE, FLAGS), function, [pointer_to('search'), Value(t.variable('u', 32), t.FALSE)])


def wrong(sources, function):
    """The assertion that the function returns something else than 0, or does something undefined."""
    value, undefined = outcome(sources, function)
    return [t.disjunction(t.differs(value, 0), undefined)]


def reached(sources, function):
    """The assertion that it returns something else than 0, and all that it does is defined."""
    value, undefined = outcome(sources, function)
    return [t.conjunction(t.differs(value, 0), t.negation(undefined))]


def everything():
    theorems = [Query(f'L11/{name}', 'unsat', lambda sources=TREE, f=f's2fp8_{name}': wrong(sources, f), 30.0, name == 'codes') for name in ('codes', 'values')]
    witness = Query('L11/reached', 'sat', lambda sources=TREE: reached(sources, 's2fp8_reached'), 10.0, False)
    return chosen([*theorems, witness], (), FAULTS, ())


if __name__ == '__main__':
    queries.everything = everything
    sys.exit(prove.main())
