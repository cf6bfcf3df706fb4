# SPDX-License-Identifier: MIT
"""halfulp: low-precision floating point, bit for bit.

    import numpy as np, halfulp
    halfulp.quantize(np.float32([0.1, 500.0]), 'float8_e4m3fn')

Formats and values    Format, formats, plot, quantize, compare, encode, decode, convert, pack, unpack, as_ml_dtypes, as_codes
Other programs'       Preset, presets, preset: conversions with their bits, taken by quantize and encode; path, path_rules:
                      expressions as compilers round them
How it is rounded     Mode, Stream, Events
By their names        format(...), mode(...), scaling(...), number.Number(...), model(...), preset(...)
Arithmetic            add, sub, mul, div, fma, sqrt, minimum, ..., exp, log, tanh, ..., pow; halfulp.codes: on codes
Sums                  gemm, gemm_errors, dot, Accumulator, Watch, models, model; all_reduce, Collective, ExactSum
IEEE P3109            halfulp.p3109: the operations of the draft, with its own semantics
Scaled tensors        halfulp.scaled, Scaling, scalings, rules
Other number systems  halfulp.number, Number, numbers
Whole tensors         hadamard, s2fp8_encode, hifloat4_encode, round_tensor, Rounding
Files                 load: low-precision checkpoints of other programs, as values
Training              halfulp.train: Trainer, Net, LossScaler, Optimizer, Layout, Assignment

What a call returns is defined in docs/numerics.md and in the C headers; docs/python.md begins with a problem.
"""
from . import codes, number, p3109, scaled, train
from ._abi import HalfulpDeviceError, HalfulpError, HalfulpMemoryError, HalfulpTypeError, HalfulpValueError
from ._pictures import Picture
from .accum import Accumulator, Model, Watch, model, models
from .arithmetic import (PathRule, add, cos, div, erf, exp, exp2, expm1, fma, gelu, log, log1p, log2, maximum,
                         maximum_number, minimum, minimum_number, mul, path, path_rules, pow, reciprocal, remainder,
                         rsqrt, sigmoid, sin, sqrt, sub, tanh)
from .arrays import as_codes, as_ml_dtypes, convert, decode, encode, pack, quantize, unpack
from .checkpoint import Checkpoint, CheckpointChange, CheckpointTensor, load
from .collective import Collective, ExactSum, all_reduce
from .comparison import Compared, Comparison, SumError, SumErrors, compare, gemm_errors, plot
from .conversion import Preset, preset, presets
from .device import device_available, levels, synchronize
from .events import Events
from .format import Format, formats
from .gemm import dot, gemm
from .identification import Identified, identify
from .mode import Mode, Stream
from .number import Number, numbers
from .scaling import Rounding, Scaling, rules, scalings
from .transform import HiFloat4Tensor, S2FP8Tensor, hadamard, hifloat4_encode, round_tensor, s2fp8_encode

# halfulp.format('bfloat16') as halfulp.model(...) and halfulp.preset(...); the modules of these names can be imported
# from as ever. Not in __all__: `format` is a function of Python, too.
format, mode, scaling = Format, Mode, Scaling

__version__ = '0.1.0'
__all__ = [
    'Accumulator', 'Checkpoint', 'CheckpointChange', 'CheckpointTensor',
    'Collective', 'Compared', 'Comparison', 'Events', 'ExactSum', 'Format', 'HalfulpDeviceError',
    'HalfulpError', 'HalfulpMemoryError', 'HalfulpTypeError', 'HalfulpValueError', 'HiFloat4Tensor', 'Identified', 'Mode', 'Model', 'Number',
    'PathRule', 'Picture', 'Preset', 'Rounding', 'S2FP8Tensor', 'Scaling', 'Stream', 'SumError', 'SumErrors', 'Watch', 'add', 'all_reduce', 'as_codes',
    'as_ml_dtypes', 'codes', 'compare', 'convert', 'cos', 'decode', 'device_available', 'div', 'dot', 'encode', 'erf', 'exp', 'exp2', 'expm1', 'fma',
    'formats', 'gelu', 'gemm', 'gemm_errors', 'hadamard', 'hifloat4_encode', 'identify', 'levels', 'load', 'log', 'log1p', 'log2', 'maximum',
    'maximum_number', 'minimum', 'minimum_number', 'model', 'models', 'mul', 'number', 'numbers', 'p3109', 'pack', 'path', 'path_rules', 'plot', 'pow',
    'preset', 'presets', 'quantize', 'reciprocal', 'remainder', 'round_tensor', 'rsqrt', 'rules', 's2fp8_encode', 'scaled', 'scalings', 'sigmoid', 'sin',
    'sqrt', 'sub', 'synchronize', 'tanh', 'train', 'unpack',
]
