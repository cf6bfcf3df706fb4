/* SPDX-License-Identifier: MIT */
/* halfulp/checkpoint.h: a file of three tensors, its values and codes in pieces, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "halfulp/checkpoint.h"
#include "tests/support/cmocka.h"

#define TENSOR(name, dtype, shape, from, to) \
  "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" from "," to "]}"
static const char header[] = "{" TENSOR("l.weight_packed", "U8", "2,8", "0", "16") "," TENSOR(
    "l.weight_scale", "F8_E4M3", "2,1", "16", "18") "," TENSOR("l.weight_global_scale", "F32", "1", "20",
                                                               "24") "," TENSOR("pad", "U8", "2", "18", "20") "}";
/* The codes of each row in order: 1 2 3 4 5 6 7 8 9 A B C D E F 0; scales 1.5 and 3; the global scale 64. */
static const uint8_t data[] = {0x21, 0x43, 0x65, 0x87, 0xA9, 0xCB, 0xED, 0x0F, 0x21, 0x43, 0x65, 0x87,
                               0xA9, 0xCB, 0xED, 0x0F, 0x3C, 0x44, 7,    9,    0,    0,    0x80, 0x42};
static const float e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
static char folder[] = "/tmp/halfulp-test-XXXXXX", path[64];

static int write_file(void **state) {
  uint64_t length = sizeof header - 1;
  uint8_t front[8];
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/m.safetensors", folder);
  FILE *file = fopen(path, "wb");
  for (int i = 0; i < 8; i++) front[i] = (uint8_t)(length >> 8 * i);
  fwrite(front, 1, 8, file);
  fwrite(header, 1, length, file);
  fwrite(data, 1, sizeof data, file);
  return fclose(file);
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path) || rmdir(folder);
}

static void values(void **state) {
  char line[HU_CHECKPOINT_LINE];
  hu_checkpoint *model;
  float z[32], part[7];
  uint8_t codes[32];
  size_t size;
  (void)state;
  assert_int_equal(hu_checkpoint_open(&model, path, NULL, line), HU_OK);
  assert_string_equal(line, "");
  assert_int_equal(hu_checkpoint_count(model), 2);
  size_t place = hu_checkpoint_find(model, "l.weight");
  hu_checkpoint_tensor w = hu_checkpoint_at(model, place), pad = hu_checkpoint_at(model, 1);
  assert_string_equal(w.layout, "ct-nvfp4");
  assert_string_equal(w.scales, "float8_e4m3fn / binary32");
  assert_true(w.place == place && w.dims == 2 && w.shape[0] == 2 && w.shape[1] == 16 && w.count == 32);
  assert_true(w.block[0] == 1 && w.block[1] == 16);
  assert_int_equal(hu_checkpoint_read(model, place, 0, 32, z), HU_OK);
  assert_int_equal(hu_checkpoint_codes(model, place, 0, 32, codes), HU_OK);
  for (size_t i = 0; i < 32; i++) {
    float right = e2m1[(i + 1) % 16] * (i < 16 ? 1.5f : 3) / 64;
    assert_int_equal(codes[i], (i + 1) % 16);
    assert_true(z[i] == right && !signbit(z[i]) == !signbit(right));
  }
  for (size_t first = 0; first + 7 <= 32; first++) {
    assert_int_equal(hu_checkpoint_read(model, place, first, 7, part), HU_OK);
    assert_memory_equal(part, z + first, sizeof part);
  }
  assert_string_equal(pad.layout, "");
  assert_string_equal(pad.dtype, "U8");
  assert_int_equal(hu_checkpoint_read(model, 1, 0, 2, z), HU_OK);
  assert_true(z[0] == 7 && z[1] == 9);
  assert_memory_equal(hu_checkpoint_bytes(model, 1, &size), data + 18, 2);
  assert_int_equal(size, 2);
  hu_checkpoint_close(model);
}

static void wrong(void **state) {
  char line[HU_CHECKPOINT_LINE];
  hu_checkpoint *model;
  float z[40];
  uint8_t codes[2];
  size_t size = 1;
  (void)state;
  assert_int_equal(hu_checkpoint_open(&model, "/no/such/file.safetensors", NULL, line), HU_E_FILE);
  assert_non_null(strstr(line, "/no/such/file.safetensors"));
  assert_int_equal(hu_checkpoint_open(&model, path, "nvfp4", line), HU_E_NAME);
  assert_int_equal(hu_checkpoint_open(&model, path, "awq", line), HU_E_NAME);
  assert_non_null(strstr(line, "no tensor can have the layout awq"));
  assert_int_equal(hu_checkpoint_open(NULL, path, NULL, line), HU_E_NULL);
  assert_int_equal(hu_checkpoint_open(&model, NULL, NULL, line), HU_E_NULL);
  assert_int_equal(hu_checkpoint_open(&model, path, NULL, NULL), HU_OK);
  assert_int_equal(hu_checkpoint_read(model, 0, 30, 3, z), HU_E_SHAPE);
  assert_int_equal(hu_checkpoint_read(model, 2, 0, 0, z), HU_E_SHAPE);
  assert_int_equal(hu_checkpoint_read(model, 0, 0, 1, NULL), HU_E_NULL);
  assert_int_equal(hu_checkpoint_codes(model, 1, 0, 1, codes), HU_E_FORMAT);
  assert_true(hu_checkpoint_find(model, "l.weight_scale") == SIZE_MAX);
  assert_int_equal(hu_checkpoint_at(model, 2).count, 0);
  assert_null(hu_checkpoint_bytes(model, 2, &size));
  assert_int_equal(size, 0);
  hu_checkpoint_close(model);
  hu_checkpoint_close(NULL);
}

static void table(void **state) {
  (void)state;
  for (size_t i = 0; i < hu_checkpoint_layout_count(); i++) {
    hu_checkpoint_layout row = hu_checkpoint_layout_at(i);
    assert_true(row.name[0] && row.program[0] && row.tensors[0] && row.formula[0] && row.open);
    for (size_t k = 0; k < i; k++) assert_string_not_equal(row.name, hu_checkpoint_layout_at(k).name);
  }
  assert_string_equal(hu_checkpoint_layout_at(hu_checkpoint_layout_count()).name, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(wrong), cmocka_unit_test(table)};
  return cmocka_run_group_tests(tests, write_file, remove_file);
}
