#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The counts that pages name: models of units by what they rest on, planted faults, named formats. They are asked of the command
and of the tables, and a page's sentence says what it counts.

usage: counts.py SOURCE_ROOT HALFULP            fails where a page gives another number, or lacks the sentence
       counts.py SOURCE_ROOT HALFULP --write    writes the numbers into the pages"""
import collections
import json
import pathlib
import re
import subprocess
import sys

# Sentences of pages; {name}: a count. Blanks may be line ends.
SENTENCES = [
    ('README.md', 'Models of {evidence} matrix units and'),
    ('README.md', '{faults} deliberately broken copies of the code each make a test fail'),
    ('README.md', 'Of the {evidence} models of units, {HW} reproduce results recorded on hardware, {SIM} agree with a published simulator, '
                  'and {DOC} follow a manual. {weak} others rest on less'),
    ('docs/accumulators.md', 'Of the {models} named models {HW} are HW, {SIM} SIM and {DOC} DOC; {TABLE} are TABLE and {OPEN} OPEN'),
    ('docs/guide-hardware.md', 'knows {evidence} [units](glossary.md#unit) by name, each with its source. `halfulp models` lists them, and {weak} '
                               'that rest on less'),
    ('formats/README.md', 'There are {formats} named formats, and {p3109} IEEE P3109 formats'),
    ('docs/index.md', 'describe {formats} named formats and the {p3109} of P3109'),
]


def asked(halfulp, *words):
    return json.loads(subprocess.run([halfulp, *words, '--json'], check=True, stdout=subprocess.PIPE, text=True).stdout)


def counts(root, halfulp):
    found = collections.Counter(row['confidence'] for row in asked(halfulp, 'models'))
    found['models'] = sum(found.values())
    found['evidence'] = found['HW'] + found['SIM'] + found['DOC']
    found['weak'] = found['TABLE'] + found['OPEN']
    faults = set()
    for table in (root / 'tests' / 'fault').glob('*.txt'):
        faults |= set(re.findall(r'(?m)^(\d+) \S+\.\w+: ', table.read_text(encoding='utf-8')))
    found['faults'] = len(faults)
    names = [row['id'] for row in asked(halfulp, 'formats') if row['text'].startswith('fp(')]
    found['p3109'] = len([name for name in names if re.match(r'binary\d+p\d+[su][ef]$', name)])
    found['formats'] = len(names) - found['p3109']
    return found


def pattern(sentence):
    """The sentence with any numbers for its counts."""
    parts = re.split(r'\{\w+\}', sentence)
    return re.compile(r'(\d+)'.join(r'\s+'.join(map(re.escape, part.split(' '))) for part in parts))


def corrected(text, sentence, numbers):
    """The page with these numbers in the sentence; None: it is not there once."""
    places = list(pattern(sentence).finditer(text))
    if len(places) != 1:
        return None
    match, names = places[0], re.findall(r'\{(\w+)\}', sentence)
    for group in range(len(names), 0, -1):
        text = text[:match.start(group)] + str(numbers[names[group - 1]]) + text[match.end(group):]
    return text


def test():
    numbers = {'a': 12, 'b': 3}
    assert corrected('of 1\nthings 99.', 'of {a} things {b}.', numbers) == 'of 12\nthings 3.'
    assert corrected('of 1 thing', 'of {a} things', numbers) is None and corrected('x 1 x 1', 'x {a}', numbers) is None


def main():
    test()
    root, write, wrong = pathlib.Path(sys.argv[1]), sys.argv[3:] == ['--write'], []
    numbers = counts(root, sys.argv[2])
    for page, sentence in SENTENCES:
        text = (root / page).read_text(encoding='utf-8')
        right = corrected(text, sentence, numbers)
        if right is None:
            wrong.append(f'{page}: the sentence "{sentence}" is not there once')
        elif right != text and write:
            (root / page).write_text(right, encoding='utf-8')
        elif right != text:
            said = re.sub(r'\{(\w+)\}', lambda m: str(numbers[m[1]]), sentence)
            wrong.append(f'{page} gives other numbers than "{said}"; scripts/made/counts.py . HALFULP --write')
    if wrong:
        sys.exit('\n'.join(wrong))
    print(', '.join(f'{name} {count}' for name, count in sorted(numbers.items())))


if __name__ == '__main__':
    main()
