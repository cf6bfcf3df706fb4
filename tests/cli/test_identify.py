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
