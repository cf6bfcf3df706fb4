# SPDX-License-Identifier: MIT
"""examples/cuda against an installed copy: its kernels on the CPU (the same text, through gpu/host), by nvcc where one runs,
on a device where there is one; every bit that of the library's array calls.  usage: test_cuda.py SOURCE_ROOT BUILD_ROOT"""
import pathlib
import shutil
import subprocess
import sys

import shell
import staged

source = pathlib.Path(sys.argv[1]).resolve()
env = staged.Staged(sys.argv[2]).environment()
shell.need('pkg-config', 'c++')
with shell.copy_of(source, 'cuda') as folder:
    # The stand-in first, and none of the source's own headers: what is not installed must be missed.
    (folder / 'gpu' / 'host').mkdir(parents=True)
    for name in ('cuda_runtime.h', 'cuda_runtime_api.h', 'run.cpp', 'order.h'):
        shutil.copy(source / 'gpu' / 'host' / name, folder / 'gpu' / 'host')
    shutil.copy(source / 'tests' / 'examples' / 'fused_host.cpp', folder)
    shell.run('c++ -std=c++17 -O1 -ffp-contract=off -Wall -Wextra -Wno-unknown-pragmas -Igpu/host -I. fused_host.cpp '
              'gpu/host/run.cpp -o fused_host $(pkg-config --cflags --libs halfulp)', folder, env)
    out = shell.run('./fused_host', folder, env)
    assert out.count(' 0 of 7869 ') == 2 and ', 0 overflows' not in out, out
    # A rounding in the wrong direction must be seen.
    for one, other in (('0, &events)', '0, &events) + 1'), ('first + i)', 'first + i + 1)')):
        text = (folder / 'fused.cuh').read_text()
        assert one in text
        (folder / 'fused.cuh').write_text(text.replace(one, other))
        shell.run('c++ -std=c++17 -O0 -Igpu/host -Wno-unknown-pragmas -I. fused_host.cpp gpu/host/run.cpp '
                  '-o wrong_host $(pkg-config --cflags --libs halfulp) && ./wrong_host', folder, env, 1)
        (folder / 'fused.cuh').write_text(text)
    if not shell.here('nvcc'):
        print('not here: an nvcc that runs; the kernels were run on the CPU alone')
        sys.exit(0)
    shell.run('make NVCCFLAGS="-Werror all-warnings -Xcompiler -Wall,-Wextra"', folder, env)
    done = subprocess.run(['./fused'], cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
    print('$ ./fused\n' + done.stdout, end='')
    assert done.returncode in (0, 77), done.returncode
    assert done.returncode == 77 or done.stdout.count(' 0 of 7869 ') == 2, done.stdout
