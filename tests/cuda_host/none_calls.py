# SPDX-License-Identifier: MIT
"""Writes a call of every function of the device headers, all arguments 0, for test_none.c.

usage: none_calls.py OUT ROOT

A line is CALL_TYPE(NAME, (ARGUMENTS)), TYPE the type of the result. It reads every header that there is, so that one that
the libraries without CUDA are made without is noticed when this is linked.
"""
import pathlib
import re
import sys

out, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
headers = sorted((root / 'include' / 'halfulp').rglob('device*.h'))
lines, functions = [], 0
for header in headers:
    text = re.sub(r'/\*.*?\*/', '', header.read_text(), flags=re.S)
    functions += len(re.findall(r'\bHU_API\b', text))
    for result, name, parameters in re.findall(r'(\w+)\s+(hu_\w*device\w*)\s*\(([^)]*)\)\s*;', text):
        types = [re.sub(r'\w+$', '', ' '.join(one.split())).strip() for one in parameters.split(',')]
        lines.append(f'CALL_{result}({name}, ({", ".join(f"({one}){{0}}" for one in types)}))')
calls = len(lines)
if calls != functions or calls < 50:
    sys.exit(f'none_calls: {functions} functions in {len(headers)} headers, {calls} calls of them')
out.write_text('\n'.join(lines) + '\n')
