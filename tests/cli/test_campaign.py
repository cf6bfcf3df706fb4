# SPDX-License-Identifier: MIT
"""`halfulp campaign`: items, ledgers, what is left after a kill; and the same over MPI where there is some."""

import contextlib
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import launchers  # noqa: E402
import support  # noqa: E402
from launchers import LAUNCHERS  # noqa: E402

EXHAUSTIVE = os.environ["HALFULP_EXHAUSTIVE"] == "1"
HEAD = "halfulp-ledger 1\n"
COLUMNS = "item\tstate\twrong\tcases\tdigest\tseconds\tsources\tversion\tlevel\tdate\tprocessor\n"
SMALL = "".join("t%d triples arith float4_e2m1fn %s %d/4\n" % (4 * k + i, mode, i) for k, mode in enumerate(("rne", "sra:3")) for i in range(1, 5))
PAIRS = "".join("p-%s pairs arith float6_e2m3fn %s 1/1\n".replace("pairs arith", "pairs arith " + op) % (op, "rtz") for op in ("add", "sub", "mul", "div"))


def entry(item, state="done", wrong=0, digest="0" * 16, sources="-", date="2026-01-01"):
    return "\t".join((item, state, str(wrong), "1", digest, "1.00", sources, "0.1.0", "core", date, "a processor")) + "\n"


