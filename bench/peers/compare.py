#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed and bits of halfulp beside other libraries, in one run each: README.md says how to get them.

  python3 bench/peers/compare.py [--cpfloat FOLDER] [--qpytorch FOLDER] [--mptorch FOLDER] [--softfloat FOLDER]
                                 [--build build] [--log2 22] [--rounds 3] [--csv FILE]

Each FOLDER is your own copy of that library. Nothing is written into it. One thread; both libraries take turns on the same
arrays, and every result is compared bit for bit."""
import argparse
import collections
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLAGS = ['-O3', '-march=native', '-ffp-contract=off', '-w']
COLUMNS = ['library', 'version', 'call', 'theirs ns', 'halfulp ns', 'best', 'worst', 'compared', 'different', 'NaN', 'zeros',
           'subnormal', 'others', 'first of the others']

# adapter: our file; includes and sources: within the folder; needed: files that say that it is that library; flags: sets
# that are tried in turn.
Peer = collections.namedtuple('Peer', 'name option adapter places needed sources libraries flags hint')
PEERS = [
    Peer('CPFloat', 'cpfloat', 'cpfloat.c', ['src', 'build/include', 'include', '.'], ['cpfloat_binary32.h', 'cpfloat_definitions.h'],
         [], [], [['-std=gnu11']], 'a copy of its repository has src/cpfloat_binary32.h'),
    Peer('QPyTorch', 'qpytorch', 'qpytorch.cpp', ['qtorch/quant/quant_cpu', 'quant/quant_cpu', 'quant_cpu', '.'],
         ['quant_cpu.cpp', 'quant_cpu.h', 'bit_helper.cpp', 'sim_helper.cpp'], ['quant_cpu.cpp', 'bit_helper.cpp', 'sim_helper.cpp'],
         [], [['-std=gnu++17', f'-I{HERE}']], 'its source package qtorch-0.3.0 has qtorch/quant/quant_cpu/quant_cpu.cpp'),
    Peer('MPTorch', 'mptorch', 'mptorch.cpp', ['mptorch/quant/quant_cpu', 'quant/quant_cpu', 'quant_cpu', '.'],
         ['fp_kernel.h', 'fp_kernel.cpp', 'bit_helper.h', 'bit_helper.cpp'], ['fp_kernel.cpp', 'bit_helper.cpp'], [],
         [['-std=gnu++17']], 'versions of 2025 have mptorch/quant/quant_cpu/fp_kernel.cpp'),
    Peer('SoftFloat', 'softfloat', 'softfloat.c', ['source/include', 'include'], ['softfloat.h', 'softfloat_types.h'], [],
         ['build/*/softfloat.a', 'softfloat.a', 'build/*/libsoftfloat.a', 'libsoftfloat.a'],
         [['-std=gnu11'], ['-std=gnu11', '-DTHREAD_LOCAL=_Thread_local']],
         'run `make` in build/Linux-x86_64-GCC of its release 3e, which makes softfloat.a'),
]


class Wrong(Exception):
    """What is wrong, with the folder or the file that it is about."""


def place_of(peer, folder):
    """The folder within `folder` that has the peer's files."""
    if not folder.is_dir():
        raise Wrong(f'{folder}: no such folder')
    lacks = []
    for place in peer.places:
        missing = [one for one in peer.needed if not (folder / place / one).is_file()]
        if not missing:
            return folder / place
        lacks.append(f'{place} lacks {missing[0]}')
    raise Wrong(f'{folder}: this is not {peer.name}: {"; ".join(lacks)}; {peer.hint}')


def library_of(peer, folder):
    for pattern in peer.libraries:
        found = sorted(folder.glob(pattern))
        if found:
            return [str(found[0])]
    if peer.libraries:
        raise Wrong(f'{folder}: {peer.name} is not built: it has no {peer.libraries[0]}; {peer.hint}')
    return []


def version_of(folder):
    if (folder / '.git').exists():
        done = subprocess.run(['git', '-C', str(folder), 'rev-parse', '--short=7', 'HEAD'], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    info = folder / 'PKG-INFO'
    if info.is_file():
        for line in info.read_text(errors='replace').splitlines():
            if line.startswith('Version: '):
                return line[len('Version: '):]
    return folder.name


def compiler_of(name):
    return os.environ.get('CXX', 'c++') if name.endswith('.cpp') else os.environ.get('CC', 'cc')


def compile_it(peer, source, include, flags, to):
    command = [*compiler_of(source.name).split(), *FLAGS, *flags, f'-I{include}', f'-I{ROOT}', f'-I{ROOT / "include"}', f'-I{HERE}', '-c',
               str(source), '-o', str(to)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if 'error' in line), done.stderr.strip()[:200])
        raise Wrong(f'{source}: does not compile with {peer.name} of {include}: {first}')


