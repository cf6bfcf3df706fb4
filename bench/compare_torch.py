#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A step of training: this engine in binary32 against PyTorch on the CPU, same networks, batches and optimizers; and
in low precision against its own binary32.

  compare_torch.py BUILD [--threads 1] [--rounds 5] [--only NETWORK] [--binary32]

The two run in turn, the best of each counts; with one thread times are CPU times, which other programs do not
lengthen. PyTorch's side is what a user of its modules writes (torch.nn, torch.optim), in eager mode; inputs and labels
are in memory before the clock starts, as ours are.
"""
import argparse
import csv
import os
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--only")
parser.add_argument("--binary32", action="store_true", help="no other precision")
options = parser.parse_args()
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(options.threads)

import torch  # noqa: E402  (after the number of threads is settled)
from torch import nn  # noqa: E402
from torch_networks import NETWORKS  # noqa: E402

GOAL = 1.2  # of PyTorch's time
LOW_GOAL = 1.6  # of the engine's own time in binary32
LOW = {"FP8": "float8_e5m2, products", "S2FP8": "S2FP8, products"}  # as bench/train_nets.h names them


def torch_step(name):
    """A call that makes one step."""
    network = NETWORKS[name]
    torch.manual_seed(1)
    net = network.make()
    x, y = network.batch()
    loss = nn.CrossEntropyLoss()
    if network.adam:
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-6, weight_decay=0)
    else:
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-6, momentum=0.9)

    def step():
        optimizer.zero_grad()
        loss(net(*x), y).backward()
        optimizer.step()

    for _ in range(2):
        step()
    return step


def seconds(step, clock):
    """Returns the seconds per step of the best of some spells. With several threads spells are short and many, since other
    programs disturb only some of them."""
    spells, least = (3, 0.1) if options.threads == 1 else (12, 0.06)
    t = clock()
    step()
    repeat = max(1, int(least / spells / (clock() - t)))
    best = float("inf")
    for _ in range(spells):
        t = clock()
        for _ in range(repeat):
            step()
        best = min(best, (clock() - t) / repeat)
    return best


def engine_seconds(name, precision):
    """Seconds of a step in a precision, in binary32."""
    command = [os.path.join(options.build, "bench", "bench_train"), "--only", name, "--csv"]
    command += ["--rounds", "3" if options.threads == 1 else "12", "--threads", str(options.threads)]
    command += (["--precision", LOW[precision]] if precision else ["--binary32"])
    lines = csv.DictReader(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
    figures = {}
    for line in lines:  # of the first precision with this word
        figures.setdefault(line["unit"], float(line["figure"]))
    return 1e-6 * figures["us"], 1e-6 * figures["us"] / figures.get("time / binary32", 1)


def row_of(name, clock):
    """The best time of a step: PyTorch's, the engine's in binary32, the engine's in each low precision."""
    step, theirs, ours = torch_step(name), float("inf"), float("inf")
    low = {} if options.binary32 else {precision: float("inf") for precision in LOW}
    for _ in range(options.rounds):
        theirs = min(theirs, seconds(step, clock))
        if not low:
            ours = min(ours, *engine_seconds(name, None))
        for precision in low:
            subject, reference = engine_seconds(name, precision)
            low[precision], ours = min(low[precision], subject), min(ours, reference)
    return theirs, ours, low


def verdict(ratio, goal):
    return f"{ratio:5.2f} ({'met' if ratio <= goal else 'missed'})"


def main():
    torch.set_num_threads(options.threads)
    names = [options.only] if options.only else list(NETWORKS)
    if names[0] not in NETWORKS:
        sys.exit("compare_torch.py: networks: " + ", ".join(NETWORKS))
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"PyTorch {torch.__version__}, threads {options.threads}: a step; goals: {GOAL:g} of PyTorch's time in binary32,"
          f" {LOW_GOAL:g} of binary32's in low precision")
    for name in names:
        theirs, ours, low = row_of(name, clock)
        rest = "".join(f"  {k} {verdict(t / ours, LOW_GOAL)}" for k, t in low.items())
        print(f"  {name:14s} engine {1e3 * ours:8.3f} ms  PyTorch {1e3 * theirs:8.3f} ms  "
              f"{verdict(ours / theirs, GOAL)}{rest}", flush=True)


main()
