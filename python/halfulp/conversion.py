# SPDX-License-Identifier: MIT
"""Conversions as other programs do them, by name (halfulp/conversion.h; docs/compatibility.md).

    halfulp.quantize(x, 'torch.float8_e4m3fn')     # the bits of x.to(torch.float8_e4m3fn)

A preset says format, rounding, saturation and NaN, so no mode stands beside it. A chain of roundings is a preset, too
(docs/paths.md):

    halfulp.encode(x, 'path(binary16:rtz,float8_e4m3fn)')
"""
from __future__ import annotations

import ctypes
import functools
from typing import Any, FrozenSet, List, Mapping, NamedTuple, Optional

from . import _abi as abi
from . import _names as names
from . import _structs as s
from ._pointer import VALUES, How, plain_type
from .format import Format
from .mode import Mode



class Preset(NamedTuple):
    """A conversion as another program does it; `halfulp.quantize` and `halfulp.encode` take it, or its name.

    `scaling` is "" or the text of a scaled tensor: then ``halfulp.scaled.encode(x, p)`` does it. Most such presets are
    ``halfulp.scaled.encode(x, p.scaling, p.mode)``; `has_steps` says which are not.
    """

    name: str
    stands: str  # for what, in that program's own words
    tested: str  # against which version, or that it was not, and why
    note: str  # what surprises, "" if nothing
    format: Format
    mode: Mode  # of the last rounding
    scaling: str

    @property
    def record(self) -> s.hu_conversion:
        """The C library's record of it."""
        return _record(self.name)

    @property
    def has_steps(self) -> bool:
        """Whether a preset of a scaled tensor has steps before its encoding, or codes of its own after it."""
        record = self.record
        return bool(record.scaling) and bool(record.through or record.codes or record.first.e or record.first.m)

    @property
    def rounds_before(self) -> bool:
        """Whether it rounds before its last rounding: then a number may get another code than by one rounding."""
        return not self.scaling and self.record.first != s.hu_format()

    @property
    def once(self) -> Preset:
        """Its last rounding without those before: ``encode(x, p) != encode(x, p.once)`` where x was rounded twice."""
        return _Once(*self)

    def _call(self, what: str, n: int, z: int, incz: int, x: int, incx: int, dtype: str, way: How) -> None:
        to = s.hu_type(s.TYPE_CODES if what == 'encode' else VALUES[dtype])
        result, source = s.hu_output(z, incz, to), s.hu_view(x, incx, plain_type(dtype))
        status = abi.main().hu_conversion_apply(n, abi.address(result), abi.address(source), abi.address(self.record),
                                                abi.address(way.exec), way.counts)
        abi.check(status, what, self.name)


class _Once(Preset):
    @property
    def record(self) -> s.hu_conversion:
        record = super().record.copy()
        record.first, record.first_mode = s.hu_format(), s.hu_mode()
        record.further = type(record.further)()
        return record


@abi.text_cache(1024)
def _record(name: str) -> s.hu_conversion:
    record = s.hu_conversion()
    if name.startswith('path('):
        names.parse('format', 'path', name, abi.main().hu_conversion_parse, record)
        return record
    status = abi.main().hu_conversion_find(ctypes.byref(record), abi.raw_text('preset', name))
    if status != s.OK:
        abi.check(status, 'preset', '{!r}; {}'.format(name, _near(name)))
    return record


def _near(name: str) -> str:
    before = name.rpartition(',')[0]
    if before in _listed():
        return 'the preset {!r} says how it is rounded; nothing may stand behind it'.format(before)
    return ' '.join((names.near(name, list(_listed())), 'halfulp.presets() lists them')).strip()


def _made(record: s.hu_conversion, name: str, stands: str = '', tested: str = '', note: str = '') -> Preset:
    return Preset(name, stands, tested, note, Format._from_c(record.format), Mode._from_c(record.mode),
                  (record.scaling or b'').decode())


def presets() -> List[Preset]:
    """All presets: cuda, torch, ml_dtypes, numpy, jax, ocp, onnx, gfloat, chop, qtorch, mx, te, torchao, ggml, riscv,
    intel, tt."""
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
    """The preset of that name, also every "qtorch.float(E,M)" and every chain of roundings "path(FORMAT:MODE,FORMAT:MODE)";
    HalfulpValueError where there is no such preset."""
    abi.raw_text('name', name)
    found = _listed().get(name)
    return found if found is not None else _made(_record(name), name)


@functools.lru_cache(maxsize=1)
def _rules() -> FrozenSet[str]:
    library = abi.main()
    return frozenset(library.hu_scaling_rule_at(place).name.decode() for place in range(library.hu_scaling_rule_count()))


def names_preset(text: str) -> bool:
    """Whether a text is written as a preset: "torch." and so on, or "path(". Rules of blocks have such names, too."""
    family, dot, _ = text.partition('.')
    return text.startswith('path(') or bool(dot) and family in _families() and text not in _rules()


def alone(preset: Preset, mode: Any, options: Mapping[str, Any]) -> None:
    """HalfulpValueError where a mode or a part of one is given beside a preset."""
    for argument, given in [('mode', mode)] + [(name, options.get(name)) for name in ('saturate', 'nan', 'tiny')]:
        if given is not None:
            raise abi.HalfulpValueError('{}: the preset {} says how it is rounded; nothing may stand beside it'.format(
                argument, preset.name))


def preset_of(thing: Any, mode: Any, options: Mapping[str, Any]) -> Optional[Preset]:
    """The preset that a `format` argument is or names, if it does; one that goes without a mode beside it."""
    if isinstance(thing, str) and names_preset(thing):
        thing = preset(thing)
    if not isinstance(thing, Preset):
        return None
    alone(thing, mode, options)
    if thing.scaling:
        raise abi.HalfulpValueError('format: the preset {0} is a scaled tensor; halfulp.scaled.encode(x, p) with '
                                    'p = halfulp.preset({0!r})'.format(thing.name))
    return thing
