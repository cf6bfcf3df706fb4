# SPDX-License-Identifier: MIT
"""All named recipes: their names, a table of them, and one by its name."""
from typing import Any, Callable, Dict, List

from torch import nn

from ... import _abi as abi
from ..._names import near
from ..recipe import listings
from . import eight, four, history, sixteen
from .named import Named

_MODULES = (sixteen, eight, four)
_MAKERS: Dict[str, Callable[..., Any]] = {
    name: getattr(module, name) for module in _MODULES for name in module.__all__}
_MAKERS.update(te_delayed=history.te_delayed, fp8_lm_history=history.fp8_lm_history)


def names() -> List[str]:
    """The names of all recipes, in the order of the alphabet."""
    return sorted(_MAKERS)


listings.append(names)


def get(name: str, **how: Any) -> Any:
    """The recipe of that name, as the function of this module with that name gives it; `how` are its arguments.
    HalfulpValueError has the names that there are."""
    if not isinstance(name, str):
        raise abi.HalfulpTypeError('name: a text is required, not {!r}'.format(name))
    if name not in _MAKERS:
        raise abi.HalfulpValueError('name: {!r}: {}'.format(name, near(name, names()) or 'there are ' + ', '.join(names())))
    return _MAKERS[name](**how)


def rows() -> List[Dict[str, str]]:
    """A dictionary for each recipe, as `pandas.DataFrame` takes them: "name", "source", "x", "w", "g" (roundings; of `w` and
    `g` in the backward pass behind a slash where they are others), "sum", "exempted", "compared"."""
    return [_row(get(name)) for name in names()]


def short(text: str) -> str:
    """A rounding's text in a few words: of a scaled format the elements, the block and the scale's format."""
    if not text.startswith('scaled('):
        return text
    inside, _, mode = text[7:].partition(')')
    element, *keys = inside.split(';')
    parts = dict((key.partition('=')[0], key.partition('=')[2]) for key in keys)
    return '{} {} {}{}{}'.format(element, parts['block'], parts['scale'], ' two levels' if 'tensor' in parts else '', mode)


def _row(one: Any) -> Dict[str, str]:
    r = one.recipe
    def both(first: str, *further: str) -> str:
        said = list(dict.fromkeys(short(text) for text in (first,) + further))
        return ' / '.join(said)
    x, w, g = (r.x, r.x_dw or r.x), (r.w, r.w_dx or r.w), (r.g_dx or r.g, r.g_dw or r.g)
    shown = getattr(r, 'SHOWN', None)
    made = shown or (both(*x), both(*w), both(*g))
    sums = list(dict.fromkeys(text or r.accum for text in (r.accum, r.accum_dx, r.accum_dw)))
    kinds = ', '.join(kind.__name__ for kind in one.modules)
    left = ', '.join(one.exempted)
    return {'name': one.name, 'source': one.source, 'x': made[0], 'w': made[1], 'g': made[2], 'sum': ' / '.join(sums),
            'exempted': '; '.join(part for part in ('all but ' + kinds if kinds else '', left) if part) or 'none',
            'compared': one.compared}


def last(model: nn.Module, share: float, kind: type = nn.Linear) -> List[str]:
    """The names of the last modules of a type, in the order of the model's modules: the least number of them that is at
    least this share of all. NVFP4 pretraining leaves some 0.16 of the linear layers so: `recipe.exempt(*last(model, 0.16))`."""
    abi.instance('model', model, nn.Module)
    if not isinstance(share, (int, float)) or isinstance(share, bool) or not 0 <= share <= 1:
        raise abi.HalfulpValueError('share: {!r} is not a number from 0 to 1'.format(share))
    every = [name for name, module in model.named_modules() if isinstance(module, kind)]
    count = -int(-share * len(every) // 1)
    return every[len(every) - count:]


__all__ = ['get', 'last', 'names', 'rows', 'short']
