#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All libraries of README.md beside halfulp on this machine, as `make bench-peers` runs it.

  python3 bench/peers/peers.py BUILD [--cpfloat FOLDER] [--softfloat FOLDER] [--testfloat FOLDER] [--log2 22] [--rounds 5]
  python3 bench/peers/peers.py --tables [--check]

BUILD has halfulp's libraries, its command and, for the Python packages, the environment of scripts/python_env.sh. Of CPFloat,
SoftFloat and TestFloat it takes your folder, else one that it fetches by git into BUILD/peers and builds there; of QPyTorch the
sources in that environment. What cannot be measured gets a row that says why. Results go to results/MACHINE.csv; --tables writes the
tables of README.md here and, a row per library, of the tree from all of them; --check compares them."""
import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = HERE / 'results'
COLUMNS = ['library', 'version', 'work', 'theirs ns', 'halfulp ns', 'compared', 'different', 'NaN', 'zeros', 'subnormal', 'others',
           'not measured']
KINDS = {'NaN': 'bits of NaN', 'zeros': 'signs of zeros', 'subnormal': 'subnormal results', 'others': 'others'}
# Name, address, commit, and where its make runs.
SOURCES = {
    'cpfloat': ('https://github.com/north-numerical-computing/cpfloat', '3583976', None),
    'softfloat': ('https://github.com/ucb-bar/berkeley-softfloat-3', 'a0c6494', ['softfloat.a']),
    'testfloat': ('https://github.com/ucb-bar/berkeley-testfloat-3', 'a9c849f', ['SOFTFLOAT_DIR={softfloat}', 'testfloat_gen']),
}
# The calls of compare.py that the table has, as work that several libraries do.
WORK = {
    'cpfloatf, float8_e5m2, ties to even': 'float32 to E5M2, any magnitude',
    'cpfloatf, float8_e5m2, stochastic': 'float32 to E5M2, stochastic',
    'float_quantize_nearest, exp 5, man 2': 'float32 to E5M2, any magnitude',
    'float_quantize_stochastic, exp 5, man 2': 'float32 to E5M2, stochastic',
    'f16_mulAdd': 'binary16 fma',
    'f32_mulAdd': 'binary32 fma',
    'f32_mulAdd, dots of 8': 'dots of 8 in a tile, binary16 to binary32',
    'f32_mulAdd, dots of 16': 'dots of 16 in a tile, binary16 to binary32',
}
NAMES = {'torch': 'PyTorch', 'numkong': 'NumKong'}
BEGIN, END = '<!-- peers: written by make bench-peers -->\n', '<!-- end of peers -->\n'


def processor():
    """The file's name, and the words of the table."""
    text = pathlib.Path('/proc/cpuinfo').read_text()
    found = {key: re.search(r'(?m)^%s\s*: (.*)$' % key, text) for key in ('vendor_id', 'cpu family', 'model', 'model name')}
    vendor, family, model, name = (found[key][1] if found[key] else '' for key in ('vendor_id', 'cpu family', 'model', 'model name'))
    short = {'AuthenticAMD': 'amd', 'GenuineIntel': 'intel'}.get(vendor, os.uname().machine)
    return f'{short}-{family}-{model}', f'{name} (family {family}, model {model})'


class Left(Exception):
    """Why something is not measured."""


def run(words, **more):
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().split('\n')
        raise Left(f'{pathlib.Path(str(words[0])).name} failed: {lines[-1][:120]}')
    return done.stdout


def source_of(name, options, folders):
    """The library's folder, fetched and built where it was not given."""
    address, commit, target = SOURCES[name]
    folder = (getattr(options, name) or options.build / 'peers' / name).resolve()
    if not folder.is_dir():
        try:
            run(['git', 'clone', '--quiet', address, folder])
            run(['git', '-C', folder, 'checkout', '--quiet', commit])
        except (Left, OSError) as error:
            raise Left(f'it was not fetched ({error})') from error
    made = folder / 'build' / 'Linux-x86_64-GCC'
    if target and not any((folder / 'build').glob('*/' + target[-1])):
        run(['make', '-C', made] + [word.format(**folders) for word in target])
    folders[name] = folder
    return folder


