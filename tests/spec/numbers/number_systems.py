# SPDX-License-Identifier: MIT
"""Lines for numbers.md: number_decode, number_encode, number_convert (N.2, N.5)."""
from exact import BINARY64, from_interchange, to_interchange
from formats import BINARY32_FORMAT
from lines import format_of, hexadecimal, mode_of, operation, result
from number_kinds import System
from number_reals import stand_in
from number_rounding import DIGITS, encode
from number_texts import parse
from rounding import TIES_TO_EVEN, round_real
from words import low_bits


def kind_of(text):
    """A number system by its text, or kind float: the axes of a format, also behind `format:`."""
    if text.startswith('format:'):
        text = text[len('format:'):]
    return format_of(text) if text.startswith('s=') else parse(text)


def encode_into(kind, x, mode, r):
    """One rounding of x into any kind (N.2)."""
    if isinstance(kind, System):
        return encode(kind, x, mode, r)
    return round_real(stand_in(x, DIGITS), kind, mode, r)


def to_binary64(x):
    """N.5: the value; an irrational one is rounded to nearest. There are no ties, and no exponent ends nearby."""
    x = stand_in(x, 56)
    shift = x.n.bit_length() - 53
    if shift > 0 and x.n & (1 << shift) - 1:
        x = x._replace(n=(x.n >> shift) + (x.n >> shift - 1 & 1), q=x.q + shift)
    return to_interchange(x, BINARY64)


def to_binary32(x):
    """N.5: the value itself rounded to binary32, ties to even."""
    x = stand_in(x, DIGITS)
    return BINARY32_FORMAT.nan_code() if x.kind == 'nan' else round_real(x, BINARY32_FORMAT, TIES_TO_EVEN)[0]


@operation('number_decode', 'number code')
def number_decode(fields):
    x = kind_of(fields['number']).decode(hexadecimal(fields['code']))
    return {'bits': '%016x' % to_binary64(x), 'bits32': '%08x' % to_binary32(x)}


@operation('number_encode', 'number mode x word')
def number_encode(fields):
    """The operand is the binary64 x, and R the low N bits of `word`."""
    mode = mode_of(fields['mode'])
    x = from_interchange(hexadecimal(fields['x']), BINARY64)
    return result(*encode_into(kind_of(fields['number']), x, mode, low_bits(hexadecimal(fields['word']), mode.bits)))


@operation('number_convert', 'from to code mode word')
def number_convert(fields):
    """The operand is the value of a code of another kind."""
    mode = mode_of(fields['mode'])
    x = kind_of(fields['from']).decode(hexadecimal(fields['code']))
    return result(*encode_into(kind_of(fields['to']), x, mode, low_bits(hexadecimal(fields['word']), mode.bits)))
