/* SPDX-License-Identifier: MIT */
/* Every part of the library called on random operands, one line "part digest" each: what the library and the two files
 * made from it must agree on. HU_USE_ONE_FILE: with halfulp.h of the two files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(HU_USE_ONE_FILE)
#include "halfulp.h"
#else
#include <halfulp/halfulp.h>
#endif

#include "tests/support/random.h"

enum { N = 1500, M = 37, K = 128 };

static uint64_t digest;
static int done, refused;

static void add(const void *data, size_t bytes) {
  const unsigned char *p = data;
  for (size_t i = 0; i < bytes; i++) digest = (digest ^ p[i]) * 0x100000001B3u;
}

static void add_status(hu_status status) {
  int32_t word = (int32_t)status;
  *(status == HU_OK ? &done : &refused) += 1;
  add(&word, sizeof word);
}

static void print(const char *part) {
  printf("%s %016" PRIx64 "\n", part, digest);
  digest = 0xCBF29CE484222325u;
}

/* Patterns of every kind: any bits, near 1, small integers, specials. */
static void fill(float *x, size_t n, uint64_t seed) {
  static const uint32_t special[] = {0,           0x80000000u, 0x7F800000u, 0xFF800000u,
                                     0x7FC00000u, 1,           0x007FFFFFu, 0x7F7FFFFFu};
  t_random random = {seed};
  for (size_t i = 0; i < n; i++) {
    uint32_t u = t_next32(&random), kind = t_below(&random, 16);
    if (kind > 1) u = (u & 0x807FFFFFu) | (117 + t_below(&random, 18)) << 23;
    if (kind == 1) u = special[t_below(&random, 8)];
    memcpy(x + i, &u, sizeof u);
  }
}

/* The same without specials, for matrices. */
static void fill_finite(float *x, size_t n, uint64_t seed) {
  t_random random = {seed};
  for (size_t i = 0; i < n; i++) {
    uint32_t u = (t_next32(&random) & 0x807FFFFFu) | (120 + t_below(&random, 12)) << 23;
    memcpy(x + i, &u, sizeof u);
  }
}

static hu_mode mode_at(int round) {
  hu_mode m = {0};
  m.round = (uint8_t)round;
  if (round >= HU_SRA) m.bits = (uint8_t)(3 + 9 * (round - HU_SRA));
  return m;
}

static const hu_exec exec = {3, 0, {0x123456789ABCDEFu, 11}, {0}};

static void arrays(void) {
  static const char *const names[] = {"float8_e4m3fn", "float8_e5m2",     "float4_e2m1fn", "fp(4,3,4)", "bfloat16",
                                      "binary16",      "fp(6,9,0):flush", "binary8p4se",   "dlfloat16", "uint8"};
  static float x[N], z[N];
  static double x64[N], z64[N];
  static uint32_t codes[N];
  fill(x, N, 1);
  for (int i = 0; i < N; i++) x64[i] = (double)x[i] * (1 + 0x1p-40);
  for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
    hu_format format;
    add_status(hu_format_parse(&format, names[f], NULL));
    for (int round = 0; round < HU_ROUND_COUNT; round++) {
      hu_events events = {0};
      hu_mode m = mode_at(round);
      add_status(hu_quantize_n(N, z, 1, x, 1, format, m, &exec, &events));
      add(z, sizeof z);
      add_status(hu_quantize_n(N / 3, z, 2, x + 1, 3, format, m, NULL, &events));
      add(z, sizeof z);
      add_status(hu_quantize64_n(N, z64, 1, x64, 1, format, m, &exec, &events));
      add(z64, sizeof z64);
      add_status(hu_encode_n(N, codes, 1, x, 1, format, m, &exec, &events));
      add(codes, sizeof codes);
      add_status(hu_decode_n(N, z, 1, codes, 1, format, NULL));
      add(z, sizeof z);
      add_status(hu_convert_n(N, codes, 1, format, x, 1, hu_binary32(), m, &exec, &events));
      add(codes, sizeof codes);
      add(&events, sizeof events);
    }
  }
  print("arrays");
}

static void arithmetic(void) {
  static uint32_t z[N];
  static float a[N], b[N], c[N];
  hu_format format = hu_binary32(), fz[3] = {hu_float8_e5m2(), hu_bfloat16(), hu_binary32()};
  fill(a, N, 2);
  fill(b, N, 3);
  fill(c, N, 4);
  for (int k = 0; k < 3; k++) {
    for (int round = 0; round < HU_ROUND_COUNT; round++) {
      hu_events events = {0};
      hu_mode m = mode_at(round);
      add_status(hu_add_n(N, z, 1, fz[k], a, 1, format, b, 1, format, m, &exec, &events));
      add(z, sizeof z);
      add_status(hu_mul_n(N, z, 1, fz[k], a, 1, format, b, 1, format, m, &exec, &events));
      add(z, sizeof z);
      add_status(hu_div_n(N, z, 1, fz[k], a, 1, format, b, 1, format, m, &exec, &events));
      add(z, sizeof z);
      add_status(hu_sqrt_n(N, z, 1, fz[k], a, 1, format, m, &exec, &events));
      add(z, sizeof z);
      add_status(hu_fma_n(N, z, 1, fz[k], a, 1, format, b, 1, format, c, 1, format, m, &exec, &events));
      add(z, sizeof z);
      add(&events, sizeof events);
    }
  }
  print("arithmetic");
}

