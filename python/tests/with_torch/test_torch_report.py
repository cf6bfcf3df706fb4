# SPDX-License-Identifier: MIT
"""The report of a precision: rows, shares, ratios, events; as text, JSON and a page."""
import html
import json
import math
import xml.etree.ElementTree as tree

from torch_support import ht, plain, pytest, torch  # first: it leaves the tests out where there is no PyTorch

from torch import nn

RECIPE = ht.Recipe(x='float8_e4m3fn', w='mxfp4', g='float8_e5m2', out='bfloat16', dx='float8_e5m2')


def decibels(before, after):
    return 10 * math.log10(before.double().square().sum() / (before - after).double().square().sum())


def one(report, part):
    row, = [row for row in report.rows if row['part'] == part and row['in'] == 'halfulp']
    return row


def test_rows():
    x, w = plain(6, 64).requires_grad_(), plain(64, 5, seed=1).requires_grad_()
    g = plain(6, 5, seed=2)
    with ht.precision(RECIPE, count=True, measure=True) as p:
        z = x @ w
        dx, dw = torch.autograd.grad(z, (x, w), g)
    report = p.report()
    assert [row['part'] for row in report.rows] == ['forward', 'dX', 'dW'] and report.share == 1
    a, b = ht.quantize(x, 'float8_e4m3fn').detach(), ht.quantize(w.t(), 'mxfp4').t().detach()
    row = one(report, 'forward')
    assert (row['a'], row['b'], row['sum'], row['out']) == ('float8_e4m3fn', 'mxfp4', 'fp32', 'bfloat16')
    assert row['multiply_adds'] == 6 * 64 * 5 and row['calls'] == 1 and row['shapes'] == [[6, 64], [64, 5]]
    plainly = ht.matmul(x, w).detach()
    for name, pair in (('a', (x.detach(), a)), ('b', (w.detach(), b)), ('out', (plainly, z.detach()))):
        assert row['sqnr_' + name] == pytest.approx(decibels(*pair), abs=1e-6)
    _, events = ht.quantize_with_events(x.detach(), 'float8_e4m3fn')
    assert row['events_a'] == {name: n for name, n in zip(ht.EVENTS, events.tolist()) if n}
    row = one(report, 'dX')
    assert (row['a'], row['b'], row['out']) == ('float8_e5m2', 'mxfp4', 'float8_e5m2')
    assert row['sqnr_a'] == pytest.approx(decibels(g, ht.quantize(g, 'float8_e5m2')), abs=1e-6)
    assert row['sqnr_b'] == pytest.approx(decibels(w.detach(), ht.quantize(w.detach(), 'mxfp4')), abs=1e-6)
    assert row['sqnr_out'] == pytest.approx(decibels(ht.matmul(g, w.detach().t()), dx), abs=1e-6)
    row = one(report, 'dW')
    assert row['sqnr_a'] == pytest.approx(decibels(x.detach(), a), abs=1e-6)
    assert row['sqnr_out'] == pytest.approx(decibels(ht.matmul(x.detach().t(), g), dw), abs=1e-6)


@pytest.mark.parametrize('kind', [nn.Conv2d, nn.ConvTranspose2d])
def test_rows_of_images(kind):
    """Ratios of an image's product: pixels and weights as the operator rounds them; measuring changes no bit."""
    torch.manual_seed(1)
    module, x = kind(32, 8, 3, bias=False), plain(2, 32, 6, 7).requires_grad_()
    with ht.precision(RECIPE, count=True, measure=True) as p:
        z = module(x)
        measured = [z.detach(), *torch.autograd.grad(z.sum(), (x, module.weight))]
    with ht.precision(RECIPE):
        z = module(x)
        for a, b in zip(measured, [z.detach(), *torch.autograd.grad(z.sum(), (x, module.weight))]):
            assert torch.equal(a, b)
    rows = p.report().rows
    assert [row['part'] for row in rows] == ['forward', 'dX', 'dW']
    pixels = x.detach().movedim(1, -1).reshape(-1, 32)
    assert rows[0]['sqnr_a'] == pytest.approx(decibels(pixels, ht.quantize(pixels, 'float8_e4m3fn')), abs=1e-6)
    with ht.precision(ht.Recipe()):
        reference = module(x).detach()
    assert rows[0]['sqnr_out'] == pytest.approx(decibels(reference, measured[0]), abs=1e-6)
    assert all(row['sqnr_a'] > 5 and row['sqnr_b'] > 5 for row in rows) and rows[1]['sqnr_a'] == math.inf  # ones
    assert rows[0]['events_b']['inexact'] > 0 and rows[2]['events_a']['inexact'] > 0


