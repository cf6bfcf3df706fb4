# SPDX-License-Identifier: MIT
"""Optimizers and loss scales: their formulas written out with torch's own bfloat16, torch's own optimizers, saved
states."""
import copy
import pickle

from torch_support import ht, plain, pytest, same, torch  # first: it skips where there is no torch

import halfulp.torch._records as records  # isort: skip


def q(x):
    """One binary32 step rounded to bfloat16."""
    return x.bfloat16().float()


def number(x):
    return q(torch.tensor(x, dtype=torch.float32))


def parameters(seed=0, grid=q):
    made = [torch.nn.Parameter(grid(plain(*shape, seed=seed + i))) for i, shape in enumerate(((4, 5), (7,)))]
    return made


def gradients(params, step):
    for i, p in enumerate(params):
        p.grad = plain(*p.shape, seed=100 * step + i)


def test_sgd_step_by_step():
    params = parameters()
    w, m = [p.detach().clone() for p in params], [torch.zeros_like(p) for p in params]
    optimizer = ht.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.01, state='bfloat16')
    for step in range(5):
        gradients(params, step)
        optimizer.step()
        for i, p in enumerate(params):
            g = q(p.grad + q(number(0.01) * w[i]))
            m[i] = q(q(number(0.9) * m[i]) + g)
            w[i] = q(w[i] - q(number(0.1) * m[i]))
            same(p.detach(), w[i])
    assert optimizer.moved == 5 * 27 and 0 <= optimizer.lost < optimizer.moved


def test_small_updates_get_lost_or_not():
    """Steps of 2^-10 of a weight: to nearest bfloat16 nothing moves, stochastically and with Kahan's sum it does."""
    ends = {}
    for name, more in (('nearest', {}), ('stochastic', dict(weight='bfloat16,sra:16', key=1)),
                       ('kahan', dict(update='kahan'))):
        p = torch.nn.Parameter(torch.ones(1000))
        optimizer = ht.SGD([p], lr=2.0 ** -10, momentum=0, state='bfloat16', **more)
        for _ in range(64):
            p.grad = torch.ones(1000)
            optimizer.step()
        ends[name] = float(p.detach().mean()), optimizer.lost
    assert ends['nearest'] == (1.0, 64000)
    assert abs(ends['stochastic'][0] - (1 - 1 / 16)) < 0.002 and ends['stochastic'][1] > 0
    assert ends['kahan'][0] == 1 - 1 / 16


def test_stochastic_words_and_state():
    """Parameter j draws from child j of the key, at 2^36 times the step; a saved state continues as if nothing had
    happened."""
    params = parameters()
    optimizer = ht.SGD(params, lr=0.1, momentum=0, weight='bfloat16,sra:16', key=42)
    twin_params = [torch.nn.Parameter(p.detach().clone()) for p in params]
    twin = ht.SGD(twin_params, lr=0.1, momentum=0, weight='bfloat16,sra:16', key=0)
    for step in range(4):
        before = [p.detach().clone() for p in params]
        gradients(params, step)
        optimizer.step()
        for j, p in enumerate(params):
            u = torch.tensor(0.1) * p.grad
            same(p.detach(), ht.quantize(before[j] - u, 'bfloat16,sra:16', stream=(records.child(42, j), step << 36)))
        if step == 1:
            twin.load_state_dict(copy.deepcopy(optimizer.state_dict()))
            for a, b in zip(twin_params, params):
                a.data.copy_(b.data)
        elif step > 1:
            gradients(twin_params, step)
            twin.step()
            for a, b in zip(twin_params, params):
                same(a.detach(), b.detach())


