# SPDX-License-Identifier: MIT
"""Models as ONNX: roundings as QuantizeLinear and DequantizeLinear, or as Cast, where ONNX has their bits."""
import functools
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence

import torch

from .. import _abi as abi
from .. import _structs as structs
from ..format import Format
from ..number import Number
from . import _records

__all__ = ['export_onnx']

_SUMS = ('fp32', 'any')


class _Kind(NamedTuple):
    """How ONNX rounds: into a type of its own (onnx.TensorProto), at a step, and whether it is asked to saturate."""

    type: int
    step: float = 1.0
    saturate: Optional[int] = 1
    cast: bool = False
    opset: int = 21


# onnx.TensorProto.DataType.
_FLOAT16, _BFLOAT16, _INT8, _INT4, _FLOAT4 = 10, 16, 3, 22, 23
_FLOAT8 = {'float8_e4m3fn': 17, 'float8_e4m3fnuz': 18, 'float8_e5m2': 19, 'float8_e5m2fnuz': 20}
_HALVES = {'binary16': _FLOAT16, 'bfloat16': _BFLOAT16}


def _of_format(r: _records.Rounding, policy: str) -> Optional[_Kind]:
    """Saturation: the format's own overflow is ONNX's saturate=0, `finite` is saturate=1."""
    name = Format._from_c(r.record.format).name
    has_infinities = name in ('float8_e5m2', 'binary16', 'bfloat16')
    finite = policy == 'finite' or (policy == 'default' and not has_infinities)
    if policy == 'propagate':
        return None
    if name in _FLOAT8:
        return _Kind(_FLOAT8[name], saturate=int(finite))
    if name == 'float4_e2m1fn' and finite:
        return _Kind(_FLOAT4, saturate=None, opset=23)
    if name in _HALVES:
        return None if finite else _Kind(_HALVES[name], saturate=None, cast=True)
    return None


def _kind(r: _records.Rounding) -> Optional[_Kind]:
    """What ONNX rounds to with the bits of this rounding, NaN as it may be; None where it has nothing."""
    if r.preset is not None or r.special or r.stochastic or structs.ROUNDINGS[r.mode.round] != 'rne':
        return None
    policy = structs.SATURATIONS[r.mode.saturate]
    if r.kind == _records.FORMAT:
        return _of_format(r, policy)
    if r.kind == _records.NUMBER and policy in ('default', 'finite'):
        return _of_integers(Number(r.text.partition(',')[0]))
    return None


def _of_integers(number: Number) -> Optional[_Kind]:
    """Fixed point of 8 or 4 bits with a sign is an integer times a power of two."""
    bits, step = number.width, number.min
    if number.text.startswith('q(') and bits in (8, 4) and (number.low, number.max) == (-2 ** (bits - 1) * step,
                                                                                       (2 ** (bits - 1) - 1) * step):
        return _Kind(_INT8 if bits == 8 else _INT4, step, None)
    return None


_HAVE = ('float8_e4m3fn, float8_e4m3fnuz, float8_e5m2 and float8_e5m2fnuz with sat=none or sat=finite, '
         'float4_e2m1fn, binary16, bfloat16, and int8, int4 and q(i.f) of 8 or 4 bits, all to nearest even')


def _refused(node: Any, words: str) -> abi.HalfulpValueError:
    """The error names the layer that the operator stands in."""
    stack = list((node.meta.get('nn_module_stack') or {}).values())
    path = stack[-1][0] if stack else ''
    return abi.HalfulpValueError('export_onnx: {!r}: {}'.format(path, words))


def _check_rounding(node: Any, text: str, opset: int) -> None:
    r = _records.rounding(text)
    if r.kind == _records.KEEP:
        return
    kind = _kind(r)
    if kind is None:
        more = ('; the scales of its blocks come from the numbers, which QuantizeLinear is given'
                if r.kind in (_records.SCALED, _records.S2FP8) else '; it draws random words' if r.stochastic else '')
        raise _refused(node, 'ONNX has no rounding of the bits of {!r}{}; it has {}'.format(text, more, _HAVE))
    if opset < kind.opset:
        raise _refused(node, '{!r} requires opset_version={} or later, not {}'.format(text, kind.opset, opset))


def _check_product(node: Any, text: str, opset: int, sums: str) -> None:
    *roundings, accum, out = text.split('|')
    for one in (*roundings, out):
        _check_rounding(node, one, opset)
    if accum != 'fp32' and sums != 'any':
        raise _refused(node, 'ONNX has no operator for the sums of {!r}; sums="any" leaves them to the program that runs '
                             'the model'.format(accum))


def _check_types(node: Any) -> None:
    for one in node.all_input_nodes:
        kind = getattr(one.meta.get('val'), 'dtype', torch.float32)
        if kind.is_floating_point and kind != torch.float32:
            raise _refused(node, 'a tensor of {}; only float32 tensors are exported'.format(kind))


def _check(program: Any, opset: int, sums: str) -> None:
    """HalfulpValueError for the first operator of this package that has no counterpart."""
    for node in program.graph.nodes:
        name = getattr(node.target, '_name', '') if node.op == 'call_function' else ''
        if not name.startswith('halfulp::'):
            continue
        if name != 'halfulp::add_row' and node.args[-1] is True:
            raise _refused(node, 'it counts events, for which ONNX has no operator; count=False does not')
        _check_types(node)
        if name == 'halfulp::quantize':
            _check_rounding(node, node.args[3], opset)
        elif name in ('halfulp::matmul', 'halfulp::convolution'):
            _check_product(node, node.args[4], opset, sums)
        elif name != 'halfulp::add_row':
            raise _refused(node, 'ONNX has nothing for the operator {}'.format(name))


