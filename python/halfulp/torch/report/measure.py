# SPDX-License-Identifier: MIT
"""How far operands and results of products lie from what they were before they were rounded."""
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from .. import _convolution, _product, _records, ops
from .._forward import rows_rounded

LOWEST, HIGHEST = -150, 130  # exponents of float32, and one beyond at each end
_PLAIN, _PLAIN64 = 'keep|keep|fp32|keep', 'keep|keep|fp64|keep'


class Measured(NamedTuple):
    """Of one tensor: squares of its numbers and of the errors (finite ones), and how many numbers have each exponent,
    before and after, zeros first."""
    signal: float
    noise: float
    before: List[int]
    after: List[int]


def _exponents(x: Tensor) -> List[int]:
    finite = x[torch.isfinite(x)]
    some = finite[finite != 0]
    places = (torch.frexp(some)[1] - 1).clamp(LOWEST, HIGHEST) - LOWEST + 1
    counts = torch.bincount(places.to(torch.int64).cpu(), minlength=HIGHEST - LOWEST + 2)
    counts[0] = finite.numel() - some.numel()
    return counts.tolist()


def compared(x: Tensor, z: Tensor) -> Measured:
    """x, and what it was rounded to."""
    before, after = x.detach().double(), z.detach().double()
    error = torch.where(torch.isfinite(before) & torch.isfinite(after), after - before, 0.0)
    signal = torch.where(torch.isfinite(before), before, 0.0)
    return Measured(float(signal.square().sum()), float(error.square().sum()), _exponents(before.float()),
                    _exponents(after.float()))


class _Operand(NamedTuple):
    """Rows along the axis that is summed over, and how they are rounded."""
    rows: Tensor
    text: str
    use: int


def _turned(x: Tensor) -> Tensor:
    return x.transpose(-1, -2)


def _pixels(x: Tensor, down: bool = False) -> Tensor:
    rows = _convolution._pixels(x)
    return (rows.t() if down else rows).contiguous()


def _texts(text: str) -> Tuple[str, str]:
    return tuple(text.split('|')[:2])  # type: ignore[return-value]


def _pair(a: Tensor, b: Tensor, text: str, uses: Sequence[int]) -> Tuple[_Operand, _Operand]:
    left, right = _texts(text)
    return _Operand(a, left, uses[0]), _Operand(b, right, uses[1])


def _operands(name: str, args: Sequence[Any]) -> List[Tuple[_Operand, _Operand]]:
    """Of each product that an operator makes, as the operator rounds them."""
    if name == 'matmul':
        return [_pair(args[0], _turned(args[1]), args[4], args[8])]
    if name == 'convolution':
        return [_pair(_pixels(args[0]), _turned(args[1]), args[4], ops.FORWARD)]
    if name == 'transposed':
        return [_pair(args[0], args[1], args[4], ops.FORWARD)]
    g, x, w, made = args[0], args[1], args[2], []
    of_x, of_w = args[-3:-1]
    if name == 'convolution_back':
        pairs = ((g, w), (_pixels(x, True), _turned(g)))
    else:
        pairs = ((_pixels(g), _turned(w)), (_turned(x), _pixels(g, True)))
    if of_x:
        made.append(_pair(*pairs[0], args[5], ops.GRAD_A))
    if of_w:
        made.append(_pair(*pairs[1], args[6], ops.GRAD_B))
    return made


def _rounded(one: _Operand, stream: Optional[Tensor], apart: bool) -> Tensor:
    wide = one.rows if one.rows.dtype == torch.float64 else one.rows.float()
    return rows_rounded(wide, one.text, stream, one.use, apart)


def _plainly(name: str, operator: Any, args: Sequence[Any]) -> List[Tensor]:
    """The results of an operator without roundings."""
    wide = next(x for x in args if isinstance(x, Tensor)).dtype == torch.float64
    plain, made = (_PLAIN64 if wide else _PLAIN), list(args)
    for i, argument in enumerate(made):
        if isinstance(argument, str) and '|' in argument:
            made[i] = plain
    made[made.index('zero_outside') if 'zero_outside' in made else -1] = (
        'straight_through' if 'zero_outside' in made else made[-1])
    made[-1] = False
    at = 3 if name.endswith('_back') else 2  # where the stream stands
    made[at] = None
    if not name.endswith('_back'):
        made[at + 1] = None
    results = operator(*made)
    if not name.endswith('_back'):
        return [results[0]]
    return [z for z, wanted in zip(results[:2], args[-3:-1]) if wanted]


class Three(NamedTuple):
    """Of a product: both operands and the result."""
    a: Measured
    b: Measured
    result: Measured


def of_products(name: str, operator: Any, args: Sequence[Any], result: Any) -> List[Three]:
    """Of each product that an operator of this package has made."""
    at = 3 if name.endswith('_back') else 2
    made = []
    with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
        results = [result[0]] if not name.endswith('_back') else [
            z for z, wanted in zip(result[:2], args[-3:-1]) if wanted]
        texts = [argument for argument in args if isinstance(argument, str) and '|' in argument]
        texts = texts[1:] if name.endswith('_back') else texts
        for (a, b), z, plain, text in zip(_operands(name, args), results, _plainly(name, operator, args), texts):
            product = _records.product(text)
            apart = product.sum.scaled is not None
            a, b = (one._replace(rows=rows) for one, rows in zip((a, b), _product.prepared(a.rows, b.rows, product)))
            made.append(Three(compared(a.rows, _rounded(a, args[at], apart)),
                              compared(b.rows, _rounded(b, args[at], apart)), compared(plain, z)))
    return made


def of_rounding(args: Sequence[Any], result: Any) -> Measured:
    return compared(args[0], result[0])
