# SPDX-License-Identifier: MIT
"""Networks from PyTorch modules: a text of layers (docs/training/networks.md), and the names and shapes of weights."""
from __future__ import annotations

import copy
import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .. import _abi as abi
from .criterion import arguments_of
from .net import Net, NetView


class Weight(NamedTuple):
    """A parameter of a module: its name there, its shape there, and how its numbers lie there."""

    name: str
    shape: Tuple[int, ...]
    kind: str  # linear (outputs, inputs); conv (outputs, channels, height, width), or transposed; rows: as here
    image: Tuple[int, ...] = ()  # channels, height, width, where a linear layer of a flattened image is a conv here
    gates: Tuple[int, ...] = ()  # of cells: the parts of the rows there, in the order that they have here

    def here(self, x: Any) -> np.ndarray:
        """A PyTorch array as the matrix of a net."""
        array = np.asarray(x, np.float32)
        if array.shape != self.shape:
            raise abi.HalfulpValueError('{}: shape {} instead of {}'.format(self.name, array.shape, self.shape))
        array = array.reshape(self.shape[0], *self.image) if self.image else self._ordered(array)
        if self.kind == 'rows':
            return np.ascontiguousarray(array.reshape(1, -1) if array.ndim == 1 else array)
        return np.ascontiguousarray(array.T if self.kind == 'linear'
                                    else array.transpose(2, 3, 1, 0).reshape(-1, self.shape[0]))

    def _ordered(self, array: np.ndarray) -> np.ndarray:
        """Gates in the other order: each of the two orders is made of the other in the same way."""
        parts = np.split(array, len(self.gates)) if self.gates else []
        return np.concatenate([parts[gate] for gate in self.gates]) if parts else array

    def there(self, matrix: np.ndarray) -> np.ndarray:
        """A net's matrix as the PyTorch array."""
        if self.kind == 'rows':
            return np.ascontiguousarray(self._ordered(matrix.reshape(self.shape)))
        if self.kind == 'linear':
            return np.ascontiguousarray(self._ordered(matrix.T))
        outputs, channels, height, width = (self.shape[0], *self.image) if self.image else self.shape
        array = matrix.reshape(height, width, channels, outputs).transpose(3, 2, 0, 1)
        return np.ascontiguousarray(array).reshape(self.shape)


class Traced(NamedTuple):
    """A module as a text of layers. Its parameters are those of `Net(text, ...)`, in order.

    text      the layers; Net(text, batch=...) builds them
    weights   names and shapes of the module's parameters
    first     the parameters themselves, float32, by these names
    outputs   columns of what it returns
    """

    text: str
    weights: List[Weight]
    first: Dict[str, np.ndarray]
    outputs: int = 1

    def net(self, *, batch: int, loss: Any = 'cross_entropy', **more: Any) -> Net:
        """The net with the module's parameters. The other arguments are those of `Net`; `loss` may be a module of
        torch.nn with the reduction "mean", `CrossEntropyLoss(label_smoothing=0.1)`, say."""
        how = {'loss': loss} if isinstance(loss, str) else arguments_of(loss, self.outputs)
        net = Net(self.text, batch=batch, **how, **more)
        self.load(net, self.first)
        return net

    def load(self, net: NetView, state: Mapping[str, Any]) -> None:
        """Sets a net's parameters from arrays by the module's names, `module.state_dict()` or a file's, say.
        Errors are those of `NetView.load_weights`; nothing is set then."""
        missing = [weight.name for weight in self.weights if weight.name not in state]
        if missing:
            raise abi.HalfulpValueError('weights: there is no {!r}'.format(missing[0]))
        arrays = [weight.here(_array(state[weight.name])) for weight in self.weights]
        net.load_weights(dict(zip(net.parameter_names, arrays)))

    def state_dict(self, net: NetView, gradients: bool = False) -> Dict[str, np.ndarray]:
        """A net's parameters, or their gradients, by the module's names and in its shapes."""
        made = net.gradients() if gradients else net.parameters()
        return {weight.name: weight.there(made[name]) for name, weight in zip(net.parameter_names, self.weights)}


