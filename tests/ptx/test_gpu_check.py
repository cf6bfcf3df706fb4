#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/gpu-check.sh with the interpreter as the device: the script's own stages run the device tests and the digests on the
kernels' PTX, from a folder of prebuilt programs, and report a kernel with a mistake as it would be on a device. And in the long run
the script builds its programs itself, as on a machine with a device.

usage: test_gpu_check.py SOURCE HALFULP HU_DIGEST_PTX PTX_PLANTED some|all TEST... [-- OPTION_OF_UNITTEST...]
  some: without the digests and the build, which take minutes"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

words = sys.argv[1:sys.argv.index('--')] if '--' in sys.argv else sys.argv[1:]
SOURCE, EVERYTHING, TESTS = pathlib.Path(words[0]), words[4] == 'all', [pathlib.Path(word).resolve() for word in words[5:]]
HALFULP, DIGEST, PLANTED = (pathlib.Path(word).resolve() for word in words[1:4])

# The machine's driver says what the interpreter is; its digests take every 2^24th input, and sums of one format alone.
SMI = 'case "$1" in *name*) echo "PTX interpreter";; *compute_cap*) echo 9.0;; *) echo 0;; esac'
FEWER = '''case " $* " in
*" sum "*) exec {0} "$@" --format float8_e4m3fn;;
*" --stride "*) while [ "$1" != --stride ]; do set -- "$@" "$1"; shift; done; shift 2; exec {0} "$@" --stride 16777259;;
esac
exec {0} "$@"'''


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\n' + text + '\n')
    path.chmod(0o755)


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        script(self.at / 'bin' / 'nvidia-smi', SMI)
        script(self.at / 'pack' / 'hu-digest', FEWER.format("'%s'" % DIGEST))

    def run_script(self, stages, **more):
        """The summary, and the exit status."""
        env = dict(os.environ, PATH='%s:%s' % (self.at / 'bin', os.environ['PATH']), OUT=str(self.at / 'out'), BUILD=str(self.at / 'build'),
                   STAGES=stages, HU_TEST_COUNT='100' if EVERYTHING else '5', HU_LIMITS='tests=3600 digests=3600 build=7200', **more)
        run = subprocess.run([str(SOURCE / 'scripts' / 'gpu-check.sh')], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertNotIn('Traceback', run.stdout)
        summary = (self.at / 'out' / 'summary.txt').read_text()
        self.assertIn('chip: PTX interpreter', summary)
        return summary, run.returncode

    def check(self, stages, tests):
        programs = {'tools': {'halfulp': str(HALFULP), 'hu-digest': '{bin}/hu-digest'},
                    'tests': [{'name': name, 'command': command} for name, command in tests.items()]}
        (self.at / 'pack' / 'programs.json').write_text(json.dumps(programs))
        summary, status = self.run_script(stages, PREBUILT=str(self.at / 'pack'))
        self.assertIn('programs: passed', summary)
        return summary, status

    def read(self, stage):
        return (self.at / 'out' / (stage + '.txt')).read_text()

    def test_device_tests(self):
        summary, status = self.check('tests', {path.name: [str(path)] for path in TESTS})
        self.assertEqual(status, 0, summary + self.read('tests'))
        self.assertIn('tests: passed, %d of %d' % (len(TESTS), len(TESTS)), summary)
        self.assertGreater(len(TESTS), 1)

    def test_a_wrong_kernel(self):
        """The report of the interpreter stands in the file of the stage, and the others run."""
        summary, status = self.check('tests', {'misaligned': [str(PLANTED), 'misaligned'], 'right': [str(TESTS[0])]})
        self.assertEqual(status, 1)
        self.assertIn('misaligned: exit status 99', summary)
        self.assertIn('1 of 2', summary)
        self.assertIn('an address that is not a multiple of 16', self.read('tests'))

    if EVERYTHING:
        def test_digests(self):
            summary, status = self.check('digests', {TESTS[0].name: [str(TESTS[0])]})
            self.assertEqual(status, 0, summary + self.read('digests')[-2000:])
            self.assertIn('digests: passed', summary)

        def test_builds(self):
            """All that a device needs, as the script builds it there. The tests then find no device."""
            summary, status = self.run_script('tests')
            self.assertEqual(status, 1)
            self.assertIn('programs: passed, built for 90', summary, self.read('build')[-2000:])
            self.assertIn('cuda-device-arrays: no device', summary)


unittest.main(argv=[sys.argv[0], *(sys.argv[sys.argv.index('--') + 1:] if '--' in sys.argv else [])])
