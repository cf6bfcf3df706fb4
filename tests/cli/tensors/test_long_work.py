# SPDX-License-Identifier: MIT
"""Work on models that takes a while: interrupts, ignored signals, the progress bar, memory."""

import json
import os
import resource
import signal
import struct
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


STARTER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_maxrss, used.ru_utime + used.ru_stime)
"""


class Large(support.Case):
    """Folders for other programs from a model that is larger than what the command may keep of it: 96 MB, or 4 GB, in one file."""

    ROWS, COLS = (131072, 8192) if os.environ.get("HALFULP_EXHAUSTIVE") == "1" else (3072, 8192)
    MOST = 48  # MB of memory, of 11 that were measured

    def repeated(self, path, size, skip, what):
        """Of a tensor whose rows repeat every 64 rows, so does what is made of it."""
        with open(path, "rb") as file:
            length = struct.unpack("<Q", file.read(8))[0]
            header = json.loads(file.read(length))
            for name, entry in header.items():
                if not name.endswith(what):
                    continue
                begin, end = entry["data_offsets"]
                file.seek(8 + length + begin)
                first = file.read(size)
                self.assertEqual((end - begin) % size, 0)
                self.assertTrue(any(first))
                for _ in range((end - begin) // size - 1):
                    self.assertEqual(file.read(size), first, name)
                skip -= 1
        self.assertEqual(skip, 0)

    def peak(self, *args):
        """Checks how much memory a command has at most, started by a small process whose own it inherits."""
        started = time.time()
        r = subprocess.run([sys.executable, "-c", STARTER, support.HALFULP, *args], stdout=subprocess.PIPE, check=True)
        code, kilobytes, seconds = r.stdout.split()
        self.assertEqual(code, b"0", args)
        print("%s: %.1f MB, %.1f s, %.1f s of the processor" % (
            " ".join(args[:4]), int(kilobytes) / 1024, time.time() - started, float(seconds)))
        if not support.SANITIZED:
            self.assertLess(int(kilobytes) / 1024, self.MOST, args)

    def test_memory(self):
        numbers = b"".join(struct.pack("<f", (i * 7919 % 4093 - 2046) * 2.0 ** (i % 11 - 20))[2:] for i in range(64 * self.COLS))
        size = self.ROWS * self.COLS * 2
        tensors = {"l%d.weight" % i: {"dtype": "BF16", "shape": [self.ROWS, self.COLS], "data_offsets": [i * size, i * size + size]} for i in (0, 1)}
        text = json.dumps(tensors).encode()
        with open(self.path("m.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for _ in range(2 * size // len(numbers)):
                file.write(numbers)
        source = self.path("m.safetensors")
        # Two passes over a tensor; scales of rows; blocks. The way back, and from one layout to another.
        for target, codes, scales in (("ct-nvfp4", "weight_packed", self.COLS // 16), ("ct-fp8-channel", "weight", 2), ("hf-fp8", "weight", 0)):
            self.peak("quantize", "-q", "--layout", target, source, self.path(target))
            file = self.path(target + "/model.safetensors")
            self.repeated(file, 64 * self.COLS // (2 if target == "ct-nvfp4" else 1), 2, "." + codes)
            if scales:
                self.repeated(file, 64 * scales, 2, ".weight_scale")
        self.peak("decode", "-q", "--dtype", "BF16", self.path("hf-fp8"), self.path("values"))
        self.repeated(self.path("values/model.safetensors"), 128 * self.COLS, 2, ".weight")
        self.peak("quantize", "-q", "--layout", "ct-nvfp4", self.path("hf-fp8"), self.path("again"))
        self.repeated(self.path("again/model.safetensors"), 32 * self.COLS, 2, ".weight_packed")


if __name__ == "__main__":
    support.main()
