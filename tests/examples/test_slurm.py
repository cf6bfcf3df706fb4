# SPDX-License-Identifier: MIT
"""The scripts of examples/slurm under a Slurm of this test's own: the same files as without it, after a requeue, too.

    test_slurm.py SOURCE_ROOT HALFULP [LAUNCHER=HALFULP_MPI:...]
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import slurm

SWEEP = ['--values', '0,0.5,1', '--seeds', '2']
RESULTS = ('summary.csv', 'summary.json', 'plot.svg')
ITEMS = ''.join('t%d triples arith float4_e2m1fn rne %d/4\n' % (i, i) for i in range(1, 5))


class Test:
    def __init__(self, cluster, halfulp):
        self.cluster, self.halfulp, self.folder = cluster, halfulp, pathlib.Path(cluster.folder)

    def here(self, *words):
        """The command itself, without Slurm and MPI."""
        subprocess.run([self.halfulp, *words], cwd=self.folder, env=self.cluster.env, stdout=subprocess.DEVNULL, check=True)

    def same(self, out, other, names=RESULTS):
        for name in names:
            assert (self.folder / out / name).read_bytes() == (self.folder / other / name).read_bytes(), (out, other, name)

    def runs(self, out):
        """{name of a run: its line} of the ledger and of its parts."""
        lines = [line for path in (self.folder / out).glob('runs.ledger*') for line in path.read_text().split('\n')[2:-1]]
        return {line.split('\t')[0]: line for line in lines}

    def restarts(self, job):
        return [int(one['Restarts']) for one in self.cluster.fields(job)]

    def begun(self, job, out, count):
        """Waits until some runs of a job are done; what the ledger has of them."""
        self.cluster.wait_until(lambda: len(self.runs(out)) >= count or 'FAILED' in self.cluster.states(job),
                                'job %s has done %d runs' % (job, count))
        done = self.runs(out)
        assert len(done) < 8, 'it was too fast'
        return done

    def kept(self, out, before):
        """Runs that were done are not done again: with their seconds."""
        after = self.runs(out)
        assert {name: after[name] for name in before} == before

    # ---- what the scripts do ----

    def array(self):
        """A job array, and a job that makes the report when all its tasks have ended."""
        job = self.cluster.submit('--array=1-2', 'array.sh', 'sweep', 'c.ini', '-o', 'array', *SWEEP)
        made = self.cluster.submit('--dependency=afterok:' + job, '--wrap', 'halfulp sweep c.ini -o array ' + ' '.join(SWEEP))
        self.cluster.wait(job)
        assert len(self.cluster.states(job)) == 2
        self.cluster.wait(made)
        self.same('array', 'whole')
        return 'array'

    def array_again(self):
        """A task that was put back into the queue continues; and one that is near its time limit puts itself there."""
        job = self.cluster.submit('--array=1-2', '--cpus-per-task=1', 'array.sh', 'sweep', 'long.ini', '-o', 'again', *SWEEP)
        before = self.begun(job, 'again', 1)
        self.cluster.wait_until((self.folder / 'again' / 'runs.ledger.2-of-2').exists, 'the second task is at work')
        first, second = ('%s_%d' % (job, task) for task in (1, 2))
        self.cluster.ask('scontrol', 'requeue', first)
        self.cluster.ask('scancel', '--batch', '--signal=USR1', second)
        self.cluster.wait_until(lambda: self.restarts(job) == [1, 1], 'both tasks are put back')
        self.cluster.wait(job)
        self.kept('again', before)
        self.here('sweep', 'long.ini', '-o', 'again', *SWEEP)
        self.same('again', 'long')
        return 'array, put back'

    def sweep(self):
        self.cluster.wait(self.cluster.submit('--ntasks=2', '--nodes=2', 'mpi.sh', 'sweep', 'c.ini', '-o', 'mpi', *SWEEP))
        self.same('mpi', 'whole')
        self.cluster.wait(self.cluster.submit('--ntasks=2', '--nodes=1', 'mpi.sh', 'sweep', 'c.ini', '-o', 'groups', *SWEEP, '--ranks-per-run', '2'))
        self.same('groups', 'whole')
        return 'sweep over MPI'

    def sweep_again(self):
        """Preempted by a job of a partition that has a higher priority: it takes all that there is."""
        job = self.cluster.submit('--ntasks=2', '--nodes=2', 'mpi.sh', 'sweep', 'long.ini', '-o', 'preempted', *SWEEP)
        before = self.begun(job, 'preempted', 2)
        urgent = self.cluster.submit('--partition=urgent', '--nodes=2', '--exclusive', '--wrap', 'sleep 1')
        self.cluster.wait(urgent)
        self.cluster.wait(job)
        assert self.restarts(job) == [1], self.cluster.fields(job)
        self.kept('preempted', before)
        self.same('preempted', 'long')
        return 'sweep over MPI, preempted'

    def campaign(self):
        self.cluster.wait(self.cluster.submit('--ntasks=2', '--nodes=2', 'mpi.sh', 'campaign', 'some.list'))
        said = subprocess.run([self.halfulp, 'campaign', 'some.list', '--status', '--json'], cwd=self.folder, env=self.cluster.env,
                              stdout=subprocess.PIPE, check=True).stdout
        assert json.loads(said)['done'] == 4, said
        return 'campaign'

    def train(self):
        """Told to end by the limit of time: it writes a checkpoint and continues."""
        job = self.cluster.submit('--ntasks=2', '--nodes=2', 'train-mpi.sh', 'train.ini', 'train', '--every', '10')
        log = self.folder / 'train' / 'log.csv'
        self.cluster.wait_until(lambda: log.exists() and log.read_text().count('\n') > 3, 'the run has begun')
        self.cluster.ask('scancel', '--batch', '--signal=USR1', job)
        self.cluster.wait_until(lambda: self.restarts(job) == [1], 'the job is put back')
        self.cluster.wait(job)
        self.same('train', 'trained', ['log.csv', 'evaluations.csv', 'exponents.csv'])
        return 'train, put back'


def prepare(folder, source, halfulp):
    for script in (source / 'examples' / 'slurm').glob('*.sh'):
        shutil.copy(script, folder)
    (folder / 'bin').mkdir()
    (folder / 'bin' / 'halfulp').symlink_to(halfulp)
    (folder / 'data').symlink_to(source / 'data')
    config = (source / 'examples' / 'train' / 'sweep-digits.ini').read_text() + '\n[parallel]\nshards = 2\n'
    for name, epochs in (('c', 1), ('long', 20), ('train', 10)):
        text = config.replace('path = ../../data', 'path = %s' % (folder / 'data')).replace('epochs = 20', 'epochs = %d' % epochs)
        (folder / (name + '.ini')).write_text(text)
    (folder / 'some.list').write_text(ITEMS)


def environment(mpi):
    env = {name: value for name, value in os.environ.items() if not name.startswith(('SLURM', 'SBATCH', 'OMPI', 'PMI'))}
    env.update(OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', OMPI_MCA_btl_vader_single_copy_mechanism='none',
               OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_odls_base_sigkill_timeout='2')
    if mpi:
        env['HALFULP_MPI'] = os.path.realpath(mpi)
    return env


def main():
    source, halfulp = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    mpi = dict(one.split('=') for one in ':'.join(sys.argv[3:]).split(':') if one)
    why = slurm.missing()
    if why:
        print('not here:', why)
        sys.exit(77)
    launcher = shutil.which('mpirun')
    program = mpi.get(launcher)
    start = time.monotonic()
    with slurm.Cluster(environment(program)) as cluster:
        test = Test(cluster, str(halfulp))
        prepare(test.folder, source, halfulp)
        cluster.env['PATH'] = '%s/bin:%s' % (cluster.folder, cluster.env['PATH'])
        for name, out in (('c', 'whole'), ('long', 'long')):
            test.here('sweep', name + '.ini', '-o', out, *SWEEP)
        test.here('train', 'train.ini', '-o', 'trained', '--every', '10')
        # Side by side; but one takes the whole machine.
        together = ([test.array, test.sweep, test.campaign], [test.array_again, test.train], [test.sweep_again])
        for steps in together if program else ([test.array], [test.array_again]):
            with concurrent.futures.ThreadPoolExecutor() as pool:
                for done in concurrent.futures.as_completed([pool.submit(step) for step in steps]):
                    print('%-26s %5.1f s' % (done.result(), time.monotonic() - start), flush=True)
    if not program:
        print('left out: the jobs over MPI, as there is no mpirun or no halfulp-mpi')


main()
