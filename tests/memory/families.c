/* SPDX-License-Identifier: MIT */
/* One case and more of every family of calls, with ragged sizes, over a stack that was filled beforehand: with zeros,
 * with NaN patterns, with rubbish; and with kernel levels taken away, which have scratch memory of their own. What a
 * call leaves in its outputs must not depend on it. A build in which the compiler fills every automatic variable
 * (clang -ftrivial-auto-var-init=pattern: with NaN) sees further: what lies within one call.
 *
 *   families         each fill and level in turn, one digest for all
 *   families once    all levels, and nothing is filled: for a memory checker, which looks for itself */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"
#include "tests/support/levels.h"
#include "tests/support/random.h"

enum { M = 9, N = 11, DEPTH = 150, COUNT = 333 };

static uint64_t digest;
static unsigned calls;
static int fill_byte, no_fill;

/* More than any call's own stack (512 KiB, docs/embedding.md). A memory checker takes what is below the stack as not
 * written by itself. */
__attribute__((noinline)) static void fill_stack(void) {
  volatile uint64_t buffer[75 << 10];
  const uint64_t word = 0x0101010101010101u * (unsigned)fill_byte;
  for (size_t i = 0; i < sizeof buffer / sizeof buffer[0] && !no_fill; i++) buffer[i] = word;
}

static void add(const void *data, size_t bytes) {
  const unsigned char *p = data;
  for (size_t i = 0; i < bytes; i++) digest = (digest ^ p[i]) * 0x100000001B3u;
}

static void done(hu_status status) {
  if (status != HU_OK) {
    printf("call %u: %s\n", calls, hu_status_name(status));
    exit(1);
  }
  calls++;
}
#define CALL(expression) \
  do {                   \
    fill_stack();        \
    done(expression);    \
  } while (0)

static hu_format format(const char *text) {
  hu_format format;
  done(hu_format_parse(&format, text, NULL));
  return format;
}

static hu_mode mode_at(unsigned round) {
  hu_mode m = {0};
  m.round = (uint8_t)round;
  m.bits = round >= HU_SRA ? 13 : 0;
  return m;
}

/* Ordinary numbers, some specials. */
static void draw(float *x, size_t n, uint64_t seed) {
  static const uint32_t special[] = {0, 0x80000000u, 0x7F800000u, 0x7FC00000u, 1};
  t_random random = {seed};
  for (size_t i = 0; i < n; i++) {
    uint32_t u = (t_next32(&random) & 0x807FFFFFu) | (118 + t_below(&random, 14)) << 23;
    if (t_below(&random, 40) == 0) u = special[t_below(&random, 5)];
    memcpy(x + i, &u, sizeof u);
  }
}

static hu_exec exec = {1, 0, {0x1234567, 89}, {0}};

static void arrays(void) {
  static const char *const names[] = {"float8_e4m3fn", "fp(6,9,0):flush", "bfloat16", "ue4m3", "dlfloat16"};
  static float x[COUNT], z[COUNT];
  static double z64[COUNT], x64[COUNT];
  static uint32_t codes[COUNT];
  draw(x, COUNT, 1);
  for (int i = 0; i < COUNT; i++) x64[i] = (double)x[i] * (1 + 0x1p-40);
  for (size_t f = 0; f < sizeof names / sizeof names[0]; f++) {
    for (unsigned round = 0; round < HU_ROUND_COUNT; round++) {
      hu_format fz = format(names[f]);
      hu_events events = {0};
      CALL(hu_quantize_n(COUNT, z, 1, x, 1, fz, mode_at(round), &exec, &events));
      add(z, sizeof z);
      CALL(hu_quantize_n(COUNT / 3, z, 3, x + COUNT - 1, -1, fz, mode_at(round), &exec, &events));
      add(z, sizeof z);
      CALL(hu_quantize64_n(COUNT, z64, 1, x64, 1, fz, mode_at(round), &exec, &events));
      add(z64, sizeof z64);
      memset(codes, 0, sizeof codes);
      CALL(hu_encode_n(COUNT, codes, 1, x, 1, fz, mode_at(round), &exec, &events));
      add(codes, sizeof codes);
      CALL(hu_decode_n(COUNT, z, 1, codes, 1, fz, &exec));
      add(z, sizeof z);
      CALL(hu_add_n(COUNT, codes, 1, fz, x, 1, format("binary32"), x, 0, format("binary32"), mode_at(round), &exec,
                    &events));
      CALL(hu_fma_n(COUNT, codes, 1, fz, x, 1, format("binary32"), x + COUNT - 1, -1, format("binary32"), x, 1,
                    format("binary32"), mode_at(round), &exec, &events));
      hu_view view = hu_codes(x, 1, format("binary32"));
      hu_how how = hu_how_of(mode_at(round), &exec, &events);
      hu_output to = hu_codes_out(codes, 1, fz);
      CALL(hu_apply(HU_OP_EXP, COUNT / 4, &to, &view, &how));
      add(codes, sizeof codes);
      add(&events, sizeof events);
    }
  }
}

