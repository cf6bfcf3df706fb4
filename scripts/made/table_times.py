#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the papers' tables take at full size, into the page on experiments.

usage: table_times.py HALFULP docs/experiments.md"""
import json
import pathlib
import subprocess
import sys

BEGIN, END = '<!-- times of tables: written by scripts/made/table_times.py -->\n', '<!-- end of the times of tables -->\n'
PAPERS = ('fp16', 'openseq2seq', 's2fp8', 'bfloat16', 'assignments')
CORES = (1, 16, 64)


def days(seconds):
    """As text: hours below two days, minutes below two hours."""
    hours = seconds / 3600
    if hours < 2:
        return '%.2g min' % (60 * hours)
    return '%.2g h' % hours if hours < 10 else '%.0f h' % hours if hours < 48 else '%.0f days' % (hours / 24)


def spread(times, cores):
    """Seconds of runs of one thread each, the longest first, each on the core that is free first."""
    free = [0.0] * cores
    for t in sorted(times, reverse=True):
        free[free.index(min(free))] += t
    return max(free)


def rows(halfulp):
    for paper in PAPERS:
        out = subprocess.run([halfulp, 'experiment', '--paper', paper, '--json'], check=True, stdout=subprocess.PIPE).stdout
        for table in json.loads(out):
            times = [run['full_seconds'] for run in table['runs']]
            if times:
                cells = [days(spread(times, n)) for n in CORES]
                yield '| %s | %s | %d | %s | %s |' % (paper, table['table'], len(times), days(max(times)), ' | '.join(cells))


def text(halfulp):
    head = ['| paper | table | runs | longest run | ' + ' | '.join('%d core%s' % (n, 's' * (n > 1)) for n in CORES) + ' |',
            '|---' * (4 + len(CORES)) + '|']
    return BEGIN + '\n'.join(head + list(rows(halfulp))) + '\n' + END


def main():
    path = pathlib.Path(sys.argv[2])
    page = path.read_text(encoding='utf-8')
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        sys.exit('%s: no place for the table' % path)
    path.write_text(before + text(sys.argv[1]) + after, encoding='utf-8')


if __name__ == '__main__':
    main()
