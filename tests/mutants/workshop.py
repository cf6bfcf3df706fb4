# SPDX-License-Identifier: MIT
"""The copy of the checkout in which lines are changed, its build folder, and runs of tests there."""
import collections
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import suites

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'scripts'))
import source_copy  # noqa: E402

# What a build of the copy leaves out; an option that the tree does not have is passed over.
OPTIONS = {'planted': 'false', 'bench': 'disabled', 'cuda': 'disabled'}
# Most warnings are allowed: that a variable is no longer used is no fault of the line. This one says that the changed line
# has no meaning, and the usual build refuses it.
WARNINGS = '-Dc_args=-Werror=aggressive-loop-optimizations'
LONGEST_BUILD = 3600
Outcome = collections.namedtuple('Outcome', 'passed how seconds')


def _digest(path):
    made = hashlib.sha1()
    with open(path, 'rb') as file:
        for block in iter(lambda: file.read(1 << 20), b''):
            made.update(block)
    return made.hexdigest()


def run(command, limit, log, **more):
    """A command with all that it starts: (exit status, or None when it took longer than the limit; seconds)."""
    start = time.monotonic()
    with open(log, 'wb') as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                   start_new_session=True, **more)
        try:
            status = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:  # also when this run is stopped
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    return status, time.monotonic() - start


