# SPDX-License-Identifier: MIT
"""The tests run against the package that is installed; HALFULP_LIBRARY and PYTHONPATH make them run from the source."""
import os

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


def pytest_configure(config):
    config.addinivalue_line('markers', 'long: not in a run with HALFULP_QUICK=1, as in `make check-all`')


def pytest_collection_modifyitems(config, items):
    if os.environ.get('HALFULP_QUICK') == '1':
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker('long')])
        items[:] = [item for item in items if not item.get_closest_marker('long')]
