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

static const void *array(t_world *world) { return codes(world, world->format, 1, N, 0, world->inc); }
static hu_events *events(t_world *world) {
  hu_events *events = result(world, sizeof *events);
  return events;
}
static void *codes_out(t_world *world) { return result(world, N * 4); }

/* ---- conversions ---- */

static hu_status decode(t_world *world) {
  return hu_decode_n(N, result(world, N * sizeof(float)), 1, array(world), world->inc, world->format, &world->exec);
}

static hu_status decode64(t_world *world) {
  return hu_decode64_n(N, result(world, N * sizeof(double)), 1, array(world), world->inc, world->format, &world->exec);
}

static hu_status convert(t_world *world) {
  return hu_convert_n(N, codes_out(world), 1, world->format, array(world), world->inc, world->format, rne, &world->exec,
                      events(world));
}

static hu_status pack(t_world *world) {
  const uint8_t *x = codes(world, world->format, 1, N, 0, 1);
  return hu_pack_n(N, result(world, N), x, hu_limits_of(world->format).width);
}

static hu_status check(t_world *world) {
  return hu_codes_check_n(N, array(world), world->inc, world->format, &world->exec, NULL);
}

/* ---- arithmetic, functions ---- */

#define ONE(name)                                                                                             \
  static hu_status of_##name(t_world *world) {                                                                \
    return hu_##name##_n(N, codes_out(world), 1, world->format, array(world), world->inc, world->format, rne, \
                         &world->exec, events(world));                                                        \
  }
#define TWO(name)                                                                                            \
  static hu_status of_##name(t_world *world) {                                                               \
    const void *a = array(world), *b = array(world);                                                         \
    return hu_##name##_n(N, codes_out(world), 1, world->format, a, world->inc, world->format, b, world->inc, \
                         world->format, rne, &world->exec, events(world));                                   \
  }
#define NEXT(name)                                                                                       \
  static hu_status of_##name(t_world *world) {                                                           \
    return hu_##name##_n(N, codes_out(world), 1, array(world), world->inc, world->format, &world->exec); \
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

static hu_status of_fma(t_world *world) {
  const void *a = array(world), *b = array(world), *c = array(world);
  return hu_fma_n(N, codes_out(world), 1, world->format, a, world->inc, world->format, b, world->inc, world->format, c,
                  world->inc, world->format, rne, &world->exec, events(world));
}

static hu_status of_round_to_integral(t_world *world) {
  return hu_round_to_integral_n(N, codes_out(world), 1, array(world), world->inc, world->format, rne, &world->exec,
                                events(world));
}

static hu_status of_class(t_world *world) {
  return hu_class_n(N, result(world, N), 1, array(world), world->inc, world->format, &world->exec);
}

static hu_status of_compare(t_world *world) {
  const void *a = array(world), *b = array(world);
  return hu_compare_n(N, result(world, N), 1, a, world->inc, world->format, b, world->inc, world->format, &world->exec);
}

/* ---- number systems ---- */

static hu_number number(const t_world *world) {
  static float buffer[HU_TABLE_MAX];
  hu_number n;
  hu_status status = hu_number_parse(&n, world->text, buffer, NULL);
  if (status != HU_OK) memset(&n, 0xFF, sizeof n); /* which no call takes */
  return n;
}

static const void *numbers_of(t_world *world, hu_number n) {
  return codes_of_width(world, hu_number_limits_of(n).width, n.kind == HU_NUMBER_FIXED && n.sign, 1, N, 0, world->inc);
}

static hu_status number_decode(t_world *world) {
  hu_number n = number(world);
  return hu_number_decode_n(N, result(world, N * sizeof(float)), 1, numbers_of(world, n), world->inc, n, &world->exec);
}

static hu_status number_decode64(t_world *world) {
  hu_number n = number(world);
  return hu_number_decode64_n(N, result(world, N * sizeof(double)), 1, numbers_of(world, n), world->inc, n,
                              &world->exec);
}

static hu_status number_convert(t_world *world) {
  hu_number n = number(world);
  return hu_number_convert_n(N, codes_out(world), 1, n, numbers_of(world, n), world->inc, n, rne, &world->exec,
                             events(world));
}

/* ---- sums ---- */

/* Sums that are there are results, too. */
static hu_sum *sum(t_world *world) { return memset(result(world, sizeof(hu_sum)), 0xA5, sizeof(hu_sum)); }

static hu_status sum_add_all(t_world *world) {
  return hu_sum_add_all(sum(world), N, array(world), world->inc, world->format);
}

static hu_status sum_add_dot(t_world *world) {
  const void *a = array(world), *b = array(world);
  return hu_sum_add_dot(sum(world), N, a, world->inc, world->format, b, world->inc, world->format);
}

static hu_status sum_add(t_world *world) {
  hu_sum_range range = hu_sum_range_of(world->format);
  uint64_t *sums = result(world, N * (1 + range.words) * sizeof(uint64_t));
  return hu_sum_add_n(N, sums, range, array(world), world->inc, world->format, &world->exec);
}

static hu_status sum_add_product(t_world *world) {
  hu_sum_range range = hu_sum_range_of_product(world->format, world->format);
  uint64_t *sums = result(world, N * (1 + range.words) * sizeof(uint64_t));
  const void *a = array(world), *b = array(world);
  return hu_sum_add_product_n(N, sums, range, a, world->inc, world->format, b, world->inc, world->format, &world->exec);
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
