#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stages of scripts/gpu-check.sh, which says what it reads from the environment; and what makes programs for it elsewhere.

usage: gpu_check.py run
       gpu_check.py pack BUILD FILE.tar.xz      (after: ninja -C BUILD gpu-check)

Every stage has a limit and a file of its own, which its output goes to at once; the summary is written again after each; a stage that
fails or hangs is noted, and the next one begins. So whatever ends this, what was found until then is there."""
import concurrent.futures
import datetime
import glob
import json
import lzma
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
LIMITS = {'build': 1200, 'probe': 120, 'tests': 90, 'digests': 180, 'bench': 240, 'verify': 120, 'identify': 120, 'sanitizer': 120,
          'cuda-device-large': 240}
TOOLS = {'halfulp': 'cli/halfulp', 'hu-digest': 'gpu/hu-digest', 'bench_device': 'gpu/bench_device',
         'identify-device': 'tests/cuda_host/identify-device.so', 'identify-cublas': 'tests/cuda_host/identify-cublas.so'}
AT_ONCE = 4  # tests on the one device
# What the build is set up with, beside the architecture and lite_tests.
OPTIONS = ['-Dcuda=enabled', '-Dtests=enabled', '-Dbench=disabled', '-Dplanted=false', '-Dwerror_cuda=false']
TARGET = 'gpu-check'
PARTS = {'cuda-device-models': '20'}  # percent of the cases: all of them take minutes, one thread an element
# Functions of examples/identify: FUNCTION, format of A and B, of C and D, products of a question (two instructions, or some steps of
# a kernel), more options.
INSTRUCTIONS = [line.split() for line in '''
mma_f16_f32_k16 binary16 binary32 32
mma_f16_f32_k8 binary16 binary32 16
mma_f16_f16_k16 binary16 binary16 32
mma_f16_f16_k8 binary16 binary16 16
mma_bf16_k16 bfloat16 binary32 32
mma_bf16_k8 bfloat16 binary32 16
mma_tf32_k8 binary32 binary32 16
mma_tf32_k4 binary32 binary32 8
mma_e4m3_f32 float8_e4m3fn binary32 64
mma_e5m2_f32 float8_e5m2 binary32 64
mma_e4m3_f16 float8_e4m3fn binary16 64
mma_e5m2_f16 float8_e5m2 binary16 64
wgmma_f16_f32 binary16 binary32 32
wgmma_f16_f16 binary16 binary16 32
wgmma_bf16 bfloat16 binary32 32
wgmma_tf32 binary32 binary32 16
wgmma_e4m3_f32 float8_e4m3fn binary32 64
wgmma_e5m2_f32 float8_e5m2 binary32 64
wgmma_e4m3_f16 float8_e4m3fn binary16 64
wgmma_e5m2_f16 float8_e5m2 binary16 64'''.strip().splitlines()]
CUBLAS = [line.split() for line in '''
f64 binary64 binary64 16
f32 binary32 binary32 16
tf32 binary32 binary32 32
f16_f32 binary16 binary32 64
f16_f16 binary16 binary16 64
bf16_f32 bfloat16 binary32 64
bf16_f32 bfloat16 binary32 64 --without-c
bf16_bf16 bfloat16 bfloat16 64 --without-c
s8_s32 s8 s32 64
e4m3_f32 float8_e4m3fn binary32 256 --without-c
e4m3_f32_fast float8_e4m3fn binary32 256 --without-c'''.strip().splitlines()]
TELLING = re.compile(r': on |skipped|ERROR|LINE|[0-9] [a-z]+|^[a-z0-9-]+ [0-9a-f]{16}$')


def setting(name, default):
    return os.environ.get(name) or default


def limit(*names):
    """Seconds for a stage or one of its tests: the first name that HU_LIMITS has, else the usual."""
    given = dict(word.split('=') for word in setting('HU_LIMITS', '').split())
    return float(next((given[name] for name in names if name in given), LIMITS.get(names[0], LIMITS[names[-1]])))


def first_line(*command):
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ''
    return next((line.strip() for line in run.stdout.splitlines() if line.strip()), '')


def smi(what):
    return first_line('nvidia-smi', '--query-gpu=' + what, '--format=csv,noheader')


def last_line(*command):
    try:
        lines = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.split('\n')
    except OSError:
        return ''
    return next((line for line in reversed(lines) if line), '')


def setup_command(build, arch, lite):
    """What sets a build folder up as for a device of this compute capability; lite: without cmocka."""
    return ['meson', 'setup', str(build), *OPTIONS, f'-Dlite_tests={str(lite).lower()}', f'-Dgpu_archs={arch}']


# ---- programs: {"tools": {NAME: PATH}, "tests": [{"name", "command"}]} ----

def programs_of_build(build):
    """Those of a build folder, in the order in which its meson.build files list the tests."""
    build = pathlib.Path(build).resolve()
    tests = [{'name': t['name'], 'command': [str(word) for word in t['cmd']]} for t in json.loads((build / 'meson-info/intro-tests.json').read_text())
             if any(s.endswith('gpu') for s in t['suite'])]
    return {'tools': {name: str(build / path) for name, path in TOOLS.items() if (build / path).exists()}, 'tests': tests}


def pack(build, file):
    """Stripped executables and what they are called with, folders that the build made, too; {bin} and {source} are
    replaced where they run."""
    build = pathlib.Path(build).resolve()
    programs = programs_of_build(build)
    with tempfile.TemporaryDirectory() as folder:
        def taken(path):
            to = pathlib.Path(folder) / pathlib.Path(path).name
            if pathlib.Path(path).is_dir():
                shutil.copytree(path, to, dirs_exist_ok=True)
            elif not to.exists():
                shutil.copy2(path, to)
                if shutil.which('strip'):
                    subprocess.run(['strip', str(to)])
            return '{bin}/' + to.name
        programs['tools'] = {name: taken(path) for name, path in programs['tools'].items()}
        for test in programs['tests']:
            words = [os.path.normpath(word) if word.startswith('/') else word for word in test['command']]
            test['command'] = [taken(words[0])] + [taken(word) if word.startswith(f'{build}/') else word.replace(str(SOURCE), '{source}')
                                                   for word in words[1:]]
        (pathlib.Path(folder) / 'programs.json').write_text(json.dumps(programs, indent=1) + '\n')
        # One stream with a wide window: the same kernels are in many of the executables.
        filters = [{'id': lzma.FILTER_LZMA2, 'preset': 6, 'dict_size': 1 << 28}]
        with lzma.open(file, 'wb', filters=filters) as out, tarfile.open(fileobj=out, mode='w') as tar:
            tar.add(folder, arcname='.')
    print(f'{file}: {os.path.getsize(file) / 2 ** 20:.1f} MiB, {len(programs["tests"])} tests')


def programs_of_pack(file, folder):
    """The programs of a pack unpacked into the folder; file may be a folder that is one already."""
    if os.path.isdir(file):
        folder = file
    else:
        with tarfile.open(file) as tar:
            tar.extractall(folder)
    text = (pathlib.Path(folder) / 'programs.json').read_text()
    quoted = [json.dumps(str(pathlib.Path(p).resolve()))[1:-1] for p in (folder, SOURCE)]
    return json.loads(text.replace('{bin}', quoted[0]).replace('{source}', quoted[1]))


def complete(programs):
    """Whether the programs find their libraries here, and the device: a kernel of theirs gives a digest."""
    tools = programs['tools']
    if not programs['tests'] or not {'halfulp', 'hu-digest'} <= set(tools):
        return False
    digest = [tools['hu-digest'], '--device', 'cuda', '--limit', '1', '--format', 'float8_e4m3fn', '--mode', 'rne']
    try:
        return all(subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode == 0
                   for command in (digest, [tools['halfulp'], '--version']))
    except (OSError, subprocess.TimeoutExpired):
        return False


# ---- running ----

RUNNING = set()


def end(number, frame):
    """Ended from outside: nothing that was started stays."""
    for pid in list(RUNNING):
        os.killpg(pid, signal.SIGKILL)
    os._exit(128 + number)


def execute(command, seconds, out, env=None):
    """Runs it with its output going into the open file; what went wrong, or ''. At the limit all it started ends with it."""
    print('$ ' + shlex.join(map(str, command)), file=out, flush=True)
    try:
        run = subprocess.Popen([str(word) for word in command], cwd=SOURCE, stdout=out, stderr=subprocess.STDOUT, env=env,
                               stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as e:
        return f'cannot start: {e.strerror}'
    RUNNING.add(run.pid)
    try:
        status = run.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        return f'stopped after {seconds:g} s'
    finally:
        RUNNING.discard(run.pid)
    return f'exit status {status}' if status else ''


def with_cublas():
    """The environment with the folders of cuBLAS in LD_LIBRARY_PATH: the one beside nvcc, and those of Python's packages."""
    nvcc = last_line('nvcc', '--version') and shutil.which('nvcc')
    places = [os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), 'lib64')] if nvcc else []
    for path in sys.path:
        places += glob.glob(os.path.join(path, 'nvidia', 'cu[0-9]*', 'lib')) + glob.glob(os.path.join(path, 'nvidia', 'cublas', 'lib'))
    return {**os.environ, 'LD_LIBRARY_PATH': ':'.join([p for p in [os.environ.get('LD_LIBRARY_PATH')] + places if p])}


