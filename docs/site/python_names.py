# SPDX-License-Identifier: MIT
"""The reference of the Python package: every public name with its signature and docstring, read from python/halfulp by ast
(the package need not be built), and what of it the search finds."""
import ast
import copy
import functools
import html
import re

import docstring
import finish
import pages

PACKAGE = pages.ROOT / 'python' / 'halfulp'
INDEX = 'page_python_names.html'
# Modules with names of their own; what `import halfulp` gives stands on the page of halfulp.
MODULES = [('halfulp', 'the package itself'), ('halfulp.codes', 'operations on codes'), ('halfulp.scaled', 'scaled tensors'),
           ('halfulp.number', 'other number systems'), ('halfulp.p3109', 'operations of IEEE P3109'),
           ('halfulp.train', 'training'), ('halfulp.torch', 'PyTorch'),
           ('halfulp.torch.distributed', 'processes of PyTorch'), ('halfulp.torch.recipes', 'recipes of papers for PyTorch')]
# Those that give names of several files.
FOLDERS = {'halfulp': '', 'halfulp.train': 'train/', 'halfulp.torch': 'torch/', 'halfulp.torch.recipes': 'torch/recipes/'}


def source_of(module):
    """The file of a module, or of a package of that name."""
    file = PACKAGE / (module + '.py')
    return file if file.is_file() else PACKAGE / module / '__init__.py'


@functools.lru_cache(maxsize=None)
def tree(module):
    return ast.parse(source_of(module).read_text(encoding='utf-8'))


@functools.lru_cache(maxsize=None)
def values(module):
    """{name: the expression} of a module's assignments."""
    out = {}
    for node in tree(module).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            out[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            out[node.target.id] = node.value
    return out


OPTIONS = ast.literal_eval(values('options')['_MEANINGS'])


class Function:
    """A function or method: its signature as a user sees it and its docstring."""

    def __init__(self, node, name=None, text=None):
        self.node, self.name = node, name or node.name
        self.text = text if text is not None else ast.get_docstring(node) or ''
        with_options = [d for d in node.decorator_list if 'with_options' in ast.unparse(d)]
        self.options = chosen(with_options[0]) if with_options else []
        if self.options:
            listed = '\n'.join('%s : %s' % (o, OPTIONS[o]) for o in self.options)
            before, mark, behind = self.text.partition('\n\nReturns\n')
            self.text = '%s\n\nOptions\n-------\n%s%s%s' % (before, listed, mark, behind)

    def signature(self, method=False):
        """Without the types of the arguments, which the docstring says; *, **options spelt out."""
        a = self.node.args
        plain = a.posonlyargs + a.args
        first = len(plain) - len(a.defaults)
        parts = []
        for i, one in enumerate(plain):
            default = '=' + ast.unparse(a.defaults[i - first]) if i >= first else ''
            parts.append(one.arg + default)
        if method and parts and parts[0] in ('self', 'cls'):
            parts.pop(0)
        if a.vararg:
            parts.append('*' + a.vararg.arg)
        keywords = [one.arg + ('=' + ast.unparse(d) if d is not None else '') for one, d in zip(a.kwonlyargs, a.kw_defaults)]
        keywords += ['%s=%s' % (o, '1' if o == 'threads' else 'None') for o in self.options]
        if keywords and not a.vararg:
            parts.append('*')
        parts += keywords
        if a.kwarg and not self.options:
            parts.append('**' + a.kwarg.arg)
        result = ast.unparse(self.node.returns) if self.node.returns else ''
        return '%s(%s)%s' % (self.name, ', '.join(parts), ' → ' + result.strip("'") if result not in ('', 'Any', 'None') else '')


def chosen(decorator):
    """The options that a use of with_options names, all where it names none."""
    names = []
    for arg in decorator.args if isinstance(decorator, ast.Call) else []:
        if isinstance(arg, ast.Starred):
            names += constant(arg.value.id)
        else:
            names.append(ast.literal_eval(arg))
    return names or list(OPTIONS)


def constant(name):
    """A tuple of options that options.py names; it is made from their table."""
    return eval(compile(ast.Expression(values('options')[name]), 'options.py', 'eval'), {'_MEANINGS': OPTIONS})  # of our own source


def made_by_call(module, name, maker):
    """`add, sub = map(_binary, BINARY)`: the function that the module makes, with the text that it gives it."""
    known = values(module)
    maker = next(n for n in tree(module).body if isinstance(n, ast.FunctionDef) and n.name == maker)
    inner = next(n for n in maker.body if isinstance(n, ast.FunctionDef))
    node = ast.FunctionDef(name=name, args=inner.args, body=inner.body, returns=inner.returns,
                           decorator_list=[ast.parse('with_options()', mode='eval').body])
    what = ast.literal_eval(values('codes')['WHAT'])[name]
    behind = known['_named'].args[1]
    text = ''.join(ast.literal_eval(known[p.id] if isinstance(p, ast.Name) else p) for p in (behind.left, behind.right))
    return Function(node, name, what + text)


def find(module, name):
    """The definition of a name: a class, a Function, or None for what is neither (a module, a constant)."""
    for node in tree(module).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.FunctionDef) and node.name == name:
            if any('_named' in ast.unparse(d) for d in node.decorator_list):  # fma: text from the table, as of those made by a call
                what = ast.literal_eval(values('codes')['WHAT'])[name]
                behind = values(module)['_named'].args[1]
                text = ''.join(ast.literal_eval(values(module)[p.id] if isinstance(p, ast.Name) else p) for p in (behind.left, behind.right))
                node = copy.copy(node)
                node.decorator_list = [ast.parse('with_options()', mode='eval').body]
                return Function(node, name, what + text)
            return Function(node)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and name in ast.unparse(node.targets[0]).strip('()').split(', '):
            return made_by_call(module, name, node.value.args[0].id)
    return None


