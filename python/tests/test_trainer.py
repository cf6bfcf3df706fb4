# SPDX-License-Identifier: MIT
"""Whole runs from Python against those of `halfulp train`, and what a trainer does when it is disturbed."""
import csv
import gc
import json
import os
import pathlib
import random as random_numbers
import shutil
import signal
import subprocess
import threading
import weakref

import numpy as np
import pytest

import halfulp
from halfulp.train import Counts, Log, Report, Trainer, keys

SOURCE = pathlib.Path(os.environ.get('HALFULP_SOURCE', pathlib.Path(__file__).resolve().parents[2]))
EXAMPLES, DATA = SOURCE / 'examples' / 'train', SOURCE / 'data'
SMALL = {'data.set': 'gratings', 'data.count': 96, 'data.test': 32, 'data.size': 8, 'run.batch': 16, 'run.epochs': 2,
         'model.net': 'conv(channels=4)', 'optimizer.momentum': 0.9, 'precision.system': 'bfloat16'}


def command():
    """The command `halfulp` of the library that is tested."""
    beside = pathlib.Path(os.environ.get('HALFULP_LIBRARY', '.')) / 'cli' / 'halfulp'
    found = os.environ.get('HALFULP_COMMAND') or (str(beside) if beside.is_file() else shutil.which('halfulp'))
    if not found:
        pytest.skip('there is no command `halfulp`')
    return found


