# SPDX-License-Identifier: MIT
"""Caches of keys and values: rounding per token, channel and head against NumPy, windows, and a model that generates."""
import copy

import numpy as np
from torch_support import ht, numbers, plain, pytest, same, torch  # first: it skips where there is no torch

from halfulp.torch import cache as module  # isort: skip

KIVI = dict(keys=ht.CacheRounding('affine(2)', per='channel', group=32), values=ht.CacheRounding('affine(2)', group=32))


def affine(x, bits):
    """Rows of one group each, every operation in binary32."""
    x = np.asarray(x, np.float32)
    least, most = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    with np.errstate(invalid='ignore', divide='ignore'):
        s = (most - least) / np.float32(2 ** bits - 1)
        q = np.clip(np.rint((x - least) / s), 0, 2 ** bits - 1)
        return np.where(s == 0, least, q * s + least).astype(np.float32)


def divided(x, most):
    """Rows of one group each into E4M3 (most 448) under amax / most."""
    amax = np.abs(x).max(-1, keepdims=True)
    s = np.where(amax == 0, np.float32(1), amax / np.float32(most)).astype(np.float32)
    return torch.from_numpy(np.asarray(x / s)).to(torch.float8_e4m3fn).float().numpy() * s


def groups(x, size, per):
    """The last axis has the numbers of a group."""
    rows = x.transpose(-1, -2) if per == 'channel' else x
    return rows.unflatten(-1, (-1, size)).numpy()


def back(z, per):
    z = torch.from_numpy(np.ascontiguousarray(z)).flatten(-2)
    return z.transpose(-1, -2).contiguous() if per == 'channel' else z


@pytest.mark.parametrize('per', ['token', 'channel'])
@pytest.mark.parametrize('bits', [1, 2, 4, 8])
def test_affine(per, bits):
    x = plain(2, 3, 64, 48) * torch.exp2(torch.arange(48.0) % 9)
    x[0, 0, :16, :] = 3.5  # groups without a spread
    expected = back(affine(groups(x, 16, per), bits), per)
    same(ht.CacheRounding('affine({})'.format(bits), per=per, group=16)(x), expected)
    half = x.to(torch.bfloat16)
    same(ht.CacheRounding('affine({})'.format(bits), per=per, group=16)(half),
         back(affine(groups(half.float(), 16, per), bits), per).to(torch.bfloat16))
    x[1, 2, 0, 0], x[0, 1, 0, 0] = float('inf'), float('nan')
    z = ht.CacheRounding('affine({})'.format(bits), per=per, group=16)(x)
    assert int(z.isnan().sum()) == 32 and not z.isinf().any()


@pytest.mark.parametrize('per, group', [('token', None), ('token', 16), ('channel', 32)])
def test_a_format(per, group):
    x = numbers(2, 3, 64, 48, spread=8).nan_to_num(0, 5, -5)
    x[0, 0, :32] = 0
    expected = back(divided(groups(x, group or 48, per), 448), per)
    same(ht.CacheRounding('float8_e4m3fn', per=per, group=group)(x), expected)
    same(ht.CacheRounding(torch.float8_e4m3fn, per=per, group=group)(x), expected)


def test_a_scaled_format():
    x = plain(2, 3, 64, 48)
    same(ht.CacheRounding('mxfp8_e4m3')(x), ht.quantize(x.reshape(-1, 48), 'mxfp8_e4m3').view_as(x))
    turned = x.transpose(-1, -2).contiguous()
    same(ht.CacheRounding('mxfp4', per='channel')(x),
         ht.quantize(turned.reshape(-1, 64), 'mxfp4').view_as(turned).transpose(-1, -2).contiguous())
    same(ht.CacheRounding('keep')(x), x)
    same(ht.CacheRounding('posit8')(x), ht.quantize(x, 'posit8'))


