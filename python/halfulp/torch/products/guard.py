# SPDX-License-Identifier: MIT
"""Which products run, below autograd: those of this package, and those of torch, with their multiply-adds.

Operators of the backward pass are seen, too, by one of two classes. A mode of torch's dispatcher (`Guard`) is called for every
operator that runs while it is entered. Kernels of operators that multiply (`QuickGuard`) leave torch's own speed to all
others, where this version of torch has a place for them (below.py).
"""
import sys
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from .. import _watch, ops
from .below import Kernels

Shape = Tuple[int, ...]


class Product(NamedTuple):
    """One operator that multiplies: its name, the shapes of its operands, its multiply-adds, the part of a pass that
    makes it ('forward', 'dX', 'dW', or 'backward' where torch does not say), and the texts of its roundings and sum
    (A|B|SUM|OUT; None: torch's own arithmetic). work is None where nothing is known of an operator."""
    operator: str
    shapes: Tuple[Shape, ...]
    work: Optional[int]
    part: str
    text: Optional[str]


def _size(shape: Sequence[int]) -> int:
    made = 1
    for side in shape:
        made *= side
    return made


def _shape(x: Any) -> Shape:
    return tuple(x.shape) if isinstance(x, Tensor) else ()


# ---- operators of torch: multiply-adds from arguments and result ----

def _of_product(args: Sequence[Any], z: Any) -> int:
    a, b = args[0], args[1]
    return _size(a.shape) * (b.shape[-1] if b.dim() > 1 else 1)


def _of_sum(args: Sequence[Any], z: Any) -> int:
    return _of_product(args[1:], z)


def _of_convolution(args: Sequence[Any], z: Any) -> int:
    x, w = args[0], args[1]
    per_window = _size(w.shape) // w.shape[0]  # of an output; transposed: of an input
    return _size((x if args[6] else z).shape) * per_window


