# SPDX-License-Identifier: MIT
"""Keys and values that attention keeps, rounded as they are stored: per token, per channel or per head."""
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

import torch
from torch import Tensor

from ... import _abi as abi
from .. import _records, functional
from .._records import text_of

_PER = ('token', 'channel', 'head')
_TYPES = (torch.float32, torch.float16, torch.bfloat16)
_UNSCALED = (3, 4)  # HU_NUMBER_FIXED, HU_NUMBER_TABLE


@dataclass(frozen=True)
class CacheRounding:
    """How a tensor of shape (batch, heads, tokens, channels) is rounded before it is kept.

    Parameters
    ----------
    rounding : str, torch.dtype, halfulp.Format, ...
        "affine(B)": whole numbers of B bits, 1 to 8, between the least and the largest number of a group (KIVI). A format
        ("float8_e4m3fn"): each group with a binary32 scale, its largest magnitude over the format's largest number
        (`scaled(...;rule=ratio;steps=divide;zero=one)` of docs/scaled.md), or with `scales`, by which numbers are divided.
        A scaled format ("mxfp4"): its own blocks in place of groups, along channels per token, along tokens per channel.
        A rounding of another kind, "keep", "posit8" or "bfloat16,rtz": element by element, without groups or scales, per
        token. Integers, fixed point and tables ("int8", "nf4") are refused, since they require a scale.
    per : "token", "channel" or "head"
        A group is a run of numbers of one token, of one channel over several tokens, or all that one head keeps: then
        `scales` are required, since numbers of tokens to come are not known.
    group : int, optional
        Numbers of a group: channels, of which it is then a divisor (without it all of them), or tokens, per channel, where
        it is required.
    scales : Tensor, optional
        Of a format, per head: a positive float32 number for each head, or one for all.

    Notes
    -----
    In float32, each operation rounded to nearest even, in this order; results have the type of the tensor, rounded once more
    if it is narrower:

        affine   s = (max - min) / (2^B - 1);  q = round((x - min) / s), ties to even, from 0 to 2^B - 1;  q s + min
                 (two operations); min where s is 0; NaN for a whole group whose s is not finite
        format   s = amax / M, 1 for amax 0;  q = F(x / s), at most M;  q s
        scales   q = F(x / s), at most M;  q s
    """

    rounding: str
    per: str = 'token'
    group: Optional[int] = None
    scales: Optional[Tensor] = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'rounding', text_of(self.rounding))
        abi.word('per', self.per, _PER)
        if self.group is not None:
            abi.whole('group', self.group, 1, 1 << 20)
        object.__setattr__(self, 'bits', _affine_bits(self.rounding))
        parsed = None if self.bits else _records.rounding(self.rounding)
        if parsed is not None and parsed.stochastic:
            raise abi.HalfulpValueError('rounding: {!r} draws random words, and a cache has none'.format(self.rounding))
        kind = None if parsed is None else parsed.kind
        object.__setattr__(self, 'kind', kind)
        self._check_unscaled(kind)
        self._check_groups(kind)
        self._check_scales(kind)

    def _check_unscaled(self, kind: Optional[int]) -> None:
        """Integers, fixed point and tables would be rounded as if their scale were 1."""
        system = _records.rounding(self.rounding).record.number if kind == _records.NUMBER else None
        if system is not None and system.kind in _UNSCALED:
            raise abi.HalfulpValueError("rounding: {!r} has no scale of its own, and numbers beyond its range or below its step "
                                        "would be lost; 'affine(B)' has a scale for each group".format(self.rounding))

    def _check_groups(self, kind: Optional[int]) -> None:
        grouped = kind in (None, _records.FORMAT)
        if self.group is not None and (self.per == 'head' or not grouped):
            raise abi.HalfulpValueError('group: {} of {}'.format(self.group, 'a head: its group is the head' if grouped else repr(
                self.rounding) + ', which has blocks of its own or none'))
        if self.per == 'channel' and grouped and self.group is None:
            raise abi.HalfulpValueError('group: per channel, the number of tokens that share a scale is required')
        if kind == _records.S2FP8 or kind == _records.SCALED and not self._apart():
            raise abi.HalfulpValueError('rounding: {!r} has a scale of more numbers than a run of one {} has'.format(
                self.rounding, self.per))
        if kind not in (None, _records.FORMAT, _records.SCALED) and self.per != 'token':
            raise abi.HalfulpValueError('per: {!r} is rounded element by element; "token" is meant'.format(self.rounding))

    def _apart(self) -> bool:
        """Whether each scale of a scaled format belongs to a run of one token, or of one channel and a number of tokens."""
        scaling = _records.rounding(self.rounding).scaling(False)
        return scaling.rows == 1 and not scaling.tensor and (self.per != 'channel' or self.run() is not None)

    def _check_scales(self, kind: Optional[int]) -> None:
        if (self.per == 'head') != (self.scales is not None):
            raise abi.HalfulpValueError('scales: per head, and there alone, the scales of the heads are required')
        if self.scales is None:
            return
        if kind != _records.FORMAT:
            raise abi.HalfulpValueError('scales: {!r} is not a format'.format(self.rounding))
        abi.instance('scales', self.scales, Tensor)
        s = self.scales.detach().float().reshape(-1)
        if self.scales.dim() > 1 or not (s.isfinite() & (s > 0)).all():
            raise abi.HalfulpValueError('scales: positive finite numbers are required, one for each head or one for all')
        object.__setattr__(self, 'scales', s.clone())

    def run(self) -> Optional[int]:
        """How many tokens share a scale; 1 but per channel; None where blocks have no such number."""
        if self.per != 'channel':
            return 1
        if self.kind != _records.SCALED:
            return self.group
        cols = _records.rounding(self.rounding).scaling(False).cols
        return cols if 0 < cols < 1 << 31 else None

    def __call__(self, x: Tensor) -> Tensor:
        """A tensor of the shape (batch, heads, tokens, channels), rounded; per channel the tokens are whole groups."""
        _known('x', x)
        if self.per == 'channel' and x.shape[-2] % (self.run() or 1):
            raise abi.HalfulpValueError('x: {} tokens are no whole groups of {}'.format(x.shape[-2], self.run()))
        if not x.numel():
            return x
        wide = x.detach().float()
        if self.scales is not None:
            return self._by_scales(wide).to(x.dtype)
        if self.bits or self.kind == _records.FORMAT:
            return self._by_groups(wide).to(x.dtype)
        return functional.quantize(wide, self.rounding, dim=-2 if self.per == 'channel' else -1).to(x.dtype)

    def _by_scales(self, x: Tensor) -> Tensor:
        if self.scales.numel() not in (1, x.shape[1]):
            raise abi.HalfulpValueError('scales: {} of them, and {} heads'.format(self.scales.numel(), x.shape[1]))
        s = self.scales.to(x.device).view(1, -1, 1, 1)
        return functional.quantize(x / s, _saturating(self.rounding)) * s

    def _by_groups(self, x: Tensor) -> Tensor:
        rows = x.transpose(-1, -2) if self.per == 'channel' else x
        size = self.group or rows.shape[-1]
        if rows.shape[-1] % size:
            raise abi.HalfulpValueError('group: {} channels are no whole groups of {}'.format(rows.shape[-1], size))
        groups = rows.contiguous().unflatten(-1, (-1, size))
        z = _affine(groups, self.bits) if self.bits else _scaled(groups, self.rounding, size)
        z = z.flatten(-2)
        return z.transpose(-1, -2).contiguous() if self.per == 'channel' else z

    def stored(self, shape: Tuple[int, int, int, int]) -> int:
        """The bits of a tensor of this shape: codes packed without gaps, and what its groups have: a binary32 scale, with
        `affine` a least number, too. (`scales` of heads are the rounding's own.)"""
        count = 1
        for side in shape:
            count *= side
        if self.bits or self.kind == _records.FORMAT:
            width = self.bits or _stored(1, 1, self.rounding)
            if self.scales is not None:
                return count * width
            size = self.group or shape[-1]
            return count * width + count // size * (64 if self.bits else 32)
        rows, cols = (shape[0] * shape[1] * shape[2], shape[3])
        if self.per == 'channel':
            rows, cols = shape[0] * shape[1] * shape[3], shape[2]
        return _stored(rows, cols, self.rounding)


