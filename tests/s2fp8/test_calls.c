/* SPDX-License-Identifier: MIT */
/* S2FP8: worked numbers, the paper's properties, edges, products, texts, misuse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

static const hu_mode rne;
static const int64_t one = (int64_t)1 << 40;

static hu_s2fp8 parsed(const char *text) {
  hu_s2fp8 k;
  assert_int_equal(hu_s2fp8_parse(&k, text, NULL), HU_OK);
  return k;
}

static void truncate(size_t n, float *z, const float *x, hu_s2fp8_sums *sums, hu_s2fp8_scale *scale) {
  hu_s2fp8 k = parsed("s2fp8");
  assert_int_equal(hu_s2fp8_truncate_n(n, z, 1, x, 1, &k, rne, sums, scale, NULL, NULL), HU_OK);
}

/* ---- worked numbers: binary64 and 80 digits gave the same ---- */

typedef struct t_example {
  const char *name;
  size_t n;
  uint32_t x[8];
  double mu, m, alpha, beta;
  double y[8];
  uint32_t z[8];
} t_example;

static const t_example examples[] = {
    {"A",
     4,
     {0x3A800000, 0x2B800000, 0, 0xB3000000},
     -25,
     -10,
     1,
     25,
     {32768, 0x1p-15, 0, -1},
     {0x3A800000, 0x2B800000, 0, 0xB3000000}},
    {"B",
     4,
     {0x37800000, 0xB7000000, 0x35800000, 0x36000000},
     -18,
     -16,
     7.5,
     135,
     {32768, -192, 0x1p-15, 0.005859375},
     {0x37800000, 0xB7010250, 0x35800000, 0x36010250}},
    {"B 2^7",
     4,
     {0x3B000000, 0xBA800000, 0x39000000, 0x39800000},
     -11,
     -9,
     7.5,
     82.5,
     {32768, -192, 0x1p-15, 0.005859375},
     {0x3B000000, 0xBA810250, 0x39000000, 0x39810250}},
    {"B'",
     4,
     {0x3F800000, 0xA1800000, 0x35800000, 0x2B800000},
     -30,
     0,
     0.5,
     15,
     {32768, -0x1p-15, 32, 0x1p-5},
     {0x3F800000, 0xA1800000, 0x35800000, 0x2B800000}},
    {"C",
     6,
     {0x3A83126F, 0xBCA3D70A, 0x3E99999A, 0x36A7C5AC, 0, 0x3D8F5C29},
     -7.758549549491024,
     -1.736965536838657,
     2.491038897486519,
     19.32684871585865,
     {0.0234375, -40, 32768, 0, 0, 896},
     {0x3A8624FB, 0xBCA653BE, 0x3E99999A, 0, 0, 0x3D90DBE1}},
    {"D",
     8,
     {0x314E288F, 0xB3A10FB0, 0x35A10FB0, 0xB4D6BF95, 0x32BCFA83, 0, 0x35719787, 0xB22BCC77},
     -23.571410416592204,
     -19.668534112461025,
     3.8433193447925946,
     90.5924576381345,
     {0, -0.75, 32768, -512, 0.0068359375, 0, 10240, -0.00030517578125},
     {0, 0xB39FDA51, 0x35A10FB0, 0xB4DA527F, 0x32BC549A, 0, 0x356E012B, 0xB227BC82}},
    {"G",
     4,
     {0x48927C00, 0xC9742400, 0x46C35000, 0x4788B800},
     17.207719830131502,
     19.931568569324174,
     5.506913722546092,
     -94.76142846627968,
     {40, -32768, 4.57763671875e-05, 0.013671875},
     {0x48906B8F, 0xC9742400, 0x46C0AF27, 0x4787993B}}};

static double away(double a, double b) { return a > b ? a - b : b - a; }

static void worked(void **state) {
  (void)state;
  hu_s2fp8 k = parsed("s2fp8");
  for (size_t e = 0; e < sizeof examples / sizeof *examples; e++) {
    const t_example *example = &examples[e];
    float x[8], z[8];
    uint8_t codes[8];
    hu_s2fp8_scale scale;
    for (size_t i = 0; i < example->n; i++) x[i] = t_float(example->x[i]);
    truncate(example->n, z, x, NULL, &scale);
    assert_true(away((double)scale.mu * HU_S2FP8_UNIT, example->mu) < 0x1p-39);
    assert_true(away((double)scale.m * HU_S2FP8_UNIT, example->m) < 0x1p-40);
    assert_int_equal(t_bits32(scale.alpha), t_bits32((float)example->alpha));
    assert_int_equal(t_bits32(scale.beta), t_bits32((float)example->beta));
    assert_int_equal(hu_s2fp8_encode_n(example->n, codes, 1, x, 1, &k, &scale, rne, NULL, NULL), HU_OK);
    for (size_t i = 0; i < example->n; i++) {
      double y = hu_decode64(k.element, codes[i]);
      if (y != example->y[i] || t_bits32(z[i]) != example->z[i])
        fail_msg("%s, element %zu: %a, %08x", example->name, i, y, t_bits32(z[i]));
    }
  }
}

