# SPDX-License-Identifier: MIT
"""halfulp.load: names, values and codes of a checkpoint, and what is wrong with one."""
import json
import os
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

import halfulp
from halfulp import _abi

COMMAND = os.environ['HALFULP_COMMAND']


def write(path, tensors, metadata=None):
    """A .safetensors file of (name, dtype, shape, bytes)."""
    header, data = {'__metadata__': metadata} if metadata else {}, b''
    for name, dtype, shape, payload in tensors:
        header[name] = {'dtype': dtype, 'shape': list(shape), 'data_offsets': [len(data), len(data) + len(payload)]}
        data += payload
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack('<Q', len(text)) + text + data)
    return str(path)


CODES = np.random.default_rng(3).integers(0, 256, (3, 20), np.uint8)
SCALES = np.array([[0x30, 0x38, 0x41], [1, 0x7E, 0x22], [0x50, 0x49, 0x3B]], np.uint8)
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6], np.float32)
E2M1 = np.concatenate([E2M1, -E2M1])
DIVISOR = np.float32(1234.5)


def e4m3(codes):
    """E4M3 of codes that are no NaN and have no sign."""
    e, m = codes >> 3, (codes & 7).astype(np.float32)
    return np.where(e == 0, m * np.float32(2**-9), (8 + m) * np.exp2(e.astype(np.float32) - 10))


def values():
    """NVFP4 of compressed-tensors, by NumPy: the even element in the low half; scales divided by the global one."""
    elements = E2M1[np.stack([CODES & 15, CODES >> 4], -1).reshape(3, 40)]
    factors = (e4m3(SCALES) / DIVISOR).astype(np.float32)
    return elements * np.repeat(factors, 16, 1)[:, :40]


@pytest.fixture
def model(tmp_path):
    return write(tmp_path / 'm.safetensors', [
        ('l.weight_packed', 'U8', (3, 20), CODES.tobytes()), ('l.weight_scale', 'F8_E4M3', (3, 3), SCALES.tobytes()),
        ('l.weight_global_scale', 'F32', (1,), DIVISOR.tobytes()), ('norm', 'BF16', (2,), struct.pack('<2H', 0x3F81, 0xC000)),
        ('ids', 'I64', (2, 1), struct.pack('<2q', 2**60 + 1, -5)), ('none', 'F16', (0, 3), b'')])


def test_values(model):
    with halfulp.load(model) as found:
        assert list(found) == ['ids', 'l.weight', 'none', 'norm'] and len(found) == 4 and 'norm' in found
        got = found['l.weight']
        assert got.dtype == np.float32 and np.array_equal(got.view(np.uint32), values().view(np.uint32))
        assert found['norm'].tolist() == [1.0078125, -2] and found['norm'].dtype == np.float32
        assert found['ids'].tolist() == [[2**60 + 1], [-5]] and found['ids'].dtype == np.int64
        assert found['none'].shape == (0, 3)
        assert np.array_equal(found.codes('l.weight'), np.stack([CODES & 15, CODES >> 4], -1).reshape(3, 40))
        assert np.array_equal(halfulp.decode(found.codes('l.weight'), found.tensor('l.weight').elements),
                              E2M1[found.codes('l.weight')])
        with pytest.raises(halfulp.HalfulpValueError, match='HU_E_FORMAT'):
            found.codes('norm')
        with pytest.raises(KeyError):
            found['weight']
    with pytest.raises(halfulp.HalfulpValueError, match='closed'):
        found['norm']


def low_first(codes):
    """Elements of bytes, the one in the low half first."""
    return E2M1[np.stack([codes & 15, codes >> 4], -1)].reshape(*codes.shape[:-1], -1)


