#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes halfulp-train.ini(5), the keys of a training run: keys_page.py OUT HALFULP.

The table is that of `halfulp train --keys --json`, which docs/site/keys.py puts into docs/training/command.md on the site, too."""
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import roff  # noqa: E402

SECTIONS = {
    'run': 'The run', 'data': 'What it learns from', 'model': 'The network', 'loss': 'The loss and its scale', 'optimizer': 'The optimizer',
    'gradient': 'Between gradients and optimizer', 'precision': 'What is rounded where', 'assignment': 'Which tensors are low',
    'parallel': 'How a batch is shared',
}
EXAMPLE = ['[data]', 'set = digits', '[model]', 'net = mlp(layers=2,units=64)', '[precision]', 'system = s2fp8   ; or fp16, bfloat16, nvfp4, ...',
           '[run]', 'epochs = 5']


def page(keys):
    out = roff.head('halfulp-train.ini', 5, 'File formats')
    out += ['.SH NAME', 'halfulp\\-train.ini \\- configuration of a training run', '.SH DESCRIPTION', roff.paragraph(
        'halfulp train CONFIG runs what such a file says: sections in brackets, below them one key and its value per line, = or : between them. '
        'Comments begin with ; or # at the beginning of a line, and with ; behind a blank; an indented line continues the value above it. '
        'Order does not matter, except that precision.system is set before the other keys of its section, wherever it stands. A key that '
        'is left out has its default. An unknown key, a value that its key does not take and a key given twice are refused with file and line.'),
        '.PP', roff.paragraph('--set section.key=value sets a key after the file. Texts of formats, roundings, accumulation models and networks are those of '
                              'the library: halfulp formats, halfulp models, and the headers.'),
        '.PP', roff.paragraph('The weights of a run are a function of its keys, except for those marked "no weights".')]
    section = ''
    for key in keys:
        name = key['id'].split('.')[0]
        if name != section:
            section = name
            out += ['.SH ' + roff.quoted('[%s]' % name), SECTIONS[name] + '.']
        default = 'default: ' + (key['default'] or 'empty')
        out += ['.TP', '.BR %s " (%s%s)"' % (roff.escape(key['id'].split('.', 1)[1]), roff.escape(default).replace('"', '\\(dq'),
                                             '' if key['weights'] else '; no weights'), roff.paragraph(key['what'])]
    out += ['.SH EXAMPLES', '.nf', *[roff.escape(line) for line in EXAMPLE], '.fi']
    out += ['.SH SEE ALSO', '.BR halfulp (1),', '.BR halfulp (3)', '.PP',
            roff.paragraph('docs/training/command.md in the source distribution explains the files that a run leaves.')]
    return '\n'.join(out) + '\n'


def keys_of(halfulp):
    """The command's table; none where it was built without training."""
    done = subprocess.run([halfulp, 'train', '--keys', '--json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(done.stdout) if done.returncode == 0 else []


if __name__ == '__main__':
    done = subprocess.run([sys.argv[2], 'train', '--keys', '--json'], stdout=subprocess.PIPE, check=True)
    pathlib.Path(sys.argv[1]).write_text(page(json.loads(done.stdout)), encoding='ascii')
