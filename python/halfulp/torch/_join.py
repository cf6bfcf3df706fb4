# SPDX-License-Identifier: MIT
"""A join of what several processes hold, each of them some participants of a collective model (halfulp/collective.h).

The buffer is taken in windows, and a window is cut into as many parts as there are processes, at multiples of
HU_COLLECTIVE_PIECE. A process gets its part of all participants, reduces it by hu_collective_reduce_part, and sends the
result to all. So it sends and receives what a ring would, and needs little memory beside its own participants. The
bits are those of hu_collective_reduce on one machine.
"""
import ctypes
import math
from typing import Any, Callable, Dict, List, Optional, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from .. import __version__
from .. import _abi as abi
from .. import _structs as structs
from .._pointer import How, codes_type
from ..collective import Collective, CollectiveLike
from . import _calls, _records, ops
from ._calls import STEP, Words
from ._streams import StreamLike, taken

FORMATS = {torch.float32: 'binary32', torch.bfloat16: 'bfloat16', torch.float16: 'binary16'}
EXACT = Collective('exact')
_PIECE = 512  # HU_COLLECTIVE_PIECE
_AT_ONCE = 1 << 24  # numbers that a process holds of others in a window, about


def format_of(what: str, dtype: torch.dtype) -> structs.hu_format:
    """The format of a gradient's type; TypeError for other types."""
    if dtype not in FORMATS:
        raise abi.HalfulpTypeError('{}: gradients of {} are not joined, only those of {}'.format(
            what, dtype, ', '.join(str(kind).replace('torch.', '') for kind in FORMATS)))
    return _records.format_of(FORMATS[dtype])


def _divisor(divide: Any) -> float:
    value = float(divide)
    if not (value > 0 and math.isfinite(value) and ctypes.c_float(value).value == value):
        raise abi.HalfulpValueError('divide: {!r} is not a positive number of binary32'.format(divide))
    return value


def _words(model: Collective, stream: Optional[StreamLike]) -> Words:
    """Every process must draw the same words, so that none come from torch's generator, which each has of its own."""
    if isinstance(stream, (str, torch.Generator)):
        raise abi.HalfulpValueError('stream: the processes must agree on it; give stream=(key, counter)')
    if stream is None and model.stochastic:
        raise abi.HalfulpValueError('stream: {} draws random words; give stream=(key, counter)'.format(model.text))
    return ops.words(taken(stream, True), -1)


class Join:
    """A model, a divisor and a stream, which must be the same on all processes of a group."""

    def __init__(self, reduce: CollectiveLike, divide: Any, stream: Optional[StreamLike],
                 group: Optional[Any]) -> None:
        self.model = Collective(reduce)
        self.divide = None if divide is None else _divisor(divide)
        self.words, self.group, self.agreed = _words(self.model, stream), group, False
        self.rank, self.world = 0, 1

    def enter(self) -> None:
        """Which process of how many this is; alone where no group was made."""
        if not (dist.is_available() and dist.is_initialized()):
            self.rank, self.world = 0, 1
            return
        self.rank, self.world = dist.get_rank(self.group), dist.get_world_size(self.group)
        if self.rank < 0:
            raise abi.HalfulpValueError('group: this process does not belong to it')
        if dist.get_backend(self.group) == 'nccl':
            raise abi.HalfulpValueError("group: nccl moves no tensors of the host, where gradients are joined; give "
                                        "group=torch.distributed.new_group(backend='gloo')")

    def agree(self, who: str, settings: Callable[[], Dict[str, Any]]) -> None:
        """ValueError, on all processes, where one has other settings than process 0; asked for and compared once."""
        if self.agreed:
            return
        own = dict(settings(), reduce=self.model.text, divide=self.divide,
                   stream=(self.words.key, self.words.counter), version=__version__)
        every: List[Any] = [own] * self.world
        if self.world > 1:
            dist.all_gather_object(every, own, group=self.group)
        for rank, other in enumerate(every):
            for name in own:
                if other.get(name) != every[0].get(name):
                    raise abi.HalfulpValueError(
                        '{}: process {} differs from process 0 in {}: {!r} instead of {!r}'.format(
                            who, rank, name, other.get(name), every[0].get(name)))
        self.agreed = True

    def exchange(self, parts: Sequence[Tensor], counts: Sequence[int]) -> Tensor:
        """Part r goes to process r; from process r come counts[r] numbers. What comes, in the order of processes."""
        if self.world == 1:
            return parts[0].reshape(-1)
        sent = torch.cat([part.reshape(-1) for part in parts])
        size, got = sent.element_size(), sent.new_empty(sum(counts))
        dist.all_to_all_single(got.view(torch.uint8), sent.view(torch.uint8), [size * n for n in counts],
                               [size * part.numel() for part in parts], group=self.group)
        return got

    def largest(self, x: Tensor) -> None:
        """Element by element the largest that a process has, in place."""
        if self.world > 1:
            dist.all_reduce(x, op=dist.ReduceOp.MAX, group=self.group)

    def sums(self, rows: Tensor, model: Collective, divide: float, words: Words) -> Tensor:
        """What the model makes of the rows of all processes, those of process 0 first, divided with one rounding. Every
        process has as many rows."""
        own, n = rows.shape
        window = self.world * _PIECE * max(1, _AT_ONCE // (own * self.world * _PIECE))
        z = rows.new_empty(n)
        for first in range(0, n, window):
            z[first:first + window] = self._window(rows[:, first:first + window], n, first, model, divide, words)
        return z

    def _window(self, rows: Tensor, n: int, first: int, model: Collective, divide: float, words: Words) -> Tensor:
        """The same for elements from `first` on of a buffer of n."""
        own, length = rows.shape
        pieces = -(-length // _PIECE)
        edges = [min(length, _PIECE * (pieces * r // self.world)) for r in range(self.world + 1)]
        counts = [high - low for low, high in zip(edges, edges[1:])]
        count = counts[self.rank]
        held = self.exchange([rows[:, low:high] for low, high in zip(edges, edges[1:])], [own * count] * self.world)
        z = rows.new_empty(count)
        if count:
            self._reduce(z, n, first + edges[self.rank], held.view(own * self.world, count), model, words)
            _divided(z, divide)
        return self.exchange([z] * self.world, counts)

    def _reduce(self, z: Tensor, n: int, first: int, held: Tensor, model: Collective, words: Words) -> None:
        ranks, count = held.shape
        places = (ctypes.c_void_p * ranks)(*(row.data_ptr() for row in held))
        e = structs.hu_exec(_calls.threads(ranks * count), 0, structs.hu_stream(words.key, words.counter))
        how = structs.hu_how(structs.hu_mode(), ctypes.pointer(e))
        abi.check(abi.main().hu_collective_reduce_part(
            ranks, n, first, count, z.data_ptr(), format_of('gradients', z.dtype), ctypes.addressof(places),
            abi.address(model._c), _calls.ref(how)), 'reduce')

    def words_of(self, index: int, step: int) -> Words:
        """Those of buffer `index` in a step: child `index` of the stream, 2^36 words behind the step before."""
        return Words(_records.child(self.words.key, index), self.words.counter).after(step * STEP)


def _divided(z: Tensor, divide: float) -> None:
    if divide == 1:
        return
    by = ctypes.c_float(divide)
    codes = (z.data_ptr(), 1, structs.hu_type(structs.TYPE_CODES, 0, format_of('gradients', z.dtype)))
    divisor = (ctypes.addressof(by), 0, codes_type('binary32'))
    How(threads=_calls.threads(z.numel())).apply('div', z.numel(), codes, [codes, divisor], 'divide')
