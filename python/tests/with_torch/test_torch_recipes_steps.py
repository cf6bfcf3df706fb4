# SPDX-License-Identifier: MIT
"""What a recipe does to operands before it rounds them: Hadamard transforms of dW's, and rounding a second time."""
import numpy as np
from torch_support import ht, numbers, plain, pytest, same, torch  # first: it skips where there is no torch

from torch import nn  # isort: skip
from torch.nn import functional as F

TILES = 'scaled(float4_e2m1fn;scale=ue4m3;block=16x16;rule=ratio;steps=multiply;tensor;zero=zero)'
MX = 'scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)'


def matrix(n, signs):
    """H S of docs/hadamard.md, divided by sqrt(n), from the definition of Sylvester's matrix."""
    h = np.array([[(-1) ** bin(i & j).count('1') for j in range(n)] for i in range(n)], float)
    s = np.array([-1.0 if signs >> j % 32 & 1 else 1.0 for j in range(n)])
    return h * s / np.sqrt(n)


def transformed(rows, n, signs):
    """The whole blocks of each row, and what is left."""
    z = rows.double().numpy().copy()
    whole = z.shape[-1] // n * n
    blocks = z[..., :whole].reshape(*z.shape[:-1], -1, n)
    z[..., :whole] = (blocks @ matrix(n, signs).T).reshape(*z.shape[:-1], whole)
    return torch.from_numpy(z).float()


def integers(*shape, seed=1):
    return torch.randint(-7, 8, shape, generator=torch.Generator().manual_seed(seed)).float()


def exact(a, b):
    """A B, rounded once: float64 has the sums of this file's products."""
    return (a.double() @ b.double()).float()


def gradients(x, w, g, recipe):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    y = F.linear(x, w) if recipe is None else ht.linear(x, w, None, recipe)
    y.backward(g)
    return y.detach(), x.grad, w.grad


@pytest.mark.parametrize('n, signs', [(16, 0xD7E8D7E8), (64, 0x12345678), (16, 0)])
def test_transform(n, signs):
    """Integers of few digits stay exact behind the transform, so that only the roundings of dW's operands differ."""
    x, w, g = integers(150, 24), integers(10, 24, seed=2), integers(150, 10, seed=3)
    recipe = ht.Recipe(x='nvfp4', w=TILES, g='nvfp4', accum='exact', hadamard=n, signs=signs)
    y, dx, dw = gradients(x, w, g, recipe)
    same(y, exact(ht.quantize(x, 'nvfp4'), ht.quantize(w, TILES).t()))
    same(dx, exact(ht.quantize(g, 'nvfp4'), ht.quantize(w.t(), TILES).t()))
    left, right = (ht.quantize(transformed(rows.t(), n, signs), 'nvfp4') for rows in (g, x))
    same(dw, exact(left, right.t()))
    assert not torch.equal(dw, gradients(x, w, g, recipe.but(hadamard=0, signs=0))[2])


def test_transform_changes_no_sum():
    x, w, g = integers(150, 24), integers(10, 24, seed=2), integers(150, 10, seed=3)
    plainly = gradients(x, w, g, ht.Recipe())
    for n in (16, 64):
        for one, other in zip(plainly, gradients(x, w, g, ht.Recipe(hadamard=n, signs=0xA5C3))):
            same(one, other)
    for one, other in zip(plainly, gradients(x[:9], w, g[:9], ht.Recipe(hadamard=16))):
        assert one.shape[1:] == other.shape[1:]  # fewer rows than a block: nothing to transform
    same(gradients(x[:9], w, g[:9], ht.Recipe(hadamard=16))[2], gradients(x[:9], w, g[:9], ht.Recipe())[2])


def test_twice():
    x, w, g = plain(40, 48), plain(24, 48, seed=2), plain(40, 24, seed=3)
    recipe = ht.Recipe(x=MX, w=MX, g=MX, accum='exact', twice=True)
    y, dx, dw = gradients(x, w, g, recipe)
    x1, w1 = ht.quantize(x, MX), ht.quantize(w, MX)
    same(y, exact(x1, w1.t()))
    same(dx, exact(ht.quantize(g, MX), ht.quantize(w1, MX, dim=0)))
    same(dw, exact(ht.quantize(g, MX, dim=0).t(), ht.quantize(x1, MX, dim=0)))
    once = gradients(x, w, g, recipe.but(twice=False))
    assert not torch.equal(dx, once[1]) and not torch.equal(dw, once[2])
    for one, other in zip(gradients(x, w, g, ht.Recipe(twice=True)), gradients(x, w, g, ht.Recipe())):
        same(one, other)


@pytest.mark.parametrize('recipe', [ht.Recipe(x=MX, w=MX, g=MX, twice=True), ht.Recipe(g='mxfp4', x='mxfp4', hadamard=16)])
def test_batches(recipe):
    """Blocks of one product of a batch have nothing of the next one."""
    x, w, g = plain(3, 40, 48), plain(3, 48, 24, seed=2), plain(3, 40, 24, seed=3)
    whole = [x.clone().requires_grad_(), w.clone().requires_grad_()]
    ht.matmul(*whole, recipe).backward(g)
    for i in range(3):
        one = [x[i].clone().requires_grad_(), w[i].clone().requires_grad_()]
        ht.matmul(*one, recipe).backward(g[i])
        for a, b in zip(whole, one):
            same(a.grad[i], b.grad)


@pytest.mark.parametrize('recipe', [ht.Recipe(x=MX, w=MX, g=MX + ',sra:16', twice=True),
                                    ht.Recipe(x='nvfp4', w=TILES, g='nvfp4,sra:16', hadamard=16, signs=0xD7E8)])
