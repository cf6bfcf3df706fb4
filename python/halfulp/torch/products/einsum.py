# SPDX-License-Identifier: MIT
"""Sums of products that an equation states: torch.einsum, torch.tensordot."""
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .call import Low
from .table import rule

_FIRST = 1 << 20  # labels of the axes that three points stand for


def _labels(text: str, axes: int, dots: int) -> List[Any]:
    """The label of each axis of an operand; `dots`: how many axes three points stand for at most."""
    before, found, after = text.partition('...')
    names = list(before) + list(after)
    if not found:
        return names
    here = axes - len(names)
    return list(before) + [_FIRST + dots - here + i for i in range(here)] + list(after)


def _parsed(equation: str, operands: Sequence[Tensor]) -> Tuple[List[List[Any]], List[Any]]:
    left, arrow, right = equation.replace(' ', '').partition('->')
    texts = left.split(',')
    dots = max([x.dim() - len(text.replace('...', '')) for text, x in zip(texts, operands) if '...' in text], default=0)
    labels = [_labels(text, x.dim(), dots) for text, x in zip(texts, operands)]
    if arrow:
        return labels, _labels(right, len(right.replace('...', '')) + (dots if '...' in right else 0), dots)
    every = [label for one in labels for label in one]
    return labels, [_FIRST + i for i in range(dots)] + sorted(
        {label for label in every if isinstance(label, str) and every.count(label) == 1})


def _diagonals(x: Tensor, labels: List[Any]) -> Tuple[Tensor, List[Any]]:
    """One axis for a label that an operand has twice."""
    labels = list(labels)
    for label in list(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            x = x.diagonal(0, i, j)
            labels = [one for n, one in enumerate(labels) if n not in (i, j)] + [label]
    return x, labels


def _summed(x: Tensor, labels: List[Any], kept: Sequence[Any]) -> Tuple[Tensor, List[Any]]:
    """Axes that nothing else has are added up."""
    gone = [i for i, label in enumerate(labels) if label not in kept]
    return (x.sum(gone), [label for label in labels if label in kept]) if gone else (x, labels)


def _pair(low: Low, x: Tensor, of_x: List[Any], y: Tensor, of_y: List[Any], kept: Sequence[Any]) -> Tuple[Tensor, List[Any]]:
    """Two operands as one batch of products. kept: labels that the result or later operands have."""
    sizes: Dict[Any, int] = {}
    for side, labels in ((x, of_x), (y, of_y)):
        for label, n in zip(labels, side.shape):
            sizes[label] = n if sizes.get(label, 1) == 1 else sizes[label]
    for label in list(of_x):  # an axis of one element that is longer in the other operand is repeated
        if label in of_y:
            x = x.expand([sizes[k] if k == label else n for k, n in zip(of_x, x.shape)])
            y = y.expand([sizes[k] if k == label else n for k, n in zip(of_y, y.shape)])
    x, of_x = _summed(x, of_x, list(of_y) + list(kept))
    y, of_y = _summed(y, of_y, list(of_x) + list(kept))
    batch = [k for k in of_x if k in of_y and k in kept]
    terms = [k for k in of_x if k in of_y and k not in kept]
    rows, cols = [k for k in of_x if k not in of_y], [k for k in of_y if k not in of_x]
    made = batch + rows + cols
    if not terms:  # nothing is summed: a multiplication, which is no product of matrices
        a = x.permute([of_x.index(k) for k in batch + rows]).reshape([sizes[k] for k in batch + rows] + [1] * len(cols))
        b = y.permute([of_y.index(k) for k in batch + cols]).reshape(
            [sizes[k] for k in batch] + [1] * len(rows) + [sizes[k] for k in cols])
        return a * b, made
    def side(*groups: List[Any]) -> List[int]:
        return [int(torch.Size([sizes[k] for k in group]).numel()) for group in groups]
    a = x.permute([of_x.index(k) for k in batch + rows + terms]).reshape(side(batch, rows, terms))
    b = y.permute([of_y.index(k) for k in batch + terms + cols]).reshape(side(batch, terms, cols))
    z = low.product(a, b) if batch else low.product(a[0], b[0])
    return z.reshape([sizes[k] for k in made]), made


@rule(torch.einsum, torch.functional.einsum)
def einsum(low: Low, equation: Any, *operands: Any) -> Tensor:
    """Operands are taken from the left to the right, two at a time."""
    if not isinstance(equation, str):
        equation, operands = _of_lists(equation, operands)
    elif len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    labels, result = _parsed(equation, operands)
    pairs = [_diagonals(x, one) for x, one in zip(operands, labels)]
    x, of_x = pairs[0]
    for i, (y, of_y) in enumerate(pairs[1:]):
        later = [label for _, one in pairs[i + 2:] for label in one]
        x, of_x = _pair(low, x, of_x, y, of_y, result + later)
    x, of_x = _summed(x, of_x, result)
    return x.permute([of_x.index(label) for label in result])


def _of_lists(first: Tensor, rest: Sequence[Any]) -> Tuple[str, Tuple[Tensor, ...]]:
    """The form with lists of numbers: operand, its axes, ..., axes of the result."""
    def text(axes: Sequence[Any]) -> str:
        return ''.join('...' if one is Ellipsis else chr(ord('A') + one) if one < 26 else chr(ord('a') + one - 26)
                       for one in axes)
    given = [first, *rest]
    equation = ','.join(text(axes) for axes in given[1::2])
    if len(given) % 2:
        equation = ','.join(text(axes) for axes in given[1:-1:2]) + '->' + text(given[-1])
    return equation, tuple(given[:-1:2] if len(given) % 2 else given[::2])


@rule(torch.tensordot, torch.functional.tensordot)
def tensordot(low: Low, a: Tensor, b: Tensor, dims: Any = 2, out: Optional[Tensor] = None) -> Tensor:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        of_a, of_b = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        of_a, of_b = ([n % x.dim() for n in ([one] if isinstance(one, int) else one)] for one, x in zip(dims, (a, b)))
    left = ['a{}'.format(i) for i in range(a.dim())]
    right = ['b{}'.format(i) for i in range(b.dim())]
    for i, j in zip(of_a, of_b):
        right[j] = left[i]
    result = [k for k in left if k not in right] + [k for k in right if k not in left]
    z, made = _pair(low, a, left, b, right, result)
    z = z.permute([made.index(k) for k in result])
    return z if out is None else out.copy_(z)
