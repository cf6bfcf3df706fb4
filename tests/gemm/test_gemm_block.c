/* SPDX-License-Identifier: MIT */
/* hu_gemm under block(...) in lanes: at every kernel level and thread count the bytes and events of the
 * element-by-element integers (all levels off), for every preset and for models of all rules and parameters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/models.h"

/* Numbers of exponents `low` ... `low + width`, some of few digits, some zeros of either sign, some the negative of an
 * earlier one. */
static void refill(plain *x, t_random *random, int low, uint32_t width) {
  hu_limits limits = hu_limits_of(x->format);
  hu_mode mode = t_mode(HU_RTZ);
  uint32_t digits = t_below(random, 3) ? 32 : 1 + t_below(random, 6), zeros = t_below(random, 3) ? 0 : 4;
  mode.saturate = HU_SAT_FINITE;
  for (size_t i = 0; i < x->rows * x->columns; i++) {
    double v = (1 + (double)(t_next32(random) >> (32 - digits)) * power_of_two(-(int)digits)) *
               power_of_two(low + (int)t_below(random, width + 1));
    if (zeros && t_below(random, zeros) == 0) v = 0;
    x->code[i] = hu_encode64(x->format, mode, v, 0, NULL);
    if (t_below(random, 2)) x->code[i] |= limits.sign_mask;
    if (limits.sign_mask && i && t_below(random, 4) == 0)
      x->code[i] = x->code[t_below(random, (uint32_t)i)] ^ limits.sign_mask;
    if (limits.has_nan && limits.nan_code == x->code[i]) x->code[i] = 0; /* there is no -0 */
  }
  plain_keep_layout(x, t_below(random, 3));
}

/* Data about what a model's digits tell apart: products and C of exponents near each other, F apart, at the ends. */
static void draw_data(t_problem *problem, t_random *random) {
  hu_limits la = hu_limits_of(problem->a.format), lb = hu_limits_of(problem->b.format);
  uint32_t way = t_below(random, 8), width = t_below(random, 2) ? t_below(random, 6) : t_below(random, 34);
  int ea = 0, eb = 0;
  if (problem->k == 0 || way == 0) return; /* any codes, as they were drawn */
  if (way == 1) {
    ea = la.emin - 3;
    eb = lb.emin - 3;
  } else if (way == 2) {
    ea = la.emax - (int)width;
    eb = lb.emax - (int)width;
  } else if (way == 3) { /* sums that pass binary32's and binary16's range */
    ea = (la.emax > 63 ? 63 : la.emax) - (int)width / 2;
    eb = (lb.emax > 64 ? 64 : lb.emax) - (int)width / 2;
  } else if (way == 4) { /* and that fall below it */
    ea = (la.emin < -66 ? -66 : la.emin) - (int)t_below(random, 12);
    eb = (lb.emin < -66 ? -66 : lb.emin) - (int)t_below(random, 12);
  } else {
    ea = eb = -(int)width / 2;
  }
  refill(&problem->a, random, ea, width);
  refill(&problem->b, random, eb, t_below(random, 2) ? width : t_below(random, 4));
  if (problem->has_c) refill(&problem->c, random, ea + eb - 28 + (int)t_below(random, 56), t_below(random, 12));
  if (t_below(random, 8) == 0)
    plain_spoil(t_below(random, 3) ? &problem->a : problem->has_c ? &problem->c : &problem->b, random);
}

/* Scales of the model, near 1 or any. */
static void draw_scales(t_problem *problem, t_random *random, hu_format format) {
  size_t every = problem->accum.scaled ? problem->accum.promote : problem->accum.block.every,
         count = (problem->k + every - 1) / every;
  int near = t_below(random, 4) != 0;
  problem->scaled = 1;
  plain_draw(&problem->sa, random, problem->m, count, format, (int)t_below(random, DRAW_KINDS));
  plain_draw(&problem->sb, random, count, problem->n, format, (int)t_below(random, DRAW_KINDS));
  plain_store(&problem->sa, (int)t_below(random, 2), (int)t_below(random, 2), t_below(random, 3));
  plain_store(&problem->sb, (int)t_below(random, 2), (int)t_below(random, 2), t_below(random, 3));
  if (!near || count == 0) return;
  refill(&problem->sa, random, -2, t_below(random, 12));
  refill(&problem->sb, random, -2, t_below(random, 12));
}

