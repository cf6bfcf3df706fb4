# SPDX-License-Identifier: MIT
"""Writes a call of every public function that takes an exec or a how, for test_none.c.

usage: place_calls.py OUT ROOT

A line is CALL_TYPE(NAME, (ARGUMENTS)), TYPE the type of the result. The exec is `there`, the how `how`, the product an
empty one, since calls look at its parts first; views have a type and lead nowhere. Every other pointer is `nowhere`, which
nobody may follow, and every other argument is 0. Calls of libhalfulp-cuda and of the MPI library are not here.
"""
import pathlib
import re
import sys

out, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def argument(name, parameter):
    kind = re.sub(r'\w+$', '', parameter).strip()
    if 'hu_exec' in kind:
        return 'there'
    if 'hu_how' in kind:
        return 'how'
    if 'hu_scaled_extra' in kind:
        return 'NULL'
    for word in ('product', 'output', 'view'):
        if kind.startswith(f'const hu_{word} *'):
            return ('scaled_' if 'scaled' in name and word == 'output' else '') + word
    return f'({kind})nowhere' if kind.endswith('*') else f'({kind}){{0}}'


lines, left = [], 0
for header in sorted((root / 'include' / 'halfulp').rglob('*.h')):
    if header.name.startswith(('device', 'mpi')):
        continue
    text = re.sub(r'/\*.*?\*/', '', header.read_text(), flags=re.S)
    for statement in re.findall(r'\bHU_API\b([^;]*);', text):
        statement = ' '.join(statement.replace('HU_MUST_CHECK', '').split())
        if not re.search(r'\bhu_(exec|how) \*', statement):
            continue
        found = re.fullmatch(r'(hu_status|size_t) (\w+)\(([^()]*)\)', statement)
        if not found:
            sys.exit(f'place_calls: {header}: not understood: {statement}')
        result, name, parameters = found.groups()
        lines.append(f'CALL_{result}({name}, ({", ".join(argument(name, one.strip()) for one in parameters.split(","))}))')
if len(lines) < 30:
    sys.exit(f'place_calls: {len(lines)} calls, and there are more')
out.write_text('\n'.join(lines) + '\n')