@pytest.mark.parametrize('mine, theirs', [
    (lambda p: ht.AdamW(p, lr=0.01, weight_decay=0.1), lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1)),
    (lambda p: ht.AdamW(p, lr=0.01, weight_decay=0.1, coupled=True),
     lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1)),
    (lambda p: ht.SGD(p, lr=0.01, weight_decay=0.1),
     lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=0.1)),
    (lambda p: ht.Rounded(torch.optim.AdamW(p, lr=0.01)), lambda p: torch.optim.AdamW(p, lr=0.01)),
])
def test_in_binary32_as_torchs(mine, theirs):
    a, b = parameters(), parameters()
    one, two = mine(a), theirs(b)
    schedule = torch.optim.lr_scheduler.StepLR(one, 2, 0.5), torch.optim.lr_scheduler.StepLR(two, 2, 0.5)
    for step in range(6):
        for params, optimizer, scheduler in ((a, one, schedule[0]), (b, two, schedule[1])):
            optimizer.zero_grad()
            gradients(params, step)
            optimizer.step()
            scheduler.step()
    for x, y in zip(a, b):
        assert torch.allclose(x, y, atol=1e-6)


def test_rounded():
    """Gradient, master, weight and state, step by step."""
    params = parameters(grid=lambda x: x)
    start = [p.detach().clone() for p in params]
    optimizer = ht.Rounded(torch.optim.SGD(params, lr=0.1, momentum=0.9), weight='float8_e4m3fn',
                           gradient='float8_e5m2', state='bfloat16', master='binary16,sra:8', key=5)
    child = [[records.child(5, 16 * j + part) for part in range(4)] for j in range(2)]
    w = [ht.quantize(x, 'binary16,sra:8', stream=(child[j][1], 0)) for j, x in enumerate(start)]
    m = [torch.zeros_like(x) for x in start]
    for step in range(1, 4):
        gradients(params, step)
        raw = [p.grad.clone() for p in params]
        optimizer.step()
        for j, p in enumerate(params):
            g = ht.quantize(raw[j], 'float8_e5m2')
            m[j] = 0.9 * m[j] + g if step > 1 else g.clone()
            w[j] = ht.quantize(w[j].add(m[j], alpha=-0.1), 'binary16,sra:8', stream=(child[j][1], step << 36))
            m[j] = q(m[j])
            same(optimizer.masters[p], w[j])
            same(p.detach(), ht.quantize(w[j], 'float8_e4m3fn'))
            same(optimizer.state[p]['momentum_buffer'], m[j])
    other_params = parameters(seed=50)
    other = ht.Rounded(torch.optim.SGD(other_params, lr=0.3, momentum=0.9), weight='float8_e4m3fn',
                       gradient='float8_e5m2', state='bfloat16', master='binary16,sra:8')
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for pair, chosen in ((params, optimizer), (other_params, other)):
        gradients(pair, 9)
        chosen.step()
    for a, b in zip(params, other_params):
        same(a.detach(), b.detach())
    assert "Rounded(SGD" in repr(optimizer) and "master='binary16,sra:8'" in repr(optimizer)


def test_rounded_kahan():
    p = torch.nn.Parameter(torch.ones(8))
    optimizer = ht.Rounded(torch.optim.SGD([p], lr=2.0 ** -10), weight='bfloat16', update='kahan')
    for _ in range(64):
        p.grad = torch.ones(8)
        optimizer.step()
    assert torch.equal(p.detach(), torch.full((8,), 1 - 1 / 16))


def test_optimizer_errors():
    with pytest.raises(TypeError, match='parameters on the CPU or a CUDA device are required, not torch.bfloat16'):
        ht.SGD([torch.nn.Parameter(torch.ones(3).bfloat16())])
    with pytest.raises(ValueError, match='weight: .mxfp4. is not a format'):
        ht.AdamW(parameters(), weight='mxfp4')
    with pytest.raises(ValueError, match='update: .none. is not one of round, kahan'):
        ht.Rounded(torch.optim.SGD(parameters(), lr=1), update='none')
    with pytest.raises(ValueError, match='HU_E_TRAIN'):
        ht.AdamW(parameters(), betas=(0.9, 0.999), state='float8_e4m3fn')


