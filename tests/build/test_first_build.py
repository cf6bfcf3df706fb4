# SPDX-License-Identifier: MIT
"""`make run`, `make check`, `make` and `make install` in one folder, from nothing and one after the other: what is set up and built
without a GPU and with one, told by programs that stand in for meson, ninja, nvcc and nvidia-smi.

usage: test_first_build.py SCRIPTS
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1))
TALE = """#!/bin/sh
echo "$(basename "$0") $*" >> "$TOLD"
"""
QUICK = '-Dcuda=disabled -Dgpu_archs=90 -Dgpu_code=quick'
EVERY = '-Dlevels=all -Dcuda=auto -Dgpu_archs=80,90,100 -Dgpu_code=all'
MESON = TALE + """case "$1 ${MESON_FAILS:-}" in
  'setup yes') echo 'no compiler'; exit 1 ;;
  'setup '*) mkdir -p "$2"; touch "$2/build.ninja" ;;
esac
"""


class FirstBuild(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='half ulp-')
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / 'bin').mkdir()
        (self.root / 'tree' / 'scripts').mkdir(parents=True)
        for name in ('run.sh', 'build_folder.sh', 'gpu_arch.sh'):
            shutil.copy(SCRIPTS / name, self.root / 'tree' / 'scripts')
        for name in ('meson_options.txt', 'Makefile'):
            shutil.copy(SCRIPTS.parent / name, self.root / 'tree')
        for name in ('setup.sh', 'check_setup.sh', 'check.sh'):
            self.program('tree/scripts/' + name, '#!/bin/sh\n')
        self.program('bin/meson', MESON)
        self.program('bin/ninja', TALE)
        self.program('tree/scripts/run-demo.sh', '#!/bin/sh\necho "demo $* ${HALFULP_RUN:-}" >> "$TOLD"\n')
        self.path = '{}:/usr/bin:/bin'.format(self.root / 'bin')
        for name in ('nvcc', 'nvidia-smi'):  # those of this machine, too, are not looked at
            self.program('bin/' + name, '#!/bin/sh\nexit 9\n')

    def program(self, name, text):
        path = self.root / name
        path.write_text(text)
        path.chmod(0o755)

    def told(self, *command, code=0, **more):
        """What the programs were told, a line each, and what was printed."""
        told = self.root / 'told'
        told.write_text('')
        r = subprocess.run(command, cwd=str(self.root / 'tree'), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           env=dict(PATH=self.path, TOLD=str(told), **more), universal_newlines=True)
        self.assertEqual(r.returncode, code, r.stdout)
        return told.read_text().splitlines(), r.stdout

    def make(self, *arguments, code=0, **more):
        """The same of `make`, as README has it."""
        return self.told('make', 'JOBS=2', *arguments, code=code, **more)

    def gpu(self, capability):
        self.program('bin/nvcc', '#!/bin/sh\n')
        self.program('bin/nvidia-smi', '#!/bin/sh\necho {}\n'.format(capability))

    def test_run_without_a_gpu(self):
        told, shown = self.make('run', 'MESON_ARGS=-Db_lto=true')
        self.assertEqual(told, ['meson setup build -Dwerror=true -Dlevels=native ' + QUICK + ' -Db_lto=true', 'ninja -C build -j 2 cli/halfulp-hostrun',
                                'demo build halfulp-hostrun'])
        self.assertIn('compiled for the CPU', shown)
        command = self.root / 'tree' / 'build' / 'cli' / 'halfulp'  # which README calls
        self.assertEqual(os.readlink(str(command)), 'halfulp-hostrun')
        told, _ = self.make('run')
        self.assertEqual(told, ['ninja -C build -j 2 cli/halfulp-hostrun', 'demo build halfulp-hostrun'])

    def test_one_after_the_other(self):
        """Each widens the folder, and none takes away what another has built."""
        self.make('run')
        self.assertEqual(self.make('check')[0], ['meson configure build -Dlevels=all', 'ninja -C build -j 2'])
        self.assertEqual(self.make('check')[0], ['ninja -C build -j 2'])
        self.assertEqual(self.make('check-more')[0], ['meson configure build -Dcuda=auto', 'ninja -C build -j 2'])
        self.assertEqual(self.make('check-all')[0], ['ninja -C build -j 2'] * 2)
        self.assertEqual(self.make('install')[0], ['meson configure build -Dgpu_archs=80,90,100 -Dgpu_code=all',
                                                   'ninja -C build -j 2', 'meson install -C build'])
        for target in ('check', 'all'):
            self.assertEqual(self.make(target)[0], ['ninja -C build -j 2'])
        self.assertEqual(self.make('run')[0][0], 'ninja -C build -j 2 cli/halfulp-hostrun')

    def test_first_of_all(self):
        """In a fresh clone."""
        for target, options in (('check', '-Dlevels=all ' + QUICK), ('install', EVERY), ('all', EVERY)):
            with self.subTest(target):
                told, _ = self.make(target, 'BUILD=' + target)
                self.assertEqual(told[:2], ['meson setup {} -Dwerror=true {}'.format(target, options), 'ninja -C {} -j 2'.format(target)])

    def test_for_the_gpu_alone(self):
        self.gpu('8.9')
        here = '-Dcuda=auto -Dgpu_archs=89 -Dgpu_code=all'
        told, shown = self.make('run')
        self.assertEqual(told, ['meson setup build -Dwerror=true -Dlevels=native ' + here, 'ninja -C build -j 2 cli/halfulp cli/halfulp-hostrun',
                                'demo build '])
        self.assertIn('kernels for this GPU', shown)
        self.assertEqual(self.make('check')[0][0], 'meson configure build -Dlevels=all')  # what was built is not built again
        self.assertEqual(self.make('install')[0][0], 'meson configure build -Dgpu_archs=80,90,100')

    def test_a_compiler_that_does_not_run(self):
        """An nvcc without its toolkit counts as none."""
        self.gpu('8.9')
        self.program('bin/nvcc', '#!/bin/sh\nexit 127\n')
        self.assertEqual(self.make('run')[0][1:], ['ninja -C build -j 2 cli/halfulp-hostrun', 'demo build halfulp-hostrun'])

    def test_another_gpu(self):
        """A folder whose kernels this machine's GPU cannot run gets the GPU's own; without a GPU any will do."""
        for target, levels in (('run', 'native'), ('check', 'all')):
            def first():
                return self.make(target, 'BUILD=' + target)[0][0]
            with self.subTest(target):
                self.gpu('')
                self.assertEqual(first(), 'meson setup {} -Dwerror=true -Dlevels={} {}'.format(target, levels, QUICK))
                for capability, changed in (('8.0', '-Dcuda=auto -Dgpu_archs=80 -Dgpu_code=all'), ('9.0', '-Dgpu_archs=90')):
                    self.gpu(capability)
                    self.assertEqual(first(), 'meson configure {} {}'.format(target, changed))
                    self.assertRegex(first(), '^ninja')
                self.gpu('')
                self.assertRegex(first(), '^ninja')
                self.make('all', 'BUILD=' + target)
                self.gpu('8.0')
                self.assertRegex(first(), '^ninja')

    def test_machine_code_for_the_gpu(self):
        """The quick kernels for 9.0 leave it to the driver."""
        self.make('check')
        self.gpu('9.0')
        self.assertEqual(self.make('check')[0][0], 'meson configure build -Dcuda=auto -Dgpu_code=all')

    def test_the_callers_choice(self):
        """What the caller named stays, what he did not name is widened."""
        for option in ('-Dgpu_archs=80', '-Dcuda=enabled', '-Dlevels=native', '-Dgpu_code=quick'):
            def without(options):
                return ' '.join(word for word in options.split() if word.split('=')[0] != option.split('=')[0])
            with self.subTest(option):
                name, folder = option[8:], 'BUILD=' + option[8:]
                told, _ = self.make('run', folder, 'MESON_ARGS=' + option)
                self.assertEqual(told[0], 'meson setup {} -Dwerror=true {} {}'.format(name, without('-Dlevels=native ' + QUICK), option))
                told, _ = self.make('all', folder)
                self.assertEqual(told[0], 'meson configure {} {}'.format(name, without(EVERY)))
                self.assertEqual(self.make('all', folder)[0], ['ninja -C {} -j 2'.format(name)])

    def test_the_callers_later_choice(self):
        for first, named, target, changed in (
                ('run', '-Dgpu_archs=90', 'install', '-Dlevels=all -Dcuda=auto -Dgpu_code=all -Dgpu_archs=90'),
                ('check', '-D gpu_archs=80', 'install', '-Dcuda=auto -Dgpu_code=all -D gpu_archs=80'),
                ('run', '-Dlevels=native', 'check', '-Dlevels=native')):
            with self.subTest(named):
                folder = 'BUILD=' + named[-2:]
                self.make(first, folder)
                told, _ = self.make(target, folder, 'MESON_ARGS=' + named)
                self.assertEqual(told[0], 'meson configure {} {}'.format(named[-2:], changed))
        self.make('check')
        self.assertEqual(self.make('check', 'MESON_ARGS=-Dgpu_archs=80')[0][0], 'meson configure build -Dgpu_archs=80')
        self.gpu('9.0')
        self.assertEqual(self.make('install')[0][0], 'meson configure build -Dcuda=auto -Dgpu_code=all')

    def test_set_up_by_hand(self):
        """As a packager does: the folder stays as it is."""
        self.told('meson', 'setup', 'build')
        for target in ('check', 'all'):
            self.assertEqual(self.make(target)[0], ['ninja -C build -j 2'])
        self.assertEqual(self.make('all', 'MESON_ARGS=-Db_lto=true')[0][0], 'meson configure build -Db_lto=true')

    def test_no_set_up(self):
        told, shown = self.make('run', code=2, MESON_FAILS='yes')
        self.assertEqual(told, ['meson setup build -Dwerror=true -Dlevels=native ' + QUICK])
        self.assertIn('no compiler', shown)


if __name__ == '__main__':
    unittest.main()
