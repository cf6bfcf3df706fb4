# SPDX-License-Identifier: MIT
"""Unit scaling (docs/training/networks.md): against NumPy, and the deviations of all tensors before the first step."""
import functools
import os
import pathlib

import numpy as np
import pytest

from halfulp.train import Net, Trainer

DATA = pathlib.Path(os.environ.get('HALFULP_SOURCE', pathlib.Path(__file__).resolve().parents[2])) / 'data'
RULE = 'scaling unit\n'
DENSE = '''key units = 16
key f = tanh
x = input(1, data.width)
for i in 1 to 3
  x = f(linear(x, units))
end
output linear(x, data.outputs)
'''
# What a transformer has, except for attention; steps see each other by their positions alone.
TOKENS = '''key units = 16
x = position(embedding(input(data.steps, 1), data.vocabulary, units))
for i in 1 to 2
  scope block{i}
    x = add(x, linear(silu(linear(layer_norm(x), 2 * units)), units))
  end
end
output linear(rms_norm(x), data.vocabulary)
'''


# ---- the page in binary64 ----

def integral(f):
    """The mean of f(x) over normal x, by the middles of intervals, which end at 0, where relu has its kink."""
    x = (np.arange(12000) + 0.5) / 1000
    return ((f(x) + f(-x)) * phi(x)).sum() / 1000


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def phi(x):
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def normal_below(x):
    """The distribution of a normal number, by a sum: Abramowitz and Stegun 26.2.11."""
    term = total = np.asarray(x, np.float64)
    for n in range(3, 400, 2):
        term = term * x * x / n
        total = total + term
    return np.where(np.abs(x) > 9, x > 0, 0.5 + phi(np.clip(x, -9, 9)) * np.where(np.abs(x) > 9, 0, total))


