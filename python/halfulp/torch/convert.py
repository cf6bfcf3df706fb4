# SPDX-License-Identifier: MIT
"""A model whose layers are replaced by others."""
import copy
from typing import Any, Callable, Optional, Sequence, Union

from torch import nn

from . import _records
from ._stateful import Key, own_key
from ._streams import TORCH
from .layers import Conv2d, Embedding, Layer, Linear
from .recipe import Recipe, RecipeLike

Choice = Union[RecipeLike, Callable[[str, nn.Module], Optional[RecipeLike]]]


def convert(model: nn.Module, recipe: Choice, *, key: Key = None, skip: Union[str, Sequence[str]] = (),
            count: bool = False, inplace: bool = False) -> nn.Module:
    """The model with every torch.nn.Linear and torch.nn.Conv2d replaced by the layer of this package, with the same
    parameters; so is every torch.nn.Embedding where the recipe rounds look-ups. A module that has several places in
    the model keeps them. Projections of torch.nn.MultiheadAttention are no torch.nn.Linear and stay as they are.

    Parameters
    ----------
    model : torch.nn.Module
        Copied, unless `inplace`; then parameters stay the same objects.
    recipe : Recipe, a rounding, or a function of a module's name and the module
        A rounding ("float8_e4m3fn", torch.float8_e4m3fn, "mxfp8_e4m3"): the recipe that rounds inputs and weights by
        it, keeps gradients and adds in float32. None from the function: the module stays as it is.
    key : int or "torch", optional
        Layer number i (in the order of named_modules) draws from child i of the stream (key, 0). Without a key
        torch.manual_seed decides; "torch": each forward call takes its words from torch's generator.
    skip : str or sequence of str
        Names of modules that stay as they are ("head", "features.0"), in all their places.
    count : bool
        Count events.
    """
    model = model if inplace else copy.deepcopy(model)
    places, skip = dict(model.named_modules(remove_duplicate=False)), [skip] if isinstance(skip, str) else skip
    missing = [name for name in skip if name not in places]
    if missing:
        raise ValueError('convert: the model has no module {}'.format(', '.join(map(repr, missing))))
    kept, made = {id(places[name]) for name in skip}, {}
    choose = _chooser(recipe)
    for name, module in model.named_modules():  # each once, whatever places it has
        if type(module) in (nn.Linear, nn.Conv2d, nn.Embedding) and id(module) not in kept:
            wanted = choose(name, module)
            wanted = None if wanted is None else Recipe.of(wanted)
            if wanted is not None and (type(module) is not nn.Embedding or wanted.embedding != 'keep'):
                if key is None and (wanted.stochastic or _records.rounding(wanted.embedding).stochastic):
                    key = own_key(None, True)
                own = key if key is None or key == TORCH else _records.child(key, len(made))
                made[id(module)] = _like(module, wanted, own, count)
    for name, module in places.items():
        if id(module) in made:
            if name == '':
                return made[id(module)]
            parent, _, last = name.rpartition('.')
            setattr(places[parent], last, made[id(module)])
    _no_fused_path(model)
    return model


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
