# SPDX-License-Identifier: MIT
"""Runs all benchmarks of a build folder several times and writes the rows that have a goal into
bench/results/<vendor>-<family>-<model>.csv, and all rows into BUILD/bench/all.csv.

  python3 bench/measure.py BUILD [--quick] [--runs 3] [--only bench_array]... [--to FOLDER]

A figure's best and worst are those of the runs. What a run has printed is kept in BUILD/bench/runs until all of it is
done, so that the same command continues after it was stopped. --only measures some programs again and leaves the other rows
of the file as they are; each row says when it was measured. --quick takes smaller arrays and products, fewer rounds and
one thread: less than 10 minutes instead of an hour."""
import argparse
import collections
import csv
import datetime
import hashlib
import os
import pathlib
import re
import subprocess
import sys

import rows as table

# Program, its arguments, those of --quick.
PLAN = [('bench_array', '--log2 26 --rounds 5', '--log2 24 --rounds 4'),
        ('bench_arith', '--log2 22 --rounds 3', '--log2 18 --rounds 2'),
        ('bench_function', '--log2 18 --rounds 3', '--log2 14 --rounds 3'),
        ('bench_value', '--rounds 20', '--rounds 9'),
        ('bench_scaled', '--log2 26 --rounds 3', '--log2 24 --rounds 2'),
        ('bench_hadamard', '--log2 24 --rounds 5', '--log2 24 --rounds 3'),
        ('bench_streams', '--log2 26 --rounds 5', '--log2 25 --rounds 3'),
        ('bench_number', '--log2 20 --rounds 2', '--log2 16 --rounds 2'),
        ('bench_s2fp8', '--log2 26 --rounds 3', '--log2 24 --rounds 2'),
        ('bench_gemm_shapes', '--rounds 9', '--rounds 3'),
        ('bench_gemm', '--rounds 3', '--size 512 --rounds 9'),
        ('bench_gemm', '--rounds 2 --level avx2', ''),
        ('bench_gemm', '--presets --size 512 --rounds 2', '--presets --size 256 --rounds 5'),
        ('bench_scaled_gemm', '--rounds 3', '--size 512 --rounds 9'),
        ('bench_train', '--rounds 5', '--rounds 2'),
        ('bench_train', '--rounds 5 --threads CORES', '')]
LONGEST_S = 1800  # one run of one program


def cpu_fields(text):
    """The first processor's fields of /proc/cpuinfo."""
    found = {}
    for line in text.splitlines():
        key, colon, value = line.partition(':')
        if colon:
            found.setdefault(key.strip(), value.strip())
    return found


def machine_of(cpuinfo):
    f = cpu_fields(cpuinfo)
    vendor = {'AuthenticAMD': 'amd', 'GenuineIntel': 'intel'}.get(f.get('vendor_id', ''), f.get('vendor_id', '').lower())
    if not vendor:  # Arm: numbers of the maker and the core
        vendor = 'arm' if 'CPU implementer' in f else 'unknown'
    flags = (f.get('flags') or f.get('Features') or '').split()
    return {'machine': f.get('model name', 'no name'), 'vendor': vendor,
            'family': f.get('cpu family') or f.get('CPU implementer', '0'), 'model': f.get('model') or f.get('CPU part', '0'),
            'stepping': f.get('stepping') or f.get('CPU revision', '0'),
            'flags': ' '.join(one for one in table.FLAGS if one in flags)}


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ''
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else ''


def commit_of(root):
    name = first_line('git', '-C', str(root), 'rev-parse', '--short=7', 'HEAD')
    changed = first_line('git', '-C', str(root), 'status', '--porcelain', '--untracked-files=no')
    return (name or 'unknown') + ('+' if changed else '')


def steps_of(options):
    """(program, arguments) of one run, with those the build folder lacks left out and named."""
    for program, full, quick in PLAN:
        arguments = quick if options.quick else full
        if not arguments or options.only and program not in options.only:
            continue
        arguments = arguments.replace('CORES', str(os.cpu_count() or 1))
        if '--threads 1' in arguments:
            continue
        if (options.build / 'bench' / program).exists():
            yield program, arguments
        else:
            print(f'bench: {program} was not built and is left out', file=sys.stderr)


def digest_of(build, program):
    """Of what the figures come from: another build makes older runs useless."""
    z = hashlib.sha256((build / 'bench' / program).read_bytes())
    for folder in ('emu', 'train'):
        for one in sorted((build / folder).glob('lib*.so*')):
            if one.is_file() and not one.is_symlink():
                z.update(one.read_bytes())
    return z.hexdigest()


