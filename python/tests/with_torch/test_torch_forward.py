# SPDX-License-Identifier: MIT
"""Derivatives in forward mode: the straight-through rule for every operator, or an error; never a lost tangent."""
from torch_support import ht, plain, pytest, same, torch  # first: it leaves the tests out where there is no PyTorch

import torch.autograd.forward_ad as forward_ad

ops = torch.ops.halfulp
S = ht.stream(7, 100)
SCALED = ht.Recipe(x='mxfp8_e4m3', w='nvfp4', accum='parts(exact;fp32;exact)')
DRAWN = ht.Recipe(x='mxfp8_e4m3,sra:8', w='nvfp4,sra:8', accum='parts(exact;fp32;exact)')
WORDS = ht.Recipe(x='float8_e4m3fn,sra:8', w='bfloat16,sra:4', accum='seq(binary16,sra:4)')
MASKED = ht.Recipe(x='q(0.3)', w='mxfp4', out='bfloat16', gradient='zero_outside')
RECIPES = (ht.Recipe(), ht.Recipe(x='float8_e4m3fn', w='float8_e5m2', g='float8_e5m2', dx='bfloat16'), SCALED, WORDS,
           MASKED, DRAWN)
GEOMETRY = ([3, 2], [2, 1], [1, 0], [1, 2], 2)


def moved(function, *pairs):
    """The result of a function of (number, tangent), and its tangent or None."""
    with forward_ad.dual_level():
        z = forward_ad.unpack_dual(function(*(x if t is None else forward_ad.make_dual(x, t) for x, t in pairs)))
        return z.primal.clone(), z.tangent


def close(got, want, scale=1.0):
    assert got.shape == want.shape and (got.double() - want.double()).abs().max() <= 2e-5 * scale * want.abs().max()


# ---- every operator ----

def tensors_of(name):
    """Arguments of an operator without a rule, the first of which has a tangent."""
    x, codes = plain(6, 40), ht.scaled_encode(plain(6, 40), 'nvfp4')
    return {'inside': (x, 'float8_e4m3fn', -1), 'encode': (x, None, 'float8_e4m3fn', -1, False),
            'scaled_encode': (x, None, 'nvfp4', -1, -1, False),
            'scaled_decode': (codes[0], codes[1], codes[2], 'nvfp4'),
            'convolution_back': (plain(2, 32, 5), plain(2, 4, 7, 6), plain(2, 12, 5), None) + ht.Recipe().texts()
            + ('straight_through',) + GEOMETRY + (True, True, False),
            'transposed_back': (plain(2, 4, 7, 6), plain(2, 32, 5), plain(2, 12, 5), None) + ht.Recipe().texts()
            + ('straight_through',) + GEOMETRY + (True, True, False)}[name]


RULES = {'quantize', 'matmul', 'convolution', 'transposed', 'add_row', 'columns', 'patches', 'unpatch'}
REFUSED = {'inside', 'encode', 'scaled_encode', 'scaled_decode', 'convolution_back', 'transposed_back'}
# They read no floating-point number but counts, or write in place, where the tangent stays: the straight-through rule.
WITHOUT = {'decode', 'advance_', 'note_', 'quantize_', 'of_integers', 'unpack'}


def test_every_operator():
    """A new operator goes into one of the three sets, and its case into the tests below."""
    there = {name.partition('::')[2] for name in torch._C._dispatch_get_all_op_names() if name.startswith('halfulp::')}
    assert there == RULES | REFUSED | WITHOUT
    from halfulp.torch import _register
    assert {name.partition('::')[2] for name in _register._rules} == RULES
    for name in RULES | REFUSED:  # each goes through the kernel that looks for tangents
        assert torch._C._dispatch_has_kernel_for_dispatch_key('halfulp::' + name, 'Autograd')


@pytest.mark.parametrize('name', sorted(REFUSED))
def test_refused(name):
    arguments = tensors_of(name)
    place = next(i for i, x in enumerate(arguments) if isinstance(x, torch.Tensor) and x.is_floating_point())

    def call(x):
        return getattr(ops, name)(*arguments[:place], x, *arguments[place + 1:])
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match='halfulp::' + name):
        call(forward_ad.make_dual(arguments[place], torch.ones_like(arguments[place])))
    with pytest.raises(NotImplementedError, match='halfulp::' + name):
        torch.func.jvp(call, (arguments[place],), (torch.ones_like(arguments[place]),))


# ---- roundings ----

