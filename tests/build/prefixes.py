# SPDX-License-Identifier: MIT
"""A function that begins with hu_ is public; one that files of the libraries share begins with hui_ (CONTRIBUTING.md).

Public are the functions that a header of include/halfulp, include/halfulp/train or formats declares; those of include/halfulp/core,
which are those of emu/core, are not public. A test of the libraries' sources alone: names that a macro pastes together are those that it pastes.

usage: prefixes.py SOURCE_ROOT    fails where a name has the prefix of the other kind
       prefixes.py --test         the rule on small texts
"""
import pathlib
import re
import sys

SUFFIXES = ('.c', '.h', '.cu', '.cuh', '.cpp', '.hpp')
FOLDERS = ('emu', 'gpu', 'train', 'mpi')
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
CALLED = re.compile(r'\b(hui?_\w+)(?:<[^();{}]*>)?\(')
TYPE = re.compile(r'\b(?:struct|union|enum|class) (hui?_\w+)|\} ?(hui?_\w+);|\btypedef [^;{]*?\b(hui?_\w+)(?:\(|;)')


def functions(text):
    """The names that stand before a bracket: functions that the text declares, defines or calls, and some types."""
    return set(CALLED.findall(NO_CODE.sub(' ', text)))


def types(text):
    """The names of types; a C++ constructor and a type of functions stand before a bracket, too."""
    return {name for names in TYPE.findall(NO_CODE.sub(' ', text)) for name in names if name}


def faults(public, used):
    """What is wrong with names: public ones of headers, and those of each file."""
    for name in sorted(public):
        if name.startswith('hui_') and not any(name in names for names in used.values()):
            yield f'{name}: a public header declares it; hu_ is the prefix of public functions'
    for file, names in used.items():
        for name in sorted(names):
            if name.startswith('hu_') and name not in public:
                yield f'{file}: {name} is in no public header; hui_ is the prefix of functions that files share'


def sources(folder):
    return [path for path in sorted(folder.rglob('*')) if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink()]


def test():
    public = functions('hu_status hu_format_check(hu_format f); /* hu_round( */ int hui_add(int x);')
    assert public == {'hu_format_check', 'hui_add'}, public
    assert not list(faults({'hu_add'}, {'a.c': functions('hu_add(hui_round(hui_core_of<T>(f))); "hu_x("; hu_status (*f)(void);')}))
    assert len(list(faults({'hu_add'}, {'a.c': functions('hu_round<T>(x);')}))) == 1
    assert len(list(faults({'hui_add'}, {'a.c': functions('f<T>(x);')}))) == 1
    assert types('typedef void hu_run(int x); class hu_tile { hu_tile(int x); }; typedef struct { int x; } hu_row;') == \
        {'hu_run', 'hu_tile', 'hu_row'}
    print('5 texts judged')


def main():
    if sys.argv[1:] == ['--test']:
        return test()
    root = pathlib.Path(sys.argv[1])
    headers = [path for folder in ('include/halfulp', 'include/halfulp/train', 'formats')
               for path in sorted((root / folder).iterdir()) if path.suffix in SUFFIXES]
    public = set().union(*(functions(path.read_text(encoding='utf-8')) for path in headers))
    texts = {path.relative_to(root).as_posix(): path.read_text(encoding='utf-8') for folder in FOLDERS for path in sources(root / folder)}
    not_functions = set().union(*(types(text) for text in [*texts.values(), *(path.read_text(encoding='utf-8') for path in headers)]))
    used = {file: functions(text) - not_functions for file, text in texts.items()}
    wrong = list(faults(public, used)) + [f'{name}: a type; hui_ is the prefix of functions' for name in sorted(not_functions) if name.startswith('hui_')]
    print('\n'.join(wrong) or '%d public names, %d sources' % (len(public), len(used)))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
