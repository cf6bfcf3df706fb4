# SPDX-License-Identifier: MIT
"""Codes with their scales are several files: they appear whole or not at all, and a mixed set is refused."""

import fcntl
import glob
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, npy  # noqa: E402

FORMATS = {
    "nvfp4": ("check", "scales", "tensor"),
    "mxfp4": ("check", "scales"),
    "s2fp8": ("check", "mu", "m", "alpha", "beta"),
}

EVERY = os.environ["HALFULP_EXHAUSTIVE"] == "1"
# What goes wrong at every step: with three or four files in every run, and in the long run with six as well, which one loop over the
# companions writes; test_mixed_sets and test_digest always have all.
STEPS = FORMATS if EVERY else ("nvfp4", "mxfp4")


class Sets(support.Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        x = [rng.gauss(0, 1) for _ in range(64 * 192)]
        self.write("x1.npy", npy("<f4", (64, 192), floats(x)))
        self.write("x2.npy", npy("<f4", (64, 192), floats([100 * v for v in x])))
        os.mkdir(self.path("z"))

    def out(self, name="o.npy"):
        return self.path(os.path.join("z", name))

    def quantize(self, x, fmt="nvfp4", **kw):
        return support.run("quantize", "-f", fmt, "--codes", self.path(x), self.out(), **kw)

    def values(self, x, fmt="nvfp4"):
        self.ok("quantize", "-f", fmt, self.path(x), self.path("v.npy"))
        return self.read("v.npy")

    def decoded(self, fmt="nvfp4"):
        """The values, or None where there is no set that decode takes."""
        r = support.run("decode", "-f", fmt, self.out(), self.path("d.npy"))
        self.assertIn(r.returncode, (0, 2), r.stderr)
        return self.read("d.npy") if r.returncode == 0 else None

    def files(self):
        return {name: self.read(os.path.join("z", name)) for name in os.listdir(self.path("z"))}

    def restore(self, files):
        for name in os.listdir(self.path("z")):
            os.unlink(self.out(name))
        for name, data in files.items():
            self.write(os.path.join("z", name), data)

    def earlier(self, fmt):
        """The folder before: with a set of x1, and with none."""
        self.restore({})
        self.quantize("x1.npy", fmt)
        return self.files(), {}

    def names(self, fmt):
        return sorted(["o.npy"] + ["o.%s.npy" % s for s in FORMATS[fmt]])

    # ---- what a call that goes wrong leaves ----

    def faulty(self, x, fmt, **settings):
        env = support.fault(**settings)
        return subprocess.run(
            [support.HALFULP, "quantize", "-f", fmt, "--codes", self.path(x), self.out()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            check=False,
        )

    def calls(self, x, fmt):
        log = self.path("log")
        self.assertEqual(self.faulty(x, fmt, FAULT_LOG=log).returncode, 0)
        with open(log) as f:
            names = f.read().split()
        os.unlink(log)
        self.assertGreater(len(names), 4 * len(FORMATS[fmt]))
        return names

    def test_every_step_killed(self):
        """SIGKILL before each call on files, over an earlier set and over none: old values, new ones, or none."""
        for fmt in STEPS:
            old, new = self.values("x1.npy", fmt), self.values("x2.npy", fmt)
            for earlier in self.earlier(fmt):
                seen = []
                self.restore(earlier)
                count = len(self.calls("x2.npy", fmt))
                for at in range(count):
                    self.restore(earlier)
                    r = self.faulty("x2.npy", fmt, FAULT_AT=str(at), FAULT_DO="kill")
                    self.assertEqual(r.returncode, -signal.SIGKILL, at)
                    got = self.decoded(fmt)
                    self.assertIn(got, (old, new, None) if earlier else (new, None), (fmt, at))
                    seen.append("old" if got == old else "new" if got == new else "none")
                # In this order, each at least once: while names change there are no codes.
                order = ["old", "none", "new"] if earlier else ["none", "new"]
                self.assertEqual(seen, sorted(seen, key=order.index), (fmt, seen))
                self.assertEqual(set(seen), set(order), (fmt, seen))
        print("killed before each of some %d calls" % count)

    def test_every_step_interrupted(self):
        """SIGINT, SIGQUIT, SIGTERM before each call: the old set whole or the new one, and no file more. In turns, each call with one
        of them; in the long run each call with each."""
        for turn, number in enumerate((signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            old, new = self.values("x1.npy"), self.values("x2.npy")
            before, seen = self.earlier("nvfp4")[0], []
            names = self.calls("x2.npy", "nvfp4")
            count, first = len(names), names.index("rename")  # up to there no name has changed
            for at in range(count) if EVERY else range(turn, count, 3):
                self.restore(before)
                r = self.faulty("x2.npy", "nvfp4", FAULT_AT=str(at), FAULT_DO=str(int(number)))
                self.assertEqual(r.returncode, -number, at)
                got = self.decoded()
                self.assertIn(got, (old, new) if at >= first else (old,), at)
                self.assertEqual(sorted(self.files()), self.names("nvfp4"), at)
                seen.append(got == new)
            self.assertEqual(seen, sorted(seen))
            self.assertEqual(set(seen), {False, True})

    def test_every_step_fails(self):
        """No space left at each call: the old files, byte for byte, or none; what can be done without is no error."""
        for fmt in STEPS:
            want = self.values("x2.npy", fmt)
            for before in self.earlier(fmt):
                self.restore(before)
                names, failed = self.calls("x2.npy", fmt), 0
                for at, name in enumerate(names):
                    self.restore(before)
                    r = self.faulty("x2.npy", fmt, FAULT_AT=str(at), FAULT_DO="fail")
                    if r.returncode == 0:
                        self.assertIn(name, ("flock", "link", "unlink", "fsync"), at)
                        self.assertEqual(self.decoded(fmt), want)
                        continue
                    failed += 1
                    self.assertEqual(r.returncode, 2)
                    self.assertIn(b"o.", r.stderr)
                    self.assertIn(b"cannot write: No space left on device", r.stderr)
                    self.assertEqual(r.stderr.count(b"\n"), 1)
                    left = {n: d for n, d in self.files().items() if not n.startswith(".halfulp")}
                    self.assertEqual(left, before, (fmt, at, name))
                    if name != "unlink":
                        self.assertEqual(sorted(self.files()), sorted(before), (fmt, at, name))
                self.assertGreater(failed, 3 * len(FORMATS[fmt]))

    def test_no_second_names(self):
        """A file system without hard links: a name that cannot be given leaves no codes, and no temporary file."""
        names = self.calls("x2.npy", "nvfp4")
        self.quantize("x1.npy")
        old = self.values("x1.npy")
        env = dict(FAULT_ONLY="link", FAULT_DO="fail", FAULT_ERRNO="1")
        self.assertEqual(self.faulty("x2.npy", "nvfp4", FAULT_AT="0", **env).returncode, 0)
        self.assertEqual(self.decoded(), self.values("x2.npy"))
        self.assertNotEqual(self.decoded(), old)
        self.assertEqual(sorted(self.files()), self.names("nvfp4"))
        self.assertIn("rename", names)

    def test_renames_that_fail_without_second_names(self):
        """The old set is back, whichever name could not be given."""
        renames = self.calls("x2.npy", "nvfp4").count("rename")
        self.quantize("x1.npy")
        before = self.files()
        env = dict(FAULT_NEVER="link", FAULT_ONLY="rename", FAULT_DO="fail", FAULT_ERRNO="5")
        failed = 0
        for at in range(3 * renames):
            r = self.faulty("x2.npy", "nvfp4", FAULT_AT=str(at), **env)
            failed += r.returncode == 2
            if r.returncode == 2:
                self.assertEqual(self.files(), before, at)
            else:
                self.quantize("x1.npy")
        self.assertGreaterEqual(failed, renames)

    # ---- a disk that is full ----

    def full(self, limit):
        """preexec_fn: files of at most so many bytes, and the signal of that as a shell has it."""

        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return small

    def test_limit_of_files(self):
        """ulimit -f: an error, not a signal; nothing is left, and the earlier set is whole."""
        starts = self.earlier("nvfp4")
        sizes = [n - less for n in map(len, starts[0].values()) for less in (1, 0)]
        for limit in sorted(set(sizes)):
            for start in starts:
                self.restore(start)
                r = subprocess.run(
                    [support.HALFULP, "quantize", "-f", "nvfp4", "--codes", self.path("x2.npy"), self.out()],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    preexec_fn=self.full(limit),
                    check=False,
                )
                if limit >= max(sizes):
                    self.assertEqual(r.returncode, 0, r.stderr)
                    continue
                self.assertEqual(r.returncode, 2, (limit, r.stderr))
                self.assertIn(b"cannot write: File too large", r.stderr)
                self.assertEqual(self.files(), start)

    def test_full_disk(self):
        """A file system of a few blocks, where this user may mount one; else files limited in size stand for it."""
        place = self.path("z")
        mounted = (
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", place], stderr=subprocess.DEVNULL
            ).returncode
            == 0
        )
        print("a full disk:", "tmpfs" if mounted else "no mount for this user, ulimit -f instead")
        try:
            self.quantize("x1.npy")
            before = self.decoded()
            self.assertEqual(before, self.values("x1.npy"))
            limit = None if mounted else self.full(2000)
            if mounted:
                fill = os.open(self.out("fill"), os.O_WRONLY | os.O_CREAT)
                try:
                    while os.write(fill, b"x" * 4096):
                        pass
                except OSError:  # room for the scales, not for the codes
                    os.ftruncate(fill, os.fstat(fill).st_size - 8192)
                    os.close(fill)
            r = subprocess.run(
                [support.HALFULP, "quantize", "-f", "nvfp4", "--codes", self.path("x2.npy"), self.out()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                preexec_fn=limit,
                check=False,
            )
            self.assertEqual(r.returncode, 2)
            self.assertRegex(r.stderr.decode(), r"cannot write: (No space left on device|File too large)")
            self.assertEqual(self.decoded(), before)
            self.assertEqual([n for n in self.files() if n.startswith(".")], [])
        finally:
            if mounted:
                subprocess.run(["umount", place], check=True)

    # ---- at the same time ----

    def test_a_long_wait_is_told(self):
        """One that holds the lock for seconds is waited for, and a line says so."""
        lock = os.open(self.out(".halfulp-lock"), os.O_RDONLY | os.O_CREAT, 0o644)
        fcntl.flock(lock, fcntl.LOCK_EX)
        args = [support.HALFULP, "quantize", "-f", "nvfp4", "--codes", self.path("x1.npy"), self.out()]
        p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = p.stderr.readline()
        self.assertEqual(os.listdir(self.path("z")).count("o.npy"), 0)
        self.assertIsNone(p.poll())
        os.close(lock)
        rest = p.communicate()[1]
        self.assertIn(b".halfulp-lock: another program holds this lock; waiting for it", said)
        self.assertEqual((p.returncode, rest), (0, b""))
        self.assertEqual(self.decoded(), self.values("x1.npy"))
        self.assertEqual([n for n in self.files() if n.startswith(".")], [])

    def test_two_writers(self):
        """Of two sets that are written to one name at a time, one is there at the end."""
        want = {self.values("x1.npy"), self.values("x2.npy")}
        seen = set()
        for _ in range(40 if EVERY else 12):
            args = [support.HALFULP, "quantize", "-f", "nvfp4", "--codes"]
            both = [
                subprocess.Popen(args + [self.path(x), self.out()], stdout=subprocess.DEVNULL)
                for x in ("x1.npy", "x2.npy")
            ]
            self.assertEqual([p.wait() for p in both], [0, 0])
            got = self.decoded()
            self.assertIn(got, want)
            self.assertEqual(sorted(self.files()), self.names("nvfp4"))
            seen.add(got)
        print("two writers: %d of 2 have won" % len(seen))

    def test_second_writer_within_the_first(self):
        """The first stops between any two names; the second waits for it."""
        want = self.values("x2.npy")
        self.quantize("x1.npy")
        names = self.calls("x1.npy", "nvfp4")
        for at in (i for i, name in enumerate(names) if name in ("rename", "link", "unlink")):
            env = support.fault(FAULT_AT=str(at), FAULT_DO=str(int(signal.SIGSTOP)))
            args = [support.HALFULP, "quantize", "-f", "nvfp4", "--codes"]
            first = subprocess.Popen(args + [self.path("x1.npy"), self.out()], stdout=subprocess.DEVNULL, env=env)
            os.waitid(os.P_PID, first.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            second = subprocess.Popen(args + [self.path("x2.npy"), self.out()], stdout=subprocess.DEVNULL)
            time.sleep(0.05)
            os.kill(first.pid, signal.SIGCONT)
            self.assertEqual((first.wait(), second.wait()), (0, 0))
            self.assertEqual(self.decoded(), want, (at, names[at]))
            self.assertEqual(sorted(self.files()), self.names("nvfp4"))

    def test_readers_while_sets_change(self):
        """decode finds one set or the other, or says that it found none."""
        want = {self.values("x1.npy"), self.values("x2.npy")}
        self.quantize("x1.npy")
        stop = threading.Event()

        def write():
            for i in range(60 if EVERY else 20):
                self.quantize(("x2.npy", "x1.npy")[i % 2])
            stop.set()

        writer = threading.Thread(target=write)
        writer.start()
        taken = refused = 0
        while not stop.is_set():
            got = self.decoded()
            taken += got is not None
            refused += got is None
            self.assertIn(got, want | {None})
        writer.join()
        print("read while written: %d taken, %d refused" % (taken, refused))
        self.assertGreater(taken, 0)

    # ---- what decode takes ----

    def test_mixed_sets(self):
        """Every mixture of two sets is refused; sets without a digest, from elsewhere, are taken."""
        for fmt, suffixes in FORMATS.items():
            old = self.earlier(fmt)[0]
            self.quantize("x2.npy", fmt)
            new, names = self.files(), sorted(old)
            self.assertEqual(names, sorted(["o.npy"] + ["o.%s.npy" % s for s in suffixes]))
            for pick in range(1 << len(names)):
                mixture = {n: (new if pick >> i & 1 else old)[n] for i, n in enumerate(names)}
                self.restore(mixture)
                if mixture in (old, new):
                    self.assertIsNotNone(self.decoded(fmt))
                else:
                    self.bad("decode", "-f", fmt, self.out(), self.path("no.npy"), says=(self.out(), "o.check.npy"))
            want = self.decoded(fmt)
            os.unlink(self.out("o.check.npy"))
            self.assertEqual(self.decoded(fmt), want)

    def test_digest(self):
        """As docs/files.md says it, computed here."""
        for fmt, suffixes in FORMATS.items():
            self.earlier(fmt)
            h = 0xCBF29CE484222325
            for name in ["o.npy"] + ["o.%s.npy" % s for s in suffixes[1:]]:
                data = support.parse_npy(self.files()[name])[3]
                words = [len(data)] + [w for (w,) in struct.iter_unpack("<Q", data + b"\0" * (-len(data) % 8))]
                for w in words:
                    h = (h ^ w) * 0x9E3779B97F4A7C15 % 2**64
                    h ^= h >> 32
            descr, fortran, shape, data = support.parse_npy(self.files()["o.check.npy"])
            self.assertEqual((descr, shape, data), ("|u1", (8,), h.to_bytes(8, "little")))

    def test_files_that_cannot_be(self):
        """A companion that is a folder or the codes by another name: refused before anything changes."""
        os.mkdir(self.out("o.scales.npy"))
        self.bad(
            "quantize",
            "-f",
            "nvfp4",
            "--codes",
            self.path("x1.npy"),
            self.out(),
            says=("o.scales.npy", "an ordinary file is required"),
        )
        os.rmdir(self.out("o.scales.npy"))
        self.quantize("x1.npy")
        before = self.files()
        os.unlink(self.out("o.scales.npy"))
        os.symlink("o.npy", self.out("o.scales.npy"))
        self.bad("quantize", "-f", "nvfp4", "--codes", self.path("x2.npy"), self.out(), says="is the same file as")
        self.assertEqual(self.files()["o.npy"], before["o.npy"])

    def test_pipe_for_a_companion(self):
        """Which anyone can put there, and which would be waited for."""
        self.write("m.npy", self.read("x1.npy"))
        for fmt, suffixes in FORMATS.items():
            self.restore({})
            self.quantize("m.npy", fmt)
            before = self.files()
            for suffix in suffixes:
                name = "o.%s.npy" % suffix
                self.restore(before)
                os.unlink(self.out(name))
                os.mkfifo(self.out(name))
                self.bad("decode", "-f", fmt, self.out(), self.path("no.npy"), says=name + ": is no ordinary file")
                self.bad("quantize", "-f", fmt, "--codes", self.path("m.npy"), self.out(), says=(name, "ordinary file"))

    def test_links_stay(self):
        """What links lead to is replaced, also in another folder."""
        os.mkdir(self.path("far"))
        os.symlink(self.path("far/codes.npy"), self.out())
        self.quantize("x1.npy")
        self.quantize("x2.npy")
        self.assertTrue(os.path.islink(self.out()))
        self.assertEqual(self.decoded(), self.values("x2.npy"))
        self.assertEqual(os.listdir(self.path("far")), ["codes.npy"])
        self.assertEqual(glob.glob(self.path("*/.halfulp*")), [])


if __name__ == "__main__":
    support.main()
