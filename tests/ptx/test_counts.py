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
CEILINGS = {}


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
