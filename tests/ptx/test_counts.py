#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The instructions of PTX that the kernels take for an element, or for a product of two elements, stay below a ceiling: a change
that makes a kernel slower is seen without a device. docs/device.md has the table.

usage: test_counts.py PTX_COUNTS [unittest's options]; HU_PTX_TABLE=1 prints what was counted"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import unittest

# Some 5 percent above what was counted when a kernel was last changed.
CEILINGS = {
    'quantize e4m3fn': 26.8,
    'quantize bfloat16': 24.5,
    'encode e4m3fn': 47.1,
    'encode e4m3fn small': 62.3,
    'encode binary16': 46.9,
    'encode e4m3fn sra': 87.0,
    'decode e4m3fn': 12.3,
    'decode binary16': 39.6,
    'decode bfloat16': 26.6,
    'encode mxfp8_e4m3': 45.7,
    'encode mxfp4': 45.7,
    'encode mxfp8_e4m3 events': 64.0,
    'encode mxfp8_e4m3 sra': 104.5,
    'quantize mxfp8_e4m3': 52.7,
    'encode nvfp4_te': 55.5,
    'encode dsv3_1x128': 59.4,
    'encode dsv3_128x128': 123.7,
    'decode mxfp8_e4m3': 32.0,
    'decode dsv3_1x128': 66.9,
    'gemm fp32 of e4m3fn': 3.4,
    'gemm fp32 of binary16': 3.8,
    'gemm seq(binary16)': 2.8,
    'gemm seq(fp(6,9,0))': 21.1,
    'gemm seq2(binary32)': 4.8,
    'gemm nv.hopper.f16.f32': 48.3,
    'gemm amd.cdna3.f16': 54.4}


def counted(name):
    """Instructions of threads for each element."""
    with tempfile.NamedTemporaryFile('r') as table:
        run = subprocess.run([sys.argv[1], name], env={**os.environ, 'HU_PTX_COUNTS': table.name}, stdout=subprocess.PIPE, text=True)
        if run.returncode:
            raise RuntimeError(f'{name}: exit status {run.returncode}')
        return int(re.search(r'(\d+) instructions of threads in all', table.read()).group(1)) / int(run.stdout)


class Counts(unittest.TestCase):
    def test_ceilings(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = dict(zip(CEILINGS, pool.map(counted, CEILINGS)))
        if os.environ.get('HU_PTX_TABLE'):
            for name, count in found.items():
                print(f'{name:28} {count:8.1f}, at most {CEILINGS[name]}')
        self.assertEqual({name: round(count, 1) for name, count in found.items() if not 0 < count <= CEILINGS[name]}, {})

    def test_notices(self):
        """A count is one: it does not depend on how many elements there are, and some kernel takes more than 5."""
        self.assertGreater(counted('encode e4m3fn'), 5)
        with self.assertRaises(RuntimeError):
            counted('no such case')


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
