# SPDX-License-Identifier: MIT
"""Writes the part of bench/README.md that shows the machines of bench/results/*.csv side by side.

  python3 bench/tables.py [--check | --all] [--readme README.md] [--results FOLDER] [--limits limits.csv]

The page has the goals that each machine meets, and what bounds the rows that miss theirs. --all prints every row with
its goal instead, in tables of Markdown: a cell has the best and the worst figure of the runs, level by level, and bold
ones miss the goal with their best. --check writes nothing, and fails if the page is not what the files make, if no line
of limits.csv says what bounds a row that misses its goal, or if a line there has no such row; otherwise these are named
and the page is written, so that a new machine has its part at once."""
import argparse
import collections
import pathlib
import sys

import rows as table

BEGIN, END = '<!-- Made by bench/tables.py: begin -->', '<!-- Made by bench/tables.py: end -->'
ABOUT = [('CPU', 'machine'), ('cores', 'cores'), ('features', 'flags'), ('compiler', 'compiler'), ('OpenBLAS', 'openblas'),
         ('measured', 'date'), ('commit', 'commit'), ('load while measured', 'load')]


def figure(value):
    """Three digits at most; enough to see a ratio."""
    return f'{value:.3f}' if value < 0.1 else f'{value:.2f}' if value < 10 else f'{value:.3g}'


def span(row):
    best, worst = figure(row['best']), figure(row['worst'])
    text = best if best == worst else f'{best} to {worst}'
    return f'**{text}**' if row['met'] == 'no' else text


def title(machine):
    return f'{machine["vendor"]}-{machine["family"]}-{machine["model"]}'


def row_name(name):
    return name.replace('|', '\\|')


def escape(name):
    """Keeps stars and brackets of a name from being Markdown."""
    return f'`{row_name(name)}`'


def cell(found):
    return '; '.join(f'{"" if row["level"] == "best" else row["level"] + " "}{span(row)}'
                     + (f' ({row["threads"]} threads)' if row['threads'] != '1' else '') for row in found) or '-'


def goals_of(found):
    """Goals level by level; one number where they agree."""
    goals = collections.OrderedDict((row['level'], row['goal']) for row in found)
    if len(set(goals.values())) == 1:
        return next(iter(goals.values()))
    return '; '.join(f'{level} {goal}' for level, goal in goals.items())


def machines_table(machines):
    lines = ['| machine | ' + ' | '.join(title(m) for m, _ in machines) + ' |', '|---' * (len(machines) + 1) + '|']
    for name, key in ABOUT:
        lines.append(f'| {name} | ' + ' | '.join(row_name(m.get(key, '-')) for m, _ in machines) + ' |')
    missed = [(sum(r['met'] == 'no' for r in rows), sum(r['met'] != '' for r in rows)) for _, rows in machines]
    lines.append('| goals missed | ' + ' | '.join(f'{a} of {b}' for a, b in missed) + ' |')
    return lines


def benchmark_table(machines, benchmark):
    wanted = [(m, [r for r in rows if r['benchmark'] == benchmark and r['met']]) for m, rows in machines]
    keys = list(collections.OrderedDict.fromkeys((r['row'], r['unit']) for _, rows in wanted for r in rows))
    if not keys:
        return []
    shown = [(m, rows) for m, rows in wanted if rows]
    lines = [f'## bench_{benchmark}', '', '| row | figure | goal | ' + ' | '.join(title(m) for m, _ in shown) + ' |',
             '|---' * (len(shown) + 3) + '|']
    for row, unit in keys:
        cells = [[r for r in rows if (r['row'], r['unit']) == (row, unit)] for _, rows in shown]
        goals = goals_of([r for found in cells for r in found])
        lines.append(f'| {escape(row)} | {unit} | {goals} | ' + ' | '.join(cell(found) for found in cells) + ' |')
    return lines + ['']


def without_limit(missed, limits, path):
    """What is wrong with limits.csv: rows without a line of their own, lines without a row."""
    for name, row in missed:
        if not any(table.bounds(limit, name, row) for limit in limits):
            yield (f'{path}: no line says what bounds "{row["row"]}" of {row["benchmark"]}, level {row["level"]}, '
                   f'which misses its goal on {name} ({figure(row["best"])}, goal {row["goal"]})')
    for limit in limits:
        if not any(table.bounds(limit, name, row) for name, row in missed):
            yield f'{path}: line {limit["line"]}: bounds no row that misses its goal'


