/* SPDX-License-Identifier: MIT */
/* What docs/numerics.md section 11 settles where a reader could think otherwise: codes worked out by hand from the
 * page, by hu_dot, hu_gemm and the reference; and which rounding takes which random word: all words of a row are 0 but
 * one, which is the largest, so that this rounding alone may go up. */
#include <string.h>

#include "halfulp/gemm.h"
#include "tests/accum/dots.h"
#include "tests/accum/reference.h"
#include "tests/support/cmocka.h"

typedef struct t_settled {
  const char *model, *format;    /* of A, B, C and the result */
  const char *scale, *a, *b, *c; /* hex; c "": none */
  const char *sa, *sb;
  int up; /* the rounding that goes up; -1: none may */
  uint32_t code;
} t_settled;

#define F16(a, b, c) "binary16", NULL, a, b, c, NULL, NULL
#define F32(a, b, c) "binary32", NULL, a, b, c, NULL, NULL
#define ONE "3f800000"
#define MORE "3f804000"    /* 1 + 2^-9: a quarter of the way from 1 to the next number of bfloat16 */
#define QUARTER "3b000000" /* 2^-9 */
#define UP 0x3F810000u     /* 1 + 2^-7 */

static const t_settled rows[] = {
    /* c=last has the model's saturation policy: 65504 + 65504 */
    {"block(chain,l=1,c=last,sat=finite,out=binary16)", F16("7bff", "3c00", "7bff"), -1, 0x7BFF},
    {"block(chain,l=1,sat=finite,out=binary16)", F16("7bff", "3c00", "7bff"), -1, 0x7BFF},
    {"block(chain,l=1,c=last,out=binary16)", F16("7bff", "3c00", "7bff"), -1, 0x7C00},
    {"block(exact,l=1,c=last,sat=finite,out=binary16)", F16("7bff", "3c00", "7bff"), -1, 0x7BFF},
    {"block(exact,l=1,c=last,sat=propagate,out=binary16)", F16("fbff", "3c00", "fbff"), -1, 0xFBFF},
    {"block(exact,l=1,c=last,sat=propagate,out=binary16)", F16("7bff", "3c00", "7c00"), -1, 0x7C00},
    {"block(exact,l=1,c=last,sat=finite,out=binary16)", F16("7bff", "3c00", "7c00"), -1, 0x7BFF},
    {"block(align,l=1,f=20,emin=-30,c=last,sat=finite,out=binary16)", F16("7bff", "3c00", "7bff"), -1, 0x7BFF},
    {"block(align,l=1,f=20,emin=-30,c=last,last=raz,sat=propagate,out=binary16)", F16("fbff", "3c00", "fbff"), -1,
     0xFBFF},
    {"block(align,l=1,f=20,emin=-30,c=last,last=raz,out=binary16)", F16("fbff", "3c00", "fbff"), -1, 0xFC00},
    /* all but the last addition saturates: the overflow axis of `out`, which `acc` does not share */
    {"block(align,l=2,f=20,emin=-30,c=last,out=fp(5,10,0):ovf=max,acc=binary16)", F16("7bff7bff", "3c003c00", "7bff"),
     -1, 0x7C00},
    {"block(align,l=2,f=20,emin=-30,c=last,out=fp(5,10,0):ovf=max,acc=binary16)", F16("7bff7bff", "3c003c00", "8000"),
     -1, 0x7BFF},
    /* the products of scaling=sum: 65504 times 2 */
    {"block(exact,l=1,every=1,c=last,scaling=sum,scale=float8_e8m0fnu,sat=finite,out=binary16)", "binary16",
     "float8_e8m0fnu", "7bff", "3c00", "fbff", "80", "7f", -1, 0x0000},
    {"block(exact,l=1,every=1,c=last,scaling=sum,scale=float8_e8m0fnu,out=binary16)", "binary16", "float8_e8m0fnu",
     "7bff", "3c00", "fbff", "80", "7f", -1, 0x7C00},
    /* n = 0: C itself, flushed once by daz; not where it is added outside of the blocks */
    {"block(chain,l=4,daz=sign,out=binary16)", F32("", "", "33800000"), -1, 0},
    {"block(chain,l=4,daz=sign,out=binary16)", F32("", "", "b3800000"), -1, 0x80000000},
    {"block(chain,l=4,daz=plus,out=binary16)", F32("", "", "80000000"), -1, 0},
    {"block(chain,l=4,out=binary16)", F32("", "", "33800000"), -1, 0x33800000},
    {"block(chain,l=4,daz=sign,out=binary16)", F32("00000000", ONE, "33800000"), -1, 0},
    {"promote(4,block(chain,l=4,daz=sign,out=binary16),binary32)", F32("", "", "33800000"), -1, 0x33800000},
    {"promote(4,block(chain,l=4,daz=sign,out=binary16),binary32)", F32("00000000", ONE, "33800000"), -1, 0x33800000},
    {"splitk(2,block(chain,l=4,daz=sign,out=binary32))", F32("00000000", ONE, "00000001"), -1, 1},
    /* order=mod4: the second block cuts the first one's 1.9375 + 1 = 2.9375 to multiples of 1/8 */
    {"block(align,l=2,f=4,emin=-126,order=mod4,out=binary32)", F32("3ff80000", ONE, ONE), -1, 0x40380000},
    {"block(align,l=2,f=4,emin=-126,out=binary32)", F32("3ff80000", ONE, ONE), -1, 0x403C0000},
    /* tree: depth first, so that the first sum of two leaves is rounding 2; its second leaf is rounding 1 */
    {"block(tree,l=4,out=bfloat16,round=sra:8)", F32(ONE QUARTER, ONE ONE, "00000000"), 2, UP},
    {"block(tree,l=4,out=bfloat16,round=sra:8)", F32(ONE QUARTER, ONE ONE, "00000000"), 4, 0x3F800000},
    {"block(tree,l=4,out=bfloat16,round=sra:8)", F32("00000000" MORE, ONE ONE, "00000000"), 1, UP},
    {"block(tree,l=4,out=bfloat16,round=sra:8)", F32("0000000000000000" ONE QUARTER, ONE ONE ONE ONE, "00000000"), 5,
     UP},
    {"block(tree,l=4,out=bfloat16,round=sra:8)", F32(ONE, ONE, QUARTER), 7, UP},
    /* the second block of a tree whose first block lacks products: 4 leaves, 3 sums, the addition to c */
    {"block(tree,l=4,out=bfloat16,round=sra:8)",
     F32("00000000000000000000000000000000" MORE, ONE ONE ONE ONE ONE, "00000000"), 8, UP},
    /* lanes: u, v, u, v */
    {"block(lanes,l=4,out=bfloat16,round=sra:8)", F32(ONE "00000000" QUARTER, ONE ONE ONE, "00000000"), 2, UP},
    {"block(lanes,l=4,out=bfloat16,round=sra:8)", F32("00000000" MORE, ONE ONE, "00000000"), 1, UP},
    {"block(lanes,l=4,out=bfloat16,round=sra:8)", F32(ONE QUARTER, ONE ONE, "00000000"), 2, UP},
    {"block(lanes,l=4,out=bfloat16,round=sra:8)", F32(ONE, ONE, QUARTER), 2, UP},
    /* the empty second block of order=mod4 has a rounding, and chains go on after it */
    {"block(align,l=2,f=20,emin=-126,order=mod4,acc=binary32,out=bfloat16,round=sra:8)", F32(ONE, ONE, QUARTER), 0, UP},
    {"block(align,l=2,f=20,emin=-126,order=mod4,acc=binary32,out=bfloat16,round=sra:8)",
     F32(ONE "000000000000000000000000" QUARTER, ONE ONE ONE ONE ONE, "00000000"), 2, UP},
    /* promote: M, sA sB, the sum; the same with scaling=sum, whose value is converted first */
    {"promote(1,seq(bfloat16,sra:8),binary32,scaled)", "binary32", "binary32", MORE, ONE, "00000000", ONE, ONE, 0, UP},
    {"promote(1,seq(bfloat16,sra:8),binary32,scaled)", "binary32", "binary32", MORE, ONE, "00000000", ONE, ONE, 1,
     0x3F800000},
    {"promote(1,seq(bfloat16,sra:8),binary32,scaled)", "binary32", "binary32", "00000000" MORE, ONE ONE, "00000000",
     ONE ONE, ONE ONE, 3, UP},
    {"block(exact,l=1,every=1,c=last,scaling=sum,scale=float8_e8m0fnu,out=bfloat16,round=sra:8)", "binary32",
     "float8_e8m0fnu", MORE, ONE, "00000000", "7f", "7f", 0, UP},
    {"block(exact,l=1,every=1,c=last,scaling=sum,scale=float8_e8m0fnu,out=bfloat16,round=sra:8)", "binary32",
     "float8_e8m0fnu", "00000000" MORE, ONE ONE, "00000000", "7f7f", "7f7f", 4, UP},
};

