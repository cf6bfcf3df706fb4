# SPDX-License-Identifier: MIT
"""Recipes of papers, by name: what `precision.system` of `halfulp train` sets, for layers of PyTorch.

    model = ht.convert(model, ht.recipes.s2fp8())
"""
from typing import Any

from ._records import text_of
from .recipe import Recipe


def _everywhere(rounding: Any) -> Recipe:
    """Operands and results of all three products, and look-ups, rounded alike."""
    text = text_of(rounding)
    return Recipe(x=text, w=text, g=text, out=text, dx=text, dw=text, embedding=text)


def s2fp8(mode: str = 'rne') -> Recipe:
    """Shifted and squeezed FP8, as Cambier et al. place it (Shifted and Squeezed 8-bit Floating Point Format for
    Low-Precision Training of Deep Neural Networks, ICLR 2020, figure 4).

    Each tensor is truncated as a whole, with statistics of its own: X, W and dZ before a product; Z (before the bias),
    dX and dW after it. Sums are float32, and the weights that an optimizer moves are the model's own, in float32. No
    layer is exempt. docs/training-decisions.md, section 3, has what the paper leaves open.
    """
    return _everywhere('s2fp8,' + mode if mode != 'rne' else 's2fp8')


def fp8_e5m2() -> Recipe:
    """The FP8 that the same paper compares with: E5M2 in the same places, without any scale."""
    return _everywhere('fp(5,2,0)')


__all__ = ['fp8_e5m2', 's2fp8']