/* ---- edges ---- */

/* Infinities under special = nan: a NaN with their sign, where the format has NaNs of both; without NaN its end,
 * whatever the policies say. Every way of finding codes says the same: the table, and in stochastic modes each element
 * alone. */
static void infinities(void **state) {
  static const struct {
    const char *text;
    uint32_t plus, minus, nan, events; /* events of both infinities together */
  } rows[] = {{"s2fp8", 0x7E, 0xFE, 0x7E, HU_EVENT_INVALID},
              {"s2fp8(float8_e5m2)", 0x7F, 0xFF, 0x7F, HU_EVENT_INVALID},
              {"s2fp8(float8_e4m3fn)", 0x7F, 0xFF, 0x7F, HU_EVENT_INVALID},
              {"s2fp8(float8_e4m3fnuz;target=5)", 0x80, 0x80, 0x80, HU_EVENT_INVALID},
              {"s2fp8(bfloat16;target=15)", 0x7FC0, 0xFFC0, 0x7FC0, HU_EVENT_INVALID},
              {"s2fp8(float4_e2m1fn)", 0x7, 0xF, 0x7, HU_EVENT_SATURATED},
              {"s2fp8(float6_e3m2fn)", 0x1F, 0x3F, 0x1F, HU_EVENT_SATURATED},
              {"s2fp8(fp(5,2,0):finite)", 0x7F, 0xFF, 0x7F, HU_EVENT_SATURATED}};
  float x[200] = {1, t_float(0x7F800000), t_float(0xFF800000), t_float(0x7FC00000), 0.25f, -0.5f};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hu_s2fp8 k = parsed(rows[i].text);
    for (unsigned way = 0; way < 6; way++) {
      float z[200];
      uint8_t narrow[200];
      uint16_t half[200];
      int wide = k.element.m + k.element.e + k.element.sign > 8, invalid = rows[i].events == HU_EVENT_INVALID;
      void *codes = wide ? (void *)half : narrow;
      hu_mode mode = way < 4 ? t_policy(rne, (uint8_t)way, 0, 0) : rne;
      if (way >= 4) assert_int_equal(hu_mode_round_parse(&mode, way == 4 ? "sra:8" : "rtz"), HU_OK);
      if (way == 5) mode.nan = HU_NAN_TO_ZERO;
      hu_s2fp8_scale scale;
      hu_events ev = {0};
      size_t n = way & 1 ? 200 : 6;
      assert_int_equal(hu_s2fp8_truncate_n(n, z, 1, x, 1, &k, mode, NULL, &scale, NULL, NULL), HU_OK);
      assert_int_equal(hu_s2fp8_encode_n(n, codes, 1, x, 1, &k, &scale, mode, NULL, &ev), HU_OK);
      uint32_t got[3], nan = way == 5 && !invalid ? 0 : rows[i].nan;
      for (size_t j = 0; j < 3; j++) got[j] = wide ? half[1 + j] : narrow[1 + j];
      if (got[0] != rows[i].plus || got[1] != rows[i].minus || got[2] != nan)
        fail_msg("%s, way %u: %x %x %x", rows[i].text, way, got[0], got[1], got[2]);
      assert_true(ev.inf_in == 2 && ev.nan_in == 1 && ev.invalid == (invalid ? 2u : 0u) &&
                  ev.saturated == (invalid ? 0u : 2u) && ev.overflow == 0);
      assert_true(invalid ? z[1] != z[1] && z[2] != z[2] : z[1] >= 1 && z[2] == -z[1]);
    }
  }
}