BYTES = (np.arange(2 * 130, dtype=np.int64) * 37 % 127).astype(np.uint8)
KINDS = {  # tensors, config.json, the name of the values, their numbers
    'fp8 blocks': ([('l.weight', 'F8_E4M3', (2, 130), BYTES.tobytes()), ('l.weight_scale_inv', 'F32', (1, 2), struct.pack('<2f', .3, .0007))],
                   {'quant_method': 'fp8', 'weight_block_size': [128, 128]}, 'l.weight',
                   e4m3(BYTES.reshape(2, 130)).astype(np.float32) * np.repeat(np.float32([[.3, .0007]]), 128, 1)[:, :130]),
    'fp8': ([('w', 'F8_E4M3', (3,), b'\x38\xB8\x7E')], None, 'w', np.float32([1, -1, 448])),
    'fp4': ([('w', 'F4', (4,), b'\x21\xFA')], None, 'w', np.float32([.5, 1, -1, -6])),
    'e8m0': ([('w', 'F8_E8M0', (3,), b'\0\x7F\xFE')], None, 'w', np.float32([2.0**-127, 1, 2.0**127])),
    'modelopt': ([('l.weight', 'U8', (2, 8), BYTES[:16].tobytes()), ('l.weight_scale', 'F8_E4M3', (2, 1), b'\x3C\x44'),
                  ('l.weight_scale_2', 'F32', (), struct.pack('<f', .001))], {'quant_method': 'modelopt', 'quant_algo': 'NVFP4'}, 'l.weight',
                 low_first(BYTES[:16].reshape(2, 8)) * (np.float32([[1.5], [3]]) * np.float32(.001))),
    'gpt-oss': ([('mlp.up_blocks', 'U8', (1, 2, 1, 16), BYTES[:32].tobytes()), ('mlp.up_scales', 'U8', (1, 2, 1), b'\x7E\x80')], None, 'mlp.up',
                low_first(BYTES[:32].reshape(1, 2, 16)) * np.float32([[[.5], [2]]]))}


@pytest.mark.parametrize('kind', KINDS)
def test_kinds_by_command(kind, tmp_path):
    """The layouts that are met most: the same bits by halfulp.load, by the command, and by the layout's formula."""
    tensors, config, name, want = KINDS[kind]
    path = write(tmp_path / 'm.safetensors', tensors)
    if config:
        (tmp_path / 'config.json').write_text(json.dumps({'quantization_config': config}))
    got = halfulp.load(path)[name]
    assert got.dtype == want.dtype == np.float32 and np.array_equal(got.reshape(want.shape).view(np.uint32), want.view(np.uint32))
    (tmp_path / 'o').mkdir()
    subprocess.run([COMMAND, 'decode', path, str(tmp_path / 'o' / 'o.safetensors')], check=True)
    assert np.array_equal(halfulp.load(tmp_path / 'o' / 'o.safetensors')[name].view(np.uint32), got.view(np.uint32))


def test_listing(model, tmp_path):
    found = halfulp.load(pathlib.Path(model))
    one = found.tensor('l.weight')
    assert one == (
        'l.weight', model, 'ct-nvfp4', 'U8', 'float4_e2m1fn', 'float8_e4m3fn / binary32', '', (3, 40), (1, 16))
    assert [tensor.name for tensor in found.tensors] == list(found)
    assert repr(found).split('\n')[2].split() == ['l.weight', 'ct-nvfp4', 'float4_e2m1fn', 'float8_e4m3fn', '/', 'binary32', '1x16', '[3,', '40]']
    lines = json.loads(subprocess.run([COMMAND, 'info', model, '--json'], check=True, stdout=subprocess.PIPE).stdout)['tensors']
    assert [(line['name'], line['layout'], line['elements'], tuple(line['shape'])) for line in lines] == [
        (tensor.name, tensor.layout, tensor.elements, tensor.shape) for tensor in found.tensors]


def test_folder(model, tmp_path):
    """Shards: a scale lies in another file than its codes."""
    folder = tmp_path / 'f'
    folder.mkdir()
    write(folder / 'a.safetensors', [('w', 'F8_E4M3', (2, 2), b'\x38\x30\xB8\x7E')])
    write(folder / 'b.safetensors', [('w_scale', 'F32', (2, 1), struct.pack('<2f', .5, 2))])
    assert halfulp.load(folder)['w'].tolist() == [[.5, .25], [-2, 896]]
    index = {'weight_map': {'w': 'a.safetensors', 'w_scale': 'b.safetensors'}}
    (folder / 'model.safetensors.index.json').write_text(json.dumps(index))
    assert halfulp.load(folder / 'model.safetensors.index.json')['w'].tolist() == [[.5, .25], [-2, 896]]
    with pytest.raises(halfulp.HalfulpValueError, match="'w_scale' of it is in b.safetensors"):
        halfulp.load(folder / 'a.safetensors')


