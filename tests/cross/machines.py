# SPDX-License-Identifier: MIT
"""The same bits from other machines and compilers, and at every level of vector instructions that a machine has: builds
the library's sources and those of `bits` again, runs them (other machines under QEMU), and compares with what this
build's own program printed.

usage: machines.py SOURCE_ROOT BITS machines|all SOURCE... [--level MACHINE FLAGS SOURCE...]...    (exit 77 if nothing
else is there). FLAGS: of a level of MACHINE, with commas between them; its kernels are for that machine alone. Those of the level
`vector` are for every machine.
machines: aarch64, compiled with -O1, at its best level (the other one is left out of the program), of every 24 cases one; all: all
cases, every level, -O2, riscv64, and this machine's other compilers.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

OTHERS = [  # name, machine, compiler, what runs its programs
    ('gcc -O1, x86-64', 'x86_64', ['gcc', '-O1'], []),
    ('clang -O2, x86-64', 'x86_64', ['clang', '-O2'], []),
    ('gcc -O2, aarch64', 'aarch64', ['aarch64-linux-gnu-gcc', '-O2'], ['qemu-aarch64-static']),
    ('gcc -O1, aarch64', 'aarch64', ['aarch64-linux-gnu-gcc', '-O1'], ['qemu-aarch64-static']),
    ('gcc -O1, riscv64', 'riscv64', ['riscv64-linux-gnu-gcc', '-O1'], ['qemu-riscv64-static']),
]
# What `machines` runs: of every so many cases one.
QUICK = {'gcc -O1, aarch64': 24}


ANY, VECTOR = '', 'vector'  # machines: one that a source is for, or any, with kernels of the level that all machines have


def read_sources(words):
    """A source, the machine that it is for and its level's flags."""
    sources, machine, flags = [], ANY, []
    while words:
        if words[0] == '--level':
            machine, flags, words = words[1], words[2].split(',') if words[2] else [], words[3:]
        else:
            sources.append((words[0], machine, flags))
            words = words[1:]
    return sources


class Program:
    """`bits` for a machine, in a folder of its own, as objects and then linked."""

    def __init__(self, folder, other, sources, absent):
        """With an `absent` it has that source in place of the kernels of the level `vector`."""
        self.name, machine, self.compiler, self.runner = other
        self.sources = [(source, extra) for source, where, extra in sources if where in (ANY, machine, '' if absent else VECTOR)]
        self.sources += [(absent, [])] if absent else []
        self.folder = pathlib.Path(folder, machine + str(OTHERS.index(other)))
        self.folder.mkdir()
        self.objects = [self.folder / f'{i}.o' for i in range(len(self.sources))]

    def compile(self, i, flags):
        source, extra = self.sources[i]
        subprocess.run(self.compiler + flags + extra + ['-c', '-o', self.objects[i], source], check=True)

    def link(self):
        program = str(self.folder / 'bits')
        subprocess.run(self.compiler + ['-static', '-o', program] + self.objects + ['-lpthread'], check=True)
        return self.runner + [program]


def compile_all(pool, programs, flags):
    """Kernels first: one of them takes longer than all else."""
    jobs = [(program, i) for program in programs for i in range(len(program.sources))]
    jobs.sort(key=lambda job: '_lanes' not in job[0].sources[job[1]][0])
    for one in [pool.submit(program.compile, i, flags) for program, i in jobs]:
        one.result()


def lines_of(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def levels_of(command, everything):
    """The levels to run: under an emulator, where each takes most of a minute, the first (the best) unless `everything`."""
    levels = lines_of(command + ['--levels'])
    return levels if everything or len(command) == 1 else levels[:1]


def tell(name, want, got):
    """1 if they differ."""
    print(f'{name}: {"the same bits" if want == got else "DIFFERENT BITS"} in {len(want)} lines')
    lines = [(w, g) for w, g in zip(want, got) if w != g]
    for w, g in lines[:5]:
        print(f'  here {w}\n  there {g}')
    if want != got and not lines:
        print(f'  there {len(got)} lines')
    return want != got


def main():
    root, bits, everything = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3] == 'all'
    sources = read_sources(sys.argv[4:])
    want = {every: lines_of([bits, '--every', str(every)]) for every in {1, *QUICK.values()}}
    assert all(len(lines) > 500 / every for every, lines in want.items())
    flags = ['-std=c11', '-ffp-contract=off', '-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Wno-sign-conversion', '-Werror',
             f'-I{root}', f'-I{root}/include']
    programs = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for other in OTHERS:
            if not everything and other[0] not in QUICK:
                continue
            if not all(shutil.which(tool) for tool in [other[2][0]] + other[3]):
                print(f'{other[0]}: not here')
                continue
            programs.append(Program(folder, other, sources, None if everything else f'{root}/emu/level_absent.c'))
        compile_all(pool, programs, flags)
        commands = [('this build', [bits])] + [(one.name, one.link()) for one in programs]
        runs = []
        for name, command in commands:
            every = 1 if everything else QUICK.get(name, 1)
            runs += [(f'{name}, {level}', want[every], pool.submit(lines_of, command + [level, '--every', str(every)]))
                     for level in levels_of(command, everything)]
        different = sum(tell(name, lines, run.result()) for name, lines, run in runs)
    print(f'{len(runs)} compared, {different} different')
    return 1 if different else 0 if programs else 77


sys.exit(main())