def test_heads():
    """vLLM's FP8 cache: codes of x / scale, by a scale for each head, or one for all."""
    x, s = plain(2, 3, 10, 8) * 300, torch.tensor([0.5, 1.0, 0.3])
    view = s.view(1, 3, 1, 1)
    expected = (x / view).clamp(-448, 448).to(torch.float8_e4m3fn).float() * view
    same(ht.CacheRounding('float8_e4m3fn', per='head', scales=s)(x), expected)
    one = ht.CacheRounding('float8_e4m3fn', per='head', scales=torch.tensor(2.0))
    same(one(x), (x / 2).clamp(-448, 448).to(torch.float8_e4m3fn).float() * 2)
    with pytest.raises(ValueError, match='scales: 3 of them, and 4 heads'):
        ht.CacheRounding('float8_e4m3fn', per='head', scales=s)(plain(1, 4, 2, 8))


@pytest.mark.parametrize('window', [0, 32, 64])
def test_kivi(window):
    """Keys in runs of the window, values behind the last `window` tokens; token by token as at once."""
    k, v = plain(2, 3, 180, 64), plain(2, 3, 180, 32, seed=2)
    cache = ht.KVCache(window=window, **KIVI)
    keys, values = cache.update(k, v)
    done = 180 - 180 % max(window, 32)
    same(keys, torch.cat([back(affine(groups(k[..., :done, :], 32, 'channel'), 2), 'channel'), k[..., done:, :]], -2))
    same(values, torch.cat([back(affine(groups(v[..., :180 - window, :], 32, 'token'), 2), 'token'), v[..., 180 - window:, :]], -2))
    slowly = ht.KVCache(window=window, **KIVI)
    for i, n in enumerate([130] + [1] * 50):
        at = slowly.length()
        made = slowly.update(k[..., at:at + n, :], v[..., at:at + n, :])
        assert made[0].shape[-2] == slowly.length() == at + n
    for one, other in zip(made, (keys, values)):
        same(one, other)
    assert slowly.bits() == cache.bits()
    rounded_k, rounded_v = 6 * done * 64, 6 * (180 - window) * 32
    assert cache.bits() == rounded_k * 2 + rounded_k // 32 * 64 + rounded_v * 2 + rounded_v // 32 * 64 + 32 * (
        6 * 180 * (64 + 32) - rounded_k - rounded_v)


def test_layers():
    cache = ht.KVCache('float8_e4m3fn')
    k = plain(2, 1, 4, 16)
    cache.update(k, k), cache.update(2 * k, k, layer=3)
    assert cache.length() == 4 and cache.length(3) == 4 and cache.length(1) == 0
    assert cache.bits() == 4 * (128 * 8 + 8 * 32)
    twin = copy.deepcopy(cache)
    keys, _ = cache.update(k, k)
    same(keys[..., 4:, :], keys[..., :4, :])
    assert twin.length() == 4 and cache.length() == 8
    cache.select(torch.tensor([1, 1, 0]))
    same(cache.update(k[[1, 1, 0]], k[[1, 1, 0]])[0][..., :8, :], keys[[1, 1, 0]])
    cache.reset()
    assert cache.length() == 0 and cache.bits() == 0
    w = torch.nn.Parameter(plain(2, 1, 4, 16))
    assert not any(one.requires_grad for one in cache.update(w * 2, w))
    assert 'affine(2)' in repr(ht.KVCache(window=32, **KIVI)) and 'window=32' in repr(ht.KVCache(window=32, **KIVI))


@pytest.mark.parametrize('how, error, message', [
    (dict(rounding='affine(9)'), ValueError, 'affine\\(B\\) with B from 1 to 8'), (dict(rounding='affine(2'), ValueError, 'affine'),
    (dict(rounding='float9'), ValueError, 'rounding'), (dict(rounding='mxfp4,sra:8'), ValueError, 'draws random words'),
    (dict(rounding='affine(2)', per='row'), ValueError, 'per'), (dict(rounding='affine(2)', per='channel'), ValueError, 'group'),
    (dict(rounding='affine(2)', group=0), ValueError, 'group'), (dict(rounding='mxfp4', group=16), ValueError, 'blocks of its own'),
    (dict(rounding='nvfp4'), ValueError, 'a scale of more numbers'), (dict(rounding='hbfp8'), ValueError, 'a scale of more'),
    *[(dict(rounding=text), ValueError, 'no scale of its own') for text in ('int8', 'int4', 'nf4', 'q(3.4)')],
    (dict(rounding='s2fp8'), ValueError, 'a scale of more'), (dict(rounding='posit8', per='channel'), ValueError, 'element by element'),
    (dict(rounding='float8_e4m3fn', per='head'), ValueError, 'scales'),
    (dict(rounding='float8_e4m3fn', scales=torch.ones(2)), ValueError, 'scales'),
    (dict(rounding='mxfp4', per='head', scales=torch.ones(2)), ValueError, "scales: 'mxfp4' is not a format"),
    (dict(rounding='float8_e4m3fn', per='head', scales=torch.tensor([1.0, 0.0])), ValueError, 'positive finite'),
    (dict(rounding='float8_e4m3fn', per='head', group=4, scales=torch.ones(2)), ValueError, 'group: 4 of a head')])
