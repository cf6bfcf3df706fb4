# SPDX-License-Identifier: MIT
"""Several operators of an exported program that are one layer."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple


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