/* A preset of a scaled tensor, on x as a matrix of four rows. */
static void scaled_conversion(const hu_conversion *c, const float *x) {
  static float z[COUNT];
  static uint32_t codes[COUNT], scales[COUNT];
  const size_t cols = COUNT / 4;
  float tensor = 0;
  hu_scaled out = {codes, cols, scales, cols, &tensor};
  hu_events events = {0};
  memset(codes, 0, sizeof codes);
  memset(scales, 0, sizeof scales);
  CALL(hu_conversion_scaled_encode(4, cols, &out, x, cols, c, NULL, NULL, &exec, &events));
  CALL(hu_conversion_scaled_quantize(4, cols, z, cols, x, cols, c, NULL, NULL, &exec, &events));
  add(codes, sizeof codes);
  add(scales, sizeof scales);
  add(&tensor, sizeof tensor);
  add(z, sizeof z);
  add(&events, sizeof events);
}

static void conversions(void) {
  static float x[COUNT], z[COUNT];
  static uint32_t codes[COUNT];
  draw(x, COUNT, 2);
  for (size_t i = 0; i < hu_conversion_count(); i++) {
    hu_conversion c;
    hu_events events = {0};
    done(hu_conversion_find(&c, hu_conversion_at(i).name));
    if (*c.scaling) {
      scaled_conversion(&c, x);
      continue;
    }
    memset(codes, 0, sizeof codes);
    CALL(hu_conversion_encode_n(COUNT, codes, 1, x, 1, &c, &exec, &events));
    add(codes, sizeof codes);
    if (hu_format_fits_binary32(c.format)) CALL(hu_conversion_quantize_n(COUNT, z, 1, x, 1, &c, &exec, &events));
    add(z, sizeof z);
    add(&events, sizeof events);
  }
}

/* Expressions under every rule. */
static void paths(void) {
  static float values[3][COUNT];
  static uint16_t x[3][COUNT], z[COUNT];
  hu_path path;
  hu_view views[3];
  hu_format bfloat16 = format("bfloat16");
  hu_output to = hu_codes_out(z, 1, bfloat16);
  done(hu_path_parse(&path, "bf16: relu(x * w + 0.5) - abs(b) * x", NULL, NULL));
  for (unsigned k = 0; k < 3; k++) {
    draw(values[k], COUNT, 30 + k);
    CALL(hu_encode_n(COUNT, x[k], 1, values[k], 1, bfloat16, mode_at(HU_RNE), NULL, NULL));
    views[k] = hu_codes(x[k], 1, bfloat16);
  }
  for (size_t i = 0; i < hu_path_rule_count(); i++) {
    hu_path_rule rule;
    done(hu_path_rule_parse(&rule, hu_path_rule_at(i).name, NULL));
    CALL(hu_path_apply(COUNT, &to, views, &path, &rule, &exec));
    add(z, sizeof z);
  }
}

static void numbers(void) {
  static const char *const names[] = {"posit8", "posit32", "lns8", "nf4", "q15", "af4"};
  static float x[COUNT], z[COUNT], buffer[HU_TABLE_MAX];
  static uint32_t codes[COUNT];
  draw(x, COUNT, 3);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    hu_number n;
    hu_events events = {0};
    done(hu_number_parse(&n, names[i], buffer, NULL));
    CALL(hu_number_quantize_n(COUNT, z, 1, x, 1, n, mode_at((unsigned)i), &exec, &events));
    memset(codes, 0, sizeof codes);
    CALL(hu_number_encode_n(COUNT, codes, 1, x, 1, n, mode_at(HU_SRA), &exec, &events));
    add(z, sizeof z);
    add(codes, sizeof codes);
    add(&events, sizeof events);
  }
}

