/* SPDX-License-Identifier: MIT */
/* hu_gemm under every model gives hu_dot's codes and events, element by element: every storage and layout, any number
 * of threads, C in place. hu_dot's batches, strides and threads likewise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/gemm.h"
#include "halfulp/scalar.h"
#include "tests/accum/draws.h"
#include "tests/accum/reference.h"
#include "tests/support/cmocka.h"

enum { ROWS = 5, COLUMNS = 6, DEPTH = 40 };

/* Codes of a matrix, row-major. */
typedef struct t_matrix {
  size_t rows, columns;
  hu_type element;
  uint64_t code[COLUMNS * DEPTH];
} t_matrix;

static t_matrix a, b, c, sa, sb; /* sa, sb: scales, no columns and rows where the model has none */

static void put(uint8_t *z, size_t i, hu_type element, int values, uint64_t code) {
  float f = hu_decode(element.format, (uint32_t)code);
  uint16_t h = (uint16_t)code;
  uint32_t w = (uint32_t)code;
  size_t size = values ? 4 : hu_type_size(element);
  memcpy(z + i * size, values ? (void *)&f : size == 2 ? (void *)&h : (void *)&w, size);
  if (!values && size == 1) z[i] = (uint8_t)code;
}

static uint64_t get(const uint8_t *z, size_t i, size_t size) {
  uint64_t code = 0;
  memcpy(&code, z + i * size, size);
  return code;
}

/* A value stands for one code. Others of the same value (NaN with another payload, a subnormal number that is read as
 * zero) are alike for every model but those that look at some digits of a code alone (in=): there they may differ. */
static int values_are_codes(const t_dot *x, const t_matrix *y) {
  hu_format format = y->element.format;
  if (!hu_format_fits_binary32(format)) return 0;
  for (size_t i = 0; x->accum.block.input && i < y->rows * y->columns; i++) {
    if (hu_encode(format, t_mode(HU_RNE), hu_decode(format, (uint32_t)y->code[i]), 0, NULL) != y->code[i]) return 0;
  }
  return 1;
}

/* A matrix as it may be given to hu_gemm. */
static hu_view operand(const t_dot *x, const t_matrix *y, uint64_t *buffer, t_random *random) {
  int values = values_are_codes(x, y) && t_below(random, 2), transposed = (int)t_below(random, 2);
  size_t ld = (transposed ? y->rows : y->columns) + t_below(random, 3);
  for (size_t i = 0; i < y->rows; i++)
    for (size_t j = 0; j < y->columns; j++)
      put((uint8_t *)buffer, transposed ? j * ld + i : i * ld + j, y->element, values, y->code[i * y->columns + j]);
  hu_view z =
      hu_matrix_of(buffer, ld ? ld : 1, hu_type_values(values ? HU_TYPE_VALUES32 : HU_TYPE_CODES, y->element.format));
  if (transposed) z = hu_transposed(z);
  return z;
}

static void draw_matrices(const t_dot *x, t_random *random, size_t m, size_t n, size_t k) {
  static t_dot line;
  line = *x;
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  memset(&c, 0, sizeof c);
  a.rows = c.rows = m;
  a.columns = b.rows = k;
  b.columns = c.columns = n;
  a.element = x->a;
  b.element = x->b;
  c.element = x->c;
  line.n = k;
  memset(&sa, 0, sizeof sa);
  memset(&sb, 0, sizeof sb);
  sa.rows = m;
  sb.columns = n;
  sa.element = sb.element = hu_type_codes(x->scale);
  for (size_t i = 0; i < m; i++) {
    draw_operands(&line, random);
    memcpy(a.code + i * k, line.at, k * sizeof a.code[0]);
    sa.columns = sb.rows = line.scales;
    memcpy(sa.code + i * line.scales, line.sa, line.scales * sizeof sa.code[0]);
  }
  for (size_t j = 0; j < n; j++) {
    draw_operands(&line, random);
    for (size_t i = 0; i < line.scales; i++) sb.code[i * n + j] = line.sb[i];
    for (size_t i = 0; i < k; i++) b.code[i * n + j] = line.bt[i];
    for (size_t i = 0; i < m; i++) c.code[i * n + j] = line.ct;
  }
}