def compared(option, folder, options):
    """Rows of compare.py."""
    out = options.build / 'peers' / (option + '.csv')
    out.parent.mkdir(exist_ok=True)
    run([sys.executable, '-B', HERE / 'compare.py', '--' + option, folder, '--build', options.build, '--log2', options.log2, '--rounds',
         options.rounds, '--csv', out])
    with open(out, newline='') as file:
        for row in csv.DictReader(file):
            if row['call'] in WORK:
                kept = {key: row[key] for key in COLUMNS if key in row}
                yield dict(kept, work=WORK[row['call']], version=version_of(folder, option))


def of_packages(options):
    python, more = options.build / 'venv' / 'bin' / 'python', options.build / 'peers' / 'packages'
    if not python.exists():
        raise Left(f'{options.build} has no Python environment (scripts/python_env.sh)')
    said = ''
    try:
        run([python, '-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--upgrade', '--require-hashes', '--no-deps', '--target',
             more, '-r', HERE / 'requirements.txt'])
    except Left as error:
        said = f' ({error})'
    env = dict(os.environ, PYTHONPATH=f'{ROOT / "python"}:{more}', HALFULP_LIBRARY=str(options.build.resolve()), OMP_NUM_THREADS='1',
               PYTHONDONTWRITEBYTECODE='1')
    for row in csv.DictReader(run([python, HERE / 'packages.py', options.log2, options.rounds], env=env).split('\n')):
        row['work'] = row.pop('call')
        if row['not measured']:
            row['not measured'] = row['not measured'].split('\n')[0] + said
        row['library'] = NAMES.get(row['library'], row['library'])
        yield row


def of_testfloat(folder, options):
    """Cases of a fused multiply-add per second, each program's own."""
    def each(words):
        best, cases = 1e9, 0
        for _ in range(options.rounds):
            start = time.perf_counter()
            with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE) as made:
                cases = sum(part.count(b'\n') for part in iter(lambda: made.stdout.read(1 << 20), b''))
            best = min(best, (time.perf_counter() - start) / max(1, cases))
        return '%.3g' % (1e9 * best)
    program = next(folder.glob('build/*/testfloat_gen'))
    yield {'library': 'TestFloat', 'version': version_of(folder), 'work': 'one test vector of binary16 fma',
           'theirs ns': each([program, '-level', '1', 'f16_mulAdd']),
           'halfulp ns': each([options.build / 'cli' / 'halfulp', 'vectors', 'fma', '-f', 'binary16', '--level', '2']), 'compared': 0, 'different': 0}


def version_of(folder, option='testfloat'):
    if (folder / '.git').exists():
        return run(['git', '-C', folder, 'rev-parse', '--short=7', 'HEAD']).strip()
    package = next(folder.glob('qtorch-*.dist-info'), None) if option == 'qpytorch' else None
    return package.name.split('-')[1].removesuffix('.dist') if package else folder.resolve().name


def measured(options):
    folders = {}
    packages = next((options.build / 'venv').glob('lib/python3*/site-packages'), options.build)
    steps = [('CPFloat', lambda: compared('cpfloat', source_of('cpfloat', options, folders), options)),
             ('QPyTorch', lambda: compared('qpytorch', packages, options)),
             ('SoftFloat', lambda: compared('softfloat', source_of('softfloat', options, folders), options)),
             ('TestFloat', lambda: of_testfloat(source_of('testfloat', options, folders), options)),
             ('Python packages', lambda: of_packages(options))]
    for name, step in steps:
        print(f'peers: {name}', file=sys.stderr, flush=True)
        try:
            yield from list(step())
        except Left as why:
            yield {'library': name, 'not measured': str(why)}


