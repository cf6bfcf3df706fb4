# SPDX-License-Identifier: MIT
"""A place where one line can be made wrong, and the operators that do it.

Columns count characters from 0. A site names its line as `file:line:operator`, with `.2` for the second place of that
operator in the line, and so on.
"""
import collections
import re

OPERATORS = {
    'relational': 'another relation: < and <=, > and >=, == and !=',
    'add-sub': '+ and - exchanged',
    'constant': 'n + 1 for the constant n',
    'and-or': '&& and || exchanged',
    'negate': 'the condition of an if or while negated',
    'delete': 'a call or an assignment deleted',
    'return': 'another value returned',
    'shift': '<< and >> exchanged',
    'min-max': 'min and max exchanged',
}

Site = collections.namedtuple('Site', 'file line operator start end text')  # text stands for columns start to end


def changed(line, site):
    """The line as the site makes it."""
    return line[:site.start] + site.text + line[site.end:]


def label(site, sites):
    """The site's name; `sites` are those of its file."""
    same = [one for one in sites if (one.line, one.operator) == (site.line, site.operator)]
    which = same.index(site) + 1
    return '{}:{}:{}{}'.format(site.file, site.line, site.operator, '' if which == 1 else '.{}'.format(which))


def find(text, sites_of):
    """The site that a name says. sites_of(file): the sites of a file."""
    match = re.fullmatch(r'(.+):(\d+):([a-z-]+)(?:\.(\d+))?', text)
    if not match:
        raise ValueError('{!r} is not file:line:operator'.format(text))
    file, line, operator, which = match[1], int(match[2]), match[3], int(match[4] or 1)
    if operator not in OPERATORS:
        raise ValueError('{!r} is no operator; they are {}'.format(operator, ', '.join(OPERATORS)))
    here = [one for one in sites_of(file) if one.line == line]
    same = [one for one in here if one.operator == operator]
    if not 1 <= which <= len(same):
        others = sorted({one.operator for one in here})
        raise ValueError('{}:{} has {} places for {}; it has some for: {}'.format(
            file, line, len(same), operator, ', '.join(others) or 'none'))
    return same[which - 1]


def next_number(text):
    """n + 1 as it is written for n, or None for what is left alone: octal numbers, exponents, hexadecimal fractions."""
    match = re.fullmatch(r'(0[xX])([0-9a-fA-F]+)([uUlLzZ]*)', text)
    if match:
        digits = '{:0{}x}'.format(int(match[2], 16) + 1, len(match[2]))
        return match[1] + (digits if match[2].islower() else digits.upper()) + match[3]
    match = re.fullmatch(r'(0|[1-9][0-9_]*)([uUlLzZ]*)', text)
    if match:
        return str(int(match[1].replace('_', '')) + 1) + match[2]
    match = re.fullmatch(r'([0-9]+)(\.[0-9]*[fFlL]?)', text)
    return str(int(match[1]) + 1) + match[2] if match else None


EXCHANGED = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '+': '-', '-': '+', '+=': '-=', '-=': '+=',
             '&&': '||', '||': '&&', '<<': '>>', '>>': '<<', '<<=': '>>=', '>>=': '<<=', 'and': 'or', 'or': 'and'}
OPERATOR_OF = {}
for _operator, _marks in {'relational': '< <= > >= == !=', 'add-sub': '+ - += -=', 'and-or': '&& || and or',
                          'shift': '<< >> <<= >>='}.items():
    OPERATOR_OF.update(dict.fromkeys(_marks.split(), _operator))

_EXTREME = re.compile(r'(?<![a-z])(min|max|smaller|larger|minimum|maximum)(?![a-z])')
_OTHER_EXTREME = {'min': 'max', 'smaller': 'larger', 'minimum': 'maximum'}
_OTHER_EXTREME.update({there: here for here, there in list(_OTHER_EXTREME.items())})


def other_extreme(name):
    """The name of a call with min and max exchanged, or None: hu_min_n, blk_max, hu_larger."""
    made = _EXTREME.sub(lambda match: _OTHER_EXTREME[match[1]], name)
    return made if made != name else None
