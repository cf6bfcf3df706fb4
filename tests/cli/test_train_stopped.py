# SPDX-License-Identifier: MIT
"""halfulp train, stopped and gone on with: the same files as those of a run that was not."""

import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
import support  # noqa: E402
from test_train import SMALL, TrainCase  # noqa: E402

DIGITS = "[data]\nset = digits\n"
RUNS = {
    "binary16, scale that backs off, stochastic updates": DIGITS
    + "[precision]\nsystem = fp16\n[loss]\nscale = backoff(start=2^24,scale_max=2^24,step_window=20)\n"
    "[optimizer]\nmomentum = 0.9\nupdate = sra:8\nweights = bfloat16\n",
    "AdamW, Kahan": DIGITS
    + "[precision]\nsystem = bfloat16\n[optimizer]\nkind = adamw\nrate = 0.001\nbeta2 = 0.996\nstate = bfloat16\n"
    "weights = bfloat16\nupdate = kahan\n",
    "batch norm, blocks": "[data]\nset = gratings\ncount = 256\ntest = 64\n[run]\nbatch = 32\n"
    "[model]\nnet = conv(channels=4/8)\n[precision]\nsystem = nvfp4\n",
    "assignment, promotions": DIGITS
    + "[assignment]\nkind = demote\nratio = 3/4\npromote = 0.0001\nlow_forward = fp(3,2,0):finite,sat=finite\n"
    "[loss]\nscale = gradscaler\n",
    "text": "[data]\nset = text\n[model]\nnet = transformer\n[run]\nbatch = 4\n[optimizer]\nkind = adamw\n"
    "rate = 0.003\nschedule = cosine\n",
}


