# SPDX-License-Identifier: MIT
"""A user's first minutes: install into a staged folder, compile a C and a C++ program with pkg-config, run them.

usage: test_install.py SOURCE_ROOT BUILD_ROOT CC CXX SANITIZE
"""
import pathlib
import subprocess
import sys
import tempfile

source, build, cc, cxx, sanitize = sys.argv[1:6]
sys.path.insert(0, str(pathlib.Path(source) / 'tests' / 'examples'))
import staged  # noqa: E402

examples = pathlib.Path(source) / 'tests' / 'build'
flags = [] if sanitize == 'none' else ['-fsanitize=' + sanitize]


def run(*command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if result.returncode:
        print(' '.join(command), '\n', result.stdout)
        sys.exit(1)
    return result.stdout


copy = staged.Staged(build)
with tempfile.TemporaryDirectory() as folder:
    stage, env = copy.root, copy.environment()
    configs = list(stage.rglob('halfulp.pc'))
    assert len(configs) == 1, configs
    words = run('pkg-config', '--cflags', '--libs', 'halfulp', env=env).split()
    version = run('pkg-config', '--modversion', 'halfulp', env=env).strip()
    for name, compiler, standard in [('user.c', cc, '-std=c11'), ('user.cpp', cxx, '-std=c++17')]:
        program = pathlib.Path(folder) / (name + '.run')
        strict = ['-Wold-style-cast'] if compiler == cxx else []
        run(compiler, standard, '-Wall', '-Wextra', '-Wpedantic', '-Werror', *strict, str(examples / name), '-o', str(program),
            *flags, *words)
        out = run(str(program), env=env)
        assert out.splitlines()[-1] == '0x1.cp+8 7e 448', (name, out)
    older = subprocess.run([cxx, '-std=c++14', '-fsyntax-only', '-x', 'c++', '-', *words], input='#include <halfulp/halfulp.hpp>\n',
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert older.returncode and older.stdout.count('error:') == 1 and 'requires C++17' in older.stdout, older.stdout
    for name in ('onefiledir', 'dpidir'):
        named = run('pkg-config', '--variable=' + name, 'halfulp', env=env).strip()
        assert not named or pathlib.Path(named).is_dir(), name + ' of halfulp.pc is not installed: ' + named
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
    headers = list(copy.prefix.rglob('halfulp/*.h'))
    assert len(headers) >= 11, headers
    print(f'installed {version}: {len(headers)} headers, C and C++17 programs run')