def _affine_bits(text: str) -> int:
    """B of "affine(B)"; 0 for other texts."""
    if not text.startswith('affine('):
        return 0
    inside = text[7:-1] if text.endswith(')') else ''
    if not inside.isdigit() or not 1 <= int(inside) <= 8:
        raise abi.HalfulpValueError('rounding: {!r}: affine(B) with B from 1 to 8 is required'.format(text))
    return int(inside)


def _stored(rows: int, cols: int, text: str) -> int:
    return abi.train().hu_rounding_bits(rows, cols, abi.address(_records.rounding(text).record))


def _saturating(text: str) -> str:
    return text if 'sat=' in text else text + ',sat=finite'


def _affine(x: Tensor, bits: int) -> Tensor:
    least, most = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    s = (most - least) / float(2 ** bits - 1)
    q = ((x - least) / s).round().clamp(0, 2 ** bits - 1)
    z = torch.where(s == 0, least, q * s + least)
    return torch.where(s.isfinite(), z, torch.full_like(z, float('nan')))


def _scaled(x: Tensor, text: str, size: int) -> Tensor:
    element, _, mode = text.partition(',')
    return functional.quantize(x, 'scaled({};scale=binary32;block=1x{};rule=ratio;steps=divide;zero=one){}'.format(
        element, size, ',' + mode if mode else ''))