class Workshop:
    def __init__(self, source, folder, jobs, say=print):
        self.source, self.folder = pathlib.Path(source).resolve(), pathlib.Path(folder).resolve()
        self.root, self.build = self.folder / 'tree', self.folder / 'tree' / 'build'
        self.jobs, self.say = jobs, say
        self.env = dict(os.environ)
        # A test that compiles takes CC for one program.
        self.test_env = {name: value for name, value in os.environ.items() if name not in ('CC', 'CXX') or ' ' not in value}
        if shutil.which('ccache'):
            self.env.setdefault('CC', 'ccache gcc')
            self.env.setdefault('CXX', 'ccache g++')
            self.env.setdefault('CCACHE_BASEDIR', str(self.root))
            self.env.setdefault('CCACHE_NOHASHDIR', '1')
        self.log = self.folder / 'log.txt'
        self.tests, self.objects, self.signatures, self.seconds, self.fails = [], {}, {}, {}, set()
        self._hashes = {}

    # ---- the copy

    def refresh(self):
        """Makes the copy like the checkout: files that differ are written, files that are gone are removed."""
        self.root.mkdir(parents=True, exist_ok=True)
        names = set(source_copy.names(self.source))
        for name in names:
            here, there = self.source / name, self.root / name
            if here.is_symlink():
                if not there.is_symlink() or os.readlink(there) != os.readlink(here):
                    there.parent.mkdir(parents=True, exist_ok=True)
                    there.unlink(missing_ok=True)
                    there.symlink_to(os.readlink(here))
            elif not there.exists() or there.read_bytes() != here.read_bytes() or os.access(here, os.X_OK) != os.access(there, os.X_OK):
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(here, there)
                there.chmod(here.stat().st_mode)
        for path in list(self.root.rglob('*')):
            name = path.relative_to(self.root)
            if name.parts[0] != 'build' and '__pycache__' not in name.parts and (path.is_file() or path.is_symlink()) \
                    and name.as_posix() not in names:
                path.unlink()

    def undo(self):
        """Puts back the line that a run which was killed has left changed."""
        left = self.folder / 'changed.json'
        if left.exists():
            kept = json.loads(left.read_text())
            (self.root / kept['file']).write_text(kept['text'])
            left.unlink()

    def put(self, file, text):
        """Writes a file of the copy; what stood there is kept until undo()."""
        kept = self.folder / 'changed.json'
        kept.write_text(json.dumps({'file': file, 'text': (self.root / file).read_text()}))
        (self.root / file).write_text(text)

    # ---- the build

    def setup(self):
        if not (self.build / 'build.ninja').exists():
            known = (self.root / 'meson_options.txt').read_text()
            options = ['-D{}={}'.format(name, value) for name, value in OPTIONS.items() if "option('{}'".format(name) in known] + [WARNINGS]
            status, _ = run(['meson', 'setup', str(self.build), str(self.root)] + options, LONGEST_BUILD, self.log, env=self.env)
            if status:
                raise SystemExit('meson setup ended with {}:\n{}'.format(status, self.log.read_text()[-3000:]))

    def make(self, goals):
        """(whether ninja made them, what it said)"""
        done = []
        for i in range(0, len(goals), 400):
            status, _ = run(['ninja', '-C', str(self.build), '-j', str(self.jobs)] + list(goals[i:i + 400]), LONGEST_BUILD,
                            self.log, env=self.env)
            done.append(self.log.read_text(errors='replace'))
            if status != 0:
                return False, done[-1] if status is not None else 'took too long\n' + done[-1]
        return True, ''.join(done)

    def start(self, files):
        """Builds what the tests of these sources need, runs each of these once, and remembers what came out."""
        self.setup()
        ok, said = self.make(['build.ninja'])
        if not ok:
            raise SystemExit('the copy is not configured:\n' + said[-3000:])
        tests = suites.of_build(self.root, self.build)
        if any(file.startswith('python/') for file in files):
            tests += suites.of_python(self.root, self.build, self.python())
        self.tests = suites.wanted(files, tests)
        goals = sorted({goal for test in self.tests for goal in test.goals})
        self.say('{} tests; building {} files without a change'.format(len(self.tests), len(goals)))
        ok, said = self.make(goals)
        if not ok:
            raise SystemExit('the tree does not build without a change:\n' + said[-3000:])
        self.objects = {path: _digest(path) for path in self._objects()}
        self.users = self._users()
        self._try_all()

    def python(self):
        """A Python with what the package's tests import; scripts/python_env.sh makes it."""
        status, _ = run([str(self.root / 'scripts' / 'python_env.sh'), str(self.build)], LONGEST_BUILD, self.log, env=self.env)
        if status:
            raise SystemExit('no Python for python/tests: ' + self.log.read_text()[-2000:])
        return self.build / 'venv' / 'bin' / 'python'

    def _objects(self):
        return [path for path in self.build.rglob('*.o') if 'venv' not in path.parts]

    def _users(self):
        """Each source's objects, as the compilers said."""
        said = subprocess.run(['ninja', '-C', str(self.build), '-t', 'deps'], stdout=subprocess.PIPE, check=True).stdout.decode()
        users, target = {}, None
        for line in said.splitlines():
            if line and not line.startswith(' '):
                target = line.split(':')[0]
            elif line.strip():
                path = (self.build / line.strip()).resolve()
                if self.root in path.parents:
                    users.setdefault(path.relative_to(self.root).as_posix(), set()).add(target)
        return users

    def other_code(self, since):
        """Whether an object made since then is another than that of the unchanged source."""
        return any(path.stat().st_mtime_ns >= since and _digest(path) != self.objects.get(path) for path in self._objects())

    # ---- the tests

    def _hash(self, path):
        """The digest of a file, read again only when it was written again; 0 for none."""
        try:
            at = os.stat(path)
        except OSError:
            return '0'
        key = (at.st_mtime_ns, at.st_size)
        if self._hashes.get(path, (None,))[0] != key:
            self._hashes[path] = (key, _digest(path))
        return self._hashes[path][1]

    def signature(self, test):
        """What a test depends on: its programs, shared libraries of the build, and its scripts."""
        files = [str(self.build / goal) for goal in test.goals]
        files += [word for word in test.command if word.startswith(str(self.root)) and os.path.isfile(word)]
        if not test.goals or test.folder == 'docs':
            return ''
        return hashlib.sha1('\n'.join(self._hash(name) for name in sorted(set(files))).encode()).hexdigest()

    def _try_all(self):
        """Seconds of each test, and whether it passes without a change; known ones are not run again."""
        memory = self.folder / 'tests.json'
        known = json.loads(memory.read_text()) if memory.exists() else {}
        waiting = []
        for test in self.tests:
            self.signatures[test.name] = self.signature(test)
            row = known.get(test.name)
            if not row or row['result'] not in ('OK', 'EXPECTEDFAIL', 'SKIP') or (row['signature'] and row['signature'] != self.signatures[test.name]):
                waiting.append(test)
        if waiting:
            self.say('{} tests run once without a change'.format(len(waiting)))
        for test in [one for one in waiting if one.folder == 'python']:
            out = self.try_test(test, 600)
            known[test.name] = {'result': 'OK' if out.passed else 'SKIP' if 'exit 5' in out.how else 'FAIL',
                                'seconds': out.seconds, 'signature': self.signatures[test.name]}
        names = [one.name for one in waiting if one.folder != 'python']
        for i in range(0, len(names), 20):
            run(['meson', 'test', '-C', str(self.build), '--no-rebuild', '--num-processes', str(self.jobs)] + names[i:i + 20],
                24 * 3600, self.log, env=self.test_env)
            known.update(self._read_log())
            memory.write_text(json.dumps(known, indent=1))
        memory.write_text(json.dumps(known, indent=1))
        for test in self.tests:
            row = known.get(test.name, {'result': 'not run'})
            if row['result'] in ('OK', 'EXPECTEDFAIL'):
                self.seconds[test.name] = row['seconds']
                if row['result'] == 'EXPECTEDFAIL':
                    self.fails.add(test.name)
        left_out = sorted(test.name for test in self.tests if test.name not in self.seconds)
        if left_out:
            self.say('left out, since they do not pass here without a change: ' + ', '.join(left_out))

    def _read_log(self):
        """What meson's last run of tests says."""
        found = {}
        for line in (self.build / 'meson-logs' / 'testlog.json').read_text().splitlines():
            row = json.loads(line)
            name = row['name'].rpartition(' / ')[2]
            if name in self.signatures:
                found[name] = {'result': row['result'], 'seconds': row['duration'], 'signature': self.signatures[name]}
        return found

    def limit(self, test):
        """How long a test may take: ten times what it took, at least half a minute."""
        return max(30, 10 * self.seconds.get(test.name, test.limit))

    def unchanged(self, test):
        """Whether a test would run the very programs that it ran without a change."""
        return self.signatures[test.name] != '' and self.signature(test) == self.signatures[test.name]

    def try_test(self, test, limit):
        env = dict(self.test_env, MALLOC_PERTURB_='165', **test.env)
        status, seconds = run(list(test.command), limit, self.log, cwd=test.workdir, env=env)
        if status is None:
            return Outcome(False, 'timeout', seconds)
        passed = (status != 0) == (test.name in self.fails) or status == 77
        how = 'signal {}'.format(-status) if status < 0 else 'exit {}'.format(status)
        return Outcome(passed, how, seconds)
