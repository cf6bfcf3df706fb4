#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes made ratings in the form and the shape of MovieLens 1M: 1000209 ratings of 3706 movies by 6040 users.

  ratings.py FILE

For runs on a machine that does not have the data set itself: what comes out says nothing about films. Everything is
whole numbers from one seed, so the file is the same everywhere; its SHA-256 is printed. A user has at least 20 ratings.
Which movies these are follows from the movie's popularity, from the user's taste in the two of 16 kinds that the movie
is of, and from chance."""
import hashlib
import pathlib
import random
import sys

USERS, MOVIES, RATINGS, KINDS, LEAST = 6040, 3706, 1000209, 16, 20


def lengths(bits):
    """How many ratings each user has: a long tail, RATINGS of all together."""
    raw = [(256 + bits(8)) << (bits(3) + bits(3) >> 1) for _ in range(USERS)]
    total, rest = sum(raw), RATINGS - LEAST * USERS
    n = [LEAST + x * rest // total for x in raw]
    for user in range(RATINGS - sum(n)):
        n[user % USERS] += 1
    return n


def lines():
    """The lines of the file, users in order, in the order of their time."""
    bits = random.Random(1).getrandbits
    n = lengths(bits)
    popular = [bits(9) + bits(9) >> 1 for _ in range(MOVIES)]
    kinds = [bits(8) for _ in range(MOVIES)]  # two of 16
    for user in range(USERS):
        taste = [5 * bits(5) for _ in range(KINDS)]
        both = [taste[pair >> 4] + taste[pair & 15] for pair in range(256)]
        chance = bits(16 * MOVIES).to_bytes(2 * MOVIES, 'little')
        score = [popular[v] + both[kinds[v]] + chance[2 * v] + chance[2 * v + 1] for v in range(MOVIES)]
        if user < MOVIES:
            score[user] = 1 << 20  # so that each movie has a rating
        chosen = sorted(range(MOVIES), key=lambda v: (-score[v], v))[:n[user]]
        for i in range(len(chosen) - 1, 0, -1):
            k = bits(32) % (i + 1)
            chosen[i], chosen[k] = chosen[k], chosen[i]
        yield ''.join(f'{user + 1}::{v + 1}::{bits(2) + 2}::{978300000 + i}\n' for i, v in enumerate(chosen))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = ''.join(lines()).encode()
    pathlib.Path(sys.argv[1]).write_bytes(data)
    print(f'{hashlib.sha256(data).hexdigest()}  {sys.argv[1]}')


if __name__ == '__main__':
    main()