FUNCTIONS = {
    'relu': (lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, 1.0, 0.0)),
    'gelu': (lambda x: x * normal_below(x), lambda x: normal_below(x) + x * phi(x)),
    'silu': (lambda x: x * sigmoid(x), lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
    'tanh': (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    'sigmoid': (sigmoid, lambda x: sigmoid(x) * (1 - sigmoid(x))),
}


@functools.lru_cache(maxsize=None)
def factor(name):
    """Of a function: 1 / sqrt(deviation of f(x) times root of the mean of f'(x)^2), x normal."""
    f, slope = FUNCTIONS[name]
    with np.errstate(over='ignore', invalid='ignore'):
        variance = integral(lambda x: f(x) ** 2) - integral(f) ** 2
        return (variance * integral(lambda x: slope(x) ** 2)) ** -0.25


class Tape:
    """Values and gradients of the page's formulas. Each step back takes the gradient of a result."""

    def __init__(self, parameters, samples):
        self.parameters = {name: x.astype(np.float64) for name, x in parameters.items()}
        self.samples, self.steps, self.gradients = samples, [], {}

    def add_gradient(self, name, gradient, weights):
        self.gradients[name] = weights / np.sqrt(self.samples) * gradient

    def linear(self, name, x, ends=False, first=False):
        w, b = self.parameters[name + '.weight'], self.parameters[name + '.bias']
        both = (w.shape[0] * w.shape[1]) ** -0.25
        forward, backward = (w.shape[0] ** -0.5, w.shape[1] ** -0.5) if ends or first else (both, both)
        weights = (len(x) / self.samples) ** -0.5

        def back(dz):
            self.add_gradient(name + '.weight', x.T @ dz, weights)
            self.add_gradient(name + '.bias', dz.sum(0, keepdims=True), weights)
            return backward * (dz @ w.T)
        return forward * (x @ w) + b, back

    def function(self, name, x):
        f, slope = FUNCTIONS[name]
        return factor(name) * f(x), lambda dz: factor(name) * dz * slope(x)

    def norm(self, name, x, mean):
        gain = self.parameters[name + '.gain']
        u = x - x.mean(1, keepdims=True) if mean else x
        root = np.sqrt((u * u).mean(1, keepdims=True) + 1e-5)
        xh, weights = u / root, (len(x) / self.samples) ** -0.5

        def back(dz):
            self.add_gradient(name + '.gain', (dz * xh).sum(0, keepdims=True), weights)
            if mean:
                self.add_gradient(name + '.offset', dz.sum(0, keepdims=True), weights)
            du = dz * gain
            dx = du - xh * (du * xh).mean(1, keepdims=True)
            return (dx - du.mean(1, keepdims=True) if mean else dx) / root
        return xh * gain + (self.parameters[name + '.offset'] if mean else 0), back


def entropy(logits, labels, samples):
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    at = np.arange(len(labels)), labels
    loss = -np.log(p[at]).mean()
    p[at] -= 1
    columns = logits.shape[1]
    return loss, p * columns / np.sqrt(columns - 1)


def dense_reference(parameters, x, labels, function):
    tape, backs = Tape(parameters, len(x)), []
    x = x.astype(np.float64)
    for i in (1, 2, 3, 4):
        x, back = tape.linear('linear{}'.format(i), x, ends=i == 4, first=i == 1)
        backs.append(back)
        if i < 4:
            x, back = tape.function(function, x)
            backs.append(back)
    loss, dz = entropy(x, labels, len(x))
    for back in reversed(backs):
        dz = back(dz)
    return loss, tape.gradients


def tokens_reference(parameters, tokens, labels):
    samples, steps = tokens.shape
    tape, half = Tape(parameters, samples), 0.5 ** 0.5
    table, offsets = tape.parameters['embedding1.weight'], tape.parameters['position1.weight']
    x = half * (table[tokens.ravel()] + np.tile(offsets, (samples, 1)))
    blocks = []
    for i in (1, 2):
        scope, backs, h = 'block{}.'.format(i), [], x
        for make in (lambda h: tape.norm(scope + 'layer_norm1', h, True), lambda h: tape.linear(scope + 'linear1', h),
                     lambda h: tape.function('silu', h), lambda h: tape.linear(scope + 'linear2', h)):
            h, back = make(h)
            backs.append(back)
        x = half * (x + h)
        blocks.append(backs)
    h, norm_back = tape.norm('rms_norm1', x, False)
    logits, last_back = tape.linear('linear1', h, ends=True)
    loss, dz = entropy(logits, labels.ravel(), samples)
    dz = norm_back(last_back(dz))
    for backs in reversed(blocks):
        dz = half * dz
        dh = dz
        for back in reversed(backs):
            dh = back(dh)
        dz = dz + dh
    dz = half * dz
    tape.add_gradient('position1.weight', dz.reshape(samples, steps, -1).sum(0), 2 ** 0.5)
    rows = np.zeros_like(table)
    np.add.at(rows, tokens.ravel(), dz)
    tape.add_gradient('embedding1.weight', rows, (len(table) / steps) ** 0.5)
    return loss, tape.gradients


def compare(net, loss, expected, gradients):
    assert abs(loss - expected) < 1e-5 * expected
    found = net.gradients()
    assert sorted(found) == sorted(gradients)
    for name, gradient in found.items():
        np.testing.assert_allclose(gradient, gradients[name], rtol=2e-4, atol=2e-5, err_msg=name)


def dense(random, text, samples=128, width=32, **more):
    net = Net(text, batch=samples, width=width, outputs=10, seed=3, **more)
    x, y = random.normal(size=(samples, width)).astype(np.float32), random.integers(0, 10, samples)
    loss = net.forward(x, y)
    net.backward()
    return net, x, y, loss


def tokens(random, text, samples=32, steps=8, kinds=40, **more):
    net = Net(text, batch=samples, steps=steps, vocabulary=kinds, seed=3, **more)
    x, y = random.integers(0, kinds, (samples, steps)), random.integers(0, kinds, (samples, steps))
    loss = net.forward(x, y)
    net.backward()
    return net, x, y, loss


@pytest.mark.parametrize('function', sorted(FUNCTIONS))
def test_dense_against_numpy(function, random):
    net, x, y, loss = dense(random, RULE + DENSE.replace('f = tanh', 'f = ' + function), samples=24)
    compare(net, loss, *dense_reference(net.parameters(), x, y, function))


def test_tokens_against_numpy(random):
    net, x, y, loss = tokens(random, RULE + TOKENS, samples=6)
    compare(net, loss, *tokens_reference(net.parameters(), x, y))


# ---- deviations before the first step ----

def deviations(net):
    """Of all values and their gradients, without inputs, the loss, and what has its factor in the next value alone; and
    of the gradients of parameters."""
    found = {}
    for name, following in zip(net.value_names, net.value_names[1:]):
        if name.endswith('.input'):
            continue
        tensor = net.tensor(name)
        if not following.endswith('.scale'):
            found[name], found['d' + name] = tensor.numbers.std(), tensor.gradient.std()
    found.update(('d' + name, x.std()) for name, x in net.gradients().items())
    return found


@pytest.mark.parametrize('make,text,units', [(make, text, units) for make, text in ((dense, DENSE), (tokens, TOKENS))
                                             for units in (32, 64, 256)])
def test_deviations_are_near_1(make, text, units, random):
    keys = 'units={}'.format(units)
    found = deviations(make(random, RULE + text, keys=keys)[0])
    assert not {name: x for name, x in found.items() if not 0.5 <= x <= 2}
    without = deviations(make(random, text, keys=keys)[0])
    assert sum(not 0.5 <= x <= 2 for x in without.values()) > len(without) / 2


# ---- the text with its factors ----

@pytest.mark.parametrize('make,text,has', [
    (dense, DENSE, ('v1 = linear(v0, 16, start=normal(1), forward=0.17677669529663687, weights=1)  # 16',
                    'v3 = scale(v2, 1.528695867359469)', 'output v10 times 3.3333333333333335  # 10')),
    (tokens, TOKENS, ('v1 = embedding(v0, 40, 16, start=normal(1), weights=2.23606797749979)',
                      'v5 = linear(v4, 32, start=normal(1), forward=0.21022410381342865, backward=0.21022410381342865, '
                      'weights=0.35355339059327373)'))])
def test_description_is_the_same_network(make, text, has, random):
    state = random.bit_generator.state
    net, _, _, loss = make(random, RULE + text)
    described = net.describe()
    for line in has:
        assert line in described
    random.bit_generator.state = state
    again, _, _, same = make(random, described)
    assert (again.describe(), same, again.digest) == (described, loss, net.digest)
    for name, gradient in net.gradients().items():
        assert gradient.tobytes() == again.gradients()[name].tobytes()


def test_factors_by_hand(random):
    """A text's own factors stay, and the others are those of the rule."""
    text = RULE + 'x = input(1, 8)\noutput linear(x, 4, start=normal(0.5), forward=0.25, weights=3) times 2\n'
    described = Net(text, batch=4).describe()
    assert 'linear(v0, 4, start=normal(0.5), forward=0.25, weights=3)' in described and 'output v1 times 2' in described
    text = RULE + 'x = dropout(tanh(linear(input(1, 8), 8)), 0.5)\noutput linear(x, 4)\n'
    assert 'scale(v4, 0.7071067811865476)' in Net(text, batch=4).describe()


@pytest.mark.parametrize('quartet', [0, 1])
def test_factors_of_products(quartet, random):
    """Powers of two, in products as they are and in those of Quartet: all bits are those without factors."""
    text = 'x = linear(input(1, 64), 32, bias=0, start=normal(1){})\noutput linear(x, 32, bias=0, start=normal(1){})\n'
    x, y, nets = random.normal(size=(32, 64)).astype(np.float32), random.integers(0, 32, 32), []
    for first, second in (('', ''), (', forward=0.125', ''), (', weights=2', ', backward=0.25')):
        net = Net(text.format(first, second), batch=32, seed=5)
        net.round_products(quartet=quartet)
        net.forward(x, y)
        net.backward()
        nets.append(net)
    plain, forward, backward = nets
    assert np.array_equal(forward.tensor('1.linear').numbers, plain.tensor('1.linear').numbers / 8)
    assert np.array_equal(backward.tensor('1.linear').gradient, plain.tensor('1.linear').gradient / 4)
    weight = 'linear1.weight'
    scaled = plain.gradients()[weight] / 4 * np.float32(2 / np.sqrt(32))
    if not quartet:
        assert np.array_equal(backward.gradients()[weight], scaled)


# ---- 8-bit formats without a loss scale ----

EIGHT = {'data.set': 'digits', 'model.net': 'mlp(layers=2,units=64,activation=tanh)', 'run.epochs': 6, 'run.batch': 64,
         'run.seed': 1, 'optimizer.kind': 'sgd', 'optimizer.rate': 0.02, 'loss.scale': 'none',
         'precision.values': 'float8_e4m3fn', 'precision.gradients': 'float8_e4m3fn', 'precision.w': 'float8_e4m3fn'}


def test_float8_without_a_loss_scale():
    """Values, gradients and weights of products in E4M3: with the rule the digits are learned; without it a large
    part of the gradients becomes 0."""
    runs = {}
    for scaling in ('unit', 'none'):
        runs[scaling] = run = Trainer(dict(EIGHT, **{'model.scaling': scaling}), folder=DATA)
        run.run()
        name = next(name for name in run.net.value_names if name.endswith('.tanh'))
        counts = run.net.tensor(name).backward
        runs[scaling] = run.evaluate().accuracy, counts.to_zero / counts.elements
    assert runs['unit'][0] > 0.9 and runs['none'][0] < 0.8, runs
    assert runs['unit'][1] < 0.05 and runs['none'][1] > 0.25, runs


def test_shards():
    """Samples are those of all shards: the same gradients, except for roundings, and so the same weights."""
    weights = []
    for shards in (1, 4):
        run = Trainer({'data.set': 'digits', 'model.scaling': 'unit', 'run.steps': 3, 'run.batch': 64,
                       'parallel.shards': shards, 'optimizer.rate': 0.1}, folder=DATA)
        before = {name: run.net.tensor(name).numbers for name in run.net.parameter_names}
        run.run()
        weights.append({name: run.net.tensor(name).numbers - before[name] for name in before})
    for name, moved in weights[0].items():
        np.testing.assert_allclose(weights[1][name], moved, rtol=1e-3, atol=1e-4, err_msg=name)
        assert np.abs(moved).max() > 0.1, name


# ---- what is refused ----

@pytest.mark.parametrize('lines,says', [
    ('x = image(8, 8, 1)\nx = conv(x, 4, 3)\noutput linear(x, 10)', 'line 3: conv: scaling unit has no rule for this'),
    ('x = input(8, 8)\nx = attention(x, 2)\noutput linear(x, 10)', 'line 3: attention: scaling unit has no rule'),
    ('x = input(1, 8)\noutput linear(silu(x, 2), 10)', 'line 3: silu: beta: the rule of scaling unit is for 1'),
    ('x = input(1, 8)\nh = linear(x, 8)\noutput linear(h, 8, share=h)', 'line 4: linear: share: scaling unit has no'),
    ('x = input(1, 8)\nh = linear(x, 8)\noutput h, 0.5\noutput h', 'line 4: output: scaling unit has no rule for a'),
    ('x = input(1, 8)\noutput linear(x, 1)', 'line 3: output: scaling unit has no rule for one column'),
])
def test_no_rule(lines, says):
    with pytest.raises(ValueError, match=says):
        Net(RULE + lines + '\n', batch=4)


@pytest.mark.parametrize('lines,says', [
    ('scaling none\nx = input(1, 8)', "line 1, from 'none' on"),
    ('x = input(1, 8)\nscaling unit', 'line 2: scaling: there is a layer before it'),
    ('x = linear(input(1, 8), 8, forward=0)', 'line 1: linear: forward: the factor is not from 2\\^-60 to 2\\^60'),
    ('x = linear(input(1, 8), 8, weights=0)', 'line 1: weights: the factor is not above 0 and at most 2\\^60'),
    ('x = linear(input(1, 8), 8)\nx = linear(x, 8, share=x, weights=1)', 'line 2: weights: the parameters are those'),
])
def test_wrong_factors(lines, says):
    with pytest.raises(ValueError, match=says):
        Net(lines + '\noutput linear(x, 10)\n', batch=4)


def test_networks_with_a_name():
    with pytest.raises(ValueError, match='model.net: conv, line 9: conv: scaling unit has no rule for this layer'):
        Trainer({'data.set': 'digits', 'model.net': 'conv', 'model.scaling': 'unit'}, folder=DATA).step()
    with pytest.raises(ValueError, match='model.scaling'):
        Trainer({'model.scaling': 'half'})


def test_other_losses():
    with pytest.raises(ValueError, match='factor of gradients is for cross entropy alone'):
        Net(RULE + 'output linear(input(1, 8), 4)\n', batch=4, loss='squared_error')
    with pytest.raises(ValueError, match='output: times: the factor is not above 0'):
        Net('output linear(input(1, 8), 4) times 0\n', batch=4)
