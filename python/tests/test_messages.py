# SPDX-License-Identifier: MIT
"""What is said of arguments that no array, no axis and no integer of 64 bits are."""
import numpy as np
import pytest

import halfulp

TAKE_NUMBERS = {
    'quantize, a scaled format': lambda x: halfulp.quantize(x, 'mxfp4'), 'add': lambda x: halfulp.add(x, 1, 'bfloat16'),
    'exp': lambda x: halfulp.exp(x, 'bfloat16'), 'gemm': lambda x: halfulp.gemm([[x]], [[1]]),
    'plot': lambda x: halfulp.plot([x], 'bfloat16', 'rne') and halfulp.plot([x], 'mxfp4'),
    'compare': lambda x: halfulp.compare([x], ['mxfp4'])}
TAKE_INTEGERS = {
    'stream': lambda n: halfulp.quantize(1.5, 'bfloat16', 'sra:8', stream=n), 'axis': lambda n: halfulp.quantize([1.5], 'mxfp4', axis=n),
    'threads': lambda n: halfulp.quantize([1.5], 'bfloat16', threads=n)}


@pytest.mark.parametrize('digits', [301, 5001])
@pytest.mark.parametrize('name', [*TAKE_NUMBERS, *TAKE_INTEGERS])
def test_long_integers(name, digits):
    """Python writes no integer of more than 4300 digits, and a message of 301 is not read."""
    call = TAKE_NUMBERS.get(name) or TAKE_INTEGERS[name]
    with pytest.raises((halfulp.HalfulpTypeError, halfulp.HalfulpValueError)) as caught:
        call(10 ** (digits - 1))
    assert 'an integer of {} bits'.format((10 ** (digits - 1)).bit_length()) in str(caught.value)
    assert len(str(caught.value)) < 160


def test_numbers_beyond_every_format_are_numbers():
    assert halfulp.quantize(10 ** 5000, 'bfloat16') == np.inf and halfulp.encode(-10 ** 5000, 'bfloat16') == 0xFF80


def test_a_dict_is_no_array():
    for call in (lambda: halfulp.quantize({'a': np.ones(1000)}, 'bfloat16'), lambda: halfulp.plot({'a': 1}, 'bfloat16')):
        with pytest.raises(halfulp.HalfulpTypeError, match='x: .* of type dict is not a number .*; give its arrays one by one') as caught:
            call()
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize('x', [1.5, np.float64(1.5), np.array(1.5, np.float32)], ids=repr)
@pytest.mark.parametrize('axis', [0, 1, (0,)], ids=str)
def test_a_number_has_no_axis(x, axis):
    for format in ('mxfp4', 'bfloat16'):
        with pytest.raises(halfulp.HalfulpValueError, match='axis: .* names an axis, and a single number has none'):
            halfulp.quantize(x, format, axis=axis)
        halfulp.quantize(x, format, axis=-1)


@pytest.mark.parametrize('text', ['float8_e4m3fn,rtz,rtp', 'mxfp4,rtz,rtz', 'float8_e4m3fn,sat=none,sat=none', 'posit8,sat=none,rtz,sat=finite'])
def test_parts_of_a_rounding_stand_once(text):
    for call in (lambda: halfulp.quantize(np.ones(4, np.float32), text), lambda: halfulp.plot(None, text),
                 lambda: halfulp.compare([1.0], [text])):
        with pytest.raises(halfulp.HalfulpValueError, match='rounding: .* says (how it rounds|what becomes of .*) twice'):
            call()
    with pytest.raises(halfulp.HalfulpValueError, match='does not follow the grammar'):
        halfulp.Rounding(text)
