/* SPDX-License-Identifier: MIT */
/* halfulp/core.h against the calls of the library: the same codes, values and events, every format of the catalogue and
 * every mode; random digits as the array calls draw them. */
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"

#include "halfulp/core.h"
#include "halfulp/halfulp.h"

enum { N = 40 };

static hu_mode mode_at(int round, t_random *random) {
  hu_mode m = {0};
  m.round = (uint8_t)round;
  m.saturate = (uint8_t)t_below(random, 4);
  m.tiny = (uint8_t)t_below(random, 2);
  m.nan = (uint8_t)t_below(random, 3);
  m.nan_fma = (uint8_t)t_below(random, 2);
  if (round >= HU_SRA) m.bits = (uint8_t)(1 + t_below(random, 32));
  return m;
}

/* Around the format's range, at times any pattern. */
static float draw(t_random *random, hu_format format) {
  uint32_t u = t_next32(random);
  if (t_below(random, 4)) u = t_bits32(hu_decode(format, t_next32(random))) + t_below(random, 5);
  return t_float(u);
}

#define SAME(mine, theirs)                     \
  do {                                         \
    uint32_t ea = ~0u, eb = 0, *e = &ea, a, b; \
    a = mine;                                  \
    e = &eb;                                   \
    b = theirs;                                \
    assert_int_equal(a, b);                    \
    assert_int_equal(ea, eb);                  \
  } while (0)

static void one_value(hu_format format, hu_mode m, t_random *numbers) {
  hu_core c = hu_core_of(format, m), other = hu_core_of(hu_float8_e5m2(), m);
  float x = draw(numbers, format);
  double y = (double)x * (1 + 0x1p-30);
  uint32_t p = t_next32(numbers), q = t_next32(numbers), s = t_next32(numbers), random = t_next32(numbers);
  SAME(hu_core_encode(&c, x, random, e), hu_encode(format, m, x, random, e));
  SAME(hu_core_encode64(&c, y, random, e), hu_encode64(format, m, y, random, e));
  SAME(hu_core_convert(&c, &other, p, random, e), hu_convert(format, m, hu_float8_e5m2(), p, random, e));
  SAME(hu_core_add(&c, &c, p, &other, q, random, e), hu_add(format, m, format, p, hu_float8_e5m2(), q, random, e));
  SAME(hu_core_sub(&c, &c, p, &other, q, random, e), hu_sub(format, m, format, p, hu_float8_e5m2(), q, random, e));
  SAME(hu_core_mul(&c, &c, p, &other, q, random, e), hu_mul(format, m, format, p, hu_float8_e5m2(), q, random, e));
  SAME(hu_core_div(&c, &c, p, &other, q, random, e), hu_div(format, m, format, p, hu_float8_e5m2(), q, random, e));
  SAME(hu_core_sqrt(&c, &c, p, random, e), hu_sqrt(format, m, format, p, random, e));
  SAME(hu_core_fma(&c, &c, p, &other, q, &c, s, random, e),
       hu_fma(format, m, format, p, hu_float8_e5m2(), q, format, s, random, e));
  assert_true(t_same32(hu_core_decode(&c, p), hu_decode(format, p)));
  assert_int_equal(hu_core_is_signalling(&c, p), hu_is_signalling(format, p));
  assert_true(t_same64(hu_core_decode64(&c, p), hu_decode64(format, p)));
  assert_true(t_same32(hu_core_quantize(&c, x, random, NULL), hu_quantize(format, m, x, random, NULL)));
  assert_true(t_same64(hu_core_quantize64(&c, y, random, NULL), hu_quantize64(format, m, y, random, NULL)));
}

static void every_format(void **state) {
  (void)state;
  t_random random = {20};
  for (size_t i = 0; i < hu_format_count(); i++) {
    for (int round = 0; round < HU_ROUND_COUNT; round++) {
      for (int k = 0; k < N; k++) one_value(hu_format_at(i).format, mode_at(round, &random), &random);
    }
  }
}

/* Element i of an array call, by hand. */
static void random_digits(void **state) {
  (void)state;
  t_random numbers = {21};
  for (int round = HU_RNE; round < HU_ROUND_COUNT; round++) {
    hu_format format = hu_float8_e4m3fn();
    hu_mode m = mode_at(round, &numbers);
    hu_exec exec = {0, 0, {t_next64(&numbers), t_next64(&numbers)}, {0}};
    hu_core c = hu_core_of(format, mode_at(HU_RNE, &numbers)); /* to be replaced */
    float x[N];
    uint8_t z[N];
    assert_int_equal(hu_core_make(&c, format, m), HU_OK);
    for (int i = 0; i < N; i++) x[i] = t_float(0x3F800000u | t_next32(&numbers) >> 9); /* digits all over */
    assert_int_equal(hu_encode_n(N, z, 1, x, 1, format, m, &exec, NULL), HU_OK);
    for (int i = 0; i < N; i++) {
      uint32_t random = hu_core_random(&c, exec.stream.key, exec.stream.counter + (uint64_t)i);
      assert_int_equal(hu_core_encode(&c, x[i], random, NULL), z[i]);
      if (round < HU_SRA) assert_int_equal(random, 0);
    }
  }
}

static void misuse(void **state) {
  (void)state;
  hu_core c, before;
  hu_mode rne = {0}, wrong = {0};
  hu_format format = hu_binary16(), none = hu_binary16();
  none.m = 31;
  wrong.round = HU_ROUND_COUNT;
  memset(&c, 0x55, sizeof c);
  before = c;
  assert_int_equal(hu_core_make(&c, none, rne), HU_E_FORMAT);
  assert_int_equal(hu_core_make(&c, format, wrong), HU_E_MODE);
  assert_memory_equal(&c, &before, sizeof c);
  assert_int_equal(hu_core_make(&c, format, rne), HU_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_format),
      cmocka_unit_test(random_digits),
      cmocka_unit_test(misuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
