# SPDX-License-Identifier: MIT
"""What is wrong with the prose of a text: words of prose.txt, paragraphs and lines that are too long, words of the glossary
(terms.txt) without a link where a page first uses them. Code, in blocks and within lines, is not looked at."""
import ast
import dataclasses
import io
import pathlib
import re
import sys
import tokenize

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / 'docs' / 'site'))
import pages  # noqa: E402

WORDS, COLUMNS = 110, 120
NAMED = {'paragraph': 'a paragraph', 'item': 'an item', 'cell': 'a cell', 'heading': 'a heading'}
ITEM = re.compile(r'\s*(?:[-*+]|\d+\.)\s+')
CODE = re.compile(r'(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)', re.S)


@dataclasses.dataclass
class Part:
    """A paragraph, an item of a list, a cell of a table or a heading: its kind, its first line, its text."""
    kind: str
    line: int
    text: str


def rows(name):
    for line in (HERE / name).read_text(encoding='utf-8').split('\n'):
        if line and not line.startswith('#'):
            yield line


def pattern(text):
    """A row's expression: a blank is any white space, in what must stand before (which has a fixed length) one character."""
    return re.compile(re.sub(r'(\(\?<!.*?\))| ', lambda m: m[1].replace(' ', r'\s') if m[1] else r'\s+', text), re.I)


def phrases(name):
    return [(pattern(row.rsplit(' -> ', 1)[0]), row.rsplit(' -> ', 1)[1]) for row in rows(name)]


def terms():
    return [(row.split(None, 1)[0], pattern(r'\b(?:%s)\b' % row.split(None, 1)[1])) for row in rows('terms.txt')]


PHRASES, TERMS = phrases('prose.txt'), terms()
OF_SOURCES = PHRASES + phrases('prose_sources.txt')


def blank(found):
    """As many characters that are no words, line ends kept."""
    return re.sub(r'[^\n]', '\u00b7', found[0])


def without_code(text):
    return CODE.sub(blank, text)


def without_targets(text):
    return pages.LINK.sub(lambda m: m[2] + ' ', text)


def parts(text):
    """The parts of a page, comments and blocks of code left out."""
    text = re.sub(r'<!--.*?-->', lambda m: re.sub(r'[^\n]', '', m[0]), text, flags=re.S)
    out, last = [], 0
    for number, line in pages.lines_outside(text):
        joins = out and out[-1].kind in ('paragraph', 'item') and last == number - 1
        last = number if line.strip() else 0
        if not line.strip() or re.fullmatch(r'[\s|:-]+', line):
            continue
        if line.startswith('#'):
            out.append(Part('heading', number, line))
        elif line.lstrip().startswith('|'):
            cells = re.split(r'(?<!\\)\|', without_code(line).strip().strip('|'))
            out += [Part('cell', number, cell) for cell in cells]
        elif joins and not ITEM.match(line):
            out[-1].text += '\n' + line
        else:
            out.append(Part('item' if ITEM.match(line) else 'paragraph', number, line))
    return out


def private_words(text, line=1, rules=PHRASES):
    """Faults of a text from which code is taken out."""
    for found, advice in ((p.search(text), advice) for p, advice in rules):
        if found:
            at = line + text.count('\n', 0, found.start())
            yield at, '"%s": write %s' % (' '.join(found[0].split()), advice)


def long_paragraphs(page):
    for part in page:
        count = sum(1 for word in without_targets(part.text).split() if re.search(r'\w', word))
        if count > WORDS:
            yield part.line, '%s of %d words; at most %d' % (NAMED[part.kind], count, WORDS)


def cannot_be_broken(line):
    """A line that is one link, picture or piece of code, perhaps an item of a list."""
    return ' ' not in pages.LINK.sub('link', without_code(ITEM.sub('', line, 1).strip()))


def long_lines(page):
    for part in page:
        if part.kind in ('paragraph', 'item'):
            for number, line in enumerate(part.text.split('\n'), part.line):
                if len(line) > COLUMNS and not cannot_be_broken(line):
                    yield number, 'a line of %d characters; at most %d' % (len(line), COLUMNS)


def broken_links(page):
    """Links of two lines, which the tests of links do not see."""
    for part in page:
        for found in re.finditer(r'\[[^\[\]]*\n[^\[\]]*\]\(', without_code(part.text)):
            yield part.line + part.text.count('\n', 0, found.start()), 'a link broken over two lines'


def linked(text):
    return [m.span() for m in pages.LINK.finditer(text)]


def terms_without_link(page):
    """A page that has a word in a heading defines it there. Cells of tables are not looked at."""
    for anchor, term in TERMS:
        if any(term.search(part.text) for part in page if part.kind == 'heading'):
            continue
        for part in page:
            text = without_code(part.text)
            first = term.search(text) if part.kind in ('paragraph', 'item') else None
            if first:
                if not any(a <= first.start() and first.end() <= b for a, b in linked(text)):
                    at = part.line + text.count('\n', 0, first.start())
                    yield at, '"%s": link its first use, glossary.md#%s' % (first[0], anchor)
                break


def of_page(text):
    """(line, fault) of a page, by line."""
    page = parts(text)
    found = [fault for part in page for fault in private_words(without_targets(without_code(part.text)), part.line)]
    rules = (long_paragraphs, long_lines, broken_links, terms_without_link)
    return sorted(found + [fault for rule in rules for fault in rule(page)])


def of_glossary(text):
    return [fault for fault in of_page(text) if 'link its first use' not in fault[1]]