static uint64_t element(const t_dot *x, size_t i, size_t j, int has_c, hu_events *sum, hu_watch *watch) {
  static t_dot line;
  uint32_t events;
  line = *x;
  line.n = a.columns;
  line.has_c = has_c;
  line.ct = c.code[i * c.columns + j];
  line.element = x->element + i * c.columns + j;
  for (size_t k = 0; k < line.n; k++) {
    line.at[k] = a.code[i * line.n + k];
    line.bt[k] = b.code[k * c.columns + j];
  }
  line.scales = sa.columns;
  for (size_t k = 0; k < line.scales; k++) {
    line.sa[k] = sa.code[i * line.scales + k];
    line.sb[k] = sb.code[k * c.columns + j];
  }
  uint64_t z = dot_watched(&line, &events, watch);
  hu_events_count(sum, events);
  return z;
}

/* By the model, with the two scales or without. */
static hu_status multiply(const t_dot *x, const hu_output *result, const hu_view *oa, const hu_view *ob,
                          const hu_view *oc, const hu_view operand[2], const hu_exec *exec, hu_events *events,
                          hu_watch *watch) {
  size_t m = c.rows, n = c.columns, k = a.columns;
  hu_product product = {.m = m, .n = n, .k = k, .d = *result, .a = *oa, .b = *ob, .accum = &x->accum, .watch = watch};
  hu_how how = {x->mode, exec, events};
  if (oc) product.c = *oc;
  if (hu_accum_is_scaled(&x->accum)) product.sa = operand[0], product.sb = operand[1];
  return hu_multiply(&product, &how);
}

/* Watched: D and events once more, and the additions of all elements. */
static void compare_watched(const t_dot *x, const hu_view *oa, const hu_view *ob, const hu_view *oc,
                            const hu_view operand[2], const hu_exec *exec, const uint64_t *rd, const hu_events *events,
                            const hu_watch *expected) {
  static uint64_t buffer[1000];
  hu_output result = hu_matrix_codes_out(buffer, c.columns, x->c.format);
  hu_events got;
  hu_watch watch = {0, 0, 0, 0};
  memset(&got, 0, sizeof got);
  assert_int_equal(multiply(x, &result, oa, ob, oc, operand, exec, &got, &watch), HU_OK);
  if (memcmp(buffer, rd, c.rows * c.columns * hu_type_size(x->c)) != 0 || !t_same_events(&got, events))
    fail_msg("another result where additions are watched: %s", dot_text(x));
  if (memcmp(&watch, expected, sizeof watch) != 0)
    fail_msg("additions %llu swamped %llu overflows %llu gap %llu, dots %llu %llu %llu %llu: %s",
             (unsigned long long)watch.additions, (unsigned long long)watch.swamped,
             (unsigned long long)watch.overflows, (unsigned long long)watch.gap,
             (unsigned long long)expected->additions, (unsigned long long)expected->swamped,
             (unsigned long long)expected->overflows, (unsigned long long)expected->gap, dot_text(x));
}

static void compare(const t_dot *x, t_random *random, int has_c) {
  static uint64_t ra[1000], rb[1000], rc[1000], rd[1000], rs[2][1000];
  hu_view oa = operand(x, &a, ra, random), ob = operand(x, &b, rb, random), oc = operand(x, &c, rc, random);
  size_t size = hu_type_size(x->c);
  hu_view scales[2];
  memset(scales, 0, sizeof scales);
  if (hu_accum_is_scaled(&x->accum)) {
    scales[0] = operand(x, &sa, rs[0], random);
    scales[1] = operand(x, &sb, rs[1], random);
  }
  hu_output result = hu_matrix_codes_out(rd, c.columns, x->c.format);
  hu_events got, expected;
  hu_watch watch = {0, 0, 0, 0};
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  memset(&got, 0, sizeof got);
  memset(&expected, 0, sizeof expected);
  exec.threads = 1 + t_below(random, 5);
  exec.stream.key = x->key;
  exec.stream.counter = x->element;
  exec.levels_off = t_below(random, 2) ? UINT32_MAX : 0;
  hu_status status = multiply(x, &result, &oa, &ob, has_c ? &oc : NULL, scales, &exec, &got, NULL);
  if (status != HU_OK) fail_msg("hu_gemm says %s: %s", hu_status_name(status), dot_text(x));
  for (size_t i = 0; i < c.rows; i++)
    for (size_t j = 0; j < c.columns; j++) {
      uint64_t w = element(x, i, j, has_c, &expected, &watch), g = get((uint8_t *)rd, i * c.columns + j, size);
      if (g != w)
        fail_msg("element %zu, %zu: %llx, hu_dot has %llx: %s", i, j, (unsigned long long)g, (unsigned long long)w,
                 dot_text(x));
    }
  if (!t_same_events(&got, &expected)) fail_msg("events differ: %s", dot_text(x));
  compare_watched(x, &oa, &ob, has_c ? &oc : NULL, scales, &exec, rd, &expected, &watch);
  /* C in place. */
  if (!has_c) return;
  oc = hu_matrix_codes(rd, c.columns, x->c.format);
  static uint64_t first[1000];
  memcpy(first, rd, sizeof first);
  for (size_t i = 0; i < c.rows * c.columns; i++) put((uint8_t *)rd, i, x->c, 0, c.code[i]);
  assert_int_equal(multiply(x, &result, &oa, &ob, &oc, scales, &exec, NULL, NULL), HU_OK);
  assert_memory_equal(rd, first, c.rows * c.columns * size);
}

