/* SPDX-License-Identifier: MIT */
/* Tensors truncated by a product of their significands against the same tensors by their exact statistics (which a call
 * that is asked for them takes): bits and events, at every level, for any number of threads, in place or not; the
 * tables behind them; and the passes by those tables at every bound. */
#include <stdio.h>
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
                                    "s2fp8(fp(5,2,0);target=9)",
                                    "s2fp8(fp(6,1,0);target=20)",
                                    "s2fp8(fp(4,0,0):finite)",
                                    "s2fp8(fp(2,5,0):fn)",
                                    "s2fp8(ue4m3)",
                                    "s2fp8(bfloat16;target=15)"};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST = 70000 };

/* Levels without the core, which has no such tables. */
static size_t levels(void) { return t_levels() > 1 ? t_levels() - 1 : 1; }

static float x[MOST], want[MOST], z[MOST];

static float bell(t_random *random) {
  float sum = 0;
  for (int i = 0; i < 6; i++) sum += (float)(t_next32(random) >> 8) * 0x1p-24f;
  return sum - 3;
}

/* Bells, wide ones, few magnitudes, one, zeros only, powers of two, with zeros, now and then something that is none of
 * a normal number. */
static void draw(t_random *random, size_t n) {
  unsigned what = t_below(random, 10), zeros = t_below(random, 3);
  int at = t_between(random, -90, 90);
  uint32_t base = t_next32(random) & 0x7FFFFF;
  for (size_t i = 0; i < n; i++) {
    float a = bell(random) * t_float((uint32_t)(127 + at) << 23);
    uint32_t u = t_bits32(a);
    if (what == 1) u = (uint32_t)t_between(random, 100, 150) << 23 | (t_next32(random) & 0x807FFFFF);
    if (what == 2) u = (uint32_t)(127 + at) << 23 | base | (t_next32(random) & 0x80000000);
    if (what == 3) u = (uint32_t)(127 + at) << 23 | ((base + t_below(random, 5)) & 0x7FFFFF);
    if (what == 4) u = (uint32_t)t_between(random, 112, 140) << 23 | (t_next32(random) & 0x80000000);
    if (what == 5) u = t_next32(random) & 0x80000000;
    if (what == 6) u = (uint32_t)(127 + at) << 23 | base | (t_below(random, 300) == 0) << 23;
    if (zeros && t_below(random, 3) == 0) u &= 0x80000000;
    if (what == 9 && t_below(random, 200) == 0)
      u = t_below(random, 2) ? t_next32(random) & 0x807FFFFF : t_next32(random) | 0x7F800000;
    x[i] = t_float(u);
  }
}

static hu_mode draw_mode(t_random *random) {
  hu_mode m = t_mode(t_below(random, 5) ? HU_RNE : t_below(random, T_DETERMINISTIC));
  m.tiny = t_below(random, 3) ? HU_TINY_AFTER : HU_TINY_BEFORE;
  return m;
}

static void one_tensor(t_random *random, size_t n, uint32_t off) {
  hu_s2fp8 kind;
  hu_s2fp8_sums sums;
  const char *text = kinds[t_below(random, KINDS)];
  hu_mode mode = draw_mode(random);
  hu_exec exec = {t_below(random, 4), off, {0, 0}, {0}};
  hu_events counted = {0}, exact = {0};
  int in_place = t_below(random, 2) != 0;
  assert_int_equal(hu_s2fp8_parse(&kind, text, NULL), HU_OK);
  draw(random, n);
  assert_int_equal(hu_s2fp8_truncate_n(n, want, 1, x, 1, &kind, mode, &sums, NULL, &exec, &exact), HU_OK);
  if (in_place) memcpy(z, x, n * sizeof *x);
  z[n] = 12345;
  assert_int_equal(hu_s2fp8_truncate_n(n, z, 1, in_place ? z : x, 1, &kind, mode, NULL, NULL, &exec, &counted), HU_OK);
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
  t_random random = {t_seed("s2fp8_near", 92)};
  for (int i = 0; i < 6000; i++) {
    size_t n = 1 + t_below(&random, t_below(&random, 8) == 0 ? 5000 : 200);
    one_tensor(&random, n, t_levels_off(i % levels()));
  }
  for (int i = 0; i < 2 * (int)levels(); i++)
    one_tensor(&random, 40000 + t_below(&random, MOST - 40001), t_levels_off(i % levels()));
}

typedef void rough_call(size_t, const uint32_t *, hu_s2_rough *);
typedef int pass_call(const hu_s2_table *, const hu_s2_near *, size_t, uint32_t *, const uint32_t *, hu_s2_passed *);