def limits_table(missed, limits):
    """A line for each limit, with the rows that it bounds."""
    lines = ['| rows | machines | figures | limit |', '|---' * 4 + '|']
    for limit in limits:
        found = [(name, row) for name, row in missed if table.bounds(limit, name, row)]
        if not found:
            continue
        figures = [figure(x) for x in sorted(row['best'] for _, row in found)]
        between = figures[0] if figures[0] == figures[-1] else f'{figures[0]} to {figures[-1]}'
        names = '; '.join(escape(one) for one in limit['row'].split('|'))
        levels = ' '.join(collections.OrderedDict.fromkeys(row['level'] for _, row in found))
        lines.append(f'| {limit["benchmark"]}: {names} | {", ".join(sorted({name for name, _ in found}))}, {levels} | {len(found)}: {between} | '
                     f'{row_name(limit["limit"])} |')
    return lines


def benchmarks_of(machines):
    return list(collections.OrderedDict.fromkeys(r['benchmark'] for _, rows in machines for r in rows))


def goals_table(machines):
    """How many goals of each program a machine meets."""
    lines = ['| program | ' + ' | '.join(title(m) for m, _ in machines) + ' |', '|---' * (len(machines) + 1) + '|']
    for benchmark in benchmarks_of(machines):
        cells = []
        for _, rows in machines:
            verdicts = [r['met'] for r in rows if r['benchmark'] == benchmark and r['met']]
            cells.append(f'{verdicts.count("yes")} of {len(verdicts)}' if verdicts else '-')
        lines.append(f'| `{benchmark}` | ' + ' | '.join(cells) + ' |')
    return lines


def read_machines(folder, goals):
    machines = []
    for path in sorted(folder.glob('*.csv')):
        machine, rows = table.read_results(path)
        if path.stem != title(machine):
            raise table.Wrong(f'{path}: its lines before the table are of {title(machine)}')
        table.judge(rows, goals, machine['flags'].split())
        machines.append((machine, rows))
    if not machines:
        raise table.Wrong(f'{folder}: no results in it')
    return machines


def missed_by(machines):
    return [(title(m), r) for m, rows in machines for r in rows if r['met'] == 'no']


def made(machines, limits):
    """The generated part."""
    return '\n'.join([BEGIN, '', *machines_table(machines), '', 'Goals that are met:', '', *goals_table(machines), '',
                      'What bounds the rows that miss their goals:', '', *limits_table(missed_by(machines), limits), '', END])


def every_row(machines):
    return '\n'.join(line for benchmark in benchmarks_of(machines) for line in benchmark_table(machines, benchmark))


def put_into(path, text):
    """The page with its generated part replaced."""
    page = path.read_text()
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(END) < page.index(BEGIN):
        raise table.Wrong(f'{path}: the lines "{BEGIN}" and "{END}" do not stand there once each, in this order')
    return page[:page.index(BEGIN)] + text + page[page.index(END) + len(END):]


def main():
    words = argparse.ArgumentParser(prog='tables.py')
    what = words.add_mutually_exclusive_group()
    what.add_argument('--check', action='store_true')
    what.add_argument('--all', action='store_true')
    words.add_argument('--readme', type=pathlib.Path, default=table.HERE / 'README.md')
    words.add_argument('--limits', type=pathlib.Path, default=table.HERE / 'limits.csv')
    words.add_argument('--results', type=pathlib.Path, default=table.HERE / 'results')
    options = words.parse_args()
    try:
        limits = table.read_limits(options.limits)
        machines = read_machines(options.results, table.read_goals())
        if options.all:
            print(every_row(machines))
            return
        open_rows = list(without_limit(missed_by(machines), limits, options.limits))
        page = put_into(options.readme, made(machines, limits))
        if options.check and page != options.readme.read_text():
            raise table.Wrong(f'{options.readme}: is not what the results make; run `python3 bench/tables.py`')
        if options.check and open_rows:
            raise table.Wrong('\n'.join(open_rows))
        if not options.check:
            options.readme.write_text(page)
            print('\n'.join(open_rows), end='\n' * bool(open_rows), file=sys.stderr)
    except (table.Wrong, OSError) as wrong:
        sys.exit(f'tables: {wrong}')


if __name__ == '__main__':
    main()
