/* SPDX-License-Identifier: MIT */
/* Small worlds: every catalogue format of up to 8 bits, enumerated against the oracle, codes and events.
 *
 * decode    Every code of every format, with and without garbage above its width.
 * encode    Operands: every value, every midpoint and every quarter of a gap, each of these and its two neighbours in
 *           binary64; the grid beyond max; points between zero and the smallest value and around the tininess edges;
 *           zeros, infinities, NaNs, the extremes of binary64; both signs. Modes: the 8 deterministic ones, the 3
 *           stochastic ones with N = 1..4 and every R, and with larger N and random R. Policies: all 4 saturations
 *           wherever a result can leave the range (|x| >= max, infinities, negative operands of unsigned formats),
 *           both tininess rules below twice the smallest normal value, all 24 combinations for NaN; elsewhere one of
 *           the 24, by turns.
 * convert   Every code of every source into every format: 8 deterministic modes, 4 saturations where the result can
 *           leave the range, one stochastic mode by turns. The oracle is asked once for each (destination, mode,
 *           value): its answer depends on the source's code through its value alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "tests/oracle/shard.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { MAX_WIDTH = 8, MAX_CODES = 256, MAX_OPERANDS = 12000 };

typedef struct t_world {
  t_shard part;
  uint64_t seed;
} t_world;

/* ---- Decode. */

static void test_decode(void **state) {
  const t_world *world = *state;
  uint64_t codes = 0, formats = 0;
  for (size_t i = t_next_format(0, MAX_WIDTH); i < hu_format_count(); i = t_next_format(i + 1, MAX_WIDTH)) {
    if (!shard_has(world->part, i)) continue;
    hu_format format = hu_format_at(i).format;
    hu_limits limits = hu_limits_of(format);
    int narrow = hu_format_fits_binary32(format);
    formats++;
    for (uint32_t c = 0; c < 1u << limits.width; c++, codes++) {
      double expected = 1;
      assert_int_equal(hu_oracle_decode64(&expected, format, c), HU_OK);
      double got = hu_decode64(format, c),
             garbage = hu_decode64(format, c | (uint32_t)(UINT64_C(0xA5A5A5A5) << limits.width));
      float got32 = hu_decode(format, c), want32 = isnan(expected) ? t_float(0x7FC00000) : (float)expected;
      if (!t_same64(got, expected) || !t_same64(garbage, expected) || (narrow && !t_same32(got32, want32)))
        fail_msg("%s code %#x: %a, with garbage above %a, float %a; oracle %a", hu_format_at(i).id, c, got, garbage,
                 (double)got32, expected);
    }
  }
  assert_true(formats > 0);
  print_message("%llu codes of %llu formats decoded\n", (unsigned long long)codes, (unsigned long long)formats);
}

/* ---- Operands of one format. */

typedef struct t_operands {
  double x[MAX_OPERANDS];
  size_t n;
} t_operands;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void add(t_operands *operands, double x) {
  if (operands->n + 2 > MAX_OPERANDS) fail_msg("more than %d operands", MAX_OPERANDS);
  operands->x[operands->n++] = x;
  operands->x[operands->n++] = -x;
}

static void add_near(t_operands *operands, double x) {
  add(operands, x);
  add(operands, nextafter(x, INFINITY));
  add(operands, x == 0 ? 0x1p-1060 : nextafter(x, 0));
}

static void make_operands(t_operands *operands, hu_format format) {
  double values[MAX_CODES + 8];
  size_t n = 0;
  hu_limits limits = hu_limits_of(format);
  uint32_t magnitudes = limits.sign_mask ? limits.sign_mask : 1u << limits.width;
  operands->n = 0;
  for (uint32_t c = 0; c < magnitudes; c++) {
    double v;
    assert_int_equal(hu_oracle_decode64(&v, format, c), HU_OK);
    if (isfinite(v)) values[n++] = v;
  }
  qsort(values, n, sizeof values[0], by_value);
  double top = values[n - 1], gap = n > 1 ? top - values[n - 2] : top;
  for (int i = 1; i <= 4; i++) values[n++] = top + gap * i; /* grid points, or points between them, beyond max */
  double smallest = top;                                    /* positive; flushed codes all read as zero */
  for (size_t i = 0; i < n; i++)
    if (values[i] > 0 && values[i] < smallest) smallest = values[i];
  for (size_t i = 0; i + 1 < n; i++) {
    double lo = values[i], hi = values[i + 1];
    if (hi == lo) continue;
    for (int q = 0; q < 4; q++) add_near(operands, lo + (hi - lo) * 0.25 * q);
  }
  for (int q = 1; q < 16; q++) add_near(operands, smallest * 0.0625 * q);
  double edge = ldexp(1, limits.emin), fine = ldexp(edge, -(int)format.m - 3);
  for (int i = -12; i <= 12; i++) add_near(operands, edge + fine * i);
  add(operands, 0x1p-1074);
  add(operands, 0x1p-1022);
  add(operands, smallest * 0x1p-40);
  add(operands, top * 16);
  add(operands, 0x1.fffffffffffffp+1023);
  add(operands, INFINITY);
  static const uint64_t nans[] = {0x7FF8000000000000, 0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF};
  for (size_t i = 0; i < 3; i++) add(operands, t_double(nans[i]));
}

