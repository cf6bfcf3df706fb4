# SPDX-License-Identifier: MIT
"""Number formats fp(e, m, b) as values (halfulp/format.h; docs/numerics.md section 1)."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, List, NamedTuple, Optional, Union

import numpy as np

from . import _abi as abi
from . import _names as names
from . import _pictures as pictures
from . import _structs as s
from ._structs import Value

# What NumPy calls its types, where halfulp's catalogue has another name for the same codes.
_DTYPE_NAMES = {'float16': 'binary16', 'float32': 'binary32'}
# Types of ml_dtypes and NumPy whose values are codes of a format.
CODE_DTYPES = ('float16', 'bfloat16', 'float8_e3m4', 'float8_e4m3', 'float8_e4m3b11fnuz', 'float8_e4m3fn',
               'float8_e4m3fnuz', 'float8_e5m2', 'float8_e5m2fnuz', 'float8_e8m0fnu', 'float6_e2m3fn', 'float6_e3m2fn',
               'float4_e2m1fn')
# Types of torch whose values are codes of a format, by their names.
TORCH_DTYPES = dict({name: name for name in ('bfloat16', 'float8_e4m3fn', 'float8_e4m3fnuz', 'float8_e5m2',
                                             'float8_e5m2fnuz', 'float8_e8m0fnu')},
                    float16='binary16', float32='binary32', float4_e2m1fn_x2='float4_e2m1fn')


class Entry(NamedTuple):
    """A row of the catalogue of formats."""

    name: str
    aliases: List[str]
    source: str  # clause or paper
    open: str  # what the source leaves open and what was decided
    format: 'Format'


class Row(NamedTuple):
    """A code of a format, as `Format.table` lists them."""

    code: int
    bits: str
    value: float
    kind: str  # 'nan', '-inf', '-normal', ..., the words of `classify`


def _apply(operation: bytes, z: np.ndarray, to: s.hu_type, x: np.ndarray, of: s.hu_type, argument: str) -> None:
    """z = an operation on x, element by element."""
    result, view = s.hu_output(z.ctypes.data, 1, to), s.hu_view(x.ctypes.data, 1, of)
    op = abi.main().hu_operation_find(operation)
    abi.check(abi.main().hu_apply(op, x.size, abi.address(result), abi.address(view), None), argument)


class Format(Value):
    """A number format: a set of codes with values.

    Parameters
    ----------
    name : str, numpy.dtype, torch.dtype or Format, optional
        A name of the catalogue ("float8_e4m3fn"), a P3109 name ("binary8p4se"), the grammar "fp(4,3,0):fn" of
        halfulp/format.h, or a type of ml_dtypes, NumPy or torch (``ml_dtypes.float8_e5m2``, ``np.float16``,
        ``torch.float8_e4m3fn``).
    e, m : int
        Exponent bits (0 to 11) and trailing significand bits (0 to 30), instead of a name.
    b : int
        Additional bias: the bias is 2^(e-1) - 1 + b.
    finite, fn, fnuz : bool
        The edges: every code finite; OCP E4M3's (NaN where all bits are ones); Graphcore's and AMD's (NaN at the place
        of -0). None of them: infinities and NaNs of IEEE 754, so that Format(e=4, m=3) is float8_e4m3 with the largest
        number 240; OCP's E4M3, up to 448, is Format(e=4, m=3, fn=True).
    unsigned : bool
        No sign bit.
    suffix : str
        Further axes of the grammar ("nosub,ovf=max").

    >>> Format(e=4, m=3, b=4, finite=True).max
    30.0
    """

    __slots__ = ('_limits',)

    def __init__(self, name: Any = None, *, e: Optional[int] = None, m: Optional[int] = None, b: int = 0,
                 finite: bool = False, fn: bool = False, fnuz: bool = False, unsigned: bool = False,
                 suffix: str = '') -> None:
        if (name is None) == (e is None and m is None):
            raise abi.HalfulpTypeError('Format: either a name or e and m')
        if name is None:
            text: Optional[str] = _grammar(e, m, b, finite, fn, fnuz, unsigned, suffix)
        elif any(type(thing) not in (bool, int, str) or thing for thing in (finite, fn, fnuz, unsigned, suffix, b)):
            raise abi.HalfulpTypeError('Format: b, finite, fn, fnuz, unsigned and suffix go with e and m, not a name')
        else:
            text = name if isinstance(name, str) else None
        if isinstance(name, Format):
            self._c = name._c
        elif text is not None:
            self._c = _parse(text)
        else:
            self._c = _of_dtype(name)
        self._limits = abi.main().hu_limits_of(self._c)

    @classmethod
    def _from_c(cls, record: s.hu_format) -> 'Format':
        made = super()._from_c(record)
        made._limits = abi.main().hu_limits_of(made._c)
        return made

    # -- names --
    @property
    def text(self) -> str:
        """The canonical text: "fp(4,3,0):fn"; `Format(text)` is this format again."""
        return abi.written(abi.main().hu_format_text, 128, self._c)

    @property
    def name(self) -> str:
        """The catalogue's name, or the text of a format that is not in it."""
        found = abi.main().hu_format_id(self._c)
        return found.decode() if found else self.text

    def __repr__(self) -> str:
        return 'Format({!r})'.format(self.name)

    def __str__(self) -> str:
        return self.name

    # -- fields --
    e = property(lambda self: self._c.e, doc='Exponent bits.')
    m = property(lambda self: self._c.m, doc='Trailing significand bits.')
    b = property(lambda self: self._c.b, doc='Additional bias.')
    signed = property(lambda self: bool(self._c.sign), doc='Whether there is a sign bit.')
    width = property(lambda self: self._limits.width, doc='Bits of a code.')
    storage = property(lambda self: self._limits.storage, doc='Bits of a code in an array: 8, 16 or 32.')
    bias = property(lambda self: self._limits.bias, doc='The bias of the exponent field.')
    emin = property(lambda self: self._limits.emin, doc='Exponent of the lowest normal binade.')
    emax = property(lambda self: self._limits.emax, doc='floor(log2 max).')
    bits = property(lambda self: self._limits.width, doc='Bits of a code, as np.finfo calls them.')

    @property
    def max(self) -> float:
        """The largest finite value."""
        return self._limits.max

    @property
    def min(self) -> float:
        """The smallest positive value. (np.finfo means the lowest one by it: `low`.)"""
        return self._limits.min

    @property
    def low(self) -> float:
        """The lowest finite value: -`max` in most formats with a sign."""
        return self._limits.low

    @property
    def min_normal(self) -> float:
        """The smallest positive normal value; 0 when e = 0."""
        return self._limits.min_normal

    smallest_normal = tiny = property(lambda self: self.min_normal, doc='`min_normal`, as np.finfo calls it.')
    smallest_subnormal = property(lambda self: self.min, doc='`min`, as np.finfo calls it.')

    @property
    def eps(self) -> Optional[float]:
        """The distance from 1 to the next larger value; None where the format lacks 1 or has nothing finite above it."""
        library, code = abi.main(), np.zeros(1, self.dtype)
        _apply(b'convert', code, self._codes, np.ones(1), s.hu_type(s.TYPE_BINARY64), 'eps')
        if library.hu_decode64(self._c, int(code[0])) != 1.0:
            return None
        x = s.hu_code(self._c, int(code[0]))
        next_up = library.hu_apply_code(library.hu_operation_find(b'next_up'), self._c, s.hu_mode(), abi.address(x), 0, None)
        above = library.hu_decode64(self._c, next_up)
        return above - 1.0 if 1.0 < above < float('inf') else None

    max_code = property(lambda self: self._limits.max_code, doc='The code of `max`.')
    finite_codes = property(lambda self: self._limits.finite_codes, doc='How many codes are finite values.')
    nan_codes = property(lambda self: self._limits.nan_codes, doc='How many codes are NaN.')
    has_nan = property(lambda self: bool(self._limits.has_nan), doc='Whether there is a NaN.')
    has_inf = property(lambda self: self._c.inf != 0, doc='Whether there are infinities.')
    has_subnormals = property(lambda self: self._c.subnormal == 0 and self._c.zero == 0 and self._c.m > 0,
                              doc='Whether there are subnormal values.')
    has_negative_zero = property(lambda self: bool(self._c.negzero), doc='Whether -0 has a code of its own.')
    zero = property(lambda self: s.ZEROS[self._c.zero], doc='The axis zero: "field", "code" or "none".')
    subnormal = property(lambda self: s.SUBNORMALS[self._c.subnormal], doc='"gradual", "none" or "flush".')
    inf = property(lambda self: s.INFINITIES[self._c.inf], doc='"none", "ieee" or "top".')
    nan = property(lambda self: s.NANS[self._c.nan], doc='"none", "ieee", "ieee1", "ones", "negzero" or "top".')
    overflow = property(lambda self: s.OVERFLOWS[self._c.overflow], doc='"inf", "nan" or "max".')

    @property
    def nan_code(self) -> Optional[int]:
        """The code of the canonical NaN, None where there is none."""
        return self._limits.nan_code if self._limits.has_nan else None

    @property
    def inf_code(self) -> Optional[int]:
        """The code of +infinity, None where there is none."""
        return self._limits.inf_code if self.has_inf else None

    @property
    def dtype(self) -> np.dtype:
        """NumPy's type of an array of codes: uint8, uint16 or uint32."""
        return np.dtype('uint{}'.format(self.storage))

    @property
    def fits_binary32(self) -> bool:
        """Whether every finite value is exact in float32."""
        return bool(abi.main().hu_format_fits_binary32(self._c))

    def fits(self, carrier: 'FormatLike') -> bool:
        """Whether every finite value of this format is one of `carrier`, an IEEE-like format (binary16, bfloat16)."""
        other = Format(carrier)
        trailing = self.m if self.e else self.m - 1  # without an exponent field there is no leading bit either
        step = 2.0 ** (self.emin - self.m) if self.e else self.min
        return (trailing <= other.m and step >= 2.0 ** (other.emin - other.m) and self.max <= other.max
                and (other.signed or not self.signed))

    # -- looking --
    def values(self) -> np.ndarray:
        """The values of all codes in order: float64 of shape (2^width,). Formats of up to 16 bits."""
        if self.width > 16:
            raise abi.HalfulpValueError('values: {} has 2^{} codes; decode those you want'.format(self, self.width))
        codes, values = np.arange(1 << self.width, dtype=self.dtype), np.empty(1 << self.width)
        _apply(b'convert', values, s.hu_type(s.TYPE_BINARY64), codes, self._codes, 'decode')
        return values

    @property
    def _codes(self) -> s.hu_type:
        """The type of an array of codes."""
        return s.hu_type(s.TYPE_CODES, 0, self._c)

    def table(self) -> List[Row]:
        """Every code with its bits, value and class; formats of up to 16 bits."""
        values = self.values()
        codes, kinds = np.arange(1 << self.width, dtype=self.dtype), np.empty(1 << self.width, np.uint8)
        _apply(b'class', kinds, s.hu_type(s.TYPE_INT8), codes, self._codes, 'classify')
        return [Row(code, format(code, '0{}b'.format(self.width)), float(values[code]), s.CLASSES[kinds[code]])
                for code in range(len(values))]

    def plot(self) -> pictures.Picture:
        """Draw the positive values on a logarithmic line, as `halfulp plot` does; a notebook shows it. halfulp.plot
        draws several formats, and data."""
        return pictures.plot([self.name])


