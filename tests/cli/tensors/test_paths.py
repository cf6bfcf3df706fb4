# SPDX-License-Identifier: MIT
"""Names of files: inputs that are outputs, what killed runs leave, control characters, files of other programs."""

import fcntl
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, npy, safetensors  # noqa: E402

MODELS = os.environ["HALFULP_SAFETENSORS"] == "1"
GEMM = "--fa float8_e5m2 --fb float8_e5m2 --fd binary32 --accum exact".split()


class Same(support.Case):
    """An output that is an input is refused, by any path, link or hard link, and nothing is changed."""

    def setUp(self):
        super().setUp()
        self.x = npy("<f4", (4, 40), floats([0.01 * i for i in range(160)]))
        self.write("x.npy", self.x)
        self.write("m.safetensors", safetensors([("t", "F32", (4, 40), self.x[-640:])]))
        os.mkdir(self.path("d"))
        self.aliases = {}
        for name in ("x.npy", "m.safetensors"):
            stem, suffix = name.split(".")
            os.symlink(name, self.path(stem + "_link." + suffix))
            os.symlink(os.path.join("..", stem + "_link." + suffix), self.path("d/" + stem + "_far." + suffix))
            os.link(self.path(name), self.path(stem + "_hard." + suffix))
            os.symlink(".", self.path("self")) if not os.path.lexists(self.path("self")) else None
            paths = [name, "./" + name, "d/../" + name, "self/" + name, stem + "_link." + suffix,
                "d/" + stem + "_far." + suffix, stem + "_hard." + suffix]
            self.aliases[name] = [self.path(p) for p in paths]
        self.before = {n: os.stat(self.path(n)).st_ino for n in ("x.npy", "m.safetensors")}

    def unchanged(self, left):
        self.assertEqual(self.read("x.npy"), self.x)
        self.assertEqual({n: os.stat(self.path(n)).st_ino for n in self.before}, self.before)
        self.assertEqual(self.left(), left)

    def test_arrays(self):
        left, x = self.left(), self.path("x.npy")
        for path in self.aliases["x.npy"]:
            for args in (("quantize", "-f", "bfloat16", x, path), ("quantize", "-f", "bfloat16", x, "-o", path),
                    ("quantize", "-f", "bfloat16", path, x), ("quantize", "-f", "nvfp4", "--codes", x, path),
                    ("encode", "-f", "bfloat16", x, path)):
                self.bad(*args, says=("is the same file as", "--in-place"))
            with open(x, "rb") as f:
                r = subprocess.run([support.HALFULP, "quantize", "-f", "bfloat16", "-", path], stdin=f,
                    stderr=subprocess.PIPE, check=False)
            self.assertEqual((r.returncode, b"is the same file as standard input" in r.stderr), (2, True), r.stderr)
            self.bad("gemm", x, x, *GEMM, "-o", path, says="give -o another name")
            self.unchanged(left)

    @unittest.skipUnless(MODELS, "built without jansson")
    def test_models(self):
        left, m = self.left(), self.path("m.safetensors")
        self.ok("quantize", "-f", "nvfp4", "--codes", m, self.path("c.safetensors"))
        c = self.read("c.safetensors")
        os.symlink("c.safetensors", self.path("c_link.safetensors"))
        for path in self.aliases["m.safetensors"]:
            for args in (("quantize", "-f", "bfloat16"), ("quantize", "-f", "nvfp4", "--codes"),
                    ("encode", "-f", "nvfp4")):
                self.bad(*args, m, path, says=("is the same file as", "--in-place"))
        self.bad("decode", self.path("c.safetensors"), self.path("c_link.safetensors"),
            says=("is the same file as", "--in-place"))
        self.assertEqual(self.read("c.safetensors"), c)
        os.unlink(self.path("c.safetensors"))
        os.unlink(self.path("c_link.safetensors"))
        self.unchanged(left)

    def test_report_over_standard_input(self):
        """--report where the input comes from that file by standard input."""
        self.write("in.npy", npy("<f4", (64, 64), floats([0.1] * 4096)))
        before = self.read("in.npy")
        with open(self.path("in.npy"), "rb") as stdin:
            args = ["-f", "nvfp4", "-", "-o", self.path("q.safetensors"), "--report", self.path("in.npy")]
            r = subprocess.run([support.HALFULP, "quantize", *args], stdin=stdin, stderr=subprocess.PIPE, check=False)
        self.assertEqual((r.returncode, self.read("in.npy") == before), (2, True), r.stderr)
        self.assertIn(b"--report", r.stderr)

    def test_in_place(self):
        x = self.path("x.npy")
        self.ok("quantize", "-f", "float8_e5m2", x, self.path("z.npy"))
        want = self.read("z.npy")
        for args in ((x, x), (x,), (x, "-o", self.path("x_link.npy")), (self.path("x_link.npy"),)):
            self.write("x.npy", self.x)
            self.ok("quantize", "-f", "float8_e5m2", "--in-place", *args)
            self.assertEqual(self.read("x.npy"), want)
            self.assertTrue(os.path.islink(self.path("x_link.npy")))
        self.ok("encode", "-f", "nvfp4", "--in-place", x)
        self.bad("decode", "-f", "nvfp4", x, x, says="--in-place")
        self.ok("decode", "-f", "nvfp4", "--in-place", x)
        self.assertNotIn("z.scales.npy", self.left())
        self.bad("quantize", "-f", "bfloat16", "--in-place", "-", says="requires IN.npy OUT.npy")
        self.bad("encode", "-f", "bfloat16", "--in-place", stdin="1\n", says="--in-place goes with")

    def test_companions(self):
        """The files beside OUT and beside IN count, too; --in-place is for IN and OUT alone."""
        x = self.path("x.npy")
        for name in ("q.scales.npy", "q.tensor.npy", "q.check.npy"):
            self.write(name, self.x)
            for more in ((), ("--in-place",)):
                self.bad("quantize", "-f", "nvfp4", "--codes", *more, self.path(name), self.path("q.npy"),
                    says=(name, "OUT another name"))
            self.assertEqual(self.read(name), self.x)
            os.unlink(self.path(name))
        self.ok("quantize", "-f", "nvfp4", "--codes", x, self.path("q.npy"))
        for name in ("q.scales.npy", "q.tensor.npy", "q.check.npy"):
            before = self.read(name)
            for more in ((), ("--in-place",)):
                self.bad("decode", "-f", "nvfp4", *more, self.path("q.npy"), self.path(name),
                    says=(name, "OUT another name"))
            self.assertEqual(self.read(name), before)

    def test_gemm(self):
        for name in ("a", "b", "c", "sa", "sb"):
            self.write(name + ".npy", npy("<f4", (4, 4), floats([1.0] * 16)))
        paths = {n: self.path(n + ".npy") for n in ("a", "b", "c", "sa", "sb")}
        accum = "promote(4,fp32,binary32,scaled)"
        for out in paths.values():
            self.bad("gemm", paths["a"], paths["b"], "-C", paths["c"], "--sa", paths["sa"], "--sb", paths["sb"],
                "--accum", accum, "--fa", "bfloat16", "--fb", "bfloat16", "--fd", "binary32", "-o", out,
                says=(out, "give -o another name"))

    def test_plot(self):
        os.link(self.path("x.npy"), self.path("x.svg"))
        for out in ("x.npy", "x.svg", "x_hard.npy"):
            self.bad("plot", "-f", "bfloat16", "--array", self.path("x.npy"), "-o", self.path(out),
                says="give -o another name")
        self.assertEqual(self.read("x.npy"), self.x)

    def test_missing_input(self):
        self.bad("quantize", "-f", "bfloat16", self.path("no.npy"), self.path("no.npy"),
            says="No such file or directory")


