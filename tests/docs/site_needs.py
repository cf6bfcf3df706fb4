# SPDX-License-Identifier: MIT
"""What making the site takes: for its tests, which are left out where it is missing."""
import importlib.util
import pathlib
import shutil
import sys


def missing():
    """[what is not there (its package of Debian)]"""
    out = ['%s (Debian: %s)' % (name, name) for name in ('doxygen', 'mandoc') if not shutil.which(name)]
    has_pygments = importlib.util.find_spec('pygments') or pathlib.Path('/usr/lib/python3/dist-packages/pygments').is_dir()
    return out + ([] if has_pygments else ['Pygments (Debian: python3-pygments)'])


def skip_without(names):
    if names:
        print('no %s: the site was not made' % ', '.join(names))
        sys.exit(77)