def _known(name: str, x: Any) -> None:
    abi.instance(name, x, Tensor)
    if x.dim() != 4:
        raise abi.HalfulpValueError('{}: a tensor of batch, heads, tokens and channels is required, not one of shape {}'.format(
            name, tuple(x.shape)))
    if x.dtype not in _TYPES:
        raise abi.HalfulpTypeError('{}: float32, float16 or bfloat16 is required, not {}'.format(name, x.dtype))


class _Side:
    """Keys, or values, of one layer: those that are rounded, and the last ones as they came."""

    def __init__(self, rounding: CacheRounding, window: int) -> None:
        self.rounding, self.window = rounding, window
        self.rounded: Optional[Tensor] = None
        self.recent: Optional[Tensor] = None

    def kept(self, count: int) -> int:
        """How many of so many tokens are rounded."""
        run = self.rounding.run() or 1
        if self.rounding.per == 'channel':
            return count - count % max(self.window, run)
        return max(0, count - self.window)

    def add(self, x: Tensor) -> Tensor:
        x = x.detach()
        before = 0 if self.rounded is None else self.rounded.shape[-2]
        recent = x if self.recent is None else torch.cat([self.recent, x], -2)
        ready = self.kept(before + recent.shape[-2]) - before
        fresh = self.rounding(recent[..., :ready, :])
        self.rounded = fresh if self.rounded is None else torch.cat([self.rounded, fresh], -2)
        self.recent = recent[..., ready:, :].clone()
        return torch.cat([self.rounded, self.recent], -2)

    def tensors(self) -> List[Tensor]:
        return [one for one in (self.rounded, self.recent) if one is not None]

    def choose(self, batch: Tensor) -> None:
        for name in ('rounded', 'recent'):
            one = getattr(self, name)
            if one is not None:
                setattr(self, name, one.index_select(0, batch.to(one.device)))


