# SPDX-License-Identifier: MIT
"""The command as a job of several processes, under each MPI library that the tests were built with."""

import os
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

# (how it is started, its program)
LAUNCHERS = [one.split("=") for one in os.environ.get("HALFULP_MPIS", "").split(":") if one]


def job(launcher, n, *words, shell=None):
    """The command line and the environment of n processes. shell: what each of them starts in place of halfulp."""
    start, program = launcher
    environment = dict(os.environ, HALFULP_MPI=program, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_plm="isolated",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none", LC_ALL="C")
    return [start, "-n", str(n)] + (shell or [support.HALFULP]) + list(words), environment
