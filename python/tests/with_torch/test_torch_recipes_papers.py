# SPDX-License-Identifier: MIT
"""Named recipes of papers, against halfulp.train.Net, whose steps are written in C, and against evaluators written here from
the papers' texts: float64 numbers, rounded where the text rounds."""
import numpy as np
from torch_support import ht, plain, pytest, same, torch  # first: it skips where there is no torch

import halfulp  # isort: skip
from halfulp.train import Net
from test_torch_recipes_steps import transformed

from halfulp.torch import ops

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
S = ht.stream(11, 5)


def nearest(x, values, away=False):
    """The nearest of a format's magnitudes, with x's sign; ties to the even place in the list, or away from zero."""
    size = np.minimum(np.abs(x), values[-1])
    upper = np.searchsorted(values, size).clip(1, len(values) - 1)
    low, high = values[upper - 1], values[upper]
    middle = (low + high) / 2
    up = (size > middle) | (size == middle) & (away | (upper % 2 == 0))
    return np.where(up, high, low) * np.sign(x)


def e4m3_values():
    codes = np.arange(127)
    e, m = codes >> 3, codes & 7
    return np.where(e == 0, m / 8 * 2.0 ** -6, (1 + m / 8) * 2.0 ** (e.astype(float) - 7))


E4M3 = e4m3_values()


def f32(x):
    return np.asarray(x, np.float64).astype(np.float32).astype(np.float64)


def passes(recipe, x, w, g):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    y = ht.linear(x, w, None, recipe, stream=S)
    y.backward(g)
    return [y.detach(), x.grad, w.grad]


def product(a, b):
    """Sums in float64, rounded once."""
    return torch.from_numpy(np.asarray(a, np.float64) @ np.asarray(b, np.float64)).float()


# ---- the same in C ----

def in_c(roundings, x, target):
    """Two layers of halfulp.train.Net: its weights, its output, the gradient of the output, and those of the weights."""
    net = Net('mlp(layers=1,units=64,activation=relu)', batch=len(x), width=x.shape[1], outputs=target.shape[1], seed=3,
              loss='squared_error')
    net.round_products(**roundings)
    net.forward(x.numpy(), target.numpy())
    output = net.output.copy()
    net.backward()
    weights = {name: torch.from_numpy(np.array(one)) for name, one in net.parameters().items()}
    gradients = {name: torch.from_numpy(np.array(one)) for name, one in net.gradients().items()}
    last = [one for one in net.value_gradients().values() if one.shape == target.shape][-1]
    return weights, torch.from_numpy(output), torch.from_numpy(np.array(last)), gradients


TILES = 'scaled(float4_e2m1fn;scale=ue4m3;block=16x16;rule=ratio;steps=multiply;tensor;zero=zero)'
MX = 'scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)'
ONE = 'scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio;zero=zero)'


def along(rounding, w=None):
    """Blocks along the sums of the three products."""
    turned = rounding + ',turned'
    return dict(x=rounding, w=w or turned, dz=rounding, w_back=w or rounding, x_back=turned, dz_w=turned)


IN_C = {  # stochastic roundings to nearest: the words of a network are others
    'nvfp4_pretraining': (dict(g='nvfp4'), dict(along('nvfp4', TILES), hadamard=16, signs=0xD7E8D7E8)),
    'tetrajet': (dict(g=MX, w_dx=MX, x_dw=MX), dict(along(MX), twice=1)),
    'fp4_all_the_way': (dict(g=ONE, x_dw=ONE), along(ONE)),
    'deepseek_v3': (dict(accum='fp32'), along('dsv3_1x128', 'dsv3_128x128')),
}


@pytest.mark.parametrize('name', sorted(IN_C))
def test_as_in_c(name):
    changes, roundings = IN_C[name]
    x, target = plain(48, 80), plain(48, 40, seed=2)
    weights, output, dz, gradients = in_c(roundings, x, target)
    recipe = ht.recipes.get(name).but(**changes)
    model = torch.nn.Sequential(torch.nn.Linear(80, 64), torch.nn.ReLU(), torch.nn.Linear(64, 40))
    with torch.no_grad():
        for layer, own in ((model[0], 'linear1'), (model[2], 'linear2')):
            layer.weight.copy_(weights[own + '.weight'].t())
            layer.bias.copy_(weights[own + '.bias'].view(-1))
    low = ht.convert(model, recipe)
    z = low(x)
    same(z.detach(), output)
    z.backward(dz)
    for layer, own in ((low[0], 'linear1'), (low[2], 'linear2')):
        same(layer.weight.grad.t().contiguous(), gradients[own + '.weight'])
        same(layer.bias.grad, gradients[own + '.bias'].view(-1))


