/* SPDX-License-Identifier: MIT */
/* hu_hadamard_* against the model: random transforms, matrices and places at every level, whole buffers compared.
 * Argument: the number of matrices. */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hadamard/model.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { MOST = 1 << 15 };
static int matrices = 300;

/* Data of one kind: ordinary, any pattern, near the ends of the range, small integers with now and then a special. */
static float element(t_random *random, unsigned kind) {
  static const uint32_t specials[] = {0,          0x80000000, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFFA00000,
                                      0x7F7FFFFF, 0xFF7FFFFF, 1,          0x807FFFFF, 0x00800000};
  uint32_t u = t_next32(random);
  if (kind == 0) return t_float((uint32_t)t_between(random, 115, 135) << 23 | (u & 0x807FFFFF));
  if (kind == 1) return t_float(u);
  if (kind == 2) return t_float((t_below(random, 2) ? 0x7F000000u : t_below(random, 3) << 23) | (u & 0x807FFFFF));
  if (kind == 3 && t_below(random, 40) == 0)
    return t_float(specials[t_below(random, sizeof specials / sizeof *specials)]);
  return (float)t_between(random, -8, 8);
}

static hu_hadamard any_transform(t_random *random, const uint32_t *mask) {
  hu_hadamard transform = {16u << t_below(random, 4),   (uint8_t)t_below(random, 2), (uint8_t)t_below(random, 3),
                           (uint8_t)t_below(random, 3), (uint8_t)t_below(random, 2), mask};
  return transform;
}

static hu_status call(int inverse, size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                      const hu_hadamard *transform, const hu_exec *exec) {
  return (inverse ? hu_hadamard_inverse : hu_hadamard_forward)(rows, cols, z, ldz, x, ldx, transform, exec);
}

static void against_model(void **state) {
  (void)state;
  static float x[MOST], expected[MOST], got[MOST];
  static uint32_t mask[MOST / 32];
  t_random random = {t_seed("hadamard-model", 1)};
  size_t elements = 0;
  for (int c = 0; c < matrices; c++) {
    for (size_t i = 0; i < MOST / 32; i++) mask[i] = t_next32(&random);
    hu_hadamard transform = any_transform(&random, mask);
    size_t along = transform.n * (1 + t_below(&random, 4)), other = 1 + t_below(&random, c % 8 ? 9 : 40);
    int inverse = (int)t_below(&random, 2), in_place = t_below(&random, 3) == 0,
        down = transform.axis == HU_HADAMARD_ALONG_COLUMNS;
    size_t rows = down ? along : other, cols = down ? other : along;
    size_t ldx = cols + (t_below(&random, 2) ? t_below(&random, 9) : 0);
    size_t ldz = in_place ? ldx : cols + (t_below(&random, 2) ? t_below(&random, 9) : 0);
    if (rows * ldx > MOST || rows * ldz > MOST) continue;
    hu_stream stream = {t_next64(&random),
                        t_below(&random, 2) ? t_next64(&random) : ~(uint64_t)0 - t_below(&random, 4)};
    unsigned kind = t_below(&random, 5);
    for (size_t i = 0; i < rows * ldx; i++) x[i] = element(&random, kind);
    t_fill_pattern(expected, sizeof expected);
    if (in_place) memcpy(expected, x, rows * ldx * sizeof *x);
    for (size_t i = 0; i < rows; i++) memcpy(expected + i * ldz, x + i * ldx, cols * sizeof *x);
    model_transform(rows, cols, expected, ldz, &transform, stream, inverse);
    for (uint32_t run = 0; run < 5; run++) {
      hu_exec exec = {run == 4 ? 3 : 1, run == 4 ? 0 : run == 0 ? 7 : 7 & ~((1u << run) - 1), stream, {0}};
      t_fill_pattern(got, sizeof got);
      if (in_place) memcpy(got, x, rows * ldx * sizeof *x);
      if (run == 2) fesetround(FE_UPWARD); /* the caller's surroundings count for nothing */
      hu_status status = call(inverse, rows, cols, got, ldz, in_place ? got : x, ldx, &transform, &exec);
      if (run == 2) assert_int_equal(fegetround(), FE_UPWARD);
      fesetround(FE_TONEAREST);
      assert_int_equal(status, HU_OK);
      if (memcmp(got, expected, sizeof got)) {
        size_t i = 0;
        while (t_same32(got[i], expected[i])) i++;
        fail_msg("matrix %d, run %u: %zux%zu, n %u axis %u norm %u signs %u whole %u inverse %d: [%zu] %08x for %08x",
                 c, (unsigned)run, rows, cols, (unsigned)transform.n, transform.axis, transform.norm, transform.signs,
                 transform.whole, inverse, i, (unsigned)t_bits32(got[i]), (unsigned)t_bits32(expected[i]));
      }
    }
    elements += rows * cols;
  }
  print_message("%zu elements, five times\n", elements);
}

