# SPDX-License-Identifier: MIT
"""halfulp.torch.distributed over gloo: the hook against halfulp.all_reduce of what each process had, and shards against
themselves in another number of processes."""
import os
import subprocess
import sys

import numpy as np

import halfulp
from torch_support import ht, pytest, same, torch

if not torch.distributed.is_available():
    pytest.skip('this PyTorch was built without torch.distributed', allow_module_level=True)

import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

import halfulp.torch.distributed as hd  # noqa: E402
from halfulp.torch import _join  # noqa: E402
import processes  # noqa: E402

NARROW = {torch.float32: 'binary32', torch.bfloat16: 'bfloat16', torch.float16: 'binary16'}
STREAM = (7, 1 << 63)
# reduce, the gradients' type, further arguments
CASES = [('exact', torch.float32, {}), ('ring(bfloat16)', torch.float32, {}), ('ring(bfloat16)', torch.bfloat16, {}),
         ('tree(binary32,wire=mxfp8_e4m3)', torch.float32, {'divide': 1}), ('doubling(binary16)', torch.float16, {}),
         ('exact', torch.bfloat16, {'divide': 12}), ('hierarchical(2,exact,ring(bfloat16))', torch.float32, {}),
         ('ring(bfloat16,sra:8)', torch.float32, {'stream': STREAM}), ('pairwise(bfloat16)', torch.float32, {})]


def net(dtype=torch.float32, seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(30, 60), torch.nn.Tanh(), torch.nn.Linear(60, 50), torch.nn.Tanh(),
                               torch.nn.Linear(50, 10)).to(dtype)


def batch(step, n=16, dtype=torch.float32):
    made = torch.Generator().manual_seed(step)
    return torch.randn(n, 30, generator=made).to(dtype), torch.randint(10, (n,), generator=made)


def loss_of(z, labels, reduction='mean'):
    return torch.nn.functional.cross_entropy(z.float(), labels, reduction=reduction)


# ---- the hook ----

def hooked(rank, world, cases):
    """Of each case all buckets of three steps: index, numbers before, numbers after; and the gradients at the end."""
    made = []
    for reduce, dtype, more in cases:
        model = net(dtype)
        ddp = DistributedDataParallel(model, bucket_cap_mb=0.005)
        hook, seen = hd.hook(reduce, **more), []

        def recorded(state, bucket):
            before = bucket.buffer().clone()
            future = hook(state, bucket)
            seen.append((bucket.index(), before, future.value().clone()))
            return future

        ddp.register_comm_hook(None, recorded)
        for step in range(3):
            ddp.zero_grad()
            x, labels = batch(10 * step + rank, dtype=dtype)
            loss_of(ddp(x), labels).backward()
        made.append((seen, [p.grad for p in model.parameters()]))
    return made


def expected(buffers, reduce, divide, stream):
    """halfulp.all_reduce, then halfulp.div, as float32 numbers."""
    z = halfulp.all_reduce(buffers, reduce, stream=stream)
    return torch.from_numpy(halfulp.div(z, np.float32(divide), to=NARROW[buffers[0].dtype]).astype(np.float32))


def child(key, use):
    low, high = halfulp.Stream(key).after(2 * use).words(2).tolist()
    return low | high << 32


def words(index, step):
    """Child `index` of STREAM, 2^36 words further in every step."""
    return halfulp.Stream(child(STREAM[0], index), STREAM[1]).after(step << 36)


