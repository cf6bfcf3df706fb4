# SPDX-License-Identifier: MIT
"""ht.precision sees the same products by kernels of the operators that multiply as by a mode that is called for all operators."""
import threading

from torch_support import ht, plain, pytest, torch  # first: it leaves the tests out where there is no PyTorch

import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from halfulp.torch import _watch

LOW = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e5m2')
needs_kernels = pytest.mark.skipif(_watch.FREE is None, reason='this version of PyTorch has no key that is free')


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.images, self.out = nn.Conv2d(2, 4, 3, padding=1), nn.Linear(16, 5)

    def forward(self, x):
        z = self.images(x).flatten(2)
        return self.out(F.scaled_dot_product_attention(z, z, z)).square().sum() + torch.cdist(z[0], z[0]).sum()


def rows_of(recipe, **more):
    torch.manual_seed(1)
    net, x = Net(), plain(2, 2, 4, 4, seed=3).requires_grad_()
    with ht.precision(recipe, **more) as seen:
        net(x).backward()
    return seen.report().rows


@needs_kernels
@pytest.mark.parametrize('recipe', (None, LOW))
@pytest.mark.parametrize('more', ({}, {'count': True, 'measure': True}, {'skip': 'out'}))
def test_both_ways(recipe, more, monkeypatch):
    by_kernels = rows_of(recipe, **more)
    monkeypatch.setattr(_watch, 'FREE', None)
    by_mode = rows_of(recipe, **more)
    assert by_kernels == by_mode
    assert sum(row['multiply_adds'] for row in by_kernels) > 0
    assert {row['part'] for row in by_kernels} >= {'forward'} and len({row['part'] for row in by_kernels}) > 1


@needs_kernels
def test_an_operator_of_a_package_that_is_not_known():
    """It is defined, and called, when the context has been entered."""
    with ht.precision(None) as seen:
        library = torch.library.Library('halfulp_tests_below', 'DEF')
        library.define('twice(Tensor x) -> Tensor')
        library.impl('twice', lambda x: x + x, 'CompositeExplicitAutograd')
        torch.ops.halfulp_tests_below.twice(torch.ones(2, 3))
    row, = seen.report().rows
    assert (row['operator'], row['shapes'], row['why']) == ('halfulp_tests_below::twice', [[2, 3]], 'the recipe leaves it')
    library._destroy()


@needs_kernels
def test_a_kernel_of_an_operator_that_is_not_defined_yet():
    """Packages of operators may be loaded in any order."""
    early = torch.library.Library('halfulp_tests_early', 'IMPL')
    early.impl('twice', lambda x: x + x, 'CPU')
    assert torch.ops.halfulp_tests_early is not None  # a package that is new
    with ht.precision(None) as seen:
        late = torch.library.Library('halfulp_tests_early', 'DEF')
        late.define('twice(Tensor x) -> Tensor')
        torch.ops.halfulp_tests_early.twice(torch.ones(2, 3))
    assert [row['operator'] for row in seen.report().rows] == ['halfulp_tests_early::twice']
    for library in (early, late):
        library._destroy()


@needs_kernels
def test_only_the_thread_that_has_entered():
    x = torch.ones(3, 3)
    with ht.precision(None) as outer, ht.precision(None) as inner:
        other = threading.Thread(target=lambda: x @ x)
        other.start()
        other.join()
        x @ x
    x @ x
    assert [sum(row['calls'] for row in one.report().rows) for one in (outer, inner)] == [1, 1]


@pytest.mark.parametrize('recipe', (None, LOW))
def test_shapes_alone(recipe):
    """Whichever is entered first."""
    made = []
    for first, second in ((FakeTensorMode(), ht.precision(recipe)), (ht.precision(recipe), FakeTensorMode())):
        seen = first if isinstance(first, ht.precision) else second
        with first, second:
            net, x = nn.Linear(4, 3), torch.empty(2, 4, requires_grad=True)
            for _ in range(2):
                net(x).sum().backward()
        made.append([(row['part'], row['calls'], row['multiply_adds']) for row in seen.report().rows])
    assert made[0] == made[1]
    assert sum(work for _, _, work in made[0]) == 2 * 3 * 24  # twice the three products


@needs_kernels
def test_inside_of_another_mode():
    class Nothing(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))
    x = torch.ones(3, 3)
    with ht.precision(None) as seen, Nothing():
        x @ x
    with Nothing(), seen:
        x @ x
    assert [(row['operator'], row['calls']) for row in seen.report().rows] == [('mm', 2)]
