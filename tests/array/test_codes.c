/* SPDX-License-Identifier: MIT */
/* Every call with a status that reads codes (those of tests/walk are there), given codes that are none: one operand,
 * one place, one excess bit after another. It must say HU_E_CODE and leave its results as they are. Integers that
 * repeat their sign are codes: the results are those without the repetition. */
#include <stdlib.h>
#include <string.h>

#include "tests/array/codes.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { POOL = 1 << 20, RESULT = 0xA5, ROOM = 1 << 16 };
static uint8_t pool[POOL];
static size_t used;
static const char *what; /* for messages */

static void *take(size_t bytes, int fill) {
  uint8_t *z = pool + used;
  used += (bytes + 63) / 64 * 64;
  assert_true(used <= POOL);
  memset(z, fill, bytes);
  return z;
}

hu_format format_named(const char *text) {
  hu_format format;
  if (hu_format_parse(&format, text, NULL) != HU_OK) fail_msg("%s is no format", text);
  return format;
}

static void place_of(const t_world *world, size_t rows, size_t cols, size_t *i, size_t *j) {
  *i = world->place == PLACE_SECOND_ROW ? 1 % rows
       : world->place == PLACE_LAST     ? rows - 1
       : world->place == PLACE_MIDDLE   ? rows / 2
                                        : 0;
  *j = world->place == PLACE_LAST ? cols - 1 : world->place == PLACE_MIDDLE ? cols / 2 : 0;
}

static int is_wrong_here(t_world *world, uint32_t width, uint32_t storage, int is_signed) {
  int k = world->operands++;
  assert_true(k < 16);
  world->width[k] = width;
  world->storage[k] = storage;
  world->is_signed[k] = is_signed;
  return k == world->wrong;
}

const void *codes_of_width(t_world *world, uint32_t width, int is_signed, size_t rows, size_t cols, size_t ld,
                           ptrdiff_t inc) {
  size_t size = width <= 8 ? 1 : width <= 16 ? 2 : 4, apart = (size_t)(inc < 0 ? -inc : inc);
  size_t row = (cols - 1) * apart + 1, bytes = ((rows - 1) * ld + row) * size;
  uint8_t *z = (uint8_t *)take(bytes, 0xFF) + (inc < 0 ? (row - 1) * size : 0);
  assert_true(rows == 1 || ld >= row);
  size_t wrong_i, wrong_j;
  place_of(world, rows, cols, &wrong_i, &wrong_j);
  int wrong = is_wrong_here(world, width, (uint32_t)size * 8, is_signed);
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) {
      uint32_t code = wrong && i == wrong_i && j == wrong_j ? world->code : 1 + (uint32_t)(i + j) % 3;
      t_put(z, size, (ptrdiff_t)(i * ld) + (ptrdiff_t)j * inc, width < 3 && code > 1 ? 1 : code);
    }
  }
  return z;
}

const void *codes(t_world *world, hu_format format, size_t rows, size_t cols, size_t ld, ptrdiff_t inc) {
  return codes_of_width(world, hu_limits_of(format).width, 0, rows, cols, ld, inc);
}

uint32_t code_by_value(t_world *world, hu_format format) {
  return is_wrong_here(world, hu_limits_of(format).width, 32, 0) ? world->code : 1;
}

void *result(t_world *world, size_t bytes) {
  int k = world->results++;
  assert_true(k < 16);
  world->bytes[k] = bytes;
  world->result[k] = take(bytes, RESULT);
  return world->result[k];
}

/* ---- runs ---- */

static int was_written(const t_world *world) {
  for (int k = 0; k < world->results; k++)
    for (size_t i = 0; i < world->bytes[k]; i++)
      if (world->result[k][i] != RESULT) return 1;
  return 0;
}

static hu_status run(const world_call *c, t_world *world) {
  used = 0;
  world->operands = world->results = 0;
  return c->call(world);
}

static void expect_refusal(const world_call *c, t_world *world) {
  hu_status status = run(c, world);
  if (status != HU_E_CODE || was_written(world))
    fail_msg("%s of %s, stride %d, operand %d, place %d, code %x: %s%s", what, world->text, (int)world->inc,
             world->wrong, world->place, (unsigned)world->code, hu_status_name(status),
             was_written(world) ? ", and results are written" : "");
}

/* Signed integers: the same results with the sign repeated as without. */
static void expect_same(const world_call *c, t_world *world, uint32_t width) {
  static uint8_t before[ROOM];
  size_t n = 0;
  uint32_t negative = ((uint32_t)1 << (width - 1)) + 1;
  world->code = negative;
  assert_int_equal(run(c, world), HU_OK);
  for (int k = 0; k < world->results; n += world->bytes[k++]) {
    assert_true(n + world->bytes[k] <= ROOM);
    memcpy(before + n, world->result[k], world->bytes[k]);
  }
  world->code = negative | ~(uint32_t)0 << width;
  if (run(c, world) != HU_OK) fail_msg("%s of %s: a repeated sign is refused", what, world->text);
  n = 0;
  for (int k = 0; k < world->results; n += world->bytes[k++])
    assert_memory_equal(before + n, world->result[k], world->bytes[k]);
}

