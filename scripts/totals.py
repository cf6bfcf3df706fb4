# SPDX-License-Identifier: MIT
"""Totals of meson test logs: tests by outcome, the cmocka cases that they report, and why tests were left out.

usage: totals.py testlog.json...
"""
import json
import re
import sys


def text_of(test):
    return (test.get('stdout') or '') + (test.get('stderr') or '')


def reason(test):
    """The last line that a skipped test printed, which says what it lacks."""
    lines = [line.strip() for line in text_of(test).splitlines() if line.strip() and not line.startswith(('[', 'TAP'))]
    return re.sub(r'^.*\bskipped: ', '', lines[-1]) if lines else 'it says nothing'


def main(paths):
    outcomes = {}
    cases = failures = faults = left_out = 0
    reasons = {}
    tests = []
    for path in paths:
        with open(path) as log:
            tests += [json.loads(line) for line in log]
    for test in tests:
        outcomes[test['result']] = outcomes.get(test['result'], 0) + 1
        text = text_of(test)
        expected_red = test['result'] == 'EXPECTEDFAIL'
        faults += expected_red and re.search(r'\bfault-\d+$', test['name']) is not None
        left_out += sum(int(n) for n in re.findall(r'\[  SKIPPED \] (\d+) test', text))
        cases += sum(int(n) for n in re.findall(r'\[  PASSED  \] (\d+) test', text))
        if not expected_red:
            failures += sum(int(n) for n in re.findall(r'\[  FAILED  \] (\d+) test', text))
        if test['result'] == 'SKIP':
            reasons.setdefault(reason(test), []).append(test['name'].split(' / ')[-1])
    passed = outcomes.get('OK', 0) + outcomes.get('EXPECTEDFAIL', 0)
    outcomes.pop('INTERRUPT', 0)  # neither passed nor failed: check.sh says how many were left out
    skipped = outcomes.get('SKIP', 0)
    failed = sum(outcomes.values()) - passed - skipped
    for why, names in sorted(reasons.items()):
        print(f'skipped: {why}: {", ".join(names)}')
    print(f'cmocka cases: {cases} passed, {failures} failed, {left_out} skipped')
    if faults:
        print(f'planted faults caught: {faults}')
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1:]))
