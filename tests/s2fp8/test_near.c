/* SPDX-License-Identifier: MIT */
/* Tensors truncated by a product of their significands against the same tensors by their exact statistics (which a call
 * that is asked for them takes): bits and events, at every level, for any number of threads, in place or not; and the
 * tables behind them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/s2fp8_quick.h"
#include "emu/s2fp8_run.h"
#include "halfulp/halfulp.h"
#include "tests/support/support.h"

static const char *const kinds[] = {"s2fp8",
                                    "s2fp8",
                                    "s2fp8(float8_e4m3fn)",
                                    "s2fp8(float8_e5m2fnuz)",
                                    "s2fp8(float8_e3m4)",
                                    "s2fp8(float6_e3m2fn;target=3)",
                                    "s2fp8(fp(5,2,0);target=9)",
                                    "s2fp8(fp(6,1,0);target=20)",
                                    "s2fp8(fp(4,0,0):finite)",
                                    "s2fp8(fp(2,5,0):fn)",
                                    "s2fp8(ue4m3)",
                                    "s2fp8(bfloat16;target=15)"};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST = 70000 };
static const uint32_t levels_off[] = {0, HU_LEVEL_AVX512, HU_LEVEL_AVX512 | HU_LEVEL_AVX2};

static float x[MOST], want[MOST], z[MOST];

static float bell(t_random *r) {
  float sum = 0;
  for (int i = 0; i < 6; i++) sum += (float)(t_next32(r) >> 8) * 0x1p-24f;
  return sum - 3;
}

/* Bells, wide ones, few magnitudes, one, zeros only, powers of two, with zeros, now and then something that is none of
 * a normal number. */
static void draw(t_random *r, size_t n) {
  unsigned what = t_below(r, 10), zeros = t_below(r, 3);
  int at = t_between(r, -90, 90);
  uint32_t base = t_next32(r) & 0x7FFFFF;
  for (size_t i = 0; i < n; i++) {
    float a = bell(r) * t_float((uint32_t)(127 + at) << 23);
    uint32_t u = t_bits32(a);
    if (what == 1) u = (uint32_t)t_between(r, 100, 150) << 23 | (t_next32(r) & 0x807FFFFF);
    if (what == 2) u = (uint32_t)(127 + at) << 23 | base | (t_next32(r) & 0x80000000);
    if (what == 3) u = (uint32_t)(127 + at) << 23 | ((base + t_below(r, 5)) & 0x7FFFFF);
    if (what == 4) u = (uint32_t)t_between(r, 112, 140) << 23 | (t_next32(r) & 0x80000000);
    if (what == 5) u = t_next32(r) & 0x80000000;
    if (what == 6) u = (uint32_t)(127 + at) << 23 | base | (t_below(r, 300) == 0) << 23;
    if (zeros && t_below(r, 3) == 0) u &= 0x80000000;
    if (what == 9 && t_below(r, 200) == 0) u = t_below(r, 2) ? t_next32(r) & 0x807FFFFF : t_next32(r) | 0x7F800000;
    x[i] = t_float(u);
  }
}

static hu_mode draw_mode(t_random *r) {
  hu_mode m = t_mode(t_below(r, 5) ? HU_RNE : t_below(r, T_DETERMINISTIC));
  m.tiny = t_below(r, 3) ? HU_TINY_AFTER : HU_TINY_BEFORE;
  return m;
}

static void one_tensor(t_random *r, size_t n, uint32_t off) {
  hu_s2fp8 kind;
  hu_s2fp8_sums sums;
  const char *text = kinds[t_below(r, KINDS)];
  hu_mode mode = draw_mode(r);
  hu_exec e = {t_below(r, 4), off, {0, 0}};
  hu_events counted = {0}, exact = {0};
  int in_place = t_below(r, 2) != 0;
  assert_int_equal(hu_s2fp8_parse(&kind, text, NULL), HU_OK);
  draw(r, n);
  assert_int_equal(hu_s2fp8_truncate_n(n, want, 1, x, 1, &kind, mode, &sums, NULL, &e, &exact), HU_OK);
  if (in_place) memcpy(z, x, n * sizeof *x);
  z[n] = 12345;
  assert_int_equal(hu_s2fp8_truncate_n(n, z, 1, in_place ? z : x, 1, &kind, mode, NULL, NULL, &e, &counted), HU_OK);
  assert_true(z[n] == 12345);
  for (size_t i = 0; i < n; i++) {
    if (t_bits32(z[i]) == t_bits32(want[i])) continue;
    fail_msg("%s, %zu numbers, levels without %u: number %zu, %a: %a, not %a", text, n, (unsigned)off, i, x[i], z[i],
             want[i]);
  }
  assert_true(t_same_events(&counted, &exact));
}

static void any_tensor(void **state) {
  (void)state;
  t_random r = {t_seed("s2fp8_near", 92)};
  for (int i = 0; i < 6000; i++) {
    size_t n = 1 + t_below(&r, t_below(&r, 8) == 0 ? 5000 : 200);
    one_tensor(&r, n, levels_off[i % 3]);
  }
  for (int i = 0; i < 6; i++) one_tensor(&r, 40000 + t_below(&r, MOST - 40001), levels_off[i % 3]);
}

/* What was decided by a product is what the statistics say; most tensors of such are. */
static void tables(void **state) {
  (void)state;
  t_random r = {t_seed("s2fp8_near_tables", 93)};
  unsigned decided = 0, tensors = 60000;
  for (unsigned i = 0; i < tensors; i++) {
    const hu_s2_lanes *lanes = hu_s2_lanes_for(hu_levels() & ~levels_off[i % 3]);
    size_t n = 20 + t_below(&r, 60);
    int at = t_between(&r, -40, 40);
    hu_s2fp8 kind;
    hu_s2fp8_sums sums = {0};
    hu_s2_rough rough;
    hu_s2_table got, exact;
    int64_t mu, m;
    for (size_t k = 0; k < n; k++) x[k] = bell(&r) * t_float((uint32_t)(127 + at) << 23);
    assert_int_equal(hu_s2fp8_parse(&kind, kinds[i % 5], NULL), HU_OK);
    assert_int_equal(hu_s2fp8_sum_n(n, x, 1, &sums, NULL), HU_OK);
    hu_s2 map = hu_s2_of(&kind, 0, 0, t_mode(HU_RNE));
    hu_s2_moments(&mu, &m, sums.high, sums.low, sums.count, sums.top, map.target);
    lanes->rough(n, (const uint32_t *)(const void *)x, &rough);
    assert_int_equal(rough.count, sums.count);
    assert_int_equal(rough.top, sums.top);
    if (!lanes->near(&got, &map, &rough)) continue;
    decided++;
    map.mu = mu;
    map.gap = m - mu;
    hu_s2_fill_quickly(&exact, &map, lanes);
    uint32_t code = (uint32_t)(map.target - map.spec.emin + 1) << map.spec.m;
    for (uint32_t c = 0; c <= code; c++) {
      assert_int_equal(got.bound[0][c], c ? exact.bound[0][c] : 0);
      assert_int_equal(got.value[c], exact.value[c]);
      assert_int_equal(got.exact[c], exact.exact[c]);
    }
    assert_int_equal(got.tiny[0], exact.tiny[0]);
  }
  print_message("%u of %u tensors decided\n", decided, tensors);
  assert_true(decided > tensors - tensors / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_tensor), cmocka_unit_test(tables)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
