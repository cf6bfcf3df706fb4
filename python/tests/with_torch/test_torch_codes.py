# SPDX-License-Identifier: MIT
"""Codes wider than their format are an error that says how to unpack; packed codes are taken."""
import halfulp
from torch_support import ht, plain, pytest, same, torch

F4 = 'float4_e2m1fn'


def test_wide_codes_are_refused():
    wide = torch.tensor([[1, 2, 0x21], [3, 4, 5]], dtype=torch.uint8)
    with pytest.raises(ValueError,
        match=r'codes: the code 0x21 at \[0, 2\] is wider than the 4 bits of .*packed=True') as e:
        ht.decode(wide, F4)
    assert e.value.status == 'HU_E_CODE'
    with pytest.raises(ValueError, match='HU_E_CODE'):
        torch.ops.halfulp.decode(wide.t(), F4, torch.float32)
    t = ht.scaled_encode(plain(2, 32), 'mxfp4')
    t.codes[1, 3] = 0x43
    with pytest.raises(ValueError, match=r'codes: the code 0x43 at \[1, 3\]'):
        ht.scaled_decode(t, 'mxfp4')


def test_signed_codes():
    codes = ht.encode(plain(3, 5), 'float8_e4m3fn')
    same(ht.decode(codes.view(torch.int8), 'float8_e4m3fn'), ht.decode(codes, 'float8_e4m3fn'))
    codes = ht.encode(plain(3, 5), 'bfloat16')
    same(ht.decode(codes.view(torch.int16), 'bfloat16'), ht.decode(codes, 'bfloat16'))
    with pytest.raises(TypeError, match='codes: bfloat16 are torch.uint16, not torch.int8'):
        ht.decode(torch.zeros(2, dtype=torch.int8), 'bfloat16')


@pytest.mark.parametrize('text', [F4, 'float6_e2m3fn', 'fp(2,2,0)'])
def test_packed_codes(text):
    width = halfulp.Format(text).width
    packed = torch.randint(0, 256, (2, 3, 9), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    packed[..., -1] &= 0xFF >> 72 % width  # bits behind the last code
    want = torch.from_numpy(halfulp.decode(packed.numpy(), text, packed=True))
    same(ht.decode(packed, text, packed=True), want)
    assert want.shape[-1] == 72 // width
    same(torch.compile(lambda x: ht.decode(x, text, packed=True), fullgraph=True, backend='aot_eager')(packed), want)


def test_bits_behind_the_last_code():
    good = torch.zeros((2, 4), dtype=torch.uint8)
    good[:, -1] = 0x3F
    ht.decode(good, 'float6_e2m3fn', packed=True)
    for bit in (0x40, 0x80):
        wrong = good.clone()
        wrong[1, -1] |= bit
        for call in (lambda: ht.decode(wrong, 'float6_e2m3fn', packed=True),
                     lambda: torch.ops.halfulp.unpack(wrong.view(torch.int8), 'mxfp6_e2m3')):
            with pytest.raises(ValueError, match=r'codes: the 4 bytes of row \[1\] hold 5 codes of 6 bits'):
                call()


def test_two_codes_a_byte():
    codes = torch.arange(16, dtype=torch.uint8)
    packed = codes[::2] | codes[1::2] << 4
    want = ht.decode(codes, F4)
    same(ht.decode(packed, F4, packed=True), want)
    if hasattr(torch, 'float4_e2m1fn_x2'):
        same(ht.decode(packed.view(torch.float4_e2m1fn_x2), packed=True), want)
        with pytest.raises(TypeError, match='packed=True'):
            ht.decode(packed.view(torch.float4_e2m1fn_x2))
    with pytest.raises(ValueError, match='codes of 8 bits are not packed'):
        ht.decode(codes, 'float8_e4m3fn', packed=True)


@pytest.mark.parametrize('scaling', ['mxfp4', 'nvfp4', 'mxfp6_e3m2'])
def test_packed_tensors(scaling):
    t = ht.scaled_encode(plain(3, 64), scaling)
    width = 6 if '6' in scaling else 4
    rows = torch.stack([torch.from_numpy(halfulp.pack(row.numpy(), width)) for row in t.codes])
    same(ht.scaled_decode(t._replace(codes=rows), scaling, packed=True), ht.scaled_decode(t, scaling))
