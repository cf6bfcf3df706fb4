# SPDX-License-Identifier: MIT
"""Networks on arrays: against NumPy, against the same program in C, and against a trainer's steps."""
import os
import pathlib
import shlex
import subprocess
from fractions import Fraction

import numpy as np
import pytest

import halfulp
from halfulp import _abi
from halfulp.train import LossScaler, Net, Optimizer, Trainer, Update, write_weights

SOURCE = pathlib.Path(os.environ.get('HALFULP_SOURCE', pathlib.Path(__file__).resolve().parents[2]))
DATA = SOURCE / 'data'


def small(loss='cross_entropy', **more):
    return Net('mlp(layers=1,units=5,activation=tanh)', batch=6, width=3, outputs=4, seed=9, loss=loss, **more)


def batch(random, loss='cross_entropy'):
    x = random.normal(size=(6, 3)).astype(np.float32)
    y = random.integers(0, 4, 6) if loss == 'cross_entropy' else random.normal(size=(6, 4)).astype(np.float32)
    return x, y


def reference(parameters, x, y, loss):
    """Loss and gradients in binary64, written from the definitions."""
    w1, b1, w2, b2 = (parameters[name].astype(np.float64) for name in
                      ('linear1.weight', 'linear1.bias', 'linear2.weight', 'linear2.bias'))
    h = np.tanh(x @ w1 + b1)
    z, rows = h @ w2 + b2, len(x)
    if loss == 'cross_entropy':
        p = np.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        value, dz = -np.log(p[np.arange(rows), y]).mean(), p.copy()
        dz[np.arange(rows), y] -= 1
    elif loss == 'squared_error':
        value, dz = ((z - y) ** 2).sum() / (2 * rows), z - y
    else:
        value, dz = np.abs(z - y).sum() / rows, np.sign(z - y)
    dz /= rows
    da = (dz @ w2.T) * (1 - h * h)
    return value, {'linear1.weight': x.T @ da, 'linear1.bias': da.sum(0, keepdims=True), 'linear2.weight': h.T @ dz,
                   'linear2.bias': dz.sum(0, keepdims=True)}


@pytest.mark.parametrize('loss', ['cross_entropy', 'squared_error', 'absolute_error'])
def test_gradients_of_numpy(loss, random):
    net, (x, y) = small(loss), batch(random, loss)
    value, expected = reference(net.parameters(), x, y, loss)
    assert abs(net.forward(x, y) - value) < 1e-6 * max(1, abs(value))
    net.backward(8)
    assert list(net.gradients()) == list(expected)
    for name, gradient in net.gradients().items():
        np.testing.assert_allclose(gradient, 8 * expected[name], rtol=2e-5, atol=2e-6, err_msg=name)
    # An update takes the scale out, and moves the weights by the rate.
    before, scaler = net.parameters(), LossScaler('static(8)')
    assert net.update(Optimizer('sgd', rate=0.5, momentum=0), scaler) == Update(True, 44, 0)
    for name, weights in net.parameters().items():
        np.testing.assert_allclose(weights, before[name] - 0.5 * expected[name], rtol=2e-5, atol=2e-6, err_msg=name)


