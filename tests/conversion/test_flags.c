/* SPDX-License-Identifier: MIT */
/* The processor's exception flags are the caller's: no conversion of arrays sets one, at any level, NaNs, subnormal and
 * huge numbers among the operands. */
#include <fenv.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/conversion.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { N = 517, LEVELS = 8 };

typedef struct arrays {
  double x[N], z[N];
  float narrow[N], values[N];
  uint32_t code[N];
} arrays;

static void fill(arrays *a, t_random *random) {
  static const uint64_t edge[] = {
      UINT64_C(0x7FF0000000000001), UINT64_C(0xFFF8000000000000), 1,
      UINT64_C(0x7FEFFFFFFFFFFFFF), UINT64_C(0x3FF0000000000001), UINT64_C(0x36A0000000000000)};
  static const uint32_t edge32[] = {0x7F800001, 0xFFC00000, 1, 0x7F7FFFFF, 0x3F800001, 0x00400000};
  for (int i = 0; i < N; i++) {
    uint64_t u = i % 3 ? t_next64(random) : edge[i / 3 % 6];
    uint32_t v = i % 3 ? t_next32(random) : edge32[i / 3 % 6];
    memcpy(&a->x[i], &u, sizeof u);
    memcpy(&a->narrow[i], &v, sizeof v);
  }
}

static unsigned calls, raised;

static void look(hu_status status, const char *what, const char *name, uint32_t off) {
  int flags = fetestexcept(FE_ALL_EXCEPT);
  calls++;
  if (flags) print_message("%s of %s, levels %#x off: flags %#x\n", what, name, off, (unsigned)flags);
  raised += flags != 0;
  feclearexcept(FE_ALL_EXCEPT);
  if (status != HU_OK) assert_int_equal(status, HU_E_CARRIER);
}

static void presets(void **state) {
  (void)state;
  static arrays a;
  t_random random = {t_seed("conversion-flags", 1)};
  fill(&a, &random);
  feclearexcept(FE_ALL_EXCEPT);
  for (size_t p = 0; p < hu_conversion_count(); p++) {
    hu_conversion_entry entry = hu_conversion_at(p);
    hu_conversion c = entry.conversion;
    if (*c.scaling) continue;
    for (uint32_t off = 0; off < LEVELS; off++) {
      hu_exec exec = {.threads = 1, .levels_off = off};
      look(hu_conversion_quantize64_n(N, a.z, 1, a.x, 1, &c, &exec, NULL), "quantize64_n", entry.name, off);
      look(hu_conversion_encode64_n(N, a.code, 1, a.x, 1, &c, &exec, NULL), "encode64_n", entry.name, off);
      look(hu_conversion_quantize_n(N, a.values, 1, a.narrow, 1, &c, &exec, NULL), "quantize_n", entry.name, off);
      look(hu_conversion_encode_n(N, a.code, 1, a.narrow, 1, &c, &exec, NULL), "encode_n", entry.name, off);
      look(hu_decode64_n(N, a.z, 1, a.code, 1, c.format, &exec), "decode64_n", entry.name, off);
      look(hu_decode_n(N, a.values, 1, a.code, 1, c.format, &exec), "decode_n", entry.name, off);
    }
  }
  print_message("%u calls\n", calls);
  assert_true(calls > 1000);
  assert_int_equal(raised, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(presets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
