# SPDX-License-Identifier: MIT
"""Named recipes against the programs that they are named after: torchao, and the references of Transformer Engine."""
import importlib.metadata
import importlib.util
import pathlib
import sys
import types

from torch_support import ht, numbers, plain, pytest, same, torch  # first: it skips where there is no torch

from torch.nn import functional as F  # isort: skip


def integers(*shape, seed=1, most=60):
    return torch.randint(-most, most + 1, shape, generator=torch.Generator().manual_seed(seed)).float()


def passes(recipe, x, w, g):
    """Y, dX and dW of a layer."""
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    y = ht.linear(x, w, None, recipe)
    y.backward(g)
    return y.detach(), x.grad, w.grad


def close(results, others):
    """Equal up to what an order of float32 sums decides."""
    for one, other in zip(results, others):
        torch.testing.assert_close(one, other, rtol=2e-5, atol=2e-5 * float(other.abs().max()))


# ---- torchao ----

@pytest.fixture(scope='module')
def ao():
    pytest.importorskip('torchao', reason='torchao is not installed')
    return types.SimpleNamespace(
        mx=importlib.import_module('torchao.prototype.mx_formats.mx_tensor'),
        config=importlib.import_module('torchao.prototype.mx_formats.config'),
        linear=importlib.import_module('torchao.prototype.moe_training.mxfp8_linear'),
        nvfp4=importlib.import_module('torchao.prototype.mx_formats.nvfp4_tensor'),
        preference=importlib.import_module('torchao.quantization.quantize_.common.kernel_preference').KernelPreference)


@pytest.mark.parametrize('scale', ['floor', 'ceil', 'even', 'rceil'])
def test_torchao_mxfp8(ao, scale):
    """mx_mm itself, forward and backward. Of integers every float32 sum is exact, so that no order matters."""
    recipe = ht.recipes.torchao_mxfp8(scale)
    mode, fp8 = ao.config.ScaleCalculationMode(scale), torch.float8_e4m3fn
    for draw, good in ((integers, None), (plain, close)):
        x, w, g = draw(64, 96), draw(32, 96, seed=2), draw(64, 32, seed=3)
        a, b = x.clone().requires_grad_(), w.clone().requires_grad_()
        y = ao.linear.mx_mm.apply(a, b, fp8, fp8, fp8, 32, ao.preference.EMULATED, ao.config.MXFP8Dim0CastKernelChoice.TORCH,
                                  ao.config.MXFP8Dim1CastKernelChoice.TORCH, mode, False)
        y.backward(g)
        theirs, ours = (y.detach(), a.grad, b.grad), passes(recipe, x, w, g)
        if good is None:
            for one, other in zip(ours, theirs):
                same(one, other)
            assert not torch.equal(ours[2], g.t() @ x)
        else:
            good(ours, theirs)
    scales, codes = ao.mx.to_mx(x, fp8, 32, mode)
    values = codes.float().view(64, 3, 32) * torch.exp2(scales.view(torch.uint8).double() - 127).float().unsqueeze(-1)
    same(ht.quantize(x, recipe.recipe.x), values.view(64, 96))


def test_torchao_nvfp4(ao):
    """What its layer of quantization-aware training keeps of X and W, and multiplies in the backward pass. (Its product of
    codes takes a GPU.)"""
    x, w, g = plain(64, 96), plain(32, 96, seed=2), plain(64, 32, seed=3)
    kept = []
    for v in (x, w):
        scale = ao.nvfp4.per_tensor_amax_to_scale(v.abs().max())
        kept.append(ao.nvfp4.NVFP4Tensor.to_nvfp4(v, per_tensor_scale=scale).dequantize(torch.float32))
    recipe = ht.recipes.torchao_nvfp4().but(accum='exact')
    a, b = kept
    for one, other in zip(passes(recipe, x, w, g), ((a, b.t()), (g, b), (g.t(), a))):
        same(one, (other[0].double() @ other[1].double()).float())


# ---- Transformer Engine ----

_FILES = 'transformer_engine/pytorch/custom_recipes/'