class KVCache:
    """Keys and values of the layers of a model, rounded when they are stored, once, and read many times.

        cache = ht.KVCache(ht.CacheRounding('affine(2)', per='channel', group=32),
                           ht.CacheRounding('affine(2)', group=32), window=128)          # KIVI
        keys, values = cache.update(keys, values, layer=0)

    Parameters
    ----------
    keys, values : CacheRounding, or a rounding
        A rounding is short for one per token. Without `values` those of the keys.
    window : int
        So many of the last tokens stay as they came. Per channel, tokens are rounded in runs of `window` (a multiple of the
        group; of the group where it is less), so that up to that many have not been rounded yet.

    What a token's numbers are rounded to depends on its group alone: filling the cache at once or token by token gives the
    same numbers. They are kept as numbers of the tensors' type, not in codes; `bits()` is what codes would take.
    """

    def __init__(self, keys: Any, values: Any = None, *, window: int = 0) -> None:
        self.keys = keys if isinstance(keys, CacheRounding) else CacheRounding(keys)
        self.values = self.keys if values is None else values if isinstance(values, CacheRounding) else CacheRounding(values)
        self.window = abi.whole('window', window, 0, 1 << 30)
        for name, one in (('keys', self.keys), ('values', self.values)):
            if one.per == 'channel' and window % (one.run() or 1) and window > (one.run() or 1):
                raise abi.HalfulpValueError('window: {} is no multiple of the {} tokens of a group of {}'.format(window, one.run(), name))
        self.layers: Dict[int, Tuple[_Side, _Side]] = {}

    def update(self, keys: Tensor, values: Tensor, layer: int = 0) -> Tuple[Tensor, Tensor]:
        """Tokens are added to a layer; all keys and values of it so far, as attention reads them. Shapes (batch, heads,
        tokens, channels), with the batch, heads and channels of the first call; the channels of values may be others. The
        results carry no gradients."""
        _known('keys', keys), _known('values', values)
        if keys.shape[:3] != values.shape[:3]:
            raise abi.HalfulpValueError('values: shape {} beside keys of {}'.format(tuple(values.shape), tuple(keys.shape)))
        layer = abi.whole('layer', layer, 0, 1 << 20)
        sides = self.layers.get(layer)
        if sides is None:
            sides = (_Side(self.keys, self.window), _Side(self.values, self.window))
        for name, side, x in (('keys', sides[0], keys), ('values', sides[1], values)):
            self._like(name, side, x)
        made = sides[0].add(keys), sides[1].add(values)
        self.layers[layer] = sides
        return made

    @staticmethod
    def _like(name: str, side: _Side, x: Tensor) -> None:
        for old in side.tensors():
            if (old.shape[:2], old.shape[3], old.dtype, old.device) != (x.shape[:2], x.shape[3], x.dtype, x.device):
                raise abi.HalfulpValueError('{}: {} of shape {} behind {} of shape {}'.format(
                    name, x.dtype, tuple(x.shape), old.dtype, tuple(old.shape)))

    def length(self, layer: int = 0) -> int:
        """Tokens of a layer."""
        return sum(one.shape[-2] for one in self.layers[layer][0].tensors()) if layer in self.layers else 0

    def bits(self) -> int:
        """What all layers would take with rounded tokens in packed codes and the others in the tensors' type."""
        total = 0
        for sides in self.layers.values():
            for side in sides:
                if side.rounded is not None:
                    total += side.rounding.stored(tuple(side.rounded.shape))
                if side.recent is not None:
                    total += side.recent.numel() * side.recent.element_size() * 8
        return total

    def select(self, batch: Tensor) -> None:
        """Only these numbers of the batch stay, in this order, each as often as it is named: the beams of a search."""
        abi.instance('batch', batch, Tensor)
        for sides in self.layers.values():
            for side in sides:
                side.choose(batch)

    def reset(self) -> None:
        """No token is kept."""
        self.layers.clear()

    def for_transformers(self) -> Any:
        """A `transformers.Cache` for `model.generate(past_key_values=...)` that keeps its tokens here. Tokens cannot be taken
        back (`crop`): they may be rounded already."""
        from .of_transformers import Adapter
        return Adapter(self)

    def __repr__(self) -> str:
        return 'KVCache(keys={}, values={}, window={})'.format(self.keys, self.values, self.window)


__all__ = ['CacheRounding', 'KVCache']