static void draw_sizes(t_random *random, size_t *m, size_t *n, size_t *k) {
  *m = 1 + t_below(random, t_below(random, 12) ? 9 : 70);
  *n = 1 + t_below(random, t_below(random, 12) ? 20 : 140);
  *k = t_below(random, t_below(random, 4) ? 50 : 280);
}

static void presets(void **state) {
  (void)state;
  t_random random = {t_seed("gemm block presets", 61)};
  unsigned long runs = 0, taken = 0;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset x;
    assert_int_equal(hu_accum_preset_at(&x, i), HU_OK);
    if (x.accum.kind != HU_ACCUM_BLOCK) continue;
    taken++;
    for (unsigned round = 0; round < t_runs(16); round++) {
      t_problem problem;
      size_t m, n, k;
      draw_sizes(&random, &m, &n, &k);
      problem_draw(&problem, &random, m, n, k, x.a.format, x.b.format, t_below(&random, 3) ? &x.c.format : NULL,
                   t_below(&random, 2) ? x.c.format : named_format("binary32"), HU_ACCUM_EXACT);
      problem.accum = x.accum;
      draw_data(&problem, &random);
      if (hu_accum_is_scaled(&x.accum)) draw_scales(&problem, &random, x.accum.block.scale);
      problem_same_at_levels(&problem, x.name, &runs);
      problem_free(&problem);
    }
  }
  assert_true(taken > 200);
  print_message("gemm block: %lu presets, %lu runs agree\n", taken, runs);
}

/* ---- models of all parameters ---- */

static const char *pick(t_random *random, const char *const *from, size_t n) {
  return from[t_below(random, (uint32_t)n)];
}
#define PICK(list) pick(random, list, sizeof list / sizeof list[0])

static const char *const operands[] = {"binary16",    "bfloat16",      "binary32",        "float8_e4m3fn",
                                       "float8_e5m2", "float4_e2m1fn", "float8_e4m3fnuz", "fp(8,3,0)",
                                       "fp(6,9,0)",   "fp(3,4,40)",    "fp(7,14,0)"};
static const char *const outs[] = {"",
                                   ",out=binary16",
                                   ",out=bfloat16",
                                   ",out=fp(8,13,0)",
                                   ",out=float8_e5m2",
                                   ",out=float8_e4m3fn",
                                   ",out=fp(6,9,0)",
                                   ",out=fp(8,1,60)"};
static const char *const rounds[] = {"", "", ",round=rtz", ",round=rtn", ",round=rtp", ",round=rto"};
static const char *const policies[] = {"", "", ",over=inf", ",sat=finite"};

static size_t draw_rule(t_random *random, char *z, size_t size) {
  static const char *const cuts[] = {"", ",cut=floor", ",cut=rne", ",cut=odd"};
  static const char *const orders[] = {"", "", ",order=mod4"};
  static const char *const joins[] = {"",
                                      "",
                                      ",c=last",
                                      ",c=last,last=rtz",
                                      ",c=last,last=rtp",
                                      ",c=last,last=rtn",
                                      ",c=last,last=rto",
                                      ",c=last,last=rna"};
  static const char *const daz[] = {"", ",daz=sign", ",daz=plus"};
  static const char *const ftz[] = {"", ",ftz=after", ",ftz=tiny", ",ftz=before"};
  static const char *const lates[] = {"", ",far=25", ",big=128", ",far=3,big=10"};
  static const char *const lanes[] = {"", ",lanes=2"};
  static const char *const ups[] = {"", ",order=down"};
  static const char *const zeros[] = {"", "", ",zero=ieee"};
  static const unsigned kept[] = {0, 1, 7, 13, 23, 24, 25, 31, 40};
  unsigned l = 1 + t_below(random, t_below(random, 4) ? 16 : 64), f = kept[t_below(random, 9)],
           levels = t_below(random, 5);
  const char *in = t_below(random, 6) ? "" : t_below(random, 2) ? ",in=10" : ",in=10,nan=kept";
  static const char *const every[] = {"", "", ",every=5,scale=float8_e8m0fnu", ",every=32,scale=float8_e8m0fnu",
                                      ",every=16,scale=fp(4,0,3):finite,unsigned"};
  static const char *const scales[] = {"float8_e8m0fnu", "ue4m3", "ue5m3", "fp(3,2,0):finite,unsigned"};
  unsigned g = 1 + t_below(random, 8);
  int at;
  switch (t_below(random, 7)) {
    case 6:
      at = snprintf(z, size, "block(groups,l=%u,f=%u,emin=%d,g=%u,every=%u,scale=%s%s", g * (1 + t_below(random, 8)), f,
                    -(int)t_below(random, 160), g, g * (1 + t_below(random, 4)), PICK(scales), PICK(cuts));
      return (size_t)at;
    case 0:
      at = snprintf(z, size, "block(exact,l=%u%s%s%s", t_below(random, 4) ? 1 + t_below(random, 4) : l, PICK(joins), in,
                    PICK(zeros));
      return (size_t)at;
    case 1:
      at = snprintf(z, size, "block(late,l=%u,f=%u,f2=%u%s%s%s", l, f, f + t_below(random, 41 - f), PICK(lanes),
                    PICK(lates), in);
      return (size_t)at;
    case 2:
      at = levels == 1 && t_below(random, 2)
               ? snprintf(z, size, "block(tree,l=2,products=exact%s%s%s", PICK(daz), PICK(ftz), in)
               : snprintf(z, size, "block(tree,l=%u%s%s%s", 1u << levels, PICK(daz), PICK(ftz), in);
      return (size_t)at;
    case 3:
      at = snprintf(z, size, "block(chain,l=%u%s%s%s%s%s", l, PICK(ups), PICK(joins), PICK(daz), PICK(ftz), in);
      return (size_t)at;
    case 4: at = snprintf(z, size, "block(lanes,l=%u%s%s%s", l, PICK(daz), PICK(ftz), in); return (size_t)at;
    default:
      at = snprintf(z, size, "block(align,l=%u,f=%u,emin=%d%s%s%s%s%s", l, f, -(int)t_below(random, 160), PICK(cuts),
                    PICK(orders), PICK(joins), PICK(every), in);
      return (size_t)at;
  }
}