def failing(z):
    """The question that the nearest model gets wrong, from an answer of `halfulp identify --json`."""
    if not z.get('failing'):
        return ''
    words = ' '.join(re.sub('(00)+$', '..', word) for word in z['failing'].split())
    return f'fails on {words}: {z["box"]["code"]} for {z.get("other", {}).get("code", "another answer")}'


class Check:
    def __init__(self, build, out):
        self.build, self.out, self.failed, self.lines = build, pathlib.Path(out), [], []
        self.out.mkdir(parents=True, exist_ok=True)
        self.began = time.monotonic()
        self.programs = None

    def write(self, result='running'):
        text = '\n'.join(self.header + ['## stages'] + self.lines + ['result: ' + result]) + '\n'
        new = self.out / 'summary.new'
        new.write_text(text)
        new.replace(self.out / 'summary.txt')

    def note(self, stage, wrong, more=''):
        line = f'{stage}: {"FAILED: " + wrong if wrong else "passed"}{", " + more if more else ""}'
        self.lines.append(f'{line} ({time.monotonic() - self.began:.0f} s)')
        if wrong:
            self.failed.append(stage)
        print('gpu-check: ' + self.lines[-1], flush=True)
        self.write()

    def file(self, stage, mode='w'):
        return open(self.out / (stage + '.txt'), mode)

    def tail(self, stage):
        lines = (self.out / (stage + '.txt')).read_text(errors='replace').splitlines()
        return lines[-1] if lines else ''

    # -- stages --

    def head(self):
        version = re.search(r'VERSION_STRING "(.*)"', (SOURCE / 'include/halfulp/status.h').read_text()).group(1)
        commit = first_line('git', '-C', str(SOURCE), 'rev-parse', 'HEAD') or 'no commit'
        self.header = ['# halfulp on a device: tests/golden/hw/README.md', 'chip: ' + smi('name'), 'driver: ' + smi('driver_version'),
                       'clock: ' + smi('clocks.max.sm') + ' at most',
                       'nvcc: ' + (last_line('nvcc', '--version') or 'none'),
                       'compiler: ' + (first_line('cc', '--version') or 'none'), f'halfulp: {version}, {commit}',
                       'who: ' + setting('HU_WHO', 'not said'),
                       'date: ' + datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%MZ')]
        self.write()

    def prepare(self):
        """Programs that run here: those given, else built here for this device alone."""
        given = setting('PREBUILT', '')
        if given:
            try:
                programs = programs_of_pack(given, self.build + '-pack')
                if complete(programs):
                    self.programs = programs
                    return self.note('programs', '', 'prebuilt')
                why = 'they do not run here'
            except (OSError, ValueError, KeyError, tarfile.TarError, lzma.LZMAError) as e:
                why = str(e)
            self.lines.append(f'prebuilt programs: left, {why}')
        lite = subprocess.run('pkg-config --exists cmocka', shell=True, stderr=subprocess.DEVNULL).returncode != 0
        arch = setting('HU_ARCH', smi('compute_cap').replace('.', '')) or '90'
        setup = setup_command(self.build, arch, lite)
        with self.file('build') as out:
            there = os.path.exists(os.path.join(self.build, 'build.ninja'))
            wrong = '' if there else execute(setup, limit('build'), out)
            wrong = wrong or execute(['ninja', '-C', self.build, '-k', '0', TARGET], limit('build'), out)
        try:
            self.programs = programs_of_build(self.build)
        except (OSError, ValueError):
            self.programs = {'tools': {}, 'tests': []}
        self.note('programs', wrong, f'built for {arch}')

    def tool(self, stage, name, *arguments, env=None):
        """A stage of one command; its output is the stage's file."""
        if name not in self.programs['tools']:
            return self.note(stage, f'there is no {name}')
        with self.file(stage) as out:
            wrong = execute([self.programs['tools'][name], *arguments], limit(stage), out, env)
        self.note(stage, wrong, self.tail(stage))

    def probe(self):
        self.tool('probe', 'halfulp', 'verify', '--only', 'instructions', '--device', 'cuda', '--golden', 'tests/golden',
                  '--samples', setting('HU_PROBES', '200000'))

    def identified(self, tool, case, tile):
        """The answer of `halfulp identify` about a function, in one line, and what went wrong."""
        function, operands, result, k, *more = case
        command = [self.programs['tools']['halfulp'], 'identify', '--json', '--golden', 'tests/golden', '--fa', operands, '--fd', result,
                   '--k', k, '--gemm', '--tile', tile, '--library', self.programs['tools'][tool], '--function', function, *more]
        began = time.monotonic()
        with tempfile.TemporaryFile('w+', errors='replace') as out:
            wrong = execute(command, limit(function, 'identify'), out, with_cublas())
            out.seek(0)
            text = out.read()
        try:
            z = json.loads(text[text.index('\n{'):])
        except ValueError:
            return f'{" ".join(case)}: {wrong or "no answer"}\n{text}', wrong or 'no answer'
        words = [z['verdict'], z.get('model') or '', 'as ' + ' '.join(z['presets']) if z.get('presets') else '', z.get('tree') or '',
                 z.get('confidence') or '', failing(z), f'{time.monotonic() - began:.1f} s']
        return f'{" ".join(case)}: {"; ".join(word for word in words if word)}\n', '' if z['verdict'] == 'found' else z['verdict']

    def identify(self):
        """Every matrix instruction as a black box: its model must be found. Products of cuBLAS: whatever is found is written down."""
        cases = [(tool, case, tile) for tool, list_of, tile in (('identify-device', INSTRUCTIONS, '256'), ('identify-cublas', CUBLAS, '64'))
                 for case in list_of if tool in self.programs['tools']]
        wrong = []
        with self.file('identify') as out, concurrent.futures.ThreadPoolExecutor(2 * AT_ONCE) as pool:
            running = {pool.submit(self.identified, *case): case for case in cases}
            for done in concurrent.futures.as_completed(running):
                line, why = done.result()
                print(line, end='', file=out, flush=True)
                if why and running[done][0] == 'identify-device':
                    wrong.append(f'{running[done][1][0]}: {why}')
        self.note('identify', '; '.join(wrong) if cases else 'there are no boxes', f'{len(cases)} functions')

    def one_test(self, test, before=()):
        with tempfile.TemporaryFile('w+', errors='replace') as out:
            part = {'HU_TEST_COUNT': os.environ.get('HU_TEST_COUNT') or PARTS.get(test['name'], '100')}
            wrong = execute([*before, *test['command']], limit(test['name'], 'sanitizer' if before else 'tests'), out, {**os.environ, **part})
            out.seek(0)
            # A test that found no device is no pass here.
            return test['name'], 'no device' if wrong == 'exit status 77' else wrong, out.read()

    def each_test(self, stage, tests, at_once, before=()):
        wrong = []
        with self.file(stage) as out, concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for done in concurrent.futures.as_completed([pool.submit(self.one_test, test, before) for test in tests]):
                name, why, text = done.result()
                if not why:
                    text = ''.join(line for line in text.splitlines(True) if TELLING.search(line))
                print(f'== {name}: {why or "passed"}\n{text}', end='', file=out, flush=True)
                if why:
                    wrong.append(f'{name}: {why}')
        self.note(stage, '; '.join(wrong) if tests else 'there are none', f'{len(tests) - len(wrong)} of {len(tests)}')

    def tests(self):
        self.each_test('tests', self.programs['tests'], AT_ONCE)

    def digests(self):
        stride, golden = setting('HU_STRIDE', '1'), 'tests/golden/digests.txt'
        tool = self.programs['tools'].get('hu-digest')
        if not tool:
            return self.note('digests', 'there is no hu-digest')
        with self.file('digests') as out:
            wrong = [execute([tool, '--device', 'cuda', '--stride', stride], limit('digests'), out)]
            wrong.append(execute([tool, '--device', 'cuda', '--mode', 'sum', '--stride', '16', '--check', golden], limit('digests'), out))
            # And device against CPU here, on every 1009th input, whether or not there is a golden file.
            wrong.append(execute(['python3', 'tests/cuda_host/compare_digests.py', tool, '--stride', '1009'], limit('digests'), out))
            if stride in ('1', '4096', '4099'):
                lines = [line for line in (self.out / 'digests.txt').read_text().splitlines() if re.fullmatch(r'(\S+ ){2}[0-9]+ \S+', line)]
                with tempfile.NamedTemporaryFile('w', suffix='.txt') as found:
                    found.write('\n'.join(lines) + '\n')
                    found.flush()
                    wrong.append(execute(['python3', 'scripts/same_digests.py', golden, found.name], limit('digests'), out))
            else:
                print(f'nothing golden to compare with: {golden} has strides 1, 4096 and 4099', file=out)
        wrong = '; '.join(w for w in wrong if w)
        self.note('digests', wrong, self.tail('digests'))

    def bench(self):
        self.tool('bench', 'bench_device', env=with_cublas())

    def verify(self):
        self.tool('verify', 'halfulp', 'verify', '--only', 'device', '--device', 'cuda', '-j', str(os.cpu_count()))

    def sanitizer(self):
        """compute-sanitizer over the tests with few repetitions: memory, then shared memory, then barriers."""
        tool = shutil.which('compute-sanitizer')
        if not tool:
            return self.note('sanitizer', 'no compute-sanitizer on the PATH')
        os.environ.setdefault('HU_TEST_COUNT', '5')
        self.each_test('sanitizer', [dict(test, name=f'{test["name"]}, {kind}', command=[tool, '--tool', kind, '--error-exitcode', '9',
                       *test['command']]) for kind in ('memcheck', 'racecheck', 'synccheck') for test in self.programs['tests']], AT_ONCE,
                       before=('env',))

    def text(self, stage):
        path = self.out / (stage + '.txt')
        return f'## {stage}\n{path.read_text(errors="replace")}' if path.exists() else ''


def run():
    build, given = setting('BUILD', 'build-gpu'), setting('OUT', '')
    os.chdir(SOURCE)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    check = Check(build, given or build + '-results')
    check.head()
    check.prepare()
    for stage in setting('STAGES', 'probe tests digests bench verify identify').split():
        try:
            getattr(check, stage)()
        except Exception as e:  # the next stage may still tell something
            check.note(stage, f'{type(e).__name__}: {e}')
    check.write('failed: ' + ', '.join(check.failed) if check.failed else 'passed')
    if not given:
        keep(check)
    print((check.out / 'summary.txt').read_text().splitlines()[-1], f'(see {check.out})')
    return 1 if check.failed else 0


def keep(check):
    """One file of results for the chip and the day, and its times among those of all machines."""
    chip = re.sub('[^A-Za-z0-9-]', '', re.sub('[ /]', '-', smi('name')))
    name = f'{chip}-{datetime.date.today():%Y-%m-%d}'
    summary = (check.out / 'summary.txt').read_text()
    parts = ''.join(check.text(stage) for stage in ('tests', 'verify', 'probe', 'digests', 'identify'))
    known = set((SOURCE / 'tests/golden/digests.txt').read_text().splitlines())
    parts = ''.join(line for line in parts.splitlines(True) if line.rstrip('\n') not in known)
    head, result = summary.rsplit('result: ', 1)
    (SOURCE / 'tests/golden/hw' / (name + '.txt')).write_text(f'{head}{parts}result: {result}')
    printed = [line for line in check.text('bench').splitlines() if line.startswith(('row,', '"'))]
    if printed:
        keep_times('\n'.join(printed), dict(line.split(': ', 1) for line in check.header[1:]))


def keep_times(printed, about):
    """The rows of bench_device that have a goal: bench/results/nvidia-CAPABILITY-CHIP.csv, in the form of bench/README.md."""
    sys.path.insert(0, str(SOURCE / 'bench'))
    import measure
    import rows as table
    day, commit = about['date'][:10], about['halfulp'].split(', ')[1][:7]
    made = measure.merge([('device', printed)], f'{day} {commit}')
    table.judge(made, table.read_goals(), [])
    model = re.sub('[^a-z0-9]+', '-', about['chip'].lower().removeprefix('nvidia '))
    machine = {'machine': about['chip'], 'vendor': 'nvidia', 'family': smi('compute_cap').replace('.', ''), 'model': model, 'flags': '',
               'date': day, 'compiler': about['nvcc'], 'commit': commit, 'driver': about['driver'], 'clock': about['clock']}
    results = SOURCE / 'bench/results'
    results.mkdir(parents=True, exist_ok=True)
    table.write_results(results / f'nvidia-{machine["family"]}-{model}.csv', machine, [row for row in made if row['goal']])


if __name__ == '__main__':
    if sys.argv[1:] == ['run']:
        sys.exit(run())
    if len(sys.argv) == 4 and sys.argv[1] == 'pack':
        sys.exit(pack(sys.argv[2], sys.argv[3]))
    sys.exit(__doc__)
