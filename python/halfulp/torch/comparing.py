# SPDX-License-Identifier: MIT
"""A model under several recipes: all of it, or one module after another."""
import html
import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from .. import _abi as abi
from ._tensors import one_pass
from .precision import chooser, precision
from .recipe import Recipe, RecipeLike

Loss = Callable[[Any], Tensor]


class Comparison:
    """What recipes do to a model's results.

    rows : list of dict
        "module" (None: all of them), "recipe" (its text), "share" (of the pass's multiply-adds under the recipe, 0 to 1),
        "sqnr" (of the results against those of the model as it is, in dB), "loss", "damage" (the loss less that of the
        model as it is; without a loss the reciprocal ratio, noise / signal). pandas.DataFrame takes them.
    """

    def __init__(self, rows: List[Dict[str, Any]]) -> None:
        self.rows = rows

    def _table(self) -> List[List[str]]:
        table = [['module', 'recipe', 'share', 'SQNR dB', 'loss', 'damage']]
        for row in self.rows:
            table.append([row['module'] if row['module'] is not None else '(all)', row['recipe'],
                          '{:.1f} %'.format(100 * row['share']), '{:.1f}'.format(row['sqnr']),
                          '' if row['loss'] is None else '{:.6g}'.format(row['loss']), '{:.3g}'.format(row['damage'])])
        kept = [i for i in range(6) if any(line[i] not in ('', '(all)') for line in table[1:])]
        return [[line[i] for i in kept] for line in table]

    def __str__(self) -> str:
        table = self._table()
        widths = [max(map(len, column)) for column in zip(*table)]
        return '\n'.join('  '.join(cell.ljust(n) for cell, n in zip(line, widths)).rstrip() for line in table)

    def __repr__(self) -> str:
        return 'Comparison({} rows)'.format(len(self.rows))

    def _repr_html_(self) -> str:
        lines = [''.join('<td>{}</td>'.format(html.escape(cell)) for cell in line) for line in self._table()]
        return '<table class="halfulp">{}</table>'.format(''.join('<tr>{}</tr>'.format(line) for line in lines))


class _Results:
    """The floating-point tensors of a pass, and its loss."""

    def __init__(self, made: Any, loss: Optional[Loss]) -> None:
        self.tensors = [x.detach().double() for x in tree_leaves(made) if isinstance(x, Tensor) and x.is_floating_point()]
        found = loss(made) if loss is not None else getattr(made, 'loss', None)
        self.loss = float(found) if found is not None else None

    def ratio(self, other: '_Results') -> float:
        """noise / signal of the other's tensors."""
        signal = sum(float(x.square().sum()) for x in self.tensors)
        noise = sum(float((x - y).square().sum()) for x, y in zip(self.tensors, other.tensors))
        return noise / signal if signal else (math.inf if noise else 0.0)


def _pass(model: nn.Module, batch: Any, choice: Any, loss: Optional[Loss]) -> Tuple[_Results, Any]:
    with torch.random.fork_rng(devices=[]), precision(choice, model=model) as seen:
        return _Results(one_pass(model, batch), loss), seen.report()


def _row(module: Optional[str], recipe: Any, before: _Results, after: _Results, share: float) -> Dict[str, Any]:
    ratio = before.ratio(after)
    damage = after.loss - before.loss if after.loss is not None and before.loss is not None else ratio
    text = recipe if isinstance(recipe, str) else getattr(recipe, 'name', 'a function') if callable(recipe) and not isinstance(
        recipe, (type, Recipe)) else str(Recipe.of(recipe))
    return {'module': module, 'recipe': text, 'share': share, 'sqnr': math.inf if not ratio else -10 * math.log10(ratio)
            if ratio < math.inf else -math.inf, 'loss': after.loss, 'damage': damage}


def _asked(model: Any, recipes: Any) -> List[Any]:
    abi.instance('model', model, nn.Module)
    if isinstance(recipes, (list, tuple)):
        return list(recipes)
    return [recipes]


def compare_models(model: nn.Module, recipes: Sequence[RecipeLike], batch: Any, *,
                   loss: Optional[Loss] = None) -> Comparison:
    """One forward pass of a model under each recipe, against the model as it is: a row for each, in their order.

    Parameters
    ----------
    model : torch.nn.Module
        As it is afterwards, buffers and generators too.
    recipes : sequence of recipes
        As `precision` takes one.
    batch : Tensor, tuple or dict
        The model's argument, or its arguments.
    loss : function, optional
        Of what the model returns, a number; without it the attribute `loss` of that, where there is one.
    """
    before, _ = _pass(model, batch, None, loss)
    rows = []
    for recipe in _asked(model, recipes):
        after, report = _pass(model, batch, recipe, loss)
        rows.append(_row(None, recipe, before, after, report.share))
    return Comparison(rows)


def sensitivity(model: nn.Module, batch: Any, recipes: Sequence[RecipeLike], *,
                loss: Optional[Loss] = None) -> Comparison:
    """Which modules suffer: one forward pass for each recipe and each module that multiplies, with its products alone under
    the recipe. Rows by the damage, the largest first; arguments as `compare_models`."""
    before, report = _pass(model, batch, None, loss)
    places = list(dict.fromkeys(row['module'] for row in report.rows if row['why'] != 'integers'))
    rows = []
    for recipe in _asked(model, recipes):
        choose = chooser(recipe)
        for place in places:
            after, seen = _pass(model, batch, lambda name, module: choose(name, module) if name == place else None, loss)
            rows.append(_row(place, recipe, before, after, seen.share))
    return Comparison(sorted(rows, key=lambda row: -row['damage']))
