# SPDX-License-Identifier: MIT
"""Several operators of an exported program that are one layer."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple


def name_of(node: Any) -> str:
    """The name of an operator without its overload: "mul". Of what is no operator: ""."""
    if getattr(node, 'op', '') != 'call_function':
        return ''
    if 'getitem' in str(node.target):
        return 'getitem'
    name = str(node.target).replace('aten.', '').split('.')[0]
    return name if name == '_to_copy' else name.rstrip('_')


class Rms(NamedTuple):
    """A root mean square norm that is written out: what it reads, its gain, and eps."""

    x: Any
    gain: Any
    eps: float


def _plain(node: Any) -> Any:
    """What a node is a copy of, in another or the same type."""
    while name_of(node) in ('to', '_to_copy', 'type_as'):
        node = node.args[0]
    return node


def rms_of(node: Any) -> Optional[Rms]:
    """w (x r) or w (x / d): r and d are rsqrt and sqrt of the mean of x x over the last dimension plus eps. None: the
    product is another one."""
    for gain, normed in (node.args[:2], node.args[1::-1]) if name_of(node) == 'mul' else ():
        normed = _plain(normed)
        for x, root in (normed.args[:2], normed.args[1::-1]) if name_of(normed) in ('mul', 'div') else ():
            plus = _plain(root).args[0] if name_of(_plain(root)) == {'mul': 'rsqrt', 'div': 'sqrt'}[name_of(normed)] else None
            mean = plus.args[0] if name_of(plus) == 'add' and isinstance(plus.args[1], float) else None
            if name_of(mean) != 'mean' or list(mean.args[1]) != [-1] or tuple(mean.args[2:3]) != (True,):
                continue
            square = mean.args[0]
            twice = square.args[:2] if name_of(square) == 'mul' else (square.args[0],) * 2 if name_of(square) == 'pow' and square.args[1] == 2 else ()
            if twice and all(_plain(one) is _plain(x) for one in twice):
                return Rms(_plain(x), _plain(gain), plus.args[1])
    return None


class Response(NamedTuple):
    """What torch.nn.LocalResponseNorm is traced as, up to its division."""

    size: int
    numbers: Tuple[float, float, float]  # alpha, beta, k
    inside: List[Any]  # the nodes between what it reads and the division


def response_of(node: Any) -> Optional[Response]:
    """x / (k + alpha mean(x x))^beta, the mean of a pool over channels; None: the division is another one."""
    inside: List[Any] = []

    def before(one: Any, *names: str) -> Any:
        """The first operand of a call of one of these, behind changes of shape."""
        while hasattr(one, 'op') and any(word in str(one.target) for word in ('view', 'reshape', 'squeeze')):
            inside.append(one)
            one = one.args[0]
        if not hasattr(one, 'op') or not any(name in str(one.target) for name in names):
            return None
        inside.append(one)
        return one

    chain = [node]
    for names in (('pow.Tensor_Scalar',), ('add.Tensor',), ('mul.Tensor',), ('avg_pool',), ('.pad.', 'constant_pad'), ('mul.Tensor',)):
        one = before(chain[-1].args[len(chain) == 1], *names) if chain[-1].args else None
        if one is None:
            return None
        chain.append(one)
    power, plus, times, pool, _, square = chain[1:]
    if square.args[0] is not square.args[1] or square.args[0] is not node.args[0]:
        return None
    return Response(pool.args[1][0], (times.args[1], power.args[1], plus.args[1]), inside)
