# SPDX-License-Identifier: MIT
"""The reference of the command: a page for each of its commands, made from its --help as the man pages are, and what of it
the search finds.

Where the command is not built (OUT is the build folder's docs/; HALFULP names another one) there are only names and
summaries, from cli/base/cli.h."""
import html
import os
import pathlib
import re
import subprocess
import sys

import finish
import highlight
import pages

sys.path.insert(0, str(pages.ROOT / 'docs' / 'man'))
import command_pages  # noqa: E402

INDEX = 'page_command.html'


def file_of(name):
    return 'command_%s.html' % name.replace('-', '_')


def executable(build):
    """The command, where it is built and runs on this machine."""
    exe = pathlib.Path(os.environ.get('HALFULP') or build / 'cli' / 'halfulp')
    try:
        return exe if exe.is_file() and subprocess.run([str(exe), 'version'], stdout=subprocess.DEVNULL).returncode == 0 else None
    except OSError:
        return None


def helps(build):
    """{command: its --help}; a command that this build was made without is not there."""
    exe, out = executable(build), {}
    for name, _ in command_pages.commands() if exe else []:
        done = subprocess.run([str(exe), name, '--help'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding='utf-8')
        if done.returncode == 0:
            out[name] = done.stdout
    return out


def prose(text):
    """Words of a help as HTML: what stands in marks of code, and the names of commands and options."""
    text = re.sub(r'`([^`]+)`', r'<code>\1</code>', html.escape(re.sub(r'\s+', ' ', text).strip(), False))
    known = '|'.join(sorted((n for n, _ in command_pages.commands()), key=len, reverse=True))
    text = re.sub(r'\bhalfulp (%s)\b(?![\w-])' % known, lambda m: '<a href="%s"><code>%s</code></a>' % (file_of(m[1]), m[0]), text)
    return re.sub(r'(?<![\w>-])(--[a-z][\w-]*)', r'<code>\1</code>', text)


def sections(text):
    """(usage, [paragraph], options, examples) of a help."""
    text, _, examples = text.partition('\nExamples:\n')
    text, _, listed = text.partition('\nOptions:\n')
    usage, _, rest = text.partition('\n')
    while rest.startswith(' '):
        more, _, rest = rest.partition('\n')
        usage += '\n' + more
    return usage.replace('Usage:', '').strip(), [p for p in rest.strip('\n').split('\n\n') if p.strip()], listed, examples


def described(paragraphs):
    """Paragraphs; what is indented is a list as the terminal shows it, a line that ends with a colon above it its title."""
    out = []
    for i, paragraph in enumerate(paragraphs):
        is_title = paragraphs[i + 1].startswith('  ') if i + 1 < len(paragraphs) else False
        if paragraph.startswith('  '):
            lines = paragraph.split('\n')
            out.append(highlight.block('\n'.join(line[2:] for line in lines), 'text', True))
        elif is_title and re.fullmatch(r'[^.:]+:', paragraph):
            title = paragraph.rstrip(':')
            out.append(finish.heading(2, re.sub(r'\W+', '-', title.lower()), html.escape(title)))
        elif re.search(r'(?m)^  ', paragraph):  # words above a list without a blank line
            words, _, lines = paragraph.partition('\n  ')
            listed = '\n'.join(x[2:] if x.startswith('  ') else x for x in ('  ' + lines).split('\n'))
            out += ['<p>%s</p>' % prose(words), highlight.block(listed, 'text', True)]
        else:
            out.append('<p>%s</p>' % prose(paragraph))
    return out


def option_list(listed):
    out = []
    for shown, said in command_pages.options(listed):
        found = re.match(r'(?:(-\w), )?--([\w-]+)\s*(.*)', shown)
        value = ' <span class="value">%s</span>' % html.escape(found[3]) if found[3] else ''
        short = '<b>%s</b>, ' % found[1] if found[1] else ''
        anchor = 'option-' + found[2]
        out.append('<dt id="%s">%s<b>--%s</b>%s<a class="self" href="#%s" aria-label="Link to: --%s">#</a></dt><dd>%s</dd>' % (
            anchor, short, found[2], value, anchor, found[2], prose(said) or '&#160;'))
    return '<dl class="names">\n%s\n</dl>' % '\n'.join(out)


def examples_block(text):
    return highlight.block('\n'.join(line[2:] if line.startswith('  ') else line for line in text.rstrip('\n').split('\n')), 'sh')


def page(name, short, told, has_manual):
    if told is None:
        return '<p>%s.</p><p>The build that this page was made with does not have this command.</p>' % html.escape(short[:1].upper() + short[1:])
    usage, paragraphs, listed, examples = sections(told)
    out = [highlight.block(usage, 'sh')] + described(paragraphs)
    if listed:
        out += [finish.heading(2, 'options', 'Options'), option_list(listed)]
    if examples:
        out += [finish.heading(2, 'examples', 'Examples'), examples_block(examples)]
    if has_manual:
        out.append('<p>The same as a man page: <a href="man_halfulp_%s_1.html">halfulp-%s(1)</a>.</p>' % (name.replace('-', '_'), name))
    return '\n'.join(out)


def overview(names):
    rows = ''.join('<dt><a href="%s">halfulp %s</a></dt><dd>%s</dd>\n' % (file_of(n), n, html.escape(s[:1].upper() + s[1:])) for n, s in names)
    return ('<p>Every command with its options and examples, as <code>halfulp COMMAND --help</code> prints them.</p>\n'
            '<dl class="names">\n%s</dl>' % rows)


def made(build):
    """([(file, title, body)], entries of the search)."""
    told, names = helps(build), command_pages.commands()
    files = [(INDEX, 'The command', overview(names))]
    entries = [['page', 'The command', INDEX, 'Every command with its options and examples.', 'command line reference']]
    for name, short in names:
        file = file_of(name)
        files.append((file, 'halfulp ' + name, page(name, short, told.get(name), bool(told))))
        said = ' '.join(sections(told[name])[1]) if name in told else short
        entries.append(['command', 'halfulp ' + name, file, re.sub(r'\s+', ' ', short[:1].upper() + short[1:] + '. ' + said), ''])
        for shown, what in command_pages.options(sections(told[name])[2]) if name in told else []:
            option = re.search(r'--[\w-]+', shown)[0]
            if option != '--help':
                entries.append(['option', 'halfulp %s %s' % (name, option), '%s#option-%s' % (file, option[2:]), what, ''])
    return files, entries