def test_everywhere_the_same(recipe):
    """A layer of convert, one under ht.precision, and a compiled one; the report says what came before."""
    model, x = nn.Linear(48, 24), numbers(40, 48, spread=4).nan_to_num(0, 1, -1)
    layer = ht.convert(model, recipe, key=5)
    state = layer.stream.clone()
    layer(x).square().sum().backward()
    compiled = ht.convert(model, recipe, key=5)
    torch.compile(compiled, backend='aot_eager')(x).square().sum().backward()
    same(layer.weight.grad, compiled.weight.grad)
    low = nn.Linear(48, 24)
    low.load_state_dict(model.state_dict())
    ht.linear(x, low.weight, low.bias, recipe, stream=state).square().sum().backward()
    same(layer.weight.grad, low.weight.grad)
    with ht.precision(recipe, measure=True) as p:
        model(x).square().sum().backward()
    rows = {row['part']: row for row in p.report().rows}
    assert rows['forward']['sum'] == 'fp32'
    assert rows['dW']['sum'].startswith('fp32 after ' + ('first(a,' if recipe.twice else 'hadamard(16,d7e8)'))
    left = x.t() if recipe.twice else transformed(x.t(), 16, 0xD7E8)  # what x_dw rounds: ratios are those of that step
    left = ht.quantize(left, MX, dim=-2) if recipe.twice else left
    noise = ht.quantize(left, recipe.x) - left
    expected = 10 * np.log10(float(left.double().square().sum() / noise.double().square().sum()))
    assert abs(rows['dW']['sqnr_a'] - expected) < 0.01


def test_narrow_tensors():
    x, w, g = (plain(*shape).to(torch.bfloat16) for shape in ((32, 20), (12, 20), (32, 12)))
    for recipe in (ht.Recipe(x='mxfp4', w='mxfp4', g='mxfp4', accum='exact', hadamard=32),
                   ht.Recipe(x='mxfp4', w='mxfp4', g='mxfp4', accum='exact', twice=True)):
        wide = gradients(x.float(), w.float(), g.float(), recipe)
        for one, other in zip(gradients(x, w, g, recipe), wide):
            same(one, other.to(torch.bfloat16))


def test_convolution():
    """X of dW is rounded as patches, which the transform mixes; rounding a second time is not defined there."""
    x, w, g = integers(2, 3, 9, 9), integers(4, 3, 2, 2, seed=2), integers(2, 4, 8, 8, seed=3)
    recipe = ht.Recipe(x='mxfp4', g='mxfp4', accum='exact', hadamard=16, signs=0x1234)
    a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
    ht.conv2d(a, b, recipe=recipe).backward(g)
    patches = F.unfold(x, 2).view(2, 3, 4, 64).permute(2, 1, 0, 3).reshape(12, 128)  # kernel places, channels: windows
    rows = g.permute(1, 0, 2, 3).reshape(4, 128)
    left, right = (ht.quantize(transformed(one, 16, 0x1234), 'mxfp4') for one in (patches, rows))
    same(b.grad, exact(right, left.t()).view(4, 2, 2, 3).permute(0, 3, 1, 2).contiguous())
    twice = ht.Recipe(x='mxfp4', w='mxfp4', g='mxfp4', twice=True)
    with pytest.raises(ValueError, match='convolution: a recipe with twice=True'):
        ht.conv2d(a, b, recipe=twice).backward(g)


@pytest.mark.parametrize('how, message', [
    ({'hadamard': 24}, 'hadamard: 24 is not'), ({'hadamard': -1}, 'hadamard'), ({'signs': 3}, 'signs: .*hadamard is 0'),
    ({'hadamard': 16, 'signs': 1 << 32}, 'signs'), ({'twice': True, 'hadamard': 16}, 'twice: .*hadamard has to be 0'),
    ({'twice': True, 'x': 'mxfp4,sra:8'}, "twice: x='mxfp4,sra:8' draws"),
    ({'twice': True, 'w': 'mxfp4,sra:8'}, "twice: w='mxfp4,sra:8' draws")])
def test_refused(how, message):
    with pytest.raises(ValueError, match=message):
        ht.Recipe(**how)


def test_refused_types():
    for name in ('hadamard', 'signs', 'twice'):
        with pytest.raises(TypeError, match=name):
            ht.Recipe(**{name: 'mxfp4'})
    x = torch.ones(4, 4, dtype=torch.float64, requires_grad=True)
    with pytest.raises(TypeError, match='float64'):
        ht.matmul(x, x, ht.Recipe(accum='exact', hadamard=16)).sum().backward()
    with pytest.raises(ValueError, match='BEFORE'):
        torch.ops.halfulp.matmul(x, x, None, None, 'keep|keep|fp32|keep|x|y', '', '', 'straight_through', [0, 1, 6], False)
    with pytest.raises(ValueError, match='hadamard\\(N,SIGNS\\)'):
        torch.ops.halfulp.matmul(x, x, None, None, 'keep|keep|fp32|keep|x', '', '', 'straight_through', [0, 1, 6], False)


@pytest.mark.parametrize('how', [dict(hadamard=16), dict(x='mxfp4', w='mxfp4', twice=True)])
def test_of_no_rows(how):
    layer = ht.Linear(64, 32, recipe=ht.Recipe(**how))
    layer(torch.zeros(0, 64, requires_grad=True)).sum().backward()
    assert layer.weight.grad.shape == (32, 64) and not layer.weight.grad.any()
