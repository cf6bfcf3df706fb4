#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the ptxas reports of the build and fails on a spill, and on a stack frame that the file is not granted.

usage: ptxas_report.py ARCHITECTURES [STEM:ARCHITECTURES...] [STEM=BYTES...] REPORT...
ARCHITECTURES: how many machine codes each kernel must have, those of STEM.ptxas another number. STEM=BYTES: functions of STEM.ptxas may have stack frames up to
so many bytes, for arrays with a running index and what functions share by address. Nobody may spill."""
import os
import re
import sys

wanted = int(sys.argv[1])
granted = dict(a.split("=") for a in sys.argv[2:] if "=" in a)
special = dict(a.split(":") for a in sys.argv[2:] if ":" in a)
functions, bad, entries, name, largest = {}, [], {}, None, {}
for path in [a for a in sys.argv[2:] if "=" not in a and ":" not in a]:
    stem = os.path.basename(path).rsplit(".", 1)[0]
    most = int(granted.get(stem, 0))
    for line in open(path):
        m = re.search(r"Compiling entry function '(\S+)' for '(\S+)'", line)
        if m:
            name = m.groups()
            entries.setdefault((stem, m.group(1)), set()).add(m.group(2))
        m = re.search(r"Function properties for (\S+)", line)
        if m:
            name = (m.group(1), name[1] if name else "?")
        m = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if m:
            functions[(path, name)] = functions.get((path, name), 0) + 1
            frame, stores, loads = (int(n) for n in m.groups())
            largest[stem] = max(largest.get(stem, 0), frame)
            if frame > most or stores or loads:
                bad.append(f"{path}: {name[0]} for {name[1]}: {m.group(0)}, {most} bytes of frame granted")
            name = (name[0], name[1])
        m = re.search(r"Used (\d+) registers.*?(?:(\d+) bytes lmem)?", line)
        if m and m.group(2) and int(m.group(2)):
            bad.append(f"{path}: local memory: {line.strip()}")
for line in bad:
    print(line)
expected = {entry: int(special.get(entry[0], wanted)) for entry in entries}
short = [entry for entry, archs in entries.items() if len(archs) != expected[entry]]
for entry in short:
    print(f"{entry[1]}: machine code for {sorted(entries[entry])}, {expected[entry]} expected")
for stem in granted:
    print(f"{stem}: stack frames of up to {largest.get(stem, 0)} bytes, {granted[stem]} granted")
print(f"{len(entries)} kernels, {len(functions)} reports on functions, {len(bad)} with spills or local memory")
sys.exit(1 if bad or short or not entries or len(functions) < sum(expected.values()) else 0)
