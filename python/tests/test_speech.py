# SPDX-License-Identifier: MIT
"""Utterances with sequences of labels (docs/training/data.md: Speech, Tones, Error rate), by a second implementation from the page."""
import json
import os
import subprocess

import numpy as np
import pytest

from test_training_words import child, normal, use, word

import halfulp
from halfulp.train import Trainer, label_error_rate

F = np.float32
NET = '''x = image(data.height, data.width, data.channels)
n = input(1, 1)
x = within(conv(x, 4, [3, 3], stride=[{0}, 1], pad=1, bias=1), n)
x = within(clip(within(batch_norm(x, lengths=n), n), 0, 20), n)
x = gru(as_rows(x, height_of(x)), 16, sum=1, lengths=n)
output linear(batch_norm(x, lengths=n), data.outputs, bias=0) within n
'''
LOOK = 'x = image(data.height, data.width, data.channels)\nn = input(1, 1)\noutput linear(as_rows(x, data.height), data.outputs) within n\n'


def below(stream, n):
    """An integer below n, and the stream behind it (section 2)."""
    key, at = stream
    while True:
        product = word((key, at), 0) * n
        at += 1
        if product % 2**32 >= 2**32 % n:
            return product >> 32, (key, at)


def tone(seed, i, steps, features, labels, noise):
    words = child(use(seed, 2), i)
    asked, words = below(words, steps // 5)
    x, read, rows = np.zeros((steps, features), F), [], 0
    while len(read) <= asked and rows + 5 <= steps:
        label, words = below(words, labels)
        length, words = below(words, 3)
        x[rows:rows + length + 2, label] = 1
        rows += length + 3
        read.append(label + 1)
    drawn = F(noise) * normal(rows * features + rows * features % 2, child(use(seed, 3), i))[:rows * features]
    x[:rows] += drawn.reshape(rows, features)
    return x, read, rows


def write(folder, name, utterances):
    np.save(str(folder / (name + '.npy')), np.concatenate([rows for rows, _ in utterances]).astype(F))
    (folder / (name + '.txt')).write_bytes(b''.join(b'%d\t%s\n' % (len(rows), text) for rows, text in utterances))


def trainer_of(folder, text, **config):
    (folder / 'own.net').write_text(text)
    return Trainer({'run.batch': 4, 'run.epochs': 1, 'data.set': 'speech', 'data.path': 'a.npy', 'data.target': 'a.txt', 'data.window': 12,
                    'model.file': str(folder / 'own.net'), **{key.replace('_', '.', 1): value for key, value in config.items()}},
                   folder=str(folder))


def fed(trainer, steps):
    """What the net got in the pass before: rows, steps."""
    values = trainer.net.values()
    x, n = (values['{}.input'.format(i)] for i in range(2))
    return x.reshape(len(n), steps, -1), n.ravel()


@pytest.fixture
def spoken(tmp_path, random):
    """Ten utterances and more: one that is too long, one with more letters than steps, equal neighbours, none."""
    texts = [b'ab', b'ab', b'ba', b'aa', b'', b'b a', b'abab', b'a', b'b', b'bb b', b'aab', b'ab ']
    lengths = [5, 1, 6, 7, 3, 9, 12, 4, 13, 11, 8, 12]
    utterances = [(random.normal(size=(n, 3)), text) for n, text in zip(lengths, texts)]
    write(tmp_path, 'a', utterances)
    write(tmp_path, 'b', [(random.normal(size=(n, 3)), text) for n, text in ((12, b'bab'), (2, b'a'), (6, b'aa'))])
    return tmp_path, utterances


@pytest.mark.parametrize('stride', [1, 2])
def test_files_are_read_as_the_page_says(spoken, stride):
    folder, utterances = spoken
    text = LOOK if stride == 1 else NET.format(2)
    trainer = trainer_of(folder, text, data_stride=stride, data_test_file='b.npy', data_test_target='b.txt', run_batch=1)
    letters = sorted({c for _, line in utterances for c in line})
    assert trainer.net.values()[trainer.net.value_names[-2]].shape[1] == len(letters) + 1
    kept = [(rows, line) for rows, line in utterances if len(rows) <= 12 and
            len(line) + sum(a == b for a, b in zip(line, line[1:])) <= -(-len(rows) // stride)]
    assert trainer.steps == len(kept) and len(kept) < len(utterances)
    seen = set()
    for _ in range(len(kept)):
        trainer.step()
        x, n = fed(trainer, 12)
        match = [i for i, (rows, _) in enumerate(kept) if np.array_equal(x[0, :len(rows)], rows.astype(F)) and not x[0, len(rows):].any()]
        assert len(match) == 1 and n[0] == -(-len(kept[match[0]][0]) // stride)
        seen.add(match[0])
    assert len(seen) == len(kept)


def test_loss_and_error_rate(spoken):
    """Of a part of a batch, too: the mean over utterances of -log P by all ways, and edits over letters of the test set."""
    folder, utterances = spoken
    trainer = trainer_of(folder, LOOK, data_test_file='b.npy', data_test_target='b.txt', run_batch=2, optimizer_rate=0.5)
    for _ in range(trainer.steps):
        trainer.step()
    weight, bias = (trainer.net.parameters()['linear1.' + part].astype(float) for part in ('weight', 'bias'))
    rows = np.load(str(folder / 'b.npy')).astype(float)
    letters = {c: i + 1 for i, c in enumerate(sorted({c for _, line in utterances for c in line}))}
    loss, read, said, at = 0, [], [], 0
    for n, line in ((12, b'bab'), (2, b'a'), (6, b'aa')):
        y = rows[at:at + n] @ weight + bias[0]
        at += n
        p, labels = np.exp(y) / np.exp(y).sum(1, keepdims=True), [letters[c] for c in line]
        state = [0] + [k for label in labels for k in (label, 0)]
        alpha = np.zeros(len(state))
        alpha[:2] = p[0][state[:2]]
        for t in range(1, n):
            alpha = np.array([(alpha[s] + (alpha[s - 1] if s else 0) + (alpha[s - 2] if s % 2 and s > 1 and state[s] != state[s - 2] else 0))
                              * p[t, k] for s, k in enumerate(state)])
        loss -= np.log(alpha[-2:].sum())
        best = y.argmax(1)
        read.append([int(k) for i, k in enumerate(best) if k and (not i or best[i - 1] != k)])
        said.append(labels)
    seen = trainer.evaluate('test')
    assert abs(seen.loss - loss / 3) < 1e-5 * loss
    assert abs(seen.error_rate - label_error_rate(read, said)) < 1e-12 and np.isnan(seen.accuracy) and np.isnan(seen.r2)


@pytest.mark.parametrize('change, said', [
    (lambda lines: lines[:2] + [b'6 ba'] + lines[3:], r'a\.txt: line 3: not a number of rows, a tab and a transcript'),
    (lambda lines: [b'0\tab'] + lines[1:], r'a\.txt: line 1: rows: not from 1 to 2\^24'),
    (lambda lines: lines[:1] + [b'1\tb\0'] + lines[2:], r'a\.txt: line 2: a NUL byte'),
    (lambda lines: lines[:-1], r'a\.txt: rows: 79 in all lines, and .*a\.npy has 91'),
    (lambda lines: lines[:11] + [b'12\tabd'], r'a\.txt: line 12: a character that no transcript for training has'),
    (lambda lines: [line.split(b'\t')[0] + b'\t' for line in lines], r'a\.txt: transcripts: all of them are empty'),
])
def test_wrong_lists(spoken, change, said):
    folder, _ = spoken
    lines = (folder / 'a.txt').read_bytes().split(b'\n')[:-1]
    (folder / 'a.txt').write_bytes(b'\n'.join(change(lines)) + b'\n')
    with pytest.raises(halfulp.HalfulpError, match=said):
        trainer_of(folder, LOOK).step()


@pytest.mark.parametrize('text, config, said', [
    (LOOK.replace(' within n', ''), {}, 'output x within n'), (LOOK, {'data_stride': 2}, 'has 12 steps of output'),
    (LOOK.replace('data.outputs', '9'), {}, 'has 9 outputs'), (LOOK, {'loss_kind': 'cross_entropy'}, 'loss.kind'),
    (LOOK, {'data_target': ''}, 'data.target'), (LOOK, {'data_test_file': 'b.npy'}, 'data.test_target'),
    (LOOK, {'data_test_file': 'b.npy', 'data_test_target': 'b.txt', 'data_window': 11}, r'b\.txt: line 1: more rows than data.window')])
def test_wrong_runs(spoken, text, config, said):
    folder, _ = spoken
    with pytest.raises(halfulp.HalfulpError, match=said):
        trainer_of(folder, text, **config).step()


def test_tones_by_the_page(tmp_path):
    trainer = trainer_of(tmp_path, LOOK, data_set='tones', data_count=6, data_test=2, data_window=17, data_features=5, data_classes=4,
                         data_noise=0.25, data_seed=7, run_batch=1, data_path='', data_target='')
    expected = [tone(7, i, 17, 5, 4, 0.25) for i in range(6)]
    for _ in range(6):
        trainer.step()
        x, n = fed(trainer, 17)
        assert any(np.array_equal(x[0], rows) and n[0] == length for rows, _, length in expected)


def test_a_network_learns_tones(tmp_path):
    """Convolution, batch norms and cells within the steps of samples, like DeepSpeech 2, by the command; in S2FP8, too."""
    (tmp_path / 'own.net').write_text(NET.format(1))
    (tmp_path / 'x.ini').write_text(
        '[run]\nbatch = 16\nepochs = 6\n[data]\nset = tones\nwindow = 24\nfeatures = 6\nclasses = 4\nnoise = 0.2\ncount = 320\ntest = 40\n'
        '[model]\nfile = {}\n[optimizer]\nkind = adamw\nrate = 0.02\n'.format(tmp_path / 'own.net'))
    rates = []
    for more in [], ['--set', 'precision.system=s2fp8', '--predictions', 'p.csv']:
        said = subprocess.run([os.environ['HALFULP_COMMAND'], 'train', 'x.ini', '--json', '-o', 'out' + str(len(more)), *more], cwd=str(tmp_path),
                              stdout=subprocess.PIPE, check=True)
        rates.append(json.loads(said.stdout)['test']['error_rate'])
    answers = (tmp_path / 'p.csv').read_text().splitlines()
    assert len(answers) == 41 and {len(line.split(',')) for line in answers} == {1 + 24 * 5} and answers[0].startswith('example,output_0,')
    assert rates[0] < 0.2 and rates[1] < 0.4
    rows = (tmp_path / 'out0' / 'evaluations.csv').read_text().splitlines()
    assert rows[0].endswith('training_error_rate,test_error_rate') and float(rows[-1].split(',')[-1]) == rates[0]
    assert float(rows[1].split(',')[-1]) > 2 * rates[0] and 'error rate' in (tmp_path / 'out0' / 'report.html').read_text()
