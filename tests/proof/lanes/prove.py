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
from zero import chosen  # noqa: E402

EVERY_RUN = ('L1/codes/m=3', 'L2/codes/m=3', 'L2/values/m=3', 'L3/codes-rtn-m=3',
             'L4/codes/m=3', 'L5/beyond-codes/m=3', 'L5/below-codes/m=3', 'L5/checks/m=3', 'L6/quick/sra-m=3', 'L7/decode_slowly/m=3',
             'L7/decode_plain1/m=3', 'L7/decode_plain2/m=3', 'L10/nearest_codes/m=1')

# Planted faults of tests/fault/lanes.txt, and the query that each makes satisfiable.
FAULTS = {500: 'L1/codes/m=3', 501: 'L1/codes/m=3', 502: 'L1/codes/m=0', 503: 'L1/codes/m=3', 504: 'L2/codes/m=3', 505: 'L2/codes/m=3',
          506: 'L3/codes-rnz-m=3', 507: 'L3/codes-rto-m=3', 508: 'L3/codes-rnz-m=3', 509: 'L3/codes-rtn-m=3', 510: 'L4/codes/m=3',
          511: 'L4/codes/m=3', 512: 'L4/values-within/m=3', 513: 'L5/beyond-codes/m=3', 514: 'L5/below-codes/m=3',
          515: 'L6/quick/sra-m=3', 516: 'L6/slow/src:7-m=3', 517: 'L6/sums/sra:7-m=3', 518: 'L7/decode_plain2/m=3',
          519: 'L7/decode_slowly/m=3', 520: 'L8/binary64/m=3', 521: 'L8/binary64/m=3', 522: 'L9/shift_codes-rne-m=3',
          523: 'L9/times_values-rne-m=3'}


def everything():
    return chosen(theorems.theorems() + theorems.witnesses(), EVERY_RUN, FAULTS, (501, 510))  # a fault's sources are compiled anew


queries.everything = everything
sys.exit(prove.main())
