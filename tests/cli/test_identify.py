#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""halfulp identify, and --distinguish: models, programs that misbehave, libraries, matrix products."""

import fcntl
import functools
import html
import json
import os
import pathlib
import random
import shlex
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import balanced
import support
from support import HALFULP, fault, run

GOLDEN = os.environ['HALFULP_GOLDEN']
PYTHON = sys.executable
EXHAUSTIVE = os.environ['HALFULP_EXHAUSTIVE'] == '1'


def identify(*args, **keywords):
    return run('identify', '--golden', GOLDEN, *args, **keywords)


@functools.lru_cache(maxsize=None)  # several tests look at the same answers, which they leave as they are
def found(*args):
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, 'page.html')  # with the text that is printed without --json
        done = identify('--json', '--verify', '2000', '--report', str(page), *args)
        assert done.returncode in (0, 1), done.stderr
        return dict(json.loads(done.stdout), page=html.unescape(page.read_text()))


def program(folder, body):
    path = pathlib.Path(folder, 'box.py')
    path.write_text('import sys\n' + body)
    return ['--', PYTHON, '-S', str(path)]


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


# A sum in binary64, rounded to binary32: its codes, and what is printed of them.
ADDING = '''
import struct, time
def value(h): return struct.unpack('>e', bytes.fromhex(h))[0]
for i, line in enumerate(sys.stdin):
    a, b, c = line.split()
    s = struct.unpack('>f', bytes.fromhex(c))[0]
    for k in range(0, len(a), 4): s += value(a[k:k + 4]) * value(b[k:k + 4])
    bits = struct.unpack('>I', struct.pack('>f', s))[0] if abs(s) < 3e38 else 0x7f800000 if s > 0 else 0xff800000 if s < 0 else 0x7fc00000
    print('%%08x' %% (%s), flush=True)
'''


class Misbehaviour(unittest.TestCase):
    def fails(self, body, *texts, timeout=600):
        with tempfile.TemporaryDirectory() as folder:
            done = identify('--fa', 'binary16', '--k', '4', '--verify', '100', '--timeout', str(timeout), *program(folder, body))
            self.assertEqual(done.returncode, 2, done.stdout)
            for text in texts:
                self.assertIn(text, done.stderr.decode())

    def test_a_box_that_ends(self):
        self.fails('sys.exit(3)', 'the box ended, with exit status 3, after 0 answers; the question was',
                   'a line has K = 4 elements of 4 hex digits for A, of 4 for B, and 8 digits for C')
        self.fails('import os, signal\nfor i, line in enumerate(sys.stdin):\n  print("3f800000", flush=True)\n'
                   '  if i == 6: os.kill(os.getpid(), signal.SIGSEGV)', 'by signal 11')

    def test_a_box_that_is_silent(self):
        self.fails('import time\nsys.stdin.readline()\ntime.sleep(100)', 'no answer within 3 seconds', timeout=3)

    def test_a_box_that_writes_something_else(self):
        self.fails('for line in sys.stdin: print("hello", flush=True)', "answers 'hello', which is not 8 hex digits")
        self.fails('for line in sys.stdin: print("12", flush=True)', "answers '12'")
        self.fails('while True: print("x" * 1000, end="", flush=True)', 'more than')

    def test_a_box_that_does_not_exist(self):
        done = identify('--fa', 'binary16', '--', '/nonexistent/box')
        self.assertEqual(done.returncode, 2)
        self.assertIn(b'No such file', done.stderr)

    def test_noise_and_constants(self):
        with tempfile.TemporaryDirectory() as folder:
            body = 'import random\nfor line in sys.stdin: print("%08x" % random.getrandbits(30), flush=True)'
            done = identify('--json', '--fa', 'binary16', '--k', '4', *program(folder, body))
            self.assertEqual((done.returncode, json.loads(done.stdout)['verdict']), (1, 'noisy'), done.stderr)
            for answer in ('7fc00000', '3f800000'):
                done = identify('--json', '--fa', 'binary16', '--k', '4',
                                *program(folder, 'for line in sys.stdin: print("%s", flush=True)' % answer))
                self.assertEqual((done.returncode, json.loads(done.stdout)['verdict']), (1, 'constant'))

    def test_noise_now_and_then(self):
        body = ADDING % 'bits ^ (i % 50 == 49)'
        with tempfile.TemporaryDirectory() as folder:
            done = identify('--json', '--fa', 'binary16', '--k', '4', '--verify', '100', *program(folder, body))
            self.assertEqual((done.returncode, json.loads(done.stdout)['verdict']), (1, 'noisy'), done.stderr)

    def test_a_sum_that_no_model_is(self):
        body = ADDING % 'bits ^ 1 if bits & 0xff == 0x55 else bits'
        with tempfile.TemporaryDirectory() as folder:
            done = identify('--json', '--fa', 'binary16', '--k', '4', '--verify', '3000', *program(folder, body))
            z = json.loads(done.stdout)
            self.assertEqual((done.returncode, z['verdict']), (1, 'nearest'), done.stderr)
            self.assertNotEqual(z['box']['code'], z['other']['code'])
            d = run('mma', z['model'], '--fa', 'binary16', '--fb', 'binary16', '--fd', 'binary32',
                    stdin=z['failing'] + '\n').stdout.decode().strip()
            self.assertEqual('0x' + d, z['other']['code'])

    @unittest.skipUnless(os.path.exists('/dev/full'), 'this system has no /dev/full')
    def test_a_log_on_a_full_disk(self):
        with tempfile.TemporaryDirectory() as folder:
            constant = program(folder, 'for line in sys.stdin: print("3f800000", flush=True)')
            for box in (('--', HALFULP, 'mma', 'intel.vdpbf16ps'), constant):
                done = identify('--fa', 'bfloat16', '--k', '2', '--log', '/dev/full', *box)
                self.assertEqual(done.returncode, 2)
                self.assertIn('/dev/full: the log was not written in full', done.stderr.decode())

    def test_wrong_use(self):
        for args in ((), ('--fa', 'binary16'), ('--fa', 'binary16', '--library', 'x', '--', 'y'), ('--fa', 'nothing', '--', 'y'),
                     ('--fa', 'binary16', '--share', '32', '--', 'y'),
                     ('--fa', 'binary16', '--batch', '9', '--library', 'y'), ('--fa', 'binary16', '--library', '/nonexistent.so')):
            self.assertEqual(identify(*args).returncode, 2, args)


