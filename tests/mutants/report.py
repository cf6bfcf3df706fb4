# SPDX-License-Identifier: MIT
"""What a run says: a line a mutant, and at the end the table and the survivors."""
import collections
import sys

import draw
import operators
from ledger import KILLED, REPLACED, SURVIVED

_terminal = sys.stdout.isatty()


def _clear():
    if _terminal:
        print('\r\033[K', end='')


def head(seed, share):
    print('seed {}: {} mutants, {}'.format(seed, sum(share.values()), ', '.join('{} {}'.format(n, part) for part, n in share.items())),
          flush=True)


def doing(number, count, name):
    """On a terminal: what is being tried."""
    if _terminal:
        print('\r\033[K{:3}/{}  {} ...'.format(number, count, name), end='', flush=True)


def verdict(row):
    if row['result'] == KILLED:
        how = ', ' + row['how'] if row['how'] == 'timeout' or row['how'].startswith('signal') else ''
        return 'killed by {}{} after {:.0f} s'.format(row['by'], how, row['seconds'])
    if row['result'] == SURVIVED:
        return 'SURVIVED {} tests, {:.0f} s'.format(row['tests'], row['seconds'])
    return {'no compile': 'does not compile', 'same code': 'equivalent (same code)', 'listed': 'equivalent (listed)',
            'not built': 'not compiled in this build', 'no test': 'no test here'}[row['result']] + ': replaced'


def row(row, count):
    _clear()
    print('{:3}/{}  {}  {}  ->  {}  {}'.format(row['number'], count, row['at'], row['before'], row['after'], verdict(row)), flush=True)


def diff(row):
    print('--- {}\n-{}\n+{}'.format(row['at'], row['before'], row['after']))


def _table(title, names, rows, key):
    print('{:12} {:>8} {:>8} {:>8} {:>8}'.format(title, 'mutants', 'killed', 'survived', 'replaced'))
    for name in names:
        here = [row for row in rows if key(row) == name]
        by = collections.Counter(row['result'] for row in here)
        if here:
            print('{:12} {:8} {:8} {:8} {:8}'.format(name, by[KILLED] + by[SURVIVED], by[KILLED], by[SURVIVED],
                                                     len(here) - by[KILLED] - by[SURVIVED]))
    print()


def end(ledger, options):
    """The final table; 1 if there are survivors."""
    rows = list(ledger.rows.values())
    done = ledger.counted()
    print()
    _table('part', draw.PARTS, rows, lambda row: draw.part_of(row['at']))
    _table('operator', operators.OPERATORS, rows, lambda row: row['operator'])
    by = collections.Counter(row['result'] for row in rows)
    timeouts = sum(row.get('how') == 'timeout' for row in rows)
    left = [row for row in done if row['result'] == SURVIVED]
    print('seed {}: {} mutants, {} killed ({} of them by a timeout), {} survived; {:.0f} s a mutant'.format(
        options.seed, len(done), by[KILLED], timeouts, len(left), sum(row['seconds'] for row in done) / max(1, len(done))))
    print('replaced: ' + (', '.join('{} {}'.format(by[name], text) for name, text in REPLACED.items() if by[name]) or 'none'))
    print('ledger: {}'.format(ledger.path))
    for row in left:
        print()
        diff(row)
        print('make check-mutants AT={}'.format(row['at']))
    return 1 if left else 0
