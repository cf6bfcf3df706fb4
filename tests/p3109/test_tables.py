# SPDX-License-Identifier: MIT
"""The value tables of the P3109 working group (public, K = 3 to 16): each is derived here, with the committee's digest.

usage: test_tables.py PRINT_TABLES DIGESTS

DIGESTS has a line a table: its name, its number of codes, the SHA-256 of its text (print_tables.c). Of the committee's
504 tables these are the 454 whose values are binary64 numbers; the other 50, with more than 11 exponent bits, are no
formats here, which is tested."""
import hashlib
import pathlib
import subprocess
import sys

program, digests = sys.argv[1], pathlib.Path(sys.argv[2])


def names():
    """All 504: K, P from 1 to K - 1 (signed) or K (unsigned), extended or finite."""
    for k in range(3, 17):
        for p in range(1, k + 1):
            for sign in 's' if p < k else '', 'u':
                for domain in 'ef':
                    if sign:
                        yield 'binary%dp%d%s%s' % (k, p, sign, domain)


def exponent_bits(name):
    k, p = (int(x) for x in name[6:-2].split('p'))
    return k - p + (name[-2] == 'u')


lines = [line.split() for line in digests.read_text().splitlines() if not line.startswith('#')]
wanted = {line[0]: line[1:] for line in lines}
every = list(names())
held = [name for name in every if exponent_bits(name) <= 11]
assert len(every) == 504 and sorted(held) == sorted(wanted), (len(every), len(held), len(wanted))
running = subprocess.Popen([program] + held, stdout=subprocess.PIPE)
codes = 0
for name in held:
    text, count = hashlib.sha256(), 0
    for line in running.stdout:
        if line == b'\n':
            break
        text.update(line)
        count += 1
    assert [str(count), text.hexdigest()] == wanted[name], '%s: not the table of the committee' % name
    codes += count
assert running.wait() == 0
for name in every:
    if name not in wanted:
        assert subprocess.run([program, name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 2, name
print('%d tables, %d codes; %d have more than 11 exponent bits' % (len(held), codes, len(every) - len(held)))