/* ---- Encode. */

typedef struct encode_case {
  hu_format f;
  hu_limits l;
  const char *id;
  const double *decoded; /* the oracle's value of each code */
  uint64_t count;
} encode_case;

static void check_encode(encode_case *one, hu_mode mode, double x, uint32_t r) {
  uint32_t expected = 0xDEAD, expected_events = 0xDEAD, events = 0xBEEF;
  assert_int_equal(hu_oracle_encode64(&expected, &expected_events, one->f, mode, x, r), HU_OK);
  uint32_t got = hu_encode64(one->f, mode, x, r, &events);
  one->count++;
  char text[T_MODE_TEXT], a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
  if (got != expected || events != expected_events)
    fail_msg("%s %s R=%#x x=%a: %#x %s, oracle %#x %s", one->id, t_mode_text(text, mode), r, x, got,
             t_events_text(a, events), expected, t_events_text(b, expected_events));
  double z = hu_quantize64(one->f, mode, x, r, &events);
  if (!t_same64(z, one->decoded[expected]) || events != expected_events)
    fail_msg("%s %s R=%#x x=%a: quantize64 %a %s, oracle %a %s", one->id, t_mode_text(text, mode), r, x, z,
             t_events_text(a, events), one->decoded[expected], t_events_text(b, expected_events));
  float narrow = (float)x;
  if (isnan(x) || (double)narrow == x) {
    got = hu_encode(one->f, mode, narrow, r, &events);
    if (got != expected || events != expected_events)
      fail_msg("%s %s R=%#x x=%a: binary32 gives %#x %s, oracle %#x %s", one->id, t_mode_text(text, mode), r, x, got,
               t_events_text(a, events), expected, t_events_text(b, expected_events));
  }
}

/* All policies that can matter for x, one of the others by turns. */
static void check_policies(encode_case *one, hu_mode mode, double x, uint32_t r, unsigned *turn) {
  int leaves = fabs(x) >= one->l.max || (x < 0 && !one->f.sign);
  int low = fabs(x) < 2 * ldexp(1, one->l.emin);
  unsigned t = (*turn)++;
  if (isnan(x)) {
    for (unsigned k = 0; k < 24; k++) check_encode(one, t_policy(mode, k % 4, k / 4 % 2, k / 8), x, r);
  } else if (leaves) {
    for (unsigned sat = 0; sat < 4; sat++) check_encode(one, t_policy(mode, sat, t % 2, t / 2 % 3), x, r);
  } else if (low) {
    for (unsigned tiny = 0; tiny < 2; tiny++) check_encode(one, t_policy(mode, t % 4, tiny, t / 4 % 3), x, r);
  } else
    check_encode(one, t_policy(mode, t % 4, t / 4 % 2, t / 8 % 3), x, r);
}

static void encode_world(encode_case *one, const t_operands *operands, t_random *random) {
  unsigned turn = 0;
  for (unsigned round = 0; round < T_DETERMINISTIC; round++)
    for (size_t i = 0; i < operands->n; i++)
      check_policies(one, t_mode(round), operands->x[i], t_next32(random), &turn);
  for (unsigned round = HU_SRA; round <= HU_SRC; round++) {
    for (unsigned bits = 1; bits <= 4; bits++)
      for (size_t i = 0; i < operands->n; i++)
        for (uint32_t r = 0; r < 1u << bits; r++) /* bits of R above N are ignored */
          check_policies(one, t_stochastic(round, bits), operands->x[i], r | (t_next32(random) << bits), &turn);
    for (size_t i = 0; i < operands->n; i++) {
      unsigned bits = (unsigned)t_between(random, 5, 32);
      check_policies(one, t_stochastic(round, bits), operands->x[i], t_next32(random), &turn);
    }
  }
}

static void test_encode(void **state) {
  const t_world *world = *state;
  static t_operands operands;
  uint64_t count = 0, inputs = 0, formats = 0;
  t_random random = {world->seed};
  for (size_t i = t_next_format(0, MAX_WIDTH); i < hu_format_count(); i = t_next_format(i + 1, MAX_WIDTH)) {
    if (!shard_has(world->part, i)) continue;
    hu_format format = hu_format_at(i).format;
    double decoded[MAX_CODES];
    encode_case one = {format, hu_limits_of(format), hu_format_at(i).id, decoded, 0};
    for (uint32_t c = 0; c < 1u << one.l.width; c++)
      assert_int_equal(hu_oracle_decode64(&decoded[c], format, c), HU_OK);
    make_operands(&operands, format);
    encode_world(&one, &operands, &random);
    count += one.count;
    inputs += operands.n;
    formats++;
  }
  assert_true(formats > 0 && inputs > 50 * formats);
  print_message("%llu encodings of %llu operands into %llu formats\n", (unsigned long long)count,
                (unsigned long long)inputs, (unsigned long long)formats);
}

