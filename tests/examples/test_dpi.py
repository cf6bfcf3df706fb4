# SPDX-License-Identifier: MIT
"""The SystemVerilog package of an installed copy, called by Verilator (dpi_calls.sv) on vectors of the installed command.

usage: test_dpi.py SOURCE_ROOT BUILD_ROOT
"""
import pathlib
import sys
import tempfile

import hardware

TWO = ('add', 'sub', 'mul', 'div', 'minimum', 'maximum', 'minimum_number', 'maximum_number', 'pow')
ONE = ('sqrt', 'convert', 'round_to_integral', 'exp', 'exp2', 'expm1', 'log', 'log2', 'log1p', 'tanh', 'sigmoid', 'erf', 'gelu',
       'rsqrt', 'reciprocal', 'sin', 'cos')


def operands(name):
    return 2 if name in TWO else 3 if name == 'fma' else 1


def write_vectors(tools, folder):
    """A sample of each operation's vectors, three operands a line."""
    for name in TWO + ONE + ('fma',):
        to = [] if name == 'round_to_integral' else ['--fd', 'float8_e5m2']
        lines = tools.run('halfulp', 'vectors', name, '-f', 'bfloat16', *to, '-r', 'srb:5', '-s', 'none', '--words')
        wide = []
        for line in lines.splitlines()[::7]:
            fields = line.split()
            given = operands(name)
            wide.append(' '.join(fields[:given] + ['0'] * (3 - given) + fields[given:]))
        assert len(wide) > 10, (name, len(wide))
        (folder / (name + '.txt')).write_text('\n'.join(wide) + '\n')
    (folder / 'row.txt').write_text(tools.run('halfulp', 'vectors', 'dot', '--accum', 'nv.volta.f16.f32'))


def main():
    tools = hardware.Tools(sys.argv[2], 'verilator', 'g++', 'make')
    here = pathlib.Path(sys.argv[1]).resolve() / 'tests' / 'examples'
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        package = tools.config('--variable=dpidir')[0] + '/halfulp_dpi.sv'
        assert not tools.run('verilator', '--lint-only', '-Wall', package).strip(), 'the package alone has warnings'
        write_vectors(tools, folder)
        bench = tools.verilate(folder, 'dpi_calls', [here / 'dpi_calls.sv'])
        said = tools.run(bench, '+folder=' + name)
    print(said.strip())
    last = said.strip().splitlines()[-1].split()
    assert int(last[0]) > 150000 and last[2] == '0', said


main()