static void edges(void **state) {
  (void)state;
  hu_s2fp8 k = parsed("s2fp8"), through = parsed("s2fp8(fp(5,2,0);special=element)");
  hu_s2fp8_sums sums;
  hu_s2fp8_scale scale;
  float z[8], same[4] = {0.3f, -0.3f, 0, 0.3f}, zeros[2] = {0, -0.0f};
  truncate(4, z, same, &sums, &scale); /* one magnitude */
  assert_memory_equal(z, same, sizeof same);
  assert_true(scale.alpha == 1 && scale.m - scale.mu == 15 * one && sums.count == 3 && hu_s2fp8_mean(&sums) == scale.m);
  truncate(2, z, zeros, &sums, &scale);
  assert_memory_equal(z, zeros, sizeof zeros);
  assert_true(scale.alpha == 1 && t_bits32(scale.beta) == 0 && sums.count == 0 && scale.mu == 0 && scale.m == 15 * one);
  /* Subnormal numbers, the smallest one among them; the largest finite number. */
  float small[4] = {t_float(1), t_float(0x80000007), t_float(0x7FFFFF), 0};
  truncate(4, z, small, NULL, &scale);
  assert_int_equal(t_bits32(z[2]), 0x7FFFFF);
  assert_true(scale.mu < scale.m);
  float wide[3] = {t_float(0x7F7FFFFF), t_float(1), 1};
  truncate(3, z, wide, NULL, &scale);
  assert_int_equal(t_bits32(z[0]), 0x7F7FFFFF);
  /* Infinities and NaN: counted, not in the statistics. */
  float special[6] = {1, t_float(0x7F800000), 0.5f, t_float(0xFF800000), t_float(0xFFC12345), 0.25f};
  hu_events ev = {0};
  assert_int_equal(hu_s2fp8_truncate_n(6, z, 1, special, 1, &k, rne, &sums, &scale, NULL, &ev), HU_OK);
  assert_true(sums.special == 3 && sums.count == 3 && scale.mu == -one && scale.m == 0);
  assert_true(t_bits32(z[1]) == 0x7FC00000 && t_bits32(z[3]) == 0x7FC00000 && t_bits32(z[4]) == 0x7FC00000 &&
              z[0] == 1);
  assert_true(ev.inf_in == 2 && ev.invalid == 2 && ev.nan_in == 1 && ev.overflow == 0 && ev.inexact == 0);
  assert_int_equal(hu_s2fp8_quantize_n(6, z, 1, special, 1, &through, &scale, rne, NULL, NULL), HU_OK);
  assert_true(t_bits32(z[1]) == 0x7F800000 && t_bits32(z[3]) == 0xFF800000 && t_bits32(z[4]) == 0x7FC00000);
  /* With the statistics of a smaller tensor elements overflow, as fp(5,2,0) does, or saturate. */
  float twice[2] = {4, -4};
  memset(&ev, 0, sizeof ev);
  assert_int_equal(hu_s2fp8_quantize_n(2, z, 1, twice, 1, &k, &scale, rne, NULL, &ev), HU_OK);
  assert_true(ev.overflow == 2 && t_bits32(z[0]) == 0x7F800000 && t_bits32(z[1]) == 0xFF800000);
  assert_int_equal(hu_s2fp8_quantize_n(2, z, 1, twice, 1, &k, &scale, t_policy(rne, HU_SAT_FINITE, 0, 0), NULL, &ev),
                   HU_OK);
  assert_true(ev.saturated == 2 && z[0] == -z[1] && z[0] > 1 && z[0] < 1.1f); /* 57344 of a tensor with alpha 15 */
}

/* m - mu as small as it can be: nearly all elements at the top. Those below are flushed, the top comes back. */
static void tiny_gap(void **state) {
  (void)state;
  enum { N = 1 << 18 };
  float *x = malloc(N * sizeof *x), *z = malloc(N * sizeof *z);
  assert_true(x && z);
  for (size_t i = 0; i < N; i++) x[i] = i == 77 ? t_float(0x3F800000) : t_float(0x3F800001);
  hu_s2fp8_sums sums;
  hu_s2fp8_scale scale;
  truncate(N, z, x, &sums, &scale);
  assert_true(scale.m > scale.mu && scale.m - scale.mu < 2 && scale.alpha > 0x1p42f);
  assert_true(z[77] == 0 && t_bits32(z[0]) == 0x3F800001 && t_bits32(z[N - 1]) == 0x3F800001);
  free(x);
  free(z);
}

/* ---- properties ---- */

static void fill(t_random *random, size_t n, float *x, int at, int width) {
  for (size_t i = 0; i < n; i++) {
    uint32_t e = (uint32_t)(127 + at + (int)t_below(random, (uint32_t)width));
    x[i] = t_below(random, 20) ? t_float(e << 23 | (t_next32(random) & 0x807FFFFF)) : 0;
  }
}

