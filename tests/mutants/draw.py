# SPDX-License-Identifier: MIT
"""Which lines are drawn: files of the five parts, each part's share, the order for a seed."""
import fnmatch
import pathlib
import random

import c_sites
import py_sites

PARTS = ('emu', 'gpu', 'train', 'cli', 'python')
LEAST = 6  # of a part
_ENDS = {'.c': c_sites, '.h': c_sites, '.cu': c_sites, '.cuh': c_sites, '.cpp': c_sites, '.py': py_sites}
# The oracle says what is right, and gpu/host runs the kernels that are tested; what a script has written is tested by that
# script's test.
_LEFT_OUT = ('emu/oracle/*', 'gpu/host/*', '*/tests/*', '*/__pycache__/*')
_GENERATED = 'not to be edited'


def files(root, part, only=None):
    """Sources of a part that may be changed, as names from the root."""
    found = []
    for path in sorted((pathlib.Path(root) / part).rglob('*')):
        name = path.relative_to(root).as_posix()
        if path.suffix not in _ENDS or not path.is_file() or any(fnmatch.fnmatch(name, one) for one in _LEFT_OUT):
            continue
        if only and not (fnmatch.fnmatch(name, only) or fnmatch.fnmatch(name, only.rstrip('/') + '/*')):
            continue
        if _GENERATED not in path.read_text()[:400]:
            found.append(name)
    return found


def part_of(file):
    return file.split('/')[0]


class Sources:
    """The sites of a tree's files, read once each."""

    def __init__(self, root):
        self.root, self._sites, self._text = pathlib.Path(root), {}, {}

    def text(self, file):
        if file not in self._text:
            self._text[file] = (self.root / file).read_text()
        return self._text[file]

    def sites(self, file):
        if file not in self._sites:
            kind = _ENDS.get(pathlib.PurePath(file).suffix)
            if kind is None or not (self.root / file).is_file():
                raise ValueError('{}: no source that can be changed'.format(file))
            self._sites[file] = kind.sites(file, self.text(file))
        return self._sites[file]

    def code_lines(self, file):
        return _ENDS[pathlib.PurePath(file).suffix].code_lines(self.text(file))

    def line(self, site):
        return self.text(site.file).split('\n')[site.line - 1]


def shares(sizes, count):
    """How many of `count` each part gets: by its size, but at least LEAST (less where count is small)."""
    parts = [part for part in sizes if sizes[part]]
    if not parts:
        return {}
    least = min(LEAST, count // len(parts))
    share = dict.fromkeys(parts, least)
    whole = sum(sizes[part] for part in parts)
    for _ in range(count - least * len(parts)):  # one after the other to the part that is shortest of its share
        part = max(parts, key=lambda one: count * sizes[one] / whole - share[one])
        share[part] += 1
    return share


def order(share):
    """Parts' names, as often as their share, mixed evenly: a run that was stopped has seen something of each."""
    places = [((i + 0.5) / n, PARTS.index(part), part) for part, n in share.items() for i in range(n)]
    return [part for _, _, part in sorted(places)]


def draws(sources, part, seed, only=None):
    """All lines of a part, each once, in the order of the seed; one site each, the operator drawn before the place."""
    lines = {}
    for file in files(sources.root, part, only):
        for site in sources.sites(file):
            lines.setdefault((file, site.line), []).append(site)
    drawn = random.Random('{} {}'.format(seed, part))
    keys = sorted(lines)
    drawn.shuffle(keys)
    for key in keys:
        here = lines[key]
        operator = drawn.choice(sorted({site.operator for site in here}))
        yield drawn.choice([site for site in here if site.operator == operator])


def sizes(sources, only=None):
    """Lines of code that may be drawn, part by part."""
    return {part: sum(sources.code_lines(file) for file in files(sources.root, part, only)) for part in PARTS}