def imports(path):
    """{name: module it is from} of the relative imports of a file of the package."""
    found = ast.parse(path.read_text(encoding='utf-8'))
    return {a.asname or a.name: n.module for n in found.body if isinstance(n, ast.ImportFrom) and n.level for a in n.names if n.module}


def entry(full, what):
    """A name as HTML."""
    if isinstance(what, Function):
        return entry_html(full, what.signature(), what.text, '', 3)
    inside = []
    for node in what.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith('_') and ast.get_docstring(node):
            decorators = [ast.unparse(d) for d in node.decorator_list]
            method = Function(node)
            shown = method.name if 'property' in decorators else method.signature('staticmethod' not in decorators)
            inside.append(entry_html('%s.%s' % (full, node.name), shown, method.text, '', 4))
    start = next((n for n in what.body if isinstance(n, ast.FunctionDef) and n.name == '__init__'), None)
    text = ast.get_docstring(what) or ''
    if start is not None and ast.get_docstring(start):
        text += '\n\n' + ast.get_docstring(start)
    head = 'class ' + (Function(start, what.name).signature(True) if start is not None else fields(what))
    return entry_html(full, head, text, '\n'.join(inside), 3)


def fields(node):
    """A class without an __init__ of its own: of a NamedTuple its fields."""
    if not any('NamedTuple' in ast.unparse(b) for b in node.bases):
        return node.name
    listed = [n.target.id + ('=' + ast.unparse(n.value) if n.value is not None else '') for n in node.body if isinstance(n, ast.AnnAssign)]
    return '%s(%s)' % (node.name, ', '.join(listed))


def entry_html(full, signature, text, inside, level):
    shown = html.escape(full.split('.', 1)[1] if full.startswith('halfulp.') else full)
    return '<div class="entry">%s<div class="signature">%s</div>%s%s</div>' % (
        finish.heading(level, full, shown), html.escape(signature), docstring.as_html(text), inside)


def listed(module):
    """[(full name, module where it is, its definition)] of a page, in the order of its groups."""
    out = []
    if module in FOLDERS:
        folder = FOLDERS[module]
        path = PACKAGE / folder / '__init__.py'
        public = next(ast.literal_eval(n.value) for n in ast.parse(path.read_text(encoding='utf-8')).body
                      if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == '__all__')
        where = imports(path)
        for name in public:
            if name in where:
                out.append((module + '.' + name, folder + where[name], resolved(folder + where[name], name)))
    else:
        own = '/'.join(module.split('.')[1:])
        for node in tree(own).body:
            name = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else '_'
            if not name.startswith('_') and name not in HELPERS:
                out.append(('%s.%s' % (module, name), own, find(own, name)))
    return [item for item in out if item[2] is not None]


# Without an underscore, for other modules of the package.
HELPERS = {'operands_of', 'place_and_call', 'apply', 'named'}


