# SPDX-License-Identifier: MIT
"""A model whose layers are replaced by others."""
import copy
import re
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, TypeVar, Union

from torch import Tensor, nn

from .. import _abi as abi
from . import _coverage, _globs, _records
from ._converted import converted
from ._stateful import Key, is_torch, own_key
from .layers import Conv2d, Embedding, Layer, Linear
from ._globs import named, patterns
from .precision import chooser
from .recipe import Recipe, RecipeLike

Choice = Union[RecipeLike, Callable[[str, nn.Module], Optional[RecipeLike]]]
M = TypeVar('M', bound=nn.Module)


def convert(model: M, recipe: Choice, *, key: Key = None, skip: Union[str, Sequence[str]] = (),
            only: Union[str, Sequence[str], None] = None, count: bool = False, strict: bool = False, sample: Any = None,
            inplace: bool = False) -> M:
    """The model with its modules under recipes: those that hold factors of products, and where the recipe rounds look-ups
    those that look up.

    Every torch.nn.Linear and torch.nn.Conv2d becomes the layer of this package. Any other module that holds a matrix
    (subclasses and parametrized layers, other convolutions, recurrent layers, torch.nn.MultiheadAttention, torch.nn.Bilinear,
    modules with parameters of their own) computes the products of its own forward call under the recipe, by the rules of
    `precision`; what modules inside of it do is theirs. Modules stay the same objects of a copy of the model, with their
    hooks, attributes and names; their class changes.

    Products of modules that hold no matrix stay in float32, such as those of two activations: `precision` takes them all.

    Parameters
    ----------
    model : torch.nn.Module
        Copied, unless `inplace`; then parameters stay the same objects.
    recipe : Recipe, a rounding, or a function of a module's name and the module
        A rounding ("float8_e4m3fn", torch.float8_e4m3fn, "mxfp8_e4m3"): the recipe that rounds inputs and weights by
        it, keeps gradients and adds in float32. None from the function: the module stays as it is. The function is also
        asked about modules that cannot be converted; None says that these may stay.
    key : int or "torch", optional
        Layer number i (in the order of named_modules) draws from child i of the stream (key, 0). Without a key
        torch.manual_seed decides; "torch": each forward call takes its words from torch's generator.
    skip, only : str or sequence of str
        Names of modules, or globs ("*.head", "features.?"), that stay as they are, or the only ones that do not, with all
        that is inside, in all their places.
    count : bool
        Count events.
    strict : bool
        What would be a warning is an error.
    sample : Tensor, tuple or dict, optional
        The model's argument, or its arguments. One pass of the converted model is made with it, after which buffers and
        generators are as before, and what it multiplies is counted, product by product: then modules are named that
        multiply in float32, whatever holds the factors, and no others.

    Raises
    ------
    HalfulpValueError: nothing was converted; or `strict`, and products stay in float32. The model is as it was then.
    """
    abi.instance('model', model, nn.Module)
    strict, count, skip = abi.flag('strict', strict), abi.flag('count', count), patterns('skip', skip)
    only = None if only is None else patterns('only', only)
    if key is not None and not is_torch(key):
        key = own_key(key, True)
    model = model if abi.flag('inplace', inplace) else _copied(model)
    plan = _Plan(model, chooser(recipe), skip, only, list(getattr(recipe, 'asked', ())))
    before = [(module, type(module), dict(module.__dict__), dict(module._buffers),
               set(module._non_persistent_buffers_set)) for _, module, _ in plan.chosen]
    if not before:
        left = _coverage.of_weights(model, lambda name, module: False)
        raise abi.HalfulpValueError('convert: nothing was converted' + (
            '; ' + left.told() if left.left else _why_nothing(model)))
    try:
        plan.apply(key, count)
        _tell(_coverage.of_weights(model, plan.stays) if sample is None
              else _coverage.of_a_pass(model, sample, plan.stays), strict)
    except BaseException:
        for module, kind, attributes, buffers, others in before:
            module.__class__ = kind
            module.__dict__.clear()
            module.__dict__.update(attributes)
            module.__dict__.update(_buffers=buffers, _non_persistent_buffers_set=others)
        raise
    _no_fused_path(model)
    return model


def _copied(model: M) -> M:
    """A copy. torch copies no tensor with a graph; those that pruning and older norms make of parameters, and the weights that
    recurrent layers keep beside them, are made again at the next call, so that their numbers alone serve."""
    memo: Dict[int, Any] = {}
    for module in model.modules():
        own = module._parameters
        made = [x for name, x in module.__dict__.items() if name + '_orig' in own or name + '_v' in own]
        for x in made + list(getattr(module, '_flat_weights', ())):
            if isinstance(x, Tensor) and not x.is_leaf:
                memo[id(x)] = x.detach().clone()
    return copy.deepcopy(model, memo)


