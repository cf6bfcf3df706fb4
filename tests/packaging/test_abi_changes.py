#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/packages/abi.py goes red for what breaks programs, and only for that: on the oracle's library of a small
repository, as its last commit has it and with planted changes. It says so where there is no tag to compare with.

usage: test_abi_changes.py ROOT FOLDER        77 where abidiff or git is missing"""
import pathlib
import re
import shutil
import subprocess
import sys

PARTS = ('include', 'emu/core', 'emu/oracle', 'emu/base', 'formats')
LIBRARY = 'libhalfulp-oracle'


def git(copy, *words):
    subprocess.run(['git', '-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false', *words], cwd=copy,
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)


def judge(root, folder, wanted, says, *more):
    done = subprocess.run([sys.executable, '-B', str(root / 'scripts/packages/abi.py'), str(folder), '--source', str(folder / 'source'),
                           '--library', LIBRARY, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == wanted and says in done.stdout, '%s: exit code %d\n%s' % (more, done.returncode, done.stdout)
    print('%s: exit code %d, %s' % (' '.join(more), done.returncode, says))


def main(root, folder):
    root, folder = pathlib.Path(root).resolve(), pathlib.Path(folder).resolve()
    if not shutil.which('abidiff') or not shutil.which('git'):
        print('skipped: no abidiff or no git here (Debian: abigail-tools)')
        return 77
    sys.path.insert(0, str(root / 'scripts/packages'))
    import abi
    copy = folder / 'source'
    shutil.rmtree(copy, ignore_errors=True)
    for part in PARTS:
        shutil.copytree(root / part, copy / part)
    git(copy, 'init', '-q')
    git(copy, 'add', '.')
    git(copy, 'commit', '-qm', 'as it stands')

    name = re.search(r'HU_API[^;(]*?\b(hu_oracle_\w+)\(', (root / 'include/halfulp/oracle.h').read_text())[1]
    changes = {
        'a function renamed': lambda text: re.sub(r'\b%s\b' % name, name + '_gone', text),
        'one argument more': lambda text: re.sub(r'(HU_API[^;({}]*\b%s\(|^[\w *]*\b%s\((?=\w+ \*?\w))' % (name, name), r'\1int more, ', text, flags=re.M),
        'a field more': lambda text: re.sub(r'(typedef struct hu_mode \{)', r'\1\n  int more;', text),
    }
    judge(root, folder, 77, 'no version has a tag yet. Name a commit: make abi-check AGAINST=COMMIT')
    judge(root, folder, 2, "git knows no commit 'nowhere'", '--against', 'nowhere')
    judge(root, folder, 0, 'compatible with HEAD', '--against', 'HEAD')
    git(copy, 'tag', 'v0')
    for what, change in changes.items():
        for path in [*copy.glob('include/halfulp/*.h'), *copy.glob('emu/oracle/*.[ch]')]:
            path.write_text(change(path.read_text()))
        assert subprocess.run(['git', 'diff', '--quiet'], cwd=copy).returncode == 1, what + ': nothing has changed'
        judge(root, folder, 1, 'changed since v0')
        git(copy, 'checkout', '-q', '.')

    judge(root, folder, 0, 'wrote debian/libhalfulp0.symbols', '--update')
    made, stored = (abi.listed((tree / abi.SYMBOLS).read_text())[LIBRARY] for tree in (copy, root))
    assert made == stored, 'the list of the oracle is another: %s' % sorted(set(made) ^ set(stored))
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
