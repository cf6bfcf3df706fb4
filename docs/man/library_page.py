#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes halfulp(3), the calls by header with the first sentence of their texts: library_page.py OUT."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'site')]
import headers  # noqa: E402
import roff     # noqa: E402

ROOT = HERE.parent.parent
LIBRARIES = [
    ('halfulp', 'FORMATS, CONVERSION, ARITHMETIC, SUMS', 'halfulp/halfulp.h', r'halfulp/(?!train|device|oracle|halfulp|core)\w+\.h'),
    ('halfulp', 'NAMED FORMATS', 'halfulp/halfulp.h', r'halfulp/formats/(?!make)\w+\.h'),
    ('halfulp', 'ONE VALUE, INLINE', 'halfulp/core.h', r'halfulp/core\.h'),
    ('halfulp\\-cuda', 'CUDA DEVICES', 'halfulp/device.h', r'halfulp/device\w*\.h'),
    ('halfulp\\-train', 'TRAINING', 'halfulp/train.h', r'halfulp/train/\w+\.h'),
    ('halfulp\\-oracle', 'THE REFERENCE', 'halfulp/oracle.h', r'halfulp/oracle\.h'),
]
FIRST = ['status', 'format', 'mode', 'scalar', 'array', 'arith', 'operation', 'view', 'accum', 'gemm']


def first_sentence(text):
    text = re.sub(r'\s+', ' ', text.split('\n\n')[0]).strip()
    return re.split(r'(?<=[.;])\s(?=[A-Z0-9])', text)[0].rstrip(';')


def prototype(item):
    text = re.sub(r'\bHU_API\b|\bHU_FN\b|\bHU_MUST_CHECK\b|\bstatic inline\b', '', item.text)
    return re.sub(r'\s+', ' ', text.split('{')[0]).strip().rstrip(';') + ';'


def calls(items):
    """[(prototype, text)]: what is said of the call alone, and the first sentence of what holds for it and others."""
    out = []
    for item in headers.declared(items):
        if item.kind == 'other' and '(' in item.text and not item.text.startswith('typedef'):
            own = item.behind and re.sub(r'^[a-z]{2,}(?=[ ,;:])', lambda word: word.group().capitalize(), item.behind).rstrip('.;') + '.'
            out.append((prototype(item), (own + ' ' + first_sentence(item.before)).strip()))
    return out


def header(name, path):
    about, items = headers.parse(path)
    listed = calls(items)
    out = ['.SS ' + roff.escape(name), roff.paragraph(headers.sentence(about))]
    for text, said in listed:
        out += ['.TP', '.B ' + roff.quoted(text), roff.paragraph(said)]
    return out


def statuses():
    items = headers.parse(ROOT / 'include/halfulp/status.h')[1]
    found = next(i for i in items if i.kind == 'enum')
    for value in headers.declared(found.members):
        yield ['.TP', '.B ' + roff.escape(value.text.split()[0]), roff.paragraph(value.behind)]


def order(path):
    return FIRST.index(path.stem) if path.stem in FIRST else len(FIRST), path.stem


def page():
    out = roff.head('halfulp', 3, 'Library functions')
    out += ['.SH NAME', 'halfulp \\- low-precision floating point, bit for bit: the calls of the library', '.SH SYNOPSIS', '.nf',
            '.B #include <halfulp/halfulp.h>', '.PP', '.B cc FILE.c $(pkg\\-config \\-\\-cflags \\-\\-libs halfulp)', '.fi']
    out += ['.SH DESCRIPTION', roff.paragraph(
        'Formats, rounding modes, accumulation models and random streams are plain values in a call; nothing is global, and the library '
        'allocates nothing. The same call gives the same bits at every instruction set, number of threads, compiler and device. Below '
        'stand the calls of each header with the first sentence of what they do; the headers say the rest: shapes, special operands, '
        'events, errors, sources. Calls that end in _n work on arrays. Where exec names a device (halfulp/device.h), a call runs there.')]
    for library, title, include, pattern in LIBRARIES:
        out += ['.SH ' + roff.quoted(title), '.B #include <%s>' % include, '(library', '.BR %s )' % library]
        found = [p for p in headers.public_headers(ROOT) if re.fullmatch(pattern, str(p.relative_to(ROOT / 'include')))]
        for path in sorted(found, key=order):
            if calls(headers.parse(path)[1]):
                out += header(str(path.relative_to(ROOT / 'include')), path)
    out += ['.SH C++']
    for path in headers.wrappers(ROOT):
        name = str(path.relative_to(ROOT / 'include'))
        out += ['.B #include <%s>' % name, '.PP', roff.paragraph(headers.sentence(headers.about(path)))]
    out += ['.SH ERRORS', roff.paragraph('Calls that can fail return hu_status; arguments are checked before anything is written. NaN, overflow '
                                         'and their like are events (halfulp/mode.h), not errors.')]
    for lines in statuses():
        out += lines
    out += ['.SH EXAMPLES', '.nf', '#include <halfulp/halfulp.h>', '#include <stdio.h>', '', 'int main(void) {',
            '  hu_mode rne = {0};', '  uint32_t events, code = hu_encode(hu_float8_e4m3fn(), rne, 0.3f, 0, &events);',
            roff.escape('  printf("%02x %g\\n", code, hu_decode64(hu_float8_e4m3fn(), code));'), '}', '.fi']
    out += ['.SH SEE ALSO', '.BR halfulp (1),', '.BR halfulp\\-train.ini (5)', '.PP',
            roff.paragraph('docs/numerics.md in the source distribution defines every result; make docs makes the reference with all texts.')]
    return '\n'.join(out) + '\n'


if __name__ == '__main__':
    pathlib.Path(sys.argv[1]).write_text(page(), encoding='ascii')
