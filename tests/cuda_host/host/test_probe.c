/* SPDX-License-Identifier: MIT */
/* gpu/probe/probe.h: every element of A, B, C and D has one place in the registers, and the PTX ISA's own words for
 * three of the layouts; every device's list of instructions names presets. */
#include <string.h>

#include "gpu/probe/probe.h"
#include "tests/support/cmocka.h"

enum { MOST = 64 * 32 };

typedef struct t_seen {
  uint8_t times[MOST];
  uint32_t count;
} t_seen;

static void see(t_seen *seen, uint32_t at, uint32_t buffer) {
  assert_true(at < buffer);
  seen->times[at]++;
  seen->count++;
}

static void once(const t_seen *seen, uint32_t buffer) {
  assert_int_equal(seen->count, buffer);
  for (uint32_t i = 0; i < buffer; i++) assert_int_equal(seen->times[i], 1);
}

static void one_place_each(void **state) {
  (void)state;
  for (int op = 0; op < HU_MMA_COUNT; op++) {
    hu_mma_shape shape = hui_mma_shape_of(op);
    uint32_t rows = shape.m, columns = shape.n, depth = shape.k, threads = shape.wgmma ? 128 : 32,
             parts = shape.half ? 2 : 1;
    static t_seen a, b, c, shared;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    memset(&c, 0, sizeof c);
    memset(&shared, 0, sizeof shared);
    assert_int_equal(hui_mma_registers_c(&shape) * threads * parts, rows * columns);
    for (uint32_t t = 0; t < threads; t++)
      for (uint32_t r = 0; r < hui_mma_registers_c(&shape); r++)
        for (uint32_t i = 0; i < parts; i++) see(&c, hui_mma_place_c(&shape, t, r, i), rows * columns);
    once(&c, rows * columns);
    if (shape.wgmma) {
      for (uint32_t row = 0; row < rows; row++)
        for (uint32_t k = 0; k < depth; k++)
          for (uint32_t i = 0; i < 4u / shape.each; i++) see(&shared, hui_wgmma_place(&shape, row, k) + i, rows * 32);
      once(&shared, rows * 32);
      continue;
    }
    assert_true(hui_mma_registers_a(&shape) <= 4 && hui_mma_registers_b(&shape) <= 2);
    for (uint32_t t = 0; t < 32; t++) {
      for (uint32_t i = 0; i < shape.each; i++) {
        for (uint32_t r = 0; r < hui_mma_registers_a(&shape); r++)
          see(&a, hui_mma_place_a(&shape, t, r, i), rows * depth);
        for (uint32_t r = 0; r < hui_mma_registers_b(&shape); r++)
          see(&b, hui_mma_place_b(&shape, t, r, i), columns * depth);
      }
    }
    once(&a, rows * depth);
    once(&b, columns * depth);
  }
}

/* "Matrix fragments for mma.m16n8k16 with floating point type": a0 ... a7, b0 ... b3, c0 ... c3. */
static void words_16_bits(const hu_mma_shape *shape, uint32_t lane) {
  uint32_t group = lane >> 2, t = lane % 4;
  for (uint32_t i = 0; i < 8; i++) {
    uint32_t row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
    uint32_t col = i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8;
    assert_int_equal(hui_mma_place_a(shape, lane, i / 2, i % 2), row * 16 + col);
  }
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t row = i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8;
    assert_int_equal(hui_mma_place_b(shape, lane, i / 2, i % 2), group * 16 + row);
    assert_int_equal(hui_mma_place_c(shape, lane, i, 0), (i < 2 ? group : group + 8) * 8 + t * 2 + (i & 1));
  }
}

/* "... for mma.m16n8k32": a0 ... a15, b0 ... b7. */
static void words_8_bits(const hu_mma_shape *shape, uint32_t lane) {
  uint32_t group = lane >> 2, t = lane % 4;
  for (uint32_t i = 0; i < 16; i++) {
    uint32_t row = i < 4 || (i >= 8 && i < 12) ? group : group + 8;
    uint32_t col = i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16;
    assert_int_equal(hui_mma_place_a(shape, lane, i / 4, i % 4), row * 32 + col);
  }
  for (uint32_t i = 0; i < 8; i++) {
    uint32_t row = i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16;
    assert_int_equal(hui_mma_place_b(shape, lane, i / 4, i % 4), group * 32 + row);
  }
}

/* "... for mma.m16n8k8", .tf32: a0 ... a3, b0, b1. */
static void words_tf32(const hu_mma_shape *shape, uint32_t lane) {
  uint32_t group = lane >> 2, t = lane % 4;
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t row = i == 0 || i == 2 ? group : group + 8, col = i < 2 ? t : t + 4;
    assert_int_equal(hui_mma_place_a(shape, lane, i, 0), row * 8 + col);
  }
  for (uint32_t i = 0; i < 2; i++) assert_int_equal(hui_mma_place_b(shape, lane, i, 0), group * 8 + (i ? t + 4 : t));
}

static void words_of_the_isa(void **state) {
  (void)state;
  hu_mma_shape f16 = hui_mma_shape_of(HU_MMA_F16_F32_K16), fp8 = hui_mma_shape_of(HU_MMA_FP8_F32 + 1);
  hu_mma_shape tf32 = hui_mma_shape_of(HU_MMA_TF32_K8);
  for (uint32_t lane = 0; lane < 32; lane++) {
    words_16_bits(&f16, lane);
    words_8_bits(&fp8, lane);
    words_tf32(&tf32, lane);
  }
}

static void lists(void **state) {
  (void)state;
  static const struct {
    int capability;
    size_t count;
  } devices[] = {{80, 8}, {86, 8}, {89, 16}, {90, 28}, {100, 16}, {120, 16}, {75, 0}, {0, 0}};
  for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++) {
    hu_device_mma instruction;
    hu_accum_preset preset;
    int op;
    size_t i = 0;
    for (; hui_mma_of_capability(&instruction, &op, devices[d].capability, i) == HU_OK; i++) {
      hu_mma_shape shape = hui_mma_shape_of(op);
      assert_int_equal(hu_accum_preset_find(&preset, instruction.model), HU_OK);
      assert_int_equal(instruction.k % preset.k, 0);
      assert_int_equal(hu_type_size(instruction.a), 4 / shape.each);
      assert_int_equal(hu_type_size(instruction.b), 4 / shape.each);
      assert_int_equal(hu_type_size(instruction.c), shape.half ? 2 : 4);
    }
    assert_int_equal(i, devices[d].count);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_place_each), cmocka_unit_test(words_of_the_isa),
                                     cmocka_unit_test(lists)};
  return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