def resolved(module, name):
    """The definition, looked for where the module has it from, too."""
    found = find(module, name)
    if found is None:
        folder = module.rpartition('/')[0]
        further = imports(source_of(module)).get(name)
        if further:
            return resolved((folder + '/' if folder else '') + further, name)
    return found


def title_of(module):
    """A group's title: the first sentence of the module that has the names."""
    text = re.sub(r'\s+', ' ', re.split(r'\n\s*\n', ast.get_docstring(tree(module)) or module)[0])
    return re.sub(r'\s*\((?:halfulp|docs)/[^()]*\)?$', '', re.split(r'[.:;](?:\s|$)', text)[0]).strip().replace('halfulp.torch', 'torch')


def file_of(module):
    return 'python_%s.html' % module.replace('.', '_')


def linked(text, module):
    """`Mode` and docs/python.md as links, where there is such a name or page."""
    def name(found):
        full = next((f for f in (module + '.' + found[1], 'halfulp.' + found[1]) if f in places()), None)
        return '<a href="%s#%s">%s</a>' % (places()[full], full, found[0]) if full else found[0]

    def page_of(found):
        return '<a href="%s.html">%s</a>' % (pages.label(found[0]), found[0]) if found[0] in pages.on_site() else found[0]

    parts = re.split(r'(?s)(<pre.*?</pre>|<h[2-5].*?</h[2-5]>|<div class="signature">.*?</div>)', text)
    return ''.join(part if i % 2 else re.sub(r'\bdocs/[\w/-]+\.md\b', page_of, re.sub(r'<code>([\w.]+)</code>', name, part))
                   for i, part in enumerate(parts))


@functools.lru_cache(maxsize=None)
def places():
    """{full name: the file of its page}"""
    return {full: file_of(module) for module, _ in MODULES for full, _, _ in listed(module)}


def place(introduction, full):
    """Where the package's docstring speaks of a name first; behind all others where it does not."""
    found = re.search(r'\b%s\b' % full.rpartition('.')[2], introduction.partition('Formats and values')[2])
    return found.start() if found else len(introduction)


def page(module):
    """(body, entries)"""
    path = PACKAGE / (FOLDERS[module] + '__init__.py' if module in FOLDERS else '/'.join(module.split('.')[1:]) + '.py')
    out = [docstring.as_html(ast.get_docstring(ast.parse(path.read_text(encoding='utf-8'))))]
    entries, groups = [], {}
    for full, where, what in listed(module):
        groups.setdefault(where, []).append((full, what))
    introduction = ast.get_docstring(ast.parse(path.read_text(encoding='utf-8')))
    for where, items in sorted(groups.items(), key=lambda g: min(place(introduction, full) for full, _ in g[1])):
        if len(groups) > 1:
            out.append(finish.heading(2, 'module-' + where.replace('/', '-').lstrip('_'), html.escape(title_of(where))))
        else:
            out.append(finish.heading(2, 'names', 'Names'))
        for full, what in items:
            out.append(entry(full, what))
            text = what.text if isinstance(what, Function) else ast.get_docstring(what) or ''
            entries.append(['Python', full, '%s#%s' % (file_of(module), full), docstring.first(text), ''])
            entries += methods(full, what, file_of(module))
    return linked('\n'.join(out), module), entries


def methods(full, what, file):
    if isinstance(what, Function):
        return []
    return [['Python', '%s.%s' % (full, n.name), '%s#%s.%s' % (file, full, n.name), docstring.first(ast.get_docstring(n)), '']
            for n in what.body if isinstance(n, ast.FunctionDef) and not n.name.startswith('_') and ast.get_docstring(n)]


def overview():
    rows = ''.join('<dt><a href="%s">%s</a></dt><dd>%s</dd>\n' % (file_of(m), m, html.escape(what[:1].upper() + what[1:])) for m, what in MODULES)
    return ('<p>Every public name with its signature and docstring. <a href="page_python.html">Python and NumPy</a> and '
            '<a href="page_torch_torch.html">PyTorch</a> begin with a problem.</p>\n<dl class="names">\n%s</dl>' % rows)


def made():
    """([(file, title, body)], entries of the search)."""
    files, entries = [(INDEX, 'Python names', overview())], []
    for module, _ in MODULES:
        body, found = page(module)
        files.append((file_of(module), module, body))
        entries += found
    return files, entries
