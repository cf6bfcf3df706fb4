# SPDX-License-Identifier: MIT
"""examples/tinygrad with tinygrad of the package index: its table, and products of integers, which every unit computes
exactly, so that an element in a wrong place shows. 77 where no environment with it can be made.

    test_tinygrad.py SOURCE_ROOT BUILD_ROOT"""
import pathlib
import re
import shlex
import subprocess
import sys

import shell
import staged

INTEGERS = '''
import numpy as np
from tinygrad import dtypes
import tensor_cores
import units

random = np.random.default_rng(2)
a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((32, 64), (64, 48)))
for arch, dtype, _, unit, _ in tensor_cores.GPUS:
    units.use(unit)
    d, count = tensor_cores.product(arch, a, b, dtype)
    print(unit, count, (d != a @ b).sum())
'''

source, build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
made = subprocess.run([str(source / 'scripts' / 'python_env.sh'), str(build)])
if made.returncode:
    sys.exit(made.returncode)
copy = staged.Staged(build)
with shell.copy_of(source, 'tinygrad') as folder:
    env = copy.environment(HALFULP_LIBRARY=str(copy.libdir), PYTHONPATH='{}:{}'.format(source / 'python', folder),
                           PYTHONDONTWRITEBYTECODE='1', XDG_CACHE_HOME=str(folder / 'cache'))
    python = shlex.quote(str(build / 'venv' / 'bin' / 'python'))
    rows = [re.fullmatch(r'(\w+) +\w+ +([\w.]+) +(\d+) +(\d+) of 256 +(\S+) +(\S+)', line)
            for line in shell.run(python + ' tensor_cores.py', folder, env).splitlines()[1:]]
    assert len(rows) == 4 and all(rows), rows
    for row in rows:
        # The emulator's own sums are nearer to the exact ones than those of the hardware.
        assert int(row[3]) > 0 and int(row[4]) > 0 and float(row[5]) <= float(row[6]), row[0]
    (folder / 'integers.py').write_text(INTEGERS)
    said = [line.split() for line in shell.run(python + ' integers.py', folder, env).splitlines()]
    assert [row[0] for row in said] == [row[2] for row in rows], said
    assert all(int(count) > 0 and int(wrong) == 0 for _, count, wrong in said), said
