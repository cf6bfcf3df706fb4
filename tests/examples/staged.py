# SPDX-License-Identifier: MIT
"""An installed copy of a build, as a user has it: made once per build folder, shared by the tests of the examples.

    import staged
    copy = staged.Staged(build_root)
    subprocess.run([...], env=copy.environment())
"""
import atexit
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def without_blanks(folder):
    """The folder, or a link to it for as long as this test runs: pkg-config (pkgconf 1.8) repeats a PKG_CONFIG_SYSROOT_DIR
    that has a blank in it, and $(pkg-config ...) of a shell is cut there."""
    if len(str(folder).split()) == 1:
        return folder
    made = tempfile.mkdtemp(prefix='stage-')
    atexit.register(shutil.rmtree, made)
    link = pathlib.Path(made) / 'stage'
    link.symlink_to(folder, target_is_directory=True)
    return link


class Staged:
    """`meson install --destdir` into BUILD/tests/examples/stage; `prefix` is what a user would have given as --prefix."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.root = self.build / 'tests' / 'examples' / 'stage'
        self.root.mkdir(parents=True, exist_ok=True)
        with open(self.root.parent / 'stage.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
            if not self._is_current():
                self._install()
        self.root = without_blanks(self.root)
        config = next(self.root.rglob('halfulp.pc'))
        self.libdir = config.parent.parent
        plain = dict(os.environ, PKG_CONFIG_PATH=str(config.parent))
        plain.pop('PKG_CONFIG_SYSROOT_DIR', None)
        said = subprocess.run(['pkg-config', '--variable=prefix', 'halfulp'], env=plain, check=True, stdout=subprocess.PIPE, text=True)
        self.prefix = pathlib.Path(str(self.root) + said.stdout.strip())

    def _is_current(self):
        """Whether all that the build installs is there, and nothing of it is newer: Meson would find the same, a second later."""
        try:
            installed = json.loads((self.build / 'meson-info' / 'intro-installed.json').read_text())
        except FileNotFoundError:
            return False
        for source, place in installed.items():
            copy = str(self.root) + place
            if not os.path.lexists(copy):
                return False
            # Links of libraries have no source in the build.
            if os.path.isabs(source) and (os.path.isdir(source) or os.lstat(source).st_mtime > os.lstat(copy).st_mtime):
                return False
        return len(installed) > 0

    def _install(self):
        # Only what changed since is copied; what a build no longer has would stay, so that a stage is made anew with its folder.
        done = subprocess.run(['meson', 'install', '-C', str(self.build), '--no-rebuild', '--only-changed', '--quiet', '--destdir', str(self.root)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise SystemExit(done.stdout)

    def environment(self, **more):
        """What a user sets who installed under a prefix of her own."""
        env = dict(os.environ, HALFULP_PREFIX=str(self.prefix), CMAKE_PREFIX_PATH=str(self.prefix),
                   PKG_CONFIG_PATH=str(self.libdir / 'pkgconfig'), PKG_CONFIG_SYSROOT_DIR=str(self.root))
        for name, folder in (('PATH', self.prefix / 'bin'), ('LD_LIBRARY_PATH', self.libdir)):
            env[name] = str(folder) + (':' + env[name] if env.get(name) else '')
        # `make check BUILD=...` would reach into the Makefiles of the examples.
        for word in env.pop('MAKEFLAGS', '').split():
            env.pop(word.split('=')[0], None)
        for name in ('MFLAGS', 'MAKELEVEL', 'MAKEOVERRIDES'):
            env.pop(name, None)
        env.update(more)
        return env


def python_with_torch(build):
    """The Python of a build where it has torch, else the one that runs this; ends with 77 where neither has."""
    for python in (str(build / 'venv' / 'bin' / 'python'), sys.executable):
        try:
            said = subprocess.run([python, '-c', 'import importlib.metadata, numpy; print(importlib.metadata.version("torch"))'],
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, universal_newlines=True)
        except OSError:
            continue
        if said.returncode == 0:
            print('{} has torch {}'.format(python, said.stdout.strip()))
            return python
    print('skipped: no Python with torch and numpy (neither {} nor {})'.format(build / 'venv', sys.executable))
    sys.exit(77)
