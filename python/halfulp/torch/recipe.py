# SPDX-License-Identifier: MIT
"""How a layer's three products are computed, as a value."""
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple, Union

from torch import Tensor

from .. import _abi as abi
from .._names import near
from . import _records, ops

if TYPE_CHECKING:
    import numpy as np
    import torch

    from .. import Accumulator, Format, Model, Number, Preset, Rounding, Scaling
    RoundingLike = Union[str, torch.dtype, np.dtype[Any], type, Format, Scaling, Number, Rounding, Preset]
    AccumLike = Union[str, Accumulator, Model]


@dataclass(frozen=True)
class Recipe:
    """Y = X W^T of a layer, dX = dY W and dW = dY^T X, each with the roundings of its operands, its sum and the
    rounding of its result.

    Parameters
    ----------
    x, w, g : str, torch.dtype, halfulp.Format, ...
        Roundings of the input, the weight and the gradient of the result: "keep", "float8_e4m3fn", "float8_e5m2,sra:8",
        "mxfp8_e4m3", "nvfp4", "s2fp8", "posit8", ... (halfulp/train/rounding.h), or presets (halfulp.presets). Blocks
        of scaled tensors lie along the axis that the product is summed over ("turned": across it).
    accum : str
        Accumulation model of all three: "fp32", "exact", "seq(binary16)", "nv.hopper.e4m3.f32.wgmma", ...
        (halfulp/accum.h); for scaled tensors also "parts(INSIDE;ACROSS;FACTOR)", "unit(MODEL)",
        "decoded([FORMAT;]MODEL)" (halfulp/gemm.h). Under other models scaled operands are decoded to float32
        before they are multiplied.
    out, dx, dw : str
        Roundings of Y (before the bias), dX and dW. A format: the one rounding of the sum; others: of the sum
        rounded to float32. "keep": the tensors' own type.
    accum_dx, accum_dw, g_dx, w_dx, x_dw, g_dw : str, optional
        Where dX = g_dx(dY) w_dx(W) and dW = g_dw(dY)^T x_dw(X) differ from the above.
    hadamard, signs : int
        16, 32, 64 or 128: X and dY of dW are transformed along the rows that it sums over, before they are rounded
        (docs/hadamard.md, norm "root"; `signs`: the word whose bit i mod 32 inverts number i of a block), so that dW
        is the same up to roundings. Rows behind the last whole block stay as they are. 0: nothing is transformed.
    twice : bool
        W of dX and X of dW are rounded from what `w` and `x`, which must draw no words, have left of them, not from the
        tensors themselves ("double quantization"). Not with `hadamard`, nor in dW of a convolution.
    gradient : str
        "straight_through": roundings of x and w count as the identity. "zero_outside": gradients of elements outside
        of the range that they were rounded into are exactly 0.
    convolution : str
        "tensors": a convolution's X and dX are rounded as tensors, each pixel once, blocks along channels; a sum that
        takes scaled operands ("parts(...)" and the like) takes patches nevertheless. "windows": patches are rounded,
        and what each window gives to dX.
    embedding : str
        Rounding of what torch.nn.Embedding looks up, in a model that `convert` makes. The gradient of the table is not
        rounded: no product makes it.
    """

    x: str = 'keep'
    w: str = 'keep'
    g: str = 'keep'
    accum: str = 'fp32'
    out: str = 'keep'
    dx: str = 'keep'
    dw: str = 'keep'
    accum_dx: Optional[str] = None
    accum_dw: Optional[str] = None
    g_dx: Optional[str] = None
    w_dx: Optional[str] = None
    x_dw: Optional[str] = None
    g_dw: Optional[str] = None
    gradient: str = 'straight_through'
    convolution: str = 'tensors'
    embedding: str = 'keep'
    hadamard: int = 0
    signs: int = 0
    twice: bool = False

    if TYPE_CHECKING:  # what fields are made of; each becomes its text

        def __init__(self, x: RoundingLike = 'keep', w: RoundingLike = 'keep', g: RoundingLike = 'keep',
                     accum: AccumLike = 'fp32', out: RoundingLike = 'keep', dx: RoundingLike = 'keep',
                     dw: RoundingLike = 'keep', accum_dx: Optional[AccumLike] = None,
                     accum_dw: Optional[AccumLike] = None, g_dx: Optional[RoundingLike] = None,
                     w_dx: Optional[RoundingLike] = None, x_dw: Optional[RoundingLike] = None,
                     g_dw: Optional[RoundingLike] = None, gradient: str = 'straight_through',
                     convolution: str = 'tensors', embedding: RoundingLike = 'keep') -> None: ...

    def __post_init__(self) -> None:
        ops.gradient_rule(self.gradient)
        abi.word('convolution', self.convolution, ('tensors', 'windows'))
        for field in fields(Recipe):
            value = getattr(self, field.name)
            if value is None and field.default is not None:
                raise abi.HalfulpTypeError('{}: a rounding is required, not None'.format(field.name))
            if value is not None and not isinstance(value, str) and not isinstance(field.default, int):
                object.__setattr__(self, field.name, _records.text_of(value))
        _records.rounding(self.embedding)
        self._check_steps()
        object.__setattr__(self, '_texts', self._joined())
        products = [self._product(name, text) for name, text in zip(('accum', 'accum_dx', 'accum_dw'), self._texts)]
        object.__setattr__(self, '_stochastic', any(product.stochastic for product in products))

    def _check_steps(self) -> None:
        """hadamard, signs and twice."""
        if abi.whole('hadamard', self.hadamard, 0, 128) not in (0, 16, 32, 64, 128):
            raise abi.HalfulpValueError('hadamard: {} is not 0, 16, 32, 64 or 128'.format(self.hadamard))
        if abi.whole('signs', self.signs, 0, (1 << 32) - 1) and not self.hadamard:
            raise abi.HalfulpValueError('signs: they are those of a transform, and hadamard is 0')
        if abi.flag('twice', self.twice):
            if self.hadamard:
                raise abi.HalfulpValueError('twice: what is rounded already is not transformed; hadamard has to be 0')
            for name in ('x', 'w'):
                if _records.rounding(getattr(self, name)).stochastic:
                    raise abi.HalfulpValueError('twice: {}={!r} draws other words in the backward pass; it has to be '
                                                'deterministic'.format(name, getattr(self, name)))

    def _product(self, name: str, text: str) -> _records.Product:
        try:
            return _records.product(text)
        except abi.HalfulpError as error:
            if name == 'accum' or getattr(self, name) is not None or not error.status.startswith('HU_E_OPERAND_'):
                raise
            made = type(error)('{}= is not given, so that accum= is meant: {}'.format(name, error))
            made.status = error.status
            raise made from None

    @classmethod
    def of(cls, thing: 'Optional[RecipeLike]') -> 'Recipe':
        """A recipe itself, or that of a named one (`recipes`); for a rounding the recipe that rounds inputs and weights by it;
        the plain one for None."""
        if isinstance(getattr(thing, 'recipe', None), Recipe):
            thing = thing.recipe
        if isinstance(thing, Recipe):
            return thing
        if thing is None:
            return PLAIN
        try:
            text = _records.text_of(thing)
        except abi.HalfulpTypeError:
            raise abi.HalfulpTypeError('recipe: {!r} is neither a Recipe nor a rounding of inputs and weights'.format(
                thing)) from None
        try:
            return cls(x=text, w=text)
        except abi.HalfulpValueError as error:
            raise _with_recipes(error, text) from None

    def texts(self) -> Tuple[str, str, str]:
        """The products of Y, dX and dW as ops.matmul takes them: A|B|SUM|OUT, and what comes before (_records.Before)."""
        return self._texts

    def _joined(self) -> Tuple[str, str, str]:
        def join(a: Optional[str], b: Optional[str], total: Optional[str], out: str, *usual: str) -> str:
            return '|'.join((a or usual[0], b or usual[1], total or self.accum, out))
        of_x = of_w = ''
        if self.hadamard:
            of_w = '|hadamard({},{:x})'.format(self.hadamard, self.signs)
        elif self.twice:
            of_x, of_w = ('|first({},{})'.format(*one) if one[1] != 'keep' else '' for one in (('b', self.w), ('a', self.x)))
        return (join(self.x, self.w, self.accum, self.out, '', ''),
                join(self.g_dx, self.w_dx, self.accum_dx, self.dx, self.g, self.w) + of_x,
                join(self.x_dw, self.g_dw, self.accum_dw, self.dw, self.x, self.g) + of_w)

    def multiply(self, a: Tensor, b: Tensor, stream: Optional[Tensor], tap: Optional[Tensor],
                 count: bool) -> Tuple[Tensor, Tensor]:
        """A B under this recipe, with gradients; and the counts of events, if any. Arguments as those of ops.matmul."""
        return ops.matmul(a, b, stream, tap, *self.texts(), self.gradient, ops.FORWARD, count)

    @property
    def has_steps(self) -> bool:
        """Whether its products have steps that no text says, so that `multiply` alone computes them."""
        return False

    @property
    def stochastic(self) -> bool:
        """Whether random words are drawn anywhere."""
        return self._stochastic

    def but(self, **changes: Optional[str]) -> 'Recipe':
        """The same with some fields changed. HalfulpTypeError: an unknown one."""
        known = [one.name for one in fields(self) if one.init]
        for name in changes:
            if name not in known:
                raise abi.HalfulpTypeError('but: no field {!r}; {}'.format(
                    name, near(name, known) or 'there are ' + ', '.join(known)))
        return replace(self, **changes)

    def __str__(self) -> str:
        said = ['{}={!r}'.format(f.name, getattr(self, f.name)) for f in fields(self)
                if f.repr and getattr(self, f.name) != f.default]
        return '{}({})'.format(type(self).__name__.lstrip('_'), ', '.join(said))