def load(name):
    """One file of the package alone, with empty modules for what it imports beside PyTorch: the package loads a CUDA
    library. sys.modules is as before afterwards."""
    try:
        files = importlib.metadata.files('transformer_engine')
    except importlib.metadata.PackageNotFoundError:
        pytest.skip('transformer_engine is not installed')
    path = next(pathlib.Path(file.locate()) for file in files if str(file) == _FILES + name + '.py')
    before = dict(sys.modules)

    def stand_in(where, **content):
        module = sys.modules[where] = types.ModuleType(where)
        module.__path__ = []
        module.__dict__.update(content)
        return module
    try:
        for where in ('transformer_engine', 'transformer_engine.pytorch'):
            stand_in(where)
        whole = 'transformer_engine.pytorch.custom_recipes'
        parts = {part: stand_in('{}.{}'.format(whole, part)) for part in ('gemm', 'reference_utils')}
        parts['reference_utils'].Fp4Formats = type('Fp4Formats', (), {'E2M1': None})
        parts['gemm'].GEMMType = type('GEMMType', (), {'FPROP': None})
        parts['gemm'].MMParams = object
        stand_in(whole, **parts)
        stand_in('transformer_engine.pytorch.quantized_tensor', QuantizedTensorStorage=object, Quantizer=object)
        spec = importlib.util.spec_from_file_location(whole + '.' + name, path)
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        for where in set(sys.modules) - set(before):
            if where.startswith('transformer_engine'):
                del sys.modules[where]


def codes_of(x, amax, kind, module, power):
    """What its reference stores and by what it multiplies: E4M3 or E5M2 codes as numbers, and the scale of decoding."""
    scale, inverse, _ = module._scale_from_amax_tensor(torch.float32, amax, kind, eps=0.0, pow_2_scales=power)
    most = torch.finfo(kind).max
    return (x * scale).clamp(-most, most).to(kind).float(), inverse


def test_te_current():
    module = load('reference_current_scaling')
    x, w, g = numbers(48, 40, spread=6).nan_to_num(0, 2, -2), plain(24, 40, seed=2), plain(48, 24, seed=3)
    made = {}
    for name, v, kind in (('x', x, torch.float8_e4m3fn), ('w', w, torch.float8_e4m3fn), ('g', g, torch.float8_e5m2)):
        made[name] = codes_of(v, v.abs().max().view(1), kind, module, False)
        decoded = made[name][0] * made[name][1]
        same(ht.quantize(v, getattr(ht.recipes.te_current().recipe, name)), decoded)

    def product(left, right, a, b):
        """Sums of codes, exact in float64 here; rounded, then times both scales."""
        return (left.double() @ right.double()).float() * (a * b)
    (cx, sx), (cw, sw), (cg, sg) = made['x'], made['w'], made['g']
    exact = ht.recipes.te_current().but(accum='parts(exact;exact;alpha)')
    ours = passes(exact, x, w, g)
    for one, other in zip(ours, (product(cx, cw.t(), sx, sw), product(cg, cw, sg, sw), product(cg.t(), cx, sg, sx))):
        same(one, other)
    close(passes(ht.recipes.te_current(), x, w, g), ours)


def blocks_of(x, rows, cols, kind, module):
    """Its scale for each block of a matrix, decoded."""
    z = torch.empty_like(x)
    for i in range(0, x.shape[0], rows):
        for j in range(0, x.shape[1], cols):
            part = x[i:i + rows, j:j + cols]
            codes, inverse = codes_of(part, part.abs().max().view(1), kind, module, True)
            z[i:i + rows, j:j + cols] = codes * inverse
    return z