STRING = r'"(?:[^"\\\n]|\\.)*"'
COMMENT = re.compile(r'(/\*.*?\*/|//[^\n]*)|' + STRING + r"|'(?:[^'\\\n]|\\.)+'", re.S)


def comments(text):
    """The comments of a C, C++ or CUDA source."""
    return [match for match in COMMENT.finditer(text) if match[1]]


def of_header(text, rules=PHRASES):
    """Of the comments of a C or C++ header; text in quotes there is code."""
    found = []
    for comment in comments(text):
        line = text.count('\n', 0, comment.start()) + 1
        flat = re.sub(r'^[ \t]*\*', ' ', without_code(comment[0]), flags=re.M)
        found += private_words(flat, line, rules)
    return found


def of_python(text):
    """Of the docstrings of a module, its classes and its functions."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            found += private_words(without_code(ast.get_docstring(node, clean=False)), node.body[0].lineno)
    return sorted(found)


# What is printed in place of it, or is a name of the C language, is no word.
FORMAT = re.compile(r'%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[hlzjt]*[a-zA-Z]')


def of_source(text, rules=PHRASES):
    """Of the sentences that a C program prints: string literals with a blank, neighbours put together. Examples of a help
    text, which begin with the command's name, are code."""
    found = []
    text = re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m[0]), text, flags=re.S)
    text = re.sub(r'(?m)^#include.*', '', text)
    for literal in re.finditer(STRING + r'(?:(?:\s|PRI\w+)*' + STRING + ')*', text):
        words = ''.join(part[1:-1] if part[0] == '"' else re.sub(r'[^\n]', '', part) for part in re.split('(' + STRING + ')', literal[0]) if part)
        words = FORMAT.sub('\u00b7', re.sub(r'\\[nt]', ' ', words).replace('\\"', '"'))
        if ' ' in words.strip() and not words.startswith('  halfulp '):
            found += private_words(without_code(words), text.count('\n', 0, literal.start()) + 1, rules)
    return found


def third_person(stems):
    return {form for stem in stems for form in (stem, stem + 's', stem + 'es', re.sub('y$', 'ies', stem))}


def verbs():
    """Forms of verbs.txt: of what is a verb anywhere, and of what is one as the first word of a sentence."""
    sure, _, also_nouns = ' '.join(rows('verbs.txt')).partition('NOUNS, TOO')
    return third_person(sure.split()), third_person(also_nouns.split())


VERBS, FIRST_VERBS = verbs()


def has_verb(comment):
    flat = re.sub(r'\s*\n[ \t]*\*?[ \t]*', ' ', comment.strip('/* '))
    first = {word.lower() for word in re.findall(r'(?:^|[.:;] )([A-Z][a-z]+)', flat)}
    return bool(first & FIRST_VERBS or VERBS & set(re.findall('[a-z]+', flat.lower())))


def is_of_function(comment, text):
    """1 if it stands before a function or a macro with arguments, on lines of its own, and is no section's title."""
    before, after = text[:comment.start()], text[comment.end():].lstrip()
    if before.rpartition('\n')[2].strip() or '----' in comment[0] or not before.strip():
        return False
    head = re.match(r'[^;{=]*', after)[0]
    if head.startswith(('typedef', 'struct', 'enum', '/*', '//', '#include', '#if', '#endif')):
        return False
    if head.startswith('#'):
        return bool(re.match(r'#define \w+\(', head))
    inside = before.count('{') - before.count('}')  # within a function or a record: a statement's or a field's
    return '(' in head and inside == ('extern "C" {' in before)


def without_verb(text):
    """Comments of functions that do not say what these do: without a verb and without a formula."""
    for comment in comments(text):
        if is_of_function(comment, text) and '=' not in comment[0]:
            if not has_verb(comment[0]):
                yield text.count('\n', 0, comment.start()) + 1, 'no verb: say what it does: "Returns ...", "Adds ..."'


def of_code(name, text):
    """Of the comments and messages of a source: C, C++, CUDA or Python."""
    if not name.endswith('.py'):
        return sorted(of_header(text, OF_SOURCES) + of_source(text, OF_SOURCES) + list(without_verb(text)))
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            found += private_words(without_code(token.string), token.start[0], OF_SOURCES)
    return sorted(found + of_script(text, OF_SOURCES))


def of_roff(text):
    """Of a man page: text, and what stands in roman letters in requests; bold and italic words are code."""
    lines = []
    for line in text.split('\n'):
        request = re.match(r'\.\s*([A-Z]{1,2})\b\s*(.*)', line)
        if not request:
            lines.append('' if line.startswith('.') else line)
        elif request[1] in ('RB', 'BR', 'RI', 'IR'):
            pieces = re.findall(r'"[^"]*"|\S+', request[2])
            lines.append(''.join(p.strip('"') if request[1][i % 2] == 'R' else '\u00b7' for i, p in enumerate(pieces)))
        else:
            lines.append('\u00b7' if request[1] in ('B', 'I', 'BI') else '')
    flat = re.sub(r'\\f[BI].*?(?:\\fR|\\fP|$)', '\u00b7', '\n'.join(lines), flags=re.M).replace('\\-', '-').replace('\\&', '')
    return list(private_words(flat))


def of_script(text, rules=PHRASES):
    """Of a Python script that writes prose: every string with a blank, docstrings among them."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ' ' in node.value.strip():
            found += private_words(without_code(re.sub(r'\\f[BI].*?\\fR', '\u00b7', node.value)), node.lineno, rules)
    return sorted(found)


def of_help(text):
    """Of what a command prints for --help; the examples at its end are code."""
    return list(private_words(text.split('\nExamples:')[0]))
