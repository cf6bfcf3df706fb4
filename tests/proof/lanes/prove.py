#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the queries of theorems.py: as ../prove.py asks its own, with the same operands."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import prove  # noqa: E402
import queries  # noqa: E402
import theorems  # noqa: E402

queries.everything = theorems.everything
sys.exit(prove.main())
