# SPDX-License-Identifier: MIT
"""The cmocka suites of a folder that emulated.sh has set up for another machine: builds them, runs each under the
emulator, and writes what passed to BUILD/passed.txt, with a digest of the program, so that a run goes on.

usage: emulated.py BUILD [SUITE...]    by default all but those that enumerate, and those that need this machine
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

# Enumerations, which take this machine minutes and an emulator days; and what runs programs of this machine, or must fail.
LONG = ('steps-', 'arith-worlds-', 'accum-reference-', 'small-worlds-', 'function-codes-', 'number-worlds-', 'stochastic',
        'oracle-fuzz', 'function-random', 'function-binary32', 'mma-golden', 'stack')
FOREIGN = ('cuda', 'cli', 'build', 'examples', 'docs', 'compat', 'cross', 'fault')
LIMIT = 14400  # seconds a suite


def configured(build, what):
    return json.loads((build / 'meson-info' / ('intro-' + what + '.json')).read_text())


def chosen(build, wanted):
    """Tests whose program is built for the other machine."""
    tests = [t for t in configured(build, 'tests') if t['cmd'][0].startswith(str(build) + '/tests/')]
    if wanted:
        unknown = set(wanted) - {t['name'] for t in tests}
        if unknown:
            sys.exit('emulated.py: no such suite: ' + ', '.join(sorted(unknown)))
        return [t for t in tests if t['name'] in wanted]
    suites = {t['name']: {s.split(':')[-1] for s in t['suite']} for t in tests}
    return [t for t in tests if not t['name'].startswith(LONG) and not suites[t['name']].intersection(FOREIGN)]


def digest(test):
    whole = hashlib.sha256(pathlib.Path(test['cmd'][0]).read_bytes())
    whole.update('\0'.join(test['cmd'][1:]).encode())
    return whole.hexdigest()[:16]


def run(build, wrapper, test):
    log = build / 'emulated' / (test['name'] + '.log')
    environment = dict(os.environ, **test['env'])
    start = time.monotonic()
    with open(log, 'w') as out:
        try:
            code = subprocess.run(wrapper + test['cmd'], stdout=out, stderr=subprocess.STDOUT, cwd=test['workdir'],
                                  env=environment, timeout=LIMIT, check=False).returncode
        except subprocess.TimeoutExpired:
            code = 'no end after {} s'.format(LIMIT)
    return test, code, time.monotonic() - start, log


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    subprocess.run(['ninja', '-C', build, '--quiet', 'build.ninja'], check=True)  # the tests of the sources as they are now
    tests = chosen(build, sys.argv[2:])
    targets = sorted({os.path.relpath(t['cmd'][0], build) for t in tests})
    print('building {} programs'.format(len(targets)), flush=True)
    subprocess.run(['ninja', '-C', build, '--quiet'] + targets, check=True)
    wrapper = [line for line in (build / 'cross.ini').read_text().split('\n') if line.startswith('exe_wrapper')][0]
    wrapper = json.loads(wrapper.split('=', 1)[1].replace("'", '"'))
    (build / 'emulated').mkdir(exist_ok=True)
    ledger = build / 'passed.txt'
    passed = {}
    if ledger.exists():
        passed = {row.split()[0]: row.split()[1] for row in ledger.read_text().splitlines()}
    left = [t for t in tests if passed.get(t['name']) != digest(t)]
    print('{} suites, {} passed before'.format(len(tests), len(tests) - len(left)), flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('JOBS', os.cpu_count()))) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, build, wrapper, t) for t in left]):
            test, code, seconds, log = done.result()
            failed += code != 0
            print('{:24} {:6.0f} s  {}'.format(test['name'], seconds, 'passed' if code == 0 else 'FAILED ({}): {}'.format(
                code, log)), flush=True)
            if code == 0:
                with open(ledger, 'a') as file:
                    file.write('{} {} {:.0f}\n'.format(test['name'], digest(test), seconds))
    print('{} suites passed, {} failed'.format(len(tests) - failed, failed))
    return failed != 0


sys.exit(main())