static void properties(void **state) {
  (void)state;
  enum { N = 3000 };
  static float x[N + 500], y[N + 500], z[N + 500], w[N + 500];
  t_random random = {t_seed("s2fp8_properties", 3)};
  for (unsigned round = 0; round < t_runs(40); round++) {
    hu_s2fp8_sums sums, other;
    hu_s2fp8_scale scale, t;
    int shift = t_between(&random, -20, 20);
    fill(&random, N, x, t_between(&random, -30, 10), t_between(&random, 1, 25));
    truncate(N, z, x, &sums, &scale);
    float top = 0, most = 0;
    for (size_t i = 0; i < N; i++) {
      float a = x[i] < 0 ? -x[i] : x[i], b = z[i] < 0 ? -z[i] : z[i];
      top = a > top ? a : top;
      most = b > most ? b : most;
      assert_true((x[i] < 0) == (z[i] < 0) || z[i] == 0);
    }
    assert_true(top == most); /* 1: the largest magnitude comes back */
    for (size_t i = 1; i < N; i++) {
      size_t j = t_below(&random, (uint32_t)i);
      float a = x[i] < 0 ? -x[i] : x[i], b = x[j] < 0 ? -x[j] : x[j];
      float c = z[i] < 0 ? -z[i] : z[i], d = z[j] < 0 ? -z[j] : z[j];
      assert_true(a <= b ? c <= d : c >= d); /* 4: in order */
    }
    float factor = t_float((uint32_t)(127 + shift) << 23);
    for (size_t i = 0; i < N; i++) y[i] = -x[i] * factor; /* 2: powers of two and the sign */
    truncate(N, w, y, &other, &t);
    assert_true(t.mu == scale.mu + shift * one && t.m == scale.m + shift * one && t.alpha == scale.alpha);
    for (size_t i = 0; i < N; i++) assert_int_equal(t_bits32(w[i]), t_bits32(-z[i] * factor));
    memset(y, 0, sizeof y);
    for (size_t i = 0; i < N; i++) y[(i * 1009 + 17) % N] = x[i]; /* a permutation, and 500 zeros */
    truncate(N + 500, w, y, &other, &t);
    assert_memory_equal(&other, &sums, sizeof sums);
    assert_memory_equal(&t, &scale, sizeof scale);
    for (size_t i = 0; i < N; i++) assert_int_equal(t_bits32(w[(i * 1009 + 17) % N]), t_bits32(z[i]));
    hu_s2fp8 k = parsed("s2fp8");
    assert_int_equal(hu_s2fp8_quantize_n(N, w, 1, z, 1, &k, &scale, rne, NULL, NULL), HU_OK);
    for (size_t i = 0; i < N; i++) assert_int_equal(t_bits32(w[i]), t_bits32(z[i])); /* idempotent for a fixed scale */
  }
}

/* ---- levels, threads, many elements: also those written around the caches ---- */

static void same_everywhere(void **state) {
  (void)state;
  size_t n = (size_t)t_runs((1 << 22) + 12345);
  float *x = malloc(n * 4), *z = malloc(n * 4 + 64), *w = malloc(n * 4);
  uint8_t *a = malloc(n), *b = malloc(n);
  assert_true(x && z && w && a && b);
  t_random random = {t_seed("s2fp8_everywhere", 9)};
  hu_s2fp8 k = parsed("s2fp8");
  fill(&random, n, x, -20, 18);
  for (size_t i = 0; i < n; i += 100003)
    x[i] = t_float(i % 3 ? 0x7F800000 + t_below(&random, 3) : (uint32_t)(i % 1000));
  for (size_t i = 0; i < n; i += 31) x[i] *= t_float((uint32_t)(127 - (int)t_below(&random, 30)) << 23);
  hu_s2fp8_sums first = {0}, sums;
  hu_s2fp8_scale scale;
  hu_events counts = {0}, others;
  assert_int_equal(hu_s2fp8_sum_n(n, x, 1, &first, NULL), HU_OK);
  assert_int_equal(hu_s2fp8_scale_of(&scale, &first, &k, NULL), HU_OK);
  scale.m -= 2 * one; /* so that some overflow */
  assert_int_equal(hu_s2fp8_scale_from(&scale, scale.mu, scale.m, &k), HU_OK);
  assert_int_equal(hu_s2fp8_quantize_n(n, w, 1, x, 1, &k, &scale, rne, NULL, &counts), HU_OK);
  assert_true(counts.overflow > 0 && counts.to_zero > 0 && counts.subnormal > 0);
  assert_int_equal(hu_s2fp8_encode_n(n, a, 1, x, 1, &k, &scale, rne, NULL, NULL), HU_OK);
  for (uint32_t i = 0; i < 2 * t_levels(); i++) {
    hu_exec exec = {i < t_levels() ? 1 : 5, t_levels_off(i % t_levels()), {0, 0}, {0}};
    float *to = z + i; /* any alignment */
    memset(&sums, 0, sizeof sums);
    memset(&others, 0, sizeof others);
    assert_int_equal(hu_s2fp8_sum_n(n, x, 1, &sums, &exec), HU_OK);
    assert_memory_equal(&sums, &first, sizeof sums);
    assert_int_equal(hu_s2fp8_quantize_n(n, to, 1, x, 1, &k, &scale, rne, &exec, &others), HU_OK);
    assert_int_equal(memcmp(to, w, n * 4), 0);
    assert_true(t_same_events(&others, &counts));
    assert_int_equal(hu_s2fp8_encode_n(n, b, 1, x, 1, &k, &scale, rne, &exec, NULL), HU_OK);
    assert_int_equal(memcmp(a, b, n), 0);
    assert_int_equal(hu_s2fp8_decode_n(n, to, 1, b, 1, &k, &scale, &exec), HU_OK);
    assert_int_equal(memcmp(to, w, n * 4), 0);
  }
  free(x);
  free(z);
  free(w);
  free(a);
  free(b);
}

