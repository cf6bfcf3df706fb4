# SPDX-License-Identifier: MIT
"""Operators on the state of modules: a stream that moves on, counts that grow."""
import torch
from torch import Tensor

from .._register import fake, operator


def _repeated() -> bool:
    """Whether a backward pass runs in this thread: a forward call then repeats an earlier one, which is what
    torch.utils.checkpoint does. Kernels look at it, so that compiled graphs do, too."""
    return torch._C._current_graph_task_id() != -1


@operator('advance_(Tensor(a!) stream, SymInt step) -> Tensor')
def advance_(stream: Tensor, step: int) -> Tensor:
    if _repeated():
        raise RuntimeError('halfulp: a forward call of a stochastic module, made while a backward pass runs '
                           '(activation checkpointing), would draw other random words than the first one; make the '
                           "module with key='torch', whose words torch.utils.checkpoint repeats")
    now = stream.clone()
    stream[1] += step
    return now


@fake(advance_)
def _(stream, step):
    return torch.empty_like(stream)


@operator('note_(Tensor(a!) seen, Tensor events) -> ()')
def note_(seen: Tensor, events: Tensor) -> None:
    if not _repeated():
        seen += events.reshape(seen.shape).to(seen.device)


@fake(note_)
def _(seen, events):
    return None
