#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The registers and the shared memory that ptxas gave each kernel for compute capability 9.0, and how many blocks of 256 threads a
multiprocessor holds with them. docs/device.md has the table; no kernel may hold fewer blocks, or take 8 registers more, than it says.

usage: ptxas_registers.py [--some] PAGE REPORT...       with --some: the rows of the files with a REPORT alone
       ptxas_registers.py --write PAGE REPORT...      writes the table into the page"""
import os
import pathlib
import re
import sys

BEGIN, END = '<!-- registers: written by tests/cuda_host/ptxas_registers.py -->\n', '<!-- end of the registers -->\n'
HEAD = ['| kernel | registers | shared memory | blocks | warps | limited by |', '|---|---|---|---|---|---|']
# Of a multiprocessor of 9.0: four parts with 16384 registers each, given to warps 256 at a time; 228 KiB, of which a block takes one
# more than it asks for; 2048 threads.
PART, STEP, SHARED, THREADS, OF_BLOCK = 16384, 256, 228 * 1024, 2048, 256


def occupancy(registers, shared):
    """Blocks that are there at the same time, and what allows no more."""
    warps = PART // (-(-registers * 32 // STEP) * STEP)
    limits = {'registers': 4 * warps * 32 // OF_BLOCK, 'shared memory': SHARED // (shared + 1024), 'threads': THREADS // OF_BLOCK}
    least = min(limits.values())
    return least, 'threads' if limits['threads'] == least else min(limits, key=limits.get)


def kernels(paths):
    """{(file, kernel): [(registers, bytes), ...]}, one for each instance of a template."""
    found, name = {}, None
    for path in paths:
        stem = os.path.basename(path).rsplit('.', 1)[0]
        for line in open(path):
            m = re.search(r"Compiling entry function '_Z(?:L)?(\d+)(\w+)' for 'sm_(\w+)'", line)
            if m:
                name = (stem, m.group(2)[:int(m.group(1))]) if m.group(3) == '90' else None
            m = re.search(r'Used (\d+) registers', line)
            if m and name:
                bytes_ = re.search(r'(\d+) bytes smem', line)
                found.setdefault(name, []).append((int(m.group(1)), int(bytes_.group(1)) if bytes_ else 0))
                name = None
    return found


def span(numbers):
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f'{low}-{high}'


def joined(found):
    """The kernels of a file that has more than 12, and that leave room for all threads, under one name."""
    files = [stem for stem, _ in found]
    z = {}
    for (stem, kernel), uses in sorted(found.items()):
        many = files.count(stem) > 12 and min(occupancy(*use)[0] for use in uses) == THREADS // OF_BLOCK
        z.setdefault((stem, 'the others' if many else kernel), []).extend(uses)
    return z


def rows(found):
    """{'file: kernel': cells}; of a template the instance that takes most decides."""
    z = {}
    for (stem, kernel), uses in sorted(joined(found).items()):
        registers, shared = [use[0] for use in uses], [use[1] for use in uses]
        blocks, why = min(occupancy(*use) for use in uses)
        folder, _, file = stem.partition('_')
        name = kernel if ' ' in kernel else f'`{kernel}`'
        z[f'`{folder}/{file}`: {name}'] = [span(registers), span(shared), str(blocks), str(blocks * OF_BLOCK // 32), why]
    return z


def told(page):
    part = page[page.index(BEGIN) + len(BEGIN):page.index(END)]
    cells = [[cell.strip() for cell in line.split('|')[1:-1]] for line in part.splitlines()[2:]]
    return {cell[0]: cell[1:] for cell in cells}


def of_files(page, paths):
    """The page's rows of the files that have a report."""
    names = ['`{}/{}`: '.format(*os.path.basename(path).rsplit('.', 1)[0].split('_', 1)) for path in paths if '_' in os.path.basename(path)]
    return {name: cells for name, cells in page.items() if name.startswith(tuple(names))}


def wrong(page, found):
    """Where the page and the reports disagree."""
    for name in sorted(set(page) ^ set(found)):
        yield f'{name}: {"is in the page alone" if name in page else "the page has no such kernel"}'
    for name in sorted(set(page) & set(found)):
        if int(found[name][2]) < int(page[name][2]):
            yield f'{name}: {found[name][2]} blocks, {page[name][2]} in the page'
        most, was = (int(cells[0].split('-')[-1]) for cells in (found[name], page[name]))
        if most >= was + 8:
            yield f'{name}: {most} registers, {was} in the page'


def main():
    what = sys.argv[1] if sys.argv[1].startswith('--') else ''
    name, *reports = sys.argv[2 if what else 1:]
    path, found = pathlib.Path(name), rows(kernels(reports))
    page = path.read_text()
    if what == '--write':
        lines = HEAD + [f'| {name} | {" | ".join(cells)} |' for name, cells in found.items()]
        before, _, rest = page.partition(BEGIN)
        path.write_text(before + BEGIN + '\n'.join(lines) + '\n' + END + rest.partition(END)[2])
        return 0
    bad = list(wrong(of_files(told(page), reports) if what == '--some' else told(page), found))
    print('\n'.join(bad + [f'{len(found)} kernels, {len(bad)} unlike the table of {path.name}']))
    return 1 if bad or not found else 0


if __name__ == '__main__':
    sys.exit(main())
