# SPDX-License-Identifier: MIT
"""Sweeps shared by the processes of an MPI job, by groups of them, and by parts without MPI: the same files."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
import launchers  # noqa: E402
import support  # noqa: E402
from launchers import LAUNCHERS  # noqa: E402
from sweeps import SweepCase  # noqa: E402

LONG = ("--set", "run.steps=10000000")


class Parts(SweepCase):
    def test_parts(self):
        """Each does its own runs; the command without --shard finds them all, and the report is the same."""
        self.ok(*self.args("whole"))
        said = self.ok(*self.args("o", "--shard", "1/2"))
        self.assertIn("part 1/2: 4 of 4 items done\n8 items: 4 done, 0 stale, 4 open\n", said)
        first = self.lines("o")
        self.assertEqual((len(first), sorted(os.listdir(self.path("o")))), (4, ["runs.ledger", "runs.ledger.1-of-2"]))
        self.assertIn("8 items: 8 done", self.ok(*self.args("o", "--shard", "2/2")))
        self.ok(*self.args("o"))
        self.assertEqual(self.results("o"), self.results("whole"))
        self.assertEqual(self.runs("o"), self.runs("whole"))
        self.assertNotIn("runs.ledger.1-of-2", os.listdir(self.path("o")))
        self.assertLessEqual(first.items(), self.lines("o").items())  # with their seconds: not done again

    def test_merge(self):
        """Parts that were done on machines without a common folder."""
        self.ok(*self.args("whole"))
        for i in (1, 2):
            self.ok(*self.args("o%d" % i, "--shard", "%d/2" % i))
        said = self.ok(*self.args("o", "--merge", *(self.path("o%d/runs.ledger.%d-of-2" % (i, i)) for i in (1, 2))))
        self.assertTrue(said.endswith("o/runs.ledger: 8 items\n"), said)
        self.assertIn("8 items: 8 done", self.ok(*self.args("o", "--status")))
        self.ok(*self.args("o"))
        self.assertEqual((self.results("o"), self.runs("o")), (self.results("whole"), self.runs("whole")))
        self.bad(*self.args("o", self.path("o1/runs.ledger")), says="runs.ledger' is one operand too many")

    def test_include(self):
        said = self.ok(*self.args("o", "--include", "ratio-0*", "--include", "baseline-seed1"))
        self.assertIn("8 items: 5 done, 0 stale, 3 open", said)
        self.assertEqual(os.listdir(self.path("o")), ["runs.ledger"])

    def test_parts_of_other_sweeps(self):
        self.ok(*self.args("o", "--shard", "1/2"))
        self.bad(*self.args("o", "--set", "optimizer.rate=0.02", "--shard", "2/2"), says="optimizer.rate = 0.01, not 0.02")

    def test_wrong_options(self):
        for text in ("0/2", "3/2", "2", "1/0", "1/2/3", "-1/2", "1/65537"):
            self.bad(*self.args("o", "--shard", text), says="--shard: '%s' is not I/N" % text)
        self.bad(*self.args("o", "--shard", "1/2", "--json"), says="which --shard, --include, --status and --merge do not make")
        self.bad(*self.args("o", "--ranks-per-run", "2"), says="1 rank cannot be cut into groups of 2")
        self.bad(*self.args("o", "--ranks-per-run", "0"), says="--ranks-per-run")
        self.assertFalse(os.path.exists(self.path("o")))


class Ranks(SweepCase):
    def is_locked(self, out):
        """A process has the ledger open. (To try the lock would be in the way of one that does.)"""
        for pid in self.processes(out):
            with contextlib.suppress(OSError):  # it has ended in the meantime
                if os.path.realpath(self.path(out + "/runs.ledger")) in self.opened(pid):
                    return True
        return False

    def start(self, launcher, n, *words, shell=None):
        command, environment = launchers.job(launcher, n, *words, shell=shell)
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=self.path("."))

    def mpi(self, launcher, n, *words, code=0, shell=None):
        p = self.start(launcher, n, *words, shell=shell)
        out, error = p.communicate()
        self.assertEqual(p.returncode, code, error.decode())
        return out.decode(), error.decode()

    def test_any_number_of_ranks(self):
        said = self.ok(*self.args("whole"))
        for k, launcher in enumerate(LAUNCHERS):
            for n in (1, 2, 3):
                out = "o%d-%d" % (k, n)
                told, error = self.mpi(launcher, n, *self.args(out))
                self.assertEqual(error, "")
                self.assertEqual(told.replace(self.path(out), "OUT"), said.replace(self.path("whole"), "OUT"))
                self.assertEqual(self.results(out), self.results("whole"))
                self.assertEqual(self.runs(out), self.runs("whole"))
                self.assertTrue(os.path.exists(self.path(out + "/report.html")))

    def test_parts_of_ranks(self):
        self.ok(*self.args("whole"))
        for launcher in LAUNCHERS[:1]:
            told, _ = self.mpi(launcher, 2, *self.args("o", "--shard", "2/3"))
            self.assertIn("part 2/3: 3 of 3 items done\n8 items: 3 done", told)
            self.mpi(launcher, 2, *self.args("o"))
            self.assertEqual(self.results("o"), self.results("whole"))

    def test_groups(self):
        """Two ranks share the four shards of each run; one group of two, and two."""
        shards = ("--set", "parallel.shards=4", "--set", "parallel.reduce=ring(bfloat16)")
        self.ok(*self.args("whole", *shards))
        for k, launcher in enumerate(LAUNCHERS):
            for n in (2, 4):
                out = "o%d-%d" % (k, n)
                self.mpi(launcher, n, *self.args(out, *shards, "--ranks-per-run", "2"))
                self.assertEqual(self.runs(out), self.runs("whole"))
                self.assertEqual(self.results(out), self.results("whole"))

    def stopped_in_the_middle(self, launcher, number, out, longer):
        for _ in range(6):
            p = self.start(launcher, 2, *self.args(out, *longer))
            self.wait_until(lambda: len(self.lines(out)) >= 2, "no run ends")
            self.end_all(out, number)  # to all of them, as Slurm does
            p.communicate()
            self.wait_until(lambda: not self.processes(out), "processes go on")
            done = self.lines(out)
            if len(done) < 8:
                break
            shutil.rmtree(self.path(out))  # it was too fast for a machine that has other things to do
        self.assertTrue(2 <= len(done) < 8, sorted(done))
        self.assertEqual(os.listdir(self.path(out)), ["runs.ledger"])
        return done

    def test_killed(self):
        """A job that was killed, or told to end, loses what was under way; the same command continues."""
        longer = ("--set", "run.steps=1000")
        self.ok(*self.args("whole", *longer))
        for k, launcher in enumerate(LAUNCHERS):
            for number in (signal.SIGKILL, signal.SIGTERM):
                out = "o%d-%d" % (k, number)
                done = self.stopped_in_the_middle(launcher, number, out, longer)
                self.mpi(launcher, 3, *self.args(out, *longer))
                self.assertEqual(self.results(out), self.results("whole"))
                self.assertLessEqual(done.items(), self.lines(out).items())

    def test_one_at_a_time(self):
        for k, launcher in enumerate(LAUNCHERS):
            out = "o%d" % k
            self.addCleanup(self.end_all, out)
            p = self.start(launcher, 2, *self.args(out, *LONG))
            self.wait_until(lambda: self.is_locked(out), "nothing begins")
            _, error = self.mpi(launcher, 2, *self.args(out), code=2)
            self.assertEqual(error.count("another sweep is at work on this file"), 1, error)
            self.end_all(out)
            p.communicate()

    # ---- what goes wrong ----

    def test_ranks_that_differ(self):
        """Rank 1 has another file, another option or a wrong one: the error names it, and nothing is made."""
        rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
        self.write("c.0", self.read("c.ini"))
        self.write("c.1", self.read("c.ini").replace(b"0.01", b"0.02"))
        rest = ["--data", support.DATA, "-o", "o"]
        other = [(["c.$(test %s = 1 && echo 1 || echo 0)" % rank], "other keys in CONFIG or its options"), (["c.0", "--values", "0,0.%s" % rank], "other keys"),
                 (["c.0", "--loss", rank], "other options"), (["c.0", "--seeds", "7%s," % rank], "other keys"),
                 (["c.0", "--set", "run.ste%s=%s" % ("$(test %s = 0 && echo ps)" % rank, 1)], "an error that rank 0 has not"),
                 (["c.0", "$(test %s = 0 && echo --quiet || echo --quit)" % rank], "other options")]
        for launcher in LAUNCHERS:
            for words, says in other:
                script = 'exec "$0" sweep "$@" ' + " ".join('"%s"' % word for word in words)
                _, error = self.mpi(launcher, 3, *rest, shell=["sh", "-c", script, support.HALFULP], code=2)
                self.assertIn("halfulp: sweep: rank 1 has " + says, error)
                self.assertIn("than rank 0\n" if "error" not in says else "has not\n", error)
                self.assertFalse(os.path.exists(self.path("o")))

    def test_wrong_on_all(self):
        """Said once."""
        for launcher in LAUNCHERS:
            for words, says in ((("--set", "run.step=1"), "run.step: there is no such key"), (("--jobs", "2"), "--jobs: each rank of an MPI job"),
                                (("--ranks-per-run", "2"), "3 ranks cannot be cut into groups of 2"),
                                (("--ranks-per-run", "3"), "parallel.shards = 1: each rank takes at least one shard")):
                _, error = self.mpi(launcher, 3, *self.args("o", *words), code=2)
                self.assertEqual(error.count(says), 1, error)
                self.assertFalse(os.path.exists(self.path("o")))

    def test_failing_runs(self):
        """As in processes of their own, with the same reason in the summary; and what failed is tried again."""
        nowhere = self.path("nowhere")
        more = ("--key", "data.path", "--set", "assignment.kind=none", "--set", "parallel.shards=2", "--json")
        values = "%s,%s" % (nowhere, support.DATA)
        want = json.loads(support.run(*self.args("whole", *more, values=values)).stdout)
        for k, launcher in enumerate(LAUNCHERS):
            for size in ("1", "2"):
                out = "o%d-%s" % (k, size)
                args = self.args(out, *more, "--ranks-per-run", size, values=values)
                told, error = self.mpi(launcher, 2, *args, code=1)
                self.assertEqual(json.loads(told), want)
                self.assertEqual(error.count("nowhere, seed "), 2, error)
                self.assertIn(want["rows"][1]["runs"][0]["failed"], error)
        self.assertEqual([row["seeds"] for row in want["rows"]], [2, 0, 2])
        os.symlink(support.DATA, nowhere)
        for launcher in LAUNCHERS[:1]:
            told, _ = self.mpi(launcher, 2, *args)
            self.assertEqual([row["seeds"] for row in json.loads(told)["rows"]], [2, 2, 2])


if __name__ == "__main__":
    support.main()
