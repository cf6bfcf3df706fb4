# SPDX-License-Identifier: MIT
"""Expressions under rules of rounding (halfulp.path), each step done by the package's own operations."""
import numpy as np
import pytest

import halfulp


def drawn(random, name):
    return halfulp.quantize(np.float32(random.normal(size=(7, 300)) * 2), name)


def bf16(x):
    return halfulp.quantize(np.float32(x), 'bfloat16')


def test_roundings_where_a_rule_has_them(random):
    x, w, b = (drawn(random, 'bfloat16') for _ in range(3))
    each = bf16(bf16(x * w) + b)
    end = bf16(x * w + b)
    joined = bf16(halfulp.fma(x, w, b, to='binary32'))
    np.testing.assert_array_equal(halfulp.path('bf16: x * w + b', x, w, b), each)
    np.testing.assert_array_equal(halfulp.path('bf16: x * w + b', x, w, b, rule='inductor'), end)
    np.testing.assert_array_equal(halfulp.path('bf16: x * w + b', w=w, x=x, b=b, rule='fma'), joined)
    np.testing.assert_array_equal(halfulp.path('bf16: relu(x * w + b)', x, b=b, w=w, rule='eager'), np.maximum(each, 0))
    assert (each != end).any()
    made = halfulp.path('bf16: x * w : float8_e4m3fn', x, 0.5, rule='end')
    np.testing.assert_array_equal(made, halfulp.quantize(x * np.float32(0.5), 'float8_e4m3fn'))
    assert made.shape == x.shape and made.dtype == np.float32
    np.testing.assert_array_equal(halfulp.path('bf16: exp(x)', x, rule='inductor;functions=correct'), bf16(halfulp.exp(x, to='binary32')))


def test_numbers_and_rules():
    assert halfulp.path('bf16: x * w + b', 1.0078125, 1.0078125, -1.015625, rule='eager') == 0
    assert halfulp.path('bf16: x * w + b', 1.0078125, 1.0078125, -1.015625, rule='triton.sm90') == 2.0 ** -14
    names = [rule.name for rule in halfulp.path_rules()]
    assert {'each', 'torch.cpu', 'inductor.cpu', 'triton.sm90', 'xla.cpu'} <= set(names) and len(set(names)) == len(names)
    for rule in halfulp.path_rules():
        assert halfulp.path('bf16: -x', 2, rule=rule.name) == halfulp.path('bf16: -x', 2, rule=rule.text) == -2 and rule.of


def test_refused():
    for text, words in (('bf16: foo(x)', 'from .foo'), ('bf16: 1 + 2', 'constants alone'), ('bf16: x +', 'at its end')):
        with pytest.raises(ValueError, match=words):
            halfulp.path(text, 1)
    for given, words in (((1,), '1 operands for x, w'), ((1, 2, 3), '3 operands')):
        with pytest.raises(ValueError, match=words):
            halfulp.path('bf16: x * w', *given)
    with pytest.raises(ValueError, match="no operand 'y'"):
        halfulp.path('bf16: x * w', 1, y=2)
    with pytest.raises(ValueError, match='leaves the bits'):
        halfulp.path('bf16: x / w', 1, 2, rule='triton.sm90')
    with pytest.raises(ValueError, match='rule'):
        halfulp.path('bf16: x', 1, rule='nobody')