def test_what_is_torchs():
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8, bias=False))
    with ht.precision('bfloat16', skip='1') as p:
        model(plain(2, 8)).sum().backward()
        torch.arange(4).view(2, 2) @ torch.arange(2)
        plain(2, 3).double() @ plain(3, 2).double()
    report = p.report()
    low, left = 2 * 128, 3 * 128
    assert report.work('halfulp') == low and report.work('torch') == left + 12
    assert report.share == low / (low + left + 12)
    assert {row['why'] for row in report.left} == {'the recipe leaves it', 'integers', 'float64 tensors'}
    assert report.headline() == ('{:.1f} % of 652 multiply-adds under a recipe; in torch: {:.1f} % (the recipe leaves it), '
                                 '{:.1f} % (float64 tensors)').format(100 * low / 652, 100 * left / 652, 1200 / 652)
    p.reset()
    assert not p.report().rows and math.isnan(p.report().share) and str(p.report()) == 'no products'


def test_forms(tmp_path):
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))
    with ht.precision(RECIPE, count=True, measure=True) as p:
        for _ in range(3):
            model(plain(2, 8)).sum().backward()
    report = p.report()
    assert all(row['calls'] == 3 for row in report.rows)
    text = str(report)
    assert text.startswith('100.0 % of ') and len(text.splitlines()) == 2 + len(report.rows)
    assert report.text(rows=1).endswith('and {} more rows'.format(len(report.rows) - 1))
    page = json.loads(report.json())
    assert page['share'] == 1 and len(page['rows']) == len(report.rows)
    assert page['multiply_adds'] == {'halfulp': report.work('halfulp'), 'torch': 0}
    made = report.html(str(tmp_path / 'page.html'))
    assert (tmp_path / 'page.html').read_text(encoding='utf-8') == made
    assert made.count('<tr>') == 1 + len(report.rows) and '&lt;' not in made


def test_page():
    """The drawings of the command's report: exponents of each operand, ratios of operands and results, lowest first."""
    net = Net()
    with ht.precision('float8_e4m3fn', measure=True) as p:
        net(plain(6, 8)).square().mean().backward()
    report = p.report()
    page = report.html()
    drawn = [tree.fromstring('<svg' + part.split('</svg>')[0] + '</svg>') for part in page.split('<svg')[1:]]
    assert [one.find('title').text for one in drawn] == 3 * ['Exponents before and after'] + [
        'Signal to quantization noise of operands', 'Signal to quantization noise of results']
    assert all('var(--ink)' in tree.tostring(one, 'unicode') for one in drawn)
    ids = [e.get('id') for one in drawn for e in one.iter() if e.get('id')]
    assert len(ids) == len(set(ids)) == 10
    for one, fields in ((drawn[3], ('a', 'b')), (drawn[4], ('out',))):
        ratios = sorted(row['sqnr_' + field] for row in report.rows for field in fields if row['sqnr_' + field] is not None)
        texts = [e.text for e in one.iter('text') if e.get('text-anchor') == 'start']
        assert texts == ['no error' if n == math.inf else '{:.2f} dB'.format(n) for n in ratios] and len(texts) > 2
    for one, counts in zip(drawn, report._exponents.values()):
        for colour, numbers in zip(('before', 'after'), counts):
            bars = [e.get('d') for e in one.iter('path') if e.get('fill') == 'var(--{})'.format(colour)]
            assert ''.join(bars).count('M') == sum(n > 0 for n in numbers) > 1
    framed = report._repr_html_()
    assert html.unescape(framed.partition('srcdoc="')[2].rpartition('"')[0]) == page
    with ht.precision('float8_e4m3fn') as q:
        net(plain(6, 8))
    assert '<svg' not in q.report().html() and q.report().html().count('<tr>') == 1 + len(q.report().rows)