def called(*words):
    return subprocess.run([command(), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)


def table(path):
    """The columns of a CSV file as float64; an empty cell is NaN."""
    with open(str(path), newline='') as file:
        rows = list(csv.reader(file))
    return {name: np.array([float(row[at] or 'nan') for row in rows[1:]]) for at, name in enumerate(rows[0])}


def same_tensors(one, other):
    assert list(one) == list(other) and len(one) > 3
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


# Deterministic and stochastic roundings, momenta, norms; an assignment and a loss scale that moves.
@pytest.mark.parametrize('name', ['digits-s2fp8', 'gratings-bf16', 'assignment'])
def test_as_the_command(name, tmp_path):
    config, out = EXAMPLES / (name + '.ini'), tmp_path / 'run'
    said = called('train', config, '--set', 'run.steps=40', '--every', 1, '--json', '-q', '-o', out)
    assert said.returncode == 0, said.stderr
    told = json.loads(said.stdout)
    trainer = Trainer(config, {'run.steps': 40})
    log = trainer.run(evaluate_every=trainer.steps_an_epoch)
    assert trainer.digest == told['digest'] == trainer.net.digest and trainer.steps == told['steps'] == 40
    assert trainer.memory._asdict() == told['memory'] and trainer.stored._asdict() == told['stored']
    there = table(out / 'log.csv')
    assert set(there) < set(log) and len(there['loss']) == 40
    for column in there:
        np.testing.assert_array_equal(log[column], there[column], column)
    seen = table(out / 'evaluations.csv')
    assert set(seen) == set(log.evaluations)
    for column in seen:
        np.testing.assert_array_equal(log.evaluations[column], seen[column], column)
    other = Trainer(config, {'run.steps': 40})
    other.load(out / 'checkpoint.safetensors')
    assert other.done and other.digest == told['digest']
    same_tensors(other.state_dict()['tensors'], trainer.state_dict()['tensors'])
    assert other.state_dict()['state'] == trainer.state_dict()['state']


def test_keys_are_the_commands():
    rows = json.loads(called('train', '--keys', '--json').stdout)
    assert len(rows) == len(keys()) > 80
    for row, key in zip(rows, keys()):
        assert (row['id'], row['default'], row['what'], row['weights']) == key[:4]
        assert tuple(row.get('values', ())) == key.values
        assert (tuple(row['range']) if 'range' in row else None) == key.range


# ---- configurations ----


def test_dicts():
    flat = Trainer({'optimizer.rate': 0.5, 'precision.x': 'bfloat16', 'precision.system': 's2fp8', 'data.raw': True,
                    'run.seed': np.int64(3), 'optimizer.decay': np.float32(0.25)})
    assert flat.config['precision.x'] == 'bfloat16' and flat.config['precision.w'] == 's2fp8'
    assert [flat.config[key] for key in ('optimizer.rate', 'data.raw', 'run.seed', 'optimizer.decay')] == [
        '0.5', 'yes', '3', '0.25']
    nested = Trainer({'optimizer': {'rate': 0.5, 'decay': 0.25}, 'precision': {'x': halfulp.Format('bfloat16'),
                      'system': 's2fp8'}, 'data.raw': 'yes', 'run': {'seed': '3'}})
    # Another text of the same format.
    assert halfulp.Format(nested.config['precision.x']) == halfulp.Format('bfloat16')
    assert dict(nested.config, **{'precision.x': 'bfloat16'}) == flat.config
    assert Trainer(flat.config).config == flat.config
    changed = Trainer({'precision.x': 'keep'}, {'precision.system': 's2fp8', 'optimizer.kahan': ['a', 'b']})
    assert changed.config['precision.x'] == 's2fp8' and changed.config['optimizer.kahan'] == 'a,b'
    assert Trainer().config == {key.name: key.default for key in keys()}


def test_wrong_configurations():
    for config, kind, words in [
            ({'optimizer.rte': 1}, ValueError, 'optimizer.rte: there is no such key; perhaps optimizer.rate'),
            ({'rate': 1}, ValueError, 'perhaps optimizer.rate'),
            ({'zzz.zzz': 1}, ValueError, r'halfulp.train.keys\(\)'),
            ({'optimizer.rate': 'abc'}, ValueError, "optimizer.rate: 'abc' is not a number from 0 to 1000000"),
            ({'optimizer.rate': None}, TypeError, 'optimizer.rate: .*NoneType'),
            ({'optimizer.rate': 1, 'optimizer': {'rate': 1}}, ValueError, 'optimizer.rate: given twice'),
            ({'precision.system': 'fp9'}, ValueError, "'fp9' is not one of binary32"),
            ({'run.name': 'a\0b'}, ValueError, 'run.name'), ({3: 1}, TypeError, '3 is no key'),
            (5, TypeError, 'config')]:
        with pytest.raises(kind, match=words):
            Trainer(config)
    for config, kind, words in [({'loss.kind': 'squared_error'}, ValueError, 'loss.kind: the data have no targets'),
                                ({'run.device': 'cuda'}, RuntimeError, 'run.device'),
                                ({'data.path': 'nowhere'}, ValueError, 'digits_images.npy')]:
        trainer = Trainer(config, folder=DATA)
        for _ in range(2):  # the second call has the same answer: nothing was begun
            with pytest.raises(kind, match=words):
                trainer.begin()
        assert repr(trainer) == 'Trainer(not begun)'
    with pytest.raises(OSError):
        Trainer('nowhere.ini')


def test_where_data_are(tmp_path, monkeypatch):
    """In the folder, else what comes with halfulp in ./data; beside a configuration file; at a path of its own."""
    monkeypatch.chdir(str(tmp_path))
    with pytest.raises(ValueError, match='digits_images.npy'):
        Trainer().begin()
    (tmp_path / 'data').symlink_to(DATA)
    (tmp_path / 'run.ini').write_text('[run]\nepochs = 1\n')
    digests = {Trainer().data_digest, Trainer(folder=DATA).data_digest, Trainer(tmp_path / 'run.ini').data_digest,
               Trainer({'data.path': 'data'}).data_digest, Trainer({'data.path': 'data'}, folder=tmp_path).data_digest,
               Trainer({'data.raw': True}, {'data.raw': False}).data_digest}
    assert len(digests) == 1 and len(digests.pop()) == 16
    assert Trainer({'data.raw': True}).data_digest != Trainer().data_digest
    os.mkdir(str(tmp_path / 'own'))
    shutil.copy(str(DATA / 'digits_labels.npy'), str(tmp_path / 'own'))
    np.save(str(tmp_path / 'own' / 'digits_images.npy'), np.load(str(DATA / 'digits_images.npy'))[::-1])
    assert Trainer(folder='own').data_digest != Trainer().data_digest
    text = Trainer({'data.set': 'text', 'model.net': 'lstm(units=4)', 'run.steps': 1, 'run.batch': 2})
    text.step()
    assert text.net.layers == ['embedding1', 'lstm1', 'linear1']


ODD = ('\ufeff; a comment\n  # another\n[run]\nname: a = b ; c\n\n[optimizer] ; of steps\nkahan = linear1.weight,\n'
       '  ; in between\n\n\tlinear2.weight ; and so on\n  [x]\n[data]\n  set = gratings\nsize=8\r\n'
       'count =\t64\ntest=32\n'
       'path =\nlabels = ; nothing\n[run]\nepochs = 0\nseed = 1;2\n')


def test_a_file_of_all_kinds_of_lines(tmp_path):
    """The command writes down how it has read it."""
    path = tmp_path / 'odd.ini'
    path.write_bytes(ODD.replace('1;2', '12').replace('linear2.weight ; and so on\n  [x]',
                                                      'linear2.weight ; and so on').encode())
    said = called('train', path, '-q', '-o', tmp_path / 'out')
    assert said.returncode == 0, said.stderr
    trainer = Trainer(path)
    assert trainer.config == Trainer(tmp_path / 'out' / 'config.ini').config
    assert trainer.config['run.name'] == 'a = b'
    assert trainer.config['optimizer.kahan'] == 'linear1.weight,linear2.weight'
    assert trainer.config['data.size'] == '8' and trainer.config['run.epochs'] == '0'


@pytest.mark.parametrize('text', [
    ODD, '[optimizer]\nrate = 1\nrate = 2\n', 'rate = 1\n', '[run]\n= 3\n', '[run]\nseed 3\n', '[run\nseed = 3\n',
    '[run ;]\n', '[run]\nname =;x\n', '[run]\nseed = ;x\n', '[run]\nname = ' + 'x' * 190 + '\n', '[run]\nname = \x01\n',
    '[run]\nname = \xff\n',
    '[optimizer]\nrate = abc\n', '[optimizer]\nrte = 1\n', '[run]\nx ; = 3\n', '[precision]\nx = s2fp8\nsystem = fp9\n',
    '[run]\nname = a\n  [b]\n[run]\nseed = x\n'])
def test_wrong_files_have_the_commands_sentence(text, tmp_path):
    path = tmp_path / 'wrong.ini'
    path.write_bytes(text.encode('latin-1' if '\xff' in text else 'utf-8'))
    said = called('train', path, '-q', '-o', tmp_path / 'out')
    assert said.returncode == 2 and not (tmp_path / 'out').exists()
    with pytest.raises(ValueError) as error:
        Trainer(path)
    # Up to the list of words, which the command cuts off, and the status, which it does not name.
    sentence = said.stderr[len('halfulp: '):].strip().partition(', fp8_e5m2, ...')[0]
    assert str(error.value).startswith(sentence), (str(error.value), sentence)


# Sets whose evaluations have more columns: texts, and pairs of users and items.
FIGURES = {
    'text': ({'data.path': DATA / 'xz_file_format.txt', 'model.net': 'lstm(units=8)', 'run.batch': 4},
             ['training_perplexity', 'test_perplexity']),
    'words': ({'data.path': DATA / 'xz_file_format.txt', 'model.net': 'lstm(units=8)', 'run.batch': 4,
               'data.vocabulary': 50}, ['training_perplexity', 'test_perplexity']),
    'ratings': ({'data.implicit': 'yes', 'model.net': 'ncf'}, ['training_auc', 'test_auc']),
    'movielens': ({'data.candidates': 12, 'model.net': 'ncf', 'run.batch': 16},
                  ['training_auc', 'test_auc', 'test_hit_rate_10', 'test_ndcg_10']),
}


@pytest.mark.parametrize('name', sorted(FIGURES))
def test_figures_of_evaluations(name, tmp_path):
    pairs, columns = FIGURES[name]
    rows = ['{}::{}::{}::{}\n'.format(u, 1 + (u * u + 3 * i) % 40, 1 + i % 5, i) for u in range(1, 9) for i in range(12)]
    (tmp_path / 'ratings.dat').write_text(''.join(rows))
    config = dict({key: str(value) for key, value in pairs.items()}, **{'data.set': name, 'run.steps': '4'})
    (tmp_path / 'x.ini').write_text('')
    sets = [word for key, value in config.items() for word in ('--set', '{}={}'.format(key, value))]
    said = called('train', tmp_path / 'x.ini', *sets, '-q', '-o', tmp_path / 'out')
    assert said.returncode == 0, said.stderr
    trainer = Trainer(config, folder=tmp_path)
    log = trainer.run(evaluate_every=100)
    seen = table(tmp_path / 'out' / 'evaluations.csv')
    assert list(seen) == list(log.evaluations) and list(seen)[8:] == columns
    for column in seen:
        np.testing.assert_array_equal(log.evaluations[column], seen[column], column)
        assert column not in columns or not np.isnan(seen[column]).any()
    assert trainer.log.evaluations.keys() == log.evaluations.keys()
    test = trainer.evaluate('test')
    assert [test.hit, test.ndcg] == [seen[name][-1] for name in columns[2:]] or np.isnan([test.hit, test.ndcg]).all()


# ---- steps and logs ----


def test_log():
    trainer = Trainer(SMALL)
    log = trainer.run(5, every=3, evaluate_every=4)
    assert isinstance(log, Log) and log['step'].tolist() == [3, 5] and log.evaluations['step'].tolist() == [4]
    report = trainer.step()
    assert isinstance(report, Report) and report.step == trainer.at == 6 and report.taken is True
    rest = trainer.run(100, evaluate_every=100)
    assert rest['step'].tolist() == list(range(7, 13)) and rest.evaluations['step'].tolist() == [12] and trainer.done
    whole = trainer.log
    assert whole['step'].tolist() == [3, 5, 6] + list(range(7, 13))
    assert whole.evaluations['test_accuracy'].shape == (2,) and not len(trainer.run()['loss'])
    for at, name in enumerate(Report._fields):
        if name in ('forward', 'backward'):
            for place, part in enumerate(Counts._fields):
                column = whole['{}_{}'.format(name, part)]
                assert column.dtype == np.int64 and column[2] == report[at][place]
        else:
            assert whole[name][2] == report[at]
    assert whole['taken'].dtype == np.bool_ and whole['loss'].dtype == np.float64 and whole['step'].dtype == np.int64
    assert (whole['forward_elements'] > 0).all() and whole['epoch'][-1] == 1
    assert trainer.evaluate('test').accuracy == whole.evaluations['test_accuracy'][-1]
    assert trainer.evaluate('train').loss == whole.evaluations['training_loss'][-1]
    for call, words in [(trainer.step, 'all 12 steps'), (lambda: trainer.evaluate('exam'), 'on: '),
                        (lambda: trainer.run(every=0), 'every'), (lambda: trainer.run(-1), 'steps'),
                        (lambda: trainer.run(evaluate_every=0), 'evaluate_every')]:
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize('again', ['binary32', 'weights'])
def test_evaluated_twice(again, tmp_path):
    """Rows of the command, columns of the log and single evaluations."""
    config = dict(SMALL, **{'optimizer.average': 0.9, 'run.again': again})
    trainer = Trainer(config)
    seen = trainer.run(every=100, evaluate_every=6).evaluations
    (tmp_path / 'x.ini').write_text(''.join('[{}]\n{} = {}\n'.format(*key.split('.'), value) for key, value in config.items()))
    said = called('train', tmp_path / 'x.ini', '--json', '-q', '-o', tmp_path / 'run')
    assert said.returncode == 0, said.stderr
    rows = table(tmp_path / 'run' / 'evaluations.csv')
    assert list(rows) == list(seen) and list(rows)[-3:] == ['again_loss', 'again_accuracy', 'again_r2']
    for name, column in rows.items():
        assert column.tobytes() == seen[name].astype(np.float64).tobytes(), name
    other = trainer.evaluate('test', averaged=again != 'weights', rounded=again != 'binary32')
    first = trainer.evaluate('test')
    assert other.loss == seen['again_loss'][-1] != first.loss == seen['test_loss'][-1]
    last = json.loads(said.stdout)['again']
    assert (last['loss'], last['accuracy'], last['r2']) == (other.loss, other.accuracy, None)
    plain = Trainer(dict(SMALL))
    plain.run()
    assert plain.digest == trainer.digest and plain.evaluate('test').loss == trainer.evaluate('test', averaged=False).loss


def whole_run():
    trainer = Trainer(SMALL)
    trainer.run()
    return trainer


def test_callbacks():
    trainer = Trainer(SMALL)
    assert trainer.run(every=100, callback=lambda report: report.step == 4)['step'].tolist() == [4]

    def fail(report):
        trainer.evaluate('test')
        if report.step == 7:
            raise LookupError('enough')
    with pytest.raises(LookupError, match='enough'):
        trainer.run(callback=fail)
    assert trainer.log['step'].tolist() == [4, 5, 6, 7] == [4] + list(trainer.log['step'][1:])
    trainer.run()
    assert trainer.digest == whole_run().digest


def test_interrupt():
    """In the middle of a callback: the step and the callback come to their ends, and the run continues as if nothing
    had been."""
    trainer, ends = Trainer(SMALL), []

    def press(report):
        if report.step == 3:
            signal.raise_signal(signal.SIGINT)
        ends.append(report.step)
    with pytest.raises(KeyboardInterrupt):
        trainer.run(callback=press)
    assert ends == [1, 2, 3] == trainer.log['step'].tolist()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    trainer.run()
    assert trainer.digest == whole_run().digest and trainer.log['step'].tolist() == list(range(1, 13))


def test_interrupt_at_the_last_step_and_twice():
    trainer = Trainer(SMALL)
    with pytest.raises(KeyboardInterrupt):
        trainer.run(2, callback=lambda report: signal.raise_signal(signal.SIGINT) if report.step == 2 else None)
    ends = []

    def press(report):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        ends.append(report.step)
    with pytest.raises(KeyboardInterrupt):
        trainer.run(callback=press)
    assert not ends and trainer.at == 3
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        trainer.run(1, callback=lambda report: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads():
    """A run in a thread has the same bits, and another thread is refused meanwhile."""
    trainer, inside, leave, digests = Trainer(SMALL), threading.Event(), threading.Event(), []

    def work():
        with trainer._held:
            inside.set()
            leave.wait(60)
        trainer.run()
        digests.append(trainer.digest)
    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(60)
    for call in (lambda: trainer.config, trainer.step, trainer.close):
        with pytest.raises(halfulp.HalfulpError, match='another thread'):
            call()
    leave.set()
    thread.join()
    assert digests == [whole_run().digest]


def test_shards():
    """Batch norms with statistics of the whole batch have nets of their own; error feedback has residuals."""
    more = {'parallel.shards': 4, 'parallel.reduce': 'ring(bfloat16)', 'parallel.feedback': 'own',
            'parallel.statistics': 'batch', 'precision.system': 'binary32'}
    trainer, other = Trainer(SMALL, more), Trainer(SMALL, dict(more, **{'run.threads': 2}))
    trainer.run(3)
    state = trainer.state_dict()
    assert any(np.any(x) for name, x in state['tensors'].items() if name.endswith('.residual'))
    other.load_state_dict(state)
    trainer.run()
    other.run()
    assert trainer.digest == other.digest != whole_run().digest


# ---- states ----


def test_states(tmp_path):
    trainer, path = Trainer(SMALL), tmp_path / 'half.safetensors'
    trainer.run(5)
    trainer.save(path)
    assert [one.name for one in tmp_path.iterdir()] == ['half.safetensors']
    trainer.run(3)
    trainer.load(path)
    assert trainer.at == 5 and trainer.log['step'].tolist() == [1, 2, 3, 4, 5]
    other = Trainer(SMALL, {'run.epochs': 3})  # longer
    other.load(path)
    trainer.run()
    other.run(7)
    assert trainer.digest == other.digest == whole_run().digest
    same_tensors(trainer.state_dict()['tensors'], other.state_dict()['tensors'])
    other.run()
    assert other.at == 18
    longer = Trainer(SMALL, {'run.epochs': 3})
    longer.run()
    assert other.digest == longer.digest
    names = list(trainer.state_dict()['tensors'])
    assert names[:2] == ['conv1.weight', 'conv1.weight.momentum'] and any('running' in name for name in names)


def test_wrong_states(tmp_path):
    trainer, path = Trainer(SMALL), tmp_path / 'state.safetensors'
    trainer.run(2)
    trainer.save(path)
    good, data = trainer.state_dict(), path.read_bytes()
    trainer.run(1)
    at = trainer.digest

    def changed(**more):
        return dict(good, **{part: dict(good[part], **one) for part, one in more.items()})
    missing = dict(good, tensors={k: v for k, v in good['tensors'].items() if k != 'conv1.weight'})
    wrong = [({}, 'no dicts'), (missing, "tensor 'conv1.weight' is missing"),
             (changed(tensors={'conv1.weight': np.zeros((2, 2), np.float32)}), 'conv1.weight'),
             (changed(tensors={'conv1.weight': good['tensors']['conv1.weight'].astype(float)}), 'float64'),
             (changed(state={'optimizer.rate': '0.2'}), "optimizer.rate is '0.2' there, '0.1' here"),
             (changed(state={'step': 'x'}), 'state'), (changed(state={'step': '13'}), '13 steps are done'),
             (changed(state={'scale': '0'}), 'not whole')]
    for state, words in wrong:
        with pytest.raises(ValueError, match=words):
            trainer.load_state_dict(state)
        assert trainer.digest == at and trainer.at == 3
    resume = trainer._resume

    def press(*state):  # behind the last call of the library
        trainer._resume = resume
        resume(*state)
        signal.raise_signal(signal.SIGINT)
    trainer._resume = press
    with pytest.raises(KeyboardInterrupt):
        trainer.load_state_dict(good)
    assert trainer.digest == at and trainer.at == 3
    header = data[:8]
    for text, words in [(b'', 'not a safetensors file$'), (data[:50], 'not a safetensors file$'),
                        (header + b'x' * (len(data) - 8), 'JSON'),
                        (data[:-4], 'is not a whole one of F32'),
                        (data.replace(b'halfulp trainer, 1', b'halfulp trainer, 2'), 'not a checkpoint')]:
        path.write_bytes(text)
        with pytest.raises(ValueError, match=words):
            trainer.load(path)
        assert trainer.digest == at
    with pytest.raises(OSError):
        trainer.load(tmp_path / 'nowhere')
    with pytest.raises(OSError):
        trainer.save(tmp_path / 'nowhere' / 'x')
    trainer.run()
    assert trainer.digest == whole_run().digest


# ---- tensors ----


def test_tensors_between_steps():
    trainer = Trainer({'data.set': 'digits', 'model.net': 'mlp(layers=1,units=8)', 'loss.scale': 'static(64)'},
                      folder=DATA)
    net = trainer.net
    assert net.value_names == ['0.input', '1.linear', '2.relu', '3.linear', '4.cross_entropy']
    assert net.layers == ['linear1', 'linear2'] and net.shapes['linear1.weight'] == (64, 8)
    assert net.shapes['2.relu'] == (64, 8) and net.shapes['linear2.bias'] == (1, 10)
    before = net.parameters()
    report = trainer.step()
    values, gradients, after = net.values(), net.gradients(), net.parameters()
    np.testing.assert_array_equal(values['2.relu'], np.maximum(values['1.linear'], 0))
    assert values['4.cross_entropy'][0, 0] == np.float32(report.loss)
    back = net.value_gradients()
    assert list(back) == net.value_names[1:] and back['4.cross_entropy'][0, 0] == 64 == report.scale
    for name in before:  # SGD without momentum, each operation rounded
        np.testing.assert_array_equal(after[name], before[name] - np.float32(0.1) * gradients[name], name)
    # The gradient of the weights is X^T dZ; it has lost the factor of the loss scale.
    np.testing.assert_allclose(gradients['linear1.weight'], values['0.input'].T @ back['1.linear'] / 64, rtol=1e-4,
                               atol=1e-7)
    assert report.largest_gradient == max(np.abs(x).max() for x in gradients.values())
    one = net.tensor('1.linear')
    assert one.forward.elements == one.backward.elements == 512 and one.forward.inexact == one.backward.inexact == 0
    np.testing.assert_array_equal(one.gradient, back['1.linear'])


def test_set_parameter():
    trainer = Trainer(SMALL)
    net, digest = trainer.net, trainer.digest
    own = np.arange(36, dtype=np.float32).reshape(9, 4)
    net.set_parameter('conv1.weight', own.T.copy().T)
    assert net.parameters()['conv1.weight'].tobytes() == own.tobytes() and trainer.digest != digest
    net.set_parameter('conv1.weight', own.astype(np.float16))
    assert net.parameters()['conv1.weight'].tobytes() == own.tobytes()
    strange = own.copy()
    strange[0, :2] = np.array([0xFFC12345, 0x7F800000], np.uint32).view(np.float32)
    net.set_parameter('conv1.weight', strange)
    assert net.parameters()['conv1.weight'].view(np.uint32)[0, :2].tolist() == [0x7FC00000, 0x7F800000]
    digest = trainer.digest
    for call, kind, words in [
            (lambda: net.set_parameter('conv1.weight', own[:8]), ValueError, r'\(8, 4\) instead of \(9, 4\)'),
            (lambda: net.set_parameter('conv1.weight', own.ravel()), ValueError, 'shape'),
            (lambda: net.set_parameter('conv1.weight', own.astype(np.float64) + 0.1), TypeError, 'is no float32'),
            (lambda: net.set_parameter('conv9.weight', own), ValueError, 'conv9.weight.*conv1.weight'),
            (lambda: net.set_parameter('1.conv', own), ValueError, '1.conv'),
            (lambda: net.tensor('9.relu'), ValueError, '9.relu')]:
        with pytest.raises(kind, match=words):
            call()
    assert trainer.digest == digest


def test_views_and_close():
    trainer = Trainer(SMALL)
    net = trainer.net
    view, copy = net.parameters(copy=False)['linear1.weight'], net.parameters()['linear1.weight']
    np.testing.assert_array_equal(view, copy)
    trainer.step()
    assert not np.array_equal(view, copy) and not view.flags.writeable and copy.flags.writeable
    with pytest.raises(ValueError):
        view.flags.writeable = True
    seen = view.tobytes()
    assert net.parameters()['linear1.weight'].tobytes() == seen
    with trainer:
        pass
    trainer.close()
    gc.collect()
    filler = [np.full(view.size, 7, np.float32) for _ in range(1000)]  # where the memory would be used again
    assert view.tobytes() == seen and len(filler) == 1000
    assert repr(trainer) == 'Trainer(closed)' and trainer.log['step'].tolist() == [1]
    for call in (trainer.step, trainer.run, lambda: trainer.at, lambda: trainer.digest, net.values, lambda: net.digest,
                 lambda: trainer.config, trainer.state_dict, trainer.evaluate, lambda: trainer.memory):
        with pytest.raises(ValueError, match='the trainer is closed'):
            call()


def test_memory_is_freed():
    """Views let the C object go with them; a trainer that is dropped is freed at once."""
    from halfulp.train import _held
    freed = []
    held = _held.Held('thing', 4711, freed.append)
    memory = held._memory
    held.close()
    held.close()
    assert not freed
    del memory
    assert freed == [4711]
    trainer = Trainer(SMALL)
    trainer.step()
    view, real = trainer.net.gradients(copy=False)['conv1.weight'], weakref.ref(trainer._held._memory)
    seen = view.tobytes()
    del trainer
    assert real() is not None and view.tobytes() == seen
    del view
    assert real() is None
    other = _held.Held('thing', 4712, freed.append)
    del other
    assert freed == [4711, 4712]
    with pytest.raises(MemoryError):
        _held.Held('thing', None, freed.append)


# ---- sequences to sequences by cells ----

def test_cells_translate(tmp_path):
    """fp16-seq2seq.net learns to read sentences from their end in other letters; greedy translations, sampled words."""
    words, draw = 'one two three four five six seven'.split(), random_numbers.Random(3)
    source = [[draw.choice(words) for _ in range(draw.randint(1, 4))] for _ in range(600)]
    (tmp_path / 's.txt').write_text(''.join(' '.join(line) + '\n' for line in source))
    (tmp_path / 't.txt').write_text(''.join(' '.join(line[::-1]).upper() + '\n' for line in source))
    config = {'run.batch': 32, 'run.epochs': 12, 'data.set': 'parallel', 'data.path': 's.txt', 'data.target': 't.txt', 'data.window': 6,
              'data.numbering': 'count', 'model.file': str(EXAMPLES / 'papers' / 'networks' / 'fp16-seq2seq.net'),
              'model.keys': 'layers=2,units=24,samples=4', 'optimizer.kind': 'adamw', 'optimizer.rate': 0.01}
    trainer = Trainer(config, folder=tmp_path)
    first = trainer.evaluate('test')
    assert first.bleu < 10 and abs(first.loss - np.log(9)) < 0.5
    for _ in range(192):
        trainer.step()
    seen = trainer.evaluate('test')
    assert seen.bleu > 60 and seen.accuracy > 0.9 and seen.loss < 0.3
    narrow = Trainer({**config, 'precision.system': 's2fp8', 'data.translate': 'no'}, folder=tmp_path)
    losses = [narrow.step().loss for _ in range(60)]
    assert all(np.isfinite(losses)) and np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])
