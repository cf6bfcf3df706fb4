# SPDX-License-Identifier: MIT
"""examples/c against an installed copy: make by pkg-config, the program's sums.  usage: test_c.py SOURCE_ROOT BUILD_ROOT"""
import sys

import shell
import staged

shell.need('make', 'pkg-config')
env = staged.Staged(sys.argv[2]).environment()
with shell.copy_of(sys.argv[1], 'c') as folder:
    shell.run('make CFLAGS="-O2 -Wall -Wextra -Werror"', folder, env)
    lines = [line.split() for line in shell.run('./accumulate', folder, env).splitlines()]
sums = {name: float(value) for name, value in lines}
exact = sums['exact']
assert len(sums) == 5 and abs(exact - 3335.95) < 0.01, sums
# A 16-bit accumulator loses most, chunks and promotion win it back (Wang et al. 2018; DeepSeek-V3).
assert abs(sums['seq(binary16)'] - exact) > 10 * abs(sums['chunk(64,binary16,binary16)'] - exact), sums
assert abs(sums['nv.hopper.e4m3.f32.wgmma'] - exact) > 10 * abs(sums['promote(128,nv.hopper.e4m3.f32.wgmma,binary32)'] - exact), sums
