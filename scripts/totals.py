# SPDX-License-Identifier: MIT
"""Totals of a meson test log: tests by outcome, and the cmocka cases that they report.

usage: totals.py testlog.json
"""
import json
import re
import sys

outcomes = {}
cases = failures = faults = left_out = 0
for line in open(sys.argv[1]):
    test = json.loads(line)
    outcomes[test['result']] = outcomes.get(test['result'], 0) + 1
    text = (test.get('stdout') or '') + (test.get('stderr') or '')
    expected_red = test['result'] == 'EXPECTEDFAIL'
    faults += expected_red and re.search(r'\bfault-\d+$', test['name']) is not None
    left_out += sum(int(n) for n in re.findall(r'\[  SKIPPED \] (\d+) test', text))
    cases += sum(int(n) for n in re.findall(r'\[  PASSED  \] (\d+) test', text))
    if not expected_red:
        failures += sum(int(n) for n in re.findall(r'\[  FAILED  \] (\d+) test', text))
passed = outcomes.get('OK', 0) + outcomes.get('EXPECTEDFAIL', 0)
skipped = outcomes.get('SKIP', 0)
failed = sum(outcomes.values()) - passed - skipped
print(f'cmocka cases: {cases} passed, {failures} failed, {left_out} skipped')
if faults:
    print(f'planted faults caught: {faults}')
print(f'{passed} passed, {failed} failed, {skipped} skipped')
sys.exit(1 if failed or not passed else 0)