def _of_convolution_back(args: Sequence[Any], z: Any) -> int:
    g, x, w = args[:3]
    one = _size((x if args[7] else g).shape) * (_size(w.shape) // w.shape[0])
    return one * sum(bool(wanted) for wanted in args[10][:2])


def _of_trilinear(args: Sequence[Any], z: Any) -> int:
    x, w = args[0], args[1]
    return x.shape[0] * w.shape[1] * w.shape[2] * w.shape[3]


def _of_attention(args: Sequence[Any], z: Any) -> int:
    q, k, v = args[:3]
    return _size(q.shape) * k.shape[-2] + _size(q.shape[:-1]) * k.shape[-2] * v.shape[-1]


def _of_attention_back(args: Sequence[Any], z: Any) -> int:
    """The scores again, and the four products of their gradients."""
    q, k, v = args[1:4]
    scores, values = _size(q.shape) * k.shape[-2], _size(q.shape[:-1]) * k.shape[-2] * v.shape[-1]
    return 3 * scores + 2 * values


def _of_rnn(args: Sequence[Any], z: Any) -> int:
    x, w0, w1 = args[:3]
    return x.shape[0] * x.shape[1] * (_size(w0.shape) + _size(w1.shape))


def _of_heads(args: Sequence[Any], z: Any) -> int:
    q, k, width = args[0], args[1], args[3]
    return q.shape[0] * (4 * q.shape[1] * width * width + 2 * q.shape[1] * k.shape[1] * width)


def _of_distances(args: Sequence[Any], z: Any) -> int:
    """torch.cdist computes Euclidean distances by a product where there are many."""
    a, b, p, mode = args[0], args[1], *(args[2:4] or (2, 1))
    return _size(a.shape) * b.shape[-2] if p == 2 and (mode == 1 or not mode and max(a.shape[-2], b.shape[-2]) > 25) else 0


def _of_conv_tbc(args: Sequence[Any], z: Any) -> int:
    return z.shape[0] * z.shape[1] * _size(args[1].shape)


def _of_groups(args: Sequence[Any], z: Any) -> int:
    a, b = args[0], args[1]
    if a.dim() == 2 and b.dim() == 2:
        return a.shape[0] * a.shape[1] * b.shape[1]
    return _size(a.shape) * b.shape[-1] if b.dim() == 3 and a.dim() == 2 else _size(z.shape) * a.shape[-1]


_OF_TORCH: Dict[str, Callable[[Sequence[Any], Any], int]] = {
    **dict.fromkeys(('mm', 'bmm', 'mv', 'dot', 'vdot', 'hspmm', '_int_mm', '_scaled_mm', '_sparse_mm', 'linear', 'matmul',
                     'mkldnn_linear', '_sparse_semi_structured_mm'), _of_product),
    **dict.fromkeys(('addmm', 'baddbmm', 'addmv', 'addbmm', '_addmm_activation', '_sparse_addmm', 'sspaddmm'), _of_sum),
    **dict.fromkeys(('convolution', '_convolution', 'convolution_overrideable', 'cudnn_convolution'), _of_convolution),
    'convolution_backward': _of_convolution_back, '_trilinear': _of_trilinear,
    'conv_tbc': _of_conv_tbc, 'mkldnn_rnn_layer': _of_rnn, '_native_multi_head_attention': _of_heads,
    **dict.fromkeys(('_cdist_forward', '_euclidean_dist'), _of_distances),
    **dict.fromkeys(('_grouped_mm', '_scaled_grouped_mm'), _of_groups),
    **dict.fromkeys(('_scaled_dot_product_flash_attention', '_scaled_dot_product_flash_attention_for_cpu',
                     '_scaled_dot_product_efficient_attention', '_scaled_dot_product_cudnn_attention',
                     '_scaled_dot_product_fused_attention_overrideable'), _of_attention),
    **dict.fromkeys(('_scaled_dot_product_flash_attention_backward',
                     '_scaled_dot_product_flash_attention_for_cpu_backward',
                     '_scaled_dot_product_efficient_attention_backward',
                     '_scaled_dot_product_cudnn_attention_backward',
                     '_scaled_dot_product_fused_attention_overrideable_backward'), _of_attention_back),
}
# They multiply, in ways that no count of this table fits.
_UNCOUNTED = {'_transformer_encoder_layer_fwd', '_cudnn_rnn', '_cudnn_rnn_backward', 'mkldnn_rnn_layer_backward',
              'miopen_rnn', '_triton_multi_head_attention', '_weight_int4pack_mm', '_weight_int8pack_mm',
              '_dyn_quant_matmul_4bit', '_mixed_dtypes_linear', '_foreach_mm', 'conv_tbc_backward',
              '_scaled_mm_v2', '_scaled_grouped_mm_v2', 'fbgemm_linear_int8_weight', 'fbgemm_linear_fp16_weight',
              '_lstm_mps', 'linalg_matrix_exp', 'deform_conv2d', '_deform_conv2d_backward'}
# Operators of these names do not multiply, except for those above.
_KNOWN_NAMES = {'aten', 'prims', 'prim', 'halfulp', 'profiler', 'inductor', 'c10d', 'c10d_functional', '_c10d_functional',
                '_c10d_functional_autograd', 'debugprims', 'rngprims', 'torchvision', 'quantized_decomposed', 'dtensor',
                'streams', 'higher_order'}

# ---- operators of this package ----

_PARTS = {ops.FORWARD[0]: 'forward', ops.GRAD_A[0]: 'dX', ops.GRAD_B[0]: 'dW'}


def _matmul(args: Sequence[Any], z: Any) -> List[Product]:
    a, b, text, uses = args[0], args[1], args[4], args[8]
    return [Product('matmul', (_shape(a), _shape(b)), _size(a.shape) * b.shape[-1], _PARTS[uses[0]], text)]


def _convolution(args: Sequence[Any], z: Any) -> List[Product]:
    x, w = args[0], args[1]
    return [Product('convolution', (_shape(x), _shape(w)), _size(z[0].shape) * w.shape[1], 'forward', args[4])]


def _both(name: str, rows: Any, w: Any, args: Sequence[Any], shapes: Tuple[Shape, ...]) -> List[Product]:
    """rows: groups, windows, numbers of a window on the outputs' side."""
    work, (of_x, of_w) = _size(rows.shape) * w.shape[1], args[-3:-1]
    made = [Product(name, shapes, work, 'dX', args[5])] if of_x else []
    return made + ([Product(name, shapes, work, 'dW', args[6])] if of_w else [])


def _convolution_back(args: Sequence[Any], z: Any) -> List[Product]:
    return _both('convolution', args[0], args[2], args, (_shape(args[1]), _shape(args[2])))


def _transposed(args: Sequence[Any], z: Any) -> List[Product]:
    x, w = args[0], args[1]
    return [Product('transposed convolution', (_shape(x), _shape(w)), _size(x.shape) * w.shape[1], 'forward', args[4])]


def _transposed_back(args: Sequence[Any], z: Any) -> List[Product]:
    return _both('transposed convolution', args[1], args[2], args, (_shape(args[1]), _shape(args[2])))


def _quantize(args: Sequence[Any], z: Any) -> List[Product]:
    return [Product('rounding', (_shape(args[0]),), 0, 'forward', args[3])] if args[3] != 'keep' else []


_OWN = {'matmul': _matmul, 'convolution': _convolution, 'convolution_back': _convolution_back,
        'transposed': _transposed, 'transposed_back': _transposed_back, 'quantize': _quantize}


# ---- one table for both ----

Reader = Callable[[Sequence[Any], Any], List[Product]]
_READERS: Dict[Any, Optional[Reader]] = {}
_LOCK = threading.Lock()


def _of_torch(name: str, work: Optional[Callable[[Sequence[Any], Any], int]]) -> Reader:
    def read(args: Sequence[Any], z: Any) -> List[Product]:
        tensors = tuple([tuple(x.shape) for x in args if isinstance(x, Tensor)])
        back, n = torch._C._current_graph_task_id() != -1, None if work is None else work(args, z)
        return [] if n == 0 and name == '_cdist_forward' else [
            Product(name, tensors, n, 'backward' if back else 'forward', None)]
    return read


def _reader_of(space: str, name: str) -> Optional[Reader]:
    """What reads the products of an operator from its arguments and result; None: it makes none."""
    if space == 'halfulp':
        return _OWN.get(name)
    if space not in _KNOWN_NAMES:
        return _of_torch('{}::{}'.format(space, name), None)
    return _of_torch(name, _OF_TORCH.get(name)) if name in _OF_TORCH or name in _UNCOUNTED else None


def reader(operator: Any) -> Optional[Reader]:
    if operator not in _READERS:
        with _LOCK:
            named = isinstance(operator, torch._ops.OpOverload)
            _READERS[operator] = _reader_of(*operator._schema.name.split('::')) if named else None
    return _READERS[operator]


def exact(args: Sequence[Any]) -> bool:
    """Whether an operator multiplies integers, which torch does exactly."""
    for x in args:
        if isinstance(x, Tensor) and (x.is_floating_point() or x.is_complex()):
            return False
    return True


Before = Callable[[Any, Sequence[Any]], Sequence[Any]]
See = Callable[[Any, List[Product], Sequence[Any], Any], Any]


class Guard(TorchDispatchMode):
    """Calls `see(operator, products, args, result)` for every operator that multiplies; it gives the result that the caller
    gets. `before(operator, args)` may change arguments, or raise."""

    def __init__(self, before: Before, see: See) -> None:
        super().__init__()
        self.before, self.see = before, see

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """torch would mark the method below as one that no compiler looks into, by importing all of torch.compile."""
        return False

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """torch.compile compiles what runs under this mode; it sees what the compiled graph calls."""
        return True

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        read = _READERS[function] if function in _READERS else reader(function)
        if read is None:
            return function(*args, **(kwargs or {}))
        args = self.before(function, args)
        with torch._C.DisableTorchFunction():  # in the backward pass a mode of functions would take the operator for a call
            result = function(*args, **(kwargs or {}))
        return self.see(function, read(args, result), args, result)

    def meet(self, function: Any) -> None:
        """This mode is called for new operators, too."""


class WholeGuard(Guard):
    """The same where nothing may run unseen: torch.compile leaves what runs under it to eager mode. `compiled(fullgraph)`
    is called for each operator that multiplies in a function that was to be compiled."""

    def __init__(self, before: Before, see: See, compiled: Callable[[bool], None]) -> None:
        super().__init__(before, see)
        self.compiled = compiled

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        compiler = _FRAMES.set_eval_frame(None)  # while the mode is off, torch.compile would look into this method
        try:
            if callable(compiler) and reader(function) is not None:
                self.compiled(_whole_graph(sys._getframe(1)))
            return super().__torch_dispatch__(function, types, args, kwargs)
        finally:
            _FRAMES.set_eval_frame(compiler)


_FRAMES = torch._C._dynamo.eval_frame
if hasattr(_FRAMES, 'skip_code'):
    _FRAMES.skip_code(WholeGuard.__torch_dispatch__.__code__)
else:
    _DO = _FRAMES._FrameAction
    _FRAMES.set_code_exec_strategy(WholeGuard.__torch_dispatch__.__code__, _FRAMES._FrameExecStrategy(_DO.SKIP, _DO.DEFAULT))


def _whole_graph(frame: Any) -> bool:
    """Whether the call of torch.compile that the frame lies in has fullgraph=True."""
    while frame is not None and not frame.f_code.co_filename.endswith('_dynamo/eval_frame.py'):
        frame = frame.f_back
    return frame is not None and bool(getattr(frame.f_locals.get('self'), 'fullgraph', False))


class QuickGuard(Kernels):
    """The same by kernels of operators that multiply."""

    def __init__(self, before: Before, see: See) -> None:
        super().__init__(_reader_of)
        self.before, self.see = before, see

    def around(self, read: Reader, operator: Any, run: Any, keys: Any, *args: Any, **kwargs: Any) -> Any:
        args = self.before(operator, args)
        result = run(keys, *args, **kwargs)
        return self.see(operator, read(args, result), args, result)


_FAKE = torch._C._TorchDispatchModeKey.FAKE


def hidden(one: Any) -> bool:
    """Whether a mode computes shapes alone, so that no kernel runs. (A compiler's own mode does not count.)"""
    return (isinstance(one, Kernels) and torch._C._get_dispatch_mode(_FAKE) is not None
            and torch._guards.CompileContext.try_get() is None)


def guard(before: Before, see: See, compiled: Optional[Callable[[bool], None]]) -> Any:
    """What sees products; with `compiled` nothing may run unseen (WholeGuard)."""
    if compiled is not None:
        return WholeGuard(before, see, compiled)
    return (Guard if _watch.FREE is None else QuickGuard)(before, see)
