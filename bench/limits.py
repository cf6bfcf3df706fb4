# SPDX-License-Identifier: MIT
"""Counts the instructions of the inner loops of matrix products in a build, and says how fast a processor can run them.

  python3 bench/limits.py BUILD [--level avx512|avx2] [--kernel seq_lanes|seq_modes_lanes|unfused_lanes|steps_lanes]

objdump disassembles the kernels. A loop is shown if it has no loop inside and spreads elements of A over vectors from
memory, as each product of a chain does. Its counts are divided by the number of those elements: they are per vector of
products, 16 with AVX-512 and 8 with AVX2, for which sgemm needs one fused multiply-add.

  fma     fused multiply-adds and multiplications
  other   all other vector instructions that compute: sums, logic, shifts, comparisons, conversions
  all     all instructions, those that load, move and count among them

The last two columns are the share of sgemm's speed that these counts allow, where sgemm does one fused multiply-add in
each slot. `two ports`: two ports do all vector work (AVX-512 on Intel's server cores). `four pipes`: fused
multiply-adds go to two of four pipes, six instructions start in a cycle (AMD's Zen 3 with AVX2; Zen 4 with AVX-512
takes each pipe for two cycles). Latency and caches are left out, and so is what sgemm does not reach of that rate."""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

KERNELS = ['seq_lanes', 'seq_modes_lanes', 'unfused_lanes', 'steps_lanes']
JUMP = re.compile(r'j\w+\s+([0-9a-f]+)')
Loop = collections.namedtuple('Loop', 'function address fma other all')


def functions(archive, kernel):
    """{function: [(address, instruction)]} of the objects whose name has the kernel's."""
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', archive], capture_output=True, text=True, check=True).stdout
    found, code, wanted = {}, None, False
    for line in text.splitlines():
        if line.endswith(':     file format elf64-x86-64'):
            wanted = f'_{kernel}.c' in line or f'/{kernel}.c' in line
        head = re.match(r'[0-9a-f]+ <(.+)>:', line)
        if head:
            code = found.setdefault(head[1], []) if wanted else None
        one = re.match(r'\s+([0-9a-f]+):\t(.*)', line)
        if one and code is not None:
            code.append((int(one[1], 16), one[2].split('#')[0].strip()))
    return found


def inner_loops(code):
    """(first, last) of every backward jump that has no other one inside."""
    at = {address: i for i, (address, _) in enumerate(code)}
    loops = []
    for i, (address, text) in enumerate(code):
        jump = JUMP.match(text)
        if jump and int(jump[1], 16) < address and int(jump[1], 16) in at:
            loops.append((at[int(jump[1], 16)], i))
    return [x for x in loops if not any(y != x and y[0] >= x[0] and y[1] <= x[1] for y in loops)]


def spreads(text):
    return ('broadcastss' in text and '(' in text) or '{1to16}' in text


def computes(text):
    return text.startswith(('v', 'k')) and not text.startswith(('vmov', 'kmov')) and not ('broadcast' in text and '(' in text)


def is_fma(text):
    return re.match(r'vfn?m|vmul', text) is not None


def counted(name, code):
    for first, last in inner_loops(code):
        body = [text for _, text in code[first:last + 1]]
        elements = sum(map(spreads, body))
        fma = sum(map(is_fma, body))
        if elements >= 4 and fma:
            vector = sum(map(computes, body))
            yield Loop(name, code[first][0], fma / elements, (vector - fma) / elements, len(body) / elements)


def two_ports(x):
    return 1 / (x.fma + x.other)


def four_pipes(x, level):
    starts = 3 if level == 'avx2' else 6  # while one pair of pipes computes a fused multiply-add
    return 1 / max(x.fma, (x.fma + x.other) / 2, x.all / starts)


def main():
    parse = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parse.add_argument('build', type=pathlib.Path)
    parse.add_argument('--level', choices=['avx512', 'avx2'], default='avx512')
    parse.add_argument('--kernel', choices=KERNELS)
    given = parse.parse_args()
    archive = given.build / 'emu' / f'libhalfulp-lanes-{given.level}.a'
    if not archive.is_file():
        sys.exit(f'limits.py: {archive}: not there; this build has no such level')
    print(f'{"kernel":<16} {"loop":<12} {"fma":>6} {"other":>6} {"all":>6}  two ports  four pipes')
    for kernel in [given.kernel] if given.kernel else KERNELS:
        loops = [x for name, code in functions(archive, kernel).items() for x in counted(name, code)]
        if not loops:
            sys.exit(f'limits.py: {archive}: no loop of {kernel}')
        for x in sorted(loops, key=lambda x: x.fma + x.other):
            loop = f'{x.function[:6]}+{x.address:x}'
            print(f'{kernel:<16} {loop:<12} {x.fma:6.2f} {x.other:6.2f} {x.all:6.2f}  {two_ports(x):9.3f}  {four_pipes(x, given.level):10.3f}')


if __name__ == '__main__':
    main()
