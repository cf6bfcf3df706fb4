# SPDX-License-Identifier: MIT
"""Assignments of precision: the algorithms of Lee et al. written out once more, and the same roundings placed by hand."""
from fractions import Fraction

from torch_support import bits, ht, numbers, plain, pytest, same, torch  # first: it skips where there is no torch

import halfulp
import halfulp.torch._records as records  # isort: skip
from halfulp.train import Assignment, Layout
from torch import nn

LOW, LOW_BACK = 'fp(4,3,4):finite,nan=keep', 'fp(5,2,0):finite,over=inf,nan=keep'
HIGH, HIGH_BACK = 'fp(6,9,0):finite,nan=keep', 'fp(6,9,0):finite,over=inf,nan=keep'


# ---- the paper's algorithms, directly ----

def by_operators(values, thetas, products, prime):
    """The paper's op and op': all products except for the first and the last."""
    m = len(thetas)
    v, dv, theta, dtheta = [0] * (m + 1), [0] * (m + 1), [0] * m, [0] * m
    for i in [i for i in range(m) if products[i]][1:-1]:
        v[i] = theta[i] = dv[i + 1] = 1
        if prime:
            v[i + 1] = dv[i] = dtheta[i] = 1
    return v, dv, theta, dtheta


def demoted(values, thetas, products, ratio, rank):
    """Algorithm 1: groups up to each product, and the rest; those of least rank first until the ratio is reached."""
    m = len(thetas)
    groups, now = [], []
    for i in range(m):
        now.append(i)
        if products[i]:
            groups.append(now)
            now = []
    groups.append(now + [m])

    def size(group):
        return sum(2 * values[i] + (2 * thetas[i] if i < m else 0) for i in group)
    total, done = 2 * (sum(values) + sum(thetas)), 0
    v, theta = [0] * (m + 1), [0] * m
    for place in sorted(range(len(groups)), key=lambda place: (rank(size(groups[place]), place), place)):
        if Fraction(done, total) >= ratio:
            break
        done += size(groups[place])
        for i in groups[place]:
            v[i] = 1
            if i < m:
                theta[i] = 1
    return v, list(v), theta, list(theta)


def chain(seed):
    """A random sequence of layers, its sample, and its layout written by hand: sizes of values and parameters."""
    draw = torch.Generator().manual_seed(seed)

    def upto(n):
        return int(torch.randint(1, n + 1, (), generator=draw))
    width, rows = upto(40), 4
    layers, values, thetas, products = [], [rows * width], [], []
    x = plain(rows, width, seed=seed)
    for _ in range(upto(9) + 3):
        kind = upto(5)
        if kind <= 3:
            wide = upto(40)
            layers.append(nn.Linear(width, wide, bias=kind != 3))
            thetas.append(width * wide + (wide if kind != 3 else 0))
            width = wide
        elif kind == 4:
            layers.append(nn.ReLU(inplace=bool(upto(2) - 1)))
            thetas.append(0)
        else:
            layers.append(nn.BatchNorm1d(width))
            thetas.append(2 * width)
        products.append(kind <= 3)
        values.append(rows * width)
    return nn.Sequential(*layers), x, values, thetas, products


def arrays(a):
    return tuple(getattr(a, name).tolist() for name in ('v', 'dv', 'theta', 'dtheta'))


# Chains of layers; the long run has more of them.
FEW = [0, 1, 2, *(pytest.param(i, marks=pytest.mark.long) for i in range(3, 8))]


