# SPDX-License-Identifier: MIT
"""The records, enumerators and signatures of the package against the headers: a C compiler and the text itself say."""
import ast
import ctypes
import os
import pathlib
import re
import shlex
import subprocess

import pytest

import halfulp
from halfulp import _abi, _signatures, _structs

SOURCE = pathlib.Path(os.environ.get('HALFULP_SOURCE', pathlib.Path(__file__).resolve().parents[2]))
HEADERS = ['halfulp/halfulp.h', 'halfulp/train.h', 'halfulp/device.h', 'halfulp/checkpoint.h']


def fields(record: type) -> list:
    """The fields of a record, those of a union without a name among them."""
    unnamed = getattr(record, '_anonymous_', ())
    return [one for field in record._fields_ for one in (field[1]._fields_ if field[0] in unnamed else [field])]


def program() -> str:
    lines = ['#include <stdio.h>', '#include <stddef.h>'] + ['#include "{}"'.format(name) for name in HEADERS]
    lines += ['#define SIZE(t) printf("sizeof %s %zu\\n", #t, sizeof(t))',
              '#define PLACE(t, f) printf("offsetof %s.%s %zu %zu\\n", #t, #f, offsetof(t, f), sizeof(((t *)0)->f))',
              '#define VALUE(e) printf("value %s %lld\\n", #e, (long long)(e))', 'int main(void) {']
    for name, record in _structs.RECORDS.items():
        lines.append('  SIZE({});'.format(name))
        lines += ['  PLACE({}, {});'.format(name, field[0]) for field in fields(record)]
    lines += ['  VALUE({});'.format(name) for name in _structs.ENUMERATORS]
    return '\n'.join(lines + ['  return 0;', '}', ''])


def expected() -> list:
    lines = []
    for name, record in _structs.RECORDS.items():
        lines.append('sizeof {} {}'.format(name, ctypes.sizeof(record)))
        lines += ['offsetof {}.{} {} {}'.format(name, f[0], getattr(record, f[0]).offset, ctypes.sizeof(f[1]))
                  for f in fields(record)]
    return lines + ['value {} {}'.format(name, value) for name, value in _structs.ENUMERATORS.items()]


