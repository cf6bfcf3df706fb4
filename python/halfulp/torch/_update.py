# SPDX-License-Identifier: MIT
"""The step of an optimizer on tensors of a device, made of calls that the device has.

libhalfulp-train steps on memory of the CPU alone. Its formulas (halfulp/train/optimizer.h; Zamirai et al., Revisiting
BFloat16 Training) are sequences of operators on arrays. `step` computes the same sequence as train/engine/optimizer.c:
each operator is a call of libhalfulp-cuda in binary32, and each rounding is another, so that every bit is the CPU's.
Nothing is read back from the device.
"""
import ctypes
from typing import Dict

import torch
from torch import Tensor

from .. import _abi as abi
from .. import _structs as structs
from .._pointer import conversion, operation_number
from . import _calls, _records, _rounding
from ._calls import Words, ref

_NEAREST = structs.hu_mode()  # ties to even
_ADAMW = 1  # HU_ADAMW
_KAHAN = 1  # HU_UPDATE_KAHAN
_STORED = (('m', 3), ('v', 4))  # children of the stream's key


def _scalar(o: structs.hu_optimizer, x: float) -> float:
    """A rate or a factor as the format of the state keeps it; the formats that hu_optimizer_check takes are within
    binary32."""
    z, source = ctypes.c_double(), ctypes.c_double(x)
    values = structs.hu_type(structs.TYPE_VALUES64, 0, o.state)
    abi.check(conversion(values, _calls.FLOAT64)(1, ref(z), ref(source), None), 'optimizer')
    return z.value


def _scalars(o: structs.hu_optimizer, now: structs.hu_optimizer_time, device: torch.device) -> Dict[str, Tensor]:
    """What numbers are multiplied and divided by, each a float32 tensor of no dimension on the device."""
    made = {name: _scalar(o, getattr(o, name)) for name in ('rate', 'momentum', 'decay', 'beta1', 'beta2', 'eps')}
    for past, less, beta, power in (('past1', 'less1', 'beta1', now.power1), ('past2', 'less2', 'beta2', now.power2)):
        made[less], made[past] = _scalar(o, 1 - made[beta]), _scalar(o, 1 - power)
    return dict(zip(made, torch.tensor(list(made.values()), dtype=torch.float32).to(device).unbind()))


class _Job:
    """Operators on float32 tensors of one shape, contiguous; an operand of no dimension counts for every element."""

    def __init__(self, engine: _calls.Engine, o: structs.hu_optimizer, n: int) -> None:
        self.engine, self.o, self.n = engine, o, n
        self.binary32 = _records.format_of('binary32')
        self.narrow = bytes(o.state) != bytes(self.binary32)

    def plain(self, name: str, z: Tensor, *operands: Tensor) -> Tensor:
        """z = operands[0] op operands[1] in binary32, ties to even; z."""
        numbers, views = _calls.codes_of(self.binary32), (structs.hu_view * len(operands))()
        for place, x in enumerate(operands):
            views[place] = structs.hu_view(x.data_ptr(), int(x.dim() > 0), numbers)
        how = structs.hu_how(_NEAREST, ctypes.pointer(self.engine.exec(Words(0, 0), self.n)), None)
        to = structs.hu_output(z.data_ptr(), 1, numbers)
        self.engine._call('apply', operation_number(name), self.n, ref(to), ref(views), ref(how))
        return z

    def rounded(self, x: Tensor, f: structs.hu_format, mode: structs.hu_mode = _NEAREST,
                words: Words = Words(0, 0)) -> Tensor:
        """x rounded in place; x."""
        self.engine.convert(self.n, (x.data_ptr(), 1, _calls.values_of(f)), (x.data_ptr(), 1, _calls.FLOAT32), mode,
                            self.engine.exec(words, self.n), None)
        return x

    def q(self, name: str, z: Tensor, *operands: Tensor) -> Tensor:
        """z = Q(operands[0] op operands[1]): rounded into the format of the state as well; z."""
        self.plain(name, z, *operands)
        return self.rounded(z, self.o.state) if self.narrow else z

    def decayed(self, z: Tensor, x: Tensor, w: Tensor, decay: Tensor, room: Tensor) -> Tensor:
        """z = Q(x + Q(decay w)); z."""
        return self.q('add', z, x, self.q('mul', room, w, decay))

    def moving(self, z: Tensor, a: Tensor, y: Tensor, room: Tensor) -> Tensor:
        """z = Q(Q(a z) + y); z."""
        return self.q('add', z, self.q('mul', room, z, a), y)


