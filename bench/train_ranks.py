#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A step of training on several MPI ranks against the same step on one, each rank with one thread.

  train_ranks.py BUILD [--ranks 2] [--rounds 5] [--steps 200] [--batch 128] [--net 'conv(channels=8/16/16)']
                       [--set KEY=VALUE]... [--mpirun mpirun]

The network is bench_train's `conv` (16 x 16 pixels, batch norm); the batch is cut into as many shards as there are
ranks, in either run. A step's time is the difference between a long and a short run over the steps that one has more,
so that starting up does not count. The runs take turns, and the best of each counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
GOAL = 1.7
SHORT = 20


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--net", default="conv(channels=8/16/16)")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--mpirun", default="mpirun")
    return parser.parse_args()


def config(options):
    return (
        "[data]\nset = gratings\nsize = 16\ncount = %d\ntest = %d\n[model]\nnet = %s\n[run]\nbatch = %d\nthreads = 1\n"
        "[parallel]\nshards = %d\n"
        % (10 * options.batch, options.batch, options.net, options.batch, options.ranks)
    )


def run(options, folder, ranks, steps):
    """Seconds, and the digest of the weights."""
    build = os.path.abspath(options.build)
    command = [options.mpirun, "-n", str(ranks)] if ranks > 1 else []
    command += [os.path.join(build, "cli", "halfulp"), "train", os.path.join(folder, "x.ini"), "--overwrite", "--json"]
    command += ["--evaluate", "0", "--every", "1000000", "--checkpoint", "0", "--set", "run.steps=%d" % steps]
    for pair in options.set:
        command += ["--set", pair]
    environment = {**os.environ, **ENVIRONMENT, "HALFULP_MPI": os.path.join(build, "mpi", "halfulp-mpi")}
    start = time.monotonic()
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)
    took = time.monotonic() - start
    if r.returncode:
        sys.exit(r.stderr.decode())
    return took, json.loads(r.stdout)["digest"]


def step(options, folder, ranks):
    short, _ = run(options, folder, ranks, SHORT)
    whole, digest = run(options, folder, ranks, SHORT + options.steps)
    return (whole - short) / options.steps, digest


def main():
    options = options_of()
    best = {1: float("inf"), options.ranks: float("inf")}
    digests = set()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "x.ini"), "w") as f:
            f.write(config(options))
        for _ in range(options.rounds):
            for ranks in best:
                took, digest = step(options, folder, ranks)
                best[ranks] = min(best[ranks], took)
                digests.add(digest)
    if len(digests) != 1:
        sys.exit("train_ranks: other weights on %d ranks than on one" % options.ranks)
    one, some = best[1], best[options.ranks]
    verdict = "met" if one / some >= GOAL else "missed"
    print(
        "%s, batch %d, %d shards: %.2f ms a step on one rank, %.2f ms on %d: %.2f times as fast (goal for two %g, %s)"
        % (options.net, options.batch, options.ranks, 1e3 * one, 1e3 * some, options.ranks, one / some, GOAL, verdict)
    )


if __name__ == "__main__":
    main()
