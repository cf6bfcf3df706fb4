# SPDX-License-Identifier: MIT
"""The build backend of pyproject.toml: meson-python, and around it what it does not do.

Metadata are written without compiling, so that pip compiles where it says that it builds the wheel. While it compiles, a
line on the terminal says how many files are done. Libraries that are there already are taken instead: those in the folder
that HALFULP_LIBRARY names (a build folder, or one with the libraries in it), else those that pkg-config finds; of this
version, with every function that the package calls. With config settings `setup-args` of one's own nothing is looked for."""
import contextlib
import ctypes
import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import types

import mesonpy
import pyproject_metadata
from mesonpy import (build_sdist, get_requires_for_build_editable, get_requires_for_build_sdist,  # noqa: F401
                     get_requires_for_build_wheel)

try:
    import tomllib
except ImportError:  # before Python 3.11; meson-python requires it there
    import tomli as tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = {'emu': 'libhalfulp', 'train': 'libhalfulp-train'}  # what the package cannot do without


def version():
    """The version of the source."""
    return re.search(r'VERSION_STRING "(.*)"', (ROOT / 'include/halfulp/status.h').read_text(encoding='utf-8'))[1]


def prepare_metadata_for_build_wheel(folder, settings=None):
    """Writes the metadata that the wheel will have; returns the name of their folder."""
    with open(ROOT / 'pyproject.toml', 'rb') as file:
        meta = pyproject_metadata.StandardMetadata.from_pyproject(tomllib.load(file), ROOT)
    meta.version = pyproject_metadata.packaging.version.Version(version())
    meta.dynamic = []
    made = pathlib.Path(folder) / 'halfulp-{}.dist-info'.format(meta.version)
    made.mkdir()
    (made / 'METADATA').write_bytes(bytes(meta.as_rfc822()))
    return made.name


def functions():
    """The functions that the package calls, by the name of their library."""
    package = types.ModuleType('halfulp_names')  # the package itself imports NumPy, which a build does not have
    package.__path__ = [str(ROOT / 'python/halfulp')]
    sys.modules[package.__name__] = package
    signatures = importlib.import_module('halfulp_names._signatures')
    return {'libhalfulp': signatures.MAIN, 'libhalfulp-train': signatures.TRAIN}


def lacks(folder):
    """Why the libraries of a folder do not serve; None: they do."""
    for part, stem in LIBRARIES.items():
        name = '{}.so.{}'.format(stem, version())
        found = [path for path in (folder / part / name, folder / name) if path.is_file()]
        if not found:
            return 'has no {}'.format(name)
        try:
            library = ctypes.CDLL(str(found[0]))
        except OSError as error:
            return 'has a {} that cannot be loaded: {}'.format(name, error)
        for function in functions()[stem]:
            if not hasattr(library, 'hu_' + function):
                return 'has a {} without hu_{}'.format(name, function)
    return None


def candidates():
    """Folders that may have the libraries, with what names them."""
    named = os.environ.get('HALFULP_LIBRARY')
    if named:
        path = pathlib.Path(named).resolve()
        yield 'HALFULP_LIBRARY', path if path.is_dir() else path.parent
        return
    with contextlib.suppress(OSError):
        said = subprocess.run(['pkg-config', '--variable=libdir', 'halfulp'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              universal_newlines=True)
        if said.returncode == 0:
            yield 'pkg-config', pathlib.Path(said.stdout.strip())


def with_libraries(settings, say):
    """The settings, with the libraries that are there already, if some serve."""
    settings = dict(settings or {})
    if settings.get('setup-args'):
        return settings
    for source, folder in candidates():
        why = lacks(folder)
        say('halfulp: {} ({}) {}'.format(folder, source, why or 'has the libraries; nothing is compiled'))
        if why is None:
            return dict(settings, **{'setup-args': ['-Dpython_libraries={}'.format(folder)]})
        if source == 'HALFULP_LIBRARY':
            raise SystemExit('halfulp: HALFULP_LIBRARY: {} {}; without it the libraries are compiled'.format(folder, why))
    return settings


def files(build):
    """How many files of C a build folder has compiled, and how many there are; (0, 0) before that is known."""
    try:
        said = subprocess.run(['ninja', '-C', str(build), '-t', 'inputs', 'python-libraries'], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, universal_newlines=True).stdout
        objects = {line.strip() for line in said.splitlines() if line.strip().endswith('.o')}
        return sum((build / one).is_file() for one in objects), len(objects)
    except OSError:
        return 0, 0


@contextlib.contextmanager
def progress(build, say, seconds=2.0):
    """Says at every tenth how much of a build folder is compiled, until the block ends."""
    ended, shown = threading.Event(), [-1]

    def watch():
        while not ended.wait(seconds):
            done, whole = files(build) if (build / 'build.ninja').is_file() else (0, 0)
            if whole and 10 * done // whole > shown[0]:
                shown[0] = 10 * done // whole
                say('halfulp: compiling C, {} of {} files'.format(done, whole))
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def teller():
    """Prints lines: into the log, which pip shows with -v, and on the terminal, if there is one."""
    try:
        terminal = open('/dev/tty', 'w')
    except OSError:
        terminal = None

    def say(line):
        print(line, flush=True)
        if terminal is not None:
            print('\r\033[K' + line, file=terminal, flush=True)
    return say


def _built(call, folder, settings, metadata):
    say = teller()
    settings = with_libraries(settings, say)
    with contextlib.ExitStack() as stack:
        if 'build-dir' not in settings:
            settings['build-dir'] = stack.enter_context(tempfile.TemporaryDirectory(prefix='.mesonpy-', dir=str(ROOT)))
        stack.enter_context(progress(pathlib.Path(settings['build-dir']), say))
        return call(folder, settings, metadata)


def build_wheel(folder, settings=None, metadata=None):
    """Builds the wheel; returns its name."""
    return _built(mesonpy.build_wheel, folder, settings, metadata)


def build_editable(folder, settings=None, metadata=None):
    """Builds what `pip install -e` installs, by meson-python alone."""
    return mesonpy.build_editable(folder, settings, metadata)