/* ---- products ---- */

enum { SIDE = 150, DEEP = 600 };

static void one_product(t_random *random, size_t m, size_t n, size_t k, const char *ta, const char *tb) {
  static uint8_t ca[4 * (SIDE + 3) * (DEEP + 3)], cb[4 * (SIDE + 3) * (DEEP + 3)];
  static float a[SIDE * DEEP], b[DEEP * SIDE], c[SIDE * SIDE], z[SIDE * (SIDE + 5)], w[SIDE * SIDE];
  hu_s2fp8 ka = parsed(ta), kb = parsed(tb);
  hu_s2fp8_scale sa, sb;
  size_t za = hu_limits_of(ka.element).storage / 8, zb = hu_limits_of(kb.element).storage / 8;
  assert_int_equal(hu_s2fp8_scale_from(&sa, -3 * one + 12345, 5 * one, &ka), HU_OK);
  assert_int_equal(hu_s2fp8_scale_from(&sb, -9 * one, -2 * one + 99, &kb), HU_OK);
  uint8_t at = (uint8_t)t_below(random, 2), bt = (uint8_t)t_below(random, 2);
  size_t lda = (at ? m : k) + t_below(random, 3), ldb = (bt ? k : n) + t_below(random, 3), ldz = n + t_below(random, 5);
  for (size_t i = 0; i < sizeof ca; i++) ca[i] = (uint8_t)t_next32(random), cb[i] = (uint8_t)t_next32(random);
  for (size_t i = 0; i < sizeof ca / za; i++) /* few infinities and NaN */
    if (t_below(random, 500))
      t_put(ca, za, (ptrdiff_t)i, t_get(ca, za, (ptrdiff_t)i) & ~(uint32_t)(za == 1 ? 0x40 : 0x4000));
  for (size_t i = 0; i < sizeof cb / zb; i++)
    if (t_below(random, 500))
      t_put(cb, zb, (ptrdiff_t)i, t_get(cb, zb, (ptrdiff_t)i) & ~(uint32_t)(zb == 1 ? 0x40 : 0x4000));
  hu_scaled left = {ca, lda, &sa, 0, NULL}, right = {cb, ldb, &sb, 0, NULL};
  hu_view oa = hu_s2fp8_matrix(&left, &ka), ob = hu_s2fp8_matrix(&right, &kb);
  if (at) oa = hu_transposed(oa);
  if (bt) ob = hu_transposed(ob);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < k; j++) {
      size_t p = at ? j * lda + i : i * lda + j;
      assert_int_equal(hu_s2fp8_decode_n(1, a + i * k + j, 1, ca + p * za, 1, &ka, &sa, NULL), HU_OK);
    }
  for (size_t i = 0; i < k; i++)
    for (size_t j = 0; j < n; j++) {
      size_t p = bt ? j * ldb + i : i * ldb + j;
      assert_int_equal(hu_s2fp8_decode_n(1, b + i * n + j, 1, cb + p * zb, 1, &kb, &sb, NULL), HU_OK);
    }
  fill(random, m * n, c, -3, 6);
  hu_format format = hu_format_ieee(8, 23, 0);
  hu_output result = hu_matrix_out_of(w, n, hu_type_values(HU_TYPE_VALUES32, format));
  hu_view va = hu_matrix_of(a, k ? k : 1, hu_type_values(HU_TYPE_VALUES32, format)),
          vb = hu_matrix_of(b, n, hu_type_values(HU_TYPE_VALUES32, format)),
          vc = hu_matrix_of(c, n, hu_type_values(HU_TYPE_VALUES32, format));
  hu_accum fp32;
  assert_int_equal(hu_accum_parse(&fp32, "fp32", NULL), HU_OK);
  int with = (int)t_below(random, 3), levels = (int)t_below(random, 2) * 6;
  hu_exec exec = {t_below(random, 4), (uint32_t)levels, {0, 0}, {0}};
  assert_int_equal(hu_gemm(m, n, k, &result, &va, &vb, with ? &vc : NULL, &fp32, NULL), HU_OK);
  t_fill_pattern(z, sizeof z);
  if (with == 2) { /* in place */
    for (size_t i = 0; i < m; i++) memcpy(z + i * ldz, c + i * n, n * 4);
  }
  hu_output to = hu_matrix_floats_out(z, ldz);
  hu_view given = with == 1 ? hu_matrix_floats(c, n) : hu_matrix_floats(z, ldz);
  assert_int_equal(hu_gemm(m, n, k, &to, &oa, &ob, with ? &given : NULL, &fp32, &(hu_how){rne, &exec, NULL}), HU_OK);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) assert_int_equal(t_bits32(z[i * ldz + j]), t_bits32(w[i * n + j]));
}

