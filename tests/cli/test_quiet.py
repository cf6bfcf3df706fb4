# SPDX-License-Identifier: MIT
"""--quiet of every command: standard error gets errors only, and standard output is the same."""

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import support  # noqa: E402

WEIGHTS = os.path.join(support.DATA, "digits_weights.npy")
CONFIG = b"[data]\nset = teacher\n[model]\nnet = linear\n[run]\nsteps = 20\n"
LONG = "[data]\nset = gratings\n[run]\nsteps = %d\n"
# An example whose result is a file.
OUT = r" -o | --output |quantize -f \S+ \S+\.npy \S+\.npy"
SECONDS = r"\b[0-9.e-]+ (?:s|seconds|hours)\b"


class Quiet(support.Examples):
    def identity(self):
        unit = [1.0 if i == j else 0.0 for i in range(10) for j in range(10)]
        return self.write("unit.npy", support.npy("<f4", (10, 10), support.floats(unit)))

    def run_afresh(self, line):
        """What a line does in a folder of its own."""
        case = support.Examples()
        case.setUp()
        self.addCleanup(case.doCleanups)
        case.needs(line)
        return case.shell(line), case.folder.name

    def test_every_command(self):
        """The first example of each command, and the first whose result is a file, of which -q leaves no report."""
        files = 0
        for command, text in support.commands().items():
            self.assertRegex(text, r"(?m)^  -q, --quiet  ", command)
            lines = [line for line in self.examples(text.split("\nExamples:\n")[1]) if not line.startswith(tuple(support.LONG))]
            before = "".join(line + "\n" for line in lines if "halfulp " not in line)
            first = [line for line in lines if "halfulp " in line][:1]
            to_file = [line for line in lines if re.search(OUT, line) and "--json" not in line][:1]
            for line in dict.fromkeys(first + to_file):
                want, folder = self.run_afresh(before + line)
                got, other = self.run_afresh(before + line.replace("halfulp ", "halfulp -q "))
                self.assertEqual((got.returncode, got.stderr), (want.returncode, b""), line)
                shown = [re.sub(SECONDS, "", r.stdout.decode().replace(f, "")) for r, f in ((want, folder), (got, other))]
                if line in to_file:
                    self.assertEqual(shown[1], "", line)
                    files += 1
                else:
                    self.assertEqual(shown[0], shown[1], line)
        self.assertGreaterEqual(files, 5)

    def test_errors_remain(self):
        for args in (("info", "no-such-format"), ("explain", "-f", "bfloat16", "x"), ("compare", "none.npy", "none.npy"),
                     ("quantize", "-f", "bfloat16", "none.npy", self.path("z.npy")), ("encode", "--nonsense")):
            want = support.run(*args)
            got = support.run(args[0], "-q", *args[1:])
            self.assertEqual((got.returncode, got.stdout, got.stderr), (2, want.stdout, want.stderr))
            self.assertTrue(want.stderr)

    def test_summaries(self):
        """Where the result takes standard output the summary goes to standard error, and only there."""
        for args in (("quantize", "-f", "mxfp4", WEIGHTS, "-"), ("quantize", "-f", "bfloat16", "--json", WEIGHTS, "-"),
                     ("gemm", WEIGHTS, self.identity(), "-o", "-")):
            want, got = support.run(*args), support.run(args[0], "-q", *args[1:])
            self.assertEqual((got.returncode, got.stdout, got.stderr), (want.returncode, want.stdout, b""), args)
            self.assertGreater(len(want.stderr), 40, args)

    def test_notes(self):
        """A copy of the command, which has no playground beside it, says so."""
        alone = self.path("halfulp")
        shutil.copy(support.HALFULP, alone)
        os.environ.pop("HALFULP_PLAYGROUND", None)
        want, got = (subprocess.run([alone, "explain", "--open", *quiet, "-f", "bfloat16", "0.3"], capture_output=True, check=True)
                     for quiet in ((), ("-q",)))
        self.assertRegex(want.stderr, rb"^halfulp: note: the playground is not beside this program")
        self.assertEqual((got.stdout, got.stderr), (want.stdout, b""))

    # ---- on a terminal ----

    def on_terminal(self, *args):
        host, terminal = pty.openpty()
        with subprocess.Popen([support.HALFULP, *args], stdout=subprocess.PIPE, stderr=terminal) as p:
            os.close(terminal)
            shown = b""
            while True:
                try:
                    part = os.read(host, 65536)
                except OSError:
                    part = b""
                if not part:
                    break
                shown += part
            out = p.stdout.read().decode()
        os.close(host)
        return p.returncode, re.sub(SECONDS, "", out), shown

    def test_progress(self):
        if os.environ["HALFULP_TRAIN"] != "1":
            return
        for steps in (400, 1600, 6400, 25600):  # until a run is long enough for a bar
            config = self.write("long.ini", (LONG % steps).encode())
            args = ["train", config, "--overwrite", "-o", self.path("r")]
            code, _, shown = self.on_terminal(*args)
            self.assertEqual(code, 0)
            if shown:
                break
        self.assertIn(b"%", shown)
        code, _, shown = self.on_terminal(*args, "--quiet")
        self.assertEqual((code, shown), (0, b""))

    @staticmethod
    def lines(path):
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return file.readlines()

    def test_stopped(self):
        """The end of a stopped run says how to continue it; with --quiet it does not."""
        if os.environ["HALFULP_TRAIN"] != "1":
            return
        config = self.write("long.ini", (LONG % 10000000).encode())
        for more in ([], ["-q"]):
            args = [support.HALFULP, "train", config, "-o", self.path("r" + "".join(more)), *more]
            with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
                log = os.path.join(args[4], "log.csv")
                while len(self.lines(log)) < 4:  # a head, and rows: steps are being done
                    self.assertIsNone(p.poll())
                    time.sleep(0.02)
                p.send_signal(signal.SIGINT)
                out, err = p.communicate()
            self.assertEqual((p.returncode, out), (-signal.SIGINT, b""))
            self.assertEqual(b"to continue" in err, not more)
            self.assertEqual(err == b"", bool(more))


if __name__ == "__main__":
    support.main()
