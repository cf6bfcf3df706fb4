#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads lines of cases from standard input, computes their results from the pages, and prints every difference.

Usage: draw_cases PART COUNT NUMBER | python3 evaluate.py [--seconds]
The exit code is 1 where anything differs, an operation or a field is unknown, or no line came.
"""
import importlib
import pathlib
import sys
import time

# A folder a page: numerics.md, numbers.md; scaled.md with s2fp8.md.
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / folder) for folder in ('numerics', 'numbers', 'scaled_tensors')]
from lines import OPERATIONS  # noqa: E402

MODULES = ('conversions', 'arithmetic', 'functions', 'dots', 'number_systems', 's2fp8', 'scaled', 'scaled_products',
           'hif4')


def load():
    """Lets each module enter its operations."""
    for name in MODULES:
        importlib.import_module(name)


def parse(line):
    """The operation, its operand fields and its result fields (whose names begin with >)."""
    name, *texts = line.split('\t')
    operands, results = {}, {}
    for text in texts:
        field, equals, value = text.partition('=')
        if not equals:
            raise ValueError('no field: ' + text)
        if field.startswith('>'):
            results[field[1:]] = value
        else:
            operands[field] = value
    return name, operands, results


def evaluate(name, operands):
    """The result fields of a case."""
    if name not in OPERATIONS:
        raise ValueError('unknown operation ' + name)
    function, required, optional = OPERATIONS[name]
    if not required <= operands.keys():
        raise ValueError('missing field ' + ' '.join(sorted(required - operands.keys())))
    unknown = operands.keys() - required - optional
    if unknown:
        raise ValueError('unknown field ' + ' '.join(sorted(unknown)))
    return function(operands)


def same(expected, computed):
    """Equal texts; leading zeros and the case of hexadecimal digits do not count."""
    return expected == computed or (expected.lower().lstrip('0') or '0') == (computed.lower().lstrip('0') or '0')


def check(line):
    """The operation of a line, and what is wrong with it ('' if nothing is)."""
    name = line.split('\t')[0]
    try:
        name, operands, results = parse(line)
        computed = evaluate(name, operands)
    except Exception as error:          # a line that cannot be judged is a difference, whatever the reason
        return name, 'error: %s: %s' % (type(error).__name__, error)
    unknown = results.keys() - computed.keys()
    if unknown or not results:
        return name, 'unknown result ' + ' '.join(sorted(unknown))
    return name, '\t'.join('>%s=%s' % (field, computed[field]) for field in results
                           if not same(results[field], computed[field]))


def main():
    load()
    cases, differences, seconds = {}, {}, {}
    for number, line in enumerate(sys.stdin, 1):
        line = line.rstrip('\r\n')
        if not line:
            continue
        start = time.process_time()
        name, difference = check(line)
        cases[name] = cases.get(name, 0) + 1
        seconds[name] = seconds.get(name, 0) + time.process_time() - start
        if difference:
            differences[name] = differences.get(name, 0) + 1
            print('line %d: %s\n  got %s' % (number, line, difference))
    for name in cases:
        spent = ', %.2f s' % seconds[name] if '--seconds' in sys.argv[1:] else ''
        print('spec: %s: %d cases, %d differ%s' % (name, cases[name], differences.get(name, 0), spent))
    return 1 if differences or not cases else 0


if __name__ == '__main__':
    sys.exit(main())