listings: List[Callable[[], Sequence[str]]] = []  # what gives names of recipes: those of `recipes`, which is made of this file


def _with_recipes(error: abi.HalfulpError, text: str) -> abi.HalfulpError:
    """The error of a text that names no rounding, with the recipes of that name or of one like it."""
    names, hint = [name for some in listings for name in some()], ''
    if text in names:
        hint = 'ht.recipes.get({0!r}) gives the recipe {0!r}'.format(text)
    else:
        hint = near(text, names)
        hint = hint and 'of the recipes of ht.recipes.get, {}'.format(hint)
    made = type(error)('{}; {}'.format(error, hint) if hint else str(error))
    made.status = error.status
    return made


PLAIN = Recipe()


@dataclass(frozen=True)
class Attention:
    """The parts of torch.nn.functional.scaled_dot_product_attention, each by a rule of its own.

    Parameters
    ----------
    scores, values : Recipe, a rounding, or None
        Of Q K^T and of the product of the weights with V: `x` rounds Q and the weights, `w` K and V. None: torch's own
        arithmetic (for one of them, both stay).
    softmax : str, torch.dtype, halfulp.Format, ...
        Rounding of the weights, what the softmax gives; torch computes it, in the type of the scores.
    """

    scores: Any = PLAIN
    values: Any = PLAIN
    softmax: str = 'keep'

    def __post_init__(self) -> None:
        for name in ('scores', 'values'):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else Recipe.of(given))
        object.__setattr__(self, 'softmax', _records.text_of(self.softmax))
        _records.rounding(self.softmax)


RecipeLike = Union[Recipe, str, Any]  # or what stands for a rounding's text
