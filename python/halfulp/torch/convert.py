# SPDX-License-Identifier: MIT
"""A model whose layers are replaced by others."""
import copy
import re
import warnings
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, Union

from torch import nn

from .. import _abi as abi
from . import _coverage, _records
from ._stateful import Key, is_torch, own_key
from .layers import Conv2d, Embedding, Layer, Linear
from .recipe import Recipe, RecipeLike

Choice = Union[RecipeLike, Callable[[str, nn.Module], Optional[RecipeLike]]]


def convert(model: nn.Module, recipe: Choice, *, key: Key = None, skip: Union[str, Sequence[str]] = (),
            count: bool = False, strict: bool = False, sample: Any = None, inplace: bool = False) -> nn.Module:
    """The model with every torch.nn.Linear and torch.nn.Conv2d replaced by the layer of this package, with the same
    parameters; so is every torch.nn.Embedding where the recipe rounds look-ups. A module that has several places in
    the model keeps them.

    Products of other modules stay in float32: of subclasses and parametrized layers, other convolutions, recurrent
    layers, projections of torch.nn.MultiheadAttention, of a module's own parameters. A warning names those that hold
    weights and their share of the multiply-adds.

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
    skip : str or sequence of str
        Names of modules that stay as they are, with all that is inside ("head", "features.0"), in all their places.
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
    strict, count, skip = abi.flag('strict', strict), abi.flag('count', count), _names(skip)
    if key is not None and not is_torch(key):
        key = own_key(key, True)
    model = model if abi.flag('inplace', inplace) else copy.deepcopy(model)
    places = dict(model.named_modules(remove_duplicate=False))
    missing = [name for name in skip if name not in places]
    if missing:
        raise abi.HalfulpValueError('convert: the model has no module {}'.format(', '.join(map(repr, missing))))
    kept, made = {id(inner) for name in skip for inner in places[name].modules()}, {}
    choose = _chooser(recipe)
    for name, module in model.named_modules():  # each once, whatever places it has
        if _can_be_low(module) and id(module) not in kept:
            wanted = choose(name, module)
            wanted = None if wanted is None else Recipe.of(wanted)
            if wanted is None:
                kept.add(id(module))
            elif type(module) is not nn.Embedding or wanted.embedding != 'keep':
                if key is None and (wanted.stochastic or _records.rounding(wanted.embedding).stochastic):
                    key = own_key(None, True)
                own = key if key is None or is_torch(key) else _records.child(key, len(made))
                made[id(module)] = _like(module, wanted, own, count)

    def chosen(name: str, module: nn.Module) -> bool:
        return id(module) in kept or choose(name, module) is None
    if not made:
        left = _coverage.of_weights(model, lambda name, module: False)
        raise abi.HalfulpValueError('convert: nothing was converted' + (
            '; ' + left.told() if left.left else _why_nothing(model)))
    moved = [(*_home(places, name), made[id(module)]) for name, module in places.items() if id(module) in made]
    if '' in places and id(model) in made:
        return made[id(model)]
    before = [(parent, last, getattr(parent, last)) for parent, last, _ in moved]
    _put(moved)
    try:
        _tell(_coverage.of_weights(model, chosen) if sample is None else _coverage.of_a_pass(model, sample, chosen),
              strict)
    except BaseException:
        _put(before)
        raise
    _no_fused_path(model)
    return model


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


def _names(skip: Any) -> Sequence[str]:
    names = [skip] if isinstance(skip, str) else skip
    if not isinstance(names, (list, tuple, set, frozenset)) or not all(isinstance(name, str) for name in names):
        raise abi.HalfulpTypeError('skip: a name or names are wanted, not {!r}'.format(skip))
    return list(names)


def _can_be_low(module: nn.Module) -> bool:
    """Whether there is a layer of this package for it. A weight that pruning or the older weight_norm computes is
    no parameter of the module."""
    if type(module) is nn.Conv2d and (isinstance(module.padding, str) or module.padding_mode != 'zeros'):
        return False
    return (type(module) in (nn.Linear, nn.Conv2d, nn.Embedding)
            and isinstance(module._parameters.get('weight'), nn.Parameter))


def _home(places: Dict[str, nn.Module], name: str) -> Tuple[nn.Module, str]:
    parent, _, last = name.rpartition('.')
    return places[parent], last


def _put(modules: Sequence[Tuple[nn.Module, str, nn.Module]]) -> None:
    for parent, last, module in modules:
        setattr(parent, last, module)


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


def _chooser(recipe: Any) -> Callable[[str, nn.Module], Optional[RecipeLike]]:
    """A function of name and module from what may stand for one. (Types are called, too, but are formats.)"""
    if callable(recipe) and not isinstance(recipe, (type, Recipe)):
        return recipe
    whole = Recipe.of(recipe)
    return lambda name, module: whole


def _like(module: nn.Module, recipe: Recipe, key: Key, count: bool) -> nn.Module:
    if type(module) is nn.Embedding:
        made = Embedding(module.num_embeddings, module.embedding_dim, module.padding_idx, module.max_norm,
                         module.norm_type, module.scale_grad_by_freq, module.sparse, device='meta',
                         rounding=recipe.embedding, key=key, count=count)
        made.weight = module.weight
        made.train(module.training)
        return made
    if type(module) is nn.Linear:
        made = Linear(module.in_features, module.out_features, module.bias is not None, device='meta', recipe=recipe,
                      key=key, count=count)
    else:
        made = Conv2d(module.in_channels, module.out_channels, module.kernel_size, module.stride, module.padding,
                      module.dilation, module.groups, module.bias is not None, module.padding_mode, device='meta',
                      recipe=recipe, key=key, count=count)
    made.weight, made.bias = module.weight, module.bias
    made.train(module.training)
    return made
