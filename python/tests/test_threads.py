# SPDX-License-Identifier: MIT
"""The interpreter's lock is released: Python goes on while a call runs, and calls run side by side."""
import threading
import time

import numpy as np

import halfulp


def test_python_goes_on_during_a_call(random):
    a = random.normal(size=(32, 1024)).astype(np.float16)
    span = []

    def work():
        start = time.perf_counter()
        while time.perf_counter() - start < 0.2:  # the longest call is what counts
            before = time.perf_counter()
            halfulp.gemm(a, a.T, accum='kahan(fp(5,12,0))')
            span.append((before, time.perf_counter()))
    thread = threading.Thread(target=work)
    seen = [time.perf_counter()]
    thread.start()
    while thread.is_alive():
        seen.append(time.perf_counter())
        time.sleep(0.001)
    begin, end = max(span, key=lambda pair: pair[1] - pair[0])
    within = sum(begin < moment < end for moment in seen)
    assert end - begin > 0.02, 'the call is too short to tell'
    assert within > 5, 'Python stood still while a call ran'


def test_calls_side_by_side(random):
    x = [random.normal(size=50000).astype(np.float32) for _ in range(4)]
    once, events = [halfulp.Events() for _ in x], [halfulp.Events() for _ in x]
    wanted = [halfulp.quantize(one, 'float8_e4m3fn', 'sra:8', stream=i, events=once[i]) for i, one in enumerate(x)]
    got = [None] * 4

    def work(i):
        for _ in range(20):
            got[i] = halfulp.quantize(x[i], 'float8_e4m3fn', 'sra:8', stream=i, events=events[i], threads=2)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other, single, count in zip(wanted, got, once, events):
        np.testing.assert_array_equal(one, other)
        assert count.inexact == 20 * single.inexact > 0 and count.underflow == 20 * single.underflow