static void products(void **state) {
  (void)state;
  t_random random = {t_seed("s2fp8_products", 4)};
  for (int i = 0; i < 12; i++) {
    one_product(&random, 1 + t_below(&random, i < 8 ? 20 : SIDE), 1 + t_below(&random, i < 8 ? 20 : SIDE),
                t_below(&random, i < 6 ? 30 : DEEP), i % 3 == 2 ? "s2fp8(float8_e4m3fn)" : "s2fp8", "s2fp8");
  }
  one_product(&random, 3, 4, 9, "s2fp8(binary16)", "s2fp8(fp(6,9,0):finite)");
  one_product(&random, 70, 130, 300, "s2fp8", "s2fp8");
  one_product(&random, 2, 3, 0, "s2fp8", "s2fp8");
}

/* ---- texts, misuse ---- */

static void texts(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"s2fp8", "s2fp8"},
      {"s2fp8(fp(5,2,0);target=15)", "s2fp8"},
      {"s2fp8(fp(5,2,0);target=14)", "s2fp8(fp(5,2,0);target=14)"},
      {"s2fp8(e4m3fn;special=element)", "s2fp8(float8_e4m3fn;special=element)"},
      {"s2fp8(float8_e4m3fn;target=7;special=element)", "s2fp8(float8_e4m3fn;target=7;special=element)"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    char text[HU_S2FP8_TEXT_MAX];
    hu_s2fp8 k = parsed(pairs[i][0]), again;
    assert_int_equal(hu_s2fp8_text(text, sizeof text, &k), strlen(pairs[i][1]));
    assert_string_equal(text, pairs[i][1]);
    again = parsed(text);
    assert_memory_equal(&k, &again, sizeof k);
  }
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } wrong[] = {{"s2fp", HU_E_NAME, 0},
               {"s2fp8x", HU_E_NAME, 0},
               {"s2fp8(", HU_E_TEXT, 6},
               {"s2fp8(float8_e4m3fn", HU_E_TEXT, 19},
               {"s2fp8(nobody)", HU_E_NAME, 6},
               {"s2fp8(fp(5,2,0);target=0)", HU_E_TEXT, 23},
               {"s2fp8(fp(5,2,0)) ", HU_E_TEXT, 15},
               {"s2fp8(fp(5,2,0);target=16)", HU_E_SCALING, 0},
               {"s2fp8(fp(0,7,0):finite)", HU_E_SCALING, 0},
               {"s2fp8(fp(5,2,0);target=015)", HU_E_TEXT, 23},
               {"s2fp8(fp(5,x,0))", HU_E_TEXT, 11}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    hu_s2fp8 k;
    size_t where = 99;
    if (hu_s2fp8_parse(&k, wrong[i].text, &where) != wrong[i].status || where != wrong[i].where) {
      fail_msg("%s: %d at %zu", wrong[i].text, (int)hu_s2fp8_parse(&k, wrong[i].text, NULL), where);
    }
  }
}

