/* SPDX-License-Identifier: MIT */
/* Calls on arrays of codes: packing, the check itself, sums; the others are of tests/walk. See codes.h. */
#include <string.h>

#include "tests/array/codes.h"

enum { N = 203 };

static const char *const array_formats[] = {"float4_e2m1fn", "float6_e3m2fn", "fp(5,6,0)", "fp(8,15,0)", NULL};
static const char *const bytes[] = {"float4_e2m1fn", "float6_e3m2fn", "fp(3,3,0)", "fp(1,1,0)", NULL};

static const void *array(t_world *world) { return codes(world, world->format, 1, N, 0, world->inc); }

/* ---- codes ---- */

static hu_status pack(t_world *world) {
  const uint8_t *x = codes(world, world->format, 1, N, 0, 1);
  return hu_pack_n(N, result(world, N), x, hu_limits_of(world->format).width, NULL);
}

static hu_status check(t_world *world) {
  return hu_codes_check_n(N, array(world), world->inc, world->format, &world->exec, NULL);
}

/* ---- sums ---- */

/* Sums that are there are results, too. */
static hu_sum *sum(t_world *world) { return memset(result(world, sizeof(hu_sum)), 0xA5, sizeof(hu_sum)); }

static hu_status sum_add_all(t_world *world) {
  return hu_sum_add_all(sum(world), N, hu_codes(array(world), world->inc, world->format), NULL);
}

static hu_status sum_add_dot(t_world *world) {
  const void *a = array(world), *b = array(world);
  return hu_sum_add_dot(sum(world), N, hu_codes(a, world->inc, world->format), hu_codes(b, world->inc, world->format),
                        NULL);
}

static hu_status sum_add(t_world *world) {
  hu_sum_range range = hu_sum_range_of(world->format);
  uint64_t *sums = result(world, N * (1 + range.words) * sizeof(uint64_t));
  return hu_sum_add_n(N, sums, range, hu_codes(array(world), world->inc, world->format), &world->exec);
}

static hu_status sum_add_product(t_world *world) {
  hu_sum_range range = hu_sum_range_of_product(world->format, world->format);
  uint64_t *sums = result(world, N * (1 + range.words) * sizeof(uint64_t));
  const void *a = array(world), *b = array(world);
  return hu_sum_add_product_n(N, sums, range, hu_codes(a, world->inc, world->format),
                              hu_codes(b, world->inc, world->format), &world->exec);
}

/* ---- the table ---- */

const world_call array_calls[] = {{"hu_pack_n", pack, bytes, 1},
                                  {"hu_codes_check_n", check, array_formats, 1},
                                  {"hu_sum_add_all", sum_add_all, array_formats, 1},
                                  {"hu_sum_add_dot", sum_add_dot, array_formats, 2},
                                  {"hu_sum_add_n", sum_add, array_formats, 1},
                                  {"hu_sum_add_product_n", sum_add_product, array_formats, 2},
                                  {NULL, NULL, NULL, 0}};