BLOCKS_256 = 'scaled(float8_e4m3fn;scale=binary32;block=1x256;rule=ratio;steps=divide;amin=0x2b8cbccc)'
FP8_LM = ('scaled(float8_e4m3fn;scale=binary32;block=*x*;rule=ratio)',
          'scaled(binary16;scale=binary32;block=*x*;rule=ratio)')


def stepped_beside(storing, plain_one, store, steps=4, shape=(64, 96)):
    """Steps of an optimizer with stored moments, and of one without whose moments `store` replaces after each."""
    a, b = (torch.nn.Parameter(plain(*shape)) for _ in range(2))
    one, two = storing([a]), plain_one([b])
    for step in range(steps):
        a.grad = plain(*shape, seed=step + 1) * 2.0 ** (step - 2)
        b.grad = a.grad.clone()
        one.step()
        two.step()
        same(a.detach(), b.detach())
        for place, name in enumerate('mv'):
            if name in two.state[b]:
                x = two.state[b][name]
                x.copy_(store(x.view(1, -1), place).view_as(x))
                same(one.state[a][name], x)
    return one


@pytest.mark.parametrize('state, stored', [
    ('mxfp8_e4m3', ('mxfp8_e4m3', 'mxfp8_e4m3')), (('mxfp8_e4m3', 'mxfp8_e5m2'), ('mxfp8_e4m3', 'mxfp8_e5m2')),
    (FP8_LM, FP8_LM), (('keep', BLOCKS_256), ('keep', BLOCKS_256))])
def test_stored_moments(state, stored):
    """A step, then all numbers as one row through the storage; (5, 77) numbers end within a block."""
    for shape in ((64, 96), (5, 77)):
        one = stepped_beside(lambda p: ht.AdamW(p, lr=0.01, state=state), lambda p: ht.AdamW(p, lr=0.01),
                             lambda row, place: ht.quantize(row, stored[place]), shape=shape)
    assert "operators 'binary32'" in repr(one)
    stepped_beside(lambda p: ht.SGD(p, lr=0.01, state=stored[0]), lambda p: ht.SGD(p, lr=0.01),
                   lambda row, place: ht.quantize(row, stored[0]))
    stepped_beside(lambda p: ht.AdamW(p, lr=0.01, betas=(0.9, 0.95), state=state, operators='bfloat16'),
                   lambda p: ht.AdamW(p, lr=0.01, betas=(0.9, 0.95), state='bfloat16'),
                   lambda row, place: ht.quantize(row, stored[place]))


def test_stored_moments_as_torchaos():
    """The state of torchao's FP8 optimizers, bit for bit: codes and scales for 256 numbers."""
    fp8 = pytest.importorskip('torchao.optim.subclass_fp8')

    def theirs(row, place):
        return fp8.OptimStateFp8(*fp8.quantize_fp8(row.clone(), 256)).dequantize()
    one = stepped_beside(lambda p: ht.AdamW(p, lr=0.01, state=BLOCKS_256), lambda p: ht.AdamW(p, lr=0.01), theirs)
    assert one.state_bits == 64 * 96 * (32 + 2 * 8) + 2 * 24 * 32


def test_stored_moments_draw_words():
    """Children 3 and 4 of the parameter's stream; a saved state continues with the same bits."""
    p = torch.nn.Parameter(plain(40, 30))
    optimizer = ht.AdamW([p], lr=0.01, state=('mxfp8_e4m3,sra:8', 'bfloat16,sra:16'), key=42)
    twin = torch.nn.Parameter(p.detach().clone())
    without = ht.AdamW([twin], lr=0.01)
    for step in range(3):
        p.grad = plain(40, 30, seed=step)
        twin.grad = p.grad.clone()
        optimizer.step()
        without.step()
        same(p.detach(), twin.detach())
        key = records.child(42, 0)
        for name, text, use in (('m', 'mxfp8_e4m3,sra:8', 3), ('v', 'bfloat16,sra:16', 4)):
            x = without.state[twin][name]
            x.copy_(ht.quantize(x.view(1, -1), text, stream=(records.child(key, use), step << 36)).view_as(x))
            same(optimizer.state[p][name], x)
    other = torch.nn.Parameter(p.detach().clone())
    again = ht.AdamW([other], lr=0.01, state=('mxfp8_e4m3,sra:8', 'bfloat16,sra:16'))
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for x, one in ((p, optimizer), (other, again)):
        x.grad = plain(40, 30, seed=9)
        one.step()
    same(p.detach(), other.detach())
    same(optimizer.state[p]['v'], again.state[other]['v'])