LIBRARY = '''
#include <stddef.h>
#include <math.h>
void dot(size_t n, const void *a, const void *b, const void *c, void *d) {
  const float *x = a, *y = b;
  float s = *(const float *)c;
  for (size_t k = 0; k < n; k++) s = fmaf(x[k], y[k], s);
  *(float *)d = s;
}
void four(size_t n, const void *a, const void *b, const void *c, void *d) { /* no text of a model says this order */
  const float *x = a, *y = b;
  volatile float s[4] = {0, 0, 0, 0}, t, u;
  for (size_t k = 0; k < n; k++) { volatile float p = x[k] * y[k]; s[k % 4] = k < 4 ? p : s[k % 4] + p; }
  t = s[0] + s[1];
  u = s[2] + s[3];
  t = t + u;
  *(float *)d = *(const float *)c + t;
}
void gemm(size_t m, size_t n, size_t k, const void *a, const void *b, const void *c, void *d) {
  const float *x = a, *y = b, *z = c;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      float s = z[i * n + j];
      for (size_t l = 0; l < k; l++) s = fmaf(x[i * k + l], y[l * n + j], s);
      ((float *)d)[i * n + j] = s;
    }
}
'''


# What the first questions show: the box's own line, what is said of it, and how the search ends.
SHOWN = {
    'a C that is ignored': ('s = 0.0', 'C changes no answer', 'found'),
    'zeros that are 1': ('bits = bits if bits & 0x7fffffff else 0x3f800000', 'the box: 3f800000 = 1; exactly 00000000 = 0', 'nearest'),
    'a C and a sum that are flushed': ('bits = bits if bits & 0x7f800000 else 0', 'a subnormal number as C counts as zero', 'nearest'),
    'results that are halves': ('bits = bits - 0x800000 if bits & 0x7f800000 else 0', 'most of these sums are wrong', 'nearest'),
}