PROGRAM = r'''
#include <stdio.h>
#include "halfulp/formats/ieee.h"
#include "halfulp/train/model.h"
#include "halfulp/train/net.h"
int main(void) {
  hu_net *net = hu_net_new(6, 1);
  hu_model model;
  hu_model_sizes sizes = {.height = 1, .width = 3, .channels = 1, .outputs = 4};
  hu_model_ends ends;
  float x[18], loss;
  uint32_t y[6];
  for (int i = 0; i < 18; i++) if (scanf("%a", &x[i]) != 1) return 1;
  for (int i = 0; i < 6; i++) if (scanf("%u", &y[i]) != 1) return 1;
  hu_status s = hu_model_parse(&model, "mlp(layers=1,units=5,activation=tanh)", NULL);
  if (s == HU_OK) s = hu_model_build(net, &model, &sizes, &ends, NULL);
  hu_net_cross_entropy(net, ends.output, 1);
  if (s == HU_OK) s = hu_net_initialize(net, 9);
  hu_rounding v, dv, theta, keep = hu_rounding_keep();
  hu_product_rounding p = hu_product_rounding_plain();
  if (s == HU_OK) s = hu_rounding_parse(&v, "float8_e4m3fn,sra:8", NULL);
  if (s == HU_OK) s = hu_rounding_parse(&dv, "float8_e5m2", NULL);
  if (s == HU_OK) s = hu_rounding_parse(&theta, "bfloat16", NULL);
  if (s == HU_OK) s = hu_rounding_parse(&p.dz_w, "mxfp8_e5m2", NULL);
  if (s == HU_OK) s = hu_accum_parse(&p.z_accum, "seq(binary16)", NULL);
  if (s == HU_OK) s = hu_accum_parse(&p.dw_accum, "kahan(bfloat16)", NULL);
  p.dx_accum = p.z_accum;
  for (int i = 0; i < 4 && s == HU_OK; i++) s = hu_net_round_value(net, i, &v, &dv);
  for (int i = 0; i < 4 && s == HU_OK; i++) s = hu_net_round_parameter(net, i, &theta, &keep);
  if (s == HU_OK) s = hu_net_round_product(net, 1, &p);
  hu_optimizer o = hu_optimizer_adamw(hu_bfloat16());
  hu_loss_rule rule;
  o.weight = hu_binary32();
  o.beta2 = 0.99;
  if (s == HU_OK) s = hu_loss_rule_parse(&rule, "static(1024)", NULL);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (int step = 0; step < 3 && s == HU_OK; step++) {
    s = hu_model_feed(net, &ends, x);
    if (s == HU_OK) s = hu_net_labels(net, y);
    if (s == HU_OK) s = hu_net_forward(net, 1, &loss);
    if (s == HU_OK) s = hu_net_backward(net, scale.scale);
    printf("%a\n", loss);
    for (int i = 0; i < 4; i++) {
      hu_net_tensor t = hu_net_parameter(net, i);
      for (size_t k = 0; k < t.rows * t.cols; k++) printf("%a\n", t.gradients[k]);
    }
    if (s == HU_OK) s = hu_net_update(net, &o, &rule, &scale, NULL, NULL);
  }
  printf("%llx\n", (unsigned long long)hu_net_digest(net));
  hu_net_free(net);
  return s != HU_OK;
}
'''