static void products(void **state) {
  static t_dot x;
  t_random random = {t_seed("gemm models", 9)};
  unsigned long done = 0, refused = 0, scaled = 0;
  (void)state;
  for (unsigned i = 0; done < 3000; i++) {
    draw_model(&x, &random, i % HU_ACCUM_COUNT, (uint8_t)(i / HU_ACCUM_COUNT % HU_BLOCK_RULES));
    if (!dot_is_of_codes(&x)) continue;
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    a.columns = c.rows = c.columns = 1;
    uint32_t code = 0, result = 0;
    hu_view oa = hu_matrix_codes(&code, 1, x.a.format), ob = hu_matrix_codes(&code, 1, x.b.format);
    hu_view oc = hu_matrix_codes(&code, 1, x.c.format), os = hu_matrix_codes(&code, 1, x.scale);
    hu_view both[2] = {os, os};
    hu_output d = hu_matrix_codes_out(&result, 1, x.c.format);
    hu_status status = multiply(&x, &d, &oa, &ob, &oc, both, NULL, NULL, NULL);
    if (status == HU_E_ACCUM || status == HU_E_CARRIER) {
      refused++;
      continue;
    }
    scaled += (unsigned long)hu_accum_is_scaled(&x.accum);
    size_t m = 1 + t_below(&random, ROWS), n = 1 + t_below(&random, COLUMNS), k = t_below(&random, DEPTH + 1);
    draw_matrices(&x, &random, m, n, k);
    compare(&x, &random, (int)t_below(&random, 2));
    done++;
  }
  assert_true(scaled > 100);
  print_message("%lu products under as many models, %lu with scales (%lu drawn ones do not take their operands)\n",
                done, scaled, refused);
}

/* Every preset that products take, K twice; models with scales and without for the right call. */
static void preset_products(void **state) {
  static t_dot x;
  t_random random = {t_seed("gemm presets", 10)};
  unsigned long done = 0, scaled = 0;
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    assert_int_equal(hu_accum_preset_at(&preset, i), HU_OK);
    draw_preset(&x, &preset);
    if (!dot_is_of_codes(&x)) continue;
    draw_matrices(&x, &random, 3, 4, preset.k <= DEPTH / 2 ? 2 * preset.k : preset.k <= DEPTH ? preset.k : DEPTH);
    compare(&x, &random, 1);
    done++;
    static uint64_t ra[1000], rb[1000], rd[1000];
    hu_view oa = operand(&x, &a, ra, &random), ob = operand(&x, &b, rb, &random);
    hu_output result = hu_matrix_codes_out(rd, 4, preset.c.format);
    hu_product product = {.m = 3, .n = 4, .k = a.columns, .d = result, .a = oa, .b = ob, .accum = &preset.accum};
    if (!hu_accum_is_scaled(&preset.accum)) product.sa = oa, product.sb = ob;
    hu_status status = hu_multiply(&product, &(hu_how){x.mode, NULL, NULL});
    assert_int_equal(status, HU_E_ACCUM);
    scaled += (unsigned long)hu_accum_is_scaled(&preset.accum);
  }
  assert_true(done > 200 && scaled > 20);
  print_message("%lu presets, %lu of them scaled\n", done, scaled);
}

