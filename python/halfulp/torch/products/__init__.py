# SPDX-License-Identifier: MIT
"""Every product that torch's functions make, as products under a recipe.

A table has the functions of torch that multiply matrices, and for each what it computes by the products of a `Low`
(call.py): matrices.py and einsum.py, images.py (convolutions), attention.py, recurrent.py, look_up.py. `Lowering` is the
mode of torch that looks functions up in it.
"""
from . import attention, einsum, images, look_up, matrices, recurrent
from .call import Asked, Low, Stays, autocast, expanded
from .table import Lowering

__all__ = ['Asked', 'Low', 'Lowering', 'Stays', 'attention', 'autocast', 'einsum', 'expanded', 'images', 'look_up',
           'matrices', 'recurrent']
