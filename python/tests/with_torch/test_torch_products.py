# SPDX-License-Identifier: MIT
"""Products, convolutions and their gradients: against models written out here, and torch's own where no rounding
differs."""
import halfulp
import numpy as np

from torch_support import ht, numbers, plain, pytest, same, torch

FP8 = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e5m2')
MX = ht.Recipe(x='mxfp8_e4m3', w='mxfp6_e2m3', g='mxfp8_e5m2')


def half_sums(a, b):
    """A B with products and sums of two binary16 steps: seq2(binary16,binary16), by NumPy's binary16."""
    a, b = a.numpy().astype(np.float16), b.numpy().astype(np.float16)
    made = np.zeros((a.shape[0], b.shape[1]), np.float16)
    for k in range(a.shape[1]):
        made = made + a[:, k, None] * b[None, k]
    return torch.from_numpy(made.astype(np.float32))


def fused_sums(a, b, kind=np.float16):
    """seq(binary16) of operands whose products and partial sums binary64 holds exactly: one rounding a step."""
    a, b = a.numpy().astype(np.float64), b.numpy().astype(np.float64)
    made = np.zeros((a.shape[0], b.shape[1]), np.float64)
    for k in range(a.shape[1]):
        made = (made + a[:, k, None] * b[None, k]).astype(kind).astype(np.float64)
    return torch.from_numpy(made.astype(np.float32))


def test_sums_step_by_step():
    a, b = ht.quantize(plain(9, 50), 'float8_e4m3fn'), ht.quantize(plain(50, 7, seed=1), 'float8_e4m3fn')
    same(ht.matmul(a, b, FP8.but(accum='seq(binary16)')), fused_sums(a, b))
    c, d = plain(9, 50).half().float(), plain(50, 7, seed=1).half().float()
    same(ht.matmul(c, d, ht.Recipe(x='binary16', w='binary16', accum='seq2(binary16,binary16)')), half_sums(c, d))
    same(ht.matmul(c, d, ht.Recipe(accum='seq(binary16)')), fused_sums(c, d))
    assert not torch.equal(fused_sums(c, d), half_sums(c, d))
    same(ht.matmul(a, b, FP8.but(accum='exact')), (a.double() @ b.double()).float())
    same(ht.matmul(a, b, FP8.but(accum='fp32')), fused_sums(a, b, np.float32))


def test_a_recipe_without_roundings_of_gradients():
    """It serves for inference; the backward pass says which fields are missing."""
    recipe = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', accum='nv.hopper.e4m3.f32.wgmma')
    x = plain(8, 64).requires_grad_()
    z = ht.matmul(x, plain(64, 8, seed=2), recipe)
    with pytest.raises(ValueError, match=r'for the products of the backward pass, as g= \(or accum_dx= and accum_dw='):
        z.sum().backward()


def test_scaled_units_are_asked_at_once():
    """A unit of other elements is refused where the recipe is made, and what the error proposes works."""
    other = dict(x='mxfp8_e5m2', w='mxfp8_e5m2', g='mxfp8_e5m2')
    with pytest.raises(ValueError, match=r"the model takes A float8_e4m3fn.*insist with accum='unit\(any\(...\)\)'"):
        ht.Recipe(accum='unit(nv.blackwell.mxfp8.e4m3)', **other)
    ht.Recipe(accum='unit(any(nv.blackwell.mxfp8.e4m3))', **other)
    ht.Recipe(x='mxfp8_e4m3', w='mxfp8_e4m3', g='mxfp8_e4m3', accum='unit(nv.blackwell.mxfp8.e4m3)')
    ht.Recipe(x='mxfp8_e4m3', w='mxfp8_e4m3', accum='unit(nv.blackwell.mxfp8.e4m3)')


