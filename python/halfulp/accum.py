# SPDX-License-Identifier: MIT
"""How sums of products are accumulated, and models of matrix units (halfulp/accum.h; docs/numerics.md section 11)."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, List, MutableMapping, NamedTuple, Optional, Tuple, Union

from . import _abi as abi
from . import _names as names
from . import _structs as s
from ._structs import Value
from .format import Format
from .mode import stream_of


class Accumulator(Value):
    """An accumulation model: which roundings the sums of a dot product have, and in which order.

    Parameters
    ----------
    text : str or Model
        "exact"; "fp32", "fp64"; "seq(binary16)" (a fused multiply-add a step); "seq2(P,F)"; "chunk(64,P,F)";
        "pairwise(F)"; "strided(F)"; "kahan(F)"; "neumaier(F)"; "int32"; "block(...)"; the name of a matrix unit
        ("nv.hopper.e4m3.f32.wgmma", see `models`); "promote(N,MODEL,F)"; "splitk(S,MODEL)"; "takes(A,B,C,MODEL)", a
        model for operands of these formats alone, as every matrix unit is; "any(MODEL)", without that restriction.
        Roundings go in as "seq(binary16,sra:8)". The grammar is in halfulp/accum.h.
    """

    __slots__ = ()

    def __init__(self, text: 'AccumulatorLike' = 'exact') -> None:
        given = text.accumulator if isinstance(text, Model) else text
        self._c = given._c if isinstance(given, Accumulator) else _parse(given)

    @property
    def text(self) -> str:
        """The one canonical text; presets are written out as takes(A,B,C,block(...))."""
        return abi.written(abi.main().hu_accum_text, _TEXT_MAX, abi.address(self._c))

    @property
    def operands(self) -> Tuple[Optional[Union[Format, str]], ...]:
        """What A, B and C must be: each a format, 's8', 'u8', 's4', 'u4', 's32' or 'binary64'; None: anything. C may be
        anything where a part of the sum begins with 0 (promote, splitk)."""
        inner = self._c.promote or self._c.slices
        return _expected(self._c.a), _expected(self._c.b), None if inner else _expected(self._c.c)

    @property
    def of_integers(self) -> bool:
        """Whether it takes integers or binary64, which no float32 array holds."""
        return any(isinstance(operand, str) for operand in self.operands)

    def any(self) -> 'Accumulator':
        """The same sums for operands of any format: what a matrix unit would do if it took them."""
        return Accumulator._from_c(abi.main().hu_accum_any(self._c))

    @property
    def scaled(self) -> bool:
        """Whether it takes scales besides the operands."""
        return bool(abi.main().hu_accum_is_scaled(abi.address(self._c)))

    @property
    def every(self) -> int:
        """Products that share a scale; 0 where there are none."""
        if not self.scaled:
            return 0
        return self._c.promote if self._c.scaled else self._c.block.every

    @property
    def stochastic(self) -> bool:
        """Whether roundings inside the sums draw random words."""
        return self._c.mode.bits != 0


_TEXT_MAX = 1280  # HU_ACCUM_TEXT_MAX


def _expected(record: s.hu_type) -> Optional[Union[Format, str]]:
    return None if record.kind == s.TYPE_NONE else _element(record)


def explained(error: abi.HalfulpError, model: Accumulator, remedy: str) -> abi.HalfulpError:
    """The error of operands that are not what the model takes says what it takes and what to do, which is the caller's
    to know."""
    off_grid = error.status == 'HU_E_GRID' and any(model.operands)
    no_format = error.status == 'HU_E_ACCUM' and model.of_integers
    if not (off_grid or no_format or error.status.startswith('HU_E_OPERAND_')):
        return error
    takes = abi.written(abi.main().hu_accum_takes, _TEXT_MAX, abi.address(model._c))
    made = type(error)('{}; the model takes {}: {}'.format(error, takes, remedy))
    made.status = error.status
    return made


def with_words(model: Any, options: MutableMapping[str, Any]) -> None:
    """Random words are an argument: a model that draws some requires a stream among a call's options, and takes it there."""
    if not model.stochastic:
        return
    if options.get('stream') is None:
        raise abi.HalfulpValueError(
            'stream: {} draws random words; give stream=Stream(key, counter)'.format(model.text))
    options['stream'] = stream_of(options['stream'])


