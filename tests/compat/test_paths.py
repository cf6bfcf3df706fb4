# SPDX-License-Identifier: MIT
"""Expressions of PyTorch on the CPU, eager and compiled by Inductor, against `halfulp path` under the rules named after them."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import common  # noqa: E402

# Nothing that another run has compiled.
cache = tempfile.TemporaryDirectory(prefix='halfulp-inductor-')
os.environ.update(TORCHINDUCTOR_CACHE_DIR=cache.name, TORCHINDUCTOR_FORCE_DISABLE_CACHES='1')
np, torch = common.need('numpy', 'torch')
run = common.Run(sys.argv)
torch.set_num_threads(1)
HEADS = {'bf16': torch.bfloat16, 'fp16': torch.float16, 'binary32': torch.float32}
EXPRESSIONS = ['x * w + b', 'x * w - b * x', 'b - x * w', '-(x * w) + b', 'x / w + b', 'x / 3', 'x * 0.1 + 0.7', '(x - 0.1) * w', '0.3 / x + b',
               'relu(x * w + b) * 0.1', 'abs(x) * -w', '(x + w) / b - 1', 'relu(-x)']
# Besides, per format: sqrt where a rule defines it, casts that a format has.
MORE = {'bf16': ['sqrt(abs(x)) * w + b', 'x * w : torch.float8_e4m3fn', 'x + w : torch.float8_e5m2'],
        'fp16': ['sqrt(abs(x)) * w + b', 'x * w : torch.float8_e4m3fn'],
        'binary32': ['to(x * w, bfloat16) + b', 'x * w : torch.bfloat16', 'x + b : torch.float8_e4m3fn']}
NAMES = {'torch': torch, 'relu': torch.relu, 'sqrt': torch.sqrt, 'bfloat16': torch.bfloat16,
         'to': lambda x, kind: x.to(kind).to(torch.float32)}


def program(texts):
    """A function of x, w, b that returns every expression, written out so that it is compiled as a whole."""
    def one(text):
        body, _, result = text.partition(' : ')
        return '(%s).to(%s)' % (body, result) if result else body
    made = dict(NAMES)
    exec('def program(x, w, b):\n    return (%s)' % ', '.join(map(one, texts)), made)  # noqa: S102
    return made['program']


def compare(rule, head, texts, results):
    for text, result in zip(texts, results):
        run.same_path(rule, '%s: %s' % (head, text), floats, result.to(torch.float32).numpy())


for head, kind in HEADS.items():
    given = {name: torch.from_numpy(values).to(kind) for name, values in run.path_operands('xwb').items()}
    floats = {name: values.to(torch.float32).numpy() for name, values in given.items()}
    texts = EXPRESSIONS + MORE[head]
    compare('torch.cpu', head, texts, program(texts)(**given))
    for rule in ('inductor.cpu', 'inductor.cpu.emulate'):
        torch._inductor.config.emulate_precision_casts = rule.endswith('emulate')
        torch._dynamo.reset()
        compare(rule, head, texts, torch.compile(program(texts), fullgraph=True)(**given))
run.done('PyTorch ' + torch.__version__)
