#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Planted faults: wrong lines, one per number, that a test must notice. They stand in tables beside this file, the product
knows nothing of them. A row:

    12 emu/core/round.h: subnormal codes are unpacked one place too low
    - the text of the file, which occurs in it exactly once
    + what stands there instead

A text of several lines has a line each; two rows of one number make one fault.

    faults.py list TABLE...                  "number file" of every row
    faults.py make ROOT OUT TABLE...         the wrong copies of all rows, for the build (below)
    faults.py plant NUMBER ROOT TABLE...     the fault written into the files under ROOT: of a copy, to see what notices it
    faults.py check ROOT TABLE...            every text occurs once

`make` writes for fault 12 the tree OUT/tree/12 with the wrong files at their paths, which `-iquote` lets a compiler
find first; OUT/fault-12.h, which every file of the fault's test includes, so that it is compiled again when the copy
changes; and OUT/fault-12-NAME for a source file NAME, to be compiled instead of it. OUT/faults.d names what was read."""
import collections
import pathlib
import re
import sys

Row = collections.namedtuple('Row', 'number path says text wrong table')
HEAD = re.compile(r'(\d+) ([\w./]+): (\S.*)')


class Mistake(Exception):
    """A table or a file that does not fit it."""


def rows_of(table):
    """The rows of one table."""
    rows, row = [], None
    for at, line in enumerate(table.read_text().splitlines(), 1):
        head = HEAD.fullmatch(line)
        if head:
            row = Row(int(head[1]), head[2], head[3], [], [], table)
            rows.append(row)
        elif row and line[:2] in ('- ', '+ '):
            (row.text if line[0] == '-' else row.wrong).append(line[2:])
        elif line and not line.startswith('#'):
            raise Mistake(f'{table}:{at}: neither a row\'s head nor a line of its text: {line}')
    for row in rows:
        if not row.text or not row.wrong or row.text == row.wrong:
            raise Mistake(f'{table}: {row.number}: a text and another one that replaces it are wanted')
    return rows


def all_rows(tables):
    """The rows of all tables; a number belongs to one table and, for the build's names, a path to one row of a number."""
    rows, owner = [], {}
    for table in tables:
        rows += rows_of(pathlib.Path(table))
    for row in rows:
        if owner.setdefault(row.number, row.table) != row.table:
            raise Mistake(f'{row.table}: {row.number} is also in {owner[row.number]}')
    if not rows:
        raise Mistake('no rows')
    return rows


def planted(row, text):
    """The file's text with the fault in it."""
    piece = '\n'.join(row.text)
    if text.count(piece) != 1:
        raise Mistake(f'{row.table}: {row.number}: {row.path} has this text {text.count(piece)} times, not once:\n{piece}')
    return text.replace(piece, '\n'.join(row.wrong))


def wrong_files(rows, root, read):
    """{number: {path: text}}, what is read being added to `read`."""
    wrong = collections.defaultdict(dict)
    for row in rows:
        source = root / row.path
        read.add(source)
        try:
            text = wrong[row.number].get(row.path) or source.read_text()
        except OSError as error:
            raise Mistake(f'{row.table}: {row.number}: {row.path}: {error.strerror}') from None
        wrong[row.number][row.path] = planted(row, text)
    return wrong


def neighbours(path, root, read):
    """Files of the same folder that include each other without a path: they must stand beside the wrong copy."""
    for source in sorted((root / path).parent.glob('*.h')):
        text = source.read_text()
        if re.search(r'#include "[^/"]+"', text) or source.name == 'port.h':
            read.add(source)
            yield source.relative_to(root).as_posix(), text


def write(path, text):
    """Only where it changes something: what has not changed is not compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def make(rows, root, out):
    """All wrong copies."""
    read = {pathlib.Path(row.table) for row in rows}
    for number, files in sorted(wrong_files(rows, root, read).items()):
        tree = out / 'tree' / str(number)
        beside = {}
        for path, text in files.items():
            if path.endswith('.h'):
                beside.update(neighbours(path, root, read))
        for path, text in {**beside, **files}.items():
            write(tree / path, text)
        core = tree / 'halfulp' / 'core'
        if (tree / 'emu' / 'core').is_dir() and not core.is_symlink(): # as include/halfulp/core
            core.parent.mkdir(exist_ok=True)
            core.symlink_to('../emu/core')
        says = '; '.join(f'{row.path}: {row.says}' for row in rows if row.number == number)
        stamp = sum(map(hash_of, files.values())) % 2 ** 32
        write(out / f'fault-{number}.h', f'/* Fault {number}: {says} ({stamp:08x}) */\n')
        for path, text in files.items():
            if path.endswith('.c'):
                write(out / f'fault-{number}-{pathlib.Path(path).name}', text)
    (out / 'faults.d').write_text(f'faults: {" ".join(sorted(map(str, read)))}\n')


def hash_of(text):
    """The same in every run."""
    value = 0
    for byte in text.encode():
        value = (value * 31 + byte) % 2 ** 32
    return value


def main():
    """The commands of the head."""
    command, *rest = sys.argv[1:]
    try:
        if command == 'list':
            for row in all_rows(rest):
                print(row.number, row.path)
        elif command == 'make':
            make(all_rows(rest[2:]), pathlib.Path(rest[0]), pathlib.Path(rest[1]))
        elif command == 'check':
            read = set()
            rows = all_rows(rest[1:])
            wrong_files(rows, pathlib.Path(rest[0]), read)
            print(f'{len(rows)} wrong lines in {len(read)} files, each found once')
        elif command == 'plant':
            rows = [row for row in all_rows(rest[2:]) if row.number == int(rest[0])]
            if not rows:
                raise Mistake(f'no fault {rest[0]}')
            for path, text in wrong_files(rows, pathlib.Path(rest[1]), set())[int(rest[0])].items():
                (pathlib.Path(rest[1]) / path).write_text(text)
                print(path)
        else:
            raise Mistake(f'{command}: list, make, plant or check')
    except Mistake as mistake:
        sys.exit(f'faults.py: {mistake}')


if __name__ == '__main__':
    main()
