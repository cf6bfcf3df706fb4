/* SPDX-License-Identifier: MIT */
/* hu_gemm under intel.vdpbf16ps and intel.tdpbf16ps by the instructions: bytes and events of the element-by-element
 * integers (all levels off), and of the lanes (HU_LEVEL_BF16, HU_LEVEL_AMX_BF16 off) where there are many elements.
 * Where the processor has no such instruction, the lanes are compared alone; gemm_pairs_modelled has them in plain
 * C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"

#include "tests/gemm/extension.h"
#include "tests/gemm/models.h"

#ifdef TEST_MODELLED
#include "tests/gemm/modelled/tiles.h"
#endif

#ifndef TEST_ROUNDS
#define TEST_ROUNDS 400
#endif

static unsigned long runs;

typedef struct unit {
  const char *model;
  uint32_t level;
} unit;
static const unit units[] = {{"intel.vdpbf16ps", HU_LEVEL_BF16}, {"intel.tdpbf16ps", HU_LEVEL_AMX_BF16}};
enum { UNITS = 2 };

/* No tile is left in a thread. */
static void same(const problem *p, const char *model, uint32_t off) {
  problem_same_with(p, model, off, &runs);
#ifdef TEST_MODELLED
  assert_int_equal(model_tiles_in_use(), 0);
#endif
}

/* Numbers of exponents low ... low + width, of few digits or all, with zeros and negatives of earlier ones. */
static void refill(plain *x, t_random *r, int low, uint32_t width) {
  hu_limits l = hu_limits_of(x->format);
  hu_mode mode = t_mode(HU_RTZ);
  uint32_t digits = t_below(r, 3) ? 7 : t_below(r, 4), zeros = t_below(r, 3) ? 0 : 5;
  mode.saturate = HU_SAT_FINITE;
  for (size_t i = 0; i < x->rows * x->columns; i++) {
    double v = (1 + t_below(r, 1u << digits) * power_of_two(-(int)digits)) * power_of_two(low + (int)t_below(r, width));
    if (zeros && t_below(r, zeros) == 0) v = 0;
    x->code[i] = hu_encode64(x->format, mode, v, 0, NULL) | (t_below(r, 2) ? l.sign_mask : 0);
    if (i && t_below(r, 4) == 0) x->code[i] = x->code[t_below(r, (uint32_t)i)] ^ l.sign_mask;
  }
  plain_keep_layout(x, t_below(r, 3));
}

/* A binary32 number about 2^e, of all digits. */
static void refill_c(plain *x, t_random *r, int e) {
  for (size_t i = 0; i < x->rows * x->columns; i++) {
    double v = (1 + t_next32(r) * 0x1p-32) * power_of_two(e + (int)t_below(r, 4) - 2);
    x->code[i] = hu_encode64(x->format, t_mode(HU_RTZ), t_below(r, 2) ? v : -v, 0, NULL);
    if (t_below(r, 9) == 0) x->code[i] &= hu_limits_of(x->format).sign_mask;
  }
  plain_keep_layout(x, t_below(r, 3));
}

static void draw(problem *p, t_random *r, const char *model, size_t m, size_t n, size_t k) {
  static const char *const results[] = {"binary32", "binary32", "bfloat16", "binary16", "float8_e4m3fn"};
  static const char *const addends[] = {"binary32", "binary32", "bfloat16", "float8_e5m2"};
  hu_format f = named_format("bfloat16"), fc = named_format(addends[t_below(r, 4)]);
  problem_draw(p, r, m, n, k, f, f, t_below(r, 3) ? &fc : NULL, named_format(results[t_below(r, 5)]), HU_ACCUM_EXACT);
  p->accum = hu_accum_any(named_model(model));
}

/* Codes of all kinds, infinities and NaN among them. */
static void random_problems(void **state) {
  (void)state;
  t_random r = {t_seed("gemm pairs", 71)};
  for (int i = 0; i < TEST_ROUNDS; i++) {
    problem p;
    const char *model = units[i % UNITS].model;
    draw(&p, &r, model, 1 + t_below(&r, 40), 1 + t_below(&r, 110), t_below(&r, t_below(&r, 4) ? 20 : 400));
    same(&p, model, UINT32_MAX);
    problem_free(&p);
  }
  print_message("gemm pairs: %lu runs agree\n", runs);
}

