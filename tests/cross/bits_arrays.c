/* SPDX-License-Identifier: MIT */
/* Lines of `bits` about arrays: decoding, binary64, arithmetic, number systems, transforms, shifted and squeezed
 * tensors. */
#include <string.h>

#include "tests/cross/bits.h"

enum { N = 1003, WIDE = 128, ROWS = 9, MANY = 5000 };

static hu_mode mode_of(int round) {
  hu_mode mode = {0};
  mode.round = (uint8_t)round;
  mode.bits = (uint8_t)(round >= HU_SRA ? 13 : 0);
  return mode;
}

static hu_exec exec_now(void) {
  hu_exec exec = {0};
  exec.levels_off = bits_off;
  exec.stream.key = bits_next();
  return exec;
}

/* Ordinary numbers, few of them special. */
static void draw(float *x, size_t n) {
  static const uint32_t special[] = {0, 0x80000000u, 0x7F800000u, 0xFF800000u, 0x7FC00000u, 1, 0x80400000u};
  for (size_t i = 0; i < n; i++) {
    uint64_t r = bits_next();
    uint32_t u = ((uint32_t)r & 0x807FFFFFu) | (118 + (uint32_t)(r >> 40) % 14) << 23;
    if ((r >> 32 & 63) == 0) u = special[(r >> 56) % 7];
    memcpy(x + i, &u, sizeof u);
  }
}

static int decoded_and_binary64(void) {
  static float z[N];
  static double x64[N], z64[N];
  static uint32_t codes[N];
  for (size_t i = 0; i < hu_format_count(); i++) {
    if (!bits_chosen()) continue;
    hu_format format = hu_format_at(i).format;
    hu_exec exec = exec_now();
    hu_events events = {0};
    uint64_t h = BITS_START;
    hu_limits limits = hu_limits_of(format);
    size_t bytes = limits.storage / 8;
    bits_codes(codes, N, bytes, limits.width);
    if (hu_format_fits_binary32(format)) {
      if (hu_decode_n(N, z, 1, codes, 1, format, &exec) != HU_OK) return 0;
      h = bits_digest(h, z, sizeof z);
    }
    draw(z, N);
    for (size_t k = 0; k < N; k++) x64[k] = (double)z[k] * (1 + (double)(k % 5) * 0x1p-40);
    for (int round = 0; round < HU_ROUND_COUNT; round++) {
      hu_status status = hu_encode64_n(N, codes, 1, x64, 1, format, mode_of(round), &exec, &events);
      if (status == HU_OK) status = hu_quantize64_n(N, z64, 1, x64, 1, format, mode_of(round), &exec, &events);
      if (status != HU_OK) return 0;
      h = bits_digest(bits_digest(h, codes, N * bytes), z64, sizeof z64);
    }
    bits_print("decode, binary64", hu_format_at(i).id, bits_digest(h, &events, sizeof events));
  }
  return 1;
}

static int arithmetic_of(int op) {
  static const char *const formats[] = {"binary32", "bfloat16", "binary16", "float8_e4m3fn"};
  static float a[N], b[N], c[N];
  static uint32_t z[N];
  uint64_t h = BITS_START;
  hu_format wide = hu_binary32();
  if (!bits_chosen()) return 1;
  draw(a, N);
  draw(b, N);
  draw(c, N);
  for (int k = 0; k < 4; k++) {
    for (int round = 0; round < HU_ROUND_COUNT; round++) {
      hu_format format;
      hu_status status = hu_format_find(&format, formats[k]);
      hu_exec exec = exec_now();
      hu_events events = {0};
      if (status != HU_OK) return 0;
      hu_view x[3] = {hu_codes(a, 1, wide), hu_codes(b, 1, wide), hu_codes(c, 1, wide)};
      hu_how how = hu_how_of(mode_of(round), &exec, &events);
      hu_output to = hu_codes_out(z, 1, format);
      status = hu_apply(op, N, &to, x, &how);
      if (status != HU_OK) return 0;
      h = bits_digest(bits_digest(h, z, N * (hu_limits_of(format).storage / 8u)), &events, sizeof events);
    }
  }
  bits_print("arithmetic", hu_operation_at((size_t)op).name, h);
  return 1;
}

