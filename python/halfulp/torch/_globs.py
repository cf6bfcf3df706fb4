# SPDX-License-Identifier: MIT
"""Names of modules, and globs of them, as `skip=`, `only=` and `exempt` take them."""
import difflib
import fnmatch
from typing import Any, Iterable, List, Sequence

from .. import _abi as abi


def patterns(argument: str, given: Any) -> List[str]:
    """Names, or globs, from one or several."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, (list, tuple, set, frozenset)) or not all(isinstance(name, str) for name in names):
        raise abi.HalfulpTypeError('{}: a name or names are required, not {!r}'.format(argument, given))
    return list(names)


def named(name: str, globs: Sequence[str]) -> bool:
    """Whether a module, or one that it lies in, has a name that one of the globs matches."""
    parts = name.split('.')
    return any(fnmatch.fnmatchcase('.'.join(parts[:n + 1]), glob) for n in range(len(parts)) for glob in globs)


def missing(globs: Iterable[str], names: Iterable[str]) -> List[str]:
    """Those that match no name."""
    known = list(names)
    return [glob for glob in dict.fromkeys(globs) if not any(named(name, [glob]) for name in known)]


def no_module(globs: Sequence[str], names: Iterable[str]) -> str:
    """What to say of globs that match no name: with names like them."""
    known = [name for name in dict.fromkeys(names) if name]
    ends = {name.rpartition('.')[2]: name for name in reversed(known)}
    like: List[str] = []
    for glob in globs:
        bare = glob.strip('*.?')
        like += difflib.get_close_matches(bare, known, n=3, cutoff=0.7) or [
            ends[end] for end in difflib.get_close_matches(bare.rpartition('.')[2], list(ends), n=3, cutoff=0.7)]
    hint = '; did you mean {}?'.format(' or '.join(map(repr, dict.fromkeys(like)))) if like else ''
    return 'the model has no module {}{}'.format(', '.join(map(repr, globs)), hint)
