#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The binary interface of the libraries as they stand against that of another commit.

    abi.py BUILD                     compares with the last tag of git, by abidiff
    abi.py BUILD --against COMMIT    compares with this commit
    abi.py BUILD --update            writes the list of the public symbols again, debian/libhalfulp0.symbols

Both libraries are built from source here, which takes seconds: kernels have no public names and are left out, as is
optimization. --update leaves a symbol its version, and gives a new one the version of include/halfulp/status.h.

Exit code 0: programs that were linked with the old libraries run with the new ones (functions may be new). 1: they
may not: a function is gone, or it or a record of it has another form; such a change takes another soname
(emu/meson.build) and a line in NEWS.md. 2: a library could not be built or compared. 77: nothing was compared, as there
is no abidiff or no tag."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SYMBOLS = 'debian/libhalfulp0.symbols'  # the form of deb-src-symbols(5)
KERNELS = re.compile(r'(lanes|loops)(_\w+)?\.c$|/tiles/|/(level_table|level_absent|native_level)\.c$')
# Folders of each library's sources, and folders of these that are another library.
LIBRARIES = {
    'libhalfulp': (('emu', 'formats'), ('emu/oracle/',)),
    'libhalfulp-oracle': (('emu/oracle',), ()),
    'libhalfulp-train': (('train', 'files'), ('files/safetensors',)),
    'libhalfulp-layouts': (('layouts', 'files'), ('files/npy', 'files/spelling', 'files/suggest')),
    'libhalfulp-cuda': ((), ()),
    'libhalfulp-train-cuda': ((), ()),
}
# Their calls without CUDA, which have the same form.
WITHOUT_CUDA = {'libhalfulp-cuda': 'gpu/none.c', 'libhalfulp-train-cuda': 'gpu/train/none.c'}
CHANGED, INCOMPATIBLE = 4, 8  # bits of abidiff's exit code


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        fail(' '.join(map(str, command)) + '\n' + done.stdout)
    return done.stdout


def sources(root, library):
    folders, others = LIBRARIES[library]
    names = (path.relative_to(root).as_posix() for folder in folders for path in sorted((root / folder).rglob('*.c')))
    return [name for name in names if not KERNELS.search(name) and not name.startswith(others or ('/',))]


def compiled(root, library, out):
    """The library of a source tree as a file, with what abidiff reads about its types."""
    folder = out / library
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    def one(name):  # relative to the source, or absolute
        made = folder / (name.replace('/', '_') + '.o')
        run('gcc', '-std=c11', '-g', '-O0', '-fPIC', '-fvisibility=hidden', '-D_GNU_SOURCE', '-DHU_LENDS_THREADS=1', '-I.',
            '-Iinclude', '-c', name, '-o', made, cwd=root)
        return made

    names = sources(root, library)
    if library in WITHOUT_CUDA:
        names = [WITHOUT_CUDA[library]]
        if not (root / names[0]).exists():
            fail('abi.py: that commit has no {}: it is older than this command can build'.format(names[0]))
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('JOBS') or os.cpu_count())) as pool:
        objects = list(pool.map(one, names))
    shared = out / (library + '.so.0')
    run('gcc', '-shared', '-Wl,-soname,%s.so.0' % library, '-o', shared, *objects)
    return shared


def exported(shared):
    """The public symbols of a library."""
    table = run('nm', '-D', '--defined-only', shared)
    return {line.split()[2] for line in table.splitlines() if len(line.split()) == 3}


def listed(text):
    """{library: {symbol: the version that was the first to have it}} of the list."""
    found = {}
    for line in text.splitlines():
        head, entry = re.match(r'(\S+)\.so\.\d+ ', line), re.fullmatch(r' (\w+)@Base (\S+)', line)
        if head:
            symbols = found.setdefault(head[1], {})
        elif entry:
            symbols[entry[1]] = entry[2]
    return found


def write_list(source, libraries):
    """The list of what the libraries, {name: file}, export; those of other libraries stay."""
    path = source / SYMBOLS
    path.parent.mkdir(exist_ok=True)
    version = re.search(r'VERSION_STRING "(.*)"', (source / 'include/halfulp/status.h').read_text())[1]
    found = listed(path.read_text()) if path.exists() else {}
    for name, shared in libraries.items():
        found[name] = {symbol: found.get(name, {}).get(symbol, version) for symbol in exported(shared)}
    path.write_text(''.join(
        '%s.so.0 libhalfulp0 #MINVER#\n* Build-Depends-Package: libhalfulp-dev\n' % name +
        ''.join(' %s@Base %s\n' % entry for entry in sorted(found[name].items())) for name in sorted(found)))
    print('wrote', path.relative_to(source))


def compare(old, new, old_root, root):
    """abidiff's report where something is gone or has another form, else ''."""
    done = subprocess.run(['abidiff', '--headers-dir1', str(old_root / 'include'), '--headers-dir2', str(root / 'include'),
                           '--drop-private-types', '--no-added-syms', str(old), str(new)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode & 3:
        fail('abidiff: ' + done.stdout)
    return done.stdout if done.returncode & (CHANGED | INCOMPATIBLE) else ''


def git(source, *words):
    """What git answers; None where it has no answer or is not there."""
    try:
        done = subprocess.run(['git', *words], cwd=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except FileNotFoundError:
        return None
    return None if done.returncode else done.stdout


def tree_of(source, commit, out):
    """The sources of a commit, in a folder."""
    archive = git(source, 'archive', commit)
    if archive is None:
        fail('abi.py: --against: git knows no commit {!r} here'.format(commit))
    folder = out / 'before' / 'source'
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(['tar', '-x', '-C', str(folder)], input=archive, check=True)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--against', metavar='COMMIT')
    parser.add_argument('--source', type=pathlib.Path, default=ROOT, help='another source tree, for the test of this program')
    parser.add_argument('--library', choices=sorted(LIBRARIES), action='append')
    given = parser.parse_args()
    source, out = given.source.resolve(), given.build.resolve() / 'abi'
    if given.update:
        write_list(source, {library: compiled(source, library, out) for library in given.library or LIBRARIES})
        return 0
    if not shutil.which('abidiff'):
        print('no abidiff here (Debian: abigail-tools)')
        return 77
    commit = given.against or (git(source, 'describe', '--tags', '--abbrev=0') or b'').decode().strip()
    if not commit:
        print('Nothing was compared: no version has a tag yet. Name a commit: make abi-check AGAINST=COMMIT')
        return 77
    before, bad = tree_of(source, commit, out), 0
    for library in given.library or LIBRARIES:
        said = compare(compiled(before, library, out / 'before'), compiled(source, library, out), before, source)
        print('{}: {}'.format(library, 'changed since {}\n{}'.format(commit, said) if said else 'compatible with ' + commit))
        bad += bool(said)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
