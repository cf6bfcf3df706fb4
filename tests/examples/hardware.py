# SPDX-License-Identifier: MIT
"""What the tests of the hardware examples share: the installed copy, its tools, Verilator."""
import os
import shutil
import subprocess
import sys

import staged


class Tools:
    def __init__(self, build, *wanted):
        missing = [name for name in wanted if not shutil.which(name)]
        if missing:
            print('left out: there is no', ', '.join(missing))
            sys.exit(77)
        options = (staged.pathlib.Path(build) / 'meson-info' / 'intro-buildoptions.json').read_text()
        if '"name": "b_sanitize", "value": "none"' not in options:
            print('left out: the simulators are not linked with a sanitizer')
            sys.exit(77)
        self.copy = staged.Staged(build)
        self.env = self.copy.environment()
        # One file of C++ for a bench, not one for each of its parts: half the time of the compiler goes into their common headers.
        self.env['MAKEFLAGS'] = ' -- VM_PARALLEL_BUILDS=0'
        if shutil.which('ccache'):
            self.env['OBJCACHE'] = 'ccache'

    def run(self, *command, code=0, **more):
        """Output of a command that has to end with this exit status."""
        done = subprocess.run([str(c) for c in command], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
        if done.returncode != code:
            print('$', ' '.join(map(str, command)))
            print(done.stdout[-6000:])
            sys.exit('exit status %d, not %d' % (done.returncode, code))
        return done.stdout

    def config(self, *what):
        return self.run('pkg-config', *what, 'halfulp').split()

    def verilate(self, folder, top, sources):
        """A bench with the package, built as docs/rtl.md has it; the program."""
        dpi = self.config('--variable=dpidir')[0]
        self.run('verilator', '--binary', '-Wno-fatal', '--top', top, '--Mdir', folder / 'obj', '-o', folder / 'bench',
                 dpi + '/halfulp_dpi.sv', *sources, dpi + '/halfulp_dpi.c', '-CFLAGS', ' '.join(self.config('--cflags') + ['-I' + dpi]),
                 '-LDFLAGS', ' '.join(self.config('--libs')), '-MAKEFLAGS', 'OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0')
        return folder / 'bench'

    def spare(self, folder, name, source):
        """The example NAME as a user copies it."""
        copy = os.path.join(folder, name)
        shutil.copytree(os.path.join(source, 'examples', name), copy, ignore=shutil.ignore_patterns('out', 'sim_build', '__pycache__'))
        return copy
