# SPDX-License-Identifier: MIT
"""Recipes with operands of 8 bits."""
from typing import Any

from ... import _abi as abi
from .._records import text_of
from ..recipe import Recipe
from .named import BF16, HEADS, Named

E4M3_TENSOR = 'scaled(float8_e4m3fn;scale=binary32;block=*x*;rule=ratio;steps=encode;special=element;zero=one)'
E5M2_TENSOR = E4M3_TENSOR.replace('e4m3fn', 'e5m2')
ONE_SCALE = 'parts(fp32;fp32;alpha)'  # sums of codes, then the product of both scales
HOPPER = 'nv.hopper.{}.f32.wgmma'
_OWN_TYPE = 'results have the tensors\' own type'


def _everywhere(rounding: Any) -> Recipe:
    """Operands and results of all three products, and look-ups, rounded alike."""
    text = text_of(rounding)
    return Recipe(x=text, w=text, g=text, out=text, dx=text, dw=text, embedding=text)


def s2fp8(mode: str = 'rne') -> Named:
    """Shifted and squeezed FP8, as Cambier et al. place it.

    Each tensor is truncated as a whole, with statistics of its own: X, W and dZ before a product; Z (before the bias),
    dX and dW after it. Sums are float32, and the weights that an optimizer moves are the model's own, in float32. No
    layer is exempt. docs/training/decisions.md, section 3, has what the paper leaves open.
    """
    return Named('s2fp8', _everywhere('s2fp8,' + mode if mode != 'rne' else 's2fp8'),
                 'Cambier et al., Shifted and Squeezed 8-bit Floating Point Format (ICLR 2020), figure 4',
                 same=('where tensors are truncated, look-ups of embeddings among them', 'statistics of each tensor'),
                 others=('no public program of the authors is known: docs/s2fp8.md fills what the paper leaves open',),
                 compared='truncations by hand around torch\'s own layers', modules=())


def fp8_e5m2() -> Named:
    """The FP8 that the paper on S2FP8 compares with: E5M2 in the same places, without any scale."""
    return Named('fp8_e5m2', _everywhere('fp(5,2,0)'), 'Cambier et al. (ICLR 2020), section 4, "FP8"',
                 same=('the places of S2FP8', 'overflow gives infinities'), others=('there is no loss scale unless you use one',),
                 compared='truncations by hand around torch\'s own layers', modules=())


def torchao_mxfp8(scale: str = 'rceil') -> Named:
    """MXFP8 of torchao's training: operands of all three products in E4M3, blocks of 32 along the sum.

    Parameters
    ----------
    scale : "rceil", "floor", "ceil" or "even"
        torchao's ScaleCalculationMode; RCEIL is that of its configurations of training.
    """
    abi.word('scale', scale, ('rceil', 'floor', 'ceil', 'even'))
    text = 'scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule={})'.format(scale)
    return Named('torchao_mxfp8', Recipe(x=text, w=text, g=text),
                 'torchao 0.18, prototype/moe_training/mxfp8_linear.py, mx_mm',
                 same=('scales and codes of all six operands, each rounded from the high-precision tensor', _OWN_TYPE),
                 others=('torchao 0.18 on a CPU takes a scale one binade lower where amax / 448 is just above a power of two',
                         'sums are in a stated order'),
                 compared='torchao\'s mx_mm, operands bit for bit')


def te_mxfp8() -> Named:
    """Transformer Engine's MXFP8BlockScaling: E4M3 in all products, blocks of 32 along the sum, scales rounded up."""
    text = 'te.mxfp8_e4m3'
    return Named('te_mxfp8', Recipe(x=text, w=text, g=text), 'Transformer Engine 2.20, common/recipe, MXFP8BlockScaling',
                 same=('scales and codes; each operand is rounded twice, from the high-precision tensor', _OWN_TYPE),
                 others=('blocks with an infinity have a scale of NaN here (0xFE there)', 'sums are in a stated order'),
                 compared='its scale in NumPy from its source')


def te_current() -> Named:
    """Transformer Engine's Float8CurrentScaling with its defaults: E4M3 forward, E5M2 for gradients, a scale for each
    tensor from its own largest magnitude."""
    return Named('te_current', Recipe(x=E4M3_TENSOR, w=E4M3_TENSOR, g=E5M2_TENSOR, accum=ONE_SCALE),
                 'Transformer Engine 2.20, common/recipe, Float8CurrentScaling; custom_recipes/reference_current_scaling.py',
                 same=('scales, codes and their places', 'codes are summed, and the sum is multiplied by both scales', _OWN_TYPE),
                 others=('sums are float32 in a stated order: `but(accum="parts(nv.hopper.e4m3.f32.wgmma;fp32;alpha)")` is a '
                         'tensor core\'s', 'amax is this process\'s, not reduced over several'),
                 compared='the package\'s CurrentScalingQuantizerRef')


