# SPDX-License-Identifier: MIT
"""Losses bit for bit, by a second evaluator that was written from docs/training/training.md alone: NumPy's binary32, and
elementary functions that are rounded once from 60 decimal digits."""
import decimal
import math
from fractions import Fraction

import numpy as np
import pytest

from test_training_words import child, use, word

import halfulp
from halfulp.train import Net, Optimizer, Trainer, label_error_rate

F = np.float32
CONTEXT = decimal.Context(prec=60, Emin=-10**6, Emax=10**6)


def rounded(x):
    """The binary32 number nearest to a Fraction, ties to even; subnormal results as well."""
    if x == 0:
        return F(0)
    exponent = max(x.numerator.bit_length() - x.denominator.bit_length() - 25, -149)
    while abs(x) / Fraction(2)**exponent >= 2**24:
        exponent += 1
    return F(float(round(x / Fraction(2)**exponent)) * 2.0**exponent)


def function(name):
    """An elementary function of binary32 arrays, rounded once."""
    def one(x):
        if np.isinf(x):
            return {'exp': F(np.inf) if x > 0 else F(0), 'log': F(x), 'sigmoid': F(x > 0)}[name]
        if name == 'log':
            return F(-np.inf) if x == 0 else rounded(Fraction(CONTEXT.ln(decimal.Decimal(float(x)))))
        d = decimal.Decimal(float(x))
        if name == 'exp':
            return rounded(Fraction(CONTEXT.exp(d)))
        if name == 'log1p':
            return rounded(Fraction(CONTEXT.ln(CONTEXT.add(d, decimal.Decimal(1)))) if abs(x) > 1e-30 else Fraction(float(x)))
        return rounded(1 / (1 + Fraction(CONTEXT.exp(-d))))
    return np.vectorize(one, otypes=[F])


exp, log, log1p, sigmoid = (function(name) for name in ('exp', 'log', 'log1p', 'sigmoid'))


def row_sum(x):
    """16 partial sums from +0, number i to sum i mod 16; then halves (section 2)."""
    sums = [F(0)] * 16
    for i, number in enumerate(x):
        sums[i % 16] = F(sums[i % 16] + F(number))
    for half in 8, 4, 2, 1:
        for k in range(half):
            sums[k] = F(sums[k] + sums[k + half])
    return sums[0]


def entropy(x, labels, w, share=(1.0, 0.0), less=0.0):
    """The terms of cross entropy, and the gradient by x with dv = 1."""
    d = x - x.max(1, keepdims=True)
    e = exp(d)
    sums = np.array([row_sum(row) for row in e], F)
    logs, p = log(sums), e / sums[:, None]
    terms, q = np.zeros(len(x), F), np.full_like(x, F(share[1]))
    for i, label in enumerate(labels):
        n = logs[i] - d[i]
        terms[i] = F(F(F(share[0]) - F(share[1])) * n[label] + F(share[1]) * row_sum(n)) - F(less) if share[1] else n[label]
        q[i, label] = F(share[0])
    return terms, (p - q) * w


def logistic(x, t, w):
    s = np.where(x > 0, x, F(0)) - x * t + log1p(exp(-np.abs(x)))
    return s, (sigmoid(x) - t) * w


def smooth_l1(x, t, w, beta):
    c = x - t
    inside = np.abs(c) < F(beta)
    near = F(0.5) * c * c / F(beta)
    return np.where(inside, near, np.abs(c) - F(0.5) * F(beta)), np.where(inside, c / F(beta) * w, np.sign(c) * w)


def looked(x, y, loss, weights=None, **more):
    """The loss of rows x themselves, and the gradient that they get."""
    rows, cols = x.shape
    net = Net('linear(nobias)', batch=rows, width=cols, outputs=cols, loss=loss, **more)
    net.load_weights({'linear1.weight': np.eye(cols, dtype=F)})
    value = F(net.forward(x, y, weights=weights))
    net.backward()
    assert net.output.tobytes() == x.tobytes()
    return value, net.value_gradients()[net.value_names[1]]