/* ---- products ---- */

static uint8_t codes_a[M * DEPTH * 4], codes_b[DEPTH * N * 4], scales[2][M * N * DEPTH * 4];
static float c_values[M * N], d_values[M * N];

static void encode_operands(hu_format fa, hu_format fb, uint64_t seed) {
  static float x[M * DEPTH + N * DEPTH];
  draw(x, sizeof x / sizeof x[0], seed);
  done(hu_encode_n(M * DEPTH, codes_a, 1, x, 1, fa, mode_at(HU_RNE), NULL, NULL));
  done(hu_encode_n(N * DEPTH, codes_b, 1, x + M * DEPTH, 1, fb, mode_at(HU_RNE), NULL, NULL));
}

/* Small powers of two, by turns. */
static void draw_scales(hu_format format, size_t s) {
  float x[M > N ? M * DEPTH : N * DEPTH];
  for (size_t t = 0; t < 2; t++) {
    for (size_t i = 0; i < (t ? N : M) * s; i++) x[i] = (float)(1 << (i * 7 + t) % 5);
    done(hu_encode_n((t ? N : M) * s, scales[t], 1, x, 1, format, mode_at(HU_RNE), NULL, NULL));
  }
}

static size_t scales_of(const hu_accum *x, size_t k) {
  size_t every = x->scaled ? x->promote : x->block.every;
  return every ? (k + every - 1) / every : 0;
}

/* One model, some depths, A and B lying both ways, C or none. */
static void multiply(const hu_accum *x, hu_format fa, hu_format fb, hu_format fc) {
  static const size_t depths[] = {1, 31, 77, 64, DEPTH, 128};
  encode_operands(fa, fb, x->kind + 17);
  done(hu_quantize_n(M * N, c_values, 1, (const float[]){0.5f}, 0, fc, mode_at(HU_RNE), NULL, NULL));
  hu_format scale = x->scaled ? format("binary32") : x->block.scale;
  for (size_t i = 0; i < 6; i++) {
    size_t k = depths[i], s = scales_of(x, k);
    hu_events events = {0};
    hu_watch watch = {0};
    hu_how how = {mode_at(s ? HU_RNE : HU_SRB), &exec, &events};
    hu_product product = {.m = M, .n = N, .k = k, .accum = x};
    hu_view c = hu_matrix_of(c_values, N, hu_type_values(HU_TYPE_VALUES32, fc));
    product.a = hu_matrix_codes(codes_a, i & 1 ? M : k, fa);
    product.b = hu_matrix_codes(codes_b, i & 2 ? k : N, fb);
    if (i & 1) product.a = hu_transposed(product.a);
    if (i & 2) product.b = hu_transposed(product.b);
    if (i & 1) product.c = c;
    product.d = hu_matrix_floats_out(d_values, N);
    if (s) {
      draw_scales(scale, s);
      product.sa = hu_matrix_codes(scales[0], s, scale);
      product.sb = hu_matrix_codes(scales[1], N, scale);
    }
    CALL(hu_multiply(&product, &how));
    add(d_values, sizeof d_values);
    if (i == 1) {
      product.m = 2;
      product.n = 3;
      product.c = c;
      product.watch = &watch;
      how.mode = mode_at(HU_RNE);
      CALL(hu_multiply(&product, &how));
    }
    add(d_values, sizeof d_values);
    add(&events, sizeof events);
    add(&watch, sizeof watch);
  }
}

static void products(void) {
  static const char *const models[] = {
      "exact", "fp32", "seq(binary16)", "seq2(bfloat16,rtz)", "seq(bfloat16,sra:8)", "chunk(16,fp(5,2,0),fp(6,9,0))",
      "pairwise(binary32)", "strided(binary16)", "kahan(bfloat16)", "neumaier(binary16)", "splitk(3,fp32)",
      "promote(40,any(nv.ampere.f16.f32),bfloat16)", "promote(20,seq(binary16),binary32,scaled)",
      /* whole vectors of scales where the last block is not whole */
      "block(align,l=24,f=13,emin=-133,every=8,scale=float8_e8m0fnu)",
      "block(groups,l=48,f=30,emin=-139,g=8,every=8,scale=ue4m3)"};
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
    hu_accum x;
    done(hu_accum_parse(&x, models[i], NULL));
    if (x.kind == HU_ACCUM_BLOCK) {
      multiply(&x, format("float4_e2m1fn"), format("float4_e2m1fn"), format("binary32"));
      continue;
    }
    multiply(&x, format("float8_e4m3fn"), format(i & 1 ? "binary16" : "float8_e5m2"), format("bfloat16"));
  }
}

