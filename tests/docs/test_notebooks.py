#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The notebooks of docs/notebooks: their cells run, in order, and give what the notebooks have.

usage: test_notebooks.py SOURCE_ROOT BUILD_ROOT [--write]    --write: what the cells give goes into the notebooks

No Jupyter is asked for. Of what a cell gives, text that it prints and its last expression's text and SVG are compared, pages of
HTML are not. Numbers in texts may differ by a twentieth, or by 1: torch's own sums depend on the machine. Ends with 77 where no Python
has torch."""
import ast
import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys

NUMBER = re.compile(r'-?\d+(?:\.\d+)?')


def value_of(thing, count):
    """What a notebook shows of the last expression of its cell number `count`."""
    data = {'text/plain': repr(thing).splitlines(True)}
    if hasattr(thing, '_repr_svg_'):
        data['image/svg+xml'] = thing._repr_svg_().splitlines(True)
    return {'output_type': 'execute_result', 'execution_count': count, 'metadata': {}, 'data': data}


def run_cell(text, names, count):
    """The outputs of a cell."""
    tree = ast.parse(text)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, outputs = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, 'cell %d' % count, 'exec'), names)
        thing = eval(compile(last, 'cell %d' % count, 'eval'), names) if last else None
    if printed.getvalue():
        outputs.append({'name': 'stdout', 'output_type': 'stream', 'text': printed.getvalue().splitlines(True)})
    return outputs + ([value_of(thing, count)] if thing is not None else [])


def run(book):
    """The notebook with the outputs that its cells give."""
    names, count = {'__name__': '__main__'}, 0
    cells = []
    for cell in book['cells']:
        if cell['cell_type'] == 'code':
            count += 1
            cell = dict(cell, execution_count=count, outputs=run_cell(''.join(cell['source']), names, count))
        cells.append(cell)
    return dict(book, cells=cells)


def alike(x, y):
    """Whether two texts are the same but for numbers that lie close together."""
    pairs = list(zip(NUMBER.findall(x), NUMBER.findall(y)))
    return NUMBER.sub('#', x) == NUMBER.sub('#', y) and all(
        abs(float(a) - float(b)) <= max(1, abs(float(a)) / 20) for a, b in pairs)


def same(stored, made):
    """Whether outputs are those that a notebook has."""
    def parts(outputs):
        return [(kind, ''.join(text)) for one in outputs
                for kind, text in [('text', one.get('text', ''))] + sorted(one.get('data', {}).items())]
    first, second = parts(stored), parts(made)
    return len(first) == len(second) and all(
        a == b or a[0] == b[0] != 'image/svg+xml' and alike(a[1], b[1]) for a, b in zip(first, second))


def differences(stored, made):
    """A sentence for each cell that gives something else."""
    for count, (cell, other) in enumerate(zip(stored['cells'], made['cells'])):
        if not same(cell.get('outputs', []), other.get('outputs', [])):
            yield 'cell %d gives\n%s\nand the notebook has\n%s' % (
                count, *(''.join(json.dumps(o, indent=1)[:2000] for o in one['outputs']) for one in (other, cell)))


def test_the_test():
    """Each kind of output is seen, and a difference of each kind is, too."""
    names = {}
    text = run_cell('print("12 dB")\nx = 3', names, 1)
    assert [one['text'] for one in text] == [['12 dB\n']] and names['x'] == 3
    value = run_cell('class A:\n    def _repr_svg_(self):\n        return "<svg/>"\n    def __repr__(self):\n        return "A"\nA()', {}, 2)
    assert value[0]['data'] == {'text/plain': ['A'], 'image/svg+xml': ['<svg/>']}
    assert run_cell('None', {}, 1) == [] == run_cell('', {}, 1)
    assert alike('12 dB', '13 dB') and not alike('12 dB', '14 dB') and not alike('12 dB', '12 %') and not alike('100', '106')
    assert same(text, text) and not same(text, []) and not same(value, [dict(value[0], data={'text/plain': ['A'], 'image/svg+xml': ['<svg />']})])


def with_torch(source, build, books, how):
    """Runs this file by the Python that has torch."""
    sys.path.insert(0, str(source / 'tests' / 'examples'))
    import staged
    python = staged.python_with_torch(build)
    env = dict(os.environ, PYTHONPATH=str(source / 'python'), HALFULP_LIBRARY=str(build))
    return subprocess.run([python, '-B', __file__, how, *map(str, books)], env=env).returncode


def main():
    if sys.argv[1] not in ('--compare', '--write'):
        source, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
        books = sorted((source / 'docs' / 'notebooks').glob('*.ipynb'))
        assert books
        test_the_test()
        sys.exit(with_torch(source, build, books, '--write' if '--write' in sys.argv else '--compare'))
    wrong = []
    for path in map(pathlib.Path, sys.argv[2:]):
        book = json.loads(path.read_text(encoding='utf-8'))
        os.chdir(path.parent)
        made = run(book)
        if sys.argv[1] == '--write':
            pathlib.Path(path.name).write_text(json.dumps(made, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')
        else:
            wrong += ['%s, %s' % (path.name, line) for line in differences(book, made)]
        print('%s: %d cells' % (path.name, len(book['cells'])))
    sys.exit('\n'.join(wrong) or 0)


if __name__ == '__main__':
    main()
