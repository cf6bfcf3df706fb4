# SPDX-License-Identifier: MIT
"""pychop's Chop_ for NumPy, a port of MATLAB's chop (whose options CPFloat shares), to nearest: values of binary64 operands."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, pychop = common.need('numpy', 'pychop')
Chop = common.need('pychop.np.float_point')[0].Chop_
run = common.Run(sys.argv)
FORMATS = {'q43': (8, 4, -6), 'q52': (8, 3, -14), 'h': (16, 11, -14), 'b': (16, 8, -126)}

for name, (width, t, emin) in FORMATS.items():
    preset, least = 'chop.' + name, 2.0**(emin + 1 - t)
    grid = run.values('bfloat16' if name == 'b' else preset, width)[1]
    x = run.operands(grid, np.float64)
    x = np.concatenate([x, run.operands(grid, np.float32).astype(np.float64)])
    x = x[(np.abs(x) > 2.0**-900) & (np.abs(x) < 2.0**900) | (x == 0) | np.isinf(x)]  # its scaling leaves binary64 beyond
    ours, there = run.quantize(preset, x), Chop(name)(x)
    good = ours == there
    # Below the smallest subnormal number the original rounds to t digits first; only what is a tie then differs.
    twice = (np.abs(x) > least / 2) & (np.abs(x) <= least / 2 * (1 + 2.0**-t)) & (there == 0) & (np.abs(ours) == least)
    if name != 'b':
        good |= twice
        run.differ('%s: %d operands just above half the smallest number become 0' % (preset, twice.sum()), twice.sum() > 0, len(x))
    run.presets += 1
    if run.say(preset, ours, there, x, good):
        print('%s: %d operands, equal values' % (preset, len(x)))
run.done('pychop ' + __import__('importlib.metadata', fromlist=['version']).version('pychop'))