/* ---- Convert. */

typedef struct source_code {
  double value;
  uint16_t format; /* catalogue index */
  uint16_t code;
} source_code;

static int by_bits(const void *a, const void *b) {
  uint64_t x = t_bits64(((const source_code *)a)->value), y = t_bits64(((const source_code *)b)->value);
  return x < y ? -1 : x > y;
}

/* Every code of every small format, sorted by its value's bits, so that equal values stand together. */
static source_code *all_codes(size_t *n) {
  source_code *all = malloc(hu_format_count() * MAX_CODES * sizeof *all);
  assert_non_null(all);
  *n = 0;
  for (size_t i = t_next_format(0, MAX_WIDTH); i < hu_format_count(); i = t_next_format(i + 1, MAX_WIDTH)) {
    hu_format format = hu_format_at(i).format;
    for (uint32_t c = 0; c < 1u << (format.sign + format.e + format.m); c++) {
      source_code *code = &all[(*n)++];
      code->format = (uint16_t)i;
      code->code = (uint16_t)c;
      assert_int_equal(hu_oracle_decode64(&code->value, format, c), HU_OK);
    }
  }
  qsort(all, *n, sizeof *all, by_bits);
  return all;
}

/* One destination and mode: the codes first .. last - 1 have one value. */
static uint64_t convert_group(size_t destination, hu_mode mode, uint32_t r, const source_code *first,
                              const source_code *last) {
  hu_format fz = hu_format_at(destination).format;
  uint32_t expected = 0xDEAD, expected_events = 0xDEAD;
  assert_int_equal(
      hu_oracle_convert(&expected, &expected_events, fz, mode, hu_format_at(first->format).format, first->code, r),
      HU_OK);
  for (const source_code *code = first; code < last; code++) {
    uint32_t events = 0xBEEF, got = hu_convert(fz, mode, hu_format_at(code->format).format, code->code, r, &events);
    char text[T_MODE_TEXT], a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
    if (got != expected || events != expected_events)
      fail_msg("%s code %#x (%a) to %s %s R=%#x: %#x %s, oracle %#x %s", hu_format_at(code->format).id, code->code,
               code->value, hu_format_at(destination).id, t_mode_text(text, mode), r, got, t_events_text(a, events),
               expected, t_events_text(b, expected_events));
  }
  return (uint64_t)(last - first);
}

static uint64_t convert_world(size_t destination, const source_code *all, size_t n, t_random *random) {
  hu_limits limits = hu_limits_of(hu_format_at(destination).format);
  uint64_t count = 0;
  for (size_t i = 0, j; i < n; i = j) {
    double x = all[i].value;
    for (j = i + 1; j < n && t_same64(all[j].value, x); j++) {
    }
    int leaves = fabs(x) >= limits.max || (x < 0 && !limits.sign_mask);
    for (unsigned round = 0; round < T_DETERMINISTIC; round++) {
      unsigned turn = t_next32(random);
      for (unsigned sat = 0; sat < (leaves ? 4u : 1u); sat++)
        count += convert_group(destination, t_policy(t_mode(round), sat, turn % 2, turn / 2 % 3), 0, &all[i], &all[j]);
    }
    unsigned bits = (unsigned)t_between(random, 1, 32);
    hu_mode stochastic = t_stochastic(HU_SRA + t_below(random, 3), bits);
    count += convert_group(destination, stochastic, t_next32(random), &all[i], &all[j]);
  }
  return count;
}

static void test_convert(void **state) {
  const t_world *world = *state;
  size_t n;
  source_code *all = all_codes(&n);
  uint64_t count = 0, formats = 0, values = 0;
  t_random random = {world->seed + 1};
  for (size_t i = 0; i < n; i++) values += i == 0 || !t_same64(all[i].value, all[i - 1].value);
  for (size_t i = t_next_format(0, MAX_WIDTH); i < hu_format_count(); i = t_next_format(i + 1, MAX_WIDTH)) {
    if (!shard_has(world->part, i)) continue;
    count += convert_world(i, all, n, &random);
    formats++;
  }
  free(all);
  assert_true(formats > 0 && values > 256);
  print_message("%llu conversions of %zu codes (%llu values) into %llu formats\n", (unsigned long long)count, n,
                (unsigned long long)values, (unsigned long long)formats);
}

int main(int argc, char **argv) {
  t_world world = {shard_parse(argc > 1 ? argv[1] : NULL), t_seed("small_worlds", 8)};
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_decode, &world),
                                     cmocka_unit_test_prestate(test_encode, &world),
                                     cmocka_unit_test_prestate(test_convert, &world)};
  return cmocka_run_group_tests_name("small_worlds", tests, NULL, NULL);
}
