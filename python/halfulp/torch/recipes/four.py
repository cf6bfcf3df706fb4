# SPDX-License-Identifier: MIT
"""Recipes with operands of 4 bits."""
from dataclasses import dataclass
from typing import Optional, Tuple

from torch import Tensor

from ... import _abi as abi
from .. import ops
from ..recipe import Recipe
from . import blocks
from .named import BF16, HEADS, Named
from .own import Own, signs_of

TE_SIGNS = 0xD7E8  # HU_HADAMARD_SIGNS_TRANSFORMER_ENGINE
_TILES = 'scaled(float4_e2m1fn;scale=ue4m3;block=16x16;rule=ratio;steps={};tensor;zero=zero)'
_MX = 'scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)'
_ONE_LEVEL = 'scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio;zero=zero)'
_SRA = ',sra:16'
_ORDER = 'sums are float32 in a stated order'


def torchao_nvfp4() -> Named:
    """NVFP4 of torchao's quantization-aware training: operands of the forward product with two levels of scales; the
    backward products take what these have left, and gradients as they are."""
    return Named('torchao_nvfp4', Recipe(x='nvfp4_torchao18', w='nvfp4_torchao18', w_dx='keep', x_dw='keep', twice=True),
                 'torchao 0.18, prototype/qat/nvfp4.py; mx_formats/nvfp4_tensor.py',
                 same=('both scales and the codes of X and W', 'dX and dW from the decoded X and W', 'results have the '
                       'tensors\' own type'),
                 others=('blocks with a scale below 2^-6 keep it; torchao raises it to 2^-6', _ORDER),
                 compared='torchao\'s NVFP4Tensor, bit for bit')


def te_nvfp4() -> Named:
    """Transformer Engine's NVFP4BlockScaling with its defaults: weights in tiles of 16 x 16, gradients stochastically, both
    operands of dW behind a Hadamard transform of 16 with its fixed signs."""
    return _nvfp4('te_nvfp4', 'nvfp4_te', 'encode', 'Transformer Engine 2.20, common/recipe, NVFP4BlockScaling; '
                  'custom_recipes/reference_nvfp4.py', 'the package\'s NVFP4QuantizerRef', (), None)


def nvfp4_pretraining() -> Named:
    """NVIDIA's pretraining in NVFP4: weights in tiles of 16 x 16, gradients stochastically, both operands of dW behind a
    random Hadamard transform; some linear layers stay in bfloat16: `exempt(*ht.recipes.last(model, 0.16))`."""
    return _nvfp4('nvfp4_pretraining', 'nvfp4', 'multiply', 'NVIDIA, Pretraining Large Language Models with NVFP4 (arXiv '
                  '2509.25149), section 4', 'halfulp.train.Net; an evaluator in NumPy', HEADS, BF16)


def _nvfp4(name: str, rows: str, steps: str, source: str, compared: str, exempted: Tuple[str, ...],
           rest: Optional[Recipe]) -> Named:
    recipe = Recipe(x=rows, w=_TILES.format(steps), g=rows + _SRA, hadamard=16, signs=TE_SIGNS)
    others = ['a gradient is rounded by 16 random bits of this package\'s stream', _ORDER,
              'rows behind the last 16 of a batch are not transformed; the source takes multiples of 16']
    if rest is not None:
        others += ['which linear layers stay in bfloat16 is yours to say: the paper leaves the last blocks, some 15 %',
                   'no switch to higher precision at the end of the run']
    return Named(name, recipe, source,
                 same=('both levels of scales, tiles of weights, signs of the transform', 'each operand is rounded from the '
                       'high-precision tensor', 'attention, embeddings and norms stay in higher precision'),
                 others=tuple(others), compared=compared, exempted=exempted, rest=rest)


def fp4_all_the_way() -> Named:
    """FP4 All the Way: E2M1 under E4M3 scales of 16 numbers without a scale of the tensor; dY of both products and X of dW
    are rounded stochastically, all else to nearest."""
    return Named('fp4_all_the_way', Recipe(x=_ONE_LEVEL, w=_ONE_LEVEL, g=_ONE_LEVEL + _SRA, x_dw=_ONE_LEVEL + _SRA),
                 'Chmiel et al., FP4 All the Way (arXiv 2505.19115), equations 4 and 5',
                 same=('blocks, scales and which operand is rounded how', 'linear layers alone'),
                 others=('the end of the run with a backward pass in higher precision is yours to switch', _ORDER,
                         '16 random bits for each number', 'gradients whose block is below 2^-10 times 6 are 0: no '
                         'scale of the tensor lifts them, but a loss scale does'), compared='halfulp.train.Net to nearest; means of many roundings',
                 exempted=HEADS)


