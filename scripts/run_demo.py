#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The main job: real data in four small formats, multiplied under two accumulation models, on the CPU and by the CUDA
kernels.

    run_demo.py BUILD-DIRECTORY [RESULTS-DIRECTORY]

Everything is done by the `halfulp` command; this script only calls it, compares and prints. The CUDA kernels run on the
GPU where there is one, else on the CPU (halfulp-hostrun). HALFULP_RUN=halfulp-hostrun in the environment: that program
alone was built, and does both. Results (report.txt, report.json, .npy arrays, .svg drawings)
go to BUILD-DIRECTORY/run by default. Exit code 1 if the CPU and the kernels differ in one bit.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import time

FORMATS = ["float8_e4m3fn", "float8_e5m2", "hfp8_fwd_143", "bfloat16"]
MODELS = ["exact", "fp32"]
TRAINING = 1200  # images that the weights were fitted on (data/README.md)
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


class Job:
    def __init__(self, build, results):
        self.halfulp = build / "cli" / os.environ.get("HALFULP_RUN", "halfulp")
        self.out = results
        self.lines = []
        self.compared = self.elements = self.differing = 0
        self.device_exe, self.device = self.find_device(build / "cli" / "halfulp-hostrun")

    def say(self, text=""):
        print(text, flush=True)
        self.lines.append(text)

    def call(self, *args, exe=None, codes=(0,)):
        command = [str(a) for a in (exe or self.halfulp, *args)]
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if r.returncode not in codes:
            sys.exit("run-demo: %s: exit code %d\n%s" % (" ".join(command), r.returncode, r.stderr.decode()))
        return r.stdout.decode()

    def find_device(self, hostrun):
        """The executable whose --device cuda works here, and what the device is."""
        args = ["verify", "--only", "device", "--device", "cuda", "-f", "float4_e2m1fn", "--json"]
        for exe in (self.halfulp, hostrun):
            r = subprocess.run([str(exe), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            if r.returncode == 2:
                continue
            if r.returncode:
                sys.exit("run-demo: %s: the device does not compute what the CPU does\n%s" % (exe, r.stderr.decode()))
            return exe, json.loads(r.stdout)["device"].replace("_", " ")
        sys.exit("run-demo: neither a GPU nor halfulp-hostrun can run the CUDA kernels: %s" % r.stderr.decode())

    def both(self, name, *args):
        """Runs a command on the CPU and on the device; both arrays and both event counts must be equal."""
        cpu, device = self.out / (name + ".cpu.npy"), self.out / (name + ".cuda.npy")
        reports = []
        for path, exe, where in ((cpu, self.halfulp, "cpu"), (device, self.device_exe, "cuda")):
            call = [str(path) if a == "OUT" else a for a in args]
            reports.append(json.loads(self.call(*call, "--device", where, "--json", exe=exe)))
        diff = json.loads(self.call("compare", cpu, device, "--json", codes=(0, 1)))
        self.compared += 1
        self.elements += diff["count"]
        self.differing += diff["differing"] + (reports[0]["events"] != reports[1]["events"])
        return cpu, reports[0]


def payload(path):
    """(header, data) of an .npy file of version 1."""
    whole = path.read_bytes()
    start = 10 + struct.unpack("<H", whole[8:10])[0]
    return whole[:start], whole[start:]


def floats(path):
    data = payload(path)[1]
    return struct.unpack("<%df" % (len(data) // 4), data)


def unseen_images(path, target, columns=64):
    """The rows after the training images, as an .npy file of their own."""
    header, data = payload(path)
    data = data[4 * columns * TRAINING :]
    rows = len(data) // (4 * columns)
    text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
    target.write_bytes(header[:10] + text.ljust(len(header) - 11) + b"\n" + data)
    return rows


def right(scores, labels, classes=10):
    """Share of rows whose largest score is at their label."""
    hits = sum(max(range(classes), key=lambda c: scores[classes * i + c]) == label for i, label in enumerate(labels))
    return hits / len(labels)


def words(events):
    shown = ["%s %d" % (name.replace("_", " "), n) for name, n in events.items() if n]
    return ", ".join(shown) or "none"


def decibels(x):
    return "no error" if x in (None, "inf") else "%.2f dB" % x


def quantize(job, arrays):
    job.say("Rounding into the formats (ties to even): errors against the float32 data")
    job.say(
        "  %-8s %-14s %12s %12s %10s %9s  %s" % ("data", "format", "max error", "rms error", "SQNR", "zeros", "events")
    )
    table = []
    for label, path in arrays:
        for fmt in FORMATS:
            _, report = job.both("%s.%s" % (label, fmt), "quantize", "-f", fmt, str(path), "OUT")
            e = report["errors"]
            job.say(
                "  %-8s %-14s %12.4g %12.4g %10s %8.2f%%  %s"
                % (
                    label,
                    fmt,
                    e["max_abs"],
                    e["rms"],
                    decibels(e["sqnr_db"]),
                    100 * e["zeros"] / e["count"],
                    words(report["events"]),
                )
            )
            table.append({"data": label, **report})
        job.both(
            "%s.stochastic" % label,
            "quantize",
            "-f",
            FORMATS[0],
            "-r",
            "sra:16",
            "--seed",
            "1",
            "--codes",
            str(path),
            "OUT",
        )
    job.say()
    return table


def compare(job, x, y):
    return json.loads(job.call("compare", x, y, "-n", "0", "--json", codes=(0, 1)))


def multiply(job, images, weights, labels):
    unseen = job.out / "images.unseen.npy"
    rows = unseen_images(images, unseen)
    labels = labels[-rows:]
    reference = job.out / "scores.binary32.exact.cpu.npy"
    table = []
    job.say(
        "Products of the %d images that the weights were not fitted on and the weights, to float32: errors against the"
        % rows
    )
    job.say("exact product of the float32 data")
    job.say(
        "  %-14s %-6s %12s %12s %10s %12s  %s"
        % ("operands", "model", "max error", "rms error", "SQNR", "recognised", "events")
    )
    for fmt in ["binary32"] + FORMATS:
        for model in MODELS:
            path, report = job.both(
                "scores.%s.%s" % (fmt, model),
                "gemm",
                str(unseen),
                str(weights),
                "-o",
                "OUT",
                "--fa",
                fmt,
                "--fb",
                fmt,
                "--fd",
                "binary32",
                "--accum",
                model,
            )
            e = compare(job, reference, path).get("errors", {"max_abs": 0, "rms": 0, "sqnr_db": None})
            hits = right(floats(path), labels)
            job.say(
                "  %-14s %-6s %12.4g %12.4g %10s %11.2f%%  %s"
                % (fmt, model, e["max_abs"], e["rms"], decibels(e["sqnr_db"]), 100 * hits, words(report["events"]))
            )
            table.append({**report, "errors": e, "recognised": hits})
    for fmt in ["binary32"] + FORMATS:
        diff = compare(job, *(job.out / ("scores.%s.%s.cpu.npy" % (fmt, model)) for model in MODELS))
        job.say("  %-14s exact and fp32 differ in %d of %d elements" % (fmt, diff["differing"], diff["count"]))
    job.say()
    return table


# One row, one column, C = 1/2: 2^24 + 1 - 2^24 + 1 + 1/2 (docs/accumulators.md).
ROW, COLUMN, ADDEND = "6c003c00ec003c00" + "0" * 48, "6c003c006c003c00" + "0" * 48, "3f000000"
UNITS = ["exact", "nv.ampere.f16.f32", "amd.cdna2.f16", "fp32", "nv.volta.f16.f32"]


def accumulate(job):
    job.say("One row and column under five accumulators: 2^24 + 1 - 2^24 + 1 + 1/2")
    line = job.out / "row.txt"
    line.write_text("%s %s %s\n" % (ROW, COLUMN, ADDEND), encoding="ascii")
    table = {}
    for model in UNITS:
        formats = [] if "." in model else ["--fa", "binary16", "--fb", "binary16", "--fd", "binary32"]
        table[model] = job.call("mma", model, line, *formats).strip()
        value = struct.unpack(">f", bytes.fromhex(table[model]))[0]
        job.say("  %-20s %s  %g" % (model, table[model], value))
    job.say()
    return table


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: run_demo.py BUILD-DIRECTORY [RESULTS-DIRECTORY]")
    started = time.time()
    build = pathlib.Path(sys.argv[1]).resolve()
    results = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) == 3 else build / "run"
    results.mkdir(parents=True, exist_ok=True)
    job = Job(build, results)
    images, weights = DATA / "digits_images.npy", DATA / "digits_weights.npy"
    labels = payload(DATA / "digits_labels.npy")[1]
    job.say(
        "%s: handwritten digits (1797 images of 8 x 8) and a linear classifier fitted on them"
        % job.call("--version").strip()
    )
    job.say("CUDA kernels run as: %s" % job.device)
    job.say()
    job.say(job.call("info", FORMATS[0]))
    rounding = quantize(job, (("images", images), ("weights", weights)))
    products = multiply(job, images, weights, labels)
    accumulators = accumulate(job)
    drawings = []
    for fmt in FORMATS:
        for label, path in (("images", images), ("weights", weights)):
            drawings.append("%s.%s.svg" % (fmt, label))
            job.call("plot", "-f", fmt, "--array", os.path.relpath(path), "-o", results / drawings[-1])
    verdict = "EQUAL bit for bit" if job.differing == 0 else "DIFFERENT in %d elements" % job.differing
    job.say(
        "CPU against %s: %d arrays, %d elements, events included: %s"
        % (job.device, job.compared, job.elements, verdict)
    )
    place = results.relative_to(pathlib.Path.cwd()) if pathlib.Path.cwd() in results.parents else results
    job.say("%d drawings, the arrays and this report are in %s" % (len(drawings), place))
    job.say("%.1f seconds" % (time.time() - started))
    (results / "report.txt").write_text("\n".join(job.lines) + "\n", encoding="utf-8")
    summary = {
        "device": job.device,
        "arrays": job.compared,
        "elements": job.elements,
        "differing": job.differing,
        "rounding": rounding,
        "products": products,
        "accumulators": accumulators,
        "drawings": drawings,
    }
    (results / "report.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return 1 if job.differing else 0


if __name__ == "__main__":
    sys.exit(main())