def test_matrix_units():
    """The model of a unit on its own operands; one that does not take them says so."""
    a, b = plain(8, 64), plain(64, 8, seed=2)
    unit = 'nv.hopper.{}.f32.wgmma'
    hopper = FP8.but(accum=unit.format('e4m3'), accum_dx=unit.format('e5m2xe4m3'), accum_dw=unit.format('e4m3xe5m2'))
    z = ht.matmul(a, b, hopper)
    exact = ht.matmul(a, b, FP8.but(accum='exact'))
    assert not torch.equal(z, exact) and (z - exact).abs().max() < 0.05
    x, y = a.clone().requires_grad_(), b.clone().requires_grad_()
    ht.matmul(x, y, hopper).sum().backward()
    assert x.grad.abs().max() > 0 and y.grad.abs().max() > 0
    with pytest.raises(ValueError, match='accum_dx= is not given, so that accum= is meant: .*HU_E_OPERAND_A'):
        FP8.but(accum=unit.format('e4m3'))  # gradients are E5M2
    with pytest.raises(ValueError, match='HU_E_OPERAND_B'):
        hopper.but(accum_dw=unit.format('e4m3'))
    for recipe in (ht.Recipe(accum=unit.format('e4m3')), ht.Recipe(x='float8_e4m3fn', accum=unit.format('e4m3')),
                   ht.Recipe(x='nvfp4', w='nvfp4', accum='decoded({})'.format(unit.format('e4m3')))):
        with pytest.raises(ValueError, match=r"the model takes A float8_e4m3fn, B float8_e4m3fn.*any\("):
            ht.matmul(a, b, recipe)
    same(ht.matmul(a, b, hopper.but(accum=halfulp.model(unit.format('e4m3')))), z)
    insisted = ht.matmul(a, b, ht.Recipe(accum='any({})'.format(unit.format('e4m3'))))
    assert (insisted - a @ b).abs().max() < (z - a @ b).abs().max() / 4
    with pytest.raises(ValueError, match='float64 tensors are multiplied under exact and fp64 alone; x.float'):
        ht.matmul(a.double(), b.double(), ht.Recipe(accum=unit.format('e4m3')))
    with pytest.raises(ValueError, match='A s8, B s8.*halfulp.dot takes such operands'):
        ht.matmul(a, b, ht.Recipe(accum='nv.turing.s8.s32'))
    with pytest.raises(ValueError, match=r'A binary64, B binary64.*x.double\(\)'):
        ht.matmul(a, b, ht.Recipe(accum='nv.ampere.f64.f64'))
    ht.matmul(a.double(), b.double(), ht.Recipe(accum='nv.ampere.f64.f64'))
    with pytest.raises(ValueError,
                       match=r"the model 'int32' does not take operands of fp\(4,3,0\):fn and fp\(8,23,0\)"):
        ht.matmul(a, b, ht.Recipe(x='float8_e4m3fn', accum='int32'))


def test_operands_are_rounded_rows_along_the_sum():
    a, b = plain(12, 70), plain(70, 9, seed=3)
    for recipe in (FP8, MX, ht.Recipe(x='nvfp4', w='nvfp4'), ht.Recipe(x='s2fp8', w='posit8'),
                   ht.Recipe(x='float8_e4m3fn,sra:8', w='mxfp4,sra:8'), ht.Recipe(x='keep', w='float8_e5m2,over=inf')):
        import halfulp.torch._records as records
        key, counter = 77, 5
        qa = ht.quantize(a, recipe.x, stream=(records.child(key, 0), counter))
        qb = ht.quantize(b.t().contiguous(), recipe.w, stream=(records.child(key, 1), counter)).t()
        for left, right in ((a, b), (a.t().contiguous().t(), b.t().contiguous().t())):
            same(ht.matmul(left, right, recipe, stream=(key, counter)), ht.matmul(qa, qb))
        assert not torch.equal(qa, a) or recipe.x == 'keep'


