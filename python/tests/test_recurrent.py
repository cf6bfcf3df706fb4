# SPDX-License-Identifier: MIT
"""Recurrent layers in both directions, with lengths, projections and states that are carried; row convolutions. What is
defined by other layers is compared with them bit for bit, the rest with binary64."""
import numpy as np
import pytest

import halfulp
from halfulp.train import Net

F = np.float32
STEPS, COLUMNS, BATCH = 5, 3, 4


def net_of(layer, batch=BATCH, steps=STEPS, lengths=False, loss='squared_error', outputs=1, **more):
    """A net of one layer; its output goes through a linear layer."""
    inputs = 'n = input(1, 1)\n' if lengths else ''
    text = 'x = input({}, {})\n{}y = tanh(linear(x, 3))\nh = {}\noutput linear(h, {})\n'.format(steps, COLUMNS, inputs, layer,
                                                                                          outputs)
    return Net(text, batch=batch, loss=loss, seed=3, **more)


def run(net, x, targets, weights=None):
    """Weights are set, a pass is made; values, gradients of values and of parameters."""
    if weights:
        net.load_weights(weights)
    net.forward(x, targets)
    net.backward()
    return net


def drawn(net, random, by=0.5):
    return {name: (by * random.normal(size=w.shape)).astype(F) for name, w in net.parameters().items()}


def value(net, kind, which=-1):
    name = [one for one in net.value_names if one.endswith('.' + kind)][which]
    return net.values()[name], net.value_gradients()[name]


def rows(x, batch=BATCH):
    return x.reshape(batch, -1, x.shape[1])


@pytest.mark.parametrize('cell', ['gru', 'lstm'])
@pytest.mark.parametrize('last', [0, 1])
def test_reverse_is_the_reversed_sequence(random, cell, last):
    plain, reverse = (net_of('{}(y, 4, last={}{})'.format(cell, last, more)) for more in ('', ', reverse=1'))
    x = random.normal(size=(BATCH, STEPS, COLUMNS)).astype(F)
    y = random.normal(size=(BATCH, 1 if last else STEPS, 1)).astype(F)
    weights = drawn(plain, random)
    run(plain, x[:, ::-1], y[:, ::-1], weights)
    run(reverse, x, y, weights)
    assert plain.parameter_names == reverse.parameter_names
    np.testing.assert_array_equal(rows(plain.output)[:, ::-1], rows(reverse.output))
    for place in 0, 1:
        np.testing.assert_array_equal(rows(value(plain, 'tanh', 0)[place])[:, ::-1], rows(value(reverse, 'tanh', 0)[place]))
    for name, gradient in plain.gradients().items():
        if name.startswith(cell):
            np.testing.assert_array_equal(gradient, reverse.gradients()[name], err_msg=name)


@pytest.mark.parametrize('cell', ['gru', 'lstm'])
@pytest.mark.parametrize('last', [0, 1])
@pytest.mark.parametrize('how', ['both', 'sum'])
def test_both_directions(random, cell, last, how):
    """Two layers, side by side or added."""
    one = '{}(y, 4, last={}{})'.format
    two = net_of('{}({}, {})'.format('concat' if how == 'both' else 'add', one(cell, last, ''), one(cell, last, ', reverse=1')))
    net = net_of(one(cell, last, ', {}=1'.format(how)))
    layer = cell + '1.'
    parts = ['weight_x', 'bias_x', 'weight_h', 'bias_h']
    assert [name for name in net.parameter_names if name.startswith(cell)] == [
        layer + word + part for word in ('', 'reverse_') for part in parts]
    weights = drawn(net, random)
    others = {name.replace('1.reverse_', '2.'): w for name, w in weights.items()}
    x = random.normal(size=(BATCH, STEPS, COLUMNS)).astype(F)
    y = random.normal(size=(BATCH, 1 if last else STEPS, 1)).astype(F)
    run(net, x, y, weights)
    run(two, x, y, others)
    assert net.output.tobytes() == two.output.tobytes()
    for name, gradient in net.gradients().items():
        assert gradient.tobytes() == two.gradients()[name.replace('1.reverse_', '2.')].tobytes(), name