def te_block() -> Named:
    """Transformer Engine's Float8BlockScaling with its defaults: E4M3 in all products, scales that are powers of two, for
    1 x 128 numbers of activations and gradients and 128 x 128 of weights."""
    text = 'scaled(float8_e4m3fn;scale=binary32;block={};rule=rceil;special=element;zero=one)'
    x, w = text.format('1x128'), text.format('128x128')
    return Named('te_block', Recipe(x=x, w=w, g=x, accum='parts(fp32;fp32;rounded)'),
                 'Transformer Engine 2.20, common/recipe, Float8BlockScaling; custom_recipes/reference_current_scaling.py',
                 same=('scales and codes; each operand is rounded from the high-precision tensor', 'a sum for each 128 terms, '
                       'added in float32 with its two scales (split accumulator)', _OWN_TYPE),
                 others=('sums of 128 terms are float32 in a stated order',),
                 compared='the package\'s scales from amaxes, for each block')


def deepseek_v3() -> Named:
    """DeepSeek-V3: E4M3 in all products, binary32 scales of 1 x 128 numbers of activations and gradients and 128 x 128 of
    weights; Hopper's tensor cores for 128 terms, and then an addition in float32."""
    promoted = 'parts({};fp32;rounded)'.format(HOPPER.format('e4m3'))
    return Named('deepseek_v3', Recipe(x='dsv3_1x128', w='dsv3_128x128', g='dsv3_1x128', accum=promoted),
                 'DeepSeek-V3 Technical Report (2024), section 3.3; inference/kernel.py',
                 same=('E4M3 for all operands, sizes of blocks, scales amax / 448 in binary32', 'promotion to float32 every 128 '
                       'terms, with the scales', 'embeddings, the output head, gates of experts, norms and attention stay in '
                       'higher precision'),
                 others=('X of dW is rounded from the tensor; there from its FP8 copy, with scales that are powers of two',
                         'inputs of the layer behind attention are E4M3, there E5M6', 'master weights are the model\'s own in '
                         'float32; moments of AdamW are not bfloat16 unless you use ht.AdamW(state="bfloat16")'),
                 compared='an evaluator in NumPy from the report', exempted=HEADS + ('*.gate', '*.router'), rest=BF16)


def fp8_lm() -> Named:
    """FP8-LM: E4M3 forward, E5M2 for gradients of activations, weight gradients in E4M3; a scale for each tensor. Its
    optimizer's states are not part of it."""
    return Named('fp8_lm', Recipe(x=E4M3_TENSOR, w=E4M3_TENSOR, g=E5M2_TENSOR, dw=E4M3_TENSOR, accum=ONE_SCALE),
                 'Peng et al., FP8-LM (2023), section 2.1; MS-AMP, msamp/nn/functional.py',
                 same=('formats and scales of the operands', 'weight gradients in E4M3 with a scale for each'),
                 others=('scales are those of the tensors themselves; MS-AMP takes amaxes of 16 steps (fp8_lm_history)',
                         'gradients of several backward passes are added in float32 behind the rounding',
                         'weights are the model\'s own in float32; there binary16 with a scale for each tensor',
                         'states of the optimizer: not here'),
                 compared='an evaluator in NumPy')


def hopper() -> Named:
    """FP8 by Hopper's tensor cores without promotion ("fast accumulation"): scales of tensors as te_current, sums as the
    unit makes them, with the digits that it keeps."""
    def unit(pair: str) -> str:
        return 'parts({};fp32;alpha)'.format(HOPPER.format(pair))
    return Named('hopper', Recipe(x=E4M3_TENSOR, w=E4M3_TENSOR, g=E5M2_TENSOR, accum=unit('e4m3'), accum_dx=unit('e5m2xe4m3'),
                                  accum_dw=unit('e4m3xe5m2')),
                 'docs/accumulators.md, nv.hopper.*.f32.wgmma; Transformer Engine, use_split_accumulator=False',
                 same=('every addition of the unit as it was identified on the device',),
                 others=('Transformer Engine splits sums of the backward pass unless its settings say otherwise',),
                 compared='halfulp.dot on the codes')


__all__ = ['deepseek_v3', 'fp8_e5m2', 'fp8_lm', 'hopper', 's2fp8', 'te_block', 'te_current', 'te_mxfp8', 'torchao_mxfp8']