def tetrajet() -> Named:
    """TetraJet: E2M1 in blocks of 32 with scales rounded up, forward to nearest and backward stochastically; W of dX and X
    of dW are rounded from what the forward pass has left."""
    return Named('tetrajet', Recipe(x=_MX, w=_MX, g=_MX + _SRA, w_dx=_MX + _SRA, x_dw=_MX + _SRA, twice=True),
                 'Chen et al., Oscillation-Reduced MXFP4 Training for Vision Transformers (arXiv 2502.20853), section 4; '
                 'QLinear.py', same=('blocks, scales, double quantization', 'linear layers alone'),
                 others=('Q-EMA and Q-Ramping are not part of it', _ORDER, '16 random bits for each number'),
                 compared='halfulp.train.Net; an evaluator in NumPy', exempted=HEADS)


# ---- recipes with steps of their own ----

@dataclass(frozen=True)
class _Quartet(Own):
    """stochastic_back: version 1 of the paper."""

    stochastic_back: bool = False

    SHOWN = ('float4_e2m1fn 1x32 float8_e8m0fnu',) * 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self._own(True)

    def _fit(self, x: Tensor, sign: int, stream: Optional[Tensor], use: int) -> Tensor:
        mode = 'sra:16' if self.stochastic_back else ''
        return blocks.fit(blocks.transform(x, blocks.BLOCK, sign), mode, stream, use)

    def forward(self, a: Tensor, b: Tensor, stream: Optional[Tensor]) -> Tensor:
        x, w = (blocks.project(blocks.transform(rows, blocks.BLOCK))[0] for rows in (a, b.t()))
        return self.product(0, x, w.t())

    def backward(self, g: Tensor, a: Tensor, b: Tensor, stream: Optional[Tensor], of_a: bool,
                 of_b: bool) -> Tuple[Optional[Tensor], Optional[Tensor]]:
        sign, = signs_of(stream, 1)
        (x, inside_x), (w, inside_w) = (blocks.project(blocks.transform(rows, blocks.BLOCK)) for rows in (a, b.t()))
        da = db = None
        if of_a:
            both = self._fit(g, sign, stream, ops.GRAD_A[0]), self._fit(w.t(), sign, stream, ops.GRAD_A[1])
            da = self.product(1, both[0], both[1].t())
            da = blocks.transform(da * inside_x, blocks.BLOCK) * blocks.BACK
        if of_b:
            both = self._fit(x.t(), sign, stream, ops.GRAD_B[0]), self._fit(g.t(), sign, stream, ops.GRAD_B[1])
            db = self.product(2, both[0], both[1].t()).t()
            db = (blocks.transform(db * inside_w, blocks.BLOCK) * blocks.BACK).t()
        return da, db


def quartet(stochastic: bool = False) -> Named:
    """Quartet: all three products of linear layers in MXFP4 behind Hadamard transforms of 32; gradients pass where the
    forward rounding did not saturate. halfulp/train/products.h (HU_QUARTET_) has every step.

    Parameters
    ----------
    stochastic : bool
        The backward pass rounds stochastically, as in version 1 of the paper and in its repository's setup; else to
        nearest, as in version 4.
    """
    return Named('quartet', _Quartet(stochastic_back=abi.flag('stochastic', stochastic)),
                 'Castro et al., Quartet (arXiv 2505.14669), algorithm 1 of version 4; mxfp4_triton.py',
                 same=('transforms, scales, masks and factors of algorithm 1', 'new signs in each backward pass'),
                 others=('ties go to even, as in its kernels for Blackwell; its Triton code takes them toward zero', _ORDER,
                         'numbers behind the last 32 of a row are not transformed, and are a shorter block'),
                 compared='halfulp.train.Net; an evaluator in NumPy', exempted=HEADS)