@pytest.mark.parametrize('cell', ['gru', 'lstm', 'lstm(projection)'])
@pytest.mark.parametrize('last', [0, 1])
@pytest.mark.parametrize('direction', ['', ', reverse=1', ', both=1', ', sum=1'])
def test_lengths_are_shorter_sequences(random, cell, last, direction):
    """A sample with a length is a sample of so many steps, whatever stands behind them."""
    more = direction + (', projection=2' if 'p' in cell else '')
    layer = '{}(y, 4, last={}{}{}'.format(cell[:4].strip('('), last, more, '{})').format
    net = net_of(layer(', lengths=n'), lengths=True)
    lengths = [5, 2, 1, 3]
    x = random.normal(size=(BATCH, STEPS, COLUMNS)).astype(F)
    y = random.normal(size=(BATCH, 1 if last else STEPS, 1)).astype(F)
    weights = drawn(net, random)
    for sample, length in enumerate(lengths):
        x[sample, length:] = 1e3
    run(net, np.hstack([x.reshape(BATCH, -1), np.array(lengths, F)[:, None]]), y, weights)
    out, into = rows(net.values()[net.value_names[-3]]), rows(value(net, 'tanh', 0)[1])
    sums = {name: 0 for name in weights}
    for sample, length in enumerate(lengths):
        alone = net_of(layer(''), batch=1, steps=length)
        run(alone, x[sample:sample + 1, :length], y[sample:sample + 1, :1 if last else length], weights)
        shown = alone.value_names[-3]
        n = 1 if last else length
        np.testing.assert_array_equal(out[sample, :n], alone.values()[shown])
        assert last or not out[sample, length:].any()
        by = 1 / BATCH if last else length / (BATCH * STEPS)  # the mean is over other rows
        np.testing.assert_allclose(into[sample, :length], alone.value_gradients()['2.tanh'] * by, rtol=2e-5, atol=1e-9)
        assert not into[sample, length:].any()
        for name, one in alone.gradients().items():
            sums[name] = sums[name] + one.astype(float) * by
    for name, gradient in net.gradients().items():
        if name not in ('linear2.bias', 'linear1.weight', 'linear1.bias'):
            np.testing.assert_allclose(gradient, sums[name], rtol=1e-4, atol=1e-7, err_msg=name)


def test_no_lengths_to_speak_of(random):
    """A length that is not below the steps, or a NaN, means all of them; one below 1 means 0."""
    net, plain = net_of('gru(y, 4, lengths=n)', lengths=True), net_of('gru(y, 4)')
    x = random.normal(size=(BATCH, STEPS * COLUMNS)).astype(F)
    y, weights = np.zeros((BATCH, STEPS, 1), F), drawn(plain, random)
    run(plain, x, y, weights)
    run(net, np.hstack([x, np.array([[5], [7], [np.nan], [0.5]], F)]), y, weights)
    all_of, plain_of = rows(value(net, 'within')[0]), rows(value(plain, 'stack')[0])
    np.testing.assert_array_equal(all_of[:3], plain_of[:3])
    assert not all_of[3].any()


def test_projection(random):
    """A projection by the matrix of ones on the diagonal changes nothing; another one is a product behind each step."""
    x, y = random.normal(size=(BATCH, STEPS, COLUMNS)).astype(F), random.normal(size=(BATCH, STEPS, 1)).astype(F)
    plain, projected = net_of('lstm(y, 4)'), net_of('lstm(y, 4, projection=4)')
    weights = drawn(plain, random)
    run(plain, x, y, weights)
    run(projected, x, y, {**weights, 'lstm1.projection': np.eye(4, dtype=F)})
    assert plain.output.tobytes() == projected.output.tobytes()
    for name, gradient in plain.gradients().items():
        np.testing.assert_array_equal(gradient, projected.gradients()[name], err_msg=name)
    net = net_of('lstm(y, 6, projection=2, one_bias=1)')
    assert net.shapes['lstm1.weight_h'] == (2, 24) and net.shapes['lstm1.projection'] == (6, 2)
    assert 'lstm1.bias_h' not in net.parameter_names


@pytest.mark.parametrize('layer, units', [('lstm(y, 3, forget_bias=1, one_bias=1, projection=2)', 3),
                                          ('lstm(y, 3, forget_bias=-0.5, last=1)', 3)])