@pytest.mark.parametrize('world', [2, *(pytest.param(world, marks=pytest.mark.long) for world in (1, 3, 4))])
def test_hook_is_all_reduce(world):
    every = processes.run(world, hooked, CASES)
    for number, (reduce, dtype, more) in enumerate(CASES):
        of_case = [one[number] for one in every]
        assert [len(seen) for seen, _ in of_case] == [len(of_case[0][0])] * world
        assert len(of_case[0][0]) >= 4 and max(index for index, _, _ in of_case[0][0]) >= 1
        calls = {}
        for k, (index, _, after) in enumerate(of_case[0][0]):
            step = calls[index] = calls.get(index, -1) + 1
            before = [seen[k][1] for seen, _ in of_case]
            assert all(seen[k][0] == index for seen, _ in of_case)
            want = expected(before, reduce, more.get('divide', world), words(index, step) if 'stream' in more else None)
            same(after.float(), want)
        flat = [torch.cat([g.reshape(-1) for g in grads]) for _, grads in of_case]
        for one in flat:
            same(one, flat[0])
        last = {index: after for index, _, after in of_case[0][0]}
        assert sorted(flat[0].tolist()) == sorted(torch.cat(list(last.values())).tolist())


# ---- shards ----

SHARDS = [('exact', torch.float32, {}), ('ring(bfloat16)', torch.float32, {}),
          ('exact', torch.bfloat16, {'divide': 32}),
          ('ring(binary32,sra:8,wire=mxfp8_e4m3)', torch.float32, {'stream': STREAM}),
          ('hierarchical(3,tree(bfloat16),exact)', torch.float32, {'divide': 1})]


class Net(torch.nn.Module):
    """A layer with random words, batch normalisation, and parameters that no shard, or only some shards, use."""

    def __init__(self, dtype):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = torch.nn.Linear(30, 40), torch.nn.Linear(40, 10)
        self.norm = torch.nn.BatchNorm1d(40)
        self.never = torch.nn.Parameter(torch.ones(10))
        self.frozen = torch.nn.Parameter(torch.ones(3), requires_grad=False)
        self.noise = ht.Quantizer('bfloat16,sra:8', 'bfloat16,sra:8', key=3)
        self.to(dtype)
        self.some = torch.nn.Parameter(torch.ones(10))  # float32, whatever the others are

    def forward(self, x, shard):
        z = self.noise(torch.tanh(self.norm(self.first(x))))
        z = self.noise(z) if shard == 2 else z
        z = self.second(z)
        return z * self.some if shard in (1, 6) else z


