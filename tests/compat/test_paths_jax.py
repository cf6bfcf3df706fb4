# SPDX-License-Identifier: MIT
"""Expressions that jax.jit compiles for the CPU against `halfulp path` under the rule xla.cpu."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

common.xla_on_a_cpu()
np, jax, ml_dtypes = common.need('numpy', 'jax', 'ml_dtypes')
run = common.Run(sys.argv)
EXPRESSIONS = ['x * w + b', 'x * w - b * x', 'b - x * w', '-(x * w) + b', 'x / w + b', 'x * 0.1 + 0.7', '(x - 0.1) * w', '0.3 / x + b',
               'relu(x * w + b) * 0.1', 'abs(x) * -w', '(x + w) / b - 1', 'relu(-x)', 'sqrt(abs(x)) * w']
made = {'relu': jax.nn.relu, 'abs': abs, 'sqrt': jax.numpy.sqrt}
exec('def program(x, w, b):\n    return (%s)' % ', '.join(EXPRESSIONS), made)  # noqa: S102
for head, kind in {'bf16': ml_dtypes.bfloat16, 'fp16': np.float16, 'binary32': np.float32}.items():
    given = {name: values.astype(kind) for name, values in run.path_operands('xwb').items()}
    floats = {name: values.astype(np.float32) for name, values in given.items()}
    for text, result in zip(EXPRESSIONS, jax.jit(made['program'])(**given)):
        run.same_path('xla.cpu', '%s: %s' % (head, text), floats, np.asarray(result).astype(np.float32))
run.done('JAX ' + jax.__version__)
