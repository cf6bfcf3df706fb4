# SPDX-License-Identifier: MIT
"""Section 6 of numerics.md: random words, and section 11.3: random words of models. Philox4x32-10."""

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)


def philox(counter, key):
    """Philox4x32-10: four counter words and two key words give four output words."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & M32, (p0 >> 32) ^ c3 ^ k1, p0 & M32
        k0, k1 = (k0 + WEYL[0]) & M32, (k1 + WEYL[1]) & M32
    return c0, c1, c2, c3


def stream_word(key, counter, i):
    """Word number i of the stream (key, counter)."""
    c = (counter + i) & M64
    low, high = c >> 2 & M32, c >> 34
    return philox((low, high, 0, 0), (key & M32, key >> 32 & M32))[c & 3]


def inner_word(key, counter, i, r):
    """Section 11.3: the word of rounding r inside element i."""
    c, q = (counter + i) & M64, 1 + (r >> 2)
    return philox((c & M32, c >> 32, q & M32, q >> 32 & M32), (key & M32, key >> 32 & M32))[r & 3]


def high_bits(word, n):
    """R of an array call: the high n bits of the word."""
    return word >> (32 - n) if n else 0


def low_bits(word, n):
    """R of a call on one value: the low n bits of its argument."""
    return word & ((1 << n) - 1)
