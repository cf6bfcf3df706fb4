#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The instructions of PTX that the kernels take for an element, or for a product of two elements, stay below a ceiling: a change
that makes a kernel slower is seen without a device. docs/device.md has the table of those with a goal.

usage: test_counts.py PTX_COUNTS PAGE [unittest's options]; HU_PTX_TABLE=1 prints what was counted
       test_counts.py PTX_COUNTS PAGE write      writes the table into the page"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from collections import namedtuple

# The ceiling is some 5 percent above what was counted when a kernel was last changed. Bytes are read and written for an element, and
# moved by a call that reads its input twice; the goal is a share of the speed of a copy, of a product 10^9 operations a second.
Row = namedtuple('Row', 'name ceiling bytes goal moved', defaults=(0,))
ROWS = [
    Row('quantize e4m3fn', 23.8, 8, 0.9),
    Row('quantize bfloat16', 21.5, 8, 0.9),
    Row('encode e4m3fn', 35.7, 5, 0.9),
    Row('encode e4m3fn small', 43.7, 5, 0.9),
    Row('encode binary16', 37.4, 6, 0.9),
    Row('encode e4m3fn sra', 51.6, 5, None),
    Row('encode e4m3fn sra, from word 1 on', 71.8, 5, None),
    Row('encode e4m3fn rtz', 62.1, 5, None),
    Row('decode e4m3fn', 12.3, 5, 0.9),
    Row('decode binary16', 39.6, 6, 0.9),
    Row('decode bfloat16', 26.6, 6, 0.9),
    Row('encode64 e4m3fn', 281.8, 9, None),
    Row('convert binary16 to e4m3fn', 348.2, 3, None),
    Row('add binary16', 558.2, 6, None),
    Row('fma binary16', 732.6, 8, None),
    Row('div binary16', 547.2, 6, None),
    Row('exp bfloat16', 815.4, 4, None),
    Row('encode posit16', 312.5, 6, None),
    Row('decode posit8', 40.5, 5, None),
    Row('pack 4 bits', 22.3, 1.5, None, 2.5),
    Row('unpack 4 bits', 20.2, 1.5, None),
    Row('encode mxfp8_e4m3', 32.3, 5 + 1/32, 0.8),
    Row('encode mxfp4', 32.3, 5 + 1/32, 0.8),
    Row('encode mxfp8_e4m3 events', 42.6, 5 + 1/32, 0.8),
    Row('encode mxfp8_e4m3 sra', 50.2, 5 + 1/32, 0.8),
    Row('quantize mxfp8_e4m3', 48.2, 8, 0.8),
    Row('encode nvfp4_te', 52.7, 5 + 1/16, 0.8),
    Row('encode nvfp4_te events', 66.0, 5 + 1/16, None),
    Row('encode nvfp4_te sra', 93.0, 5 + 1/16, None),
    Row('encode nvfp4_te, two reads', 61.6, 5 + 1/16, None, 9 + 1/16),
    Row('encode dsv3_1x128', 52.2, 5 + 1/32, None),
    Row('encode dsv3_128x128', 38.2, 5, None),
    Row('encode dsv3_128x128 events', 49.4, 5, None),
    Row('encode dsv3_128x128 sra', 54.0, 5, None),
    Row('quantize dsv3_128x128', 55.0, 8, None),
    Row('encode deepgemm_128x128', 29.3, 5, None),
    Row('encode 1x4096', 85.7, 5, None),
    Row('encode fp8_tensor', 30.5, 5, None),
    Row('encode fp8_tensor, two reads', 39.4, 5, None, 9),
    Row('encode 32x32', 114.1, 5, None),
    Row('encode 8x1', 171.3, 5 + 1/8, None),
    Row('decode mxfp8_e4m3', 32.0, 5 + 1/32, 0.8),
    Row('decode nvfp4_te', 35.3, 5 + 1/16, 0.8, 6 + 1/16),
    Row('decode dsv3_1x128', 66.9, 5 + 1/32, None),
    Row('decode dsv3_128x128', 71.0, 5, None),
    Row('pack mxfp4', 28.9, 1.5, None, 2.5),
    Row('unpack mxfp4', 27.5, 1.5, None),
    Row('hadamard rows of 32', 65.1, 8, None),
    Row('hadamard columns of 32', 41.6, 8, None),
    Row('s2fp8 sums', 67.7, 4, None),
    Row('s2fp8 encode', 148.5, 5, None),
    Row('s2fp8 decode', 28.7, 5, None),
    Row('sum add bfloat16', 290.7, 50, None),
    Row('sum merge bfloat16', 116.6, 168, None),
    Row('sum round bfloat16', 248.7, 58, None),
    Row('sum total bfloat16', 261.7, 2, None),
    Row('gemm fp32 of values, 4096^3', 1.64, 0, 30600),
    Row('gemm fp32 of e4m3fn, 4096^3', 1.71, 0, 30600),
    Row('gemm fp32 of binary16, 4096^3', 1.9, 0, 30600),
    Row('gemm fp32 of values, 1024^3', 1.92, 0, 20000),
    Row('gemm fp32 of e4m3fn, 1024^3', 2.05, 0, 20000),
    Row('gemm fp32 of binary16, 1024^3', 2.49, 0, 20000),
    Row('gemm exact of e2m1fn', 3.3, 0, None),
    Row('gemm exact of e4m3fn', 2.2, 0, None),
    Row('gemm exact of e5m2', 2.5, 0, None),
    Row('gemm exact of binary16', 5.4, 0, None),
    Row('gemm exact of bfloat16', 1197.0, 0, None),
    Row('gemm seq(binary16)', 2.8, 0, 100),
    Row('gemm seq(fp(6,9,0))', 21.1, 0, 100),
    Row('gemm seq2(binary32)', 4.8, 0, 100),
    Row('gemm seq2(binary16)', 70.9, 0, 100),
    Row('gemm chunk(64,binary16,binary32)', 69.9, 0, 100),
    Row('gemm pairwise(binary32)', 33.1, 0, 100),
    Row('gemm pairwise(binary16)', 86.6, 0, 100),
    Row('gemm strided(binary32)', 41.0, 0, 100),
    Row('gemm kahan(binary32)', 25.3, 0, 100),
    Row('gemm kahan(binary16)', 143.9, 0, 100),
    Row('gemm neumaier(bfloat16)', 149.5, 0, 100),
    Row('gemm nv.hopper.f16.f32', 43.0, 0, 100),
    Row('gemm amd.cdna3.f16', 54.4, 0, 100),
    Row('gemm nv.blackwell.mxfp8.e4m3', 57.7, 0, 100),
    Row('gemm nv.blackwell.nvfp4', 53.8, 0, 100),
    Row('gemm block(align), sra', 80.0, 0, 100),
    Row('gemm seq(dlfloat16)', 657.6, 0, None),
    Row('gemm scaled by parts', 13.9, 0, None),
]
CEILINGS = {row.name: row.ceiling for row in ROWS}
# An H200: lane instructions in a second, and the bytes of a copy in a second, which reads half of them and writes half.
ISSUED, COPIED = 132 * 128 * 1.98e9, 4.2e12
BEGIN, END = '<!-- counts: written by tests/ptx/test_counts.py -->\n', '<!-- end of the counts -->\n'


def counted(name):
    """Instructions of threads for each element."""
    with tempfile.NamedTemporaryFile('r') as table:
        env = {**os.environ, 'HU_PTX_COUNTS': table.name, **({'HU_PTX_SMS': '1'} if '4096^3' in name else {})}
        run = subprocess.run([sys.argv[1], name], env=env, stdout=subprocess.PIPE, text=True)
        if run.returncode:
            raise RuntimeError(f'{name}: exit status {run.returncode}')
        return int(re.search(r'(\d+) instructions of threads in all', table.read()).group(1)) / int(run.stdout)


def count_all():
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(CEILINGS, pool.map(counted, CEILINGS)))