@abi.text_cache(256)
def _parse(text: str) -> s.hu_accum:
    record = s.hu_accum()
    names.parse('accum', 'accum', text, abi.main().hu_accum_parse, record)
    return record


class Model(NamedTuple):
    """A matrix unit: an accumulation model with the operands that its hardware takes."""

    name: str
    accumulator: Accumulator
    a: Union[Format, str]  # a format, or 's8', 'u8', 's4', 'u4', 's32', 'binary64'
    b: Union[Format, str]
    c: Union[Format, str]  # of C and D
    k: int  # depth of the shortest instruction: sums are of a multiple of so many products
    unit: str  # hardware and instruction
    confidence: str  # 'HW' reproduces recorded results, 'SIM' tested on hardware by its authors, 'DOC', 'TABLE', 'OPEN'
    source: str

    @property
    def text(self) -> str:
        """Its name, which every `accum` takes, as it takes the model itself."""
        return self.name


AccumulatorLike = Union[Accumulator, Model, str]


def _element(record: s.hu_type) -> Union[Format, str]:
    return Format._from_c(record.format) if record.kind == s.TYPE_CODES else s.ELEMENTS[record.kind]


def _model(record: s.hu_accum_preset) -> Model:
    return Model(record.name.decode(), Accumulator._from_c(record.accum), _element(record.a), _element(record.b),
                 _element(record.c), record.k, record.unit.decode(), record.confidence.decode(), record.source.decode())


def model(name: str) -> Model:
    """The matrix unit of that name; HalfulpValueError where there is no such unit."""
    record = s.hu_accum_preset()
    status = abi.main().hu_accum_preset_find(ctypes.byref(record), abi.raw_text('name', name))
    if status != s.OK:
        abi.check(status, 'name', '; '.join(part for part in (repr(name), names.near(name, names.models())) if part))
    return _model(record)


def models() -> List[Model]:
    """All matrix units that are modelled (docs/accumulators.md)."""
    library, rows = abi.main(), []
    for place in range(library.hu_accum_preset_count()):
        record = s.hu_accum_preset()
        abi.check(library.hu_accum_preset_at(ctypes.byref(record), place), 'models')
        rows.append(_model(record))
    return rows


class Watch:
    """What happened inside the sums of a call that is given ``watch=``, before the last rounding (docs/numerics.md
    section 11.7). Counts are added to.

    Attributes
    ----------
    additions : int
        A finite addend that is not 0 met a finite accumulator.
    swamped : int
        Of these: the accumulator kept its value.
    overflows : int
        The new accumulator was beyond its format's range.
    gap : int
        Most binades between an accumulator and an addend.

    Two are equal where all of these are; copies and pickles keep them.
    """

    __slots__ = ('_c',)

    def __init__(self) -> None:
        self._c = s.hu_watch()

    @property
    def additions(self) -> int:
        return self._c.additions

    @property
    def swamped(self) -> int:
        return self._c.swamped

    @property
    def overflows(self) -> int:
        return self._c.overflows

    @property
    def gap(self) -> int:
        return self._c.gap

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Watch) and bytes(self._c) == bytes(other._c)

    __hash__ = None  # type: ignore[assignment]  # counts change

    def __reduce__(self) -> Tuple[Any, ...]:
        return _watched, (bytes(self._c),)

    def __repr__(self) -> str:
        return 'Watch(additions={}, swamped={}, overflows={}, gap={})'.format(self.additions, self.swamped,
                                                                              self.overflows, self.gap)


def _watched(raw: bytes) -> Watch:
    made = Watch()
    made._c = s.hu_watch.from_buffer_copy(raw)
    return made
