# SPDX-License-Identifier: MIT
"""Numbers and bytes of low-precision checkpoints, from their formats' definitions alone: for test_layouts.py."""

import random
import struct
from fractions import Fraction


def f32(x):
    """A number in binary32, ties to even; beyond it infinite."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def product(*factors):
    """The exact product, rounded once into binary32; the sign of a zero is that of its factors."""
    if any(f != f for f in factors):
        return float("nan")
    sign = 1
    exact = Fraction(1)
    for f in factors:
        sign = -sign if str(float(f)).startswith("-") else sign
        exact *= abs(Fraction(f))
    return f32(sign * float(exact))


def minifloat(code, e, m, bias, nan):
    """The value of a code with a sign; nan: codes of a magnitude that are none."""
    s, x, t = code >> (e + m), code >> m & (1 << e) - 1, code & (1 << m) - 1
    if code & (1 << (e + m)) - 1 in nan:
        return float("nan")
    value = t * 2.0 ** (1 - bias - m) if x == 0 else (2**m + t) * 2.0 ** (x - bias - m)
    return -value if s else value


def e4m3(code):
    return minifloat(code, 4, 3, 7, [127])


def e5m3(code):
    """Without a sign: bias 15."""
    return code % 8 * 2.0**-17 if code < 8 else (8 + code % 8) * 2.0 ** (code // 8 - 18)


def e2m1(code):
    return minifloat(code, 2, 1, 1, [])


def e2m3(code):
    return minifloat(code, 2, 3, 1, [])


def e3m2(code):
    return minifloat(code, 3, 2, 3, [])


def e8m0(code):
    return 2.0 ** (code - 127) if code < 255 else float("nan")


def twos(code, bits):
    return code - (1 << bits) if code >> (bits - 1) else code


class Draw:
    """Codes and scales by chance, the same in every run."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def codes(self, n, bits):
        return [self.rng.randrange(1 << bits) for _ in range(n)]

    def numbers(self, n, low=-8, high=3):
        return [f32(self.rng.uniform(1, 2) * 2.0 ** self.rng.randint(low, high)) for _ in range(n)]

    def halves(self, n):
        """Numbers that binary16 and bfloat16 have."""
        return [self.rng.randint(64, 127) * 2.0 ** self.rng.randint(-14, -6) for _ in range(n)]


def stream(codes, bits):
    """Codes one after the other, lowest bits first; filled up to whole bytes."""
    number = sum(code << bits * i for i, code in enumerate(codes))
    return number.to_bytes((len(codes) * bits + 7) // 8, "little")


def nibbles(codes, high=False):
    """Two codes in a byte, the first in the low half or in the high half."""
    if high:
        codes = [codes[i ^ 1] for i in range(len(codes))]
    return stream(codes, 4)


def rows(codes, cols, bits, unit):
    """Each row as a stream of whole units of so many bytes."""
    parts = [stream(codes[i : i + cols], bits) for i in range(0, len(codes), cols)]
    return b"".join(part + bytes(-len(part) % unit) for part in parts)


def words_apart(codes, cols, bits):
    """32 div bits codes in each word of a row."""
    per, z = 32 // bits, b""
    for i in range(0, len(codes), cols):
        row = codes[i : i + cols]
        for k in range(0, cols, per):
            z += stream(row[k : k + per], bits).ljust(4, b"\0")
    return z


def columns(codes, cols, bits):
    """A matrix [rows, cols] as words [ceil(cols bits / 32), rows]: a stream down each column of the file."""
    n = len(codes) // cols
    parts = [stream(codes[r * cols : (r + 1) * cols], bits) for r in range(n)]
    parts = [part + bytes(-len(part) % 4) for part in parts]
    return b"".join(part[w : w + 4] for w in range(0, len(parts[0]), 4) for part in parts)


def awq(codes, cols):
    """A matrix [rows, cols] as words [cols, rows / 8] with columns 0 2 4 6 1 3 5 7 in the nibbles."""
    n = len(codes) // cols
    z = b""
    for c in range(cols):
        for w in range(n // 8):
            z += stream([codes[(8 * w + k) * cols + c] for k in (0, 2, 4, 6, 1, 3, 5, 7)], 4)
    return z


def tiles(scales, n, blocks):
    """A matrix of bytes [n, blocks] in tiles of 128 x 4, filled up with zeros."""
    down, across = -(-n // 128), -(-blocks // 4)
    z = bytearray(down * across * 512)
    for r in range(n):
        for c in range(blocks):
            at = (r // 128 * across + c // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4
            z[at] = scales[r * blocks + c]
    return bytes(z)
