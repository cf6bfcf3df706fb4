# SPDX-License-Identifier: MIT
"""scripts/campaign.py: what an item depends on; comments and names change no hash, code does."""
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'scripts'))
import campaign  # noqa: E402


class Items(unittest.TestCase):
    def test_hashes(self):
        self.assertGreater(len(campaign.items()), 200)
        for name in ('test/function-binary32', 'pairs/add/binary16/rne'):
            self.assertRegex(campaign.sources(campaign.items()[name]), '^[0-9a-f]{16}$')

    def test_sources(self):
        reached = campaign.reached(['emu/arith'])
        self.assertTrue({'emu/arith', 'emu/core', 'emu/simd', 'emu/base'} <= set(reached))
        self.assertNotIn('emu/gemm', reached)
        self.assertIn('emu/gemm', campaign.reached(['train/trainer']))

    def test_headers_of_the_core(self):
        """Each is a subject: what includes none of the sums' headers does not change with them."""
        def core(*folders):
            return {path.name for path in campaign.files(folders) if path.parent.name == 'core'}
        self.assertTrue({'round.h', 'port.h', 'arith.h'} <= core('emu/arith', 'emu/core'))
        self.assertNotIn('accum_step.h', core('emu/arith', 'emu/core'))
        self.assertIn('accum_step.h', core('emu/accum', 'emu/core'))

    def test_checkers(self):
        """Public headers, the oracle, and what does the checking are sources, too."""
        items = campaign.items()
        steps, exact, trainer = (set(campaign.hashed(items[name])) for name in
                                 ('steps/binary16/rne', 'test/arith-exact', 'test/train-experiment'))
        self.assertIn('emu/oracle', steps & exact & trainer)
        self.assertTrue({'halfulp/format.h', 'halfulp/array.h'} <= self.headers_of('emu/array'))
        self.assertNotIn('halfulp/train/net.h', self.headers_of('emu/array'))
        self.assertIn('halfulp/train/net.h', self.headers_of('train/trainer'))
        self.assertTrue({'cli/verify', 'cli/campaign', 'emu/array'} <= steps)
        self.assertTrue({'tests/arith', 'tests/support', 'emu/arith'} <= exact)
        for item in items.values():
            for folder in campaign.hashed(item):
                self.assertTrue(folder == 'formats' or any((campaign.ROOT / folder).glob('*.[ch]*')), folder)

    def test_a_header_changes_hashes(self):
        before, root = {name: campaign.sources(item) for name, item in campaign.items().items()}, campaign.ROOT
        with tempfile.TemporaryDirectory() as folder:
            for name in ('include', 'emu', 'train', 'cli', 'gpu', 'tests', 'formats'):
                shutil.copytree(root / name, pathlib.Path(folder) / name, ignore=shutil.ignore_patterns('golden', '__pycache__'))
            campaign.ROOT = pathlib.Path(folder)
            try:
                cases = (('include/halfulp/format.h', set(before)),
                         ('emu/oracle/round.c', set(before)),
                         ('include/halfulp/train/trainer.h', {'test/train-experiment'}),
                         ('cli/verify/work.c', {n for n in before if not n.startswith('test/')}),
                         ('tests/cross/test_processor_arith.c', {'test/cross-processor', 'test/cross-processor-arith'}),
                         ('gpu/tools/digest_main.c', {'test/golden-digests-all'}),
                         ('emu/core/round.h', set(before)),
                         ('include/halfulp/status.h', set(before)))
                for name, _ in cases:
                    with open(campaign.ROOT / name, 'a', encoding='utf-8') as file:
                        file.write('/* a comment */\n')
                self.assertEqual(self.stale(before), set())
                for name, stale in cases:
                    text = (campaign.ROOT / name).read_text()
                    (campaign.ROOT / name).write_text(text + 'int more;\n')
                    self.assertEqual(self.stale(before), stale, name)
                    (campaign.ROOT / name).write_text(text)
                version = campaign.ROOT / 'include/halfulp/status.h'
                version.write_text(re.sub(r'(#define HU_VERSION_STRING) .*', r'\1 "9.8.7"', version.read_text()))
                self.assertEqual(self.stale(before), set())
                for path in campaign.ROOT.rglob('*.[ch]'):  # another name everywhere
                    text = path.read_text()
                    if 'hui_stochastic_up' in text:
                        path.write_text(re.sub(r'\bhui_stochastic_up\b', 'hui_goes_up', text))
                self.assertEqual(self.stale(before), set())
            finally:
                campaign.ROOT = root
                self.forget()

    def forget(self):
        campaign.sources.cache_clear()
        campaign.text_of.cache_clear()

    def headers_of(self, folder):
        found = campaign.closure(campaign.files_of(folder), campaign.INCLUDE, 'include')
        return {path.relative_to(campaign.ROOT / 'include').as_posix() for path in found}

    def stale(self, before):
        """The items whose hashes are others."""
        self.forget()
        return {name for name, item in campaign.items().items() if campaign.sources(item) != before[name]}


if __name__ == '__main__':
    unittest.main()
