# SPDX-License-Identifier: MIT
"""Blocks of code as HTML, coloured by Pygments (Debian: python3-pygments) when the site is made."""
import html
import importlib.util
import re
import sys

if importlib.util.find_spec('pygments') is None:  # another Python than Debian's: the package has no compiled parts
    sys.path.append('/usr/lib/python3/dist-packages')
from pygments import lex                        # noqa: E402
from pygments.filter import Filter              # noqa: E402
from pygments.lexers import get_lexer_by_name   # noqa: E402
from pygments.token import Token                # noqa: E402

LEXERS = {'sh': 'bash', 'python': 'python', 'c': 'c', 'cpp': 'cpp', 'cuda': 'cuda', 'systemverilog': 'systemverilog', 'ini': 'ini', 'json': 'json'}
# Classes of style.css; the first that fits.
CLASSES = [(Token.Comment.Preproc, 'preprocessor'), (Token.Comment.PreprocFile, 'stringliteral'), (Token.Comment, 'comment'), (Token.Keyword, 'keyword'),
           (Token.Operator.Word, 'keyword'), (Token.Literal.String.Interpol, 'number'), (Token.Literal.String, 'stringliteral'),
           (Token.Literal.Number, 'number'), (Token.Name.Builtin.Pseudo, 'keyword'), (Token.Name.Decorator, 'preprocessor'),
           (Token.Name.Function, 'call'), (Token.Name.Builtin, 'call'), (Token.Name.Class, 'call'), (Token.Name.Attribute, 'option'),
           (Token.Name.Variable, 'number'), (Token.Name.Namespace, 'call')]


class Shell(Filter):
    """What Pygments leaves plain in a shell line: the command that begins it, and its options."""

    def filter(self, lexer, stream):
        begins = True
        for kind, value in stream:
            if kind in Token.Text and not value.isspace() or kind in Token.Name and kind not in Token.Name.Variable or kind in Token.Literal.Number:
                for word in re.findall(r'\s+|\S+', value):
                    if word.isspace():
                        begins = begins or '\n' in word
                        yield Token.Text, word
                        continue
                    made = Token.Name.Attribute if re.match(r'--?[A-Za-z]', word) and not begins else Token.Name.Function if begins else Token.Text
                    yield made, word
                    begins = False
                continue
            if '\n' in value or value.strip() in ('|', '&&', '||', ';', '(', '$(', 'do', 'then', '!'):
                begins = True
            elif value.strip() and kind not in Token.Comment:
                begins = kind in Token.Keyword
            yield kind, value


def lexer_of(language):
    made = get_lexer_by_name(LEXERS[language], stripnl=False, ensurenl=False)
    if language == 'sh':
        made.add_filter(Shell())
    return made


def coloured(text, language):
    """HTML of a text, spans around what has a colour."""
    if language not in LEXERS:
        return html.escape(text, False)
    out = []
    for kind, value in lex(text, lexer_of(language)):
        name = next((c for k, c in CLASSES if kind in k), '')
        for i, part in enumerate(value.split('\n')):  # no span over the end of a line
            out.append('\n' if i else '')
            if part:
                out.append('<span class="%s">%s</span>' % (name, html.escape(part, False)) if name else html.escape(part, False))
    return ''.join(out)


def block(text, language, is_output=False):
    return shell(coloured(text.strip('\n'), language), language, is_output)


def shell(inside, language, is_output=False):
    """The box of a block, what is in it being HTML."""
    return '<div class="code%s" data-language="%s"><pre><code>%s</code></pre></div>' % (' output' if is_output else '', language, inside)
