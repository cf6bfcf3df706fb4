# SPDX-License-Identifier: MIT
"""`mpirun -n N halfulp train`, under each MPI that is here: the files of one process, for any number of ranks; runs that
are stopped and go on with other ranks; what is refused; a rank that dies."""

import json
import os
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from train_case import FILES, TrainCase  # noqa: E402

# (how it is started, its program) of each MPI library that the tests were built with.
LAUNCHERS = [one.split("=") for one in os.environ.get("HALFULP_MPIS", "").split(":") if one]
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "LC_ALL": "C",
}
EXHAUSTIVE = os.environ["HALFULP_EXHAUSTIVE"] == "1"
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
MLP = (
    "[data]\nset = digits\n[model]\nnet = mlp(layers=1,units=16)\n"
    "[run]\nbatch = 64\nsteps = 6\n[parallel]\nshards = 16\n"
)
CONV = (
    "[data]\nset = gratings\ncount = 96\ntest = 40\nsize = 8\n[model]\nnet = conv(channels=4)\n"
    "[run]\nbatch = 32\nsteps = 8\n[optimizer]\nmomentum = 0.9\n[parallel]\nshards = 16\nstatistics = batch\n"
)
RUNS = {
    "rounded gradients": MLP + "reduce = ring(bfloat16)\n[precision]\nsystem = fp16\n[loss]\nscale = backoff\n",
    "feedback": MLP + "reduce = ring(bfloat16)\nfeedback = own\n",
    "feedback, statistics of the batch": CONV + "reduce = ring(bfloat16)\nfeedback = sum\n",
    "statistics of the batch": CONV + "[precision]\nvalues = bfloat16,sra:8\n",
    "statistics of shards, stochastic": CONV.replace("statistics = batch\n", "").replace(
        "momentum = 0.9\n", "momentum = 0.9\nupdate = sra:8\nweights = bfloat16\n"
    ),
}