class Campaign(support.Case):
    def list(self, text, name="some.list"):
        return self.write(name, text.encode())

    def ledger(self, *entries, name="other.ledger"):
        return self.write(name, (HEAD + COLUMNS + "".join(entries)).encode())

    def report(self, *words, code=0):
        r = support.run("campaign", *words, "--json")
        self.assertEqual(r.returncode, code, r.stderr)
        return json.loads(r.stdout)

    def entries(self, path):
        lines = self.read(path).decode().splitlines()
        self.assertEqual(lines[:2], [HEAD.strip(), COLUMNS.strip()])
        return {line.split("\t")[0]: dict(zip(COLUMNS.strip().split("\t"), line.split("\t"))) for line in lines[2:]}

    def bits(self, path):
        return {name: (e["wrong"], e["cases"], e["digest"]) for name, e in self.entries(path).items()}

    def test_items(self):
        path = self.list("# a comment\n\nw world codes float4_e2m1fn\n" + SMALL + PAIRS)
        report = self.report(path)
        self.assertEqual((report["items"], report["done"], report["open"], report["wrong"]), (13, 13, 0, 0))
        entries = self.entries(path + ".ledger")
        self.assertEqual({e["cases"] for n, e in entries.items() if n[0] == "t"}, {"1024"})
        self.assertEqual({e["cases"] for n, e in entries.items() if n[0] == "p"}, {"4096"})
        self.assertEqual(len({e["digest"] for n, e in entries.items() if n[0] == "p"}), 4)
        self.assertEqual(self.left(), ["some.list", "some.list.ledger"])

    def test_indented_lines(self):
        """Words may stand anywhere in a line, in lists and in lines of sources."""
        for mark in (" ", "\t"):
            words = mark + mark.join(("w", "world", "codes", "float4_e2m1fn"))
            path = self.list(words + "\n" + words.replace("w" + mark, "x" + mark, 1) + mark + "\n", "list%d" % ord(mark))
            sources = self.write("sources", ("%sw%s%s\n" % (mark, mark, "1" * 16)).encode())
            self.assertEqual(self.report(path, "--sources", sources)["done"], 2)
            self.assertEqual(self.entries(path + ".ledger")["w"]["sources"], "1" * 16)
            self.assertEqual(self.report(path, "--status")["done"], 2)

    def test_wrong_sources(self):
        """What is no hash would be a line of a ledger that no one can read."""
        path = self.list("w world codes float4_e2m1fn\n")
        for line in ("w 0123\t56789abcdef", "w 0123456789abcdex", "w " + "1" * 15, "w", "w " + "1" * 17, "w " + "1" * 16 + " more"):
            sources = self.write("sources", b"other 0123456789abcdef\n" + line.encode() + b"\n")
            self.bad("campaign", path, "--sources", sources, says="sources:2: a line is NAME and 16 hexadecimal digits")
        self.assertEqual(self.report(path)["done"], 1)

    def test_many_items(self):
        """Lists, sources and ledgers take time in proportion to their lines; item by item this would be a minute."""

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (8, 8))

        names = ["w%d" % i for i in range(60000)]
        path = self.list("".join("%s world codes float4_e2m1fn\n" % name for name in names))
        sources = self.write("sources", "".join("%s %s\n" % (name, "1" * 16) for name in names).encode())
        ledger = self.ledger(*[entry(name, sources="1" * 16) for name in names])
        r = subprocess.run([support.HALFULP, "campaign", path, "--sources", sources, "--ledger", ledger], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, preexec_fn=limit, check=False)
        self.assertEqual((r.returncode, r.stdout.split(b"\n")[0]), (0, b"60000 items: 60000 done, 0 stale, 0 open"), r.stderr)

    def test_two_formats(self):
        path = self.list("".join("m%d mixed arith float4_e2m1fn float6_e3m2fn rtz %d/3\n" % (i, i) for i in (1, 2, 3)) +
                         "p powers arith float6_e2m3fn float4_e2m1fn rne 1/4 1/1\n"
                         "w powers arith float6_e2m3fn float4_e2m1fn rne 1/1 1/1\n"
                         "q pairs arith mul float4_e2m1fn rne 1/1\nt triples arith float4_e2m1fn rne 1/1\ns mixed arith float4_e2m1fn float4_e2m1fn rne 1/1\n")
        self.assertEqual(self.report(path)["wrong"], 0)
        entries = self.entries(path + ".ledger")
        self.assertEqual(sum(int(entries["m%d" % i]["cases"]) for i in (1, 2, 3)), 16 * 16 * 64)
        self.assertEqual((entries["p"]["cases"], entries["w"]["cases"]), ("256", "1024"))
        self.assertEqual(entries["t"]["digest"], entries["s"]["digest"])
        self.assertEqual(len({entries[name]["digest"] for name in ("m1", "m2", "m3", "p", "w", "q", "t")}), 7)

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

    def test_wrong_stops_nothing(self):
        path = self.list("bad\tprogram\t-\tsh\t-c\techo it says why; exit 3\n"
                         "worse\tprogram\t-\tsh\t-c\techo campaign: cases=9 wrong=4 digest=1; exit 1\n"
                         "good program - true\nmust program-fails - false\n")
        r = support.run("campaign", path)
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"4 items: 4 done", r.stdout)
        self.assertIn(b"bad: it says why", r.stderr)
        self.assertIn(b"worse: 4 wrong of 9, again with\n    halfulp campaign '%s' --include 'worse'" % path.encode(), r.stdout)
        self.assertEqual([e["id"] for e in self.report(path, "--status", code=1)["wrong_items"]], ["bad", "worse"])
        r = support.run("campaign", path, "--include", "worse", "--ledger", self.path("again.txt"))
        self.assertEqual(r.returncode, 1)

    def begun(self, path, *more):
        """The command with a list of which an item does not end."""
        job = subprocess.Popen([support.HALFULP, "campaign", path, *more], stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.killed, job)
        return job

    def killed(self, job):
        """The command and the programs that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()

    def results(self, path, part=""):
        """How many lines of results a ledger has, or one of its parts."""
        name = path + ".ledger" + part
        return max(0, self.read(name).count(b"\n") - 2) if os.path.exists(name) else 0

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
        odd = self.ledger(entry("a", digest="1" * 16, sources="2" * 16), name="3")
        other = self.ledger(entry("a", digest="3" * 16, sources="2" * 16), name="4")
        self.bad("campaign", "--merge", odd, other, "--ledger", self.path("none"), says="digest " + "3" * 16)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_wrong_lists(self):
        for text, says in (("", "no items"), ("a program\n", "some.list:1: "), ("a prgram - x\n", "'prgram' is no kind"),
                           ("a pairs arith add bf16x rne 1/1\n", "bf16x"), ("a pairs arith add bfloat16 rne 2/1\n", "2/1"),
                           ("a pairs arith add bfloat16 up 1/1\n", "'up'"), ("a pairs arith pow bfloat16 rne 1/1\n", "'pow'"),
                           ("a triples arith bfloat16 rne\n", "FORMAT MODE I/N"),
                           ("a powers arith bfloat16 bfloat16 rne 2/4 1/1\n", "2/4"),
                           ("a mixed arith bfloat16 rne 1/1\n", "FORMAT FORMAT MODE I/N"),
                           ("a program - x\na program - y\n", "some.list:2: an item of this name"),
                           ("a%s program - x\n" % ("b" * 200), "200 characters")):
            self.bad("campaign", self.list(text), says=says)
        self.bad("campaign", self.path("absent"), says="absent")

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

    def test_one_at_a_time(self):
        path = self.list("a program - sleep infinity\n")
        job = self.begun(path)
        self.wait_until(lambda: os.path.exists(path + ".ledger"), "the first is at work", job)
        self.bad("campaign", path, says="some.list.ledger: another campaign is at work on this file")
        self.bad("campaign", path, "--shard", "1/2", says="another campaign is at work on this file")

    # ---- what must not be lost, and what is no result ----

    def part(self, ledger, *entries):
        """What a part of a job has left beside a ledger."""
        return self.write(os.path.basename(ledger) + ".1-of-2", (HEAD + COLUMNS + "".join(entries)).encode())

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

    def test_killed_programs(self):
        """A program that the system or a person has killed says nothing of its item."""
        for name in ("KILL", "TERM", "INT", "HUP"):
            for kind in ("program", "program-fails"):
                path = self.list("k\t%s\t-\tsh\t-c\tkill -%s $$\ngood program - true\n" % (kind, name))
                r = support.run("campaign", path)
                self.assertEqual(r.returncode, 2, r.stdout)
                self.assertIn(b"k: was killed by signal %d" % getattr(signal, "SIG" + name), r.stderr)
                self.assertEqual(list(self.entries(path + ".ledger")), ["good"])
                os.unlink(path + ".ledger")
        self.assertEqual(self.report(self.list("k\tprogram\t-\tsh\t-c\tkill -SEGV $$\n"), code=1)["wrong"], 1)

    def test_programs_that_cannot_be_run(self):
        for status in (126, 127):
            for kind in ("program", "program-fails"):
                path = self.list("n\t%s\t-\tsh\t-c\texit %d\n" % (kind, status))
                r = support.run("campaign", path)
                self.assertEqual(r.returncode, 2, r.stdout)
                self.assertIn(b"n: ended with %d" % status, r.stderr)
                self.assertEqual(self.entries(path + ".ledger"), {})

    def test_malformed_counts(self):
        """A last line that is not of the form says nothing: no half of it is taken over."""
        for wrong in ("0x10", "abc", "", "-1", "9" * 23, "1x"):
            for line in ("cases=9 wrong=%s digest=1" % wrong, "cases=%s wrong=0 digest=1" % (wrong or "+"), "cases=9 wrong=0 digest=zz"):
                path = self.list("m\tprogram\t-\techo\tcampaign: %s\n" % line)
                r = support.run("campaign", path)
                self.assertEqual(r.returncode, 2, (line, r.stdout))
                self.assertIn(b"m: printed \"campaign: cases=", r.stderr)
                self.assertEqual(self.entries(path + ".ledger"), {})

    def test_failed_as_required(self):
        path = self.list("f\tprogram-fails\t-\tsh\t-c\techo campaign: cases=9 wrong=4 digest=1; exit 1\n"
                         "g\tprogram-fails\t-\tsh\t-c\techo campaign: cases=9 wrong=0 digest=1\n")
        self.assertEqual([(e["id"], e["wrong"]) for e in self.report(path, code=1)["wrong_items"]], [("g", 1)])
        self.assertEqual(self.entries(path + ".ledger")["f"]["wrong"], "0")

    def test_full_disk(self):
        """The line that did not fit leaves nothing behind, and what is written when there is room again stays whole."""
        room = "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (-1, -1))"
        path = self.list("%s program - true\n%s program - true\nroom\tprogram\t-\t%s\t-c\t%s\n" % ("a" * 110, "b" * 110, sys.executable, room))
        r = subprocess.run([support.HALFULP, "campaign", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, restore_signals=False,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (380, resource.RLIM_INFINITY)))
        self.assertEqual(r.returncode, 2)
        self.assertIn(b"cannot be written: File too large", r.stderr)
        self.assertIn(b"1 items could not be run", r.stderr)
        self.assertEqual(sorted(self.entries(path + ".ledger")), ["a" * 110, "room"])
        self.assertEqual(self.report(path)["done"], 3)

    @unittest.skipIf(support.SANITIZED, "a sanitizer has its own malloc")
    def test_no_memory(self):
        """Memory that runs out anywhere, also within GMP and MPFR: an error line, no signal, and no wrong ledger."""
        path = self.list("w world codes float6_e2m3fn\n")
        log = self.path("log")
        self.assertEqual(self.starved("campaign", path, FAULT_MALLOC_LOG=log).returncode, 0)
        count, bad = int(self.read(log)), 0
        self.assertGreater(count, 1000)
        for i in range(16):
            if os.path.exists(path + ".ledger"):
                os.unlink(path + ".ledger")
            r = self.starved("campaign", path, FAULT_MALLOC=str(count * i // 16 if i % 2 else 20 * i))
            self.assertEqual(r.returncode, 2, (i, r.stdout, r.stderr))
            self.assertRegex(r.stderr, rb"^halfulp: ", i)
            bad += b"out of memory" in r.stderr
        self.assertGreater(bad, 4)
        self.assertEqual(self.report(path)["done"], 1)

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

    def test_scratch_folder(self):
        """The output of programs goes through TMPDIR."""
        path = self.list("a\tprogram\t-\tsh\t-c\treadlink /proc/self/fd/2 > '%s'\n" % self.path("seen"))
        for folder, code in ((self.folder.name, 0), (self.path("absent"), 2), ("", 0)):
            r = subprocess.run([support.HALFULP, "campaign", path, "--overwrite"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=dict(os.environ, TMPDIR=folder), check=False)
            self.assertEqual(r.returncode, code, r.stderr)
            if code:
                self.assertIn(b"TMPDIR", r.stderr)
            else:
                self.assertTrue(self.read("seen").decode().startswith((folder or "/tmp") + "/halfulp-"))
        self.assertEqual([n for n in self.left() if n.startswith("halfulp-")], [])

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

    # ---- parts, and processes ----

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
        path = self.list("a program - true\nb program - true\nc program - sleep infinity\n")
        job = self.begun(path, "--shard", "1/2")
        self.wait_until(lambda: self.results(path, ".1-of-2") == 1, "it is at work", job)
        self.bad("campaign", path, "--shard", "1/2", says="some.list.ledger.1-of-2: another campaign is at work on this file")
        self.bad("campaign", path, says="some.list.ledger: another campaign is at work on this file")
        self.assertIn("3 items: 2 done", self.ok("campaign", path, "--shard", "2/2"))
        self.assertEqual(self.report(path, "--status")["done"], 2)
        self.killed(job)
        path = self.list("a program - false\nb program - false\nc program - true\n")
        self.assertEqual(self.report(path)["wrong"], 0)  # a and b are not run again

    def test_overwrite_in_a_part(self):
        """Its items are run again, those of others stay; where it is killed, what it had begun anew is open."""
        mark = self.path("runs")
        path = self.list("".join("%s\tprogram\t-\tsh\t-c\techo %s >> '%s'\n" % (c, c, mark) for c in "abcd"))
        self.report(path)
        self.ok("campaign", path, "--shard", "2/2", "--overwrite")
        self.assertEqual((self.read(mark).decode().split()[:4], sorted(self.read(mark).decode().split()[4:])), (list("abcd"), ["b", "d"]))
        self.assertEqual(self.report(path)["done"], 4)
        path = self.list("a program - false\nb program - sleep infinity\nc program - false\nd program - sleep infinity\n")
        job = self.begun(path, "--shard", "2/2", "--overwrite")
        self.wait_until(lambda: self.results(path, ".2-of-2") == 2, "it is at work", job)
        self.killed(job)
        self.assertEqual(self.report(path, "--status")["open"], 2)
        self.assertEqual(self.report(path, "--include", "a")["open"], 2)
        self.assertNotIn(b"again", self.read(path + ".ledger"))
        path = self.list("a program - false\nb program - true\nc program - false\nd program - true\n")
        self.assertEqual(self.report(path)["wrong"], 0)

    def test_older_parts(self):
        """Which an older program left in a folder: they are not passed over."""
        path = self.list("a program - true\n")
        os.mkdir(path + ".ledger.parts")
        for more in ((), ("--status",), ("--shard", "1/2")):
            self.bad("campaign", path, *more, says="some.list.ledger.parts: has results of an older halfulp")

    def test_jobs(self):
        """Items in processes of their own, as many at a time as are asked for: the same results."""
        path = self.list(SMALL + PAIRS)
        self.ok("campaign", path)
        for jobs in ("0", "2", "7"):
            self.ok("campaign", path, "--jobs", jobs, "--ledger", self.path("l" + jobs))
            self.assertEqual(self.bits(self.path("l" + jobs)), self.bits(path + ".ledger"))
        barrier = "touch '%s/'$0; while ! test -e '%s/'$1; do sleep 0.01; done"
        both = self.list("".join("%s\tprogram\t-\tsh\t-c\t%s\t%s\t%s\n" % (c, barrier % ((self.folder.name,) * 2), c, d) for c, d in ("xy", "yx")))
        self.assertEqual(self.report(both, "--jobs", "2")["done"], 2)  # each waits for the other
        bad = self.list("k\tprogram\t-\tsh\t-c\tkill -9 $PPID\ng program - true\n", "bad")
        r = support.run("campaign", bad, "--jobs", "2")
        self.assertEqual((r.returncode, r.stderr.splitlines()[0]), (2, b"halfulp: k: ended by signal 9 (Killed)"))
        self.assertEqual(list(self.entries(bad + ".ledger")), ["g"])
        self.bad("campaign", path, "--jobs", "257", says="--jobs")

    # ---- MPI ----

    def mpi(self, launcher, n, *words, shell=None):
        command, environment = launchers.job(launcher, n, *words, shell=shell)
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)

    def test_any_number_of_processes(self):
        path = self.list(SMALL + PAIRS + "odd\tprogram\t-\tsh\t-c\techo campaign: cases=3 wrong=1 digest=5; exit 1\n")
        self.assertEqual(support.run("campaign", path).returncode, 1)
        want = self.bits(path + ".ledger")
        for launcher in LAUNCHERS:
            for n in (1, 2, 3, 8) if EXHAUSTIVE else (1, 3, 8) if launcher is LAUNCHERS[0] else (2,):  # the rest in the long run
                ledger = self.path("l%d" % n)
                r = self.mpi(launcher, n, "campaign", path, "--ledger", ledger)
                self.assertEqual(r.returncode, 1, r.stderr)
                self.assertEqual(r.stdout.count(b"13 items: 13 done"), 1, r.stdout)
                self.assertEqual(self.bits(ledger), want)
                os.unlink(ledger)

    def test_different_lists(self):
        for launcher in LAUNCHERS:
            self.list("a program - true\n", "list.0")
            self.list("a program - false\n", "list.1")
            script = 'exec "$0" campaign "$1.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" --ledger "$1.ledger"'
            r = self.mpi(launcher, 2, self.path("list"), shell=["sh", "-c", script, support.HALFULP])
            self.assertNotEqual(r.returncode, 0)
            self.assertIn(b"campaign: rank 1 has another LIST or other --sources than rank 0", r.stderr)
            self.assertEqual(self.left(), ["list.0", "list.1"])

    def test_different_options(self):
        path = self.list("x.0 program - true\nx.1 program - true\n")
        script = 'exec "$0" campaign "$1" --include "x.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"'
        for launcher in LAUNCHERS:
            r = self.mpi(launcher, 2, path, shell=["sh", "-c", script, support.HALFULP])
            self.assertNotEqual(r.returncode, 0)
            self.assertIn(b"campaign: rank 1 has other options than rank 0", r.stderr)
            self.assertEqual(self.left(), ["some.list"])

    def test_programs_are_no_ranks(self):
        """An item `halfulp train ...` is a run of its own, not a rank of the job that runs it."""
        script = "env | grep -E '^(OMPI_COMM_WORLD|PMI|PMIX)_' && exit 1; exec '%s' campaign '%s' --ledger '%s'.$1" % (
            support.HALFULP, self.list("y program - true\n", "inner.list"), self.path("inner"))
        path = self.list("".join("x%d\tprogram\t-\tsh\t-c\t%s\tsh\t%d\n" % (i, script, i) for i in range(4)))
        for launcher in LAUNCHERS:
            r = self.mpi(launcher, 2, "campaign", path, "--overwrite")
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn(b"4 items: 4 done", r.stdout)

    def test_lost_process(self):
        """A process that dies takes the job along; what was done is kept, and the next job does the rest."""
        for launcher in LAUNCHERS:
            ledger, flag = self.path("lost.ledger"), self.path("flag")
            kill = "test -e '%s' || { touch '%s'; kill -9 $PPID; sleep 1; }" % (flag, flag)
            path = self.list(SMALL + "last\tprogram\t-\tsh\t-c\t%s\n" % kill)
            self.assertNotEqual(self.mpi(launcher, 2, "campaign", path, "--ledger", ledger).returncode, 0)
            self.assertTrue(os.path.exists(flag))
            r = self.mpi(launcher, 2, "campaign", path, "--ledger", ledger)
            self.assertEqual((r.returncode, len(self.entries(ledger))), (0, 9), r.stderr)
            os.unlink(ledger)
            os.unlink(flag)

    def test_without_mpi(self):
        path = self.list("a program - true\n")
        alone = self.path("halfulp")
        shutil.copy(support.HALFULP, alone)
        r = subprocess.run([alone, "campaign", path], env={"PMI_SIZE": "2", "PATH": os.environ["PATH"]}, stderr=subprocess.PIPE, check=False)
        self.assertEqual(r.returncode, 2)
        self.assertIn(b"built without MPI", r.stderr)
        r = subprocess.run([alone, "formats"], env={"PMI_SIZE": "2", "PATH": os.environ["PATH"]}, stdout=subprocess.DEVNULL, check=False)
        self.assertEqual(r.returncode, 0)


if __name__ == "__main__":
    support.main()
