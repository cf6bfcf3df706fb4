/* SPDX-License-Identifier: MIT */
/* HU_OP_CONVERT of hu_apply: every pair of types, against the calls of one value; which pairs are refused, and what. */
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/number.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { N = 700, KINDS = 8 };

static uint64_t buffer_x[2 * N + 2], buffer_z[2 * N + 2];

/* A type with what its elements are of, be it a format. */
typedef struct side {
  hu_type type;
  hu_number number;
  size_t bytes;
} side;

static int is_plain(int kind) { return kind == HU_TYPE_BINARY32 || kind == HU_TYPE_BINARY64; }
static int is_wide(int kind) { return kind == HU_TYPE_VALUES64 || kind == HU_TYPE_BINARY64; }

/* Draws what codes or values are of; the type points into the record. */
static void draw(t_random *random, side *made, uint8_t kind) {
  static const char *const names[] = {"posit8", "posit16", "lns8", "q7", "nf4", "takum16", "hifloat8", "takum_linear8"};
  hu_format format = t_below(random, 2) ? hu_format_at(t_below(random, (uint32_t)hu_format_count())).format
                                        : t_random_format(random, 1, 32);
  memset(made, 0, sizeof *made);
  made->type = hu_type_values(kind, format);
  made->number = hu_number_float(format);
  if (t_below(random, 2)) {
    assert_int_equal(hu_number_find(&made->number, names[t_below(random, 8)]), HU_OK);
    made->type.number = &made->number;
  }
  made->bytes = is_wide(kind) ? 8 : kind == HU_TYPE_CODES ? hu_number_limits_of(made->number).storage / 8 : 4;
}

/* ---- elements ---- */

static void put_operand(t_random *random, const side *x, size_t i) {
  hu_format any = hu_format_at(t_below(random, (uint32_t)hu_format_count())).format;
  uint32_t width = hu_number_limits_of(x->number).width;
  if (x->type.kind == HU_TYPE_CODES)
    t_put(buffer_x, x->bytes, (ptrdiff_t)i, (uint32_t)(t_next64(random) >> (64 - width)));
  else if (x->bytes == 4)
    ((float *)(void *)buffer_x)[i] = (float)t_random_operand(random, any);
  else
    ((double *)(void *)buffer_x)[i] = t_random_operand(random, any);
}

/* The code of element i, and its events. */
static uint32_t code_of(const side *z, const side *x, size_t i, hu_mode mode, uint32_t random, uint32_t *events) {
  if (x->type.kind == HU_TYPE_CODES)
    return hu_number_convert(z->number, mode, x->number, t_get(buffer_x, x->bytes, (ptrdiff_t)i), random, events);
  if (x->bytes == 4) return hu_number_encode(z->number, mode, ((float *)(void *)buffer_x)[i], random, events);
  return hu_number_encode64(z->number, mode, ((double *)(void *)buffer_x)[i], random, events);
}

static void check_element(const side *z, const side *x, size_t i, hu_mode mode, uint32_t random, hu_events *counts) {
  int decodes = is_plain(z->type.kind);
  uint32_t events = 0;
  uint32_t code = decodes ? t_get(buffer_x, x->bytes, (ptrdiff_t)i) : code_of(z, x, i, mode, random, &events);
  hu_number number = decodes ? x->number : z->number;
  hu_events_count(counts, events);
  if (z->type.kind == HU_TYPE_CODES)
    assert_int_equal(t_get(buffer_z, z->bytes, (ptrdiff_t)i), code);
  else if (z->bytes == 4)
    assert_true(t_same32(((float *)(void *)buffer_z)[i], hu_number_decode(number, code)));
  else
    assert_true(t_same64(((double *)(void *)buffer_z)[i], hu_number_decode64(number, code)));
}

/* ---- pairs of types ---- */

/* Does HU_OP_CONVERT take them? */
static int are_taken(int z, int x) {
  if (x != HU_TYPE_CODES && !is_plain(x)) return 0;
  if (is_plain(z)) return x == HU_TYPE_CODES;
  return z == HU_TYPE_CODES || z == HU_TYPE_VALUES32 || z == HU_TYPE_VALUES64;
}

