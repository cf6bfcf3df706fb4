# SPDX-License-Identifier: MIT
"""Processes of PyTorch whose gradients are joined by a collective model (halfulp/collective.h), bit for bit.

    import halfulp.torch.distributed as hd
    ddp.register_comm_hook(None, hd.hook('ring(bfloat16)'))      # each process is a participant
    for shard in hd.Shards(model, 8): ...                        # each shard is: the same weights for any number

`hook` is for DistributedDataParallel and gives what a cluster with that all-reduce would give. `Shards` cuts a batch
into a fixed number of shards, so that the weights do not depend on the number of processes. Both compute on the host,
on all processes together, over gloo or MPI; gradients on a CUDA device are copied there and back. docs/cluster.md has
examples. Import this module before torch.distributed.init_process_group: destroy_process_group then ends gloo's threads.
"""
import hashlib
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn

from .. import _abi as abi
from ..collective import CollectiveLike
from . import _join, _records, ops
from ._calls import Words
from ._stateful import Stateful
from ._streams import StreamLike

try:
    # Its functions take torch's default group as a default argument. torch.optim imports it, too, and where that comes
    # after init_process_group, destroy_process_group does not end the threads of gloo: they run until Python ends,
    # and one of them that gives a tensor back then aborts the process.
    import torch.distributed.nn.functional  # noqa: F401
    from torch.distributed import GradBucket
except ImportError:
    raise ImportError('halfulp.torch.distributed: this PyTorch was built without torch.distributed') from None

__all__ = ['Shards', 'hook']
_OF_SHARD = 1 << 32  # the first child of a module's stream that is a shard's


def hook(reduce: CollectiveLike = 'exact', *, divide: Optional[float] = None, stream: Optional[StreamLike] = None,
         group: Optional[Any] = None) -> Callable[[object, GradBucket], torch.futures.Future]:
    """A communication hook: ddp.register_comm_hook(None, hook('ring(bfloat16)')).

    The gradient becomes the sum that the model makes of the processes' gradients, process r as participant r, rounded
    into the gradients' type, to nearest even; then it is divided by `divide` and rounded once more. The buffer of the
    model is a bucket of DistributedDataParallel. (Where its chunks and blocks begin therefore depends on bucket_cap_mb,
    and after the first step on the order in which gradients became ready.) Under `exact` the order of processes does
    not matter, but their number does: every process has added up its own samples (and, under no_sync(), those of
    several backward passes). With `Shards` it does not.

    Parameters
    ----------
    reduce : Collective or str
        The model: "exact", "ring(bfloat16)", "tree(binary32,wire=mxfp8_e4m3)", ...
    divide : number, optional
        By default the number of processes, so that the gradient is a mean, as without a hook. 1: the sum.
    stream : (key, counter) or key
        Random words, which stochastic models require. In its step t bucket b draws from child b of the stream, at
        counter + t 2^36. A run that is resumed after t steps continues with the stream (key, counter + (t << 36)).
    group : ProcessGroup, optional
        The processes, where they are not those of the default group: those of DistributedDataParallel's own
        process_group. One of gloo where the default is NCCL.

    A run that is resumed need not have the bits of one that was not interrupted. A new DistributedDataParallel makes
    its buckets from the order of parameters, and after its first step again from the order in which gradients became
    ready, so that its first step has other buckets than the same step of the other run. `Shards` has no buckets.

    Gradients are float32, bfloat16 or float16. A hook is for one model. When it is called first, the processes compare
    its settings and the weights of the first bucket; HalfulpValueError on all of them names one that differs. Nothing
    is sent while gradients are computed: a bucket is joined before the next one is. A process sends and receives about
    twice the bytes of a bucket.
    """
    join = _join.Join(reduce, divide, stream, group)
    calls: Dict[int, int] = {}

    def joined(state: object, bucket: GradBucket) -> torch.futures.Future[torch.Tensor]:
        buffer, index = bucket.buffer(), bucket.index()
        _join.format_of('hook', buffer.dtype)
        join.enter()
        join.agree('hook', lambda: {'bucket': (index, buffer.numel(), str(buffer.dtype)),
                                    'weights': _digest(('', p) for p in bucket.parameters())})
        step = calls[index] = calls.get(index, -1) + 1
        made = join.sums(buffer.detach().cpu().reshape(1, -1), join.model, join.divide or join.world,
                         join.words_of(index, step))
        buffer.copy_(made)
        future = torch.futures.Future(devices=[buffer.device] if buffer.is_cuda else None)
        future.set_result(buffer)
        return future

    joined.__name__ = joined.__qualname__ = 'halfulp_hook'  # in the logs of torch
    return joined