def test_stored_moments_errors():
    for make, error, words in [
            (lambda: ht.SGD(parameters(), state=('mxfp8_e4m3', 'keep')), TypeError, 'state: SGD has one moment'),
            (lambda: ht.AdamW(parameters(), state=('mxfp8_e4m3',)), (TypeError, ValueError), 'state: '),
            (lambda: ht.AdamW(parameters(), state='mxfp9'), ValueError, 'mxfp9'),
            (lambda: ht.AdamW(parameters(), state='dsv3_128x128'), ValueError, 'stored_m: blocks of several rows'),
            (lambda: ht.AdamW(parameters(), state='mxfp8_e4m3', operators='mxfp4'), ValueError, 'mxfp4'),
            (lambda: ht.AdamW(parameters(), state='torch.float8_e4m3fn', operators='binary32'), ValueError,
             'conversion of another program'),
            (lambda: ht.SGD(parameters(), momentum=0, state='mxfp8_e4m3'), ValueError,
             'stored_m: this optimizer has no such moment')]:
        with pytest.raises(error, match=words):
            make()


def test_muon_beside_torchs():
    """torch.optim.Muon within the roundings of bfloat16: 0.024 of the largest update was measured in the first step."""
    shapes = (16, 16), (24, 10), (10, 24)
    a, b = ([torch.nn.Parameter(plain(*shape, seed=i)) for i, shape in enumerate(shapes)] for _ in range(2))
    mine = ht.Muon(a, lr=0.5, weight_decay=0.1, momentum=0.95)
    theirs = torch.optim.Muon(b, lr=0.5, weight_decay=0.1, momentum=0.95, adjust_lr_fn='original')
    for step in range(3):
        for i, (p, q) in enumerate(zip(a, b)):
            p.grad = plain(*p.shape, seed=10 * step + i) * 0.01
            q.grad = p.grad.clone()
        before = [p.detach().clone() for p in a]
        mine.step()
        theirs.step()
        for p, q, old in zip(a, b, before):
            assert (p - q).abs().max() < 0.04 * (p - old).abs().max() * (step + 1)
            assert (p - old).norm() > 0.3 * 0.5 * min(p.shape) ** 0.5


def newton_schulz(d, iterations=5):
    """Exact to float64: what roundings are compared with."""
    x = d.double()
    x = x / (x.norm() + 1e-7)
    x = x.t() if d.shape[0] > d.shape[1] else x
    for _ in range(iterations):
        square = x @ x.t()
        x = 3.4445 * x + (-4.775 * square + 2.0315 * square @ square) @ x
    return x.t() if d.shape[0] > d.shape[1] else x


@pytest.mark.parametrize('product, accum, size', [
    ('binary32', 'fp32', 1e-5), ('binary16', 'fp32', 0.02), ('bfloat16', 'fp32', 0.15),
    ('bfloat16', 'seq(bfloat16)', 0.3)])
def test_muon_within_roundings(product, accum, size):
    """Each format within some units of its last place, and not closer than that."""
    for shape, factor in (((20, 12), (20 / 12) ** 0.5), ((6, 2, 3, 2), 1.0), ((9, 9), 1.0)):
        p = torch.nn.Parameter(torch.zeros(shape))
        optimizer = ht.Muon([p], lr=1.0, momentum=0.0, product=product, accum=accum)
        p.grad = plain(*shape)
        optimizer.step()
        exact = -factor * newton_schulz(p.grad.reshape(shape[0], -1)).reshape(shape)
        off = float((p.detach().double() - exact).abs().max())
        assert size / 1000 < off < size, off


