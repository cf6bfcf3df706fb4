# SPDX-License-Identifier: MIT
"""Conversions as other programs do them, by name (halfulp/conversion.h; docs/compatibility.md).

    halfulp.quantize(x, 'torch.float8_e4m3fn')     # the bits of x.to(torch.float8_e4m3fn)

A preset says format, rounding, saturation and NaN, so no mode stands beside it.
"""
from __future__ import annotations

import ctypes
import functools
from typing import Any, FrozenSet, List, Mapping, NamedTuple, Optional

from . import _abi as abi
from . import _structs as s
from ._pointer import How
from .format import Format
from .mode import Mode

_WIDE = {'float32': '', 'float64': '64'}


class Preset(NamedTuple):
    """A conversion as another program does it; `halfulp.quantize` and `halfulp.encode` take it, or its name.

    `scaling` is "" or the text of a scaled tensor: then ``halfulp.scaled.encode(x, p.scaling, p.mode)`` does it.
    """

    name: str
    stands: str  # for what, in that program's own words
    tested: str  # against which version, or that it was not, and why
    note: str  # what surprises, "" if nothing
    format: Format
    mode: Mode  # of the last rounding
    scaling: str

    def _call(self, what: str, n: int, z: int, incz: int, x: int, incx: int, dtype: str, way: How) -> None:
        call = getattr(abi.main(), 'hu_conversion_{}{}_n'.format(what, _WIDE[dtype]))
        abi.check(call(n, z, incz, x, incx, abi.address(_record(self.name)), abi.address(way.exec), way.counts), what,
                  self.name)


@functools.lru_cache(maxsize=1024)
def _record(name: str) -> s.hu_conversion:
    record = s.hu_conversion()
    abi.check(abi.main().hu_conversion_find(ctypes.byref(record), name.encode()), 'preset',
              '{!r}; halfulp.presets() lists them'.format(name))
    return record


def _made(record: s.hu_conversion, name: str, stands: str = '', tested: str = '', note: str = '') -> Preset:
    return Preset(name, stands, tested, note, Format._from_c(record.format), Mode._from_c(record.mode),
                  (record.scaling or b'').decode())


def presets() -> List[Preset]:
    """All presets: cuda, torch, ml_dtypes, numpy, jax, ocp, onnx, gfloat, chop, qtorch, mx, te."""
    library = abi.main()
    rows = (library.hu_conversion_at(i) for i in range(library.hu_conversion_count()))
    return [_made(row.conversion, *(text.decode() for text in (row.name, row.stands, row.tested, row.note)))
            for row in rows]


@functools.lru_cache(maxsize=None)
def _listed() -> Mapping[str, Preset]:
    return {row.name: row for row in presets()}


@functools.lru_cache(maxsize=None)
def _families() -> FrozenSet[str]:
    return frozenset(name.partition('.')[0] for name in _listed())


def preset(name: str) -> Preset:
    """The preset of that name, also every "qtorch.float(E,M)"; HalfulpValueError if nobody has it."""
    if not isinstance(name, str):
        raise abi.HalfulpTypeError('name: a text is wanted, not {}'.format(type(name).__name__))
    found = _listed().get(name)
    return found if found is not None else _made(_record(name), name)


def preset_of(thing: Any, mode: Any, options: Mapping[str, Any]) -> Optional[Preset]:
    """The preset that a `format` argument is or names, if it does; one that goes without a mode beside it."""
    if isinstance(thing, str) and thing.partition('.')[0] in _families() and '.' in thing:
        thing = preset(thing)
    if not isinstance(thing, Preset):
        return None
    for argument, given in [('mode', mode)] + [(name, options.get(name)) for name in ('saturate', 'nan', 'tiny')]:
        if given is not None:
            raise abi.HalfulpValueError('{}: the preset {} says how it is rounded; nothing may stand beside it'.format(
                argument, thing.name))
    if thing.scaling:
        raise abi.HalfulpValueError('format: the preset {0} is a scaled tensor; halfulp.scaled.encode(x, p.scaling, '
                                    'p.mode) with p = halfulp.preset({0!r})'.format(thing.name))
    return thing