class _Rows:
    """Tensors of one type behind one another, a row of numbers for each shard of this process."""

    def __init__(self, like: Sequence[Tensor], own: int) -> None:
        self.shapes = [x.shape for x in like]
        self.sizes = [x.numel() for x in like]
        self.rows = torch.zeros((own, sum(self.sizes)), dtype=like[0].dtype, device='cpu')

    def put(self, row: int, tensors: Sequence[Optional[Tensor]]) -> None:
        """None: zeros."""
        for place, x in zip(self.rows[row].split(self.sizes), tensors):
            place.zero_() if x is None else place.copy_(x.detach().reshape(-1))

    def parts(self, z: Tensor) -> List[Tensor]:
        """A row of results as tensors."""
        return [part.view(shape) for part, shape in zip(z.split(self.sizes), self.shapes)]


def _by_type(tensors: Sequence[Tensor]) -> Dict[torch.dtype, List[int]]:
    """The numbers of the tensors of each type."""
    found: Dict[torch.dtype, List[int]] = {}
    for i, x in enumerate(tensors):
        found.setdefault(x.dtype, []).append(i)
    return found


class _Before:
    """Buffers and streams of a model before a loop over shards. Every shard begins with them, and so does the next loop
    where this one is left."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._places = self._found()
        self.buffers = [m._buffers[name] for _, m, name in self._places]
        self.values = self.now()
        self._drawing = _drawing(model)
        self.streams = [ops.words(m.stream, -1) for m in self._drawing]

    def _found(self) -> List[Tuple[str, nn.Module, str]]:
        """Where buffers are, all but the streams and counts of halfulp's own modules."""
        return [('{}.{}'.format(prefix, name).lstrip('.'), m, name) for prefix, m in self._model.named_modules()
                if not isinstance(m, Stateful) for name, b in m._buffers.items() if b is not None]

    def now(self) -> List[Tensor]:
        """Copies of what buffers hold. Where forward() has assigned one, it is another tensor than before the loop."""
        found = self._found()
        if found != self._places:
            names, others = {place[0] for place in self._places}, {place[0] for place in found}
            raise abi.HalfulpValueError('Shards: buffers came or went in the loop over shards: {}'.format(
                ', '.join(sorted(names ^ others)) or 'a module was exchanged'))
        made = [m._buffers[name].detach().clone() for _, m, name in found]
        for (full, _, _), old, new in zip(found, self.buffers, made):
            if (old.shape, old.dtype, old.device) != (new.shape, new.dtype, new.device):
                raise abi.HalfulpValueError('Shards: the buffer {} was {} of {} before the loop and is {} of {}'.format(
                    full, tuple(old.shape), old.dtype, tuple(new.shape), new.dtype))
        return made

    def put(self, values: Sequence[Tensor]) -> None:
        """The buffers, the tensors that they were, with these values."""
        with torch.no_grad():
            for (_, m, name), b, value in zip(self._places, self.buffers, values):
                if m._buffers.get(name) is not b:
                    m._buffers[name] = b
                b.copy_(value)

    def begin(self, shard: int) -> None:
        self.put(self.values)
        for m, words in zip(self._drawing, self.streams):
            m.seed(_records.child(words.key, _OF_SHARD + shard), words.counter)

    def moved(self) -> List[int]:
        """How far a shard has moved the counters of the streams."""
        return [(ops.words(m.stream, -1).counter - words.counter) % (1 << 64)
                for m, words in zip(self._drawing, self.streams)]

    def move(self, by: Sequence[int]) -> None:
        """The streams, so much further than before the loop."""
        for m, words, moved in zip(self._drawing, self.streams, by):
            m.seed(words.key, words.after(moved).counter)

    def put_back(self) -> None:
        self.put(self.values)
        self.move([0] * len(self.streams))


