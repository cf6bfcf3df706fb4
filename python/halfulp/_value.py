# SPDX-License-Identifier: MIT
"""Objects that a plain C record describes and a text names."""
from __future__ import annotations

from typing import Any


class Value:
    """An unchangeable object around the record `_c`: equal where the records are, printed and stored by its text."""

    __slots__ = ('_c',)
    _c: Any

    @property
    def text(self) -> str:
        """The text that names it."""
        raise NotImplementedError

    @classmethod
    def _from_c(cls, record: Any) -> Any:
        made = cls.__new__(cls)
        made._c = record.copy()
        return made

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._c == other._c

    def __hash__(self) -> int:
        return hash(bytes(self._c))

    def __repr__(self) -> str:
        return '{}({!r})'.format(type(self).__name__, self.text)

    def __reduce__(self):
        return type(self), (self.text,)
