/* SPDX-License-Identifier: MIT */
/* Lines of `bits` about matrix products with more rows, columns and depth than a tile has: each way of computing in
 * lanes, and each matrix unit. */
#include <stdio.h>
#include <string.h>

#include "tests/cross/bits.h"

enum { M = 21, N = 53, K = 170 };

static float values[2][N * K], c_values[M * N], scales[2][N * K];
static uint32_t codes_a[M * K], codes_b[K * N], scale_codes[2][N * K];
static uint32_t d_codes[M * N];

/* Numbers of a few binades about 2^at: sums of both signs, seldom one that cancels. */
static void draw(float *x, size_t n, int at, uint32_t binades) {
  for (size_t i = 0; i < n; i++) {
    uint64_t r = bits_next();
    uint32_t u = ((uint32_t)r & 0x807FFFFFu) | (127 + (uint32_t)at - binades / 2 + (uint32_t)(r >> 40) % binades) << 23;
    memcpy(x + i, &u, sizeof u);
  }
}

static int draw_operands(hu_format fa, hu_format fb, hu_format fc, int at, uint32_t binades) {
  hu_mode mode = {0};
  draw(values[0], M * K, at, binades);
  draw(values[1], K * N, at, binades);
  draw(c_values, M * N, 2 * at, binades);
  return hu_encode_n(M * K, codes_a, 1, values[0], 1, fa, mode, NULL, NULL) == HU_OK &&
         hu_encode_n(K * N, codes_b, 1, values[1], 1, fb, mode, NULL, NULL) == HU_OK &&
         hu_quantize_n(M * N, c_values, 1, c_values, 1, fc, mode, NULL, NULL) == HU_OK;
}

/* A and B both lie either way, and there is a C, by turns. */
static int product_of(uint64_t *h, const hu_accum *accum, hu_format fa, hu_format fb, hu_format fc, hu_format fd,
                      size_t m, size_t n, size_t k, int turn) {
  hu_mode mode = {0};
  hu_exec exec = {0};
  hu_events events = {0};
  hu_view a = hu_matrix_codes(codes_a, turn & 1 ? m : k, fa);
  if (turn & 1) a = hu_transposed(a);
  hu_view b = hu_matrix_codes(codes_b, turn & 2 ? k : n, fb),
          c = hu_matrix_of(c_values, n, hu_type_values(HU_TYPE_VALUES32, fc));
  if (turn >> 1 & 1) b = hu_transposed(b);
  hu_output result = hu_matrix_codes_out(d_codes, n, fd);
  exec.levels_off = bits_off;
  exec.stream.key = bits_next();
  if (hu_gemm(m, n, k, &result, &a, &b, turn & 1 ? &c : NULL, accum, &(hu_how){mode, &exec, &events}) != HU_OK)
    return 0;
  *h = bits_digest(bits_digest(*h, d_codes, m * n * (hu_limits_of(fd).storage / 8u)), &events, sizeof events);
  return 1;
}

static int model(const char *text, const char *a, const char *b, const char *d, int at, uint32_t binades) {
  hu_accum accum;
  hu_format fa, fb, fd;
  uint64_t h = BITS_START;
  if (!bits_chosen()) return 1;
  if (hu_accum_parse(&accum, text, NULL) != HU_OK || hu_format_find(&fa, a) != HU_OK) return 0;
  if (hu_format_find(&fb, b) != HU_OK || hu_format_find(&fd, d) != HU_OK) return 0;
  if (!draw_operands(fa, fb, hu_bfloat16(), at, binades)) return 0;
  for (int turn = 0; turn < 4; turn++) {
    if (!product_of(&h, &accum, fa, fb, hu_bfloat16(), fd, M, N, K, turn)) return 0;
  }
  char name[256];
  snprintf(name, sizeof name, "%s of %s and %s, %u binades about 2^%d", text, a, b, (unsigned)binades, at);
  bits_print("product", name, h);
  return 1;
}

