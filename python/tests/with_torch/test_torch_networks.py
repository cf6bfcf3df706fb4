# SPDX-License-Identifier: MIT
"""The networks that bench/compare_torch.py times are those of halfulp, weight by weight: one step from the same weights
on the same batch has the same loss and the same gradients, except for the order of sums in binary32."""
import pathlib
import sys

import numpy as np

from torch_support import pytest, torch

from halfulp.train import Net

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / 'bench'))
import torch_networks  # noqa: E402

nn = torch.nn
SAMPLES = 4
# Of a gradient's norm; more where 52 batch norms of few numbers are below each other.
NEAR = {'mobilenet2': 5e-2}
# Which of PyTorch's gates (i, f, g, o; r, z, n) ours (i, f, o, g; z, r, n) are.
GATES = {nn.LSTM: (0, 1, 3, 2), nn.GRU: (1, 0, 2)}


def leaves(part):
    """Layers and parameters, in the order in which halfulp numbers theirs."""
    if isinstance(part, nn.Parameter) or not list(part.children()):
        return [part]
    inner = part.ordered() if hasattr(part, 'ordered') else part.children()
    return [leaf for one in inner for leaf in leaves(one)]


def cells(part, layer):
    names = ('weight_ih_l%d', 'bias_ih_l%d', 'weight_hh_l%d', 'bias_hh_l%d')
    return [getattr(part, name % layer) for name in names]


def tensors(part):
    """Parameters of a layer, each with the function that makes ours of it."""
    if isinstance(part, nn.Parameter):
        return [(part, lambda x: x)]
    if isinstance(part, (nn.LSTM, nn.GRU)):
        order = list(GATES[type(part)])

        def turned(x):
            gates = x.reshape(len(order), -1, *x.shape[1:])[order]
            return gates.reshape(x.shape).T if x.ndim == 2 else gates.reshape(1, -1)

        return [(x, turned) for layer in range(part.num_layers) for x in cells(part, layer)]
    both = [x for x in (getattr(part, 'weight', None), getattr(part, 'bias', None)) if x is not None]
    if isinstance(part, nn.Conv2d):
        return list(zip(both, (lambda x: x.transpose(2, 3, 1, 0).reshape(-1, x.shape[0]), lambda x: x.reshape(1, -1))))
    if isinstance(part, nn.Linear):
        return list(zip(both, (lambda x: x.T, lambda x: x.reshape(1, -1))))
    return [(x, (lambda x: x) if isinstance(part, nn.Embedding) else (lambda x: x.reshape(1, -1))) for x in both]


def ours_of(x):
    """A batch in the order of halfulp: the numbers of a sample side by side, channels of a pixel, too."""
    rows = [part.movedim(1, -1) if part.ndim == 4 else part for part in x]
    return np.concatenate([part.numpy().astype(np.float32).reshape(SAMPLES, -1) for part in rows], 1)


LONG = ('lstm650', 'mobilenet2', 'seq2seq', 'squeezenet', 'transformer128')  # the layers of each are in others, too


@pytest.mark.parametrize('name', [pytest.param(name, marks=pytest.mark.long) if name in LONG else name
                                  for name in torch_networks.NETWORKS])
def test_one_step_is_the_same(name):
    network = torch_networks.NETWORKS[name]
    torch.manual_seed(2)
    module = network.make()
    with torch.no_grad():  # not zeros and ones, where something could be missed
        for parameter in module.parameters():
            parameter += 0.02 * torch.randn_like(parameter)
    net = Net(network.model, batch=SAMPLES, **network.sizes)
    pairs = [pair for leaf in leaves(module) for pair in tensors(leaf)]
    assert sum(x.numel() for x, _ in pairs) == sum(x.numel() for x in module.parameters())
    assert len(pairs) == len(net.parameter_names)
    for number, (x, make) in zip(net.parameter_names, pairs):
        net.set_parameter(number, np.ascontiguousarray(make(x.detach().numpy())))
    x, y = network.batch(SAMPLES)
    y[y < 0] = 1  # halfulp.train.Net has a label for each row
    loss = nn.functional.cross_entropy(module(*x), y)
    loss.backward()
    seen = net.forward(ours_of(x), y.numpy().reshape(SAMPLES, -1))
    net.backward()
    assert seen == pytest.approx(loss.item(), rel=1e-5)
    gradients = net.gradients()
    nothing = 1e-6 * max(np.abs(one).max() for one in gradients.values())  # what is 0 except for rounding
    for number, (x, make) in zip(net.parameter_names, pairs):
        want = make(x.grad.numpy())
        far, size = np.linalg.norm(gradients[number] - want), np.linalg.norm(want)
        assert far <= NEAR.get(name, 2e-3) * size + nothing * want.size ** 0.5, (name, number)


if __name__ == '__main__':
    sys.exit(pytest.main([__file__, '-q']))