class _Writer:
    """The operators of this package in those of ONNX."""

    def __init__(self, op: Any) -> None:
        self.op = op

    def rounded(self, x: Any, text: str) -> Any:
        r = _records.rounding(text)
        if r.kind == _records.KEEP:
            return x
        kind = _kind(r)
        assert kind is not None  # _check
        if kind.cast:
            return self.op.Cast(self.op.Cast(x, to=kind.type), to=1)
        step = self.op.Constant(value_float=kind.step)
        more = {} if kind.saturate is None else {'saturate': kind.saturate}
        return self.op.DequantizeLinear(self.op.QuantizeLinear(x, step, output_dtype=kind.type, **more), step)

    def shaped(self, x: Any, shape: Sequence[int]) -> Any:
        return self.op.Reshape(x, self.op.Constant(value_ints=list(shape)))

    def quantize(self, x, stream, tap, forward, backward, dim, gradient, use, back_use, count):
        return self.rounded(x, forward), self._no_counts()

    def _no_counts(self) -> Any:
        return self.op.Constant(value_ints=[0])

    def matmul(self, a, b, stream, tap, product, grad_a, grad_b, gradient, uses, count):
        x, w, _, out = product.split('|')
        return self.rounded(self.op.MatMul(self.rounded(a, x), self.rounded(b, w)), out), self._no_counts()

    def add_row(self, y, b):
        return self.op.Add(y, b)

    def convolution(self, x, w, stream, tap, product, grad_x, grad_w, gradient, kernel, stride, padding, dilation,
                    groups, count):
        """Weights (groups, kernel and channels, outputs) and results (groups, windows, outputs) in ONNX's order."""
        of_x, of_w, _, out = product.split('|')
        n, outputs = len(kernel), int(w.shape[2])
        weights = self.shaped(w, [groups, *kernel, -1, outputs])
        order = [0, n + 2, n + 1, *range(1, n + 1)]
        weights = self.shaped(self.op.Transpose(weights, perm=order), [groups * outputs, -1, *kernel])
        y = self.op.Conv(self.rounded(x, of_x), self.rounded(weights, of_w), strides=list(stride),
                         pads=2 * list(padding), dilations=list(dilation), group=groups)
        y = self.op.Transpose(self.shaped(y, [0, groups, outputs, -1]), perm=[1, 0, 3, 2])
        return self.rounded(self.shaped(y, [groups, -1, outputs]), out), self._no_counts()

    def table(self) -> Dict[Callable[..., Any], Callable[..., Any]]:
        names = ('quantize', 'matmul', 'add_row', 'convolution')
        return {getattr(torch.ops.halfulp, name).default: _function(getattr(self, name)) for name in names}


def _function(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method as a function, on which torch.onnx keeps an attribute."""
    @functools.wraps(method)
    def call(*operands: Any, **named: Any) -> Any:
        return method(*operands, **named)
    return call


def _opset(version: int) -> Any:
    try:
        import onnxscript
    except ImportError:
        raise ImportError('export_onnx: onnxscript is not installed (pip install onnx onnxscript)') from None
    return getattr(onnxscript, 'opset{}'.format(version))


def export_onnx(model: torch.nn.Module, args: Sequence[Any], path: Any = None, *, opset_version: int = 21,
                sums: str = 'fp32', **more: Any) -> Any:
    """A model of this package's layers and quantizers, or under `precision`, as an ONNX model of inference.

    Each rounding of an operand or a result becomes QuantizeLinear and DequantizeLinear (scale 1, or the step of a
    fixed-point format), or for binary16 and bfloat16 a pair of Cast. ONNX defines them to the same bits; what it leaves
    open is a NaN in formats that have none. A product becomes MatMul or Conv, whose sums are float32 in an order that
    the program which runs the model chooses: its results have the bits of this model where these sums are exact, and
    else differ as float32 sums of another order do.

    Parameters
    ----------
    model : torch.nn.Module
        Tensors of float32.
    args : tuple
        Inputs of the model, as torch.export takes them.
    path : str or file, optional
        Where the model is written.
    opset_version : int
        21 to 23.
    sums : str
        "fp32": a recipe with another `accum` is an error. "any": its sums are left to the program that runs the model.
    more
        Further keywords of torch.export.export (`dynamic_shapes`, `kwargs`).

    Returns
    -------
    torch.onnx.ONNXProgram

    HalfulpValueError, with the layer's name, where ONNX has no counterpart: another format or mode (scaled formats, whose
    scales come from the numbers; stochastic modes), other sums, counts, tensors of other types. Requires the packages
    onnx and onnxscript. Its source: ONNX 1.23, operators QuantizeLinear, DequantizeLinear, Cast.

    >>> ht.export_onnx(ht.convert(model, 'float8_e4m3fn'), (x,), 'model.onnx')  # doctest: +SKIP
    """
    abi.word('sums', sums, _SUMS)
    version = abi.whole('opset_version', opset_version, 21, 23)
    writer = _Writer(_opset(version))
    with torch.no_grad():
        program = torch.export.export(model, tuple(args), **more).run_decompositions({})
    _check(program, version, sums)
    made = torch.onnx.export(program, (), dynamo=True, opset_version=version, custom_translation_table=writer.table(),
                             verbose=False)
    if path is not None:
        made.save(path)
    return made
