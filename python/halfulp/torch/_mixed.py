# SPDX-License-Identifier: MIT
"""Classes of modules with another class mixed in.

torch.nn.utils.parametrize gives each module a class of its own, directly above the one that it had, which it takes back when
the last parametrization is removed. What is mixed in therefore lies below such a class.
"""
import functools
from typing import Any

from torch.nn.utils import parametrize


def _is_parametrized(kind: type) -> bool:
    return kind.__module__ == parametrize.__name__ and kind.__name__.startswith('Parametrized')


def _above(base: type, kind: type) -> type:
    """A parametrized class over another base, with the properties that it has."""
    return type(kind.__name__, (base,), {name: value for name, value in vars(kind).items()
                                         if name not in ('__dict__', '__weakref__')})


@functools.lru_cache(maxsize=None)
def _over(plain: type, mixin: type) -> type:
    return type(plain.__name__, (mixin, plain), {'__module__': plain.__module__, '__qualname__': plain.__qualname__,
                                                 '__doc__': plain.__doc__, '_plain': plain})


def mixed(plain: type, mixin: type) -> type:
    """The class of a module that has the methods of `mixin` before its own."""
    return _above(mixed(plain.__bases__[0], mixin), plain) if _is_parametrized(plain) else _over(plain, mixin)


def plain_of(kind: Any) -> Any:
    """The class that `mixed` was called with, with the parametrizations that the module has now."""
    return _above(plain_of(kind.__bases__[0]), kind) if _is_parametrized(kind) else kind._plain
