# SPDX-License-Identifier: MIT
"""Sweeps as processes: the same result however many there were, after interrupts, kills and failures."""

import contextlib
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from sweeps import SEEDS, SweepCase  # noqa: E402


class Stopped(SweepCase):
    def test_leftovers_of_killed_commands(self):
        """Gone when the same command continues; other files stay."""
        self.ok(*self.args("o"))
        for name in ("o/.halfulp-N04R3U000", "o/.halfulp-abc"):
            self.write(name, b"half")
        self.ok(*self.args("o"))
        self.assertEqual([n for n in os.listdir(self.path("o")) if n.startswith(".")], [".halfulp-abc"])

    def test_pipes_for_files(self):
        """Which anyone who may write in the folder can put there: none is waited for."""
        self.ok(*self.args("o"))
        for name in ["runs.ledger", "summary.csv", "summary.json", "plot.svg", "report.html"]:
            whole = self.read("o/" + name)
            os.unlink(self.path("o/" + name))
            os.mkfifo(self.path("o/" + name))
            self.bad(*self.args("o"), says=name + ": is no ordinary file")
            os.unlink(self.path("o/" + name))
            self.write("o/" + name, whole)

    def test_number_of_processes(self):
        self.ok(*self.args("a", "--jobs", "1"))
        self.ok(*self.args("b", "--jobs", "2"))
        self.ok(*self.args("c", "--jobs", "7", seeds="0,1"))
        self.assertEqual(self.results("a"), self.results("b"))
        self.assertEqual(self.results("a"), self.results("c"))

    def long(self, out, *more):
        return self.args(out, "--jobs", "2", "--set", "run.steps=250", *more)

    def stopped_in_the_middle(self, out, number):
        """The run, stopped by a signal when some files were there; what they hold."""
        for _ in range(6):
            p = subprocess.Popen([support.HALFULP, *self.long(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.wait_until(lambda: len(self.lines(out)) >= 2, "no run ends")
            p.send_signal(number)
            error = p.communicate()[1].decode()
            self.wait_until(lambda: not self.processes(out), "processes go on")
            done = self.lines(out)
            if len(done) < 8:
                break
            shutil.rmtree(self.path(out))  # it was too fast for a machine that has other things to do
        self.assertEqual(p.returncode, -number)
        self.assertTrue(2 <= len(done) < 8, sorted(done))
        self.assertEqual(os.listdir(self.path(out)), ["runs.ledger"])
        return done, error

    def test_stopped_and_gone_on(self):
        self.ok(*self.long("whole"))
        for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
            out = "stopped%d" % number
            done, error = self.stopped_in_the_middle(out, number)
            if number != signal.SIGKILL:
                self.assertEqual(
                    error, "halfulp: stopped with %d of 8 items done, %d left; the same command continues\n" % (len(done), 8 - len(done))
                )
            self.ok(*self.long(out))
            self.assertEqual(self.results(out), self.results("whole"))
            self.assertLessEqual(done.items(), self.lines(out).items())  # with their seconds: not done again

    def begun(self, out, *more):
        """The command with two runs that would take hours."""
        args = self.args(out, "--jobs", "2", "--set", "run.steps=10000000", *more)
        p = subprocess.Popen([support.HALFULP, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(p.stderr.close)
        self.addCleanup(self.end_all, out)
        self.wait_until(lambda: len(self.processes(out)) == 3, "no runs begin")
        for pid in set(self.processes(out)) - {p.pid}:
            self.wait_until(lambda: not any(name.startswith(self.path(out)) for name in self.opened(pid)), "the lock is kept")
        return p

    def test_runs_do_not_outlive_the_command(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            p = self.begun("o")
            p.send_signal(number)
            p.communicate()
            self.assertEqual(p.returncode, -number)
            self.wait_until(lambda: not self.processes("o"), "processes go on")
            self.assertEqual(self.lines("o"), {})

    def test_killed_command(self):
        """Its runs end by themselves; and while they have not yet, the ledger is free, also that of a part."""
        for out, runs_done, more in (("o", 8, ()), ("p", 4, ("--shard", "1/2"))):
            p = self.begun(out, *more)
            runs = set(self.processes(out)) - {p.pid}
            for pid in runs:
                os.kill(pid, signal.SIGSTOP)
            p.kill()
            p.wait()
            self.ok(*self.args(out, "--set", "run.steps=1", *more))
            whole = self.lines(out)
            self.assertEqual(len(whole), runs_done)
            for pid in runs:
                os.kill(pid, signal.SIGCONT)
            self.wait_until(lambda: not self.processes(out), "processes go on")
            self.assertEqual(self.lines(out), whole)

    def test_done_is_not_done_again(self):
        self.ok(*self.args("o"))
        before = self.lines("o")
        # More seeds and values: what is there stays.
        self.ok(*self.args("o", values="1,0.25,0", seeds="3,1,0"))
        self.assertLessEqual(before.items(), self.lines("o").items())
        self.assertEqual(len(self.lines("o")), 8 + 1 + 3 + 2)

    def test_damaged_ledger(self):
        """Without its line a run is done again; a line that was cut is left out, and what is no result is said."""
        self.ok(*self.args("o"))
        whole, results = self.read("o/runs.ledger"), self.results("o")
        last = whole[:-1].rindex(b"\n") + 1
        for damaged in (whole[:last], whole[: last + 200], whole[:-1]):
            self.write("o/runs.ledger", damaged)
            self.ok(*self.args("o"))
            self.assertEqual((self.results("o"), len(self.lines("o"))), (results, 8))
        name = whole[last:].split(b"\t")[0].decode()
        for damaged, says in ((whole[:-1] + b"x\n", name + ": its result cannot be read"),
                              (whole[:last] + whole[last:].replace(b'"measure"', b'"mesure"'), name + ": its result cannot be read"),
                              (whole[:last] + whole[last:].replace(b"\t", b" ", 3), "runs.ledger:10: too few columns")):
            self.write("o/runs.ledger", damaged)
            self.bad(*self.args("o"), says=says)

    def test_one_at_a_time(self):
        p = self.begun("o")
        self.bad(*self.args("o"), says=self.path("o/runs.ledger") + ": another sweep is at work on this file")
        p.kill()
        p.wait()
        self.wait_until(lambda: not self.processes("o"), "processes go on")

    def test_progress_bar_only_on_a_terminal(self):
        r = support.run(*self.long("o"))
        self.assertEqual((r.returncode, r.stderr), (0, b""))
        for steps in (600, 2400, 9600, 38400):  # the bar is drawn after half a second
            args = self.long("p-%d" % steps, "--set", "run.steps=%d" % steps)
            shown, _ = support.on_terminal([support.HALFULP, *args])
            parts = re.findall(
                r"sweep \[[#.]+\] +(\d+)% (?:\d+ s left +)?(\d) of 8 done, (\d) at work, 0 failed", shown.decode()
            )
            if parts:
                break
        self.assertTrue(any(int(p[2]) for p in parts), shown)
        for column in (0, 1):
            seen = [int(p[column]) for p in parts]
            self.assertEqual(seen, sorted(seen))
        self.assertTrue(all(0 <= int(p[2]) <= 2 for p in parts))

    def test_failing_runs(self):
        nowhere = self.path("nowhere")
        args = self.args("o", "--key", "data.path", "--set", "assignment.kind=none", "--json",
                         values="%s,%s" % (nowhere, support.DATA))
        r = support.run(*args)
        error = r.stderr.decode()
        self.assertEqual(r.returncode, 1, error)
        for seed in SEEDS:
            self.assertRegex(error, r"(?m)^halfulp: data\.path = \S*nowhere, seed %d: .+$" % seed)
        self.assertEqual(error.count("\n"), 2, error)
        z = json.loads(r.stdout)
        self.assertEqual([row["seeds"] for row in z["rows"]], [2, 0, 2])
        self.assertEqual(z["rows"][1]["mean"], None)
        for run in z["rows"][1]["runs"]:
            self.assertTrue(run["failed"])
        self.assertEqual(z["recommended"], support.DATA)
        self.assertIn(z["rows"][1]["runs"][0]["failed"], html.unescape(self.read("o/report.html").decode()))
        # What failed is tried again.
        os.symlink(support.DATA, nowhere)
        z = json.loads(self.ok(*args))
        self.assertEqual([row["seeds"] for row in z["rows"]], [2, 2, 2])

    def test_a_killed_run(self):
        """It is told, and the next one begins."""
        p = self.begun("o")
        first = set(self.processes("o")) - {p.pid}
        os.kill(min(first), signal.SIGKILL)
        self.wait_until(lambda: len(set(self.processes("o")) - first - {p.pid}) == 1, "the others do not go on")
        p.send_signal(signal.SIGINT)
        error = p.communicate()[1].decode().splitlines()
        self.assertRegex(error[0], r"^halfulp: binary32, seed [01]: ended by signal 9 \(Killed\)$")
        self.assertEqual(error[1:], ["halfulp: stopped with 0 of 8 items done, 8 left; the same command continues"])


if __name__ == "__main__":
    support.main()