class _Plan:
    """Which modules of a model change, each with its recipe."""

    def __init__(self, model: nn.Module, choose: Callable[[str, nn.Module], Optional[Recipe]], skip: Sequence[str],
                 only: Optional[Sequence[str]], asked: List[str]) -> None:
        places: Dict[int, List[str]] = {}
        for name, module in model.named_modules(remove_duplicate=False):
            places.setdefault(id(module), []).append(name)
        every = [name for names in places.values() for name in names]
        missing = _globs.missing(list(skip) + list(only or ()) + asked, every)
        if missing:
            raise abi.HalfulpValueError('convert: ' + _globs.no_module(missing, every))
        self.choose = choose
        self.kept = {one for one, names in places.items() if any(named(name, skip) for name in names)
                     or only is not None and not any(named(name, only) for name in names)}
        self.chosen: List[Tuple[str, nn.Module, Recipe]] = []
        inner = _coverage.read_alone(model)
        for name, module in model.named_modules():
            if id(module) not in self.kept and id(module) not in inner and _can_be_low(module):
                wanted = choose(name, module)
                if wanted is None:
                    self.kept.add(id(module))
                elif not isinstance(module, _LOOKS_UP) or wanted.embedding != 'keep':
                    self.chosen.append((name, module, wanted))

    def stays(self, name: str, module: nn.Module) -> bool:
        """Whether somebody says that a module stays as it is."""
        return id(module) in self.kept or self.choose(name, module) is None

    def apply(self, key: Key, count: bool) -> None:
        for i, (name, module, recipe) in enumerate(self.chosen):
            if key is None and (recipe.stochastic or _records.rounding(recipe.embedding).stochastic):
                key = own_key(None, True)
            own = key if key is None or is_torch(key) else _records.child(key, i)
            if type(module) is nn.Embedding:
                module.__class__ = Embedding
                module._follow(recipe.embedding, own, count)
            elif type(module) in (nn.Linear, nn.Conv2d) and 'forward' not in module.__dict__:
                module.__class__ = Linear if type(module) is nn.Linear else Conv2d
                module._follow(recipe, own, count, name)
            else:
                converted(module, recipe, own, count, name)


_LOOKS_UP = (nn.Embedding, nn.EmbeddingBag)


def _why_nothing(model: nn.Module) -> str:
    """What a model is whose modules hold no matrix that torch multiplies by."""
    for name, module in model.named_modules():
        place = '{!r} ({}.{})'.format(name, type(module).__module__.partition('.modules')[0], type(module).__name__)
        if isinstance(module, Layer):
            return ('; {} is a layer of this package already: convert the model as it was before, under the other '
                    'recipe'.format(place))
        if _QUANTIZED.match(type(module).__module__):
            return ('; {} has quantized its weights, with a product of its own: convert the model as it was '
                    'before'.format(place))
    return ', for no module of the model holds a matrix'


_QUANTIZED = re.compile(r'torch(\.ao)?\.nn\.(intrinsic\.)?quantized')


def _can_be_low(module: nn.Module) -> bool:
    """Whether it holds what is multiplied or looked up. A lazy layer gets its class when it is called."""
    if isinstance(module, nn.modules.lazy.LazyModuleMixin) or isinstance(module, Layer) or _QUANTIZED.match(
            type(module).__module__):
        return False
    if isinstance(module, _LOOKS_UP):
        return True
    return not isinstance(module, _coverage.WITHOUT) and (_coverage.multiplies(module)
                                                           or any(True for _ in _coverage.matrices(module)))


def _tell(coverage: _coverage.Coverage, strict: bool) -> None:
    """The warning, or the error, about what stays in float32."""
    if not coverage.left:
        return
    if strict:
        raise abi.HalfulpValueError('convert: {}; skip= names those that may'.format(coverage.told()))
    more = '' if coverage.measured else ', sample= counts those of a pass'
    warnings.warn('halfulp.torch.convert: {}; skip= names those that may, strict=True makes this an error{}'.format(
        coverage.told(), more), stacklevel=3)


def _no_fused_path(model: nn.Module) -> None:
    """Without gradients torch computes its transformer layers by one call on the weights, which would pass the new
    layers by; layers and encoders that have some inside take the ordinary way."""
    for module in model.modules():
        if isinstance(module, (nn.TransformerEncoderLayer, nn.TransformerEncoder)) and any(
                isinstance(inner, Layer) for inner in module.modules()):
            if isinstance(module, nn.TransformerEncoderLayer):
                module.activation_relu_or_gelu = 0
            else:
                module.use_nested_tensor = False
