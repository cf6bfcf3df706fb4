# SPDX-License-Identifier: MIT
"""What is common to all operators of an exported program: their values, parameters and lines of text."""
from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from .. import _abi as abi
from ._patterns import name_of, response_of, rms_of
from ._rotary import Argument, Constants, NotRotary, argument_of
from .traced import Weight


class Value(NamedTuple):
    """A value of the network: what it is called, its shape in PyTorch, and what is special about it."""

    name: str
    shape: Tuple[int, ...]
    flat: Optional[Tuple[int, int, int]] = None  # channels, height, width of an image that was flattened
    groups: int = 0  # channels seen as so many groups; below 0: transposed
    heads: int = 0  # columns seen as so many heads of (samples, steps, heads, columns); below 0: heads before steps


class Parameter(NamedTuple):
    name: str
    shape: Tuple[int, ...]


def number_text(x: Any) -> str:
    return repr(float(x)) if isinstance(x, float) and x != int(x) else str(int(x))


def both_of(x: Any) -> List[Any]:
    """Down and across."""
    both = list(x) if isinstance(x, (list, tuple)) else [x]
    return both if len(both) == 2 else 2 * both


def pair_text(x: Any) -> str:
    both = list(x) if isinstance(x, (list, tuple)) else [x]
    return number_text(both[0]) if len(set(both)) == 1 else '[{}]'.format(', '.join(map(number_text, both)))


def float_text(x: Any) -> str:
    return repr(float(x))


def options_text(given: Sequence[Tuple[str, str, str]]) -> str:
    """Those that differ from what they are without being given."""
    return ''.join(', {}={}'.format(name, value) for name, value, standard in given if value != standard)


class Tracer:
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
        self.constants = Constants(program)
        self.arguments: Dict[Any, Argument] = {}  # of attention, that are more than columns of a value

    def wrong(self, node: Any, sentence: str) -> abi.HalfulpValueError:
        return abi.HalfulpValueError('from_torch: {} ({}): {}'.format(node.name, node.target, sentence))

    def run(self) -> str:
        found = [response_of(node) for node in self.program.graph.nodes if 'div.Tensor' in str(node.target)]
        inside = {node for one in found if one for node in one.inside}
        read = self.read() - inside
        for node in self.program.graph.nodes:
            if node.op == 'placeholder':
                self.values[node] = self.placeholder(node)
            elif node.op == 'call_function' and node in read:
                self.values[node] = self.call(node)
            elif node.op == 'output':
                self.output(node)
        text = '\n'.join(self.lines) + '\n'
        return re.sub(r'(?m)(^scope (.*)\n(?:(?!end|scope).*\n)+)((?:end\nscope \2\n(?:(?!end|scope).*\n)+)+)',
                      lambda found: found[1] + re.sub(r'end\nscope .*\n', '', found[3]), text)

    def read(self) -> Set[Any]:
        """Operators whose values a layer or the output reads. Constants, and what arguments of attention and norms are
        made of inside, are not among them."""
        found: Set[Any] = set()
        rest = [node for node in self.program.graph.nodes if node.op == 'output']
        while rest:
            node = rest.pop()
            if node in found or (self.constants.has(node) and name_of(node) != 'zeros'):
                continue
            found.add(node)
            norm = rms_of(node)
            if name_of(node) == 'scaled_dot_product_attention':
                rest += [self.base_of(node, place) for place in range(3)]
            else:
                rest += [norm.x, norm.gain] if norm else node.all_input_nodes
        return found

    def base_of(self, node: Any, place: int) -> Any:
        """What an argument of attention is made of: notes what is done to it, if that is more than single rules know."""
        argument = node.args[place]
        try:
            found = argument_of(argument, self.constants)
        except NotRotary as error:
            raise self.wrong(node, '{}: {}'.format(('query', 'key', 'value')[place], error)) from None
        if not found:
            return argument
        self.arguments[argument] = found
        return found.base

    def placeholder(self, node: Any) -> Any:
        if self.constants.has(node):
            return None
        shape = tuple(node.meta['val'].shape)
        if node.name in self.parameters:
            return Parameter(self.parameters[node.name], shape)
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
        return Value(name, shape)

    def output(self, node: Any) -> None:
        # Batch norms' new running statistics stand in front of what the user gets.
        made = [self.values.get(one) for one in node.args[0]][-1] if node.args[0] else None
        if not isinstance(made, Value):
            raise self.wrong(node, 'the module has to return one tensor')
        self.lines.append('output {}'.format(made.name))
        self.outputs = made.shape[-1]

    def fresh(self) -> str:
        self.count = getattr(self, 'count', -1) + 1
        return 'v{}'.format(self.count)

    # ---- calls ----

    def call(self, node: Any) -> Any:
        self.shared, self.checked = '', False
        rule: Optional[Callable[..., Any]] = getattr(self, 'of_' + name_of(node), None)
        if rule is None:
            raise self.wrong(node, 'there is no layer for it')
        return rule(node, *(self.value(argument) for argument in node.args),
                    **{key: self.value(argument) for key, argument in node.kwargs.items()})

    def value(self, argument: Any) -> Any:
        if isinstance(argument, (list, tuple)):
            return [self.value(one) for one in argument]
        return self.values.get(argument) if hasattr(argument, 'op') else argument

    def add(self, node: Any, text: str, weights: Sequence[Weight] = (), flat: Any = None) -> Value:
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
        return Value(name, tuple(getattr(val, 'shape', ())), flat)

    def weight(self, node: Any, parameter: Any, kind: str, image: Tuple[int, ...] = ()) -> Weight:
        if not isinstance(parameter, Parameter):
            raise self.wrong(node, 'its weight is not a parameter of the module')
        weight = Weight(parameter.name, parameter.shape, kind, image)
        found = next((one for one in self.weights if one.name == weight.name), None)
        maker = self.maker.get(weight.name, '')
        if bool(self.shared) != bool(found) and self.checked or (found and (found != weight or self.shared not in ('', maker))):
            raise self.wrong(node, '{} is used twice, and not by two equal layers'.format(parameter.name))
        self.shared, self.checked = maker, True
        return weight
