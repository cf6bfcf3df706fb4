# SPDX-License-Identifier: MIT
"""bench/peers/compare.py over libraries made up here, which have the interfaces of the real ones and halfulp's results, but
for some elements that are made wrong on purpose."""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ['HALFULP_BUILD'])
ELEMENTS = 1 << 10

CPFLOAT = '''
#include <stdlib.h>
#include <string.h>
#include "cpfloat_definitions.h"
#include "halfulp/halfulp.h"
static int cpfloatf(float *X, const float *A, const size_t n, optstruct *o) {
  static const char *const modes[] = {"rna", "rnz", "rne", "rtp", "rtn", "rtz", "sra:23", "", "rto"};
  hu_mode mode;
  hu_format f;
  memset(&mode, 0, sizeof mode);
  if (o->explim != CPFLOAT_EXPRANGE_TARG || o->infinity != CPFLOAT_INF_USE || o->saturation || o->flip || !o->subnormal) abort();
  f = hu_format_ieee(o->emin == -126 ? 8 : 5, o->precision - 1, 0);
  if (hu_mode_round_parse(&mode, modes[o->round + 1]) || hu_quantize_n(n, X, 1, A, 1, f, mode, NULL, NULL)) abort();
  if (o->round == CPFLOAT_RND_TZ) { /* wrong: the sign of every zero, and a number */
    for (size_t i = 0; i < n; i++) X[i] = X[i] == 0 ? -X[i] : X[i];
    X[5] = 77;
  }
  return 0;
}
'''
DEFINITIONS = '''
#include <stdlib.h>
typedef enum { CPFLOAT_EXPRANGE_STOR, CPFLOAT_EXPRANGE_TARG } cpfloat_explim_t;
typedef enum { CPFLOAT_INF_NO, CPFLOAT_INF_USE } cpfloat_infinity_t;
typedef enum { CPFLOAT_RND_NA = -1, CPFLOAT_RND_NZ, CPFLOAT_RND_NE, CPFLOAT_RND_TP, CPFLOAT_RND_TN, CPFLOAT_RND_TZ, CPFLOAT_RND_SP,
               CPFLOAT_RND_SE, CPFLOAT_RND_OD, CPFLOAT_NO_RND } cpfloat_rounding_t;
typedef enum { CPFLOAT_SAT_NO, CPFLOAT_SAT_USE } cpfloat_saturation_t;
typedef enum { CPFLOAT_SUBN_RND, CPFLOAT_SUBN_USE } cpfloat_subnormal_t;
typedef enum { CPFLOAT_SOFTERR_NO } cpfloat_softerr_t;
typedef struct {
  unsigned precision;
  int emin, emax;
  cpfloat_explim_t explim;
  cpfloat_infinity_t infinity;
  cpfloat_rounding_t round;
  cpfloat_saturation_t saturation;
  cpfloat_subnormal_t subnormal;
  cpfloat_softerr_t flip;
} optstruct;
static optstruct *init_optstruct(void) { return calloc(1, sizeof(optstruct)); }
static int free_optstruct(optstruct *o) { free(o); return 0; }
'''
QPYTORCH = '''
#include <torch/torch.h>
#include "quant_cpu.h"
#include "halfulp/halfulp.h"
using namespace at;
#define CHECK(x) TORCH_CHECK(x.is_contiguous() && !x.is_cuda(), #x)
static Tensor make(Tensor a, int man, int exp, const char *round) {
  CHECK(a);
  Tensor o = zeros_like(a);
  char text[64];
  hu_format f;
  hu_mode mode = {};
  std::snprintf(text, sizeof text, "fp(%d,%d,0):finite", exp, man);
  mode.saturate = HU_SAT_FINITE;
  if (hu_format_parse(&f, text, nullptr) || hu_mode_round_parse(&mode, round) ||
      hu_quantize_n(size_t(a.numel()), o.data_ptr<float>(), 1, a.data_ptr<float>(), 1, f, mode, nullptr, nullptr)) std::abort();
  return o;
}
Tensor float_quantize_nearest(Tensor a, int man, int exp) { return make(a, man, exp, "rna"); }
Tensor float_quantize_stochastic(Tensor a, int man, int exp) { return make(a, man, exp, "sra:21"); }
Tensor block_quantize(Tensor a, int dim) {
  Tensor m = zeros_like(a, torch::CPU(kByte)), t = at::max(at::abs(a)).expand_as(a).contiguous();
  return std::get<0>(t.transpose(0, dim).view({a.size(0), -1}).abs().max(1, true)).expand_as(m).view_as(rand_like(a));
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("block_quantize", &block_quantize, "text"); }
'''
MPTORCH_H = '''
enum class SubnormalsMode { SUBNORMALS, NO_SUBNORMALS, EXTENDED_NORMALS };
float cast_fp_nearest_even(float, int man_bits, int exp_bits, int bias, bool saturate, SubnormalsMode);
float cast_fp_zero(float, int man_bits, int exp_bits, int bias, bool saturate, SubnormalsMode);
float cast_fp_stochastic(float, int man_bits, int exp_bits, int bias, bool saturate, SubnormalsMode);
'''
MPTORCH = '''
#include <cstdlib>
#include "bit_helper.h"
#include "fp_kernel.h"
#include "halfulp/halfulp.h"
static float make(float x, int man, int exp, int bias, bool saturate, SubnormalsMode s, uint8_t round) {
  hu_mode mode = {};
  mode.round = round;
  if (bias != (1 << (exp - 1)) - 1 || saturate || s != SubnormalsMode::SUBNORMALS) std::abort();
  return hu_quantize(hu_format_ieee(uint32_t(exp), uint32_t(man), 0), mode, x, 0, nullptr);
}
float cast_fp_nearest_even(float x, int m, int e, int b, bool s, SubnormalsMode n) { return make(x, m, e, b, s, n, HU_RNE); }
float cast_fp_zero(float x, int m, int e, int b, bool s, SubnormalsMode n) { return make(x, m, e, b, s, n, HU_RTP); }
float cast_fp_stochastic(float x, int m, int e, int b, bool s, SubnormalsMode n) { return make(x, m, e, b, s, n, HU_RNE); }
'''
SOFTFLOAT_H = '''
#include "softfloat_types.h"
extern unsigned char softfloat_roundingMode, softfloat_detectTininess;
enum { softfloat_round_near_even, softfloat_round_minMag };
enum { softfloat_tininess_beforeRounding, softfloat_tininess_afterRounding };
float16_t f32_to_f16(float32_t);
float32_t f16_to_f32(float16_t);
float16_t f16_add(float16_t, float16_t), f16_mul(float16_t, float16_t), f16_div(float16_t, float16_t), f16_sqrt(float16_t);
float16_t f16_mulAdd(float16_t, float16_t, float16_t);
float32_t f32_add(float32_t, float32_t), f32_mulAdd(float32_t, float32_t, float32_t);
'''
SOFTFLOAT = '''
#include "softfloat.h"
#include "halfulp/halfulp.h"
unsigned char softfloat_roundingMode = softfloat_round_minMag, softfloat_detectTininess;
static const hu_mode rne;
#define H hu_binary16()
#define S hu_binary32()
#define HALF(x) (float16_t){(uint16_t)(x)}
float16_t f32_to_f16(float32_t a) { return HALF(hu_convert(H, rne, S, a.v, 0, 0)); }
float16_t f16_add(float16_t a, float16_t b) { return HALF(hu_add(H, rne, H, a.v, H, b.v, 0, 0)); }
float16_t f16_mul(float16_t a, float16_t b) { return HALF(hu_mul(H, rne, H, a.v, H, b.v, 0, 0) ^ (a.v == 0x1234)); }
float16_t f16_div(float16_t a, float16_t b) { return HALF(hu_div(H, rne, H, a.v, H, b.v, 0, 0)); }
float16_t f16_sqrt(float16_t a) { return HALF(hu_sqrt(H, rne, H, a.v, 0, 0)); }
float16_t f16_mulAdd(float16_t a, float16_t b, float16_t c) { return HALF(hu_fma(H, rne, H, a.v, H, b.v, H, c.v, 0, 0)); }
float32_t f16_to_f32(float16_t a) { return (float32_t){hu_convert(S, rne, H, a.v, 0, 0)}; }
float32_t f32_add(float32_t a, float32_t b) { return (float32_t){hu_add(S, rne, S, a.v, S, b.v, 0, 0)}; }
float32_t f32_mulAdd(float32_t a, float32_t b, float32_t c) {
  unsigned char wrong = softfloat_roundingMode != softfloat_round_near_even || softfloat_detectTininess != 1;
  return (float32_t){hu_fma(S, rne, S, a.v, S, b.v, S, c.v, 0, 0) ^ wrong};
}
'''