class FirstQuestions(unittest.TestCase):
    def ask(self, line, *more):
        body = ADDING % 'bits'
        before = '    for k in' if line.startswith('s =') else '    print'
        body = body.replace(before, '    %s\n%s' % (line, before))
        with tempfile.TemporaryDirectory() as folder:
            done = identify('--json', '--fa', 'binary16', '--k', '4', '--verify', '1500', *more, *program(folder, body))
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout), done.stderr.decode()

    def test_what_they_show(self):
        for name, (line, text, verdict) in SHOWN.items():
            with self.subTest(name):
                z, said = self.ask(line)
                self.assertTrue(any(text in note for note in z['notes']), z['notes'])
                self.assertEqual(z['verdict'], verdict)
                self.assertEqual(text.startswith('a subnormal'), not said.count('halfulp: identify: ' + z['notes'][0]))

    def test_how_far_the_nearest_is(self):
        """A box that is wrong on ties, on zeros: each kind has its question, on which box and model are as printed."""
        z, _ = self.ask('bits = bits if bits & 0x7fffffff else 0x3f800000')
        self.assertEqual(z['checked'], 1500)
        self.assertEqual(sum(f['drawn'] for f in z['failures']), z['differs'])
        kinds = {f['kind']: f for f in z['failures']}
        zero = kinds['where a sum is zero']
        self.assertEqual((zero['question'], zero['box']['code'], zero['model_gives']['code']),
                         ('%016x %016x %08x' % (0, 0, 0), '0x3f800000', '0x00000000'))
        for f in z['failures']:
            d = run('mma', z['model'], '--fa', 'binary16', '--fb', 'binary16', '--fd', 'binary32', stdin=f['question'] + '\n').stdout.decode().strip()
            self.assertEqual('0x' + d, f['model_gives']['code'])
            self.assertNotEqual(f['box'], f['model_gives'])

    def test_batches(self):
        """A box that reads 100 lines before it answers them is found as one that answers each; fewer calls, and nobody waits."""
        lines = 'import struct, subprocess\nwhile True:\n  some = [sys.stdin.readline() for _ in range(100)]\n  if not some[-1]: break\n'
        lines += '  d = subprocess.run([%r, "mma", "intel.vdpbf16ps"], input="".join(some), capture_output=True, text=True, check=True)\n' % HALFULP
        lines += '  sys.stdout.write(d.stdout)\n  sys.stdout.flush()\n'
        with tempfile.TemporaryDirectory() as folder:
            done = identify('--json', '--fa', 'bfloat16', '--k', '2', '--verify', '2000', '--batch', '100', *program(folder, lines))
        self.assertEqual(done.returncode, 0, done.stderr)
        z = json.loads(done.stdout)
        self.assertEqual((z['verdict'], done.stderr), ('found', b''))
        self.assertIn('intel.vdpbf16ps', z['presets'])

    def test_stopped(self):
        """By a time or a signal: the order and what gives most answers are printed."""
        z, _ = self.ask('time.sleep(0.02)', '--seconds', '8')
        self.assertEqual((z['verdict'], z['tree']), ('stopped', '[C 0..3]'), z)
        self.assertLess(z['seconds'], 12)
        with tempfile.TemporaryDirectory() as folder:
            box = program(folder, ADDING % 'bits' + '    if i == 290: import os, signal; os.kill(os.getppid(), signal.SIGINT)\n')
            done = identify('--fa', 'binary16', '--k', '4', *box)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout.decode(), r'order of the sum: \[C 0\.\.3\]\nstopped before the search had ended\n')