/* Products, C and sums about 2^-126, where zeros are made; at the upper end; far apart; cancelling. */
static void ends(void **state) {
  (void)state;
  static const int at[][3] = {{-63, -64, -126}, {-100, -30, -128}, {-126, 0, -126}, {-40, -70, -103},
                              {63, 63, 127},    {-60, 10, -26},    {0, 0, 0},       {-66, -66, -126}};
  t_random r = {t_seed("gemm pairs ends", 72)};
  for (int i = 0; i < TEST_ROUNDS; i++) {
    const int *e = at[i % 8];
    problem p;
    const char *model = units[i / 8 % UNITS].model;
    draw(&p, &r, model, 1 + t_below(&r, 20), 1 + t_below(&r, 70), 1 + t_below(&r, t_below(&r, 3) ? 5 : 60));
    refill(&p.a, &r, e[0] - 2, 1 + t_below(&r, 8));
    refill(&p.b, &r, e[1] - 2, 1 + t_below(&r, 8));
    if (p.has_c) refill_c(&p.c, &r, e[2]);
    if (t_below(&r, 4) == 0) plain_spoil(t_below(&r, 2) ? &p.a : &p.b, &r);
    same(&p, model, UINT32_MAX);
    problem_free(&p);
  }
  print_message("gemm pairs: %lu runs agree\n", runs);
}

/* Larger than a block in each direction in turn, and pieces of K that end in the middle of a pair or of a tile. */
static void beyond_blocks(void **state) {
  (void)state;
  static const size_t shapes[][3] = {{270, 300, 9}, {5, 610, 331}, {530, 7, 160}, {3, 4, 1001}};
  t_random r = {t_seed("gemm pairs beyond blocks", 73)};
  for (int i = 0; i < 24; i++) {
    const unit *u = &units[i / 4 % UNITS];
    problem p;
    draw(&p, &r, u->model, shapes[i % 4][0], shapes[i % 4][1], shapes[i % 4][2]);
    refill(&p.a, &r, -6, 12);
    refill(&p.b, &r, -6, 12);
    same(&p, u->model, ~(uint32_t)HU_LEVEL_VECTOR);
    same(&p, u->model, u->level);
    problem_free(&p);
  }
  print_message("gemm pairs: %lu runs agree\n", runs);
}

/* Single steps in great number against the lanes: sums that are tiny, ties, cancelled to the last digit. */
static void steps(void **state) {
  (void)state;
  t_random r = {t_seed("gemm pairs steps", 74)};
  hu_format f = named_format("bfloat16"), fc = named_format("binary32");
  for (int i = 0; i < TEST_ROUNDS / 10; i++) {
    const unit *u = &units[i / 4 % UNITS];
    problem p;
    int e = i % 2 ? -63 : -20 + (int)t_below(&r, 40), spread = 1 + (int)t_below(&r, 30);
    problem_draw(&p, &r, 256, 288, 1 + (size_t)i % 3, f, f, &fc, fc, HU_ACCUM_EXACT);
    p.accum = named_model(u->model);
    refill(&p.a, &r, e, (uint32_t)spread);
    refill(&p.b, &r, e - (i % 4 == 1 ? spread : 0), (uint32_t)spread);
    refill_c(&p.c, &r, 2 * e + (int)t_below(&r, 24) - 12);
    same(&p, u->model, u->level);
    problem_free(&p);
  }
  print_message("gemm pairs: %lu runs agree\n", runs);
}

/* A NaN whose digits lie below those of bfloat16, in binary32 patterns. */
static void nan_digits(void **state) {
  (void)state;
  t_random r = {t_seed("gemm pairs NaN", 75)};
  for (int i = 0; i < 8 * UNITS; i++) {
    const char *model = units[i / 8].model;
    const uint32_t low = 0x7F800001u | (uint32_t)i % 2 << 31;
    problem p;
    draw(&p, &r, model, 9, 50, 7);
    plain *x = i / 2 % 2 ? &p.a : &p.b;
    plain_store_again(x, 1, i / 4 % 2, 0);
    memcpy((uint8_t *)x->stored + 4 * t_below(&r, (uint32_t)(x->rows * x->columns)), &low, 4);
    same(&p, model, UINT32_MAX);
    problem_free(&p);
  }
}

