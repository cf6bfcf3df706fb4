#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each mistake of planted.cu is reported with its kernel, line, block and thread; the same kernel without it runs.

usage: test_planted.py PLANTED [unittest's options]"""
import re
import subprocess
import sys
import unittest

PROGRAM = sys.argv[1]
MISTAKES = {
    'syncwarp': 'a race in shared memory: lane 1 of the warp wrote this',
    'syncthreads': 'a race in shared memory: other threads read this',
    'again': 'a race in shared memory: thread',
    'half_synced': 'a race in shared memory: lane 16 of the warp wrote this',
    'misaligned': 'an address that is not a multiple of 16',
    'past_the_end': 'outside of all memory of the device',
    'past_shared': 'outside of every variable in shared memory',
    'past_local': 'outside of local memory',
    'wrong_mask': 'lanes of its mask never come here',
    'outside_mask': 'a lane outside of the mask that it gives, 0xFFFF0000',
    'other_masks': 'lanes disagree on the mask',
    'other_lane': 'the value of lane 16 is wanted, which is not in the mask 0x0000FFFF',
    'unwritten': 'shared memory is read before it is written',
    'other_barriers': 'threads wait at different barriers',
    'is_freed': 'outside of all memory of the device',
    'half_multiplies': 'lanes of its mask never come here',
    'some_have_ended': 'a matrix instruction in a warp of which lanes have ended',
}


def run(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Planted(unittest.TestCase):
    def test_mistakes(self):
        for name, what in MISTAKES.items():
            with self.subTest(name):
                answer = run(name)
                self.assertEqual(answer.returncode, 99, answer.stderr)
                self.assertIn('ptx: fault: ' + what, answer.stderr)
                self.assertRegex(answer.stderr, rf'kernel  void {name}<false>\(')
                self.assertRegex(answer.stderr, r'PTX     line [0-9]+: \S')
                self.assertRegex(answer.stderr, r'block   0 0 0, thread [0-9]+ \(warp [01], lane [0-9]+\)')
                if not re.search('mask|barriers|matrix', what):
                    self.assertRegex(answer.stderr, 'address 0x[0-9a-f]+')

    def test_right(self):
        for name in MISTAKES:
            with self.subTest(name):
                answer = run(name, 'right')
                self.assertEqual((answer.returncode, answer.stderr), (0, ''))

    def test_unknown_name(self):
        self.assertEqual(run('none').returncode, 2)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