def cells(row, short=False):
    if row['not measured']:
        return [row['library'], '', '', '', f'not measured: {row["not measured"]}']
    theirs, ours = float(row['theirs ns']), float(row['halfulp ns'])
    kinds = ', '.join(text if short else f'{row[kind]} {text}' for kind, text in KINDS.items() if (row[kind] or '0') != '0')
    bits = 'not compared' if row['compared'] == '0' else 'all equal' if row['different'] == '0' else \
        f'{100 * int(row["different"]) / int(row["compared"]):.2g} % differ' + (': ' + kinds if kinds else '')
    return [f'{row["library"]} {row["version"]}', f'{float(f"{theirs:.3g}"):g}', f'{float(f"{ours:.3g}"):g}', f'{theirs / ours:.2g}', bits]


def table(path, short):
    """Of one machine: its first line, then a row for each work and library; short: for each library its first."""
    head, *lines = path.read_text(encoding='utf-8').splitlines()
    rows = list(csv.DictReader(lines))
    if short:
        rows = list({row['library']: row for row in reversed(rows)}.values())
    rows.sort(key=lambda row: (row['work'] or '~', row['library']))
    text = head.lstrip('# ') + '\n\n| work | library | its ns | halfulp\'s ns | times as fast | bits |\n|---|---|---|---|---|---|\n'
    return text + ''.join('| %s |\n' % ' | '.join([row['work'] or ''] + cells(row, short)) for row in rows)


def tables(check):
    wrong = []
    for page in (ROOT / 'README.md', HERE / 'README.md'):
        text = '\n'.join(table(path, page.parent == ROOT) for path in sorted(RESULTS.glob('*.csv')))
        old = page.read_text(encoding='utf-8')
        before, rest = old.split(BEGIN)
        new = before + BEGIN + '\n' + text + '\n' + END + rest.split(END)[1]
        if new != old and check:
            wrong.append(f'{page}: its table is not what bench/peers/results gives; python3 bench/peers/peers.py --tables')
        elif new != old:
            page.write_text(new, encoding='utf-8')
    return '\n'.join(wrong)


def test():
    row = dict.fromkeys(COLUMNS, '')
    assert cells(dict(row, library='A', **{'not measured': 'no B'})) == ['A', '', '', '', 'not measured: no B']
    row.update(library='A', version='1', compared='200', different='3', NaN='1', others='2', **{'theirs ns': '12.345', 'halfulp ns': '5e3'})
    assert cells(row) == ['A 1', '12.3', '5000', '0.0025', '1.5 % differ: 1 bits of NaN, 2 others'], cells(row)
    assert cells(row, short=True)[-1] == '1.5 % differ: bits of NaN, others'
    assert cells(dict(row, different='0', NaN='0', others='0'))[-1] == 'all equal' and cells(dict(row, compared='0'))[-1] == 'not compared'


def main():
    test()
    words = argparse.ArgumentParser(prog='peers.py')
    words.add_argument('build', nargs='?', type=pathlib.Path)
    for name in SOURCES:
        words.add_argument('--' + name, type=pathlib.Path, metavar='FOLDER', default=os.environ.get(name.upper()) and pathlib.Path(os.environ[name.upper()]))
    words.add_argument('--log2', type=int, default=22)
    words.add_argument('--rounds', type=int, default=5)
    words.add_argument('--tables', action='store_true')
    words.add_argument('--check', action='store_true')
    options = words.parse_args()
    if not options.tables:
        if not options.build:
            words.error('name the build folder, or --tables')
        short, name = processor()
        rows = list(measured(options))
        RESULTS.mkdir(exist_ok=True)
        with open(RESULTS / (short + '.csv'), 'w', newline='') as file:
            file.write(f'# {name}, one thread, {time.strftime("%d %B %Y")}, load {os.getloadavg()[0]:.0f}, best of {options.rounds} rounds:\n')
            out = csv.DictWriter(file, COLUMNS, lineterminator='\n')
            out.writeheader()
            out.writerows(rows)
    sys.exit(tables(options.check) or 0)


if __name__ == '__main__':
    main()