@dataclass(frozen=True)
class _Unbiased(Own):
    """n: numbers of a transform."""

    n: int = 64

    SHOWN = ('bfloat16 / float4_e2m1fn 1x32 float8_e8m0fnu,sra:16',) * 2 + ('float4_e2m1fn 1x32 float8_e8m0fnu,sra:16',)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._own(True)

    def _fit(self, x: Tensor, signs: Tuple[int, ...], stream: Optional[Tensor], use: int) -> Tensor:
        return blocks.fit(blocks.transform(x, self.n, *signs), 'sra:16', stream, use)

    def forward(self, a: Tensor, b: Tensor, stream: Optional[Tensor]) -> Tensor:
        return self.product(0, a, b, 'bfloat16', 'bfloat16')

    def backward(self, g: Tensor, a: Tensor, b: Tensor, stream: Optional[Tensor], of_a: bool,
                 of_b: bool) -> Tuple[Optional[Tensor], Optional[Tensor]]:
        signs, da, db = signs_of(stream, self.n // 32), None, None
        if of_a:
            both = self._fit(g, signs, stream, ops.GRAD_A[0]), self._fit(b, signs, stream, ops.GRAD_A[1])
            da = self.product(1, both[0], both[1].t()) * blocks.BACK
        if of_b:
            both = self._fit(a.t(), signs, stream, ops.GRAD_B[0]), self._fit(g.t(), signs, stream, ops.GRAD_B[1])
            db = self.product(2, both[0], both[1].t()) * blocks.BACK
        return da, db


def _of_a_block(n: int) -> int:
    """Numbers of a transform that are whole blocks of MX, and whole words of signs."""
    if n not in (32, 64, 128):
        raise abi.HalfulpValueError('n: {!r} is not 32, 64 or 128'.format(n))
    return n


def mxfp4_stochastic(n: int = 64) -> Named:
    """MXFP4 in the backward pass without a bias: both products behind a random Hadamard transform, 3/4 of each number
    rounded stochastically, the product times 16/9. The forward pass is bfloat16.

    Parameters
    ----------
    n : 32, 64 or 128
        Numbers of a block of the transform (the paper's g).
    """
    return Named('mxfp4_stochastic', _Unbiased(n=_of_a_block(n)),
                 'Tseng et al., MXFP4 with stochastic rounding (arXiv 2502.20586), algorithms 2 and 3',
                 same=('scales of the numbers, then 3/4 of them', 'one vector of signs for both operands, new in each backward '
                       'pass', 'linear layers alone'),
                 others=('16 random bits for each number', 'numbers behind the last n of a row are not transformed', _ORDER),
                 compared='means of many roundings in NumPy', exempted=HEADS)


@dataclass(frozen=True)
class _Quartet2(Own):
    """n: numbers of a transform."""

    n: int = 32

    SHOWN = ('float4_e2m1fn,rna 1x16 float8_e4m3fn two levels',) * 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self._own(True)

    def _eden(self, x: Tensor, signs: Tuple[int, ...], stream: Optional[Tensor], use: int, name: str) -> Tensor:
        return blocks.eden(blocks.transform(x, self.n, *signs), self.n, stream, use, name)

    def forward(self, a: Tensor, b: Tensor, stream: Optional[Tensor]) -> Tensor:
        return self.product(0, blocks.nearest(a, 'X'), blocks.nearest(b.t(), 'W').t())

    def backward(self, g: Tensor, a: Tensor, b: Tensor, stream: Optional[Tensor], of_a: bool,
                 of_b: bool) -> Tuple[Optional[Tensor], Optional[Tensor]]:
        signs, da, db = signs_of(stream, -(-self.n // 32)), None, None
        if of_a:
            left = self._eden(g, signs, stream, ops.GRAD_A[0], 'dY')
            right = self._eden(blocks.nearest(b.t(), 'W').t(), signs, stream, ops.GRAD_A[1], 'W of dX')
            da = self.product(1, left, right.t())
        if of_b:
            left = self._eden(blocks.nearest(a, 'X').t(), signs, stream, ops.GRAD_B[0], 'X of dW')
            right = self._eden(g.t(), signs, stream, ops.GRAD_B[1], 'dY of dW')
            db = self.product(2, left, right.t())
        return da, db


def quartet_2(n: int = 32) -> Named:
    """Quartet II: NVFP4 to nearest in the forward pass; in the backward pass behind a random Hadamard transform, to nearest,
    with scales that are corrected for their length and rounded stochastically (MS-EDEN).

    Parameters
    ----------
    n : 32, 64 or 128
        Numbers of a block of the transform, and of a correction (hadamard_dim).
    """
    return Named('quartet_2', _Quartet2(n=_of_a_block(n)),
                 'Panferov et al., Quartet II (arXiv 2601.22813); IST-DASLab/Quartet-II, schemes/quartet_2.py',
                 same=('both levels of scales with their bounds 447.99 and 255.99, ties away from zero, corrections', 'backward '
                       'operands are made from what the forward pass has left', 'rows that are no multiple of n are refused'),
                 others=('divisions are correctly rounded, and sums of a correction have a stated order; Triton leaves both open',
                         'no Four Over Six, which its kernels can add in the forward pass', '16 random bits for each scale',
                         'amaxes are those of the tensors (delayed_amax=False)', _ORDER),
                 compared='an evaluator in NumPy from the program\'s text', exempted=HEADS)


__all__ = ['fp4_all_the_way', 'mxfp4_stochastic', 'nvfp4_pretraining', 'quartet', 'quartet_2', 'te_nvfp4', 'tetrajet',
           'torchao_nvfp4']
