# SPDX-License-Identifier: MIT
"""The value tables of the P3109 working group (public, K = 3 to 16): each is derived here, with the committee's digest.

usage: test_tables.py PRINT_TABLES DIGESTS

DIGESTS has a line a table: its name, its number of codes, the SHA-256 of its text (print_tables.c). Of the committee's
504 tables these are the 454 whose values are binary64 numbers. The other 50, with more than 11 exponent bits, are no
formats here, and those with K = 2 have no name: docs/p3109.md lists all of them, with the descriptors that can be written
out, and both is tested."""
import hashlib
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import page  # noqa: E402
import specification as draft  # noqa: E402

program, digests = sys.argv[1], pathlib.Path(sys.argv[2])


def refused(name):
    return subprocess.run([program, name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 2


lines = [line.split() for line in digests.read_text().splitlines() if not line.startswith('#')]
wanted = {line[0]: line[1:] for line in lines}
every = [f.name for f in draft.formats(3, 16)]
held = [f.name for f in draft.formats(3, 16) if f.exponent_bits <= 11]
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
# Every format of the draft with K up to 16 has a name, or stands in the page's list.
of = {f.name: f for f in draft.formats(2, 16)}
listed = {name: (bits, why) for names, bits, why in page.rows() for name in names}
assert len(listed) == sum(len(names) for names, bits, why in page.rows()), 'docs/p3109.md names a format twice'
assert sorted(listed) == sorted(set(of) - set(wanted)), sorted(set(listed) ^ (set(of) - set(wanted)))
for name, (bits, why) in listed.items():
    assert refused(name) and int(bits) == of[name].exponent_bits, (name, bits)
    assert (of[name].exponent_bits > 11) == ('binary64' in why) and (of[name].exponent_bits > 11 or of[name].k == 2), name
written = page.written_out()
for name, text in written.items():
    table = ['%d %s' % (code, 'nan' if value is None else float(value).hex())
             for code, value in ((code, draft.decode(of[name], code)) for code in range(4))]
    printed = subprocess.run([program, text], stdout=subprocess.PIPE, text=True, check=True).stdout.split('\n')
    assert printed[:-2] == table, (name, printed, table)
# The one that cannot be written out has no finite number but 0.
for f in draft.formats(2, 2):
    assert (f.name in written) == (f.largest > 0), f.name
assert refused('fp(1,0,1):p3109e')
print('%d tables, %d codes; %d formats without a name, %d of them written out' % (len(held), codes, len(listed), len(written)))
