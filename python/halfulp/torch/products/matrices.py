# SPDX-License-Identifier: MIT
"""Products of matrices and vectors, and sums of them with something else."""
from typing import Any, List, Optional, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from .call import Low, Stays, autocast
from .table import BY_NAME, delivered, of_aten, rule


@rule(F.linear, of_aten('linear'))
def linear(low: Low, input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    if weight.dim() == 1:  # one output, without an axis for it
        z = low.linear(input, weight.unsqueeze(0), None).squeeze(-1)
        return z if bias is None else z + autocast(bias)[0]
    if bias is not None and bias.dim() != 1:
        return low.linear(input, weight, None) + autocast(bias)[0]
    return low.linear(input, weight, bias)


def _product(low: Low, a: Tensor, b: Tensor) -> Tensor:
    """Of any numbers of axes, as torch.matmul has them."""
    if a.dim() == 0 or b.dim() == 0:
        raise Stays('operands without axes')
    left, right = a.dim() == 1, b.dim() == 1
    a, b = a.unsqueeze(0) if left else a, b.unsqueeze(1) if right else b
    if a.shape[-1] != b.shape[-2]:
        raise Stays('shapes that do not go together')  # torch says so
    if b.dim() > 2 and a.dim() == 2:
        a = a.expand(*b.shape[:-2], *a.shape)
    z = low.product(a, b)
    z = z.squeeze(-1) if right else z
    return z.squeeze(-1 if right else -2) if left else z


_METHODS = (torch.Tensor.matmul, torch.Tensor.__matmul__, torch.Tensor.mm, torch.Tensor.bmm, torch.Tensor.mv,
            torch.Tensor.dot, torch.Tensor.vdot)
_FUNCTIONS = (torch.matmul, torch.mm, torch.bmm, torch.mv, torch.dot, torch.vdot, torch.linalg.matmul)


@rule(*_METHODS, *_FUNCTIONS, *(of_aten(name) for name in ('matmul', 'mm', 'bmm', 'mv', 'dot', 'vdot')))
def matmul(low: Low, input: Tensor, other: Optional[Tensor] = None, *, mat2: Optional[Tensor] = None,
           vec: Optional[Tensor] = None, tensor: Optional[Tensor] = None, out: Optional[Tensor] = None) -> Tensor:
    second = next(x for x in (other, mat2, vec, tensor) if x is not None)
    return delivered(_product(low, input, second), out)


@rule(torch.Tensor.__rmatmul__)
def reversed_matmul(low: Low, input: Tensor, other: Tensor) -> Tensor:
    return _product(low, other, input)


@rule(torch.Tensor.inner, torch.inner, of_aten('inner'))
def inner(low: Low, input: Tensor, other: Tensor, *, out: Optional[Tensor] = None) -> Tensor:
    if input.dim() == 0 or other.dim() == 0:
        raise Stays('operands without axes')
    z = _product(low, input.reshape(-1, input.shape[-1]), other.reshape(-1, other.shape[-1]).t())
    return delivered(z.reshape(input.shape[:-1] + other.shape[:-1]), out)


@rule(torch.linalg.vecdot)
def vecdot(low: Low, x: Tensor, y: Tensor, *, dim: int = -1, out: Optional[Tensor] = None) -> Tensor:
    x, y = torch.broadcast_tensors(x, y)
    x, y = x.movedim(dim, -1), y.movedim(dim, -1)
    return delivered(_product(low, x.unsqueeze(-2), y.unsqueeze(-1)).squeeze(-1).squeeze(-1), out)


@rule(torch.chain_matmul)
def chain(low: Low, *matrices: Tensor, out: Optional[Tensor] = None) -> Tensor:
    return multi_dot(low, matrices, out=out)


@rule(torch.linalg.multi_dot)
def multi_dot(low: Low, tensors: Sequence[Tensor], *, out: Optional[Tensor] = None) -> Tensor:
    """From the left to the right, whatever is shortest."""
    z = tensors[0]
    for x in tensors[1:]:
        z = _product(low, z, x)
    return delivered(z, out)


# ---- with something added: beta C + alpha A B ----

def _sum(c: Tensor, z: Tensor, beta: Any, alpha: Any) -> Tensor:
    """In the type of the product, which torch's function rounds once more."""
    c, = autocast(c)
    z = z if alpha == 1 else z * alpha
    if beta == 0:
        return z + torch.zeros_like(c)
    return z + (c if beta == 1 else c * beta)


def _with_sum(low: Low, input: Tensor, a: Tensor, b: Tensor, beta: Any, alpha: Any) -> Tensor:
    if input.dim() == 1 and a.dim() == 2 and b.dim() == 2 and alpha == beta == 1:  # a layer's bias, row by row
        return low.linear(a, b.t(), input) if input.shape[0] == b.shape[1] else _product(low, a, b) + autocast(input)[0]
    return _sum(input, _product(low, a, b), beta, alpha)


@rule(torch.addmm, torch.Tensor.addmm, of_aten('addmm'), torch.addmv, torch.Tensor.addmv, of_aten('addmv'),
      torch.baddbmm, torch.Tensor.baddbmm, of_aten('baddbmm'))
def addmm(low: Low, input: Tensor, a: Optional[Tensor] = None, b: Optional[Tensor] = None, *more: Any, beta: Any = 1,
          alpha: Any = 1, out: Optional[Tensor] = None, **named: Tensor) -> Tensor:
    """Operands have other names in each of these functions, their order is one."""
    operands = [x for x in (a, b) if x is not None] + list(named.values())
    if more or len(operands) != 2:
        raise Stays('arguments of an older form')
    return delivered(_with_sum(low, input, operands[0], operands[1], beta, alpha), out)


@rule(torch.Tensor.addmm_, torch.Tensor.addmv_, torch.Tensor.baddbmm_)
def addmm_(low: Low, input: Tensor, *args: Any, **named: Any) -> Tensor:
    return input.copy_(addmm(low, input.clone(), *args, **named))


@rule(torch.addbmm, torch.Tensor.addbmm, of_aten('addbmm'))
def addbmm(low: Low, input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1,
           out: Optional[Tensor] = None) -> Tensor:
    """The sum over the batch is one more axis of the product's sum."""
    a = batch1.transpose(0, 1).flatten(1)
    return delivered(_sum(input, _product(low, a, batch2.flatten(0, 1)), beta, alpha), out)


@rule(torch.Tensor.addbmm_)
def addbmm_(low: Low, input: Tensor, *args: Any, **named: Any) -> Tensor:
    return input.copy_(addbmm(low, input.clone(), *args, **named))


@rule(torch.bilinear, F.bilinear, of_aten('bilinear'))
def bilinear(low: Low, input1: Tensor, input2: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """Two products: X1 with the weight, and each row of that with its row of X2."""
    outputs, left, right = weight.shape
    x, y = input1.reshape(-1, left), input2.reshape(-1, right)
    first = _product(low, x, weight.permute(1, 0, 2).reshape(left, outputs * right))
    z = _product(low, first.view(-1, outputs, right), autocast(y)[0].to(first.dtype).unsqueeze(-1)).squeeze(-1)
    z = z.reshape(input1.shape[:-1] + (outputs,))
    return z if bias is None else z + autocast(bias)[0]


# ---- groups of rows, each with a matrix of its own ----

def _edges(offs: Tensor) -> List[int]:
    if torch.compiler.is_compiling():
        raise Stays('groups whose sizes a compiled graph does not know')
    return [0, *offs.tolist()]


@rule(getattr(F, 'grouped_mm', None), getattr(torch, '_grouped_mm', None), of_aten('_grouped_mm'))
def grouped_mm(low: Low, mat_a: Tensor, mat_b: Tensor, offs: Optional[Tensor] = None, bias: Optional[Tensor] = None,
               out_dtype: Any = None) -> Tensor:
    """A product for each group: rows of A, columns of B, terms of the sum, or matrices of both."""
    if bias is not None:
        raise Stays('a bias of groups')
    a2, b2 = mat_a.dim() == 2, mat_b.dim() == 2
    if not (a2 or b2):
        z = _product(low, mat_a, mat_b)
    else:
        edges = _edges(offs)
        spans = [slice(i, j) for i, j in zip(edges, edges[1:])]
        if a2 and b2:
            z = torch.stack([_product(low, mat_a[:, s], mat_b[s]) for s in spans])
        elif a2:
            made = [_product(low, mat_a[s], mat_b[i]) for i, s in enumerate(spans)]
            z = torch.cat(made + [made[0].new_zeros(mat_a.shape[0] - edges[-1], mat_b.shape[-1])])
        else:
            made = [_product(low, mat_a[i], mat_b[:, s]) for i, s in enumerate(spans)]
            z = torch.cat(made + [made[0].new_zeros(mat_a.shape[1], mat_b.shape[1] - edges[-1])], dim=1)
    return z if out_dtype is None else z.to(out_dtype)


def _of_transformers(low: Low, input: Tensor, weight: Tensor, offs: Tensor) -> Tensor:
    """What transformers has where torch has none for a type: rows of each group by a matrix."""
    return grouped_mm(low, input, weight, offs)


BY_NAME['transformers::grouped_mm_fallback'] = _of_transformers


# ---- what is no product, but whose gradients are ----

_SOLVED = ('cholesky', 'cholesky_ex', 'det', 'eig', 'eigh', 'eigvals', 'eigvalsh', 'householder_product', 'inv', 'inv_ex',
           'ldl_solve', 'lstsq', 'lu', 'lu_factor', 'lu_solve', 'matrix_exp', 'pinv', 'qr', 'slogdet', 'solve', 'solve_ex',
           'solve_triangular', 'svd', 'svdvals', 'tensorinv', 'tensorsolve')
_OLDER = ('cholesky', 'cholesky_inverse', 'cholesky_solve', 'det', 'inverse', 'logdet', 'lu_solve', 'matrix_exp', 'pinverse', 'qr',
          'slogdet', 'svd', 'triangular_solve')


@rule(*(getattr(torch.linalg, name, None) for name in _SOLVED),
      *(getattr(place, name, None) for place in (torch, torch.Tensor) for name in _OLDER))
def solved(low: Low, *args: Any, **kwargs: Any) -> Any:
    """Solutions and decompositions are torch's, with all that their gradients multiply, which gets the module's name here."""
    raise Stays('torch.linalg')
