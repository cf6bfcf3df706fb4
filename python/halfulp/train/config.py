# SPDX-License-Identifier: MIT
"""Configurations of training runs: the keys there are, files of them, values of Python (docs/training/command.md)."""
from __future__ import annotations

import difflib
import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from .. import _abi as abi
from .. import _structs as s

_LINE_MAX, _SIZE_MAX = 196, 1 << 20  # of a file, in bytes: limits of `halfulp train`
_BLANKS = ' \t\v\f\r'


class Key(NamedTuple):
    """A key of a training run."""

    name: str  # "section.key"
    default: str  # the value of a key that is not set
    what: str  # what it says
    weights: bool  # whether the weights depend on it
    values: Tuple[str, ...]  # the words that it takes; () where it takes others
    range: Optional[Tuple[float, float]]  # the least and the largest number that it takes; None: not a number


class Entry(NamedTuple):
    """A key and its value, and where they stand: "run.ini:4", or "" where they come from a dict."""

    where: str
    key: str
    value: str


def keys() -> List[Key]:
    """All keys of a run, in the order of the table in docs/training/command.md; ``Key.default`` is what is not set.

    >>> [key.default for key in keys() if key.name == 'optimizer.rate']
    ['0.1']
    """
    library = abi.train()
    return [_key(library.hu_trainer_key_at(place)) for place in range(library.hu_trainer_key_count())]


def _key(row: s.hu_trainer_key) -> Key:
    words: List[str] = []
    while row.words and row.words[len(words)] is not None:
        words.append(row.words[len(words)].decode())
    numbers = None if row.low == 0 and row.high == 0 else (row.low, row.high)
    return Key(row.name.decode(), row.by_default.decode(), row.what.decode(), bool(row.weights), tuple(words), numbers)


# ---- values of Python ----