def test_results_are_rounded_once():
    a, b = ht.quantize(plain(9, 50), 'float8_e4m3fn'), ht.quantize(plain(50, 7, seed=1), 'float8_e4m3fn')
    exact = a.double() @ b.double()
    same(ht.matmul(a, b, ht.Recipe(accum='exact', out='bfloat16')), exact.to(torch.bfloat16).float())
    same(ht.matmul(a, b, ht.Recipe(accum='exact', out='float8_e5m2,rtz')),
         ht.quantize(exact, 'float8_e5m2,rtz').float())
    same(ht.matmul(a, b, ht.Recipe(accum='exact', out='mxfp4')), ht.quantize(exact.float(), 'mxfp4'))
    for dtype in (torch.float16, torch.bfloat16):
        same(ht.matmul(a.to(dtype), b.to(dtype), ht.Recipe(accum='exact')), exact.to(dtype))
        same(ht.matmul(a.to(dtype), b.to(dtype), FP8.but(accum='exact', out='float8_e4m3fn')),
             ht.quantize(exact, 'float8_e4m3fn').to(dtype))


def test_batches():
    a, b = plain(3, 2, 5, 16), plain(3, 2, 16, 4, seed=4)
    for recipe in (FP8.but(accum='seq(bfloat16)'),
                   FP8.but(accum='parts(exact;fp32;exact)', x='mxfp8_e4m3', w='mxfp8_e4m3')):
        z = ht.matmul(a, b, recipe)
        for i in range(3):
            for j in range(2):
                same(z[i, j], ht.matmul(a[i, j], b[i, j], recipe))
        same(ht.matmul(a, b[0, 0], recipe), ht.matmul(a.reshape(-1, 16), b[0, 0], recipe).reshape(3, 2, 5, 4))
        same(ht.matmul(a[:, :1], b, recipe), ht.matmul(a[:, :1].expand(3, 2, 5, 16), b, recipe))
    words = ht.Recipe(accum='seq(bfloat16,sra:8)', out='bfloat16,sra:8')
    z = ht.matmul(a, b, words, stream=3)
    for i in range(3):
        for j in range(2):  # element number k of the whole result draws word k
            same(z[i, j], ht.matmul(a[i, j], b[i, j], words, stream=(3, (2 * i + j) * 5 * 4)))
    for shape in ((0, 4), (3, 0), (0, 0)):
        assert ht.matmul(torch.zeros(shape), torch.zeros(shape[1], 5)).equal(torch.zeros(shape[0], 5))


def test_scaled_sums():
    """With powers of two as scales and short sums no factor differs from the values' own sums."""
    a, b = plain(6, 64), plain(64, 5, seed=5)
    exact = ht.quantize(a, 'mxfp4').double() @ ht.quantize(b, 'mxfp4', dim=0).double()
    mx = ht.Recipe(x='mxfp4', w='mxfp4')
    for accum in ('exact', 'parts(exact;exact;exact)', 'decoded(exact)', 'decoded(bfloat16;exact)'):
        same(ht.matmul(a, b, mx.but(accum=accum)), exact.float())
    narrow = ht.matmul(a, b, mx.but(accum='parts(seq(float8_e4m3fn);fp32;rounded)'))
    assert not torch.equal(narrow, exact.float())
    unit = ht.matmul(a, b, ht.Recipe(x='nvfp4', w='nvfp4', accum='unit(nv.blackwell.nvfp4.b16.ue4m3)'))
    close = ht.matmul(a, b, ht.Recipe(x='nvfp4', w='nvfp4', accum='exact'))
    assert (unit - close).abs().max() < 1e-3
    with pytest.raises(ValueError, match=r'parts\(INSIDE;ACROSS;FACTOR\) is required'):
        ht.Recipe(accum='parts(exact;fp32)')


def written_out(x, w, g, recipe):
    """The three products of a layer from their parts."""
    def product(a, b, left, right, accum):
        return ht.matmul(ht.quantize(a, left), ht.quantize(b, right, dim=0), ht.Recipe(accum=accum))
    y = product(x, w.t(), recipe.x, recipe.w, recipe.accum)
    dx = product(g, w, recipe.g_dx or recipe.g, recipe.w_dx or recipe.w, recipe.accum_dx or recipe.accum)
    dw = product(g.t(), x, recipe.g_dw or recipe.g, recipe.x_dw or recipe.x, recipe.accum_dw or recipe.accum)
    return y, dx, dw


