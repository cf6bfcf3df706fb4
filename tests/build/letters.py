# SPDX-License-Identifier: MIT
"""How many identifiers of the sources are single letters: a record is a word (CONTRIBUTING.md).

What counts: every identifier and keyword of C, C++ and CUDA sources, at each of its occurrences, in declarations,
expressions and macros alike; not what stands in comments, strings, character constants and #include lines, and not the
letters of numbers. Free are the mathematical operands x, y, z, a, b, c and the indices i, j, k, n, m: they are
identifiers among all, but not among those that are single letters.

usage: letters.py SOURCE_ROOT    fails where a folder has more of them than its limit; prints the share of each folder
       letters.py --list FOLDER  the letters of a folder, and its files with the most of them
       letters.py --test         the count of small texts
"""
import collections
import pathlib
import re
import sys

# The limit of each folder, in per cent, and the goal; a limit above its goal is what the folder has now, and only falls.
LIMITS = {
    'emu': (5, 5),
    'gpu': (5, 5),
    'train': (5, 5),
    'cli': (5, 5),
    'mpi': (5, 5),
    'files': (5, 5),
    'layouts': (5, 5),
    'tests': (8, 8),
}
SUFFIXES = ('.c', '.h', '.cu', '.cuh', '.cpp', '.hpp')
FREE = set('xyzabcijknm')
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#[ \t]*include[^\n]*', re.S | re.M)
NUMBER = re.compile(r'(?<!\w)\.?\d(?:[\w.]|(?<=[eEpP])[+-])*')


def letters(text):
    """The number of all identifiers, and how often each letter that is not free is one."""
    words = re.findall(r'[A-Za-z_]\w*', NUMBER.sub(' ', NO_CODE.sub(' ', text)))
    return len(words), collections.Counter(word for word in words if len(word) == 1 and word not in FREE)


def sources(folder):
    return [path for path in sorted(folder.rglob('*')) if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink()]


def of_folder(folder):
    """The number of identifiers; of each letter; of all letters in each file."""
    total, found, files = 0, collections.Counter(), collections.Counter()
    for path in sources(folder):
        count, some = letters(path.read_text(encoding='utf-8'))
        total += count
        found += some
        files[path.relative_to(folder).as_posix()] = sum(some.values())
    return total, found, files


def test():
    for text, total, found in (('int x = t->n;', 4, 't'), ('/* t */ "t" \'t\' // t\nt', 1, 't'), ('1e5f + 0x1.8p-3f + 1u', 0, ''),
                               ('#include <t.h>\n#define HU(t) s.t', 5, 'tst'), ('a.b.c[.5f]', 3, ''), ('{.r = 1, .x = 2}', 2, 'r')):
        count, letter = letters(text)
        assert (count, sorted(letter.elements())) == (total, sorted(found)), (text, count, letter)
    print('6 texts counted')


def main():
    if sys.argv[1:] == ['--test']:
        return test()
    if sys.argv[1] == '--list':
        total, found, files = of_folder(pathlib.Path(sys.argv[2]))
        print('%d identifiers; %s' % (total, ' '.join('%s %d' % row for row in found.most_common())))
        print('\n'.join('%5d %s' % (count, name) for name, count in files.most_common(20)))
        return 0
    root, over = pathlib.Path(sys.argv[1]), []
    for folder, (limit, goal) in LIMITS.items():
        total, found, _ = of_folder(root / folder)
        share = 100 * sum(found.values()) / total if total else 100
        print('%-6s %6d identifiers, %5.2f %% of them letters; limit %g, goal %g' % (folder, total, share, limit, goal))
        if share > limit:
            over.append(folder)
    for folder in over:
        print(f'{folder}: too many identifiers are single letters: name records by words; letters.py --list {folder} shows where')
    return 1 if over else 0


if __name__ == '__main__':
    sys.exit(main())