def test_muon_goes_on():
    """Groups, a schedule, a stored momentum with words, saved and loaded."""
    p, w = torch.nn.Parameter(plain(8, 40)), torch.nn.Parameter(plain(40, 8))
    groups = [{'params': [p]}, {'params': [w], 'lr': 0.1, 'nesterov': False, 'momentum': 0.5}]
    optimizer = ht.Muon(groups, lr=0.02, state='mxfp8_e4m3,sra:8', weight='bfloat16,sra:16', key=3)
    for step in range(2):
        for x in (p, w):
            x.grad = plain(*x.shape, seed=step)
        optimizer.step()
    assert 1270 < optimizer.moved <= 2 * 640 and optimizer.state_bits == 640 * (16 + 8) + 20 * 8
    twins = [torch.nn.Parameter(x.detach().clone()) for x in (p, w)]
    again = ht.Muon([{'params': [twins[0]]}, {'params': [twins[1]], 'lr': 0.5}], state='mxfp8_e4m3,sra:8',
                    weight='bfloat16,sra:16')
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for params, one in (((p, w), optimizer), (twins, again)):
        for x in params:
            x.grad = plain(*x.shape, seed=7)
        one.step()
    for x, y in zip((p, w), twins):
        same(x.detach(), y.detach())


def test_muon_errors():
    matrix = [torch.nn.Parameter(torch.ones(2, 3))]
    for make, error, words in [
            (lambda: ht.Muon(parameters()), ValueError, r'shape \(7,\) is not a matrix: give it to AdamW'),
            (lambda: ht.Muon([torch.nn.Parameter(torch.ones(2, 3, device='meta'))]), TypeError, 'parameters on the CPU'),
            (lambda: ht.Muon(matrix, iterations=65), ValueError, 'iterations: 65 is not 0 to 64'),
            (lambda: ht.Muon(matrix, aspect='none'), ValueError, 'aspect: '),
            (lambda: ht.Muon(matrix, product='mxfp4'), ValueError, 'mxfp4'),
            (lambda: ht.Muon(matrix, accum='nv.hopper.e4m3.f32.wgmma'), ValueError, 'accum: does not take operands'),
            (lambda: ht.Muon(matrix, accum='seq(bfloat16,sra:8)'), ValueError, 'accum: rounds stochastically'),
            (lambda: ht.Muon(matrix, state=('mxfp8_e4m3', 'keep')), TypeError, 'state: Muon has one moment')]:
        with pytest.raises(error, match=words):
            make()


@pytest.mark.parametrize('make', [
    lambda p: ht.Muon([p[0]], lr=0.1, product='binary16', iterations=3, state='mxfp8_e4m3,sra:8', key=2),
    lambda p: ht.AdamW(p, lr=0.1, state=('mxfp8_e4m3,sra:8', 'mxfp8_e5m2'), key=7),
    lambda p: ht.SGD(p, lr=0.1, weight='bfloat16,sra:16', key=3),
    lambda p: ht.AdamW(p, lr=0.1, betas=(0.9, 0.95), state='bfloat16', update='kahan'),
    lambda p: ht.Rounded(torch.optim.SGD(p, lr=0.1, momentum=0.9), weight='float8_e4m3fn', state='bfloat16',
                         master='binary16,sra:8', key=5),
])
def test_copies_and_pickles(make):
    """An optimizer copied with its parameters continues as the original does."""
    params = parameters()
    optimizer = make(params)
    gradients(params, 0)
    optimizer.step()
    pairs = [copy.deepcopy((params, optimizer)), pickle.loads(pickle.dumps((params, optimizer)))]
    gradients(params, 1)
    optimizer.step()
    for others, twin in pairs:
        assert repr(twin) == repr(optimizer) and twin.param_groups[0]['params'][0] is others[0]
        gradients(others, 1)
        twin.step()
        for a, b in zip(params, others):
            assert a is not b
            same(a.detach(), b.detach())


