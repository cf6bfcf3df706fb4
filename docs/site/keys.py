# SPDX-License-Identifier: MIT
"""The table of all keys of a training run, which the site has in docs/training/command.md, from `halfulp train --keys`."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'man'))
import keys_page  # noqa: E402
import pages      # noqa: E402

PAGE, PLACE = 'docs/training/command.md', '<!-- the site has the table of keys here: docs/site/keys.py -->\n'


def cell(text):
    return text.replace('|', '\\|')


def row(key):
    default = '`%s`' % cell(key['default']) if key['default'] else 'empty'
    return '| `%s` | %s | %s | %s |\n' % (key['id'], default, cell(key['what']), 'yes' if key['weights'] else 'no')


def made(command):
    """{PAGE: the page with its table}; nothing without a command that trains."""
    keys = keys_page.keys_of(str(command)) if command else []
    before, place, after = (pages.ROOT / PAGE).read_text(encoding='utf-8').partition(PLACE)
    assert place, PAGE
    table = '| key | default | says | weights |\n|---|---|---|---|\n' + ''.join(map(row, keys))
    return {PAGE: before + table + after} if keys else {}
