# SPDX-License-Identifier: MIT
"""Recurrent modules and losses of PyTorch as networks of halfulp: outputs, losses and gradients of PyTorch itself."""
from torch_support import pytest, torch  # first: it skips where there is no torch

import halfulp
import numpy as np
from halfulp.train import Net, from_torch, inputs
from torch import nn
from torch.nn import functional as F


class Recurrent(nn.Module):
    def __init__(self, outputs=4):
        super().__init__()
        self.deep = nn.Sequential(nn.Linear(3, 5), nn.Tanh())
        self.lstm = nn.LSTM(5, 6, num_layers=2, batch_first=True, bidirectional=True, proj_size=3)
        self.gru = nn.GRU(6, 4, batch_first=True, bidirectional=True)
        self.plain = nn.GRU(8, 5, batch_first=True)
        self.last = nn.LSTM(5, 4, batch_first=True)
        self.head = nn.Linear(4, outputs)

    def forward(self, x):
        return self.head(self.last(self.plain(self.gru(self.lstm(self.deep(x))[0])[0])[0])[0])


def compared(module, criterion, x, y, given, tolerance=2e-5):
    """Loss, output and gradients of a module with a loss, here and in PyTorch's binary64."""
    traced = from_torch(module.double(), x)
    net = traced.net(batch=len(x), loss=criterion)
    z = module(x)
    loss = y(z)
    loss.backward()
    assert abs(net.forward(inputs(x), given) - loss.item()) < tolerance * max(1, abs(loss.item()))
    np.testing.assert_allclose(net.output, z.detach().reshape(-1, z.shape[-1]), rtol=1e-4, atol=1e-5)
    net.backward()
    gradients = traced.state_dict(net, gradients=True)
    assert sorted(gradients) == sorted(name for name, _ in module.named_parameters())
    for name, parameter in module.named_parameters():
        assert parameter.grad.abs().max() > 0
        np.testing.assert_allclose(gradients[name], parameter.grad, rtol=1e-3, atol=tolerance, err_msg=name)
        np.testing.assert_array_equal(traced.state_dict(net)[name], parameter.detach().float(), err_msg=name)
    return traced, net


@pytest.fixture
def made():
    torch.manual_seed(3)
    return torch.randn(5, 7, 3, dtype=torch.float64)


@pytest.mark.parametrize('smoothing', [0.0, 0.1])
def test_cells_with_cross_entropy(made, smoothing):
    labels, criterion = torch.randint(0, 4, (5, 7)), nn.CrossEntropyLoss(label_smoothing=smoothing)
    traced, _ = compared(Recurrent(), criterion, made, lambda z: criterion(z.flatten(0, 1), labels.flatten()), labels.numpy())
    assert 'both=1, projection=3' in traced.text and 'both=1)' in traced.text


@pytest.mark.parametrize('criterion', [nn.BCEWithLogitsLoss(), nn.SmoothL1Loss(), nn.SmoothL1Loss(beta=0.25), nn.MSELoss(),
                                       nn.L1Loss(), nn.HuberLoss(delta=0.5)])
def test_losses_of_targets(made, criterion):
    targets = torch.rand(5, 7, 4, dtype=torch.float64)
    compared(Recurrent(), criterion, made, lambda z: criterion(z, targets), targets.numpy().astype(np.float32))


@pytest.mark.parametrize('zero_infinity', [False, True])
def test_ctc(made, zero_infinity):
    criterion = nn.CTCLoss(blank=2, zero_infinity=zero_infinity)
    labels = [[0, 1, 3], [1, 1], [3], [0, 3, 0, 3], [1, 1, 1, 1, 1] if zero_infinity else [0]]
    lengths, flat = torch.tensor([len(one) for one in labels]), torch.tensor(sum(labels, []))

    def loss(z):
        return criterion(F.log_softmax(z, 2).transpose(0, 1), flat, torch.full((5,), 7), lengths)

    compared(Recurrent(), criterion, made, loss, labels)