static void draw_model(hu_accum *accum, t_random *random, char *text, size_t size) {
  do {
    char base[320];
    size_t at = draw_rule(random, base, sizeof base);
    snprintf(base + at, sizeof base - at, "%s%s%s)", PICK(outs), PICK(rounds), PICK(policies));
    if (t_below(random, 3)) {
      snprintf(text, size, t_below(random, 6) ? "%s" : "splitk(5,%s)", base);
    } else {
      const char *scaled = t_below(random, 3) ? "" : ",scaled";
      snprintf(text, size, t_below(random, 6) ? "promote(%u,%s,%s%s)" : "splitk(3,promote(%u,%s,%s%s))",
               1 + t_below(random, 150), base, t_below(random, 3) ? "binary32" : "bfloat16", scaled);
    }
  } while (hu_accum_parse(accum, text, NULL) != HU_OK); /* a clash of keys now and then */
}

static void models(void **state) {
  (void)state;
  t_random random = {t_seed("gemm block models", 62)};
  unsigned long runs = 0, refused = 0;
  for (unsigned i = 0; i < t_runs(HU_EXHAUSTIVE ? 3000 : 800); i++) {
    t_problem problem;
    char text[400];
    size_t m, n, k;
    hu_format fc = named_format(pick(&random, operands, sizeof operands / sizeof operands[0]));
    const char *a = pick(&random, operands, sizeof operands / sizeof operands[0]);
    const char *b = t_below(&random, 2) ? a : pick(&random, operands, sizeof operands / sizeof operands[0]);
    hu_accum x;
    draw_model(&x, &random, text, sizeof text);
    draw_sizes(&random, &m, &n, &k);
    problem_draw(&problem, &random, m, n, k, named_format(a), named_format(b), t_below(&random, 2) ? &fc : NULL,
                 named_format(t_below(&random, 2) ? "binary32" : a), HU_ACCUM_EXACT);
    problem.accum = x;
    draw_data(&problem, &random);
    if (hu_accum_is_scaled(&x))
      draw_scales(&problem, &random, x.scaled ? named_format(t_below(&random, 2) ? "binary32" : a) : x.block.scale);
    t_outcome outcome = problem_run(&problem, 1, 0);
    free(outcome.d);
    if (outcome.status == HU_E_ACCUM) {
      refused++;
    } else {
      problem_same_at_levels(&problem, text, &runs);
    }
    problem_free(&problem);
  }
  assert_true(runs > refused);
  print_message("gemm block models: %lu runs agree, %lu models do not take their operands\n", runs, refused);
}

enum { BEYOND = 12 };

