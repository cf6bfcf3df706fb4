#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_files.py ONE ANOTHER: fails unless the packages, wheels and libraries of two folders are the same, byte for byte."""
import pathlib
import sys

PATTERNS = ('*.deb', 'wheel/*.whl', 'halfulp/obj-*/*/*.so.*.*.*', 'halfulp/obj-*/*/libhalfulp*.a', 'halfulp/obj-*/cli/halfulp')
KINDS = ('.deb', '.whl', '.a', '.so')


def found(folder):
    names = (path.relative_to(folder).as_posix() for pattern in PATTERNS for path in pathlib.Path(folder).glob(pattern))
    return sorted(name for name in names)


def kind(name):
    return '.so' if '.so.' in name else pathlib.Path(name).suffix


def main(one, another):
    names = found(one)
    if names != found(another):
        sys.exit('other files: %s' % sorted(set(names) ^ set(found(another))))
    missing = set(KINDS) - {kind(name) for name in names}
    if missing:
        sys.exit('nothing to compare of: ' + ' '.join(sorted(missing)))
    differ = [name for name in names if (pathlib.Path(one) / name).read_bytes() != (pathlib.Path(another) / name).read_bytes()]
    for name in differ:
        print('differs: ' + name)
    print('%d files, %d the same' % (len(names), len(names) - len(differ)))
    return 1 if differ else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