def printed_by(options, program, arguments, run):
    """What the program printed in this run: kept from before, or now."""
    name = re.sub(r'[^a-z0-9_]+', '-', f'{program} {arguments} {run}')
    kept = options.build / 'bench' / 'runs' / f'{name}.csv'
    mark = f'# {digest_of(options.build, program)}\n'
    if kept.exists() and kept.read_text().startswith(mark):
        return kept.read_text()[len(mark):]
    environment = dict(os.environ, OPENBLAS_NUM_THREADS='1')
    if '--level avx2' in arguments and 'avx2' not in options.machine['flags'].split():
        return ''
    command = [str(options.build / 'bench' / program), *arguments.split(), '--csv']
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise table.Wrong(f'{program} {arguments}: not done after {LONGEST_S} s') from None
    if done.returncode:
        raise table.Wrong(f'{program} {arguments}: exit code {done.returncode}: {done.stderr.strip()}')
    kept.parent.mkdir(parents=True, exist_ok=True)
    beside = kept.with_suffix('.new')
    beside.write_text(mark + done.stdout)
    beside.replace(kept)
    return done.stdout


def figures(benchmark, text):
    """(row, level, threads, unit, figure) of what a program printed."""
    lines = text.splitlines()
    if not lines or lines[0] != 'row,level,threads,unit,figure':
        raise table.Wrong(f'bench_{benchmark}: its first line is {lines[0] if lines else "missing"!r}, not "row,level,threads,unit,figure"')
    for line in csv.DictReader(lines):
        yield line['row'], line['level'], line['threads'], line['unit'], float(line['figure'])


def benchmark_of(program, arguments):
    return 'presets' if '--presets' in arguments else program.replace('bench_', '')


def merge(all_runs, mark):
    """Rows with the best and the worst of the runs, in the order of the first one."""
    seen = collections.OrderedDict()
    for benchmark, text in all_runs:
        for row, level, threads, unit, figure in figures(benchmark, text) if text else ():
            key = (benchmark, row, level, threads, unit)
            seen.setdefault(key, []).append(figure)
    made = []
    for key, values in seen.items():
        best = worst = values[0]
        for v in values[1:]:
            best, worst = table.better(key[4], best, v), table.worse(key[4], worst, v)
        made.append(dict(zip(table.COLUMNS, key), best=best, worst=worst, runs=len(values), **{'from': mark}))
    return made


def with_others(path, made):
    """The rows of an older file that were not measured now, and then these."""
    if not path.exists():
        return made
    programs = {row['benchmark'] for row in made}
    return [row for row in table.read_results(path)[1] if row['benchmark'] not in programs] + made


def options_of():
    words = argparse.ArgumentParser(prog='measure.py')
    words.add_argument('build', type=pathlib.Path)
    words.add_argument('--quick', action='store_true')
    words.add_argument('--runs', type=int, default=3)
    words.add_argument('--only', action='append', choices=sorted({p for p, _, _ in PLAN}))
    words.add_argument('--to', type=pathlib.Path, default=table.HERE / 'results')
    words.add_argument('--cpuinfo', type=pathlib.Path, default=pathlib.Path('/proc/cpuinfo'))
    z = words.parse_args()
    if z.runs < 1:
        words.error('--runs: at least 1')
    return z


def measure(options):
    options.machine = machine_of(options.cpuinfo.read_text())
    goals, loads, printed = table.read_goals(), [], []
    steps = list(steps_of(options))
    if not steps:
        raise table.Wrong(f'{options.build}: no benchmarks in it; configure it with -Dbench=enabled and build it')
    for run in range(options.runs):
        for program, arguments in steps:
            print(f'bench: run {run + 1} of {options.runs}: {program} {arguments}', file=sys.stderr, flush=True)
            printed.append((benchmark_of(program, arguments), printed_by(options, program, arguments, run)))
            loads.append(os.getloadavg()[0])
    today, commit = datetime.datetime.now(datetime.timezone.utc).date(), commit_of(table.HERE.parent)
    machine = dict(options.machine, cores=os.cpu_count(), date=today, compiler=first_line('cc', '--version'),
                   openblas=first_line('pkg-config', '--modversion', 'openblas') or 'none', commit=commit,
                   load=f'{min(loads):.1f} to {max(loads):.1f}')
    path = options.to / f'{machine["vendor"]}-{machine["family"]}-{machine["model"]}.csv'
    every = merge(printed, f'{today} {commit}' + (' quick' if options.quick else ''))
    table.judge(every, goals, machine['flags'].split())
    table.write_results(options.build / 'bench' / 'all.csv', machine, every)
    made = with_others(path, every)
    table.judge(made, goals, machine['flags'].split())
    made = [row for row in made if row['goal']]
    options.to.mkdir(parents=True, exist_ok=True)
    table.write_results(path, machine, made)
    for kept in (options.build / 'bench' / 'runs').glob('*.csv'):
        kept.unlink()
    missed = sum(row['met'] == 'no' for row in made)
    print(f'{path}: {len(made) - missed} goals met, {missed} missed; {options.build / "bench" / "all.csv"}: {len(every)} figures')


def main():
    options = options_of()
    try:
        measure(options)
    except (table.Wrong, OSError) as wrong:
        sys.exit(f'bench: {wrong}')
    except KeyboardInterrupt:
        sys.exit('bench: stopped; the same command continues')


if __name__ == '__main__':
    main()
