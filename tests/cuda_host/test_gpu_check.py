#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/gpu-check.sh without a device: with programs that only pretend, in a tree of their own, it runs every stage, goes on after one that
fails or hangs, and takes prebuilt programs or builds; and what it builds covers the tests of the device.

usage: test_gpu_check.py SOURCE BUILD SUITE HU_DIGEST HALFULP_HOSTRUN [unittest's options]"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, SUITE, DIGEST, HOSTRUN = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *sys.argv[3:6]
sys.path.insert(0, str(SOURCE / 'scripts'))
import gpu_check  # noqa: E402

SMI = '''case "$1" in *name*) echo "NVIDIA H200";; *compute_cap*) echo 9.0;; *) echo 570.1;; esac'''
PROGRAMS = {
    'halfulp': '''[ "$1" = --version ] && exit ${LIBRARIES:-0}
[ "$1" = identify ] && {
echo '{"verdict": "'${VERDICT:-found}'", "model": "seq(binary32)", "presets": ["a", "b"], "confidence": "sure"}'
exit 0; }
echo "$@" | grep -q instructions && { cat "$OUT/summary.txt" > "$OUT/seen.new"; echo probes agree; exit ${PROBE:-0}; }
echo verified''',
    'hu-digest': '''[ -n "$NOT_HERE" ] && exit 127
echo "hu-digest: on NVIDIA H200" >&2
echo "float8_e4m3fn rne 1 0123456789abcdef"''',
    'bench_device': '''echo "# device: NVIDIA H200, 132 multiprocessors at 1.98 GHz at most"
echo "row,level,threads,unit,figure"
echo '"copy, binary32",sm_90,1,speed GB/s,4221'
echo '"quantize rne, e5m2",sm_90,1,speed / copy,0.88'
exit ${BENCH:-0}''',
    'identify-device': 'exit 1',
    'test_good': 'echo "12 cases"; echo "noise of it"',
    'test_wrong': 'echo "bits differ"; exit 1',
    'test_hangs': 'echo "has begun"; sleep 300; echo "has ended"',
    'test_no_device': 'exit 77'}


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('#!/bin/sh\n' + text + '\n')
    path.chmod(0o755)


class Dry(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.tree, self.out = self.at / 'tree', self.at / 'out'
        for name in ('scripts/gpu-check.sh', 'scripts/gpu_check.py', 'scripts/same_digests.py', 'include/halfulp/status.h',
                     'tests/cuda_host/compare_digests.py', 'bench/measure.py', 'bench/rows.py', 'bench/goals.csv'):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SOURCE / name, self.tree / name)
        (self.tree / 'tests/golden/hw').mkdir(parents=True)
        (self.tree / 'tests/golden/digests.txt').write_text('float8_e4m3fn rne 1 0123456789abcdef\n')
        script(self.at / 'bin/nvidia-smi', SMI)
        script(self.at / 'bin/nvcc', 'echo "Build cuda_13"')
        script(self.at / 'bin/ninja', f'cp -r {self.at}/made/. "$2"; exit ${{NINJA:-0}}')
        script(self.at / 'bin/meson', 'mkdir -p "$2"; echo "$@" > "$2/args"; touch "$2/build.ninja"')

    def pack(self, *tests):
        """A folder of prebuilt programs."""
        for name, text in PROGRAMS.items():
            script(self.at / 'pack' / name, text)
        tools = {name: '{bin}/' + name for name in ('halfulp', 'hu-digest', 'bench_device', 'identify-device')}
        (self.at / 'pack/programs.json').write_text(json.dumps(
            {'tools': tools, 'tests': [{'name': name, 'command': ['{bin}/' + name, '{source}']} for name in tests]}))
        return self.at / 'pack'

    def made(self, *tests):
        """What the pretended ninja puts into the build folder."""
        for name, text in PROGRAMS.items():
            script(self.at / 'made' / {'halfulp': 'cli', 'hu-digest': 'gpu', 'bench_device': 'gpu'}.get(name, 'tests') / name, text)
        intro = [{'name': name, 'suite': ['halfulp:gpu'], 'timeout': 1, 'cmd': [str(self.tree / 'build-gpu/tests' / name)]} for name in tests]
        intro.append({'name': 'other', 'suite': ['halfulp:unit'], 'timeout': 1, 'cmd': ['/bin/false']})
        (self.at / 'made/meson-info').mkdir(parents=True)
        (self.at / 'made/meson-info/intro-tests.json').write_text(json.dumps(intro))

    def test_pack(self):
        """A pack has the programs of a build and the folders that the build made for them, and says both where it is unpacked."""
        self.made('test_good')
        build, intro = self.at / 'made', self.at / 'made/meson-info/intro-tests.json'
        (build / 'tests/gen/golden').mkdir(parents=True)
        (build / 'tests/gen/golden/sums.txt').write_text('a line')
        intro.write_text(json.dumps([{'name': 'good', 'suite': ['halfulp:gpu'], 'cmd': [
            str(build / 'tests/test_good'), str(build / 'tests/gen/golden'), str(SOURCE / 'data'), '7']}]))
        gpu_check.pack(build, self.at / 'pack.tar.xz')
        there = self.at / 'there'
        command = gpu_check.programs_of_pack(self.at / 'pack.tar.xz', there)['tests'][0]['command']
        self.assertEqual(command, [str(there / 'test_good'), str(there / 'golden'), str(SOURCE / 'data'), '7'])
        self.assertEqual((there / 'golden/sums.txt').read_text(), 'a line')

    def check(self, **settings):
        env = {'PATH': f'{self.at}/bin:/usr/bin:/bin', 'OUT': str(self.out), 'HOME': str(self.at), **settings}
        env = {key: value for key, value in env.items() if value is not None}
        run = subprocess.run([str(self.tree / 'scripts/gpu-check.sh')], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertNotIn('Traceback', run.stdout)
        return run

    def read(self, name):
        return (self.out / (name + '.txt')).read_text()

    def test_all_pass(self):
        run = self.check(PREBUILT=str(self.pack('test_good')), HU_WHO='a project')
        self.assertEqual(run.returncode, 0, run.stdout)
        summary = self.read('summary')
        self.assertIn('chip: NVIDIA H200', summary)
        self.assertIn('\nwho: a project\n', summary)
        self.assertIn('\nresult: passed\n', summary)
        order = [line.split(':')[0] for line in summary.split('## stages\n')[1].splitlines()]
        self.assertEqual(order, ['programs', 'probe', 'tests', 'digests', 'bench', 'verify', 'identify', 'result'])
        self.assertIn('tests: passed, 1 of 1', summary)
        self.assertIn('wgmma_tf32 binary32 binary32 16: found; seq(binary32); as a b; sure', self.read('identify'))
        self.assertIn('12 cases', self.read('tests'))
        self.assertIn('1 digests, 1 of them golden, 0 differ', self.read('digests'))
        self.assertLessEqual(len(list(self.out.glob('*.txt'))), 8)
        # While the probe ran, the summary had what was before it.
        self.assertIn('programs: passed', (self.out / 'seen.new').read_text())
        self.assertIn('result: running', (self.out / 'seen.new').read_text())

    def test_goes_on(self):
        """A stage that fails, a test that fails, one that hangs, one without a device: all others run."""
        run = self.check(PREBUILT=str(self.pack('test_wrong', 'test_hangs', 'test_no_device', 'test_good')), PROBE='1',
                         HU_LIMITS='test_hangs=1')
        self.assertEqual(run.returncode, 1)
        summary, tests = self.read('summary'), self.read('tests')
        self.assertIn('probe: FAILED: exit status 1', summary)
        for words in ('test_wrong: exit status 1', 'test_hangs: stopped after 1 s', 'test_no_device: no device', '1 of 4', 'verify: passed',
                      'bench: passed', 'result: failed: probe, tests\n'):
            self.assertIn(words, summary)
        self.assertIn('bits differ', tests)
        self.assertIn('has begun', tests)
        self.assertIn('== test_good: passed', tests)

    def test_stage_hangs(self):
        pack = self.pack('test_good')
        script(pack / 'bench_device', PROGRAMS['test_hangs'])
        run = self.check(PREBUILT=str(pack), HU_LIMITS='bench=1', STAGES='bench verify')
        self.assertEqual(run.returncode, 1)
        self.assertIn('bench: FAILED: stopped after 1 s', self.read('summary'))
        self.assertIn('has begun', self.read('bench'))
        self.assertIn('verify: passed', self.read('summary'))

    def test_sanitizer(self):
        """Each test under each tool, with few cases."""
        script(self.at / 'bin/compute-sanitizer', 'echo "$HU_TEST_COUNT percent under $2"; [ $2 = racecheck ] && exit $4; shift 4; exec "$@"')
        self.assertEqual(self.check(PREBUILT=str(self.pack('test_good')), STAGES='sanitizer').returncode, 1)
        self.assertIn('sanitizer: FAILED: test_good, racecheck: exit status 9, 2 of 3', self.read('summary'))
        for words in ('5 percent under memcheck', '5 percent under racecheck', '5 percent under synccheck', '12 cases'):
            self.assertIn(words, self.read('sanitizer'))

    def test_instruction_not_found(self):
        """A matrix instruction whose model is not found fails the run."""
        self.assertEqual(self.check(PREBUILT=str(self.pack('test_good')), STAGES='identify', VERDICT='nearest').returncode, 1)
        self.assertIn('mma_f16_f32_k16: nearest', self.read('summary'))

    def test_no_boxes(self):
        pack = self.pack('test_good')
        programs = json.loads((pack / 'programs.json').read_text())
        del programs['tools']['identify-device']
        (pack / 'programs.json').write_text(json.dumps(programs))
        self.assertEqual(self.check(PREBUILT=str(pack), STAGES='identify').returncode, 1)
        self.assertIn('there are no boxes', self.read('summary'))

    def test_digest_differs(self):
        (self.tree / 'tests/golden/digests.txt').write_text('float8_e4m3fn rne 1 0000000000000000\n')
        self.assertEqual(self.check(PREBUILT=str(self.pack('test_good')), STAGES='digests').returncode, 1)
        self.assertIn('1 differ', self.read('digests'))

    def test_builds(self):
        """Programs that do not run here, and none: they are built, for the device's architecture, and no warning ends that."""
        self.made('test_good')
        run = self.check(PREBUILT=str(self.pack('test_good')), LIBRARIES='127', STAGES='tests')
        self.assertIn('prebuilt programs: left, they do not run here', self.read('summary'))
        shutil.rmtree(self.out)
        run = self.check(PREBUILT=str(self.pack('test_good')), NOT_HERE='1', STAGES='tests')
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn('prebuilt programs: left, they do not run here', self.read('summary'))
        self.assertIn('programs: passed, built for 90', self.read('summary'))
        self.assertIn('tests: passed, 1 of 1', self.read('summary'))
        arguments = (self.tree / 'build-gpu/args').read_text()
        for word in ('-Dwerror_cuda=false', '-Dgpu_archs=90', '-Dcuda=enabled', '-Dplanted=false'):
            self.assertIn(word, arguments)
        self.assertIn('ninja -C build-gpu -k 0 gpu-check', self.read('build'))

    def test_build_fails(self):
        """In part: what was built runs."""
        self.made('test_good', 'test_was_not_built')
        run = self.check(NINJA='1', STAGES='tests bench')
        self.assertEqual(run.returncode, 1)
        for words in ('programs: FAILED: exit status 1', 'test_was_not_built: cannot start', '1 of 2', 'bench: passed'):
            self.assertIn(words, self.read('summary'))

    def test_nothing_is_built(self):
        (self.at / 'made').mkdir()
        self.assertEqual(self.check(NINJA='1').returncode, 1)
        self.assertIn('tests: FAILED: there are none', self.read('summary'))

    def test_kept(self):
        """Without OUT: the file that is committed, without digests that are golden, and the times that have a goal, in the form of
        all results."""
        pack = self.pack('test_good')
        script(pack / 'halfulp', PROGRAMS['halfulp'].replace('cat "$OUT/summary.txt" > "$OUT/seen.new"; ', ''))
        run = self.check(PREBUILT=str(pack), OUT=None)
        self.assertEqual(run.returncode, 0, run.stdout)
        text = next((self.tree / 'tests/golden/hw').glob('NVIDIA-H200-*.txt')).read_text()
        for words in ('chip: NVIDIA H200', 'who: not said', '## tests', '12 cases', '## probe', '## digests', '## identify', '1 of them golden'):
            self.assertIn(words, text)
        self.assertNotIn('0123456789abcdef', text)
        self.assertTrue(text.endswith('result: passed\n'))
        (self.tree / 'tests/golden/digests.txt').write_text('float8_e4m3fn rna 1 0123456789abcdef\n')
        self.check(PREBUILT=str(pack), OUT=None, STAGES='digests')
        self.assertIn('\nfloat8_e4m3fn rne 1 0123456789abcdef\n', next((self.tree / 'tests/golden/hw').glob('NVIDIA-H200-*.txt')).read_text())
        times = (self.tree / 'bench/results/nvidia-90-h200.csv').read_text()
        self.assertIn('# machine: NVIDIA H200\n# vendor: nvidia\n# family: 90\n# model: h200\n', times)
        self.assertEqual([line.rpartition(',')[0] for line in times.splitlines() if line.startswith('device,')],
                         ['device,"quantize rne, e5m2",sm_90,1,speed / copy,0.88,0.88,1,0.9,no'])

    def test_no_device(self):
        script(self.at / 'bin/nvidia-smi', 'exit 9')
        self.assertEqual(self.check().returncode, 77)
        self.assertFalse(self.out.exists())


def tests_of(build):
    """The tests that need the target; without CUDA their twins on the CPU. Not those of the run on the CPU itself, which have none."""
    everything = json.loads((build / 'meson-info/intro-tests.json').read_text())
    found = [t['cmd'][0] for t in everything if any(s.endswith(':' + SUITE) for s in t['suite'])]
    if SUITE == 'cuda':
        found = [path for path in found if '/test_host_' in path and not path.endswith(('_events', '_order', '_runtime', '_steps'))]
    return {os.path.relpath(path, build) for path in found}


def target_of(build):
    """What the target builds."""
    query = subprocess.run(['ninja', '-C', str(build), '-t', 'query', gpu_check.TARGET], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.strip(' |') for line in query.split('input:')[1].split('outputs:')[0].splitlines()[1:]}


@unittest.skipUnless(SUITE == 'gpu', 'the build has no nvcc')
class Build(unittest.TestCase):
    def test_what_the_script_builds(self):
        """The script's own options and target, of a machine without cmocka: set up, every file that the target needs is there or is
        made, and so is every test of the device. Nothing is compiled: `ptx-gpu-check` does it in make check-exhaustive."""
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder) / 'build'
            env = dict(os.environ, PATH=os.environ['PATH'] + ':/usr/local/cuda/bin')
            for command in (gpu_check.setup_command(build, '90', True), ['ninja', '-C', str(build), '-n', gpu_check.TARGET]):
                run = subprocess.run(command, cwd=SOURCE, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual(run.returncode, 0, run.stdout[-3000:])
            tests, made = tests_of(build), gpu_check.programs_of_build(build)
            self.assertGreater(len(tests), 14)
            self.assertEqual(sorted(tests - target_of(build)), [])
            self.assertGreaterEqual(len(made['tests']), len(tests))
            for path in gpu_check.TOOLS.values():
                if 'cublas' not in path: # built where cuBLAS is found
                    self.assertIn(path, target_of(build))


class Programs(unittest.TestCase):
    def test_target_covers_the_tests(self):
        tests, target = tests_of(BUILD), target_of(BUILD)
        self.assertGreater(len(tests), 14)
        self.assertEqual(sorted(tests - target), [])
        tools = ['cli/halfulp-hostrun', 'gpu/hu-digest-host']
        if SUITE == 'gpu':
            tools = ['cli/halfulp', 'gpu/hu-digest', 'gpu/bench_device', 'tests/cuda_host/identify-device.so']
        self.assertEqual(sorted(set(tools) - target), [])

    def test_part_of_the_cases(self):
        """HU_TEST_COUNT takes that many percent, and nothing but a number."""
        def elements(**more):
            run = subprocess.run([str(BUILD / 'tests/cuda_host/test_host_hadamard')], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 env={**os.environ, **more}, text=True)
            return run.returncode, int((re.findall(r'([0-9]+) elements', run.stdout) or ['0'])[0])
        (status, few), (whole_status, all_of_them) = elements(HU_TEST_COUNT='5'), elements()
        self.assertEqual((status, whole_status), (0, 0))
        self.assertTrue(0 < 5 * few < all_of_them, (few, all_of_them))
        self.assertEqual(elements(HU_TEST_COUNT='5x')[0], 1)

    def first_line(self, *command, **more):
        """Reads one line of a command that has seconds to go, and ends it: it came at once, and not when a buffer was full."""
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **more}, text=True)
        line = run.stdout.readline()
        run.kill()
        run.stdout.close()
        self.assertLess(run.wait(), 0, 'it had ended by then')
        return line

    def test_lines_come_at_once(self):
        self.assertIn('float8_e4m3fn', self.first_line(DIGEST, '--stride', '11', '--format', 'float8_e4m3fn', '--format', 'float8_e5m2'))
        line = self.first_line(HOSTRUN, 'verify', '--only', 'instructions', '--device', 'cuda', '--samples', '100000000', 'nv.hopper', HU_HOST_CAPABILITY='90')
        self.assertIn('device: host-run', line)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