/* Exact values of a wide format under alpha = 1, and sums that no elements have. */
static void wide_and_impossible(void **state) {
  (void)state;
  hu_s2fp8 kind = hu_s2fp8_of(hu_binary32());
  hu_s2fp8_scale scale;
  static float x[2000], z[2000];
  assert_int_equal(hu_s2fp8_scale_stored(&scale, 1, 0, &kind), HU_OK);
  for (uint32_t i = 0; i < 2000; i++) x[i] = t_float(0x3F800001 + 4194 * i);
  assert_int_equal(hu_s2fp8_quantize_n(2000, z, 1, x, 1, &kind, &scale, rne, NULL, NULL), HU_OK);
  for (int i = 0; i < 2000; i++) assert_true(z[i] <= x[i] * (1 + 0x1p-22f) && z[i] >= x[i] * (1 - 0x1p-22f));
  const hu_s2fp8_sums none[] = {{(uint64_t)1 << 63, -1, 1, 0, 0x3F800000, 0},
                                {(uint64_t)1 << 63, 0, 1, 0, 0x3F800000, 0},
                                {0, -1, 1, 0, 0x3F800000, 0}};
  for (size_t i = 0; i < 3; i++) assert_int_equal(hu_s2fp8_scale_of(&scale, &none[i], &kind, NULL), HU_E_SCALING);
  kind = hu_s2fp8_of(hu_format_ieee(11, 4, 0));
  assert_int_equal(hu_s2fp8_check(&kind, NULL), HU_E_SCALING);
  kind.target = 874;
  float tiny[3] = {1e-45f, -1e-45f, 0}, same[3];
  assert_int_equal(hu_s2fp8_truncate_n(3, same, 1, tiny, 1, &kind, rne, NULL, NULL, NULL, NULL), HU_OK);
  assert_memory_equal(tiny, same, sizeof tiny);
}