class Stopped(TrainCase):
    def command(self, out, *more, program=support.HALFULP):
        options = ["--every", "2", "--checkpoint", "5", "--data", support.DATA, "--out", self.path(out)]
        return [program, "train", self.path("x.ini"), *options, *more]

    def run_whole(self, out, *more, program=support.HALFULP):
        args = self.command(out, *more, program=program)
        r = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual((r.returncode, r.stderr), (0, b""))

    def stop(self, out, rows, number, *more, program=support.HALFULP):
        """Sends the signal once the log has so many rows. The exit status; None: the run was at its end before."""
        p = subprocess.Popen(self.command(out, *more, program=program), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        path = self.path(os.path.join(out, "log.jsonl"))
        while p.poll() is None:
            if os.path.exists(path):
                with open(path, "rb") as f:
                    if f.read().count(b"\n") >= rows:
                        p.send_signal(number)
                        break
            time.sleep(0.001)
        said = p.communicate()[1].decode()
        if p.returncode == 0:
            return None
        self.assertEqual(p.returncode, -number, said)
        if number != signal.SIGKILL and said:
            self.assertRegex(said, r"^halfulp: stopped by .* after step \d+ of \d+; --resume goes on\n$")
        return p.returncode

    def check_consistent(self, out):
        """Log and checkpoint of a run that an interrupt stopped."""
        tensors, metadata, _ = support.parse_safetensors(self.read(os.path.join(out, "checkpoint.safetensors")))
        step = int(json.loads(metadata["state"])["step"])
        rows = self.rows(os.path.join(out, "log.csv"))
        self.assertEqual([row["step"] for row in rows], list(range(2, step + 1, 2)))
        self.assertTrue(tensors)

    def check(self, text, steps):
        self.config(text + "[run]\nsteps = %d\n" % steps)
        self.run_whole("a.run")
        stopped = 0
        for rows, number in ((3, signal.SIGTERM), (steps // 6, signal.SIGKILL), (steps // 4, signal.SIGINT)):
            more = ["--resume"] if os.path.exists(self.path("b.run/checkpoint.safetensors")) else []
            if self.stop("b.run", rows, number, *more) is None:
                continue
            stopped += 1
            if number != signal.SIGKILL:
                self.check_consistent("b.run")
        self.run_whole("b.run", "--resume")
        self.assertEqual(self.files("a.run"), self.files("b.run"))
        self.run_whole("b.run", "--resume")  # nothing left to do
        self.assertEqual(self.files("a.run"), self.files("b.run"))
        return stopped

    def test_same_files(self):
        total = 0
        for name, text in RUNS.items():
            with self.subTest(name):
                for out in ("a.run", "b.run"):
                    shutil.rmtree(self.path(out), ignore_errors=True)
                n = self.check(text, 60)
                print("%s: stopped %d times" % (name, n))
                total += n
        self.assertGreaterEqual(total, len(RUNS))

    def test_on_a_device(self):
        """The CUDA kernels, run by the CPU: the same files, and a checkpoint goes from one to the other."""
        text = SMALL.replace("epochs = 2", "steps = 24")
        self.config(text + "[optimizer]\nmomentum = 0.9\n[precision]\nsystem = fp16\n")
        device = [os.environ["HALFULP_HOSTRUN"], "--set", "run.device=cuda"]
        self.run_whole("a.run")
        want = self.files("a.run")

        def differ(out):
            return {n for n, data in self.files(out).items() if data != want[n]}

        key = {"config.ini", "report.html"}  # they show run.device
        stopped = self.stop("b.run", 2, signal.SIGTERM, *device[1:], program=device[0])
        self.assertEqual(stopped, -signal.SIGTERM)
        self.check_consistent("b.run")
        shutil.copytree(self.path("b.run"), self.path("c.run"))
        self.run_whole("b.run", "--resume")
        self.assertEqual(differ("b.run"), set())
        self.run_whole("c.run", "--resume", *device[1:], program=device[0])
        self.assertEqual(differ("c.run"), key)
        # The weights of the processor's run, seen by the device.
        self.run_whole("a.run", "--resume", *device[1:], program=device[0])
        self.assertEqual(differ("a.run"), key)

    def test_signals(self):
        """The usual effect of each, and one that is ignored does nothing."""
        self.config(DIGITS + "[run]\nsteps = 100000\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.assertEqual(self.stop("b.run", 2, number), -number)
            self.check_consistent("b.run")
            shutil.rmtree(self.path("b.run"))

        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        self.config(DIGITS + "[run]\nsteps = 120\n")
        p = subprocess.Popen(self.command("b.run"), stdout=subprocess.DEVNULL, preexec_fn=ignore)
        while p.poll() is None:
            p.send_signal(signal.SIGHUP)
            time.sleep(0.005)
        self.assertEqual(p.returncode, 0)

    def make_stopped(self):
        self.config(DIGITS + "[run]\nsteps = 100000\n")
        self.stop("b.run", 2, signal.SIGTERM)
        return self.files("b.run")

    def test_left_alone(self):
        before = self.make_stopped()
        out = ["--data", support.DATA, "--out", self.path("b.run")]
        self.bad("train", self.path("x.ini"), *out, says=["b.run", "stopped after step", "--resume"])
        for key, value in (("optimizer.rate", "0.2"), ("model.net", "linear"), ("run.seed", "1")):
            told = ["checkpoint.safetensors", "another configuration", key, value]
            self.bad("train", self.path("x.ini"), *out, "--resume", "--set", key + "=" + value, says=told)
        self.assertEqual(self.files("b.run"), before)

    def test_wrong_checkpoints(self):
        before = self.make_stopped()
        good = before["checkpoint.safetensors"]
        tensors, metadata, order = support.parse_safetensors(good)
        listed = [(n, *tensors[n]) for n in order]

        def made(metadata, tensors):
            return support.safetensors(tensors, metadata)

        def without(z, key):
            return {k: v for k, v in z.items() if k != key}

        state, totals = json.loads(metadata["state"]), json.loads(metadata["totals"])
        wrong = {
            "empty": b"",
            "cut": good[:-4],
            "another file": made({}, listed),
            "no state": made({"kind": metadata["kind"]}, listed),
            "state is no JSON": made(dict(metadata, state="{"), listed),
            "state is a list": made(dict(metadata, state="[]"), listed),
            "state has a number": made(dict(metadata, state=json.dumps(dict(state, step=5))), listed),
            "state without step": made(dict(metadata, state=json.dumps(without(state, "step"))), listed),
            "step is no number": made(dict(metadata, state=json.dumps(dict(state, step="x"))), listed),
            "no totals": made(without(metadata, "totals"), listed),
            "totals cut": made(dict(metadata, totals=json.dumps(dict(totals, gradients=[1]))), listed),
            "tensor missing": made(metadata, listed[1:]),
            "tensor turned": made(metadata, [(n, d, s[::-1], b) for n, d, s, b in listed]),
            "tensor of codes": made(metadata, [(n, "I32", s, b) for n, d, s, b in listed]),
        }
        for name, data in wrong.items():
            with self.subTest(name):
                self.write("b.run/checkpoint.safetensors", data)
                self.bad(*self.command("b.run", "--resume")[1:], says="checkpoint.safetensors")
                after = self.files("b.run")
                self.assertEqual(*(without(x, "checkpoint.safetensors") for x in (after, before)))
        os.unlink(self.path("b.run/checkpoint.safetensors"))
        self.bad(*self.command("b.run", "--resume")[1:], says=["checkpoint.safetensors", "No such file"])
        self.write("b.run/checkpoint.safetensors", good)
        for name in ("log.csv", "evaluations.csv"):
            self.write("b.run/" + name, b"step,loss\n1,2\n")
            self.bad(*self.command("b.run", "--resume")[1:], says=[name])
            self.write("b.run/" + name, before[name])
            self.write("b.run/" + name, before[name] + b"7,x\n")
            self.bad(*self.command("b.run", "--resume")[1:], says=[name])
            self.write("b.run/" + name, before[name])

    def test_rows_that_are_missing(self):
        """As a power cut would leave them where the disk had not all of a log."""
        self.config(SMALL)
        self.run_whole("b.run")
        before = self.files("b.run")
        for name in ("log.csv", "evaluations.csv"):
            lines = before[name].splitlines(keepends=True)
            self.assertGreater(len(lines), 2)
            self.write("b.run/" + name, b"".join(lines[:-1]))
            self.bad(*self.command("b.run", "--resume")[1:], says=[name, "checkpoint's step"])
            self.assertEqual(self.files("b.run"), dict(before, **{name: b"".join(lines[:-1])}))
            self.write("b.run/" + name, before[name])

    def test_one_at_a_time(self):
        self.config(DIGITS + "[run]\nsteps = 100000\n")
        p = subprocess.Popen(self.command("b.run"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(p.stderr.close)
        while p.poll() is None and not os.path.exists(self.path("b.run/checkpoint.safetensors")):
            time.sleep(0.001)
        for more in ([], ["--resume"]):
            self.bad(*self.command("b.run", *more)[1:], says=["another run is at work in this folder", "b.run"])
        p.kill()
        p.wait()

    def test_half_a_line_of_a_killed_run(self):
        self.config(SMALL)
        self.run_whole("a.run")
        want = self.files("a.run")
        for name in ("log.csv", "log.jsonl", "evaluations.csv"):
            self.write("a.run/" + name, want[name] + want[name][-20:-5])
        self.run_whole("a.run", "--resume")
        self.assertEqual(self.files("a.run"), want)

    def test_a_run_at_its_end_is_written_anew(self):
        self.config(SMALL)
        self.run_whole("a.run")
        want = self.files("a.run")
        self.config(SMALL + "[optimizer]\nrate = 0.05\n")
        self.run_whole("a.run")
        got = self.files("a.run")
        self.assertEqual(set(got), set(want))
        for name in want:
            self.assertNotEqual(got[name], want[name], name)

    def test_progress_bar_only_on_a_terminal(self):
        self.config(DIGITS + "[run]\nsteps = 100000\n")
        quiet = subprocess.Popen(self.command("a.run"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        host, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 70, 0, 0))
        p = subprocess.Popen(self.command("b.run"), stdout=subprocess.DEVNULL, stderr=terminal)
        shown, started = b"", time.time()
        while shown.count(b"\r") < 3 and time.time() - started < 100:
            shown += os.read(host, 4096)
        p.send_signal(signal.SIGTERM)
        quiet.send_signal(signal.SIGTERM)
        os.close(terminal)
        p.wait()
        os.close(host)
        for line in shown.split(b"\r")[1:3]:
            self.assertRegex(line, rb"^train \[[#.]{12}\] +\d+% (\d+ s left  )?loss \d\S* +scale 1 +skipped 0")
            self.assertLessEqual(len(line.replace(b"\033[K", b"")), 69)
        said = quiet.communicate()[1]
        self.assertTrue(not said or said.startswith(b"halfulp: stopped by "), said)


if __name__ == "__main__":
    support.main()
