# SPDX-License-Identifier: MIT
"""A user's first minutes: install into a staged folder, compile a C and a C++ program with pkg-config, run them.

usage: test_install.py SOURCE_ROOT BUILD_ROOT CC CXX SANITIZE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

source, build, cc, cxx, sanitize = sys.argv[1:6]
examples = pathlib.Path(source) / 'tests' / 'build'
flags = [] if sanitize == 'none' else ['-fsanitize=' + sanitize]


def run(*command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if result.returncode:
        print(' '.join(command), '\n', result.stdout)
        sys.exit(1)
    return result.stdout


with tempfile.TemporaryDirectory() as folder:
    stage = pathlib.Path(folder) / 'stage'
    run('meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', str(stage))
    configs = list(stage.rglob('halfulp.pc'))
    assert len(configs) == 1, configs
    plain = {**os.environ, 'PKG_CONFIG_PATH': str(configs[0].parent)}
    prefix = run('pkg-config', '--variable=prefix', 'halfulp', env=plain).strip()
    env = {**os.environ, 'PKG_CONFIG_PATH': str(configs[0].parent), 'PKG_CONFIG_SYSROOT_DIR': str(stage)}
    libdir = next(stage.rglob('libhalfulp.so')).parent
    env['LD_LIBRARY_PATH'] = str(libdir)
    words = run('pkg-config', '--cflags', '--libs', 'halfulp', env=env).split()
    version = run('pkg-config', '--modversion', 'halfulp', env=env).strip()
    for name, compiler, standard in [('user.c', cc, '-std=c11'), ('user.cpp', cxx, '-std=c++17')]:
        program = pathlib.Path(folder) / (name + '.run')
        run(compiler, standard, '-Wall', '-Wextra', '-Wpedantic', '-Werror', str(examples / name), '-o', str(program),
            *flags, *words)
        out = run(str(program), env=env)
        assert out.splitlines()[-1] == '0x1.cp+8 7e 448', (name, out)
    # The README's examples, as printed: the C program runs, the CUDA call compiles.
    blocks = re.findall(r'```c\n(.*?)```', (pathlib.Path(source) / 'README.md').read_text(), re.S)
    assert len(blocks) == 2, len(blocks)
    program, call = pathlib.Path(folder) / 'example.c', pathlib.Path(folder) / 'call.c'
    program.write_text(blocks[0])
    run(cc, str(program), '-o', str(program) + '.run', *flags, *words)
    out = run(str(program) + '.run', env=env)
    assert out == '0.1 -> 0.101562\n1 -> 1\n460 -> 448\n-1e-09 -> -0\n3 inexact, 1 to zero\n', out
    lead, statement = blocks[1].split('\n\n', 1)
    head = 'hu_status f(size_t n, float *z, const float *x, hu_mode mode, hu_events *events, void *stream)'
    call.write_text(f'{lead}\n#include <halfulp/halfulp.h>\n{head};\n{head} {{\n{statement}return s;\n}}\n')
    includes = run('pkg-config', '--cflags', 'halfulp', env=env).split()
    run(cc, '-Wall', '-Wextra', '-Werror', '-c', str(call), '-o', str(call) + '.o', *includes)
    for library in ['libhalfulp', 'libhalfulp-oracle', 'libhalfulp-cuda']:
        shared = list(stage.rglob(library + '.so.*'))
        options = (pathlib.Path(build) / 'meson-info' / 'intro-buildoptions.json').read_text()
        if library == 'libhalfulp-oracle' and not shared and '"name": "oracle", "value": "disabled"' in options:
            continue
        assert shared, library + ' was not installed'
        soname = [line for line in run('readelf', '-d', str(shared[0])).splitlines() if 'SONAME' in line]
        assert soname and library + '.so.0' in soname[0], soname
    dynamic = run('readelf', '-d', str(next(stage.rglob('libhalfulp.so.0')))).splitlines()
    needed = [line for line in dynamic if 'NEEDED' in line]
    if not flags:
        assert all('libc.so' in line or 'ld-linux' in line for line in needed), needed
    command = next(stage.rglob('bin/halfulp'))
    assert version in run(str(command), '--version', env=env)
    pages = list(stage.rglob('man1/halfulp.1*'))
    assert pages, 'no man page'
    headers = list((stage / prefix.lstrip('/')).rglob('halfulp/*.h'))
    assert len(headers) >= 11, headers
    print(f'installed {version}: {len(headers)} headers, C and C++17 programs run')
