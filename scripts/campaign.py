#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The exhaustive campaign: its list of items, and the sources that each depends on.

usage: campaign.py list BUILD          the list for `halfulp campaign`, with the programs of a build with -Dexhaustive=true
       campaign.py sources             NAME HASH of every item, for --sources
"""
import functools
import json
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests' / 'build'))
import nameless  # noqa: E402
from folders import rules  # noqa: E402

PROGRAMS = ROOT / 'tests' / 'campaign' / 'programs.txt'
MODES = tuple(re.findall(r'X\(HU_R\w+, (\w+),', (ROOT / 'emu' / 'core' / 'modes.h').read_text()))  # deterministic
STOCHASTIC = ('sra:8', 'srb:8', 'src:8')
WIDE = ('binary16', 'bfloat16', 'dlfloat16', 'fp(6,9,0):finite')
SMALL = ('float8_e4m3fn', 'float8_e5m2')
STEPS = ('binary16', 'bfloat16', 'dlfloat16', 'fp(6,9,0):finite', 'float8_e4m3fn', 'float8_e5m2', 'float8_e4m3fnuz', 'float8_e5m2fnuz')


def programs():
    """[(name of a Meson test, subjects, folder of its source)]: enumerations, which `make check` has in part or not at all."""
    rows = [line.split() for line in PROGRAMS.read_text().splitlines() if line and not line.startswith('#')]
    return [(row[0], row[1], row[2] if '/' in row[2] else 'tests/' + row[2]) for row in rows]


def built_in():
    """[(name, kind, subjects, arguments)]: items of the command itself."""
    rows = [('steps/{}/{}'.format(f, m), 'steps', 'array', [f, m]) for f in STEPS for m in MODES]
    rows += [('triples/{}/{}'.format(f, m), 'triples', 'arith,array', [f, m, '1/1']) for f in SMALL for m in MODES + STOCHASTIC]
    rows += [('pairs/{}/{}/{}'.format(op, f, m), 'pairs', 'arith,array', [op, f, m, '1/1'])
             for f in WIDE for op in ('add', 'sub', 'mul', 'div') for m in MODES]
    rows += [('mixed/{}/binary16/{}'.format(f, m), 'mixed', 'arith,array', [f, 'binary16', m, '1/1'])
             for f in SMALL for m in MODES + STOCHASTIC]
    rows += [('powers/{}/binary16/{}'.format(f, m), 'powers', 'arith,array', [f, 'binary16', m, '1/4096', '1/1'])
             for f in WIDE[:2] for m in MODES]
    return rows


def items():
    """{name: (subjects, folders of what does the checking)} of the whole campaign."""
    rows = [(name, (subjects, ('cli/campaign', 'cli/verify'))) for name, _, subjects, _ in built_in()]
    rows += [('test/' + name, (subjects, (folder, 'tests/support'))) for name, subjects, folder in programs()]
    return dict(rows)


# ---- sources ----

def reached(folders):
    """The folders, and all whose sources they may use."""
    table, found, left = rules(), set(), list(folders)
    while left:
        folder = left.pop()
        if folder in found:
            continue
        found.add(folder)
        if folder.startswith('train'):  # which calls the library by its public headers
            left += [path.relative_to(ROOT).as_posix() for path in (ROOT / 'emu').iterdir() if path.is_dir() and path.name != 'oracle']
        for used in table.get(folder, []):
            used = used.rpartition('/')[0]
            if used.split('/')[0] in ('emu', 'gpu', 'train') and (ROOT / used).is_dir():
                left.append(used)
    return sorted(found)


def folder_of(subject):
    for top in ('emu', 'train', 'gpu', ''):
        if (ROOT / top / subject).is_dir():
            return (top + '/' + subject).lstrip('/')
    sys.exit('campaign.py: no folder has the subject ' + subject)


INCLUDE = re.compile(r'^\s*#\s*include\s+[<"](halfulp/[\w./]+)[>"]', re.M)
VERSION = re.compile(r'^#define HU_VERSION_.*\n', re.M)
CORE = re.compile(r'^\s*#\s*include\s+[<"](?:emu|halfulp)/core/([\w.]+)[>"]', re.M)


@functools.lru_cache(maxsize=None)
def text_of(path):
    return path.read_text()


@functools.lru_cache(maxsize=None)
def names_in(text, pattern):
    return pattern.findall(text)


def files_of(folder):
    return [path for end in ('*.[ch]', '*.cpp') for path in sorted((ROOT / folder).glob(end))]


def closure(paths, pattern, place, without=()):
    """The files of a place that others include, also through one another."""
    found, left = set(), list(paths)
    while left:
        for name in names_in(text_of(left.pop()), pattern):
            path = ROOT / place / name
            if path not in found and name not in without and path.is_file():
                found.add(path)
                left.append(path)
    return sorted(found)


def files(folders):
    """What the folders hold; of emu/core, whose headers are each a subject, what the others include."""
    others = [path for folder in folders if folder != 'emu/core' for path in files_of(folder)]
    return sorted(set(others + closure(others, CORE, 'emu/core')))


def hashed(item):
    """All folders that an item, a value of items(), depends on."""
    subjects, checkers = item
    always = ['formats', 'emu/oracle', 'emu/apply']  # the last: what every operation on arrays goes through
    folders = reached([folder_of(subject) for subject in subjects.split(',')])
    return folders + [one for one in always if one not in folders] + list(checkers)


def belongs_to_others(header, folders):
    """Is this the public header of a folder of emu that is not among `folders`? A checker includes such headers, too, though no
    result of the item depends on them."""
    own = ROOT / 'emu' / header.stem
    return own.is_dir() and own.relative_to(ROOT).as_posix() not in folders


@functools.lru_cache(maxsize=None)
def sources(item):
    """16 hexadecimal digits of what an item depends on (nameless.py): what changes no result changes no hash."""
    folders = hashed(item)
    used = files(folders)
    # halfulp.h includes all public headers, and a ledger has the version in a column of its own.
    public = [path for path in closure(used, INCLUDE, 'include', ('halfulp/halfulp.h',)) if not belongs_to_others(path, folders)]
    texts = {path: VERSION.sub('', text_of(path)) for path in used + public}

    def included(path, name):
        return next((one for folder in (path.parent, ROOT, ROOT / 'include') if (one := folder / name[1:-1]) in texts), None)

    return nameless.sources_hash(texts, included, {})


# ---- lists ----

def command_of(build, test):
    """A Meson test as arguments of `program`."""
    environment = ['{}={}'.format(name, value) for name, value in sorted(test['env'].items())]
    return ['env', '-C', test['workdir'] or str(build)] + environment + test['cmd']


def print_list(build):
    said = subprocess.run(['meson', 'introspect', '--tests', str(build)], stdout=subprocess.PIPE, check=True).stdout
    tests = {test['name']: test for test in json.loads(said)}
    options = json.loads((build / 'meson-info' / 'intro-buildoptions.json').read_text())
    if not any(o['name'] == 'exhaustive' and o['value'] for o in options):
        sys.exit('campaign.py: {} was not set up with -Dexhaustive=true'.format(build))
    for name, kind, subjects, arguments in built_in():
        print('\t'.join([name, kind, subjects] + arguments))
    for name, subjects, _ in programs():
        if name not in tests:
            sys.exit('campaign.py: {}: {} is no test of {}'.format(PROGRAMS.name, name, build))
        print('\t'.join(['test/' + name, 'program', subjects] + command_of(build, tests[name])))


def main():
    what, rest = sys.argv[1:2], sys.argv[2:]
    if what == ['list'] and len(rest) == 1:
        print_list(pathlib.Path(rest[0]).resolve())
    elif what == ['sources'] and not rest:
        for name, item in items().items():
            print(name, sources(item))
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main()
