#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Demands that hu-digest prints the same lines for the CPU and for the device.

usage: compare_digests.py HU_DIGEST [OPTION...]"""
import subprocess
import sys


def digests(device):
    run = subprocess.run([sys.argv[1], "--device", device] + sys.argv[2:], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(run.returncode)
    return run.stdout.splitlines()


cpu, device = digests("cpu"), digests("cuda")
differing = [(a, b) for a, b in zip(cpu, device) if a != b]
for a, b in differing:
    print(f"cpu    {a}\ndevice {b}")
print(f"{len(cpu)} digests of {cpu[0].split()[2]} inputs each, {len(differing)} differ")
sys.exit(1 if differing or len(cpu) != len(device) or len(set(line.split()[3] for line in cpu)) < len(cpu) // 2 else 0)
