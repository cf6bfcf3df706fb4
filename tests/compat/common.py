# SPDX-License-Identifier: MIT
"""What the comparisons with other packages share: operands, the `halfulp` command over .npy files, and the verdict.

    import common
    np, torch = common.need('numpy', 'torch')
    run = common.Run(sys.argv)
    run.same('torch.float8_e5m2', lambda x: ..., np.float32)

A package that is missing ends the test with exit code 77 and its name; one that differs ends it with 1."""
import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

SKIP = 77


def xla_on_a_cpu():
    """JAX is to run on the CPU, and, where nobody has chosen, without AVX512-FP16 (docs/compatibility.md)."""
    os.environ['JAX_PLATFORMS'] = 'cpu'
    features = pathlib.Path('/proc/cpuinfo')
    if features.exists() and 'avx512_fp16' in features.read_text():
        os.environ.setdefault('XLA_FLAGS', '--xla_cpu_max_isa=AVX2')


def need(*names):
    """The modules; a missing one ends the test as skipped, in words."""
    found = []
    for name in names:
        try:
            found.append(importlib.import_module(name))
        except ImportError as error:
            print('skipped: the Python package %s is not there (%s)' % (name, error))
            sys.exit(SKIP)
    return found


class Run:
    """One test: the command, a folder, and the count of what was compared."""

    def __init__(self, argv):
        import numpy
        self.np = numpy
        self.command = str(pathlib.Path(argv[1]).resolve())
        self.folder = tempfile.TemporaryDirectory(prefix='halfulp-compat-')
        self.total = self.presets = 0
        self.failed = []
        warnings.simplefilter('ignore')
        numpy.seterr(all='ignore')

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def halfulp(self, *args):
        done = subprocess.run([self.command, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit('halfulp %s: %s' % (' '.join(args), done.stderr))
        return done.stdout

    def encode(self, preset, x):
        self.np.save(self.path('x.npy'), x)
        self.halfulp('encode', '-f', preset, self.path('x.npy'), self.path('z.npy'))
        return self.np.load(self.path('z.npy'))

    def quantize(self, preset, x):
        self.np.save(self.path('x.npy'), x)
        self.halfulp('quantize', '-f', preset, self.path('x.npy'), self.path('z.npy'))
        return self.np.load(self.path('z.npy'))

    def values(self, preset, width):
        """The value of every code, as binary64."""
        codes = self.np.arange(1 << width, dtype=self.np.uint8 if width <= 8 else self.np.uint16)
        self.np.save(self.path('c.npy'), codes)
        self.halfulp('decode', '-f', preset, self.path('c.npy'), self.path('v.npy'))
        return codes, self.np.load(self.path('v.npy')).astype(self.np.float64)

    def operands(self, values, dtype):
        """All halves and bfloat16s, a walk over the patterns, random ones, and what lies at and beside every value and every
        midpoint of two neighbours."""
        np = self.np
        grid = np.unique(values[np.isfinite(values)])
        middle = (grid[:-1] + grid[1:]) / 2
        top = grid[-1] + (grid[-1] - grid[-2]) / 2
        near = np.concatenate([grid, middle, [top, -top]])
        rng = np.random.default_rng(7)
        if dtype == np.float32:
            bits = np.concatenate([
                np.arange(0, 1 << 32, 65521, dtype=np.uint64).astype(np.uint32),
                (np.arange(1 << 16, dtype=np.uint32) << 16),
                rng.integers(0, 1 << 32, 50000, dtype=np.uint64).astype(np.uint32),
                np.array([0x7f800001, 0xff800001, 0x7fbfffff, 0x7fffffff, 0xffffffff, 0xffc00000, 0x7fc02000], np.uint32)])
            half = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
            near = near.astype(np.float32)
            beside = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
            return np.concatenate([bits.view(np.float32), half] + beside)
        bits = rng.integers(0, 1 << 63, 20000, dtype=np.uint64) | (rng.integers(0, 2, 20000, dtype=np.uint64) << np.uint64(63))
        spread = rng.normal(size=50000) * np.exp2(rng.integers(-160, 140, 50000))
        low = rng.normal(size=20000) * np.exp2(rng.integers(-20, 16, 20000))
        beside = [near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf), near * (1 + 2.0**-26), near * (1 - 2.0**-26),
                  near * (1 + 2.0**-40), near * (1 - 2.0**-40)]
        nans = np.array([0x7ff0000000000001, 0xfff0000000000001, 0x7ff8000000000000, 0xfff8000000000000, 0x7ff4000000000000,
                         0xffffffffffffffff], np.uint64)
        return np.concatenate([bits.view(np.float64), spread, low, nans.view(np.float64)] + beside)

    def say(self, what, ours, theirs, x, good):
        """Counts a comparison; tells the first differences where it is not good."""
        self.total += len(x)
        if good.all():
            return True
        self.failed.append(what)
        bad = self.np.flatnonzero(~good)
        print('%s: %d of %d differ' % (what, len(bad), len(x)))
        for i in bad[:6]:
            print('    %s (%s): here %s, there %s' % (x[i], x[i:i + 1].tobytes()[::-1].hex(), ours[i], theirs[i]))
        return False

    def same(self, preset, theirs, dtype, width=8, leave=None, any_nan=False):
        """theirs(x): codes. leave(x): operands that are not compared, which docs/compatibility.md explains. any_nan: one NaN is as good
        as another."""
        np = self.np
        values = self.values(preset, width)[1]
        x = self.operands(values, dtype)
        if leave is not None:
            x = x[~leave(x)]
        ours = self.encode(preset, x)
        there = theirs(x)
        there = there.view(np.uint16 if there.dtype.itemsize == 2 else np.uint8)
        good = ours == there
        if any_nan:
            good |= np.isnan(values[ours]) & np.isnan(values[there])
        self.presets += 1
        if self.say('%s from %s' % (preset, np.dtype(dtype).name), ours, there, x, good):
            print('%s from %s: %d operands, equal codes' % (preset, np.dtype(dtype).name, len(x)))

    def same_values(self, preset, theirs, width=8):
        """theirs(codes): the values of all codes; a NaN is a NaN."""
        np = self.np
        codes, ours = self.values(preset, width)
        there = np.asarray(theirs(codes), np.float64)
        good = (ours == there) & (np.signbit(ours) == np.signbit(there)) | (np.isnan(ours) & np.isnan(there))
        self.say('%s, values' % preset, ours, there, codes, good)

    def path_operands(self, names, count=20000):
        """A float32 array for each name, zeros, infinities and NaN among its numbers."""
        np = self.np
        random = np.random.default_rng(11)

        def drawn():
            x = np.concatenate([random.normal(size=count) * np.exp2(random.integers(-4, 5, count)),
                                random.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], 60)])
            random.shuffle(x)
            return x.astype(np.float32)
        return {name: drawn() for name in names}

    def same_path(self, rule, text, operands, theirs):
        """`halfulp path` against the values of another program, float32 arrays both; a NaN is a NaN."""
        np = self.np
        files = []
        for name, values in operands.items():
            if re.search(r'\b%s\b' % name, text):
                np.save(self.path(name + '.npy'), values)
                files.append('%s=%s' % (name, self.path(name + '.npy')))
        self.halfulp('path', '-q', text, '--rule', rule, *files, '-o', self.path('z.npy'))
        ours = np.load(self.path('z.npy'))
        good = (ours.view(np.uint32) == theirs.view(np.uint32)) | (np.isnan(ours) & np.isnan(theirs))
        if self.say('%s under %s' % (text, rule), ours, theirs, next(iter(operands.values())), good):
            print('%s under %s: %d elements, equal' % (text, rule, len(ours)))

    def differ(self, what, good, count):
        """A difference that docs/compatibility.md describes must be there, and be that one."""
        self.total += count
        if not good:
            self.failed.append(what)
        print('%s: %s' % (what, 'as described' if good else 'NOT AS DESCRIBED'))

    def done(self, *versions):
        print('%s; %d comparisons of presets, %d operands' % (', '.join(versions), self.presets, self.total))
        if self.failed:
            print('different: ' + ', '.join(self.failed))
        sys.exit(1 if self.failed else 0)