@pytest.mark.parametrize('rounding', ['float8_e4m3fn', 'nvfp4', 's2fp8', 'posit8', 'float8_e5m2,sra:8', 'keep'])
@pytest.mark.parametrize('dtype', [torch.float32, torch.bfloat16])
def test_quantize(rounding, dtype):
    x, t = plain(6, 40).to(dtype), plain(6, 40, seed=1).to(dtype)
    z, tangent = moved(lambda v: ht.quantize(v, rounding, backward='float8_e5m2', stream=S), (x, t))
    same(z, ht.quantize(x, rounding, stream=S))
    same(tangent, t)


def test_ways_to_ask():
    x, one = torch.tensor([0.3, 1.7, 500.0, 1e-9]), torch.ones(4)

    def function(v):
        return 2 * ht.quantize(v, 'float8_e4m3fn') + v
    same(torch.func.jvp(function, (x,), (one,))[1], 3 * one)
    same(torch.func.jacfwd(function)(x), 3 * torch.eye(4))
    same(torch.autograd.functional.jacobian(function, x, strategy='forward-mode', vectorize=True), 3 * torch.eye(4))
    quantizer = ht.Quantizer('float8_e4m3fn,sra:8', key=3, count=True)
    same(torch.func.jvp(quantizer, (x,), (one,))[1], one)
    assert quantizer.events_of()['forward']['inexact'] == 4
    for transform in (torch.func.grad, torch.func.jacrev):
        with pytest.raises(NotImplementedError, match='jvp, jacfwd'):
            transform(lambda v: function(v).sum())(x)


def test_masks():
    x, t = torch.tensor([1.03, 448.0, 460.0, float('nan')]), torch.tensor([1.0, 2.0, 3.0, 4.0])
    _, tangent = moved(lambda v: ht.quantize(v, 'float8_e4m3fn', gradient='zero_outside'), (x, t))
    same(tangent, torch.tensor([1.0, 2.0, 0.0, 0.0]))


def test_in_place():
    x, t = plain(3, 5), plain(3, 5, seed=1)
    z, tangent = moved(lambda v: ht.quantize_(v.clone(), 'float8_e4m3fn'), (x, t))
    same(z, ht.quantize(x, 'float8_e4m3fn'))
    same(tangent, t)


# ---- products ----

def operands(a, b, recipe, apart):
    """Operands as the product rounds them, in float64, matrix by matrix where the sum takes scaled tensors."""
    def one(x, text, use, words=S):
        if not apart or x.dim() == 2:
            return ht.ops.quantize(x.flatten(0, -2), words, None, text, 'keep', -1, 'straight_through', use, -1,
                                   False)[0].view(x.shape)
        return torch.stack([one(m, text, use, ht.stream(7, 100 + i * m.numel())) for i, m in enumerate(x.unbind())])
    return one(a, recipe.x, 0).double(), one(b.transpose(-1, -2), recipe.w, 1).transpose(-1, -2).double()


@pytest.mark.parametrize('recipe', RECIPES, ids=str)
@pytest.mark.parametrize('shapes', [((6, 64), (64, 5)), ((3, 6, 64), (3, 64, 5)), ((3, 6, 64), (64, 5))])
def test_matmul(recipe, shapes):
    (a, b), (ta, tb) = (plain(*shape, seed=i) for i, shape in enumerate(shapes)), (
        plain(*shape, seed=2 + i) for i, shape in enumerate(shapes))
    left, right = operands(a, b, recipe, recipe in (SCALED, DRAWN) and b.dim() > 2)
    da, db = ta.double(), tb.double()
    if recipe is MASKED:
        da = da * ht.inside(a, recipe.x)
        db = db * ht.inside(b.transpose(-1, -2), recipe.w).transpose(-1, -2)
        assert (da != ta).any()

    def product(x, y):
        return ht.matmul(x, y, recipe, stream=S)
    z, tangent = moved(product, (a, ta), (b, tb))
    same(z, product(a, b))
    if recipe in (SCALED, DRAWN):
        close(z, left @ right)  # the operands are those that the product has
    close(tangent, da @ right + left @ db)
    close(moved(product, (a, ta), (b, None))[1], da @ right)
    close(torch.func.jvp(lambda y: product(a, y), (b,), (tb,))[1], left @ db)


