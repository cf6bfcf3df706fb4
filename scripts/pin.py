#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pins what scripts install from PyPI: writes LIST.txt from LIST.in, with all packages that those of LIST.in need, of one version each,
and the hashes of their files for Linux (x86-64, aarch64; Python 3.11 and later). scripts/pinned.sh installs such a list.

usage: pin.py [LIST.in...]        without one: all lists of the tree. Needs uv (pip install uv) and a way to PyPI.

Of LIST.in a line `# pin: WORDS` gives uv further options. Packages without a wheel for one of the machines stand at the end, with the
hash of their source: they are built by what the list has before them, and by nothing that pip would fetch."""
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
OLDEST = 11  # Python 3.11, of Debian 12
BUILT = '# Built from source where there is no wheel:\n'


def machines(wheel):
    """Which of the two machines a wheel is for; none: another system's or Python's."""
    python, abi, platform = wheel.removesuffix('.whl').split('-')[-3:]
    minor = re.fullmatch(r'cp3(\d+)', python)
    if minor and abi != 'abi3' and (int(minor.group(1)) < OLDEST or abi != python) or not minor and 'py3' not in python.split('.'):
        return set()
    return {m for m in ('x86_64', 'aarch64') if platform == 'any' or re.search(rf'(^|\.)(many)?linux\w*_{m}\b', platform)}


def entry(package):
    """The lines of a package, and whether it may have to be built."""
    wheels = [(w['hashes']['sha256'], machines(w.get('name') or w['url'].rsplit('/', 1)[1])) for w in package.get('wheels', [])]
    hashes = [digest for digest, served in wheels if served]
    built = set().union(*(served for _, served in wheels)) != {'x86_64', 'aarch64'}
    if built and 'sdist' in package:
        hashes.append(package['sdist']['hashes']['sha256'])
    marker = ' ; ' + package['marker'] if 'marker' in package else ''
    return f"{package['name']}=={package['version']}{marker}" + ''.join(f' \\\n    --hash=sha256:{h}' for h in sorted(hashes)) + '\n', built


def pin(path):
    more = re.findall(r'(?m)^# pin: (.*)$', path.read_text())
    with tempfile.TemporaryDirectory() as folder:
        lock = pathlib.Path(folder) / 'pylock.toml'
        subprocess.run(['uv', 'pip', 'compile', '--quiet', '--universal', '--python-version', f'3.{OLDEST}', '--format', 'pylock.toml',
                        *' '.join(more).split(), '--output-file', str(lock), path.name], cwd=path.parent, check=True)
        packages = tomllib.loads(lock.read_text())['packages']
    entries = [entry(p) for p in packages if not re.search(r"sys_platform == '(win32|darwin|emscripten)'", p.get('marker', ''))]
    text = f'# SPDX-License-Identifier: MIT\n# Written by scripts/pin.py from {path.name}: change that one.\n'
    text += ''.join(lines for lines, built in entries if not built)
    text += ''.join([BUILT] * any(built for _, built in entries) + [lines for lines, built in entries if built])
    path.with_suffix('.txt').write_text(text)
    print(f"{path.with_suffix('.txt').relative_to(ROOT)}: {len(entries)} packages")


def main(names):
    # Those that take a part of another list come after it.
    for path in [pathlib.Path(name).resolve() for name in names] or sorted((ROOT / 'tests').glob('*/*requirements*.in'), key=lambda p: (len(p.name), p)):
        pin(path)


main(sys.argv[1:])
