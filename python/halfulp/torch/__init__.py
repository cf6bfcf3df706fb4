# SPDX-License-Identifier: MIT
"""halfulp.torch: low precision in PyTorch, bit for bit; docs/torch/torch.md is the page for users.

    import halfulp.torch as ht
    fp8 = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e5m2', accum='seq(binary16)')
    layer = ht.Linear(64, 10, recipe=fp8)

Importing halfulp does not import torch; importing this does. halfulp.torch.distributed, which is imported by its own
name, joins the gradients of several processes.
"""
MINIMUM = (2, 4)  # torch.library.custom_op, register_autograd, opcheck


def _wanted() -> None:
    try:
        import torch
    except ImportError:
        raise ImportError('halfulp.torch: PyTorch is not installed (pip install torch)') from None
    have = tuple(int(part) for part in torch.__version__.split('+')[0].split('.')[:2])
    if have < MINIMUM:
        raise ImportError(
            'halfulp.torch: PyTorch {}.{} or later is required, this is {}'.format(*MINIMUM, torch.__version__))


_wanted()

from .functional import (EVENTS, ScaledTensor, conv2d, decode, encode, inside, linear, matmul, quantize,  # noqa: E402
                         quantize_, quantize_with_events, s2fp8, scaled_decode, scaled_encode, stream)
from . import _forward as _forward  # noqa: E402  (it registers the rules of forward mode)
from .recipe import Attention, Recipe  # noqa: E402
from . import recipes  # noqa: E402
from .quantizer import Quantizer  # noqa: E402
from .layers import Conv2d, Embedding, Linear, MatMul  # noqa: E402
from .precision import precision, release  # noqa: E402
from .convert import convert  # noqa: E402
from .comparing import Comparison, compare_models, sensitivity  # noqa: E402
from .export import export_onnx  # noqa: E402
from .assignment import PrecisionAssignment, assign  # noqa: E402
from ._stateful import events, reset_events  # noqa: E402
from .loss_scale import LossScaler  # noqa: E402
from .cache import CacheRounding, KVCache  # noqa: E402
from .optim import SGD, AdamW, Muon, Rounded  # noqa: E402

__all__ = ['EVENTS', 'AdamW', 'Attention', 'CacheRounding', 'Comparison', 'Conv2d', 'Embedding', 'KVCache', 'Linear',
           'LossScaler', 'MatMul', 'Muon', 'PrecisionAssignment', 'Quantizer', 'Recipe', 'Rounded', 'SGD', 'ScaledTensor',
           'assign', 'compare_models', 'conv2d', 'convert', 'decode', 'encode', 'events', 'export_onnx', 'inside', 'linear',
           'matmul', 'precision', 'quantize', 'quantize_', 'quantize_with_events', 'recipes', 'release', 'reset_events', 's2fp8',
           'scaled_decode', 'scaled_encode', 'sensitivity', 'stream']
