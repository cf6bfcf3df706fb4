# SPDX-License-Identifier: MIT
"""Convolutions of one and three axes and transposed ones, by those of two axes: the same bits."""
import math

from torch_support import ht, plain, pytest, same, torch  # first: it leaves the tests out where there is no PyTorch

ops = torch.ops.halfulp
S = ht.stream(7, 100)
RECIPES = (ht.Recipe(x='float8_e4m3fn', w='mxfp4', g='float8_e5m2', out='bfloat16', dx='bfloat16', dw='float8_e5m2'),
           ht.Recipe(x='nvfp4,sra:8', w='nvfp4', g='mxfp8_e5m2,sra:8', accum='seq(binary16)', gradient='zero_outside'),
           ht.Recipe(x='mxfp8_e4m3', w='nvfp4', g='mxfp8_e5m2', accum='parts(exact;fp32;exact)'))


def numbers_of(kind, x, w, recipe, *more):
    """The result, the gradients and the events of an operator; the gradient of the result is one of its shape."""
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    tap = torch.zeros((6, 10), dtype=torch.float64, requires_grad=True)
    z, events = getattr(ops, kind)(x, w, S, tap, *recipe.texts(), recipe.gradient, *more, True)
    z.backward(plain(*z.shape, seed=9))
    return z.detach(), x.grad, w.grad, events, tap.grad


@pytest.mark.parametrize('recipe', RECIPES, ids=str)
@pytest.mark.parametrize('kind', ['convolution', 'transposed'])
def test_axes_of_one_element(kind, recipe):
    """An axis of one pixel changes nothing but the shape, wherever it stands."""
    x1, w = plain(2, 64, 9), plain(2, 3 * 32, 5, seed=1)
    if kind == 'transposed':
        x1, w = plain(2, 2 * 5, 32), plain(2, 3 * 8, 32, seed=1)
    made = []
    for axes in ([3], [1, 3], [3, 1], [1, 1, 3], [1, 3, 1]):
        at, more = axes.index(3), [[1] * len(axes), [0] * len(axes), [1] * len(axes)]
        more[0][at], more[1][at], more[2][at] = 2, 2, 2
        sides = [1] * len(axes)
        sides[at] = 9
        x = x1 if kind == 'transposed' else x1.view(2, 64, *sides)
        shape = ([2, 16, *sides],) if kind == 'transposed' else ()
        made.append(numbers_of(kind, x, w, recipe, *shape, axes, *more, 2))
    for other in made[1:]:
        for one, two in zip(made[0], other):
            same(one.reshape(-1), two.reshape(-1))


@pytest.mark.parametrize('recipe', RECIPES[:1] + RECIPES[2:], ids=str)
def test_transposed_is_the_gradient(recipe):
    """A transposed convolution is what a convolution's gradient makes of an image, its gradients are that convolution's
    product and weights. (One group: of several, the gradient's tensor has its blocks along all channels.)"""
    g = ([3, 2], [2, 1], [1, 0], [1, 2])
    rows, w, image = plain(1, 2 * 4 * 5, 32), plain(1, 3 * 2 * 32, 32, seed=1), plain(2, 32, 7, 7, seed=2)
    turned = ht.Recipe(x=recipe.g, w=recipe.w, accum=recipe.accum, out=recipe.dx, g_dx=recipe.x, w_dx=recipe.w,
                       x_dw=recipe.g, g_dw=recipe.x, dx=recipe.out, dw=recipe.dw)
    x, y = rows.clone().requires_grad_(), w.clone().requires_grad_()
    z, _ = ops.transposed(x, y, None, None, *recipe.texts(), recipe.gradient, list(image.shape), *g, 1, False)
    z.backward(image)
    pixels, v = image.clone().requires_grad_(), w.clone().requires_grad_()
    product, _ = ops.convolution(pixels, v, None, None, *turned.texts(), recipe.gradient, *g, 1, False)
    same(x.grad, product.detach())
    product.backward(rows)
    same(z.detach(), pixels.grad)
    same(y.grad, v.grad)


def test_columns():
    """Sums of columns: chunks of 64 rows from +0, then the chunks, in float32."""
    g = plain(3, 50, 7)
    rows = g.reshape(-1, 7).numpy()
    want = []
    for column in rows.T:
        chunks = []
        for first in range(0, len(column), 64):
            total = rows.dtype.type(0)
            for value in column[first:first + 64]:
                total = total + value
            chunks.append(total)
        total = rows.dtype.type(0)
        for chunk in chunks:
            total = total + chunk
        want.append(total)
    same(ops.columns(g), torch.tensor(want))


@pytest.mark.parametrize('rows', [0, 1, 63, 64, 65, 128, 200, 4097])
@pytest.mark.parametrize('dtype', [torch.float32, torch.bfloat16])
def test_columns_of_the_model(rows, dtype):
    """They are the sums of that model, which is the library's own, with infinities, zeros and NaN."""
    g = plain(rows, 6, seed=rows)
    if rows > 2:
        g[1, 0], g[0, 1], g[-1, 1], g[:, 2], g[2, 3] = math.inf, math.inf, -math.inf, -0.0, math.nan
    g = g.to(dtype)
    model = 'keep|keep|chunk(64,binary32,binary32)|keep'
    ones = torch.ones((1, rows), dtype=dtype)
    want = ops.matmul(ones, g, None, None, model, '', '', 'straight_through', [0, 1, 6], False)[0]
    same(ops.columns(g), want.reshape(-1))
