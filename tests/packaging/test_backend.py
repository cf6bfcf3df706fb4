#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The build backend of the Python package (scripts/packages/backend.py): metadata as in the wheel and without a compiler,
libraries that serve and libraries that do not, the line that says how much is compiled.

usage: test_backend.py SOURCE BUILD        by the Python of scripts/python_env.sh; exit code 77 where that cannot be made"""
import contextlib
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

SOURCE, BUILD = (pathlib.Path(one).resolve() for one in sys.argv[1:3])
if os.environ.get('HALFULP_BACKEND') != 'inside':
    made = subprocess.run([str(SOURCE / 'scripts/python_env.sh'), str(BUILD)])
    if made.returncode:
        sys.exit(made.returncode)
    tools = BUILD / 'venv/bin'
    os.execve(str(tools / 'python'), [str(tools / 'python'), '-B', *sys.argv],
              dict(os.environ, HALFULP_BACKEND='inside', PATH='{}:{}'.format(tools, os.environ['PATH'])))

sys.path.insert(0, str(SOURCE / 'scripts/packages'))
import backend  # noqa: E402

NAMES = {part: '{}.so.{}'.format(stem, backend.version()) for part, stem in backend.LIBRARIES.items()}


def stub(path, code=''):
    """A shared library with a few functions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(['cc', '-shared', '-fPIC', '-x', 'c', '-o', str(path), '-'], input=code.encode(), check=True)


def state_of(path):
    """When it was written, which file it is, and what is in it."""
    return path.stat().st_mtime_ns, path.stat().st_ino, hashlib.sha256(path.read_bytes()).hexdigest()


@contextlib.contextmanager
def environment(**named):
    """The environment with these variables alone of those that name libraries."""
    kept = dict(os.environ)
    for name in ('HALFULP_LIBRARY', 'PKG_CONFIG_PATH', 'PKG_CONFIG_LIBDIR'):
        os.environ.pop(name, None)
    os.environ.update({'PKG_CONFIG_LIBDIR': '/nowhere', **named})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


class Backend(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def settings(self, settings=None):
        said = []
        return backend.with_libraries(settings, said.append), '\n'.join(said)

    def installed(self):
        """The libraries of the build in one folder, and a file of pkg-config that names it."""
        for part, name in NAMES.items():
            (self.folder / name).symlink_to(BUILD / part / name)
        (self.folder / 'halfulp.pc').write_text('libdir={}\nName: halfulp\nDescription: .\nVersion: 0\n'.format(self.folder))

    def test_metadata_are_those_of_the_wheel(self):
        there = [BUILD / part / name for part, name in NAMES.items()] + [BUILD / 'cli/pictures/libhalfulp-pictures.so']
        before = [state_of(path) for path in there]
        calls = 'import sys, backend; backend.build_wheel(sys.argv[1], {"build-dir": sys.argv[1] + "/build"})'
        with environment(HALFULP_LIBRARY=str(BUILD), PYTHONPATH=str(SOURCE / 'scripts/packages')):
            said = subprocess.run([sys.executable, '-B', '-c', calls, str(self.folder)], cwd=str(SOURCE), stdout=subprocess.PIPE,
                                  universal_newlines=True, check=True).stdout
            place = backend.prepare_metadata_for_build_wheel(str(self.folder))
        self.assertIn('{} (HALFULP_LIBRARY) has the libraries; nothing is compiled'.format(BUILD), said)
        self.assertEqual([state_of(path) for path in there], before, 'others may have them open')
        name, = self.folder.glob('*.whl')
        with zipfile.ZipFile(name) as wheel:
            self.assertEqual(wheel.read(place + '/METADATA'), (self.folder / place / 'METADATA').read_bytes())
            held = {pathlib.PurePath(one).name for one in wheel.namelist()}
        self.assertLessEqual({*NAMES.values(), 'libhalfulp-pictures.so'}, held)
        text = (self.folder / place / 'METADATA').read_text()
        self.assertRegex(text, r'Requires-Dist: torch>=[\d.]+ ?; ?extra == "torch"')

    def test_installed_libraries(self):
        self.installed()
        for named in ({'HALFULP_LIBRARY': str(self.folder)}, {'PKG_CONFIG_LIBDIR': str(self.folder)}):
            with environment(**named):
                got, said = self.settings({'build-dir': 'x'})
            self.assertEqual(got, {'build-dir': 'x', 'setup-args': ['-Dpython_libraries={}'.format(self.folder)]})
            self.assertIn('nothing is compiled', said)
        with environment(HALFULP_LIBRARY=str(self.folder)):
            self.assertEqual(self.settings({'setup-args': '-Dlevels=all'}), ({'setup-args': '-Dlevels=all'}, ''))
        with environment():
            self.assertEqual(self.settings(), ({}, ''))

    def test_libraries_that_do_not_serve(self):
        self.assertIn('has no ' + NAMES['emu'], backend.lacks(self.folder))
        stub(self.folder / 'libhalfulp.so.9.9.9')
        self.assertIn('has no ' + NAMES['emu'], backend.lacks(self.folder))
        stub(self.folder / NAMES['emu'], 'void hu_add_n(void) {}')
        self.assertRegex(backend.lacks(self.folder), 'has a {} without hu_'.format(NAMES['emu']))
        wrong = self.folder / 'wrong'  # a library that is loaded is not looked at again
        wrong.mkdir()
        (wrong / NAMES['emu']).write_text('no library')
        self.assertIn('cannot be loaded', backend.lacks(wrong))
        with environment(HALFULP_LIBRARY=str(wrong)), self.assertRaisesRegex(SystemExit, 'HALFULP_LIBRARY: .*cannot be loaded'):
            self.settings()
        (self.folder / 'halfulp.pc').write_text('libdir={}\nName: halfulp\nDescription: .\nVersion: 0\n'.format(wrong))
        with environment(PKG_CONFIG_LIBDIR=str(self.folder)):
            got, said = self.settings()
        self.assertEqual(got, {})
        self.assertIn('(pkg-config) has a {} that cannot be loaded'.format(NAMES['emu']), said)

    def test_progress(self):
        (self.folder / 'build.ninja').write_text(
            'rule cc\n  command = true\nbuild lib.so: cc 0.o 1.o 2.o 3.o lib.map\nbuild python-libraries: phony lib.so\n')
        said = []
        with backend.progress(self.folder, said.append, 0.01):
            for n in range(4):
                (self.folder / '{}.o'.format(n)).touch()
                limit = time.monotonic() + 20
                while 'halfulp: compiling C, {} of 4 files'.format(n + 1) not in said and time.monotonic() < limit:
                    time.sleep(0.01)
        self.assertEqual([line for line in said if ' 0 of' not in line],
                         ['halfulp: compiling C, {} of 4 files'.format(n) for n in (1, 2, 3, 4)])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
