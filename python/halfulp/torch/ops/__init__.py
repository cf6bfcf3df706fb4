# SPDX-License-Identifier: MIT
"""The operators that torch knows: torch.ops.halfulp.*, with fake kernels for tracing and formulas for autograd.

Everything else in this package is made of these. Arguments are tensors, numbers and texts, so that torch.compile can
keep them in a graph; functional.py has friendlier calls with the same names.

quantize         z = x rounded; events
quantize_        x = x rounded, in place; events
inside           which elements lie within the range that they are rounded into
of_integers      integers and booleans as numbers that a rounding takes
encode, decode   codes of a format
unpack           codes of 1 to 7 bits that lie in bytes without gaps
scaled_encode, scaled_decode    codes, scales and second-level scale of a scaled tensor
matmul           D = A B, operands and result rounded, under an accumulation model; events
convolution      the product of a convolution, X and its gradient rounded as tensors; events
transposed       the product of a transposed convolution, and its image; events
patches, unpatch    the rows that a convolution is a product of, and back
add_row          y + b for every row
columns          sums of columns in a stated order, the gradient of b
advance_         a module's stream as it is; its counter moves on
note_            events added to a module's counts

Two functions beside them, which call operators where torch looks at these, and the library elsewhere:

quantize_into    a given tensor = x rounded
linear           X W^T + b of a layer that draws no random words and counts nothing; None where operators must compute it

`stream` is int64 of 2 numbers on the CPU: key and counter of halfulp's random words (64-bit patterns); it may be None
where a call and its backward pass draw none. `use` is the child of the stream that a rounding draws from, -1 the
stream itself. `tap` is None, or a tensor of float64 zeros that requires a gradient, one row per part: autograd adds the
counts of the backward pass to its gradient (exact below 2^53).
"""
from ._shared import GRADIENTS, counts, drawn, gradient_rule, words
from .codes import decode, encode, same_format, scaled_decode, scaled_encode, unpack
from .convolutions import convolution, convolution_back, patches, transposed, transposed_back, unpatch
from .products import FORWARD, GRAD_A, GRAD_B, add_row, columns, linear, matmul
from .rounding import inside, of_integers, quantize, quantize_, quantize_into
from .state import advance_, note_

__all__ = ['FORWARD', 'GRADIENTS', 'GRAD_A', 'GRAD_B', 'add_row', 'advance_', 'columns', 'convolution',
           'convolution_back', 'counts', 'decode', 'drawn', 'encode', 'gradient_rule', 'inside', 'linear', 'matmul', 'note_',
           'of_integers', 'patches', 'quantize', 'quantize_', 'quantize_into', 'same_format', 'scaled_decode', 'scaled_encode',
           'transposed', 'transposed_back', 'unpack', 'unpatch', 'words']
