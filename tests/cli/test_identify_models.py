#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""halfulp identify: units that are found again, and what a report says of them."""

import html
import os
import pathlib
import tempfile
import unittest

import balanced
from support import HALFULP, run
from test_identify import EXHAUSTIVE, GOLDEN, PYTHON, found, identify


class Models(unittest.TestCase):
    def check(self, name, k, *formats):
        z = found('--k', str(k), *formats, '--', HALFULP, 'mma', name)
        self.assertEqual(z['verdict'], 'found', z)
        self.assertIn(name, z['presets'])
        return z

    def test_presets_come_back(self):
        z = self.check('nv.ampere.bf16.f32', 16, '--fa', 'bfloat16')
        self.assertEqual(z['tree'], '[[C 0..7] 8..15]')
        values = {p['key']: p['value'] for p in z['parameters']}
        self.assertEqual((values['f'], values['l'], values['round'], values['cut'], values['emin'], values['over']),
                         ('24', '8', 'rtz', 'trunc', '-132', 'inf'))
        self.assertGreater(z['probes'], 0)
        self.assertEqual(z['sums'], 'model')
        self.check('intel.vdpbf16ps', 4, '--fa', 'bfloat16')
        self.check('arm.bfdot', 4, '--fa', 'bfloat16')

    def test_a_value_that_would_do_as_well(self):
        """Of the values that give every answer, too, the report names one: neither the model's own nor one that is ruled out."""
        for name, form, k, line in (('nv.volta.f16.f32', 'binary16', 8, '  as +none +.*: 1 of 2 other .*, binary16 among them'),
                                    ('arm.bfdot', 'bfloat16', 4, '  ftz +after +.*: 2 of 3 other .*, tiny among them')):
            page = self.check(name, k, '--fa', form)['page']
            self.assertRegex(page, line)
            self.assertRegex(page, '  sat +default +.*, propagate among them')

    def test_a_unit_with_a_sign_of_its_own_for_zeros(self):
        """-0 and +0 count as one answer until the lower end is looked at, and are told apart there."""
        for zero in ('plus', 'sign'):
            z = found('--fa', 'bfloat16', '--k', '8', '--', HALFULP, 'mma', f'block(align,l=4,f=24,emin=-132,round=rtz,zero={zero})',
                      '--fa', 'bfloat16', '--fb', 'bfloat16', '--fd', 'binary32')
            self.assertEqual([(p['value'], p['verdict']) for p in z['parameters'] if p['key'] == 'zero'], [(zero, 'decided')], z)

    def test_a_block_that_flushes(self):
        """Subnormal sums of an aligned block become zeros, by its key or where its format says so."""
        for flush in ('out=fp(8,23,0):flush', 'ftz=before'):
            z = found('--fa', 'binary16', '--k', '8', '--', HALFULP, 'mma', 'block(align,l=4,f=24,emin=-126,round=rna,%s)' % flush, '--fa', 'binary16',
                      '--fb', 'binary16', '--fd', 'binary32')
            self.assertEqual(z['verdict'], 'found', z)
            self.assertIn('ftz=', z['model'])
            self.assertEqual(z['notes'], ['a subnormal number as C counts as zero'])

    def test_a_unit_with_few_digits_flushes_nothing(self):
        """C far below what a unit keeps is lost as a normal number is: that is no finding about subnormal numbers."""
        for unit in ('block(late,l=2,f=7,f2=8,round=rtz)', 'block(align,l=4,f=20,emin=-20)'):
            z = found('--fa', 'bfloat16', '--k', '4', '--', HALFULP, 'mma', unit, '--fa', 'bfloat16', '--fb', 'bfloat16', '--fd', 'binary32')
            self.assertEqual((z['verdict'], z['notes']), ('found', []), z)

    def test_aligners_of_hardware(self):
        """A bit that keeps what the cuts lose, and zeros that set it or take part in the largest exponent."""
        for text in ('sticky=or', 'sticky=or,zeros=sticky', 'zeros=exponent', 'cut=floor,sticky=or,zeros=both')[:None if EXHAUSTIVE else 2]:
            z = found('--fa', 'binary16', '--k', '8', '--', HALFULP, 'mma', 'block(align,l=4,f=24,emin=-126,%s)' % text, '--fa', 'binary16', '--fb', 'binary16',
                      '--fd', 'binary32')
            self.assertEqual(z['verdict'], 'found', z)
            self.assertRegex(z['model'], r'block\(align,l=4,f=24,emin=-1[0-9]+,%s\)' % text)

    def of_units(self, *units):
        for text in units:
            z = found('--fa', 'binary16', '--k', '8', '--', HALFULP, 'mma', text, '--fa', 'binary16', '--fb', 'binary16', '--fd', 'binary32')
            self.assertEqual(z['verdict'], 'found', (text, z))
            yield z['model']

    def test_registers(self):
        """Sums that wrap or stop at the limit of their register, which moves with the largest exponent or has one place."""
        wrapping, stopping, fixed = self.of_units('block(align,l=4,f=20,emin=-60,wide=1)', 'block(align,l=4,f=20,emin=-60,wide=1,past=limit)',
                                                  'block(align,l=4,f=14,emin=8,to=fixed,wide=5,past=limit)')
        self.assertRegex(wrapping, r'f=20,.*wide=1[^0-9]')
        self.assertNotIn('past=', wrapping)
        self.assertRegex(stopping, r'wide=1,past=limit')
        digits = dict(part.split('=') for part in fixed[fixed.index('(') + 1:-1].split(',')[1:])  # its lowest digit is 2^-6, its highest 2^12
        self.assertEqual((digits['to'], digits['past'], int(digits['emin']) - int(digits['f']), int(digits['emin']) + int(digits['wide'])),
                         ('fixed', 'limit', -6, 13), fixed)

    def test_what_operands_are_read_as(self):
        """Subnormal operands of an aligned block, and NaN whose digits are not looked at."""
        flushed, hidden = self.of_units('block(align,l=4,f=24,emin=-252,daz=sign,ftz=tiny)', 'block(tree,l=4,in=7,nan=kept)')
        self.assertIn('daz=', flushed)
        self.assertRegex(hidden, 'in=7.*nan=kept')

    def test_two_roundings_and_groups_in_windows(self):
        """Boxes of tests/identify/units.py, in exact fractions: their own texts come back."""
        units = os.path.join(os.path.dirname(GOLDEN), 'identify', 'units.py')
        cases = [('twice-bfloat16', 8, ('--fa', 'bfloat16', '--fd', 'bfloat16'), r'block\(exact,l=4,out=bfloat16,via=binary32\)'),
                 ('tfr-float8_e4m3fn', 32, ('--fa', 'float8_e4m3fn'), r'block\(groups,l=16,f=24,emin=-\d+,g=2,.*sticky=or,window=14\)')]
        for name, k, formats, text in cases if EXHAUSTIVE else cases[:1]:
            z = found(*formats, '--k', str(k), '--', PYTHON, '-S', units, name)
            self.assertEqual(z['verdict'], 'found', z)
            self.assertRegex(z['model'], text)

    def test_tf32_as_mma_reads_it(self):
        z = self.check('nv.ampere.tf32.f32', 8, '--fa', 'tf32')
        self.assertEqual((z['a'], z['notes']), ('binary32', []))
        self.assertNotIn(',in=', z['model'])

    def test_no_golden_probe_with_c_where_there_is_none(self):
        """A kernel that adds C apart is asked without it; the golden probes that have one are no questions then."""
        z = found('--fa', 'bfloat16', '--k', '16', '--without-c', '--', HALFULP, 'mma', 'any(splitk(1,any(nv.hopper.bf16.f32)))',
                  '--fa', 'bfloat16', '--fb', 'bfloat16', '--fd', 'binary32')
        self.assertEqual(z['verdict'], 'found', z)
        self.assertIn('nv.hopper.bf16.f32', z['presets'])
        self.assertGreater(z['probes'], 0)

    def test_results_narrower_than_sums(self):
        """Kernels add in binary32 and store 16 bits."""
        box = ('--', HALFULP, 'mma', 'block(chain,l=2,order=down,daz=sign,ftz=tiny)', '--fa', 'bfloat16', '--fb', 'bfloat16', '--fd', 'bfloat16')
        z = found('--fa', 'bfloat16', '--fd', 'bfloat16', '--k', '4', *box)
        self.assertEqual((z['verdict'], z['sums']), ('found', 'binary32'), z)
        self.assertIn('intel.vdpbf16ps', z['presets'])
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, 'page.html')  # test_reports has one without such sums
            done = identify('--fa', 'bfloat16', '--fd', 'bfloat16', '--k', '2', '--verify', '1000', '--report', page, *box)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b'the last one is rounded once more', done.stdout)
            self.assertIn('<h2>Sums</h2>', pathlib.Path(page).read_text())

    def test_what_tells_other_presets(self):
        z = self.check('nv.ampere.bf16.f32', 16, '--fa', 'bfloat16')
        others = [o['preset'] for o in z['other_presets']]
        self.assertIn('nv.blackwell.bf16.f32', others)
        self.assertIn('arm.bfdot', others)
        self.assertFalse(set(others) & set(z['presets']))
        for o in z['other_presets']:
            for model, answer in (('nv.ampere.bf16.f32', o['box']), (o['preset'], o['other_gives'])):
                d = run('mma', model, stdin=o['question'] + '\n').stdout.decode().strip()
                self.assertEqual('0x' + d, answer['code'], (o, model))
            self.assertNotEqual(o['box'], o['other_gives'])
            self.assertLess(sum(x != '0' for x in o['question']), 24, o['question'])

    def test_what_decides_a_parameter(self):
        z = self.check('nv.volta.f16.f32', 8, '--fa', 'binary16')
        for p in z['parameters']:
            if p['verdict'] != 'decided':
                continue
            a, b, c = p['question'].split()
            for model, answer in ((z['model'], p['box']), (self.changed(z, p), p['other_gives'])):
                if model:
                    d = run('mma', model, '--fa', 'binary16', '--fb', 'binary16', '--fd', 'binary32',
                            stdin='%s %s %s\n' % (a, b, c)).stdout.decode().strip()
                    self.assertEqual('0x' + d, answer['code'], (p, model))

    @staticmethod
    def changed(z, p):
        old, new = '%s=%s' % (p['key'], p['value']), '%s=%s' % (p['key'], p['other'])
        return z['model'].replace(old, new) if old + ',' in z['model'] or old + ')' in z['model'] else None

    def test_a_model_of_ones_own(self):
        models = ('block(align,l=4,f=11,cut=rne,emin=-30,out=binary16,round=rtp)', 'pairwise(binary16)',
                  'splitk(2,block(align,l=2,f=14,emin=-28,out=binary16))', 'chunk(3,binary16,binary16)', 'kahan(binary16)')
        for model in models if EXHAUSTIVE else models[:2]:
            z = found('--fa', 'binary16', '--fd', 'binary16', '--k', '8', '--', HALFULP, 'mma', model, '--fa', 'binary16',
                      '--fb', 'binary16', '--fd', 'binary16')
            self.assertEqual(z['verdict'], 'found', (model, z))
            done = run('identify', '--distinguish', model, z['model'], '--fa', 'binary16', '--fd', 'binary16', '--k', '8', '--tries', '50000')
            self.assertEqual(done.returncode, 0, (model, z['model'], done.stdout))

    def test_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            page, log = os.path.join(folder, 'page.html'), os.path.join(folder, 'log.txt')
            done = identify('--fa', 'bfloat16', '--k', '4', '--verify', '1000', '--explain', '--report', page, '--log', log,
                            '--', HALFULP, 'mma', 'nv.ampere.bf16.f32', '--fa', 'bfloat16')
            self.assertEqual(done.returncode, 2)  # K = 4 is no multiple of the unit's: the box says so and ends
            self.assertIn(b'the box ended, with exit status 2', done.stderr)
            done = identify('--fa', 'bfloat16', '--k', '8', '--verify', '1000', '--explain', '--report', page, '--log', log,
                            '--', HALFULP, 'mma', 'nv.ampere.bf16.f32')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, rb'order and blocks: [^\n]*\n    \w+\(')  # and candidates that are left
            self.assertNotIn(b'the last one is rounded once more', done.stdout)
            text = pathlib.Path(page).read_text()
            self.assertIn('<svg', text)
            self.assertNotIn('<h2>Sums</h2>', text)
            self.assertIn('block(align,l=', text)
            self.assertRegex(text, r'<pre>A bfloat16, B bfloat16, C and D binary32, K = 8\norder of the sum: ')  # lines stay lines
            self.assertIn('<td data-head="preset">arm.bfdot</td>', text)
            self.assertFalse(balanced.Balanced.read(text).fetches)
            lines = pathlib.Path(log).read_text().splitlines()
            self.assertGreater(len(lines), 1000)
            question, _, answer = lines[7].partition(' = ')
            self.assertEqual(run('mma', 'nv.ampere.bf16.f32', stdin=question + '\n').stdout.decode().strip(), answer)


if __name__ == '__main__':
    unittest.main()