/* Those of bytes, where the processor has them. */
static rough_call *rough_of(const hu_s2_lanes *lanes) {
  const hu_s2_bytes *bytes = hui_level_for(NULL)->s2fp8_bytes;
  return bytes ? bytes->rough : lanes->rough;
}

static pass_call *pass_of_bytes(void) {
  const hu_s2_bytes *bytes = hui_level_for(NULL)->s2fp8_bytes;
  return bytes ? bytes->pass : NULL;
}

/* What was decided by a product is what the statistics say; most tensors of such are. */
static void tables(void **state) {
  (void)state;
  t_random random = {t_seed("s2fp8_near_tables", 93)};
  unsigned decided = 0, tensors = 60000;
  for (unsigned i = 0; i < tensors; i++) {
    const hu_s2_lanes *lanes = hui_level_for(&(hu_exec){.levels_off = t_levels_off(i % levels())})->s2fp8;
    size_t n = 20 + t_below(&random, 60);
    int at = t_between(&random, -40, 40);
    hu_s2fp8 kind;
    hu_s2fp8_sums sums = {0};
    hu_s2_rough rough;
    hu_s2_table got, exact;
    int64_t mu, m;
    for (size_t k = 0; k < n; k++) x[k] = bell(&random) * t_float((uint32_t)(127 + at) << 23);
    assert_int_equal(hu_s2fp8_parse(&kind, kinds[i % 5], NULL), HU_OK);
    assert_int_equal(hu_s2fp8_sum_n(n, x, 1, &sums, NULL), HU_OK);
    hu_s2 map = hui_s2_of(&kind, 0, 0, t_mode(HU_RNE));
    hui_s2_moments(&mu, &m, sums.high, sums.low, sums.count, sums.top, map.target);
    (i % levels() ? lanes->rough : rough_of(lanes))(n, (const uint32_t *)(const void *)x, &rough);
    assert_int_equal(rough.count, sums.count);
    assert_int_equal(rough.top, sums.top);
    if (!lanes->near(&got, &map, &rough)) continue;
    decided++;
    map.mu = mu;
    map.gap = m - mu;
    hui_s2_fill_quickly(&exact, &map, lanes);
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

/* ---- passes by a table ---- */

/* Every bound and the patterns beside it, what is not tiny and beside it, the largest, zeros, and some between. */
static size_t draw_edges(t_random *random, const hu_s2_table *table, const hu_s2_near *near, uint32_t *u) {
  size_t n = 0;
  for (uint32_t c = 1; c <= near->top_code; c++) {
    for (uint32_t k = 0; k < 3; k++) u[n++] = table->bound[0][c] - 1 + k;
  }
  for (uint32_t k = 0; k < 3; k++) u[n++] = table->tiny[0] - 1 + k;
  for (uint32_t k = 0; k < 3; k++) u[n++] = near->top - k;
  u[n++] = 0;
  for (uint32_t k = t_below(random, 100); k > 0; k--) u[n++] = 0x800000 + t_next32(random) % (near->top - 0x800000 + 1);
  for (size_t i = 0; i < n; i++) {
    size_t j = i + t_below(random, (unsigned)(n - i));
    uint32_t v = u[j];
    u[j] = u[i];
    u[i] = v | (t_next32(random) & 0x80000000);
  }
  return n;
}

static hu_s2_passed by_search(const hu_s2_table *table, const hu_s2_near *near, size_t n, uint32_t *to,
                              const uint32_t *u) {
  hu_s2_passed counts = {0, 0, 0, 0};
  for (size_t i = 0; i < n; i++) {
    uint32_t a = u[i] & 0x7FFFFFFF, c = 0;
    while (c < near->top_code && a >= table->bound[0][c + 1]) c++;
    to[i] = table->value[c] | (u[i] & 0x80000000);
    if (!near->negzero && table->value[c] == 0) to[i] = 0;
    counts.none += c == 0;
    counts.low += a < near->normal;
    counts.tiny += a < table->tiny[0];
    counts.tops += a == near->top;
  }
  return counts;
}

static unsigned check_pass(pass_call *pass, const hu_s2_table *table, const hu_s2_near *near, size_t n,
                           const uint32_t *u) {
  static uint32_t expected[1024], got[1024];
  hu_s2_passed counts = {0, 0, 0, 0}, right = by_search(table, near, n, expected, u);
  if (!pass(table, near, n, got, u, &counts)) return 0;
  for (size_t i = 0; i < n; i++) {
    if (got[i] != expected[i]) fail_msg("number %zu, %08X: %08X, not %08X", i, u[i], got[i], expected[i]);
  }
  assert_memory_equal(&counts, &right, sizeof counts);
  return 1;
}

/* Tables from narrow to wide, with places crowded into the buckets of bytes or of records (which those refuse) and not.
 */
static void passes(void **state) {
  (void)state;
  static uint32_t u[1024];
  t_random random = {t_seed("s2fp8_near_passes", 94)};
  pass_call *bytes = pass_of_bytes();
  unsigned taken = 0, taken_by_bytes = 0, offered = 0, offered_to_bytes = 0;
  for (unsigned i = 0; hui_level_for(NULL)->s2fp8 && i < 4000; i++) {
    const size_t level = i / 5 % levels();
    const hu_s2_lanes *lanes = hui_level_for(&(hu_exec){.levels_off = t_levels_off(level)})->s2fp8;
    hu_s2fp8 kind;
    hu_s2_rough rough;
    hu_s2_table table;
    int at = t_between(&random, -30, 30);
    size_t n = 20 + t_below(&random, 60);
    float spread = i % 4 ? 1 : t_float((t_between(&random, 90, 127) & 0xFF) * 0x800000u);
    for (size_t k = 0; k < n; k++)
      x[k] = (i % 4 ? bell(&random) : 1 + spread * bell(&random)) * t_float((uint32_t)(127 + at) << 23);
    assert_int_equal(hu_s2fp8_parse(&kind, kinds[i % 5], NULL), HU_OK);
    hu_s2 map = hui_s2_of(&kind, 0, 0, draw_mode(&random));
    map.spec.round = HU_RNE;
    lanes->rough(n, (const uint32_t *)(const void *)x, &rough);
    if (!lanes->near(&table, &map, &rough) || table.tiny[0] < table.bound[0][1]) continue;
    const hu_spec *spec = &map.spec;
    hu_s2_near near = {rough.top, table.bound[0][(uint32_t)1 << spec->m], spec->negzero, (uint32_t)1 << spec->m,
                       (uint32_t)(map.target - spec->emin + 1) << spec->m};
    n = draw_edges(&random, &table, &near, u);
    taken += check_pass(lanes->pass, &table, &near, n, u);
    offered++;
    if (!bytes) continue;
    taken_by_bytes += check_pass(bytes, &table, &near, n, u);
    offered_to_bytes++;
  }
  print_message("tables took %u of %u, those of bytes %u of %u\n", taken, offered, taken_by_bytes, offered_to_bytes);
  assert_true(taken >= offered - offered / 10);
  if (bytes) assert_true(taken_by_bytes > offered_to_bytes / 2 && taken_by_bytes < offered_to_bytes);
}

/* A table with two bounds in a bucket of records: it is refused, or its values are right. */
static void crowded(void **state) {
  (void)state;
  t_random random = {t_seed("s2fp8_near_crowded", 95)};
  static uint32_t u[1024];
  for (size_t level = 0; hui_level_for(NULL)->s2fp8 && level < levels(); level++) {
    const hu_s2_lanes *lanes = hui_level_for(&(hu_exec){.levels_off = t_levels_off(level)})->s2fp8;
    for (uint32_t beside = 2; beside < 100; beside++) {
      hu_s2_table table = {.tiny = {0x30000001, 0x30000001}};
      hu_s2_near near = {0x30000000 + 101 * 0x10000, 0x30000000 + 4 * 0x10000, 1, 4, 100};
      for (uint32_t c = 1; c <= near.top_code; c++) {
        table.bound[0][c] = 0x30000000 + c * 0x10000 + 3;
        table.value[c] = 0x30000000 + c * 0x10000 + 7;
      }
      table.bound[0][beside] += 5; /* behind the bucket's first pattern */
      table.bound[0][beside + 1] = table.bound[0][beside] + 2;
      size_t n = draw_edges(&random, &table, &near, u);
      unsigned took = check_pass(lanes->pass, &table, &near, n, u);
      if (!lanes->bypasses) assert_int_equal(took, 0); /* others have no records */
    }
  }
}

int main(void) {
#ifdef T_BYTES /* a test of them alone */
  if (!pass_of_bytes()) {
    printf("AVX-512 VBMI: not here\n");
    return 77;
  }
#endif
#if HU_LEVEL_ID == 1 /* a test of that level's own lines */
  if (!(hu_levels() & HU_LEVEL_AVX2)) return 77;
#endif
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_tensor), cmocka_unit_test(tables), cmocka_unit_test(passes),
                                     cmocka_unit_test(crowded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
