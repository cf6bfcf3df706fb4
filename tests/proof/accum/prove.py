#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the queries of accumulation.py: as ../prove.py asks its own, with the same operands."""
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / 'lanes')]
import accumulation  # noqa: E402
import prove  # noqa: E402
import queries  # noqa: E402

queries.everything = accumulation.everything
sys.exit(prove.main())
