# SPDX-License-Identifier: MIT
"""Formats side by side on arrays, as tables and drawings, and accumulation models side by side on a product."""
from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi as abi
from . import _pictures as pictures
from ._elementwise import how, unknown
from ._host import float32
from ._pictures import Picture
from ._targets import Axis, Target, axes_of, sides, target_of, warned, whole
from ._views import numbers
from .accum import Accumulator, AccumulatorLike, Model, Watch
from .arrays import encode, quantize
from .conversion import Preset, names_preset, preset_of
from .events import Events
from .format import FormatLike
from .gemm import gemm
from .mode import ModeLike, shared, split
from .options import OF_MODE, Options, with_options
from .scaling import Rounding, Scaling

if TYPE_CHECKING:
    from typing_extensions import Unpack


class _Table:
    """Rows of named figures, printed as text and, in a notebook, as HTML."""

    rows: Tuple[Any, ...]

    def __init__(self, rows: Sequence[Any]) -> None:
        self.rows = tuple(rows)

    def __iter__(self):
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place):
        return self.rows[place]

    def _cells(self) -> List[List[str]]:
        head = list(self.rows[0]._fields) if self.rows else []
        cells = [head] + [[_shown(figure) for figure in row] for row in self.rows]
        kept = [i for i in range(len(head)) if any(row[i] is not None for row in self.rows)]
        return [[row[i] for i in kept] for row in cells]

    def __str__(self) -> str:
        cells = self._cells()
        texts = sum(isinstance(figure, str) for figure in self.rows[0]) if self.rows else 0
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        lines = ['  '.join(cell.ljust(width) if i < texts else cell.rjust(width)
                           for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in cells]
        return '\n'.join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def line(tag: str, row: Sequence[str]) -> str:
            return '<tr>{}</tr>'.format(''.join('<{0}>{1}</{0}>'.format(tag, html.escape(cell)) for cell in row))
        head, *body = self._cells()
        return '<table><thead>{}</thead><tbody>{}</tbody></table>'.format(
            line('th', head), ''.join(line('td', row) for row in body))


def _shown(figure: Any) -> str:
    return '{:.4g}'.format(figure) if isinstance(figure, float) else '' if figure is None else str(figure)


def _only(name: str, options: Mapping[str, Any], known: Sequence[str] = ('stream', 'threads')) -> None:
    for option in options:
        if option not in known:
            raise unknown(name, option, known)


# ---- formats ----
class Compared(NamedTuple):
    """What one format does to one tensor, as a row of `compare`.

    sqnr_db : the signal-to-quantization-noise ratio in dB over elements that are finite before and after; infinite
        without an error
    bits : bits per element, scales included
    zeros : how many results are 0
    overflow : how many elements were beyond the format's range (of scaled formats: beyond the elements' range)
    max_error : the largest magnitude of a difference
    rounded_twice : of a chain of roundings ("path(...)", some presets) how many elements get another code than by its
        last rounding alone; else None, and no column of the table
    """

    tensor: str
    format: str
    sqnr_db: float
    bits: float
    zeros: int
    overflow: int
    max_error: float
    rounded_twice: Optional[int] = None


class Comparison(_Table):
    """The rows of `compare`; `str` and notebooks show them as a table."""


def _bits(kind: Target, rows: int, cols: int) -> float:
    """Bits of a matrix with the codes of each row packed densely, and its scales."""
    if isinstance(kind, Rounding):
        return kind.bits(rows, cols)
    if isinstance(kind, Scaling):
        sizes = kind.sizes(rows, cols)
        codes = sizes.packed if kind.element.width <= 8 else sizes.codes
        return 8 * (codes + sizes.scales) + 32 * kind.two_level
    if isinstance(kind, str):
        if kind.startswith('hifloat4'):
            return _codes(4, 8, rows, cols) + 32 * rows * -(-cols // 64)
        return _codes(8, 8, rows, cols) + 64  # S2FP8: two numbers of 32 bits, alpha and beta
    return _codes(kind.width, kind.storage, rows, cols)


def _codes(width: int, storage: int, rows: int, cols: int) -> int:
    return 8 * rows * -(-cols * width // 8) if width <= 8 else rows * cols * storage


def _named(format: Any) -> str:
    return format if isinstance(format, str) else getattr(format, 'name', None) or getattr(format, 'text', str(format))


def _target(format: Any) -> Target:
    format, _ = split('format', format, None)
    found = whole(format)
    if found is not None:
        return found[0]
    given = preset_of(format, None, {})
    return target_of(format) if given is None else given.format


def _errors(x: np.ndarray, y: np.ndarray) -> Tuple[float, float]:
    """The ratio in dB and the largest error."""
    a, b = x.astype(np.longdouble), y.astype(np.longdouble)
    good = np.isfinite(a) & np.isfinite(b)
    a, error = a[good], b[good] - a[good]
    noise = np.sum(error * error)
    ratio = np.sum(a * a) / noise if noise > 0 else None
    sqnr = math.inf if ratio is None else float(10 * np.log10(ratio)) if ratio > 0 else -math.inf
    return sqnr, float(np.max(np.abs(error))) if error.size else 0.0


def _compared(tensor: str, x: np.ndarray, format: Any, mode: Any, axis: Axis,
              options: Mapping[str, Any]) -> Compared:
    events, kind = Events(), _target(format)
    axes = axes_of('{}: axis'.format(tensor), axis, x.ndim)
    warned(tensor, kind, axis, x.shape, 4)
    y = quantize(x, format, mode, axis=axes or None, events=events, **options)
    sqnr, most = _errors(x, y)
    return Compared(tensor, _named(format), sqnr, _bits(kind, *sides(x.shape, axes)) / x.size if x.size else 0.0,
                    int(np.count_nonzero(y == 0)), events.overflow, most, _twice(x, format, options))


def _twice(x: np.ndarray, format: Any, options: Mapping[str, Any]) -> Optional[int]:
    given = preset_of(format, None, {}) if whole(split('format', format, None)[0]) is None else None
    if given is None or not given.rounds_before:
        return None
    return int(np.count_nonzero(encode(x, given, **options) != encode(x, given.once, **options)))


@with_options('stream', 'threads')
def compare(x: Any, formats: Sequence[Any], mode: Optional[ModeLike] = None, *,
            axis: Union[Axis, Mapping[str, Axis]] = None, **options: Unpack[Options]) -> Comparison:
    """Formats side by side: each tensor is rounded into each format, and the errors are measured.

    Parameters
    ----------
    x : array, or a dict of arrays by their names
        float32, float16, bfloat16 or a type of ml_dtypes; of torch's tensors also those that require a gradient, as
        ``dict(model.named_parameters())``.
    formats : list of what `quantize` takes
        Such as ``['nvfp4', 'mxfp8_e4m3', 'float8_e4m3fn', 'posit8']``.
    mode : Mode or str, optional
        The rounding, "rne" without it. Presets round as they say, so none may be given beside a preset.
        Every tensor and format takes the same random words of `stream`.
    axis : int, tuple of int, or a dict of these by the tensors' names, optional
        Where blocks of scaled formats lie, as in `quantize`: name what the product sums over. The last axis without it,
        with a warning for arrays of four axes or more.

    Returns
    -------
    Comparison
        A row (`Compared`) per tensor and format. ``print`` and notebooks show a table; ``for row in ...`` and
        ``row._asdict()`` give the figures.
    """
    if not isinstance(formats, (list, tuple)):
        raise abi.HalfulpTypeError("formats: give a list, such as [{!r}, 'nvfp4']".format(formats))
    tensors = x if isinstance(x, Mapping) else {'x': x}
    _only('compare', options)
    if options.get('stream') is not None:
        options['stream'] = shared(options['stream'])
    axes = axis if isinstance(axis, Mapping) else dict.fromkeys(tensors, axis)
    for name in axes:
        if name not in tensors:
            raise abi.HalfulpValueError('axis: there is no tensor {!r}'.format(name))
    return Comparison([_compared(str(name), float32(str(name), _detached(one)), format, mode, axes.get(name), options)
                       for name, one in tensors.items() for format in formats])


def _detached(x: Any) -> Any:
    return x.detach() if getattr(x, 'requires_grad', False) else x  # a tensor of torch


# ---- accumulation models ----
class SumError(NamedTuple):
    """What one accumulation model does to a product, as a row of `gemm_errors`.

    max, rms : the largest and the root mean square of the differences from the reference
    ulps : the largest difference in units in the last place of binary32 at the reference
    swamped : additions that left the accumulator unchanged
    differing : how many elements differ from the reference
    """

    accum: str
    max: float
    rms: float
    ulps: float
    swamped: int
    differing: int


class SumErrors(_Table):
    """The rows of `gemm_errors`; `str` and notebooks show them as a table."""


@with_options('stream', 'threads')
def gemm_errors(a: Any, b: Any, accums: Sequence[AccumulatorLike], *, against: AccumulatorLike = 'exact',
                mode: ModeLike = 'rne', a_format: Optional[FormatLike] = None, b_format: Optional[FormatLike] = None,
                **options: Unpack[Options]) -> SumErrors:
    """How far a product A B under several accumulation models is from the same product under `against`.

    Use it to choose an accumulator. Every model gets the same operands: give values that all of them take (round them
    with `quantize` first), or write "any(MODEL)".

    Parameters
    ----------
    a, b : arrays
        As `gemm` takes them. The results are binary32.
    accums : list of Accumulator, Model or str
        Such as ``['fp32', 'seq(binary16)', 'any(nv.hopper.e4m3.f32.wgmma)']``.
    against : Accumulator, Model or str, default "exact"
        The reference.
    mode : Mode or str, default "rne"
        The last rounding, into binary32.
    a_format, b_format : Format, str or dtype, optional
        The formats of a and b, as in `gemm`.

    Returns
    -------
    SumErrors
        A row (`SumError`) per model. Differences are taken over elements that are finite in both results.
    """
    if not isinstance(accums, (list, tuple)) or isinstance(accums, Model):
        raise abi.HalfulpTypeError('accums: give a list of models')
    _only('gemm_errors', options)
    more = dict(options, mode=mode, a_format=a_format, b_format=b_format)
    if more.get('stream') is not None:
        more['stream'] = shared(more['stream'])
    expected = np.asarray(gemm(a, b, accum=against, **more), np.float64)
    return SumErrors([_sum_error(a, b, accum, expected, more) for accum in accums])


def _sum_error(a: Any, b: Any, accum: AccumulatorLike, expected: np.ndarray, options: Mapping[str, Any]) -> SumError:
    watch = Watch()
    got = np.asarray(gemm(a, b, accum=accum, watch=watch, **options), np.float64)
    good = np.isfinite(got) & np.isfinite(expected)
    error = np.abs(got[good] - expected[good])
    differing = int(np.count_nonzero(~((got == expected) | (np.isnan(got) & np.isnan(expected)))))
    unit = np.spacing(np.abs(expected[good]).astype(np.float32)).astype(np.float64)
    figures = (0.0, 0.0, 0.0)
    if error.size:
        figures = (float(error.max()), float(np.sqrt(np.mean(error * error))), float((error / unit).max()))
    return SumError(accum if isinstance(accum, str) else accum.text, *figures,
                    watch.swamped, differing)


# ---- drawings: those of `halfulp plot` ----

def _name(thing: Any) -> str:
    """What the command calls a format."""
    if isinstance(thing, Preset):
        return thing.name
    made = thing if isinstance(thing, str) else target_of(thing)
    return made if isinstance(made, str) else getattr(made, 'name', None) or made.text


def _has_blocks(text: str) -> bool:
    return not names_preset(text) and isinstance(target_of(text), Scaling)


def _matrix(x: Any, blocks: bool, name: str) -> pictures.Data:
    taken = numbers('x', x)
    wide = taken.name == 'float64' and taken.array is not None and taken.exact is None and not blocks
    full = taken.array if wide else float32('x', x)
    assert full is not None
    cols = full.shape[-1] if full.ndim else 1
    abi.raw_text('name', name)
    return pictures.Data(full.reshape(full.size // cols if cols else 0, cols), name)


def _one_mode(listed: Sequence[Any], mode: Optional[ModeLike]) -> Tuple[List[Any], ModeLike]:
    """The formats without modes, and the mode that texts among them say."""
    pairs = [split('formats', one, None) for one in listed]
    ways = [way for _, way in pairs]
    said = next((way for way in ways if way is not None), None)
    if said is not None and (mode is not None or any(way != said for way in ways)):
        raise abi.HalfulpValueError('formats: a drawing has one mode; let mode= alone say it')
    way = mode if said is None else said
    return [head for head, _ in pairs], 'rne' if way is None else way


@with_options(*OF_MODE)
def plot(x: Any, formats: Any, mode: Optional[ModeLike] = None, *, name: str = 'x', **options: 'Unpack[Options]') -> Picture:
    """Draw the positive values of formats on a logarithmic line, and what becomes of an array in each.

    The drawing is the one of `halfulp plot`: a histogram of the magnitudes of x in quarters of a binade, the values of
    each format below it, and a table of the elements that become normal or subnormal numbers or zero or are beyond the
    range, with the signal-to-noise ratio (SQNR). Of a scaled format the line has the values of the one block that has
    the largest magnitude of x, under its scales (without x, of a block whose largest magnitude is 1). A drawing of one
    scaled format also has a histogram of the magnitudes that elements have as multiples of their scales.

    Parameters
    ----------
    x : array of float16, bfloat16, float32, float64 or integers, or None
        The numbers, of any shape, on the host; it is read alone. Blocks of scaled formats lie along its last axis. None
        draws the formats alone. Numbers that are rounded into a scaled format must be those of float32.
    formats : format or list of up to 6
        What `Format`, `Number` or `Scaling` takes, or one of these: a name, a text, a type of NumPy, ml_dtypes or
        torch. S2FP8, HiFloat4, blocks of ggml and presets have no line of values: HalfulpValueError says why.
    mode : Mode or str, default 'rne'
        How elements are rounded. The text of a format may say it ('float8_e4m3fn,rtz'), for all formats of the drawing.
    name : str
        What the drawing calls the array.

    Returns
    -------
    Picture
        An SVG, in `svg`; a notebook shows it.
    """
    several = isinstance(formats, (list, tuple)) and not isinstance(formats, Preset)
    listed: Sequence[Any] = formats if several else [formats]
    _only('plot', options, OF_MODE)
    listed, mode = _one_mode(listed, mode)
    way, texts = how(mode, options, [], 'plot'), [_name(one) for one in listed]
    data = None if x is None else _matrix(x, any(map(_has_blocks, texts)), name)
    return pictures.plot(texts, way.mode._c, way.stream._record(), data)