static int numbers(void) {
  static float x[N], z[N];
  static uint32_t codes[N];
  draw(x, N);
  for (size_t i = 0; i < hu_number_count(); i++) {
    if (!bits_chosen()) continue;
    hu_number number = hu_number_at(i).number;
    size_t bytes = hu_number_limits_of(number).storage / 8;
    hu_exec exec = exec_now();
    hu_events events = {0};
    uint64_t h = BITS_START;
    for (int round = 0; round < HU_ROUND_COUNT; round++) {
      if (hu_number_encode_n(N, codes, 1, x, 1, number, mode_of(round), &exec, &events) != HU_OK) return 0;
      h = bits_digest(h, codes, N * bytes);
    }
    bits_codes(codes, N, bytes, hu_number_limits_of(number).width);
    if (hu_number_decode_n(N, z, 1, codes, 1, number, &exec) != HU_OK) return 0;
    h = bits_digest(bits_digest(h, z, sizeof z), &events, sizeof events);
    bits_print("number", hu_number_at(i).name, h);
  }
  return 1;
}

static int transforms(void) {
  static float x[WIDE * WIDE], z[WIDE * WIDE];
  uint64_t h = BITS_START;
  draw(x, WIDE * WIDE);
  for (uint32_t n = 16; n <= HU_HADAMARD_MAX; n *= 2) {
    for (uint8_t k = 0; k < 6; k++) {
      hu_hadamard transform = {
          n, k & 1 ? HU_HADAMARD_ALONG_COLUMNS : HU_HADAMARD_ALONG_ROWS, k % 3, HU_HADAMARD_SIGNS_STREAM, k / 4, NULL};
      size_t rows = k & 1 ? WIDE : ROWS, cols = k & 1 ? 75 : WIDE;
      hu_exec exec = exec_now();
      if (hu_hadamard_forward(rows, cols, z, WIDE, x, WIDE, &transform, &exec) != HU_OK) return 0;
      h = bits_digest(h, z, sizeof z);
      if (hu_hadamard_inverse(rows, cols, z, WIDE, z, WIDE, &transform, &exec) != HU_OK) return 0;
      h = bits_digest(h, z, sizeof z);
    }
  }
  bits_print("transform", "hadamard", h);
  return 1;
}

/* special: 1 with infinities and NaN. */
static int squeezed(const char *name, int special) {
  static float x[MANY], z[MANY];
  static uint8_t codes[MANY];
  hu_s2fp8 kind;
  hu_s2fp8_sums sums;
  hu_s2fp8_scale scale;
  hu_events events = {0};
  uint64_t h = BITS_START;
  if (!bits_chosen()) return 1;
  if (hu_s2fp8_parse(&kind, name, NULL) != HU_OK) return 0;
  draw(x, MANY);
  for (size_t i = 0; i < MANY && !special; i++) {
    if (!(x[i] < 0x1p100f && x[i] > -0x1p100f)) x[i] = 1.25f;
  }
  for (int round = 0; round < HU_ROUND_COUNT; round++) {
    hu_exec exec = exec_now();
    size_t n = round >= HU_SRA ? 200 : MANY; /* random words take integers */
    hu_status status = hu_s2fp8_truncate_n(n, z, 1, x, 1, &kind, mode_of(round), &sums, &scale, &exec, &events);
    if (status == HU_OK) status = hu_s2fp8_encode_n(n, codes, 1, x, 1, &kind, &scale, mode_of(round), &exec, &events);
    if (status != HU_OK) return 0;
    h = bits_digest(bits_digest(bits_digest(h, z, n * sizeof *z), codes, n), &sums, sizeof sums);
    if (hu_s2fp8_decode_n(n, z, 1, codes, 1, &kind, &scale, &exec) != HU_OK) return 0;
    h = bits_digest(bits_digest(h, z, n * sizeof *z), &scale, sizeof scale);
  }
  bits_print(special ? "squeezed, special" : "squeezed", name, bits_digest(h, &events, sizeof events));
  return 1;
}

int bits_arrays(void) {
  return decoded_and_binary64() && arithmetic_of(HU_OP_ADD) && arithmetic_of(HU_OP_SUB) && arithmetic_of(HU_OP_MUL) &&
         arithmetic_of(HU_OP_DIV) && arithmetic_of(HU_OP_SQRT) && arithmetic_of(HU_OP_FMA) && numbers() &&
         transforms() && squeezed("s2fp8", 0) && squeezed("s2fp8", 1) && squeezed("s2fp8(float8_e4m3fn)", 0);
}