def test_te_block():
    module = load('reference_current_scaling')
    x, w, g = plain(130, 300) * torch.exp2(torch.arange(130.0) % 40 - 20).view(-1, 1), plain(140, 300, seed=2), plain(130, 140, seed=3)
    x[3, :128] = 0
    recipe, kind = ht.recipes.te_block().but(accum='parts(exact;exact;exact)'), torch.float8_e4m3fn
    along = [blocks_of(v, 1, 128, kind, module) for v in (x, g, x.t(), g.t())]
    tiles = blocks_of(w, 128, 128, kind, module)
    same(ht.quantize(x, recipe.recipe.x), along[0])
    same(ht.quantize(w, recipe.recipe.w), tiles)
    for one, (a, b) in zip(passes(recipe, x, w, g), ((along[0], tiles.t()), (along[1], tiles), (along[3], along[2].t()))):
        runs = [(a[:, i:i + 128].double() @ b[i:i + 128].double()).float().double() for i in range(0, a.shape[1], 128)]
        same(one, sum(runs).float())  # of 128 terms, rounded to float32; then all of them


def test_te_nvfp4():
    """Operands of all three products by its quantizer: 1 x 16, 16 x 16, and 1 x 16 behind its transform with its signs.
    Integers stay exact behind the transform. Gradients are rounded to nearest here: its reference refuses random words."""
    module = load('reference_nvfp4')
    quantize = module.NVFP4QuantizerRef._quantize_blockwise_reference

    def decoded(x, rows=1):
        codes, scales = quantize(x, x.abs().max(), 16, rows, pow_2_scales=False, eps=0.0)
        q = module.cast_from_fp4x2(codes, torch.float32)
        t = 1 / (torch.tensor(2688.0) / x.abs().max())
        return q * (scales.float() * t).repeat_interleave(16, 1)
    x, w, g = integers(64, 48), plain(32, 48, seed=2), integers(64, 32, seed=3)
    theirs = module.NVFP4QuantizerRef.__new__(module.NVFP4QuantizerRef)
    theirs.with_rht, theirs.with_random_sign_mask, theirs.quant_tile_shape = True, True, (1, 16)
    recipe = ht.recipes.te_nvfp4().recipe.but(g='nvfp4_te', accum='exact')
    tiles = decoded(w, 16)
    mixed = [decoded(theirs._apply_rht(v.t().contiguous())) for v in (x, g)]
    for one, other in zip(passes(recipe, x, w, g), ((decoded(x), tiles.t()), (decoded(g), tiles), (mixed[1], mixed[0].t()))):
        same(one, (other[0].double() @ other[1].double()).float())


def test_te_mxfp8():
    """Its scale, from ptx_arch_spec.cuh: amax rn(1/448), rounded up to a power of two."""
    x = numbers(40, 64, spread=30).nan_to_num(0, 3, -3)
    x[5, :32] = 0
    found = torch.empty_like(x)
    for j in range(0, 64, 32):
        part = x[:, j:j + 32]
        product = (part.abs().amax(1) * torch.tensor(1 / 448)).view(torch.int32)
        exponent = (product >> 23) + ((product & 0x7FFFFF) > 0).int() - 127
        scale = torch.exp2(exponent.clamp(-127).double()).view(-1, 1)
        codes = (part.double() / scale).float().clamp(-448, 448).to(torch.float8_e4m3fn)
        found[:, j:j + 32] = (codes.double() * scale).float()
    same(ht.quantize(x, ht.recipes.te_mxfp8().recipe.x), found)


def test_layers_of_a_model():
    """A layer of convert and one under ht.precision are those of the function; a module that is no Linear stays."""
    model = torch.nn.Sequential(torch.nn.Linear(32, 48), torch.nn.Conv1d(1, 1, 3), torch.nn.Linear(46, 16))
    x, named = plain(16, 1, 32), ht.recipes.torchao_mxfp8()
    low = ht.convert(model, named)
    assert [type(one) for one in low] == [ht.Linear, torch.nn.Conv1d, ht.Linear]
    expected = model[1](ht.linear(x, model[0].weight, model[0].bias, named))
    same(low(x), ht.linear(expected, model[2].weight, model[2].bias, named))
    with ht.precision(named, strict=True) as p:
        same(model(x), low(x))
    assert {row['why'] for row in p.report().rows} == {None, 'the recipe leaves it'}
    assert F.linear(x, model[0].weight).ne(ht.linear(x, model[0].weight, None, named)).any()
