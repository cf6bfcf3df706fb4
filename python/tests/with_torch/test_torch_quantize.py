# SPDX-License-Identifier: MIT
"""Roundings of tensors: against torch's own conversions, over strides, types and threads; events; codes; errors."""
from torch_support import bits, ht, numbers, plain, pytest, same, torch

KINDS = ['float8_e4m3fn', 'float8_e5m2,rtz', 'fp(4,3,4):finite', 'posit8', 'q(3.4)', 'mxfp8_e4m3', 'mxfp4', 'nvfp4',
         'hbfp8', 's2fp8',
         'float8_e5m2,over=inf', 'float8_e4m3fn,sra:8', 'mxfp4,sra:16', 's2fp8,srb:9', 'posit8,sra:4']


def test_halfulp_alone_does_not_import_torch():
    import subprocess
    import sys
    said = subprocess.run([sys.executable, '-c', 'import sys, halfulp; print("torch" in sys.modules)'], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True)
    assert said.stdout.strip() == 'False'


@pytest.mark.long
def test_the_first_call_is_quick():
    """torch._dynamo, two seconds of imports, is for programs that compile."""
    import subprocess
    import sys
    program = """
import sys
import torch
import halfulp.torch as ht
x = torch.rand(4, 8, requires_grad=True)
model = ht.convert(torch.nn.Sequential(torch.nn.Linear(8, 3)), 'mxfp4', count=True)
y = model(ht.quantize(x, 'float8_e4m3fn,sra:8', backward='float8_e5m2', stream='torch'))
y.sum().backward()
ht.scaled_decode(ht.scaled_encode(x.detach(), 'nvfp4'), 'nvfp4')
ht.decode(ht.encode(ht.quantize_(x.detach().clone(), 'bfloat16'), torch.bfloat16))
ht.Conv2d(1, 2, 3)(torch.rand(1, 1, 4, 4)).sum().backward()
print('torch._dynamo' in sys.modules)
"""
    said = subprocess.run([sys.executable, '-W', 'ignore', '-c', program], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True)
    assert said.stdout.strip() == 'False'


@pytest.mark.parametrize('name, largest', [('float8_e4m3fn', 448), ('float8_e5m2', 57344), ('float8_e4m3fnuz', 240),
                                           ('float8_e5m2fnuz', 57344), ('bfloat16', 3e38), ('float16', 65504)])
def test_as_torch_rounds(name, largest):
    """All float16 patterns and random float32 numbers within the range: torch's conversions round to nearest even."""
    x = torch.cat([torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(torch.float16).float(),
                   numbers(1 << 16, spread=60)])
    x = x[x.abs() <= largest]
    z = ht.quantize(x, {'float16': 'binary16'}.get(name, name))
    same(z, x.to(getattr(torch, name)).float())


def test_codes_are_those_of_torch():
    x = numbers(4096, spread=8)
    x = x[x.abs() <= 400]
    codes = ht.encode(x, 'float8_e4m3fn')
    assert codes.dtype == torch.uint8
    assert torch.equal(codes, x.to(torch.float8_e4m3fn).view(torch.uint8))
    same(ht.decode(codes, 'float8_e4m3fn', torch.bfloat16), x.to(torch.float8_e4m3fn).to(torch.bfloat16))
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        y = x.to(dtype)
        assert torch.equal(ht.encode(y, 'float8_e5m2'), ht.encode(y.float(), 'float8_e5m2'))
    assert ht.encode(x, 'binary16').dtype == torch.uint16


def layouts(x):
    """The same numbers in other places."""
    wide = torch.zeros(x.shape + (3,), dtype=x.dtype)
    wide[..., 1] = x
    yield 'strided', wide[..., 1]
    yield 'transposed', x.transpose(0, 1).contiguous().transpose(0, 1)
    padded = torch.zeros(x.shape[0], x.shape[1] + 5, x.shape[2], dtype=x.dtype)
    padded[:, 2:-3] = x
    yield 'rows of more', padded[:, 2:-3]
    yield 'permuted', x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    yield 'scattered', torch.stack([x, x], dim=1)[:, 1].transpose(1, 2).contiguous().transpose(1, 2)