/* Every code that is none, of an operand of this width. */
static uint64_t refuse_all(const world_call *c, t_world *world, uint32_t width, uint32_t storage, int is_signed) {
  const uint32_t low = 1, sign = (uint32_t)1 << (width - 1),
                 all = ~(uint32_t)0 >> (32 - storage) & ~(uint32_t)0 << width;
  const uint32_t lowest = (uint32_t)1 << width, highest = (uint32_t)1 << (storage - 1);
  const uint32_t wrong[] = {low | lowest, low | highest, low | all, sign | (all & (all - lowest)), sign | lowest};
  uint64_t runs = 0;
  for (world->place = 0; world->place < PLACES; world->place++) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      world->code = wrong[i];
      int repeats = is_signed && world->code >> (width - 1) == (sign | all) >> (width - 1);
      if (world->code >> width == 0 || repeats) continue;
      expect_refusal(c, world);
      runs++;
    }
    if (is_signed) expect_same(c, world, width);
  }
  return runs;
}

static uint64_t refuse(const world_call *c, t_world *world) {
  uint64_t runs = 0;
  what = c->name;
  world->wrong = -1;
  world->place = 0;
  hu_status status = run(c, world);
  if (status != HU_OK || (world->results && !was_written(world)))
    fail_msg("%s of %s, stride %d, right codes: %s", what, world->text, (int)world->inc, hu_status_name(status));
  if (world->operands != c->operands) fail_msg("%s reads %d operands, not %d", what, world->operands, c->operands);
  for (int k = 0; k < c->operands; k++) {
    uint32_t width = world->width[k], storage = world->storage[k];
    if (width == storage) continue; /* every pattern is a code */
    world->wrong = k;
    runs += refuse_all(c, world, width, storage, world->is_signed[k]);
  }
  return runs;
}

static t_world world_of(const char *text, ptrdiff_t inc) {
  t_world world;
  memset(&world, 0, sizeof world);
  world.text = text;
  if (hu_format_parse(&world.format, text, NULL) != HU_OK) memset(&world.format, 0, sizeof world.format);
  world.inc = inc;
  return world;
}

/* Returns how often a code was refused. */
static uint64_t refuse_table(const world_call *table) {
  static const ptrdiff_t strides[] = {1, 3, -2};
  uint64_t runs = 0;
  for (const world_call *c = table; c->name; c++) {
    uint64_t own = 0;
    for (size_t t = 0; c->texts[t]; t++) {
      for (size_t i = 0; i < 3; i++) {
        t_world world = world_of(c->texts[t], strides[i]);
        world.transposed = i == 1;
        world.exec.threads = i == 2 ? 3 : 1;
        world.exec.levels_off = i == 1 ? UINT32_MAX : 0;
        own += refuse(c, &world);
      }
    }
    if (!own) fail_msg("%s: nothing was wrong", c->name);
    runs += own;
  }
  return runs;
}

static void test_arrays(void **state) {
  (void)state;
  print_message("%llu codes refused\n", (unsigned long long)refuse_table(array_calls));
}

static void test_tensors(void **state) {
  (void)state;
  print_message("%llu codes refused\n", (unsigned long long)refuse_table(tensor_calls));
}

/* Products without rows or columns read no codes, and refuse none. */
static int pass_empty(const world_call *c, t_world *world) {
  int wrong = 0;
  what = c->name;
  world->wrong = -1;
  assert_int_equal(run(c, world), HU_OK);
  for (world->empty = EMPTY_M; world->empty <= EMPTY_N; world->empty++) {
    for (int k = 0; k < c->operands; k++) {
      if (world->width[k] == world->storage[k]) continue;
      world->wrong = k;
      world->code = (uint32_t)1 << world->width[k];
      hu_status status = run(c, world);
      if (status != HU_OK || was_written(world))
        fail_msg("%s of %s, operand %d, empty %d: %s", what, world->text, k, world->empty, hu_status_name(status));
      wrong++;
    }
  }
  return wrong;
}

static void test_empty(void **state) {
  (void)state;
  int calls = 0;
  for (const world_call *c = tensor_calls; c->name; c++) {
    int wrong = 0;
    static const char *const products[] = {"hu_gemm", "hu_multiply", "scaled tensors", "products of"};
    size_t found = 0;
    while (found < 4 && !strstr(c->name, products[found])) found++;
    if (found == 4) continue;
    for (size_t t = 0; c->texts[t]; t++) {
      t_world world = world_of(c->texts[t], 1);
      wrong += pass_empty(c, &world);
    }
    if (!wrong) fail_msg("%s: nothing was wrong", c->name);
    calls++;
  }
  assert_true(calls >= 8);
}

