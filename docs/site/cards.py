# SPDX-License-Identifier: MIT
"""The page of the named formats: the table in formats/README.md, and below it, on the site alone, their cards, all as the
command knows them.

    cards.py HALFULP            fails where the table is not that of the command
    cards.py HALFULP --write    writes it again"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = 'formats/README.md'
HEAD = '| id | descriptor | bits | max | min normal | min |\n|---|---|---|---|---|---|\n'
FAMILY_HEAD = ('| id | descriptor | bias | max | its code | min normal | min | NaN | infinity | finite codes |\n'
               '|---|---|---|---|---|---|---|---|---|---|\n')


def printed(command, *words):
    return subprocess.run([str(command), *words], check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout


def formats(command):
    """What the command says of each binary format: the named ones, and those of P3109."""
    found = [row['id'] for row in json.loads(printed(command, 'formats', '--json')) if row['text'].startswith('fp(')]
    every = [json.loads(printed(command, 'info', name, '--json')) for name in found]
    family = [f for f in every if re.fullmatch(r'binary\d+p\d+[su][ef]', f['id'])]
    return [f for f in every if f not in family], family


def rows(lines):
    return ''.join('| %s |\n' % ' | '.join(map(str, cells)) for cells in lines)


def contents(named):
    return HEAD + rows(('`%s`' % f['id'], '`%s`' % f['text'], f['width'], '%.10g' % f['max']['value'],
                        f['min_normal']['hex'] if f['min_normal'] else 'none', f['min']['hex']) for f in named)


def family_table(family):
    return FAMILY_HEAD + rows(('`%s`' % f['id'], '`%s`' % f['text'], f['bias'], f['max']['hex'], f['max']['code'], f['min_normal']['hex'],
                               f['min']['hex'], f['nan_code']['code'], f['infinity']['code'] if f['infinity'] else 'none',
                               f['finite_codes']) for f in family)


def card(command, name):
    """What `halfulp info` prints, as a table without a head."""
    lines = [(line[2:23].strip(), re.sub(r' {2,}', ', ', line[23:]).replace('|', '\\|')) for line in printed(command, 'info', name).splitlines()[1:]]
    assert lines[0][0] == 'text', lines
    return '### %s\n\n| | |\n|---|---|\n%s' % (name, rows([('descriptor', '`%s`' % lines[0][1])] + lines[1:]))


def made(command):
    """{PAGE: the page with the table of P3109 and the cards, to which the first table leads}; nothing without a command."""
    if not command:
        return {}
    named, family = formats(command)
    text = (ROOT / PAGE).read_text(encoding='utf-8')
    for f in named:
        text = text.replace('| `%s` |' % f['id'], '| [%s](#%s) |' % (f['id'], f['id']))
    return {PAGE: '\n'.join([text, family_table(family), '## Cards\n'] + [card(command, f['id']) for f in named])}


def main(command, write):
    path = ROOT / PAGE
    text = path.read_text(encoding='utf-8')
    before, _, after = text.partition(HEAD)
    page = before + contents(formats(command)[0]) + re.sub(r'^(\|.*\n)*', '', after)
    if write:
        path.write_text(page, encoding='utf-8')
    elif page != text:
        sys.exit('%s: the table is not that of `halfulp formats`; write it by `python3 docs/site/cards.py HALFULP --write`' % PAGE)
    print('%s: %d formats' % (PAGE, page.count('| `fp(')))


if __name__ == '__main__':
    main(sys.argv[1], '--write' in sys.argv[2:])