def test_wrong(model, tmp_path):
    for path, layout, says in ((tmp_path / 'no.safetensors', None, 'no.safetensors: No such file'), (tmp_path / 'no', None, 'HU_E_FILE'),
                               (model, 'nvfp4', "'nvfp4' is not a layout"), (model, 'awq', 'no tensor can have the layout awq')):
        with pytest.raises(halfulp.HalfulpValueError, match=says):
            halfulp.load(path, layout)
    with pytest.raises(halfulp.HalfulpTypeError, match='path'):
        halfulp.load(b'm.safetensors')
    pathlib.Path(model).write_bytes(b'\x01')
    with pytest.raises(halfulp.HalfulpValueError, match='not a .safetensors file: truncated .*HU_E_DATA'):
        halfulp.load(model)


def test_void_codes(tmp_path):
    """What numpy.load makes of a saved array of ml_dtypes."""
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16)
    for format, bits in (('float8_e4m3fn', codes), ('bfloat16', codes.astype(np.uint16) * 257)):
        void = bits.view('V%d' % bits.itemsize)
        np.save(tmp_path / 'c.npy', void)
        loaded = np.load(tmp_path / 'c.npy')
        assert loaded.dtype.kind == 'V'
        assert np.array_equal(halfulp.decode(loaded, format), halfulp.decode(bits, format), equal_nan=True)
        assert np.array_equal(halfulp.decode(void.T, format), halfulp.decode(bits.T, format), equal_nan=True)
    with pytest.raises(halfulp.HalfulpTypeError):
        halfulp.quantize(codes.view('V1'), 'bfloat16')


def test_any_values(tmp_path):
    """Every code of every dtype of codes, against ml_dtypes."""
    types = pytest.importorskip('ml_dtypes')
    codes = np.arange(256, dtype=np.uint8)
    for dtype, name in (('F8_E4M3', 'float8_e4m3fn'), ('F8_E5M2', 'float8_e5m2'), ('F8_E8M0', 'float8_e8m0fnu'),
                        ('F8_E4M3FNUZ', 'float8_e4m3fnuz'), ('F8_E5M2FNUZ', 'float8_e5m2fnuz')):
        found = halfulp.load(write(tmp_path / 'c.safetensors', [('w', dtype, (256,), codes.tobytes())]))['w']
        wanted = codes.view(getattr(types, name)).astype(np.float32)
        assert np.array_equal(found, wanted, equal_nan=True) and np.array_equal(np.signbit(found)[found == 0], np.signbit(wanted)[found == 0]), dtype


