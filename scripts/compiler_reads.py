#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The compiler of a build folder reads every source of it and makes no code: all of its errors and of its warnings, which are
errors where the folder was set up so, in a tenth of the time that the build takes.

usage: compiler_reads.py BUILD [COMPILED]
COMPILED is a build folder of the same compiler, set up with warnings as errors. What it has compiled with every definition,
warning and instruction set of BUILD is not read again, unless the text or any header has changed since. What COMPILED has
besides (macros, headers that each text includes first) may hide a missing include or declaration there; the build that uses
these texts without them reports it."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

build = pathlib.Path(sys.argv[1]).resolve()
TEXTS = ('.c', '.h', '.cpp', '.hpp')
# What decides beside the text which warnings there are.
DECIDES = re.compile(r'-(D|U|W|m|std=|include)')


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


def commands(folder):
    return json.loads((folder / 'compile_commands.json').read_text())


def source(entry):
    return os.path.realpath(os.path.join(entry['directory'], entry['file']))


def deciding(entry):
    return {word for word in shlex.split(entry['command']) if DECIDES.match(word)}


def latest_header(root):
    """When the last header of the sources was written."""
    ours = [pathlib.Path(root, name) for name in subprocess.run(['git', '-C', root, 'ls-files', '*.h', '*.hpp', '*.inc'],
            stdout=subprocess.PIPE, text=True, check=False).stdout.split('\n') if name]
    return max((path.stat().st_mtime for path in ours if path.is_file()), default=float('inf'))


def compiled_in(folder):
    """{source: the options of each time that it was compiled}, of objects that are newer than the source and every header; none
    where warnings are no errors."""
    found = {}
    headers = latest_header(str(pathlib.Path(__file__).resolve().parent.parent))
    for entry in commands(folder):
        words, made = deciding(entry), pathlib.Path(entry['directory'], entry['output'])
        if '-Werror' in words and made.exists() and made.stat().st_mtime > max(headers, os.stat(source(entry)).st_mtime):
            found.setdefault(source(entry), []).append(words)
    return found


def read(entry):
    done = subprocess.run(reading(entry['command']), cwd=entry['directory'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return entry['file'], done.returncode, done.stdout


subprocess.run(['ninja', '-C', str(build), '--quiet'] + generated(), check=True)
known = compiled_in(pathlib.Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else {}
everything = commands(build)
entries = [one for one in everything if not any(deciding(one) <= words for words in known.get(source(one), ()))]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    wrong = [(name, text) for name, status, text in pool.map(read, entries) if status or text]
for name, text in wrong:
    print('%s:\n%s' % (name, text))
print('%d sources read, %d compiled before, %d with an error or a warning' % (len(entries), len(everything) - len(entries), len(wrong)))
sys.exit(1 if wrong or not everything else 0)