/* Every matrix unit: as products where it takes codes, as dot products in every case. */
static void units(void) {
  static const uint64_t zeros[DEPTH];
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    done(hu_accum_preset_at(&preset, i));
    if (preset.a.kind == HU_TYPE_CODES && preset.c.kind == HU_TYPE_CODES) {
      multiply(&preset.accum, preset.a.format, preset.b.format, preset.accum.c.format);
    } else {
      uint64_t z = 0;
      hu_product x = hu_product_of_dot(DEPTH - 1, hu_output_of(&z, 1, preset.c), hu_view_of(zeros, 1, preset.a),
                                       hu_view_of(zeros, 1, preset.b), &preset.accum);
      hu_how how = {mode_at(HU_RNE), &exec, NULL};
      x.c = hu_view_of(zeros, 1, preset.c);
      CALL(hu_dot(&x, &how));
      add(&z, sizeof z);
    }
  }
}

/* ---- scaled tensors ---- */

static void scaled_products(const hu_scaling *scaling, hu_scaled a, hu_scaled b) {
  hu_product x = {.m = M, .n = N, .k = DEPTH};
  x.a = hu_scaled_matrix(&a, scaling);
  x.b = hu_transposed(hu_scaled_matrix(&b, scaling));
  x.d = hu_matrix_floats_out(d_values, N);
  hu_accum fp32, exact = {0};
  done(hu_accum_parse(&fp32, "fp32", NULL));
  for (int way = 0; way < 3; way++) {
    hu_scaled_sum sum = way == 0   ? hu_scaled_sum_parts(fp32, fp32, HU_SCALED_FACTOR_ROUNDED)
                        : way == 1 ? hu_scaled_sum_parts(exact, exact, HU_SCALED_FACTOR_EXACT)
                                   : hu_scaled_sum_decoded(fp32);
    hu_events events = {0};
    hu_how how = {mode_at(HU_RNE), &exec, &events};
    x.sum = &sum;
    x.bytes = hu_multiply_space(&x, &exec);
    if (x.bytes == SIZE_MAX) continue; /* sums too wide to be exact */
    x.space = aligned_alloc(64, x.bytes / 64 * 64 + 64);
    if (!x.space) exit(1);
    if (!no_fill) memset(x.space, fill_byte, x.bytes);
    CALL(hu_multiply(&x, &how));
    free(x.space);
    add(d_values, sizeof d_values);
    add(&events, sizeof events);
  }
}

static void scaled(void) {
  static float x[M * DEPTH + N * DEPTH], w[N * DEPTH];
  static float ta = 0.75f, tb = 1.5f;
  draw(x, sizeof x / sizeof x[0], 5);
  for (size_t i = 0; i < hu_scaling_count(); i++) {
    hu_scaling scaling;
    hu_events events = {0};
    done(hu_scaling_parse(&scaling, hu_scaling_at(i).text, NULL));
    hu_scaled_sizes za = hu_scaled_sizes_of(M, DEPTH, &scaling), zb = hu_scaled_sizes_of(N, DEPTH, &scaling);
    hu_scaled a = {codes_a, DEPTH, scales[0], za.block_cols, scaling.tensor ? &ta : NULL};
    hu_scaled b = {codes_b, DEPTH, scales[1], zb.block_cols, scaling.tensor ? &tb : NULL};
    memset(codes_a, 0, sizeof codes_a);
    memset(codes_b, 0, sizeof codes_b);
    CALL(hu_scaled_encode(M, DEPTH, &a, x, DEPTH, &scaling, mode_at(HU_RNE), NULL, NULL, &exec, &events));
    CALL(hu_scaled_encode(N, DEPTH, &b, x + M * DEPTH, DEPTH, &scaling, mode_at(HU_SRA), NULL, NULL, &exec, &events));
    CALL(hu_scaled_decode(N, DEPTH, w, DEPTH, &b, &scaling, &exec));
    add(w, sizeof w);
    CALL(hu_scaled_quantize(M, DEPTH, w, DEPTH, x, DEPTH, &scaling, mode_at(HU_RTZ), NULL, NULL, &exec, &events));
    add(w, sizeof w);
    add(codes_a, sizeof codes_a);
    add(&events, sizeof events);
    scaled_products(&scaling, a, b);
  }
}

