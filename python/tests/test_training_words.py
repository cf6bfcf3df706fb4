# SPDX-License-Identifier: MIT
"""First weights and random words of a network, by a second implementation from the pages alone: docs/training/data.md sections
1 and 2 (streams, normal and uniform numbers), docs/training/training.md section 4 (which number n of a tensor has which stream)."""
import math

import numpy as np
import pytest

from halfulp.train import Net, Optimizer

WEIGHTS, ROUNDING = 5, 8  # uses
PARAMETER, UPDATE, PRODUCT = 2, 4, 5  # k
f4 = np.float32


def philox(key, block):
    c, k = [block & 0xFFFFFFFF, block >> 32, 0, 0], [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def word(stream, i):
    at = (stream[1] + i) % 2**64
    return philox(stream[0], at >> 2)[at % 4]


def child(stream, i):
    return word(stream, 2 * i) + (word(stream, 2 * i + 1) << 32), 0


def use(seed, number):
    return child((seed, 0), number)


def once(x):
    """A real number that binary64 has to some 50 digits, rounded to binary32: right unless it lies beside a tie."""
    z = f4(x)
    half = abs(x - float(z)) / float(np.spacing(abs(z)))
    assert abs(half - 0.5) > 1e-6
    return z


def normal(n, stream):
    z = np.empty(n + 1, f4)
    for j in range(0, n, 2):
        a, b = word(stream, j), word(stream, j + 1)
        p, u = (a >> 8) * 2.0**-24 + 2.0**-24, f4((b >> 8) * 2.0**-24)
        r, t = np.sqrt(f4(-2) * once(math.log(p)), dtype=f4), f4(float.fromhex('0x1.921fb6p+2')) * u
        z[j:j + 2] = r * once(math.cos(t)), r * once(math.sin(t))
    return z[:n]


def usual(shape, fan_in, gain, stream):
    return (np.sqrt(f4(gain) / f4(fan_in), dtype=f4) * normal(shape[0] * shape[1], stream)).reshape(shape)


def uniform(shape, hidden, stream):
    bound = f4(1) / np.sqrt(f4(hidden), dtype=f4)
    v = [f4((2 * (word(stream, i) >> 8) + 1 - 2**24) / 2**24) for i in range(shape[0] * shape[1])]
    return (bound * np.array(v, f4)).reshape(shape)


def first_weights(net, seed, kinds):
    """kinds: of each parameter, in the order in which docs/training/networks.md adds them: (fan_in, gain), hidden, or a constant."""
    weights, parameters = use(seed, WEIGHTS), net.parameters()
    assert len(parameters) == len(kinds)
    for n, ((name, got), kind) in enumerate(zip(parameters.items(), kinds)):
        if isinstance(kind, tuple):
            wanted = usual(got.shape, *kind, child(weights, n))
        elif isinstance(kind, int):
            wanted = uniform(got.shape, kind, child(weights, n))
        else:
            wanted = np.full(got.shape, kind, f4)
        assert wanted.tobytes() == got.tobytes(), name


@pytest.mark.parametrize('model, kinds', [
    ('linear', [(6, 1), 0.0]),
    ('mlp(layers=2,units=5)', [(6, 2), 0.0, (5, 2), 0.0, (5, 1), 0.0]),
    ('mlp(layers=1,units=5,activation=tanh)', [(6, 1), 0.0, (5, 1), 0.0]),
    ('gru(units=4)', [4, 0.0, 4, 0.0, (4, 1), 0.0]),
])
def test_first_weights(model, kinds):
    shape = dict(height=2, width=3) if model.startswith('gru') else dict(width=6)
    for seed in 0, 12345678901234567890:
        first_weights(Net(model, batch=3, outputs=4, seed=seed, **shape), seed, kinds)


def test_first_weights_of_two_inputs():
    """Values and parameters are numbered apart: the embeddings of ncf are parameters 0 to 3, its inputs values 0 and 1."""
    net = Net('ncf(layers=2,units=4,deviation=1)', batch=2, users=3, items=5, outputs=1, loss='squared_error', seed=7)
    weights = use(7, WEIGHTS)
    shapes = [x.shape for x in net.parameters().values()]
    wanted = [normal(a * b, child(weights, n)).reshape(a, b) for n, (a, b) in enumerate(shapes[:4])]
    for got, want in zip(net.parameters().values(), wanted):
        assert got.tobytes() == want.tobytes()


def down(x, bits, stream):
    """sra:bits into bfloat16, of normal numbers: number i takes the high bits of word i."""
    u = x.astype(f4).ravel().view(np.uint32).astype(object)
    z = [int(v) + ((word(stream, i) >> (32 - bits)) << (16 - bits)) & 0xFFFF0000 for i, v in enumerate(u)]
    return np.array(z, np.uint32).view(f4).reshape(x.shape)


def words(seed, k, n, step=0):
    key, _ = child(use(seed, ROUNDING), (k << 32) + n)
    return key, step << 36


def test_rounded_weights():
    """theta = rnd(master) by the words of k = 2, and once more as W of Z by those of k = 5: seen as X W of unit vectors."""
    with Net('linear', batch=6, width=6, outputs=4, seed=5, loss='squared_error') as net:
        net.round_parameters('bfloat16,sra:16', names='linear1.weight')
        net.forward(np.eye(6, dtype=f4), np.zeros((6, 4), f4))
        master = net.parameters()['linear1.weight']
        assert net.values()['1.linear'].tobytes() == down(master, 16, words(5, PARAMETER, 0)).tobytes()
        net.round_parameters('keep', names='linear1.weight')
        net.round_products(w='bfloat16,sra:8')
        net.forward(np.eye(6, dtype=f4), np.zeros((6, 4), f4))
        assert net.values()['1.linear'].tobytes() == down(master, 8, words(5, PRODUCT, 16 * 0 + 1)).tobytes()


def test_updates():
    """The last rounding of each weight in each step, weights and biases: n counts parameters alone."""
    with Net('mlp(layers=1,units=5,activation=tanh)', batch=6, width=6, outputs=4, seed=5, loss='squared_error') as net:
        random, rate = np.random.default_rng(3), f4(0.01)
        for name, x in net.parameters().items():
            net.set_parameter(name, down(x + f4(1), 16, (0, 0)))
        sgd = Optimizer('sgd', 'binary32', weight='bfloat16', mode='sra:16', stream=0, rate=float(rate), momentum=0)
        for step in range(3):
            net.forward(random.normal(size=(6, 6)).astype(f4), random.normal(size=(6, 4)).astype(f4))
            net.backward()
            before, gradients = net.parameters(), net.gradients()
            net.update(sgd)
            for n, (name, got) in enumerate(net.parameters().items()):
                wanted = down(before[name] - rate * gradients[name], 16, words(5, UPDATE, n, step))
                assert got.tobytes() == wanted.tobytes(), (step, name)