static size_t read_hex(uint64_t *z, size_t buffer, const char *text, hu_type element) {
  return dot_read_hex(z, buffer, text, hu_type_width(element));
}

static t_dot dot_of(const t_settled *settled) {
  static t_dot x;
  memset(&x, 0, sizeof x);
  size_t where;
  if (hu_accum_parse(&x.accum, settled->model, &where) != HU_OK) fail_msg("%s: wrong at %zu", settled->model, where);
  x.a = x.b = x.c = dot_element(settled->format);
  x.n = *settled->a ? read_hex(x.at, DOT_TERMS, settled->a, x.a) : 0;
  if (x.n) assert_int_equal(read_hex(x.bt, DOT_TERMS, settled->b, x.b), x.n);
  x.has_c = 1;
  assert_int_equal(read_hex(&x.ct, 1, settled->c, x.c), 1);
  if (!settled->scale) return x;
  hu_type scale = dot_element(settled->scale);
  x.scale = scale.format;
  x.scales = read_hex(x.sa, DOT_SCALES, settled->sa, scale);
  assert_int_equal(read_hex(x.sb, DOT_SCALES, settled->sb, scale), x.scales);
  return x;
}

static uint32_t with_words(const t_dot *x, int up) {
  uint8_t a[64], b[64], c[8], sa[16], sb[16];
  uint32_t words[64] = {0}, z = 0, patterns = 0;
  hu_product in = hu_product_of_dot(x->n, hu_output_of(&patterns, 1, x->c), hu_view_of(a, 1, x->a),
                                    hu_view_of(b, 1, x->b), &x->accum);
  const struct {
    hu_view *view;
    uint8_t *at;
    const uint64_t *from;
    size_t n;
    hu_type type;
  } all[] = {{&in.a, a, x->at, x->n, x->a},
             {&in.b, b, x->bt, x->n, x->b},
             {&in.c, c, &x->ct, 1, x->c},
             {&in.sa, sa, x->sa, x->scales, hu_type_codes(x->scale)},
             {&in.sb, sb, x->sb, x->scales, hu_type_codes(x->scale)}};
  for (size_t i = 0; i < (x->scales ? 5 : 3); i++) {
    size_t size = hu_type_size(all[i].type);
    for (size_t k = 0; k < all[i].n; k++) dot_store(all[i].at, k, size, all[i].from[k]);
    *all[i].view = hu_view_of(all[i].at, 1, all[i].type);
  }
  if (up >= 0) words[up] = 0xFFFFFFFF;
  int stochastic = x->accum.mode.round >= HU_SRA;
  hu_dot_random random = {stochastic ? words : NULL, stochastic ? 64 : 0, 0, 0};
  hu_how how = {.mode = x->mode};
  assert_int_equal(hu_dot_words(&in, &random, &how), HU_OK);
  memcpy(&z, &patterns, hu_type_size(x->c));
  return z;
}

