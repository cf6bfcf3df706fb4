# SPDX-License-Identifier: MIT
"""Lines for sections 1 to 6 of numerics.md: decode, round, array."""
from exact import BINARY32, BINARY64, from_interchange, to_interchange
from lines import format_of, hexadecimal, mode_of, operation, result
from rounding import round_real
from words import high_bits, low_bits, stream_word


@operation('decode', 'format code')
def decode(fields):
    """Sections 1 and 4: the value of a code as binary64."""
    x = format_of(fields['format']).decode(hexadecimal(fields['code']))
    return {'bits': '%016x' % to_interchange(x)}


@operation('round', 'format mode x word')
def round_one(fields):
    """A call on one binary64 value: R is the low N bits of its argument."""
    mode = mode_of(fields['mode'])
    x = from_interchange(hexadecimal(fields['x']), BINARY64)
    r = low_bits(hexadecimal(fields['word']), mode.bits)
    return result(*round_real(x, format_of(fields['format']), mode, r))


@operation('array', 'format mode x key counter index')
def round_element(fields):
    """Element `index` of an array call on binary32 values: R is the high N bits of word number `index`."""
    mode = mode_of(fields['mode'])
    x = from_interchange(hexadecimal(fields['x']), BINARY32)
    word = stream_word(hexadecimal(fields['key']), hexadecimal(fields['counter']), hexadecimal(fields['index']))
    return result(*round_real(x, format_of(fields['format']), mode, high_bits(word, mode.bits)))
