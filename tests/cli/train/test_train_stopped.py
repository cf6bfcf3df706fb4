# SPDX-License-Identifier: MIT
"""halfulp train, stopped and gone on with: the same files as those of a run that was not."""

import fcntl
import json
import os
import pty
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
import support  # noqa: E402
from train_case import FILES, SMALL, TrainCase  # noqa: E402

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
        options = ["--every", "2", "--checkpoint", "5", "--data", support.DATA, "--output", self.path(out)]
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
            self.assertRegex(
                said, r"^halfulp: stopped by .* after step \d+ of \d+; to continue: halfulp train .* --resume\n$"
            )
            self.said = said
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
        out = ["--data", support.DATA, "--output", self.path("b.run")]
        self.bad(
            "train", self.path("x.ini"), *out, says=["b.run", "stopped after step", "--resume", "--overwrite", "--output"]
        )
        self.bad("train", self.path("x.ini"), *out, "--resume", "--overwrite", says=["--resume", "--overwrite"])
        for key, value in (("optimizer.rate", "0.2"), ("model.net", "linear"), ("run.seed", "1")):
            told = ["checkpoint.safetensors", "another configuration", key, value, "config.ini"]
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
            "end is no object": made(dict(metadata, totals=json.dumps(dict(totals, end=1))), listed),
            "end has two rows": made(
                dict(
                    metadata, totals=json.dumps(dict(totals, end=dict(samples=2, evaluations=0, gradients=[0] * 279)))
                ),
                listed,
            ),
            "end cut": made(
                dict(metadata, totals=json.dumps(dict(totals, end=dict(samples=1, evaluations=0, gradients=[0])))),
                listed,
            ),
            "tensor missing": made(metadata, listed[1:]),
            "tensor turned": made(metadata, [(n, d, s[::-1], b) for n, d, s, b in listed]),
            "tensor narrow": made(metadata, [(n, d, (s[0], s[1] - 1), b[: 4 * s[0] * (s[1] - 1)]) for n, d, s, b in listed]),
            "tensor short": made(metadata, [(n, d, (s[0] - 1, s[1]), b[4 * s[1] :]) for n, d, s, b in listed]),
            "tensor with three axes": made(metadata, [(n, d, (*s, 1), b) for n, d, s, b in listed]),
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

    def test_a_run_at_its_end_is_left_alone(self):
        self.config(SMALL)
        self.run_whole("a.run")
        want = self.files("a.run")
        self.config(SMALL + "[optimizer]\nrate = 0.05\n")
        told = ["a.run", "ended after step 8", "--resume", "run.epochs", "--overwrite", "--output"]
        self.bad(*self.command("a.run")[1:], says=told)
        self.assertEqual(self.files("a.run"), want)
        # Either of the two files that a run has in the end is enough.
        for gone, told in (
            ("checkpoint.safetensors", "files of an earlier run"),
            ("report.html", "ended after step 8"),
        ):
            os.unlink(self.path("a.run/" + gone))
            some = self.files("a.run")
            self.bad(*self.command("a.run")[1:], says=["a.run", told, "--overwrite", "--output"])
            self.assertEqual(self.files("a.run"), some)
            self.write("a.run/" + gone, want[gone])
        self.run_whole("a.run", "--overwrite")
        got = self.files("a.run")
        self.assertEqual(set(got), set(want))
        for name in set(want) - {"overflows.csv", "tensors.csv"}:  # nothing overflows, and the net is the same
            self.assertNotEqual(got[name], want[name], name)
        # Not even then what no run wrote.
        self.write("config.ini", b"mine")
        self.bad("train", self.path("x.ini"), "--overwrite", "--output", self.folder.name, says=["no folder of a run"])

    def test_overwrite_a_stopped_run(self):
        self.make_stopped()
        self.config(SMALL)
        self.run_whole("b.run", "--overwrite")
        self.run_whole("c.run")
        self.assertEqual(self.files("b.run"), self.files("c.run"))

    def test_prolonged(self):
        """A run at its end, made longer: the files of one that had the length from the beginning. And a shorter one."""
        runs = {
            "constant": ("", 46),
            "drop": ("schedule = drop(0.9,0.1)\n", 62),
            "Kahan": ("update = kahan\nweights = bfloat16\n", 51),
        }
        for name, (keys, end) in runs.items():
            with self.subTest(name):
                self.config(DIGITS + "[optimizer]\n" + keys)
                for out in ("a.run", "b.run", "c.run"):
                    shutil.rmtree(self.path(out), ignore_errors=True)
                # 22 steps an epoch, a row every second one: ends that are rows and ends that are not.
                self.run_whole("a.run", "--set", "run.steps=%d" % end)
                for steps in (7, 22, 30, 45, end):
                    more = ["--resume"] if os.path.exists(self.path("b.run")) else []
                    self.run_whole("b.run", "--set", "run.steps=%d" % steps, *more)
                self.assertEqual(self.files("a.run"), self.files("b.run"))
                self.run_whole("c.run", "--set", "run.steps=0", "--set", "run.epochs=0")
                self.run_whole("c.run", "--set", "run.steps=%d" % end, "--set", "run.epochs=0", "--resume")
                same = {
                    n: data
                    for n, data in self.files("c.run").items()
                    if n not in ("config.ini", "report.html", "checkpoint.safetensors")
                }
                self.assertEqual(same, {n: self.files("a.run")[n] for n in same})

    def test_prolonged_by_epochs(self):
        self.config(DIGITS)
        self.run_whole("a.run", "--set", "run.epochs=3")
        self.run_whole("b.run", "--set", "run.epochs=1")
        self.run_whole("b.run", "--set", "run.epochs=3", "--resume")
        self.assertEqual(self.files("a.run"), self.files("b.run"))
        # A stopped run, longer and shorter.
        self.config(DIGITS + "[run]\nsteps = 100000\n")
        self.assertEqual(self.stop("c.run", 3, signal.SIGTERM), -signal.SIGTERM)
        at = int(json.loads(support.parse_safetensors(self.read("c.run/checkpoint.safetensors"))[1]["state"])["step"])
        self.config(DIGITS)
        end = ["--set", "run.steps=%d" % (at + 9)]
        self.run_whole("c.run", *end, "--resume")
        self.run_whole("d.run", *end)
        self.assertEqual(self.files("c.run"), self.files("d.run"))

    def test_lengths_that_are_refused(self):
        """Where the steps that are done would have been others, and where they are too many."""
        self.config(DIGITS + "[optimizer]\nschedule = cosine\n")
        self.run_whole("a.run", "--set", "run.epochs=2")
        want = self.files("a.run")
        told = [
            "checkpoint.safetensors",
            "optimizer.schedule",
            "'cosine'",
            "44 steps there, 66 here",
            "from epoch 1 on",
            "begin again",
        ]
        self.bad(*self.command("a.run", "--resume", "--set", "run.epochs=3")[1:], says=told)
        self.bad(*self.command("a.run", "--resume", "--set", "run.epochs=1")[1:], says=["44 steps are done", "22"])
        self.assertEqual(self.files("a.run"), want)
        self.run_whole("a.run", "--resume", "--set", "run.epochs=2")
        self.assertEqual(self.files("a.run"), want)

    def test_leftovers_of_killed_runs(self):
        self.config(SMALL)
        self.run_whole("a.run", "--set", "run.steps=5")
        left = [".halfulp-N04R3U000", ".halfulp-abcdefghi"]
        kept = [".halfulp-N04R3U.x", ".halfulp-abc", ".halfulp-abcdefgh_", "halfulp-abcdefghi"]

        def make():
            for name in left + kept:
                self.write("a.run/" + name, b"half")

        for more in (["--resume"], ["--resume", "--set", "run.steps=7"], ["--overwrite"]):
            make()
            self.run_whole(
                "a.run",
                *(more if "--set" in more else more + ["--set", "run.steps=%d" % (9 if "--overwrite" in more else 5)]),
            )
            names = os.listdir(self.path("a.run"))
            self.assertEqual([n for n in left if n in names], [], more)
            self.assertEqual([n for n in kept if n not in names], [], more)
            if more == ["--resume"]:
                make()
                self.bad(*self.command("a.run", "--set", "run.steps=5")[1:], says="--overwrite")
                self.assertTrue(set(left) <= set(os.listdir(self.path("a.run"))))  # who is refused changes nothing
        # A folder that has nothing else is an empty one: its run was killed with its first file.
        os.mkdir(self.path("b.run"))
        self.write("b.run/" + left[0], b"half")
        self.run_whole("b.run")
        self.assertNotIn(left[0], os.listdir(self.path("b.run")))

    def test_pipes_for_files(self):
        """Which anyone who may write in the folder can put there: none is waited for, and nothing else changes."""
        self.config(SMALL)
        steps = ["--set", "run.steps=5"]
        self.run_whole("a.run", *steps)
        for name in FILES:
            whole = self.read("a.run/" + name)
            os.unlink(self.path("a.run/" + name))
            os.mkfifo(self.path("a.run/" + name))
            others = {n: self.read("a.run/" + n) for n in FILES if n != name}
            kept = name in ("config.ini", "log.csv", "log.jsonl", "evaluations.csv", "overflows.csv", "tensors.csv")
            self.bad(*self.command("a.run", *steps)[1:], says="a.run")
            if kept or name == "checkpoint.safetensors":
                self.bad(*self.command("a.run", "--resume", *steps)[1:], says=name + ": is no ordinary file")
            if kept:
                says = "no folder of a run" if name == "config.ini" else name + ": is no ordinary file"
                self.bad(*self.command("a.run", "--overwrite", *steps)[1:], says=says)
            self.assertEqual({n: self.read("a.run/" + n) for n in FILES if n != name}, others, name)
            os.unlink(self.path("a.run/" + name))
            self.write("a.run/" + name, whole)
        # Without a checkpoint and a report the tables tell whether there is a run.
        for name in FILES:
            if name != "config.ini":
                os.unlink(self.path("a.run/" + name))
        os.mkfifo(self.path("a.run/log.csv"))
        self.bad(*self.command("a.run", *steps)[1:], says="log.csv: is no ordinary file")

    def test_killed_before_the_first_checkpoint(self):
        """What it leaves: its configuration and its table of steps. Without a row there is nothing to lose."""
        self.config(SMALL)
        self.run_whole("a.run", "--set", "run.steps=5")
        log = self.read("a.run/log.csv")
        for name in os.listdir(self.path("a.run")):
            if name not in ("config.ini", "log.csv"):
                os.unlink(self.path("a.run/" + name))
        told = ["a.run", "files of an earlier run", "--overwrite"]
        self.bad(*self.command("a.run", "--set", "run.steps=5")[1:], says=told)
        self.assertEqual(self.read("a.run/log.csv"), log)
        self.write("a.run/log.csv", log.split(b"\n")[0] + b"\n")
        self.run_whole("a.run", "--set", "run.steps=5")

    def test_the_command_that_goes_on(self):
        """As it is printed, in a shell: options that matter, quotes where they are needed."""
        self.config(DIGITS + "[run]\nsteps = 100000\n", "x y.ini")
        args = [
            "train",
            "x y.ini",
            "--data",
            support.DATA,
            "--set",
            "run.name=it's a $name",
            "--set",
            "optimizer.rate=0.05",
            "--every",
            "3",
            "--checkpoint",
            "7",
            "--evaluate",
            "0",
            "-j",
            "2",
        ]
        p = subprocess.Popen(
            [support.HALFULP, *args], cwd=self.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        while p.poll() is None and not os.path.exists(self.path("x y.run/checkpoint.safetensors")):
            time.sleep(0.001)
        p.send_signal(signal.SIGINT)
        said = p.communicate()[1].decode()
        self.assertEqual(p.returncode, -signal.SIGINT)
        self.assertRegex(said, r"^halfulp: stopped by Interrupt after step \d+ of 100000; to continue: halfulp train ")
        words = shlex.split(said.split("to continue: ")[1])
        self.assertEqual(
            words,
            ["halfulp", *args[:-8], "-j", "2", "--every", "3", "--checkpoint", "7", "--evaluate", "0", "--resume"],
        )
        at = int(json.loads(support.parse_safetensors(self.read("x y.run/checkpoint.safetensors"))[1]["state"])["step"])
        r = support.run(*words[1:], "--set", "run.steps=%d" % (at + 4), cwd=self.folder.name)
        self.assertEqual((r.returncode, r.stderr), (0, b""))
        # From standard input: the folder has all keys.
        p = subprocess.Popen(
            [support.HALFULP, "train", "-", "--json"],
            cwd=self.folder.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        p.stdin.write(SMALL.replace("epochs = 2", "steps = 1000000").encode())
        p.stdin.close()
        while p.poll() is None and not os.path.exists(self.path("halfulp.run/checkpoint.safetensors")):
            time.sleep(0.001)
        p.send_signal(signal.SIGTERM)
        said = p.stderr.read().decode()
        p.wait()
        p.stdout.close()
        p.stderr.close()
        words = shlex.split(said.split("to continue: ")[1])
        self.assertEqual(
            words,
            ["halfulp", "train", "halfulp.run/config.ini", "--output", "halfulp.run", "--data", ".", "--json", "--resume"],
        )
        at = int(
            json.loads(support.parse_safetensors(self.read("halfulp.run/checkpoint.safetensors"))[1]["state"])["step"]
        )
        r = support.run(*words[1:], "--set", "run.steps=%d" % (at + 4), cwd=self.folder.name)
        self.assertEqual((r.returncode, r.stderr), (0, b""))

    def shown_on(self, columns, count=3):
        """The first lines that a run of the configuration shows on a terminal so wide; the run is stopped then."""
        host, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        p = subprocess.Popen(self.command("b%d.run" % columns), stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)  # reading fails where the run ends before
        shown = b""
        while shown.count(b"\r") <= count:
            shown += os.read(host, 4096)
        p.send_signal(signal.SIGTERM)
        p.wait()
        os.close(host)
        return [line.replace(b"\033[K", b"").decode() for line in shown.split(b"\r")[1:count]]

    def test_progress_bar_only_on_a_terminal(self):
        self.config(DIGITS + "[run]\nsteps = 100000\n")
        quiet = subprocess.Popen(self.command("a.run"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(1)
        quiet.send_signal(signal.SIGTERM)
        said = quiet.communicate()[1]
        self.assertTrue(not said or said.startswith(b"halfulp: stopped by "), said)

    def test_progress_bar_fits(self):
        """Step and epoch on every terminal; nothing is cut in the middle of a word."""
        self.config(DIGITS + "[run]\nsteps = 100000\n[loss]\nscale = static(1024)\n")
        first = r"^train (\[[#.]+\] )? *\d+% (\d+ (s|min|h) left  )?step \d+/100000"
        loss = r"(  loss \d+(\.\d+)?(e[+-]\d+)?)"
        rest = loss + r"(  scale 1024(  skipped 0(  overflows \d+(  underflows \d+)?)?)?)?$"
        for columns in (20, 30, 50, 80, 132):
            lines = self.shown_on(columns)
            self.assertEqual(len(lines), 2)
            for line in lines:
                with self.subTest(columns=columns, line=line):
                    self.assertLessEqual(len(line), columns - 1)
                    if columns > 30:
                        self.assertRegex(
                            line, first + r"  epoch \d+/4546" + ("(%s)?" % rest[:-1] + "$" if columns < 80 else rest)
                        )
                    else:
                        self.assertRegex(
                            line, r"^train +\d+% step \d+" if columns == 20 else first + r"(  epoch \d+/4546)?$"
                        )


if __name__ == "__main__":
    support.main()
