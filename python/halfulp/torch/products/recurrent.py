# SPDX-License-Identifier: MIT
"""Recurrent networks and their cells: products under the recipe, gates by torch's formulas.

The product with the inputs is one for all steps of a layer, that with the state one for each step (of packed sequences:
of the sequences that have the step).
"""
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .call import Low
from .table import rule

State = Tuple[Tensor, ...]
Step = Callable[[Tensor, Tensor, State], State]  # of the products with input and state, and the state: the next one


def _lstm_step(x: Tensor, h: Tensor, state: State) -> State:
    i, f, g, o = (x + h).chunk(4, -1)
    c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def _gru_step(x: Tensor, h: Tensor, state: State) -> State:
    of_x, of_h = x.chunk(3, -1), h.chunk(3, -1)
    reset, update = torch.sigmoid(of_x[0] + of_h[0]), torch.sigmoid(of_x[1] + of_h[1])
    new = torch.tanh(of_x[2] + reset * of_h[2])
    return (new + update * (state[0] - new),)


def _tanh_step(x: Tensor, h: Tensor, state: State) -> State:
    return (torch.tanh(x + h),)


def _relu_step(x: Tensor, h: Tensor, state: State) -> State:
    return (torch.relu(x + h),)


class _Weights(NamedTuple):
    """Those of one layer in one direction."""
    of_input: Tensor
    of_state: Tensor
    input_bias: Optional[Tensor]
    state_bias: Optional[Tensor]
    projection: Optional[Tensor]


def _weights(params: Sequence[Tensor], biased: bool, projected: bool) -> List[_Weights]:
    step = 2 + 2 * biased + projected
    return [_Weights(one[0], one[1], one[2] if biased else None, one[3] if biased else None,
                     one[-1] if projected else None)
            for one in (params[i:i + step] for i in range(0, len(params), step))]


def _moved(low: Low, step: Step, x: Tensor, state: State, w: _Weights) -> State:
    """The state after a step. x: the product with the inputs."""
    made = step(x, low.linear(state[0], w.of_state, w.state_bias), state)
    return made if w.projection is None else (low.linear(made[0], w.projection, None), *made[1:])


def _one_way(low: Low, step: Step, parts: Sequence[Tensor], state: State, w: _Weights,
             backward: bool) -> Tuple[List[Tensor], State]:
    """Results of the steps, and the last state. parts: the inputs of each step, of packed sequences fewer and fewer."""
    rows = low.linear(torch.cat(list(parts)), w.of_input, w.input_bias).split([len(part) for part in parts])
    results: List[Tensor] = [rows[0]] * len(rows)
    gone: List[State] = []
    now = tuple(s[:len(rows[-1])] for s in state) if backward else state
    for i in reversed(range(len(rows))) if backward else range(len(rows)):
        n = len(rows[i])
        if backward and n > len(now[0]):  # sequences that end here begin
            now = tuple(torch.cat([s, first[len(s):n]]) for s, first in zip(now, state))
        if not backward and n < len(now[0]):
            gone.append(tuple(s[n:] for s in now))
            now = tuple(s[:n] for s in now)
        now = _moved(low, step, rows[i], now, w)
        results[i] = now[0]
    return results, tuple(torch.cat(part) for part in zip(now, *reversed(gone)))


class _Setting(NamedTuple):
    biased: bool
    layers: int
    dropout: float
    train: bool
    both: bool


def _network(low: Low, step: Step, parts: List[Tensor], states: State, params: Sequence[Tensor], setting: _Setting,
             projected: bool = False) -> Tuple[List[Tensor], State]:
    """All layers; states: one row for each layer and direction."""
    weights, ways = _weights(params, setting.biased, projected), 2 if setting.both else 1
    last: List[State] = []
    for layer in range(setting.layers):
        made = []
        for way in range(ways):
            i = layer * ways + way
            results, state = _one_way(low, step, parts, tuple(s[i] for s in states), weights[i], way == 1)
            made.append(results)
            last.append(state)
        parts = [torch.cat(one, -1) for one in zip(*made)] if ways == 2 else made[0]
        if setting.dropout and setting.train and layer < setting.layers - 1:
            parts = list(torch.dropout(torch.cat(parts), setting.dropout, True).split([len(part) for part in parts]))
    return parts, tuple(torch.stack(part) for part in zip(*last))


def _called(low: Low, step: Step, args: Sequence[Any], many: bool) -> Any:
    """The two forms of torch's functions: (input, state, weights, biases, layers, dropout, train, both, batch first) and
    (data, batch sizes, state, weights, biases, layers, dropout, train, both)."""
    packed = isinstance(args[3], (list, tuple))
    data, sizes = args[0], args[1] if packed else None
    state, params, biased, layers, dropout, train, both = args[2:9] if packed else args[1:8]
    states = tuple(state) if many else (state,)
    projected = many and states[0].shape[-1] != states[1].shape[-1]
    setting = _Setting(biased, layers, dropout, train, both)
    if packed:
        parts, last = _network(low, step, list(data.split(sizes.tolist())), states, params, setting, projected)
        z = torch.cat(parts)
    else:
        first = args[8]
        parts, last = _network(low, step, list((data.transpose(0, 1) if first else data).unbind(0)), states, params,
                               setting, projected)
        z = torch.stack(parts, 1 if first else 0)
    return (z, *last)


def _rule_of(step: Step, many: bool = False) -> Callable[..., Any]:
    def called(low: Low, *args: Any) -> Any:
        return _called(low, step, args, many)
    return called


rule(torch.lstm)(_rule_of(_lstm_step, True))
rule(torch.gru)(_rule_of(_gru_step))
rule(torch.rnn_tanh)(_rule_of(_tanh_step))
rule(torch.rnn_relu)(_rule_of(_relu_step))


def _cell_of(step: Step, many: bool = False) -> Callable[..., Any]:
    def called(low: Low, input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Optional[Tensor] = None,
               b_hh: Optional[Tensor] = None) -> Any:
        state = tuple(hx) if many else (hx,)
        made = step(low.linear(input, w_ih, b_ih), low.linear(state[0], w_hh, b_hh), state)
        return made if many else made[0]
    return called


rule(torch.lstm_cell)(_cell_of(_lstm_step, True))
rule(torch.gru_cell)(_cell_of(_gru_step))
rule(torch.rnn_tanh_cell)(_cell_of(_tanh_step))
rule(torch.rnn_relu_cell)(_cell_of(_relu_step))