@pytest.mark.parametrize('seed', FEW)
@pytest.mark.parametrize('kept', ['high', 'rule'])
def test_rules(seed, kept):
    model, x, values, thetas, products = chain(seed)
    layout = Layout(values, thetas, products)
    wanted = {'high': [[0] * (len(thetas) + 1 - k // 2) for k in range(4)],
              'uniform': [[1] * (len(thetas) + 1 - k // 2) for k in range(4)],
              'op': by_operators(values, thetas, products, False), "op'": by_operators(values, thetas, products, True)}
    for rule, expected in wanted.items():
        plan = ht.assign(model, rule, sample=x, parameter_gradients=kept)
        v, dv, theta, dtheta = expected
        assert arrays(plan.assignment) == (v, dv, theta, dtheta if kept == 'rule' else [0] * len(thetas))
        name = {'op': 'operator', "op'": 'operator_prime'}.get(rule, rule)
        own = Assignment(layout, name, keep_parameter_gradients=kept == 'high')
        assert arrays(own) == arrays(plan.assignment) and Fraction(*own.ratio) == Fraction(*plan.assignment.ratio)
        plan.remove()


@pytest.mark.parametrize('seed', [0, *(pytest.param(i, marks=pytest.mark.long) for i in range(1, 8))])
def test_demotion(seed):
    model, x, values, thetas, products = chain(seed)
    words = halfulp.Stream(records.child(77, 7 << 32)).words(64).tolist()
    ranks = {'largest': lambda size, place: -size, 'smallest': lambda size, place: size,
             'random': lambda size, place: words[place]}
    for order, rank in ranks.items():
        for ratio in (0, '0.2', Fraction(1, 3), 0.5, (7, 10), 1):
            exact = Fraction(*ratio) if isinstance(ratio, tuple) else Fraction(str(ratio))
            plan = ht.assign(model, 'demote', ratio=ratio, order=order, sample=x, key=77)
            v, dv, theta, dtheta = demoted(values, thetas, products, exact, rank)
            assert arrays(plan.assignment) == (v, dv, theta, [0] * len(thetas))
            own = Assignment(Layout(values, thetas, products), 'demote', ratio=(exact.numerator, exact.denominator),
                             order=order, stream=halfulp.Stream(records.child(77, 7 << 32)))
            assert arrays(own) == arrays(plan.assignment)
            low = sum(n * (a + b) for n, a, b in zip(values, v, dv)) + sum(n * a for n, a in zip(thetas, theta))
            assert plan.ratio == float(Fraction(low, 2 * (sum(values) + sum(thetas))))
            plan.remove()


# ---- roundings in their places ----

def q(x, low, low_back, stream=None, forward=(HIGH, LOW), backward=(HIGH_BACK, LOW_BACK)):
    return ht.quantize(x, forward[low], backward=backward[low_back], stream=stream)


def perceptron():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 5))


def by_hand(model, x, labels, v, dv, theta, dtheta):
    """The perceptron with its loss, every tensor rounded by calls of ht.quantize."""
    z = q(x, v[0], dv[0])
    for i, layer in enumerate(model):
        if isinstance(layer, nn.Linear):
            z = nn.functional.linear(z, q(layer.weight, theta[i], dtheta[i]), q(layer.bias, theta[i], dtheta[i]))
        else:
            z = torch.relu(z)
        z = q(z, v[i + 1], dv[i + 1])
    return z, q(nn.functional.cross_entropy(z, labels), v[6], dv[6])


@pytest.mark.parametrize('how', [dict(rule='uniform'), dict(rule='op'), dict(rule="op'", parameter_gradients='rule'),
                                 dict(rule='demote', ratio='0.4'), dict(rule='high')], ids=str)
def test_roundings_in_their_places(how):
    """Values, loss and gradients have the bits of roundings placed by hand, with numbers beyond the low formats."""
    model, x, labels = perceptron(), numbers(8, 12, spread=8.0), torch.arange(8) % 5
    x[~x.isfinite()] = 40.0
    plan = ht.assign(model, sample=x, loss=True, **how)
    made = []
    for run in range(2):
        model.zero_grad()
        if run == 0:
            z = model(x)
            loss = plan.loss(nn.functional.cross_entropy(z, labels))
            plan.remove()
        else:
            z, loss = by_hand(model, x, labels, *arrays(plan.assignment))
        (1024 * loss).backward()
        made.append([z.detach(), loss.detach()] + [p.grad.clone() for p in model.parameters()])
    for a, b in zip(*made):
        same(a, b)
    with torch.no_grad():
        same(model(x), nn.Sequential(*model)(x))  # nothing is rounded after remove()
        assert not torch.equal(bits(model(x)), bits(made[0][0]))


def test_random_words():
    """Value k and parameter n draw from their children of the key (docs/training/training.md, section 4), at 2^36 times the
    number of the pass."""
    model, x = nn.Sequential(nn.Linear(12, 9, bias=False), nn.ReLU()), plain(8, 12)
    text = 'float8_e4m3fn,sra:8'
    plan = ht.assign(model, 'uniform', sample=x, low=text, low_gradients=text, parameter_gradients='rule', key=9)

    def own(kind, number, t):
        return records.child(9, (kind << 32) + number), t << 36
    for t in range(3):
        model.zero_grad()
        y = model(x)
        y.backward(plain(8, 9, seed=t))
        w = model[0].weight.detach()
        values = [ht.quantize(x, text, stream=own(0, 0, t))]
        values.append(ht.quantize(values[0] @ ht.quantize(w, text, stream=own(2, 0, t)).t(), text,
                                  stream=own(0, 1, t)))
        values.append(ht.quantize(values[1].relu(), text, stream=own(0, 2, t)))
        same(y.detach(), values[2])
        g = ht.quantize(plain(8, 9, seed=t), text, stream=own(1, 2, t))
        g = ht.quantize(torch.where(values[1] > 0, g, 0.0), text, stream=own(1, 1, t))
        same(model[0].weight.grad, ht.quantize(g.t() @ values[0], text, stream=own(3, 0, t)))


# ---- promotion ----

def overs(x, largest=30.0):
    return int(((x.abs() > largest) & x.isfinite()).sum())


def test_promotion():
    """Algorithm 2, step by step, beside a plain count; a promoted tensor is high from the next pass on."""
    model, x = perceptron(), plain(8, 12)
    plan = ht.assign(model, 'uniform', sample=x, promote='0.05')
    v, theta = [1] * 6, [1] * 5
    low, promoted, seen = 0, [], 0
    for step in range(12):
        with torch.no_grad():
            for p in model.parameters():
                p.mul_(1.6)
        total = Fraction(*plan.assignment.ratio)
        tensors = [20.0 * x]
        z = q(tensors[0], v[0], 1)
        over_theta = []
        for i, layer in enumerate(model):
            over_theta.append(sum(overs(p) for p in layer.parameters()))
            if theta[i] == 0:
                over_theta[i] = 0
            z = torch.relu(z) if i % 2 else nn.functional.linear(z, *(q(p, theta[i], 1) for p in layer.parameters()))
            tensors.append(z.detach())
            z = q(z, v[i + 1], 1)
        same(model(20.0 * x).detach(), z.detach())
        names = plan.step()
        wanted = []
        for k, t in enumerate(tensors):
            if v[k] and Fraction(overs(t), t.numel()) > Fraction(1, 20):
                v[k] = 0
                wanted.append(plan.rows[k].name)
        for i, layer in enumerate(model):
            n = sum(p.numel() for p in layer.parameters())
            if n and theta[i] and Fraction(over_theta[i], n) > Fraction(1, 20):
                theta[i] = 0
                wanted.append('{}:parameters'.format(i))
        assert names == wanted and arrays(plan.assignment)[0] == v and arrays(plan.assignment)[2] == theta
        low, promoted, seen = low + total, promoted + names, seen + 1
        assert plan.promoted == len(promoted) and plan.mean_ratio == pytest.approx(float(low / seen), abs=1e-15)
    assert {'input', '0', '4'} <= set(promoted) and any(name.endswith(':parameters') for name in promoted)


@pytest.mark.parametrize('promote, theirs', [(None, None), ('none', None), ('paper', None), (0.02, '0.02'), (0, '0')])
def test_promotion_as_halfulp_train(promote, theirs):
    """The share of several passes of several sizes, at and around the limit, and the same in halfulp.train."""
    model = nn.Sequential(nn.Identity(), nn.ReLU())
    plan = ht.assign(model, 'uniform', sample=torch.zeros(50, 4), promote=promote)
    for over in (0, 8, 9, 9):  # of 400 elements; 0.02 of them are 8
        x = torch.full((100, 4), 30.0)
        x.view(-1)[:over] = 31.0
        x.view(-1)[-1] = float('inf')  # it is not finite and does not count
        model(x[:60])
        model(x[60:])
        with torch.no_grad():
            model(x + 100)
        own = Assignment(Layout([400, 400], [0], [False]), 'uniform')
        if theirs is not None:
            own.v[:] = plan.assignment.v
            own.promote([over, 0 if own.v[0] else over + 1], [0], theirs)  # infinity is a large number there
        plan.step()
        if theirs is not None:
            assert plan.assignment.v.tolist() == own.v.tolist()
    assert plan.assignment.v.tolist() == ([1, 1] if theirs is None else [0, 0])
    plan.remove()
    of_demote = ht.assign(model, 'demote', sample=torch.zeros(50, 4))
    model(torch.full((100, 4), 31.0))
    assert of_demote.limit == (1, 100) and of_demote.step() == ['input'] and of_demote.ratio == 0.75


def test_ratios_of_the_paper_network():
    """The network of docs/training/experiments.md, assignment-promotion, has the ratios that halfulp experiment prints."""
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    for rule, more, ratio in (('uniform', {}, 0.916), ('demote', {'ratio': 1}, 0.916),
                              ('demote', {'ratio': 0.5}, 0.453), ('op', {}, 0.259), ("op'", {}, 0.453),
                              ('high', {}, 0)):
        plan = ht.assign(model, rule, sample=torch.zeros(50, 8), loss=True, **more)
        assert round(plan.ratio, 3) == ratio
        plan.remove()


# ---- what the authors' code does ----

class Sum(nn.Module):
    def forward(self, x, y):
        return x + y


class Branches(nn.Module):
    """A value with three readers, of which one stands in a module inside; a shortcut's product."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.first, self.relu = nn.Linear(12, 16), nn.ReLU()
        self.main = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 8))
        self.short, self.other = nn.Linear(16, 8), nn.Linear(16, 8)
        self.sum, self.sums, self.last = Sum(), Sum(), nn.Linear(8, 5)

    def forward(self, x):
        y = self.relu(self.first(x))
        return self.last(self.sums(self.sum(self.main(y), self.short(y)), self.other(y)))


# Values: input 0, first 1, relu 2, main.0 3, main.1 4, main.2 5, short 6, sum 7, other 8, sums 9, last 10, loss 11.
BRANCHES = [(0, True), (1, False), (2, True), (3, False), (4, True), (2, True), (5, False), (2, True), (7, False), (9, True),
            (10, False)]  # of each operator: what it reads first, and whether it is a product


def published_by_hand(model, x, labels, a):
    """Values are rounded forward; what a reader gives back is rounded alone."""
    v, dv, theta, dtheta = a
    done = []

    def keep(z):
        done.append(ht.quantize(z, (HIGH, LOW)[v[len(done)]]))

    def read(k):
        return ht.quantize(done[k], backward=(HIGH_BACK, LOW_BACK)[dv[k]])

    def product(layer, k):
        i = len(done) - 1
        keep(nn.functional.linear(read(k), q(layer.weight, theta[i], dtheta[i]), q(layer.bias, theta[i], dtheta[i])))
    keep(x)
    product(model.first, 0)
    keep(torch.relu(read(1)))
    product(model.main[0], 2)
    keep(torch.relu(read(3)))
    product(model.main[2], 4)
    product(model.short, 2)
    keep(read(5) + read(6))
    product(model.other, 2)
    keep(read(7) + read(8))
    product(model.last, 9)
    z = read(10)
    keep(nn.functional.cross_entropy(z, labels))
    return z, done[11]


@pytest.mark.parametrize('how', [dict(rule='uniform'), dict(rule='demote', ratio='0.4'), dict(rule='op'), dict(rule="op'")], ids=str)
def test_published_gradients(how):
    model, x, labels = Branches(), numbers(8, 12, spread=8.0), torch.arange(8) % 5
    x[~x.isfinite()] = 40.0
    made = []
    for reading in 'published', 'by hand', 'operators':
        model.zero_grad()
        if reading == 'by hand':
            z, loss = published_by_hand(model, x, labels, published)
        else:
            plan = ht.assign(model, sample=x, loss=True, reading=reading, **how)
            z = model(x)
            loss = plan.loss(nn.functional.cross_entropy(z, labels))
            plan.remove()
            published = arrays(plan.assignment) if reading == 'published' else published
        (1000 * loss).backward()
        made.append([z.detach(), loss.detach()] + [p.grad.clone() for p in model.parameters()])
    for a, b in zip(*made[:2]):
        same(a, b)
    assert any(not torch.equal(bits(a), bits(b)) for a, b in zip(made[1], made[2]))


def test_published_groups():
    """Parameters are in the group of the value that they are multiplied by; the loss counts twice."""
    model, x = Branches(), plain(8, 12)
    values = [96, 128, 128, 128, 128, 64, 64, 64, 64, 64, 40, 40 + 8]
    thetas = [208, 0, 272, 0, 136, 136, 0, 136, 0, 45, 0]
    groups, now = [], []
    for k in range(12):
        now.append(k)
        if k == 11 or BRANCHES[k][1]:
            groups.append(now)
            now = []

    def size(group):
        own = sum(n for n, (reads, _) in zip(thetas, BRANCHES) if reads in group)
        return 2 * (sum(values[k] for k in group) + own)
    total = 2 * (sum(values) + sum(thetas))
    assert sum(map(size, groups)) == total
    for ratio in ('0.2', '0.5', '0.8', '1'):
        plan = ht.assign(model, 'demote', ratio=ratio, sample=x, loss=True, reading='published', parameter_gradients='rule')
        low, done = set(), 0
        for place in sorted(range(len(groups)), key=lambda place: (-size(groups[place]), place)):
            if Fraction(done, total) >= Fraction(ratio):
                break
            done += size(groups[place])
            low.update(groups[place])
        v, dv, theta, _ = arrays(plan.assignment)
        assert v == dv == [int(k in low) for k in range(12)] and plan.ratio == float(Fraction(done, total))
        assert [t for t, n in zip(theta, thetas) if n] == [int(reads in low) for n, (reads, _) in zip(thetas, BRANCHES) if n]
        plan.remove()


def test_published_shuffles_and_limit():
    """A shuffle's result is what it shuffled; a tensor is promoted at the limit, and not below it."""
    model = nn.Sequential(nn.Conv2d(4, 4, 1), nn.ChannelShuffle(2), nn.ReLU())
    x = plain(3, 4, 2, 2)
    plan = ht.assign(model, 'uniform', sample=x, reading='published')
    assert [t.name for t in plan.tensors if t.kind == 'value'] == ['input', '0', '2']
    model(x).backward(plain(3, 4, 2, 2, seed=2))
    w = model[0].weight
    z = ht.quantize(nn.functional.conv2d(ht.quantize(x, LOW), ht.quantize(w, LOW), ht.quantize(model[0].bias, LOW)), LOW)
    g = ht.quantize(plain(3, 4, 2, 2, seed=2), LOW_BACK)
    g = ht.quantize(torch.where(nn.functional.channel_shuffle(z, 2) > 0, g, 0.0), LOW_BACK)
    g = g.view(3, 2, 2, 2, 2).transpose(1, 2).reshape(3, 4, 2, 2)  # back to where the channels were
    grad = torch.nn.grad.conv2d_weight(ht.quantize(x, LOW), w.shape, g)
    same(w.grad, ht.quantize(grad, HIGH_BACK))
    plan.remove()
    for reading, over, names in (('operators', 2, []), ('published', 2, ['input']), ('published', 1, []), ('operators', 3, ['input'])):
        identity = nn.Sequential(nn.ReLU())
        plan = ht.assign(identity, 'uniform', sample=torch.zeros(50, 4), promote='0.01', reading=reading)
        one = torch.zeros(50, 4)
        one.view(-1)[:over] = 31.0
        identity(one)
        promoted = plan.step()
        assert promoted == names, (reading, over)
        plan.remove()
    with pytest.raises(ValueError, match='reading'):
        ht.assign(model, 'uniform', sample=x, reading='code')