static void misuse(void **state) {
  (void)state;
  hu_s2fp8 k = parsed("s2fp8"), bad = k;
  hu_s2fp8_scale scale, none = {5, 5, 0, 0}, far = {-((int64_t)1 << 50) - 1, 0, 0, 0};
  hu_s2fp8_sums sums = {0}, odd = {0, 1, 2, 0, 0x3F800000, 0}, above = {(uint64_t)3 << 40, 0, 1, 0, 0x3F800000, 0};
  float x[4] = {1, 2, 3, 4}, z[4] = {9, 9, 9, 9};
  uint8_t codes[4] = {7, 7, 7, 7};
  const char *why = NULL;
  bad.target = 16;
  assert_int_equal(hu_s2fp8_check(&bad, &why), HU_E_SCALING);
  assert_non_null(why);
  assert_int_equal(hu_s2fp8_target(&bad), 0);
  assert_int_equal(hu_s2fp8_target(&k), 15);
  assert_int_equal(hu_s2fp8_scale_of(&scale, &odd, &k, NULL), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_scale_of(&scale, &above, &k, NULL), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_scale_of(NULL, &sums, &k, NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_scale_from(&scale, 1, 1, &k), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_scale_stored(&scale, 0, 1, &k), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_scale_stored(&scale, -1, 1, &k), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_scale_stored(&scale, 1, t_float(0x7F800000), &k), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_scale_stored(&scale, 0x1p-126f, 0, &k), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_scale_stored(&scale, 0x1p126f, 0, &k), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_scale_stored(&scale, 7.5f, 135, &k), HU_OK);
  assert_true(scale.mu == -18 * one && scale.m == -16 * one && scale.alpha == 7.5f && scale.beta == 135);
  assert_int_equal(hu_s2fp8_sum_n(4, x, 1, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_sum_n(4, NULL, 1, &sums, NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_quantize_n(4, z, 1, x, 1, &k, &none, rne, NULL, NULL), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_quantize_n(4, z, 1, x, 1, &k, &far, rne, NULL, NULL), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_quantize_n(4, z, 1, x, 1, &k, NULL, rne, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_quantize_n(4, z, 0, x, 1, &k, &scale, rne, NULL, NULL), HU_E_SHAPE);
  assert_int_equal(hu_s2fp8_quantize_n(3, x + 1, 1, x, 1, &k, &scale, rne, NULL, NULL), HU_E_OVERLAP);
  assert_int_equal(hu_s2fp8_quantize_n(4, z, 1, x, 1, &k, &scale, t_mode(99), NULL, NULL), HU_E_MODE);
  assert_int_equal(hu_s2fp8_encode_n(4, NULL, 1, x, 1, &k, &scale, rne, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_truncate_n(4, z, 1, x, 1, &bad, rne, NULL, NULL, NULL, NULL), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_truncate_n(0, NULL, 1, NULL, 1, &k, rne, &sums, &scale, NULL, NULL), HU_OK);
  assert_true(sums.count == 0 && scale.alpha == 1);
  hu_scaled ta = {codes, 2, &scale, 0, NULL};
  hu_accum fp32 = {.kind = HU_ACCUM_FP32}, exact = {.kind = HU_ACCUM_EXACT};
  hu_view a = hu_s2fp8_matrix(&ta, &k), b = a, c = hu_matrix_floats(z + 1, 2), empty = {0};
  hu_output d = hu_matrix_floats_out(z, 1);
  assert_int_equal(hu_gemm(2, 2, 2, &d, &a, &b, NULL, &fp32, NULL), HU_E_SHAPE);
  d.row = 2;
  assert_int_equal(hu_gemm(2, 2, 2, &d, &a, &empty, NULL, &fp32, NULL), HU_E_NULL);
  assert_int_equal(hu_gemm(2, 2, 2, &d, &a, &c, NULL, &fp32, NULL), HU_E_FORMAT);
  assert_int_equal(hu_gemm(2, 2, 2, &d, &c, &a, NULL, &fp32, NULL), HU_E_FORMAT);
  assert_int_equal(hu_gemm(2, 2, 2, &d, &a, &b, &b, &fp32, NULL), HU_E_FORMAT);
  assert_int_equal(hu_gemm(2, 2, 2, &d, &a, &b, NULL, &exact, NULL), HU_E_ACCUM);
  assert_int_equal(hu_gemm(2, 2, 2, &d, &a, &b, NULL, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_gemm(2, 2, 2, &d, &a, &b, &c, &fp32, NULL), HU_E_OVERLAP);
  b.row = 1; /* neither as stored nor transposed */
  assert_int_equal(hu_gemm(2, 2, 2, &d, &a, &b, NULL, &fp32, NULL), HU_E_SHAPE);
  ta.scales = &none;
  assert_int_equal(hu_gemm(2, 2, 2, &d, &a, &a, NULL, &fp32, NULL), HU_E_SCALING);
  for (int i = 0; i < 4; i++) assert_true(z[i] == 9 && codes[i] == 7);
}

/* Types of views, which the calls with an argument for each part never give wrong. */
static void views(void **state) {
  (void)state;
  static const uint8_t kinds[] = {HU_TYPE_NONE, HU_TYPE_CODES, HU_TYPE_VALUES32, HU_TYPE_VALUES64, HU_TYPE_BINARY32};
  hu_s2fp8 kind = parsed("s2fp8");
  hu_s2fp8_scale scale;
  float x[2] = {1, 2}, z[2];
  assert_int_equal(hu_s2fp8_scale_stored(&scale, 1, 0, &kind), HU_OK);
  for (size_t i = 0; i < 5; i++)
    for (size_t j = 0; j < 5; j++) {
      uint8_t to = kinds[i], of = kinds[j];
      hu_output result = hu_output_of(z, 1, hu_type_plain(to));
      hu_view from = hu_view_of(x, 1, hu_type_plain(of));
      int made = of == HU_TYPE_BINARY32 && (to == HU_TYPE_CODES || to == HU_TYPE_VALUES32);
      int good = made || (of == HU_TYPE_CODES && to == HU_TYPE_BINARY32);
      assert_int_equal(hu_s2fp8_apply(2, &result, &from, &kind, &scale, NULL), good ? HU_OK : HU_E_FORMAT);
      assert_int_equal(hu_s2fp8_truncate(2, &result, &from, &kind, NULL, NULL, NULL),
                       made && to == HU_TYPE_VALUES32 ? HU_OK : HU_E_FORMAT);
      assert_int_equal(hu_s2fp8_apply(2, NULL, &from, &kind, &scale, NULL), HU_E_NULL);
      assert_int_equal(hu_s2fp8_apply(2, &result, NULL, &kind, &scale, NULL), HU_E_NULL);
      assert_int_equal(hu_s2fp8_truncate(2, NULL, &from, &kind, NULL, NULL, NULL), HU_E_NULL);
      assert_int_equal(hu_s2fp8_truncate(2, &result, NULL, &kind, NULL, NULL, NULL), HU_E_NULL);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worked),   cmocka_unit_test(edges),      cmocka_unit_test(infinities),
      cmocka_unit_test(tiny_gap), cmocka_unit_test(properties), cmocka_unit_test(same_everywhere),
      cmocka_unit_test(products), cmocka_unit_test(texts),      cmocka_unit_test(wide_and_impossible),
      cmocka_unit_test(misuse),   cmocka_unit_test(views)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