def test_lstm_in_binary64(random, layer, units):
    """Outputs and gradients against differences of an evaluator of its own."""
    net = net_of(layer, loss='squared_error')
    weights = drawn(net, random)
    x, last = random.normal(size=(BATCH, STEPS, COLUMNS)).astype(F), 'last' in layer
    y = random.normal(size=(BATCH, 1 if last else STEPS, 1)).astype(F)
    bias = -0.5 if last else 1

    def loss(w):
        sigmoid = lambda a: 1 / (1 + np.exp(-a))  # noqa: E731
        h, c, out = np.zeros((BATCH, w['lstm1.weight_h'].shape[0])), np.zeros((BATCH, units)), []
        rows_in = np.tanh(x @ w['linear1.weight'] + w['linear1.bias'])
        for t in range(STEPS):
            s = rows_in[:, t] @ w['lstm1.weight_x'] + w['lstm1.bias_x'] + h @ w['lstm1.weight_h'] + w.get('lstm1.bias_h', 0)
            i, f, o, g = (s[:, k * units:(k + 1) * units] for k in range(4))
            c = sigmoid(f + bias) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c) @ w['lstm1.projection'] if 'lstm1.projection' in w else sigmoid(o) * np.tanh(c)
            out.append(h)
        z = np.stack(out[-1:] if last else out, 1) @ w['linear2.weight'] + w['linear2.bias']
        return ((z - y)**2).sum() / (2 * y.size)

    run(net, x, y, weights)
    exact = {name: w.astype(float) for name, w in weights.items()}
    assert abs(net.forward(x, y) - loss(exact)) < 1e-6
    for name, w in exact.items():
        for at in list(np.ndindex(w.shape))[::3]:
            up, down = ({**exact, name: w.copy()} for _ in range(2))
            up[name][at] += 1e-5
            down[name][at] -= 1e-5
            slope = (loss(up) - loss(down)) / 2e-5
            assert abs(net.gradients()[name][at] - slope) < 1e-5 * (1 + abs(slope)), (name, at)


def test_carried_states(random):
    """Two passes over halves are one over the whole; a third begins with zeros once states are forgotten."""
    x = random.normal(size=(BATCH, 6, COLUMNS)).astype(F)
    for layer in 'lstm(y, 4, projection=3{})', 'lstm(y, 4{})', 'gru(y, 4{})':
        whole, half = net_of(layer.format(''), steps=6), net_of(layer.format(', carried=1'), steps=3)
        weights = drawn(whole, random)
        y = np.zeros((BATCH, 6, 1), F)
        run(whole, x, y, weights)
        seen = []
        for part in x[:, :3], x[:, 3:]:
            run(half, part, y[:, :3], weights)
            seen.append(rows(half.output))
        np.testing.assert_array_equal(np.concatenate(seen, 1), rows(whole.output))
        half.forget_states()
        run(half, x[:, :3], y[:, :3], weights)
        np.testing.assert_array_equal(rows(half.output), seen[0])


@pytest.mark.parametrize('seen, lengths', [(1, None), (3, None), (3, [5, 2, 1, 0]), (9, [5, 4, 3, 2])])
def test_row_convolution(random, seen, lengths):
    """Each row and the seen - 1 behind it, column by column, in order from +0; gradients in binary64."""
    net = net_of('row_convolution(y, {}{})'.format(seen, ', lengths=n' if lengths else ''), lengths=bool(lengths))
    weights = drawn(net, random)
    x, y = random.normal(size=(BATCH, STEPS * COLUMNS)).astype(F), random.normal(size=(BATCH, STEPS, 1)).astype(F)
    run(net, np.hstack([x, np.array(lengths, F)[:, None]]) if lengths else x, y, weights)
    w, (into, d_into) = weights['row_convolution1.weight'], value(net, 'tanh')
    out, d_out = value(net, 'row_convolution')
    into, d_into, out, d_out = (rows(one) for one in (into, d_into, out, d_out))
    expected, d_expected, dw = np.zeros_like(out), np.zeros_like(out), np.zeros(w.shape)
    for sample in range(BATCH):
        end = lengths[sample] if lengths else STEPS
        for t in range(end):
            for k in range(min(seen, end - t)):
                expected[sample, t] += w[k] * into[sample, t + k]
                dw[k] += d_out[sample, t].astype(float) * into[sample, t + k]
        for t in range(end):
            for k in range(min(seen, t + 1)):
                d_expected[sample, t] += w[k] * d_out[sample, t - k]
    assert out.tobytes() == expected.tobytes() and d_into.tobytes() == d_expected.tobytes()
    np.testing.assert_allclose(net.gradients()['row_convolution1.weight'], dw, rtol=1e-5, atol=1e-7)


def test_within(random):
    """Rows behind the end are +0; of an image all pixels of such rows."""
    text = 'x = image(4, 2, 3)\nn = input(1, 1)\noutput within(conv(x, 2, 1), n)\n'
    net = Net(text, batch=2, loss='squared_error')
    x = random.normal(size=(2, 24)).astype(F)
    run(net, np.hstack([x, [[3], [0]]]).astype(F), np.ones((2, 8, 2), F))
    (conv, d_conv), (out, d_out) = value(net, 'conv'), value(net, 'within')
    for before, behind in (conv, out), (d_out, d_conv):
        assert behind[:6].tobytes() == before[:6].tobytes() and not behind[6:].any() and before[6:].any()


