/* SPDX-License-Identifier: MIT */
/* Calls on arrays of codes: conversions, arithmetic, functions, number systems, sums. See codes.h. */
#include <string.h>

#include "tests/array/codes.h"

enum { N = 203 };
static const hu_mode rne;

static const char *const formats[] = {"float4_e2m1fn", "float6_e3m2fn", "fp(5,6,0)", "fp(8,15,0)", NULL};
static const char *const bytes[] = {"float4_e2m1fn", "float6_e3m2fn", "fp(3,3,0)", "fp(1,1,0)", NULL};
static const char *const numbers[] = {"int4",      "q(3.8)",    "q(3.20)", "uq(2.2)",       "posit(6,1)",
                                      "lns(12,4)", "takum(12)", "nf4",     "float4_e2m1fn", NULL};

static const void *array(t_world *w) { return codes(w, w->format, 1, N, 0, w->inc); }
static hu_events *events(t_world *w) {
  hu_events *e = result(w, sizeof *e);
  return e;
}
static void *codes_out(t_world *w) { return result(w, N * 4); }

/* ---- conversions ---- */

static hu_status decode(t_world *w) {
  return hu_decode_n(N, result(w, N * sizeof(float)), 1, array(w), w->inc, w->format, &w->exec);
}

static hu_status decode64(t_world *w) {
  return hu_decode64_n(N, result(w, N * sizeof(double)), 1, array(w), w->inc, w->format, &w->exec);
}

static hu_status convert(t_world *w) {
  return hu_convert_n(N, codes_out(w), 1, w->format, array(w), w->inc, w->format, rne, &w->exec, events(w));
}

static hu_status pack(t_world *w) {
  const uint8_t *x = codes(w, w->format, 1, N, 0, 1);
  return hu_pack_n(N, result(w, N), x, hu_limits_of(w->format).width);
}

static hu_status check(t_world *w) { return hu_codes_check_n(N, array(w), w->inc, w->format, &w->exec, NULL); }

/* ---- arithmetic, functions ---- */

#define ONE(name)                                                                                               \
  static hu_status of_##name(t_world *w) {                                                                      \
    return hu_##name##_n(N, codes_out(w), 1, w->format, array(w), w->inc, w->format, rne, &w->exec, events(w)); \
  }
#define TWO(name)                                                                                                  \
  static hu_status of_##name(t_world *w) {                                                                         \
    const void *a = array(w), *b = array(w);                                                                       \
    return hu_##name##_n(N, codes_out(w), 1, w->format, a, w->inc, w->format, b, w->inc, w->format, rne, &w->exec, \
                         events(w));                                                                               \
  }
#define NEXT(name)                                                                   \
  static hu_status of_##name(t_world *w) {                                           \
    return hu_##name##_n(N, codes_out(w), 1, array(w), w->inc, w->format, &w->exec); \
  }
ONE(sqrt)
ONE(exp)
ONE(exp2)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log1p)
ONE(tanh)
ONE(sigmoid)
ONE(erf)
ONE(gelu)
ONE(rsqrt)
ONE(reciprocal)
ONE(sin)
ONE(cos)
TWO(add)
TWO(sub)
TWO(mul)
TWO(div)
TWO(minimum)
TWO(maximum)
TWO(minimum_number)
TWO(maximum_number)
TWO(pow)
NEXT(next_up)
NEXT(next_down)

static hu_status of_fma(t_world *w) {
  const void *a = array(w), *b = array(w), *c = array(w);
  return hu_fma_n(N, codes_out(w), 1, w->format, a, w->inc, w->format, b, w->inc, w->format, c, w->inc, w->format, rne,
                  &w->exec, events(w));
}

static hu_status of_round_to_integral(t_world *w) {
  return hu_round_to_integral_n(N, codes_out(w), 1, array(w), w->inc, w->format, rne, &w->exec, events(w));
}

static hu_status of_class(t_world *w) { return hu_class_n(N, result(w, N), 1, array(w), w->inc, w->format, &w->exec); }

static hu_status of_compare(t_world *w) {
  const void *a = array(w), *b = array(w);
  return hu_compare_n(N, result(w, N), 1, a, w->inc, w->format, b, w->inc, w->format, &w->exec);
}

/* ---- number systems ---- */

static hu_number number(const t_world *w) {
  static float room[HU_TABLE_MAX];
  hu_number n;
  hu_status s = hu_number_parse(&n, w->text, room, NULL);
  if (s != HU_OK) memset(&n, 0xFF, sizeof n); /* which no call takes */
  return n;
}