/* What hu_multiply says of scales that are wrong; D and events stay. */
static void wrong_scales_of_products(void **state) {
  static _Alignas(16) uint8_t da[64], db[64], sc[64];
  static uint32_t z[4];
  hu_events events, none;
  hu_accum model;
  (void)state;
  assert_int_equal(hu_accum_parse(&model, "nv.blackwell.mxfp8.e4m3", NULL), HU_OK);
  hu_format format, e8;
  assert_int_equal(hu_format_parse(&format, "float8_e4m3fn", NULL), HU_OK);
  assert_int_equal(hu_format_parse(&e8, "float8_e8m0fnu", NULL), HU_OK);
  hu_mode rne = t_mode(HU_RNE);
  const hu_view good = hu_matrix_codes(sc, 2, e8);
  hu_product product = {.m = 1, .n = 1, .k = 33, .sb = good, .accum = &model};
  hu_how how = {rne, NULL, &events};
  product.a = hu_matrix_codes(da, 33, format);
  product.b = hu_matrix_codes(db, 1, format);
  product.d = hu_matrix_codes_out(z, 1, model.sum);
  memset(&events, 0, sizeof events);
  memset(&none, 0, sizeof none);
  for (unsigned i = 0; i < 8; i++) {
    hu_view operand = good;
    hu_status expected = HU_OK, got;
    t_fill_pattern(z, sizeof z);
    memset(sc, 127, sizeof sc);
    if (i == 1) operand.type.format = format, expected = HU_E_ACCUM;
    if (i == 2) operand.row = 0, expected = HU_E_SHAPE; /* 33 products have two scales */
    if (i == 3) operand.data = NULL, expected = HU_E_NULL;
    if (i == 4) operand.data = z, expected = HU_E_OVERLAP;
    if (i == 5) memset(&operand, 0, sizeof operand), expected = HU_E_NULL;
    if (i == 6) operand.stride = 2, expected = HU_E_SHAPE;
    if (i == 7) operand.type.kind = HU_TYPE_VALUES32, operand.data = da, da[0] = 1, expected = HU_E_GRID;
    product.sa = operand;
    got = hu_multiply(&product, &how);
    if (got != expected) fail_msg("row %u: %s, not %s", i, hu_status_name(got), hu_status_name(expected));
    if (expected != HU_OK) assert_true(t_is_pattern(z, sizeof z) && t_same_events(&events, &none));
    if (i == 5) {
      product.sa = good;
      memset(&product.sb, 0, sizeof product.sb);
      assert_int_equal(hu_multiply(&product, NULL), expected);
      product.sb = good;
    }
  }
}

/* Blocks, whose lanes share no text with hu_dot, against the reference itself: K twice and a tail, every element. */
static void referenced_blocks(void **state) {
  static t_dot x, line;
  static uint64_t ra[1000], rb[1000], rc[1000], rd[1000], rs[2][1000];
  t_random random = {t_seed("gemm blocks", 13)};
  unsigned long done = 0;
  (void)state;
  for (size_t at = 0; at < 3 * hu_accum_preset_count(); at++) {
    hu_accum_preset preset;
    assert_int_equal(hu_accum_preset_at(&preset, at / 3), HU_OK);
    draw_preset(&x, &preset);
    if (preset.accum.kind != HU_ACCUM_BLOCK) continue;
    size_t k = preset.k < DEPTH / 2 ? 2 * preset.k + t_below(&random, 3) : DEPTH - t_below(&random, 3);
    draw_matrices(&x, &random, 3, 4, k);
    hu_view oa = operand(&x, &a, ra, &random), ob = operand(&x, &b, rb, &random), oc = operand(&x, &c, rc, &random);
    hu_output result = hu_matrix_codes_out(rd, 4, preset.c.format);
    hu_view scales[2];
    memset(scales, 0, sizeof scales);
    if (hu_accum_is_scaled(&preset.accum)) {
      scales[0] = operand(&x, &sa, rs[0], &random);
      scales[1] = operand(&x, &sb, rs[1], &random);
    }
    assert_int_equal(multiply(&x, &result, &oa, &ob, &oc, scales, NULL, NULL, NULL), HU_OK);
    for (size_t i = 0; i < 12; i++) {
      uint32_t events;
      line = x;
      line.n = k;
      line.has_c = 1;
      line.ct = c.code[i];
      for (size_t t = 0; t < k; t++) {
        line.at[t] = a.code[i / 4 * k + t];
        line.bt[t] = b.code[t * 4 + i % 4];
      }
      line.scales = sa.columns;
      for (size_t t = 0; t < line.scales; t++) {
        line.sa[t] = sa.code[i / 4 * line.scales + t];
        line.sb[t] = sb.code[t * 4 + i % 4];
      }
      uint64_t expected = reference_dot(&line, &events), got = get((uint8_t *)rd, i, hu_type_size(preset.c));
      if (got != expected) {
        fail_msg("%s, element %zu: %llx, the reference has %llx: %s", preset.name, i, (unsigned long long)got,
                 (unsigned long long)expected, dot_text(&line));
      }
      done++;
    }
  }
  assert_true(done > 7000);
  print_message("%lu elements of blocks agree with the reference\n", done);
}

