# SPDX-License-Identifier: MIT
"""Attention: scores, a softmax, and the values that they weigh."""
import math
from typing import Any, Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from .call import Low, Stays, autocast
from .table import by_parts, of_aten, rule


def _of(low: Low, recipe: Any, a: Tensor, b: Tensor) -> Tensor:
    """One of the two products; None: torch's own arithmetic."""
    if recipe is None:
        raise Stays('attention=')
    return low.under(recipe).product(a, b)


def _mask(query: Tensor, key: Tensor, attn_mask: Optional[Tensor], is_causal: bool) -> Optional[Tensor]:
    """What is added to the scores."""
    if is_causal:
        if attn_mask is not None:
            raise Stays('is_causal=True beside attn_mask=')  # torch says so
        attn_mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        zero = torch.zeros((), dtype=query.dtype, device=query.device)
        attn_mask = torch.where(attn_mask, zero, torch.full_like(zero, -math.inf))
    return attn_mask


def _softmax(scores: Tensor) -> Tensor:
    """Rows without a key that they may see are 0."""
    safe = of_aten('_safe_softmax')
    return torch.softmax(scores, -1) if safe is None else safe(scores, -1)


@rule(F.scaled_dot_product_attention, of_aten('scaled_dot_product_attention'))
def attention(low: Low, query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor] = None,
              dropout_p: float = 0.0, is_causal: bool = False, scale: Optional[float] = None,
              enable_gqa: bool = False) -> Tensor:
    """softmax(Q K^T scale + mask) V: two products, each under its recipe. The scores are scaled and masked in their own
    type behind the product; torch computes the softmax."""
    query, key, value = autocast(query, key, value)
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    both = low.attention
    scores = _of(low, low.recipe if both is None else both.scores, query, key.transpose(-1, -2))
    scores = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    added = _mask(query, key, attn_mask, is_causal)
    weights = _softmax(scores if added is None else scores + added.to(scores.dtype))
    if both is not None:
        weights = low.rounded(weights, both.softmax)
    if dropout_p > 0:
        weights = torch.dropout(weights, dropout_p, True)
    return _of(low, low.recipe if both is None else both.values, weights, value)


by_parts(F.multi_head_attention_forward)
