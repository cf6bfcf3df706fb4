# SPDX-License-Identifier: MIT
"""How a result is rounded, and random words (halfulp/mode.h; docs/numerics.md sections 2 to 6)."""
from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _abi as abi
from . import _structs as s
from ._structs import Value

if TYPE_CHECKING:
    import torch


class Mode(Value):
    """A rounding with everything that goes with it; plain and unchangeable.

    Parameters
    ----------
    round : str
        Ties to even, away, to zero: "rne", "rna", "rnz"; toward zero, positive, negative: "rtz", "rtp", "rtn"; away
        from zero "raz", to odd "rto"; stochastic with N random bits "sra:N", "srb:N", "src:N" ("sr:N" is "sra:N").
        IEEE 754-2019 section 4.3, IEEE P3109.
    saturate : str
        Beyond the range: "default" (none for formats with infinities, finite for those without), "none" (the format's
        own rule), "finite" (max, infinities too), "propagate" (max, but infinities stay).
    nan : str
        A NaN into a format that has none: "max", "zero", "error" (max, and the event `invalid`).
    tiny : str
        When a result is tiny for the event `underflow`: "after" rounding or "before" it.
    """

    __slots__ = ()

    def __init__(self, round: str = 'rne', *, saturate: str = 'default', nan: str = 'max', tiny: str = 'after') -> None:
        self._c = _mode(round, saturate, nan, tiny)

    @property
    def round(self) -> str:
        """The rounding's text."""
        return abi.main().hu_mode_round_text(ctypes.create_string_buffer(8), self._c).decode()

    saturate = property(lambda self: s.SATURATIONS[self._c.saturate], doc='The saturation policy.')
    nan = property(lambda self: s.NAN_POLICIES[self._c.nan], doc='What a NaN becomes in a format without one.')
    tiny = property(lambda self: s.TININESS[self._c.tiny], doc='When tininess is looked at.')
    bits = property(lambda self: self._c.bits, doc='Random bits of a stochastic rounding, else 0.')

    @property
    def stochastic(self) -> bool:
        """Whether random words are drawn."""
        return self._c.bits != 0

    def __repr__(self) -> str:
        more = ''.join(', {}={!r}'.format(name, getattr(self, name)) for name, usual in
                       (('saturate', 'default'), ('nan', 'max'), ('tiny', 'after')) if getattr(self, name) != usual)
        return 'Mode({!r}{})'.format(self.round, more)

    def __reduce__(self):
        return _again, (self.round, self.saturate, self.nan, self.tiny)


ModeLike = Union[Mode, str]


def _again(round_: str, saturate: str, nan: str, tiny: str) -> Mode:
    return Mode(round_, saturate=saturate, nan=nan, tiny=tiny)


# What the arguments of a mode may be.
_WORDS = {'round': s.ROUNDINGS[:-3] + tuple(name + ':N' for name in s.ROUNDINGS[-3:]), 'saturate': s.SATURATIONS,
          'nan': s.NAN_POLICIES}


def _with_words(error: abi.HalfulpError, argument: str, text: str) -> abi.HalfulpError:
    meant = round_hint(text) if argument == 'round' else None
    made = type(error)('{}; {}'.format(error, meant or 'there are ' + ', '.join(_WORDS[argument])))
    made.status = error.status
    return made


def round_hint(text: str) -> Optional[str]:
    """Which roundings stand for a word of another program ("stochastic", "nearest"); None for other words."""
    meant: Optional[bytes] = abi.main().hu_mode_round_hint(text.encode()) if abi.is_text(text) else None
    return None if meant is None else meant.decode()


# Words of a rounding's text (halfulp/train/rounding.h) that say more than a mode.
_MORE = ('over=inf', 'nan=keep', 'turned')


@abi.text_cache(1024)
def _split(text: str) -> Tuple[str, Optional[Tuple[str, str]]]:
    head, round_, saturate = text, None, None
    while True:
        front, comma, word = head.rpartition(',')
        if word in _MORE:
            return text, None
        if not comma or word.count('(') != word.count(')'):
            break
        policy = word.startswith('sat=')
        call = abi.main().hu_mode_saturate_parse if policy else abi.main().hu_mode_round_parse
        if not abi.is_text(word) or call(ctypes.byref(s.hu_mode()), word[4 * policy:].encode()) != s.OK:
            break
        if (saturate if policy else round_) is not None:
            raise abi.HalfulpValueError('rounding: {!r} says {} twice'.format(
                text, 'what becomes of numbers beyond the range' if policy else 'how it rounds'))
        round_, saturate = (round_, word[4:]) if policy else (word, saturate)
        head = front
    return head, None if head == text else (round_ or 'rne', saturate or 'default')