/* What a call of taken types returns: float as the values of a format has to hold them. */
static hu_status expected(const side *z, const side *x) {
  int numbers = z->type.number || (x->type.kind == HU_TYPE_CODES && x->type.number);
  const side *written = is_plain(z->type.kind) ? x : z;
  if (is_plain(z->type.kind)) numbers = x->type.number != NULL;
  if (numbers || z->type.kind == HU_TYPE_CODES || z->bytes == 8) return HU_OK;
  return hu_format_fits_binary32(written->type.format) ? HU_OK : HU_E_CARRIER;
}

static void check_pair(t_random *random, const side *z, const side *x, size_t n) {
  hu_mode mode = t_random_mode(random);
  hu_exec exec = {
      1 + t_below(random, 3), t_levels_off(t_below(random, (uint32_t)t_levels())), {t_next64(random), 5}, {0}};
  hu_events events = {0}, counts = {0};
  hu_how how = hu_how_of(mode, &exec, &events);
  hu_view view = hu_view_of(buffer_x, 1, x->type);
  int taken = are_taken(z->type.kind, x->type.kind);
  t_fill_pattern(buffer_z, sizeof buffer_z);
  for (size_t i = 0; taken && i < n; i++) put_operand(random, x, i);
  hu_output result = hu_output_of(buffer_z, 1, z->type);
  hu_status status = hu_apply(HU_OP_CONVERT, n, &result, &view, &how);
  assert_int_equal(status, taken ? expected(z, x) : HU_E_FORMAT);
  for (size_t i = 0; status == HU_OK && i < n; i++)
    check_element(z, x, i, mode, mode.bits ? hu_stream_word(exec.stream, i) >> (32 - mode.bits) : 0, &counts);
  if (status != HU_OK) assert_true(t_is_pattern(buffer_z, sizeof buffer_z));
  assert_true(t_same_events(&events, &counts));
}

static void test_pairs(void **state) {
  (void)state;
  t_random random = {t_seed("conversions", 17)};
  for (unsigned run = 0; run < t_runs(40); run++)
    for (uint8_t z = 0; z < KINDS; z++)
      for (uint8_t x = 0; x < KINDS; x++) {
        side to, from;
        draw(&random, &to, z);
        draw(&random, &from, x);
        check_pair(&random, &to, &from, t_below(&random, 2) ? N : 1 + t_below(&random, 20));
      }
}

/* ---- what else is refused ---- */

static hu_status apply(hu_output z, hu_view x) { return hu_apply(HU_OP_CONVERT, N, &z, &x, NULL); }

static void test_refusals(void **state) {
  (void)state;
  hu_format half = hu_binary16();
  hu_number bad = hu_number_posit(99, 2), good = hu_number_posit(16, 2);
  float *z = (float *)(void *)buffer_z, *x = (float *)(void *)buffer_x;
  hu_output to = hu_values_out(z, 1, half);
  assert_int_equal(hu_apply(HU_OP_CONVERT, N, &to, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_apply(HU_OP_CONVERT, N, NULL, NULL, NULL), HU_E_NULL);
  to.type.reserved = 1;
  assert_int_equal(apply(to, hu_floats(x, 1)), HU_E_FORMAT);
  assert_int_equal(apply(hu_output_of(z, 1, hu_type_number(HU_TYPE_VALUES32, &bad)), hu_floats(x, 1)), HU_E_NUMBER);
  assert_int_equal(apply(hu_floats_out(z, 1), hu_view_of(x, 1, hu_type_number(HU_TYPE_CODES, &bad))), HU_E_NUMBER);
  /* Other operations take codes of formats alone. */
  hu_view of_number = hu_view_of(x, 1, hu_type_number(HU_TYPE_CODES, &good));
  to = hu_codes_out(z, 1, half);
  assert_int_equal(hu_apply(HU_OP_SQRT, N, &to, &of_number, NULL), HU_E_FORMAT);
  of_number = hu_codes(x, 1, half);
  assert_int_equal(hu_apply(HU_OP_SQRT, N, NULL, &of_number, NULL), HU_E_NULL);
  to = hu_output_of(z, 1, hu_type_number(HU_TYPE_CODES, &good));
  assert_int_equal(hu_apply(HU_OP_SQRT, N, &to, &of_number, NULL), HU_E_FORMAT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests_name("conversions of every pair of types", tests, NULL, NULL);
}
