# SPDX-License-Identifier: MIT
"""docs/architecture.md names files, and functions or types in them: each of them is there, and the words that a reader of
hu_quantize_n needs are no more than 15.

usage: test_architecture.py SOURCE_ROOT"""
import pathlib
import re
import sys

PAGE = 'docs/architecture.md'
FILE = re.compile(r'[a-z0-9_]+(?:/[A-Za-z0-9_.-]+)+\.(?:c|h|cu|cuh|py)')
NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')
SPAN = re.compile(r'`([^`]+)`')
CONCEPTS, MOST = '| concept | name, file |', 15


def rows(text):
    """(line, the code spans of its row) of every row of a table."""
    for number, line in enumerate(text.split('\n'), 1):
        if line.startswith('|') and not line.startswith('|---'):
            yield number, [SPAN.findall(cell) for cell in line.strip('|').split('|')]


def wrong(root, text):
    """Files that are not there, and names of a row, beside its files in the first two cells or in the last one, that none
    of them has."""
    found, seen = [], 0
    for number, cells in rows(text):
        spans = [span for cell in (cells[:2] if FILE.fullmatch((cells[0] or cells[1] or [''])[0]) else cells) for span in cell]
        files = [span for span in spans if FILE.fullmatch(span)]
        missing = [name for name in files if not (root / name).is_file()]
        found += [f'line {number}: there is no {name}' for name in missing]
        if not files or missing:
            continue
        words = set(NAME.findall(' '.join((root / name).read_text(encoding='utf-8') for name in files)))
        names = [span for span in spans if NAME.fullmatch(span) and not FILE.fullmatch(span)]
        seen += len(names)
        found += [f'line {number}: {" ".join(files)} lacks {name}' for name in names if name not in words]
    return found, seen


def concepts(text):
    """How many rows the table of concepts has."""
    lines = text.split('\n')
    first = lines.index(CONCEPTS) + 2
    return next(i for i, line in enumerate(lines[first:] + ['']) if not line.startswith('|'))


def main():
    root = pathlib.Path(sys.argv[1])
    text = (root / PAGE).read_text(encoding='utf-8')
    found, seen = wrong(root, text)
    spoilt, _ = wrong(root, text.replace('`hui_array_run`', '`hu_array_walk`').replace('emu/array/array.c', 'emu/array/arrays.c'))
    if len(spoilt) < len(found) + 2:
        found.append('the test does not notice a wrong name and a wrong file')
    if seen < 60:
        found.append(f'{seen} names are too few')
    if concepts(text) > MOST:
        found.append(f'{concepts(text)} concepts for hu_quantize_n, and at most {MOST} are to be needed')
    if found:
        sys.exit('\n'.join(f'{PAGE}: {one}' for one in found))
    print(f'{seen} names in their files, {concepts(text)} concepts')


if __name__ == '__main__':
    main()