/* H S x by its definition, in integers; and every way back. */
static void exact_cases(void **state) {
  (void)state;
  t_random random = {t_seed("hadamard-exact", 2)};
  size_t blocks = 0;
  for (uint32_t n = 16; n <= 128; n *= 2) {
    for (int c = 0; c < 400; c++) {
      float x[128], z[128], back[128];
      uint32_t mask[4];
      int v[128];
      for (int i = 0; i < 4; i++) mask[i] = t_next32(&random);
      uint8_t norm = (uint8_t)(n == 16 || n == 64 ? t_below(&random, 3) : 1 + t_below(&random, 2));
      hu_hadamard transform = {n, (uint8_t)(c & 1), norm, HU_HADAMARD_SIGNS_MASK, 0, mask};
      int k = n == 16 ? 4 : n == 32 ? 5 : n == 64 ? 6 : 7, down = norm == HU_HADAMARD_SUM ? 0 : k / 2;
      hu_exec exec = {1, t_below(&random, 8), {0, 0}, {0}};
      for (uint32_t i = 0; i < n; i++) {
        v[i] = t_between(&random, -60000, 60000);
        x[i] = (float)v[i];
        if (mask[i / 32] >> i % 32 & 1) v[i] = -v[i];
      }
      size_t rows = transform.axis ? n : 1, cols = transform.axis ? 1 : n;
      assert_int_equal(hu_hadamard_forward(rows, cols, z, cols, x, cols, &transform, &exec), HU_OK);
      for (uint32_t i = 0; i < n; i++) {
        int sum = 0;
        for (uint32_t j = 0; j < n; j++) sum += __builtin_popcount(i & j) % 2 ? -v[j] : v[j];
        assert_true(t_same32(z[i], (float)sum / (float)(1 << down)));
      }
      assert_int_equal(hu_hadamard_inverse(rows, cols, back, cols, z, cols, &transform, &exec), HU_OK);
      for (uint32_t i = 0; i < n; i++) assert_true(back[i] == x[i]);
      blocks++;
    }
  }
  print_message("%zu blocks\n", blocks);
}

/* The columns of c H S: each of length 1 up to c's rounding, each two orthogonal without any error. */
static void orthogonal(void **state) {
  (void)state;
  for (uint32_t n = 16; n <= 128; n *= 2) {
    static float unit[128 * 128];
    hu_hadamard transform = {n, HU_HADAMARD_ALONG_COLUMNS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_STREAM, 0, NULL};
    hu_exec exec = {1, 0, {n, 5}, {0}};
    memset(unit, 0, sizeof unit);
    for (size_t i = 0; i < n; i++) unit[i * n + i] = 1;
    assert_int_equal(hu_hadamard_forward(n, n, unit, n, unit, n, &transform, &exec), HU_OK);
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        double sum = 0; /* sums of at most 128 equal squares of 24 digits: exact */
        for (size_t k = 0; k < n; k++) sum += (double)unit[k * n + i] * unit[k * n + j];
        if (i != j) assert_true(sum == 0);
        if (i == j) assert_true(sum > 1 - 0x1p-23 && sum < 1 + 0x1p-23);
      }
    }
  }
}

