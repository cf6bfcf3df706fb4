# SPDX-License-Identifier: MIT
"""What the tests of sweeps share: a configuration, the command's arguments, its files and processes."""

import contextlib
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

CONFIG = b"""
[run]
batch = 32
steps = 12
[data]
set = digits
raw = yes
[model]
net = mlp(layers=2,units=16)
[optimizer]
rate = 0.01
momentum = 0.9
[loss]
scale = gradscaler(growth_interval=5)
[assignment]
kind = demote
ratio = 1
"""
VALUES = ["0", "0.5", "1"]
SEEDS = [0, 1]
RESULTS = ("summary.csv", "summary.json", "plot.svg")


class SweepCase(support.Case):
    def setUp(self):
        super().setUp()
        self.config = self.write("c.ini", CONFIG)

    def args(self, out, *more, values="0,0.5,1", seeds="2"):
        usual = [("--values", values), ("--seeds", seeds)]
        chosen = [x for option in usual if option[0] not in more for x in option]
        return ["sweep", self.config, "--data", support.DATA, *chosen, "-o", self.path(out), *more]

    def results(self, out):
        return [self.read(os.path.join(out, name)) for name in RESULTS]

    def lines(self, out):
        """{name of a run: its line}, of the ledger and its parts; later lines count, and those that name a part's list do not."""
        found, folder = {}, self.path(out)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.startswith("runs.ledger"):
                text = self.read(os.path.join(out, name)).decode()
                found.update((line.split("\t")[0], line) for line in text[: text.rfind("\n") + 1].split("\n")[2:-1]
                             if not line.startswith("part "))
        return found

    def runs(self, out):
        """What the ledger has of each run, without the seconds."""
        found = {}
        for name, line in self.lines(out).items():
            fields = line.split("\t")
            found[name] = dict(json.loads(fields[11]), state=fields[1], digest=fields[4], sources=fields[6])
        return found

    def run_names(self, out):
        return sorted(self.lines(out))

    def processes(self, out):
        """Processes that have this folder among their arguments."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    if self.path(out).encode() in f.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def opened(self, pid):
        folder, found = "/proc/%d/fd" % pid, []
        for fd in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):  # closed in the meantime
                found.append(os.readlink(os.path.join(folder, fd)))
        return found

    def end_all(self, out, number=signal.SIGKILL):
        for pid in self.processes(out):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    # ---- what comes out ----
