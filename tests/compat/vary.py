# SPDX-License-Identifier: MIT
"""The comparisons with other packages on CPUs that have less: each under variables that take vector instructions away from these
packages, so that what depends on the machine is found on one machine.

usage: vary.py BUILD [NAME...]    runs tests/compat/test_NAME.py, all without a name, under each row of VARIANTS

Any failure ends this with 1, and so does a run in which no test passed."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# A variable, its values, and the tests whose packages it reaches (None: all). NumPy's are filled in by numpy_features().
VARIANTS = [
    ('XLA_FLAGS', ['--xla_cpu_max_isa=AVX2', '--xla_cpu_max_isa=AVX'], ['jax']),
    ('ATEN_CPU_CAPABILITY', ['avx2', 'default'], ['torch', 'torchao', 'te', 'bitsandbytes', 'gfloat']),
    ('NPY_DISABLE_CPU_FEATURES', [], None),
    ('OPENBLAS_CORETYPE', ['Haswell', 'Prescott'], None),
]
SKIP = 77


def numpy_features(python):
    """Values of NPY_DISABLE_CPU_FEATURES: what this CPU has of NumPy's dispatched features beyond AVX2, and all of them."""
    code = ('import numpy._core._multiarray_umath as m\n'
            'print(*[f for f in m.__cpu_dispatch__ if m.__cpu_features__.get(f)])')
    features = subprocess.run([python, '-c', code], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    wide = [f for f in features if f.startswith('AVX512') or f == 'X86_V4']
    return [' '.join(part) for part in (wide, features) if part]


def run(python, build, name, variables):
    """"passed", "skipped", or the last lines of a failure."""
    done = subprocess.run([python, '-B', str(HERE / ('test_%s.py' % name)), str(build / 'cli' / 'halfulp')],
                          env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode in (0, SKIP):
        return ('skipped' if done.returncode else 'passed'), done.stdout.strip().split('\n')[-1]
    return 'FAILED', '\n'.join(done.stdout.strip().split('\n')[-12:])


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    own = build / 'venv' / 'bin' / 'python'
    python = os.environ.get('HALFULP_PYTHON') or (str(own) if own.exists() else sys.executable)
    names = sys.argv[2:] or sorted(p.stem[5:] for p in HERE.glob('test_*.py'))
    failed = passed = 0
    for variable, values, reached in VARIANTS:
        values = values or numpy_features(python)
        if not values:
            print('skipped %s: this CPU has none of what it takes away' % variable)
        for value in values:
            for name in names if reached is None else [n for n in names if n in reached]:
                verdict, last = run(python, build, name, {variable: value})
                print('%-7s %s=%s %s: %s' % (verdict, variable, value, name, last), flush=True)
                failed += verdict == 'FAILED'
                passed += verdict == 'passed'
    sys.exit(1 if failed or not passed else 0)


main()