FormatLike = Union[Format, str, np.dtype, type]


def _grammar(e, m, b, finite, fn, fnuz, unsigned, suffix) -> str:
    if e is None or m is None:
        raise abi.HalfulpTypeError('Format: e and m go together')
    named = ('finite', finite), ('fn', fn), ('fnuz', fnuz), ('unsigned', unsigned)
    flags = [abi.flag(name, thing) for name, thing in named]
    if sum(flags[:3]) > 1:
        raise abi.HalfulpTypeError('Format: at most one of finite, fn, fnuz')
    parts = [word for word, expected in zip(('unsigned', 'finite', 'fn', 'fnuz'), flags[3:] + flags[:3]) if expected]
    parts += [suffix] if abi.instance('suffix', suffix, str) else []
    widths = (abi.whole(name, thing, -(1 << 62), 1 << 62) for name, thing in (('e', e), ('m', m), ('b', b)))
    return 'fp({:d},{:d},{:d}){}'.format(*widths, ':' + ','.join(parts) if parts else '')


@abi.text_cache(1024)
def _parse(text: str) -> s.hu_format:
    record, why = s.hu_format(), ctypes.c_char_p()
    library = abi.main()

    def call(record_, raw, where):
        return library.hu_format_parse_axis(record_, raw, where, ctypes.byref(why))
    try:
        names.parse('format', 'format', text, call, record)
    except abi.HalfulpError as error:
        if why.value:
            fuller = type(error)('{}: {}'.format(error, why.value.decode()))
            fuller.status = error.status
            raise fuller from None
        raise
    return record


