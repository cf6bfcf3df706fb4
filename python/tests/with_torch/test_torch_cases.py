# SPDX-License-Identifier: MIT
"""What people's models meet around converted layers: autocast, hooks, padding, checkpoints, averages of weights."""
import io
import warnings

from torch_support import ht, plain, pytest, same, torch  # first: it leaves the tests out where there is no PyTorch

from torch import nn

F8 = 'float8_e4m3fn'


@pytest.mark.parametrize('skip', ['0', '1'])
def test_autocast_beside_plain_layers(skip):
    """Layers take what torch.nn.Linear takes there: bfloat16 from the layer before, and float32 weights."""
    torch.manual_seed(1)
    model, x = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4)), plain(3, 8)
    low = ht.convert(model, F8, skip=[skip])
    with torch.autocast('cpu', dtype=torch.bfloat16):
        got = low(x)
    weights = [(layer.weight.bfloat16(), layer.bias.bfloat16()) for layer in model]
    z = x.bfloat16()
    for i, (w, b) in enumerate(weights):
        z = nn.functional.linear(z, w, b) if str(i) == skip else ht.linear(z, w, b, F8)
    same(got.detach(), z.detach())
    got.float().sum().backward()
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in low.parameters())


def test_hooks_stay():
    """Those of modules and of weights, registered before: each runs as often as in the plain model."""
    def run(convert):
        torch.manual_seed(1)
        model, seen = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Conv1d(3, 2, 1)), []
        for place in (0, 2):
            layer = model[place]
            layer.register_forward_pre_hook(lambda m, args, place=place: seen.append(('before', place)))
            layer.register_forward_hook(lambda m, args, z, place=place: seen.append(('after', place)))
            layer.register_full_backward_hook(lambda m, into, out, place=place: seen.append(('backward', place)))
            layer.register_full_backward_pre_hook(lambda m, out, place=place: seen.append(('to backward', place)))
            layer.weight.register_hook(lambda g, place=place: seen.append(('weight', place)))
            layer.weight.register_post_accumulate_grad_hook(lambda p, place=place: seen.append(('grad', place)))
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            model = convert(model)
        model(plain(2, 3, 4)).sum().backward()
        return seen
    want = run(lambda model: model)
    assert len(want) == 12
    assert run(lambda model: ht.convert(model, F8, inplace=True)) == want
    copied = [one for one in run(lambda model: ht.convert(model, F8)) if one[0] not in ('weight', 'grad')]
    assert copied == [one for one in want if one[0] not in ('weight', 'grad')]


@pytest.mark.parametrize('options', [{'padding': 'valid'}, {'padding': 'same'}, {'padding': 1, 'padding_mode': 'circular'},
                                     {'padding': (2, 1), 'padding_mode': 'reflect'}, {'padding': 'same', 'padding_mode': 'replicate'}],
                         ids=str)
def test_padding(options):
    """Every padding that Conv2d has: the product of the padded image; and the other layers of the model are converted."""
    torch.manual_seed(1)
    model, x = nn.Sequential(nn.Conv2d(2, 3, 3, **options), nn.Flatten(2), nn.LazyLinear(2)), plain(2, 2, 6, 5)
    model(x)
    low = ht.convert(model, F8, strict=True)
    sides = {'valid': (0, 0), 'same': (1, 1), 1: (1, 1), (2, 1): (2, 1)}[options['padding']]
    mode = {'zeros': 'constant'}.get(options.get('padding_mode', 'zeros'), options.get('padding_mode'))
    padded = nn.functional.pad(x, [sides[1], sides[1], sides[0], sides[0]], mode=mode)
    z = ht.conv2d(padded, model[0].weight, model[0].bias, recipe=F8)
    same(low[0](x).detach(), z.detach())
    same(low(x).detach(), ht.linear(z.flatten(2), model[2].weight, model[2].bias, F8).detach())


def test_a_pretrained_state_loads_strictly():
    """A state of the plain model into layers that draw random words, which keep their streams; and a state of theirs back."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 4), nn.Conv2d(1, 1, 1))
    low = ht.convert(nn.Sequential(nn.Linear(4, 4), nn.Conv2d(1, 1, 1)), F8 + ',sra:8', key=7)
    before = [one.stream.clone() for one in low]
    low.load_state_dict(model.state_dict())
    for one, stream, plain_one in zip(low, before, model):
        same(one.stream, stream)
        same(one.weight.detach(), plain_one.weight.detach())
    low[0](plain(2, 4))
    kept = io.BytesIO()
    torch.save(low.state_dict(), kept)
    kept.seek(0)
    other = ht.convert(model, F8 + ',sra:8', key=8)
    other.load_state_dict(torch.load(kept))
    same(other[0](plain(2, 4)).detach(), low[0](plain(2, 4)).detach())


def test_averages_of_weights():
    """AveragedModel with buffers averages keys as numbers, which docs/torch/torch.md says; `seed` and key='torch' mend that."""
    torch.manual_seed(1)
    model, x = nn.Sequential(nn.Linear(4, 4)), plain(2, 4)

    def averaged(key, buffers):
        low = ht.convert(model, F8 + ',sra:8', key=key)
        mean = torch.optim.swa_utils.AveragedModel(low, use_buffers=buffers)
        for _ in range(2):
            low(x)
            mean.update_parameters(low)
        return mean.module
    stream = ht.convert(model, F8 + ',sra:8', key=5)[0].stream
    same(averaged(5, False)[0].stream[:1], stream[:1])
    one, two = averaged(5, True), ht.convert(model, F8 + ',sra:8', key=9)
    for layer in (one[0], two[0]):
        layer.seed(3)
    same(one(x).detach(), two(x).detach())
    one, two = averaged('torch', True), ht.convert(model, F8 + ',sra:8', key='torch')
    results = []
    for made in (one, two):
        torch.manual_seed(6)
        results.append(made(x).detach())
    same(*results)