class Ranks(TrainCase):
    def command(self, launcher, n, *words, shell=None):
        start, program = launcher
        environment = dict(os.environ, HALFULP_MPI=program, **ENVIRONMENT)
        return [start, "-n", str(n)] + (shell or [support.HALFULP]) + list(words), environment

    def mpi(self, launcher, n, *words, shell=None):
        command, environment = self.command(launcher, n, *words, shell=shell)
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False
        )

    def options(self, out, *more):
        return ["train", self.path("x.ini"), "--every", "2", "--data", support.DATA, "--output", self.path(out), *more]

    def remove(self, *names):
        for name in names:
            shutil.rmtree(self.path(name), ignore_errors=True)

    def alone(self, out, *more):
        r = support.run(*self.options(out, *more))
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def trained(self, r):
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def test_same_files(self):
        """Weights, logs, evaluations, report: every byte; and what is printed, once. In `make check-all` all numbers of
        ranks with one network, and the others with 3, which have unequal parts of the shards."""
        for name, text in RUNS.items():
            each = EXHAUSTIVE or name == "statistics of the batch"
            self.config(text)
            want = json.loads(self.alone("one.run", "--json"))
            files = self.files("one.run")
            self.assertEqual(sorted(files), FILES)
            for launcher in LAUNCHERS:
                for n in (1, 2, 3, 8) if each else (3,):
                    with self.subTest(name, launcher=launcher[0], ranks=n):
                        got = json.loads(self.trained(self.mpi(launcher, n, *self.options("some.run", "--json"))))
                        self.assertEqual(got["digest"], want["digest"])
                        self.assertEqual(self.files("some.run"), files)
                        self.remove("some.run")
            self.remove("one.run")

    def test_threads_of_ranks(self):
        self.config(RUNS["statistics of the batch"])
        self.alone("one.run")
        files = self.files("one.run")
        self.trained(self.mpi(LAUNCHERS[0], 2, *self.options("some.run", "-j", "3")))
        some = self.files("some.run")
        self.assertEqual({name for name in files if some[name] != files[name]}, {"config.ini", "report.html"})

    def test_other_ranks_go_on(self):
        """2 ranks stop half-way; 3 ranks and one process go on from there, and 8 in the long run."""
        for text in (CONV, RUNS["feedback"]):
            with self.subTest(text):
                self.go_on(text)

    def go_on(self, text):
        self.config(text)
        self.alone("one.run")
        want = self.files("one.run")
        for launcher in LAUNCHERS:
            self.trained(self.mpi(launcher, 2, *self.options("half.run", "--set", "run.steps=4")))
            self.assertNotEqual(self.read("half.run/checkpoint.safetensors"), want["checkpoint.safetensors"])
            for n in (3, 8, 0) if EXHAUSTIVE else (3, 0):
                with self.subTest(launcher=launcher[0], ranks=n):
                    shutil.copytree(self.path("half.run"), self.path("rest.run"))
                    if n:
                        self.trained(self.mpi(launcher, n, *self.options("rest.run", "--resume")))
                    else:
                        self.alone("rest.run", "--resume")
                    self.assertEqual(self.files("rest.run"), want)
                    self.remove("rest.run")
            self.remove("half.run")
        self.remove("one.run")

    def start(self, launcher, *words):
        """2 ranks, whose process numbers are in pid.0 and pid.1."""
        script = 'echo $$ > "%s.%s"; exec "$0" "$@"' % (self.path("pid"), RANK)
        command, environment = self.command(launcher, 2, *words, shell=["sh", "-c", script, support.HALFULP])
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)

    def step_of(self, name):
        _, metadata, _ = support.parse_safetensors(self.read(name + "/checkpoint.safetensors"))
        return int(json.loads(metadata["state"])["step"])

    def test_stopped(self):
        """A signal to one rank stops all of them after the same step, and one process goes on from there."""
        self.config(MLP.replace("steps = 6", "steps = 4000"))
        for launcher in LAUNCHERS:
            for told in (0, 1):
                p = self.start(launcher, *self.options("some.run"))
                self.wait_for(p, "some.run/log.jsonl")
                os.kill(int(self.read("pid.%d" % told)), signal.SIGTERM)
                said = p.communicate()[1]
                self.assertNotEqual(p.returncode, 0)
                step = self.step_of("some.run")
                self.assertTrue(0 < step < 4000)
                self.assertIn(b"after step %d of 4000; to continue: " % step, said)
                more = ["--set", "run.steps=%d" % (step + 4)]
                self.alone("some.run", "--resume", *more)
                self.alone("one.run", *more)
                self.assertEqual(self.files("some.run"), self.files("one.run"))
                self.remove("some.run", "one.run")

    def wait_for(self, p, name):
        """Until a process has written the file."""
        path = self.path(name)
        self.wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "it writes " + name, p)

    def refused(self, launcher, n, *words, says, shell=None):
        r = self.mpi(launcher, n, *words, shell=shell)
        self.assertNotEqual(r.returncode, 0)
        for text in says:
            self.assertEqual(r.stderr.decode().count(text), 1, r.stderr)
        self.assertNotIn(b"Traceback", r.stderr)

    def test_refused(self):
        """Said once, whichever rank finds it; nothing is written."""
        self.config(MLP.replace("shards = 16", "shards = 2"))
        for launcher in LAUNCHERS:
            out = self.options("some.run")
            self.refused(launcher, 3, *out, says=["parallel.shards: 2, and there are 3 processes"])
            self.refused(launcher, 2, *out, "--set", "parallel.shards=5", says=["no multiple of parallel.shards, 5"])
            self.refused(
                launcher, 2, *out, "--set", "parallel.statistics=all", says=["parallel.statistics: 'all' is not one"]
            )
            self.refused(launcher, 2, *out, "--set", "run.seeed=1", says=["run.seeed"])
            self.refused(launcher, 2, "train", "-", says=["cannot share standard input"])
            self.assertEqual(self.left(), ["x.ini"])

    def test_other_configuration_on_one_rank(self):
        self.config(MLP)
        for launcher in LAUNCHERS:
            for r, key in ((1, "run.seed=1"), (2, "parallel.statistics=batch")):
                script = 'if [ "%s" = %d ]; then exec "$0" "$@" --set %s; else exec "$0" "$@"; fi' % (RANK, r, key)
                shell = ["sh", "-c", script, support.HALFULP]
                says = ["rank %d has other keys in CONFIG or --set than rank 0" % r]
                self.refused(launcher, 3, *self.options("some.run"), shell=shell, says=says)
                self.assertEqual(self.left(), ["x.ini"])

    def test_other_intervals_on_one_rank(self):
        self.config(MLP)
        for words in ("--evaluate 0", "--checkpoint 3"):
            script = 'if [ "%s" = 1 ]; then exec "$0" "$@" %s; else exec "$0" "$@"; fi' % (RANK, words)
            says = ["rank 1 has other --evaluate, --checkpoint or --resume than rank 0"]
            self.refused(LAUNCHERS[0], 2, *self.options("some.run"), shell=["sh", "-c", script, support.HALFULP], says=says)

    def test_other_data_on_one_rank(self):
        self.config(
            "[data]\nset = text\npath = t.txt\nwindow = 8\n[model]\nnet = transformer(layers=1,units=8,heads=1)\n"
            "[run]\nbatch = 4\nsteps = 2\n[parallel]\nshards = 2\n"
        )
        for i, word in enumerate((b"one two three ", b"one too three ")):
            os.makedirs(self.path("d%d" % i), exist_ok=True)
            self.write("d%d/t.txt" % i, word * 60)
        for launcher in LAUNCHERS:
            shell = ["sh", "-c", 'exec "$0" "$@" --data "%s%s"' % (self.path("d"), RANK), support.HALFULP]
            words = ["train", self.path("x.ini"), "--output", self.path("some.run")]
            self.refused(
                launcher, 2, *words, shell=shell, says=["rank 1 has other numbers in its data files than rank 0"]
            )
            self.assertFalse(os.path.exists(self.path("some.run")))

    def test_a_rank_that_dies(self):
        """It takes the job along, which has hours to go, and the last checkpoint is whole."""
        self.config(MLP.replace("steps = 6", "steps = 100000"))
        for launcher in LAUNCHERS:
            for killed in (0, 1):
                p = self.start(launcher, *self.options("some.run", "--checkpoint", "3"))
                self.wait_for(p, "some.run/checkpoint.safetensors")
                os.kill(int(self.read("pid.%d" % killed)), signal.SIGKILL)
                p.communicate()
                self.assertNotEqual(p.returncode, 0)
                step = self.step_of("some.run")
                self.assertEqual(step % 3, 0)
                more = ["--resume", "--set", "run.steps=%d" % (step + 2)]
                self.trained(self.mpi(launcher, 2, *self.options("some.run", *more)))
                self.remove("some.run")


if __name__ == "__main__":
    if not LAUNCHERS:
        print("no MPI here")
        sys.exit(77)
    support.main()
