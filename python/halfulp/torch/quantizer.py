# SPDX-License-Identifier: MIT
"""Roundings of values and of their gradients as modules."""
from torch import Tensor

from . import _records, ops
from ._records import text_of
from ._stateful import Key, Stateful
from .functional import floating


class Quantizer(Stateful):
    """Rounds what goes through it forward by one rounding and what comes back by another.

    Parameters
    ----------
    forward, backward : str, torch.dtype, halfulp.Format, ...
        Roundings, as `halfulp.torch.quantize` takes them.
    dim : int
        The dimension along which blocks of a scaled tensor lie.
    gradient : str
        "straight_through" or "zero_outside".
    key : int or "torch", optional
        Of the module's own stream of random words; without it torch.manual_seed decides. "torch": every forward call
        takes its words from torch's generator, which activation checkpointing requires.
    count : bool
        Count events: `events_of()`, parts "forward" and "backward".
    """

    PARTS, BACKWARD_PARTS = ('forward',), ('backward',)

    def __init__(self, forward='keep', backward='keep', *, dim: int = -1, gradient: str = 'straight_through',
                 key: Key = None, count: bool = False) -> None:
        super().__init__()
        ops.gradient_rule(gradient)
        self.forward_rounding, self.backward_rounding = text_of(forward), text_of(backward)
        self.dim, self.gradient = dim, gradient
        self._begin(key, count, any(_records.rounding(text).stochastic
                                    for text in (self.forward_rounding, self.backward_rounding)))

    @classmethod
    def per_tensor(cls, format, backward='keep', *, scale: str = 'binary32', rule: str = 'ratio',
                   **more) -> 'Quantizer':
        """One scale for the tensor: its largest magnitude becomes the largest number of the format."""
        return cls(_scaled(format, scale, '*x*', rule), backward, **more)

    @classmethod
    def per_channel(cls, format, backward='keep', *, dim: int = 0, scale: str = 'binary32', rule: str = 'ratio',
                    **more) -> 'Quantizer':
        """One scale for every index of `dim` (of a weight: 0, an output)."""
        return cls(_scaled(format, scale, '*x1', rule), backward, dim=dim, **more)

    @classmethod
    def per_block(cls, format, backward='keep', *, size: int = 32, dim: int = -1, scale: str = 'float8_e8m0fnu',
                  rule: str = 'floor', **more) -> 'Quantizer':
        """One scale for `size` elements along `dim`."""
        return cls(_scaled(format, scale, '1x{}'.format(size), rule), backward, dim=dim, **more)

    def forward(self, x: Tensor) -> Tensor:
        x = floating(x, self.forward_rounding)
        z, events = ops.quantize(x, self.take(), self.tapped(), self.forward_rounding, self.backward_rounding, self.dim,
                                 self.gradient, 0, 1, self.count)
        self.note(events)
        return z

    def extra_repr(self) -> str:
        return '{!r}, backward={!r}, dim={}, gradient={!r}'.format(self.forward_rounding, self.backward_rounding,
                                                                   self.dim,
                                                                   self.gradient)


def _scaled(format, scale: str, block: str, rule: str) -> str:
    """A scaled tensor's text; a mode behind the format ("float8_e4m3fn,sra:8") goes behind the whole."""
    text = text_of(format)
    r = _records.rounding(text)
    if r.kind != _records.FORMAT or r.special or r.preset is not None:
        raise ValueError('Quantizer: {!r} is not a format'.format(text))
    cut = len(text)
    while cut > 0 and ',' in text[:cut] and _is_mode(text[text.rindex(',', 0, cut) + 1:cut]):
        cut = text.rindex(',', 0, cut)
    return 'scaled({};scale={};block={};rule={}){}'.format(text[:cut], scale, block, rule, text[cut:])


def _is_mode(word: str) -> bool:
    return word.startswith('sat=') or word.partition(':')[0] in _records.structs.ROUNDINGS + ('sr',)
