# SPDX-License-Identifier: MIT
"""The C libraries: where they are, how they are loaded, and what their statuses become.

Each is loaded when it is first used. They are looked for

    1. where HALFULP_LIBRARY says: a folder, or the file of libhalfulp itself;
    2. beside this package (that is what a wheel has);
    3. where pkg-config finds halfulp, HALFULP_PREFIX and the system's loader.

ctypes releases the interpreter's lock while a call runs.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import functools
import operator
import os
import pathlib
import subprocess
import sysconfig
from typing import Any, Callable, Iterator, Optional, Sequence, Tuple, TypeVar

from . import _signatures as signatures
from . import _structs as s


class HalfulpError(Exception):
    """What a call says about misuse; `status` is the C library's name for it ("HU_E_SHAPE")."""

    status = ''
    rest = ''  # of a text that was refused: from the part that is wrong to its end


class HalfulpValueError(HalfulpError, ValueError):
    """An argument that makes no sense: a text, a shape, an overlap."""


class HalfulpTypeError(HalfulpError, TypeError):
    """An array of another type than the call takes."""


class HalfulpDeviceError(HalfulpError, RuntimeError):
    """No CUDA device, no CUDA in this build, or an error of the CUDA runtime."""


class HalfulpMemoryError(HalfulpError, MemoryError):
    """No memory."""


_E_TEXT = -60
_Call = TypeVar('_Call', bound=Callable[..., Any])
_KINDS = {'HU_E_DEVICE': HalfulpDeviceError, 'HU_E_CUDA': HalfulpDeviceError, 'HU_E_MEMORY': HalfulpMemoryError,
          'HU_E_ALIGN': HalfulpTypeError}


def _near_pkg_config() -> Iterator[pathlib.Path]:
    prefix = os.environ.get('HALFULP_PREFIX')
    if prefix:
        yield from sorted(path.parent for path in pathlib.Path(prefix).glob('lib*/**/libhalfulp.so'))
    try:
        said = subprocess.run(['pkg-config', '--variable=libdir', 'halfulp'], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, universal_newlines=True)
    except OSError:
        return
    if said.returncode == 0:
        yield pathlib.Path(said.stdout.strip())  # pkgconf puts PKG_CONFIG_SYSROOT_DIR in front itself
        yield pathlib.Path(os.environ.get('PKG_CONFIG_SYSROOT_DIR', '') + said.stdout.strip())


def _candidates(stem: str) -> Iterator[str]:
    """Files that may be library `stem` ("halfulp", "halfulp-train"), the ones to be preferred first."""
    given = os.environ.get('HALFULP_LIBRARY')
    if given:
        path = pathlib.Path(given)
        folders = [path] if path.is_dir() else [path.parent]
        if path.is_dir():  # of a build, too
            folders += [path / name for name in ('emu', 'train', 'gpu', 'layouts', 'cli/pictures', 'lib')]
        elif stem == 'halfulp':
            yield str(path)
        for folder in folders:
            yield from _in_folder(folder, stem)
        return
    for folder in (*_of_wheel(), *_near_pkg_config()):
        yield from _in_folder(folder, stem)
    yield 'lib{}.so.0'.format(stem)


def _of_wheel() -> Iterator[pathlib.Path]:
    """Where meson-python puts libraries: beside the package, or where compiled packages go if that is elsewhere."""
    here = pathlib.Path(__file__).resolve().parent.parent
    yield here / '.halfulp.mesonpy.libs'
    if here == pathlib.Path(sysconfig.get_path('purelib')).resolve():
        yield pathlib.Path(sysconfig.get_path('platlib')) / '.halfulp.mesonpy.libs'


def _in_folder(folder: pathlib.Path, stem: str) -> Iterator[str]:
    for place in (folder, folder / 'halfulp'):  # where libraries lie that no program is linked with
        yield from sorted(str(path) for path in place.glob('lib{}.so*'.format(stem)) if path.is_file())  # a build has folders
    apple = folder.glob('lib{}*.dylib'.format(stem))
    yield from sorted(str(path) for path in apple if '-' not in path.name[3 + len(stem):])


def _load(stem: str, table: dict, prefix: str = 'hu_') -> ctypes.CDLL:
    tried = []
    for path in _candidates(stem):
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            tried.append('{}: {}'.format(path, error))
            continue
        try:
            signatures.declare(library, table, prefix)
        except AttributeError as error:
            raise ImportError('{} is another version of halfulp than this package: {}'.format(path, error)) from None
        return library
    raise ImportError('lib{}.so was not found; HALFULP_LIBRARY names its folder{}'.format(
        stem, ''.join('\n  ' + line for line in tried)))


@functools.lru_cache(maxsize=None)
def main() -> ctypes.CDLL:
    """libhalfulp."""
    return _load('halfulp', signatures.MAIN)


@functools.lru_cache(maxsize=None)
def train() -> ctypes.CDLL:
    """libhalfulp-train; ImportError where it is not there."""
    return _load('halfulp-train', signatures.TRAIN)


@functools.lru_cache(maxsize=None)
def layouts() -> ctypes.CDLL:
    """libhalfulp-layouts; ImportError where it is not there."""
    return _load('halfulp-layouts', signatures.LAYOUTS)


@functools.lru_cache(maxsize=None)
def pictures() -> ctypes.CDLL:
    """libhalfulp-pictures, which calls libhalfulp; ImportError where it is not there."""
    main()
    return _load('halfulp-pictures', signatures.PICTURES, 'hui_picture_')


@functools.lru_cache(maxsize=None)
def cuda() -> ctypes.CDLL:
    """libhalfulp-cuda; HalfulpDeviceError where it is not there."""
    try:
        return _load('halfulp-cuda', signatures.CUDA)
    except ImportError as error:
        raise HalfulpDeviceError('halfulp was built without CUDA: {}'.format(error)) from None