/* Operands of other formats, too. */
static void draw_neighbour(problem *p, t_random *r, size_t i) {
  static const char *const operands[] = {"bfloat16", "bfloat16", "fp(8,7,0):finite", "float8_e5m2", "fp(6,9,0)"};
  uint32_t some = i % 2 ? 3 : 5;
  hu_format fa = named_format(operands[t_below(r, some)]), fb = named_format(operands[t_below(r, some)]),
            fc = named_format("binary32");
  problem_draw(p, r, 9, 40, t_below(r, t_below(r, 2) ? 20 : 80), fa, fb, t_below(r, 2) ? &fc : NULL, fc,
               HU_ACCUM_EXACT);
  if (t_below(r, 2)) {
    refill(&p->a, r, hu_limits_of(fa).emin - 1, 3);
    refill(&p->b, r, -2, 3);
    if (p->has_c) refill_c(&p->c, r, hu_limits_of(fa).emin);
  }
}

/* Models one key apart from them. */
static void neighbours(void **state) {
  (void)state;
  static const char *const texts[] = {"block(chain,l=2,daz=sign,ftz=tiny)",
                                      "block(chain,l=4,order=down,daz=sign,ftz=tiny)",
                                      "block(chain,l=2,order=down,daz=plus,ftz=tiny)",
                                      "block(chain,l=2,order=down,ftz=tiny)",
                                      "block(chain,l=2,order=down,daz=sign)",
                                      "block(chain,l=2,order=down,daz=sign,ftz=after)",
                                      "block(chain,l=2,order=down,daz=sign,ftz=before)",
                                      "block(chain,l=2,order=down,daz=sign,ftz=tiny,in=4)",
                                      "block(chain,l=2,order=down,daz=sign,ftz=tiny,out=bfloat16)",
                                      "block(chain,l=2,order=down,daz=sign,ftz=tiny,sat=finite)",
                                      "block(chain,l=2,order=down,daz=sign,ftz=after,round=rtz)",
                                      "block(lanes,l=2,daz=sign,ftz=tiny)",
                                      "promote(6,block(chain,l=2,order=down,daz=sign,ftz=tiny),binary32)",
                                      "splitk(3,block(chain,l=2,order=down,daz=sign,ftz=tiny))",
                                      "any(intel.vdpbf16ps)",
                                      "block(lanes,l=16,daz=sign,ftz=tiny)",
                                      "block(lanes,l=34,daz=sign,ftz=tiny)",
                                      "block(lanes,l=32,daz=plus,ftz=tiny)",
                                      "block(lanes,l=32,ftz=tiny)",
                                      "block(lanes,l=32,daz=sign)",
                                      "block(lanes,l=32,daz=sign,ftz=after)",
                                      "block(lanes,l=32,daz=sign,ftz=tiny,in=4)",
                                      "block(lanes,l=32,daz=sign,ftz=tiny,out=bfloat16)",
                                      "block(lanes,l=32,daz=sign,ftz=after,round=rtz)",
                                      "block(chain,l=32,daz=sign,ftz=tiny)",
                                      "promote(34,block(lanes,l=32,daz=sign,ftz=tiny),binary32)",
                                      "splitk(3,block(lanes,l=32,daz=sign,ftz=tiny))",
                                      "any(intel.tdpbf16ps)"};
  t_random r = {t_seed("gemm pairs neighbours", 76)};
  extension_neighbours(&(extension_texts){texts, sizeof texts / sizeof *texts, 16, draw_neighbour, same}, &r);
  print_message("gemm pairs: %lu runs agree\n", runs);
}

EXTENSION_RAN(model_tiles_set_up, 100)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_problems), cmocka_unit_test(ends),       cmocka_unit_test(beyond_blocks),
      cmocka_unit_test(steps),           cmocka_unit_test(nan_digits), cmocka_unit_test(neighbours) EXTENSION_RAN_CASE};
  for (int i = 0; i < UNITS; i++) {
    print_message("gemm pairs: %s: the instruction is %s\n", units[i].model,
                  hu_levels() & units[i].level ? "there" : "not there");
  }
  return cmocka_run_group_tests_name("gemm pairs", tests, NULL, NULL);
}