def test_quartet_forward_as_in_c():
    """Signs are drawn in the backward pass alone."""
    x, target = plain(48, 80), plain(48, 40, seed=2)
    weights, output, _, _ = in_c(dict(quartet=1), x, target)
    h = torch.relu(ht.linear(x, weights['linear1.weight'].t(), weights['linear1.bias'].view(-1), ht.recipes.quartet(), stream=S))
    same(ht.linear(h, weights['linear2.weight'].t(), weights['linear2.bias'].view(-1), ht.recipes.quartet(), stream=S), output)


# ---- DeepSeek-V3 ----

def ratio_blocks(x, rows, cols):
    """s = amax / 448 in binary32, E4M3(x / s), both kept apart: codes, and a scale for each element."""
    codes, scales = np.zeros(x.shape), np.ones(x.shape)
    for i in range(0, x.shape[0], rows):
        for j in range(0, x.shape[1], cols):
            part = np.s_[i:i + rows, j:j + cols]
            amax = np.abs(x[part]).max()
            scales[part] = f32(amax / 448) if amax else 1
            codes[part] = nearest(f32(x[part] / scales[part]), E4M3)
    return codes, scales


def test_deepseek_v3():
    """For each 128 terms a sum of codes, rounded to binary32, times the two scales rounded to binary32, added up."""
    x, w, g = plain(40, 200), plain(144, 200, seed=2), plain(40, 144, seed=3)
    def total(left, right):
        (a, sa), (b, sb) = left, right
        sums = np.zeros((a.shape[0], b.shape[0]))
        for i in range(0, a.shape[1], 128):
            part = np.s_[:, i:i + 128]
            sums += f32(a[part] @ b[part].T) * f32(sa[:, i:i + 1] * sb[:, i])
        return torch.from_numpy(sums).float()
    a, b, c = (v.double().numpy() for v in (x, w, g))
    tiles = ratio_blocks(b, 128, 128)
    expected = [total(ratio_blocks(a, 1, 128), tiles), total(ratio_blocks(c, 1, 128), (tiles[0].T, tiles[1].T)),
                total(ratio_blocks(c.T, 1, 128), ratio_blocks(a.T, 1, 128))]
    recipe = ht.recipes.deepseek_v3()
    for one, other in zip(passes(recipe.but(accum='parts(exact;exact;rounded)'), x, w, g), expected):
        same(one, other)
    for one, other in zip(passes(recipe, x, w, g), expected):  # the unit keeps fewer digits
        assert 0 < (one - other).norm() < 1e-3 * other.norm()


# ---- FP4 All the Way, stochastic roundings ----

def test_fp4_all_the_way_without_bias():
    """dY and X of dW are unbiased, and nothing else is random."""
    x, w, g = plain(32, 16), plain(16, 16, seed=2), plain(32, 16, seed=3) * 4
    recipe = ht.recipes.fp4_all_the_way().but(accum='exact')
    first = passes(recipe, x, w, g)
    count, total = 200, [torch.zeros_like(w, dtype=torch.float64), torch.zeros_like(x, dtype=torch.float64)]
    for i in range(count):
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        y = ht.linear(a, b, None, recipe, stream=ht.stream(i, 0))
        same(y.detach(), first[0])
        y.backward(g)
        total[0] += b.grad.double()
        total[1] += a.grad.double()
    inside = ht.quantize(w, ONE, dim=0)
    for made, expected in zip(total, (g.t().double() @ x.double(), g.double() @ inside.double())):
        error = (made / count - expected).abs()
        spread = (first[2].double() - expected).norm() if expected.shape == w.shape else (first[1].double() - expected).norm()
        assert error.norm() < 4 * spread / count ** 0.5


# ---- Quartet ----