def torch_name(kind: Any) -> Optional[str]:
    """The format of a torch.dtype, looked at without importing torch; None for anything else."""
    if (type(kind).__module__, type(kind).__name__) != ('torch', 'dtype'):
        return None
    found = TORCH_DTYPES.get(str(kind).partition('.')[2])
    if found is None:
        raise abi.HalfulpTypeError('format: {} is no floating-point type that halfulp has a format for'.format(kind))
    return found


def _of_dtype(kind: Any) -> s.hu_format:
    found = torch_name(kind)
    if found is not None:
        return _parse(found)
    try:
        name = np.dtype(kind).name
    except (TypeError, ValueError):
        raise abi.HalfulpTypeError('format: {!r} is neither a name nor a type of numbers'.format(kind)) from None
    if name not in CODE_DTYPES and name not in _DTYPE_NAMES:
        raise abi.HalfulpTypeError('format: {} is no floating-point type that halfulp has a format for'.format(name))
    return _parse(_DTYPE_NAMES.get(name, name))


def formats() -> List[Entry]:
    """The catalogue of named formats: IEEE 754, OCP, FNUZ, P3109, and those of papers."""
    library = abi.main()
    rows = (library.hu_format_at(i) for i in range(library.hu_format_count()))
    return [Entry(row.id.decode(), row.aliases.decode().split(), row.source.decode(), row.open.decode(),
                  Format._from_c(row.format)) for row in rows]
