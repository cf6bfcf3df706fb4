#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""glibc_floor.py FOLDER COMPILER: makes libraries to link with in FOLDER, so that what is linked runs with glibc 2.17,
or newer ones.

glibc gives a function a new version when it moves or changes, and a linker takes the newest.
FOLDER/libfloor_pthread.so and libfloor_m.so name themselves libpthread.so.0 and libm.so.6, and have every function
in its oldest version alone: threads, which moved into libc.so.6 in 2.34, and those of libm, of which log2 has a new
version since 2.29. They are never loaded: systems have the real ones, with these versions, too. auditwheel checks
the result."""
import collections
import pathlib
import re
import subprocess
import sys

THREADS = ('pthread_create', 'pthread_join')


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def oldest(compiler, library, names=None):
    """Versions of a library, each with the functions that have it as their oldest one."""
    path = output(compiler, '-print-file-name=' + library).strip()
    found = {}
    for line in output(output(compiler, '-print-prog-name=nm').strip(), '-D', '--defined-only', '--with-symbol-versions', path).splitlines():
        symbol = re.fullmatch(r'\w+ [TWi] (\w+)@@?(GLIBC_([\d.]+))', line)
        if symbol and (names is None or symbol[1] in names):
            version = tuple(int(part) for part in symbol[3].split('.'))
            found[symbol[1]] = min(found.get(symbol[1], (version, symbol[2])), (version, symbol[2]))
    by_version = collections.defaultdict(list)
    for name, (_, version) in sorted(found.items()):
        by_version[version].append(name)
    return by_version


def make(folder, compiler, name, soname, versions):
    text = ''.join('void %s(void);\nvoid %s(void) {}\n' % (one, one) for names in versions.values() for one in names)
    nodes = ''.join('%s { global: %s };\n' % (version, ' '.join(one + ';' for one in names)) for version, names in versions.items())
    (folder / (name + '.c')).write_text(text)
    (folder / (name + '.map')).write_text(nodes)
    subprocess.run([compiler, '-shared', '-fPIC', '-nostdlib', '-fno-builtin', '-Wl,-soname,' + soname, '-Wl,--version-script=%s/%s.map' % (folder, name),
                    '%s/%s.c' % (folder, name), '-o', '%s/lib%s.so' % (folder, name)], check=True)


def main(folder, compiler):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    make(folder, compiler, 'floor_m', 'libm.so.6', oldest(compiler, 'libm.so.6'))
    make(folder, compiler, 'floor_pthread', 'libpthread.so.0', oldest(compiler, 'libc.so.6', THREADS))


if __name__ == '__main__':
    main(*sys.argv[1:])