class Drawing(support.Case):
    def test_suffixes(self):
        for name in ("x.png", "x.PDF", "x.svg.gz", "a.b/x.jpeg"):
            path = self.path(name)
            self.bad("plot", "-f", "float8_e5m2", "-o", path,
                says=(path + ": drawings are SVG", os.path.splitext(path)[0] + ".svg", "rsvg-convert"))
        self.assertEqual(self.left(), [])
        os.mkdir(self.path("a.b"))
        for name in ("x.svg", "x.SVG", "x", "a.b/x", ".svg"):
            self.ok("plot", "-f", "float8_e5m2", "-o", self.path(name))
            self.assertTrue(self.read(name).startswith(b"<svg"))
        self.assertTrue(self.ok("plot", "-f", "float8_e5m2", "-o", "-").startswith("<svg"))


class Leftovers(support.Case):
    """What is written when a process ends by a signal, or may write no further, goes with it."""

    def setUp(self):
        super().setUp()
        data = floats([0.01 * i for i in range(1024)]) * 1024
        self.write("x.npy", npy("<f4", (1024, 1024), data))
        os.mkdir(self.path("z"))
        self.args = [support.HALFULP, "quantize", "-f", "float8_e4m3fn", self.path("x.npy"), self.path("z/o.npy")]

    def faulty(self, **settings):
        env = support.fault(**settings)
        return subprocess.run(self.args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env, check=False)

    def test_signals(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        names = "SIGINT SIGTERM SIGHUP SIGQUIT SIGALRM SIGUSR1 SIGUSR2 SIGXCPU"
        for number in (getattr(signal, name) for name in names.split()):
            # While the temporary file is there: before its bytes, and before its name.
            for only in ("write", "fsync"):
                r = self.faulty(FAULT_ONLY=only, FAULT_AT="0", FAULT_DO=str(int(number)))
                self.assertEqual((r.returncode, os.listdir(self.path("z"))), (-number, []), only)
            if MODELS:
                self.args[-1] = self.path("z/o.safetensors")
                for at in ("0", "1"):
                    r = self.faulty(FAULT_ONLY="pwrite", FAULT_AT=at, FAULT_DO=str(int(number)))
                    self.assertEqual((r.returncode, os.listdir(self.path("z"))), (-number, []), at)
                self.args[-1] = self.path("z/o.npy")

    def test_pipe_that_nobody_reads(self):
        """SIGPIPE with a file half written: an error line to a closed pipe."""
        r = self.faulty(FAULT_ONLY="write", FAULT_AT="0", FAULT_DO=str(int(signal.SIGPIPE)))
        self.assertEqual((r.returncode, os.listdir(self.path("z"))), (-signal.SIGPIPE, ["o.npy"]))
        read, write = os.pipe()
        os.close(read)
        p = subprocess.Popen(self.args[:-1] + ["-"], stdout=write, stderr=subprocess.DEVNULL)
        os.close(write)
        self.assertEqual(p.wait(), -signal.SIGPIPE)

    def test_limit_of_files(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

        for args in (self.args, self.args[:2] + ["-f", "nvfp4", "--codes"] + self.args[4:]):
            r = subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit, check=False)
            self.assertEqual(r.returncode, 2, r.stderr)
            self.assertRegex(r.stderr.decode(),
                r"^halfulp: \S*/z/o\.npy: cannot write: File too large \(.*`ulimit -f`.*\)\n$")
            self.assertEqual(os.listdir(self.path("z")), [])
        with open(self.path("list"), "wb") as f:
            r = subprocess.run([support.HALFULP, "info", "binary16", "--table"], stdout=f, stderr=subprocess.PIPE,
                preexec_fn=limit, check=False)
        self.assertEqual((r.returncode, r.stderr), (2, b"halfulp: standard output: cannot write\n"))

    def test_stale_files(self):
        """cli_folder_clean (clean_folder.c): what killed runs left, and nothing that is being written."""
        tool = os.environ["HALFULP_CLEAN"]
        r = self.faulty(FAULT_ONLY="fsync", FAULT_AT="0", FAULT_DO="kill")
        self.assertEqual(r.returncode, -signal.SIGKILL)
        stale = os.listdir(self.path("z"))
        self.assertRegex(" ".join(stale), r"^\.halfulp-\w{9}$")
        self.write("z/.halfulp-abc123XYZ", b"x")
        self.write("z/.halfulp-lock", b"")
        others = [".halfulp-abcdefgh", ".halfulp-abcdefghij", ".halfulp-ab_c12345", "halfulp-abc123456", "o.npy"]
        for name in others:
            self.write("z/" + name, b"x")
        os.mkdir(self.path("z/.halfulp-afolder00"))
        os.symlink("o.npy", self.path("z/.halfulp-isalink00"))
        with open(self.write("z/.halfulp-inwork000", b"x"), "rb") as writing:
            fcntl.flock(writing, fcntl.LOCK_EX)
            done = subprocess.run([tool, self.path("z")], stdout=subprocess.PIPE, check=True)
            self.assertEqual(done.stdout, b"3\n")
            kept = others + [".halfulp-afolder00", ".halfulp-inwork000", ".halfulp-isalink00"]
            self.assertEqual(sorted(os.listdir(self.path("z"))), sorted(kept))
        self.assertEqual(subprocess.run([tool, self.path("z")], stdout=subprocess.PIPE, check=True).stdout, b"1\n")

    def killed(self):
        """What a command leaves that is killed before its file has its name."""
        before = set(os.listdir(self.path("z")))
        r = self.faulty(FAULT_ONLY="fsync", FAULT_AT="0", FAULT_DO="kill")
        self.assertEqual(r.returncode, -signal.SIGKILL)
        new = [name for name in os.listdir(self.path("z")) if name not in before]
        self.assertTrue(new and all(name.startswith(".halfulp-") for name in new))
        return new

    def test_next_writer_removes(self):
        """Those of the same name, when the new file is there; those of others stay, and so does all where it fails."""
        mine = self.killed() + self.killed()
        self.args[-1] = self.path("z/p.npy")
        other = self.killed()
        self.assertEqual(len(set(mine + other)), 3)
        self.args[-1] = self.path("z/o.npy")
        self.assertEqual(self.faulty(FAULT_ONLY="fsync", FAULT_AT="0", FAULT_DO="fail").returncode, 2)
        self.assertEqual(sorted(os.listdir(self.path("z"))), sorted(mine + other))
        self.assertEqual(self.faulty().returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("z"))), other + ["o.npy"])
        os.symlink("z/p.npy", self.path("link.npy"))  # what it leads to is written
        self.args[-1] = self.path("link.npy")
        self.assertEqual(self.faulty().returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("z"))), ["o.npy", "p.npy"])

    def test_next_set_removes(self):
        self.args[2:4] = ["-f", "nvfp4", "--codes"]
        left = self.killed()
        self.assertEqual(self.faulty(FAULT_ONLY="rename", FAULT_AT="1", FAULT_DO="kill").returncode, -signal.SIGKILL)
        self.assertGreater(len(os.listdir(self.path("z"))), len(left))
        self.assertEqual(self.faulty(FAULT_ONLY="rename", FAULT_AT="2", FAULT_DO="kill").returncode, -signal.SIGKILL)
        self.assertEqual(self.faulty().returncode, 0)
        self.assertEqual([n for n in os.listdir(self.path("z")) if n.startswith(".halfulp-") and n != ".halfulp-lock"], [])

    def test_living_writers(self):
        """Of two that write one name each leaves the other's file alone, whatever one of them does first."""
        for only, at in (("flock", 0), ("write", 0), ("fsync", 0), ("rename", 0)):
            env = support.fault(FAULT_ONLY=only, FAULT_AT=str(at), FAULT_DO=str(int(signal.SIGSTOP)))
            p = subprocess.Popen(self.args, stdout=subprocess.DEVNULL, env=env)
            os.waitid(os.P_PID, p.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            try:
                done = self.faulty()
            finally:
                os.kill(p.pid, signal.SIGCONT)
            self.assertEqual((done.returncode, p.wait()), (0, 0), only)
            self.assertEqual(os.listdir(self.path("z")), ["o.npy"], only)

    def test_old_files_of_a_living_set(self):
        """A plain writer of the same name while a set's names change: what the set would bring back is no leftover."""
        codes = self.args[:2] + ["-f", "nvfp4", "--codes"] + self.args[4:]
        subprocess.run(codes, stdout=subprocess.DEVNULL, check=True)
        old = self.read("z/o.npy")
        env = support.fault(FAULT_ONLY="rename", FAULT_AT="1", FAULT_DO=str(int(signal.SIGSTOP)))
        p = subprocess.Popen(codes, stdout=subprocess.DEVNULL, env=env)
        os.waitid(os.P_PID, p.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        try:
            self.assertEqual(self.faulty().returncode, 0)
            kept = [self.read("z/" + n) for n in os.listdir(self.path("z")) if n.startswith(".halfulp-")]
            self.assertIn(old, kept)
        finally:
            os.kill(p.pid, signal.SIGCONT)
        self.assertEqual(p.wait(), 0)

    def test_files_in_work_are_locked(self):
        """A command that writes holds the lock that cli_folder_clean respects."""
        env = support.fault(FAULT_ONLY="fsync", FAULT_AT="0", FAULT_DO=str(int(signal.SIGSTOP)))
        p = subprocess.Popen(self.args, stdout=subprocess.DEVNULL, env=env)
        os.waitid(os.P_PID, p.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        try:
            done = subprocess.run([os.environ["HALFULP_CLEAN"], self.path("z")], stdout=subprocess.PIPE, check=True)
        finally:
            os.kill(p.pid, signal.SIGCONT)
        self.assertEqual((done.stdout, p.wait()), (b"0\n", 0))
        self.assertEqual(os.listdir(self.path("z")), ["o.npy"])


class Changed(support.Case):
    """An input that another program cuts or writes anew while it is read: an error line and nothing written."""

    ROWS = 64

    def setUp(self):
        super().setUp()
        self.a = self.write("a.npy", npy("<f4", (self.ROWS, 1024), floats([0.5] * 1024) * self.ROWS))
        self.b = npy("<f4", (1024, 2), floats([0.25] * 2048))

    def product(self, change, out="d.npy"):
        """A product whose first matrix is changed when it has been opened: the second one comes through a pipe then."""
        os.mkfifo(self.path("pipe"))
        args = [support.HALFULP, "gemm", self.a, self.path("pipe"), *GEMM, "-o", out if out == "-" else self.path(out)]
        p = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with open(self.path("pipe"), "wb") as pipe:
            change()
            pipe.write(self.b)
        said = p.communicate()
        os.unlink(self.path("pipe"))
        return p.returncode, said[0], said[1].decode()

    def cut(self, size):
        os.truncate(self.a, size)

    def anew(self):
        data = self.read("a.npy")
        os.utime(self.a, (1, 1))
        with open(self.a, "r+b") as f:
            f.write(data[:-4] + floats([7]))

    def grow(self):
        with open(self.a, "ab") as f:
            f.write(b"more")

    def test_products(self):
        changes = (lambda: self.cut(5000), lambda: self.cut(0), lambda: self.cut(os.path.getsize(self.a) - 4),
            self.anew)
        whole = self.read("a.npy")
        for change in changes:
            for out in ("d.npy", "-"):
                self.write("a.npy", whole)
                code, printed, error = self.product(change, out)
                self.assertEqual((code, printed, error.count("\n")), (2, b"", 1), error)
                self.assertIn("a.npy: was cut or written again by another program while it was read", error)
                self.assertEqual(self.left(), ["a.npy"])
        self.write("a.npy", whole)
        code, _, error = self.product(self.grow)
        self.assertEqual((code, error, self.left()), (0, "", ["a.npy", "d.npy"]))
        self.write("a.npy", whole)
        code, _, error = self.product(lambda: os.rename(self.write("new", b""), self.a))
        self.assertEqual((code, error), (0, ""))  # the opened file is as it was

    def test_printed(self):
        """Where nothing but text comes out, the exit code and the line say so behind it."""
        os.mkfifo(self.path("pipe"))
        p = subprocess.Popen([support.HALFULP, "compare", self.a, self.path("pipe")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with open(self.path("pipe"), "wb") as pipe:
            whole = self.read("a.npy")
            self.anew()
            pipe.write(whole)
        error = p.communicate()[1].decode()
        self.assertEqual((p.returncode, error.count("\n")), (2, 1))
        self.assertIn("a.npy: was cut or written again", error)

    def test_in_the_middle(self):
        """The temporary file goes, whether the command meets the end by itself or hands the bytes to a write."""
        if not MODELS:
            return
        os.mkdir(self.path("z"))
        tensors = [("t%d" % i, "F32", (256, 1024), floats([0.5] * 1024) * 256) for i in range(4)]
        kept = ("--include", "t0")  # the other tensors are copied as they are
        for more, says in (((), "became shorter, or its disk failed,"), (kept, "was cut or written again by another program")):
            model = self.write("m.safetensors", safetensors(tensors))
            args = [support.HALFULP, "quantize", "-f", "bfloat16", model, "-o", self.path("z/m.safetensors"), *more]
            env = support.fault(FAULT_ONLY="flock", FAULT_AT="0", FAULT_DO=str(int(signal.SIGSTOP)))
            p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
            os.waitid(os.P_PID, p.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            self.assertEqual(len(os.listdir(self.path("z"))), 1)
            os.truncate(model, 2 * 256 * 4096 if more else 5000)
            os.kill(p.pid, signal.SIGCONT)
            error = p.communicate()[1].decode()
            self.assertEqual((p.returncode, error.count("\n"), os.listdir(self.path("z"))), (2, 1, []), error)
            self.assertEqual(error, "halfulp: %s: %s while it was read\n" % (model, says))


class Pipes(support.Case):
    """A pipe where a file should be, and one that is named as an output."""

    def setUp(self):
        super().setUp()
        self.x = self.write("x.npy", npy("<f4", (16, 16), floats([0.5] * 256)))

    def test_lock(self):
        """In a folder where others may write, anyone can put one there."""
        os.mkdir(self.path("z"))
        path = self.path("z/.halfulp-lock")
        with socket.socket(socket.AF_UNIX) as s:
            self.refused(path, os.mkfifo)
            self.refused(path, s.bind)
        self.refused(path, os.mkdir, os.rmdir)
        self.refused(path, lambda link: os.symlink(self.x, link))
        self.refused(path, lambda link: os.symlink("nowhere", link))

    def refused(self, path, make, remove=os.unlink):
        make(path)
        args = ("quantize", "-q", "-f", "nvfp4", "--codes", self.x, self.path("z/o.npy"))
        self.bad(*args, says=".halfulp-lock: is no ordinary file")
        self.assertEqual(os.listdir(self.path("z")), [".halfulp-lock"])
        remove(path)

    def test_outputs(self):
        """It waits for a reader, and an interrupt ends that."""
        os.mkfifo(self.path("pipe"))
        args = [support.HALFULP, "quantize", "-q", "-f", "bfloat16", self.x, self.path("pipe")]
        p = subprocess.Popen(args, stdout=subprocess.DEVNULL)
        with open(self.path("pipe"), "rb") as pipe:
            data = pipe.read()
        self.assertEqual((p.wait(), data[:6]), (0, b"\x93NUMPY"))
        for number in (signal.SIGTERM, signal.SIGINT):
            p = subprocess.Popen(args, stdout=subprocess.DEVNULL)
            while not re.search(r"^State:\s+S", self.status(p.pid), re.MULTILINE):
                self.assertIsNone(p.poll())
            p.send_signal(number)
            self.assertEqual(p.wait(), -number)

    def status(self, pid):
        with open("/proc/%d/status" % pid) as f:
            return f.read()


class Shown(support.Case):
    """Names are foreign text: what would move a terminal's cursor is shown as ?."""

    NAME = "a\x1b[31m\n\r\x07\x7f\u009bé日.npy"

    def test_errors_and_reports(self):
        shown = "a?[31m??????é日.npy"  # the two bytes of U+009B are two
        raw = os.fsencode(self.path(self.NAME))
        self.assertIn(shown, self.bad_text("quantize", "-f", "bfloat16", self.path(self.NAME), self.path("z.npy")))
        with open(raw, "wb") as f:
            f.write(npy("<f4", (1, 2), floats([0.3, 1.0])))
        for args in (("-f", "bfloat16"), ("-f", "nvfp4", "--codes")):
            out = self.ok("quantize", *args, self.path(self.NAME), self.path("z.npy"))
            self.assertIn(shown + ": float32", out)
            self.assertIsNone(self.controls(out))
        text = self.ok("gemm", self.path(self.NAME), self.matrix(), *GEMM, "-o", self.path("d.npy"))
        self.assertIn(shown + ": 1 of 2 elements", text)
        for args in (("encode", "-f", "bfloat16", self.path(self.NAME)), ("info", self.NAME), (self.NAME,),
                ("explain", "-f", "bfloat16", self.NAME)):
            self.assertIsNone(self.controls(self.bad_text(*args)[:-1]), args)

    @unittest.skipUnless(MODELS, "built without jansson")
    def test_models(self):
        raw = self.path(self.NAME.replace(".npy", ".safetensors"))
        with open(os.fsencode(raw), "wb") as f:
            f.write(safetensors([("t\x1b[1m\u0085", "F32", (1, 2), floats([0.3, 1.0]))]))
        out = self.ok("quantize", "-f", "nvfp4", raw, "-o", raw + "2.safetensors", "--report", self.path("r.html"))
        self.assertIsNone(self.controls(out))
        self.assertIn("  t?[1m??", out)
        self.assertIsNone(self.controls(self.read("r.html").decode()))

    def test_not_utf8(self):
        """A name in another encoding: an error line is text all the same."""
        for name in (b"\xff\xfe.npy", b"caf\xe9.npy", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"):
            r = subprocess.run([os.fsencode(support.HALFULP), b"quantize", b"-f", b"bfloat16", name, b"z.npy"],
                stderr=subprocess.PIPE, cwd=self.folder.name, check=False)
            self.assertEqual(r.returncode, 2)
            self.assertIn("?", r.stderr.decode("utf-8"))

    def matrix(self):
        return self.write("b.npy", npy("<f4", (2, 1), floats([1.0, 1.0])))

    def bad_text(self, *args):
        r = support.run(*args)
        self.assertEqual((r.returncode, r.stderr.count(b"\n")), (2, 1), r.stderr)
        return r.stderr.decode()

    def controls(self, text):
        return next((c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)), None)


class Foreign(support.Case):
    """Files that are none of those that are read: what they are, and the way from them."""

    def test_what_is_read(self):
        # A header of 640 bytes: the length begins as a pickled object does.
        sizes = (safetensors([("t", "F32", (1,), floats([1.0]))], {"note": "x" * n}) for n in range(640))
        like_a_pickle = next(data for data in sizes if data[:2] == b"\x80\x02")
        models = {"m.onnx": "it has no graph", "m.pt": "not a PyTorch file", "m.bin": "not a PyTorch file", "raw.bin": "not a PyTorch file"}
        for name, data, says in (
            ("m.onnx", b"\x08\x07\x12\x07pytorch", ("an ONNX model", "onnx.load", "save_file")),
            ("m.pt", b"PK\x03\x04" + bytes(30), ("a PyTorch file", "torch.load", "save_file")),
            ("m.bin", b"\x80\x02\x8a\x0al\xfc\x9c", ("a PyTorch file",)),
            ("m.bin", b"PK\x03\x04" + bytes(30), ("a PyTorch file", "torch.load")),
            ("m.zip", b"PK\x03\x04" + bytes(30), ("a .zip archive; unpack it first",)),
            ("640", like_a_pickle, ("a .safetensors file",)),
            ("p.dat", b"\x80\x04\x95.", (".npy, .safetensors and .gguf files are read",)),
            ("raw.bin", b"1 2 3\n", (".npy, .safetensors and .gguf files are read",)),
            ("m.jit", b"PK\x03\x04" + bytes(30), ("torch.jit.load",)),
            ("m.npz", b"PK\x03\x04" + bytes(30), ("an .npz archive", "numpy.load")),
            ("m.h5", b"\x89HDF\r\n\x1a\n" + bytes(30), ("an HDF5 file", "h5py")),
            ("m.ggml", b"GGUF" + bytes(30), ("a GGUF file", "to end in .gguf")),
            ("m.index.json", b'{"weight_map": {}}', ("a list in JSON", "ends in .safetensors.index.json")),
            (
                "blob",
                safetensors([("t", "F32", (1,), floats([1.0]))]),
                ("a .safetensors file", "to end in .safetensors"),
            ),
            ("m.txt", b"1 2 3\n", (".npy, .safetensors and .gguf files are read",)),
        ):
            path = self.write(name, data)
            self.bad("compare", path, path, says=says)
            if name in models:
                self.bad("quantize", "-f", "bfloat16", path, "-o", self.path("z.safetensors"), says=models[name] if MODELS else "jansson")
                os.unlink(path)
                continue
            self.bad("quantize", "-f", "bfloat16", path, self.path("z.npy"),
                says=(path + ": not an .npy file (wrong magic); ",) + says)
            if MODELS:
                self.bad("quantize", "-f", "bfloat16", path, "-o", self.path("z.safetensors"), says=says)
                copy = self.write("wrong.safetensors", data)
                if data[8:9] != b"{":
                    self.bad("quantize", "-f", "bfloat16", copy, "-o", self.path("z.safetensors"),
                        says=(copy + ": not a .safetensors file: ",))
                os.unlink(copy)
            os.unlink(path)
        self.bad("quantize", "-f", "bfloat16", self.folder.name, self.path("z.npy"),
            says="becomes a .safetensors file")
        self.bad("quantize", "-f", "bfloat16", self.folder.name, "-o", self.path("z.safetensors"),
            says="holds no .safetensors file" if MODELS else "jansson")

    @unittest.skipUnless(MODELS, "built without jansson")
    def test_arrays_named_models(self):
        path = self.write("x.safetensors", npy("<f4", (2,), floats([1.0, 2.0])))
        self.bad("quantize", "-f", "bfloat16", path, "-o", self.path("z.safetensors"),
            says=("not a .safetensors file", "an .npy file, whose name is to end in .npy"))

    def test_values_as_operands(self):
        self.assertEqual(self.ok("encode", "-f", "bfloat16", "0.3", "-0.3", "inf"), "3e9a\nbe9a\n7f80\n")
        self.assertEqual(self.ok("encode", "-f", "bfloat16", "1", "2"), "3f80\n4000\n")  # two are not IN and OUT
        self.assertEqual(self.ok("encode", "-f", "bfloat16", "--bits32", "3e9c0000"), "3e9c\n")
        self.assertEqual(self.ok("encode", "-f", "float8_e4m3fn", "-r", "sra:8", "--words", "0.3 ff"), "2a\n")
        self.assertEqual(self.ok("decode", "-f", "float8_e4m3fn", "7e", "0x01"), "0x1.cp+8\n0x1p-9\n")
        # Random words go with the operands as with lines.
        values = ["0.%d" % i for i in range(1, 40)]
        lines = self.ok("encode", "-f", "float8_e5m2", "-r", "sra:4", stdin="\n".join(values) + "\n")
        self.assertEqual(self.ok("encode", "-f", "float8_e5m2", "-r", "sra:4", *values), lines)
        # A file of that name is a file.
        with open(os.path.join(self.folder.name, "7e"), "w", encoding="ascii") as file:
            file.write("38\n")
        r = support.run("decode", "-f", "float8_e4m3fn", "7e", cwd=self.folder.name)
        self.assertEqual(r.stdout, b"0x1p+0\n")
        # The wrong text is quoted.
        self.bad("encode", "-f", "bfloat16", "0.3", "abc", says="operand:2: 'abc': not a number")
        self.bad("encode", "-f", "bfloat16", stdin="1\nabc\n", says="standard input:2: 'abc': not a number")
        self.bad("decode", "-f", "float8_e4m3fn", "7e", "17e", says="operand:2: '17e': not a code in hex")
        self.bad("encode", "-f", "bfloat16", "none.txt", says="none.txt: No such file")


if __name__ == "__main__":
    support.main()
