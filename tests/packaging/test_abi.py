#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The libraries of this build export what debian/libhalfulp0.symbols lists, and nothing else. (Forms of functions and
records: scripts/packages/abi.py.)

usage: test_abi.py ROOT LIBRARY..."""
import pathlib
import sys


def compared(name, listed, exported, within=()):
    """Complaints about a library, which has the symbols of another one within it. Names that begin with _ are the
    compiler's, of a sanitizer for instance."""
    found = {symbol for symbol in exported if not symbol.startswith('_')} - set(within)
    return (['%s: gone from the binary interface: %s' % (name, symbol) for symbol in sorted(listed - found)] +
            ['%s: exported, and not in the list: %s' % (name, symbol) for symbol in sorted(found - listed)])


def main(root, *libraries):
    sys.path.insert(0, root + '/scripts/packages')
    import abi
    lists, bad = abi.listed((pathlib.Path(root) / abi.SYMBOLS).read_text()), []
    assert set(lists) == set(abi.LIBRARIES), 'the list has other libraries'
    assert compared('x', {'a', 'b'}, {'b', 'c', 'd', '__asan'}, {'d'}) == ['x: gone from the binary interface: a', 'x: exported, and not in the list: c']
    for library in libraries:
        name = pathlib.Path(library).name.split('.so')[0]
        symbols = set(lists[name])
        assert len(symbols) > (0 if 'cuda' in name else 1), name + ': an empty list'
        within = lists['libhalfulp'] if name in ('libhalfulp-train', 'libhalfulp-layouts') else ()  # which has a copy of it
        bad += compared(name, symbols, abi.exported(library), within)
        print('%s: %d symbols' % (name, len(symbols)))
    if bad:
        sys.exit('\n'.join(bad) + '\nIf that is meant: make abi-check UPDATE=1, and for what is gone a line in NEWS.md.')


if __name__ == '__main__':
    main(*sys.argv[1:])
