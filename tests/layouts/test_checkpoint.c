/* SPDX-License-Identifier: MIT */
/* halfulp/checkpoint.h: a file of three tensors, its values and codes in pieces, and what is refused; layouts that are
 * met most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "halfulp/checkpoint.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
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

/* Arrays of NumPy whose dtype does not say what they hold: the caller does. */
static void array(void **state) {
  static const char head[] = "\x93NUMPY\1\0\x76\0{'descr': '%s', 'fortran_order': %s, 'shape': (2, 2), }";
  static const uint8_t codes[] = {0x38, 0x80, 0xB8, 0x3F, 0x7E, 0xC0, 0x01, 0xFF};
  static const struct {
    const char *descr, *order, *format;
    float want[4];
    hu_status status;
  } cases[] = {{"<V1", "False", "float8_e4m3fn", {1, -0.0f, -1, 1.875f}, HU_OK},
               {"|i1", "True", "float8_e4m3fnuz", {0.5f, -0.5f, NAN, 0.9375f}, HU_OK},
               {"<f1", "False", "float8_e5m2", {0.5f, -0.0f, -0.5f, 1.75f}, HU_OK},
               {"<V2", "False", "bfloat16", {-0x38p-133f, 1.4375f, -3.96875f, -0x1.02p127f}, HU_OK},
               {"<V1", "False", "bfloat16", {0}, HU_E_DATA},
               {"<V1", "False", "float4_e2m1fn", {0}, HU_E_DATA},
               {"<V1", "False", "posit8", {0}, HU_E_NAME}};
  char line[HU_CHECKPOINT_LINE], name[80], text[256];
  (void)state;
  snprintf(name, sizeof name, "%s/codes.npy", folder);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    hu_checkpoint *model;
    float z[4];
    int size = cases[i].descr[2] - '0';
    memset(text, ' ', 128);
    memcpy(text, head, 10);
    int n = snprintf(text + 10, 118, head + 10, cases[i].descr, cases[i].order);
    text[10 + n] = ' ';
    text[127] = '\n';
    FILE *file = fopen(name, "wb");
    fwrite(text, 1, 128, file);
    fwrite(codes, 1, (size_t)(4 * size), file);
    fclose(file);
    assert_int_equal(hu_checkpoint_open(&model, name, cases[i].format, line), cases[i].status);
    if (cases[i].status != HU_OK) {
      assert_non_null(strstr(line, "codes.npy"));
      continue;
    }
    assert_int_equal(hu_checkpoint_find(model, "codes"), 0);
    assert_string_equal(hu_checkpoint_at(model, 0).elements, cases[i].format);
    assert_int_equal(hu_checkpoint_read(model, 0, 0, 4, z), HU_OK);
    for (int k = 0; k < 4; k++) {
      float want = cases[i].want[k];
      assert_true(isnan(want) ? isnan(z[k]) : z[k] == want && !signbit(z[k]) == !signbit(want));
    }
    hu_checkpoint_close(model);
  }
  assert_int_equal(hu_checkpoint_open(&(hu_checkpoint *){NULL}, name, NULL, line), HU_E_NAME);
  unlink(name);
}

/* ---- the layouts that are met most, each in a file of its own ---- */

typedef struct part {
  const char *name, *dtype, *shape;
  const void *data;
  size_t size;
} part;

/* Writes a file of up to four tensors; config: NULL, or what the folder's config.json says. */
static void write_parts(const part *parts, const char *config) {
  char text[1000] = "{", name[80];
  uint8_t front[8];
  size_t n = 1, at = 0;
  for (int i = 0; i < 4 && parts[i].name; i++, at += parts[i - 1].size)
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "%s\"%s\": {\"dtype\": \"%s\", \"shape\": [%s], \"data_offsets\": [%zu, %zu]}", i ? ", " : "",
                          parts[i].name, parts[i].dtype, parts[i].shape, at, at + parts[i].size);
  n += (size_t)snprintf(text + n, sizeof text - n, "}");
  for (int i = 0; i < 8; i++) front[i] = (uint8_t)((uint64_t)n >> 8 * i);
  FILE *file = fopen(path, "wb");
  fwrite(front, 1, 8, file);
  fwrite(text, 1, n, file);
  for (int i = 0; i < 4 && parts[i].name; i++) fwrite(parts[i].data, 1, parts[i].size, file);
  fclose(file);
  snprintf(name, sizeof name, "%s/config.json", folder);
  unlink(name);
  if (!config) return;
  file = fopen(name, "w");
  fputs(config, file);
  fclose(file);
}

