# SPDX-License-Identifier: MIT
"""What the tests of the command share: running it, and .npy files written by hand."""

import contextlib
import functools
import itertools
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HALFULP = os.environ["HALFULP"]
DATA = os.environ["HALFULP_DATA"]
with open(HALFULP, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()

# Who runs the tests in the background of a shell hands down signals that are ignored, and so would the command be
# started: what stops it here has to be told apart from that.
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def run(*args, stdin=b"", cwd=None):
    # A sanitizer's own exit code must not look like one of the command's.
    env = dict(os.environ)
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        env[name] = env.get(name, "") + ":exitcode=99:halt_on_error=1"
    if isinstance(stdin, str):
        stdin = stdin.encode()
    return subprocess.run(
        [HALFULP, *args],
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=env,
        check=False,
    )


def preloaded(library, **settings):
    """The environment under which a command meets a library first. By name and folder: in LD_PRELOAD a path with a space
    in it is two."""
    assert os.path.exists(library)  # which the loader would only mention on standard error
    folder, name = os.path.split(library)
    folders = [folder] + [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path]
    return dict(os.environ, LD_PRELOAD=name, LD_LIBRARY_PATH=":".join(folders), **settings)


def fault(**settings):
    """That of libfault.so (fault.c)."""
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"
    return preloaded(os.environ["HALFULP_FAULT"], ASAN_OPTIONS=asan, **settings)


def descendants(pid):
    """The processes that one has started, and those that they have, as far as they are not orphans."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/stat" % entry) as f:
            parents[int(entry)] = int(f.read().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def npy(descr, shape, data, fortran=False, version=1, header=None):
    """The bytes of an .npy file."""
    if header is None:
        header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, tuple(shape))
    text = header.encode("latin-1")
    start = 10 if version == 1 else 12
    text += b" " * (-(start + len(text) + 1) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def floats(values, code="<f"):
    """Numbers as bytes: "<f" little-endian binary32, ">d" big-endian binary64, "<e" binary16."""
    return struct.pack("%s%d%s" % (code[0], len(values), code[1]), *values)


def parse_npy(data):
    """(descr, fortran, shape, payload) of a version 1 file, by Python's own reader of literals."""
    import ast

    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    assert (10 + length) % 64 == 0
    head = ast.literal_eval(data[10 : 10 + length].decode("latin-1").strip())
    assert set(head) == {"descr", "fortran_order", "shape"}
    return head["descr"], head["fortran_order"], head["shape"], data[10 + length :]


def safetensors(tensors, metadata=None, pad=True):
    """The bytes of a .safetensors file from (name, dtype, shape, bytes), in that order."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, payload in tensors:
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(payload)]}
        data += payload
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8 if pad else 0)
    return struct.pack("<Q", len(text)) + text + data


def parse_safetensors(data):
    """({name: (dtype, shape, bytes)}, metadata, names in the order of their bytes) by Python's own reader of JSON."""
    length = struct.unpack("<Q", data[:8])[0]
    assert length % 8 == 0 and data[8:9] == b"{"
    header = json.loads(data[8 : 8 + length].decode("utf-8"))
    metadata = header.pop("__metadata__", {})
    tensors, order, end = {}, sorted(header, key=lambda n: header[n]["data_offsets"]), 0
    for name in order:
        entry = header[name]
        begin, stop = entry["data_offsets"]
        assert set(entry) == {"dtype", "shape", "data_offsets"} and begin == end, (name, entry)
        tensors[name] = (entry["dtype"], tuple(entry["shape"]), data[8 + length + begin : 8 + length + stop])
        end = stop
    assert 8 + length + end == len(data)
    return tensors, metadata, order


def paths(root, form):
    """Marks in the paths of a drawing that consist of marks of one form: the path, and the numbers of each mark."""
    form = form.replace("N", r"(-?[\d.]+)")
    for e in root.iter():
        if e.tag.endswith("path") and re.fullmatch("(?:%s)+" % form, e.get("d")):
            yield from ((e, *map(float, mark)) for mark in re.findall(form, e.get("d")))


def lines(root):
    """Lines of a drawing, ticks and rules with them: (x1, y1, x2, y2)."""
    found = [tuple(float(e.get(k)) for k in ("x1", "y1", "x2", "y2")) for e in root.iter() if e.tag.endswith("line") and e.get("x1")]
    found += [(x, y, x, end) for _, x, y, end in paths(root, "MN NVN")]
    return found + [(x, y, end, y) for _, x, y, end in paths(root, "MN NHN")]


def bars(root):
    """Bars of a drawing: (x, y, width, height, fill)."""
    return [(x, y, w, h, e.get("fill")) for e, x, y, w, h, _ in paths(root, "MN NhNvNhNz")]


def dots(root):
    """Dots of a drawing: (x, y, radius, colour)."""
    return [(x, y, float(e.get("stroke-width")) / 2, e.get("stroke")) for e, x, y in paths(root, "MN Nh0")]


def on_terminal(args):
    """What a command shows on a terminal behind its standard error, and how long it took."""
    host, terminal = pty.openpty()
    started = time.time()
    subprocess.run(args, stdout=subprocess.DEVNULL, stderr=terminal, check=True)
    took = time.time() - started
    os.close(terminal)
    try:
        shown = os.read(host, 65536)
    except OSError:
        shown = b""
    os.close(host)
    return shown, took


@functools.cache
def commands():
    """{name: the text of its --help}, of the commands that this build has; the names are those of `halfulp help`."""
    texts = {}
    for one in json.loads(run("help", "--json").stdout):
        r = run(one["id"], "--help")
        assert r.returncode == 0 or b"this build" in r.stderr, r
        if r.returncode == 0:
            texts[one["id"]] = r.stdout.decode()
    assert len(texts) > 15
    return texts


def options(text):
    """[(letter, long name, argument, meaning)] of a --help, whose lines are folded."""
    listed = text.split("\nOptions:\n")[1].split("\nExamples:\n")[0]
    listed = re.sub(r"\n {29}(?=\S)", " ", listed)
    return re.findall(r"(?m)^  (?:-(\w), |    )--([\w-]+)(?: ([A-Z][\w./=]*))?(?:  +| )(.*)$", listed)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="halfulp-test-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def put(self, name, values, shape=None, code="<f", **kw):
        """An array of numbers, in one of the types of `struct`, as .npy; its path."""
        descr = {"e": "%sf2", "f": "%sf4", "d": "%sf8", "B": "|u1", "H": "%su2", "I": "%su4"}[code[1]]
        descr = descr % code[0] if "%" in descr else descr
        return self.write(name, npy(descr, (len(values),) if shape is None else shape, floats(values, code), **kw))

    def wait_until(self, holds, what, process=None):
        """Until this holds, however long it takes: meson has a limit for the test. A process that has ended by then fails it."""
        for turn in itertools.count():
            ended = process is not None and process.poll() is not None
            if holds():
                return
            self.assertFalse(ended, "the process has ended: " + what)
            if turn == 1000:
                print("waiting: " + what, flush=True)
            time.sleep(0.01)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def ok(self, *args, code=0, **kw):
        r = run(*args, **kw)
        self.assertEqual(r.returncode, code, (args, r.stdout[-400:], r.stderr[-400:]))
        return r.stdout.decode()

    def starved(self, *args, **settings):
        """The command with memory that runs out, as no_memory.c and its settings have it."""
        env = preloaded(os.environ["HALFULP_NO_MEMORY"], **settings)
        return subprocess.run([HALFULP, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, check=False)

    def bad(self, *args, says=(), **kw):
        """Exit code 2 and exactly one line on stderr that starts with halfulp: and holds every text in `says`."""
        r = run(*args, **kw)
        error = r.stderr.decode()
        self.assertEqual(r.returncode, 2, (args, r.stdout[-300:], error))
        self.assertTrue(error.startswith("halfulp: "), error)
        self.assertEqual(error.count("\n"), 1, error)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, error)
        return r.stdout.decode()

    def check_numbers(self, text):
        """Numbers of a JSON text: whole ones have no point and no exponent, others the fewest digits."""

        def digits(literal):
            return literal.lower().split("e")[0].replace("-", "").replace(".", "").strip("0")

        for literal in re.findall(r"-?\d[^,}\]\s]*", re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)):
            x = float(literal)
            if x == int(x) and abs(x) < 2**53:
                self.assertRegex(literal, r"^-?\d+$")
            else:
                self.assertLessEqual(len(digits(literal)), len(digits(repr(x))), literal)

    def left(self):
        return sorted(os.listdir(self.folder.name))


