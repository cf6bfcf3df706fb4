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
from zero import chosen  # noqa: E402

EVERY_RUN = ('A1/cut-trunc', 'A1/cut-far', 'A2/largest-m=3', 'A3/product_scales', 'A3/whole_trunc', 'A3/whole_floor', 'A3/whole_near',
             'A4/merge_commutes', 'A4/merge_adds')
# Planted faults of tests/fault, and the query that each makes satisfiable.
FAULTS = {40: 'A1/cut-floor', 41: 'A1/cut-nearest', 55: 'A4/digits_are_merged', 63: 'A2/product-floor-3b', 216: 'A4/merge_adds'}


def everything():
    return chosen(accumulation.theorems() + accumulation.witnesses(), EVERY_RUN, FAULTS, FAULTS)


queries.everything = everything
sys.exit(prove.main())