def check(found, terms, gradient, w):
    assert found[0].tobytes() == F(row_sum(terms.ravel()) * w).tobytes()
    assert found[1].tobytes() == gradient.astype(F).tobytes()


@pytest.mark.parametrize('rows, cols', [(3, 5), (2, 37)])
@pytest.mark.parametrize('over', ['all', 'others'])
def test_smoothing(random, rows, cols, over):
    x, labels = (4 * random.normal(size=(rows, cols))).astype(F), random.integers(0, cols, rows)
    w = F(1 / rows)
    other = 0.1 / (cols - (over == 'others'))
    share = [F(0.9 if over == 'others' else 0.9 + other), F(other)]
    for less_minimum in False, True:
        least = -sum(float(s) * float(log(s)) * n for s, n in zip(share, (1, cols - 1))) if less_minimum else 0
        terms, gradient = entropy(x, labels, w, share, F(least))
        found = looked(x, labels, 'cross_entropy', smoothing=0.1, smoothing_over=over, less_minimum=less_minimum)
        check(found, terms, gradient, w)


def test_least_smoothed_loss_is_zero():
    """Where the shares are the target, Tensor2Tensor's loss is 0, except for roundings."""
    x = np.log(np.array([[0.9, 0.025, 0.025, 0.025, 0.025]])).astype(F)
    for less, expected in (False, -(0.9 * np.log(0.9) + 0.1 * np.log(0.025))), (True, 0):
        value, gradient = looked(x, np.array([0]), 'cross_entropy', smoothing=0.1, smoothing_over='others',
                                 less_minimum=less)
        assert abs(value - expected) < 2e-7
        assert np.abs(gradient).max() < 1e-7


@pytest.mark.parametrize('loss, how', [('logistic', {}), ('smooth_l1', {'beta': 0.7}), ('smooth_l1', {'beta': 0.0})])
def test_losses_of_targets(random, loss, how):
    x = np.concatenate([4 * random.normal(size=(5, 4)), [[0, 100, -100, 90], [1e-30, -1e-30, 17, -17]]]).astype(F)
    t = random.uniform(size=x.shape).astype(F)
    t[6] = [0, 1, 0, 1]
    w = F(1 / len(x))
    with np.errstate(invalid='ignore', divide='ignore'):
        check(looked(x, t, loss, **how), *{'logistic': logistic, 'smooth_l1': smooth_l1}[loss](x, t, w, **how), w)


def test_logistic_labels(random):
    """One logit with labels 0 and 1: the cross entropy of (0, x), and rows without a label have no part."""
    x = (3 * random.normal(size=(6, 1))).astype(F)
    labels = np.array([0, 1, -1, 1, 0, 1])
    w, kept = F(1 / 5), labels >= 0
    terms, gradient = logistic(x, np.abs(labels[:, None]).astype(F), w)
    found = looked(x, labels, 'logistic')
    check(found, np.where(kept[:, None], terms, 0), np.where(kept[:, None], gradient, 0), w)
    two = looked(np.hstack([np.zeros_like(x), x]), labels, 'cross_entropy')
    assert abs(two[0] - found[0]) < 1e-6
    np.testing.assert_allclose(found[1][:, 0], two[1][:, 1], atol=1e-7)
    for wrong in np.array([0, 1, 2, 0, 0, 0]), np.full(6, -1):
        with pytest.raises(halfulp.HalfulpValueError, match='y: '):
            looked(x, wrong, 'logistic')


@pytest.mark.parametrize('loss', ['cross_entropy', 'squared_error', 'logistic'])
def test_weights_of_rows(random, loss):
    """Terms and gradients times the weight of their row, over the sum of the weights; whatever a row of weight 0 has."""
    x = random.normal(size=(4, 3)).astype(F)
    weights, w = np.array([0.5, 0, 3, 1.25], F), F(1 / 4.75)
    if loss == 'cross_entropy':
        y = np.array([0, 2, 1, 1])
        terms, gradient = entropy(x, y, w)
    else:
        y = random.uniform(size=x.shape).astype(F)
        y[1] = np.nan
        terms, gradient = logistic(x, y, w) if loss == 'logistic' else ((x - y) * (x - y), (x - y) * w)
    by = weights if loss == 'cross_entropy' else weights[:, None]
    terms, gradient = terms * by, gradient * weights[:, None]
    terms[1], gradient[1] = 0, 0
    check(looked(x, y, loss, weights=weights), terms, gradient, F(0.5) * w if loss == 'squared_error' else w)
    for wrong in np.array([1, -1, 1, 1], F), np.zeros(4, F), np.array([1, np.nan, 1, 1], F), np.ones(3, F):
        with pytest.raises((halfulp.HalfulpValueError, halfulp.HalfulpError), match='weights'):
            looked(x, y, loss, weights=wrong)


