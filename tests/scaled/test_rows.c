/* SPDX-License-Identifier: MIT */
/* Second levels of rows (halfulp/scaled.h): each row against hu_scaled_encode of that row; decoding and
 * quantizing against encoding; stochastic modes, given amax, padding; what is refused leaves everything as it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scaled.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { ROWS = 7, COLS = 70, LD = 75, BLOCKS = 9, LDS = 10 };
static const char *const texts[] = {"nvfp4",
                                    "nvfp4_te",
                                    "nvfp4_torchao18",
                                    "nvfp4_te_4over6",
                                    "nvint4",
                                    "fouroversix.if4",
                                    "nvfp4_modelopt_mse",
                                    "scaled(float6_e2m3fn;scale=bfloat16;block=1x8;rule=ratio;steps=exact;tensor)"};

static hu_scaling scaling_of(const char *text) {
  hu_scaling scaling;
  assert_int_equal(hu_scaling_parse(&scaling, text, NULL), HU_OK);
  return scaling;
}

typedef struct t_tensor {
  uint16_t scales[ROWS * LDS];
  float t[ROWS];
  uint8_t codes[ROWS * LD];
  hu_scaled z;
} t_tensor;

static void clear(t_tensor *a) {
  memset(a, 0, sizeof *a);
  a->z.codes = a->codes;
  a->z.ld = LD;
  a->z.scales = a->scales;
  a->z.lds = LDS;
}

static void fill(t_random *random, float *x) {
  for (size_t i = 0; i < ROWS; i++) {
    float size = t_float((uint32_t)t_between(random, 90, 160) << 23);
    for (size_t j = 0; j < LD; j++) x[i * LD + j] = i == 3 ? 0 : size * (float)t_between(random, -1000, 1000) / 256;
  }
}

static size_t blocks_of(const hu_scaling *scaling) { return hu_scaled_sizes_of(ROWS, COLS, scaling).block_cols; }

static hu_status make(size_t rows, const hu_output *z, const float *x, hu_mode mode, const float *amax,
                      hu_scaled_stats *stats, const hu_exec *exec, hu_events *events) {
  hu_view from = hu_matrix_floats(x, LD);
  hu_scaled_extra extra = {amax, stats};
  hu_how how = hu_how_of(mode, exec, events);
  return hu_scaled_apply(rows, COLS, z, &from, &extra, &how);
}

static hu_scaled with_levels(const hu_scaled *z, float *t) {
  hu_scaled place = {NULL, 0, NULL, 0, NULL};
  if (z) place = *z;
  place.tensor = t;
  return place;
}

static hu_status rows_encode(size_t rows, const hu_scaled *z, float *t, const float *x, const hu_scaling *scaling,
                             hu_mode mode, const float *amax, hu_scaled_stats *stats, const hu_exec *exec,
                             hu_events *events) {
  hu_scaled place = with_levels(z, t);
  hu_output to = hu_scaled_out(z ? &place : NULL, hu_type_scaled(HU_TYPE_SCALED_ROWS, scaling));
  return make(rows, &to, x, mode, amax, stats, exec, events);
}

static hu_status rows_decode(float *y, const hu_scaled *z, float *t, const hu_scaling *scaling, const hu_exec *exec) {
  hu_output to = hu_matrix_floats_out(y, LD);
  hu_scaled place = with_levels(z, t);
  hu_view from = hu_view_of(z ? &place : NULL, 1, hu_type_scaled(HU_TYPE_SCALED_ROWS, scaling));
  hu_how how = hu_how_of(t_mode(HU_RNE), exec, NULL);
  return hu_scaled_apply(ROWS, COLS, &to, &from, NULL, &how);
}

static hu_status rows_quantize(float *y, const float *x, const hu_scaling *scaling, hu_mode mode, const float *amax,
                               hu_scaled_stats *stats, const hu_exec *exec, hu_events *events) {
  hu_output to = hu_matrix_out_of(y, LD, hu_type_scaled(HU_TYPE_SCALED_ROWS_VALUES, scaling));
  return make(ROWS, &to, x, mode, amax, stats, exec, events);
}

/* Row i by a call of its own. */
static void one_row(t_tensor *a, hu_events *events, const float *x, size_t i, const hu_scaling *scaling, hu_mode mode,
                    const float *amax, hu_exec exec) {
  size_t bytes = hu_scaled_sizes_of(1, COLS, scaling).scale_bytes;
  hu_scaled row = {a->codes + i * LD, LD, (uint8_t *)a->scales + i * LDS * bytes, LDS, a->t + i};
  exec.stream.counter += i * COLS;
  assert_int_equal(hu_scaled_encode(1, COLS, &row, x + i * LD, LD, scaling, mode, amax, NULL, &exec, events), HU_OK);
}

