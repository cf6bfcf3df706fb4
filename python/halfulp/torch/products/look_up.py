# SPDX-License-Identifier: MIT
"""Look-ups, whose results the recipe's `embedding` rounds; no product makes them, nor their gradients."""
from typing import Any, Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from .call import Low, Stays
from .table import rule


@rule(F.embedding)
def embedding(low: Low, input: Tensor, weight: Tensor, *args: Any, **named: Any) -> Tensor:
    return low.rounded(F.embedding(input, weight, *args, **named), low.recipe.embedding)


@rule(F.embedding_bag)
def embedding_bag(low: Low, input: Tensor, weight: Tensor, offsets: Optional[Tensor] = None, max_norm: Any = None,
                  norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False,
                  per_sample_weights: Optional[Tensor] = None, include_last_offset: bool = False,
                  padding_idx: Optional[int] = None) -> Tensor:
    """The rows are looked up and rounded as one tensor; torch adds them."""
    if low.recipe.embedding == 'keep':
        return F.embedding_bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
                               per_sample_weights, include_last_offset, padding_idx)
    if padding_idx is not None:
        raise Stays('bags with padding_idx=')
    rows = F.embedding(input.reshape(-1), weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    places = torch.arange(input.numel(), device=input.device).reshape(input.shape)
    return F.embedding_bag(places, low.rounded(rows, low.recipe.embedding), offsets, None, 2.0, False, mode, False,
                           per_sample_weights, include_last_offset)
