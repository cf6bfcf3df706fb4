# SPDX-License-Identifier: MIT
"""Whole runs of `halfulp train` against an evaluator in NumPy that was written from docs/training, docs/numerics.md and the formulas
at the head of optimizer.h and gradient.h alone: two layers, tensors in bfloat16, stochastic updates. All losses, weights and moments
must have the same bits."""
import csv
import fnmatch
import json
import math
import os
import subprocess

import numpy as np
import pytest

from test_training_words import child, down, f4, once, use, usual, word, words

COMMAND, SOURCE = os.environ['HALFULP_COMMAND'], os.environ['HALFULP_SOURCE']
SYSTEM = {'values': 'bfloat16', 'gradients': 'bfloat16', 'parameters': 'bfloat16', 'parameter_gradients': 'bfloat16'}
VALUE, GRADIENT, PARAMETER, PARAMETER_GRADIENT, UPDATE, PRODUCT, MASK = range(7)  # k
ORDER, DROPOUT = 0, 7  # uses
PARAMETERS = 'linear1.weight', 'linear1.bias', 'linear2.weight', 'linear2.bias'
X, W, X_OF_DW, DZ_OF_DW, DZ, W_OF_DX = range(6)  # operands of products


def binary32(z):
    return np.asarray(z).astype(f4)


def fma(a, b, c):
    """a b + c in binary32, one rounding: the product is exact in binary64, and the sum is rounded to odd there."""
    a, b, c = (np.asarray(z, np.float64) for z in (a, b, c))
    p = a * b
    s = p + c
    t = s - p
    rest = (p - (s - t)) + (c - t)
    even = (s.view(np.uint64) & np.uint64(1)) == 0
    return binary32(np.where((rest != 0) & even, np.nextafter(s, np.copysign(np.inf, rest)), s))


def product(x, w):
    """X W under fp32: fma in increasing k from +0."""
    z = np.zeros((x.shape[0], w.shape[1]), f4)
    for k in range(x.shape[1]):
        z = fma(x[:, k:k + 1], w[k:k + 1], z)
    return z


def row_sum(x):
    """Section 2, of each row."""
    part = np.zeros((x.shape[0], 16), x.dtype)
    for i in range(x.shape[1]):
        part[:, i % 16] += x[:, i]
    for half in 8, 4, 2, 1:
        part[:, :half] += part[:, half:2 * half]
    return part[:, :1]


def column_sum(x):
    """Section 2: chunks of 64 rows, from +0 downwards."""
    total = np.zeros((1, x.shape[1]), f4)
    for first in range(0, x.shape[0], 64):
        chunk = np.zeros_like(total)
        for row in x[first:first + 64]:
            chunk = chunk + row
        total = total + chunk
    return total


def below(n, stream, i):
    """An integer below n from word i on, and the next word's number."""
    while word(stream, i) * n % 2**32 < 2**32 % n:
        i += 1
    return word(stream, i) * n >> 32, i + 1


def permutation(n, stream):
    z, at = list(range(n)), 0
    for i in range(n, 1, -1):
        k, at = below(i, stream, at)
        z[i - 1], z[k] = z[k], z[i - 1]
    return z


def rounded(x, text, stream):
    """rnd of the tensors: keep, bfloat16, or bfloat16,sra:N."""
    x = binary32(x)
    if text == 'keep':
        return x
    name, _, mode = text.partition(',')
    assert name == 'bfloat16'
    if mode:
        return down(x, int(mode.removeprefix('sra:')), stream)
    u = x.view(np.uint32)
    return (u + 0x7FFF + (u >> 16 & 1) & np.uint32(0xFFFF0000)).view(f4)