static void check(t_random *random, const hu_scaling *scaling, hu_mode mode, int with_amax) {
  static t_tensor here, there;
  float x[ROWS * LD], y[ROWS * LD], v[ROWS * LD], amax[ROWS];
  hu_scaled_stats stats[ROWS * BLOCKS], again[ROWS * BLOCKS];
  hu_events a = {0}, b = {0}, c = {0};
  hu_exec exec = {1 + t_below(random, 3), 0, {t_next64(random), t_next64(random) >> 8}, {0}};
  const float *given = with_amax ? amax : NULL;
  fill(random, x);
  for (size_t i = 0; i < ROWS; i++) amax[i] = (float)(i + 1);
  memset(y, 0, sizeof y);
  memset(v, 0, sizeof v);
  clear(&here);
  clear(&there);
  assert_int_equal(rows_encode(ROWS, &here.z, here.t, x, scaling, mode, given, stats, &exec, &a),
                   HU_OK);
  for (size_t i = 0; i < ROWS; i++) one_row(&there, &b, x, i, scaling, mode, given ? amax + i : NULL, exec);
  assert_memory_equal(here.codes, there.codes, sizeof here.codes);
  assert_memory_equal(here.scales, there.scales, sizeof here.scales);
  assert_memory_equal(here.t, there.t, sizeof here.t);
  assert_true(t_same_events(&a, &b));
  assert_int_equal(rows_decode(y, &here.z, here.t, scaling, &exec), HU_OK);
  assert_int_equal(rows_quantize(v, x, scaling, mode, given, again, &exec, &c), HU_OK);
  for (size_t i = 0; i < ROWS * LD; i++) assert_true(i % LD >= COLS ? v[i] == 0 : t_same32(y[i], v[i]));
  assert_true(t_same_events(&a, &c));
  for (size_t i = 0; i < ROWS * blocks_of(scaling); i++) assert_int_equal(stats[i].scale, again[i].scale);
  assert_true(stats[3 * blocks_of(scaling)].amax == 0);
}

static void test_rows(void **state) {
  (void)state;
  t_random random = {t_seed("scaled-rows", 5)};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    hu_scaling scaling = scaling_of(texts[i]);
    hu_mode rne = {0};
    check(&random, &scaling, rne, 0);
    check(&random, &scaling, rne, 1);
    check(&random, &scaling, t_stochastic(HU_SRA, 12), 0);
  }
}

/* The rows have second levels of their own: those of different size differ, and differ from the tensor's. */
static void test_levels(void **state) {
  (void)state;
  hu_scaling scaling = scaling_of("nvfp4");
  hu_mode rne = {0};
  static t_tensor a;
  float x[2 * LD], whole;
  for (size_t j = 0; j < LD; j++) x[j] = 1, x[LD + j] = 2688;
  clear(&a);
  assert_int_equal(rows_encode(2, &a.z, a.t, x, &scaling, rne, NULL, NULL, NULL, NULL), HU_OK);
  assert_true(a.t[1] == 1 && a.t[0] == 1 / 2688.0f);
  a.z.tensor = &whole;
  assert_int_equal(hu_scaled_encode(2, COLS, &a.z, x, LD, &scaling, rne, NULL, NULL, NULL, NULL), HU_OK);
  assert_true(whole == 1);
}