class Recorded(unittest.TestCase):
    """Results of a kernel that cannot be asked."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, kind, shape, values):
        data = struct.pack('<%d%s' % (len(values), {'2': 'e', '4': 'f'}[kind[-1]]), *values)
        pathlib.Path(self.path(name)).write_bytes(support.npy('<' + kind, shape, data))

    def ask(self, *arguments, code=0):
        done = run('identify', '--data', '--json', '--fa', 'binary16', *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        text = run('identify', '--data', '--fa', 'binary16', *arguments)
        return json.loads(done.stdout), text.stdout.decode()

    def test_rows(self):
        """A named unit's rows: it gives all of them, every other one misses as many as are counted here."""
        rows, k, drawn = 200, 8, random.Random(1)
        a, b, c = ([drawn.gauss(0, 1) for _ in range(n)] for n in (rows * k, rows * k, rows))
        self.write('a.npy', 'f2', (rows, k), a)
        self.write('b.npy', 'f2', (rows, k), b)
        self.write('c.npy', 'f4', (rows,), c)
        lines = ''.join('%s %s %s\n' % (''.join(struct.pack('>e', x).hex() for x in a[i * k:i * k + k]),
                                        ''.join(struct.pack('>e', x).hex() for x in b[i * k:i * k + k]), struct.pack('>f', c[i]).hex()) for i in range(rows))
        answers = {name: run('mma', name, stdin=lines).stdout.decode().split() for name in ('nv.volta.f16.f32', 'nv.ampere.f16.f32')}
        self.write('d.npy', 'f4', (rows, 1), [struct.unpack('>f', bytes.fromhex(x))[0] for x in answers['nv.volta.f16.f32']])
        z, text = self.ask(*(self.path(x + '.npy') for x in 'abcd'))
        self.assertEqual((z['rows'], z['all'], z['k'], z['presets'], z['parts'], z['stopped']), (rows, rows, k, ['nv.volta.f16.f32'], [], False))
        others = {o['preset']: o for o in z['other_presets']}
        wrong = [i for i in range(rows) if answers['nv.volta.f16.f32'][i] != answers['nv.ampere.f16.f32'][i]]
        self.assertEqual((others['nv.ampere.f16.f32']['differs'], others['nv.ampere.f16.f32']['first']), (len(wrong), wrong[0]))
        self.assertRegex(text, r'1 models of those tried give all rows: block\(align,l=4,f=23,')

        unit = 'block(align,l=4,f=21,emin=-126,round=rtp)'  # no named one, so that the language is searched
        answers = run('mma', unit, '--fa', 'binary16', '--fb', 'binary16', '--fd', 'binary32', stdin=lines).stdout.decode().split()
        self.write('d.npy', 'f4', (rows, 1), [struct.unpack('>f', bytes.fromhex(x))[0] for x in answers])
        z, text = self.ask(*(self.path(x + '.npy') for x in 'abcd'))
        self.assertTrue(z['models'] and not z['presets'] and all('align,l=4,f=21,' in x for x in z['models']), z['models'])
        self.assertRegex(text, r'no row shows which; on this question block\(.*\n +[0-9a-f]+ [0-9a-f]+ [0-9a-f]+\n')

    def test_a_kernel(self):
        """Split K in the upper rows of D, none in the lower ones: two models, and where each holds."""
        m, n, k, drawn = 12, 10, 64, random.Random(2)
        for name, kind, shape in (('A', 'f2', (m, k)), ('B', 'f2', (k, n)), ('C', 'f4', (m, n))):
            self.write(name + '.npy', kind, shape, [drawn.gauss(0, 1) for _ in range(shape[0] * shape[1])])
        a, b, c, d, e, both = (self.path(x + '.npy') for x in ('A', 'B', 'C', 'D', 'E', 'both'))
        for path, accum in ((d, 'splitk(4,any(nv.ampere.f16.f32))'), (e, 'nv.ampere.f16.f32')):
            self.assertEqual(run('gemm', '-q', a, b, '-C', c, '-o', path, '--accum', accum,
                                 '--fa', 'binary16', '--fb', 'binary16', '--fd', 'binary32').returncode, 0)
        z, _ = self.ask('--kernel', a, b, c, d)
        self.assertTrue(z['models'] and all(x.startswith('splitk(4,') for x in z['models']), z['models'])
        upper, lower = pathlib.Path(d).read_bytes(), pathlib.Path(e).read_bytes()
        cut = len(upper) - 4 * n * 4
        pathlib.Path(both).write_bytes(upper[:cut] + lower[cut:])
        z, text = self.ask('--kernel', a, b, c, both, code=1)
        self.assertEqual((len(z['parts']), z['left'], sum(p['rows'] for p in z['parts'])), (2, 0, m * n))
        self.assertEqual((z['parts'][1]['first'][0], z['parts'][1]['last'][0]), (8, 11))
        self.assertIn('in D[8..11][', text)

    def test_a_kernel_that_is_asked(self):
        """A command that multiplies matrices, the lower rows of its product by another model: both, and where they hold."""
        rows, cut = 12, 8
        box = 'import subprocess\na, b, c, d = sys.argv[1:]\nparts = []\nfor model in %r:\n' % (['nv.volta.f16.f32', 'nv.ampere.f16.f32'],)
        box += '    subprocess.run([%r, "gemm", "-q", a, b, "-C", c, "-o", d, "--accum", model, "--fa", "binary16", "--fb", "binary16",' % HALFULP
        box += ' "--fd", "binary32"], check=True)\n    parts.append(open(d, "rb").read())\n'
        box += 'cut = len(parts[0]) - %d\nopen(d, "wb").write(parts[0][:cut] + parts[1][cut:])\n' % ((rows - cut) * rows * 4)
        command = ['--fa', 'binary16', '--k', '64', '--gemm', '--kernel', '--tile', str(rows), *program(self.folder.name, box)]
        done = run('identify', '--json', *command)
        self.assertEqual(done.returncode, 1, done.stderr)
        z = json.loads(done.stdout)
        self.assertEqual((z['rows'], z['k'], z['left'], len(z['parts'])), (rows * rows, 64, 0, 2), z)
        self.assertEqual([z['parts'][0]['first'][0], z['parts'][1]['first'][0], z['parts'][1]['last'][0]], [0, cut, rows - 1])
        self.assertIn('in D[8..11][', run('identify', *command).stdout.decode())
        refused = run('identify', '--fa', 'binary16', '--kernel', '--', HALFULP, 'mma', 'nv.volta.f16.f32')
        self.assertEqual((refused.returncode, b'--kernel is for --gemm' in refused.stderr), (2, True), refused.stderr)

    def test_stopped(self):
        """A search of the language ends after --seconds, with what is known."""
        rows, k, drawn = 40, 32, random.Random(4)
        for name, kind, shape in (('p', 'f2', (rows, k)), ('q', 'f2', (rows, k)), ('r', 'f4', (rows,))):
            self.write(name + '.npy', kind, shape, [drawn.gauss(0, 1) for _ in range(shape[0] * shape[-1] if len(shape) > 1 else rows)])
        arguments = [self.path(x + '.npy') for x in 'pqr']
        begun = time.monotonic()
        z, text = self.ask('--seconds', '1', *arguments, code=1)
        self.assertTrue(z['stopped'])
        self.assertIn('stopped before all models of the language were tried', text)
        self.assertLess(time.monotonic() - begun, 60)

    def test_wrong_arrays(self):
        self.write('s.npy', 'f2', (2, 4), [0.0] * 8)
        self.write('t.npy', 'f2', (2, 3), [0.0] * 6)
        self.write('u.npy', 'f4', (5,), [0.0] * 5)
        s, t, u = (self.path(x + '.npy') for x in 'stu')
        self.write('w.npy', 'f4', (2, 4), [0.1] * 8)
        for arguments, says in (((self.path('w.npy'), s, u), 'element [0, 0], 0.1, is not a value'),
                                ((s, s), 'requires A B D or A B C D'), ((s, t, u), '2 x 3 does not go with A, which is 2 x 4'),
                                ((s, s, u), '5 elements; A and B make 2'),
                                ((s, s, t), 'elements of 2 bytes; this operand has 4'), ((s, s, self.path('none.npy')), 'No such file')):
            done = run('identify', '--data', '--fa', 'binary16', *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr.decode())


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        source, cls.path = pathlib.Path(cls.folder.name, 'box.c'), os.path.join(cls.folder.name, 'box.so')
        source.write_text(LIBRARY)
        subprocess.run(['cc', '-O1', '-ffp-contract=off', '-shared', '-fPIC', str(source), '-o', cls.path, '-lm'], check=True)

    def test_functions(self):
        for more in ((), ('--gemm', '--tile', '5')):
            z = found('--fa', 'binary32', '--k', '4', '--library', self.path, *more)
            self.assertEqual((z['verdict'], z['model']), ('found', 'seq(binary32)'), z)
            self.assertEqual(z['tree'], '((((C + 0) + 1) + 2) + 3)')

    def test_an_order_without_a_text(self):
        z = found('--fa', 'binary32', '--k', '8', '--library', self.path, '--function', 'four')
        self.assertEqual((z['verdict'], z['products']), ('order', 'rounded'), z)
        self.assertEqual(z['tree'], '(C + (((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7))))')

    def test_products_of_files(self):
        halfulp = [HALFULP, 'gemm', '--accum', 'nv.volta.f16.f32']
        script = pathlib.Path(self.folder.name, 'gemm.sh')
        script.write_text('exec %s -q "$1" "$2" -C "$3" -o "$4" >/dev/null\n' % ' '.join("'%s'" % w for w in halfulp))
        script.write_text('dirname "$1" > "$0.where"\n' + script.read_text())
        scratch = pathlib.Path(self.folder.name, 'a folder for what is gone')  # TMPDIR's, however long its name
        scratch = scratch / ('x' * 100)
        scratch.mkdir(parents=True)
        words = ('--json', '--fa', 'binary16', '--k', '8', '--verify', '0', '--gemm', '--tile', '64', '--', 'sh', str(script))
        whole = script.read_text()
        for folder, seen in ((str(scratch), str(scratch)), ('', '/tmp')):
            script.write_text(whole if folder else whole.splitlines()[0] + '; exit 3\n')  # one question says where
            with unittest.mock.patch.dict(os.environ, TMPDIR=folder):
                done = identify(*words)
            self.assertEqual(done.returncode, 0 if folder else 2, done.stderr)
            if folder:
                self.assertIn('nv.volta.f16.f32', json.loads(done.stdout)['presets'])
            self.assertEqual(pathlib.Path(str(script) + '.where').read_text().strip().rsplit('/', 1)[0], seen)
            self.assertEqual(list(scratch.iterdir()), [])
        with unittest.mock.patch.dict(os.environ, TMPDIR=str(scratch / 'absent')):
            done = identify(*words)
        self.assertEqual((done.returncode, done.stderr.count(b'\n')), (2, 1), done.stderr)
        self.assertIn(b'cannot be made: No such file or directory; TMPDIR', done.stderr)


