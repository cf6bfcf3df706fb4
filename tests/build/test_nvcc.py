# SPDX-License-Identifier: MIT
"""An nvcc that does not run, as a wrapper without its toolkit, counts as none, and so does one whose toolkit has no library to link
with: the build leaves the kernels out, the totals say so, and tests and scripts do not call the former.

usage: test_nvcc.py SOURCE_ROOT
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / 'tests' / 'examples'))
import shell  # noqa: E402

ASKS = re.compile(r"\bwhich\(\s*.nvcc|command -v nvcc|\bwhich nvcc|\btype nvcc")


class Wrapper(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='half ulp-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program('nvcc', 'echo "exec: toolkit/bin/nvcc: not found" >&2; exit 127')
        self.env = dict(os.environ, PATH='{}:{}'.format(self.folder, os.environ['PATH']))

    def program(self, name, text):
        path = self.folder / name
        path.write_text('#!/bin/sh\n' + text + '\n')
        path.chmod(0o755)

    def run_(self, *command):
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.env,
                              cwd=str(ROOT))
        return done.returncode, done.stdout

    def set_up(self, *options):
        return self.run_('meson', 'setup', self.folder / 'build', ROOT, '-Dtests=disabled', '-Dbench=disabled', *options)

    def without_the_library(self):
        """An nvcc that runs, and a C++ compiler that finds no cudart_static on this machine."""
        self.program('nvcc', 'exit 0')
        self.program('compiler', 'case "$*" in *cudart_static*) exit 1 ;; *-search-dirs*) exit 0 ;; esac\nexec {} "$@"'.format(
            os.environ.get('CXX', 'c++')))
        self.env['CXX'] = "'{}'".format(self.folder / 'compiler')  # a command line to meson

    def left_out(self):
        code, said = self.set_up()
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r'CUDA +: left out \(no CUDA toolkit that can be used\)')
        self.program('meson', 'true')  # no tests: the words alone
        said = self.run_(ROOT / 'scripts' / 'check.sh', self.folder / 'build')[1]
        self.assertIn('CUDA: no CUDA toolkit that can be used', said)
        self.assertNotIn('compiled by nvcc', said)

    def test_the_build_and_its_totals(self):
        self.left_out()

    def test_no_library(self):
        self.without_the_library()
        self.left_out()

    def test_asked_for(self):
        code, said = self.set_up('-Dcuda=enabled')
        self.assertNotEqual(code, 0)
        self.assertRegex(said, r'nvcc does not run: .*-Dcuda=disabled')
        self.without_the_library()
        code, said = self.set_up('-Dcuda=enabled')
        self.assertNotEqual(code, 0)
        self.assertRegex(said, r'nvcc runs, but .*cudart_static.*-Dcuda=disabled')

    def test_what_tests_ask(self):
        self.assertFalse(shell.here('nvcc', path=str(self.folder)))
        self.program('nvcc', 'exit 0')
        self.assertTrue(shell.here('nvcc', path=str(self.folder)))
        self.assertFalse(shell.here('nvcc', path=str(self.folder / 'elsewhere')))

    def test_nobody_asks_for_the_name_alone(self):
        asks = []
        for folder in ('bench', 'debian', 'examples', 'python', 'scripts', 'tests', '.ci', 'docs'):
            for path in (ROOT / folder).rglob('*'):
                if path.suffix in ('.py', '.sh', '.build', '') and path.is_file() and path.name != 'test_nvcc.py':
                    asks += [str(path) for line in path.read_text(errors='replace').splitlines() if ASKS.search(line)]
        self.assertEqual(asks, [str(ROOT / 'scripts' / 'gpu_check.py')])  # which has asked first whether it runs


if __name__ == '__main__':
    unittest.main()