HEADS = '''x = input(data.height, data.width)
y = linear(x, data.outputs, bias=0)
z = linear(x, data.outputs, bias=0)
output y, 0.25
output z
output y, 1.5
'''


def test_several_outputs(random):
    """The loss is the sum of the losses; each output has the gradients of its own."""
    net = Net(HEADS, batch=3, width=4, height=1, outputs=4, loss='cross_entropy', smoothing=0.2)
    net.load_weights({'linear1.weight': np.eye(4, dtype=F), 'linear2.weight': 2 * np.eye(4, dtype=F)})
    x, labels = random.normal(size=(3, 4)).astype(F), np.array([1, 3, 0])
    value = F(net.forward(x, labels))
    net.backward(4)
    share, losses, gradients = (F(0.85), F(0.05)), [], {}
    share = (F(0.8 + 0.05), F(0.05))
    for weight, by, name in (1, 2, '2.linear'), (0.25, 1, '1.linear'), (1.5, 1, '1.linear'):
        w = F(weight / 3)
        terms, gradient = entropy(x * F(by), labels, F(4) * w, share)
        losses.append(F(row_sum(terms) * w))
        gradients.setdefault(name, []).append(gradient)
    assert value == F(F(losses[0] + losses[1]) + losses[2])
    assert net.value_gradients()['2.linear'].tobytes() == gradients['2.linear'][0].tobytes()
    first, last = gradients['1.linear']
    assert net.value_gradients()['1.linear'].tobytes() == (last + first).astype(F).tobytes()
    assert 'output v1, 0.25' in net.describe() and 'output v1, 1.5' in net.describe()
    again = Net(net.describe(), batch=3, loss='cross_entropy', smoothing=0.2)
    again.load_weights(net.parameters())
    assert F(again.forward(x, labels)) == value


def test_run_with_one_logit():
    """loss.kind = logistic: one output; accuracy is that of x > 0, and the score of AUC is x."""
    config = {'data.set': 'clicks', 'model.net': 'dlrm(units=4,bottom=8,top=8)', 'optimizer.rate': 0,
              'loss.kind': 'logistic', 'run.batch': 60, 'data.count': 60, 'data.test': 60}
    trainer = Trainer(config)
    trainer.step()  # the whole set in one batch, whose weights stay
    name = trainer.net.value_names[-2]
    x, gradient = (of[name][:, 0] for of in (trainer.net.values(), trainer.net.value_gradients()))
    labels, seen = gradient < 0, trainer.evaluate('train')
    assert 5 < labels.sum() < 55 and 5 < (x > 0).sum() < 55
    assert seen.accuracy == np.mean((x > 0) == labels)
    ahead = [(x[i] > x[j]) + (x[i] == x[j]) / 2 for i in np.flatnonzero(labels) for j in np.flatnonzero(~labels)]
    assert abs(seen.auc - np.mean(ahead)) < 1e-12
    assert abs(seen.loss - np.mean(np.log1p(np.exp(x.astype(float))) - x * labels)) < 1e-6
    two = Trainer({**config, 'loss.kind': 'default'})
    two.step()
    assert two.net.values()[two.net.value_names[-2]].shape == (60, 2)


# ---- labels of sequences ----

NONE = F(-np.inf)


def sum_of_ways(*ways):
    """The logarithm of the sum of the exponentials of three numbers, less their largest, from the first one on."""
    ways = list(ways) + [NONE] * (3 - len(ways))
    top = max(ways)
    e = [exp(F(way - top)) if way != NONE else F(0) for way in ways]
    return F(top + log(F(F(e[0] + e[1]) + e[2]))) if top != NONE else NONE


