# SPDX-License-Identifier: MIT
"""A cache of keys and values for models of the package transformers, 5 or later."""
from typing import Any, Tuple

from torch import Tensor

from ... import _abi as abi

try:
    from transformers.cache_utils import Cache, DynamicLayer
except ImportError as error:
    raise ImportError('halfulp.torch: for_transformers() takes the package transformers, 5 or later ({})'.format(error)) from None


class _Layer(DynamicLayer):
    """One layer, whose tokens a KVCache has."""

    def __init__(self, cache: Any, number: int) -> None:
        super().__init__()
        self.cache, self.number = cache, number

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> Tuple[Tensor, Tensor]:
        self.lazy_initialization(key_states, value_states)
        return self.cache.update(key_states, value_states, self.number)

    def get_seq_length(self) -> int:
        return self.cache.length(self.number)

    def crop(self, tokens_to_remove: int) -> None:
        if tokens_to_remove:
            raise abi.HalfulpValueError('KVCache: tokens cannot be taken back; {} were asked for'.format(tokens_to_remove))

    def _select(self, indices: Tensor) -> None:
        sides = self.cache.layers.get(self.number, ())
        for side in sides:
            side.choose(indices)

    def reorder_cache(self, beam_idx: Tensor) -> None:
        self._select(beam_idx)

    def batch_select_indices(self, indices: Tensor) -> None:
        self._select(indices)

    def batch_repeat_interleave(self, repeats: int) -> None:
        for side in self.cache.layers.get(self.number, ()):
            for name in ('rounded', 'recent'):
                one = getattr(side, name)
                if one is not None:
                    setattr(side, name, one.repeat_interleave(repeats, 0))

    def reset(self) -> None:
        self.cache.layers.pop(self.number, None)
        super().reset()


class Adapter(Cache):
    """Layers are made as a model asks for them."""

    def __init__(self, cache: Any) -> None:
        super().__init__(layers=[])
        self.own = cache

    def update(self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any) -> Tuple[Tensor, Tensor]:
        while len(self.layers) <= layer_idx:
            self.layers.append(_Layer(self.own, len(self.layers)))
        return self.layers[layer_idx].update(key_states, value_states, *args, **kwargs)


__all__ = ['Adapter']