def split(argument: str, target: Any, mode: Optional[ModeLike]) -> Tuple[Any, Optional[ModeLike]]:
    """What x is rounded into and how, of a text that says both, "float8_e4m3fn,sra:8"; other targets as they are."""
    head, words = _split(target) if isinstance(target, str) else (target, None)
    if words is None:
        return target, mode
    if mode is not None:
        raise abi.HalfulpValueError('mode: {} {!r} says itself how it rounds'.format(argument, target))
    return head, Mode(words[0], saturate=words[1])


@abi.text_cache(1024)
def _mode(round_: str, saturate: str, nan: str, tiny: str) -> s.hu_mode:
    library, record = abi.main(), s.hu_mode()
    for argument, text, call in (('round', round_, library.hu_mode_round_parse),
                                 ('saturate', saturate, library.hu_mode_saturate_parse),
                                 ('nan', nan, library.hu_mode_nan_parse)):
        try:
            abi.parse(argument, text, lambda z, raw, where, call=call: call(z, raw), record)
        except abi.HalfulpValueError as error:
            raise _with_words(error, argument, text) from None
    record.tiny = abi.word('tiny', tiny, s.TININESS)
    return record


def mode_of(mode: ModeLike, saturate: Optional[str] = None, nan: Optional[str] = None,
            tiny: Optional[str] = None) -> Mode:
    """A Mode from a Mode or a rounding's text, with parts replaced that are not None."""
    base = mode if isinstance(mode, Mode) else None
    if base is not None and saturate is None and nan is None and tiny is None:
        return base
    return Mode(mode.round if isinstance(mode, Mode) else mode,
                saturate=_or(saturate, base, 'saturate', 'default'), nan=_or(nan, base, 'nan', 'max'),
                tiny=_or(tiny, base, 'tiny', 'after'))


def _or(given: Any, base: Optional[Mode], name: str, usual: str) -> Any:
    return given if given is not None else getattr(base, name) if base is not None else usual


class Stream(NamedTuple):
    """Random words: word i is a pure function of (key, counter + i), Philox4x32-10 (docs/numerics.md section 6).

    A call draws word i for element i in C order, whatever the memory layout, and does not move the stream: the next
    call with the same stream draws the same words. `after(n)` is the stream behind n words.

    Calls also take a key, (key, counter), or a Generator of NumPy or of torch (of the CPU): the generator then gives two
    integers of 63 bits at each call that draws words, a key and a counter; another call leaves it as it is.
    """

    key: int
    counter: int = 0

    def after(self, n: int) -> 'Stream':
        """The stream that begins n words later; counters count modulo 2^64."""
        return Stream(self.key, (self.counter + abi.whole('n', n, -(1 << 64), 1 << 64)) % (1 << 64))

    def words(self, n: int) -> np.ndarray:
        """The next n words: uint32 of shape (n,)."""
        made = np.empty(abi.whole('n', n, 0, 1 << 48), np.uint32)
        abi.main().hu_stream_words_n(made.size, made.ctypes.data, self._record())
        return made

    def _record(self) -> s.hu_stream:
        key, counter = (abi.whole('stream', part, 0, _LAST) for part in self)
        return s.hu_stream(key, counter)


_LAST = (1 << 64) - 1
StreamLike = Union[Stream, Tuple[int, int], int, np.random.Generator, 'torch.Generator']


def _is_torch(stream: Any) -> bool:
    return type(stream).__name__ == 'Generator' and type(stream).__module__.partition('.')[0] == 'torch'


class Once:
    """A generator that several calls of one function share: they draw the same words."""

    def __init__(self, generator: Any) -> None:
        self.generator, self.made = generator, None

    def taken(self) -> Stream:
        if self.made is None:
            self.made: Optional[Stream] = stream_of(self.generator)
        assert self.made is not None
        return self.made


def shared(stream: Any) -> Any:
    """A stream for several calls of one function."""
    alone = isinstance(stream, (np.random.Generator, Once)) or _is_torch(stream)
    return stream if isinstance(stream, Once) else Once(stream) if alone else stream_of(stream)


def stream_of(stream: Any, drawn: bool = True) -> Stream:
    """A Stream from one, from a key and a counter, from a key, or the next one of a generator, which does not move where
    nothing is drawn."""
    if isinstance(stream, Stream):
        return stream
    if isinstance(stream, (np.random.Generator, Once)) or _is_torch(stream):
        return _next(stream) if drawn else Stream(0, 0)
    if isinstance(stream, (tuple, list)):
        key, counter = abi.pair('stream', stream, 'a key, or (key, counter),')
        return Stream(abi.whole('stream', key, 0, _LAST), abi.whole('stream', counter, 0, _LAST))
    return Stream(abi.whole('stream', stream, 0, _LAST))


def _next(generator: Any) -> Stream:
    if isinstance(generator, Once):
        return generator.taken()
    if isinstance(generator, np.random.Generator):
        return Stream(*(int(n) for n in generator.integers(0, 1 << 63, 2)))
    torch = sys.modules['torch']
    return Stream(*torch.randint(0, (1 << 63) - 1, (2,), dtype=torch.int64, generator=generator).tolist())