class Beside(unittest.TestCase):
    def test_the_pipe_stays_as_it_is(self):
        """The box is at the other ends of standard input and output, which belong to others, too."""
        questions, answers = os.pipe(), os.pipe()
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, 'report.json')
            box = subprocess.Popen([HALFULP, 'mma', 'intel.vdpbf16ps'], stdin=questions[0], stdout=answers[1], close_fds=True)
            done = subprocess.run([HALFULP, 'identify', '--golden', GOLDEN, '--verify', '3000', '--fa', 'bfloat16', '--k', '2', '--beside', report],
                                  stdin=answers[0], stdout=questions[1], stderr=subprocess.PIPE, timeout=250, check=False)
            flags = [fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK for fd in (answers[0], questions[1])]
            for fd in (*questions, *answers):
                os.close(fd)
            self.assertEqual((done.returncode, box.wait(), flags), (0, 0, [0, 0]), done.stderr)
            with open(report, encoding='utf-8') as f:
                self.assertIn('intel.vdpbf16ps', json.load(f)['presets'])


class Distinguish(unittest.TestCase):
    def test_a_question(self):
        done = run('identify', '--distinguish', 'nv.ampere.f16.f32', 'nv.hopper.f16.f32', '--json')
        self.assertEqual(done.returncode, 1)
        z = json.loads(done.stdout)
        for answer in z['answers']:
            d = run('mma', answer['model'], stdin=z['question'] + '\n').stdout.decode().strip()
            self.assertEqual('0x' + d, answer['d']['code'])
        self.assertNotEqual(z['answers'][0]['d'], z['answers'][1]['d'])
        self.assertLess(sum(x != '0' for x in z['question']), 12, z['question'])

    def test_a_proof(self):
        fp4 = ('--fa', 'float4_e2m1fn', '--fd', 'binary32', '--k', '2', '--without-c')
        done = run('identify', '--distinguish', 'block(exact,l=2)', 'block(chain,l=2)', *fp4)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b'equal: all 65536 questions', done.stdout)
        done = run('identify', '--distinguish', 'block(exact,l=2)', 'block(align,l=2,f=2,emin=-28)', *fp4)
        self.assertEqual(done.returncode, 1)

    def test_no_proof(self):
        done = run('identify', '--distinguish', 'fp32', 'seq(binary32)', '--fa', 'binary16', '--tries', '2000')
        self.assertEqual(done.returncode, 0)
        self.assertIn(b'which is no proof', done.stdout)

    def test_wrong_use(self):
        for args in (('fp32', 'exact'), ('fp32',), ('nothing', 'fp32'), ('fp32', 'int32', '--fa', 'binary16')):
            self.assertEqual(run('identify', '--distinguish', *args).returncode, 2, args)

    def test_progress(self):
        """A search that takes long says so on standard error, which is no terminal here, but rarely, and not after --quiet."""
        start, haste = time.monotonic(), 40
        box = ['--', 'sh', '-c', 'sleep 0.3; exec %s mma intel.vdpbf16ps' % shlex.quote(HALFULP)]
        command = ['identify', '--fa', 'bfloat16', '--k', '2', '--verify', '0', '--timeout', '10000', '--golden', GOLDEN, *box]
        started = [subprocess.Popen([HALFULP, *quiet, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    env=fault(FAULT_CLOCK=str(haste))) for quiet in ((), ('-q',))]
        told, quiet = [one.communicate() for one in started]
        self.assertEqual([one.returncode for one in started], [0, 0])
        self.assertRegex(told[1], r'\A(halfulp: identify: [^:]*: \d+ questions so far\n)+\Z')
        self.assertLessEqual(len(told[1].splitlines()), haste * (time.monotonic() - start) // 10)
        self.assertEqual(quiet[1], '')
        self.assertIn('intel.vdpbf16ps', told[0])


if __name__ == '__main__':
    unittest.main()
