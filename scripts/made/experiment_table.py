#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of docs/experiments.md over several seeds, from `halfulp experiment --all --json`.

usage: halfulp experiment --all --json | experiment_table.py PAGE     writes the table into the page
"""
import json
import sys

BEGIN, END = '<!-- over seeds: ', '<!-- end of the table over seeds -->\n'


def cell(row, name):
    mean, deviation = row[name], row[name + '_deviation']
    return '' if mean is None else '%.4f ± %.4f' % (mean, deviation)


def table(experiments):
    lines = ['| experiment | run | loss | test loss | accuracy or R² |', '|---|---|---|---|---|']
    for e in experiments:
        for row in e['rows'] if e['seeded'] else []:
            last = cell(row, 'accuracy') or cell(row, 'r2')
            lines.append('| %s | `%s` | %s | %s | %s |' % (e['id'], row['name'], cell(row, 'loss'), cell(row, 'test_loss'), last))
    return '\n'.join(lines) + '\n'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    experiments = json.load(sys.stdin)
    failed = [c['claim'] for e in experiments for c in e['claims'] if not c['holds']]
    if failed:
        sys.exit('experiment_table.py: not written, since claims do not hold:\n' + '\n'.join(failed))
    with open(sys.argv[1], encoding='utf-8') as f:
        head, rest = f.read().split(BEGIN)
    comment, rest = rest.split('\n', 1)
    with open(sys.argv[1], 'w', encoding='utf-8') as f:
        f.write(head + BEGIN + comment + '\n' + table(experiments) + END + rest.split(END)[1])


if __name__ == '__main__':
    main()
