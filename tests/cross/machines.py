# SPDX-License-Identifier: MIT
"""The same bits from other machines and compilers: builds the library's sources and bits.c again, runs them (other
machines under QEMU), and compares with what this build's own program printed.

usage: machines.py SOURCE_ROOT BITS machines|all SOURCE... [--level FLAGS SOURCE...]...    (exit 77 if nothing else is
there). FLAGS: of a level of vector instructions, with commas between them; its kernels are for x86-64 alone.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

OTHERS = [  # name, compiler, what runs its programs
    ('gcc -O1, x86-64', ['gcc', '-O1'], []),
    ('clang -O2, x86-64', ['clang', '-O2'], []),
    ('gcc -O2, aarch64', ['aarch64-linux-gnu-gcc', '-O2'], ['qemu-aarch64-static']),
]


def read_sources(words):
    """Pairs of a source and its level's flags."""
    sources, flags = [], []
    while words:
        if words[0] == '--level':
            flags, words = words[1].split(','), words[2:]
        else:
            sources.append((words[0], flags))
            words = words[1:]
    return sources


def compile_all(folder, compiler, flags, sources):
    def compile_one(source, extra, target):
        subprocess.run(compiler + flags + extra + ['-c', '-o', target, source], check=True)

    objects = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = []
        for source, extra in sources:
            objects.append(f'{folder}/{len(objects)}.o')
            running.append(pool.submit(compile_one, source, extra, objects[-1]))
        for one in running:
            one.result()
    subprocess.run(compiler + ['-static', '-o', folder + '/bits'] + objects + ['-lpthread'], check=True)
    return folder + '/bits'


def main():
    root, bits = pathlib.Path(sys.argv[1]), sys.argv[2]
    sources = [(str(root / 'tests/cross/bits.c'), [])] + read_sources(sys.argv[4:])
    want = subprocess.run([bits], check=True, capture_output=True, text=True).stdout
    assert len(want.splitlines()) > 100
    flags = ['-std=c11', '-ffp-contract=off', '-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Wno-sign-conversion', '-Werror',
             f'-I{root}', f'-I{root}/include']
    compared = different = 0
    for name, compiler, runner in OTHERS:
        if not runner and sys.argv[3] != 'all':
            continue
        if not all(shutil.which(tool) for tool in [compiler[0]] + runner):
            print(f'{name}: not here')
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = compile_all(folder, compiler, flags, [one for one in sources if not runner or not one[1]])
            got = subprocess.run(runner + [program], check=True, capture_output=True, text=True).stdout
        lines = [(w, g) for w, g in zip(want.splitlines(), got.splitlines()) if w != g]
        same = not lines and len(want) == len(got)
        print(f'{name}: {"the same bits" if same else "DIFFERENT BITS"} in {len(want.splitlines())} lines')
        for w, g in lines[:5]:
            print(f'  here {w}\n  there {g}')
        compared += 1
        different += not same
    print(f'{compared} compared, {different} different')
    return 1 if different else 0 if compared else 77


sys.exit(main())
