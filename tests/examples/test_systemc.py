# SPDX-License-Identifier: MIT
"""examples/systemc against an installed copy: the right module agrees with hu_fma, the one with a wrong tie does not.

usage: test_systemc.py SOURCE_ROOT BUILD_ROOT
"""
import subprocess
import sys
import tempfile

import hardware


def main():
    tools = hardware.Tools(sys.argv[2], 'g++', 'make', 'pkg-config')
    if subprocess.run(['pkg-config', '--exists', 'systemc'], check=False).returncode:
        print('left out: there is no SystemC (libsystemc-dev)')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = tools.spare(name, 'systemc', sys.argv[1])
        said = tools.run('make', cwd=folder).splitlines()[-1]
        assert said == '240440 results, 0 wrong', said
        print(said)
        lines = tools.run('out/mac', 'bug', code=1, cwd=folder).splitlines()
        assert lines[-1].startswith('240440 results, ') and not lines[-1].endswith(' 0 wrong'), lines
        print('with a wrong tie:', lines[-1])


main()