def ctc_of(x, labels, blank, w, by_length=False, zero_infinite=False):
    """The term and the gradient of one sample, whose rows x are all of its steps."""
    steps, last = len(x), 2 * len(labels)
    state = [blank if s % 2 == 0 else labels[s // 2] for s in range(last + 1)]
    skips = [s % 2 == 1 and s > 1 and state[s] != state[s - 2] for s in range(last + 1)]
    d = x - x.max(1, keepdims=True)
    e = exp(d)
    sums = np.array([row_sum(row) for row in e], F)
    y, p = d - log(sums)[:, None], e / sums[:, None]
    alpha, beta = (np.full((steps, last + 1), NONE) for _ in range(2))
    for t in range(steps):
        for s in range(last + 1):
            if t == 0:
                before = F(0) if s < 2 else NONE
            else:
                before = sum_of_ways(alpha[t - 1, s], *([alpha[t - 1, s - 1]] if s else []),
                                     *([alpha[t - 1, s - 2]] if skips[s] else []))
            alpha[t, s] = F(before + y[t, state[s]])
    for t in reversed(range(steps)):
        for s in range(last + 1):
            ways = [F(beta[t + 1, s + k] + y[t + 1, state[s + k]]) for k in range(3) if t + 1 < steps and
                    s + k <= last and (k < 2 or skips[s + k])]
            beta[t, s] = sum_of_ways(*ways) if t + 1 < steps else F(0) if s + 1 >= last else NONE
    total = F(0) if not steps and not last else NONE if not steps else sum_of_ways(
        alpha[-1, last], *([alpha[-1, last - 1]] if last else []))
    n, by = F(max(len(labels), 1)), w
    if by_length:
        by = F(w / n)
    if total == NONE:
        return F(0) if zero_infinite else F(np.inf), np.full_like(x, 0 if zero_infinite else np.nan)
    gradient = np.zeros_like(x)
    for t in range(steps):
        for s in range(last + 1):
            gradient[t, state[s]] += exp(F(F(alpha[t, s] + beta[t, s]) - total))
    return (F(-total / n) if by_length else -total), (p - gradient) * by


SPEECH = 'x = input({}, {})\nn = input(1, 1)\noutput linear(x, {}, bias=0) within n\n'


def speech(x, lengths, labels, **more):
    """A net whose output is x; loss and gradient."""
    batch, steps, cols = x.shape
    net = Net(SPEECH.format(steps, cols, cols), batch=batch, loss='ctc', **more)
    net.load_weights({'linear1.weight': np.eye(cols, dtype=F)})
    loss = F(net.forward(np.hstack([x.reshape(batch, -1), np.array(lengths, F)[:, None]]), labels))
    net.backward()
    return net, loss, net.value_gradients()[net.value_names[-2]].reshape(x.shape)


# The labels of a sample, its steps: ordinary, equal neighbours, none, as many as fit, one more than fits, no steps.
SAMPLES = [([1, 2, 3], 9), ([2, 2, 1, 1], 9), ([], 9), ([1, 2, 1], 3), ([1, 1], 3), ([3], 1), ([1, 1], 2), ([1, 2, 3], 2), ([], 0), ([2], 0)]


@pytest.mark.parametrize('blank', [0, 4])
@pytest.mark.parametrize('by_length, zero_infinite', [(False, False), (True, True), (True, False)])
def test_ctc_by_the_page(random, blank, by_length, zero_infinite):
    samples = [([label % 4 if blank == 4 else label for label in labels], length) for labels, length in SAMPLES]
    x = (2 * random.normal(size=(len(samples), 9, 5))).astype(F)
    for (_, length), rows in zip(samples, x):
        rows[length:] = np.nan  # padding may be anything
    w = F(1 / len(samples))
    with np.errstate(invalid='ignore'):
        found = [ctc_of(rows[:length], labels, blank, w, by_length, zero_infinite) for (labels, length), rows in zip(samples, x)]
    net, loss, gradient = speech(np.nan_to_num(x, nan=7), [length for _, length in samples], [labels for labels, _ in samples],
                                 blank=blank, by_length=by_length, zero_infinite=zero_infinite)
    assert loss.tobytes() == F(row_sum([term for term, _ in found]) * w).tobytes()
    for (labels, length), expected, rows in zip(samples, found, gradient):
        np.testing.assert_array_equal(rows[:length], expected[1], err_msg=str((labels, length)))
        assert rows[length:].tobytes() == bytes(rows[length:].nbytes)
    assert np.isfinite(loss) == zero_infinite


def test_ctc_is_the_sum_over_all_ways(random):
    """Probabilities of all 3^4 ways, each read as labels; and differences of them."""
    x = random.normal(size=(1, 4, 3))
    labels = [1, 2]

    def exact(x):
        p, sums = np.exp(x) / np.exp(x).sum(-1, keepdims=True), 0
        for way in np.ndindex(3, 3, 3, 3):
            read = [k for i, k in enumerate(way) if k and (not i or way[i - 1] != k)]
            sums += np.prod([p[0, t, k] for t, k in enumerate(way)]) if read == labels else 0
        return -np.log(sums)

    _, loss, gradient = speech(x.astype(F), [4], [labels])
    assert abs(loss - exact(x)) < 1e-6
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += 1e-5
        down[at] -= 1e-5
        assert abs(gradient[at] - (exact(up) - exact(down)) / 2e-5) < 1e-6


def test_ctc_refuses_labels():
    x = np.zeros((2, 3, 4), F)
    for labels in ([[1], [0]], [[1], [4]], [[1, 2, 3, 1], [1]], [[1]], [[1, -1, 2], [1]]):
        with pytest.raises((halfulp.HalfulpValueError, halfulp.HalfulpError), match='y'):
            speech(x, [3, 3], labels)
    for text in 'output linear(x, 4) within x\n', 'output linear(x, 4) within 3\n':
        with pytest.raises(halfulp.HalfulpValueError, match='lengths'):
            Net('x = input(3, 4)\n' + text, batch=2, loss='ctc')
    with pytest.raises(halfulp.HalfulpValueError, match='blank'):
        Net(SPEECH.format(3, 4, 4), batch=2, loss='ctc', blank=4)
    net = Net(SPEECH.format(3, 4, 4), batch=2, loss='ctc')
    with pytest.raises((halfulp.HalfulpValueError, halfulp.HalfulpError), match='weights'):
        net.forward(np.zeros((2, 13), F), [[1], [2]], weights=np.ones(6, F))
    assert 'within v1' in net.describe() and Net(net.describe(), batch=2, loss='ctc').digest == net.digest


def test_what_is_read(random):
    """Largest numbers, equal neighbours as one, without blanks, up to the end; and how far that is from the labels."""
    ways = np.array([[0, 1, 1, 0, 1, 2], [3, 3, 0, 0, 3, 3], [2, 1, 2, 1, 2, 1]])
    x = np.eye(4, dtype=F)[ways] + F(0.1) * random.uniform(size=(3, 6, 4)).astype(F)
    net, _, _ = speech(x, [6, 4, 9], [[1], [1], [1]])
    assert net.greedy() == [[1, 1, 2], [3], [2, 1, 2, 1, 2, 1]]
    assert label_error_rate(net.greedy(), [[1, 1, 2], [3], [2, 1, 2, 1, 2, 1]]) == 0
    assert label_error_rate(net.greedy(), [[1, 2], [3, 3, 1], [1, 2, 1, 2, 1, -1]]) == (1 + 2 + 1) / 10
    assert label_error_rate([list(b'kitten')], [list(b'sitting')]) == 3 / 7
    assert label_error_rate([[]], [[1, 2]]) == 1 and np.isnan(label_error_rate([[1]], [[]]))


def test_ctc_learns(random):
    """A recurrent net in both directions learns to read columns of numbers of different lengths."""
    text = """x = input(12, 4)
n = input(1, 1)
h = gru(x, 16, both=1, lengths=n)
output linear(h, 4) within n
"""
    net = Net(text, batch=16, loss='ctc', seed=1, by_length=True)
    lengths = random.integers(6, 13, 16)
    labels = [random.integers(1, 4, 3) for _ in lengths]
    x = 0.1 * random.normal(size=(16, 12, 4))
    for sample, length in enumerate(lengths):
        for k, label in enumerate(labels[sample]):
            x[sample, k * length // 3:k * length // 3 + 2, label] += 1
    fed = np.hstack([x.reshape(16, -1), lengths[:, None]]).astype(F)
    optimizer, losses = halfulp.train.Optimizer('adamw', rate=0.01), []
    for _ in range(150):
        losses.append(net.forward(fed, labels))
        net.backward()
        net.update(optimizer)
    assert losses[0] > 1 and losses[-1] < 0.05
    assert label_error_rate(net.greedy(), labels) == 0


# ---- sampled classes ----

SAMPLED = 'x = input(data.height, data.width)\noutput sampled_linear(x, {}, {}{})\n'


def exp64(x):
    """e^x as in docs/training/data.md, section 6."""
    k = math.floor(x * float.fromhex('0x1.71547652b82fep+0') + 0.5)
    r = (x - k * float.fromhex('0x1.62e42feep-1')) - k * float.fromhex('0x1.a39ef35793c76p-33')
    z = 1.0
    for i in range(14, 0, -1):
        z = 1 + r * z / i
    return math.ldexp(z, k)


def expected_count(classes, samples, tries, scale):
    """-log of how often a class is expected (section 5)."""
    p = log1p(F(1) / (classes.astype(F) + F(1))) / scale
    if tries == samples:
        return -log(F(samples) * p)
    power = [Fraction(CONTEXT.exp(decimal.Decimal(float(x)))) - 1 for x in F(tries) * log1p(-p)]
    return -log(-np.array([rounded(x) for x in power], F))


def candidates(labels, classes, samples, seed, number, step=0):
    """The samples, then labels that were not drawn; and -log of their expected counts."""
    stream = child(use(seed, 8), (10 << 32) + number)
    scale, drawn, tries = log1p(F(classes)), [], 0
    while len(drawn) < samples:
        a, b = (word(stream, (step << 36) + 2 * tries + k) for k in range(2))
        one = (math.floor(exp64((2**21 * a + (b >> 11)) / 2.0**53 * float(scale))) - 1) % classes
        drawn += [one] * (one not in drawn)
        tries += 1
    for label in labels:
        drawn += [int(label)] if label >= 0 and label not in drawn else []
    return drawn, expected_count(np.array(drawn), samples, tries, scale), tries


def product(a, b):
    """fma in increasing k from +0: exact products, each sum rounded once."""
    z = np.zeros((len(a), b.shape[1]), F)
    for i, j in np.ndindex(z.shape):
        sum_ = F(0)
        for x, y in zip(a[i], b[:, j]):
            sum_ = rounded(Fraction(float(sum_)) + Fraction(float(x)) * Fraction(float(y)))
        z[i, j] = sum_
    return z


def columns(x):
    """Sums of columns of up to 64 rows from +0."""
    z = np.zeros(x.shape[1], F)
    for row in x:
        z = z + row
    return z


def sampled_pass(x, labels, table, bias, w, samples, seed, number=0, step=0):
    """Loss and gradients of section 5: of x, of the table, of the bias."""
    drawn, less, _ = candidates(labels, len(table), samples, seed, number, step)
    z = product(x, table[drawn].T)
    z = (z + bias[drawn] if bias is not None else z) + less
    seen = np.array([[i < samples or c == label for i, c in enumerate(drawn)] for label in labels])
    own = np.array([drawn.index(label) if label >= 0 else 0 for label in labels])
    terms, dz = entropy(np.where(seen, z, F(-np.inf)), own, w)
    kept = np.array(labels) >= 0
    terms, dz = np.where(kept, terms, F(0)), np.where(kept[:, None], dz, F(0))
    dt, db = np.zeros_like(table), np.zeros(len(table), F)
    dt[drawn], db[drawn] = product(dz.T, x), columns(dz)
    return F(row_sum(terms) * w), product(dz, table[drawn]), dt, db


@pytest.mark.parametrize('classes, samples, rows, bias', [(50, 7, 5, 1), (12, 9, 6, 0), (3000, 20, 4, 1), (6, 6, 3, 1)])
def test_sampled_by_the_page(random, classes, samples, rows, bias):
    """A pass for training, the next step's, and evaluation, which sees all classes."""
    net = Net('x = input(1, 5)\nh = linear(x, 5, bias=0)\noutput sampled_linear(h, {}, {}, bias={})\n'.format(
        classes, samples, bias), batch=rows, seed=11)
    table = random.normal(size=(classes, 5)).astype(F)
    offset = random.normal(size=classes).astype(F) if bias else None
    weights = {'linear1.weight': np.eye(5, dtype=F), 'sampled_linear1.weight': table}
    net.load_weights({**weights, **({'sampled_linear1.bias': offset[None]} if bias else {})})
    x, labels = random.normal(size=(rows, 5)).astype(F), random.integers(0, classes, rows)
    labels[1] = labels[0]
    labels[-1] = -1
    w = F(1 / (rows - 1))
    for step in range(2):
        loss = F(net.forward(x, labels))
        net.backward()
        expected = sampled_pass(x, labels, table, offset, w, samples, 11, 1, step)
        assert loss == expected[0]
        np.testing.assert_array_equal(net.value_gradients()['1.linear'], expected[1])
        got = net.gradients()
        np.testing.assert_array_equal(got['sampled_linear1.weight'], expected[2])
        if bias:
            np.testing.assert_array_equal(got['sampled_linear1.bias'].ravel(), expected[3])
        net.update(Optimizer('sgd', rate=0.0))
    z = product(x, table.T) + (offset if bias else F(0))
    terms, _ = entropy(z, np.maximum(labels, 0), w)
    terms[-1] = 0
    assert F(net.forward(x, labels, training=False)) == F(row_sum(terms) * w)
    np.testing.assert_array_equal(net.output, z)


def test_sampled_counts_are_tensorflows(random):
    """The formulas of log_uniform_candidate_sampler in binary64, and how often classes are drawn."""
    drawn, less, tries = candidates([], 40, 20, 5, 3)
    p = np.log((np.array(drawn) + 2) / (np.array(drawn) + 1)) / np.log(41)
    assert tries > 20
    np.testing.assert_allclose(-less, np.log(-np.expm1(tries * np.log1p(-p))), rtol=2e-6, atol=1e-6)
    seen = np.zeros(40)
    for number in range(400):
        seen[candidates([], 40, 1, 5, number)[0]] += 1
    p = np.log((np.arange(40) + 2) / (np.arange(40) + 1)) / np.log(41)
    assert np.abs(seen / 400 - p).max() < 4 * np.sqrt(0.2 / 400)


def test_sampled_softmax_of_pytorch(random):
    """The same loss and gradients in binary64, written as TensorFlow does: a column of the label, hits removed."""
    torch = pytest.importorskip('torch')
    classes, samples, rows = 30, 8, 6
    net = Net('x = input(1, 4)\nh = tanh(linear(x, 4))\noutput sampled_linear(h, {}, {})\n'.format(classes, samples), batch=rows,
              seed=2)
    x, labels = random.normal(size=(rows, 4)).astype(F), random.integers(0, 6, rows)
    loss = net.forward(x, labels)
    net.backward()
    drawn, _, tries = candidates(labels, classes, samples, 2, 2)
    t = {name: torch.tensor(value.astype(float), requires_grad=True) for name, value in net.parameters().items()}
    h = torch.tanh(torch.tensor(x.astype(float)) @ t['linear1.weight'] + t['linear1.bias'])

    def count(c):
        p = torch.log((c + 2.0) / (c + 1.0)) / np.log(classes + 1)
        return torch.log(samples * p if tries == samples else -torch.expm1(tries * torch.log1p(-p)))

    s, y = torch.tensor(drawn[:samples]), torch.tensor(labels)
    weight, bias = t['sampled_linear1.weight'], t['sampled_linear1.bias'][0]
    true = (h * weight[y]).sum(1) + bias[y] - count(y)
    others = h @ weight[s].T + bias[s] - count(s)
    others = others.masked_fill(y[:, None] == s[None], -1e30)
    expected = (torch.logsumexp(torch.cat([true[:, None], others], 1), 1) - true).mean()
    expected.backward()
    assert (y[:, None] == s[None]).any()
    assert abs(loss - expected.item()) < 1e-6
    for name, gradient in net.gradients().items():
        np.testing.assert_allclose(gradient, t[name].grad.numpy(), atol=1e-6, err_msg=name)
    rows_of = np.abs(net.gradients()['sampled_linear1.weight']).sum(1) > 0
    assert set(np.flatnonzero(rows_of)) == set(drawn)


def test_sampled_rounds_the_rows_of_its_classes(random):
    """Operands of its products are the table's rows of this pass: with S2FP8 their own statistics decide."""
    net = Net(SAMPLED.format(20, 5, ', bias=0'), batch=3, height=1, width=4, outputs=20, seed=4)
    table = (random.normal(size=(20, 4)) * 2.0**random.integers(-9, 9, (20, 1))).astype(F)
    net.load_weights({'sampled_linear1.weight': table})
    net.round_products(x='float8_e4m3fn', w='s2fp8')
    x, labels = random.normal(size=(3, 4)).astype(F), np.array([19, 18, 0])
    net.forward(x, labels)
    drawn, less, _ = candidates(labels, 20, 5, 4, 0)
    operand = halfulp.round_tensor(table[drawn], 's2fp8')
    z = product(halfulp.round_tensor(x, 'float8_e4m3fn'), operand.T) + less
    name = next(name for name in net.value_names if name.endswith('.sampled'))
    np.testing.assert_array_equal(net.values()[name][:, :len(drawn)], z)
    assert not np.array_equal(operand, halfulp.round_tensor(table, 's2fp8')[drawn])


def test_sampled_shares_a_table(random):
    """A table that is an embedding's, too, has the sum of both gradients; a lazy optimizer moves its rows alone."""
    text = 'x = input(3, 1)\nh = embedding(x, 40, 6, start=normal(0.5))\noutput sampled_linear(tanh(h), 40, 4, share=h)\n'
    net = Net(text, batch=2, seed=3)
    assert net.parameter_names == ['embedding1.weight', 'sampled_linear1.bias']
    again = Net(net.describe(), batch=2, seed=3)
    x, labels = np.array([[1, 2, 3], [4, 5, 39]], F), np.array([[2, 3, 4], [5, 6, 7]])
    assert net.forward(x, labels) == again.forward(x, labels)
    net.backward()
    drawn = candidates(labels.ravel(), 40, 4, 3, 2)[0]
    moved = np.flatnonzero(np.abs(net.gradients()['embedding1.weight']).sum(1))
    assert set(moved) == set(drawn) | {1, 2, 3, 4, 5, 39}


@pytest.mark.parametrize('text, wrong', [
    (SAMPLED.format(5, 6, ''), 'sampled_linear'),
    (SAMPLED.format(0, 1, ''), 'sampled_linear'),
    (SAMPLED.format(5, 2, '').replace('output ', 'y = ') + 'output relu(y)\n', 'cross entropy alone reads'),
    (SAMPLED.format(5, 2, '').replace('output ', 'y = ') + 'output concat(x, y)\n', 'cross entropy alone reads'),
    (SAMPLED.format(5, 2, ', start=fan_in(1), share=x'), 'share'),
])
def test_sampled_refuses(text, wrong):
    with pytest.raises(halfulp.HalfulpValueError, match=wrong):
        Net(text, batch=2, height=1, width=4)


@pytest.mark.parametrize('how', [{'smoothing': 0.1}, {'loss': 'squared_error'}, {'loss': 'logistic'}])
def test_sampled_goes_with_cross_entropy_alone(how):
    with pytest.raises(halfulp.HalfulpValueError, match='sampled'):
        Net(SAMPLED.format(5, 2, ''), batch=2, height=1, width=4, **how)