@pytest.mark.parametrize('recipe', [
    ht.Recipe(), FP8.but(accum='fp32'), MX,
    ht.Recipe(x='bfloat16', w='mxfp4', g='float8_e5m2', accum='seq(binary16)', accum_dw='exact'),
    ht.Recipe(x='nvfp4', w='nvfp4', g='bfloat16', w_dx='bfloat16', x_dw='float8_e4m3fn', g_dw='float8_e5m2',
              g_dx='s2fp8', accum_dx='exact'),
], ids=str)
def test_gradients_written_out(recipe):
    x, w, g = plain(40, 33), plain(17, 33, seed=6), plain(40, 17, seed=7)
    y, dx, dw = written_out(x, w, g, recipe)
    x.requires_grad_(), w.requires_grad_()
    z = ht.linear(x, w, recipe=recipe)
    same(z.detach(), y)
    z.backward(g)
    same(x.grad, dx)
    same(w.grad, dw)


def test_gradients_as_torch_has_them():
    x, w, b = (plain(*shape, seed=i).requires_grad_() for i, shape in enumerate(((20, 6, 12), (5, 12), (5,))))
    g = plain(20, 6, 5, seed=9)
    mine = torch.autograd.grad(ht.linear(x, w, b), (x, w, b), g)
    theirs = torch.autograd.grad(torch.nn.functional.linear(x, w, b), (x, w, b), g)
    for a, c in zip(mine, theirs):
        assert torch.allclose(a, c, atol=1e-4, rtol=1e-5)


def test_gradcheck():
    """In float64, where finite differences say something: products, biases, convolutions."""
    exact = ht.Recipe(accum='fp64')
    a, b, c = (plain(*shape, dtype=torch.float64, seed=i).requires_grad_()
               for i, shape in enumerate(((2, 3, 4), (2, 4, 5), (5,))))
    assert torch.autograd.gradcheck(lambda a, b: ht.matmul(a, b, exact), (a, b))
    same(ht.matmul(a, b, exact).detach(), torch.stack([torch.stack([torch.stack([dot(u, v) for v in y.t()]) for u in x])
                                                       for x, y in zip(a.detach(), b.detach())]))
    assert torch.autograd.gradcheck(lambda a, b, c: ht.linear(a, b[0].t(), c, exact), (a, b, c), nondet_tol=0)
    x, w = (plain(*shape, dtype=torch.float64, seed=i).requires_grad_()
            for i, shape in enumerate(((2, 4, 3, 2), (4, 2, 3, 2))))
    assert torch.autograd.gradcheck(lambda x, w: ht.conv2d(x, w, None, (2, 1), (1, 2), (1, 2), 2, exact), (x, w))
    assert torch.autograd.gradcheck(lambda a: ht.quantize(a, 'keep', backward='fp(11,20,0)'), (a,))
    with pytest.raises(TypeError, match='float64 tensors are multiplied as they are'):
        ht.matmul(a, b, FP8)


def dot(u, v):
    """binary64 fused steps: exact products and sums rounded by fractions."""
    from fractions import Fraction
    total = 0.0
    for x, y in zip(u.tolist(), v.tolist()):
        total = float(Fraction(total) + Fraction(x) * Fraction(y))
    return torch.tensor(total, dtype=torch.float64)


def test_straight_through_and_zero_outside():
    x = torch.tensor([1.03, 448.0, 460.0, -3e4, 0.001, float('inf'), float('nan')], requires_grad=True)
    g = torch.tensor([1.1, 1.2, 1.3, -1.4, 1.5, 1.6, 1.7])
    for gradient, zeros in (('straight_through', ()), ('zero_outside', (2, 3, 5, 6))):
        z = ht.quantize(x, 'float8_e4m3fn', backward='float8_e5m2', gradient=gradient)
        expected = ht.quantize(g, 'float8_e5m2')
        for i in zeros:
            expected[i] = 0.0
        same(torch.autograd.grad(z, x, g)[0], expected)
    assert torch.autograd.grad(ht.quantize(x, 'keep'), x, g)[0].equal(g)