static void transformer_engine(void **state) {
  (void)state;
  static const int signs[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
  uint32_t mask = HU_HADAMARD_SIGNS_TRANSFORMER_ENGINE;
  hu_hadamard transform = {16, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_MASK, 0, &mask};
  float z[256];
  memset(z, 0, sizeof z);
  for (size_t i = 0; i < 16; i++) z[17 * i] = 1;
  assert_int_equal(hu_hadamard_forward(16, 16, z, 16, z, 16, &transform, NULL), HU_OK);
  for (size_t i = 0; i < 16; i++) {
    for (size_t j = 0; j < 16; j++) {
      float expected = (float)(__builtin_popcount((unsigned)(i & j)) % 2 ? -signs[i] : signs[i]) / 4;
      assert_true(t_same32(z[16 * i + j], expected));
    }
  }
}

/* Beyond the size from which results go around the caches: the same as in pieces that do not. */
static void large(void **state) {
  (void)state;
  enum { ROWS = 1152, COLS = 4100 };
  size_t n = (size_t)ROWS * COLS;
  float *x = malloc(n * sizeof *x), *whole = malloc(n * sizeof *x), *pieces = malloc(n * sizeof *x);
  t_random random = {t_seed("hadamard-large", 3)};
  assert_non_null(x);
  assert_non_null(whole);
  assert_non_null(pieces);
  for (size_t i = 0; i < n; i++) x[i] = element(&random, 0);
  for (uint32_t run = 0; run < 8; run++) {
    hu_hadamard transform = {16u << run % 4,           (uint8_t)(run / 4), HU_HADAMARD_ROOT,
                             HU_HADAMARD_SIGNS_STREAM, (uint8_t)(run & 1), NULL};
    hu_exec exec = {1 + run % 3, t_levels_off(run / 2 % t_levels()), {run, 1}, {0}};
    size_t cols = transform.axis ? COLS - run : 4096;
    assert_int_equal(hu_hadamard_forward(ROWS, cols, whole, COLS, x, COLS, &transform, &exec), HU_OK);
    if (transform.axis) {
      for (size_t j = 0; j < cols; j += 512) {
        size_t some = cols - j < 512 ? cols - j : 512;
        assert_int_equal(hu_hadamard_forward(ROWS, some, pieces + j, COLS, x + j, COLS, &transform, &exec), HU_OK);
      }
    } else {
      for (size_t i = 0; i < ROWS; i += 128) {
        assert_int_equal(hu_hadamard_forward(128, cols, pieces + i * COLS, COLS, x + i * COLS, COLS, &transform, &exec),
                         HU_OK);
      }
    }
    for (size_t i = 0; i < ROWS; i++) assert_memory_equal(whole + i * COLS, pieces + i * COLS, cols * sizeof *x);
  }
  free(x);
  free(whole);
  free(pieces);
}

static void misuse(void **state) {
  (void)state;
  static float x[64 * 64], z[64 * 64];
  uint32_t mask[2] = {1, 2};
  hu_hadamard good = {16, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_NONE, 0, NULL}, bad;
  t_fill_pattern(z, sizeof z);
  for (int inverse = 0; inverse < 2; inverse++) {
#define REFUSED(status, rows, cols, zz, ldz, xx, ldx, t) \
  assert_int_equal(call(inverse, rows, cols, zz, ldz, xx, ldx, t, NULL), status)
    REFUSED(HU_E_NULL, 4, 32, z, 32, x, 32, NULL);
    REFUSED(HU_E_NULL, 4, 32, NULL, 32, x, 32, &good);
    REFUSED(HU_E_NULL, 4, 32, z, 32, NULL, 32, &good);
    for (size_t cols = 1; cols < 64; cols++) {
      if (cols % 16) REFUSED(HU_E_SHAPE, 16, cols, z, 64, x, 64, &good); /* ragged ends */
    }
    REFUSED(HU_E_SHAPE, 4, 32, z, 31, x, 32, &good);
    REFUSED(HU_E_SHAPE, 4, 32, z, 32, x, 31, &good);
    REFUSED(HU_E_SHAPE, SIZE_MAX / 2, 32, z, 32, x, 32, &good);
    REFUSED(HU_E_ALIGN, 4, 32, z, 32, (float *)(void *)((char *)x + 2), 32, &good);
    REFUSED(HU_E_OVERLAP, 4, 32, z, 32, z + 1, 32, &good);
    REFUSED(HU_E_OVERLAP, 4, 32, z, 32, z, 40, &good);
    for (uint32_t n = 0; n < 300; n++) {
      bad = good;
      bad.n = n;
      if (n != 16 && n != 32 && n != 64 && n != 128) REFUSED(HU_E_SHAPE, 0, 0, z, 0, x, 0, &bad);
    }
    bad = good;
    bad.axis = HU_HADAMARD_ALONG_COLUMNS;
    REFUSED(HU_E_SHAPE, 20, 32, z, 32, x, 32, &bad);
    bad.axis = 2;
    REFUSED(HU_E_MODE, 4, 32, z, 32, x, 32, &bad);
    bad = good;
    bad.norm = 3;
    REFUSED(HU_E_MODE, 4, 32, z, 32, x, 32, &bad);
    bad = good;
    bad.whole = 2;
    REFUSED(HU_E_MODE, 4, 32, z, 32, x, 32, &bad);
    bad = good;
    bad.signs = 3;
    REFUSED(HU_E_MODE, 4, 32, z, 32, x, 32, &bad);
    bad.signs = HU_HADAMARD_SIGNS_MASK;
    REFUSED(HU_E_NULL, 4, 32, z, 32, x, 32, &bad);
    bad.mask = (const uint32_t *)(const void *)(z + 3);
    REFUSED(HU_E_OVERLAP, 4, 32, z, 32, x, 32, &bad);
    bad.mask = (const uint32_t *)(const void *)((const char *)mask + 1);
    REFUSED(HU_E_ALIGN, 4, 32, z, 32, x, 32, &bad);
    assert_int_equal(call(inverse, 0, 32, NULL, 32, NULL, 32, &good, NULL), HU_OK);
    assert_int_equal(call(inverse, 5, 0, NULL, 0, NULL, 0, &good, NULL), HU_OK);
  }
  assert_true(t_is_pattern(z, sizeof z));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(against_model), cmocka_unit_test(exact_cases),
                                     cmocka_unit_test(orthogonal),    cmocka_unit_test(transformer_engine),
                                     cmocka_unit_test(large),         cmocka_unit_test(misuse)};
  if (argc > 1) matrices = atoi(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
