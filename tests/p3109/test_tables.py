# SPDX-License-Identifier: MIT
"""The value tables of the P3109 working group (public, K = 3 to 16): each is derived here, with the committee's digest.

usage: test_tables.py PRINT_TABLES

The tables are those of June 2026 (github.com/P3109/Public, unapproved drafts). Of the committee's 504 tables 454 have
values that are binary64 numbers. The other 50, with more than 11 exponent bits, are no formats here, and those with K = 2
have no name: docs/p3109.md lists all of them, with the descriptors that can be written out, and both is tested."""
import hashlib
import subprocess
import sys

sys.dont_write_bytecode = True
import page  # noqa: E402
import specification as draft  # noqa: E402

program = sys.argv[1]
# By K: SHA-256 of a line a table, `NAME CODES SHA-256`, in the order of the draft's formats; of the committee's text of the table,
# in the form of print_tables.c.
COMMITTEE = {
    3: '0831bd30a5e1764a777592b2e9ccd1465f492bfbee388ab6cd7250a99f34c930',
    4: '4fd70dd527bddcc493516c80b94868470b928f0bc993d46aaad2c2120929b007',
    5: '61cc4a5ebf86c6d29072461362fa18516f428019b450c0adbda0a6eddf3699fc',
    6: '73c1c6e2647896d803fe5633a743f8fdc16b689cd74dbf8ef17c43006d183483',
    7: 'e25b21a0075edf6aa8d31355a00f383885db719d95340e9dbae4b98f7b4a10ec',
    8: '762c1f0de1e4f74b0973ab8269fed1cb22ef1d9cafed1240225ac3958cabbae7',
    9: '531c3e28ed342ffdfdf3ecacd57d4a204b7574eec747fa04d491c35ee81bc4cc',
    10: '8997942f9092299fe6917bf014b7e9c8cf08aa4e3fa61d57aaa784d5402a0770',
    11: '6f3db5e9e48088342096f0b422bed1518a24a8c30d47ea8c60823fbf76ec17e7',
    12: '89f0dd80b69ad3be58eb0dbce8e853dfdb550d9079d0d24653939d8199188f8f',
    13: 'e0d12f5f64ba226e682d43371655ee4990b3c99dae9adf86422913e6f4bc6b66',
    14: '38080517714e7516780e25284ca48c0057a11a7b55e817162472938a57e92acd',
    15: '5d4c58ae6bf8fb0f82d401a9828cade515897d20da0a1e7503418e9749310a48',
    16: '048d321b072d5c1b3bf39831d1da1e28c13c8f51362a83cb669dc8f8504277fa',
}


def refused(name):
    return subprocess.run([program, name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 2


every = list(draft.formats(3, 16))
held = [f for f in every if f.exponent_bits <= 11]
assert len(every) == 504 and len(held) == 454, (len(every), len(held))
running = subprocess.Popen([program] + [f.name for f in held], stdout=subprocess.PIPE)
found, codes = {k: hashlib.sha256() for k in COMMITTEE}, 0
for f in held:
    text, count = hashlib.sha256(), 0
    for line in running.stdout:
        if line == b'\n':
            break
        text.update(line)
        count += 1
    found[f.k].update(b'%s %d %s\n' % (f.name.encode(), count, text.hexdigest().encode()))
    codes += count
assert running.wait() == 0
wrong = [k for k, of_tables in found.items() if of_tables.hexdigest() != COMMITTEE[k]]
assert not wrong, 'K = %s: not the tables of the committee' % wrong
# Every format of the draft with K up to 16 has a name, or stands in the page's list.
of = {f.name: f for f in draft.formats(2, 16)}
listed = {name: (bits, why) for names, bits, why in page.rows() for name in names}
assert len(listed) == sum(len(names) for names, bits, why in page.rows()), 'docs/p3109.md names a format twice'
unnamed = set(of) - {f.name for f in held}
assert sorted(listed) == sorted(unnamed), sorted(set(listed) ^ unnamed)
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
