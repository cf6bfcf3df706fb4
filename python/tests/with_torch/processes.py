# SPDX-License-Identifier: MIT
"""Processes of torch.distributed over gloo for tests. A server that has imported what they need forks them,
since importing torch in each of them takes longer than all that they do."""
import multiprocessing
import pathlib
import tempfile

import torch
import torch.distributed as dist

_SECONDS = 120


def _process(rank, world, folder, work, arguments):
    torch.set_num_threads(1)
    dist.init_process_group('gloo', init_method='file://{}/store'.format(folder), rank=rank, world_size=world)
    torch.save(work(rank, world, *arguments), '{}/{}'.format(folder, rank))
    dist.barrier()
    dist.destroy_process_group()


def run(world, work, *arguments):
    """What work(rank, world, *arguments) returns in each of `world` processes. Where it raises an exception, its
    process ends, and so do those that wait for it."""
    context = multiprocessing.get_context('forkserver')
    # DistributedDataParallel imports torch._dynamo. A server of Python 3.11 does not find this folder, and passes over its
    # modules: what takes long in them is named as well.
    context.set_forkserver_preload([__name__, work.__module__, 'torch._dynamo', 'halfulp.torch.distributed', 'pytest'])
    with tempfile.TemporaryDirectory() as folder:
        each = [context.Process(target=_process, args=(rank, world, folder, work, arguments)) for rank in range(world)]
        for one in each:
            one.start()
        for one in each:
            one.join(_SECONDS)
        for one in each:
            one.kill()
            one.join()
        assert [one.exitcode for one in each] == [0] * world, 'a process crashed, or had not ended in time'
        return [torch.load(pathlib.Path(folder) / str(rank), weights_only=False) for rank in range(world)]
