# SPDX-License-Identifier: MIT
"""Networks from PyTorch modules: a text of layers (docs/training/networks.md), an operator at a time."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from .. import _abi as abi
from ._attention import AttentionTracer, with_plain_attention
from ._patterns import response_of, rms_of
from ._tracer import Parameter, Value, both_of, float_text, options_text, pair_text
from .traced import Traced, Weight, array_of


class _Tracer(AttentionTracer):
    """Has a rule for each operator that is a layer, or nothing but another shape."""

    def of_linear(self, node: Any, x: Value, weight: Any, bias: Any = None) -> Value:
        if not x.flat and isinstance(weight, Parameter) and Weight(*weight, 'rows') in self.weights:
            return self.tied(node, x, weight, bias)
        more = [self.weight(node, bias, 'rows')] if bias else []
        if not x.flat:
            given = options_text([('bias', str(int(bool(bias))), '1')])
            return self.add(node, 'linear({}, {}{})'.format(x.name, weight.shape[0], given),
                            [self.weight(node, weight, 'linear'), *more])
        given = options_text([('bias', str(int(bool(bias))), '0')])
        text = 'conv({}, {}, {}{})'.format(x.name, weight.shape[0], pair_text(x.flat[1:]), given)
        return self.add(node, text, [self.weight(node, weight, 'conv', x.flat), *more])

    def tied(self, node: Any, x: Value, table: Parameter, bias: Any) -> Value:
        """A linear layer by the table of an embedding; its bias is its own."""
        given = options_text([('bias', str(int(bool(bias))), '1')])
        more = [self.weight(node, bias, 'rows')] if bias else []
        text = 'linear({}, {}{}, share={})'.format(x.name, table.shape[0], given, self.maker[table.name])
        return self.add(node, text, more)

    def of_conv2d(self, node: Any, x: Value, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                  dilation: Any = 1, groups: int = 1) -> Value:
        kernel = list(weight.shape[2:])
        if padding == 'same':  # one more behind, where the number is odd
            all_sides = [(side - 1) * apart for side, apart in zip(kernel, both_of(dilation))]
            padding = [side // 2 + more for side in all_sides for more in (0, side % 2)]
        return self.windows(node, 'conv', x, weight.shape[0], weight, bias, stride, 0 if padding == 'valid' else padding,
                            dilation, groups)

    def windows(self, node: Any, name: str, x: Value, outputs: int, weight: Any, bias: Any, stride: Any, padding: Any,
                dilation: Any, groups: int, more: Sequence[Tuple[str, str, str]] = ()) -> Value:
        given = [('stride', pair_text(stride), '1'), ('pad', pair_text(padding), '0'), ('dilation', pair_text(dilation), '1'),
                 ('groups', str(groups), '1'), ('bias', str(int(bool(bias))), '0'), *more]
        text = '{}({}, {}, {}{})'.format(name, x.name, outputs, pair_text(list(weight.shape[2:])), options_text(given))
        return self.add(node, text, [self.weight(node, weight, 'conv')] + ([self.weight(node, bias, 'rows')] if bias else []))

    def of_conv_transpose2d(self, node: Any, x: Value, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
                            output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Value:
        return self.windows(node, 'conv_transpose', x, weight.shape[1] * groups, weight, bias, stride, padding, dilation,
                            groups, [('output_pad', pair_text(output_padding), '0')])

    def norm(self, node: Any, text: str, weight: Any, bias: Any) -> Value:
        if not weight or not bias:
            raise self.wrong(node, 'without gain and offset')
        return self.add(node, text, [self.weight(node, weight, 'rows'), self.weight(node, bias, 'rows')])

    def of_batch_norm(self, node: Any, x: Value, weight: Any, bias: Any, mean: Any, variance: Any, training: bool,
                      momentum: float, eps: float, *_: Any) -> Value:
        if node.args[3] is None:  # `mean` is None in any case: buffers are not values here
            raise self.wrong(node, 'without running statistics')
        given = options_text([('eps', repr(eps), '1e-05'), ('momentum', repr(momentum), '0.1')]) + ', unbiased=1'
        return self.norm(node, 'batch_norm({}{})'.format(x.name, given), weight, bias)

    def of_layer_norm(self, node: Any, x: Value, shape: Any, weight: Any = None, bias: Any = None,
                      eps: float = 1e-5, *_: Any) -> Value:
        if list(shape) != [x.shape[-1]] or len(x.shape) == 4:
            raise self.wrong(node, 'not over the last dimension alone')
        return self.norm(node, 'layer_norm({}{})'.format(x.name, options_text([('eps', repr(eps), '1e-05')])), weight, bias)

    def of_rms_norm(self, node: Any, x: Value, shape: Any, weight: Any = None, eps: Any = None) -> Value:
        if list(shape) != [x.shape[-1]] or len(x.shape) == 4:
            raise self.wrong(node, 'not over the last dimension alone')
        if not weight:
            raise self.wrong(node, 'without a gain')
        eps = 2.0**-23 if eps is None else eps  # binary32's
        return self.add(node, 'rms_norm({}{})'.format(x.name, options_text([('eps', repr(eps), '1e-05')])),
                        [self.weight(node, weight, 'rows')])

    def of_embedding(self, node: Any, weight: Any, x: Value, padding: int = -1, *more: Any) -> Value:
        if padding >= 0 or any(more):
            raise self.wrong(node, 'with padding_idx, scale_grad_by_freq or sparse')
        return self.add(node, 'embedding({}, {}, {})'.format(x.name, *weight.shape), [self.weight(node, weight, 'rows')])

    # ---- without weights ----

    def pointwise(self, node: Any, name: str, x: Value, *numbers: float) -> Value:
        return self.add(node, '{}({})'.format(name, ', '.join([x.name, *map(float_text, numbers)])), flat=x.flat)

    def of_relu(self, node: Any, x: Value) -> Value:
        return self.pointwise(node, 'relu', x)

    def of_relu6(self, node: Any, x: Value) -> Value:
        return self.pointwise(node, 'relu6', x)

    def of_hardtanh(self, node: Any, x: Value, low: float = -1, high: float = 1) -> Value:
        if (low, high) == (0, 6):
            return self.pointwise(node, 'relu6', x)
        return self.pointwise(node, 'clip', x, low, high)

    def of_leaky_relu(self, node: Any, x: Value, slope: float = 0.01, inplace: bool = False) -> Value:
        return self.pointwise(node, 'leaky_relu', x, slope)

    def of_silu(self, node: Any, x: Value) -> Value:
        return self.pointwise(node, 'silu', x)

    def of_softplus(self, node: Any, x: Value, beta: float = 1, threshold: float = 20) -> Value:
        if beta != 1:
            raise self.wrong(node, 'beta is not 1')
        return self.pointwise(node, 'softplus', x)

    def of_detach(self, node: Any, x: Any) -> Any:
        return self.pointwise(node, 'stop_gradient', x) if isinstance(x, Value) else x

    def of_div(self, node: Any, x: Any, y: Any) -> Value:
        found = response_of(node)
        if not found:
            raise self.wrong(node, 'there is no layer for it')
        return self.add(node, 'response_norm({}, {}, {})'.format(x.name, found.size, ', '.join(map(float_text, found.numbers))))

    def of_clamp(self, node: Any, x: Value, low: Any = None, high: Any = None) -> Value:
        if not isinstance(low, (int, float)) or not isinstance(high, (int, float)):
            raise self.wrong(node, 'not between two numbers')
        return self.of_hardtanh(node, x, low, high)

    def of_tanh(self, node: Any, x: Value) -> Value:
        return self.pointwise(node, 'tanh', x)

    def of_sigmoid(self, node: Any, x: Value) -> Value:
        return self.pointwise(node, 'sigmoid', x)

    def of_gelu(self, node: Any, x: Value, approximate: str = 'none') -> Value:
        return self.pointwise(node, 'gelu' if approximate == 'none' else 'gelu_tanh', x)

    def of_dropout(self, node: Any, x: Value, p: float, training: bool) -> Value:
        return self.add(node, 'dropout({}, {})'.format(x.name, repr(float(p))), flat=x.flat) if training else x

    def both(self, node: Any, name: str, x: Any, y: Any) -> Value:
        if not (isinstance(x, Value) and isinstance(y, Value) and x.shape == y.shape and x.flat == y.flat):
            raise self.wrong(node, 'not of two values of one shape')
        return self.add(node, '{}({}, {})'.format(name, x.name, y.name), flat=x.flat)

    def of_add(self, node: Any, x: Any, y: Any, alpha: Any = 1) -> Value:
        if alpha != 1:
            raise self.wrong(node, 'alpha is not 1')
        shapes = [getattr(one, 'shape', ()) for one in (x, y)]
        for a, b in ((x, y), (y, x)) if all(len(shape) == 3 for shape in shapes) else ():
            if a.shape[1] > 1 and b.shape == (a.shape[0], 1, a.shape[2]):
                return self.add(node, 'add_row({}, {})'.format(a.name, b.name))
        return self.both(node, 'add', x, y)

    def of_mul(self, node: Any, x: Any, y: Any) -> Value:
        norm = rms_of(node)
        if norm and isinstance(self.values.get(norm.x), Value):
            x, gain = self.values[norm.x], self.values.get(norm.gain)
            return self.of_rms_norm(node, x, getattr(gain, 'shape', ()), gain, norm.eps)
        for a, factor in ((x, y), (y, x)):
            if isinstance(a, Value) and isinstance(factor, (int, float)):
                return self.pointwise(node, 'scale', a, factor)
        return self.both(node, 'multiply', x, y)

    def channel(self, node: Any, x: Value, dimension: int) -> None:
        if dimension % len(x.shape) != (1 if len(x.shape) == 4 else len(x.shape) - 1) or x.flat:
            raise self.wrong(node, 'not along the channels')

    def of_cat(self, node: Any, values: List[Value], dimension: int = 0) -> Value:
        for x in values:
            self.channel(node, x, dimension)
        return self.add(node, 'concat({})'.format(', '.join(x.name for x in values)))

    def pieces(self, node: Any, x: Value, dimension: int) -> List[Tuple[Value, int, Any]]:
        self.channel(node, x, dimension)
        sizes = [one.shape[dimension] for one in node.meta['val']]
        return [(x, sum(sizes[:i]), size) for i, size in enumerate(sizes)]

    def of_chunk(self, node: Any, x: Value, chunks: int, dimension: int = 0) -> Any:
        return self.pieces(node, x, dimension)

    def of_split(self, node: Any, x: Value, size: Any, dimension: int = 0) -> Any:
        return self.pieces(node, x, dimension)

    of_split_with_sizes = of_split

    def of_zeros(self, node: Any, *_: Any, **__: Any) -> None:
        if not all(str(user.target).startswith(('aten.lstm', 'aten.gru')) for user in node.users):
            raise self.wrong(node, 'there is no layer for it')

    def cells(self, node: Any, cell: str, x: Value, state: List[Any], given: List[Any], biases: bool, layers: int,
              dropout: float, training: bool, both: bool, batch_first: bool) -> List[Optional[Value]]:
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
            more = options_text([('both', str(int(both)), '0'), ('projection', str(rest[0].shape[0]) if rest else '0', '0')])
            units = weights[0].shape[0] // len(gates)
            x = self.add(node, '{}({}, {}{})'.format(cell, x.name, units, more), weights)
            if dropout and training and layer + 1 < layers:
                x = self.add(node, 'dropout({}, {!r})'.format(x.name, dropout))
        return [x._replace(shape=tuple(node.meta['val'][0].shape)), None, None]

    def of_lstm(self, node: Any, x: Value, state: List[Any], *more: Any) -> List[Optional[Value]]:
        return self.cells(node, 'lstm', x, state, *more)

    def of_gru(self, node: Any, x: Value, state: Any, *more: Any) -> List[Optional[Value]]:
        return self.cells(node, 'gru', x, [state], *more)

    def of_getitem(self, node: Any, pieces: Any, i: int) -> Optional[Value]:
        if pieces[i] is None and node.users:
            raise self.wrong(node, 'the last state of cells has no layer of its own')
        if pieces[i] is None or isinstance(pieces[i], Value):
            return pieces[i]
        return self.add(node, 'columns({}, {}, {})'.format(pieces[i][0].name, *pieces[i][1:]))

    def of_channel_shuffle(self, node: Any, x: Value, groups: int) -> Value:
        return self.add(node, 'shuffle({}, {})'.format(x.name, groups))

    # ---- pools ----

    def pool(self, node: Any, name: str, x: Value, kernel: Any, stride: Any, pad: Any, ceil: bool,
             *more: Tuple[str, str, str]) -> Value:
        given = options_text([('pad', pair_text(pad), '0'), ('ceil', str(int(ceil)), '0'), *more])
        return self.add(node, '{}({}, {}, {}{})'.format(name, x.name, pair_text(kernel), pair_text(stride or kernel), given))

    def of_max_pool2d(self, node: Any, x: Value, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                      ceil: bool = False) -> Value:
        if pair_text(dilation) != '1':
            raise self.wrong(node, 'dilation is not 1')
        return self.pool(node, 'max_pool', x, kernel, stride, padding, ceil)

    def of_avg_pool2d(self, node: Any, x: Value, kernel: Any, stride: Any = None, padding: Any = 0, ceil: bool = False,
                      zeros: bool = True, divisor: Any = None) -> Value:
        if divisor is not None:
            raise self.wrong(node, 'with a divisor')
        return self.pool(node, 'average_pool', x, kernel, stride, padding, ceil, ('zeros', str(int(zeros)), '1'))

    def of_adaptive_avg_pool2d(self, node: Any, x: Value, size: Any) -> Value:
        sides = list(x.shape[2:])
        both = list(size) if isinstance(size, (list, tuple)) else [size, size]
        if both == [1, 1]:
            return self.add(node, 'global_average({})'.format(x.name))
        kernel = [side // one for side, one in zip(sides, both)]
        if any(side % one for side, one in zip(sides, both)):
            raise self.wrong(node, 'windows of different sizes')
        return self.pool(node, 'average_pool', x, kernel, kernel, 0, False)

    def of_mean(self, node: Any, x: Value, dimensions: Any, keep: bool = False, **_: Any) -> Value:
        if len(x.shape) != 4 or sorted(one % 4 for one in dimensions) != [2, 3]:
            raise self.wrong(node, 'not over height and width')
        return self.add(node, 'global_average({})'.format(x.name))

    # ---- shapes ----

    def of_view(self, node: Any, x: Value, *_: Any) -> Value:
        shape, old = tuple(node.meta['val'].shape), x.shape
        if shape == old:
            return x
        if len(old) == 3 and len(shape) == 4 and shape[:2] == old[:2] and not x.heads:
            return Value(x.name, shape, heads=shape[2])
        if x.heads > 0 and len(shape) == 3 and shape[:2] == old[:2]:
            return Value(x.name, shape)
        if len(old) == 4 and len(shape) == 2 and not x.groups:
            return Value(x.name, shape, tuple(old[1:]) if old[2] * old[3] > 1 else None)  # type: ignore[arg-type]
        if len(old) == 4 and len(shape) == 5 and shape[3:] == old[2:]:
            return Value(x.name, shape, None, shape[1])
        if len(old) == 5 and len(shape) == 4 and x.groups < 0 and shape[2:] == old[3:]:
            return self.add(node, 'shuffle({}, {})'.format(x.name, -x.groups))
        raise self.wrong(node, 'from {} to {}'.format(old, shape))

    of_reshape = of_flatten = of_squeeze = of_unflatten = of_view

    def of_transpose(self, node: Any, x: Value, one: int, other: int) -> Value:
        if x.heads and {one, other} == {1, 2}:
            return Value(x.name, tuple(node.meta['val'].shape), heads=-x.heads)
        if x.groups <= 0 or {one, other} != {1, 2}:
            raise self.wrong(node, 'there is no layer for it')
        return Value(x.name, tuple(node.meta['val'].shape), None, -x.groups)

    def of_contiguous(self, node: Any, x: Value, **_: Any) -> Value:
        return x

    of_clone = of_alias = of_contiguous

    def of_to(self, node: Any, x: Any, *_: Any, **__: Any) -> Any:
        if str(node.meta['val'].dtype) not in ('torch.float32', 'torch.float64'):
            raise self.wrong(node, 'to {}'.format(node.meta['val'].dtype))
        return x

    of__to_copy = of_type_as = of_to


def from_torch(module: Any, *examples: Any) -> Traced:
    """A PyTorch module as a text of layers, traced by torch.export.

    Parameters
    ----------
    module : torch.nn.Module
        Its operators have to be among the layers of docs/training/networks.md. Dropout is in the text if the module is
        in training mode. Queries and keys that are turned by the angles of their steps are `rotary`, however it is done.
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
    module = with_plain_attention(module)
    program = torch.export.export(module, examples)
    program.graph.eliminate_dead_code()  # masks that nothing reads
    # A parameter of several modules has the name that named_parameters() gives it, and the program another one.
    names = {id(x): name for name, x in module.named_parameters()}
    first_names = {name: names[id(x)] for name, x in module.named_parameters(remove_duplicate=False)}
    tracer = _Tracer(program, first_names)
    text = tracer.run()
    state = {first_names.get(name, name): array_of(x).copy() for name, x in program.state_dict.items()}
    return Traced(text, tracer.weights, {weight.name: state[weight.name] for weight in tracer.weights}, tracer.outputs)