def test_exponents():
    """How many numbers have each exponent, before and after: zeros first."""
    from halfulp.torch.report.measure import HIGHEST, LOWEST, compared
    x = torch.tensor([0.0, 1.0, 1.5, 3.0, 2.0 ** -140, math.inf, math.nan])
    made = compared(x, ht.quantize(x, 'float4_e2m1fn'))
    places = {i: n for i, n in enumerate(made.before) if n}
    assert len(made.before) == HIGHEST - LOWEST + 2
    assert places == {0: 1, 1 - LOWEST: 2, 2 - LOWEST: 1, 1 - LOWEST - 140: 1}
    assert made.after[0] == 2 and made.signal == 1 + 2.25 + 9 + 4.0 ** -140 and made.noise == 4.0 ** -140


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.a, self.norm, self.b = nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)

    def forward(self, x):
        x = self.norm(self.a(x))
        return self.b(x @ x.t() @ x)


def test_comparisons():
    """Ratios and losses are those of passes by hand; the model is as it was."""
    net, x = Net(), plain(6, 8)
    state, random = {name: t.clone() for name, t in net.state_dict().items()}, torch.get_rng_state()
    recipes = ['float8_e4m3fn', ht.Recipe(x='nvfp4', w='nvfp4'), 'bfloat16,sra:8']
    made = ht.compare_models(net, recipes, x, loss=lambda z: z.square().mean())
    assert all(torch.equal(t, state[name]) for name, t in net.state_dict().items())
    assert torch.equal(random, torch.get_rng_state()) and [row['share'] for row in made.rows] == [1, 1, 1]
    plainly = net(x).detach()
    for recipe, row in zip(recipes[:2], made.rows):
        with ht.precision(recipe):
            z = net(x).detach()
        assert row['sqnr'] == pytest.approx(decibels(plainly, z), abs=1e-6)
        assert row['loss'] == pytest.approx(z.square().mean().item())
        assert row['damage'] == pytest.approx((z.square().mean() - plainly.square().mean()).item(), rel=1e-3, abs=1e-5)
    assert str(made).splitlines()[0].split() == ['recipe', 'share', 'SQNR', 'dB', 'loss', 'damage']
    assert made._repr_html_().count('<tr>') == 4
    with pytest.raises(TypeError, match='model'):
        ht.compare_models(3, recipes, x)


def test_sensitivity():
    net, x = Net(), plain(6, 8)
    made = ht.sensitivity(net, x, ['float4_e2m1fn', 'bfloat16'])
    assert sorted((row['module'], row['recipe']) for row in made.rows) == sorted(
        (name, text) for name in ('a', 'b', '') for text in ('float4_e2m1fn', 'bfloat16'))
    assert [row['damage'] for row in made.rows] == sorted((row['damage'] for row in made.rows), reverse=True)
    assert all(row['loss'] is None for row in made.rows) and made.rows[0]['recipe'] == 'float4_e2m1fn'
    row = next(row for row in made.rows if (row['module'], row['recipe']) == ('b', 'float4_e2m1fn'))
    with ht.precision('float4_e2m1fn', only='b') as p:
        z = net(x).detach()
    assert row['sqnr'] == pytest.approx(decibels(net(x).detach(), z), abs=1e-6)
    assert row['share'] == p.report().share
