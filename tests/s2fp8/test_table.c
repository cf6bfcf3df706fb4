/* SPDX-License-Identifier: MIT */
/* Tables made quickly against tables made entry by entry, in integers: scales at random and such as tensors have, whose
 * largest element is a pattern; every level. And elements looked up in tables, at every bound, against the core. */
#include <stdlib.h>
#include <string.h>

#include "emu/s2fp8/run.h"
#include "emu/s2fp8/table_binary64.h"
#include "emu/simd/level.h"
#include "halfulp/halfulp.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

static const char *const kinds[] = {"s2fp8",
                                    "s2fp8",
                                    "s2fp8(float8_e4m3fn)",
                                    "s2fp8(float8_e5m2fnuz)",
                                    "s2fp8(float8_e3m4)",
                                    "s2fp8(float6_e3m2fn;target=3)",
                                    "s2fp8(fp(5,2,0);target=9)"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* mu and m of tensors with their largest magnitude at a pattern, or anywhere. */
static hu_s2 draw(t_random *random, const hu_s2fp8 *kind) {
  hu_mode mode = t_mode(HU_RNE);
  mode.tiny = t_below(random, 2) ? HU_TINY_BEFORE : HU_TINY_AFTER;
  uint32_t top =
      (uint32_t)t_between(random, 127 - 60, 127 + 60) << 23 | (t_below(random, 4) ? t_next32(random) & 0x7FFFFF : 0);
  int64_t unit = (int64_t)1 << HU_S2_DIGITS;
  int64_t m = t_below(random, 4) ? hui_s2_log2(top)
                                 : t_between(random, -80, 80) * unit + (int64_t)(t_next64(random) % (uint64_t)unit);
  int64_t gap = 1 + (int64_t)(t_next64(random) % (uint64_t)(unit * t_between(random, 1, 40)));
  if (t_below(random, 8) == 0) gap = t_between(random, 1, 20) * unit;
  return hui_s2_of(kind, m - gap, m, mode);
}

static void check(const hu_s2 *map, const hu_s2_lanes *lanes, const hu_s2_table *expected, const char *name) {
  hu_s2_table got;
  memset(&got, 0, sizeof got);
  hui_s2_fill_quickly(&got, map, lanes);
  uint32_t codes = map->spec.mag_mask | map->spec.sign_mask;
  for (uint32_t i = 0; i <= HU_S2_CODES; i++) {
    if (got.bound[0][i] == expected->bound[0][i] && got.bound[1][i] == expected->bound[1][i]) continue;
    fail_msg("%s: bound %u: %#x, %#x; not %#x", name, i, got.bound[0][i], got.bound[1][i], expected->bound[0][i]);
  }
  for (uint32_t i = 0; i < HU_S2_CODES; i++) {
    if (got.exact[i] != expected->exact[i])
      fail_msg("%s: exact %u: %#x, not %#x", name, i, got.exact[i], expected->exact[i]);
  }
  for (uint32_t i = 0; i <= codes; i++) {
    if (got.value[i] != expected->value[i])
      fail_msg("%s: value %u: %#x, not %#x", name, i, got.value[i], expected->value[i]);
  }
  assert_memory_equal(got.tiny, expected->tiny, sizeof got.tiny);
}

static void tables(void **state) {
  (void)state;
  t_random random = {t_seed("s2fp8_table", 91)};
  int quick = 0;
  for (int k = 0; k < 4000; k++) {
    hu_s2fp8 kind;
    const char *name = kinds[k % KINDS];
    assert_int_equal(hu_s2fp8_parse(&kind, name, NULL), HU_OK);
    hu_s2 map = draw(&random, &kind);
    if (!hui_s2_may_be_quick(&map)) continue;
    quick++;
    hu_s2_table expected;
    memset(&expected, 0, sizeof expected);
    for (uint32_t i = 0; i < 2 * HU_S2_CODES; i++) hui_s2_fill_entry(&expected, &map, i);
    for (size_t level = 0; level < t_levels(); level++) {
      const hu_s2_lanes *lanes = hui_level_for(&(hu_exec){.levels_off = t_levels_off(level)})->s2fp8;
      if (lanes) check(&map, lanes, &expected, name);
    }
  }
  assert_true(quick > 3000);
}

/* ---- elements at every bound ---- */

enum { ELEMENTS = 3000 };

/* Elements at bounds and beside them, of either sign; with `beyond` those of the limit, too, and special ones. */
static void fill_at_bounds(t_random *random, const hu_s2 *map, const hu_s2_table *table, int beyond, float *x) {
  const uint32_t limit = table->bound[0][map->spec.max_code + 1];
  for (size_t i = 0; i < ELEMENTS; i++) {
    uint32_t c = 1 + t_below(random, map->spec.max_code), u = table->bound[0][c] + t_below(random, 3) - 1;
    if (t_below(random, 8) == 0) u = table->tiny[0] + t_below(random, 3) - 1;
    if (t_below(random, 8) == 0) u = table->exact[c] < HU_S2_NEVER ? table->exact[c] : 0;
    if (t_below(random, 16) == 0) u = t_below(random, 2) ? 0 : t_below(random, table->bound[0][1]);
    if (u >= limit) u = limit - 1;
    if (beyond && t_below(random, 300) == 0)
      u = t_below(random, 2) ? limit + t_below(random, 2) : 0x7F800000 + t_below(random, 2);
    x[i] = t_float(u | t_below(random, 2) << 31);
  }
}

static void same_as_core(const hu_s2 *map, const float *x, size_t n, size_t size, const char *name) {
  static uint8_t expected[4 * ELEMENTS], got[4 * ELEMENTS];
  hu_exec exec = {1, UINT32_MAX, {0, 0}, {0}};
  hu_events counted = {0}, events;
  const size_t bytes = n * (size ? size : 4);
  hui_s2_run(n, expected, 1, size, x, 1, map, NULL, &exec, &counted);
  for (size_t level = 0; level < t_levels(); level++) {
    exec.levels_off = t_levels_off(level);
    memset(&events, 0, sizeof events);
    hui_s2_run(n, got, 1, size, x, 1, map, NULL, &exec, &events);
    if (memcmp(expected, got, bytes) || !t_same_events(&counted, &events))
      fail_msg("%s, %zu elements, levels off %#x: not as the core", name, n, (unsigned)exec.levels_off);
  }
}

static void at_every_bound(void **state) {
  (void)state;
  static float x[ELEMENTS];
  static const char *const others[] = {"s2fp8(float8_e4m3fn)",       "s2fp8(fp(2,5,0):fn)",
                                       "s2fp8(fp(6,1,0);target=20)", "s2fp8(fp(4,0,0):finite)",
                                       "s2fp8(float8_e5m2fnuz)",     "s2fp8(ue4m3)"};
  t_random random = {t_seed("s2fp8_at_bounds", 92)};
  for (unsigned k = 0; k < t_runs(300); k++) {
    hu_s2fp8 kind;
    hu_s2_table table;
    const char *name = k % 2 ? others[t_below(&random, 6)] : kinds[t_below(&random, KINDS)];
    assert_int_equal(hu_s2fp8_parse(&kind, name, NULL), HU_OK);
    hu_s2 map = draw(&random, &kind);
    if (t_below(&random, 3) == 0) map.spec.round = (uint8_t)t_below(&random, T_DETERMINISTIC);
    if (!hui_s2_may_table(&map.spec)) continue;
    memset(&table, 0, sizeof table);
    for (uint32_t i = 0; i < 2 * HU_S2_CODES; i++) hui_s2_fill_entry(&table, &map, i);
    fill_at_bounds(&random, &map, &table, (int)t_below(&random, 2), x);
    const size_t n = ELEMENTS - t_below(&random, 100);
    same_as_core(&map, x, n, 0, name);
    same_as_core(&map, x, n, hui_code_bytes(kind.element), name);
  }
}

int main(void) {
  const struct CMUnitTest all[] = {cmocka_unit_test(tables), cmocka_unit_test(at_every_bound)};
  return cmocka_run_group_tests(all, NULL, NULL);
}