static int sums(void) {
  static const struct {
    const char *text, *a, *b, *d;
    uint32_t binades;
    int at;
  } rows[] = {{"fp32", "binary32", "binary32", "binary32", 12, 0},
              {"fp32", "float8_e4m3fn", "bfloat16", "bfloat16", 8, 0},
              {"exact", "float8_e4m3fn", "float8_e4m3fn", "binary32", 6, 0}, /* binary64 does not round */
              {"exact", "bfloat16", "bfloat16", "binary32", 40, 0},          /* wide sums */
              {"exact", "binary32", "binary32", "bfloat16", 60, 0},          /* brackets */
              {"seq(binary16)", "float8_e4m3fn", "float8_e4m3fn", "binary16", 6, 0},
              {"seq(binary16)", "binary16", "binary16", "binary16", 6, 0},
              {"seq(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 6, 0},
              {"seq(bfloat16)", "float8_e5m2", "float8_e4m3fn", "bfloat16", 10, 0},
              {"seq(bfloat16)", "float8_e5m2", "float8_e5m2", "bfloat16", 24, 0},
              {"seq(fp(6,9,0))", "float8_e5m2", "float8_e5m2", "binary16", 20, 0},
              {"seq(fp(6,9,0))", "binary16", "float8_e5m2", "binary16", 8, 0},
              {"seq(fp(5,8,0))", "bfloat16", "float8_e4m3fn", "binary16", 4, 0},
              {"kahan(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 4, 0},
              {"kahan(binary16)", "float8_e4m3fn", "binary16", "binary16", 20, 0},
              {"neumaier(binary16)", "float8_e4m3fn", "float8_e4m3fn", "binary16", 6, 0},
              {"neumaier(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 30, 0},
              {"seq2(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 6, 0},
              {"seq2(binary16,fp(6,9,0))", "binary16", "binary16", "binary16", 20, 0},
              {"chunk(32,fp(6,9,0),fp(6,9,0))", "float8_e5m2", "float8_e5m2", "binary16", 8, 0},
              {"promote(32,seq(binary16),binary32)", "float8_e4m3fn", "float8_e4m3fn", "binary32", 6, 0},
              {"splitk(3,seq(bfloat16))", "bfloat16", "bfloat16", "bfloat16", 6, 0},
              /* sums about the least normal number */
              {"seq(binary16)", "binary16", "binary16", "binary16", 6, -8},
              {"seq(binary16)", "float8_e5m2", "binary16", "binary16", 4, -9},
              {"seq(fp(5,8,0))", "bfloat16", "bfloat16", "binary16", 6, -8},
              {"kahan(binary16)", "binary16", "binary16", "binary16", 6, -8},
              {"neumaier(fp(5,8,0))", "binary16", "binary16", "binary16", 6, -8},
              {"seq2(binary16)", "binary16", "float8_e5m2", "binary16", 6, -8}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!model(rows[i].text, rows[i].a, rows[i].b, rows[i].d, rows[i].at, rows[i].binades)) return 0;
  }
  return 1;
}

/* Steps that round otherwise than to nearest even. */
static int modes(void) {
  static const char *const rounds[] = {"rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto", "sra:9", "srb:9", "src:9"};
  char text[64];
  for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
    snprintf(text, sizeof text, "seq(bfloat16,%s)", rounds[i]);
    if (!model(text, "float8_e4m3fn", "bfloat16", "bfloat16", 0, 8)) return 0;
    snprintf(text, sizeof text, "seq2(binary16,fp(6,9,0),%s)", rounds[i]);
    if (!model(text, "float8_e5m2", "binary16", "binary16", 0, 8)) return 0;
    snprintf(text, sizeof text, "seq(binary16,%s)", rounds[i]);
    if (!model(text, "binary16", "float8_e5m2", "binary16", -8, 6)) return 0;
  }
  return 1;
}

/* ---- matrix units ---- */

static int scaled_unit(uint64_t *h, const hu_accum_preset *preset, size_t m, size_t n, size_t k) {
  hu_mode mode = {0};
  hu_exec exec = {0};
  hu_events events = {0};
  size_t every = preset->accum.scaled ? preset->accum.promote : preset->accum.block.every,
         runs = (k + every - 1) / every;
  hu_format format = preset->accum.scaled ? hu_binary32() : preset->accum.block.scale;
  for (int t = 0; t < 2; t++) {
    for (size_t i = 0; i < runs * (t ? n : m); i++) scales[t][i] = (float)(1 << bits_next() % 5);
    hu_status status = hu_encode_n(runs * (t ? n : m), scale_codes[t], 1, scales[t], 1, format, mode, NULL, NULL);
    if (status != HU_OK) return 0;
  }
  hu_view a = hu_matrix_codes(codes_a, k, preset->a.format), b = hu_matrix_codes(codes_b, n, preset->b.format);
  hu_view sa = hu_matrix_codes(scale_codes[0], runs, format), sb = hu_matrix_codes(scale_codes[1], n, format);
  hu_output result = hu_matrix_codes_out(d_codes, n, preset->c.format);
  exec.levels_off = bits_off;
  if (hu_multiply(
          &(hu_product){
              .m = m, .n = n, .k = k, .d = result, .a = a, .b = b, .sa = sa, .sb = sb, .accum = &preset->accum},
          &(hu_how){mode, &exec, &events}) != HU_OK)
    return 0;
  *h = bits_digest(bits_digest(*h, d_codes, m * n * (hu_limits_of(preset->c.format).storage / 8u)), &events,
                   sizeof events);
  return 1;
}

static int units(void) {
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    if (!bits_chosen()) continue;
    hu_accum_preset preset;
    uint64_t h = BITS_START;
    if (hu_accum_preset_at(&preset, i) != HU_OK) return 0;
    if (preset.a.kind != HU_TYPE_CODES || preset.b.kind != HU_TYPE_CODES || preset.c.kind != HU_TYPE_CODES) continue;
    if (!draw_operands(preset.a.format, preset.b.format, preset.c.format, i & 1 ? -7 : 0, 3 + (uint32_t)i % 9))
      return 0;
    if (hu_accum_is_scaled(&preset.accum)) {
      if (!scaled_unit(&h, &preset, 11, 19, 128)) return 0;
    } else {
      for (int turn = 0; turn < 2; turn++) {
        if (!product_of(&h, &preset.accum, preset.a.format, preset.b.format, preset.c.format, preset.c.format, 11, 19,
                        128, turn))
          return 0;
      }
    }
    bits_print("unit", preset.name, h);
  }
  return 1;
}

int bits_products(void) { return sums() && modes() && units(); }