static void functions(void) {
  static uint32_t z[N];
  static float x[N];
  hu_format format = hu_binary32(), fz[2] = {hu_binary16(), hu_binary32()};
  fill(x, N, 5);
  for (int op = HU_OP_FUNCTION; op < HU_OP_POW; op++) {
    for (int k = 0; k < 4; k++) {
      hu_events events = {0};
      size_t n = k < 2 ? N : N / 8;
      hu_view view = hu_codes(x, 1, format);
      hu_how how = hu_how_of(mode_at(k < 2 ? HU_RNE : HU_SRA), &exec, &events);
      hu_output to = hu_codes_out(z, 1, fz[k & 1]);
      add_status(hu_apply(op, n, &to, &view, &how));
      add(z, sizeof z);
      add(&events, sizeof events);
    }
  }
  print("functions");
}

static void numbers(void) {
  static const char *const names[] = {"posit8",  "posit16", "lns8", "lns16", "nf4",
                                      "fp4_bnb", "af4",     "int8", "q15",   "posit32"};
  static float x[N], z[N], buffer[HU_TABLE_MAX];
  static uint32_t codes[N];
  fill(x, N, 6);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    hu_number number;
    add_status(hu_number_parse(&number, names[k], buffer, NULL));
    for (int round = 0; round < HU_ROUND_COUNT; round++) {
      hu_events events = {0};
      add_status(hu_number_quantize_n(N, z, 1, x, 1, number, mode_at(round), &exec, &events));
      add(z, sizeof z);
      add_status(hu_number_encode_n(N, codes, 1, x, 1, number, mode_at(round), &exec, &events));
      add(codes, sizeof codes);
      add(&events, sizeof events);
    }
  }
  print("numbers");
}

static void products(void) {
  static const char *const models[] = {"exact",
                                       "fp32",
                                       "fp64",
                                       "seq(binary16)",
                                       "seq2(bfloat16,rtz)",
                                       "seq(bfloat16,sra:8)",
                                       "chunk(64,fp(5,2,0),fp(6,9,0))",
                                       "pairwise(binary32)",
                                       "strided(binary16)",
                                       "kahan(bfloat16)",
                                       "neumaier(binary16)",
                                       "any(nv.ampere.f16.f32)",
                                       "promote(64,nv.hopper.e4m3.f32.wgmma,binary32)",
                                       "splitk(3,fp32)"};
  static float x[M * K], y[K * M], a[M * K], b[K * M], z[M * M];
  hu_mode rne = {0};
  hu_format format = hu_float8_e4m3fn();
  fill_finite(x, M * K, 7);
  fill_finite(y, K * M, 8);
  add_status(hu_quantize_n(M * K, a, 1, x, 1, format, rne, NULL, NULL));
  add_status(hu_quantize_n(K * M, b, 1, y, 1, format, rne, NULL, NULL));
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    hu_accum accum;
    hu_events events = {0};
    add_status(hu_accum_parse(&accum, models[i], NULL));
    hu_view oa = hu_matrix_of(a, K, hu_type_values(HU_TYPE_VALUES32, format)),
            ob = hu_transposed(hu_matrix_of(b, K, hu_type_values(HU_TYPE_VALUES32, format)));
    for (int out = 0; out < 2; out++) {
      hu_output result = hu_matrix_out_of(z, M, hu_type_values(HU_TYPE_VALUES32, out ? hu_binary32() : hu_bfloat16()));
      add_status(hu_gemm(M, M, K, &result, &oa, &ob, NULL, &accum, &(hu_how){rne, &exec, &events}));
      add(z, sizeof z);
    }
    add(&events, sizeof events);
  }
  print("products");
}