def driver_of(peer, folder, build, work):
    """The program that compares, made in the folder `work`."""
    place, libraries = place_of(peer, folder), library_of(peer, folder)
    if not (build / 'emu' / 'libhalfulp.so').exists():
        raise Wrong(f'{build}: has no emu/libhalfulp.so; build halfulp there, or name its build folder with --build')
    said = None
    for number, flags in enumerate(peer.flags):
        objects = []
        for source in [HERE / 'driver.c', HERE / peer.adapter] + [place / one for one in peer.sources]:
            objects.append(work / f'{peer.option}{number}-{source.stem}.o')
            own = ['-std=gnu11'] if source.suffix == '.c' else flags
            compile_it(peer, source, place, own if source.name == 'driver.c' else flags, objects[-1])
        program = work / f'{peer.option}{number}'
        link = [*compiler_of(peer.adapter).split(), *map(str, objects), *libraries, f'-L{build / "emu"}', '-lhalfulp',
                f'-Wl,-rpath,{(build / "emu").resolve()}', '-lm', '-o', str(program)]
        done = subprocess.run(link, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return program
        said = said or done.stderr.strip()
    raise Wrong(f'{folder}: does not link with {peer.name}: {said[:400]}')


def rows_of(peer, folder, options, work):
    program = driver_of(peer, folder, options.build, work)
    done = subprocess.run([str(program), str(1 << options.log2), str(options.rounds)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f'{peer.name} of {folder}: its run ended with {done.returncode}: {done.stderr.strip()}')
    for line in csv.reader(done.stdout.splitlines()):
        if len(line) != len(COLUMNS) - 2:
            raise Wrong(f'{peer.name} of {folder}: its run printed {line!r}')
        yield dict(zip(COLUMNS, [peer.name, version_of(folder)] + line))


def show(row):
    bits = 'other random numbers' if row['compared'] == '0' else f'{row["different"]} of {row["compared"]} differ'
    kinds = [f'{row[k]} {text}' for k, text in (('NaN', 'NaN'), ('zeros', 'zeros of the other sign'), ('subnormal', 'of subnormal size'),
                                                ('others', 'others')) if row[k] != '0']
    if kinds:
        bits += ': ' + ', '.join(kinds)
    if row['first of the others']:
        bits += f' (the first: {row["first of the others"]})'
    print(f'{row["library"]:<10} {row["call"]:<42} {row["theirs ns"]:>8} ns, halfulp {row["halfulp ns"]:>8} ns: '
          f'{float(row["worst"]):.2f} to {float(row["best"]):.2f} times as fast; {bits}', flush=True)


def options_of():
    words = argparse.ArgumentParser(prog='compare.py')
    for peer in PEERS:
        words.add_argument(f'--{peer.option}', type=pathlib.Path, metavar='FOLDER', help=f'your copy of {peer.name}')
    words.add_argument('--build', type=pathlib.Path, default=ROOT / 'build')
    words.add_argument('--log2', type=int, default=22, help='elements of an array are 2 to this power, 6 to 28')
    words.add_argument('--rounds', type=int, default=3)
    words.add_argument('--csv', type=pathlib.Path, metavar='FILE')
    z = words.parse_args()
    if not any(getattr(z, peer.option) for peer in PEERS):
        words.error('name the folder of one library at least: ' + ', '.join(f'--{peer.option}' for peer in PEERS))
    if not 6 <= z.log2 <= 28 or z.rounds < 1:
        words.error('--log2 is 6 to 28, and --rounds at least 1')
    return z


def main():
    options, rows, failed = options_of(), [], 0
    with tempfile.TemporaryDirectory() as work:
        for peer in PEERS:
            folder = getattr(options, peer.option)
            try:
                for row in rows_of(peer, folder.resolve(), options, pathlib.Path(work)) if folder else ():
                    rows.append(row)
                    show(row)
            except (Wrong, OSError) as wrong:
                print(f'compare: {wrong}', file=sys.stderr)
                failed = 2
    if options.csv and rows:
        beside = options.csv.with_name(options.csv.name + '.new')
        with open(beside, 'w', newline='') as out:
            table = csv.DictWriter(out, COLUMNS, lineterminator='\n')
            table.writeheader()
            table.writerows(rows)
        beside.replace(options.csv)
    return failed


if __name__ == '__main__':
    sys.exit(main())
