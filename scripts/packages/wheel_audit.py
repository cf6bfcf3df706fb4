#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wheel_audit.py WHEEL MACHINE: fails unless auditwheel finds that the wheel is what its name says, manylinux_2_17 or
an older one, and that it holds libraries of that machine and no other file that is compiled."""
import pathlib
import re
import subprocess
import sys
import zipfile

ELF_MACHINE = {'x86_64': 62, 'aarch64': 183}
NEWEST = (2, 17)


def main(wheel, machine):
    with zipfile.ZipFile(wheel) as archive:
        elves = {name: archive.read(name) for name in archive.namelist() if archive.read(name)[:4] == b'\x7fELF'}
    names = sorted(pathlib.Path(name).name.split('.so')[0] for name in elves)
    names = [name for name in names if name != 'libhalfulp-layouts']  # where jansson was found
    if names != ['libhalfulp', 'libhalfulp-cuda', 'libhalfulp-pictures', 'libhalfulp-train']:
        sys.exit('%s: not the libraries of the package: %s' % (wheel, names))
    wrong = [name for name, data in elves.items() if int.from_bytes(data[18:20], 'little') != ELF_MACHINE[machine]]
    if wrong:
        sys.exit('%s: of another machine: %s' % (wheel, wrong))
    said = subprocess.run(['auditwheel', 'show', wheel], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    words = re.sub(r'\s+', ' ', said.stdout)
    tag = re.search(r'consistent with the following platform tag: "manylinux_(\d+)_(\d+)_%s"' % machine, words)
    if said.returncode or not tag or (int(tag[1]), int(tag[2])) > NEWEST:
        sys.exit('%s: auditwheel says\n%s' % (wheel, said.stdout))
    print('auditwheel: manylinux_%s_%s_%s' % (tag[1], tag[2], machine))


if __name__ == '__main__':
    main(*sys.argv[1:])
