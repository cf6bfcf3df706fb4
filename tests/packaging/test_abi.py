#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No public symbol of packaging/abi is gone from the libraries of this build. (Forms of functions and records:
scripts/packages/abi.py.)

usage: test_abi.py ROOT LIBRARY..."""
import pathlib
import re
import subprocess
import sys

STORED = re.compile(r"<elf-symbol name='([^']+)'")


def exported(library):
    table = subprocess.run(['nm', '-D', '--defined-only', library], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[2] for line in table.splitlines() if len(line.split()) == 3}


def gone(stored, library):
    return sorted(set(STORED.findall(stored)) - exported(library))


def main(root, *libraries):
    for library in libraries:
        name = pathlib.Path(library).name.split('.so')[0]
        stored = (pathlib.Path(root) / 'packaging/abi' / (name + '.abi')).read_text()
        assert len(STORED.findall(stored)) > (0 if 'cuda' in name else 1), name + ': an empty description'
        missing = gone(stored, library)
        if missing:
            sys.exit('%s: gone from the binary interface: %s\nIf that is meant: scripts/packages/abi.py BUILD --update, and a line in NEWS.md.'
                     % (name, ', '.join(missing)))
        assert gone(stored + "<elf-symbol name='hu_was_here'", library) == ['hu_was_here'], 'this test cannot fail'
        print('%s: %d symbols, all here; %d new' % (name, len(set(STORED.findall(stored))), len(exported(library)) - len(set(STORED.findall(stored)))))


if __name__ == '__main__':
    main(*sys.argv[1:])
