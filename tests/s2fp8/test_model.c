/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/s2fp8.h against the model: any kind, data, mode, level, number of threads, stride and place.
 *
 *   test_s2fp8_model [CASES] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/s2fp8/draw.h"
#include "tests/s2fp8/model.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { MOST = 1400 };
static unsigned cases = 300;

typedef struct t_buffers {
  float x[4 * MOST + 8], z[4 * MOST + 8];
  uint8_t codes[16 * MOST + 32];
} t_buffers;
static t_buffers in;

typedef struct t_place {
  ptrdiff_t inc;
  size_t at; /* the first element's index */
} t_place;

static t_place draw_place(t_random *random, size_t n) {
  t_place place = {t_below(random, 2) ? 1 : t_between(random, -4, 4), 0};
  if (place.inc == 0) place.inc = 2;
  place.at = (place.inc < 0 ? (n - 1) * (size_t)-place.inc : 0) + t_below(random, 4);
  return place;
}

static hu_exec draw_exec(t_random *random) {
  hu_exec exec = {
      t_below(random, 4), t_below(random, 2) ? 0 : t_below(random, 8), {t_next64(random), t_next64(random)}, {0}};
  return exec;
}

static void check_sums(const float *x, size_t n, const model_stats *m, const hu_s2fp8 *kind, t_random *random,
                       hu_s2fp8_scale *scale) {
  hu_s2fp8_sums sums = {0};
  size_t half = t_below(random, (uint32_t)n);
  mpz_t sum;
  for (int part = 0; part < 2; part++) {
    size_t k = part ? n - half : half;
    t_place place = draw_place(random, k + (k == 0));
    hu_exec exec = draw_exec(random);
    for (size_t i = 0; i < k; i++) in.x[(ptrdiff_t)place.at + (ptrdiff_t)i * place.inc] = x[part ? half + i : i];
    assert_int_equal(hu_s2fp8_sum_n(k, in.x + place.at, place.inc, &sums, t_below(random, 5) ? &exec : NULL), HU_OK);
  }
  mpz_init_set_si(sum, sums.high);
  mpz_mul_2exp(sum, sum, 64);
  mpz_add_ui(sum, sum, sums.low);
  assert_int_equal(mpz_cmp(sum, m->sum), 0);
  mpz_clear(sum);
  assert_int_equal(sums.count, m->count);
  assert_int_equal(sums.special, m->special);
  assert_int_equal(sums.top, t_bits32(m->top));
  assert_int_equal(hu_s2fp8_mean(&sums), m->mean);
  assert_int_equal(hu_s2fp8_scale_of(scale, &sums, kind, NULL), HU_OK);
  assert_int_equal(scale->mu, m->mu);
  assert_int_equal(scale->m, m->m);
  assert_int_equal(t_bits32(scale->alpha), t_bits32(m->alpha));
  assert_int_equal(t_bits32(scale->beta), t_bits32(m->beta));
}

/* Sometimes a scale that is not the tensor's. */
static void other_scale(t_random *random, const hu_s2fp8 *kind, hu_s2fp8_scale *scale) {
  model_map map = {*kind, (int)hu_s2fp8_target(kind), 0, 0};
  float alpha = t_float(t_bits32(scale->alpha) + t_below(random, 1 << 22)), beta = t_float(t_bits32(scale->beta) - 9);
  switch (t_below(random, 8)) {
    case 0:
      assert_int_equal(hu_s2fp8_scale_from(scale, scale->mu - (int64_t)(t_next64(random) >> 24),
                                           scale->m - (int64_t)t_below(random, 5), kind),
                       HU_OK);
      break;
    case 1:
      assert_int_equal(hu_s2fp8_scale_from(scale, 0, (int64_t)map.target << (39 + t_below(random, 3)), kind), HU_OK);
      break;
    case 2:
      if (!model_stored(&map, alpha, beta)) {
        assert_int_equal(hu_s2fp8_scale_stored(scale, alpha, beta, kind), HU_E_SCALING);
        break;
      }
      assert_int_equal(hu_s2fp8_scale_stored(scale, alpha, beta, kind), HU_OK);
      assert_int_equal(scale->mu, map.mu);
      assert_int_equal(scale->m, map.m);
      break;
    default: break;
  }
}