@pytest.mark.parametrize('make', [lambda p: ht.SGD(p, lr=0.1), lambda p: ht.AdamW(p),
                                  lambda p: ht.Rounded(torch.optim.SGD(p, lr=0.1), weight='bfloat16', master='keep')])
def test_stale_graphs_raise(make):
    p = torch.nn.Parameter(torch.ones(3))
    optimizer = make([p])
    loss = p.square().sum()
    p.grad = torch.ones(3)
    optimizer.step()
    with pytest.raises(RuntimeError, match='modified by an inplace operation'):
        loss.backward()


def test_groups_added_later():
    optimizer = ht.SGD(parameters(), state='bfloat16')
    late = torch.nn.Parameter(plain(5))
    optimizer.add_param_group({'params': [late], 'lr': 0.5})
    same(late.detach(), q(plain(5)))
    for wrong, error in (({'params': [torch.nn.Parameter(torch.ones(2).half())]}, TypeError),
                         ({'params': [torch.nn.Parameter(torch.ones(2))], 'lr': float('nan')}, ValueError)):
        with pytest.raises(error):
            optimizer.add_param_group(wrong)
    assert len(optimizer.param_groups) == 2


def test_first_weights_keep_the_policies():
    """To nearest, whatever the mode, and saturated as the text says."""
    x = torch.tensor([1.0, 1.07, 1e6])
    for mode in ('sra:8,sat=none', 'sat=none,sra:8', 'rtz,sat=none'):
        p = torch.nn.Parameter(x.clone())
        ht.SGD([p], weight='float8_e4m3fn,' + mode)
        same(p.detach(), ht.quantize(x, 'float8_e4m3fn,sat=none'))
        assert p[2].isnan() and p[1] == 1.125


@pytest.mark.parametrize('name, change, error', [
    ('m', lambda x: x[:1], ValueError), ('v', lambda x: x.double(), TypeError), ('c', lambda x: None, ValueError),
    ('m', lambda x: x.t().contiguous().t(), TypeError), ('v', lambda x: x.to('meta'), TypeError)])
def test_state_of_another_parameter(name, change, error):
    p = torch.nn.Parameter(torch.ones(4, 5))
    optimizer = ht.AdamW([p], betas=(0.9, 0.95), state='bfloat16', update='kahan')
    p.grad = torch.ones(4, 5)
    optimizer.step()
    optimizer.state[p][name] = change(optimizer.state[p][name])
    with pytest.raises(error, match='AdamW: the state .{}.'.format(name)):
        optimizer.step()


def test_loss_scale_by_default():
    mine = ht.LossScaler()
    assert mine.rule == 'gradscaler' and mine.factor == torch.amp.GradScaler('cpu').get_scale() == 65536


def test_loss_scale_as_torchs():
    """The rule gradscaler against torch.amp.GradScaler over steps of which some overflow."""
    p, r = (torch.nn.Parameter(torch.ones(4)) for _ in range(2))
    mine = ht.LossScaler('gradscaler(init_scale=1024,growth_interval=3)')
    theirs = torch.amp.GradScaler('cpu', init_scale=1024.0, growth_interval=3)
    one, two = torch.optim.SGD([p], lr=0.1), torch.optim.SGD([r], lr=0.1)
    skipped = 0
    for step in range(40):
        bad = step % 7 == 5
        for x, optimizer in ((p, one), (r, two)):
            optimizer.zero_grad()
            scaler = mine if x is p else theirs
            loss = (x * (float('inf') if bad else 0.5)).sum()
            scaler.scale(loss).backward()
            taken = scaler.step(optimizer)
            if x is p:
                skipped += not taken
            else:
                scaler.update()
        assert mine.factor == theirs.get_scale()
        same(p.detach(), r.detach())
    assert mine.skipped == skipped == 5
    twin = copy.deepcopy(mine)
    other = ht.LossScaler(mine.rule)
    other.load_state_dict(mine.state_dict())
    assert twin.state_dict() == other.state_dict() == mine.state_dict() and '5 of 40 steps skipped' in repr(mine)
    with pytest.raises(ValueError, match='the state is of the rule'):
        ht.LossScaler('static(8)').load_state_dict(mine.state_dict())