def _array(x: Any) -> np.ndarray:
    return x.detach().cpu().float().numpy() if hasattr(x, 'detach') else np.asarray(x)


def inputs(*arrays: Any) -> np.ndarray:
    """A batch of a module's inputs as `Net.forward` takes it: images (samples, channels, height, width) with their
    channels last; several inputs side by side."""
    found = [_array(x).astype(np.float32) for x in arrays]
    rows = [x.transpose(0, 2, 3, 1) if x.ndim == 4 else x for x in found]
    return np.concatenate([np.ascontiguousarray(x).reshape(len(x), -1) for x in rows], axis=1)


class _Value(NamedTuple):
    """A value of the network: what it is called, its shape in PyTorch, and what is special about it."""

    name: str
    shape: Tuple[int, ...]
    flat: Optional[Tuple[int, int, int]] = None  # channels, height, width of an image that was flattened
    groups: int = 0  # channels seen as so many groups; below 0: transposed
    heads: int = 0  # columns seen as so many heads of (samples, steps, heads, columns); below 0: heads before steps


class _Parameter(NamedTuple):
    name: str
    shape: Tuple[int, ...]


def _number(x: Any) -> str:
    return repr(float(x)) if isinstance(x, float) and x != int(x) else str(int(x))


def _both(x: Any) -> List[Any]:
    """Down and across."""
    both = list(x) if isinstance(x, (list, tuple)) else [x]
    return both if len(both) == 2 else 2 * both


def _pair(x: Any) -> str:
    both = list(x) if isinstance(x, (list, tuple)) else [x]
    return _number(both[0]) if len(set(both)) == 1 else '[{}]'.format(', '.join(map(_number, both)))


def _float(x: Any) -> str:
    return repr(float(x))


def _options(given: Sequence[Tuple[str, str, str]]) -> str:
    """Those that differ from what they are without being given."""
    return ''.join(', {}={}'.format(name, value) for name, value, standard in given if value != standard)


class _Response(NamedTuple):
    """What torch.nn.LocalResponseNorm is traced as, up to its division."""

    size: int
    numbers: Tuple[float, float, float]  # alpha, beta, k
    inside: List[Any]  # the nodes between what it reads and the division


def _response(node: Any) -> Optional[_Response]:
    """x / (k + alpha mean(x x))^beta, the mean of a pool over channels; None: the division is another one."""
    inside: List[Any] = []

    def before(one: Any, *names: str) -> Any:
        """The first operand of a call of one of these, behind changes of shape."""
        while hasattr(one, 'op') and any(word in str(one.target) for word in ('view', 'reshape', 'squeeze')):
            inside.append(one)
            one = one.args[0]
        if not hasattr(one, 'op') or not any(name in str(one.target) for name in names):
            return None
        inside.append(one)
        return one

    chain = [node]
    for names in (('pow.Tensor_Scalar',), ('add.Tensor',), ('mul.Tensor',), ('avg_pool',), ('.pad.', 'constant_pad'), ('mul.Tensor',)):
        one = before(chain[-1].args[len(chain) == 1], *names) if chain[-1].args else None
        if one is None:
            return None
        chain.append(one)
    power, plus, times, pool, _, square = chain[1:]
    if square.args[0] is not square.args[1] or square.args[0] is not node.args[0]:
        return None
    return _Response(pool.args[1][0], (times.args[1], power.args[1], plus.args[1]), inside)


