# SPDX-License-Identifier: MIT
"""Ledgers of `halfulp campaign`: what is not done again, what is left after a kill, parts, locks, and ledgers put together."""

import errno
import os
import resource
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from campaigns import COLUMNS, HEAD, PAIRS, SMALL, CampaignCase, entry  # noqa: E402
from launchers import LAUNCHERS  # noqa: E402


class Ledger(CampaignCase):
    def test_done_is_not_done_again(self):
        mark = self.path("runs")
        path = self.list("a\tprogram\t-\tsh\t-c\techo x >> '%s'; echo campaign: cases=7 wrong=0 digest=00000000000000ff\n" % mark)
        self.report(path)
        self.assertEqual(self.report(path)["cases"], 7)
        one = self.list("said\tprogram\t-\techo\tcampaign: cases=0 wrong=0 digest=0\nsilent\tprogram\t-\ttrue\n", "one")
        self.assertEqual(self.report(one)["cases"], 2)  # a program that counts nothing is one case
        self.assertEqual(self.read(mark).decode(), "x\n")
        self.assertEqual(self.entries(path + ".ledger")["a"]["digest"], "00000000000000ff")
        self.report(path, "--overwrite")
        self.assertEqual(self.read(mark).decode(), "x\nx\n")

    def test_changed_sources_are_run_again(self):
        mark = self.path("runs")
        path = self.list("a\tprogram\tarith\tsh\t-c\techo x >> '%s'\n" % mark)
        for digits in ("1" * 16, "1" * 16, "2" * 16):
            self.report(path, "--sources", self.write("sources", b"a " + digits.encode() + b"\n"))
        self.assertEqual(self.read(mark).decode(), "x\nx\n")
        self.assertEqual(self.entries(path + ".ledger")["a"]["sources"], "2" * 16)

    def test_changed_lines_are_run_again(self):
        """Without a hash an entry is of the words of its line, wherever these stand."""
        mark = self.path("runs")

        def row(digit, blank="\t"):
            return blank.join(("a", "program", "arith", "sh", "-c", "echo %s >> '%s'" % (digit, mark))) + blank + "\n"

        for text in (row(1), row(1), row(1, "\t\t")):
            self.report(self.list(text))
        path = self.list(row(2))
        self.assertEqual((self.report(path, "--status")["done"], self.report(path, "--status")["stale"]), (0, 1))
        said = support.run("campaign", path).stderr.decode()
        self.assertEqual(said, "halfulp: %s.ledger: 1 result is of other sources, and made again: a\n" % path)
        self.assertEqual(self.read(mark).decode(), "1\n2\n")
        hashes = self.write("sources", b"a " + b"1" * 16 + b"\n")
        for text, stale in ((row(2), 1), (row(3), 0)):  # a hash says what the result depends on, whatever its line is
            self.assertEqual(self.report(self.list(text), "--sources", hashes, "--status")["stale"], stale)
            self.report(path, "--sources", hashes)
        self.assertEqual(self.report(path)["done"], 1)  # nor is a line compared with a hash, or with an entry that says nothing
        self.assertEqual(self.report(self.list("a program - false\n"), "--ledger", self.ledger(entry("a")))["done"], 1)
        self.assertEqual(self.read(mark).decode(), "1\n2\n2\n")

    def test_killed(self):
        """After SIGKILL in the middle the next start goes on; a line that was cut is done again."""
        path = self.list("".join("t%d triples arith float4_e2m1fn rne %d/9\n" % (i, i) for i in range(1, 9)) + "long\tprogram\t-\tsleep\tinfinity\n")
        job = self.begun(path)
        self.wait_until(lambda: self.results(path) == 8, "eight items are done", job)
        self.killed(job)
        with open(path + ".ledger", "r+") as ledger:
            text = ledger.read()
            ledger.truncate(len(text) - 5)
        path = self.list("".join("t%d triples arith float4_e2m1fn rne %d/9\n" % (i, i) for i in range(1, 10)))
        self.assertEqual(self.report(path, "--status")["done"], 7)
        report = self.report(path)
        self.assertEqual((report["done"], report["wrong"]), (9, 0))

    def test_merge(self):
        one = self.ledger(entry("a"), entry("b", date="2026-01-02", wrong=1), name="1")
        two = self.ledger(entry("b"), entry("c", "open"), name="2")
        self.ok("campaign", "--merge", one, two, "--ledger", self.path("all"))
        entries = self.entries(self.path("all"))
        self.assertEqual((sorted(entries), entries["b"]["date"], entries["c"]["state"]), (["a", "b", "c"], "2026-01-02", "open"))
        # A result is better than a stale one, that than none, whichever is the newer and read first.
        worse = self.ledger(entry("a", "stale", date="2026-02-01"), entry("b", "open", date="2026-02-01"), name="worse")
        stale = self.ledger(entry("c", "stale"), name="stale")
        for files in ((one, two, worse, stale), (stale, worse, two, one)):
            into = self.path("into%s" % os.path.basename(files[0]))
            self.ok("campaign", "--merge", *files, "--ledger", into)
            entries = self.entries(into)
            self.assertEqual([entries[name]["state"] for name in "abc"], ["done", "done", "stale"])
            self.assertEqual([entries[name]["date"] for name in "abc"], ["2026-01-01", "2026-01-02", "2026-01-01"])
        for more in (["--status"], ["--overwrite"], ["--shard", "1/2"], ["--include", "a"], ["--jobs", "1"], ["--json"], ["--sources", one]):
            self.bad("campaign", "--merge", one, *more, "--ledger", self.path("none"), says="campaign: --merge and %s do not go together" % more[0])
        odd = self.ledger(entry("a", digest="1" * 16, sources="2" * 16), name="3")
        other = self.ledger(entry("a", digest="3" * 16, sources="2" * 16), name="4")
        self.bad("campaign", "--merge", odd, other, "--ledger", self.path("none"), says="digest " + "3" * 16)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_merge_keeps_parts(self):
        """Results of parts are merged, too, under mpirun by one process."""
        other = self.ledger(entry("b"))
        into = self.path("into")
        part = self.part(into, entry("a"))
        self.ok("campaign", "--merge", other, "--ledger", into)
        self.assertEqual(sorted(self.entries(into)), ["a", "b"])
        self.assertFalse(os.path.exists(part))
        for launcher in LAUNCHERS:
            self.part(into, entry("c"))
            r = self.mpi(launcher, 3, "campaign", "--merge", other, "--ledger", into)
            self.assertEqual((r.returncode, r.stdout.count(b"items")), (0, 1), r.stderr)
            self.assertEqual(sorted(self.entries(into)), ["a", "b", "c"])

    def test_both_files_are_named(self):
        one = self.ledger(entry("a", digest="1" * 16, sources="2" * 16), name="one")
        two = self.ledger(entry("a", digest="3" * 16, sources="2" * 16), name="two")
        for into in (self.path("all"), two):
            r = support.run("campaign", "--merge", one, two, "--ledger", into)
            self.assertEqual(r.returncode, 2)
            for name in (one, two):
                self.assertIn(name.encode(), r.stderr)

    def test_wrong_ledgers(self):
        path = self.list("a program - true\n")
        for text, says in ((b"x\n", "is no ledger"), (b"x", "is no ledger"), (b"halfulp-ledger 2\n", "another version"),
                           (b"halfulp-verify 2\nversion 0.1.0\n", "is a report of an older halfulp verify"),
                           ((HEAD + COLUMNS[:-1] + "\tresult\n").encode(), "l.txt:2: other columns"),
                           ((HEAD + COLUMNS + "a\0b\n").encode(), "l.txt:3: holds a zero byte"),
                           ((HEAD + "item\n").encode(), "l.txt:2: "), ((HEAD + COLUMNS + "a\tdone\n").encode(), "l.txt:3: too few"),
                           ((HEAD + COLUMNS + entry("a", "finished")).encode(), "l.txt:3: the state"),
                           ((HEAD + COLUMNS + entry("a", wrong="x")).encode(), "l.txt:3: wrong and cases"),
                           ((HEAD + COLUMNS + entry("a", digest="12")).encode(), "l.txt:3: the digest")):
            ledger = self.write("l.txt", text)
            self.bad("campaign", path, "--ledger", ledger, says=says)
            self.assertEqual(self.read(ledger), text)

    def test_pipe_among_the_parts(self):
        """Which no job has put there, and which would be waited for."""
        path = self.list("w world codes float4_e2m1fn\n")
        os.mkfifo(path + ".ledger.1-of-2")
        for more in ((), ("--status",), ("--shard", "1/2")):
            self.bad("campaign", path, *more, says="some.list.ledger.1-of-2: is no ordinary file")

    def test_pipe_for_a_ledger(self):
        path = self.list("w world codes float4_e2m1fn\n")
        os.mkfifo(path + ".ledger")
        for more in ((), ("--status",)):
            self.bad("campaign", path, *more, says=".ledger: is no ordinary file")
        self.bad("campaign", "--merge", path, "--ledger", path + ".ledger", says=".ledger: is no ordinary file")
        self.bad("campaign", "--merge", path + ".ledger", "--ledger", self.path("all"), says=[".ledger: is no ordinary file", "standard input: -"])
        self.assertEqual(self.left(), ["some.list", "some.list.ledger"])
        self.ok("campaign", "--merge", "-", "--ledger", self.path("all"), stdin=HEAD + COLUMNS + entry("a"))
        for name in ("/dev/null", self.folder.name):
            error = support.run("campaign", path, "--ledger", name).stderr.decode()
            self.assertEqual(error, "halfulp: %s: is no ordinary file, as a ledger is; name another one\n" % name)

    def test_full_disk(self):
        """A result that cannot be kept ends the job: no item begins after it, and the ledger has whole lines."""
        mark = self.path("runs")
        path = self.list("".join("%s\tprogram\t-\tsh\t-c\techo x >> '%s'\n" % (c * 110, mark) for c in "abcdefgh"))
        for more in ((), ("--jobs", "2")):
            r = subprocess.run([support.HALFULP, "campaign", path, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                               restore_signals=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400, resource.RLIM_INFINITY)))
            self.assertEqual((r.returncode, r.stdout), (2, b""))
            self.assertEqual(r.stderr.splitlines()[0].split(b": ", 1)[1], path.encode() + b".ledger: cannot be written: File too large")
            self.assertEqual(r.stderr.splitlines()[1:], [b"halfulp: stopped with 1 of 8 items done, 7 left; the same command continues"])
            self.assertEqual(len(self.entries(path + ".ledger")), 1)
            self.assertLessEqual(len(self.read(mark).split()), 3)  # the one kept, the one lost, and one beside these
            os.unlink(mark)
            self.assertEqual(self.report(path)["done"], 8)
            self.assertEqual(len(self.read(mark).split()), 7)
            os.unlink(mark)
            os.unlink(path + ".ledger")
        path = self.list("a\tprogram\t-\trm\t%s\n" % (path + ".ledger") + "".join(
            "b%d\tprogram\t-\tsh\t-c\tsleep 0.05; echo x >> '%s'\n" % (i, mark) for i in range(40)))
        for launcher in LAUNCHERS:
            r = self.mpi(launcher, 2, "campaign", path)
            self.assertEqual((r.returncode, r.stderr.count(b"was removed while this job ran"), r.stdout), (2, 1, b""), r.stderr)
            self.assertLess(self.read(mark).count(b"x") if os.path.exists(mark) else 0, 20)
            self.write("runs", b"")

    def test_lost_ledger(self):
        """A result that would go into a file without a name is an error, not lost in silence."""
        path = self.list("a\tprogram\t-\trm\t%s\n" % self.path("some.list.ledger"))
        r = support.run("campaign", path)
        self.assertEqual(r.returncode, 2, r.stdout)
        self.assertIn(b"was removed while this job ran", r.stderr)
        self.assertEqual(self.left(), ["some.list"])

    def test_status_only_reads(self):
        path = self.list("a program - true\nb program - true\n")
        before = sorted(os.listdir(self.path("")))
        self.assertEqual(self.report(path, "--status")["open"], 2)
        self.assertEqual(sorted(os.listdir(self.path(""))), before)
        ledger, part = self.ledger(entry("a")), self.part(self.path("other.ledger"), entry("b"))
        held = self.read(ledger)
        for launcher in [None] + LAUNCHERS:
            words = ("campaign", path, "--status", "--ledger", ledger)
            r = self.mpi(launcher, 2, *words) if launcher else support.run(*words)
            self.assertEqual((r.returncode, r.stdout.count(b"2 items: 2 done")), (0, 1), r.stderr)
            self.assertEqual((self.read(ledger), os.path.exists(part)), (held, True))

    def test_status_of_a_job(self):
        path = self.list("a program - true\nb program - sleep infinity\n")
        job = self.begun(path)
        self.wait_until(lambda: self.report(path, "--status")["done"] == 1, "the first item is done", job)
        report = self.report(path, "--status")
        self.assertEqual((report["done"], report["open"], self.results(path)), (1, 1, 1))

    # ---- locks ----

    def test_one_at_a_time(self):
        path = self.list("a program - sleep infinity\n")
        job = self.begun(path)
        self.wait_until(lambda: os.path.exists(path + ".ledger"), "the first is at work", job)
        self.bad("campaign", path, says="some.list.ledger: another campaign is at work on this file")
        self.bad("campaign", path, "--shard", "1/2", says="another campaign is at work on this file")

    def locked(self, number):
        """A run whose first lock fails with this error."""
        path = self.list("a program - true\nb program - true\n")
        env = support.fault(FAULT_ONLY="flock", FAULT_AT="0", FAULT_DO="fail", FAULT_ERRNO=str(int(number)))
        return subprocess.run([support.HALFULP, "campaign", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, check=False)

    def test_no_locks(self):
        for number in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF):
            r = self.locked(number)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(r.stderr.count(b"some.list.ledger: this file system has no locks: do not start two jobs here"), 1)
        r = self.locked(errno.EIO)
        self.assertEqual(r.returncode, 2)
        self.assertIn(b"cannot be locked: Input/output error", r.stderr)

    def test_file_that_is_replaced(self):
        """Between opening the ledger and locking it the job before has replaced it: the new file is locked."""
        ledger = self.path("some.list.ledger")
        is_free = "import fcntl, os; fcntl.flock(os.open(%r, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)" % ledger
        path = self.list("a\tprogram-fails\t-\tenv\t-u\tLD_PRELOAD\t%s\t-c\t%s\n" % (sys.executable, is_free))
        env = support.fault(FAULT_ONLY="flock", FAULT_AT="0", FAULT_DO=str(int(signal.SIGSTOP)))
        with subprocess.Popen([support.HALFULP, "campaign", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as job:
            self.assertTrue(os.WIFSTOPPED(os.waitpid(job.pid, os.WUNTRACED)[1]))
            os.unlink(ledger)
            job.send_signal(signal.SIGCONT)
            said = job.communicate()[1]
        self.assertEqual((job.returncode, said), (0, b""))

    # ---- parts ----

    def test_parts(self):
        """Each has a ledger of its own, and all may be at work at the same time; the job without --shard takes them over."""
        path = self.list(SMALL + PAIRS)
        self.ok("campaign", path, "--ledger", self.path("whole"))
        for i in (3, 1, 2):
            said = self.ok("campaign", path, "--shard", "%d/3" % i)
            self.assertIn("part %d/3: 4 of 4 items done\n12 items: %d done" % (i, {3: 4, 1: 8, 2: 12}[i]), said)
            self.assertEqual(len(self.entries(path + ".ledger.%d-of-3" % i)), 4)
        before = {i: self.read(path + ".ledger.%d-of-3" % i) for i in (1, 2, 3)}
        self.ok("campaign", path, "--shard", "2/3")  # nothing is left of it
        self.ok("campaign", "--merge", *(path + ".ledger.%d-of-3" % i for i in (1, 2, 3)), "--ledger", self.path("merged"))
        self.assertEqual(before, {i: self.read(path + ".ledger.%d-of-3" % i) for i in (1, 2, 3)})
        self.assertEqual(self.report(path)["done"], 12)
        self.assertEqual(self.left(), ["merged", "some.list", "some.list.ledger", "whole"])
        for name in (path + ".ledger", "merged"):
            self.assertEqual(self.bits(name), self.bits("whole"))
        self.assertIn("part 20/20: 0 of 0 items done", self.ok("campaign", path, "--shard", "20/20"))
        other = self.list("x program - true\ny program - true\nz program - true\n", "other.list")
        self.ok("campaign", other, "--shard", "1/2")
        self.bad("campaign", other, "--shard", "1/3", "--overwrite", says=["other.list.ledger.1-of-2", "is a part of 2"])
        self.assertIn("other.list.ledger.1-of-2", self.left())
        self.assertNotIn("other.list.ledger.1-of-3", self.left())
        self.ok("campaign", other)
        self.ok("campaign", other, "--shard", "1/3", "--overwrite")
        for name in ("other.list", "other.list.ledger", "other.list.ledger.1-of-3"):
            os.unlink(self.path(name))
        absent = self.list("x program - true\ny program - /absent\n", "absent.list")
        self.assertIn("part 2/2: 0 of 1 items done\n2 items: 0 done", self.ok("campaign", absent, "--shard", "2/2", code=2))

    def test_parts_at_a_time(self):
        """One at a time for each part, no whole job meanwhile; what was killed is continued."""
        mark, go = self.path("runs"), self.path("go")
        path = self.list("".join("%s\tprogram\t-\tsh\t-c\techo %s >> '%s'\n" % (c, c, mark) for c in "ab") + self.waits("c", go))
        job = self.begun(path, "--shard", "1/2")
        self.wait_until(lambda: self.results(path, ".1-of-2") == 1, "it is at work", job)
        self.bad("campaign", path, "--shard", "1/2", says="some.list.ledger.1-of-2: another campaign is at work on this file")
        self.bad("campaign", path, says="some.list.ledger: another campaign is at work on this file")
        self.assertIn("3 items: 2 done", self.ok("campaign", path, "--shard", "2/2"))
        self.assertEqual(self.report(path, "--status")["done"], 2)
        self.killed(job)
        self.write("go", b"")
        self.assertEqual(self.report(path)["done"], 3)
        self.assertEqual(self.read(mark).decode().split(), ["a", "b"])  # which are not run again

    def test_parts_of_one_list(self):
        """Of two lists they are not at work on one ledger side by side; one after the other they may be."""
        path = self.list("a program - sleep infinity\nb program - true\n")
        job = self.begun(path, "--shard", "1/2")
        self.wait_until(lambda: os.path.exists(path + ".ledger.1-of-2") and b"part 1/2" in self.read(path + ".ledger.1-of-2"), "at work", job)
        other = self.list("a program - true\nb program - true\nc program - true\n", "other.list")
        words = ("campaign", other, "--shard", "2/2", "--ledger", path + ".ledger")
        self.bad(*words, says=["some.list.ledger.2-of-2: is of another LIST or other --sources than", "some.list.ledger.1-of-2, which is at work"])
        self.assertNotIn("some.list.ledger.2-of-2", self.left())
        self.assertIn("part 2/2: 1 of 1 items done", self.ok("campaign", path, "--shard", "2/2"))
        self.bad(*words, "--overwrite", says="some.list.ledger.2-of-2: is of another LIST")
        self.killed(job)
        self.ok(*words, "--overwrite")
        self.ok("campaign", other, "--ledger", path + ".ledger")
        self.assertEqual(sorted(self.entries(path + ".ledger")), ["a", "b", "c"])
        self.assertNotIn(b"part ", self.read(path + ".ledger"))

    def test_overwrite_in_a_part(self):
        """Its items are run again, those of others stay; where it is killed, what it had begun anew is open."""
        mark, go = self.path("runs"), self.path("go")
        marks = ["%s\tprogram\t-\tsh\t-c\techo %s >> '%s'; while test -e '%s'; do sleep 0.01; done\n" % (c, c, mark, go) for c in "abcd"]
        path = self.list("".join(marks))
        self.report(path)
        self.ok("campaign", path, "--shard", "2/2", "--overwrite")
        self.assertEqual((self.read(mark).decode().split()[:4], sorted(self.read(mark).decode().split()[4:])), (list("abcd"), ["b", "d"]))
        self.assertEqual(self.report(path)["done"], 4)
        self.write("go", b"")
        job = self.begun(path, "--shard", "2/2", "--overwrite")
        self.wait_until(lambda: self.results(path, ".2-of-2") == 2, "it is at work", job)
        self.killed(job)
        self.assertEqual(self.report(path, "--status")["open"], 2)
        os.unlink(go)
        os.unlink(mark)
        self.assertEqual(self.report(path, "--include", "a")["open"], 2)
        self.assertNotIn(b"again", self.read(path + ".ledger"))
        self.assertEqual(self.report(path)["done"], 4)
        self.assertEqual(sorted(self.read(mark).decode().split()), ["b", "d"])

    def test_older_parts(self):
        """Which an older program left in a folder: they are not passed over."""
        path = self.list("a program - true\n")
        os.mkdir(path + ".ledger.parts")
        for more in ((), ("--status",), ("--shard", "1/2")):
            self.bad("campaign", path, *more, says="some.list.ledger.parts: has results of an older halfulp")


if __name__ == "__main__":
    support.main()
