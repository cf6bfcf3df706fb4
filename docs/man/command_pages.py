#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Man pages of the single commands, made from their own --help, and halfulp.1, whose lists of commands and of rounding modes
are made.

    command_pages.py --list                 the names of the pages, from the table of cli/base/cli.h
    command_pages.py OUT_FOLDER HALFULP     halfulp-COMMAND.1 for each
    command_pages.py OUT                    halfulp.1"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import roff  # noqa: E402

MORE = {'train': ['halfulp-train.ini (5)'], 'sweep': ['halfulp-train (1)', 'halfulp-train.ini (5)'], 'mma': ['halfulp-models (1)']}


def commands():
    """[(name, what it does)]"""
    text = (HERE.parent.parent / 'cli' / 'base' / 'cli.h').read_text(encoding='utf-8')
    return re.findall(r'(?m)^  X\((\w+), "([^"]*)"\)', text)


def modes():
    """[(text of a rounding mode, what it does)], from the table of emu/core/modes.h."""
    text = (HERE.parent.parent / 'emu' / 'core' / 'modes.h').read_text(encoding='utf-8')
    rows = re.findall(r'(?m)^  X\((HU_\w+), (\w+), \w+, "([^"]*)"', text)
    return [(name + (':N' if mode.startswith('HU_SR') else ''), words) for mode, name, words in rows]


def options(block):
    """[(option as it is shown, its text)] of lines "  -f, --format FORMAT        number format: ..."."""
    out = []
    for line in block.split('\n'):
        found = re.match(r'  (?:(-\w, )|    )(--\S+(?: \S+)*?)(?:  +(\S.*))?$', line)
        if found:
            out.append(((found[1] or '') + found[2], found[3] or ''))
        elif line.strip() and out:
            out[-1] = (out[-1][0], (out[-1][1] + ' ' + line.strip()).strip())
    return out


def page(name, short, text):
    text, _, examples = text.partition('\nExamples:\n')
    text, _, listed = text.partition('\nOptions:\n')
    usage, _, rest = text.partition('\n')
    while rest.startswith(' '):  # a second line of usage
        more, _, rest = rest.partition('\n')
        usage += '\n' + more
    out = roff.head('halfulp-' + name, 1, 'User commands')
    out += ['.SH NAME', 'halfulp\\-%s \\- %s' % (roff.escape(name), roff.escape(short)), '.SH SYNOPSIS', '.nf']
    out += ['.B ' + roff.quoted(line.replace('Usage:', '').strip()) for line in usage.split('\n')]
    out += ['.fi', '.SH DESCRIPTION']
    paragraphs = [p for p in rest.strip().split('\n\n') if p.strip()]
    for i, paragraph in enumerate(paragraphs):
        out += ['.PP'] if i else []
        if re.search(r'(?m)^  ', paragraph):
            out += ['.nf', roff.escape(paragraph), '.fi']
        else:
            out.append(roff.paragraph(paragraph))
    out.append('.SH OPTIONS')
    for option, said in options(listed):
        out += ['.TP', '.B ' + roff.quoted(option), roff.paragraph(said) or '\\&']
    out += ['.SH EXAMPLES', '.nf', roff.escape('\n'.join(line[2:] for line in examples.rstrip().split('\n'))), '.fi', '.SH SEE ALSO']
    out += ['.BR ' + roff.escape(other) + ',' for other in MORE.get(name, [])] + ['.BR halfulp (1)']
    return '\n'.join(out) + '\n'


def absent(name, short, why):
    """Of a command that this build was made without, which says so."""
    out = roff.head('halfulp-' + name, 1, 'User commands')
    out += ['.SH NAME', 'halfulp\\-%s \\- %s' % (roff.escape(name), roff.escape(short)), '.SH DESCRIPTION', roff.paragraph(why),
            '.SH SEE ALSO', '.BR halfulp (1)']
    return '\n'.join(out) + '\n'


def overview():
    made = {'@COMMANDS@\n': ('.BR halfulp\\-%s (1)', commands()), '@MODES@\n': ('.B %s', modes())}
    text = (HERE.parent.parent / 'cli' / 'halfulp.1').read_text(encoding='ascii')
    for mark, (head, rows) in made.items():
        assert rows and text.count(mark) == 1
        listed = ('.TP\n' + head % roff.escape(name) + '\n' + roff.escape(what) + '\n' for name, what in rows)
        text = text.replace(mark, ''.join(listed))
    return text


def main(folder, halfulp):
    for name, short in commands():
        done = subprocess.run([halfulp, name, '--help'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        made = absent(name, short, done.stderr) if done.returncode else page(name, short, done.stdout)
        pathlib.Path(folder, 'halfulp-%s.1' % name).write_text(made, encoding='ascii')


if __name__ == '__main__':
    if sys.argv[1] == '--list':
        print('\n'.join('halfulp-%s.1' % name for name, _ in commands()))
    elif len(sys.argv) == 2:
        pathlib.Path(sys.argv[1]).write_text(overview(), encoding='ascii')
    else:
        main(*sys.argv[1:])
