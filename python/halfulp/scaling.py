# SPDX-License-Identifier: MIT
"""Descriptions of scaled tensors and of roundings of whole tensors (halfulp/scaled.h, train/rounding.h)."""
from __future__ import annotations

import functools
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

from . import _abi as abi
from . import _names as names
from . import _pictures as pictures
from . import _structs as s
from ._structs import Value
from .format import Format


class Scaling(Value):
    """How a matrix is cut into blocks, and how each block's scale comes about.

    Parameters
    ----------
    text : str
        A preset ("mxfp8_e4m3", "mxfp4", "nvfp4", "hbfp8", "fp8_tensor", "dsv3_1x128"; see `scalings`), "bfp(m,e,N)", or
        "scaled(FORMAT;scale=FORMAT;block=RxC;rule=RULE;...)", the grammar of halfulp/scaled.h. OCP Microscaling Formats
        1.0; NVIDIA's NVFP4; Drumond et al. 2018 (hybrid block floating point).
    """

    __slots__ = ()

    def __init__(self, text: Union[str, 'Scaling']) -> None:
        self._c = text._c if isinstance(text, Scaling) else _parse(text)

    @property
    def text(self) -> str:
        """The one canonical text; presets are written out."""
        return abi.written(abi.main().hu_scaling_text, 1024, abi.address(self._c))

    @property
    def name(self) -> str:
        """The first name of the catalogue that stands for these parts (`scalings`); without one the text."""
        return _names_of_texts().get(self.text, self.text)

    @property
    def element(self) -> Format:
        """The format of the elements."""
        return Format._from_c(self._c.element)

    @property
    def scale(self) -> Format:
        """The format of the scales."""
        return Format._from_c(self._c.scale)

    @property
    def block(self) -> Tuple[Optional[int], Optional[int]]:
        """Rows and columns of a block; None: all of the matrix."""
        return self._c.rows or None, self._c.cols or None

    @property
    def two_level(self) -> bool:
        """Whether there is a second-level scale for the whole tensor."""
        return bool(self._c.tensor)

    def turned(self) -> 'Scaling':
        """The same with blocks along columns: rows and columns of a block change places."""
        made = Scaling._from_c(self._c)
        made._c.rows, made._c.cols = self._c.cols, self._c.rows
        return made

    def plot(self) -> pictures.Picture:
        """Draw the positive values of a block whose largest magnitude is 1, as `halfulp plot` does; a notebook shows
        it. halfulp.plot draws the values and the magnitudes in use of an array."""
        return pictures.plot([self.name])

    def sizes(self, rows: int, cols: int) -> s.hu_scaled_sizes:
        """What a matrix of rows x cols takes: block_rows x block_cols scales, bytes of codes and of scales, bytes
        packed (fields of hu_scaled_sizes)."""
        sides = (abi.whole(name, side, 0, (1 << 63) - 1) for name, side in (('rows', rows), ('cols', cols)))
        return abi.main().hu_scaled_sizes_of(*sides, abi.address(self._c))


@functools.lru_cache(maxsize=1)
def _names_of_texts() -> Dict[str, str]:
    made: Dict[str, str] = {}
    library = abi.main()
    rows = [library.hu_scaling_at(place) for place in range(library.hu_scaling_count())]
    rows += [library.hu_scaling_rule_at(place) for place in range(library.hu_scaling_rule_count())]
    for row in rows:
        if row.text:
            made.setdefault(Scaling(row.name.decode()).text, row.name.decode())
    return made


@functools.lru_cache(maxsize=1)
def _refused() -> Dict[str, str]:
    """The names of rules that have no text, with the reasons."""
    rows = (abi.main().hu_scaling_rule_at(place) for place in range(abi.main().hu_scaling_rule_count()))
    return {row.name.decode(): row.open.decode() for row in rows if not row.text}


ScalingLike = Union[Scaling, str]


@abi.text_cache(256)
def _parse(text: str) -> s.hu_scaling:
    record = s.hu_scaling()
    if isinstance(text, str) and text in _refused():
        raise abi.HalfulpValueError('scaling: {!r} has no text: {}'.format(text, _refused()[text]))
    names.parse('scaling', 'scaling', text, abi.main().hu_scaling_parse, record)
    return record


class ScalingEntry(NamedTuple):
    """A row of the catalogue of scalings."""

    name: str
    source: str
    open: str  # what the source leaves open and what was decided
    scaling: Scaling


def scalings() -> List[ScalingEntry]:
    """The named scalings: MX, NVFP4 in its variants, block floating point, scaled FP8."""
    library = abi.main()
    rows = (library.hu_scaling_at(place) for place in range(library.hu_scaling_count()))
    return [ScalingEntry(row.name.decode(), row.source.decode(), row.open.decode(),
                         Scaling(row.text.decode())) for row in rows]


class Rule(NamedTuple):
    """A rule by which a program makes scaled tensors."""

    name: str
    source: str  # the program, the file and the commit or version
    open: str  # what differs in the program; without a scaling the reason
    scaling: Optional[Scaling]


def rules() -> List[Rule]:
    """The rules of programs by name (halfulp/scaled.h), two where a CPU and CUDA differ. Each name with a scaling
    is a text for `Scaling`, `halfulp.quantize` and the other calls that take scaled formats."""
    library = abi.main()
    rows = (library.hu_scaling_rule_at(place) for place in range(library.hu_scaling_rule_count()))
    return [Rule(row.name.decode(), row.source.decode(), row.open.decode(),
                 Scaling(row.text.decode()) if row.text else None) for row in rows]


class Rounding(Value):
    """How a whole tensor is rounded: not at all, into a format, a number system, a scaled or an S2FP8 tensor.

    Parameters
    ----------
    text : str
        "keep"; "float8_e5m2,sra:16"; "mxfp8_e4m3,turned"; "s2fp8"; "fp(4,3,4):finite,over=inf,nan=keep". The grammar
        is in halfulp/train/rounding.h.

    Requires libhalfulp-train.
    """

    __slots__ = ('_text',)

    def __init__(self, text: Union[str, 'Rounding'] = 'keep') -> None:
        self._text: str = text.text if isinstance(text, Rounding) else text
        self._c = _rounding(self._text)

    @property
    def text(self) -> str:
        """The text that was given."""
        return self._text

    @property
    def stochastic(self) -> bool:
        """Whether random words are drawn."""
        return self._c.mode.bits != 0

    def bits(self, rows: int, cols: int) -> int:
        """Bits that rows x cols numbers take so rounded: codes packed densely, and scales."""
        return abi.train().hu_rounding_bits(rows, cols, abi.address(self._c))


RoundingLike = Union[Rounding, str]


@abi.text_cache(256)
def _rounding(text: str) -> s.hu_rounding:
    record = s.hu_rounding()
    names.parse('rounding', 'rounding', text, abi.train().hu_rounding_parse, record)
    return record
