# SPDX-License-Identifier: MIT
"""Writes the texts of the networks that have names as constants of C: networks.py HEADER FILE..."""
import pathlib
import sys

WRITTEN = ['/* Written by train/model/networks.py. */']
for path in map(pathlib.Path, sys.argv[2:]):
    lines = path.read_text().splitlines()
    WRITTEN.append('static const char network_{}[] ='.format(path.stem))
    WRITTEN.append('\n'.join('    "{}\\n"'.format(line.replace('\\', '\\\\').replace('"', '\\"')) for line in lines) + ';')
pathlib.Path(sys.argv[1]).write_text('\n'.join(WRITTEN) + '\n')
