# SPDX-License-Identifier: MIT
"""Work on models that takes a while: interrupts, ignored signals, the progress bar."""

import os
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, safetensors  # noqa: E402


class Long(support.Case):
    def setUp(self):
        super().setUp()
        n = 1 << 20
        data = floats([0.01 * i for i in range(1024)]) * (n // 1024)
        self.write("m.safetensors", safetensors([("t%d" % i, "F32", (n // 64, 64), data) for i in range(8)]))
        self.args = [
            support.HALFULP,
            "quantize",
            "-f",
            "nvfp4",
            self.path("m.safetensors"),
            "-o",
            self.path("z.safetensors"),
            "--report",
            self.path("r.html"),
        ]

    def test_interrupt_leaves_nothing(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # SIGQUIT leaves one
        started = time.time()
        subprocess.run(self.args, stdout=subprocess.DEVNULL, check=True)
        took = time.time() - started
        want = self.read("z.safetensors")
        seen = {"stopped": 0, "complete": 0}
        for i in range(14):
            for name in ("z.safetensors", "r.html"):
                if name in self.left():
                    os.unlink(self.path(name))
            args = self.args + ["-j", "3"] if i % 2 else self.args
            p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(took * i / 10)
            p.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)[i // 2 % 3])
            code = p.wait()
            if "z.safetensors" in self.left():
                self.assertEqual(self.read("z.safetensors"), want)
                seen["complete"] += 1
            else:
                self.assertIn(-code, (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT))
                seen["stopped"] += 1
            self.assertLessEqual(set(self.left()), {"m.safetensors", "z.safetensors", "r.html"})
        print("interrupted: %(stopped)d stopped, %(complete)d complete" % seen)
        self.assertGreater(seen["stopped"], 0)

    def test_ignored_signals_do_not_stop(self):
        """As under nohup, or in the background of a shell without job control."""
        ignored = (signal.SIGHUP, signal.SIGINT)

        def ignore():
            for s in ignored:
                signal.signal(s, signal.SIG_IGN)

        p = subprocess.Popen(self.args, stdout=subprocess.DEVNULL, preexec_fn=ignore)
        while p.poll() is None:
            for s in ignored:
                p.send_signal(s)
            time.sleep(0.01)
        self.assertEqual((p.returncode, self.left()), (0, ["m.safetensors", "r.html", "z.safetensors"]))

    def test_progress_bar_only_on_a_terminal(self):
        r = subprocess.run(self.args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
        self.assertEqual(r.stderr, b"")
        # Drawn after half a second, which eight tensors take where each write waits.
        faulty = support.fault(FAULT_ONLY="pwrite", FAULT_WAIT="150")
        slow = ["env"] + ["%s=%s" % item for item in faulty.items() if item[1] != os.environ.get(item[0])]
        shown, took = support.on_terminal(slow + self.args)
        self.assertGreater(took, 1)
        self.assertIn(b"\rquantize [##", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-40:])


if __name__ == "__main__":
    support.main()