static void check_codes(t_random *numbers, size_t n, const float *x, const hu_s2fp8 *kind,
                        const hu_s2fp8_scale *scale) {
  model_map map = {*kind, (int)hu_s2fp8_target(kind), scale->mu, scale->m};
  hu_mode mode = t_below(numbers, 3) ? t_policy(t_mode(t_below(numbers, T_DETERMINISTIC)), t_below(numbers, 4),
                                                t_below(numbers, 2), t_below(numbers, 3))
                                     : t_random_mode(numbers);
  size_t size = hu_limits_of(kind->element).storage / 8;
  t_place px = draw_place(numbers, n), pz = draw_place(numbers, n), pv = draw_place(numbers, n);
  hu_exec exec = draw_exec(numbers);
  hu_events counted = {0}, again = {0}, events = {0};
  static uint32_t codes[MOST];
  if (mode.round >= HU_SRA && mode.bits > 20)
    mode.bits = (uint8_t)(1 + t_below(numbers, 20)); /* what 53 digits decide */
  for (size_t i = 0; i < n; i++) in.x[(ptrdiff_t)px.at + (ptrdiff_t)i * px.inc] = x[i];
  assert_int_equal(
      hu_s2fp8_encode_n(n, in.codes + pz.at * size, pz.inc, in.x + px.at, px.inc, kind, scale, mode, &exec, &counted),
      HU_OK);
  for (size_t i = 0; i < n; i++) {
    uint32_t set, random = mode.bits ? hu_stream_word(exec.stream, i) >> (32 - mode.bits) : 0;
    codes[i] = model_code(&map, mode, x[i], random, &set);
    hu_events_count(&events, set);
    uint32_t code = t_get(in.codes + pz.at * size, size, (ptrdiff_t)i * pz.inc);
    if (code != codes[i]) {
      char text[HU_S2FP8_TEXT_MAX], words[T_MODE_TEXT];
      (void)hu_s2fp8_text(text, sizeof text, kind);
      fail_msg("%s %s mu %lld m %lld x %08x: code %x, model %x", text, t_mode_text(words, mode), (long long)scale->mu,
               (long long)scale->m, t_bits32(x[i]), code, codes[i]);
    }
  }
  assert_true(t_same_events(&counted, &events));
  /* Values: decoded, made at once, and at once in place. */
  assert_int_equal(hu_s2fp8_decode_n(n, in.z + pv.at, pv.inc, in.codes + pz.at * size, pz.inc, kind, scale, &exec),
                   HU_OK);
  static float expected[MOST];
  for (size_t i = 0; i < n; i++) {
    expected[i] = in.z[(ptrdiff_t)pv.at + (ptrdiff_t)i * pv.inc];
    float v = model_value(&map, codes[i]);
    if (t_bits32(expected[i]) != (v != v ? 0x7FC00000 : t_bits32(v))) {
      fail_msg("mu %lld m %lld code %x: value %08x, model %08x", (long long)scale->mu, (long long)scale->m, codes[i],
               t_bits32(expected[i]), t_bits32(v));
    }
  }
  memset(in.z, 0xA5, sizeof in.z);
  assert_int_equal(hu_s2fp8_quantize_n(n, in.z + pv.at, pv.inc, in.x + px.at, px.inc, kind, scale, mode, &exec, &again),
                   HU_OK);
  assert_true(t_same_events(&again, &events));
  assert_int_equal(hu_s2fp8_quantize_n(n, in.x + px.at, px.inc, in.x + px.at, px.inc, kind, scale, mode, &exec, NULL),
                   HU_OK);
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(t_bits32(in.z[(ptrdiff_t)pv.at + (ptrdiff_t)i * pv.inc]), t_bits32(expected[i]));
    assert_int_equal(t_bits32(in.x[(ptrdiff_t)px.at + (ptrdiff_t)i * px.inc]), t_bits32(expected[i]));
  }
}