def test_tiles():
    """Scales in tiles of 128 x 4, by the formula of docs/scaled.md, and back."""
    scales = np.random.default_rng(5).integers(1, 256, (130, 5), np.uint8)
    made = halfulp.scaled.tile(scales)
    r, c = np.indices(scales.shape)
    places = (r // 128 * 2 + c // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4
    assert made.shape == (2048,) and np.array_equal(made[places], scales) and np.count_nonzero(made) == scales.size
    assert np.array_equal(halfulp.scaled.untile(made, 130, 5), scales)
    assert np.array_equal(halfulp.scaled.untile(made.reshape(256, 8), 130, 5), scales)
    assert np.array_equal(halfulp.scaled.untile(halfulp.scaled.tile(scales.T), 5, 130), scales.T)
    assert halfulp.scaled.tile(scales[:0]).shape == (0,) and halfulp.scaled.untile(made[:0], 0, 5).shape == (0, 5)
    with pytest.raises(halfulp.HalfulpValueError, match='2048 bytes for 100 x 5'):
        halfulp.scaled.untile(made, 100, 5)
    with pytest.raises(halfulp.HalfulpTypeError):
        halfulp.scaled.tile(scales.astype(np.uint16))


def test_page():
    """docs/checkpoints.md has the rows of the library's table, in its order."""
    library = _abi.layouts()
    rows = [library.hu_checkpoint_layout_at(i) for i in range(library.hu_checkpoint_layout_count())]
    said = ['| `{}` | {} | {} | `{}` |'.format(*(text.decode() for text in (row.name, row.program, row.tensors, row.formula))) for row in rows]
    page = (pathlib.Path(os.environ['HALFULP_SOURCE']) / 'docs/checkpoints.md').read_text()
    assert len(rows) > 30 and '\n'.join(said) in page
    assert library.hu_checkpoint_layout_at(len(rows)).name == b''


if __name__ == '__main__':
    sys.exit(pytest.main([__file__]))


def test_scaled(tmp_path):
    """Codes and scales of the formats that halfulp has, and of others."""
    rng = np.random.default_rng(8)
    codes, ue = rng.integers(0, 256, (6, 32), np.uint8), rng.integers(100, 140, (6, 2), np.uint8)
    e4, second = rng.integers(0, 0x7E, (6, 4), np.uint8), np.float32(0.5)
    fp8 = rng.integers(0, 0x7E, (6, 64), np.uint8)
    blocks = rng.normal(size=(3, 2)).astype(np.float32)
    path = write(tmp_path / 's.safetensors', [
        ('a.weight', 'U8', (6, 32), codes.tobytes()), ('a.weight_scale', 'U8', (6, 2), ue.tobytes()),
        ('b.weight', 'U8', (6, 32), codes.tobytes()), ('b.weight_scale', 'F8_E4M3', (6, 4), e4.tobytes()), ('b.weight_scale_2', 'F32', (), second.tobytes()),
        ('c_blocks', 'U8', (2, 3, 2, 16), codes.tobytes()), ('c_scales', 'U8', (2, 3, 2), ue.tobytes()),
        ('d.weight', 'F8_E4M3', (6, 64), fp8.tobytes()), ('d.weight_scale_inv', 'F32', (3, 2), blocks.tobytes()), ('e', 'F32', (2,), bytes(8))])
    (tmp_path / 'config.json').write_text('{"quantization_config": {"quant_method": "fp8", "weight_block_size": [2, 32]}}')
    with halfulp.load(path) as model:
        for name, scales, shape in (('a.weight', ue, (6, 64)), ('b.weight', e4, (6, 64)), ('c', ue, (6, 64)), ('d.weight', blocks.view(np.uint32), (6, 64))):
            made = model.scaled(name)
            assert made.shape == shape and np.array_equal(made.scales, scales)
            assert np.array_equal(made.decode().view(np.uint32), model[name].reshape(shape).view(np.uint32))
        assert model.scaled('b.weight').tensor == second and model.scaled('a.weight').tensor is None
        with pytest.raises(halfulp.HalfulpValueError, match='HU_E_FORMAT'):
            model.scaled('e')
        with pytest.raises(KeyError):
            model.scaled('f')


def test_cut(model):
    """A file that becomes shorter while it is open is an error, and not the end of the process."""
    found = halfulp.load(model)
    os.truncate(model, 100)
    for ask in (lambda: found['l.weight'], lambda: found['norm'], lambda: found.codes('l.weight'), lambda: found['ids']):
        with pytest.raises(halfulp.HalfulpValueError, match='HU_E_FILE'):
            ask()


def test_kinds(tmp_path):
    """PyTorch's files, GGUF and ONNX have names and values as others have; what is no tensor is refused."""
    block = struct.pack('<e', 0.5) + bytes(range(16))
    text = lambda word: struct.pack('<Q', len(word)) + word
    head = b'GGUF' + struct.pack('<IQQ', 3, 1, 0) + text(b'w') + struct.pack('<IQIQ', 1, 32, 2, 0)
    (tmp_path / 'm.gguf').write_bytes(head + bytes(-len(head) % 32) + block)
    found = halfulp.load(tmp_path / 'm.gguf')
    assert found.tensor('w').layout == 'gguf' and found.tensor('w').elements == 'Q4_0'
    assert found['w'].tolist() == [.5 * (c - 8) for c in range(16)] + [.5 * -8] * 16
    with pytest.raises(halfulp.HalfulpValueError, match='HU_E_FORMAT'):
        found.codes('w')
    (tmp_path / 'm.pt').write_bytes(b'\x80\x02}.')
    with pytest.raises(halfulp.HalfulpValueError, match='not a PyTorch file'):
        halfulp.load(tmp_path / 'm.pt')
    np.save(tmp_path / 'c.npy', np.array([[0x38, 0xC0]], np.uint8).view('V1'))
    assert halfulp.load(tmp_path / 'c.npy', 'float8_e4m3fn')['c'].tolist() == [[1, -2]]
    with pytest.raises(halfulp.HalfulpValueError, match='a format that is to be named'):
        halfulp.load(tmp_path / 'c.npy')


def test_save(model, tmp_path):
    """To ModelOpt's layout: the codes and scales are moved; to FP8 they are rounded, as `quantize --layout` does it."""
    with halfulp.load(model) as found:
        changes = {one.name: one for one in found.save(tmp_path / 'mx', 'ct-fp8-channel', include=['l.*'], dtype='F32')}
        assert (changes['l.weight'].what, changes['norm'].what, changes['l.weight'].values) == ('rounded', 'copied', 120)
        before = found['l.weight']
        scale = np.float32(0.3).tobytes()
        with halfulp.load(write(tmp_path / 'scales.safetensors', [('l.input_scale', 'F32', (), scale)])) as given:
            found.save(tmp_path / 'mo', 'modelopt-fp8', include=['l.*'], activations=given)
        with halfulp.load(tmp_path / 'mo') as after:
            assert scale in (tmp_path / 'mo' / 'model.safetensors').read_bytes() and 'l.input_scale' not in after
        with pytest.raises(halfulp.HalfulpValueError, match='is not there'):
            found.save(tmp_path / 'no', 'modelopt-fp8', include=['l.*'], activations=found)
        with pytest.raises(halfulp.HalfulpValueError, match='whole blocks'):
            found.save(tmp_path / 'no', 'ct-nvfp4', rule='nvfp4_te')
        with pytest.raises(halfulp.HalfulpValueError, match='other elements'):
            found.save(tmp_path / 'no', 'ct-nvfp4', rule='mxfp4')
        with pytest.raises(halfulp.HalfulpValueError, match='nvfp5'):
            found.save(tmp_path / 'no', 'nvfp5')
        with pytest.raises(halfulp.HalfulpTypeError, match='include'):
            found.save(tmp_path / 'no', 'bf16', include='l.*')
        (tmp_path / 'full').mkdir()
        (tmp_path / 'full' / 'a').write_text('a')
        with pytest.raises(halfulp.HalfulpValueError, match='no empty folder'):
            found.save(tmp_path / 'full', 'bf16')
    assert not (tmp_path / 'no').exists()
    with halfulp.load(tmp_path / 'mx') as after:
        seen = np.count_nonzero(after['l.weight'] != before)  # the count is of the values before binary32
        assert seen <= changes['l.weight'].changed <= seen + changes['l.weight'].narrowed
        assert after.tensor('l.weight').layout == 'fp8-scale' and after['ids'].tolist() == [[2**60 + 1], [-5]]
        assert changes['l.weight'].largest == pytest.approx(np.abs(after['l.weight'] - before).max(), rel=1e-5)
    subprocess.run([COMMAND, 'quantize', '--layout', 'ct-fp8-channel', '--include', 'l.*', '--dtype', 'F32', model, str(tmp_path / 'by')],
                   check=True, stdout=subprocess.PIPE)
    assert (tmp_path / 'by' / 'model.safetensors').read_bytes() == (tmp_path / 'mx' / 'model.safetensors').read_bytes()
