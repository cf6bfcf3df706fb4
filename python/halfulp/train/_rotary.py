# SPDX-License-Identifier: MIT
"""Rotary positions that a module computes: what an argument of attention is made of, and the numbers of `rotary`.

Modules write these positions in many ways. So an argument is not compared with patterns: what lies between it and the
layer that it comes from is run with numbers that mark columns and steps, and what comes out is compared with the
definition (docs/training/networks.md)."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set

import numpy as np

from ._patterns import name_of


class Argument(NamedTuple):
    """An argument of attention: heads of columns of a value, turned or not."""

    base: Any  # the node of the value
    first: int  # its first column
    heads: int  # different ones
    repeated: int  # how many heads of the argument each of them is
    width: int
    factor: float  # by which its columns are multiplied
    rotary: Optional[str]  # the arguments of `rotary` behind the width; None: it is not turned


# What moves numbers, or multiplies them by constants: between a layer and attention, the linear part of it.
_MOVES = {'view', 'reshape', 'flatten', 'unflatten', 'unsqueeze', 'squeeze', 'transpose', 'permute', 'contiguous', 'clone', 'alias',
          'chunk', 'split', 'split_with_sizes', 'unbind', 'getitem', 'slice', 'select', 'cat', 'stack', 'expand', 'repeat',
          'repeat_interleave', 'to', '_to_copy', 'type_as', 'view_as_complex', 'view_as_real', 'neg', 'mul', 'add', 'sub'}
_SIMPLE = {'view', 'reshape', 'unflatten', 'transpose', 'contiguous', 'chunk', 'split', 'split_with_sizes', 'getitem', 'clone', 'alias'}
_PIECES = {'chunk', 'split', 'split_with_sizes', 'unbind'}
_BASES = (10000.0, 150000.0, 500000.0, 1000000.0)


class Constants:
    """Nodes of an exported program that do not depend on its inputs or parameters, and their numbers."""

    def __init__(self, program: Any) -> None:
        signature, self.module = program.graph_signature, program.graph_module
        names = {**signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}
        self.tensors = {key: program.state_dict.get(name, program.constants.get(name)) for key, name in names.items()}
        self.known: Dict[Any, bool] = {}

    def has(self, node: Any) -> bool:
        """Whether a node is one of them."""
        if node not in self.known:
            if node.op == 'call_function':
                of = node.all_input_nodes[:1] if name_of(node) == 'type_as' else node.all_input_nodes
                self.known[node] = all(self.has(one) for one in of)
            else:
                self.known[node] = node.op == 'get_attr' or self.tensors.get(node.name) is not None
        return self.known[node]

    def run(self, node: Any, given: Dict[Any, Any]) -> Any:
        """The numbers of a node, those of some nodes being given."""
        if node in given:
            return given[node]
        if node.op == 'get_attr':
            made = getattr(self.module, node.target)
        elif node.op == 'call_function':
            args = _replaced(node.args, lambda one: self.run(one, given))
            made = node.target(*args, **_replaced(node.kwargs, lambda one: self.run(one, given)))
        else:
            made = self.tensors[node.name].clone()  # an operator may write into it
        given[node] = made
        return made


def _replaced(x: Any, of: Callable[[Any], Any]) -> Any:
    if isinstance(x, dict):
        return {key: _replaced(one, of) for key, one in x.items()}
    if isinstance(x, (list, tuple)):
        return [_replaced(one, of) for one in x]
    return of(x) if hasattr(x, 'op') else x


def _base_of(node: Any, constants: Constants) -> Optional[Any]:
    """The node of the value that an argument is made of by moves alone. None: there is nothing that the rules of single
    operators do not know, or it is made of several values."""
    names: Set[str] = set()
    bases: List[Any] = []
    seen: Set[Any] = set()
    rest = [node]
    while rest:
        one = rest.pop()
        if one in seen or constants.has(one):
            continue
        seen.add(one)
        name = name_of(one) if one.op == 'call_function' else ''
        if name == 'getitem' and name_of(one.args[0]) not in _PIECES or name not in _MOVES:
            bases.append(one)
        else:
            names.add(name)
            rest += one.all_input_nodes[:1] if name == 'type_as' else one.all_input_nodes
    return bases[0] if len(bases) == 1 and not names <= _SIMPLE else None


class NotRotary(Exception):
    """Says what an argument of attention is in place of a value's columns, turned by the angles of positions."""


def argument_of(node: Any, constants: Constants) -> Optional[Argument]:
    """What an argument of attention is, where the rules of single operators do not know it; else None. NotRotary."""
    import torch
    base = _base_of(node, constants)
    shape = tuple(getattr(base.meta['val'], 'shape', ())) if base else ()
    if not base or len(node.meta['val'].shape) != 4:
        return None
    if len(shape) != 3:
        raise NotRotary('it is made of a value of shape {}'.format(shape))

    def made(u: np.ndarray) -> np.ndarray:
        """The argument of a value with numbers of steps and columns, the same in each sample."""
        x = torch.tensor(u, dtype=base.meta['val'].dtype).expand(shape).contiguous()
        with torch.no_grad():
            z = constants.run(node, {base: x})
        if any(not torch.equal(z[0], one) for one in z):
            raise NotRotary('samples are not treated alike')
        return z[0].double().numpy()

    samples, steps, columns = shape
    one, tags = made(np.ones((steps, columns))), made(np.broadcast_to(np.arange(columns, dtype=float), (steps, columns)))
    heads, length, width = one.shape
    size = one[:, 0]
    if length != steps or not (size > 0).all() or np.ptp(size) > 1e-6 * size.max():
        raise NotRotary('its first step is not a value\'s own columns')
    from_column = tags[:, 0] / size
    at = np.rint(from_column).astype(int)
    if np.abs(from_column - at).max() > 1e-3:
        raise NotRotary('its first step is not a value\'s own columns')
    firsts = list(dict.fromkeys(int(row[0]) for row in at))
    repeated = heads // len(firsts)
    where = firsts[0] + np.arange(heads)[:, None] // repeated * width + np.arange(width)
    if not (at == where).all():
        raise NotRotary('its heads are not columns side by side')
    random = np.random.RandomState(1).uniform(-1, 1, (steps, columns))
    x, z = random[:, at].transpose(1, 0, 2), made(random)
    factor, rotary = float(size.flat[0]), None
    if np.abs(z - factor * x).max() > 1e-6 * factor:
        factor, rotary = 1.0, _turned(made, at, x, z, columns)
    return Argument(base, firsts[0], len(firsts), repeated, width, factor, rotary)


