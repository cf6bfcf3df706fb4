# SPDX-License-Identifier: MIT
"""Which module of a Python package imports which: for circles.py. What only a type checker reads is left out; an import
inside a function counts as one on top, for it hides a circle and does not undo it."""
import ast
import pathlib


def _module(package, path):
    parts = [package.name, *path.relative_to(package).with_suffix('').parts]
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def _for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test).rpartition('.')[2] == 'TYPE_CHECKING'


def _statements(node):
    """All import statements below a node, but those under TYPE_CHECKING."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif _for_types(child):
            for other in child.orelse:
                yield from _statements(ast.Module([other], []))
        else:
            yield from _statements(child)


def _named(statement, module, is_package):
    """The full names that a statement may import, each with the package that it stands in: `from A import b` is A.b where
    there is such a module, else A."""
    if isinstance(statement, ast.Import):
        return [(alias.name, alias.name) for alias in statement.names]
    up = module.split('.')
    up = up[:len(up) - statement.level + is_package] if statement.level else []
    home = '.'.join(up + ([statement.module] if statement.module else []))
    return [(f'{home}.{alias.name}', home) for alias in statement.names]


def imports(package):
    """{module: the modules of the package that it imports}, every module being a key."""
    package = pathlib.Path(package)
    paths = {_module(package, path): path for path in sorted(package.rglob('*.py'))}
    found = {module: set() for module in paths}
    for module, path in paths.items():
        for statement in _statements(ast.parse(path.read_text(), str(path))):
            for name, home in _named(statement, module, path.name == '__init__.py'):
                used = name if name in paths else home
                if used in paths and used != module:
                    found[module].add(used)
    return found
