# SPDX-License-Identifier: MIT
"""The keywords that calls over arrays have in common: for type checkers, and for help()."""
from __future__ import annotations

import inspect
from typing import Callable, TypedDict, TypeVar

from .events import Events
from .mode import StreamLike


class Options(TypedDict, total=False):
    """See halfulp.arrays for what they mean."""

    saturate: str
    nan: str
    tiny: str
    stream: StreamLike
    events: Events
    threads: int
    cuda_stream: int


# What help() says of them.
_MEANINGS = {
    'saturate': 'str, optional\n    What becomes of numbers beyond the range: "default", "none", "finite", "propagate" '
                '(`Mode`).',
    'nan': 'str, optional\n    What a NaN becomes in a format without one: "max", "zero", "error" (`Mode`).',
    'tiny': 'str, optional\n    When a result is tiny: "after" rounding or "before" it (`Mode`).',
    'stream': 'Stream, (key, counter), key or Generator\n    Random words, which stochastic roundings require: element i in C '
              'order has word i.',
    'events': 'Events, optional\n    Counts of what happened are added to it.',
    'threads': 'int, default 1\n    How many threads the call may use. The result is the same for any number.',
    'cuda_stream': 'int, optional\n    For arrays on a CUDA device, which require `out`: the stream (cudaStream_t) on '
                   'which the call is enqueued.',
}
ON_HOST = tuple(name for name in _MEANINGS if name != 'cuda_stream')
OF_MODE = ('saturate', 'nan', 'tiny', 'stream')  # of calls that only round
EXACT = ('threads', 'cuda_stream')  # of calls that round nothing
_Call = TypeVar('_Call', bound=Callable)


def with_options(*names: str) -> Callable[[_Call], _Call]:
    """Decorates a function that ends with **options: help() and inspect.signature spell them out, all or those that are
    named, and leave the types to the text."""
    chosen = names or tuple(_MEANINGS)

    def spelt(function: _Call) -> _Call:
        empty = inspect.Parameter.empty
        kept = [one.replace(annotation=empty) for one in inspect.signature(function).parameters.values()
                if one.kind is not one.VAR_KEYWORD]
        kept += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=1 if name == 'threads' else None)
                 for name in chosen]
        function.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        lines = '\n'.join('{} : {}'.format(name, _MEANINGS[name]) for name in chosen)
        text, returns, rest = inspect.cleandoc(function.__doc__ or '').partition('\n\nReturns\n')
        function.__doc__ = '{}\n\nOptions\n-------\n{}{}{}'.format(text, lines, returns, rest)
        return function
    return spelt
