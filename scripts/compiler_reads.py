#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The compiler of a build folder reads every source of it and makes no code: all of its errors and of its warnings, which are
errors where the folder was set up so, in a tenth of the time that the build takes.

usage: compiler_reads.py BUILD"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

build = pathlib.Path(sys.argv[1]).resolve()
TEXTS = ('.c', '.h', '.cpp', '.hpp')


def generated():
    """The sources that the build makes itself."""
    targets = json.loads((build / 'meson-info' / 'intro-targets.json').read_text())
    names = [name for target in targets if target['type'] == 'custom' for name in target['filename']]
    return [os.path.relpath(name, build) for name in names if name.endswith(TEXTS)]


def reading(command):
    """The command without the file that it writes."""
    words = shlex.split(command)
    for option in ('-o', '-MF', '-MQ'):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    return [word for word in words if word not in ('-c', '-MD')] + ['-fsyntax-only']


def read(entry):
    done = subprocess.run(reading(entry['command']), cwd=entry['directory'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return entry['file'], done.returncode, done.stdout


subprocess.run(['ninja', '-C', str(build), '--quiet'] + generated(), check=True)
entries = json.loads((build / 'compile_commands.json').read_text())
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    wrong = [(name, text) for name, status, text in pool.map(read, entries) if status or text]
for name, text in wrong:
    print('%s:\n%s' % (name, text))
print('%d sources read, %d with an error or a warning' % (len(entries), len(wrong)))
sys.exit(1 if wrong or not entries else 0)