def error(status: int, argument: str = '', detail: str = '') -> HalfulpError:
    """The exception for a status: the argument's name, the library's sentence, and what else is known."""
    name = main().hu_status_name(status).decode()
    text = main().hu_status_text(status).decode()
    kind = _KINDS.get(name, HalfulpValueError)
    made = kind('{}{}{} ({})'.format(argument + ': ' if argument else '', text, '; ' + detail if detail else '', name))
    made.status = name
    return made


def told(status: int, sentence: bytes, otherwise: str = '') -> HalfulpError:
    """The exception for a status with the library's own sentence about it; without a sentence the exception has the
    status's text behind the words `otherwise`."""
    if not sentence:
        return error(status, otherwise)
    name = main().hu_status_name(status).decode()
    made = _KINDS.get(name, HalfulpValueError)('{} ({})'.format(sentence.decode(errors='replace'), name))
    made.status = name
    return made


def check(status: int, argument: str = '', detail: str = '') -> None:
    """Nothing for HU_OK, else the exception."""
    if status != s.OK:
        raise error(status, argument, detail)


def is_text(text: str) -> bool:
    """Whether the library can be given a text: no zero in it, and no half of a pair that UTF-8 has no bytes for."""
    return '\0' not in text and not any('\ud800' <= letter <= '\udfff' for letter in text)


def raw_text(argument: str, text: str) -> bytes:
    """A text as the library takes it."""
    if not isinstance(text, str):
        raise HalfulpTypeError('{}: give a text, not {}'.format(argument, type(text).__name__))
    if not is_text(text):
        raise error(_E_TEXT, argument, ascii(text))
    return text.encode()


def text_cache(size: Optional[int]) -> Callable[[_Call], _Call]:
    """functools.lru_cache for a function of texts. Other things go to the function itself, which says that they are no
    texts: an array could not even be looked up."""
    def decorate(function: _Call) -> _Call:
        cached = functools.lru_cache(maxsize=size)(function)

        @functools.wraps(function)
        def call(*texts: Any) -> Any:
            return cached(*texts) if all(isinstance(text, str) for text in texts) else function(*texts)
        return call  # type: ignore[return-value]
    return decorate


def shown(thing: Any) -> str:
    """A thing in a message: in full where it is short."""
    if isinstance(thing, int) and thing.bit_length() > 128:
        return 'an integer of {} bits'.format(thing.bit_length())
    try:
        text = repr(thing)
    except ValueError:  # of a long integer inside
        text = '...'
    return text if len(text) <= 80 else text[:60] + ' ...'


def whole(argument: str, thing: Any, low: int, high: int) -> int:
    """An integer of Python or NumPy from low to high; HalfulpTypeError or HalfulpValueError for anything else."""
    try:
        if isinstance(thing, (bool, bytes)):
            raise TypeError
        made = operator.index(thing)
    except TypeError:
        raise HalfulpTypeError('{}: a whole number is expected, not {}'.format(argument, type(thing).__name__)) from None
    if not low <= made <= high:
        raise HalfulpValueError('{}: {} is not {} to {}'.format(argument, shown(made), low, high))
    return made


def flag(argument: str, thing: Any) -> bool:
    """True or False, Python's or NumPy's, or 1 or 0."""
    if isinstance(thing, int) or type(thing).__name__ in ('bool', 'bool_') and getattr(thing, 'ndim', 1) == 0:
        return bool(thing)
    raise HalfulpTypeError('{}: True or False is expected, not {}'.format(argument, type(thing).__name__))


def instance(argument: str, thing: Any, *kinds: type) -> Any:
    """The thing, which is of one of these kinds."""
    if not isinstance(thing, kinds):
        raise HalfulpTypeError('{}: {} is expected, not {}'.format(argument, ' or '.join(kind.__name__ for kind in kinds),
                                                                 type(thing).__name__))
    return thing


def pair(argument: str, thing: Any, what: str) -> Tuple[Any, Any]:
    """Two things in a tuple or a list."""
    if not isinstance(thing, (tuple, list)) or len(thing) != 2:
        raise HalfulpTypeError('{}: {} is expected, not {}'.format(argument, what, type(thing).__name__))
    return thing[0], thing[1]


def word(argument: str, thing: Any, words: Sequence[str]) -> int:
    """The place of a word among those that there are."""
    if not isinstance(thing, str):
        raise HalfulpTypeError('{}: give a text, not {}'.format(argument, type(thing).__name__))
    if thing not in words:
        raise HalfulpValueError('{}: {!r} is not one of {}'.format(argument, thing, ', '.join(words)))
    return list(words).index(thing)


def parse(argument: str, text: str, call, record, *more) -> None:
    """record = text, by a parser (record, text, ..., where) of the library; *more stands before `where`."""
    where = ctypes.c_size_t(0)
    raw = raw_text(argument, text)
    status = call(ctypes.byref(record), raw, *more, ctypes.byref(where))
    if status != s.OK:
        rest = raw[where.value:].decode(errors='replace')
        at = '' if where.value == 0 else ' from {!r} on'.format(rest) if rest else ' at its end'
        detail = repr(text) + at
        made = error(status, argument, detail)
        made.rest = rest
        raise made


def written(call, size: int, *record) -> str:
    """The text of a record, by a writer (buffer, size, record) of the library."""
    buffer = ctypes.create_string_buffer(size)
    call(buffer, size, *record)
    return buffer.value.decode()


def address(thing) -> Any:
    """A record for an argument `pointer`, None for None. It keeps the record alive until the call has returned."""
    return None if thing is None else ctypes.byref(thing)
