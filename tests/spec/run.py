# SPDX-License-Identifier: MIT
"""The library, its second models and the evaluator of the pages on the same drawn cases.

    run.py DRAW_CASES PART COUNT NUMBER [--spoil]

DRAW_CASES ends with an error where the library and a second model differ, evaluate.py where the evaluator does. With
--spoil one result in each of 50 cases is changed on the way, and the evaluator must find these and no others.
"""
import pathlib
import re
import subprocess
import sys

EVALUATE = [sys.executable, '-B', str(pathlib.Path(__file__).with_name('evaluate.py'))]
EVERY = 50
SHOWN = 10  # differences, each cut


def spoiled(line):
    """The line with another last digit, or another event, in its first result."""
    at = line.index('>')
    end = line.find('\t', at)
    end = len(line) if end < 0 else end
    field = line[at:end]
    other = field[:-1] + ('1' if field[-1] != '1' else '2')
    if field.startswith('>events='):
        other = '>events=' + ('inexact' if field == '>events=-' else '-')
    return line[:at] + other + line[end:]


def main(draw, part, count, number, spoil):
    cases = subprocess.Popen([draw, part, count, number], stdout=subprocess.PIPE)
    judge = subprocess.Popen(EVALUATE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = cases.stdout.read().decode().splitlines()
    if cases.wait():
        sys.exit('the library and a second model differ' if cases.returncode == 1 else 'no cases')
    changed = 0
    if spoil:
        for i in range(EVERY - 1, len(lines), EVERY):
            lines[i] = spoiled(lines[i])
            changed += 1
    said = judge.communicate('\n'.join(lines).encode() + b'\n')[0].decode()
    totals = re.findall(r'^spec: \w+: (\d+) cases, (\d+) differ$', said, re.M)
    tried, differ = (sum(int(row[i]) for row in totals) for i in (0, 1))
    if tried != int(count) or differ != changed or bool(judge.returncode) != bool(changed):
        shown = [line[:600] for line in said.splitlines()[:2 * SHOWN]]
        said = '\n'.join(shown)
        sys.exit('{}\n{} cases of {}, {} differ of {} that must'.format(said, tried, count, differ, changed))
    print('{}: {} cases, {} of them changed, {} differ'.format(part, tried, changed, differ))


if __name__ == '__main__':
    main(*sys.argv[1:5], spoil=sys.argv[5:] == ['--spoil'])
