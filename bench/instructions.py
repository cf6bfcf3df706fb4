# SPDX-License-Identifier: MIT
"""Counts the instructions that array calls and scaled tensors take for an element, which other work on a machine does
not change.

  python3 bench/instructions.py BUILD [--level avx2|vector] [ROW...]

valgrind --tool=callgrind runs one_call and counts what is done inside the call. AVX-512 it does not run. A row of
bench_scaled is followed by the call that the benchmark compares it with. Where all instructions are vector work, an
element cannot take less time than its instructions divided by those that a processor starts in a clock: six on AMD's
Zen 3 and Zen 4, five on Intel's Ice Lake."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

N = 1 << 18  # values of one_call
RCEIL = 'scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)'
# Row: arguments of one_call, and those of what it is compared with.
ARRAY = {f'grid values, {mode}{", many subnormal" if data == "subnormal" else ""}, {f}': (f'quantize {f} {mode} {data}', None)
         for f in ('float8_e4m3fn', 'float8_e5m2', 'bfloat16') for mode in ('rne', 'rtp', 'rto', 'sra:32')
         for data in ('normal', 'subnormal') if (f, data) != ('bfloat16', 'subnormal')}
SCALED = {f'{what}, {"mx rceil" if d == RCEIL else d}': (f'scaled-{what} {d}', f'scaled-{what}_n {d}')
          for d in ('mxfp8_e4m3', 'mxfp8_e5m2', 'mxfp4', RCEIL, 'nvfp4', 'nvfp4_4over6', 'nvfp4_modelopt_mse', 'msfp12',
                    'dsv3_1x128', 'dsv3_128x128', 'fp8_tensor', 'hbfp8')
          for what in ('quantize', 'encode', 'decode')}
ROWS = dict(ARRAY, **SCALED)


def function_of(arguments):
    what = arguments.split()[0]
    if what.endswith('_n'):
        return 'hu_' + what.replace('scaled-', '')
    return 'hu_scaled_' + what[7:] if what.startswith('scaled-') else f'hu_{what}_n'


def collected(text):
    """What callgrind's file says has been counted in all."""
    found = re.search(r'^(?:totals|summary): (\d+)', text, re.M)
    if not found or found[1] == '0':
        raise ValueError('callgrind counted nothing')
    return int(found[1])


def count(build, level, arguments):
    """Instructions an element of the call."""
    program = build / 'bench' / 'one_call'
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'out'
        command = ['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', f'--toggle-collect={function_of(arguments)}',
                   str(program), level, *arguments.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f'instructions.py: {" ".join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}')
        return collected(out.read_text()) / N


def main():
    words = argparse.ArgumentParser(prog='instructions.py')
    words.add_argument('build', type=pathlib.Path)
    words.add_argument('rows', nargs='*', metavar='ROW')
    words.add_argument('--level', choices=['avx2', 'vector'], default='avx2')
    given = words.parse_intermixed_args()
    unknown = [row for row in given.rows if row not in ROWS]
    if unknown:
        sys.exit(f'instructions.py: no row "{unknown[0]}"; rows are: {"; ".join(ROWS)}')
    print(f'{"row":<52} instructions an element; of the reference; ratio')
    for row in given.rows or ROWS:
        subject, reference = ROWS[row]
        own = count(given.build, given.level, subject)
        text = f'{row:<52} {own:8.2f}'
        if reference:
            other = count(given.build, given.level, reference)
            text += f' {other:8.2f} {own / other:8.2f}'
        print(text, flush=True)


if __name__ == '__main__':
    main()
