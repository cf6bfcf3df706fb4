/* SPDX-License-Identifier: MIT */
/* Tables made quickly against tables made entry by entry, in integers: scales at random and such as tensors have, whose
 * largest element is a pattern; every level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/s2fp8/run.h"
#include "emu/s2fp8/table_binary64.h"
#include "emu/simd/level.h"
#include "halfulp/halfulp.h"
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
static hu_s2 draw(t_random *r, const hu_s2fp8 *kind) {
  hu_mode mode = t_mode(HU_RNE);
  mode.tiny = t_below(r, 2) ? HU_TINY_BEFORE : HU_TINY_AFTER;
  uint32_t top = (uint32_t)t_between(r, 127 - 60, 127 + 60) << 23 | (t_below(r, 4) ? t_next32(r) & 0x7FFFFF : 0);
  int64_t unit = (int64_t)1 << HU_S2_DIGITS;
  int64_t m = t_below(r, 4) ? hu_s2_log2(top) : t_between(r, -80, 80) * unit + (int64_t)(t_next64(r) % (uint64_t)unit);
  int64_t gap = 1 + (int64_t)(t_next64(r) % (uint64_t)(unit * t_between(r, 1, 40)));
  if (t_below(r, 8) == 0) gap = t_between(r, 1, 20) * unit;
  return hu_s2_of(kind, m - gap, m, mode);
}

static void check(const hu_s2 *map, const hu_s2_lanes *lanes, const hu_s2_table *want, const char *name) {
  hu_s2_table got;
  memset(&got, 0, sizeof got);
  hu_s2_fill_quickly(&got, map, lanes);
  uint32_t codes = map->spec.mag_mask | map->spec.sign_mask;
  for (uint32_t i = 0; i <= HU_S2_CODES; i++) {
    if (got.bound[0][i] == want->bound[0][i] && got.bound[1][i] == want->bound[1][i]) continue;
    fail_msg("%s: bound %u: %#x, %#x; not %#x", name, i, got.bound[0][i], got.bound[1][i], want->bound[0][i]);
  }
  for (uint32_t i = 0; i < HU_S2_CODES; i++) {
    if (got.exact[i] != want->exact[i]) fail_msg("%s: exact %u: %#x, not %#x", name, i, got.exact[i], want->exact[i]);
  }
  for (uint32_t i = 0; i <= codes; i++) {
    if (got.value[i] != want->value[i]) fail_msg("%s: value %u: %#x, not %#x", name, i, got.value[i], want->value[i]);
  }
  assert_memory_equal(got.tiny, want->tiny, sizeof got.tiny);
}

static void tables(void **state) {
  (void)state;
  t_random r = {t_seed("s2fp8_table", 91)};
  int quick = 0;
  for (int k = 0; k < 4000; k++) {
    hu_s2fp8 kind;
    const char *name = kinds[k % KINDS];
    assert_int_equal(hu_s2fp8_parse(&kind, name, NULL), HU_OK);
    hu_s2 map = draw(&r, &kind);
    if (!hu_s2_may_be_quick(&map)) continue;
    quick++;
    hu_s2_table want;
    memset(&want, 0, sizeof want);
    for (uint32_t i = 0; i < 2 * HU_S2_CODES; i++) hu_s2_fill_entry(&want, &map, i);
    for (size_t level = 0; level < t_levels(); level++) {
      const hu_s2_lanes *lanes = hu_level_for(&(hu_exec){.levels_off = t_levels_off(level)})->s2fp8;
      if (lanes) check(&map, lanes, &want, name);
    }
  }
  assert_true(quick > 3000);
}

int main(void) {
  const struct CMUnitTest all[] = {cmocka_unit_test(tables)};
  return cmocka_run_group_tests(all, NULL, NULL);
}