static void scaled(void) {
  static float x[M * K], z[M * M], w[M * K];
  static uint8_t ca[M * K * 4], cb[M * K * 4], sa[M * K * 4], sb[M * K * 4];
  static float ta, tb;
  fill_finite(x, M * K, 9);
  for (size_t i = 0; i < hu_scaling_count(); i++) {
    hu_scaling scaling;
    hu_accum fp32;
    hu_mode m = mode_at(i & 1 ? HU_SRA : HU_RNE), rne = {0};
    hu_events events = {0};
    add_status(hu_scaling_parse(&scaling, hu_scaling_at(i).text, NULL));
    add_status(hu_accum_parse(&fp32, "fp32", NULL));
    hu_scaled_sizes sizes = hu_scaled_sizes_of(M, K, &scaling);
    hu_scaled a = {ca, K, sa, sizes.block_cols, scaling.tensor ? &ta : NULL};
    hu_scaled b = {cb, K, sb, sizes.block_cols, scaling.tensor ? &tb : NULL};
    add_status(hu_scaled_encode(M, K, &a, x, K, &scaling, m, NULL, NULL, &exec, &events));
    add_status(hu_scaled_encode(M, K, &b, x, K, &scaling, rne, NULL, NULL, NULL, &events));
    add_status(hu_scaled_quantize(M, K, w, K, x, K, &scaling, m, NULL, NULL, &exec, &events));
    add(ca, sizeof ca);
    add(sa, sizeof sa);
    add(w, sizeof w);
    hu_product product = {.m = M, .n = M, .k = K};
    product.a = hu_scaled_matrix(&a, &scaling);
    product.b = hu_transposed(hu_scaled_matrix(&b, &scaling));
    product.d = hu_matrix_floats_out(z, M);
    for (int way = 0; way < 2; way++) {
      hu_scaled_sum sum = way ? hu_scaled_sum_decoded(fp32) : hu_scaled_sum_parts(fp32, fp32, HU_SCALED_FACTOR_ROUNDED);
      hu_how how = {rne, &exec, &events};
      product.sum = &sum;
      size_t bytes = product.bytes = hu_multiply_space(&product, &exec);
      product.space = bytes != SIZE_MAX && bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
      add_status(hu_multiply(&product, &how));
      free(product.space);
      add(z, sizeof z);
    }
    add(&events, sizeof events);
  }
  print("scaled");
}

static void squeezed(void) {
  static float x[N], z[N], product[M * M];
  static uint8_t codes[M * K];
  fill_finite(x, N, 10);
  hu_s2fp8 kind = hu_s2fp8_of(hu_float8_e5m2());
  for (int round = 0; round < HU_ROUND_COUNT; round++) {
    hu_s2fp8_sums sums;
    hu_s2fp8_scale scale;
    hu_events events = {0};
    add_status(hu_s2fp8_truncate_n(N, z, 1, x, 1, &kind, mode_at(round), &sums, &scale, &exec, &events));
    add(z, sizeof z);
    add(&scale.mu, sizeof scale.mu);
    add(&events, sizeof events);
    add_status(hu_s2fp8_encode_n(N, codes, 1, x, 1, &kind, &scale, mode_at(round), &exec, &events));
    hu_scaled tensor = {codes, K, &scale, 0, NULL};
    hu_accum fp32 = {.kind = HU_ACCUM_FP32};
    hu_view a = hu_s2fp8_matrix(&tensor, &kind), b = hu_transposed(a);
    hu_output d = hu_matrix_floats_out(product, 11);
    if (round == 0) add_status(hu_gemm(11, 11, K, &d, &a, &b, NULL, &fp32, &(hu_how){.exec = &exec}));
    add(product, sizeof product);
  }
  print("squeezed");
}

static void hadamard(void) {
  static float x[M * K], z[M * K];
  fill_finite(x, M * K, 12);
  for (uint32_t n = 16; n <= 128; n *= 2) {
    for (uint8_t norm = 0; norm < 3; norm++) {
      hu_hadamard transform = {n, HU_HADAMARD_ALONG_ROWS, norm, HU_HADAMARD_SIGNS_STREAM, 1, NULL};
      add_status(hu_hadamard_forward(M, K, z, K, x, K, &transform, &exec));
      add(z, sizeof z);
      add_status(hu_hadamard_inverse(M, K, z, K, x, K, &transform, &exec));
      add(z, sizeof z);
      transform.axis = HU_HADAMARD_ALONG_COLUMNS;
      add_status(hu_hadamard_forward(K / n * n, 35, z, M, x, M, &transform, &exec));
      add(z, sizeof z);
    }
  }
  print("hadamard");
}

/* Catalogues and grammars. */
static void texts(void) {
  char text[HU_ACCUM_TEXT_MAX];
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    add(entry.id, strlen(entry.id));
    add(text, hu_format_text(text, sizeof text, entry.format));
  }
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    add_status(hu_accum_preset_at(&preset, i));
    add(text, hu_accum_text(text, sizeof text, &preset.accum));
  }
  for (size_t i = 0; i < hu_number_count(); i++) add(hu_number_at(i).name, strlen(hu_number_at(i).name));
  for (int s = -120; s <= 0; s++) add(hu_status_text((hu_status)s), strlen(hu_status_text((hu_status)s)));
  print("texts");
}

int main(void) {
  digest = 0xCBF29CE484222325u;
  arrays();
  arithmetic();
  functions();
  numbers();
  products();
  scaled();
  squeezed();
  hadamard();
  texts();
  printf("calls %d refused %d\n", done, refused);
  return 0;
}