def test_zero_outside_of_products():
    x = plain(6, 40)
    x[2, 3], x[4] = 1e4, x[4] * 1e4
    w = plain(5, 40, seed=1)
    w[1, 1] = -600.0
    for recipe in (FP8, ht.Recipe(x='mxfp8_e4m3', w='mxfp4', g='mxfp8_e5m2')):
        got = []
        for gradient in ('straight_through', 'zero_outside'):
            a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
            ht.linear(a, b, recipe=recipe.but(gradient=gradient)).sum().backward()
            got.append((a.grad, b.grad))
        same(got[1][0], torch.where(ht.inside(x, recipe.x), got[0][0], 0.0))
        same(got[1][1], torch.where(ht.inside(w, recipe.w), got[0][1], 0.0))
        assert not torch.equal(got[0][1], got[1][1]) and not torch.equal(got[0][0], got[1][0])


def test_stochastic_gradients():
    """Every rounding has its own child of the stream, at the counter of the forward call (docs/training/training.md section
    4)."""
    import halfulp.torch._records as records
    recipe = ht.Recipe(x='float8_e4m3fn,sra:8', w='float8_e4m3fn,sra:9', g='float8_e5m2,sra:10', dx='bfloat16,sra:4',
                       accum='seq(bfloat16,sra:5)')
    x, w = plain(30, 21).requires_grad_(), plain(11, 21, seed=6).requires_grad_()
    g, stream = plain(30, 11, seed=7), (12345, 1 << 40)
    z = ht.linear(x, w, recipe=recipe, stream=stream)
    z.backward(g)
    child = [(records.child(stream[0], use), stream[1]) for use in range(9)]
    def part(a, b, left, right, uses, out='keep'):
        a = ht.quantize(a, left, stream=child[uses[0]])
        b = ht.quantize(b.t().contiguous(), right, stream=child[uses[1]]).t()
        text = 'keep|keep|' + recipe.accum + '|' + out
        return ht.ops.matmul(a, b, ht.stream(*stream), None, text, '', '', 'straight_through', [0, 0, uses[2]],
                             False)[0]
    same(z.detach(), part(x.detach(), w.detach().t(), recipe.x, recipe.w, (0, 1, 6)))
    same(x.grad, part(g, w.detach(), recipe.g, recipe.w, (4, 5, 7), recipe.dx))
    same(w.grad.t(), part(x.detach().t(), g, recipe.x, recipe.g, (2, 3, 8)))
    again = ht.linear(x, w, recipe=recipe, stream=stream)
    same(again, z)
    assert not torch.equal(ht.linear(x, w, recipe=recipe, stream=(12345, 0)), z)


@pytest.mark.parametrize('shape', [dict(), dict(stride=2, padding=1), dict(padding=(0, 2), dilation=(2, 1), groups=2),
                                   dict(stride=(1, 3), groups=4)], ids=str)
