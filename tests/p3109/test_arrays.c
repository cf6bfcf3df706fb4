/* SPDX-License-Identifier: MIT */
/* hu_p3109_compute_n is hu_p3109_compute element by element: every operation, formats of one and two bytes, all modes,
 * strides, any number of threads, in place. */
#include <string.h>

#include "halfulp/p3109.h"
#include "halfulp/format.h"
#include "tests/support/cmocka.h"
#include "tests/support/random.h"
#include "tests/support/support.h"

enum { MOST = 5000, STRIDES = 3 };

static const char *const names[] = {"binary8p3se", "binary8p4uf", "binary5p2sf", "binary12p5se", "binary16p8se"};

typedef struct operand {
  hu_p3109_array array;
  size_t size;
  uint8_t bytes[STRIDES * MOST * 2];
} operand;

static hu_format named(const char *name) {
  hu_format format;
  assert_int_equal(hu_format_parse(&format, name, NULL), HU_OK);
  return format;
}

static size_t size_of(hu_format format) { return hu_limits_of(format).width > 8 ? 2 : 1; }

static void draw_operand(operand *z, t_random *random) {
  static const ptrdiff_t strides[] = {1, 1, 0, STRIDES};
  z->array.format = named(names[t_below(random, sizeof names / sizeof names[0])]);
  z->array.stride = strides[t_below(random, 4)];
  z->array.x = z->bytes;
  z->size = size_of(z->array.format);
  uint32_t mask = ((uint32_t)1 << hu_limits_of(z->array.format).width) - 1;
  for (size_t i = 0; i < sizeof z->bytes; i++) {
    uint32_t bits = z->size == 1 ? mask : i % 2 ? mask >> 8 : mask & 0xFF; /* the low byte first */
    z->bytes[i] = (uint8_t)(t_next32(random) & bits);
  }
}

static uint32_t code_of(const operand *x, size_t i) {
  const uint8_t *at = x->bytes + i * (size_t)x->array.stride * x->size;
  return x->size == 1 ? at[0] : (uint32_t)(at[0] | at[1] << 8);
}

static size_t result_size(const hu_p3109_operation *operation, hu_format fz, hu_format first) {
  if (operation->gives == HU_P3109_NUMBER) return size_of(fz);
  return operation->gives == HU_P3109_NEIGHBOUR ? size_of(first) : 1;
}

/* n elements of one operation, into z, which may be the bytes of in[0]. */
static void compare(int op, size_t n, operand *x, t_random *random, int in_place) {
  static uint8_t other[2 * MOST];
  static uint32_t expected[MOST];
  const hu_p3109_operation operation = hu_p3109_at(op);
  hu_p3109_array in[HU_P3109_OPERANDS_MAX];
  hu_format fz = in_place ? x[0].array.format : named(names[t_below(random, 5)]), format[HU_P3109_OPERANDS_MAX];
  hu_p3109_projection projection = {t_random_mode(random), (uint8_t)t_below(random, 2)};
  hu_exec exec = {1 + t_below(random, 4), 0, {t_next64(random), t_next32(random)}, {0}};
  for (unsigned k = 0; k < operation.operands; k++) format[k] = (in[k] = x[k].array).format;
  for (size_t i = 0; i < n; i++) {
    uint32_t code[HU_P3109_OPERANDS_MAX];
    for (unsigned k = 0; k < operation.operands; k++) code[k] = code_of(&x[k], i);
    expected[i] = hu_p3109_compute(op, fz, projection, format, code, hu_stream_word(exec.stream, i));
  }
  uint8_t *z = in_place ? x[0].bytes : other;
  assert_int_equal(hu_p3109_compute_n(op, n, z, fz, projection, in, &exec), HU_OK);
  size_t size = result_size(&operation, fz, format[0]);
  for (size_t i = 0; i < n; i++) {
    uint32_t got = size == 1 ? z[i] : (uint32_t)(z[2 * i] | z[2 * i + 1] << 8);
    if (got != expected[i])
      fail_msg("%s, element %zu of %zu: %x, not %x", operation.name, i, n, (unsigned)got, (unsigned)expected[i]);
  }
}

static void arrays(void **state) {
  static operand x[HU_P3109_OPERANDS_MAX];
  (void)state;
  t_random random = {t_seed("p3109 arrays", 31)};
  for (int op = 0; op < HU_P3109_COUNT; op++) {
    for (int k = 0; k < HU_P3109_OPERANDS_MAX; k++) draw_operand(&x[k], &random);
    compare(op, t_below(&random, 300), x, &random, 0);
    compare(op, 1 + t_below(&random, MOST), x, &random, 0);
    x[0].array.stride = 1;
    if (hu_p3109_at(op).gives != HU_P3109_NUMBER && x[0].size != 1) continue;
    compare(op, 100, x, &random, 1);
  }
}

static void refusals(void **state) {
  (void)state;
  uint8_t codes[4] = {1, 2, 3, 4}, z[4] = {9, 9, 9, 9};
  const hu_format format = named("binary8p3se");
  hu_format bad = format;
  bad.m = 200;
  hu_p3109_projection plain = {{0}, HU_P3109_D1}, wrong = {{0}, 7};
  hu_p3109_array in[2] = {{codes, 1, format}, {codes, 1, format}}, none[2] = {{codes, 1, format}, {NULL, 1, format}},
                 invalid[2] = {{codes, 1, format}, {codes, 1, bad}};
  assert_int_equal(hu_p3109_compute_n(-1, 4, z, format, plain, in, NULL), HU_E_SHAPE);
  assert_int_equal(hu_p3109_compute_n(HU_P3109_COUNT, 4, z, format, plain, in, NULL), HU_E_SHAPE);
  assert_int_equal(hu_p3109_compute_n(HU_P3109_ADD, SIZE_MAX, z, format, plain, in, NULL), HU_E_SHAPE);
  assert_int_equal(hu_p3109_compute_n(HU_P3109_ADD, 4, NULL, format, plain, in, NULL), HU_E_NULL);
  assert_int_equal(hu_p3109_compute_n(HU_P3109_ADD, 4, z, format, plain, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_p3109_compute_n(HU_P3109_ADD, 4, z, format, plain, none, NULL), HU_E_NULL);
  assert_int_equal(hu_p3109_compute_n(HU_P3109_ADD, 4, z, format, plain, invalid, NULL), HU_E_FORMAT);
  assert_int_equal(hu_p3109_compute_n(HU_P3109_ADD, 4, z, bad, plain, in, NULL), HU_E_FORMAT);
  assert_int_equal(hu_p3109_compute_n(HU_P3109_ADD, 4, z, format, wrong, in, NULL), HU_E_MODE);
  assert_int_equal(hu_p3109_compute_n(HU_P3109_ADD, 0, NULL, format, plain, in, NULL), HU_OK);
  for (int i = 0; i < 4; i++) assert_int_equal(z[i], 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays), cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
