# SPDX-License-Identifier: MIT
"""What docs/p3109.md says of the draft's formats that have no name in the library."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / 'docs' / 'p3109.md'
HEAD = '| formats of the draft without a name here | exponent bits | why |\n|---|---|---|\n'


def rows():
    """(names, exponent bits, why) of each row of the page's table; an asterisk stands for e and f."""
    text = PAGE.read_text(encoding='utf-8')
    table = text[text.index(HEAD) + len(HEAD):]
    for line in table[:table.index('\n\n')].splitlines():
        names, bits, why = (cell.strip() for cell in line.strip('|').split('|'))
        yield [n for name in re.findall(r'`(binary\w+\*?)`', names) for n in ([name[:-1] + 'e', name[:-1] + 'f'] if name[-1] == '*' else [name])], bits, why


def written_out():
    """{name: text of a descriptor} of those that can be written out."""
    return {names[0]: text[1] for names, bits, why in rows() if (text := re.search(r'`(fp\([^`]*)`', why))}
