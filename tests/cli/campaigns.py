# SPDX-License-Identifier: MIT
"""What the tests of campaigns share: lists, ledgers, and jobs that do not end by themselves."""

import contextlib
import json
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
import launchers  # noqa: E402
import support  # noqa: E402

HEAD = "halfulp-ledger 1\n"
COLUMNS = "item\tstate\twrong\tcases\tdigest\tseconds\tsources\tversion\tlevel\tdate\tprocessor\n"
SMALL = "".join("t%d triples arith float4_e2m1fn %s %d/4\n" % (4 * k + i, mode, i) for k, mode in enumerate(("rne", "sra:3")) for i in range(1, 5))
PAIRS = "".join("p-%s pairs arith float6_e2m3fn %s 1/1\n".replace("pairs arith", "pairs arith " + op) % (op, "rtz") for op in ("add", "sub", "mul", "div"))


def entry(item, state="done", wrong=0, digest="0" * 16, sources="-", date="2026-01-01"):
    return "\t".join((item, state, str(wrong), "1", digest, "1.00", sources, "0.1.0", "core", date, "a processor")) + "\n"


class CampaignCase(support.Case):
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
        rows = [line.split("\t") for line in lines[2:] if not line.startswith("part ")]
        return {row[0]: dict(zip(COLUMNS.strip().split("\t"), row)) for row in rows}

    def bits(self, path):
        return {name: (e["wrong"], e["cases"], e["digest"]) for name, e in self.entries(path).items()}

    def results(self, path, part=""):
        """How many lines of results a ledger has, or one of its parts."""
        name = path + ".ledger" + part
        return sum(not line.startswith(b"part ") for line in self.read(name).split(b"\n")[2:-1]) if os.path.exists(name) else 0

    def part(self, ledger, *entries):
        """What a part of a job has left beside a ledger."""
        return self.write(os.path.basename(ledger) + ".1-of-2", (HEAD + COLUMNS + "".join(entries)).encode())

    def waits(self, name, go):
        """The line of an item that does not end before this file is there."""
        return "%s\tprogram\t-\tsh\t-c\twhile ! test -e '%s'; do sleep 0.01; done\n" % (name, go)

    def begun(self, path, *more):
        """The command with a list of which an item does not end."""
        job = subprocess.Popen([support.HALFULP, "campaign", path, *more], stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.killed, job)
        return job

    def killed(self, job):
        """The command and, each in a group of its own, the programs that it has started."""
        for pid in support.descendants(job.pid) + [job.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(os.getpgid(pid), signal.SIGKILL)
        job.wait()

    def state(self, pid):
        """Of a process; Z: it has ended."""
        with contextlib.suppress(OSError), open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0]
        return "Z"

    def mpi(self, launcher, n, *words, shell=None):
        command, environment = launchers.job(launcher, n, *words, shell=shell)
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)
