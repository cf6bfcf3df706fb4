# SPDX-License-Identifier: MIT
"""The wheel of the Python package: made from this build's libraries, installed in an environment of its own, tried.

    test_python.py SOURCE_ROOT BUILD_ROOT quick|all      quick: without the tests that are marked as long

examples/python runs as a user runs it, and python/tests against what was installed.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

import staged

SOURCE, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
WORK = BUILD / 'tests' / 'examples' / 'python'


def say(text, start):
    print('{:6.1f} s  {}'.format(time.monotonic() - start, text), flush=True)


def run(command, **more):
    print('$', ' '.join(str(word) for word in command), flush=True)
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, **more)
    if done.returncode:
        print(done.stdout)
        raise SystemExit('{} ended with {}'.format(command[0], done.returncode))
    return done.stdout


def environment():
    """A user's: nothing of this build in it but the command, which would be on PATH."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(('HALFULP', 'PYTHON',
        'PKG_CONFIG', 'LD_LIBRARY'))}
    return dict(kept, PYTHONDONTWRITEBYTECODE='1', MPLBACKEND='Agg', MPLCONFIGDIR=str(WORK), HALFULP_SOURCE=str(SOURCE),
                HALFULP_COMMAND=str(BUILD / 'cli' / 'halfulp'))


def sanitizer():
    options = json.loads((BUILD / 'meson-info' / 'intro-buildoptions.json').read_text())
    value, = (option['value'] for option in options if option['name'] == 'b_sanitize')
    return None if value in ('none', []) else value


def base():
    made = subprocess.run([str(SOURCE / 'scripts' / 'python_env.sh'), str(BUILD)])
    if made.returncode:
        raise SystemExit(made.returncode)
    return BUILD / 'venv' / 'bin'


def wheel(env):
    """Made as a user's `pip install .` makes it, but that the libraries are there already."""
    run([SOURCE / 'scripts' / 'packages' / 'wheel.sh', BUILD, WORK / 'wheel'], env=env)
    made, = (WORK / 'wheel').glob('*.whl')
    assert made.name.endswith('-py3-none-linux_{}.whl'.format(os.uname().machine)), made.name
    return made


def layer(tools, made, env):
    """An environment with the wheel alone; what tests import beside it is read from the base's."""
    place = WORK / 'layer'
    run([tools / 'python', '-m', 'venv', '--clear', '--without-pip', place], env=env)
    packages, = place.glob('lib/python3*/site-packages')
    base_packages, = tools.parent.glob('lib/python3*/site-packages')
    (packages / 'base.pth').write_text(str(base_packages) + '\n')
    run([tools / 'pip', '--disable-pip-version-check', '--python', place / 'bin' / 'python', 'install', '--no-deps',
         '--no-index', made], env=env)
    return place / 'bin' / 'python'


def installed(python, env):
    said = run([python, '-c',
                'import halfulp._abi as a; print(a.__file__); [print(f()._name) for f in (a.main, a.train, a.cuda)]'],
               env=env, cwd=str(WORK))
    assert said.count(str(WORK / 'layer')) == 4, said
    print(said, end='')


def from_the_source(python):
    """The package as it stands in the source, with an installed library that pkg-config finds."""
    copy = staged.Staged(BUILD)
    env = copy.environment(PYTHONPATH=str(SOURCE / 'python'), PYTHONDONTWRITEBYTECODE='1')
    for name in ('HALFULP_PREFIX', 'LD_LIBRARY_PATH'):
        env.pop(name, None)
    said = run([python, '-c',
                'import halfulp, halfulp._abi as a; print(halfulp.__file__, a.main()._name, a.train()._name)'], env=env)
    assert str(SOURCE / 'python') in said and said.count(str(copy.root)) == 2, said
    print(said, end='')


def main():
    start = time.monotonic()
    WORK.mkdir(parents=True, exist_ok=True)
    if sanitizer():
        print('python: libraries built with -fsanitize={} are not loaded by an ordinary Python'.format(sanitizer()))
        raise SystemExit(77)
    tools, env = base(), environment()
    say('environment', start)
    made = wheel(env)
    say('wheel: {}, {} bytes'.format(made.name, made.stat().st_size), start)
    python = layer(tools, made, env)
    installed(python, env)
    from_the_source(python)
    say('installed', start)
    for script in sorted((SOURCE / 'examples' / 'python').glob('*.py')):
        print(run([python, script], env=env, cwd=str(WORK)), end='')
        say(script.name, start)
    if sys.argv[3] == 'quick':
        env['HALFULP_QUICK'] = '1'
    said = run([python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-rs', '--durations=5',
                SOURCE / 'python' / 'tests'], env=env, cwd=str(WORK))
    print(said)
    say('tests', start)


main()
