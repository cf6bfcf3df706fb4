#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""source_copy.py FOLDER: makes FOLDER a copy of the source as it stands: what git tracks, and new files that git does
not ignore; without git, everything but build folders. A file that is the same keeps its time, so that a second build
there is quick."""
import filecmp
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def names(root=ROOT):
    """The files of a source, seen from its root."""
    try:
        listed = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=root, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
    except FileNotFoundError:  # there is no git
        listed = None
    if listed and listed.returncode == 0:
        return [name for name in listed.stdout.decode().split('\0') if name and ((root / name).is_file() or (root / name).is_symlink())]
    every = (path.relative_to(root) for path in root.rglob('*') if path.is_file() or path.is_symlink())
    return [str(path) for path in every if path.parts[0] != '.git' and not path.parts[0].startswith('build') and '__pycache__' not in path.parts]


def main(folder):
    for name in names():
        to = pathlib.Path(folder) / name
        if to.is_symlink():
            to.unlink()
        if to.is_file() and filecmp.cmp(ROOT / name, to, shallow=False):
            shutil.copymode(ROOT / name, to)
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, to, follow_symlinks=False)


if __name__ == '__main__':
    main(sys.argv[1])
