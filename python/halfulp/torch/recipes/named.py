# SPDX-License-Identifier: MIT
"""A recipe with a name, a source, and the modules that it is for."""
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Optional, Tuple

from torch import nn

from ... import _abi as abi
from .._globs import named, patterns
from ..recipe import Recipe

BF16 = Recipe(x='bfloat16', w='bfloat16', g='bfloat16')
HEADS = ('lm_head', '*.lm_head', 'head', '*.head', 'output')  # what models call the layer behind the last block


@dataclass(frozen=True, repr=False)
class Named:
    """What a program or a paper computes: a recipe, and for which modules. `convert`, `precision`, `compare_models` and
    `sensitivity` take it as a function of a module's name and the module; a layer takes its `recipe`.

    Attributes
    ----------
    name : str
        As `ht.recipes.get` takes it.
    recipe : Recipe
        Of the modules that the source computes in low precision.
    source : str
        The paper and its section, or the program and its file.
    same, others : tuple of str
        What is as in the source, and what is not.
    compared : str
        What the tests compare it with.
    modules : tuple of types
        Modules that are not of these types stay in torch; none: all modules, and products outside of them.
    exempted : tuple of str
        Names, or globs, of modules of these types that the source leaves in higher precision, with all inside.
    rest : Recipe, optional
        Of exempted modules; None: they stay in torch.
    scaler : str
        The rule of `ht.LossScaler` that the source needs, or nothing.
    asked : tuple of str
        What `exempt` has added; where a model has no module of such a name, `convert` says so, as of `skip`.
    """

    name: str
    recipe: Recipe
    source: str
    same: Tuple[str, ...]
    others: Tuple[str, ...] = ()
    compared: str = ''
    modules: Tuple[type, ...] = (nn.Linear,)
    exempted: Tuple[str, ...] = ()
    rest: Optional[Recipe] = None
    scaler: str = ''
    asked: Tuple[str, ...] = ()
    make: Optional[Callable[..., Any]] = field(default=None, compare=False)

    def __call__(self, name: str, module: Optional[nn.Module]) -> Optional[Recipe]:
        """The recipe of a module's products; None: they stay in torch."""
        if self.modules and not isinstance(module, self.modules):
            return None
        return self.rest if named(name, self.exempted) else self.recipe

    def but(self, **changes: Any) -> 'Named':
        """The same with some fields of its recipe changed; `others` says so."""
        said = ', '.join('{}={!r}'.format(*one) for one in changes.items())
        return replace(self, recipe=self.recipe.but(**changes), others=self.others + ('changed here: ' + said,))

    def exempt(self, *names: str, rest: Any = ...) -> 'Named':
        """The same with more modules exempted, by names or globs ('*.mlp.gate'); rest: a recipe for all exempted ones."""
        other = self.rest if rest is ... else None if rest is None else Recipe.of(rest)
        asked = tuple(patterns('names', list(names)))
        return replace(self, exempted=self.exempted + asked, asked=self.asked + asked, rest=other)

    def on(self, *types: type) -> 'Named':
        """The same for modules of these types; without any, for all modules and the products outside of them."""
        for one in types:
            if not (isinstance(one, type) and issubclass(one, nn.Module)):
                raise abi.HalfulpTypeError('types: {!r} is not a type of module'.format(one))
        return replace(self, modules=types)

    def optimizer(self, parameters: Any, **how: Any) -> Any:
        """The optimizer that belongs to the source, with its formats; further arguments are the optimizer's."""
        if self.make is None:
            raise abi.HalfulpValueError('{}: its source says nothing of an optimizer; its weights are float32'.format(self.name))
        return self.make(parameters, **how)

    def __str__(self) -> str:
        lines = ['{}: {}'.format(self.name, self.source), '  {}'.format(self.recipe)]
        kinds = ', '.join(one.__name__ for one in self.modules) or 'all'
        left = ', '.join(self.exempted) or 'none'
        lines.append('  modules: {}; exempted: {}{}'.format(
            kinds, left, '' if self.rest is None else ', under {}'.format(self.rest)))
        lines += ['  as there: ' + one for one in self.same] + ['  not as there: ' + one for one in self.others]
        if self.scaler:
            lines.append('  loss scale: ' + self.scaler)
        return '\n'.join(lines)

    def __repr__(self) -> str:
        return 'ht.recipes.{}()'.format(self.name)


__all__ = ['BF16', 'HEADS', 'Named']
