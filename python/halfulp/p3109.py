# SPDX-License-Identifier: MIT
"""The operations of IEEE P3109, draft standard D1, on codes (halfulp/p3109.h; docs/p3109.md).

    halfulp.p3109.compute('Divide', a, b, of='binary8p3se')      # codes; x / 0 is NaN

Operations have the draft's own names, which `operations()` lists. Operands are arrays of codes as in halfulp.codes.
"""
from __future__ import annotations

import functools
from typing import Any, Dict, NamedTuple, Optional

import numpy as np

from . import _abi as abi
from . import _structs as s
from ._elementwise import shape_of
from ._pointer import How
from ._views import wide_code
from .codes import Formats, operands_of
from .format import Format, FormatLike
from .mode import ModeLike, StreamLike, mode_of

RULES = ('d1', 'july-2026', 'v4.0')
_GIVES = ('number', 'neighbour', 'truth', 'class')
CLASSES = ('NaN', 'negative infinity', 'negative normal', 'negative subnormal', 'zero', 'positive subnormal', 'positive normal',
           'positive infinity')


class Operation(NamedTuple):
    """An operation of the draft.

    group : "arithmetic", "transcendental", "extrema", "comparison", "classification" or "conversion"
    operands : how many it has
    gives : "number" (codes of `to`), "neighbour" (codes of the operand's format), "truth" (booleans) or "class"
        (places in CLASSES)
    """

    name: str
    group: str
    operands: int
    gives: str


@functools.lru_cache(maxsize=1)
def operations() -> Dict[str, Operation]:
    """All operations by name, in the order of the header."""
    found, place = {}, 0
    while True:
        one = abi.main().hu_p3109_at(place)
        if not one.name:
            return found
        name = one.name.decode()
        found[name] = Operation(name, one.group.decode(), one.operands, _GIVES[one.gives])
        place += 1


def _found(operation: str) -> Operation:
    found = operations().get(operation) if isinstance(operation, str) else None
    if found is None:
        raise abi.HalfulpValueError('operation: {!r} is no operation of the draft; halfulp.p3109.operations() lists them'.format(operation))
    return found


def _result_type(op: Operation, to: Format, first: Format) -> Any:
    if op.gives == 'truth':
        return np.dtype(bool)
    return {'number': to.dtype, 'neighbour': first.dtype, 'class': np.dtype(np.uint8)}[op.gives]


def compute(operation: str, *operands: Any, of: Formats = None, to: Optional[FormatLike] = None, mode: ModeLike = 'rne',
            rules: str = 'd1', packed: bool = False, stream: Optional[StreamLike] = None, threads: int = 1) -> Any:
    """The operation element by element; shapes broadcast.

    Parameters
    ----------
    operation : str
        Its name in the draft, "ScaledAdd".
    operands : array of codes
        As many as the operation has.
    of : format, or one for each operand
        Their formats, where the arrays do not say them.
    to : format, optional
        Of the result; the first operand's without it. It plays no part in neighbours, comparisons and classes.
    mode : Mode or str
        The projection: rounding and saturation. saturate="default" is the draft's SatNone, "finite" SatFinite, "propagate"
        SatPropagate; "sra:N", "srb:N", "src:N" are StochasticA, B and C.
    rules : str
        Which text decides where they differ: "d1", draft standard D1; "july-2026", the formal specification of 7 July 2026; "v4.0",
        the report of 26 June 2026.
    packed : bool
        All operands are bytes of packed codes, as `halfulp.decode` takes them.
    stream : Stream or (key, counter)
        Random words of a stochastic mode: element i in C order has word i.
    threads : int
        They change no result.

    Returns
    -------
    array of codes, of booleans or of places in CLASSES
    """
    op = _found(operation)
    if len(operands) != op.operands:
        raise abi.HalfulpTypeError('{} has {} operands, not {}'.format(operation, op.operands, len(operands)))
    rule = abi.word('rules', rules, RULES)
    names = ['x', 'y', 'z', 'w'][:op.operands]
    views, formats = operands_of(names, operands, of, {}, packed)
    if any(view.cuda is not None for view in views):
        raise abi.HalfulpTypeError('{}: operands on a device; there is no such call'.format(operation))
    shape = shape_of(names, views)
    way = mode_of(mode)
    if way.stochastic and stream is None:
        raise abi.HalfulpValueError('stream: {} draws random words; give stream=Stream(key, counter)'.format(way.round))
    goal = formats[0] if to is None else to if isinstance(to, Format) else Format(to)
    result = np.empty(shape, _result_type(op, goal, formats[0]))
    whole = [view.broadcast(name, shape).copied() for name, view in zip(names, views)]
    records = (s.hu_p3109_array * op.operands)(*(s.hu_p3109_array(view.address, 1, format_._c)
                                                 for view, format_ in zip(whole, formats)))
    projection = s.hu_p3109_projection(way._c, rule)
    exec_ = How(way, stream=stream, threads=threads).exec
    try:
        abi.check(abi.main().hu_p3109_compute_n(abi.main().hu_p3109_find(operation.encode()), result.size,
            result.ctypes.data, goal._c, projection, abi.address(records), abi.address(exec_)), operation)
    except abi.HalfulpError as error:
        raise wide_code(error, [(view.array, view.kind) for view in views]) from None
    return result[()] if shape == () else result
