# SPDX-License-Identifier: MIT
"""Arrays of every kind seen alike: NumPy's and ml_dtypes', objects with DLPack, CUDA arrays.

A View is where elements are and what they are called. Arrays of the host have `array`, the elements as unsigned
integers or NumPy's own float types in a NumPy array that shares their memory; those of a device have `cuda`, a stream.
"""
from __future__ import annotations

import ctypes as c
import functools
from typing import Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _abi as abi
from . import _dlpack as dlpack
from ._integers import odd as integers
from .format import CODE_DTYPES, Format, FormatLike, torch_name

VALUES = ('float32', 'float64', 'float16', 'bfloat16')
_CUDA = '__cuda_array_interface__'
_SIZES = {'float64': 8, 'float32': 4, 'float16': 2, 'bfloat16': 2, 'uint8': 1, 'uint16': 2, 'uint32': 4, 'int8': 1,
          'int32': 4, 'int16': 2, 'int64': 8, 'uint64': 8, 'bool': 1}


class CodesOf(NamedTuple):
    """A format or number system as its codes are stored: the argument that holds them, its name, the bits of a code,
    and whether the bits above them may repeat the highest one."""

    argument: str
    name: str
    width: int
    signed: bool = False


class View:
    """Elements in memory: `name` is NumPy's or ml_dtypes' name of their type, strides count elements. `exact`: the
    integers as they were given, where the elements are float64 and lack some of them (`numbers`). `kind`: what the
    elements are codes of, where they are said to be codes, or are of a type that has bits above its codes. `python`:
    they were given as Python's numbers."""

    __slots__ = ('array', 'name', 'address', 'shape', 'strides', 'itemsize', 'cuda', 'readonly', 'keep', 'exact',
                 'kind', 'python')

    def __init__(self, name: str, address: int, shape: Tuple[int, ...], strides: Tuple[int, ...], *, array=None,
                 cuda: Optional[int] = None, readonly: bool = False, keep: Any = None) -> None:
        self.name, self.address, self.shape, self.strides = name, address, shape, strides
        self.itemsize = size_of(name)
        self.array, self.cuda, self.readonly, self.keep = array, cuda, readonly, keep
        self.exact: Optional[np.ndarray] = None
        self.kind: Optional[CodesOf] = None
        self.python = False

    @property
    def size(self) -> int:
        count = 1
        for side in self.shape:
            count *= side
        return count

    def broadcast(self, argument: str, shape: Tuple[int, ...]) -> 'View':
        """The same elements under a larger shape, with strides of 0."""
        if shape == self.shape:
            return self
        more = len(shape) - len(self.shape)
        if more < 0 or any(mine not in (1, expected) for mine, expected in zip(self.shape, shape[more:])):
            raise abi.HalfulpValueError('{}: shape {} does not go with {}'.format(argument, self.shape, shape))
        strides = (0,) * more + tuple(0 if mine == 1 else step for mine, step in zip(self.shape, self.strides))
        array = None if self.array is None else np.broadcast_to(self.array, shape)
        made = View(self.name, self.address, shape, strides, array=array, cuda=self.cuda, readonly=True, keep=self.keep)
        made.kind = self.kind
        return made

    def copied(self) -> 'View':
        """A contiguous copy of an array of the host."""
        made = _of_raw(np.array(self.array, order='C'), self.name)
        made.kind = self.kind
        return made

    def overlaps(self, other: 'View') -> bool:
        """Whether arrays of the host may share memory in another way than being the same elements in the same order."""
        if self.array is None or other.array is None or self.size == 0 or other.size == 0:
            return False
        same = (self.address, self.shape, self.strides, self.itemsize) == (other.address, other.shape, other.strides,
                                                                           other.itemsize)
        return not same and np.may_share_memory(self.array, other.array)


def size_of(name: str) -> int:
    """Bytes of an element."""
    return _SIZES.get(name) or Format(name).storage // 8


def dtype_of(argument: str, name: str) -> np.dtype:
    """NumPy's type of that name; ml_dtypes' where NumPy has none."""
    if name not in CODE_DTYPES or name == 'float16':
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise abi.HalfulpTypeError('{}: {} needs the package ml_dtypes'.format(argument, name)) from None
    if not hasattr(ml_dtypes, name):
        raise abi.HalfulpTypeError('{}: this version of ml_dtypes has no {}'.format(argument, name))
    return np.dtype(getattr(ml_dtypes, name))


@functools.lru_cache(maxsize=256)
def _name(kind: np.dtype) -> str:
    return kind.name  # which NumPy puts together again every time