@pytest.mark.parametrize('rounding', KINDS)
@pytest.mark.parametrize('dim', [-1, 0, 1])
def test_layout_decides_nothing(rounding, dim):
    x = numbers(6, 70, 33, spread=6)
    z = ht.quantize(x, rounding, dim=dim, stream=(5, 6))
    assert not torch.equal(bits(z), bits(x))
    for name, y in layouts(x):
        assert torch.equal(bits(y), bits(x)), name
        got = ht.quantize(y, rounding, dim=dim, stream=(5, 6))
        same(got, z)
        assert got.stride() == torch.empty_like(y).stride(), name
        assert torch.equal(bits(y), bits(x)), name
        assert ht.quantize_(y, rounding, dim=dim, stream=(5, 6)) is y
        same(y.contiguous(), z)


def test_more_runs_than_calls_are_worth():
    """A tensor of so many short runs that it is copied, and one of a few."""
    for shape, order in (((40, 50, 6), (1, 0, 2)), ((3, 50, 60), (1, 0, 2))):
        x = numbers(*shape).permute(order)
        same(ht.quantize(x, 'float8_e5m2,sra:8', stream=3), ht.quantize(x.contiguous(), 'float8_e5m2,sra:8', stream=3))


@pytest.mark.parametrize('rounding', ['float8_e4m3fn', 'float8_e5m2,rtn', 'posit8', 'mxfp4', 's2fp8',
                                      'float8_e4m3fn,sra:8', 'keep'])
def test_types(rounding):
    """float16 and bfloat16 are rounded as the float32 numbers that they are, float64 without a step in between."""
    x = numbers(20, 64, spread=6)
    for dtype in (torch.float16, torch.bfloat16):
        y = x.to(dtype)
        same(ht.quantize(y, rounding, stream=9), ht.quantize(y.float(), rounding, stream=9).to(dtype))
    if rounding in ('mxfp4', 's2fp8'):
        with pytest.raises(TypeError, match='float64 would be rounded twice'):
            ht.quantize(x.double(), rounding)
        return
    z = ht.quantize(x.double(), rounding, stream=9)
    same(z.float(), ht.quantize(x, rounding, stream=9))
    just_above = torch.tensor([1.0625 + 2.0 ** -40], dtype=torch.float64)  # a tie for float32
    if rounding == 'float8_e4m3fn':
        assert ht.quantize(just_above, rounding).item() == 1.125
        assert ht.quantize(just_above.float(), rounding).item() == 1.0


def test_blocks_along_a_dimension():
    """Every block by itself, as a row of its own."""
    x = plain(8, 6, 64)
    for dim in range(3):
        z = ht.quantize(x, 'mxfp4', dim=dim)
        rows = x.movedim(dim, -1)
        expected = torch.stack([ht.quantize(row, 'mxfp4')
                                for row in rows.reshape(-1, rows.shape[-1])]).reshape(rows.shape)
        same(z, expected.movedim(-1, dim).contiguous())
    turned = ht.quantize(x[0], 'mxfp4,turned')
    same(turned, ht.quantize(x[0], 'mxfp4', dim=0))
    amax = x.abs().amax()
    scale = (amax.double() / 448).float()
    same(ht.Quantizer.per_tensor('float8_e4m3fn').forward(x),
         (ht.quantize((x.double() / scale.double()), 'float8_e4m3fn') * scale.double()).float())


def test_codes_and_scales():
    x = plain(10, 70)
    for text, dim in (('mxfp8_e4m3', 1), ('nvfp4', 1), ('mxfp4', 0), ('mxint8', 1)):
        made = ht.scaled_encode(x, text, dim=dim)
        values = ht.scaled_decode(made, text)
        same(values if dim else values.t().contiguous(), ht.quantize(x, text, dim=dim))
    assert made.codes.shape == (10, 70) and made.scales.shape == (10, 3)


@pytest.mark.parametrize('text', ['mxfp4', 'mxfp4,sra:16', 'nvfp4,sra:8', 'mxfp8_e4m3,turned,srb:9',
                                  'fp8_tensor,sra:4'])
def test_encoding_draws_what_quantizing_draws(text):
    for x in (plain(40, 70), plain(70, 40).t(), plain(6, 40, 33), plain(33, 6, 40).permute(1, 2, 0)):
        for dim in range(x.dim()):
            values = ht.scaled_decode(ht.scaled_encode(x, text, dim=dim, stream=(3, 4)), text)
            z = ht.quantize(x, text, dim=dim, stream=(3, 4)).movedim(dim, -1)
            same(values, z.reshape(-1, z.shape[-1]))
            if 'sr' in text:
                assert not torch.equal(z, ht.quantize(x, text, dim=dim, stream=(3, 5)).movedim(dim, -1))


