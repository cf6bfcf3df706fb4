# SPDX-License-Identifier: MIT
"""Attention of PyTorch modules as layers."""
from __future__ import annotations

import copy
from typing import Any

from .. import _abi as abi
from ._tracer import Tracer, Value, float_text, options_text


class AttentionTracer(Tracer):
    """The rule of scaled_dot_product_attention."""

    def argument(self, node: Any, place: int, x: Any) -> Any:
        """An argument, with the layers between it and the value that it is made of."""
        found = self.arguments.get(node.args[place])
        if not found:
            return x
        base = self.values.get(found.base)
        if not isinstance(base, Value) or base.heads or base.flat or base.groups:
            raise self.wrong(node, 'not of heads that are columns of values')
        if found.repeated > 1 and place == 0:
            raise self.wrong(node, 'query: heads are repeated')
        size = found.heads * found.width
        if size != base.shape[-1]:
            base = self.add(node, 'columns({}, {}, {})'.format(base.name, found.first, size))
        if found.factor != 1:
            base = self.add(node, 'scale({}, {})'.format(base.name, float_text(found.factor)))
        if found.rotary is not None:
            base = self.add(node, 'rotary({}, {}{})'.format(base.name, found.width, found.rotary))
        samples, _, steps, width = node.args[place].meta['val'].shape
        return Value(base.name, (samples, found.heads, steps, width), heads=-found.heads)

    def is_causal(self, mask: Any) -> bool:
        """Whether a mask is a constant by which a step sees those up to its own."""
        if mask is None or not self.constants.has(mask):
            return False
        x = self.constants.run(mask, {})
        seen = x if str(x.dtype) == 'torch.bool' else x == 0
        hidden = ~seen if str(x.dtype) == 'torch.bool' else x < -1e30
        below = seen.new_ones(x.shape).tril()
        return bool((seen == below).all() and (hidden == ~below).all())

    def of_scaled_dot_product_attention(self, node: Any, q: Value, k: Value, v: Value, mask: Any = None, dropout: float = 0.0,
                                        is_causal: bool = False, scale: Any = None, enable_gqa: bool = False) -> Value:
        q, k, v = (self.argument(node, place, x) for place, x in enumerate((q, k, v)))
        mask = node.args[3] if len(node.args) > 3 else node.kwargs.get('attn_mask')
        is_causal = is_causal or self.is_causal(mask)
        if not all(isinstance(x, Value) for x in (q, k, v)) or mask is not None and not is_causal:
            raise self.wrong(node, 'with a mask, or not of heads that are columns of values')
        heads, kv = -q.heads, -k.heads
        if min(heads, kv) < 1 or v.heads != k.heads or k.shape != v.shape:
            raise self.wrong(node, 'with a mask, or not of heads that are columns of values')
        enable_gqa = enable_gqa or any(self.arguments[one].repeated > 1 for one in node.args[1:3] if one in self.arguments)
        if kv != heads and not (enable_gqa and heads % kv == 0):
            raise self.wrong(node, 'other heads of keys')
        memory = self.add(node, 'concat({}, {})'.format(k.name, v.name))
        given = options_text([('causal', str(int(is_causal)), '0'), ('kv_heads', str(kv), str(heads)),
                          ('scale', float_text(scale or 0), '0.0'), ('dropout', float_text(dropout), '0.0')])
        return self.add(node, 'attention_across({}, {}, {}{})'.format(q.name, memory.name, heads, given))._replace(heads=q.heads)


def with_plain_attention(module: Any) -> Any:
    """The module, or a copy with the layers that its nn.MultiheadAttention are made of in their place."""
    import torch
    functional = torch.nn.functional
    kind = torch.nn.MultiheadAttention
    if not any(isinstance(one, kind) for one in module.modules()):
        return module

    class Plain(torch.nn.Module):
        def __init__(self, of: Any) -> None:
            super().__init__()
            if of.in_proj_weight is None or of.bias_k is not None or of.add_zero_attn or not of.batch_first:
                raise abi.HalfulpValueError('from_torch: MultiheadAttention: kdim, vdim, add_bias_kv, add_zero_attn, or not batch_first')
            self.in_proj_weight, self.in_proj_bias, self.out_proj = of.in_proj_weight, of.in_proj_bias, of.out_proj
            self.heads, self.dropout = of.num_heads, of.dropout

        def forward(self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
                    attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False) -> Any:
            if query is not key or key is not value or key_padding_mask is not None or (attn_mask is not None and not is_causal):
                raise abi.HalfulpValueError('from_torch: MultiheadAttention: of several values, or with another mask than a causal one')
            three = functional.linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, -1)
            q, k, v = (one.view(*one.shape[:2], self.heads, -1).transpose(1, 2) for one in three)
            z = functional.scaled_dot_product_attention(q, k, v, None, self.dropout if self.training else 0.0, is_causal)
            return self.out_proj(z.transpose(1, 2).reshape(query.shape)), None

    made = copy.deepcopy(module)
    for name, one in list(made.named_modules()):
        if isinstance(one, kind):
            made.set_submodule(name, Plain(one).train(one.training))
    return made
