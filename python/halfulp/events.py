# SPDX-License-Identifier: MIT
"""Counts of what roundings did (halfulp/mode.h; docs/numerics.md section 5)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Iterator, Tuple

from . import _abi as abi
from . import _structs as s

NAMES = tuple(field[0] for field in s.hu_events._fields_)


def add(counts: s.hu_events, more: s.hu_events) -> None:
    """Adds counts to counts, modulo 2^64."""
    for name, _ in s.hu_events._fields_:
        setattr(counts, name, getattr(counts, name) + getattr(more, name))


class Events:
    """How many elements had an event. A call that is given ``events=`` ADDS to the counts.

    Attributes
    ----------
    overflow, saturated, underflow, to_zero, subnormal, inexact, invalid, nan_in, inf_in, divide_by_zero : int
        IEEE 754's flags are "count > 0".

    Counts can be compared and added, ``dict(events)`` lists them. One object may not be given to calls that run in
    several threads at once.

    >>> Events(inexact=3) + Events(inexact=1, overflow=2)
    Events(overflow=2, inexact=4)
    """

    __slots__ = ('_c',)
    if TYPE_CHECKING:  # properties, made below for all of NAMES
        overflow: int
        saturated: int
        underflow: int
        to_zero: int
        subnormal: int
        inexact: int
        invalid: int
        nan_in: int
        inf_in: int
        divide_by_zero: int

    def __init__(self, **counts: int) -> None:
        self._c = s.hu_events()
        for name, count in counts.items():
            if name not in NAMES:
                raise abi.HalfulpTypeError('Events: there is no event {!r}; there are {}'.format(name,
                    ', '.join(NAMES)))
            setattr(self._c, name, abi.whole('Events: ' + name, count, 0, (1 << 64) - 1))

    def __iter__(self) -> Iterator[Tuple[str, int]]:
        return ((name, getattr(self._c, name)) for name in NAMES)

    def as_dict(self) -> Dict[str, int]:
        return dict(self)

    def any(self) -> bool:
        """Whether anything was counted."""
        return any(count for _, count in self)

    def clear(self) -> None:
        """All counts to 0."""
        self._c = s.hu_events()

    def __add__(self, other: 'Events') -> 'Events':
        if not isinstance(other, Events):
            return NotImplemented
        made = Events(**dict(self))
        made += other
        return made

    def __iadd__(self, other: 'Events') -> 'Events':
        if not isinstance(other, Events):
            return NotImplemented
        add(self._c, other._c)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Events) and self._c == other._c

    __hash__ = None  # type: ignore[assignment]  # counts change

    def __repr__(self) -> str:
        return 'Events({})'.format(', '.join('{}={}'.format(name, count) for name, count in self if count))

    def __reduce__(self):
        return _again, (dict(self),)


def _again(counts: Dict[str, int]) -> Events:
    return Events(**counts)


def _count_property(name: str) -> property:
    return property(lambda self: getattr(self._c, name), lambda self, count: setattr(self._c, name, count),
                    doc='How many elements had the event {}.'.format(name))


for _name in NAMES:
    setattr(Events, _name, _count_property(_name))
