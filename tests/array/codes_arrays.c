/* SPDX-License-Identifier: MIT */
/* Calls on arrays of codes: conversions, arithmetic, functions, number systems, sums. See codes.h. */
#include <string.h>

#include "tests/array/codes.h"

enum { N = 203 };
static const hu_mode rne;

const char *const array_formats[] = {"float4_e2m1fn", "float6_e3m2fn", "fp(5,6,0)", "fp(8,15,0)", NULL};
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
  return hu_pack_n(N, result(world, N), x, hu_limits_of(world->format).width, NULL);
}

static hu_status check(t_world *world) {
  return hu_codes_check_n(N, array(world), world->inc, world->format, &world->exec, NULL);
}

/* ---- operations ---- */

hu_status array_operation(t_world *world) {
  hu_operation operation = hu_operation_at((size_t)world->op);
  hu_view x[HU_OPERANDS_MAX];
  for (int i = 0; i < operation.operands; i++) x[i] = hu_codes(array(world), world->inc, world->format);
  hu_output z = hu_codes_out(codes_out(world), 1, world->format);
  if (operation.result == HU_RESULT_INT8) z = hu_int8_out(z.data, 1);
  hu_how how = {.exec = &world->exec, .events = operation.rounds ? events(world) : NULL};
  return hu_apply(world->op, N, z, x, &how);
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
  return hu_sum_add_all(sum(world), N, array(world), world->inc, world->format, NULL);
}

static hu_status sum_add_dot(t_world *world) {
  const void *a = array(world), *b = array(world);
  return hu_sum_add_dot(sum(world), N, a, world->inc, world->format, b, world->inc, world->format, NULL);
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

const world_call array_calls[] = {{"hu_decode_n", decode, array_formats, 1},
                                  {"hu_decode64_n", decode64, array_formats, 1},
                                  {"hu_convert_n", convert, array_formats, 1},
                                  {"hu_pack_n", pack, bytes, 1},
                                  {"hu_codes_check_n", check, array_formats, 1},
                                  {"hu_number_decode_n", number_decode, numbers, 1},
                                  {"hu_number_decode64_n", number_decode64, numbers, 1},
                                  {"hu_number_convert_n", number_convert, numbers, 1},
                                  {"hu_sum_add_all", sum_add_all, array_formats, 1},
                                  {"hu_sum_add_dot", sum_add_dot, array_formats, 2},
                                  {"hu_sum_add_n", sum_add, array_formats, 1},
                                  {"hu_sum_add_product_n", sum_add_product, array_formats, 2},
                                  {NULL, NULL, NULL, 0}};
