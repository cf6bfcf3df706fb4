#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The playground: the library as WebAssembly and the page around it.

    build.py OUT [--quick]        OUT/playground.html, .css, .wasm, playground-wasm.js, js/*.js

The library is its two-file source (scripts/amalgamate.py) of the files that emu/*/meson.build lists. playground-wasm.js holds the
bytes once more, in base64: a page that is opened from a file may load scripts, and nothing else. Without emcc nothing is
written, and the exit status is 77. --quick: without optimization, for tests, where compiling takes longer than running."""
import base64
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGES = ['playground.html', 'playground.css']
OWN = [HERE / 'shim.c', HERE / 'sums.c', ROOT / 'cli/explain/neighbours.c', ROOT / 'cli/explain/rules.c']
FLAGS = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-DHALFULP_NO_THREADS', '-I', str(ROOT / 'include'), '-I', str(ROOT)]
LINK = ['-s', 'STANDALONE_WASM=1', '--no-entry', '-s', 'ALLOW_MEMORY_GROWTH=1', '-s', 'INITIAL_MEMORY=4194304', '-s', 'TOTAL_STACK=262144']


def library_sources():
    """The portable library: halfulp_texts of emu/meson.build, from the lists of the folders."""
    lists = re.compile(r"(?:^(?:halfulp_sources|lane_kernels|loop_kernels) \+=|'vector':|^formats_sources =) files\((.*?)\)", re.S | re.M)
    found = []
    for path in sorted(ROOT.glob('emu/**/meson.build')) + [ROOT / 'formats/meson.build']:
        for names in lists.findall(path.read_text(encoding='utf-8')):
            found += [path.parent / name for name in re.findall(r"'([^']+\.c)'", names)]
    return found


def run(command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f'playground: {command[0]} failed\n{done.stdout}')


def build(out, optimization='-O2'):
    if not shutil.which('emcc'):
        print('playground: left out, there is no emcc (Debian: emscripten)')
        return 77
    out = pathlib.Path(out)
    (out / 'js').mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        run([sys.executable, ROOT / 'scripts/amalgamate.py', ROOT, work, *library_sources()])
        quiet = ['-Wno-unused-function', '-Wno-unused-parameter']
        run(['emcc', optimization, *FLAGS, *quiet, '-c', '-o', work / 'library.o', work / 'halfulp.c'])
        run(['emcc', optimization, *FLAGS, *LINK, '-o', work / 'playground.wasm', work / 'library.o', *OWN])
        code = (work / 'playground.wasm').read_bytes()
    (out / 'playground.wasm').write_bytes(code)
    (out / 'playground-wasm.js').write_text('window.playgroundWasm = "%s";\n' % base64.b64encode(code).decode(), encoding='ascii')
    for name in PAGES:
        shutil.copy(HERE / name, out / name)
    for path in sorted(HERE.glob('js/*.js')):
        shutil.copy(path, out / 'js' / path.name)
    print(f'playground: {len(code)} bytes of WebAssembly: {out / "playground.html"}')
    return 0


if __name__ == '__main__':
    sys.exit(build(sys.argv[1], *['-O0'] * (sys.argv[2:] == ['--quick'])))