/* All of a matrix of equal elements, by whatever lanes there are. */
static void check_gemm(const t_dot *x, const t_settled *settled) {
  enum { SIDE = 33 };
  static uint32_t wide[3][SIDE * SIDE], z[SIDE * SIDE];
  static uint16_t half[3][SIDE * SIDE], narrow[SIDE * SIDE];
  int is16 = hu_type_size(x->c) == 2;
  size_t n = x->n ? x->n : 1;
  for (size_t i = 0; i < SIDE; i++) {
    for (size_t k = 0; k < x->n; k++) {
      half[0][i * n + k] = (uint16_t)x->at[k];
      wide[0][i * n + k] = (uint32_t)x->at[k];
      half[1][k * SIDE + i] = (uint16_t)x->bt[k];
      wide[1][k * SIDE + i] = (uint32_t)x->bt[k];
    }
  }
  for (size_t i = 0; i < SIDE * SIDE; i++) {
    wide[2][i] = (uint32_t)x->ct;
    half[2][i] = (uint16_t)x->ct;
  }
  const void *from[3] = {is16 ? (void *)half[0] : wide[0], is16 ? (void *)half[1] : wide[1],
                         is16 ? (void *)half[2] : wide[2]};
  hu_format format = x->c.format;
  hu_view a = hu_matrix_codes(from[0], n, format), b = hu_matrix_codes(from[1], SIDE, format),
          c = hu_matrix_codes(from[2], SIDE, format);
  hu_output result = hu_matrix_codes_out(is16 ? (void *)narrow : z, SIDE, format);
  assert_int_equal(hu_gemm(SIDE, SIDE, x->n, &result, &a, &b, &c, &x->accum, &(hu_how){x->mode, NULL, NULL}), HU_OK);
  for (size_t i = 0; i < SIDE * SIDE; i++) {
    uint32_t got = is16 ? narrow[i] : z[i];
    if (got != settled->code) fail_msg("%s, gemm, element %zu: %#x, not %#x", settled->model, i, got, settled->code);
  }
}

static void page(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const t_settled *settled = &rows[i];
    t_dot x = dot_of(settled);
    uint32_t events, got = with_words(&x, settled->up);
    if (got != settled->code)
      fail_msg("row %zu, %s, word %d: %#x, not %#x", i, settled->model, settled->up, got, settled->code);
    if (settled->up >= 0) continue;
    assert_int_equal(dot_library(&x, &events), settled->code);
    assert_int_equal(reference_dot(&x, &events), settled->code);
    if (!settled->scale) check_gemm(&x, settled);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(page)};
  return cmocka_run_group_tests_name("accum_settled", tests, NULL, NULL);
}
