# SPDX-License-Identifier: MIT
"""Counts of events, module by module."""
from typing import Dict

import torch

from ._calls import EVENTS


def events(model: torch.nn.Module) -> Dict[str, Dict[str, Dict[str, int]]]:
    """What happened in the modules of a model that count: {module's name: {part: {event: count}}}, parts and events
    without counts left out. Parts are "forward", "backward" of quantizers, those of `Layer.PARTS` of layers."""
    made = {}
    for name, module in model.named_modules():
        if getattr(module, 'count', False) and hasattr(module, 'events_of'):
            made[name] = {part: {event: n for event, n in found.items() if n}
                          for part, found in module.events_of().items()}
    return made


def reset_events(model: torch.nn.Module) -> None:
    """All counts to zero."""
    for module in model.modules():
        if hasattr(module, 'reset_events'):
            module.reset_events()


def rows(parts, table: torch.Tensor) -> Dict[str, Dict[str, int]]:
    """A table of counts, one row per part, as words."""
    return {part: dict(zip(EVENTS, map(int, row))) for part, row in zip(parts, table.reshape(-1, len(EVENTS)).tolist())}