def _raw(array: np.ndarray) -> np.ndarray:
    """The array itself if its type is NumPy's own; else its elements as unsigned integers."""
    own = _name(array.dtype) in _SIZES and _name(array.dtype) != 'bfloat16'
    return array if own else array.view('u{}'.format(array.itemsize))


def _of_raw(raw: np.ndarray, name: str, keep: Any = None) -> View:
    strides = tuple(step // raw.itemsize for step in raw.strides)
    return View(name, raw.ctypes.data, raw.shape, strides, array=raw, readonly=not raw.flags.writeable, keep=keep)


def _regular(array: np.ndarray) -> bool:
    """Whether a stride can say in elements where things are, with pointers as the C library requires."""
    return (array.flags.aligned and array.dtype.isnative and all(step % array.itemsize == 0 for step in array.strides))


def _of_numpy(argument: str, array: np.ndarray) -> View:
    name = _name(array.dtype)
    if array.dtype.kind in 'OSUMm' or array.dtype.fields or (name not in _SIZES and name not in CODE_DTYPES):
        raise integers.unknown(argument, array.dtype)
    if not _regular(array):
        array = np.array(array, dtype=array.dtype.newbyteorder('='), order='C')
    return _of_raw(_raw(array), name)


def _of_memory(name: str, address: int, shape: Tuple[int, ...], strides: Tuple[int, ...], readonly: bool,
               keep: Any) -> View:
    """Memory of the host that NumPy does not know yet."""
    size = size_of(name)
    kind = np.dtype(name if name in _SIZES and name != 'bfloat16' else 'u{}'.format(size))
    extent = sum((side - 1) * step for side, step in zip(shape, strides)) + 1 if all(shape) else 0
    if any(step < 0 for step in strides):
        raise abi.HalfulpValueError('a DLPack tensor with a stride below 0')
    buffer: Any = (c.c_char * (extent * size)).from_address(address) if extent else b''
    if extent:
        buffer.keep = keep  # the array's base: memory stays as long as any view of it, whatever becomes of the View
    array = np.ndarray(shape, kind, buffer=buffer, strides=tuple(step * size for step in strides))
    if readonly:
        array.flags.writeable = False
    made = _of_raw(array, name, keep)
    made.readonly = readonly
    return made


def _of_cuda(argument: str, thing: Any, cuda_stream: Optional[int]) -> View:
    said = thing.__cuda_array_interface__
    kind = np.dtype(said['typestr'])
    if said.get('mask') is not None:
        raise abi.HalfulpTypeError('{}: a masked array'.format(argument))
    own = said.get('stream')
    if cuda_stream is None:
        cuda_stream = own or 0
    elif own is not None and (own or 1) != (cuda_stream or 1):
        raise abi.HalfulpValueError(
            '{}: its producer works on stream {}, cuda_stream is {}; make it wait, or give its own'.format(
            argument, own, cuda_stream))
    shape = tuple(said['shape'])
    strides = said.get('strides')
    if strides is None:
        strides = dlpack.dense(shape)
    elif any(step % kind.itemsize for step in strides):
        raise abi.HalfulpTypeError('{}: strides {} do not count elements of {} bytes'.format(argument, strides,
            kind.itemsize))
    else:
        strides = tuple(step // kind.itemsize for step in strides)
    if not kind.isnative:
        raise abi.HalfulpTypeError('{}: elements of the other byte order'.format(argument))
    # Libraries whose bfloat16 and 8-bit floats have no typestr of their own still know them by name.
    name = kind.name
    if kind.kind in 'Vu' and getattr(getattr(thing, 'dtype', None), 'name', None) in CODE_DTYPES:
        name = thing.dtype.name
    if name not in _SIZES and name not in CODE_DTYPES:
        raise integers.unknown(argument, kind)
    return View(name, said['data'][0] or 0, shape, strides, cuda=cuda_stream, readonly=bool(said['data'][1]),
                keep=thing)


def view(argument: str, thing: Any, cuda_stream: Optional[int] = None) -> View:
    """A View of an array, an object with __cuda_array_interface__ or __dlpack__, or Python's numbers (float64, which
    has all of them)."""
    made = _view(argument, thing, cuda_stream)
    if made.name in CODE_DTYPES and _width(made.name) < 8 * made.itemsize:
        made.kind = CodesOf(argument, made.name, _width(made.name))
    return made


@functools.lru_cache(maxsize=None)
def _width(name: str) -> int:
    return Format(name).width


def _view(argument: str, thing: Any, cuda_stream: Optional[int]) -> View:
    if isinstance(thing, (np.ndarray, np.generic)):
        return _of_numpy(argument, np.asarray(thing))
    if hasattr(thing, _CUDA):
        return _of_cuda(argument, thing, cuda_stream)
    if hasattr(thing, '__dlpack__') and hasattr(thing, '__dlpack_device__'):
        taken = dlpack.take(argument, thing, cuda_stream)
        if taken.cuda:
            return View(taken.name, taken.address, taken.shape, taken.strides, cuda=cuda_stream or 0,
                        readonly=taken.read_only, keep=taken.keep)
        return _of_memory(taken.name, taken.address, taken.shape, taken.strides, taken.read_only, taken.keep)
    made, exact = integers.of_python(argument, thing)
    if exact is not None:
        raise abi.HalfulpTypeError('{}: binary64 lacks an integer in it'.format(argument))
    seen = _of_numpy(argument, made)
    seen.python = True
    return seen


def _arrays(thing: Any) -> bool:
    return isinstance(thing, (np.ndarray, np.generic)) or hasattr(thing, '__dlpack__') or hasattr(thing, _CUDA)


def numbers(argument: str, thing: Any, cuda_stream: Optional[int] = None) -> View:
    """A View of numbers that are to be rounded: integers and booleans, Python's and those of arrays, are float64, and
    where that lacks some of them they are rounded to odd and `exact` has them as they are."""
    if _arrays(thing):
        return _of_numbers(argument, view(argument, thing, cuda_stream))
    held, exact = integers.of_python(argument, thing)
    made = _of_numpy(argument, held)
    made.exact = exact
    return made


def _of_numbers(argument: str, x: View) -> View:
    """An array as `numbers` sees it."""
    if x.name in CODE_DTYPES or x.name in VALUES:
        return x
    if x.array is None:
        raise abi.HalfulpTypeError('{}: an array of {} on a device; integers are taken on the host'.format(argument,
            x.name))
    held, exact = integers.of_integers(x.array)
    made = _of_numpy(argument, held)
    made.exact = exact
    return made


_UNSIGNED = ('uint8', 'uint16', 'uint32')


def numbers_or_codes(argument: str, thing: Any, format: Optional[FormatLike], option: str,
                     cuda_stream: Optional[int] = None) -> View:
    """A View of what a call takes that knows codes and numbers. Where no format is given, integers and booleans are
    numbers, as `numbers` sees them, except for the types that `encode` returns: they may be either. Where one is given
    (`option` is its keyword), integers are codes of it; beside binary32, which has numbers as they are, those that
    cannot be its codes are numbers, too."""
    if not _arrays(thing):
        made = numbers(argument, thing, cuda_stream)
        made.python = True
        return made
    x = view(argument, thing, cuda_stream)
    if format is None:
        if x.name in _UNSIGNED:
            raise abi.HalfulpTypeError('{}: an array of {} may hold codes or numbers; {}= says of which format they '
                                       'are codes, numpy.float32(x) that they are numbers'.format(argument, x.name,
                                                                                                  option))
        return _of_numbers(argument, x)
    kind = Format(format)
    if kind == Format('binary32') and x.name not in (kind.dtype.name, kind.dtype.name[1:]):
        return _of_numbers(argument, x)
    return x


def float32_of(argument: str, x: View) -> View:
    """float64 numbers of the host as float32, where they are such; HalfulpTypeError for others, which this would round
    before anything else does."""
    assert x.array is not None
    with np.errstate(over='ignore'):
        narrow = x.array.astype(np.float32)
    same = (narrow == x.array) | np.isnan(x.array)
    if not same.all():
        first = np.atleast_1d(x.array if x.exact is None else x.exact)[~np.atleast_1d(same)].flat[0]
        whole = not isinstance(first, (float, np.floating)) or float(first).is_integer()
        raise abi.HalfulpTypeError('{}: {} is no float32 and would be rounded twice; numpy.float32(x) says so'.format(
            argument, abi.shown(int(first) if whole else float(first))))
    return view(argument, narrow)


def target(argument: str, thing: Any, shape: Tuple[int, ...], names: Sequence[str],
           cuda_stream: Optional[int] = None) -> View:
    """A View of an array to write, of that shape and with elements of one of these types."""
    if isinstance(thing, np.ndarray):
        if not thing.flags.writeable:
            raise abi.HalfulpValueError('{}: the array is read-only'.format(argument))
        if not _regular(thing):
            raise abi.HalfulpValueError('{}: its elements are not aligned, or of the other byte order'.format(argument))
    elif not (hasattr(thing, _CUDA) or hasattr(thing, '__dlpack__')):
        raise abi.HalfulpTypeError('{}: an array to write to is expected, not {}'.format(argument, type(thing).__name__))
    made = view(argument, thing, cuda_stream)
    if made.readonly:
        raise abi.HalfulpValueError('{}: the array is read-only'.format(argument))
    if made.shape != shape:
        raise abi.HalfulpValueError('{}: shape {} instead of {}'.format(argument, made.shape, shape))
    if made.name not in names:
        raise abi.HalfulpTypeError('{}: an array of {} instead of {}'.format(argument, made.name, ' or '.join(names)))
    if overlaps_itself(made.shape, made.strides):
        raise abi.HalfulpValueError('{}: several of its elements lie at one place of memory (shape {}, strides {}); '
                                    'copy() it first'.format(argument, made.shape, made.strides))
    return made


def overlaps_itself(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two elements of an array lie at one place; strides count elements, so that places are equal or apart."""
    if any(side == 0 for side in shape):
        return False
    axes = sorted((abs(step), side) for side, step in zip(shape, strides) if side > 1)
    reach, apart = 0, True  # reach: the last place of the axes before, each of which lies within one step of the next
    for step, side in axes:
        apart = apart and step > reach
        reach += (side - 1) * step
    if apart:
        return False
    if any(step == 0 for step, _ in axes) or np.prod([float(side) for _, side in axes]) > reach + 1:
        return True
    places = np.zeros(1, np.int64)  # interleaved axes, as no slice and no transpose makes them: look at every place
    for step, side in axes:
        places = np.add.outer(places, np.arange(side, dtype=np.int64) * step).ravel()
    return np.unique(places).size < places.size


def fresh(argument: str, name: str, shape: Tuple[int, ...], like: Optional[View] = None) -> Tuple[np.ndarray, View]:
    """A new array of the host, laid out as `like` where shapes agree, and its View."""
    kind = dtype_of(argument, name)
    if like is not None and like.array is not None and like.shape == shape:
        made = np.empty_like(like.array, dtype=kind, subok=False)
    else:
        made = np.empty(shape, kind)
    return made, _of_raw(_raw(made), name)


def format_and_type(format: FormatLike) -> 'tuple[Format, Optional[str]]':
    """A format, and the name of the array type that it was given as ("float8_e5m2" for ml_dtypes.float8_e5m2); types of
    torch name no type of arrays."""
    made = format if isinstance(format, Format) else Format(format)
    given = isinstance(format, (Format, str)) or torch_name(format) is not None
    return made, None if given else np.dtype(format).name


def codes_view(argument: str, x: View, format: Optional[FormatLike], packed: bool = False) -> 'tuple[View, Format]':
    """x as codes of a format: integers of its storage, or the type of that very format; packed: bytes of packed
    ones."""
    own = Format(x.name) if x.name in CODE_DTYPES or x.name == 'float32' else None
    if own is None and format is None:
        given = "a number or a list of Python's" if x.python else 'an array of {}'.format(x.name)
        raise abi.HalfulpTypeError('{}: {} says no format; name it'.format(argument, given))
    expected = own if format is None else format if isinstance(format, Format) else Format(format)
    assert expected is not None
    kind = CodesOf(argument, str(expected), expected.width)
    if own is None or abi.flag('packed', packed):
        return stored(x, kind, expected.dtype, packed), expected
    if own != expected:
        raise abi.HalfulpTypeError('{}: an array of {} holds no codes of {}'.format(argument, x.name, expected))
    x.kind = kind
    return x, expected


def no_codes(argument: str, name: str, dtype: np.dtype) -> abi.HalfulpTypeError:
    """The error of Python's numbers where codes are expected."""
    return abi.HalfulpTypeError('{}: codes of {} are an array of {}, not numbers of Python; numpy.{}(x) makes them '
                                'one'.format(argument, name, dtype.name, dtype.name))


def stored(x: View, kind: CodesOf, dtype: np.dtype, packed: bool = False) -> View:
    """x as codes in unsigned integers of a type; signed ones of the size are taken for them; packed: unpacked first."""
    if abi.flag('packed', packed) and not x.python:
        bytes_ = x.array if x.name in ('uint8', 'int8') else None
        x = _of_numpy(kind.argument, unpacked(kind.argument, bytes_, kind.width))
    if x.python:
        raise no_codes(kind.argument, kind.name, dtype)
    if x.name not in (dtype.name, dtype.name[1:]):
        raise abi.HalfulpTypeError('{}: codes of {} are {}, not {}'.format(kind.argument, kind.name, dtype.name,
                                                                           x.name))
    array = None if x.array is None else x.array.view(dtype)
    made = View(dtype.name, x.address, x.shape, x.strides, array=array, cuda=x.cuda, readonly=x.readonly, keep=x.keep)
    made.kind = kind
    return made


def unpacked(argument: str, x: Optional[np.ndarray], width: int) -> np.ndarray:
    """The codes of packed bytes, row by row of the last axis: as many as the bytes of a row hold. Bits behind
    the last code must be 0, as `pack` leaves them."""
    width = abi.whole('width', width, -(1 << 63), (1 << 63) - 1)
    if not 1 <= width <= 7:
        raise abi.HalfulpValueError('packed: codes of {} bits are not packed, those of 1 to 7 are'.format(width))
    if x is None or x.ndim == 0:
        raise abi.HalfulpTypeError('{}: packed codes are an array of uint8 on the host'.format(argument))
    n, library = x.shape[-1] * 8 // width, abi.main()
    made, rows = np.empty(x.shape[:-1] + (n,), np.uint8), np.ascontiguousarray(x)
    spare = x.shape[-1] * 8 % width
    left = rows[..., -1].view(np.uint8) >> (8 - spare) if spare else np.zeros(x.shape[:-1], np.uint8)
    if left.any():
        place = [int(i) for i in np.unravel_index(int(np.argmax(left != 0)), left.shape)]
        raise abi.HalfulpValueError(spare_bits(argument, width, x.shape[-1], place))
    full = spare == 0  # no bits are left over at the end of a row, so that all rows are one
    for z, row in [(made, rows)] if full else zip(made.reshape(-1, n), rows.reshape(-1, x.shape[-1])):
        abi.check(library.hu_unpack_n(z.size, z.ctypes.data, row.ctypes.data, width, None), argument)
    return made


def spare_bits(argument: str, width: int, size: int, row: Sequence[int]) -> str:
    """What is wrong where bits that are too few for a code stand at the end of a row of packed bytes."""
    n, spare = divmod(size * 8, width)
    return ('{}: the {} bytes {} hold {} codes of {} bits, and the {} bits behind them are not 0; are they packed '
            'codes of another width, or cut off?').format(argument, size, 'of row {}'.format(list(row)) if row else
                                                          'there are', n, width, spare)


def wide_code(error: abi.HalfulpError,
              kinds: Sequence[Tuple[Optional[np.ndarray], Optional[CodesOf]]]) -> abi.HalfulpError:
    """The error of a call that was given a code with bits above its format's width, with the code and a way out; other
    errors are as they are."""
    if error.status != 'HU_E_CODE':
        return error
    for x, kind in kinds:
        place = None if x is None or kind is None else first_wide(x, kind)
        if place is not None and x is not None and kind is not None:
            way = ('; halfulp.unpack(x, {}) gives packed codes a byte each, and so does packed=True where a call has '
                   'it').format(kind.width) if kind.width < 8 else ''
            made = type(error)('{}: the code 0x{:X} at {} is wider than the {} bits of {} ({}){}'.format(kind.argument,
                int(x[place]), list(map(int, place)), kind.width, kind.name, error.status, way))
            made.status = error.status
            return made
    return error


def first_wide(x: np.ndarray, kind: CodesOf) -> Optional[Tuple[int, ...]]:
    """Where the first code stands that has bits above its width."""
    size = x.itemsize * 8
    if kind.width >= size or x.dtype.kind not in 'ui':
        return None
    bits = x.view('u{}'.format(x.itemsize))
    wide = bits >> kind.width != 0
    if kind.signed:
        wide &= bits >> (kind.width - 1) != (1 << (size - kind.width + 1)) - 1
    return tuple(np.unravel_index(int(np.argmax(wide)), x.shape)) if wide.any() else None


def dtype_name(thing: Any) -> str:
    """The name of a type of arrays that a `dtype` argument is or names."""
    if isinstance(thing, str):
        return thing
    try:
        if thing is None:
            raise TypeError
        return np.dtype(thing).name
    except (TypeError, ValueError):
        raise abi.HalfulpTypeError('dtype: {!r} is no type of numbers'.format(thing)) from None


def code_types(format: Format) -> Sequence[str]:
    """Array types that hold codes of a format: unsigned integers, and the type of that format if there is one."""
    own = [name for name in CODE_DTYPES + ('float32',) if Format(name) == format]
    return [format.dtype.name] + own