/* seq(binary32) goes the fast way and fp32's core agrees with the general one: one more step that does nothing. */
static void binary32_ways(void **state) {
  static t_dot x, y;
  t_random random = {t_seed("gemm binary32", 11)};
  (void)state;
  for (unsigned i = 0; i < 400; i++) {
    draw_model(&x, &random, HU_ACCUM_FP32, 0);
    x.accum.promote = x.accum.slices = x.accum.scaled = 0;
    memset(&x.accum.promoted, 0, sizeof x.accum.promoted);
    if (!hu_format_fits_binary32(x.a.format) || !hu_format_fits_binary32(x.b.format) ||
        !hu_format_fits_binary32(x.c.format))
      continue;
    y = x;
    assert_int_equal(hu_accum_parse(&y.accum, "seq(binary32)", NULL), HU_OK);
    draw_matrices(&x, &random, 4, 5, t_below(&random, DEPTH + 1));
    compare(&x, &random, 1);
    compare(&y, &random, 1);
    hu_events ex, ey;
    memset(&ex, 0, sizeof ex);
    memset(&ey, 0, sizeof ey);
    assert_int_equal(element(&x, 1, 1, 1, &ex, NULL), element(&y, 1, 1, 1, &ey, NULL));
  }
}

/* A batch is its dot products one by one, for any threads and strides; the random words are those of their numbers. */
static void batches(void **state) {
  static t_dot x;
  t_random random = {t_seed("dot batches", 12)};
  (void)state;
  for (unsigned i = 0; i < 600; i++) {
    draw_model(&x, &random, i % 2 ? HU_ACCUM_SEQ : HU_ACCUM_KAHAN, 0);
    if (x.accum.scaled) continue;
    x.a = x.b = x.c;
    draw_matrices(&x, &random, 4, 3, 1 + t_below(&random, DEPTH));
    static uint64_t ra[1000], rb[1000], rz[1000];
    size_t size = hu_type_size(x.c), k = a.columns;
    for (size_t q = 0; q < 4 * k; q++) put((uint8_t *)ra, q, x.a, 0, a.code[q]);
    for (size_t q = 0; q < 3 * k; q++) put((uint8_t *)rb, q, x.b, 0, b.code[q]);
    hu_exec exec = {.threads = 1 + t_below(&random, 6), .stream = {x.key, x.element}};
    hu_events got = {0}, expected = {0};
    hu_how how = {x.mode, &exec, &got};
    /* Dot product i: row i of A, column 1 of B. */
    hu_product in = hu_product_of_dot(k, hu_output_of((uint8_t *)rz + 6 * size, 1, x.c), hu_view_of(ra, 1, x.a),
                                      hu_view_of((uint8_t *)rb + size, 3, x.b), &x.accum);
    in.m = 4;
    in.d.row = -2;
    in.a.row = (ptrdiff_t)k;
    memset(rz, 0xA5, sizeof rz);
    assert_int_equal(hu_dot(&in, &how), HU_OK);
    for (size_t q = 0; q < 4; q++) {
      static t_dot line;
      uint32_t events;
      line = x;
      line.n = k;
      line.element = x.element + q;
      for (size_t t = 0; t < k; t++) {
        line.at[t] = a.code[q * k + t];
        line.bt[t] = b.code[t * 3 + 1];
      }
      assert_int_equal(get((uint8_t *)rz, 6 - 2 * q, size), dot_library(&line, &events));
      hu_events_count(&expected, events);
      if (q)
        assert_true(get((uint8_t *)rz, 7 - 2 * q, size) == (UINT64_C(0xA5A5A5A5) & ((UINT64_C(1) << 8 * size) - 1)));
    }
    assert_true(t_same_events(&got, &expected));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products),
                                     cmocka_unit_test(preset_products),
                                     cmocka_unit_test(wrong_scales_of_products),
                                     cmocka_unit_test(referenced_blocks),
                                     cmocka_unit_test(binary32_ways),
                                     cmocka_unit_test(batches)};
  return cmocka_run_group_tests_name("gemm_models", tests, NULL, NULL);
}
