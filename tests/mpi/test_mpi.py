# SPDX-License-Identifier: MIT
"""hu_mpi_allreduce under every MPI that is here, with 1 to 8 ranks; and with ranks that go wrong. More ranks than processors wait
long for each other: in `make check-all` 8 ranks and large buffers are under the first MPI alone, and 5 ranks are left to the long run."""
import os
import subprocess
import sys
import unittest

# launcher=program, as meson gives them
MPIS = [one.split("=", 1) for one in os.environ.get("HALFULP_MPIS", "").split(":") if one]
EXHAUSTIVE = os.environ.get("HALFULP_EXHAUSTIVE") == "1"
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def run(mpi, ranks, what):
    launcher, program = mpi
    return subprocess.run([launcher, "-n", str(ranks), program, what], env={**os.environ, **ROOT},
                          capture_output=True, text=True)


class Allreduce(unittest.TestCase):
    def test_bits(self):
        for mpi in MPIS:
            for ranks in (1, 2, 3, 5, 8) if EXHAUSTIVE else (1, 2, 3, 8) if mpi is MPIS[0] else (1, 2, 3):
                with self.subTest(mpi=mpi[0], ranks=ranks):
                    r = run(mpi, ranks, "bits")
                    self.assertEqual(r.returncode, 0, r.stderr)
                    self.assertIn("bytes compared", r.stdout)

    def test_large(self):
        for mpi in MPIS if EXHAUSTIVE else MPIS[:1]:
            with self.subTest(mpi=mpi[0]):
                r = run(mpi, 3, "large")
                self.assertEqual(r.returncode, 0, r.stderr)

    def test_different_arguments(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi[0]):
                r = run(mpi, 3, "differ")
                self.assertEqual(r.returncode, 0, r.stderr)

    def test_a_rank_that_does_not_call(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi[0]):
                r = run(mpi, 3, "late")
                self.assertIn("some rank did not make the call within 1 s", r.stdout, r.stderr)
                self.assertNotIn("rank 0 of", r.stderr)

    def test_a_rank_that_dies(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi[0]):
                r = run(mpi, 3, "killed")
                self.assertNotEqual(r.returncode, 0)


if __name__ == "__main__":
    if not MPIS:
        print("no MPI here")
        sys.exit(77)
    unittest.main()