def test_refused_roundings(how, error, message):
    with pytest.raises(error, match=message):
        ht.CacheRounding(**how)


def test_refused():
    k = plain(2, 1, 4, 16)
    with pytest.raises(ValueError, match='window: 48 is no multiple of the 32 tokens of a group of keys'):
        ht.KVCache(window=48, **KIVI)
    cache = ht.KVCache('affine(2)')
    with pytest.raises(ValueError, match='keys: a tensor of batch, heads, tokens and channels'):
        cache.update(k[0], k[0])
    with pytest.raises(TypeError, match='values'):
        cache.update(k, [1])
    with pytest.raises(TypeError, match='keys: .*torch.float64'):
        cache.update(k.double(), k.double())
    with pytest.raises(ValueError, match='values: shape'):
        cache.update(k, plain(2, 1, 5, 16))
    cache.update(k, k)
    for other in (plain(3, 1, 4, 16), plain(2, 1, 4, 8), k.to(torch.bfloat16)):
        with pytest.raises(ValueError, match='keys: .*behind'):
            cache.update(other, other)
    assert cache.length() == 4
    with pytest.raises(ValueError, match='group: 16 channels are no whole groups of 6'):
        ht.KVCache(ht.CacheRounding('affine(2)', group=6)).update(k, k)
    with pytest.raises(ValueError, match='x: 4 tokens are no whole groups of 32'):
        KIVI['keys'](k)


def test_transformers():
    """A small Llama generates with it; token by token its cache has what the layers gave, rounded."""
    transformers = pytest.importorskip('transformers', reason='transformers is not installed')
    config = transformers.LlamaConfig(hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                                      num_key_value_heads=2, vocab_size=50)
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    tokens = torch.arange(40).view(1, -1) % 50
    how = dict(max_new_tokens=12, do_sample=False, pad_token_id=0)
    plainly = model.generate(tokens, **how)
    exact = ht.KVCache('keep')
    assert torch.equal(model.generate(tokens, past_key_values=exact.for_transformers(), **how), plainly)
    assert exact.length(0) == exact.length(1) == 51
    cache, other = ht.KVCache(window=32, **KIVI), transformers.DynamicCache()
    with torch.no_grad():
        first = model(tokens, past_key_values=cache.for_transformers(), use_cache=True).logits
        model(tokens, past_key_values=other, use_cache=True)
    same(cache.layers[0][0].rounded, KIVI['keys'](other.layers[0].keys[..., :32, :]))
    same(cache.layers[0][1].rounded, KIVI['values'](other.layers[0].values[..., :8, :]))
    assert not torch.equal(first, model(tokens).logits)
    beams = ht.KVCache('float8_e4m3fn')
    assert model.generate(tokens, past_key_values=beams.for_transformers(), num_beams=3, **how).shape == (1, 52)
    with pytest.raises(ValueError, match='cannot be taken back'):
        adapter = ht.KVCache('keep').for_transformers()
        adapter.update(plain(3, 2, 1, 32), plain(3, 2, 1, 32), 0)
        adapter.crop(-1)


def test_without_transformers(monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, 'transformers.cache_utils', None)
    monkeypatch.delitem(sys.modules, 'halfulp.torch.cache.of_transformers', raising=False)
    with pytest.raises(ImportError, match='for_transformers'):
        module.KVCache('keep').for_transformers()
