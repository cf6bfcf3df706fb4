# SPDX-License-Identifier: MIT
"""examples/simulator against an installed copy: identify finds the emulator's order, whose text gives the emulator's bits;
a V100's unit gives others; a wrong text is named.  usage: test_simulator.py SOURCE_ROOT BUILD_ROOT"""
import re
import sys

import shell
import staged

shell.need('g++', 'make', 'pkg-config')
env = staged.Staged(sys.argv[2]).environment()
with shell.copy_of(sys.argv[1], 'simulator') as folder:
    shell.run('make CXXFLAGS="-O2 -Wall -Wextra -Wold-style-cast -Werror" simulator box.so', folder, env)
    found = re.search(r'^model: (.*)$', shell.run('make -s identify', folder, env), re.M)[1]
    assert found == 'block(tree,l=2)', found
    said = shell.run("./simulator '{}' nv.volta.f16.f32 fp32".format(found), folder, env)
    rows = [re.fullmatch(r'(.*?) +(\d+) of 51200 differ, by (\S+) at most, \d+ ns an element', line) for line in said.splitlines()]
    assert len(rows) == 4 and all(rows), said
    assert [int(row[2]) for row in rows[:2]] == [0, 0] and all(int(row[2]) > 1000 for row in rows[2:]), said
    # A V100 cuts 23 digits below the largest product; nearer than that to binary32's own sums it cannot be.
    assert 1e-7 < float(rows[2][3]) < 1e-4, said
    said = shell.run("./simulator 'block(tree,l=3)'", folder, env, 1)
    assert said.startswith("simulator: 'block(tree,l=3)', character "), said
