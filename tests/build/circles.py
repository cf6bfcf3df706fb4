# SPDX-License-Identifier: MIT
"""No circles of files: none whose code calls each other round, none of headers that include each other, none of modules of
Python that import each other.

usage: circles.py SOURCE_ROOT CC PROGRAM_OR_ARCHIVE...

Calls are read from the symbols of object files: the members of an archive, the objects of which Meson made a program. A
source that is compiled once a level counts as one file. Who wants to understand a file of a circle, or to test it alone,
has to take all of them at once; that is why there are to be none.
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from python_imports import imports  # noqa: E402

root = pathlib.Path(sys.argv[1])
# The compiler's own, which reads its objects on whatever machine they are for.
nm = subprocess.run([sys.argv[2], '-print-prog-name=nm'], check=True, capture_output=True, text=True).stdout.strip()
bad = []


def circles(calls):
    """The strongly connected components of more than one: of a graph as a dict of sets (Tarjan)."""
    number, low, path, on_path, found = {}, {}, [], set(), []

    def visit(one):
        number[one] = low[one] = len(number)
        path.append(one)
        on_path.add(one)
        for other in calls.get(one, ()):
            if other not in number:
                visit(other)
            if other in on_path:
                low[one] = min(low[one], low[other])
        if low[one] == number[one]:
            at = path.index(one)
            part = path[at:]
            del path[at:]
            on_path.difference_update(part)
            if len(part) > 1:
                found.append(set(part))

    sys.setrecursionlimit(10000)
    for one in calls:
        if one not in number:
            visit(one)
    return found


def round_trip(calls, part):
    """A shortest way from one file of a circle back to it."""
    start = min(part)
    ways = [[start]]
    for way in ways:
        for other in sorted(calls[way[-1]] & part):
            if other == start:
                return way + [start]
            if all(other not in seen for seen in ways):
                ways.append(way + [other])


def symbols(path):
    """(file, symbol, whether it is defined there) of an archive, or of a program's objects."""
    objects = [path] if path.suffix == '.a' else sorted(pathlib.Path(f'{path}.p').glob('*.o'))
    for one in objects:
        file = one.name
        text = subprocess.run([nm, '-P', '-g', str(one)], check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            member = re.fullmatch(r'.*?([^/\[\]]+\.o)\]?:', line)
            if member:
                file = member[1]
            elif len(line.split()) > 1:
                name, kind = line.split()[:2]
                yield f'{path.name}: {file.removesuffix(".o")}', name, kind not in 'UwvN'


def code():
    """Who calls whom, and by which symbols; a library's own definition of a name goes first."""
    homes, wants, owners = {}, [], {}
    for path in map(pathlib.Path, sys.argv[3:]):
        files = set()
        for file, name, here in symbols(path):
            files.add(file)
            if here:
                homes.setdefault(path, {}).setdefault(name, file)
                owners.setdefault(name, file)
            else:
                wants.append((path, file, name))
        if len(files) < 2:
            bad.append(f'{path}: {len(files)} files were seen')
        print(f'{path.name}: {len(files)} files')
    calls, why = {}, {}
    for path, file, name in wants:
        home = homes.get(path, {}).get(name) or owners.get(name)
        if home and home != file:
            calls.setdefault(file, set()).add(home)
            why.setdefault((file, home), name)
    return calls, why


def included():
    """Who includes whom, of the whole tree; a name without a folder is one beside the file."""
    calls = {}
    for top in ('include', 'formats', 'files', 'layouts', 'emu', 'gpu', 'train', 'cli', 'mpi'):
        for path in sorted((root / top).rglob('*')):
            name = path.relative_to(root).as_posix()
            if path.suffix not in ('.c', '.h', '.cu', '.cuh') or name.startswith('include/halfulp/core/'):
                continue  # the last are the same files as emu/core
            for used in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
                for place in (path.parent, root, root / 'include'):
                    if (place / used).exists():
                        calls.setdefault(name, set()).add((place / used).resolve().relative_to(root.resolve()).as_posix())
                        break
    return calls


calls, why = code()
for part in circles(calls):
    way = round_trip(calls, part)
    steps = [f'{a} -> {b} ({why[a, b]})' for a, b in zip(way, way[1:])]
    bad.append(f'{len(part)} files call each other round: ' + ', '.join(sorted(part)) + '\n  ' + '\n  '.join(steps))
headers = included()
for part in circles(headers):
    bad.append(f'{len(part)} files include each other: ' + ' -> '.join(round_trip(headers, part)))
modules = imports(root / 'python/halfulp')
for part in circles(modules):
    bad.append(f'{len(part)} modules import each other round: ' + ' -> '.join(round_trip(modules, part)))
n, m, k = (sum(map(len, one.values())) for one in (calls, headers, modules))
if n < 500 or m < 500 or k < 200:
    bad.append('too little was seen to have been checked')
for line in bad:
    print(line)
print(f'{n} pairs of files by calls, {m} by includes, {k} by imports: {len(bad)} against the rule')
sys.exit(1 if bad else 0)
