# SPDX-License-Identifier: MIT
"""Prints the pages whose blocks are run: all of docs/, README.md, CONTRIBUTING.md and the examples' own."""
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'docs' / 'site'))
import pages  # noqa: E402


def to_test():
    return pages.own(ROOT) + ['README.md', 'CONTRIBUTING.md', 'bench/README.md'] + pages.examples(ROOT)


if __name__ == '__main__':
    print('\n'.join(to_test()))
