#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares digests with golden ones: lines FORMAT MODE INPUTS DIGEST, "#" comments. Fails if one differs or none is in both.

usage: same_digests.py GOLDEN DIGESTS"""
import sys


def read(path):
    lines = [line.split() for line in open(path) if line.strip() and not line.startswith("#")]
    return {tuple(words[:3]): words[3] for words in lines}


golden, found = read(sys.argv[1]), read(sys.argv[2])
both = [key for key in found if key in golden]
wrong = [key for key in both if golden[key] != found[key]]
for key in wrong:
    print("differs:", *key, "golden", golden[key], "here", found[key])
print(f"{len(found)} digests, {len(both)} of them golden, {len(wrong)} differ")
sys.exit(1 if wrong or not both else 0)