static void any_tensor(void **state) {
  (void)state;
  t_random random = {t_seed("s2fp8_model", 77)};
  static float x[MOST];
  size_t elements = 0;
  model_stats m;
  mpz_init(m.sum);
  for (unsigned i = 0; i < cases; i++) {
    hu_s2fp8 kind;
    hu_s2fp8_scale scale;
    size_t n =
        t_below(&random, 3) ? 512 + t_below(&random, MOST - 512) : 1 + t_below(&random, t_below(&random, 2) ? 100 : 3);
    assert_int_equal(hu_s2fp8_parse(&kind, s2fp8_kinds[t_below(&random, S2FP8_KINDS)], NULL), HU_OK);
    s2fp8_draw(&random, n, x);
    model_look(&m, n, x, (int)hu_s2fp8_target(&kind));
    check_sums(x, n, &m, &kind, &random, &scale);
    other_scale(&random, &kind, &scale);
    check_codes(&random, n, x, &kind, &scale);
    elements += n;
  }
  mpz_clear(m.sum);
  print_message("%u tensors, %zu elements\n", cases, elements);
}

/* Powers of two that lie on numbers, and half-way between 0 and the smallest: with the scale 0, T an element is its own
 * y. */
static void powers(void **state) {
  (void)state;
  t_random random = {t_seed("s2fp8_powers", 79)};
  static float x[MOST];
  for (unsigned i = 0; i < S2FP8_KINDS; i++) {
    hu_s2fp8 kind;
    hu_s2fp8_scale scale;
    assert_int_equal(hu_s2fp8_parse(&kind, s2fp8_kinds[i], NULL), HU_OK);
    assert_int_equal(hu_s2fp8_scale_from(&scale, 0, (int64_t)hu_s2fp8_target(&kind) << 40, &kind), HU_OK);
    for (uint32_t k = 0; k < 600; k++) x[k] = t_float((127 - 40 + k % 80) << 23 | (k >> 8 & 1) << 31);
    for (int round = 0; round < 6; round++) check_codes(&random, 600, x, &kind, &scale);
  }
}

/* All codes of a kind under many maps, those among them where values end. */
static void every_value(void **state) {
  (void)state;
  t_random random = {t_seed("s2fp8_values", 78)};
  size_t values = 0;
  for (unsigned i = 0; i < cases / 2; i++) {
    hu_s2fp8 kind;
    hu_s2fp8_scale scale;
    uint8_t codes[256];
    float z[256];
    const char *text = i % 3 == 0   ? "s2fp8"
                       : i % 3 == 1 ? "s2fp8(float8_e4m3fn;target=8)"
                                    : "s2fp8(fp(3,4,0);target=2)";
    assert_int_equal(hu_s2fp8_parse(&kind, text, NULL), HU_OK);
    int64_t t = hu_s2fp8_target(&kind), one = (int64_t)1 << 40;
    int64_t mu = t_between(&random, -60, 60) * one, gap = t * one;
    if (i % 4 == 1) gap = gap * (1 + t_below(&random, 3)) / 2; /* squares and roots of the numbers */
    if (i % 4 == 2) gap = t * (one >> t_below(&random, 3)) * (1 + t_below(&random, 4)) / (1 + t_below(&random, 3));
    if (i % 4 == 3)
      mu = (int64_t)(t_next64(&random) >> 16) - (one << 7),
      gap = 1 + (int64_t)(t_next64(&random) >> (18 + t_below(&random, 40)));
    if (mu + gap > (int64_t)1 << 50) continue;
    assert_int_equal(hu_s2fp8_scale_from(&scale, mu, mu + gap, &kind), HU_OK);
    model_map map = {kind, (int)t, scale.mu, scale.m};
    for (unsigned c = 0; c < 256; c++) codes[c] = (uint8_t)c;
    assert_int_equal(hu_s2fp8_decode_n(256, z, 1, codes, 1, &kind, &scale, NULL), HU_OK);
    for (unsigned c = 0; c < 256; c++) {
      float v = model_value(&map, c);
      if (t_bits32(z[c]) != (v != v ? 0x7FC00000 : t_bits32(v))) {
        fail_msg("%s mu %lld gap %lld code %x: %08x, model %08x", text, (long long)mu, (long long)gap, c,
                 t_bits32(z[c]), t_bits32(v));
      }
    }
    values += 256;
  }
  print_message("%zu values\n", values);
}

int main(int argc, char **argv) {
  if (argc > 1) cases = (unsigned)atoi(argv[1]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_tensor), cmocka_unit_test(powers),
                                     cmocka_unit_test(every_value)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
