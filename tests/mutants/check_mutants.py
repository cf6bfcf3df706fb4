# SPDX-License-Identifier: MIT
"""Whether the tests notice wrong lines: draws some, makes each in a copy of the checkout, and runs the nearest tests.

    check_mutants.py SOURCE FOLDER [--seed N] [--count N] [--only PATTERN] [--at file:line:operator] [--ledger FILE]
                     [--again] [--jobs N] [--time SECONDS]

FOLDER takes the copy, its build and the ledger. A mutant is killed by the first test that fails, crashes or takes ten
times as long as it should. One that does not compile, or whose object code is that of the source, is replaced by the
next draw. Exit status: 0 all killed, 1 some survived, 2 the one of --at could not be tried, 130 stopped.
"""
import argparse
import fcntl
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import draw
import operators
import py_sites
import report
import suites
from ledger import KILLED, SURVIVED, Equivalents, Ledger
from workshop import Workshop


def judge(shop, site, text, most):
    """A row for the mutant: its result, what killed it, seconds, tests that were run."""
    part = draw.part_of(site.file)
    lines = text.split('\n')
    lines[site.line - 1] = operators.changed(lines[site.line - 1], site)
    made = '\n'.join(lines)
    python = site.file.endswith('.py')
    if python and not py_sites.compiles(made):
        return {'result': 'no compile'}
    if not python and site.file not in shop.users:
        return {'result': 'not built'}
    stages = suites.nearest(site.file, shop.tests, shop.seconds)
    if python and '/torch/' in site.file:
        stages = [[test for test in stages[0] if 'with_torch' in test.name], []]
    if not any(stages):
        return {'result': 'no test'}
    since, start, tried, spent, other = time.time_ns(), time.monotonic(), 0, 0.0, python
    shop.put(site.file, made)
    try:
        for stage in stages:
            stage = [test for i, test in enumerate(stage) if stage is stages[0] or spent +
                     sum(shop.seconds[one.name] for one in stage[:i]) <= most]
            ok, said = (True, '') if python else shop.make(sorted({goal for test in stage for goal in test.goals}))
            if not ok:
                return unbuilt(said, time.monotonic() - start)
            other = other or shop.other_code(since)
            for test in stage if other else []:
                if part != 'python' and shop.unchanged(test):
                    continue
                out = shop.try_test(test, shop.limit(test))
                tried, spent = tried + 1, spent + out.seconds
                if not out.passed:
                    return {'result': KILLED, 'by': test.name, 'how': out.how, 'tests': tried,
                            'seconds': round(time.monotonic() - start, 1)}
        if not other:
            return {'result': 'same code'}
        return {'result': SURVIVED, 'tests': tried, 'seconds': round(time.monotonic() - start, 1)}
    finally:
        shop.undo()


def unbuilt(said, seconds):
    """A line that no compiler takes, or a program that fails where the build itself runs it (for the manual pages)."""
    failed = re.search(r'^FAILED: (\S+)', said, re.M)
    if not failed or failed[1].endswith('.o') or 'undefined reference' in said or 'ld returned' in said:
        return {'result': 'no compile', 'said': said[-400:]}
    return {'result': KILLED, 'by': 'the build of ' + failed[1], 'how': 'build', 'tests': 0, 'seconds': round(seconds, 1)}


def one_mutant(shop, sources, site, most):
    line = sources.line(site)
    row = {'at': operators.label(site, sources.sites(site.file)), 'operator': site.operator, 'before': line.strip(),
           'after': operators.changed(line, site).strip()}
    row.update(judge(shop, site, sources.text(site.file), most))
    return row


def all_mutants(shop, sources, options, ledger, equivalents):
    """Goes through the draws of the seed; what the ledger has already is not tried again."""
    share = draw.shares(draw.sizes(sources, options.only), options.count)
    report.head(options.seed, share)
    streams = {part: draw.draws(sources, part, options.seed, options.only) for part in share}
    number = 0
    for part in draw.order(share):
        number += 1
        for site in streams[part]:
            name = operators.label(site, sources.sites(site.file))
            row = ledger.rows.get(name)
            if row is None:
                line = sources.line(site)
                report.doing(number, options.count, name)
                if equivalents.reason(site, sources.text(site.file)):
                    row = {'at': name, 'operator': site.operator, 'before': line.strip(),
                           'after': operators.changed(line, site).strip(), 'result': 'listed'}
                else:
                    row = one_mutant(shop, sources, site, options.time)
                row['number'] = number
                ledger.add(row)
            report.row(row, options.count)
            if row['result'] in (KILLED, SURVIVED):
                break
        else:
            print('{}: no line is left to draw'.format(part))