class Peers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.at / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def compare(self, *arguments):
        return subprocess.run([sys.executable, '-B', str(ROOT / 'bench/peers/compare.py'), '--build', str(BUILD), '--log2', '10', '--rounds', '1',
                               *map(str, arguments)], capture_output=True, text=True, check=False)

    def rows(self, *arguments):
        z = self.compare('--csv', self.at / 'z.csv', *arguments)
        self.assertEqual((z.returncode, z.stderr), (0, ''), z.stdout)
        rows = list(csv.DictReader((self.at / 'z.csv').read_text().splitlines()))
        self.assertEqual(len(z.stdout.splitlines()), len(rows))
        for row in rows:
            self.assertGreater(float(row['theirs ns']), 0)
            self.assertGreater(float(row['halfulp ns']), 0)
            self.assertGreaterEqual(float(row['best']), float(row['worst']))
            random = 'stochastic' in row['call']
            self.assertEqual(row['compared'], '0' if random else str(ELEMENTS), row)
        return {row['call']: row for row in rows}, z.stdout

    def test_cpfloat_and_the_kinds_of_differences(self):
        self.write('cp/src/cpfloat_binary32.h', CPFLOAT)
        self.write('cp/src/cpfloat_definitions.h', DEFINITIONS)
        rows, said = self.rows('--cpfloat', self.at / 'cp')
        self.assertEqual(len(rows), 9)
        for call, row in rows.items():
            if 'toward zero' not in call:
                self.assertEqual(row['different'], '0', row)
        row = rows['cpfloatf, float8_e5m2, toward zero']
        self.assertGreater(int(row['zeros']), 20)
        self.assertEqual(row['others'], '1')
        self.assertEqual(int(row['different']), int(row['zeros']) + 1)
        self.assertRegex(row['first of the others'], r'^[0-9a-f]{8} -> 429a0000 not [0-9a-f]{8}$')
        self.assertIn(f'{row["different"]} of {ELEMENTS} differ: {row["zeros"]} zeros of the other sign, 1 others', said)
        self.assertIn('other random numbers', said)

    def test_qpytorch_over_tensors_of_ours(self):
        for name, text in (('quant_cpu.cpp', QPYTORCH), ('quant_cpu.h', ''), ('bit_helper.cpp', 'int a_name;'), ('sim_helper.cpp', '')):
            self.write('q/qtorch/quant/quant_cpu/' + name, text)
        self.write('q/PKG-INFO', 'Name: qtorch\nVersion: 0.0.7\n')
        rows, _ = self.rows('--qpytorch', self.at / 'q')
        self.assertEqual(len(rows), 4)
        self.assertEqual({row['version'] for row in rows.values()}, {'0.0.7'})
        self.assertEqual({row['different'] for row in rows.values()}, {'0'})

    def test_mptorch(self):
        for name, text in (('fp_kernel.h', MPTORCH_H), ('fp_kernel.cpp', MPTORCH), ('bit_helper.h', ''), ('bit_helper.cpp', '')):
            self.write('m/mptorch/quant/quant_cpu/' + name, text)
        rows, _ = self.rows('--mptorch', self.at / 'm')
        different = {call: int(row['different']) for call, row in rows.items()}
        self.assertGreater(different.pop('cast_fp_zero, float8_e5m2'), 100)  # the stub rounds another way
        self.assertEqual(set(different.values()), {0})
        self.assertEqual(len(different), 4)

    def softfloat(self, build=True):
        self.write('s/source/include/softfloat.h', SOFTFLOAT_H)
        self.write('s/source/include/softfloat_types.h', '#include <stdint.h>\ntypedef struct { uint16_t v; } float16_t;\n'
                   'typedef struct { uint32_t v; } float32_t;\n')
        source = self.write('s/source/all.c', SOFTFLOAT)
        if build:
            (self.at / 's/build/Any').mkdir(parents=True)
            subprocess.run(['cc', '-O1', f'-I{ROOT}/include', '-I', str(source.parent / 'include'), '-c', str(source), '-o', str(self.at / 's.o')],
                           check=True)
            subprocess.run(['ar', 'cr', str(self.at / 's/build/Any/softfloat.a'), str(self.at / 's.o')], check=True)

    def test_softfloat(self):
        self.softfloat()
        rows, _ = self.rows('--softfloat', self.at / 's')
        self.assertEqual(len(rows), 10)
        self.assertEqual({call for call, row in rows.items() if row['different'] != '0'} - {'f16_mul'}, set())

    def test_wrong_folders_are_named(self):
        self.softfloat(build=False)
        (self.at / 'empty').mkdir()
        for arguments, said in ((['--softfloat', self.at / 's'], 's: SoftFloat is not built: it has no build/*/softfloat.a; run `make` in'),
                                (['--cpfloat', self.at / 'empty'], 'empty: this is not CPFloat: src lacks cpfloat_binary32.h;'),
                                (['--qpytorch', self.at / 'none'], 'none: no such folder'),
                                (['--mptorch', self.at / 's', '--build', self.at / 'empty'], 's: this is not MPTorch'),
                                ([], 'name the folder of one library at least'),
                                (['--mptorch', self.at, '--log2', '40'], '--log2 is 6 to 28')):
            z = self.compare(*arguments)
            self.assertEqual((z.returncode, z.stdout), (2, ''), arguments)
            self.assertIn(said, z.stderr)

    def test_another_version_does_not_compile(self):
        self.write('cp/src/cpfloat_binary32.h', CPFLOAT)
        self.write('cp/src/cpfloat_definitions.h', DEFINITIONS.replace('int emin, emax;', 'int emax;'))
        z = self.compare('--cpfloat', self.at / 'cp')
        self.assertEqual(z.returncode, 2)
        self.assertIn('does not compile with CPFloat', z.stderr)
        self.assertIn('emin', z.stderr)

    def test_one_that_is_wrong_leaves_the_others(self):
        self.softfloat()
        z = self.compare('--softfloat', self.at / 's', '--cpfloat', self.at / 'none')
        self.assertEqual((z.returncode, len(z.stdout.splitlines())), (2, 10))
        self.assertEqual(z.stderr, f'compare: {self.at.resolve() / "none"}: no such folder\n')

    def test_a_build_without_the_library(self):
        self.softfloat()
        z = self.compare('--softfloat', self.at / 's', '--build', self.at)
        self.assertEqual(z.returncode, 2)
        self.assertIn('has no emu/libhalfulp.so; build halfulp there', z.stderr)


if __name__ == '__main__':
    unittest.main()
