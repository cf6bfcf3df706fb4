# SPDX-License-Identifier: MIT
"""The files of bench/results/*.csv, bench/goals.csv and bench/limits.csv: what measure.py writes and tables.py shows.

A results file begins with lines "# key: value" on the machine. Its rows are figures, and a figure is a ratio or a time:
bench/README.md has the columns."""
import csv
import fnmatch
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ['benchmark', 'row', 'level', 'threads', 'unit', 'best', 'worst', 'runs', 'goal', 'met', 'from']
GOAL_COLUMNS = ['benchmark', 'row', 'level', 'unit', 'goal', 'needs', 'source']
LIMIT_COLUMNS = ['benchmark', 'row', 'level', 'machine', 'limit', 'why']
# What the figures depend on, by the names of /proc/cpuinfo.
FLAGS = ['fma', 'avx2', 'f16c', 'avx_vnni', 'avx512f', 'avx512bw', 'avx512vbmi', 'avx512_bf16', 'avx512_vnni', 'avx512_fp16',
         'amx_tile', 'amx_bf16', 'amx_int8', 'amx_fp16', 'asimd', 'asimdhp', 'asimddp', 'bf16', 'i8mm', 'sve', 'sve2']


class Wrong(Exception):
    """A file is not what it should be; the text names the file and the field."""


def more_is_better(unit):
    return unit.startswith('speed')


def better(unit, a, b):
    return max(a, b) if more_is_better(unit) else min(a, b)


def worse(unit, a, b):
    return min(a, b) if more_is_better(unit) else max(a, b)


def meets(unit, figure, goal):
    return figure >= goal if more_is_better(unit) else figure <= goal


def number(path, line, field, text):
    try:
        value = float(text)
    except (TypeError, ValueError):
        raise Wrong(f'{path}: line {line}: {field}: {text!r} is not a number') from None
    if not 0 < value < float('inf'):
        raise Wrong(f'{path}: line {line}: {field}: {text} is not above 0')
    return value


def read_csv(path, columns, first_line=1, lines=None):
    """The rows of a file with exactly these columns, each with its line number as 'line'."""
    text = path.read_text().splitlines() if lines is None else lines
    reader = csv.DictReader(text)
    if reader.fieldnames != columns:
        raise Wrong(f'{path}: line {first_line}: the columns are {",".join(reader.fieldnames or [])}, not {",".join(columns)}')
    rows = []
    for row in reader:
        line = first_line + reader.line_num - 1
        if None in row or None in row.values():
            raise Wrong(f'{path}: line {line}: not {len(columns)} fields')
        rows.append(dict(row, line=line))
    return rows


def read_goals(path=HERE / 'goals.csv'):
    rows = read_csv(path, GOAL_COLUMNS)
    for row in rows:
        row['goal'] = number(path, row['line'], 'goal', row['goal'])
        unknown = [f for f in row['needs'].replace('|', ' ').split() if f not in FLAGS]
        if unknown:
            raise Wrong(f'{path}: line {row["line"]}: needs: unknown feature {unknown[0]}')
    return rows


def goal_of(goals, flags, benchmark, row, level, unit):
    """The strictest goal that concerns this row on a machine with these flags; None: there is none."""
    found = [g['goal'] for g in goals
             if g['benchmark'] == benchmark and g['unit'] == unit and fnmatch.fnmatchcase(row, g['row'])
             and any(fnmatch.fnmatchcase(level, one) for one in g['level'].split('|'))
             and (not g['needs'] or any(f in flags for f in g['needs'].split('|')))]
    if not found:
        return None
    return max(found) if more_is_better(unit) else min(found)


def read_limits(path=HERE / 'limits.csv'):
    """What bounds rows that miss their goals: patterns of rows, levels and machines, several of them with | between; the
    limit, with a figure; what was tried."""
    rows = read_csv(path, LIMIT_COLUMNS)
    for row in rows:
        empty = [field for field in LIMIT_COLUMNS if not row[field]]
        if empty:
            raise Wrong(f'{path}: line {row["line"]}: {empty[0]}: is empty')
        if not re.search(r'(?<![\w])\d', row['limit']):  # in avx2 it is part of a name
            raise Wrong(f'{path}: line {row["line"]}: limit: has no figure')
    return rows


def bounds(limit, machine, row):
    """Is this limit one of a machine's row?"""
    def fits(field, text):
        return any(fnmatch.fnmatchcase(text, one) for one in limit[field].split('|'))
    return limit['benchmark'] == row['benchmark'] and fits('row', row['row']) and fits('level', row['level']) and fits('machine', machine)


def judge(rows, goals, flags):
    """Sets goal and met of every row."""
    for row in rows:
        goal = goal_of(goals, flags, row['benchmark'], row['row'], row['level'], row['unit'])
        row['goal'] = '' if goal is None else f'{goal:g}'
        row['met'] = '' if goal is None else 'yes' if meets(row['unit'], row['best'], goal) else 'no'


def read_results(path):
    """(machine, rows): the lines before the table as a dictionary, and the figures."""
    machine, lines = {}, path.read_text().splitlines()
    head = next((i for i, line in enumerate(lines) if not line.startswith('#')), len(lines))
    for i, line in enumerate(lines[:head]):
        key, colon, value = line[1:].partition(':')
        if not colon:
            raise Wrong(f'{path}: line {i + 1}: no "# key: value"')
        machine[key.strip()] = value.strip()
    for key in ('machine', 'vendor', 'family', 'model', 'flags'):
        if key not in machine:
            raise Wrong(f'{path}: the lines before the table have no "# {key}:"')
    rows = read_csv(path, COLUMNS, head + 1, lines[head:])
    for row in rows:
        for field in ('best', 'worst'):
            row[field] = number(path, row['line'], field, row[field])
    return machine, rows


def write_results(path, machine, rows):
    """All of the file or nothing."""
    beside = path.with_name(path.name + '.new')
    with open(beside, 'w', newline='') as out:
        for key, value in machine.items():
            out.write(f'# {key}: {value}\n')
        table = csv.DictWriter(out, COLUMNS, lineterminator='\n', extrasaction='ignore')
        table.writeheader()
        for row in rows:
            table.writerow(dict(row, best=f'{row["best"]:.4g}', worst=f'{row["worst"]:.4g}'))
    beside.replace(path)