@pytest.mark.parametrize('unbiased', [0, 1])
def test_batch_norm_of_valid_steps(random, unbiased):
    """Statistics, results and gradients are those of the rows that samples have, without the others."""
    lengths = [5, 2, 0, 3]
    here = [(sample, t) for sample, length in enumerate(lengths) for t in range(length)]
    layer = 'batch_norm({{}}, unbiased={}{{}})'.format(unbiased).format
    net, plain = (net_of(layer('y', more), lengths=bool(more)) for more in (', lengths=n', ''))
    alone = Net('x = input(1, 3)\ny = tanh(linear(x, 3))\nh = {}\noutput linear(h, 1)\n'.format(layer('y', '')), batch=10,
                loss='squared_error')
    x, y = random.normal(size=(BATCH, STEPS, COLUMNS)).astype(F), random.normal(size=(BATCH, STEPS, 1)).astype(F)
    for sample, length in enumerate(lengths):
        x[sample, length:] = 1e3
    weights = drawn(net, random)
    for training in True, False:
        fed = np.hstack([x.reshape(BATCH, -1), np.array(lengths, F)[:, None]])
        net.load_weights(weights)
        alone.load_weights(weights)
        net.forward(fed, y, training)
        alone.forward(np.stack([x[at] for at in here]), np.stack([y[at] for at in here]), training)
        found = rows(value(net, 'batch_norm')[0])
        assert np.stack([found[at] for at in here]).tobytes() == value(alone, 'batch_norm')[0].tobytes()
        assert all(not found[sample, length:].any() for sample, length in enumerate(lengths))
        if training:
            net.backward()
            alone.backward(0.5)  # 10 rows of 20
            into, expected = rows(value(net, 'tanh')[1]), value(alone, 'tanh')[1]
            np.testing.assert_allclose(np.stack([into[at] for at in here]), expected, rtol=1e-4, atol=1e-8)
            assert all(not into[sample, length:].any() for sample, length in enumerate(lengths))
            for part in 'gain', 'offset':
                gain = 'batch_norm1.' + part
                np.testing.assert_allclose(net.gradients()[gain], alone.gradients()[gain], rtol=1e-5, atol=1e-8)
    run(net, np.hstack([x.reshape(BATCH, -1), np.full((BATCH, 1), 9, F)]), y, weights)
    run(plain, x, y, weights)
    assert value(net, 'batch_norm')[0].tobytes() == value(plain, 'batch_norm')[0].tobytes()


@pytest.mark.parametrize('layer, words', [
    ('gru(y, 4, reverse=1, both=1)', 'only one of reverse, both and sum'), ('gru(y, 4, projection=2)', "no 'projection'"),
    ('lstm(y, 4, both=1, carried=1)', 'only steps forward'), ('gru(y, 4, lengths=y)', 'lengths are not an input'),
    ('lstm(y, 0)', 'no units'), ('row_convolution(y, 0)', 'not 1 to 65536'), ('within(y, y)', 'lengths are not an input'),
    ('lstm(y, 4, forget_bias=1e39)', 'the forget bias is not finite')])
def test_refused(layer, words):
    with pytest.raises(halfulp.HalfulpValueError, match=words):
        net_of(layer)


def test_described_again(random):
    net = net_of('lstm(y, 4, both=1, lengths=n, one_bias=1, projection=3, forget_bias=0.5, start=normal(0.25))', lengths=True)
    again = Net(net.describe(), batch=BATCH, loss='squared_error', seed=3)
    assert again.digest == net.digest and again.describe() == net.describe()
    assert abs(net.parameters()['lstm1.reverse_projection'].std() - 0.25) < 0.1


# ---- decoders that attend ----