# Examples that take more time than all others together, which only the long run has, and the test that runs the same command for a
# shorter time.
LONG = {
    "halfulp bench --seconds 5": "test_bench.py",
    "halfulp experiment bfloat16-updates": "test_experiment.py",
    "halfulp experiment --paper s2fp8 --table 4 --budget 20s": "test_papers.py",
}


class Examples(Case):
    """Example lines of the command, each run by a shell as a reader would."""

    def setUp(self):
        super().setUp()
        for name in os.listdir(DATA):
            if name.endswith(".npy"):
                shutil.copy(os.path.join(DATA, name), self.folder.name)
        os.mkdir(self.path("bin"))
        os.symlink(HALFULP, self.path("bin/halfulp"))

    def shell(self, text):
        env = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"])
        text = text.replace("/tmp/", self.folder.name + "/")
        return subprocess.run(
            ["sh", "-e"],
            input=text.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder.name,
            env=env,
            check=False,
        )

    def needs(self, line):
        """Files that an example takes for granted."""
        if "x.npy" in line or "cpu.npy" in line:
            for name in ("cpu.npy", "gpu.npy", "x.npy", "y.npy"):
                shutil.copy(self.path("digits_weights.npy"), self.path(name))
        if "model-fp8/" in line:
            os.mkdir(self.path("model-fp8"))
            weight = ("model.layers.0.mlp.up_proj.weight", "F8_E4M3", (4, 32), bytes(range(0x30, 0x50)) * 4)
            scale = ("model.layers.0.mlp.up_proj.weight_scale", "F32", (1,), floats([0.25]))
            self.write("model-fp8/model.safetensors", safetensors([weight, scale], {"format": "pt"}))

    def examples(self, text):
        """Those that this build can do, in a time that a test has."""
        for line in text.replace("\\\n", " ").split("\n"):
            line = " ".join(line.split())
            if not line or "--level full" in line or "--device cuda" in line:  # a device: test_verify.py
                continue
            if line.startswith("halfulp verify -f") and os.environ["HALFULP_ORACLE"] != "1":
                continue
            if (".safetensors" in line or "--layout" in line) and os.environ["HALFULP_SAFETENSORS"] != "1":
                continue
            yield line


def main():
    unittest.main(verbosity=2, argv=sys.argv[:1])
