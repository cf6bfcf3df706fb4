# SPDX-License-Identifier: MIT
"""The programs of examples/torch against the installed libraries, and the calls for CUDA tensors on kernels that run on
the processor:

    test_torch.py SOURCE_ROOT BUILD_ROOT LIBRARY_OF_THOSE_KERNELS some|all     some: without the papers' claims

The Python is BUILD_ROOT/venv's where it has torch, else the one that runs this; 77 where neither has.
"""
import json
import pathlib
import re
import subprocess
import sys

import staged

SYSTEMS = {'float32': 0.75, 'FP8, sums in binary16': 0.75, 'MX, 4-bit weights': 0.75,
           'Hopper FP8, bfloat16 masters': 0.75}


def sanitized(build):
    """Whether the libraries want a sanitizer's runtime, which an ordinary Python has not."""
    options = json.loads((build / 'meson-info' / 'intro-buildoptions.json').read_text())
    return any(option['name'] == 'b_sanitize' and option['value'] not in ('none', []) for option in options)


def lines(command, env):
    print('$', *command, flush=True)
    said = subprocess.run(command, env=env, stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    print(said, flush=True)
    return said.splitlines()


def table(command, env, pattern):
    """What a program prints of each row behind the paper's claim: {name: numbers}."""
    said = lines(command, env)
    assert said[0].startswith('The paper: '), said
    return {m.group(1): tuple(map(float, m.groups()[1:])) for m in (re.fullmatch(pattern, line) for line in said) if m}


def papers(python, folder, data, env):
    """Each claim that is printed must be seen in the figures beside it."""
    rows = table([python, str(folder / 'assignment.py'), data], env,
                 r'(.*?) +R2 (-?[0-9.]+)  low elements ([0-9.]+)  promoted (\d+)  aggregate (\d+) kbit of (\d+)')
    assert len(rows) == 7 and rows['uniform'] == rows['theirs, r = 1, no promotion'], rows
    ruined, repaired, half = (rows[name] for name in ('uniform', 'theirs, r = 1', 'theirs, r = 0.5'))
    assert ruined[0] < 0 < 0.6 < min(rows['all high'][0], repaired[0], half[0]), rows
    assert repaired[1] > 0.99 * ruined[1] and repaired[2] == 2 and 0.5 <= half[1] < 0.7, rows
    rows = table([python, str(folder / 'updates.py'), data], env,
                 r'(.*?) +loss ([0-9.]+)  right ([0-9.]+)  updates lost ([0-9.]+)')
    masters, nearest = rows['bfloat16, float32 weights'], rows['bfloat16, to nearest']
    assert len(rows) == 5 and nearest[0] > 1.5 * masters[0] and nearest[2] > 0.8, rows
    for name in ('bfloat16, stochastic', 'bfloat16, Kahan'):
        assert abs(rows[name][0] / masters[0] - 1) < 0.02, rows
    rows = table([python, str(folder / 's2fp8.py'), data], env, r'(.*?) +right ([0-9.]+)  gradients .* ([0-9.]+)')
    assert len(rows) == 3 and rows['FP8 (E5M2), no scale'][0] < 0.5 and rows['FP8 (E5M2), no scale'][1] > 0.5, rows
    assert rows['S2FP8'][0] > rows['float32'][0] - 0.03 and rows['S2FP8'][1] < 0.1, rows


def main():
    source, build, kernels = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    if sanitized(build):
        print('skipped: libraries with a sanitizer are not loaded by an ordinary Python')
        sys.exit(77)
    python = staged.python_with_torch(build)
    copy = staged.Staged(build)
    env = copy.environment(HALFULP_LIBRARY=str(copy.libdir), PYTHONPATH=str(source / 'python'),
                           PYTHONDONTWRITEBYTECODE='1')
    command = [python, str(source / 'examples' / 'torch' / 'digits.py'), str(source / 'data'), '--epochs', '2']
    seen = {}
    for line in lines(command + ['--threads', '2'], env):
        name, right, rest = re.fullmatch(r'(.*?) +right ([0-9.]+)  (.*)', line).groups()
        seen[name] = line
        assert float(right) >= SYSTEMS[name], line
        inexact, lost = map(int, re.search(r'(\d+) inexact x, (\d+) underflows', rest).groups())
        assert (inexact > 0) == (lost > 0) == (name != 'float32'), line
    assert set(seen) == set(SYSTEMS), seen
    assert lines(command + ['--threads', '1', '--only', 'MX'],
                 env) == [seen['MX, 4-bit weights']], 'another number of threads'
    if sys.argv[4] == 'all':
        papers(python, source / 'examples' / 'torch', str(source / 'data'), env)
    calls = str(source / 'python' / 'tests' / 'with_torch' / 'test_torch_device.py')
    said = lines([python, '-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', calls],
                 dict(env, HALFULP_CUDA_ON_HOST=str(kernels)))
    assert re.search(r'\b[34][0-9] passed', said[-1]), said[-1]


main()