def test_bits_of_c(random, tmp_path):
    """The same calls from C: losses, gradients and weights of three steps, with roundings of every kind."""
    (tmp_path / 'net.c').write_text(PROGRAM)
    libraries = [pathlib.Path(_abi.train()._name), pathlib.Path(_abi.main()._name)]
    if not all(path.is_file() for path in libraries):
        pytest.skip('the libraries are where the loader alone finds them')
    for path in libraries:  # a wheel has them without the names that the loader looks for
        (tmp_path / (path.name.split('.so')[0] + '.so.0')).symlink_to(path)
    subprocess.run([*shlex.split(os.environ.get('CC', 'cc')), '-std=c11', '-I', str(SOURCE / 'include'), '-o',
                    str(tmp_path / 'net'), str(tmp_path / 'net.c'), *map(str, libraries),
                    '-Wl,-rpath,{}'.format(tmp_path)], check=True)
    x, y = batch(random)
    given = ' '.join([float(number).hex() for number in x.ravel()] + [str(label) for label in y])
    said = subprocess.run([str(tmp_path / 'net')], input=given, check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout.split()
    net, scaler = small(), LossScaler('static(1024)')
    net.round_values('float8_e4m3fn,sra:8', 'float8_e5m2')
    net.round_parameters('bfloat16')
    net.round_products('1.linear', dz_w='mxfp8_e5m2', accum='seq(binary16)', dw_accum='kahan(bfloat16)')
    optimizer, mine = Optimizer('adamw', 'bfloat16', weight='binary32', beta2=0.99), []
    for _ in range(3):
        mine.append(net.forward(x, y))
        net.backward(scaler.scale)
        mine += [float(number) for gradient in net.gradients().values() for number in gradient.ravel()]
        net.update(optimizer, scaler)
    assert [float.fromhex(word) for word in said[:-1]] == mine and len(mine) == 3 * 45
    assert net.digest == said[-1].zfill(16) and scaler.iteration == 3


CONFIG = {'data.set': 'digits', 'run.batch': 64, 'run.seed': 4, 'model.net': 'mlp(layers=2,units=16)',
          'optimizer.momentum': 0.9, 'loss.scale': 'backoff(start=2^30,scale_max=2^30)'}


def test_counts_of_stored_moments(random):
    """Elements and events of each moment, of all updates; a Trainer's are those of its last step."""
    net = Net('mlp(layers=1,units=40)', batch=6, width=9, outputs=4, seed=1)
    for _ in range(2):
        net.forward(random.normal(size=(6, 9)).astype(np.float32), random.integers(0, 4, 6))
        net.backward()
        net.update(Optimizer('adamw', rate=0.1, stored_m='mxfp8_e4m3', stored_v='mxfp4'))
    first, second = net.moment_counts('linear1.weight')
    assert first.elements == second.elements == 2 * 360 and first.inexact > 300 and second.to_zero > first.to_zero
    net.forget_counts()
    assert net.moment_counts('linear1.weight')[1].elements == 0
    with pytest.raises(ValueError, match='there is no parameter'):
        net.moment_counts('linear9.weight')
    keys = {'optimizer.kind': 'adamw', 'optimizer.stored_v': 'mxfp8_e5m2', 'loss.scale': 'none'}
    run = Trainer(dict(CONFIG, **keys), folder=DATA)
    run.step()
    run.step()
    counts = run.net.moment_counts('linear1.weight')
    assert [one.elements for one in counts] == [0, run.net.tensor('linear1.weight').numbers.size]


@pytest.mark.parametrize('system', ['binary32', 'fp16', 's2fp8', 'mxfp8'])
def test_bits_of_a_trainer(system):
    """Fed with the trainer's batches, whose labels are found by their images, a net makes the trainer's steps."""
    trainer = Trainer(dict(CONFIG, **{'precision.system': system}), folder=DATA)
    words = {key.partition('.')[2]: value for key, value in trainer.config.items() if key.startswith('precision.')}
    net = Net(CONFIG['model.net'], batch=64, height=8, width=8, outputs=10, seed=4)
    net.round_values(words['values'], words['gradients'])
    net.round_parameters(words['parameters'], words['parameter_gradients'])
    net.round_products(accum=words['accum'], **{name: words[name] for name in (
        'x', 'w', 'dz', 'w_back', 'x_back', 'dz_w', 'z_out', 'dx_out', 'dw_out')})
    assert net.digest == trainer.digest
    images = np.load(str(DATA / 'digits_images.npy')).reshape(-1, 64).astype(np.float32) / 16
    label = dict(zip((image.tobytes() for image in images), np.load(str(DATA / 'digits_labels.npy'))))
    scaler, optimizer = LossScaler(CONFIG['loss.scale']), Optimizer('sgd', rate=0.1)
    for _ in range(6):
        scale, report = scaler.scale, trainer.step()
        x = trainer.net.values()['0.input']
        loss = net.forward(x, np.array([label[row.tobytes()] for row in x]))
        net.backward(scaler.scale)
        update = net.update(optimizer, scaler)
        assert (loss, scale, update.taken, update.moved, update.lost) == (
            report.loss, report.scale, report.taken, report.moved, report.lost)
        assert net.digest == trainer.digest
        for name, values in trainer.net.values().items():
            assert values.tobytes() == net.values()[name].tobytes(), name
    assert (scaler.skipped > 0) == (system == 'fp16') == (trainer.log['skipped'][-1] > 0)


@pytest.mark.parametrize('kind', ['sgd', 'adamw'])
def test_updates_are_the_optimizers(kind, random):
    """The net's own momenta give what an Optimizer with arrays of its own gives."""
    net, (x, y) = small(), batch(random)
    mine, own, other = list(net.parameters().values()), Optimizer(kind, decay=0.25), Optimizer(kind, decay=0.25)
    for _ in range(3):
        net.forward(x, y)
        net.backward()
        own.step(mine, list(net.gradients().values()))
        net.update(other)
        for one, weights in zip(mine, net.parameters().values()):
            assert one.tobytes() == weights.tobytes()
    assert other.steps == 0  # its arrays are not used


def test_roundings(random):
    net, (x, y) = small(), batch(random)
    plain = net.predict(x)
    np.testing.assert_array_equal(plain, net.output)
    net.round_values('bfloat16', names=['*.tanh', '1.linear'])
    net.forward(x, y)
    for name, values in net.values().items():
        rounded = np.array_equal(values, halfulp.quantize(values, 'bfloat16'))
        assert rounded == (name in ('1.linear', '2.tanh')), name
    assert net.tensor('2.tanh').forward.inexact > 0 == net.tensor('3.linear').forward.inexact
    net.forget_counts()
    assert net.tensor('2.tanh').forward.elements == 0
    net.round_values()
    np.testing.assert_array_equal(net.predict(x), plain)
    net.round_parameters('float4_e2m1fn', names='linear2.*')
    assert not np.array_equal(net.predict(x), plain)
    net.round_parameters()
    net.round_products(x='bfloat16', w='bfloat16', accum='seq(bfloat16)')
    weights = halfulp.quantize(net.parameters()['linear1.weight'], 'bfloat16')
    first = halfulp.gemm(halfulp.quantize(x, 'bfloat16'), weights, accum='seq(bfloat16)')
    net.predict(x)
    np.testing.assert_array_equal(net.values()['1.linear'], first + net.parameters()['linear1.bias'])
    net.round_products(quartet=1)
    assert not np.array_equal(net.predict(x), plain)
    net.round_products()
    np.testing.assert_array_equal(net.predict(x), plain)


@pytest.mark.parametrize('model, sizes, x, rows', [
    ('conv(channels=4)', {'height': 6, 'width': 5, 'channels': 2}, (6, 5, 2), 1),
    ('gru(units=4)', {'height': 6, 'width': 5}, (6, 5), 1), ('linear', {'width': 7}, (7,), 1),
    ('lstm(units=4)', {'steps': 5, 'vocabulary': 6, 'outputs': 6}, (5,), 5),
    ('transformer(units=4,heads=2,hidden=8)', {'steps': 5, 'vocabulary': 6, 'outputs': 0}, (5,), 5),
    ('ncf', {'users': 6, 'items': 6, 'outputs': 2}, (2,), 1)])
def test_models(model, sizes, x, rows, random):
    """Inputs of every kind; values are named by what makes them, and a loss that is learnt falls."""
    net = Net(model, batch=4, seed=2, threads=2, **dict({'outputs': 3}, **sizes))
    tokens = 'steps' in sizes or 'users' in sizes
    numbers = random.integers(2, 6, (4, *x)) if tokens else random.normal(size=(4, *x)).astype(np.float32)
    labels = random.integers(0, 2, (4, rows) if rows > 1 else 4)
    optimizer, losses = Optimizer('adamw', rate=0.02), []
    for _ in range(40):
        losses.append(net.forward(numbers, labels))
        net.backward()
        net.update(optimizer)
    assert losses[-1] < 0.7 * losses[0]
    assert net.output.shape == (4 * rows, net.values()[net.value_names[-2]].shape[1])
    inputs = [name for name in net.value_names if name.endswith('.input')]
    assert inputs[0] == '0.input' and set(net.value_gradients()) == set(net.value_names) - set(inputs)
    net.forward(numbers, labels, training=False)
    seen = net.output  # with running statistics, where there are norms
    np.testing.assert_array_equal(net.predict(numbers), seen)
    net.forward(numbers, labels)
    assert np.array_equal(net.output, seen) == ('conv' not in model)
    if tokens:
        same = net.predict(numbers)
        np.testing.assert_array_equal(net.predict(numbers.astype(np.float32)), same)
        numbers.ravel()[0] = 5
        net.round_values('float4_e2m1fn')  # which has no 5; not the tokens
        net.predict(numbers)
        np.testing.assert_array_equal(net.values()['0.input'].ravel(), (numbers[:, :1] if 'users' in sizes else
                                                                         numbers).ravel())
        with pytest.raises(ValueError, match='x: .*tokens'):
            net.predict(numbers + 1000)


@pytest.mark.parametrize('model, sizes, inputs, rows', [
    ('seq2seq(units=4,heads=2,hidden=8)', {'steps': 5, 'source_vocabulary': 7, 'vocabulary': 6},
     [(0, 7, 5), (1, 6, 1), (0, 6, 5)], 5),
    ('bert(units=4,heads=2,hidden=8)', {'steps': 5, 'vocabulary': 6}, [(0, 6, 5)], 5),
    ('dlrm(bottom=4,top=4)', {'dense': 3, 'categories': 2, 'vocabulary': 9, 'outputs': 2},
     [(None, None, 3), (0, 9, 2)], 1)])
def test_models_of_names(model, sizes, inputs, rows, random):
    """Inputs of several kinds side by side. Without names, tokens are not rounded and dense numbers are; rows without a
    label have no part in the loss."""
    net = Net(model, batch=4, seed=2, **sizes)
    parts = [random.normal(size=(4, n)) if high is None else random.integers(low, high, (4, n)) for low, high, n in inputs]
    x = np.concatenate(parts, axis=1).astype(np.float32)
    labels = random.integers(0, 2, (4, rows) if rows > 1 else 4)
    net.round_values('float4_e2m1fn')  # which has no 5
    net.forward(x, labels)
    names = [name for name in net.value_names if name.endswith('.input')]
    for name, part, (low, _, _) in zip(names, parts, inputs):
        expected = part.astype(np.float32) if low is not None else halfulp.quantize(part.astype(np.float32), 'float4_e2m1fn')
        np.testing.assert_array_equal(net.values()[name].reshape(part.shape), expected)
    some = labels.copy()
    some[0] = -1
    left = net.forward(x, some)
    logits = net.output.reshape(4, rows, -1)[1:].astype(float)
    terms = np.log(np.exp(logits).sum(axis=2)) - np.take_along_axis(logits, labels.reshape(4, rows, 1)[1:], 2)[..., 0]
    assert abs(left - terms.mean()) < 1e-5 and left != net.forward(x, labels)
    with pytest.raises(ValueError, match='y: .*-1'):
        net.forward(x, labels - 3)
    with pytest.raises(ValueError, match='y: no row'):
        net.forward(x, np.full_like(labels, -1))


def test_errors(random):
    net, (x, y) = small(), batch(random)
    square, digest = small('squared_error'), net.digest
    for call, kind, words in [
            (lambda: Net('mlp(layer=1)', batch=1, width=1, outputs=1), ValueError, "model: .*'layer=1"),
            (lambda: Net('mlp', batch=1, outputs=2), ValueError, 'height'),
            (lambda: Net('mlp', batch=1, size=2), TypeError, "'size'.*height"),
            (lambda: Net('mlp', batch=1, width=-1), ValueError, 'width'),
            (lambda: Net('mlp', batch=1, width=2**64 + 1, outputs=2), ValueError, 'width'),
            (lambda: Net('mlp', batch=0, width=1, outputs=1), ValueError, 'batch'),
            (lambda: Net('mlp', batch=1, width=1, outputs=1, threads=0), ValueError, 'threads'),
            (lambda: Net('mlp', batch=1, width=1, outputs=1, seed=-1), ValueError, 'seed'),
            (lambda: Net('mlp', batch=1, width=1, outputs=1, loss='hinge'), ValueError, 'cross_entropy'),
            (lambda: net.forward(x[:5], y), ValueError, 'x: shape'),
            (lambda: net.forward(x.T, y), ValueError, 'x: shape'),
            (lambda: net.forward(x[:, :2], y), ValueError, 'x: shape'),
            (lambda: net.forward(x, np.stack([y, y], 1)), ValueError, 'y: '),
            (lambda: net.forward(np.float32(1), y), ValueError, 'x: shape'),
            (lambda: Net('mlp', batch=1, width=1, outputs=2).forward([[1.0]], 1), ValueError, 'y: '),

            (lambda: net.forward(x.astype(np.float64) + 1e-9, y), TypeError, 'is no float32'),
            (lambda: net.forward(x, y[:5]), ValueError, 'y: '),
            (lambda: net.forward(x, y + 4), ValueError, 'not 0 to 3'),
            (lambda: net.forward(x, y - 4), ValueError, 'not 0 to 3'),
            (lambda: net.forward(x, y.astype(np.float32)), ValueError, 'y: float32'),
            (lambda: square.forward(x, x), ValueError, 'y: shape'),
            (lambda: square.forward(x, np.zeros((4, 6), np.float32)), ValueError, 'y: shape'),
            (net.backward, ValueError, 'backward'), (lambda: net.update(Optimizer()), ValueError, 'update'),
            (lambda: net.update('sgd'), TypeError, 'Optimizer'),
            (lambda: net.round_values('fp9'), ValueError, 'fp9'),
            (lambda: net.round_values('keep', 'fp9'), ValueError, 'fp9'),
            (lambda: net.round_values(names='*.gelu'), ValueError, r"'\*.gelu' is not a value; there are 0.input"),
            (lambda: net.round_parameters(names=['linear1.*', 'x']), ValueError, "'x' is not a parameter"),
            (lambda: net.round_products('2.tanh'), ValueError, "'2.tanh' is not a value of a product"),
            (lambda: net.round_products(y='keep'), TypeError, "'y'"),
            (lambda: net.round_products(hadamard=5), ValueError, '1.linear'),
            (lambda: net.round_products(by_window=256), ValueError, 'by_window'),
            (lambda: net.round_products(quartet=3), ValueError, 'quartet'),
            (lambda: net.round_products(quartet=1, x='bfloat16'), ValueError, '1.linear'),
            (lambda: net.round_products(w_average=0.5), ValueError, '1.linear'),
            (lambda: Net('mlp', batch=1, width=9, users=1, outputs=2).predict(x[:1, :2]), ValueError, '9 numbers'),
            (lambda: net.round_products(accum='nothing'), ValueError, 'nothing')]:
        with pytest.raises(kind, match=words):
            call()
    net.forward(x, y, training=False)
    with pytest.raises(ValueError, match='backward'):
        net.backward()
    net.forward(x, y)
    net.backward()
    net.update(Optimizer('sgd', rate=0.0))
    assert net.digest == digest
    with pytest.raises(ValueError, match='update'):
        net.update(Optimizer())
    with net:
        pass
    for call in (lambda: net.forward(x, y), lambda: net.digest, net.parameters, net.backward, net.forget_counts):
        with pytest.raises(ValueError, match='the net is closed'):
            call()


@pytest.mark.parametrize('side', [6, 7, 17, 18, 21, 24])
def test_factor_of_attention(side):
    """The binary32 number nearest to 1 / sqrt(d / heads); the quotient of a rounded root is another one."""
    net = Net('transformer(layers=1,units={},heads=2,hidden=4)'.format(2 * side), batch=1, steps=3, vocabulary=5, seed=1)
    net.forward([[0, 3, 4]], [[1, 2, 3]])
    values = net.values()
    row, scores = values['4.linear'], values['5.scores']  # queries, keys and values; rows (head, step)
    twice = np.float32(1) / np.sqrt(np.float32(side))
    factor = min([np.nextafter(twice, np.float32(far)) for far in (0, 1)], key=lambda c: abs(Fraction(float(c))**2 * side - 1))
    low, high = ((Fraction(float(factor)) + Fraction(float(np.nextafter(factor, np.float32(far))))) / 2 for far in (0, 1))
    assert low**2 * side < 1 < high**2 * side
    for head in 0, 1:
        q, k = (row[:, start:start + side] for start in (head * side, (2 + head) * side))
        expected = halfulp.gemm(q, np.ascontiguousarray(k.T), accum='fp32') * factor
        assert expected.tobytes() == scores[3 * head:3 * head + 3].tobytes()
    assert side != 6 or factor.tobytes() == bytes.fromhex('ec05d13e')


def test_absolute_error_of_nan():
    """dv of c = x - target is dv w by the sign of c; +0 where c is 0, and NaN where c is NaN."""
    net = small('absolute_error')
    x = np.zeros((6, 3), np.float32)
    net.forward(x, np.zeros((6, 4), np.float32))
    target = net.output.copy()
    target[0], target[1, 0], target[2, 0] = np.nan, np.inf, -np.inf
    net.forward(x, target)
    net.backward()
    got = net.value_gradients()[net.value_names[-2]]
    w = np.float32(1) / np.float32(6)
    expected = np.zeros((6, 4), np.float32)
    expected[0], expected[1, 0], expected[2, 0] = np.nan, -w, w
    assert got.tobytes() == expected.tobytes()


def test_text_of_layers(random):
    """A network's text, what it is described as, and a trainer's file of it."""
    text = ('key wide = 4\nx = input(1, data.width)\nblock f(x, n)\n  return tanh(linear(x, n))\nend\n'
            'output linear(f(x, wide), data.outputs)\n')
    net, named = Net(text, keys='wide=5', batch=6, width=3, outputs=4, seed=9), small()
    assert net.digest == named.digest and net.describe() == named.describe()
    assert net.describe().splitlines()[1] == 'v1 = linear(v0, 5)  # 5; 20 parameters'
    x, y = batch(random)
    assert net.forward(x, y) == named.forward(x, y)
    assert Net(net.describe(), batch=6, width=3, outputs=4, seed=9).digest == net.digest
    for model, keys, says in ((text, 'high=1', "line .*: there is no key 'high'"), ('mlp', 'wide=1', 'model is a name'),
                              (text + 'x = )\n', '', 'line 7'), (text.replace('tanh', 'swish'), '', "line 4: .*'swish'")):
        with pytest.raises(ValueError, match=says):
            Net(model, keys=keys, batch=6, width=3, outputs=4)


@pytest.mark.parametrize('model', ['lstm(units=4)', 'seq2seq(units=4)', 'dlrm(units=2)', 'ncf', 'conv'])
def test_inputs_of_names(model):
    """Inputs of tokens, lengths and categories, which are left out when all values are rounded."""
    sizes = dict(height=4, width=4, outputs=2) if model == 'conv' else dict(
        steps=3, vocabulary=5, source_vocabulary=5, users=3, items=3, dense=3, categories=2,
        **({'outputs': 5} if 'lstm' in model or 'seq' in model else {'outputs': 2}))
    net = Net(model, batch=2, **sizes)
    plain = net.predict(np.ones((2, net._each), np.float32))
    net.round_values('float4_e2m1fn')
    assert plain.shape == net.predict(np.ones((2, net._each), np.float32)).shape
    seen = [net.tensor(name).forward.inexact for name in net.values() if name.endswith('.input')]
    net.predict(np.full((2, net._each), 2.5 if model == 'conv' else 2, np.float32))
    assert len(net._tokens) == {'lstm': 1, 'seq2': 3, 'dlrm': 1, 'ncf': 2, 'conv': 0}[model[:4]] and not any(seen)


def test_trainers_masks(tmp_path):
    """A text says that its model is masked, and has the batches of bert."""
    keys = {'data.set': 'text', 'model.net': 'bert(units=4,hidden=4)', 'run.steps': 2, 'run.batch': 2, 'data.window': 9}
    named, path = Trainer(keys, folder=DATA), tmp_path / 'mine.net'
    path.write_text(named.describe())
    own = Trainer(dict(keys, **{'model.file': str(path)}), folder=DATA)
    assert [named.step().loss for _ in range(2)] == [own.step().loss for _ in range(2)] and named.digest == own.digest
    path.write_text(named.describe().replace(', masked=1', ''))
    other = Trainer(dict(keys, **{'model.file': str(path)}), folder=DATA)
    assert other.step().loss != named.log['loss'][0]


def test_weights_are_whole(tmp_path):
    """Weights that float32 does not hold are neither set nor written, also where others go before them."""
    net, path = small(), tmp_path / 'w.safetensors'
    before, ones = net.digest, {name: np.ones_like(own) for name, own in net.parameters().items()}
    for last in (ones['linear2.bias'] * 1j, np.full((1, 4), 0.1), np.full((1, 4), 'a')):
        with pytest.raises(TypeError, match='linear2.bias'):
            net.load_weights(dict(ones, **{'linear2.bias': last}))
        with pytest.raises(TypeError, match='linear2.bias'):
            write_weights(path, dict(ones, **{'linear2.bias': last}))
        assert net.digest == before and not path.exists()
    for name in ('__metadata__', 3):
        with pytest.raises(ValueError, match='name of a tensor'):
            write_weights(path, {name: np.ones((1, 1), np.float32)})
    write_weights(path, {name: own.astype(np.float64) for name, own in ones.items()})
    net.load_weights(path)
    assert all((own == 1).all() for own in net.parameters().values())


def test_trainers_network(tmp_path):
    """model.file is a network's text."""
    path = tmp_path / 'mine.net'
    path.write_text(Net(CONFIG['model.net'], batch=1, height=8, width=8, outputs=10).describe())
    run, named = (Trainer(dict(CONFIG, **more), folder=DATA) for more in ({'model.file': str(path)}, {}))
    assert [run.step().loss for _ in range(3)] == [named.step().loss for _ in range(3)] and run.digest == named.digest
    assert run.describe() == named.describe() == path.read_text()
    run.net.save_weights(tmp_path / 'w.safetensors')
    named.step()
    named.net.load_weights(tmp_path / 'w.safetensors')
    assert named.net.digest == run.digest != Trainer(CONFIG, folder=DATA).digest
    with pytest.raises(TypeError, match='model: give a text, not bytes'):
        Net(path.read_bytes(), batch=1)
    for text, says in (('x = image(8, 8, 1)\noutput linear(x, 10)\n', 'model.file: has 64 rows of outputs'),
                       ('x = input(1, 63)\noutput linear(x, 10)\n', 'reads 63 numbers'),
                       ('x = input(1, 64)\n\noutput add(x, linear(x, 10))', 'mine.net: line 3: add of 64 and 10'),
                       ('x = 3 +\n', 'mine.net: line 1: a number'), ('x = 3\0\n', 'zero byte')):
        path.write_text(text)
        with pytest.raises(ValueError, match=says):
            Trainer(dict(CONFIG, **{'model.file': str(path)}), folder=DATA).step()
    with pytest.raises(ValueError, match='model.keys'):
        Trainer(dict(CONFIG, **{'model.keys': 'a=1'}), folder=DATA).step()
    with pytest.raises(ValueError, match='has 3 outputs, and the data'):
        path.write_text('x = input(32, 1)\noutput linear(embedding(x, data.vocabulary, 4), 3)\n')
        Trainer({'data.set': 'text', 'model.file': str(path), 'run.steps': 1}, folder=DATA).step()