def test_unscale():
    g = plain(5, 4)
    for x in (g.clone(), g.clone().t().contiguous().t(), g.bfloat16()):
        given = x.clone()
        scaler = ht.LossScaler('static(3)')
        scaler.unscale_([x])
        same(x, (given.float() * (torch.tensor(1.0) / 3)).to(x.dtype))
        with pytest.raises(RuntimeError, match='have been unscaled'):
            scaler.unscale_([x])


class Reads(torch.utils._python_dispatch.TorchDispatchMode):
    """Counts the numbers that are read out of tensors one by one, for each of which a device would be waited for."""

    def __init__(self):
        super().__init__()
        self.read = 0

    def __torch_dispatch__(self, call, types, given=(), named=None):
        self.read += call is torch.ops.aten._local_scalar_dense.default
        return call(*given, **(named or {}))


@pytest.mark.parametrize('bad', [None, float('nan'), float('-inf')])
def test_unscale_waits_once(bad):
    """What is found in all tensors is read together: reads do not grow with their number. As many tensors as one
    find the same."""
    whole = plain(60, seed=3).bfloat16()
    if bad is not None:
        whole[37] = bad
    found, reads = [], []
    for parts in (1, 12):
        scaler, count = ht.LossScaler('static(3)'), Reads()
        given = [x.clone() for x in whole.chunk(parts)] + [torch.empty(0, dtype=torch.float16)]
        with count:
            scaler.unscale_(given)
        reads.append(count.read)
        found.append((scaler._found.amax, scaler._found.bad))
    unscaled = (whole.float() * (torch.tensor(1.0) / 3)).bfloat16().float()
    assert found == [(unscaled[unscaled.isfinite()].abs().max().item(), int(bad is not None))] * 2
    assert reads[0] == reads[1] <= 1


def test_constants_that_vanish():
    """A number that the format of the state makes 0, or from below 1 makes 1, is refused with what works."""
    def weights():
        return [torch.nn.Parameter(torch.ones(3))]
    for make, words in [
            (lambda **more: ht.AdamW(weights(), state='binary16', **more),
                r'eps: .* 1e-08 is 0 there; the smallest above 0 is 2\^-24'),
            (lambda **more: ht.AdamW(weights(), state='bfloat16', **more),
                'beta2: .* 0.999 is 1 there; .* is 0.99609375'),
            (lambda **more: ht.SGD(weights(), lr=1e-9, state='binary16', **more),
                r'rate: .* 1e-09 is 0 there; .* 2\^-24'),
            (lambda **more: ht.SGD(weights(), momentum=0.9999, state='bfloat16', **more),
                'momentum: .* is 0.99609375'),
            (lambda **more: ht.SGD(weights(), weight_decay=1e-9, state='binary16', **more), r'decay: .* 2\^-24')]:
        for more in ({}, {'weight': 'bfloat16,sra:16', 'key': 1}):
            with pytest.raises(ValueError, match=words):
                make(**more)
    parameter = weights()[0]
    optimizer = ht.AdamW([parameter], eps=1e-7, state='binary16')
    parameter.grad = torch.zeros(3)
    optimizer.step()  # 0 / 0 is what a vanished eps makes
    assert parameter.tolist() == [1.0, 1.0, 1.0]
    optimizer.param_groups[0]['lr'] = 1e-12  # a schedule may end at a rate of 0
    optimizer.step()
    optimizer.param_groups[0]['eps'] = 1e-12
    with pytest.raises(ValueError, match='eps: .* 1e-12 is 0 there'):
        optimizer.step()
    for rule in ('static(0.0000000000000000000000000000000000000000000000000001)', 'static(-1)', 'static(1e60)'):
        with pytest.raises(ValueError, match='rule: '):
            ht.LossScaler(rule)
