# SPDX-License-Identifier: MIT
"""The folders and who may include whom: for check_tree.py, which holds the tree to it, and for scripts/campaign.py, which
asks what a result depends on."""

# Who may include whom: each folder, and beside itself the folders (F/*) or files that it may include. A header counts by
# the folder that its name has in the line that includes it.
PUBLIC = ['halfulp/*', 'halfulp/formats/*', 'halfulp/train/*', 'halfulp/core/*']
CORE_TYPES = ['halfulp/%s.h' % name for name in ('accum', 'array', 'format', 'mode', 'number', 'operation', 'scaled', 'gemm', 'hadamard',
                                                  'sum', 'trace')]
LIBRARY = ['base', 'format', 'simd', 'array', 'arith', 'hadamard', 'accum', 'sum', 'p3109', 'number', 'apply', 'gemm/tiles', 'gemm', 'gemm/short', 'gemm/steps',
           'scaled', 'scaled_gemm', 's2fp8', 'conversion', 'collective', 'path']
SIDE_BY_SIDE = ['array', 'arith', 'hadamard', 'accum', 'sum']
FROM_EMU = ['emu/core/*', 'emu/base/exec.h', 'emu/base/array_extent.h', 'emu/base/codes.h', 'emu/base/device_calls.h', 'emu/base/operation_check.h',
            'emu/base/matrix_view.h', 'emu/accum/check.h',
            'emu/gemm/check.h', 'emu/gemm/unit_plan.h', 'emu/gemm/unit_steps.h', 'emu/hadamard/check.h', 'emu/scaled/check.h', 'emu/sum/check.h',
            'emu/sum/term.h', 'emu/s2fp8/kind.h', 'emu/s2fp8/gemm.h', 'emu/simd/round.h', 'emu/arith/function_one.h', 'emu/arith/function_quick.h',
            'emu/arith/function_polynomials.h', 'emu/arith/one.h', 'emu/s2fp8/polynomial.h', 'emu/scaled_gemm/plan.h']
TRAINING = ['text', 'data', 'step', 'engine', 'net', 'loss', 'recurrent', 'transformer', 'precision', 'model', 'trainer', 'feed', 'experiment']
COMMAND = ['base', 'accum', 'draw', 'tensors', 'target', 'explain', 'quantize', 'plot', 'pictures', 'vectors', 'proof', 'job', 'verify', 'campaign',
           'train', 'sweep', 'experiment', 'question', 'box', 'processor', 'bench', 'identify', 'audit', 'command']
# What stands against the order, file by file: the header that compiles loops for a level; the one that lends threads.
UPWARD = {'train/engine/loops.h': ['emu/simd/of_level.h'], 'train/engine/cpu.h': ['emu/base/helpers.h']}


def left_of(folders, name, top):
    """The folders before this one in its order, and itself."""
    return [f'{top}/{one}/*' for one in folders[:folders.index(name) + 1]]


def rules():
    made = {
        'include/halfulp': PUBLIC,
        'include/halfulp/formats': PUBLIC,
        'include/halfulp/train': PUBLIC,
        'formats': PUBLIC,
        'files': ['files/*'],
        'layouts': PUBLIC + ['files/*', 'layouts/*'],
        'layouts/write': PUBLIC + ['files/*', 'layouts/*', 'layouts/write/*'],
        'bench': PUBLIC + ['bench/*', 'files/*', 'tests/support/levels.h'],
        'emu': PUBLIC + [f'emu/{one}/*' for one in ['core'] + LIBRARY],  # level_table.c and multiply.c know all families
        'emu/core': CORE_TYPES + ['emu/core/*'],
        'emu/oracle': ['halfulp/%s.h' % name for name in ('format', 'mode', 'number', 'status', 'oracle')] + ['emu/oracle/*'],
        'gpu': PUBLIC + FROM_EMU + ['gpu/base/*', 'gpu/probe/*', 'cuda'],
        'gpu/base': PUBLIC + FROM_EMU + ['gpu/base/*', 'cuda'],
        'gpu/probe': PUBLIC + FROM_EMU + ['gpu/base/*', 'gpu/probe/*', 'cuda'],
        'gpu/train': PUBLIC + FROM_EMU + ['gpu/base/*', 'gpu/train/*', 'train/engine/engine.h', 'train/engine/kernels.h',
                                          'train/engine/kernels_sequences.h', 'cuda'],
        'gpu/tools': PUBLIC + FROM_EMU + ['gpu/base/*', 'gpu/tools/*', 'bench/*', 'cuda'],
        # The kernels' text for the CPU, and what stands in for CUDA's headers.
        'gpu/host': PUBLIC + FROM_EMU + [f'gpu/{one}/*' for one in ('base', 'elementwise', 'gemm', 'scaled', 'sum', 'probe', 'train', 'tools', 'host')]
        + ['gpu/device.cu', 'cuda'],
        'train': ['emu/base/float_env.h', 'emu/core/port.h'],
        'train/experiment/papers': PUBLIC + ['train/experiment/*'],
        'mpi': PUBLIC + ['mpi/*', 'emu/core/*', 'emu/base/*', 'emu/collective/step.h', 'cli/base/cli.h', 'cli/base/launched.h', 'cli/job/job.h',
                          'cli/train/ranks.h'],
        'cli': PUBLIC + ['files/*', 'cli/base/*'],
    }
    for one in LIBRARY:
        beside = [f'emu/{other}/*' for other in SIDE_BY_SIDE if one in SIDE_BY_SIDE and other != one]
        made[f'emu/{one}'] = PUBLIC + ['emu/core/*'] + [f for f in left_of(LIBRARY, one, 'emu') if f not in beside]
    for one in ('elementwise', 'gemm', 'scaled', 'sum'):
        made[f'gpu/{one}'] = PUBLIC + FROM_EMU + ['gpu/base/*', f'gpu/{one}/*', 'cuda']
    for one in TRAINING:
        made[f'train/{one}'] = PUBLIC + ['files/*', 'train/environment.h'] + left_of(TRAINING, one, 'train')
    for one in COMMAND:
        made[f'cli/{one}'] = PUBLIC + ['files/*', 'layouts/layouts.h'] + left_of(COMMAND, one, 'cli')
    return made
