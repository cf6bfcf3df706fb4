# SPDX-License-Identifier: MIT
"""What the site has of the command and of the Python package: a page for each, and entries for the search.

The command is asked for its --help where it is built (OUT is the build folder's docs/); else there are only the names and
summaries of its commands, from cli/main.c. The package is read, not imported."""
import ast
import os
import pathlib
import re
import subprocess

import pages

ROOT = pages.ROOT
MODULES = ('codes', 'number', 'scaled', 'train')
OPTION = re.compile(r'^  (?:-(\w), |    )--([\w-]+)(?: (\S+))? +(.*)$')


def verbatim(text):
    return ['@verbatim', *text.rstrip('\n').split('\n'), '@endverbatim', '']


def commands():
    """[(name, summary)] as `halfulp --help` has them."""
    table = (ROOT / 'cli' / 'main.c').read_text(encoding='utf-8')
    return re.findall(r'\{"([\w-]+)", cli_\w+, "([^"]+)"\}', table)


def helps(build):
    """{command: its --help}, empty where the command is not built."""
    exe = pathlib.Path(os.environ.get('HALFULP') or build / 'cli' / 'halfulp')
    if not exe.is_file():
        return {}
    out = {}
    for name, _ in commands():
        done = subprocess.run([str(exe), name, '--help'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.returncode == 0:
            out[name] = done.stdout
    return out


def command_page(build):
    """The page, for Doxygen, and its entries."""
    told, entries = helps(build), []
    out = ['# The command {#page_command}', '', 'What `halfulp COMMAND --help` prints; `man halfulp` has the rest.', '']
    for name, summary in commands():
        place = 'page_command__%s' % re.sub(r'\W', '_', name)
        address = 'page_command.html#' + place
        out += ['## halfulp %s {#%s}' % (name, place), '']
        out += verbatim(told[name]) if name in told else [summary[:1].upper() + summary[1:] + '.', '']
        about = told[name].split('\n')[1] if name in told else summary
        entries.append(['command', 'halfulp ' + name, address, about])
        for line in told.get(name, '').split('\n'):
            found = OPTION.match(line)
            if found:
                entries.append(['option', 'halfulp %s --%s' % (name, found[2]), address, found[4]])
    return '\n'.join(out), entries


def public(path):
    """[(name, head, docstring)] of the functions and classes of a module that have no underscore."""
    found = []
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith('_') and ast.get_docstring(node):
            head = 'class %s' % node.name
            if isinstance(node, ast.FunctionDef):
                head = '%s(%s)' % (node.name, ast.unparse(node.args))
            found.append((node.name, head, ast.get_docstring(node)))
    return found


def exported():
    """The names that `import halfulp` gives, by the module in which each is."""
    tree = ast.parse((ROOT / 'python/halfulp/__init__.py').read_text(encoding='utf-8'))
    return {a.name: n.module for n in tree.body if isinstance(n, ast.ImportFrom) and n.module for a in n.names}


def python_page():
    out = ['# Python names {#page_python_names}', '', 'Functions and classes with their docstrings; <a href="page_python.html">'
           'Python and NumPy</a> and <a href="page_torch.html">PyTorch</a> begin with a problem.', '']
    entries, listed = [], []
    for name, module in sorted(exported().items(), key=lambda x: x[0].lower()):
        here = [p for p in public(ROOT / 'python/halfulp' / (module + '.py')) if p[0] == name]
        listed += [('halfulp.' + name, *p[1:]) for p in here]
    for module in MODULES:
        listed += [('halfulp.%s.%s' % (module, p[0]), *p[1:]) for p in public(ROOT / 'python/halfulp' / (module + '.py'))]
    for path in sorted((ROOT / 'python/halfulp/torch').glob('[!_]*.py')):
        if path.name == 'ops.py':
            continue  # what torch.ops registers, below the functions of the same names
        listed += [('halfulp.torch.' + p[0], *p[1:]) for p in public(path)]
    seen = set()
    for full, head, said in listed:
        place = 'page_python_names__' + re.sub(r'\W', '_', full)
        if place in seen:
            continue
        seen.add(place)
        out += ['## %s {#%s}' % (full, place), ''] + verbatim(head + '\n\n' + said)
        first = re.split(r'\n\s*\n', said)[0]
        entries.append(['python', full, 'page_python_names.html#' + place, re.sub(r'\s+', ' ', first)])
    return '\n'.join(out), entries