def bound(row, count):
    """The speed over that of a copy if each instruction takes one place of issue and memory is as fast as in a copy; of a product, two
    operations for as many instructions."""
    if not row.bytes:
        return f'{2e-9 * ISSUED / count:.0f} GFLOP/s'
    return f'{min(row.bytes / max(row.bytes, row.moved), ISSUED / count / (COPIED / row.bytes)):.2f}'


def table(found):
    lines = ['| call | instructions | bound | goal |', '|---|---|---|---|']
    for row in ROWS:
        count, goal = found[row.name], f'{row.goal}' + ('' if row.bytes else ' GFLOP/s')
        if row.goal:
            lines.append(f'| {row.name.replace("gemm ", "product, ")} | {count:.1f} | {bound(row, count)} | {goal} |')
    return BEGIN + '\n'.join(lines) + '\n' + END


def told(page):
    """The counts of a page, {name: count}."""
    part = page[page.index(BEGIN) + len(BEGIN):page.index(END)]
    cells = [[cell.strip() for cell in line.split('|')] for line in part.splitlines()[2:]]
    return {cell[1].replace('product, ', 'gemm '): float(cell[2]) for cell in cells}


class Counts(unittest.TestCase):
    def test_ceilings(self):
        found = count_all()
        if os.environ.get('HU_PTX_TABLE'):
            for name, count in found.items():
                print(f'{name:28} {count:8.1f}, at most {CEILINGS[name]}')
        self.assertEqual({name: round(count, 1) for name, count in found.items() if not 0 < count <= CEILINGS[name]}, {})
        page = told(PAGE.read_text())
        self.assertEqual(list(page), [row.name for row in ROWS if row.goal])
        self.assertEqual({name: round(found[name], 1) for name, count in page.items() if abs(count / found[name] - 1) > 0.05}, {},
                         'the table of docs/device.md: test_counts.py PTX_COUNTS PAGE write')

    def test_notices(self):
        """A count is one: it does not depend on how many elements there are, and some kernel takes more than 5."""
        self.assertGreater(counted('encode e4m3fn'), 5)
        with self.assertRaises(RuntimeError):
            counted('no such case')


if __name__ == '__main__':
    PAGE = pathlib.Path(sys.argv[2])
    if sys.argv[3:] == ['write']:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(before + table(count_all()) + rest.partition(END)[2])
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