@pytest.mark.parametrize('dtype', [torch.float64, torch.bfloat16, torch.float16])
def test_types_of_products(dtype):
    a, b, ta = plain(6, 64).to(dtype), plain(64, 5).to(dtype), plain(6, 64, seed=1).to(dtype)
    recipe = ht.Recipe(accum='exact')
    _, tangent = moved(lambda x: ht.matmul(x, b, recipe), (a, ta))
    assert tangent.dtype == dtype
    close(tangent, ta.double() @ b.double(), 1000 if dtype != torch.float64 else 1e-8)


@pytest.mark.parametrize('recipe', RECIPES[:4] + (RECIPES[1].but(convolution='windows'),), ids=str)
@pytest.mark.parametrize('groups', [1, 2])
def test_conv2d(recipe, groups):
    x, w, bias = plain(2, 32, 7, 6), plain(6, 32 // groups, 3, 2, seed=1), plain(6, seed=2)
    moves = plain(2, 32, 7, 6, seed=3), plain(6, 32 // groups, 3, 2, seed=4), plain(6, seed=5)
    more = dict(stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=groups)

    def low(x, w, bias):
        return ht.conv2d(x, w, bias, recipe=recipe, stream=S, **more)
    z, tangent = moved(low, *zip((x, w, bias), moves))
    same(z, low(x, w, bias))
    if recipe in (RECIPES[0], RECIPES[1]):  # roundings of single numbers: the image as it is rounded
        xq, wq = ht.quantize(x, recipe.x).double(), ht.quantize(w, recipe.w).double()
        plainly = torch.nn.functional.conv2d
        want = plainly(moves[0].double(), wq, None, **more) + plainly(xq, moves[1].double(), moves[2].double(), **more)
        close(tangent, want)
    # The forward pass is linear in rounded operands, so a step that keeps them, and so their scales, shows the rest.
    by_x = moved(lambda v: low(v, w, bias), (x, moves[0]))[1]
    by_w = moved(lambda v: low(x, v, bias), (w, moves[1]))[1]
    by_b = moved(lambda v: low(x, w, v), (bias, moves[2]))[1]
    close(tangent, by_x + by_w + by_b)
    exact = recipe.but(accum='exact') if recipe is not SCALED else recipe
    if recipe in (SCALED, WORDS):  # Euler: a bilinear form along its own operand is itself
        own = moved(lambda v: ht.conv2d(v, w, None, recipe=exact, stream=S, **more), (x, x))[1]
        close(own, ht.conv2d(x, w, None, recipe=exact, stream=S, **more), 5e3)


@pytest.mark.parametrize('recipe', RECIPES, ids=str)
def test_transposed(recipe):
    x, w, t, u = plain(2, 32, 5), plain(2, 12, 5, seed=1), plain(2, 32, 5, seed=2), plain(2, 12, 5, seed=3)

    def low(x, w):
        return ops.transposed(x, w, S, None, *recipe.texts(), recipe.gradient, [2, 4, 7, 6], *GEOMETRY, False)[0]
    z, tangent = moved(low, (x, t), (w, u))
    same(z, low(x, w))
    scaled = recipe in (SCALED, DRAWN)
    left, right = operands(x, w.transpose(-1, -2), recipe, scaled)
    dx, dw = t.double(), u.double()
    if recipe is MASKED:
        dx, dw = dx * ht.inside(x, recipe.x), dw * ht.inside(w, recipe.w)
    gifts = dx @ right + left @ dw.transpose(-1, -2)
    close(tangent, ops.unpatch(gifts, [2, 4, 7, 6], *GEOMETRY))
    close(tangent, moved(low, (x, t), (w, None))[1] + moved(low, (x, None), (w, u))[1])


@pytest.mark.parametrize('recipe', RECIPES[:2], ids=str)
def test_adjoint(recipe):
    """Forward and backward are one linear map: v (J t) = (J' v) t, where gradients are not rounded."""
    recipe = recipe.but(g='keep', dx='keep')
    torch.manual_seed(1)
    net = torch.nn.Sequential(ht.Conv2d(2, 4, 3, recipe=recipe), torch.nn.ReLU(), torch.nn.Flatten(),
                              ht.Linear(64, 5, recipe=recipe), ht.Quantizer('float8_e4m3fn', gradient='zero_outside'))
    x, t, v = plain(3, 2, 6, 6), plain(3, 2, 6, 6, seed=1), plain(3, 5, seed=2)
    y = x.clone().requires_grad_()
    back = torch.autograd.grad(net(y), y, v)[0]
    _, ahead = moved(net, (x, t))
    close((v * ahead).sum(), (back * t).sum(), 10)
    assert ahead.abs().max() > 0.1


def test_modules():
    torch.manual_seed(1)
    x, t = plain(3, 8), plain(3, 8, seed=1)
    net = torch.nn.Sequential(torch.nn.Linear(8, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
    low = ht.convert(net, 'float8_e4m3fn')
    assert torch.func.jvp(low, (x,), (t,))[1].abs().min() > 0
    assert torch.func.jacfwd(low)(x[0]).abs().min() > 0
    table = ht.Embedding(7, 4, rounding='float8_e4m3fn')
    weight, tokens = table.weight.detach(), torch.tensor([1, 5, 1])
    _, tangent = torch.func.jvp(lambda w: torch.func.functional_call(table, {'weight': w}, (tokens,)), (weight,),
                                (torch.ones_like(weight),))
    same(tangent, torch.ones(3, 4))
    step = ht.MatMul(ht.Recipe(x='nvfp4', w='nvfp4'))
    assert moved(lambda a: step(a, t.t()), (x, t))[1].abs().max() > 0


# ---- second derivatives ----

def curved(kind):
    """A function of 16 numbers that goes through a product, and is no polynomial of degree 1 of them."""
    linear = ht.convert(torch.nn.Sequential(torch.nn.Linear(16, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)), 'bfloat16')
    image, kernel, weight = (1, 2, 4, 2), plain(2, 2, 3, 1), plain(3, 16)
    return {'matmul': lambda v: (ht.matmul(v[None], v[:, None], 'float8_e4m3fn') ** 2).sum(),
            'linear': lambda v: (ht.linear(v[None], weight, None, 'mxfp8_e4m3') ** 2).sum(),
            'conv2d': lambda v: (ht.conv2d(v.view(image), kernel, recipe='float8_e4m3fn') ** 2).sum(),
            'windows': lambda v: (ht.conv2d(v.view(image), kernel, recipe=ht.Recipe(convolution='windows')) ** 2).sum(),
            'model': lambda v: linear(v[None]).sum()}[kind]


@pytest.mark.parametrize('kind', ['matmul', 'linear', 'conv2d', 'windows', 'model'])
def test_no_second_derivative_of_products(kind):
    """The gradient of a product has no formula for one of its own: it is an error in each order of the directions."""
    f, x = curved(kind), plain(16)
    hessian = torch.autograd.functional.hessian
    for more in ({}, {'vectorize': True}, {'vectorize': True, 'outer_jacobian_strategy': 'forward-mode'}):
        with pytest.raises((NotImplementedError, RuntimeError), match='second derivative|of a gradient|no gradient'):
            hessian(f, x, **more)

    def tangent_of_gradient(v):
        return torch.autograd.grad(f(v), v)[0]
    with pytest.raises(NotImplementedError, match='an operand has a tangent'):
        moved(tangent_of_gradient, (x.clone().requires_grad_(), torch.ones(16)))
    y = x.clone().requires_grad_()
    if kind == 'matmul':  # both of its operands depend on x, so that its tangent does
        with pytest.raises(NotImplementedError, match='of a gradient'):
            torch.autograd.grad(moved(f, (y, torch.ones(16)))[1], y)
    with forward_ad.dual_level():  # the gradient alone, after forward mode, is what it is without
        z = forward_ad.unpack_dual(f(forward_ad.make_dual(y, torch.ones(16)))).primal
    same(torch.autograd.grad(z, y)[0], tangent_of_gradient(y))


def test_second_derivatives_of_what_is_linear():
    """The gradients of roundings, biases and patches do not depend on their operands."""
    x, t = plain(6, 8).requires_grad_(), plain(6, 8, seed=1)
    for f in (lambda v: ht.quantize(v, 'float8_e4m3fn', gradient='zero_outside'), lambda v: ops.add_row(v, v[0]),
              lambda v: ops.columns(v), lambda v: ops.patches(v.view(1, 2, 6, 4), [3, 2], [1, 1], [0, 0], [1, 1], 1),
              lambda v: ops.unpatch(v.view(1, 12, 4), [1, 1, 5, 4], [2, 2], [1, 1], [0, 0], [1, 1], 1)):
        _, tangent = moved(lambda v: torch.autograd.grad((f(v) ** 2).sum(), v)[0], (x, t))
        ahead = moved(f, (x, t))[1].detach()  # of a quadratic form: twice what the adjoint makes of the tangent
        close(tangent, 2 * torch.autograd.grad(f(x), x, ahead)[0])
