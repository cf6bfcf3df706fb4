# SPDX-License-Identifier: MIT
"""Recipes of programs and papers, by name: how they round, which modules they leave, and where this differs from them.

    recipe = ht.recipes.nvfp4_pretraining().exempt('blocks.0', 'head')
    model = ht.convert(model, recipe)          # or: with ht.precision(recipe): ...
    print(recipe)                              # its source, what is as there, and what is not

Each function gives a `Named`. docs/torch/recipes.md has the table of all of them, and what each was compared with.
"""
from .eight import deepseek_v3, fp8_e5m2, fp8_lm, hopper, s2fp8, te_block, te_current, te_mxfp8, torchao_mxfp8
from .four import (fp4_all_the_way, mxfp4_stochastic, nvfp4_pretraining, quartet, quartet_2, te_nvfp4, tetrajet,
                   torchao_nvfp4)
from .history import Delayed, fp8_lm_history, te_delayed
from .listing import get, last, names, rows
from .named import Named
from .sixteen import bf16_kahan, bf16_stochastic, fp16_master

__all__ = ['Delayed', 'Named', 'bf16_kahan', 'bf16_stochastic', 'deepseek_v3', 'fp16_master', 'fp4_all_the_way', 'fp8_e5m2', 'fp8_lm',
           'fp8_lm_history', 'get', 'hopper', 'last', 'mxfp4_stochastic', 'names', 'nvfp4_pretraining', 'quartet', 'quartet_2', 'rows',
           's2fp8', 'te_block', 'te_current', 'te_delayed', 'te_mxfp8', 'te_nvfp4', 'tetrajet', 'torchao_mxfp8',
           'torchao_nvfp4']