def test_records_and_enumerators(tmp_path):
    (tmp_path / 'abi.c').write_text(program())
    subprocess.run([*shlex.split(os.environ.get('CC', 'cc')), '-std=c11', '-I', str(SOURCE / 'include'), '-o', str(tmp_path / 'abi'),
                    str(tmp_path / 'abi.c')], check=True)
    said = subprocess.run([str(tmp_path / 'abi')], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout.split('\n')
    assert len(_structs.RECORDS) >= 40
    assert [line for line in said if line] == expected()


def test_every_field_is_there():
    """A record whose last fields were forgotten could still have the right size."""
    text = ''.join(path.read_text() for path in sorted((SOURCE / 'include' / 'halfulp').glob('**/*.h')))
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    for name, record in _structs.RECORDS.items():
        body = re.search(r'typedef struct {0} \{{(.*?)\}} {0};'.format(name), text, re.S).group(1)
        body = re.sub(r'union \{|\}', '', body)
        there = [re.sub(r'[*\s]|\[.*?\]', '',
                         word.split()[-1]) for line in body.split(';') if line.strip() for word in line.split(',')]
        assert there == [field[0] for field in fields(record)], name


def test_words():
    """Each word is the one that the library's parsers read for that number."""
    for place, word in enumerate(_structs.ROUNDINGS):
        assert halfulp.Mode(word + (':8' if word.startswith('sr') else ''))._c.round == place
    for place, word in enumerate(_structs.SATURATIONS):
        assert halfulp.Mode(saturate=word)._c.saturate == place
    for place, word in enumerate(_structs.NAN_POLICIES):
        assert halfulp.Mode(nan=word)._c.nan == place
    texts = {'zero': ['fp(5,2,0)', 'fp(5,2,0):zero=code,flush',
                      'fp(8,0,0):unsigned,zero=none,nosub,inf=none,nan=none,ovf=max'],
             'subnormal': ['fp(5,2,0):sub=gradual', 'fp(5,2,0):sub=none', 'fp(5,2,0):sub=flush'],
             'inf': ['fp(4,3,0):fn', 'fp(5,2,0):inf=ieee', 'fp(4,3,0):p3109e'],
             'nan': ['fp(5,2,0):finite', 'fp(5,2,0)', 'fp(5,2,0):nan=ieee1', 'fp(4,3,0):fn', 'fp(4,3,0):fnuz',
                     'fp(4,3,0):unsigned,fn'],
             'overflow': ['fp(5,2,0):ovf=inf', 'fp(4,3,0):fn', 'fp(4,3,0):finite']}
    rows = {'zero': _structs.ZEROS, 'subnormal': _structs.SUBNORMALS, 'inf': _structs.INFINITIES, 'nan': _structs.NANS,
            'overflow': _structs.OVERFLOWS}
    for axis, words in rows.items():
        assert [getattr(halfulp.Format(text), axis) for text in texts[axis]] == list(words), axis


_PLAIN = {'size_t': 'size', 'ptrdiff_t': 'step', 'int': 'int', 'unsigned': 'unsigned', 'uint8_t': 'u8',
          'uint32_t': 'u32', 'int64_t': 'i64', 'uint64_t': 'u64', 'float': 'float', 'double': 'double',
          'hu_status': 'status', 'void': 'none'}


def _word(argument: str, returned: bool = False) -> str:
    kind = re.sub(r'\s*\*', '*', argument.strip())
    if '[' in kind:
        return 'pointer'
    if '*' in kind:
        base = kind[:kind.rindex('*') + 1]
        return 'text' if base == 'const char*' or (returned and base == 'char*') else 'pointer'
    words = [word for word in kind.split() if word != 'const']
    base = words[0]
    return _PLAIN.get(base) or base[3:]


def headers(table: str) -> dict:
    found = {}
    pictures = table == 'PICTURES'
    paths = [SOURCE / 'cli/pictures/pictures.h'] if pictures else (SOURCE / 'include' / 'halfulp').glob('**/*.h')
    prefix = 'hui_picture_' if pictures else 'hu_'
    for path in sorted(paths):
        text = re.sub(r'/\*.*?\*/', '', path.read_text(), flags=re.S)
        for match in re.finditer(r'HU_API\s+(?:HU_MUST_CHECK\s+)?([\w\s]+?[\s*]+)' + prefix + r'(\w+)\(([^;]*?)\);', text):
            returned, name, arguments = match.groups()
            kinds = [] if arguments.strip() == 'void' else [_word(argument) for argument in arguments.split(',')]
            found[name] = ' '.join(kinds), _word(returned, True)
    return found


@pytest.mark.parametrize('table', ['MAIN', 'TRAIN', 'CUDA', 'PICTURES', 'LAYOUTS'])
def test_signatures(table):
    said, ours = headers(table), getattr(_signatures, table)
    if table == 'LAYOUTS':
        said = {name: words for name, words in said.items() if name.startswith('checkpoint_')}
        assert set(ours) == set(said)
    assert len(ours) > (20 if table in ('MAIN', 'TRAIN') else 3)
    for name, words in ours.items():
        arguments, _, returned = words.partition('->')
        assert name in said, name
        kinds, back = said[name]
        # An enumeration is an int as an argument.
        wanted = kinds.replace('status', 'int') if name in ('status_name', 'status_text') else kinds
        assert ' '.join(arguments.split()) == wanted, name
        assert returned.strip() == back, name



def test_all_libraries_are_there():
    assert _abi.main() and _abi.train() and _abi.cuda() and _abi.layouts()


def test_folders_are_no_libraries(tmp_path):
    (tmp_path / 'libhalfulp.so.0.1.0.p').mkdir()
    (tmp_path / 'libhalfulp.so.0.1.0').write_bytes(b'')
    assert list(_abi._in_folder(tmp_path, 'halfulp')) == [str(tmp_path / 'libhalfulp.so.0.1.0')]


def test_records_have_names_of_their_own():
    """A class of the same name would replace the one above it, without an error."""
    tree = ast.parse(pathlib.Path(_structs.__file__).read_text(encoding='utf-8'))
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    assert len(names) > 40 and len(names) == len(set(names)), [name for name in names if names.count(name) > 1]