def rate_at(t, an_epoch, steps, epochs, rate, schedule, warmup=0, losses=()):
    """The rate of step t; losses are those of the steps before it."""
    name, _, given = schedule.removesuffix(')').partition('(')
    words_of = [word.rpartition('=') for word in given.split(',')] if given else []
    alone, key = [word[2] for word in words_of if not word[0]], {word[0]: word[2] for word in words_of if word[0]}
    epoch = t // an_epoch
    if name in ('cosine', 'linear', 'polynomial'):
        by_step = key.get('each', 'epoch' if name == 'cosine' else 'step') == 'step'
        n, first, end = (t, warmup, steps) if by_step else (epoch, 0, epochs)
        end = int(key.get('until', end))
        done, ways = (1, 1) if n >= end else (n - first, end - first) if n > first else (0, 1)
        f = (ways - done) / ways
        if name == 'cosine':
            f = 0.5 * (1 + float(once(math.cos(f4(math.pi * (done / ways))))))
        if name == 'polynomial':
            f = float(once(float(f4(f))**float(f4(float(alone[0]))))) if done < ways else 0.0
        floor = float(key.get('floor', 0))
        rate *= floor + (1 - floor) * f
    elif name == 'exponential':
        power = 1.0
        for digit in bin(t // int(key['every']) if 'every' in key else epoch)[2:]:
            power = power * power * (float(alone[0]) if digit == '1' else 1)
        rate *= power
    elif name == 'inverse_root':
        s, rise = t + int(key.get('from', 0)), int(alone[0])
        rate = rate * min(1, s / rise) / math.sqrt(max(s, rise)) / math.sqrt(int(key.get('width', 1)))
    elif name == 'plateau':
        window, last = int(key.get('window', 200)), int(key.get('last', 3))
        means = [sum(losses[i:i + window]) / window for i in range(0, len(losses) - window + 1, window)]
        factor = 1.0
        for i in range(last, len(means)):
            factor *= float(alone[0]) if means[i] > max(means[i - last:i]) else 1
        rate *= factor
    elif name != 'constant':
        for at in alone[0].split('/'):
            reached = {'drop': float(at) <= epoch / (epochs or 1), 'steps': int(float(at)) <= t, 'epochs': int(float(at)) <= epoch}[name]
            rate *= float(alone[1]) if reached else 1
    return rate * ((t + 1) / warmup) if t < warmup else rate


class Run:
    """The run of one configuration, by the keys of the command."""

    def __init__(self, **keys):
        self.order = {}
        self.key = {'run.seed': 0, 'run.accumulate': 1, 'run.stream': 1, 'run.rest': 'drop', 'optimizer.correction': 'inside',
                    'units': 12, 'dropout': 0, 'loss.scale': 1, 'optimizer.kind': 'sgd',
                    'optimizer.momentum': 0, 'optimizer.decay': 0, 'optimizer.state': 'bfloat16', 'optimizer.weights': 'bfloat16',
                    'optimizer.update': 'sra:16', 'optimizer.round_decay': 'rne', 'optimizer.round_momentum': 'rne',
                    'optimizer.nesterov': 'no', 'optimizer.beta1': 0.9, 'optimizer.beta2': 0.99, 'optimizer.eps': 1e-6,
                    'optimizer.coupled': 'no', 'optimizer.warmup': 0, 'optimizer.schedule': 'constant', 'gradient.clip': 0,
                    'optimizer.rates': '', 'optimizer.decays': '', 'gradient.clipped': '*', 'optimizer.average': 0,
                    'optimizer.average_counts': 'no', 'optimizer.averaged': '*', **keys}
        images = np.load(os.path.join(SOURCE, 'data/digits_images.npy'))
        train = np.arange(len(images)) % 5 != 4
        self.images = binary32(images.reshape(len(images), -1).astype(f4) / f4(16))[train]
        self.labels = np.load(os.path.join(SOURCE, 'data/digits_labels.npy'))[train]
        self.seed, self.step, self.taken, self.batches = self.key['run.seed'], 0, 0, 0
        weights, units = use(self.seed, 5), self.key['units']
        self.parameter = [usual((64, units), 64, 2, child(weights, 0)), np.zeros((1, units), f4),
                          usual((units, 10), units, 1, child(weights, 2)), np.zeros((1, 10), f4)]
        self.parameter = [self.once(p, self.key['optimizer.weights']) for p in self.parameter]
        self.moment = [np.zeros_like(p) for p in self.parameter]
        self.second = [np.zeros_like(p) for p in self.parameter]
        self.kahan = [np.zeros_like(p) for p in self.parameter]
        self.average = [p.copy() for p in self.parameter]
        self.power = {'beta1': 1.0, 'beta2': 1.0}
        self.an_epoch = len(self.images) // self.key['run.batch']

    def once(self, x, name):
        """Ties to even into binary32, then into a format of the optimizer."""
        return rounded(x, 'keep' if name == 'binary32' else name, None)

    def draw(self, k, n, x, batch=0):
        """rnd of tensor n, of batch `batch` of the step."""
        names = {VALUE: 'values', GRADIENT: 'gradients', PARAMETER: 'parameters', PARAMETER_GRADIENT: 'parameter_gradients'}
        text = self.key.get('precision.' + names[k], SYSTEM[names[k]])
        return rounded(x, text, self.stream(k, n, batch))

    def stream(self, k, n, batch):
        key, counter = words(self.seed, k, n, self.step)
        return (child((key, 0), batch)[0], counter) if batch else (key, counter)

    def operand(self, name, of, operator, x, batch):
        return rounded(x, self.key.get('precision.' + name, 'keep'), self.stream(PRODUCT, 16 * operator + of, batch))

    def linear(self, operator, x, n, batch):
        z = product(self.operand('x', X, operator, x, batch), self.operand('w', W, operator, self.theta[n], batch))
        return z + self.theta[n + 1]

    def linear_backward(self, operator, x, dz, n, batch, of_x):
        """dW and db of the layer, and dX where somebody takes it."""
        self.gradient[n] = product(self.operand('x_back', X_OF_DW, operator, x, batch).T,
                                   self.operand('dz_w', DZ_OF_DW, operator, dz, batch))
        self.gradient[n + 1] = column_sum(dz)
        return product(self.operand('dz', DZ, operator, dz, batch),
                       self.operand('w_back', W_OF_DX, operator, self.theta[n], batch).T) if of_x else None

    def mask(self, operator, shape, batch):
        p = self.key['dropout']
        key, _ = child(use(self.seed, DROPOUT), (MASK << 32) + operator)
        stream = (child((key, 0), batch)[0] if batch else key, self.step << 36)
        limit, factor = math.floor(2**32 * p), f4(1 / (1 - p))
        z = [f4(0) if word(stream, i) < limit else factor for i in range(shape[0] * shape[1])]
        return np.array(z, f4).reshape(shape)

    def one_pass(self, batch, x, labels):
        """Points 2 to 4 of section 1; returns the loss."""
        rows, drops = len(x), self.key['dropout'] > 0
        last = 3 if drops else 2  # the number of the last layer's operator
        v = [self.draw(VALUE, 0, x, batch)]
        v.append(self.draw(VALUE, 1, self.linear(0, v[0], 0, batch), batch))
        v.append(self.draw(VALUE, 2, np.where(v[1] > 0, v[1], f4(0)), batch))
        if drops:
            mask = self.mask(2, v[2].shape, batch)
            v.append(self.draw(VALUE, 3, v[2] * mask, batch))
        v.append(self.draw(VALUE, last + 1, self.linear(last, v[last], 2, batch), batch))
        w = f4(1) / f4(rows)
        d = v[-1] - v[-1].max(axis=1, keepdims=True)
        e = np.vectorize(lambda z: once(math.exp(z)), otypes=[f4])(d)
        s = row_sum(e)
        p = e / s
        at = np.arange(rows), labels
        terms = np.vectorize(lambda z: once(math.log(z)), otypes=[f4])(s)[:, 0] - d[at]
        loss = row_sum(terms[None])[0, 0] * w

        dv = self.draw(GRADIENT, last + 2, np.array([[self.key['loss.scale']]], f4), batch)
        p[at] -= f4(1)
        dz = self.draw(GRADIENT, last + 1, p * (dv * w), batch)
        dy = self.draw(GRADIENT, last, self.linear_backward(last, v[last], dz, 2, batch, True), batch)
        if drops:
            dy = self.draw(GRADIENT, 2, dy * mask, batch)
        dy = self.draw(GRADIENT, 1, np.where(v[2] > 0, dy, f4(0)), batch)
        self.linear_backward(0, v[0], dy, 0, batch, False)
        self.gradient = [self.draw(PARAMETER_GRADIENT, n, g, batch) for n, g in enumerate(self.gradient)]
        return loss

    def next_batch(self):
        """Data page, section 4: streams of epochs, cut into batches."""
        size, epochs, count = self.key['run.batch'], self.key['run.stream'], len(self.images)
        batches = -(-epochs * count // size) if self.key['run.rest'] == 'keep' else epochs * count // size
        stream, number = divmod(self.batches, batches)
        self.batches += 1
        take = []
        for place in range(number * size, min((number + 1) * size, epochs * count)):
            epoch = stream * epochs + place // count
            if epoch not in self.order:
                self.order = {epoch: permutation(count, child(use(self.seed, ORDER), epoch))}
            take.append(self.order[epoch][place % count])
        return self.images[take], self.labels[take]

    def make_step(self):
        self.theta = [self.draw(PARAMETER, n, p) for n, p in enumerate(self.parameter)]
        times, losses, total = self.key['run.accumulate'], [], None
        for batch in range(times):
            self.gradient = [None] * 4
            losses.append(float(self.one_pass(batch, *self.next_batch())))
            if times > 1:
                total = [t + g / f4(times) for t, g in zip(total or [np.zeros_like(g) for g in self.gradient], self.gradient)]
        inverse = f4(1) / f4(self.key['loss.scale'])
        g = self.clipped([g * inverse for g in total or self.gradient])
        if all(np.isfinite(x).all() for x in g):
            self.taken += 1
            self.update(g)
            self.move_averages()
        self.step += 1
        return sum(losses) / times

    def clipped(self, g):
        clip, norm = self.key['gradient.clip'], 0.0
        if not clip:
            return g
        counts = [any(fnmatch.fnmatchcase(name, p) for p in self.key['gradient.clipped'].split(',')) for name in PARAMETERS]
        for x in (x for x, its in zip(g, counts) if its):
            norm += float(row_sum(x.astype(np.float64).reshape(1, -1)**2)[0, 0])
        norm = math.sqrt(norm)
        return [x * f4(clip / norm) if its else x for x, its in zip(g, counts)] if norm > clip else g

    def factor(self, key, n):
        """The last one of the key's whose pattern is that of the parameter."""
        pairs = [pair.split(':') for pair in self.key[key].split(',') if pair]
        return ([float(x) for pattern, x in pairs if fnmatch.fnmatchcase(PARAMETERS[n], pattern)] or [1.0])[-1]

    def update(self, gradients):
        state = self.key['optimizer.state']
        scalar = {name: self.once(self.key['optimizer.' + name], state) for name in ('momentum', 'beta1', 'beta2', 'eps')}
        for beta in 'beta1', 'beta2':
            self.power[beta] *= float(scalar[beta])
        step = {'sgd': self.sgd, 'adamw': self.adamw}[self.key['optimizer.kind']]
        for n, g in enumerate(gradients):
            key, counter = words(self.seed, UPDATE, n, self.step)
            scalar['rate'] = self.once(self.rate() * self.factor('optimizer.rates', n), state)
            if self.key['optimizer.correction'] == 'outside':
                rate = self.rate() * self.factor('optimizer.rates', n)
                scalar['rate'] = self.once(rate * math.sqrt(1 - self.power['beta2']) / (1 - self.power['beta1']), state)
            scalar['decay'] = self.once(self.key['optimizer.decay'] * self.factor('optimizer.decays', n), state)
            u = step(n, g, scalar, lambda i: (child((key, 0), i)[0], counter))
            self.end(n, u, (key, counter))

    def move_averages(self):
        """Section 1, averages of the weights."""
        decay, n = self.key['optimizer.average'], f4(self.taken)
        way = f4(1 - decay)
        if self.key['optimizer.average_counts'] == 'yes':
            way = f4(1) - min(f4(decay), (f4(1) + n) / (f4(10) + n))
        self.average = [a - (a - w) * way for a, w in zip(self.average, self.parameter)]

    def rate(self):
        epochs = self.key.get('run.epochs', 0)
        return rate_at(self.step, self.an_epoch // self.key['run.accumulate'], epochs * self.an_epoch, epochs,
                       **{name: self.key['optimizer.' + name] for name in ('rate', 'schedule', 'warmup')})

    def added(self, a, b, which, stream):
        """D or M: Q with a last rounding of its own."""
        mode, state = self.key['optimizer.round_' + which], self.key['optimizer.state']
        return rounded(a + b, state + ',' + mode, stream) if mode != 'rne' else self.once(a + b, state)

    def sgd(self, n, g, scalar, stream):
        def q(x):
            return self.once(x, self.key['optimizer.state'])
        if scalar['decay']:
            g = self.added(g, q(scalar['decay'] * self.parameter[n]), 'decay', stream(1))
        if not self.key['optimizer.momentum']:
            return q(scalar['rate'] * g)
        self.moment[n] = m = self.added(q(scalar['momentum'] * self.moment[n]), g, 'momentum', stream(2))
        return q(scalar['rate'] * (q(g + q(scalar['momentum'] * m)) if self.key['optimizer.nesterov'] == 'yes' else m))

    def adamw(self, n, g, scalar, stream):
        def q(x):
            return self.once(x, self.key['optimizer.state'])
        decayed = q(scalar['decay'] * self.parameter[n])
        coupled, decays = self.key['optimizer.coupled'] == 'yes', scalar['decay'] > 0
        if coupled and decays:
            g = self.added(g, decayed, 'decay', stream(1))
        less = {beta: q(1 - float(scalar[beta])) for beta in ('beta1', 'beta2')}
        self.moment[n] = q(q(scalar['beta1'] * self.moment[n]) + q(less['beta1'] * g))
        self.second[n] = q(q(scalar['beta2'] * self.second[n]) + q(less['beta2'] * q(g * g)))
        if self.key['optimizer.correction'] == 'inside':
            root = q(np.sqrt(q(self.second[n] / q(1 - self.power['beta2']))))
            u = q(q(self.moment[n] / q(1 - self.power['beta1'])) / q(root + scalar['eps']))
        else:
            u = q(self.moment[n] / q(q(np.sqrt(self.second[n])) + scalar['eps']))
        if decays and not coupled:
            u = self.added(u, decayed, 'decay', stream(1))
        return q(scalar['rate'] * u)

    def end(self, n, u, stream):
        w, weights, mode = self.parameter[n], self.key['optimizer.weights'], self.key['optimizer.update']
        if mode == 'kahan':
            y = self.once(-u - self.kahan[n], weights)
            s = self.once(w + y, weights)
            self.kahan[n] = self.once(self.once(s - w, weights) - y, weights)
            self.parameter[n] = s
        else:
            self.parameter[n] = rounded(w - u, weights + ',' + mode, stream) if mode != 'rne' else self.once(w - u, weights)


def command(tmp_path, keys, steps):
    """The same run by the command: the rows of its log, the tensors of its checkpoint and its summary."""
    given = {name: value for name, value in keys.items() if '.' in name}
    scale = given.pop('loss.scale', None)
    given['model.net'] = 'mlp(layers=1,units=%d,dropout=%s)' % (keys['units'], keys.get('dropout', 0))
    if 'run.epochs' not in given:
        given['run.steps'] = steps
    if scale:
        given['loss.scale'] = 'static(%d)' % scale
    (tmp_path / 'x.ini').write_text('[precision]\nsystem = bfloat16\n')
    sets = [word for name, value in given.items() for word in ('--set', '%s=%s' % (name, value))]
    out = subprocess.run([COMMAND, 'train', tmp_path / 'x.ini', '--json', '--every', '1', '--evaluate', '0', '--checkpoint', '0', '-q', '--data',
                          os.path.join(SOURCE, 'data'), '-o', tmp_path / 'run', *sets], check=True, capture_output=True, text=True)
    with open(tmp_path / 'run/log.csv') as f:
        log = list(csv.DictReader(f))
    raw = (tmp_path / 'run/checkpoint.safetensors').read_bytes()
    size = int.from_bytes(raw[:8], 'little')
    tensor = {name: np.frombuffer(raw, f4, (about['data_offsets'][1] - about['data_offsets'][0]) // 4, 8 + size + about['data_offsets'][0])
              for name, about in json.loads(raw[8:8 + size]).items() if name != '__metadata__'}
    return log, tensor, json.loads(out.stdout)


BASE = {'units': 12, 'run.batch': 20, 'run.seed': 12345678901, 'optimizer.rate': 0.05, 'optimizer.state': 'bfloat16',
        'optimizer.weights': 'bfloat16', 'optimizer.update': 'sra:16'}
ALL = {'precision.values': 'bfloat16,sra:16', 'precision.gradients': 'bfloat16,sra:12', 'precision.parameters': 'bfloat16,sra:8',
       'precision.parameter_gradients': 'bfloat16,sra:16', 'optimizer.weights': 'binary32', 'optimizer.state': 'binary32',
       'optimizer.update': 'rne'}
OPERANDS = {'precision.' + name: 'bfloat16,sra:7' for name in ('x', 'w', 'x_back', 'dz_w', 'dz', 'w_back')}
RUNS = {
    'updates': {},
    'momentum': {'optimizer.momentum': 0.9, 'optimizer.decay': 0.001, 'optimizer.round_decay': 'sra:16',
                 'optimizer.round_momentum': 'sra:9', 'optimizer.nesterov': 'yes'},
    'adamw': {'optimizer.kind': 'adamw', 'optimizer.rate': 0.01, 'optimizer.decay': 0.05, 'optimizer.beta2': 0.99,
              'optimizer.eps': 1e-6, 'optimizer.warmup': 4},
    'coupled': {'optimizer.kind': 'adamw', 'optimizer.rate': 0.01, 'optimizer.decay': 0.05, 'optimizer.beta2': 0.99,
                'optimizer.eps': 1e-6, 'optimizer.coupled': 'yes', 'optimizer.round_decay': 'sra:16', 'optimizer.weights': 'bfloat16'},
    'cosine': {'run.batch': 479, 'run.epochs': 4, 'optimizer.schedule': 'cosine', 'optimizer.warmup': 7},
    'drops': {'run.batch': 479, 'run.epochs': 4, 'optimizer.schedule': 'drop(0.25/0.6,0.3)', 'optimizer.momentum': 0.9},
    'rates': {'optimizer.momentum': 0.9, 'optimizer.decay': 0.001, 'optimizer.rates': '*.bias:2,linear1.*:0.3', 'optimizer.decays': '*.bias:0',
              'gradient.clip': 0.3, 'gradient.clipped': 'linear2.*'},
    'decays': {'optimizer.kind': 'adamw', 'optimizer.rate': 0.01, 'optimizer.decay': 0.05, 'optimizer.beta2': 0.99,
               'optimizer.eps': 1e-6, 'optimizer.decays': '*:0,*.weight:1.7'},
    'outside': {'optimizer.kind': 'adamw', 'optimizer.rate': 0.01, 'optimizer.decay': 0.05, 'optimizer.beta2': 0.99, 'optimizer.eps': 1e-6,
                'optimizer.coupled': 'yes', 'optimizer.correction': 'outside', 'optimizer.warmup': 3},
    'uncorrected': {'optimizer.kind': 'adamw', 'optimizer.rate': 0.01, 'optimizer.decay': 0.05, 'optimizer.beta2': 0.99,
                    'optimizer.eps': 1e-6, 'optimizer.correction': 'none'},
    'kahan': {'optimizer.update': 'kahan', 'optimizer.momentum': 0.5, 'gradient.clip': 0.5},
    'tensors': {**ALL, 'loss.scale': 1024, 'run.batch': 70},
    'averages': {'optimizer.average': 0.9, 'optimizer.momentum': 0.9, 'optimizer.averaged': '*.weight,linear1.bias'},
    'counted averages': {**ALL, 'optimizer.average': 0.6, 'optimizer.average_counts': 'yes'},
    'accumulated': {**ALL, **OPERANDS, 'run.accumulate': 3, 'dropout': 0.3, 'loss.scale': 3},
}


@pytest.mark.parametrize('name', RUNS)
def test_weights_of_runs(name, tmp_path):
    """All steps of the run; of those with schedules, four epochs."""
    keys = {**BASE, **RUNS[name]}
    page = Run(**keys)
    rates, losses = [], []
    for _ in range(keys['run.epochs'] * page.an_epoch if 'run.epochs' in keys else 8):
        rates.append(page.rate())
        losses.append(page.make_step())
    log, tensor, summary = command(tmp_path, keys, len(losses))
    assert [float(row['rate']) for row in log] == rates
    assert [float(row['loss']) for row in log] == losses
    digest = 0xcbf29ce484222325
    for name, weights in zip(PARAMETERS, page.parameter):
        assert tensor[name].tobytes() == weights.tobytes(), name
        named = keys.get('optimizer.average') and any(fnmatch.fnmatchcase(name, p) for p in page.key['optimizer.averaged'].split(','))
        assert (name + '.averaged' in tensor) == bool(named)
        if named:
            assert tensor[name + '.averaged'].tobytes() == page.average[PARAMETERS.index(name)].tobytes(), name
        for byte in weights.astype('<f4').tobytes():
            digest = (digest ^ byte) * 0x100000001b3 % 2**64
    assert summary['digest'] == '%016x' % digest


# Schedule, rate, warm-up, steps an epoch, epochs.
SCHEDULES = [('cosine(floor=0.1)', 0.3, 0, 4, 11), ('cosine(each=step)', 0.1, 9, 4, 11), ('cosine(each=step,floor=0.1,until=30)', 6e-4, 9, 5, 9),
             ('cosine(until=7)', 0.3, 3, 4, 11), ('linear', 2e-5, 10, 10, 10), ('linear(floor=0.25,each=epoch)', 0.7, 0, 7, 9),
             ('linear(until=50)', 0.1, 60, 10, 10), ('polynomial(0.5,until=90)', 0.01, 0, 10, 10), ('polynomial(2.5,floor=0.01)', 0.1, 5, 10, 10),
             ('polynomial(0.3,each=epoch)', 0.1, 0, 3, 9), ('exponential(0.909)', 3e-4, 0, 3, 70), ('exponential(0.94,every=7)', 0.045, 4, 10, 20),
             ('inverse_root(40)', 0.2, 0, 10, 20), ('inverse_root(4,width=512,from=1)', 1, 0, 10, 20), ('steps(7/23/58,0.1)', 0.1, 3, 10, 9),
             ('epochs(1/4/5,0.3)', 0.1, 0, 3, 9), ('drop(0.25/0.6,0.3)', 0.1, 4, 7, 9), ('constant', 0.1, 12, 7, 3),
             ('plateau(0.5,window=3,last=2)', 0.4, 0, 7, 9), ('plateau(0.99,window=5,last=3)', 0.4, 2, 10, 30)]


@pytest.mark.parametrize('schedule,rate,warmup,an_epoch,epochs', SCHEDULES)
def test_rates(schedule, rate, warmup, an_epoch, epochs, tmp_path):
    """Each step's rate, of a run whose losses rise and fall; also of one that is stopped and continued."""
    keys = {'units': 1, 'data.set': 'gratings', 'data.size': 4, 'data.count': an_epoch * 2, 'data.test': 2, 'run.batch': 2, 'run.epochs': epochs,
            'optimizer.rate': rate, 'optimizer.schedule': schedule, 'optimizer.warmup': warmup}
    log, _, _ = command(tmp_path, keys, 0)
    losses = [float(row['loss']) for row in log]
    assert len(log) == an_epoch * epochs
    for t, row in enumerate(log):
        assert float(row['rate']) == rate_at(t, an_epoch, an_epoch * epochs, epochs, rate, schedule, warmup, losses[:t]), t
    if schedule.startswith('plateau'):
        assert float(log[-1]['rate']) < rate  # it has stalled


def test_rates_of_tensor2tensor(tmp_path):
    """transformer_tiny: constant 2, 8000 steps of warm-up, 128 numbers a token."""
    keys = {'units': 1, 'data.set': 'gratings', 'data.size': 4, 'data.count': 8002, 'data.test': 1, 'run.batch': 1, 'run.epochs': 1,
            'optimizer.rate': 2, 'optimizer.schedule': 'inverse_root(8000,width=128)', 'gradient.clip': 1e-9}
    log, _, _ = command(tmp_path, keys, 0)
    rate = [float(row['rate']) for row in log]
    assert rate[0] == 0 and '%.3g' % rate[1000] == '0.000247' and '%.4g' % rate[8000] == '0.001976'
    assert max(rate) == rate[8000]
