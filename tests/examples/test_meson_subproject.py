# SPDX-License-Identifier: MIT
"""examples/meson-subproject with the source tree as subprojects/halfulp: the library alone is built, as the project wants it.
usage: test_meson_subproject.py SOURCE_ROOT BUILD_ROOT"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import shell

shell.need('meson', 'ninja')
source = pathlib.Path(sys.argv[1]).resolve()
env = {name: value for name, value in os.environ.items() if name not in ('PKG_CONFIG_PATH', 'PKG_CONFIG_SYSROOT_DIR')}
# clang takes three fifths of gcc's time without optimisation; gcc reads the same sources in the build itself.
if shutil.which('clang'):
    env['CC'] = 'clang'


def targets(build):
    """Name and kind of what `ninja` builds."""
    said = subprocess.run(['meson', 'introspect', '--targets', str(build)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {t['name']: t['type'] for t in json.loads(said) if t['build_by_default']}


with shell.copy_of(source, 'meson-subproject') as folder:
    (folder / 'subprojects').mkdir()
    (folder / 'subprojects' / 'halfulp').symlink_to(source, target_is_directory=True)
    # forcefallback: the subproject, not an installed copy. Portable, without optimisation and lines for a debugger, so that it is compiled
    # soon.
    shell.run('meson setup build --wrap-mode=forcefallback -Dwerror=true -Doptimization=0 -Ddebug=false -Dhalfulp:portable=true',
              folder, env)
    built = targets(folder / 'build')
    print(len(built), 'targets:', *sorted(built))
    others = [n for n in built if not n.endswith('-vector') and n not in ('halfulp', 'table')]
    assert built['halfulp'] == 'static library' and not others, others
    commands = json.loads((folder / 'build' / 'compile_commands.json').read_text())
    assert not [c['file'] for c in commands if '/emu/' not in c['file'] and '/formats/' not in c['file'] and '/table.c' not in c['file']]
    own = [c['command'] for c in commands if c['file'].endswith('/table.c')]
    assert len(own) == 1 and '-Wpedantic' in own[0] and '-Werror' in own[0], own
    inside = [p for p in re.findall(r'-I(\S+)', own[0]) if (folder / 'build' / p / 'emu').exists()]
    assert not inside and 'subprojects/halfulp/include' in own[0], own  # the public headers, and no sources
    shell.run('ninja -C build', folder, env)
    out = shell.run('build/table', folder, env)
    assert out.split()[:8] == ['00', '0', '01', '0.5', '02', '1', '03', '1.5'], out
    shell.run('build/table "fp(4,3,0):nope"', folder, env, 1)

    out = shell.run('meson setup build-python --wrap-mode=forcefallback -Dhalfulp:python=enabled', folder, env, 1)
    assert 'need -Dwhole=enabled' in out, out

    shell.run('meson setup build-shared --wrap-mode=forcefallback -Ddefault_library=shared', folder, env)
    built = targets(folder / 'build-shared')
    assert built['halfulp'] == 'shared library' and 'halfulp-lanes-vector' in built, built