/* Larger than a block of D and a piece of K in each direction in turn; parts of a promote longer and shorter. */
static int beyond_blocks(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const size_t shapes[][3] = {{140, 3, 20}, {3, 150, 20}, {2, 3, 1500}, {67, 66, 260}};
  static const char *const texts[BEYOND] = {"nv.hopper.f16.f32",
                                            "nv.hopper.e4m3.f16.mma",
                                            "promote(128,nv.hopper.e4m3.f32.wgmma,binary32)",
                                            "promote(300,nv.ampere.f16.f32,binary32)",
                                            "promote(31,amd.cdna3.f16,bfloat16)",
                                            "amd.cdna1.f16",
                                            "amd.cdna2.bf16",
                                            "intel.vdpbf16ps",
                                            "block(chain,l=24,out=binary16)",
                                            "block(chain,l=16,in=10,c=last,ftz=tiny,nan=kept)",
                                            "intel.tdpbf16ps",
                                            "arm.bfdot"};
  size_t s = i / BEYOND, q = i % BEYOND;
  if (s == 3 && q % 3 != 0 && t_part(100) < 100) return 0; /* the one with the most products */
  hu_format format = named_format("bfloat16"), fc = named_format("float8_e5m2");
  if (strstr(texts[q], "f16") && !strstr(texts[q], "bf16")) format = named_format("binary16");
  if (strstr(texts[q], "e4m3")) format = named_format("float8_e4m3fn");
  problem_draw(problem, random, shapes[s][0], shapes[s][1], shapes[s][2], format, format, q % 2 ? &fc : NULL,
               named_format("binary32"), HU_ACCUM_EXACT);
  refill(&problem->a, random, -6, 6);
  refill(&problem->b, random, -6, 6);
  problem_set_model(problem, strcpy(model, texts[q]));
  problem->accum = hu_accum_any(problem->accum); /* C of another format */
  return 1;
}

/* Sums of products that cancel but for what two-sums have left behind: rule exact, in steps of any size. */
static int remainders(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const int apart[] = {0, 1, 2, 10, 14, 24, 29};
  hu_format format = named_format("binary16"), fc = named_format("binary32");
  hu_limits limits = hu_limits_of(format);
  size_t k = 4, n = 24, m = 12;
  (void)i;
  problem_draw(problem, random, m, n, k, format, format, &fc, fc, HU_ACCUM_EXACT);
  /* Rows: big, small, -big, small; columns the same numbers; C near their rest, or far below all. */
  for (size_t row = 0; row < m; row++) {
    int high = 15 - (int)t_below(random, 4), low = high - apart[t_below(random, 7)];
    uint32_t big =
        hu_encode64(format, t_mode(HU_RTZ), power_of_two(high) * (1 + t_below(random, 1024) / 1024.), 0, NULL);
    uint32_t small =
        hu_encode64(format, t_mode(HU_RTZ), power_of_two(low) * (1 + t_below(random, 1024) / 1024.), 0, NULL);
    problem->a.code[row * k] = big;
    problem->a.code[row * k + 1] = small | (t_below(random, 2) ? limits.sign_mask : 0);
    problem->a.code[row * k + 2] = big | limits.sign_mask;
    problem->a.code[row * k + 3] = t_below(random, 2) ? small : small ^ 1;
  }
  for (size_t column = 0; column < n; column++) {
    uint32_t one = hu_encode64(format, t_mode(HU_RTZ), power_of_two(-(int)t_below(random, 24)), 0, NULL);
    uint32_t other = t_below(random, 2)
                         ? one
                         : hu_encode64(format, t_mode(HU_RTZ), power_of_two(-(int)t_below(random, 24)), 0, NULL);
    for (size_t row = 0; row < k; row++) problem->b.code[row * n + column] = row % 2 ? other : one;
  }
  plain_keep_layout(&problem->a, t_below(random, 3));
  plain_keep_layout(&problem->b, t_below(random, 3));
  refill(&problem->c, random, t_below(random, 2) ? -149 : -30, t_below(random, 40));
  problem_set_model(problem, t_below(random, 2) ? "amd.cdna1.f16" : "block(exact,l=3,round=rto)");
  strcpy(model, "exact"); /* so that every level is asked (models.c) */
  return 1;
}

int main(void) {
  const struct CMUnitTest of_models[] = {cmocka_unit_test(presets), cmocka_unit_test(models)};
  const model_test tests[] = {{"gemm block beyond", 63, 4 * BEYOND, beyond_blocks, 0, NULL},
                              {"gemm block remainders", 64, t_runs(400), remainders, 0, NULL}};
  return cmocka_run_group_tests_name("gemm block", of_models, NULL, NULL) +
         model_tests_run(tests, sizeof tests / sizeof *tests);
}