def quest(x):
    """Algorithm 1, lines 3 and 4, with the scale of the authors' code."""
    z, inside = np.zeros(x.shape), np.zeros(x.shape, bool)
    for j in range(0, x.shape[1], 32):
        part = x[:, j:j + 32]
        n = part.shape[1]
        total = squares = np.zeros(len(x))
        for k in range(n):
            total, squares = f32(total + part[:, k]), f32(squares + f32(part[:, k] ** 2))
        mean = f32(total / n)
        variance = f32(f32(squares / n) - f32(mean * mean))
        deviation = f32(np.sqrt(np.where(variance < 0, 1, variance)))
        bound = f32(f32(f32(2.92247856 / 6) * deviation) + f32(1e-8))
        s = 2.0 ** np.floor(np.log2(bound))[:, None]
        z[:, j:j + 32], inside[:, j:j + 32] = nearest(part / s, E2M1) * s, np.abs(part / s) < 6
    return z, inside


def fitted(x):
    """3/4 of the numbers over a quarter of the power of two at or below the largest."""
    z = np.zeros(x.shape)
    for j in range(0, x.shape[1], 32):
        part = x[:, j:j + 32]
        s = 2.0 ** (np.floor(np.log2(np.abs(part).max(1))) - 2)[:, None]
        z[:, j:j + 32] = nearest(f32(0.75 * part) / s, E2M1) * s
    return z


def hadamard(x, n=32, signs=0):
    """By the package's own transform, whose steps tests/hadamard checks."""
    z, whole = np.array(x, np.float32), x.shape[1] // n * n
    z[:, :whole] = halfulp.hadamard(np.ascontiguousarray(z[:, :whole]), n, signs=signs)
    return z.astype(np.float64)


def words(count):
    key = int(S[0]) & (1 << 64) - 1
    child = halfulp.Stream(key, 0).words(2 * 9 + 2)[2 * 9:]
    return [int(word) for word in halfulp.Stream(int(child[0]) | int(child[1]) << 32, int(S[1])).words(count)]


def test_quartet():
    x, w, g = plain(40, 72), plain(48, 72, seed=2), plain(40, 48, seed=3)
    recipe = ht.recipes.quartet().but(accum='exact')
    a, b, c = (v.double().numpy() for v in (x, w, g))
    (xq, xin), (wq, win), sign = quest(hadamard(a)), quest(hadamard(b)), words(1)[0]
    dx = product(fitted(hadamard(c, 32, sign)), fitted(hadamard(wq.T, 32, sign)).T).double().numpy()
    dw = product(fitted(hadamard(c.T, 32, sign)), fitted(hadamard(xq.T, 32, sign)).T).double().numpy()
    back = f32(16 / 9)
    expected = [product(xq, wq.T)] + [torch.from_numpy(f32(hadamard(d * mask) * back)).float() for d, mask in
                                      ((dx, xin), (dw, win))]
    for one, other in zip(passes(recipe, x, w, g), expected):
        same(one + 0.0, other + 0.0)
    assert not xin.all() and not win.all()
    y, random = passes(recipe, x, w, g), passes(ht.recipes.quartet(stochastic=True).but(accum='exact'), x, w, g)
    same(y[0], random[0])
    assert not torch.equal(y[1], random[1]) and (y[1] - random[1]).norm() < 0.3 * y[1].norm()


def test_power_of_two_below():
    from halfulp.torch.recipes import blocks
    x = torch.tensor([0.0, 1.0, 1.5, 2.0 ** -126, 2.0 ** -149, 3e38, float('inf'), float('nan')])
    same(blocks.power(x, 0), torch.tensor([2.0 ** -127, 1, 1, 2.0 ** -126, 2.0 ** -127, 2.0 ** 127, float('nan'), float('nan')]))
    same(blocks.power(x[1:2], -2), torch.tensor([0.25]))
    same(blocks.fit(torch.zeros(2, 32), '', None, -1), torch.zeros(2, 32))


# ---- MXFP4 without a bias ----

