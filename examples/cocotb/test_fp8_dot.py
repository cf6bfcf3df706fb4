# SPDX-License-Identifier: MIT
"""The unit of examples/rtl in cocotb: random rows, all pairs of formats, both roundings, against halfulp."""
import os
import random
import subprocess

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

try:
    import halfulp
except ImportError:  # the command does as well
    halfulp = None

LANES, RANDOM = 4, 8
FORMATS = ('float8_e4m3fn', 'float8_e5m2')
ACC = 'binary16'
MODEL = f'block(align,l={LANES},f=13,emin=-28,out={ACC})'
# With the last rounding left to the call, which takes the unit's own random digits.
OPEN = f'block(align,l={LANES},f=13,emin=-28,acc={ACC},out=fp(8,23,0))'


def expected(rows, a_format, b_format):
    """D of rows (a, b, c), codes: ties to even."""
    if halfulp:
        import numpy as np
        a, b = (np.array([row[i] for row in rows], np.uint8) for i in (0, 1))
        c = np.array([row[2] for row in rows], np.uint16)
        d = halfulp.dot(a, b, c, accum=MODEL, to=ACC, a_format=a_format, b_format=b_format, c_format=ACC)
        return [int(x) for x in d.view(np.uint16)]
    lines = ''.join(f'{bytes(a).hex()} {bytes(b).hex()} {c:04x}\n' for a, b, c in rows)
    return [int(line, 16) for line in command(['mma', MODEL, '--fa', a_format, '--fb', b_format, '--fd', ACC], lines)]


def command(arguments, text):
    done = subprocess.run(['halfulp', *arguments], input=text, stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout.splitlines()


def packed(codes):
    return sum(code << 8 * k for k, code in enumerate(codes))


def some_rows(generator, count):
    for i in range(count):
        any_code = i % 2 == 0
        code = (lambda: generator.randrange(256)) if any_code else (lambda: generator.randrange(256) & 0x8F | 0x30)
        yield [code() for _ in range(LANES)], [code() for _ in range(LANES)], generator.randrange(1 << 16)


async def start(dut):
    Clock(dut.clk, 2, 'ns').start()
    dut.rst.value = 1
    dut.in_valid.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0


async def results(dut, rows, a_e5m2, b_e5m2, stochastic=0, words=None):
    """The unit's D and flags of every row, one row a clock."""
    found, sent = [], 0
    while len(found) < len(rows):
        dut.in_valid.value = int(sent < len(rows))
        if sent < len(rows):
            a, b, c = rows[sent]
            dut.in_a.value, dut.in_b.value, dut.in_c.value = packed(a), packed(b), c
            dut.in_a_e5m2.value, dut.in_b_e5m2.value, dut.in_stochastic.value = a_e5m2, b_e5m2, stochastic
            dut.in_random.value = words[sent] if words else 0
            sent += 1
        await FallingEdge(dut.clk)
        if dut.out_valid.value == 1:
            flags = dut.out_inexact.value, dut.out_underflow.value, dut.out_overflow.value, dut.out_invalid.value
            found.append((int(dut.out_d.value), [int(f) for f in flags]))
    return found


@cocotb.test()
async def ties_to_even(dut):
    await start(dut)
    rows = list(some_rows(random.Random(1), 1500))
    for a_e5m2 in (0, 1):
        for b_e5m2 in (0, 1):
            want = expected(rows, FORMATS[a_e5m2], FORMATS[b_e5m2])
            found = await results(dut, rows, a_e5m2, b_e5m2)
            wrong = [(row, f'{d:04x}', f'{w:04x}') for row, (d, _), w in zip(rows, found, want) if d != w]
            assert not wrong, f'{len(wrong)} of {len(rows)}, the first: row, unit, halfulp: {wrong[0]}'
    dut._log.info('4 x %d rows, reference: %s', len(rows), 'Python package' if halfulp else 'command')


@cocotb.test()
async def random_digits(dut):
    """Results and flags go back to `halfulp vectors --check` with the digits that the unit was given."""
    await start(dut)
    generator = random.Random(2)
    rows = list(some_rows(generator, 1500))
    words = [generator.randrange(1 << RANDOM) for _ in rows]
    found = await results(dut, rows, 0, 1, 1, words)
    lines = ''.join(f'{bytes(a).hex()} {bytes(b).hex()} {c:04x} {word:08x} {d:04x} {i | u << 1 | o << 2 | v << 4:02x}\n'
                    for (a, b, c), word, (d, (i, u, o, v)) in zip(rows, words, found))
    said = command(['vectors', '--check', 'dot', '--accum', OPEN, '--fa', FORMATS[0], '--fb', FORMATS[1], '--fd', ACC, '--tiny', 'before',
                    '--elements', str(LANES), '-r', f'sra:{RANDOM}', '--words'], lines)
    dut._log.info('vectors --check: %s', said[-1])
    assert said[-1] == f'{len(rows)} cases, 0 differ', said
