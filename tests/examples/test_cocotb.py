# SPDX-License-Identifier: MIT
"""examples/cocotb against an installed copy: passes, and fails with a seeded bug.

usage: test_cocotb.py SOURCE_ROOT BUILD_ROOT
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import hardware


def python_with_cocotb(build):
    """The checks' own environment if there is one, else this interpreter, or what HALFULP_TEST_PYTHON names."""
    for python in (os.environ.get('HALFULP_TEST_PYTHON'), str(pathlib.Path(build) / 'venv' / 'bin' / 'python'), sys.executable):
        if not python or not os.path.exists(python):
            continue
        probe = subprocess.run([python, '-c', 'import cocotb_tools'], stderr=subprocess.DEVNULL, check=False)
        if probe.returncode == 0:
            return python
    print('left out: no Python here has cocotb (2.0 or later)')
    return sys.exit(77)


def main():
    tools = hardware.Tools(sys.argv[2], 'iverilog', 'vvp')
    python = python_with_cocotb(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = tools.spare(name, 'cocotb', sys.argv[1])
        assert 'copy examples/rtl' in tools.run(python, '-B', 'run.py', code=1, cwd=folder)
        tools.spare(name, 'rtl', sys.argv[1])
        package = pathlib.Path(sys.argv[1]).resolve() / 'python'
        if (package / 'halfulp').is_dir():
            tools.env['PYTHONPATH'] = str(package)
        said = tools.run(python, '-B', 'run.py', cwd=folder)
        assert said.splitlines()[-1] == '2 tests, 0 failed' and '1500 cases, 0 differ' in said, said
        print(*[line.split('cocotb.fp8_dot')[1].strip() for line in said.splitlines() if 'cocotb.fp8_dot ' in line], sep='\n')
        said = tools.run(python, '-B', 'run.py', 'icarus', '2', code=1, cwd=folder)
        assert said.splitlines()[-1] == '2 tests, 1 failed', said
        print('with a wrong tie:', said.splitlines()[-1])


main()
