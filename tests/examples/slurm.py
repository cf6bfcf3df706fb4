# SPDX-License-Identifier: MIT
"""A Slurm of one's own for a test: slurmctld and two slurmd on this machine, as the user who runs the test, in a temporary
folder and on free ports of the loopback device. Nothing of it is left when the test ends.

    with slurm.Cluster(environment) as cluster:
        job = cluster.submit('--ntasks=2', 'job.sh', 'ARGUMENT')
        cluster.wait(job)
"""
import ctypes
import glob
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = ('slurmctld', 'slurmd', 'sbatch', 'scontrol', 'scancel', 'sinfo', 'squeue')
PLUGINS = ('/usr/lib/*/slurm-wlm/auth_none.so', '/usr/lib*/slurm/auth_none.so', '/usr/lib/*/slurm/auth_none.so')
NODES = ('n1', 'n2')
# cred_expire: how long a job that was put back waits before it starts again. sched_interval: so does all else that waits.
CONF = '''ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=100000
JobRequeue=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=5
MailProg=/bin/true
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 State=UNKNOWN
PartitionName=p Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes=n1,n2 MaxTime=INFINITE State=UP PriorityTier=2 PreemptMode=OFF
'''


def missing():
    """What keeps Slurm from running here; None if nothing does."""
    path = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'
    absent = [name for name in PROGRAMS if not shutil.which(name, path=path)]
    if absent:
        return ', '.join(absent) + ' (Debian: slurmctld, slurmd, slurm-client)'
    if not any(glob.glob(pattern) for pattern in PLUGINS):
        return "Slurm's plugin auth_none.so"
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return 'a name of the user %d' % os.getuid()
    try:
        socket.gethostbyname('localhost')
    except OSError:
        return 'an address of localhost'
    return None


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def end_with_parent():
    """In a new process: the kernel ends it with this one, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def stop(number, frame):
    sys.exit('stopped by signal %d' % number)


class Cluster:
    def __init__(self, environment):
        # Neither Slurm's configuration nor a script's name may have a blank in it.
        where = None if len(tempfile.gettempdir().split()) == 1 else '/tmp'
        self.folder = tempfile.mkdtemp(prefix='slurm-', dir=where)
        self.env = dict(environment, SLURM_CONF=self.folder + '/slurm.conf')
        self.env['PATH'] = self.env.get('PATH', '') + ':/usr/sbin:/sbin'
        self.daemons = []

    def __enter__(self):
        signal.signal(signal.SIGTERM, stop)  # of a test that takes too long
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        for name in ('state', 'spool', 'log'):
            os.mkdir(os.path.join(self.folder, name))
        text = CONF.format(user=pwd.getpwuid(os.getuid()).pw_name, folder=self.folder, ports=free_ports(3))
        with open(self.env['SLURM_CONF'], 'w') as file:
            file.write(text)
        self.daemon('slurmctld')
        self.wait_until(lambda: 'UP' in self.ask('scontrol', 'ping'), 'slurmctld answers')
        for node in NODES:
            self.daemon('slurmd', '-N', node)
        self.wait_until(lambda: self.ask('sinfo', '-h', '-N', '-p', 'p', '-o', '%T').split() == ['idle'] * len(NODES), 'the nodes are idle')

    def daemon(self, name, *words):
        with open(os.path.join(self.folder, 'log', 'started.log'), 'a') as log:
            self.daemons.append(subprocess.Popen([shutil.which(name, path=self.env['PATH']), '-D', *words], env=self.env, stdout=log,
                                                 stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, preexec_fn=end_with_parent))

    def __exit__(self, *error):
        try:
            if any(error) or not self.daemons:
                self.show_logs()
            if self.daemons and self.daemons[0].poll() is None:
                subprocess.run(['scancel', '--user', pwd.getpwuid(os.getuid()).pw_name], env=self.env, check=False)
                self.wait_until(lambda: not self.ask('squeue', '-h').strip(), 'all jobs have ended')
        finally:
            for daemon in reversed(self.daemons):
                daemon.terminate()
            for daemon in self.daemons:
                try:
                    daemon.wait(10)
                except subprocess.TimeoutExpired:
                    daemon.kill()
                    daemon.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def show_logs(self):
        for path in sorted(glob.glob(self.folder + '/log/*') + glob.glob(self.folder + '/*.out')):
            with open(path, errors='replace') as file:
                print('== %s\n%s' % (path, file.read()[-4000:]), flush=True)

    def ask(self, *command, environment=None):
        done = subprocess.run(command, env=dict(self.env, **(environment or {})), cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout

    def wait_until(self, holds, what):
        """However long it takes, while all daemons run: meson has a limit for the test."""
        print('until ' + what, flush=True)
        while not holds():
            if any(daemon.poll() is not None for daemon in self.daemons):
                raise SystemExit('a daemon has ended: ' + what)
            time.sleep(0.1)

    # ---- jobs ----

    def submit(self, *words):
        """The number of the job; what it prints goes to NUMBER.out (of a job array: NUMBER_TASK.out)."""
        # Open MPI 4 removes the folder of a node's daemons with the last of them, and a daemon that another job starts in that moment may
        # fail: one job in a hundred. Each job has a folder of its own.
        own = {'OMPI_MCA_orte_tmpdir_base': tempfile.mkdtemp(prefix='openmpi-', dir=self.folder)}
        said = self.ask('sbatch', '--parsable', '--output=%s/%%%s.out' % (self.folder, 'A_%a' if any('array' in word for word in words) else 'j'),
                        *words, environment=own)
        print('$ sbatch %s -> %s' % (' '.join(words), said.strip()), flush=True)
        if not said.strip().isdigit():
            raise SystemExit('sbatch: ' + said)
        return said.strip()

    def fields(self, job):
        """What Slurm says of a job, of each task of a job array."""
        lines = self.ask('scontrol', 'show', 'job', '-o', job).strip().splitlines()
        return [dict(re.findall(r'(\S+?)=(\S*)', line)) for line in lines]

    def states(self, job):
        return [one.get('JobState', '?') for one in self.fields(job)]

    def wait(self, job, state='COMPLETED'):
        """Until all of a job has ended, in this state."""
        ended = {'COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL', 'OUT_OF_MEMORY', 'BOOT_FAIL'}
        self.wait_until(lambda: set(self.states(job)) <= ended, 'job %s ends' % job)
        if set(self.states(job)) != {state}:
            raise SystemExit('job %s: %s' % (job, self.states(job)))