@pytest.mark.parametrize('n', [32, 64, 128])
def test_mxfp4_stochastic(n):
    """The mean of many backward passes is the product of the operands as they are; the forward pass is bfloat16."""
    x, w, g = plain(128, 64), plain(128, 64, seed=2), plain(128, 128, seed=3)
    recipe = ht.recipes.mxfp4_stochastic(n).but(accum='exact')
    y, dx, dw = passes(recipe, x, w, g)
    rounded = [v.to(torch.bfloat16).double().numpy() for v in (x, w)]
    same(y, product(rounded[0], rounded[1].T))
    total = torch.zeros_like(dw, dtype=torch.float64)
    count = 60
    for i in range(count):
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        ht.linear(a, b, None, recipe, stream=ht.stream(i, 7)).backward(g)
        total += b.grad.double()
    expected = g.t().double() @ x.double()
    one = (dw.double() - expected).norm()
    assert 0.05 * expected.norm() < one < 0.4 * expected.norm()
    assert (total / count - expected).norm() < 1.5 * one / count ** 0.5
    signs = words(n // 32)
    same(ht.recipes.blocks.transform(x.t(), n, *signs), torch.from_numpy(halfulp.hadamard(x.t().contiguous().numpy(), n, signs=signs)))


# ---- Quartet II ----

def levels(x, most, largest):
    """Blocks of 16 over their scales, the scales (E4M3, 1 for 0) and that of the tensor: the program's text in binary32."""
    blocks = x.reshape(len(x), -1, 16)
    tensor = f32(f32(np.abs(x).max() / f32(most)) / f32(largest))
    scale = nearest(f32(f32(np.abs(blocks).max(2) / f32(largest)) / tensor), E4M3)[..., None]
    scale = np.where(scale == 0, 1, scale)
    return f32(blocks / f32(scale * tensor)), scale, tensor


def forward_of(x):
    over, scale, tensor = levels(x, 447.99, 6.0)
    return f32(nearest(over, E2M1, away=True) * f32(scale * tensor)).reshape(x.shape)


def stream_of(use):
    child = halfulp.Stream(int(S[0]) & (1 << 64) - 1, 0).words(2 * use + 2)[2 * use:]
    return halfulp.Stream(int(child[0]) | int(child[1]) << 32, int(S[1]))


def eden_of(x, n, use):
    """Behind the transform: to nearest, and scales corrected by <x, x> / <x, q> of n numbers, then rounded at random."""
    over, scale, tensor = levels(x, 255.99, 6.0 / (17 / 16 * 0.93))
    codes = nearest(over, E2M1, away=True)
    v, q = over.reshape(len(x), -1, n), codes.reshape(len(x), -1, n)
    above = below = np.zeros(v.shape[:2])
    for j in range(n):
        above, below = f32(above + f32(v[..., j] ** 2)), f32(below + f32(v[..., j] * q[..., j]))
    correction = np.where(below == 0, 1, f32(above / np.where(below == 0, 1, below)))
    corrected = f32(scale[..., 0].reshape(len(x), -1, n // 16) * correction[..., None]).astype(np.float32)
    drawn = halfulp.quantize(corrected, 'float8_e4m3fn', 'sra:16', stream=stream_of(use)).astype(float)
    return f32(codes * drawn.reshape(scale.shape) * tensor).reshape(x.shape)


@pytest.mark.parametrize('n', [32, 128])
def test_quartet_2(n):
    x, w, g = plain(128, 256) * 3, plain(128, 256, seed=2), plain(128, 128, seed=3)
    x[5, :16] = 0
    a, b, c = (v.double().numpy() for v in (x, w, g))
    xq, wq, signs = forward_of(a), forward_of(b), words(n // 32)
    def backward(v, use):
        return eden_of(hadamard(v, n, signs), n, use)
    expected = [product(xq, wq.T), product(backward(c, ops.GRAD_A[0]), backward(wq.T, ops.GRAD_A[1]).T),
                product(backward(xq.T, ops.GRAD_B[0]), backward(c.T, ops.GRAD_B[1]).T).t().contiguous()]
    for one, other in zip(passes(ht.recipes.quartet_2(n).but(accum='exact'), x, w, g), expected):
        same(one + 0.0, other + 0.0)
    with pytest.raises(ValueError, match='quartet_2: X of shape .*multiple of 16'):
        ht.linear(x[:, :40], w[:, :40], None, ht.recipes.quartet_2(), stream=S)
    with pytest.raises(ValueError, match='quartet_2: X of dW of shape .*multiple of {}'.format(n)):
        passes(ht.recipes.quartet_2(n), x[:16], w, g[:16])


# ---- FP8-LM, Hopper, 16 bits ----

def tensor_scaled(x, values):
    """S = M / amax, codes of x S, 1 / S, in binary32."""
    up = f32(values[-1] / np.abs(x).max())
    return nearest(f32(x * up), values), f32(1 / up)


E5M2 = np.array([0] + [m / 4 * 2.0 ** -14 for m in (1, 2, 3)] + [(1 + m / 4) * 2.0 ** e for e in range(-14, 16) for m in range(4)])


def test_fp8_lm():
    x, w, g = plain(40, 72), plain(48, 72, seed=2), plain(40, 48, seed=3)
    (a, sa), (b, sb), (c, sc) = (tensor_scaled(v.double().numpy(), table) for v, table in ((x, E4M3), (w, E4M3), (g, E5M2)))
    dw = f32(f32(c.T @ a) * f32(sc * sa))
    codes, scale = tensor_scaled(dw, E4M3)
    expected = [f32(f32(a @ b.T) * f32(sa * sb)), f32(f32(c @ b) * f32(sc * sb)), f32(codes * scale)]
    for one, other in zip(passes(ht.recipes.fp8_lm().but(accum='parts(exact;exact;alpha)'), x, w, g), expected):
        same(one, torch.from_numpy(other).float())


def test_hopper():
    """halfulp.dot adds the codes as the unit does."""
    x, w, g = plain(5, 40), plain(4, 40, seed=2), plain(5, 4, seed=3)
    (a, sa), (b, sb), (c, sc) = (tensor_scaled(v.double().numpy(), table) for v, table in ((x, E4M3), (w, E4M3), (g, E5M2)))
    def total(left, right, pair, scale):
        model = 'nv.hopper.{}.f32.wgmma'.format(pair)
        kinds = ['float8_e4m3fn' if one == 'e4m3' else 'float8_e5m2' for one in pair.replace('x', ' ').split()]
        kinds *= 3 - len(kinds)
        codes = [halfulp.encode(v.astype(np.float32), kind) for v, kind in zip((left, right), kinds)]
        made = [[float(halfulp.dot(row, col, accum=model, a_format=kinds[0], b_format=kinds[1])) for col in codes[1]]
                for row in codes[0]]
        return torch.from_numpy(f32(np.array(made) * f32(scale))).float()
    expected = [total(a, b, 'e4m3', sa * sb), total(c, b.T, 'e5m2xe4m3', sc * sb), None]
    results = passes(ht.recipes.hopper(), x, w, g)
    for one, other in zip(results[:2], expected):
        same(one, other)
    same(results[2].t().contiguous(), total(a.T, c.T, 'e4m3xe5m2', sa * sc))


def halfulp_rounded(sums, kind):
    """Sums that float64 has, rounded once into a type of torch."""
    values = np.asarray(halfulp.quantize(sums.numpy(), 'bfloat16' if kind == torch.bfloat16 else 'binary16'))
    return torch.from_numpy(values.astype(np.float32))


@pytest.mark.parametrize('name, kind', [('bf16_kahan', torch.bfloat16), ('bf16_stochastic', torch.bfloat16),
                                        ('fp16_master', torch.float16)])
def test_16_bits(name, kind):
    x, w, g = plain(40, 72) * 100, plain(48, 72, seed=2), plain(40, 48, seed=3)
    a, b, c = (v.to(kind).double() for v in (x, w, g))
    for one, other in zip(passes(ht.recipes.get(name).but(accum='exact'), x, w, g), (a @ b.t(), c @ b, c.t() @ a)):
        same(one, halfulp_rounded(other, kind))


@pytest.mark.parametrize('name', ['bf16_kahan', 'bf16_stochastic'])
def test_optimizers_of_16_bits(name):
    """Tiny updates reach the weights, which stay bfloat16 numbers; to nearest they would not."""
    p = torch.nn.Parameter(torch.full((2000,), 1.0))
    optimizer = ht.recipes.get(name).optimizer([p], lr=2.0 ** -10, eps=0.0, weight_decay=0.0, **(
        {'key': 3} if name.endswith('stochastic') else {}))
    for _ in range(32):
        p.grad = torch.ones_like(p)
        optimizer.step()
    same(p.detach(), p.detach().to(torch.bfloat16).float())
    assert abs(float(p.detach().mean()) - (1 - 32 * 2.0 ** -10)) < 2.0 ** -8
    stuck = torch.nn.Parameter(torch.full((3,), 1.0))
    plainly = ht.AdamW([stuck], lr=2.0 ** -10, betas=(0.9, 0.997), eps=0.0, state='bfloat16')
    for _ in range(32):
        stuck.grad = torch.ones_like(stuck)
        plainly.step()
    assert stuck.detach().eq(1).all()