/* Holds a tensor of the file against numbers. */
static void has(const char *name, const char *layout, const float *want, size_t n) {
  char line[HU_CHECKPOINT_LINE];
  hu_checkpoint *model;
  float z[600];
  hu_status status = hu_checkpoint_open(&model, path, NULL, line);
  if (status != HU_OK) fail_msg("%s", line);
  size_t place = hu_checkpoint_find(model, name);
  assert_string_equal(hu_checkpoint_at(model, place).layout, layout);
  assert_int_equal(hu_checkpoint_at(model, place).count, n);
  assert_int_equal(hu_checkpoint_read(model, place, 0, n, z), HU_OK);
  for (size_t i = 0; i < n; i++)
    if (isnan(want[i]) ? !isnan(z[i]) : z[i] != want[i] || !signbit(z[i]) != !signbit(want[i]))
      fail_msg("%s, element %zu: %a instead of %a", name, i, (double)z[i], (double)want[i]);
  hu_checkpoint_close(model);
}

/* FP8 under blocks of 128 x 128, the last one narrower; without scales; F4 and E8M0. */
static void fp8(void **state) {
  static const float scales[2] = {0.3f, 0.0007f};
  static const uint8_t six[6] = {0x38, 0x39, 0xB8, 0x7E, 0x7F, 0x80}, e5m2[3] = {0x3C, 0x7C, 0x01},
                       four[2] = {0x21, 0xFA}, e8m0[4] = {0, 127, 254, 255};
  static const float of_six[6] = {1, 1.125f, -1, 448, NAN, -0.0f}, of_e5m2[3] = {1, INFINITY, 0x1p-16f},
                     of_four[4] = {0.5f, 1, -1, -6}, of_e8m0[4] = {0x1p-127f, 1, 0x1p127f, NAN};
  uint8_t codes[2 * 130];
  float want[2 * 130];
  (void)state;
  for (size_t i = 0; i < 260; i++) {
    codes[i] = (uint8_t)(i * 37 % 127);
    want[i] = hu_decode(hu_float8_e4m3fn(), codes[i]) * scales[i % 130 / 128];
  }
  write_parts(
      (part[4]){{"l.weight", "F8_E4M3", "2, 130", codes, 260}, {"l.weight_scale_inv", "F32", "1, 2", scales, 8}},
      "{\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}}");
  has("l.weight", "hf-fp8", want, 260);
  write_parts((part[4]){{"w", "F8_E4M3", "2, 3", six, 6},
                        {"v", "F8_E5M2", "3", e5m2, 3},
                        {"f", "F4", "4", four, 2},
                        {"s", "F8_E8M0", "4", e8m0, 4}},
              NULL);
  has("w", "plain", of_six, 6);
  has("v", "plain", of_e5m2, 3);
  has("f", "plain", of_four, 4);
  has("s", "plain", of_e8m0, 4);
}

/* Two levels that are multiplied, two nibbles of a byte with the low one first; and gpt-oss with four axes. */
static void fp4(void **state) {
  static const uint8_t scales[2] = {0x3C, 0x44}, powers[2] = {126, 128}; /* 1.5 and 3; 1/2 and 2 */
  static const float second = 0.001f;
  uint8_t codes[32];
  float two[32], one[64];
  (void)state;
  for (size_t i = 0; i < 32; i++) codes[i] = (uint8_t)(i * 29 + 3);
  for (size_t i = 0; i < 64; i++) {
    float number = e2m1[codes[i / 2] >> i % 2 * 4 & 15];
    one[i] = number * (i < 32 ? 0.5f : 2);
    if (i < 32) two[i] = number * ((i < 16 ? 1.5f : 3) * second);
  }
  write_parts((part[4]){{"l.weight", "U8", "2, 8", codes, 16},
                        {"l.weight_scale", "F8_E4M3", "2, 1", scales, 2},
                        {"l.weight_scale_2", "F32", "", &second, 4}},
              "{\"quantization_config\": {\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}}");
  has("l.weight", "modelopt-nvfp4", two, 32);
  write_parts(
      (part[4]){{"mlp.up_blocks", "U8", "1, 2, 1, 16", codes, 32}, {"mlp.up_scales", "U8", "1, 2, 1", powers, 2}},
      NULL);
  has("mlp.up", "gpt-oss-mxfp4", one, 64);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(wrong), cmocka_unit_test(array),
                                     cmocka_unit_test(fp8),    cmocka_unit_test(fp4),   cmocka_unit_test(table)};
  return cmocka_run_group_tests(tests, write_file, remove_file);
}
