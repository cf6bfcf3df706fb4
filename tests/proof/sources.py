# SPDX-License-Identifier: MIT
"""C files of this folder through clang to LLVM IR, from the tree as it stands or with a planted fault of tests/fault in it."""
import functools
import pathlib
import shutil
import subprocess
import sys
import tempfile

import llvm

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Values stay in registers, loops and switches stay what they are: what the translator reads best. No floating-point liberties.
FLAGS = ('-std=c11', '-O1', '-fno-vectorize', '-fno-slp-vectorize', '-fno-unroll-loops', '-fno-jump-tables', '-ffp-contract=off',
         '-w', '-S', '-emit-llvm')
TRAPS = ('-fsanitize=undefined', '-fsanitize-trap=undefined')
CLANGS = ('clang', 'clang-19', 'clang-18', 'clang-17', 'clang-16', 'clang-15', 'clang-14')


def clang():
    """The compiler's path, None where there is none."""
    return next((path for path in map(shutil.which, CLANGS) if path), None)


class Sources:
    """Where sources are read from. fault: a number of tests/fault's tables, 0 for none."""

    def __init__(self, fault=0):
        self.fault = fault
        self.folder = None

    def paths(self):
        """Compiler options that find the files, a wrong copy before the right one."""
        first = []
        if self.fault:
            if self.folder is None:
                self.folder = tempfile.TemporaryDirectory(prefix='halfulp-proof-')
                plant(self.fault, pathlib.Path(self.folder.name))
            first = ['-iquote', str(pathlib.Path(self.folder.name) / 'tree' / str(self.fault))]
        return first + ['-I', str(ROOT), '-I', str(ROOT / 'include')]

    @functools.lru_cache(maxsize=None)
    def text(self, name, *options):
        command = [clang(), *FLAGS, *options, *self.paths(), str(HERE / name), '-o', '-']
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f'{" ".join(command)}:\n{done.stderr}')
        return done.stdout

    def module(self, name, *options, calls=None):
        return llvm.Module(self.text(name, *options), calls)


def plant(number, folder):
    """The files with a fault in them, under folder/tree/NUMBER."""
    sys.path.insert(0, str(ROOT / 'tests' / 'fault'))
    import faults
    rows = [row for row in faults.all_rows(sorted((ROOT / 'tests' / 'fault').glob('*.txt'))) if row.number == number]
    if not rows:
        raise ValueError(f'no planted fault {number}')
    faults.make(rows, ROOT, folder)