/* Rows apart, for several threads: a part begins and ends within a row. */
static void test_rows(void **state) {
  (void)state;
  enum { ROWS = 300, COLS = 701, LD = 704 };
  static uint8_t x[ROWS * LD];
  static const float zero[COLS];
  static float z[ROWS];
  hu_format format = format_named("float6_e3m2fn");
  hu_accum exact;
  hu_mode rne;
  hu_exec exec = {3, 0, {0, 0}, {0}};
  hu_view a = hu_matrix_codes(x, LD, format), b = hu_matrix_floats(zero, 1);
  hu_output result = hu_matrix_floats_out(z, 1);
  t_random random = {t_seed("rows", 11)};
  memset(&rne, 0, sizeof rne);
  assert_int_equal(hu_accum_parse(&exact, "exact", NULL), HU_OK);
  memset(x, 0xFF, sizeof x);
  for (size_t i = 0; i < ROWS; i++) memset(x + i * LD, 3, COLS);
  assert_int_equal(hu_gemm(ROWS, 1, COLS, &result, &a, &b, NULL, &exact, &(hu_how){rne, &exec, NULL}), HU_OK);
  for (int k = 0; k < 500; k++) {
    size_t i = (size_t)t_between(&random, 0, ROWS - 1), j = (size_t)t_between(&random, 0, COLS - 1);
    if (k < 4) i = k & 1 ? ROWS - 1 : 0, j = k & 2 ? COLS - 1 : 0;
    x[i * LD + j] = 0x40;
    if (hu_gemm(ROWS, 1, COLS, &result, &a, &b, NULL, &exact, &(hu_how){rne, &exec, NULL}) != HU_E_CODE)
      fail_msg("a wrong code at (%zu, %zu) is not found", i, j);
    x[i * LD + j] = 3;
  }
}

/* A wrong code wherever it stands in arrays of any length, also long enough for threads. */
static void test_every_place(void **state) {
  (void)state;
  static uint16_t x[1 << 18];
  hu_format format = format_named("fp(5,6,0)");
  size_t first;
  for (size_t n = 1; n < 200; n++) {
    for (size_t at = 0; at < n; at++) {
      x[at] = 0x1000;
      first = 1000;
      assert_int_equal(hu_codes_check_n(n, x, 1, format, NULL, &first), HU_E_CODE);
      assert_int_equal(first, at);
      assert_int_equal(hu_codes_check_n(at, x, 1, format, NULL, &first), HU_OK);
      if (at) assert_int_equal(hu_codes_check_n(at, x + at, -1, format, NULL, NULL), HU_E_CODE);
      x[at] = 0x0FFF;
    }
    memset(x, 0, sizeof x);
  }
  const size_t long_n = sizeof x / sizeof *x;
  for (uint32_t threads = 1; threads <= 5; threads += 2) {
    hu_exec exec = {threads, 0, {0, 0}, {0}};
    assert_int_equal(hu_codes_check_n(long_n, x, 1, format, &exec, NULL), HU_OK);
    for (size_t at = 7; at < long_n; at += 12345) {
      x[at] = 0x8000;
      assert_int_equal(hu_codes_check_n(long_n, x, 1, format, &exec, &first), HU_E_CODE);
      assert_int_equal(first, at);
      x[at] = 0;
    }
  }
}

/* One for all elements is looked at once; nothing is where there are no elements. */
static void test_few(void **state) {
  (void)state;
  hu_format format = format_named("float4_e2m1fn");
  uint8_t wide = 0x21;
  float z[4];
  assert_int_equal(hu_decode_n(4, z, 1, &wide, 0, format, NULL), HU_E_CODE);
  assert_int_equal(hu_decode_n(0, NULL, 1, NULL, 1, format, NULL), HU_OK);
  assert_int_equal(hu_codes_check_n(0, NULL, 1, format, NULL, NULL), HU_OK);
  assert_int_equal(hu_codes_check_n(1, NULL, 1, format, NULL, NULL), HU_E_NULL);
  format.m = 31;
  assert_int_equal(hu_codes_check_n(1, &wide, 1, format, NULL, NULL), HU_E_FORMAT);
  assert_int_equal(hu_codes_check_n(1, &wide, 1, format_named("binary16"), NULL, NULL),
                   (uintptr_t)&wide % 2 ? HU_E_ALIGN : HU_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_arrays),      cmocka_unit_test(test_tensors),
                                     cmocka_unit_test(test_empty),       cmocka_unit_test(test_rows),
                                     cmocka_unit_test(test_every_place), cmocka_unit_test(test_few)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