class _Tracer:
    """Writes a line for each operator of an exported program that computes."""

    def __init__(self, program: Any, first_names: Mapping[str, str]) -> None:
        self.lines: List[str] = []
        self.weights: List[Weight] = []
        self.values: Dict[Any, Any] = {}
        self.maker: Dict[str, str] = {}  # of each parameter: the value of the layer that has it
        self.shared = ''  # the value whose parameters the layer in hand shares
        self.checked = False  # whether that is known of it
        self.program = program
        self.outputs = 1
        signature = program.graph_signature
        self.parameters = {key: first_names.get(name, name) for key, name in signature.inputs_to_parameters.items()}
        self.buffers = dict(signature.inputs_to_buffers)

    def wrong(self, node: Any, sentence: str) -> abi.HalfulpValueError:
        return abi.HalfulpValueError('from_torch: {} ({}): {}'.format(node.name, node.target, sentence))

    def run(self) -> str:
        found = [_response(node) for node in self.program.graph.nodes if 'div.Tensor' in str(node.target)]
        inside = {node for one in found if one for node in one.inside}
        for node in self.program.graph.nodes:
            if node in inside:
                self.values[node] = None
            elif node.op == 'placeholder':
                self.values[node] = self.placeholder(node)
            elif node.op == 'call_function':
                self.values[node] = self.call(node)
            elif node.op == 'output':
                self.output(node)
        text = '\n'.join(self.lines) + '\n'
        return re.sub(r'(?m)(^scope (.*)\n(?:(?!end|scope).*\n)+)((?:end\nscope \2\n(?:(?!end|scope).*\n)+)+)',
                      lambda found: found[1] + re.sub(r'end\nscope .*\n', '', found[3]), text)

    def placeholder(self, node: Any) -> Any:
        if node.name in self.buffers:
            return None
        shape = tuple(node.meta['val'].shape)
        if node.name in self.parameters:
            return _Parameter(self.parameters[node.name], shape)
        name = self.fresh()
        if len(shape) == 4:
            self.lines.append('{} = image({}, {}, {})'.format(name, shape[2], shape[3], shape[1]))
        elif 1 <= len(shape) <= 3:
            tokens = not node.meta['val'].dtype.is_floating_point
            sides = {(1, True): (1, 1), (2, True): (shape[-1], 1), (2, False): (1, shape[-1]), (3, False): shape[1:]}
            rows = sides.get((len(shape), tokens))
            if rows is None:
                raise self.wrong(node, 'an input of shape {}'.format(shape))
            self.lines.append('{} = input({}, {})'.format(name, *rows))
        else:
            raise self.wrong(node, 'an input of shape {}'.format(shape))
        return _Value(name, shape)

    def output(self, node: Any) -> None:
        # Batch norms' new running statistics stand in front of what the user gets.
        made = [self.values.get(one) for one in node.args[0]][-1] if node.args[0] else None
        if not isinstance(made, _Value):
            raise self.wrong(node, 'the module has to return one tensor')
        self.lines.append('output {}'.format(made.name))
        self.outputs = made.shape[-1]

    def fresh(self) -> str:
        self.count = getattr(self, 'count', -1) + 1
        return 'v{}'.format(self.count)

    # ---- calls ----

    def call(self, node: Any) -> Any:
        name = str(node.target).replace('aten.', '').split('.')[0].rstrip('_')
        name = 'getitem' if 'getitem' in str(node.target) else name
        self.shared, self.checked = '', False
        rule: Optional[Callable[..., Any]] = getattr(self, 'of_' + name, None)
        if rule is None:
            raise self.wrong(node, 'there is no layer for it')
        return rule(node, *(self.value(argument) for argument in node.args),
                    **{key: self.value(argument) for key, argument in node.kwargs.items()})

    def value(self, argument: Any) -> Any:
        if isinstance(argument, (list, tuple)):
            return [self.value(one) for one in argument]
        return self.values[argument] if hasattr(argument, 'op') else argument

    def add(self, node: Any, text: str, weights: Sequence[Weight] = (), flat: Any = None) -> _Value:
        """A layer: a line, in the scope of its first parameter's module."""
        name = self.fresh()
        if self.shared:
            text, self.shared, weights = text[:-1] + ', share={})'.format(self.shared), '', []
        self.maker.update({weight.name: name for weight in weights})
        path = weights[0].name.rsplit('.', 2)[:-2] if weights else []
        scope = re.sub('[^a-z0-9_.]', '_', path[0].lower()) if path else ''
        self.lines += ['scope ' + scope] * bool(scope) + ['{} = {}'.format(name, text)] + ['end'] * bool(scope)
        self.weights += weights
        val = node.meta['val']
        return _Value(name, tuple(getattr(val, 'shape', ())), flat)

    def weight(self, node: Any, parameter: Any, kind: str, image: Tuple[int, ...] = ()) -> Weight:
        if not isinstance(parameter, _Parameter):
            raise self.wrong(node, 'its weight is not a parameter of the module')
        weight = Weight(parameter.name, parameter.shape, kind, image)
        found = next((one for one in self.weights if one.name == weight.name), None)
        maker = self.maker.get(weight.name, '')
        if bool(self.shared) != bool(found) and self.checked or (found and (found != weight or self.shared not in ('', maker))):
            raise self.wrong(node, '{} is used twice, and not by two equal layers'.format(parameter.name))
        self.shared, self.checked = maker, True
        return weight

    def of_linear(self, node: Any, x: _Value, weight: Any, bias: Any = None) -> _Value:
        if not x.flat and isinstance(weight, _Parameter) and Weight(*weight, 'rows') in self.weights:
            return self.tied(node, x, weight, bias)
        more = [self.weight(node, bias, 'rows')] if bias else []
        if not x.flat:
            given = _options([('bias', str(int(bool(bias))), '1')])
            return self.add(node, 'linear({}, {}{})'.format(x.name, weight.shape[0], given),
                            [self.weight(node, weight, 'linear'), *more])
        given = _options([('bias', str(int(bool(bias))), '0')])
        text = 'conv({}, {}, {}{})'.format(x.name, weight.shape[0], _pair(x.flat[1:]), given)
        return self.add(node, text, [self.weight(node, weight, 'conv', x.flat), *more])

    def tied(self, node: Any, x: _Value, table: _Parameter, bias: Any) -> _Value:
        """A linear layer by the table of an embedding; its bias is its own."""
        given = _options([('bias', str(int(bool(bias))), '1')])
        more = [self.weight(node, bias, 'rows')] if bias else []
        text = 'linear({}, {}{}, share={})'.format(x.name, table.shape[0], given, self.maker[table.name])
        return self.add(node, text, more)

    def of_scaled_dot_product_attention(self, node: Any, q: _Value, k: _Value, v: _Value, mask: Any = None, dropout: float = 0.0,
                                        is_causal: bool = False, scale: Any = None, enable_gqa: bool = False) -> _Value:
        heads, kv = -q.heads, -k.heads
        if mask is not None or min(heads, kv) < 1 or v.heads != k.heads or k.shape != v.shape:
            raise self.wrong(node, 'with a mask, or not of heads that are columns of values')
        if kv != heads and not (enable_gqa and heads % kv == 0):
            raise self.wrong(node, 'other heads of keys')
        memory = self.add(node, 'concat({}, {})'.format(k.name, v.name))
        given = _options([('causal', str(int(is_causal)), '0'), ('kv_heads', str(kv), str(heads)),
                          ('scale', _float(scale or 0), '0.0'), ('dropout', _float(dropout), '0.0')])
        return self.add(node, 'attention_across({}, {}, {}{})'.format(q.name, memory.name, heads, given))._replace(heads=q.heads)

    def of_conv2d(self, node: Any, x: _Value, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                  dilation: Any = 1, groups: int = 1) -> _Value:
        kernel = list(weight.shape[2:])
        if padding == 'same':  # one more behind, where the number is odd
            all_sides = [(side - 1) * apart for side, apart in zip(kernel, _both(dilation))]
            padding = [side // 2 + more for side in all_sides for more in (0, side % 2)]
        return self.windows(node, 'conv', x, weight.shape[0], weight, bias, stride, 0 if padding == 'valid' else padding,
                            dilation, groups)

    def windows(self, node: Any, name: str, x: _Value, outputs: int, weight: Any, bias: Any, stride: Any, padding: Any,
                dilation: Any, groups: int, more: Sequence[Tuple[str, str, str]] = ()) -> _Value:
        given = [('stride', _pair(stride), '1'), ('pad', _pair(padding), '0'), ('dilation', _pair(dilation), '1'),
                 ('groups', str(groups), '1'), ('bias', str(int(bool(bias))), '0'), *more]
        text = '{}({}, {}, {}{})'.format(name, x.name, outputs, _pair(list(weight.shape[2:])), _options(given))
        return self.add(node, text, [self.weight(node, weight, 'conv')] + ([self.weight(node, bias, 'rows')] if bias else []))

    def of_conv_transpose2d(self, node: Any, x: _Value, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                            output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> _Value:
        return self.windows(node, 'conv_transpose', x, weight.shape[1] * groups, weight, bias, stride, padding, dilation,
                            groups, [('output_pad', _pair(output_padding), '0')])

    def norm(self, node: Any, text: str, weight: Any, bias: Any) -> _Value:
        if not weight or not bias:
            raise self.wrong(node, 'without gain and offset')
        return self.add(node, text, [self.weight(node, weight, 'rows'), self.weight(node, bias, 'rows')])

    def of_batch_norm(self, node: Any, x: _Value, weight: Any, bias: Any, mean: Any, variance: Any, training: bool,
                      momentum: float, eps: float, *_: Any) -> _Value:
        if node.args[3] is None:  # `mean` is None in any case: buffers are not values here
            raise self.wrong(node, 'without running statistics')
        given = _options([('eps', repr(eps), '1e-05'), ('momentum', repr(momentum), '0.1')]) + ', unbiased=1'
        return self.norm(node, 'batch_norm({}{})'.format(x.name, given), weight, bias)

    def of_layer_norm(self, node: Any, x: _Value, shape: Any, weight: Any = None, bias: Any = None,
                      eps: float = 1e-5, *_: Any) -> _Value:
        if list(shape) != [x.shape[-1]] or len(x.shape) == 4:
            raise self.wrong(node, 'not over the last dimension alone')
        return self.norm(node, 'layer_norm({}{})'.format(x.name, _options([('eps', repr(eps), '1e-05')])), weight, bias)

    def of_rms_norm(self, node: Any, x: _Value, shape: Any, weight: Any = None, eps: Any = None) -> _Value:
        if list(shape) != [x.shape[-1]] or len(x.shape) == 4:
            raise self.wrong(node, 'not over the last dimension alone')
        if not weight:
            raise self.wrong(node, 'without a gain')
        eps = 2.0**-23 if eps is None else eps  # binary32's
        return self.add(node, 'rms_norm({}{})'.format(x.name, _options([('eps', repr(eps), '1e-05')])),
                        [self.weight(node, weight, 'rows')])

    def of_embedding(self, node: Any, weight: Any, x: _Value, padding: int = -1, *more: Any) -> _Value:
        if padding >= 0 or any(more):
            raise self.wrong(node, 'with padding_idx, scale_grad_by_freq or sparse')
        return self.add(node, 'embedding({}, {}, {})'.format(x.name, *weight.shape), [self.weight(node, weight, 'rows')])

    # ---- without weights ----

    def pointwise(self, node: Any, name: str, x: _Value, *numbers: float) -> _Value:
        return self.add(node, '{}({})'.format(name, ', '.join([x.name, *map(_float, numbers)])), flat=x.flat)

    def of_relu(self, node: Any, x: _Value) -> _Value:
        return self.pointwise(node, 'relu', x)

    def of_relu6(self, node: Any, x: _Value) -> _Value:
        return self.pointwise(node, 'relu6', x)

    def of_hardtanh(self, node: Any, x: _Value, low: float = -1, high: float = 1) -> _Value:
        if (low, high) == (0, 6):
            return self.pointwise(node, 'relu6', x)
        return self.pointwise(node, 'clip', x, low, high)

    def of_leaky_relu(self, node: Any, x: _Value, slope: float = 0.01, inplace: bool = False) -> _Value:
        return self.pointwise(node, 'leaky_relu', x, slope)

    def of_silu(self, node: Any, x: _Value) -> _Value:
        return self.pointwise(node, 'silu', x)

    def of_softplus(self, node: Any, x: _Value, beta: float = 1, threshold: float = 20) -> _Value:
        if beta != 1:
            raise self.wrong(node, 'beta is not 1')
        return self.pointwise(node, 'softplus', x)

    def of_detach(self, node: Any, x: Any) -> Any:
        return self.pointwise(node, 'stop_gradient', x) if isinstance(x, _Value) else x

    def of_div(self, node: Any, x: Any, y: Any) -> _Value:
        found = _response(node)
        if not found:
            raise self.wrong(node, 'there is no layer for it')
        return self.add(node, 'response_norm({}, {}, {})'.format(x.name, found.size, ', '.join(map(_float, found.numbers))))

    def of_clamp(self, node: Any, x: _Value, low: Any = None, high: Any = None) -> _Value:
        if not isinstance(low, (int, float)) or not isinstance(high, (int, float)):
            raise self.wrong(node, 'not between two numbers')
        return self.of_hardtanh(node, x, low, high)

    def of_tanh(self, node: Any, x: _Value) -> _Value:
        return self.pointwise(node, 'tanh', x)

    def of_sigmoid(self, node: Any, x: _Value) -> _Value:
        return self.pointwise(node, 'sigmoid', x)

    def of_gelu(self, node: Any, x: _Value, approximate: str = 'none') -> _Value:
        return self.pointwise(node, 'gelu' if approximate == 'none' else 'gelu_tanh', x)

    def of_dropout(self, node: Any, x: _Value, p: float, training: bool) -> _Value:
        return self.add(node, 'dropout({}, {})'.format(x.name, repr(float(p))), flat=x.flat) if training else x

    def both(self, node: Any, name: str, x: Any, y: Any) -> _Value:
        if not (isinstance(x, _Value) and isinstance(y, _Value) and x.shape == y.shape and x.flat == y.flat):
            raise self.wrong(node, 'not of two values of one shape')
        return self.add(node, '{}({}, {})'.format(name, x.name, y.name), flat=x.flat)

    def of_add(self, node: Any, x: Any, y: Any, alpha: Any = 1) -> Optional[_Value]:
        if x is None:
            return None  # a count of batches
        if alpha != 1:
            raise self.wrong(node, 'alpha is not 1')
        shapes = [getattr(one, 'shape', ()) for one in (x, y)]
        for a, b in ((x, y), (y, x)) if all(len(shape) == 3 for shape in shapes) else ():
            if a.shape[1] > 1 and b.shape == (a.shape[0], 1, a.shape[2]):
                return self.add(node, 'add_row({}, {})'.format(a.name, b.name))
        return self.both(node, 'add', x, y)

    def of_mul(self, node: Any, x: Any, y: Any) -> _Value:
        for a, factor in ((x, y), (y, x)):
            if isinstance(a, _Value) and isinstance(factor, (int, float)):
                return self.pointwise(node, 'scale', a, factor)
        return self.both(node, 'multiply', x, y)

    def channel(self, node: Any, x: _Value, dimension: int) -> None:
        if dimension % len(x.shape) != (1 if len(x.shape) == 4 else len(x.shape) - 1) or x.flat:
            raise self.wrong(node, 'not along the channels')

    def of_cat(self, node: Any, values: List[_Value], dimension: int = 0) -> _Value:
        for x in values:
            self.channel(node, x, dimension)
        return self.add(node, 'concat({})'.format(', '.join(x.name for x in values)))

    def pieces(self, node: Any, x: _Value, dimension: int) -> List[Tuple[_Value, int, Any]]:
        self.channel(node, x, dimension)
        sizes = [one.shape[dimension] for one in node.meta['val']]
        return [(x, sum(sizes[:i]), size) for i, size in enumerate(sizes)]

    def of_chunk(self, node: Any, x: _Value, chunks: int, dimension: int = 0) -> Any:
        return self.pieces(node, x, dimension)

    def of_split(self, node: Any, x: _Value, size: Any, dimension: int = 0) -> Any:
        return self.pieces(node, x, dimension)

    of_split_with_sizes = of_split

    def of_zeros(self, node: Any, *_: Any, **__: Any) -> None:
        if not all(str(user.target).startswith(('aten.lstm', 'aten.gru')) for user in node.users):
            raise self.wrong(node, 'there is no layer for it')

    def cells(self, node: Any, cell: str, x: _Value, state: List[Any], given: List[Any], biases: bool, layers: int,
              dropout: float, training: bool, both: bool, batch_first: bool) -> List[Optional[_Value]]:
        """Layers of cells. given: of each layer and direction the weights of x and h, the biases, the projection."""
        if any(one is not None for one in state) or not biases or not batch_first:
            raise self.wrong(node, 'with a first state, without biases or without batch_first')
        gates, each = ((0, 1, 3, 2) if cell == 'lstm' else (1, 0, 2)), len(given) // layers // (1 + both)
        for layer in range(layers):
            weights = []
            for way in range(layer * (1 + both), (layer + 1) * (1 + both)):
                of_x, of_h, bias_x, bias_h, *rest = given[way * each:(way + 1) * each]
                weights += [self.weight(node, one, kind)._replace(gates=gates) for one, kind in (
                    (of_x, 'linear'), (bias_x, 'rows'), (of_h, 'linear'), (bias_h, 'rows'))]
                weights += [self.weight(node, one, 'linear') for one in rest]
            more = _options([('both', str(int(both)), '0'), ('projection', str(rest[0].shape[0]) if rest else '0', '0')])
            units = weights[0].shape[0] // len(gates)
            x = self.add(node, '{}({}, {}{})'.format(cell, x.name, units, more), weights)
            if dropout and training and layer + 1 < layers:
                x = self.add(node, 'dropout({}, {!r})'.format(x.name, dropout))
        return [x._replace(shape=tuple(node.meta['val'][0].shape)), None, None]

    def of_lstm(self, node: Any, x: _Value, state: List[Any], *more: Any) -> List[Optional[_Value]]:
        return self.cells(node, 'lstm', x, state, *more)

    def of_gru(self, node: Any, x: _Value, state: Any, *more: Any) -> List[Optional[_Value]]:
        return self.cells(node, 'gru', x, [state], *more)

    def of_getitem(self, node: Any, pieces: Any, i: int) -> Optional[_Value]:
        if pieces[i] is None and node.users:
            raise self.wrong(node, 'the last state of cells has no layer of its own')
        if pieces[i] is None or isinstance(pieces[i], _Value):
            return pieces[i]
        return self.add(node, 'columns({}, {}, {})'.format(pieces[i][0].name, *pieces[i][1:]))

    def of_channel_shuffle(self, node: Any, x: _Value, groups: int) -> _Value:
        return self.add(node, 'shuffle({}, {})'.format(x.name, groups))

    # ---- pools ----

    def pool(self, node: Any, name: str, x: _Value, kernel: Any, stride: Any, pad: Any, ceil: bool,
             *more: Tuple[str, str, str]) -> _Value:
        given = _options([('pad', _pair(pad), '0'), ('ceil', str(int(ceil)), '0'), *more])
        return self.add(node, '{}({}, {}, {}{})'.format(name, x.name, _pair(kernel), _pair(stride or kernel), given))

    def of_max_pool2d(self, node: Any, x: _Value, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                      ceil: bool = False) -> _Value:
        if _pair(dilation) != '1':
            raise self.wrong(node, 'dilation is not 1')
        return self.pool(node, 'max_pool', x, kernel, stride, padding, ceil)

    def of_avg_pool2d(self, node: Any, x: _Value, kernel: Any, stride: Any = None, padding: Any = 0, ceil: bool = False,
                      zeros: bool = True, divisor: Any = None) -> _Value:
        if divisor is not None:
            raise self.wrong(node, 'with a divisor')
        return self.pool(node, 'average_pool', x, kernel, stride, padding, ceil, ('zeros', str(int(zeros)), '1'))

    def of_adaptive_avg_pool2d(self, node: Any, x: _Value, size: Any) -> _Value:
        sides = list(x.shape[2:])
        both = list(size) if isinstance(size, (list, tuple)) else [size, size]
        if both == [1, 1]:
            return self.add(node, 'global_average({})'.format(x.name))
        kernel = [side // one for side, one in zip(sides, both)]
        if any(side % one for side, one in zip(sides, both)):
            raise self.wrong(node, 'windows of different sizes')
        return self.pool(node, 'average_pool', x, kernel, kernel, 0, False)

    def of_mean(self, node: Any, x: _Value, dimensions: Any, keep: bool = False, **_: Any) -> _Value:
        if len(x.shape) != 4 or sorted(one % 4 for one in dimensions) != [2, 3]:
            raise self.wrong(node, 'not over height and width')
        return self.add(node, 'global_average({})'.format(x.name))

    # ---- shapes ----

    def of_view(self, node: Any, x: _Value, *_: Any) -> _Value:
        shape, old = tuple(node.meta['val'].shape), x.shape
        if shape == old:
            return x
        if len(old) == 3 and len(shape) == 4 and shape[:2] == old[:2] and not x.heads:
            return _Value(x.name, shape, heads=shape[2])
        if x.heads > 0 and len(shape) == 3 and shape[:2] == old[:2]:
            return _Value(x.name, shape)
        if len(old) == 4 and len(shape) == 2 and not x.groups:
            return _Value(x.name, shape, tuple(old[1:]) if old[2] * old[3] > 1 else None)  # type: ignore[arg-type]
        if len(old) == 4 and len(shape) == 5 and shape[3:] == old[2:]:
            return _Value(x.name, shape, None, shape[1])
        if len(old) == 5 and len(shape) == 4 and x.groups < 0 and shape[2:] == old[3:]:
            return self.add(node, 'shuffle({}, {})'.format(x.name, -x.groups))
        raise self.wrong(node, 'from {} to {}'.format(old, shape))

    of_reshape = of_flatten = of_squeeze = of_unflatten = of_view

    def of_transpose(self, node: Any, x: _Value, one: int, other: int) -> _Value:
        if x.heads and {one, other} == {1, 2}:
            return _Value(x.name, tuple(node.meta['val'].shape), heads=-x.heads)
        if x.groups <= 0 or {one, other} != {1, 2}:
            raise self.wrong(node, 'there is no layer for it')
        return _Value(x.name, tuple(node.meta['val'].shape), None, -x.groups)

    def of_contiguous(self, node: Any, x: _Value, **_: Any) -> _Value:
        return x

    of_clone = of_alias = of_contiguous


def _with_plain_attention(module: Any) -> Any:
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


def from_torch(module: Any, *examples: Any) -> Traced:
    """A PyTorch module as a text of layers, traced by torch.export.

    Parameters
    ----------
    module : torch.nn.Module
        Its operators have to be among the layers of docs/training/networks.md. Dropout is in the text if the module is
        in training mode.
    *examples : torch.Tensor
        Its inputs, with samples first: their shapes are those of the network. Images are (samples, channels, height,
        width) there, and have their channels last here (`halfulp.train.inputs`).

    HalfulpValueError: an operator that has no layer, by its name.
    """
    import torch
    for name, one in module.named_modules():
        if isinstance(one, torch.nn.modules.batchnorm._BatchNorm) and one.momentum is None:  # 0 in the program
            raise abi.HalfulpValueError('from_torch: {}: a batch norm whose statistics are means of all steps'.format(
                name or 'module'))
    module = _with_plain_attention(module)
    program = torch.export.export(module, examples)
    program.graph.eliminate_dead_code()  # masks that nothing reads
    # A parameter of several modules has the name that named_parameters() gives it, and the program another one.
    names = {id(x): name for name, x in module.named_parameters()}
    first_names = {name: names[id(x)] for name, x in module.named_parameters(remove_duplicate=False)}
    tracer = _Tracer(program, first_names)
    text = tracer.run()
    state = {first_names.get(name, name): _array(x).copy() for name, x in program.state_dict.items()}
    return Traced(text, tracer.weights, {weight.name: state[weight.name] for weight in tracer.weights}, tracer.outputs)