static void others(void) {
  static float x[M * 128], z[M * 128];
  static uint8_t codes[M * 128];
  draw(x, M * 128, 6);
  hu_s2fp8 kind = hu_s2fp8_of(format("float8_e5m2"));
  hu_s2fp8_sums sums;
  hu_s2fp8_scale scale;
  hu_events events = {0};
  for (unsigned round = 0; round < HU_ROUND_COUNT; round += 3) {
    CALL(hu_s2fp8_truncate_n(COUNT, z, 1, x, 1, &kind, mode_at(round), &sums, &scale, &exec, &events));
    add(z, COUNT * sizeof z[0]);
    CALL(hu_s2fp8_encode_n(COUNT, codes, 1, x, 1, &kind, &scale, mode_at(round), &exec, &events));
    add(codes, sizeof codes);
  }
  hu_scaled tensor = {codes, 30, &scale, 0, NULL};
  hu_accum fp32 = {.kind = HU_ACCUM_FP32};
  hu_how how = {.exec = &exec};
  hu_view a = hu_s2fp8_matrix(&tensor, &kind), b = hu_transposed(a);
  hu_output d = hu_matrix_floats_out(d_values, N);
  CALL(hu_gemm(M, N, 30, &d, &a, &b, NULL, &fp32, &how));
  add(d_values, sizeof d_values);
  for (uint32_t n = 16; n <= 128; n *= 2) {
    hu_hadamard transform = {n, HU_HADAMARD_ALONG_ROWS, 1, HU_HADAMARD_SIGNS_STREAM, 1, NULL};
    CALL(hu_hadamard_forward(M, 128, z, 128, x, 128, &transform, &exec));
    add(z, sizeof z);
  }
}

static void hifloat4(void) {
  static float x[M * DEPTH], z[M * DEPTH];
  static uint8_t codes[M * DEPTH], bytes[M * HU_HIF4_SCALE * 3];
  hu_scaled place = {codes, DEPTH, bytes, 3, NULL};
  hu_events events = {0};
  draw(x, M * DEPTH, 7);
  for (size_t i = 0; i < hu_hif4_count(); i++) {
    hu_hif4 kind;
    CALL(hu_hif4_parse(&kind, hu_hif4_at(i).name, NULL));
    CALL(hu_hif4_encode(M, DEPTH, &place, x, DEPTH, &kind, &events));
    add(codes, sizeof codes);
    add(bytes, sizeof bytes);
    CALL(hu_hif4_decode(M, DEPTH, z, DEPTH, &place));
    add(z, sizeof z);
    CALL(hu_hif4_quantize(M, DEPTH, z, DEPTH, x, DEPTH, &kind, &events));
    add(z, sizeof z);
    add(&events, sizeof events);
  }
}

static uint64_t all(int fill, uint32_t levels_off) {
  fill_byte = fill;
  exec.levels_off = levels_off;
  digest = 0xCBF29CE484222325u;
  calls = 0;
  memset(d_values, 0, sizeof d_values);
  arrays();
  conversions();
  paths();
  numbers();
  products();
  units();
  scaled();
  hifloat4();
  others();
  return digest;
}

int main(int argc, char **argv) {
  static const int fills[] = {0xFF, 0x7F, 0xFF, 0xA5};
  (void)argv;
  no_fill = argc > 1;
  uint64_t first = all(0, 0);
  printf("%016" PRIx64 " from %u calls\n", first, calls);
  for (size_t i = 0; argc < 2 && i < t_levels(); i++) {
    uint64_t other = all(fills[i % 4], t_levels_off(i));
    if (other == first) continue;
    printf("%016" PRIx64 " with the stack filled with %02x, without levels %x\n", other, (unsigned)fills[i % 4],
           (unsigned)t_levels_off(i));
    return 1;
  }
  return 0;
}
