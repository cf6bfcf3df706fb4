# SPDX-License-Identifier: MIT
"""What the tests of the examples have in common: a copy of the example in an empty folder, commands that are shown with what they print.

    with shell.copy_of(source_root, 'cmake') as folder:
        out = shell.run('cmake -B build', folder, env)
"""
import contextlib
import pathlib
import shutil
import subprocess
import sys
import tempfile


@contextlib.contextmanager
def copy_of(source, name):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / name
        shutil.copytree(pathlib.Path(source) / 'examples' / name, folder)
        yield folder


def run(command, folder, env, status=0):
    """Shows the command line and its output, which it returns; stops the test where the exit status is another one."""
    print('$', command, flush=True)
    done = subprocess.run(command, cwd=folder, env=env, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end='', flush=True)
    if done.returncode != status:
        sys.exit(f'exit status {done.returncode} instead of {status}')
    return done.stdout


def here(tool, path=None):
    """Whether a tool is on the PATH, or this path. nvcc can be a wrapper without its toolkit: it also has to run."""
    found = shutil.which(tool, path=path)
    if tool != 'nvcc' or not found:
        return bool(found)
    return subprocess.run([found, '--version'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def need(*tools):
    """Exits with 77 where a tool is missing."""
    missing = [tool for tool in tools if not here(tool)]
    if missing:
        print('not here:', ', '.join(missing))
        sys.exit(77)