class Shards:
    """The shards of a batch, of which each process computes some; equal weights for any number of processes.

        shards = Shards(model, 8)
        for x, labels in batches:
            for shard in shards:                       # 0 to 7 in one process; 0 to 3 and 4 to 7 in two
                loss_of(model(x[shard::8]), labels[shard::8]).backward()
            optimizer.step()                           # the same step on every process

    At the end of the inner loop every parameter's gradient is the sum that a collective model makes of the shards'
    gradients, shard s as participant s, rounded into the gradients' type, to nearest even; then it is divided by
    `divide` and rounded once more. Nothing of this depends on which process computed a shard. Which samples are in a
    shard is up to the program, and the gradient of a shard must not depend on the number of processes, either: the
    same number of threads, the same version of torch and the same kind of CPU give torch's own sums the same bits;
    layers of halfulp.torch have them everywhere.

    Parameters
    ----------
    model : torch.nn.Module
        The network itself, not wrapped in DistributedDataParallel, with equal weights on all processes.
    shards : int
        Their number, a multiple of the number of processes.
    reduce : Collective or str
        The model of the join: "exact", "ring(bfloat16)", ...
    divide : number, optional
        By default the number of shards, so that a gradient is the mean over shards. For losses that are sums over
        samples: the number of samples in the batch.
    stream : (key, counter) or key
        Random words, which stochastic models require. In step t the gradients of type number d draw from child d of
        the stream, at counter + t 2^36. A run that is resumed after t steps continues with the stream
        (key, counter + (t << 36)).
    group : ProcessGroup, optional
        The processes, where they are not those of the default group. One of gloo where the default is NCCL. Without
        torch.distributed.init_process_group there is one process, which has all shards.

    Gradients, float32, bfloat16 or float16, of one type are one buffer, in the order of model.parameters(). What a
    gradient held before the loop is dropped; a parameter that has none in some shard counts as zeros there, and has
    none afterwards where no shard has any.

    Other state of the model is made independent of the processes, too. Modules of halfulp.torch with a stream of their
    own draw in shard s from child 2^32 + s of it, and their counters move on by the most that a shard took. Buffers, as
    of batch normalisation, are what they were before the loop when a shard begins; where shards changed them, numbers
    of the three types become the exact sum over shards, rounded, over their number, and others those of a process's
    last shard. Random numbers of torch, as for dropout, belong to the program: torch.manual_seed in the loop, with a
    number made from the step and the shard.

    A loop that is left early, by break or an exception, leaves no gradients, and buffers and streams as they were
    before it, so that it does not count as a step. The trainable parameters and their types, and the number of
    processes, are those when Shards was made; a loop that finds others raises a HalfulpValueError. After unfreezing
    layers, make another Shards, and continue its stream as a resumed run does.

    A process keeps the gradients of all its shards on the host, and sends and receives about as much. Where, in the
    first loop, the settings, weights or streams of processes differ, all raise a HalfulpValueError that names one.
    """

    def __init__(self, model: nn.Module, shards: int, reduce: CollectiveLike = 'exact', *,
                 divide: Optional[float] = None, stream: Optional[StreamLike] = None,
                 group: Optional[Any] = None) -> None:
        if isinstance(model, nn.parallel.DistributedDataParallel):
            raise abi.HalfulpTypeError('model: DistributedDataParallel joins gradients itself; give the module in it')
        if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= 1 << 24:
            raise abi.HalfulpValueError('shards: {!r} is not an integer from 1 to 2^24'.format(shards))
        self.model, self.shards = model, shards
        self._join = _join.Join(reduce, shards if divide is None else divide, stream, group)
        self._join.enter()
        if shards % self._join.world:
            raise abi.HalfulpValueError('shards: {} is not a multiple of the number of processes, {}'.format(
                shards, self._join.world))
        self._own = shards // self._join.world
        self._process, self._step = (self._join.rank, self._join.world), 0
        self._loop: Optional[_Before] = None  # the one that has begun and not ended
        self._named = self._trainable()
        self._looked = _looks(self._named)
        for name, p in self._named:
            _join.format_of('model, {}'.format(name), p.dtype)
        self._parameters = [p for _, p in self._named]
        self._types = _by_type(self._parameters)
        self._rows = {kind: _Rows([self._parameters[i] for i in which], self._own)
                      for kind, which in self._types.items()}

    @property
    def own(self) -> range:
        """The shards of this process."""
        return range(self._join.rank * self._own, (self._join.rank + 1) * self._own)

    def __iter__(self) -> Iterator[int]:
        """One step: the numbers of this process's shards, and behind the last one the join."""
        self._leave()  # a loop that was left, whose iterator someone holds
        self._same_as_made()
        self._join.agree('Shards', lambda: {'shards': self.shards, 'weights': self._weights()})
        before = self._loop = _Before(self.model)
        try:
            yield from self._pass(before)
        finally:  # unless it was completed: a step must not take what some shards left
            if self._loop is before:
                self._leave()

    def _pass(self, before: _Before) -> Iterator[int]:
        """The loop; the last that it does is to forget that it has begun."""
        seen = torch.zeros(len(self._parameters) + len(before.buffers) + len(before.streams), dtype=torch.int64,
                           device='cpu')
        after: List[List[Tensor]] = []
        for row, shard in enumerate(self.own):
            self._clear()
            before.begin(shard)
            weights = [p._version for p in self._parameters]
            yield shard
            if self._loop is not before:
                raise abi.HalfulpValueError('Shards: another loop over the same shards began within this one')
            if weights != [p._version for p in self._parameters]:
                raise abi.HalfulpValueError('Shards: a weight was changed in the loop over shards; step behind it')
            after.append(before.now())
            self._take(row, shard, seen, before, after[-1])
        self._join.largest(seen)
        grads, changed, calls = seen.split([len(self._parameters), len(before.buffers), len(before.streams)])
        self._join_gradients(grads)
        before.put(after[-1])
        self._join_buffers([i for i, one in enumerate(changed.tolist()) if one], before.buffers, after)
        before.move(calls.tolist())
        self._step += 1
        self._loop = None

    def _leave(self) -> None:
        """Everything as before the loop that has begun, without gradients."""
        if self._loop is not None:
            left, self._loop = self._loop, None
            self._clear()
            left.put_back()

    def _clear(self) -> None:
        for p in self._parameters:
            p.grad = None

    def _trainable(self) -> List[Tuple[str, Tensor]]:
        return [(name, p) for name, p in self.model.named_parameters() if p.requires_grad]

    def _same_as_made(self) -> None:
        self._join.enter()
        if (self._join.rank, self._join.world) != self._process:
            raise abi.HalfulpValueError('Shards: made as process {} of {}, and now this is process {} of {}; make it '
                                        'behind init_process_group'.format(*self._process, self._join.rank,
                                                                           self._join.world))
        looks = _looks(self._trainable())
        if looks != self._looked:
            name = next(name for name in {**self._looked, **looks} if self._looked.get(name) != looks.get(name))
            raise abi.HalfulpValueError('Shards: the trainable parameters are not those that it was made with, see {}; '
                                        'make another one'.format(name))

    def _take(self, row: int, shard: int, seen: Tensor, before: _Before, buffers: Sequence[Tensor]) -> None:
        """A shard's gradients into its row; in `seen` what there was."""
        grads = [p.grad for p in self._parameters]
        for (name, p), g in zip(self._named, grads):
            if g is not None and (g.layout != torch.strided or g.dtype != p.dtype):
                raise abi.HalfulpTypeError('Shards: the gradient of {} is {} of {}, not a dense one of {}'.format(
                    name, g.layout, g.dtype, p.dtype))
        if all(g is None for g in grads):
            raise abi.HalfulpValueError('Shards: no parameter has a gradient after shard {}; its loss.backward() '
                                        'belongs into the loop'.format(shard))
        for kind, which in self._types.items():
            self._rows[kind].put(row, [grads[i] for i in which])
        found = [int(g is not None) for g in grads]
        found += [int(not _equal(old, new)) for old, new in zip(before.values, buffers)]
        found += before.moved()
        torch.maximum(seen, torch.tensor(found, dtype=torch.int64, device='cpu'), out=seen)

    def _join_gradients(self, grads: Tensor) -> None:
        for index, (kind, which) in enumerate(self._types.items()):
            rows, divide = self._rows[kind], self._join.divide
            assert divide is not None
            z = self._join.sums(rows.rows, self._join.model, divide, self._join.words_of(index, self._step))
            for i, part in zip(which, rows.parts(z)):
                p = self._parameters[i]
                p.grad = torch.empty_like(p).copy_(part) if grads[i] else None

    def _join_buffers(self, changed: List[int], buffers: List[Tensor], after: List[List[Tensor]]) -> None:
        """The means of what the shards made of buffers."""
        numbers = [i for i in changed if buffers[i].dtype in _join.FORMATS]
        for which in _by_type([buffers[i] for i in numbers]).values():
            chosen = [numbers[i] for i in which]
            rows = _Rows([buffers[i] for i in chosen], self._own)
            for row, values in enumerate(after):
                rows.put(row, [values[i] for i in chosen])
            z = self._join.sums(rows.rows, _join.EXACT, self.shards, Words(0, 0))
            with torch.no_grad():
                for i, part in zip(chosen, rows.parts(z)):
                    buffers[i].copy_(part)

    def _weights(self) -> str:
        """A digest of parameters and streams."""
        return _digest(self._named + [('stream', m.stream) for m in _drawing(self.model)])


def _drawing(model: nn.Module) -> List[Stateful]:
    """The modules that draw from a stream of their own."""
    return [m for m in model.modules() if isinstance(m, Stateful) and m.stochastic and not m.from_torch]


def _looks(named: Iterable[Tuple[str, Tensor]]) -> Dict[str, Tuple[Any, ...]]:
    """What rows were made for; the types and shapes of a parameter can change while it remains the same object."""
    return {name: (id(p), p.dtype, p.shape) for name, p in named}


def _digest(named: Iterable[Tuple[str, Tensor]]) -> str:
    """Of names, types and bits of tensors."""
    made = hashlib.sha256()
    for name, x in named:
        made.update('{} {} {}\n'.format(name, tuple(x.shape), x.dtype).encode())
        made.update(x.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return made.hexdigest()


def _equal(a: Tensor, b: Tensor) -> bool:
    """In bits, so that a NaN is no change."""
    if a.numel() == 0:
        return True
    return torch.equal(a.contiguous().reshape(-1).view(torch.uint8), b.contiguous().reshape(-1).view(torch.uint8))