def test_ctc_with_lengths(made):
    """Lengths of samples, as PyTorch takes them, with the loss and the gradients by what it looks at."""
    text = 'x = input(7, 4)\nn = input(1, 1)\noutput linear(x, 4, bias=0) within n\n'
    labels, steps = [[1, 2], [3, 3, 1], [], [2], [1, 2, 3]], [7, 5, 3, 1, 4]
    x = torch.randn(5, 7, 4, dtype=torch.float64).float().double().requires_grad_()
    lengths, flat = torch.tensor([len(one) for one in labels]), torch.tensor(sum(labels, []))
    for by_length in True, False:
        x.grad = None
        loss = F.ctc_loss(F.log_softmax(x, 2).transpose(0, 1), flat, torch.tensor(steps), lengths,
                          reduction='mean' if by_length else 'sum') / (1 if by_length else 5)
        loss.backward()
        net = Net(text, batch=5, loss='ctc', by_length=by_length)
        net.load_weights({'linear1.weight': np.eye(4, dtype=np.float32)})
        fed = np.hstack([x.detach().float().reshape(5, -1), np.array(steps, np.float32)[:, None]])
        assert abs(net.forward(fed, labels) - loss.item()) < 1e-5
        net.backward()
        np.testing.assert_allclose(net.value_gradients()['2.linear'].reshape(5, 7, 4), x.grad, rtol=1e-4, atol=1e-6)


def test_lengths_are_packed_sequences(made):
    """Outputs and gradients of PyTorch's packed sequences, in both directions."""
    steps = [7, 6, 4, 2, 1]
    module = nn.LSTM(3, 4, batch_first=True, bidirectional=True).double()
    traced = from_torch(nn.Sequential(Both(module)), made)
    text = traced.text.replace('v0 = input(7, 3)\n', 'v0 = input(7, 3)\nn = input(1, 1)\n').replace(
        'both=1', 'both=1, lengths=n')
    net = Net(text, batch=5, loss='squared_error')
    traced.load(net, {weight.name: module.state_dict()[weight.name.rpartition('.')[2]] for weight in traced.weights})
    packed = nn.utils.rnn.pack_padded_sequence(made, steps, batch_first=True)
    out = nn.utils.rnn.pad_packed_sequence(module(packed)[0], batch_first=True)[0]
    y = torch.randn(5, 7, 8, dtype=torch.float64)
    for t, n in enumerate(steps):
        y[t, n:] = 0
    ((out - y)**2).sum().div(2 * 35).backward()
    net.forward(np.hstack([made.float().reshape(5, -1), np.array(steps, np.float32)[:, None]]), y.float().numpy())
    np.testing.assert_allclose(net.output.reshape(5, 7, 8), out.detach(), atol=1e-6)
    net.backward()
    for name, gradient in traced.state_dict(net, gradients=True).items():
        np.testing.assert_allclose(gradient, dict(module.named_parameters())[name.rpartition('.')[2]].grad, atol=1e-6)


class Both(nn.Module):
    def __init__(self, cells):
        super().__init__()
        self.cells = cells

    def forward(self, x):
        return self.cells(x)[0]


class Last(Both):
    def forward(self, x):
        return self.cells(x)[1]


@pytest.mark.parametrize('module, words', [
    (Both(nn.GRU(3, 4)), 'batch_first'), (Both(nn.GRU(3, 4, bias=False, batch_first=True)), 'without biases'),
    (Last(nn.GRU(3, 4, batch_first=True)), 'the last state of cells')])
def test_refused(module, words):
    with pytest.raises(halfulp.HalfulpValueError, match=words):
        from_torch(module, torch.zeros(5, 7, 3))


@pytest.mark.parametrize('criterion, words', [
    (nn.CrossEntropyLoss(reduction='sum'), 'reduction mean'), (nn.CrossEntropyLoss(weight=torch.ones(4)), 'with weights'),
    (nn.BCEWithLogitsLoss(pos_weight=torch.ones(1)), 'pos_weight'), (nn.NLLLoss(), 'NLLLoss is not one of')])
def test_losses_refused(made, criterion, words):
    with pytest.raises(halfulp.HalfulpValueError, match=words):
        from_torch(Recurrent(), made.float()).net(batch=5, loss=criterion)
