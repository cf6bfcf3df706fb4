# SPDX-License-Identifier: MIT
"""The tests run against the package that is installed; HALFULP_LIBRARY and PYTHONPATH make them run from the source."""
import hypothesis
import numpy as np
import pytest

# No deadline: the machine may be busy. The same examples every time: a test that fails fails again.
hypothesis.settings.register_profile('halfulp', deadline=None, derandomize=True, max_examples=60,
                                     suppress_health_check=list(hypothesis.HealthCheck))
hypothesis.settings.load_profile('halfulp')


@pytest.fixture
def random():
    return np.random.default_rng(20261122)