def _turned(made: Callable[[np.ndarray], np.ndarray], at: np.ndarray, x: np.ndarray, whole: np.ndarray, columns: int) -> str:
    """The arguments of `rotary` that makes `whole` of x, heads of steps of columns."""
    steps, width = x.shape[1:]
    half = width // 2
    kinds = {0: (np.arange(half), np.arange(half) + half), 1: (2 * np.arange(half), 2 * np.arange(half) + 1)}
    for interleaved, (a, b) in kinds.items() if width % 2 == 0 else ():
        mark = np.zeros((steps, columns))
        mark[:, at[:, a].ravel()] = 1
        z = made(mark)[0]
        cosine, sine = z[:, a], z[:, b]
        turned = np.empty_like(x)
        turned[..., a], turned[..., b] = x[..., a] * cosine - x[..., b] * sine, x[..., b] * cosine + x[..., a] * sine
        if np.abs(turned - whole).max() < 1e-5 * np.abs(whole).max():
            return _numbers_of(cosine, sine, width, interleaved)
    raise NotRotary('its columns are not turned in pairs, of halves or side by side')


def _short(x: float, error: float) -> float:
    """The shortest number that is x up to a relative error."""
    return next((y for y in (float('{:.{}g}'.format(x, digits)) for digits in range(1, 17)) if abs(y - x) <= error * abs(x)), x)


def _llama(f: np.ndarray, factor: float, original: float) -> np.ndarray:
    wave = 2 * math.pi / f
    t = (original / wave - 1) / 3
    return np.where(wave > original, f / factor, np.where(wave < original / 4, f, (1 - t) * f / factor + t * f))


def _yarn(f: np.ndarray, factor: float, original: float, base: float, whole: bool) -> np.ndarray:
    width = 2 * len(f)
    low, high = (width * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base)) for turns in (32, 1))
    if whole:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    t = np.clip((np.arange(len(f)) - low) / (high - low + 0.001 * (high == low)), 0, 1)
    return f / factor * t + f * (1 - t)


def _numbers_of(cosine: np.ndarray, sine: np.ndarray, width: int, interleaved: int) -> str:
    """The arguments of `rotary` that have these tables, by step and pair."""
    pairs, m = width // 2, float(cosine[0, 0])
    if len(cosine) == 1:
        raise NotRotary('one step has no angles')
    f = np.arctan2(sine[1], cosine[1])
    angle = np.arange(len(cosine))[:, None] * f
    error = 1e-6 + 5e-7 * np.abs(angle)
    if not (f > 0).all() or (np.abs(cosine / m - np.cos(angle)) > error).any() or (np.abs(sine / m - np.sin(angle)) > error).any():
        raise NotRotary('its angles are not those of the steps 0, 1, 2 ... times a frequency')

    def is_it(g: np.ndarray) -> bool:
        return bool((np.abs(g - f) <= 1e-6 * g).all())

    some, found = [('interleaved', str(interleaved), '0')], []
    if pairs > 1 and f[-1] < f[1] * 1.000001 < 1:  # all pairs have one base, or the first ones
        found = [_short(float(f[-1] ** (pairs / (1 - pairs))), 1e-6), _short(float(f[1] ** -pairs), 2e-6 * pairs)]
    for base in (*found, *_BASES):
        plain = base ** (-np.arange(pairs) / pairs)
        given = [*some, ('base', _text(base), '10000')]
        if is_it(plain):
            return _given(given + ([] if abs(m - 1) < 1e-6 else [('yarn', '1', '0'), ('magnitude', _text(_short(m, 1e-6)), '0')]))
        factor = _short(float(plain[-1] / f[-1]), 2e-6)
        if not factor > 1:
            continue
        given.append(('factor', _text(factor), '1'))
        for original in (float(2**power) for power in range(5, 21)):
            if abs(m - 1) < 1e-6 and is_it(_llama(plain, factor, original)):
                return _given([*given, ('original', _text(original), '8192')])
            for whole in (False, True):
                if is_it(_yarn(plain, factor, original, base, whole)):
                    usual = abs(m - 0.1 * math.log(factor) - 1) < 1e-6
                    return _given([*given, ('original', _text(original), '8192'), ('yarn', '1', '0'), ('whole', str(int(whole)), '0'),
                                   *([] if usual else [('magnitude', _text(_short(m, 1e-6)), '0')])])
    raise NotRotary('its frequencies are neither those of one base nor those of Llama 3 or YaRN, of a power of two of steps')


def _text(x: float) -> str:
    return str(int(x)) if x == int(x) else repr(x)


def _given(all_numbers: List[Any]) -> str:
    return ''.join(', {}={}'.format(name, value) for name, value, standard in all_numbers if value != standard)
