# SPDX-License-Identifier: MIT
"""The keywords that calls over arrays have in common, for type checkers."""
from __future__ import annotations

from typing import TypedDict

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
