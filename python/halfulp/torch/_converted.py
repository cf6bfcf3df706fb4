# SPDX-License-Identifier: MIT
"""Modules of any type whose own products are computed under a recipe, by what torch's functions inside of them do."""
import copyreg
from typing import Any, Optional

import torch
from torch import nn

from .. import _abi as abi
from ._mixed import mixed, plain_of
from .layers import Layer
from .products import Asked, Low, Lowering
from .products.places import Names, Places
from .recipe import Recipe


class _Own(Lowering):
    """A mode for the functions that a module itself calls; what the modules inside of it do is theirs."""

    def __init__(self, module: 'Converted') -> None:
        super().__init__()
        self.module, self.places = module, None if _alone(module) else Places(Names(lambda name, one: one is module))

    def low(self, function: Any) -> Optional[Low]:
        if self.places is not None and self.places.running and not self.places.chosen:
            return None
        m = self.module
        return Asked(m.recipe, m.take, None, m.tapped(), m.count, m.note)

    def __enter__(self) -> '_Own':
        if self.places is not None:
            self.places.enter()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self.places is not None:
            self.places.leave()


def _alone(module: nn.Module) -> bool:
    """Whether no module inside of it computes products of its own: those of parametrizations and the projection of
    torch.nn.MultiheadAttention are read, not called."""
    return not [one for name, one in module.named_children()
                if name != 'parametrizations' and not (isinstance(module, nn.MultiheadAttention) and name == 'out_proj')]


class Converted(Layer):
    """What a module's class is mixed with; `convert` makes such classes. Its events are those of all its products."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        try:
            with self._mode():
                return super().forward(*args, **kwargs)
        except abi.HalfulpError as error:
            raise self.named(error) from None

    def _mode(self) -> Lowering:
        if torch.compiler.is_compiling() and not _alone(self):
            raise abi.HalfulpValueError('{!r}: torch.compile takes no converted module with others inside of it; compile '
                                        'the model as it was, and call it inside of ht.precision'.format(self.place))
        return _Own(self)

    def extra_repr(self) -> str:
        before = super().extra_repr()
        return '{}{}recipe={}'.format(before, ', ' if before else '', self.recipe)

    def __reduce_ex__(self, protocol: Any) -> Any:
        state = self.__getstate__() if hasattr(self, '__getstate__') else self.__dict__
        return _made_again, (plain_of(type(self)), isinstance(self, ConvertedCall)), state


class ConvertedCall(Converted):
    """The same for a module that has a `forward` of its own, beside its class's: what accelerate puts around modules."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._mode():
            return nn.Module.__call__(self, *args, **kwargs)


def _made_again(plain: type, called: bool = False) -> Any:
    return copyreg.__newobj__(class_of(plain, called))


def class_of(plain: type, called: bool = False) -> type:
    return mixed(plain, ConvertedCall if called else Converted)


def converted(module: nn.Module, recipe: Recipe, key: Any, count: bool, place: str) -> nn.Module:
    """The module itself, of another class."""
    module.__class__ = class_of(type(module), 'forward' in module.__dict__)
    module._follow(recipe, key, count, place)
    return module