static const void *numbers_of(t_world *w, hu_number n) {
  return codes_of_width(w, hu_number_limits_of(n).width, n.kind == HU_NUMBER_FIXED && n.sign, 1, N, 0, w->inc);
}

static hu_status number_decode(t_world *w) {
  hu_number n = number(w);
  return hu_number_decode_n(N, result(w, N * sizeof(float)), 1, numbers_of(w, n), w->inc, n, &w->exec);
}

static hu_status number_decode64(t_world *w) {
  hu_number n = number(w);
  return hu_number_decode64_n(N, result(w, N * sizeof(double)), 1, numbers_of(w, n), w->inc, n, &w->exec);
}

static hu_status number_convert(t_world *w) {
  hu_number n = number(w);
  return hu_number_convert_n(N, codes_out(w), 1, n, numbers_of(w, n), w->inc, n, rne, &w->exec, events(w));
}

/* ---- sums ---- */

/* Sums that are there are results, too. */
static hu_sum *sum(t_world *w) { return memset(result(w, sizeof(hu_sum)), 0xA5, sizeof(hu_sum)); }

static hu_status sum_add_all(t_world *w) { return hu_sum_add_all(sum(w), N, array(w), w->inc, w->format); }

static hu_status sum_add_dot(t_world *w) {
  const void *a = array(w), *b = array(w);
  return hu_sum_add_dot(sum(w), N, a, w->inc, w->format, b, w->inc, w->format);
}

static hu_status sum_add(t_world *w) {
  hu_sum_range range = hu_sum_range_of(w->format);
  uint64_t *sums = result(w, N * (1 + range.words) * sizeof(uint64_t));
  return hu_sum_add_n(N, sums, range, array(w), w->inc, w->format, &w->exec);
}

static hu_status sum_add_product(t_world *w) {
  hu_sum_range range = hu_sum_range_of_product(w->format, w->format);
  uint64_t *sums = result(w, N * (1 + range.words) * sizeof(uint64_t));
  const void *a = array(w), *b = array(w);
  return hu_sum_add_product_n(N, sums, range, a, w->inc, w->format, b, w->inc, w->format, &w->exec);
}

/* ---- the table ---- */

#define ROW(name, operands) \
  { "hu_" #name "_n", of_##name, formats, operands }
const world_call array_calls[] = {{"hu_decode_n", decode, formats, 1},
                                  {"hu_decode64_n", decode64, formats, 1},
                                  {"hu_convert_n", convert, formats, 1},
                                  {"hu_pack_n", pack, bytes, 1},
                                  {"hu_codes_check_n", check, formats, 1},
                                  ROW(sqrt, 1),
                                  ROW(exp, 1),
                                  ROW(exp2, 1),
                                  ROW(expm1, 1),
                                  ROW(log, 1),
                                  ROW(log2, 1),
                                  ROW(log1p, 1),
                                  ROW(tanh, 1),
                                  ROW(sigmoid, 1),
                                  ROW(erf, 1),
                                  ROW(gelu, 1),
                                  ROW(rsqrt, 1),
                                  ROW(reciprocal, 1),
                                  ROW(sin, 1),
                                  ROW(cos, 1),
                                  ROW(add, 2),
                                  ROW(sub, 2),
                                  ROW(mul, 2),
                                  ROW(div, 2),
                                  ROW(minimum, 2),
                                  ROW(maximum, 2),
                                  ROW(minimum_number, 2),
                                  ROW(maximum_number, 2),
                                  ROW(pow, 2),
                                  ROW(fma, 3),
                                  ROW(round_to_integral, 1),
                                  ROW(next_up, 1),
                                  ROW(next_down, 1),
                                  ROW(class, 1),
                                  ROW(compare, 2),
                                  {"hu_number_decode_n", number_decode, numbers, 1},
                                  {"hu_number_decode64_n", number_decode64, numbers, 1},
                                  {"hu_number_convert_n", number_convert, numbers, 1},
                                  {"hu_sum_add_all", sum_add_all, formats, 1},
                                  {"hu_sum_add_dot", sum_add_dot, formats, 2},
                                  {"hu_sum_add_n", sum_add, formats, 1},
                                  {"hu_sum_add_product_n", sum_add_product, formats, 2},
                                  {NULL, NULL, NULL, 0}};
