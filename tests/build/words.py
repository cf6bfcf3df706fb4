# SPDX-License-Identifier: MIT
"""Comments of the sources in plain English: phrases that say nothing to a stranger, and text that a reflow destroyed.

usage: words.py SOURCE_ROOT        fails also if it read no comment of a folder
       words.py --test             the rules on sentences that they must and must not find
"""
import pathlib
import re
import sys

FOLDERS = ('emu', 'gpu', 'train', 'cli', 'include', 'files', 'layouts', 'formats', 'dpi')
SUFFIXES = ('.c', '.h', '.cu', '.cuh', '.hpp')

# A pattern over a comment without its line ends and asterisks, and what to write instead.
PHRASES = [
    (r'\bas (?:[^\s.;:]+ ){1,5}ha(?:s|ve) (?:it|them)\b', 'as X has it: "as in X", "like X", "those of X"'),
    (r'\b[Ww]ho includes\b', 'who includes it defines: "the including file must define"'),
    (r'(?<!there )\b(?:is|are) none\b', 'is none: "is invalid", "there is none", "is not one of"'),
    (r'\bbusiness\b', 'X\'s business: say who does it'),
    (r'\bdo(?:es)? not show\b', 'does not show: "does not affect the result"'),
    (r'\bhow many there are\b', 'how many there are: "(count)"'),
    (r'\bwhich see\b', 'which see: "explained there"'),
    (r'\b[Nn]obody(?:\'s)?\b', 'nobody: "unknown", "must not", "no one waits"'),
    (r'\bno matter for\b', 'no matter for: "not handled here"'),
]
# A line of a comment that is two lines run together: an asterisk of the margin amid a sentence.
RUN_TOGETHER = re.compile(r'[.:;] +\* (?=[A-Za-z])')
ORPHAN = re.compile(r'^[ \t]*\* \*/$', re.M)
PART = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def comments(text):
    """Pairs of a comment and its line."""
    for match in PART.finditer(text):
        if match[0][0] == '/':
            yield match[0], text.count('\n', 0, match.start()) + 1


def complaints(comment):
    """What is wrong with a comment."""
    flat = re.sub(r'\s*\n[ \t]*\*?[ \t]*', ' ', comment)
    for pattern, advice in PHRASES:
        found = re.search(pattern, flat)
        if found:
            yield f'"{found[0]}": {advice}'
    for line in comment.split('\n'):
        found = RUN_TOGETHER.search(re.sub(r'^[ \t]*\*|/\*', '', line))
        if found:
            yield f'"{found[0].strip()}": two lines run together'
    if ORPHAN.search(comment):
        yield 'the end of the comment stands alone'


def test():
    bad = ['/* floats as hu_format_text has them. */', '/* who includes it defines W */', '/* one of the formats is none */',
           '/* sizes are the kernels\' business */', '/* so the order does not show */', '/* how many there are */',
           '/* the quick way,\n * which see. */', '/* a name that nobody has */', '/* lanes this is no matter for */',
           '/* looks at what it points to. * work: bytes that parts want */', '/* a sentence.\n * */']
    good = ['/* NULL if there is none. */', '/* as in hu_format_text */', '/* 2 * n: twice */', '/* a[i] * b[i] is exact */',
            '/* z = x * y = 1 */', '/* the level has three loops */', '/* x\n * y: z */']
    for text in bad:
        assert list(complaints(text)), f'not found: {text}'
    for text in good:
        assert not list(complaints(text)), f'found: {text}: {list(complaints(text))}'
    assert [line for _, line in comments('int a;\nchar *s = "/* no */"; /* yes */ // and\n')] == [2, 2]
    print(f'{len(bad)} found, {len(good)} left alone')


def main():
    if sys.argv[1:] == ['--test']:
        return test()
    root = pathlib.Path(sys.argv[1])
    wrong, read = 0, dict.fromkeys(FOLDERS, 0)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob('*')):
            if path.suffix not in SUFFIXES or path.is_symlink() or (folder == 'include' and 'core' in path.parts):
                continue
            for comment, line in comments(path.read_text()):
                read[folder] += 1
                for complaint in complaints(comment):
                    wrong += 1
                    print(f'{path.relative_to(root)}:{line}: {complaint}')
    for folder, count in read.items():
        if count == 0:
            wrong += 1
            print(f'{folder}: no comment was read')
    print(f'{sum(read.values())} comments: {wrong} complaints')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
