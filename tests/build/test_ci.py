# SPDX-License-Identifier: MIT
"""What CI runs is what README tells a user to type: .ci/run calls `make check` and no make command with an option.

usage: test_ci.py SOURCE_ROOT
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
MAKEFILE = (ROOT / 'Makefile').read_text()
# What the Makefile takes from its caller, and the tests from theirs.
TAKEN = set(re.findall(r'\$\(([A-Z_]+)\)', MAKEFILE)) | {'MAKEFLAGS', 'MFLAGS', 'CC', 'CXX', 'CFLAGS', 'CXXFLAGS'}


def commands(text):
    """A script's lines of commands, without comments and what is only said."""
    return [line for line in (re.sub(r'(^|\s)#.*|\b(?:part|echo) "[^"]*"', '', line).strip() for line in text.splitlines()) if line]


def calls(lines):
    """What follows `make` in each call."""
    return [more.split() for line in lines for more in re.findall(r'(?:^|[\s;&|(])make((?:\s+[^\s;&|)]+)*)', line)]


def wrong(text, readme):
    """What is wrong with a script in place of .ci/run."""
    lines = commands(text)
    made = calls(lines)
    bad = ['make ' + ' '.join(words) for words in made if len(words) != 1 or not re.fullmatch(r'[a-z-]+', words[0])]
    bad += sorted({name for line in lines for name in re.findall(r'\b([A-Z_]+)=', line) if name in TAKEN or name.startswith('HU_')})
    return bad + ([] if ['check'] in made and ['check'] in readme else ['no make check'])


class Ci(unittest.TestCase):
    def setUp(self):
        blocks = re.findall(r'(?ms)^```sh\n(.*?)^```', (ROOT / 'README.md').read_text())
        self.readme = calls(commands('\n'.join(blocks)))
        self.script = (ROOT / '.ci' / 'run').read_text()

    def test_as_readme_says(self):
        self.assertIn(['run'], self.readme)
        self.assertEqual(wrong(self.script, self.readme), [])
        # Through which it calls make as another user.
        self.assertEqual(wrong((ROOT / 'scripts' / 'elsewhere.sh').read_text(), self.readme), ['no make check'])

    def test_notices(self):
        for line in ('MESON_ARGS="-Dgpu_code=quick" scripts/elsewhere.sh "$user" tr_TR make check', 'make check BUILD=there',
                     'make -j 1 check', 'export HU_TEST_COUNT=5; make check', 'CHECK_PACKAGES= make check'):
            with self.subTest(line):
                self.assertNotEqual(wrong(line, self.readme), [])
        self.assertEqual(wrong('make docs', self.readme), ['no make check'])
        self.assertEqual(wrong('make check', [['run']]), ['no make check'])
        self.assertEqual(wrong('make check # MESON_ARGS=', self.readme), [])

    def test_out_of_time(self):
        """Tests that have not ended are counted as left out: one that failed before still fails."""
        project = "project('p')\ntest('quick', find_program('true'), priority: 9)\ntest('slow', find_program('sleep'), args: '60')\n"
        bad = "test('bad', find_program('false'), priority: 9)\n"
        slow = "project('p')\ntest('slow', find_program('sleep'), args: '60')\n"
        for text, status, out in ((project, 0, '1 of 2 tests'), (project + bad, 1, '1 of 3 tests'), (slow, 0, '1 of 1 tests')):
            with self.subTest(text), tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / 'meson.build').write_text(text)
                build = os.path.join(folder, 'build')
                subprocess.run(['meson', 'setup', build, folder], check=True, stdout=subprocess.DEVNULL)
                until = dict(os.environ, HALFULP_CHECK_UNTIL=str(int(time.time()) + 6))
                done = subprocess.run(['sh', ROOT / 'scripts' / 'check.sh', build], env=until, capture_output=True, text=True)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                self.assertIn('left out for want of time: ' + out, done.stdout)


if __name__ == '__main__':
    unittest.main()
