# SPDX-License-Identifier: MIT
"""Runs cases of a test of the command on a program with a planted fault (tests/fault): of_program.py PROGRAM TEST CASE...

Exit code 1: a case fails. All else, and a test that cannot be read, is 0, which is wrong where a fault is planted."""

import importlib
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
program, test, *cases = sys.argv[1:]
here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here / "tensors")]
os.environ["HALFULP"] = str(pathlib.Path(program).resolve())
os.environ["HALFULP_DATA"] = str(here.parents[1] / "data")
try:
    module = importlib.import_module(test)
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(case, module) for case in cases)
    assert all("_FailedTest" not in repr(case) for case in suite), "no such case"
except Exception as error:  # noqa: BLE001
    print("%s: %s" % (test, error))
    sys.exit(0)
sys.exit(1 if unittest.TextTestRunner(failfast=True).run(suite).failures else 0)
