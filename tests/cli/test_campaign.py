# SPDX-License-Identifier: MIT
"""`halfulp campaign`: lists and their items, programs, processes; and the same over MPI where there is some."""

import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import support  # noqa: E402
from campaigns import PAIRS, SMALL, CampaignCase, entry  # noqa: E402
from launchers import LAUNCHERS  # noqa: E402

EXHAUSTIVE = os.environ["HALFULP_EXHAUSTIVE"] == "1"


class Campaign(CampaignCase):
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
        again = next(line.split("halfulp ")[1] for line in r.stdout.decode().splitlines() if "--include 'worse'" in line)
        for _ in range(2):  # as often as one likes
            r = subprocess.run([support.HALFULP, *shlex.split(again)], cwd=self.folder.name, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False)
            self.assertEqual((r.returncode, r.stderr.count(b"worse: campaign: cases=9")), (1, 1), r.stderr)

    def test_programs_end_with_the_campaign(self):
        """And what they have started, whether they heed a signal or not."""
        script = "%s sleep infinity & echo $$ $! > '" + self.path("pids") + "'; wait"
        for trap, number, more in ((":;", signal.SIGINT, ()), (":;", signal.SIGTERM, ("--jobs", "2")), (":;", signal.SIGHUP, ()),
                                   (":;", signal.SIGKILL, ("--jobs", "2")),  # on Linux, where these tests run
                                   ("trap '' TERM;", signal.SIGTERM, ())):
            path = self.list("good program - true\nlong\tprogram\t-\tsh\t-c\t%s\n" % (script % trap))
            job = subprocess.Popen([support.HALFULP, "campaign", path, "--overwrite", *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   start_new_session=True)
            self.addCleanup(self.killed, job)
            self.wait_until(lambda: os.path.exists(self.path("pids")) and len(self.read("pids").split()) == 2 and self.results(path), "at work", job)
            pids = [int(pid) for pid in self.read("pids").split()]
            job.send_signal(number)
            said = job.communicate()[1].decode().splitlines()
            self.assertEqual(job.returncode, -number)
            words = "halfulp: stopped with 1 of 2 items done, 1 left; the same command without --overwrite continues"
            self.assertEqual(said, [] if number == signal.SIGKILL else [words])
            self.wait_until(lambda: {self.state(pid) for pid in pids} == {"Z"}, "they end")
            os.unlink(self.path("pids"))
            os.unlink(path + ".ledger")

    def test_programs_rest_with_the_campaign(self):
        """Ctrl-Z reaches the group of a terminal alone, of which they are not."""
        path = self.list("long program - sleep infinity\n")
        job = self.begun(path)
        self.wait_until(lambda: support.descendants(job.pid), "it is at work", job)
        for number, states in ((signal.SIGTSTP, "T"), (signal.SIGCONT, "S")):
            job.send_signal(number)
            for pid in [job.pid, *support.descendants(job.pid)]:
                self.wait_until(lambda: self.state(pid) in states, "%d" % number)

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

    def test_patterns(self):
        """One that matches nothing is a mistake, also beside one that does."""
        path = self.list("ab program - true\nb program - true\n")
        self.assertEqual(self.report(path, "--include", "?", "--include", "a*", "--status")["open"], 2)
        for more in (("--include", "a*", "--include", "B*"), ("--include", "B*", "--status")):
            self.bad("campaign", path, *more, says="--include: 'B*' matches none of the 2 items, of which ab is the first")
        self.assertEqual(self.left(), ["some.list"])

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