static void test_refused(void **state) {
  (void)state;
  hu_mode rne = {0}, bad = {0};
  hu_scaling scaling = scaling_of("nvfp4"), none = scaling_of("mxfp4"), tiles = scaling, wrong = scaling;
  static t_tensor a, untouched;
  float x[ROWS * LD], y[ROWS * LD], amax[ROWS] = {1, 2, -1, 0, 0, 0, 0};
  t_random random = {1};
  fill(&random, x);
  clear(&a);
  memcpy(&untouched, &a, sizeof a);
  tiles.rows = 16;
  wrong.steps = 99;
  bad.round = 99;
#define ENCODE(z, t, d, mode, amax) rows_encode(ROWS, z, t, x, d, mode, amax, NULL, NULL, NULL)
  assert_int_equal(ENCODE(&a.z, a.t, &none, rne, NULL), HU_E_SCALING);
  assert_int_equal(ENCODE(&a.z, a.t, &tiles, rne, NULL), HU_E_SCALING);
  assert_int_equal(ENCODE(&a.z, a.t, &wrong, rne, NULL), HU_E_SCALING);
  assert_int_equal(ENCODE(&a.z, a.t, NULL, rne, NULL), HU_E_NULL);
  assert_int_equal(ENCODE(NULL, a.t, &scaling, rne, NULL), HU_E_NULL);
  assert_int_equal(ENCODE(&a.z, NULL, &scaling, rne, NULL), HU_E_NULL);
  assert_int_equal(ENCODE(&a.z, a.t, &scaling, bad, NULL), HU_E_MODE);
  assert_int_equal(ENCODE(&a.z, a.t, &scaling, rne, amax), HU_E_SCALING);
  assert_int_equal(ENCODE(&a.z, x + ROWS * LD - ROWS, &scaling, rne, NULL), HU_E_OVERLAP);
  assert_int_equal(ENCODE(&a.z, (float *)(void *)a.scales, &scaling, rne, NULL), HU_E_OVERLAP);
  assert_memory_equal(&a, &untouched, sizeof a);
  assert_int_equal(rows_decode(y, &a.z, y, &scaling, NULL), HU_E_OVERLAP);
  assert_int_equal(rows_decode(y, NULL, a.t, &scaling, NULL), HU_E_NULL);
  assert_int_equal(rows_decode(y, &a.z, NULL, &scaling, NULL), HU_E_NULL);
  assert_int_equal(rows_quantize(y, x, &none, rne, NULL, NULL, NULL, NULL), HU_E_SCALING);
  assert_int_equal(rows_quantize(y, x, &scaling, rne, amax, NULL, NULL, NULL),
                   HU_E_SCALING);
  assert_int_equal(rows_encode(0, &a.z, a.t, x, &scaling, rne, NULL, NULL, NULL, NULL), HU_OK);
  assert_memory_equal(&a, &untouched, sizeof a);
}

/* ---- texts ---- */

static void test_texts(void **state) {
  (void)state;
  char text[HU_SCALED_ROWS_TEXT_MAX], plain[HU_SCALING_TEXT_MAX];
  size_t some = 0;
  for (size_t i = 0; i < hu_scaling_count(); i++) {
    char given[HU_SCALED_ROWS_TEXT_MAX];
    hu_scaling scaling, again;
    assert_int_equal(hu_scaling_parse(&scaling, hu_scaling_at(i).name, NULL), HU_OK);
    snprintf(given, sizeof given, "rows(%s)", hu_scaling_at(i).name);
    size_t where = 99, n = hu_scaled_rows_text(text, sizeof text, &scaling);
    memset(&again, 1, sizeof again);
    hu_status status = hu_scaled_rows_parse(&again, given, &where);
    if (!scaling.tensor || scaling.rows != 1) {
      assert_true(status == HU_E_SCALING && where == 5 && n == 0);
      continue;
    }
    some++;
    assert_int_equal(status, HU_OK);
    assert_memory_equal(&again, &scaling, sizeof scaling);
    assert_true(n == strlen(text) && n < sizeof text);
    assert_int_equal(hu_scaling_text(plain, sizeof plain, &scaling) + 6, n);
    assert_int_equal(hu_scaled_rows_parse(&again, text, NULL), HU_OK);
    assert_memory_equal(&again, &scaling, sizeof scaling);
    assert_int_equal(hu_scaled_rows_text(NULL, 0, &scaling), n);
  }
  assert_true(some >= 8);
}

static void test_wrong_texts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } wrong[] = {{"nvfp4", HU_E_TEXT, 0},
               {"", HU_E_TEXT, 0},
               {"rows(", HU_E_TEXT, 5},
               {"rows()", HU_E_TEXT, 5},
               {"rows(nvfp4", HU_E_TEXT, 10},
               {"rows(nvfp5)", HU_E_NAME, 5},
               {"rows(mxfp4)", HU_E_SCALING, 5},
               {"rows(scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratios))", HU_E_TEXT, 54},
               {"rows(rows(nvfp4))", HU_E_TEXT, 5},
               {"rows(nvfp4))", HU_E_TEXT, 5}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    hu_scaling scaling;
    size_t where = 99;
    memset(&scaling, 7, sizeof scaling);
    hu_status status = hu_scaled_rows_parse(&scaling, wrong[i].text, &where);
    if (status != wrong[i].status || where != wrong[i].where)
      fail_msg("'%s': %s at %zu, not %zu", wrong[i].text, hu_status_text(status), where, wrong[i].where);
    assert_int_equal(scaling.rule, 7);
  }
  assert_int_equal(hu_scaled_rows_parse(NULL, "rows(nvfp4)", NULL), HU_E_NULL);
  assert_int_equal(hu_scaled_rows_text(NULL, 0, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_levels),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_texts),
                                     cmocka_unit_test(test_wrong_texts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
