/* SPDX-License-Identifier: MIT */
/* Golden tensors: made by the model, which must give the digest of a file, and held against the calls.
 *
 *   test_s2fp8_golden FILE | test_s2fp8_golden --write > FILE */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/s2fp8/model.h"
#include "tests/support/support.h"

enum { NUMBERS = 24 };

static const char head[] =
    "# Tensors of tests/s2fp8/test_golden.c by its model: how many, and a digest of numbers,\n"
    "# scales, codes and values; test_s2fp8_golden --write\n";

static const char *const kinds[] = {"s2fp8 rne",
                                    "s2fp8 rtp",
                                    "s2fp8 raz",
                                    "s2fp8(float8_e5m2) rto",
                                    "s2fp8(float8_e4m3fn) rne",
                                    "s2fp8(fp(5,2,0):finite;target=14) rna",
                                    "s2fp8(float4_e2m1fn) rne",
                                    "s2fp8(binary8p4se;special=element) rtz",
                                    "s2fp8(bfloat16;target=15) rne",
                                    "s2fp8(ue4m3) rtn"};

static void stop(const char *why) {
  fprintf(stderr, "test_s2fp8_golden: %s\n", why);
  exit(1);
}

static void parse_head(const char *text, hu_s2fp8 *kind, hu_mode *mode) {
  char word[256], round[16];
  memset(mode, 0, sizeof *mode);
  if (sscanf(text, "%255s %15s", word, round) != 2 || hu_s2fp8_parse(kind, word, NULL) != HU_OK ||
      hu_mode_round_parse(mode, round) != HU_OK) {
    stop(text);
  }
}

static uint64_t mix(uint64_t digest, uint64_t x, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) digest = (digest ^ (x >> 8 * i & 255)) * UINT64_C(0x100000001B3);
  return digest;
}

/* One tensor by the model. */
typedef struct t_tensor {
  hu_s2fp8 kind;
  hu_mode mode;
  float x[NUMBERS];
  uint32_t codes[NUMBERS], values[NUMBERS];
  model_stats m;
} t_tensor;

static void make(t_tensor *tensor, t_random *random, const char *kind, unsigned what) {
  int at = t_between(random, -60, 40), width = what == 2 ? 1 : what == 1 ? 60 : 12;
  parse_head(kind, &tensor->kind, &tensor->mode);
  for (size_t i = 0; i < NUMBERS; i++) {
    uint32_t u = (uint32_t)(127 + at + (int)t_below(random, (uint32_t)width)) << 23 | (t_next32(random) & 0x807FFFFF);
    if (what == 2) u = (uint32_t)(127 + at) << 23;
    if (what == 3) u &= 0xFF800000;
    if (what == 4) u &= 0x80000FFF; /* subnormal */
    if (t_below(random, 12) == 0) u &= 0x80000000;
    if (what == 1 && i == 5) u = 0xFF800000;
    if (what == 1 && i == 6) u = 0x7FC00001;
    tensor->x[i] = t_float(u);
  }
  mpz_init(tensor->m.sum);
  model_look(&tensor->m, NUMBERS, tensor->x, (int)hu_s2fp8_target(&tensor->kind));
  mpz_clear(tensor->m.sum);
  model_map map = {tensor->kind, (int)hu_s2fp8_target(&tensor->kind), tensor->m.mu, tensor->m.m};
  for (size_t i = 0; i < NUMBERS; i++) {
    uint32_t events;
    tensor->codes[i] = model_code(&map, tensor->mode, tensor->x[i], 0, &events);
    float v = model_value(&map, tensor->codes[i]);
    tensor->values[i] = v != v ? 0x7FC00000 : t_bits32(v);
  }
}

static uint64_t mix_tensor(uint64_t digest, const t_tensor *tensor) {
  for (size_t i = 0; i < NUMBERS; i++) digest = mix(digest, t_bits32(tensor->x[i]), 4);
  digest = mix(mix(digest, (uint64_t)tensor->m.mu, 8), (uint64_t)tensor->m.m, 8);
  digest = mix(mix(digest, t_bits32(tensor->m.alpha), 4), t_bits32(tensor->m.beta), 4);
  for (size_t i = 0; i < NUMBERS; i++) digest = mix(mix(digest, tensor->codes[i], 4), tensor->values[i], 4);
  return digest;
}

static int holds(const t_tensor *tensor) {
  hu_s2fp8_sums sums = {0};
  hu_s2fp8_scale scale;
  float z[NUMBERS];
  uint32_t codes[NUMBERS];
  size_t size = hu_limits_of(tensor->kind.element).storage / 8;
  if (hu_s2fp8_sum_n(NUMBERS, tensor->x, 1, &sums, NULL) != HU_OK ||
      hu_s2fp8_scale_of(&scale, &sums, &tensor->kind, NULL) != HU_OK)
    return 0;
  if (scale.mu != tensor->m.mu || scale.m != tensor->m.m || t_bits32(scale.alpha) != t_bits32(tensor->m.alpha) ||
      t_bits32(scale.beta) != t_bits32(tensor->m.beta))
    return 0;
  if (hu_s2fp8_encode_n(NUMBERS, codes, 1, tensor->x, 1, &tensor->kind, &scale, tensor->mode, NULL, NULL) != HU_OK)
    return 0;
  if (hu_s2fp8_truncate_n(NUMBERS, z, 1, tensor->x, 1, &tensor->kind, tensor->mode, NULL, NULL, NULL, NULL) != HU_OK)
    return 0;
  for (size_t i = 0; i < NUMBERS; i++) {
    if (t_get(codes, size, (ptrdiff_t)i) != tensor->codes[i] || t_bits32(z[i]) != tensor->values[i]) return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  t_random random = {20200426};
  uint64_t digest = UINT64_C(0xCBF29CE484222325);
  unsigned tensors = 0, wrong = 0;
  char line[80], stored[256] = "";
  static t_tensor tensor;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    for (unsigned what = 0; what < 6; what++, tensors++) {
      make(&tensor, &random, kinds[i], what);
      digest = mix_tensor(digest, &tensor);
      if (!holds(&tensor)) wrong += (unsigned)printf("tensor %u, %s, differs\n", tensors, kinds[i]) > 0;
    }
  }
  snprintf(line, sizeof line, "%u %016llx\n", tensors, (unsigned long long)digest);
  if (argc == 2 && strcmp(argv[1], "--write") == 0) return printf("%s%s", head, line) < 0;
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) stop("usage: test_s2fp8_golden FILE | --write");
  while (fgets(stored, sizeof stored, file) && stored[0] == '#') continue;
  fclose(file);
  printf("%u tensors, %u wrong, digest %s", tensors, wrong, line);
  if (strcmp(stored, line) != 0) printf("%s has the digest %s", argv[1], stored);
  return wrong || strcmp(stored, line) != 0;
}
