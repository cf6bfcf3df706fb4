# SPDX-License-Identifier: MIT
"""The translator, the terms and the specification on numbers: what a function's IR computes is what the compiled function
returns, and the specification calls it right.

usage: test_translator.py [POINTS]     HU_TEST_SEED sets the seed"""
import ctypes
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import core  # noqa: E402
import floats  # noqa: E402
import llvm  # noqa: E402
import solve  # noqa: E402
import specification as s  # noqa: E402
import sources  # noqa: E402
import terms as t  # noqa: E402
from symbols import FORMAT, LIMIT, MODE, OPERAND, Symbols, parts  # noqa: E402

points = int(sys.argv[1]) if len(sys.argv) > 1 else 300
seed = int(os.environ.get('HU_TEST_SEED', random.randrange(1 << 31)))
random.seed(seed)
bad = []


def compiled(name, folder):
    """A C file of this folder as a library, by the other compiler where there is one."""
    out = f'{folder}/{name}.so'
    for compiler in ('gcc', 'clang'):
        command = [compiler, '-O2', '-shared', '-fPIC', '-ffp-contract=off', '-w', '-I', str(sources.ROOT),
                   '-I', str(sources.ROOT / 'include'), str(sources.HERE / name), '-o', out]
        try:
            subprocess.run(command, check=True)
            return ctypes.CDLL(out)
        except FileNotFoundError:
            continue
    raise RuntimeError('neither gcc nor clang')


def some(digits):
    """A number whose bits are not all alike: few of them, many, a power of two and a little."""
    u = random.getrandbits(digits)
    return random.choice((u, u >> random.randrange(digits), u & random.getrandbits(digits), 1 << random.randrange(digits),
                          (1 << digits) - 1 - (u >> random.randrange(digits)), random.randrange(20)))


def samples(library):
    """sample.c: every kind of instruction."""
    names = [n for n in llvm.Module(sources.Sources().text('sample.c')).text.functions]
    seen = 0
    for options in ((), ('-O2',)):
        module = sources.Sources().module('sample.c', *options)
        for name in names:
            if options and name in ('sample_loop',):  # -O2 turns it into what needs vectors
                continue
            f = getattr(library, name)
            f.restype, f.argtypes = ctypes.c_uint64, [ctypes.c_uint64] * 2
            out = module.run(name, [t.variable('a', 64), t.variable('b', 64)])
            for _ in range(points // 3):
                a, b = some(64), some(64)
                got, undefined = t.evaluate([out.value, out.undefined], {'a': a, 'b': b})
                seen += 1
                if got != f(a, b) or undefined:
                    bad.append(f'{name}({a:#x}, {b:#x}) {options}: {got:#x}, undefined {undefined}, compiled {f(a, b):#x}')
    return seen


def values(m):
    """A point of P1's variables; b so that the format is often valid."""
    v = {name: random.getrandbits(digits) for name, digits in (
        ('sign', 1), ('negzero', 1), ('zero', 2), ('subnormal', 2), ('inf', 2), ('nan', 3), ('overflow', 2), ('negative', 2),
        ('round', 4), ('saturate', 2), ('tiny', 1), ('nan_to', 2), ('minus', 1), ('sticky', 1), ('random', 32))}
    v.update(e=random.randrange(12), b=random.randrange(-40, 40) & 0xFFFF, bits=random.randrange(1, 33), m=m,
             sig=1 << 63 | some(63), kind=s.KIND_FINITE, code=some(32))
    if random.random() < 0.6:
        v.update(zero=0, subnormal=random.randrange(3), sign=1, negative=0)
    near = random.randrange(-2200, 2200) if random.random() < 0.3 else random.randrange(-40, 40) - 63 - (1 << v['e']) // 2
    v['exp'] = random.choice((near, near, near, random.randrange(-LIMIT, LIMIT))) & 0xFFFFFFFF
    return v


def rounding(library):
    """hui_round as IR and compiled, and whether the specification calls it right, at random points of valid formats."""
    f = library.proof_round
    widths = {'sig': ctypes.c_uint64, 'exp': ctypes.c_int32, 'random': ctypes.c_uint32, 'b': ctypes.c_int16}
    names = FORMAT + MODE + OPERAND + ('random',)
    f.restype, f.argtypes = ctypes.c_uint64, [widths.get(n, ctypes.c_uint8) for n in names]
    made = {}
    seen = 0
    while seen < points:
        m = random.choice((0, 1, 3, 7, 10, 23, 30))
        if m not in made:
            x = Symbols(m)
            supposed = t.conjunction(*core.finite(x, range(11)))
            out = core.round_of(sources.Sources().module('core.c'), x, kind=core.FINITE)
            from integers import Integer

            def decide(places, x=x):
                nu = s.fraction(s.real(x.operand.sig, x.operand.more, places))
                return s.stochastic(x.mode, nu, Integer.of(x.v['random']))
            made[m] = supposed, [out.value, out.undefined, s.right(x.format, x.mode, x.operand, decide, *parts(out.value))]
        v = values(m)
        if not t.evaluate([made[m][0]], v)[0]:
            continue
        seen += 1
        got, undefined, right = t.evaluate(made[m][1], v)
        want = f(*(t.signed(v[n], 32) if n == 'exp' else t.signed(v[n], 16) if n == 'b' else v[n] for n in names))
        if got != want or undefined or not right:
            bad.append(f'hui_round at {v}: IR {got:#x}, compiled {want:#x}, undefined {undefined}, right {right}')
    return seen


def arithmetic():
    """floats.py, and a solver's binary32, against each other: a sum, a product and a fused one in each direction."""
    seen = 0
    for direction in ('RNE', 'RNA', 'RTZ', 'RTP', 'RTN'):
        for op, count in (('fp.add', 2), ('fp.sub', 2), ('fp.mul', 2), ('fp.fma', 3)):
            wrong = []
            for _ in range(max(2, points // 60)):
                u = [some(32) for _ in range(count)]
                folded = t.float_operation(op, t.mode(direction), *(t.constant(x, t.FLOAT32) for x in u))
                names = [t.variable(f'x{i}', 32) for i in range(count)]
                term = t.float_operation(op, t.mode(direction), *map(t.float_of_bits, names))
                given = [t.equal(n, x) for n, x in zip(names, u)]
                wrong.append(t.conjunction(*given, t.negation(t.equal(term, folded))))
                seen += 1
                if op == 'fp.add' and direction == 'RNE' and not floats.is_nan(folded.data):
                    want = ctypes.c_float.from_buffer_copy(ctypes.c_uint32(u[0])).value + ctypes.c_float.from_buffer_copy(ctypes.c_uint32(u[1])).value
                    if ctypes.c_uint32.from_buffer_copy(ctypes.c_float(want)).value != folded.data:
                        bad.append(f'{u}: {folded.data:#x} is not their sum')
            for w in wrong:
                if solve.ask([w]).says != 'unsat':
                    bad.append(f'{op} {direction}: floats.py and the solver differ')
    return seen


with tempfile.TemporaryDirectory() as here:
    counts = [samples(compiled('sample.c', here)), rounding(compiled('core.c', here)), arithmetic()]
for line in bad[:20]:
    print(line)
print(f'{counts} points, seed {seed}: {len(bad)} wrong')
sys.exit(1 if bad or min(counts) == 0 else 0)