def _decays(o: structs.hu_optimizer) -> bool:
    return _scalar(o, o.decay) != 0


def _sgd(job: _Job, s: Dict[str, Tensor], w: Tensor, g: Tensor, state: Dict[str, Tensor], u: Tensor) -> None:
    """u of optimizer.h; momenta move."""
    room = torch.empty_like(w)
    if _decays(job.o):
        g = job.decayed(torch.empty_like(w), g, w, s['decay'], room)
    if 'm' in state:
        g = job.moving(state['m'], s['momentum'], g, room)
    job.q('mul', u, g, s['rate'])


def _adamw(job: _Job, s: Dict[str, Tensor], w: Tensor, g: Tensor, state: Dict[str, Tensor], u: Tensor) -> None:
    """u of optimizer.h; first and second moments move."""
    t, d, m, v = torch.empty_like(w), torch.empty_like(w), state['m'], state['v']
    if job.o.coupled and _decays(job.o):
        g = job.decayed(torch.empty_like(w), g, w, s['decay'], d)
    job.moving(m, s['beta1'], job.q('mul', t, g, s['less1']), d)
    job.moving(v, s['beta2'], job.q('mul', t, job.q('mul', t, g, g), s['less2']), d)
    job.q('sqrt', d, job.q('div', d, v, s['past2']))
    job.q('div', u, job.q('div', t, m, s['past1']), job.q('add', d, d, s['eps']))
    if not job.o.coupled and _decays(job.o):
        job.decayed(u, u, w, s['decay'], d)
    job.q('mul', u, u, s['rate'])


def _kahan(job: _Job, w: Tensor, u: Tensor, c: Tensor) -> Tensor:
    """The new weights; what they lost goes into c."""
    f = job.o.weight
    y = job.rounded(job.plain('sub', torch.empty_like(w), u.neg(), c), f)
    s = job.rounded(job.plain('add', torch.empty_like(w), w, y), f)
    job.rounded(job.plain('sub', c, s, w), f)
    job.rounded(job.plain('sub', c, c, y), f)
    return s


def _stored(state: Dict[str, Tensor], storage: Dict[str, str], words: Words) -> None:
    """Moments as they are kept until the next step: all numbers of each as one row."""
    for name, use in _STORED:
        if name in state and storage[name] != 'keep':
            row = state[name].view(1, -1)
            own = Words(_records.child(words.key, use), words.counter)
            _rounding.into(row, row, _records.rounding(storage[name]), -1, own, None)


def step(engine: _calls.Engine, o: structs.hu_optimizer, now: structs.hu_optimizer_time, w: Tensor, g: Tensor,
         state: Dict[str, Tensor], storage: Dict[str, str], words: Words) -> Tensor:
    """hu_optimizer_step without `fused`, on one tensor. w and what `state` has of m, v and c change in place. storage:
    texts of stored_m and stored_v, as "m" and "v".

    Returns int64 of 2 numbers on the device: weights with an update that is not zero, and those of them that stayed as
    they were.
    """
    counts = torch.zeros(2, dtype=torch.int64, device=w.device)
    if w.numel() == 0:
        return counts
    job, u = _Job(engine, o, w.numel()), torch.empty_like(w)
    (_adamw if o.kind == _ADAMW else _sgd)(job, _scalars(o, now, w.device), w, g, state, u)
    if o.update == _KAHAN:
        new = _kahan(job, w, u, state['c'])
    else:
        new = job.rounded(job.plain('sub', torch.empty_like(w), w, u), o.weight, o.mode, words)
    moved = u != 0
    counts = torch.stack([moved.sum(), (moved & (w == new)).sum()])
    w.copy_(new)
    _stored(state, storage, words)
    return counts