def test_order_of_words_of_a_middle_dimension():
    x = plain(6, 40, 33)
    same(ht.quantize(x, 'mxfp4,sra:16', dim=1, stream=5),
         ht.quantize(x.movedim(1, -1), 'mxfp4,sra:16', stream=5).movedim(-1, 1).contiguous())


def test_codes_of_other_layouts():
    x = plain(300, 500)
    codes = ht.encode(x, 'float8_e4m3fn')
    values = ht.decode(codes, 'float8_e4m3fn')
    for given, expected in ((codes.t(), values.t()), (codes[:, ::2], values[:, ::2]), (codes[::3], values[::3])):
        same(ht.decode(given, 'float8_e4m3fn'), expected.contiguous())
    made = ht.scaled_encode(x, 'nvfp4')
    strided = ht.ScaledTensor(made.codes.t().contiguous().t(), made.scales.t().contiguous().t(), made.tensor.view(1))
    same(ht.scaled_decode(strided, 'nvfp4'), ht.scaled_decode(made, 'nvfp4'))


def test_a_scaled_tensor_made_by_hand():
    made = ht.scaled_encode(plain(8, 64), 'nvfp4')
    for wrong, error, text in (
            (made._replace(codes=made.codes[0]), ValueError, 'codes: a matrix is required, not 1 dimensions'),
            (made._replace(codes=made.codes.int()), TypeError, 'codes: torch.int32 on cpu instead of torch.uint8'),
            (made._replace(scales=made.scales[:, :1]), ValueError, r'scales: shape \(8, 1\) instead of \(8, 4\)'),
            (made._replace(scales=made.scales.float()), TypeError, 'scales: torch.float32 on cpu instead'),
            (made._replace(tensor=made.tensor.double()), TypeError, 'tensor: torch.float64 on cpu instead'),
            (made._replace(tensor=torch.ones(0)), ValueError, r'tensor: shape \(0,\) instead of \(\)')):
        with pytest.raises(error, match=text):
            ht.scaled_decode(wrong, 'nvfp4')


def test_which_formats_a_type_holds():
    """Without subnormal numbers the steps between the smallest numbers are finer than the smallest."""
    for text, dtype, good in (('fp(5,10,0):nosub', torch.float16, True), ('fp(5,10,5):nosub', torch.float16, False),
                              ('fp(4,3,4):finite', torch.float16, True), ('bfloat16', torch.float16, False),
                              ('bfloat16', torch.bfloat16, True), ('binary16', torch.bfloat16, False)):
        x = torch.ones(3, dtype=dtype)
        if good:
            ht.quantize(x, text)
        else:
            with pytest.raises(ValueError, match='cannot hold'):
                ht.quantize(x, text)


def test_one_element_and_none():
    for shape in ((), (1,), (0,), (3, 0), (0, 4)):
        x = torch.full(shape, 1.1)
        for rounding in ('float8_e4m3fn', 'mxfp4', 's2fp8', 'posit8'):
            z = ht.quantize(x, rounding)
            assert z.shape == x.shape and (x.numel() == 0 or abs(z.item() - 1.1) < 0.15)


def test_stochastic_words():
    """Element i draws word i whatever the shape: the high bits of words of the core package's stream."""
    import halfulp
    x = torch.full((5, 7), 1.0 + 3 / 64)  # 3/8 of the distance from 1 to 1.125
    z = ht.quantize(x, 'float8_e4m3fn,sra:3', stream=(11, 40))
    words = torch.from_numpy(halfulp.Stream(11, 40).words(35).astype('int64'))
    up = (3 + (words >> 29) >= 8).reshape(5, 7)
    assert torch.equal(z, torch.where(up, 1.125, 1.0)) and 5 < int(up.sum()) < 25
    later = ht.quantize(x.flatten()[7:], 'float8_e4m3fn,sra:3', stream=ht.stream(11, 47))
    same(later, z.flatten()[7:])
    same(ht.quantize(x.t(), 'float8_e4m3fn,sra:3', stream=(11, 40)).flatten(), z.flatten())
    big = (1 << 64) - 1
    same(ht.quantize(x, 'float8_e4m3fn,sra:3', stream=(big, big))[0, 1:2],
         ht.quantize(x, 'float8_e4m3fn,sra:3', stream=(big, 0))[0, :1])


