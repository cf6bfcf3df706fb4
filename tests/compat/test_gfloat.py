# SPDX-License-Identifier: MIT
"""gfloat's round_ndarray and encode_ndarray: formats, saturation, and its rounding modes against the same ones here."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, gfloat = common.need('numpy', 'gfloat')
formats = common.need('gfloat.formats')[0]
run = common.Run(sys.argv)
MODES = {'rne': gfloat.RoundMode.TiesToEven, 'rna': gfloat.RoundMode.TiesToAway, 'rtz': gfloat.RoundMode.TowardZero,
         'rtp': gfloat.RoundMode.TowardPositive, 'rtn': gfloat.RoundMode.TowardNegative}


def codes(x, kind, mode, sat):
    values = gfloat.round_ndarray(kind, x.astype(np.float64), mode, sat)
    return gfloat.encode_ndarray(kind, values).astype(np.uint16 if kind.bits > 8 else np.uint8)


def thin(x):
    """gfloat is slow: every seventh operand, NaN left to one of its own."""
    return (np.arange(len(x)) % 7 != 0) | np.isnan(x)


for name, kind, sat, width in (('ocp_e4m3.sat', formats.format_info_ocp_e4m3, True, 8),
                               ('ocp_e4m3.nosat', formats.format_info_ocp_e4m3, False, 8),
                               ('ocp_e5m2.sat', formats.format_info_ocp_e5m2, True, 8),
                               ('ocp_e5m2.nosat', formats.format_info_ocp_e5m2, False, 8),
                               ('binary16', formats.format_info_binary16, False, 16),
                               ('bfloat16', formats.format_info_bfloat16, False, 16),
                               ('ocp_e2m3.sat', formats.format_info_ocp_e2m3, True, 6),
                               ('ocp_e3m2.sat', formats.format_info_ocp_e3m2, True, 6),
                               ('ocp_e2m1.sat', formats.format_info_ocp_e2m1, True, 4)):
    for dtype in (np.float32, np.float64):
        run.same('gfloat.' + name, lambda x: codes(x, kind, gfloat.RoundMode.TiesToEven, sat), dtype, width, thin, any_nan=True)
    run.same_values('gfloat.' + name, lambda c: gfloat.decode_ndarray(kind, c.astype(np.int64)), width)
# The other modes, by the command's own options.
for mode, theirs in MODES.items():
    for f, kind, sat in (('float8_e4m3fn', formats.format_info_ocp_e4m3, True), ('fp(5,2,0)', formats.format_info_ocp_e5m2, False),
                         ('fp(5,2,0)', formats.format_info_ocp_e5m2, True)):
        x = run.operands(run.values(f, 8)[1], np.float32)
        x = x[~thin(x)]
        np.save(run.path('x.npy'), x)
        run.halfulp('encode', '-f', f, '-r', mode, '-s', 'finite' if sat else 'none', run.path('x.npy'), run.path('z.npy'))
        ours, there = np.load(run.path('z.npy')), codes(x, kind, theirs, sat)
        run.presets += 1
        run.say('%s, %s, sat=%s' % (f, mode, sat), ours, there, x, ours == there)

# Stochastic rounding with random digits that are given is one function of value and digits.
rng = np.random.default_rng(5)
for mode, theirs in (('src', gfloat.RoundMode.Stochastic), ('srb', gfloat.RoundMode.StochasticFast),
                     ('sra', gfloat.RoundMode.StochasticFastest)):
    kind = formats.format_info_ocp_e5m2
    x = (rng.normal(size=4000) * np.exp2(rng.integers(-18, 14, 4000))).astype(np.float32).astype(np.float64)
    digits = rng.integers(0, 256, 4000)
    with open(run.path('lines'), 'w', encoding='ascii') as f:
        f.writelines('%s %x\n' % (float(v).hex(), r) for v, r in zip(x, digits))
    said = run.halfulp('encode', '-f', 'fp(5,2,0)', '-r', mode + ':8', '-s', 'finite', '--words', run.path('lines'))
    ours = np.array([int(line, 16) for line in said.split()])
    there = np.array([gfloat.encode_float(kind, gfloat.round_float(kind, float(v), theirs, True, int(r), 8)) for v, r in zip(x, digits)])
    run.presets += 1
    if run.say('gfloat %s and %s:8' % (theirs, mode), ours, there, x, ours == there):
        print('%s is %s with 8 digits: %d operands, equal codes' % (theirs, mode, len(x)))
run.done('gfloat ' + __import__('importlib.metadata', fromlist=['version']).version('gfloat'))