def survivors_again(shop, options, ledger):
    """Tries the survivors of a ledger again, with the tests as they are now."""
    shop.refresh()
    sources = draw.Sources(shop.root)
    left = [row for row in ledger.counted() if row['result'] == SURVIVED]
    shop.start([row['at'].split(':')[0] for row in left])
    for row in left:
        try:
            site = operators.find(row['at'], sources.sites)
            same = (sources.line(site).strip(), operators.changed(sources.line(site), site).strip()) == (row['before'], row['after'])
        except ValueError:
            same = False
        if not same:
            print('{}: the source has changed there'.format(row['at']))
            continue
        ledger.add(dict(one_mutant(shop, sources, site, options.time), number=row['number']))
        report.row(ledger.rows[row['at']], options.count)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('source', type=pathlib.Path)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--seed', help='of the draw; by default a new one, which is printed')
    parser.add_argument('--count', type=int, help='of mutants, 60 by default')
    parser.add_argument('--only', help='files: a pattern (emu/gemm/*) or a folder')
    parser.add_argument('--at', help='one mutant: file:line:operator')
    parser.add_argument('--again', action='store_true', help='the survivors of the ledger, with the tests as they are now')
    parser.add_argument('--ledger', type=pathlib.Path)
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--time', type=float, default=600,
                        help='seconds of wider suites a mutant, as they take without a change; the quick ones first')
    return parser.parse_args()


def header_of(path, options):
    """What a ledger says of its run; of a new one, what is asked for."""
    try:
        have = json.loads(path.read_text().split('\n')[0])
    except (OSError, ValueError):
        have = {}
    wanted = {'seed': options.seed, 'count': options.count, 'only': options.only}
    usual = {'seed': str(random.SystemRandom().randrange(10 ** 6)), 'count': 60, 'only': None}
    return {name: have.get(name, usual[name]) if value is None else value for name, value in wanted.items()}


def stopped(number, frame):
    raise KeyboardInterrupt


def main():
    options = arguments()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stopped)
    options.folder.mkdir(parents=True, exist_ok=True)
    lock = open(options.folder / 'lock', 'w')
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SystemExit('{} is in use by another run; BUILD= names another'.format(options.folder))
    shop = Workshop(options.source, options.folder, options.jobs, say=lambda text: print(text, flush=True))
    shop.undo()
    equivalents = Equivalents(pathlib.Path(__file__).with_name('equivalent.txt'))
    if options.at:
        shop.refresh()
        sources = draw.Sources(shop.root)
        site = operators.find(options.at, sources.sites)
        shop.start([site.file])
        row = one_mutant(shop, sources, site, options.time)
        report.row(dict(row, number=1), 1)
        report.diff(row)
        return {KILLED: 0, SURVIVED: 1}.get(row['result'], 2)
    path = options.ledger or options.folder / 'ledger.jsonl'
    header = header_of(path, options)
    options.seed, options.count, options.only = header['seed'], header['count'], header['only']
    ledger = Ledger(path, header)
    if options.again:
        survivors_again(shop, options, ledger)
        return report.end(ledger, options)
    if ledger.resumed:
        print('going on with {}, in the copy as it was ({} mutants done)'.format(path, len(ledger.counted())))
    else:
        shop.refresh()
    sources = draw.Sources(shop.root)
    shop.start([file for part in draw.PARTS for file in draw.files(shop.root, part, options.only)])
    all_mutants(shop, sources, options, ledger, equivalents)
    return report.end(ledger, options)


if __name__ == '__main__':
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print('\nstopped; the same command goes on from here', file=sys.stderr)
        sys.exit(130)
    except (ValueError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
