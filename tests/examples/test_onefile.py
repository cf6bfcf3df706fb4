# SPDX-License-Identifier: MIT
"""examples/onefile with the two files of an installed copy: by its Makefile, and by CMake with threads left out.
usage: test_onefile.py SOURCE_ROOT BUILD_ROOT"""
import os
import shutil
import sys

import shell
import staged

shell.need('make')
copy = staged.Staged(sys.argv[2])
two_files = copy.prefix / 'share' / 'halfulp' / 'onefile'
env = {name: value for name, value in os.environ.items() if name not in ('PKG_CONFIG_PATH', 'CFLAGS')}
quick = 'clang' if shutil.which('clang') else 'cc'  # without optimisation: the test of the bits is tests/onefile
with shell.copy_of(sys.argv[1], 'onefile') as folder:
    said = shell.run('pkg-config --variable=onefiledir halfulp', folder, copy.environment()).strip()
    assert said == str(two_files), (said, two_files)
    shell.run(f'make vendor ONEFILE={two_files}', folder, env)
    shell.run(f'make CC={quick} CFLAGS="-O0 -Werror"', folder, env)
    for accumulator in ('', ' bfloat16', ' binary16'):
        out = shell.run('./systolic' + accumulator, folder, env)
        assert '8 x 8 cells, 54 cycles' in out and ' 0 of 64 sums differ' in out, out
    shell.run('./systolic "fp(4,3,0)"', folder, env, 1)
    if shutil.which('cmake'):
        env['CC'] = quick
        shell.run('cmake -B build -DHALFULP_NO_THREADS=ON -DCMAKE_C_FLAGS="-O0 -Wall -Wextra -Werror"', folder, env)
        shell.run('cmake --build build', folder, env)
        out = shell.run('build/systolic', folder, env)
        assert ' 0 of 64 sums differ' in out, out
    else:
        print('not here: cmake')
