# SPDX-License-Identifier: MIT
"""`make run` from nothing: what is set up and built without a GPU and with one, told by programs that stand in for meson,
ninja, nvcc and nvidia-smi.

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
        for name in ('run.sh', 'every_machine.sh'):
            shutil.copy(SCRIPTS / name, self.root / 'tree' / 'scripts')
        shutil.copy(SCRIPTS.parent / 'meson_options.txt', self.root / 'tree')
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

    def script(self, name, *arguments, code=0, **more):
        """What the programs were told, a line each, and what was printed."""
        told = self.root / 'told'
        told.write_text('')
        r = subprocess.run([str(self.root / 'tree' / 'scripts' / name), *arguments], cwd=str(self.root), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, env=dict(PATH=self.path, TOLD=str(told), **more), universal_newlines=True)
        self.assertEqual(r.returncode, code, r.stdout)
        return told.read_text().splitlines(), r.stdout

    def gpu(self, capability):
        self.program('bin/nvidia-smi', '#!/bin/sh\necho {}\n'.format(capability))

    def test_without_a_gpu(self):
        told, shown = self.script('run.sh', 'build', '2', '-Db_lto=true')
        self.assertEqual(told, ['meson setup build -Dwerror=true -Dlevels=native -Db_lto=true', 'ninja -C build -j 2 cli/halfulp-hostrun',
                                'demo build halfulp-hostrun'])
        self.assertIn('compiled for the CPU', shown)
        command = self.root / 'build' / 'cli' / 'halfulp'  # which README calls
        self.assertEqual(os.readlink(str(command)), 'halfulp-hostrun')
        told, _ = self.script('run.sh', 'build', '2')
        self.assertEqual(told, ['ninja -C build -j 2 cli/halfulp-hostrun', 'demo build halfulp-hostrun'])
        self.assertEqual(self.script('every_machine.sh', 'build')[0], ['meson configure build -Dlevels=all'])
        self.assertEqual(self.script('every_machine.sh', 'build')[0], [])  # once

    def test_for_the_gpu_alone(self):
        self.gpu('9.0')
        told, shown = self.script('run.sh', 'build', '2')
        self.assertEqual(told, ['meson setup build -Dwerror=true -Dlevels=native -Dgpu_archs=90', 'ninja -C build -j 2 cli/halfulp cli/halfulp-hostrun',
                                'demo build '])
        self.assertIn('kernels for this GPU', shown)
        self.assertEqual(self.script('every_machine.sh', 'build')[0], ['meson configure build -Dlevels=all -Dgpu_archs=80,90,100'])
        self.assertEqual(self.script('every_machine.sh', 'build')[0], [])  # once

    def test_the_callers_choice(self):
        self.gpu('9.0')
        for option in ('-Dgpu_archs=90', '-Dlevels=all'):
            with self.subTest(option):
                told, _ = self.script('run.sh', option[2:6], '2', option)
                self.assertEqual(told[0], 'meson setup {} -Dwerror=true {}'.format(option[2:6], option))
                self.assertEqual(self.script('every_machine.sh', option[2:6])[0], [])

    def test_no_set_up(self):
        told, shown = self.script('run.sh', 'build', '2', code=1, MESON_FAILS='yes')
        self.assertEqual(told, ['meson setup build -Dwerror=true -Dlevels=native'])
        self.assertIn('no compiler', shown)


if __name__ == '__main__':
    unittest.main()
