# SPDX-License-Identifier: MIT
"""Proves that every elementary function's y is as near to the real value as the rounding test of emu/arith/function_quick.h supposes.

usage: prove.py SOURCE_ROOT [--times FILE] [FUNCTION ...]      one line a function, then one a polynomial; and to FILE, as ../prove.py
       prove.py SOURCE_ROOT --planted [FUNCTION ...]   the same with each wrong line of planted.txt, which must not be proved

The constants and the order of operations come from the C text. Needs gappa and sollya.
"""
import argparse
import math
import pathlib
import re
import subprocess
import sys
import time
from fractions import Fraction

sys.dont_write_bytecode = True
import functions  # noqa: E402
import polynomials  # noqa: E402
import power  # noqa: E402
import shortcuts  # noqa: E402
from gappa import NotProved  # noqa: E402
from kernels import HEADERS, UNIT, Errors  # noqa: E402
from steps import Drift  # noqa: E402

USES = {'exp': ['expm1'], 'exp2': ['expm1'], 'expm1': ['expm1'], 'log': ['log'], 'log2': ['log'], 'log1p': ['log'], 'sin': ['sin', 'cos'],
        'cos': ['sin', 'cos'], 'tanh': ['expm1'], 'sigmoid': ['expm1'], 'erf': ['erf', 'expm1', 'erfc'], 'gelu': ['expm1', 'erfc'],
        'rsqrt': [], 'reciprocal': [], 'pow': ['log_rest', 'expm1']}
PROOFS = {name: getattr(functions, name, power.power) for name in USES}
known = {}  # polynomial's error by its text, so that planted lines elsewhere do not measure it again


def log2(x):
    """Upward to a hundredth, as text."""
    n = x.numerator.bit_length() - x.denominator.bit_length()
    value = n + math.log2(float(x / Fraction(2) ** n))
    return f'2^{math.ceil(value * 100) / 100:.2f}'


def read(root):
    texts = [(root / f'emu/arith/{name}.h').read_text() for name in HEADERS]
    return texts, (root / 'emu/arith/function_loops.c').read_text(), (root / 'emu/arith/function_one.h').read_text()


def reach(texts, one):
    """What the test supposes: |y - f| <= this |y|. A number of 53 digits has units of more than 2^-53 of itself."""
    m = re.search(r'uint64_t u = hui_pattern64\(y\), reach = (\d+), low = \(u - reach\) >> HU_QUICK_SPARE;', texts[1])
    same = re.search(r'q\.known = fit & \(low == \(u \+ reach\) >> HU_QUICK_SPARE\);', texts[1])
    spare = re.search(r'HU_QUICK_SPARE = (\d+)', texts[1])
    digits = re.search(r'if \(s->m \+ 2 \+ \(s->round >= HU_SRA \? s->bits : 0\) > (\d+) \|\|', one)
    if not (m and same and spare and digits):
        raise Drift('the rounding test is written otherwise')
    if int(digits[1]) + 1 > 53 - int(spare[1]):
        raise Drift('a rounding looks at more digits than the test leaves')
    return int(m[1]) * UNIT


def measured(texts, name):
    body = re.search(r'HU_FN double hui_polynomial_%s\(.*?\n\}' % name, texts[0], re.S)[0]
    key = name, body, re.search(r'#define HU_ERFC_SCALE \S+', texts[0])[0] if name == 'erfc' else ''
    if key not in known:
        error = polynomials.measured(texts, [name])[name]
        claim = polynomials.claims(texts[0])[name]
        known[key] = error, claim
    error, claim = known[key]
    if error > claim:
        raise NotProved(f'the polynomial of {name} is off by {log2(error)}, not below {log2(claim)} as it says')
    return error


def prove(source, name):
    """(error of y, bound, the parts' errors); raises NotProved or Drift."""
    texts, loops, one = source
    bound = reach(texts, one)
    shortcuts.check(texts, name)
    errors = Errors(texts, {p: measured(texts, p) for p in USES[name]})
    errors.loops = loops
    error = PROOFS[name](errors)
    if error / (1 - error) > bound:
        raise NotProved(f'{name}: proved {log2(error)}, and the rounding test supposes {log2(bound)}')
    return error, bound, errors.rounding


def planted(root, source, names):
    wrong = 0
    for line in (pathlib.Path(__file__).parent / 'planted.txt').read_text().split('\n'):
        if not line or line.startswith('#'):
            continue
        which, file, old, new = [part.strip() for part in line.split('|')]
        if names and not set(which.split()) & set(names):
            continue
        texts, loops, one = source
        place = {'polynomials': 0, 'quick': 1}.get(file)
        text = texts[place] if place is not None else loops
        if text.count(old) < 1:
            raise SystemExit(f'planted.txt: "{old}" is not in the source')
        changed = text.replace(old, new, 1)
        now = [changed if i == place else t for i, t in enumerate(texts)], changed if place is None else loops, one
        for name in which.split():
            if names and name not in names:
                continue
            try:
                error, _, _ = prove(now, name)
                print(f'{name}: {old} -> {new}: PROVED, {log2(error)}')
                wrong += 1
            except (NotProved, Drift) as what:
                print(f'{name}: {old} -> {new}: refused: {str(what).splitlines()[0][:120]}')
    return wrong


def tools():
    """The lines of --times that name the tools."""
    def version(tool):
        return re.search(r'\d+(\.\d+)+', subprocess.run([tool, '--version'], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL).stdout)[0]
    return f'#\tsolver\tgappa {version("gappa")} and sollya {version("sollya")}\n#\tcompiler\t-\n'


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('root', type=pathlib.Path)
    parser.add_argument('names', nargs='*')
    parser.add_argument('--planted', action='store_true')
    parser.add_argument('--times')
    given = parser.parse_intermixed_args()
    source = read(given.root)
    if given.planted:
        raise SystemExit(planted(given.root, source, given.names) != 0)
    failed, roundings, times = 0, {}, []
    for name in given.names or USES:
        begun = time.monotonic()  # most of the work is done by other programs
        try:
            error, bound, rounding = prove(source, name)
            roundings.update(rounding)
            times.append(f'{name}\tproved\t{time.monotonic() - begun:.2f}\t0\t0\n')
            print(f'{name:10}  error {log2(error)}  supposed {log2(bound)}  room {float(bound / error):.1f}', flush=True)
        except (NotProved, Drift) as what:
            print(f'{name}: NOT PROVED: {what}')
            failed += 1
    for (name, _, _), (error, claim) in known.items():
        print(f'polynomial {name:10}  its own error {log2(error)}  rounding {log2(roundings[name]) if name in roundings else "-"}')
    if given.times:
        pathlib.Path(given.times).write_text(tools() + ''.join(times))
    raise SystemExit(failed != 0)


if __name__ == '__main__':
    main()
