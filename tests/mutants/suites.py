# SPDX-License-Identifier: MIT
"""The tests that stand nearest to a source, from what meson knows of the build and a table for the rest.

Two stages: the folders of tests of the same name, then the other suites of the same part. In each those first whose
names have words of the source's path, then the quick ones.
"""
import collections
import json
import pathlib
import re

# name; the folder of tests/; the command, its environment and folder; files that ninja must have made; the limit of the
# test in the build, seconds
Test = collections.namedtuple('Test', 'name folder command env workdir goals limit')

# Folders of tests that a source's own folder does not name; the first line that fits the beginning of its path.
_NEAREST = [
    ('emu/core/accum', ['accum', 'gemm']), ('emu/core/dot', ['accum']), ('emu/core/arith', ['arith', 'walk']),
    ('emu/core/function', ['function', 'walk']), ('emu/core/hadamard', ['hadamard']), ('emu/core/number', ['number', 'walk']),
    ('emu/core/s2fp8', ['s2fp8']), ('emu/core/scaled_sum', ['scaled_gemm', 'accum']), ('emu/core/scaled', ['scaled']),
    ('emu/core/', ['core', 'walk', 'array', 'oracle', 'arith']), ('emu/arith/', ['arith', 'function', 'walk']),
    ('emu/array/', ['array', 'walk']), ('emu/number/', ['number', 'walk']),
    ('emu/base/', ['format', 'walk', 'array', 'scaled', 'memory', 'train']), ('emu/simd/', ['walk', 'array', 'number', 'arith', 'function']),
    ('emu/gemm/', ['gemm', 'accum']), ('emu/accum/', ['accum', 'gemm']), ('emu/format/', ['format', 'core', 'oracle']),
    ('gpu/', ['cuda_host']), ('train/', ['train', 'memory']), ('cli/', ['cli', 'memory']), ('python/', ['python']),
]
# What else belongs to a part: folders of tests, or of one folder the tests whose names fit.
_WIDER = {
    'emu': [('core|format|walk|array|oracle|arith|function|golden|gen|gemm|accum|scaled|scaled_gemm|s2fp8|hadamard|number|'
             'conversion|memory', '.*'), ('fault', 'fault-0'), ('cuda_host', 'golden-digests-4.*')],
    'gpu': [('cli', '.*')],
    'train': [('cli', '.*(train|sweep|experiment|demo).*'), ('cuda_host', 'cuda-host-train')],
    'cli': [('fuzz|docs', '.*')],
    'python': [],
}
_READS_ALL = ('docs',)  # tests of an installed copy: all that is installed must have been built


def _path(source, text):
    """A path below the source's root, or None."""
    try:
        return pathlib.Path(text).resolve().relative_to(source)
    except ValueError:
        return None


def _folder(source, build, entry, targets):
    """The folder below tests/ that a test stands in: that of its script, or of its program's meson.build."""
    for word in entry['cmd']:
        path = _path(source, word)
        if path and path.parts[:1] == ('tests',) and len(path.parts) > 2 and path.suffix == '.py':
            return path.parts[1]
    for word in entry['cmd'][:1]:
        path = _path(source, word)
        if path and pathlib.Path(build).name in path.parts and 'tests' in path.parts:
            return path.parts[path.parts.index('tests') + 1]
    for word in entry['depends']:
        path = _path(source, targets[word]['defined_in']) if word in targets else None
        if path and path.parts[0] == 'tests':
            return path.parts[1]
    return 'cuda_host' if entry['cmd'][0].endswith('hu-digest-host') else ''


def of_build(source, build):
    """The tests of a build folder."""
    source, build = pathlib.Path(source).resolve(), pathlib.Path(build).resolve()
    info = build / 'meson-info'
    targets = {one['id']: one for one in json.loads((info / 'intro-targets.json').read_text())}
    installed = [name for one in targets.values() if one['installed'] for name in one['filename']]
    made = []
    for entry in json.loads((info / 'intro-tests.json').read_text()):
        goals = [name for word in entry['depends'] if word in targets for name in targets[word]['filename']]
        folder = _folder(source, build, entry, targets)
        goals += installed if folder in _READS_ALL else []
        made.append(Test(entry['name'], folder, tuple(entry['cmd']), dict(entry['env']), entry['workdir'] or str(build),
                         tuple(sorted({str(pathlib.Path(name).relative_to(build)) for name in goals})), entry['timeout']))
    return made


def of_python(source, build, python):
    """The Python package's tests as they are run from the source: a file each."""
    source, build = pathlib.Path(source).resolve(), pathlib.Path(build).resolve()
    targets = json.loads((build / 'meson-info' / 'intro-targets.json').read_text())
    libraries = sorted(str(pathlib.Path(name).relative_to(build)) for one in targets for name in one['filename']
                       if one['type'] == 'shared library' and one['installed'])
    env = {'HALFULP_LIBRARY': str(build), 'PYTHONPATH': str(source / 'python'), 'PYTHONDONTWRITEBYTECODE': '1',
           'HALFULP_SOURCE': str(source)}
    made = []
    for path in sorted((source / 'python' / 'tests').rglob('test_*.py')):
        name = path.relative_to(source).as_posix()
        made.append(Test(name, 'python', (str(python), '-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider', str(path)), env,
                         str(build), tuple(libraries), 600))
    return made


def nearest(file, tests, seconds):
    """Two lists of tests for a source. seconds: of each test, by its name; a test without is left out."""
    part, folder = file.split('/')[0], file.split('/')[1]
    near = next((names for start, names in _NEAREST if file.startswith(start)), [folder])
    there = [one for one in tests if one.name in seconds]
    first = [one for one in there if one.folder in near]
    wider = [one for one in there if one not in first and
             any(re.fullmatch(folders, one.folder) and re.fullmatch(names, one.name) for folders, names in _WIDER[part])]
    words = set(re.findall(r'[a-z0-9]{3,}', file.lower().partition('/')[2].rpartition('.')[0])) - {'halfulp'}

    def key(test):
        own = set(re.findall(r'[a-z0-9]{3,}', test.name.lower()))
        return -len(words & own), seconds[test.name], test.name

    return [sorted(first, key=key), sorted(wider, key=key)]


def wanted(files, tests):
    """All tests that these sources may ask for."""
    zero = {one.name: 0 for one in tests}
    names = {one.name for file in files for stage in nearest(file, tests, zero) for one in stage}
    return [one for one in tests if one.name in names]