def _text(key: str, value: Any) -> str:
    """The text of a value in a configuration file."""
    if isinstance(value, (bool, np.bool_)):
        return 'yes' if value else 'no'
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if type(value) in (list, tuple):
        return ','.join(_text(key, one) for one in value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    text = value if isinstance(value, str) else getattr(value, 'text', None)
    if not isinstance(text, str):
        raise abi.HalfulpTypeError('config: {}: give a text, a number or a bool, not {}'.format(key,
            type(value).__name__))
    return text


def _of_mapping(config: Mapping[str, Any]) -> List[Entry]:
    """Entries of {"section.key": value} and {"section": {"key": value}}, which may be mixed."""
    flat: List[Tuple[Any, Any]] = []
    for name, value in config.items():
        inside = isinstance(value, Mapping)
        flat += [('{}.{}'.format(name, key), one) for key, one in value.items()] if inside else [(name, value)]
    made: Dict[str, Entry] = {}
    for name, value in flat:
        if not isinstance(name, str):
            raise abi.HalfulpTypeError('config: {!r} is no key; give texts "section.key"'.format(name))
        if name in made:
            raise abi.HalfulpValueError('config: {}: given twice'.format(name))
        made[name] = Entry('', name, _text(name, value))
    return list(made.values())


# ---- files ----


def _comment(text: str, start: int) -> int:
    """The place of a comment in a text, which is a semicolon behind a blank; without a comment the text's length."""
    found = re.search(r'[{}];'.format(_BLANKS), text[start:])
    return start + found.start() + 1 if found else len(text)


class _Reader:
    """The lines of a file, one after another; the rules are those of docs/training/command.md, section 2."""

    def __init__(self, path: str) -> None:
        self.path, self.section, self.number = path, '', 0
        self.made: Dict[str, Tuple[int, str]] = {}  # key to its line and value
        self.open: Optional[str] = None  # the key that an indented line continues

    def wrong(self, sentence: str) -> abi.HalfulpValueError:
        return abi.HalfulpValueError('{}:{}: {}'.format(self.path, self.number, sentence))

    def line(self, raw: bytes) -> None:
        """Takes the next line, without its end."""
        self.number += 1
        text = self._decoded(raw)
        line = text.strip(_BLANKS)
        if not line or line[0] in ';#':
            return
        if self.open is not None and text[0] in _BLANKS:
            where, value = self.made[self.open]
            self.made[self.open] = where, value + line[:_comment(line, 0)].rstrip(_BLANKS)
        elif line[0] == '[':
            self._section(line)
        else:
            self._entry(line)

    def _decoded(self, raw: bytes) -> str:
        if len(raw) > _LINE_MAX:
            raise self.wrong('{} bytes; a line has at most {}, and an indented line continues a value'.format(
                len(raw), _LINE_MAX))
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = '\0'
        if any(letter != '\t' and (letter < ' ' or letter == '\x7f') for letter in text):
            raise self.wrong('not UTF-8 text, or a control character')
        return text[1:] if self.number == 1 and text.startswith('\ufeff') else text

    def _section(self, line: str) -> None:
        end = line.find(']', 1, _comment(line, 0))
        if end < 0:
            raise self.wrong('neither a [section] nor key = value')
        self.section, self.open = line[1:end], None

    def _entry(self, line: str) -> None:
        head = line[:_comment(line, 0)]
        found = re.search('[=:]', head)
        if not found:
            raise self.wrong('neither a [section] nor key = value')
        name, value = line[:found.start()].rstrip(_BLANKS), line[found.end():_comment(line, found.end())].strip(_BLANKS)
        key = '{}.{}'.format(self.section, name)
        if not name:
            raise self.wrong('no key before the =')
        if not self.section:
            raise self.wrong('{}: stands before any [section]'.format(name))
        if value.startswith(';'):
            raise self.wrong('{}: a value does not begin with a semicolon'.format(key))
        if key in self.made:
            raise self.wrong('{}: given twice; also in line {}'.format(key, self.made[key][0]))
        self.made[key] = self.number, value
        self.open = key


def _of_file(path: str) -> List[Entry]:
    with open(path, 'rb') as file:
        data = file.read(_SIZE_MAX + 1)
    if len(data) > _SIZE_MAX:
        raise abi.HalfulpValueError('{}: more than {} bytes, which a configuration has at most'.format(path, _SIZE_MAX))
    reader = _Reader(path)
    lines = data.split(b'\n')
    for raw in lines if lines[-1] else lines[:-1]:
        reader.line(raw[:-1] if raw.endswith(b'\r') else raw)
    return [Entry('{}:{}'.format(path, line), key, value) for key, (line, value) in reader.made.items()]


# ---- what a trainer is given ----

Config = Union[Mapping[str, Any], str, 'os.PathLike[str]', None]


def entries(config: Config) -> List[Entry]:
    """The keys and values of a configuration, "precision.system" first: later keys change what it sets.

    OSError: the file cannot be read. HalfulpValueError: it is no configuration, or a key is given twice.
    HalfulpTypeError: a key or value of another type.
    """
    if config is None:
        return []
    if isinstance(config, Mapping):
        made = _of_mapping(config)
    elif isinstance(config, (str, os.PathLike)):
        made = _of_file(os.fspath(config))
    else:
        raise abi.HalfulpTypeError('config: give a dict or the path of a file, not {}'.format(type(config).__name__))
    return sorted(made, key=lambda entry: entry.key != 'precision.system')


def _nearest(key: str) -> str:
    """A key that may be meant: spelt almost so, or of another section; "" where none is."""
    names = [row.name for row in keys()]
    last = [name for name in names if name.partition('.')[2] == key[key.find('.') + 1:]]
    found = difflib.get_close_matches(key, names, n=1, cutoff=0.85) or last
    return found[0] if found else ''


def no_such_key(where: str, key: str) -> abi.HalfulpError:
    """The error for an unknown key; it names the likely one."""
    nearest = _nearest(key)
    hint = 'perhaps {} is meant'.format(nearest) if nearest else 'halfulp.train.keys() lists them'
    made = abi.HalfulpValueError('{}: {}: there is no such key; {} (HU_E_NAME)'.format(where or 'config', key, hint))
    made.status = 'HU_E_NAME'
    return made
