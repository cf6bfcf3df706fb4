# SPDX-License-Identifier: MIT
"""Every .cu file of gpu/ includes what it uses: the C++ compiler reads each alone, with gpu/host in place of CUDA. nvcc compiles them
so, but is not everywhere, and the builds for the CPU (gpu/host/kernels.cpp) join them, where one file's includes serve the next.

usage: test_reads.py SOURCE_ROOT COMPILER...
"""
import pathlib
import subprocess
import sys

ROOT, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2:]
# Files with parts of CUDA that gpu/host does not have, and which of them.
BESIDE_HOST = {
    'gpu/probe/mma.cu': 'PTX',
    'gpu/probe/wgmma.cu': 'PTX, and addresses in shared memory',
    'gpu/tools/bench_device.cu': 'events, copies in a stream, and attributes of a device',
}


def read(name, text):
    """What the compiler says about this text of the file; nothing if it understands all of it."""
    beside = ['-include', 'tests/cuda_host/beside_host.h'] if name in BESIDE_HOST else []
    command = [*COMPILER, '-std=c++17', '-fsyntax-only', '-Wno-unknown-pragmas', '-Igpu/host', '-I.', '-Iinclude', *beside, '-x', 'c++', '-']
    done = subprocess.run(command, input=text, text=True, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.replace('<stdin>', name) if done.returncode else ''


def main():
    texts = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted((ROOT / 'gpu').rglob('*.cu'))}
    assert len(texts) > 30 and set(BESIDE_HOST) <= set(texts), list(texts)
    bad = [said for said in (read(*one) for one in texts.items()) if said]

    # It is noticed where the first include that nothing else brings is gone.
    include = '#include "emu/base/matrix_view.h"\n'
    assert include in texts['gpu/device.cu']
    if 'hui_matrix_ld' not in read('gpu/device.cu', texts['gpu/device.cu'].replace(include, '')):
        bad.append('gpu/device.cu is understood without emu/base/matrix_view.h')
    print('\n'.join(bad) or f'{len(texts)} files')
    return bool(bad)


sys.exit(main())
