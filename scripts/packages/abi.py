#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The binary interface of the libraries against the last release's.

    abi.py BUILD            builds the libraries as they stand and compares them with packaging/abi/, by abidiff
    abi.py BUILD --update   writes packaging/abi/ anew, for a change that is meant
    abi.py BUILD --tag      compares with the last tag of git instead, built in the same way

Exit code 0: programs that were linked with the old libraries run with the new ones (functions may be new). 1: they
may not: a function is gone, or it or a record of it has another form; such a change takes another soname
(emu/meson.build) and a line in NEWS.md. 77: no abidiff. Optimization changes nothing here, and kernels have no
public names: the libraries are compiled without both, which takes seconds."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STORED = ROOT / 'packaging' / 'abi'
KERNELS = re.compile(r'(lanes|loops)(_\w+)?\.c$|/tiles/|/(level_table|level_absent|native_level)\.c$')
# Folders of each library's sources, and folders of these that are another library.
LIBRARIES = {
    'libhalfulp': (('emu', 'formats'), ('emu/oracle/',)),
    'libhalfulp-oracle': (('emu/oracle',), ()),
    'libhalfulp-train': (('train', 'files'), ()),
    'libhalfulp-cuda': ((), ()),
    'libhalfulp-train-cuda': ((), ()),
}
# Their calls without CUDA, which have the same form: a file with the answers, and headers whose other calls
# scripts/without_cuda.py answers.
WITHOUT_CUDA = {
    'libhalfulp-cuda': ('gpu/none/answers.c', 'include/halfulp/device*.h'),
    'libhalfulp-train-cuda': ('gpu/none/answers_train.c', 'include/halfulp/train/device.h'),
}
CHANGED, INCOMPATIBLE = 4, 8  # bits of abidiff's exit code


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        sys.exit(' '.join(map(str, command)) + '\n' + done.stdout)
    return done.stdout


def sources(root, library):
    folders, others = LIBRARIES[library]
    names = (path.relative_to(root).as_posix() for folder in folders for path in sorted((root / folder).rglob('*.c')))
    return [name for name in names if not KERNELS.search(name) and not name.startswith(others or ('/',))]


def compiled(root, library, out):
    """The library of a source tree as a file, with what abidw reads about its types."""
    folder = out / library
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    def one(name):  # relative to the source, or absolute
        made = folder / (name.replace('/', '_') + '.o')
        run('gcc', '-std=c11', '-g', '-O0', '-fPIC', '-fvisibility=hidden', '-D_GNU_SOURCE', '-I.', '-Iinclude', '-c', name,
            '-o', made, cwd=root)
        return made

    names = sources(root, library)
    if library in WITHOUT_CUDA:
        answers, headers = WITHOUT_CUDA[library]
        made = (folder / 'none.c').as_posix()
        run(sys.executable, '-B', root / 'scripts/without_cuda.py', made, root / answers, *sorted(root.glob(headers)))
        names = [answers, made]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('JOBS') or os.cpu_count())) as pool:
        objects = list(pool.map(one, names))
    shared = out / (library + '.so.0')
    run('gcc', '-shared', '-Wl,-soname,%s.so.0' % library, '-o', shared, *objects)
    return shared


def description(root, shared):
    """abidw's text of a library: what the public headers say of it. Folders of this machine are left out."""
    text = run('abidw', '--headers-dir', root / 'include', '--drop-private-types', '--no-show-locs', '--no-corpus-path',
               '--no-comp-dir-path', '--type-id-style', 'hash', shared)
    return re.sub(r"(?<= path=')/[^']*/(?=[^'/]*/[^'/]*')", '', text)


def compare(old, new, root):
    """abidiff's report where something is gone or has another form, else ''."""
    done = subprocess.run(['abidiff', '--headers-dir2', str(root / 'include'), '--drop-private-types', '--no-added-syms', str(old), str(new)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode & 3:
        sys.exit('abidiff: ' + done.stdout)
    return done.stdout if done.returncode & (CHANGED | INCOMPATIBLE) else ''


def last_tag(out):
    """The source of the last tag, in a folder; None where there is no tag."""
    try:
        tag = subprocess.run(['git', 'describe', '--tags', '--abbrev=0'], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except FileNotFoundError:  # there is no git
        return None
    if tag.returncode:
        return None
    folder = out / 'tag'
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = subprocess.run(['git', 'archive', tag.stdout.strip()], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    subprocess.run(['tar', '-x', '-C', str(folder)], input=archive.stdout, check=True)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--tag', action='store_true')
    parser.add_argument('--source', type=pathlib.Path, default=ROOT, help='another source tree, for the test of this program')
    parser.add_argument('--library', choices=sorted(LIBRARIES), action='append')
    given = parser.parse_args()
    if not shutil.which('abidiff'):
        print('no abidiff here (Debian: abigail-tools)')
        return 77
    out = given.build.resolve() / 'abi'
    out.mkdir(parents=True, exist_ok=True)
    before = last_tag(out) if given.tag else None
    if given.tag and before is None:
        print('there is no tag: the comparison is with packaging/abi')
    bad = 0
    for library in given.library or LIBRARIES:
        new = compiled(given.source, library, out)
        stored = STORED / (library + '.abi')
        if given.update:
            STORED.mkdir(parents=True, exist_ok=True)
            stored.write_text(description(given.source, new))
            print('wrote', stored.relative_to(ROOT))
            continue
        old = compiled(before, library, out / 'before') if before else stored
        said = compare(old, new, given.source)
        print('{}: {}'.format(library, 'changed\n' + said if said else 'compatible'))
        bad += bool(said)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
