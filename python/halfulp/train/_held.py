# SPDX-License-Identifier: MIT
"""C objects that Python owns. Each is freed once, and one thread uses it at a time."""
from __future__ import annotations

import ctypes
import threading
import weakref
from typing import Any, Callable, Optional

import numpy as np

from .. import _abi as abi


class _Memory:
    """Frees the object when nothing refers to it any more: neither its owner nor a view of its numbers."""

    __slots__ = ('address', '__weakref__')

    def __init__(self, address: int, free: Callable[[int], None]) -> None:
        self.address = address
        # At the end of the program the system takes the memory back; views may be used until then.
        weakref.finalize(self, free, address).atexit = False


class Held:
    """A C object at an address. ``with held as address:`` is one use of it.

    HalfulpError where another thread is using it, HalfulpValueError after `close`; then nothing has been called.
    """

    def __init__(self, what: str, address: Optional[int], free: Callable[[int], None]) -> None:
        if not address:
            raise abi.HalfulpMemoryError('{}: no memory'.format(what))
        self._what, self._lock = what, threading.RLock()
        self._memory: Optional[_Memory] = _Memory(address, free)

    def __enter__(self) -> int:
        if not self._lock.acquire(blocking=False):
            raise abi.HalfulpError('the {} is in use by another thread'.format(self._what))
        if self._memory is None:
            self._lock.release()
            raise abi.HalfulpValueError('the {} is closed'.format(self._what))
        return self._memory.address

    def __exit__(self, *_: Any) -> None:
        self._lock.release()

    @property
    def closed(self) -> bool:
        """Whether the object was given up."""
        return self._memory is None

    def close(self) -> None:
        """Gives the object up; a second call does nothing."""
        if self._memory is not None:
            with self:
                self._memory = None

    def matrix(self, address: int, rows: int, cols: int, copy: bool) -> np.ndarray:
        """float32 numbers of the object as (rows, cols): a copy, or a read-only view that keeps the object's memory."""
        buffer = (ctypes.c_float * (rows * cols)).from_address(address)
        buffer.memory = self._memory  # type: ignore[attr-defined]  # as long as NumPy has a view of the buffer
        numbers = memoryview(buffer).cast('B').toreadonly()
        made = np.frombuffer(numbers, np.float32).reshape(rows, cols)
        return made.copy() if copy else made