def test_convolutions(shape):
    groups = shape.get('groups', 1)
    x, w = plain(3, 4, 9, 8).requires_grad_(), plain(8, 4 // groups, 3, 2, seed=1).requires_grad_()
    b = plain(8, seed=2).requires_grad_()
    y = torch.nn.functional.conv2d(x, w, b, **shape)
    g = plain(*y.shape, seed=3)
    mine = ht.conv2d(x, w, b, **shape)
    assert mine.shape == y.shape and torch.allclose(mine, y, atol=1e-5)
    for a, c in zip(torch.autograd.grad(mine, (x, w, b), g), torch.autograd.grad(y, (x, w, b), g)):
        assert torch.allclose(a, c, atol=1e-4)
    q = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', accum='exact')
    qx, qw = ht.quantize(x.detach(), q.x), ht.quantize(w.detach(), q.w)
    same(ht.conv2d(x, w, None, **shape, recipe=q).detach(),
         torch.nn.functional.conv2d(qx.double(), qw.double(), None, **shape).float())


def eighths(*shape, seed, below):
    """Multiples of 1/8: all sums of products are exact in float32, in whatever order torch adds."""
    g = torch.Generator().manual_seed(seed)
    return torch.randint(-8 * below + 1, 8 * below, shape, generator=g).float() / 8


SHAPES = [dict(), dict(stride=2, padding=1), dict(padding=(0, 2), dilation=(2, 1), groups=2)]
TENSORS = ['float8_e5m2', 'float8_e4m3fn', 's2fp8', 'mxfp6_e2m3', 'fp8_tensor', 'bfloat16,rtz']


@pytest.mark.parametrize('shape', SHAPES, ids=str)
@pytest.mark.parametrize('text', TENSORS)
def test_quantizers_around_torchs_own_convolution(shape, text):
    """X, W and dX rounded as tensors: what Quantizers around torch's own layer make, to the bit where its sums are
    exact (Cambier et al. 2020: truncation before and after every convolution)."""
    groups = shape.get('groups', 1)
    x, w = eighths(3, 4, 9, 8, seed=1, below=4), eighths(8, 4 // groups, 3, 2, seed=2, below=2)
    a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
    z = ht.conv2d(a, b, None, **shape, recipe=ht.Recipe(x=text, dx=text))
    qx = ht.quantize(x, text, dim=1).requires_grad_()
    c = w.clone().requires_grad_()
    y = torch.nn.functional.conv2d(qx, c, None, **shape)
    g = eighths(*y.shape, seed=3, below=1)
    exact = 's2fp8' not in text and 'tensor' not in text
    if exact:
        same(z.detach(), y.detach())
    assert torch.allclose(z, y, atol=1e-4)
    z.backward(g)
    dx, dw = torch.autograd.grad(y, (qx, c), g)
    if exact:
        same(b.grad, torch.autograd.grad(torch.nn.functional.conv2d(ht.quantize(x, text, dim=1), c, None, **shape), c, g)[0])
    assert torch.allclose(b.grad, dw, atol=1e-3)
    d = x.clone().requires_grad_()
    plain_dx = torch.autograd.grad(torch.nn.functional.conv2d(d, w, None, **shape), d, g)[0]
    same(plain_dx, dx)  # exact: torch's own sums, too
    same(a.grad, ht.quantize(plain_dx, text, dim=1))


def test_tensors_of_convolutions_are_rounded_once():
    """Each operand's own: X of Z, X of dW (blocks along pixels), dX; events counted once a pixel."""
    x, w = plain(2, 5, 6, 4), plain(3, 5, 3, 3, seed=1)
    recipe = ht.Recipe(x='mxfp8_e4m3', x_dw='s2fp8', w='bfloat16', g='float8_e5m2', dx='mxfp4', accum_dw='exact')
    layer = ht.Conv2d(5, 3, 3, padding=1, bias=False, recipe=recipe, count=True)
    layer.weight.data.copy_(w)
    a = x.clone().requires_grad_()
    z = layer(a)
    g = plain(*z.shape, seed=8)
    z.backward(g)
    keep = ht.Recipe(w='bfloat16', g='float8_e5m2', accum_dw='exact')
    same(z.detach(), ht.conv2d(ht.quantize(x, recipe.x, dim=1), w, padding=1, recipe=keep))
    b = ht.quantize(x, recipe.x_dw).requires_grad_()
    c = w.clone().requires_grad_()
    ht.conv2d(b, c, padding=1, recipe=keep).backward(g)
    same(layer.weight.grad, c.grad)
    same(a.grad, ht.quantize(b.grad, recipe.dx, dim=1))
    windows = ht.conv2d(a, w, padding=1, recipe=recipe.but(convolution='windows'))
    assert not torch.equal(windows, z)
    with pytest.raises(ValueError, match='is not one of tensors, windows'):
        ht.Recipe(convolution='patches')


def test_shift_and_squeeze_of_an_image():
    """Statistics count each pixel once: alpha and beta are the tensor's, and dX has what 8 bits hold."""
    x = plain(2, 3, 6, 6) * torch.logspace(-6, 0, 6)
    w = plain(4, 3, 3, 3, seed=1)
    a = x.clone().requires_grad_()
    z = ht.conv2d(a, w, recipe=ht.Recipe(x='s2fp8', dx='s2fp8'))
    same(z.detach(), ht.conv2d(ht.quantize(x, 's2fp8'), w))
    z.backward(plain(*z.shape, seed=5))
    assert a.grad.abs().unique().numel() <= 124
    b = x.clone().requires_grad_()
    recipe = ht.Recipe(x='s2fp8', dx='s2fp8', convolution='windows')
    ht.conv2d(b, w, recipe=recipe).backward(plain(*z.shape, seed=5))
    assert b.grad.abs().unique().numel() > 124


def test_stochastic_convolutions():
    """Words along channels for Z and dX, along pixels for dW, each from its own child of the stream."""
    import halfulp.torch._records as records
    x, w, stream = plain(2, 3, 5, 4), plain(4, 3, 2, 2, seed=1), (99, 1 << 40)
    recipe = ht.Recipe(x='bfloat16,sra:8', dx='float8_e5m2,sra:9')
    a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
    z = ht.conv2d(a, b, recipe=recipe, stream=stream)
    g = plain(*z.shape, seed=3)
    z.backward(g)
    child = [(records.child(stream[0], use), stream[1]) for use in range(9)]

    def by_pixels(t, text, use, turned=False):
        m = t.permute(0, 2, 3, 1).reshape(-1, t.shape[1])
        m = ht.quantize((m.t() if turned else m).contiguous(), text, stream=child[use])
        return (m.t() if turned else m).reshape(2, 5, 4, 3).permute(0, 3, 1, 2)

    same(z.detach(), ht.conv2d(by_pixels(x, recipe.x, 0), w))
    c, d = x.clone().requires_grad_(), w.clone().requires_grad_()
    ht.conv2d(c, d).backward(g)
    same(a.grad, by_pixels(c.grad, recipe.dx, 7).contiguous())
    d.grad = None
    ht.conv2d(by_pixels(x, recipe.x, 2, turned=True), d).backward(g)
    same(b.grad, d.grad)


def test_convolution_of_the_training_library():
    """The order of docs/training/training.md section 3: kernel rows, kernel columns, channels; patches' gradients added by
    windows."""
    x, w = plain(2, 3, 5, 5), plain(4, 3, 3, 3, seed=1)
    recipe = ht.Recipe(x='mxfp8_e4m3', w='mxfp8_e4m3', w_dx='keep', accum='seq2(binary16,binary16)', accum_dx='fp32',
                       convolution='windows')
    framed = torch.nn.functional.pad(x, (1, 1, 1, 1)).permute(0, 2, 3, 1)
    p = torch.stack([framed[n, i:i + 3, j:j + 3].reshape(-1) for n in range(2) for i in range(5) for j in range(5)])
    rows = w.permute(0, 2, 3, 1).reshape(4, -1)
    y = ht.matmul(p, rows.t(), recipe)
    a = x.clone().requires_grad_()
    z = ht.conv2d(a, w, padding=1, recipe=recipe)
    same(z.detach(), y.reshape(2, 5, 5, 4).permute(0, 3, 1, 2).contiguous())
    g = plain(2, 4, 5, 5, seed=8)
    z.backward(g)
    dp = ht.matmul(g.permute(0, 2, 3, 1).reshape(-1, 4), rows)
    sums = torch.zeros(2, 7, 7, 3)
    window = 0
    for n in range(2):
        for i in range(5):
            for j in range(5):
                sums[n, i:i + 3, j:j + 3] += dp[window].reshape(3, 3, 3)
                window += 1
    same(a.grad, sums[:, 1:6, 1:6].permute(0, 3, 1, 2).contiguous())


def test_bias_sums():
    """Chunks of 64 rows, each from +0, then the chunks."""
    g = numbers(200, 3, spread=30).nan_to_num(0, 1, -1)
    b = torch.zeros(3, requires_grad=True)
    ht.linear(torch.zeros(200, 2), torch.zeros(3, 2), b).backward(g)
    total = torch.zeros(3)
    for chunk in g.split(64):
        part = torch.zeros(3)
        for row in chunk:
            part = part + row
        total = total + part
    same(b.grad, total)


@pytest.mark.parametrize('accum', ['fp32', 'exact', 'seq(binary16,sra:8)', 'nv.hopper.e4m3.f32.wgmma',
                                   'parts(exact;fp32;rounded)'])
def test_threads_decide_nothing(accum):
    x, w = plain(130, 96), plain(64, 96, seed=2)
    kinds = dict(x='mxfp8_e4m3', w='mxfp8_e4m3') if 'parts' in accum else dict(x='float8_e4m3fn', w='float8_e4m3fn')
    before, made = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            made.append(ht.matmul(x, w.t(), ht.Recipe(accum=accum, **kinds), stream=4))
    finally:
        torch.set_num_threads(before)
    same(made[1], made[0])
    same(made[2], made[0])


def test_errors_say_what_is_wrong():
    a, b = plain(3, 4), plain(5, 3)
    with pytest.raises(ValueError, match=r'shapes \(3, 4\) and \(5, 3\) do not go together'):
        ht.matmul(a, b)
    with pytest.raises(TypeError, match='a is torch.float32 on cpu, b is torch.bfloat16 on cpu'):
        ht.matmul(a, b.t().contiguous().bfloat16()[:, :4].t())
    with pytest.raises(ValueError, match='conv2d: shapes'):
        ht.conv2d(plain(1, 3, 4, 4), plain(2, 2, 1, 1))
    with pytest.raises(ValueError, match="accum: .*'seq\\(binary17\\)'"):
        ht.Recipe(accum='seq(binary17)')
    x = plain(3, 4).requires_grad_()
    first, = torch.autograd.grad(ht.matmul(x, plain(4, 2)).square().sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match='gradient of a gradient'):
        first.sum().backward()


def test_gradients_of_images_are_summed_in_float32():
    """What patches give to a pixel: in a narrow type every step would be rounded."""
    for dtype in (torch.float16, torch.bfloat16):
        p = plain(1, 49, 27).to(dtype)
        shape, rest = [1, 3, 7, 7], ([3, 3], [1, 1], [1, 1], [1, 1], 1)
        wide = torch.ops.halfulp.unpatch(p.float(), shape, *rest)
        same(torch.ops.halfulp.unpatch(p, shape, *rest), wide.to(dtype))


def test_nothing_to_multiply():
    recipe = ht.Recipe(x='float8_e4m3fn,sra:8', w='mxfp4', g='float8_e5m2', accum='fp32')
    for r in (ht.Recipe(), recipe, recipe.but(x='mxfp4', g='mxfp4', accum='parts(exact;fp32;exact)')):
        conv = ht.Conv2d(4, 6, 3, groups=2, recipe=r)
        x = torch.zeros(0, 4, 5, 5, requires_grad=True)
        z = conv(x)
        z.sum().backward()
        assert z.shape == (0, 6, 3, 3) and x.grad.shape == x.shape and not conv.weight.grad.any()
        a, b = (torch.zeros(shape, requires_grad=True) for shape in ((2, 3, 0), (2, 0, 4)))
        z = ht.matmul(a, b, r, stream=1)
        z.sum().backward()
        same(z.detach(), torch.zeros(2, 3, 4))
        assert a.grad.shape == a.shape and b.grad.shape == b.shape
        for shape in ((5, 0), (2, 3, 0), (0,), (0, 0)):
            bias, w = torch.ones(3, requires_grad=True), torch.zeros(3, 0, requires_grad=True)
            z = ht.linear(torch.zeros(shape), w, bias, r, stream=1)
            z.sum().backward()
            same(z.detach(), torch.ones(shape[:-1] + (3,)))
            assert w.grad.shape == (3, 0) and bias.grad.tolist() == [float(z.numel() // 3)] * 3
        layer = ht.Linear(4, 3, recipe=r)
        assert layer(torch.zeros(2, 0, 4)).shape == (2, 0, 3)


def test_images_smaller_than_the_kernel():
    with pytest.raises(ValueError, match=r'conv2d: no window of \(3, 3\) fits into an image of \(2, 5\)'):
        ht.conv2d(torch.ones(1, 1, 2, 5), torch.ones(1, 1, 3, 3))
