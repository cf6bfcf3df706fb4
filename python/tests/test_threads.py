# SPDX-License-Identifier: MIT
"""The interpreter's lock is released: Python continues while a call runs, and calls run side by side."""
import ctypes
import sys
import threading
import time

import numpy as np
import pytest

import halfulp
from halfulp import _abi as abi, _structs as structs
from halfulp._pointer import How, Matrix


@pytest.fixture
def no_switching():
    """No thread of Python has to hand the lock on: another one runs where a call releases it, and nowhere else."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    yield
    sys.setswitchinterval(before)


def runs_during_a_call(rows):
    """Whether this thread ran between the begin and the end of a call in another one, which between the two does
    nothing else that releases the lock."""
    a, d, begun, ended = np.ones((rows, 1024), np.float16), np.zeros((rows, rows), np.float32), [], []
    one = Matrix(a.ctypes.data, 1024, 'binary16', True)
    product = structs.hu_product(rows, rows, 1024, Matrix(d.ctypes.data, rows, 'binary32').result(), one.operand(),
                                 one._replace(transposed=True).operand())
    model, way = halfulp.Accumulator('kahan(fp(5,12,0))'), How()
    product.accum = ctypes.addressof(model._c)

    def work():
        begun.append(True)
        way.run('multiply', abi.address(product))
        ended.append(True)
    thread = threading.Thread(target=work)
    thread.start()
    while not begun:
        time.sleep(0.0001)
    seen = not ended
    thread.join()
    assert d[0, 0] == 1024
    return seen


def test_python_goes_on_during_a_call(no_switching):
    """A busy machine may let the call end before it lets this thread run: then a longer call, of up to some seconds."""
    assert any(runs_during_a_call(rows) for rows in (16, 32, 64, 128, 256)), 'Python stood still'


def test_calls_side_by_side(random):
    x = [random.normal(size=50000).astype(np.float32) for _ in range(4)]
    once, events = [halfulp.Events() for _ in x], [halfulp.Events() for _ in x]
    expected = [halfulp.quantize(one, 'float8_e4m3fn', 'sra:8', stream=i, events=once[i]) for i, one in enumerate(x)]
    got = [None] * 4

    def work(i):
        for _ in range(20):
            got[i] = halfulp.quantize(x[i], 'float8_e4m3fn', 'sra:8', stream=i, events=events[i], threads=2)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other, single, count in zip(expected, got, once, events):
        np.testing.assert_array_equal(one, other)
        assert count.inexact == 20 * single.inexact > 0 and count.underflow == 20 * single.underflow
