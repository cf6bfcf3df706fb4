# SPDX-License-Identifier: MIT
"""Where a line of Python can be made wrong. Comments, texts and imports are no code for this."""
import ast
import io
import tokenize

from operators import EXCHANGED, OPERATOR_OF, Site, next_number, other_extreme

_WORDS_OF_IMPORTS = ('import', 'from')
_SKIPPED = (tokenize.COMMENT, tokenize.STRING, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
            tokenize.ENCODING, tokenize.ENDMARKER)


def _tokens(text):
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def _imports(tokens):
    """Lines of import statements."""
    lines, first, within = set(), True, False
    for token in tokens:
        if first and token.type == tokenize.NAME:
            within = token.string in _WORDS_OF_IMPORTS
        if within:
            lines.update(range(token.start[0], token.end[0] + 1))
        first = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT) or (first and token.type in _SKIPPED)
        within = within and not first
    return lines


def _of_tokens(file, tokens):
    skipped = _imports(tokens)
    code = [token for token in tokens if token.type not in _SKIPPED and token.start[0] not in skipped]
    for i, token in enumerate(code):
        text, line, start, end = token.string, token.start[0], token.start[1], token.end[1]
        before = code[i - 1] if i else None
        after = code[i + 1] if i + 1 < len(code) else None
        if text in OPERATOR_OF and before is not None:
            operator = OPERATOR_OF[text]
            value = before.type == tokenize.NUMBER or before.string in (')', ']', '}') or \
                (before.type == tokenize.NAME and before.string not in ('return', 'in', 'and', 'or', 'not', 'if', 'else', 'yield'))
            if operator != 'add-sub' or value:
                yield Site(file, line, operator, start, end, EXCHANGED[text])
        elif token.type == tokenize.NUMBER and next_number(text):
            yield Site(file, line, 'constant', start, end, next_number(text))
        elif token.type == tokenize.NAME and after is not None and after.string == '(' and before is not None and \
                before.string != 'def' and other_extreme(text):
            yield Site(file, line, 'min-max', start, end, other_extreme(text))


def _column(lines, line, byte):
    """Characters before a column that ast gives in bytes."""
    return len(lines[line - 1].encode()[:byte].decode())


def _of_tree(file, text):
    lines = text.split('\n')

    def span(node):
        return _column(lines, node.lineno, node.col_offset), _column(lines, node.end_lineno, node.end_col_offset)

    def visit(node, in_function):
        for child in ast.iter_child_nodes(node):
            inside = in_function or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield from at(child, in_function)
            yield from visit(child, inside)

    def at(node, in_function):
        if isinstance(node, (ast.If, ast.While)) and node.test.lineno == node.test.end_lineno:
            a, b = span(node.test)
            yield Site(file, node.test.lineno, 'negate', a, b, 'not ({})'.format(lines[node.test.lineno - 1][a:b]))
        elif isinstance(node, ast.Return) and node.value is not None and node.value.lineno == node.value.end_lineno:
            a, b = span(node.value)
            made = 'True' if isinstance(node.value, ast.Constant) and node.value.value is None else 'None'
            yield Site(file, node.value.lineno, 'return', a, b, made)
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) and in_function and node.lineno == node.end_lineno:
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
                return
            a, b = span(node)
            yield Site(file, node.lineno, 'delete', a, b, 'pass')

    yield from visit(ast.parse(text), False)


def sites(file, text):
    """The sites of a file, in the order of its lines."""
    found = list(_of_tokens(file, _tokens(text))) + list(_of_tree(file, text))
    return sorted(set(found), key=lambda site: (site.line, site.start, site.end, site.operator))


def code_lines(text):
    """How many lines have code."""
    return len({token.start[0] for token in _tokens(text) if token.type not in _SKIPPED})


def compiles(text):
    try:
        compile(text, 'mutant', 'exec')
    except (SyntaxError, ValueError):
        return False
    return True
