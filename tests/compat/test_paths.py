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
COUNT = 20000
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


def operands(kind, random):
    """Values with zeros, infinities and NaN among them."""
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    drawn = np.concatenate([random.normal(size=COUNT) * np.exp2(random.integers(-4, 5, COUNT)), random.choice(special, 60)])
    random.shuffle(drawn)
    return torch.from_numpy(drawn.astype(np.float32)).to(kind)


def compare(rule, head, texts, results, files):
    for text, result in zip(texts, results):
        run.halfulp('path', '-q', '%s: %s' % (head, text), '--rule', rule, *[f for f in files if f[0] in text.replace('abs', '').replace('bfloat', '')],
                    '-o', run.path('z.npy'))
        ours, theirs = np.load(run.path('z.npy')), result.to(torch.float32).numpy()
        same = (ours.view(np.uint32) == theirs.view(np.uint32)) | (np.isnan(ours) & np.isnan(theirs))
        at = int(np.argmin(same))
        run.differ('%s: %s: %s as PyTorch (%d of %d are others; [%d] is %r, not %r)' % (rule, head, text, int((~same).sum()), same.size, at,
                                                                                       theirs[at], ours[at]), bool(same.all()), same.size)


for head, kind in HEADS.items():
    random = np.random.default_rng(11)
    x, w, b = (operands(kind, random) for _ in range(3))
    files = []
    for name, values in (('x', x), ('w', w), ('b', b)):
        np.save(run.path(name + '.npy'), values.to(torch.float32).numpy())
        files.append('%s=%s' % (name, run.path(name + '.npy')))
    texts = EXPRESSIONS + MORE[head]
    compare('torch.cpu', head, texts, program(texts)(x, w, b), files)
    for rule in ('inductor.cpu', 'inductor.cpu.emulate'):
        torch._inductor.config.emulate_precision_casts = rule.endswith('emulate')
        torch._dynamo.reset()
        compare(rule, head, texts, torch.compile(program(texts), fullgraph=True)(x, w, b), files)
run.done('PyTorch ' + torch.__version__)
