# SPDX-License-Identifier: MIT
"""scripts/campaign.py: an entry that is missing, stale or unknown is noticed; comments change no hash, code does."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'scripts'))
import campaign  # noqa: E402


def ledger():
    return {name: dict(dict.fromkeys(campaign.COLUMNS, '-'), item=name, state='done', sources=campaign.sources(subjects))
            for name, subjects in campaign.items().items()}


class Ledger(unittest.TestCase):
    def test_nothing_to_say(self):
        self.assertEqual(campaign.complaints(ledger()), [])
        self.assertGreater(len(campaign.items()), 200)

    def test_missing(self):
        entries = ledger()
        del entries['test/function-binary32']
        self.assertEqual(campaign.complaints(entries), ['test/function-binary32: has no entry'])

    def test_changed(self):
        entries = ledger()
        entries['pairs/add/binary16/rne']['sources'] = '0' * 16
        (said,) = campaign.complaints(entries)
        self.assertIn('not marked stale', said)
        entries['pairs/add/binary16/rne']['state'] = 'stale'
        self.assertEqual(campaign.complaints(entries), [])

    def test_unknown(self):
        entries = ledger()
        entries['nonsense'] = dict(entries['test/steps-0'])
        self.assertEqual(campaign.complaints(entries), ['nonsense: is no item'])

    def test_sources(self):
        reached = campaign.reached(['emu/arith'])
        self.assertTrue({'emu/arith', 'emu/core', 'emu/simd', 'emu/base'} <= set(reached))
        self.assertNotIn('emu/gemm', reached)
        self.assertIn('emu/gemm', campaign.reached(['train/trainer']))
        self.assertEqual(campaign.stripped('int  a; /* one */\n'), campaign.stripped('int a; // two\n'))
        self.assertNotEqual(campaign.stripped('int a;'), campaign.stripped('int b;'))


if __name__ == '__main__':
    unittest.main()