@pytest.mark.parametrize('rounding', ['float8_e4m3fn,sra:8', 'mxfp4,sra:8', 'nvfp4', 's2fp8,sra:6', 'q(3.4)'])
def test_threads_decide_nothing(rounding):
    x = numbers(300, 512, spread=6)
    before, made = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            made.append(ht.quantize_with_events(x, rounding, stream=1))
    finally:
        torch.set_num_threads(before)
    for z, events in made[1:]:
        same(z, made[0][0])
        assert torch.equal(events, made[0][1])


def test_events():
    x = torch.tensor([1.0, 1.1, 1e6, -1e6, 1e-9, float('nan'), float('inf'), 0.003])
    z, events = ht.quantize_with_events(x, 'float8_e4m3fn')
    said = dict(zip(ht.EVENTS, events.tolist()))
    assert said == dict(overflow=2, saturated=3, underflow=2, to_zero=1, subnormal=1, inexact=5, invalid=0, nan_in=1,
                        inf_in=1,
                        divide_by_zero=0)
    assert z[2] == 448 and z[3] == -448 and z[5].isnan()
    assert torch.equal(ht.quantize_with_events(x.to(torch.bfloat16).double(), 'float8_e4m3fn')[1],
                       ht.quantize_with_events(x.to(torch.bfloat16), 'float8_e4m3fn')[1])


def test_inside():
    x = torch.tensor([0.0, 448.0, 448.1, -448.0, -500.0, float('inf'), float('nan'), 1e-30])
    assert ht.inside(x, 'float8_e4m3fn').tolist() == [True, True, False, True, False, False, False, True]
    assert ht.inside(x, 'keep').all()
    assert ht.inside(x, 's2fp8').tolist() == [True] * 5 + [False, False, True]
    fixed = torch.tensor([255.875, 255.9, -256.0, -256.1])
    assert ht.inside(fixed, 'q(8.3)').tolist() == [True, False, True, False]
    block = torch.tensor([[4.0, 7.9, -7.9, 6.0, -6.0, 6.001]])  # mxfp4: the scale is 1, its largest number 6
    assert ht.inside(block, 'mxfp4').tolist() == [[True, False, False, True, True, False]]
    assert torch.equal(ht.inside(block.t(), 'mxfp4', dim=0), ht.inside(block, 'mxfp4').t())


def test_errors_say_what_is_wrong():
    x = plain(4)
    with pytest.raises(ValueError, match=r"rounding: .*'float8_e9'.*HU_E_NAME"):
        ht.quantize(x, 'float8_e9')
    with pytest.raises(ValueError, match='HU_E_'):
        ht.quantize(x, 'float8_e4m3fn,sra:40')
    with pytest.raises(TypeError, match='torch.complex64 is not one of float32, float64, float16, bfloat16'):
        ht.quantize(torch.arange(3) * 1j, 'float8_e4m3fn')
    with pytest.raises(ValueError, match='has values that torch.float32 cannot hold'):
        ht.quantize(x, 'fp(11,20,0)')
    assert ht.quantize(x.double(), 'fp(11,20,0),rtz').dtype == torch.float64
    with pytest.raises(ValueError, match='has values that torch.bfloat16 cannot hold'):
        ht.quantize(x.bfloat16(), 'fp(6,9,0)')
    with pytest.raises(ValueError, match="gradient: 'none' is not one of straight_through, zero_outside"):
        ht.quantize(x, 'float8_e4m3fn', gradient='none')
    with pytest.raises(IndexError, match='dim: 2 is not a dimension'):
        ht.quantize(x, 'mxfp4', dim=2)
    with pytest.raises(ValueError, match='64 bits'):
        ht.quantize(x, 'float8_e4m3fn,sra:4', stream=-1)
    with pytest.raises(TypeError, match='stream: an int64 tensor'):
        ht.quantize(x, 'float8_e4m3fn,sra:4', stream=torch.zeros(3))
    with pytest.raises(ValueError, match='is not a format'):
        ht.encode(x, 'mxfp4')
    with pytest.raises(TypeError, match='halfulp works on cpu and cuda tensors, not on meta'):
        import halfulp.torch._calls as calls
        calls.engine(torch.device('meta'))
