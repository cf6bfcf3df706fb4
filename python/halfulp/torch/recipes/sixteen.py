# SPDX-License-Identifier: MIT
"""Recipes in 16 bits: what the products round, the optimizer with its weights and state, the loss scale."""
import functools

from ..optim import AdamW
from ..recipe import Recipe
from .named import Named

_BETAS = (0.9, 0.997)  # in bfloat16 the second is 0.99609375; 0.999 would be 1


def _stored(text: str) -> Recipe:
    """Operands and results of all three products, and look-ups, in one format."""
    return Recipe(x=text, w=text, g=text, out=text, dx=text, dw=text, embedding=text)


def _bfloat16(name: str, section: str, make: functools.partial, how: str) -> Named:
    return Named(
        name, _stored('bfloat16'), 'Zamirai et al., Revisiting BFloat16 Training (2021), ' + section,
        same=('operands and results of products in bfloat16, sums in float32', how,
              'every operator of the optimizer and its state in bfloat16, with the operators in the order of '
              'halfulp/train/optimizer.h'),
        others=('operators between the products are those of torch, in the tensors\' own type: a model in bfloat16 rounds '
                'them, too', 'beta2 is 0.997 unless given; the paper\'s appendix with its number was not available'),
        compared='an evaluator in NumPy', modules=(), make=make)


def bf16_kahan() -> Named:
    """bfloat16 everywhere, with AdamW whose weights are updated by Kahan's sum: `optimizer(model.parameters(), lr=...)`."""
    make = functools.partial(AdamW, betas=_BETAS, state='bfloat16', update='kahan')
    return _bfloat16('bf16_kahan', 'algorithm 3', make, 'what a weight has lost is added to its next update, in bfloat16')


def bf16_stochastic(bits: int = 16) -> Named:
    """bfloat16 everywhere, with AdamW whose weights are rounded stochastically, by so many random bits."""
    make = functools.partial(AdamW, betas=_BETAS, state='bfloat16', weight='bfloat16,sra:{}'.format(bits))
    return _bfloat16('bf16_stochastic', 'algorithm 2', make,
                     'the sum of weight and update is rounded stochastically, without a bias where bits are 16')


def fp16_master() -> Named:
    """binary16 with float32 master weights, which are the model's own, and a loss scale: `ht.LossScaler(recipe.scaler)`."""
    return Named(
        'fp16_master', _stored('binary16'), 'Micikevicius et al., Mixed Precision Training (2018), section 3',
        same=('operands and results of products in binary16, sums in float32', 'weights are rounded for each product; '
              'the optimizer moves float32 ones', 'gradients carry the loss scale, and overflow to infinities'),
        others=('operators between the products are those of torch, in the tensors\' own type',
                'the scale is torch.amp.GradScaler\'s; the paper chooses a number for each network'),
        compared='an evaluator in NumPy', modules=(), scaler='gradscaler',
        make=functools.partial(AdamW, state='binary32'))


__all__ = ['bf16_kahan', 'bf16_stochastic', 'fp16_master']