def trained(rank, world, cases):
    """Of each case bits of the state after each of five steps, and the gradients of the first one."""
    made, _join._AT_ONCE = [], 4096  # several windows
    for reduce, dtype, more in cases:
        model = Net(dtype)
        shards, states, first = hd.Shards(model, 8, reduce, **more), [], None
        optimizer = torch.optim.SGD(model.parameters(), lr=0.3 if 'divide' not in more else 0.05, momentum=0.9)
        for step in range(5):
            x, labels = batch(step, 32, dtype)
            for shard in shards:
                loss_of(model(x[shard::8], shard), labels[shard::8]).backward()
            first = first or {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
            optimizer.step()
            states.append({name: x.clone() for name, x in model.state_dict().items()})
        made.append((first, states))
    return made


@pytest.fixture(scope='module')
def alone():
    return processes.run(1, trained, SHARDS)[0]


@pytest.mark.parametrize('world', [2, pytest.param(4, marks=pytest.mark.long)])
def test_shards_give_the_same_weights(alone, world):
    """The whole state: weights, running statistics, streams."""
    for one in processes.run(world, trained, SHARDS):
        for (first, states), (first_alone, states_alone) in zip(one, alone):
            assert first.keys() == first_alone.keys()
            for state, state_alone in zip(states, states_alone):
                for name, x in state.items():
                    same(x, state_alone[name])


def test_shards_are_their_join(alone):
    """The first step against gradients that torch computes here, one shard at a time."""
    for (reduce, dtype, more), (first, states) in zip(SHARDS, alone):
        assert 'never' not in first and 'frozen' not in first and 'some' in first
        assert not torch.equal(states[0]['first.weight'], states[4]['first.weight'])
        x, labels = batch(0, 32, dtype)
        each, means = [], []
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        for shard in range(8):
            model = Net(dtype)
            model.noise.seed(child(3, (1 << 32) + shard))
            loss_of(model(x[shard::8], shard), labels[shard::8]).backward()
            each.append({name: p.grad for name, p in model.named_parameters() if p.grad is not None})
            means.append(model.norm.running_mean)
        torch.set_num_threads(threads)
        for index, kind in enumerate(dict.fromkeys(p.dtype for p in model.parameters())):
            named = [(name, p) for name, p in model.named_parameters() if p.requires_grad and p.dtype == kind]
            got, *rows = (torch.cat([grads.get(name, torch.zeros_like(p)).reshape(-1) for name, p in named])
                          for grads in [first] + each)
            stream = words(index, 0) if 'stream' in more else None
            same(got.float(), expected(rows, reduce, more.get('divide', 8), stream))
        same(states[0]['norm.running_mean'].float(), expected(means, 'exact', 8, None))
        assert states[4]['norm.num_batches_tracked'] == 5 and states[4]['noise.stream'].tolist() == [3, 10 << 36]


def test_steps_are_apart():
    """A step draws words of its own, and nothing stays of the gradients of the step before."""
    x = torch.rand(3, 600, generator=torch.Generator().manual_seed(1))
    p = torch.nn.ParameterList([torch.zeros(600), torch.zeros(600)])
    shards = hd.Shards(p, 3, 'ring(bfloat16,sra:8)', stream=STREAM)
    for step in range(3):
        for shard in shards:
            (p[step != shard] * x[shard]).sum().backward()
        zero, rows = torch.zeros(600), list(x)
        want = [torch.cat([row if (step != shard) == which else zero for which in (0, 1)])
                for shard, row in enumerate(rows)]
        same(torch.cat([p[0].grad, p[1].grad]), expected(want, 'ring(bfloat16,sra:8)', 3, words(0, step)))


class Leaving(Exception):
    pass


def leave(model, shards, way, x, labels):
    """A loop over shards that is not completed."""
    try:
        for shard in shards:
            loss_of(model(x[shard::8], shard), labels[shard::8]).backward()
            if way == 'break':
                break
            if way == 'exception':
                raise Leaving
            if way == 'no backward':
                for p in model.parameters():
                    p.grad = None
    except (Leaving, halfulp.HalfulpError) as error:
        assert ('no parameter has a gradient' in str(error)) == (way == 'no backward')


def left(rank, world, ways):
    """The state after a step behind a loop that was left, and its stream and statistics right after leaving."""
    made = []
    for way in ways:
        model = Net(torch.float32)
        shards = hd.Shards(model, 8)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
        for step in range(2):
            x, labels = batch(step, 32)
            held = None
            if way == 'held':  # its iterator lives, and ends while the next loop runs
                held = iter(shards)
                shard = next(held)
                loss_of(model(x[shard::8], shard), labels[shard::8]).backward()
            elif way in ('largest', '_join_buffers'):  # the join fails
                at = shards if way == '_join_buffers' else shards._join
                whole = getattr(at, way)

                def fails(*arguments):
                    whole(*arguments)
                    raise Leaving

                setattr(at, way, fails)
                leave(model, shards, way, x, labels)
                delattr(at, way)
            elif way:
                leave(model, shards, way, x, labels)
            assert way in ('', 'held') or all(p.grad is None for p in model.parameters())
            if step == 0 and way != 'held':
                made.append({name: z.clone() for name, z in model.state_dict().items()})
            for shard in shards:
                held = None
                loss_of(model(x[shard::8], shard), labels[shard::8]).backward()
            optimizer.step()
        made.append(model.state_dict())
    return made


@pytest.mark.long
def test_a_loop_that_is_left_is_no_step():
    """Weights, running statistics and streams are those of a run without it, for any number of processes."""
    ways = ['', 'break', 'exception', 'no backward', 'largest', '_join_buffers', 'held']
    one, two = (processes.run(world, left, ways) for world in (1, 2))
    first = Net(torch.float32).state_dict()
    last = one[0][1]
    assert not torch.equal(first['norm.running_mean'], last['norm.running_mean'])
    for of_process in one + two:
        for i, state in enumerate(of_process):
            want = last if i % 2 or i == len(of_process) - 1 else first
            assert state.keys() == want.keys()
            for name, x in state.items():
                same(x, want[name])


def test_loops_in_one_another():
    model = net()
    shards, rounds = hd.Shards(model, 2), 0
    with pytest.raises(ValueError, match='another loop over the same shards began'):
        for _ in shards:
            rounds += 1
            step_of(model, shards)
    assert rounds == 1


class Assigns(torch.nn.Module):
    """Running means that forward() assigns instead of changing them in place: with a graph, and without."""

    def __init__(self, change=None):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.change = torch.nn.Linear(30, 10), change
        self.register_buffer('ema', torch.zeros(10))
        self.register_buffer('last', torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        z = self.layer(x)
        self.ema = 0.75 * self.ema + 0.25 * z.mean(0)
        self.last = self.last + 1
        if self.change == 'shape':
            self.ema = self.ema[:5]
        if self.change == 'more':
            self.register_buffer('more', torch.zeros(1))
        return z - self.ema[0]


def assigned(rank, world):
    model = Assigns()
    shards, optimizer = hd.Shards(model, 4), torch.optim.SGD(model.parameters(), lr=0.5)
    ema = model.ema
    for step in range(3):
        x, labels = batch(step)
        for shard in shards:
            loss_of(model(x[shard::4]), labels[shard::4]).backward()
        optimizer.step()
        assert model.ema is ema and not ema.requires_grad
    return model.state_dict()


def test_buffers_that_are_assigned():
    (one,), two = (processes.run(world, assigned) for world in (1, 2))
    assert one['last'] == 3 and one['ema'].any()
    for state in two:
        for name, x in state.items():
            same(x, one[name])
    model = Assigns()
    x, labels = batch(0)
    means = [0.25 * model.layer(x[shard::4]).detach().mean(0) for shard in range(4)]
    step = hd.Shards(model, 4)
    for shard in step:
        loss_of(model(x[shard::4]), labels[shard::4]).backward()
    same(model.ema, expected(means, 'exact', 4, None))


@pytest.mark.parametrize('change, says', [('shape', r'the buffer ema was \(10,\) of torch.float32 before the loop and '
                                                    r'is \(5,\)'), ('more', 'came or went .*: more$')])
def test_buffers_that_cannot_be_joined(change, says):
    model = Assigns(change)
    with pytest.raises(ValueError, match=says):
        step_of(model, hd.Shards(model, 2))
    assert model.ema.shape == (10,) and not model.ema.any() and model.layer.weight.grad is None


def freeze(model):
    model[2].requires_grad_(False)


def unfreeze(model):
    model[0].requires_grad_(True)


def retype(model):
    model[2].to(torch.bfloat16)


def exchange(model):
    model[4] = torch.nn.Linear(50, 10)


@pytest.mark.parametrize('change, name', [(freeze, '2.weight'), (unfreeze, '0.weight'), (retype, '2.weight'),
                                          (exchange, '4.weight')])
def test_other_parameters_than_before(change, name):
    model = net()
    model[0].requires_grad_(False)
    shards = hd.Shards(model, 2)
    step_of(model, shards)
    change(model)
    with pytest.raises(ValueError, match='trainable parameters are not those .*see {}; make another'.format(name)):
        step_of(model, shards)


def test_weights_are_compared_once(monkeypatch):
    digests, whole = [], hd._digest
    monkeypatch.setattr(hd, '_digest', lambda named: digests.append(whole(named)) or digests[-1])
    model = net()
    shards = hd.Shards(model, 2)
    for _ in range(3):
        step_of(model, shards)
    assert len(digests) == 1


# ---- what is refused ----

def step_of(model, shards):
    for shard in shards:
        model(torch.ones(1, 30)).sum().backward()


def refused(rank, world):
    """What settings that differ on process 1 say: [(who, what differs, the message)]."""
    said = []

    def note(who, name, call):
        try:
            call()
            said.append((who, name, 'nothing'))
        except Exception as error:
            said.append((who, name, '{}: {}'.format(type(error).__name__, error)))

    one = rank == 1
    for name, reduce, more in (('reduce', 'tree(bfloat16)' if one else 'ring(bfloat16)', {}),
                               ('divide', 'exact', {'divide': 1 + one}), ('stream', 'exact', {'stream': (4, rank)})):
        model = net()
        ddp = DistributedDataParallel(model)
        ddp.register_comm_hook(None, hd.hook(reduce, **more))
        note('hook', name, lambda: ddp(torch.ones(1, 30)).sum().backward())
        model = net()
        note('Shards', name, lambda: step_of(model, hd.Shards(model, 2, reduce, **more)))
    model = net(seed=1 if one else 0)
    note('Shards', 'weights', lambda: step_of(model, hd.Shards(model, 2)))
    note('Shards', 'shards', lambda: step_of(net(), hd.Shards(model, 2 + 2 * one)))
    layers = ht.convert(net(), ht.Recipe(x='bfloat16,sra:8'), key=rank)
    note('Shards', 'weights', lambda: step_of(layers, hd.Shards(layers, 2)))
    note('Shards', 'number', lambda: hd.Shards(net(), 3))
    wide = DistributedDataParallel(net(torch.float64))
    wide.register_comm_hook(None, hd.hook())
    note('hook', 'type', lambda: wide(torch.ones(1, 30).double()).sum().backward())
    return said


def test_processes_must_agree():
    both = processes.run(2, refused)
    assert both[0] == both[1] and len(both[0]) == 11
    for who, name, said in both[0][:-2]:
        assert 'HalfulpValueError: {}: process 1 differs from process 0 in {}: '.format(who, name) in said, said
    assert "'tree(bfloat16)' instead of 'ring(bfloat16)'" in both[0][0][2]
    assert both[0][-2][2] == 'HalfulpValueError: shards: 3 is not a multiple of the number of processes, 2'
    assert both[0][-1][2].startswith('HalfulpTypeError: hook: gradients of torch.float64 are not joined, only ')


def in_groups(rank, world):
    """Processes 0 and 2 as a group, and 1 and 3 as another; and a group that a process does not belong to."""
    groups = [dist.new_group(ranks) for ranks in ((0, 2), (1, 3))]
    model, said = net(), ''
    shards = hd.Shards(model, 2, 'ring(bfloat16)', group=groups[rank % 2])
    for shard in shards:
        (model(torch.ones(1, 30)) * (shard + 1 + rank % 2)).sum().backward()
    try:
        hd.Shards(model, 2, group=groups[1 - rank % 2])
    except ValueError as error:
        said = str(error)
    return list(shards.own), said, [p.grad for p in model.parameters()]


def test_groups():
    one, two, three, four = processes.run(4, in_groups)
    assert one[0] == two[0] == [0] and three[0] == four[0] == [1]
    for a, b, c in zip(one[2], three[2], two[2]):
        same(a, b)
        assert not torch.equal(a, c)
    assert 'group: ' in one[1] and 'does not belong to it' in one[1]


def wrong_group(rank, world):
    """Two models, each of two processes, and a hook over all four."""
    groups = [dist.new_group(ranks) for ranks in ((0, 1), (2, 3))]
    ddp = DistributedDataParallel(net(seed=rank // 2), process_group=groups[rank // 2])
    ddp.register_comm_hook(None, hd.hook())
    try:
        ddp(torch.ones(1, 30)).sum().backward()
    except ValueError as error:
        return str(error)


def test_hook_over_another_group_than_the_model():
    for said in processes.run(4, wrong_group):
        assert said is not None and 'hook: process 2 differs from process 0 in weights: ' in said


def changes_a_weight(model):
    for _ in hd.Shards(model, 2):
        model(torch.ones(1, 30)).sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()


def no_backward(model):
    for _ in hd.Shards(model, 2):
        model(torch.ones(1, 30)).sum()


def sparse(model):
    for _ in hd.Shards(model, 2):
        model(torch.zeros(2, dtype=torch.int64)).sum().backward()


@pytest.mark.parametrize('call, says', [
    (lambda: hd.hook('rung(bfloat16)'), 'reduce'), (lambda: hd.hook('ring(bfloat16,sra:8)'), 'stream: ring.* draws'),
    (lambda: hd.hook('exact', stream='torch'), 'stream: the processes must agree'),
    (lambda: hd.hook('exact', stream=torch.Generator()), 'stream: the processes must agree'),
    (lambda: hd.hook(divide=0), 'divide: 0 is not a positive'), (lambda: hd.hook(divide=0.1), 'divide: 0.1'),
    (lambda: hd.hook(divide=float('inf')), 'divide'), (lambda: hd.Shards(net(), 0), 'shards: 0 is not an integer from'),
    (lambda: hd.Shards(net(), 2.0), 'shards: 2.0'), (lambda: hd.Shards(net(torch.float64), 2), 'model, 0.weight: .*64'),
    (lambda: hd.Shards(object.__new__(DistributedDataParallel), 2), 'model: DistributedDataParallel'),
    (lambda: changes_a_weight(net()), 'a weight was changed in the loop'),
    (lambda: no_backward(net()), 'no parameter has a gradient after shard 0'),
    (lambda: step_of(net(), hd.Shards(net(), 2)), 'no parameter'),
    (lambda: sparse(torch.nn.Embedding(4, 30, sparse=True)), 'the gradient of weight is .*sparse')])
def test_wrong(call, says):
    with pytest.raises(halfulp.HalfulpError, match=says):
        call()


def test_nccl_is_not_enough(monkeypatch):
    for name, value in (('is_initialized', True), ('get_rank', 0), ('get_world_size', 2), ('get_backend', 'nccl')):
        monkeypatch.setattr(dist, name, lambda *group, value=value: value)
    with pytest.raises(ValueError, match='group: nccl moves no tensors of the host'):
        hd.Shards(net(), 2)


@pytest.mark.skipif(not os.path.isdir('/proc/self/task'), reason='the names of threads are read from /proc')
def test_gloo_ends_with_its_group():
    """A thread of gloo that outlives the group may abort the process when Python ends. In a process of its own, since
    here torch.optim has been at work before any group was made. Its first step imports the module that is named below, and
    much else, which would take seconds more."""
    subprocess.run([sys.executable, '-c', """
import os, torch, torch.distributed as dist
import halfulp.torch.distributed

def threads():
    return [name for name in (open('/proc/self/task/%s/comm' % one).read() for one in os.listdir('/proc/self/task'))
            if 'gloo' in name]

dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)
weight = torch.nn.Parameter(torch.ones(3))
weight.sum().backward()
import torch.distributed.nn.functional
dist.all_reduce(weight.grad)
assert threads()
dist.destroy_process_group()
assert not threads(), threads()
"""], check=True)


def test_made_before_the_group(monkeypatch):
    model = net()
    shards = hd.Shards(model, 2)
    with monkeypatch.context() as later:
        for name, value in (('is_initialized', True), ('get_rank', 1), ('get_world_size', 2), ('get_backend', 'gloo')):
            later.setattr(dist, name, lambda *group, value=value: value)
        with pytest.raises(ValueError, match='made as process 0 of 1, and now this is process 1 of 2; make it behind'):
            step_of(model, shards)
        of_two = hd.Shards(model, 2)
    with pytest.raises(ValueError, match='made as process 1 of 2, and now this is process 0 of 1'):
        step_of(model, of_two)
    step_of(model, shards)


def test_a_loop_that_is_left_leaves_no_gradient():
    model = net()
    shards = hd.Shards(model, 4)
    for _ in shards:
        model(torch.ones(1, 30)).sum().backward()
        break
    assert all(p.grad is None for p in model.parameters())
    step_of(model, shards)
    assert all(p.grad is not None for p in model.parameters()) and list(shards.own) == [0, 1, 2, 3]
