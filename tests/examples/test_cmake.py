# SPDX-License-Identifier: MIT
"""examples/cmake against an installed copy: find_package, every target, a prefix that was moved, a version and a component that are
not there.  usage: test_cmake.py SOURCE_ROOT BUILD_ROOT"""
import pathlib
import re
import shutil
import sys

import shell
import staged

TARGETS = '''cmake_minimum_required(VERSION 3.13)
project(targets LANGUAGES C)
find_package(halfulp CONFIG REQUIRED COMPONENTS halfulp static train cuda)
foreach(name halfulp static train cuda oracle)
  if(TARGET halfulp::${name})
    add_executable(use_${name} use_${name}.c)
    target_link_libraries(use_${name} PRIVATE halfulp::${name})
    list(APPEND have ${name})
  endif()
endforeach()
message("have: ${have}")
message("two files: ${halfulp_ONE_FILE_DIR}")
'''
USES = {
    'halfulp': '#include <halfulp/halfulp.h>\nint main(void) { return hu_format_count() == 0; }\n',
    'static': '#include <halfulp/halfulp.h>\nint main(void) { return hu_format_count() == 0; }\n',
    'train': '#include <halfulp/train.h>\nint main(void) { return !hu_ratio_usable(hu_ratio_of(1, 2)); }\n',
    'cuda': '#include <halfulp/device.h>\nint main(void) {\n  char name[64];\n  return hu_device_available(name, sizeof name) > 0;\n}\n',
    'oracle': '#include <halfulp/halfulp.h>\n#include <halfulp/oracle.h>\nint main(void) {\n  double z = 0;\n'
              '  return hu_oracle_decode64(&z, hu_binary16(), 0x3C00) != HU_OK || z != 1;\n}\n',
}


def wants(folder, env, words, status, said):
    """What CMake says of this call of find_package. The folder of the build stays, where CMake knows the compiler from the first call; what
    it found of halfulp is forgotten."""
    text = f'cmake_minimum_required(VERSION 3.13)\nproject(p LANGUAGES C)\nfind_package(halfulp {words} REQUIRED)\n'
    (folder / 'CMakeLists.txt').write_text(text)
    out = ' '.join(shell.run('cmake -U "halfulp*" -B build .', folder, env, status).split())
    assert said in out, said


shell.need('cmake', 'make')
copy = staged.Staged(sys.argv[2])
env = copy.environment()
del env['PKG_CONFIG_PATH'], env['PKG_CONFIG_SYSROOT_DIR']
with shell.copy_of(sys.argv[1], 'cmake') as folder:
    shell.run('cmake -B build -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror"', folder, env)
    shell.run('cmake --build build', folder, env)
    out = shell.run('build/filter', folder, env)
    assert 'float8_e4m3fn' in out and '200 values, 49 inexact' in out and 'does not follow the grammar' in out

    every = folder / 'every'
    every.mkdir()
    (every / 'CMakeLists.txt').write_text(TARGETS)
    for name, text in USES.items():
        (every / f'use_{name}.c').write_text(text)
    out = shell.run('cmake -B build . && cmake --build build', every, env)
    have = next(line for line in out.splitlines() if line.startswith('have: '))[6:].split(';')
    for name in have:
        shell.run('build/use_' + name, every, env)
    assert set(have) >= {'halfulp', 'static', 'train', 'cuda'}, have
    assert ('oracle' in have) == (copy.libdir / 'libhalfulp-oracle.so').exists(), have
    two_files = pathlib.Path(next(line for line in out.splitlines() if line.startswith('two files: '))[11:])
    assert {f.name for f in two_files.iterdir()} == {'halfulp.h', 'halfulp.c', 'halfulp_core.h', 'CMakeLists.txt'}, two_files

    # The prefix elsewhere: nothing may point back.
    moved = folder / 'moved'
    shutil.copytree(copy.prefix, moved, symlinks=True)
    elsewhere = dict(env, CMAKE_PREFIX_PATH=str(moved))
    del elsewhere['LD_LIBRARY_PATH'], elsewhere['HALFULP_PREFIX']
    shell.run('cmake -B build-moved . && cmake --build build-moved && build-moved/filter', folder, elsewhere)
    cache = (folder / 'build-moved' / 'CMakeCache.txt').read_text()
    assert str(moved) in cache and str(copy.root) not in cache

    wrong = folder / 'wrong'
    wrong.mkdir()
    header = (pathlib.Path(sys.argv[1]) / 'include' / 'halfulp' / 'status.h').read_text()
    version = re.search(r'VERSION_STRING "(.*)"', header)[1]
    major, minor, patch = map(int, version.split('.'))
    wants(wrong, env, f'{major}.{minor}', 0, 'Configuring done')
    wants(wrong, env, f'{version} EXACT', 0, 'Configuring done')
    wants(wrong, env, f'{major}.{minor}.{patch + 1}', 1, f'halfulp-config.cmake, version: {version}')
    wants(wrong, env, f'{major}.{minor + 1}', 1, f'compatible with requested version "{major}.{minor + 1}"')
    wants(wrong, env, f'{major + 1}.0', 1, f'halfulp-config.cmake, version: {version}')
    wants(wrong, env, f'{major}.{minor}...<{major}.{minor + 1}', 0, 'Configuring done')
    wants(wrong, env, f'0.0.1...{version}', 0, 'Configuring done')
    for least, most in (('0.0.1', f'<{version}'), ('0.0.1', '0.0.2'), (f'{major}.{minor}.{patch + 1}', f'{major}.{minor + 1}')):
        wants(wrong, env, f'{least}...{most}', 1, f'halfulp-config.cmake, version: {version}')
    wants(wrong, env, f'{major}.{minor} CONFIG COMPONENTS toaster', 1, 'has no toaster: no such component, or it was built without')
