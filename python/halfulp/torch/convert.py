# SPDX-License-Identifier: MIT
"""A model with other layers in the places of its own."""
import copy
from typing import Callable, Optional, Sequence, Union

from torch import nn

from . import _records
from .layers import Conv2d, Layer, Linear
from .recipe import Recipe

Choice = Union[Recipe, Callable[[str, nn.Module], Optional[Recipe]]]


def convert(model: nn.Module, recipe: Choice, *, key: int = 0, skip: Sequence[str] = (), count: bool = False,
            inplace: bool = False) -> nn.Module:
    """The model with every torch.nn.Linear and torch.nn.Conv2d replaced by the layer of this package, with the same
    parameters. A module that has several places in the model keeps them. Projections of torch.nn.MultiheadAttention
    are no torch.nn.Linear and stay as they are.

    Parameters
    ----------
    model : torch.nn.Module
        Copied, unless `inplace`; then parameters stay the same objects.
    recipe : Recipe, or a function of a module's name and the module
        None from the function: the module stays as it is.
    key : int
        Layer number i (in the order of named_modules) draws from child i of the stream (key, 0).
    skip : sequence of str
        Names of modules that stay as they are ("head", "features.0"), in all their places.
    count : bool
        Count events.
    """
    model = model if inplace else copy.deepcopy(model)
    places = dict(model.named_modules(remove_duplicate=False))
    missing = [name for name in skip if name not in places]
    if missing:
        raise ValueError('convert: the model has no module {}'.format(', '.join(map(repr, missing))))
    kept, made = {id(places[name]) for name in skip}, {}
    for name, module in model.named_modules():  # each once, whatever places it has
        if type(module) in (nn.Linear, nn.Conv2d) and id(module) not in kept:
            wanted = recipe if isinstance(recipe, Recipe) else recipe(name, module)
            if wanted is not None:
                made[id(module)] = _like(module, wanted, _records.child(key, len(made)), count)
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


def _like(module: nn.Module, recipe: Recipe, key: int, count: bool) -> nn.Module:
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