DECODER = '''source = input(4, 3)
n = input(1, 1)
x = input(3, 2)
h = lstm(tanh(linear(source, 3)), 4, reverse=1, lengths=n, one_bias=1)
state = last_state(h)
g = lstm(h, 4, reverse=1, lengths=n, one_bias=1, forget_bias=1)
y = attending_lstm(tanh(linear(x, 2)), g, 4, 2, concat(state, last_state(g)), n, start=normal(0.6), forget_bias=0.5)
output linear(y, 2)
'''


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def decoded(p, source, lengths, x):
    """The decoder's output in binary64 by the formulas of net.h; the encoder step by step, as well."""
    def lstm(row, state, name, number, forget):
        key = name + '.{}' + (str(number) if number else '')
        s = row @ p[key.format('weight_x')] + p[key.format('bias_x')][0] + state[0] @ p[key.format('weight_h')]
        i, f, o, g = np.split(s, 4)
        c = sigmoid(f + forget) * state[1] + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c

    def affine(parts, weight, bias):
        return np.concatenate(parts) @ p['attending_lstm1.' + weight] + p['attending_lstm1.' + bias][0]

    z = []
    for b, length in enumerate(lengths):
        rows_of, states = np.tanh(source[b] @ p['linear1.weight'] + p['linear1.bias'][0]), []
        for name, forget in ('lstm1', 0), ('lstm2', 1):
            state, out = (np.zeros(4), np.zeros(4)), np.zeros((4, 4))
            for t in reversed(range(length)):
                state = lstm(rows_of[t], state, name, 0, forget)
                out[t] = state[0]
            rows_of = out
            states.append(state)
        memory, context = rows_of[:length], np.zeros(4)
        keys = memory @ p['attending_lstm1.weight_keys']
        for t in range(3):
            h = affine([np.tanh(x[b, t] @ p['linear2.weight'] + p['linear2.bias'][0]), context], 'weight_input', 'bias_input')
            for k in range(2):
                states[k] = lstm(h, states[k], 'attending_lstm1', k + 1, 0.5)
                h = states[k][0]
            q = affine([part for state in states for part in state], 'weight_query', 'bias_query')
            e = (np.tanh(keys + q) @ p['attending_lstm1.weight_score'])[:, 0]
            context = np.exp(e) / np.exp(e).sum() @ memory
            z.append(affine([h, context], 'weight_output', 'bias_output') @ p['linear3.weight'] + p['linear3.bias'][0])
    return np.array(z)


def test_attending_lstm_in_binary64(random):
    """Output and gradients of all parameters, by differences; what lies behind the end of a memory changes no bit."""
    net = Net(DECODER, batch=2, loss='squared_error', seed=2)
    p = {name: w.astype(float) for name, w in drawn(net, random).items()}
    net.load_weights({name: w.astype(F) for name, w in p.items()})
    p = {name: w.astype(float) for name, w in net.parameters().items()}
    source, x, targets = (random.normal(size=size).astype(F) for size in ((2, 4, 3), (2, 3, 2), (2, 3, 2)))
    lengths = [3, 4]

    def fed(source):
        return np.hstack([source.reshape(2, -1), np.array(lengths, F)[:, None], x.reshape(2, -1)])

    def loss(p):
        return ((decoded(p, source.astype(float), lengths, x.astype(float)) - targets.reshape(-1, 2))**2).sum() / 12

    run(net, fed(source), targets)
    np.testing.assert_allclose(net.output, decoded(p, source.astype(float), lengths, x.astype(float)), atol=2e-6)
    gradients, output = net.gradients(), net.output.copy()
    for name, w in p.items():
        for at in [tuple(random.integers(0, side) for side in w.shape) for _ in range(6)]:
            up, down = ({**p, name: p[name].copy()} for _ in range(2))
            up[name][at] += 1e-5
            down[name][at] -= 1e-5
            assert abs(gradients[name][at] - (loss(up) - loss(down)) / 2e-5) < 2e-6, (name, at)
    source[0, 3] = 9
    run(net, fed(source), targets)
    assert net.output.tobytes() == output.tobytes()
    later = x.copy()
    later[:, 2] += 1
    x = later
    run(net, fed(source), targets)
    np.testing.assert_array_equal(rows(net.output, 2)[:, :2], rows(output, 2)[:, :2])
    assert not np.array_equal(rows(net.output, 2)[:, 2], rows(output, 2)[:, 2])


@pytest.mark.parametrize('line, wrong', [
    ('y = attending_lstm(x, source, 4)', 'the memory is an input'), ('y = attending_lstm(x, h, 0)', 'units'),
    ('y = attending_lstm(x, h, 4, 17)', 'layers'), ('y = attending_lstm(x, h, 4, 2, last_state(h))', 'state'),
    ('y = last_state(x)', 'last_state'), ('y = last_state(lstm(h, 4, both=1))', 'last_state')])
def test_attending_lstm_refuses(line, wrong):
    with pytest.raises(halfulp.HalfulpValueError, match=wrong):
        Net('source = input(4, 3)\nx = input(3, 2)\nh = lstm(source, 4)\n{}\noutput linear(y, 1)\n'.format(line), batch=2,
            loss='squared_error')
